"""How many features every two runs share, without ever holding a runs × runs matrix.

Features that many runs select are packed into bits and counted by population count; the long tail of rarely selected
features goes through an inverted index. :func:`plan` finds the cheapest border between the two.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from holdfast.kernels.jit import kernel

Ints = NDArray[np.int64]

BLOCK_PAIRS = 1 << 16
"""Pairs that are in memory at a time."""

WORD_COST, VISIT_COST = 1.0, 1.5
"""What one 64-bit population count costs beside one visit of the inverted index (measured, in any unit)."""


class Plan(NamedTuple):
    """Selections laid out for counting: ``packed`` bits of common features, index lists of rare ones."""

    packed: NDArray[np.uint64]  # runs × words
    rare: NDArray[np.int32]  # rare features of each run, renumbered
    rare_ptr: Ints
    runs_of: NDArray[np.int32]  # runs that select each rare feature
    runs_ptr: Ints


def plan(indices: NDArray[np.int32], indptr: Ints, n_features: int) -> Plan:
    """Lay the index lists out so that counting all pairs costs least."""
    n_runs = indptr.size - 1
    counts = np.bincount(indices, minlength=n_features)
    used = np.flatnonzero(counts)
    order = used[np.argsort(-counts[used], kind="stable")]
    n_common = _cheapest_border(counts[order], n_runs)

    rank = np.full(n_features, -1, dtype=np.int32)
    rank[order] = np.arange(order.size)
    run_of = np.repeat(np.arange(n_runs, dtype=np.int32), np.diff(indptr))
    position = rank[indices]
    common = position < n_common
    rare = position[~common] - np.int32(n_common)
    rare_ptr = _pointers(np.bincount(run_of[~common], minlength=n_runs))
    by_run = sp.csr_array((np.ones(rare.size, bool), rare, rare_ptr), shape=(n_runs, order.size - n_common))
    by_feature = by_run.tocsc()
    return Plan(
        packed=_pack(run_of[common], position[common], n_runs, n_common),
        rare=rare,
        rare_ptr=rare_ptr,
        runs_of=by_feature.indices.astype(np.int32, copy=False),
        runs_ptr=by_feature.indptr.astype(np.int64, copy=False),
    )


def intersection_blocks(layout: Plan, block_pairs: int = BLOCK_PAIRS) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Yield ``(first run, shared)``: features shared by each run of a block and every run, its own size included."""
    n_runs = len(layout.packed)
    rows = max(1, block_pairs // n_runs)
    for start in range(0, n_runs, rows):
        stop = min(start + rows, n_runs)
        shared = np.empty((stop - start, n_runs), dtype=np.int32)
        _shared_block(start, *layout, shared)
        yield start, shared


def group_pairs(
    start: int, shared: NDArray[np.int32], size_class: Ints, n_classes: int, n_values: int
) -> tuple[Ints, Ints, Ints]:
    """Group the pairs of a block by (size class of the other run, features shared).

    Returns the border of each run's groups, the group's code ``class * n_values + shared``, and its number of pairs.
    """
    rows = len(shared)
    border = np.empty(rows + 1, dtype=np.int64)
    code = np.empty(rows * min(shared.shape[1], n_classes * n_values), dtype=np.int64)
    count = np.empty_like(code)
    _group_block(start, shared, size_class, n_values, np.zeros(n_classes * n_values, np.int64), border, code, count)
    return border, code[: border[-1]], count[: border[-1]]


def _cheapest_border(counts: Ints, n_runs: int) -> int:
    """Number of most selected features to pack, a multiple of 64 (or all)."""
    rare_cost = np.append(VISIT_COST * np.cumsum(counts[::-1].astype(float) ** 2)[::-1], 0.0)
    borders = np.append(np.arange(0, counts.size, 64), counts.size)
    cost = WORD_COST * n_runs**2 * np.ceil(borders / 64) + rare_cost[borders]
    return int(borders[np.argmin(cost)])


def _pack(runs: NDArray[np.int32], positions: NDArray[np.int32], n_runs: int, n_common: int) -> NDArray[np.uint64]:
    packed = np.zeros((n_runs, -(-n_common // 64)), dtype=np.uint64)
    bits = np.left_shift(np.uint64(1), (positions & 63).astype(np.uint64))
    np.bitwise_or.at(packed, (runs, positions >> 6), bits)
    return packed


def _pointers(counts: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)])


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """Emit the processor's population count."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel
def _shared_block(start, packed, rare, rare_ptr, runs_of, runs_ptr, shared):  # type: ignore[no-untyped-def]
    n_runs, n_words = packed.shape
    for row in range(shared.shape[0]):
        run = start + row
        own = packed[run]
        for other in range(n_runs):
            bits = np.uint64(0)
            for word in range(n_words):
                bits += _popcount(own[word] & packed[other, word])
            shared[row, other] = bits
        for place in range(rare_ptr[run], rare_ptr[run + 1]):
            feature = rare[place]
            for visit in range(runs_ptr[feature], runs_ptr[feature + 1]):
                shared[row, runs_of[visit]] += 1


@kernel
def _group_block(start, shared, size_class, n_values, histogram, border, code, count):  # type: ignore[no-untyped-def]
    n_groups = 0
    border[0] = 0
    for row in range(shared.shape[0]):
        first = n_groups
        for other in range(shared.shape[1]):
            if other != start + row:
                group = size_class[other] * n_values + shared[row, other]
                if histogram[group] == 0:
                    code[n_groups] = group
                    n_groups += 1
                histogram[group] += 1
        for place in range(first, n_groups):
            count[place] = histogram[code[place]]
            histogram[code[place]] = 0
        border[row + 1] = n_groups
