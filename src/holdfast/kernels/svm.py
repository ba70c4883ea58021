"""Linear support vector machines solved to their optimum, and recursive elimination with them, over many resamples.

The dual is solved in v = y·a, 0 ≤ a ≤ C·count, Σ v = 0; w = Zᵀv (:mod:`~holdfast.kernels.linear` says what Z is). An
active-set method ends at the exact optimum (:func:`solve_active_set`): rows whose a is within its bounds
are *free* and lie on the margin, which a Cholesky factor of their Gram matrix solves for; a row that reaches a bound
leaves the factor, a row that violates its condition enters it. A few steps of an interior-point method give the first
start, and a new one should the active set lose its way (:func:`start_inside`). From step to step of an
elimination v, the states of the rows and the factor's memory are reused; only K changes.

The same method fits the cells of recognized models (:func:`svm_margins`); :func:`squared_hinge_margins` fits cells of
LinearSVC, whose loss has derivatives, by Newton's method.

``test_svm.py`` holds the results against libsvm; ``test_ties.py`` and ``test_hybrid_rfe.py`` hold the
cut, which is that of :mod:`~holdfast.kernels.elimination_path`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.elimination import (
    Paths,
    Scale,
    check_columns,
    check_costs,
    check_labels,
    check_sizes,
    check_tie_ranks,
    on_scale_of_data,
    scale_data,
    unsolved_error,
)
from holdfast.kernels.elimination_path import (
    Workspace,
    begin_path,
    begin_resample,
    cut,
    finish,
    make_workspace,
    next_gram,
    record,
    start_gram,
    weigh,
)
from holdfast.kernels.jit import frozen, summing_kernel, summing_step
from holdfast.kernels.linear import (
    Columns,
    add,
    add_gram,
    all_finite,
    allocate,
    dot,
    factorize,
    factorize_dual,
    factorize_primal,
    fill,
    has_all_classes,
    margins_of,
    record_weights,
    reduce_columns,
    square,
    substitute,
    sum_of,
    take,
    take_cell,
    times,
    vector,
)
from holdfast.kernels.regression import center, predict_linear
from holdfast.kernels.tolerances import DOUBLE, SHORTEST_STEP, STEEP

LOWER, UPPER, FREE, PARKED = 0, 1, 2, 3
"""States of a row: at a bound, in the factor, or within the bounds but on a margin that rows in the factor imply."""


class Fit(NamedTuple):
    """One fit: its rows, its columns, and the factor of its free rows."""

    work: Workspace
    Z: Columns
    active: NDArray[np.int64]
    rows: NDArray[np.int64]
    y: NDArray[np.float64]
    upper: NDArray[np.float64]  # C · count
    v: NDArray[np.float64]
    f: NDArray[np.float64]  # Kv
    square: NDArray[np.float64]  # diagonal of K
    state: NDArray[np.int64]
    free: NDArray[np.int64]  # rows in the factor
    L: NDArray[np.float64]  # factor of K + mean(square): Σ v = 0 makes that the same problem, of one rank more
    free_rows: NDArray[np.float64]  # these rows of Z, where there is no K
    step: NDArray[np.float64]
    border: NDArray[np.float64]
    margin: NDArray[np.float64]  # over all rows of X


@summing_step
def has_gram(fit):  # type: ignore[no-untyped-def]
    """Whether the Gram matrix is stored."""
    return fit.work.K.size > 0


@summing_step
def set_squares(fit):  # type: ignore[no-untyped-def]
    """Set the diagonal of K."""
    fill(fit.square, 0.0)
    for i in range(fit.rows.size):
        if has_gram(fit):
            fit.square[i] = fit.work.K[i, i]
        else:
            for j in fit.active:
                x = fit.Z.XT[fit.Z.column[j], fit.rows[i]]
                fit.square[i] += ((x - fit.Z.mean[j]) * fit.Z.factor[j]) ** 2


@summing_step
def multiply(fit, v, out):  # type: ignore[no-untyped-def]
    """out = Kv."""
    if has_gram(fit):
        times(fit.work.K, v, out, v.size)
    else:
        weigh(fit.work, fit.Z, fit.active.size, fit.rows, v)
        margins_of(fit.Z, fit.active, fit.work.w[: fit.active.size], 0.0, fit.margin)
        for i in range(v.size):
            out[i] = fit.margin[fit.rows[i]]


@summing_step
def largest_margin(fit, v):  # type: ignore[no-untyped-def]
    """Bound on the margins Kv."""
    total, largest = 0.0, 0.0
    for i in range(fit.rows.size):
        total += np.sqrt(fit.square[i]) * abs(v[i])
        largest = max(largest, fit.square[i])
    return np.sqrt(largest) * total


SOLVED, STALLED = 1e-9, 1e-7
"""How far a margin may be from its condition; and how far at most where rounding blurs it by more."""
FAINTEST = 1e-6  # what Xw can reach at least, not to be lost in b
DEPENDENT = 1e-10
"""Share of a free row's square that the free rows before it do not explain, from which on it is independent of them."""


