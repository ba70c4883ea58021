"""The command that runs one study on several data sets: benchmark."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import options
from holdfast.cli.app import STUDIES, Json, Level, app
from holdfast.cli.configuration import check_trust, trust_by_option
from holdfast.cli.parsing import parse_measure, parse_rule
from holdfast.cli.printing import counted, notes, number, print_json
from holdfast.cli.reading import read
from holdfast.cli.running import DEFAULTS, planned, stopped_cleanly, typed_options
from holdfast.cli.terminal import console, table
from holdfast.cli.tradeoffs import STUDY, USUAL

if TYPE_CHECKING:
    from holdfast.benchmarking import BenchmarkResult
    from holdfast.io import Table
    from holdfast.report import BenchmarkSummary

FOLDER = "benchmark-stores"


@app.command(rich_help_panel=STUDIES)
def benchmark(
    ctx: typer.Context,
    tables: Annotated[
        list[str],
        typer.Argument(metavar="TABLE…", help="Data files (FILE or FILE:TARGET), or names of known data sets."),
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="What is to be predicted, in files without a :TARGET.")
    ] = None,
    select: options.Select = None,
    rule: options.Rule = "one-se",
    metric: options.Metric = None,
    measure: options.MeasureText = None,
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
    accept: options.Accept = None,
    transpose: options.Transpose = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    device: options.Device = None,
    store_dir: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder with one store per data set; resumed if it is there.")
    ] = Path(FOLDER),
    no_store: Annotated[bool, typer.Option("--no-store", help="Keep nothing on disk.")] = False,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report: .html, .md or .json.")] = None,
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="Write tables for a paper (booktabs).")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all values with all digits.")] = None,
    rope: Annotated[
        float, typer.Option(metavar="WIDTH", help="Differences up to WIDTH are practically none (Bayesian comparison).")
    ] = 0.01,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Run the same selectors on several data sets, and compare their stability and accuracy over all of them.

    What is finished is kept in a folder; the same command resumes it. Without --select, a filter and a lasso with three
    settings each are tried.

    **Examples**

    `holdfast benchmark colon.csv leukemia.csv --target status -s anova:k=10 -s lasso:k=10 --report out.html`

    `holdfast benchmark a.csv:relapse b.parquet:status breast_cancer -s "anova:k=5|10" --latex tables.tex`
    """
    name, parameters = parse_rule(rule)
    if parameters:
        raise ValueError(f"Expected a rule without parameters for a benchmark, got {rule!r}.")
    typed = typed_options(ctx, set(STUDY) - {"data", "store"})
    chosen = {**DEFAULTS, **USUAL, **typed}
    trust = trust_by_option(typed, None, "the defaults")
    check_trust(chosen, trust)
    data = _read_tables(tables, chosen, quiet)
    folder = None if no_store else store_dir
    with notes(quiet), stopped_cleanly(None if folder is None else "the same command does"), _naming_the_folder():
        from holdfast.benchmarking import benchmark as run_benchmark

        result = run_benchmark(
            data, planned(chosen, _common_task(data), trust), store_dir=folder, n_jobs=chosen["jobs"],
            progress=not quiet, metric=metric, measure=None if measure is None else parse_measure(measure), level=level,
            time_limit=chosen.get("time_limit"),
        )  # fmt: skip
    if not result.results:
        failed, reason = next(iter(result.failures.items()))
        raise ValueError(f"No data set could be studied; {failed}: {reason}")
    with notes(quiet):
        summary = result.summary(rule=name, rope=rope)
        written = _write(summary, report, latex, csv)
    if as_json:
        print_json("benchmark", {key: value for key, value in summary.to_dict().items() if key != "schema"})
        return
    _print(summary)
    if not quiet:
        _print_next(result, written, folder)


# Tables


