"""Numbers whose squares leave the range of floating point, brought near 1 by powers of two, which change no digit."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ORDINARY = 2.0**300
"""Up to here, and down to its inverse, squares, their sums and their differences keep their digits."""
SQUARABLE = 2.0**480
"""Up to here, and down to its inverse, sums of squares are finite and not lost."""
LARGEST = 2.0**1000
"""Up to here sums and differences of numbers are finite."""


def check_magnitude(X: Floats) -> None:
    """Raise if numbers are so large that sums and differences of them are not finite.

    >>> check_magnitude(np.array([[1e305, 1.0]]))
    Traceback (most recent call last):
    ValueError: Expected numbers up to 1e301 in size, got 1e+305 in row 0, column 0; rescale that column.
    """
    if X.size and max(X.max(), -X.min()) > LARGEST:
        row, column = np.argwhere(np.abs(X) > LARGEST)[0]
        raise ValueError(
            f"Expected numbers up to 1e301 in size, got {X[row, column]:g} in row {row}, column {column}; rescale that "
            "column."
        )


def column_units(X: Floats) -> Floats:
    """A number to divide each column by: 1, or a power of two, if the column's squares might be lost otherwise.

    >>> column_units(np.array([[1.0, 2e-200], [-3.0, 0.0]]))
    array([1.00000000e+000, 2.61284035e-200])
    """
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    ordinary = (largest == 0) | ((largest > 1 / ORDINARY) & (largest < ORDINARY))
    return np.where(ordinary, 1.0, np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1022, 1022)))


def check_squares(X: Floats) -> None:
    """Raise if numbers that are to be used as they are have squares out of range.

    >>> check_squares(np.array([[1e200, 1.0]]))
    Traceback (most recent call last):
    ValueError: Expected numbers whose squares can be computed, got 1e+200 as the largest; rescale or standardize them.
    """
    largest = max(X.max(), -X.min())
    if largest > 0 and not 1 / SQUARABLE < largest < SQUARABLE:
        raise ValueError(
            f"Expected numbers whose squares can be computed, got {largest:g} as the largest; rescale or standardize "
            "them."
        )
