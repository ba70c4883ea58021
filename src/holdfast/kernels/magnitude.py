"""Numbers whose squares leave the range of floating point, brought near 1 by powers of two, which change no digit."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ORDINARY = 2.0**300
"""Up to here, and down to its inverse, squares, their sums and their differences keep their digits."""
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


def column_units(X: Floats) -> Floats | None:
    """The power of two just above each column's largest size; None if all columns are of ordinary size, or 0.

    >>> column_units(np.array([[1.0, 2.0], [3.0, 4.0]])) is None
    True
    >>> np.log2(column_units(np.array([[1e200, 2.0], [-3e200, 4.0]])))
    array([666.,   3.])
    """
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    if ((largest == 0) | ((largest > 1 / ORDINARY) & (largest < ORDINARY))).all():
        return None
    return np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1022, 1022))


def check_squares(X: Floats, remedy: str) -> None:
    """Raise if X as it is, not standardised, has squares out of range."""
    largest = max(X.max(), -X.min())
    if largest > 0 and not ORDINARY**-1.6 < largest < ORDINARY**1.6:
        raise ValueError(f"Expected numbers whose squares can be computed, got a largest one of {largest:g}; {remedy}.")
