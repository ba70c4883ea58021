"""Lines with bands and points, and their axes, as several charts draw them."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from holdfast.plots.sources import finite_values
from holdfast.plots.theme import altair

if TYPE_CHECKING:
    import altair as alt

MOST_TICKS = 12
MANY_POINTS = 100
"""Number of points of a chart from which they are drawn small."""
LOG_FROM = 30
"""Ratio of the largest to the smallest value from which an axis may be logarithmic."""
DIGITS = ".12~g"
"""How numbers of a setting are written: as they are; without a number of digits, ticks may be rounded to one."""


def setting_scale(values: Any) -> Any:
    """Return the scale of a setting: logarithmic if its values grow by factors, else linear."""
    alt, numbers = altair(), np.unique(finite_values(values))
    if numbers.size > 2 and numbers[0] > 0 and numbers[-1] / numbers[0] >= LOG_FROM:
        factors, steps = numbers[1:] / numbers[:-1], np.diff(numbers)
        if factors.max() / factors.min() < steps.max() / steps.min():
            return alt.Scale(type="log", nice=False)
    return alt.Scale(zero=False, nice=False, padding=8)


def setting_axis(values: Any) -> Any:
    """Return the axis of a setting, with a tick at each value if they are few."""
    numbers = np.unique(finite_values(values)).tolist()
    few = {"values": numbers} if len(numbers) <= MOST_TICKS else {"tickMinStep": 1} if numbers[0] >= 1 else {}
    return altair().Axis(format=DIGITS if numbers[-1] < 1e4 else f",{DIGITS}", labelOverlap=True, **few)


def stability_scale(data: pd.DataFrame, *columns: str) -> Any:
    """Return the scale of a stability: from 0 to 1, and further if a number is."""
    ends = finite_values(data[list(columns)].to_numpy())
    return altair().Scale(domain=[min(0.0, *ends), max(1.0, *ends)], nice=False)


def close_scale(data: pd.DataFrame, *columns: str) -> Any:
    """Return a scale that fits the data closely, for numbers of which small differences matter."""
    ends = finite_values(data[list(columns)].to_numpy())
    margin = max(0.06 * (max(ends) - min(ends)), 0.005 * max(abs(end) for end in ends), 1e-9)
    return altair().Scale(domain=[min(ends) - margin, max(ends) + margin], nice=False, zero=False)


def line_with_band(
    base: "alt.Chart", data: pd.DataFrame, y: Any, by: Any = None, tooltip: Any = ()
) -> "list[alt.Chart]":
    """Return a band from ``low`` to ``high``, the line inside it and its points, small if many, for each color."""
    if by is not None:
        base = base.encode(color=by)
    within = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    band = within.mark_area(opacity=0.18, line=False).encode(y="low:Q", y2="high:Q")
    return [
        *([band] if data[["low", "high"]].notna().all(axis=1).any() else []),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, size=45 if len(data) < MANY_POINTS else 8, opacity=1).encode(
            y=y, tooltip=list(tooltip)
        ),
    ]
