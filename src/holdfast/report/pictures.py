"""The pictures of a report, drawn from its summary."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.plots.embed import figure
from holdfast.plots.forest import COLUMNS, draw_forest
from holdfast.plots.pareto import draw_pareto, pareto_data
from holdfast.plots.ranks import (
    critical_difference_data,
    draw_critical_difference,
    draw_rank_tradeoff,
    rank_tradeoff_data,
)
from holdfast.plots.selection_map import SelectionMap, draw_selection_map
from holdfast.plots.survival import COLUMNS as COLUMNS_OF_CURVES
from holdfast.plots.survival import draw_survival_curves
from holdfast.plots.theme import unchecked
from holdfast.report.benchmark import BenchmarkSummary, as_comparisons
from holdfast.report.records import Candidate, Feature, Findings, Labels, Score, Stability
from holdfast.report.records import SelectionMap as MapRecord
from holdfast.report.summary import Summary

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

MAX_IN_FOREST = 40
COLUMNS_OF_FIGURES = {
    "map": {"resample": "resample", "feature": "selected feature", "frequency": "frequency of the feature"},
    "forest": {
        "name": "candidate", "stability": "stability", "low": "lower end of the interval",
        "high": "upper end of the interval", "n_runs": "resamples",
    },
    "front": {
        "candidate": "candidate", "family": "selector", "score": "score", "score_low": "lower end of the score",
        "score_high": "upper end of the score", "stability": "stability", "low": "lower end of the stability",
        "high": "upper end of the stability", "on_front": "on the front", "chosen": "chosen",
    },
    "survival": {
        "feature": "feature", "group": "group", "time": "time", "survival": "without the event",
        "low": "lower end", "high": "upper end", "at_risk": "at risk",
    },
    "stability": {"name": "candidate", "rank": "mean rank"},
    "score": {"name": "candidate", "rank": "mean rank"},
    "tradeoff": {
        "candidate": "candidate", "score_rank": "mean rank of the score", "stability_rank": "mean rank of stability",
        "on_front": "data sets with it on the front", "chosen": "data sets that choose it",
    },
}  # fmt: skip
"""What a reader may save of the data of each figure, with the headings."""


FIGURES = ("map", "forest", "front", "survival")


def draw_figures(summary: Summary | Findings | BenchmarkSummary, names: Sequence[str] = FIGURES) -> dict[str, str]:
    """Return the figures that a summary, or what it is written from, has data for, by their name, as HTML."""
    with unchecked():
        if isinstance(summary, BenchmarkSummary):
            wide, narrow = draw_benchmark(summary), {}  # which suit a narrow screen too
        else:
            wide, narrow = (draw_charts(summary, names, narrow=is_narrow) for is_narrow in (False, True))
    return {
        name: figure(chart, f"figure-{name}", narrow=narrow.get(name), columns=COLUMNS_OF_FIGURES[name])
        for name, chart in wide.items()
    }


def draw_charts(
    summary: Summary | Findings, names: Sequence[str] = FIGURES, *, narrow: bool = False
) -> "dict[str, AnyChart]":
    """Return the charts that a summary has data for: ``map``, ``forest``, ``front`` and ``survival``."""
    charts: dict[str, AnyChart] = {}
    if "map" in names and summary.features is not None and summary.features.map is not None:
        frames = map_frames(summary.features.map, summary.features.n_runs, summary.features.n_features)
        charts["map"] = draw_selection_map(frames, narrow=narrow)
    if "survival" in names and isinstance(summary, Summary) and summary.features is not None:
        curves, time = list_curves(summary.features.shown), summary.data.target or "time"
        charts |= {} if curves.empty else {"survival": draw_survival_curves(curves, time=time, narrow=narrow)}
    measured = [row for row in summary.candidates if row.stability.value == row.stability.value]
    if (
        "forest" in names
        and isinstance(summary, Summary)
        and len(measured) > 1
        and len(summary.candidates) <= MAX_IN_FOREST
    ):
        rows = forest_rows(summary)
        charts["forest"] = draw_forest(rows, level=summary.level, top=summary.top, axis="stability", narrow=narrow)
    if "front" in names and len(measured) > 1 and not summary.tradeoff.missing:
        score = summary.labels.score(summary.tradeoff.metric)
        charts["front"] = draw_pareto(front_points(summary), score=score, level=summary.level, narrow=narrow)
    return charts


def forest_rows(summary: Summary) -> pd.DataFrame:
    """Return the rows of the forest plot, as :func:`holdfast.plots.forest_data` does, with names for readers."""
    named = ((summary.labels.candidate(row.candidate), None, row.stability, row.letters) for row in summary.candidates)
    return list_stabilities(named)


def list_curves(features: Iterable[Feature]) -> pd.DataFrame:
    """Return the survival curves of features, as :func:`holdfast.plots.survival_curves_data` does."""
    frames = [
        pd.DataFrame({"feature": row.feature, **{name: getattr(curve, name) for name in COLUMNS_OF_CURVES[1:]}})
        for row in features
        for curve in row.curves
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS_OF_CURVES)


def list_stabilities(rows: Iterable[tuple[str, str | None, Stability, str]]) -> pd.DataFrame:
    """Return the rows of a forest plot: name, measure, stability and letters of each."""
    return pd.DataFrame(
        [
            (name, measure, known.value, known.low, known.high, known.n_runs, known.strength, known.reason, letters)
            for name, measure, known, letters in rows
        ],
        columns=COLUMNS,
    )


def front_points(summary: Summary | Findings) -> pd.DataFrame:
    """Return the points of score and stability, as :func:`holdfast.plots.pareto_data` does, with names for readers."""
    rows = [
        {**make_point(row, score, summary.labels), "chosen": row.candidate == summary.tradeoff.candidate}
        for row in summary.candidates
        for score in row.scores
        if score.metric == summary.tradeoff.metric
    ]
    return pareto_data(pd.DataFrame(rows), level=summary.level)


def make_point(row: Candidate, score: Score, labels: Labels) -> dict[str, Any]:
    """Return a candidate as a point of score and stability, with names for readers."""
    return {
        "candidate": labels.candidate(row.candidate), "family": labels.family(row.family), "on_front": row.on_front,
        "score": score.value, "score_se": score.error, "score_low": score.low, "score_high": score.high,
        "stability": row.stability.value, "low": row.stability.low, "high": row.stability.high,
    }  # fmt: skip


def map_frames(record: MapRecord, n_runs: int, n_features: int) -> SelectionMap:
    """Return the selection map of a summary, as :func:`holdfast.plots.selection_map_data` does."""
    columns = pd.DataFrame(
        {
            "column": range(len(record.features)), "feature": record.features, "features": 1,
            "frequency": record.frequencies, "group": -1,
        }
    )  # fmt: skip
    rows = [(index, row.resample, row.first, row.last, row.block) for index, row in enumerate(record.rows)]
    cells = [
        (index, column, share)
        for index, row in enumerate(record.rows)
        for column, share in zip(row.columns, row.shares or [1.0] * len(row.columns), strict=True)
    ]
    return SelectionMap(
        cells=pd.DataFrame(cells, columns=["row", "column", "share"]),
        columns=columns,
        rows=pd.DataFrame(rows, columns=["row", "resample", "first", "last", "block"]),
        order="frequency",
        n_runs=n_runs,
        n_features=n_features,
        n_always=record.n_always,
        n_sometimes=record.n_sometimes,
    )


MAX_DRAWN = 30
"""Candidates up to which mean ranks are drawn; tables have all."""


def draw_benchmark(summary: BenchmarkSummary) -> "dict[str, AnyChart]":
    """Return the charts that a summary has data for: mean ranks of each question, and the trade-off."""
    charts: dict[str, AnyChart] = {}
    for name, question in (("stability", summary.stability), ("score", summary.score)):
        if question.reason is None and len(question.candidates) <= MAX_DRAWN:
            diagram = critical_difference_data(as_comparisons(question, summary.level))
            charts[name] = draw_critical_difference(diagram, what=question.what)
    if summary.n_ranked and 1 < len(summary.candidates) <= MAX_DRAWN:
        rows = pd.DataFrame([vars(row) for row in summary.candidates]).set_index("candidate")
        data = rank_tradeoff_data(rows)
        charts["tradeoff"] = draw_rank_tradeoff(data, score=str(summary.metric), n_datasets=summary.n_ranked)
    return charts
