"""The command line: parse, call the library, print. Results go to stdout, notes and errors to stderr."""

from holdfast.cli import (
    benchmarks,
    comparing,
    demo,
    exporting,
    features,
    measuring,
    nesting,
    records,
    reports,
    reproducing,
    serving,
    studies,
    tradeoffs,
)
from holdfast.cli.app import DECIDE, ELSEWHERE, PAPERS, START, STUDIES, app, run

PANELS = (START, STUDIES, DECIDE, ELSEWHERE, PAPERS)
app.registered_commands.sort(key=lambda command: PANELS.index(str(command.rich_help_panel)))
for command in app.registered_commands:
    command.cls = records.RecordsCommand

__all__ = [
    "app",
    "benchmarks",
    "comparing",
    "demo",
    "exporting",
    "features",
    "measuring",
    "nesting",
    "records",
    "reports",
    "reproducing",
    "run",
    "serving",
    "studies",
    "tradeoffs",
]
