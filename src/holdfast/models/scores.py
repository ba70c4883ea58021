"""Scores of predictions: each is declared next to its formula; blocks of models are scored at once.

A formula reads :class:`Cells`, the held-out rows of many models one after the other, and returns a value for each cell:
``nan`` where scikit-learn would warn, refuse or return ``nan``, so that its scorer is asked there. The value of a
cell is the same alone and in any block. Any other name that scikit-learn knows, and any callable, is a score as well.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import combinations
from math import inf
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import get_scorer, make_scorer

from holdfast.declared import About, Registry
from holdfast.kernels.cox import concordance as concordances
from holdfast.kernels.survival_curves import StepFunctions, brier_scores, dynamic_aucs, kaplan_meier
from holdfast.models.block import (
    ANSWERS,
    SURVIVAL_FUNCTION,
    Floats,
    Ints,
    Predictions,
    Training,
    evaluation_times,
)
from holdfast.targets import TIMES_AND_EVENTS
from holdfast.text import join_first

MAX_AT_ONCE = 2**16
"""How many rows are handled at once: so many stay in the processor's cache."""
FEW_CLASSES = 4
"""Up to so many classes it is faster to count each by itself."""
SUM_TOLERANCE = 1e-9
"""Probabilities of a row whose sum is farther from one are left to scikit-learn, which may refuse them."""
SMALLEST = np.finfo(np.float64).eps

