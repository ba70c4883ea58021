"""Commands about selections in files or stores: measure, measures, compare."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import holdfast as hf
from holdfast.cli import terminal
from holdfast.cli.app import DECIDE, ELSEWHERE, Json, Level, app
from holdfast.cli.options import MeasureText, MeasureTexts, Quiet, Top, literal, parse_measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.inference.designs import RunsByBlock
    from holdfast.preferences import Kind

KindOption = Annotated[
    str | None, typer.Option(metavar="subset|ranking|weighting", help="What the numbers of a matrix are.")
]
NFeatures = Annotated[
    int | None, typer.Option(metavar="N", help="For lists: number of features there were to choose from.")
]
Features = Annotated[
    Path | None, typer.Option(metavar="FILE", help="For lists: file with the names of all features, one per line.")
]
Data = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Table of samples × features, for measures that know stand-ins.")
]
Similarity = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Table of features × features with their similarities, instead of --data."),
]
Transpose = Annotated[
    bool, typer.Option("--transpose", help="A matrix has one row per feature and one column per run.")
]
UndefinedOption = Annotated[
    str, typer.Option(metavar="nan|skip|raise|NUMBER", help="What to do where a measure is undefined.")
]


@app.command(rich_help_panel=ELSEWHERE)
def measure(
    file: Annotated[Path, typer.Argument(help="Selections: a matrix (CSV, TSV, Parquet) or lists (JSON, text).")],
    measures: MeasureTexts = None,
    candidate: Annotated[
        str | None, typer.Option(metavar="NAME", help="For selections that a study exported: one of its candidates.")
    ] = None,
    kind: KindOption = None,
    top: Top = None,
    n_features: NFeatures = None,
    features: Features = None,
    transpose: Transpose = False,
    data: Data = None,
    similarity: Similarity = None,
    corrected: Annotated[bool, typer.Option("--corrected", help="Correct the measures for chance agreement.")] = False,
    undefined: UndefinedOption = "nan",
    method: Annotated[
        str, typer.Option(metavar="jackknife|bootstrap|asymptotic", help="Method of the intervals.")
    ] = "jackknife",
    level: Level = 0.95,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Measure the stability of the selections in a file.

    **Examples**

    `holdfast measure runs.csv`

    `holdfast measure genes.txt --n-features 20000 -m nogueira -m jaccard`

    `holdfast measure weights.csv --kind weighting --top 10 -m jaccard`

    `holdfast measure runs.csv -m intersection_mbm:threshold=0.8 --data patients.csv`

    `holdfast measure genes_by_runs.csv --transpose`

    `holdfast measure tables/selections.csv --candidate lasso` (what `holdfast export` wrote)
    """
    from holdfast.io.files import as_path
    from holdfast.io.selections import is_exported

    exported = is_exported(as_path(file))
    requested = [parse_measure(text) for text in measures or ([] if exported else ["nogueira"])]
    ready = with_similarity(requested, data, similarity)
    options: dict[str, Any] = {
        "corrected": corrected, "undefined": parse_undefined(undefined), "method": cast(Any, method)
    }  # fmt: skip
    if exported:
        by_candidate = read_candidates(file, candidate, kind, top, n_features)
        X = read_data_matrix(data, next(iter(by_candidate.values())).runs)
        measure_exported(file, by_candidate, ready, {**options, "X": X}, level, quiet, as_json)
        return
    with terminal.notes(quiet):
        preferences = read_selections(file, kind, top, features, n_features, transpose, candidate)
        estimates = hf.stability(preferences, ready, X=read_data_matrix(data, preferences), **options)
    if as_json:
        record = {
            "file": str(file),
            "kind": preferences.kind,
            "estimates": [estimate.to_dict(level) for estimate in estimates],
        }
        terminal.print_json("measurement", record)
    else:
        terminal.print_estimates(preferences, estimates, level)


