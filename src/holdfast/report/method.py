"""How it was done: a paragraph for a paper, and settings, seeds, versions and the data's fingerprint."""

import json
import math
from collections.abc import Mapping
from typing import Any

from holdfast import __version__
from holdfast.plots.text import counted, listed, percent, short
from holdfast.report.references import references
from holdfast.report.summary import Features, Method, Reference, Stability, Tradeoff
from holdfast.study import StudyResult
from holdfast.study.footing import Footing
from holdfast.tradeoff import RULES
from holdfast.tradeoff.information import Information

MEASURES = {
    "nogueira": "the measure of Nogueira, Sechidis and Brown (2018), which is corrected for chance (0: as agreement by "
    "chance, 1: all runs select the same features)",
    "spearman": "the mean rank correlation of the runs (Kalousis, Prados and Hilario, 2005)",
    "weight_correlation": "the mean correlation of the runs' weights (Kalousis, Prados and Hilario, 2005)",
}


def method_of(
    result: StudyResult,
    tradeoff: Tradeoff,
    stability: Stability,
    footing: Footing,
    information: Information,
    features: Features | None,
    level: float,
) -> Method:
    """The method of a study."""
    provenance = result.provenance
    sessions = provenance["sessions"]
    return Method(
        paragraph=" ".join(_sentences(result, tradeoff, stability, footing, information, features, level)),
        facts=tuple(_facts(result, provenance)),
        selectors=provenance["selectors"],
        plan={key: value for key, value in provenance["plan"].items() if key != "data"},
        versions=sessions[-1]["versions"] if sessions else {},
        fingerprint=provenance["plan"]["data"],
        failures=tuple((str(text), int(count)) for text, count in result.failures["error"].value_counts().items())[:10],
        notes=tuple((str(a), str(b), int(c)) for a, b, c in result.notes.itertuples(index=False, name=None))[:20],
    )


def references_of(result: StudyResult, tradeoff: Tradeoff, stability: Stability) -> tuple[Reference, ...]:
    """What to cite, with what for: what the measure, the rule, the selectors and the perturbation refer to."""
    used: dict[str | None, str] = {}
    measure = (stability.measure or "").split("(")[0]
    if measure in ("nogueira", ""):
        used["nogueira2018"] = "the measure of stability"
    if measure in ("spearman", "weight_correlation"):
        used["kalousis2005"] = "the measure of stability"
    if measure == "gulgezen":
        used["gulgezen2009"] = "the measure of stability"
    if tradeoff.rule and len(result.candidates) > 1:
        used.setdefault(RULES[tradeoff.rule].about.reference, "the rule of the choice")
    for about in (*result.records.selectors.values(), result.records.perturbation):
        used.setdefault(about.reference, about.methods.removeprefix("{n} "))
    if not tradeoff.missing:
        used["nadeau2003"] = "standard errors of scores over overlapping training sets"
    return references({key: purpose for key, purpose in used.items() if key is not None})


def footing_in_words(result: StudyResult, footing: Footing) -> str | None:
    """How candidates that give different things were compared; None if all are measured as they are."""
    if footing.top is None:
        return None
    kinds = result.kinds
    cut = [name for name, kind in kinds.items() if kind != "subset"]
    size = ", as many as the other candidates select (median)" if len(cut) < len(kinds) else ""
    which = f"Of {listed(cut, 4)}, which {'gives' if len(cut) == 1 else 'give'} rankings or weights,"
    return (
        f"{which} the best {counted(footing.top, 'feature')} of each run counted as selected{size}; features of "
        "weight 0 never did."
    )


def _sentences(
    result: StudyResult,
    tradeoff: Tradeoff,
    stability: Stability,
    footing: Footing,
    information: Information,
    features: Features | None,
    level: float,
) -> list[str]:
    data, seed = result.plan["data"], result.plan["random_state"]
    what = f"{counted(data['n_samples'], 'sample')}, {counted(data['n_features'], 'feature')}"
    names = ", ".join(short(name, 40) for name in result.families)
    told = [
        f"The stability of feature selection was assessed with holdfast {__version__}.",
        f"{_capital(counted(len(result.candidates), 'candidate'))} ({counted(len(result.families), 'selector')}: "
        f"{names}) ran on {design_in_words(result)} ({what}; random seed {seed}).",
    ]
    if stability.measure:
        measure = MEASURES.get(stability.measure.split("(")[0], f"the measure {stability.measure}")
        interval = "" if math.isnan(stability.low) else f", with {percent(level)} confidence intervals over the runs"
        told.append(f"Stability was measured by {measure}{interval}.")
        told += filter(None, [footing_in_words(result, footing)])
    told += _on_prediction(result, tradeoff, information)
    if features is not None:
        cut = f"among the best {features.top} of a run" if features.top else ""
        told.append(
            f"A feature counts as selected often if the lower end of the exact {percent(level)} interval of its "
            f"selection frequency{f' {cut}' if cut else ''} is above {percent(features.threshold)}; it holds if, "
            "besides, the candidate predicts better than guessing."
        )
    told.append("All figures describe the variation over resamples of this data set, not over new samples.")
    return told


