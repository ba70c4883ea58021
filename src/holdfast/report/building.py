"""From a study to a summary: which candidate, its features, the others beside it, the choice."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.features import feature_table
from holdfast.inference.intervals import check_level
from holdfast.measures import REQUIRED, Measure, find_measure
from holdfast.plots.text import clean
from holdfast.preferences import Preferences
from holdfast.report.causes import causes_of
from holdfast.report.method import footing_in_words, method_of, references_of
from holdfast.report.summary import Feature, Features, Score, Selector, Stability, Summary, Tradeoff
from holdfast.report.verdict import as_the_headline_says, verdict_of
from holdfast.study import StudyResult
from holdfast.study.footing import Footing, common_size, take_best
from holdfast.study.stored import UnansweredError
from holdfast.tradeoff import check_features, final_features
from holdfast.tradeoff.choice import check_rule
from holdfast.tradeoff.information import Information, compare_with_guessing, why_no_scores

MOST_SHOWN = 100
SELDOM = 0.1  # share of the runs below which a feature is only in the table
MOST_COMPARED = 30


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a report is asked: the options of :func:`summarize`."""

    candidate: str | None
    rule: str
    metric: str | None
    measure: str | Measure | None
    level: float
    threshold: float
    X: Any


def summarize(
    result: StudyResult,
    *,
    candidate: str | None = None,
    rule: str = "one-se",
    metric: str | None = None,
    measure: str | Measure | None = None,
    level: float = 0.95,
    threshold: float = 0.5,
    X: Any = None,
    title: str = "Do the selected features hold?",
    **rule_options: Any,
) -> Summary:
    """Say what a study found, in words and numbers.

    Parameters
    ----------
    result : StudyResult
        What a study found; it may be unfinished.
    candidate : str, optional
        Which candidate to report; the one that ``rule`` chooses by default, or without scores the most stable one.
    rule, **rule_options
        How to choose (see :func:`holdfast.tradeoff.choose`).
    metric, measure : optional
        Score and measure of stability; the study's first, and the usual one, by default.
    level : float
        Level of all intervals.
    threshold : float
        Share of the runs that a feature must surely exceed to be trusted.
    X : frame or array, optional
        The features that the study ran on; then stand-ins must be correlated too.
    title : str
        Heading of the report.
    """
    check_level(level)
    _check(result, rule, rule_options, metric, threshold)
    if measure is not None:
        _check_measure(find_measure(measure), X)
    asked = Question(
        candidate=candidate, rule=rule, metric=metric, measure=measure, level=level, threshold=threshold, X=X
    )
    if candidate is not None:
        result.family(candidate)  # or a sentence that names those there are
    footing = result.footing(measure=measure)
    estimates = {name: _estimate(result, name, footing, X) for name in result.candidates}
    tradeoff, why_not = _tradeoff(result, asked, rule_options)
    chosen = _subject(result, asked, estimates, tradeoff)
    stability = _told(result, chosen, estimates, asked)
    information = _information(result, chosen, asked)
    features = None if chosen is None else _features(result, chosen, footing, asked)
    features = as_the_headline_says(features, stability, information)
    selectors = _selectors(result, estimates, asked, chosen, tradeoff, why_not)
    return Summary(
        title=clean(title), level=level, candidate=chosen, stability=stability, information=information,
        footing=footing_in_words(result, footing), features=features,
        verdict=verdict_of(result, chosen, stability, features, tradeoff, information, level),
        selectors=selectors, tradeoff=tradeoff,
        causes=causes_of(
            result, chosen, stability, features, selectors, tradeoff, information, estimates.get(chosen or ""), level
        ),
        method=method_of(result, tradeoff, stability, footing, information, features, level),
        references=references_of(result, tradeoff, stability),
    )  # fmt: skip


