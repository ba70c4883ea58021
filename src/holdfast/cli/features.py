"""Commands about single features: features, check."""

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import holdfast as hf
from holdfast import replication
from holdfast.cli import options
from holdfast.cli.app import DECIDE, Json, Level, app
from holdfast.cli.decisions import replicate_stored
from holdfast.cli.running import read_again
from holdfast.cli.terminal import close_gate, console, notes, print_json, quote_path, table, write
from holdfast.declared import did_you_mean
from holdfast.text import (
    LEGEND,
    UNDEFINED,
    format_again,
    format_count,
    format_interval,
    format_number,
    format_percent,
)

if TYPE_CHECKING:
    import pandas as pd


MAX_PRINTED = 30
NAME_COLUMNS = ("feature", "features", "name", "gene")
"""Headers of the column that holds the names, in a table of features."""


@app.command(rich_help_panel=DECIDE)
def features(
    store: options.StoreFile,
    candidate: options.Candidate = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV file to which all features are written.")
    ] = None,
    table_format: options.TableText = "csv",
    threshold: options.Threshold = 0.5,
    data: options.StudyData = None,
    target: options.Target = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """List the selected features of a study: selection frequency, direction, and effect on held-out rows.

    **Examples**

    `holdfast features study.db`

    `holdfast features study.db --candidate "anova(n_features=10)" --csv features.csv`
    """
    result = hf.load_study(store)
    with notes(quiet):
        X = None if data is None else read_again(store, result, data, target).X
        selected = result.features(candidate, level=level, threshold=threshold, X=X)
    if csv is not None:
        from holdfast.study.exports import write_table

        write_table(selected.to_frame(), csv, options.check_table_format(table_format, csv))
    if as_json:
        print_json("features", selected.to_dict())
    elif csv is not None:
        write(str(csv))
    else:
        _print_features(selected)


