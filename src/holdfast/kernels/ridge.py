"""Ridge models of one output solved to their optimum, and recursive elimination with them, over many resamples.

With cost cᵢ = C · count, labels y and margins f = Zw + Ub, Newton's method minimizes Σ cᵢ log(1 + exp(−yᵢ fᵢ)) + ½‖w‖².
The columns of U have no penalty: an intercept, and the covariates that features are adjusted for. g and SᵀS are the
first and second derivative of the loss by the margins. There are two forms:

- in the dual variables a of the rows, w = Zᵀa and f = Ka + Ub on the Gram matrix K = ZZᵀ (:func:`_fit_dual`), if X has
  more features than rows, while more than half as many features as rows drawn are left. At the optimum a = −g and
  Uᵀa = 0. A step solves (I + SᵀSK) da + SᵀSU db = −(a + g), Uᵀ(a + da) = 0, by a Cholesky factor of I + SKSᵀ,
  bordered by U;
- in the weights w (:func:`_fit_primal`) after that, by a factor of I + ZᵀSᵀSZ.

There are three losses. Where ``numbers`` is not None it is half the squared difference. Where ``risk`` is not None it
is Cox's (:class:`~holdfast.kernels.cox.Risk`), with rows in the order of time and no column without a penalty; S is
then the product of a diagonal and what :func:`~holdfast.kernels.cox.transform` does. Else it is the logistic one. S is
diagonal but for Cox's. What a loss does not need is not even compiled.

Each fit starts where the optimum of the step before leads to (:func:`_follow`: the same equations, with the change of K
on the right); a factor is used again while it makes the residual fall to ``FACTOR_REUSE``. Steps are halved by the
slope of the objective at their end, which keeps its digits where differences of values have none.

A fit is solved if its residual is at most ``SOLVED``, or falls no further and is at most ``STALLED``, or whatever it is
for numbers, whose steps are exact but for rounding; else the path ends and the call raises.
:mod:`~holdfast.kernels.lockstep` does the same on batches: tolerances are in :mod:`~holdfast.kernels.tolerances` for
both, and ``test_lockstep.py`` compares their paths; ``test_ridge.py`` compares with scikit-learn and with the
optimality conditions.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.covariates import fit_covariates, orthonormal
from holdfast.kernels.cox import begin_risk, evaluate, factorize_turned, transform, transform_back, turn_gram
from holdfast.kernels.elimination import (
    Floats,
    Ints,
    Mask,
    Scale,
    Scaled,
    check_columns,
    check_costs,
    check_labels,
    check_n_forced,
    check_shrinkages,
    check_sizes,
    check_tie_ranks,
    on_scale_of_data,
    scale_data,
)
from holdfast.kernels.elimination_path import (
    Outcome,
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
from holdfast.kernels.libraries import DEVICE_BYTES, library
from holdfast.kernels.linear import (
    Columns,
    add,
    all_finite,
    dot,
    factorize,
    factorize_dual,
    factorize_primal,
    fill,
    margins_of,
    matrix,
    square,
    substitute,
    times,
    vector,
    weights_of,
)
from holdfast.kernels.lockstep import Models, lockstep_models, with_resamples
from holdfast.kernels.tolerances import DOUBLE, FACTOR_AFTER_DROP, FACTOR_REUSE, SHORTEST_STEP, STEEP

SLOPE_NOISE = DOUBLE.slope_noise


class Rows(NamedTuple):
    """Rows of a fit, and what Newton's method keeps for each."""

    y: NDArray[np.float64]
    cost: NDArray[np.float64]  # C · count
    f: NDArray[np.float64]  # margin
    df: NDArray[np.float64]  # its step
    g: NDArray[np.float64]  # first and second derivative of the loss
    curvature: NDArray[np.float64]
    S: NDArray[np.float64]  # root of the curvature where it was last factored


@summing_step
def allocate_rows(n):  # type: ignore[no-untyped-def]
    """Allocate n rows."""
    return Rows(vector(n), vector(n), vector(n), vector(n), vector(n), vector(n), vector(n))


