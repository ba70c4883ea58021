"""The card of final features: how often each was selected."""

from typing import Any

from holdfast.cards import SHOWN_ROWS, Card, draw_bars, make_bar

__all__ = ["Card", "make_features_card"]


def make_features_card(final: Any, verdict: str) -> Card:
    """Return the card of a :class:`~holdfast.tradeoff.FinalFeatures`: bars of the frequencies with their intervals."""
    shown = final.frame[["feature", "selected", "consensus", "count", "frequency", "low", "high", "stand_ins"]]
    bars = [
        make_bar(row["feature"], row["frequency"], row["low"], row["high"], strong=bool(row["consensus"]))
        for _, row in shown.head(SHOWN_ROWS).iterrows()
    ]
    return Card(
        title=f"Features of {final.candidate}",
        verdict=verdict,
        frame=shown if final.selected_on else shown.drop(columns="selected"),
        picture=draw_bars(bars, mark=final.threshold),
        note=f"Consensus: {final.bound.sentence}",
    )
