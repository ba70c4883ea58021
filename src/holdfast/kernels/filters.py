"""Features weighed one by one, from the mean and scatter of each class: variance, Golub's ratio, both, ANOVA's F.

One pass (:func:`class_moments`) is enough for all. It sums centered data, class by class, for several resamples while
some columns are in the cache; where that would lose digits, because a class varies little compared to its distance from
the center, the definition's two passes. Formulas take the moments of one resample, or of several along a first axis.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.jit import exact_step, frozen, kernel, summing_kernel
from holdfast.kernels.libraries import Array, NumpyLibrary, column_blocks, parts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Contrast = Literal["pairwise", "rest"]

NOTHING_LEFT = 1e-16
"""A feature of which the covariates leave so small a share of its squares is made of them, up to rounding."""
LOST = 1e-3
"""A scatter below this share of the squares it is the remainder of is computed anew."""
AT_ONCE = 2**23
"""Numbers of a table up to which it is centered as a whole, once; a larger one goes by blocks of its columns."""
PART = 512
"""Columns of which sums over rows stay in the fastest cache."""
WIDTH = 256
"""Columns that are summed at a time: those of all rows stay in the cache from one resample to the next."""
MOMENTS = 2**16
"""Numbers in the moments that are computed at a time, of eight resamples at least."""


class Centered(NamedTuple):
    """Data about a center in units of their spread: shared by all resamples.

    Rows of one class stand together, so that a sum over a class goes over a part of the data.
    """

    values: Floats  # n × d
    unit: Floats  # d
    rows: Ints  # where each row comes from
    ends: list[int]  # of the rows of each class, after a 0


class Moments(NamedTuple):
    """Of each class: its size (classes), its mean about the center and sum of squared deviations (classes × d).

    A class that has no row has size 0, the mean of the first class that has one, and no deviations. Of several
    resamples, these arrays stand one after the other along a first axis.
    """

    size: Floats
    mean: Floats  # in the unit of each feature
    scatter: Floats
    unit: Floats


def centered(X: Floats, y: ArrayLike) -> Centered:
    """Center each column; a constant one at its value, so that nothing is left of it.

    ``y`` holds classes, whole numbers from 0. The unit is the power of two above the spread: division by it is exact,
    and squares of tiny values are not lost.
    """
    labels = np.asarray(y, dtype=np.int64)
    rows = np.argsort(labels, kind="stable")
    X = np.ascontiguousarray(X)  # sums over rows go by the order in memory
    spread = np.ptp(X, axis=0)
    unit = np.ldexp(1.0, np.clip(np.frexp(spread)[1], -1000, 1000))
    values = X[rows] - np.where(spread > 0, X.mean(axis=0), X[0])
    values /= unit
    return Centered(values, unit, rows, [0, *np.cumsum(np.bincount(labels)).tolist()])


def moments_of_resamples(data: Centered, counts: NDArray[Any]) -> Iterator[Moments]:
    """Yield the moments of all resamples, several at a time; ``counts`` are resamples × rows."""
    at_once = max(8, MOMENTS // max(1, (len(data.ends) - 1) * data.unit.size))
    return (class_moments(data, counts[first : first + at_once]) for first in range(0, len(counts), at_once))


def moments_by_blocks(X: NDArray[Any], y: ArrayLike, counts: NDArray[Any]) -> Iterator[Moments]:
    """Do the same for a table of any numbers, of which one block of columns at a time is float64.

    So many resamples share a pass over the table as have moments of its size.
    """
    n, d = X.shape
    at_once = max(8, n // (2 * len(np.unique(y))))
    for first in range(0, len(counts), at_once):
        some = counts[first : first + at_once]
        blocks = (centered(X[:, part].astype(np.float64), y) for part in column_blocks(n, d, AT_ONCE // 2))
        yield _join(class_moments(block, some) for block in blocks)


def _join(parts: Iterable[Moments]) -> Moments:
    """Moments of blocks of columns, side by side."""
    sizes, means, scatters, units = zip(*parts, strict=True)
    return Moments(sizes[0], np.concatenate(means, axis=-1), np.concatenate(scatters, axis=-1), np.concatenate(units))


def class_moments(data: Centered, counts: ArrayLike | None = None) -> Moments:
    """Weighted moments of each class, in one resample or in several.

    ``counts`` says how often each row counts, once unless given; a row of it for each of several resamples.
    """
    weights = np.ones(data.rows.size) if counts is None else np.asarray(counts, dtype=np.float64)[..., data.rows]
    by_resample, ends = frozen(np.atleast_2d(weights), np.float64), frozen(data.ends, np.int64)
    shape = len(by_resample), ends.size - 1
    size, lost = np.zeros(shape), np.zeros(shape, np.bool_)
    mean, scatter = np.empty((*shape, data.unit.size)), np.empty((*shape, data.unit.size))
    _sum_classes(frozen(data.values, np.float64), ends, by_resample, size, mean, scatter, lost)
    for resample, group in np.argwhere(lost).tolist():
        part, columns = (
            slice(data.ends[group], data.ends[group + 1]),
            np.flatnonzero(np.isnan(scatter[resample, group])),
        )
        of_columns = _two_passes(data.values[part], by_resample[resample, part], columns)
        mean[resample, group, columns], scatter[resample, group, columns] = of_columns
    for resample, group in np.argwhere(size == 0).tolist():
        mean[resample, group] = mean[resample, size[resample].argmax()]
    moments = Moments(size, mean, scatter, data.unit)
    return moments if weights.ndim == 2 else Moments(size[0], mean[0], scatter[0], data.unit)


@kernel
def _sum_classes(values, ends, weights, size, mean, scatter, lost):  # type: ignore[no-untyped-def]
    """Set size, mean and scatter of each class; the scatter is ``nan`` where digits were lost, and the class marked."""
    drawn = np.empty(weights.shape[1], np.int64)
    for begin in range(0, values.shape[1], WIDTH):
        end = min(begin + WIDTH, values.shape[1])
        for resample in range(weights.shape[0]):
            for group in range(ends.size - 1):
                n = 0
                for row in range(ends[group], ends[group + 1]):
                    if weights[resample, row] > 0:
                        drawn[n] = row
                        n += 1
                total, squares = mean[resample, group, begin:end], scatter[resample, group, begin:end]
                for column in range(total.size):
                    total[column], squares[column] = 0.0, 0.0
                for first in range(0, n, 4):  # four at a time; beyond the last that again, with weight 0
                    a, b, c, d = (
                        drawn[first], drawn[min(first + 1, n - 1)], drawn[min(first + 2, n - 1)],
                        drawn[min(first + 3, n - 1)],
                    )  # fmt: skip
                    of_a = weights[resample, a]
                    of_b = weights[resample, b] if first + 1 < n else 0.0
                    of_c = weights[resample, c] if first + 2 < n else 0.0
                    of_d = weights[resample, d] if first + 3 < n else 0.0
                    if begin == 0:
                        size[resample, group] += (of_a + of_b) + (of_c + of_d)
                    in_a, in_b, in_c, in_d = (
                        values[a, begin:end], values[b, begin:end], values[c, begin:end], values[d, begin:end],
                    )  # fmt: skip
                    for column in range(total.size):
                        x, y, z, w = of_a * in_a[column], of_b * in_b[column], of_c * in_c[column], of_d * in_d[column]
                        total[column] += (x + y) + (z + w)
                        squares[column] += (x * in_a[column] + y * in_b[column]) + (z * in_c[column] + w * in_d[column])
                if n:
                    lost[resample, group] |= _finish(size[resample, group], total, squares)


@exact_step
def _finish(size, total, squares):  # type: ignore[no-untyped-def]
    """Make mean and scatter of sums, ``nan`` where digits were lost; returns whether any were."""
    for column in range(total.size):
        mean = total[column] / size
        left = squares[column] - size * mean * mean
        total[column], squares[column] = mean, left if left >= LOST * squares[column] else math.nan
    n_lost = 0
    for column in range(total.size):
        n_lost += squares[column] != squares[column]
    return n_lost > 0


def variance(moments: Moments) -> Floats:
    """Sample variance (divisor n - 1) of each feature over all classes together; ``nan`` for a single row."""
    n_free = moments.size.sum(axis=-1)[..., None] - 1
    scaled = (moments.scatter.sum(axis=-2) + _between(moments)) / np.where(n_free > 0, n_free, math.nan)
    return _in_units_of_data(scaled, moments.unit)


def _in_units_of_data(scaled: Floats, unit: Floats) -> Floats:
    """Variances, of those in units of each feature; raise if the largest is out of the range of numbers."""
    exponents = (np.frexp(scaled)[1] + 2 * np.frexp(unit)[1])[scaled > 0]
    if exponents.size and not -1000 < exponents.max() < 1020:
        raise ValueError(
            "Expected features whose variance can be computed, got one of about 10^"
            f"{exponents.max() * math.log10(2):.0f}; rescale the columns of X, all by one factor."
        )
    with np.errstate(under="ignore"):  # negligible next to the largest
        return scaled * unit * unit


def golub(moments: Moments, contrast: Contrast = "pairwise") -> Floats:
    """Golub's signal to noise, |μ₁ - μ₂| / (σ₁ + σ₂), with sample standard deviations (divisor n - 1).

    0 where the means are equal, infinite where only they differ; a class of one row has σ = 0. ``nan`` if there is
    only one class. Of more than two classes the largest ratio counts: of any two of them, or of one against the rest
    (``contrast="rest"``).
    """
    n_classes = moments.size.shape[-1]
    largest = np.full((*moments.size.shape[:-1], moments.unit.size), math.nan)
    pairs: Iterable[Moments] = (_classes(moments, pair) for pair in combinations(range(n_classes), 2))
    if n_classes > 2 and contrast == "rest":
        pairs = (_against_rest(moments, group) for group in range(n_classes))
    for pair in pairs:
        deviations = np.sqrt(pair.scatter / np.maximum(pair.size - 1, 1)[..., None])
        both = pair.size.min(axis=-1)[..., None] > 0
        largest = np.fmax(largest, _ratio(np.ptp(pair.mean, axis=-2), deviations.sum(axis=-2), both))
    return largest


def _classes(moments: Moments, groups: Sequence[int]) -> Moments:
    """The moments of some of the classes."""
    chosen = list(groups)
    return Moments(
        moments.size[..., chosen], moments.mean[..., chosen, :], moments.scatter[..., chosen, :], moments.unit
    )


def _against_rest(moments: Moments, group: int) -> Moments:
    """The moments of a class, and of all others as if they were one."""
    rest = _classes(moments, [other for other in range(moments.size.shape[-1]) if other != group])
    size, first = rest.size.sum(axis=-1), rest.mean[..., 0, :]
    shifted = (rest.size[..., None, :] @ (rest.mean - first[..., None, :]))[..., 0, :]
    mean = first + shifted / np.maximum(size, 1)[..., None]
    scatter = rest.scatter.sum(axis=-2) + _between(rest)
    return Moments(
        np.stack([moments.size[..., group], size], axis=-1),
        np.stack([moments.mean[..., group, :], mean], axis=-2),
        np.stack([moments.scatter[..., group, :], scatter], axis=-2),
        moments.unit,
    )


def golub_variance(
    moments: Moments, lambda_v: float, relative: bool = False, contrast: Contrast = "pairwise"
) -> Floats:
    """Golub's ratio + λ·variance (Hamer and Dupont 2020, equation 2); λ = ∞ is the variance alone.

    A ``relative`` λ counts in units of :func:`ratio_per_variance`.
    """
    if lambda_v == 0:
        return golub(moments, contrast)
    if math.isinf(lambda_v):
        return variance(moments)
    ratio, spread = golub(moments, contrast), variance(moments)
    with np.errstate(over="ignore"):
        weighted = lambda_v * (ratio_per_variance(ratio, spread) if relative else 1.0) * spread
    if np.isinf(weighted).any():
        raise ValueError(
            f"Expected lambda_v times the variance to be finite, got lambda_v={lambda_v:g}; lambda_v=inf is the order "
            "by variance."
        )
    return ratio + weighted


def ratio_per_variance(ratio: Floats, spread: Floats) -> Floats:
    """The largest finite ratio per largest variance, a unit in which data of any scale are alike; 1 if one is 0."""
    most, widest = (
        np.where(np.isfinite(weights), weights, 0.0).max(axis=-1, initial=0.0, keepdims=True)
        for weights in (ratio, spread)
    )
    return np.divide(most, widest, out=np.ones_like(most), where=(most > 0) & (widest > 0))


def anova_f(moments: Moments) -> Floats:
    """Variance between the classes over variance within them.

    0 for a feature whose class means are equal, infinite where only they differ; ``nan`` if there is one class, or no
    class of more than one row.
    """
    n_classes = np.count_nonzero(moments.size, axis=-1)[..., None]
    n_free = moments.size.sum(axis=-1)[..., None] - n_classes
    between, scatter = _between(moments), moments.scatter
    within = scatter[..., 0, :] + scatter[..., 1, :] if scatter.shape[-2] == 2 else scatter.sum(axis=-2)
    if n_classes.max() > 2:
        between /= np.maximum(n_classes - 1, 1)
    within /= np.where(n_free > 0, n_free, 1)
    return _ratio(between, within, (n_classes > 1) & (n_free > 0))


class Adjusted(NamedTuple):
    """Data about a center, with the covariates and the target that they are adjusted to, in the same order."""

    values: Floats  # n × d
    unit: Floats  # d
    design: Floats  # n × (q + k): an intercept, the covariates, the target
    n_covariates: int  # q, the intercept included


def adjusted(X: Floats, target: Floats, covariates: Floats) -> Adjusted:
    """Center columns, and put an intercept before the covariates.

    ``target`` has the numbers to predict, or a 0/1 column for each class but one.
    """
    data = centered(X.astype(np.float64, copy=False), np.zeros(len(X), dtype=np.int64))
    values = frozen(data.values, np.float64)
    return Adjusted(values, data.unit, np.column_stack([np.ones(len(X)), covariates, target]), 1 + covariates.shape[1])


class Scatter(NamedTuple):
    """Squares of each feature, next to covariates: all of them, what these leave, and what the target explains."""

    squares: Floats
    left: Floats
    explained: Floats
    n_covariates: int  # degrees of freedom, an intercept included
    n_target: int


def adjusted_scatter(shared: Adjusted, counts: ArrayLike | None = None) -> Scatter:
    """The scatter of each feature in one resample, in the unit of the feature."""
    weights = np.ones(len(shared.values)) if counts is None else np.asarray(counts, dtype=np.float64)
    drawn = np.flatnonzero(weights)
    root = np.sqrt(weights[drawn])[:, None]
    basis, q = _bases(shared.design[drawn] * root, shared.n_covariates)
    of_covariates, of_target = basis[:, :q], basis[:, q:]
    products, squares = np.zeros((basis.shape[1], shared.unit.size)), np.zeros(shared.unit.size)
    _add_products(shared.values, drawn, weights[drawn], np.ascontiguousarray(basis * root), products, squares)
    products *= products
    left, explained = squares - products[:q].sum(axis=0), products[q:].sum(axis=0)
    lost = np.flatnonzero(left - explained < LOST * squares)
    if lost.size:
        values = shared.values[np.ix_(drawn, lost)] * root
        values -= of_covariates @ (of_covariates.T @ values)
        values -= of_covariates @ (of_covariates.T @ values)
        explained[lost] = ((of_target.T @ values) ** 2).sum(axis=0)
        left[lost] = (values**2).sum(axis=0)
    left[left <= NOTHING_LEFT * squares] = 0.0
    return Scatter(squares, left, explained, q, of_target.shape[1])


@summing_kernel
def _add_products(values, rows, weights, basis, products, squares):  # type: ignore[no-untyped-def]
    """Add up basisᵀ values and the weighted squares of these rows; four rows and a part of their columns at a time."""
    n, d = rows.size, values.shape[1]
    for begin in range(0, d, PART):
        part = slice(begin, min(begin + PART, d))
        sums = squares[part]
        for i in range(0, n, 4):
            # rows past the end are the last one, with weights of 0
            b, c, e = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            x0, x1, x2, x3 = values[rows[i]][part], values[rows[b]][part], values[rows[c]][part], values[rows[e]][part]
            in_b, in_c, in_e = i + 1 < n, i + 2 < n, i + 3 < n
            w0, w1, w2, w3 = weights[i], in_b * weights[b], in_c * weights[c], in_e * weights[e]
            for j in range(sums.size):
                sums[j] += w0 * x0[j] ** 2 + w1 * x1[j] ** 2 + w2 * x2[j] ** 2 + w3 * x3[j] ** 2
            for k in range(len(products)):
                out = products[k][part]
                v0, v1, v2, v3 = basis[i, k], in_b * basis[b, k], in_c * basis[c, k], in_e * basis[e, k]
                for j in range(out.size):
                    out[j] += v0 * x0[j] + v1 * x1[j] + v2 * x2[j] + v3 * x3[j]


def partial_f(shared: Adjusted, counts: ArrayLike | None = None) -> tuple[Floats, int, float]:
    """F value of the target in a linear model of each feature, next to an intercept and the covariates.

    Returned with both degrees of freedom. By the largest of these, features are ordered as by their squared partial
    correlation with a target of numbers. Infinite where nothing else is left of a feature; ``nan`` where the
    covariates leave nothing of it, or of the target.
    """
    scatter = adjusted_scatter(shared, counts)
    n_free = (len(shared.values) if counts is None else float(np.sum(counts))) - scatter.n_covariates - scatter.n_target
    if not scatter.n_target or n_free <= 0:
        return np.full(shared.unit.size, math.nan), scatter.n_target, n_free
    within = np.maximum(scatter.left - scatter.explained, 0.0)
    within[within <= NOTHING_LEFT * scatter.left] = 0.0
    f = _ratio(scatter.explained / scatter.n_target, within / n_free)
    return np.where(scatter.left > 0, f, math.nan), scatter.n_target, n_free


def nested_f(shared: Adjusted, counts: ArrayLike, sites: Ints) -> Floats:
    """F value of the target within sites: linear models of each feature at each site, whose squares are added up.

    What the target explains may differ from site to site, in its direction too. A site that has one class adds to what
    is left within, and nothing else. ``nan`` as in :func:`partial_f`.
    """
    weights, parts = np.asarray(counts, dtype=np.float64), []
    for site in np.unique(sites[weights > 0]):
        parts.append(adjusted_scatter(shared, np.where(sites == site, weights, 0.0)))
    n_target, n_covariates = sum(part.n_target for part in parts), sum(part.n_covariates for part in parts)
    n_free = float(weights.sum()) - n_covariates - n_target
    if not n_target or n_free <= 0:
        return np.full(shared.unit.size, math.nan)
    left = np.sum([part.left for part in parts], axis=0)
    explained = np.sum([part.explained for part in parts], axis=0)
    within = np.maximum(left - explained, 0.0)
    within[within <= NOTHING_LEFT * left] = 0.0
    return np.where(left > 0, _ratio(explained / n_target, within / n_free), math.nan)


def partial_variance(shared: Adjusted, counts: ArrayLike | None = None) -> Floats:
    """Variance of what an intercept and the covariates leave of each feature; ``nan`` where too few rows are left."""
    scatter = adjusted_scatter(shared, counts)
    n_free = (len(shared.values) if counts is None else float(np.sum(counts))) - scatter.n_covariates
    if n_free <= 0:
        return np.full(shared.unit.size, math.nan)
    return _in_units_of_data(scatter.left / n_free, shared.unit)


def _bases(design: Floats, q: int) -> tuple[Floats, int]:
    """Orthonormal columns that span the same as the first q, then as all; and how many of them are of the first q."""
    basis, upper = np.linalg.qr(design)
    if len(upper) == design.shape[1] and (np.abs(np.diag(upper)) > 1e-6 * np.linalg.norm(upper, axis=0)).all():
        return basis, q
    first, target = _span(design[:, :q]), design[:, q:]
    rest = target - first @ (first.T @ target)
    rest -= first @ (first.T @ rest)  # twice, so that nothing of the covariates remains
    return np.column_stack([first, _span(rest, np.linalg.norm(target, axis=0))]), first.shape[1]


def _span(columns: Floats, scale: Floats | None = None) -> Floats:
    """Orthonormal columns that span the same space, up to rounding relative to the scale of each column."""
    lengths = np.linalg.norm(columns, axis=0) if scale is None else scale
    left, values, _ = np.linalg.svd(columns[:, lengths > 0] / lengths[lengths > 0], full_matrices=False)
    return left[:, values > 1e-10]


def _two_passes(values: Floats, weights: Floats, columns: Ints) -> tuple[Floats, Floats]:
    """A class's mean and scatter in these columns: the mean relative to its first row, then deviations from it."""
    rows = np.flatnonzero(weights)
    first = values[rows[0], columns]
    shifted = values[np.ix_(rows, columns)] - first
    mean = weights[rows] @ shifted / weights.sum()
    return first + mean, weights[rows] @ (shifted - mean) ** 2


