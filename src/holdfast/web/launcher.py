"""Starting, stopping and watching studies: each is a process of its own that outlives the server, and there is a queue.

What a study is doing is read from its store and from the lock on it, whoever started it. The queue is a folder of
records, so that it is there again when the server is. A store is counted once for all who watch it.
"""

import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

import anyio
import anyio.to_thread

from holdfast.serialization import from_plain, to_plain
from holdfast.study.store import StoreError, find_writer, holds_lock, read_progress
from holdfast.web.folder import Folder, Stamp, read_record, stamp_file, write_private, write_record
from holdfast.web.guard import RefusedError

logger = logging.getLogger("holdfast.web")
State: TypeAlias = Literal["queued", "starting", "running", "stopping", "stopped", "finished", "failed", "unreadable"]
POLL_SECONDS = 0.5
"""Seconds between two passes through the queue."""
COUNT_SECONDS = 1.0
"""Seconds between two counts of a store that is written, whoever asks."""
PACE_SECONDS = 2.0
"""Seconds that a study must have been seen to run before its rate is known."""
MAX_QUEUED = 100
HAS_START_TIMES = Path("/proc/self/stat").exists()
KILLED = "It ended without a message, as if it had been killed; what was finished is stored."
NOTHING_ADDED = "The study is as it was; nothing could be added to it:"
COMMAND_PREFIX = "holdfast: "
"""With what the sentences of a command begin, unlike those of the libraries that it uses."""
NOTES = ("holdfast: note: ", "holdfast: warning: ")


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
    rate : float
        Fits per second since it was first seen to run; 0 if that is not known, or it does not run.
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
    rate: float = 0.0

    @property
    def said(self) -> str:
        """How far it has come, at what rate and how long the rest will take, in words."""
        if self.state == "queued":
            return f"number {self.place} in the queue"
        if not self.total:
            return ""
        failed = f", {self.failed:,} failed" if self.failed else ""
        pace = ""
        if self.rate and self.state == "running":
            per_second = f"{self.rate:.2g}" if self.rate < 10 else f"{self.rate:,.0f}"
            pace = f" · {per_second} per second, {describe_time_left((self.total - self.done) / self.rate)}"
        return f"{self.done:,} of {self.total:,} fits{failed}{pace}"

    @property
    def active(self) -> bool:
        """Whether it may change without being asked to."""
        return self.state in ("queued", "starting", "running", "stopping")


