"""From options to a study that has run: its data, which code it may name, its plan, its store, and a clean stop."""

import inspect
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

import holdfast as hf
from holdfast import replication
from holdfast.cli.app import app
from holdfast.cli.options import parse_named
from holdfast.cli.terminal import CONTROL_CHARACTERS, notes, print_stderr, quote_path
from holdfast.declared import did_you_mean
from holdfast.options import DEFAULTS, OPTIONS, check_options, set_parameters
from holdfast.targets import TASKS
from holdfast.text import join_words

if TYPE_CHECKING:
    from holdfast.study.named import Trust

READING = [name for name, option in OPTIONS.items() if option.group == "reading"]
"""Options that are parameters of :func:`holdfast.read_table`."""
FILES = [name for name, option in OPTIONS.items() if option.kind == "file" and option.group in ("table", "reading")]
"""Options that are paths of files with data."""


def read(options: dict[str, Any], quiet: bool, name: str | None = None) -> "hf.io.Table":
    """Read the data, and print a note for every change made to them; ``name`` is that of one of several data sets."""
    data, whose = _table(options), "" if name is None else f"{name}: "
    if not quiet:
        for note in data.notes:
            print_stderr(f"holdfast: note: {whose}{note}")
        for warning in data.warnings:
            print_stderr(f"holdfast: warning: {whose}{warning}")
    return data


def _table(options: dict[str, Any]) -> "hf.io.Table":
    """The data: a file, or, where there is no such file, a data set by its name."""
    data, target = options.get("data"), options.get("target")
    if data is None:
        raise ValueError("Expected a data file for the study, got none; see holdfast study --help.")
    if not Path(data).exists() and data in hf.datasets.names():
        return _known_data(data, options)
    if not Path(data).exists():
        hint = did_you_mean(data, hf.datasets.names())
        raise ValueError(f"There is no file {data}, and no data set of this name{hint}")
    reading = {key: options[key] for key in READING if options.get(key) is not None}
    return _read_or_ask(data, reading if target is None else {**reading, "target": target})


def _read_or_ask(data: str, options: dict[str, Any]) -> "hf.io.Table":
    """Read a file; where the target is missing or the dialect open, say also what is open on the likeliest answer."""
    from holdfast.io.options import OF_FILE
    from holdfast.io.questions import ReadingError

    messages, name = list[str](), "target"
    if name not in options:
        likely = [guess.name for guess in hf.io.inspect_table(data, **options).targets]
        hint = f"; it may be {join_words([repr(name) for name in likely[:3]], ' or ')}" if likely else ""
        messages.append(f"Expected --target COLUMN, the column of {data} to be predicted, got none{hint}.")
        options = {**options, "target": likely[0]} if likely else options
    while "target" in options:
        try:
            table = hf.read_table(data, **options)
        except ValueError as error:
            question = error.question if isinstance(error, ReadingError) else None
            if messages and question is None:
                break
            messages.append(f"with {name}={options[name]!r}: {error}" if messages else str(error))
            if question is None or not question.choices or question.option not in OF_FILE:
                break
            name = question.option
            options = {**options, name: question.choices[0][0]}
        else:
            if not messages:
                return table
            break
    raise ValueError("\nAlso, ".join(messages))


def _known_data(name: str, options: dict[str, Any]) -> "hf.io.Table":
    from holdfast.io.table import make_table

    for key in READING:
        if options.get(key) and OPTIONS[key].kind != "choice" and key != "covariates":
            option = key.replace("_", "-")
            raise ValueError(f"Expected a file for --{option}, got the data set {name}, of which every column counts.")
    known = hf.datasets.load(name)
    target = options.get("target") or "target"
    return make_table(
        known.X, known.y, known.info.task, target=target, source=name, file_format="known data set",
        notes=(known.description,),
    )  # fmt: skip


NAMED = {"select": "selector", "estimator": "estimator", "perturb": "perturbation"}
"""Options whose texts name code, with what they name."""


