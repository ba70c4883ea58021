"""Survival curves, and what is computed from them: predicted survival, and scores that weigh rows for censoring.

A curve is a step function: ``values[:, k]`` holds from ``times[k]`` on, in each resample. Rows that a resample draws
several times count as often.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.cox import TIED

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NORMAL = 1.959963984540054
"""Standard errors of a normal variable that its 95 % interval reaches."""


class StepFunctions(NamedTuple):
    """Functions of time, one for each resample; ``before`` is their value before the first time."""

    times: Floats
    values: Floats
    before: float = 1.0

    def at(self, times: ArrayLike, resamples: Any = slice(None)) -> Floats:
        """Return the values at these times: resamples × times; or one value for each time, of the resample given."""
        position = np.searchsorted(self.times, times, side="right")
        return np.where(position > 0, self.values[resamples, position - 1], self.before)


class AtRisk(NamedTuple):
    """At each different time: how many rows are under observation before it, and what ends there."""

    times: Floats
    rows: Floats
    events: Floats
    censored: Floats


def count_at_risk(y: NDArray[Any], counts: ArrayLike | None = None, weights: ArrayLike | None = None) -> AtRisk:
    """Count the rows of each resample (resamples × rows; one of all rows by default) at each different time of all.

    ``weights``, of the same shape, are summed instead of the rows at risk.
    """
    times, position = np.unique(y["time"], return_inverse=True)
    counts = np.ones((1, len(y))) if counts is None else np.asarray(counts, np.float64)
    order = np.argsort(position, kind="stable")
    first = np.searchsorted(position[order], np.arange(times.size))

    def add(values: Floats) -> Floats:
        return np.add.reduceat(values[:, order], first, axis=1)

    leaving, events = add(counts), add(counts * y["event"])
    at_risk = leaving if weights is None else add(np.asarray(weights, np.float64))
    return AtRisk(times, at_risk[:, ::-1].cumsum(axis=1)[:, ::-1], events, leaving - events)


def kaplan_meier(y: NDArray[Any], counts: ArrayLike | None = None, censoring: bool = False) -> StepFunctions:
    """Estimate the probability of being without the event; or that of still being observed, ``censoring``.

    Who has the event at a time is not at risk of being censored at it.
    """
    times, rows, events, censored = count_at_risk(y, counts)
    if censoring:
        rows, events = rows - events, censored
    share = np.divide(events, rows, out=np.zeros(rows.shape), where=events > 0)
    return StepFunctions(times, np.cumprod(1 - share, axis=1))


def kaplan_meier_interval(y: NDArray[Any], times: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return the survival of all rows at these times, and the ends of its 95 % interval on the log-log scale.

    The variance is Greenwood's. Where nobody, or everybody, has had the event the interval is the value.
    """
    at, rows, events, _ = count_at_risk(y)
    left = rows - events
    terms = np.divide(events, rows * left, out=np.zeros(rows.shape), where=left > 0)
    survival, spread = kaplan_meier(y).at(times)[0], np.sqrt(StepFunctions(at, terms.cumsum(axis=1), 0.0).at(times)[0])
    inside = (survival > 0) & (survival < 1)
    power = np.exp(np.divide(NORMAL * spread, -np.log(np.where(inside, survival, 0.5)), where=inside,
                             out=np.zeros(spread.shape)))  # fmt: skip
    return survival, survival**power, survival ** (1 / power)


def breslow_hazard(y: NDArray[Any], risk: Floats, counts: ArrayLike | None = None) -> StepFunctions:
    """Estimate the cumulative hazard of a row with log risk 0 from the log risks of all rows, for each resample."""
    counts = np.ones(risk.shape) if counts is None else np.asarray(counts, np.float64)
    with np.errstate(over="ignore"):
        times, at_risk, events, _ = count_at_risk(y, counts, counts * np.exp(risk))
    return StepFunctions(
        times, np.divide(events, at_risk, out=np.zeros(events.shape), where=events > 0).cumsum(axis=1), 0.0
    )


def predict_survival(hazard: Floats, risk: Floats) -> Floats:
    """Return the survival of rows with these log risks where the cumulative hazard of log risk 0 is that."""
    with np.errstate(over="ignore"):
        return np.where(hazard > 0, np.exp(-np.exp(risk) * hazard), 1.0)


# Curves of groups of rows

# groups of rows by a feature, steps on the axis of times, and rows below which a group would show single rows
MAX_GROUPS, MAX_STEPS, MIN_ROWS = 3, 50, 8
CURVE_LINES = 1 + 4 * MAX_GROUPS  # of an array of curves: the times, and four for each group


