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
    _, values = block_overlaps(designed)
    n = values.size
    deleted = (values.sum() - values) / (n - 1) if n > 1 else np.full(n, np.nan)
    return np.append(values.mean() if n else np.nan, deleted)


def block_overlaps(designed: DesignedRuns) -> tuple[NDArray[np.int64], Floats]:
    """How many features two runs of a block share on average: blocks of several runs, ascending, and their means."""
    members: dict[int, list[int]] = {}
    for run, block in enumerate(designed.blocks):
        members.setdefault(int(block), []).append(run)
    several = {block: runs for block, runs in sorted(members.items()) if len(runs) > 1}
    means = [_mean(_run_sums(designed, runs)) for runs in several.values()]
    return np.array(list(several), dtype=np.int64), np.array(means, dtype=np.float64)


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


def entering(
    overlaps: Mapping[int, Floats], n_features: int, mean_sizes: Sequence[float] | None = None
) -> tuple[list[float], list[float]]:
    """For each size, how far runs agree on the features that enter since the size before, and its standard error.

    0 is the agreement of features that enter at random, 1 the most that is possible; ``nan`` where nothing enters, or
    nothing is left to choose from. ``mean_sizes`` are how many features were selected, where these are fewer.
    """
    steps = entering_steps(list(overlaps.values()), n_features, mean_sizes or list(overlaps))
    return [float(step[0]) for step in steps], [_error(step[1:]) for step in steps]


def entering_steps(overlaps: Sequence[Floats], n_features: int, mean_sizes: Sequence[float]) -> list[Floats]:
    """For each size, how far runs agree on what enters, for each element of the overlaps (such as each redraw)."""
    before = [(0.0, np.zeros_like(overlaps[0])), *zip(mean_sizes, overlaps, strict=True)]
    return [_entering(*earlier, *later, n_features) for earlier, later in pairwise(before)]


def _entering(a: float, shared: Floats, b: float, then: Floats, d: int) -> Floats:
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
