"""Data and its resamples as a batch of models sees them: the rows that each drew, columns standardized."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .libraries import Array, NumpyLibrary, parts
from .magnitude import check_squares, column_units

Scale = Literal["split", "full"]


class Data(NamedTuple):
    """Rows, labels and counts, checked."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    counts: NDArray[np.float64]  # M × n
    shift: NDArray[np.float64]  # d: X was (x − shift) / unit before
    unit: NDArray[np.float64]
    split: bool


def given(X: ArrayLike, y: ArrayLike, counts: ArrayLike, scale: Scale) -> Data:
    """Check what is given, and bring it to one scale if the resamples are to be scaled."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    counts = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    if X.ndim != 2 or y.shape != X.shape[:1] or counts.shape[1:] != y.shape:
        shapes = X.shape, y.shape, counts.shape
        raise ValueError("Expected X of n × d, n labels and M × n counts, got {}, {} and {}.".format(*shapes))
    if not (np.isfinite(X).all() and np.isfinite(counts).all() and (counts >= 0).all() and np.isin(y, (-1, 1)).all()):
        raise ValueError("Expected finite numbers in X, labels −1 and 1, and counts that are not negative.")
    alone = np.flatnonzero((counts[:, y > 0].sum(axis=1) == 0) | (counts[:, y < 0].sum(axis=1) == 0))
    if alone.size:
        raise ValueError(f"Expected rows of both classes in every resample, got one class in resample {alone[0]}.")
    shift, unit = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if scale == "split":  # bring all columns near 1 first, so that the splits' moments have all their digits
        power = column_units(X)
        scaled = X / power
        shift = scaled.mean(axis=0)
        deviation = np.sqrt(np.mean((scaled - shift) ** 2, axis=0))
        unit = np.where(deviation > 0, deviation, 1.0)
        shift, unit = shift * power, unit * power
    else:
        check_squares(X)
    return Data((X - shift) / unit, y, counts, shift, unit, scale == "split")


class Columns(NamedTuple):
    """Z of every resample, with the rows that it drew and padding of no cost."""

    Z: Array  # M × d × rows
    y: Array  # M × rows
    counts: Array  # M × rows
    mean: Array  # M × d
    factor: Array  # M × d: 0 where a column is constant


def drawn_columns(lib: NumpyLibrary, data: Data, here: slice) -> Columns:
    """Return the columns of some resamples: with moments of each resample out, or as they are."""
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
    constant = (variance <= 1e-20) & ((first == V) | (counts == 0)[:, :, None]).all(1)  # to rounding, then exactly
    return mean[:, 0], lib.xp.where(constant, 0.0, lib.xp.where(constant, 1.0, variance) ** -0.5)
