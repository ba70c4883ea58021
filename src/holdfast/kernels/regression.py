"""Regression on many cells, as recognized models ask for it: logistic, with two classes or more, least squares, Cox's.

Two classes and survival times are solved by the steps of :mod:`~holdfast.kernels.ridge`, more classes by Newton's
method on all weights together (:func:`softmax_margins`), numbers by one Cholesky factor and two corrections
(:func:`ridge_values`). A cell's columns are centered where there is an intercept, which is never penalized: that
changes no prediction, and keeps the digits of columns far from 0. Cells with more columns than rows are solved in the
dual variables: of classes and numbers a kernel is compiled for them only when there are any.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.cox import begin_risk, sort_rows
from holdfast.kernels.jit import exact_step, summing_kernel, summing_step
from holdfast.kernels.linear import (
    STANDARD,
    UNSCALED,
    Columns,
    add_gram,
    all_finite,
    allocate,
    dot,
    factorize,
    fill,
    has_all_classes,
    margins_of,
    panel,
    record_weights,
    reduce_columns,
    square,
    substitute,
    sum_of,
    take,
    take_cell,
    weights_of,
)
from holdfast.kernels.ridge import Dual, Primal, _fit_dual, _fit_primal, allocate_free, allocate_rows
from holdfast.kernels.tolerances import DOUBLE, EPSILON, SHARP_MEANS, SHORTEST_STEP, STEEP, WELL_POSED

Floats = NDArray[np.float64]

MAX_STEPS = 200
"""Newton steps after which a cell is left to scikit-learn."""


@exact_step
def center(cell):  # type: ignore[no-untyped-def]
    """Subtract the means of the training rows from all rows; a constant column becomes 0 there."""
    total, n = 0, cell.rows.size
    for i in range(n):
        total += cell.counts[i]
    for j in range(cell.train.shape[0]):
        train, test, mean, constant = cell.train[j], cell.test[j], 0.0, True
        for i in range(n):
            mean += cell.counts[i] * train[i]
            constant = constant and train[i] == train[0]
        mean = train[0] if constant else mean / total
        for i in range(n):
            train[i] -= mean
        for i in range(cell.n_tests):
            test[i] -= mean


@summing_step
def predict_linear(cell, w, b, out):  # type: ignore[no-untyped-def]
    """Set Zw + b of the cell's held-out rows, among those of all cells."""
    p, active = w.size, np.arange(w.size)
    Z = Columns(cell.test, active, np.zeros(p), np.ones(p))
    margins_of(Z, active, w, b, out[cell.start : cell.start + cell.n_tests])


@summing_step
def _rows_of(cell, y, C):  # type: ignore[no-untyped-def]
    r = allocate_rows(cell.rows.size)
    for i in range(cell.rows.size):
        r.y[i], r.cost[i] = 2.0 * y[cell.rows[i]] - 1, C * cell.counts[i]
        r.f[i] = r.df[i] = r.g[i] = r.curvature[i] = r.S[i] = 0.0
    return r


@summing_step
def _fit_in_weights(train, rows, intercept, w, risk):  # type: ignore[no-untyped-def]
    """Set the weights; returns the intercept, and whether the fit was solved."""
    p, n = train.shape[0], rows.y.size
    active, norm, work = np.arange(p), np.empty(p), np.empty((2, p))
    for j in range(p):
        norm[j] = np.sqrt(dot(train[j][:n], train[j][:n]))
    Z, primal = Columns(train, active, np.zeros(p), np.ones(p)), Primal(w, work[0], work[1])
    free = allocate_free(1 if intercept else 0, n, p)
    solved = _fit_primal(Z, active, norm, square(p), panel(p), rows, primal, free, MAX_STEPS, None, risk)
    return sum_of(free.b), solved


