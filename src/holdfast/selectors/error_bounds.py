r"""How many features stability selection selects falsely at most, on average.

With :math:`d` features, :math:`q` selected in each half of the data and a threshold :math:`\tau` on the share of
halves, features that noise alone selects are selected with a probability of at most :math:`\theta = q / d` in a half.
Both halves of a pair then select such a feature in a share of pairs with mean :math:`\theta^2` at most, and the feature
passes the threshold only if that share is at least :math:`2\tau - 1`. How often a share of small mean can be so large
is what the bounds are about: for any distribution (Markov's inequality), a unimodal one, or one that is r-concave.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

Bound = Literal["mb", "unimodal", "r-concave"]
BOUNDS: tuple[str, ...] = get_args(Bound)
SLACK = 1e-9  # thresholds and numbers of resamples are decimal numbers to the user
FLATTEST, STEEPEST = (
    1e-12,
    1e12,
)  # slopes of r-concave distributions: flat, or all at 0, but for rounding


def expected_false(threshold: float, q: float, n_features: int, *, bound: Bound, n_pairs: int) -> float:
    r"""Bound on the expected number of falsely selected features; ``nan`` if none holds for so low a threshold.

    Parameters
    ----------
    threshold : float
        Least share of resamples that select a feature. Above 1/2 for ``"mb"`` and ``"unimodal"``.
    q : float
        Number of features selected in each resample, or its mean.
    n_features : int
        Number of features.
    bound : {"mb", "unimodal", "r-concave"}
        ``"mb"`` is :math:`q^2 / ((2\tau - 1) d)` (Meinshausen and Bühlmann, 2010; Shah and Samworth, 2013, show it for
        pairs without assumptions on noise features). The others assume a shape of the distribution of the share of
        pairs in which both halves select a feature (Shah and Samworth), and are never larger than ``"mb"``.
    n_pairs : int
        Number of complementary pairs; has no part in ``"mb"``.

    Examples
    --------
    >>> from holdfast.selectors.error_bounds import expected_false
    >>> [round(expected_false(0.75, 2, 9, bound=b, n_pairs=50), 3) for b in ("mb", "unimodal", "r-concave")]
    [0.889, 0.454, 0.163]
    """
    plain = q**2 / ((2 * threshold - 1) * n_features) if threshold > 0.5 else math.inf
    theta = min(1.0, q / n_features)
    shaped = math.inf
    if bound == "unimodal":
        shaped = n_features * theta**2 * unimodal_factor(on_grid(threshold, n_pairs), theta, n_pairs)
    elif bound == "r-concave":
        shaped = n_features * r_concave_share(on_grid(threshold, n_pairs), theta, n_pairs)
    bounded = min(plain, shaped)
    return math.nan if math.isinf(bounded) else min(bounded, float(n_features))


def on_grid(threshold: float, n_pairs: int) -> float:
    """The least share of halves that is no less than the threshold: selections are the same for both."""
    return math.ceil(2 * n_pairs * threshold - SLACK) / (2 * n_pairs)


def unimodal_factor(threshold: float, theta: float, n_pairs: int) -> float:
    r"""The factor :math:`C(\tau, B)` of Shah and Samworth's Theorem 2; infinite where it does not hold.

    It holds for :math:`\theta \le 1/\sqrt3` and thresholds above
    :math:`\min(\frac12 + \theta^2, \frac12 + \frac1{2B} + \frac34\theta^2)`, from :math:`\frac12 + \frac1B` on.
    """
    lowest = min(0.5 + theta**2, 0.5 + 0.5 / n_pairs + 0.75 * theta**2)
    if theta > 1 / math.sqrt(3) or threshold <= lowest or threshold < 0.5 + 1 / n_pairs - SLACK:
        return math.inf
    if threshold <= 0.75 + SLACK:
        return 1 / (2 * (2 * threshold - 1 - 0.5 / n_pairs))
    return 4 * (1 - threshold + 0.5 / n_pairs) / (1 + 1 / n_pairs)


def r_concave_share(threshold: float, theta: float, n_pairs: int) -> float:
    """The largest probability to pass the threshold, for r-concave shares of pairs (r = -1/2) and halves (r = -1/4)."""
    halves = round(2 * n_pairs * threshold)
    of_pairs = largest_tail(theta**2 * n_pairs, halves - n_pairs, n_pairs, 2.0)
    return min(of_pairs, largest_tail(theta * 2 * n_pairs, halves, 2 * n_pairs, 4.0))


@lru_cache(maxsize=4096)
def largest_tail(mean: float, least: int, n: int, power: float) -> float:
    r"""The largest P(X ≥ least) over r-concave distributions on 0, …, n of this mean or less, r = -1 / ``power``.

    A distribution is r-concave if its :math:`f^r` is convex. The tail is largest for
    :math:`f(i) \propto (1 + c i)^{1/r}` on 0, …, k with a smaller value at k + 1, which the mean fixes (Shah and
    Samworth, 2013, appendix); k and the slope c are searched. For ``least`` up to twice the mean, where a distribution
    need not fall, 1 is returned, which always holds.
    """
    if least <= max(0.0, 2 * mean):
        return 1.0
    if mean == 0:
        return 0.0
    best = 0.0
    slope = 0.0  # flat distributions on 0, ..., k have this mean or less, as k ≤ 2 mean
    for k in range(math.floor(2 * mean), n + 1):
        steeper = _slope(mean, k + 1, power) if k < n else slope
        if k + 1 >= least:
            best = max(best, _tail(slope, mean, k, least, power))
            if steeper > slope:
                best = max(best, _best_between(max(slope, FLATTEST), steeper, mean, k, least, power))
        slope = steeper
    return best


def _distribution(slope: float, k: int, power: float) -> NDArray[np.float64]:
    return np.asarray((1 + slope * np.arange(k + 1)) ** -power, dtype=np.float64)


def _mean(slope: float, k: int, power: float) -> float:
    f = _distribution(slope, k, power)
    return float(np.arange(k + 1) @ f / f.sum())


def _slope(mean: float, k: int, power: float) -> float:
    """The slope that gives a distribution on 0, …, k this mean, within what can be told from flat and from a point."""
    if _mean(FLATTEST, k, power) <= mean:
        return FLATTEST
    if _mean(STEEPEST, k, power) >= mean:
        return STEEPEST
    return math.exp(brentq(lambda log: _mean(math.exp(log), k, power) - mean, math.log(FLATTEST), math.log(STEEPEST)))


def _tail(slope: float, mean: float, k: int, least: int, power: float) -> float:
    """P(X ≥ least) of the distribution on 0, …, k with so much at k + 1 that it has this mean."""
    f = _distribution(slope, k, power)
    total = (k + 1 - np.arange(k + 1)) @ f / (k + 1 - mean)
    return float(1 - f[:least].sum() / total)


def _best_between(low: float, high: float, mean: float, k: int, least: int, power: float) -> float:
    optimum = minimize_scalar(
        lambda log: -_tail(math.exp(log), mean, k, least, power),
        bounds=(math.log(low), math.log(high)),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return max(-float(optimum.fun), 0.0)


def threshold_for(q: float, pfer: float, n_features: int, *, bound: Bound, n_pairs: int) -> float:
    """The least threshold for which no more than ``pfer`` features are expected to be selected falsely.

    Raises
    ------
    ValueError
        If not even a threshold of 1 suffices.
    """
    if bound == "mb":
        threshold = (1 + q**2 / (pfer * n_features)) / 2
        if threshold <= 1:
            return threshold
    else:
        grid = range(1, 2 * n_pairs + 1)
        place = _first(
            len(grid),
            lambda at: _at_most(grid[at] / (2 * n_pairs), q, pfer, n_features, bound, n_pairs),
        )
        if place < len(grid):
            return grid[place] / (2 * n_pairs)
    least = expected_false(1.0, q, n_features, bound=bound, n_pairs=n_pairs)
    raise ValueError(
        f"Expected a pfer that some threshold can keep, got {pfer:g}: with q={q:g} of {n_features} features even a "
        f"threshold of 1 gives {least:.3g}; select fewer features in each resample, or allow a larger pfer."
    )


def largest_q(threshold: float, pfer: float, n_features: int, *, bound: Bound, n_pairs: int) -> int:
    """The largest number of features in each resample for which no more than ``pfer`` false ones are expected.

    Raises
    ------
    ValueError
        If not even one feature is allowed, or no bound holds for the threshold.
    """
    q = _first(n_features, lambda at: not _at_most(threshold, at + 1, pfer, n_features, bound, n_pairs))
    if q:
        return q
    least = expected_false(threshold, 1, n_features, bound=bound, n_pairs=n_pairs)
    said = "no bound holds for so low a threshold" if math.isnan(least) else f"even q=1 gives {least:.3g}"
    raise ValueError(
        f"Expected a pfer that some q can keep, got {pfer:g}: at a threshold of {threshold:g} and {n_features} "
        f"features, {said}; raise the threshold, or allow a larger pfer."
    )


def _at_most(threshold: float, q: float, pfer: float, n_features: int, bound: Bound, n_pairs: int) -> bool:
    return expected_false(threshold, q, n_features, bound=bound, n_pairs=n_pairs) <= pfer * (1 + 1e-12)


def _first(n: int, holds: Callable[[int], bool]) -> int:
    """The first of 0, …, n - 1 for which something holds that holds for all after it; n if there is none."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
