r"""Elastic-net paths, logistic and linear, of many resamples of one data set, to the optimum.

For each resample and each :math:`\lambda`, with the resample's weights :math:`c_i`, the minimum of

.. math:: \frac{1}{\sum_i c_i} \sum_i c_i\, \ell(y_i, b + x_i^\top \beta)
          + \lambda \left( \rho \|\beta\|_1 + \frac{1 - \rho}{2} \|\beta\|_2^2 \right)

over the intercept b and the weights β of columns that are standardized by the resample's own weighted mean and standard
deviation (glmnet's scale). :math:`\rho` is ``l1_ratio`` and :math:`\lambda` the selectors' ``penalty_strength``; the
loss is log(1 + exp(-y f)) or (y - f)²/2.

The optimality conditions hold to 1e-9 of λ ρ, or to 1e-14 where that is less, for standardized columns (and y, if
linear). Every lambda is solved, on separable data too, or an error is raised. Columns that are constant on a resample
get 0. Where columns are equal, up to sign, shift and scale, and ``l1_ratio`` is 1, the lowest carries the weight.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.elastic_net_model import (
    BLOCK,
    INTERCEPT,
    LOSS,
    OLD_SHIFT,
    OLD_SQUARE,
    SHIFT,
    STALE,
    SUPPORT,
    SURPLUS,
    TIED,
    WEIGHT,
    Data,
    Floats,
    Ints,
    Record,
    add_dots,
    add_rows,
    dot,
    evaluate_loss,
    extend_model,
    factor,
    minimize_model,
    renew_model,
    solve_factored,
    start,
)
from holdfast.kernels.jit import frozen, summing_kernel, summing_step
from holdfast.kernels.tolerances import column_units

SOLVED, FULL, NOT_CONVERGED = range(3)
MAX_STEPS, MAX_HALVINGS = 500, 100
SLOW = 0.2  # a step that leaves more than this of the violation asks for a new model


# The working set


@summing_step
def _violations(data, point, work, l1, l2):  # type: ignore[no-untyped-def]
    """Renew the working set's gradient; return how far its weights, and its zeros, are from optimal at most."""
    n, r = work.size[0], point.r
    for k in range(n):
        work.g[k] = 0
    for begin in range(0, r.size, BLOCK):
        add_dots(data.X, work.ids, n, begin, r[begin : begin + BLOCK], work.g)
    active, zero = abs(point.numbers[SURPLUS]), 0.0
    for k in range(n):
        w, g = work.w[k], work.g[k]
        if w != 0:
            active = max(active, abs(g - l2 * w - (l1 if w > 0 else -l1)))
        else:
            zero = max(zero, abs(g) - l1)
    return active, zero


@summing_step
def _scan(data, point, work, level):  # type: ignore[no-untyped-def]
    """Bring in the columns whose gradient exceeds level, and all that tie with them; return whether there were any.

    Standardized columns have weighted norm 1, so no gradient moves further than r does in the inverse weights' norm.
    """
    r, bound, reference = point.r, work.bound, work.reference
    moved = 0.0
    for i in range(r.size):
        moved += (r[i] - reference[i]) ** 2 * data.spread[i]
        reference[i] = r[i]
    moved = np.sqrt(moved) * (1 + 1e-9)
    for j in range(bound.size):
        bound[j] += moved
    n_above, highest = 0, 0.0
    for j in range(bound.size):
        if bound[j] >= level * (1 - 1e-6):
            bound[j] = abs(dot(data.X[j], r))
            n_above += bound[j] > level
            highest = max(highest, bound[j])
    if n_above == 0:
        return False
    lowest = _lowest_to_come(bound, level, highest, 20 + work.size[0])
    for j in range(bound.size):  # by rising column, so that of equal ones the lowest comes first
        if bound[j] >= lowest * (1 - TIED):
            n = work.size[0]
            work.ids[n], work.w[n], work.bound[j] = j, 0, -np.inf
            work.older[0, n] = work.older[1, n] = work.older[2, n] = 0
            work.size[0] = n + 1
    return True


@summing_step
def _lowest_to_come(bound, level, highest, most):  # type: ignore[no-untyped-def]
    """The least of the values above level; above a higher one while there are too many, unless they tie."""
    lowest = highest
    for _ in range(MAX_HALVINGS):
        n_above, lowest = 0, highest
        for j in range(bound.size):
            if bound[j] > level:
                n_above += 1
                lowest = min(lowest, bound[j])
        if n_above <= most or highest - level <= TIED * highest:
            break
        level = (level + highest) / 2
    return lowest