class Free(NamedTuple):
    """Columns without a penalty, along the rows of U, their weights b, and what Newton's method keeps for each."""

    U: NDArray[np.float64]
    b: NDArray[np.float64]
    db: NDArray[np.float64]  # its step
    slope: NDArray[np.float64]  # Uᵀg
    cross: NDArray[np.float64]  # ZᵀS²U, in the weights
    border: NDArray[np.float64]  # (K + S⁻²)⁻¹U, or (I + ZᵀS²Z)⁻¹ cross
    corner: NDArray[np.float64]  # what is left of UᵀS²U by these, factored


@summing_step
def allocate_free(k, n, p):  # type: ignore[no-untyped-def]
    """Allocate k columns without a penalty, for n rows and p features; those of a single one are ones, an intercept."""
    free = Free(matrix(k, n), vector(k), vector(k), vector(k), matrix(k, p), matrix(k, max(n, p)), matrix(k, k))
    for j in range(k):
        fill(free.U[j], 1.0)
    fill(free.b, 0.0)
    return free


@summing_step
def _add_free(free, weights, out):  # type: ignore[no-untyped-def]
    """out = out + U weights."""
    for j in range(weights.size):
        add(out, weights[j], free.U[j])


@summing_step
def _set_slopes(free, g):  # type: ignore[no-untyped-def]
    for j in range(free.b.size):
        free.slope[j] = dot(free.U[j], g)


@summing_step
def _factor_corner(A):  # type: ignore[no-untyped-def]
    """Factor a small positive definite matrix in place, as LU without pivots."""
    for i in range(A.shape[0]):
        for j in range(i + 1, A.shape[0]):
            A[j, i] /= A[i, i]
            for c in range(i + 1, A.shape[0]):
                A[j, c] -= A[j, i] * A[i, c]


@summing_step
def _solve_corner(A, x):  # type: ignore[no-untyped-def]
    for i in range(x.size):
        for j in range(i):
            x[i] -= A[i, j] * x[j]
    for i in range(x.size - 1, -1, -1):
        for j in range(i + 1, x.size):
            x[i] -= A[i, j] * x[j]
        x[i] /= A[i, i]


@summing_step
def begin_rows(work, y, counts, rows, C):  # type: ignore[no-untyped-def]
    """Rows of a path that begins at nothing."""
    n = rows.size
    r = Rows(
        work.y[:n], work.cost[:n], work.f[:n], work.df[:n], work.g[:n], work.curvature[:n], work.S[:n]
    )  # fmt: skip
    for i in range(n):
        r.y[i], r.cost[i] = y[rows[i]], C * counts[rows[i]]
        r.f[i] = r.df[i] = r.g[i] = r.curvature[i] = r.S[i] = 0.0
    return r


@summing_step
def differentiate(r, t, numbers, risk):  # type: ignore[no-untyped-def]
    """Set the derivatives at f + t df; returns Σ g df and Σ |g df|."""
    slope, size = 0.0, 0.0
    if risk is not None:
        for i in range(r.y.size):
            risk.trial[i] = r.f[i] + t * r.df[i]
        slope = 0.0 if np.isfinite(_cox_loss(r, risk)) else np.inf
    for i in range(r.y.size):
        if risk is not None:
            r.g[i] = -r.g[i]
        elif numbers is not None:
            r.g[i] = r.cost[i] * (r.f[i] + t * r.df[i] - r.y[i])
            r.curvature[i] = r.cost[i]
        else:
            margin = r.y[i] * (r.f[i] + t * r.df[i])
            e = np.exp(-abs(margin))
            p_wrong = (e if margin > 0 else 1.0) / (1 + e)
            r.g[i] = -r.y[i] * r.cost[i] * p_wrong
            r.curvature[i] = r.cost[i] * p_wrong * (1 - p_wrong)
        slope += r.g[i] * r.df[i]
        size += abs(r.g[i] * r.df[i])
    return slope, size


@summing_step
def _cox_loss(r, risk):  # type: ignore[no-untyped-def]
    """Cox's loss at ``risk.trial``; minus its slope is in g then."""
    return evaluate(
        r.y.size, risk.trial, r.cost, risk.events, risk.deaths, risk.flags, r.g, r.curvature, risk.gain
    )  # fmt: skip


