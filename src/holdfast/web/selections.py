"""Reading uploaded selections, in a worker, with the options and the words of the page; what was read is cached."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.inference.designs import RunsByBlock
from holdfast.inference.estimate import Undefined
from holdfast.io import selections
from holdfast.io.delimited import DEFAULT_SEPARATORS
from holdfast.io.files import as_number, file_ending, read_text
from holdfast.io.loading import ENDINGS
from holdfast.io.questions import Question, ReadingError, ask, plain_note
from holdfast.measures import MEASURES, find_measure
from holdfast.plots.sources import find_runs_by_block
from holdfast.preferences import Kind, Preferences
from holdfast.study.exports import read_runs_by_block
from holdfast.study.stabilities import DEFAULT_MEASURES
from holdfast.web.folder import cache_file, replacing, write_private
from holdfast.web.forms import NamedOption, needs_only_runs

Layout: TypeAlias = Literal["table", "lists", "exported"]
AskedLayout: TypeAlias = Literal["table", "unnamed", "orders", "lists"]
CHOICES: dict[AskedLayout, str] = {
    "table": "A table whose first line names the features, by numbers",
    "unnamed": "A table without names: a column for each feature, a line for each run",
    "orders": "Each line lists all features by their numbers, the best first",
    "lists": "Each line lists the features that a run selected",
}
HINT = re.compile(r"; [^;]*\w(?:=|\(\))[^;]*$|\s*\(--[^)]*\)| Choose ties=.*$")
"""What a sentence of the library says to those who program."""
NAMES = re.compile(rf"(?<![\w('\"])(?:{'|'.join(sorted(MEASURES, key=len, reverse=True))})(?![\w'\"])")
"""Names of measures, but those in quotes or parentheses, which are to be typed."""


@dataclass(frozen=True, kw_only=True)
class ReadRuns:
    """What a file holds: its runs, cut to the best features if that was asked for.

    Attributes
    ----------
    runs_by_block : RunsByBlock
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

    runs_by_block: RunsByBlock
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
    cached = read_cached(path, options) if layout in (None, "table") else None
    if cached is None:
        layout = layout or find_layout(path)
    held_as: Layout = "lists"
    notes: tuple[str, ...] = ()
    if layout == "unnamed":
        runs, held_as, notes = read_unnamed(path, kind, transpose=bool(transpose)), "table", (UNNAMED,)
    elif layout == "orders":
        runs = read_orders(path)
    elif layout == "lists":
        runs = _read_lists(path, n_features)
    elif cached is None and selections.is_exported(path):
        exported = read_runs_by_block(path, kind, n_features)
        runs_by_block = selections.pick_candidate(path, exported, candidate)
        return ReadRuns(
            runs_by_block=cut_to_best(runs_by_block, top),
            held=runs_by_block.runs.kind,
            layout="exported",
            candidates=tuple(exported),
        )
    else:
        runs, note = cached or selections.read_selections(path, **options)
        if cached is None:
            write_cached(path, options, runs, note)
        held_as, notes = (
            "table" if selections.holds_matrix(path) else "lists",
            () if note is None else (plain_note(note),),
        )
    return ReadRuns(
        runs_by_block=cut_to_best(find_runs_by_block(runs, None), top), held=runs.kind, layout=held_as, notes=notes
    )


def _read_lists(path: Path, n_features: int | None) -> Preferences:
    """Read a text as lists of features, one run per line, whatever its ending says."""
    runs = selections.read_lists(path)
    if n_features is None:
        least = selections.least_features(runs)
        question = ask("n-features", [least] if least else [])
        raise ReadingError("Expected the number of features there were.", question)
    if all(member.isdecimal() and len(member) < 16 for run in runs for member in run):
        return Preferences.from_sets([[int(member) for member in run] for run in runs], n_features=n_features)
    return Preferences.from_sets(runs, n_features=n_features)


def cut_to_best(runs_by_block: RunsByBlock, top: int | None) -> RunsByBlock:
    """Cut rankings or weights to the best features, if that is asked for."""
    if top is None:
        return runs_by_block
    if runs_by_block.runs.kind == "subset":
        raise ValueError(
            "Expected rankings or weights to take the best features of, got selections; leave the number of best "
            "features empty."
        )
    return replace(runs_by_block, runs=runs_by_block.runs.top(top))


# Options


def list_measures(kind: Kind) -> tuple[NamedOption, ...]:
    """Return the measures for a kind of preference that need neither data nor parameters, the default first."""
    kinds = {kind, "ranking"} if kind == "weighting" else {kind}
    fitting = [measure for measure in MEASURES.values() if measure.kind in kinds and needs_only_runs(measure)]
    fitting.sort(key=lambda measure: (measure.name != DEFAULT_MEASURES[kind], not measure.validated))
    return tuple(
        NamedOption(name=measure.name, label=measure.about.label, summary=measure.summary) for measure in fitting
    )


