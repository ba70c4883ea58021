"""Which candidates differ over data sets: pairs tested by ranks or differences, with a correction."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from holdfast.cards.ranks import Card, draw_mean_ranks
from holdfast.declared import About, Registry
from holdfast.inference.differences import compact_letters, holm
from holdfast.inference.rank_tests import Blocks, Floats, Values, check_alpha, make_blocks
from holdfast.inference.signed_rank import signed_rank_test
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain

POOL = (
    "Whether two candidates differ by their mean ranks depends on which other candidates take part (Benavoli, Corani "
    "and Mangili, 2016)."
)
Pairs = list[tuple[int, int]]


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
    by_ranks : bool
        Whether it compares mean ranks, so that other candidates matter.
    """

    about: About
    test: Callable[[Floats, Floats, Pairs], tuple[Floats, Floats]]
    corrected: bool = False
    by_ranks: bool = False


def _wilcoxon(values: Floats, ranks: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    found = [signed_rank_test(values[:, a] - values[:, b]) for a, b in pairs]
    return np.array([test.positive - test.negative for test in found]), np.array([test.p_value for test in found])


def _rank_differences(ranks: Floats, pairs: Pairs) -> Floats:
    """Differences of mean ranks over their standard error under the hypothesis that all candidates are alike."""
    n, k = ranks.shape
    mean = ranks.mean(axis=0)
    return np.array([mean[b] - mean[a] for a, b in pairs]) / math.sqrt(k * (k + 1) / (6 * n))


def _normal(values: Floats, ranks: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    z = _rank_differences(ranks, pairs)
    return z, np.asarray(2 * ndtr(-np.abs(z)))


def _nemenyi(values: Floats, ranks: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    from scipy.stats import studentized_range  # here: the import takes longer than measuring does

    z = _rank_differences(ranks, pairs)
    return z, np.clip(studentized_range.sf(np.abs(z) * math.sqrt(2), ranks.shape[1], np.inf), 0.0, 1.0)


POST_HOC_TESTS: Registry[PostHocTest] = Registry(
    "post-hoc test",
    [
        PostHocTest(
            about=About(
                name="wilcoxon",
                summary="Exact Wilcoxon signed-rank tests of each pair, with Holm's correction.",
                methods="exact Wilcoxon signed-rank tests of pairs with Holm's correction",
                reference="benavoli2016",
            ),
            test=_wilcoxon,
        ),
        PostHocTest(
            about=About(
                name="nemenyi",
                summary="Differences of mean ranks against Nemenyi's critical difference.",
                methods="Nemenyi's test of mean ranks",
                caution=POOL,
                reference="nemenyi1963",
            ),
            test=_nemenyi,
            corrected=True,
            by_ranks=True,
        ),
        PostHocTest(
            about=About(
                name="mean-ranks",
                summary="Differences of mean ranks by the normal distribution, with Holm's correction.",
                methods="tests of mean ranks by the normal distribution with Holm's correction",
                caution=POOL,
                reference="demsar2006",
            ),
            test=_normal,
            by_ranks=True,
        ),
    ],
)
"""Post-hoc tests by name."""


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

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair (see :attr:`pairs`).

        Returns
        -------
        DataFrame
            The pairs.
        """
        return self.pairs

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            One entry per attribute, and the ``letters``.
        """
        return {**super().to_dict(), "pairs": to_plain(self.pairs), "letters": self.letters}

    @property
    def _title(self) -> str:
        return f"{self.test} over {self.n_datasets} data sets, level {100 * self.level:g} %"

    def _card(self) -> Card:
        return replace(super()._card(), picture=draw_mean_ranks(self.candidates, self.mean_ranks))

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
    alpha, chosen = check_alpha(level), POST_HOC_TESTS.find(test)
    blocks = values if isinstance(values, Blocks) else make_blocks(values, higher_is_better=higher_is_better)
    if control is not None and chosen.corrected:
        raise ValueError(
            f"The {chosen.about.name} test compares all pairs; for control={control!r} take 'wilcoxon' or 'mean-ranks'."
        )
    pairs = list_pairs(blocks, control)
    frame = _test_pairs(blocks, pairs, chosen, alpha)
    n, k = blocks.values.shape
    undefined = blocks.reason is not None or chosen.about.name != "nemenyi"
    return RankComparisons(
        test=chosen.about.name, candidates=blocks.candidates, mean_ranks=blocks.mean_ranks, n_datasets=n, pairs=frame,
        level=level, control=control, critical_difference=math.nan if undefined else critical_difference(n, k, alpha),
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
    place = blocks.candidates.index(control)
    return [(place, other) for other in range(k) if other != place]


def _test_pairs(blocks: Blocks, pairs: Pairs, chosen: PostHocTest, alpha: float) -> pd.DataFrame:
    values, ranks = blocks.values, blocks.ranks
    if blocks.reason is None:
        statistics, p_values = chosen.test(values, ranks, pairs)
        corrected = p_values if chosen.corrected else holm(p_values)
    else:
        statistics = p_values = corrected = np.full(len(pairs), np.nan)
    rows = [
        {
            "first": blocks.candidates[a], "second": blocks.candidates[b],
            "difference": float(np.median(values[:, a] - values[:, b])) if len(values) else math.nan,
            "rank_difference": float(ranks[:, b].mean() - ranks[:, a].mean()) if len(values) else math.nan,
            "statistic": statistics[place], "p_value": p_values[place], "p_corrected": corrected[place],
            "different": bool(corrected[place] <= alpha),
        }
        for place, (a, b) in enumerate(pairs)
    ]  # fmt: skip
    columns = ["first", "second", "difference", "rank_difference", "statistic", "p_value", "p_corrected", "different"]
    return pd.DataFrame(rows, columns=columns)


def critical_difference(n_datasets: int, n_candidates: int, alpha: float = 0.05) -> float:
    r"""Return Nemenyi's critical difference of mean ranks, :math:`q_\alpha \sqrt{k (k + 1) / 6 N}`.

    :math:`q_\alpha` is the quantile of the studentized range of k values, over √2.
    """
    from scipy.stats import studentized_range  # here: the import takes longer than measuring does

    q = float(studentized_range.ppf(1 - alpha, n_candidates, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_candidates * (n_candidates + 1) / (6 * n_datasets))