@app.command("measures", rich_help_panel=ELSEWHERE)
def list_measures(
    show_properties: Annotated[
        bool,
        typer.Option(
            "--properties", help="Show the properties of each, in brackets those that were published if they differ."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """List all measures of stability."""
    facts = hf.MEASURES.to_frame()
    if as_json:
        terminal.print_json("records", {"measures": facts.join(hf.measures.properties().drop(columns="kind"))})
        return
    if show_properties:
        names = list(vars(hf.MEASURES["nogueira"].properties))
        rows = ([measure.name, *(_holds(measure, name) for name in names)] for measure in hf.MEASURES.values())
        shown = terminal.table("measure", *(name.replace("_", " ") for name in names), rows=rows)
    else:
        rows = ([str(name), row["kind"], row["range"], row["summary"]] for name, row in facts.iterrows())
        shown = terminal.table("measure", "kind", "range", "what it is", rows=rows)
    terminal.console().print(shown)


def _holds(measure: "hf.Measure", name: str) -> str:
    now, published = getattr(measure.properties, name), getattr(measure.published, name, None)
    if now is None:
        return "–"
    differs = published is not None and (published == "yes") != (now == "yes")
    return f"{now} ({published} in print)" if differs else now


# Selections that a study exported


def read_candidates(
    file: Path, candidate: str | None, kind: str | None, top: int | None, n_features: int | None
) -> "dict[str, RunsByBlock]":
    """Read exported selections by candidate, of one if it is named, with their design."""
    from dataclasses import replace

    from holdfast.io.files import as_path
    from holdfast.io.selections import pick_candidate
    from holdfast.study.exports import read_runs_by_block

    path = as_path(file)
    by_candidate = read_runs_by_block(path, cast("Kind | None", kind), n_features)
    if candidate is not None:
        by_candidate = {candidate: pick_candidate(path, by_candidate, candidate)}
    return {name: replace(runs, runs=cut_to_top(runs.runs, top, file)) for name, runs in by_candidate.items()}


def measure_exported(
    file: Path,
    by_candidate: "Mapping[str, RunsByBlock]",
    measures: "list[hf.Measure]",
    options: dict[str, Any],
    level: float,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure each candidate as the design of its study requires, and compare all of them."""
    from holdfast.inference.designs import design_comparisons, design_stability
    from holdfast.study.stabilities import measure_together

    special = {
        key: options[key] for key, default in (("corrected", False), ("method", "jackknife")) if options[key] != default
    }
    shared = {"X": options["X"], "undefined": options["undefined"]}
    if special and any(runs.has_blocks for runs in by_candidate.values()):
        raise ValueError(f"--corrected and --method are for runs that stand alone, not for the blocks of {file}.")
    common, cut = measure_together(by_candidate, measures[0] if measures else None)
    requested: list[str | hf.Measure] = [*measures] or [common.measure]
    with terminal.notes(quiet):
        estimates = {
            name: [design_stability(runs, measure, **shared, **special) for measure in requested]
            for name, runs in cut.items()
        }
        compared = None
        if len(cut) > 1:
            try:
                compared = design_comparisons(cut, common.measure, level=level, **shared)
            except ValueError as error:  # where there is too little to compare
                warnings.warn(f"The candidates were not compared: {error}", UserWarning, stacklevel=2)
    if as_json:
        record = {
            "file": str(file),
            "candidates": [
                {
                    "candidate": name,
                    "kind": cut[name].runs.kind,
                    "estimates": [estimate.to_dict(level) for estimate in candidate_estimates],
                }
                for name, candidate_estimates in estimates.items()
            ],
            "comparison": None if compared is None else compared.to_dict(),
        }
        terminal.print_json("measurement", record)
    else:
        terminal.print_candidates({name: runs.runs for name, runs in cut.items()}, estimates, compared, level)


# What the options mean


def parse_undefined(text: str) -> Any:
    """Read what to do where a measure is undefined."""
    value = literal(text)
    if text in ("nan", "skip", "raise"):
        return text
    if not isinstance(value, (int, float)):
        raise ValueError(f"Expected --undefined nan, skip, raise or a number, got {text!r}.")
    return value


def read_selections(
    file: Path,
    kind: str | None,
    top: int | None,
    features: Path | None,
    n_features: int | None,
    transpose: bool = False,
    candidate: str | None = None,
) -> "hf.Preferences":
    """Read the selections of a file, cut to the best features if that is asked for."""
    from holdfast.io import selections

    names = selections.read_names(features) if features else None
    preferences, note = selections.read_selections(
        file, kind=kind, features=names, n_features=n_features, transpose=transpose or None, candidate=candidate
    )
    if note is not None:
        warnings.warn(f"{file.name}: {note}", stacklevel=2)
    return cut_to_top(preferences, top, file)


def cut_to_top(preferences: "hf.Preferences", top: int | None, file: Path) -> "hf.Preferences":
    """Cut rankings or weights to the best features, if that is asked for."""
    if top is None:
        return preferences
    if preferences.kind == "subset":
        raise ValueError(f"Expected rankings or weights in {file} for --top, got subsets; leave --top out.")
    return preferences.top(top)


def with_similarity(measures: "list[hf.Measure]", data: Path | None, similarity: Path | None) -> "list[hf.Measure]":
    """Give the measures that need one the similarity of a file: a square table, with or without a column of names."""
    from holdfast.io.loading import load_frame

    if data is not None and similarity is not None:
        raise ValueError("Expected --data or --similarity, got both; give one of them.")
    if similarity is None:
        return measures
    frame = load_frame(similarity).frame
    if frame.shape[1] == frame.shape[0] + 1:
        frame = frame.iloc[:, 1:]
    return [measure.bind(similarity=frame) if measure.similarity else measure for measure in measures]


def read_data_matrix(file: Path | None, preferences: "hf.Preferences") -> Any:
    """The columns of the features; others, such as the target, are left aside."""
    from holdfast.io.loading import load_frame

    if file is None:
        return None
    frame = load_frame(file).frame
    if isinstance(preferences.features, range):
        return frame
    missing = [name for name in preferences.features if name not in frame.columns]
    if missing:
        raise ValueError(
            f"Expected a column for every feature in --data, got none for {missing[0]!r} ({len(missing)} missing)."
        )
    return frame[list(preferences.features)]


FOR_FILES = ("paired", "kind", "top", "n_features", "features", "transpose")
"""Options that only mean something for selections in files."""


@app.command(rich_help_panel=DECIDE)
def compare(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(help="Stores of studies; or at least two files, each with the selections of one selector."),
    ],
    candidates: Annotated[
        list[str] | None,
        typer.Option("--candidates", "-c", metavar="NAME", help="Candidate of a study to compare. May be repeated."),
    ] = None,
    measure_text: MeasureText = None,
    paired: Annotated[
        bool | None,
        typer.Option(
            "--paired/--independent",
            help="Whether run i of every file used the same resample (default: whether labels agree).",
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
    """Test which selectors differ in stability, in pairs, with Holm's correction.

    Selectors that share a letter do not differ significantly. Candidates on the same data and splits are compared split
    by split (paired), others as independent.

    **Examples**

    `holdfast compare study.db`

    `holdfast compare first.db second.db --candidates anova --candidates lasso`

    `holdfast compare lasso.csv mrmr.csv --paired`
    """
    from holdfast.study.stabilities import describe_pairing
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
    requested: hf.Measure | None = None
    if measure_text is not None or not stores:
        (requested,) = with_similarity([parse_measure(measure_text or "nogueira")], data, similarity)
    parameters: dict[str, Any] = {"level": level, "undefined": parse_undefined(undefined)}
    names = [file.stem for file in files]
    names = names if len(set(names)) == len(files) else list(map(str, files))  # short names, if they differ
    if stores:
        for name in FOR_FILES:
            source = ctx.get_parameter_source(name)
            if source is not None and source.name == "COMMANDLINE":
                option = name.replace("_", "-")
                raise ValueError(f"--{option} is for selections in files, and a stored study knows it; leave it out.")
        studies = {name: hf.load_study(file) for name, file in zip(names, stores, strict=True)}
        first = next(iter(studies.values()))
        X = None if data is None else read_data_matrix(data, first.preferences(first.finished[0]))
        with terminal.notes(quiet):
            comparisons = hf.study.compare_studies(studies, candidates, requested, X=X, **parameters)
        if not as_json:
            terminal.console().print(describe_pairing(studies))
    elif candidates:
        raise ValueError(f"Expected stored studies for --candidates, got {files[0]}.")
    elif len(files) < 2:
        raise ValueError(f"Expected at least two files to compare, got {len(files)}.")
    else:
        with terminal.notes(quiet):
            selections = {
                name: read_selections(file, kind, top, features, n_features, transpose)
                for name, file in zip(names, files, strict=True)
            }
            X = read_data_matrix(data, next(iter(selections.values())))
            comparisons = hf.compare_many(selections, requested or "nogueira", paired=paired, X=X, **parameters)
    measure = str(comparisons.pairs.loc[0, "measure"])
    if as_json:
        record = {
            "measure": measure,
            "level": comparisons.level,
            "selections": comparisons.to_frame().to_dict(orient="records"),
            "pairs": comparisons.pairs.to_dict(orient="records"),
        }
        terminal.print_json("comparison", record)
    else:
        terminal.print_comparisons(measure, comparisons)
