"""What workers do: functions of plain values, by name. Each reads a file of an upload and returns a record."""

from collections.abc import Callable
from typing import Any

TASKS: dict[str, Callable[..., Any]] = {}
"""Tasks by name; :func:`holdfast.web.worker.run_task` runs them in a process with limits."""


def task(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function as a task under its name."""
    TASKS[function.__name__] = function
    return function


@task
def warm() -> bool:
    """Import what other tasks need."""
    return True


from holdfast.web.planning import table_tasks  # noqa: E402, F401  tasks of other modules
from holdfast.web.selections import comparing, measuring  # noqa: E402, F401
