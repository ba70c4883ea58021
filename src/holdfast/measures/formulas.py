r"""Measures as plain formulas: of sets pairwise and by frequency, of all runs, and of rankings and weights.

Pairwise measures take ``r`` (features shared), ``k1`` and ``k2`` (sizes of the two sets) and ``d`` (all features); they
are averaged over all ordered pairs of runs. Measures by frequency are a term in ``h`` (how many of ``M`` runs selected
a feature), summed over features, and a function that finishes the sum, with ``q`` the number of all selections.
Division of zero by zero means undefined.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from holdfast.checks import is_number
from holdfast.measures.forms import (
    ALL_PAIRS,
    Floats,
    Ints,
    PairTally,
    RatioTally,
    correlation_sums,
    distance_sums,
    pair_sums,
    tally_matrix,
)
from holdfast.measures.redundancy import transport_tally
from holdfast.preferences import Preferences, Ties
from holdfast.similarity import FeatureSimilarity

# Pairwise


def hamming(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Share of the features on which the two sets agree, absent ones included."""
    return 1 - (k1 + k2 - 2 * r) / d


def jaccard(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Shared features over features in either set."""
    return r / (k1 + k2 - r)


def dice(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Shared features over the mean size."""
    return 2 * r / (k1 + k2)


def ochiai(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Shared features over the geometric mean size."""
    return r / np.sqrt(k1 * k2)


def pog(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Share of the first set's features that are in the second."""
    return r / k1


def _above_chance(r: Any, k1: Any, k2: Any, d: int, most: Any) -> Floats:
    """(r − E) / (most − E) with E = k1·k2/d, the overlap expected by chance."""
    expected = k1 * k2 / d
    return (r - expected) / (most - expected)


def kuncheva(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Overlap above chance over the most there could be, for sets of one size."""
    return _above_chance(r, k1, k2, d, most=k1)


def lustgarten(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Overlap above chance over the range that the overlap can have."""
    return (r - k1 * k2 / d) / (np.minimum(k1, k2) - np.maximum(0, k1 + k2 - d))


def wald(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Overlap above chance over the most there could be: the smaller set."""
    return _above_chance(r, k1, k2, d, most=np.minimum(k1, k2))


def npog(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Overlap above chance over the most there could be: the first set."""
    return _above_chance(r, k1, k2, d, most=k1)


def kappa(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Cohen's kappa: overlap above chance over the mean size above chance."""
    return _above_chance(r, k1, k2, d, most=(k1 + k2) / 2)


def unadjusted(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Overlap above chance over the geometric mean size above chance."""
    return _above_chance(r, k1, k2, d, most=np.sqrt(k1 * k2))


def pearson(r: Any, k1: Any, k2: Any, d: int) -> Floats:
    """Correlation of the two 0/1 vectors; two empty or two full sets 1, one empty or full 0 (2016, section 4.1)."""
    spread = np.sqrt((k1 * (d - k1)) * (k2 * (d - k2)).astype(float))
    constant = spread == 0
    value = (d * r - k1 * k2) / np.where(constant, 1, spread)
    return np.where(constant, np.where(k1 == k2, 1.0, 0.0), value)


# By frequency


def nogueira_term(h: Floats, M: Any) -> Floats:
    """Unbiased variance of a feature's selection."""
    return h * (M - h) / (M * (M - 1))


def nogueira(total: Any, q: Any, M: Any, d: int) -> Any:
    r"""One minus the mean selection variance over its value under random choice.

    .. math:: 1 - \frac{\frac1d \sum_f \frac{M}{M-1}\,\hat p_f (1-\hat p_f)}{\frac{\bar k}{d}\,(1-\frac{\bar k}{d})}
    """
    density = q / (M * d)
    return 1 - total / d / (density * (1 - density))


def nogueira_from_overlap(overlap: Any, size: Any, d: int) -> Any:
    """The same from the mean overlap of two runs: the selection variances sum to the mean size less the overlap."""
    return 1 - (size - overlap) / (size * (1 - size / d))


def goh_term(h: Floats, M: Any) -> Floats:
    """A feature's frequency."""
    return h / M


def goh(total: Any, q: Any, M: Any, d: int) -> Any:
    """Mean frequency over all features, which is the mean share selected."""
    return total / d


def guzman_term(h: Floats, M: Any) -> Floats:
    """p log p."""
    return xlogy(h / M, h / M)


def guzman(total: Any, q: Any, M: Any, d: int) -> Any:
    """One minus the Jensen–Shannon divergence of the runs over its value for random sets."""
    k = q / M
    return 1 - (total / d) / (k / d * np.log(k / d))


def cw_rel_term(h: Floats, M: Any) -> Floats:
    """h (h − 1)."""
    return h * (h - 1)


def cw_rel(total: Any, q: Any, M: Any, d: int) -> Any:
    """Weighted consistency between the least and the most that ``q`` selections in ``M`` runs allow."""
    over_features, over_runs = q % d, q % M
    least = over_features**2 - q**2 - d * over_features
    return (d * (q + total) + least) / (d * (over_runs**2 + M * (q - over_runs)) + least)


def lausser_term(h: Floats, M: Any) -> Floats:
    """p²."""
    return (h / M) ** 2


def lausser(total: Any, q: Any, M: Any, d: int) -> Any:
    """Mean squared frequency of the selected features."""
    return total / (q / M)


def novovicova_term(h: Floats, M: Any) -> Floats:
    """h log₂ h / log₂ M."""
    return xlogy(h, h) / np.log(M)


def novovicova(total: Any, q: Any, M: Any, d: int) -> Any:
    """Mean logarithm of how often selected features were selected, over its largest value."""
    return total / q


# Functions of all runs


def davis(preferences: Preferences, alpha: float) -> float:
    """Mean frequency of the features ever selected, less a penalty ``alpha`` for large sets; at least 0."""
    if not is_number(alpha) or not alpha >= 0:
        raise ValueError(f"Expected alpha of at least 0, got {alpha}: a negative penalty leaves the range [0, 1].")
    ever = np.count_nonzero(preferences.counts)
    if ever == 0 or preferences.n_runs < 2:
        return np.nan
    penalty = alpha * np.median(preferences.sizes) / preferences.n_features
    return float(max(0.0, preferences.frequency.sum() / ever - penalty))


def krizek(preferences: Preferences) -> float:
    """Entropy in bits of the distinct sets; 0 if all runs agree."""
    if preferences.n_runs < 2:
        return np.nan
    indices, indptr = preferences.lists()
    times = Counter(indices[indptr[run] : indptr[run + 1]].tobytes() for run in range(preferences.n_runs))
    p = np.array(list(times.values())) / preferences.n_runs
    return float(-(p @ np.log2(p))) + 0.0  # + 0.0 turns -0.0 into 0.0


def weight_correlation(weights: Floats) -> PairTally:
    """Pearson correlation of the weights of two runs."""
    largest = np.abs(weights).max(axis=1, keepdims=True)
    scaled = weights / np.where(largest > 0, largest, 1)  # so that neither squares nor sums leave the range of floats
    centered = scaled - scaled.mean(axis=1, keepdims=True)
    constant = np.ptp(weights, axis=1) == 0
    return correlation_sums([centered], np.where(constant, 0, np.linalg.norm(centered, axis=1)))


def spearman(ranks: Floats, ties: Ties = "average", random_state: int = 0) -> PairTally:
    """Pearson correlation of the ranks of two runs, ties at their average rank or broken at random."""
    if ties != "average":
        ranks = Preferences.from_rankings(ranks).to_ranking(ties=ties, random_state=random_state).matrix()
    return weight_correlation(ranks)


def kendall(ranks: Floats) -> PairTally:
    """Kendall's tau-b: the correlation of the signs of all differences between two features' ranks."""
    n_features = ranks.shape[1]

    def signs() -> Iterator[Floats]:
        for feature in range(n_features - 1):
            yield np.sign(ranks[:, feature, None] - ranks[:, feature + 1 :])

    n_pairs, groups = n_features * (n_features - 1) // 2, (np.unique(row, return_counts=True)[1] for row in ranks)
    n_untied = [int(n_pairs - (times * (times - 1) // 2).sum()) for times in groups]
    return correlation_sums(signs(), np.sqrt(n_untied))


def rank_variance(ranks: Floats) -> PairTally:
    """One minus the mean variance of a feature's rank over its value for random orders."""
    n_runs, d = ranks.shape
    expected = (d**2 - 1) / 12
    if expected == 0:
        return PairTally(np.zeros(n_runs), np.zeros(n_runs, dtype=np.int64))
    to_others, distances = distance_sums(ranks)
    scale, pairs = 2 * d * expected, np.full(n_runs, 2 * (n_runs - 1))
    similarities = None if distances is None else 1 - distances / scale
    return tally_matrix(2 * (n_runs - 1 - to_others / scale), pairs, similarities)


def canberra(ranks: Floats, k: int | None = None) -> PairTally:
    """One minus the Canberra distance of two rankings over its value for random ones; ranks beyond ``k`` are k + 1."""
    n_runs, d = ranks.shape
    k = d if k is None else k
    if not (is_number(k) and 1 <= k <= d and k == int(k)):
        raise ValueError(f"Expected a whole number k from 1 to the {d} features, got {k}.")
    cut = np.where(ranks > k, k + 1, ranks)
    expected = random_canberra(d, int(k))
    if expected == 0:
        return PairTally(np.zeros(n_runs), np.zeros(n_runs, dtype=np.int64))

    def with_following(run: int) -> Floats:
        others = cut[run + 1 :]
        return 1 - (np.abs(cut[run] - others) / (cut[run] + others)).sum(axis=1) / expected

    return pair_sums(n_runs, with_following)


def random_canberra(d: int, k: int) -> float:
    """Expected Canberra distance of two random orders of ``d`` features, ranks beyond ``k`` set to k + 1."""
    harmonic = np.concatenate([[0], np.cumsum(1 / np.arange(1, 2 * k + 2))])
    a = np.arange(1, k + 2)
    below = 2 * a * (harmonic[2 * a - 1] - harmonic[a]) - (a - 1)  # Σ over b < a of (a − b)/(a + b)
    return float(2 * (below[:-1].sum() + (d - k) * below[-1]) / d)


def rank_biased_overlap(ranks: Floats, p: float = 0.9) -> PairTally:
    """Agreement of two runs at every depth, the depths weighted by ``p`` per step, so that the top counts most."""
    if not is_number(p) or not 0 < p < 1:
        raise ValueError(f"Expected p between 0 and 1, got {p}: the smaller, the more the top counts.")
    n_runs, d = ranks.shape
    depth = min(d, int(np.ceil(np.log(1e-18) / np.log(p))))  # what lies deeper weighs less than rounding
    from scipy.stats import rankdata  # half a second to import

    entry = rankdata(ranks, method="min", axis=1).astype(np.int64)  # tied features enter together
    entered = np.stack([np.bincount(np.minimum(row, depth + 1), minlength=depth + 2)[1:-1].cumsum() for row in entry])
    weight = (1 - p) / p * p ** np.arange(1, depth + 1)
    weight[-1] += p**depth  # the last agreement goes on for ever

    def with_following(run: int) -> Floats:
        top = np.flatnonzero(entry[run] <= depth)
        later = np.minimum(np.maximum(entry[run, top], entry[run + 1 :, top]), depth + 1)
        codes = later + (depth + 2) * np.arange(len(later))[:, None]
        joint = np.bincount(codes.ravel(), minlength=(depth + 2) * len(later)).reshape(len(later), -1)
        shared = joint[:, 1:-1].cumsum(axis=1)
        return 2 * shared / (entered[run] + entered[run + 1 :]) @ weight

    return pair_sums(n_runs, with_following)


# What models use: the weights of a run are importances, of which the size counts, as shares of their sum


def used_again(weights: Floats) -> RatioTally:
    r"""Share of what a run's model uses that is on features which another run uses too, above chance.

    .. math:: \frac{\sum_{i \ne j} k_i a_{ij} - k_i k_j / d}{\sum_{i \ne j} k_i - k_i k_j / d}

    for :math:`k_i` features that the model of run :math:`i` uses, and the share :math:`a_{ij}` of its importance that
    is on those of run :math:`j`. It is 0 in expectation if the features are drawn at random, and ``nogueira`` if each
    run uses all its features alike, and all use equally many.
    """
    shares, n_features = _as_shares(weights), weights.shape[1]
    chosen, size = shares > 0, np.diff(shares.indptr).astype(np.float64)
    counts, load = size > 0, shares.multiply(size[:, None]).tocsr()  # 1 each, if a run uses all its features alike
    by_chance = size * (size.sum() - size) / n_features
    shared = (load @ chosen.sum(axis=0) + chosen @ load.sum(axis=0)) / 2 - size - by_chance
    most = (counts * size.sum() + (counts.sum() - 2) * size) / 2 - by_chance
    if size.size > ALL_PAIRS:
        return RatioTally(shared, most, counts)
    again, expected = (load @ chosen.T).toarray(), np.outer(size, size) / n_features
    pairs = (again + again.T) / 2 - expected, (size[:, None] + size) / 2 - expected
    return RatioTally(shared, most, counts, pairs)


def shared_importance(weights: Floats, similarity: FeatureSimilarity | None = None, draws: int = 200) -> RatioTally:
    r"""Importance that the models of two runs share, :math:`\sum_f \min(s_{if}, s_{jf})` of the shares, above chance.

    .. math:: \frac{\sum_{i \ne j} m_{ij} - e_{ij}}{\sum_{i \ne j} 1 - e_{ij}}, \qquad
        e_{ij} = \frac1d \sum_f \sum_g \min(s_{if}, s_{jg})

    With a similarity, similar features stand in for each other: :math:`m_{ij}` is the most similarity at which one
    run's shares can be moved to the other's, and its expectation is simulated.

    References
    ----------
    Hamer and Dupont (2021), :math:`\varphi_{msi}`, which they do not correct for chance.
    """
    shares = _as_shares(weights)
    if similarity is not None:
        return transport_tally(shares, similarity, draws)
    size, values = np.diff(shares.indptr), shares.data
    n_runs, counts, runs = size.size, size > 0, np.repeat(np.arange(size.size), size)
    with_any = _sum_minima(values, np.zeros_like(runs)) - _sum_minima(values, runs)
    expected = np.bincount(runs, with_any, n_runs) / shares.shape[1]
    shared = np.bincount(runs, _sum_minima(values, shares.indices), n_runs) - counts - expected
    most = counts * (counts.sum() - 1) - expected
    if n_runs > ALL_PAIRS:
        return RatioTally(shared, most, counts)
    used = shares[:, np.unique(shares.indices)].toarray()
    mean = expected.sum() / max(1, counts.sum() * (counts.sum() - 1))
    minima = np.array([np.minimum(used, run).sum(axis=1) for run in used])
    return RatioTally(shared, most, counts, (minima - mean, np.full_like(minima, 1 - mean)))


def _as_shares(weights: Floats) -> sp.csr_array:
    """Absolute weights as shares of their sum in each run."""
    runs, columns = weights.nonzero()
    size, n_runs = np.abs(weights[runs, columns]), len(weights)
    largest = np.zeros(n_runs)
    np.maximum.at(largest, runs, size)
    size /= largest[runs]  # so that sums stay in the range of floats
    size /= np.bincount(runs, size, n_runs)[runs]
    indptr = np.r_[0, np.cumsum(np.bincount(runs, minlength=n_runs))]
    shares = sp.csr_array((size, columns, indptr), shape=weights.shape)
    shares.eliminate_zeros()  # too small next to the largest to be told from it
    return shares


def _sum_minima(values: Floats, groups: Ints) -> Floats:
    """For each value, the sum of its minima with all values of its group, itself included."""
    order = np.lexsort((values, groups))
    group, value = groups[order], values[order]
    begins = np.flatnonzero(np.r_[True, group[1:] != group[:-1]][: group.size])
    length = np.diff(np.r_[begins, group.size])
    up_to = np.cumsum(value)
    before = np.repeat(up_to[begins] - value[begins], length)
    larger = np.repeat(begins + length, length) - 1 - np.arange(group.size)
    sums = np.empty_like(value)
    sums[order] = up_to - before + larger * value
    return sums