def choose_measure(kind: Kind, measure: str | None) -> str:
    """Return the name of the measure, the default if none is given; raise if it does not fit."""
    if not measure:
        return DEFAULT_MEASURES[kind]
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


# Texts of numbers without names of features


OTHER_THAN_NUMBERS = re.compile(r"[^\d\s.,;eE+-]")
UNNAMED = "The features have no names in this file; they are counted from 1, in the order of the columns."


def find_layout(path: Path) -> AskedLayout | None:
    """Return how a text of numbers holds selections, None for all else; raise a question where that is open."""
    if file_ending(path) in (*ENDINGS, ".json") and file_ending(path) not in DEFAULT_SEPARATORS:
        return None
    rows = _number_rows(path)
    if rows is None:
        return None
    orders = _are_orders(rows)
    if selections.holds_matrix(path):
        if (np.diff(rows[0]) > 0).all():  # such as 0, 1, 2, by which programs name columns
            return None
        raise _ask(("unnamed", "table", *(("orders", "lists") if orders else ())))
    if orders:
        raise _ask(("unnamed", "orders", "lists"))
    distinct = all(len(set(row)) == len(row) for row in rows.tolist())
    return None if distinct and (rows % 1 == 0).all() and (rows >= 0).all() else "unnamed"


def _ask(layouts: tuple[AskedLayout, ...]) -> ReadingError:
    sentence = "Every line holds the same number of numbers, and no names of features. What are they?"
    question = Question("layout", sentence, tuple((layout, CHOICES[layout]) for layout in layouts))
    return ReadingError("Expected names of features, got numbers only; say how they are to be read.", question)


def _number_rows(path: Path) -> NDArray[np.float64] | None:
    """Return the numbers of a text whose lines all hold equally many of them; None if it is another one."""
    if OTHER_THAN_NUMBERS.search(read_text(path).lstrip().partition("\n")[0]):
        return None  # a header, as of most files: the rest need not be split into cells
    lines = selections.read_lists(path)
    width = len(lines[0]) if lines else 0
    if len(lines) < 2 or width < 2 or any(len(line) != width for line in lines):
        return None
    numbers = [as_number(cell) for line in lines for cell in line]
    if not all(isinstance(number, float) for number in numbers):
        return None
    rows = np.array(numbers).reshape(len(lines), width)
    return rows if np.isfinite(rows).all() else None


def _are_orders(rows: NDArray[np.float64]) -> bool:
    """Whether each line holds every number from 0 or 1 on once."""
    return any((np.sort(rows, axis=1) == np.arange(first, first + rows.shape[1])).all() for first in (0, 1))


def read_unnamed(path: Path, kind: Kind | None, *, transpose: bool) -> Preferences:
    """Read a table of numbers without names of features."""
    rows = _expect_numbers(path)
    matrix = rows.T if transpose else rows
    names = [str(number) for number in range(1, matrix.shape[1] + 1)]
    return selections.from_number_frame(path, pd.DataFrame(matrix, columns=names), None, kind)


def read_orders(path: Path) -> Preferences:
    """Read orders: each line lists the numbers of all features, the best first."""
    rows = _expect_numbers(path)
    if not _are_orders(rows):
        raise ValueError("Expected every number once in each line, for orders of all features, got others.")
    names = [f"{number:g}" for number in np.sort(rows[0])]
    return Preferences.from_rankings(np.argsort(rows, axis=1) + 1, features=names)


def _expect_numbers(path: Path) -> NDArray[np.float64]:
    rows = _number_rows(path)
    if rows is None:
        raise ValueError(f"Expected equally many numbers in every line of {path}, got something else.")
    return rows


# What was read, cached next to its upload


MIN_CACHED_BYTES = 100_000
"""Bytes of a file from which what was read of it is cached."""


def read_cached(path: Path, options: Mapping[str, Any]) -> tuple[Preferences, str | None] | None:
    """Return what was read from a file with these options, and the note on it; None if it was not cached."""
    cached, about = (cache_file(path, "read", options, ending) for ending in (".parquet", ".json"))
    return (
        (selections.read_preferences(cached), json.loads(about.read_text(encoding="utf-8")))
        if cached.exists()
        else None
    )


def write_cached(path: Path, options: Mapping[str, Any], preferences: Preferences, note: str | None) -> None:
    """Cache what was read from a file that is not small, for its owner only."""
    if path.stat().st_size < MIN_CACHED_BYTES:
        return
    write_private(cache_file(path, "read", options, ".json"), json.dumps(note))
    with replacing(cache_file(path, "read", options, ".parquet")) as file:
        selections.write_preferences(preferences, file)
