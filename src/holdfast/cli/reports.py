"""Commands that show results in files or in the browser: report, export, demo, serve."""

import os
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

import holdfast as hf
from holdfast.cli import options
from holdfast.cli.app import DECIDE, START, Json, Level, app, show_and_exit
from holdfast.cli.options import parse_measure, parse_rule
from holdfast.cli.running import read_again
from holdfast.cli.studies import print_summary
from holdfast.cli.terminal import console, notes, print_json, print_stderr, write, write_json
from holdfast.serialization import to_json
from holdfast.text import format_percent

show_schema = show_and_exit(lambda: write_json(to_json(hf.report.Summary.json_schema())))


@app.command(rich_help_panel=DECIDE)
def report(
    store: options.StoreFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Report file (default: NAME-report.html for NAME-study.db)."
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format", "-f", metavar="html|md|json", help="Format (default: by the ending of the file name)."
        ),
    ] = None,
    candidate: options.Candidate = None,
    rule: options.Rule = "one-se",
    metric: options.Metric = None,
    measure: options.MeasureText = None,
    threshold: options.Threshold = 0.5,
    data: options.StudyData = None,
    target: options.Target = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the report.")] = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
    schema: Annotated[
        bool, typer.Option("--schema", is_eager=True, callback=show_schema, help="Show the JSON Schema and exit.")
    ] = False,
) -> None:
    """Write the report of a study as one self-contained file: verdict, trusted features, choice, causes, method.

    With --json the report is printed as JSON and no file is written.

    **Examples**

    `holdfast report study.db -o report.html`

    `holdfast report study.db --format md --rule not-worse`

    `holdfast report study.db --data patients.csv --target status`
    """
    name, parameters = parse_rule(rule)
    options_given: dict[str, Any] = {
        "candidate": candidate, "rule": name, "metric": metric, "level": level, "threshold": threshold,
        "measure": None if measure is None else parse_measure(measure), **({} if title is None else {"title": title}),
        **parameters,
    }  # fmt: skip
    if format not in (None, "html", "md", "json"):
        raise ValueError(f"Expected --format html, md or json, got {format!r}.")
    with notes(quiet):
        result = hf.load_study(store)
        if data is not None:
            rows = read_again(store, result, data, target)
            options_given |= {"X": rows.X, "y": rows.y}
        summary = hf.report.summarize(result, **options_given)
        if as_json:
            write_json(hf.report.render(summary, "json").removesuffix("\n"))
            return
        path = output or Path(f"{store.stem.removesuffix('-study')}-report.{format or 'html'}")
        written = hf.report.write_report(summary, path, format=format)  # type: ignore[arg-type]
    if not quiet:
        write(str(written))


