"""The options of a study, declared once: of the commands that run one, of their configuration files, and of the page.

As with the options of reading a table (:mod:`holdfast.io.options`), everything follows from the fields of a dataclass,
:class:`StudyOptions`: options of commands with their help, keys of configuration files with their checks, fields of the
page's form, arguments of :class:`holdfast.Study`, and the table in docs/cli.md. tests/project/test_study_options.py
reports what was forgotten. This module imports nothing that takes time.
"""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from holdfast.declared import FORMER_OPTIONS, warn_of_former_name
from holdfast.io.options import DEFAULTS as READ_DEFAULTS
from holdfast.io.options import OPTIONS as READ_OPTIONS
from holdfast.io.options import Option

NAMED = "NAME[:param=value,…]"
KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "whole number": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "flag": ((bool,), "true or false"),
}
"""What a value in a file has to be, with words for it; any other is a text."""


# fmt: off
@dataclass(frozen=True, kw_only=True)
class FormOptions:
    """Options that the form of the page offers by the same names."""

    seed: Annotated[int, Option(
        "whole number", "Random seed (default 0).", "N", "computing", sets="random_state",
        label="Seed", hint="the same seed gives the same results",
    )] = 0
    time_limit: Annotated[float | None, Option(
        "number", "Stop fits that take longer.", "SECONDS", "limits", sets="time_limit",
        label="Time limit of a fit, in seconds", hint="fits that take longer are ended",
    )] = None
    group_weight: Annotated[Literal["largest", "mean"], Option(
        "choice", "What a group of --feature-groups weighs: its best column (default), or the mean of all.",
        "largest|mean", "task", sets="group_weight",
        label="Weight of a group of features", hint="where columns form groups: its best column, or the mean of all",
    )] = "largest"
    adjust: Annotated[Literal["yes", "no", "within"], Option(
        "choice", "Whether the selection is adjusted for covariates and sites, where there are any (default yes), or "
        "made within sites, by filters.",
        "yes|no|within", "task", sets="adjust", values=(None, False, "within"),
        label="Adjust the selection", hint="for covariates and sites, where there are any; within sites: filters alone",
    )] = "yes"


@dataclass(frozen=True, kw_only=True)
class StudyOptions(FormOptions):
    """All options of a study but those of reading its table."""

    data: Annotated[str | None, Option(
        "file",
        "Data file (CSV, TSV or other text, Excel, Parquet, Feather, ARFF, AnnData, R), or the name of a known data "
        "set, such as breast_cancer.", group="table",
    )] = None
    select: Annotated[tuple[str, ...], Option(
        "texts", "Selector ({selectors}), or the dotted path of a class; a|b tries several values. May be repeated.",
        NAMED, "task", sets="selectors", flags=("--select", "-s"), registry="selectors",
    )] = ()
    until: Annotated[float | None, Option(
        "number", "Choose the number of resamples by a pilot of 20, so that intervals are ± WIDTH.", "WIDTH", "extent",
        sets="until",
    )] = None
    cap: Annotated[int | None, Option(
        "whole number", "Maximum number of resamples for --until (default 1000).", "N", "extent", sets="until",
    )] = None
    replicability: Annotated[bool, Option(
        "flag",
        "Also estimate how many of the features a new study would select, by repeated split-half, 50 × (default: yes).",
        "", "extent", flags=("--replicability/--no-replicability",),
    )] = True
    shuffles: Annotated[int, Option(
        "whole number",
        "How often the target is shuffled, to tell which features have to do with it: 20 fits each (default 40; 20 is "
        "cheaper, 0 leaves it out).", "N", "shuffling",
    )] = 40
    perturb: Annotated[str, Option(
        "text", "How resamples are made (default bootstrap): {perturbations}.", NAMED, "resampling",
        sets="perturbation", registry="perturbations",
    )] = "bootstrap"
    resamples: Annotated[int | None, Option(
        "whole number", "Number of resamples; of pairs for pairs, of bootstrap samples for nested_subsamples.", "N",
        "resampling", sets="perturbation", flags=("--resamples", "-n"),
    )] = None
    estimator: Annotated[str | None, Option(
        "text", "Model trained on the selected features and scored: {models}, or the dotted path of a class.", NAMED,
        "scoring", sets="estimator", registry="models",
    )] = None
    score: Annotated[tuple[str, ...], Option(
        "texts", "Score: {scores}, or any other scorer of scikit-learn. May be repeated.", "NAME", "scoring",
        sets="scoring", registry="scores",
    )] = ()
    fast_models: Annotated[Literal["all", "identical", "none"], Option(
        "choice",
        "Which models holdfast fits itself, many at a time: all that it can (default), only those with predictions "
        "identical to scikit-learn's, or none.",
        "all|identical|none", "scoring", sets="fast_models", values=(True, "identical", False),
    )] = "all"
    store: Annotated[str | None, Option(
        "file",
        "File that stores the study; the same command resumes it (default: NAME-study.db in this folder, named after "
        "the data).", "FILE", "storing", sets="store",
    )] = None
    no_store: Annotated[bool, Option(
        "flag", "Keep the study in memory only.", "", "storing", sets="store", in_files=False,
    )] = False
    jobs: Annotated[int, Option(
        "whole number", "Number of processes; -1 uses all cores (default 1).", "N", "computing", sets="n_jobs",
        flags=("--jobs", "-j"),
    )] = 1
    device: Annotated[Literal["cpu", "cuda", "torch"], Option(
        "choice",
        "Where models are fitted: on the processor (default), on a GPU by CUDA, or by torch on the processor.",
        "cpu|cuda|torch", "computing", sets="device",
    )] = "cpu"