Flags = NDArray[np.bool_]


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
    undefined : str
        Why a value is ``nan``, where ``block`` says all that is to be said of a cell and the scorer is not to be asked;
        such a scorer takes :class:`~holdfast.models.block.Training` as ``training``.
    """

    about: About
    scorer: Any
    block: "Callable[[Cells], Floats] | None" = None
    answers: tuple[str, ...] = ("predict",)
    low: float = -inf
    high: float = inf
    undefined: str = ""

    @property
    def range(self) -> Range:
        """Its least and its largest value."""
        return Range(self.low, self.high)


SCORES: Registry[Score] = Registry("score", where="holdfast.models.SCORES")
"""Scores by name. ``SCORES.add(Score(…))`` adds a new one."""


def sum_cells(values: Floats, starts: Ints, positions: Ints | None = None) -> Floats:
    """Return the sum of each cell, to the last bit what ``numpy.sum`` of its values alone is.

    ``reduceat`` adds the sum of all others to the first element of a cell, where ``sum`` begins with zero; so a zero is
    put in front of each. ``positions`` are those of the rows among these zeros, if they are known.
    """
    if starts.size == 1:
        return np.empty(0)
    padded = np.zeros(values.size + starts.size - 1)
    padded[_positions_after_zeros(starts) if positions is None else positions] = values
    return np.add.reduceat(padded, starts[:-1] + np.arange(starts.size - 1))


def _positions_after_zeros(starts: Ints) -> Ints:
    """The position of each row if there is a zero in front of each cell."""
    return np.arange(starts[-1]) + np.repeat(np.arange(1, starts.size), np.diff(starts))


def count_cells(flags: NDArray[np.bool_], starts: Ints) -> Ints:
    """Return how many rows of each cell are flagged."""
    if starts.size > 1 and (starts[1:] > starts[:-1]).all():
        return np.add.reduceat(flags, starts[:-1], dtype=np.int64)
    running = np.concatenate([[0], np.cumsum(flags, dtype=np.int64)])
    return running[starts[1:]] - running[starts[:-1]]


def cells_by_size(starts: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield cells that have the same number of rows, and the positions of these rows, one line per cell."""
    sizes = np.diff(starts)
    for size in np.unique(sizes[sizes > 0]):
        cells = np.flatnonzero(sizes == size)
        at_once = max(1, MAX_AT_ONCE // int(size))
        for begin in range(0, cells.size, at_once):
            part = cells[begin : begin + at_once]
            yield part, starts[part][:, None] + np.arange(size)


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
        The labels of the classes, sorted; None for another target.
    training : Training, optional
        The rows that the models were trained on; scores of survival times need them.
    """

    truth: NDArray[Any]
    predictions: Predictions
    classes: NDArray[Any] | None
    training: Training | None = None

    @property
    def starts(self) -> Ints:
        """Where the rows of each cell begin, and the end of the last."""
        return self.predictions.starts

    def part(self, cells: slice) -> "Cells":
        """Return some of the cells."""
        if (cells.start, cells.stop) == (0, self.starts.size - 1):
            return self
        rows = slice(self.starts[cells.start], self.starts[cells.stop])
        training = self.training and self.training._replace(splits=self.training.splits[cells])
        return Cells(self.truth[rows], self.predictions.part(cells), self.classes, training)

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
        return sum_cells(values, self.starts, self._positions)

    @cached_property
    def _positions(self) -> Ints:
        return _positions_after_zeros(self.starts)

    def mean(self, values: Floats) -> Floats:
        """Average values over the rows of each cell."""
        return self.sum(values) / self.sizes

    def row_means(self, values: Floats) -> Floats:
        """Return for each row the mean over its cell."""
        return np.repeat(self.mean(values), self.sizes)

    def where_all(self, flags: Flags) -> Flags:
        """Return of which cells every row is flagged."""
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

    @property
    def probabilities(self) -> Floats:
        """The predicted probabilities, which a score must have asked for."""
        assert self.predictions.predict_proba is not None
        return self.predictions.predict_proba

    @cached_property
    def predicted_class(self) -> Ints:
        """The number of the predicted class of each row."""
        assert self.predictions.predict is not None
        return self.predictions.predict.astype(np.int64, copy=False)

    def _count_classes(self, classes: Ints, among: Flags | None = None) -> Ints:
        """Count the rows of each class in each cell, all or those flagged."""
        if self.n_classes <= FEW_CLASSES:
            flags = (classes == number for number in range(self.n_classes))
            counts = [count_cells(flag if among is None else flag & among, self.starts) for flag in flags]
            return np.stack(counts, axis=1)
        rows = slice(None) if among is None else among
        positions = self.cell_of_row[rows] * self.n_classes + classes[rows]
        return np.bincount(positions, minlength=self.sizes.size * self.n_classes).reshape(-1, self.n_classes)

    @cached_property
    def hit(self) -> Flags:
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
    def has_all_classes(self) -> Flags:
        """Which cells have rows of every class."""
        return np.all(self.true_counts > 0, axis=1)


# Declaring a score next to its formula

NUMBERS = "numbers to predict"
PROBABILITIES = ("predict_proba",)
VALUES = ("decision_function", "predict_proba")

Formula = Callable[..., Floats]


def _declare(
    methods: str,
    *needs: str,
    answers: tuple[str, ...] = ("predict",),
    bounds: Range = SHARE,
    label: str = "",
    name: str = "",
    summary: str = "",
    reference: str | None = None,
    undefined: str = "",
) -> Callable[[Formula], Formula]:
    """Add a formula to the scores, by default under its name and with the first line of its docstring.

    A formula of classes takes cells that know their classes; one of numbers takes cells, truth and predictions; one of
    survival times takes cells with their training rows, and is ``undefined`` where it is ``nan``.
    """

    def add(formula: Formula) -> Formula:
        about = About(
            name=name or formula.__name__, label=label, summary=summary or _first_line(formula), methods=methods,
            needs=needs, reference=reference,
        )  # fmt: skip
        score = next((score for need, score in SCORED_BY.items() if need in needs), _score_classes)
        SCORES.add(
            Score(
                about=about, scorer=partial(score_survival, about.name) if undefined else about.name,
                block=partial(score, formula), answers=answers, low=bounds.low, high=bounds.high, undefined=undefined,
            )
        )  # fmt: skip
        return formula

    return add


def _first_line(formula: Callable[..., Any]) -> str:
    return (formula.__doc__ or "").partition("\n")[0]


def _score_classes(formula: Formula, cells: Cells) -> Floats:
    """Score predicted classes; ``nan`` where there are none."""
    return formula(cells) if cells.n_classes else cells.undefined


def _score_numbers(formula: Formula, cells: Cells) -> Floats:
    """Score predicted numbers; ``nan`` for classes, and where something is not finite."""
    if cells.classes is not None:
        return cells.undefined
    truth, predicted = (np.asarray(values, dtype=np.float64) for values in (cells.truth, cells.predictions.predict))
    with np.errstate(all="ignore"):
        scores = formula(cells, truth, predicted)
    return np.where(cells.where_all(np.isfinite(truth) & np.isfinite(predicted)), scores, np.nan)


def _score_survival(formula: Formula, cells: Cells) -> Floats:
    """Score predictions for survival times; ``nan`` for another target."""
    return cells.undefined if cells.truth.dtype.names is None else formula(cells)


SCORED_BY: dict[str, Callable[..., Floats]] = {TIMES_AND_EVENTS: _score_survival, NUMBERS: _score_numbers}
"""How a formula is called that needs this; one of classes otherwise."""


# Predicted classes


@_declare("accuracy", "classes")
def accuracy(cells: Cells) -> Floats:
    """Share of right predictions."""
    return cells.n_hits / cells.sizes


@_declare("balanced accuracy", "classes")
def balanced_accuracy(cells: Cells) -> Floats:
    """Mean share of right predictions over classes."""
    true = cells.true_counts
    present = true > 0
    recall = cells.hit_counts / np.maximum(true, 1)
    scores = recall.sum(axis=1) / present.sum(axis=1)
    others = ((cells.predicted_counts > 0) & ~present).any(axis=1)  # scikit-learn warns of them
    return np.where(others | _has_one_label(cells), np.nan, scores)


def _has_one_label(cells: Cells) -> Flags:
    """Return which cells have only one class, among truth and predictions together."""
    return ((cells.true_counts + cells.predicted_counts) > 0).sum(axis=1) == 1


Ratio = Callable[[Cells], tuple[Ints, Ints]]
"""Counts of each class in each cell: numerator and denominator."""
Average = Literal["binary", "macro", "micro", "weighted"]


def _declare_averages(methods: str) -> Callable[[Ratio], Ratio]:
    """Add a ratio to the scores: that of the positive class, and its averages over classes."""

    def add(ratio: Ratio) -> Ratio:
        capital = methods[0].upper() + methods[1:]
        averages: list[tuple[Average, str, str, str]] = [
            ("binary", _first_line(ratio), "", "two classes"),
            ("macro", f"Mean {methods} over classes.", " (mean over classes)", "classes"),
            ("micro", f"{capital} of all classes together.", " (all classes together)", "classes"),
            ("weighted", f"Mean {methods} over classes, weighted by their size.", " (weighted by class)", "classes"),
        ]
        for average, summary, how, needs in averages:
            name = ratio.__name__ if average == "binary" else f"{ratio.__name__}_{average}"
            _declare(methods + how, needs, name=name, summary=summary)(partial(_average_ratio, ratio, average))
        return ratio

    return add


def _average_ratio(ratio: Ratio, average: Average, cells: Cells) -> Floats:
    """Average a ratio over classes, or take it of the positive class."""
    above, below = ratio(cells)
    if average == "binary":
        return cells.undefined if cells.positive is None else _divide(above, below)[:, cells.positive]
    if average == "micro":
        return _divide(above.sum(axis=1), below.sum(axis=1))
    present = (cells.true_counts + cells.predicted_counts) > 0
    ratios = np.where(present, _divide(above, below), 0.0)  # nan: a class that scikit-learn would warn of
    if average == "macro":
        return ratios.sum(axis=1) / present.sum(axis=1)
    return (ratios * cells.true_counts).sum(axis=1) / cells.sizes


def _divide(above: Ints, below: Ints) -> Floats:
    """Divide, with ``nan`` where the denominator is 0."""
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)


@_declare_averages("F1 score")
def f1(cells: Cells) -> tuple[Ints, Ints]:
    """Harmonic mean of precision and recall of the positive class."""
    return 2 * cells.hit_counts, cells.true_counts + cells.predicted_counts


@_declare_averages("precision")
def precision(cells: Cells) -> tuple[Ints, Ints]:
    """Share of those predicted positive that are."""
    return cells.hit_counts, cells.predicted_counts


@_declare_averages("recall")
def recall(cells: Cells) -> tuple[Ints, Ints]:
    """Share of the positive class that is predicted so."""
    return cells.hit_counts, cells.true_counts


@_declare_averages("Jaccard index")
def jaccard(cells: Cells) -> tuple[Ints, Ints]:
    """Rows predicted positive rightly, among all that are positive or predicted so."""
    return cells.hit_counts, cells.true_counts + cells.predicted_counts - cells.hit_counts


@_declare("Matthews correlation coefficient", "classes", bounds=Range(-1.0, 1.0))
def matthews_corrcoef(cells: Cells) -> Floats:
    """Correlation of true and predicted classes.

    0 if there is but one true, or one predicted class.
    """
    true, predicted, n = cells.true_counts, cells.predicted_counts, cells.sizes
    covariance = cells.n_hits * n - (true * predicted).sum(axis=1)
    variances = (n**2 - (predicted**2).sum(axis=1)).astype(np.float64) * (n**2 - (true**2).sum(axis=1))
    scores = np.divide(covariance, np.sqrt(variances), out=np.zeros(n.size), where=variances > 0)
    return np.where(_has_one_label(cells), np.nan, scores)


# The order of rows by decision values or probabilities


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


def find_curve(values: Floats, positive: Flags) -> Curve:
    """Count rows, and positive ones, of at least each different value; a line of values for each cell."""
    n = values.shape[1]
    order = np.argsort(values, axis=1)
    values, positive = np.take_along_axis(values, order, 1), np.take_along_axis(positive, order, 1)
    first = np.ones(values.shape, dtype=bool)  # among equal values
    np.not_equal(values[:, 1:], values[:, :-1], out=first[:, 1:])
    up_to = np.cumsum(positive, axis=1, dtype=np.int64)
    true = up_to[:, -1:] - up_to + positive
    positions = np.flatnonzero(first)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(first, axis=1))])
    return Curve(n - positions % n, true.ravel()[positions], starts)


def _area(curve: Curve, n: int, n_positive: Ints) -> Floats:
    """Area under the curve of true over false positives, by trapezoids between its corners.

    A corner does not lie midway between its neighbors; the ends of each cell are corners.
    """
    corners = np.ones(curve.rows.size, dtype=bool)
    corners[1:-1] = (np.diff(curve.rows, 2) != 0) | (np.diff(curve.true, 2) != 0)
    corners[curve.starts[:-1]] = True
    corners[curve.starts[1:] - 1] = True
    lengths = count_cells(corners, curve.starts)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    true, rows = curve.true[corners], curve.rows[corners]
    x, y = (rows - true) / np.repeat(n - n_positive, lengths), true / np.repeat(n_positive, lengths)
    terms = (x - _next(x, starts)) * (y + _next(y, starts)) / 2.0
    return sum_cells(terms[::-1], starts[-1] - starts[::-1])[::-1]  # added from the largest value, as scikit-learn does


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


def score_order(measure: Callable[[Curve, int, Ints], Floats], values: Floats, positive: Flags, starts: Ints) -> Floats:
    """Score how far positive rows of each cell have the larger values; ``nan`` for cells with rows of one kind only."""
    scores = np.full(starts.size - 1, np.nan)
    n_positive, finite = count_cells(positive, starts), np.isfinite(values)
    usable = (n_positive > 0) & (n_positive < np.diff(starts))
    if not finite.all():
        usable &= count_cells(finite, starts) == np.diff(starts)
    for numbers, rows in cells_by_size(starts):
        numbers, rows = numbers[usable[numbers]], rows[usable[numbers]]
        if numbers.size:
            curve = find_curve(values[rows], positive[rows])
            scores[numbers] = measure(curve, rows.shape[1], n_positive[numbers])
    return scores


def _decision_values(cells: Cells, positive: int) -> Floats:
    """Values that are larger for the positive one of two classes."""
    values = cells.predictions.decision_function
    if values is None:
        return cells.probabilities[:, positive]
    return values if positive == 1 else -1 * values


def _score_each_class(measure: Callable[..., Floats], columns: Floats, cells: Cells) -> Floats:
    """Score every class against the rest by its column."""
    return np.stack(
        [score_order(measure, columns[:, k], cells.truth == k, cells.starts) for k in range(cells.n_classes)], axis=1
    )


@_declare("area under the ROC curve", "two classes", "probabilities", answers=VALUES, label="AUC")
def roc_auc(cells: Cells) -> Floats:
    """Area under the ROC curve."""
    if cells.n_classes != 2:
        return cells.undefined
    return score_order(_area, _decision_values(cells, 1), cells.truth == 1, cells.starts)


def multiclass_roc_auc(cells: Cells, pairs: str, *, weighted: bool) -> Floats:
    """Area under the ROC curve of probabilities: of each class against the rest, or of classes two by two."""
    proba = cells.probabilities
    if cells.n_classes == 2:
        return score_order(_area, proba[:, 1], cells.truth == 1, cells.starts)
    weights: NDArray[Any] = cells.true_counts
    if pairs == "ovr":
        scores = _score_each_class(_area, proba, cells)
    else:
        scores, weights = _score_pairs(proba, cells)
    if not weighted:
        weights = np.ones(scores.shape)
    values = (scores * weights).sum(axis=1) / weights.sum(axis=1)
    usable = cells.has_all_classes & cells.where_all(np.abs(proba.sum(axis=1) - 1) < SUM_TOLERANCE)
    return np.where(usable, values, np.nan)


def _score_pairs(proba: Floats, cells: Cells) -> tuple[Floats, Floats]:
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


for _pairs, _classes, _how in (
    ("ovr", "each class against the rest", "one versus rest"),
    ("ovo", "classes two by two", "one versus one"),
):
    for _weighted in (False, True):
        _declare(
            f"area under the ROC curve ({_how}{', weighted by class' if _weighted else ''})",
            "classes",
            "probabilities",
            answers=PROBABILITIES,
            label=f"AUC ({_how}{', weighted' if _weighted else ''})",
            name=f"roc_auc_{_pairs}{'_weighted' if _weighted else ''}",
            summary=f"Area under the ROC curve, {_classes}{', weighted by their size' if _weighted else ''}.",
        )(partial(multiclass_roc_auc, pairs=_pairs, weighted=_weighted))


@_declare("average precision", "two classes", "probabilities", answers=VALUES)
def average_precision(cells: Cells) -> Floats:
    """Area under the precision-recall curve.

    The mean over classes if there are more than two.
    """
    if cells.n_classes > 2:
        values = cells.predictions.decision_function
        columns = cells.probabilities if values is None else values
        if columns.shape[1:] != (cells.n_classes,):
            return cells.undefined
        scores = _score_each_class(_precision, columns, cells).sum(axis=1) / cells.n_classes
        return np.where(cells.has_all_classes, scores, np.nan)
    if cells.positive is None:
        return cells.undefined
    values = _decision_values(cells, cells.positive)
    return score_order(_precision, values, cells.truth == cells.positive, cells.starts)


# Probabilities


def _has_usable_probabilities(cells: Cells) -> Flags:
    """Return which cells have rows of every class, and what scikit-learn takes for probabilities."""
    proba = cells.probabilities
    if cells.n_classes == 2:
        valid = (proba[:, 1] >= 0) & (proba[:, 1] <= 1)
    else:
        valid = ((proba >= 0) & (proba <= 1)).all(axis=1) & (np.abs(proba.sum(axis=1) - 1) < SUM_TOLERANCE)
    return cells.has_all_classes & cells.where_all(valid)


@_declare("negative log loss", "classes", "probabilities", answers=PROBABILITIES, bounds=AT_MOST_ZERO)
def neg_log_loss(cells: Cells) -> Floats:
    """Minus the log loss of predicted probabilities.

    Those of 0 and 1 count as if they were off by the smallest step.
    """
    proba = cells.probabilities
    if cells.n_classes == 2:  # p or 1 - p, as scikit-learn asks for the probability of the second class only
        of_truth = np.abs(proba[:, 1] - (cells.truth == 0))
    else:
        of_truth = proba[np.arange(cells.truth.size), cells.truth]
    losses = -np.log(np.minimum(np.maximum(of_truth, SMALLEST), 1 - SMALLEST))
    return np.where(_has_usable_probabilities(cells), -cells.mean(losses), np.nan)


@_declare("negative Brier score", "classes", "probabilities", answers=PROBABILITIES, bounds=AT_MOST_ZERO)
def neg_brier_score(cells: Cells) -> Floats:
    """Minus the Brier score of predicted probabilities.

    The mean squared difference of probabilities and truth; half of it for two classes.
    """
    proba = cells.probabilities
    if cells.n_classes > 2:
        true = (cells.truth[:, None] == np.arange(cells.n_classes)).astype(np.float64)
        scores = cells.mean(((true - proba) ** 2).sum(axis=1))
    elif cells.numeric_labels:
        true = (cells.truth == 1).astype(np.float64)
        errors = ((1 - true) - (1 - proba[:, 1])) ** 2 + (true - proba[:, 1]) ** 2
        scores = cells.mean(errors) * 0.5
    else:  # scikit-learn needs the positive one of two words
        return cells.undefined
    return np.where(_has_usable_probabilities(cells), -scores, np.nan)


# Predicted numbers


@_declare("coefficient of determination", NUMBERS, bounds=AT_MOST_ONE, label="R²")
def r2(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Share of explained variance about the mean.

    ``nan`` for a single row or a constant truth.
    """
    left, total = cells.sum((truth - predicted) ** 2), cells.sum((truth - cells.row_means(truth)) ** 2)
    return _explained(cells, truth, left, total)


@_declare("explained variance", NUMBERS, bounds=AT_MOST_ONE)
def explained_variance(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Share of explained variance.

    Whatever the mean error; ``nan`` for a constant truth.
    """
    errors = truth - predicted
    left = cells.mean((errors - cells.row_means(errors)) ** 2)
    return _explained(cells, truth, left, cells.mean((truth - cells.row_means(truth)) ** 2))


def _explained(cells: Cells, truth: Floats, left: Floats, total: Floats) -> Floats:
    """One minus what is left of all; 1 if nothing is left, 0 if something is left of nothing."""
    scores = 1 - left / np.where(total == 0, 1.0, total)
    scores = np.where(left == 0, 1.0, np.where(total == 0, 0.0, scores))
    is_constant = cells.where_all(truth == np.repeat(truth[cells.starts[:-1]], cells.sizes))
    return np.where(is_constant, np.nan, scores)


@_declare("negative mean squared error", NUMBERS, bounds=AT_MOST_ZERO)
def neg_mean_squared_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the mean squared error."""
    return -cells.mean((truth - predicted) ** 2)


@_declare("negative root mean squared error", NUMBERS, bounds=AT_MOST_ZERO)
def neg_root_mean_squared_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the root of the mean squared error."""
    return -np.sqrt(cells.mean((truth - predicted) ** 2))


@_declare("negative mean absolute error", NUMBERS, bounds=AT_MOST_ZERO)
def neg_mean_absolute_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the mean absolute error."""
    return -cells.mean(np.abs(predicted - truth))


@_declare("negative median absolute error", NUMBERS, bounds=AT_MOST_ZERO)
def neg_median_absolute_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the median absolute error."""
    errors, medians = np.abs(predicted - truth), cells.undefined
    for numbers, rows in cells_by_size(cells.starts):
        medians[numbers] = np.median(errors[rows], axis=1)
    return -medians


@_declare("negative mean absolute percentage error", NUMBERS, bounds=AT_MOST_ZERO)
def neg_mean_absolute_percentage_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the mean absolute error as a share of the truth."""
    return -cells.mean(np.abs(predicted - truth) / np.maximum(np.abs(truth), SMALLEST))


@_declare("negative largest error", NUMBERS, bounds=AT_MOST_ZERO)
def neg_max_error(cells: Cells, truth: Floats, predicted: Floats) -> Floats:
    """Minus the largest absolute error."""
    return -np.maximum.reduceat(np.abs(truth - predicted), cells.starts[:-1])


# Survival times

UNORDERED = "no held-out row outlived another's event"
FOLLOW_UP = "between the 5th and the 80th percentile of times"


def score_survival(name: str, model: Any, X: Any, y: Any, training: Training | None = None) -> float:
    """Score a fitted model by its predictions for these rows.

    Parameters
    ----------
    name : str
        A score of survival times.
    model : estimator
        A fitted model. If it says, as those of scikit-survival do, that it predicts times and no risks, it counts by
        minus these.
    X : array
        Held-out rows.
    y : array
        Their survival times.
    training : Training, optional
        The rows that the model was trained on; by default those that it is scored on.

    Returns
    -------
    float
        The score; ``nan``, with a warning, where it is undefined.
    """
    score, y = SCORES[name], np.asarray(y)
    if y.dtype.names is None:
        raise ValueError(f"Expected survival times for the score {name}, as holdfast.survival() returns them.")
    training = training or Training.on(y)
    predictions = ask_model(model, X, score.answers, None, training.y)
    if predictions is None:
        raise ValueError(f"Expected one number for each row from predict for the score {name}, got something else.")
    assert score.block is not None
    value = float(score.block(Cells(y, predictions, None, training))[0])
    if not np.isfinite(value):
        _warn_undefined(name, score.undefined)
    return value


def _warn_undefined(name: str, reason: str) -> None:
    warnings.warn(f"the score {name} is undefined: {reason}", stacklevel=3)


@_declare("Harrell's concordance index", TIMES_AND_EVENTS, label="C", reference="harrell1982", undefined=UNORDERED)
def concordance(cells: Cells) -> Floats:
    """Share of comparable pairs of rows of which the one with the higher risk has the event first (Harrell's C)."""
    return _measure_order(cells, None)


@_declare(
    "Uno's concordance index up to the 80th percentile of times", TIMES_AND_EVENTS, label="Uno's C",
    reference="uno2011", undefined=f"{UNORDERED} before the 80th percentile of times",
)  # fmt: skip
def uno_concordance(cells: Cells) -> Floats:
    """Concordance up to the 80th percentile of times, whatever the censoring (Uno's C).

    Events count by one over the squared probability of being observed until then.
    """
    weights, times = _weigh_events(cells)
    return _measure_order(cells, np.where(cells.truth["time"] < times[-1], weights**2, 0.0))


def _measure_order(cells: Cells, weights: Floats | None) -> Floats:
    risk = cells.predictions.predict
    assert risk is not None
    return concordances(cells.truth["time"], cells.truth["event"], risk, cells.starts, weights)


def _weigh_events(cells: Cells) -> tuple[Floats, Floats]:
    """Return the weight of each row with the event, by the censoring of the training rows, and the evaluation times."""
    assert cells.training is not None
    y, counts, splits = cells.training
    observed = kaplan_meier(y, counts, censoring=True).at(cells.truth["time"], splits[cells.cell_of_row])
    weights = np.divide(1.0, observed, out=np.zeros(observed.size), where=cells.truth["event"] & (observed > 0))
    return weights, evaluation_times(y)


@_declare(
    f"mean cumulative/dynamic area under the ROC curve {FOLLOW_UP}", TIMES_AND_EVENTS, label="dynamic AUC",
    reference="lambert2016", undefined=f"no held-out row outlived an event {FOLLOW_UP}",
)  # fmt: skip
def dynamic_auc(cells: Cells) -> Floats:
    """Area under the ROC curve of who has had the event by a time, averaged over times.

    These are the 5th, 10th, … 80th percentile of the times of all rows.
    """
    weights, times = _weigh_events(cells)
    y, risk = cells.truth, cells.predictions.predict
    assert risk is not None
    return dynamic_aucs(y["time"], y["event"], risk, weights, cells.starts, times)


@_declare(
    f"negative integrated Brier score {FOLLOW_UP}", TIMES_AND_EVENTS, "survival functions", bounds=AT_MOST_ZERO,
    label="integrated Brier score", reference="graf1999", answers=(SURVIVAL_FUNCTION,), undefined="all times are equal",
)  # fmt: skip
def neg_integrated_brier_score(cells: Cells) -> Floats:
    """Minus the mean squared error of the predicted survival, over times (integrated Brier score)."""
    weights, times = _weigh_events(cells)
    survival, training = cells.predictions.predict_survival_function, cells.training
    assert survival is not None
    assert training is not None
    if times.size < 2:
        return cells.undefined
    observed = kaplan_meier(training.y, training.counts, censoring=True).at(times)[training.splits[cells.cell_of_row]]
    return -cells.mean(brier_scores(cells.truth["time"], survival, weights, observed, times))


# Scorers of scikit-learn

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
    undefined : str
        As that of :class:`holdfast.models.Score`.
    """

    scorer: Callable[..., float]
    block: Callable[[Cells], Floats] | None = None
    answers: tuple[str, ...] | None = None
    undefined: str = ""

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
    *_, answers = identity = _identity(scorer)
    if not set(answers) <= set(ANSWERS):
        return Scorer(scorer)
    block = None if hasattr(scorer, "_metadata_request") else _scikit_learn_blocks().get(identity)
    return Scorer(scorer, block, answers)


def _identity(scorer: Any) -> tuple[Any, ...]:
    """All that a scorer of scikit-learn depends on."""
    method = scorer._response_method
    options = tuple(sorted((name, repr(value)) for name, value in scorer._kwargs.items()))
    return scorer._score_func, scorer._sign, options, (method,) if isinstance(method, str) else tuple(method)


@lru_cache(maxsize=1)
def _scikit_learn_blocks() -> dict[tuple[Any, ...], Callable[[Cells], Floats]]:
    """The array function of every scorer of scikit-learn that has one."""
    named = [(score.scorer, score.block) for score in SCORES.values() if isinstance(score.scorer, str)]
    return {_identity(get_scorer(scorer)): block for scorer, block in named if block is not None}


def needed_answers(scorers: Iterable[Scorer], has: Callable[[str], bool]) -> set[str] | None:
    """Return the methods of a model that these scores ask for; None if one of them needs the model itself.

    Parameters
    ----------
    scorers : iterable of Scorer
        The scores.
    has : callable
        Whether the model has a method: ``"predict"``, ``"predict_proba"`` or ``"decision_function"``.

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
    scorers: Mapping[str, Scorer],
    truth: NDArray[Any],
    predictions: Predictions,
    classes: NDArray[Any] | None,
    training: Training | None = None,
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
        The labels of the classes, sorted; None for another target.
    training : Training, optional
        The rows that the models were trained on; scores of survival times need them.

    Returns
    -------
    BlockScores
        Values, and where they failed errors.
    """
    cells = Cells(truth, predictions, classes, training)
    scores = BlockScores({name: np.full(cells.sizes.size, np.nan) for name in scorers})
    for numbers in cut_cells(cells.starts):
        part = cells.part(numbers)
        for name, scorer in scorers.items():
            if scorer.block is not None and scorer.answer(predictions.answers.__contains__) is not None:
                scores.values[name][numbers] = scorer.block(part)
    open_cells = np.zeros(cells.sizes.size, dtype=bool)
    for values in scores.values.values():
        open_cells |= ~np.isfinite(values)
    for cell in np.flatnonzero(open_cells).tolist():
        _ask_scikit_learn(scorers, cells, cell, scores)
    return scores


def cut_cells(starts: Ints) -> Iterator[slice]:
    """Yield cells one after the other, as many at once as stay in the processor's cache."""
    begin, n_cells = 0, starts.size - 1
    while begin < n_cells:
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + MAX_AT_ONCE, side="right")) - 1)
        yield slice(begin, end)
        begin = end