@summing_step
def _append(fit, n_free, i, shift):  # type: ignore[no-untyped-def]
    """Write row i at the end of the factor; returns the share of its square that the rows before do not explain."""
    row = fit.L[n_free]
    if has_gram(fit):
        for k in range(n_free):
            j = fit.free[k]
            row[k] = fit.work.K[max(i, j), min(i, j)] + shift
    else:
        x = fit.free_rows[n_free]
        for q in range(fit.active.size):
            column = fit.active[q]
            x[q] = (fit.Z.XT[fit.Z.column[column], fit.rows[i]] - fit.Z.mean[column]) * fit.Z.factor[column]
        for k in range(n_free):
            row[k] = shift
            for q in range(fit.active.size):
                row[k] += fit.free_rows[k, q] * x[q]
    rest = whole = fit.square[i] + shift
    for k in range(n_free):
        entry, other = row[k], fit.L[k]
        for q in range(k):
            entry -= row[q] * other[q]
        row[k] = entry * other[k]
        rest -= row[k] ** 2
    row[n_free] = 1 / np.sqrt(max(rest, DEPENDENT * whole))
    fit.free[n_free] = i
    return rest / whole


@summing_step
def _factor_free(fit, shift):  # type: ignore[no-untyped-def]
    """Factor the rows within their bounds and park those that depend on others; returns how many are in."""
    n_free = 0
    for i in range(fit.rows.size):
        if fit.state[i] >= FREE:
            fits = n_free < fit.free.size and _append(fit, n_free, i, shift) > DEPENDENT
            fit.state[i] = FREE if fits else PARKED
            n_free += fits
    return n_free


@summing_step
def _remove(fit, n_free, k):  # type: ignore[no-untyped-def]
    """Take row k out of the factor: the rows below move up and are rotated, column by column, into a triangle again."""
    cosine, sine = fit.step, fit.border
    for r in range(k, n_free - 1):
        old, new = fit.L[r + 1], fit.L[r]
        for j in range(k):
            new[j] = old[j]
        carried = old[k]
        for j in range(k, r):
            new[j] = cosine[j] * carried + sine[j] * old[j + 1]
            carried = cosine[j] * old[j + 1] - sine[j] * carried
        diagonal = 1 / old[r + 1]
        length = np.sqrt(carried**2 + diagonal**2)
        cosine[r], sine[r], new[r] = carried / length, diagonal / length, 1 / length
        fit.free[r] = fit.free[r + 1]
        if not has_gram(fit):
            for q in range(fit.active.size):
                fit.free_rows[r, q] = fit.free_rows[r + 1, q]
    return n_free - 1


@summing_step
def _solve_free(fit, n_free):  # type: ignore[no-untyped-def]
    """Set the step that takes the free rows to their margin with Σ v = 0; returns b."""
    for k in range(n_free):
        i = fit.free[k]
        fit.step[k], fit.border[k] = fit.y[i] - fit.f[i], 1.0
    substitute(fit.L, fit.step, n_free)
    substitute(fit.L, fit.border, n_free)
    total, border = sum_of(fit.v), 0.0
    for k in range(n_free):
        total += fit.step[k]
        border += fit.border[k]
    b = total / border
    for k in range(n_free):
        fit.step[k] -= b * fit.border[k]
    return b


@summing_step
def _take_step(fit, n_free):  # type: ignore[no-untyped-def]
    """Go as far as the first bound; returns which of the free rows met it, or −1."""
    t, first = 1.0, -1
    for k in range(n_free):
        i = fit.free[k]
        a, da = fit.y[i] * fit.v[i], fit.y[i] * fit.step[k]
        if a + da < 0 and a < -da * t:
            t, first = max(a, 0.0) / -da, k
        elif a + da > fit.upper[i] and fit.upper[i] - a < da * t:
            t, first = max(fit.upper[i] - a, 0.0) / da, k
    for k in range(n_free):
        fit.v[fit.free[k]] += t * fit.step[k]
    if first >= 0:
        i = fit.free[first]
        fit.state[i] = UPPER if fit.step[first] * fit.y[i] > 0 else LOWER
        fit.v[i] = fit.y[i] * fit.upper[i] if fit.state[i] == UPPER else 0.0
    return first


