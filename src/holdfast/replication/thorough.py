"""A second look at the variance over data sets, for blocks of near-copies: groups of rows left out in turn."""

import math

import numpy as np
from numpy.typing import NDArray

from holdfast.preferences import Preferences
from holdfast.replication.agreements import pearson
from holdfast.resampling import Halvings, Samples, Split
from holdfast.resampling.perturbation import deal_into_folds
from holdfast.resampling.split import ROWS, rng_of

GROUPS, PAIRS = 10, 60
"""How many groups of rows are left out in turn, and the halvings that are repeated without each."""
Rows = NDArray[np.int64]


def splits_without_groups(halvings: Halvings, samples: Samples, seed: int) -> list[tuple[Rows, Rows]]:
    """Halves of the first halvings without each group of rows: those of one group together, halves in pairs."""
    dealt = deal_into_folds(halvings.units(samples), GROUPS, halvings.stratify, rng_of(seed, GROUPS, ROWS))
    halves = [halvings.make_split(1 + place, samples, seed) for place in range(2 * min(PAIRS, halvings.n_halvings))]
    return [(_without(half, dealt == group), half.rows[:0]) for group in range(GROUPS) for half in halves]


def _without(half: Split, left_out: NDArray[np.bool_]) -> Rows:
    return half.rows[~left_out[half.rows]]


def jackknife_halves(halves: Preferences, splits: Rows, n_splits: int) -> float:
    """Variance over data sets of the mean agreement of halves, from :func:`splits_without_groups`.

    ``splits`` are the numbers of the splits that the halves come from: a pair of which a fit failed is left out.
    ``nan`` if none is left without some group.
    """
    members, sizes = halves.to_sparse().astype(np.float64), halves.sizes
    run = np.full(n_splits, -1)
    run[splits] = np.arange(halves.n_runs)
    first, second = run[::2], run[1::2]
    complete = (first >= 0) & (second >= 0)
    a, b = first[complete], second[complete]
    agreements = np.full(complete.size, np.nan)
    overlaps = np.asarray(members[a].multiply(members[b]).sum(axis=1)).ravel()
    agreements[complete] = pearson(overlaps, sizes[a], sizes[b], halves.n_features)
    by_group = agreements.reshape(GROUPS, -1)
    if np.isnan(by_group).all(axis=1).any():
        return math.nan
    means = np.nanmean(by_group, axis=1)
    return float((GROUPS - 1) / GROUPS * ((means - means.mean()) ** 2).sum())
