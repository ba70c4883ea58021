"""The command line: parse, call the library, print. Results go to stdout, notes and errors to stderr."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from holdfast.inference.compare import Comparisons
    from holdfast.inference.estimate import StabilityEstimate
    from holdfast.measures import Measure
    from holdfast.preferences import Kind, Preferences

app = typer.Typer(
    name="holdfast",
    help="Which selected features hold fast: the stability of feature selection, measured.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
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
UndefinedOption = Annotated[
    str, typer.Option(metavar="nan|skip|raise|NUMBER", help="What to do where a measure is undefined.")
]
Level = Annotated[float, typer.Option(metavar="LEVEL", help="Confidence level of the intervals.")]


def run() -> None:
    """Run the command; what the user can mend is one sentence on stderr and exit code 2."""
    try:
        app()
    except (ValueError, OSError) as error:
        text = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else str(error)
        print(f"holdfast: {text}", file=sys.stderr)
        raise SystemExit(2) from None


def _version(asked: bool) -> None:
    if asked:
        from holdfast import __version__

        typer.echo(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command()
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
    data: Data = None,
    similarity: Similarity = None,
    corrected: Annotated[bool, typer.Option("--corrected", help="Correct the measures for chance.")] = False,
    undefined: UndefinedOption = "nan",
    method: Annotated[
        str, typer.Option(metavar="jackknife|bootstrap|asymptotic", help="How the interval is found.")
    ] = "jackknife",
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Measure how stable the selections in FILE are.

    **Examples**

    `holdfast measure runs.csv`

    `holdfast measure genes.txt --n-features 20000 -m nogueira -m jaccard`

    `holdfast measure weights.csv --kind weighting --top 10 -m jaccard`

    `holdfast measure runs.csv -m intersection_mbm:threshold=0.8 --data patients.csv`
    """
    from holdfast.inference.estimate import stability

    preferences = _selections(file, kind, top, features, n_features)
    wanted = _with_similarity([parse_measure(text) for text in measures], data, similarity)
    with _notes():
        estimates = stability(
            preferences,
            wanted,
            corrected=corrected,
            data=_data_matrix(data, preferences),
            undefined=_undefined(undefined),
            method=cast(Any, method),
        )
    if as_json:
        record = {"file": str(file), "kind": preferences.kind, "estimates": [one.to_dict(level) for one in estimates]}
        _print_json(record)
    else:
        _print_estimates(preferences, estimates, level)


@app.command()
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
    data: Data = None,
    similarity: Similarity = None,
    undefined: UndefinedOption = "nan",
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Compare the stabilities of selectors, each with each, with Holm's correction.

    Selectors that share a letter do not differ significantly.

    **Examples**

    `holdfast compare lasso.csv mrmr.csv --paired`

    `holdfast compare a.csv b.csv c.csv -m jaccard --independent`
    """
    from holdfast.inference.compare import compare_many

    if len(files) < 2:
        raise ValueError(f"Expected at least two files to compare, got {len(files)}.")
    if len(set(files)) < len(files):
        raise ValueError(f"Expected each file once, got {', '.join(map(str, files))}.")
    names = [file.stem for file in files] if len({file.stem for file in files}) == len(files) else map(str, files)
    selections = {
        name: _selections(file, kind, top, features, n_features) for name, file in zip(names, files, strict=True)
    }
    (wanted,) = _with_similarity([parse_measure(measure_text)], data, similarity)
    with _notes():
        found = compare_many(
            selections,
            wanted,
            paired=paired,
            level=level,
            data=_data_matrix(data, next(iter(selections.values()))),
            undefined=_undefined(undefined),
        )
    if as_json:
        record = {
            "measure": wanted.label,
            "level": level,
            "selections": found.to_frame().to_dict(orient="records"),
            "pairs": found.pairs.to_dict(orient="records"),
        }
        _print_json(record)
    else:
        _print_comparisons(wanted.label, found)


@app.command("measures")
def list_measures(
    show_properties: Annotated[
        bool, typer.Option("--properties", help="Show which properties hold, and in brackets where the papers differ.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List all measures with what is known of them."""
    from holdfast.measures import MEASURES, properties

    facts = MEASURES.to_frame()
    if as_json:
        typer.echo(facts.join(properties().drop(columns="kind")).reset_index().to_json(orient="records", indent=2))
        return
    if show_properties:
        names = list(vars(MEASURES["nogueira"].properties))
        table = _table("measure", *(name.replace("_", " ") for name in names))
        for one in MEASURES.values():
            pairs = [(getattr(one.properties, name), getattr(one.published, name, None)) for name in names]
            table.add_row(one.name, *(_holds(now, published) for now, published in pairs))
    else:
        table = _table("measure", "kind", "range", "what it is")
        for name, row in facts.iterrows():
            table.add_row(str(name), row["kind"], row["range"].replace("[", r"\["), row["summary"])
    _console().print(table)


def _holds(now: str | None, published: str | None) -> str:
    if now is None:
        return "–"
    differs = published is not None and (published == "yes") != (now == "yes")
    return f"{now} ({published} in print)" if differs else now


