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

from holdfast.kernels.elastic_net_solver import FULL, NOT_CONVERGED, path
from holdfast.kernels.elastic_net_state import Data, Floats, Ints, Record, start
from holdfast.kernels.jit import frozen, summing_kernel
from holdfast.kernels.magnitude import column_units

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
