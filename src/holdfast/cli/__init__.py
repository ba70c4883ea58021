"""The command line: parse, call the library, print. Results go to stdout, notes and errors to stderr."""

from holdfast.cli import demo, measuring, studies, tradeoffs
from holdfast.cli.app import app, run

__all__ = ["app", "demo", "measuring", "run", "studies", "tradeoffs"]
