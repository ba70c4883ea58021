"""Commands about single features: features, check."""

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from holdfast.cli import options
from holdfast.cli.app import DECIDE, Json, Level, app
from holdfast.cli.running import DEFAULTS, checked_options, read
from holdfast.cli.studies import study
from holdfast.cli.terminal import console, notes, print_json, table, write
from holdfast.text import UNDEFINED, format_count, format_interval, format_number, format_percent, join_first

if TYPE_CHECKING:
    from holdfast.io import Table
    from holdfast.study import StudyResult
    from holdfast.tradeoff import SelectedFeatures

MAX_PRINTED = 30
EFFECT = ("effect", "effect_low", "effect_high")
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
    from holdfast.study import load_study

    result = load_study(store)
    with notes(quiet):
        X = None if data is None else matching_data(store, result, data, target, quiet).X
        found = result.features(candidate, level=level, threshold=threshold, X=X)
    if csv is not None:
        from holdfast.study.exports import write_table

        format = options.check_table_format("xlsx" if csv.suffix == ".xlsx" else table_format)
        write_table(_as_cells(found), csv, format)
    if as_json:
        print_json("features", found.to_dict())
    elif csv is not None:
        write(str(csv))
    else:
        _print_features(found)


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
    threshold: options.Threshold = 0.5,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Check a list of features against a study: whether each would be selected again.

    **Examples**

    `holdfast check genes.txt --store study.db`

    `holdfast check "age, stage, ki67" --store study.db --candidate "lasso(n_features=10)"`
    """
    from holdfast.study import load_study
    from holdfast.tradeoff import check_features
    from holdfast.tradeoff.selected import default_candidate, features_that_count

    wanted, result = read_list(names, column), load_study(store)
    with notes(quiet):
        chosen = default_candidate(result) if candidate is None else candidate
        found = result.features(chosen, level=level, threshold=threshold)
        top = features_that_count(result, chosen)
        checked = check_features(wanted, result, chosen, level=level, threshold=threshold, top=top)
    strengths = found.frame.assign(feature=found.frame["feature"].astype(str)).set_index("feature")
    rows: list[dict[str, Any]] = []
    for name, row in zip(wanted, cast("list[dict[str, Any]]", checked.to_dict(orient="records")), strict=True):
        effect = {column: float(strengths[column].get(name, float("nan"))) for column in EFFECT}
        rows.append({"feature": name, **row, "direction": strengths["direction"].get(name), **effect})
    _refuse_unknown(rows, result)
    sentence = judge_list(rows, found)
    if as_json:
        print_json("check", {"candidate": chosen, "features": rows, "conclusion": sentence})
    else:
        _print_check(rows, found, result, sentence)


# Lists


def read_list(names: str, column: str | None) -> list[str]:
    """Return the names of a list: of a file, or as they stand."""
    path = Path(names)
    if not path.is_file():
        if path.suffix in (".txt", ".csv", ".tsv"):
            raise ValueError(f"There is no file {names}; give a file with names, or names separated by commas.")
        found = [name.strip() for name in names.split(",")]
    elif path.suffix.lower() in (".csv", ".tsv") or column is not None:
        found = _read_column(path, column)
    else:
        found = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    kept = list(dict.fromkeys(name for name in found if name))
    if not kept:
        raise ValueError(
            f"Expected names of features, got {names!r} with none; give names separated by commas, or a file with one "
            "name per line."
        )
    return kept


def _read_column(path: Path, column: str | None) -> list[str]:
    import pandas as pd

    from holdfast.declared import did_you_mean

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


def _refuse_unknown(rows: Sequence[Mapping[str, Any]], result: "StudyResult") -> None:
    if all(row["verdict"] == "unknown" for row in rows):
        from holdfast.declared import did_you_mean

        first = str(rows[0]["feature"])
        hint = did_you_mean(first, list(map(str, result.feature_names)))
        raise ValueError(f"No feature of the study has a name of this list, such as {first!r}{hint}")


def _count_verdict(count: int, verdict: str) -> str:
    """Return how many features have a verdict, as part of a sentence: "8 do not hold (may be chance)"."""
    head, _, more = verdict.partition("; ")
    verbs = {"takes turns": "take turns", "does not hold": "do not hold"}
    said = f"{'is' if count == 1 else 'are'} {head}" if head not in verbs else head if count == 1 else verbs[head]
    return f"{count} {said}" + (f" ({more})" if more else "")


def judge_list(rows: Sequence[Mapping[str, Any]], found: "SelectedFeatures") -> str:
    """Return whether a list holds as a whole, in a sentence or two."""
    verdicts = [str(row["verdict"]) for row in rows]
    often = [verdict for verdict in verdicts if verdict.startswith(("holds", "selected often"))]
    size, holds = format_count(len(rows), "feature"), not often or often[0] == "holds"
    verb = ("holds" if len(often) == 1 else "hold") if holds else f"{'is' if len(often) == 1 else 'are'} {often[0]}"
    head = f"The list as a whole does not hold: of {size}, {len(often) or 'none'} {verb}."
    if len(often) == len(rows):
        head = f"The whole list {'holds' if holds else f'is {often[0]}'} ({size})."
    others = [verdict for verdict in dict.fromkeys(verdicts) if verdict not in often]
    counts = [_count_verdict(verdicts.count(verdict), verdict) for verdict in others]
    listed = {str(row["feature"]) for row in rows}
    table = found.frame
    absent = [
        str(name)
        for name, verdict in zip(table["feature"], table["verdict"], strict=True)
        if verdict.startswith(("holds", "selected often")) and str(name) not in listed
    ]
    more = f" Selected as often, but not on the list: {join_first(absent, 6)}."
    return head + (f" Of the others, {'; '.join(counts)}." if counts else "") + (more if absent else "")


# The data


def matching_data(store: Path, result: "StudyResult", data: Path, target: str | None, quiet: bool) -> "Table":
    """Read the data of a study again, with the options that it was begun with; raise if they are others."""
    from holdfast.study.data import prepare_data
    from holdfast.study.plan import fingerprint
    from holdfast.study.store import read_meta

    command = read_meta(store)["command"]
    stored = {} if command is None else checked_options(command, study, str(store))
    given = {"data": str(data), **({} if target is None else {"target": target})}
    if command is None and result.data.target is not None:
        given = {"target": result.data.target, **given}
    table = read({**DEFAULTS, **stored, **given}, quiet=True)
    prepared = prepare_data(table.X, table.y, table.groups, result.plan["keep"], result.task, None)
    found = fingerprint(prepared.X, prepared.y, prepared.groups, prepared.covariates, prepared.names)
    if found != result.plan["data"]:
        differs = [key for key in found if found[key] != result.plan["data"].get(key)]
        raise ValueError(
            f"Expected the data of the study in {data}, got others ({', '.join(differs)} differ); give the file that "
            "the study was run on."
        )
    return table


# Printing


def _as_cells(found: "SelectedFeatures") -> Any:
    """The table as it is printed: effects beside their directions, lists as text, and no name that is a formula."""
    from holdfast.io.selections import protect_formula
    from holdfast.tradeoff.selected import toward_direction

    frame = found.frame.copy()
    rows = cast("list[dict[str, Any]]", frame.to_dict(orient="records"))
    frame[list(EFFECT)] = [toward_direction(row, found.effect) for row in rows] if rows else None
    return frame.assign(
        feature=[protect_formula(str(name)) for name in frame["feature"]],
        stand_ins=[protect_formula("; ".join(map(str, names))) for names in frame["stand_ins"]],
    )


def effect_text(row: Mapping[str, Any], found: "SelectedFeatures") -> str:
    """An effect with its interval, as it is told beside its direction."""
    from holdfast.tradeoff.selected import toward_direction

    effect, low, high = toward_direction(row, found.effect)
    return UNDEFINED if effect != effect else f"{format_number(effect)} {format_interval(low, high)}"


def _print_features(found: "SelectedFeatures") -> None:
    out, rows = console(), found.frame.head(MAX_PRINTED).to_dict(orient="records")
    cut = "" if found.top is None else f" (the best {found.top} of each count)"
    size = f"{format_count(len(found.frame), 'feature')} of {found.n_features:,}"
    out.print(f"{found.candidate}: {size} were ever selected in {format_count(found.n_runs, 'resample')}{cut}.")
    uses = ("in models",) if found.has_model_use else ()
    cells = (
        [*_cells(row, found), *(row["model_use"] or "–" for _ in uses), ", ".join(map(str, row["stand_ins"][:3])),
         row["verdict"]]
        for row in cast("list[dict[str, Any]]", rows)
    )  # fmt: skip
    out.print(table(*_headers(found), *uses, "stand-ins", "verdict", rows=cells))
    if len(found.frame) > MAX_PRINTED:
        least = f"at most {format_percent(found.frame['frequency'].iloc[MAX_PRINTED], 0)} of the resamples"
        out.print(f"{len(found.frame) - MAX_PRINTED:,} more were selected in {least}; --csv FILE writes all.")
    out.print(f"No effects: {found.missing}." if found.missing else found.scope)
    if uses:
        from holdfast.tradeoff.selected import MODEL_SCOPE

        out.print(MODEL_SCOPE)


def _headers(found: "SelectedFeatures") -> list[str]:
    ends = f"{format_percent(found.level)} interval"
    return ["feature", "frequency", ends, "direction", f"{found.effect or 'effect'} [interval]"]


def _cells(row: Mapping[str, Any], found: "SelectedFeatures") -> list[str]:
    """What every table says of a feature: how often it was selected, in which direction, and how strong it is."""
    known = row["low"] == row["low"]
    interval = f"{100 * row['low']:.0f} to {100 * row['high']:.0f} %" if known else "–"
    frequency = format_percent(row["frequency"], 0)
    return [str(row["feature"]), frequency, interval, row["direction"] or "–", effect_text(row, found)]


def _print_check(
    rows: Sequence[Mapping[str, Any]], found: "SelectedFeatures", result: "StudyResult", sentence: str
) -> None:
    from holdfast.declared import did_you_mean

    out, known = console(), list(map(str, result.feature_names))

    def verdict(row: Mapping[str, Any]) -> str:
        hint = did_you_mean(row["feature"], known).rstrip(".") if row["verdict"] == "unknown" else ""
        return f"{row['verdict']}{hint}"

    out.print(f"Checked against {found.candidate}, {format_count(found.n_runs, 'resample')}.")
    out.print(table(*_headers(found), "verdict", rows=([*_cells(row, found), verdict(row)] for row in rows)))
    out.print(sentence)
