"""What is selected instead of a feature, in the runs that do not select it."""

import numpy as np
import pandas as pd

from holdfast.preferences import Preferences

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
    own = int(counts[column])
    varying = np.flatnonzero((counts > 0) & (counts < n))
    varying = varying[varying != column]
    if own in (0, n) or not varying.size:
        return pd.DataFrame({name: np.empty(0) for name in COLUMNS})
    both = _count_beside(preferences, column)[varying]
    without, beside = (counts[varying] - both) / (n - own), both / own
    fewer = np.flatnonzero(without > beside + 1e-12)
    fewer = fewer[np.argsort(beside[fewer] - without[fewer], kind="stable")][:most]
    from scipy.stats import hypergeom  # half a second to import

    p_values = hypergeom.cdf(both[fewer], n, own, counts[varying[fewer]])
    values = varying[fewer], without[fewer], beside[fewer], both[fewer], p_values
    frame = pd.DataFrame(dict(zip(COLUMNS, values, strict=False)))
    return frame.assign(clear=p_values * varying.size <= 1 - level)


def _count_beside(preferences: Preferences, column: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """In how many runs each feature was selected together with a given one."""
    indices, pointers = preferences.lists()
    run = np.repeat(np.arange(preferences.n_runs), np.diff(pointers))
    chosen = np.zeros(preferences.n_runs, dtype=bool)
    chosen[run[indices == column]] = True
    return np.bincount(indices[chosen[run]], minlength=preferences.n_features)
