"""The method of a study: a paragraph for a paper, settings, seeds, versions and the fingerprint of the data."""

import json
import math
from collections.abc import Mapping
from typing import Any

from holdfast import __version__
from holdfast.io.record import DataRecord
from holdfast.measures import find_measure
from holdfast.models import EXACTNESS, MODELS
from holdfast.plots.text import format_count, format_percent, join_names, shorten
from holdfast.report.findings import Findings
from holdfast.report.records import Fact, Failure, FitWarning, Method, Reference, Tradeoff
from holdfast.report.references import references
from holdfast.serialization import to_plain
from holdfast.study import StudyResult
from holdfast.study.common_measure import CommonMeasure
from holdfast.tradeoff import RULES
from holdfast.tradeoff.information import Information

MOST_FAILURES, MOST_WARNINGS, MOST_CLASSES = 10, 20, 20


def describe_method(findings: Findings) -> Method:
    """Return how a study was done."""
    result = findings.result
    provenance = to_plain(result.provenance)
    sessions = provenance["sessions"]
    failures = result.failures["error"].value_counts().items()
    warnings = result.notes.itertuples(index=False, name=None)
    return Method(
        paragraph=" ".join(_sentences(findings)),
        facts=tuple(Fact(name=name, value=value) for name, value in _facts(result, provenance)),
        selectors=provenance["selectors"],
        plan={key: value for key, value in provenance["plan"].items() if key != "data"},
        versions=sessions[-1]["versions"] if sessions else {},
        fingerprint=provenance["plan"]["data"],
        failures=tuple(Failure(error=str(error), count=int(count)) for error, count in failures)[:MOST_FAILURES],
        warnings=tuple(
            FitWarning(candidate=str(name), message=str(message), count=int(count)) for name, message, count in warnings
        )[:MOST_WARNINGS],
    )


def list_references(findings: Findings) -> tuple[Reference, ...]:
    """Return what to cite, with what for: what measure, rule, selectors and perturbation refer to."""
    result, tradeoff = findings.result, findings.tradeoff
    used: dict[str | None, str] = {find_measure(findings.common.measure).cite: "the measure of stability"}
    if tradeoff.rule and len(result.candidates) > 1:
        used.setdefault(RULES[tradeoff.rule].about.reference, "the rule of the choice")
    for about in (*result.records.selectors.values(), result.records.perturbation):
        used.setdefault(
            about.reference,
            about.methods.removeprefix("{n} ").removeprefix("{blocks} ").removesuffix(" ({n} samples in all)"),
        )
    if findings.features is not None and findings.features.effect:
        used["benjamini2005"] = "intervals of effects of selected features"
    if not tradeoff.missing:
        used["nadeau2003"] = "standard errors of scores over overlapping training sets"
    return references({key: purpose for key, purpose in used.items() if key is not None})


def describe_common_measure(result: StudyResult, common: CommonMeasure) -> str | None:
    """Return how candidates that give different kinds of preferences were compared; None if all give the same."""
    if common.top is None:
        return None
    kinds = result.kinds
    cut = [name for name, kind in kinds.items() if kind != "subset"]
    size = ", as many as the other candidates select (median)" if len(cut) < len(kinds) else ""
    which = f"For {join_names(cut, 4)}, which {'gives' if len(cut) == 1 else 'give'} rankings or weights,"
    return (
        f"{which} the top {format_count(common.top, 'feature')} of each resample counted as selected{size}; features "
        "of weight 0 never did."
    )


def _sentences(findings: Findings) -> list[str]:
    result, stability, features = findings.result, findings.stability, findings.features
    data, seed = result.plan["data"], result.plan["random_state"]
    shape = f"{format_count(data['n_samples'], 'sample')}, {format_count(data['n_features'], 'feature')}"
    families = format_count(len(result.families), "selector")
    names = ", ".join(_describe_selector(result, name) for name in result.families)
    sentences = [
        f"The stability of feature selection was assessed with holdfast {__version__} for "
        f"{format_count(len(result.candidates), 'candidate')} of {families}, fitted to {describe_resamples(result)} "
        f"({shape}; random seed {seed}).",
        f"{'The selector was' if len(result.families) == 1 else 'The selectors were'} {names}.",
    ]
    if stability.measure:
        measure = find_measure(findings.common.measure).methods
        interval = f", with {format_percent(findings.level)} confidence intervals over the resamples"
        sentences.append(f"Stability was measured by {measure}{'' if math.isnan(stability.low) else interval}.")
        sentences += filter(None, [describe_common_measure(result, findings.common)])
    sentences += _on_prediction(result, findings.tradeoff, findings.information)
    if features is not None:
        cut = f" among the top {features.top} of a resample" if features.top else ""
        sentences.append(
            "A feature counts as selected often if the lower end of the exact "
            f"{format_percent(findings.level)} interval of its selection frequency{cut} is above "
            f"{format_percent(features.threshold)}; it holds if, in addition, the candidate predicts better than "
            "guessing."
        )
    sentences.append("All figures describe the variation over resamples of this data set, not over new samples.")
    return sentences