@summing_step
def _drop_zeros(work):  # type: ignore[no-untyped-def]
    """Leave columns without a weight to the scan."""
    n = 0
    for k in range(work.size[0]):
        if work.w[k] == 0:
            work.bound[work.ids[k]] = np.inf
        else:
            work.ids[n], work.w[n] = work.ids[k], work.w[k]
            for past in range(3):
                work.older[past, n] = work.older[past, k]
            n += 1
    work.size[0] = n


# Steps of the weights


@summing_step
def _step_on_support(data, point, work, model, step, l1, l2):  # type: ignore[no-untyped-def]
    """Move all weights with their signs held, by conjugate gradients; return whether that could be done."""
    w = work.w[: work.size[0]]
    if not factor(model, w, l2):
        return False
    conjugate = _turn(data, point, work, model, step, l1, l2)
    n, support, delta, numbers = model.counts[SUPPORT], model.support, step.delta, step.numbers
    numbers[SHIFT] = numbers[OLD_SHIFT] + conjugate * numbers[SHIFT]
    slope, curvature = point.numbers[SURPLUS] * numbers[SHIFT], 0.0
    for k in range(w.size):
        if w[k] == 0:
            delta[k] = 0
    for i in range(n):
        k = support[i]
        delta[k] = step.x[i] + conjugate * delta[k]
        slope += step.pull[i] * delta[k]
        curvature += l2 * delta[k] * delta[k]
    for i in range(step.image.size):
        curvature += point.W[i] * step.image[i] * step.image[i]
    length = slope / curvature
    for k in range(w.size):
        if w[k] != 0 and w[k] * (w[k] + length * delta[k]) <= 0:
            return False
    return _move(data, point, work, step, length, l1, l2)


@summing_step
def _turn(data, point, work, model, step, l1, l2):  # type: ignore[no-untyped-def]
    """Solve the model on the support into step.x and turn step.image towards it; return the part of the old kept."""
    x, old, pull, numbers, surplus = step.x, step.old, step.pull, step.numbers, point.numbers[SURPLUS]
    n, support = model.counts[SUPPORT], model.support
    for i in range(n):
        k = support[i]
        w = work.w[k]
        pull[i] = work.g[k] - l2 * w - (l1 if w > 0 else -l1)
        x[i] = pull[i] - model.mean[k] * surplus
        step.ids[i] = work.ids[k]
    solve_factored(model, x, l2, step.dual)
    shift = surplus / model.numbers[WEIGHT]
    for i in range(n):
        shift -= model.mean[support[i]] * x[i]
    square, cross = surplus * shift, surplus * numbers[OLD_SHIFT]
    for i in range(n):
        square += pull[i] * x[i]
        cross += pull[i] * old[i]
        old[i] = x[i]
    conjugate = max(0.0, (square - cross) / numbers[OLD_SQUARE]) if numbers[OLD_SQUARE] > 0 else 0.0
    numbers[OLD_SHIFT], numbers[OLD_SQUARE] = shift, square
    for i in range(step.image.size):
        step.image[i] = conjugate * step.image[i] + shift
    add_rows(data.X, step.ids, n, x, step.image)
    return conjugate


@summing_step
def _step_by_model(data, point, work, model, step, l1, l2, tolerance):  # type: ignore[no-untyped-def]
    """Move to the minimum of the model, where weights may come and go; return whether that could be done."""
    n, surplus = work.size[0], point.numbers[SURPLUS]
    for k in range(n):
        step.pull[k] = work.g[k] - model.mean[k] * surplus
    minimize_model(work, model, step, l1, l2, tolerance)
    shift = surplus / model.numbers[WEIGHT]
    for k in range(n):
        step.delta[k] = step.v[k] - work.w[k]
        shift -= model.mean[k] * step.delta[k]
    step.numbers[SHIFT] = shift
    for i in range(step.image.size):
        step.image[i] = shift
    add_rows(data.X, work.ids, n, step.delta, step.image)
    return _move(data, point, work, step, 1.0, l1, l2)