@summing_step
def _fit_in_rows(train, rows, intercept, w, risk):  # type: ignore[no-untyped-def]
    """Set the weights, by the Gram matrix of the rows; returns the intercept, and whether the fit was solved."""
    p, n = train.shape[0], rows.y.size
    active, K, dual = np.arange(p), square(n), Dual(np.zeros(n), np.zeros(n))
    Z = Columns(train, active, np.zeros(p), np.ones(p))
    for i in range(K.shape[0]):
        fill(K[i], 0.0)
    add_gram(K, Z, active, np.arange(n), 1.0, panel(n))
    free = allocate_free(1 if intercept else 0, n, p)
    solved = _fit_dual(K, square(n), rows, dual, free, False, False, MAX_STEPS, None, risk)
    weights_of(Z, active, dual.a, w)
    return sum_of(free.b), solved


@summing_kernel
def logistic_margins(cells, y, C, intercept, kind, margins, weights, fallback, wide):  # type: ignore[no-untyped-def]
    """Set the log-odds of class 1 of the held-out rows, and the weights, of every cell not left to scikit-learn.

    ``wide`` is True for cells with more columns than rows, which are solved by the Gram matrices of their rows, else
    None: then the other branch is not even compiled.
    """
    work, seen = allocate(cells), np.zeros(2, np.int64)
    for number in range(cells.splits.size):
        if not fallback[number]:
            cell, valid = take_cell(cells, number, kind, work)
            if intercept:
                center(cell)
            w, b, solved = np.zeros(cell.train.shape[0]), 0.0, False
            if valid and has_all_classes(take(y, cell.rows), seen):
                if wide is None:
                    b, solved = _fit_in_weights(cell.train, _rows_of(cell, y, C), intercept, w, None)
                else:
                    b, solved = _fit_in_rows(cell.train, _rows_of(cell, y, C), intercept, w, None)
            predict_linear(cell, w, b, margins)
            record_weights(cells, number, kind, work.unit, w, weights)
            fallback[number] = not (solved and all_finite(w, w.size) and np.isfinite(b))


# Survival times


