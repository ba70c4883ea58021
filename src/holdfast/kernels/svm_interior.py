"""A start for the active-set method of a linear support vector machine, from an interior-point method.

The dual in v = y·a, with multipliers s of a ≥ 0 and u of a ≤ C·count. Newton steps on the conditions

    Kv + b = y (1 + s − u),   a·s = μ,   (C·count − a)·u = μ,   Σ v = 0

with μ a tenth of the mean product, each shortened so that all of a, C·count − a, s and u stay positive. About ten steps
tell nearly every row's state; the active set makes the result exact, so nothing here decides about precision.
"""

import numpy as np

from holdfast.kernels.elimination import weigh
from holdfast.kernels.jit import summing_step
from holdfast.kernels.linear import add, dot, factorize_dual, factorize_primal, fill, margins_of, substitute, sum_of
from holdfast.kernels.svm_fit import FREE, LOWER, UPPER, has_gram, multiply

INTERIOR_STEPS = 40


@summing_step
def _solve_interior(fit, x, S):  # type: ignore[no-untyped-def]
    """Solve (K + S⁻²) x = x in place."""
    n = x.size
    if has_gram(fit):
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
    if has_gram(fit):
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
