"""From options to a study that has run: its data, which code it may name, its plan, its store, and a clean stop."""

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer

from holdfast.cli.app import app
from holdfast.cli.options import READING, as_options, parse_named
from holdfast.cli.terminal import CONTROL_CHARACTERS, notes, quote_path, say
from holdfast.declared import FORMER_OPTIONS, warn_of_former_name
from holdfast.io.options import DEFAULTS as READ_DEFAULTS
from holdfast.io.options import OPTIONS

if TYPE_CHECKING:
    from holdfast.io import Table
    from holdfast.study import Study, StudyResult
    from holdfast.study.matching import Match
    from holdfast.study.named import Trust
    from holdfast.study.work import FastModels

FILES = ("data", *(key for key in READING if OPTIONS[key].kind == "file"))
"""Options that are paths of files with data."""


def read(options: dict[str, Any], quiet: bool, name: str | None = None) -> "Table":
    """Read the data, and print a note for every change made to them; ``name`` says to which of several data sets."""
    data, whose = _table(options), "" if name is None else f"{name}: "
    if not quiet:
        for note in data.notes:
            say(f"holdfast: note: {whose}{as_options(note)}")
        for warning in data.warnings:
            say(f"holdfast: warning: {whose}{warning}")
    return data


def _table(options: dict[str, Any]) -> "Table":
    """The data: a file, or, where there is no such file, a data set by its name."""
    from holdfast import datasets
    from holdfast.declared import did_you_mean
    from holdfast.io import read_table

    data, target = options.get("data"), options.get("target")
    if data is None:
        raise ValueError("Expected a data file for the study, got none; see holdfast study --help.")
    if not Path(data).exists() and data in datasets.names():
        return _known_data(data, options)
    if not Path(data).exists():
        hint = did_you_mean(data, datasets.names())
        raise ValueError(f"There is no file {data}, and no data set of this name{hint}")
    if target is None:
        raise ValueError(f"Expected --target COLUMN, the column of {data} to be predicted, got none.")
    given = {key: options[key] for key in READING if options.get(key) is not None}
    try:
        return read_table(data, target, **given)
    except ValueError as error:
        raise ValueError(as_options(str(error))) from None


def _known_data(name: str, options: dict[str, Any]) -> "Table":
    from holdfast import datasets
    from holdfast.io.table import make_table

    for key in READING:
        if options.get(key) and OPTIONS[key].kind != "choice" and key != "covariates":
            option = key.replace("_", "-")
            raise ValueError(f"Expected a file for --{option}, got the data set {name}, of which every column counts.")
    known = datasets.load(name)
    target = options.get("target") or "target"
    return make_table(
        known.X, known.y, known.info.task, target=target, source=name, file_format="known data set",
        notes=(known.description,),
    )  # fmt: skip


NAMED = {"select": "selector", "estimator": "estimator", "perturb": "perturbation"}
"""Options whose texts name code, with what they name."""
NOT_IN_FILES = ("ctx", "config", "dry_run", "quiet", "as_json", "allow", "no_store")
"""What only the command line says: no file may allow its own code."""
KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    Path: ((str,), "a text"),
    bool: ((bool,), "true or false"),
}


def file_options(path: Path, command: Callable[..., None]) -> dict[str, Any]:
    """Read options of a command from a TOML file; its paths are relative to its folder."""
    from holdfast.io.files import as_path

    path = as_path(path)
    try:
        options = tomllib.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        why = "tables or lists nested too deeply" if isinstance(error, RecursionError) else f"something else: {error}"
        raise ValueError(f"Expected TOML in {path}, got {why}.") from None
    options = checked_options(options, command, str(path))
    for key in (*FILES, "store"):
        if key in options:
            beside = path.parent / as_path(options[key])
            if key == "store" or beside.exists():
                options[key] = str(beside)
    return options


def checked_options(options: Any, command: Callable[..., None], source: str) -> dict[str, Any]:
    """Options as a command takes them, or one sentence; a single text stands for a list of one."""
    known = {key: hint for key, hint in get_type_hints(command).items() if key not in (*NOT_IN_FILES, "return")}
    if not isinstance(options, Mapping):
        raise ValueError(f"Expected options of holdfast study in {source}, got {type(options).__name__}.")
    for old in FORMER_OPTIONS.keys() & options.keys():
        warn_of_former_name(f"{old} in {source}", FORMER_OPTIONS[old])
    options = {FORMER_OPTIONS.get(key, key): value for key, value in options.items()}
    for key in options:
        if key not in known:
            raise ValueError(
                f"Expected options of holdfast study in {source} ({', '.join(sorted(known))}), got {key!r}."
            )
    return {key: _checked(key, value, get_args(known[key])[0], source) for key, value in options.items()}


