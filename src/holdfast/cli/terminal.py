"""The door to the terminal: every character that could command it is shown, not sent."""

import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.text import Text

COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but line feeds and tabs, marks that turn the direction of writing, halves of characters."""


def visible(text: str) -> str:
    r"""The text with each character that could command a terminal written as its code, such as ``\x1b``.

    Names of features, columns and files come from strangers too: an escape sequence in one could hide or forge lines.
    """
    return COMMANDING.sub(lambda found: _code(found[0], "\\x{:02x}", "\\u{:04x}"), text)


def visible_json(text: str) -> str:
    """JSON that means the same, with these characters as JSON writes them."""
    return COMMANDING.sub(lambda found: _code(found[0], "\\u{:04x}", "\\u{:04x}"), text)


def _code(character: str, short: str, long: str) -> str:
    return (short if ord(character) < 256 else long).format(ord(character))


def quote_path(path: Any) -> str:
    """A path as it can be pasted into a shell, also one that begins like an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def write(text: str) -> None:
    """Print lines on stdout, where results go."""
    typer.echo(visible(text))


def write_json(text: str) -> None:
    """Print JSON on stdout."""
    typer.echo(visible_json(text))


def say(text: str) -> None:
    """Print a line on stderr, where notes and errors go."""
    print(visible(text), file=sys.stderr)


def console(*, stderr: bool = False) -> Any:
    """Where results are printed, with ``stderr`` where progress is told; texts are printed as they are, no markup."""
    from rich.console import Console

    class Terminal(Console):
        def render_str(self, text: str, **options: Any) -> "Text":
            return super().render_str(visible(text), **options)

    alive = (sys.stderr if stderr else sys.stdout).isatty()
    return Terminal(highlight=False, markup=False, emoji=False, stderr=stderr, width=None if alive else 160)


def table(*columns: str) -> Any:
    """A table whose first column, a name, is never cut, and whose cells are one line each."""
    from rich.table import Column, Table

    class OneLineCells(Table):
        def add_row(self, *cells: Any, **options: Any) -> None:
            super().add_row(*(str(cell).replace("\n", "\\n") for cell in cells), **options)

    first, *others = columns
    return OneLineCells(Column(first, no_wrap=True), *others, box=None)
