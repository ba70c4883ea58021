"""Information of discrete features: exact sums over integer histograms, codes of numbers, and mRMR's choice by them.

n·log n of every count is stored as a whole number of a tiny unit. Sums of whole numbers do not depend on their order:
the information of two features is the same to the last bit however the samples are ordered, whichever of the two comes
first, and whether a sample is counted twice or listed twice.

Numbers become codes in bins of equal width (:func:`equal_width_codes`) or where cuts separate the classes
(:func:`mdl_codes`). :func:`selection_path` chooses features that say much about the class and little about each other;
:func:`correlation_path` does so by correlations (:class:`~holdfast.kernels.filters.Correlated`), without codes.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.filters import Correlated
from holdfast.kernels.jit import frozen, kernel
from holdfast.kernels.tolerances import TIE

Codes = NDArray[np.uint8]  # features × samples
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scheme = Literal["mid", "miq", "mid_alpha"]

MAX_BINS = 256
"""Codes are bytes."""

FEW_ROWS, MAX_COUNTED = 96, 255
"""Up to so many rows, and so many with their copies, rows are compared with each other, many features at a time."""
WIDTH = 2048
"""How many features are compared at a time: what is noted of them stays in the cache."""
MANY_VALUES = 16
"""Beyond so many different counts it is faster to look up what each makes up than to count how often each occurs."""

NO_INFORMATION = 1e-13
"""Information below this share of log n is rounding of the logarithms: it is set to 0."""


class LogTable(NamedTuple):
    """x·log x (natural) for x = 0 … n: ``entries`` in whole numbers of ``unit``."""

    entries: Ints
    unit: float

    @classmethod
    def up_to(cls, n: int) -> "LogTable":
        """Choose the unit so fine that sums of two tables' worth still fit into 63 bits."""
        x = np.arange(n + 1, dtype=float)
        x_log_x = x * np.log(np.maximum(x, 1))
        unit = 2.0 ** (np.frexp(x_log_x[-1])[1] - 60)
        return cls(frozen(np.rint(x_log_x / unit), np.int64), unit)


class Sample(NamedTuple):
    """Discrete features of a sample, with how often each of its rows counts."""

    codes: Codes
    counts: NDArray[np.uint32]
    table: LogTable
    by_row: Codes | None  # samples × features, if rows are few
    marginals: Ints  # Σ x·log x over the values of each feature, in the table's unit

    @property
    def whole(self) -> np.int64:
        """n·log n in the table's unit."""
        return self.table.entries[-1]


def make_sample(codes: Codes, counts: ArrayLike | None = None) -> Sample:
    """Prepare features × samples codes; ``counts`` are whole numbers, one per sample, 1 unless given."""
    if codes.dtype != np.uint8 and codes.size and not 0 <= codes.min() <= codes.max() <= 255:
        raise ValueError(f"Expected codes from 0 to 255, got {codes.min()} to {codes.max()}.")
    codes = frozen(codes, np.uint8)
    n_samples = codes.shape[1]
    weights = frozen(np.ones(n_samples) if counts is None else counts, np.uint32)
    table = LogTable.up_to(int(weights.sum()))
    few = n_samples <= FEW_ROWS and int(weights.sum()) <= MAX_COUNTED
    sample = Sample(codes, weights, table, frozen(codes.T, np.uint8) if few else None, np.empty(0, np.int64))
    return sample._replace(marginals=joint(sample, np.zeros(n_samples, np.uint32)))


def information(sample: Sample, labels: ArrayLike) -> NDArray[np.float64]:
    """I(x; labels) of each feature in nats; labels are whole numbers from 0, one per sample."""
    information, _ = _shared(sample, labels)
    n = max(sample.table.entries.size - 1, 1)
    return information.astype(np.float64) * (sample.table.unit / n)


def uncertainty(sample: Sample, labels: ArrayLike) -> NDArray[np.float64]:
    """2·I(x; labels) / (H(x) + H(labels)) of each feature; 0 if both are constant."""
    information, label_marginal = _shared(sample, labels)
    entropies = 2 * sample.whole - sample.marginals - label_marginal
    return np.divide(2 * information, entropies, out=np.zeros(entropies.size), where=entropies > 0)


def symmetrical_uncertainty(codes: Codes, rows: Ints, columns: Ints) -> NDArray[np.float64]:
    """2·I(x; y) / (H(x) + H(y)) for each feature of ``rows`` with each of ``columns``; 0 if both are constant."""
    sample = make_sample(codes[columns])
    return np.array([uncertainty(sample, codes[row]) for row in rows]).reshape(rows.size, columns.size)