@summing_step
def step_length(r, slope, straight, curved, numbers, risk):  # type: ignore[no-untyped-def]
    """Halve the step until the objective hardly rises at its end; returns it.

    ``slope`` is that of the objective at the start, ``straight + t curved`` that of the penalty at t. The objective is
    convex: its slope is enough, and keeps its digits where differences of values have none left.
    """
    t = 1.0
    while True:
        loss_slope, size = differentiate(r, t, numbers, risk)
        if loss_slope + straight + t * curved <= -STEEP * slope + SLOPE_NOISE * size or t <= SHORTEST_STEP:
            return t
        t *= 0.5


@summing_step
def starts_badly(r, penalty, numbers, risk):  # type: ignore[no-untyped-def]
    """Whether the objective at the margins f exceeds that of no model at all."""
    excess = penalty
    if risk is not None:
        fill(risk.trial, 0.0)
        excess -= _cox_loss(r, risk)
        add(risk.trial, 1.0, r.f)
        return not excess + _cox_loss(r, risk) <= 0
    for i in range(r.y.size):
        if numbers is not None:
            excess += 0.5 * r.cost[i] * r.f[i] * (r.f[i] - 2 * r.y[i])
        else:
            margin = r.y[i] * r.f[i]
            excess += r.cost[i] * (np.log1p(np.exp(-abs(margin))) - min(margin, 0.0) - np.log(2.0))
    return not excess <= 0


SOLVED, STALLED, BLURRED, ROUNDING, _, LEAST_CURVATURE, _ = DOUBLE  # plain numbers, as numba takes them


def run_paths(  # type: ignore[no-untyped-def]
    XT, y, counts, free, n_free, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C, shrinkage,
    split, shared, max_iter, outcome, numbers=None, survival=None,
):  # fmt: skip
    """Call :func:`_follow_paths` with arrays and numbers of one type each: another would be another compilation."""
    arrays = (
        XT, y, counts, free, n_free, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C,
        shrinkage,
    )  # fmt: skip
    taken = (frozen(array, array.dtype) for array in arrays)
    _follow_paths(*taken, bool(split), bool(shared), int(max_iter), numbers, survival, *outcome)


# In the dual variables


class Dual(NamedTuple):
    """Dual variables of the rows, and their step."""

    a: NDArray[np.float64]
    da: NDArray[np.float64]


@summing_step
def _factor_dual(K, L, r, free, risk):  # type: ignore[no-untyped-def]
    n = r.y.size
    for i in range(n):
        r.S[i] = np.sqrt(r.curvature[i] + LEAST_CURVATURE * r.cost[i])
    if risk is not None:
        turn_gram(K, r.S, risk, L)
        solved = factorize(L, n)
    else:
        solved = factorize_dual(L, K, r.S, n)
    for j in range(free.b.size):
        border = free.border[j][:n]
        for i in range(n):
            border[i] = r.S[i] * free.U[j, i]
        substitute(L, border, n)
        for i in range(n):
            border[i] *= r.S[i]
        for k in range(j + 1):
            free.corner[j, k] = free.corner[k, j] = dot(free.U[k], border)
    _factor_corner(free.corner)
    return solved


@summing_step
def _bordered_step(L, r, v, free, risk):  # type: ignore[no-untyped-def]
    """Solve (I + SᵀSK) da + SᵀSU db = Sᵀ da, with the given da on the right, and Uᵀ(a + da) = 0."""
    n = r.y.size
    substitute(L, v.da, n)
    if risk is not None:
        transform_back(n, risk.held, r.S, v.da)
    else:
        for i in range(n):
            v.da[i] *= r.S[i]
    for j in range(free.b.size):
        free.db[j] = dot(free.U[j], v.da) + dot(free.U[j], v.a)
    _solve_corner(free.corner, free.db)
    for j in range(free.b.size):
        add(v.da, -free.db[j], free.border[j])


@summing_step
def _newton_step(K, L, r, v, free, risk):  # type: ignore[no-untyped-def]
    """Set the step to where the loss's slope would be −a if it were straight."""
    n = r.y.size
    if risk is not None:  # no S⁻¹: da = −(a + g) + SᵀL⁻ᵀL⁻¹SK(a + g)
        for i in range(n):
            risk.trial[i] = v.a[i] + r.g[i]
        times(K, risk.trial, v.da, n)
        transform(n, v.da, risk.held, r.S, v.da)
        _bordered_step(L, r, v, free, risk)
        add(v.da, -1.0, risk.trial)
    else:
        for i in range(n):
            v.da[i] = -(v.a[i] + r.g[i]) / r.S[i]
        _bordered_step(L, r, v, free, risk)


