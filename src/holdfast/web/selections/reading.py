"""Reading uploaded selections, with the options and the words of the page."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.inference.designs import DesignedRuns
from holdfast.inference.estimate import Undefined
from holdfast.io.questions import ReadingError, ask_n_features, plain_note
from holdfast.io.selections import (
    holds_matrix,
    is_exported,
    least_features,
    pick_candidate,
    read_lists,
    read_selections,
)
from holdfast.measures import MEASURES, find_measure
from holdfast.plots.sources import designed_runs
from holdfast.preferences import Kind, Preferences
from holdfast.study.exports import read_designed
from holdfast.study.stabilities import USUAL
from holdfast.web.choices import NamedOption, needs_only_runs
from holdfast.web.selections.cache import keep, recall
from holdfast.web.selections.layouts import UNNAMED, AskedLayout, find_layout, read_orders, read_unnamed
from holdfast.web.selections.records import Layout

HINT = re.compile(r"; [^;]*\w(?:=|\(\))[^;]*$|\s*\(--[^)]*\)| Choose ties=.*$")
"""What a sentence of the library says to those who program."""
NAMES = re.compile(rf"(?<![\w('\"])(?:{'|'.join(sorted(MEASURES, key=len, reverse=True))})(?![\w'\"])")
"""Names of measures, but those in quotes or parentheses, which are to be typed."""


@dataclass(frozen=True, kw_only=True)
class ReadRuns:
    """What a file holds: its runs, cut to the best features if that was asked for.

    Attributes
    ----------
    designed : DesignedRuns
        The runs, with how they belong together.
    held : {"subset", "ranking", "weighting"}
        What they were before they were cut.
    layout : {"table", "lists", "exported"}
        How the file holds them.
    candidates : tuple of str
        Whose selections are in the file, if a study exported it.
    notes : tuple of str
        How the file was read, where that is open.
    """

    designed: DesignedRuns
    held: Kind
    layout: Layout
    candidates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


# What is in a file


def read_runs(
    path: Path,
    *,
    kind: Kind | None = None,
    n_features: int | None = None,
    top: int | None = None,
    transpose: bool | None = None,
    candidate: str | None = None,
    layout: AskedLayout | None = None,
) -> ReadRuns:
    """Read the runs of a file, cut to the best features if that is asked for."""
    options: dict[str, Any] = {"kind": kind, "n_features": n_features, "transpose": transpose, "candidate": candidate}
    known = recall(path, options) if layout in (None, "table") else None
    if known is None:
        layout = layout or find_layout(path)
    if layout in ("lists", "orders", "unnamed"):
        return _read_text(path, layout, options, top)
    if known is None and is_exported(path):
        exported = read_designed(path, kind, n_features)
        own = pick_candidate(path, exported, candidate)
        return ReadRuns(designed=_cut(own, top), held=own.runs.kind, layout="exported", candidates=tuple(exported))
    runs, note = known or read_selections(path, **options)
    if known is None:
        keep(path, options, runs, note)
    return ReadRuns(
        designed=_cut(designed_runs(runs, None), top),
        held=runs.kind,
        layout="table" if holds_matrix(path) else "lists",
        notes=() if note is None else (plain_note(note),),
    )


def _read_text(path: Path, layout: AskedLayout, options: Mapping[str, Any], top: int | None) -> ReadRuns:
    """Read a text whose lines are no table with a header, whatever its ending says."""
    if layout == "unnamed":
        runs = read_unnamed(path, options["kind"], transpose=bool(options["transpose"]))
    else:
        runs = read_orders(path) if layout == "orders" else _read_lists(path, options["n_features"])
    return ReadRuns(
        designed=_cut(designed_runs(runs, None), top),
        held=runs.kind,
        layout="table" if layout == "unnamed" else "lists",
        notes=(UNNAMED,) if layout == "unnamed" else (),
    )


def _read_lists(path: Path, n_features: int | None) -> Preferences:
    """Read a text as lists of features, one run per line, whatever its ending says."""
    runs = read_lists(path)
    if n_features is None:
        raise ReadingError("Expected the number of features there were.", ask_n_features(least_features(runs)))
    if all(member.isdecimal() and len(member) < 16 for run in runs for member in run):
        return Preferences.from_sets([[int(member) for member in run] for run in runs], n_features=n_features)
    return Preferences.from_sets(runs, n_features=n_features)


def _cut(designed: DesignedRuns, top: int | None) -> DesignedRuns:
    return replace(designed, runs=cut_to_best(designed.runs, top))


def cut_to_best(runs: Preferences, top: int | None) -> Preferences:
    """Cut rankings or weights to the best features, if that is asked for."""
    if top is None:
        return runs
    if runs.kind == "subset":
        raise ValueError(
            "Expected rankings or weights to take the best features of, got selections; leave the number of best "
            "features empty."
        )
    return runs.top(top)


# Options


def list_measures(kind: Kind) -> tuple[NamedOption, ...]:
    """Return the measures for a kind of preference that need neither data nor parameters, the usual one first."""
    kinds = {kind, "ranking"} if kind == "weighting" else {kind}
    fitting = [measure for measure in MEASURES.values() if measure.kind in kinds and needs_only_runs(measure)]
    fitting.sort(key=lambda measure: (measure.name != USUAL[kind], not measure.validated))
    return tuple(
        NamedOption(name=measure.name, label=measure.about.label, summary=measure.summary) for measure in fitting
    )


def choose_measure(kind: Kind, measure: str | None) -> str:
    """Return the name of the measure, the usual one if none is given; raise if it does not fit."""
    if not measure:
        return USUAL[kind]
    known = find_measure(measure)
    fitting = [choice.name for choice in list_measures(kind)]
    if known.name not in fitting:
        raise ValueError(
            f"Expected a measure of {kind}s that needs no data, got {known.about.label}; choose one of "
            f"{', '.join(f'{choice.label} ({choice.name})' for choice in list_measures(kind))}."
        )
    return known.name


def parse_undefined(text: str) -> Undefined:
    """Return what to do where a measure is undefined."""
    if text in ("nan", "skip"):
        return "nan" if text == "nan" else "skip"
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"Expected nan, skip or a number for what is undefined, got {text[:60]!r}.")
    return value


def plain_sentence(text: str) -> str:
    """Return a sentence of the library without what it says to those who program, and with measures by their labels."""
    ended = text.rstrip(".")
    plain = NAMES.sub(lambda name: MEASURES[name[0]].about.label, HINT.sub("", HINT.sub("", ended)))
    return plain if plain.endswith("?") else f"{plain.rstrip('.')}."
