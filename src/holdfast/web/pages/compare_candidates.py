"""Two candidates side by side: whether they differ in stability and score, and which features one gains or loses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast import plots
from holdfast.inference.designs import DesignedRuns
from holdfast.inference.features import FrequencyClass, compare_frequencies, frequency_interval
from holdfast.plots.embed import draw_figure
from holdfast.plots.selection_map import draw_selection_map
from holdfast.plots.sources import BLOCKS
from holdfast.preferences import Preferences
from holdfast.report.building import describe_stability, estimate_stability
from holdfast.report.features import record_map, show_name
from holdfast.report.pictures import COLUMNS_OF_FIGURES, map_frames
from holdfast.report.records import Labels, Score, SelectionMap, Stability
from holdfast.study import StudyResult
from holdfast.study.stabilities import CommonMeasure, common_size, corrected_error, mean_score_interval, score_range
from holdfast.text import describe_interval, display_names, format_count, format_number, format_p_value
from holdfast.tradeoff.changes import compare_scores
from holdfast.tradeoff.points import default_test, differ, make_points
from holdfast.tradeoff.rules import RULES
from holdfast.web.pages.tradeoff import choose_candidate, find_candidates
from holdfast.web.rendering import Page
from holdfast.web.results import (
    CommonOptions,
    CommonQuery,
    Snapshot,
    check_candidate,
    choose_options,
    describe_unfinished,
    find_labels,
    without_warnings,
)
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()

OFTEN = 0.5
"""Selection frequency that the interval of a feature that is selected often exceeds."""
MAX_FEATURES, MAX_COLUMNS = 200, 60
"""Features of the table, and columns of the maps."""


@dataclass(frozen=True, kw_only=True)
class FeaturePair:
    """How often two candidates selected one feature.

    Attributes
    ----------
    feature : str
        Its name.
    place : int
        Its column in the data, from 0.
    first, first_low, first_high : float
        Selection frequency by the first candidate, and its interval.
    second, second_low, second_high : float
        The same for the second candidate.
    standing : {"first only", "second only", "both", "neither", "open"}
        Who selects it in more than half of the resamples, where both intervals say so; ``open`` where one does not.
    """

    feature: str
    place: int
    first: float
    first_low: float
    first_high: float
    second: float
    second_low: float
    second_high: float
    standing: FrequencyClass


def pair_features(first: Preferences, second: Preferences, *, level: float) -> tuple[tuple[FeaturePair, ...], int]:
    """Return the features that either selected, those whose frequencies differ most first, and how many there are."""
    used = np.flatnonzero(first.counts + second.counts)
    columns = {
        f"{side}{end}": values
        for side, runs in (("first", first), ("second", second))
        for end, values in zip(
            ("", "_low", "_high"),
            (runs.frequency[used], *frequency_interval(runs.counts[used], runs.n_runs, level)),
            strict=True,
        )
    }
    names = [show_name(first.features[place]) for place in used.tolist()]
    table = pd.DataFrame({"feature": names, "place": used, **columns})
    gap, most = (table["first"] - table["second"]).abs(), table[["first", "second"]].max(axis=1)
    order = np.lexsort((-most.to_numpy(), -gap.to_numpy().round(12)))[:MAX_FEATURES]
    rows: list[Any] = table.iloc[order].to_dict("records")
    ends = [[(row[f"{side}_low"], row[f"{side}_high"]) for side in ("first", "second")] for row in rows]
    standings = [compare_frequencies(first_ends, second_ends, OFTEN) for first_ends, second_ends in ends]
    pairs = zip(rows, standings, strict=True)
    return tuple(FeaturePair(**row, standing=standing) for row, standing in pairs), used.size


def describe_overlap(first: Preferences, second: Preferences) -> str:
    """Say how many features two candidates share on the same resample, on average."""
    places = {label: place for place, label in enumerate(second.labels or ())}
    pairs = [(place, places[label]) for place, label in enumerate(first.labels or ()) if label in places]
    if not pairs:
        return "The two have no resample in common."
    one, other = (runs.take([pair[side] for pair in pairs]) for side, runs in enumerate((first, second)))
    shared = float(one.to_sparse().multiply(other.to_sparse()).sum() / len(pairs))
    return (
        f"On the same resample the two share {shared:.1f} features on average, of {one.sizes.mean():.1f} that the "
        f"first and {other.sizes.mean():.1f} that the second selects ({format_count(len(pairs), 'resample')})."
    )


# Maps


def find_columns(runs: Sequence[Preferences]) -> NDArray[np.int64]:
    """The features that the two selected most often together, the most frequent first."""
    total = sum(each.frequency for each in runs)
    order = np.argsort(-np.asarray(total), kind="stable")[:MAX_COLUMNS]
    return order[np.asarray(total)[order] > 0]


def map_columns(designed: DesignedRuns, columns: NDArray[np.int64]) -> SelectionMap | None:
    """Return which resample selected which of these features; None if nothing was selected."""
    runs = designed.runs
    if not columns.size or not runs.sizes.any():
        return None
    names = display_names(runs.features[column] for column in columns.tolist())
    part = Preferences.from_matrix(runs.to_sparse()[:, columns].toarray(), features=names)
    part = replace(part, labels=runs.labels)
    data = plots.selection_map_data(part, show="all", blocks=_block_names(designed))
    always, sometimes = runs.counts == runs.n_runs, (runs.counts > 0) & (runs.counts < runs.n_runs)
    whole = replace(data, order="frequency", n_always=int(always.sum()), n_sometimes=int(sometimes.sum()))
    return record_map(whole)


def _block_names(designed: DesignedRuns) -> list[str] | None:
    if designed.design not in BLOCKS or len(set(designed.blocks)) == 1:
        return None
    return [f"{BLOCKS[designed.design]} {block + 1}" for block in designed.blocks]


# Two candidates


TESTS = {
    "mcnemar": "McNemar's test, row by row",
    "resampled-t": "corrected resampled t-test, resample by resample",
    "paired": "paired, resample by resample",
    "independent": "as independent selections",
}


@dataclass(frozen=True, kw_only=True)
class BesideQuery(CommonQuery):
    """Which candidates to set side by side.

    Attributes
    ----------
    first, second : str
        Their names; by default the chosen one, and the one that is chosen second most often.
    """

    first: str = ""
    second: str = ""


@dataclass(frozen=True, kw_only=True)
class CandidateSide:
    """One of two candidates.

    Attributes
    ----------
    candidate : str
        Its name.
    stability : Stability
        Its stability with the interval.
    score : Score or None
        Its score with the interval; None if it has none.
    size : float
        Mean number of selected features.
    map : SelectionMap or None
        Which resample selected which feature, in the same columns for both; None if nothing was selected.
    n_runs : int
        Number of resamples.
    """

    candidate: str
    stability: Stability
    score: Score | None
    size: float
    map: SelectionMap | None
    n_runs: int


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """First minus second, with its test.

    Attributes
    ----------
    difference, low, high : float
        The difference and the ends of its interval; these are undefined if the test has none.
    p_value : float
        Two-sided p-value; undefined if there was nothing to test.
    differs : bool
        Whether the test finds a difference at the level of the page.
    test : str
        How it was tested.
    sentence : str
        The same in a sentence.
    """

    difference: float
    low: float
    high: float
    p_value: float
    differs: bool
    test: str
    sentence: str


def draw_maps(page: Page) -> dict[str, str]:
    """Draw the selection maps of both candidates, with the same columns."""
    figures = {}
    for name, side in zip(("first", "second"), page.sides, strict=False):
        if side.map is not None:
            frames = map_frames(side.map, side.n_runs, page.n_features)
            figures[name] = draw_figure(f"figure-{name}", draw_selection_map, frames, columns=COLUMNS_OF_FIGURES["map"])
    return figures


@routes.page("/studies/{study}/beside", "beside.html.j2", draw_maps)
def show_beside(site: Site, study: str, query: BesideQuery) -> Page:
    """Set two candidates side by side: stability, score, and the features that one gains and loses."""
    state, snapshot = site.launcher.state(study), site.results.get(study)
    result, labels = snapshot.result, find_labels(snapshot)
    options = choose_options(snapshot, query.measure, query.metric, query.level)
    for name in filter(None, (query.first, query.second)):
        check_candidate(result, name)
    first, second = find_pair(snapshot, options, query)
    page = Page(
        state=state, labels=labels, options=options, candidates=tuple(result.candidates), first=first, second=second,
        n_features=len(result.feature_names), missing=_why_not(result, labels, first, second), sides=(), notes=(),
    )  # fmt: skip
    if not page.missing:
        key = ("beside", first, second, options.metric, options.measure, options.level)
        vars(page).update(snapshot.remember(key, lambda result: without_warnings(lambda: _compare(result, page))))
    return page


def find_pair(snapshot: Snapshot, options: CommonOptions, query: BesideQuery) -> tuple[str, str]:
    """Return the names that were asked for; for those left out the chosen candidate, and the one after it."""
    if query.first and query.second:
        return query.first, query.second
    choice, _ = choose_candidate(snapshot, RULES["one-se"], options, {})
    rows = find_candidates(snapshot, options, choice, find_labels(snapshot))
    often = sorted(rows, key=lambda row: -row.chosen_in if row.chosen_in == row.chosen_in else 0.0)
    names = [choice.candidate] if choice else []
    names += [row.candidate for row in often if row.candidate not in names]
    others = iter([name for name in names if name not in (query.first, query.second)])
    return query.first or next(others, ""), query.second or next(others, "")


def _why_not(result: StudyResult, labels: Labels, first: str, second: str) -> str:
    if len(result.candidates) < 2:
        return "There is only one candidate, so there is nothing to set beside it."
    if first == second:
        return "These are the same candidate twice; choose another one to set beside it."
    unfinished = [labels.candidate(name) for name in (first, second) if name not in result.kinds]
    return f"{' and '.join(unfinished)} has no finished fit yet." if unfinished else ""


def _compare(result: StudyResult, page: Page) -> dict[str, Any]:
    """What two candidates have in common and what not, by the names that the template uses."""
    names, options = [page.first, page.second], page.options
    common = result.common_measure(names, options.measure)
    subsets = [_as_subsets(result, name, common) for name in names]
    columns = find_columns([designed.runs for designed in subsets])
    features, n_selected = pair_features(*(designed.runs for designed in subsets), level=options.level)
    return {
        "features": features, "n_selected": n_selected,
        "sides": tuple(_make_side(result, name, designed, columns, common, options)
                       for name, designed in zip(names, subsets, strict=True)),
        "stability": _compare_stability(result, page), "score": _compare_score(result, page),
        "overlap": describe_overlap(*(designed.runs for designed in subsets)), "notes": _notes(result, page, subsets),
    }  # fmt: skip


def _as_subsets(result: StudyResult, name: str, common: CommonMeasure) -> DesignedRuns:
    """What a candidate selected; of rankings and weights the best features, as many as the others select."""
    top = common.top or common_size([], len(result.feature_names))
    return CommonMeasure(common.measure, top).cut(result.designed(name))


def _make_side(
    result: StudyResult,
    name: str,
    designed: DesignedRuns,
    columns: NDArray[np.int64],
    common: CommonMeasure,
    options: CommonOptions,
) -> CandidateSide:
    estimate = estimate_stability(result, name, common, None)
    return CandidateSide(
        candidate=name, stability=describe_stability(result, name, {name: estimate}, options.level),
        score=_find_score(result, name, options), size=float(designed.runs.sizes.mean()),
        map=map_columns(designed, columns), n_runs=designed.runs.n_runs,
    )  # fmt: skip


def _find_score(result: StudyResult, name: str, options: CommonOptions) -> Score | None:
    if options.metric is None:
        return None
    scores, splits = result.split_scores(name, options.metric)
    if scores.empty:
        return None
    low, high = mean_score_interval(scores, splits, score_range(result.plan["scoring"][options.metric]), options.level)
    error = corrected_error(np.asarray(scores, dtype=np.float64), splits)
    return Score(metric=options.metric, value=float(scores.mean()), error=error, low=low, high=high)


# Differences


def _compare_stability(result: StudyResult, page: Page) -> PairedDifference | None:
    try:
        compared = result.compare([page.first, page.second], page.options.measure, level=page.options.level)
    except ValueError:
        return None
    pair = compared.pairs.iloc[0]
    return _make_difference(
        page, "stability", float(pair["difference"]), float(pair["low"]), float(pair["high"]), float(pair["p_value"]),
        str(pair["design"]),
    )  # fmt: skip


def _compare_score(result: StudyResult, page: Page) -> PairedDifference | None:
    options = page.options
    if options.metric is None:
        return None
    try:
        points = make_points(
            result, options.metric, options.measure, candidates=[page.first, page.second], level=options.level
        )
        (first, second), test = points.points, default_test(points)
        tested = differ(points, first, second, test)
    except ValueError:
        return None
    change = compare_scores(result, page.second, page.first, options.metric, options.level)
    ends = (math.nan, math.nan) if change is None or test == "mcnemar" else (change.low, change.high)
    name = page.labels.score(options.metric)
    return _make_difference(page, name, tested.difference, *ends, tested.p_value, test)


def _make_difference(
    page: Page, what: str, difference: float, low: float, high: float, p: float, test: str
) -> PairedDifference | None:
    if math.isnan(difference):
        return None
    differs = p <= 1 - page.options.level
    return PairedDifference(
        difference=difference, low=low, high=high, p_value=p, differs=differs, test=TESTS[test],
        sentence=_describe_difference(page, what, difference, (low, high), p, test),
    )  # fmt: skip


def _describe_difference(
    page: Page, what: str, difference: float, ends: tuple[float, float], p: float, test: str
) -> str:
    """The difference in a sentence, of the one that has more; that they differ only if the test says so."""
    if math.isnan(p):
        return f"Whether the two differ in {what} could not be tested: too few resamples are shared by both."
    more, less = (page.labels.candidate(name) for name in (page.first, page.second))
    low, high = ends
    if difference < 0:
        more, less, low, high = less, more, -high, -low
    interval = "" if math.isnan(low) else f"{describe_interval(low, high, page.options.level, 3)}, "
    figures = f"({interval}{format_p_value(p)}; {TESTS[test]})"
    gap = f"{more} is {format_number(abs(difference), 3)} above {less}" if difference else "both have the same"
    if p <= 1 - page.options.level:
        return f"The two differ in {what}: {gap} {figures}."
    return f"These resamples cannot tell the two apart in {what}: {gap} {figures}."


def _notes(result: StudyResult, page: Page, subsets: Sequence[DesignedRuns]) -> tuple[str, ...]:
    n, notes = len(result.candidates), [describe_unfinished(result)]
    if n > 2:
        notes.append(
            f"The tests are of this pair alone. {n} candidates make {n * (n - 1) // 2:,} pairs, and of many pairs some "
            "differ by chance."
        )
    ordering = [page.labels.candidate(name) for name in (page.first, page.second) if result.kinds[name] != "subset"]
    if ordering:
        best = max(designed.runs.sizes.max() for designed in subsets)
        verb = "orders" if len(ordering) == 1 else "order"
        notes.append(f"{' and '.join(ordering)} {verb} all features; the best {best} count as selected.")
    return tuple(filter(None, notes))
