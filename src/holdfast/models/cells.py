"""What scores of a whole block of cells are computed from: the truth, the answers of models, and counts of both.

The value of a cell depends on the rows of that cell alone, to the last bit: counts are whole numbers, and sums are
taken cell by cell in the order in which NumPy adds the elements of one array.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.models.block import Floats, Ints, Predictions

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
