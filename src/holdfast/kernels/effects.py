"""Effects of single features on the rows held out: how far classes are apart, or how a number rises with a feature.

A *cell* is one feature on one split. Rows whose value is missing are left out of it; what a class without rows, a
constant or too few rows leave undefined is ``nan``.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    for place in range(n):
        order[place] = place
    while gap > 0:
        for place in range(gap, n):
            row, hole = order[place], place
            while hole >= gap and values[order[hole - gap]] > values[row]:
                order[hole] = order[hole - gap]
                hole -= gap
            order[hole] = row
        gap //= 3


@exact_step
def _order(values, rows, kept, sorted_rows, which, place_of, order, n):  # type: ignore[no-untyped-def]
    """The order of the first ``n`` values, read off that of all rows where it is known."""
    if sorted_rows.size == 0:
        _sort(values, order, n)
        return
    for place in range(n):
        place_of[rows[kept[place]]] = place
    found = 0
    for row in sorted_rows[which]:
        if place_of[row] >= 0:
            order[found] = place_of[row]
            found += 1
    for place in range(n):
        place_of[rows[kept[place]]] = -1


@exact_step
def _rank(values, order, ranks, n):  # type: ignore[no-untyped-def]
    """The ranks of the first ``n`` values in this order, from 1; equal ones share their mean."""
    first = 0
    while first < n:
        last = first
        while last + 1 < n and values[order[last + 1]] == values[order[first]]:
            last += 1
        for place in range(first, last + 1):
            ranks[order[place]] = 1 + (first + last) / 2
        first = last + 1


@exact_step
def _gather(column, rows, values, kept):  # type: ignore[no-untyped-def]
    """The values of these rows that are there, and where in ``rows`` they stand; how many they are."""
    n = 0
    for place in range(rows.size):
        value = column[rows[place]]
        if math.isfinite(value):
            values[n], kept[n] = value, place
            n += 1
    return n


@exact_step
def _correlation(first, second, n):  # type: ignore[no-untyped-def]
    mean_first, mean_second, both, squares_first, squares_second = 0.0, 0.0, 0.0, 0.0, 0.0
    for place in range(n):
        mean_first += first[place] / n
        mean_second += second[place] / n
    for place in range(n):
        a, b = first[place] - mean_first, second[place] - mean_second
        both += a * b
        squares_first += a * a
        squares_second += b * b
    if squares_first <= 0 or squares_second <= 0:
        return math.nan
    return min(max(both / math.sqrt(squares_first * squares_second), -1.0), 1.0)


@exact_step
def _hedges(values, labels, n):  # type: ignore[no-untyped-def]
    """Difference of the means of class 1 and class 0 in units of the pooled deviation, corrected for few rows."""
    size, mean, scatter = np.zeros(2), np.zeros(2), 0.0
    for place in range(n):
        size[labels[place]] += 1
        mean[labels[place]] += values[place]
    if min(size[0], size[1]) < 1 or n < 3:
        return math.nan
    mean /= size
    for place in range(n):
        away = values[place] - mean[labels[place]]
        scatter += away * away
    if scatter <= 0:
        return math.nan
    return (mean[1] - mean[0]) / math.sqrt(scatter / (n - 2)) * (1 - 3 / (4 * n - 9))


@kernel
def _class_effects(columns, sorted_rows, codes, n_classes, tests, most, starts, splits, features, effects):  # type: ignore[no-untyped-def]
    place_of = np.full(codes.size, -1)
    values, ranks = np.empty(most), np.empty(most)
    kept, order, labels = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    sums, size = np.empty(n_classes), np.empty(n_classes)
    for cell in range(splits.size):
        rows = tests[starts[splits[cell]] : starts[splits[cell] + 1]]
        n = _gather(columns[features[cell]], rows, values, kept)
        _order(values, rows, kept, sorted_rows, features[cell], place_of, order, n)
        _rank(values, order, ranks, n)
        sums[:], size[:] = 0, 0
        for place in range(n):
            label = codes[rows[kept[place]]]
            labels[place] = label
            sums[label] += ranks[place]
            size[label] += 1
        if n_classes == 2:
            effects[cell, 1] = _hedges(values, labels, n)
        for label in range(1 if n_classes == 2 else 0, n_classes):
            pairs = size[label] * (n - size[label])
            higher = sums[label] - size[label] * (size[label] + 1) / 2
            effects[cell, 0 if n_classes == 2 else label] = higher / pairs if pairs > 0 else math.nan


@kernel
def _number_effects(columns, sorted_rows, target, tests, most, starts, splits, features, effects):  # type: ignore[no-untyped-def]
    place_of = np.full(target.size, -1)
    values, wanted, ranks, target_ranks = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    kept, order = np.empty(most, np.int64), np.empty(most, np.int64)
    for cell in range(splits.size):
        rows = tests[starts[splits[cell]] : starts[splits[cell] + 1]]
        n = _gather(columns[features[cell]], rows, values, kept)
        if n < 3:
            effects[cell] = math.nan
            continue
        for place in range(n):
            wanted[place] = target[rows[kept[place]]]
        _order(values, rows, kept, sorted_rows, features[cell], place_of, order, n)
        _rank(values, order, ranks, n)
        _order(wanted, rows, kept, sorted_rows, -1, place_of, order, n)
        _rank(wanted, order, target_ranks, n)
        effects[cell, 0] = _correlation(ranks, target_ranks, n)
        effects[cell, 1] = _correlation(values, wanted, n)


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
        The class of each row, from 0, or the number to predict.
    n_classes : int
        Number of classes; 0 for numbers.
    tests : sequence of ndarray
        The rows that each split holds out.
    splits, features : ndarray
        Which split and which feature a cell is.

    Returns
    -------
    ndarray
        For two classes the probability that a row of the second is higher than one of the first (AUC, ties half) and
        the standardized difference of their means (Hedges' g); for more, the AUC of each class against all others; for
        numbers the correlations of ranks (Spearman) and of values (Pearson).
    """
    effects = np.full((splits.size, effect_width(n_classes)), np.nan)
    starts = np.concatenate([[0], np.cumsum([rows.size for rows in tests])])
    if not (splits.size and starts[-1]):
        return effects
    rows = frozen(np.concatenate(tests), np.int64)
    places = [frozen(array, np.int64) for array in (starts, splits, features)]
    values = frozen(columns, np.float64)
    most = max(one.size for one in tests)
    known = frozen(_sort_all(values, target, tests), np.int64)
    if n_classes:
        _class_effects(values, known, frozen(target, np.int64), n_classes, rows, most, *places, effects)
    else:
        _number_effects(values, known, frozen(target, np.float64), rows, most, *places, effects)
    return effects


def _sort_all(columns: Floats, target: NDArray[Any], tests: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The order of all rows by each feature, then by the target, where many rows are held out, each once; else none."""
    many = min(rows.size for rows in tests) >= MANY and all((np.diff(rows) > 0).all() for rows in tests)
    return np.argsort(np.vstack([columns, target]), axis=1) if many else np.empty((0, 0), np.int64)


def effect_width(n_classes: int) -> int:
    """How many effects a feature has: two for two classes and for numbers, else one for each class."""
    return n_classes if n_classes > 2 else 2
