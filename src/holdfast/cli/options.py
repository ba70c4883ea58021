"""Options of commands: those of a study, which are taken at once, others that several share, what texts mean."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import holdfast as hf
from holdfast.options import NAMED, OPTIONS

if TYPE_CHECKING:
    from holdfast.study.exports import TableFormat


def named(kind: str, *flags: str, help: str, metavar: str = NAMED) -> Any:
    """Return an option that takes names of a kind of thing, which a shell can complete."""

    def complete(incomplete: str) -> list[str]:
        from holdfast.cli.records import known_names

        return [name for name in known_names(kind) if name.startswith(incomplete)]

    return typer.Option(*flags, metavar=metavar, help=help, autocompletion=complete)


# Options of a study, as holdfast.options declares them

TYPES: dict[str, Any] = {
    "columns": list[str], "texts": list[str], "flag": bool, "file": Path, "whole number": int, "number": float,
}  # fmt: skip
"""The type of a value that is typed; any other is a text."""


def declared(name: str) -> Any:
    """Return an option of a study for the signature of a command; what is not typed is None."""
    option = OPTIONS[name]
    flags = option.flags or ((f"--{name.replace('_', '-')}",) if option.kind == "flag" else ())
    if option.registry:
        return named(option.registry, *flags, help=option.help, metavar=option.metavar)
    if option.group == "table":
        return typer.Argument(help=option.help)
    return typer.Option(*flags, metavar=option.metavar or None, help=option.help, show_default=option.kind != "flag")


FIRST = [name for name, option in OPTIONS.items() if option.group in ("table", "task", "extent")]
LAST = ["allow", "level", "quiet", "as_json"]
"""Options that help texts list before those of a single command, and after all others."""


def takes_study(*groups: str, leave_out: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    """Add options of a study to a command, which gets those that were typed as ``typed``, its first argument.

    Every command has those of its data and of computing; ``groups`` names the others.
    """
    taken = ("table", "task", "reading", *groups, "computing")
    keyword = inspect.Parameter.KEYWORD_ONLY

    def add(command: Callable[..., None]) -> Callable[..., None]:
        _, *parameters = inspect.signature(command).parameters.values()
        every = {parameter.name: parameter.replace(kind=keyword) for parameter in parameters}
        names = tuple(every)
        for name, option in OPTIONS.items():
            if option.group in taken and name not in (*names, *leave_out):
                every[name] = inspect.Parameter(
                    name,
                    keyword,
                    default=None,
                    annotation=Annotated[TYPES.get(option.kind, str) | None, declared(name)],
                )
        rest = [name for name in every if name not in (*FIRST, *LAST)]
        order = [name for name in (*FIRST, *rest, *LAST) if name in every]

        def run(**values: Any) -> None:
            from holdfast.io.files import as_path

            typed = {name: value for name, value in values.items() if name in OPTIONS and value not in (None, [], ())}
            paths = {name: str(as_path(value)) for name, value in typed.items() if isinstance(value, Path)}
            command({**typed, **paths}, **{name: values[name] for name in names})

        run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
        run.__signature__ = inspect.Signature([every[name] for name in order])  # type: ignore[attr-defined]
        run.__annotations__ = {name: every[name].annotation for name in order}
        return run

    return add


# Other options that several commands share

DataOrStore = Annotated[
    Path | None, typer.Argument(help="The data, as for `holdfast study`; or the store of a study, to take its data.")
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE",
        help="Module from which classes that a configuration file or a store names may be imported. May be repeated.",
    ),
]
Target = Annotated[str | None, declared("target")]
Device = Annotated[str | None, declared("device")]
Jobs = Annotated[int | None, declared("jobs")]
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


def parse_measure(text: str) -> "hf.Measure":
    """Read a measure with its parameters."""
    name, parameters = parse_named(text, "measure")
    measure = hf.measures.find_measure(name)
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


_SPELLED = {
    **{option.sets: name for name, option in reversed(OPTIONS.items()) if option.sets},
    **{name: name for name in (*OPTIONS, "kind", "features", "n_features", "candidate")},
    "sample_weight": "weights",
}
"""Options by the parameters of studies, of their runs, and of functions that read tables or selections."""
_PARAMETER = re.compile(
    rf"(?<![\w:,.=/'\"-])({'|'.join(_SPELLED)})=(?!None|[\w.]+\()"  # selectors' have : or , before them, names a quote
    r"(?:\[([^\]]+)\]|('[^']*'|\"[^\"]*\"|\w+))?"
)
_CALL = re.compile(r"((?<![\w.=])hf\.[\w.]+\([^()]*\))")


def as_options(text: str) -> str:
    """Return a message about parameters of studies or tables, with them spelled as options of commands."""

    def spell(match: "re.Match[str]") -> str:
        name = _SPELLED[match[1]]
        values = match[2].split(", ") if match[2] else [match[3] or ""]
        option = OPTIONS.get(name)
        choices = {} if option is None else dict(zip(map(repr, option.values), option.choices, strict=False))
        words = {"True": "yes" if "yes" in choices.values() else "", **choices}
        return " ".join(f"--{name.replace('_', '-')} {words.get(value, value)}".rstrip() for value in values)

    parts = _CALL.split(text)  # calls stay as they are
    return "".join(part if index % 2 else _PARAMETER.sub(spell, part) for index, part in enumerate(parts))


def check_table_format(text: str, file: Path | None = None) -> "TableFormat":
    """Return the format in which --csv writes, to a file for Excel as its name says."""
    if text not in ("csv", "csv2", "xlsx"):
        raise ValueError(f"Expected --table-format csv, csv2 or xlsx, got {text!r}.")
    return "xlsx" if file is not None and file.suffix == ".xlsx" else cast("TableFormat", text)


def literal(text: str) -> Any:
    """A number, true, false or none if it reads like one, else the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)