def _shared(sample: Sample, labels: ArrayLike) -> tuple[Ints, np.int64]:
    """n·I of each feature with the labels, and Σ x·log x over the labels' values, both in the table's unit."""
    reference = np.asarray(labels, dtype=np.uint32)
    in_labels = np.bincount(reference, weights=sample.counts).astype(np.int64)
    label_marginal = sample.table.entries[in_labels].sum()
    information = sample.whole - sample.marginals - label_marginal + joint(sample, reference)
    information[information <= NO_INFORMATION * sample.whole] = 0
    return information, label_marginal


def joint(sample: Sample, labels: NDArray[np.unsignedinteger[Any]]) -> Ints:
    """Σ x·log x over the joint histogram of each feature and the labels, in the table's unit."""
    codes, entries, sums = sample.codes, sample.table.entries, np.empty(len(sample.codes), np.int64)
    reference = frozen(labels, np.uint32)
    n_labels = int(reference.max(initial=0)) + 1
    if sample.by_row is not None:
        counted, times = np.empty((codes.shape[1] + 1, WIDTH), np.uint8), np.empty((MANY_VALUES + 1, WIDTH), np.uint8)
        weights = frozen(sample.counts, np.uint8)
        _sum_by_pairs(sample.by_row, reference, n_labels, weights, entries, counted, times, sums)
        return sums
    n_codes = int(codes.max(initial=0)) + 1
    offsets = frozen(reference * np.uint32(n_codes), np.uint32)
    _joint_sums(codes, offsets, sample.counts, np.zeros((4, n_labels * n_codes), np.uint32), entries, sums)
    return sums


# Few rows: those of one label are compared two by two, for many features in one instruction


@kernel
def _sum_by_pairs(by_row, labels, n_labels, counts, entries, counted, times, sums):  # type: ignore[no-untyped-def]
    rows, ends = np.empty(labels.size, np.int64), np.zeros(n_labels + 1, np.int64)
    n_sorted = 0
    for label in range(n_labels):
        for row in range(labels.size):
            if labels[row] == label:
                rows[n_sorted] = row
                n_sorted += 1
        ends[label + 1] = n_sorted
    for begin in range(0, sums.size, WIDTH):
        out, highest = sums[begin : begin + WIDTH], 1
        for j in range(out.size):
            out[j] = 0
        for label in range(n_labels):
            of_label = rows[ends[label] : ends[label + 1]]
            some = counted[:, : out.size]
            highest = _count_label(by_row, begin, of_label, counts, entries, some, times, highest, out)
        for value in range(2, highest + 1):
            _add_times(times[value], entries[value], out)


@kernel
def _count_label(by_row, begin, rows, counts, entries, counted, times, highest, out):  # type: ignore[no-untyped-def]
    """Count for each row those equal to it, unless one came before, and how many rows have each count.

    Counts of 0 and 1, which add nothing, are left out; where counts are many, what they make up is added at once.
    Returns the highest so far.
    """
    end = begin + counted.shape[1]
    for position in range(1, rows.size):
        _fill(counted[position + 1], 0)
    for position in range(rows.size):
        same = counted[0]
        _fill(same, counts[rows[position]])
        codes = by_row[rows[position], begin:end]
        for later in range(position + 1, rows.size):
            _compare(codes, by_row[rows[later], begin:end], counts[rows[later]], same, counted[later + 1])
        if position > 0:
            _leave_out(same, counted[position + 1])
        largest = _find_largest(same)
        if largest > MANY_VALUES:
            for j in range(same.size):
                out[j] += entries[same[j]]
            continue
        while highest < largest:
            highest += 1
            _fill(times[highest], 0)
        for value in range(2, largest + 1):
            _add_equal(same, np.uint8(value), times[value])
    return highest


@kernel
def _find_largest(a):  # type: ignore[no-untyped-def]
    largest = np.uint8(0)
    for j in range(a.size):
        largest = a[j] if a[j] > largest else largest
    return largest


@kernel
def _add_equal(a, value, times):  # type: ignore[no-untyped-def]
    for j in range(a.size):
        times[j] = np.uint8(times[j] + (np.uint8(1) if a[j] == value else np.uint8(0)))


@kernel
def _add_times(times, entry, out):  # type: ignore[no-untyped-def]
    for j in range(out.size):
        out[j] += times[j] * entry


@kernel
def _fill(a, value):  # type: ignore[no-untyped-def]
    for j in range(a.size):
        a[j] = value


