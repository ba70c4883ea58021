"""Convergence of the stability: how the estimate and its interval settle as resamples are added."""

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.inference.designs import DesignedRuns, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import check_level
from holdfast.measures import Measure, UndefinedStabilityWarning
from holdfast.plots.lines import close_scale, line_with_band
from holdfast.plots.sources import Source, designed_runs
from holdfast.plots.text import format_count, format_estimate, format_percent
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart
from holdfast.study.stabilities import USUAL

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 460, 260
MOST_POINTS = 40


def convergence_data(
    source: Source,
    candidate: str | None = None,
    measure: str | Measure | None = None,
    *,
    level: float = 0.95,
    step: int | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Return the stability and its interval after the first 5, 10, 15, … resamples.

    Parameters
    ----------
    source : Preferences, 0/1 matrix, or StudyResult
        Preferences of each resample.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    measure : str or Measure, optional
        What to measure; the usual one for this kind of preference by default.
    level : float
        Level of the intervals.
    step : int, optional
        Number of resamples from one point to the next; 5 by default, more if there were over 40 points.
    **parameters
        As for :func:`holdfast.stability`.

    Returns
    -------
    DataFrame
        ``n_runs``, ``stability``, ``low``, ``high``, and ``reason`` why one of them is undefined.

    See Also
    --------
    plot_convergence : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> plots.convergence_data(load_example().top(10)).drop(columns="reason").round(2)
       n_runs  stability   low  high
    0       5       0.84  0.23  1.00
    1      10       0.87  0.49  0.96
    2      15       0.87  0.60  0.93
    3      20       0.87  0.67  0.92
    """
    check_level(level)
    designed = designed_runs(source, candidate)
    measure = measure or USUAL[designed.runs.kind]
    rows = []
    for n_runs in _counts(designed.runs.n_runs, step):
        estimate = _first_estimate(designed, n_runs, measure, parameters)
        rows.append((n_runs, estimate.value, *estimate.ci(level), estimate.note))
    return pd.DataFrame(rows, columns=["n_runs", "stability", "low", "high", "reason"])


def _counts(n_runs: int, step: int | None) -> list[int]:
    """Return the numbers of resamples to measure after; the last is that of all."""
    if step is None:
        step = 5 * max(1, math.ceil(n_runs / (5 * MOST_POINTS)))
    if step < 1:
        raise ValueError(f"Expected step to be a number of resamples, got {step}.")
    counts = list(range(step, n_runs + 1, step))
    return counts if counts and counts[-1] == n_runs else [*counts, n_runs]


def _first_estimate(
    designed: DesignedRuns, n_runs: int, measure: str | Measure, parameters: dict[str, Any]
) -> StabilityEstimate:
    """Return the estimate from the first resamples alone."""
    first = replace(
        designed,
        runs=designed.runs.take(range(n_runs)),
        blocks=list(designed.blocks)[:n_runs],
        fractions=list(designed.fractions)[:n_runs],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedStabilityWarning)
        return design_stability(first, measure, **parameters)


def plot_convergence(
    source: Source,
    candidate: str | None = None,
    measure: str | Measure | None = None,
    *,
    level: float = 0.95,
    step: int | None = None,
    **parameters: Any,
) -> "alt.LayerChart":
    """Draw how the stability and its interval settle as resamples are added.

    It shows what more resamples would bring. Stopping as soon as the interval looks narrow enough would lose its
    coverage; :func:`holdfast.runs_needed` plans the number.

    Parameters
    ----------
    source : Preferences, 0/1 matrix, or StudyResult
        Preferences of each resample.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    measure : str or Measure, optional
        What to measure; the usual one for this kind of preference by default.
    level : float
        Level of the intervals.
    step : int, optional
        Number of resamples from one point to the next; 5 by default, more if there were over 40 points.
    **parameters
        As for :func:`holdfast.stability`.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    convergence_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_convergence(load_example().top(10)).title.text)
    After 20 resamples the stability is 0.87 [0.67, 0.92]; after 5 the interval was 3.0 times as wide
    """
    data = convergence_data(source, candidate, measure, level=level, step=step, **parameters)
    return draw_convergence(data, level=level)


def draw_convergence(data: pd.DataFrame, *, level: float) -> "alt.LayerChart":
    """Draw how the stability settles from the data of :func:`convergence_data`; ``level`` is for the text."""
    last = data.iloc[-1]
    if data["stability"].isna().all():
        count = format_count(last["n_runs"], "resample")
        return text_chart(f"The stability is undefined after {count}", str(last["reason"]))
    alt = altair()
    axis = alt.Axis(tickMinStep=1, format=",d")
    base = alt.Chart(inline_data(data)).encode(
        x=alt.X("n_runs:Q", title="number of resamples", scale=alt.Scale(zero=True), axis=axis)
    )
    y = alt.Y("stability:Q", title="stability", scale=close_scale(data, "stability", "low", "high"))
    tooltip = [
        alt.Tooltip("n_runs:Q", title="resamples", format=",d"),
        alt.Tooltip("stability:Q", title="stability", format=".3f"),
        alt.Tooltip("low:Q", title="interval from", format=".3f"),
        alt.Tooltip("high:Q", title="to", format=".3f"),
        alt.Tooltip("reason:N", title="note"),
    ]
    final = alt.Chart(inline_data(data.tail(1))).mark_rule(strokeDash=[5, 4], opacity=0.6).encode(y="stability:Q")
    layers = [final, *line_with_band(base, data, y, tooltip=tooltip)]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finish_chart(chart, _finding(data), _notes(data, level), width=WIDTH + 60)


def _finding(data: pd.DataFrame) -> str:
    last = data.iloc[-1]
    stability = format_estimate(last["stability"], last["low"], last["high"])
    finding = f"After {format_count(last['n_runs'], 'resample')} the stability is {stability}"
    first = data[data["low"].notna() & (data["n_runs"] < last["n_runs"])].head(1)
    if first.empty or math.isnan(last["low"]) or last["high"] == last["low"]:
        return finding
    ratio = float((first["high"] - first["low"]).iloc[0] / (last["high"] - last["low"]))
    return f"{finding}; after {first['n_runs'].iloc[0]} the interval was {ratio:.1f} times as wide"


def _notes(data: pd.DataFrame, level: float) -> list[str]:
    band = f"band: {format_percent(level)} interval; " if data["low"].notna().any() else ""
    undefined = data["stability"].isna()
    gaps = [f"gaps: {data['reason'][undefined].iloc[0]}"] if undefined.any() else []
    return [f"{band}dashed: the value after all resamples", *gaps]