@summing_step
def _worst(fit, b):  # type: ignore[no-untyped-def]
    """Return the row that is farthest from its condition, and how far."""
    worst, row = 0.0, -1
    for i in range(fit.rows.size):
        excess = fit.y[i] * (fit.f[i] + b) - 1
        violation = -excess if fit.state[i] == LOWER else excess if fit.state[i] == UPPER else abs(excess)
        if violation > worst:
            worst, row = violation, i
    return row, worst


@summing_step
def _interval(fit):  # type: ignore[no-untyped-def]
    """With every row at a bound, return the least and largest b that its conditions allow, and the row of the least."""
    low, high, row = -np.inf, np.inf, 0
    for i in range(fit.rows.size):
        edge = fit.y[i] - fit.f[i]
        if (fit.y[i] > 0) == (fit.state[i] == LOWER):
            if edge > low:
                low, row = edge, i
        else:
            high = min(high, edge)
    return low, high, row


@summing_step
def solve_active_set(fit, max_iter):  # type: ignore[no-untyped-def]
    """Solve from v and the states of its rows; returns b and whether it was solved."""
    shift = sum_of(fit.square) / fit.rows.size
    shift = shift if shift > 0 else 1.0
    n_free, b, reach = 0, 0.0, largest_margin(fit, fit.upper)
    if 0 < reach < FAINTEST:
        return b, False
    tolerance = SOLVED * min(reach, 1.0) if reach > 0 else SOLVED  # 0: all columns are constant
    multiply(fit, fit.v, fit.f)
    for _ in range(max_iter):
        n_free = n_free if n_free > 0 else _factor_free(fit, shift)
        if n_free > 0:
            b = _solve_free(fit, n_free)
            met = _take_step(fit, n_free)
            multiply(fit, fit.v, fit.f)
            if met >= 0:
                n_free = _remove(fit, n_free, met)
                continue
            row, worst = _worst(fit, b)
        else:
            low, high, row = _interval(fit)
            b, worst = (low + high) / 2, low - high
            if abs(sum_of(fit.v)) > SOLVED * dot(fit.v, fit.y):  # Σ v = 0 needs a free row
                return b, False
        if worst <= max(tolerance, min(2e-15 * largest_margin(fit, fit.v), STALLED)):
            return b, True
        if fit.state[row] != FREE:
            if n_free == fit.free.size:
                return b, False
            fit.state[row] = FREE
            _append(fit, n_free, row, shift)
            n_free += 1
    return b, False


INTERIOR_STEPS = 40


@summing_step
def _solve_interior(fit, x, S):  # type: ignore[no-untyped-def]
    """Solve (K + S⁻²) x = x in place."""
    n = x.size
    if has_gram(fit):
        for i in range(n):
            x[i] *= S[i]
        substitute(fit.work.L, x, n)
        for i in range(n):
            x[i] *= S[i]
        return
    for i in range(n):
        x[i] *= S[i] ** 2
    weigh(fit.work, fit.Z, fit.active.size, fit.rows, x)
    substitute(fit.work.L, fit.work.w, fit.active.size)
    margins_of(fit.Z, fit.active, fit.work.w, 0.0, fit.margin)
    for i in range(n):
        x[i] -= S[i] ** 2 * fit.margin[fit.rows[i]]


@summing_step
def _factor_interior(fit, S):  # type: ignore[no-untyped-def]
    """Factor for :func:`_solve_interior`."""
    if has_gram(fit):
        return factorize_dual(fit.work.L, fit.work.K, S, S.size)
    fill(fit.margin, 0.0)
    for i in range(S.size):
        fit.margin[fit.rows[i]] = S[i]
    return factorize_primal(fit.work.L, fit.Z, fit.active, fit.margin, fit.work.R)


@summing_step
def _inside(distance, step, t):  # type: ignore[no-untyped-def]
    """Shorten the step t so that a distance keeps a hundredth of itself."""
    return min(t, -0.99 * distance / step) if step < 0 else t


