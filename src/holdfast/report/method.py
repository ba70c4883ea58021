"""The method of a study: a paragraph for a paper, settings, versions, the fingerprint of the data."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast import __version__
from holdfast.datasets.real import DATASETS
from holdfast.io.record import DataRecord
from holdfast.measures import find_measure
from holdfast.models import EXACTNESS, MODELS
from holdfast.options import format_command
from holdfast.references import REFERENCES
from holdfast.report.labels import PLAIN, SIZES, class_words, label_setting, separate_words
from holdfast.report.records import Fact, Failure, Findings, FitWarning, Labels, Method, Reference
from holdfast.serialization import to_plain
from holdfast.study.exports import describe_resamples
from holdfast.study.stabilities import CommonMeasure
from holdfast.study.tables import StudyTables
from holdfast.targets import TASKS
from holdfast.text import (
    describe_interval,
    format_count,
    format_number,
    format_p_value,
    format_percent,
    join_first,
    join_names,
    join_words,
    shorten,
)
from holdfast.tradeoff import RULES

ALWAYS = ("nogueira2018", "nogueira2016", "kalousis2005", "hamer2020", "gulgezen2009", "nadeau2003")
"""What the methods of holdfast rest on: listed in every report, after what the study used."""


def references(used: Mapping[str | None, str], always: Sequence[str] = ALWAYS) -> tuple[Reference, ...]:
    """Return what was used, with what for, then what it all rests on."""
    publications = (REFERENCES[key] for key in dict.fromkeys((*used, *always)) if key is not None and key in REFERENCES)
    return tuple(
        Reference(key=entry.key, text=entry.text, link=entry.link, bibtex=entry.bibtex, used=used.get(entry.key))
        for entry in publications
    )


TECHNICAL = ("device", "n_jobs", "random_state", "verbose")
"""Parameters of selectors that do not change what is selected, or that follow from the seed of the study."""
MAX_FAILURES, MAX_WARNINGS, MAX_CLASSES, MAX_NAMED = 10, 20, 20, 5


def describe_method(findings: Findings) -> Method:
    """Return how a study was done."""
    result = findings.result
    provenance = to_plain(result.provenance)
    sessions = provenance["sessions"]
    failures = result.failures["error"].value_counts().items()
    warnings = result.notes.itertuples(index=False, name=None)
    return Method(
        paragraph=" ".join(_sentences(findings)),
        facts=tuple(Fact(name=name, value=value) for name, value in _facts(findings, provenance)),
        details=tuple(Fact(name=name, value=value) for name, value in _details(findings, provenance)),
        selectors=provenance["selectors"],
        plan={key: value for key, value in provenance["plan"].items() if key != "data"},
        versions=sessions[-1]["versions"] if sessions else {},
        fingerprint=provenance["plan"]["data"],
        failures=tuple(Failure(error=str(error), count=int(count)) for error, count in failures)[:MAX_FAILURES],
        warnings=tuple(
            FitWarning(candidate=str(name), message=str(message), count=int(count)) for name, message, count in warnings
        )[:MAX_WARNINGS],
    )


def list_references(findings: Findings) -> tuple[Reference, ...]:
    """Return what to cite, with what for: what measure, rule, selectors and perturbation refer to."""
    result, tradeoff = findings.result, findings.tradeoff
    used: dict[str | None, str] = {find_measure(findings.common.measure).cite: "the measure of stability"}
    if tradeoff.rule and len(result.candidates) > 1:
        used.setdefault(RULES[tradeoff.rule].about.reference, "the rule of the choice")
    for family, about in result.records.selectors.items():
        used.setdefault(about.reference, about.phrase(**read_parameters(result, family)))
    used.setdefault(result.records.perturbation.reference, describe_resamples(result))
    if findings.features is not None and findings.features.effect:
        used["benjamini2005"] = "intervals of effects of selected features"
    if not tradeoff.missing:
        used["nadeau2003"] = "standard errors of scores over overlapping training sets"
    return references(used)


def describe_common_measure(result: StudyTables, common: CommonMeasure, labels: Labels) -> str | None:
    """Return how candidates that give different kinds of preferences were compared; None if all give the same."""
    if common.top is None:
        return None
    kinds = result.kinds
    cut = [labels.candidate(name) for name, kind in kinds.items() if kind != "subset"]
    size = ", as many as the other candidates select (median)" if len(cut) < len(kinds) else ""
    which = f"For {join_names(cut, 4)}, which {'gives' if len(cut) == 1 else 'give'} rankings or weights,"
    return (
        f"{which} the top {format_count(common.top, 'feature')} of each resample counted as selected{size}; features "
        "of weight 0 never did."
    )


def _sentences(findings: Findings) -> list[str]:
    result, stability, features = findings.result, findings.stability, findings.features
    data, record = result.plan["data"], result.data
    counts = (f"{count:,} of class {shorten(label, 40)}" for label, count in record.classes)
    classes = f" ({join_first(counts, MAX_NAMED)})" if record.classes else ""
    if record.events is not None:
        classes = f" ({record.events:,} with the event; median time {record.follow_up:g})"
    families = format_count(len(result.families), "selector")
    names = ", ".join(_describe_selector(findings, name) for name in result.families)
    seeds = (
        f"seed was {result.seeds[0]}"
        if len(result.seeds) == 1
        else f"seeds were {join_first(map(str, result.seeds), 100)}"
    )
    sentences = [
        f"The stability of feature selection was assessed with holdfast {__version__} for "
        f"{format_count(len(result.candidates), 'candidate')} of {families}, fitted to {describe_resamples(result)}.",
        f"The data had {format_count(data['n_samples'], 'sample')}{classes} and "
        f"{format_count(data['n_features'], 'feature')}; the random {seeds}.",
    ]
    if record.notes:
        done = "; ".join(note[:1].lower() + note[1:].rstrip(".") for note in record.notes)
        sentences.append(f"Preparation of the data: {done}.")
    if prefilter := result.provenance["prefilter"]:
        sentences.append(f"Before the study the features were filtered by {prefilter}, which was not measured.")
    sentences.append(f"{'The selector was' if len(result.families) == 1 else 'The selectors were'} {names}.")
    if stability.measure:
        measure = find_measure(findings.common.measure).methods
        interval = f", with {format_percent(findings.level)} confidence intervals over the resamples"
        sentences.append(f"Stability was measured by {measure}{'' if math.isnan(stability.low) else interval}.")
        sentences += filter(None, [describe_common_measure(result, findings.common, findings.labels)])
    sentences += _on_prediction(findings)
    if features is not None:
        cut = f" among the top {features.top} of a resample" if features.top else ""
        sentences.append(
            "A feature counts as selected often if the lower end of the exact "
            f"{format_percent(findings.level)} interval of its selection frequency{cut} is above "
            f"{format_percent(features.threshold)}; it holds if, in addition, the candidate predicts better than "
            "guessing."
        )
    sentences.extend(_on_new_studies(findings))
    return sentences


def _on_new_studies(findings: Findings) -> list[str]:
    known = findings.replicability
    if known is None or known.reason is not None:
        return ["All figures describe the variation over resamples of this data set, not over new samples."]
    return [
        f"Agreement with a new study was estimated by repeated split-half of the rows ({known.n_pairs} ×): that of two "
        "studies of half the size as the mean Pearson correlation of what the two halves selected, which share no row; "
        "that of studies of this size by extrapolation. Its intervals describe the variation over data sets.",
        "All other figures describe the variation over resamples of this data set, not over new samples.",
    ]


def _on_prediction(findings: Findings) -> list[str]:
    result, tradeoff, information, labels = findings.result, findings.tradeoff, findings.information, findings.labels
    sentences = []
    if not tradeoff.missing:
        score, model = _score(findings, tradeoff.metric), describe_model(result, labels)
        sentences.append(
            f"Prediction was measured as {score} of {model} on the rows held out from each resample; standard "
            "errors allow for overlapping training sets (Nadeau and Bengio, 2003)."
        )
        if result.plan["keep"]:
            sentences.append(f"Every model had the covariates {join_names(result.plan['keep'], 10)}.")
        if len(result.candidates) > 1:
            rule = RULES[str(tradeoff.rule)].phrase(labels.score(tradeoff.metric), findings.options.rule_options)
            sentences.append(f"The candidate was chosen {rule}, on the same resamples that it was measured on.")
    if information.untested:
        untested = labels.write(information.untested)
        sentences.append(f"Whether the features carry information was not tested: {untested}.")
    else:
        n_candidates = len(result.candidates)
        adjusted = f", adjusted for {n_candidates} candidates" if n_candidates > 1 else ""
        sentences.append(
            f"Features count as carrying information if the {labels.score(information.metric)} is above that of "
            f"guessing on the same held-out rows (here {information.strategy}) by a one-sided corrected resampled "
            f"t-test at {format_percent(information.level)}{adjusted} ({format_p_value(information.p_value)})."
        )
    return sentences


def _describe_selector(findings: Findings, family: str) -> str:
    """Return the name of a selector with the phrase for methods sections, where that says more, and its settings."""
    result, name = findings.result, shorten(findings.labels.family(family), 40)
    about, parameters = result.records.selectors.get(family), read_parameters(result, family)
    phrase = "" if about is None else about.phrase(**parameters).removesuffix(f" ({name})")
    if about is not None and phrase == about.name:
        phrase = class_words(phrase)
    criterion = "" if phrase.lower().removeprefix("the ") == name.lower() else phrase
    details = "; ".join(filter(None, [criterion, _describe_settings(result, family, parameters)]))
    return f"{name} ({details})" if details else name


def _describe_settings(result: StudyTables, family: str, parameters: Mapping[str, Any]) -> str:
    """Return the parameters of a selector that are numbers or words; those that were varied with all their values."""
    settings = [result.settings(name) for name in result.candidates if result.family(name) == family]
    keys = dict.fromkeys(key for setting in settings for key in setting)
    varied = {key: list(dict.fromkeys(str(setting.get(key)) for setting in settings)) for key in keys}
    sized = any(key.rpartition("__")[2] in SIZES for key in varied)
    shown = {key: value for key, value in {**parameters, **settings[0]}.items() if key not in TECHNICAL}
    words = []
    for key, value in shown.items():
        if len(texts := varied.get(key, [])) > 1 and all(map(PLAIN.fullmatch, texts)):
            values = join_words([*texts[:MAX_NAMED], *(["…"] if len(texts) > MAX_NAMED else [])], " or ")
            counted = "features" if key in SIZES else separate_words(key[2:]) if key.startswith("n_") else ""
            words.append(f"{values} {counted}" if counted else f"{separate_words(key)} {values}")
        elif key in varied or not ((sized and key in SIZES) or value == "auto" or isinstance(value, bool)):
            words += [label_setting({key: value})] if len(texts) < 2 and isinstance(value, (int, float, str)) else []
    return ", ".join(filter(None, words))


def read_parameters(result: StudyTables, family: str) -> dict[str, Any]:
    """Return the parameters of a selector, as the study has them; none if it is not known by a class."""
    described = result.selectors.get(family)
    values = next(iter(described.values()), None) if isinstance(described, Mapping) else None
    return dict(values) if isinstance(values, Mapping) else {}


def _score(findings: Findings, metric: str | None) -> str:
    """Return the score in words, with its short name if it has one."""
    about, label = findings.result.records.scores.get(str(metric)), findings.labels.score(metric)
    return label if about is None or about.methods in (metric, label) else f"{about.methods} ({label})"


def _facts(findings: Findings, provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    result, labels = findings.result, findings.labels
    plan, sessions = provenance["plan"], provenance["sessions"]
    until, (data, *target) = provenance["until"], describe_data(result.data)
    facts = [
        data,
        ("Resamples", describe_resamples(result)),
        *target,
        ("Random seed", join_first(map(str, result.seeds), 100)),
        ("Scored model", describe_model(result, labels)),
        ("Scores", ", ".join(labels.score(metric) for metric in result.metrics) if result.has_scores else "none"),
    ]
    if plan["keep"]:
        facts.append(("Covariates in every model", ", ".join(map(str, plan["keep"]))))
    if until:
        precision = f"determined by a pilot of {until['pilot']} for ± {until['half_width']:g}"
        facts.append(("Number of resamples", precision))
    if sessions:
        start, ended = _format_time(sessions[0]["started"]), sessions[-1]["ended"]
        finish = _format_time(ended) if ended else "now"
        facts.append(("Computed", start if start == finish else f"{start} to {finish}"))
    facts.append(("Data availability", _describe_availability(result)))
    if result.command is not None:
        facts.append(("Command", format_command(result.command)))
    return facts


def _describe_availability(result: StudyTables) -> str:
    """Say where data with a name come from, and by which checksums any data are recognized."""
    source, data = result.data.source, result.plan["data"]
    known = DATASETS.get(str(source)) if result.data.file_format == "known data set" else None
    origin = "Where the data can be had is for the authors to say. "
    if known is not None:
        origin = f"The data set {known.name} is from {known.source} (license: {known.license}). "
    return (
        f"{origin}The SHA-256 checksums of the data as they were analyzed begin with {data['features'][:12]} "
        f"(features) and {data['target'][:12]} (target); holdfast verify compares them."
    )


def _format_time(written: str) -> str:
    """Return a time as people write it: 2026-03-01 12:30 UTC."""
    return written[:16].replace("T", " ") + " UTC"


def _details(findings: Findings, provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what only an analyst reads: parameters, classes and addresses of code, agreements behind an answer."""
    plan, known = provenance["plan"], findings.replicability
    settings = {key: value for key, value in plan["perturbation"].items() if key != "perturbation"}
    shown = ", ".join(f"{key}={json.dumps(value)[:60]}" for key, value in settings.items())
    details = [("Settings of the resamples", shown)] if settings else []
    if classes := _class_names(plan["estimator"]):
        exactness = EXACTNESS.get(plan.get("model_fits", "scikit-learn"))
        fitted = f" ({exactness})" if exactness else ""
        details.append(("Class of the scored model", " after ".join(reversed(classes)) + fitted))
    if provenance["prefilter"]:
        details.append(("Filter before the study (not measured)", str(provenance["prefilter"])))
    if known is not None and not known.reason:
        half, full = (
            f"{format_number(value)} ({describe_interval(*ends, findings.level)})"
            for value, ends in ((known.half_agreement, known.half_interval), (known.agreement, known.interval))
        )
        shuffled = (
            ""
            if math.isnan(known.shuffled_agreement)
            else f"; halves with a shuffled target: {format_number(known.shuffled_agreement)}"
        )
        agreements = f"two of half this size: {half}; extrapolated to this size: {full}{shuffled}"
        details.append(
            ("Agreement of new studies (0 as by chance, 1 the same features; intervals for new data sets)", agreements)
        )
    data = plan["data"]
    details.append(("Data fingerprint", f"features {data['features']}, target {data['target']}"))
    return details + [("Code", code) for code in findings.result.code]


