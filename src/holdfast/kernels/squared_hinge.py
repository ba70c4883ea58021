"""Linear models with the squared hinge loss, of many cells, solved to the optimum by Newton's method.

With cost cᵢ = C · count and labels y = ±1 it minimizes Σ cᵢ max(0, 1 − yᵢfᵢ)² + ½‖w‖² with f = Zw. An intercept is one
more column of Z, the same number in every row, and is penalized like all others, as in liblinear. The objective is
quadratic as long as the same rows miss their margin: a full Newton step that keeps these rows ends at the optimum.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import summing_kernel, summing_step
from holdfast.kernels.linear import dot, factorize, fill, square, substitute
from holdfast.kernels.reduction import reduce_columns
from holdfast.kernels.scaling import has_all_classes, keep_weights, make_room, take, take_cell
from holdfast.kernels.tolerances import DOUBLE, SHORTEST_STEP, STEEP

SLOPE_NOISE = DOUBLE.slope_noise
SOLVED = 1e-10
MOST_STEPS = 200


class Fit(NamedTuple):
    """One fit."""

    Z: NDArray[np.float64]  # q × n
    y: NDArray[np.float64]
    cost: NDArray[np.float64]
    w: NDArray[np.float64]
    dw: NDArray[np.float64]
    gradient: NDArray[np.float64]
    f: NDArray[np.float64]
    df: NDArray[np.float64]
    g: NDArray[np.float64]  # derivative of the loss
    L: NDArray[np.float64]


@summing_step
def _begin(cell, C, intercept):  # type: ignore[no-untyped-def]
    n, p = cell.rows.size, cell.train.shape[0]
    q = p + (intercept > 0)
    Z, cost = np.empty((q, n)), np.empty(n)
    for j in range(q):
        for i in range(n):
            Z[j, i] = cell.train[j, i] if j < p else intercept
    for i in range(n):
        cost[i] = C * cell.counts[i]
    return Fit(
        Z, np.empty(n), cost, np.zeros(q), np.zeros(q), np.zeros(q), np.zeros(n), np.zeros(n), np.zeros(n), square(q)
    )


@summing_step
def _differentiate(fit, t):  # type: ignore[no-untyped-def]
    """Set the derivatives of the loss at f + t df; returns their product with df, and the sum of its parts' sizes."""
    slope, size = 0.0, 0.0
    for i in range(fit.y.size):
        miss = 1 - fit.y[i] * (fit.f[i] + t * fit.df[i])
        fit.g[i] = -2 * fit.cost[i] * fit.y[i] * max(miss, 0.0)
        slope += fit.g[i] * fit.df[i]
        size += abs(fit.g[i] * fit.df[i])
    return slope, size


@summing_step
def _set_step(fit):  # type: ignore[no-untyped-def]
    """Set gradient and Newton's step; returns whether there is one."""
    n, q = fit.y.size, fit.w.size
    scaled = np.empty(n)
    for j in range(q):
        z = fit.Z[j]
        fit.gradient[j] = fit.w[j] + dot(fit.g, z)
        fit.dw[j] = -fit.gradient[j]
        for i in range(n):
            scaled[i] = 2 * fit.cost[i] * z[i] if fit.g[i] != 0 else 0.0
        for k in range(j + 1):
            fit.L[j, k] = dot(scaled, fit.Z[k])
        fit.L[j, j] += 1.0
    solved = factorize(fit.L, q)
    substitute(fit.L, fit.dw, q)
    fill(fit.df, 0.0)
    for j in range(q):
        own, z = fit.dw[j], fit.Z[j]
        for i in range(n):
            fit.df[i] += own * z[i]
    return solved


@summing_step
def _solve(fit):  # type: ignore[no-untyped-def]
    """Take Newton's steps from 0; returns whether the optimum was reached."""
    fill(fit.w, 0.0)
    fill(fit.f, 0.0)
    fill(fit.df, 0.0)
    _differentiate(fit, 0.0)
    for _ in range(MOST_STEPS):
        if not _set_step(fit):
            return False
        slope, straight, curved, t = dot(fit.gradient, fit.dw), dot(fit.dw, fit.w), dot(fit.dw, fit.dw), 1.0
        while True:
            loss_slope, size = _differentiate(fit, t)
            if loss_slope + straight + t * curved <= -STEEP * slope + SLOPE_NOISE * size or t <= SHORTEST_STEP:
                break
            t *= 0.5
        moved, largest = 0.0, 0.0
        for j in range(fit.w.size):
            fit.w[j] += t * fit.dw[j]
        for i in range(fit.y.size):
            fit.f[i] += t * fit.df[i]
            moved, largest = max(moved, abs(fit.df[i])), max(largest, abs(fit.f[i]))
        if not np.isfinite(moved):
            return False
        if t == 1 and moved <= SOLVED * (1 + largest):
            return True
    return False


@summing_step
def _weigh_columns(fit, columns):  # type: ignore[no-untyped-def]
    """Return the weights of all columns, also where they were reduced: at the optimum w = −Zᵀg."""
    w = np.empty(columns.shape[0])
    for j in range(w.size):
        w[j] = -dot(fit.g, columns[j][: fit.g.size])
    return w


@summing_kernel
def squared_hinge_margins(cells, y, C, intercept, kind, margins, weights, given_up):  # type: ignore[no-untyped-def]
    """Set the decision values of the held-out rows of every cell that is not given up, each class against the others.

    Of two classes only the second has a column, and its weights are set. ``intercept`` is the number in the intercept's
    column, or 0 for none.
    """
    n_models = margins.shape[1]
    room, seen = make_room(cells), np.zeros(max(n_models, 2), np.int64)
    for number in range(cells.splits.size):
        if given_up[number]:
            continue
        cell, fine = take_cell(cells, number, kind, room)
        fine = fine and has_all_classes(take(y, cell.rows), seen)
        columns = cell.train
        cell = reduce_columns(cell)
        fit, p = _begin(cell, C, intercept), cell.train.shape[0]
        for model in range(n_models if fine else 0):
            for i in range(fit.y.size):
                fit.y[i] = 1.0 if y[cell.rows[i]] == (model if n_models > 1 else 1) else -1.0
            fine = fine and _solve(fit)
            for i in range(cell.n_tests):
                value = fit.w[p] * intercept if intercept > 0 else 0.0
                for j in range(p):
                    value += fit.w[j] * cell.test[j, i]
                margins[cell.start + i, model] = value
        if n_models == 1:
            keep_weights(cells, number, kind, room.unit, _weigh_columns(fit, columns), weights)
        given_up[number] = not fine
