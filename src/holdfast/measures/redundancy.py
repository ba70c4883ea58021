"""Measures of subsets in which a similar feature can stand in for a missing one.

For two sets V and V′ of sizes k and k′, with A = V∖V′ and B = V′∖V, a *credit* counts the shared features and those of
A and B that can stand in for each other; it is compared with the most it can be, its *ceiling*, and for adjusted
measures with its expectation for random sets of these sizes.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.checks import is_number
from holdfast.kernels.intersections import move_shares, random_sets, stand_in_counts
from holdfast.measures import forms
from holdfast.measures.forms import (
    ALL_PAIRS,
    CorrectedWhole,
    Floats,
    Form,
    Measure,
    PairValues,
    RatioTally,
    SetPairs,
    Tally,
    WholeTally,
    above_chance,
    log_choose,
    pair_roughness,
)
from holdfast.preferences import Preferences
from holdfast.similarity import FeatureSimilarity

Ints = NDArray[np.int64]

ALL_USED = 4000
"""Number of features ever selected up to which all their similarities are held in memory."""


class Pairs(NamedTuple):
    """Pairs of sets and what they share, each field an array (see :mod:`holdfast.kernels.intersections`)."""

    k1: Ints
    k2: Ints
    shared: Floats
    covered_first: Floats
    covered_second: Floats
    matched: Floats
    greedy: Floats
    mean_first: Floats
    mean_second: Floats
    cross_first: Floats
    cross_second: Floats


# Credits and ceilings


def one_way(pairs: Pairs) -> Floats:
    """Shared features, and those of the first set that have a similar one in the second."""
    return pairs.shared + pairs.covered_first


def both_ways(pairs: Pairs) -> Floats:
    """Shared features, and the mean number that have a similar one on the other side."""
    return pairs.shared + (pairs.covered_first + pairs.covered_second) / 2


def fewest_covered(pairs: Pairs) -> Floats:
    """Shared features, and the smaller number that have a similar one on the other side."""
    return pairs.shared + np.minimum(pairs.covered_first, pairs.covered_second)


def most_matched(pairs: Pairs) -> Floats:
    """Shared features, and the most pairs of similar ones that can be formed."""
    return pairs.shared + pairs.matched


def greedily_matched(pairs: Pairs) -> Floats:
    """Shared features, and the pairs of similar ones formed by falling similarity."""
    return pairs.shared + pairs.greedy


def mean_similarity(pairs: Pairs) -> Floats:
    """Shared features, and the smaller sum of mean similarities to the similar ones on the other side."""
    return pairs.shared + np.minimum(pairs.mean_first, pairs.mean_second)


def cross_similarity(pairs: Pairs) -> Floats:
    """Shared features, and the similarities across, per feature of the other set."""
    return pairs.shared + pairs.cross_first / pairs.k2 + pairs.cross_second / pairs.k1


def first_size(pairs: Pairs) -> Floats:
    """Size of the first set."""
    return pairs.k1.astype(float)


def mean_size(pairs: Pairs) -> Floats:
    """Arithmetic mean of the sizes."""
    return (pairs.k1 + pairs.k2) / 2


def geometric_size(pairs: Pairs) -> Floats:
    """Geometric mean of the sizes."""
    return np.sqrt(pairs.k1 * pairs.k2)


def union_size(pairs: Pairs) -> Floats:
    """Number of features in either set."""
    return pairs.k1 + pairs.k2 - pairs.shared


class Neighbors:
    """Which features are similar, laid out for counting, with the expectations found so far."""

    def __init__(self, similarity: FeatureSimilarity, threshold: float):
        self.similarity = similarity.above(threshold)
        others = self.similarity.copy()
        others.setdiag(0)
        others.eliminate_zeros()
        others.sort_indices()
        self.n_features = similarity.n_features
        self.degree = np.diff(others.indptr)
        self.rows = others.indptr.astype(np.int64), others.indices.astype(np.int32), others.data.astype(np.float64)
        self.expected: dict[Any, forms.Expectation] = {}

    @classmethod
    def of(cls, measure: Measure) -> "Neighbors":
        """Return the neighbors by the similarity and threshold of a measure, computed once and cached with it."""
        similarity, threshold = measure.parameters["similarity"], measure.parameters["threshold"]
        if not is_number(threshold) or not 0 < threshold <= 1:
            raise ValueError(f"Expected a threshold above 0 and up to 1, got {threshold}.")
        cached: dict[float, Neighbors] = similarity.__dict__.setdefault("_neighbors", {})
        if threshold not in cached:
            cached[threshold] = cls(similarity, threshold)
        return cached[threshold]

    def pairs(self, sets: Preferences, first: Ints, second: Ints, credits: Sequence[Callable[..., Floats]]) -> Pairs:
        """Count what the given pairs of runs share, as far as these credits need it."""
        counts = stand_in_counts(
            *sets.lists(), first, second, self.rows, self.n_features,
            matching=most_matched in credits, greedy=greedily_matched in credits,
        )  # fmt: skip
        return Pairs(sets.sizes[first], sets.sizes[second], *counts.T)

    def expectation(self, credit: Callable[[Pairs], Floats], k1: int, k2: int, draws: int) -> forms.Expectation:
        """Expected credit of random sets of these sizes; exact for those that count covered features."""
        key = credit, k1, k2, draws
        if key not in self.expected:
            shared = k1 * k2 / self.n_features
            if credit is one_way:
                expected = forms.Expectation(shared + self._covered(k1, k2))
            elif credit is both_ways:
                expected = forms.Expectation(shared + (self._covered(k1, k2) + self._covered(k2, k1)) / 2)
            else:
                values = partial(self._credit_of_pairs, credit)
                expected = forms.pair_expectation(values, k1, k2, self.n_features, draws=draws)
            self.expected[key] = expected
        return self.expected[key]

    def _credit_of_pairs(self, credit: Callable[[Pairs], Floats], sets: Preferences) -> Floats:
        first = np.arange(0, sets.n_runs, 2)
        return credit(self.pairs(sets, first, first + 1, [credit]))

    def _covered(self, k1: int, k2: int) -> float:
        """Expected number of features in V∖V′ with a similar one in V′∖V.

        Given that x is in V and not in V′, m of its n neighbors are in V (hypergeometric), and V′ misses the other
        n − m of them with a known probability.
        """
        d = self.n_features
        if k1 == 0 or k2 == d:
            return 0.0
        degrees, times = np.unique(self.degree, return_counts=True)
        missed = np.array([_all_missed(int(n), d - 1, k1 - 1, k2) for n in degrees])
        return float(k1 / d * (1 - k2 / d) * (times @ (1 - missed)))


def _all_missed(n: int, others: int, in_first: int, in_second: int) -> float:
    """Probability that the second set holds no neighbor outside the first."""
    m = np.arange(max(0, n + in_first - others), min(n, in_first) + 1)
    in_first_set = np.exp(log_choose(n, m) + log_choose(others - n, in_first - m) - log_choose(others, in_first))
    outside = n - m
    possible = others - outside >= in_second
    free = np.where(possible, others - outside, in_second)
    missed = np.where(possible, np.exp(log_choose(free, in_second) - log_choose(others, in_second)), 0)
    return float(in_first_set @ missed)


@dataclass(frozen=True)
class StandInPairs(SetPairs):
    """The mean over all pairs of credit / ceiling."""

    credit: Callable[[Pairs], Floats]
    ceiling: Callable[[Pairs], Floats]
    symmetric: bool = True

    @classmethod
    def values_together(
        cls, sets: Preferences, first: Ints, second: Ints, measures: Sequence[Measure]
    ) -> list[PairValues]:
        members: list[tuple[Any, Neighbors]] = [(measure.form, Neighbors.of(measure)) for measure in measures]
        credits: dict[Neighbors, list[Any]] = {}
        for form, neighbors in members:
            credits.setdefault(neighbors, []).append(form.credit)
        pairs = {neighbors: neighbors.pairs(sets, first, second, needed) for neighbors, needed in credits.items()}
        return [
            form.compared(pairs[neighbors], neighbors, measure)
            for (form, neighbors), measure in zip(members, measures, strict=True)
        ]

    def values(self, sets: Preferences, first: Ints, second: Ints, measure: Measure) -> PairValues:
        return self.values_together(sets, first, second, [measure])[0]

    def compared(self, pairs: Pairs, neighbors: Neighbors, measure: Measure) -> PairValues:
        """Compare the credit of pairs with the most it can be."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return PairValues(self.credit(pairs) / self.ceiling(pairs))


