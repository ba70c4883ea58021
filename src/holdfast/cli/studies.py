"""Commands that run studies and show what they found: study, resume, show, verify, export, selectors."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import options
from holdfast.cli.app import STUDIES, Json, Level, app
from holdfast.cli.configuration import check_trust, checked_options, file_options, resume_command, trust_by_option
from holdfast.cli.parsing import as_options, parse_measure, parse_named
from holdfast.cli.printing import counted, interval_text, notes, number, print_json
from holdfast.cli.terminal import console, say, table, write

if TYPE_CHECKING:
    from holdfast.io import Table
    from holdfast.study import Study, StudyResult
    from holdfast.study.trust import Trust

DEFAULTS: dict[str, Any] = {
    "select": [], "usual": {"classification": ["anova"], "regression": ["correlation"]}, "score": [], "keep": [],
    "ignore": [], "perturb": "bootstrap", "missing": "error", "categorical": "error", "jobs": 1, "seed": 0,
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
        typer.Option(metavar="WIDTH", help="Run until intervals are ± WIDTH: a pilot of 20, then once more."),
    ] = None,
    cap: Annotated[int | None, typer.Option(metavar="N", help="Most runs for --until; 1000 if not said.")] = None,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with these options; the command line wins.")
    ] = None,
    allow: options.Allow = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell the number of fits, time and disk; run one each.")
    ] = False,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Run selectors on perturbed versions of a data set and tell how stable, and how good, they are.

    **Examples**

    `holdfast study patients.csv --target status -s anova:k=10 -s lasso:penalty_strength=0.1 --estimator knn`

    `holdfast study genes.parquet --target relapse -s "anova:k=5|10|20" --perturb pairs -n 50 --store study.db -j -1`

    `holdfast study patients.csv --target status -s sklearn.feature_selection.SelectFpr:alpha=0.01`

    `holdfast study breast_cancer -s forest:sizes=10 --perturb folds:k=5,repeats=10`

    `holdfast study --config study.toml --dry-run`
    """
    typed = given(ctx, set(ctx.params) - {"config", "allow", "dry_run", "quiet", "as_json"})
    wanted = {**DEFAULTS, **({} if config is None else file_options(config, study)), **typed}
    trust = trust_by_option(typed, allow, str(config))
    if dry_run:
        check_trust(wanted, trust)
        found = read(wanted, quiet)
        _print_plan(planned(wanted, found.task, trust), found, as_json)
    else:
        _print_study(ran(wanted, trust, quiet), None, 0.95, quiet, as_json)


def given(ctx: typer.Context, known: Collection[str]) -> dict[str, Any]:
    """What was said on the command line."""
    from holdfast.io.files import as_path

    said = {key: value for key, value in ctx.params.items() if key in known and value not in (None, [], ())}
    return {key: str(as_path(one)) if isinstance(one, Path) else one for key, one in said.items()}


