"""Comparing candidates over several data sets by their ranks: Friedman's test, and the blocks that it is made on.

A block is a data set with a value of every candidate. All functions take a table of data sets × candidates.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc

from holdfast.cards.ranks import Card, draw_mean_ranks
from holdfast.inference.intervals import check_level
from holdfast.results import ResultMixin

Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = pd.DataFrame | Floats | Sequence[Sequence[float]]

DIGITS = 12  # what differs beyond them is rounding, and ties are ties
MOST_ENUMERATED = 20_000
"""Up to so many ways to permute ranks inside of data sets, all are counted; beyond, as many are drawn."""
FEW = 5
"""Below so many data sets, tests over data sets can hardly show anything."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """Data sets on which every candidate has a value: what tests over data sets are made on.

    Attributes
    ----------
    values : ndarray, data sets × candidates
        The values; larger is better.
    datasets, candidates : tuple of str
        Names of rows and columns.
    note : str
        What was left out, in a sentence; empty if nothing was.
    """

    values: Floats
    datasets: tuple[str, ...]
    candidates: tuple[str, ...]
    note: str = ""

    @property
    def reason(self) -> str | None:
        """Why candidates cannot be compared over data sets; None if they can."""
        n, k = self.values.shape
        if k < 2:
            return f"a comparison needs two candidates that have values, and there {_verb(k)} {k}"
        if n < 2:
            return f"a comparison needs two data sets with values of all candidates, and there {_verb(n)} {n}"
        return None

    @property
    def ranks(self) -> Floats:
        """Ranks inside of each data set: 1 is best, equals share the average of their ranks."""
        from scipy.stats import rankdata  # here: the import takes longer than measuring does

        if not self.values.size:
            return np.empty(self.values.shape)
        return np.asarray(rankdata(-self.values, axis=1))

    @property
    def mean_ranks(self) -> tuple[float, ...]:
        """Mean rank of each candidate; ``nan`` without a data set."""
        if not len(self.values):
            return (math.nan,) * len(self.candidates)
        return tuple(float(rank) for rank in self.ranks.mean(axis=0))


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"


def make_blocks(values: Values, *, higher_is_better: bool = True) -> Blocks:
    """Return the complete blocks of a table of data sets × candidates.

    Candidates without any value are left out, then data sets that lack a value of one of the others.

    Parameters
    ----------
    values : DataFrame or matrix
        One row per data set, one column per candidate; ``nan`` where there is no value.
    higher_is_better : bool
        Whether larger values are better.
    """
    table = values if isinstance(values, pd.DataFrame) else pd.DataFrame(np.asarray(values, dtype=np.float64))
    array = table.to_numpy(dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"Expected a table of data sets × candidates, got an array of shape {array.shape}.")
    array = np.where(np.isfinite(array), array, np.nan).round(DIGITS)
    known = ~np.isnan(array).all(axis=0) if len(array) else np.ones(array.shape[1], dtype=bool)
    complete = ~np.isnan(array[:, known]).any(axis=1)
    rows, columns = (tuple(map(str, names)) for names in (table.index, table.columns))
    return Blocks(
        values=(1 if higher_is_better else -1) * array[np.ix_(complete, known)],
        datasets=tuple(name for name, kept in zip(rows, complete, strict=True) if kept),
        candidates=tuple(name for name, kept in zip(columns, known, strict=True) if kept),
        note=_describe_left_out(
            [name for name, kept in zip(columns, known, strict=True) if not kept],
            [name for name, kept in zip(rows, complete, strict=True) if not kept],
        ),
    )


def _describe_left_out(candidates: Sequence[str], datasets: Sequence[str]) -> str:
    parts = []
    if candidates:
        parts.append(f"{', '.join(candidates)} (no value on any data set)")
    if datasets:
        parts.append(f"the data set{'s' if len(datasets) > 1 else ''} {', '.join(datasets)} (not all values)")
    return f"Left out: {' and '.join(parts)}." if parts else ""


@dataclass(frozen=True, kw_only=True)
class FriedmanTest(ResultMixin):
    """Friedman's test of whether candidates differ over data sets, with their mean ranks.

    Attributes
    ----------
    candidates : tuple of str
        Names of the candidates.
    mean_ranks : tuple of float
        Mean rank of each; 1 is best.
    n_datasets : int
        Number of data sets with values of all candidates.
    chi_square, degrees, p_chi_square : float
        Friedman's statistic, corrected for ties, its degrees of freedom and p-value by the chi-square distribution.
    f_statistic, f_degrees, p_f : float and (int, int)
        The statistic of Iman and Davenport, its degrees of freedom and p-value by the F distribution.
    p_value : float
        P-value by permuting ranks inside of data sets, which holds for any number of data sets. Both distributions
        above are approximations for many data sets; for few of them their p-values can be far too small.
    exact : bool
        Whether all permutations were counted; else they were drawn, with a fixed seed.
    reason : str or None
        Why there is no test; None if there is one.
    note : str
        What was left out.

    See Also
    --------
    friedman : Makes it.
    RankComparisons : Which candidates differ.

    Examples
    --------
    >>> import holdfast as hf
    >>> import pandas as pd
    >>> accuracy = pd.DataFrame({"lasso": [0.9, 0.8, 0.7, 0.9], "anova": [0.8, 0.7, 0.6, 0.7], "forest": [0.7] * 4})
    >>> hf.inference.friedman(accuracy)
    Friedman over 4 data sets: chi-square = 5.69 (2 df), F = 7.40 (2, 6 df), p = 0.0741 (permutations)
      lasso   mean rank 1.12
      forest  mean rank 2.38
      anova   mean rank 2.50
    """

    candidates: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    n_datasets: int
    chi_square: float = math.nan
    degrees: int = 0
    p_chi_square: float = math.nan
    f_statistic: float = math.nan
    f_degrees: tuple[int, int] = (0, 0)
    p_f: float = math.nan
    p_value: float = math.nan
    exact: bool = True
    reason: str | None = None
    note: str = ""

    @property
    def best(self) -> str | None:
        """The candidate with the best mean rank, the first one of equals; None without ranks."""
        known = [(rank, place) for place, rank in enumerate(self.mean_ranks) if not math.isnan(rank)]
        return self.candidates[min(known)[1]] if known else None

    @property
    def smallest_p(self) -> float:
        """The smallest p-value that as many data sets and candidates could give, if all ranked them alike."""
        if self.n_datasets < 2 or len(self.candidates) < 2:
            return 1.0
        return math.factorial(len(self.candidates)) ** (1.0 - self.n_datasets)

    def to_frame(self) -> pd.DataFrame:
        """Return the mean rank of each candidate, the best first.

        Returns
        -------
        DataFrame
            Indexed by candidate.
        """
        frame = pd.DataFrame({"candidate": self.candidates, "mean_rank": self.mean_ranks})
        return frame.set_index("candidate").sort_values("mean_rank", kind="stable")

    def _card(self) -> Card:
        return replace(super()._card(), picture=draw_mean_ranks(self.candidates, self.mean_ranks))

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"Friedman over {_count(self.n_datasets)}: undefined, {self.reason}"
        width = max(map(len, self.candidates))
        head = (
            f"Friedman over {_count(self.n_datasets)}: chi-square = {self.chi_square:.2f} ({self.degrees} df), "
            f"F = {self.f_statistic:.2f} ({self.f_degrees[0]}, {self.f_degrees[1]} df), p = {self.p_value:.3g} "
            "(permutations)"
        )
        rows = [f"  {name:<{width}}  mean rank {rank:.2f}" for name, rank in self.to_frame()["mean_rank"].items()]
        return "\n".join([head, *rows, *filter(None, [self.note])])


def _count(n: int) -> str:
    return f"{n} data set{'' if n == 1 else 's'}"


def friedman(values: Values | Blocks, *, higher_is_better: bool = True, correct_ties: bool = True) -> FriedmanTest:
    r"""Test whether candidates differ over data sets, by their ranks inside of each data set.

    .. math:: \chi^2_F = \frac{12 N}{k (k + 1)} \Big[\sum_j R_j^2 - \frac{k (k + 1)^2}{4}\Big] \Big/ C, \qquad
              F_F = \frac{(N - 1) \chi^2_F}{N (k - 1) - \chi^2_F}

    for mean ranks :math:`R_j` of :math:`k` candidates over :math:`N` data sets; :math:`C = 1 - \sum (t^3 - t) / (N k
    (k^2 - 1))` over groups of :math:`t` equal values. If all values tie, both are 0 and p is 1.

    Parameters
    ----------
    values : DataFrame or matrix
        One row per data set, one column per candidate; data sets with a missing value are left out.
    higher_is_better : bool
        Whether larger values are better.
    correct_ties : bool
        Whether the statistics are corrected for ties; Demšar (2006) gives them without.

    Returns
    -------
    FriedmanTest
        Statistics, p-values and mean ranks; ``nan`` with a reason for fewer than two data sets or candidates.

    See Also
    --------
    compare_ranks : Which candidates differ.

    References
    ----------
    Friedman (1937); Iman and Davenport (1980); Demšar (2006), section 3.2.2.
    """
    blocks = values if isinstance(values, Blocks) else make_blocks(values, higher_is_better=higher_is_better)
    n, k = blocks.values.shape
    about: dict[str, Any] = {
        "candidates": blocks.candidates, "mean_ranks": blocks.mean_ranks, "n_datasets": n, "note": blocks.note,
    }  # fmt: skip
    if blocks.reason is not None:
        return FriedmanTest(**about, reason=blocks.reason)
    ranks = blocks.ranks
    chi_square = _chi_square(ranks, correct_ties)
    left = n * (k - 1) - chi_square
    f = 0.0 if chi_square == 0 else math.inf if left < 1e-9 else (n - 1) * chi_square / left
    p_value, exact = permutation_p_value(ranks)
    return FriedmanTest(
        **about, chi_square=chi_square, degrees=k - 1, p_chi_square=float(chdtrc(k - 1, chi_square)), f_statistic=f,
        f_degrees=(k - 1, (k - 1) * (n - 1)),
        p_f=0.0 if math.isinf(f) else float(fdtrc(k - 1, (k - 1) * (n - 1), f)), p_value=p_value, exact=exact,
    )  # fmt: skip


def _chi_square(ranks: Floats, correct_ties: bool) -> float:
    n, k = ranks.shape
    mean = ranks.mean(axis=0)
    statistic = 12 * n / (k * (k + 1)) * float(((mean - (k + 1) / 2) ** 2).sum())
    if not correct_ties:
        return statistic
    ties = sum(float((counts**3 - counts).sum()) for counts in (np.unique(row, return_counts=True)[1] for row in ranks))
    correction = 1 - ties / (n * k * (k * k - 1))
    return 0.0 if correction < 1e-12 else statistic / correction


def permutation_p_value(ranks: Floats) -> tuple[float, bool]:
    """Return how often ranks permuted inside of data sets vary as much between candidates, and whether all were tried.

    The first data set keeps its order: only the orders of the others relative to it count.
    """
    n, k = ranks.shape
    observed = _spread(ranks.sum(axis=0)[None])[0] - 1e-9
    if math.factorial(k) ** (n - 1) <= MOST_ENUMERATED:
        orders = np.array(list(itertools.permutations(range(k))))
        sums = ranks[:1]
        for row in ranks[1:]:
            sums = (sums[:, None, :] + row[orders][None, :, :]).reshape(-1, k)
        return float((_spread(sums) >= observed).mean()), True
    rng = np.random.default_rng(0)
    sums = np.zeros((MOST_ENUMERATED, k))
    for row in ranks:
        sums += rng.permuted(np.broadcast_to(row, sums.shape), axis=1)
    return float(((_spread(sums) >= observed).sum() + 1) / (MOST_ENUMERATED + 1)), False


def _spread(sums: Floats) -> Floats:
    return np.asarray(((sums - sums.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def rank_table(blocks: Blocks) -> pd.DataFrame:
    """Return the ranks of candidates inside of each data set: 1 is best, equals share the average of their ranks."""
    index = pd.Index(blocks.datasets, name="dataset")
    return pd.DataFrame(blocks.ranks, index=index, columns=list(blocks.candidates))


def check_alpha(level: float) -> float:
    """Return the level of significance that belongs to a confidence level."""
    check_level(level)
    return 1 - level