@summing_step
def _move(data, point, work, step, length, l1, l2):  # type: ignore[no-untyped-def]
    """Take the step, halved until the objective does not rise; return whether it was taken."""
    w, delta = work.w[: work.size[0]], step.delta
    start = point.numbers[LOSS] + _penalty(w, delta, 0.0, l1, l2)
    loss, surplus, falls = 0.0, 0.0, False
    for _ in range(MAX_HALVINGS):
        for i in range(step.f.size):
            step.f[i] = point.f[i] + length * step.image[i]
        loss, surplus = evaluate_loss(data, step.f, step.r, step.W)
        falls = loss + _penalty(w, delta, length, l1, l2) <= start * (1 + 1e-13)
        if falls or length < 2e-6:
            break
        length /= 2
    if not falls:
        return False
    for k in range(w.size):
        w[k] += length * delta[k]  # a full step to zero ends in zero exactly
    for i in range(step.f.size):
        point.f[i], point.r[i], point.W[i] = step.f[i], step.r[i], step.W[i]
    point.numbers[INTERCEPT] += length * step.numbers[SHIFT]
    point.numbers[LOSS], point.numbers[SURPLUS] = loss, surplus
    return True


@summing_step
def _penalty(w, delta, length, l1, l2):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(w.size):
        new = w[k] + length * delta[k]
        total += l1 * abs(new) + 0.5 * l2 * new * new
    return total


# Along the path


@summing_step
def _solve_at(data, point, work, model, step, l1, l2, tolerance):  # type: ignore[no-untyped-def]
    """Go to the optimum at one lambda; return whether it was reached."""
    step.numbers[OLD_SQUARE], last = 0, np.inf
    _scan(data, point, work, l1 + tolerance)
    for _ in range(MAX_STEPS):
        active, zero = _violations(data, point, work, l1, l2)
        worst = max(active, zero)
        if worst <= tolerance:
            if not _scan(data, point, work, l1 + tolerance):
                return True
            step.numbers[OLD_SQUARE], last = 0, np.inf
            continue
        slow = worst > SLOW * last and not data.linear  # a linear loss has always the same model
        if not (slow or model.counts[STALE]):
            extend_model(data, work, model)
        if slow or model.counts[STALE]:
            renew_model(point, work, model)
            extend_model(data, work, model)
            step.numbers[OLD_SQUARE] = 0
        last = worst
        if zero <= active * 1.0001 and _step_on_support(data, point, work, model, step, l1, l2):
            continue
        step.numbers[OLD_SQUARE] = 0
        if not _step_by_model(data, point, work, model, step, l1, l2, 0.05 * worst):
            model.counts[STALE] = 1
    return False


@summing_step
def _extrapolate(data, point, work, t, l1, l2):  # type: ignore[no-untyped-def]
    """Start on the parabola through the weights at the last three lambdas, over their logarithms t, if it is lower."""
    n = work.size[0]
    start = point.numbers[LOSS] + _penalty(work.w[:n], work.w, 0.0, l1, l2)
    a = (t[3] - t[1]) * (t[3] - t[0]) / ((t[2] - t[1]) * (t[2] - t[0]))
    b = (t[3] - t[2]) * (t[3] - t[0]) / ((t[1] - t[2]) * (t[1] - t[0]))
    c = 1 - a - b
    for k in range(n):
        w0, w1, w2 = work.older[0, k], work.older[1, k], work.older[2, k]
        if w0 * w1 > 0:  # a weight that came since has no slope yet
            new = a * w0 + b * w1 + c * w2 if w0 * w2 > 0 else w0 + (t[3] - t[2]) / (t[2] - t[1]) * (w0 - w1)
            work.w[k] = new if new * w0 > 0 else w0
    before = work.older_intercepts
    point.numbers[INTERCEPT] = a * before[0] + b * before[1] + c * before[2]
    _settle(data, point, work)
    if not point.numbers[LOSS] + _penalty(work.w[:n], work.w, 0.0, l1, l2) <= start:
        for k in range(n):
            work.w[k] = work.older[0, k]
        point.numbers[INTERCEPT] = before[0]
        _settle(data, point, work)


@summing_step
def _settle(data, point, work):  # type: ignore[no-untyped-def]
    """Fill in what follows from the weights and the intercept."""
    for i in range(point.f.size):
        point.f[i] = point.numbers[INTERCEPT]
    add_rows(data.X, work.ids, work.size[0], work.w, point.f)
    point.numbers[LOSS], point.numbers[SURPLUS] = evaluate_loss(data, point.f, point.r, point.W)


