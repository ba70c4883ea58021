"""Effects of single features on the rows held out: how far classes are apart, or how a number rises with a feature.

A *cell* is one feature on one split. Rows whose value is missing are left out of it; what a class without rows, a
constant or too few rows leave undefined is ``nan``.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.cox import survival_effects
from holdfast.kernels.jit import exact_step, frozen, kernel

Floats = NDArray[np.float64]
FEW = 48
"""Up to so many rows are sorted by insertion alone."""
MANY = 200
"""From so many rows on, held-out rows are taken from the order of all rows, which a block sorts once."""


@exact_step
def _sort(values, order, n):  # type: ignore[no-untyped-def]
    """The order of the first ``n`` values, by insertion, over gaps first (Shell); NumPy's takes seconds to compile."""
    gap = 1
    while n > FEW and gap < n // 9:
        gap = 3 * gap + 1
    for position in range(n):
        order[position] = position
    while gap > 0:
        for position in range(gap, n):
            row, hole = order[position], position
            while hole >= gap and values[order[hole - gap]] > values[row]:
                order[hole] = order[hole - gap]
                hole -= gap
            order[hole] = row
        gap //= 3


@exact_step
def _order(values, rows, present, sorted_rows, column, index_of_row, order, n):  # type: ignore[no-untyped-def]
    """The order of the first ``n`` values, read off that of all rows where it is known."""
    if sorted_rows.size == 0:
        _sort(values, order, n)
        return
    for i in range(n):
        index_of_row[rows[present[i]]] = i
    n_found = 0
    for row in sorted_rows[column]:
        if index_of_row[row] >= 0:
            order[n_found] = index_of_row[row]
            n_found += 1
    for i in range(n):
        index_of_row[rows[present[i]]] = -1


@exact_step
def _rank(values, order, ranks, n):  # type: ignore[no-untyped-def]
    """The ranks of the first ``n`` values in this order, from 1; equal ones share their mean."""
    first = 0
    while first < n:
        last = first
        while last + 1 < n and values[order[last + 1]] == values[order[first]]:
            last += 1
        for position in range(first, last + 1):
            ranks[order[position]] = 1 + (first + last) / 2
        first = last + 1


@exact_step
def _gather(column, rows, values, present):  # type: ignore[no-untyped-def]
    """Set the values of these rows that are not missing and their indices in ``rows``; returns how many they are."""
    n = 0
    for i in range(rows.size):
        value = column[rows[i]]
        if math.isfinite(value):
            values[n], present[n] = value, i
            n += 1
    return n


@exact_step
def _correlation(first, second, n):  # type: ignore[no-untyped-def]
    mean_first, mean_second, products, squares_first, squares_second = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        mean_first += first[i] / n
        mean_second += second[i] / n
    for i in range(n):
        a, b = first[i] - mean_first, second[i] - mean_second
        products += a * b
        squares_first += a * a
        squares_second += b * b
    if squares_first <= 0 or squares_second <= 0:
        return math.nan
    return min(max(products / math.sqrt(squares_first * squares_second), -1.0), 1.0)


@exact_step
def _hedges(values, labels, n):  # type: ignore[no-untyped-def]
    """Difference of the means of class 1 and class 0 in units of the pooled deviation, corrected for few rows."""
    size, mean, scatter = np.zeros(2), np.zeros(2), 0.0
    for i in range(n):
        size[labels[i]] += 1
        mean[labels[i]] += values[i]
    if min(size[0], size[1]) < 1 or n < 3:
        return math.nan
    mean /= size
    for i in range(n):
        deviation = values[i] - mean[labels[i]]
        scatter += deviation * deviation
    if scatter <= 0:
        return math.nan
    return (mean[1] - mean[0]) / math.sqrt(scatter / (n - 2)) * (1 - 3 / (4 * n - 9))