def file_options(path: Path) -> dict[str, Any]:
    """Read options of a study from a TOML file; its paths are relative to its folder."""
    from holdfast.io.files import as_path

    path = as_path(path)
    try:
        options = tomllib.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        why = "tables or lists nested too deeply" if isinstance(error, RecursionError) else f"something else: {error}"
        raise ValueError(f"Expected TOML in {path}, got {why}.") from None
    options = check_options(options, str(path))
    for key in (*FILES, "store"):
        if key in options:
            file = path.parent / as_path(options[key])
            if key == "store" or file.exists():
                options[key] = str(file)
    return options


# Which code may run


def check_trust(options: Mapping[str, Any], trust: Mapping[str, "Trust"]) -> None:
    """Raise if options name code that may not be run; nothing is imported for that."""
    from holdfast.study.named import dotted_paths

    for key, specs in _named(options).items():
        trust[key].check(path for name, parameters in specs for path in dotted_paths(name, parameters))
        for name, parameters in specs:
            trust[key].check_memory(name, parameters)


def resume_command(options: Mapping[str, Any]) -> str:
    """The command that goes on with a study, with the modules that it has to be allowed."""
    from holdfast.study.named import PUBLIC_CLASSES, dotted_paths

    named = [spec for specs in _named(options).values() for spec in specs]
    paths = [path for name, parameters in named for path in dotted_paths(name, parameters)]
    allowed = PUBLIC_CLASSES.missing_modules(paths)
    return " ".join(["holdfast resume", quote_path(options["store"]), *(f"--allow {module}" for module in allowed)])


def _named(options: Mapping[str, Any]) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Names and parameters in the options that name code."""
    named = {}
    for key, what in NAMED.items():
        value = options.get(key) or []
        texts = value.values() if isinstance(value, dict) else [value] if isinstance(value, str) else value
        named[key] = [parse_named(text, what) for text in texts]
    return named


MAX_NAME_BYTES = 120  # SQLite and the lock add endings to the name of the store
NEXT = {
    "report": "write the report",
    "features": "list the features, with direction and effect",
    "choose": "choose a candidate by accuracy and stability",
    "show": "show this table again",
    "resume": "continue where it was stopped",
}
"""Commands that take a store, with what they do; those that the program does not have are left out."""


def default_name(data: str) -> str:
    """The name of a data file or data set, as the beginning of a file's name in the current folder."""
    path = Path(data)
    stem = Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem
    plain = re.sub(r"[\n\t/\\]", "_", CONTROL_CHARACTERS.sub("_", stem))
    plain = re.sub("^[-.]", "_", plain) or "data"
    return plain.encode()[:MAX_NAME_BYTES].decode(errors="ignore")


def list_next(result: "hf.StudyResult", resume: str) -> list[str]:
    """Where a study is stored, and the commands to type next, in lines; nothing for a study in memory."""
    if result.path is None:
        return []
    commands = next_commands(result, resume)
    width = max(map(len, commands))
    return [
        f"The study is stored in {result.path}. Next:",
        *(f"  {command:<{width}}  {what}" for command, what in commands.items()),
    ]


def next_commands(result: "hf.StudyResult", resume: str) -> dict[str, str]:
    """The commands that make sense for a stored study, with what they do."""
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    leave_out = set() if len(result.candidates) > 1 and result.has_scores else {"choose"}
    leave_out |= {"resume"} if result.complete else set()
    names = [name for name in NEXT if name in known and name not in leave_out]
    store = quote_path(result.path)
    return {resume if name == "resume" else f"holdfast {name} {store}": NEXT[name] for name in names}


N_PAIRS = 50
"""How often the rows are split in half to estimate what a new study would select."""
NOT_STORED = ("store", "no_store", "jobs")
"""Options that may differ when a study is resumed."""


