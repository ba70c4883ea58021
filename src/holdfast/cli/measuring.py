"""Commands that measure selections that were made elsewhere: measure, compare, measures."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from holdfast.cli.app import ELSEWHERE, Json, Level, app
from holdfast.cli.options import Quiet
from holdfast.cli.parsing import literal, parse_measure
from holdfast.cli.printing import notes, print_comparisons, print_estimates, print_json
from holdfast.cli.terminal import console, table

if TYPE_CHECKING:
    from holdfast.measures import Measure
    from holdfast.preferences import Kind, Preferences

KindOption = Annotated[str | None, typer.Option(help="What the matrix holds: subset, ranking or weighting.")]
Top = Annotated[int | None, typer.Option(metavar="K", help="Cut rankings or weights to the K best.")]
NFeatures = Annotated[
    int | None, typer.Option(metavar="N", help="For lists: how many features there were to choose from.")
]
Features = Annotated[Path | None, typer.Option(metavar="FILE", help="For lists: all feature names, one per line.")]
Data = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Samples × features, for measures that know stand-ins.")
]
Similarity = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Features × features similarity, instead of --data.")
]
Transpose = Annotated[bool, typer.Option("--transpose", help="Matrices have one row per feature, one column per run.")]
UndefinedOption = Annotated[
    str, typer.Option(metavar="nan|skip|raise|NUMBER", help="What to do where a measure is undefined.")
]


@app.command(rich_help_panel=ELSEWHERE)
def measure(
    file: Annotated[Path, typer.Argument(help="Selections: a matrix (CSV, TSV, Parquet) or lists (JSON, text).")],
    measures: Annotated[
        list[str],
        typer.Option("--measure", "-m", metavar="NAME[:param=value,…]", help="What to measure; may be repeated."),
    ] = ["nogueira"],  # noqa: B006
    kind: KindOption = None,
    top: Top = None,
    n_features: NFeatures = None,
    features: Features = None,
    transpose: Transpose = False,
    data: Data = None,
    similarity: Similarity = None,
    corrected: Annotated[bool, typer.Option("--corrected", help="Correct the measures for chance.")] = False,
    undefined: UndefinedOption = "nan",
    method: Annotated[
        str, typer.Option(metavar="jackknife|bootstrap|asymptotic", help="Method of the interval.")
    ] = "jackknife",
    level: Level = 0.95,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Measure how stable the selections in FILE are.

    **Examples**

    `holdfast measure runs.csv`

    `holdfast measure genes.txt --n-features 20000 -m nogueira -m jaccard`

    `holdfast measure weights.csv --kind weighting --top 10 -m jaccard`

    `holdfast measure runs.csv -m intersection_mbm:threshold=0.8 --data patients.csv`

    `holdfast measure genes_by_runs.csv --transpose`
    """
    from holdfast.inference.estimate import stability

    with notes(quiet):
        preferences = _selections(file, kind, top, features, n_features, transpose)
        measures_ready = _with_similarity([parse_measure(text) for text in measures], data, similarity)
        estimates = stability(
            preferences,
            measures_ready,
            corrected=corrected,
            X=_data_matrix(data, preferences),
            undefined=_undefined(undefined),
            method=cast(Any, method),
        )
    if as_json:
        record = {
            "file": str(file),
            "kind": preferences.kind,
            "estimates": [estimate.to_dict(level) for estimate in estimates],
        }
        print_json("measurement", record)
    else:
        print_estimates(preferences, estimates, level)


