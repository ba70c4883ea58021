"""Ridge elimination for any target: what :mod:`~holdfast.kernels.ridge` does for two classes.

Numbers and survival times have one output, and another loss there. Of more classes a fit has K outputs
f_k = Z w_k + b_k with the penalty ½ Σ ‖w_k‖², and a feature is judged by the root of Σ w_k², its weights in all of
them. There are two families:

- ``"multinomial"``: the loss −log of the class's share exp(f_k) / Σ exp(f_l), a Newton method on all outputs together;
- ``"rest"``: a logistic fit of each class against all others.

As for two classes there is a form in the dual variables of the rows, on the Gram matrix K of what is left of the
columns, and one in the weights where these are few. The multinomial Newton step in the dual form takes one factor for
each class, and one for what couples them, instead of one of all classes together: with cost c, shares p_k, D_k = c p_k
and E_k = (D_k⁻¹ + K)⁻¹, the step is da_k = q_k + E_k (u − db_k), where u makes Σ da_k what it must be,
(Σ E_k) u = Σ E_k db_k + …, and db that Σ (a_k + da_k) = 0 over the rows (Rasmussen and Williams 2006, section 3.5, with
an intercept).

``test_ridge_targets.py`` compares with scikit-learn, and paths with an obvious loop.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.cox import sort_rows
from holdfast.kernels.elimination import Scaled, check_columns, check_costs, on_scale_of_data
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
from holdfast.kernels.linear import (
    Columns,
    add,
    add_products,
    all_finite,
    dot,
    factorize,
    factorize_dual,
    fill,
    matrix,
    padded,
    square,
    substitute,
    sum_of,
    times,
    vector,
)
from holdfast.kernels.lockstep import Models
from holdfast.kernels.regression import Fit, _margins, _set_shares, _solve
from holdfast.kernels.ridge import (
    BLURRED,
    LEAST_CURVATURE,
    MAX_ITER,
    ROUNDING,
    SLOPE_NOISE,
    SOLVED,
    STALLED,
    Dual,
    Free,
    Primal,
    Rows,
    _fit_dual,
    _fit_primal,
    _norms,
    allocate_free,
    begin_rows,
    run_paths,
    unpenalized,
)
from holdfast.kernels.tolerances import FACTOR_REUSE, SHORTEST_STEP, STEEP

Family = Literal["multinomial", "rest", "numbers", "cox"]


# Several classes at once, in the dual variables


class Softmax(NamedTuple):
    """Dual variables of K outputs (K × n each), and the factors of a Newton step; see the top of this module."""

    a: NDArray[np.float64]
    da: NDArray[np.float64]
    S: NDArray[np.float64]  # roots of the D_k
    border: NDArray[np.float64]  # E_k 1
    coupled: NDArray[np.float64]  # (Σ E_k)⁻¹ E_k 1
    u: NDArray[np.float64]  # n
    work: NDArray[np.float64]  # n
    L: NDArray[np.float64]  # K factors of I + S_k K S_k
    M: NDArray[np.float64]  # factor of Σ E_k
    T: NDArray[np.float64]
    G: NDArray[np.float64]  # factor of the equations of the intercepts


@summing_step
def _begin_softmax(n, n_outputs):  # type: ignore[no-untyped-def]
    L, K = square(n), n_outputs
    return Softmax(
        matrix(K, n), matrix(K, n), matrix(K, n), matrix(K, n), matrix(K, n), vector(n), vector(n),
        matrix(K * L.shape[0], L.shape[1]).reshape((K, L.shape[0], L.shape[1])), L, square(n), square(K),
    )  # fmt: skip


@summing_step
def _factor_softmax(K, fit, v):  # type: ignore[no-untyped-def]
    """Set the factors at the shares of a fit; returns whether all matrices are positive definite."""
    K_outputs, n = fit.f.shape
    solved = True
    for i in range(v.M.shape[0]):
        fill(v.M[i], 0.0)
        fill(v.T[i], 0.0)
    for k in range(K_outputs):
        S, L, border = v.S[k], v.L[k], v.border[k]
        for i in range(n):
            S[i] = border[i] = np.sqrt(fit.cost[i] * (fit.share[k, i] + LEAST_CURVATURE))
        solved = factorize_dual(L, K, S, n) and solved
        substitute(L, border, n)
        for i in range(n):
            border[i] *= S[i]
            row = v.T[i]  # of (L⁻¹S)ᵀ, so that E_k = T Tᵀ
            row[i] = S[i] * L[i, i]
            for j in range(i + 1, n):
                rest = 0.0
                for m in range(i, j):
                    rest += L[j, m] * row[m]
                row[j] = -rest * L[j, j]
        add_products(v.M, v.T, padded(n), n, 1.0)
    solved = factorize(v.M, n) and solved
    total = 0.0
    for k in range(K_outputs):
        fill(v.coupled[k], 0.0)
        add(v.coupled[k], 1.0, v.border[k])
        substitute(v.M, v.coupled[k], n)
        total += sum_of(v.border[k])
    for k in range(K_outputs):
        for m in range(k + 1):
            own = sum_of(v.border[k]) if k == m else 0.0
            v.G[k, m] = own - dot(v.border[k], v.coupled[m]) + total / K_outputs  # the latter: db has the sum 0
    return factorize(v.G, K_outputs) and solved


@summing_step
def _step_softmax(v, db, target, intercept):  # type: ignore[no-untyped-def]
    """Turn da, which holds S_k⁻¹ times the right sides, into the step; ``target`` is Σ da_k, db the intercepts'."""
    K_outputs, n = v.a.shape
    u, work = v.u, v.work
    for i in range(n):
        u[i] = target[i]
    for k in range(K_outputs):
        substitute(v.L[k], v.da[k], n)
        for i in range(n):
            v.da[k, i] *= v.S[k, i]
            u[i] -= v.da[k, i]
    substitute(v.M, u, n)
    fill(db, 0.0)
    if intercept:
        for k in range(K_outputs):
            db[k] = sum_of(v.a[k]) + sum_of(v.da[k]) + dot(v.border[k], u)
        substitute(v.G, db, K_outputs)
        for k in range(K_outputs):
            add(u, db[k], v.coupled[k])
    for k in range(K_outputs):
        for i in range(n):
            work[i] = v.S[k, i] * u[i]
        substitute(v.L[k], work, n)
        for i in range(n):
            v.da[k, i] += v.S[k, i] * work[i] - db[k] * v.border[k, i]


