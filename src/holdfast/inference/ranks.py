"""Comparing candidates over several data sets: Friedman's test, tests of pairs, and the Bayesian signed-rank test.

A block is a data set with a value of every candidate. All functions take a table of data sets × candidates.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, ndtr

from holdfast.cards import Svg, draw_mean_ranks, draw_probabilities
from holdfast.declared import About, Registry
from holdfast.inference.comparison import compact_letters, holm
from holdfast.inference.intervals import check_level
from holdfast.result_base import ResultMixin

Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = pd.DataFrame | Floats | Sequence[Sequence[float]]

DIGITS = 12  # what differs beyond them is rounding, and ties are ties
MAX_ENUMERATED = 20_000
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
        if k >= 2 and n >= 2:
            return None
        what, count = ("candidates that have values", k) if k < 2 else ("data sets with values of all candidates", n)
        return f"a comparison needs two {what}, and there {'is' if count == 1 else 'are'} {count}"

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


def make_blocks(values: Values | Blocks, *, higher_is_better: bool = True) -> Blocks:
    """Return the complete blocks of a table of data sets × candidates; blocks as they are.

    Candidates without any value are left out, then data sets that lack a value of one of the others; before these, the
    candidates with the fewest values, as far as that leaves more values of two candidates or more.

    Parameters
    ----------
    values : DataFrame or matrix
        One row per data set, one column per candidate; ``nan`` where there is no value.
    higher_is_better : bool
        Whether larger values are better.
    """
    if isinstance(values, Blocks):
        return values
    table = values if isinstance(values, pd.DataFrame) else pd.DataFrame(np.asarray(values, dtype=np.float64))
    array = table.to_numpy(dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"Expected a table of data sets × candidates, got an array of shape {array.shape}.")
    array = np.where(np.isfinite(array), array, np.nan).round(DIGITS)
    has_value = ~np.isnan(array)
    known = has_value.any(axis=0) if len(array) else np.ones(array.shape[1], dtype=bool)
    n_known, by_values = int(known.sum()), np.argsort(-has_value.sum(axis=0), kind="stable")
    best = max(  # of equals the most candidates
        range(n_known, 1, -1), key=lambda n: n * has_value[:, by_values[:n]].all(axis=1).sum(), default=n_known
    )
    never, partly = ~known, np.isin(np.arange(known.size), by_values[best:n_known])
    known &= ~partly
    complete = has_value[:, known].all(axis=1)
    datasets, candidates = (np.array([*map(str, names)], dtype=object) for names in (table.index, table.columns))
    left_out = []
    for columns, why in ((never, "no value on any data set"), (partly, "no value on some data sets")):
        if columns.any():
            left_out.append(f"{', '.join(candidates[columns])} ({why})")
    if not complete.all():
        plural = "s" if (~complete).sum() > 1 else ""
        left_out.append(f"the data set{plural} {', '.join(datasets[~complete])} (not all values)")
    return Blocks(
        values=(1 if higher_is_better else -1) * array[np.ix_(complete, known)],
        datasets=tuple(datasets[complete]),
        candidates=tuple(candidates[known]),
        note=f"Left out: {' and '.join(left_out)}." if left_out else "",
    )


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
        known = [(rank, column) for column, rank in enumerate(self.mean_ranks) if not math.isnan(rank)]
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

    def _picture(self) -> Svg | None:
        return draw_mean_ranks(self.candidates, self.mean_ranks)

    def __repr__(self) -> str:
        over = f"Friedman over {self.n_datasets} data set{'' if self.n_datasets == 1 else 's'}"
        if self.reason is not None:
            return f"{over}: undefined, {self.reason}"
        width = max(map(len, self.candidates))
        head = (
            f"{over}: chi-square = {self.chi_square:.2f} ({self.degrees} df), "
            f"F = {self.f_statistic:.2f} ({self.f_degrees[0]}, {self.f_degrees[1]} df), p = {self.p_value:.3g} "
            "(permutations)"
        )
        rows = [f"  {name:<{width}}  mean rank {rank:.2f}" for name, rank in self.to_frame()["mean_rank"].items()]
        return "\n".join([head, *rows, *filter(None, [self.note])])


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
    blocks = make_blocks(values, higher_is_better=higher_is_better)
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
    if math.factorial(k) ** (n - 1) <= MAX_ENUMERATED:
        orders = np.array(list(itertools.permutations(range(k))))
        sums = ranks[:1]
        for row in ranks[1:]:
            sums = (sums[:, None, :] + row[orders][None, :, :]).reshape(-1, k)
        return float((_spread(sums) >= observed).mean()), True
    rng = np.random.default_rng(0)
    sums = np.zeros((MAX_ENUMERATED, k))
    for row in ranks:
        sums += rng.permuted(np.broadcast_to(row, sums.shape), axis=1)
    return float(((_spread(sums) >= observed).sum() + 1) / (MAX_ENUMERATED + 1)), False


def _spread(sums: Floats) -> Floats:
    return np.asarray(((sums - sums.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def rank_table(blocks: Blocks) -> pd.DataFrame:
    """Return the ranks of candidates inside of each data set: 1 is best, equals share the average of their ranks."""
    index = pd.Index(blocks.datasets, name="dataset")
    return pd.DataFrame(blocks.ranks, index=index, columns=list(blocks.candidates))


STRENGTH = 0.5
"""Weight of the prior, as of half a data set on which both candidates are equal (Benavoli et al., 2017)."""
N_DRAWS = 50_000


class SignedRanks(NamedTuple):
    """Rank sums of positive and negative differences, the number of differences that are not 0, and the p-value."""

    positive: float
    negative: float
    n: int
    p_value: float


def signed_rank_test(differences: Floats) -> SignedRanks:
    """Wilcoxon's signed-rank test, two-sided and exact for ties too; differences of 0 are left out, as Wilcoxon did.

    The distribution of the rank sum over all signs is counted, on doubled ranks, which are whole numbers.
    """
    from scipy.stats import rankdata  # here: the import takes longer than measuring does

    moved = differences.round(DIGITS)
    moved = moved[moved != 0]
    if not moved.size:
        return SignedRanks(0.0, 0.0, 0, 1.0 if differences.size else math.nan)
    ranks = rankdata(np.abs(moved))
    positive = float(ranks[moved > 0].sum())
    negative = float(ranks.sum()) - positive
    doubled = np.rint(2 * ranks).astype(np.int64)
    share = np.zeros(int(doubled.sum()) + 1)
    share[0] = 1.0
    for rank in doubled:
        share[rank:] = (share[rank:] + share[:-rank]) / 2
        share[:rank] /= 2
    tail = float(share[: round(2 * min(positive, negative)) + 1].sum())
    return SignedRanks(positive, negative, moved.size, min(1.0, 2 * tail))


class Posterior(NamedTuple):
    """Probability that the first is better, that both are practically equivalent, and that the second is better."""

    first_better: float
    equivalent: float
    second_better: float


def signed_rank_posterior(
    differences: Floats, *, rope: float, n_draws: int = N_DRAWS, random_state: int = 0
) -> Posterior:
    r"""Bayesian signed-rank test with a Dirichlet process as prior (Benavoli et al. 2014, 2017).

    Weights of the data sets, and of a pseudo-data set without difference, are drawn from a Dirichlet distribution; a
    draw is a win for the region (below :math:`-r`, within, above :math:`r`) in which the mean of two differences,
    drawn by these weights, falls most probably. Without a region of practical equivalence, means of exactly 0 count
    half for each side.
    """
    if not differences.size:
        return Posterior(math.nan, math.nan, math.nan)
    points = np.concatenate([[0.0], differences])
    means = ((points[:, None] + points[None, :]) / 2).round(DIGITS)
    above, below = (means > rope).astype(np.float64), (means < -rope).astype(np.float64)
    if rope == 0:
        above, below = above + (means == 0) / 2, below + (means == 0) / 2
    weights = np.random.default_rng(random_state).dirichlet([STRENGTH, *[1.0] * differences.size], n_draws)
    right, left = ((weights @ region * weights).sum(axis=1) for region in (above, below))
    within = 1 - right - left if rope > 0 else np.full(n_draws, -1.0)
    regions = np.stack([right, within, left]).round(DIGITS)
    wins = regions == regions.max(axis=0)
    return Posterior(*(float(share) for share in (wins / wins.sum(axis=0)).mean(axis=1)))


POOL = (
    "Whether two candidates differ by their mean ranks depends on which other candidates take part (Benavoli, Corani "
    "and Mangili, 2016)."
)
Pairs = list[tuple[int, int]]
PAIR_COLUMNS = [
    "first", "second", "difference", "rank_difference", "statistic", "p_value", "p_corrected", "different",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PostHocTest:
    """A way to test pairs of candidates over data sets.

    Attributes
    ----------
    about : About
        Its name, and what is said of it.
    test : callable
        Takes values (data sets × candidates), ranks and pairs of columns; returns statistics of the pairs, positive
        where the first is better, and p-values.
    corrected : bool
        Whether its p-values are corrected for all pairs already; else Holm's correction follows.
    """

    about: About
    test: Callable[[Floats, Floats, Pairs], tuple[Floats, Floats]]
    corrected: bool = False


POST_HOC_TESTS: Registry[PostHocTest] = Registry("post-hoc test")
"""Post-hoc tests by name."""


def post_hoc_test(
    *, corrected: bool = False, **about: Any
) -> Callable[[Callable[[Floats, Floats, Pairs], tuple[Floats, Floats]]], PostHocTest]:
    """Declare a function as a post-hoc test; ``about`` is its name and descriptions."""

    def register(test: Callable[[Floats, Floats, Pairs], tuple[Floats, Floats]]) -> PostHocTest:
        declared = PostHocTest(about=About(**about), test=test, corrected=corrected)
        return POST_HOC_TESTS.add(declared)

    return register


@post_hoc_test(
    name="wilcoxon",
    summary="Exact Wilcoxon signed-rank tests of each pair, with Holm's correction.",
    methods="exact Wilcoxon signed-rank tests of pairs with Holm's correction",
    reference="benavoli2016",
)
def wilcoxon(values: Floats, ranks: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    """Signed-rank tests of the differences on all data sets."""
    tests = [signed_rank_test(values[:, a] - values[:, b]) for a, b in pairs]
    return np.array([test.positive - test.negative for test in tests]), np.array([test.p_value for test in tests])


@post_hoc_test(
    name="nemenyi",
    summary="Differences of mean ranks against Nemenyi's critical difference.",
    methods="Nemenyi's test of mean ranks",
    caution=POOL,
    reference="nemenyi1963",
    corrected=True,
)
def nemenyi(values: Floats, ranks: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    """Differences of mean ranks, compared with the studentized range."""
    from scipy.stats import studentized_range  # here: the import takes longer than measuring does

    z = _rank_differences(ranks, pairs)
    return z, np.clip(studentized_range.sf(np.abs(z) * math.sqrt(2), ranks.shape[1], np.inf), 0.0, 1.0)


@post_hoc_test(
    name="mean-ranks",
    summary="Differences of mean ranks by the normal distribution, with Holm's correction.",
    methods="tests of mean ranks by the normal distribution with Holm's correction",
    caution=POOL,
    reference="demsar2006",
)
def mean_ranks(values: Floats, ranks: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    """Differences of mean ranks, compared with the normal distribution."""
    z = _rank_differences(ranks, pairs)
    return z, np.asarray(2 * ndtr(-np.abs(z)))


def _rank_differences(ranks: Floats, pairs: Pairs) -> Floats:
    """Differences of mean ranks over their standard error under the hypothesis that all candidates are alike."""
    n, k = ranks.shape
    mean = ranks.mean(axis=0)
    return np.array([mean[b] - mean[a] for a, b in pairs]) / math.sqrt(k * (k + 1) / (6 * n))


@dataclass(frozen=True, kw_only=True)
class RankComparisons(ResultMixin):
    """Pairs of candidates compared over data sets, corrected for their number.

    Attributes
    ----------
    test : str
        Name of the post-hoc test.
    candidates : tuple of str
        Names of the candidates.
    mean_ranks : tuple of float
        Mean rank of each; 1 is best.
    n_datasets : int
        Number of data sets with values of all candidates.
    pairs : DataFrame
        One row per pair: ``first`` and ``second``, how much better the first is (``difference``: median over data sets;
        ``rank_difference``: of mean ranks), the ``statistic`` (sum of signed ranks, or difference of mean ranks over
        its standard error; positive if the first is better), ``p_value``, the corrected one (``p_corrected``), and
        whether they are ``different``.
    level : float
        One minus the level of significance.
    control : str or None
        The candidate that all others are compared with; None if all pairs are.
    critical_difference : float
        Difference of mean ranks from which two candidates differ, of Nemenyi's test; else ``nan``.
    reason : str or None
        Why there are no tests; None if there are.
    note : str
        What was left out, and what may not be concluded.

    See Also
    --------
    compare_ranks : Makes the comparisons.
    FriedmanTest : Whether there is any difference.

    Examples
    --------
    >>> import holdfast as hf
    >>> import numpy as np
    >>> import pandas as pd
    >>> better = np.arange(8) / 100
    >>> accuracy = pd.DataFrame({"lasso": 0.9 - better, "anova": 0.8 - better**2})
    >>> hf.inference.compare_ranks(accuracy)
    wilcoxon over 8 data sets, level 95 %
    first second  difference  p_value  p_corrected  different
    lasso  anova      0.0662  0.00781      0.00781       True
    """

    test: str
    candidates: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    n_datasets: int
    pairs: pd.DataFrame = field(compare=False)
    level: float
    control: str | None = None
    critical_difference: float = math.nan
    reason: str | None = None
    note: str = ""
    _table_field = "pairs"

    @property
    def smallest_p(self) -> float:
        """The smallest corrected p-value that as many data sets and pairs could give; 0 for tests by a distribution."""
        if self.test != "wilcoxon" or not len(self.pairs):
            return 0.0
        return min(1.0, float(2.0 ** (1 - self.n_datasets) * len(self.pairs)))

    @property
    def different(self) -> set[tuple[str, str]]:
        """Pairs that differ, the better one first."""
        rows = self.pairs[self.pairs["different"].astype(bool)].to_dict(orient="records")
        return {
            (row["first"], row["second"]) if row["statistic"] >= 0 else (row["second"], row["first"]) for row in rows
        }

    @property
    def letters(self) -> dict[str, str]:
        """Compact letter display: candidates that share a letter were not shown to differ."""
        ranks = dict(zip(self.candidates, self.mean_ranks, strict=True))
        return compact_letters(sorted(self.candidates, key=lambda name: ranks[name]), self.different)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            One entry per attribute, and the ``letters``.
        """
        return {**super().to_dict(), "letters": self.letters}

    @property
    def _title(self) -> str:
        return f"{self.test} over {self.n_datasets} data sets, level {100 * self.level:g} %"

    def _picture(self) -> Svg | None:
        return draw_mean_ranks(self.candidates, self.mean_ranks)

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"{self.test}: undefined, {self.reason}"
        columns = ["first", "second", "difference", "p_value", "p_corrected", "different"]
        table = self.pairs[columns].to_string(index=False, float_format=lambda number: f"{number:.3g}")
        return "\n".join([self._title, table, *filter(None, [self.note])])


