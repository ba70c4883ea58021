"""The card of a study: its candidates with their stabilities and scores."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from holdfast.cards import Card, draw_intervals, make_bar
from holdfast.text import format_estimate, format_number

__all__ = ["Card", "make_study_card"]


def make_study_card(title: str, summary: pd.DataFrame, metrics: Sequence[str], caution: str = "") -> Card:
    """Return the card of a study from its summary: the most stable candidates first, and the best score.

    Parameters
    ----------
    title : str
        What was run.
    summary : DataFrame
        One row per candidate, as ``StudyResult.summary()`` returns it.
    metrics : sequence of str
        Names of the scores; the first is shown beside the stabilities.
    caution : str
        What the data warn of.
    """
    ordered = summary.sort_values("stability", ascending=False, kind="stable", na_position="last")
    metric = next((name for name in metrics if name in summary), None)
    bars = [make_bar(name, row.stability, row.low, row.high, _score(row, metric)) for name, row in ordered.iterrows()]
    columns = [name for name in ("stability", "low", "high", "size", *metrics, "runs", "failures") if name in summary]
    measures = ", ".join(map(str, summary["measure"].dropna().unique()))
    note = f"Stability: {measures}" if measures else ""
    return Card(
        title=title, verdict=_verdict(ordered, metric), caution=caution, frame=ordered[columns],
        picture=draw_intervals(bars), note=note,
    )  # fmt: skip


def _score(row: Any, metric: str | None) -> str:
    return "" if metric is None or pd.isna(row[metric]) else f" · {metric} {format_number(row[metric])}"


def _verdict(ordered: pd.DataFrame, metric: str | None) -> str:
    """The most stable candidate, and the one with the best score."""
    if ordered.empty or ordered["stability"].isna().all():
        return "No candidate has a stability yet"
    first = ordered.iloc[0]
    verdict = f"Most stable: {ordered.index[0]}, {format_estimate(first['stability'], first['low'], first['high'])}"
    if metric is None or ordered[metric].isna().all():
        return verdict
    best, score = ordered[metric].idxmax(), format_number(ordered[metric].max())
    if best == ordered.index[0]:
        return f"{verdict}; it also has the best {metric}, {score}"
    return f"{verdict}; best {metric}: {best}, {score}"