@summing_step
def _remember(point, work, model):  # type: ignore[no-untyped-def]
    """Keep the weights for the next start; drop the columns without, where there are many."""
    before = work.older_intercepts
    before[2], before[1], before[0] = before[1], before[0], point.numbers[INTERCEPT]
    n_zero = 0
    for k in range(work.size[0]):
        work.older[2, k], work.older[1, k], work.older[0, k] = work.older[1, k], work.older[0, k], work.w[k]
        n_zero += work.w[k] == 0
    if n_zero > 20:
        _drop_zeros(work)
        model.counts[STALE] = 1


@summing_step
def _write(point, work, record, place):  # type: ignore[no-untyped-def]
    """Record the weights, sorted by column; return how many columns have one for the first time."""
    begin, n_new = record.ends[place], 0
    end = begin
    for k in range(work.size[0]):
        if work.w[k] != 0:
            i = end
            while i > begin and record.ids[i - 1] > work.ids[k]:
                record.ids[i], record.w[i] = record.ids[i - 1], record.w[i - 1]
                i -= 1
            record.ids[i], record.w[i] = work.ids[k], work.w[k]
            end += 1
            n_new += not work.entered[work.ids[k]]
            work.entered[work.ids[k]] = True
    record.ends[place + 1] = end
    record.intercepts[place] = point.numbers[INTERCEPT]
    return n_new


@summing_kernel
def path(data, point, work, model, step, record, grid, at):  # type: ignore[no-untyped-def]
    """Solve along the grid from where ``at`` says: the next lambda, and the next place in the record.

    The third number of ``at`` says how many columns may still enter before the path stops. Rows of the grid are log
    lambda, l1, l2, tolerance, and whether to record. Returns SOLVED, FULL (enlarge the record
    and call again) or NOT_CONVERGED.
    """
    if at[0] == 0:
        _settle(data, point, work)
    for k in range(at[0], grid.shape[1]):
        at[0] = k
        if k >= 3:
            _extrapolate(data, point, work, grid[0, k - 3 : k + 1], grid[1, k], grid[2, k])
        if not _solve_at(data, point, work, model, step, grid[1, k], grid[2, k], grid[3, k]):
            return NOT_CONVERGED
        if grid[4, k] > 0:
            if record.ends[at[1]] + work.size[0] > record.ids.size:
                return FULL
            at[2] -= _write(point, work, record, at[1])
            at[1] += 1
            if at[2] <= 0:
                return SOLVED
        _remember(point, work, model)
    return SOLVED


Family = Literal["logistic", "linear"]

TOLERANCE, ROUNDING, PASSING = 1e-9, 1e-14, 1e-3
"""What may be violated, beside l1, where a solution is recorded; at least; where the path only passes."""

FINEST_RATIO = 0.9
"""Wider steps between lambdas are filled in: the path is followed, never jumped to."""

LEAST_SCALE = 1e-140
"""Squares of smaller numbers lose their digits."""

LANES = 16
"""Rows are padded to a multiple of this, so that no sum ends in single terms."""


class Paths(NamedTuple):
    """Solutions of M resamples at L lambdas; that of resample m at lambda l is list ``p = m * L + l``.

    Its columns are ``indices[indptr[p] : indptr[p + 1]]``, in rising order, its weights stand at the same places.
    """

    lambdas: Floats  # M × L, in the order given, else falling
    indptr: Ints
    indices: NDArray[np.int32]
    coefficients: Floats  # on the scale of the data
    standardized: Floats  # per standard deviation of the column
    intercepts: Floats  # M × L, on the scale of the data
    predictors: Floats | None  # M × L × n: intercept + X β for every row, also those that a resample leaves out


class _Standardized(NamedTuple):
    """One resample made ready, and what leads back to the scale of the data."""

    data: Data
    mean: Floats
    scale: Floats
    y_mean: float
    y_scale: float
    intercept: float
    largest: float  # the largest gradient at the model without features


