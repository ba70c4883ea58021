"""When weights tie, when a fit is solved, when rounding requires another way: one set of numbers for every elimination.

The compiled elimination (:mod:`~holdfast.kernels.ridge`, :mod:`~holdfast.kernels.svm`,
:mod:`~holdfast.kernels.elimination`, :mod:`~holdfast.kernels.linear`) and the one in lock-step
(:mod:`~holdfast.kernels.lockstep`) both read them here, so that a change reaches
both. Compiled kernels hold these numbers as constants; their caches go by this file too
(:mod:`~holdfast.kernels.jit`). ``test_lockstep.py`` and ``test_ties.py`` compare the two eliminations.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
"""Numbers tie if they differ by less than this share: of the weight at the cut, of the smaller of two weights of a
filter, or of the largest weight of a machine."""

LOST = 1e-3
"""Share that an entry of a Gram matrix's diagonal may fall to by subtraction before rounding asks to build it anew."""

CONSTANT = 1e-20
"""Variance of a column, of data near 1, up to which the column is compared value by value to see if it is constant."""

STEEP = 0.1
"""A Newton step ends too far if the slope of the objective there exceeds this share of the slope at its start."""

SHORTEST_STEP = 2.0**-34
"""Share of a Newton step from which on it is halved no further."""

FACTOR_REUSE, INVERSE_REUSE = 0.1, 0.3
"""Share that the residual must fall to for a Cholesky factor (compiled), or an inverse (lock-step), to be used again.

An inverse on a device costs more, relative to a step, than a factor does, so it is reused longer.
"""

FACTOR_AFTER_DROP, INVERSE_AFTER_DROP = 0.05, 0.25
"""Share of the features dropped up to which the factor, or the inverse, of the fit before is worth a try."""


class Precision(NamedTuple):
    """What numbers of one floating-point type can be asked for."""

    solved: float  # residual, relative to the dual variables, at which a fit is solved
    stalled: float  # residual at which a fit is solved as well as rounding allows, if it falls no further
    blurred: float  # rounding of the margins Ka, at most, at which a fit is not to be trusted
    rounding: float  # relative rounding of one number
    slope_noise: float  # rounding of a slope, relative to the sum of the absolute values of its terms
    least_curvature: float  # floor of the loss's curvature, relative to the cost of a row
    smallest: float  # a number negligible next to any curvature, with a square root


PRECISIONS = {
    "float64": Precision(1e-10, 1e-8, 1e-6, 2e-16, 1e-14, 1e-14, 1e-300),
    "float32": Precision(3e-5, 1e-3, 1e-1, 1e-7, 1e-6, 1e-6, 1e-30),
}
DOUBLE = PRECISIONS["float64"]
"""What compiled kernels compute in."""

# Recognized models compared to scikit-learn's

EPSILON = 2.0**-52
"""Distance of 1 to the next number."""

NEARLY_CONSTANT = 1e4
"""Variance, relative to scikit-learn's bound for a constant column, from which on a column is surely not constant."""

DISTANCE_ROUNDING = 8 * EPSILON
"""Rounding of a squared distance made of squared norms, per column and relative to the sum of these norms."""

SAME_DISTANCE = 1e-12
"""Share by which squared distances may differ through the rounding of scaled columns."""

SAME_WEIGHT = 1e-9
"""Share by which weights of neighbors, or sums of them, may differ through the rounding of distances."""

WELL_POSED = 1e-7
"""Share of its diagonal entry that a pivot of least squares must keep, for predictions that equal scikit-learn's."""

SHARP_MEANS = 1e-11
"""Rounding of standardized columns' means, times the number of rows, that leaves predictions alone."""


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
    if X.size and max(float(X.max()), -float(X.min())) > LARGEST:
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
