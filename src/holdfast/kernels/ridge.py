"""Ridge-logistic regression solved to its optimum, and recursive elimination with it, over many resamples.

With cost cᵢ = C · count, labels y and margins f = Zw + b, Newton's method minimizes Σ cᵢ log(1 + exp(−yᵢ fᵢ)) + ½‖w‖².
g and S² are the first and second derivative of the loss by the margins, row by row. There are two forms:

- in the dual variables a of the rows, w = Zᵀa and f = Ka + b on the Gram matrix K = ZZᵀ (:func:`_fit_dual`), if X has
  more features than rows, while more than half as many features as rows drawn are left. At the optimum a = −g and
  Σ a = 0. A step solves (K + S⁻²) da + db = −S⁻²(a + g), Σ (a + da) = 0, by a Cholesky factor of I + SKS;
- in the weights w (:func:`_fit_primal`) after that, by a factor of I + ZᵀS²Z.

Each fit starts where the optimum of the step before leads to (:func:`_follow`: the same equations, with the change of K
on the right); a factor is used again while it makes the residual fall to ``FACTOR_REUSE``. Steps are halved by the
slope of the objective at their end, which keeps its digits where differences of values have none.

A fit is solved if its residual is at most ``SOLVED``, or falls no further and is at most ``STALLED``; else the path
ends and the call raises. :mod:`~holdfast.kernels.lockstep` does the same on batches: tolerances are in
:mod:`~holdfast.kernels.tolerances` for both, and ``test_lockstep.py`` compares their paths;
``test_ridge.py`` compares with scikit-learn and with the optimality conditions.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    factorize_dual,
    factorize_primal,
    fill,
    margins_of,
    square,
    substitute,
    sum_of,
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
def differentiate(r, t):  # type: ignore[no-untyped-def]
    """Set the derivatives at f + t df; returns Σ g, Σ g df and Σ |g df|."""
    total, slope, size = 0.0, 0.0, 0.0
    for i in range(r.y.size):
        margin = r.y[i] * (r.f[i] + t * r.df[i])
        e = np.exp(-abs(margin))
        p_wrong = (e if margin > 0 else 1.0) / (1 + e)
        r.g[i] = -r.y[i] * r.cost[i] * p_wrong
        r.curvature[i] = r.cost[i] * p_wrong * (1 - p_wrong)
        total += r.g[i]
        slope += r.g[i] * r.df[i]
        size += abs(r.g[i] * r.df[i])
    return total, slope, size


@summing_step
def step_length(r, slope, straight, curved):  # type: ignore[no-untyped-def]
    """Halve the step until the objective hardly rises at its end; returns it, and Σ g there.

    ``slope`` is that of the objective at the start, ``straight + t curved`` that of the penalty at t. The objective is
    convex: its slope is enough, and keeps its digits where differences of values have none left.
    """
    t = 1.0
    while True:
        total, loss_slope, size = differentiate(r, t)
        if loss_slope + straight + t * curved <= -STEEP * slope + SLOPE_NOISE * size or t <= SHORTEST_STEP:
            return t, total
        t *= 0.5


@summing_step
def starts_badly(r, penalty):  # type: ignore[no-untyped-def]
    """Whether the objective at the margins f exceeds that of no model at all."""
    excess = penalty
    for i in range(r.y.size):
        margin = r.y[i] * r.f[i]
        excess += r.cost[i] * (np.log1p(np.exp(-abs(margin))) - min(margin, 0.0) - np.log(2.0))
    return not excess <= 0


SOLVED, STALLED, BLURRED, ROUNDING, _, LEAST_CURVATURE, _ = DOUBLE  # plain numbers, as numba takes them


def run_paths(  # type: ignore[no-untyped-def]
    XT, y, counts, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C, shrinkage,
    intercept, split, shared, max_iter, outcome,
):  # fmt: skip
    """Call :func:`_follow_paths` with arrays and numbers of one type each: another would be another compilation."""
    arrays = XT, y, counts, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C, shrinkage
    taken = (frozen(array, array.dtype) for array in arrays)
    _follow_paths(*taken, bool(intercept), bool(split), bool(shared), int(max_iter), *outcome)


# In the dual variables


class Dual(NamedTuple):
    """Dual variables of the rows, their step, and the border (K + S⁻²)⁻¹1."""

    a: NDArray[np.float64]
    da: NDArray[np.float64]
    border: NDArray[np.float64]


@summing_step
def _factor_dual(K, L, r, v):  # type: ignore[no-untyped-def]
    n = r.y.size
    for i in range(n):
        r.S[i] = v.border[i] = np.sqrt(r.curvature[i] + LEAST_CURVATURE * r.cost[i])
    solved = factorize_dual(L, K, r.S, n)
    substitute(L, v.border, n)
    for i in range(n):
        v.border[i] *= r.S[i]
    return solved


@summing_step
def _bordered_step(L, r, v, intercept):  # type: ignore[no-untyped-def]
    """Solve (K + S⁻²) da + db = S⁻¹ da, with the given da on the right, and Σ (a + da) = 0; returns db."""
    n = r.y.size
    substitute(L, v.da, n)
    for i in range(n):
        v.da[i] *= r.S[i]
    if not intercept:
        return 0.0
    db = (sum_of(v.da) + sum_of(v.a)) / sum_of(v.border)
    add(v.da, -db, v.border)
    return db


@summing_step
def _follow(K, L, r, v, b, intercept):  # type: ignore[no-untyped-def]
    """Move the optimum of another K to where that of this one is to first order; returns b.

    The curvature is taken at the old margins: the new optimum's are closer to them than those of a with this K.
    """
    n = r.y.size
    times(K, v.a, r.df, n)
    for i in range(n):
        v.da[i] = (r.f[i] - r.df[i] - b) * r.S[i]
    db = _bordered_step(L, r, v, intercept)
    add(v.a, 1.0, v.da)
    return b + db


@summing_step
def _dual_residual(r, v, intercept):  # type: ignore[no-untyped-def]
    """Largest |a + g| (or mean of a), relative to the largest |g|."""
    residual, scale = abs(sum_of(v.a)) / r.y.size if intercept else 0.0, 0.0
    for i in range(r.y.size):
        residual = max(residual, abs(v.a[i] + r.g[i]))
        scale = max(scale, abs(r.g[i]))
    return residual / scale


@summing_step
def _is_sharp(K, a):  # type: ignore[no-untyped-def]
    """Whether rounding leaves the margins Ka alone; large terms that cancel do not show in the residual."""
    total, largest = 0.0, 0.0
    for i in range(a.size):
        total += np.sqrt(K[i, i]) * abs(a[i])
        largest = max(largest, K[i, i])
    return ROUNDING * np.sqrt(largest) * total < BLURRED


@summing_step
def _fit_dual(K, L, r, v, b, intercept, after_another, factored, max_iter):  # type: ignore[no-untyped-def]
    """Solve from the a of v and b; returns b and whether it was solved."""
    n = r.y.size
    if after_another:
        factored = factored or _factor_dual(K, L, r, v)
        b = _follow(K, L, r, v, b, intercept)
    times(K, v.a, r.f, n)
    penalty = 0.5 * dot(v.a, r.f)
    for i in range(n):
        r.f[i] += b
    if after_another and starts_badly(r, penalty):
        b, factored = 0.0, False
        fill(v.a, 0.0)
        fill(r.f, 0.0)
    fill(r.df, 0.0)
    total, _, _ = differentiate(r, 0.0)
    residual, before = _dual_residual(r, v, intercept), np.inf
    for _ in range(max_iter):
        if residual <= SOLVED:
            return b, _is_sharp(K, v.a)
        fresh = not factored or residual > FACTOR_REUSE * before
        factored = not fresh or _factor_dual(K, L, r, v)
        for i in range(n):
            v.da[i] = -(v.a[i] + r.g[i]) / r.S[i]
        db = _bordered_step(L, r, v, intercept)
        times(K, v.da, r.df, n)
        straight, curved = dot(r.df, v.a), dot(r.df, v.da)
        slope = straight + dot(r.df, r.g) + db * total
        if slope >= 0 and not fresh:  # the factor of another K may point uphill
            factored = False
            continue
        for i in range(n):
            r.df[i] += db
        t, total = step_length(r, slope, straight, curved)
        add(v.a, t, v.da)
        add(r.f, t, r.df)
        b += t * db
        residual, before = _dual_residual(r, v, intercept), residual
        if fresh and 0.5 * before < residual <= STALLED:
            return b, _is_sharp(K, v.a)
    return b, False


# In the weights


class Primal(NamedTuple):
    """Weights of the active columns, their step, and what Newton's method keeps for each."""

    w: NDArray[np.float64]
    dw: NDArray[np.float64]
    gradient: NDArray[np.float64]
    cross: NDArray[np.float64]  # Zᵀ curvature
    border: NDArray[np.float64]  # (I + ZᵀS²Z)⁻¹ cross


