"""Options that several commands share, what their texts mean, and all options of a study, which are taken at once."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from holdfast.io.options import OPTIONS

if TYPE_CHECKING:
    from holdfast.measures import Measure
    from holdfast.study.exports import TableFormat


SPELLED = "NAME[:param=value,…]"


def named(kind: str, *flags: str, help: str, metavar: str = SPELLED) -> Any:
    """Return an option that takes names of a kind of thing, which a shell can complete."""

    def complete(incomplete: str) -> list[str]:
        from holdfast.cli.records import known_names

        return [name for name in known_names(kind) if name.startswith(incomplete)]

    return typer.Option(*flags, metavar=metavar, help=help, autocompletion=complete)


Data = Annotated[
    Path | None,
    typer.Argument(
        help="Data file (CSV, TSV or other text, Excel, Parquet, Feather, ARFF, AnnData, R), or the name of a known "
        "data set, such as breast_cancer."
    ),
]
DataOrStore = Annotated[
    Path | None, typer.Argument(help="The data, as for `holdfast study`; or the store of a study, to take its data.")
]
Target = Annotated[str | None, typer.Option(metavar="COLUMN", help=OPTIONS["target"].help)]
Select = Annotated[
    list[str] | None,
    named(
        "selectors", "--select", "-s",
        help="Selector ({selectors}), or the dotted path of a class; a|b tries several values. May be repeated.",
    ),
]  # fmt: skip
Perturb = Annotated[
    str | None, named("perturbations", help="How resamples are made (default bootstrap): {perturbations}.")
]
Resamples = Annotated[
    int | None,
    typer.Option(
        "--resamples", "-n", metavar="N",
        help="Number of resamples; of pairs for pairs, of bootstrap samples for nested_subsamples.",
    ),
]  # fmt: skip
Estimator = Annotated[
    str | None,
    named("models", help="Model trained on the selected features and scored: {models}, or the dotted path of a class."),
]
Score = Annotated[
    list[str] | None,
    named("scores", help="Score: {scores}, or any other scorer of scikit-learn. May be repeated.", metavar="NAME"),
]
FastModels = Annotated[
    str | None,
    typer.Option(
        metavar="all|identical|none",
        help="Which models holdfast fits itself, many at a time: all that it can (default), only those with "
        "predictions identical to scikit-learn's, or none.",
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File that stores the study; the same command resumes it (default: NAME-study.db in this folder, named "
        "after the data).",
    ),
]
Replicate = Annotated[
    bool | None,
    typer.Option(
        "--replicability/--no-replicability",
        help="Also estimate how many of the features a new study would select, by repeated split-half, 50 × (default: "
        "yes).",
    ),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="Keep the study in memory only.")]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="cpu|cuda|torch",
        help="Where models are fitted: on the processor (default), on a GPU by CUDA, or by torch on the processor.",
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE",
        help="Module from which classes that a configuration file or a store names may be imported. May be repeated.",
    ),
]
TimeLimit = Annotated[float | None, typer.Option(metavar="SECONDS", help="Stop fits that take longer.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Random seed (default 0).")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", metavar="N", help="Number of processes; -1 uses all cores (default 1).")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no notes on stderr.")]
TableText = Annotated[
    str,
    typer.Option(
        metavar="csv|csv2|xlsx", help="How --csv writes: csv2 with decimal commas and semicolons, xlsx for Excel."
    ),
]
StoreFile = Annotated[Path, typer.Argument(help="Store of a study.")]
MeasureText = Annotated[
    str | None,
    named(
        "measures", "--measure", "-m",
        help="Measure of stability (default: the one that suits all candidates); `holdfast measures` lists them.",
    ),
]  # fmt: skip
MeasureTexts = Annotated[
    list[str] | None,
    named(
        "measures", "--measure", "-m",
        help="Measure of stability; `holdfast measures` lists them. May be repeated.",
    ),
]  # fmt: skip
Rule = Annotated[str, named("rules", "--rule", "-r", help="Rule by which one candidate is chosen: {rules}.")]
Metric = Annotated[
    str | None, typer.Option(metavar="NAME", help="Score to weigh against stability (default: the first one).")
]
Top = Annotated[
    int | None, typer.Option(metavar="K", help="For rankings or weights: number of best features that count.")
]
Candidate = Annotated[
    str | None, typer.Option(metavar="NAME", help="Candidate of the study (default: the one that the report shows).")
]
Threshold = Annotated[
    float, typer.Option(metavar="SHARE", help="Selection frequency that a feature must exceed to hold.")
]
StudyData = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="FILE",
        help="Data file of the study: then stand-ins must be correlated too, and the report draws single rows.",
    ),
]  # fmt: skip

# All options of a study, by what they are about

TYPES: dict[str, Any] = {"columns": list[str], "flag": bool, "file": Path}


def _reading_option(name: str) -> Any:
    """Return an option of reading as commands take it; what is not typed is None."""
    option, flags = OPTIONS[name], [f"--{name}"] if OPTIONS[name].kind == "flag" else []
    made = typer.Option(*flags, metavar=option.metavar or None, help=option.help, show_default=not flags)
    return Annotated[TYPES.get(option.kind, str) | None, made]


READING = {name: _reading_option(name) for name, option in OPTIONS.items() if option.in_commands and name != "target"}
"""How to read a file: parameters of :func:`holdfast.read_table`."""
DATA = {"data": Data, "target": Target, "select": Select, **READING}
RESAMPLING = {"perturb": Perturb, "resamples": Resamples}
SCORING = {"estimator": Estimator, "score": Score, "fast_models": FastModels}
KEEPING = {"store": Store, "no_store": NoStore, "time_limit": TimeLimit}
COMPUTING = {"seed": Seed, "jobs": Jobs, "device": Device}
OF_STUDY = {*DATA, *RESAMPLING, *SCORING, *KEEPING, *COMPUTING, "until", "cap", "replicability"}
FIRST, LAST = ("data", "target", "select"), ("allow", "level", "quiet", "as_json")


def takes_study(*groups: dict[str, Any], leave_out: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    """Add options of a study to a command, which is given those that were typed as ``typed``, its first argument."""
    every = {name: option for group in (DATA, *groups, COMPUTING) for name, option in group.items()}

    def add(command: Callable[..., None]) -> Callable[..., None]:
        own = dict(list(inspect.signature(command).parameters.items())[1:])
        given = {name: parameter.replace(kind=parameter.KEYWORD_ONLY) for name, parameter in own.items()}
        for name, option in every.items():
            if name not in own and name not in leave_out:
                usual = False if option is NoStore else None
                given[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=option)
        order = sorted(given, key=lambda name: (name not in FIRST, name in LAST))

        def run(**values: Any) -> None:
            from holdfast.io.files import as_path

            typed = {name: value for name, value in values.items() if name in OF_STUDY and value not in (None, [], ())}
            paths = {name: str(as_path(value)) for name, value in typed.items() if isinstance(value, Path)}
            command({**typed, **paths}, **{name: values[name] for name in own})

        run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
        run.__signature__ = inspect.Signature([given[name] for name in order])  # type: ignore[attr-defined]
        run.__annotations__ = {name: given[name].annotation for name in order}
        return run

    return add


# What texts mean: ``name:param=value,param=value``, numbers, lists of values


def parse_named(text: str, what: str) -> tuple[str, dict[str, Any]]:
    """Read ``name`` or ``name:param=value,param=value``; ``a|b`` are several values."""
    name, _, rest = text.partition(":")
    parameters = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"Expected NAME:param=value,param=value for a {what}, got {text!r}.")
        values = [literal(part.strip()) for part in value.split("|")]
        parameters[key.strip()] = values if len(values) > 1 else values[0]
    return name.strip(), parameters


def parse_measure(text: str) -> "Measure":
    """Read a measure with its parameters."""
    from holdfast.measures import find_measure

    name, parameters = parse_named(text, "measure")
    measure = find_measure(name)
    for key, value in parameters.items():
        default = measure.parameters.get(key, "")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number and not isinstance(default, str) and value is not default:
            raise ValueError(f"Expected a number for {key} of {measure.name}, got {value!r}.")
    return measure.bind(**parameters)


def parse_rule(text: str) -> tuple[str, dict[str, Any]]:
    """Read a rule with its parameters; both are checked."""
    from holdfast.cli.records import registry

    name, parameters = parse_named(text, "rule")
    rule = registry("rules").find(name)
    rule.check(parameters)
    return rule.about.name, parameters


def as_options(text: str) -> str:
    """Return a message about parameters of :func:`holdfast.read_table`, with them spelled as options of commands."""
    kinds = {name: option.kind for name, option in OPTIONS.items() if option.in_commands}
    lists, flags = ("|".join(name for name in kinds if kinds[name] == kind) for kind in ("columns", "flag"))

    def repeat(match: "re.Match[str]") -> str:
        return " ".join(f"--{match[1].replace('_', '-')} {name}" for name in match[2].split(", "))

    def spell(match: "re.Match[str]") -> str:
        return f"--{match[1].replace('_', '-')}" + (f" {match[2]}" if match[2] else "")

    text = re.sub(rf"\b({lists})=\[([^\]]+)\]", repeat, text)
    text = re.sub(rf"\b({flags})=True()", spell, text)
    return re.sub(rf"\b({'|'.join(kinds)})=([\w'\"])?", spell, text)


def check_table_format(text: str) -> "TableFormat":
    """Return the format in which --csv writes."""
    if text not in ("csv", "csv2", "xlsx"):
        raise ValueError(f"Expected --table-format csv, csv2 or xlsx, got {text!r}.")
    return cast("TableFormat", text)


def literal(text: str) -> Any:
    """A number, true, false or none if it reads like one, else the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)
