"""Data and its resamples as a batch of models sees them: the rows that each drew, columns standardized."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .inputs import Scale, Scaled, check_labels, check_rows, scale_columns
from .libraries import Array, NumpyLibrary, parts
from .tolerances import CONSTANT


class Data(NamedTuple):
    """Rows, labels and counts, checked."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    counts: NDArray[np.float64]  # M × n
    shift: NDArray[np.float64]  # d: X was (x − shift) / unit before
    unit: NDArray[np.float64]
    split: bool  # whether each resample standardizes its columns


def prepare_data(X: ArrayLike, y: ArrayLike, counts: ArrayLike, scale: Scale) -> Data:
    """Check rows and resamples, and bring columns near 1 if the resamples are to standardize them."""
    X, y, counts = check_rows(X, y, counts)
    XT, shift, unit = scale_columns(X.T, scale)
    return Data(XT.T, y, counts, shift, unit, scale == "split")


def with_resamples(scaled: Scaled, y: ArrayLike, counts: ArrayLike) -> Data:
    """Add labels and resamples to data that were checked and scaled before."""
    labels, times = check_labels(scaled.shape, y, counts)
    return Data(scaled.XT.T, labels, times, scaled.shift, scaled.unit, scaled.split)


class Columns(NamedTuple):
    """Z of every resample, with the rows that it drew and padding of no cost."""

    Z: Array  # M × d × rows
    y: Array  # M × rows
    counts: Array  # M × rows
    mean: Array  # M × d
    factor: Array  # M × d: 0 where a column is constant


def drawn_columns(lib: NumpyLibrary, data: Data, here: slice) -> Columns:
    """Return the columns of a slice of the resamples: standardized by each, or as they are."""
    counts = data.counts[here]
    (M, _), d = counts.shape, data.X.shape[1]
    n = int((counts > 0).sum(axis=1).max())
    rows = np.argsort(counts == 0, axis=1, kind="stable")[:, :n]
    drawn = np.take_along_axis(counts, rows, axis=1)
    rows = np.where(drawn > 0, rows, rows[:, :1])  # constant columns stay constant
    X, c, places = lib.array(data.X), lib.array(drawn), lib.array(rows)
    Z, mean, factor = lib.full((M, d, n), 0.0), lib.full((M, d), 0.0), lib.full((M, d), 1.0)
    for part in parts(M, 32 * d * n, lib):
        V = X[places[part]]  # resamples × rows × features
        if data.split:
            mean[part], factor[part] = moments(lib, V, c[part])
            V = (V - mean[part][:, None, :]) * factor[part][:, None, :]
        Z[part] = (V * (c[part] > 0)[:, :, None]).swapaxes(1, 2)
    return Columns(Z, lib.array(data.y[rows]), c, mean, factor)


def moments(lib: NumpyLibrary, V: Array, counts: Array) -> tuple[Array, Array]:
    """Weighted mean and 1 / standard deviation; 0 for the latter where a column is constant."""
    share = (counts / counts.sum(1)[:, None])[:, None, :]
    mean = share @ V
    variance = (share @ (V - mean) ** 2)[:, 0]
    first = V[lib.array(np.arange(len(V))), counts.argmax(1)][:, None, :]
    constant = (variance <= CONSTANT) & ((first == V) | (counts == 0)[:, :, None]).all(1)  # to rounding, then exactly
    return mean[:, 0], lib.xp.where(constant, 0.0, lib.xp.where(constant, 1.0, variance) ** -0.5)