def _ask_scikit_learn(scorers: Mapping[str, Scorer], cells: Cells, cell: int, scores: BlockScores) -> None:
    """Fill in what the array functions left open in one cell, in the order of the scores, up to the first error."""
    truth = cells.truth[cells.starts[cell] : cells.starts[cell + 1]]
    y = truth if cells.classes is None else cells.classes[truth]
    model, X = _make_stored_model(cells, cell), np.zeros((y.size, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for name, scorer in scorers.items():
                if np.isfinite(scores.values[name][cell]):
                    continue
                if scorer.undefined and scorer.answer(cells.predictions.answers.__contains__):
                    _warn_undefined(name, scorer.undefined)
                else:
                    scores.values[name][cell] = ask_scorer(name, scorer, model, X, y)
        except Exception as error:
            scores.errors[cell] = error
            for column in scores.values.values():
                column[cell] = np.nan
    if caught:
        scores.warnings[cell] = list(caught)


def ask_scorer(name: str, scorer: Any, model: Any, X: Any, y: NDArray[Any]) -> float:
    """Return the score of a model; if it is for two classes and there are more, a note of the error names others."""
    try:
        return float(scorer(model, X, y))
    except Exception as error:
        n_classes = len(getattr(model, "classes_", ()))
        if n_classes < 3 or name not in SCORES or "two classes" not in SCORES[name].about.needs:
            raise
        others = [other for other in SCORES if other.startswith(f"{name}_")]
        remedy = f"; for more take {join_first(others)}" if others else ""
        error.add_note(f"the score {name} failed: it is for two classes, and there are {n_classes}{remedy}")
        raise


# Models of which only the answers are known


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


def _make_stored_model(cells: Cells, cell: int) -> Any:
    """Return what scikit-learn's scorers take for the fitted model of a cell."""
    predictions = cells.predictions.part(slice(cell, cell + 1))
    answers = {name: getattr(predictions, name) for name in predictions.answers}
    if cells.classes is None:
        return StoredRegressor(answers)
    if "predict" in answers:
        answers["predict"] = cells.classes[answers["predict"].astype(np.int64)]
    model = StoredClassifier(answers)
    model.classes_ = cells.classes
    return model


# Models that are fitted one at a time


def find_survival_function(model: Any) -> Callable[[Any, Any], Floats] | None:
    """Return how a fitted model, maybe the last step of a pipeline, predicts survival: ``(X, times)`` to rows × times.

    It must have ``predict_survival_function`` and ``unique_times_`` as models of scikit-survival do; else None.
    """
    *before, last = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    if not hasattr(last, "predict_survival_function"):
        return None

    def predict(X: Any, times: Any) -> Floats:
        for step in before:
            X = X if step in (None, "passthrough") else step.transform(X)
        survival = np.asarray(last.predict_survival_function(X, return_array=True), dtype=np.float64)
        return StepFunctions(last.unique_times_, survival).at(times)

    return predict


def has_answer(model: Any, name: str) -> bool:
    """Return whether a model has a method, itself or, as for survival functions, as the last step of a pipeline."""
    return hasattr(model, name) or (name == SURVIVAL_FUNCTION and find_survival_function(model) is not None)


def ask_model(
    model: Any, X: Any, methods: Iterable[str], classes: NDArray[Any] | None, y: NDArray[Any] | None = None
) -> Predictions | None:
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
        The labels of the classes, sorted; None for another target.
    y : ndarray, optional
        The target of all rows, of which the times are taken at which survival is predicted.

    Returns
    -------
    Predictions or None
        Of a single cell; None if what the model answers cannot be written so, as where it was trained without one of
        the classes. Scores are then to be asked of the model itself.
    """
    if classes is not None and not (is_classifier(model) and np.array_equal(getattr(model, "classes_", ()), classes)):
        return None
    answers: dict[str, Any] = {}
    for name in methods:
        if name == SURVIVAL_FUNCTION:
            survival = find_survival_function(model)
            if survival is None or y is None:
                raise ValueError("Expected a model with predict_survival_function for this score, got one without.")
            answers[name] = survival(X, evaluation_times(y))
        else:
            answers[name] = _as_stored(name, getattr(model, name)(X), classes)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not getattr(last, "_predict_risk_score", True) and answers.get("predict") is not None:  # it predicts times
        answers["predict"] = -answers["predict"]
    if any(values is None for values in answers.values()):
        return None
    n = max(map(len, answers.values()), default=0)
    return Predictions(np.array([0, n]), **answers)


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
    coefficients: list[Floats | None] = []
    for predictions in several:
        none = [None] * (predictions.starts.size - 1)
        coefficients.extend(none if predictions.coefficients is None else predictions.coefficients)
    asked = several[0].answers if several else ()
    answers = {name: np.concatenate([getattr(predictions, name) for predictions in several]) for name in asked}
    return Predictions(np.concatenate([*starts, ends[-1:]]), **answers, coefficients=coefficients)
