"""Spread over resamples: one dot for each resample, for results that are a number per resample."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from holdfast.plots.sources import finite_values
from holdfast.plots.text import clean_text, display_names, format_count, format_number
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart

if TYPE_CHECKING:
    import altair as alt

WIDTH = 420
COUNTS = {
    "true_positives": "relevant features found", "false_negatives": "relevant features missed",
    "false_positives": "false features",
}  # fmt: skip
SCORES = {"score": "score on held-out rows", "promised": "promised score"}


def spread_data(result: Any) -> pd.DataFrame:
    """Return the numbers of a result, resample by resample.

    Parameters
    ----------
    result : Agreement, Recovery or NestedChoice
        What :func:`holdfast.inference.agreement`, ``StudyResult.recovery()`` or :func:`holdfast.nested_choice` returns.

    Returns
    -------
    DataFrame
        ``quantity``, ``resample`` and ``value``: the agreement of each pair of runs; how many relevant features each
        resample found and missed, and how many false ones it selected; or the score of the choice on the rows that each
        outer fold held out, beside the score that it was chosen by.

    See Also
    --------
    plot_spread : Draws them.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> halves = [[1, 1, 0, 0], [1, 0, 1, 0]], [[1, 1, 0, 0], [1, 0, 0, 1]]
    >>> plots.spread_data(hf.inference.agreement(*halves, "jaccard")).round(2)
      quantity resample  value
    0  jaccard        1   1.00
    1  jaccard        2   0.33
    """
    if hasattr(result, "per_run"):
        labels = [str(run + 1) for run in range(len(result.per_run))]
        return pd.DataFrame({"quantity": result.measure, "resample": labels, "value": result.per_run})
    nested = hasattr(result, "folds")
    table, names = (result.folds, SCORES) if nested else (result.runs, COUNTS)
    labels = [f"outer fold {fold + 1}" for fold in range(len(table))] if nested else [str(run) for run in table.index]
    parts = [
        pd.DataFrame({"quantity": quantity, "resample": labels, "value": table[column].to_numpy(dtype=float)})
        for column, quantity in names.items()
    ]
    return pd.concat(parts, ignore_index=True)


def plot_spread(result: Any) -> "alt.LayerChart":
    """Draw a dot for each resample, and the mean of all.

    Parameters
    ----------
    result : Agreement, Recovery or NestedChoice
        As for :func:`spread_data`.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    spread_data : The numbers behind it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> halves = [[1, 1, 0, 0], [1, 0, 1, 0]], [[1, 1, 0, 0], [1, 0, 0, 1]]
    >>> print(*plots.plot_spread(hf.inference.agreement(*halves, "jaccard")).title.text)
    On average over 2 resamples: jaccard 0.67 (0.33 to 1)
    """
    return draw_spread(spread_data(result))


def draw_spread(data: pd.DataFrame) -> "alt.LayerChart":
    """Draw the spread over resamples from the data of :func:`spread_data`."""
    known = data[np.isfinite(data["value"].to_numpy(dtype=float))]
    if known.empty:
        return text_chart("There is no number to show", "it is undefined in every resample")
    alt = altair()
    names = dict(zip(data["quantity"].unique(), display_names(data["quantity"].unique()), strict=True))
    dots = known.assign(quantity=known["quantity"].map(names), resample=known["resample"].map(clean_text))
    ends = finite_values(dots["value"])
    x = alt.X("value:Q", title=None, scale=alt.Scale(domain=[min(0.0, *ends), max(1.0, *ends)], nice=False))
    y = alt.Y("quantity:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=10))
    means = dots.groupby("quantity", sort=False)["value"].mean().reset_index()
    tooltip = [alt.Tooltip("quantity:N"), alt.Tooltip("resample:N"), alt.Tooltip("value:Q", format=".3")]
    layers = [
        alt.Chart(inline_data(dots)).mark_point(filled=True, size=80, opacity=0.4).encode(x=x, y=y, tooltip=tooltip),
        alt.Chart(inline_data(means)).mark_tick(thickness=3, size=26, style="ring").encode(x=x, y=y),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height={"step": 40})
    return finish_chart(chart, _finding(dots), ["dots: resamples; lines: their means"], width=WIDTH + 120)


def _finding(dots: pd.DataFrame) -> str:
    by = dots.groupby("quantity", sort=False)["value"].agg(["mean", "min", "max"])
    parts = [
        f"{name} {format_number(row['mean'])} ({row['min']:.2g} to {row['max']:.2g})" for name, row in by.iterrows()
    ]
    count = format_count(dots["resample"].nunique(), "resample")
    return f"On average over {count}: {', '.join(parts)}"