@kernel
def _compare(codes, other_codes, count, same, counted):  # type: ignore[no-untyped-def]
    """Where two rows have the same code, count the later one with the earlier one, and note that it is counted."""
    for j in range(codes.size):
        equal = np.uint8(255) if codes[j] == other_codes[j] else np.uint8(0)
        same[j] = np.uint8(same[j] + (equal & count))
        counted[j] = counted[j] | equal


@kernel
def _leave_out(same, counted):  # type: ignore[no-untyped-def]
    for j in range(same.size):
        same[j] = same[j] & ~counted[j]


# Many rows: one histogram for each feature


@kernel
def _joint_sums(codes, offsets, counts, cells, entries, sums):  # type: ignore[no-untyped-def]
    n_features, n_samples = codes.shape
    last = n_features - 1
    for first in range(0, n_features, 4):  # four histograms at a time: an increment need not wait for the one before
        a, b = codes[first], codes[min(first + 1, last)]
        c, d = codes[min(first + 2, last)], codes[min(first + 3, last)]
        for sample in range(n_samples):
            offset, count = offsets[sample], counts[sample]
            cells[0, offset + a[sample]] += count
            cells[1, offset + b[sample]] += count
            cells[2, offset + c[sample]] += count
            cells[3, offset + d[sample]] += count
        for k in range(4):
            feature = min(first + k, last)
            sums[feature] = _emptied(cells[k], codes[feature], offsets, entries)


@kernel
def _emptied(cells, codes, offsets, entries):  # type: ignore[no-untyped-def]
    """Sum the table over a histogram and set it to 0, by cells or by samples, whichever are fewer."""
    total = 0
    if cells.size <= 2 * codes.size:
        for cell in range(cells.size):
            total += entries[cells[cell]]
            cells[cell] = 0
    else:
        for sample in range(codes.size):
            cell = offsets[sample] + codes[sample]
            total += entries[cells[cell]]  # 0 from the second visit on
            cells[cell] = 0
    return total


# Codes of numbers


def equal_width_codes(X: Floats, n_bins: int, rows: NDArray[np.int64] | None = None) -> Codes:
    """Bin each column between its minimum and maximum: closed on the left, the maximum in the last bin.

    Only ``rows`` of ``X`` are seen and returned, all unless given. A constant column is in bin 0.
    """
    whole = isinstance(n_bins, (int, np.integer)) and not isinstance(n_bins, bool)
    if not whole or not 2 <= n_bins <= MAX_BINS:
        raise ValueError(f"Expected n_bins to be a whole number from 2 to {MAX_BINS}, got {n_bins!r}.")
    chosen = frozen(np.arange(len(X)) if rows is None else rows, np.int64)
    codes = np.empty((X.shape[1], chosen.size), np.uint8)
    _equal_width(frozen(X, np.float64), chosen, int(n_bins), codes)
    return codes


