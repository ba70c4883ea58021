"""Linear support vector machines of many cells, two classes each, by the steps of :mod:`~holdfast.kernels.svm`."""

import numpy as np

from holdfast.kernels.elimination import room_for, weigh
from holdfast.kernels.jit import summing_kernel, summing_step
from holdfast.kernels.linear import Columns, add_gram, all_finite, fill
from holdfast.kernels.logistic import center, predict_linear
from holdfast.kernels.scaling import has_all_classes, keep_weights, make_room, take, take_cell
from holdfast.kernels.svm_active_set import solve_active_set
from holdfast.kernels.svm_fit import Fit, set_squares
from holdfast.kernels.svm_interior import start_inside

MOST_CHANGES = 10_000
"""Changes of the active set after which a cell is given up."""


@summing_step
def _begin(cell, y, C):  # type: ignore[no-untyped-def]
    p, n = cell.train.shape[0], cell.rows.size
    wide = p > n
    Z, rows, labels, upper = (
        Columns(cell.train, np.arange(p), np.zeros(p), np.ones(p)),
        np.arange(n),
        np.empty(n),
        np.empty(n),
    )
    room = room_for(Z, n, wide, False)
    for i in range(n):
        labels[i], upper[i] = 2.0 * y[cell.rows[i]] - 1, C * cell.counts[i]
    fill(room.w, 0.0)
    fill(room.spread, 0.0)
    if wide:
        for i in range(room.K.shape[0]):
            fill(room.K[i], 0.0)
        add_gram(room.K, Z, room.places, rows, 1.0, room.R)
    n_free = n if wide else min(n, p + 8)
    return Fit(
        room, Z, room.places, rows, labels, upper, np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, np.int64),
        np.empty(n_free, np.int64), np.empty((n_free, n_free)), np.empty((0 if wide else n_free, p)),
        np.empty(n_free), np.empty(n_free), np.empty(n),
    )  # fmt: skip


@summing_kernel
def svm_margins(cells, y, C, kind, margins, weights, given_up):  # type: ignore[no-untyped-def]
    """Set the decision value of the held-out rows, and the weights, of every cell."""
    room, seen = make_room(cells), np.zeros(2, np.int64)
    for number in range(cells.splits.size):
        cell, fine = take_cell(cells, number, kind, room)
        given_up[number] = True
        if fine and has_all_classes(take(y, cell.rows), seen):
            center(cell)
            fit = _begin(cell, y, C)
            set_squares(fit)
            start_inside(fit)
            b, solved = solve_active_set(fit, MOST_CHANGES)
            weigh(fit.room, fit.Z, fit.active.size, fit.rows, fit.v)
            predict_linear(cell, fit.room.w, b, margins)
            keep_weights(cells, number, kind, room.unit, fit.room.w, weights)
            given_up[number] = not (solved and all_finite(fit.room.w, fit.room.w.size) and np.isfinite(b))
