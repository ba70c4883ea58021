"""Running the study that options ask for: data, plan, store, and a clean stop."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from holdfast.cli.configuration import check_trust, checked_options, resume_command, trust_by_option
from holdfast.cli.parsing import parse_named
from holdfast.cli.printing import notes
from holdfast.cli.reading import read
from holdfast.cli.storing import default_name, list_next, run_in_default_store
from holdfast.cli.terminal import say

if TYPE_CHECKING:
    from holdfast.io import Table
    from holdfast.study import Study, StudyResult
    from holdfast.study.trust import Trust
    from holdfast.study.work import FastModels

DEFAULTS: dict[str, Any] = {
    "select": [], "usual": {"classification": ["anova"], "regression": ["correlation"]}, "score": [], "keep": [],
    "ignore": [], "accept": [], "perturb": "bootstrap", "missing": "error", "categorical": "error", "jobs": 1,
    "seed": 0, "fast_models": "all", "device": "cpu", "replicability": True,
}  # fmt: skip
HALVINGS = 50
"""How often the rows are halved to tell what a new study would find."""
NOT_KEPT = ("store", "no_store", "jobs", "usual")  # what may differ when a study is resumed, and what was replaced


def typed_options(ctx: typer.Context, known: Collection[str]) -> dict[str, Any]:
    """Return the options that stood on the command line."""
    from holdfast.io.files import as_path

    typed = {key: value for key, value in ctx.params.items() if key in known and value not in (None, [], ())}
    return {key: str(as_path(value)) if isinstance(value, Path) else value for key, value in typed.items()}


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
    """A study that is planned for data, or again as its store says; with the options behind it."""

    store: Path | None
    options: dict[str, Any]
    data: "Table"
    study: "Study"


def plan_for(
    data: Path | None,
    typed: dict[str, Any],
    allow: list[str] | None,
    quiet: bool,
    usual: "Mapping[str, Any] | None" = None,
) -> Planned:
    """Read the data and plan their study: as options say, or where the data are a study's store, as that says."""
    from holdfast.study.store import is_database

    store = data if data is not None and is_database(data) else None
    if store is None:
        chosen, source = {**DEFAULTS, **(usual or {}), **typed}, "the defaults"
    else:
        own = {name: value for name, value in typed.items() if name != "data"}
        chosen, source = {**DEFAULTS, **stored_command(store), **own}, str(store)
    trust = trust_by_option(typed, allow, source)
    check_trust(chosen, trust)
    read_data = read(chosen, quiet)
    return Planned(store, chosen, read_data, planned(chosen, read_data.task, trust))


def run_study(options: dict[str, Any], trust: "Mapping[str, Trust]", quiet: bool) -> "Ran":
    """Run the study that the options ask for, and keep it."""
    check_trust(options, trust)
    if options.get("store") and options.get("no_store"):
        raise ValueError("Expected --store FILE or --no-store, got both; give one of them.")
    data = read(options, quiet)
    options = {**options, "select": options["select"] or options["usual"][data.task]}
    study = planned(options, data.task, trust)

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
        say("Would a new study find the same features? The rows are halved, again and again (--no-replicability).")
    with notes(quiet=True), stopped_cleanly("the study itself is finished and kept"):
        return replicate_reported(
            result, data, n_halvings=HALVINGS, n_jobs=options["jobs"], time_limit=options.get("time_limit"),
            progress=not quiet,
        )  # fmt: skip


def needs_halvings(study: "Study") -> bool:
    """Whether the rows must be halved to tell what a new study would find: a study of halvings has done it."""
    from holdfast.resampling import Halvings

    return not isinstance(study.perturbation, Halvings)


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
    for key in ("data", "target_file"):
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

    specs: Any = options["select"] or options["usual"][task]  # a list, or, from a file, a table of names
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
    return Study(
        selectors=selectors,
        perturbation=named_perturbation(*parse_named(options["perturb"], "perturbation"), options.get("resamples")),
        estimator=estimator,
        scoring=options["score"] or None,
        fast_models=_read_fast_models(options["fast_models"]),
        keep=options["keep"],
        task=task,  # type: ignore[arg-type]
        random_state=options["seed"],
        device=options["device"],
    )


def _read_fast_models(name: str) -> "FastModels":
    choices: dict[str, FastModels] = {"all": True, "identical": "identical", "none": False}
    if name not in choices:
        raise ValueError(f"Expected --fast-models all, identical or none, got {name!r}.")
    return choices[name]