def _between(moments: Moments) -> Floats:
    """Scatter of the class means; relative to the first, so that equal means have none."""
    size, mean = moments.size, moments.mean
    if size.shape[-1] == 2:
        difference = mean[..., 1, :] - mean[..., 0, :]
        difference *= difference
        difference *= (size[..., 0] * size[..., 1] / size.sum(axis=-1))[..., None]
        return difference
    shifted = mean - mean[..., :1, :]
    shifted -= (size[..., None, :] @ shifted) / size.sum(axis=-1)[..., None, None]
    shifted *= shifted
    return (size[..., None, :] @ shifted)[..., 0, :]


def _ratio(above: Floats, below: Floats, defined: NDArray[np.bool_] | np.bool_ = np.True_) -> Floats:
    if below.min(initial=1.0) > 0:
        ratio = above / below
    else:
        ratio = np.divide(above, below, out=np.where(above > 0, np.inf, 0.0), where=below > 0)
    return ratio if defined.all() else np.where(defined, ratio, math.nan)


# The best of them

SPARE = 8
"""How many more columns are looked at than are wanted, so that ties rarely ask for more."""


@exact_step
def _is_before(first, second, first_column, second_column):  # type: ignore[no-untyped-def]
    return first > second or (first == second and first_column < second_column)


