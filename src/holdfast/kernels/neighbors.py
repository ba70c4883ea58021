"""Nearest neighbors of held-out rows, for many cells: votes and means that equal scikit-learn's.

Distances are sums of squared differences in the order of the columns, as scikit-learn's trees compute them; its brute
force subtracts squared norms instead, which rounds otherwise. Rows whose squared distances differ by no more than both
can be off (:func:`_margin`) *tie*. A tie at the k-th place counts where the answer depends on which of the tied rows
are taken; such a cell is given up, so that scikit-learn may answer. A row that counts c times is c neighbors.

``tests/test_recognized_models.py`` compares with scikit-learn.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import exact_step, kernel
from holdfast.kernels.scaling import has_all_classes, make_room, take, take_cell
from holdfast.kernels.tolerances import DISTANCE_ROUNDING, SAME_DISTANCE, SAME_WEIGHT


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
    found = min(k, n) + 1
    norm, total, largest = np.zeros(n), 0, 0.0
    for j in range(cell.train.shape[0]):
        for t in range(n):
            norm[t] += cell.train[j, t] ** 2
    for t in range(n):
        total += cell.counts[t]
        largest = max(largest, norm[t])
    search = Search(
        cell.train, cell.test, cell.counts, norm, np.empty(n), np.empty(found, np.int64), np.empty(found), largest
    )
    return search, total >= k and np.isfinite(largest)


@exact_step
def _measure(search, i):  # type: ignore[no-untyped-def]
    """Set the squared distances of held-out row i; returns its squared norm."""
    (p, _), n, distance, norm = search.train.shape, search.distance.size, search.distance, 0.0
    for t in range(n):
        distance[t] = 0.0
    for j in range(0, p - 3, 4):  # four columns at a time pass through memory once; the order of the sum is kept
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
    found, total, edge = 0, 0, np.inf
    for t in range(search.distance.size):
        own = search.distance[t]
        if own >= edge and total >= k:
            continue
        place = found
        while place > 0 and search.distance[search.nearest[place - 1]] > own:
            search.nearest[place] = search.nearest[place - 1]
            place -= 1
        search.nearest[place] = t
        found += 1
        total += search.counts[t]
        while total - search.counts[search.nearest[found - 1]] >= k:
            found -= 1
            total -= search.counts[search.nearest[found]]
        edge = search.distance[search.nearest[found - 1]]
    return found


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
def _weigh(search, found, k, norm, by_distance, from_tree):  # type: ignore[no-untyped-def]
    """Set the weights of the nearest rows; returns whether they are surely scikit-learn's, and whether exactly.

    A row at no distance at all has all the weight, as in scikit-learn, if its brute force could not see a distance.
    """
    left, exact = k, not by_distance or search.distance[search.nearest[0]] == 0
    sure = from_tree or not (by_distance and exact)
    for place in range(found):
        t = search.nearest[place]
        taken, squared = min(left, search.counts[t]), search.distance[t]
        left -= taken
        if not by_distance:
            search.weight[place] = taken
            continue
        sure = sure and (squared == 0 or _margin(search, norm, from_tree, t, t) <= SAME_WEIGHT * squared)
        if exact:
            search.weight[place] = taken if squared == 0 else 0
        else:
            search.weight[place] = taken / np.sqrt(squared)
    return sure, exact


@exact_step
def _lowest_vote_wins(sure_votes, tied_votes, places):  # type: ignore[no-untyped-def]
    """Whether the class with most votes is the same whichever of the tied rows fill the places left."""
    n_classes, total = sure_votes.size, 0
    for c in range(n_classes):
        total += tied_votes[c]
    for best in range(n_classes):
        wins = True
        for c in range(n_classes):
            if c != best:
                against = min(tied_votes[c], places)
                rest = places - against
                forced = max(0, rest - (total - tied_votes[c] - tied_votes[best]))
                lead = sure_votes[best] + forced - sure_votes[c] - against
                wins = wins and (lead > 0 or (lead == 0 and best < c))
        if wins:
            return True
    return False


@exact_step
def _ties_change_votes(search, labels, found, k, norm, from_tree, label_only, sure_votes, tied_votes):  # type: ignore[no-untyped-def]
    """Whether rows that tie at the k-th place leave open which votes are counted."""
    last = search.nearest[found - 1]
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
def _ties_change_mean(search, targets, found, k, norm, from_tree):  # type: ignore[no-untyped-def]
    """Whether rows that tie at the k-th place leave open which numbers are averaged."""
    last = search.nearest[found - 1]
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
def _vote(search, labels, found, weights_exact, votes):  # type: ignore[no-untyped-def]
    """Set each class's share of the weights; returns the class of the most, and whether scikit-learn's is it."""
    for c in range(votes.size):
        votes[c] = 0.0
    for place in range(found):
        votes[labels[search.nearest[place]]] += search.weight[place]
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
def neighbor_votes(cells, y, k, kind, by_distance, tree, label_only, predicted, shares, given_up):  # type: ignore[no-untyped-def]
    """Set the class of most weight, and each class's share of the weight, for the held-out rows of every cell.

    ``tree`` tells for each cell whether scikit-learn would search a tree. With ``label_only`` the shares of a row may
    not be scikit-learn's, where ties leave the class alone.
    """
    room = make_room(cells)
    sure_votes, tied_votes = np.zeros(shares.shape[1], np.int64), np.zeros(shares.shape[1], np.int64)
    for number in range(cells.splits.size):
        cell, scaled = take_cell(cells, number, kind, room)
        search, fine = _begin(cell, k)
        labels = take(y, cell.rows)
        fine = fine and scaled and has_all_classes(labels, sure_votes)
        for i in range(cell.n_tests if fine else 0):
            at = cell.start + i
            norm = _measure(search, i)
            found = _find_nearest(search, k)
            sure, exact = _weigh(search, found, k, norm, by_distance, tree[number])
            predicted[at], sure_vote = _vote(search, labels, found, exact, shares[at])
            tied = _ties_change_votes(
                search, labels, found, k, norm, tree[number], label_only and not by_distance, sure_votes, tied_votes
            )
            fine = sure and sure_vote and not tied and np.isfinite(search.distance[search.nearest[found - 1]] + norm)
            if not fine:
                break
        given_up[number] = not fine


@kernel
def neighbor_means(cells, y, k, kind, by_distance, tree, predicted, given_up):  # type: ignore[no-untyped-def]
    """Set the weighted mean of the neighbors' numbers for the held-out rows of every cell."""
    room = make_room(cells)
    for number in range(cells.splits.size):
        cell, scaled = take_cell(cells, number, kind, room)
        search, fine = _begin(cell, k)
        targets, fine = take(y, cell.rows), fine and scaled
        for i in range(cell.n_tests if fine else 0):
            norm = _measure(search, i)
            found = _find_nearest(search, k)
            sure, _ = _weigh(search, found, k, norm, by_distance, tree[number])
            total, weighted = 0.0, 0.0
            for place in range(found):
                total += search.weight[place]
                weighted += search.weight[place] * targets[search.nearest[place]]
            predicted[cell.start + i] = weighted / total
            tied = _ties_change_mean(search, targets, found, k, norm, tree[number])
            fine = sure and not tied and np.isfinite(search.distance[search.nearest[found - 1]] + norm)
            if not fine:
                break
        given_up[number] = not fine