@summing_step
def start_inside(fit):  # type: ignore[no-untyped-def]
    """Set v near the optimum, and which rows are free there.

    s and u are the multipliers of a ≥ 0 and a ≤ upper; every step aims at a tenth of their mean product with what they
    belong to.
    """
    n, size = fit.rows.size, sum_of(fit.square) / fit.rows.size
    a, s, u, S, step, border = np.empty(n), np.ones(n), np.ones(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        a[i] = min(0.5 * fit.upper[i], 1 / size) if size > 0 else 0.5 * fit.upper[i]
        fit.v[i] = fit.y[i] * a[i]
    b = 0.0
    for _ in range(INTERIOR_STEPS):
        gap = (dot(a, s) + dot(fit.upper, u) - dot(a, u)) / (2 * n)
        if gap <= 1e-8 * sum_of(a) / n:
            break
        multiply(fit, fit.v, fit.f)
        for i in range(n):
            rest = fit.upper[i] - a[i]
            S[i] = 1 / np.sqrt(s[i] / a[i] + u[i] / rest)
            step[i] = fit.y[i] * (1 + 0.1 * gap * (1 / a[i] - 1 / rest)) - fit.f[i] - b
            border[i] = 1.0
        if not _factor_interior(fit, S):
            break
        _solve_interior(fit, step, S)
        _solve_interior(fit, border, S)
        db = (sum_of(step) + sum_of(fit.v)) / sum_of(border)
        add(step, -db, border)
        t = 1.0
        for i in range(n):
            rest, da = fit.upper[i] - a[i], fit.y[i] * step[i]
            t = _inside(rest, -da, _inside(a[i], da, t))
            t = _inside(s[i], 0.1 * gap / a[i] - s[i] - s[i] / a[i] * da, t)
            t = _inside(u[i], 0.1 * gap / rest - u[i] + u[i] / rest * da, t)
        for i in range(n):
            rest, da = fit.upper[i] - a[i], fit.y[i] * step[i]
            s[i] += t * (0.1 * gap / a[i] - s[i] - s[i] / a[i] * da)
            u[i] += t * (0.1 * gap / rest - u[i] + u[i] / rest * da)
            a[i] += t * da
            fit.v[i] = fit.y[i] * a[i]
        b += t * db
    for i in range(n):
        rest = fit.upper[i] - a[i]
        unit = min(fit.upper[i], 1 / size) if size > 0 else fit.upper[i]
        fit.state[i] = LOWER if a[i] < s[i] * unit else UPPER if rest < u[i] * unit else FREE
        if fit.state[i] != FREE:
            fit.v[i] = fit.y[i] * fit.upper[i] if fit.state[i] == UPPER else 0.0


def svm_elimination(
    X: ArrayLike,
    y: ArrayLike,
    counts: ArrayLike | None = None,
    *,
    sizes: ArrayLike | None = None,
    C: float = 0.5,
    columns: ArrayLike | None = None,
    scale: Scale = "split",
    tie_ranks: ArrayLike | None = None,
    max_iter: int = 10_000,
) -> Paths:
    r"""Fit, drop the features of least weight, fit again: down the ``sizes``, for every resample.

    Each fit is the :math:`w, b` of least

    .. math:: C \sum_i c_i \max(0, 1 - y_i f_i) + \frac12 \sum_j w_j^2, \qquad f = Xw + b

    Parameters
    ----------
    X, y
        Rows × features, and labels −1 and 1.
    counts
        Resamples × rows: how often each row was drawn, whole or not. All rows once if not given.
    sizes
        Sizes to pass, from all features down, as :func:`elimination_sizes` makes them. If not given, all features are
        fitted once and none is dropped.
    columns
        Columns to start from, ascending, for all or each of the resamples; all if not given.
    scale
        ``"split"`` standardizes columns by mean and standard deviation of each resample; constant ones become 0 and
        fall first. ``"full"`` takes X as it is, with one Gram matrix for all resamples.
    tie_ranks
        Tie-break rank of each of these columns, for all or each of the resamples; the lowest column is first if not
        given.
    C
        Weight of the loss.
    max_iter
        Changes of the active set after which a fit fails with an ArithmeticError.
    """
    (cost,), (y, counts), data = check_costs(C), check_labels(np.shape(X), y, counts), scale_data(X, scale)
    M = len(counts)
    start = check_columns(columns, data.shape[1], M)
    p = start.shape[1]
    passed, ranks = check_sizes(sizes, p), check_tie_ranks(tie_ranks, p, M)
    smallest_size, weight, unsolved = np.empty((M, p), np.int32), np.empty((M, p)), np.zeros(M, np.int64)
    coef, intercept = np.empty((M, passed[-1])), np.empty(M)
    arrays = (frozen(array, array.dtype) for array in (y, counts, start, passed, ranks))  # of one type: compiled once
    shared = data.wide and not data.split and columns is None
    _paths(
        data.XT, *arrays, float(cost), data.split, shared, int(max_iter),
        smallest_size, weight, coef, intercept, unsolved,
    )  # fmt: skip
    if unsolved.any():
        raise unsolved_error("support vector", unsolved, max_iter)
    selected = np.broadcast_to(start, (M, p))[smallest_size == passed[-1]].reshape(coef.shape)
    coef, intercept = on_scale_of_data(coef, intercept, data.shift[selected], data.unit[selected])
    return Paths(smallest_size, weight, selected, coef, intercept)


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
    XT, y, counts, columns, sizes, tie_ranks, C, split, shared, max_iter,
    smallest_size, weight, coef, intercepts, unsolved,
):  # fmt: skip
    n, p = y.size, columns.shape[1]
    wide = XT.shape[0] > n
    mean, factor = np.zeros(p), np.ones(p)
    work = make_workspace(Columns(XT, columns[0], mean, factor), n, wide, shared)
    start, factors, n_free = square(n if wide else 0), vector(p), n if wide else min(n, p + 8)
    forced, others = np.zeros(p, np.bool_), np.empty((0, n))
    L, free, free_rows = np.empty((n_free, n_free)), np.empty(n_free, np.int64), np.empty((0 if wide else n_free, p))
    step_work, border, margin = np.empty(n_free), np.empty(n_free), np.empty(n)
    for m in range(counts.shape[0]):
        Z = Columns(XT, columns[min(m, len(columns) - 1)], mean, factor)
        rows, ranks = np.flatnonzero(counts[m]), tie_ranks[min(m, len(tie_ranks) - 1)]
        begin_resample(work, Z, counts[m], rows, split, others, wide, start, factors)
        begin_path(work, Z, forced, 1.0, factors)
        b = 0.0
        if wide:
            start_gram(work, Z, rows, forced, 1.0, start)
        labels, upper, state = y[rows], C * counts[m][rows], np.zeros(rows.size, np.int64)
        v, f, squares = np.zeros(rows.size), np.zeros(rows.size), np.zeros(rows.size)
        for step in range(sizes.size):
            size = sizes[step]
            fit = Fit(
                work, Z, work.active[:size], rows, labels, upper, v, f, squares, state,
                free, L, free_rows, step_work, border, margin,
            )  # fmt: skip
            b, solved = _solve(fit, step == 0, max_iter)
            weigh(work, Z, size, rows, v)
            if not (solved and all_finite(work.w, size)):
                unsolved[m] = size
                break
            record(work, size, forced, 1.0, smallest_size[m], weight[m])
            if step + 1 < sizes.size:
                after = sizes[step + 1]
                cut(work, Z, size, after, forced, ranks)
                if wide:
                    next_gram(work, Z, rows, after, size - after)
        intercepts[m] = finish(work, Z, sizes[-1], b, coef[m])