@exact_step
def _sift(keys, columns, root, size):  # type: ignore[no-untyped-def]
    """Move the root of a heap down, of which the last in order is at the top."""
    key, column = keys[root], columns[root]
    while 2 * root + 1 < size:
        child = 2 * root + 1
        if child + 1 < size and _is_before(keys[child], keys[child + 1], columns[child], columns[child + 1]):
            child += 1
        if not _is_before(key, keys[child], column, columns[child]):
            break
        keys[root], columns[root] = keys[child], columns[child]
        root = child
    keys[root], columns[root] = key, column


@exact_step
def _make_heap(keys, columns, size):  # type: ignore[no-untyped-def]
    for root in range(size // 2 - 1, -1, -1):
        _sift(keys, columns, root, size)


@exact_step
def _sort_heap(keys, columns, size):  # type: ignore[no-untyped-def]
    for end in range(size - 1, 0, -1):
        keys[0], keys[end], columns[0], columns[end] = keys[end], keys[0], columns[end], columns[0]
        _sift(keys, columns, 0, end)


@exact_step
def _take_largest(weights, keys, columns, size):  # type: ignore[no-untyped-def]
    """Set the columns of the largest weights, falling, equal ones by column; those that are ``nan`` come last."""
    for column in range(size):
        keys[column], columns[column] = -math.inf if math.isnan(weights[column]) else weights[column], column
    _make_heap(keys, columns, size)
    for column in range(size, weights.size):
        if weights[column] > keys[0]:  # of equally large ones the first columns are there already
            keys[0], columns[0] = weights[column], column
            _sift(keys, columns, 0, size)
    _sort_heap(keys, columns, size)


@exact_step
def _find_least(weights):  # type: ignore[no-untyped-def]
    """The least weight that is defined, or 0 if none is less: undefined ones tie with it."""
    least = 0.0
    for weight in weights:
        if math.isfinite(weight) and weight < least:
            least = weight
    return least


@exact_step
def _group_ties(keys, groups, size, least, tolerance, rounding):  # type: ignore[no-untyped-def]
    """Number the groups of tied keys, which fall; what is undefined ties with the least of the others."""
    for position in range(size):
        if position == 0:
            groups[position] = 0
            first = keys[position]
            continue
        above, below = keys[position - 1], keys[position]
        falls = above - below > max(tolerance * min(abs(above), abs(below)), rounding)
        if below == -math.inf and above > below:
            falls = first != least
        groups[position] = groups[position - 1] + falls
        first = below if falls else first


@kernel
def best_of_rows(weights, informative, ranks, k, tolerance, rounding, order, ties, found):  # type: ignore[no-untyped-def]
    """Set the best columns of each row of weights, whether each ties with the next, and how many there are.

    Of tied columns the lowest come first, or those of the lowest ``ranks``, if there are any.
    """
    size = weights.shape[1]
    keys, columns, groups = np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64)
    column_of_rank = np.empty(size if ranks.shape[0] else 0, np.int64)
    for row in range(weights.shape[0]):
        looked_at, n, least = min(k + SPARE, size), 0, 0.0 if tolerance > 0 else math.inf
        while True:
            _take_largest(weights[row], keys, columns, looked_at)
            if keys[looked_at - 1] == -math.inf and tolerance > 0:
                least = _find_least(weights[row])
            _group_ties(keys, groups, looked_at, least, tolerance, rounding)
            whole = looked_at
            while looked_at < size and whole > 0 and groups[whole - 1] == groups[looked_at - 1]:
                whole -= 1  # the rest of this group may not be among those looked at
            n = 0
            for position in range(whole):
                if informative[row, columns[position]]:
                    columns[n], groups[n] = columns[position], groups[position]
                    n += 1
            if n >= k or looked_at >= size:
                break
            looked_at = min(4 * looked_at, size)
        found[row], any_tie = min(k, n), False
        for position in range(found[row]):
            ties[row, position] = position + 1 < n and groups[position + 1] == groups[position]
            any_tie = any_tie or ties[row, position]
        if any_tie:
            for position in range(n):
                keys[position] = -groups[position]
            if ranks.shape[0]:
                for column in range(size):
                    column_of_rank[ranks[row, column]] = column
                for position in range(n):
                    columns[position] = ranks[row, columns[position]]
            _make_heap(keys, columns, n)
            _sort_heap(keys, columns, n)
            for position in range(n if ranks.shape[0] else 0):
                columns[position] = column_of_rank[columns[position]]
        for position in range(found[row]):
            order[row, position] = columns[position]


