"""Uploaded selections, measured and compared in a worker: files are read, and all that a page shows is returned."""

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.inference.comparison import Comparisons, are_paired, compare_many
from holdfast.inference.designs import RunsByBlock, design_comparisons, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.features import compare_frequencies, frequency_interval
from holdfast.io.questions import Question, ReadingError
from holdfast.io.selections import is_exported
from holdfast.measures import UndefinedStabilityWarning
from holdfast.plots.comparisons import comparison_data, say_who_differs, sort_by_stability
from holdfast.plots.swaps import swap_data
from holdfast.preferences import Kind, Preferences
from holdfast.report import measured
from holdfast.report.causes import ENOUGH, count_needed
from holdfast.report.features import show_name
from holdfast.report.records import Cause, Features, Stability, Verdict
from holdfast.report.summary import explain_no_cause
from holdfast.study.exports import read_runs_by_block
from holdfast.study.stabilities import measure_together
from holdfast.text import format_count, format_number
from holdfast.web.selections import (
    AskedLayout,
    Layout,
    choose_measure,
    cut_to_best,
    parse_undefined,
    plain_sentence,
    read_runs,
)


@dataclass(frozen=True, kw_only=True)
class ReadingQuery:
    """How to read and measure selections.

    Attributes
    ----------
    measure : str
        Name of the measure; by default the one for this kind of selections.
    level : float
        Level of the intervals and tests.
    n_features : int or None
        For lists of names: how many features there were to choose from.
    kind : {"subset", "ranking", "weighting"} or None
        What the numbers of a table are, where that is open.
    top : int or None
        How many of the best features of a ranking or of weights count as selected.
    transpose : bool or None
        Whether rows of a table are features, where that is open.
    layout : {"table", "unnamed", "orders", "lists"} or None
        How a text holds selections, whatever its ending says, where that is open: a table with names of features in its
        first line, a table without, all features in each line with the best first, or those that a run selected.
    undefined : str
        What to do where the measure is undefined: ``nan``, ``skip``, or a number to use instead.
    """

    measure: str = ""
    level: float = 0.95
    n_features: int | None = None
    kind: Kind | None = None
    top: int | None = None
    transpose: bool | None = None
    layout: AskedLayout | None = None
    undefined: str = "nan"


@contextmanager
def warnings_as_sentences() -> Iterator[list[str]]:
    """Collect what the library warns of, in the words of the page; an undefined stability says so itself."""
    sentences: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UndefinedStabilityWarning)
        yield sentences
    sentences += dict.fromkeys(plain_sentence(str(warning.message)) for warning in caught)


# Measuring


