"""From a plan, as it is sent by the page, to the arguments of ``holdfast study``.

What a plan names is looked up in the registries, and values are numbers, true, false, none or plain words: nothing that
somebody sends can become the path of a class, an option, or part of another value.
"""

import math
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.declared import did_you_mean
from holdfast.text import clean_text
from holdfast.web.planning.offers import Offer, OfferedParameter, Offers

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
WHOLE = re.compile(r"[+-]?\d{1,15}", re.ASCII)
WORD = re.compile(r"[A-Za-z0-9_-]{1,60}", re.ASCII)
MOST_SIZES, MOST_VALUES, MOST_SELECTORS = 50, 50, 100
LONGEST = 2000
"""Characters of a name or another text of a plan."""
LONGEST_TIME = 30 * 86_400
"""Seconds of the longest time limit of a fit."""
MOST_SEED = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class Part:
    """A selector, perturbation or model of a plan.

    Attributes
    ----------
    name : str
        Its name in the registry.
    parameters : mapping from str to str
        Values as they would be typed: a number, a word, ``true``, ``false`` or ``none``; several of a selector's are
        separated by spaces and become candidates of their own. What is left out or empty has its default.
    own_size : bool
        For a selector: whether it decides itself how many features it selects, whatever the sizes of the plan are.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    own_size: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a study is to do.

    Attributes
    ----------
    selectors : tuple of Part
        The selectors.
    sizes : str
        Numbers of features to select, such as ``5, 10, 20``; empty if each selector has its own.
    perturbation : Part
        How resamples are made.
    model : Part or None
        Model that is trained on the selected features and scored; None if nothing is to be predicted.
    scores : tuple of str
        Scores of its predictions; the usual one if there are none.
    seed : int
        Seed of all that is random.
    cores : int
        Number of processes.
    time_limit : float or None
        Seconds after which a fit is ended.
    """

    selectors: tuple[Part, ...]
    perturbation: Part
    sizes: str = ""
    model: Part | None = None
    scores: tuple[str, ...] = ()
    seed: int = 0
    cores: int = 1
    time_limit: float | None = None


def plan_arguments(plan: Plan, offers: Offers) -> list[str]:
    """Return the options of ``holdfast study`` that a plan stands for; a wrong plan is a sentence."""
    if not plan.selectors or len(plan.selectors) > MOST_SELECTORS:
        raise ValueError("Expected at least one selector, got none; choose one." if not plan.selectors
                         else f"Expected at most {MOST_SELECTORS} selectors, got {len(plan.selectors)}.")  # fmt: skip
    sizes = read_sizes(plan.sizes)
    selectors = [selector_text(part, offers, sizes) for part in plan.selectors]
    if len(set(selectors)) < len(selectors):
        raise ValueError("Expected every selector once, got one twice with the same values; leave one of them out.")
    perturbation = find_offer(plan.perturbation.name, offers.perturbations, "way to make resamples")
    return [
        *(f"--select={text}" for text in selectors),
        f"--perturb={part_text(plan.perturbation, perturbation)}",
        *_model_arguments(plan, offers),
        f"--seed={check_range('the seed', plan.seed, 0, MOST_SEED)}",
        *([] if plan.time_limit is None else [f"--time-limit={_check_time(plan.time_limit)!r}"]),
    ]


def jobs_argument(cores: int) -> str:
    """Return the option for a number of processes, at most as many as there are cores."""
    return f"--jobs={check_range('the number of cores', cores, 1, os.cpu_count() or 1)}"


def _model_arguments(plan: Plan, offers: Offers) -> list[str]:
    if plan.model is None:
        if plan.scores:
            raise ValueError("A score needs a model: choose a model, or no score.")
        return []
    model = part_text(plan.model, find_offer(plan.model.name, offers.models, "model"))
    names = [find_offer(name, offers.scores, "score").name for name in dict.fromkeys(plan.scores)]
    return [f"--estimator={model}", *(f"--score={name}" for name in names)]


# Parts


def find_offer(name: str, offers: Iterable[Offer], what: str) -> Offer:
    """Return what has a name among those that serve the data."""
    known = {offer.name: offer for offer in offers}
    if name not in known:
        shown = clean_text(name)[:60]
        raise ValueError(f"Expected a {what} for these data ({', '.join(known)}), got {shown!r}"
                         f"{did_you_mean(shown, known)}")  # fmt: skip
    return known[name]


def selector_text(part: Part, offers: Offers, sizes: list[int]) -> str:
    """Return a selector as ``--select`` takes it, cut to sizes."""
    offer = find_offer(part.name, offers.selectors, "selector")
    cut = bool(sizes) and not part.own_size
    given = {name: text for name, text in part.parameters.items() if not (cut and _is_size(offer, name))}
    text = part_text(Part(name=part.name, parameters=given), offer)
    if not cut:
        return text
    return f"{text}{',' if ':' in text else ':'}sizes={'|'.join(map(str, sizes))}"


def _is_size(offer: Offer, name: str) -> bool:
    parameter = offer.parameter(name)
    return parameter is not None and parameter.is_size


