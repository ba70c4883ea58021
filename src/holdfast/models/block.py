"""A block of models: one for each set of columns on each split, and their predictions, as flat arrays.

A *cell* is one set of columns on one split. What a study scores is a block of cells; recognized models
(:mod:`holdfast.models.recognized`) fit and predict all cells of a block at once, and scores
(:mod:`holdfast.models.scores`) are computed for all of them at once. The result of a cell never depends on the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import frozen
from holdfast.kernels.linear import Cells

SURVIVAL_FUNCTION = "predict_survival_function"
ANSWERS = ("predict", "decision_function", "predict_proba", SURVIVAL_FUNCTION)
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Block:
    """Splits of a data set, and the sets of columns to train and to test a model on.

    Attributes
    ----------
    X : ndarray of shape (rows, columns)
        All features, then covariates; finite float64.
    y : ndarray
        For each row the number of its class, from 0, or the number to predict.
    n_classes : int
        How many classes the data have; 0 if numbers are predicted.
    counts : ndarray of shape (splits, rows)
        How often each split trains on each row.
    tests : sequence of ndarray
        The held-out rows of each split.
    splits : ndarray of int
        The split of each cell.
    columns : sequence of ndarray of int
        The columns of each cell, in the order in which a model gets them; none may be empty.
    """

    X: Floats
    y: NDArray[Any]
    n_classes: int
    counts: Ints
    tests: Sequence[Ints]
    splits: Ints
    columns: Sequence[NDArray[Any]]

    @property
    def n_cells(self) -> int:
        """How many models there are."""
        return len(self.columns)

    @cached_property
    def starts(self) -> Ints:
        """Where the held-out rows of each cell begin among those of all, and the end of the last."""
        sizes = np.array([rows.size for rows in self.tests], dtype=np.int64)
        return np.concatenate([[0], np.cumsum(sizes[self.splits])])

    @cached_property
    def rows(self) -> Ints:
        """The held-out rows of all cells, one after the other."""
        tests = [self.tests[split] for split in self.splits]
        return np.concatenate(tests) if tests else np.empty(0, np.int64)

    @property
    def truth(self) -> NDArray[Any]:
        """The target of these rows."""
        return self.y[self.rows]

    def train(self, cell: int) -> Ints:
        """The rows that a cell trains on, ascending, repeated as often as they count."""
        counts = self.counts[self.splits[cell]]
        return np.repeat(np.arange(counts.size), counts)

    # What kernels take and give

    @cached_property
    def cells(self) -> Cells:
        """The arrays of the block, laid out for kernels."""
        tests, test_starts = _join(self.tests)
        columns, column_starts = _join(self.columns)
        integers = self.counts, tests, test_starts, self.splits, columns, column_starts, self.starts
        return Cells(frozen(self.X, np.float64), *(frozen(array, np.int64) for array in integers))

    @property
    def n_columns(self) -> Ints:
        """How many columns each cell has."""
        return np.diff(self.cells.column_starts)

    @property
    def n_train_rows(self) -> Ints:
        """How many different rows each cell trains on."""
        return np.count_nonzero(self.counts, axis=1)[self.splits]

    def cut_weights(self, weights: Floats) -> list[Floats]:
        """Cut the weights of the columns of all cells, one after the other, into those of each cell."""
        return [weights[start:end] for start, end in pairwise(self.cells.column_starts.tolist())]


class Training(NamedTuple):
    """The rows that the models of cells were trained on.

    Attributes
    ----------
    y : ndarray
        The target of all rows.
    counts : ndarray of shape (splits, rows)
        How often each split trains on each row.
    splits : ndarray of int
        The split of each cell.
    """

    y: NDArray[Any]
    counts: Ints
    splits: Ints

    @classmethod
    def on(cls, y: NDArray[Any]) -> "Training":
        """Return one cell that is trained on these rows."""
        return cls(y, np.ones((1, len(y)), np.int64), np.zeros(1, np.int64))


def evaluation_times(y: NDArray[Any]) -> Floats:
    """Return the times at which predicted survival is scored: the 5th, 10th, … 80th percentile of those of all rows."""
    return np.unique(np.quantile(y["time"], np.linspace(0.05, 0.8, 16)))


@dataclass(frozen=True, eq=False)
class Predictions:
    """What models answer for the held-out rows of a block, cell after cell; None for what was not asked.

    Attributes
    ----------
    starts : ndarray of int
        Where each cell begins, and the end of the last.
    predict : ndarray, optional
        The number of the predicted class, or the predicted number.
    decision_function : ndarray, optional
        One value per row for two classes, larger for the second; one column per class for more.
    predict_proba : ndarray, optional
        One column per class.
    coefficients : sequence of ndarray or None, optional
        Of linear models for numbers or two classes, the weights of each cell's columns as they are before any scaling:
        those of the predicted number, or toward the second class; None for other models.
    predict_survival_function : ndarray, optional
        Of survival times, the probability of no event until then, at each of :func:`evaluation_times`.
    """

    starts: Ints
    predict: NDArray[Any] | None = None
    decision_function: Floats | None = None
    predict_proba: Floats | None = None
    coefficients: Sequence[Floats | None] | None = None
    predict_survival_function: Floats | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """What was asked."""
        return tuple(name for name in ANSWERS if getattr(self, name) is not None)

    def take(self, cells: Ints) -> "Predictions":
        """Return the answers for the cells of these numbers, one after the other."""
        sizes = np.diff(self.starts)[cells]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(starts[-1]) + np.repeat(self.starts[:-1][cells] - starts[:-1], sizes)
        weights = None if self.coefficients is None else [self.coefficients[cell] for cell in cells.tolist()]
        return self._at(rows, starts, weights)

    def part(self, cells: slice) -> "Predictions":
        """Return the answers for some of the cells, one after the other."""
        starts = self.starts[cells.start : cells.stop + 1]
        rows = slice(starts[0], starts[-1])
        weights = None if self.coefficients is None else self.coefficients[cells]
        return self._at(rows, starts - starts[0], weights)

    def _at(self, rows: Any, starts: Ints, coefficients: Sequence[Floats | None] | None) -> "Predictions":
        """The answers at these rows."""
        answers = {name: getattr(self, name)[rows] for name in self.answers}
        return Predictions(starts, **answers, coefficients=coefficients)


def _join(arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], Ints]:
    """Arrays one after the other, and where each begins."""
    starts = np.zeros(len(arrays) + 1, np.int64)
    np.cumsum([array.size for array in arrays], out=starts[1:])
    return (np.concatenate(arrays) if len(arrays) else np.empty(0, np.int64)), starts