# fmt: on


GROUPS = ("table", "task", "extent", "shuffling", "reading", "resampling", "scoring", "storing", "limits", "computing")
"""Which options a command has together, in the order of help texts."""
_HINTS = get_type_hints(StudyOptions, include_extras=True)
_OPTIONS = {**READ_OPTIONS, **{known.name: _HINTS[known.name].__metadata__[0] for known in fields(StudyOptions)}}
OPTIONS: dict[str, Option] = {
    name: option
    for group in GROUPS
    for name, option in _OPTIONS.items()
    if option.in_commands and option.group == group
}
"""Every option of a command that runs a study, with those of reading its table."""
_DEFAULTS = {**READ_DEFAULTS, **{known.name: known.default for known in fields(StudyOptions)}}
DEFAULTS: dict[str, Any] = {
    name: list(default) if isinstance(default, tuple) else default
    for name in OPTIONS
    if (default := _DEFAULTS[name]) is not None and default is not False and default != ""
}
"""The default of each option that has one."""


# Options in files


def check_options(options: Any, source: str) -> dict[str, Any]:
    """Return options as a file or a store holds them, by their present names; raise if one is unknown or no such value.

    A single text stands for a list of one, and ``select`` may be a table of names.
    """
    known = [name for name, option in OPTIONS.items() if option.in_files]
    if not isinstance(options, Mapping):
        raise ValueError(f"Expected options of holdfast study in {source}, got {type(options).__name__}.")
    for former in FORMER_OPTIONS.keys() & options.keys():
        warn_of_former_name(f"{former} in {source}", FORMER_OPTIONS[former])
    options = {FORMER_OPTIONS.get(name, name): value for name, value in options.items()}
    for name in options:
        if name not in known:
            raise ValueError(
                f"Expected options of holdfast study in {source} ({', '.join(sorted(known))}), got {name!r}."
            )
    return {name: _check(name, value, source) for name, value in options.items()}


def _check(name: str, value: Any, source: str) -> Any:
    kind = OPTIONS[name].kind
    if kind in ("columns", "texts"):
        value = [value] if isinstance(value, str) else value
        texts = list(value.values()) if name == "select" and isinstance(value, dict) else value
        if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
            raise ValueError(f"Expected texts for {name} in {source}, got {value!r}.")
        return value
    types, words = KINDS.get(kind, ((str,), "a text"))
    if isinstance(value, bool) != (kind == "flag") or not isinstance(value, types):
        raise ValueError(f"Expected {words} for {name} in {source}, got {value!r}.")
    return value


def set_parameters(options: Mapping[str, Any], parameters: Collection[str]) -> dict[str, Any]:
    """Return what options set of these parameters of a study, by the names of the parameters."""
    parameters_set = {}
    for name, value in options.items():
        option = OPTIONS[name]
        if option.sets in parameters:
            if option.values and value not in option.choices:
                words = f"{', '.join(option.choices[:-1])} or {option.choices[-1]}"
                raise ValueError(f"Expected --{name.replace('_', '-')} {words}, got {value!r}.")
            parameters_set[option.sets] = option.values[option.choices.index(value)] if option.values else value
    return parameters_set


def format_command(options: Mapping[str, Any]) -> str:
    """Return the command that runs a study with these options, without defaults, and files without their folders."""
    words = ["holdfast study"]
    for name, option in OPTIONS.items():
        value = options.get(name)
        if value is None or value == DEFAULTS.get(name, False) or name in ("store", "no_store", "jobs"):
            continue
        flags = option.flags or (f"--{name.replace('_', '-')}",)
        if option.kind == "flag":
            words.append(flags[0].split("/")[0 if value else -1])
            continue
        values = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
        for single in values:
            text = shlex.quote(Path(single).name if option.kind == "file" else str(single))
            words.append(
                text if option.group == "table" and not option.flags and name == "data" else f"{flags[0]} {text}"
            )
    return " ".join(words)
