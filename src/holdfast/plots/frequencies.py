"""Selection frequencies: how often each feature was selected, as bars with intervals."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.inference.features import feature_table
from holdfast.plots.sources import Source, designed_subsets
from holdfast.plots.text import display_names, format_count, format_percent
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart

if TYPE_CHECKING:
    import altair as alt

WIDTH = 420


def frequency_data(
    source: Source, candidate: str | None = None, *, level: float = 0.95, most: int = 30
) -> pd.DataFrame:
    """Return the selection frequencies of the most frequent features.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each resample selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    level : float
        Level of the intervals.
    most : int
        Number of features to return.

    Returns
    -------
    DataFrame
        The most frequent first: ``feature``, ``count``, ``frequency``, ``low``, ``high``.

    Raises
    ------
    ValueError
        If ``most`` is below 1.

    See Also
    --------
    plot_frequencies : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> plots.frequency_data(load_example().top(10), most=12).tail(3).round(2)
                feature  count  frequency   low  high
    9        area_error     12       0.60  0.36  0.81
    10  worst_concavity      9       0.45  0.23  0.68
    11  perimeter_error      2       0.10  0.00  0.32
    """
    if most < 1:
        raise ValueError(f"Expected most to be a number of features to show, got {most}.")
    table = feature_table(designed_subsets(source, candidate).runs, level=level)
    return table.drop(columns="variance_share").head(most)


def plot_frequencies(
    source: Source, candidate: str | None = None, *, level: float = 0.95, most: int = 30
) -> "alt.LayerChart":
    """Draw how often each feature was selected, with its interval.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each resample selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    level : float
        Level of the intervals.
    most : int
        Number of features to return.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    frequency_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_frequencies(load_example().top(10)).title.text)
    7 of 30 features were selected in every resample, 10 in at least half of 20 resamples
    """
    runs = designed_subsets(source, candidate).runs
    data = frequency_data(source, candidate, level=level, most=most)
    return draw_frequencies(data, runs.counts, n_runs=runs.n_runs, level=level)


def draw_frequencies(data: pd.DataFrame, counts: NDArray[np.int64], *, n_runs: int, level: float) -> "alt.LayerChart":
    """Draw selection frequencies from the data of :func:`frequency_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`frequency_data` returns it.
    counts : array
        How many resamples selected each of all features.
    n_runs : int
        Number of resamples.
    level : float
        Level of the intervals, for the text.
    """
    if data.empty:
        return text_chart(f"No feature was selected in any of {format_count(n_runs, 'resample')}")
    alt = altair()
    named = data.assign(feature=data["feature"].astype(str), name=display_names(data["feature"]))
    base = alt.Chart(inline_data(named)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8)),
        tooltip=[
            alt.Tooltip("feature:N", title="feature"),
            alt.Tooltip("count:Q", title=f"selected in (of {format_count(n_runs, 'resample')})"),
            alt.Tooltip("frequency:Q", title="selection frequency", format=".1%"),
            alt.Tooltip("low:Q", title="interval from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
        ],
    )
    percents, scale = alt.Axis(format="%"), alt.Scale(domain=[0, 1])
    bars = base.mark_bar(height={"band": 0.72}).encode(
        x=alt.X("frequency:Q", title="selection frequency", axis=percents, scale=scale),
        opacity=alt.condition("datum.frequency >= 0.5", alt.value(0.85), alt.value(0.4)),
    )
    interval = base.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    notes = [_left_out(len(data), counts), f"lines: {format_percent(level)} intervals"]
    chart = alt.layer(bars, interval).properties(width=WIDTH, height={"step": 20})
    return finish_chart(chart, _finding(counts, n_runs), ["; ".join(filter(None, notes))], width=WIDTH + 120)


def _finding(counts: NDArray[np.int64], n_runs: int) -> str:
    always, often = int((counts == n_runs).sum()), int((2 * counts >= n_runs).sum())
    if n_runs == 1:
        return f"One resample selected {format_count(always, 'feature')}: more are needed to see how often"
    of = f"of {len(counts):,} features"
    half = f"in at least half of {n_runs} resamples"
    if always:
        rest = f", {often} {half}" if often > always else f" of {n_runs}"
        return f"{always} {of} {'was' if always == 1 else 'were'} selected in every resample{rest}"
    if often:
        return f"{often} {of} {'was' if often == 1 else 'were'} selected {half}, none in all"
    most = format_percent(counts.max() / n_runs)
    return f"No feature was selected in half of {n_runs} resamples; the most frequent one in {most}"


def _left_out(n_drawn: int, counts: NDArray[np.int64]) -> str:
    """Return how many features are not drawn, in words."""
    used = int((counts > 0).sum())
    if n_drawn < used:
        return f"the {n_drawn} most frequent of {used:,} features that were ever selected"
    return f"{len(counts) - used:,} features were never selected" if used < len(counts) else ""
