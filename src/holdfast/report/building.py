"""From a study to a summary: options checked, the reported candidate found, and everything put into words."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast import __version__
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import check_level
from holdfast.measures import REQUIRED, Measure, find_measure
from holdfast.plots.sources import higher_is_better
from holdfast.replication import Replicability, find_known
from holdfast.report.causes import find_causes
from holdfast.report.features import make_features
from holdfast.report.labels import make_labels
from holdfast.report.method import describe_common_measure, describe_method, list_references
from holdfast.report.records import (
    Candidate,
    Findings,
    Labels,
    Replication,
    ReportOptions,
    Score,
    Stability,
    Tradeoff,
    Use,
)
from holdfast.report.summary import Summary
from holdfast.report.verdict import make_verdict, match_headline
from holdfast.study.orders import UnansweredError
from holdfast.study.stabilities import CommonMeasure, mean_score_interval, score_range
from holdfast.study.tables import StudyTables
from holdfast.text import clean_text
from holdfast.tradeoff.choice import (
    Choice,
    check_rule,
    choose,
    describe_alternatives,
    describe_certainty,
    list_probabilities,
)
from holdfast.tradeoff.fronts import pareto
from holdfast.tradeoff.points import LEAST_UNITS, make_units
from holdfast.tradeoff.selected import Information, compare_with_guessing, most_stable, why_no_scores


def find_replicability(result: StudyTables, candidate: str | None, options: ReportOptions) -> Replicability | None:
    """Return what is known of a candidate in new studies: as it was given, or as the study has it."""
    given = options.replicability
    if given is not None and given.candidate != candidate:
        raise ValueError(
            f"Expected the replicability of {candidate}, which the report shows, got that of {given.candidate}; "
            "choose what is shown with candidate=."
        )
    if given is not None:
        return given.at_level(options.level)
    return None if candidate is None else find_known(result, candidate, level=options.level, X=options.X)


def describe_replication(known: Replicability | None) -> Replication | None:
    """Return the record of a summary."""
    if known is None:
        return None
    low, high = known.expected_interval
    return Replication(
        sentence=known.sentence, expected=known.expected, low=low, high=high, n_selected=known.n_selected,
        agreement=known.agreement, agreement_low=known.interval.low, agreement_high=known.interval.high,
        half_agreement=known.half_agreement, half_low=known.half_interval.low, half_high=known.half_interval.high,
        rows_sentence=known.rows_sentence, n_pairs=known.n_pairs, cautions=tuple(map(clean_text, known.cautions)),
        shuffled_agreement=known.shuffled_agreement, control_sentence=known.control_sentence,
        real_sentence=clean_text(known.real_sentence),
        p_any=math.nan if known.shuffled is None else known.shuffled.p_any,
    )  # fmt: skip


MAX_COMPARED = 30

Estimates = Mapping[str, StabilityEstimate | str]
"""The estimate of each candidate, or why there is none."""


# Stabilities


def estimate_stability(result: StudyTables, name: str, common: CommonMeasure, X: Any) -> StabilityEstimate | str:
    """Return the stability of a candidate by the common measure, or why there is none, in words."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return common.estimate(result, name, X=X)
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
    return Stability.of(estimate, result.interval(name, estimate, level), level)


def describe_use(result: StudyTables, name: str | None, level: float) -> Use | None:
    """Return how much of what a candidate's models use comes back; None if that is not known."""
    if name is None:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            found = result.compare_with_use(name)
            low, high = map(float, found.comparison.ci(level))
    except ValueError:  # models without coefficients, or a stability that has no standard error
        return None
    return Use(listed=found.listed, used=found.used, difference=found.comparison.difference, low=low, high=high)


# The choice


def make_tradeoff(result: StudyTables, options: ReportOptions, labels: Labels) -> tuple[Tradeoff, Choice | None]:
    """Return the choice by accuracy and stability, and all that is known of it; None if there is none."""
    arguments = {"metric": options.metric, "measure": options.measure, "level": options.level, "X": options.X}
    if not result.metrics or not result.has_scores:
        return Tradeoff(missing=why_no_scores(result)), None
    try:
        with warnings.catch_warnings(action="ignore"):
            n_draws = None if options.redrawn else 0
            choice = choose(result, options.rule, **arguments, n_draws=n_draws, **options.rule_options)
            front = pareto(result, **arguments, n_draws=0)
    except UnansweredError as unanswered:
        return Tradeoff(missing=labels.write(unanswered.plain)), None
    except ValueError:
        return Tradeoff(missing="the candidates cannot be compared by this score and this measure"), None
    row: Any = front.frame.loc[options.candidate or choice.candidate]
    scored = replace(
        describe_choice(choice, labels), score=float(row["score"]), score_error=float(row["score_se"]),
        score_low=float(row["score_low"]), score_high=float(row["score_high"]),
        front=tuple(str(name) for name in front.front.index),
    )  # fmt: skip
    return scored, choice


