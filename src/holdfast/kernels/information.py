"""Entropy and information of discrete features, exact sums over integer histograms.

n·log n of every count is kept as a whole number of a tiny unit. Sums of whole numbers do not depend on their order, so
the information of two features is the same to the last bit however the samples are ordered, whichever of the two comes
first, and whether a sample is counted twice or stands there twice.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.jit import frozen, kernel

Codes = NDArray[np.uint8]  # features × samples
Ints = NDArray[np.int64]

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
    own = _joint(codes, np.zeros(n_samples, np.uint32), weights, table)
    return Sample(codes, weights, table, own)


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
    information = sample.whole - sample.own - labels_own + _joint(sample.codes, reference, sample.counts, sample.table)
    information[information <= NO_INFORMATION * sample.whole] = 0
    return information, labels_own


def _joint(codes: Codes, reference: NDArray[np.uint32], counts: NDArray[np.uint32], table: LogTable) -> Ints:
    """Σ x·log x over the joint histogram of each feature and the reference."""
    n_codes = int(codes.max(initial=0)) + 1
    offsets = frozen(reference * np.uint32(n_codes), np.uint32)
    n_cells = (int(reference.max(initial=0)) + 1) * n_codes
    sums = np.empty(len(codes), np.int64)
    _joint_sums(codes, offsets, counts, np.zeros((4, n_cells), np.uint32), table.entries, sums)
    return sums


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
