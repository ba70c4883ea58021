"""Comparing uploaded selections, in a worker: read files, compare each with each, and return what the page shows."""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.inference.comparison import Comparisons, are_paired, compare_many
from holdfast.inference.designs import DesignedRuns, design_comparisons
from holdfast.inference.features import Standing, compare_standings, feature_table, frequency_interval
from holdfast.io.questions import Question, ReadingError
from holdfast.io.selections import is_exported
from holdfast.measures import UndefinedStabilityWarning
from holdfast.plots.comparisons import comparison_data, say_who_differs, sort_by_stability
from holdfast.plots.text import join_names
from holdfast.preferences import Kind, Preferences
from holdfast.report.features import show_name
from holdfast.report.measured import THRESHOLD
from holdfast.study.exports import read_designed
from holdfast.study.stabilities import choose_common_measure
from holdfast.web.selections.reading import choose_measure, cut_to_best, parse_undefined, plain_sentence, read_runs
from holdfast.web.selections.records import Estimated
from holdfast.web.tasks import task

MOST_CHANGES = 200
"""Features listed beside each other, those whose frequency differs most."""
MOST_COMPARED = 40
MOST_NAMED = 12
READING = ("kind", "n_features", "transpose", "layout")
"""Options whose answers count for the files that ask for them."""
CHANGES: dict[Standing, str] = {
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


@task
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
        _check_number(designed)
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
        if len(exported) > MOST_COMPARED:
            raise ValueError(f"Expected at most {MOST_COMPARED} candidates to compare, got {len(exported)}.")
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


def _check_number(designed: Mapping[str, DesignedRuns]) -> None:
    if not 2 <= len(designed) <= MOST_COMPARED:
        raise ValueError(f"Expected 2 to {MOST_COMPARED} selections to compare, got {len(designed)}.")


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
    never = [(0.0, *_interval_of_never(selections[name].n_runs, level)) for name in (first, second)]
    rows = [
        _make_change(feature, *(side.get(feature, rest) for side, rest in zip(sides, never, strict=True)))
        for feature in dict.fromkeys(itertools.chain(*sides))
    ]
    rows.sort(key=lambda row: -abs(row.second - row.first))
    named = {change: tuple(row.feature for row in rows if row.change == change) for change in CHANGES.values()}
    texts = {change: join_names(names, MOST_NAMED) if names else "none" for change, names in named.items()}
    return FeatureChanges(
        first=first, second=second, gained=named["gained"], lost=named["lost"], kept=named["kept"],
        gained_text=texts["gained"], lost_text=texts["lost"], kept_text=texts["kept"],
        rows=tuple(rows[:MOST_CHANGES]), left_out=max(len(rows) - MOST_CHANGES, 0), threshold=THRESHOLD,
    )  # fmt: skip


def _frequencies(runs: Preferences, level: float) -> dict[str, tuple[float, float, float]]:
    table = feature_table(runs, level=level)
    numbers = zip(table["frequency"], table["low"], table["high"], strict=True)
    return {
        show_name(feature): (float(frequency), float(low), float(high))
        for feature, (frequency, low, high) in zip(table["feature"], numbers, strict=True)
    }


def _interval_of_never(n_runs: int, level: float) -> tuple[float, float]:
    low, high = frequency_interval(np.zeros(1, dtype=np.int64), n_runs, level)
    return float(low[0]), float(high[0])


def _make_change(feature: str, first: tuple[float, float, float], second: tuple[float, float, float]) -> FeatureChange:
    standing = compare_standings(first[1:], second[1:], THRESHOLD)
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
