"""How many features every two runs share, without ever holding a runs × runs matrix.

Features that many runs select are packed into bits and counted by population count; the long tail of rarely selected
features goes through an inverted index. :func:`plan` finds the cheapest border between the two. Where features may
stand in for similar ones, :func:`stand_in_counts` goes pair by pair over the selected features and their neighbors, and
:func:`move_shares` finds how much of what one run uses features of another can stand in for.
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
"""What one 64-bit population count costs next to one visit of the inverted index (measured, in any unit)."""


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
    rare_ptr = np.concatenate([[0], np.cumsum(np.bincount(run_of[~common], minlength=n_runs))])
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
    """Yield ``(first run, shared)``: features shared by each run of a block and every run, itself included."""
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
        run_words = packed[run]
        for other in range(n_runs):
            bits = np.uint64(0)
            for word in range(n_words):
                bits += _popcount(run_words[word] & packed[other, word])
            shared[row, other] = bits
        for entry in range(rare_ptr[run], rare_ptr[run + 1]):
            feature = rare[entry]
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
                pair_group = size_class[other] * n_values + shared[row, other]
                if histogram[pair_group] == 0:
                    code[n_groups] = pair_group
                    n_groups += 1
                histogram[pair_group] += 1
        for group in range(first, n_groups):
            count[group] = histogram[code[group]]
            histogram[code[group]] = 0
        border[row + 1] = n_groups


COLUMNS = (
    "shared",  # |V ∩ V′|
    "covered_first",  # features of A that have a similar one in B
    "covered_second",  # features of B that have a similar one in A
    "matched",  # size of a maximum matching between A and B over similar pairs
    "greedy",  # pairs of A and B taken by falling similarity
    "mean_first",  # Σ over A of the mean similarity to the similar ones in B
    "mean_second",
    "cross_first",  # Σ of similarities between V and V′∖V
    "cross_second",
)


def stand_in_counts(
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    neighbors: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]],
    n_features: int,
    *,
    matching: bool,
    greedy: bool,
) -> NDArray[np.float64]:
    """Count for the runs ``first[p]`` and ``second[p]`` of each pair p; one row per pair, :data:`COLUMNS` wide.

    ``neighbors`` are the rows (pointers, features, similarities) of the thresholded similarity without its diagonal.
    ``matching`` and ``greedy`` say whether to compute these two, the costly ones; else they stay ``nan``.
    """
    out = np.full((first.size, len(COLUMNS)), np.nan)
    _count(indices, indptr, first, second, *neighbors, n_features, matching, greedy, out)
    return out


def random_sets(uniforms: NDArray[np.float64], n_features: int) -> NDArray[np.int32]:
    """Turn each row of uniform numbers into a uniformly random, sorted set of as many features (Floyd's method)."""
    sets = np.empty(uniforms.shape, dtype=np.int32)
    _floyd(uniforms, n_features, sets)
    sets.sort(axis=1)
    return sets


@kernel
def _floyd(uniforms, n_features, sets):  # type: ignore[no-untyped-def]
    taken = np.zeros(n_features, np.uint8)
    n_sets, size = uniforms.shape
    for row in range(n_sets):
        for i in range(size):
            last = n_features - size + i
            candidate = int(uniforms[row, i] * (last + 1))
            if taken[candidate]:
                candidate = last
            taken[candidate] = 1
            sets[row, i] = candidate
        for i in range(size):
            taken[sets[row, i]] = 0


@kernel
def _one_way(set_a, set_b, in_a, in_b, ptr, nbr, sim):  # type: ignore[no-untyped-def]
    """Number of covered features of A∖B, the sum of their mean similarities, the cross sum, the number of edges."""
    covered, means, cross, n_edges = 0, 0.0, 0.0, 0
    for x in set_a:
        total, similar = 0.0, 0
        for entry in range(ptr[x], ptr[x + 1]):
            y = nbr[entry]
            if in_b[y] and not in_a[y]:
                total += sim[entry]
                similar += 1
        cross += total
        if similar > 0 and not in_b[x]:
            covered += 1
            means += total / similar
            n_edges += similar
    return covered, means, cross, n_edges


@kernel
def _edges(set_a, in_a, in_b, ptr, nbr, sim, n_edges):  # type: ignore[no-untyped-def]
    """All similar pairs (x in A∖B, y in B∖A), grouped by x."""
    x_of, y_of, s_of = np.empty(n_edges, np.int64), np.empty(n_edges, np.int64), np.empty(n_edges)
    n = 0
    for x in set_a:
        if not in_b[x]:
            for entry in range(ptr[x], ptr[x + 1]):
                y = nbr[entry]
                if in_b[y] and not in_a[y]:
                    x_of[n], y_of[n], s_of[n] = x, y, sim[entry]
                    n += 1
    return x_of, y_of, s_of


@kernel
def _greedy_pairs(x_of, y_of, s_of, n_features, mate):  # type: ignore[no-untyped-def]
    """Take edges by falling similarity, ties by the lower then the higher column, so that the order of sets is free."""
    key = np.minimum(x_of, y_of) * n_features + np.maximum(x_of, y_of)
    by_column = np.argsort(key)
    order = by_column[np.argsort(-s_of[by_column], kind="mergesort")]
    pairs = 0
    for e in order:
        x, y = x_of[e], y_of[e]
        if mate[x] < 0 and mate[y] < 0:
            mate[x], mate[y] = y, x
            pairs += 1
    for e in range(x_of.size):
        mate[x_of[e]] = mate[y_of[e]] = -1
    return pairs


@kernel
def _maximum_matching(x_of, y_of, mate, reached_from, group_of):  # type: ignore[no-untyped-def]
    """Size of a maximum matching, by breadth-first augmenting paths from one x after the other."""
    n_edges = x_of.size
    begin = np.zeros(n_edges + 1, np.int64)  # edges of the same x are neighbors
    n_x = 0
    for e in range(n_edges):
        if e == 0 or x_of[e] != x_of[e - 1]:
            begin[n_x] = e
            n_x += 1
    begin[n_x] = n_edges
    for g in range(n_x):
        group_of[x_of[begin[g]]] = g
    queue, seen = np.empty(n_x, np.int64), np.empty(n_edges, np.int64)
    pairs = 0
    for root in range(n_x):
        queue[0], head, tail, n_seen, end = root, 0, 1, 0, -1
        while head < tail and end < 0:
            g = queue[head]
            head += 1
            for e in range(begin[g], begin[g + 1]):
                y = y_of[e]
                if reached_from[y] >= 0:
                    continue
                reached_from[y] = x_of[e]
                seen[n_seen] = y
                n_seen += 1
                if mate[y] < 0:
                    end = y
                    break
                queue[tail] = group_of[mate[y]]
                tail += 1
        if end >= 0:
            pairs += 1
        while end >= 0:
            x = reached_from[end]
            following = mate[x]
            mate[end], mate[x] = x, end
            end = following
        for n in range(n_seen):
            reached_from[seen[n]] = -1
    for e in range(n_edges):
        mate[x_of[e]] = mate[y_of[e]] = -1
    return pairs


@kernel
def _count(indices, indptr, first, second, ptr, nbr, sim, n_features, matching, greedy, out):  # type: ignore[no-untyped-def]
    in_first, in_second = np.zeros(n_features, np.bool_), np.zeros(n_features, np.bool_)
    mate, reached_from = np.full(n_features, -1, np.int64), np.full(n_features, -1, np.int64)
    group_of = np.empty(n_features, np.int64)
    for pair in range(first.size):
        set_a = indices[indptr[first[pair]] : indptr[first[pair] + 1]]
        set_b = indices[indptr[second[pair]] : indptr[second[pair] + 1]]
        for x in set_a:
            in_first[x] = True
        shared = 0
        for y in set_b:
            in_second[y] = True
            shared += in_first[y]
        forth = _one_way(set_a, set_b, in_first, in_second, ptr, nbr, sim)
        back = _one_way(set_b, set_a, in_second, in_first, ptr, nbr, sim)
        row = out[pair]
        row[0], row[1], row[2], row[5], row[6], row[7], row[8] = (
            shared, forth[0], back[0], forth[1], back[1], forth[2], back[2],
        )  # fmt: skip
        if matching or greedy:
            x_of, y_of, s_of = _edges(set_a, in_first, in_second, ptr, nbr, sim, forth[3])
            if matching:
                row[3] = _maximum_matching(x_of, y_of, mate, reached_from, group_of)
            if greedy:
                row[4] = _greedy_pairs(x_of, y_of, s_of, n_features, mate)
        for x in set_a:
            in_first[x] = False
        for y in set_b:
            in_second[y] = False


DUST = 1e-13
"""Shares below it are rounding."""


@kernel
def move_shares(similarity: NDArray[np.float64], supply: NDArray[np.float64], demand: NDArray[np.float64]) -> float:
    """Return the most similarity at which all of ``supply`` (rows) is moved to ``demand`` (columns); sums are equal.

    By successive shortest paths with potentials: each path is the cheapest from a row with shares left to a column that
    still needs some, also by taking back what was moved before. ``1 - similarity`` less both potentials is never
    negative, and 0 where something is moved.
    """
    n_rows, n_columns = similarity.shape
    need, moved = demand.copy(), np.zeros((n_rows, n_columns))
    row_potential, column_potential = np.zeros(n_rows), np.zeros(n_columns)
    to_row, to_column = np.empty(n_rows), np.empty(n_columns)  # lengths of the shortest paths
    row_before, column_before = np.empty(n_columns, np.int64), np.empty(n_rows, np.int64)
    reached, settled = np.empty(n_rows, np.int64), np.empty(n_columns, np.bool_)
    for source in range(n_rows):
        left = supply[source]
        while left > DUST:
            to_row[:], to_column[:], settled[:] = np.inf, np.inf, False
            to_row[source], column_before[source], reached[0] = 0.0, -1, source
            n_reached, n_followed, end = 1, 0, -1
            while True:
                while n_followed < n_reached:
                    row = reached[n_followed]
                    n_followed += 1
                    for column in range(n_columns):
                        cost = 1 - similarity[row, column] - row_potential[row] - column_potential[column]
                        length = to_row[row] + max(cost, 0.0)
                        if not settled[column] and length < to_column[column]:
                            to_column[column], row_before[column] = length, row
                nearest = -1
                for column in range(n_columns):
                    if not settled[column] and (nearest < 0 or to_column[column] < to_column[nearest]):
                        nearest = column
                if nearest < 0:  # what is left is rounding
                    break
                settled[nearest] = True
                if need[nearest] > DUST:
                    end = nearest
                    break
                for row in range(n_rows):
                    if moved[row, nearest] > DUST and to_row[row] == np.inf:
                        to_row[row], column_before[row], reached[n_reached] = to_column[nearest], nearest, row
                        n_reached += 1
            if end < 0:
                break
            for row in reached[:n_reached]:
                row_potential[row] += to_column[end] - to_row[row]
            for column in range(n_columns):
                if settled[column]:
                    column_potential[column] -= to_column[end] - to_column[column]
            amount, row = min(left, need[end]), row_before[end]
            while row != source:  # only so much can be taken back along the path
                amount = min(amount, moved[row, column_before[row]])
                row = row_before[column_before[row]]
            row, column = row_before[end], end
            moved[row, column] += amount
            while row != source:
                column = column_before[row]
                moved[row, column] -= amount
                row = row_before[column]
                moved[row, column] += amount
            need[end] -= amount
            left -= amount
    return float((moved * similarity).sum())
