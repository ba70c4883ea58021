"""Features weighed by class moments on all resamples at once, on NumPy or torch: the form for an accelerator.

What :mod:`holdfast.kernels.filters` does resample by resample, always in two passes. Weights differ from those by
rounding; the best columns and their weights come back, and the caller looks for ties and for what is undefined.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .libraries import Array, NumpyLibrary, parts


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
    found: list[list[tuple[NDArray[Any], NDArray[Any]]]] = [[] for _ in lambdas]
    for part in parts(len(counts), 40 * values.shape[0] * values.shape[1], lib):
        size, mean, scatter = _moments(values, weights[part], data.ends)
        spread = _variance(size, mean, scatter) * unit * unit
        ratio = _golub(size, mean, scatter) if len(size) == 2 else None
        for factor, own in zip(lambdas, found, strict=True):
            weighed = spread if np.isinf(factor) or ratio is None else ratio + (factor * spread if factor else 0.0)
            largest, columns = lib.largest(weighed, n_best)
            own.append((lib.host(largest), lib.host(columns)))
    return [BestWeights(*(np.concatenate(arrays) for arrays in zip(*own, strict=True))) for own in found]


def _moments(values: Array, weights: Array, ends: list[int]) -> tuple[list[Array], list[Array], list[Array]]:
    """Size, mean and scatter of each class."""
    sizes, means, scatters = [], [], []
    for begin, end in pairwise(ends):
        own, rows = weights[:, begin:end], values[begin:end]
        size = own.sum(1)[:, None]
        mean = own @ rows / size
        deviations = rows[None] - mean[:, None, :]
        scatters.append((own[:, None, :] @ (deviations * deviations))[:, 0])
        sizes.append(size)
        means.append(mean)
    return sizes, means, scatters


def _variance(size: list[Array], mean: list[Array], scatter: list[Array]) -> Array:
    total = sum(size)
    beside = [own - mean[0] for own in mean]
    center = sum(n * own for n, own in zip(size, beside, strict=True)) / total
    between = sum(n * (own - center) ** 2 for n, own in zip(size, beside, strict=True))
    return (sum(scatter) + between) / (total - 1)


def _golub(size: list[Array], mean: list[Array], scatter: list[Array]) -> Array:
    deviations = [(own / (n - 1.0 * (n > 1))) ** 0.5 for n, own in zip(size, scatter, strict=True)]
    return abs(mean[0] - mean[1]) / (deviations[0] + deviations[1])
