"""From a study to a summary: options checked, the reported candidate found, and everything put into words."""

import warnings
from collections.abc import Mapping
from typing import Any

from holdfast import __version__
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import check_level
from holdfast.measures import REQUIRED, Measure, find_measure
from holdfast.plots.text import clean_text
from holdfast.replication import Replicability
from holdfast.report.candidates import Estimates, describe_stability, estimate_stability, make_candidates, make_tradeoff
from holdfast.report.causes import find_causes
from holdfast.report.features import make_features
from holdfast.report.findings import Findings, ReportOptions
from holdfast.report.labels import make_labels
from holdfast.report.method import describe_common_measure, describe_method, list_references
from holdfast.report.records import Tradeoff
from holdfast.report.replication import describe_replication, find_replicability
from holdfast.report.summary import Summary
from holdfast.report.verdict import make_verdict, match_headline
from holdfast.study.tables import StudyTables
from holdfast.tradeoff.choice import Choice, check_rule, list_probabilities
from holdfast.tradeoff.points import LEAST_UNITS, make_units
from holdfast.tradeoff.selected import Information, compare_with_guessing, most_stable


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
        Measure of stability; by default the usual one for what the candidates give.
    level : float
        Level of all intervals.
    threshold : float
        Selection frequency that the interval of a feature must exceed for the feature to be trusted.
    X : frame or array, optional
        The features of the study; stand-ins must then be correlated too.
    y : array, optional
        The target beside X: single rows are then drawn in the box plots, and can be seen by whoever reads the report.
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
    check_level(level)
    _check_options(result, rule, rule_options, metric, threshold)
    if measure is not None:
        _check_measure(find_measure(measure), X)
    options = ReportOptions(
        candidate=candidate, rule=rule, metric=metric, measure=measure, level=level, threshold=threshold, X=X, y=y,
        replicability=replicability,
    )  # fmt: skip
    if candidate is not None:
        result.family(candidate)  # raises a message that lists the candidates
    findings = _find(result, options, rule_options)
    return Summary(
        title=clean_text(title),
        version=__version__,
        level=level,
        candidate=findings.candidate,
        labels=findings.labels,
        verdict=make_verdict(findings),
        stability=findings.stability,
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


def _find(result: StudyTables, options: ReportOptions, rule_options: Mapping[str, Any]) -> Findings:
    common = result.common_measure(measure=options.measure)
    estimates = {name: estimate_stability(result, name, common, options.X) for name in result.candidates}
    labels = make_labels(result)
    tradeoff, choice = make_tradeoff(result, options, rule_options, labels)
    candidate = _reported_candidate(result, options, estimates, tradeoff)
    stability = describe_stability(result, candidate, estimates, options.level)
    information = _test_information(result, candidate, options)
    listed = _list_probabilities(result, options, rule_options, candidate, choice)
    replicability = find_replicability(result, candidate, options)
    features = None if candidate is None else make_features(result, candidate, common, options, listed, replicability)
    estimate = estimates.get(candidate or "")
    return Findings(
        result=result,
        labels=labels,
        level=options.level,
        common=common,
        candidate=candidate,
        estimate=estimate if isinstance(estimate, StabilityEstimate) else None,
        replicability=replicability,
        stability=stability,
        information=information,
        features=match_headline(features, stability, information),
        candidates=make_candidates(result, estimates, options, candidate, tradeoff, choice),
        tradeoff=tradeoff,
        X=options.X,
    )


def _list_probabilities(
    result: StudyTables,
    options: ReportOptions,
    rule_options: Mapping[str, Any],
    candidate: str | None,
    choice: Choice | None,
) -> Mapping[Any, float] | None:
    """Return how often features would be on the list of those selected often; of one candidate if it was asked for."""
    if candidate is None or make_units(result).size < LEAST_UNITS:
        return None
    chosen = choice is not None and choice.candidate == candidate and options.candidate is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list_probabilities(
                result, None if chosen else candidate, rule=options.rule, metric=options.metric,
                measure=options.measure, threshold=options.threshold, level=options.level, X=options.X, **rule_options,
            ).to_dict()  # fmt: skip
        except ValueError:  # none of its resamples counts for the stability
            return None


def _check_options(
    result: StudyTables,
    rule: str,
    rule_options: Mapping[str, Any],
    metric: str | None,
    threshold: float,
) -> None:
    """Refuse options that are wrong whatever the study found; what a study cannot answer is said in its report."""
    check_rule(rule, rule_options, summarize)
    if metric is not None and metric not in result.metrics:
        raise ValueError(f"Expected one of the study's scores ({', '.join(result.metrics)}), got {metric!r}.")
    if not 0 < threshold < 1:
        raise ValueError(f"Expected a threshold above 0 and below 1, got {threshold}.")


def _check_measure(measure: Measure, X: Any) -> None:
    if measure.similarity is None:
        measure.check_complete()
    elif X is None and measure.parameters["similarity"] is REQUIRED:
        raise ValueError(f"Expected X=, the data: {measure.name} lets similar features stand in for each other.")


def _reported_candidate(
    result: StudyTables, options: ReportOptions, estimates: Estimates, tradeoff: Tradeoff
) -> str | None:
    """Return the candidate that was asked for, else the chosen one, else the most stable one."""
    if options.candidate is not None or tradeoff.candidate is not None:
        return options.candidate or tradeoff.candidate
    return most_stable(estimates) or next(iter(result.finished), None)


def _test_information(result: StudyTables, candidate: str | None, options: ReportOptions) -> Information:
    if candidate is None:
        return Information(untested="no fit has succeeded")
    return compare_with_guessing(result, candidate, options.metric)