def _checked(key: str, value: Any, kind: Any, source: str) -> Any:
    if get_origin(kind) is list:
        value = [value] if isinstance(value, str) else value
        texts = list(value.values()) if key == "select" and isinstance(value, dict) else value
        if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
            raise ValueError(f"Expected texts for {key} in {source}, got {value!r}.")
        return value
    types, what = KINDS[kind]
    if isinstance(value, bool) != (kind is bool) or not isinstance(value, types):
        raise ValueError(f"Expected {what} for {key} in {source}, got {value!r}.")
    return value


# Whom to trust


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
    found = {}
    for key, what in NAMED.items():
        value = options.get(key) or []
        texts = value.values() if isinstance(value, dict) else [value] if isinstance(value, str) else value
        found[key] = [parse_named(text, what) for text in texts]
    return found


MAX_NAMES = 1000
LONGEST_NAME = 120  # bytes: SQLite and the lock add endings to the name of the store
IN_MEMORY = "The study was kept in memory only, as this folder is not writable; --store FILE stores it elsewhere."
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
    return plain.encode()[:LONGEST_NAME].decode(errors="ignore")


def run_in_default_store(
    name: str, study: "Study", data: "Table", run: Callable[[str | None], "StudyResult"], *, fixed_number: bool
) -> tuple["StudyResult", list[str]]:
    """Run a study in ``NAME-study.db``, or the next name that is free or holds this study; also say which and why.

    ``run`` gets the path of the store, or None where nothing can be written. Whoever begins to write a store first has
    it: a store of another study, or one that another process writes, is left alone. Where every fit failed, there is
    nothing to keep. ``fixed_number`` says whether it is known how many fits there will be.
    """
    from holdfast.study.store import LockedStoreError, OtherStudyError, UnwritableStoreError

    others: dict[str, str] = {}
    for number in range(1, MAX_NAMES + 1):
        path = f"{name}-study{'' if number == 1 else f'-{number}'}.db"
        match, reason = _examine(path, study, data)
        if reason:
            others[path] = reason
            continue
        try:
            result = run(path)
            if not result.finished:
                Path(path).unlink(missing_ok=True)  # the same command shall try again
            return result, _describe_place(path, match, others, fixed_number)
        except UnwritableStoreError:
            return run(None), [IN_MEMORY]
        except (LockedStoreError, OtherStudyError) as error:
            if match is not None and isinstance(error, LockedStoreError):
                raise  # this very study is running
            others[path] = "is being written by another process"
    raise ValueError(f"Expected room for a study among {name}-study.db and {MAX_NAMES} more, got none; give --store.")


def _examine(path: str, study: "Study", data: "Table") -> tuple["Match | None", str]:
    """How the study in a file compares with this one, None if the file is free; or why the file cannot be used."""
    from holdfast.study.matching import match_store
    from holdfast.study.store import StoreError

    if not os.path.lexists(path):
        return None, ""
    try:
        match = match_store(study, data.X, data.y, data.groups, Path(path))
    except StoreError:
        return None, "is no store of a study that can be used"
    if match is not None and match.differences:
        return match, f"holds another study, which differs in {'; '.join(match.differences)}"
    return match, ""


def _describe_place(path: str, match: "Match | None", others: dict[str, str], fixed_number: bool) -> list[str]:
    """Say which files were left alone and why, and what the store held already."""
    lines = [f"{other} {reason}." for other, reason in others.items()]
    if len(lines) > 2:
        lines = [f"{len(lines) - 1} files from {next(iter(others))} on were left alone.", lines[-1]]
    if match is not None:
        of_all = f" of {match.total:,}" if fixed_number else ""
        lines.append(f"Continued {path}: {match.done:,}{of_all} fits were there.")
    return lines