MAX_SWAPS = 10


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
    sizes : tuple of int
        The smallest and the largest number of features that a resample selected; empty for rankings and weights.
    no_cause : str
        What to say if there are no causes.
    swaps : tuple of dict
        Pairs of features that take turns more than by chance, the strongest first: ``first``, ``second``, and the
        number of resamples that selected ``one_of_them``, ``both`` or ``neither``.
    more_resamples : str
        How many resamples an interval of the half width needs that was asked for.
    notes : tuple of str
        How the file was read, and what was odd about it.
    """

    kind: Kind
    cut_from: Kind | None
    layout: Layout
    candidates: tuple[str, ...]
    measure: str
    stability: Stability
    verdict: Verdict
    features: Features
    sizes: tuple[int, ...]
    causes: tuple[Cause, ...]
    no_cause: str
    swaps: tuple[dict[str, Any], ...]
    more_resamples: str
    notes: tuple[str, ...]


def measure_selections(
    path: str, reading: Mapping[str, Any], measure: str | None, level: float, undefined: str, half_width: float
) -> Measurement:
    """Read selections and measure their stability."""
    with warnings_as_sentences() as cautions:
        read = read_runs(Path(path), **reading)
        runs_by_block = read.runs_by_block
        chosen = choose_measure(runs_by_block.runs.kind, measure)
        estimate = design_stability(runs_by_block, chosen, undefined=parse_undefined(undefined))
    subsets, top = measured.as_subsets(runs_by_block.runs)
    features = measured.describe_features(subsets, level, top=top)
    low = estimate.ci(level).low if estimate.has_strength else math.nan
    return Measurement(
        kind=runs_by_block.runs.kind,
        cut_from=None if read.held == runs_by_block.runs.kind else read.held,
        layout=read.layout,
        candidates=read.candidates,
        measure=chosen,
        stability=measured.record_stability(estimate, level),
        verdict=measured.judge_selections(estimate, features, level),
        features=features,
        sizes=(int(runs_by_block.runs.sizes.min()), int(runs_by_block.runs.sizes.max())) if top is None else (),
        causes=measured.find_causes_alone(runs_by_block, estimate, features, level),
        no_cause=explain_no_cause(estimate.value, low, "These selections"),
        swaps=_find_swaps(subsets),
        more_resamples=_how_many_more(runs_by_block, estimate, level, half_width),
        notes=(*read.notes, *cautions),
    )


def _find_swaps(subsets: Preferences) -> tuple[dict[str, Any], ...]:
    pairs = swap_data(subsets, most=MAX_SWAPS)
    clear = pairs[pairs["clear"].astype(bool)].sort_values("turns", ascending=False, kind="stable")
    named = clear.assign(first=clear["first"].map(show_name), second=clear["second"].map(show_name))
    rows: list[Any] = named[["first", "second", "one_of_them", "both", "neither"]].to_dict(orient="records")
    return tuple(rows)


def _how_many_more(runs_by_block: RunsByBlock, estimate: StabilityEstimate, level: float, half_width: float) -> str:
    """Say how many resamples an interval of ± ``half_width`` needs, or why that is not known."""
    if runs_by_block.design != "runs":
        return "Resamples that belong together in blocks cannot show how many are needed."
    count = format_count(estimate.n_runs, "resample")
    if estimate.n_runs < ENOUGH:
        return f"{count} cannot show how many are needed; it takes at least {ENOUGH}."
    needed = count_needed(estimate, level, half_width)
    if needed is None:
        return "Without an interval it is not known how many resamples are needed."
    if needed <= estimate.n_runs:
        return f"The {count} so far are enough for ± {half_width:g}."
    low, high = estimate.ci(level)
    return (
        f"About {needed:,} resamples in all would narrow the interval from ± {format_number((high - low) / 2)} to "
        f"± {half_width:g}; they do not make the selection more stable."
    )


# Two selections, feature by feature


MAX_FEATURES = 200
"""Features of the table: those whose frequencies differ most."""


@dataclass(frozen=True, kw_only=True)
class FeatureComparison:
    """The features of two selections side by side.

    Attributes
    ----------
    first, second : str
        The selections.
    pairs : tuple of dict
        Features that either selected, those whose frequencies differ most first: the name of the ``feature``, its
        ``column``, its selection frequency in the ``first`` and the ``second`` with the ends of each interval
        (``first_low``, …), and ``often_in`` ("first only", "second only", "both", "neither" or "open"): which selection
        holds it in more than half of the resamples, where both intervals say so.
    n_selected : int
        Number of such features, of which ``pairs`` are at most the first 200.
    often : dict
        All of them by what ``often_in`` says of them.
    """

    first: str
    second: str
    pairs: tuple[dict[str, Any], ...]
    n_selected: int
    often: dict[str, tuple[str, ...]]


def compare_features(names: Sequence[str], first: Preferences, second: Preferences, level: float) -> FeatureComparison:
    """Return how often two selections hold each feature: the same column, or the same name in another file."""
    by_column = first.features == second.features
    selections = {"first": first, "second": second}
    never: dict[str, float] = {}
    for side, runs in selections.items():
        low, high = frequency_interval(np.zeros(1, dtype=np.int64), runs.n_runs, level)
        never |= {side: 0.0, f"{side}_low": float(low[0]), f"{side}_high": float(high[0])}
    rows: dict[int | str, dict[str, Any]] = {}
    for side, runs in selections.items():
        used = np.flatnonzero(runs.counts)
        low, high = frequency_interval(runs.counts[used], runs.n_runs, level)
        numbers = zip(used.tolist(), runs.frequency[used].tolist(), low.tolist(), high.tolist(), strict=True)
        for column, share, low_end, high_end in numbers:
            name = show_name(runs.features[column])
            row = rows.setdefault(column if by_column else name, {"feature": name, "column": column, **never})
            row |= {side: share, f"{side}_low": low_end, f"{side}_high": high_end}

    def by_difference(row: Mapping[str, Any]) -> tuple[float, float, int]:
        return -round(abs(row["first"] - row["second"]), 12), -max(row["first"], row["second"]), row["column"]

    pairs, often = sorted(rows.values(), key=by_difference), dict[str, list[str]]()
    for row in pairs:
        first_ends, second_ends = ((row[f"{side}_low"], row[f"{side}_high"]) for side in selections)
        row["often_in"] = compare_frequencies(first_ends, second_ends)
        often.setdefault(row["often_in"], []).append(row["feature"])
    return FeatureComparison(
        first=names[0], second=names[1], pairs=tuple(pairs[:MAX_FEATURES]), n_selected=len(pairs),
        often={often_in: tuple(features) for often_in, features in often.items()},
    )  # fmt: skip


# Several selections


MAX_COMPARED = 40
READING = ("kind", "n_features", "transpose", "layout")
"""Options whose answers count for the files that ask for them."""
UNLABELED = (
    "The files do not label their runs, so they do not say whether the first run of each was made on the same "
    "resample, the second too, and so on. Were they?"
)
PARTLY = (
    "Some labels of runs are in several files and some are not, so not all runs can be compared as pairs. How should "
    "the files be compared?"
)
PAIRED = ("true", "Yes: the same resamples, in the same order (paired)")
INDEPENDENT = ("false", "No: other resamples (independent)")


@dataclass(frozen=True, kw_only=True)
class ComparedSelection:
    """One of the selections that are compared.

    Attributes
    ----------
    name : str
        What it is called: the name of its file, or of a candidate in it.
    file : int
        Which of the files it is from, counted from 0.
    stability : Stability
        Its stability.
    n_features : int
        Number of features to choose from.
    mean_size : float
        Mean number of selected features; undefined for rankings and weights.
    letters : str
        Selections that share a letter do not differ significantly.
    """

    name: str
    file: int
    stability: Stability
    n_features: int
    mean_size: float
    letters: str


@dataclass(frozen=True, kw_only=True)
class ComparedPair:
    """The difference of two stabilities, first minus second: a row of :attr:`holdfast.Comparisons.pairs`."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    standard_error: float
    p_value: float
    p_holm: float
    design: str


