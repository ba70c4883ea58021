"""Scores of predicted numbers, for a whole block of cells at once.

Each function takes :class:`~holdfast.models.cells.Cells` and returns a value for each cell, as scikit-learn computes
it; ``nan`` where scikit-learn would warn or refuse, so that it is asked itself.
"""

from collections.abc import Callable
from functools import wraps

import numpy as np
from numpy.typing import NDArray

from holdfast.models.block import Floats
from holdfast.models.cells import Cells, cells_by_size

NumberScore = Callable[[Cells, Floats, Floats], Floats]


def of_numbers(score: NumberScore) -> Callable[[Cells], Floats]:
    """Hand truth and predictions to a score as floats; ``nan`` for classes, and where something is not finite."""

    @wraps(score)
    def scored(cells: Cells) -> Floats:
        if cells.classes is not None or cells.predictions.predict is None:
            return cells.undefined
        truth = cells.truth.astype(np.float64, copy=False)
        predicted = cells.predictions.predict.astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            scores = score(cells, truth, predicted)
        return np.where(cells.where_all(np.isfinite(truth) & np.isfinite(predicted)), scores, np.nan)

    return scored


@of_numbers
def r2(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Share of the variance about the mean that is explained; ``nan`` for a single row or a constant truth."""
    means = np.repeat(cells.mean(truth), cells.sizes)
    scores = _explained(cells.sum((truth - predicted) ** 2), cells.sum((truth - means) ** 2))
    return np.where(_is_constant(cells, truth), np.nan, scores)


@of_numbers
def explained_variance(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Share of the variance that is explained, whatever the mean error; ``nan`` for a constant truth."""
    errors = truth - predicted
    spread = cells.mean((errors - np.repeat(cells.mean(errors), cells.sizes)) ** 2)
    total = cells.mean((truth - np.repeat(cells.mean(truth), cells.sizes)) ** 2)
    return np.where(_is_constant(cells, truth), np.nan, _explained(spread, total))


def _explained(left: Floats, total: Floats) -> Floats:
    """One minus what is left of all; 1 if nothing is left, 0 if something is left of nothing."""
    scores = 1 - left / np.where(total == 0, 1.0, total)
    return np.where(left == 0, 1.0, np.where(total == 0, 0.0, scores))


def _is_constant(cells: Cells, truth: Floats) -> NDArray[np.bool_]:
    """Tell in which cells all rows have the same truth."""
    return cells.where_all(truth == np.repeat(truth[cells.starts[:-1]], cells.sizes))


@of_numbers
def neg_mean_squared_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the mean squared error."""
    return -cells.mean((truth - predicted) ** 2)


@of_numbers
def neg_root_mean_squared_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the root of the mean squared error."""
    return -np.sqrt(cells.mean((truth - predicted) ** 2))


@of_numbers
def neg_mean_absolute_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the mean absolute error."""
    return -cells.mean(np.abs(predicted - truth))


@of_numbers
def neg_mean_absolute_percentage_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the mean absolute error as a share of the truth."""
    return -cells.mean(np.abs(predicted - truth) / np.maximum(np.abs(truth), np.finfo(np.float64).eps))


@of_numbers
def neg_median_absolute_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the median absolute error."""
    errors, medians = np.abs(predicted - truth), cells.undefined
    for numbers, rows in cells_by_size(cells.starts):
        medians[numbers] = np.median(errors[rows], axis=1)
    return -medians


@of_numbers
def neg_max_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the largest absolute error."""
    return -np.maximum.reduceat(np.abs(truth - predicted), cells.starts[:-1])