@summing_step
def _follow(K, L, r, v, free, risk):  # type: ignore[no-untyped-def]
    """Move the optimum of another K to where that of this one is to first order.

    The curvature is taken at the old margins: the new optimum's are closer to them than those of a with this K.
    """
    times(K, v.a, r.df, r.y.size)
    _add_free(free, free.b, r.df)
    for i in range(r.y.size):
        v.da[i] = (r.f[i] - r.df[i]) * (r.S[i] if risk is None else 1.0)
    if risk is not None:
        transform(r.y.size, v.da, risk.held, r.S, v.da)
    _bordered_step(L, r, v, free, risk)
    add(v.a, 1.0, v.da)
    add(free.b, 1.0, free.db)


@summing_step
def _dual_residual(r, v, free):  # type: ignore[no-untyped-def]
    """Largest |a + g| (or mean of Uᵀa), relative to the largest |g|."""
    residual, scale = 0.0, 0.0
    for j in range(free.b.size):
        residual = max(residual, abs(dot(free.U[j], v.a)) / r.y.size)
    for i in range(r.y.size):
        residual = max(residual, abs(v.a[i] + r.g[i]))
        scale = max(scale, abs(r.g[i]))
    return residual / scale if residual > 0 else 0.0


@summing_step
def _is_sharp(K, a):  # type: ignore[no-untyped-def]
    """Whether rounding leaves the margins Ka alone; large terms that cancel do not show in the residual."""
    total, largest = 0.0, 0.0
    for i in range(a.size):
        total += np.sqrt(K[i, i]) * abs(a[i])
        largest = max(largest, K[i, i])
    return ROUNDING * np.sqrt(largest) * total < BLURRED


@summing_step
def _fit_dual(K, L, r, v, free, after_another, factored, max_iter, numbers, risk):  # type: ignore[no-untyped-def]
    """Solve from the a of v and b; returns whether it was solved."""
    n = r.y.size
    if after_another:
        factored = factored or _factor_dual(K, L, r, free, risk)
        _follow(K, L, r, v, free, risk)
    times(K, v.a, r.f, n)
    penalty = 0.5 * dot(v.a, r.f)
    _add_free(free, free.b, r.f)
    if after_another and starts_badly(r, penalty, numbers, risk):
        factored = False
        fill(free.b, 0.0)
        fill(v.a, 0.0)
        fill(r.f, 0.0)
    fill(r.df, 0.0)
    differentiate(r, 0.0, numbers, risk)
    residual, before = _dual_residual(r, v, free), np.inf
    for _ in range(max_iter):
        if residual <= SOLVED:
            return numbers is not None or _is_sharp(K, v.a)
        fresh = not factored or residual > FACTOR_REUSE * before
        factored = not fresh or _factor_dual(K, L, r, free, risk)
        _newton_step(K, L, r, v, free, risk)
        times(K, v.da, r.df, n)
        straight, curved = dot(r.df, v.a), dot(r.df, v.da)
        _set_slopes(free, r.g)
        slope = straight + dot(r.df, r.g) + dot(free.db, free.slope)
        if slope >= 0 and not fresh:  # the factor of another K may point uphill
            factored = False
            continue
        _add_free(free, free.db, r.df)
        t = step_length(r, slope, straight, curved, numbers, risk)
        add(v.a, t, v.da)
        add(r.f, t, r.df)
        add(free.b, t, free.db)
        residual, before = _dual_residual(r, v, free), residual
        if fresh and 0.5 * before < residual and (numbers is not None or residual <= STALLED):
            return numbers is not None or _is_sharp(K, v.a)
    return False


# In the weights


class Primal(NamedTuple):
    """Weights of the active columns, their step, and the gradient."""

    w: NDArray[np.float64]
    dw: NDArray[np.float64]
    gradient: NDArray[np.float64]


