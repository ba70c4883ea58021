"""A second look at the variance over data sets, for blocks of near-copies: groups of rows left out in turn."""

import numpy as np
from numpy.typing import NDArray

from holdfast.preferences import Preferences
from holdfast.replication.agreements import pearson_table
from holdfast.resampling import Halvings, Samples, Split
from holdfast.resampling.perturbation import deal_into_folds
from holdfast.resampling.split import ROWS, rng_of

GROUPS, PAIRS = 10, 60
"""How many groups of rows are left out in turn, and the halvings that are repeated without each."""
Rows = NDArray[np.int64]


def splits_without_groups(halvings: Halvings, samples: Samples, seed: int) -> list[tuple[Rows, Rows]]:
    """Halves of the first halvings without each group of rows: those of one group together, halves in pairs."""
    dealt = deal_into_folds(samples, GROUPS, halvings.stratify, rng_of(seed, GROUPS, ROWS))
    halves = [halvings.make_split(1 + place, samples, seed) for place in range(2 * min(PAIRS, halvings.n_halvings))]
    return [(_without(half, dealt == group), half.rows[:0]) for group in range(GROUPS) for half in halves]


def _without(half: Split, left_out: NDArray[np.bool_]) -> Rows:
    return half.rows[~left_out[half.rows]]


def jackknife_halves(halves: Preferences) -> float:
    """Variance over data sets of the mean agreement of halves, from :func:`splits_without_groups`."""
    members = halves.to_sparse().astype(np.float64)
    first, second = members[::2], members[1::2]
    overlaps = np.asarray(first.multiply(second).sum(axis=1)).ravel()
    agreements = [
        pearson_table(np.array([[a, overlap], [overlap, b]]), np.array([a, b]), halves.n_features)[0, 1]
        for a, b, overlap in zip(halves.sizes[::2], halves.sizes[1::2], overlaps, strict=True)
    ]
    means = np.nanmean(np.reshape(agreements, (GROUPS, -1)), axis=1)
    return float((GROUPS - 1) / GROUPS * ((means - means.mean()) ** 2).sum())
