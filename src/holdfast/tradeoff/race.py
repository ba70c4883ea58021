"""Early stopping: which candidates are dominated with confidence after a few resamples."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from holdfast.inference.differences import degrees_of_freedom
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import Jackknife

Floats = NDArray[np.float64]


class Standing(NamedTuple):
    """Scores and stabilities of the candidates after some resamples."""

    scores: Floats  # candidates × runs, nan where a run failed
    pseudo_values: Floats  # of the stability, likewise: their mean is about it, their spread is its uncertainty
    stabilities: Sequence[StabilityEstimate | None]


def stages(first: int, total: int) -> list[int]:
    """Numbers of resamples after which candidates may be stopped: doubled each time, the last is the total."""
    if first < 3:
        raise ValueError(f"Expected a first look after at least 3 resamples, got {first}.")
    looks = []
    while first < total:
        looks.append(first)
        first *= 2
    return [*looks, total]


def dominated(standing: Standing, risk: float) -> dict[int, int]:
    """Find the candidates that are dominated with confidence, and by which other one.

    A candidate is dominated if another one is better in score *and* in stability, each by a one-sided paired t-test
    over the runs that both have, and if the other's stability would stay above with runs that were not drawn (see
    :meth:`~holdfast.inference.intervals.Jackknife.probability_missed`): a rival that fails rarely looks perfect until
    it fails. The largest of the p-values counts. ``risk`` is shared among all others, so that it bounds the probability
    that a candidate which no other truly dominates is taken for dominated.

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
    dominating = {}
    for place in range(n):
        p = np.maximum(*(_better(values, values[place]) for values in (standing.scores, standing.pseudo_values)))
        p[place] = 1.0
        for rival in np.flatnonzero(p * (n - 1) <= risk).tolist():
            p[rival] = max(p[rival], _missed(standing.stabilities[rival], standing.stabilities[place]))
        best = int(np.argmin(p))
        if n > 1 and p[best] * (n - 1) <= risk:
            dominating[place] = best
    return dominating


def _better(values: Floats, mine: Floats) -> Floats:
    """For each candidate, the one-sided p-value that it is better than mine; 1 if they share fewer than 3 runs.

    A difference that is always the same has no spread to judge it by, and decides nothing.
    """
    p = np.ones(len(values))
    differences = values - mine
    known = ~np.isnan(differences)
    for pattern in np.unique(known, axis=0):
        rows = (known == pattern).all(axis=1)
        p[rows] = _p_values(differences[rows][:, pattern])
    return p


def _p_values(differences: Floats) -> Floats:
    n = differences.shape[1]
    if n < 3:
        return np.ones(len(differences))
    mean, error = differences.mean(axis=1), differences.std(axis=1, ddof=1) / np.sqrt(n)
    flat = error <= 1e-12 * (1 + np.abs(mean))
    return np.where(flat, 1.0, stdtr(degrees_of_freedom(differences), -mean / np.where(flat, 1, error)))


def _missed(rival: StabilityEstimate | None, mine: StabilityEstimate | None) -> float:
    """The probability that a rival's runs of a kind that would make it no more stable were all missed."""
    if rival is None or mine is None or not isinstance(rival.distribution, Jackknife):
        return 1.0
    return rival.distribution.probability_missed(mine.value)