def elastic_net_paths(
    X: ArrayLike,
    y: ArrayLike,
    counts: ArrayLike,
    *,
    family: Family,
    l1_ratio: float = 1.0,
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 100,
    lambda_min_ratio: float | None = None,
    predict: bool = False,
    stop_at: int | None = None,
) -> Paths:
    """Solve every resample at every lambda.

    ``y`` is -1 and 1 for the logistic family. Row m of ``counts`` (M × n) says how often, or with which weight, each
    row of ``X`` is in resample m. ``lambdas`` are shared (L) or per resample (M × L), in any order; by default each
    resample has its own ``n_lambdas``, geometric from its largest useful one down to ``lambda_min_ratio`` of it (1e-4
    if X has more rows than columns, else 1e-2). With ``stop_at``, a path goes no further than the lambda by which so
    many columns have entered: beyond it no column is listed, and intercepts are ``nan``.
    """
    X, y, counts = _check_rows(X, y, counts, family, l1_ratio)
    power = column_units(X)
    X = frozen(X / power, np.float64)
    shared = None if lambdas is None else _check_lambdas(lambdas, len(counts))
    ratio = (1e-4 if X.shape[0] > X.shape[1] else 1e-2) if lambda_min_ratio is None else lambda_min_ratio
    room = np.empty(X.shape[1] * _padded(X.shape[0]))
    parts = []
    for m, c in enumerate(counts):
        ready = _standardize(X, y, c, family, m, room)
        own = _default_lambdas(ready, l1_ratio, n_lambdas, ratio, m) if shared is None else shared[m]
        parts.append((own, *_solve(X, ready, l1_ratio, own, m, predict, stop_at)))
    all_lambdas, sizes, ids, coefficients, standardized, intercepts, predictors = zip(*parts, strict=True)
    indices = np.concatenate(ids)
    with np.errstate(over="ignore"):  # weights of tiny numbers, which not every caller needs
        on_scale_of_data = np.concatenate(coefficients) / power[indices]
    return Paths(
        np.array(all_lambdas),
        np.concatenate([[0], np.cumsum(np.concatenate(sizes))]),
        indices,
        on_scale_of_data,
        np.concatenate(standardized),
        np.array(intercepts),
        np.array(predictors) if predict else None,
    )


def largest_lambdas(
    X: ArrayLike, y: ArrayLike, counts: ArrayLike, *, family: Family, l1_ratio: float = 1.0
) -> NDArray[np.float64]:
    """Least lambda of each resample at which no column has a weight."""
    X, y, counts = _check_rows(X, y, counts, family, l1_ratio)
    X = frozen(X / column_units(X), np.float64)
    room = np.empty(X.shape[1] * _padded(X.shape[0]))
    ready = (_standardize(X, y, c, family, m, room) for m, c in enumerate(counts))
    return np.array([resample.largest * resample.y_scale / l1_ratio for resample in ready])


# Checks


class NothingVariesError(ValueError):
    """No column of a resample varies with y, so that none enters a path."""


def _check_rows(
    X: ArrayLike, y: ArrayLike, counts: ArrayLike, family: Family, l1_ratio: float
) -> tuple[Floats, Floats, Floats]:
    X, y, counts = frozen(X, np.float64), frozen(y, np.float64), frozen(counts, np.float64)
    if X.ndim != 2 or y.shape != X.shape[:1] or counts.shape[1:] != y.shape or not len(counts):
        raise ValueError(
            f"Expected X (n, d), y (n,) and counts (M, n), got shapes {X.shape}, {y.shape} and {counts.shape}."
        )
    if family not in ("logistic", "linear"):
        raise ValueError(f"Expected family 'logistic' or 'linear', got {family!r}.")
    if not 0 < l1_ratio <= 1:
        raise ValueError(f"Expected l1_ratio above 0 and at most 1, got {l1_ratio}. Without it no column is left out.")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ValueError("Expected finite numbers in X and y, got nan or infinity; impute or drop them first.")
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ValueError("Expected counts that are finite and not negative.")
    if family == "logistic" and not np.isin(y, (-1, 1)).all():
        raise ValueError("Expected y of -1 and 1 for the logistic family; code the two classes so.")
    return X, y, counts


def _check_lambdas(lambdas: ArrayLike, n_resamples: int) -> Floats:
    values = np.array(lambdas, dtype=np.float64)
    if values.ndim not in (1, 2) or not values.size or (values.ndim == 2 and len(values) != n_resamples):
        raise ValueError(f"Expected lambdas (L,) or ({n_resamples}, L), got shape {values.shape}.")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"Expected positive, finite lambdas, got {values.min():g} to {values.max():g}.")
    return np.broadcast_to(values, (n_resamples, values.shape[-1]))


