r"""Elastic-net paths, logistic, linear and Cox, of many resamples of one data set, to the optimum.

For each resample and each :math:`\lambda`, with the resample's weights :math:`c_i`, the minimum of

.. math:: \frac{1}{\sum_i c_i} \sum_i c_i\, \ell(y_i, b + x_i^\top \beta)
          + \lambda \left( \rho \|\beta\|_1 + \frac{1 - \rho}{2} \|\beta\|_2^2 \right)

over the intercept b and the weights β of columns that are standardized by the resample's weighted mean and standard
deviation (glmnet's scale). :math:`\rho` is ``l1_ratio`` and :math:`\lambda` the selectors' ``penalty_strength``; the
loss is log(1 + exp(-y f)), (y - f)²/2, or Cox's: minus the log partial likelihood, over the sum of the weights, without
intercept (:mod:`holdfast.kernels.cox`).

The optimality conditions hold to 1e-9 of λ ρ, or to 1e-14 where that is less, for standardized columns (and y, if
linear). Every lambda is solved, on separable data too, or an error is raised. Columns that are constant on a resample
get 0. Where columns are equal, up to sign, shift and scale, and ``l1_ratio`` is 1, the lowest carries the weight.

The path is followed from one lambda to the next (:func:`path`): a *working set* of columns may have weights, steps of
these weights come from a quadratic *model* of the loss, and a scan of all columns tells when no other has to enter.

On the working set of k columns x, at weights W of the rows, and with columns centered by W (which takes the intercept
out), the model is ½ δᵀHδ − pullᵀδ with H = XWXᵀ. ``rows`` hold H itself (GRAM: k × k) while k is at most the number of
rows of data, else the centered columns times √W (k × n), whose products are H. ``L`` is the Cholesky factor of H + l₂
on the support (the columns with a weight, listed in ``support``), reused as far as the support did not change
(``counts[FACTORED]``); or, with DUAL, of the n × n matrix l₂ + ZᵀZ, where the support is larger than the data has rows.
Columns that depend on others are noticed by their pivot and shifted out of the support (:func:`_slide`).

Of Cox's loss the curvature is no diagonal: what the model is made of are the columns that ``transform`` makes, whose
products are H. ``gain`` goes with W; in other losses it is 0.

Covariates are columns without a penalty: the first ``free`` rows of the data, always in the working set and in the
support, whatever their sign.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from holdfast.kernels.covariates import fit_covariates
from holdfast.kernels.cox import FIRST, LAST, curvature, evaluate, sort_rows, transform
from holdfast.kernels.jit import frozen, inlined_step, kernel, summing_kernel, summing_step
from holdfast.kernels.tolerances import column_units

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

INTERCEPT, LOSS, SURPLUS = range(3)  # in Point.numbers; the surplus is the sum of r, 0 at the optimum
WEIGHT, RIDGE = range(2)  # in Model.numbers: sum of W, and the l2 that is in the factor
SUPPORT, FACTORED, MADE, GRAM, STALE, DUAL, FREE = range(7)  # in Model.counts: numbers of features, flags, a number
SHIFT, OLD_SHIFT, OLD_SQUARE = range(3)  # in Step.numbers: changes of the intercept; the last is 0 for a fresh start
BLOCK = 1024  # rows of data whose part of the working set stays in the cache
SOLVED, FULL, NOT_CONVERGED = range(3)
MAX_STEPS, MAX_HALVINGS = 500, 100
SLOW = 0.2  # a step that leaves more than this of the violation asks for a new model
MAX_PASSES = 200
DEPENDENT = 1e-11  # a pivot below this share of its diagonal entry means a column that is a combination of others
TIED = 1e-9
LEVEL = 0.01  # share of the tolerance at which a direction is level

Family = Literal["logistic", "linear", "cox"]

TOLERANCE, ROUNDING, PASSING = 1e-9, 1e-14, 1e-3
"""Largest violation, relative to l1, where a solution is recorded; its floor; and where the path only passes."""

FINEST_RATIO = 0.9
"""Wider steps between lambdas are filled in: the path is followed, never jumped to."""

LEAST_SCALE = 1e-140
"""Squares of smaller numbers lose their digits."""

LANES = 16
"""Rows are padded to a multiple of this, so that no sum ends in single terms."""


class Data(NamedTuple):
    """One resample; its rows are padded by rows of weight 0, so that vectors come out even."""

    X: Floats  # features × rows, standardized
    y: Floats  # -1 and 1, or standardized
    c: Floats  # weights of the rows, with sum 1
    spread: Floats  # 1 / c, 0 in the padding
    linear: bool
    cox: int  # the number of rows but the padding, which are sorted as ``cox.sort_rows`` does; 0 for other losses
    deaths: Floats  # cox: the weight of the events of a time, at its first row
    flags: Ints  # cox: where strata begin and end
    free: int  # so many of the first features have no penalty


class Point(NamedTuple):
    """Where the solver stands."""

    f: Floats  # linear predictor
    r: Floats  # minus the loss's slope
    W: Floats  # the loss's curvature
    gain: Floats
    numbers: Floats


class Working(NamedTuple):
    """The features that may have a weight, in the order of their coming, and bounds on the gradient of all others."""

    ids: Ints
    w: Floats
    g: Floats
    older: Floats  # weights at the last three lambdas
    older_intercepts: Floats
    bound: Floats  # per column; -inf for those inside
    reference: Floats  # the r at which the bounds hold
    entered: NDArray[np.bool_]  # per column: whether it has had a weight where one was recorded
    size: Ints


class Model(NamedTuple):
    """The quadratic model on the working set, with weights W that may lag behind the point's."""

    W: Floats
    gain: Floats
    turned: Floats  # cox: transformed columns, where rows hold their products
    mean: Floats
    curvature: Floats
    rows: Floats  # with GRAM the centered Gram matrix, else the centered columns times root W
    L: Floats  # Cholesky factor on the support, or with DUAL on the rows of data, its diagonal inverted
    support: Ints
    scaled: Floats
    counts: Ints
    numbers: Floats