def read_again(store: Path, result: "hf.StudyResult", data: Path, target: str | None) -> "hf.io.Table":
    """Read the data of a study again, with the options that it was begun with; raise if they are others."""
    from holdfast.study.matching import check_same_data
    from holdfast.study.store import read_meta

    command = read_meta(store)["command"]
    target = target or (result.data.target if command is None else None)
    chosen = {**DEFAULTS, **({} if command is None else check_options(command, str(store))), "data": str(data)}
    table = read(chosen if target is None else {**chosen, "target": target}, quiet=True)
    check_same_data(result, table, str(data))
    return table


def stored_command(store: Path) -> dict[str, Any]:
    """The options that a store's study was started with."""
    from holdfast.study.store import read_meta

    command = read_meta(store)["command"]
    if command is None:
        raise ValueError(
            f"Expected a study that holdfast study began, got one begun in Python in {store}; run that program again."
        )
    return check_options(command, str(store))


class Planned(NamedTuple):
    """A study that is planned for data, with the options behind it."""

    options: dict[str, Any]
    data: "hf.io.Table"
    study: "hf.Study"


class Settled(NamedTuple):
    """All options of a study, which code they may name, and whether several candidates are tried by default."""

    options: dict[str, Any]
    trust: "Mapping[str, Trust]"
    search: bool

    def plan(self, quiet: bool) -> Planned:
        """Read the data, and plan their study."""
        data = read(self.options, quiet)
        study = replace(self.make_study(data.task), feature_groups=data.feature_groups)
        return Planned({**self.options, "select": self._selected(data.task)}, data, study)

    def _selected(self, task: str) -> Any:
        """The selectors that were named, a list or, from a file, a table of names; else those of the task."""
        facts = TASKS[task]
        return self.options["select"] or list(facts.searched if self.search else facts.selectors)

    def make_study(self, task: str) -> "hf.Study":
        """The study that the options ask for."""
        from holdfast.study.named import named_estimator, named_perturbation, named_selectors

        options, trust = self.options, self.trust
        specs = self._selected(task)
        labeled = specs.items() if isinstance(specs, dict) else ((None, text) for text in specs)
        selectors: dict[str, hf.Candidates] = {}
        for label, text in labeled:
            name, parameters = parse_named(text, "selector")
            family = label or name.rpartition(".")[2]
            if family in selectors:
                family = text
            selectors |= named_selectors(family, name, parameters, task, trust["select"])
        estimator = options.get("estimator")
        if estimator is not None:
            estimator = named_estimator(*parse_named(estimator, "estimator"), task, trust["estimator"])
        perturbation = named_perturbation(*parse_named(options["perturb"], "perturbation"), options.get("resamples"))
        made: dict[str, Any] = {
            "selectors": selectors, "perturbation": perturbation, "estimator": estimator, "task": task,
            "scoring": options["score"] or None,
        }  # fmt: skip
        others = {known.name for known in fields(hf.Study)} - {*made, "feature_groups"}
        return hf.Study(**made, **set_parameters(options, others))


def settle(
    typed: dict[str, Any],
    allow: list[str] | None = None,
    *,
    search: bool = False,
    file: Mapping[str, Any] | None = None,
    source: str = "the defaults",
) -> Settled:
    """All options: those that were typed before those of a file or store, before the defaults; refused as a whole.

    To ``search`` for a candidate, several selectors are tried and scored by default.
    """
    from holdfast.study.named import Trust

    chosen = {**DEFAULTS, **({"estimator": "linear"} if search else {}), **(file or {}), **typed}
    # what was typed may name any module; else those of holdfast and scikit-learn, and allowed ones
    trust = {key: Trust(source, tuple(allow or ()), key in typed) for key in NAMED}
    check_trust(chosen, trust)
    return Settled(chosen, trust, search)


