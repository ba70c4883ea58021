"""The command that writes a study's tables for other tools: export."""

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli import options
from holdfast.cli.app import DECIDE, Json, Level, app
from holdfast.cli.parsing import parse_measure
from holdfast.cli.printing import notes, print_json
from holdfast.cli.terminal import write


@app.command(rich_help_panel=DECIDE)
def export(
    store: options.StoreFile,
    csv: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for CSV files.")] = None,
    parquet: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for Parquet files.")] = None,
    latex: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the table of candidates in LaTeX, for a paper.")
    ] = None,
    measure: options.MeasureText = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a study's tables as CSV, Parquet or LaTeX, for spreadsheets, other programs, or a paper.

    The tables are: summary, selections, features, scores, predictions, failures, splits. `holdfast measure` reads the
    selections. The LaTeX table has the candidates, with a caption that says how intervals were made; --measure and
    --level are for it.

    **Examples**

    `holdfast export study.db --csv tables`

    `holdfast export study.db --parquet tables --latex candidates.tex`
    """
    from holdfast.io.files import as_path
    from holdfast.study import load_study

    if csv is None and parquet is None and latex is None:
        raise ValueError("Expected --csv DIR, --parquet DIR or --latex FILE, got none; say what to write.")
    result = load_study(store)
    files: list[Path] = []
    with notes(quiet):
        if csv is not None:
            files += result.export(csv, "csv")
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