MAX_CHANGES = 10_000
"""Changes of the active set after which a cell is left to scikit-learn."""


@summing_step
def _begin(cell, y, C):  # type: ignore[no-untyped-def]
    p, n = cell.train.shape[0], cell.rows.size
    wide = p > n
    Z, rows = Columns(cell.train, np.arange(p), np.zeros(p), np.ones(p)), np.arange(n)
    labels, upper = np.empty(n), np.empty(n)
    work = make_workspace(Z, n, wide, False)
    for i in range(n):
        labels[i], upper[i] = 2.0 * y[cell.rows[i]] - 1, C * cell.counts[i]
    fill(work.w, 0.0)
    fill(work.spread, 0.0)
    if wide:
        for i in range(work.K.shape[0]):
            fill(work.K[i], 0.0)
        add_gram(work.K, Z, work.active, rows, 1.0, work.R)
    n_free = n if wide else min(n, p + 8)
    return Fit(
        work, Z, work.active, rows, labels, upper, np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, np.int64),
        np.empty(n_free, np.int64), np.empty((n_free, n_free)), np.empty((0 if wide else n_free, p)),
        np.empty(n_free), np.empty(n_free), np.empty(n),
    )  # fmt: skip


@summing_kernel
def svm_margins(cells, y, C, kind, margins, weights, fallback):  # type: ignore[no-untyped-def]
    """Set the decision value of the held-out rows, and the weights, of every cell."""
    work, seen = allocate(cells), np.zeros(2, np.int64)
    for number in range(cells.splits.size):
        cell, valid = take_cell(cells, number, kind, work)
        fallback[number] = True
        if valid and has_all_classes(take(y, cell.rows), seen):
            center(cell)
            fit = _begin(cell, y, C)
            set_squares(fit)
            start_inside(fit)
            b, solved = solve_active_set(fit, MAX_CHANGES)
            weigh(fit.work, fit.Z, fit.active.size, fit.rows, fit.v)
            predict_linear(cell, fit.work.w, b, margins)
            record_weights(cells, number, kind, work.unit, fit.work.w, weights)
            fallback[number] = not (solved and all_finite(fit.work.w, fit.work.w.size) and np.isfinite(b))


