"""What the same study found on several data sets, and what can be concluded over them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from holdfast.benchmarking.contents import BenchmarkContents, What
from holdfast.benchmarking.tradeoffs import BenchmarkTradeoff, weigh
from holdfast.benchmarking.verdict import BenchmarkVerdict, make_verdict
from holdfast.cards.ranks import Card, draw_mean_ranks
from holdfast.inference.rank_comparisons import RankComparisons, compare_ranks
from holdfast.inference.rank_posterior import SignedRankPosterior, bayesian_signed_rank
from holdfast.inference.rank_tests import FriedmanTest, friedman
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain
from holdfast.tradeoff.choice import check_rule

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart
    from holdfast.report import BenchmarkSummary
    from holdfast.report.render import Format


@dataclass(frozen=True, kw_only=True, eq=False)
class BenchmarkResult(ResultMixin, BenchmarkContents):
    """What the same study found on several data sets: scores and stabilities, ranks, tests, trade-offs, tables.

    Tests over data sets are made on data sets on which every candidate has a value; what was left out is said.

    Attributes
    ----------
    results : dict of StudyResult
        The results of each data set that could be studied.
    failures : dict of str
        Why each of the other data sets could not.
    metric : str or None
        The score to compare by; None for the first one that all data sets have.
    measure : Measure or None
        The measure of stability; None for the usual one for what the candidates give.
    level : float
        Level of the intervals; its complement is the level of significance.
    folder : Path or None
        Folder of the stores; None for a benchmark in memory.
    only : tuple of str or None
        Candidates to look at; None for all that the stores hold.

    See Also
    --------
    holdfast.benchmark : Makes one.
    holdfast.load_benchmark : Reads one from its folder.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> data = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> study = hf.Study(
    ...     selectors={"anova": hf.selectors.AnovaF(2), "random": hf.selectors.RandomSelector(2)},
    ...     perturbation=hf.Bootstrap(10),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = hf.benchmark(data, study)
    >>> result.ranks("stability")
          anova  random
    iris    1.0     2.0
    wine    1.0     2.0
    """

    def friedman(self, what: What = "stability", candidates: Iterable[str] | None = None) -> FriedmanTest:
        """Test whether candidates differ over data sets, by Friedman's test.

        Parameters
        ----------
        what : {"score", "stability"}
            What to compare.
        candidates : iterable of str, optional
            Names of candidates; all by default.

        Returns
        -------
        FriedmanTest
            Mean ranks, statistics and p-values.

        See Also
        --------
        holdfast.inference.friedman : The definition.
        """
        return friedman(self.blocks(what, candidates))

    def compare(
        self,
        what: What = "stability",
        test: str = "wilcoxon",
        *,
        control: str | None = None,
        candidates: Iterable[str] | None = None,
    ) -> RankComparisons:
        """Test which candidates differ over data sets.

        Parameters
        ----------
        what : {"score", "stability"}
            What to compare.
        test : {"wilcoxon", "nemenyi", "mean-ranks"}
            Exact signed-rank tests of pairs, Nemenyi's test, or tests of mean ranks (see
            :func:`holdfast.inference.compare_ranks`).
        control : str, optional
            Compare all others with this candidate only.
        candidates : iterable of str, optional
            Names of candidates; all by default.

        Returns
        -------
        RankComparisons
            Pairs with corrected p-values.

        See Also
        --------
        bayes : Probabilities instead of tests.
        """
        return compare_ranks(self.blocks(what, candidates), test, control=control, level=self.level)

    def bayes(
        self,
        what: What = "stability",
        *,
        rope: float = 0.01,
        control: str | None = None,
        candidates: Iterable[str] | None = None,
        n_draws: int = 50_000,
        random_state: int = 0,
    ) -> SignedRankPosterior:
        """Compute how probable it is that one candidate is better than another, or practically equivalent to it.

        Parameters
        ----------
        what : {"score", "stability"}
            What to compare.
        rope : float
            Differences of at most this size are practically no difference.
        control : str, optional
            Compare all others with this candidate only.
        candidates : iterable of str, optional
            Names of candidates; all by default.
        n_draws, random_state : int
            Number of draws from the posterior, and their seed.

        Returns
        -------
        SignedRankPosterior
            Three probabilities for each pair.

        See Also
        --------
        holdfast.inference.bayesian_signed_rank : The definition.
        """
        return bayesian_signed_rank(
            self.blocks(what, candidates), rope=rope, control=control, n_draws=n_draws, random_state=random_state
        )

    def verdict(self, what: What = "stability") -> BenchmarkVerdict:
        """Say what was shown over data sets, in words.

        Parameters
        ----------
        what : {"score", "stability"}
            What to compare.

        Returns
        -------
        BenchmarkVerdict
            A headline, and sentences that say which candidates differ.
        """
        blocks = self.blocks(what)
        noun = "stability" if what == "stability" else self.score_name or "the score"
        return make_verdict(noun, friedman(blocks), compare_ranks(blocks, level=self.level))

    def tradeoff(self, rule: str = "one-se", **parameters: Any) -> BenchmarkTradeoff:
        """Weigh score and stability on each data set, and count over all of them.

        Parameters
        ----------
        rule : str
            How a candidate is chosen on each data set, as for :meth:`StudyResult.choose`.
        **parameters
            Parameters of the rule.

        Returns
        -------
        BenchmarkTradeoff
            Mean ranks in both, and how often each candidate is on the front and chosen.
        """
        check_rule(rule, parameters, BenchmarkResult.tradeoff)
        return weigh(
            self.results, self.cells, rule=rule, metric=self.score_name, measure=self.measure,
            measure_label=self.measure_name, level=self.level, parameters=parameters,
        )  # fmt: skip

    # Pictures, reports, tables

    def plot(
        self,
        picture: Literal["ranks", "tradeoff"] = "ranks",
        *,
        what: What = "stability",
        test: str = "nemenyi",
        rule: str = "one-se",
    ) -> "AnyChart":
        """Draw mean ranks with what was not shown to differ, or mean ranks of score and stability.

        Parameters
        ----------
        picture : {"ranks", "tradeoff"}
            The critical-difference diagram, or the trade-off over data sets.
        what : {"score", "stability"}
            What is ranked, for ``"ranks"``.
        test : {"nemenyi", "wilcoxon", "mean-ranks"}
            The test that joins candidates, for ``"ranks"``.
        rule : str
            How candidates are chosen, for ``"tradeoff"``.

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.

        Raises
        ------
        ValueError
            If there is no such picture.
        """
        from holdfast.plots import plot_critical_difference

        if picture not in ("ranks", "tradeoff"):
            raise ValueError(f"Expected picture 'ranks' or 'tradeoff', got {picture!r}.")
        if picture == "tradeoff":
            return self.tradeoff(rule).plot()
        noun = "stability" if what == "stability" else self.score_name or "score"
        return plot_critical_difference(self.compare(what, test), what=noun)

    def summary(self, *, rule: str = "one-se", rope: float = 0.01, title: str | None = None) -> "BenchmarkSummary":
        """Return what the report says, as typed data.

        Parameters
        ----------
        rule : str
            How a candidate is chosen on each data set.
        rope : float
            Differences of at most this size are practically no difference, for the Bayesian comparison.
        title : str, optional
            Heading.

        Returns
        -------
        BenchmarkSummary
            Words, tables and the data of the pictures.
        """
        from holdfast import report

        return report.summarize_benchmark(self, rule=rule, rope=rope, title=title)

    def report(
        self,
        path: str | Path = "benchmark.html",
        *,
        format: "Format | None" = None,
        rule: str = "one-se",
        rope: float = 0.01,
        title: str | None = None,
    ) -> Path:
        """Write a report into one file, which needs no other file and no network.

        Parameters
        ----------
        path, format : path, {"html", "md", "json"}, optional
            File to write; without a format, its name ends in .html, .md or .json.
        rule, rope, title : optional
            As for :meth:`summary`.

        Returns
        -------
        Path
            The file.
        """
        from holdfast import report

        return report.write_benchmark(self.summary(rule=rule, rope=rope, title=title), path, format=format)

    def to_latex(self, path: str | Path | None = None) -> str:
        """Return tables for a paper in LaTeX (booktabs): stability and score with intervals, best in bold, and ranks.

        Parameters
        ----------
        path : path, optional
            File to write them to.

        Returns
        -------
        str
            The tables, each with a caption that says how its intervals were made.
        """
        from holdfast.report.benchmark_render import write_text
        from holdfast.report.benchmark_tables import benchmark_latex

        return write_text(benchmark_latex(self.summary()), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return all cells as CSV: one row per data set and candidate, with all digits.

        Parameters
        ----------
        path : path, optional
            File to write it to.

        Returns
        -------
        str
            The table.
        """
        from holdfast.report.benchmark_render import write_text
        from holdfast.report.benchmark_tables import benchmark_csv

        return write_text(benchmark_csv(self.summary()), path)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per data set and candidate (see :attr:`cells`).

        Returns
        -------
        DataFrame
            The cells.
        """
        return self.cells

    def to_dict(self) -> dict[str, Any]:
        """Return cells, failures and tests as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            ``datasets``, ``candidates``, ``metric``, ``measure``, ``level``, ``failures``, ``cells``, and Friedman's
            test of score and stability.
        """
        return to_plain({
            "datasets": self.datasets, "candidates": self.candidates, "metric": self.score_name,
            "measure": self.measure_name, "level": self.level, "failures": self.failures, "cells": self.cells,
            "friedman": {"score": self.friedman("score"), "stability": self.friedman("stability")},
        })  # fmt: skip

    def _card(self) -> Card:
        ranks = self.friedman()
        return replace(super()._card(), picture=draw_mean_ranks(ranks.candidates, ranks.mean_ranks))

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} of which could not be studied" if self.failures else ""
        head = f"Benchmark of {len(self.candidates)} candidates on {len(self.datasets)} data sets{failed}"
        return "\n".join([head, self.verdict("stability").headline, self.verdict("score").headline])