@dataclass(frozen=True)
class AdjustedStandIns(StandInPairs):
    """The mean over all pairs of (credit − expected) / (ceiling − expected)."""

    def compared(self, pairs: Pairs, neighbors: Neighbors, measure: Measure) -> PairValues:
        def expectation(k1: int, k2: int) -> forms.Expectation:
            if self.symmetric:
                k1, k2 = min(k1, k2), max(k1, k2)
            return neighbors.expectation(self.credit, k1, k2, measure.parameters.get("draws", forms.DRAWS))

        return above_chance(self.credit(pairs), self.ceiling(pairs), pairs.k1, pairs.k2, expectation)

    def corrected(self, measure: Measure) -> "AdjustedStandIns":
        """Return itself: it is corrected already."""
        return self


# Matching by similarity


@dataclass(frozen=True)
class MatchedPairs(SetPairs):
    """The mean over all pairs of the mean similarity in the best one-to-one matching of the two sets."""

    def values(self, sets: Preferences, first: Ints, second: Ints, measure: Measure) -> PairValues:
        indices, indptr = sets.lists()
        used, inverse = np.unique(indices.astype(np.int64), return_inverse=True)
        similarity: FeatureSimilarity = measure.parameters["similarity"]
        if used.size <= ALL_USED:
            similarity, indices = _Block(similarity.matching_block(used, used)), inverse.astype(np.int32)
        runs = np.split(indices.astype(np.int64), indptr[1:-1])
        blocks = (similarity.matching_block(runs[a], runs[b]) for a, b in zip(first, second, strict=True))
        return PairValues(np.array([best_matching(block) for block in blocks]))


