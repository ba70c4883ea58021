"""Linear support vector machines solved to their optimum, and recursive elimination with them, over many resamples.

The dual is solved in v = y·a, 0 ≤ a ≤ C·count, Σ v = 0. An active-set method ends at the exact optimum: rows whose a is
within its bounds are *free* and lie on the margin, which a Cholesky factor of their Gram matrix solves for; a row that
reaches a bound leaves the factor, a row that violates its condition enters it. A few steps of an interior-point method
give the first start, and a new one should the active set lose its way.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels import paths
from holdfast.kernels.elimination import Room, begin, cut, finish, first_gram, next_gram, record, room_for, weigh
from holdfast.kernels.jit import summing_kernel, summing_step
from holdfast.kernels.linear import (
    Columns,
    add,
    all_finite,
    dot,
    factorize_dual,
    factorize_primal,
    fill,
    margins_of,
    substitute,
    sum_of,
    times,
)
from holdfast.kernels.magnitude import check_cost
from holdfast.kernels.paths import Paths, Scale

TOLERANCE, ROUNDING = 1e-9, 1e-7
"""How far a margin may be from its condition; and how far at most where rounding blurs it by more."""
FAINTEST = 1e-6  # what Xw can reach at least, not to be lost beside b
DEPENDENT = 1e-10
"""Share of a free row's square that the free rows before it do not explain, from which on it is independent of them."""
INTERIOR_STEPS = 40

LOWER, UPPER, FREE, PARKED = 0, 1, 2, 3
"""States of a row: at a bound, in the factor, or within the bounds but on a margin that rows in the factor imply."""


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
    check_cost(C)
    laid = paths.layout(X, y, counts, sizes, columns, None, scale, tie_order)
    shared = laid.wide and scale == "full" and columns is None
    outcome = paths.empty_outcome(laid)
    _paths(*laid[:7], float(C), scale == "split", shared, int(max_iter), *outcome)
    return paths.collected("support vector", laid, outcome, max_iter)


class Fit(NamedTuple):
    """One fit: its rows, its columns, and the factor of its free rows."""

    room: Room
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
def _has_gram(fit):  # type: ignore[no-untyped-def]
    return fit.room.K.size > 0


@summing_step
def _set_squares(fit):  # type: ignore[no-untyped-def]
    fill(fit.square, 0.0)
    for i in range(fit.rows.size):
        if _has_gram(fit):
            fit.square[i] = fit.room.K[i, i]
        else:
            for place in fit.active:
                x = fit.Z.XT[fit.Z.column[place], fit.rows[i]]
                fit.square[i] += ((x - fit.Z.mean[place]) * fit.Z.factor[place]) ** 2


@summing_step
def _multiply(fit, v, out):  # type: ignore[no-untyped-def]
    """out = Kv."""
    if _has_gram(fit):
        times(fit.room.K, v, out, v.size)
    else:
        weigh(fit.room, fit.Z, fit.active.size, fit.rows, v)
        margins_of(fit.Z, fit.active, fit.room.w[: fit.active.size], 0.0, fit.margin)
        for i in range(v.size):
            out[i] = fit.margin[fit.rows[i]]


# The active set


