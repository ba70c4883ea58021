"""Entropy and information of discrete features, exact sums over integer histograms.

n·log n of every count is kept as a whole number of a tiny unit. Sums of whole numbers do not depend on their order, so
the information of two features is the same to the last bit however the samples are ordered, whichever of the two comes
first, and whether a sample is counted twice or stands there twice.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.jit import frozen, kernel

Codes = NDArray[np.uint8]  # features × samples
Ints = NDArray[np.int64]

FEW_ROWS, MOST_COUNTED = 96, 255
"""Up to so many rows, and so many with their copies, rows are compared with each other, many features at a time."""
WIDTH = 512
"""How many features are compared at a time: what is noted of them stays in the cache."""

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
    own: Ints  # Σ x·log x over the values of each feature, in the table's unit

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
    few = n_samples <= FEW_ROWS and int(weights.sum()) <= MOST_COUNTED
    sample = Sample(codes, weights, table, frozen(codes.T, np.uint8) if few else None, np.empty(0, np.int64))
    return sample._replace(own=joint(sample, np.zeros(n_samples, np.uint32)))


def information(sample: Sample, labels: ArrayLike) -> NDArray[np.float64]:
    """I(x; labels) of each feature in nats; labels are whole numbers from 0, one per sample."""
    information, _ = _shared(sample, labels)
    n = max(sample.table.entries.size - 1, 1)
    return information.astype(np.float64) * (sample.table.unit / n)


def uncertainty(sample: Sample, labels: ArrayLike) -> NDArray[np.float64]:
    """2·I(x; labels) / (H(x) + H(labels)) of each feature; 0 if both are constant."""
    information, labels_own = _shared(sample, labels)
    entropies = 2 * sample.whole - sample.own - labels_own
    return np.divide(2 * information, entropies, out=np.zeros(entropies.size), where=entropies > 0)


def symmetrical_uncertainty(codes: Codes, rows: Ints, columns: Ints) -> NDArray[np.float64]:
    """2·I(x; y) / (H(x) + H(y)) for each feature of ``rows`` with each of ``columns``; 0 if both are constant."""
    sample = make_sample(codes[columns])
    return np.array([uncertainty(sample, codes[row]) for row in rows]).reshape(rows.size, columns.size)


def _shared(sample: Sample, labels: ArrayLike) -> tuple[Ints, np.int64]:
    """n·I of each feature with the labels, and Σ x·log x over the labels' values, both in the table's unit."""
    reference = np.asarray(labels, dtype=np.uint32)
    in_labels = np.bincount(reference, weights=sample.counts).astype(np.int64)
    labels_own = sample.table.entries[in_labels].sum()
    information = sample.whole - sample.own - labels_own + joint(sample, reference)
    information[information <= NO_INFORMATION * sample.whole] = 0
    return information, labels_own


def joint(sample: Sample, labels: NDArray[np.unsignedinteger[Any]]) -> Ints:
    """Σ x·log x over the joint histogram of each feature and the labels, in the table's unit."""
    codes, entries, sums = sample.codes, sample.table.entries, np.empty(len(sample.codes), np.int64)
    reference = frozen(labels, np.uint32)
    n_labels = int(reference.max(initial=0)) + 1
    if sample.by_row is not None:
        room = np.empty((codes.shape[1] + 1, WIDTH), np.uint8)
        _sum_by_pairs(sample.by_row, reference, n_labels, frozen(sample.counts, np.uint8), entries, room, sums)
        return sums
    n_codes = int(codes.max(initial=0)) + 1
    offsets = frozen(reference * np.uint32(n_codes), np.uint32)
    _joint_sums(codes, offsets, sample.counts, np.zeros((4, n_labels * n_codes), np.uint32), entries, sums)
    return sums


# Few rows: those of one label are compared two by two, for many features in one instruction


@kernel
def _sum_by_pairs(by_row, labels, n_labels, counts, entries, room, sums):  # type: ignore[no-untyped-def]
    rows, ends = np.empty(labels.size, np.int64), np.zeros(n_labels + 1, np.int64)
    place = 0
    for label in range(n_labels):
        for row in range(labels.size):
            if labels[row] == label:
                rows[place] = row
                place += 1
        ends[label + 1] = place
    for begin in range(0, sums.size, WIDTH):
        out = sums[begin : begin + WIDTH]
        for j in range(out.size):
            out[j] = 0
        for label in range(n_labels):
            _add_label(by_row, begin, rows[ends[label] : ends[label + 1]], counts, entries, room[:, : out.size], out)


@kernel
def _add_label(by_row, begin, rows, counts, entries, room, out):  # type: ignore[no-untyped-def]
    """Add what the rows of one label make up: for each row the count of those equal to it, unless one came before."""
    end = begin + out.size
    for place in range(1, rows.size):
        _fill(room[place + 1], 0)
    for place in range(rows.size):
        same = room[0]
        _fill(same, counts[rows[place]])
        own = by_row[rows[place], begin:end]
        for later in range(place + 1, rows.size):
            _compare(own, by_row[rows[later], begin:end], counts[rows[later]], same, room[later + 1])
        if place > 0:
            _leave_out(same, room[place + 1])
        for j in range(out.size):
            out[j] += entries[same[j]]


@kernel
def _fill(a, value):  # type: ignore[no-untyped-def]
    for j in range(a.size):
        a[j] = value


@kernel
def _compare(own, other, count, same, counted):  # type: ignore[no-untyped-def]
    """Where two rows have the same code, count the later one with the earlier one, and note that it is counted."""
    for j in range(own.size):
        equal = np.uint8(255) if own[j] == other[j] else np.uint8(0)
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
        for place in range(4):
            feature = min(first + place, last)
            sums[feature] = _emptied(cells[place], codes[feature], offsets, entries)


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
