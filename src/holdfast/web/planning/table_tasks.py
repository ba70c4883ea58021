"""Tasks that read tables: what a file holds, the names of its columns, and data sets that need no file."""

import os
import subprocess
import sys
from typing import Any

from holdfast.datasets import real
from holdfast.io.files import Reading, as_path, display_name
from holdfast.io.guessing import show_entry, turn
from holdfast.io.inspection import PREVIEW_COLUMNS, PREVIEW_ROWS, TableInspection, inspect_by
from holdfast.io.table import make_table
from holdfast.web.planning.table_cache import load_kept
from holdfast.web.tasks import task

MOST_COLUMNS = 200_000
"""Names of columns that are searched."""
SHARE_OF_TIME = 0.9
"""Of the time that a task has, how much a command may take that it waits for."""


@task
def inspect_upload(path: str, reading: dict[str, Any], options: dict[str, Any]) -> TableInspection:
    """Look at a table that was uploaded."""
    return inspect_by(load_kept, path, Reading(**reading), **options)


@task
def list_columns(path: str, reading: dict[str, Any], transpose: bool) -> list[str]:
    """List the columns of a table that was uploaded."""
    file = as_path(path)
    loaded = load_kept(file, Reading(**reading))
    frame = turn(loaded.frame, loaded.decimal, display_name(file)) if transpose else loaded.frame
    return [str(name) for name in frame.columns[:MOST_COLUMNS]]


@task
def inspect_known(name: str) -> TableInspection:
    """Look at a data set by its name."""
    data = real.load(name)
    table = make_table(data.X, data.y, data.info.task, target="target", source=name, notes=(data.description,))
    corner = data.X.iloc[:PREVIEW_ROWS, : PREVIEW_COLUMNS - 1]
    rows = zip(data.y, corner.to_numpy(), strict=False)
    return TableInspection(
        name=name,
        rows=len(data.X),
        columns=data.X.shape[1] + 1,
        header=("target", *map(str, corner.columns)),
        roles=("target", *("" for _ in corner.columns)),
        preview=tuple((show_entry(target), *map(show_entry, row)) for target, row in rows),
        notes=(data.description,),
        record=table.record,
    )


@task
def run_command(arguments: list[str], seconds: float) -> dict[str, Any]:
    """Run a command of holdfast under the limits of this process; what it printed, and its last line if it failed."""
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "holdfast", *arguments], capture_output=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, timeout=SHARE_OF_TIME * seconds, env={**os.environ, "PYTHONSAFEPATH": "1"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"late": True}
    lines = [line.strip() for line in ran.stderr.splitlines() if line.strip()]
    return {"code": ran.returncode, "printed": ran.stdout, "error": lines[-1] if lines else ""}
