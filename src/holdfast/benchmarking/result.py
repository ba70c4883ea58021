"""What the same study found on several data sets, and what can be concluded over them."""

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
import pandas as pd

from holdfast.cards import Point, Svg, draw_mean_ranks, draw_points
from holdfast.checks import as_names
from holdfast.inference.intervals import check_level
from holdfast.inference.ranks import (
    FEW,
    Blocks,
    FriedmanTest,
    RankComparisons,
    SignedRankPosterior,
    bayesian_signed_rank,
    compare_ranks,
    friedman,
    make_blocks,
    rank_table,
)
from holdfast.measures import REQUIRED, Measure, find_measure
from holdfast.result_base import AnyChart, ResultMixin
from holdfast.serialization import to_plain
from holdfast.study.stabilities import CommonMeasure
from holdfast.study.tables import StudyTables
from holdfast.text import format_p_value
from holdfast.tradeoff.choice import check_rule, choose
from holdfast.tradeoff.fronts import pareto, pareto_front

if TYPE_CHECKING:
    from holdfast.report import BenchmarkSummary
    from holdfast.report.rendering import Format
    from holdfast.result import StudyResult


COLUMNS = {
    "score": float, "score_se": float, "score_low": float, "score_high": float, "stability": float, "low": float,
    "high": float, "size": float, "runs": int, "failures": int, "on_front": bool,
}  # fmt: skip
NUMBERS_OF_FEATURES = ("n_features", "k", "n_features_to_select")
"""Parameters of selectors of holdfast and scikit-learn that set how many features are selected."""


def _missing(reason: str) -> dict[str, Any]:
    empty = {name: np.nan if kind is float else kind() for name, kind in COLUMNS.items()}
    return {**empty, "reason": reason}


def _describe_stability(result: StudyTables, name: str, common: CommonMeasure, level: float) -> dict[str, Any]:
    failures = int((result.failures["candidate"] == name).sum())
    try:
        estimate = common.estimate(result, name)
    except ValueError as error:
        return _missing(getattr(error, "plain", str(error))) | {"failures": failures}
    low, high = result.interval(name, estimate, level)
    size = math.nan if estimate.mean_size is None else estimate.mean_size
    reason = estimate.note if math.isnan(estimate.value) else None
    return _missing(reason or "") | {
        "stability": estimate.value, "low": low, "high": high, "size": size, "runs": estimate.n_runs,
        "failures": failures,
    }  # fmt: skip


def _find_problem(result: StudyTables, name: str) -> str | None:
    """Return why a candidate has neither score nor stability on a data set; None if it may have them."""
    if name not in result.candidates:
        return "the study on this data set has no such candidate"
    if name not in result.finished:
        errors = result.failures.loc[result.failures["candidate"] == name, "error"]
        return f"every fit failed: {errors.value_counts().index[0]}" if len(errors) else "no fit has finished"
    wanted, n_features = _wanted_size(result, name), len(result.feature_names)
    if wanted is not None and wanted > n_features:
        return f"it asks for {wanted} features, and there are {n_features}"
    return None


def _wanted_size(result: StudyTables, name: str) -> int | None:
    """Return how many features a candidate is set to select; None if it decides itself."""
    described = result.selectors.get(result.family(name))
    parameters: Any = next(iter(described.values()), None) if isinstance(described, Mapping) else None
    sources = [result.settings(name), parameters if isinstance(parameters, Mapping) else {}]
    sizes = [result.size_of(name), *(source.get(key) for source in sources for key in NUMBERS_OF_FEATURES)]
    return next((size for size in sizes if isinstance(size, int) and not isinstance(size, bool)), None)


What: TypeAlias = Literal["score", "stability"]


def _check_measure(measure: Measure) -> None:
    if not measure.higher_is_better:
        raise ValueError(
            f"Expected a measure of which more is better, got {measure.name}; take nogueira, for instance."
        )
    if measure.similarity is None:
        measure.check_complete()
    elif measure.parameters["similarity"] is REQUIRED:
        raise ValueError(
            f"Expected a measure that needs no data for a benchmark, got {measure.name}, which needs those of each "
            "data set; use result.results[name].stability(…, X=X)."
        )


MAX_NAMED = 4