def list_next(result: "StudyResult", resume: str) -> list[str]:
    """Where a study is kept, and the commands to type next, in lines; nothing for a study in memory."""
    if result.path is None:
        return []
    commands = next_commands(result, resume)
    width = max(map(len, commands))
    return [
        f"The study is stored in {result.path}. Next:",
        *(f"  {command:<{width}}  {what}" for command, what in commands.items()),
    ]


def next_commands(result: "StudyResult", resume: str) -> dict[str, str]:
    """The commands that make sense for a stored study, with what they do."""
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    leave_out = set() if len(result.candidates) > 1 and result.has_scores else {"choose"}
    leave_out |= {"resume"} if result.complete else set()
    names = [name for name in NEXT if name in known and name not in leave_out]
    store = quote_path(result.path)
    return {resume if name == "resume" else f"holdfast {name} {store}": NEXT[name] for name in names}


DEFAULTS: dict[str, Any] = {
    "select": [], "usual": {"classification": ["anova"], "regression": ["correlation"]}, "score": [], "covariates": [],
    "perturb": "bootstrap", "jobs": 1, "seed": 0, "fast_models": "all", "device": "cpu", "replicability": True,
    **{key: [] if OPTIONS[key].kind == "columns" else READ_DEFAULTS[key] for key in READING
       if READ_DEFAULTS[key] not in (None, False)},
}  # fmt: skip
N_PAIRS = 50
"""How often the rows are split in half to estimate what a new study would select."""
NOT_KEPT = ("store", "no_store", "jobs", "usual")  # what may differ when a study is resumed, and what was replaced


def stored_command(store: Path) -> dict[str, Any]:
    """The options that a store's study was started with."""
    from holdfast.cli.studies import study
    from holdfast.study.store import read_meta

    command = read_meta(store)["command"]
    if command is None:
        raise ValueError(
            f"Expected a study that holdfast study began, got one begun in Python in {store}; run that program again."
        )
    return checked_options(command, study, str(store))


class Planned(NamedTuple):
    """A study that is planned for data, with the options behind it."""

    options: dict[str, Any]
    data: "Table"
    study: "Study"


def settle(
    typed: dict[str, Any],
    allow: list[str] | None = None,
    *,
    usual: "Mapping[str, Any] | None" = None,
    file: "Mapping[str, Any] | None" = None,
    source: str = "the defaults",
) -> "Settled":
    """All options: those that were typed before those of a file or store, before the defaults; refused as a whole."""
    from holdfast.study.named import Trust

    chosen = {**DEFAULTS, **(usual or {}), **(file or {}), **typed}
    # what was typed may name any module; else those of holdfast and scikit-learn, and allowed ones
    trust = {key: Trust(source, tuple(allow or ()), key in typed) for key in NAMED}
    check_trust(chosen, trust)
    return Settled(chosen, trust)


class Settled(NamedTuple):
    """All options of a study, and which code they may name."""

    options: dict[str, Any]
    trust: "Mapping[str, Trust]"

    def plan(self, quiet: bool) -> Planned:
        """Read the data, and plan their study."""
        data = read(self.options, quiet)
        options = {**self.options, "select": self.options["select"] or self.options["usual"][data.task]}
        return Planned(options, data, planned(options, data.task, self.trust))


def plan_for(
    data: Path | None,
    typed: dict[str, Any],
    allow: list[str] | None,
    quiet: bool,
    usual: "Mapping[str, Any] | None" = None,
) -> tuple[Path | None, Planned]:
    """Plan the study of data as options say, or where the data are a study's store, as that says."""
    from holdfast.study.store import is_database

    if data is None or not is_database(data):
        return None, settle(typed, allow, usual=usual).plan(quiet)
    own = {name: value for name, value in typed.items() if name != "data"}
    return data, settle(own, allow, file=stored_command(data), source=str(data)).plan(quiet)


def run_study(settled: Settled, quiet: bool) -> "Ran":
    """Run the study that the options ask for, and keep it."""
    if settled.options.get("store") and settled.options.get("no_store"):
        raise ValueError("Expected --store FILE or --no-store, got both; give one of them.")
    options, data, study = settled.plan(quiet)

    def run(store: str | None) -> "StudyResult":
        return _run_in(store, study, data, options, quiet)

    if options.get("store") or options.get("no_store"):
        result, lines = run(options.get("store")), list[str]()
    else:
        fixed_number = options.get("until") is None
        result, lines = run_in_default_store(default_name(options["data"]), study, data, run, fixed_number=fixed_number)
    if not result.finished:
        most_common = result.failures["error"].value_counts().index[0]
        raise ValueError(f"Every fit failed; the most common error was: {most_common}")
    resume = resume_command({**options, "store": str(result.path)})
    new_study = _replicate(result, data, options, quiet) if options["replicability"] else None
    return Ran(result, [] if quiet else [*lines, *list_next(result, resume)], new_study)


