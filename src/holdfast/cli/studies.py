"""Commands that run studies and show what they found: study, resume, show, verify, export."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import options
from holdfast.cli.app import STUDIES, Json, Level, app
from holdfast.cli.configuration import check_trust, checked_options, file_options, resume_command, trust_by_option
from holdfast.cli.parsing import as_options, parse_measure, parse_named
from holdfast.cli.printing import counted, interval_text, notes, number, print_data, print_json
from holdfast.cli.terminal import console, say, table, write
from holdfast.serialization import to_plain

if TYPE_CHECKING:
    from holdfast.io import Table
    from holdfast.study import Study, StudyResult
    from holdfast.study.trust import Trust
    from holdfast.study.work import FastModels

DEFAULTS: dict[str, Any] = {
    "select": [], "usual": {"classification": ["anova"], "regression": ["correlation"]}, "score": [], "keep": [],
    "ignore": [], "perturb": "bootstrap", "missing": "error", "categorical": "error", "jobs": 1, "seed": 0,
    "fast_models": "all",
}  # fmt: skip
NOT_KEPT = ("store", "jobs", "usual")  # what may differ when a study is resumed, and what was replaced


@app.command(rich_help_panel=STUDIES)
def study(
    ctx: typer.Context,
    data: options.Data = None,
    target: options.Target = None,
    select: options.Select = None,
    perturb: options.Perturb = None,
    resamples: options.Resamples = None,
    estimator: options.Estimator = None,
    score: options.Score = None,
    fast_models: options.FastModels = None,
    task: options.PredictionTask = None,
    keep: options.Keep = None,
    ignore: options.Ignore = None,
    index: options.Index = None,
    groups: options.Groups = None,
    missing: options.Missing = None,
    categorical: options.Categorical = None,
    store: options.Store = None,
    until: Annotated[
        float | None,
        typer.Option(
            metavar="WIDTH", help="Choose the number of resamples so that intervals are ± WIDTH, by a pilot of 20."
        ),
    ] = None,
    cap: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum number of resamples for --until (default 1000).")
    ] = None,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with these options; the command line wins.")
    ] = None,
    allow: options.Allow = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Estimate the number of fits, time and disk space from one fit of each selector, and stop.",
        ),
    ] = False,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Run selectors on perturbed versions of a data set, and measure how stable they are and how well they predict.

    **Examples**

    `holdfast study patients.csv --target status -s anova:k=10 -s lasso:penalty_strength=0.1 --estimator knn`

    `holdfast study genes.parquet --target relapse -s "anova:k=5|10|20" --perturb pairs -n 50 --store study.db -j -1`

    `holdfast study patients.csv --target status -s sklearn.feature_selection.SelectFpr:alpha=0.01`

    `holdfast study breast_cancer -s forest:sizes=10 --perturb folds:n_splits=5,n_repeats=10`

    `holdfast study --config study.toml --dry-run`
    """
    typed = typed_options(ctx, set(ctx.params) - {"config", "allow", "dry_run", "quiet", "as_json"})
    chosen = {**DEFAULTS, **({} if config is None else file_options(config, study)), **typed}
    trust = trust_by_option(typed, allow, str(config))
    if dry_run:
        check_trust(chosen, trust)
        data_read = read(chosen, quiet)
        _print_plan(planned(chosen, data_read.task, trust), data_read, as_json)
    else:
        _print_study(ran(chosen, trust, quiet), None, 0.95, quiet, as_json)


def typed_options(ctx: typer.Context, known: Collection[str]) -> dict[str, Any]:
    """Return the options that stood on the command line."""
    from holdfast.io.files import as_path

    typed = {key: value for key, value in ctx.params.items() if key in known and value not in (None, [], ())}
    return {key: str(as_path(value)) if isinstance(value, Path) else value for key, value in typed.items()}