class Step(NamedTuple):
    """CellWorkspace for a step, and for the point it leads to."""

    v: Floats
    pull: Floats
    x: Floats
    old: Floats
    delta: Floats
    ids: Ints
    moved: Floats
    dual: Floats
    image: Floats
    f: Floats
    r: Floats
    W: Floats
    gain: Floats
    numbers: Floats


class Record(NamedTuple):
    """The solutions at the recorded lambdas: sorted features and their weights, one list after the other."""

    ids: NDArray[np.int32]
    w: Floats
    ends: Ints
    intercepts: Floats


class Paths(NamedTuple):
    """Solutions of M resamples at L lambdas; that of resample m at lambda l is list ``p = m * L + l``.

    Its columns are ``indices[indptr[p] : indptr[p + 1]]``, in rising order, and its weights have the same indices.
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
    free: Floats  # weights of covariates at the model without features
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
    covariates: ArrayLike | None = None,
) -> Paths:
    """Solve every resample at every lambda.

    ``y`` is -1 and 1 for the logistic family, and an array of event, time and maybe stratum for Cox's. Row m of
    ``counts`` (M × n) says how often, or with which weight, each row of ``X`` is in resample m. ``lambdas`` are shared
    (L) or per resample (M × L), in any order; by default each resample has ``n_lambdas``, geometric from its largest
    useful one down to ``lambda_min_ratio`` of it (1e-4 if X has more rows than columns, else 1e-2). With ``stop_at``, a
    path goes no further than the lambda by which so many columns have entered: beyond it no column is listed, and
    intercepts are ``nan``.

    ``covariates`` (n × q, logistic family) are columns without a penalty. Their weights are not returned, and the
    intercepts are those next to covariates with mean 0 in the resample.
    """
    if family == "cox":
        if covariates is not None or predict:
            raise ValueError("Expected neither covariates nor predict for the Cox family.")
        sorted_rows = sort_rows(np.asarray(y))
        X, counts = np.asarray(X)[sorted_rows.order], np.asarray(counts)[:, sorted_rows.order]
        time = np.cumsum(sorted_rows.new_time)  # numbers of times in the order of rows, across strata
        y = np.column_stack([time, sorted_rows.event, sorted_rows.stratum])
    X, y, counts = _check_rows(X, y, counts, family, l1_ratio)
    if covariates is not None and (predict or family == "linear"):
        raise ValueError("Expected family 'logistic' without predict where there are covariates.")
    free = np.zeros((len(X), 0)) if covariates is None else frozen(covariates, np.float64)
    power = column_units(X)
    X = frozen(X / power, np.float64)
    shared = None if lambdas is None else _check_lambdas(lambdas, len(counts))
    ratio = (1e-4 if X.shape[0] > X.shape[1] else 1e-2) if lambda_min_ratio is None else lambda_min_ratio
    buffer = np.empty((X.shape[1] + free.shape[1]) * _padded(X.shape[0]))
    parts = []
    for m, c in enumerate(counts):
        ready = _standardize(X, y, c, family, m, buffer, free)
        grid = _default_lambdas(ready, l1_ratio, n_lambdas, ratio, m) if shared is None else shared[m]
        parts.append((grid, *_solve(X, ready, l1_ratio, grid, m, predict, stop_at)))
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


# Checks


class NothingVariesError(ValueError):
    """No column of a resample varies with y, so that none enters a path."""


def _check_rows(
    X: ArrayLike, y: ArrayLike, counts: ArrayLike, family: Family, l1_ratio: float
) -> tuple[Floats, Floats, Floats]:
    X, y, counts = frozen(X, np.float64), frozen(y, np.float64), frozen(counts, np.float64)
    if X.ndim != 2 or len(y) != len(X) or counts.shape[1:] != y.shape[:1] or not len(counts):
        raise ValueError(
            f"Expected X (n, d), y (n,) and counts (M, n), got shapes {X.shape}, {y.shape} and {counts.shape}."
        )
    if family not in ("logistic", "linear", "cox") or y.ndim != 1 + (family == "cox"):
        raise ValueError(f"Expected family 'logistic' or 'linear', or 'cox' with events and times, got {family!r}.")
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


def _standardize(
    X: Floats, y: Floats, c: Floats, family: Family, resample: int, buffer: Floats, covariates: Floats
) -> _Standardized:
    rows = np.flatnonzero(c)
    d, n = X.shape[1], rows.size
    if family == "cox":
        return _standardize_cox(X, y, c, resample, buffer, rows)
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
    free, start, kept = np.zeros((weights.size, 0)), np.zeros(0), weights
    if covariates.shape[1]:
        free, at, kept = fit_covariates(covariates[rows], target, weights, resample)
        intercept, start = float(at[0]), at[1:]
        slope, spread = kept * target * expit(-target * (intercept + free @ start)), spread * (kept > 0)
    whole = buffer[: (free.shape[1] + d) * weights.size].reshape(-1, weights.size)
    whole[: free.shape[1]], columns = free.T, whole[free.shape[1] :]
    means, scales = np.empty(d), np.empty(d)
    largest = _standardize_columns(X, rows, weights, slope, columns, means, scales)
    if not (np.isfinite(scales).all() and (scales > LEAST_SCALE).all() and 0 < scale < np.inf):
        raise ValueError(
            f"Expected numbers whose squares can be computed, got larger or smaller ones in resample {resample}; "
            f"rescale the columns of X, or y."
        )
    data = Data(whole, target, kept, spread, family == "linear", 0, np.zeros(1), np.zeros(1, np.int64), free.shape[1])
    return _Standardized(data, means, scales, mean, scale, intercept, start, largest)


def _standardize_cox(X: Floats, y: Floats, c: Floats, resample: int, buffer: Floats, rows: Ints) -> _Standardized:
    """The same for rows in the order of time; the columns of ``y`` are the number of the time, event and stratum."""
    time, event, stratum = y[rows].T
    if not event.any():
        raise ValueError(f"Expected events in resample {resample}, got censored rows only; stratify the resampling.")
    d, n = X.shape[1], rows.size
    weights, spread, target, deaths = np.zeros((4, _padded(n)))
    weights[:n] = c[rows] / c[rows].sum()
    spread[:n] = 1 / weights[:n]
    target[:n] = weights[:n] * event
    new_stratum = np.diff(stratum, prepend=-1) != 0
    first = np.flatnonzero(np.diff(time, prepend=-1) != 0)
    deaths[first] = np.add.reduceat(target[:n], first)
    flags = np.zeros(_padded(n), np.int64)
    flags[:n] = FIRST * new_stratum + LAST * np.append(new_stratum[1:], True)
    columns = buffer[: d * weights.size].reshape(d, weights.size)
    r, W, gain = np.zeros((3, weights.size))
    evaluate_at(n, np.zeros(weights.size), weights, target, deaths, flags, r, W, gain)
    means, scales = np.empty(d), np.empty(d)
    largest = _standardize_columns(X, rows, weights, r, columns, means, scales)
    if not (np.isfinite(scales).all() and (scales > LEAST_SCALE).all()):
        raise ValueError(
            f"Expected numbers whose squares can be computed, got larger or smaller ones in resample {resample}; "
            f"rescale the columns of X."
        )
    data = Data(columns, target, weights, spread, False, n, deaths, flags, 0)
    return _Standardized(data, means, scales, 0.0, 1.0, 0.0, np.zeros(0), largest)


@summing_kernel
def evaluate_at(n, f, c, events, deaths, flags, r, W, gain):  # type: ignore[no-untyped-def]
    """Cox's loss at a linear predictor, for callers that are not compiled."""
    return evaluate(n, f, c, events, deaths, flags, r, W, gain)