@app.command(rich_help_panel=DECIDE)
def export(
    store: options.StoreFile,
    csv: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for CSV files.")] = None,
    table_format: options.TableText = "csv",
    parquet: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for Parquet files.")] = None,
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="File for the LaTeX table of candidates.")] = None,
    measure: options.MeasureText = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the tables of a study as CSV, Parquet or LaTeX, for spreadsheets, other programs, or a paper.

    The tables are: summary, selections, features, scores, predictions, failures, splits. `holdfast measure` reads the
    selections. The LaTeX table lists the candidates; its caption says how intervals were computed. --measure and
    --level apply to it.

    **Examples**

    `holdfast export study.db --csv tables`

    `holdfast export study.db --parquet tables --latex candidates.tex`
    """
    from holdfast.io.files import as_path

    if csv is None and parquet is None and latex is None:
        raise ValueError("Expected --csv DIR, --parquet DIR or --latex FILE, got none; say what to write.")
    result = hf.load_study(store)
    files: list[Path] = []
    with notes(quiet):
        if csv is not None:
            files += result.export(csv, options.check_table_format(table_format))
        if parquet is not None:
            files += result.export(parquet, "parquet")
        if latex is not None:
            text = result.to_latex(None if measure is None else parse_measure(measure), level=level)
            files.append(as_path(latex))
            files[-1].write_text(text, encoding="utf-8")
    if as_json:
        print_json("files", {"files": [str(file) for file in files]})
    else:
        write("\n".join(map(str, files)))


@app.command(rich_help_panel=DECIDE)
def plot(
    store: options.StoreFile,
    picture: Annotated[
        str, typer.Argument(metavar="PICTURE", help="frequencies, front, replicability, map, or profile.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Picture file: .svg (default: PICTURE.svg), .png, .pdf."),
    ] = None,
    candidate: options.Candidate = None,
    metric: options.Metric = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
) -> None:
    """Draw a picture of a study into a file.

    **Examples**

    `holdfast plot study.db frequencies -o frequencies.svg`

    `holdfast plot study.db front -o front.pdf`
    """
    from holdfast.replication import find_known
    from holdfast.tradeoff.selected import default_candidate

    def draw_replicability(result: "hf.StudyResult", name: str) -> Any:
        found = find_known(result, name, level=level)
        if found is None:
            raise ValueError(f"{store} holds no replicability of {name}; holdfast replicate {store} estimates it.")
        return hf.plots.plot_replicability(found)

    def draw_profile(result: "hf.StudyResult", name: str) -> Any:
        ordered = name if candidate is not None or result.kinds[name] != "subset" else result.family(name)
        return hf.plots.plot_profile(result.profile(ordered, metric=metric, level=level))

    draw: dict[str, Callable[[hf.StudyResult, str], Any]] = {
        "frequencies": lambda result, name: hf.plots.plot_frequencies(result, name, level=level),
        "front": lambda result, _: hf.plots.plot_pareto(result, score=metric, level=level),
        "replicability": draw_replicability,
        "map": lambda result, name: hf.plots.plot_selection_map(result, name),
        "profile": draw_profile,
    }
    if picture not in draw:
        raise ValueError(f"Expected a picture among {', '.join(draw)}, got {picture}.")
    path = Path(f"{picture}.svg") if output is None else output
    with notes(quiet):
        result = hf.load_study(store)
        written = hf.plots.save(draw[picture](result, candidate or default_candidate(result)), path)
    if not quiet:
        write(str(written))


@app.command(rich_help_panel=DECIDE)
def checklist(
    store: options.StoreFile,
    tripod_ai: Annotated[bool, typer.Option("--tripod-ai", help="Prediction models: TRIPOD+AI.")] = False,
    remark: Annotated[bool, typer.Option("--remark", help="Prognostic tumor markers: REMARK.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File: .docx or .md (default: print Markdown)."),
    ] = None,
    candidate: options.Candidate = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
) -> None:
    """Fill in the checklist of a reporting guideline, for a paper and its reviewers.

    Items that the study knows are filled in, with the part of the report where the evidence stands; the others are
    listed as the authors' own.

    **Example**

    `holdfast checklist study.db --tripod-ai -o checklist.docx`
    """
    if tripod_ai == remark:
        raise ValueError("Expected --tripod-ai or --remark, the guideline whose checklist is wanted.")
    with notes(quiet):
        summary = hf.report.summarize(hf.load_study(store), candidate=candidate, level=level)
    guideline = "tripod-ai" if tripod_ai else "remark"
    if output is None:
        write(hf.report.render_checklist(summary, guideline).removesuffix("\n"))
        return
    written = hf.report.write_checklist(summary, output, guideline)
    if not quiet:
        write(str(written))


TITLE = "Breast cancer: which measurements of a biopsy hold?"


@app.command(rich_help_panel=START)
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Report file.")] = Path(
        "holdfast-demo.html"
    ),
    resamples: Annotated[
        int, typer.Option("--resamples", "-n", metavar="N", help="Number of bootstrap samples.")
    ] = 100,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a complete study on embedded data: five selectors, 100 bootstrap samples, a choice, a report.

    The data are 569 biopsies of breast tumors with 30 measurements each.

    **Examples**

    `holdfast demo`

    `holdfast demo --output report.html --json`
    """
    data = hf.datasets.load("breast_cancer")
    if not quiet:
        console(stderr=True).print(
            f"Do the selected features hold? Five selectors run on {resamples} bootstraps of the breast-cancer data."
        )
    with notes(quiet):
        result = _study(resamples).run(data.X, data.y, n_jobs=jobs or 1, progress=not quiet)
        summary = hf.report.summarize(result, X=data.X, title=TITLE)
        hf.report.write_report(summary, output)
    if as_json:
        print_json("demo", {"report": str(output), "summary": summary.to_dict()})
    else:
        _print(result, summary, output)


