"""Measures of rankings; ranks are 1 for the best, ties share their average rank."""

from collections.abc import Iterator

import numpy as np

from holdfast.checks import is_number
from holdfast.measures.rows import correlation_sums, distance_sums, pair_sums
from holdfast.measures.tally import Floats, PairTally
from holdfast.measures.weighting import weight_correlation
from holdfast.preferences import Preferences, Ties


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

    n_untied = [_untied_pairs(row) for row in ranks]
    return correlation_sums(signs(), np.sqrt(n_untied))


def rank_variance(ranks: Floats) -> PairTally:
    """One minus the mean variance of a feature's rank over its value for random orders."""
    n_runs, d = ranks.shape
    expected = (d**2 - 1) / 12
    if expected == 0:
        return PairTally(np.zeros(n_runs), np.zeros(n_runs, dtype=np.int64))
    to_others, distances = distance_sums(ranks)
    scale, pairs = 2 * d * expected, np.full(n_runs, 2 * (n_runs - 1))
    sums = 2 * (n_runs - 1 - to_others / scale)
    if distances is None:
        return PairTally(sums, pairs)
    similarities = 1 - distances / scale
    squares = float((similarities**2).sum() - (np.diag(similarities) ** 2).sum())
    return PairTally(sums, pairs, squares, matrix=similarities)


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

    place = rankdata(ranks, method="min", axis=1).astype(np.int64)  # tied features enter together
    entered = np.stack([np.bincount(np.minimum(row, depth + 1), minlength=depth + 2)[1:-1].cumsum() for row in place])
    weight = (1 - p) / p * p ** np.arange(1, depth + 1)
    weight[-1] += p**depth  # the last agreement goes on for ever

    def with_following(run: int) -> Floats:
        top = np.flatnonzero(place[run] <= depth)
        later = np.minimum(np.maximum(place[run, top], place[run + 1 :, top]), depth + 1)
        codes = later + (depth + 2) * np.arange(len(later))[:, None]
        joint = np.bincount(codes.ravel(), minlength=(depth + 2) * len(later)).reshape(len(later), -1)
        shared = joint[:, 1:-1].cumsum(axis=1)
        return 2 * shared / (entered[run] + entered[run + 1 :]) @ weight

    return pair_sums(n_runs, with_following)


def _untied_pairs(row: Floats) -> int:
    _, times = np.unique(row, return_counts=True)
    return int(row.size * (row.size - 1) // 2 - (times * (times - 1) // 2).sum())
