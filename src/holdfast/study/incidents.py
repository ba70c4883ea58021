"""What happens during a fit beside its result: failures with their tracebacks, and warnings."""

import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from holdfast.selection import FewerFeaturesWarning


class Failure(NamedTuple):
    """What went wrong, and where."""

    stage: str  # "select", "score", "time limit" or "died"
    error: str
    traceback: str = ""

    @classmethod
    def from_exception(cls, stage: str, error: BaseException) -> "Failure":
        """Record an exception with its traceback."""
        lines = "".join(traceback.format_exception(error))
        return cls(stage, f"{type(error).__name__}: {error}".strip().removesuffix(":"), lines)


@contextmanager
def record_warnings() -> Iterator[list[Any]]:
    """Collect warnings instead of showing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def join_warnings(caught: Sequence[Any]) -> str:
    """Each different warning once, a line each; those meant for developers are left out."""
    if not caught:
        return ""
    for_developers = (DeprecationWarning, PendingDeprecationWarning)
    for_users = (warning for warning in caught if not issubclass(warning.category, for_developers))
    return join_notes(map(_format_warning, for_users))


def join_notes(notes: "Iterator[str] | Sequence[str]") -> str:
    """Different notes, a line each."""
    return "\n".join(dict.fromkeys(filter(None, notes)))


def _format_warning(warning: Any) -> str:
    if isinstance(warning.message, FewerFeaturesWarning):
        return warning.message.note
    return f"{warning.category.__name__}: {' '.join(str(warning.message).split())}"