@dataclass(frozen=True, kw_only=True)
class BenchmarkVerdict(ResultMixin):
    """What was shown about differences of candidates over data sets.

    Attributes
    ----------
    what : str
        What was compared: ``stability``, or the name of the score.
    shown : bool
        Whether a difference was shown.
    headline : str
        The answer in a sentence.
    sentences : tuple of str
        Which candidates differ, and how much the test could have shown.
    """

    what: str
    shown: bool
    headline: str
    sentences: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join([self.headline, *self.sentences])


def make_verdict(what: str, test: FriedmanTest, pairs: RankComparisons) -> BenchmarkVerdict:
    """Describe the tests over data sets; pairs are named only where the test of all candidates finds a difference.

    Two candidates are compared by Wilcoxon's test alone, as Demšar (2006) recommends.
    """
    if test.reason is not None:
        headline = f"Nothing can be said about differences in {what} over data sets: {test.reason}."
        return BenchmarkVerdict(what=what, shown=False, headline=headline, sentences=tuple(filter(None, [test.note])))
    k, n, alpha = len(test.candidates), test.n_datasets, 1 - pairs.level
    p_value, name, smallest = test.p_value, "Friedman's test", test.smallest_p
    if k == 2:
        p_value, name = float(pairs.pairs["p_corrected"].iloc[0]), "Wilcoxon's signed-rank test"
        smallest = pairs.smallest_p
    among = f"{'between' if k == 2 else 'among'} {k} candidates over {n} data sets ({name}, {format_p_value(p_value)})"
    shown = p_value <= alpha
    if shown:
        headline = f"There are differences in {what} {among}."
        sentences = [_describe_ranks(test), _describe_pairs(what, pairs, test)]
    else:
        headline = f"No difference in {what} was shown {among}."
        sentences = [_describe_power(n, smallest, alpha)]
    sentences.append(test.note)
    return BenchmarkVerdict(what=what, shown=shown, headline=headline, sentences=tuple(filter(None, sentences)))


def _describe_power(n: int, smallest: float, alpha: float) -> str:
    if smallest > alpha:
        return (
            f"With {n} data sets none could have been shown: even if all of them ranked the candidates alike, p would "
            f"be {format_p_value(smallest, name='')}."
        )
    few = f"{n} data sets are few: only large and consistent differences can be shown. " if n < FEW else ""
    return f"{few}That no difference was shown does not mean that there is none."


def _describe_ranks(test: FriedmanTest) -> str:
    order = list(test.to_frame()["mean_rank"].items())
    named = ", ".join(f"{name} {rank:.2f}" for name, rank in order[:MAX_NAMED])
    more = f" and {len(order) - MAX_NAMED} others behind" if len(order) > MAX_NAMED else ""
    return f"Mean ranks, 1 is best: {named}{more}."


def _describe_reach(pairs: RankComparisons) -> str:
    needed = math.ceil(1 + math.log2(len(pairs.pairs) / (1 - pairs.level)))
    return (
        f"; with {pairs.n_datasets} data sets none could, because the smallest possible p of {len(pairs.pairs)} pairs "
        f"is {pairs.smallest_p:.2g} ({needed} data sets are needed)"
    )


