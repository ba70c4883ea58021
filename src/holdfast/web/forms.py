"""What forms ask for, as it stands in the registries: things to choose from, and parameters with what can be typed.

A plan is made of selectors, perturbations, models and scores, each with its name, its words and its parameters; a
candidate is chosen by a rule, whose parameters are read from texts.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from holdfast.declared import REQUIRED, About, Parameter, Registry, describe_parameters, did_you_mean
from holdfast.measures import REQUIRED as NEEDED_BY_MEASURE
from holdfast.measures import Measure
from holdfast.models import MODELS, SCORES
from holdfast.options import OPTIONS as STUDY_OPTIONS
from holdfast.options import FormOptions
from holdfast.report.labels import SIZES, separate_words
from holdfast.resampling import PERTURBATIONS
from holdfast.selectors import SELECTORS, NamedSelector
from holdfast.serialization import to_plain
from holdfast.study.memory import IdentityKey
from holdfast.targets import TASKS, TaskName
from holdfast.text import join_words
from holdfast.tradeoff.rules import RULES, Rule

LEVELS = (0.8, 0.9, 0.95, 0.99)
"""Levels of intervals that are offered."""


@dataclass(frozen=True, kw_only=True)
class NamedOption:
    """One of several things that can be chosen.

    Attributes
    ----------
    name : str
        Its name in a request.
    label : str
        What readers call it.
    summary : str
        One line that says what it is.
    """

    name: str
    label: str
    summary: str = ""


def list_levels(requested: float) -> tuple[float, ...]:
    """Return the levels to choose from, with the requested one."""
    return tuple(sorted({*LEVELS, requested}))


def needs_only_runs(measure: Measure) -> bool:
    """Whether a measure needs neither data nor values of parameters."""
    return measure.similarity is None and NEEDED_BY_MEASURE not in measure.parameters.values()


# Types of parameters: what can be typed, and which values there are to choose from


Kind: TypeAlias = Literal["whole number", "number", "choice", "word"]
NONE = "none"
"""The text that stands for no value, where a parameter may have none."""


def read_types(make: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of what a function or a class takes; none where annotations cannot be read, as of a plug-in."""
    try:
        return get_type_hints(make.__init__ if isinstance(make, type) else make)  # type: ignore[misc]
    except Exception:  # annotations may name anything
        return {}


def kind_of(type_: Any, default: Any = REQUIRED) -> Kind | None:
    """Return what can be typed for a parameter, by its type, or by its default where the type says nothing.

    None is returned for a type that nothing typed can be of, such as a function.
    """
    if list_values(type_):
        return "choice"
    types, _ = _without_none(type_)
    if get_origin(type_) is tuple:
        types = [part for part in get_args(type_) if part is not Ellipsis]
    example = default[0] if isinstance(default, tuple) and default else default
    if float in types or isinstance(example, float):
        return "number"
    if int in types or (isinstance(example, int) and not isinstance(example, bool)):
        return "number" if isinstance(default, tuple) else "whole number"
    return "word" if str in types or isinstance(example, str) else None


def list_values(type_: Any) -> dict[str, Any]:
    """Return the values that a parameter of a type can have, by their texts; none if there are too many to list."""
    types, may_be_none = _without_none(type_)
    if len(types) != 1:
        return {}
    values = (True, False) if types[0] is bool else get_args(types[0]) if get_origin(types[0]) is Literal else ()
    return {as_typed(value): value for value in (*values, *((None,) if may_be_none and values else ()))}


def as_typed(value: Any) -> str:
    """Return a value as a person would type it; an empty text where one is required."""
    if value is REQUIRED:
        return ""
    plain = to_plain(value)
    if isinstance(plain, list):
        return " ".join(map(as_typed, plain))
    return NONE if plain is None else str(plain).lower() if isinstance(plain, bool) else str(plain)


def _without_none(type_: Any) -> tuple[list[Any], bool]:
    """Return the types that are joined in one, without None, and whether None is one of them."""
    if get_origin(type_) not in (Union, UnionType):
        return [type_], False
    return [other for other in get_args(type_) if other is not NoneType], NoneType in get_args(type_)


# What a plan can be made of


HIDDEN = ("random_state", "memory")
"""Parameters that a plan cannot set: seeds follow from the plan's, and what is cached would be unpickled."""
OPTIONS = re.compile(r"[;:]?[^;:]*\w=\w[^;:]*")
"""Parts of a summary that name options."""
MARKUP = (
    (re.compile(r"\s*\.\. \w+::.*"), ""),
    (re.compile(r":\w+:`~?(?:[\w.]+\.)?([^`]*)`"), r"\1"),
    (re.compile(r"`+\"?([^`\"]*)\"?`+"), r"\1"),
)