@app.command()
def demo() -> None:
    """Measure an embedded example: 20 bootstraps of the breast-cancer data, features weighed by their F value."""
    from holdfast.datasets import load_example
    from holdfast.inference.agreement import kalousis
    from holdfast.inference.estimate import stability

    weights = load_example()
    best = weights.top(10)
    console = _console()
    console.print(
        f"[bold]Do the ten best features of the breast-cancer data hold?[/]\n"
        f"{weights.n_runs} bootstraps, {weights.n_features} features, each run keeps its 10 best by ANOVA F.\n"
    )
    three = kalousis(weights, 10)
    _print_estimates(
        best, [*stability(best, ["nogueira", "jaccard"]), three.ranks, three.weights], 0.95, console=console
    )
    console.print("\n[bold]How often each feature was kept[/]")
    order = sorted(range(best.n_features), key=lambda feature: -best.frequency[feature])
    for feature in order:
        if best.counts[feature]:
            bar = "█" * round(20 * best.frequency[feature])
            console.print(f"{best.features[feature]:>24}  {bar:<20} {best.frequency[feature]:.0%}")


# Helpers of the commands


def parse_measure(text: str) -> "Measure":
    """Read ``name`` or ``name:param=value,param=value``."""
    from holdfast.measures import find

    name, _, rest = text.partition(":")
    parameters = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"Expected NAME:param=value,param=value for a measure, got {text!r}.")
        parameters[key.strip()] = _literal(value.strip())
    measure = find(name.strip())
    for key, value in parameters.items():
        if isinstance(value, str) and not isinstance(measure.parameters.get(key, ""), str):
            raise ValueError(f"Expected a number for {key} of {measure.name}, got {value!r}.")
    return measure.bind(**parameters)


def _literal(text: str) -> Any:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _undefined(text: str) -> Any:
    value = _literal(text)
    if text in ("nan", "skip", "raise"):
        return text
    if not isinstance(value, (int, float)):
        raise ValueError(f"Expected --undefined nan, skip, raise or a number, got {text!r}.")
    return value


def _selections(
    file: Path, kind: str | None, top: int | None, features: Path | None, n_features: int | None
) -> "Preferences":
    from holdfast.tables import read_names, read_preferences

    preferences = read_preferences(
        file,
        kind=cast("Kind | None", kind),
        features=read_names(features) if features else None,
        n_features=n_features,
    )
    if top is None:
        return preferences
    if preferences.kind == "subset":
        raise ValueError(f"Expected rankings or weights in {file} for --top, got subsets; leave --top out.")
    return preferences.top(top)


def _with_similarity(measures: "list[Measure]", data: Path | None, similarity: Path | None) -> "list[Measure]":
    """Give the measures that need one the similarity of a file: a square table, with or without a column of names."""
    from holdfast.frames import read_frame

    if data is not None and similarity is not None:
        raise ValueError("Expected --data or --similarity, got both; give one of them.")
    if similarity is None:
        return measures
    frame = read_frame(similarity)
    if frame.shape[1] == frame.shape[0] + 1:
        frame = frame.iloc[:, 1:]
    return [one.bind(similarity=frame) if one.similarity else one for one in measures]


def _data_matrix(file: Path | None, preferences: "Preferences") -> Any:
    """The columns of the features; others, such as the target, are left aside."""
    from holdfast.frames import read_frame

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


@contextmanager
def _notes() -> Iterator[None]:
    """Show warnings as notes on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        print(f"holdfast: note: {one.message}", file=sys.stderr)


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)


def _table(*columns: str) -> Any:
    """A table whose first column, a name, is never cut."""
    from rich.table import Column, Table

    first, *others = columns
    return Table(Column(first, no_wrap=True), *others, box=None)


def _print_json(record: Any) -> None:
    """Print JSON that every reader takes: undefined numbers are null."""

    def clean(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: clean(value) for key, value in item.items()}
        if isinstance(item, list):
            return [clean(value) for value in item]
        return None if isinstance(item, float) and item != item else item

    typer.echo(json.dumps(clean(record), indent=2, ensure_ascii=False, allow_nan=False))


def _number(value: float, form: str = ".3f") -> str:
    return "–" if value != value else f"{value:{form}}"


def _interval(low: float, high: float) -> str:
    return "–" if low != low else rf"\[{low:.3f}, {high:.3f}]"


def _print_estimates(
    preferences: "Preferences", estimates: "list[StabilityEstimate]", level: float, console: Any = None
) -> None:
    table = _table("measure", "stability", f"{100 * level:g}% interval", "strength", "note")
    for one in estimates:
        value = "undefined" if one.value != one.value else f"{one.value:.3f}"
        note = one.reason or one.no_interval or ("" if one.validated else "interval not validated")
        table.add_row(one.measure, value, _interval(*one.ci(level)), one.strength or "", note)
    console = console or _console()
    console.print(str(preferences))
    first = estimates[0]
    if first.mean_overlap is not None:
        console.print(f"Two runs share {first.mean_overlap:.1f} of {first.mean_size:.1f} features on average.")
    if not all(one.no_interval for one in estimates):
        console.print(f"Intervals speak of {first.scope}.")
    console.print(table)


def _print_comparisons(measure_name: str, found: "Comparisons") -> None:
    from rich.markup import escape

    console = _console()
    table = _table("selection", measure_name, f"{100 * found.level:g}% interval", "letters")
    for row in found.to_frame().to_dict(orient="records"):
        ends = _interval(row["low"], row["high"])
        table.add_row(escape(str(row["selection"])), _number(row["stability"]), ends, row["letters"])
    console.print(table)
    console.print("")
    table = _table("pair", "difference", f"{100 * found.level:g}% interval", "p", "p (Holm)", "runs compared")
    for row in found.pairs.to_dict(orient="records"):
        pair = escape(f"{row['first_name']} - {row['second_name']}")
        p_values = (_number(row[name], ".2g") for name in ("p_value", "p_holm"))
        table.add_row(pair, _number(row["difference"]), _interval(row["low"], row["high"]), *p_values, row["design"])
    console.print(table)
