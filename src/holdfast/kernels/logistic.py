"""Ridge-logistic regression of many cells, two classes each, solved by the steps of :mod:`~holdfast.kernels.ridge`.

A cell's columns are centered where there is an intercept, which is never penalized: that changes no prediction, and
keeps the digits of columns far from 0. Cells with more columns than rows have a kernel of their own, in the dual
variables: nobody waits for the compilation of what is not used.
"""

import numpy as np

from holdfast.kernels.jit import exact_step, summing_kernel, summing_step
from holdfast.kernels.linear import Columns, add_gram, all_finite, dot, fill, margins_of, panel, square, weights_of
from holdfast.kernels.ridge import Dual, Primal, _fit_dual, _fit_primal
from holdfast.kernels.ridge_rows import room_for_rows
from holdfast.kernels.scaling import has_all_classes, keep_weights, make_room, take, take_cell

MOST_STEPS = 200
"""Newton steps after which a cell is given up."""


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
    p, places = w.size, np.arange(w.size)
    Z = Columns(cell.test, places, np.zeros(p), np.ones(p))
    margins_of(Z, places, w, b, out[cell.start : cell.start + cell.n_tests])


@summing_step
def _rows_of(cell, y, C):  # type: ignore[no-untyped-def]
    r = room_for_rows(cell.rows.size)
    for i in range(cell.rows.size):
        r.y[i], r.cost[i] = 2.0 * y[cell.rows[i]] - 1, C * cell.counts[i]
        r.f[i] = r.df[i] = r.g[i] = r.curvature[i] = r.S[i] = 0.0
    return r


@summing_step
def _fit_narrow(cell, y, C, intercept, w):  # type: ignore[no-untyped-def]
    """Set the weights; returns the intercept, and whether the fit was solved."""
    p, n = cell.train.shape[0], cell.rows.size
    places, norm, room = np.arange(p), np.empty(p), np.empty((4, p))
    for j in range(p):
        norm[j] = np.sqrt(dot(cell.train[j][:n], cell.train[j][:n]))
    Z, primal = Columns(cell.train, places, np.zeros(p), np.ones(p)), Primal(w, room[0], room[1], room[2], room[3])
    rows = _rows_of(cell, y, C)
    return _fit_primal(Z, places, norm, square(p), panel(p), rows, primal, 0.0, intercept, MOST_STEPS)


@summing_step
def _fit_wide(cell, y, C, intercept, w):  # type: ignore[no-untyped-def]
    """Set the weights, by the Gram matrix of the rows; returns the intercept, and whether the fit was solved."""
    p, n = cell.train.shape[0], cell.rows.size
    places, K, dual = np.arange(p), square(n), Dual(np.zeros(n), np.zeros(n), np.zeros(n))
    Z = Columns(cell.train, places, np.zeros(p), np.ones(p))
    for i in range(K.shape[0]):
        fill(K[i], 0.0)
    add_gram(K, Z, places, np.arange(n), 1.0, panel(n))
    b, solved = _fit_dual(K, square(n), _rows_of(cell, y, C), dual, 0.0, intercept, False, False, MOST_STEPS)
    weights_of(Z, places, dual.a, w)
    return b, solved


@summing_step
def _take_and_center(cells, number, kind, y, intercept, room, seen):  # type: ignore[no-untyped-def]
    cell, fine = take_cell(cells, number, kind, room)
    if intercept:
        center(cell)
    return cell, fine and has_all_classes(take(y, cell.rows), seen)


@summing_kernel
def logistic_margins(cells, y, C, intercept, kind, margins, weights, given_up):  # type: ignore[no-untyped-def]
    """Set the log-odds of class 1 of the held-out rows, and the weights, of every cell that is not given up."""
    room, seen = make_room(cells), np.zeros(2, np.int64)
    for number in range(cells.splits.size):
        if not given_up[number]:
            cell, fine = _take_and_center(cells, number, kind, y, intercept, room, seen)
            w = np.zeros(cell.train.shape[0])
            b, solved = _fit_narrow(cell, y, C, intercept, w) if fine else (0.0, False)
            predict_linear(cell, w, b, margins)
            keep_weights(cells, number, kind, room.unit, w, weights)
            given_up[number] = not (solved and all_finite(w, w.size) and np.isfinite(b))


@summing_kernel
def wide_logistic_margins(cells, y, C, intercept, kind, margins, weights, given_up):  # type: ignore[no-untyped-def]
    """Do the same for cells with more columns than rows, by the Gram matrices of their rows."""
    room, seen = make_room(cells), np.zeros(2, np.int64)
    for number in range(cells.splits.size):
        if not given_up[number]:
            cell, fine = _take_and_center(cells, number, kind, y, intercept, room, seen)
            w = np.zeros(cell.train.shape[0])
            b, solved = _fit_wide(cell, y, C, intercept, w) if fine else (0.0, False)
            predict_linear(cell, w, b, margins)
            keep_weights(cells, number, kind, room.unit, w, weights)
            given_up[number] = not (solved and all_finite(w, w.size) and np.isfinite(b))
