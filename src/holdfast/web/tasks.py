"""What workers do: functions of plain values, by name. Each reads a file of an upload and returns a record."""

from collections.abc import Callable
from typing import Any

from holdfast.io.inspection import inspect_selections
from holdfast.web.measuring import compare_selections, measure_selections
from holdfast.web.tables import inspect_known, inspect_upload, list_columns, run_command


def warm() -> bool:
    """Import what other tasks need."""
    return True


TASKS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        warm, measure_selections, inspect_selections, compare_selections, inspect_upload, list_columns, inspect_known,
        run_command,
    )
}  # fmt: skip
"""Tasks by name; :func:`holdfast.web.worker.run_task` runs them in a process with limits."""