def describe_time_left(seconds: float) -> str:
    """Say about how long something will take."""
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 1.5 * size:
            return f"about {seconds / size:,.0f} {unit}s left"
    return "about a minute left" if seconds >= 45 else "less than a minute left"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command of holdfast that waits in the queue, or was started from there.

    Attributes
    ----------
    arguments : tuple of str
        The command.
    submitted : float
        When it was put into the queue, in seconds since 1970.
    begun, stopped : bool
        Whether it was to be started, and to be stopped.
    pid : int or None
        Number of its process.
    born : str or None
        Start time of that process; process ids are reused.
    """

    arguments: tuple[str, ...]
    submitted: float
    begun: bool = False
    stopped: bool = False
    pid: int | None = None
    born: str | None = None

    def __post_init__(self) -> None:
        if not self.arguments or any("\0" in text for text in self.arguments) or (self.pid or 2) < 2:
            raise ValueError("Expected a command and the number of a process, got something else.")

    @property
    def waits(self) -> bool:
        """Whether it is still to be started."""
        return not self.begun and not self.stopped

    @property
    def runs(self) -> bool:
        """Whether its process still runs."""
        return self.pid is not None and _is_alive(self.pid, self.born)


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
        self.changes = 0
        self._children: dict[str, int] = {}
        self._starting: set[str] = set()
        self._stopping: set[str] = set()
        self._counted: dict[str, tuple[Stamp | None, float, StudyState]] = {}
        self._first_seen: dict[str, tuple[float, int]] = {}
        self._lock = threading.RLock()

    # The queue

    def submit(self, study: str, arguments: Sequence[str]) -> StudyState:
        """Put a command of holdfast into the queue, by which a study is begun or goes on."""
        with self._lock:
            state = self.states().get(study)
            if state is not None and state.active:
                raise RefusedError(409, f"The study {study} is {state.state} already; wait for it, or stop it first.")
            if len(self._waiting(self._jobs())) >= MAX_QUEUED:
                raise RefusedError(429, f"There are {MAX_QUEUED} studies in the queue already; wait for some to end.")
            self.folder.check_room()
            self._log(study).unlink(missing_ok=True)
            self._stopping.discard(study)
            self._write(study, Job(arguments=tuple(arguments), submitted=time.time()))
            self.start_waiting()
            return self.state(study)

    def submit_study(self, study: str, config: str) -> StudyState:
        """Put ``holdfast study`` into the queue, with a configuration file."""
        file = self._config(study)
        write_private(file, config)
        store = self.folder.store_of(study)
        return self.submit(study, ["study", "--quiet", f"--config={file}", f"--store={store}"])

    def _config(self, study: str) -> Path:
        return self.folder.queue / f"{study}.toml"

    def _record(self, study: str) -> Path:
        return self.folder.queue / f"{study}.json"

    def _read(self, study: str) -> Job | None:
        try:
            return from_plain(Job, read_record(self._record(study)))
        except ValueError:
            return None

    def _write(self, study: str, job: Job) -> None:
        write_record(self._record(study), to_plain(job))
        self.changes += 1

    def _jobs(self) -> dict[str, Job]:
        """What is and was in the queue, the first come first; what cannot be read is left out."""
        records = {path.stem: self._read(path.stem) for path in self.folder.queue.glob("[!.]*.json")}
        jobs = {study: job for study, job in records.items() if job is not None}
        return dict(sorted(jobs.items(), key=lambda item: (item[1].submitted, item[0])))

    def _waiting(self, jobs: Mapping[str, Job]) -> list[str]:
        """Studies that wait, the first come first."""
        return [study for study, job in jobs.items() if job.waits and study not in self._children]

    def _started(self, jobs: Mapping[str, Job]) -> dict[str, int]:
        """Processes that were started for studies and still run."""
        started = {study: job.pid for study, job in jobs.items() if job.pid is not None and job.runs}
        return started | {
            study: number for study, number in self._children.items() if _is_alive(number, _start_time(number))
        }

    async def run(self) -> None:
        """Process the queue until cancelled."""
        while True:
            try:
                await anyio.to_thread.run_sync(self.start_waiting)
            except Exception as error:  # a full disk, too many processes: it is tried again
                logger.debug("The queue could not be processed: %s", error)
            await anyio.sleep(POLL_SECONDS)

    def start_waiting(self) -> None:
        """Start the studies that wait, as many as may run at a time."""
        with self._lock:
            self._reap()
            jobs = self._jobs()
            for study in self._waiting(jobs)[: max(self.at_once - len(self._started(jobs)), 0)]:
                self._start(study, jobs[study])

    def _reap(self) -> None:
        """Let go of processes that have ended; one that was killed said nothing, so that is written for it."""
        for study, process in list(self._children.items()):
            with suppress(ChildProcessError):
                ended, status = os.waitpid(process, os.WNOHANG)
                if not ended:
                    continue
                if os.WIFSIGNALED(status):
                    with suppress(OSError), self._log(study).open("a") as file:
                        file.write(f"{COMMAND_PREFIX}{KILLED}\n")
            del self._children[study]
            self.changes += 1

    def _start(self, study: str, job: Job) -> None:
        """Start a process. That it is to be is written before, so that none is ever started twice."""
        begun = replace(job, begun=True)
        self._starting.add(study)  # others that ask meanwhile do not wait for the lock
        try:
            self._write(study, begun)
            self._children[study] = process = _spawn(job.arguments, self._log(study))
            self._write(study, replace(begun, pid=process, born=_start_time(process)))
        except (OSError, ValueError) as error:
            if study in self._children or self._read(study) == job:  # it runs, or it waits on: the disk is full
                raise
            write_private(self._log(study), f"The study could not be started: {error}\n")
        finally:
            self._starting.discard(study)

    def stop(self, study: str) -> StudyState:
        """Stop a study after the fits that it is at, or take it out of the queue; it can be resumed."""
        with self._lock:
            state, job = self.state(study), self._read(study)
            if not state.active:
                raise RefusedError(409, f"The study {study} is not running.")
            if state.state != "queued":
                self._terminate(study)
                self._stopping.add(study)
            if job is not None:
                self._write(study, replace(job, stopped=True))
            self.changes += 1
            return self.state(study)

    def _terminate(self, study: str) -> None:
        store = self.folder.store_of(study)
        process, started = find_writer(store), self._started(self._jobs()).get(study)
        if process is not None and process != started and not holds_lock(store, process):
            raise RefusedError(409, f"The study {study} runs on another machine, or is another user's; stop it there.")
        number = process or started
        if number is not None:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGTERM)

    def resume(self, study: str) -> StudyState:
        """Put a study that was stopped into the queue again; one that never began, as it was asked for."""
        if self.folder.find(study) is not None:
            return self.submit(study, ["resume", "--quiet", "--", str(self.folder.store_of(study))])
        self.state(study)
        job = self._read(study)
        if job is None:
            raise RefusedError(409, f"How the study {study} was to be started is not known any more; start a new one.")
        return self.submit(study, job.arguments)

    def remove(self, study: str) -> Path | None:
        """Take a study out of the folder, and return where its store lies now; None if it had none."""
        with self._lock:
            state = self.state(study)
            if state.active:
                raise RefusedError(409, f"The study {study} is {state.state}; stop it before it is removed.")
            trash = self.folder.move_to_trash(study)
            for file in (self._record(study), self._config(study), self._log(study)):
                file.unlink(missing_ok=True)
            self.changes += 1
            return trash

    # What studies are doing

    def states(self) -> dict[str, StudyState]:
        """How far every study of the folder has come: those that are active first, then the newest."""
        names = [*self.folder.stores(), *self._queued()]
        jobs = self._jobs()
        states = {study: self._state(study, jobs) for study in dict.fromkeys(names)}
        return dict(sorted(states.items(), key=lambda item: not item[1].active))

    def state(self, study: str) -> StudyState:
        """How far a study has come."""
        if self.folder.find(study) is None and study not in self._queued():
            raise RefusedError(404, "There is no such study in this folder.")
        return self._state(study, self._jobs())

    def _queued(self) -> list[str]:
        return [path.stem for path in self.folder.queue.glob("[!.]*.json")]

    def _state(self, study: str, jobs: Mapping[str, Job]) -> StudyState:
        path, job, waiting = self.folder.store_of(study), jobs.get(study), self._waiting(jobs)
        writer = find_writer(path)  # before counting: one that ends meanwhile is seen as running, not as stopped
        try:
            seen = self._count(study, path, writing=writer is not None)
        except StoreError as error:
            return StudyState(study=study, state="unreadable", message=self.folder.shown(str(error)))
        if writer is None:
            self._first_seen.pop(study, None)
            seen = replace(seen, rate=0.0)
        if study in waiting:
            return replace(seen, state="queued", place=waiting.index(study) + 1)
        if writer is not None or study in self._starting or study in self._started(jobs):
            stopping = study in self._stopping or (job is not None and job.stopped)
            untouched = writer is None and job is not None and seen.changed < job.submitted
            starting = not seen.total or untouched  # what it has is from before
            return replace(seen, state="stopping" if stopping else "starting" if starting else "running")
        self._stopping.discard(study)
        stopped = job is not None and job.stopped
        if seen.total and seen.done >= seen.total:
            why = "" if stopped else self._last_message(study, only=COMMAND_PREFIX)
            return replace(seen, state="finished", message=f"{NOTHING_ADDED} {why}" if why else "")
        message = "" if stopped else self._last_message(study) or ("" if job is None else KILLED)
        return replace(seen, state="stopped" if seen.total or stopped else "failed", message=message)

    def _count(self, study: str, path: Path, *, writing: bool) -> StudyState:
        """How far the store of a study has come; counted again when it has changed, once a second if it is written."""
        stamp, now, known = stamp_file(path), time.monotonic(), self._counted.get(study)
        if known is not None and (stamp == known[0] is not None or (writing and now - known[1] < COUNT_SECONDS)):
            return known[2]
        seen = _count(study, path)
        if writing:
            begun, first = self._first_seen.setdefault(study, (now, seen.done))
            if now - begun >= PACE_SECONDS:
                seen = replace(seen, rate=float(f"{(seen.done - first) / (now - begun):.3g}"))
        self._counted[study] = stamp, now, seen
        return seen

    def _log(self, study: str) -> Path:
        return self.folder.logs / f"{study}.txt"

    def _last_message(self, study: str, only: str = "") -> str:
        """The last sentence that the command of a study wrote, of lines that begin so; notes do not count."""
        try:
            with self._log(study).open("rb") as file:
                file.seek(max(os.fstat(file.fileno()).st_size - 4000, 0))
                text = file.read(4000).decode(errors="replace")
        except OSError:
            return ""
        lines = [line.strip() for line in text.splitlines() if line.strip() and line.startswith(only)]
        lines = [line for line in lines if not line.startswith(NOTES)]
        return self.folder.shown(lines[-1].removeprefix(COMMAND_PREFIX)) if lines else ""


def _spawn(arguments: Sequence[str], log: Path) -> int:
    """Start a command of holdfast in a process that outlives this one, and return its number."""
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "holdfast", *arguments],
        {**os.environ, "PYTHONSAFEPATH": "1"},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, str(log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ],
        setsid=True,  # Ctrl-C is not for it
    )


def _count(study: str, path: Path) -> StudyState:
    """How far the store of a study has come."""
    if not path.exists():
        return StudyState(study=study, state="stopped")
    progress, files = read_progress(path), (path, path.with_name(f"{path.name}-wal"))
    return StudyState(
        study=study, state="stopped", done=progress.done, total=progress.total, failed=progress.failed,
        splits=progress.n_splits, candidates=progress.n_candidates,
        changed=max((file.stat().st_mtime for file in files if file.exists()), default=0.0),
    )  # fmt: skip


def _start_time(process: int) -> str | None:
    """Start time of a process, as the system writes it; None if there is none, or that is not known."""
    try:
        facts = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    state, *rest = facts.rpartition(")")[2].split()
    return None if state == "Z" else rest[18]


def _is_alive(process: int, born: str | None) -> bool:
    """Whether a process still runs: the same one, not another with its number."""
    if HAS_START_TIMES:
        return born is not None and _start_time(process) == born
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


# Progress as it happens


POLL_STORES_SECONDS = 1.0
"""Seconds between two counts of all studies."""
STREAM_SECONDS = 0.5
"""Seconds between two checks of a stream for what has changed."""
HEARTBEAT = 15
"""Seconds after which something is sent, so that a broken connection is noticed."""
RETRY = "retry: 1000\n\n"
"""How many milliseconds a browser waits before it connects again."""


@dataclass(eq=False)
class Watch:
    """Counts the studies of a folder at most once a second for all who follow them, and after each command.

    Attributes
    ----------
    launcher : Launcher
        Knows what studies are doing.
    """

    launcher: Launcher
    _seen: dict[str, StudyState] = field(default_factory=dict)
    _polled: tuple[float, int] | None = None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)
    _closed: bool = False

    async def states(self) -> dict[str, StudyState]:
        """How far every study has come, at most a second ago."""
        async with self._lock:
            now, changes = time.monotonic(), self.launcher.changes
            if self._polled is None or now - self._polled[0] >= POLL_STORES_SECONDS or changes != self._polled[1]:
                self._seen = await anyio.to_thread.run_sync(self.launcher.states, abandon_on_cancel=True)
                self._polled = time.monotonic(), changes
            return self._seen

    async def state(self, study: str) -> StudyState:
        """How far a study has come, at most a second ago."""
        state = (await self.states()).get(study)
        if state is None:
            raise RefusedError(404, "There is no such study in this folder.")
        return state

    def close(self) -> None:
        """End all streams, as the server is about to end; browsers connect again when it is back."""
        self._closed = True

    async def follow(self, study: str | None = None) -> AsyncIterator[str]:
        """How far a study, or every study, has come, as server-sent events, whenever that changes.

        The stream of one study ends with it; that of all ends when the client leaves, or the server, and also
        lists the studies when there are others.
        """
        yield RETRY
        sent, last = time.monotonic(), dict[str, StudyState]()
        while not self._closed:
            states = await self.states()
            wanted = states if study is None else {name: state for name, state in states.items() if name == study}
            for name, state in wanted.items():
                if state != last.get(name):
                    facts = json.dumps({**to_plain(state), "said": state.said})
                    yield f"event: progress\ndata: {facts}\n\n"
                    sent = time.monotonic()
            if study is None and last and set(last) != set(wanted):
                yield f"event: studies\ndata: {json.dumps({'studies': list(wanted)})}\n\n"
            last = wanted
            if study is not None and not any(state.active for state in wanted.values()):
                return
            if time.monotonic() - sent > HEARTBEAT:
                yield ": still here\n\n"
                sent = time.monotonic()
            await anyio.sleep(STREAM_SECONDS)