def _default_lambdas(ready: _Standardized, l1_ratio: float, n_lambdas: int, ratio: float, resample: int) -> Floats:
    if not 0 < ratio < 1 or n_lambdas < 1:
        raise ValueError(
            f"Expected n_lambdas of at least 1 and lambda_min_ratio between 0 and 1, got {n_lambdas} and {ratio}."
        )
    if ready.largest == 0:
        raise NothingVariesError(
            f"Expected a column that varies with y in resample {resample}, got none, so that no lambdas can be chosen "
            f"from the data; give lambdas, or leave the resample out."
        )
    return np.geomspace(1, ratio, n_lambdas) * (ready.largest * ready.y_scale / l1_ratio)


# One resample


def _standardize(X: Floats, y: Floats, c: Floats, family: Family, resample: int, room: Floats) -> _Standardized:
    rows = np.flatnonzero(c)
    d, n = X.shape[1], rows.size
    if n == 0 or np.ptp(y[rows]) == 0:
        raise ValueError(
            f"Expected {'both classes' if family == 'logistic' else 'a y that varies'} in resample {resample}, got "
            f"{f'only y = {y[rows[0]]:g}' if n else 'no row at all'}; stratify the resampling or leave this one out."
        )
    weights, spread, target = np.zeros(_padded(n)), np.zeros(_padded(n)), np.ones(_padded(n))
    weights[:n] = c[rows] / c[rows].sum()
    spread[:n] = 1 / weights[:n]
    mean = float(np.sum(weights[:n] * y[rows]))
    if family == "linear":
        with np.errstate(all="ignore"):  # a scale of 0 or infinity is refused below
            scale = float(np.sqrt(np.sum(weights[:n] * (y[rows] - mean) ** 2)))
            target[:n] = (y[rows] - mean) / scale
        intercept, slope = 0.0, weights * target
    else:
        share, mean, scale = (1 + mean) / 2, 0.0, 1.0
        target[:n] = y[rows]
        intercept, slope = float(np.log(share / (1 - share))), weights * ((target > 0) - share)
    columns, means, scales = room[: d * weights.size].reshape(d, weights.size), np.empty(d), np.empty(d)
    largest = _standardize_columns(X, rows, weights, slope, columns, means, scales)
    if not (np.isfinite(scales).all() and (scales > LEAST_SCALE).all() and 0 < scale < np.inf):
        raise ValueError(
            f"Expected numbers whose squares can be computed, got larger or smaller ones in resample {resample}; "
            f"rescale the columns of X, or y."
        )
    data = Data(columns, target, weights, spread, family == "linear")
    return _Standardized(data, means, scales, mean, scale, intercept, largest)


def _solve(
    X: Floats, ready: _Standardized, l1_ratio: float, lambdas: Floats, resample: int, predict: bool, stop_at: int | None
) -> tuple[Ints, NDArray[np.int32], Floats, Floats, Floats, Floats | None]:
    """Solve one resample; return how many columns each lambda has, which, their weights, intercepts, predictors."""
    falling, place = np.unique(-lambdas, return_inverse=True)
    record = _follow(ready, l1_ratio, -falling, resample, stop_at)
    sizes, begins = np.diff(record.ends)[place], record.ends[place]
    ends = np.cumsum(sizes)
    order = np.arange(ends[-1]) + np.repeat(begins - ends + sizes, sizes)
    ids, standardized = record.ids[order], record.w[order] * ready.y_scale
    coefficients = standardized / ready.scale[ids]
    shifts = np.bincount(np.repeat(np.arange(place.size), sizes), coefficients * ready.mean[ids], place.size)
    intercepts = ready.y_mean + ready.y_scale * record.intercepts[place] - shifts
    predictors = _predictors(X, sizes, ids, coefficients, intercepts) if predict else None
    return sizes, ids, coefficients, standardized, intercepts, predictors


