"""A shuffled target: in which order, and which features stand out more with the true one than with shuffled ones.

What is counted is any number for each feature that is larger for better ones, such as how often halves of the rows
select it, for the true target (row 0) and for K shuffled ones. *The expected number of false features at least as good
as one is the mean, over the target and its K shuffles, of the number of features at least as good; its q-value is that
as a share of those of the true target.* The true target is one of those counted: where no feature has to do with it,
the K + 1 rows are exchangeable and the threshold that a number of false features sets is a symmetric function of them,
so that the promise holds for every selector, any dependence between features, and every K.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln

from holdfast.text import format_count

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_ORDERS = 1000
"""With fewer different orders of the target, nothing can be told from chance."""
FEWEST_OF_SIZE = 5
"""Groups change places with others of their size, if there are so many; else with all others of rare sizes."""
ROUNDING = 9  # decimals: means over shuffles of equal frequencies may differ by rounding


@dataclass(frozen=True, eq=False)
class TargetShuffles:
    """How a target can be shuffled: units change places with others of their stratum.

    Attributes
    ----------
    unit_of : ndarray of int
        The unit of each row: the row itself, or its group.
    row_of : ndarray of int
        A row of each unit, which all have the same target.
    strata : ndarray of int
        The stratum of each unit.
    reason : str
        Why shuffled targets would tell nothing; empty if they do.
    """

    unit_of: Ints
    row_of: Ints
    strata: Ints
    reason: str = ""

    @classmethod
    def plan(cls, y: NDArray[Any], groups: NDArray[Any] | None = None, covariates: Any = None) -> "TargetShuffles":
        """Find what may change places, so that only the link of target and features is broken.

        Rows of a group keep one target, and change places with groups of as many rows; where targets differ within
        groups, they are shuffled there. Rows change places only with rows of equal covariates.
        """
        n = len(y)
        rows, codes = np.arange(n), pd.factorize(np.asarray(y))[0]
        unit_of, row_of, strata = rows, rows, np.zeros(n, np.int64)
        if groups is not None:
            group = pd.factorize(np.asarray(groups))[0]
            row_of = np.unique(group, return_index=True)[1]
            if (codes == codes[row_of[group]]).all():
                unit_of, sizes = group, np.bincount(group)
                rare = np.bincount(sizes)[sizes] < FEWEST_OF_SIZE
                strata = np.where(rare, 0, sizes)
            else:
                row_of, strata = rows, group
        if covariates is not None:
            alike = np.unique(np.asarray(covariates, dtype=np.float64), axis=0, return_inverse=True)[1].reshape(n)
            if (alike != alike[row_of[unit_of]]).any():
                return cls(unit_of, row_of, strata, "covariates vary within groups, so that a shuffled target differs "
                           "from the true one in more than its link with the features")  # fmt: skip
            strata = pd.factorize(pd.Series(zip(strata, alike[row_of], strict=True)))[0]
        cells, counts = np.unique(np.column_stack([strata, codes[row_of]]), axis=0, return_counts=True)
        orders = gammaln(np.bincount(strata) + 1).sum() - gammaln(counts + 1).sum()
        n_free = int((np.bincount(cells[:, 0])[strata] > 1).sum())  # in a stratum with another target
        within = "" if groups is None else ", as groups of rows keep one target"
        if covariates is not None:
            within = " among rows of equal covariates; covariates that are numbers can be made classes"
        if orders < math.log(FEWEST_ORDERS):
            few = f"the target has only {format_count(round(math.exp(orders)), 'different order')}{within}"
            return cls(unit_of, row_of, strata, few)
        if covariates is not None and 2 * n_free < strata.size:
            units = "row" if groups is None else "group"
            few = f"only {n_free:,} of {format_count(strata.size, units)} can get another target{within}"
            return cls(unit_of, row_of, strata, few)
        return cls(unit_of, row_of, strata)

    def draw(self, rng: np.random.Generator) -> Ints:
        """Return for each row the row whose target it gets."""
        source = np.arange(self.row_of.size)
        by_stratum = np.argsort(self.strata, kind="stable")
        for units in np.split(by_stratum, np.cumsum(np.bincount(self.strata))[:-1]):
            source[units] = rng.permutation(units)
        return self.row_of[source][self.unit_of]


class ChanceErrors(NamedTuple):
    """What features owe to chance.

    Attributes
    ----------
    excess : ndarray
        What the target adds: the statistic of each feature less its mean with the shuffled targets.
    by_habit : ndarray
        That mean.
    expected_false : ndarray
        Expected number of false features at least as good as each.
    q : ndarray
        The least share of false ones in a list of all features at least as good as some, which holds the feature.
    p_any : float
        Exact p-value that no feature has to do with the target, with as many resamples for each target.
    """

    excess: Floats
    by_habit: Floats
    expected_false: Floats
    q: Floats
    p_any: float


def tell_from_chance(statistics: Floats, least: float, alike: Floats | None = None) -> ChanceErrors:
    """Compare features with the true target (row 0) to those with shuffled ones (the other rows).

    Parameters
    ----------
    statistics : ndarray
        Targets × features, larger for better features; columns that are 0 for all targets may be left out.
    least : float
        What the target must add for a feature to be told from chance; above 0.
    alike : ndarray, optional
        The statistic of the true target from as few resamples as shuffled ones have, for ``p_any``; row 0 if not given.

    Returns
    -------
    ChanceErrors
        Undefined for features to which the target adds less than ``least``: infinitely many false ones, q of 1.
    """
    excess = leave_one_out_excess(statistics)
    expected, size = count_expected(excess, excess[0])
    found = excess[0] >= least - 10.0**-ROUNDING
    q = q_values(np.where(found, expected, np.inf), size, excess[0])
    rows = excess if alike is None else leave_one_out_excess(np.vstack([alike, statistics[1:]]))
    best = []
    for row in rows:
        false, own = count_expected(rows, row)
        share = (false / own)[row >= least - 10.0**-ROUNDING]
        best.append(share.min(initial=np.inf))
    p_any = float(np.mean(np.round(best, ROUNDING) <= np.round(best[0], ROUNDING)))
    by_habit = statistics[1:].mean(axis=0)
    return ChanceErrors(excess[0], by_habit, np.where(found, expected, np.inf), q, p_any)


def leave_one_out_excess(statistics: Floats) -> Floats:
    """Each target's statistics less the mean of the same feature over all other targets."""
    others = (statistics.sum(axis=0) - statistics) / (len(statistics) - 1)
    return np.round(statistics - others, ROUNDING)


def count_expected(excess: Floats, row: Floats) -> tuple[Floats, Ints]:
    """How many features of any target are at least as good as each of a row, on average, and how many of the row."""
    pooled, own = np.sort(excess, axis=None), np.sort(row)
    return (pooled.size - np.searchsorted(pooled, row)) / len(excess), own.size - np.searchsorted(own, row)


def q_values(expected: Floats, size: Ints, statistic: Floats) -> Floats:
    """The least of ``expected / size`` among all features that are no better, 1 at most."""
    values, entry = np.unique(statistic, return_inverse=True)
    share = np.full(values.size, np.inf)
    np.minimum.at(share, entry, expected / size)
    return np.minimum(np.minimum.accumulate(share)[entry], 1.0)
