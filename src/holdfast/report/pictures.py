"""The pictures of a report, as parts of a page."""

import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast import plots
from holdfast.plots.embed import figure
from holdfast.report.summary import Summary
from holdfast.study import StudyResult
from holdfast.study.footing import take_best

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

MOST_IN_FOREST = 40


def figures(result: StudyResult, summary: Summary, measure: Any = None, X: Any = None) -> dict[str, str]:
    """The pictures that this study can fill, by their section, as HTML."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = {**_of_features(result, summary), **_of_candidates(result, summary, measure, X)}
        return {key: figure(chart, f"figure-{key}") for key, chart in drawn.items()}


def _of_features(result: StudyResult, summary: Summary) -> "dict[str, AnyChart]":
    if summary.candidate is None or summary.features is None or not summary.features.table:
        return {}
    runs: Any = result
    name: str | None = summary.candidate
    if summary.features.top is not None:
        runs, name = take_best(result.preferences(summary.candidate), summary.features.top), None
    return {"map": plots.plot_selection_map(runs, name, order="frequency")}


def _of_candidates(result: StudyResult, summary: Summary, measure: Any, X: Any) -> "dict[str, AnyChart]":
    drawn: dict[str, AnyChart] = {}
    measured = [one for one in summary.selectors if one.stability.value == one.stability.value]
    if len(measured) > 1 and len(summary.selectors) <= MOST_IN_FOREST:
        drawn["forest"] = plots.plot_forest(result, level=summary.level, measure=measure, X=X)
    if len(measured) > 1 and not summary.tradeoff.missing:
        metric = str(summary.tradeoff.metric)
        drawn["front"] = plots.plot_pareto(_points(summary, metric), score=metric, level=summary.level)
    return drawn


def _points(summary: Summary, metric: str) -> pd.DataFrame:
    rows = [
        {
            "candidate": one.candidate, "family": one.family, "score": score.value, "score_se": score.error,
            "stability": one.stability.value, "low": one.stability.low, "high": one.stability.high,
            "on_front": one.on_front, "chosen": one.chosen, "settings": one.candidate,
        }
        for one in summary.selectors
        for score in one.scores
        if score.metric == metric
    ]  # fmt: skip
    return pd.DataFrame(rows)