@summing_step
def _append(fit, n_free, i, shift):  # type: ignore[no-untyped-def]
    """Write row i at the end of the factor; returns the share of its square that the rows before do not explain."""
    row = fit.L[n_free]
    if _has_gram(fit):
        for k in range(n_free):
            j = fit.free[k]
            row[k] = fit.room.K[max(i, j), min(i, j)] + shift
    else:
        own = fit.free_rows[n_free]
        for q in range(fit.active.size):
            place = fit.active[q]
            own[q] = (fit.Z.XT[fit.Z.column[place], fit.rows[i]] - fit.Z.mean[place]) * fit.Z.factor[place]
        for k in range(n_free):
            row[k] = shift
            for q in range(fit.active.size):
                row[k] += fit.free_rows[k, q] * own[q]
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
        if not _has_gram(fit):
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
    """Go as far as the first bound; returns the place of the row that met it, or −1."""
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
def _largest_margin(fit, v):  # type: ignore[no-untyped-def]
    """Bound on the margins Kv."""
    total, largest = 0.0, 0.0
    for i in range(fit.rows.size):
        total += np.sqrt(fit.square[i]) * abs(v[i])
        largest = max(largest, fit.square[i])
    return np.sqrt(largest) * total


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
def _active_set(fit, max_iter):  # type: ignore[no-untyped-def]
    """Solve from v and the states of its rows; returns b and whether it was solved."""
    shift = sum_of(fit.square) / fit.rows.size
    shift = shift if shift > 0 else 1.0
    n_free, b, reach = 0, 0.0, _largest_margin(fit, fit.upper)
    if 0 < reach < FAINTEST:
        return b, False
    tolerance = TOLERANCE * min(reach, 1.0) if reach > 0 else TOLERANCE  # 0: all columns are constant
    _multiply(fit, fit.v, fit.f)
    for _ in range(max_iter):
        n_free = n_free if n_free > 0 else _factor_free(fit, shift)
        if n_free > 0:
            b = _solve_free(fit, n_free)
            met = _take_step(fit, n_free)
            _multiply(fit, fit.v, fit.f)
            if met >= 0:
                n_free = _remove(fit, n_free, met)
                continue
            row, worst = _worst(fit, b)
        else:
            low, high, row = _interval(fit)
            b, worst = (low + high) / 2, low - high
            if abs(sum_of(fit.v)) > TOLERANCE * dot(fit.v, fit.y):  # Σ v = 0 needs a free row
                return b, False
        if worst <= max(tolerance, min(2e-15 * _largest_margin(fit, fit.v), ROUNDING)):
            return b, True
        if fit.state[row] != FREE:
            if n_free == fit.free.size:
                return b, False
            fit.state[row] = FREE
            _append(fit, n_free, row, shift)
            n_free += 1
    return b, False


# A start from the interior


@summing_step
def _solve_interior(fit, x, S):  # type: ignore[no-untyped-def]
    """Solve (K + S⁻²) x = x in place."""
    n = x.size
    if _has_gram(fit):
        for i in range(n):
            x[i] *= S[i]
        substitute(fit.room.L, x, n)
        for i in range(n):
            x[i] *= S[i]
        return
    for i in range(n):
        x[i] *= S[i] ** 2
    weigh(fit.room, fit.Z, fit.active.size, fit.rows, x)
    substitute(fit.room.L, fit.room.w, fit.active.size)
    margins_of(fit.Z, fit.active, fit.room.w, 0.0, fit.margin)
    for i in range(n):
        x[i] -= S[i] ** 2 * fit.margin[fit.rows[i]]


@summing_step
def _factor_interior(fit, S):  # type: ignore[no-untyped-def]
    """Factor for :func:`_solve_interior`."""
    if _has_gram(fit):
        return factorize_dual(fit.room.L, fit.room.K, S, S.size)
    fill(fit.margin, 0.0)
    for i in range(S.size):
        fit.margin[fit.rows[i]] = S[i]
    return factorize_primal(fit.room.L, fit.Z, fit.active, fit.margin, fit.room.R)


@summing_step
def _inside(distance, step, t):  # type: ignore[no-untyped-def]
    """Shorten the step t so that a distance keeps a hundredth of itself."""
    return min(t, -0.99 * distance / step) if step < 0 else t


@summing_step
def _interior(fit):  # type: ignore[no-untyped-def]
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
        _multiply(fit, fit.v, fit.f)
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


# Paths


@summing_step
def _solve(fit, first, max_iter):  # type: ignore[no-untyped-def]
    _set_squares(fit)
    if first:
        _interior(fit)
    b, solved = _active_set(fit, max_iter)
    if not solved and not first:
        _interior(fit)
        b, solved = _active_set(fit, max_iter)
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
