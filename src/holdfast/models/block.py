"""A block of models: one for each set of columns on each split, and their predictions, as flat arrays.

A *cell* is one set of columns on one split. What a study scores is a block of cells; recognized models
(:mod:`holdfast.models.recognized`) fit and predict all cells of a block at once, and scores
(:mod:`holdfast.models.scores`) are computed for all of them at once. The result of a cell never depends on the others.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from holdfast.kernels.jit import frozen
from holdfast.kernels.linear import Cells

ANSWERS = ("predict", "decision_function", "predict_proba")
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


@dataclass(frozen=True, eq=False)
class Predictions:
    """What models answer for the held-out rows of a block, cell after cell; None for what was not asked.

    Attributes
    ----------
    starts : ndarray of int
        Where each cell begins, and the end of the last.
    predict : ndarray or None
        The number of the predicted class, or the predicted number.
    decision_function : ndarray, optional
        One value per row for two classes, larger for the second; one column per class for more.
    predict_proba : ndarray, optional
        One column per class.
    coefficients : sequence of ndarray or None, optional
        Of linear models for numbers or two classes, the weights of each cell's columns as they are before any scaling:
        those of the predicted number, or toward the second class; None for other models.
    """

    starts: Ints
    predict: NDArray[Any] | None
    decision_function: Floats | None = None
    predict_proba: Floats | None = None
    coefficients: Sequence[Floats | None] | None = None

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
        return Predictions(
            starts,
            None if self.predict is None else self.predict[rows],
            None if self.decision_function is None else self.decision_function[rows],
            None if self.predict_proba is None else self.predict_proba[rows],
            coefficients,
        )


def lay_out_cells(block: Block) -> Cells:
    """Lay out the arrays of a block."""
    tests, test_starts = _join(block.tests)
    columns, column_starts = _join(block.columns)
    integers = block.counts, tests, test_starts, block.splits, columns, column_starts, block.starts
    return Cells(frozen(block.X, np.float64), *(frozen(array, np.int64) for array in integers))


def _join(arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Arrays one after the other, and where each begins."""
    starts = np.zeros(len(arrays) + 1, np.int64)
    np.cumsum([array.size for array in arrays], out=starts[1:])
    return (np.concatenate(arrays) if len(arrays) else np.empty(0, np.int64)), starts


def count_columns(block: Block) -> NDArray[np.int64]:
    """Return how many columns each cell has."""
    return np.array([columns.size for columns in block.columns], dtype=np.int64)


def count_rows(block: Block) -> NDArray[np.int64]:
    """Return how many different rows each cell trains on."""
    return np.count_nonzero(block.counts, axis=1)[block.splits]


def cut_weights(block: Block, weights: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Cut the weights of all cells, one after the other, into those of each."""
    ends = np.cumsum(count_columns(block)).tolist()
    return [weights[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def smaller_sides(block: Block) -> NDArray[np.int64]:
    """Return how many columns, or rows if these are fewer, each cell has: that many weights tell a linear model."""
    return np.minimum(count_columns(block), count_rows(block))


Check = Callable[[Any], bool]


def read_parameters(estimator: Any, checks: Mapping[str, Check]) -> dict[str, Any] | None:
    """Return an estimator's parameters; None if one is unknown or does not pass its check, or a clone carries more.

    Clones carry what ``set_output``, ``set_fit_request`` and callbacks leave on an estimator.
    """
    parameters = estimator.get_params(deep=False)
    if any(name not in checks or not checks[name](value) for name, value in parameters.items()):
        return None
    plain = type(estimator)(**parameters)
    return parameters if set(vars(clone(estimator))) == set(vars(plain)) else None


def anything(value: Any) -> bool:
    """Accept a parameter that changes nothing."""
    return True


def one_of(*allowed: Any) -> Check:
    """Accept these values, of these types."""
    return lambda value: any(type(value) is type(known) and value == known for known in allowed)


def is_none(value: Any) -> bool:
    """Accept None."""
    return value is None


def is_flag(value: Any) -> bool:
    """Accept true or false."""
    return isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Accept a whole number from 1."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def is_number_or_none(value: Any) -> bool:
    """Accept a whole number, or None."""
    return value is None or (isinstance(value, Integral) and not isinstance(value, bool))


def is_positive(value: Any) -> bool:
    """Accept a finite number above 0."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf


def at_most(limit: float) -> Check:
    """Accept a positive number up to a limit, the default: a larger tolerance may be meant to stop early."""
    return lambda value: is_positive(value) and value <= limit


def at_least(limit: int) -> Check:
    """Accept a whole number from a limit, the default: fewer steps may be meant to stop early."""
    return lambda value: is_count(value) and value >= limit