@summing_step
def _primal_residual(Z, active, norm, r, v, total, intercept):  # type: ignore[no-untyped-def]
    """Set the gradient w + Zᵀg; returns its largest entry relative to the norms of its column and of g."""
    weights_of(Z, active, r.g, v.gradient)
    residual = abs(total) / np.sqrt(r.y.size) if intercept else 0.0
    for q in range(active.size):
        v.gradient[q] += v.w[q]
        reach = norm[Z.column[active[q]]] * Z.factor[active[q]]
        if reach > 0:
            residual = max(residual, abs(v.gradient[q]) / reach)
    return residual / np.sqrt(dot(r.g, r.g))


@summing_step
def _factor_primal(Z, active, L, R, r, v):  # type: ignore[no-untyped-def]
    for i in range(r.y.size):
        r.S[i] = np.sqrt(r.curvature[i])
    solved = factorize_primal(L, Z, active, r.S, R)
    weights_of(Z, active, r.curvature, v.cross)
    fill(v.border, 0.0)
    add(v.border, 1.0, v.cross)
    substitute(L, v.border, active.size)
    return solved, sum_of(r.curvature) - dot(v.cross, v.border)


@summing_step
def _fit_primal(Z, active, norm, L, R, r, v, b, intercept, max_iter):  # type: ignore[no-untyped-def]
    """Solve from the w of v and b; returns b and whether it was solved."""
    margins_of(Z, active, v.w, b, r.f)
    if starts_badly(r, 0.5 * dot(v.w, v.w)):
        b = 0.0
        fill(v.w, 0.0)
        fill(r.f, 0.0)
    fill(r.df, 0.0)
    total, _, _ = differentiate(r, 0.0)
    residual, before = _primal_residual(Z, active, norm, r, v, total, intercept), np.inf
    factored, corner = False, 0.0
    for _ in range(max_iter):
        if residual <= SOLVED:
            return b, True
        fresh = not factored or residual > FACTOR_REUSE * before
        if fresh:
            factored, corner = _factor_primal(Z, active, L, R, r, v)
        fill(v.dw, 0.0)
        add(v.dw, -1.0, v.gradient)
        substitute(L, v.dw, active.size)
        db = -(total + dot(v.cross, v.dw)) / corner if intercept else 0.0
        add(v.dw, -db, v.border)
        margins_of(Z, active, v.dw, db, r.df)
        slope = dot(v.dw, v.gradient) + db * total
        t, total = step_length(r, slope, dot(v.dw, v.w), dot(v.dw, v.dw))
        add(v.w, t, v.dw)
        add(r.f, t, r.df)
        b += t * db
        residual, before = _primal_residual(Z, active, norm, r, v, total, intercept), residual
        if fresh and 0.5 * before < residual <= STALLED:
            return b, True
    return b, False