def _on_prediction(result: StudyResult, tradeoff: Tradeoff, information: Information) -> list[str]:
    sentences = []
    if not tradeoff.missing:
        sentences.append(
            f"Prediction was measured as {_score(result, tradeoff.metric)} of {_model(result)} on the rows held out "
            "from each resample; standard errors allow for overlapping training sets (Nadeau and Bengio, 2003)."
        )
        if len(result.candidates) > 1:
            rule = RULES[str(tradeoff.rule)].about.methods.format(metric=tradeoff.metric)
            sentences.append(f"The candidate was chosen {rule}, on the same resamples that it was measured on.")
    if information.untested:
        sentences.append(f"Whether the features carry information was not tested: {information.untested}.")
    else:
        n_candidates = len(result.candidates)
        adjusted = f", adjusted for {n_candidates} candidates" if n_candidates > 1 else ""
        sentences.append(
            f"Features count as carrying information if the {information.metric} is above that of guessing on the same "
            f"held-out rows (here {information.strategy}) by a one-sided corrected resampled t-test at "
            f"{format_percent(information.level)}{adjusted} (p {_format_p_value(information.p_value)})."
        )
    return sentences


def _describe_selector(result: StudyResult, family: str) -> str:
    """Return the name of a selector with what it goes by, where that says more."""
    name, about = shorten(family, 40), result.records.selectors.get(family)
    return name if about is None or about.methods in ("", about.name) else f"{name} ({about.methods})"


def _score(result: StudyResult, metric: str | None) -> str:
    """Return the score in words, with its name if that is another."""
    about = result.records.scores.get(str(metric))
    return str(metric) if about is None or about.methods == metric else f"{about.methods} ({metric})"


def _format_p_value(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}" if p_value < 0.1 else f"= {p_value:.2f}"


def describe_resamples(result: StudyResult) -> str:
    """Return how many resamples there were, and what they are; splits that only serve the score do not count."""
    measured = result.split_table[result.split_table["measured"].astype(bool)]
    return result.records.perturbation.methods.format(n=len(measured), blocks=measured["block"].nunique())


def _facts(result: StudyResult, provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    plan, sessions = provenance["plan"], provenance["sessions"]
    until, (data, *target) = provenance["until"], describe_data(result.data)
    settings = {key: value for key, value in plan["perturbation"].items() if key != "perturbation"}
    facts = [
        data,
        ("Resamples", describe_resamples(result)),
        *target,
        *([("Settings of the resamples", _format_settings(settings))] if settings else []),
        ("Random seed", str(plan["random_state"])),
        ("Scored model", _model(result)),
        ("Scores", ", ".join(result.metrics) if result.has_scores else "none"),
    ]
    if plan["keep"]:
        facts.append(("Covariates in every model", ", ".join(map(str, plan["keep"]))))
    if provenance["prefilter"]:
        facts.append(("Filter before the study (not measured)", str(provenance["prefilter"])))
    if until:
        precision = f"determined by a pilot of {until['pilot']} for ± {until['half_width']:g}"
        facts.append(("Number of resamples", precision))
    if sessions:
        facts.append(("Computed", f"{sessions[0]['started']} to {sessions[-1]['ended'] or 'now'}"))
    return facts


def describe_data(record: DataRecord) -> list[tuple[str, str]]:
    """Return what the data are, as names and values: the source with its size, the target, the groups."""
    shape = f"{format_count(record.rows, 'sample')}, {format_count(record.features, 'feature')}"
    if record.source is not None:
        form = f" ({record.file_format})" if record.file_format else ""
        read = f"{format_count(record.rows_read, 'row')} and {format_count(record.columns_read, 'column')} read"
        shape = f"{shorten(record.source, 80)}{form}: {read}; {shape}"
    facts = [("Data", shape)]
    counts = ", ".join(f"{shorten(label, 40)} ({count:,})" for label, count in record.classes[:MOST_CLASSES])
    more = ", …" if len(record.classes) > MOST_CLASSES else ""
    classes = f"{len(record.classes)} classes: {counts}{more}" if record.classes else "numbers"
    facts.append(("Target", classes if record.target is None else f"{shorten(record.target, 60)}, {classes}"))
    if record.n_groups is not None:
        named = "" if record.groups is None else f"{shorten(record.groups, 60)}, "
        facts.append(("Groups of rows that stay together", f"{named}{format_count(record.n_groups, 'group')}"))
    return facts


def _format_settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={json.dumps(value)[:60]}" for key, value in settings.items())


def _model(result: StudyResult) -> str:
    """Return the classes of the scored model, without their parameters."""
    estimator = result.plan["estimator"]
    if estimator is None:
        return "the selector's own model" if len(result.scores) else "none"
    own = [name for name, kind in result.kinds.items() if kind != "subset"]
    except_for = f" (for {join_names(own, 4)}: the selector's own model)" if own else ""
    classes = _class_names(estimator)
    phrases = [record.about.methods for record in MODELS.values() if classes and classes[-1] in record.class_names]
    exactness = EXACTNESS.get(result.plan.get("model_fits", "scikit-learn"))
    named = " after ".join(reversed(classes)) or "a custom model"
    details = [*([named] if phrases else []), *([exactness] if exactness else [])]
    return (phrases[0] if phrases else named) + (f" ({'; '.join(details)})" if details else "") + except_for


def _class_names(described: Any) -> list[str]:
    if isinstance(described, Mapping):
        ((path, parameters),) = list(described.items())[:1] or ((("", {})),)
        steps = parameters.get("steps") if isinstance(parameters, Mapping) else None
        if steps:
            return [name for step in steps for name in _class_names(step[1])]
        return [str(path).rpartition(".")[2]]
    return [str(described).rpartition(".")[2]] if isinstance(described, str) else []
