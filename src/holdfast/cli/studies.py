"""Commands that run studies and show their results: study, resume, show, verify."""

from pathlib import Path
from typing import Annotated, Any

import typer

import holdfast as hf
from holdfast import replication
from holdfast.cli import options, terminal
from holdfast.cli.app import STUDIES, Json, Level, app
from holdfast.cli.options import parse_measure
from holdfast.cli.running import (
    N_PAIRS,
    Planned,
    Settled,
    file_options,
    run_study,
    settle,
    stopped_cleanly,
    stored_command,
)
from holdfast.serialization import to_plain
from holdfast.text import UNDEFINED, format_count, format_number, format_percent, format_score


@app.command(rich_help_panel=STUDIES)
@options.takes_study("extent", "shuffling", "resampling", "scoring", "storing", "limits")
def study(
    typed: dict[str, Any],
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file with these options; those on the command line take precedence."),
    ] = None,
    allow: options.Allow = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Estimate the number of fits, time and disk space from one fit of each selector, and exit.",
        ),
    ] = False,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Run selectors on resamples of a data set, and measure how stable they are and how well they predict.

    **Examples**

    `holdfast study patients.csv --target status -s anova:k=10 -s lasso:penalty_strength=0.1 --estimator knn`

    `holdfast study genes.parquet --target relapse -s "anova:k=5|10|20" --perturb pairs -n 50 --store study.db -j -1`

    `holdfast study patients.csv --target status -s sklearn.feature_selection.SelectFpr:alpha=0.01`

    `holdfast study breast_cancer -s forest:sizes=10 --perturb folds:n_splits=5,n_repeats=10`

    `holdfast study --config study.toml --dry-run`
    """
    settled = settle(typed, allow, file=None if config is None else file_options(config), source=str(config))
    if dry_run:
        _print_plan(settled.plan(quiet), as_json)
    else:
        _run(settled, quiet, as_json)


@app.command(rich_help_panel=STUDIES)
def resume(
    store: options.StoreFile,
    allow: options.Allow = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Resume an interrupted study from its store.

    Classes that the store names are imported only from holdfast, scikit-learn and the modules given by --allow.

    **Examples**

    `holdfast resume study.db --jobs -1`

    `holdfast resume study.db --allow mypackage.selectors`
    """
    begun = {**stored_command(store), "store": str(store), "jobs": 1 if jobs is None else jobs}
    _run(settle({}, allow, file=begun, source=str(store)), quiet, as_json)


def _run(settled: Settled, quiet: bool, as_json: bool) -> None:
    result, next_lines, new_study = run_study(settled, quiet)
    _print_study(result, None, 0.95, quiet, as_json, new_study=new_study)
    for line in next_lines:
        terminal.print_stderr(line)


@app.command(rich_help_panel=STUDIES)
def show(
    store: options.StoreFile,
    measure: options.MeasureText = None,
    min_stability: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Exit with code 3 unless the interval of the stability is at or above this, for CI."
        ),
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Candidate for --min-stability (default: the one that the report shows)."),
    ] = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Show the results of a study, even while it is running.

    **Examples**

    `holdfast show study.db`

    `holdfast show study.db -m jaccard --json`

    `holdfast show study.db --min-stability 0.6`
    """
    from holdfast.tradeoff.selected import default_candidate, judge_stability

    if min_stability is not None and not -1 <= min_stability <= 1:
        raise ValueError(f"Expected a stability from -1 to 1 for --min-stability, got {min_stability}.")
    if min_stability is None and candidate is not None:
        raise ValueError("--candidate is for --min-stability; give both, or leave it out.")
    result = hf.load_study(store)
    gate = None
    if min_stability is not None:
        chosen = default_candidate(result) if candidate is None else candidate
        if chosen not in result.candidates:
            raise ValueError(f"Expected one of {', '.join(result.candidates[:20])} for --candidate, got {chosen}.")
        with terminal.notes(quiet=True):
            requested = None if measure is None else parse_measure(measure)
            gate = judge_stability(result, chosen, min_stability, measure=requested, level=level)
    _print_study(
        result,
        measure,
        level,
        quiet,
        as_json,
        with_notes=True,
        new_study=replication.find_answer(result, level),
        gate=gate,
    )
    if gate is not None:
        terminal.close_gate(*gate)


@app.command(rich_help_panel=STUDIES)
def verify(
    store: options.StoreFile,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Data file, to compare the study with (default: where it was read from)."),
    ] = None,
    target: options.Target = None,
    refit: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Fit N splits again and compare their results, bit by bit; 0 compares the data only.",
        ),
    ] = None,
    allow: options.Allow = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Check every row of a study's store for damage and loss, and repeat some of its fits.

    The exit code is 0 for a sound store, 1 for one that resuming the study repairs, 2 for an unusable one, 3 where the
    data, the plan or the results differ from those of --data and --refit.

    **Examples**

    `holdfast verify study.db`

    `holdfast verify study.db --data patients.csv --refit 5`
    """
    from holdfast.study.store import verify

    verification = verify(store)
    facts = {name: getattr(verification, name) for name in ("state", "tables", "message")}
    if not as_json:
        states = ("sound", "damaged", "missing")
        rows = ([name, *(f"{counts[key]:,}" for key in states)] for name, counts in verification.tables.items())
        terminal.console().print(terminal.table("table", "sound rows", "damaged", "missing", rows=rows))
        terminal.console().print(verification.message or f"{store} is sound.")
    code = {"sound": 0, "damaged": 1, "unusable": 2}[verification.state]
    if not code and (data is not None or refit is not None):
        typed = {name: str(value) for name, value in (("data", data), ("target", target)) if value is not None}
        settled = settle(typed, allow, file=stored_command(store), source=str(store))
        _, rows_read, planned = settled.plan(quiet=True)
        with terminal.notes(quiet), stopped_cleanly():
            again = planned.verify(store, rows_read, n_splits=refit or 0, n_jobs=jobs or 1, progress=not quiet)
        facts |= {"refit": to_plain(again) | {"same": again.same}}
        code = 0 if again.same else 3
        if not as_json:
            terminal.console().print(again.sentence)
    if as_json:
        terminal.print_json("verification", {"store": str(store), **facts})
    raise typer.Exit(code)