class _Block(FeatureSimilarity):
    """Similarities that are all in memory."""

    def __init__(self, matrix: Floats):
        self.matrix = matrix

    def block(self, rows: Any, columns: Any) -> Floats:
        return self.matrix[np.ix_(rows, columns)]


def best_matching(similarities: Floats) -> float:
    """Mean similarity of the maximum-weight matching; ``nan`` if a set is empty."""
    from scipy.optimize import linear_sum_assignment  # a quarter of a second to import

    if 0 in similarities.shape:
        return np.nan
    return float(similarities[linear_sum_assignment(similarities, maximize=True)].mean())


# Transport


def transport_tally(shares: sp.csr_array, similarity: FeatureSimilarity, draws: int) -> RatioTally:
    """Sum the similarity at which each run's shares can be moved to another's, above that of random features."""
    if not (is_number(draws) and draws == int(draws) and 2 <= draws <= 10_000_000):
        raise ValueError(f"Expected a number of draws from 2 to 10 million to simulate an expectation, got {draws}.")
    n_runs, d = shares.shape
    runs, values = (np.split(part, shares.indptr[1:-1]) for part in (shares.indices.astype(np.int64), shares.data))
    counts = np.diff(shares.indptr) > 0
    counted = np.flatnonzero(counts)
    rng, expected = np.random.default_rng([d, counted.size]), np.full(int(draws), np.nan)
    for draw in range(expected.size if counted.size > 1 else 0):
        a, b = rng.choice(counted, 2, replace=False)
        first, second = (random_sets(rng.random((1, runs[run].size)), d)[0].astype(np.int64) for run in (a, b))
        placed = (rng.permutation(values[run]) for run in (a, b))
        expected[draw] = move_shares(similarity.block(first, second), *placed)
    used = np.unique(shares.indices)
    if used.size <= ALL_USED:
        similarity, runs = _Block(similarity.block(used, used)), [np.searchsorted(used, columns) for columns in runs]
    moved, chance = np.eye(n_runs), float(expected.mean())
    for a, b in itertools.combinations(counted, 2):
        moved[a, b] = moved[b, a] = move_shares(similarity.block(runs[a], runs[b]), values[a], values[b])
    together = np.outer(counts, counts) & ~np.eye(n_runs, dtype=bool)
    pairs = moved - chance, np.full_like(moved, 1 - chance)
    shared, most = (np.where(together, part, 0).sum(axis=1) for part in pairs)
    tally = RatioTally(shared, most, counts, pairs)
    error = float(expected.std(ddof=1)) / math.sqrt(expected.size)
    return replace(tally, chance_error=abs(1 - tally.value()) / (1 - chance) * error if chance < 1 else 0.0)