def describe_data(record: DataRecord) -> list[tuple[str, str]]:
    """Return what the data are, as names and values: the source with its size, the target, the groups."""
    shape = f"{format_count(record.rows, 'sample')}, {format_count(record.features, 'feature')}"
    if record.source is not None:
        form = f" ({record.file_format})" if record.file_format else ""
        whole = record.rows_read == record.rows and record.columns_read == record.features + 1  # the target
        read = f"{format_count(record.rows_read, 'row')} and {format_count(record.columns_read, 'column')} read; "
        shape = f"{shorten(record.source, 80)}{form}: {'' if whole else read}{shape}"
    facts = [("Data", shape)]
    counts = join_first((f"{shorten(label, 40)} ({count:,})" for label, count in record.classes), MAX_CLASSES)
    classes = f"{len(record.classes)} classes: {counts}" if record.classes else TASKS[record.task].noun
    if record.events is not None:
        classes += f", {format_count(record.events, 'event')}"
    facts.append(("Target", classes if record.target is None else f"{shorten(record.target, 60)}, {classes}"))
    if record.n_groups is not None:
        named = "" if record.groups is None else f"{shorten(record.groups, 60)}, "
        facts.append(("Groups of rows that stay together", f"{named}{format_count(record.n_groups, 'group')}"))
    return facts


def describe_model(result: StudyTables, labels: Labels) -> str:
    """Return the scored model in words, without its parameters."""
    estimator = result.plan["estimator"]
    if estimator is None:
        return "the selector's own model" if len(result.scores) else "none"
    with_model = [labels.candidate(name) for name, kind in result.kinds.items() if kind != "subset"]
    except_for = f" (for {join_names(with_model, 4)}: the selector's own model)" if with_model else ""
    classes = _class_names(estimator)
    phrases = [model.describe(classes[-1]) for model in MODELS.values() if classes and classes[-1] in model.class_names]
    named = " after ".join(class_words(name) for name in reversed(classes)) or "a custom model"
    return (phrases[0] if phrases else named) + except_for


def _class_names(described: Any) -> list[str]:
    if isinstance(described, Mapping):
        ((path, parameters),) = list(described.items())[:1] or ((("", {})),)
        steps = parameters.get("steps") if isinstance(parameters, Mapping) else None
        if steps:
            return [name for step in steps for name in _class_names(step[1])]
        return [str(path).rpartition(".")[2]]
    return [str(described).rpartition(".")[2]] if isinstance(described, str) else []