@app.command(rich_help_panel=ELSEWHERE)
def compare(
    files: Annotated[list[Path], typer.Argument(help="Selections of two or more selectors, one file each.")],
    measure_text: Annotated[
        str, typer.Option("--measure", "-m", metavar="NAME[:param=value,…]", help="What to measure.")
    ] = "nogueira",
    paired: Annotated[
        bool | None,
        typer.Option(
            "--paired/--independent", help="Did run i of all files use the same resample? Labels tell it too."
        ),
    ] = None,
    kind: KindOption = None,
    top: Top = None,
    n_features: NFeatures = None,
    features: Features = None,
    transpose: Transpose = False,
    data: Data = None,
    similarity: Similarity = None,
    undefined: UndefinedOption = "nan",
    level: Level = 0.95,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compare the stabilities of selectors, each with each, with Holm's correction.

    Selectors that share a letter do not differ significantly.

    **Examples**

    `holdfast compare lasso.csv mrmr.csv --paired`

    `holdfast compare a.csv b.csv c.csv -m jaccard --independent`
    """
    from holdfast.inference.comparison import compare_many

    if len(files) < 2:
        raise ValueError(f"Expected at least two files to compare, got {len(files)}.")
    if len(set(files)) < len(files):
        raise ValueError(f"Expected each file once, got {', '.join(map(str, files))}.")
    names = [file.stem for file in files] if len({file.stem for file in files}) == len(files) else map(str, files)
    with notes(quiet):
        selections = {
            name: _selections(file, kind, top, features, n_features, transpose)
            for name, file in zip(names, files, strict=True)
        }
        (measure,) = _with_similarity([parse_measure(measure_text)], data, similarity)
        comparisons = compare_many(
            selections,
            measure,
            paired=paired,
            level=level,
            X=_data_matrix(data, next(iter(selections.values()))),
            undefined=_undefined(undefined),
        )
    if as_json:
        record = {
            "measure": measure.label,
            "level": level,
            "selections": comparisons.to_frame().to_dict(orient="records"),
            "pairs": comparisons.pairs.to_dict(orient="records"),
        }
        print_json("comparison", record)
    else:
        print_comparisons(measure.label, comparisons)


@app.command("measures", rich_help_panel=ELSEWHERE)
def list_measures(
    show_properties: Annotated[
        bool, typer.Option("--properties", help="Show which properties hold, and in brackets where the papers differ.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List all measures of stability."""
    from holdfast.measures import MEASURES, properties

    facts = MEASURES.to_frame()
    if as_json:
        print_json("records", {"measures": facts.join(properties().drop(columns="kind"))})
        return
    if show_properties:
        names = list(vars(MEASURES["nogueira"].properties))
        rows = table("measure", *(name.replace("_", " ") for name in names))
        for measure in MEASURES.values():
            pairs = [(getattr(measure.properties, name), getattr(measure.published, name, None)) for name in names]
            rows.add_row(measure.name, *(_holds(now, published) for now, published in pairs))
    else:
        rows = table("measure", "kind", "range", "what it is")
        for name, row in facts.iterrows():
            rows.add_row(str(name), row["kind"], row["range"], row["summary"])
    console().print(rows)


def _holds(now: str | None, published: str | None) -> str:
    if now is None:
        return "–"
    differs = published is not None and (published == "yes") != (now == "yes")
    return f"{now} ({published} in print)" if differs else now


# What the options mean


def _undefined(text: str) -> Any:
    value = literal(text)
    if text in ("nan", "skip", "raise"):
        return text
    if not isinstance(value, (int, float)):
        raise ValueError(f"Expected --undefined nan, skip, raise or a number, got {text!r}.")
    return value


def _selections(
    file: Path,
    kind: str | None,
    top: int | None,
    features: Path | None,
    n_features: int | None,
    transpose: bool,
) -> "Preferences":
    from holdfast.io.selections import read_names, read_selections

    names = read_names(features) if features else None
    preferences, note = read_selections(file, cast("Kind | None", kind), names, n_features, transpose=transpose)
    if note is not None:
        warnings.warn(f"{file.name}: {note.replace('transpose=True (--transpose)', '--transpose')}", stacklevel=2)
    if top is None:
        return preferences
    if preferences.kind == "subset":
        raise ValueError(f"Expected rankings or weights in {file} for --top, got subsets; leave --top out.")
    return preferences.top(top)


def _with_similarity(measures: "list[Measure]", data: Path | None, similarity: Path | None) -> "list[Measure]":
    """Give the measures that need one the similarity of a file: a square table, with or without a column of names."""
    from holdfast.io.loading import read_frame

    if data is not None and similarity is not None:
        raise ValueError("Expected --data or --similarity, got both; give one of them.")
    if similarity is None:
        return measures
    frame = read_frame(similarity)
    if frame.shape[1] == frame.shape[0] + 1:
        frame = frame.iloc[:, 1:]
    return [measure.bind(similarity=frame) if measure.similarity else measure for measure in measures]


def _data_matrix(file: Path | None, preferences: "Preferences") -> Any:
    """The columns of the features; others, such as the target, are left aside."""
    from holdfast.io.loading import read_frame

    if file is None:
        return None
    frame = read_frame(file)
    if isinstance(preferences.features, range):
        return frame
    missing = [name for name in preferences.features if name not in frame.columns]
    if missing:
        raise ValueError(
            f"Expected a column for every feature in --data, got none for {missing[0]!r} ({len(missing)} missing)."
        )
    return frame[list(preferences.features)]
