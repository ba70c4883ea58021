"""Statistics of single features: selection frequencies, shares in the instability, and pairs that take turns."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betainc

from holdfast.checks import Matrix
from holdfast.inference.estimate import as_preferences
from holdfast.inference.intervals import check_level
from holdfast.measures import MEASURES
from holdfast.preferences import Preferences

SWAP_CANDIDATES = 500
FrequencyClass: TypeAlias = Literal["first only", "second only", "both", "neither", "open"]
"""Which of two selections hold a feature often, where the intervals of both frequencies say so."""


def compare_frequencies(
    first: tuple[float, float], second: tuple[float, float], threshold: float = 0.5
) -> FrequencyClass:
    """Say which of two selections hold a feature often, from the intervals of its frequencies.

    A selection holds it often if its interval is above the threshold, and seldom if it is below; where one of the
    intervals includes the threshold, that is open.
    """
    often = [low > threshold for low, _ in (first, second)]
    if any(low <= threshold <= high for low, high in (first, second)):
        return "open"
    classes: dict[tuple[bool, bool], FrequencyClass] = {
        (True, True): "both", (True, False): "first only", (False, True): "second only", (False, False): "neither"
    }  # fmt: skip
    return classes[often[0], often[1]]


def feature_table(preferences: Preferences | Matrix, *, level: float = 0.95) -> pd.DataFrame:
    """Tabulate the selection frequency of each feature, and its share in the instability.

    Parameters
    ----------
    preferences : Preferences of subsets, or 0/1 matrix
        What each run selected.
    level : float
        Confidence level of the intervals of the frequencies; these take into account that only selected features are
        listed.

    Returns
    -------
    DataFrame
        One row per feature that was ever selected, the most frequent first: ``feature``, ``count``, ``frequency``,
        ``low``, ``high``, and ``variance_share``, its part in the summed selection variances: 0 for a feature that is
        always or never selected, largest for one that is selected half of the time.

    See Also
    --------
    feature_swaps : Pairs of features that take turns.
    holdfast.plots.plot_frequencies : Draw the selection frequencies.

    Examples
    --------
    >>> import holdfast as hf
    >>> hf.feature_table(hf.Preferences.from_sets([{"a", "b"}, {"a", "c"}], n_features=9)).round(2)
      feature  count  frequency   low  high  variance_share
    0       a      2        1.0  0.05  1.00             0.0
    1       b      1        0.5  0.00  0.99             0.5
    2       c      1        0.5  0.00  0.99             0.5
    """
    check_level(level)
    preferences = as_preferences(preferences, [MEASURES["nogueira"]])
    counts, p = preferences.counts, preferences.frequency
    variance = p * (1 - p)
    share = variance / variance.sum() if variance.sum() > 0 else variance
    used = np.flatnonzero(counts)
    order = used[np.argsort(-counts[used], kind="stable")]
    low, high = frequency_interval(counts[order], preferences.n_runs, level)
    return pd.DataFrame(
        {
            "feature": [preferences.features[feature] for feature in order],
            "count": counts[order],
            "frequency": p[order],
            "low": low,
            "high": high,
            "variance_share": share[order],
        }
    )


def frequency_interval(
    counts: NDArray[np.int64], n: int, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the exact interval of the selection probability behind each count of ``n`` runs.

    Features are looked at because they were selected at least once, which makes rare ones look more frequent than they
    are. So from a count of 1 on, the interval is the exact one (Clopper and Pearson, 1934) of a count that is known to
    be at least 1; its lower end is 0 for a feature that was selected once.
    """
    distinct, inverse = np.unique(counts, return_inverse=True)
    tail, c = (1 - level) / 2, distinct.astype(float)
    low = _solve(lambda p: _at_least(c, n, p) < tail, c.size)
    high = _solve(lambda p: 1 - _at_least(c + 1, n, p) > tail, c.size)
    low = np.where(c <= 1, 0.0, low)
    high = np.where(c == 0, 1 - tail ** (1 / n), np.where(c == n, 1.0, high))
    return low[inverse], high[inverse]


