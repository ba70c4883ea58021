"""The asymptotic variance of the stability of Nogueira, Sechidis and Brown (2018)."""

import numpy as np
from numpy.typing import NDArray

from holdfast.measures.whole import sum_over_selected
from holdfast.preferences import Preferences


def asymptotic_variance(preferences: Preferences) -> float:
    r"""Variance of ``nogueira`` by Theorem 7 of the 2018 paper, in time linear in the selections.

    .. math:: v = \frac{4}{M^2} \sum_i \left(\hat\Phi_{(i)} - \bar\Phi_{(\cdot)}\right)^2

    It is ``nan`` where the measure is, and 0 where all runs agree (and for every two runs of one size).
    """
    influence = run_influence(preferences)
    return float(4 * np.var(influence) / preferences.n_runs)


def run_influence(preferences: Preferences) -> NDArray[np.float64]:
    r"""The :math:`\hat\Phi_{(i)}` of Theorem 7: half of what each run adds to the stability, up to a constant."""
    n_runs, d, sizes = preferences.n_runs, preferences.n_features, preferences.sizes
    p, density = preferences.frequency, preferences.density
    if n_runs < 2 or density in (0, 1):
        return np.full(n_runs, np.nan)
    expected = density * (1 - density)
    stability = 1 - (p @ (1 - p)) / d * n_runs / (n_runs - 1) / expected
    share = sizes / d
    overlap = sum_over_selected(preferences, p) / d
    return (overlap - share * density + stability / 2 * (2 * density * share - share - density + 1)) / expected
