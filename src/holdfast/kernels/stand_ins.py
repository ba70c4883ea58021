"""What two sets of features share when a similar feature may stand in for a missing one.

For two sets V and V′ and a sparse, thresholded feature similarity, with A = V∖V′ and B = V′∖V, each row of the result
holds the quantities that the redundancy-aware measures are made of; :data:`COLUMNS` names them.
"""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import kernel

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
        for place in range(size):
            last = n_features - size + place
            candidate = int(uniforms[row, place] * (last + 1))
            if taken[candidate]:
                candidate = last
            taken[candidate] = 1
            sets[row, place] = candidate
        for place in range(size):
            taken[sets[row, place]] = 0


@kernel
def _one_way(own, other, in_own, in_other, ptr, nbr, sim):  # type: ignore[no-untyped-def]
    """Features of own∖other that are covered, the sum of their mean similarities, the cross sum, the edges' number."""
    covered, means, cross, n_edges = 0, 0.0, 0.0, 0
    for x in own:
        total, similar = 0.0, 0
        for place in range(ptr[x], ptr[x + 1]):
            y = nbr[place]
            if in_other[y] and not in_own[y]:
                total += sim[place]
                similar += 1
        cross += total
        if similar > 0 and not in_other[x]:
            covered += 1
            means += total / similar
            n_edges += similar
    return covered, means, cross, n_edges


@kernel
def _edges(own, in_own, in_other, ptr, nbr, sim, n_edges):  # type: ignore[no-untyped-def]
    """All similar pairs (x in own∖other, y in other∖own), grouped by x."""
    x_of, y_of, s_of = np.empty(n_edges, np.int64), np.empty(n_edges, np.int64), np.empty(n_edges)
    n = 0
    for x in own:
        if not in_other[x]:
            for place in range(ptr[x], ptr[x + 1]):
                y = nbr[place]
                if in_other[y] and not in_own[y]:
                    x_of[n], y_of[n], s_of[n] = x, y, sim[place]
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
def _maximum_matching(x_of, y_of, mate, reached_from, place_of):  # type: ignore[no-untyped-def]
    """Size of a maximum matching, by breadth-first augmenting paths from each x in turn."""
    n_edges = x_of.size
    begin = np.zeros(n_edges + 1, np.int64)  # edges of the same x are neighbors
    n_x = 0
    for e in range(n_edges):
        if e == 0 or x_of[e] != x_of[e - 1]:
            begin[n_x] = e
            n_x += 1
    begin[n_x] = n_edges
    for g in range(n_x):
        place_of[x_of[begin[g]]] = g
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
                queue[tail] = place_of[mate[y]]
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
    place_of = np.empty(n_features, np.int64)
    for pair in range(first.size):
        own = indices[indptr[first[pair]] : indptr[first[pair] + 1]]
        other = indices[indptr[second[pair]] : indptr[second[pair] + 1]]
        for x in own:
            in_first[x] = True
        shared = 0
        for y in other:
            in_second[y] = True
            shared += in_first[y]
        forth = _one_way(own, other, in_first, in_second, ptr, nbr, sim)
        back = _one_way(other, own, in_second, in_first, ptr, nbr, sim)
        row = out[pair]
        row[0], row[1], row[2], row[5], row[6], row[7], row[8] = (
            shared, forth[0], back[0], forth[1], back[1], forth[2], back[2],
        )  # fmt: skip
        if matching or greedy:
            x_of, y_of, s_of = _edges(own, in_first, in_second, ptr, nbr, sim, forth[3])
            if matching:
                row[3] = _maximum_matching(x_of, y_of, mate, reached_from, place_of)
            if greedy:
                row[4] = _greedy_pairs(x_of, y_of, s_of, n_features, mate)
        for x in own:
            in_first[x] = False
        for y in other:
            in_second[y] = False