@app.command(rich_help_panel=DECIDE)
def check(
    names: Annotated[
        str,
        typer.Argument(
            metavar="LIST",
            help="Names separated by commas, a file with one name per line, or a CSV file with a column of names.",
        ),
    ],
    store: Annotated[Path, typer.Option("--store", metavar="FILE", help="Store of the study to check against.")],
    column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the CSV file that holds the names.")
    ] = None,
    candidate: options.Candidate = None,
    require: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Exit with code 3 unless at least this share of the list holds, for CI."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Data file of the study, to estimate what a new study would select if that is not stored yet.",
        ),
    ] = None,
    target: options.Target = None,
    allow: options.Allow = None,
    threshold: options.Threshold = 0.5,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Check your own list against a study: how often each feature is selected, and how many a new study would select.

    **Examples**

    `holdfast check genes.txt --store study.db`

    `holdfast check "age, stage, ki67" --store study.db --candidate "lasso(n_features=10)"`

    `holdfast check genes.txt --store study.db --data patients.csv`

    `holdfast check genes.txt --store study.db --require 0.8`
    """
    from holdfast.study.stabilities import features_that_count
    from holdfast.tradeoff.selected import default_candidate

    if require is not None and not 0 <= require <= 1:
        raise ValueError(f"Expected a share from 0 to 1 for --require, got {require}.")
    result = hf.load_study(store)
    features = list(dict.fromkeys(replication.name_features(read_list(names, column), result)))
    _refuse_unknown(features, result)
    with notes(quiet):
        chosen = default_candidate(result) if candidate is None else candidate
        X = None if data is None else read_again(store, result, data, target).X
        top = features_that_count(result, chosen)
        known = replication.find_known(result, chosen, level=level, X=X)
    if data is not None and not replication.knows_lists(known):
        typed = {"data": str(data), **({} if target is None else {"target": target})}
        known = replicate_stored(store, chosen, typed, allow, top=top, quiet=quiet).at_level(level)
    with notes(quiet):
        checked = replication.check_list(
            features, result, chosen, known=known, X=X, level=level, threshold=threshold, top=top
        )
    gate = None if require is None else checked.judge(require)
    if as_json:
        rows = checked.frame.reset_index().to_dict(orient="records")
        record = {"candidate": chosen, "features": rows, "conclusion": checked.conclusion,
                  "new_study": checked.new_study.to_dict(), "real": checked.frame.attrs["real"]}  # fmt: skip
        print_json("check", record | ({} if gate is None else {"passed": gate[1]}))
    else:
        _print_check(checked, result)
        command = f"holdfast check {quote_path(names)} --store {quote_path(store)} --data FILE"
        console().print(checked.new_study.sentence.replace("X= and y= estimate", f"{command} estimates"))
        if checked.frame.attrs["real"]:
            console().print(checked.frame.attrs["real"])
    if gate is not None:
        close_gate(*gate)


# Lists


def read_list(names: str, column: str | None) -> list[str]:
    """Return the names of a list: of a file, or as they stand."""
    path = Path(names)
    if not path.is_file():
        if path.suffix in (".txt", ".csv", ".tsv"):
            raise ValueError(f"There is no file {names}; give a file with names, or names separated by commas.")
        listed = [name.strip() for name in names.split(",")]
    elif path.suffix.lower() in (".csv", ".tsv") or column is not None:
        listed = _read_column(path, column)
    else:
        listed = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    distinct = list(dict.fromkeys(name for name in listed if name))
    if not distinct:
        raise ValueError(
            f"Expected names of features, got {names!r} with none; give names separated by commas, or a file with one "
            "name per line."
        )
    return distinct


def _read_column(path: Path, column: str | None) -> list[str]:
    import pandas as pd

    text = path.read_text(encoding="utf-8-sig", errors="replace")
    header = text.partition("\n")[0]
    separator = max(",", ";", "\t", key=header.count)  # as Excel writes it in half of Europe
    frame = pd.read_csv(StringIO(text), sep=separator, dtype=str)
    if column is not None and column not in frame.columns:
        raise ValueError(f"Expected the column {column!r} in {path}{did_you_mean(column, frame.columns)}")
    known = [name for name in frame.columns if str(name).strip().lower() in NAME_COLUMNS]
    chosen = column or (known[0] if known else frame.columns[0])
    values = frame[chosen].dropna().str.strip().tolist()
    return values if known or column else [str(chosen).strip(), *values]  # a list without a header begins at once


def _refuse_unknown(listed: Sequence[str], result: "hf.StudyResult") -> None:
    known = list(map(str, result.feature_names))
    if set(listed).isdisjoint(known):
        hint = did_you_mean(listed[0], known)
        raise ValueError(f"No feature of the study has a name of this list, such as {listed[0]!r}{hint}")


# Printing

ADJUSTED = "adjusted [interval]"


def _print_features(selected: "hf.tradeoff.SelectedFeatures") -> None:
    out, frame = console(), selected.to_frame()
    cut = "" if selected.top is None else f" (the best {selected.top} of each count)"
    size = f"{format_count(len(selected.frame), 'feature')} of {selected.n_features:,}"
    out.print(f"{selected.candidate}: {size} were ever selected in {format_count(selected.n_runs, 'resample')}{cut}.")
    uses = ("in models",) if selected.has_model_use else ()
    headers = _headers(selected, frame)
    cells = (
        [*_cells(row, headers), *(row["model_use"] or "–" for _ in uses), ", ".join(map(str, row["stand_ins"][:3])),
         row["verdict"]]
        for row in cast("list[dict[str, Any]]", frame.head(MAX_PRINTED).to_dict(orient="records"))
    )  # fmt: skip
    out.print(table(*headers, *uses, "stand-ins", "verdict", rows=cells))
    if len(selected.frame) > MAX_PRINTED:
        least = f"at most {format_percent(selected.frame['frequency'].iloc[MAX_PRINTED], 0)} of the resamples"
        out.print(f"{len(selected.frame) - MAX_PRINTED:,} more were selected in {least}; --csv FILE writes all.")
    for sentence in selected.legend:
        out.print(sentence)
    out.print(f"No effects: {selected.missing}." if selected.missing else selected.scope)
    if selected.adjusted_for is not None:
        out.print(f"The selection and adjusted effects are adjusted for {selected.adjusted_for}.")
    if uses:
        from holdfast.tradeoff.selected import MODEL_SCOPE

        out.print(MODEL_SCOPE)


def _headers(selected: "hf.tradeoff.SelectedFeatures", frame: "pd.DataFrame") -> list[str]:
    numbers = [name.replace("_", " ") for name in LEGEND if frame[name].notna().any()]
    ends = f"{format_percent(selected.level)} interval"
    effects = [f"{selected.effect or 'effect'} [interval]", *([ADJUSTED] if "adjusted_effect" in frame else [])]
    return ["feature", "frequency", ends, *numbers, "direction", *effects]


def _cells(row: Mapping[str, Any], headers: Sequence[str]) -> list[str]:
    """What every table says of a feature: how often it was selected, in which direction, and how strong it is."""
    interval = f"{100 * row['low']:.0f} to {100 * row['high']:.0f} %" if row["low"] == row["low"] else UNDEFINED
    frequency = UNDEFINED if row["frequency"] != row["frequency"] else format_percent(row["frequency"], 0)
    effects = [
        UNDEFINED
        if row[name] != row[name]
        else f"{format_number(row[name])} {format_interval(row[f'{kind}_low'], row[f'{kind}_high'])}"
        for name, kind in (("effect", "effect"), ("adjusted_effect", "adjusted"))[: 1 + (ADJUSTED in headers)]
    ]
    numbers = {"new study": format_again(row["new_study"]), "q": format_number(row["q"]),
               "used": format_percent(row["used"], 0)}  # fmt: skip
    known = [cell for header, cell in numbers.items() if header in headers]
    return [str(row["feature"]), frequency, interval, *known, row["direction"] or UNDEFINED, *effects]


def _print_check(checked: "replication.ListCheck", result: "hf.StudyResult") -> None:
    out, selected, known = console(), checked.found, list(map(str, result.feature_names))

    def verdict(row: Mapping[str, Any]) -> str:
        hint = did_you_mean(row["feature"], known).rstrip(".") if row["verdict"] == "unknown" else ""
        return f"{row['verdict']}{hint}"

    rows = cast("list[dict[str, Any]]", checked.frame.reset_index().to_dict(orient="records"))
    out.print(f"Checked against {selected.candidate}, {format_count(selected.n_runs, 'resample')}.")
    headers = _headers(selected, checked.frame)
    out.print(table(*headers, "verdict", rows=([*_cells(row, headers), verdict(row)] for row in rows)))
    for name, sentence in LEGEND.items():
        if name.replace("_", " ") in headers:
            out.print(sentence)
    out.print(checked.conclusion)