def _solve(
    X: Floats, ready: _Standardized, l1_ratio: float, lambdas: Floats, resample: int, predict: bool, stop_at: int | None
) -> tuple[Ints, NDArray[np.int32], Floats, Floats, Floats, Floats | None]:
    """Solve one resample; return how many columns each lambda has, which, their weights, intercepts, predictors."""
    falling, index = np.unique(-lambdas, return_inverse=True)
    record = _follow(ready, l1_ratio, -falling, resample, stop_at)
    sizes, begins = np.diff(record.ends)[index], record.ends[index]
    ends = np.cumsum(sizes)
    order = np.arange(ends[-1]) + np.repeat(begins - ends + sizes, sizes)
    ids, standardized = record.ids[order], record.w[order] * ready.y_scale
    coefficients = standardized / ready.scale[ids]
    shifts = np.bincount(np.repeat(np.arange(index.size), sizes), coefficients * ready.mean[ids], index.size)
    intercepts = ready.y_mean + ready.y_scale * record.intercepts[index] - shifts
    predictors = _predictors(X, sizes, ids, coefficients, intercepts) if predict else None
    return sizes, ids, coefficients, standardized, intercepts, predictors


def _follow(ready: _Standardized, l1_ratio: float, falling: Floats, resample: int, stop_at: int | None) -> Record:
    """Follow the path through falling lambdas, until enough columns have entered; raise if a lambda is not solved."""
    grid = _fine_grid(falling / ready.y_scale, ready.largest / l1_ratio, l1_ratio, ready.y_scale)
    room, n_lists = falling.size * min(ready.data.X.shape), falling.size
    record = Record(np.empty(room, np.int32), np.empty(room), np.zeros(n_lists + 1, np.int64), np.zeros(n_lists))
    state = start(ready.data, ready.intercept, ready.free)
    at = np.array([0, 0, len(ready.data.X) + 1 if stop_at is None else max(1, stop_at)])
    while (outcome := path(ready.data, *state, record, grid, at)) == FULL:
        more = 3 * record.ids.size
        ids, w = np.append(record.ids, np.empty(more, np.int32)), np.append(record.w, np.empty(more))
        record = record._replace(ids=ids, w=w)
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


