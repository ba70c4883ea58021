"""Knots of a stability profile: sizes after which features enter almost at random."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from holdfast.inference.designs import DesignedRuns
from holdfast.inference.intervals import jackknife_variance

Floats = NDArray[np.float64]


def mean_overlaps(designed: DesignedRuns) -> Floats:
    """How many features two runs share: the mean over all pairs, then the same without each run (or block)."""
    if designed.stand_alone:
        return _with_deleted(_run_sums(designed, range(designed.runs.n_runs)))
    members: dict[int, list[int]] = {}
    for run, block in enumerate(designed.blocks):
        members.setdefault(block, []).append(run)
    means = [_mean(_run_sums(designed, runs)) for runs in members.values() if len(runs) > 1]
    values = np.array(means)
    n = values.size
    deleted = (values.sum() - values) / (n - 1) if n > 1 else np.full(n, np.nan)
    return np.append(values.mean() if n else np.nan, deleted)


def _run_sums(designed: DesignedRuns, runs: Sequence[int]) -> Floats:
    """For each of these runs, how many features it shares with all others of them, in sum."""
    part = designed.runs.take(list(runs))
    matrix = part.to_sparse()
    return np.asarray(matrix @ part.counts.astype(np.float64)) - part.sizes


def _mean(sums: Floats) -> float:
    return float(sums.sum() / (sums.size * (sums.size - 1))) if sums.size > 1 else np.nan


def _with_deleted(sums: Floats) -> Floats:
    n = sums.size
    if n < 3:
        return np.append(_mean(sums), np.full(n, np.nan))
    return np.append(_mean(sums), (sums.sum() - 2 * sums) / ((n - 1) * (n - 2)))


def entering(overlaps: Mapping[int, Floats], n_features: int) -> tuple[list[float], list[float]]:
    """For each size, how far runs agree on the features that enter since the size before, and its standard error.

    0 is the agreement of features that enter at random, 1 the most that is possible; ``nan`` where nothing is left to
    choose from.
    """
    nothing = np.zeros_like(next(iter(overlaps.values())))
    sizes = [(0, nothing), *overlaps.items()]
    steps = [_entering(*before, *after, n_features) for before, after in pairwise(sizes)]
    return [float(step[0]) for step in steps], [_error(step[1:]) for step in steps]


def _entering(a: int, shared: Floats, b: int, then: Floats, d: int) -> Floats:
    p = (b - a) / (d - a)
    by_chance = 2 * (a - shared) * p + (d - 2 * a + shared) * p**2
    most = np.minimum(2 * (b - a), b - shared)
    room = most - by_chance
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(room > 1e-9, (then - shared - by_chance) / np.where(room > 1e-9, room, 1), np.nan)


def _error(deleted: Floats) -> float:
    return float(np.sqrt(jackknife_variance(deleted))) if deleted.size and not np.isnan(deleted).any() else np.nan


def find_knots(sizes: Sequence[int], agreed: Sequence[float], tolerance: float) -> list[int]:
    """Sizes up to which runs agree on what enters, and after which they hardly do, for two sizes or to the end."""
    known = [(size, value) for size, value in zip(sizes, agreed, strict=True) if not np.isnan(value)]
    orderly = [value > tolerance for _, value in known]
    return [
        known[place][0]
        for place, agreed_here in enumerate(orderly[:-1])
        if agreed_here and not any(orderly[place + 1 : place + 3])
    ]