def curves_by_group(y: NDArray[Any], values: Floats) -> Floats:
    """Estimate the survival of rows by thirds of a feature, or by its values where these are two or three.

    Times are multiples of a round number, up to where the smallest group has eight rows left, and survival is rounded
    to a hundredth, so that no step is that of a single row. Groups of fewer than sixteen rows are left out.

    Returns
    -------
    ndarray
        A line of times, and four for each group: survival, the ends of its 95 % interval, and how many rows are under
        observation. The latter begin with the group's value, or ``nan`` for a third; lines of groups that are left out
        are ``nan``. Without two groups there is a single column.
    """
    known = np.isfinite(values)
    y, values = y[known], values[known]
    different = np.unique(values)
    is_third = different.size > MAX_GROUPS
    cuts = np.quantile(values, [1 / 3, 2 / 3]) if is_third else different[1:]
    group = np.searchsorted(cuts, values, side="left" if is_third else "right")
    rows = [y[group == number] for number in range(MAX_GROUPS)]
    drawn = [number for number in range(MAX_GROUPS) if len(rows[number]) >= 2 * MIN_ROWS]
    end = min((float(np.sort(rows[number]["time"])[-MIN_ROWS]) for number in drawn), default=0.0)
    if len(drawn) < 2 or not end > 0:
        return np.full((CURVE_LINES, 1), np.nan)
    unit = 10.0 ** np.floor(np.log10(end / MAX_STEPS))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10, 20) if end <= unit * factor * MAX_STEPS)
    times = step * np.arange(np.floor(end / step) + 1)
    curves = np.full((CURVE_LINES, 1 + times.size), np.nan)
    curves[0, 1:] = times
    for number in drawn:
        lines = curves[1 + 4 * number : 5 + 4 * number]
        lines[:3, 1:] = np.round(kaplan_meier_interval(rows[number], times), 2)
        lines[3, 1:] = (rows[number]["time"] >= times[:, None]).sum(axis=1)
        lines[:, 0] = np.nan if is_third else different[number]
    return curves


# Scores of held-out rows


def dynamic_aucs(
    time: Floats, event: NDArray[np.bool_], risk: Floats, weights: Floats, starts: Ints, times: Floats
) -> Floats:
    """Return the mean over ``times`` of the area under the ROC curve of who has had the event, for each cell.

    Rows without the event by a time are compared with the weighted ones that had it; the mean is weighted by the fall
    of the survival of the cell's rows since the time before. Times at which there are no rows of both kinds are left
    out; ``nan`` where there are no others.
    """
    first, cell = starts[:-1], np.repeat(np.arange(starts.size - 1), np.diff(starts))
    order = np.lexsort((risk, cell))
    new = np.append(True, np.diff(risk[order]) > TIED)
    new[first] = True
    group, begins = np.cumsum(new) - 1, np.append(np.flatnonzero(new), order.size)
    total, survival = np.zeros((2, first.size)), np.ones(first.size)
    for t, now in zip(times, survival_of_cells(time, event, starts, times), strict=True):
        case = np.where(event & (time <= t), weights, 0.0)[order]
        later = np.append(0, np.cumsum(time[order] > t))  # rows that outlive t, before each row
        lower = (later[begins[:-1]] + later[begins[1:]])[group] / 2 - later[first][cell]  # ties count one half
        pairs = np.add.reduceat(case, first) * np.diff(later[starts])
        area = np.divide(np.add.reduceat(case * lower, first), pairs, out=np.zeros(first.size), where=pairs > 0)
        total += np.where(pairs > 0, survival - now, 0.0) * [area, np.ones(first.size)]
        survival = np.where(pairs > 0, now, survival)
    return np.divide(total[0], total[1], out=np.full(first.size, np.nan), where=total[1] > 0)


def survival_of_cells(time: Floats, event: NDArray[np.bool_], starts: Ints, times: Floats) -> Floats:
    """Return Kaplan and Meier's estimate from the rows of each cell at these times: times × cells."""
    values = np.empty((len(times), starts.size - 1))
    order = np.lexsort((~event, time, np.repeat(np.arange(starts.size - 1), np.diff(starts))))
    for cell, (begin, end) in enumerate(pairwise(starts.tolist())):
        rows = order[begin:end]
        steps = np.cumprod(1 - event[rows] / np.arange(rows.size, 0, -1))  # one event after the other
        values[:, cell] = np.append(1.0, steps)[np.searchsorted(time[rows], times, side="right")]
    return values


def brier_scores(time: Floats, survival: Floats, weights: Floats, observed: Floats, times: Floats) -> Floats:
    """Return what each row adds to the Brier score of predicted survival (rows × times), integrated over ``times``.

    Squared errors count by one over the probability of being observed until then, ``observed`` (rows × times), or of a
    row that has had the event by its ``weights``; rows censored by then not at all.
    """
    outlives = time[:, None] > times
    had = np.where(outlives, 0.0, weights[:, None]) * survival**2
    left = np.divide((1 - survival) ** 2, observed, out=np.zeros(survival.shape), where=outlives & (observed > 0))
    return np.trapezoid(had + left, times, axis=1) / (times[-1] - times[0])
