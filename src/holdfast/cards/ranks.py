"""Small pictures of comparisons over several data sets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.cards import Bar, Card, Svg, draw_bars, draw_intervals

__all__ = ["Card", "draw_mean_ranks", "draw_probabilities"]


def draw_mean_ranks(candidates: Sequence[str], mean_ranks: Sequence[float]) -> Svg | None:
    """Draw mean ranks below each other, the best first; None without any."""
    ranked = sorted(zip(mean_ranks, candidates, strict=True), key=lambda pair: pair[0])
    return draw_intervals([Bar(name, rank, text=f"mean rank {rank:.2f}") for rank, name in ranked])


def draw_probabilities(pairs: Iterable[Mapping[Any, Any]]) -> Svg | None:
    """Draw, of each pair, how probable it is that the better one is better; None without any."""
    bars = []
    for pair in pairs:
        names, better = (pair["first"], pair["second"]), (pair["first_better"], pair["second_better"])
        first, second = names if better[0] >= better[1] else names[::-1]
        bars.append(Bar(f"{first} > {second}", max(better), text=f"{max(better):.0%}"))
    return draw_bars(bars, mark=0.5)