def quantile_codes(values: Floats, counts: ArrayLike, n_bins: int) -> Ints:
    """Bins of numbers that hold about as many of the drawn rows each, from 0; equal numbers share one.

    A number's bin is that of the middle of its ranks. Rows that were not drawn are in bin 0.
    """
    if not isinstance(n_bins, (int, np.integer)) or isinstance(n_bins, bool) or n_bins < 2:
        raise ValueError(f"Expected target_bins to be None or a whole number of at least 2, got {n_bins!r}.")
    weights = np.asarray(counts, dtype=np.float64)
    drawn = np.flatnonzero(weights)
    _, place = np.unique(values[drawn], return_inverse=True)
    sizes = np.bincount(place, weights=weights[drawn])
    middle = (np.cumsum(sizes) - sizes / 2) / sizes.sum()
    codes = np.zeros(values.size, dtype=np.int64)
    codes[drawn] = np.unique((middle * n_bins).astype(np.int64), return_inverse=True)[1][place]
    return codes


# Features chosen one after the other, by their correlation


class Correlated(NamedTuple):
    """Columns of a resample with mean 0 and length 1, or 0 where they are constant, and the share of a target."""

    Z: Floats  # features × rows
    explained: Floats  # share of each column's squares that the target explains
    n_free: tuple[float, float]  # degrees of freedom of the target, and of what it leaves

    def relevance(self, kind: str) -> Floats:
        """The F value (``"f"``), or the absolute correlation with the target."""
        if kind != "f":
            return np.sqrt(self.explained)
        return _ratio(self.explained / self.n_free[0], (1.0 - self.explained) / max(self.n_free[1], 1.0))

    def redundancy(self, feature: int) -> Floats:
        """The absolute correlation of a feature with each."""
        shared = np.abs(self.Z @ self.Z[feature])
        shared[shared < ROUNDING] = 0.0
        return shared


