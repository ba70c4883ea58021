"""Least squares with and without a ridge penalty, of many cells.

Rows are multiplied by the root of how often they count, so that copies need no further thought: with these Z and y,
(ZᵀZ + α) w = Zᵀy, or w = Zᵀa and (ZZᵀ + α) a = y where a cell has more columns than rows. Steps of refinement, with
the residuals of the rows, take back what forming the products lost. A cell is given up if a pivot falls below a share
``WELL_POSED`` of its diagonal entry: scikit-learn's digits are its own then. Without a penalty it is given up as well
if scikit-learn might drop directions for their small singular values, and answer with the solution of least norm.
"""

import numpy as np

from holdfast.kernels.jit import exact_step, summing_kernel, summing_step
from holdfast.kernels.linear import Columns, add_gram, all_finite, dot, factorize, fill, panel, square, substitute
from holdfast.kernels.logistic import center, predict_linear
from holdfast.kernels.scaling import STANDARD, UNSCALED, keep_weights, make_room, take_cell
from holdfast.kernels.tolerances import EPSILON, SHARP_MEANS, WELL_POSED


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
    """Factor A + α in place, empty rows as if they were 1; returns the least pivot beside its diagonal entry."""
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
        own, train = w[j], cell.train[j]
        for i in range(targets.size):
            out[i] -= own * train[i]


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
        own = cell.train[j][:n]
        for k in range(j + 1):
            A[j, k] = dot(own, cell.train[k][:n])
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
    places = np.arange(p)
    add_gram(K, Columns(cell.train, places, np.zeros(p), np.ones(p)), places, np.arange(n), 1.0, panel(n))
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
def ridge_values(cells, y, alpha, cut, intercept, kind, values, weights, given_up):  # type: ignore[no-untyped-def]
    """Set the predicted numbers of the held-out rows, and the weights, of every cell that is not given up.

    For least squares α is 0, and ``cut`` the share of the largest singular value below which scikit-learn drops others.
    """
    room = make_room(cells)
    for number in range(cells.splits.size):
        if not given_up[number]:
            cell, fine = take_cell(cells, number, kind, room)
            if alpha == 0 and (kind == STANDARD or (kind == UNSCALED and intercept)):
                fine = fine and _means_are_exact(cell, room.shift)
            if intercept:
                center(cell)
            fine = fine and _means_are_sharp(cell, kind, room.shift, room.unit, alpha, intercept)
            w, (targets, b) = np.zeros(cell.train.shape[0]), _targets(cell, y, intercept)
            _weigh_rows(cell, targets)
            fine = fine and _fit_narrow(cell, targets, alpha, cut, w)
            predict_linear(cell, w, b, values)
            keep_weights(cells, number, kind, room.unit, w, weights)
            given_up[number] = not (fine and all_finite(w, w.size) and np.isfinite(b))


@summing_kernel
def wide_ridge_values(cells, y, alpha, cut, intercept, kind, values, weights, given_up):  # type: ignore[no-untyped-def]
    """Do the same for cells with more columns than rows; α is positive, and nothing is cut."""
    room = make_room(cells)
    for number in range(cells.splits.size):
        if not given_up[number]:
            cell, fine = take_cell(cells, number, kind, room)
            if intercept:
                center(cell)
            fine = fine and _means_are_sharp(cell, kind, room.shift, room.unit, alpha, intercept)
            w, (targets, b) = np.zeros(cell.train.shape[0]), _targets(cell, y, intercept)
            _weigh_rows(cell, targets)
            fine = fine and _fit_wide(cell, targets, alpha, w)
            predict_linear(cell, w, b, values)
            keep_weights(cells, number, kind, room.unit, w, weights)
            given_up[number] = not (fine and all_finite(w, w.size) and np.isfinite(b))