def describe_choice(choice: Choice, labels: Labels) -> Tradeoff:
    """Return a choice in the words of readers, without scores."""
    several, shares = len(choice.alternatives) > 1, choice.probabilities
    called = shares.rename(index=labels.candidate).assign(family=shares["family"].map(labels.family).to_numpy())
    return Tradeoff(
        candidate=choice.candidate, rule=choice.rule, reason=labels.write(choice.reason), metric=choice.metric,
        measured_on=choice.measured_on, optimistic=not choice.nested,
        certainty=describe_certainty(called, labels.candidate(choice.candidate)),
        alternatives=tuple(choice.alternatives), alternatives_text=describe_alternatives(called) if several else "",
        chosen_in=float(shares["probability"].get(choice.candidate, math.nan)),
    )  # fmt: skip


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
    with warnings.catch_warnings(action="ignore"):
        table = result.summary()
    letters = _letters(result, estimates, options)
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

    def by_stability(candidate: Candidate) -> tuple[bool, float]:
        value = candidate.stability.value
        return math.isnan(value), -value if higher_is_better(candidate.stability.measure) else value

    return tuple(sorted(rows, key=by_stability))


def _scores(result: StudyTables, name: str, row: Any, level: float) -> tuple[Score, ...]:
    scores = []
    for metric in result.metrics:
        value, error = float(row[metric]), float(row[f"{metric}_se"])
        if value == value:
            bounds = score_range(result.plan["scoring"][metric])
            low, high = mean_score_interval(*result.split_scores(name, metric), bounds, level)
            scores.append(Score(metric=metric, value=value, error=error, low=low, high=high))
    return tuple(scores)


def _letters(result: StudyTables, estimates: Estimates, options: ReportOptions) -> Mapping[str, str]:
    """Return the letters of the compact display; none if the candidates cannot be compared."""
    known = [
        name
        for name, estimate in estimates.items()
        if isinstance(estimate, StabilityEstimate) and estimate.value == estimate.value
    ]
    if not 2 <= len(known) <= MAX_COMPARED:
        return {}
    try:
        with warnings.catch_warnings(action="ignore"):
            comparisons = result.compare(known, options.measure, level=options.level, X=options.X)
    except ValueError:
        return {}
    return {str(name): letters for name, letters in comparisons.letters.items()}


def summarize(
    result: StudyTables,
    *,
    candidate: str | None = None,
    rule: str = "one-se",
    metric: str | None = None,
    measure: str | Measure | None = None,
    level: float = 0.95,
    threshold: float = 0.5,
    X: Any = None,
    y: Any = None,
    replicability: Replicability | None = None,
    title: str = "Do the selected features hold?",
    **rule_options: Any,
) -> Summary:
    """Summarize a study: verdict, features, candidates, choice, causes, method, in words and numbers.

    Parameters
    ----------
    result : StudyResult
        The study; it may be unfinished.
    candidate : str, optional
        Which candidate to report; by default the one that ``rule`` chooses, or without scores the most stable one.
    rule : str
        How to choose (see :func:`holdfast.tradeoff.choose`).
    metric : str, optional
        Score; the study's first one by default.
    measure : str or Measure, optional
        Measure of stability; by default the one for what the candidates give.
    level : float
        Level of all intervals.
    threshold : float
        Selection frequency that the interval of a feature must exceed for the feature to hold.
    X : frame or array, optional
        The features of the study; stand-ins must then be correlated too.
    y : array, optional
        The target, together with X: single rows are then drawn in the box plots, visible to every reader of the report.
    replicability : Replicability, optional
        What :func:`holdfast.replicability` found for the reported candidate; without it, what the store says.
    title : str
        Heading of the report.
    **rule_options
        Options of the rule, such as ``stability=0.75`` of ``at-least``.

    Returns
    -------
    Summary
        All that a report says; :func:`render` and :func:`write_report` need nothing else.

    See Also
    --------
    write_report : Writes it as a page, as Markdown or as JSON.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.report import summarize
    >>> from holdfast.selectors import AnovaF
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> study = hf.Study(selectors={"anova": AnovaF(n_features=5)}, perturbation=hf.Bootstrap(20), random_state=0)
    >>> print(summarize(study.run(X, y)).verdict.headline)
    Partly stable; whether it carries information was not tested.
    """
    options = ReportOptions(
        candidate=candidate, rule=rule, metric=metric, measure=measure, level=level, threshold=threshold, X=X, y=y,
        replicability=replicability, rule_options=rule_options,
    )  # fmt: skip
    findings = make_findings(result, options)
    return Summary(
        title=clean_text(title),
        version=__version__,
        level=level,
        candidate=findings.candidate,
        labels=findings.labels,
        verdict=make_verdict(findings),
        stability=findings.stability,
        use=findings.use,
        common_measure=describe_common_measure(result, findings.common, findings.labels),
        top=findings.common.top,
        replication=describe_replication(findings.replicability),
        information=findings.information,
        features=findings.features,
        candidates=findings.candidates,
        tradeoff=findings.tradeoff,
        causes=find_causes(findings),
        method=describe_method(findings),
        data=result.data,
        references=list_references(findings),
    )