ROUNDING = 1e-11
"""Correlations below are rounding."""


def correlate(X: Floats, target: Floats, counts: ArrayLike) -> Correlated:
    """Standardize the columns of one resample; ``target`` (rows × k) holds numbers, or 0/1 columns of classes."""
    weights = np.asarray(counts, dtype=np.float64)
    drawn = np.flatnonzero(weights)
    root = np.sqrt(weights[drawn])
    values = (X[drawn] - X[drawn[0]]).T  # constant columns become 0 exactly
    unit = np.abs(values).max(axis=1, keepdims=True)
    values /= np.where(unit > 0, unit, 1.0)
    values -= (values @ weights[drawn] / weights.sum())[:, None]
    values *= root
    length = np.sqrt(np.einsum("ij,ij->i", values, values))
    varies = (unit[:, 0] > 0) & (length > 0)
    values /= np.where(varies, length, 1.0)[:, None]
    values[~varies] = 0.0
    of_target = target[drawn] - target[drawn[0]]
    of_target = (of_target - weights[drawn] @ of_target / weights.sum()) * root[:, None]
    basis = _span(of_target)
    explained = ((values @ basis) ** 2).sum(axis=1)
    explained[explained < ROUNDING**2] = 0.0
    n_target = basis.shape[1]
    return Correlated(values, np.minimum(explained, 1.0), (max(n_target, 1), weights.sum() - 1 - n_target))


