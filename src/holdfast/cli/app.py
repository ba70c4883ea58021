"""The command itself, and what all its commands share."""

import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import holdfast as hf
from holdfast.cli.terminal import print_stderr, visible, write
from holdfast.declared import FORMER_OPTIONS, warn_of_former_name


class Commands(TyperGroup):
    """Commands whose messages about a wrong argument send none of its control characters to the terminal."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _visible_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with _visible_errors():
            return super().invoke(ctx)


@contextmanager
def _visible_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # an error of click, of which typer brings its own copy
            vars(error)["message"] = visible(error.message)  # type: ignore[attr-defined]
        raise


def _accept_former_name(word: str) -> str:
    """Return the name of an option that was typed by its former name, with a note."""
    name = FORMER_OPTIONS.get(word.replace("-", "_"))
    if name is None:
        return word
    name = name.replace("_", "-")
    warn_of_former_name(f"--{word}", f"--{name}")
    return name


app = typer.Typer(
    name="holdfast",
    cls=Commands,
    context_settings={"token_normalize_func": _accept_former_name},
    help="Which selected features hold fast: the stability of feature selection, measured.\n\n"
    "Two commands lead from a table to a report: `holdfast study data.csv --target COLUMN --estimator linear` "
    "and `holdfast report data-study.db`.\n\n"
    "`holdfast demo` shows it on embedded data; each command explains itself: `holdfast study --help`.",
    epilog="Exit codes: 0 success, 2 invalid input or options (one sentence on stderr says what to do), 3 --require or "
    "--min-stability is not met, or undecided, or "
    "verify --refit finds a difference, 130 stopped by Ctrl-C, 143 by SIGTERM (finished fits are stored). "
    "Results go to stdout, progress and notes to stderr.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

START, ELSEWHERE = "Start here", "Selections made elsewhere"
STUDIES, DECIDE = "Studies: select on many resamples of your data", "Decide and report"
"""Groups of commands in the help text."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Level = Annotated[float, typer.Option(metavar="LEVEL", help="Confidence level of the intervals.")]


def run(command: typer.Typer = app) -> None:
    """Run a command; invalid input is one sentence on stderr and exit code 2."""
    warnings.showwarning = lambda message, *_, **__: print_stderr(f"holdfast: note: {message}")
    try:
        command()
    except (ValueError, OSError) as error:
        text = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else str(error)
        print_stderr(f"holdfast: {text}")
        raise SystemExit(2) from None
    except MemoryError as error:
        print_stderr(f"holdfast: Not enough memory: {error}")
        raise SystemExit(2) from None
    except Exception:
        print_stderr(traceback.format_exc(), of_python=True)  # the text of an error may quote a name
        raise SystemExit(1) from None


def show_and_exit(show: Callable[[], None]) -> Callable[[bool], None]:
    """Return what an option calls that only shows something, such as ``--version``."""

    def callback(requested: bool) -> None:
        if requested:
            show()
            raise typer.Exit

    return callback


show_version = show_and_exit(lambda: write(f"holdfast {hf.__version__}"))


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command(
    hidden=True, rich_help_panel=ELSEWHERE, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
def reproduce() -> None:
    """The experiments of the papers, which left the package in 0.2; this sentence goes in 0.3."""
    raise ValueError(
        "The papers' experiments are no longer part of the package: run `python -m reproductions` in a checkout of "
        "holdfast's repository."
    )
