"""Starting and stopping studies: each is a process of its own that outlives the server, and there is a queue.

What a study is doing is read from its store and from the lock on it, whoever started it. The queue is a folder of
records, so that it is there again when the server is.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import anyio
import anyio.to_thread

from holdfast.study.store import StoreError, find_writer, read_progress
from holdfast.web.folder import Folder, Stamp, read_record, stamp_file, write_record
from holdfast.web.guard import RefusedError

State: TypeAlias = Literal["queued", "starting", "running", "stopping", "stopped", "finished", "failed", "unreadable"]
EVERY = 0.5
"""Seconds between two looks at the queue."""


@dataclass(frozen=True, kw_only=True)
class StudyState:
    """How far a study has come.

    Attributes
    ----------
    study : str
        Its name: that of its store without the ending.
    state : str
        ``queued``, ``starting``, ``running``, ``stopping``, ``stopped`` (it can be resumed), ``finished``, ``failed``
        (it ended before its first fit) or ``unreadable``.
    done, total, failed : int
        Number of fits that ended, that there are to be, and that failed.
    splits, candidates : int
        Number of splits and candidates so far.
    place : int or None
        Place in the queue, from 1.
    message : str
        What went wrong, in a sentence; empty if nothing did.
    changed : float
        When its store was last written, in seconds since 1970.
    """

    study: str
    state: State
    done: int = 0
    total: int = 0
    failed: int = 0
    splits: int = 0
    candidates: int = 0
    place: int | None = None
    message: str = ""
    changed: float = 0.0

    @property
    def active(self) -> bool:
        """Whether it may change without being asked to."""
        return self.state in ("queued", "starting", "running", "stopping")


class Launcher:
    """Starts studies of a folder, some at a time.

    Parameters
    ----------
    folder : Folder
        Where stores, queue and logs are.
    at_once : int
        How many studies run at a time; others wait.
    """

    def __init__(self, folder: Folder, at_once: int = 1) -> None:
        self.folder, self.at_once = folder, at_once
        self._children: dict[str, int] = {}
        self._stopping: set[str] = set()
        self._counted: dict[str, tuple[Stamp, StudyState]] = {}
        self._lock = threading.RLock()

    # The queue

    def submit(self, study: str, arguments: Sequence[str]) -> StudyState:
        """Put a command of holdfast into the queue, by which a study is begun or goes on."""
        with self._lock:
            state = self.states().get(study)
            if state is not None and state.active:
                raise RefusedError(409, f"The study {study} is {state.state} already; wait for it, or stop it first.")
            self._log(study).unlink(missing_ok=True)
            write_record(self._record(study), {"arguments": list(arguments), "submitted": time.time(), "pid": None})
            self.look()
            return self.state(study)

    def _record(self, study: str) -> Path:
        return self.folder.queue / f"{study}.json"

    def _waiting(self) -> list[str]:
        """Studies that wait, the first come first."""
        records = {path.stem: read_record(path) for path in self.folder.queue.glob("*.json")}
        waiting = {study: record for study, record in records.items() if record and record.get("pid") is None}
        return sorted(waiting, key=lambda study: (waiting[study].get("submitted", 0), study))

    def _started(self) -> dict[str, int]:
        """Processes that were started for studies and still run."""
        records = {path.stem: read_record(path) or {} for path in self.folder.queue.glob("*.json")}
        return {
            study: record["pid"]
            for study, record in records.items()
            if isinstance(record.get("pid"), int) and _is_alive(record["pid"], record.get("born"))
        }

    async def run(self) -> None:
        """Look after the queue until cancelled."""
        while True:
            with suppress(OSError):
                await anyio.to_thread.run_sync(self.look)
            await anyio.sleep(EVERY)

    def look(self) -> None:
        """Start studies that wait while there is room."""
        with self._lock:
            self._reap()
            started = self._started()
            self._stopping &= set(started)
            for study in self._waiting()[: max(self.at_once - len(started), 0)]:
                self._start(study)

    def _reap(self) -> None:
        """Let go of processes that have ended."""
        for study, process in list(self._children.items()):
            with suppress(ChildProcessError):
                if os.waitpid(process, os.WNOHANG) == (0, 0):
                    continue
            del self._children[study]

    def _start(self, study: str) -> None:
        record = read_record(self._record(study))
        if record is None:
            return
        log = str(self._log(study))
        process = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "holdfast", *record["arguments"]],
            {**os.environ, "PYTHONSAFEPATH": "1"},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            ],
            setsid=True,  # it outlives the server, and Ctrl-C is not for it
        )
        self._children[study] = process
        write_record(self._record(study), {**record, "pid": process, "born": _born(process)})

    def stop(self, study: str) -> StudyState:
        """Stop a study after the fits that it is at, or take it out of the queue; it can be resumed."""
        state = self.state(study)
        if state.state == "queued":
            self._record(study).unlink(missing_ok=True)
            return self.states().get(study) or StudyState(study=study, state="stopped")
        process = find_writer(self.folder.store_of(study)) or self._started().get(study)
        if not state.active or process is None:
            raise RefusedError(409, f"The study {study} is not running.")
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
        self._stopping.add(study)
        return self.state(study)

    def go_on(self, study: str) -> StudyState:
        """Put a study that was stopped into the queue again; one that never began, as it was asked for."""
        if self.folder.find(study) is not None:
            return self.submit(study, ["resume", "--quiet", "--", str(self.folder.store_of(study))])
        self.state(study)
        arguments = (read_record(self._record(study)) or {}).get("arguments", [])
        if not arguments:
            raise RefusedError(409, f"How the study {study} was to be started is not known any more; start a new one.")
        return self.submit(study, arguments)

    def remove(self, study: str) -> Path | None:
        """Take a study out of the folder, and return where its store lies now; None if it had none."""
        with self._lock:
            state = self.state(study)
            if state.active:
                raise RefusedError(409, f"The study {study} is {state.state}; stop it before it is removed.")
            place = self.folder.put_away(study)
            for file in (self._record(study), self._log(study)):
                file.unlink(missing_ok=True)
            return place

    # What studies are doing

    def states(self) -> dict[str, StudyState]:
        """How far every study of the folder has come: those that are active first, then the newest."""
        names = [*self.folder.stores(), *(path.stem for path in self.folder.queue.glob("*.json"))]
        started, waiting = self._started(), self._waiting()
        found = {study: self._state(study, started, waiting) for study in dict.fromkeys(names)}
        return dict(sorted(found.items(), key=lambda item: not item[1].active))

    def state(self, study: str) -> StudyState:
        """How far a study has come."""
        if self.folder.find(study) is None and not self._is_queued(study):
            raise RefusedError(404, "There is no such study in this folder.")
        return self._state(study, self._started(), self._waiting())

    def _is_queued(self, study: str) -> bool:
        return study in {path.stem for path in self.folder.queue.glob("*.json")}

    def _state(self, study: str, started: dict[str, int], waiting: list[str]) -> StudyState:
        path = self.folder.store_of(study)
        try:
            seen = self._count(study, path)
        except StoreError as error:
            return StudyState(study=study, state="unreadable", message=self.folder.shown(str(error)))
        if study in waiting:
            return replace(seen, state="queued", place=waiting.index(study) + 1)
        if find_writer(path) is not None or study in started:
            return replace(
                seen, state="stopping" if study in self._stopping else "running" if seen.total else "starting"
            )
        if seen.total and seen.done >= seen.total:
            return replace(seen, state="finished")
        return replace(seen, state="stopped" if seen.total else "failed", message=self._last_words(study))

    def _count(self, study: str, path: Path) -> StudyState:
        """How far the store of a study has come; counted again when it has changed."""
        stamp, known = stamp_file(path), self._counted.get(study)
        if known is not None and stamp == known[0]:
            return known[1]
        seen = _count(study, path)
        if stamp is not None:
            self._counted[study] = stamp, seen
        return seen

    def _log(self, study: str) -> Path:
        return self.folder.logs / f"{study}.txt"

    def _last_words(self, study: str) -> str:
        """The last sentence that the command of a study wrote."""
        try:
            text = self._log(study).read_text(encoding="utf-8", errors="replace")[-4000:]
        except OSError:
            return ""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return self.folder.shown(lines[-1].removeprefix("holdfast: ")) if lines else ""


def _count(study: str, path: Path) -> StudyState:
    """How far the store of a study has come."""
    if not path.exists():
        return StudyState(study=study, state="stopped")
    progress = read_progress(path)
    return StudyState(
        study=study, state="stopped", done=progress.done, total=progress.total, failed=progress.failed,
        splits=progress.n_splits, candidates=progress.n_candidates, changed=_changed(path),
    )  # fmt: skip


def _changed(path: Path) -> float:
    """When a store was last written."""
    times = [file.stat().st_mtime for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
    return max(times, default=0.0)


def _born(process: int) -> str | None:
    """When a process was started, in the words of the system; None if there is none, or that is not known."""
    try:
        facts = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    state, *rest = facts.rpartition(")")[2].split()
    return None if state == "Z" else rest[18]


def _is_alive(process: int, born: str | None) -> bool:
    """Whether a process still runs: the same one, not another with its number."""
    if born is not None:
        return _born(process) == born
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
