"""From a benchmark to its summary: tests, tables and words."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from holdfast import __version__
from holdfast.benchmarking import BenchmarkResult, BenchmarkTradeoff
from holdfast.benchmarking.result import What
from holdfast.inference.ranks import FEW, POOL, bayesian_signed_rank, compare_ranks, friedman
from holdfast.measures import find_measure
from holdfast.plots.text import clean_text, format_count, format_percent
from holdfast.references import REFERENCES
from holdfast.report.benchmark_records import BenchmarkSummary, CandidateRow, Cell, DatasetRow, Pair, Question
from holdfast.report.labels import make_labels
from holdfast.report.method import describe_model
from holdfast.report.records import Fact, Reference
from holdfast.study.exports import describe_resamples
from holdfast.study.tables import StudyTables
from holdfast.tradeoff.rules import RULES

DIGITS = 12
SCOPE = "Intervals describe resampling of each data set, not new data sets."
CITED = {
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
        references=tuple(_list_references(result)),
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
    for place, row in enumerate(wilcoxon.to_dict(orient="records")):
        probable: Any = posterior.iloc[place]
        yield Pair(
            first=row["first"], second=row["second"], difference=float(row["difference"]),
            p_value=float(row["p_value"]), p_wilcoxon=float(row["p_corrected"]),
            p_nemenyi=float(nemenyi["p_corrected"].iloc[place]), different=bool(row["different"]),
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
    cells = result.cells
    best = {what: cells.groupby("dataset")[what].transform("max").round(DIGITS) for what in ("score", "stability")}
    for place, row in enumerate(cells.to_dict(orient="records")):
        is_best = {what: round(row[what], DIGITS) == best[what].iloc[place] for what in best}
        yield Cell(
            dataset=row["dataset"], candidate=row["candidate"], score=row["score"], score_low=row["score_low"],
            score_high=row["score_high"], score_error=row["score_se"], stability=row["stability"], low=row["low"],
            high=row["high"], size=row["size"], resamples=row["runs"], failures=row["failures"],
            on_front=row["on_front"], chosen=tradeoff.choices.loc[row["dataset"], "chosen"] == row["candidate"],
            best_score=is_best["score"], best_stability=is_best["stability"], reason=row["reason"],
        )  # fmt: skip


# Words


def _list_cautions(result: BenchmarkResult, stability: Question, score: Question) -> Iterator[str]:
    n = max(len(stability.datasets), len(score.datasets))
    if n < FEW:
        yield (
            f"{format_count(n, 'data set')} with values of all candidates: too few to show any but the largest "
            "differences, and too few to speak of data sets in general."
        )
    for name, failure in result.failures.items():
        yield f"{clean_text(name)} could not be studied: {failure}"
    yield "Stability and score are two questions, each tested at its own level of significance."
    yield POOL
    if result.score_name is not None:
        yield "The choice on each data set is made on the same resamples that it is measured on, which flatters scores."


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
    return (
        f"Stability ({result.measure_name}) on each data set, with {format_percent(result.level)} confidence intervals "
        f"{over}, {_describe_distributions(result)}. {SCOPE}"
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


def _describe_distributions(result: BenchmarkResult) -> str:
    """Return by which distribution the intervals of stabilities were made, as the design of the studies asks for."""
    alone = {study.design in ("runs", "folds") for study in result.results.values()}
    jackknife = "by the jackknife over resamples, with an allowance for kinds of resamples that were not drawn"
    return " or ".join(jackknife if plain else "by Student's t over blocks of resamples" for plain in sorted(alone))


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
        chosen = RULES[rule].about.methods.format(metric=result.score_name)
        yield f"On each data set a candidate was chosen {chosen}."


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


def _list_references(result: BenchmarkResult) -> Iterator[Reference]:
    used = dict(CITED)
    if result.score_name is None:
        del used["nadeau2003"]
    for study in result.results.values():
        cite = find_measure(result.measure or study.common_measure(result.candidates).measure).cite
        if cite is not None:
            used.setdefault(cite, "the measure of stability")
        for about in study.records.selectors.values():
            if about.reference is not None:
                used.setdefault(about.reference, about.methods)
    for key, purpose in used.items():
        if key in REFERENCES:
            found = REFERENCES[key]
            yield Reference(key=key, text=found.text, link=found.link, bibtex=found.bibtex, used=purpose)
