"""What the report of a benchmark says, as plain typed data: one summary, from which page, text and tables are made."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pandas as pd

from holdfast.cards.ranks import Card, draw_mean_ranks
from holdfast.report.records import Fact, Reference
from holdfast.report.versioned import VersionedSummary

SCHEMA = "holdfast.benchmark/1"
"""Name and version of the JSON form; the version grows when a reader of the old form would fail."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A candidate on a data set.

    Attributes
    ----------
    dataset, candidate : str
        Which ones.
    score, score_low, score_high : float
        Mean score on held-out rows and the ends of its interval.
    score_error : float
        Standard error of the score.
    stability, low, high : float
        Stability and the ends of its interval.
    size : float
        Mean number of selected features.
    resamples : int
        Number of resamples behind the stability.
    failures : int
        Number of fits that failed.
    on_front, chosen, best_score, best_stability : bool
        Whether no other candidate is better in both; whether the rule chose it; whether it is the best in its row.
    reason : str or None
        Why something is missing.
    """

    dataset: str
    candidate: str
    score: float
    score_low: float
    score_high: float
    score_error: float
    stability: float
    low: float
    high: float
    size: float
    resamples: int
    failures: int
    on_front: bool
    chosen: bool
    best_score: bool
    best_stability: bool
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class DatasetRow:
    """A data set.

    Attributes
    ----------
    name : str
        Its name.
    samples, features : int or None
        Its size; None if it could not be studied.
    task : str or None
        Whether classes or numbers are predicted.
    resamples : str
        How many resamples, and what they are.
    seed : int or None
        Random seed of the study.
    chosen : str or None
        The candidate that the rule chose.
    front : tuple of str
        Candidates on the front.
    reason : str
        Why this one was chosen, or why none was.
    failure : str or None
        Why the data set could not be studied.
    """

    name: str
    samples: int | None
    features: int | None
    task: str | None
    resamples: str
    seed: int | None
    chosen: str | None
    front: tuple[str, ...]
    reason: str
    failure: str | None


@dataclass(frozen=True, kw_only=True)
class CandidateRow:
    """A candidate over all data sets.

    Attributes
    ----------
    candidate : str
        Its name.
    score_rank, stability_rank : float
        Mean ranks over the data sets on which every candidate has both.
    on_front, chosen, datasets : int
        On how many data sets it is on the front, chosen, and has both values.
    best : bool
        Whether no other candidate is better in both mean ranks.
    """

    candidate: str
    score_rank: float
    stability_rank: float
    on_front: int
    chosen: int
    datasets: int
    best: bool


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two candidates compared over data sets.

    Attributes
    ----------
    first, second : str
        Their names.
    difference : float
        Median over data sets of how much better the first is.
    p_value, p_wilcoxon, p_nemenyi : float
        P-value of Wilcoxon's test, the same with Holm's correction, and that of Nemenyi's test.
    different : bool
        Whether they differ by Wilcoxon's test with Holm's correction.
    first_better, equivalent, second_better : float
        Probabilities of the Bayesian signed-rank test.
    """

    first: str
    second: str
    difference: float
    p_value: float
    p_wilcoxon: float
    p_nemenyi: float
    different: bool
    first_better: float
    equivalent: float
    second_better: float


