"""Scores of the order in which decision values or probabilities put held-out rows, for a whole block of cells at once.

Each function takes :class:`~holdfast.models.cells.Cells` and returns a value for each cell, as scikit-learn computes
it; ``nan`` where scikit-learn would warn or refuse, so that it is asked itself.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.models.block import Floats, Ints
from holdfast.models.cells import Cells, cells_by_size, count_cells, sum_cells

SUM_TOLERANCE = 1e-9
"""Probabilities of a row whose sum is farther from one are left to scikit-learn, which may refuse them."""


class Curve(NamedTuple):
    """How many rows have at least a value, for each different value of each cell, ascending.

    Attributes
    ----------
    rows : ndarray of int
        Number of rows that have at least the value.
    true : ndarray of int
        Number of positive ones among them.
    starts : ndarray of int
        Where the values of each cell begin, and the end of the last.
    """

    rows: Ints
    true: Ints
    starts: Ints


def find_curve(values: Floats, positive: NDArray[np.bool_]) -> Curve:
    """Count rows, and positive ones, of at least each different value; a line of values for each cell."""
    n = values.shape[1]
    order = np.argsort(values, axis=1)
    values, positive = np.take_along_axis(values, order, 1), np.take_along_axis(positive, order, 1)
    first = np.ones(values.shape, dtype=bool)  # among equal values
    np.not_equal(values[:, 1:], values[:, :-1], out=first[:, 1:])
    up_to = np.cumsum(positive, axis=1, dtype=np.int64)
    true = up_to[:, -1:] - up_to + positive
    places = np.flatnonzero(first)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(first, axis=1))])
    return Curve(n - places % n, true.ravel()[places], starts)


def _area(curve: Curve, n: int, n_positive: Ints) -> Floats:
    """Area under the curve of true over false positives, by trapezoids between its corners."""
    corners = _find_corners(curve)
    lengths = count_cells(corners, curve.starts)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    true, rows = curve.true[corners], curve.rows[corners]
    x, y = (rows - true) / np.repeat(n - n_positive, lengths), true / np.repeat(n_positive, lengths)
    terms = (x - _next(x, starts)) * (y + _next(y, starts)) / 2.0
    return sum_cells(terms[::-1], starts[-1] - starts[::-1])[::-1]  # added from the largest value, as scikit-learn does


def _find_corners(curve: Curve) -> NDArray[np.bool_]:
    """Tell which points of a curve do not lie midway between their neighbors; the ends of each cell are corners."""
    corners = np.ones(curve.rows.size, dtype=bool)
    corners[1:-1] = (np.diff(curve.rows, 2) != 0) | (np.diff(curve.true, 2) != 0)
    corners[curve.starts[:-1]] = True
    corners[curve.starts[1:] - 1] = True
    return corners


def _next(values: Floats, starts: Ints) -> Floats:
    """The value of the next larger threshold; 0 after the largest of each cell."""
    following = np.concatenate([values[1:], [0.0]])
    following[starts[1:] - 1] = 0
    return following


def _precision(curve: Curve, n: int, n_positive: Ints) -> Floats:
    """Precision at each value, averaged by how much recall grows there."""
    recall = curve.true / np.repeat(n_positive, np.diff(curve.starts))
    gains = _next(recall, curve.starts) - recall
    return np.maximum(0.0, -sum_cells(gains * (curve.true / curve.rows), curve.starts))


def score_order(
    measure: Callable[[Curve, int, Ints], Floats], values: Floats, positive: NDArray[np.bool_], starts: Ints
) -> Floats:
    """Score how far positive rows of each cell have the larger values; ``nan`` for cells with rows of one kind only."""
    scores = np.full(starts.size - 1, np.nan)
    n_positive, finite = count_cells(positive, starts), np.isfinite(values)
    usable = (n_positive > 0) & (n_positive < np.diff(starts))
    if not finite.all():
        usable &= count_cells(finite, starts) == np.diff(starts)
    for numbers, rows in cells_by_size(starts):
        some = usable[numbers]
        if not some.all():
            numbers, rows = numbers[some], rows[some]
        if numbers.size:
            curve = find_curve(values[rows], positive[rows])
            scores[numbers] = measure(curve, rows.shape[1], n_positive[numbers])
    return scores


# Two classes


def _decision_values(cells: Cells, positive: int) -> Floats | None:
    """Values that are larger for the positive one of two classes."""
    answers = cells.predictions
    if answers.decision_function is not None:
        return answers.decision_function if positive == 1 else -1 * answers.decision_function
    return None if answers.predict_proba is None else answers.predict_proba[:, positive]


def roc_auc(cells: Cells) -> Floats:
    """Area under the ROC curve of decision values, else of probabilities; two classes."""
    values = _decision_values(cells, 1) if cells.n_classes == 2 else None
    return cells.undefined if values is None else score_order(_area, values, cells.truth == 1, cells.starts)


def average_precision(cells: Cells) -> Floats:
    """Average precision of decision values, else of probabilities; the mean over classes if there are many."""
    if cells.n_classes > 2:
        answers = cells.predictions
        columns = answers.predict_proba if answers.decision_function is None else answers.decision_function
        if columns is None or columns.shape[1:] != (cells.n_classes,):
            return cells.undefined
        scores = _against_rest(_precision, columns, cells).sum(axis=1) / cells.n_classes
        return np.where(cells.has_all_classes, scores, np.nan)
    values = None if cells.positive is None else _decision_values(cells, cells.positive)
    if values is None:
        return cells.undefined
    return score_order(_precision, values, cells.truth == cells.positive, cells.starts)


# Many classes


def _against_rest(measure: Callable[..., Floats], columns: Floats, cells: Cells) -> Floats:
    """Score every class against the rest by its column."""
    return np.stack(
        [score_order(measure, columns[:, k], cells.truth == k, cells.starts) for k in range(cells.n_classes)], axis=1
    )


def _usable_probabilities(cells: Cells) -> NDArray[np.bool_]:
    """Tell which cells have rows of every class, and probabilities that sum to one."""
    assert cells.predictions.predict_proba is not None
    sums = cells.predictions.predict_proba.sum(axis=1)
    return cells.has_all_classes & cells.where_all(np.abs(sums - 1) < SUM_TOLERANCE)


def multiclass_roc_auc(
    cells: Cells, pairs: Literal["ovr", "ovo"], average: Literal["macro", "weighted"] = "macro"
) -> Floats:
    """Area under the ROC curve of probabilities: of each class against the rest, or of classes two by two."""
    proba = cells.predictions.predict_proba
    if not cells.n_classes or proba is None:
        return cells.undefined
    if cells.n_classes == 2:
        return score_order(_area, proba[:, 1], cells.truth == 1, cells.starts)
    scores, weights = (_one_versus_rest if pairs == "ovr" else _one_versus_one)(proba, cells)
    if average == "macro":
        values = scores.sum(axis=1) / scores.shape[1]
    else:
        values = (scores * weights).sum(axis=1) / weights.sum(axis=1)
    return np.where(_usable_probabilities(cells), values, np.nan)


def _one_versus_rest(proba: Floats, cells: Cells) -> tuple[Floats, NDArray[Any]]:
    """Area of each class against the rest, and how many rows it has."""
    return _against_rest(_area, proba, cells), cells.true_counts


def _one_versus_one(proba: Floats, cells: Cells) -> tuple[Floats, NDArray[Any]]:
    """Mean area of both classes of each pair among their rows, and the share of these rows."""
    scores, shares = [], []
    for a, b in combinations(range(cells.n_classes), 2):
        among = (cells.truth == a) | (cells.truth == b)
        n_rows = count_cells(among, cells.starts)
        starts = np.concatenate([[0], np.cumsum(n_rows)])
        areas = [score_order(_area, proba[among, k], cells.truth[among] == k, starts) for k in (a, b)]
        scores.append((areas[0] + areas[1]) / 2)
        shares.append(n_rows / cells.sizes)
    return np.stack(scores, axis=1), np.stack(shares, axis=1)
