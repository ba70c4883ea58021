"""The scores that can be named. Any other name that scikit-learn knows, and any callable, works as well."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial, wraps
from itertools import combinations
from math import inf
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import get_scorer, make_scorer

from holdfast.declared import About, Registry
from holdfast.models.block import ANSWERS, Floats, Ints, Predictions

MOST_AT_ONCE = 2**16
"""How many rows are handled at once: so many stay in the processor's cache."""
FEW_CLASSES = 4
"""Up to so many classes it is faster to count each by itself."""


def sum_cells(values: Floats, starts: Ints) -> Floats:
    """Return the sum of each cell, to the last bit what ``numpy.sum`` of its values alone is.

    ``reduceat`` adds the sum of all others to the first element of a cell, where ``sum`` begins with zero; so zeros are
    put in front.
    """
    return _sum_padded(values, starts, _places_after_zeros(starts))


def _places_after_zeros(starts: Ints) -> Ints:
    """Where rows stand if there is one more place in front of each cell."""
    return np.arange(starts[-1]) + np.repeat(np.arange(1, starts.size), np.diff(starts))


def _sum_padded(values: Floats, starts: Ints, places: Ints) -> Floats:
    padded = np.zeros(values.size + starts.size - 1)
    padded[places] = values
    return np.add.reduceat(padded, starts[:-1] + np.arange(starts.size - 1)) if starts.size > 1 else np.empty(0)


def count_cells(flags: NDArray[np.bool_], starts: Ints) -> Ints:
    """Return how many rows of each cell are flagged."""
    if starts.size > 1 and (starts[1:] > starts[:-1]).all():
        return np.add.reduceat(flags, starts[:-1], dtype=np.int64)
    running = np.concatenate([[0], np.cumsum(flags, dtype=np.int64)])
    return running[starts[1:]] - running[starts[:-1]]


def cut_cells(starts: Ints) -> Iterator[slice]:
    """Yield cells one after the other, as many at once as stay in the processor's cache."""
    begin, n_cells = 0, starts.size - 1
    while begin < n_cells:
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + MOST_AT_ONCE, side="right")) - 1)
        yield slice(begin, end)
        begin = end