def _follow(ready: _Standardized, l1_ratio: float, falling: Floats, resample: int, stop_at: int | None) -> Record:
    """Follow the path through falling lambdas, until enough columns have entered; raise if a lambda is not solved."""
    grid = _fine_grid(falling / ready.y_scale, ready.largest / l1_ratio, l1_ratio, ready.y_scale)
    record = _new_record(falling.size, falling.size * min(ready.data.X.shape))
    state = start(ready.data, ready.intercept)
    at = np.array([0, 0, len(ready.data.X) + 1 if stop_at is None else max(1, stop_at)])
    while (outcome := path(ready.data, *state, record, grid, at)) == FULL:
        record = _enlarged(record)
    if outcome == NOT_CONVERGED:
        raise ValueError(
            f"Expected an optimum at every lambda, got no convergence at {np.exp(grid[0, at[0]]) * ready.y_scale:g} in "
            f"resample {resample}. Ask for larger lambdas only, or drop columns that are nearly combinations of others."
        )
    record.ends[at[1] + 1 :], record.intercepts[at[1] :] = record.ends[at[1]], np.nan
    return record


def _fine_grid(falling: Floats, largest: float, l1_ratio: float, y_scale: float) -> Floats:
    """Log lambda, l1, l2, tolerance and whether to record, for the lambdas and those that fill wide steps between."""
    logs = np.log(falling)
    above = np.maximum(np.concatenate([[np.log(largest) if largest > 0 else logs[0]], logs[:-1]]), logs)
    n_steps = np.maximum(1, np.ceil((above - logs) / -np.log(FINEST_RATIO) - 1e-9)).astype(np.int64)
    last = np.cumsum(n_steps) - 1
    down = np.arange(last[-1] + 1) - np.repeat(last, n_steps)  # 0 at a lambda to record, below 0 before it
    times = np.repeat(logs, n_steps) - down * np.repeat((above - logs) / n_steps, n_steps)
    recorded = down == 0
    level = np.exp(times)
    level[recorded] = falling
    l1, l2 = level * l1_ratio, level * y_scale * (1 - l1_ratio)
    tolerance = np.where(recorded, np.maximum(TOLERANCE * l1, ROUNDING), PASSING * l1)
    return np.array([times, l1, l2, tolerance, recorded])


def _new_record(n_lists: int, n_entries: int) -> Record:
    return Record(
        np.empty(n_entries, np.int32), np.empty(n_entries), np.zeros(n_lists + 1, np.int64), np.zeros(n_lists)
    )


def _enlarged(record: Record) -> Record:
    more = _new_record(record.intercepts.size, 4 * record.ids.size)
    more.ids[: record.ids.size], more.w[: record.w.size] = record.ids, record.w
    return more._replace(ends=record.ends, intercepts=record.intercepts)


def _padded(n: int) -> int:
    return -(-n // LANES) * LANES


def _predictors(
    X: Floats, sizes: Ints, ids: NDArray[np.int32], coefficients: Floats, intercepts: Floats
) -> NDArray[np.float64]:
    used, place = np.unique(ids, return_inverse=True)
    out = np.repeat(intercepts[:, None], X.shape[0], axis=1)
    _add_products(np.ascontiguousarray(X[:, used].T), sizes, place.astype(np.int64), coefficients, out)
    return out


@summing_kernel
def _add_products(columns, sizes, ids, coefficients, out):  # type: ignore[no-untyped-def]
    place = 0
    for row in range(sizes.size):
        f = out[row]
        for _ in range(sizes[row]):
            x, w = columns[ids[place]], coefficients[place]
            for i in range(f.size):
                f[i] += w * x[i]
            place += 1


@summing_kernel
def _standardize_columns(X, rows, weights, slope, columns, means, scales):  # type: ignore[no-untyped-def]
    """Fill in the standardized columns of these rows, zeros if constant; return the largest product with slope."""
    d, n = columns.shape
    largest = 0.0
    for first in range(0, d, 32):  # 32 columns at a time: whole lines of the cache
        last = min(first + 32, d)
        for i in range(rows.size):
            for j in range(first, last):
                columns[j, i] = X[rows[i], j]
        for j in range(first, last):
            x = columns[j]
            low, high, mean, square, product = x[0], x[0], 0.0, 0.0, 0.0
            for i in range(rows.size):
                mean += weights[i] * x[i]
                low, high = min(low, x[i]), max(high, x[i])
            varies = high - low > 1e-12 * max(abs(low), abs(high))
            for i in range(n):
                x[i] = x[i] - mean if varies and i < rows.size else 0.0
                square += weights[i] * x[i] * x[i]
            means[j], scales[j] = mean, np.sqrt(square) if varies else 1.0
            for i in range(n):
                x[i] /= scales[j]
                product += slope[i] * x[i]
            largest = max(largest, abs(product))
    return largest
