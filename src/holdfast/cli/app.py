"""The command itself, and what all its commands share."""

import sys
from typing import Annotated

import typer

app = typer.Typer(
    name="holdfast",
    help="Which selected features hold fast: the stability of feature selection, measured.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
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
