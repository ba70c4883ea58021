"""What the library is compared with: formulas straight from the papers, plain passes, slow oracles."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.feature_selection import f_regression
from sklearn.metrics import mutual_info_score
from skrebate import ReliefF

from holdfast import Preferences
from holdfast.measures import forms

Floats = NDArray[np.float64]

# Formulas


def nogueira_with_variance(Z: Any) -> tuple[float, float]:
    """Definition 4 and Theorem 7 of Nogueira, Sechidis and Brown (2018), for a dense or sparse matrix."""
    M, d = Z.shape
    p, k = Z.mean(axis=0), Z.sum(axis=1)
    q = k.mean() / d
    stability = 1 - M / (M - 1) * np.mean(p * (1 - p)) / (q * (1 - q))
    runs = (Z @ p / d - k * q / d + stability / 2 * (2 * q * k / d - k / d - q + 1)) / (q * (1 - q))
    return float(stability), float(4 / M**2 * np.sum((runs - runs.mean()) ** 2))


def overlap_measures(Z: Floats) -> dict[str, float]:
    """Mean over all pairs of every overlap measure, from the runs × runs matrix of overlaps."""
    d = Z.shape[1]
    r = (Z @ Z.T).astype(float)
    k1, k2 = np.broadcast_arrays(r.diagonal()[:, None], r.diagonal())
    above = r - k1 * k2 / d
    formulas: dict[str, Callable[[], Floats]] = {
        "hamming": lambda: 1 - (k1 + k2 - 2 * r) / d,
        "jaccard": lambda: r / (k1 + k2 - r),
        "dice": lambda: 2 * r / (k1 + k2),
        "ochiai": lambda: r / np.sqrt(k1 * k2),
        "pog": lambda: r / k1,
        "kuncheva": lambda: above / (k1 - k1 * k2 / d),
        "lustgarten": lambda: above / (np.minimum(k1, k2) - np.maximum(0, k1 + k2 - d)),
        "wald": lambda: above / (np.minimum(k1, k2) - k1 * k2 / d),
        "npog": lambda: above / (k1 - k1 * k2 / d),
        "pearson": lambda: above / np.sqrt(k1 * (1 - k1 / d) * k2 * (1 - k2 / d)),
        "kappa": lambda: above / ((k1 + k2) / 2 - k1 * k2 / d),
        "unadjusted": lambda: above / (np.sqrt(k1 * k2) - k1 * k2 / d),
    }
    different = ~np.eye(len(Z), dtype=bool)
    return {name: float(formula().mean(where=different)) for name, formula in formulas.items()}


def sechidis(runs: Sequence[set[int]], C: sp.csr_array) -> float:
    """One minus tr(C S) / tr(C Σ⁰), term by term over the entries of C."""
    M, d = len(runs), C.shape[0]
    p = [sum(f in run for run in runs) / M for f in range(d)]
    k, k2 = sum(map(len, runs)) / M, sum(len(run) ** 2 for run in runs) / M
    observed = expected = 0.0
    entries = C.tocoo()
    for f, g, similarity in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
        observed += similarity * sum(((f in run) - p[f]) * ((g in run) - p[g]) for run in runs) / (M - 1)
        expected += similarity * (k / d * (1 - k / d) if f == g else (k2 - k) / (d**2 - d) - (k / d) ** 2)
    return 1 - observed / expected


# One pass over bits


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


def packed(Z: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the rows of a matrix as words of 64 bits."""
    return np.packbits(np.pad(Z, ((0, 0), (0, -Z.shape[1] % 64))), axis=1).view(np.uint64)


@numba.njit
def total_shared(rows):
    """Sum of the overlaps of all unordered pairs of rows."""
    total = np.uint64(0)
    n_rows, n_words = rows.shape
    for first in range(n_rows):
        for second in range(first + 1, n_rows):
            for word in range(n_words):
                total += _popcount(rows[first, word] & rows[second, word])
    return total


# Pairs of sets, one at a time

Credit = Callable[[set[int], set[int]], float]


def mean_of_pairs(credit: Credit, runs: Sequence[set[int]]) -> float:
    """Mean of a function of two sets over all unordered pairs."""
    return float(np.mean([credit(*pair) for pair in combinations(runs, 2)]))


def above_chance(credit: Credit, runs: Sequence[set[int]], n_features: int) -> float:
    """Mean credit above chance over the most it could be, for sets of one size.

    Chance is simulated with the library's random sets, so that the results agree to the last digits.
    """
    k = len(runs[0])

    def of_random(pairs: Preferences) -> Floats:
        sets = [set(pairs.selected(run)) for run in range(pairs.n_runs)]
        return np.array([credit(*pair) for pair in zip(sets[::2], sets[1::2], strict=True)])

    expected = forms.pair_expectation(of_random, k, k, n_features).value
    return (mean_of_pairs(credit, runs) - expected) / (k - expected)


