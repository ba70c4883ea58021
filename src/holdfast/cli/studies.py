"""Commands that run studies and show what they found: study, resume, show, verify."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import options
from holdfast.cli.app import STUDIES, Json, Level, app
from holdfast.cli.configuration import check_trust, file_options, trust_by_option
from holdfast.cli.parsing import parse_measure
from holdfast.cli.printing import counted, interval_text, notes, number, print_data, print_json
from holdfast.cli.reading import read
from holdfast.cli.running import DEFAULTS, HALVINGS, needs_halvings, planned, run_study, stored_command, typed_options
from holdfast.cli.terminal import console, table
from holdfast.serialization import to_plain

if TYPE_CHECKING:
    from holdfast.study import Study, StudyResult


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
    accept: options.Accept = None,
    index: options.Index = None,
    groups: options.Groups = None,
    missing: options.Missing = None,
    categorical: options.Categorical = None,
    transpose: options.Transpose = None,
    target_file: options.TargetFile = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    store: options.Store = None,
    no_store: options.NoStore = False,
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
    replicability: options.Replicate = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    device: options.Device = None,
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
        plan = planned(chosen, data_read.task, trust)
        _print_plan(plan, data_read, as_json, halved=chosen["replicability"] and needs_halvings(plan))
    else:
        ran = run_study(chosen, trust, quiet)
        _print_study(ran.result, None, 0.95, quiet, as_json, new_study=ran.new_study)
        ran.say_what_is_next()


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
    chosen = {**DEFAULTS, **stored_command(store), "store": str(store), "jobs": 1 if jobs is None else jobs}
    ran = run_study(chosen, trust_by_option((), allow, str(store)), quiet)
    _print_study(ran.result, None, 0.95, quiet, as_json, new_study=ran.new_study)
    ran.say_what_is_next()


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
    from holdfast.replication import find_answer
    from holdfast.study import load_study

    result = load_study(store)
    _print_study(result, measure, level, quiet, as_json, with_notes=True, new_study=find_answer(result, level))


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


def _print_plan(study: "Study", data: Any, as_json: bool, *, halved: bool) -> None:
    """Print what a study would cost, estimated from one fit of each selector."""
    from holdfast.replication import count_fits
    from holdfast.resampling import Halvings

    cost = study.cost(data)
    halved = halved and not isinstance(study.perturbation, Halvings)  # which answers by itself
    fits = count_fits(HALVINGS) if halved else 0
    cost["replicability"] = {"fits": fits, "seconds": fits * cost["seconds"] / max(cost["fits"], 1)}
    if as_json:
        print_json("cost", cost)
        return
    from holdfast.study.progress import format_duration

    console().print(
        f"{cost['fits']:,} fits: {counted(cost['candidates'], 'candidate')} on {counted(cost['splits'], 'split')}.\n"
        f"About {format_duration(cost['seconds'])} on one core, and {cost['bytes'] / 1e6:,.1f} MB on disk."
    )
    if halved:
        seconds = format_duration(max(cost["replicability"]["seconds"], 1))
        console().print(f"Then {fits} fits of the chosen candidate on halves of the rows, about {seconds}.")
    for name, error in cost["failures"].items():
        console().print(f"{name} could not be fitted: {error}", soft_wrap=True, markup=False)


# Showing


def _print_study(
    result: "StudyResult",
    measure: str | None,
    level: float,
    quiet: bool,
    as_json: bool,
    *,
    with_notes: bool = False,
    new_study: str | None = None,
) -> None:
    with notes(quiet):
        summary = result.summary(None if measure is None else parse_measure(measure), level=level)
    if as_json:
        print_json(
            "study",
            {
                "design": result.design,
                "splits": result.n_splits,
                "complete": result.complete,
                "store": None if result.path is None else str(result.path),
                "data": to_plain(result.data),
                "level": level,
                "candidates": summary.reset_index().to_dict(orient="records"),
                "failures": result.failures.drop(columns="traceback").to_dict(orient="records"),
                "notes": result.notes.to_dict(orient="records"),
                "new_study": new_study,
            },
        )
        return
    print_summary(result, summary, level, with_notes=with_notes)
    if new_study is not None:
        console().print(new_study, soft_wrap=True)


def print_summary(result: "StudyResult", summary: Any, level: float, *, with_notes: bool = False) -> None:
    """Print a table of all candidates, and what went wrong; notes on the data only if they were not said before."""
    out = console()
    unfinished = "" if result.complete else f"; {result.n_outcomes:,} fits so far"
    out.print(
        f"{counted(len(summary), 'candidate')} on {counted(result.n_splits, 'split')} "
        f"({result.perturbation_name}), "
        f"{counted(len(result.feature_names), 'feature')}{unfinished}"
    )
    print_data(result.data, with_notes=with_notes)
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
