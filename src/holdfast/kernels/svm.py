"""Linear support vector machines solved to their optimum, and recursive elimination with them, over many resamples.

The dual is solved in v = y·a, 0 ≤ a ≤ C·count, Σ v = 0; w = Zᵀv (:mod:`~holdfast.kernels.linear` says what Z is). An
active-set method ends at the exact optimum (:mod:`~holdfast.kernels.svm_active_set`): rows whose a is within its bounds
are *free* and lie on the margin, which a Cholesky factor of their Gram matrix solves for; a row that reaches a bound
leaves the factor, a row that violates its condition enters it. A few steps of an interior-point method give the first
start, and a new one should the active set lose its way (:mod:`~holdfast.kernels.svm_interior`). From step to step of an
elimination v, the states of the rows and the factor's memory are kept; only K changes.

``tests/test_svm.py`` holds the results against libsvm; ``tests/test_ties.py`` and ``tests/test_hybrid_rfe.py`` hold the
cut, which is that of :mod:`~holdfast.kernels.elimination`.
"""

import numpy as np
from numpy.typing import ArrayLike

from holdfast.kernels.elimination import begin, cut, finish, first_gram, next_gram, record, room_for, weigh
from holdfast.kernels.inputs import Scale, check_costs
from holdfast.kernels.jit import summing_kernel, summing_step
from holdfast.kernels.layout import collect_paths, empty_outcome, lay_out
from holdfast.kernels.linear import Columns, all_finite
from holdfast.kernels.paths import Paths
from holdfast.kernels.svm_active_set import solve_active_set
from holdfast.kernels.svm_fit import Fit, set_squares
from holdfast.kernels.svm_interior import start_inside


def svm_elimination(
    X: ArrayLike,
    y: ArrayLike,
    counts: ArrayLike | None = None,
    *,
    sizes: ArrayLike | None = None,
    C: float = 0.5,
    columns: ArrayLike | None = None,
    scale: Scale = "split",
    tie_order: ArrayLike | None = None,
    max_iter: int = 10_000,
) -> Paths:
    r"""Fit, drop the features of least weight, fit again: down the ``sizes``, for every resample.

    Each fit is the :math:`w, b` of least

    .. math:: C \sum_i c_i \max(0, 1 - y_i f_i) + \frac12 \sum_j w_j^2, \qquad f = Xw + b

    Parameters
    ----------
    X, y, counts, sizes, columns, scale, tie_order
        As for :func:`~holdfast.kernels.ridge.ridge_elimination`.
    C
        Weight of the loss.
    max_iter
        Changes of the active set after which a fit is given up, with an ArithmeticError.
    """
    (cost,) = check_costs(C)
    layout = lay_out(X, y, counts, sizes, columns, None, scale, tie_order)
    shared = layout.wide and scale == "full" and columns is None
    outcome = empty_outcome(layout)
    _paths(*layout[:7], float(cost), scale == "split", shared, int(max_iter), *outcome)
    return collect_paths("support vector", layout, outcome, max_iter)


@summing_step
def _solve(fit, first, max_iter):  # type: ignore[no-untyped-def]
    set_squares(fit)
    if first:
        start_inside(fit)
    b, solved = solve_active_set(fit, max_iter)
    if not solved and not first:
        start_inside(fit)
        b, solved = solve_active_set(fit, max_iter)
    return b, solved


@summing_kernel
def _paths(  # type: ignore[no-untyped-def]
    XT, y, counts, columns, forced, sizes, tie_order, C, split, shared, max_iter,
    kept_until, weight, coef, intercepts, unsolved,
):  # fmt: skip
    n, p = y.size, columns.shape[1]
    wide = XT.shape[0] > n
    mean, factor = np.zeros(p), np.ones(p)
    room = room_for(Columns(XT, columns[0], mean, factor), n, wide, shared)
    n_free = n if wide else min(n, p + 8)
    L, free, free_rows = np.empty((n_free, n_free)), np.empty(n_free, np.int64), np.empty((0 if wide else n_free, p))
    step_room, border, margin = np.empty(n_free), np.empty(n_free), np.empty(n)
    for m in range(counts.shape[0]):
        Z = Columns(XT, columns[min(m, len(columns) - 1)], mean, factor)
        held, turns = forced[min(m, len(forced) - 1)], tie_order[min(m, len(tie_order) - 1)]
        rows = np.flatnonzero(counts[m])
        begin(room, Z, counts[m], held, 1.0, split)
        b = 0.0
        if wide:
            first_gram(room, Z, rows, held, 1.0)
        labels, upper, state = y[rows], C * counts[m][rows], np.zeros(rows.size, np.int64)
        v, f, square = np.zeros(rows.size), np.zeros(rows.size), np.zeros(rows.size)
        for step in range(sizes.size):
            size = sizes[step]
            fit = Fit(
                room, Z, room.places[:size], rows, labels, upper, v, f, square, state,
                free, L, free_rows, step_room, border, margin,
            )  # fmt: skip
            b, solved = _solve(fit, step == 0, max_iter)
            weigh(room, Z, size, rows, v)
            if not (solved and all_finite(room.w, size)):
                unsolved[m] = size
                break
            record(room, size, held, 1.0, kept_until[m], weight[m])
            if step + 1 < sizes.size:
                after = sizes[step + 1]
                cut(room, Z, size, after, held, turns)
                if wide:
                    next_gram(room, Z, rows, after, size - after)
        intercepts[m] = finish(room, Z, sizes[-1], b, coef[m])