def _study(resamples: int) -> Any:
    """Two settings of each of five selectors, scored by logistic regression."""
    from holdfast.study.named import named_estimator

    sizes = {"n_features": [5, 10]}
    return hf.Study(
        selectors={
            "anova": hf.Candidates(hf.selectors.AnovaF(), sizes),
            "mrmr": hf.Candidates(hf.selectors.MRMR(), sizes),
            "relieff": hf.Candidates(hf.selectors.ReliefF(), sizes),
            "lasso": hf.Candidates(hf.selectors.ElasticNetPath(), sizes),
            "hybrid_rfe": hf.Candidates(
                hf.selectors.HybridRFE(criterion="golub"), {"n_features": [10], "n_forced": [0, 5]}
            ),
        },
        perturbation=hf.Bootstrap(resamples),
        estimator=named_estimator("linear", {}, "classification"),
        random_state=0,
    )


def _print(result: "hf.StudyResult", summary: "hf.report.Summary", output: Path) -> None:
    out = console()
    out.print(summary.verdict.headline, style="bold")
    for sentence in filter(None, [*summary.verdict.sentences, summary.verdict.next_step]):
        out.print(sentence)
    out.print("")
    print_summary(result, result.summary(), summary.level)
    out.print("")
    if summary.tradeoff.reason:
        out.print(f"The choice: {summary.tradeoff.reason}")
    if summary.features is not None:
        out.print(f"\nHow often {summary.candidate} selected each feature", style="bold")
        for feature in summary.features.shown:
            bar = "█" * round(20 * feature.frequency)
            out.print(f"{feature.feature:>24}  {bar:<20} {format_percent(feature.frequency, 0):>5}  {feature.verdict}")
    out.print(f"\nThe report is in {output}: open it in a browser.")


@app.command(rich_help_panel=START)
def serve(
    folder: Annotated[Path, typer.Argument(help="Folder of the studies; created if missing.")] = Path("."),
    port: Annotated[
        int | None, typer.Option(metavar="PORT", min=0, max=65535, help="Port (default: the first free one from 8730).")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="HOST", help="Address to listen on; the default accepts connections from this machine only."
        ),
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    studies: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of studies that run at the same time; others wait.")
    ] = 1,
    upload_limit: Annotated[int, typer.Option(metavar="MB", min=1, help="Maximum size of an upload.")] = 200,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Create a new token; pages that are open must then be reopened.")
    ] = False,
) -> None:
    """Open a page in the browser: measure selections, run and watch studies, choose, look at features.

    The page is for you alone: it listens on this machine only, and every request needs the token in its address.
    Studies run in separate processes; closing the page or this command loses nothing.

    **Examples**

    `holdfast serve`

    `holdfast serve studies --port 8800 --no-browser`
    """
    missing = [name for name in ("anyio", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise ValueError(f"The page needs {', '.join(missing)}: pip install 'holdfast[app]'")
    if find_spec("resource") is None:
        raise ValueError("The page needs Linux or macOS; all other commands work on this system.")
    from holdfast.web.guard import MEGABYTE
    from holdfast.web.server import serve as serve_folder

    serve_folder(
        folder, host=host, port=port, open_browser=browser, most_uploaded=upload_limit * MEGABYTE, at_once=studies,
        new_token=new_token, say=print_stderr,
    )  # fmt: skip
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if any(not thread.daemon for thread in others):  # threads that prepare results for nobody would delay the exit
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
