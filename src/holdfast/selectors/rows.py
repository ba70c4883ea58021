"""Rows of a fit: the target, how often each row counts, groups of rows, two-class problems."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from holdfast.checks import as_column, type_name

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def plain_target(y: Any) -> Any:
    """A target whose entries are objects as texts or numbers, or raise; others are for scikit-learn to check."""
    if not (isinstance(y, (list, tuple)) or str(getattr(y, "dtype", "")) == "object") or not len(y):
        return y
    widths = {len(entry) if isinstance(entry, (list, tuple, np.ndarray)) else 0 for entry in y}
    if len(widths) == 1 and 0 not in widths:
        return y  # several columns
    column = as_column(y, "y")
    if column.dtype.kind in "OS":
        raise ValueError(f"Expected texts or numbers in y, got {type_name(column[0])} in row 0; make texts of them.")
    return column


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted: class numbers from 0 with the classes they stand for, or numbers.

    Attributes
    ----------
    values : ndarray
        Class numbers (int64) or numbers (float64).
    classes : ndarray or None
        The classes; None if numbers are predicted.
    """

    values: NDArray[Any]
    classes: NDArray[Any] | None

    @classmethod
    def of(cls, y: NDArray[Any], classes: bool) -> "Target":
        """Number the classes, or take the numbers."""
        if not classes:
            return cls(np.asarray(y, dtype=np.float64), None)
        check_classification_targets(y)
        known, codes = np.unique(y, return_inverse=True)
        return cls(codes.astype(np.int64), known)

    def present(self, counts: Ints) -> Ints:
        """The class numbers that a resample holds."""
        return np.flatnonzero(np.bincount(self.values, weights=counts))


class Resamples(NamedTuple):
    """How often each resample takes each row (resamples × rows), and the seed of each; None if there is none."""

    counts: Ints
    seeds: Sequence[int | None]

    def take(self, numbers: Sequence[int]) -> "Resamples":
        """Only the resamples of these numbers."""
        return Resamples(self.counts[list(numbers)], [self.seeds[number] for number in numbers])


def whole_counts(sample_weight: Any, n_samples: int) -> Ints:
    """How often each row counts: once, or as the weights say, which must be whole numbers."""
    if sample_weight is None:
        return np.ones(n_samples, dtype=np.int64)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise ValueError(f"Expected one sample weight for each of {n_samples} rows, got shape {weights.shape}.")
    wrong = np.flatnonzero((weights < 0) | (weights != np.round(weights)))
    if wrong.size:
        raise ValueError(
            f"Expected whole numbers as sample_weight, how often each row counts, got {weights[wrong[0]]:g} in row "
            f"{wrong[0]}; repeat rows, or scale the weights."
        )
    if not weights.any():
        raise ValueError("Expected sample weights that are not all zero, got nothing but zero.")
    return weights.astype(np.int64)


def row_groups(groups: Any, n_samples: int) -> Ints | None:
    """The group of each row, numbered in the order of their labels."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_samples,):
        raise ValueError(f"Expected one group for each of {n_samples} rows, got shape {labels.shape}.")
    codes, _ = pd.factorize(labels, sort=True)
    if (codes < 0).any():
        raise ValueError(
            f"Expected a group for each row, got none in row {int(np.argmin(codes))}; give rows without a group one of "
            "their own."
        )
    return codes.astype(np.int64)


class BinaryProblem(NamedTuple):
    """A two-class problem: labels −1 and 1, the class that is 1, and which resamples it is for."""

    labels: Floats
    code: int
    resamples: NDArray[np.bool_]


def one_against_rest(target: Target, resamples: Resamples) -> list[BinaryProblem]:
    """One problem for each class against the rest; of two classes, the higher one's suffices."""
    codes = np.arange(0 if target.classes is None else target.classes.size)
    held = np.array([np.bincount(target.values, weights=row, minlength=codes.size) > 0 for row in resamples.counts])
    two = held.sum(axis=1) == 2
    higher = held & (np.cumsum(held, axis=1) == 2)
    concerned = np.where(two[:, None], higher, held)
    return [
        BinaryProblem(np.where(target.values == code, 1.0, -1.0), int(code), concerned[:, code])
        for code in codes
        if concerned[:, code].any()
    ]


def varying(X: Floats, resamples: Resamples) -> Mask:
    """Which columns are not constant in each resample."""
    masks = np.ones((len(resamples.counts), X.shape[1]), dtype=bool)
    for mask, counts in zip(masks, resamples.counts, strict=True):
        drawn = np.flatnonzero(counts)
        constant = np.flatnonzero(X[drawn[0]] == X[drawn[min(1, drawn.size - 1)]])
        for rows in (drawn[2:5], drawn[5:]):  # most columns differ in the first few, and are not looked at again
            if constant.size:
                constant = constant[(X[np.ix_(rows, constant)] == X[drawn[0], constant]).all(axis=0)]
        mask[constant] = False
    return masks
