"""Parameters of rules as a page asks for them: one input each, with its meaning, and their values read from texts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from holdfast.declared import REQUIRED, did_you_mean
from holdfast.report.labels import separate_words
from holdfast.tradeoff.rules import RULES, Rule
from holdfast.web.choices import NamedOption

Kind: TypeAlias = Literal["number", "whole number", "choice", "text"]
NONE = "none"
"""The text that stands for no value, where a parameter may have none."""
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
    kind : {"number", "whole number", "choice", "text"}
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
    hints, inputs = _hints(rule), []
    for name, parameter in rule.parameters.items():
        kind = _simple_kind(hints.get(name, str))
        if name in GIVEN_BY_THE_PAGE or kind is None:
            continue
        required = parameter.default is REQUIRED
        default = "" if required else NONE if parameter.default is None else str(parameter.default)
        if kind != "choice" and default == NONE:
            default = ""
        inputs.append(
            RuleParameter(
                name=name, label=separate_words(name), meaning=parameter.meaning, kind=kind, required=required,
                choices=_choices(hints[name], usual=parameter.default) if kind == "choice" else (),
                value=given.get(name, default),
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
    hints = _hints(rule)
    return {name: _read(rule, name, hints.get(name, str), text) for name, text in given.items()}


def missing_parameters(rule: Rule, given: Mapping[str, str]) -> str:
    """Say which value a rule needs that was not given; empty if it has all."""
    for name, parameter in rule.parameters.items():
        if parameter.default is REQUIRED and name not in given:
            meaning = parameter.meaning.rstrip(".")
            return f"This rule needs a value for {separate_words(name)}: {meaning[:1].lower()}{meaning[1:]}."
    return ""


def _hints(rule: Rule) -> dict[str, Any]:
    try:
        return get_type_hints(rule.decide)
    except Exception:  # annotations of a rule of one's own may name anything
        return {}


def _without_none(kind: Any) -> tuple[list[Any], bool]:
    """The types beside None, and whether None is one of them."""
    if get_origin(kind) not in (Union, UnionType):
        return [kind], False
    return [other for other in get_args(kind) if other is not NoneType], NoneType in get_args(kind)


def _simple_kind(kind: Any) -> Kind | None:
    """What an input takes; None for a type that cannot be written in an input."""
    kinds, _ = _without_none(kind)
    if len(kinds) != 1:
        return None
    if get_origin(kinds[0]) is Literal or kinds[0] is bool:
        return "choice"
    if kinds[0] is float:
        return "number"
    if kinds[0] is int:
        return "whole number"
    return "text" if kinds[0] is str else None


def _values(kind: Any) -> dict[str, Any]:
    """The values of a choice by their texts."""
    (only,), or_none = _without_none(kind)
    values = {"yes": True, "no": False} if only is bool else {str(value): value for value in get_args(only)}
    return {**values, **({NONE: None} if or_none else {})}


def _choices(kind: Any, usual: Any) -> tuple[NamedOption, ...]:
    return tuple(
        NamedOption(name=text, label="usual" if value is None and usual is None else text)
        for text, value in _values(kind).items()
    )


def _read(rule: Rule, name: str, kind: Any, text: str) -> Any:
    simple, label = _simple_kind(kind), f"{separate_words(name)} of the rule {rule.about.name}"
    if simple == "choice":
        values = _values(kind)
        if text not in values:
            raise ValueError(f"Expected one of {', '.join(values)} for {label}, got {text[:60]!r}.")
        return values[text]
    if simple in ("number", "whole number"):
        try:
            number = float(text) if simple == "number" else int(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"Expected a {simple} for {label}, got {text[:60]!r}.")
        return number
    return text
