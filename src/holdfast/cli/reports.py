"""The command that writes a report."""

from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.cli import options
from holdfast.cli.app import DECIDE, Json, Level, app
from holdfast.cli.features import matching_data
from holdfast.cli.parsing import parse_measure, parse_rule
from holdfast.cli.printing import notes
from holdfast.cli.terminal import write, write_json
from holdfast.serialization import to_json


def _print_schema(wanted: bool) -> None:
    if wanted:
        from holdfast.report import Summary

        write_json(to_json(Summary.json_schema()))
        raise typer.Exit


@app.command(rich_help_panel=DECIDE)
def report(
    store: options.StoreFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write (default: NAME-report.html for NAME-study.db)."
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="html|md|json", help="Format, if the file name does not tell."),
    ] = None,
    candidate: Annotated[
        str | None, typer.Option(metavar="NAME", help="Candidate to report (default: the chosen one).")
    ] = None,
    rule: options.Rule = "one-se",
    metric: options.Metric = None,
    measure: options.MeasureText = None,
    threshold: Annotated[
        float, typer.Option(metavar="SHARE", help="Selection frequency that a trusted feature must exceed.")
    ] = 0.5,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The data of the study, read as the study read them: stand-ins must then be correlated, and "
            "single rows are drawn on the page.",
        ),
    ] = None,
    target: options.Target = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the report.")] = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
    schema: Annotated[
        bool,
        typer.Option("--schema", is_eager=True, callback=_print_schema, help="Show the JSON Schema and exit."),
    ] = False,
) -> None:
    """Write a study's report into one file that needs no network: verdict, features to trust, choice, causes, method.

    With --json the report is printed as JSON and no file is written.

    **Examples**

    `holdfast report study.db -o report.html`

    `holdfast report study.db --format md --rule not-worse`

    `holdfast report study.db --data patients.csv --target status`
    """
    from holdfast.report import render, summarize, write_report
    from holdfast.study import load_study

    name, parameters = parse_rule(rule)
    options_given: dict[str, Any] = {
        "candidate": candidate, "rule": name, "metric": metric, "level": level, "threshold": threshold,
        "measure": None if measure is None else parse_measure(measure), **({} if title is None else {"title": title}),
        **parameters,
    }  # fmt: skip
    if format not in (None, "html", "md", "json"):
        raise ValueError(f"Expected --format html, md or json, got {format!r}.")
    with notes(quiet):
        result = load_study(store)
        if data is not None:
            rows = matching_data(store, result, data, target, quiet)
            options_given |= {"X": rows.X, "y": rows.y}
        summary = summarize(result, **options_given)
        if as_json:
            write_json(render(summary, "json").removesuffix("\n"))
            return
        path = output or Path(f"{store.stem.removesuffix('-study')}-report.{format or 'html'}")
        written = write_report(summary, path, format=format)  # type: ignore[arg-type]
    if not quiet:
        write(str(written))