def given_codes(X: NDArray[Any]) -> Codes:
    """Take rows × features as they are, if they are whole numbers from 0 to 255."""
    wrong = (X < 0) | (X >= MAX_BINS) | (X % 1 != 0)
    if wrong.any():
        row, column = (int(index[0]) for index in np.nonzero(wrong))
        raise ValueError(
            f"Expected codes, whole numbers from 0 to {MAX_BINS - 1}, for n_bins=None, got {X[row, column]:g} in row "
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
    r"""Cut each feature where that separates the classes, as often as it pays for the description.

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
    if most > MAX_BINS:
        raise ValueError(f"Expected at most {MAX_BINS} intervals of a feature, got {most}; use bins of equal width.")
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
        for i in range(rows.size):
            values = X[rows[i], start:stop]
            for column in range(stop - start):
                scaled = (values[column] - low[column]) / high[column] * n_bins
                codes[start + column, i] = min(int(scaled), n_bins - 1)


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
    position = 0
    while position < order.size:
        sample = order[position]
        if counts[sample] == 0:
            position += 1
            continue
        first, value, only = position, values[sample], labels[sample]
        here = before[n_groups + 1]
        for c in range(n_classes):
            here[c] = before[n_groups, c]
        while position < order.size and (counts[order[position]] == 0 or values[order[position]] == value):
            sample = order[position]
            here[labels[sample]] += counts[sample]
            if counts[sample] > 0 and labels[sample] != only:
                only = -1
            position += 1
        if only >= 0 and only == last_class:
            for c in range(n_classes):
                before[n_groups, c] = here[c]
        else:
            n_groups += 1
        last_class = only
        for p in range(first, position):
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
    for position in range(order.size):
        if counts[order[position]] > 0:
            if group_of[position] != last_group:
                last_group = group_of[position]
                code += is_cut[last_group]
            codes[order[position]] = min(code, 255)


# mRMR


class Paths(NamedTuple):
    """Features in the order of their choice, and why: each array ends with the axes alphas × steps.

    The redundancy of the first feature, with nothing chosen before it, is 0.
    """

    order: Ints
    relevance: Floats
    redundancy: Floats


def selection_path(
    sample: Sample,
    labels: ArrayLike,
    n_features: int,
    *,
    scheme: Scheme = "mid",
    alphas: Sequence[float] = (0.5,),
    relevance: Floats | None = None,
    relevant_only: bool = False,
    tie_ranks: NDArray[np.integer] | None = None,
) -> Paths:
    """Choose features on one sample, with the axes alphas × steps.

    The first feature has the largest V, whatever the scheme; each next one has the largest V - W (``"mid"``), V / W
    (``"miq"``) or alpha·V - (1 - alpha)·W (``"mid_alpha"``, for each of ``alphas``). V / 0 is infinite, or 0 if V is 0
    too. Scores that are equal up to rounding tie, and the lowest column is chosen, or the first by ``tie_ranks``, which
    has a rank for each column. ``relevance`` is V, if it is known. With ``relevant_only``, features of V = 0 are
    never chosen: by V - W a constant one, which shares nothing, would come before one that is informative.
    """
    if scheme not in get_args(Scheme):
        raise ValueError(f"Expected a scheme out of {', '.join(get_args(Scheme))}, got {scheme!r}.")
    V = frozen(information(sample, labels) if relevance is None else relevance, np.float64)
    among = V > 0 if relevant_only else np.ones(V.size, dtype=bool)
    ranks = frozen(np.arange(V.size) if tie_ranks is None else tie_ranks, np.int64)
    weights = np.array(alphas if scheme == "mid_alpha" else (0.5,), dtype=np.float64)
    shape = weights.size, min(n_features, int(among.sum()))
    order, redundancy = np.empty(shape, np.int64), np.zeros(shape)
    few = sample.by_row is not None
    by_row = sample.by_row if few else frozen(np.empty((0, 0)), np.uint8)
    counts = frozen(sample.counts, np.uint8) if few else frozen(np.empty(0), np.uint8)
    unit, negligible = sample.table.unit / max(sample.table.entries.size - 1, 1), NO_INFORMATION * sample.whole
    tables = sample.codes, by_row, sample.counts, counts, sample.table.entries, frozen(sample.marginals, np.int64)
    options = frozen(among, np.bool_), ranks, scheme == "miq", frozen(weights, np.float64)
    _forward(tables, V, unit, negligible, *options, order, redundancy)
    return Paths(order, V[order], redundancy)


def score_path(sample: Sample, labels: ArrayLike, order: Sequence[int]) -> tuple[Floats, Floats]:
    """Relevance V of each feature of an order, and its redundancy W with the features before it."""
    chosen = np.asarray(order, dtype=np.int64)
    relevance = information(sample, labels)[chosen]
    total, redundancy = np.zeros(len(sample.codes)), np.zeros(chosen.size)
    for step, feature in enumerate(chosen[:-1], start=1):
        total += information(sample, sample.codes[feature])
        redundancy[step] = total[chosen[step]] / step
    return relevance, redundancy


def correlation_path(
    correlated: Correlated,
    relevance: Floats,
    n_features: int,
    *,
    scheme: Scheme = "mid",
    alphas: Sequence[float] = (0.5,),
    relevant_only: bool = False,
    tie_ranks: NDArray[np.integer] | None = None,
) -> Paths:
    """Choose features as :func:`selection_path` does, by a relevance and by mean absolute correlation."""
    if scheme not in get_args(Scheme):
        raise ValueError(f"Expected a scheme out of {', '.join(get_args(Scheme))}, got {scheme!r}.")
    V = frozen(relevance, np.float64)
    among = V > 0 if relevant_only else np.ones(V.size, dtype=bool)
    ranks = frozen(np.arange(V.size) if tie_ranks is None else tie_ranks, np.int64)
    rows: dict[int, Floats] = {}
    paths = []
    for alpha in alphas if scheme == "mid_alpha" else (0.5,):
        n_steps = min(n_features, int(among.sum()))
        order, redundancy, total, left = np.empty(n_steps, np.int64), np.zeros(n_steps), np.zeros(V.size), among.copy()
        for step in range(n_steps):
            score = size = V
            if step > 0:
                last = int(order[step - 1])
                if last not in rows:
                    rows[last] = correlated.redundancy(last)
                total += rows[last]
                W = total / step
                if scheme == "miq":
                    score = size = np.divide(V, W, out=np.where(V > 0, np.inf, 0.0), where=W > 0)
                else:
                    with np.errstate(invalid="ignore"):  # an infinite relevance that has no weight
                        score, size = (np.nan_to_num(alpha * V + sign * (1 - alpha) * W, nan=0.0, posinf=np.inf)
                                       for sign in (-1, 1))  # fmt: skip
            order[step] = _first_best(np.where(left, score, -np.inf), frozen(size, np.float64), ranks)
            redundancy[step] = total[order[step]] / max(step, 1)
            left[order[step]] = False
        paths.append(Paths(order, V[order], redundancy))
    return Paths(*(np.stack(arrays) for arrays in zip(*paths, strict=True)))


def score_correlations(correlated: Correlated, relevance: Floats, order: Sequence[int]) -> tuple[Floats, Floats]:
    """Relevance V of each feature of an order, and its mean absolute correlation W with the features before it."""
    chosen = np.asarray(order, dtype=np.int64)
    total, redundancy = np.zeros(relevance.size), np.zeros(chosen.size)
    for step, feature in enumerate(chosen[:-1].tolist(), start=1):
        total += correlated.redundancy(feature)
        redundancy[step] = total[chosen[step]] / step
    return relevance[chosen], redundancy


@kernel
def _forward(tables, V, unit, negligible, among, tie_ranks, quotient, alphas, order, redundancy):  # type: ignore[no-untyped-def]
    """Choose feature after feature, by each alpha; what a feature shares with all others is computed once."""
    codes, by_row, weights, counts, entries, marginals = tables
    d, n_codes = V.size, 0
    for code in codes.flat:
        n_codes = max(n_codes, int(code) + 1)
    counted, times = np.empty((codes.shape[1] + 1, WIDTH), np.uint8), np.empty((MANY_VALUES + 1, WIDTH), np.uint8)
    cells, labels = np.zeros((4, n_codes * n_codes), np.uint32), np.empty(codes.shape[1], np.uint32)
    # the last takes no memory before it is filled
    stored_at, n_known, known = np.full(d, -1), 0, np.empty((order.size, d), np.int64)
    for path in range(alphas.size):
        left, total = among.copy(), np.zeros(d)
        for step in range(order.shape[1]):
            if step == 0:
                order[path, 0] = _first_best(np.where(among, V, -np.inf), V, tie_ranks)
            else:
                last = order[path, step - 1]
                if stored_at[last] < 0:
                    stored_at[last], n_known = n_known, n_known + 1
                    for row in range(labels.size):
                        labels[row] = codes[last, row] if by_row.size else codes[last, row] * n_codes
                    if by_row.size:
                        _sum_by_pairs(by_row, labels, n_codes, counts, entries, counted, times, known[stored_at[last]])
                    else:
                        _joint_sums(codes, labels, weights, cells, entries, known[stored_at[last]])
                rest = entries[entries.size - 1] - marginals[last]
                order[path, step] = _next(
                    known[stored_at[last]], marginals, rest, unit, negligible, V, total, step, left, tie_ranks,
                    quotient, alphas[path],
                )  # fmt: skip
                redundancy[path, step] = total[order[path, step]] / step
            left[order[path, step]] = False


@kernel
def _next(joint, marginals, rest, unit, negligible, V, total, step, left, tie_ranks, quotient, alpha):  # type: ignore[no-untyped-def]
    """Add to each total the information shared with the feature chosen last; return the best of those left.

    What is to be largest comes from V and W, the mean of what is shared; a difference that is tiny relative to
    its terms is rounding.
    """
    score, size = np.empty(V.size), np.empty(V.size)
    for j in range(V.size):
        shared = rest - marginals[j] + joint[j]
        total[j] += shared * unit if shared > negligible else 0.0
        W = total[j] / step
        if quotient:
            score[j] = size[j] = V[j] / W if W > 0 else (np.inf if V[j] > 0 else 0.0)
        else:
            score[j] = alpha * V[j] - (1 - alpha) * W
            size[j] = alpha * V[j] + (1 - alpha) * W
        if not left[j]:
            score[j] = -np.inf
    return _first_best(score, size, tie_ranks)


@kernel
def _first_best(score, size, tie_ranks):  # type: ignore[no-untyped-def]
    """The column of lowest tie-break rank whose score reaches the maximum, up to rounding of its terms."""
    best = 0
    for j in range(1, score.size):
        if score[j] > score[best]:
            best = j
    least = score[best] - (TIE * size[best] if np.isfinite(score[best]) else 0.0)
    first = best
    for j in range(score.size):
        if score[j] >= least and tie_ranks[j] < tie_ranks[first]:
            first = j
    return first