@app.command(rich_help_panel=STUDIES)
def resume(
    store: options.StoreFile,
    allow: options.Allow = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Resume a study that was stopped, from its store.

    Classes that the store names are imported from holdfast and scikit-learn only, and from modules that you allow.

    **Examples**

    `holdfast resume study.db --jobs -1`

    `holdfast resume study.db --allow mypackage.selectors`
    """
    from holdfast.study.store import read_meta

    command = read_meta(store)["command"]
    if command is None:
        raise ValueError(
            f"Expected a study that holdfast study began, got one begun in Python in {store}; run that program again."
        )
    command = checked_options(command, study, str(store))
    chosen = {**DEFAULTS, **command, "store": str(store), "jobs": 1 if jobs is None else jobs}
    _print_study(ran(chosen, trust_by_option((), allow, str(store)), quiet), None, 0.95, quiet, as_json)


@app.command(rich_help_panel=STUDIES)
def show(
    store: options.StoreFile,
    measure: options.MeasureText = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Show what a study found, also while it still runs.

    **Examples**

    `holdfast show study.db`

    `holdfast show study.db -m jaccard --json`
    """
    from holdfast.study import load_study

    _print_study(load_study(store), measure, level, quiet, as_json)


@app.command(rich_help_panel=STUDIES)
def verify(store: options.StoreFile, as_json: Json = False) -> None:
    """Check every row of a study's store for damage and loss.

    The exit code is 0 for a sound store, 1 for one that is repaired by resuming the study, 2 for one that cannot be
    used.

    **Example**

    `holdfast verify study.db`
    """
    from holdfast.study.store import verify

    verification = verify(store)
    if as_json:
        print_json(
            "verification",
            {
                "store": str(store),
                "state": verification.state,
                "tables": verification.tables,
                "message": verification.message,
            },
        )
    else:
        rows = table("table", "sound rows", "damaged", "missing")
        for name, counts in verification.tables.items():
            rows.add_row(name, *(f"{counts[state]:,}" for state in ("sound", "damaged", "missing")))
        console().print(rows)
        console().print(verification.message or f"{store} is sound.", soft_wrap=True)
    raise typer.Exit({"sound": 0, "damaged": 1, "unusable": 2}[verification.state])


@app.command(rich_help_panel=STUDIES)
def export(
    store: options.StoreFile,
    parquet: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the Parquet files.")],
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a study's tables as Parquet files: summary, selections, scores, predictions, failures, splits.

    **Example**

    `holdfast export study.db --parquet tables`
    """
    from holdfast.study import load_study

    with notes(quiet):
        files = [str(path) for path in load_study(store).export(parquet)]
    if as_json:
        print_json("files", {"files": files})
    else:
        write("\n".join(files))


# Running


def _table(options: dict[str, Any]) -> "Table":
    """The data: a file, or, where there is no such file, a data set by its name."""
    from holdfast import datasets
    from holdfast.declared import did_you_mean
    from holdfast.io import Table, read_table

    data, target = options.get("data"), options.get("target")
    if data is None:
        raise ValueError("Expected a data file for the study, got none; see holdfast study --help.")
    if not Path(data).exists() and data in datasets.names():
        for key in ("ignore", "index", "groups"):
            if options.get(key):
                raise ValueError(f"Expected a file for --{key}, got the data set {data}, of which every column counts.")
        known = datasets.load(data)
        return Table(X=known.X, y=known.y, target=target or "target", task=known.info.task, notes=(known.description,))
    if not Path(data).exists():
        hint = did_you_mean(data, datasets.names())
        raise ValueError(f"There is no file {data}, and no data set of this name{hint}")
    if target is None:
        raise ValueError(f"Expected --target COLUMN, the column of {data} to be predicted, got none.")
    try:
        return read_table(
            data, target, groups=options.get("groups"), index=options.get("index"), ignore=options["ignore"],
            missing=options["missing"], categorical=options["categorical"], task=options.get("task"),
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(as_options(str(error))) from None


def read(options: dict[str, Any], quiet: bool) -> "Table":
    """Read the data, and print a note for every change made to them."""
    data = _table(options)
    for note in () if quiet else data.notes:
        say(f"holdfast: note: {note}")
    return data


def ran(options: dict[str, Any], trust: "Mapping[str, Trust]", quiet: bool) -> "StudyResult":
    """Run the study that the options ask for."""
    from holdfast.study import TargetPrecision

    check_trust(options, trust)
    data = read(options, quiet)
    options = {**options, "select": options["select"] or options["usual"][data.task]}
    command = {key: value for key, value in options.items() if key not in NOT_KEPT}
    if Path(options["data"]).exists():
        command["data"] = str(Path(options["data"]).resolve())
    until = None if options.get("until") is None else TargetPrecision(options["until"], cap=options.get("cap", 1000))
    with notes(quiet), _stopped_cleanly(options):
        result = planned(options, data.task, trust).run(
            data, store=options.get("store"), n_jobs=options["jobs"],
            progress=not quiet, time_limit=options.get("time_limit"), until=until, command=command,
        )  # fmt: skip
    if not result.finished:
        most_common = result.failures["error"].value_counts().index[0]
        raise ValueError(f"Every fit failed; the most common error was: {most_common}")
    return result


@contextmanager
def _stopped_cleanly(options: dict[str, Any]) -> Iterator[None]:
    """Say how to go on after Ctrl-C or SIGTERM."""
    from holdfast.study import StudyInterrupted

    try:
        yield
    except StudyInterrupted as stopped:
        hint = f" ({resume_command(options)})" if options.get("store") else ""
        say(f"\nholdfast: {stopped}{hint}")
        raise typer.Exit(128 + stopped.signal) from None


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
    )


def _read_fast_models(name: str) -> "FastModels":
    choices: dict[str, FastModels] = {"all": True, "identical": "identical", "none": False}
    if name not in choices:
        raise ValueError(f"Expected --fast-models all, identical or none, got {name!r}.")
    return choices[name]


def _print_plan(study: "Study", data: Any, as_json: bool) -> None:
    """Print what a study would cost, estimated from one fit of each selector."""
    cost = study.cost(data)
    if as_json:
        print_json("cost", cost)
        return
    from holdfast.study.progress import format_duration

    console().print(
        f"{cost['fits']:,} fits: {counted(cost['candidates'], 'candidate')} on {counted(cost['splits'], 'split')}.\n"
        f"About {format_duration(cost['seconds'])} on one core, and {cost['bytes'] / 1e6:,.1f} MB on disk."
    )


# Showing


def _print_study(result: "StudyResult", measure: str | None, level: float, quiet: bool, as_json: bool) -> None:
    with notes(quiet):
        summary = result.summary(None if measure is None else parse_measure(measure), level=level)
    if as_json:
        print_json(
            "study",
            {
                "design": result.design,
                "splits": result.n_splits,
                "complete": result.complete,
                "data": to_plain(result.data),
                "level": level,
                "candidates": summary.reset_index().to_dict(orient="records"),
                "failures": result.failures.drop(columns="traceback").to_dict(orient="records"),
                "notes": result.notes.to_dict(orient="records"),
            },
        )
        return
    print_summary(result, summary, level)


def print_summary(result: "StudyResult", summary: Any, level: float) -> None:
    """Print a table of all candidates, and what went wrong."""
    out = console()
    unfinished = "" if result.complete else f"; {result.n_outcomes:,} fits so far"
    out.print(
        f"{counted(len(summary), 'candidate')} on {counted(result.n_splits, 'split')} "
        f"({result.perturbation_name}), "
        f"{counted(len(result.feature_names), 'feature')}{unfinished}"
    )
    print_data(result.data)
    metrics = [name for name in result.metrics if summary[name].notna().any()]
    rows = table("candidate", "stability", f"{100 * level:g}% interval", *metrics, "size", "seconds", "runs", "failed")
    for name, row in summary.iterrows():
        scores = [f"{number(row[metric])} ± {number(row[f'{metric}_se'])}" for metric in metrics]
        rows.add_row(
            str(name), number(row["stability"]), interval_text(row["low"], row["high"]), *scores,
            number(row["size"], ".1f"), number(row["seconds"], ".3g"), str(row["runs"]), str(row["failures"] or ""),
        )  # fmt: skip
    out.print(rows)
    for k in summary["top"].dropna().unique():
        out.print(f"Of rankings and weights, the best {k:.0f} features of each run count as selected.")
    for reason, alike in summary["reason"].dropna().groupby(summary["reason"], sort=False):
        names = "all candidates" if len(alike) == len(summary) > 1 else ", ".join(map(str, alike.index))
        out.print(f"{names}: {reason}")
    if len(result.failures):
        worst = result.failures["error"].value_counts()
        out.print(f"Failed most often ({worst.iloc[0]} fits): {worst.index[0]}")
    for row in result.notes.to_dict(orient="records"):
        out.print(f"{row['candidate']}, in {row['runs']} runs: {row['note']}")
