"""The logistic loss of the rows of a fit: its derivatives, and the length of a Newton step; for both forms of a fit."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import summing_step
from holdfast.kernels.linear import vector
from holdfast.kernels.tolerances import DOUBLE, SHORTEST_STEP, STEEP

SLOPE_NOISE = DOUBLE.slope_noise


class Rows(NamedTuple):
    """Rows of a fit, and what Newton's method keeps for each."""

    y: NDArray[np.float64]
    cost: NDArray[np.float64]  # C · count
    f: NDArray[np.float64]  # margin
    df: NDArray[np.float64]  # its step
    g: NDArray[np.float64]  # first and second derivative of the loss
    curvature: NDArray[np.float64]
    S: NDArray[np.float64]  # root of the curvature where it was last factored


@summing_step
def room_for_rows(n):  # type: ignore[no-untyped-def]
    """Return room for n rows."""
    return Rows(vector(n), vector(n), vector(n), vector(n), vector(n), vector(n), vector(n))


@summing_step
def begin_rows(room, y, counts, rows, C):  # type: ignore[no-untyped-def]
    """Rows of a path that begins at nothing."""
    n = rows.size
    r = Rows(
        room.y[:n], room.cost[:n], room.f[:n], room.df[:n], room.g[:n], room.curvature[:n], room.S[:n]
    )  # fmt: skip
    for i in range(n):
        r.y[i], r.cost[i] = y[rows[i]], C * counts[rows[i]]
        r.f[i] = r.df[i] = r.g[i] = r.curvature[i] = r.S[i] = 0.0
    return r


@summing_step
def differentiate(r, t):  # type: ignore[no-untyped-def]
    """Set the derivatives at f + t df; returns Σ g, Σ g df and Σ |g df|."""
    total, slope, size = 0.0, 0.0, 0.0
    for i in range(r.y.size):
        margin = r.y[i] * (r.f[i] + t * r.df[i])
        e = np.exp(-abs(margin))
        miss = (e if margin > 0 else 1.0) / (1 + e)
        r.g[i] = -r.y[i] * r.cost[i] * miss
        r.curvature[i] = r.cost[i] * miss * (1 - miss)
        total += r.g[i]
        slope += r.g[i] * r.df[i]
        size += abs(r.g[i] * r.df[i])
    return total, slope, size


@summing_step
def step_length(r, slope, straight, curved):  # type: ignore[no-untyped-def]
    """Halve the step until the objective hardly rises at its end; returns it, and Σ g there.

    ``slope`` is that of the objective at the start, ``straight + t curved`` that of the penalty at t. The objective is
    convex: its slope tells enough, and keeps its digits where differences of values have none left.
    """
    t = 1.0
    while True:
        total, loss_slope, size = differentiate(r, t)
        if loss_slope + straight + t * curved <= -STEEP * slope + SLOPE_NOISE * size or t <= SHORTEST_STEP:
            return t, total
        t *= 0.5


@summing_step
def starts_badly(r, penalty):  # type: ignore[no-untyped-def]
    """Whether the objective at the margins f exceeds that of no model at all."""
    excess = penalty
    for i in range(r.y.size):
        margin = r.y[i] * r.f[i]
        excess += r.cost[i] * (np.log1p(np.exp(-abs(margin))) - min(margin, 0.0) - np.log(2.0))
    return not excess <= 0