@dataclass(frozen=True, kw_only=True)
class FormParameter:
    """A parameter that can be set.

    Attributes
    ----------
    name : str
        Its name.
    label : str
        Its name in words.
    default : str
        Its default, as it would be typed; empty if it is required.
    meaning : str
        What it means.
    kind : {"whole number", "number", "choice", "word"}
        What can be typed.
    choices : tuple of str
        The values that there are; empty if there are too many to list.
    several : bool
        Whether it takes several values.
    is_size : bool
        Whether it is the number of features to select, which the sizes of a plan set.
    changed : bool
        Whether this default is not that of the code, which does not serve the task, so that it is part of the command.
    value : str
        For rules: the requested value, or the default.
    required : bool
        For rules: whether it is required.
    """

    name: str
    label: str
    default: str
    meaning: str
    kind: Kind
    choices: tuple[str, ...] = ()
    several: bool = False
    is_size: bool = False
    changed: bool = False
    value: str = ""
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class FormPart:
    """A selector, perturbation, model or score that can be taken.

    Attributes
    ----------
    name : str
        Its name in a plan.
    label : str
        Its name for readers.
    summary : str
        What it does, in a line.
    caution : str
        What may not be concluded from its results.
    chosen : bool
        Whether it is chosen by default.
    grows : str
        For perturbations, the parameter that is the number of resamples, or of their repetitions.
    parameters : tuple of FormParameter
        What can be set.
    """

    name: str
    label: str
    summary: str
    caution: str = ""
    chosen: bool = False
    grows: str = ""
    parameters: tuple[FormParameter, ...] = ()

    def parameter(self, name: str) -> FormParameter | None:
        """Return a parameter by its name; None if there is none such."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True, kw_only=True)
class FormChoices:
    """Everything that a plan for some data can be made of.

    Attributes
    ----------
    selectors, perturbations, models, scores : tuple of FormPart
        What serves the task and the number of classes.
    left_out : str
        Which selectors do not, and what to do about it.
    """

    selectors: tuple[FormPart, ...]
    perturbations: tuple[FormPart, ...]
    models: tuple[FormPart, ...]
    scores: tuple[FormPart, ...]
    left_out: str = ""


def available_parts(task: TaskName, n_classes: int) -> FormChoices:
    """Return what serves a task with so many classes, in the order of the registries."""
    registries = (SELECTORS, PERTURBATIONS, MODELS, SCORES)
    registered = tuple(IdentityKey(part) for registry in registries for part in registry.values())
    return _available_parts(task, n_classes > 2, registered)


@lru_cache(maxsize=8)
def _available_parts(task: TaskName, several: bool, registered: tuple[IdentityKey, ...]) -> FormChoices:
    """Build the choices, once as long as the same parts are registered."""
    compatible = compatible_names(SELECTORS, task, several)
    selectors = {name: SELECTORS[name] for name in compatible if SELECTORS[name].installed}
    models = {name: MODELS[name] for name in compatible_names(MODELS, task, several)}
    scores = compatible_names(SCORES, task, several)
    chosen = [name for name in TASKS[task].offered if name in selectors] or list(selectors)[:1]
    bases = _order_bases(dict.fromkeys([*chosen, *selectors]))
    default_score = next((name for name in TASKS[task].offered_scores if name in scores), scores[0] if scores else "")
    return FormChoices(
        selectors=tuple(
            _form_part(record.about, _parameters(record, bases, several=True), chosen=name in chosen)
            for name, record in selectors.items()
        ),
        perturbations=tuple(
            _form_part(made.about, _parameters(made), grows=made.grows or "", chosen=index == 0)
            for index, made in enumerate(PERTURBATIONS.values())
        ),
        models=tuple(
            _form_part(model.about, _parameters(model), chosen=name == "linear") for name, model in models.items()
        ),
        scores=tuple(_form_part(SCORES[name].about, (), chosen=name == default_score) for name in scores),
        left_out=_describe_left_out([record for name, record in SELECTORS.items() if name not in compatible], task),
    )


def _describe_left_out(records: list[NamedSelector], task: TaskName) -> str:
    """Say which selectors do not serve a task, and how those do that can take bins of numbers."""
    if not records:
        return ""
    binned = [record.about.label for record in records if "target_bins" in record.parameters and task == "regression"]
    bins = f" {join_words(binned)} take bins of the numbers by target_bins=, on the command line or in Python."
    labels = join_words([record.about.label for record in records])
    return f"Not offered, as they are not for {TASKS[task].noun}: {labels}.{bins if binned else ''}"


def compatible_names(registry: Registry[Any], task: TaskName, several: bool) -> list[str]:
    """Return the names of what serves a task, with several classes or with two."""
    return [
        name
        for name, about in registry.abouts().items()
        if task in about.tasks and not ("two classes" in about.needs and several)
    ]


def _order_bases(names: Iterable[str]) -> tuple[str, ...]:
    """Return the selectors that others may be built on: first those of holdfast that select a fixed number."""
    simple = [name for name in names if not _wraps(SELECTORS[name].make)]
    sized = [
        name for name in simple if isinstance(SELECTORS[name].make, type) and "n_features" in SELECTORS[name].parameters
    ]
    return tuple(dict.fromkeys([*sized, *simple]))


def _wraps(make: Callable[..., Any]) -> bool:
    """Whether a selector is built on another, which is made from its name."""
    return "resolve" in inspect.signature(make).parameters


def _form_part(
    about: About, parameters: tuple[FormParameter, ...], *, chosen: bool = False, grows: str = ""
) -> FormPart:
    phrase = "" if "{" in about.methods else re.sub(r"^(an?|the) ", "", about.methods)
    named = phrase if phrase and about.name in (*MODELS, *SCORES) else separate_words(about.name)
    without_options = OPTIONS.sub("", about.summary).rstrip(".") + "."
    return FormPart(
        name=about.name, label=about.label or named[0].upper() + named[1:],
        summary=re.sub(r"\b[a-z]+(_[a-z]+)+\b", lambda name: separate_words(name[0]), without_options),
        caution=about.caution,
        parameters=parameters, chosen=chosen, grows=grows,
    )  # fmt: skip


# Parameters


def _parameters(thing: Any, bases: tuple[str, ...] = (), *, several: bool = False) -> tuple[FormParameter, ...]:
    """Return what can be set; with selectors as choices where one is named as the base of another."""
    make = thing if isinstance(thing, type) else thing.make
    declared = describe_parameters(thing) if isinstance(thing, type) else thing.parameters
    types = read_types(make)
    offered = bases if _wraps(make) else ()
    return tuple(
        _parameter(name, parameter, types.get(name, Any), offered, several)
        for name, parameter in declared.items()
        if name not in HIDDEN
    )


def _parameter(
    name: str, parameter: Parameter, type_: Any, bases: tuple[str, ...] = (), several: bool = False
) -> FormParameter:
    default, choices = parameter.default, tuple(list_values(type_))
    if bases and isinstance(default, str) and default in SELECTORS:
        choices, default = bases, default if default in bases else bases[0]
    return FormParameter(
        name=name, label=separate_words(name), default=as_typed(default), meaning=plain_words(parameter.meaning),
        kind="choice" if choices else kind_of(type_, default) or "word", choices=choices,
        several=several or isinstance(default, tuple), is_size=name in SIZES, changed=default is not parameter.default,
    )  # fmt: skip


def plain_words(text: str) -> str:
    """Return a docstring's words without its markup."""
    for pattern, words in MARKUP:
        text = pattern.sub(words, text)
    return text.replace("\\lambda", "λ").replace("\\rho", "ρ").strip()