def part_text(part: Part, offer: Offer) -> str:
    """Return ``name:parameter=value,…`` for a part of a plan."""
    if not WORD.fullmatch(offer.name):
        raise ValueError(f"The name {clean_text(offer.name)[:60]!r} cannot be written on a command line.")
    texts = {name: text.strip() for name, text in part.parameters.items() if text.strip()}
    for name in texts:
        if offer.parameter(name) is None:
            known = [parameter.name for parameter in offer.parameters]
            raise ValueError(f"Expected parameters of {offer.label} ({', '.join(known) or 'it has none'}), got "
                             f"{clean_text(name)[:60]!r}.")  # fmt: skip
    values = [
        f"{parameter.name}={'|'.join(read_values(parameter, texts.get(parameter.name, ''), offer.label))}"
        for parameter in offer.parameters
        if _is_needed(parameter, texts)
    ]
    return f"{offer.name}:{','.join(values)}" if values else offer.name


def _is_needed(parameter: OfferedParameter, texts: Mapping[str, str]) -> bool:
    """Whether a parameter has to be named: it is given, and has another value than it has anyway."""
    if parameter.name not in texts:
        return not parameter.default or parameter.changed
    return texts[parameter.name] != parameter.default or parameter.changed


def read_values(parameter: OfferedParameter, text: str, owner: str) -> list[str]:
    """Return the values of a parameter as they were typed, each a number or a plain word."""
    where = f"{parameter.label} of {owner}"
    values = re.split(r"\s*[;|]\s*|,\s+|\s+", text or parameter.default) if text or parameter.default else []
    if not values or len(values) > (MOST_VALUES if parameter.several else 1):
        got = f"{len(values)} values" if values else "nothing"
        raise ValueError(f"Expected {'a value' if not values else 'one value'} for {where}, got {got}.")
    for value in values:
        _check_value(parameter, value, where)
    return values


def _check_value(parameter: OfferedParameter, value: str, where: str) -> None:
    if parameter.choices:
        right, expected = value in parameter.choices, f"one of {', '.join(parameter.choices)}"
    elif value == "none":
        return
    elif parameter.kind == "whole number":
        right, expected = WHOLE.fullmatch(value) is not None, "a whole number"
    elif parameter.kind == "number":
        right = value == "inf" or (NUMBER.fullmatch(value) is not None and math.isfinite(float(value)))
        expected = "a number, such as 0.5"
    else:
        right, expected = _is_word(value), "a number or a word of letters, digits, - and _"
    if not right:
        hint = "; decimals are written with a point" if re.fullmatch(r"\d+,\d+", value) else ""
        raise ValueError(f"Expected {expected} for {where}, got {clean_text(value)[:60]!r}{hint}.")


def _is_word(value: str) -> bool:
    number = NUMBER.fullmatch(value) is not None and math.isfinite(float(value))
    return number or (WORD.fullmatch(value) is not None and value.lower() not in ("nan", "-nan"))


def read_sizes(text: str) -> list[int]:
    """Return numbers of features from a text such as ``5, 10, 20``, in order."""
    parts = [part for part in re.split(r"[\s,;|]+", text.strip()) if part]
    if len(parts) > MOST_SIZES:
        raise ValueError(f"Expected at most {MOST_SIZES} numbers of features, got {len(parts)}.")
    for part in parts:
        if not (part.isascii() and part.isdecimal() and len(part) < 9 and int(part) >= 1):
            raise ValueError(f"Expected whole numbers of features, such as 5, 10, 20, got {clean_text(part)[:60]!r}.")
    return sorted({int(part) for part in parts})


def check_range(what: str, value: int, low: int, high: int) -> int:
    """Return a whole number that lies between two others."""
    if not low <= value <= high:
        raise ValueError(f"Expected {what} to be from {low:,} to {high:,}, got {value}.")
    return value


def _check_time(seconds: float) -> float:
    if not 0 < seconds <= LONGEST_TIME:
        raise ValueError(f"Expected a time limit above 0 and at most {LONGEST_TIME:,} seconds, got {seconds:g}.")
    return seconds


# Options


def option_arguments(options: Mapping[str, Any]) -> list[str]:
    """Return options as arguments: ``--target=VALUE`` for texts, one for each of several, ``--transpose`` for true."""
    arguments = []
    for key, value in options.items():
        option = f"--{key.replace('_', '-')}"
        if isinstance(value, bool):
            arguments += [option] * value
            continue
        values = value if isinstance(value, (tuple, list)) else () if value in (None, "") else (value,)
        arguments += [f"{option}={check_text(text, key)}" for text in values]
    return arguments


def check_text(text: Any, what: str) -> Any:
    """Return a text that can be handed to another process."""
    if isinstance(text, str) and (len(text) > LONGEST or "\0" in text or not _encodes(text)):
        raise ValueError(f"Expected a text of at most {LONGEST:,} usual characters for {what}, got another.")
    return text


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def show_command(arguments: Iterable[str]) -> str:
    """Return a command as it would be typed into a shell."""
    return shlex.join(["holdfast", *map(clean_text, arguments)])