@kernel
def _class_effects(columns, sorted_rows, codes, n_classes, tests, max_rows, starts, splits, features, effects):  # type: ignore[no-untyped-def]
    index_of_row = np.full(codes.size, -1)
    values, ranks = np.empty(max_rows), np.empty(max_rows)
    present, order, labels = np.empty(max_rows, np.int64), np.empty(max_rows, np.int64), np.empty(max_rows, np.int64)
    sums, size = np.empty(n_classes), np.empty(n_classes)
    for cell in range(splits.size):
        rows = tests[starts[splits[cell]] : starts[splits[cell] + 1]]
        n = _gather(columns[features[cell]], rows, values, present)
        _order(values, rows, present, sorted_rows, features[cell], index_of_row, order, n)
        _rank(values, order, ranks, n)
        sums[:], size[:] = 0, 0
        for i in range(n):
            label = codes[rows[present[i]]]
            labels[i] = label
            sums[label] += ranks[i]
            size[label] += 1
        if n_classes == 2:
            effects[cell, 1] = _hedges(values, labels, n)
        for label in range(1 if n_classes == 2 else 0, n_classes):
            pairs = size[label] * (n - size[label])
            higher = sums[label] - size[label] * (size[label] + 1) / 2
            effects[cell, 0 if n_classes == 2 else label] = higher / pairs if pairs > 0 else math.nan


@kernel
def _number_effects(columns, sorted_rows, target, tests, max_rows, starts, splits, features, effects):  # type: ignore[no-untyped-def]
    index_of_row = np.full(target.size, -1)
    values, targets, ranks, target_ranks = (
        np.empty(max_rows),
        np.empty(max_rows),
        np.empty(max_rows),
        np.empty(max_rows),
    )
    present, order = np.empty(max_rows, np.int64), np.empty(max_rows, np.int64)
    for cell in range(splits.size):
        rows = tests[starts[splits[cell]] : starts[splits[cell] + 1]]
        n = _gather(columns[features[cell]], rows, values, present)
        if n < 3:
            effects[cell] = math.nan
            continue
        for i in range(n):
            targets[i] = target[rows[present[i]]]
        _order(values, rows, present, sorted_rows, features[cell], index_of_row, order, n)
        _rank(values, order, ranks, n)
        _order(targets, rows, present, sorted_rows, -1, index_of_row, order, n)
        _rank(targets, order, target_ranks, n)
        effects[cell, 0] = _correlation(ranks, target_ranks, n)
        effects[cell, 1] = _correlation(values, targets, n)


def held_out_effects(
    columns: Floats,
    target: NDArray[Any],
    n_classes: int,
    tests: Sequence[NDArray[np.int64]],
    splits: NDArray[np.int64],
    features: NDArray[np.int64],
) -> Floats:
    """Effects of features on held-out rows: one row per cell, a feature on a split.

    Parameters
    ----------
    columns : ndarray (features × rows)
        The values of the features that take part, one feature after the other.
    target : ndarray
        The class of each row, from 0, the number to predict, or records of event and time.
    n_classes : int
        Number of classes; 0 for other targets.
    tests : sequence of ndarray
        The rows that each split holds out.
    splits, features : ndarray
        Which split and which feature a cell is.

    Returns
    -------
    ndarray
        For two classes the probability that a row of the second is higher than one of the first (AUC, ties half) and
        the standardized difference of their means (Hedges' g); for more, the AUC of each class against all others; for
        numbers the correlations of ranks (Spearman) and of values (Pearson); for survival times the log hazard ratio
        per standard deviation, and the concordance (Harrell's C).
    """
    effects = np.full((splits.size, effect_width(n_classes)), np.nan)
    if target.dtype.names:
        if splits.size:
            survival_effects(columns, target, tests, splits, features, effects)
        return effects
    starts = np.concatenate([[0], np.cumsum([rows.size for rows in tests])])
    if not (splits.size and starts[-1]):
        return effects
    rows = frozen(np.concatenate(tests), np.int64)
    cells = [frozen(array, np.int64) for array in (starts, splits, features)]
    values = frozen(columns, np.float64)
    max_rows = max(rows.size for rows in tests)
    sorted_rows = frozen(_sort_all(values, target, tests), np.int64)
    if n_classes:
        _class_effects(values, sorted_rows, frozen(target, np.int64), n_classes, rows, max_rows, *cells, effects)
    else:
        _number_effects(values, sorted_rows, frozen(target, np.float64), rows, max_rows, *cells, effects)
    return effects


def _sort_all(columns: Floats, target: NDArray[Any], tests: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The order of all rows by each feature, then by the target, where many rows are held out, each once; else none."""
    many = min(rows.size for rows in tests) >= MANY and all((np.diff(rows) > 0).all() for rows in tests)
    return np.argsort(np.vstack([columns, target]), axis=1) if many else np.empty((0, 0), np.int64)


def effect_width(n_classes: int) -> int:
    """How many effects a feature has: two for two classes and for numbers, else one for each class."""
    return n_classes if n_classes > 2 else 2