def _print_plan(plan: Planned, as_json: bool) -> None:
    """Print what a study would cost, estimated from one fit of each selector."""
    cost = plan.study.cost(plan.data)
    halved = plan.options["replicability"] and not isinstance(
        plan.study.perturbation, hf.resampling.SplitHalves
    )  # which answer it
    fits = replication.count_fits(N_PAIRS, plan.options["shuffles"]) if halved else 0
    cost["replicability"] = {"fits": fits, "seconds": fits * cost["seconds"] / max(cost["fits"], 1)}
    if as_json:
        terminal.print_json("cost", cost)
        return
    from holdfast.study.running import format_duration

    terminal.console().print(
        f"{format_count(cost['fits'], 'fit')}: {format_count(cost['candidates'], 'candidate')} on "
        f"{format_count(cost['splits'], 'split')}.\n"
        f"About {format_duration(max(cost['seconds'], 1))} on one core, {cost['bytes'] / 1e6:,.1f} MB on disk, and "
        f"{cost['memory'] / 1e9:,.1f} GB of memory in each process."
    )
    if halved:
        seconds = format_duration(max(cost["replicability"]["seconds"], 1))
        shuffled = fits - replication.count_fits(N_PAIRS, 0)
        more = f", {shuffled} of them with a shuffled target (--shuffles)" if shuffled else ""
        terminal.console().print(
            f"Then {fits} fits of the chosen candidate on halves of the rows{more}: about {seconds}."
        )
    for name, error in cost["failures"].items():
        terminal.console().print(f"{name} could not be fitted: {error}", markup=False)


# Showing


def _print_study(
    result: "hf.StudyResult",
    measure: str | None,
    level: float,
    quiet: bool,
    as_json: bool,
    *,
    with_notes: bool = False,
    new_study: str | None = None,
    gate: tuple[str, bool] | None = None,
) -> None:
    with terminal.notes(quiet):
        summary = result.summary(None if measure is None else parse_measure(measure), level=level)
    if as_json:
        record = {
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
            **({} if gate is None else {"passed": gate[1]}),
        }
        terminal.print_json("study", record)
        return
    print_summary(result, summary, level, with_notes=with_notes)
    if new_study is not None:
        terminal.console().print(new_study)


def print_summary(result: "hf.StudyResult", summary: Any, level: float, *, with_notes: bool = False) -> None:
    """Print a table of all candidates, and what went wrong; notes on the data only if they were not said before."""
    out = terminal.console()
    unfinished = "" if result.complete else f"; {result.n_outcomes:,} fits so far"
    out.print(
        f"{format_count(len(summary), 'candidate')} on {format_count(result.n_splits, 'split')} "
        f"({result.perturbation_name}), "
        f"{format_count(len(result.feature_names), 'feature')}{unfinished}"
    )
    terminal.print_data(result.data, with_notes=with_notes)
    metrics = [name for name in result.metrics if summary[name].notna().any()]

    def cells(name: Any, row: Any) -> list[str]:
        scores = [format_score(row[metric], row[f"{metric}_se"]) for metric in metrics]
        seconds = UNDEFINED if row["seconds"] != row["seconds"] else f"{row['seconds']:.3g}"
        return [
            name, terminal.number(row["stability"]), terminal.interval(row["low"], row["high"]), *scores,
            format_number(row["size"], 1), seconds, row["runs"], row["failures"] or "",
        ]  # fmt: skip

    headers = ["stability", f"{format_percent(level)} interval", *metrics, "size", "seconds", "runs", "failed"]
    out.print(terminal.table("candidate", *headers, rows=(cells(name, row) for name, row in summary.iterrows())))
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