def _padded(n: int) -> int:
    return -(-n // LANES) * LANES


def _predictors(
    X: Floats, sizes: Ints, ids: NDArray[np.int32], coefficients: Floats, intercepts: Floats
) -> NDArray[np.float64]:
    used, position = np.unique(ids, return_inverse=True)
    out = np.repeat(intercepts[:, None], X.shape[0], axis=1)
    _add_products(np.ascontiguousarray(X[:, used].T), sizes, position.astype(np.int64), coefficients, out)
    return out


@summing_kernel
def _add_products(columns, sizes, ids, coefficients, out):  # type: ignore[no-untyped-def]
    entry = 0
    for row in range(sizes.size):
        f = out[row]
        for _ in range(sizes[row]):
            x, w = columns[ids[entry]], coefficients[entry]
            for i in range(f.size):
                f[i] += w * x[i]
            entry += 1


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


# Along the path


def start(data: Data, intercept: float, free: Floats) -> tuple[Point, Working, Model, Step]:
    """Return the state at the model without features; big arrays are touched only as far as they are used."""
    d, n = data.X.shape
    width = min(d, n)
    most = d if data.free else width  # a support next to covariates is never solved by rows
    point = Point(np.full(n, intercept), np.zeros(n), np.zeros(n), np.zeros(n), np.array([intercept, 0.0, 0.0]))
    bound, size = np.full(d, np.inf), np.zeros(1, np.int64)
    work = Working(
        np.zeros(d, np.int64), np.zeros(d), np.zeros(d), np.zeros((3, d)), np.zeros(3), bound, np.zeros(n),
        np.zeros(d, np.bool_), size,
    )  # fmt: skip
    size[0] = data.free
    work.ids[: data.free], work.w[: data.free], bound[: data.free] = np.arange(data.free), free, -np.inf
    rows, L, support = np.empty((d, width)), np.empty((most + 1, most + 1)), np.zeros(d, np.int64)
    counts = np.array([0, 0, 0, 0, 1, 0, data.free])
    turned = np.empty((d if data.cox else 1, n))
    curvatures, means = np.zeros((2, d))
    model = Model(
        np.zeros(n), np.zeros(n), turned, means, curvatures, rows, L, support, np.zeros(BLOCK), counts, np.zeros(2)
    )
    v, pull, x, old, delta = np.zeros((5, d))
    image, f, r, W, gain = np.zeros((5, n))
    ids, moved, dual = np.zeros(d, np.int64), np.zeros(max(width, n)), np.zeros(width)
    step = Step(v, pull, x, old, delta, ids, moved, dual, image, f, r, W, gain, np.zeros(3))
    return point, work, model, step


@summing_kernel
def path(data, point, work, model, step, record, grid, at):  # type: ignore[no-untyped-def]
    """Solve along the grid from where ``at`` says: the next lambda, and the next list of the record.

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
            at[2] -= _write(data, point, work, record, at[1])
            at[1] += 1
            if at[2] <= 0:
                return SOLVED
        _remember(point, work, model)
    return SOLVED


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
    start = point.numbers[LOSS] + _penalty(work.w[data.free : n], work.w, 0.0, l1, l2)
    a = (t[3] - t[1]) * (t[3] - t[0]) / ((t[2] - t[1]) * (t[2] - t[0]))
    b = (t[3] - t[2]) * (t[3] - t[0]) / ((t[1] - t[2]) * (t[1] - t[0]))
    c = 1 - a - b
    for k in range(n):
        w0, w1, w2 = work.older[0, k], work.older[1, k], work.older[2, k]
        if k < data.free:
            work.w[k] = a * w0 + b * w1 + c * w2
        elif w0 * w1 > 0:  # a weight that came since has no slope yet
            new = a * w0 + b * w1 + c * w2 if w0 * w2 > 0 else w0 + (t[3] - t[2]) / (t[2] - t[1]) * (w0 - w1)
            work.w[k] = new if new * w0 > 0 else w0
    before = work.older_intercepts
    point.numbers[INTERCEPT] = a * before[0] + b * before[1] + c * before[2]
    _settle(data, point, work)
    if not point.numbers[LOSS] + _penalty(work.w[data.free : n], work.w, 0.0, l1, l2) <= start:
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
    point.numbers[LOSS], point.numbers[SURPLUS] = evaluate_loss(data, point.f, point.r, point.W, point.gain)


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
        _drop_zeros(work, model.counts[FREE])
        model.counts[STALE] = 1


@summing_step
def _write(data, point, work, record, index):  # type: ignore[no-untyped-def]
    """Record the weights, sorted by column; return how many columns have one for the first time."""
    begin, n_new = record.ends[index], 0
    end = begin
    for k in range(data.free, work.size[0]):
        if work.w[k] != 0:
            i, column = end, work.ids[k] - data.free
            while i > begin and record.ids[i - 1] > column:
                record.ids[i], record.w[i] = record.ids[i - 1], record.w[i - 1]
                i -= 1
            record.ids[i], record.w[i] = column, work.w[k]
            end += 1
            n_new += not work.entered[work.ids[k]]
            work.entered[work.ids[k]] = True
    record.ends[index + 1] = end
    record.intercepts[index] = point.numbers[INTERCEPT]
    return n_new


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
        if k < data.free:
            active = max(active, abs(g))
        elif w != 0:
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
def _drop_zeros(work, free):  # type: ignore[no-untyped-def]
    """Leave columns without a weight to the scan."""
    n = free
    for k in range(free, work.size[0]):
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
    n, support, delta, numbers, free = model.counts[SUPPORT], model.support, step.delta, step.numbers, data.free
    numbers[SHIFT] = numbers[OLD_SHIFT] + conjugate * numbers[SHIFT]
    slope, bend = point.numbers[SURPLUS] * numbers[SHIFT], 0.0
    for k in range(free, w.size):
        if w[k] == 0:
            delta[k] = 0
    for i in range(n):
        k = support[i]
        delta[k] = step.x[i] + conjugate * delta[k]
        slope += step.pull[i] * delta[k]
        bend += l2 * delta[k] * delta[k]
    for k in range(free):
        bend -= l2 * delta[k] * delta[k]
    if data.cox:
        bend += curvature(data.cox, step.image, point.gain, point.W)
    else:
        for i in range(step.image.size):
            bend += point.W[i] * step.image[i] * step.image[i]
    length = slope / bend
    for k in range(free, w.size):
        if w[k] != 0 and w[k] * (w[k] + length * delta[k]) <= 0:
            return False
    return _move(data, point, work, step, length, l1, l2)


@summing_step
def _turn(data, point, work, model, step, l1, l2):  # type: ignore[no-untyped-def]
    """Solve the model on the support into step.x and turn step.image to it; return the share left of the old step."""
    x, old, pull, numbers, surplus = step.x, step.old, step.pull, step.numbers, point.numbers[SURPLUS]
    n, support = model.counts[SUPPORT], model.support
    for i in range(n):
        k = support[i]
        w = work.w[k]
        pull[i] = work.g[k] - l2 * w - (l1 if w > 0 else -l1)
        x[i] = pull[i] - model.mean[k] * surplus
        step.ids[i] = work.ids[k]
    for k in range(data.free):  # the first of the support
        pull[k] = work.g[k]
        x[k] = pull[k] - model.mean[k] * surplus
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
    w, delta, free = work.w[: work.size[0]], step.delta, data.free
    cost = _penalty(w[free:], delta[free:], 0.0, l1, l2)
    start = point.numbers[LOSS] + cost
    highest = start * (1 + 1e-13)
    if data.cox:  # this loss may be below 0, and the sum about 0
        highest = start + 1e-13 * (abs(point.numbers[LOSS]) + cost)
    loss, surplus, falls = 0.0, 0.0, False
    for _ in range(MAX_HALVINGS):
        for i in range(step.f.size):
            step.f[i] = point.f[i] + length * step.image[i]
        loss, surplus = evaluate_loss(data, step.f, step.r, step.W, step.gain)
        falls = loss + _penalty(w[free:], delta[free:], length, l1, l2) <= highest
        if falls or length < 2e-6:
            break
        length /= 2
    if not falls:
        return False
    for k in range(w.size):
        w[k] += length * delta[k]  # a full step to zero ends in zero exactly
    for i in range(step.f.size):
        point.f[i], point.r[i], point.W[i] = step.f[i], step.r[i], step.W[i]
        point.gain[i] = step.gain[i]
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


# The loss


ROUND = 6755399441055744.0  # 1.5 · 2^52: adding it rounds to an integer, to be found in the lowest bits


@intrinsic
def _two_to(typing_context: Any, shifted: Any) -> Any:
    """2^k from the number k + ROUND, whose lowest bits are k."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integer = context.get_value_type(types.int64)
        exponent = builder.add(builder.bitcast(arguments[0], integer), integer(1023))
        return builder.bitcast(builder.shl(exponent, integer(52)), context.get_value_type(types.float64))

    return types.float64(types.float64), generate


@kernel  # in another order of its sums ROUND would cancel
def _exp_minus(a):  # type: ignore[no-untyped-def]
    """exp(-a) for a ≥ 0 to the last digit; unlike the library's, it runs in vectors."""
    a = -min(a, 708.0)
    shifted = a * 1.4426950408889634 + ROUND
    k = shifted - ROUND
    x = (a - k * 0.69314718036912382) - k * 1.9082149292705877e-10  # log 2 in two parts
    p = ((x / 6227020800 + 1 / 479001600) * x + 1 / 39916800) * x + 1 / 3628800
    p = (((p * x + 1 / 362880) * x + 1 / 40320) * x + 1 / 5040) * x + 1 / 720
    p = (((((p * x + 1 / 120) * x + 1 / 24) * x + 1 / 6) * x + 0.5) * x + 1) * x + 1
    return p * _two_to(shifted)


@inlined_step
def _log_one_plus(e):  # type: ignore[no-untyped-def]
    """log(1 + e) for e in [0, 1], by the series of artanh."""
    z = e / (2 + e)
    s = z * z
    p = (((s / 31 + 1 / 29) * s + 1 / 27) * s + 1 / 25) * s + 1 / 23
    p = ((((p * s + 1 / 21) * s + 1 / 19) * s + 1 / 17) * s + 1 / 15) * s + 1 / 13
    p = (((((p * s + 1 / 11) * s + 1 / 9) * s + 1 / 7) * s + 1 / 5) * s + 1 / 3) * s + 1
    return 2 * z * p


@inlined_step
def evaluate_loss(data, f, r, W, gain):  # type: ignore[no-untyped-def]
    """Fill in minus the slope and the curvature of the loss at f; return the loss and the sum of r."""
    y, c = data.y, data.c
    if data.cox:
        return evaluate(data.cox, f, c, y, data.deaths, data.flags, r, W, gain), 0.0
    loss, surplus = 0.0, 0.0
    if data.linear:
        for i in range(f.size):
            error = y[i] - f[i]
            r[i], W[i] = c[i] * error, c[i]
            loss += 0.5 * r[i] * error
            surplus += r[i]
        return loss, surplus
    for i in range(f.size):
        margin = y[i] * f[i]
        e = _exp_minus(abs(margin))
        q = 1 / (1 + e)
        r[i] = c[i] * y[i] * (e * q if margin > 0 else q)
        W[i] = c[i] * e * q * q
        loss += c[i] * (_log_one_plus(e) + max(-margin, 0.0))
        surplus += r[i]
    return loss, surplus


# Sums


@inlined_step
def dot(a, b):  # type: ignore[no-untyped-def]
    """The sum of products, as long as a."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@inlined_step
def _sum(a):  # type: ignore[no-untyped-def]
    """The sum, in a separate loop: one that also writes adds in another order where arrays happen to be neighbors."""
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


@inlined_step
def add_times(t, x, y):  # type: ignore[no-untyped-def]
    """y += t x."""
    for i in range(x.size):
        y[i] += t * x[i]


@inlined_step
def add_dots(X, ids, n, begin, v, out):  # type: ignore[no-untyped-def]
    """out += X[ids, begin:] v, as far as v goes, four rows at a time."""
    end = begin + v.size
    for k in range(0, n - 3, 4):
        a0, a1 = X[ids[k], begin:end], X[ids[k + 1], begin:end]
        a2, a3 = X[ids[k + 2], begin:end], X[ids[k + 3], begin:end]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for i in range(v.size):
            s0 += a0[i] * v[i]
            s1 += a1[i] * v[i]
            s2 += a2[i] * v[i]
            s3 += a3[i] * v[i]
        out[k] += s0
        out[k + 1] += s1
        out[k + 2] += s2
        out[k + 3] += s3
    for k in range(n - n % 4, n):
        out[k] += dot(X[ids[k], begin:end], v)


@inlined_step
def add_rows(X, ids, n, w, out):  # type: ignore[no-untyped-def]
    """out += w X[ids], four rows at a time."""
    for k in range(0, n - 3, 4):
        a0, a1, a2, a3 = X[ids[k]], X[ids[k + 1]], X[ids[k + 2]], X[ids[k + 3]]
        w0, w1, w2, w3 = w[k], w[k + 1], w[k + 2], w[k + 3]
        for i in range(out.size):
            out[i] += (w0 * a0[i] + w1 * a1[i]) + (w2 * a2[i] + w3 * a3[i])
    for k in range(n - n % 4, n):
        add_times(w[k], X[ids[k]], out)


# The quadratic model


@summing_step
def renew_model(point, work, model):  # type: ignore[no-untyped-def]
    """Take over the point's weights; rows are still to be made."""
    total = 0.0
    for i in range(point.W.size):
        model.W[i], model.gain[i] = point.W[i], point.gain[i]
        total += point.W[i]
    model.numbers[WEIGHT] = total if total > 0 else 1.0  # Cox's curvature is 0 where no row outlives an event
    model.counts[GRAM] = work.size[0] <= model.rows.shape[1]
    model.counts[MADE] = model.counts[FACTORED] = model.counts[STALE] = 0


@summing_step
def extend_model(data, work, model):  # type: ignore[no-untyped-def]
    """Make the rows that the model lacks; say that it is stale if its Gram matrix would be larger than the data."""
    first, last = model.counts[MADE], work.size[0]
    if model.counts[GRAM] and last <= model.rows.shape[1]:
        if data.cox:
            _make_cox_rows(data, work.ids, model, first, last, model.turned)
            _make_products(model, first, last)
        else:
            _make_gram_rows(data.X, work.ids, model, first, last)
    elif model.counts[GRAM]:
        model.counts[STALE] = 1
    elif data.cox:
        _make_cox_rows(data, work.ids, model, first, last, model.rows)
    else:
        _make_root_rows(data.X, work.ids, model, first, last)
    model.counts[MADE] = last


@inlined_step
def _make_gram_rows(X, ids, model, first, last):  # type: ignore[no-untyped-def]
    W, rows, mean, scaled = model.W, model.rows, model.mean, model.scaled
    for k in range(first, last):
        mean[k] = 0
        for t in range(k + 1):
            rows[k, t] = 0
    for begin in range(0, W.size, BLOCK):
        for k in range(first, last):
            x = X[ids[k], begin : begin + BLOCK]
            for i in range(x.size):
                scaled[i] = x[i] * W[begin + i]
            mean[k] += _sum(scaled[: x.size]) / model.numbers[WEIGHT]
            add_dots(X, ids, k + 1, begin, scaled[: x.size], rows[k])
    for k in range(first, last):
        for t in range(k + 1):
            rows[k, t] -= mean[k] * mean[t] * model.numbers[WEIGHT]
            rows[t, k] = rows[k, t]
        model.curvature[k] = rows[k, k]


@summing_step
def _make_cox_rows(data, ids, model, first, last, rows):  # type: ignore[no-untyped-def]
    """Fill in the columns whose products are the curvature of Cox's loss."""
    n, root = data.cox, np.empty(data.cox)
    for i in range(n):
        root[i] = np.sqrt(model.W[i])
    for k in range(first, last):
        rows[k, n:] = 0.0
        transform(n, data.X[ids[k]], model.gain, root, rows[k])
        model.mean[k] = 0.0
        model.curvature[k] = dot(rows[k], rows[k])


@summing_step
def _make_products(model, first, last):  # type: ignore[no-untyped-def]
    for k in range(first, last):
        for t in range(k + 1):
            model.rows[k, t] = dot(model.turned[k], model.turned[t])
            model.rows[t, k] = model.rows[k, t]


@summing_step
def _make_root_rows(X, ids, model, first, last):  # type: ignore[no-untyped-def]
    for k in range(first, last):
        x, row = X[ids[k]], model.rows[k]
        model.mean[k] = dot(x, model.W) / model.numbers[WEIGHT]
        for i in range(x.size):
            row[i] = np.sqrt(model.W[i]) * (x[i] - model.mean[k])
        model.curvature[k] = dot(row, row)


@summing_step
def factor(model, v, l2):  # type: ignore[no-untyped-def]
    """Factor the model on the support of v, from where it changed; return whether no column depends on those before.

    A support larger than the data has rows is solved through l2 + Zᵀ Z, where Z are the model's rows.
    """
    counts, support, n = model.counts, model.support, 0
    valid, before = counts[FACTORED], counts[SUPPORT]
    for k in range(v.size):
        if v[k] != 0 or k < counts[FREE]:
            if support[n] != k:
                valid, support[n] = min(valid, n), k
            n += 1
    dual = l2 > 0 and n > model.rows.shape[1] and counts[FREE] == 0
    if model.numbers[RIDGE] != l2 or counts[DUAL] != dual or (dual and n != before):
        valid = 0
    model.numbers[RIDGE], counts[SUPPORT], counts[DUAL], counts[FACTORED] = l2, n, dual, n
    if dual:
        if valid == n or _factor_dual(model, n, l2):
            return True
        valid = counts[DUAL] = 0
    return _factor_primal(model, valid, n, l2)


@summing_step
def _factor_primal(model, valid, n, l2):  # type: ignore[no-untyped-def]
    L, rows, support, size = model.L, model.rows, model.support, model.L.shape[0] - 1
    for i in range(valid, n):
        row = rows[support[i]]
        for j in range(i + 1):
            L[i, j] = row[support[j]] if model.counts[GRAM] else dot(row, rows[support[j]])
        L[i, i] += l2 if i >= model.counts[FREE] else 0.0
        if not _eliminate(L, i) or i == size:  # no more columns than rows are independent
            model.counts[FACTORED] = i
            return False
    return True


@summing_step
def _factor_dual(model, n, l2):  # type: ignore[no-untyped-def]
    L, size = model.L, model.rows.shape[1]
    for i in range(size):
        for j in range(i):
            L[i, j] = 0
        L[i, i] = l2
    for k in range(n):
        z = model.rows[model.support[k]]
        for i in range(size):
            add_times(z[i], z[: i + 1], L[i, : i + 1])
    independent = True
    for i in range(size):
        independent = independent and _eliminate(L, i)
    return independent


@inlined_step
def _eliminate(L, i):  # type: ignore[no-untyped-def]
    """Turn row i of a matrix into that of its factor; return whether its pivot is more than rounding."""
    row, pivot = L[i], L[i, i]
    for j in range(i):
        row[j] = (row[j] - dot(row[:j], L[j, :j])) * L[j, j]
        pivot -= row[j] * row[j]
    if pivot <= DEPENDENT * row[i]:
        return False
    row[i] = 1 / np.sqrt(pivot)
    return True


@summing_step
def solve_factored(model, x, l2, dual):  # type: ignore[no-untyped-def]
    """Replace x by the solution on the support."""
    L, n = model.L, model.counts[SUPPORT]
    if not model.counts[DUAL]:
        _substitute(L, n, x)
        return
    for i in range(dual.size):
        dual[i] = 0
    for k in range(n):
        add_times(x[k], model.rows[model.support[k]], dual)
    _substitute(L, dual.size, dual)
    for k in range(n):
        x[k] = (x[k] - dot(model.rows[model.support[k]], dual)) / l2


@summing_step
def _substitute(L, n, x):  # type: ignore[no-untyped-def]
    for i in range(n):
        x[i] = (x[i] - dot(L[i, :i], x[:i])) * L[i, i]
    _substitute_back(L, n, x)


@inlined_step
def _substitute_back(L, n, x):  # type: ignore[no-untyped-def]
    for i in range(n - 1, -1, -1):
        x[i] *= L[i, i]
        add_times(-x[i], L[i, :i], x[:i])


# Its minimum


@summing_step
def minimize_model(work, model, step, l1, l2, tolerance):  # type: ignore[no-untyped-def]
    """Minimize the model plus penalty over the working set into step.v: signs by coordinates, then all at once."""
    n = work.size[0]
    v, pull = step.v[:n], step.pull[:n]
    moved = step.moved[: n if model.counts[GRAM] else model.W.size]
    for k in range(n):
        v[k] = work.w[k]
    for i in range(moved.size):
        moved[i] = 0  # with GRAM the model's matrix times (v - w), else its root
    for iteration in range(MAX_PASSES):
        settled = _pass_coordinates(model, pull, l1, l2, tolerance, v, moved) <= tolerance
        if iteration % 2 == 0 and not settled:
            continue
        independent = factor(model, v, l2)
        if settled and independent:
            return
        for _ in range(n):  # each time one weight fewer
            if independent and _go_to_optimum(model, pull, l1, l2, v, moved, step.x, step.dual):
                break
            if not independent:
                _slide(model, pull, l1, l2, v, moved, step.x)
            independent = factor(model, v, l2)


@summing_step
def _pass_coordinates(model, pull, l1, l2, tolerance, v, moved):  # type: ignore[no-untyped-def]
    """Minimize over one weight after the other; return the largest change of a gradient by its weight."""
    largest = 0.0
    for k in range(v.size):
        row, curvature = model.rows[k, : moved.size], model.curvature[k]
        if curvature <= 0:
            continue
        target = pull[k] - (moved[k] if model.counts[GRAM] else dot(row, moved)) + curvature * v[k]
        new = 0.0
        if k < model.counts[FREE]:
            new = target / curvature
        elif abs(target) > (l1 if v[k] != 0 else l1 + tolerance):  # else equal columns would alternate
            new = (target - l1 if target > 0 else target + l1) / (curvature + l2)
        change = new - v[k]
        if change != 0:
            v[k] = new
            add_times(change, row, moved)
            largest = max(largest, abs(change) * curvature)
    return largest


@summing_step
def _go_to_optimum(model, pull, l1, l2, v, moved, x, dual):  # type: ignore[no-untyped-def]
    """Go to the optimum on the support, or as far as the first weight that reaches zero; return whether all the way."""
    for i in range(model.counts[SUPPORT]):
        k = model.support[i]
        already = moved[k] if model.counts[GRAM] else dot(model.rows[k], moved)
        x[i] = pull[k] - already - l2 * v[k] - (l1 if v[k] > 0 else -l1)
    for k in range(model.counts[FREE]):
        x[k] = pull[k] - (moved[k] if model.counts[GRAM] else dot(model.rows[k], moved))
    solve_factored(model, x, l2, dual)
    return _go(model, model.counts[SUPPORT], 1.0, x, v, moved)


@summing_step
def _slide(model, pull, l1, l2, v, moved, x):  # type: ignore[no-untyped-def]
    """Shift weight among columns that depend on each other, hardly moving the fit, until one reaches zero.

    Downhill; where the objective is level, as between equal columns, off the last to come. Columns that differ by their
    rounding, as copies far from 0 do, have other slopes of the loss, which decide.
    """
    support, last = model.support, model.counts[FACTORED]
    for i in range(last):
        x[i] = -model.L[last, i]
    _substitute_back(model.L, last, x)
    x[last] = 1
    uphill, size = 0.0, 0.0
    for i in range(last + 1):
        k = support[i]
        already = moved[k] if model.counts[GRAM] else dot(model.rows[k], moved)
        uphill -= x[i] * (pull[k] - already)
        if i >= model.counts[FREE]:
            uphill += x[i] * (l2 * v[k] + (l1 if v[k] > 0 else -l1))
            size += abs(x[i])
    if abs(uphill) <= LEVEL * max(TOLERANCE * l1, ROUNDING) * size:
        uphill = v[support[last]]
    for i in range(last + 1):
        x[i] = -x[i] if uphill > 0 else x[i]
    _go(model, last + 1, np.inf, x, v, moved)


@summing_step
def _go(model, n, farthest, x, v, moved):  # type: ignore[no-untyped-def]
    """Add x to the first n weights of the support, as far as the first that reaches zero; return whether none does."""
    length, first = farthest, -1
    for i in range(n):
        w = v[model.support[i]]
        if model.support[i] >= model.counts[FREE] and w * x[i] < 0 and -w / x[i] < length:
            length, first = -w / x[i], i
    for i in range(n):
        k = model.support[i]
        change = -v[k] if i == first else length * x[i]
        v[k] += change
        add_times(change, model.rows[k, : moved.size], moved)
    return first < 0