@summing_step
def _softmax_residual(fit, v, intercept):  # type: ignore[no-untyped-def]
    """Largest |a + g| (or mean of an a_k), relative to the largest |g|."""
    residual, scale = 0.0, 0.0
    for k in range(v.a.shape[0]):
        if intercept:
            residual = max(residual, abs(sum_of(v.a[k])) / v.a.shape[1])
        for i in range(v.a.shape[1]):
            g = fit.cost[i] * (fit.share[k, i] - (fit.y[i] == k))
            residual = max(residual, abs(v.a[k, i] + g))
            scale = max(scale, abs(g))
    return residual / scale


@summing_step
def _follow_softmax(K, fit, v, b, db, intercept):  # type: ignore[no-untyped-def]
    """Move the optimum of another K to where that of this one is to first order."""
    K_outputs, n = v.a.shape
    for k in range(K_outputs):
        times(K, v.a[k], fit.df[k], n)
        for i in range(n):
            v.da[k, i] = fit.f[k, i] - fit.df[k, i] - b[k]
    for i in range(n):
        mean, total = 0.0, 0.0
        for k in range(K_outputs):
            mean += v.S[k, i] ** 2 * v.da[k, i]
            total += v.S[k, i] ** 2
        for k in range(K_outputs):
            v.da[k, i] = v.S[k, i] * (v.da[k, i] - mean / total)
        v.work[i] = 0.0
    _step_softmax(v, db, v.work, intercept)
    for k in range(K_outputs):
        add(v.a[k], 1.0, v.da[k])
        b[k] += db[k]


