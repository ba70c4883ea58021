"""The command that runs one study on several data sets: benchmark."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import holdfast as hf
from holdfast.cli import options
from holdfast.cli.app import STUDIES, Json, Level, app
from holdfast.cli.options import parse_measure, parse_rule
from holdfast.cli.running import read, settle, stopped_cleanly
from holdfast.cli.terminal import console, notes, print_json, table
from holdfast.options import set_parameters
from holdfast.text import format_count, format_number

if TYPE_CHECKING:
    from holdfast.study.exports import TableFormat

FOLDER = "benchmark-stores"


@app.command(rich_help_panel=STUDIES)
@options.takes_study("resampling", "scoring", "limits", leave_out=("data", "target_file"))
def benchmark(
    typed: dict[str, Any],
    tables: Annotated[
        list[str],
        typer.Argument(metavar="TABLE…", help="Data files (FILE, or FILE:TARGET), or names of known data sets."),
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column to predict, in files without :TARGET.")
    ] = None,
    rule: options.Rule = "one-se",
    metric: options.Metric = None,
    measure: options.MeasureText = None,
    store_dir: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder with one store per data set; an existing one is resumed.")
    ] = Path(FOLDER),
    no_store: Annotated[bool, typer.Option("--no-store", help="Store nothing.")] = False,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Report file (.html, .md or .json).")] = None,
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="File for LaTeX tables (booktabs).")] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV file for all values, in full precision.")
    ] = None,
    table_format: options.TableText = "csv",
    rope: Annotated[
        float,
        typer.Option(
            metavar="WIDTH", help="Region of practical equivalence of the Bayesian comparison: differences up to WIDTH."
        ),
    ] = 0.01,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Run the same selectors on several data sets, and compare their stability and accuracy over all of them.

    Finished fits are stored in a folder; the same command resumes the benchmark. Without --select, a filter and a lasso
    with three settings each are tried.

    **Examples**

    `holdfast benchmark colon.csv leukemia.csv --target status -s anova:k=10 -s lasso:k=10 --report out.html`

    `holdfast benchmark a.csv:relapse b.parquet:status breast_cancer -s "anova:k=5|10" --latex tables.tex`
    """
    name, parameters = parse_rule(rule)
    if parameters:
        raise ValueError(f"Expected a rule without parameters for a benchmark, got {rule!r}.")
    format, settled = options.check_table_format(table_format, csv), settle(typed, search=True)
    data = _read_tables(tables, settled.options, quiet)
    tasks = {dataset: table.task for dataset, table in data.items()}
    if len(set(tasks.values())) > 1:
        listed = ", ".join(f"{task} ({dataset})" for dataset, task in tasks.items())
        raise ValueError(f"Expected data sets of one task, got {listed}; give --task, or run two benchmarks.")
    folder = None if no_store else store_dir
    with notes(quiet), stopped_cleanly(None if folder is None else "the same command does"), _suggest_folder():
        result = hf.benchmark(
            data, settled.make_study(next(iter(tasks.values()))), store_dir=folder, progress=not quiet, metric=metric,
            measure=None if measure is None else parse_measure(measure), level=level,
            **set_parameters(settled.options, ("n_jobs", "time_limit")),
        )  # fmt: skip
    if not result.results:
        failed, reason = next(iter(result.failures.items()))
        raise ValueError(f"No data set could be studied; {failed}: {reason}")
    with notes(quiet):
        summary = result.summary(rule=name, rope=rope)
        written = _write(summary, report, latex, csv, format)
    if as_json:
        print_json("benchmark", {key: value for key, value in summary.to_dict().items() if key != "schema"})
        return
    _print(summary)
    if not quiet:
        _print_next(result, written, folder)


# Tables


def _read_tables(tables: list[str], chosen: dict[str, Any], quiet: bool) -> "dict[str, hf.io.Table]":
    """Read every table; a name is that of its file, or as it was typed where two files have the same."""
    requested = [_split_target(text, chosen.get("target")) for text in tables]
    stems = [Path(Path(data).name.removesuffix(".gz")).stem if Path(data).exists() else data for data, _ in requested]
    names = [data if stems.count(stem) > 1 else stem for (data, _), stem in zip(requested, stems, strict=True)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Expected different data sets, got {name!r} twice.")
    data_sets = {}
    for name, (data, target) in zip(names, requested, strict=True):
        try:
            data_sets[name] = read({**chosen, "data": data, "target": target}, quiet, name)
        except ValueError as error:
            raise ValueError(f"{data}: {error}" if data not in str(error) else str(error)) from None
    return data_sets


def _split_target(text: str, target: str | None) -> tuple[str, str | None]:
    """Separate FILE:TARGET; a file of that whole name, or a known data set, has no target in it."""
    from holdfast.io.files import as_path

    file, colon, column = text.rpartition(":")
    if colon and column and not as_path(text).exists() and as_path(file).exists():
        return str(as_path(file)), column
    return str(as_path(text)), target


@contextmanager
def _suggest_folder() -> Iterator[None]:
    """Add to an error of a store how to choose another folder."""
    try:
        yield
    except hf.study.StoreError as error:
        raise ValueError(f"{error} Another folder is given by --store-dir.") from None


# Showing


def _write(
    summary: "hf.report.BenchmarkSummary",
    report: Path | None,
    latex: Path | None,
    csv: Path | None,
    format: "TableFormat",
) -> list[Path]:
    from holdfast.io.files import as_path
    from holdfast.report.benchmark import benchmark_frame, write_text
    from holdfast.study.exports import write_table

    if latex is not None:
        write_text(hf.report.benchmark_latex(summary), latex)
    if csv is not None:
        write_table(benchmark_frame(summary), as_path(csv), format)
    return [*([] if report is None else [hf.report.write_benchmark(summary, report)]), *filter(None, (latex, csv))]


def _print(summary: "hf.report.BenchmarkSummary") -> None:
    """Print mean ranks, and what was shown."""
    out = console()
    out.print(
        f"{format_count(len(summary.candidates), 'candidate')} on {format_count(len(summary.datasets), 'data set')}"
    )
    scored = summary.metric is not None
    ranks = ["rank of stability", *([f"rank of {summary.metric}", "on the front", "chosen"] if scored else [])]
    stability = dict(zip(summary.stability.candidates, summary.stability.mean_ranks, strict=True))
    score = dict(zip(summary.score.candidates, summary.score.mean_ranks, strict=True))

    def cells(row: Any) -> list[str]:
        by_score = [format_number(score.get(row.candidate, float("nan"))), str(row.on_front), str(row.chosen)]
        return [row.candidate, format_number(stability.get(row.candidate, float("nan"))), *by_score[: 3 * scored]]

    out.print(table("candidate", *ranks, rows=map(cells, summary.candidates)))
    for question in (summary.stability, summary.score) if scored else (summary.stability,):
        out.print(" ".join([question.headline, *question.sentences]))
    for dataset in summary.datasets:
        if dataset.failure is not None:
            out.print(f"{dataset.name} could not be studied: {dataset.failure}")


def _print_next(result: "hf.benchmarking.BenchmarkResult", written: list[Path], folder: Path | None) -> None:
    out = console()
    for path in written:
        out.print(f"Written: {path}")
    if folder is None:
        return
    store = next(study.path for study in result.results.values() if study.path is not None)
    out.print(f"Kept in {folder}; the same command resumes it, with more data sets or resamples too.")
    out.print("Next:")
    if not written:
        out.print("  the same command with --report benchmark.html --latex tables.tex --csv values.csv")
    out.print(f"  holdfast report {shlex.quote(str(store))}")
