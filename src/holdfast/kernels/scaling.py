"""The rows and columns of one cell of a block, scaled as scikit-learn's scalers would.

A cell trains on the rows that its split counts at all, each as often as it counts, and on some of the columns
(:mod:`holdfast.models.block`). Its columns are gathered into the rows of a small array, so that sums over rows run
along memory. What :class:`~sklearn.preprocessing.StandardScaler` and :class:`~sklearn.preprocessing.MinMaxScaler` learn
is learned from these training rows; copies of a row are counts, never rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import exact_step
from holdfast.kernels.tolerances import EPSILON, NEARLY_CONSTANT

UNSCALED, STANDARD, MIN_MAX = 0, 1, 2
"""Ways to scale columns."""


class Cells(NamedTuple):
    """Cells as the kernels take them: contiguous, of one type each, read-only."""

    X: NDArray[np.float64]
    counts: NDArray[np.int64]  # splits × rows
    tests: NDArray[np.int64]  # held-out rows, split after split
    test_starts: NDArray[np.int64]  # where those of each split begin, and the end of the last
    splits: NDArray[np.int64]  # of each cell
    columns: NDArray[np.int64]  # cell after cell
    column_starts: NDArray[np.int64]
    starts: NDArray[np.int64]  # where the held-out rows of each cell begin among those of all cells


class Room(NamedTuple):
    """Arrays that every cell of a call uses again."""

    train: NDArray[np.float64]  # most columns × rows of X
    test: NDArray[np.float64]  # most columns × most held-out rows
    shift: NDArray[np.float64]
    unit: NDArray[np.float64]


class Cell(NamedTuple):
    """One cell, scaled. Its arrays of columns are longer than its rows are many: C order keeps loops fast."""

    rows: NDArray[np.int64]  # of X, to train on, each once
    counts: NDArray[np.int64]  # how often each of them counts
    train: NDArray[np.float64]  # columns × rows
    test: NDArray[np.float64]  # columns × held-out rows
    n_tests: int
    start: int  # of its held-out rows among those of all cells


@exact_step
def make_room(cells):  # type: ignore[no-untyped-def]
    """Make room for the largest cell."""
    p, n_tests = 0, 0
    for cell in range(cells.splits.size):
        p = max(p, cells.column_starts[cell + 1] - cells.column_starts[cell])
        n_tests = max(n_tests, cells.starts[cell + 1] - cells.starts[cell])
    return Room(np.empty((p, cells.X.shape[0])), np.empty((p, n_tests)), np.empty(p), np.empty(p))


@exact_step
def take_cell(cells, number, kind, room):  # type: ignore[no-untyped-def]
    """Gather and scale a cell; also returns whether it has rows and they were scaled as scikit-learn would."""
    split = cells.splits[number]
    rows = _drawn_rows(cells.counts[split])
    tests = cells.tests[cells.test_starts[split] : cells.test_starts[split + 1]]
    columns = cells.columns[cells.column_starts[number] : cells.column_starts[number + 1]]
    p = columns.size
    cell = Cell(rows, take(cells.counts[split], rows), room.train[:p], room.test[:p], tests.size, cells.starts[number])
    gather(cells.X, rows, columns, cell.train)
    gather(cells.X, tests, columns, cell.test)
    fine = rows.size > 0 and learn_scale(cell.train, cell.counts, kind, room.shift[:p], room.unit[:p])
    apply_scale(cell.train, rows.size, kind, room.shift[:p], room.unit[:p])
    apply_scale(cell.test, tests.size, kind, room.shift[:p], room.unit[:p])
    return cell, fine


@exact_step
def _drawn_rows(counts):  # type: ignore[no-untyped-def]
    rows, n = np.empty(counts.size, np.int64), 0
    for i in range(counts.size):
        if counts[i] > 0:
            rows[n] = i
            n += 1
    return rows[:n]


@exact_step
def take(values, rows):  # type: ignore[no-untyped-def]
    """Return the values of these rows: a loop, where indexing by an array takes numba ten times as long to compile."""
    taken = np.empty(rows.size, values.dtype)
    for i in range(rows.size):
        taken[i] = values[rows[i]]
    return taken


@exact_step
def has_all_classes(labels, seen):  # type: ignore[no-untyped-def]
    """Whether every class has a row to train on; ``seen`` is room for a number per class."""
    n_seen = 0
    for label in range(seen.size):
        seen[label] = 0
    for label in labels:
        n_seen += seen[label] == 0
        seen[label] = 1
    return n_seen == seen.size


@exact_step
def gather(X, rows, columns, Z):  # type: ignore[no-untyped-def]
    """Z = X at these rows and columns, columns first."""
    for i in range(rows.size):
        for j in range(columns.size):
            Z[j, i] = X[rows[i], columns[j]]


@exact_step
def learn_scale(Z, counts, kind, shift, unit):  # type: ignore[no-untyped-def]
    """Set shift and unit of each column; false if rounding could make scikit-learn's noticeably different."""
    learned = True
    for j in range(shift.size):
        shift[j], unit[j] = 0.0, 1.0
        if kind == STANDARD:
            learned = _standardize(Z[j], counts, j, shift, unit) and learned
        elif kind == MIN_MAX:
            low, high = _range(Z[j], counts.size)
            unit[j] = 1.0 if high - low < 10 * EPSILON else 1 / (high - low)
            shift[j] = 0.0 - low * unit[j]
        learned = learned and np.isfinite(shift[j]) and np.isfinite(unit[j])
    return learned


@exact_step
def apply_scale(Z, n, kind, shift, unit):  # type: ignore[no-untyped-def]
    """Scale the first n rows of each column in place, with the operations of scikit-learn's scalers."""
    for j in range(shift.size):
        own, own_shift, own_unit = Z[j], shift[j], unit[j]
        if kind == STANDARD:
            for i in range(n):
                own[i] = (own[i] - own_shift) / own_unit
        elif kind == MIN_MAX:
            for i in range(n):
                own[i] = own[i] * own_unit + own_shift


@exact_step
def keep_weights(cells, number, kind, unit, w, weights):  # type: ignore[no-untyped-def]
    """Set the weights of a cell, among those of all cells, as they are for its columns before scaling."""
    start = cells.column_starts[number]
    for j in range(w.size):
        weights[start + j] = w[j] / unit[j] if kind == STANDARD else w[j] * unit[j]


@exact_step
def _range(x, n):  # type: ignore[no-untyped-def]
    low = high = x[0]
    for i in range(1, n):
        low, high = min(low, x[i]), max(high, x[i])
    return low, high


@exact_step
def _standardize(x, counts, j, shift, unit):  # type: ignore[no-untyped-def]
    """Set mean and standard deviation; a column is constant by scikit-learn's bound on the rounding of its variance."""
    n, total = 0, 0.0
    for i in range(counts.size):
        n += counts[i]
        total += counts[i] * x[i]
    mean, squares, rest = total / n, 0.0, 0.0
    for i in range(counts.size):
        apart = x[i] - mean
        squares += counts[i] * (apart * apart)
        rest += counts[i] * apart
    variance = (squares - rest * rest / n) / n
    low, high = _range(x, counts.size)
    if low == high:
        shift[j], unit[j] = low, 1.0
        return True
    shift[j], unit[j] = mean, np.sqrt(variance)
    return variance > NEARLY_CONSTANT * (n * mean * EPSILON) ** 2 and variance > 1e-280 and variance < 1e280
