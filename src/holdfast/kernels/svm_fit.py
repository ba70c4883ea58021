"""One fit of a linear support vector machine: its arrays, and products with the Gram matrix K of its rows.

With fewer rows than features K is kept (``room.K``, its lower triangle); else ``room.K`` is empty and products go
through the columns, Kv = Z(Zᵀv). :func:`has_gram` says which. :mod:`~holdfast.kernels.svm` has the whole picture.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.elimination import Room, weigh
from holdfast.kernels.jit import summing_step
from holdfast.kernels.linear import Columns, fill, margins_of, times

LOWER, UPPER, FREE, PARKED = 0, 1, 2, 3
"""States of a row: at a bound, in the factor, or within the bounds but on a margin that rows in the factor imply."""


class Fit(NamedTuple):
    """One fit: its rows, its columns, and the factor of its free rows."""

    room: Room
    Z: Columns
    active: NDArray[np.int64]
    rows: NDArray[np.int64]
    y: NDArray[np.float64]
    upper: NDArray[np.float64]  # C · count
    v: NDArray[np.float64]
    f: NDArray[np.float64]  # Kv
    square: NDArray[np.float64]  # diagonal of K
    state: NDArray[np.int64]
    free: NDArray[np.int64]  # rows in the factor
    L: NDArray[np.float64]  # factor of K + mean(square): Σ v = 0 makes that the same problem, of one rank more
    free_rows: NDArray[np.float64]  # these rows of Z, where there is no K
    step: NDArray[np.float64]
    border: NDArray[np.float64]
    margin: NDArray[np.float64]  # over all rows of X


@summing_step
def has_gram(fit):  # type: ignore[no-untyped-def]
    """Whether the Gram matrix is kept."""
    return fit.room.K.size > 0


@summing_step
def set_squares(fit):  # type: ignore[no-untyped-def]
    """Set the diagonal of K."""
    fill(fit.square, 0.0)
    for i in range(fit.rows.size):
        if has_gram(fit):
            fit.square[i] = fit.room.K[i, i]
        else:
            for place in fit.active:
                x = fit.Z.XT[fit.Z.column[place], fit.rows[i]]
                fit.square[i] += ((x - fit.Z.mean[place]) * fit.Z.factor[place]) ** 2


@summing_step
def multiply(fit, v, out):  # type: ignore[no-untyped-def]
    """out = Kv."""
    if has_gram(fit):
        times(fit.room.K, v, out, v.size)
    else:
        weigh(fit.room, fit.Z, fit.active.size, fit.rows, v)
        margins_of(fit.Z, fit.active, fit.room.w[: fit.active.size], 0.0, fit.margin)
        for i in range(v.size):
            out[i] = fit.margin[fit.rows[i]]


@summing_step
def largest_margin(fit, v):  # type: ignore[no-untyped-def]
    """Bound on the margins Kv."""
    total, largest = 0.0, 0.0
    for i in range(fit.rows.size):
        total += np.sqrt(fit.square[i]) * abs(v[i])
        largest = max(largest, fit.square[i])
    return np.sqrt(largest) * total