SLOPE_NOISE = DOUBLE.slope_noise
HINGE_SOLVED = 1e-10
MAX_STEPS = 200


class HingeFit(NamedTuple):
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
def _begin_hinge(cell, C, intercept):  # type: ignore[no-untyped-def]
    n, p = cell.rows.size, cell.train.shape[0]
    q = p + (intercept > 0)
    Z, cost = np.empty((q, n)), np.empty(n)
    for j in range(q):
        for i in range(n):
            Z[j, i] = cell.train[j, i] if j < p else intercept
    for i in range(n):
        cost[i] = C * cell.counts[i]
    return HingeFit(
        Z, np.empty(n), cost, np.zeros(q), np.zeros(q), np.zeros(q), np.zeros(n), np.zeros(n), np.zeros(n), square(q)
    )


@summing_step
def _differentiate(fit, t):  # type: ignore[no-untyped-def]
    """Set the derivatives of the loss at f + t df; returns their product with df, and the sum of its parts' sizes."""
    slope, size = 0.0, 0.0
    for i in range(fit.y.size):
        hinge = 1 - fit.y[i] * (fit.f[i] + t * fit.df[i])
        fit.g[i] = -2 * fit.cost[i] * fit.y[i] * max(hinge, 0.0)
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
        dw, z = fit.dw[j], fit.Z[j]
        for i in range(n):
            fit.df[i] += dw * z[i]
    return solved


@summing_step
def _solve_hinge(fit):  # type: ignore[no-untyped-def]
    """Take Newton's steps from 0; returns whether the optimum was reached."""
    fill(fit.w, 0.0)
    fill(fit.f, 0.0)
    fill(fit.df, 0.0)
    _differentiate(fit, 0.0)
    for _ in range(MAX_STEPS):
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
        if t == 1 and moved <= HINGE_SOLVED * (1 + largest):
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
def squared_hinge_margins(cells, y, C, intercept, kind, margins, weights, fallback):  # type: ignore[no-untyped-def]
    """Set the decision values of held-out rows of every cell not left to scikit-learn, each class against the others.

    Of two classes only the second has a column, and its weights are set. ``intercept`` is the number in the intercept's
    column, or 0 for none.
    """
    n_models = margins.shape[1]
    work, seen = allocate(cells), np.zeros(max(n_models, 2), np.int64)
    for number in range(cells.splits.size):
        if fallback[number]:
            continue
        cell, valid = take_cell(cells, number, kind, work)
        valid = valid and has_all_classes(take(y, cell.rows), seen)
        columns = cell.train
        cell = reduce_columns(cell)
        fit, p = _begin_hinge(cell, C, intercept), cell.train.shape[0]
        for model in range(n_models if valid else 0):
            for i in range(fit.y.size):
                fit.y[i] = 1.0 if y[cell.rows[i]] == (model if n_models > 1 else 1) else -1.0
            valid = valid and _solve_hinge(fit)
            for i in range(cell.n_tests):
                value = fit.w[p] * intercept if intercept > 0 else 0.0
                for j in range(p):
                    value += fit.w[j] * cell.test[j, i]
                margins[cell.start + i, model] = value
        if n_models == 1:
            record_weights(cells, number, kind, work.unit, _weigh_columns(fit, columns), weights)
        fallback[number] = not valid
