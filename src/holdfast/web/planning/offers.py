"""What a plan can be made of, as it stands in the registries: each part with its name, its words and its parameters."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from holdfast.declared import About, Parameter, Registry, describe_parameters
from holdfast.models import MODELS, SCORES
from holdfast.report.labels import SIZES, separate_words
from holdfast.resampling import PERTURBATIONS
from holdfast.selectors import SELECTORS
from holdfast.web.parameters import Kind, as_typed, kind_of, list_values, read_types

Task: TypeAlias = Literal["classification", "regression"]
HIDDEN = ("random_state", "memory")
"""Parameters that a plan cannot set: seeds follow from the plan's, and what is cached would be unpickled."""
USUAL: Mapping[Task, tuple[str, ...]] = {
    "classification": ("anova", "mrmr", "relieff", "svm_weights", "lasso"),
    "regression": ("correlation", "mutual_info", "lasso", "rfe"),
}
"""Selectors to begin with: of different kinds, and fast on wide tables too."""
USUAL_SCORES = ("roc_auc", "balanced_accuracy", "r2")
"""Scores to begin with; the first that can be computed."""
OPTIONS = re.compile(r"[;:]?[^;:]*\w=\w[^;:]*")
"""Parts of a summary that name options."""
MARKUP = (
    (re.compile(r"\s*\.\. \w+::.*"), ""),
    (re.compile(r":\w+:`~?(?:[\w.]+\.)?([^`]*)`"), r"\1"),
    (re.compile(r"`+\"?([^`\"]*)\"?`+"), r"\1"),
)


@dataclass(frozen=True, kw_only=True)
class OfferedParameter:
    """A parameter that can be set.

    Attributes
    ----------
    name : str
        Its name.
    label : str
        Its name in words.
    default : str
        Its value if nothing is said, as it would be typed; empty if it has to be given.
    meaning : str
        What it means.
    kind : {"whole number", "number", "choice", "word"}
        What can be typed.
    choices : tuple of str
        The values that there are; empty if there are too many to list.
    several : bool
        Whether several values may be given.
    is_size : bool
        Whether it is the number of features to select, which the sizes of a plan set.
    changed : bool
        Whether this default is not that of the code, which does not serve the task, so that it has to be said.
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


@dataclass(frozen=True, kw_only=True)
class Offer:
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
    usual : bool
        Whether it is taken if nothing is said.
    grows : str
        For perturbations, the parameter that is the number of resamples, or of their repetitions.
    parameters : tuple of OfferedParameter
        What can be set.
    """

    name: str
    label: str
    summary: str
    caution: str = ""
    usual: bool = False
    grows: str = ""
    parameters: tuple[OfferedParameter, ...] = ()

    def parameter(self, name: str) -> OfferedParameter | None:
        """Return a parameter by its name; None if there is none such."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True, kw_only=True)
class Offers:
    """Everything that a plan for some data can be made of.

    Attributes
    ----------
    selectors, perturbations, models, scores : tuple of Offer
        What serves the task and the number of classes.
    """

    selectors: tuple[Offer, ...]
    perturbations: tuple[Offer, ...]
    models: tuple[Offer, ...]
    scores: tuple[Offer, ...]


def make_offers(task: Task, n_classes: int) -> Offers:
    """Return what serves a task with so many classes, in the order of the registries."""
    selectors = {name: SELECTORS[name] for name in serving(SELECTORS, task, n_classes)}
    scores = list(serving(SCORES, task, n_classes))
    usual = [name for name in USUAL[task] if name in selectors] or list(selectors)[:1]
    bases = _order_bases(dict.fromkeys([*usual, *selectors]))
    usual_score = next((name for name in USUAL_SCORES if name in scores), scores[0] if scores else "")
    return Offers(
        selectors=tuple(
            _offer(record.about, _parameters(record, bases, several=True), usual=name in usual)
            for name, record in selectors.items()
        ),
        perturbations=tuple(
            _offer(made.about, _parameters(made), grows=made.grows or "",
                   usual=place == 0)
            for place, made in enumerate(PERTURBATIONS.values())
        ),
        models=tuple(
            _offer(MODELS[name].about, _parameters(MODELS[name]),
                   usual=name == "linear")
            for name in serving(MODELS, task, n_classes)
        ),
        scores=tuple(_offer(SCORES[name].about, (), usual=name == usual_score) for name in scores),
    )  # fmt: skip


def serving(registry: Registry[Any], task: Task, n_classes: int) -> list[str]:
    """Return the names of what serves a task with so many classes."""
    return [
        name
        for name, about in registry.abouts().items()
        if about.task in (None, task) and not ("two classes" in about.needs and n_classes > 2)
    ]


def _order_bases(names: Iterable[str]) -> tuple[str, ...]:
    """Return the selectors that others may be built on: first those of holdfast that select a given number."""
    simple = [name for name in names if not _wraps(SELECTORS[name].make)]
    own = [
        name for name in simple if isinstance(SELECTORS[name].make, type) and "n_features" in SELECTORS[name].parameters
    ]
    return tuple(dict.fromkeys([*own, *simple]))


def _wraps(make: Callable[..., Any]) -> bool:
    """Whether a selector is built on another, which is made from its name."""
    return "resolve" in inspect.signature(make).parameters


def _offer(about: About, parameters: tuple[OfferedParameter, ...], *, usual: bool = False, grows: str = "") -> Offer:
    phrase = "" if "{" in about.methods else re.sub(r"^(an?|the) ", "", about.methods)
    named = phrase if phrase and about.name in (*MODELS, *SCORES) else separate_words(about.name)
    return Offer(
        name=about.name, label=about.label or named[0].upper() + named[1:],
        summary=_plain_summary(about.summary), caution=about.caution,
        parameters=parameters, usual=usual, grows=grows,
    )  # fmt: skip


def _plain_summary(text: str) -> str:
    """Return a summary without options, and with names of parameters as words."""
    without = OPTIONS.sub("", text).rstrip(".") + "."
    return re.sub(r"\b[a-z]+(_[a-z]+)+\b", lambda name: separate_words(name[0]), without)


# Parameters


def _parameters(thing: Any, bases: tuple[str, ...] = (), *, several: bool = False) -> tuple[OfferedParameter, ...]:
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


def _parameter(name: str, parameter: Parameter, type_: Any, bases: tuple[str, ...], several: bool) -> OfferedParameter:
    default, choices = parameter.default, tuple(list_values(type_))
    if bases and isinstance(default, str) and default in SELECTORS:
        choices, default = bases, default if default in bases else bases[0]
    return OfferedParameter(
        name=name, label=separate_words(name), default=as_typed(default), meaning=plain_words(parameter.meaning),
        kind="choice" if choices else kind_of(type_, default) or "word", choices=choices,
        several=several or isinstance(default, tuple), is_size=name in SIZES, changed=default is not parameter.default,
    )  # fmt: skip


def plain_words(text: str) -> str:
    """Return a docstring's words without its markup."""
    for pattern, words in MARKUP:
        text = pattern.sub(words, text)
    return text.replace("\\lambda", "λ").replace("\\rho", "ρ").strip()