@summing_step
def _place_softmax(K, fit, v, b):  # type: ignore[no-untyped-def]
    """Set the margins of a and b; returns by how much the objective there exceeds that of no model at all."""
    K_outputs, n = v.a.shape
    excess = 0.0
    for k in range(K_outputs):
        times(K, v.a[k], fit.f[k], n)
        excess += 0.5 * dot(v.a[k], fit.f[k])
        for i in range(n):
            fit.f[k, i] += b[k]
    for i in range(n):
        highest, total, own = -np.inf, 0.0, 0.0
        for k in range(K_outputs):
            highest = max(highest, fit.f[k, i])
            own = fit.f[k, i] if fit.y[i] == k else own
        for k in range(K_outputs):
            total += np.exp(fit.f[k, i] - highest)
        excess += fit.cost[i] * (np.log(total) + highest - own - np.log(1.0 * K_outputs))
    return excess


@summing_step
def _fit_softmax(K, fit, v, b, db, intercept, after_another, max_iter):  # type: ignore[no-untyped-def]
    """Solve from the a of v and b, which are set; returns whether the optimum was reached."""
    K_outputs, n = v.a.shape
    factored = False
    if after_another:
        factored = _factor_softmax(K, fit, v)
        _follow_softmax(K, fit, v, b, db, intercept)
    if not _place_softmax(K, fit, v, b) <= 0:
        factored = False
        fill(b, 0.0)
        for k in range(K_outputs):
            fill(v.a[k], 0.0)
            fill(fit.f[k], 0.0)
    for k in range(K_outputs):
        fill(fit.df[k], 0.0)
    _set_shares(fit, 0.0)
    residual, before = _softmax_residual(fit, v, intercept), np.inf
    for _ in range(max_iter):
        if residual <= SOLVED:
            return _is_sharp_softmax(K, v)
        fresh = not factored or residual > FACTOR_REUSE * before
        factored = not fresh or _factor_softmax(K, fit, v)
        fill(v.work, 0.0)
        for k in range(K_outputs):
            add(v.work, -1.0, v.a[k])
            for i in range(n):
                g = fit.cost[i] * (fit.share[k, i] - (fit.y[i] == k))
                v.da[k, i] = -(v.a[k, i] + g) / v.S[k, i]
        _step_softmax(v, db, v.work, intercept)
        straight, curved, slope = 0.0, 0.0, 0.0
        for k in range(K_outputs):
            times(K, v.da[k], fit.df[k], n)
            straight += dot(fit.df[k], v.a[k])
            curved += dot(fit.df[k], v.da[k])
            for i in range(n):
                fit.df[k, i] += db[k]
                slope += fit.cost[i] * (fit.share[k, i] - (fit.y[i] == k)) * fit.df[k, i]
        slope += straight
        if slope >= 0 and not fresh:  # the factor of another K may point uphill
            factored = False
            continue
        t = 1.0
        while True:
            loss_slope, size = _set_shares(fit, t)
            if loss_slope + straight + t * curved <= -STEEP * slope + SLOPE_NOISE * size or t <= SHORTEST_STEP:
                break
            t *= 0.5
        for k in range(K_outputs):
            add(v.a[k], t, v.da[k])
            add(fit.f[k], t, fit.df[k])
            b[k] += t * db[k]
        residual, before = _softmax_residual(fit, v, intercept), residual
        if fresh and 0.5 * before < residual <= STALLED:
            return _is_sharp_softmax(K, v)
    return False