def ridge_risks(cells: Any, y: NDArray[Any], alpha: float, kind: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Fit a Cox model with penalty α/2 |w|² next to the log partial likelihood to every cell, to the optimum.

    Returns the log risk of held-out rows, that of a row with the mean of each column being 0, the weights of columns as
    they are before scaling, and which cells have no model, for want of events or of an optimum.
    """
    values, weights = np.zeros(cells.starts[-1]), np.zeros(cells.columns.size)
    failed = np.zeros(cells.splits.size, np.bool_)
    _cox_risks(cells, *sort_rows(y), 1 / float(alpha), kind, values, weights, failed)
    return values, weights, failed


@summing_kernel
def _cox_risks(cells, order, event, stratum, new_time, C, kind, values, weights, failed):  # type: ignore[no-untyped-def]
    work, row_in_cell = allocate(cells), np.empty(order.size, np.int64)
    for number in range(cells.splits.size):
        cell, valid = take_cell(cells, number, kind, work)
        center(cell)
        p, n, i, n_events = cell.train.shape[0], cell.rows.size, 0, 0.0
        index, train, rows, w = np.empty(n, np.int64), np.empty((p, n)), allocate_rows(n), np.zeros(p)
        for row in range(order.size):
            row_in_cell[row] = -1
        for at in range(n):
            row_in_cell[cell.rows[at]] = at
        for position in range(order.size):
            at = row_in_cell[order[position]]
            if at >= 0:
                index[i], rows.cost[i], rows.f[i] = position, C * cell.counts[at], 0.0
                n_events += event[position]
                for j in range(p):
                    train[j, i] = cell.train[j, at]
                i += 1
        risk, solved = begin_risk((event, stratum, new_time), rows, index), False
        if valid and n_events > 0:
            if p <= n:
                _, solved = _fit_in_weights(train, rows, False, w, risk)
            else:
                _, solved = _fit_in_rows(train, rows, False, w, risk)
        predict_linear(cell, w, 0.0, values)
        record_weights(cells, number, kind, work.unit, w, weights)
        failed[number] = not (solved and all_finite(w, w.size))


# More than two classes

SLOPE_NOISE = DOUBLE.slope_noise
SOLVED = 1e-8
MAX_SOFTMAX_STEPS = 100


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
        margins = out[k]
        fill(margins, 0.0)
        for j in range(q):
            w, z = theta[k * q + j], fit.Z[j]
            for i in range(margins.size):
                margins[i] += w * z[i]


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
def _factor_hessian(fit):  # type: ignore[no-untyped-def]
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
    for _ in range(MAX_SOFTMAX_STEPS):
        _set_gradient(fit)
        if not _factor_hessian(fit):
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
def softmax_margins(cells, y, C, intercept, kind, margins, fallback):  # type: ignore[no-untyped-def]
    """Set the decision values of the held-out rows of every cell, one for each class."""
    work, seen = allocate(cells), np.zeros(margins.shape[1], np.int64)
    for number in range(cells.splits.size):
        if fallback[number]:
            continue
        cell, valid = take_cell(cells, number, kind, work)
        if valid and has_all_classes(take(y, cell.rows), seen):
            if intercept:
                center(cell)
            cell = reduce_columns(cell)
            fit = _begin(cell, y, C, seen.size, intercept)
            valid, q = _solve(fit), fit.Z.shape[0]
            for i in range(cell.n_tests):
                for k in range(seen.size):
                    value = fit.theta[k * q + q - 1] if intercept else 0.0
                    for j in range(fit.n_penalized):
                        value += fit.theta[k * q + j] * cell.test[j, i]
                    margins[cell.start + i, k] = value
        else:
            valid = False
        fallback[number] = not valid


@summing_step
def _targets(cell, y, intercept):  # type: ignore[no-untyped-def]
    """Targets of the training rows, less their mean if there is an intercept; and that mean."""
    n, total, mean = cell.rows.size, 0.0, 0.0
    targets = np.empty(n)
    for i in range(n):
        total += cell.counts[i]
        mean += cell.counts[i] * y[cell.rows[i]]
    mean = mean / total if intercept else 0.0
    for i in range(n):
        targets[i] = y[cell.rows[i]] - mean
    return targets, mean


@summing_step
def _weigh_rows(cell, targets):  # type: ignore[no-untyped-def]
    """Multiply the training rows by the roots of their counts."""
    for i in range(targets.size):
        root = np.sqrt(cell.counts[i])
        targets[i] *= root
        for j in range(cell.train.shape[0]):
            cell.train[j, i] *= root


@summing_step
def _factor(A, n, alpha):  # type: ignore[no-untyped-def]
    """Factor A + α in place, empty rows as if they were 1; returns the least ratio of a pivot to its diagonal entry."""
    diagonal, least = np.empty(n), 1.0
    for i in range(n):
        A[i, i] += alpha
        if A[i, i] == 0:
            A[i, i] = 1.0
        diagonal[i] = A[i, i]
    if not factorize(A, n):
        return 0.0
    for i in range(n):
        least = min(least, 1 / (A[i, i] * A[i, i] * diagonal[i]))
    return least


@summing_step
def _empty(n):  # type: ignore[no-untyped-def]
    A = square(n)
    for i in range(A.shape[0]):
        fill(A[i], 0.0)
    return A


@summing_step
def _residuals(cell, targets, w, out):  # type: ignore[no-untyped-def]
    """out = targets − Zw."""
    for i in range(targets.size):
        out[i] = targets[i]
    for j in range(w.size):
        weight, train = w[j], cell.train[j]
        for i in range(targets.size):
            out[i] -= weight * train[i]


@summing_step
def _has_full_rank(L, squares, cut):  # type: ignore[no-untyped-def]
    """Whether all singular values of the columns surely exceed a share of the largest; constant columns do not count.

    The square of the largest is at most the trace of the products, that of the smallest 1 / trace of the inverse.
    """
    p, trace, inverse, x = squares.size, 0.0, 0.0, np.empty(squares.size)
    for j in range(p):
        if squares[j] > 0:
            fill(x, 0.0)
            x[j] = 1.0
            substitute(L, x, p)
            trace += squares[j]
            inverse += x[j]
    return trace * inverse * (2 * cut) ** 2 < 1


@summing_step
def _fit_narrow(cell, targets, alpha, cut, w):  # type: ignore[no-untyped-def]
    """Set the weights, by the products of the columns; returns whether they are well determined."""
    p, n = w.size, targets.size
    A, rest, step, squares = _empty(p), np.empty(n), np.empty(p), np.empty(p)
    for j in range(p):
        column = cell.train[j][:n]
        for k in range(j + 1):
            A[j, k] = dot(column, cell.train[k][:n])
        squares[j] = A[j, j]
    if not _factor(A, p, alpha) > WELL_POSED or (alpha == 0 and not _has_full_rank(A, squares, cut)):
        return False
    for _ in range(3):
        _residuals(cell, targets, w, rest)
        for j in range(p):
            step[j] = dot(cell.train[j][:n], rest) - alpha * w[j]
        substitute(A, step, p)
        for j in range(p):
            w[j] += step[j]
    return True


@summing_step
def _fit_wide(cell, targets, alpha, w):  # type: ignore[no-untyped-def]
    """Set the weights, by the products of the rows; returns whether they are well determined."""
    p, n, a = w.size, targets.size, np.zeros(targets.size)
    K, rest = _empty(n), np.empty(n)
    active = np.arange(p)
    add_gram(K, Columns(cell.train, active, np.zeros(p), np.ones(p)), active, np.arange(n), 1.0, panel(n))
    if not _factor(K, n, alpha) > WELL_POSED:
        return False
    for _ in range(3):
        _residuals(cell, targets, w, rest)
        for i in range(n):
            rest[i] -= alpha * a[i]
        substitute(K, rest, n)
        for i in range(n):
            a[i] += rest[i]
        for j in range(p):
            w[j] = dot(cell.train[j][:n], a)
    return True


@exact_step
def _means_are_exact(cell, shift):  # type: ignore[no-untyped-def]
    """Whether scikit-learn surely centers constant columns to 0.

    It may leave a rounding error of them, whose weight is large without a penalty. Sums of numbers of 24 digits are
    exact. ``shift`` is what scaling subtracted.
    """
    exact = True
    for j in range(cell.train.shape[0]):
        train, constant, value = cell.train[j], True, cell.train[j, 0] + shift[j]
        for i in range(cell.rows.size):
            constant = constant and train[i] == train[0]
        exact = exact and not (constant and np.float64(np.float32(value)) != value)
    return exact


@exact_step
def _means_are_sharp(cell, kind, shift, unit, alpha, intercept):  # type: ignore[no-untyped-def]
    """Whether the rounding of the means in standardized columns stays small in predictions without an intercept."""
    blur, n = 0.0, 0
    for i in range(cell.counts.size):
        n += cell.counts[i]
    for j in range(cell.train.shape[0]):
        blur = max(blur, EPSILON * abs(shift[j]) / unit[j])
    return intercept or kind != STANDARD or blur * n <= SHARP_MEANS * min(alpha if alpha > 0 else 1.0, 1.0)


@summing_kernel
def ridge_values(cells, y, alpha, cut, intercept, kind, values, weights, fallback, wide):  # type: ignore[no-untyped-def]
    """Set the predicted numbers of the held-out rows, and the weights, of every cell that is not left to scikit-learn.

    For least squares α is 0, and ``cut`` the share of the largest singular value below which scikit-learn drops others.
    ``wide`` is as in :func:`logistic_margins`; then α is positive.
    """
    work = allocate(cells)
    for number in range(cells.splits.size):
        if not fallback[number]:
            cell, valid = take_cell(cells, number, kind, work)
            if alpha == 0 and (kind == STANDARD or (kind == UNSCALED and intercept)):
                valid = valid and _means_are_exact(cell, work.shift)
            if intercept:
                center(cell)
            valid = valid and _means_are_sharp(cell, kind, work.shift, work.unit, alpha, intercept)
            w, (targets, b) = np.zeros(cell.train.shape[0]), _targets(cell, y, intercept)
            _weigh_rows(cell, targets)
            if wide is None:
                valid = valid and _fit_narrow(cell, targets, alpha, cut, w)
            else:
                valid = valid and _fit_wide(cell, targets, alpha, w)
            predict_linear(cell, w, b, values)
            record_weights(cells, number, kind, work.unit, w, weights)
            fallback[number] = not (valid and all_finite(w, w.size) and np.isfinite(b))
