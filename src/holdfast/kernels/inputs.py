"""Checks of what an elimination is given, the same for the compiled one and the one in lock-step.

Each function takes what a caller handed in and returns the array that the elimination works with, or raises a
ValueError that says what was expected. Needs NumPy alone, and imports its neighbors by relative names: the lock-step
kernels run where no package is around this folder.
"""

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .magnitude import check_squares, column_units

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scale = Literal["split", "full"]


def check_rows(X: ArrayLike, y: ArrayLike, counts: ArrayLike | None) -> tuple[Floats, Floats, Floats]:
    """Return X (n × d), labels −1 and 1 (n) and counts (M × n, all rows once if not given) as numbers."""
    X = np.asarray(X, dtype=np.float64)
    y, counts = check_labels(X.shape, y, counts)
    check_finite(X)
    return X, y, counts


def check_finite(X: Floats) -> None:
    """Raise if a number is not finite."""
    if not np.isfinite(X).all():
        raise ValueError(f"Expected finite numbers in X, got {np.count_nonzero(~np.isfinite(X))} that are not.")


def check_labels(shape: tuple[int, ...], y: ArrayLike, counts: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return labels −1 and 1 (n) and counts (M × n, all rows once if not given) that go with an X of this shape."""
    y = np.asarray(y, dtype=np.float64)
    counts = np.ones((1, len(y))) if counts is None else np.atleast_2d(np.asarray(counts, dtype=np.float64))
    if len(shape) != 2 or y.shape != shape[:1] or counts.shape[1:] != y.shape:
        raise ValueError(f"Expected X of n × d, n labels and M × n counts, got {shape}, {y.shape} and {counts.shape}.")
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"Expected labels −1 and 1, got {y[~np.isin(y, (-1, 1))][0]:g}.")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("Expected counts that are finite and not negative.")
    _check_classes(y, counts)
    return y, counts


def _check_classes(y: Floats, counts: Floats) -> None:
    for label in (-1, 1):
        missing = np.flatnonzero(counts[:, y == label].sum(axis=1) == 0)
        if missing.size:
            raise ValueError(
                f"Expected rows of both classes in every resample, got none with label {label} in resample "
                f"{missing[0]} ({missing.size} such resamples). Draw resamples by class."
            )


def check_columns(columns: ArrayLike | None, n_columns: int, n_resamples: int) -> Ints:
    """Return the columns that paths start from, 1 or M × p; all if not given."""
    if columns is None:
        return np.arange(n_columns)[None]
    start = np.atleast_2d(np.asarray(columns, dtype=np.int64))
    if len(start) not in (1, n_resamples) or start.shape[1] == 0:
        raise ValueError(f"Expected columns for all or each of {n_resamples} resamples, got shape {start.shape}.")
    if start.min() < 0 or start.max() >= n_columns or (np.diff(start, axis=1) <= 0).any():
        raise ValueError(f"Expected columns that ascend within 0 … {n_columns - 1}.")
    return start


def check_sizes(sizes: ArrayLike | None, n_features: int) -> Ints:
    """Return the sizes that a path passes; only that of all features if not given."""
    passed = np.array([n_features] if sizes is None else sizes, dtype=np.int64)
    if passed.ndim != 1 or passed[0] != n_features or passed[-1] < 1 or (np.diff(passed) >= 0).any():
        raise ValueError(f"Expected sizes that fall from {n_features} features, got {passed}; see elimination_sizes().")
    return passed


def check_forced(forced: ArrayLike | None, n_columns: int, n_resamples: int, n_kept: int) -> Mask:
    """Return the mask of features that may not fall, 1 or M × p; none if not given."""
    mask = np.zeros((1, n_columns), bool) if forced is None else np.atleast_2d(np.asarray(forced, dtype=bool))
    if len(mask) not in (1, n_resamples) or mask.shape[1] != n_columns:
        raise ValueError(
            f"Expected forced features as a mask over {n_columns} columns for all or each of {n_resamples} "
            f"resamples, got shape {mask.shape}."
        )
    check_n_forced(mask, n_kept)
    return mask


def check_n_forced(forced: Mask, n_kept: int) -> None:
    """Raise if more features are forced, along the last axis, than are kept."""
    most = int(forced.sum(axis=-1).max())
    if most > n_kept:
        raise ValueError(f"Expected at most {n_kept} forced features, as many as are kept, got {most}.")


def check_tie_order(tie_order: ArrayLike | None, n_columns: int, n_resamples: int) -> NDArray[np.int32]:
    """Return the turn of each column among equally good ones, 1 or M × p; by column if not given."""
    turns = np.atleast_2d(np.asarray(np.arange(n_columns) if tie_order is None else tie_order, dtype=np.int32))
    if len(turns) not in (1, n_resamples) or turns.shape[1] != n_columns:
        raise ValueError(
            f"Expected the turns of {n_columns} columns for all or each of {n_resamples} resamples, got shape "
            f"{turns.shape}."
        )
    return turns


def check_costs(C: ArrayLike) -> Floats:
    """Return the weights of the loss, one for each setting; positive numbers whose squares can be computed."""
    costs = np.atleast_1d(np.asarray(C, dtype=np.float64))
    for cost in costs[~((costs >= 1e-100) & (costs <= 1e100))]:
        raise ValueError(f"Expected a positive C, from 1e-100 to 1e100, got {cost}.")
    return costs


def check_shrinkages(shrinkage: ArrayLike) -> Floats:
    """Return the factors of the forced features' weights in the penalty, one for each setting."""
    factors = np.atleast_1d(np.asarray(shrinkage, dtype=np.float64))
    for factor in factors[~((factors > 0) & (factors <= 1))]:
        raise ValueError(f"Expected a shrinkage in (0, 1], got {factor}.")
    return factors


class Scaled(NamedTuple):
    """Data as models take them, made once for all resamples and settings: see :func:`scale_data`."""

    XT: Floats  # d × n, contiguous
    shift: Floats  # d: XT was (x − shift) / unit before
    unit: Floats
    split: bool  # whether each resample standardizes its columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.XT.shape[1], self.XT.shape[0]

    @property
    def wide(self) -> bool:
        """Whether the Gram matrix of the rows is the smaller one."""
        return self.XT.shape[0] > self.XT.shape[1]


def scale_data(X: ArrayLike, scale: Scale) -> Scaled:
    """Check rows × features and scale the columns."""
    values = np.asarray(X, dtype=np.float64)
    check_finite(values)
    XT, shift, unit = scale_columns(np.ascontiguousarray(values.T), scale)
    for array in (XT, shift, unit):
        array.flags.writeable = False  # another type would be another compilation
    return Scaled(XT, shift, unit, scale == "split")


def scale_columns(XT: Floats, scale: Scale) -> tuple[Floats, Floats, Floats]:
    """Return columns (d × n), with the shift and unit of each that lead back: x = column · unit + shift.

    With ``"split"``, where each resample standardizes its columns, all are brought near 1 first, so that the resamples'
    moments have all their digits. ``"full"`` takes the data as they are. Sums go along the memory of ``XT``: its order
    decides their last digits.
    """
    if scale not in get_args(Scale):
        raise ValueError(f"Expected scale='split' or 'full', got {scale!r}.")
    if scale == "full":
        check_squares(XT)
        return XT, np.zeros(len(XT)), np.ones(len(XT))
    power = column_units(XT.T)
    XT = XT / power[:, None]
    shift = XT.mean(axis=1)
    XT -= shift[:, None]
    deviation = np.sqrt(np.mean(XT**2, axis=1))
    unit = np.where(deviation > 0, deviation, 1.0)
    XT /= unit[:, None]
    return XT, shift * power, unit * power