def describe_options() -> tuple[FormParameter, ...]:
    """Return the options of a study that have a field in the form, as :mod:`holdfast.options` declares them."""
    return tuple(
        FormParameter(
            name=known.name, label=option.label, default="" if known.default is None else as_typed(known.default),
            meaning=option.hint, choices=option.choices,
            kind=cast("Kind", "word" if option.kind == "text" else option.kind),
        )
        for known in fields(FormOptions)
        for option in (STUDY_OPTIONS[known.name],)
    )  # fmt: skip


# Rules that choose a candidate


SET_BY_THE_PAGE = ("level",)
"""Parameters that the page sets for everything that it shows."""


def describe_inputs(rule: Rule, texts: Mapping[str, str]) -> tuple[FormParameter, ...]:
    """Return the parameters of a rule that a page has fields for, with their values as text."""
    types, inputs = read_types(rule.decide), []
    for name, parameter in rule.parameters.items():
        if name not in SET_BY_THE_PAGE and kind_of(types.get(name, str)) is not None:
            described = _parameter(name, parameter, types.get(name, str))
            shown = "" if described.kind != "choice" and described.default == NONE else described.default
            required = parameter.default is REQUIRED
            inputs.append(replace(described, value=texts.get(name, shown), required=required))
    return tuple(inputs)


def describe_rule(rule: Rule) -> NamedOption:
    """Return a rule as something to choose."""
    return NamedOption(name=rule.about.name, label=rule.about.summary.rstrip("."), summary=rule.about.summary)


def rule_parameters(rule: Rule, texts: Mapping[str, str]) -> dict[str, str]:
    """Leave out parameters that only other rules have, as a form sends them when its rule is changed."""
    others = {name for other in RULES.values() for name in other.parameters} - set(rule.parameters)
    return {name: text for name, text in texts.items() if name not in others}


def check_names(rule: Rule, texts: Mapping[str, str]) -> None:
    """Raise unless these are names of parameters that the page asks for."""
    known = [parameter.name for parameter in describe_inputs(rule, {})]
    for name in texts:
        if name not in known:
            listed = ", ".join(known) or "it has none"
            raise ValueError(
                f"Expected only options of this page and parameters of the rule {rule.about.name} ({listed}) in the "
                f"address, got {name[:60]!r}{did_you_mean(name, known)}"
            )


def read_parameters(rule: Rule, texts: Mapping[str, str]) -> dict[str, Any]:
    """Read the parameters of a rule from texts; a wrong value is an error."""
    types = read_types(rule.decide)
    return {name: _read(rule, name, types.get(name, str), text) for name, text in texts.items()}


def missing_parameters(rule: Rule, texts: Mapping[str, str]) -> str:
    """Return which value a rule lacks, in a sentence; empty if it has all."""
    for name, parameter in rule.parameters.items():
        if parameter.default is REQUIRED and name not in texts:
            meaning = parameter.meaning.rstrip(".")
            return f"This rule needs a value for {separate_words(name)}: {meaning[:1].lower()}{meaning[1:]}."
    return ""


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