@summing_step
def _is_sharp_softmax(K, v):  # type: ignore[no-untyped-def]
    """Whether rounding leaves the margins Ka alone; large terms that cancel do not show in the residual."""
    largest, most = 0.0, 0.0
    for i in range(v.a.shape[1]):
        largest = max(largest, K[i, i])
    for k in range(v.a.shape[0]):
        total = 0.0
        for i in range(v.a.shape[1]):
            total += np.sqrt(K[i, i]) * abs(v.a[k, i])
        most = max(most, total)
    return ROUNDING * np.sqrt(largest) * most < BLURRED


# Paths


@summing_step
def _dense_fit(Z, active, rows, y, cost, w, b, intercept):  # type: ignore[no-untyped-def]
    """A fit in the weights (outputs × active columns), from those given on."""
    K, p, n = w.shape[0], active.size, rows.size
    q = p + intercept
    values, classes = np.ones((q, n)), np.empty(n, np.int64)
    for j in range(p):
        x, mean, factor = Z.XT[Z.column[active[j]]], Z.mean[active[j]], Z.factor[active[j]]
        for i in range(n):
            values[j, i] = (x[rows[i]] - mean) * factor
    theta = np.zeros(K * q)
    for i in range(n):
        classes[i] = np.int64(y[rows[i]])
    for k in range(K):
        for j in range(p):
            theta[k * q + j] = w[k, j]
        if intercept:
            theta[k * q + p] = b[k]
    fit = Fit(
        values, classes, cost, p, theta, np.zeros(K * q), np.zeros(K * q), np.zeros((K, n)), np.zeros((K, n)),
        np.zeros((K, n)), square(K * q),
    )  # fmt: skip
    _margins(fit, theta, fit.f)
    return fit


@summing_step
def _rows_of_output(space, k, n):  # type: ignore[no-untyped-def]
    return Rows(
        space[0][k, :n], space[1][k, :n], space[2][k, :n], space[3][k, :n], space[4][k, :n], space[5][k, :n],
        space[6][k, :n],
    )  # fmt: skip