def _on_prediction(result: StudyResult, tradeoff: Tradeoff, information: Information) -> list[str]:
    told = []
    if not tradeoff.missing:
        told.append(
            f"Prediction was measured as {_score(result, tradeoff.metric)} of {_model(result)} on the rows held out "
            "from each run; standard errors allow for overlapping training sets (Nadeau and Bengio, 2003)."
        )
        if len(result.candidates) > 1:
            rule = RULES[str(tradeoff.rule)].about.methods.format(metric=tradeoff.metric)
            told.append(f"The candidate was chosen {rule}, on the same resamples that it was measured on.")
    if information.untested:
        told.append(f"Whether the features carry information was not tested: {information.untested}.")
    else:
        several = len(result.candidates)
        adjusted = f", with an allowance for {several} candidates" if several > 1 else ""
        told.append(
            f"Features count as carrying information if the {information.metric} is above that of guessing on the same "
            f"held-out rows (here {information.strategy}) by a one-sided corrected resampled t-test at "
            f"{percent(information.level)}{adjusted} (p {_p_text(information.p_value)})."
        )
    return told


def _score(result: StudyResult, metric: str | None) -> str:
    """The score in words, with its name if that is another."""
    about = result.records.scores.get(str(metric))
    return str(metric) if about is None or about.methods == metric else f"{about.methods} ({metric})"


def _p_text(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}" if p_value < 0.1 else f"= {p_value:.2f}"


def design_in_words(result: StudyResult) -> str:
    """How many runs there were, and what they were trained on; those that only serve the score do not count."""
    return result.records.perturbation.methods.format(n=int(result.splits["measured"].sum()))


def _facts(result: StudyResult, provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    plan, sessions = provenance["plan"], provenance["sessions"]
    data, until = plan["data"], provenance["until"]
    settings = {key: value for key, value in plan["perturbation"].items() if key != "perturbation"}
    told = [
        ("Data", f"{counted(data['n_samples'], 'sample')}, {counted(data['n_features'], 'feature')}, {plan['task']}"),
        ("Runs", design_in_words(result)),
        *([("Settings of the runs", _settings(settings))] if settings else []),
        ("Random seed", str(plan["random_state"])),
        ("Model that was scored", _model(result)),
        ("Scores", ", ".join(result.metrics) if len(result.scores) else "none"),
    ]
    if plan["keep"]:
        told.append(("Covariates in every model", ", ".join(map(str, plan["keep"]))))
    if provenance["prefilter"]:
        told.append(("Filter before the study (not measured)", str(provenance["prefilter"])))
    if until:
        told.append(("Number of runs", f"settled by a pilot of {until['pilot']} for ± {until['half_width']:g}"))
    if sessions:
        told.append(("Run", f"{sessions[0]['started']} to {sessions[-1]['ended'] or 'now'}"))
    return told


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={json.dumps(value)[:60]}" for key, value in settings.items())


def _model(result: StudyResult) -> str:
    """The classes of the model that was scored, without their parameters."""
    estimator = result.plan["estimator"]
    if estimator is None:
        return "the selector's own model" if len(result.scores) else "none"
    own = [name for name, kind in result.kinds.items() if kind != "subset"]
    apart = f" (of {listed(own, 4)}: of the selector's own model)" if own else ""
    return (" after ".join(reversed(_classes(estimator))) or "a model of one's own") + apart


def _classes(described: Any) -> list[str]:
    if isinstance(described, Mapping):
        ((path, parameters),) = list(described.items())[:1] or ((("", {})),)
        steps = parameters.get("steps") if isinstance(parameters, Mapping) else None
        if steps:
            return [name for step in steps for name in _classes(step[1])]
        return [str(path).rpartition(".")[2]]
    return [str(described).rpartition(".")[2]] if isinstance(described, str) else []


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