def _at_least(c: NDArray[np.float64], n: int, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of a count of at least ``c``, if it is at least 1."""
    inside = np.clip(c, 1, n)
    probability = betainc(inside, n - inside + 1, p) / -np.expm1(n * np.log1p(-p))
    return np.where(c > n, 0.0, np.where(c < 1, 1.0, probability))


def _solve(too_low: Callable[[NDArray[np.float64]], NDArray[np.bool_]], size: int) -> NDArray[np.float64]:
    """Find by bisection the probabilities up to which a condition holds."""
    low, high = np.zeros(size), np.ones(size)
    for _ in range(50):
        middle = (low + high) / 2
        below = too_low(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def feature_swaps(preferences: Preferences | Matrix, *, most: int = 20) -> pd.DataFrame:
    """Find pairs of features that take turns: runs tend to select one of them or the other.

    Only the 500 features whose selection varies most are searched.

    Parameters
    ----------
    preferences : Preferences of subsets, or 0/1 matrix
        What each run selected.
    most : int
        Maximum number of pairs to return.

    Returns
    -------
    DataFrame
        The strongest first: ``first``, ``second``, in how many runs ``both``, ``only_first``, ``only_second`` and
        ``neither`` were selected, their ``correlation`` (below 0), and ``p_value``, the chance of so few joint
        selections if the two had nothing to do with each other, not corrected for the number of pairs: if it is large,
        nothing points to turns.

    Raises
    ------
    ValueError
        If ``most`` is below 0.

    See Also
    --------
    feature_table : How often each feature was selected.
    holdfast.plots.plot_swaps : Draw the pairs.

    Examples
    --------
    >>> import holdfast as hf
    >>> runs = hf.Preferences.from_sets([{"a", "b"}, {"a", "c"}, {"a", "b"}, {"a", "c"}], n_features=9)
    >>> hf.feature_swaps(runs)[["first", "second", "both", "only_first", "only_second"]]
      first second  both  only_first  only_second
    0     b      c     0           2            2
    """
    if most < 0:
        raise ValueError(f"Expected a number of pairs, got most={most}.")
    preferences = as_preferences(preferences, [MEASURES["nogueira"]])
    swaps = find_swaps(preferences, most)
    names = {side: [preferences.features[column] for column in swaps[side].tolist()] for side in ("first", "second")}
    return swaps.assign(**names)


def find_swaps(preferences: Preferences, most: int) -> pd.DataFrame:
    """Return the pairs of :func:`feature_swaps`, with columns instead of names."""
    counts, n = preferences.counts, preferences.n_runs
    varying = np.flatnonzero((counts > 0) & (counts < n))
    order = np.argsort(np.abs(counts[varying] - n / 2), kind="stable")[:SWAP_CANDIDATES]
    features = np.sort(varying[order])
    selected = preferences.to_sparse()[:, features]
    both = np.asarray((selected.T @ selected).todense())
    h = counts[features].astype(float)
    spread = np.sqrt(h * (n - h))
    correlation = (n * both - np.outer(h, h)) / np.outer(spread, spread)
    first, second = np.nonzero(np.triu(correlation < -1e-12, 1))
    strongest = np.argsort(correlation[first, second], kind="stable")[:most]
    first, second = first[strongest], second[strongest]
    together = both[first, second]
    return pd.DataFrame(
        {
            "first": features[first],
            "second": features[second],
            "both": together.astype(int),
            "only_first": (h[first] - together).astype(int),
            "only_second": (h[second] - together).astype(int),
            "neither": (n - h[first] - h[second] + together).astype(int),
            "correlation": correlation[first, second],
            "p_value": _few_joint_selections(together, n, h[first], h[second]),
        }
    )


def _few_joint_selections(
    together: NDArray[np.float64], n: int, first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The chance of at most so many joint selections; found once for equal numbers, of which there are many."""
    from scipy.stats import hypergeom  # half a second to import

    numbers = np.stack([together, first, second]).astype(np.int64)
    key = (numbers[0] * (n + 1) + numbers[1]) * (n + 1) + numbers[2]
    _, once, inverse = np.unique(key, return_index=True, return_inverse=True)
    return hypergeom.cdf(together[once], n, first[once], second[once])[inverse]


COLUMNS = ("column", "without", "beside", "both", "p_value", "clear")


def selected_instead(preferences: Preferences, column: int, *, most: int = 10, level: float = 0.95) -> pd.DataFrame:
    """Find the features that runs without a given feature select more often than runs with it.

    Parameters
    ----------
    preferences : Preferences of subsets
        What each run selected.
    column : int
        The feature.
    most : int
        Maximum number of features to return.
    level : float
        One minus the share of false ones that is accepted for ``clear``.

    Returns
    -------
    DataFrame
        The largest difference first: ``column`` of the other feature, the share of the runs ``without`` the given
        feature that selected it, that of the runs in which it stands ``beside`` it, in how many runs ``both`` were
        selected, ``p_value`` of so few if the two had nothing to do with each other, and whether that is ``clear``
        after Bonferroni's correction for all features that vary. Empty if the feature was never or always selected.

    See Also
    --------
    holdfast.feature_swaps : Pairs of features that take turns, among all.
    """
    counts, n = preferences.counts, preferences.n_runs
    count = int(counts[column])
    varying = np.flatnonzero((counts > 0) & (counts < n))
    varying = varying[varying != column]
    if count in (0, n) or not varying.size:
        return pd.DataFrame({name: np.empty(0) for name in COLUMNS})
    both = _count_together(preferences, column)[varying]
    without, together = (counts[varying] - both) / (n - count), both / count
    fewer = np.flatnonzero(without > together + 1e-12)
    fewer = fewer[np.argsort(together[fewer] - without[fewer], kind="stable")][:most]
    from scipy.stats import hypergeom  # half a second to import

    p_values = hypergeom.cdf(both[fewer], n, count, counts[varying[fewer]])
    values = varying[fewer], without[fewer], together[fewer], both[fewer], p_values
    frame = pd.DataFrame(dict(zip(COLUMNS, values, strict=False)))
    return frame.assign(clear=p_values * varying.size <= 1 - level)


def _count_together(preferences: Preferences, column: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """In how many runs each feature was selected together with a given one."""
    indices, pointers = preferences.lists()
    run = np.repeat(np.arange(preferences.n_runs), np.diff(pointers))
    chosen = np.zeros(preferences.n_runs, dtype=bool)
    chosen[run[indices == column]] = True
    return np.bincount(indices[chosen[run]], minlength=preferences.n_features)