def _check(
    result: StudyResult,
    rule: str,
    rule_options: Mapping[str, Any],
    metric: str | None,
    threshold: float,
) -> None:
    """Refuse options that are wrong whatever the study found; what a study cannot answer is told in its report."""
    check_rule(rule, rule_options, summarize)
    if metric is not None and metric not in result.metrics:
        raise ValueError(f"Expected one of the study's scores ({', '.join(result.metrics)}), got {metric!r}.")
    if not 0 < threshold < 1:
        raise ValueError(f"Expected a threshold above 0 and below 1, got {threshold}.")


def _check_measure(measure: Measure, X: Any) -> None:
    if measure.similarity is None:
        measure.check_complete()
    elif X is None and measure.parameters["similarity"] is REQUIRED:
        raise ValueError(
            f"Expected X= for {measure.name}, which lets similar features stand in for each other, got none."
        )


# Stabilities

Estimates = Mapping[str, StabilityEstimate | str]
"""An estimate of each candidate, or why there is none."""


def _estimate(result: StudyResult, name: str, footing: Footing, X: Any) -> StabilityEstimate | str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return result.stability(name, footing.measure, top=footing.top, X=X)
    except UnansweredError as unanswered:
        return unanswered.plain
    except ValueError:
        return _why_undefined(result, name, find_measure(footing.measure))


def _why_undefined(result: StudyResult, name: str, measure: Measure) -> str:
    runs = result.preferences(name)
    if measure.one_size and runs.kind == "subset" and np.unique(runs.sizes).size > 1:
        return f"its runs select different numbers of features, and {measure.name} needs one number"
    return f"{measure.name} is a measure of {measure.kind}s, and this candidate gives {runs.kind}s"


def _told(result: StudyResult, name: str | None, estimates: Estimates, asked: Question) -> Stability:
    found = "no candidate has finished a run" if name is None else estimates[name]
    if name is None or isinstance(found, str):
        nothing = math.nan
        return Stability(
            measure=None, value=nothing, low=nothing, high=nothing, strength=None, runs=0, reason=str(found), scope=""
        )
    low, high = result.interval(name, found, asked.level)
    return Stability(
        measure=found.measure, value=float(found.value), low=float(low), high=float(high), strength=found.strength,
        runs=found.n_runs, reason=found.note, scope=found.scope, unseen=found.unseen_share(asked.level),
    )  # fmt: skip


def _subject(result: StudyResult, asked: Question, estimates: Estimates, tradeoff: Tradeoff) -> str | None:
    """The candidate that the report is about."""
    if asked.candidate is not None or tradeoff.candidate is not None:
        return asked.candidate or tradeoff.candidate
    known = {name: one.value for name, one in estimates.items() if not isinstance(one, str) and one.value == one.value}
    if known:
        return max(known, key=lambda name: known[name])
    return next(iter(result.finished), None)


def _information(result: StudyResult, candidate: str | None, asked: Question) -> Information:
    if candidate is None:
        return Information(untested="no run has finished")
    return compare_with_guessing(result, candidate, asked.metric)


# Features