@summing_step
def _primal_residual(Z, active, norm, r, v, free):  # type: ignore[no-untyped-def]
    """Set the gradient w + Zᵀg; returns its largest entry relative to the norms of its column and of g."""
    weights_of(Z, active, r.g, v.gradient)
    _set_slopes(free, r.g)
    residual = 0.0
    for j in range(free.b.size):
        residual = max(residual, abs(free.slope[j]) / np.sqrt(dot(free.U[j], free.U[j])))
    for q in range(active.size):
        v.gradient[q] += v.w[q]
        reach = norm[Z.column[active[q]]] * Z.factor[active[q]]
        if reach > 0:
            residual = max(residual, abs(v.gradient[q]) / reach)
    return residual / np.sqrt(dot(r.g, r.g)) if residual > 0 else 0.0


@summing_step
def _factor_primal(Z, active, L, R, r, free, risk):  # type: ignore[no-untyped-def]
    """Factor at the derivatives of r, whose df is overwritten."""
    p = active.size
    for i in range(r.y.size):
        r.S[i] = np.sqrt(r.curvature[i])
    if risk is not None:
        solved = factorize_turned(L, Z, active, r.S, risk.gain, R)
    else:
        solved = factorize_primal(L, Z, active, r.S, R)
    for j in range(free.b.size):
        cross, border = free.cross[j][:p], free.border[j][:p]
        for i in range(r.y.size):
            r.df[i] = r.curvature[i] * free.U[j, i]
        weights_of(Z, active, r.df, cross)
        fill(border, 0.0)
        add(border, 1.0, cross)
        substitute(L, border, p)
        for k in range(j + 1):
            free.corner[j, k] = free.corner[k, j] = dot(r.df, free.U[k]) - dot(free.cross[k][:p], border)
    _factor_corner(free.corner)
    return solved


@summing_step
def _fit_primal(Z, active, norm, L, R, r, v, free, max_iter, numbers, risk):  # type: ignore[no-untyped-def]
    """Solve from the w of v and b; returns whether it was solved."""
    p = active.size
    margins_of(Z, active, v.w, 0.0, r.f)
    _add_free(free, free.b, r.f)
    if starts_badly(r, 0.5 * dot(v.w, v.w), numbers, risk):
        fill(free.b, 0.0)
        fill(v.w, 0.0)
        fill(r.f, 0.0)
    fill(r.df, 0.0)
    differentiate(r, 0.0, numbers, risk)
    residual, before = _primal_residual(Z, active, norm, r, v, free), np.inf
    factored = False
    for _ in range(max_iter):
        if residual <= SOLVED:
            return True
        fresh = not factored or residual > FACTOR_REUSE * before
        factored = not fresh or _factor_primal(Z, active, L, R, r, free, risk)
        fill(v.dw, 0.0)
        add(v.dw, -1.0, v.gradient)
        substitute(L, v.dw, p)
        for j in range(free.b.size):
            free.db[j] = -(free.slope[j] + dot(free.cross[j][:p], v.dw))
        _solve_corner(free.corner, free.db)
        for j in range(free.b.size):
            add(v.dw, -free.db[j], free.border[j])
        margins_of(Z, active, v.dw, 0.0, r.df)
        _add_free(free, free.db, r.df)
        slope = dot(v.dw, v.gradient) + dot(free.db, free.slope)
        t = step_length(r, slope, dot(v.dw, v.w), dot(v.dw, v.dw), numbers, risk)
        add(v.w, t, v.dw)
        add(r.f, t, r.df)
        add(free.b, t, free.db)
        residual, before = _primal_residual(Z, active, norm, r, v, free), residual
        if fresh and 0.5 * before < residual and (numbers is not None or residual <= STALLED):
            return True
    return False


# Paths


@summing_step
def _norms(XT):  # type: ignore[no-untyped-def]
    norm = vector(XT.shape[0])
    for j in range(norm.size):
        norm[j] = np.sqrt(dot(XT[j], XT[j]))
    return norm


