"""Early stopping: which candidates are dominated with confidence after a few resamples."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

Floats = NDArray[np.float64]


class Standing(NamedTuple):
    """What a race knows of its candidates after some runs: candidates × runs, ``nan`` where a run failed."""

    scores: Floats
    pseudo_values: Floats  # of the stability: numbers whose mean is about it and whose spread is its uncertainty


def stages(first: int, total: int) -> list[int]:
    """Numbers of runs after which a race is looked at: doubled each time, the last is the total."""
    if first < 3:
        raise ValueError(f"Expected a first look after at least 3 resamples, got {first}.")
    looks = []
    while first < total:
        looks.append(first)
        first *= 2
    return [*looks, total]


def dominated(standing: Standing, risk: float) -> dict[int, int]:
    """Which candidates are dominated with confidence, and by whom.

    A candidate is dominated if another one is better in score *and* in stability, each by a one-sided paired t-test
    over the runs that both have; the larger of the two p-values counts (it is significant only if both are). ``risk``
    is shared among all others, so that it bounds the probability that a candidate which no other truly dominates is
    taken for dominated.

    Parameters
    ----------
    standing : Standing
        What is known.
    risk : float
        Probability of an error, for each candidate.

    Returns
    -------
    dict
        From the place of each dominated candidate to that of the one which dominates it most surely.
    """
    n = len(standing.scores)
    found = {}
    for place in range(n):
        p = np.maximum(*(_better(values, values[place]) for values in (standing.scores, standing.pseudo_values)))
        p[place] = 1.0
        best = int(np.argmin(p))
        if n > 1 and p[best] * (n - 1) <= risk:
            found[place] = best
    return found


def _better(values: Floats, mine: Floats) -> Floats:
    """For each candidate, the one-sided p-value that it is better than mine; 1 if they share less than 3 runs."""
    difference = values - mine
    known = ~np.isnan(difference)
    n = known.sum(axis=1)
    enough = np.maximum(n, 2)
    mean = np.where(known, difference, 0).sum(axis=1) / enough
    spread = np.where(known, (difference - mean[:, None]) ** 2, 0).sum(axis=1) / (enough - 1)
    error = np.sqrt(spread / enough)
    flat = error <= 1e-12 * (1 + np.abs(mean))  # always the same difference: as sure as that many equal signs
    p = np.where(flat, np.where(mean > 1e-12, 0.5**n, 1.0), stdtr(enough - 1, -mean / np.where(flat, 1, error)))
    return np.where(n >= 3, p, 1.0)
