"""The command line: parse, call the library, print. Results go to stdout, notes and errors to stderr.

Each module holds the commands of one subject (``selections``, ``studies``, ``decisions``, ``features``, ``reports``,
``benchmarks``, ``records``). ``options`` has what several commands share, ``running`` leads from options to a finished
study, ``terminal`` prints tables and JSON. Begin with the module of a command; help and choices come from the
registries.
"""

from holdfast.cli import benchmarks, decisions, features, records, reports, selections, studies
from holdfast.cli.app import DECIDE, ELSEWHERE, START, STUDIES, app, run

PANELS = (START, STUDIES, DECIDE, ELSEWHERE)
SUBJECTS = ("benchmarks", "studies", "decisions", "features", "records", "reports", "selections", "app")
"""Groups of commands in the help text, and the modules whose commands follow each other in a group."""
app.registered_commands.sort(
    key=lambda command: (
        PANELS.index(str(command.rich_help_panel)),
        SUBJECTS.index(str(getattr(command.callback, "__module__", "")).rpartition(".")[2]),
    )
)
for command in app.registered_commands:
    command.cls = records.RecordsCommand

__all__ = [
    "app", "benchmarks", "decisions", "features", "records", "reports", "run", "selections",
    "studies",
]  # fmt: skip
