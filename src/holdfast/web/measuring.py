"""Measuring uploaded selections, in a worker: read the file, measure, and return all that the page shows."""

import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from holdfast.inference.designs import DesignedRuns, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.evaluation import Undefined
from holdfast.io.exported import is_exported
from holdfast.io.questions import ReadingError, ask_n_features, plain_note
from holdfast.io.selections import holds_matrix, least_features, pick_candidate, read_lists, read_selections
from holdfast.io.selections_inspection import inspect_selections
from holdfast.measures import MEASURES, REQUIRED, UndefinedStabilityWarning, find_measure
from holdfast.plots.sources import designed_runs
from holdfast.plots.swaps import swap_data
from holdfast.plots.text import format_count, format_number
from holdfast.preferences import Kind, Preferences
from holdfast.report.causes import ENOUGH, count_needed
from holdfast.report.feature_records import Features
from holdfast.report.features import show_name
from holdfast.report.labels import separate_words
from holdfast.report.measured import (
    as_subsets,
    describe_features,
    find_causes_alone,
    judge_selections,
    record_stability,
    say_no_cause,
)
from holdfast.report.records import Cause, Stability, Verdict
from holdfast.study.common_measure import USUAL
from holdfast.study.export import read_designed
from holdfast.web.parsed import keep, recall
from holdfast.web.tasks import task

Layout: TypeAlias = Literal["table", "lists", "exported"]
MOST_SWAPS = 10
HINT = re.compile(r"; [^;]*\w(?:=|\(\))[^;]*$|\s*\(--[^)]*\)| Choose ties=.*$")
"""What a sentence of the library says to those who program."""


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """An estimate of stability with everything that is known of it.

    Attributes
    ----------
    measure : str
        Name of the measure, with its parameters.
    value, standard_error : float
        The stability and its standard error; null if undefined.
    level, low, high : float
        Level and ends of the interval; null if there is none.
    method : str
        How the interval was found.
    validated : bool
        Whether simulations showed that this interval covers as it should for this measure.
    unseen_share : float
        Share of further resamples that may select entirely different features, as far as these resamples can tell.
    strength : str or None
        The value in words, for measures to which the words apply.
    n_runs, n_features : int
        Number of resamples and of features to choose from.
    mean_size, mean_overlap, tied_share : float
        Mean number of selected features, of features that two resamples share, and mean share of tied features; null
        where they mean nothing.
    chance_error : float
        Standard error that a simulated correction for chance adds.
    reason : str or None
        What is undefined, was left out, or has no interval, and why.
    scope : str
        What the interval describes.
    """

    measure: str
    value: float
    standard_error: float
    level: float
    low: float
    high: float
    method: str
    validated: bool
    unseen_share: float
    strength: str | None
    n_runs: int
    n_features: int
    mean_size: float
    mean_overlap: float
    tied_share: float
    chance_error: float
    reason: str | None
    scope: str


@dataclass(frozen=True, kw_only=True)
class Swap:
    """Two features that take turns, more than by chance.

    Attributes
    ----------
    first, second : str
        The features.
    one_of_them, both, neither : int
        Number of resamples that selected exactly one of them, both, or neither.
    """

    first: str
    second: str
    one_of_them: int
    both: int
    neither: int


@dataclass(frozen=True, kw_only=True)
class RunsPlan:
    """How many resamples an interval of a given width needs.

    Attributes
    ----------
    half_width : float
        Half of the width of the interval.
    needed : int or None
        Number of resamples in all; None if those so far cannot tell.
    sentence : str
        The same in words, or why it is not known.
    """

    half_width: float
    needed: int | None
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How stable selections are, how sure that is, and what makes them vary.

    Attributes
    ----------
    kind : {"subset", "ranking", "weighting"}
        What was measured; rankings and weights that were cut to the best features are subsets.
    cut_from : str or None
        What the file holds, if it was cut to the best features.
    layout : {"table", "lists", "exported"}
        How the file holds it: a table with a row for each run, lists of names, or what a study exported.
    candidates : tuple of str
        Whose selections are in a file that a study exported.
    measure : str
        Name of the measure.
    design : str
        How resamples belong together: ``runs`` unless the file is from a study that says otherwise.
    estimate : Estimated
        The stability.
    stability : Stability
        The same as a report holds it.
    verdict : Verdict
        How stable and how sure, in words, and what it does not say.
    features : Features
        How often each feature was selected, and by which resample.
    sizes : tuple of int
        The smallest and the largest number of features that a resample selected; empty for rankings and weights.
    causes : tuple of Cause
        What makes the selections vary.
    no_cause : str
        What to say if there are none.
    swaps : tuple of Swap
        Pairs of features that take turns, the strongest first.
    plan : RunsPlan
        How many resamples a given precision needs.
    notes : tuple of str
        How the file was read, and what was odd about it.
    """

    kind: Kind
    cut_from: Kind | None
    layout: Layout
    candidates: tuple[str, ...]
    measure: str
    design: str
    estimate: Estimated
    stability: Stability
    verdict: Verdict
    features: Features
    sizes: tuple[int, ...]
    causes: tuple[Cause, ...]
    no_cause: str
    swaps: tuple[Swap, ...]
    plan: RunsPlan
    notes: tuple[str, ...]


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


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The beginning of a file.

    Attributes
    ----------
    kind_reason : str
        What it seems to hold, as a sentence; empty if that is not known.
    n_runs, least_features : int
        Number of runs, and of different features that are named, as far as that is known.
    header : tuple of str
        Names of the first columns of a table.
    rows : tuple of tuple of str
        The first rows, or the first lists.
    """

    kind_reason: str
    n_runs: int
    least_features: int
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class MeasureChoice:
    """A measure that can be chosen.

    Attributes
    ----------
    name, label : str
        Its name, and the same for readers.
    summary : str
        What it measures, in a line.
    """

    name: str
    label: str
    summary: str


