"""The dual of a linear support vector machine solved exactly: an active-set method on the rows.

A row i is in one of four states (:data:`~holdfast.kernels.svm_fit.LOWER` …): aᵢ = 0, aᵢ = C·count, *free* (strictly
between, in the factor), or *parked* (between, but a combination of free rows). Per step, with F the free rows:

1. :func:`_solve_free` solves K_FF dv + b = y − f on F with Σ (v + dv) = 0, by the Cholesky factor L of K_FF + shift;
   the shift (the mean of K's diagonal) adds a multiple of (Σ v)² = 0 to the objective and raises the rank by one.
2. :func:`_take_step` goes there, or as far as the first bound; the row that met it leaves L by rotations
   (:func:`_remove`).
3. Else the row that violates its condition most (:func:`_worst`) enters L as its last line (:func:`_append`); if none
   does by more than the tolerance, the fit is solved. With no free row, b may be anything between two margins
   (:func:`_interval`).

Invariants: ``free[:n_free]`` are the rows of L in order; L is lower triangular with an *inverted* diagonal; f = Kv
after every step. ``tests/test_svm.py`` compares with libsvm and with the optimality conditions.
"""

import numpy as np

from holdfast.kernels.jit import summing_step
from holdfast.kernels.linear import dot, substitute, sum_of
from holdfast.kernels.svm_fit import FREE, LOWER, PARKED, UPPER, has_gram, largest_margin, multiply

SOLVED, STALLED = 1e-9, 1e-7
"""How far a margin may be from its condition; and how far at most where rounding blurs it by more."""
FAINTEST = 1e-6  # what Xw can reach at least, not to be lost beside b
DEPENDENT = 1e-10
"""Share of a free row's square that the free rows before it do not explain, from which on it is independent of them."""


@summing_step
def _append(fit, n_free, i, shift):  # type: ignore[no-untyped-def]
    """Write row i at the end of the factor; returns the share of its square that the rows before do not explain."""
    row = fit.L[n_free]
    if has_gram(fit):
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