def compare_ranks(
    values: Values | Blocks,
    test: str = "wilcoxon",
    *,
    control: str | None = None,
    higher_is_better: bool = True,
    level: float = 0.95,
) -> RankComparisons:
    """Test which candidates differ over data sets, all pairs or each with a control.

    Parameters
    ----------
    values : DataFrame or matrix
        One row per data set, one column per candidate; data sets with a missing value are left out.
    test : {"wilcoxon", "nemenyi", "mean-ranks"}
        Exact signed-rank tests of the differences of each pair with Holm's correction, as Benavoli, Corani and Mangili
        (2016) recommend; Nemenyi's test of mean ranks, which has a critical difference; or tests of mean ranks by the
        normal distribution with Holm's correction. Tests of mean ranks depend on which other candidates take part.
    control : str, optional
        Compare all others with this candidate only.
    higher_is_better : bool
        Whether larger values are better.
    level : float
        One minus the level of significance.

    Returns
    -------
    RankComparisons
        All pairs with corrected p-values.

    Raises
    ------
    ValueError
        If there is no such test or control.

    See Also
    --------
    friedman : Whether there is any difference.
    bayesian_signed_rank : How probable it is that one is better, or that both are practically equivalent.

    References
    ----------
    Demšar (2006), section 3.2.2; Benavoli, Corani and Mangili (2016).
    """
    check_level(level)
    alpha, chosen = 1 - level, POST_HOC_TESTS.find(test)
    blocks = make_blocks(values, higher_is_better=higher_is_better)
    if control is not None and chosen.corrected:
        raise ValueError(
            f"The {chosen.about.name} test compares all pairs; for control={control!r} take 'wilcoxon' or 'mean-ranks'."
        )
    pairs, ranks, (n, k) = list_pairs(blocks, control), blocks.ranks, blocks.values.shape
    statistics = p_values = corrected = np.full(len(pairs), np.nan)
    if blocks.reason is None:
        statistics, p_values = chosen.test(blocks.values, ranks, pairs)
        corrected = p_values if chosen.corrected else holm(p_values)
    rows = [
        {
            "first": blocks.candidates[a], "second": blocks.candidates[b],
            "difference": float(np.median(blocks.values[:, a] - blocks.values[:, b])) if n else math.nan,
            "rank_difference": float(ranks[:, b].mean() - ranks[:, a].mean()) if n else math.nan,
            "statistic": statistics[pair], "p_value": p_values[pair], "p_corrected": corrected[pair],
            "different": bool(corrected[pair] <= alpha),
        }
        for pair, (a, b) in enumerate(pairs)
    ]  # fmt: skip
    undefined = blocks.reason is not None or chosen.about.name != "nemenyi"
    return RankComparisons(
        test=chosen.about.name, candidates=blocks.candidates, mean_ranks=blocks.mean_ranks, n_datasets=n,
        pairs=pd.DataFrame(rows, columns=PAIR_COLUMNS), level=level, control=control,
        critical_difference=math.nan if undefined else critical_difference(n, k, alpha),
        reason=blocks.reason, note=" ".join(filter(None, [blocks.note, chosen.about.caution])),
    )  # fmt: skip