@summing_kernel
def _follow_paths(  # type: ignore[no-untyped-def]
    XT, y, counts, free, n_free, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C, shrinkage,
    split, shared, max_iter, numbers, survival, smallest_size, weight, coef, intercepts, unsolved,
):  # fmt: skip
    """Take every path down its sizes; paths of one resample stand together, and share what they start from.

    A path has its resample, its row of ``forced`` and of ``sizes`` (0 after the last), its C and its shrinkage. Columns
    are the same for all paths, or differ by path; then nothing is shared. The first ``n_free`` columns of ``free`` are
    without a penalty, an intercept first; they are the same for all resamples, or differ by resample. ``numbers`` and
    ``survival`` choose the loss; the latter is what :func:`~holdfast.kernels.cox.begin_risk` takes.
    """
    n, p = y.size, columns.shape[1]
    wide = XT.shape[0] > n
    mean, factor, norm = vector(p), vector(p), _norms(XT)
    fill(mean, 0.0)
    fill(factor, 1.0)
    work = make_workspace(Columns(XT, columns[0], mean, factor), n, wide, shared)
    start, scale, everything = square(n if wide else 0), vector(p), np.arange(n)
    drawn_rows_work, all_rows_work = allocate_rows(n), allocate_rows(n)
    dual_work, primal_work = (vector(n), vector(n)), (vector(p), vector(p))
    for q in range(resample.size):
        m = resample[q]
        Z = Columns(XT, columns[min(q, len(columns) - 1)], mean, factor)
        held, ranks = forced[which_forced[q]], tie_ranks[min(m, len(tie_ranks) - 1)]
        rows = np.flatnonzero(counts[m])
        in_dual, of_resample = wide and 2 * p > rows.size, min(m, len(free) - 1)
        if q == 0 or len(columns) > 1 or resample[q - 1] != m:
            n_others = n_free[of_resample] if split else 0
            begin_resample(work, Z, counts[m], rows, split, free[of_resample][:n_others], in_dual, start, scale)
        begin_path(work, Z, held, shrinkage[q], scale)
        if in_dual:
            start_gram(work, Z, rows, held, shrinkage[q], start)
        drawn_rows = begin_rows(drawn_rows_work, y, counts[m], rows, C[q])
        all_rows = begin_rows(all_rows_work, y, counts[m], everything, C[q])
        dual = Dual(dual_work[0][: rows.size], dual_work[1][: rows.size])
        fill(dual.a, 0.0)
        drawn_risk, all_risk = begin_risk(survival, drawn_rows, rows), begin_risk(survival, all_rows, everything)
        on_all = allocate_free(n_free[of_resample], n, p)
        on_drawn = Free(
            matrix(on_all.b.size, rows.size), on_all.b, on_all.db, on_all.slope, on_all.cross, on_all.border,
            on_all.corner,
        )  # fmt: skip
        for j in range(on_all.b.size):
            for i in range(n):
                on_all.U[j, i] = free[of_resample, j, i]
            for i in range(rows.size):
                on_drawn.U[j, i] = free[of_resample, j, rows[i]]
        path_sizes = sizes[which_sizes[q]]
        for step in range(path_sizes.size):
            size, before = path_sizes[step], path_sizes[max(step - 1, 0)]
            if size == 0:
                break
            active = work.active[:size]
            if in_dual:
                slight = 0 < before - size <= FACTOR_AFTER_DROP * before
                solved = _fit_dual(
                    work.K, work.L, drawn_rows, dual, on_drawn, step > 0, slight, max_iter, numbers, drawn_risk
                )  # fmt: skip
                weigh(work, Z, size, rows, dual.a)
            else:
                primal = Primal(work.w[:size], primal_work[0][:size], primal_work[1][:size])
                solved = _fit_primal(
                    Z, active, norm, work.L, work.R, all_rows, primal, on_all, max_iter, numbers, all_risk
                )  # fmt: skip
            if not (solved and all_finite(work.w, size)):
                unsolved[q] = size
                break
            record(work, size, held, shrinkage[q], smallest_size[q], weight[q])
            after = path_sizes[step + 1] if step + 1 < path_sizes.size else 0
            if after > 0:
                cut(work, Z, size, after, held, ranks)
                in_dual = in_dual and 2 * after > rows.size
                if in_dual:
                    next_gram(work, Z, rows, after, size - after)
            else:
                b = on_all.b[0] if on_all.b.size else 0.0
                intercepts[q] = finish(work, Z, size, b, coef[q])


MAX_ITER = 1000
"""Maximum number of Newton steps of a fit."""


class Eliminations(NamedTuple):
    """Eliminations of M resamples under G settings; as in :class:`~holdfast.kernels.elimination.Paths`."""

    smallest_size: NDArray[np.int32]  # M × G × d
    weight: Floats  # M × G × d
    unsolved: Ints  # M × G: number of features of the fit that did not converge, or 0