def plan_for(
    data: Path | None, typed: dict[str, Any], allow: list[str] | None, quiet: bool, *, search: bool = False
) -> tuple[Path | None, Planned]:
    """Plan the study of data as options print_stderr, or where the data are a study's store, as that says."""
    from holdfast.study.store import is_database

    if data is None or not is_database(data):
        return None, settle(typed, allow, search=search).plan(quiet)
    changes = {name: value for name, value in typed.items() if name != "data"}
    return data, settle(changes, allow, file=stored_command(data), source=str(data)).plan(quiet)


class Ran(NamedTuple):
    """A study that has run, where it is stored and what can be done next, in lines, and what a new one would select."""

    result: "hf.StudyResult"
    next_lines: list[str]
    new_study: str | None = None


def run_study(settled: Settled, quiet: bool) -> Ran:
    """Run the study that the options ask for, and store it."""
    from holdfast.study.matching import run_in_default_store

    if settled.options.get("store") and settled.options.get("no_store"):
        raise ValueError("Expected --store FILE or --no-store, got both; give one of them.")
    planned = settled.plan(quiet)
    options = planned.options

    def run(store: str | None) -> "hf.StudyResult":
        return _run_in(store, planned, quiet)

    if options.get("store") or options.get("no_store"):
        result, lines = run(options.get("store")), list[str]()
    else:
        name, fixed_number = default_name(options["data"]), options.get("until") is None
        result, lines = run_in_default_store(name, planned.study, planned.data, run, fixed_number=fixed_number)
    if not result.finished:
        most_common = result.failures["error"].value_counts().index[0]
        raise ValueError(f"Every fit failed; the most common error was: {most_common}")
    resume = resume_command({**options, "store": str(result.path)})
    new_study = _replicate(result, planned, quiet) if options["replicability"] else None
    return Ran(result, [] if quiet else [*lines, *list_next(result, resume)], new_study)


def _run_in(store: str | None, planned: Planned, quiet: bool) -> "hf.StudyResult":
    """Run a study in a store, or in memory."""
    options, data, study = planned
    command = {key: value for key, value in options.items() if key not in NOT_STORED}
    for key in FILES:
        if options.get(key) and Path(options[key]).exists():
            command[key] = str(Path(options[key]).resolve())
    until = None if options.get("until") is None else hf.TargetPrecision(options["until"], cap=options.get("cap", 1000))
    made: dict[str, Any] = {"store": store, "until": until, "command": command, "progress": not quiet}
    others = inspect.signature(study.run).parameters.keys() - made.keys()
    with notes(quiet), stopped_cleanly(None if store is None else resume_command({**options, "store": store})):
        return study.run(data, **made, **set_parameters(options, others))


def _replicate(result: "hf.StudyResult", planned: Planned, quiet: bool) -> str | None:
    """What a new study would select, in words; None if the study is not finished."""
    known = replication.find_answer(result) if result.complete else None
    if known is not None or not result.complete:
        return known
    if not quiet:
        print_stderr(
            "Would a new study select the same features? Repeated split-half follows (--no-replicability skips it)."
        )
    computing = set_parameters(planned.options, ("n_jobs", "time_limit"))
    computing["n_shuffles"] = planned.options["shuffles"]
    with notes(quiet=True), stopped_cleanly("the study itself is finished and stored"):
        return replication.replicate_reported(result, planned.data, n_pairs=N_PAIRS, progress=not quiet, **computing)


@contextmanager
def stopped_cleanly(resume: str | None = None) -> Iterator[None]:
    """Print how to resume after Ctrl-C or SIGTERM."""
    try:
        yield
    except hf.study.StudyInterrupted as stopped:
        hint = f" ({resume})" if resume else ""
        print_stderr(f"\nholdfast: {stopped}{hint}")
        raise typer.Exit(128 + stopped.signal) from None
    except KeyboardInterrupt:  # between two studies, or before the first fit
        print_stderr("\nholdfast: Stopped by Ctrl-C.")
        raise typer.Exit(130) from None
