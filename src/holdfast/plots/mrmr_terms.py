"""Relevance, redundancy and the criteria of mRMR at each step, with their spread over resamples."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from holdfast.plots.lines import close_scale, line_with_band, setting_axis
from holdfast.plots.sources import Columns, typed_table
from holdfast.plots.text import format_count
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 460, 150
TERMS = {"relevance": "V", "redundancy": "W", "difference": "V − W", "quotient": "V / W"}
PANELS = {"V and W": ("V", "W"), "V − W": ("V − W",), "V / W": ("V / W",)}


def mrmr_terms_data(terms: Columns) -> pd.DataFrame:
    """Return mean and standard deviation of relevance, redundancy and the criteria of mRMR at each step.

    Parameters
    ----------
    terms : DataFrame, or mapping from name to column
        What :func:`holdfast.selectors.mrmr_terms` returns: ``step``, ``relevance``, ``redundancy``, ``difference`` and
        ``quotient``, for each resample.

    Returns
    -------
    DataFrame
        ``quantity`` (V, W, V − W, V / W), ``step``, ``mean``, ``sd`` (over resamples), ``low`` and ``high`` (one
        standard deviation around the mean) and ``resamples``. A quotient that is infinite in a resample (no
        redundancy) is left out there and not counted, and V / W at the first step has no row.

    See Also
    --------
    plot_mrmr_terms : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> terms = {"step": [2, 2], "relevance": [0.3, 0.5], "redundancy": [0.1, 0.2], "difference": [0.2, 0.3]}
    >>> plots.mrmr_terms_data({**terms, "quotient": [3, 2.5]}).round(2)
      quantity  step  mean    sd   low  high  resamples
    0        V     2  0.40  0.14  0.26  0.54          2
    1        W     2  0.15  0.07  0.08  0.22          2
    2    V − W     2  0.25  0.07  0.18  0.32          2
    3    V / W     2  2.75  0.35  2.40  3.10          2
    """
    table = typed_table(terms, {"step": float, **dict.fromkeys(TERMS, float)}, {}).astype({"step": int})
    long = table.melt("step", list(TERMS), var_name="quantity").assign(
        quantity=lambda rows: rows["quantity"].map(TERMS)
    )
    known = long[np.isfinite(long["value"])]
    groups = known.groupby(["quantity", "step"], sort=False)["value"].agg(["mean", "std", "size"]).reset_index()
    data = groups.rename(columns={"std": "sd", "size": "resamples"})
    data = data.assign(low=data["mean"] - data["sd"], high=data["mean"] + data["sd"])
    return data[["quantity", "step", "mean", "sd", "low", "high", "resamples"]]


def plot_mrmr_terms(terms: Columns) -> "alt.VConcatChart | alt.LayerChart":
    """Draw relevance V, redundancy W, V − W and V / W at each step, with one standard deviation over resamples.

    Parameters
    ----------
    terms : DataFrame, or mapping from name to column
        As for :func:`mrmr_terms_data`.

    Returns
    -------
    altair.VConcatChart or altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    mrmr_terms_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> terms = {"step": [2, 2], "relevance": [0.3, 0.5], "redundancy": [0.1, 0.2], "difference": [0.2, 0.3]}
    >>> print(*plots.plot_mrmr_terms({**terms, "quotient": [3, 2.5]}).title.text)
    Over 2 resamples V / W varies more than V − W: standard deviation 0.35 against 0.071 (median over steps)
    """
    return draw_mrmr_terms(mrmr_terms_data(terms))


def draw_mrmr_terms(data: pd.DataFrame) -> "alt.VConcatChart | alt.LayerChart":
    """Draw the terms of mRMR from the data of :func:`mrmr_terms_data`."""
    if data.empty:
        return text_chart("There is no step to show")
    alt = altair()
    parts = {title: data[data["quantity"].isin(quantities)] for title, quantities in PANELS.items()}
    shown = {title: rows for title, rows in parts.items() if len(rows)}
    panels = [_panel(rows, title, last=title == list(shown)[-1]) for title, rows in shown.items()]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(x="shared", color="shared")
    return finish_chart(chart, _finding(data), ["bands: one standard deviation over resamples"], width=WIDTH + 60)


def _panel(data: pd.DataFrame, title: str, *, last: bool) -> "alt.LayerChart":
    alt = altair()
    x = alt.X(
        "step:Q", title="number of selected features" if last else None, axis=setting_axis(data["step"]),
        scale=alt.Scale(zero=False, nice=False, padding=8),
    )  # fmt: skip
    y = alt.Y("mean:Q", title=title, scale=close_scale(data, "low", "high"), axis=alt.Axis(tickCount=4))
    by = alt.Color("quantity:N", title=None, sort=list(TERMS.values()), legend=alt.Legend(symbolType="circle"))
    tooltip = [
        alt.Tooltip("quantity:N", title="of"),
        alt.Tooltip("step:Q", title="features"),
        alt.Tooltip("mean:Q", format=".3f"),
        alt.Tooltip("sd:Q", title="standard deviation", format=".3f"),
        alt.Tooltip("resamples:Q"),
    ]
    base = alt.Chart(inline_data(data)).encode(x=x)
    return alt.layer(*line_with_band(base, data, y, by, tooltip)).properties(width=WIDTH, height=HEIGHT)


def _finding(data: pd.DataFrame) -> str:
    """Compare the spread of the two criteria at the steps that both have."""
    by_step = data.pivot_table(index="step", columns="quantity", values="sd")
    resamples = format_count(int(data["resamples"].max()), "resample")
    if not {"V − W", "V / W"} <= set(by_step) or by_step[["V − W", "V / W"]].dropna().empty:
        return f"Relevance and redundancy over {resamples}"
    difference, quotient = by_step[["V − W", "V / W"]].dropna().median()
    more, less = ("V / W", "V − W") if quotient > difference else ("V − W", "V / W")
    high, low = max(difference, quotient), min(difference, quotient)
    numbers = f"standard deviation {high:.2g} against {low:.2g} (median over steps)"
    return f"Over {resamples} {more} varies more than {less}: {numbers}"
