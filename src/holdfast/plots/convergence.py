"""How an estimate and its interval settle as runs are added."""

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.inference.designs import DesignedRuns, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import check_level
from holdfast.measures import Measure, UndefinedStabilityWarning
from holdfast.plots.lines import banded, near
from holdfast.plots.sources import Source, runs_of
from holdfast.plots.text import counted, percent, told
from holdfast.plots.theme import altair, finished, inline, sentence
from holdfast.study.footing import USUAL

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
    """Return the stability and its interval after 5, 10, 15, … runs, as if the others had not been made.

    Parameters
    ----------
    source : Preferences, 0/1 matrix, or StudyResult
        What each run preferred.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    measure : str or Measure, optional
        What to measure; the usual one for what the runs give.
    level : float
        Level of the intervals.
    step : int, optional
        Number of runs from one point to the next; 5, or more if there were over 40 points.
    **parameters
        As for :func:`holdfast.stability`.

    Returns
    -------
    DataFrame
        ``runs``, ``stability``, ``low``, ``high``, and ``reason`` why one of them is undefined.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> plots.convergence_data(load_example().top(10)).drop(columns="reason").round(2)
       runs  stability   low  high
    0     5       0.84  0.23  1.00
    1    10       0.87  0.49  0.96
    2    15       0.87  0.60  0.93
    3    20       0.87  0.67  0.92
    """
    check_level(level)
    designed = runs_of(source, candidate)
    chosen = measure or USUAL[designed.runs.kind]
    rows = []
    for n in _stops(designed.runs.n_runs, step):
        estimate = _after(designed, n, chosen, parameters)
        rows.append((n, estimate.value, *estimate.ci(level), estimate.note))
    return pd.DataFrame(rows, columns=["runs", "stability", "low", "high", "reason"])


def _stops(n_runs: int, step: int | None) -> list[int]:
    if step is None:
        step = 5 * max(1, math.ceil(n_runs / (5 * MOST_POINTS)))
    if step < 1:
        raise ValueError(f"Expected step to be a number of runs, got {step}.")
    stops = list(range(step, n_runs + 1, step))
    return stops if stops and stops[-1] == n_runs else [*stops, n_runs]


def _after(designed: DesignedRuns, n: int, measure: str | Measure, parameters: dict[str, Any]) -> StabilityEstimate:
    """The estimate from the first n runs alone."""
    first = replace(
        designed,
        runs=designed.runs.take(range(n)),
        blocks=list(designed.blocks)[:n],
        fractions=list(designed.fractions)[:n],
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
    """Draw how the estimate and its interval settle as runs are added; parameters as for :func:`convergence_data`.

    It shows what more runs would bring. To stop as soon as the interval looks narrow enough would lose its coverage;
    :func:`holdfast.runs_needed` plans the number.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_convergence(load_example().top(10)).title.text)
    After 20 runs the stability is 0.87 [0.67, 0.92]; after 5 the interval was 3.0 times as wide
    """
    data = convergence_data(source, candidate, measure, level=level, step=step, **parameters)
    last = data.iloc[-1]
    if data["stability"].isna().all():
        return sentence(f"The stability is undefined after {counted(last['runs'], 'run')}", str(last["reason"]))
    alt = altair()
    base = alt.Chart(inline(data)).encode(
        x=alt.X("runs:Q", title="number of runs", scale=alt.Scale(zero=True), axis=alt.Axis(tickMinStep=1, format=",d"))
    )
    y = alt.Y("stability:Q", title="stability", scale=near(data, "stability", "low", "high"))
    tooltip = [
        alt.Tooltip("runs:Q", title="runs", format=",d"),
        alt.Tooltip("stability:Q", title="stability", format=".3f"),
        alt.Tooltip("low:Q", title="interval from", format=".3f"),
        alt.Tooltip("high:Q", title="to", format=".3f"),
        alt.Tooltip("reason:N", title="note"),
    ]
    final = alt.Chart(inline(data.tail(1))).mark_rule(strokeDash=[5, 4], opacity=0.6).encode(y="stability:Q")
    layers = [final, *banded(base, data, y, tooltip=tooltip)]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    band = f"band: {percent(level)} interval; " if data["low"].notna().any() else ""
    notes = [f"{band}dashed: the value after all runs"]
    if data["stability"].isna().any():
        notes.append(f"gaps: {data['reason'][data['stability'].isna()].iloc[0]}")
    return finished(chart, _settled(data), notes, width=WIDTH + 60)


def _settled(data: pd.DataFrame) -> str:
    last = data.iloc[-1]
    finding = (
        f"After {counted(last['runs'], 'run')} the stability is {told(last['stability'], last['low'], last['high'])}"
    )
    first = data[data["low"].notna() & (data["runs"] < last["runs"])].head(1)
    if first.empty or math.isnan(last["low"]) or last["high"] == last["low"]:
        return finding
    ratio = float((first["high"] - first["low"]).iloc[0] / (last["high"] - last["low"]))
    return f"{finding}; after {first['runs'].iloc[0]} the interval was {ratio:.1f} times as wide"
