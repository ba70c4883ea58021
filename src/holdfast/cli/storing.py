"""Where a study is kept if nothing is said, and the commands to type next."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.app import app
from holdfast.cli.terminal import COMMANDING, quote_path

if TYPE_CHECKING:
    from holdfast.io import Table
    from holdfast.study import Study, StudyResult
    from holdfast.study.matching import Match

MOST_NAMES = 1000
LONGEST_NAME = 120  # bytes: SQLite and the lock add endings to the name of the store
NOT_KEPT = "The study was in memory only, as this folder cannot be written; --store FILE keeps it in another one."
NEXT = {
    "report": "write the report, one page for everybody",
    "features": "list the features, with direction and effect",
    "choose": "choose a candidate by accuracy and stability",
    "show": "show this table again",
    "resume": "go on where it was stopped",
}
"""Commands that take a store, with what they do; those that the program does not have are left out."""


def default_name(data: str) -> str:
    """The name of a data file or data set, as the beginning of a file's name in the current folder."""
    path = Path(data)
    stem = Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem
    plain = re.sub(r"[\n\t/\\]", "_", COMMANDING.sub("_", stem))
    plain = re.sub("^[-.]", "_", plain) or "data"
    return plain.encode()[:LONGEST_NAME].decode(errors="ignore")


def run_in_default_store(
    name: str, study: "Study", data: "Table", run: Callable[[str | None], "StudyResult"], *, fixed_number: bool
) -> tuple["StudyResult", list[str]]:
    """Run a study in ``NAME-study.db``, or the next name that is free or holds this study; also say which and why.

    ``run`` gets the path of the store, or None where nothing can be written. Whoever begins to write a store first has
    it: a store of another study, or one that another process writes, is left alone. Where every fit failed, there is
    nothing to keep. ``fixed_number`` says whether it is known how many fits there will be.
    """
    from holdfast.study.store import LockedStoreError, OtherStudyError, UnwritableStoreError

    others: dict[str, str] = {}
    for number in range(1, MOST_NAMES + 1):
        path = f"{name}-study{'' if number == 1 else f'-{number}'}.db"
        match, reason = _examine(path, study, data)
        if reason:
            others[path] = reason
            continue
        try:
            result = run(path)
            if not result.finished:
                Path(path).unlink(missing_ok=True)  # the same command shall try again
            return result, _describe_place(path, match, others, fixed_number)
        except UnwritableStoreError:
            return run(None), [NOT_KEPT]
        except (LockedStoreError, OtherStudyError) as error:
            if match is not None and isinstance(error, LockedStoreError):
                raise  # this very study is running
            others[path] = "is being written by another process"
    raise ValueError(f"Expected room for a study among {name}-study.db and {MOST_NAMES} more, got none; give --store.")


def _examine(path: str, study: "Study", data: "Table") -> tuple["Match | None", str]:
    """How the study in a file compares with this one, None if the file is free; or why the file cannot be used."""
    from holdfast.study.matching import match_store
    from holdfast.study.store import StoreError

    if not os.path.lexists(path):
        return None, ""
    try:
        match = match_store(study, data.X, data.y, data.groups, Path(path))
    except StoreError:
        return None, "is no store of a study that can be used"
    if match is not None and match.differences:
        return match, f"holds another study, which differs in {'; '.join(match.differences)}"
    return match, ""


def _describe_place(path: str, match: "Match | None", others: dict[str, str], fixed_number: bool) -> list[str]:
    """Say which files were left alone and why, and what the store held already."""
    lines = [f"{other} {reason}." for other, reason in others.items()]
    if len(lines) > 2:
        lines = [f"{len(lines) - 1} files from {next(iter(others))} on were left alone.", lines[-1]]
    if match is not None:
        of_all = f" of {match.total:,}" if fixed_number else ""
        lines.append(f"Continued {path}: {match.done:,}{of_all} fits were there.")
    return lines


def list_next(result: "StudyResult", resume: str) -> list[str]:
    """Where a study is kept, and the commands to type next, in lines; nothing for a study in memory."""
    if result.path is None:
        return []
    commands = next_commands(result, resume)
    width = max(map(len, commands))
    return [
        f"The study is in {result.path}. Next:",
        *(f"  {command:<{width}}  {what}" for command, what in commands.items()),
    ]


def next_commands(result: "StudyResult", resume: str) -> dict[str, str]:
    """The commands that make sense for a stored study, with what they do."""
    known = {_command_name(command) for command in app.registered_commands}
    leave_out = set() if len(result.candidates) > 1 and result.has_scores else {"choose"}
    leave_out |= {"resume"} if result.complete else set()
    names = [name for name in NEXT if name in known and name not in leave_out]
    store = quote_path(result.path)
    return {resume if name == "resume" else f"holdfast {name} {store}": NEXT[name] for name in names}


def _command_name(command: Any) -> str:
    return command.name or command.callback.__name__.replace("_", "-")
