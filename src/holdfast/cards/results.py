"""The card of final features: how often each was selected."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from holdfast.cards import SHOWN_ROWS, Bar, Card, Svg, draw_bars, draw_intervals, make_bar
from holdfast.text import format_number, format_percent

__all__ = ["Card", "draw_mean_ranks", "draw_probabilities", "make_features_card", "make_preferences_card"]


def make_features_card(final: Any, verdict: str) -> Card:
    """Return the card of a :class:`~holdfast.tradeoff.FinalFeatures`: bars of the frequencies with their intervals."""
    shown = final.frame[["feature", "selected", "consensus", "count", "frequency", "low", "high", "stand_ins"]]
    trusted = shown["consensus"] & ~shown["feature"].astype(str).isin(final.doubted)
    bars = [
        make_bar(row["feature"], row["frequency"], row["low"], row["high"], strong=bool(trusted[index]))
        for index, row in shown.head(SHOWN_ROWS).iterrows()
    ]
    return Card(
        title=f"Features of {final.candidate}",
        verdict=verdict,
        frame=shown if final.selected_on else shown.drop(columns="selected"),
        picture=draw_bars(bars, mark=final.threshold),
        note=f"Consensus: {final.bound.sentence}",
    )


def make_preferences_card(runs: Any) -> Card:
    """Return the card of a :class:`~holdfast.Preferences`: its most frequent or best features."""
    if runs.kind == "subset":
        best = np.argsort(-runs.counts, kind="stable")[: (runs.counts > 0).sum()]
        columns = {"count": runs.counts[best], "frequency": runs.frequency[best]}
    else:
        mean = runs.matrix().mean(axis=0)
        best = np.argsort(mean if runs.kind == "ranking" else -mean, kind="stable")
        columns = {"mean rank" if runs.kind == "ranking" else "mean weight": mean[best]}
    shown = [str(runs.features[column]) for column in best[:SHOWN_ROWS]]
    frame = pd.DataFrame({name: values[:SHOWN_ROWS] for name, values in columns.items()})
    frame.insert(0, "feature", shown)
    bars = [
        Bar(name, value, text=f"{count} of {runs.n_runs}", strong=value >= 0.5)
        for name, count, value in frame.itertuples(index=False)
    ] if runs.kind == "subset" else []  # fmt: skip
    hidden = best.size - len(shown)
    note = f"{hidden:,} more features" if hidden else ""
    kind = {"subset": "Selections", "ranking": "Rankings", "weighting": "Weights"}[runs.kind]
    return Card(title=kind, verdict=repr(runs).split(": ", 1)[1], frame=frame, picture=draw_bars(bars), note=note)


def draw_mean_ranks(candidates: Sequence[str], mean_ranks: Sequence[float]) -> Svg | None:
    """Draw mean ranks below each other, the best first; None without any."""
    ranked = sorted(zip(mean_ranks, candidates, strict=True), key=lambda pair: pair[0])
    return draw_intervals([Bar(name, rank, text=f"mean rank {format_number(rank)}") for rank, name in ranked])


def draw_probabilities(pairs: Iterable[Mapping[Any, Any]]) -> Svg | None:
    """Draw, of each pair, how probable it is that the better one is better; None without any."""
    bars = []
    for pair in pairs:
        names, better = (pair["first"], pair["second"]), (pair["first_better"], pair["second_better"])
        first, second = names if better[0] >= better[1] else names[::-1]
        bars.append(Bar(f"{first} > {second}", max(better), text=format_percent(max(better), 0)))
    return draw_bars(bars, mark=0.5)