class BestWeights(NamedTuple):
    """The largest weights of each resample, falling, and their columns."""

    weights: NDArray[np.float64]
    columns: NDArray[np.int64]


def best_by_moments(
    lib: NumpyLibrary, data: Any, counts: NDArray[Any], lambdas: list[float], n_best: int
) -> list[BestWeights]:
    """Weigh features by Golub's ratio + λ·variance, for each λ; ∞ is the variance alone.

    ``data`` are centered, the rows of each class together (:class:`~holdfast.kernels.filters.Centered`); ``counts`` say
    how often each resample takes each row.
    """
    values, unit = lib.array(data.values), lib.array(data.unit)
    weights = lib.array(np.ascontiguousarray(counts[:, data.rows], dtype=np.float64))
    best: list[list[tuple[NDArray[Any], NDArray[Any]]]] = [[] for _ in lambdas]
    for part in parts(len(counts), 40 * values.shape[0] * values.shape[1], lib):
        size, mean, scatter = _moments(values, weights[part], data.ends)
        spread = _variance(size, mean, scatter) * unit * unit
        ratio = _golub(size, mean, scatter) if len(size) == 2 else None
        for factor, blocks in zip(lambdas, best, strict=True):
            weighed = spread if np.isinf(factor) or ratio is None else ratio + (factor * spread if factor else 0.0)
            largest, columns = lib.largest(weighed, n_best)
            blocks.append((lib.host(largest), lib.host(columns)))
    return [BestWeights(*(np.concatenate(arrays) for arrays in zip(*blocks, strict=True))) for blocks in best]


