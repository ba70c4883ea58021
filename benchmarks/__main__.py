"""Run benchmarks and print their table: ``python -m benchmarks [name ...] [--write]``."""

import argparse
import datetime
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import (
    adjusted,
    elastic_net,
    filters,
    first_fit,
    hybrid_rfe,
    large_study,
    measures,
    page,
    replication,
    rfe,
    roofline,
    studies,
    study,
    survival,
)
from benchmarks.timing import COLUMNS, Row

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- written by python -m benchmarks --write -->", "<!-- end of what is written -->"
PARTS = (
    measures,
    studies,
    survival,
    large_study,
    study,
    filters,
    rfe,
    roofline,
    hybrid_rfe,
    elastic_net,
    adjusted,
    replication,
    first_fit,
    page,
)
BENCHMARKS = {name: run for part in PARTS for name, run in part.BENCHMARKS.items()}
VERSIONS = "holdfast", "numpy", "scipy", "scikit-learn", "numba", "statsmodels", "skrebate", "glum"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks of these names, or all; return 1 if something was not reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run benchmarks and print their table.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which to run: {', '.join(BENCHMARKS)} (all)")
    parser.add_argument("--write", action="store_true", help=f"run all and write the table into docs/{PAGE.name}")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"Expected names out of {', '.join(BENCHMARKS)}, got {unknown[0]}.")
    if chosen.write and chosen.names:
        parser.error("Expected no names with --write, as the page shows one run of all benchmarks; leave them out.")
    rows = list(run(chosen.names or list(BENCHMARKS)))
    text = f"{machine()}\n\n{table(rows)}"
    print(text)
    if chosen.write:
        PAGE.write_text(between_markers(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    return int(not all(row.reached for row in rows))


def run(names: Sequence[str]) -> list[Row]:
    """Run benchmarks one after the other, telling on standard error which one it is at."""
    rows = []
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows.extend(BENCHMARKS[name]())
    return rows


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """Return one sentence on when and where this is run."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in VERSIONS)
    return (
        f"Run on {datetime.date.today()} on one thread of {_processor()} ({os.cpu_count()} cores), "
        f"Python {platform.python_version()}, {versions}."
    )


def between_markers(page: str, text: str) -> str:
    """Return the page with what is between its markers replaced."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"Expected the lines {BEGIN} and {END} in {PAGE.name}, got a page without; put them back.")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    return model[1] if model else platform.processor() or "an unknown processor"


if __name__ == "__main__":
    sys.exit(main())
