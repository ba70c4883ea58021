"""Nearest neighbors: of held-out rows, for votes and means that equal scikit-learn's; and of all rows, for Relief.

*Votes and means* are those of many cells. Distances are sums of squared differences in the order of the columns, as
scikit-learn's trees compute them; its brute force subtracts squared norms instead, which rounds otherwise. Rows whose
squared distances differ by no more than both can be off (:func:`_margin`) *tie*. A tie at rank k counts where
the answer depends on which of the tied rows are taken; such a cell is left to scikit-learn. A row
that counts c times is c neighbors.

*Relief* (:func:`weigh_features`) weighs each feature by how much more rows differ in it from their nearest rows of
other classes than from those of the same class, or (:func:`weigh_features_by_numbers`) by how much more it differs
between near rows whose targets differ; distances are sums of |difference| / range.

``test_recognized_models.py`` compares with scikit-learn.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.jit import exact_step, frozen, kernel
from holdfast.kernels.linear import allocate, has_all_classes, take, take_cell
from holdfast.kernels.tolerances import DISTANCE_ROUNDING, SAME_DISTANCE, SAME_WEIGHT

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint32]

SHARED_ROWS = 5_000
"""Up to so many rows all distances are held in memory; beyond, they are computed anew for each resample."""

TILE_ROWS, BLOCK_FEATURES = 128, 32
"""Rows of a tile of distances, and features that are added to it at a time: both fit into the first cache."""

FINEST = 2.0**-32
"""Distances are whole numbers of this share of the largest possible, so that equal ones tie in spite of rounding."""

EMPTY, INDEX = np.uint64(2**64 - 1), np.uint64(2**32 - 1)
"""No neighbor, and the bits of a neighbor that hold its index."""

# Votes and means


class Search(NamedTuple):
    """Training rows of a cell, and the nearest of them to one held-out row."""

    train: NDArray[np.float64]  # columns × rows
    test: NDArray[np.float64]  # columns × held-out rows
    counts: NDArray[np.int64]
    norm: NDArray[np.float64]  # squared, of the training rows
    distance: NDArray[np.float64]  # squared
    nearest: NDArray[np.int64]  # training rows by distance, as many as it takes to count k
    weight: NDArray[np.float64]  # of each of the nearest, copies included
    largest_norm: float


@exact_step
def _begin(cell, k):  # type: ignore[no-untyped-def]
    """Make the search of a cell; also returns whether it has k rows, and squared norms that are finite."""
    n = cell.rows.size
    max_found = min(k, n) + 1
    norm, total, largest = np.zeros(n), 0, 0.0
    for j in range(cell.train.shape[0]):
        for t in range(n):
            norm[t] += cell.train[j, t] ** 2
    for t in range(n):
        total += cell.counts[t]
        largest = max(largest, norm[t])
    search = Search(
        cell.train,
        cell.test,
        cell.counts,
        norm,
        np.empty(n),
        np.empty(max_found, np.int64),
        np.empty(max_found),
        largest,
    )
    return search, total >= k and np.isfinite(largest)


@exact_step
def _measure(search, i):  # type: ignore[no-untyped-def]
    """Set the squared distances of held-out row i; returns its squared norm."""
    (p, _), n, distance, norm = search.train.shape, search.distance.size, search.distance, 0.0
    for t in range(n):
        distance[t] = 0.0
    for j in range(0, p - 3, 4):  # four columns at a time pass through memory once; the sum has the same order
        x0, x1, x2, x3 = search.test[j, i], search.test[j + 1, i], search.test[j + 2, i], search.test[j + 3, i]
        z0, z1, z2, z3 = search.train[j], search.train[j + 1], search.train[j + 2], search.train[j + 3]
        for t in range(n):
            d0, d1, d2, d3 = z0[t] - x0, z1[t] - x1, z2[t] - x2, z3[t] - x3
            distance[t] = distance[t] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
    for j in range(p - p % 4, p):
        x, z = search.test[j, i], search.train[j]
        for t in range(n):
            distance[t] += (z[t] - x) * (z[t] - x)
    for j in range(p):
        norm += search.test[j, i] ** 2
    return norm


@exact_step
def _find_nearest(search, k):  # type: ignore[no-untyped-def]
    """Set the nearest rows that count at least k together; returns how many they are."""
    n_found, total, edge = 0, 0, np.inf
    for t in range(search.distance.size):
        distance = search.distance[t]
        if distance >= edge and total >= k:
            continue
        position = n_found
        while position > 0 and search.distance[search.nearest[position - 1]] > distance:
            search.nearest[position] = search.nearest[position - 1]
            position -= 1
        search.nearest[position] = t
        n_found += 1
        total += search.counts[t]
        while total - search.counts[search.nearest[n_found - 1]] >= k:
            n_found -= 1
            total -= search.counts[search.nearest[n_found]]
        edge = search.distance[search.nearest[n_found - 1]]
    return n_found


@exact_step
def _margin(search, norm, from_tree, t, u):  # type: ignore[no-untyped-def]
    """By how much the squared distances of two training rows to a row of this squared norm may be off, together.

    A tree's are off by the rounding of scaled values alone; those of brute force by that of the squared norms.
    """
    norms, squared = norm + max(search.norm[t], search.norm[u]), max(search.distance[t], search.distance[u])
    blurred = np.sqrt(norms * squared) if from_tree else norms
    return DISTANCE_ROUNDING * (search.train.shape[0] + 4) * blurred + SAME_DISTANCE * squared


@exact_step
def _widest_margin(search, norm, squared):  # type: ignore[no-untyped-def]
    """Bound the margin of any row that ties with one at this squared distance."""
    blurred = 2 * DISTANCE_ROUNDING * (search.train.shape[0] + 4) * (norm + search.largest_norm)
    return blurred + 2 * SAME_DISTANCE * (squared + blurred)


@exact_step
def _weigh(search, n_found, k, norm, by_distance, from_tree):  # type: ignore[no-untyped-def]
    """Set the weights of the nearest rows; returns whether they are surely scikit-learn's, and whether exactly.

    A row at no distance at all has all the weight, as in scikit-learn, if its brute force could not see a distance.
    """
    left, exact = k, not by_distance or search.distance[search.nearest[0]] == 0
    sure = from_tree or not (by_distance and exact)
    for position in range(n_found):
        t = search.nearest[position]
        taken, squared = min(left, search.counts[t]), search.distance[t]
        left -= taken
        if not by_distance:
            search.weight[position] = taken
            continue
        sure = sure and (squared == 0 or _margin(search, norm, from_tree, t, t) <= SAME_WEIGHT * squared)
        if exact:
            search.weight[position] = taken if squared == 0 else 0
        else:
            search.weight[position] = taken / np.sqrt(squared)
    return sure, exact


@exact_step
def _lowest_vote_wins(sure_votes, tied_votes, n_open):  # type: ignore[no-untyped-def]
    """Whether the class with most votes is the same whichever of the tied rows are among the k."""
    n_classes, total = sure_votes.size, 0
    for c in range(n_classes):
        total += tied_votes[c]
    for best in range(n_classes):
        wins = True
        for c in range(n_classes):
            if c != best:
                against = min(tied_votes[c], n_open)
                rest = n_open - against
                forced = max(0, rest - (total - tied_votes[c] - tied_votes[best]))
                lead = sure_votes[best] + forced - sure_votes[c] - against
                wins = wins and (lead > 0 or (lead == 0 and best < c))
        if wins:
            return True
    return False


@exact_step
def _ties_change_votes(search, labels, n_found, k, norm, from_tree, label_only, sure_votes, tied_votes):  # type: ignore[no-untyped-def]
    """Whether rows that tie at rank k leave open which votes are counted."""
    last = search.nearest[n_found - 1]
    edge, n_sure, n_tied, n_tied_classes = search.distance[last], 0, 0, 0
    for c in range(sure_votes.size):
        sure_votes[c], tied_votes[c] = 0, 0
    widest = _widest_margin(search, norm, edge)
    for t in range(search.distance.size):
        apart = search.distance[t] - edge
        if apart > widest:
            continue
        if apart >= -widest and abs(apart) <= _margin(search, norm, from_tree, t, last):
            n_tied_classes += tied_votes[labels[t]] == 0
            tied_votes[labels[t]] += search.counts[t]
            n_tied += search.counts[t]
        elif apart < 0:
            sure_votes[labels[t]] += search.counts[t]
            n_sure += search.counts[t]
    if n_tied_classes <= 1 or n_sure + n_tied == k:
        return False
    return not (label_only and _lowest_vote_wins(sure_votes, tied_votes, k - n_sure))


@exact_step
def _ties_change_mean(search, targets, n_found, k, norm, from_tree):  # type: ignore[no-untyped-def]
    """Whether rows that tie at rank k leave open which numbers are averaged."""
    last = search.nearest[n_found - 1]
    total, alike, widest = 0, True, _widest_margin(search, norm, search.distance[last])
    for t in range(search.distance.size):
        apart = search.distance[t] - search.distance[last]
        if apart > widest:
            continue
        tied = apart >= -widest and abs(apart) <= _margin(search, norm, from_tree, t, last)
        if tied or apart < 0:
            total += search.counts[t]
        alike = alike and (not tied or targets[t] == targets[last])
    return not alike and total > k


@exact_step
def _vote(search, labels, n_found, weights_exact, votes):  # type: ignore[no-untyped-def]
    """Set each class's share of the weights; returns the class of the most, and whether scikit-learn's is it."""
    for c in range(votes.size):
        votes[c] = 0.0
    for position in range(n_found):
        votes[labels[search.nearest[position]]] += search.weight[position]
    best, total, sure = 0, 0.0, True
    for c in range(votes.size):
        total += votes[c]
        best = c if votes[c] > votes[best] else best
    for c in range(votes.size):
        sure = sure and (weights_exact or c == best or votes[best] - votes[c] > SAME_WEIGHT * votes[best])
    for c in range(votes.size):
        votes[c] /= total
    return best, sure


@kernel
def neighbor_votes(cells, y, k, kind, by_distance, tree, label_only, predicted, shares, fallback):  # type: ignore[no-untyped-def]
    """Set the class of most weight, and each class's share of the weight, for the held-out rows of every cell.

    ``tree`` says for each cell whether scikit-learn would search a tree. With ``label_only`` the shares of a row may
    not be scikit-learn's, where ties leave the class alone.
    """
    work = allocate(cells)
    sure_votes, tied_votes = np.zeros(shares.shape[1], np.int64), np.zeros(shares.shape[1], np.int64)
    for number in range(cells.splits.size):
        cell, scaled = take_cell(cells, number, kind, work)
        search, valid = _begin(cell, k)
        labels = take(y, cell.rows)
        valid = valid and scaled and has_all_classes(labels, sure_votes)
        for i in range(cell.n_tests if valid else 0):
            row = cell.start + i
            norm = _measure(search, i)
            n_found = _find_nearest(search, k)
            sure, exact = _weigh(search, n_found, k, norm, by_distance, tree[number])
            predicted[row], sure_vote = _vote(search, labels, n_found, exact, shares[row])
            tied = _ties_change_votes(
                search, labels, n_found, k, norm, tree[number], label_only and not by_distance, sure_votes, tied_votes
            )
            valid = sure and sure_vote and not tied and np.isfinite(search.distance[search.nearest[n_found - 1]] + norm)
            if not valid:
                break
        fallback[number] = not valid


@kernel
def neighbor_means(cells, y, k, kind, by_distance, tree, predicted, fallback):  # type: ignore[no-untyped-def]
    """Set the weighted mean of the neighbors' numbers for the held-out rows of every cell."""
    work = allocate(cells)
    for number in range(cells.splits.size):
        cell, scaled = take_cell(cells, number, kind, work)
        search, valid = _begin(cell, k)
        targets, valid = take(y, cell.rows), valid and scaled
        for i in range(cell.n_tests if valid else 0):
            norm = _measure(search, i)
            n_found = _find_nearest(search, k)
            sure, _ = _weigh(search, n_found, k, norm, by_distance, tree[number])
            total, weighted = 0.0, 0.0
            for position in range(n_found):
                total += search.weight[position]
                weighted += search.weight[position] * targets[search.nearest[position]]
            predicted[cell.start + i] = weighted / total
            tied = _ties_change_mean(search, targets, n_found, k, norm, tree[number])
            valid = sure and not tied and np.isfinite(search.distance[search.nearest[n_found - 1]] + norm)
            if not valid:
                break
        fallback[number] = not valid