def cells_by_size(starts: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield numbers of cells that have the same number of rows, and the places of these rows, one line per cell."""
    sizes = np.diff(starts)
    for size in np.unique(sizes[sizes > 0]):
        cells = np.flatnonzero(sizes == size)
        at_once = max(1, MOST_AT_ONCE // int(size))
        for begin in range(0, cells.size, at_once):
            some = cells[begin : begin + at_once]
            yield some, starts[some][:, None] + np.arange(size)


@dataclass(frozen=True, eq=False)
class Cells:
    """The held-out rows of a block of cells: what is true of them, and what models answered.

    Attributes
    ----------
    truth : ndarray
        For each row the number of its class, from 0, or the number to predict.
    predictions : Predictions
        What models answered for these rows.
    classes : ndarray or None
        The labels of the classes, sorted; None if numbers are predicted.
    """

    truth: NDArray[Any]
    predictions: Predictions
    classes: NDArray[Any] | None

    @property
    def starts(self) -> Ints:
        """Where the rows of each cell begin, and the end of the last."""
        return self.predictions.starts

    def part(self, cells: slice) -> "Cells":
        """Return some of the cells."""
        if (cells.start, cells.stop) == (0, self.starts.size - 1):
            return self
        rows = slice(self.starts[cells.start], self.starts[cells.stop])
        return Cells(self.truth[rows], self.predictions.part(cells), self.classes)

    def has(self, answer: str) -> bool:
        """Tell whether models were asked for this answer."""
        return getattr(self.predictions, answer) is not None

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each cell."""
        return np.diff(self.starts)

    @property
    def undefined(self) -> Floats:
        """No value for any cell."""
        return np.full(self.starts.size - 1, np.nan)

    def sum(self, values: Floats) -> Floats:
        """Sum values over the rows of each cell."""
        return _sum_padded(values, self.starts, self._places)

    @cached_property
    def _places(self) -> Ints:
        return _places_after_zeros(self.starts)

    def mean(self, values: Floats) -> Floats:
        """Average values over the rows of each cell."""
        return self.sum(values) / self.sizes

    def where_all(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell of which cells every row is flagged."""
        if flags.all():
            return np.ones(self.sizes.size, dtype=bool)
        return count_cells(flags, self.starts) == self.sizes

    # Classes

    @cached_property
    def n_classes(self) -> int:
        """How many classes there are, if scikit-learn takes their labels for classes; else 0."""
        labels = self.classes
        if labels is None or labels.size < 2:
            return 0
        plain = (
            labels.dtype.kind in "biuU"
            or (labels.dtype.kind == "f" and bool((labels == np.floor(labels)).all()))
            or (labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels))
        )
        return labels.size if plain else 0

    @cached_property
    def numeric_labels(self) -> bool:
        """Whether the labels of classes are numbers."""
        return self.classes is not None and self.classes.dtype.kind in "biuf"

    @cached_property
    def positive(self) -> int | None:
        """The number of the class that scikit-learn calls positive: the one of two whose label is 1."""
        if self.n_classes != 2 or self.classes is None or not self.numeric_labels:
            return None
        return next((number for number, label in enumerate(self.classes.tolist()) if label == 1), None)

    @cached_property
    def cell_of_row(self) -> Ints:
        """The cell of each row."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @cached_property
    def predicted_class(self) -> Ints:
        """The number of the predicted class of each row."""
        assert self.predictions.predict is not None
        return self.predictions.predict.astype(np.int64, copy=False)

    def _count_classes(self, classes: Ints, among: NDArray[np.bool_] | None = None) -> Ints:
        """Count the rows of each class in each cell, all or those flagged."""
        if self.n_classes <= FEW_CLASSES:
            flags = (classes == number for number in range(self.n_classes))
            counts = [count_cells(flag if among is None else flag & among, self.starts) for flag in flags]
            return np.stack(counts, axis=1)
        rows = slice(None) if among is None else among
        places = self.cell_of_row[rows] * self.n_classes + classes[rows]
        return np.bincount(places, minlength=self.sizes.size * self.n_classes).reshape(-1, self.n_classes)

    @cached_property
    def hit(self) -> NDArray[np.bool_]:
        """Which rows are predicted right."""
        return self.truth == self.predicted_class

    @cached_property
    def n_hits(self) -> Ints:
        """How many rows of each cell are predicted right."""
        return count_cells(self.hit, self.starts)

    @cached_property
    def true_counts(self) -> Ints:
        """How many rows each class has in each cell."""
        return self._count_classes(self.truth)

    @cached_property
    def predicted_counts(self) -> Ints:
        """How often each class is predicted in each cell."""
        return self._count_classes(self.predicted_class)

    @cached_property
    def hit_counts(self) -> Ints:
        """How many rows of each class are predicted right in each cell."""
        return self._count_classes(self.truth, self.hit)

    @cached_property
    def has_all_classes(self) -> NDArray[np.bool_]:
        """Which cells have rows of every class."""
        return np.all(self.true_counts > 0, axis=1)


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


class Range(NamedTuple):
    """The least and the largest value that a score can have; infinite where there is none."""

    low: float
    high: float


UNBOUNDED = Range(-inf, inf)
SHARE = Range(0.0, 1.0)
AT_MOST_ONE = Range(-inf, 1.0)
AT_MOST_ZERO = Range(-inf, 0.0)


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score of predictions; higher is better.

    Attributes
    ----------
    about : About
        Its name, and what is said of it; ``methods`` is a noun phrase ("classification accuracy").
    scorer : str or callable
        scikit-learn's name of it, or a callable ``(model, X, y) -> float``.
    block : callable, optional
        The same score for many models at once: ``(Cells) -> array`` of a value for each cell, ``nan`` where the scorer
        is to be asked. A study then calls the scorer for those cells only, with a model that repeats its answers.
    answers : tuple of str
        What ``block`` needs of a model: the first of these methods that the model has.
    low, high : float
        The least and the largest value that the score can have; its intervals stay inside.
    """

    about: About
    scorer: Any
    block: Callable[[Cells], Floats] | None = None
    answers: tuple[str, ...] = ("predict",)
    low: float = -inf
    high: float = inf

    @property
    def range(self) -> Range:
        """Its least and its largest value."""
        return Range(self.low, self.high)


SCORES: Registry[Score] = Registry("score", where="holdfast.models.SCORES")
"""Scores by name. ``SCORES.add(Score(…))`` adds one of your own."""

LABELS = ("predict",)
PROBABILITIES = ("predict_proba",)
VALUES = ("decision_function", "predict_proba")


def _add(
    block: Callable[[Cells], Floats],
    name: str,
    summary: str,
    methods: str,
    *needs: str,
    answers: tuple[str, ...] = LABELS,
    bounds: Range = SHARE,
    label: str = "",
) -> None:
    about = About(name=name, label=label, summary=summary, methods=methods, needs=needs)
    SCORES.add(Score(about=about, scorer=name, block=block, answers=answers, low=bounds.low, high=bounds.high))


def _add_averages(parts: Any, name: str, what: str, methods: str, *, of_one: str) -> None:
    """Add a score of the positive class, and its averages over classes."""
    _add(partial(averaged, parts=parts, average="binary"), name, of_one, methods, "two classes")
    averages: list[tuple[Average, str, str]] = [
        ("macro", f"Mean {what} over classes.", "mean over classes"),
        ("micro", f"{what[0].upper()}{what[1:]} of all classes together.", "all classes together"),
        ("weighted", f"Mean {what} over classes, weighted by their size.", "weighted by class"),
    ]
    for average, summary, how in averages:
        block = partial(averaged, parts=parts, average=average)
        _add(block, f"{name}_{average}", summary, f"{methods} ({how})", "classes")


_add(accuracy, "accuracy", "Share of right predictions.", "accuracy", "classes")
_add(balanced_accuracy, "balanced_accuracy", "Mean share of right predictions over classes.", "balanced accuracy",
     "classes")  # fmt: skip
_add_averages(
    f1_parts, "f1", "F1 score", "F1 score", of_one="Harmonic mean of precision and recall of the positive class."
)
_add_averages(precision_parts, "precision", "precision", "precision",
              of_one="Share of those predicted positive that are.")  # fmt: skip
_add_averages(recall_parts, "recall", "recall", "recall", of_one="Share of the positive class that is predicted so.")
_add_averages(jaccard_parts, "jaccard", "Jaccard index", "Jaccard index",
              of_one="Rows predicted positive rightly, among all that are positive or predicted so.")  # fmt: skip
_add(matthews_corrcoef, "matthews_corrcoef", "Correlation of true and predicted classes.",
     "Matthews correlation coefficient", "classes", bounds=Range(-1.0, 1.0))  # fmt: skip
_add(roc_auc, "roc_auc", "Area under the ROC curve.", "area under the ROC curve", "two classes", "probabilities",
     answers=VALUES, label="AUC")  # fmt: skip
_add(partial(multiclass_roc_auc, pairs="ovr"), "roc_auc_ovr", "Area under the ROC curve, each class against the rest.",
     "area under the ROC curve (one versus rest)", "classes", "probabilities", answers=PROBABILITIES,
     label="AUC (one versus rest)")  # fmt: skip
_add(partial(multiclass_roc_auc, pairs="ovr", average="weighted"), "roc_auc_ovr_weighted",
     "Area under the ROC curve, each class against the rest, weighted by their size.",
     "area under the ROC curve (one versus rest, weighted by class)", "classes", "probabilities",
     answers=PROBABILITIES, label="AUC (one versus rest, weighted)")  # fmt: skip
_add(partial(multiclass_roc_auc, pairs="ovo"), "roc_auc_ovo", "Area under the ROC curve, classes two by two.",
     "area under the ROC curve (one versus one)", "classes", "probabilities", answers=PROBABILITIES,
     label="AUC (one versus one)")  # fmt: skip
_add(partial(multiclass_roc_auc, pairs="ovo", average="weighted"), "roc_auc_ovo_weighted",
     "Area under the ROC curve, classes two by two, weighted by their size.",
     "area under the ROC curve (one versus one, weighted by class)", "classes", "probabilities",
     answers=PROBABILITIES, label="AUC (one versus one, weighted)")  # fmt: skip
_add(average_precision, "average_precision", "Area under the precision-recall curve.", "average precision",
     "two classes", "probabilities", answers=VALUES)  # fmt: skip
_add(neg_log_loss, "neg_log_loss", "Minus the log loss of predicted probabilities.", "negative log loss", "classes",
     "probabilities", answers=PROBABILITIES, bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_brier_score, "neg_brier_score", "Minus the Brier score of predicted probabilities.", "negative Brier score",
     "classes", "probabilities", answers=PROBABILITIES, bounds=AT_MOST_ZERO)  # fmt: skip
_add(
    r2,
    "r2",
    "Share of explained variance about the mean.",
    "coefficient of determination",
    "numbers to predict",
    bounds=AT_MOST_ONE,
    label="R²",
)
_add(
    explained_variance,
    "explained_variance",
    "Share of explained variance.",
    "explained variance",
    "numbers to predict",
    bounds=AT_MOST_ONE,
)
_add(neg_mean_squared_error, "neg_mean_squared_error", "Minus the mean squared error.", "negative mean squared error",
     "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_root_mean_squared_error, "neg_root_mean_squared_error", "Minus the root of the mean squared error.",
     "negative root mean squared error", "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_mean_absolute_error, "neg_mean_absolute_error", "Minus the mean absolute error.",
     "negative mean absolute error", "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_median_absolute_error, "neg_median_absolute_error", "Minus the median absolute error.",
     "negative median absolute error", "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_mean_absolute_percentage_error, "neg_mean_absolute_percentage_error",
     "Minus the mean absolute error as a share of the truth.", "negative mean absolute percentage error",
     "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(
    neg_max_error,
    "neg_max_error",
    "Minus the largest absolute error.",
    "negative largest error",
    "numbers to predict",
    bounds=AT_MOST_ZERO,
)


ScikitScorer = type(make_scorer(lambda truth, predicted: 0.0))


@dataclass(frozen=True, eq=False)
class Scorer:
    """A score as studies compute it.

    Attributes
    ----------
    scorer : callable
        ``(model, X, y) -> float``, scikit-learn's or a user's.
    block : callable, optional
        The same for many models at once, see :class:`holdfast.models.Score`.
    answers : tuple of str, optional
        What it needs of a model: the first of these methods that the model has. None if it may ask for anything.
    """

    scorer: Callable[[Any, Any, Any], float]
    block: Callable[[Cells], Floats] | None = None
    answers: tuple[str, ...] | None = None

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        """Score one model."""
        return self.scorer(model, X, y)

    def answer(self, has: Callable[[str], bool]) -> str | None:
        """Return the method that is asked of a model which has these; None if it has none of those needed."""
        return next((name for name in self.answers or () if has(name)), None)


def recognize_scorer(scorer: Any) -> Scorer:
    """Return scikit-learn's scorer or a callable with the array function of the same score, if one is known."""
    if isinstance(scorer, Scorer):
        return scorer
    if type(scorer) is not ScikitScorer:
        return Scorer(scorer)
    method = scorer._response_method
    answers = (method,) if isinstance(method, str) else tuple(method)
    if not set(answers) <= set(ANSWERS):
        return Scorer(scorer)
    block = None if hasattr(scorer, "_metadata_request") else _scikit_learn_blocks().get(_identity(scorer))
    return Scorer(scorer, block, answers)


def _identity(scorer: Any) -> tuple[Any, ...]:
    """All that a scorer of scikit-learn depends on."""
    method = scorer._response_method
    options = tuple(sorted((name, repr(value)) for name, value in scorer._kwargs.items()))
    return scorer._score_func, scorer._sign, options, (method,) if isinstance(method, str) else tuple(method)


@lru_cache(maxsize=1)
def _scikit_learn_blocks() -> dict[tuple[Any, ...], Callable[[Cells], Floats]]:
    """The array function of every scorer of scikit-learn that has one."""
    named = [score for score in SCORES.values() if isinstance(score.scorer, str) and score.block is not None]
    return {_identity(get_scorer(score.scorer)): score.block for score in named if score.block is not None}


def needed_answers(scorers: Iterable[Scorer], has: Callable[[str], bool]) -> set[str] | None:
    """Return the methods of a model that these scores ask for; None if one of them needs the model itself.

    Parameters
    ----------
    scorers : iterable of Scorer
        The scores.
    has : callable
        Tells of ``"predict"``, ``"predict_proba"`` and ``"decision_function"`` whether the model has that method.

    Returns
    -------
    set of str or None
        Names of methods.
    """
    needed = {scorer.answer(has) for scorer in scorers}
    return None if None in needed else {name for name in needed if name is not None}


@dataclass(frozen=True, eq=False)
class BlockScores:
    """Scores of the cells of a block.

    Attributes
    ----------
    values : dict of ndarray
        By the name of the score: its value for each cell; ``nan`` for cells with an error.
    errors : dict of Exception
        By cell: what its first score that failed raised.
    warnings : dict of list
        By cell: the warnings that scikit-learn's scorers gave, if any.
    """

    values: dict[str, Floats]
    errors: dict[int, Exception] = field(default_factory=dict)
    warnings: dict[int, list[Any]] = field(default_factory=dict)

    def by_cell(self) -> list[dict[str, float]]:
        """Return the scores of each cell by name; cells with an error are to be looked up in ``errors``."""
        columns = [values.tolist() for values in self.values.values()]
        return [dict(zip(self.values, row, strict=True)) for row in zip(*columns, strict=True)]


def score_block(
    scorers: Mapping[str, Scorer], truth: NDArray[Any], predictions: Predictions, classes: NDArray[Any] | None
) -> BlockScores:
    """Compute every score of every cell.

    Parameters
    ----------
    scorers : mapping of Scorer
        By name; none of them may need the model itself (see :func:`needed_answers`).
    truth : ndarray
        For each row the number of its class, from 0, or the number to predict.
    predictions : Predictions
        What models answered.
    classes : ndarray or None
        The labels of the classes, sorted; None if numbers are predicted.

    Returns
    -------
    BlockScores
        Values, and where they failed errors.
    """
    cells = Cells(truth, predictions, classes)
    values = {name: np.full(cells.sizes.size, np.nan) for name in scorers}
    for some in cut_cells(cells.starts):
        part = cells.part(some)
        for name, scorer in scorers.items():
            if scorer.block is not None and scorer.answer(part.has) is not None:
                values[name][some] = scorer.block(part)
    scores = BlockScores(values)
    unsure = [~np.isfinite(column) for column in values.values()]
    for cell in np.flatnonzero(np.logical_or.reduce(unsure)) if unsure else ():
        _ask_scikit_learn(scorers, cells, int(cell), scores)
    return scores


def _ask_scikit_learn(scorers: Mapping[str, Scorer], cells: Cells, cell: int, scores: BlockScores) -> None:
    """Fill in what the array functions left open in one cell, in the order of the scores, up to the first error."""
    model, y = stored_model(cells.predictions, cell, cells.classes), _labels(cells, cell)
    X = np.zeros((y.size, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for name, scorer in scorers.items():
                if not np.isfinite(scores.values[name][cell]):
                    scores.values[name][cell] = float(scorer(model, X, y))
        except Exception as error:
            scores.errors[cell] = error
            for column in scores.values.values():
                column[cell] = np.nan
    if caught:
        scores.warnings[cell] = list(caught)


def _labels(cells: Cells, cell: int) -> NDArray[Any]:
    truth = cells.truth[cells.starts[cell] : cells.starts[cell + 1]]
    return truth if cells.classes is None else cells.classes[truth]


# Models that are known by their answers only


class _Stored(BaseEstimator):
    """A fitted model that has been asked already; whatever rows it is given, it repeats its answers."""

    def __init__(self, answers: Mapping[str, NDArray[Any]]) -> None:
        self.answers = answers

    def __getattr__(self, name: str) -> Any:
        answers = self.__dict__.get("answers", {})
        if name not in answers:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def answer(X: Any) -> NDArray[Any]:
            return answers[name]

        answer.__name__ = name  # scikit-learn's scorers look methods up by their names
        return answer

    def __sklearn_is_fitted__(self) -> bool:
        return True


class StoredClassifier(ClassifierMixin, _Stored):
    """A fitted classifier that has been asked already."""


class StoredRegressor(RegressorMixin, _Stored):
    """A fitted regressor that has been asked already."""


def stored_model(predictions: Predictions, cell: int, classes: NDArray[Any] | None) -> Any:
    """Return what scikit-learn's scorers take for the fitted model of a cell."""
    of_cell = predictions.part(slice(cell, cell + 1))
    answers = {name: getattr(of_cell, name) for name in ANSWERS if getattr(of_cell, name) is not None}
    if classes is None:
        return StoredRegressor(answers)
    if "predict" in answers:
        answers["predict"] = classes[answers["predict"].astype(np.int64)]
    model = StoredClassifier(answers)
    model.classes_ = classes
    return model


# Models that are fitted one at a time


def ask_model(model: Any, X: Any, methods: Iterable[str], classes: NDArray[Any] | None) -> Predictions | None:
    """Ask a fitted model for its answers on held-out rows, each once.

    Parameters
    ----------
    model : object
        The fitted model.
    X : array
        The held-out rows.
    methods : iterable of str
        What to ask, see :func:`needed_answers`.
    classes : ndarray or None
        The labels of the classes, sorted; None if numbers are predicted.

    Returns
    -------
    Predictions or None
        Of a single cell; None if what the model answers cannot be written so, as where it was trained without one of
        the classes. Scores are then to be asked of the model itself.
    """
    if classes is not None and not (is_classifier(model) and np.array_equal(getattr(model, "classes_", ()), classes)):
        return None
    answers = {name: _as_stored(name, getattr(model, name)(X), classes) for name in methods}
    if any(values is None for values in answers.values()):
        return None
    n = next((len(values) for values in answers.values() if values is not None), 0)
    return Predictions(
        np.array([0, n]), answers.get("predict"), answers.get("decision_function"), answers.get("predict_proba")
    )


def _as_stored(name: str, values: Any, classes: NDArray[Any] | None) -> NDArray[Any] | None:
    """Answers as arrays: numbers of classes, or floats of the expected shape; None if they are something else."""
    values = np.asarray(values)
    if name == "predict" and classes is not None:
        return number_classes(values, classes)
    if classes is None:
        return values if values.ndim == 1 and values.dtype.kind in "fiu" and values.dtype != np.float32 else None
    columns = (classes.size,) if name == "predict_proba" or classes.size > 2 else ()
    return values if values.dtype == np.float64 and values.shape[1:] == columns else None


def number_classes(labels: NDArray[Any], classes: NDArray[Any]) -> Ints | None:
    """Return the number of the class of each label; None if one of them is no class."""
    if labels.ndim != 1 or (labels.dtype.kind in "OUS") != (classes.dtype.kind in "OUS"):
        return None
    numbers = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    return numbers if (classes[numbers] == labels).all() else None


def join_predictions(several: Sequence[Predictions]) -> Predictions:
    """Put the answers of blocks one after the other; all must have answered the same."""
    ends = np.cumsum([0, *(predictions.starts[-1] for predictions in several)])
    starts = [predictions.starts[:-1] + begin for predictions, begin in zip(several, ends, strict=False)]

    def joined(name: str) -> Any:
        parts = [getattr(predictions, name) for predictions in several]
        return None if not parts or parts[0] is None else np.concatenate(parts)

    weights = [coef for predictions in several for coef in _list_coefficients(predictions)]
    return Predictions(
        np.concatenate([*starts, ends[-1:]]), joined("predict"), joined("decision_function"), joined("predict_proba"),
        weights,
    )  # fmt: skip


def _list_coefficients(predictions: Predictions) -> Sequence[NDArray[np.float64] | None]:
    return [None] * (predictions.starts.size - 1) if predictions.coefficients is None else predictions.coefficients