@dataclass(frozen=True, kw_only=True)
class SelectionsComparison:
    """Selections compared with each other.

    Attributes
    ----------
    measure : str
        The measure.
    kind : {"subset", "ranking", "weighting"}
        What was measured.
    level : float
        Level of intervals; its complement is the level of significance.
    top : int or None
        How many of the best features of rankings and weights count as selected, where they are cut.
    finding : str
        What the comparison shows, as a sentence.
    by_labels : bool
        Whether the labels of the runs decided how resamples were compared.
    names : tuple of str
        The selections in the order of the files.
    selections : tuple of ComparedSelection
        The selections, the most stable first.
    pairs : tuple of ComparedPair
        Each with each.
    features : FeatureComparison or None
        The features of two of them side by side; None if they give rankings or weights.
    notes : tuple of str
        How files were read, and what was odd about them.
    """

    measure: str
    kind: Kind
    level: float
    top: int | None
    finding: str
    by_labels: bool
    names: tuple[str, ...]
    selections: tuple[ComparedSelection, ...]
    pairs: tuple[ComparedPair, ...]
    features: FeatureComparison | None
    notes: tuple[str, ...]


def compare_selections(
    paths: Sequence[str],
    names: Sequence[str],
    reading: Mapping[str, Any],
    measure: str | None,
    level: float,
    undefined: str,
    paired: bool | None,
    pair: Sequence[int],
) -> SelectionsComparison:
    """Read selections and compare their stabilities; of the two of ``pair`` the features too."""
    with warnings_as_sentences() as cautions:
        selections, files, notes = _read_all(paths, names, reading)
        if not 2 <= len(selections) <= MAX_COMPARED:
            raise ValueError(f"Expected 2 to {MAX_COMPARED} selections to compare, got {len(selections)}.")
        universes = sorted({runs_by_block.runs.n_features for runs_by_block in selections.values()})
        common, cut = measure_together(selections, measure or None)
        kinds = {runs_by_block.runs.kind for runs_by_block in cut.values()}
        kind = kinds.pop() if len(kinds) == 1 else "ranking"
        chosen = choose_measure(kind, str(common.measure))
        comparisons = _compare(cut, chosen, paired, level, undefined)
    if len(universes) > 1:
        notes.append(
            f"The files differ in the number of features that there were to choose from ({universes[0]:,} to "
            f"{universes[-1]:,}), which may explain a difference in stability."
        )
    if not all(0 <= index < len(cut) for index in pair):
        raise ValueError(f"Expected two selections from 0 to {len(cut) - 1}, got {pair[0]} and {pair[1]}.")
    first, second = (list(cut)[index] for index in pair)
    facts = list(ComparedPair.__annotations__)
    pairs = comparisons.pairs[["first_name", "second_name", *facts[2:]]].set_axis(facts, axis=1)
    rows: list[Any] = pairs.to_dict("records")
    return SelectionsComparison(
        measure=chosen,
        kind=kind,
        level=level,
        top=common.top,
        finding=say_who_differs(comparison_data(comparisons), sort_by_stability(comparisons)) + ".",
        by_labels=paired is None,
        names=tuple(cut),
        selections=tuple(_record(comparisons, name, files[name]) for name in sort_by_stability(comparisons)),
        pairs=tuple(ComparedPair(**row) for row in rows),
        features=None
        if kind != "subset"
        else compare_features((first, second), cut[first].runs, cut[second].runs, level),
        notes=(*notes, *cautions),
    )