def _describe_pairs(what: str, pairs: RankComparisons, test: FriedmanTest) -> str:
    ranks = dict(zip(test.candidates, test.mean_ranks, strict=True))
    different = sorted(pairs.different, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    if not different:
        could = _describe_reach(pairs) if pairs.smallest_p > 1 - pairs.level else ""
        return f"Which of them differ was not shown: no pair does after Holm's correction{could}."
    better = different[0][0]
    others = [worse for name, worse in different if name == better]
    named = ", ".join(others[:MAX_NAMED]) + (
        f" and {len(others) - MAX_NAMED} others" if len(others) > MAX_NAMED else ""
    )
    verb = "is more stable than" if what == "stability" else f"has a better {what} than"
    rest = f"; {len(different)} of {len(pairs.pairs)} pairs differ in all" if len(different) > len(others) else ""
    return f"{better} {verb} {named} (exact Wilcoxon signed-rank tests, Holm's correction){rest}."


@dataclass(frozen=True, kw_only=True, eq=False)
class BenchmarkTradeoff(ResultMixin):
    """Accuracy and stability over several data sets.

    Attributes
    ----------
    candidates : DataFrame
        One row per candidate: mean ranks ``score_rank`` and ``stability_rank`` over data sets on which every candidate
        has both, on how many data sets it is ``on_front`` and ``chosen``, on how many it has both (``datasets``), and
        whether no other candidate is better in both mean ranks (``best``).
    choices : DataFrame
        One row per data set: which candidate was ``chosen``, the ``front``, and the ``reason``, or why none was chosen.
    rule : str
        How candidates were chosen.
    metric, measure : str
        The score and the measure of stability.
    n_datasets : int
        Number of data sets behind the mean ranks.

    See Also
    --------
    BenchmarkResult.tradeoff : Makes it.
    holdfast.tradeoff.Pareto : The trade-off on one data set.

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
    >>> hf.benchmark(data, study).tradeoff().candidates[["score_rank", "stability_rank", "chosen"]].reset_index()
      candidate  score_rank  stability_rank  chosen
    0     anova         1.5             1.0       2
    1    random         1.5             2.0       0
    """

    _table_field: ClassVar[str] = "candidates"

    candidates: pd.DataFrame
    choices: pd.DataFrame
    rule: str
    metric: str
    measure: str
    n_datasets: int

    def plot(self) -> "AnyChart":
        """Draw mean ranks of score and stability against each other.

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.

        See Also
        --------
        holdfast.plots.plot_rank_tradeoff : The same as a function.
        """
        from holdfast.plots import plot_rank_tradeoff

        return plot_rank_tradeoff(self.candidates, score=self.metric, n_datasets=self.n_datasets)

    def _picture(self) -> Svg | None:
        points = [
            Point(row.stability_rank, row.score_rank, str(name), strong=bool(row.best))
            for name, row in self.candidates.iterrows()
        ]
        return draw_points(points, x_title=f"mean rank of {self.measure}", y_title=f"mean rank of {self.metric}")

    def __repr__(self) -> str:
        head = f"{self.metric} and {self.measure} over {self.n_datasets} data sets; chosen by {self.rule}"
        return f"{head}\n{self.candidates.to_string(float_format=lambda number: f'{number:.2f}')}"


@dataclass(frozen=True, kw_only=True, eq=False)
class BenchmarkResult(ResultMixin):
    """What the same study found on several data sets: scores and stabilities, ranks, tests, trade-offs, tables.

    Tests use the data sets on which every candidate has a value; results name what was left out.

    Attributes
    ----------
    results : dict of StudyResult
        The results of each data set that could be studied.
    failures : dict of str
        Why each of the other data sets could not.
    metric : str or None
        The score to compare by; None for the first one that all data sets have.
    measure : Measure or None
        The measure of stability; None for the default of what the candidates give.
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

    _table_field: ClassVar[str] = "cells"

    results: "dict[str, StudyResult]"
    failures: dict[str, str] = field(default_factory=dict)
    metric: str | None = None
    measure: Measure | None = None
    level: float = 0.95
    folder: Path | None = None
    only: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        known = list(dict.fromkeys(metric for result in self.results.values() for metric in result.metrics))
        if self.metric is not None and known and self.metric not in known:
            raise ValueError(f"Expected one of the study's scores ({', '.join(known)}), got {self.metric!r}.")
        if self.measure is not None:
            _check_measure(self.measure)

    @property
    def datasets(self) -> list[str]:
        """Names of all data sets, those that could not be studied last."""
        return [*self.results, *self.failures]

    @property
    def candidates(self) -> list[str]:
        """Names of all candidates."""
        if self.only is not None:
            return list(self.only)
        return list(dict.fromkeys(name for result in self.results.values() for name in result.candidates))

    @cached_property
    def score_name(self) -> str | None:
        """The score that candidates are compared by; None if the data sets have none in common."""
        if self.metric is not None:
            return self.metric
        metrics = [result.metrics if result.has_scores else [] for result in self.results.values()]
        return next((name for name in metrics[0] if all(name in other for other in metrics)), None) if metrics else None

    @cached_property
    def measure_name(self) -> str:
        """The measure of stability, with its parameters."""
        if self.measure is not None:
            return self.measure.label
        measures = dict[str, None]()
        for result in self.results.values():
            studied = [name for name in self.candidates if name in result.candidates]
            measures[find_measure(result.common_measure(studied).measure).label] = None
        return " or ".join(measures) or "stability"

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per data set and candidate: score and stability with intervals, size, and why one is missing."""
        described = {dataset: self._describe_candidates(result) for dataset, result in self.results.items()}
        for dataset, reason in self.failures.items():
            described[dataset] = dict.fromkeys(self.candidates, _missing(reason))
        rows = [
            {"dataset": dataset, "candidate": name, **row}
            for dataset, candidates in described.items()
            for name, row in candidates.items()
        ]
        frame = pd.DataFrame(rows, columns=["dataset", "candidate", *COLUMNS, "reason"])
        reasons = [reason if isinstance(reason, str) and reason else None for reason in frame["reason"]]
        return frame.astype(COLUMNS).assign(reason=pd.Series(reasons, dtype=object))

    def _describe_candidates(self, result: StudyTables) -> dict[str, dict[str, Any]]:
        """Return score, stability and size of every candidate on one data set, or why they are missing."""
        problems = {name: _find_problem(result, name) for name in self.candidates}
        studied = [name for name, problem in problems.items() if problem is None]
        common = result.common_measure(studied, self.measure)
        with warnings.catch_warnings(action="ignore"):
            scores, no_score = self._score_candidates(result, studied)
            rows = {name: _describe_stability(result, name, common, self.level) for name in studied}
        for name, row in rows.items():
            if scores is not None:
                columns = ("score", "score_se", "score_low", "score_high", "on_front")
                row |= {column: scores.loc[name, column] for column in columns}
            if np.isnan(row["score"]):
                row["reason"] = "; ".join(filter(None, [row["reason"], no_score or "it has no score"]))
        return {name: _missing(problem) if problem is not None else rows[name] for name, problem in problems.items()}

    def _score_candidates(self, result: StudyTables, names: list[str]) -> tuple[pd.DataFrame | None, str]:
        """Return scores with intervals and which candidates are on the front, or why there are none."""
        if not names:
            return None, ""
        if self.score_name is None:
            return None, "the data sets have no score in common"
        if self.score_name not in result.metrics:
            return None, f"this data set has no score {self.score_name}"
        try:
            points = pareto(result, self.score_name, self.measure, candidates=names, level=self.level, n_draws=2)
        except ValueError as error:
            return None, getattr(error, "plain", str(error))
        return points.frame, ""

    @property
    def scores(self) -> pd.DataFrame:
        """Mean score of each candidate on each data set; ``nan`` where there is none (see :attr:`cells`)."""
        return self._table("score")

    @property
    def stabilities(self) -> pd.DataFrame:
        """Stability of each candidate on each data set; ``nan`` where there is none (see :attr:`cells`)."""
        return self._table("stability")

    def _table(self, what: str) -> pd.DataFrame:
        values = self.cells.set_index(["dataset", "candidate"])[what]
        index = pd.MultiIndex.from_product([self.datasets, self.candidates])
        rows = values.reindex(index).to_numpy(dtype=float).reshape(len(self.datasets), len(self.candidates))
        return pd.DataFrame(rows, index=self.datasets, columns=self.candidates)

    def blocks(self, what: What = "stability", candidates: Iterable[str] | None = None) -> Blocks:
        """Return the data sets on which every candidate has a value: what tests are made on.

        Parameters
        ----------
        what : {"score", "stability"}
            What to compare.
        candidates : iterable of str, optional
            Names of candidates; all by default.

        Returns
        -------
        Blocks
            The values, and what was left out.

        Raises
        ------
        ValueError
            If ``what`` is something else, or there is no such candidate.
        """
        if what not in ("score", "stability"):
            raise ValueError(f"Expected 'score' or 'stability', got {what!r}.")
        names = self.candidates if candidates is None else [*as_names(candidates, "candidates=")]
        for name in names:
            if name not in self.candidates:
                raise ValueError(f"Expected candidates of the study ({', '.join(self.candidates)}), got {name!r}.")
        blocks, cells = make_blocks(self._table(what)[list(names)]), self.cells
        missing = cells[cells[what].isna() & cells["candidate"].isin(names) & cells["dataset"].isin(list(self.results))]
        reasons = missing.groupby(["candidate", "reason"], sort=False)["dataset"].agg(", ".join).reset_index()
        why = [f"{row.candidate} on {row.dataset}: {str(row.reason).strip('.')}." for row in reasons.itertuples()]
        return replace(blocks, note=" ".join([blocks.note, *why[:MAX_NAMED]]))

    def ranks(self, what: What = "stability", candidates: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the ranks of candidates inside of each data set: 1 is best, equals share the average of their ranks.

        Parameters
        ----------
        what : {"score", "stability"}
            What to rank.
        candidates : iterable of str, optional
            Names of candidates; all by default.

        Returns
        -------
        DataFrame
            One row per data set on which every candidate has a value.
        """
        return rank_table(self.blocks(what, candidates)).rename_axis(None)

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
        """Describe what was shown over data sets.

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
        cells, names = self.cells, self.candidates
        choices = [(dataset, *self._choose(dataset, rule, parameters)) for dataset in self.datasets]
        table = pd.DataFrame(choices, columns=["dataset", "chosen", "front", "reason"]).set_index("dataset")
        both = cells["score"].notna() & cells["stability"].notna()
        blocks = {}
        for what in ("score", "stability"):
            known = cells.assign(value=cells[what].where(both))
            blocks[what] = make_blocks(known.pivot_table("value", "dataset", "candidate", dropna=False))
        ranks = {what: dict(zip(block.candidates, block.mean_ranks, strict=True)) for what, block in blocks.items()}
        candidates = pd.DataFrame({
            "score_rank": [ranks["score"].get(name, np.nan) for name in names],
            "stability_rank": [ranks["stability"].get(name, np.nan) for name in names],
            "on_front": [int(cells.loc[cells["candidate"] == name, "on_front"].sum()) for name in names],
            "chosen": [int((table["chosen"] == name).sum()) for name in names],
            "datasets": [int(both[cells["candidate"] == name].sum()) for name in names],
        }, index=pd.Index(names, name="candidate"))  # fmt: skip
        on_front = pareto_front(-candidates["score_rank"].to_numpy(), -candidates["stability_rank"].to_numpy())
        return BenchmarkTradeoff(
            candidates=candidates.assign(best=on_front), choices=table, rule=rule,
            metric=self.score_name or "score", measure=self.measure_name, n_datasets=len(blocks["stability"].datasets),
        )  # fmt: skip

    def _choose(self, dataset: str, rule: str, parameters: Mapping[str, Any]) -> tuple[str | None, Any, str]:
        """Return the candidate chosen on a data set, those on its front, and the reason for the choice or for none."""
        cells, result = self.cells[self.cells["dataset"] == dataset], self.results.get(dataset)
        front, reasons = tuple(cells.loc[cells["on_front"], "candidate"]), cells["reason"].dropna()
        measured = cells.loc[cells["score"].notna() & cells["stability"].notna(), "candidate"].tolist()
        if result is None or not measured or self.score_name is None:
            return None, front, str(reasons.iloc[0]) if len(reasons) else ""
        try:
            with warnings.catch_warnings(action="ignore"):
                choice = choose(
                    result, rule, metric=self.score_name, measure=self.measure, candidates=measured, level=self.level,
                    **parameters,
                )  # fmt: skip
        except ValueError as error:
            return None, front, getattr(error, "plain", str(error))
        return choice.candidate, front, choice.reason

    # Pictures, reports, tables

    def plot(
        self,
        picture: Literal["ranks", "tradeoff"] = "ranks",
        *,
        what: What = "stability",
        test: str = "wilcoxon",
        rule: str = "one-se",
    ) -> "AnyChart":
        """Draw mean ranks with what was not shown to differ, or mean ranks of score and stability.

        Parameters
        ----------
        picture : {"ranks", "tradeoff"}
            The critical-difference diagram, or the trade-off over data sets.
        what : {"score", "stability"}
            What is ranked, for ``"ranks"``.
        test : {"wilcoxon", "nemenyi", "mean-ranks"}
            The test that joins candidates, for ``"ranks"``; ``"wilcoxon"`` is that of :meth:`verdict`.
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
        comparisons = self.compare(what, test)
        if test == "wilcoxon" and not self.verdict(what).shown:  # pairs differ only if the test of all shows something
            comparisons = replace(comparisons, pairs=comparisons.pairs.assign(different=False))
        return plot_critical_difference(comparisons, what=noun)

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
        from holdfast.report.benchmark import benchmark_latex, write_text

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
        from holdfast.report.benchmark import benchmark_csv, write_text

        return write_text(benchmark_csv(self.summary()), path)

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

    def _picture(self) -> Svg | None:
        ranks = self.friedman()
        return draw_mean_ranks(ranks.candidates, ranks.mean_ranks)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} of which could not be studied" if self.failures else ""
        head = f"Benchmark of {len(self.candidates)} candidates on {len(self.datasets)} data sets{failed}"
        return "\n".join([head, self.verdict("stability").headline, self.verdict("score").headline])
