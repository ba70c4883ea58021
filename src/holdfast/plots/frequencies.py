"""How often each feature was selected, as bars with intervals."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.inference.features import feature_table
from holdfast.plots.sources import Source, subsets_of
from holdfast.plots.text import counted, percent, shown
from holdfast.plots.theme import altair, finished, inline, sentence

if TYPE_CHECKING:
    import altair as alt

WIDTH = 420


def frequency_data(
    source: Source, candidate: str | None = None, *, level: float = 0.95, most: int = 30
) -> pd.DataFrame:
    """Return how often the features that were selected most often were selected.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each run selected.
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
    table = feature_table(subsets_of(source, candidate).runs, level=level)
    return table.drop(columns="variance_share").head(most)


def plot_frequencies(
    source: Source, candidate: str | None = None, *, level: float = 0.95, most: int = 30
) -> "alt.LayerChart":
    """Draw how often each feature was selected, with its interval; parameters as for :func:`frequency_data`.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_frequencies(load_example().top(10)).title.text)
    7 of 30 features were selected in every run, 10 in at least half of 20 runs
    """
    alt = altair()
    runs = subsets_of(source, candidate).runs
    data = frequency_data(source, candidate, level=level, most=most)
    if data.empty:
        return sentence(f"No feature was selected in any of {counted(runs.n_runs, 'run')}")
    base = alt.Chart(inline(_drawn(data))).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8)),
        tooltip=[
            alt.Tooltip("feature:N", title="feature"),
            alt.Tooltip("count:Q", title=f"selected in runs (of {runs.n_runs})"),
            alt.Tooltip("frequency:Q", title="share of runs", format=".1%"),
            alt.Tooltip("low:Q", title="interval from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
        ],
    )
    share = alt.X(
        "frequency:Q", title="share of runs that selected it", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
    )
    bars = base.mark_bar(height={"band": 0.72}).encode(
        x=share, opacity=alt.condition("datum.frequency >= 0.5", alt.value(0.85), alt.value(0.4))
    )
    interval = base.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    notes = [_note(len(data), int((runs.counts > 0).sum()), runs.n_features), f"lines: {percent(level)} intervals"]
    chart = alt.layer(bars, interval).properties(width=WIDTH, height={"step": 20})
    return finished(chart, _finding(runs.counts, runs.n_runs), ["; ".join(filter(None, notes))], width=WIDTH + 120)


def _drawn(data: pd.DataFrame) -> pd.DataFrame:
    return data.assign(feature=data["feature"].astype(str), name=shown(data["feature"]))


def _finding(counts: NDArray[np.int64], n_runs: int) -> str:
    always, often = int((counts == n_runs).sum()), int((2 * counts >= n_runs).sum())
    if n_runs == 1:
        return f"One run selected {counted(always, 'feature')}: it takes more runs to tell how often"
    of = f"of {len(counts):,} features"
    if always:
        rest = f", {often} in at least half of {n_runs} runs" if often > always else f" of {n_runs}"
        return f"{always} {of} {'was' if always == 1 else 'were'} selected in every run{rest}"
    if often:
        return f"{often} {of} {'was' if often == 1 else 'were'} selected in at least half of {n_runs} runs, none in all"
    return (
        f"No feature was selected in half of {n_runs} runs; the most frequent one in {percent(counts.max() / n_runs)}"
    )


def _note(drawn: int, used: int, n_features: int) -> str:
    if drawn < used:
        return f"the {drawn} most frequent of {used:,} features that were ever selected"
    return f"{n_features - used:,} features were never selected" if used < n_features else ""