def make_findings(result: StudyTables, options: ReportOptions) -> Findings:
    """Check the options, and find all numbers that a summary is written from."""
    check_level(options.level)
    _check_options(result, options)
    if options.measure is not None:
        _check_measure(find_measure(options.measure), options.X)
    if options.candidate is not None:
        result.family(options.candidate)  # raises a message that lists the candidates
    common = result.common_measure(measure=options.measure)
    estimates = {name: estimate_stability(result, name, common, options.X) for name in result.candidates}
    labels = make_labels(result)
    tradeoff, choice = make_tradeoff(result, options, labels)
    candidate = options.candidate or tradeoff.candidate or most_stable(estimates) or next(iter(result.finished), None)
    stability = describe_stability(result, candidate, estimates, options.level)
    information = (
        Information(untested="no fit has succeeded")
        if candidate is None
        else compare_with_guessing(result, candidate, options.metric)
    )
    listed = _list_probabilities(result, options, candidate, choice)
    replicability = find_replicability(result, candidate, options)
    features = None if candidate is None else make_features(result, candidate, common, options, listed, replicability)
    estimate = estimates.get(candidate or "")
    return Findings(
        result=result,
        labels=labels,
        options=options,
        common=common,
        candidate=candidate,
        estimate=estimate if isinstance(estimate, StabilityEstimate) else None,
        replicability=replicability,
        stability=stability,
        use=describe_use(result, candidate, options.level),
        information=information,
        features=match_headline(features, stability, information),
        candidates=make_candidates(result, estimates, options, candidate, tradeoff, choice),
        tradeoff=tradeoff,
    )


def _list_probabilities(
    result: StudyTables, options: ReportOptions, candidate: str | None, choice: Choice | None
) -> Mapping[Any, float] | None:
    """Return how often features would be on the list of those selected often; of one candidate if it was asked for."""
    if candidate is None or not options.redrawn or make_units(result).size < LEAST_UNITS:
        return None
    chosen = choice is not None and choice.candidate == candidate and options.candidate is None
    with warnings.catch_warnings(action="ignore"):
        try:
            return list_probabilities(
                result, None if chosen else candidate, rule=options.rule, metric=options.metric,
                measure=options.measure, threshold=options.threshold, level=options.level, X=options.X,
                **options.rule_options,
            ).to_dict()  # fmt: skip
        except ValueError:  # none of its resamples counts for the stability
            return None


def _check_options(result: StudyTables, options: ReportOptions) -> None:
    """Refuse options that are wrong whatever the study found; what a study cannot answer is said in its report."""
    check_rule(options.rule, options.rule_options, summarize)
    if options.metric is not None and options.metric not in result.metrics:
        raise ValueError(f"Expected one of the study's scores ({', '.join(result.metrics)}), got {options.metric!r}.")
    if not 0 < options.threshold < 1:
        raise ValueError(f"Expected a threshold above 0 and below 1, got {options.threshold}.")


def _check_measure(measure: Measure, X: Any) -> None:
    if measure.similarity is None:
        measure.check_complete()
    elif X is None and measure.parameters["similarity"] is REQUIRED:
        raise ValueError(f"Expected X=, the data: {measure.name} lets similar features stand in for each other.")