def _features(result: StudyResult, candidate: str, footing: Footing, asked: Question) -> Features | None:
    try:
        runs = result.preferences(candidate)
    except ValueError:  # only runs that do not count for the stability
        return None
    top = None if runs.kind == "subset" else footing.top or common_size([], runs.n_features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cut = runs if top is None else take_best(runs, top)
        table = feature_table(cut, level=asked.level)
        names = table["feature"][table["frequency"] >= SELDOM].tolist()[:MOST_SHOWN]
        final = final_features(result, candidate, threshold=asked.threshold, level=asked.level, top=top)
        shown = _checked(names, result, candidate, asked, top)
    return Features(
        n_features=runs.n_features, n_runs=runs.n_runs, threshold=asked.threshold, shown=shown,
        table=_plain_table(table, cut), bound=final.bound.sentence, top=top, alike_checked=asked.X is not None,
        chance=float(cut.density),
    )  # fmt: skip


def _checked(names: list[Any], result: StudyResult, candidate: str, asked: Question, top: int | None) -> Any:
    if not names:
        return ()
    checked = check_features(
        names, result, candidate, X=asked.X, level=asked.level, threshold=asked.threshold, top=top,
        metric=asked.metric,
    )  # fmt: skip
    return tuple(
        Feature(
            feature=_name(name),
            count=int(row["count"]),
            frequency=float(row["frequency"]),
            low=float(row["low"]),
            high=float(row["high"]),
            stand_ins=tuple(_name(one) for one in row["stand_ins"]),
            with_stand_ins=float(row["with_stand_ins"]),
            verdict=str(row["verdict"]),
        )
        for name, row in zip(names, checked.to_dict(orient="records"), strict=True)
    )


def _plain_table(table: pd.DataFrame, runs: Preferences) -> tuple[Mapping[str, Any], ...]:
    rounded = table.assign(feature=[_name(name) for name in table["feature"]])
    return tuple(
        {str(key): value for key, value in row.items()}
        for row in rounded[["feature", "count", "frequency", "low", "high", "variance_share"]].to_dict("records")
    )


def _name(name: Any) -> str:
    return f"feature {name}" if isinstance(name, int) else str(name)


# Selectors and the choice


def _tradeoff(
    result: StudyResult, asked: Question, rule_options: Mapping[str, Any]
) -> tuple[Tradeoff, Mapping[str, str]]:
    options = {"metric": asked.metric, "measure": asked.measure, "level": asked.level, "X": asked.X}
    if not result.metrics or not result.has_scores:
        return Tradeoff(missing=why_no_scores(result)), {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            choice = result.choose(asked.rule, **options, **rule_options)
            front = result.pareto(**options, n_draws=2)
    except UnansweredError as unanswered:
        return Tradeoff(missing=unanswered.plain), {}
    except ValueError:
        return Tradeoff(missing="the candidates cannot be weighed by this score and this measure"), {}
    row: Any = front.frame.loc[asked.candidate or choice.candidate]
    told = Tradeoff(
        candidate=choice.candidate, rule=choice.rule, reason=choice.reason, metric=choice.metric,
        score=float(row["score"]), score_error=float(row["score_se"]),
        score_low=float(row["score_low"]), score_high=float(row["score_high"]),
        front=tuple(str(name) for name in front.front.index),
        measured_on=choice.measured_on, optimistic=not choice.nested,
    )  # fmt: skip
    return told, {str(name): str(why) for name, why in choice.beaten["why_not"].items()}


def _selectors(
    result: StudyResult,
    estimates: Estimates,
    asked: Question,
    chosen: str | None,
    tradeoff: Tradeoff,
    why_not: Mapping[str, str],
) -> tuple[Selector, ...]:
    """All candidates, the most stable first and undefined ones last."""
    frame, letters = _scored(result), _letters(result, estimates, asked)
    rows = []
    for name in result.candidates:
        row: Any = frame.loc[name]
        found = estimates[name]
        size = math.nan if isinstance(found, str) or found.mean_size is None else found.mean_size
        scores = tuple(
            Score(metric=metric, value=float(row[metric]), error=float(row[f"{metric}_se"]))
            for metric in result.metrics
            if row[metric] == row[metric]
        )
        rows.append(
            Selector(
                candidate=name, family=str(row["family"]), stability=_told(result, name, estimates, asked),
                scores=scores, size=float(size), seconds=float(row["seconds"]), failures=int(row["failures"]),
                letters=letters.get(name, ""), on_front=name in tradeoff.front, chosen=name == chosen,
                why_not=why_not.get(name),
            )
        )  # fmt: skip
    return tuple(sorted(rows, key=lambda one: (math.isnan(one.stability.value), -one.stability.value)))


def _scored(result: StudyResult) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return result.summary()


def _letters(result: StudyResult, estimates: Estimates, asked: Question) -> Mapping[str, str]:
    """Letters of the compact display; none where the candidates cannot be compared."""
    known = [name for name, one in estimates.items() if not isinstance(one, str) and one.value == one.value]
    if not 2 <= len(known) <= MOST_COMPARED:
        return {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compared = result.compare(known, asked.measure, level=asked.level, X=asked.X)
    except ValueError:
        return {}
    return {str(name): letters for name, letters in compared.letters.items()}
