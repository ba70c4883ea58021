"""Scores of predicted classes, for a whole block of cells at once.

Each function takes :class:`~holdfast.models.cells.Cells` and returns a value for each cell, as scikit-learn computes
it; ``nan`` where scikit-learn would warn or refuse, so that it is asked itself.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from holdfast.models.block import Floats
from holdfast.models.cells import Cells

Average = Literal["binary", "macro", "micro", "weighted"]
Parts = tuple[Floats, Floats]


def accuracy(cells: Cells) -> Floats:
    """Share of right predictions."""
    return cells.n_hits / cells.sizes if cells.n_classes else cells.undefined


def balanced_accuracy(cells: Cells) -> Floats:
    """Mean over classes of the share of right predictions."""
    if not cells.n_classes:
        return cells.undefined
    true = cells.true_counts
    present = true > 0
    recall = cells.hit_counts / np.maximum(true, 1)
    scores = recall.sum(axis=1) / present.sum(axis=1)
    others = ((cells.predicted_counts > 0) & ~present).any(axis=1)  # scikit-learn warns of them
    return np.where(others | _one_label(cells), np.nan, scores)


def matthews_corrcoef(cells: Cells) -> Floats:
    """Correlation of true and predicted classes; 0 if there is but one true, or one predicted class."""
    if not cells.n_classes:
        return cells.undefined
    true, predicted, n = cells.true_counts, cells.predicted_counts, cells.sizes
    covariance = cells.n_hits * n - (true * predicted).sum(axis=1)
    variances = (n**2 - (predicted**2).sum(axis=1)).astype(np.float64) * (n**2 - (true**2).sum(axis=1))
    scores = np.divide(covariance, np.sqrt(variances), out=np.zeros(n.size), where=variances > 0)
    return np.where(_one_label(cells), np.nan, scores)


def _one_label(cells: Cells) -> np.ndarray:
    """Tell which cells know only one class, among truth and predictions together."""
    return ((cells.true_counts + cells.predicted_counts) > 0).sum(axis=1) == 1


def f1_parts(cells: Cells) -> Parts:
    """Numerator and denominator of F1 scores, by class."""
    return (2 * cells.hit_counts).astype(np.float64), (cells.true_counts + cells.predicted_counts).astype(np.float64)


def precision_parts(cells: Cells) -> Parts:
    """Numerator and denominator of precision, by class."""
    return cells.hit_counts.astype(np.float64), cells.predicted_counts.astype(np.float64)


def recall_parts(cells: Cells) -> Parts:
    """Numerator and denominator of recall, by class."""
    return cells.hit_counts.astype(np.float64), cells.true_counts.astype(np.float64)


def jaccard_parts(cells: Cells) -> Parts:
    """Numerator and denominator of the Jaccard index, by class."""
    both = cells.true_counts + cells.predicted_counts - cells.hit_counts
    return cells.hit_counts.astype(np.float64), both.astype(np.float64)


def averaged(cells: Cells, parts: Callable[[Cells], Parts], average: Average) -> Floats:
    """Average a ratio over classes, or take it of the positive class."""
    if not cells.n_classes or (average == "binary" and cells.positive is None):
        return cells.undefined
    if average == "binary":
        return _divide(*parts(cells))[:, cells.positive]
    if average == "micro":
        above, below = (part.sum(axis=1) for part in parts(cells))
        return _divide(above, below)
    present = (cells.true_counts + cells.predicted_counts) > 0
    ratios = np.where(present, _divide(*parts(cells)), 0.0)  # nan: a class that scikit-learn would warn of
    if average == "macro":
        return ratios.sum(axis=1) / present.sum(axis=1)
    return (ratios * cells.true_counts).sum(axis=1) / cells.sizes


def _divide(above: Floats, below: Floats) -> Floats:
    """Divide, with ``nan`` where nothing stands below."""
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
