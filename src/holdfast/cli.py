"""The command line: parse, call the library, print. Results go to stdout, notes and errors to stderr."""

import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
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
    kind: Annotated[str | None, typer.Option(help="What the matrix holds: subset, ranking or weighting.")] = None,
    top: Annotated[int | None, typer.Option(metavar="K", help="Cut rankings or weights to the K best.")] = None,
    n_features: Annotated[
        int | None, typer.Option(metavar="N", help="For lists: how many features there were to choose from.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For lists: all feature names, one per line.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Samples × features, for measures that know stand-ins.")
    ] = None,
    similarity: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Features × features similarity, instead of --data.")
    ] = None,
    corrected: Annotated[bool, typer.Option("--corrected", help="Correct the measures for chance.")] = False,
    undefined: Annotated[
        str, typer.Option(metavar="nan|skip|raise|NUMBER", help="What to do where a measure is undefined.")
    ] = "nan",
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
    from holdfast.tables import read_frame, read_names, read_preferences

    if data is not None and similarity is not None:
        raise ValueError("Expected --data or --similarity, got both; give one of them.")
    preferences = read_preferences(
        file,
        kind=cast("Kind | None", kind),
        features=read_names(features) if features else None,
        n_features=n_features,
    )
    if top is not None:
        if preferences.kind == "subset":
            raise ValueError(f"Expected rankings or weights in {file} for --top, got subsets; leave --top out.")
        preferences = preferences.top(top)
    wanted = [parse_measure(text) for text in measures]
    if similarity is not None:
        matrix = _similarity_matrix(read_frame(similarity))
        wanted = [one.bind(similarity=matrix) if one.similarity else one for one in wanted]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimates = stability(
            preferences,
            wanted,
            corrected=corrected,
            data=None if data is None else _data_matrix(read_frame(data), preferences),
            undefined=_undefined(undefined),
        )
    for one in caught:
        print(f"holdfast: note: {one.message}", file=sys.stderr)
    if as_json:
        record = {"file": str(file), "kind": preferences.kind, "estimates": [one.to_dict() for one in estimates]}
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False))
    else:
        _print_estimates(preferences, estimates)


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
        table = _table(*(name.replace("_", " ") for name in names))
        for one in MEASURES.values():
            pairs = [(getattr(one.properties, name), getattr(one.published, name, None)) for name in names]
            table.add_row(one.name, *(_holds(now, published) for now, published in pairs))
    else:
        table = _table("kind", "range", "what it is")
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
        best, [*stability(best, ["nogueira", "jaccard", "hamming"]), three.ranks, three.weights], console=console
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


def _similarity_matrix(frame: Any) -> Any:
    """A square table, with or without a first column of names."""
    if frame.shape[1] == frame.shape[0] + 1:
        frame = frame.iloc[:, 1:]
    return frame


def _data_matrix(frame: Any, preferences: "Preferences") -> Any:
    """The columns of the features; others, such as the target, are left aside."""
    if isinstance(preferences.features, range):
        return frame
    missing = [name for name in preferences.features if name not in frame.columns]
    if missing:
        raise ValueError(
            f"Expected a column for every feature in --data, got none for {missing[0]!r} ({len(missing)} missing)."
        )
    return frame[list(preferences.features)]


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def _table(*columns: str) -> Any:
    """A table whose first column, the measure, is never cut."""
    from rich.table import Column, Table

    return Table(Column("measure", no_wrap=True), *columns, box=None)


def _print_estimates(preferences: "Preferences", estimates: "list[StabilityEstimate]", console: Any = None) -> None:
    console = console or _console()
    console.print(str(preferences))
    table = _table("stability", "note")
    for one in estimates:
        value = "undefined" if one.value != one.value else f"{one.value:.3f}"
        table.add_row(one.measure, value, one.reason or "")
    console.print(table)