@summing_kernel
def _follow_paths(  # type: ignore[no-untyped-def]
    XT, y, counts, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C, shrinkage,
    n_outputs, softmax, intercept, split, wide, shared, max_iter,
    smallest_size, weight, coef, intercepts, unsolved,
):  # fmt: skip
    """Take every path down its sizes, as :func:`holdfast.kernels.ridge._follow_paths` does for two classes.

    ``y`` are class numbers from 0. ``softmax`` is None or True: what a family does not need is not even compiled.
    """
    n, p, K = y.size, columns.shape[1], n_outputs
    reach = K if softmax is not None else 4  # the dual form is taken down to 2 / reach of the rows
    mean, factor, norm = vector(p), vector(p), _norms(XT)
    fill(mean, 0.0)
    fill(factor, 1.0)
    work = make_workspace(Columns(XT, columns[0], mean, factor), n, wide, shared)
    start, scale, everything = square(n if wide else 0), vector(p), np.arange(n)
    w, b, db, before = matrix(K, p), np.zeros(K), vector(K), np.empty(p, np.int64)
    signs, cost = matrix(K, n), vector(n)
    space = (matrix(K, n), matrix(K, n), matrix(K, n), matrix(K, n), matrix(K, n), matrix(K, n), matrix(K, n))
    dual_work, primal_work = (matrix(K, n), vector(n)), (vector(p), vector(p))
    on_all = allocate_free(1 if intercept else 0, n, p)
    for k in range(K):
        for i in range(n):
            signs[k, i] = 1.0 if y[i] == k else -1.0
    for q in range(resample.size):
        m = resample[q]
        Z = Columns(XT, columns[min(q, len(columns) - 1)], mean, factor)
        held, ranks = forced[which_forced[q]], tie_ranks[min(m, len(tie_ranks) - 1)]
        rows = np.flatnonzero(counts[m])
        in_dual = wide and reach * p > 2 * rows.size
        if q == 0 or len(columns) > 1 or resample[q - 1] != m:
            begin_resample(work, Z, counts[m], rows, split, signs[:0], in_dual, start, scale)
        begin_path(work, Z, held, shrinkage[q], scale)
        if in_dual:
            start_gram(work, Z, rows, held, shrinkage[q], start)
        on_drawn = Free(
            matrix(on_all.b.size, rows.size), on_all.b, on_all.db, on_all.slope, on_all.cross, on_all.border,
            on_all.corner,
        )  # fmt: skip
        for j in range(on_all.b.size):
            fill(on_drawn.U[j], 1.0)
        fill(b, 0.0)
        for k in range(K):
            fill(w[k], 0.0)
            fill(dual_work[0][k], 0.0)
            begin_rows(_rows_of_output(space, k, n), signs[k], counts[m], rows, C[q])
        for i in range(rows.size):
            cost[i] = C[q] * counts[m][rows[i]]
        if softmax is not None:
            v = _begin_softmax(rows.size if in_dual else 0, K)
            fit = _dense_fit(Z, work.active[:0], rows, y, cost[: rows.size], w, b, False)
            for k in range(K):
                fill(v.a[k], 0.0)
        path_sizes = sizes[which_sizes[q]]
        for step in range(path_sizes.size):
            size, solved = path_sizes[step], True
            if size == 0:
                break
            active = work.active[:size]
            if softmax is not None:
                if in_dual:
                    solved = _fit_softmax(work.K, fit, v, b, db, intercept, step > 0, max_iter)
                    for k in range(K):
                        weigh(work, Z, size, rows, v.a[k])
                        for j in range(size):
                            w[k, j] = work.w[j]
                else:
                    dense = _dense_fit(Z, active, rows, y, cost[: rows.size], w, b, intercept)
                    solved, width = _solve(dense), size + intercept
                    for k in range(K):
                        for j in range(size):
                            w[k, j] = dense.theta[k * width + j]
                        b[k] = dense.theta[k * width + size] if intercept else 0.0
            else:
                for k in range(K):
                    fill(on_all.b, b[k])
                    if in_dual:
                        output = _rows_of_output(space, k, rows.size)
                        dual = Dual(dual_work[0][k, : rows.size], dual_work[1][: rows.size])
                        converged = _fit_dual(
                            work.K, work.L, output, dual, on_drawn, step > 0, False, max_iter, None, None
                        )  # fmt: skip
                        weigh(work, Z, size, rows, dual.a)
                        for j in range(size):
                            w[k, j] = work.w[j]
                    else:
                        output = begin_rows(_rows_of_output(space, k, n), signs[k], counts[m], everything, C[q])
                        primal = Primal(w[k, :size], primal_work[0][:size], primal_work[1][:size])
                        converged = _fit_primal(
                            Z, active, norm, work.L, work.R, output, primal, on_all, max_iter, None, None
                        )  # fmt: skip
                    b[k] = sum_of(on_all.b)
                    solved = solved and converged
            for j in range(size):
                squares = 0.0
                for k in range(K):
                    squares += w[k, j] * w[k, j]
                work.w[j] = np.sqrt(squares)
                before[j] = active[j]
            if not (solved and all_finite(work.w, size)):
                unsolved[q] = size
                break
            record(work, size, held, shrinkage[q], smallest_size[q], weight[q])
            after = path_sizes[step + 1] if step + 1 < path_sizes.size else 0
            if after > 0:
                cut(work, Z, size, after, held, ranks)
                left = 0
                for j in range(size):
                    if left < after and before[j] == work.active[left]:
                        for k in range(K):
                            w[k, left] = w[k, j]
                        left += 1
                in_dual = in_dual and reach * after > 2 * rows.size
                if in_dual:
                    next_gram(work, Z, rows, after, size - after)
            else:
                for k in range(K):
                    for j in range(size):
                        work.w[j] = w[k, j]
                    intercepts[q, k] = finish(work, Z, size, b[k], coef[q, k])


