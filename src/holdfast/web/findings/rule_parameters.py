"""Parameters of rules as a page asks for them: one input each, with its meaning, and their values read from texts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.declared import REQUIRED, did_you_mean
from holdfast.report.labels import separate_words
from holdfast.tradeoff.rules import RULES, Rule
from holdfast.web.choices import NamedOption
from holdfast.web.parameters import NONE, Kind, as_typed, kind_of, list_values, read_types

LABELS = {"true": "yes", "false": "no"}
"""How texts of values are shown."""
GIVEN_BY_THE_PAGE = ("level",)
"""Parameters that the page asks for once, for everything that it shows."""


@dataclass(frozen=True, kw_only=True)
class RuleParameter:
    """A parameter of a rule.

    Attributes
    ----------
    name, label : str
        How it is asked for, and what readers call it.
    meaning : str
        What it means.
    kind : {"whole number", "number", "choice", "word"}
        What it takes.
    choices : tuple of NamedOption
        The values to choose from; empty unless it is a choice.
    value : str
        Its value as text: the one that was asked for, or its default; empty if it has none.
    required : bool
        Whether the rule cannot do without it.
    """

    name: str
    label: str
    meaning: str
    kind: Kind
    choices: tuple[NamedOption, ...]
    value: str
    required: bool


def describe_inputs(rule: Rule, given: Mapping[str, str]) -> tuple[RuleParameter, ...]:
    """Return the parameters of a rule that can be asked for on a page, with their values as text."""
    types, inputs = read_types(rule.decide), []
    for name, parameter in rule.parameters.items():
        type_ = types.get(name, str)
        kind = kind_of(type_)
        if name in GIVEN_BY_THE_PAGE or kind is None:
            continue
        default = as_typed(parameter.default)
        inputs.append(
            RuleParameter(
                name=name, label=separate_words(name), meaning=parameter.meaning, kind=kind,
                required=parameter.default is REQUIRED, choices=_choices(type_, usual=parameter.default),
                value=given.get(name, "" if kind != "choice" and default == NONE else default),
            )
        )  # fmt: skip
    return tuple(inputs)


def describe_rule(rule: Rule) -> NamedOption:
    """Return a rule as something to choose."""
    return NamedOption(name=rule.about.name, label=rule.about.summary.rstrip("."), summary=rule.about.summary)


def own_parameters(rule: Rule, given: Mapping[str, str]) -> dict[str, str]:
    """Leave out parameters that only other rules have, as a form sends them when its rule is changed."""
    others = {name for other in RULES.values() for name in other.parameters} - set(rule.parameters)
    return {name: text for name, text in given.items() if name not in others}


def check_names(rule: Rule, given: Mapping[str, str]) -> None:
    """Raise unless these are names of parameters that the page asks for."""
    known = [parameter.name for parameter in describe_inputs(rule, {})]
    for name in given:
        if name not in known:
            listed = ", ".join(known) or "it has none"
            raise ValueError(
                f"Expected only options of this page and parameters of the rule {rule.about.name} ({listed}) in the "
                f"address, got {name[:60]!r}{did_you_mean(name, known)}"
            )


def read_parameters(rule: Rule, given: Mapping[str, str]) -> dict[str, Any]:
    """Read the parameters of a rule from texts; a wrong value is an error."""
    types = read_types(rule.decide)
    return {name: _read(rule, name, types.get(name, str), text) for name, text in given.items()}


def missing_parameters(rule: Rule, given: Mapping[str, str]) -> str:
    """Say which value a rule needs that was not given; empty if it has all."""
    for name, parameter in rule.parameters.items():
        if parameter.default is REQUIRED and name not in given:
            meaning = parameter.meaning.rstrip(".")
            return f"This rule needs a value for {separate_words(name)}: {meaning[:1].lower()}{meaning[1:]}."
    return ""


def _choices(type_: Any, usual: Any) -> tuple[NamedOption, ...]:
    return tuple(
        NamedOption(name=text, label="usual" if value is None and usual is None else LABELS.get(text, text))
        for text, value in list_values(type_).items()
    )


def _read(rule: Rule, name: str, type_: Any, text: str) -> Any:
    kind, label = kind_of(type_), f"{separate_words(name)} of the rule {rule.about.name}"
    if kind == "choice":
        values = list_values(type_)
        if text not in values:
            raise ValueError(f"Expected one of {', '.join(values)} for {label}, got {text[:60]!r}.")
        return values[text]
    if kind in ("number", "whole number"):
        try:
            number = float(text) if kind == "number" else int(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"Expected a {kind} for {label}, got {text[:60]!r}.")
        return number
    return text
