"""The candidates of a study beside each other, and the choice among them."""

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from holdfast.inference.estimate import StabilityEstimate
from holdfast.measures import Measure, find_measure
from holdfast.plots.sources import higher_is_better
from holdfast.report.findings import ReportOptions
from holdfast.report.records import Candidate, Labels, Score, Stability, Tradeoff
from holdfast.study.orders import UnansweredError
from holdfast.study.stabilities import CommonMeasure, mean_score_interval, score_range
from holdfast.study.tables import StudyTables
from holdfast.tradeoff.choice import Choice, choose, describe_alternatives, describe_certainty
from holdfast.tradeoff.fronts import pareto
from holdfast.tradeoff.selected import why_no_scores

MOST_COMPARED = 30

Estimates = Mapping[str, StabilityEstimate | str]
"""The estimate of each candidate, or why there is none."""


# Stabilities


def estimate_stability(result: StudyTables, name: str, common: CommonMeasure, X: Any) -> StabilityEstimate | str:
    """Return the stability of a candidate by the common measure, or why there is none, in words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return result.stability(name, common.measure, top=common.top_of(result.kinds.get(name)), X=X)
    except UnansweredError as unanswered:
        return unanswered.plain
    except ValueError:
        return _why_undefined(result, name, find_measure(common.measure))


def _why_undefined(result: StudyTables, name: str, measure: Measure) -> str:
    runs = result.preferences(name)
    if measure.one_size and runs.kind == "subset" and np.unique(runs.sizes).size > 1:
        return "its resamples select different numbers of features, and this measure needs one number"
    return f"the measure is one of {measure.kind}s, and this candidate gives {runs.kind}s"


def describe_stability(result: StudyTables, name: str | None, estimates: Estimates, level: float) -> Stability:
    """Return the stability of a candidate with its interval, or why there is none."""
    estimate = "no fit has succeeded" if name is None else estimates[name]
    if name is None or isinstance(estimate, str):
        return Stability(
            measure=None, value=math.nan, low=math.nan, high=math.nan, strength=None, n_runs=0, reason=str(estimate),
            scope="",
        )  # fmt: skip
    low, high = result.interval(name, estimate, level)
    return Stability(
        measure=estimate.measure, value=float(estimate.value), low=float(low), high=float(high),
        strength=estimate.strength, n_runs=estimate.n_runs, reason=estimate.note, scope=estimate.scope,
        unseen_share=float(estimate.unseen_share(level)),
    )  # fmt: skip


# The choice


def make_tradeoff(
    result: StudyTables, options: ReportOptions, rule_options: Mapping[str, Any], labels: Labels
) -> tuple[Tradeoff, Choice | None]:
    """Return the choice by accuracy and stability, and all that is known of it; None if there is none."""
    arguments = {"metric": options.metric, "measure": options.measure, "level": options.level, "X": options.X}
    if not result.metrics or not result.has_scores:
        return Tradeoff(missing=why_no_scores(result)), None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            choice = choose(result, options.rule, **arguments, **rule_options)
            front = pareto(result, **arguments, n_draws=0)
    except UnansweredError as unanswered:
        return Tradeoff(missing=labels.write(unanswered.plain)), None
    except ValueError:
        return Tradeoff(missing="the candidates cannot be compared by this score and this measure"), None
    row: Any = front.frame.loc[options.candidate or choice.candidate]
    several, shares = len(choice.alternatives) > 1, choice.probabilities
    called = shares.rename(index=labels.candidate).assign(family=shares["family"].map(labels.family).to_numpy())
    tradeoff = Tradeoff(
        candidate=choice.candidate, rule=choice.rule, reason=labels.write(choice.reason), metric=choice.metric,
        score=float(row["score"]), score_error=float(row["score_se"]),
        score_low=float(row["score_low"]), score_high=float(row["score_high"]),
        front=tuple(str(name) for name in front.front.index),
        measured_on=choice.measured_on, optimistic=not choice.nested,
        certainty=describe_certainty(called, labels.candidate(choice.candidate)),
        alternatives=tuple(choice.alternatives),
        alternatives_text=describe_alternatives(called) if several else "",
        chosen_in=float(shares["probability"].get(choice.candidate, math.nan)),
    )  # fmt: skip
    return tradeoff, choice


# The table


def make_candidates(
    result: StudyTables,
    estimates: Estimates,
    options: ReportOptions,
    reported: str | None,
    tradeoff: Tradeoff,
    choice: Choice | None,
) -> tuple[Candidate, ...]:
    """Return all candidates, the most stable first and those without a stability last."""
    why_not = {} if choice is None else choice.beaten["why_not"].to_dict()
    chosen_in = {} if choice is None else choice.probabilities["probability"].to_dict()
    table, letters = _summary_table(result), _letters(result, estimates, options)
    rows = []
    for name in result.candidates:
        row: Any = table.loc[name]
        estimate = estimates[name]
        size = math.nan if isinstance(estimate, str) or estimate.mean_size is None else estimate.mean_size
        rows.append(
            Candidate(
                candidate=name, family=str(row["family"]),
                stability=describe_stability(result, name, estimates, options.level),
                scores=_scores(result, name, row, options.level), size=float(size), seconds=float(row["seconds"]),
                failures=int(row["failures"]), letters=letters.get(name, ""), on_front=name in tradeoff.front,
                reported=name == reported, why_not=why_not.get(name), chosen_in=float(chosen_in.get(name, math.nan)),
                alternative=len(tradeoff.alternatives) > 1 and name in tradeoff.alternatives,
            )
        )  # fmt: skip
    return tuple(sorted(rows, key=_by_stability))


def _by_stability(candidate: Candidate) -> tuple[bool, float]:
    value = candidate.stability.value
    return math.isnan(value), -value if higher_is_better(candidate.stability.measure) else value


def _scores(result: StudyTables, name: str, row: Any, level: float) -> tuple[Score, ...]:
    scores = []
    for metric in result.metrics:
        value, error = float(row[metric]), float(row[f"{metric}_se"])
        if value == value:
            bounds = score_range(result.plan["scoring"][metric])
            low, high = mean_score_interval(*result.split_scores(name, metric), bounds, level)
            scores.append(Score(metric=metric, value=value, error=error, low=low, high=high))
    return tuple(scores)


def _summary_table(result: StudyTables) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return result.summary()


def _letters(result: StudyTables, estimates: Estimates, options: ReportOptions) -> Mapping[str, str]:
    """Return the letters of the compact display; none if the candidates cannot be compared."""
    known = [
        name
        for name, estimate in estimates.items()
        if isinstance(estimate, StabilityEstimate) and estimate.value == estimate.value
    ]
    if not 2 <= len(known) <= MOST_COMPARED:
        return {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            comparisons = result.compare(known, options.measure, level=options.level, X=options.X)
    except ValueError:
        return {}
    return {str(name): letters for name, letters in comparisons.letters.items()}
