"""The command that compares: candidates of stored studies, or selections in files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import measuring
from holdfast.cli.app import DECIDE, Json, Level, app
from holdfast.cli.options import Quiet
from holdfast.cli.parsing import parse_measure
from holdfast.cli.printing import notes, print_comparisons, print_json
from holdfast.cli.terminal import console

if TYPE_CHECKING:
    from holdfast.inference.comparisons import Comparisons
    from holdfast.measures import Measure
    from holdfast.study import StudyResult

FOR_FILES = {
    "paired": "--paired",
    "kind": "--kind",
    "top": "--top",
    "n_features": "--n-features",
    "features": "--features",
    "transpose": "--transpose",
}
"""Options that only mean something for selections in files."""


@app.command(rich_help_panel=DECIDE)
def compare(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(help="One or more stored studies; or selections of two or more selectors, one file each."),
    ],
    candidates: Annotated[
        list[str] | None,
        typer.Option("--candidates", "-c", metavar="NAME", help="Candidate of a study to compare; may be repeated."),
    ] = None,
    measure_text: Annotated[
        str | None,
        typer.Option(
            "--measure", "-m", metavar="NAME[:param=value,…]", help="What to measure (default: the usual measure)."
        ),
    ] = None,
    paired: Annotated[
        bool | None,
        typer.Option(
            "--paired/--independent", help="Did run i of all files use the same resample? Labels tell it too."
        ),
    ] = None,
    kind: measuring.KindOption = None,
    top: measuring.Top = None,
    n_features: measuring.NFeatures = None,
    features: measuring.Features = None,
    transpose: measuring.Transpose = False,
    data: measuring.Data = None,
    similarity: measuring.Similarity = None,
    undefined: measuring.UndefinedOption = "nan",
    level: Level = 0.95,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Test which selectors differ in stability, each with each, with Holm's correction.

    Give stored studies, or files of selections. Those that share a letter do not differ significantly. Candidates on
    the same data and splits are compared split by split (paired), others as independent.

    **Examples**

    `holdfast compare study.db`

    `holdfast compare first.db second.db --candidates anova --candidates lasso`

    `holdfast compare lasso.csv mrmr.csv --paired`
    """
    from holdfast.study.store import is_database

    if len(set(files)) < len(files):
        raise ValueError(f"Expected each file once, got {', '.join(map(str, files))}.")
    stores = [file for file in files if is_database(file)]
    if stores and len(stores) < len(files):
        other = next(file for file in files if file not in stores)
        raise ValueError(
            f"Expected stored studies only or files of selections only, got both ({stores[0]}, {other}); export the "
            "study first (holdfast export), or compare them one kind at a time."
        )
    asked: Measure | None = None
    if measure_text is not None or not stores:
        (asked,) = measuring.with_similarity([parse_measure(measure_text or "nogueira")], data, similarity)
    options: dict[str, Any] = {"level": level, "undefined": measuring.parse_undefined(undefined)}
    if stores:
        given = [option for name, option in FOR_FILES.items() if _was_typed(ctx, name)]
        if given:
            raise ValueError(f"{given[0]} is for selections in files, and a stored study knows it; leave it out.")
        comparisons = _compare_stores(stores, candidates, asked, data, options, quiet, as_json)
    elif candidates:
        raise ValueError(f"Expected stored studies for --candidates, got {files[0]}.")
    else:
        comparisons = _compare_files(
            files, asked, (kind, top, features, n_features, transpose), paired, data, options, quiet
        )
    _print(comparisons, as_json)


def _compare_stores(
    stores: list[Path],
    candidates: list[str] | None,
    measure: "Measure | None",
    data: Path | None,
    options: dict[str, Any],
    quiet: bool,
    as_json: bool,
) -> "Comparisons":
    """Compare the candidates of stored studies, and say how."""
    from holdfast.study import load_study
    from holdfast.study.comparing import compare_studies

    studies = {name: load_study(file) for name, file in zip(_names(stores), stores, strict=True)}
    first = next(iter(studies.values()))
    X = None if data is None else measuring.read_data_matrix(data, first.preferences(first.finished[0]))
    with notes(quiet):
        comparisons = compare_studies(studies, candidates, measure, X=X, **options)
    if not as_json:
        console().print(_describe_pairing(studies), soft_wrap=True)
    return comparisons


def _describe_pairing(studies: "dict[str, StudyResult]") -> str:
    from holdfast.study.comparing import group_by_splits

    if len(studies) == 1:
        return "Candidates of one study: compared split by split (paired)."
    groups = set(group_by_splits(studies).values())
    if len(groups) == 1:
        return "The studies have the same data and splits: compared split by split (paired)."
    told = "The studies differ in data or splits: compared as independent"
    if len(groups) < len(studies):
        told += ", but those with the same data and splits as pairs"
    kinds = {study.records.perturbation.name for study in studies.values()}
    made = f" Resamples were made in different ways ({', '.join(sorted(kinds))}), which may explain a difference."
    return f"{told}.{made if len(kinds) > 1 else ''}"


def _compare_files(
    files: list[Path],
    measure: Any,
    reading: tuple[str | None, int | None, Path | None, int | None, bool],
    paired: bool | None,
    data: Path | None,
    options: dict[str, Any],
    quiet: bool,
) -> "Comparisons":
    """Compare the selections in files."""
    from holdfast.inference.comparisons import compare_many

    if len(files) < 2:
        raise ValueError(f"Expected at least two files to compare, got {len(files)}.")
    with notes(quiet):
        selections = {
            name: measuring.read_selections(file, *reading) for name, file in zip(_names(files), files, strict=True)
        }
        X = measuring.read_data_matrix(data, next(iter(selections.values())))
        return compare_many(selections, measure, paired=paired, X=X, **options)


def _was_typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _names(files: list[Path]) -> list[str]:
    """Names of files without folder and ending, if these tell them apart."""
    stems = [file.stem for file in files]
    return stems if len(set(stems)) == len(files) else list(map(str, files))


def _print(comparisons: "Comparisons", as_json: bool) -> None:
    measure = str(comparisons.pairs.loc[0, "measure"])
    if as_json:
        record = {
            "measure": measure,
            "level": comparisons.level,
            "selections": comparisons.to_frame().to_dict(orient="records"),
            "pairs": comparisons.pairs.to_dict(orient="records"),
        }
        print_json("comparison", record)
    else:
        print_comparisons(measure, comparisons)
