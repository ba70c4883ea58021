"""Measuring and comparing uploaded selections, in a worker: read files, and return all that the page shows."""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.inference.comparison import Comparisons, are_paired, compare_many
from holdfast.inference.designs import DesignedRuns, design_comparisons, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.features import FrequencyClass, compare_frequencies, feature_table, frequency_interval
from holdfast.io.questions import Question, ReadingError
from holdfast.io.selections import is_exported
from holdfast.measures import UndefinedStabilityWarning
from holdfast.plots.comparisons import comparison_data, say_who_differs, sort_by_stability
from holdfast.plots.swaps import swap_data
from holdfast.preferences import Kind, Preferences
from holdfast.report.causes import ENOUGH, count_needed
from holdfast.report.features import show_name
from holdfast.report.measured import (
    THRESHOLD,
    as_subsets,
    describe_features,
    find_causes_alone,
    judge_selections,
    record_stability,
    say_no_cause,
)
from holdfast.report.records import Cause, Features, Stability, Verdict
from holdfast.study.exports import read_designed
from holdfast.study.stabilities import choose_common_measure
from holdfast.text import format_count, format_number, join_names
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
        What to do where the measure is undefined: ``nan``, ``skip``, or a number that takes the place.
    """

    measure: str = ""
    level: float = 0.95
    n_features: int | None = None
    kind: Kind | None = None
    top: int | None = None
    transpose: bool | None = None
    layout: AskedLayout | None = None
    undefined: str = "nan"


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


# Measuring


MAX_SWAPS = 10


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


def _find_swaps(subsets: Preferences) -> tuple[Swap, ...]:
    pairs = swap_data(subsets, most=MAX_SWAPS)
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


# Comparing


MAX_CHANGES = 200
"""Features listed beside each other, those whose frequency differs most."""
MAX_COMPARED = 40
MAX_NAMED = 12
READING = ("kind", "n_features", "transpose", "layout")
"""Options whose answers count for the files that ask for them."""
CHANGES: dict[FrequencyClass, str] = {
    "second only": "gained", "first only": "lost", "both": "kept", "neither": "seldom", "open": "open",
}  # fmt: skip
"""What became of a feature from the first selection to the second."""
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
    place : int
        Which of the given files it is from, counted from 0.
    kind : {"subset", "ranking", "weighting"}
        What was measured.
    estimate : Estimated
        Its stability.
    letters : str
        Selections that share a letter do not differ significantly.
    """

    name: str
    place: int
    kind: Kind
    estimate: Estimated
    letters: str


@dataclass(frozen=True, kw_only=True)
class ComparedPair:
    """The difference of two stabilities, first minus second.

    Attributes
    ----------
    first, second : str
        The selections.
    difference, low, high, standard_error : float
        Difference of the stabilities with its interval and standard error.
    p_value, p_holm : float
        p-value of no difference, and the same with Holm's correction for the number of pairs.
    design : str
        Whether resamples were compared as pairs (``paired``) or not (``independent``).
    significant : bool
        Whether the corrected p-value is at most one minus the level.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    standard_error: float
    p_value: float
    p_holm: float
    design: str
    significant: bool


@dataclass(frozen=True, kw_only=True)
class FeatureChange:
    """How often two selections hold a feature.

    Attributes
    ----------
    feature : str
        The feature.
    first, first_low, first_high : float
        Its selection frequency in the first selection, with its interval.
    second, second_low, second_high : float
        The same in the second one.
    change : {"gained", "lost", "kept", "seldom", "open"}
        Whether it is selected often in the second selection only (gained), in the first only (lost), in both (kept) or
        in neither (seldom), where both intervals say so; else that is open.
    """

    feature: str
    first: float
    first_low: float
    first_high: float
    second: float
    second_low: float
    second_high: float
    change: str


@dataclass(frozen=True, kw_only=True)
class FeatureChanges:
    """The features of two selections side by side.

    Attributes
    ----------
    first, second : str
        The selections.
    gained, lost, kept : tuple of str
        Features that both intervals show to be selected often in the second one only, in the first only, and in both.
    gained_text, lost_text, kept_text : str
        The same in words.
    rows : tuple of FeatureChange
        Features that either selected, those whose frequency differs most first; at most 200.
    left_out : int
        How many other features were selected by one of them.
    threshold : float
        Selection frequency above which, by its whole interval, a feature is selected often, and below which seldom.
    """

    first: str
    second: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    kept: tuple[str, ...]
    gained_text: str
    lost_text: str
    kept_text: str
    rows: tuple[FeatureChange, ...]
    left_out: int
    threshold: float


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
    pairing : {"paired", "independent", "mixed"}
        How resamples were compared.
    by_labels : bool
        Whether the labels of the runs decided that.
    names : tuple of str
        The selections in the order of the files.
    selections : tuple of ComparedSelection
        The selections, the most stable first.
    pairs : tuple of ComparedPair
        Each with each.
    changes : FeatureChanges or None
        The features of two of them side by side; None if they give rankings or weights.
    notes : tuple of str
        How files were read, and what was odd about them.
    """

    measure: str
    kind: Kind
    level: float
    top: int | None
    finding: str
    pairing: str
    by_labels: bool
    names: tuple[str, ...]
    selections: tuple[ComparedSelection, ...]
    pairs: tuple[ComparedPair, ...]
    changes: FeatureChanges | None
    notes: tuple[str, ...]


