"""What may be chosen when the results of a study are shown: candidate, rule, measure and level."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from holdfast.measures import MEASURES, REQUIRED, Measure
from holdfast.plots.text import format_percent, shorten
from holdfast.report import Summary
from holdfast.study import StudyResult
from holdfast.tradeoff import RULES

LEVELS = (0.8, 0.9, 0.95, 0.99)
STEPS = {"subset": 0, "ranking": 1, "weighting": 2}
"""How much a preference tells: weights give rankings, and rankings subsets, never the other way round."""


@dataclass(frozen=True, kw_only=True)
class ResultQuery:
    """How the results of a study are to be shown.

    Attributes
    ----------
    candidate : str
        The candidate to report; the chosen one by default.
    rule : str
        How a candidate is chosen.
    stability : float
        For the rule at-least: the least stability that is wanted.
    weight : float
        For the rule weighted: the weight of the score.
    correction : {"holm", "none"}
        For the rule not-worse: the correction for several comparisons.
    test : {"usual", "mcnemar", "resampled-t"}
        For the rule not-worse: the test.
    measure : str
        Measure of stability; the usual one by default.
    level : float
        Level of all intervals.
    """

    candidate: str = ""
    rule: str = "one-se"
    stability: float = 0.75
    weight: float = 0.5
    correction: Literal["holm", "none"] = "holm"
    test: Literal["usual", "mcnemar", "resampled-t"] = "usual"
    measure: str = ""
    level: float = 0.95

    @property
    def rule_options(self) -> dict[str, Any]:
        """Parameters of the rule, as rules take them."""
        given = {
            "stability": self.stability,
            "weight": self.weight,
            "correction": None if self.correction == "none" else self.correction,
            "test": None if self.test == "usual" else self.test,
        }
        known = RULES.find(self.rule).parameters
        return {name: value for name, value in given.items() if name in known}

    @property
    def arguments(self) -> dict[str, Any]:
        """All of it, as :func:`holdfast.report.summarize` takes it."""
        return {
            "candidate": self.candidate or None, "rule": self.rule, "measure": self.measure or None,
            "level": self.level, **self.rule_options,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Option:
    """Something that may be chosen.

    Attributes
    ----------
    value : str
        How it is asked for.
    label : str
        Its name for readers.
    chosen : bool
        Whether it is chosen now.
    """

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, kw_only=True)
class RuleParameter:
    """A number or a word that the rule needs.

    Attributes
    ----------
    name : str
        How it is asked for.
    label : str
        What it means.
    value : str
        What it is now.
    options : tuple of Option
        What it may be; empty for a number.
    """

    name: str
    label: str
    value: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """What may be chosen when the results of a study are shown.

    Attributes
    ----------
    candidates, rules, measures, levels : tuple of Option
        The candidates, ways to choose one, measures of stability, and levels of intervals.
    parameters : tuple of RuleParameter
        What the chosen rule needs.
    """

    candidates: tuple[Option, ...]
    rules: tuple[Option, ...]
    measures: tuple[Option, ...]
    levels: tuple[Option, ...]
    parameters: tuple[RuleParameter, ...]


def list_options(result: StudyResult, summary: Summary, query: ResultQuery) -> ResultOptions:
    """Return what may be chosen for a study, and what is."""
    labels = summary.labels
    candidates = {"": "the one that the rule chooses"} | {name: labels.candidate(name) for name in result.candidates}
    measures = {"": "the usual one"} | {
        name: f"{name}: {MEASURES[name].summary}" for name in MEASURES if fits(MEASURES[name], result)
    }
    rules = {name: about.summary.rstrip(".") for name, about in RULES.abouts().items()}
    levels = {f"{level:g}": format_percent(level) for level in sorted({*LEVELS, query.level})}
    return ResultOptions(
        candidates=_options(candidates, query.candidate),
        rules=_options(rules, RULES.spelled(query.rule) or query.rule),
        measures=_options(measures, query.measure),
        levels=_options(levels, f"{query.level:g}"),
        parameters=tuple(_describe_parameter(name, query) for name in query.rule_options),
    )


def fits(measure: Measure, result: StudyResult) -> bool:
    """Whether a measure can be worked out for what all candidates of a study give, without anything beside."""
    complete = measure.similarity is None and REQUIRED not in measure.parameters.values()
    return complete and all(STEPS[measure.kind] <= STEPS[kind] for kind in result.kinds.values())


def _options(labels: Mapping[str, str], chosen: str) -> tuple[Option, ...]:
    return tuple(
        Option(value=value, label=shorten(label, 110), chosen=value == chosen) for value, label in labels.items()
    )


PARAMETER_LABELS = {
    "stability": "Least stability",
    "weight": "Weight of the score, from 0 to 1",
    "correction": "Correction for several comparisons",
    "test": "Test",
}
WORDS: Mapping[str, Mapping[str, str]] = {
    "correction": {"holm": "Holm's", "none": "none"},
    "test": {"usual": "the usual one", "mcnemar": "McNemar's test", "resampled-t": "corrected resampled t-test"},
}


def _describe_parameter(name: str, query: ResultQuery) -> RuleParameter:
    value = getattr(query, name)
    text = value if isinstance(value, str) else f"{value:g}"
    return RuleParameter(
        name=name, label=PARAMETER_LABELS[name], value=text, options=_options(WORDS.get(name, {}), text)
    )


def address_of(query: ResultQuery) -> dict[str, str]:
    """What of a query differs from the usual, as it stands in an address."""
    return {
        field.name: str(getattr(query, field.name))
        for field in fields(ResultQuery)
        if getattr(query, field.name) != field.default
    }
