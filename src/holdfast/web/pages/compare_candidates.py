"""Two candidates side by side: whether they differ in stability and score, and which features one gains or loses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast import plots
from holdfast.inference.designs import RunsByBlock
from holdfast.plots.embed import draw_figure
from holdfast.plots.selection_map import draw_selection_map
from holdfast.plots.sources import BLOCKS
from holdfast.preferences import Preferences
from holdfast.report.features import record_map
from holdfast.report.pictures import COLUMNS_OF_FIGURES, map_frames
from holdfast.report.records import Labels, SelectionMap
from holdfast.report.verdict import warn_of_unfinished
from holdfast.study import StudyResult
from holdfast.study.stabilities import CommonMeasure, common_size
from holdfast.text import describe_interval, display_names, format_count, format_number, format_p_value
from holdfast.tradeoff.changes import compare_scores
from holdfast.tradeoff.points import default_test, differ, make_points
from holdfast.tradeoff.rules import RULES
from holdfast.web import results
from holdfast.web.measuring import compare_features
from holdfast.web.pages.tradeoff import choose_candidate, find_candidates, make_candidate
from holdfast.web.rendering import Page
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()

MAX_COLUMNS = 60
"""Columns of the maps."""


def describe_overlap(first: Preferences, second: Preferences) -> str:
    """Say how many features two candidates share on the same resample, on average."""
    index = {label: run for run, label in enumerate(second.labels or ())}
    pairs = [(run, index[label]) for run, label in enumerate(first.labels or ()) if label in index]
    if not pairs:
        return "The two have no resample in common."
    first, second = (runs.take([pair[side] for pair in pairs]) for side, runs in enumerate((first, second)))
    shared = float(first.to_sparse().multiply(second.to_sparse()).sum() / len(pairs))
    return (
        f"On the same resample the two share {shared:.1f} features on average, of {first.sizes.mean():.1f} that the "
        f"first and {second.sizes.mean():.1f} that the second selects ({format_count(len(pairs), 'resample')})."
    )


# Maps


def find_columns(runs: Sequence[Preferences]) -> NDArray[np.int64]:
    """The features that the two selected most often together, the most frequent first."""
    total = sum(selections.frequency for selections in runs)
    order = np.argsort(-np.asarray(total), kind="stable")[:MAX_COLUMNS]
    return order[np.asarray(total)[order] > 0]


def map_columns(runs_by_block: RunsByBlock, columns: NDArray[np.int64]) -> SelectionMap | None:
    """Return which resample selected which of these features; None if nothing was selected."""
    runs = runs_by_block.runs
    if not columns.size or not runs.sizes.any():
        return None
    names = display_names(runs.features[column] for column in columns.tolist())
    part = Preferences.from_matrix(runs.to_sparse()[:, columns].toarray(), features=names)
    part = replace(part, labels=runs.labels)
    in_blocks = runs_by_block.design in BLOCKS and len(set(runs_by_block.blocks)) > 1
    blocks = [f"{BLOCKS[runs_by_block.design]} {block + 1}" for block in runs_by_block.blocks] if in_blocks else None
    data = plots.selection_map_data(part, show="all", blocks=blocks)
    always, sometimes = runs.counts == runs.n_runs, (runs.counts > 0) & (runs.counts < runs.n_runs)
    whole = replace(data, order="frequency", n_always=int(always.sum()), n_sometimes=int(sometimes.sum()))
    return record_map(whole)


# Two candidates


TESTS = {
    "mcnemar": "McNemar's test, row by row",
    "resampled-t": "corrected resampled t-test, resample by resample",
    "paired": "paired, resample by resample",
    "independent": "as independent selections",
}


@dataclass(frozen=True, kw_only=True)
class PairQuery(results.CommonQuery):
    """Which candidates to set side by side.

    Attributes
    ----------
    first, second : str
        Their names; by default the chosen one, and the one that is chosen second most often.
    """

    first: str = ""
    second: str = ""


def draw_maps(page: Page) -> dict[str, str]:
    """Draw the selection maps of both candidates, with the same columns."""
    figures = {}
    for name, candidate, selections in zip(("first", "second"), page.sides, page.maps, strict=False):
        if selections is not None:
            frames = map_frames(selections, candidate.stability.n_runs, page.n_features)
            figures[name] = draw_figure(f"figure-{name}", draw_selection_map, frames, columns=COLUMNS_OF_FIGURES["map"])
    return figures


@routes.page("/studies/{study}/compare", "compare_candidates.html.j2", draw_maps)
def show_pair(site: Site, study: str, query: PairQuery) -> Page:
    """Set two candidates side by side: stability, score, and the features that one gains and loses."""
    state, snapshot = site.launcher.state(study), site.results.get(study)
    result, labels = snapshot.result, results.find_labels(snapshot)
    options = results.choose_options(snapshot, query.measure, query.metric, query.level)
    for name in filter(None, (query.first, query.second)):
        results.check_candidate(result, name)
    first, second = find_pair(snapshot, options, query)
    page = Page(
        state=state, labels=labels, options=options, candidates=tuple(result.candidates), first=first, second=second,
        n_features=len(result.feature_names), missing=_why_not(result, labels, first, second), sides=(), maps=(),
        notes=(),
    )  # fmt: skip
    if not page.missing:
        key = ("pair", first, second, options.metric, options.measure, options.level)
        vars(page).update(
            snapshot.remember(key, lambda result: results.without_warnings(lambda: _compare(result, page)))
        )
    return page


def find_pair(snapshot: results.Snapshot, options: results.CommonOptions, query: PairQuery) -> tuple[str, str]:
    """Return the names that were asked for; for those left out the chosen candidate, and the one after it."""
    if query.first and query.second:
        return query.first, query.second
    choice, _ = choose_candidate(snapshot, RULES["one-se"], options, {})
    rows = find_candidates(snapshot, options, choice, results.find_labels(snapshot))
    often = sorted(rows, key=lambda row: -row.chosen_in if row.chosen_in == row.chosen_in else 0.0)
    names = [choice.candidate] if choice else []
    names += [row.candidate for row in often if row.candidate not in names]
    others = iter([name for name in names if name not in (query.first, query.second)])
    return query.first or next(others, ""), query.second or next(others, "")


def _why_not(result: StudyResult, labels: Labels, first: str, second: str) -> str:
    if len(result.candidates) < 2:
        return "There is only one candidate, so there is nothing to compare it with."
    if first == second:
        return "These are the same candidate twice; choose another one."
    unfinished = [labels.candidate(name) for name in (first, second) if name not in result.kinds]
    return f"{' and '.join(unfinished)} has no finished fit yet." if unfinished else ""


def _compare(result: StudyResult, page: Page) -> dict[str, Any]:
    """What two candidates have in common and what not, by the names that the template uses."""
    names, options = [page.first, page.second], page.options
    common = result.common_measure(names, options.measure)
    subsets = [_as_subsets(result, name, common) for name in names]
    columns = find_columns([runs_by_block.runs for runs_by_block in subsets])
    candidates = [make_candidate(result, name, common, options) for name in names]
    return {
        "features": compare_features(names, subsets[0].runs, subsets[1].runs, options.level),
        "sides": tuple(replace(candidate, size=float(runs_by_block.runs.sizes.mean()))
                       for candidate, runs_by_block in zip(candidates, subsets, strict=True)),
        "maps": tuple(map_columns(runs_by_block, columns) for runs_by_block in subsets),
        "stability": _compare_stability(result, page), "score": _compare_score(result, page),
        "overlap": describe_overlap(*(runs_by_block.runs for runs_by_block in subsets)),
        "notes": _notes(result, page, subsets),
    }  # fmt: skip


def _as_subsets(result: StudyResult, name: str, common: CommonMeasure) -> RunsByBlock:
    """What a candidate selected; of rankings and weights the best features, as many as the others select."""
    top = common.top or common_size([], len(result.feature_names))
    return CommonMeasure(common.measure, top).cut(result.runs_by_block(name))


# Differences


def _compare_stability(result: StudyResult, page: Page) -> dict[str, Any] | None:
    try:
        compared = result.compare([page.first, page.second], page.options.measure, level=page.options.level)
    except ValueError:
        return None
    pair = compared.pairs.iloc[0]
    return _make_difference(
        page, "stability", float(pair["difference"]), float(pair["low"]), float(pair["high"]), float(pair["p_value"]),
        str(pair["design"]),
    )  # fmt: skip


def _compare_score(result: StudyResult, page: Page) -> dict[str, Any] | None:
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
) -> dict[str, Any] | None:
    """A difference with its sentence, of the candidate that has more; that they differ only if the test says so.

    The interval is undefined if the test has none, the p-value if there was nothing to test.
    """
    if math.isnan(difference):
        return None
    differs = p <= 1 - page.options.level
    more, less = (page.labels.candidate(name) for name in (page.first, page.second))
    ends = (low, high)
    if difference < 0:
        more, less, ends = less, more, (-high, -low)
    interval = "" if math.isnan(low) else f"{describe_interval(*ends, page.options.level, 3)}, "
    figures = f"({interval}{format_p_value(p)}; {TESTS[test]})"
    gap = f"{more} is {format_number(abs(difference), 3)} above {less}" if difference else "both have the same"
    sentence = f"These resamples do not distinguish the two in {what}: {gap} {figures}."
    if math.isnan(p):
        sentence = f"Whether the two differ in {what} could not be tested: too few resamples are shared by both."
    elif differs:
        sentence = f"The two differ in {what}: {gap} {figures}."
    return {
        "difference": difference, "low": low, "high": high, "p_value": p, "differs": differs, "test": TESTS[test],
        "sentence": sentence,
    }  # fmt: skip


def _notes(result: StudyResult, page: Page, subsets: Sequence[RunsByBlock]) -> tuple[str, ...]:
    n, notes = len(result.candidates), [warn_of_unfinished(result)]
    if n > 2:
        notes.append(
            f"The tests are of this pair alone. {n} candidates make {n * (n - 1) // 2:,} pairs, and of many pairs some "
            "differ by chance."
        )
    ordering = [page.labels.candidate(name) for name in (page.first, page.second) if result.kinds[name] != "subset"]
    if ordering:
        best = max(runs_by_block.runs.sizes.max() for runs_by_block in subsets)
        verb = "orders" if len(ordering) == 1 else "order"
        notes.append(f"{' and '.join(ordering)} {verb} all features; the best {best} count as selected.")
    return tuple(filter(None, notes))
