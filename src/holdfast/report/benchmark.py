"""What the report of a benchmark says, as plain typed data: one summary, from which page, text and tables are made."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from holdfast import __version__
from holdfast.benchmarking.result import BenchmarkResult, BenchmarkTradeoff, What
from holdfast.cards import Card, draw_mean_ranks
from holdfast.inference.ranks import FEW, POOL, RankComparisons, bayesian_signed_rank, compare_ranks, friedman
from holdfast.io.files import as_path
from holdfast.measures import find_measure
from holdfast.report.labels import make_labels
from holdfast.report.method import describe_model, read_parameters, references
from holdfast.report.records import Fact, Reference, VersionedSummary
from holdfast.study.exports import describe_resamples, protect, write_latex_table
from holdfast.study.tables import StudyTables
from holdfast.text import (
    clean_text,
    escape_latex,
    format_count,
    format_interval,
    format_number,
    format_p_value,
    format_percent,
)
from holdfast.tradeoff.rules import RULES

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
    template: ClassVar[str] = "benchmark"

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

    @property
    def questions(self) -> list[Question]:
        """What was asked: whether candidates differ in stability and, if there is one, in the score."""
        return [self.stability] if self.metric is None else [self.stability, self.score]

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


def as_comparisons(question: Question, level: float) -> RankComparisons:
    """Return the comparisons that a summary holds, as they are drawn: by the tests that its sentences go by."""
    ranks = dict(zip(question.candidates, question.mean_ranks, strict=True))
    rows = [
        {
            "first": pair.first, "second": pair.second, "statistic": ranks[pair.second] - ranks[pair.first],
            "different": question.shown and pair.different,
        }
        for pair in question.pairs
    ]  # fmt: skip
    return RankComparisons(
        test="wilcoxon", candidates=question.candidates, mean_ranks=question.mean_ranks,
        n_datasets=len(question.datasets), pairs=pd.DataFrame(rows), level=level,
        reason=question.reason,
    )  # fmt: skip


DIGITS = 12
SCOPE = "Intervals describe resampling of each data set, not new data sets."
CITED: dict[str | None, str] = {
    "demsar2006": "comparisons over several data sets",
    "friedman1937": "Friedman's test",
    "imandavenport1980": "the F statistic of Friedman's test",
    "benavoli2016": "signed-rank tests of pairs instead of mean ranks",
    "holm1979": "the correction for several pairs",
    "nemenyi1963": "the critical difference",
    "benavoli2014": "the Bayesian signed-rank test",
    "benavoli2017": "the region of practical equivalence",
    "nadeau2003": "standard errors of scores over overlapping training sets",
}


def summarize_benchmark(
    result: BenchmarkResult, *, rule: str = "one-se", rope: float = 0.01, title: str | None = None
) -> BenchmarkSummary:
    """Summarize a benchmark: verdicts, tables, tests and method, in words and numbers.

    Parameters
    ----------
    result : BenchmarkResult
        The benchmark; data sets may be missing.
    rule : str
        How a candidate is chosen on each data set.
    rope : float
        Differences of at most this size are practically no difference, for the Bayesian comparison.
    title : str, optional
        Heading of the report.

    Returns
    -------
    BenchmarkSummary
        All that a report says.

    See Also
    --------
    write_benchmark : Writes it as a page, as Markdown or as JSON.
    """
    tradeoff = result.tradeoff(rule)
    stability, score = _ask(result, "stability", rope), _ask(result, "score", rope)
    return BenchmarkSummary(
        title=clean_text(title or "Which selectors are stable and accurate over several data sets?"),
        version=__version__,
        level=result.level,
        metric=result.score_name,
        measure=result.measure_name,
        rule=tradeoff.rule,
        rope=rope,
        datasets=tuple(_describe_dataset(result, tradeoff, name) for name in result.datasets),
        candidates=tuple(_list_candidates(tradeoff)),
        cells=tuple(_list_cells(result, tradeoff)),
        n_ranked=tradeoff.n_datasets,
        stability=stability,
        score=score,
        cautions=tuple(_list_cautions(result, stability, score)),
        stability_intervals=describe_stability_intervals(result),
        score_intervals=describe_score_intervals(result),
        method=" ".join(_method_sentences(result, tradeoff.rule, rope)),
        facts=tuple(_list_facts(result)),
        references=_list_references(result),
    )


# Questions


def _ask(result: BenchmarkResult, what: What, rope: float) -> Question:
    """Answer whether candidates differ over data sets, with all tests."""
    blocks, verdict = result.blocks(what), result.verdict(what)
    test, nemenyi = friedman(blocks), compare_ranks(blocks, "nemenyi", level=result.level)
    return Question(
        what=verdict.what, shown=verdict.shown, headline=verdict.headline, sentences=verdict.sentences,
        candidates=blocks.candidates, datasets=blocks.datasets, mean_ranks=test.mean_ranks,
        ranks=tuple(tuple(float(rank) for rank in row) for row in blocks.ranks), chi_square=test.chi_square,
        degrees=test.degrees, p_chi_square=test.p_chi_square, f_degrees=test.f_degrees,
        f_statistic=test.f_statistic if math.isfinite(test.f_statistic) else math.nan,
        p_f=test.p_f, p_value=test.p_value, critical_difference=nemenyi.critical_difference,
        pairs=tuple(_list_pairs(result, blocks, nemenyi.pairs, rope)), reason=test.reason,
    )  # fmt: skip


def _list_pairs(result: BenchmarkResult, blocks: Any, nemenyi: pd.DataFrame, rope: float) -> Iterator[Pair]:
    wilcoxon = compare_ranks(blocks, level=result.level).pairs
    posterior = bayesian_signed_rank(blocks, rope=rope).pairs
    for index, row in enumerate(wilcoxon.to_dict(orient="records")):
        probable: Any = posterior.iloc[index]
        yield Pair(
            first=row["first"], second=row["second"], difference=float(row["difference"]),
            p_value=float(row["p_value"]), p_wilcoxon=float(row["p_corrected"]),
            p_nemenyi=float(nemenyi["p_corrected"].iloc[index]), different=bool(row["different"]),
            first_better=float(probable["first_better"]), equivalent=float(probable["equivalent"]),
            second_better=float(probable["second_better"]),
        )  # fmt: skip


# Tables


def _describe_dataset(result: BenchmarkResult, tradeoff: BenchmarkTradeoff, name: str) -> DatasetRow:
    if name in result.failures:
        return DatasetRow(
            name=name, samples=None, features=None, task=None, resamples="", seed=None, chosen=None, front=(),
            reason="", failure=result.failures[name],
        )  # fmt: skip
    study = result.results[name]
    choice: Any = tradeoff.choices.loc[name]
    return DatasetRow(
        name=name, samples=int(study.plan["data"]["n_samples"]), features=len(study.feature_names), task=study.task,
        resamples=describe_resamples(study), seed=int(study.plan["random_state"]),
        chosen=choice["chosen"] if isinstance(choice["chosen"], str) else None, front=tuple(choice["front"]),
        reason=str(choice["reason"]), failure=None,
    )  # fmt: skip


def _list_candidates(tradeoff: BenchmarkTradeoff) -> Iterator[CandidateRow]:
    for name, row in tradeoff.candidates.to_dict(orient="index").items():
        yield CandidateRow(
            candidate=str(name), score_rank=float(row["score_rank"]), stability_rank=float(row["stability_rank"]),
            on_front=int(row["on_front"]), chosen=int(row["chosen"]), datasets=int(row["datasets"]),
            best=bool(row["best"]),
        )  # fmt: skip


def _list_cells(result: BenchmarkResult, tradeoff: BenchmarkTradeoff) -> Iterator[Cell]:
    cells = result.cells.rename(columns={"score_se": "score_error", "runs": "resamples"})
    best = {what: cells.groupby("dataset")[what].transform("max").round(DIGITS) for what in ("score", "stability")}
    rows: Any = cells.to_dict(orient="records")
    for index, row in enumerate(rows):
        is_best = {what: round(row[what], DIGITS) == best[what].iloc[index] for what in best}
        chosen = tradeoff.choices.loc[row["dataset"], "chosen"] == row["candidate"]
        yield Cell(**row, chosen=chosen, best_score=is_best["score"], best_stability=is_best["stability"])


# Words


def _list_cautions(result: BenchmarkResult, stability: Question, score: Question) -> Iterator[str]:
    n = max(len(stability.datasets), len(score.datasets))
    if n < FEW:
        yield (
            f"{format_count(n, 'data set')} with values of all candidates: too few to show any but the largest "
            "differences, and too few for conclusions about data sets in general."
        )
    for name, failure in result.failures.items():
        yield f"{clean_text(name)} could not be studied: {failure}"
    yield "Stability and score are two questions, each tested at its own level of significance."
    yield POOL
    if result.score_name is not None:
        yield "The choice on each data set is measured on the resamples that it is made on, so scores are optimistic."


def describe_stability_intervals(result: BenchmarkResult) -> str:
    """Return how stabilities and their intervals were made, in a sentence that can stand in a caption."""
    studies = list(result.results.values())
    if not studies:
        return "There is no stability: no data set could be studied."
    resamples = " or ".join(dict.fromkeys(describe_resamples(study) for study in studies))
    seeds = ", ".join(dict.fromkeys(str(study.plan["random_state"]) for study in studies))
    over = f"over {resamples} (random seed{'s' if ',' in seeds else ''} {seeds})"
    if result.cells["low"].isna().all():
        return f"Stability ({result.measure_name}) on each data set, {over}; it has no intervals."
    alone = {study.design in ("runs", "folds") for study in studies}  # the distribution that the design asks for
    jackknife = "by the jackknife over resamples, with an allowance for kinds of resamples that were not drawn"
    how = " or ".join(jackknife if plain else "by Student's t over blocks of resamples" for plain in sorted(alone))
    return (
        f"Stability ({result.measure_name}) on each data set, with {format_percent(result.level)} confidence intervals "
        f"{over}, {how}. {SCOPE}"
    )


def describe_score_intervals(result: BenchmarkResult) -> str:
    """Return how scores and their intervals were made, in a sentence that can stand in a caption."""
    if result.score_name is None:
        return "There is no score that all data sets have."
    models = dict.fromkeys(describe_model(study, make_labels(study)) for study in result.results.values())
    resamples = " or ".join(dict.fromkeys(describe_resamples(study) for study in result.results.values()))
    return (
        f"Mean {result.score_name} of {' or '.join(models)} on each data set, on the rows held out from {resamples}, "
        f"with {format_percent(result.level)} intervals from standard errors that allow for overlapping training sets "
        f"(Nadeau and Bengio, 2003). {SCOPE}"
    )


def _method_sentences(result: BenchmarkResult, rule: str, rope: float) -> Iterator[str]:
    studies = list(result.results.values())
    n, k = len(result.datasets), len(result.candidates)
    yield (
        f"{format_count(k, 'candidate')} were compared on {format_count(n, 'data set')} with holdfast {__version__}; "
        "the same study was run on each."
    )
    if not studies:
        return
    yield describe_stability_intervals(result)
    if result.score_name is not None:
        yield describe_score_intervals(result)
    yield f"Stability was measured by {_describe_measures(result, studies)}."
    alpha = format_percent(1 - result.level)
    yield (
        "Candidates were ranked on each data set (1 is best, ties share the average rank), and differences over data "
        f"sets tested at {alpha} by Friedman's test, with p-values by permutation inside of data sets; pairs were "
        "compared by exact Wilcoxon signed-rank tests with Holm's correction (Benavoli et al., 2016), by Nemenyi's "
        "critical difference of mean ranks (Demšar, 2006), and by the Bayesian signed-rank test with a region of "
        f"practical equivalence of ± {rope:g} (Benavoli et al., 2017). Data sets without a value of every candidate "
        "were left out of tests."
    )
    if result.score_name is not None:
        yield f"On each data set a candidate was chosen {RULES[rule].phrase(result.score_name)}."


def _describe_measures(result: BenchmarkResult, studies: Sequence[StudyTables]) -> str:
    measures = (
        [result.measure]
        if result.measure is not None
        else [study.common_measure(result.candidates).measure for study in studies]
    )
    return " or ".join(dict.fromkeys(find_measure(measure).methods for measure in measures))


def _list_facts(result: BenchmarkResult) -> Iterator[Fact]:
    studies = list(result.results.values())
    yield Fact(name="Data sets", value=format_count(len(result.datasets), "data set"))
    yield Fact(name="Candidates", value=format_count(len(result.candidates), "candidate"))
    yield Fact(name="Measure of stability", value=result.measure_name)
    yield Fact(name="Score", value=result.score_name or "none")
    for name, values in (
        ("Resamples of each data set", [describe_resamples(study) for study in studies]),
        ("Random seed", [str(study.plan["random_state"]) for study in studies]),
    ):
        if values:
            yield Fact(name=name, value=" or ".join(dict.fromkeys(values)))


def _list_references(result: BenchmarkResult) -> tuple[Reference, ...]:
    used = dict(CITED)
    if result.score_name is None:
        del used["nadeau2003"]
    for study in result.results.values():
        cite = find_measure(result.measure or study.common_measure(result.candidates).measure).cite
        used.setdefault(cite, "the measure of stability")
        for family, about in study.records.selectors.items():
            used.setdefault(about.reference, about.phrase(**read_parameters(study, family)))
    return references(used, ())


HEAD = "% Made by holdfast {version}; needs \\usepackage{{booktabs}}"


def benchmark_latex(summary: BenchmarkSummary) -> str:
    r"""Return tables of a benchmark for a paper: stability, score, and ranks with tests.

    Parameters
    ----------
    summary : BenchmarkSummary
        What the report says.

    Returns
    -------
    str
        LaTeX, ready for ``\input``; the best of each row is bold, and captions say how intervals were made.

    See Also
    --------
    benchmark_csv : The same numbers with all digits.
    """
    tables = [*(_values_table(summary, question) for question in summary.questions), _ranks_table(summary)]
    return "\n\n".join([HEAD.format(version=summary.version), *tables]) + "\n"


def _values_table(summary: BenchmarkSummary, question: Question) -> str:
    """Return a table of data sets × candidates, with intervals, and mean ranks below."""
    of_stability, names = question is summary.stability, [row.candidate for row in summary.candidates]

    def show(cell: Cell) -> str:
        value, low, high, best = (
            (cell.stability, cell.low, cell.high, cell.best_stability)
            if of_stability
            else (cell.score, cell.score_low, cell.score_high, cell.best_score)
        )
        number = rf"\textbf{{{_format_number(value)}}}" if best else _format_number(value)
        return number if math.isnan(low) else rf"{number} {{\footnotesize {escape_latex(format_interval(low, high))}}}"

    rows = [
        [escape_latex(dataset.name), *(show(summary.cell(dataset.name, name)) for name in names)]
        for dataset in summary.datasets
    ]
    ranks = dict(zip(question.candidates, question.mean_ranks, strict=True))
    intervals = summary.stability_intervals if of_stability else summary.score_intervals
    caption = (
        f"{intervals} The best of each row is bold; mean ranks are over {len(question.datasets)} data sets with values "
        f"of all candidates. {question.headline}"
    )
    return write_latex_table(
        ["data set", *map(escape_latex, names)], rows, escape_latex(caption),
        label=f"tab:benchmark-{'stability' if of_stability else 'score'}",
        last=["mean rank", *(_format_number(ranks.get(name, math.nan)) for name in names)],
    )  # fmt: skip


def _format_number(value: float) -> str:
    return escape_latex(format_number(value))


def _ranks_table(summary: BenchmarkSummary) -> str:
    """Return mean ranks of stability and score, how often each candidate is on the front and chosen."""
    asked = [f"rank, {question.what}" for question in summary.questions]
    header = ["candidate", *asked, "on the front", "chosen"]
    ranks = [dict(zip(question.candidates, question.mean_ranks, strict=True)) for question in summary.questions]
    rows = [
        [
            escape_latex(row.candidate), *(_format_number(known.get(row.candidate, math.nan)) for known in ranks),
            str(row.on_front), str(row.chosen),
        ]
        for row in summary.candidates
    ]  # fmt: skip
    tests = " ".join(f"{question.what}: {describe_test(question)}." for question in summary.questions)
    caption = (
        f"Mean ranks over data sets (1 is best), and on how many of {len(summary.datasets)} data sets a candidate is "
        f"on the front of score and stability and is chosen (rule {summary.rule}). {tests}"
    )
    return write_latex_table(list(map(escape_latex, header)), rows, escape_latex(caption), label="tab:benchmark-ranks")


def describe_test(question: Question) -> str:
    """Return Friedman's test in words and numbers."""
    if question.reason is not None:
        return f"no test, because {question.reason}"
    f_statistic = "infinite" if math.isnan(question.f_statistic) else format_number(question.f_statistic)
    return (
        f"Friedman's chi-square {format_number(question.chi_square)} ({question.degrees} df), Iman and Davenport's F "
        f"{f_statistic} ({question.f_degrees[0]}, {question.f_degrees[1]} df), {format_p_value(question.p_value)} "
        f"by permutation, Nemenyi's critical difference {format_number(question.critical_difference)}"
    )


def benchmark_csv(summary: BenchmarkSummary) -> str:
    """Return every candidate on every data set as CSV, with all digits; missing numbers are empty.

    Parameters
    ----------
    summary : BenchmarkSummary
        What the report says.

    Returns
    -------
    str
        One row per data set and candidate; a name that a spreadsheet would run as a formula begins with an apostrophe.

    See Also
    --------
    benchmark_latex : Tables for a paper.
    """
    return protect(benchmark_frame(summary)).to_csv(index=False, lineterminator="\n")


def benchmark_frame(summary: BenchmarkSummary) -> pd.DataFrame:
    """Return every candidate on every data set as a table: one row per data set and candidate."""
    frame = pd.DataFrame([vars(cell) for cell in summary.cells], columns=list(Cell.__dataclass_fields__))
    flags = {name: int for name in frame.columns if frame[name].dtype == bool}
    return frame.astype(flags).assign(metric=summary.metric, measure=summary.measure, level=summary.level)


def write_text(text: str, path: str | Path | None) -> str:
    """Write a text to a file, if there is one, and return it."""
    if path is not None:
        as_path(path).write_text(text, encoding="utf-8")
    return text
