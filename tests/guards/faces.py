"""What users meet: the commands with their options, the public signatures, and the JSON that commands print."""

import importlib
import importlib.util
import inspect
import json
import re
from functools import cached_property
from pathlib import Path

import typer
from typer.testing import CliRunner

from guards.comparing import settle
from guards.record_store import FINISHED, UNFINISHED, make_data
from holdfast.cli import app

DOCS = Path(__file__).parents[2] / "docs"


# Commands


def commands():
    """Every command: its help as it is shown, without frames, and its parameters as they are declared."""
    return "\n".join(_command_lines(typer.main.get_command(app), []))


def _command_lines(command, path):
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "1000", "TERM": "dumb"})
    yield f"=== holdfast {' '.join(path)}\n"
    for line in shown.stdout.splitlines():
        plain = " ".join(re.sub(r"[│╭╰─╮╯┃━]", " ", line).split())
        if plain:
            yield plain
    yield "\nParameters"
    for parameter in command.params:
        yield f"- {_parameter_text(parameter)}"
    yield ""
    for name, child in sorted(getattr(command, "commands", {}).items()):
        yield from _command_lines(child, [*path, name])


def _parameter_text(parameter):
    flags = " ".join([*parameter.opts, *parameter.secondary_opts])
    told = {
        "type": inspect.formatannotation(parameter.type_descriptor.annotation).replace("pathlib._local.", "pathlib."),
        "default": parameter.default,
        "required": parameter.required,
        "several": parameter.multiple,
        "values": parameter.nargs,
        "flag": getattr(parameter, "is_flag", False),
        "metavar": parameter.metavar,
        "hidden": getattr(parameter, "hidden", False),
        "variable": parameter.envvar,
        "help": getattr(parameter, "help", None),
    }
    facts = [f"{name}={value!r}" for name, value in told.items() if value not in (None, False)]
    return f"{parameter.name} ({parameter.param_type_name} {flags}): {', '.join(facts)}"


# Signatures


def signatures():
    """Every public name with its signature, and those of its public members, as users reach them."""
    checker = _import_checker()
    lines = [f"{name}{_kind_of_thing(thing)}" for name, thing in _other_names(checker.MODULES)]
    for name, thing in checker.public_objects().items():
        lines.append(f"{name}{_signature(thing)}")
        if inspect.isclass(thing):
            lines += [f"{name}.{member}" for member in _members(thing)]
    return "\n".join(sorted(lines)) + "\n"