def list_measures(kind: Kind) -> tuple[MeasureChoice, ...]:
    """Return the measures for a kind of preference that need neither data nor parameters, the usual one first."""
    kinds = {kind, "ranking"} if kind == "weighting" else {kind}
    fitting = [
        measure
        for measure in MEASURES.values()
        if measure.kind in kinds and measure.similarity is None and REQUIRED not in measure.parameters.values()
    ]
    fitting.sort(key=lambda measure: (measure.name != USUAL[kind], not measure.validated))
    return tuple(
        MeasureChoice(name=measure.name, label=separate_words(measure.name), summary=measure.summary)
        for measure in fitting
    )


# The task


@task
def measure_selections(
    path: str,
    reading: Mapping[str, Any],
    measure: str | None,
    level: float,
    undefined: str,
    half_width: float,
) -> Measurement:
    """Read selections and measure their stability."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UndefinedStabilityWarning)
        read = read_runs(Path(path), **reading)
        designed = read.designed
        chosen = choose_measure(designed.runs.kind, measure)
        estimate = design_stability(designed, chosen, undefined=parse_undefined(undefined))
    subsets, top = as_subsets(designed.runs)
    features = describe_features(subsets, level, top=top)
    return Measurement(
        kind=designed.runs.kind,
        cut_from=None if read.held == designed.runs.kind else read.held,
        layout=read.layout,
        candidates=read.candidates,
        measure=chosen,
        design=designed.design,
        estimate=Estimated(**estimate.to_dict(level)),
        stability=record_stability(estimate, level),
        verdict=judge_selections(estimate, features, level),
        features=features,
        sizes=(int(designed.runs.sizes.min()), int(designed.runs.sizes.max())) if top is None else (),
        causes=find_causes_alone(designed, estimate, features, level),
        no_cause=say_no_cause(estimate, level),
        swaps=_find_swaps(subsets),
        plan=_plan(designed, estimate, level, half_width),
        notes=(*read.notes, *dict.fromkeys(plain_sentence(str(warning.message)) for warning in caught)),
    )


def read_runs(
    path: Path,
    *,
    kind: Kind | None = None,
    n_features: int | None = None,
    top: int | None = None,
    transpose: bool | None = None,
    candidate: str | None = None,
    lists: bool | None = None,
) -> ReadRuns:
    """Read the runs of a file, cut to the best features if that is asked for."""
    if lists:
        runs = _read_lists(path, n_features)
        return ReadRuns(designed=_cut(designed_runs(runs, None), top), held=runs.kind, layout="lists")
    options: dict[str, Any] = {"kind": kind, "n_features": n_features, "transpose": transpose, "candidate": candidate}
    known = recall(path, options)
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


def choose_measure(kind: Kind, measure: str | None) -> str:
    """Return the name of the measure, the usual one if none is given; raise if it does not fit."""
    if not measure:
        return USUAL[kind]
    known = find_measure(measure)
    fitting = [choice.name for choice in list_measures(kind)]
    if known.name not in fitting:
        raise ValueError(
            f"Expected a measure of {kind}s that needs no data, got {known.name}; choose one of {', '.join(fitting)}."
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
    """Return a sentence of the library without what it says to those who program."""
    ended = text.rstrip(".")
    plain = HINT.sub("", HINT.sub("", ended))
    return f"{plain.rstrip('.')}."


def _find_swaps(subsets: Preferences) -> tuple[Swap, ...]:
    pairs = swap_data(subsets, most=MOST_SWAPS)
    clear = pairs[pairs["clear"].astype(bool)].sort_values("turns", ascending=False, kind="stable")
    return tuple(
        Swap(
            first=show_name(row["first"]), second=show_name(row["second"]), one_of_them=int(row["one_of_them"]),
            both=int(row["both"]), neither=int(row["neither"]),
        )
        for row in clear.to_dict(orient="records")
    )  # fmt: skip


def _plan(designed: DesignedRuns, estimate: StabilityEstimate, level: float, half_width: float) -> RunsPlan:
    """Plan the number of resamples for an interval of ± ``half_width``."""
    needed = count_needed(estimate, level, half_width) if designed.design == "runs" else None
    low, high = estimate.ci(level)
    count = format_count(estimate.n_runs, "resample")
    if designed.design != "runs":
        sentence = "Resamples that belong together in blocks cannot tell how many are needed."
    elif estimate.n_runs < ENOUGH:
        sentence = f"{count} cannot tell how many are needed; it takes at least {ENOUGH}."
    elif needed is None:
        sentence = "Without an interval it cannot be told how many resamples are needed."
    elif needed <= estimate.n_runs:
        sentence = f"The {count} so far are enough for ± {half_width:g}."
    else:
        sentence = (
            f"About {needed:,} resamples in all would narrow the interval from ± {format_number((high - low) / 2)} to "
            f"± {half_width:g}; they do not make the selection more stable."
        )
    return RunsPlan(half_width=half_width, needed=needed, sentence=sentence)


@task
def preview_selections(path: str) -> Preview:
    """Read the beginning of a file that leaves something open."""
    found = inspect_selections(path)
    return Preview(
        kind_reason=found.kind_reason, n_runs=found.n_runs, least_features=found.least_features, header=found.header,
        rows=found.preview,
    )  # fmt: skip