def _read_all(
    paths: Sequence[str], names: Sequence[str], reading: Mapping[str, Any]
) -> tuple[dict[str, RunsByBlock], dict[str, int], list[str]]:
    """Return the selections of all files by name, which file each is from, and notes on how they were read."""
    selections: dict[str, RunsByBlock] = {}
    files: dict[str, int] = {}
    notes: list[str] = []
    for file, (path, name) in enumerate(zip(map(Path, paths), names, strict=True)):
        try:
            by_candidate, notes_on_file = _read_file(path, reading)
        except ValueError as error:
            raise ReadingError(f"{name}: {error}", getattr(error, "question", None)) from None
        prefix = f"{name}: " if len(paths) > 1 else ""
        for candidate, runs_by_block in by_candidate.items():
            called = prefix + candidate if candidate else name
            selections[called], files[called] = runs_by_block, file
        notes += [f"{name}: {note}" for note in notes_on_file]
    return selections, files, notes


def _read_file(path: Path, reading: Mapping[str, Any]) -> tuple[dict[str, RunsByBlock], tuple[str, ...]]:
    """Return the selections of a file, by candidate if a study exported them; answers count where they are asked."""
    top = reading["top"]
    if is_exported(path):
        exported = read_runs_by_block(path, None, None)
        if len(exported) > MAX_COMPARED:
            raise ValueError(f"Expected at most {MAX_COMPARED} candidates to compare, got {len(exported)}.")
        return {name: _cut_orders(runs_by_block, top) for name, runs_by_block in exported.items()}, ()
    answers = {name: reading[name] for name in READING if reading[name] is not None}
    given: dict[str, Any] = {}
    while True:
        try:
            read = read_runs(path, **given)
            return {"": _cut_orders(read.runs_by_block, top)}, read.notes
        except ValueError as error:
            question = getattr(error, "question", None)
            option = "layout" if question is None or question.option not in READING else question.option
            if option not in answers or option in given:
                raise
            given[option] = answers[option]


def _cut_orders(runs_by_block: RunsByBlock, top: int | None) -> RunsByBlock:
    """Cut rankings and weights to the best features; subsets among them stay."""
    return runs_by_block if runs_by_block.runs.kind == "subset" else cut_to_best(runs_by_block, top)


def _compare(
    selections: Mapping[str, RunsByBlock], measure: str, paired: bool | None, level: float, undefined: str
) -> Comparisons:
    """Compare each with each; candidates of one study by their splits, others as labels or the reader say."""
    options: dict[str, Any] = {"level": level, "undefined": parse_undefined(undefined)}
    if any(runs_by_block.has_blocks for runs_by_block in selections.values()):
        if len({runs_by_block.design for runs_by_block in selections.values()}) > 1:
            raise ValueError(
                "Expected selections whose resamples belong together in one way, got some in blocks and some not; "
                "compare candidates of one study."
            )
        return design_comparisons(selections, measure, **options)
    runs = {name: runs_by_block.runs for name, runs_by_block in selections.items()}
    for first, second in itertools.combinations(runs.values(), 2) if paired is None else ():
        try:
            are_paired(first, second, None)
        except ValueError as error:
            labeled = first.labels is not None and second.labels is not None
            question = Question(
                option="paired",
                sentence=PARTLY if labeled else UNLABELED,
                choices=(INDEPENDENT,) if labeled or first.n_runs != second.n_runs else (PAIRED, INDEPENDENT),
            )
            raise ReadingError(plain_sentence(str(error)), question) from None
    return compare_many(runs, measure, paired=paired, **options)


def _record(comparisons: Comparisons, name: str, file: int) -> ComparedSelection:
    estimate = comparisons.estimates[name]
    return ComparedSelection(
        name=name, file=file, stability=measured.record_stability(estimate, comparisons.level),
        n_features=estimate.n_features, letters=comparisons.letters[name],
        mean_size=math.nan if estimate.mean_size is None else float(estimate.mean_size),
    )  # fmt: skip