def _replicate(result: "StudyResult", data: "Table", options: dict[str, Any], quiet: bool) -> str | None:
    """What a new study would find, in words; None if the study is not finished."""
    from holdfast.replication import find_answer, replicate_reported

    known = find_answer(result) if result.complete else None
    if known is not None or not result.complete:
        return known
    if not quiet:
        say("Would a new study select the same features? Repeated split-half follows (--no-replicability skips it).")
    with notes(quiet=True), stopped_cleanly("the study itself is finished and stored"):
        return replicate_reported(
            result, data, n_pairs=N_PAIRS, n_jobs=options["jobs"], time_limit=options.get("time_limit"),
            progress=not quiet,
        )  # fmt: skip


class Ran(NamedTuple):
    """A study that has run, what a new one would find, and what to say at the end: where it is, and what is next."""

    result: "StudyResult"
    lines: list[str]
    new_study: str | None = None

    def say_what_is_next(self) -> None:
        """Say it, once the results are printed."""
        for line in self.lines:
            say(line)


def _run_in(store: str | None, study: "Study", data: "Table", options: dict[str, Any], quiet: bool) -> "StudyResult":
    """Run a study in a store, or in memory."""
    from holdfast.study import TargetPrecision

    command = {key: value for key, value in options.items() if key not in NOT_KEPT}
    for key in FILES:
        if options.get(key) and Path(options[key]).exists():
            command[key] = str(Path(options[key]).resolve())
    until = None if options.get("until") is None else TargetPrecision(options["until"], cap=options.get("cap", 1000))
    resume = None if store is None else resume_command({**options, "store": store})
    with notes(quiet), stopped_cleanly(resume):
        return study.run(
            data, store=store, n_jobs=options["jobs"], progress=not quiet,
            time_limit=options.get("time_limit"), until=until, command=command,
        )  # fmt: skip


@contextmanager
def stopped_cleanly(resume: str | None = None) -> Iterator[None]:
    """Say how to go on after Ctrl-C or SIGTERM."""
    from holdfast.study import StudyInterrupted

    try:
        yield
    except StudyInterrupted as stopped:
        hint = f" ({resume})" if resume else ""
        say(f"\nholdfast: {stopped}{hint}")
        raise typer.Exit(128 + stopped.signal) from None
    except KeyboardInterrupt:  # between two studies, or before the first fit
        say("\nholdfast: Stopped by Ctrl-C.")
        raise typer.Exit(130) from None


def planned(options: dict[str, Any], task: str, trust: "Mapping[str, Trust]") -> "Study":
    """The study that the options ask for."""
    from holdfast.study import Candidates, Study
    from holdfast.study.named import named_estimator, named_perturbation, named_selectors

    specs: Any = options["select"]  # a list, or, from a file, a table of names
    labeled = specs.items() if isinstance(specs, dict) else ((None, text) for text in specs)
    selectors: dict[str, Candidates] = {}
    for label, text in labeled:
        name, parameters = parse_named(text, "selector")
        own = label or name.rpartition(".")[2]
        if own in selectors:
            own = text
        selectors |= named_selectors(own, name, parameters, task, trust["select"])
    estimator = None
    if options.get("estimator") is not None:
        estimator = named_estimator(*parse_named(options["estimator"], "estimator"), task, trust["estimator"])
    choices: dict[str, FastModels] = {"all": True, "identical": "identical", "none": False}
    if options["fast_models"] not in choices:
        raise ValueError(f"Expected --fast-models all, identical or none, got {options['fast_models']!r}.")
    return Study(
        selectors=selectors,
        perturbation=named_perturbation(*parse_named(options["perturb"], "perturbation"), options.get("resamples")),
        estimator=estimator,
        scoring=options["score"] or None,
        fast_models=choices[options["fast_models"]],
        covariates=options["covariates"],
        task=task,  # type: ignore[arg-type]
        random_state=options["seed"],
        device=options["device"],
    )