# Relief


class Ranges(NamedTuple):
    """Rows with the minimum and width of each feature, and the distances if they are shared."""

    X: Floats
    low: Floats
    width: Floats
    keys: Keys | None


def split_ranges(X: Floats, counts: ArrayLike) -> Ranges:
    """Ranges over the rows of one resample."""
    X = frozen(X, np.float64)
    used = X[np.flatnonzero(counts)]
    return Ranges(X, frozen(used.min(axis=0), np.float64), frozen(np.ptp(used, axis=0), np.float64), None)


def shared_ranges(X: Floats) -> Ranges:
    """Ranges over all rows; with the distances of all rows, unless there are more than :data:`SHARED_ROWS`."""
    ranges = split_ranges(X, np.ones(len(X)))
    if len(X) > SHARED_ROWS:
        return ranges
    keys = np.zeros((len(X), len(X)), np.uint32)
    for first, second, tile in _tiles(ranges, frozen(np.arange(len(X)), np.int64)):
        keys[first, second], keys[second, first] = tile, tile.T
    return ranges._replace(keys=frozen(keys, np.uint32))


def weigh_features(ranges: Ranges, y: ArrayLike, counts: ArrayLike, n_neighbors: int = 10) -> Floats:
    r"""Weigh all features on one resample: every row is compared with its nearest rows of each class.

    A row of class c lowers the weight of a feature by its mean |difference| / range to the nearest rows of c, and
    raises it by that to the nearest rows of each other class c′, times :math:`P(c') / (1 - P(c))`. The weight is the
    mean over all rows, from -1 to 1.

    A row that counts w times is w rows, and counts up to w times among the nearest. Rows of the same class that
    equal a row in all features (its copies) are never among its nearest. Equally near rows are taken in the order of
    ``X``. If there are fewer than ``n_neighbors`` rows, those that there are; a row without another one of its class is
    compared with the other classes only, and rows of the only class only with each other. A feature that does not vary
    has weight 0.

    References
    ----------
    Kononenko (1994); Robnik-Šikonja and Kononenko (2003).
    """
    rows = frozen(np.flatnonzero(counts), np.int64)
    _, classes = np.unique(np.asarray(y)[rows], return_inverse=True)
    labels = frozen(classes, np.int64)
    nearest = _nearest(ranges, rows, labels, n_neighbors)
    drawn = np.asarray(counts)[rows].astype(np.int64)
    pairs = _pairs(nearest, drawn, _influence(labels, drawn), np.arange(n_neighbors + 1.0))
    return _sum_differences(ranges, rows, *pairs)