def _moments(values: Array, weights: Array, ends: list[int]) -> tuple[list[Array], list[Array], list[Array]]:
    """Size, mean and scatter of each class."""
    sizes, means, scatters = [], [], []
    for begin, end in pairwise(ends):
        class_weights, rows = weights[:, begin:end], values[begin:end]
        size = class_weights.sum(1)[:, None]
        mean = class_weights @ rows / size
        deviations = rows[None] - mean[:, None, :]
        scatters.append((class_weights[:, None, :] @ (deviations * deviations))[:, 0])
        sizes.append(size)
        means.append(mean)
    return sizes, means, scatters


def _variance(size: list[Array], mean: list[Array], scatter: list[Array]) -> Array:
    total = sum(size)
    shifted = [class_mean - mean[0] for class_mean in mean]
    center = sum(n * class_mean for n, class_mean in zip(size, shifted, strict=True)) / total
    between = sum(n * (class_mean - center) ** 2 for n, class_mean in zip(size, shifted, strict=True))
    return (sum(scatter) + between) / (total - 1)


def _golub(size: list[Array], mean: list[Array], scatter: list[Array]) -> Array:
    deviations = [(class_scatter / (n - 1.0 * (n > 1))) ** 0.5 for n, class_scatter in zip(size, scatter, strict=True)]
    return abs(mean[0] - mean[1]) / (deviations[0] + deviations[1])