class Objective(NamedTuple):
    """What a path fits: the loss, and how many outputs it has."""

    family: Family
    n_outputs: int = 1

    def run(  # type: ignore[no-untyped-def]
        self, XT, y, counts, free, n_free, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C,
        shrinkage, split, shared, max_iter, outcome,
    ) -> None:  # fmt: skip
        """Follow paths, as :func:`holdfast.kernels.ridge.run_paths` does; ``coef`` has an axis of outputs.

        Of the columns without a penalty more classes know an intercept only, and survival times none.
        """
        survival = None
        if self.family == "cox":
            order, survival = (known := sort_rows(y))[0], known[1:]
            XT = XT[:, order] - XT.mean(axis=1, keepdims=True)  # only differences count, and these keep their digits
            y, counts, free, n_free = survival[0], counts[:, order], free[:, :0], 0 * n_free
        y = np.asarray(y, np.float64)
        if self.family in ("numbers", "cox"):
            outcome = outcome._replace(
                coef=outcome.coef.reshape(len(resample), -1), intercept=outcome.intercept.reshape(-1)
            )
            run_paths(
                XT, y, counts, free, n_free, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C,
                shrinkage, split, shared, max_iter, outcome, self.family == "numbers" or None, survival,
            )  # fmt: skip
            return
        softmax, (n, p) = self.family == "multinomial" or None, (len(y), columns.shape[1])
        wide = self.n_outputs * p > 2 * n if softmax else p > n
        arrays = XT, y, counts, resample, columns, forced, which_forced, sizes, which_sizes, tie_ranks, C, shrinkage
        taken = (frozen(array, array.dtype) for array in arrays)
        coef, intercepts = outcome.coef, outcome.intercept
        if coef.ndim == 2:  # an elimination, whose last models are not asked for
            n_paths, k = coef.shape
            coef, intercepts = np.empty((n_paths, self.n_outputs, k)), np.empty((n_paths, self.n_outputs))
        intercept = bool(n_free.max() > 0)
        _follow_paths(
            *taken, self.n_outputs, softmax, intercept, bool(split), bool(wide), bool(shared and wide),
            int(max_iter), outcome.smallest_size, outcome.weight, coef, intercepts, outcome.unsolved,
        )  # fmt: skip


def output_models(
    objective: Objective,
    data: Scaled,
    y: ArrayLike,
    counts: ArrayLike,
    resamples: ArrayLike,
    columns: ArrayLike,
    C: ArrayLike,
    *,
    intercept: bool = True,
) -> Models:
    """Fit Q models on k columns each, as :func:`holdfast.kernels.ridge.ridge_models`: Q × outputs × k coefficients."""
    which = np.asarray(resamples, dtype=np.int64)
    Q, chosen = which.size, check_columns(columns, data.shape[1], which.size)
    k, first = chosen.shape[1], np.zeros(Q, np.int64)
    coef, intercepts = np.empty((Q, objective.n_outputs, k)), np.empty((Q, objective.n_outputs))
    outcome = Outcome(np.empty((Q, k), np.int32), np.empty((Q, k)), coef, intercepts, np.zeros(Q, np.int64))
    y, counts = np.asarray(y), np.asarray(counts, np.float64)
    objective.run(
        data.XT, y, *unpenalized(y, counts, intercept), which, chosen, np.zeros((1, k), bool), first,
        np.full((1, 1), k), first, np.zeros((1, k), np.int32), np.broadcast_to(check_costs(C), Q), np.ones(Q),
        data.split, False, MAX_ITER, outcome,
    )  # fmt: skip
    shift, unit = data.shift[chosen][:, None], data.unit[chosen][:, None]
    coef, intercepts = on_scale_of_data(coef, intercepts, shift, unit)
    return Models(coef, intercepts, outcome.unsolved > 0)
