"""Scores of predicted probabilities, for a whole block of cells at once.

Each function takes :class:`~holdfast.models.cells.Cells` and returns a value for each cell, as scikit-learn computes
it; ``nan`` where scikit-learn would warn or refuse, so that it is asked itself.
"""

import numpy as np
from numpy.typing import NDArray

from holdfast.models.block import Floats
from holdfast.models.cells import Cells
from holdfast.models.rank_scores import SUM_TOLERANCE

SMALLEST = np.finfo(np.float64).eps


def neg_log_loss(cells: Cells) -> Floats:
    """Minus the mean log loss; probabilities of 0 and 1 count as if they were off by the smallest step."""
    proba = cells.predictions.predict_proba
    if not cells.n_classes or proba is None:
        return cells.undefined
    if cells.n_classes == 2:  # p or 1 - p, as scikit-learn asks for the probability of the second class only
        of_truth = np.abs(proba[:, 1] - (cells.truth == 0))
    else:
        of_truth = proba[np.arange(cells.truth.size), cells.truth]
    losses = -np.log(np.minimum(np.maximum(of_truth, SMALLEST), 1 - SMALLEST))
    return np.where(_usable(proba, cells), -cells.mean(losses), np.nan)


def neg_brier_score(cells: Cells) -> Floats:
    """Minus the mean squared difference of probabilities and truth; half of it for two classes."""
    proba = cells.predictions.predict_proba
    if not cells.n_classes or proba is None:
        return cells.undefined
    if cells.n_classes == 2 and not cells.numeric_labels:  # scikit-learn wants to be told which is positive
        return cells.undefined
    if cells.n_classes == 2:
        true = (cells.truth == 1).astype(np.float64)
        errors = ((1 - true) - (1 - proba[:, 1])) ** 2 + (true - proba[:, 1]) ** 2
        scores = cells.mean(errors) * 0.5
    else:
        true = (cells.truth[:, None] == np.arange(cells.n_classes)).astype(np.float64)
        scores = cells.mean(((true - proba) ** 2).sum(axis=1))
    return np.where(_usable(proba, cells), -scores, np.nan)


def _usable(proba: Floats, cells: Cells) -> NDArray[np.bool_]:
    """Tell which cells have rows of every class, and what scikit-learn takes for probabilities."""
    if cells.n_classes == 2:
        valid = (proba[:, 1] >= 0) & (proba[:, 1] <= 1)
    else:
        valid = ((proba >= 0) & (proba <= 1)).all(axis=1) & (np.abs(proba.sum(axis=1) - 1) < SUM_TOLERANCE)
    return cells.has_all_classes & cells.where_all(valid)