@dataclass(frozen=True, kw_only=True)
class Question:
    """Whether candidates differ over data sets in one thing.

    Attributes
    ----------
    what : str
        ``stability``, or the name of the score.
    shown : bool
        Whether a difference was shown.
    headline : str
        The answer in a sentence.
    sentences : tuple of str
        Which candidates differ, and how much the test could have shown.
    candidates : tuple of str
        Candidates that were compared.
    datasets : tuple of str
        Data sets with values of all these candidates.
    mean_ranks : tuple of float
        Mean rank of each candidate.
    ranks : tuple of tuple of float
        Ranks inside of each data set.
    chi_square, p_chi_square, f_statistic, p_f, p_value : float
        Friedman's test, that of Iman and Davenport (its F is infinite, written as undefined, if all data sets rank the
        candidates alike), and the p-value by permutation.
    degrees : int
        Degrees of freedom of the chi-square.
    f_degrees : (int, int)
        Degrees of freedom of F.
    critical_difference : float
        Nemenyi's critical difference of mean ranks.
    pairs : tuple of Pair
        All pairs.
    reason : str or None
        Why there are no tests.
    """

    what: str
    shown: bool
    headline: str
    sentences: tuple[str, ...]
    candidates: tuple[str, ...]
    datasets: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    ranks: tuple[tuple[float, ...], ...]
    chi_square: float
    degrees: int
    p_chi_square: float
    f_statistic: float
    f_degrees: tuple[int, int]
    p_f: float
    p_value: float
    critical_difference: float
    pairs: tuple[Pair, ...]
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class BenchmarkSummary(VersionedSummary):
    """Summary of a benchmark, as its report shows it: words, tables and the data of its pictures.

    Attributes
    ----------
    title : str
        Heading of the report.
    version : str
        Version of holdfast that made the summary.
    level : float
        Level of all intervals; its complement is the level of significance.
    metric : str or None
        The score; None if the data sets have none in common.
    measure : str
        The measure of stability.
    rule : str
        How a candidate was chosen on each data set.
    rope : float
        Differences of at most this size are practically no difference, for the Bayesian comparison.
    datasets : tuple of DatasetRow
        All data sets.
    candidates : tuple of CandidateRow
        All candidates.
    cells : tuple of Cell
        Each candidate on each data set.
    n_ranked : int
        Number of data sets behind the mean ranks of the candidates.
    stability, score : Question
        Whether candidates differ in stability, and in the score.
    cautions : tuple of str
        What may not be concluded.
    stability_intervals, score_intervals : str
        What the numbers are and how their intervals were made, for captions.
    method : str
        A paragraph for the methods section of a paper.
    facts : tuple of Fact
        Settings.
    references : tuple of Reference
        What to cite.

    See Also
    --------
    summarize_benchmark : Makes the summary of a benchmark.
    write_benchmark : Writes it as a page, Markdown or JSON.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.report import BenchmarkSummary
    >>> from sklearn.datasets import load_iris, load_wine
    >>> data = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> study = hf.Study(
    ...     selectors={"anova": hf.selectors.AnovaF(2), "random": hf.selectors.RandomSelector(2)},
    ...     perturbation=hf.Bootstrap(10),
    ... )
    >>> summary = hf.benchmark(data, study).summary()
    >>> summary.stability.mean_ranks
    (1.0, 2.0)
    >>> BenchmarkSummary.from_dict(summary.to_dict()).stability.mean_ranks
    (1.0, 2.0)
    """

    schema: ClassVar[str] = SCHEMA
    schema_title: ClassVar[str] = "Summary of a holdfast benchmark"

    title: str
    version: str
    level: float
    metric: str | None
    measure: str
    rule: str
    rope: float
    datasets: tuple[DatasetRow, ...]
    candidates: tuple[CandidateRow, ...]
    cells: tuple[Cell, ...]
    n_ranked: int
    stability: Question
    score: Question
    cautions: tuple[str, ...]
    stability_intervals: str
    score_intervals: str
    method: str
    facts: tuple[Fact, ...]
    references: tuple[Reference, ...]

    def cell(self, dataset: str, candidate: str) -> Cell:
        """Return a candidate on a data set.

        Parameters
        ----------
        dataset, candidate : str
            Their names.

        Returns
        -------
        Cell
            Score and stability.
        """
        return next(cell for cell in self.cells if (cell.dataset, cell.candidate) == (dataset, candidate))

    def _card(self) -> Card:
        return replace(super()._card(), picture=draw_mean_ranks(self.stability.candidates, self.stability.mean_ranks))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per data set and candidate.

        Returns
        -------
        DataFrame
            The cells.
        """
        return pd.DataFrame([vars(cell) for cell in self.cells])

    def __repr__(self) -> str:
        return "\n".join([self.stability.headline, self.score.headline])