# Covariance


@dataclass(frozen=True)
class StandInCovariance(Form):
    r"""One minus the similarity-weighted covariance of the selections over its value under random choice.

    .. math:: 1 - \frac{\operatorname{tr}(C S)}{\operatorname{tr}(C \Sigma^0)}
    """

    def _tally(self, preferences: Preferences, measure: Measure) -> Tally:
        C, Z = Neighbors.of(measure).similarity, preferences.to_sparse()
        n_runs, sizes = preferences.n_runs, preferences.sizes.astype(float)
        with_C = Z @ C
        squares = np.asarray(with_C.multiply(Z).sum(axis=1)).ravel()
        with_all = with_C @ preferences.counts
        scatter, moments = squares.sum() - with_all.sum() / n_runs, (sizes.sum(), (sizes**2).sum())
        value = _one_minus_ratio(scatter, C, *moments, n_runs, preferences.n_features)

        def leave_one_out() -> Floats:
            left = n_runs - 1
            scatter = squares.sum() - squares - (with_all.sum() - 2 * with_all + squares) / max(1, left)
            moments = sizes.sum() - sizes, (sizes**2).sum() - sizes**2
            return _one_minus_ratio(scatter, C, *moments, left, preferences.n_features)

        def roughness() -> float:
            return pair_roughness(self.kernel(preferences, measure)) if n_runs <= ALL_PAIRS else np.nan

        return WholeTally(float(value), leave_one_out, find_roughness=roughness)

    def kernel(self, preferences: Preferences, measure: Measure) -> Floats:
        C, Z = Neighbors.of(measure).similarity, preferences.to_sparse()
        sizes = preferences.sizes.astype(float)
        n_runs, d = preferences.n_runs, preferences.n_features
        _, expected = _covariances(0.0, C, sizes.sum(), (sizes**2).sum(), n_runs, d)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((Z @ C @ Z.T).todense()) / expected

    def corrected(self, measure: Measure) -> Form:
        return CorrectedWhole(partial(_evaluate, measure), measure.best)


def _covariances(scatter: Any, C: Any, total: Any, squares: Any, n_runs: int, d: int) -> tuple[Any, Any]:
    """Observed and expected similarity-weighted covariance, from the scatter and the moments of the sizes."""
    size, square, trace = total / n_runs, squares / n_runs, C.diagonal().sum()
    together = (square - size) / (d**2 - d) - (size / d) ** 2 if d > 1 else 0.0
    expected = trace * (size / d) * (1 - size / d) + (C.sum() - trace) * together
    return scatter / (n_runs - 1), np.where(np.abs(expected) > 1e-12 * trace, expected, 0.0)


def _one_minus_ratio(scatter: Any, C: Any, total: Any, squares: Any, n_runs: int, d: int) -> Any:
    if n_runs < 2:
        return np.full(np.shape(scatter), np.nan)
    observed, expected = _covariances(scatter, C, total, squares, n_runs, d)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected == 0, np.nan, 1 - observed / expected)


def _evaluate(measure: Measure, preferences: Preferences, **parameters: Any) -> float:
    return measure.form.tally(preferences, [measure.bind(**parameters)])[0].value()
