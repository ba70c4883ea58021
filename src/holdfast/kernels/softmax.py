"""Ridge-penalized multinomial regression of many cells, solved to the optimum by Newton's method.

With cost cᵢ = C · count, classes k and margins fₖ = Zwₖ + bₖ it minimizes Σ cᵢ (log Σₖ exp fᵢₖ − fᵢ,yᵢ) + ½ Σₖ ‖wₖ‖².
The optimum has Σₖ wₖ = 0 by itself; intercepts are only determined up to a number that all of them share, and Σₖ bₖ = 0
is kept by a term in the Hessian that no gradient has a part in. Weights and intercepts of all classes are one vector θ
of K · q numbers, the intercept's column being a last one of Z that is 1.

A step is halved by the slope of the objective at its end, as in :mod:`~holdfast.kernels.ridge`. Newton's steps shrink
quadratically: a full step that moves no margin by more than a share ``SOLVED`` ends at the optimum to rounding.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import summing_kernel, summing_step
from holdfast.kernels.linear import dot, factorize, fill, square, substitute
from holdfast.kernels.logistic import center
from holdfast.kernels.reduction import reduce_columns
from holdfast.kernels.scaling import has_all_classes, make_room, take, take_cell
from holdfast.kernels.tolerances import DOUBLE, SHORTEST_STEP, STEEP

SLOPE_NOISE = DOUBLE.slope_noise
SOLVED = 1e-8
MOST_STEPS = 100


class Fit(NamedTuple):
    """One fit."""

    Z: NDArray[np.float64]  # q × n
    y: NDArray[np.int64]
    cost: NDArray[np.float64]
    n_penalized: int  # columns of Z before that of the intercept
    theta: NDArray[np.float64]  # K · q
    step: NDArray[np.float64]
    gradient: NDArray[np.float64]
    f: NDArray[np.float64]  # K × n
    df: NDArray[np.float64]
    share: NDArray[np.float64]  # K × n: the probabilities
    L: NDArray[np.float64]


@summing_step
def _begin(cell, y, C, n_classes, intercept):  # type: ignore[no-untyped-def]
    n, p = cell.rows.size, cell.train.shape[0]
    q = p + intercept
    Z, cost, size = np.ones((q, n)), np.empty(n), n_classes * q
    for j in range(p):
        for i in range(n):
            Z[j, i] = cell.train[j, i]
    for i in range(n):
        cost[i] = C * cell.counts[i]
    return Fit(
        Z, take(y, cell.rows), cost, p, np.zeros(size), np.zeros(size), np.zeros(size), np.zeros((n_classes, n)),
        np.zeros((n_classes, n)), np.zeros((n_classes, n)), square(size),
    )  # fmt: skip


@summing_step
def _margins(fit, theta, out):  # type: ignore[no-untyped-def]
    """out = the margins of these weights."""
    q = fit.Z.shape[0]
    for k in range(out.shape[0]):
        own = out[k]
        fill(own, 0.0)
        for j in range(q):
            w, z = theta[k * q + j], fit.Z[j]
            for i in range(own.size):
                own[i] += w * z[i]


@summing_step
def _set_shares(fit, t):  # type: ignore[no-untyped-def]
    """Set the probabilities at f + t df; returns the slope of the loss along df, and the size of its parts."""
    K, n = fit.f.shape
    slope, size = 0.0, 0.0
    for i in range(n):
        highest, total = -np.inf, 0.0
        for k in range(K):
            highest = max(highest, fit.f[k, i] + t * fit.df[k, i])
        for k in range(K):
            fit.share[k, i] = np.exp(fit.f[k, i] + t * fit.df[k, i] - highest)
            total += fit.share[k, i]
        for k in range(K):
            fit.share[k, i] /= total
            part = fit.cost[i] * (fit.share[k, i] - (fit.y[i] == k)) * fit.df[k, i]
            slope += part
            size += abs(part)
    return slope, size


@summing_step
def _set_gradient(fit):  # type: ignore[no-untyped-def]
    K, n = fit.f.shape
    q, rest = fit.Z.shape[0], np.empty(n)
    for k in range(K):
        for i in range(n):
            rest[i] = fit.cost[i] * (fit.share[k, i] - (fit.y[i] == k))
        for j in range(q):
            penalty = fit.theta[k * q + j] if j < fit.n_penalized else 0.0
            fit.gradient[k * q + j] = dot(rest, fit.Z[j]) + penalty


@summing_step
def _factor(fit):  # type: ignore[no-untyped-def]
    """Factor the Hessian; returns whether it is positive definite."""
    K, n = fit.f.shape
    q, curvature, scaled = fit.Z.shape[0], np.empty(n), np.empty(n)
    for k in range(K):
        for other in range(k + 1):
            for i in range(n):
                curvature[i] = fit.cost[i] * fit.share[k, i] * ((k == other) - fit.share[other, i])
            for j in range(q):
                for i in range(n):
                    scaled[i] = curvature[i] * fit.Z[j, i]
                for m in range(j + 1):
                    product = dot(scaled, fit.Z[m])
                    fit.L[k * q + j, other * q + m] = product
                    if k > other:
                        fit.L[k * q + m, other * q + j] = product
    for k in range(K):
        for j in range(fit.n_penalized):
            fit.L[k * q + j, k * q + j] += 1.0
        if q > fit.n_penalized:
            for other in range(k + 1):  # no gradient has a part in it: intercepts keep the sum 0
                fit.L[k * q + q - 1, other * q + q - 1] += 1.0
    return factorize(fit.L, K * q)


@summing_step
def _penalty_slopes(fit):  # type: ignore[no-untyped-def]
    """Slope of the penalty along the step at its start, and by how much it grows to its end."""
    q, straight, curved = fit.Z.shape[0], 0.0, 0.0
    for at in range(fit.theta.size):
        if at % q < fit.n_penalized:
            straight += fit.step[at] * fit.theta[at]
            curved += fit.step[at] * fit.step[at]
    return straight, curved


@summing_step
def _take_step(fit, slope):  # type: ignore[no-untyped-def]
    """Halve the step until the objective hardly rises at its end, and take it; returns its length."""
    straight, curved = _penalty_slopes(fit)
    t = 1.0
    while True:
        loss_slope, size = _set_shares(fit, t)
        if loss_slope + straight + t * curved <= -STEEP * slope + SLOPE_NOISE * size or t <= SHORTEST_STEP:
            break
        t *= 0.5
    for at in range(fit.theta.size):
        fit.theta[at] += t * fit.step[at]
    for k in range(fit.f.shape[0]):
        for i in range(fit.f.shape[1]):
            fit.f[k, i] += t * fit.df[k, i]
    return t


@summing_step
def _largest(x):  # type: ignore[no-untyped-def]
    largest = 0.0
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            largest = max(largest, abs(x[k, i]))
    return largest


@summing_step
def _solve(fit):  # type: ignore[no-untyped-def]
    """Take Newton's steps from 0; returns whether the optimum was reached."""
    _set_shares(fit, 0.0)
    for _ in range(MOST_STEPS):
        _set_gradient(fit)
        if not _factor(fit):
            return False
        for at in range(fit.step.size):
            fit.step[at] = -fit.gradient[at]
        substitute(fit.L, fit.step, fit.step.size)
        _margins(fit, fit.step, fit.df)
        t = _take_step(fit, dot(fit.gradient, fit.step))
        moved = _largest(fit.df)
        if not np.isfinite(moved):
            return False
        if t == 1 and moved <= SOLVED * (1 + _largest(fit.f)):
            return True
    return False


@summing_kernel
def softmax_margins(cells, y, C, intercept, kind, margins, given_up):  # type: ignore[no-untyped-def]
    """Set the decision values of the held-out rows of every cell, one for each class."""
    room, seen = make_room(cells), np.zeros(margins.shape[1], np.int64)
    for number in range(cells.splits.size):
        if given_up[number]:
            continue
        cell, fine = take_cell(cells, number, kind, room)
        if fine and has_all_classes(take(y, cell.rows), seen):
            if intercept:
                center(cell)
            cell = reduce_columns(cell)
            fit = _begin(cell, y, C, seen.size, intercept)
            fine, q = _solve(fit), fit.Z.shape[0]
            for i in range(cell.n_tests):
                for k in range(seen.size):
                    value = fit.theta[k * q + q - 1] if intercept else 0.0
                    for j in range(fit.n_penalized):
                        value += fit.theta[k * q + j] * cell.test[j, i]
                    margins[cell.start + i, k] = value
        else:
            fine = False
        given_up[number] = not fine
