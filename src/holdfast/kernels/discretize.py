"""Continuous features cut into intervals: of equal width, or where the class changes (Fayyad and Irani's MDL rule)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.information import Codes, LogTable
from holdfast.kernels.jit import frozen, kernel

Floats = NDArray[np.float64]
MOST_BINS = 256
"""Codes are bytes."""


def equal_width_codes(X: Floats, n_bins: int, rows: NDArray[np.int64] | None = None) -> Codes:
    """Bin each column between its minimum and maximum: closed on the left, the maximum in the last bin.

    Only ``rows`` of ``X`` are seen and returned, all unless given. A constant column is in bin 0.
    """
    check_bins(n_bins)
    chosen = frozen(np.arange(len(X)) if rows is None else rows, np.int64)
    codes = np.empty((X.shape[1], chosen.size), np.uint8)
    _equal_width(frozen(X, np.float64), chosen, int(n_bins), codes)
    return codes


def check_bins(n_bins: int) -> None:
    """Raise unless there can be so many bins."""
    whole = isinstance(n_bins, (int, np.integer)) and not isinstance(n_bins, bool)
    if not whole or not 2 <= n_bins <= MOST_BINS:
        raise ValueError(f"Expected n_bins to be a whole number from 2 to {MOST_BINS}, got {n_bins!r}.")


def given_codes(X: NDArray[Any]) -> Codes:
    """Take rows × features as they are, if they are whole numbers from 0 to 255."""
    wrong = (X < 0) | (X >= MOST_BINS) | (X % 1 != 0)
    if wrong.any():
        row, column = (int(place[0]) for place in np.nonzero(wrong))
        raise ValueError(
            f"Expected codes, whole numbers from 0 to {MOST_BINS - 1}, for n_bins=None, got {X[row, column]:g} in row "
            f"{row}, column {column}; give n_bins."
        )
    return np.ascontiguousarray(X.T, dtype=np.uint8)


class Sorted(NamedTuple):
    """Columns of continuous features, with the samples in rising order of each: shared by all resamples."""

    values: Floats  # features × samples
    order: NDArray[np.int32]


def sort_columns(X: Floats) -> Sorted:
    """Sort each column once."""
    values = frozen(X.T, np.float64)
    return Sorted(values, frozen(np.argsort(values, axis=1, kind="stable"), np.int32))


def mdl_codes(columns: Sorted, y: ArrayLike, counts: ArrayLike | None = None) -> Codes:
    r"""Cut each feature where that tells the classes apart, as often as it pays for the description.

    An interval of N samples is cut at the boundary of least class entropy if the gain is more than
    :math:`(\log_2(N - 1) + \log_2(3^k - 2) - k H + k_1 H_1 + k_2 H_2) / N` for k classes in it, k₁ and k₂ in its two
    parts; so on within the parts. Of equally good boundaries the lowest is taken. A feature that is not worth a cut
    has one code, 0. Samples of count 0 are not seen, and have code 0.

    Parameters
    ----------
    columns : Sorted
        From :func:`sort_columns`.
    y : array of int
        Classes, whole numbers from 0.
    counts : array of int, optional
        How often each sample counts, 1 unless given.

    References
    ----------
    Fayyad and Irani (1993).
    """
    labels = frozen(y, np.int64)
    weights = frozen(np.ones(labels.size) if counts is None else counts, np.int64)
    table = LogTable.up_to(int(weights.sum()))
    codes = np.zeros(columns.order.shape, np.uint8)
    n_classes = int(labels.max(initial=0)) + 1
    most = _cut(*columns, labels, weights, n_classes, table.entries, table.unit / np.log(2), codes)
    if most > MOST_BINS:
        raise ValueError(f"Expected at most {MOST_BINS} intervals of a feature, got {most}; use bins of equal width.")
    return codes


@kernel
def _equal_width(X, rows, n_bins, codes):  # type: ignore[no-untyped-def]
    n_features = X.shape[1]
    width = 64  # columns at a time, so that the transposed codes stay in the cache
    for start in range(0, n_features, width):
        stop = min(start + width, n_features)
        low, high = X[rows[0], start:stop].copy(), X[rows[0], start:stop].copy()
        for row in rows:
            values = X[row, start:stop]
            for column in range(stop - start):
                low[column] = min(low[column], values[column])
                high[column] = max(high[column], values[column])
        for column in range(stop - start):
            high[column] -= low[column]
            if not high[column] > 0:
                high[column] = 1.0
        for place in range(rows.size):
            values = X[rows[place], start:stop]
            for column in range(stop - start):
                scaled = (values[column] - low[column]) / high[column] * n_bins
                codes[start + column, place] = min(int(scaled), n_bins - 1)


@kernel
def _cut(values, order, labels, counts, n_classes, entries, unit, codes):  # type: ignore[no-untyped-def]
    n_features, n_samples = order.shape
    before = np.zeros((n_samples + 1, n_classes), np.int64)  # of each class, before the first, second … group
    group_of = np.empty(n_samples, np.int64)
    is_cut = np.zeros(n_samples + 1, np.bool_)
    stack = np.empty((n_samples + 1, 2), np.int64)
    most = 1
    for feature in range(n_features):
        n_groups = _groups(values[feature], order[feature], labels, counts, before, group_of)
        stack[0, 0], stack[0, 1] = 0, n_groups
        depth = 1
        n_cuts = 0
        while depth > 0:
            depth -= 1
            low, high = stack[depth, 0], stack[depth, 1]
            cut = _best_cut(before, low, high, entries)
            if cut > low and _pays(before[low], before[cut], before[high], entries, unit):
                is_cut[cut] = True
                n_cuts += 1
                stack[depth, 0], stack[depth, 1] = low, cut
                stack[depth + 1, 0], stack[depth + 1, 1] = cut, high
                depth += 2
        most = max(most, n_cuts + 1)
        if n_cuts > 0:
            _number(order[feature], counts, group_of, is_cut, codes[feature])
            is_cut[: n_groups + 1] = False
    return most


@kernel
def _groups(values, order, labels, counts, before, group_of):  # type: ignore[no-untyped-def]
    """Group equal values, and neighbors that are all of one class: no best cut lies between those."""
    n_classes = before.shape[1]
    n_groups, last_class = 0, -1  # of the last group: its only class, or -1
    place = 0
    while place < order.size:
        sample = order[place]
        if counts[sample] == 0:
            place += 1
            continue
        first, value, only = place, values[sample], labels[sample]
        here = before[n_groups + 1]
        for c in range(n_classes):
            here[c] = before[n_groups, c]
        while place < order.size and (counts[order[place]] == 0 or values[order[place]] == value):
            sample = order[place]
            here[labels[sample]] += counts[sample]
            if counts[sample] > 0 and labels[sample] != only:
                only = -1
            place += 1
        if only >= 0 and only == last_class:
            for c in range(n_classes):
                before[n_groups, c] = here[c]
        else:
            n_groups += 1
        last_class = only
        for p in range(first, place):
            group_of[p] = n_groups - 1
    return n_groups


@kernel
def _best_cut(before, low, high, entries):  # type: ignore[no-untyped-def]
    """The lowest boundary of least class entropy between two groups; ``low`` if there is none."""
    n_classes = before.shape[1]
    best, best_score = low, 0
    for cut in range(low + 1, high):
        score, n_left, n_right = 0, 0, 0
        for c in range(n_classes):
            left, right = before[cut, c] - before[low, c], before[high, c] - before[cut, c]
            score += entries[left] + entries[right]
            n_left += left
            n_right += right
        score -= entries[n_left] + entries[n_right]  # minus N times the entropy that is left
        if best == low or score > best_score:
            best, best_score = cut, score
    return best


@kernel
def _pays(low, cut, high, entries, unit):  # type: ignore[no-untyped-def]
    """Whether the gain is more than the cost of describing the cut."""
    n, n_whole, k_whole = _entropy(low, high, entries)
    left, n_left, k_left = _entropy(low, cut, entries)
    right, n_right, k_right = _entropy(cut, high, entries)
    three = np.log2(3.0**k_whole - 2) if k_whole < 30 else k_whole * np.log2(3.0)
    spread = k_whole * n / n_whole - k_left * left / n_left - k_right * right / n_right
    return (n - left - right) * unit > np.log2(n_whole - 1.0) + three - spread * unit


@kernel
def _entropy(low, high, entries):  # type: ignore[no-untyped-def]
    """N·H in the table's unit, N, and the number of classes, of the groups between two borders."""
    inner, n, n_present = 0, 0, 0
    for c in range(low.size):
        count = high[c] - low[c]
        inner += entries[count]
        n += count
        n_present += count > 0
    return entries[n] - inner, n, n_present


@kernel
def _number(order, counts, group_of, is_cut, codes):  # type: ignore[no-untyped-def]
    code, last_group = 0, 0
    for place in range(order.size):
        if counts[order[place]] > 0:
            if group_of[place] != last_group:
                last_group = group_of[place]
                code += is_cut[last_group]
            codes[order[place]] = min(code, 255)