def ridge_eliminations(
    data: Scaled,
    y: ArrayLike,
    counts: ArrayLike,
    sizes: Sequence[Ints],
    *,
    C: ArrayLike,
    shrinkage: ArrayLike = 1.0,
    forced: Mask | None = None,
    which_forced: ArrayLike | None = None,
    intercept: bool = True,
    tie_ranks: ArrayLike | None = None,
    covariates: Floats | None = None,
    run: Callable[..., None] | None = None,
) -> Eliminations:
    r"""Fit, drop the features of least weight, fit again: down the sizes of each setting, for every resample.

    Each fit is the :math:`w, b` of least

    .. math:: C \sum_i c_i \log(1 + e^{-y_i f_i}) + \frac12 \sum_j \beta_j^2 w_j^2, \qquad f = Xw + Ub

    with :math:`\beta_j = 1`, or the ``shrinkage`` for forced features; in U are an intercept and the covariates. No
    path raises, ``unsolved`` records it.

    Parameters
    ----------
    data
        The scaled columns.
    y, counts
        Labels −1 and 1; resamples × rows: how often each row was drawn, whole or not.
    sizes
        For each setting, the sizes to pass, from all features down, as :func:`elimination_sizes` makes them.
    C, shrinkage
        Weight of the loss, and factor of the forced features' weights in the penalty, in (0, 1]: for all settings, or
        for each.
    forced, which_forced
        Sets × resamples × features: which may not fall; and the set of each setting. None are forced if not given.
    intercept
        Whether the model has one; it is never penalized.
    tie_ranks
        Tie-break rank of each feature, for all or each of the resamples; the lowest column is first if not given.
    covariates
        Rows × columns without a penalty, next to an intercept. Columns that each resample standardizes are scaled by
        what these leave of them; rows whose class these predict without error have no say. For two classes, or
        numbers.
    run
        Follows paths with another loss (:mod:`~holdfast.kernels.ridge_targets`), whose targets ``y`` are then.
    """
    (n, d), G = data.shape, len(sizes)
    if run is None:
        run, (y, counts) = run_paths, check_labels((n, d), y, counts)
    else:
        y, counts = np.asarray(y), np.asarray(counts, dtype=np.float64)
    M = len(counts)
    passed = np.zeros((G, max(map(len, sizes))), np.int64)
    for setting_sizes, work in zip(sizes, passed, strict=True):
        work[: len(setting_sizes)] = check_sizes(setting_sizes, d)
    if forced is None:
        held, which_rows = np.zeros((1, d), bool), np.zeros((M, G), np.int64)
    else:
        which = np.asarray(which_forced, dtype=np.int64)
        for setting_sizes, which_set in zip(sizes, which, strict=True):
            check_n_forced(forced[which_set], int(setting_sizes[-1]))
        held, which_rows = forced.reshape(-1, d), which * M + np.arange(M)[:, None]
    paths = Eliminations(np.empty((M, G, d), np.int32), np.empty((M, G, d)), np.zeros((M, G), np.int64))
    coef, b = np.empty((M * G, max(int(down[-1]) for down in sizes))), np.empty(M * G)
    outcome = Outcome(
        paths.smallest_size.reshape(-1, d), paths.weight.reshape(-1, d), coef, b, paths.unsolved.reshape(-1)
    )
    costs, factors = (
        np.tile(np.broadcast_to(values, G), M) for values in (check_costs(C), check_shrinkages(shrinkage))
    )
    counts, *free = unpenalized(y, counts, intercept, covariates, classes=run is run_paths)
    run(
        data.XT, y, counts, *free, np.repeat(np.arange(M), G), np.arange(d)[None], held, which_rows.ravel(), passed,
        np.tile(np.arange(G), M), check_tie_ranks(tie_ranks, d, M), costs, factors, data.split,
        data.wide and not data.split, MAX_ITER, outcome,
    )  # fmt: skip
    return paths