def compare_selections(
    paths: Sequence[str],
    names: Sequence[str],
    reading: Mapping[str, Any],
    measure: str | None,
    level: float,
    undefined: str,
    paired: bool | None,
    beside: Sequence[int],
) -> SelectionsComparison:
    """Read selections and compare their stabilities."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UndefinedStabilityWarning)
        designed, places, notes = _read_all(paths, names, reading)
        if not 2 <= len(designed) <= MAX_COMPARED:
            raise ValueError(f"Expected 2 to {MAX_COMPARED} selections to compare, got {len(designed)}.")
        cut, chosen, top = _cut_alike(designed, measure)
        comparisons = _compare(cut, chosen, paired, level, undefined)
    kind = measured_kind(cut)
    subsets = {name: runs.runs for name, runs in cut.items()}
    pairs = _list_pairs(comparisons)
    designs = {pair.design for pair in pairs}
    return SelectionsComparison(
        measure=chosen,
        kind=kind,
        level=level,
        top=top,
        finding=say_who_differs(comparison_data(comparisons), sort_by_stability(comparisons)) + ".",
        pairing=designs.pop() if len(designs) == 1 else "mixed",
        by_labels=paired is None,
        names=tuple(cut),
        selections=_list_selections(comparisons, cut, places),
        pairs=pairs,
        changes=_compare_features(subsets, beside, level) if kind == "subset" else None,
        notes=(*notes, *_warn_of_universes(subsets), *dict.fromkeys(plain_sentence(str(w.message)) for w in caught)),
    )


# Reading


def _read_all(
    paths: Sequence[str], names: Sequence[str], reading: Mapping[str, Any]
) -> tuple[dict[str, DesignedRuns], dict[str, int], list[str]]:
    """Return the selections of all files by name, the place of the file of each, and notes on how they were read."""
    designed: dict[str, DesignedRuns] = {}
    places: dict[str, int] = {}
    notes: list[str] = []
    for place, (path, name) in enumerate(zip(map(Path, paths), names, strict=True)):
        try:
            found, own_notes = _read_file(path, reading)
        except ValueError as error:
            raise ReadingError(f"{name}: {error}", getattr(error, "question", None)) from None
        prefix = f"{name}: " if len(paths) > 1 else ""
        own = {prefix + candidate if candidate else name: runs for candidate, runs in found.items()}
        designed |= own
        places |= dict.fromkeys(own, place)
        notes += [f"{name}: {note}" for note in own_notes]
    return designed, places, notes


def _read_file(path: Path, reading: Mapping[str, Any]) -> tuple[dict[str, DesignedRuns], list[str]]:
    """Return the selections of a file, by candidate if a study exported them; answers count where they are asked."""
    top = reading["top"]
    if is_exported(path):
        exported = read_designed(path, None, None)
        if len(exported) > MAX_COMPARED:
            raise ValueError(f"Expected at most {MAX_COMPARED} candidates to compare, got {len(exported)}.")
        return {name: _cut(runs, top) for name, runs in exported.items()}, []
    answers = {name: reading[name] for name in READING if reading[name] is not None}
    given: dict[str, Any] = {}
    while True:
        try:
            read = read_runs(path, **given)
            return {"": _cut(read.designed, top)}, list(read.notes)
        except ValueError as error:
            question = getattr(error, "question", None)
            option = "layout" if question is None or question.option not in READING else question.option
            if option not in answers or option in given:
                raise
            given[option] = answers[option]


def _cut(designed: DesignedRuns, top: int | None) -> DesignedRuns:
    if top is None or designed.runs.kind == "subset":
        return designed
    return replace(designed, runs=cut_to_best(designed.runs, top))


def _cut_alike(
    designed: Mapping[str, DesignedRuns], measure: str | None
) -> tuple[dict[str, DesignedRuns], str, int | None]:
    """Return selections as one measure takes them, the measure, and how many of the best features count."""
    kinds: dict[str, Kind] = {name: runs.runs.kind for name, runs in designed.items()}
    fewest = min(runs.runs.n_features for runs in designed.values())
    common = choose_common_measure(kinds, lambda name: float(designed[name].runs.sizes.mean()), fewest, measure or None)
    cut = {name: common.cut(runs) for name, runs in designed.items()}
    return cut, choose_measure(measured_kind(cut), str(common.measure)), common.top


def measured_kind(designed: Mapping[str, DesignedRuns]) -> Kind:
    """Return what is measured; rankings and weights together are rankings."""
    kinds = {runs.runs.kind for runs in designed.values()}
    return kinds.pop() if len(kinds) == 1 else "ranking"


# Comparing


def _compare(
    designed: Mapping[str, DesignedRuns], measure: str, paired: bool | None, level: float, undefined: str
) -> Comparisons:
    """Compare each with each; candidates of one study by their splits, others as labels or the reader say."""
    options: dict[str, Any] = {"level": level, "undefined": parse_undefined(undefined)}
    if not all(runs.stand_alone for runs in designed.values()):
        if len({runs.design for runs in designed.values()}) > 1:
            raise ValueError(
                "Expected selections whose resamples belong together in one way, got some in blocks and some not; "
                "compare candidates of one study."
            )
        return design_comparisons(designed, measure, **options)
    runs = {name: designed[name].runs for name in designed}
    if paired is None:
        _ask_for_pairs(runs)
    return compare_many(runs, measure, paired=paired, **options)


def _ask_for_pairs(selections: Mapping[str, Preferences]) -> None:
    """Raise a question if the labels of the runs do not say whether they are pairs."""
    for first, second in itertools.combinations(selections.values(), 2):
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


def _list_selections(
    comparisons: Comparisons, designed: Mapping[str, DesignedRuns], places: Mapping[str, int]
) -> tuple[ComparedSelection, ...]:
    return tuple(
        ComparedSelection(
            name=name, place=places[name], kind=designed[name].runs.kind,
            estimate=Estimated(**comparisons.estimates[name].to_dict(comparisons.level)),
            letters=comparisons.letters[name],
        )
        for name in sort_by_stability(comparisons)
    )  # fmt: skip


def _list_pairs(comparisons: Comparisons) -> tuple[ComparedPair, ...]:
    return tuple(
        ComparedPair(
            first=row["first_name"], second=row["second_name"], difference=row["difference"], low=row["low"],
            high=row["high"], standard_error=row["standard_error"], p_value=row["p_value"], p_holm=row["p_holm"],
            design=row["design"], significant=bool(row["p_holm"] <= 1 - comparisons.level),
        )
        for row in comparisons.pairs.to_dict(orient="records")
    )  # fmt: skip


# Features side by side


def _compare_features(selections: Mapping[str, Preferences], beside: Sequence[int], level: float) -> FeatureChanges:
    """Return how often two selections hold each feature, matched by name."""
    if not all(0 <= place < len(selections) for place in beside):
        raise ValueError(f"Expected places from 0 to {len(selections) - 1}, got {beside[0]} and {beside[1]}.")
    first, second = (list(selections)[place] for place in beside)
    sides = [_frequencies(selections[name], level) for name in (first, second)]
    never = []
    for name in (first, second):
        low, high = frequency_interval(np.zeros(1, dtype=np.int64), selections[name].n_runs, level)
        never.append((0.0, float(low[0]), float(high[0])))
    rows = [
        _make_change(feature, *(side.get(feature, rest) for side, rest in zip(sides, never, strict=True)))
        for feature in dict.fromkeys(itertools.chain(*sides))
    ]
    rows.sort(key=lambda row: -abs(row.second - row.first))
    named = {change: tuple(row.feature for row in rows if row.change == change) for change in CHANGES.values()}
    texts = {change: join_names(names, MAX_NAMED) if names else "none" for change, names in named.items()}
    return FeatureChanges(
        first=first, second=second, gained=named["gained"], lost=named["lost"], kept=named["kept"],
        gained_text=texts["gained"], lost_text=texts["lost"], kept_text=texts["kept"],
        rows=tuple(rows[:MAX_CHANGES]), left_out=max(len(rows) - MAX_CHANGES, 0), threshold=THRESHOLD,
    )  # fmt: skip


def _frequencies(runs: Preferences, level: float) -> dict[str, tuple[float, float, float]]:
    table = feature_table(runs, level=level)
    numbers = zip(table["frequency"], table["low"], table["high"], strict=True)
    return {
        show_name(feature): (float(frequency), float(low), float(high))
        for feature, (frequency, low, high) in zip(table["feature"], numbers, strict=True)
    }


def _make_change(feature: str, first: tuple[float, float, float], second: tuple[float, float, float]) -> FeatureChange:
    standing = compare_frequencies(first[1:], second[1:], THRESHOLD)
    return FeatureChange(
        feature=feature, first=first[0], first_low=first[1], first_high=first[2], second=second[0],
        second_low=second[1], second_high=second[2], change=CHANGES[standing],
    )  # fmt: skip


def _warn_of_universes(selections: Mapping[str, Preferences]) -> list[str]:
    """Return a note if the selections had different numbers of features to choose from."""
    sizes = sorted({runs.n_features for runs in selections.values()})
    if len(sizes) == 1:
        return []
    return [
        f"The files differ in the number of features that there were to choose from ({sizes[0]:,} to {sizes[-1]:,}), "
        "which may explain a difference in stability."
    ]