def _import_checker():
    spec = importlib.util.spec_from_file_location("check_docstrings", DOCS / "check_docstrings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _other_names(modules):
    """Public names of things that are no classes or functions, and all public names of models."""
    for module in ("", *(f".{name}" for name in (*modules, "models"))):
        owner = importlib.import_module(f"holdfast{module}")
        for name in getattr(owner, "__all__", ()):
            thing = getattr(owner, name)
            if module == ".models" or not (inspect.isclass(thing) or inspect.isfunction(thing)):
                yield f"holdfast{module}.{name}", thing


def _kind_of_thing(thing):
    return _signature(thing) if inspect.isclass(thing) or inspect.isfunction(thing) else f": {type(thing).__name__}"


def _members(thing):
    """The public members of a class that come from holdfast, whichever base defines them."""
    found = {}
    for base in reversed(thing.__mro__):
        if base.__module__.split(".")[0] == "holdfast":
            found |= {name: value for name, value in vars(base).items() if not name.startswith("_")}
    for name, value in sorted(found.items()):
        plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if isinstance(value, (property, cached_property)):
            yield f"{name} (property)"
        elif inspect.isfunction(plain):
            kind = {classmethod: " (of the class)", staticmethod: " (static)"}.get(type(value), "")
            yield f"{name}{_signature(plain, bound=not kind)}{kind}"
        else:
            yield f"{name} (attribute)"


def _signature(thing, bound=False):
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return "(…)"
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    if bound and plain[0].name == "result":  # a function of a result that is its method as it is
        plain[0] = plain[0].replace(name="self")
    text = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", re.sub(r"\bholdfast(?:\.\w+)+\.(?=\w)", "", text))


# JSON

TABLE = ("data.csv", "--target", "status", "--ignore", "age", "--seed", "1", "--quiet")
SELECT = ("-s", "anova:k=3|6", "-s", "lasso:penalty_strength=0.1", "--estimator", "knn", "-n", "6")
CALLS = [
    ("study", *TABLE, *SELECT, "--store", "s.db", "--no-replicability"),
    ("study", *TABLE, *SELECT, "--dry-run"),
    ("study", *TABLE, "-s", "anova:k=5", "-n", "6", "--no-store"),
    ("resume", "s.db", "--quiet"),
    ("show", "s.db", "-m", "jaccard", "--level", "0.9"),
    ("show", "finished.db"),
    ("show", "unfinished.db"),
    ("verify", "finished.db"),
    ("tradeoff", *TABLE, *SELECT, "--rule", "accuracy", "--no-store"),
    ("choose", "finished.db"),
    ("choose", "finished.db", "--rule", "knee", "--metric", "roc_auc"),
    ("compare", "s.db"),
    ("compare", "finished.db", "-c", "anova(size=5)", "-c", "rfe(n_features=4, n_forced=0)", "-m", "jaccard"),
    ("compare", "runs.csv", "runs-too.csv"),
    ("export", "s.db", "--csv", "tables", "--latex", "candidates.tex"),
    ("features", "finished.db"),
    ("features", "s.db", "--candidate", "anova(n_features=6)"),
    ("check", "list.txt", "--store", "finished.db"),
    ("nested", *TABLE, *SELECT, "--outer", "folds:n_splits=2"),
    ("replicate", *TABLE, "-s", "anova:k=5", "-n", "10"),
    ("report", "s.db"),
    ("measure", "runs.csv", "-m", "nogueira", "-m", "jaccard", "--level", "0.9"),
    ("benchmark", "data.csv", "more.csv", "--target", "status", *SELECT, "--seed", "1", "--quiet", "--no-store"),
    ("measure", "tables/selections.csv"),
    ("measures",),
    ("selectors",),
    ("perturbations",),
    ("models",),
    ("scores",),
    ("rules",),
    ("selectors", "hybrid_rfe"),
]
"""Calls of commands with --json, in an order in which later ones may read what earlier ones wrote."""

LONGER_CALLS = [
    ("demo", "-n", "3", "--quiet"),
]
"""Calls that take some seconds."""


def fill_folder(folder):
    """Write the files that the calls read."""
    for store in (FINISHED, UNFINISHED):
        (folder / store.name).write_bytes(store.read_bytes())
    X, y = make_data()
    X.assign(status=y).to_csv(folder / "data.csv", index=False)
    X.iloc[10:, 2:].assign(status=y[10:]).to_csv(folder / "more.csv", index=False)
    (folder / "runs.csv").write_text("run,a,b,c,d\n1,1,1,0,0\n2,1,0,0,1\n3,1,1,0,0\n4,0,1,1,0\n")
    (folder / "runs-too.csv").write_text("run,a,b,c,d\n1,1,0,1,0\n2,0,0,1,1\n3,0,1,0,1\n4,0,1,1,0\n")
    (folder / "list.txt").write_text("gene 0\ngene 1\ngene 25\nunknown\n")


def printed_json(calls, folder):
    """What each call prints, by its words; run in the folder."""
    found = {}
    for call in calls:
        done = CliRunner().invoke(app, [*call, "--json"])
        assert done.exit_code == 0, (call, done.output, done.exception)
        found[" ".join(call)] = settle(json.loads(done.stdout), folder)
    return found


def commands_with_json():
    """Names of the commands that have the option --json."""
    group = typer.main.get_command(app)
    return {name for name, command in group.commands.items() if any("--json" in one.opts for one in command.params)}