def list_pairs(blocks: Blocks, control: str | None) -> Pairs:
    """Return all pairs of candidates, or each with the control, as numbers of columns."""
    k = len(blocks.candidates)
    if control is None:
        return list(itertools.combinations(range(k), 2))
    if control not in blocks.candidates:
        raise ValueError(
            f"Expected one of the candidates ({', '.join(blocks.candidates)}) as control, got {control!r}."
        )
    column = blocks.candidates.index(control)
    return [(column, other) for other in range(k) if other != column]


def critical_difference(n_datasets: int, n_candidates: int, alpha: float = 0.05) -> float:
    r"""Return Nemenyi's critical difference of mean ranks, :math:`q_\alpha \sqrt{k (k + 1) / 6 N}`.

    :math:`q_\alpha` is the quantile of the studentized range of k values, over √2.
    """
    from scipy.stats import studentized_range  # here: the import takes longer than measuring does

    q = float(studentized_range.ppf(1 - alpha, n_candidates, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_candidates * (n_candidates + 1) / (6 * n_datasets))


@dataclass(frozen=True, kw_only=True)
class SignedRankPosterior(ResultMixin):
    """How probable it is that one candidate is better than another, or that both are practically equivalent.

    Attributes
    ----------
    pairs : DataFrame
        One row per pair: ``first``, ``second``, and the probabilities ``first_better``, ``equivalent`` and
        ``second_better``.
    rope : float
        Differences of at most this size are practically no difference (region of practical equivalence).
    n_datasets : int
        Number of data sets with values of all candidates.
    n_draws, random_state : int
        Number of draws from the posterior, and their seed.
    reason : str or None
        Why there are no probabilities; None if there are.
    note : str
        What was left out.

    See Also
    --------
    bayesian_signed_rank : Makes it.
    RankComparisons : Tests instead of probabilities.

    Examples
    --------
    >>> import holdfast as hf
    >>> import numpy as np
    >>> import pandas as pd
    >>> accuracy = pd.DataFrame({"lasso": np.full(9, 0.9), "anova": [0.8] * 8 + [0.9]})
    >>> hf.inference.bayesian_signed_rank(accuracy, rope=0.01).pairs.round(2)
       first second  first_better  equivalent  second_better
    0  lasso  anova           1.0         0.0            0.0
    """

    pairs: pd.DataFrame = field(compare=False)
    rope: float
    n_datasets: int
    n_draws: int
    random_state: int
    reason: str | None = None
    note: str = ""
    _table_field = "pairs"

    def _picture(self) -> Svg | None:
        return draw_probabilities(self.pairs.to_dict(orient="records"))

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"Bayesian signed-rank test: undefined, {self.reason}"
        head = (
            f"Bayesian signed-rank test over {self.n_datasets} data sets; practically equivalent within ± {self.rope:g}"
        )
        table = self.pairs.to_string(index=False, float_format=lambda number: f"{number:.3f}")
        return "\n".join([head, table, *filter(None, [self.note])])


def bayesian_signed_rank(
    values: Values | Blocks,
    *,
    rope: float = 0.01,
    control: str | None = None,
    higher_is_better: bool = True,
    n_draws: int = N_DRAWS,
    random_state: int = 0,
) -> SignedRankPosterior:
    """Compute how probable it is that one candidate is better than another over data sets, or equivalent to it.

    Parameters
    ----------
    values : DataFrame or matrix
        One row per data set, one column per candidate; data sets with a missing value are left out.
    rope : float
        Half the width of the region of practical equivalence: differences of at most this size do not matter.
    control : str, optional
        Compare all others with this candidate only.
    higher_is_better : bool
        Whether larger values are better.
    n_draws, random_state : int
        Number of draws from the posterior, and their seed.

    Returns
    -------
    SignedRankPosterior
        Three probabilities for each pair.

    Raises
    ------
    ValueError
        If the region or the number of draws is negative, or there is no such control.

    See Also
    --------
    compare_ranks : Tests instead of probabilities.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon and Ruggeri (2014); Benavoli, Corani, Demšar and Zaffalon (2017).
    """
    if not (np.isfinite(rope) and rope >= 0):
        raise ValueError(f"Expected a region of practical equivalence of at least 0, got rope={rope!r}.")
    if n_draws < 1:
        raise ValueError(f"Expected at least one draw, got n_draws={n_draws!r}.")
    blocks = make_blocks(values, higher_is_better=higher_is_better)
    rows = []
    for a, b in list_pairs(blocks, control):
        differences = blocks.values[:, a] - blocks.values[:, b] if blocks.reason is None else np.empty(0)
        posterior = signed_rank_posterior(differences, rope=rope, n_draws=n_draws, random_state=random_state)
        rows.append((blocks.candidates[a], blocks.candidates[b], *posterior))
    columns = ["first", "second", "first_better", "equivalent", "second_better"]
    return SignedRankPosterior(
        pairs=pd.DataFrame(rows, columns=columns), rope=rope, n_datasets=len(blocks.values), n_draws=n_draws,
        random_state=random_state, reason=blocks.reason, note=blocks.note,
    )  # fmt: skip
