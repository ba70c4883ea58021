"""What has a name: the commands that list it, the help texts and completions that name it."""

import re
import sys
import tomllib
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from holdfast.cli.app import DECIDE, STUDIES, Json, app
from holdfast.cli.terminal import console, print_json, table
from holdfast.declared import REQUIRED, Parameter, Registry, describe_parameters
from holdfast.serialization import to_plain

HOMES = {
    "selectors": ("holdfast.selectors", "SELECTORS"),
    "perturbations": ("holdfast.resampling", "PERTURBATIONS"),
    "models": ("holdfast.models", "MODELS"),
    "scores": ("holdfast.models", "SCORES"),
    "rules": ("holdfast.tradeoff", "RULES"),
    "measures": ("holdfast.measures", "MEASURES"),
}
"""The registry of each kind of thing; ``{rules}`` in a help text stands for the names in it."""


@cache
def load_plugins() -> None:
    """Import the entry points of the group ``holdfast`` of installed packages, which register what they offer."""
    for plugin in entry_points(group="holdfast"):
        plugin.load()


def registry(kind: str) -> Registry[Any]:
    """Return the registry of a kind of thing, with those of installed packages."""
    load_plugins()
    module, name = HOMES[kind]
    return getattr(import_module(module), name)


def known_names(kind: str) -> list[str]:
    """Return the names of a kind of thing: those of ``names.toml``, unless code that may add others is loaded.

    Importing a registry takes seconds, and a help text or a completion needs the names alone.
    """
    if HOMES[kind][0] in sys.modules or entry_points(group="holdfast"):
        return list(registry(kind))
    names: list[str] = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))[kind]
    return names


class RecordsCommand(TyperCommand):
    """A command that knows what installed packages register, and whose help names all that is registered."""

    def invoke(self, ctx: Any) -> Any:
        load_plugins()
        return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        def name_all(kind: "re.Match[str]") -> str:
            return ", ".join(known_names(kind[1])) if kind[1] in HOMES else kind[0]

        options = [option for option in self.params if getattr(option, "help", None)]
        templates = [option.help for option in options]  # type: ignore[attr-defined]
        try:
            for option in options:
                option.help = re.sub(r"\{(\w+)\}", name_all, option.help)  # type: ignore[attr-defined]
            super().format_help(ctx, formatter)
        finally:
            for option, template in zip(options, templates, strict=True):
                option.help = template  # type: ignore[attr-defined]


Name = Annotated[str | None, typer.Argument(help="One of them, to show its parameters.")]


LISTS = {
    "selectors": (STUDIES, "List the selectors for --select; classes can be given by their dotted path too."),
    "perturbations": (STUDIES, "List the ways to make resamples, for --perturb."),
    "models": (STUDIES, "List the models for --estimator; classes can be given by their dotted path too."),
    "scores": (STUDIES, "List the scores for --score; all other names that scikit-learn knows work too."),
    "rules": (DECIDE, "List the rules for --rule, by which one candidate is chosen."),
}


def _add_list(kind: str, panel: str, text: str) -> None:
    @app.command(kind, rich_help_panel=panel, help=text)
    def show(name: Name = None, as_json: Json = False) -> None:
        show_records(kind, name, as_json)


for kind, (panel, text) in LISTS.items():
    _add_list(kind, panel, text)


def show_records(kind: str, name: str | None, as_json: bool) -> None:
    """Print what is known of all things of a kind, or of one with what its parameters mean."""
    known = registry(kind)
    records = [_record(known, spelled) for spelled in ([known.about(known.find(name)).name] if name else known)]
    if as_json:
        print_json("records", {kind: records})
    elif name is None:
        rows = (
            [record["name"], ", ".join(f"{key}={facts['default']}" for key, facts in record["parameters"].items()),
             record["summary"]]
            for record in records
        )  # fmt: skip
        console().print(table("name", "parameters", "what it is", rows=rows))
    else:
        _print_one(records[0])


def _record(known: Registry[Any], name: str) -> dict[str, Any]:
    parameters = {
        key: {"default": "required" if parameter.default is REQUIRED else to_plain(parameter.default),
              "meaning": parameter.meaning}
        for key, parameter in _parameters(known[name]).items()
    }  # fmt: skip
    return {**known.about(known[name]).to_dict(), "parameters": parameters}


def _parameters(thing: Any) -> dict[str, Parameter]:
    if isinstance(thing, type):
        return describe_parameters(thing, hidden=("random_state",))
    return getattr(thing, "parameters", {})


def _print_one(record: dict[str, Any]) -> None:
    out = console()
    out.print(f"{record['name']}: {record['summary']}")
    for word in ("needs", "scope", "no_interval", "caution", "reference"):
        if record[word]:
            text = ", ".join(record[word]) if word == "needs" else record[word]
            out.print(f"{word.replace('_', ' ')}: {text}")
    if record["parameters"]:
        rows = ([key, facts["default"], facts["meaning"]] for key, facts in record["parameters"].items())
        out.print(table("parameter", "default", "meaning", rows=rows))