def _read_tables(tables: list[str], chosen: dict[str, Any], quiet: bool) -> "dict[str, Table]":
    """Read every table; a name is that of its file, or as it was typed where two files have the same."""
    asked = [_split_target(text, chosen.get("target")) for text in tables]
    stems = [_stem(data) for data, _ in asked]
    names = [data if stems.count(stem) > 1 else stem for (data, _), stem in zip(asked, stems, strict=True)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Expected different data sets, got {name!r} twice.")
    found = {}
    for name, (data, target) in zip(names, asked, strict=True):
        try:
            found[name] = read({**chosen, "data": data, "target": target}, quiet, name)
        except ValueError as error:
            raise ValueError(f"{data}: {error}" if data not in str(error) else str(error)) from None
    return found


def _split_target(text: str, target: str | None) -> tuple[str, str | None]:
    """Separate FILE:TARGET; a file of that whole name, or a known data set, has no target in it."""
    from holdfast.io.files import as_path

    file, colon, own = text.rpartition(":")
    if colon and own and not as_path(text).exists() and as_path(file).exists():
        return str(as_path(file)), own
    return str(as_path(text)), target


def _stem(data: str) -> str:
    name = Path(data).name.removesuffix(".gz")
    return Path(name).stem if Path(data).exists() else data


def _common_task(data: "dict[str, Table]") -> str:
    tasks = {name: found.task for name, found in data.items()}
    if len(set(tasks.values())) > 1:
        told = ", ".join(f"{task} ({name})" for name, task in tasks.items())
        raise ValueError(f"Expected data sets of one task, got {told}; give --task, or run two benchmarks.")
    return next(iter(tasks.values()))


@contextmanager
def _naming_the_folder() -> Iterator[None]:
    """Say where another study can be stored."""
    from holdfast.study import StoreError

    try:
        yield
    except StoreError as error:
        raise ValueError(f"{error} Another folder is given by --store-dir.") from None


# Showing


def _write(summary: "BenchmarkSummary", report: Path | None, latex: Path | None, csv: Path | None) -> list[Path]:
    from holdfast.report import benchmark_csv, benchmark_latex, write_benchmark
    from holdfast.report.benchmark_render import write_text

    written = []
    if report is not None:
        written.append(write_benchmark(summary, report))
    for path, render in ((latex, benchmark_latex), (csv, benchmark_csv)):
        if path is not None:
            write_text(render(summary), path)
            written.append(path)
    return written


def _print(summary: "BenchmarkSummary") -> None:
    """Print mean ranks, and what was shown."""
    out = console()
    out.print(f"{counted(len(summary.candidates), 'candidate')} on {counted(len(summary.datasets), 'data set')}")
    scored = summary.metric is not None
    ranks = ["rank of stability", *([f"rank of {summary.metric}", "on the front", "chosen"] if scored else [])]
    rows = table("candidate", *ranks)
    stability = dict(zip(summary.stability.candidates, summary.stability.mean_ranks, strict=True))
    score = dict(zip(summary.score.candidates, summary.score.mean_ranks, strict=True))
    for row in summary.candidates:
        cells = [number(stability.get(row.candidate, float("nan")), ".2f")]
        if scored:
            cells += [number(score.get(row.candidate, float("nan")), ".2f"), str(row.on_front), str(row.chosen)]
        rows.add_row(row.candidate, *cells)
    out.print(rows)
    for question in (summary.stability, summary.score) if scored else (summary.stability,):
        out.print(" ".join([question.headline, *question.sentences]), soft_wrap=True)
    for dataset in summary.datasets:
        if dataset.failure is not None:
            out.print(f"{dataset.name} could not be studied: {dataset.failure}", soft_wrap=True)


def _print_next(result: "BenchmarkResult", written: list[Path], folder: Path | None) -> None:
    out = console()
    for path in written:
        out.print(f"Written: {path}", soft_wrap=True)
    if folder is None:
        return
    store = next(study.path for study in result.results.values() if study.path is not None)
    out.print(f"Kept in {folder}; the same command resumes it, with more data sets or resamples too.", soft_wrap=True)
    out.print("Next:")
    if not written:
        out.print("  the same command with --report benchmark.html --latex tables.tex --csv values.csv")
    out.print(f"  holdfast report {shlex.quote(str(store))}", soft_wrap=True)
