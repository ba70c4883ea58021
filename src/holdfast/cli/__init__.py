"""The command line: parse, call the library, print. Results go to stdout, notes and errors to stderr."""

from holdfast.cli import demo, measuring, reports, studies, tradeoffs
from holdfast.cli.app import DECIDE, ELSEWHERE, START, STUDIES, app, run

PANELS = (START, STUDIES, DECIDE, ELSEWHERE)
app.registered_commands.sort(key=lambda command: PANELS.index(str(command.rich_help_panel)))

__all__ = ["app", "demo", "measuring", "reports", "run", "studies", "tradeoffs"]
