"""Differences of two candidates over data sets: Wilcoxon's signed-rank test, exact, and its Bayesian counterpart."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.inference.rank_tests import DIGITS, Floats

STRENGTH = 0.5
"""Weight of the prior, as of half a data set on which both candidates are equal (Benavoli et al., 2017)."""
N_DRAWS = 50_000


class SignedRanks(NamedTuple):
    """Rank sums of positive and negative differences, the number of differences that are not 0, and the p-value."""

    positive: float
    negative: float
    n: int
    p_value: float


def signed_rank_test(differences: Floats) -> SignedRanks:
    """Wilcoxon's signed-rank test, two-sided and exact for ties too; differences of 0 are left out, as Wilcoxon did.

    The distribution of the rank sum over all signs is counted, on doubled ranks, which are whole numbers.
    """
    from scipy.stats import rankdata  # here: the import takes longer than measuring does

    moved = differences.round(DIGITS)
    moved = moved[moved != 0]
    if not moved.size:
        return SignedRanks(0.0, 0.0, 0, 1.0 if differences.size else math.nan)
    ranks = rankdata(np.abs(moved))
    positive = float(ranks[moved > 0].sum())
    negative = float(ranks.sum()) - positive
    doubled = np.rint(2 * ranks).astype(np.int64)
    share = np.zeros(int(doubled.sum()) + 1)
    share[0] = 1.0
    for rank in doubled:
        share[rank:] = (share[rank:] + share[:-rank]) / 2
        share[:rank] /= 2
    tail = float(share[: round(2 * min(positive, negative)) + 1].sum())
    return SignedRanks(positive, negative, moved.size, min(1.0, 2 * tail))


class Posterior(NamedTuple):
    """Probability that the first is better, that both are practically equivalent, and that the second is better."""

    first_better: float
    equivalent: float
    second_better: float


def signed_rank_posterior(
    differences: Floats, *, rope: float, n_draws: int = N_DRAWS, random_state: int = 0
) -> Posterior:
    r"""Bayesian signed-rank test with a Dirichlet process as prior (Benavoli et al. 2014, 2017).

    Weights of the data sets, and of a pseudo-data set without difference, are drawn from a Dirichlet distribution; a
    draw is a win for the region (below :math:`-r`, within, above :math:`r`) in which the mean of two differences,
    drawn by these weights, falls most probably. Without a region of practical equivalence, means of exactly 0 count
    half for each side.
    """
    if not differences.size:
        return Posterior(math.nan, math.nan, math.nan)
    points = np.concatenate([[0.0], differences])
    means = ((points[:, None] + points[None, :]) / 2).round(DIGITS)
    above, below = (means > rope).astype(np.float64), (means < -rope).astype(np.float64)
    if rope == 0:
        above, below = above + (means == 0) / 2, below + (means == 0) / 2
    weights = np.random.default_rng(random_state).dirichlet([STRENGTH, *[1.0] * differences.size], n_draws)
    right, left = ((weights @ region * weights).sum(axis=1) for region in (above, below))
    within = 1 - right - left if rope > 0 else np.full(n_draws, -1.0)
    regions = np.stack([right, within, left]).round(DIGITS)
    wins = regions == regions.max(axis=0)
    return Posterior(*(float(share) for share in (wins / wins.sum(axis=0)).mean(axis=1)))