@app.command(rich_help_panel=STUDIES)
def resume(
    store: options.StoreFile,
    allow: options.Allow = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Go on with a study that was stopped, from what its store knows.

    Classes that the store names are imported from holdfast and scikit-learn only, and from modules that you allow.

    **Examples**

    `holdfast resume study.db --jobs -1`

    `holdfast resume study.db --allow mypackage.selectors`
    """
    from holdfast.study.stored import read_meta

    command = read_meta(store)["command"]
    if command is None:
        raise ValueError(
            f"Expected a study that holdfast study began, got one begun in Python in {store}; run that program again."
        )
    command = checked_options(command, study, str(store))
    wanted = {**DEFAULTS, **command, "store": str(store), "jobs": 1 if jobs is None else jobs}
    _print_study(ran(wanted, trust_by_option((), allow, str(store)), quiet), None, 0.95, quiet, as_json)


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
    """Check every row of a study's store and tell what is sound and what is lost.

    The exit code is 0 for a sound store, 1 for one that resuming the study mends, 2 for one that cannot be used.

    **Example**

    `holdfast verify study.db`
    """
    from holdfast.study.mending import verify

    found = verify(store)
    if as_json:
        print_json({"store": str(store), "state": found.state, "tables": found.tables, "message": found.message})
    else:
        rows = table("table", "sound rows", "damaged", "missing")
        for name, counts in found.tables.items():
            rows.add_row(name, *(f"{counts[state]:,}" for state in ("sound", "damaged", "missing")))
        console().print(rows)
        console().print(found.message or f"{store} is sound.", soft_wrap=True)
    raise typer.Exit({"sound": 0, "damaged": 1, "unusable": 2}[found.state])


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
        print_json(files)
    else:
        write("\n".join(files))


@app.command("selectors", rich_help_panel=STUDIES)
def list_selectors(as_json: Json = False) -> None:
    """List the selectors and estimators that have names; classes can be given by their dotted path too."""
    from holdfast.study.named import ESTIMATORS, SELECTORS, parameters_of

    both = {"selector": SELECTORS, "estimator": ESTIMATORS}
    found: list[dict[str, Any]] = [
        {"kind": kind, "name": name, "parameters": parameters_of(one), "summary": one.summary}
        for kind, known in both.items()
        for name, one in known.items()
    ]
    if as_json:
        print_json(found)
        return
    rows = table("name", "for", "parameters", "what it is")
    for one in found:
        given = ", ".join(f"{key}={value}" for key, value in one["parameters"].items())
        rows.add_row(one["name"], f"--{'select' if one['kind'] == 'selector' else 'estimator'}", given, one["summary"])
    console().print(rows)


# Running


def _table(options: dict[str, Any]) -> "Table":
    """The data: a file, or, where there is no such file, a data set by its name."""
    from holdfast import datasets
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
    """Read the data, and tell what was done to them."""
    found = _table(options)
    for note in () if quiet else found.notes:
        say(f"holdfast: note: {note}")
    return found


def ran(options: dict[str, Any], trust: "Mapping[str, Trust]", quiet: bool) -> "StudyResult":
    """Run the study that the options ask for."""
    from holdfast.study import TargetPrecision

    check_trust(options, trust)
    found = read(options, quiet)
    options = {**options, "select": options["select"] or options["usual"][found.task]}
    command = {key: one for key, one in options.items() if key not in NOT_KEPT}
    if Path(options["data"]).exists():
        command["data"] = str(Path(options["data"]).resolve())
    until = None if options.get("until") is None else TargetPrecision(options["until"], cap=options.get("cap", 1000))
    with notes(quiet), _stopped_cleanly(options):
        result = planned(options, found.task, trust).run(
            found.X, found.y, groups=found.groups, store=options.get("store"), n_jobs=options["jobs"],
            progress=not quiet, time_limit=options.get("time_limit"), until=until, command=command,
        )  # fmt: skip
    if result.stored.outcomes.empty:
        raise ValueError(f"Expected some fits to work, got none that did; the first one: {result.failures['error'][0]}")
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

    wanted: Any = options["select"] or options["usual"][task]  # a list, or, from a file, a table of names
    labeled = wanted.items() if isinstance(wanted, dict) else ((None, text) for text in wanted)
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
        keep=options["keep"],
        task=task,  # type: ignore[arg-type]
        random_state=options["seed"],
    )


def _print_plan(study: "Study", found: Any, as_json: bool) -> None:
    """Tell what a study would cost, by one fit of each selector."""
    cost = study.cost(found.X, found.y, groups=found.groups)
    if as_json:
        print_json(cost)
        return
    from holdfast.study.progress import spoken

    console().print(
        f"{cost['fits']:,} fits: {counted(cost['candidates'], 'candidate')} on {counted(cost['splits'], 'split')}.\n"
        f"About {spoken(cost['seconds'])} on one core, and {cost['bytes'] / 1e6:,.1f} MB on disk."
    )


# Showing


def _print_study(result: "StudyResult", measure: str | None, level: float, quiet: bool, as_json: bool) -> None:
    with notes(quiet):
        summary = result.summary(None if measure is None else parse_measure(measure), level=level)
    if as_json:
        print_json(
            {
                "design": result.design,
                "splits": len(result.stored.splits),
                "complete": result.complete,
                "level": level,
                "candidates": summary.reset_index().to_dict(orient="records"),
                "failures": result.failures.drop(columns="traceback").to_dict(orient="records"),
                "notes": result.notes.to_dict(orient="records"),
            }
        )
        return
    print_summary(result, summary, level)


def print_summary(result: "StudyResult", summary: Any, level: float) -> None:
    """Print a table of all candidates, and what went wrong."""
    out = console()
    unfinished = "" if result.complete else f"; {result.n_outcomes:,} fits so far"
    out.print(
        f"{counted(len(summary), 'candidate')} on {counted(len(result.stored.splits), 'split')} "
        f"({result.design_in_words}), "
        f"{counted(len(result.features), 'feature')}{unfinished}"
    )
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