def weigh_features_by_numbers(
    ranges: Ranges, y: ArrayLike, counts: ArrayLike, n_neighbors: int = 10, sigma: float | None = None
) -> Floats:
    r"""Weigh all features on one resample by RReliefF: every row is compared with its nearest rows.

    With the shares :math:`d_{ij}` of the pairs, which add to 1 over all, the differences :math:`\delta_{ij}(f)` of a
    feature and :math:`\delta_{ij}(y)` of the target, relative to their ranges,

    .. math:: W_f = \frac{\sum d\, \delta(y)\, \delta(f)}{\sum d\, \delta(y)}
              - \frac{\sum d\, (1 - \delta(y))\, \delta(f)}{1 - \sum d\, \delta(y)}

    The nearest rows of a row share its weight equally, or by :math:`e^{-(\text{rank} / \sigma)^2}`. Rows that equal it
    in all features (its copies) are never among them. Where no targets differ, all weights are 0; the range of the
    target is that of the resample. Counts, ties and constant features as in :func:`weigh_features`.

    References
    ----------
    Robnik-Šikonja and Kononenko (1997, 2003).
    """
    rows, target = frozen(np.flatnonzero(counts), np.int64), np.asarray(y, dtype=np.float64)
    drawn, one_class = np.asarray(counts)[rows].astype(np.int64), frozen(np.zeros(rows.size), np.int64)
    rank = np.arange(n_neighbors + 1.0)
    reached = rank if sigma is None else np.r_[0.0, np.cumsum(np.exp(-((rank[1:] / sigma) ** 2)))]
    nearest = _nearest(ranges, rows, one_class, n_neighbors)
    first, second, shares = _pairs(nearest, drawn, (drawn / drawn.sum())[:, None], reached)
    spread = np.ptp(target[rows])
    if not (spread > 0 and shares.size):
        return np.zeros(ranges.X.shape[1])
    differs = shares * (np.abs(target[rows[first]] - target[rows[second]]) / spread)
    of_all, of_differing = (_sum_differences(ranges, rows, first, second, part) for part in (shares, differs))
    change, total = differs.sum(), shares.sum()
    weights = of_differing / change if change > 0 else np.zeros(of_all.size)
    return weights - ((of_all - of_differing) / (total - change) if total > change else 0.0)