def unpenalized(
    y: Floats, counts: Floats, intercept: bool, covariates: Floats | None = None, classes: bool = True
) -> tuple[Floats, Floats, Ints]:
    """How often rows count, the columns without a penalty (1 or M × columns × rows), and how many these are.

    Rows whose class covariates predict without error do not count.
    """
    if covariates is None:
        return counts, np.ones((1, int(intercept), y.size)), np.array([int(intercept)])
    counts, sizes = counts.copy(), np.zeros(len(counts), np.int64)
    free = np.ones((len(counts), covariates.shape[1] + 1, y.size))
    for resample, row in enumerate(counts):
        rows = np.flatnonzero(row)
        basis, weights = orthonormal(covariates[rows], row[rows]), row[rows]
        if classes:
            basis, _, weights = fit_covariates(covariates[rows], y[rows], row[rows] / row.sum(), resample)
        sizes[resample] = 1 + basis.shape[1]
        free[resample, 1 : sizes[resample]] = 0.0
        free[resample, 1 : sizes[resample], rows[weights > 0]] = basis[weights > 0]
        row[rows[weights == 0]] = 0.0
    return counts, free, sizes


def ridge_models(
    data: Scaled,
    y: ArrayLike,
    counts: ArrayLike,
    resamples: ArrayLike,
    columns: ArrayLike,
    C: ArrayLike,
    *,
    intercept: bool = True,
) -> Models:
    """Fit Q models on k columns each: each on its resample, its columns (Q × k, ascending) and with its C."""
    y, counts = check_labels(data.shape, y, counts)
    which = np.asarray(resamples, dtype=np.int64)
    Q, costs = which.size, check_costs(C)
    chosen = check_columns(columns, data.shape[1], Q)
    k = chosen.shape[1]
    outcome = Outcome(
        np.empty((Q, k), np.int32), np.empty((Q, k)), np.empty((Q, k)), np.empty(Q), np.zeros(Q, np.int64)
    )
    first = np.zeros(Q, np.int64)
    run_paths(
        data.XT, y, *unpenalized(y, counts, intercept), which, chosen, np.zeros((1, k), bool), first,
        np.full((1, 1), k), first, np.zeros((1, k), np.int32), np.broadcast_to(costs, Q), np.ones(Q), data.split,
        False, MAX_ITER, outcome,
    )  # fmt: skip
    coef, intercepts = on_scale_of_data(outcome.coef, outcome.intercept, data.shift[chosen], data.unit[chosen])
    return Models(coef, intercepts, outcome.unsolved > 0)


def fit_ridge_logistic(
    X: ArrayLike | Scaled,
    y: ArrayLike,
    counts: ArrayLike,
    resamples: Sequence[int],
    columns: Sequence[NDArray[Any]],
    C: ArrayLike,
    *,
    intercept: bool = True,
    scale: Scale = "full",
    device: str = "cpu",
) -> list[tuple[Floats, float]]:
    """Fit logistic regression on given columns: each model on its resample, its columns and with its C.

    Parameters
    ----------
    X, y, counts
        Rows × features, or data that :func:`~holdfast.kernels.elimination.scale_data` scaled; labels −1 and 1;
        resamples × rows, how often each row counts.
    resamples, columns, C
        Of each model; C may be one for all. Columns ascend; there is at least one.
    intercept
        Whether models have one; it is not penalized.
    scale
        ``"split"`` standardizes columns by each resample, ``"full"`` takes them as they are.
    device
        ``"cpu"`` for compiled fits, one by one; ``"cuda"`` or ``"torch"`` for all at once by torch.

    Returns
    -------
    list of tuple
        Coefficients and intercept of each model, in terms of X; ``nan`` if its fit did not converge.
    """
    data = X if isinstance(X, Scaled) else scale_data(X, scale)
    costs, fits = np.broadcast_to(check_costs(C), len(columns)), dict[int, tuple[Floats, float]]()
    for size in {model_columns.size for model_columns in columns}:
        group = [model for model, model_columns in enumerate(columns) if model_columns.size == size]
        sets, model_columns = np.array([columns[model] for model in group]), [resamples[model] for model in group]
        if device == "cpu":
            models = ridge_models(data, y, counts, model_columns, sets, costs[group], intercept=intercept)
        else:
            lib = library("torch", "cuda" if device == "cuda" else "cpu", "float64", DEVICE_BYTES[device])
            models = lockstep_models(lib, with_resamples(data, y, counts), model_columns, sets, costs[group], intercept)
        models.coef[models.unsolved], models.intercept[models.unsolved] = np.nan, np.nan
        fits |= zip(group, zip(models.coef, models.intercept.tolist(), strict=True), strict=True)
    return [fits[model] for model in range(len(columns))]