def fewest_covered(similar: Sequence[set[int]]) -> Credit:
    """Shared features, and the smaller number that have a similar one on the other side."""

    def credit(one: set[int], two: set[int]) -> float:
        first, second = one - two, two - one
        covered = [sum(bool(similar[f] & other) for f in own) for own, other in ((first, second), (second, first))]
        return len(one & two) + min(covered)

    return credit


def most_matched(similar: NDArray[np.bool_]) -> Credit:
    """Shared features, and the most pairs of similar ones, by SciPy's assignment of the ones to the others."""

    def credit(one: set[int], two: set[int]) -> float:
        return len(one & two) + _best_assignment(similar, one - two, two - one).sum()

    return credit


def best_matching(similarity: Floats) -> Credit:
    """Mean similarity in the best one-to-one matching, by SciPy's assignment of the one set to the other."""

    def credit(one: set[int], two: set[int]) -> float:
        return float(_best_assignment(similarity, one, two).mean())

    return credit


def _best_assignment(similarity: NDArray[Any], one: set[int], two: set[int]) -> NDArray[Any]:
    block = similarity[np.ix_(sorted(one), sorted(two))]
    return block[linear_sum_assignment(block, maximize=True)]


# Selectors, one information or one row at a time


def mrmr_mid(codes: NDArray[np.uint8], y: NDArray[np.int64], n_steps: int) -> list[int]:
    """Choose features by relevance minus mean redundancy, with scikit-learn's information of two vectors."""
    relevance = np.array([mutual_info_score(x, y) for x in codes])
    total, chosen = np.zeros(len(codes)), [int(np.argmax(relevance))]
    while len(chosen) < n_steps:
        total += [mutual_info_score(x, codes[chosen[-1]]) for x in codes]
        score = relevance - total / len(chosen)
        score[chosen] = -np.inf
        chosen.append(int(np.argmax(score)))
    return chosen


def relevance_and_redundancy(codes: NDArray[np.uint8], y: NDArray[np.int64], order: list[int]) -> tuple[Floats, Floats]:
    """Information of each feature of an order with the class, and its mean with the features before it."""
    relevance = [mutual_info_score(codes[f], y) for f in order]
    redundancy = [
        np.mean([mutual_info_score(codes[f], codes[g]) for g in order[:i]] or [0]) for i, f in enumerate(order)
    ]
    return np.array(relevance), np.array(redundancy)


def skrebate_weights(X: Floats, y: NDArray[np.int64]) -> Floats:
    """ReliefF with ten neighbors by scikit-rebate."""
    return ReliefF(n_neighbors=10, n_features_to_select=1).fit(X, y).feature_importances_


def mrmr_fcq(X: Floats, y: Floats, n_features: int) -> list[int]:
    """mRMR by the quotient of F and mean absolute correlation, one pass over all features for each choice."""
    F = f_regression(X, y)[0]
    chosen, total = [int(F.argmax())], np.zeros(X.shape[1])
    while len(chosen) < n_features:
        last = X[:, chosen[-1]]
        total += [abs(np.corrcoef(column, last)[0, 1]) for column in X.T]
        score = F / (total / len(chosen))
        score[chosen] = -np.inf
        chosen.append(int(score.argmax()))
    return chosen


def rrelief(X: Floats, y: Floats, n_neighbors: int) -> Floats:
    """RReliefF, row by row, its neighbors with equal shares."""
    scaled, target = X / np.ptp(X, axis=0), y / np.ptp(y)
    change, of_all, of_differing = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for row, own in zip(scaled, target, strict=True):
        differences = np.abs(scaled - row)
        distances = differences.sum(axis=1)
        near = np.flatnonzero(distances > 0)
        nearest = near[np.argsort(distances[near], kind="stable")[:n_neighbors]]
        apart = np.abs(target[nearest] - own)
        change += apart.mean()
        of_all += differences[nearest].mean(axis=0)
        of_differing += apart @ differences[nearest] / nearest.size
    weights: Floats = of_differing / change - (of_all - of_differing) / (len(y) - change)
    return weights


def relief(scaled: Floats, y: NDArray[np.int64], n_neighbors: int) -> Floats:
    """ReliefF for two classes, row by row, on features divided by their ranges."""
    weights = np.zeros(scaled.shape[1])
    for row, own in zip(scaled, y, strict=True):
        differences = np.abs(scaled - row)
        distances = differences.sum(axis=1)
        for c in np.unique(y):
            near = np.flatnonzero((y == c) & ((distances > 0) | (c != own)))
            nearest = near[np.argsort(distances[near], kind="stable")[:n_neighbors]]
            weights += (-1 if c == own else 1) * differences[nearest].mean(axis=0)
    return weights / len(y)