def _nearest(ranges: Ranges, rows: Ints, labels: Ints, n_neighbors: int) -> NDArray[np.uint64]:
    """Distance (upper half) and index (lower half) of the nearest rows of each row, in each class."""
    n_classes = int(labels.max(initial=0)) + 1
    nearest = np.full((rows.size, n_classes, n_neighbors), EMPTY, np.uint64)
    if ranges.keys is not None:
        _offer(frozen(ranges.keys, np.uint32), rows, rows, 0, 0, labels, nearest)
        return nearest
    positions = frozen(np.arange(TILE_ROWS), np.int64)
    for first, second, tile in _tiles(ranges, rows):
        height, width = tile.shape
        _offer(tile, positions[:height], positions[:width], first.start, second.start, labels, nearest)
    return nearest


def _tiles(ranges: Ranges, rows: Ints) -> Iterator[tuple[slice, slice, Keys]]:
    """Distances between all rows, a tile at a time; a tile and its mirror image come once."""
    finest = np.count_nonzero(ranges.width) * FINEST
    values = [frozen(array, np.float64) for array in ranges[:3]]  # a process that received them made them writable
    borders = range(0, rows.size, TILE_ROWS)
    for start in borders:
        first = slice(start, min(start + TILE_ROWS, rows.size))
        for other in borders[start // TILE_ROWS :]:
            second = slice(other, min(other + TILE_ROWS, rows.size))
            tile = np.zeros((first.stop - start, second.stop - other), np.uint32)
            _tile_keys(*values, rows[first], rows[second], finest, start == other, tile)
            yield first, second, frozen(tile, np.uint32)


def _sum_differences(ranges: Ranges, rows: Ints, first: Ints, second: Ints, shares: Floats) -> Floats:
    """Sum the |difference| / range of each feature over pairs of rows, times their shares."""
    sums = np.zeros(ranges.X.shape[1])
    pairs = _group_pairs(first, second, shares, rows.size)
    _add_differences(frozen(ranges.X, np.float64), rows, *pairs, sums)
    return sums / np.where(ranges.width > 0, ranges.width, 1)


def _pairs(nearest: NDArray[np.uint64], counts: Ints, influence: Floats, reached: Floats) -> tuple[Ints, Ints, Floats]:
    """Which rows are compared, and the share of their difference in the weights.

    ``reached`` is what the nearest 0, 1, … rows of a row weigh together; ``influence`` is rows × classes.
    """
    partner = (nearest & INDEX).astype(np.int64)
    present = nearest != EMPTY
    offered = np.where(present, counts[np.where(present, partner, 0)], 0)
    before = np.cumsum(offered, axis=2) - offered
    n_taken = np.clip(nearest.shape[2] - before, 0, offered)
    filled = reached[n_taken.sum(axis=2, keepdims=True)]
    begin = np.minimum(before, nearest.shape[2])
    taken = reached[begin + n_taken] - reached[begin]
    shares = taken / np.where(filled > 0, filled, 1.0) * influence[:, :, None]
    probe = np.broadcast_to(np.arange(counts.size)[:, None, None], shares.shape)
    used = n_taken > 0
    return probe[used], partner[used], shares[used]


def _influence(labels: Ints, counts: Ints) -> Floats:
    """What the mean difference of each row to its nearest of each class counts."""
    sizes = np.bincount(labels, weights=counts)
    others = counts.sum() - sizes[labels]
    influence = sizes / np.maximum(others, 1)[:, None]
    influence[np.arange(labels.size), labels] = -1
    return influence * (counts / counts.sum())[:, None]


def _group_pairs(first: Ints, second: Ints, shares: Floats, n_rows: int) -> tuple[Ints, Ints, Floats]:
    """Add up what falls on the same two rows: pointers by the lower row, the higher row, the share."""
    codes, group = np.unique(np.minimum(first, second) * n_rows + np.maximum(first, second), return_inverse=True)
    pointers = np.searchsorted(codes, np.arange(n_rows + 1) * n_rows).astype(np.int64)
    return pointers, codes % n_rows, np.bincount(group, weights=shares, minlength=codes.size).astype(np.float64)


@kernel
def _scaled(X, low, width, rows, start, stop, scaled):  # type: ignore[no-untyped-def]
    """Divide features start to stop of these rows by their ranges: features × rows, 0 where a feature is constant."""
    scaled[stop - start :] = 0.0
    for i in range(rows.size):
        for feature in range(start, stop):
            spread = width[feature]
            scaled[feature - start, i] = (X[rows[i], feature] - low[feature]) / spread if spread > 0 else 0.0


@kernel
def _tile_keys(X, low, width, first, second, finest, same, keys):  # type: ignore[no-untyped-def]
    distances = np.zeros((first.size, second.size))
    A, B = np.empty((BLOCK_FEATURES, first.size)), np.empty((BLOCK_FEATURES, second.size))
    for start in range(0, X.shape[1], BLOCK_FEATURES):
        stop = min(start + BLOCK_FEATURES, X.shape[1])
        _scaled(X, low, width, first, start, stop, A)
        _scaled(X, low, width, second, start, stop, B)
        for row in range(first.size):
            from_other = row + 1 if same else 0
            out = distances[row, from_other:]
            for feature in range(0, BLOCK_FEATURES, 4):  # four at a time: the sums are loaded and stored less often
                a, b, c, d = A[feature, row], A[feature + 1, row], A[feature + 2, row], A[feature + 3, row]
                in_a, in_b = B[feature, from_other:], B[feature + 1, from_other:]
                in_c, in_d = B[feature + 2, from_other:], B[feature + 3, from_other:]
                for other in range(out.size):
                    out[other] += (abs(in_a[other] - a) + abs(in_b[other] - b)) + (
                        abs(in_c[other] - c) + abs(in_d[other] - d)
                    )
    for row in range(first.size):
        for other in range(row + 1 if same else 0, second.size):
            distance = distances[row, other]
            if distance > 0:  # only rows that are equal have distance 0
                keys[row, other] = min(max(np.rint(distance / finest), 1.0), 4294967294.0)
            if same:
                keys[other, row] = keys[row, other]


@kernel
def _offer(keys, first, second, first_start, second_start, labels, nearest):  # type: ignore[no-untyped-def]
    """Offer every row of each side to every row of the other as a neighbor."""
    for row in range(first.size):
        index = first_start + row
        for other in range(row + 1 if first_start == second_start else 0, second.size):
            other_index = second_start + other
            key = np.uint64(keys[first[row], second[other]])
            if key > 0 or labels[index] != labels[other_index]:
                _insert(nearest[index, labels[other_index]], key << np.uint64(32) | np.uint64(other_index))
                _insert(nearest[other_index, labels[index]], key << np.uint64(32) | np.uint64(index))


@kernel
def _insert(entries, entry):  # type: ignore[no-untyped-def]
    """Keep the least entries in rising order."""
    position = entries.size - 1
    if entry < entries[position]:
        while position > 0 and entries[position - 1] > entry:
            entries[position] = entries[position - 1]
            position -= 1
        entries[position] = entry


@kernel
def _add_differences(X, rows, pointers, others, shares, sums):  # type: ignore[no-untyped-def]
    n_features = X.shape[1]
    width = 256  # features at a time, so that these columns of all rows stay in the cache
    for start in range(0, n_features, width):
        stop = min(start + width, n_features)
        out = sums[start:stop]
        for row in range(rows.size):
            x = X[rows[row], start:stop]
            entry, end = pointers[row], pointers[row + 1]
            while entry < end:  # four at a time; beyond the end the first again, with share 0
                b, c, d = min(entry + 1, end - 1), min(entry + 2, end - 1), min(entry + 3, end - 1)
                in_a = shares[entry]
                in_b = shares[b] if entry + 1 < end else 0.0
                in_c = shares[c] if entry + 2 < end else 0.0
                in_d = shares[d] if entry + 3 < end else 0.0
                x_a, x_b = X[rows[others[entry]], start:stop], X[rows[others[b]], start:stop]
                x_c, x_d = X[rows[others[c]], start:stop], X[rows[others[d]], start:stop]
                for column in range(stop - start):
                    out[column] += (in_a * abs(x[column] - x_a[column]) + in_b * abs(x[column] - x_b[column])) + (
                        in_c * abs(x[column] - x_c[column]) + in_d * abs(x[column] - x_d[column])
                    )
                entry += 4