# Paths


@summing_step
def _norms(XT):  # type: ignore[no-untyped-def]
    norm = vector(XT.shape[0])
    for j in range(norm.size):
        norm[j] = np.sqrt(dot(XT[j], XT[j]))
    return norm


@summing_kernel
def _follow_paths(  # type: ignore[no-untyped-def]
    XT, y, counts, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C, shrinkage,
    intercept, split, shared, max_iter, smallest_size, weight, coef, intercepts, unsolved,
):  # fmt: skip
    """Take every path down its sizes; paths of one resample stand together, and share what they start from.

    A path has its resample, its row of ``forced`` and of ``sizes`` (0 after the last), its C and its shrinkage. Columns
    are the same for all paths, or differ by path; then nothing is shared.
    """
    n, p = y.size, columns.shape[1]
    wide = XT.shape[0] > n
    mean, factor, norm = vector(p), vector(p), _norms(XT)
    fill(mean, 0.0)
    fill(factor, 1.0)
    work = make_workspace(Columns(XT, columns[0], mean, factor), n, wide, shared)
    start, scale, everything = square(n if wide else 0), vector(p), np.arange(n)
    drawn_rows_work, all_rows_work = allocate_rows(n), allocate_rows(n)
    dual_work, primal_work = (vector(n), vector(n), vector(n)), (vector(p), vector(p), vector(p), vector(p))
    for q in range(resample.size):
        m = resample[q]
        Z = Columns(XT, columns[min(q, len(columns) - 1)], mean, factor)
        held, ranks = forced[which_forced[q]], tie_ranks[min(m, len(tie_ranks) - 1)]
        rows = np.flatnonzero(counts[m])
        in_dual, b = wide and 2 * p > rows.size, 0.0
        if q == 0 or len(columns) > 1 or resample[q - 1] != m:
            begin_resample(work, Z, counts[m], rows, split, in_dual, start, scale)
        begin_path(work, Z, held, shrinkage[q], scale)
        if in_dual:
            start_gram(work, Z, rows, held, shrinkage[q], start)
        drawn_rows = begin_rows(drawn_rows_work, y, counts[m], rows, C[q])
        all_rows = begin_rows(all_rows_work, y, counts[m], everything, C[q])
        dual = Dual(dual_work[0][: rows.size], dual_work[1][: rows.size], dual_work[2][: rows.size])
        fill(dual.a, 0.0)
        path_sizes = sizes[which_sizes[q]]
        for step in range(path_sizes.size):
            size, before = path_sizes[step], path_sizes[max(step - 1, 0)]
            if size == 0:
                break
            active = work.active[:size]
            if in_dual:
                slight = 0 < before - size <= FACTOR_AFTER_DROP * before
                b, solved = _fit_dual(work.K, work.L, drawn_rows, dual, b, intercept, step > 0, slight, max_iter)
                weigh(work, Z, size, rows, dual.a)
            else:
                primal = Primal(
                    work.w[:size], primal_work[0][:size], primal_work[1][:size], primal_work[2][:size],
                    primal_work[3][:size],
                )  # fmt: skip
                b, solved = _fit_primal(Z, active, norm, work.L, work.R, all_rows, primal, b, intercept, max_iter)
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
    run: Callable[..., None] | None = None,
) -> Eliminations:
    r"""Fit, drop the features of least weight, fit again: down the sizes of each setting, for every resample.

    Each fit is the :math:`w, b` of least

    .. math:: C \sum_i c_i \log(1 + e^{-y_i f_i}) + \frac12 \sum_j \beta_j^2 w_j^2, \qquad f = Xw + b

    with :math:`\beta_j = 1`, or the ``shrinkage`` for forced features. No path raises, ``unsolved`` records it.

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
    run
        Follows paths with another loss (:mod:`~holdfast.kernels.ridge_targets`), whose targets ``y`` are then.
    """
    (n, d), G = data.shape, len(sizes)
    if run is None:
        run, (y, counts) = run_paths, check_labels((n, d), y, counts)
    else:
        y, counts = np.asarray(y, dtype=np.float64), np.asarray(counts, dtype=np.float64)
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
    run(
        data.XT, y, counts, np.repeat(np.arange(M), G), np.arange(d)[None], held, which_rows.ravel(), passed,
        np.tile(np.arange(G), M), check_tie_ranks(tie_ranks, d, M), costs, factors, intercept, data.split,
        data.wide and not data.split, MAX_ITER, outcome,
    )  # fmt: skip
    return paths


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
        data.XT, y, counts, which, chosen, np.zeros((1, k), bool), first, np.full((1, 1), k), first,
        np.zeros((1, k), np.int32), np.broadcast_to(costs, Q), np.ones(Q), intercept, data.split, False,
        MAX_ITER, outcome,
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
