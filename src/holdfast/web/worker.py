"""Worker processes: what touches files of strangers runs in a process of its own, with limits, and answers in JSON.

Workers are forked from a process that has imported everything and never saw a file, a request or the token, so that
they start at once and know nothing. Nothing is unpickled that comes back from one. The limits keep a file that was
made to exhaust its reader from hindering anybody; they are no prison: a worker has the rights of the user.
"""

import json
import multiprocessing
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

PRELOADED = ["holdfast.web.preloaded", "scipy.stats", "pyarrow.parquet", "python_calamine"]
"""Modules that workers find loaded: the tasks, and what is otherwise imported only when it is needed."""
GIGABYTE = 1_000_000_000
MAX_ANSWERED = 64_000_000
"""Bytes of the longest answer."""
PASSED_VARIABLES = re.compile(
    r"PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|PYTHON\w+|\w+_NUM_THREADS|NUMBA_\w+|HOLDFAST_\w+|LD_LIBRARY_PATH"
)
"""Variables of the environment that a worker needs; others may hold secrets."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a task may use.

    Attributes
    ----------
    seconds : float
        Time until it must have answered.
    memory : int
        Bytes of memory on top of what a worker has at its start.
    written : int
        Bytes of the largest file that it may write.
    """

    seconds: float = 120
    memory: int = 4 * GIGABYTE
    written: int = 2 * GIGABYTE


DEFAULT_LIMITS = Limits()


class TaskError(ValueError):
    """A task ended without an answer; the message is for the person who asked, ``question`` what would help."""

    def __init__(self, sentence: str, question: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.question = question


class ExhaustedError(TaskError):
    """A task used up its limits or broke down, so that trying the file again in another way would take as long."""


def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def warm() -> None:
    """Start the process from which workers are forked, so that the first of them need not wait."""
    run_task("warm", {}, Limits(seconds=300))


_running: set[int] = set()


def stop_all() -> None:
    """Stop all workers, as nobody waits for them any more."""
    for process in list(_running):
        _kill(process)


def run_task(name: str, arguments: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Any:
    """Run a task of :data:`holdfast.web.tasks.TASKS` in a worker, and return its answer.

    Raises
    ------
    TaskError
        If it refused its input, took too long, needed too much memory, or broke down.
    """
    context = _context()
    receiving, sending = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(sending, name, json.dumps(arguments), limits), daemon=True)
    end = time.monotonic() + limits.seconds
    try:
        worker.start()
    except (OSError, EOFError) as error:
        receiving.close()
        raise TaskError(f"No process could be started to read the file ({error}); try again later.") from None
    finally:
        sending.close()
    _running.add(worker.pid)
    try:
        content = _receive(receiving, end, limits)
        worker.join(5 if content is None else 0)
        return _read_answer(content, worker.exitcode, limits)
    finally:
        _running.discard(worker.pid)
        receiving.close()
        if worker.is_alive():
            _kill(worker.pid)
        worker.join()
        worker.close()


def _kill(process: int) -> None:
    """End a worker with everything that it started."""
    for end in (os.killpg, os.kill):  # by itself if it has not yet become the head of its group
        with suppress(OSError):
            end(process, signal.SIGKILL)


def _receive(receiving: connection.Connection, end: float, limits: Limits) -> bytes | None:
    """Receive all that a worker sends until it closes its side; None if that is nothing."""
    content = bytearray()
    while receiving.poll(max(end - time.monotonic(), 0)):
        piece = os.read(receiving.fileno(), 1 << 20)
        if not piece:
            return bytes(content) or None
        content += piece
        if len(content) > MAX_ANSWERED:
            raise TaskError("The answer is too long to be shown; try a smaller file.")
    raise ExhaustedError(_too_slow(limits))


def _read_answer(content: bytes | None, code: int | None, limits: Limits) -> Any:
    try:
        answer = json.loads(content or b"")
    except ValueError:
        raise ExhaustedError(_why_it_broke(code, limits)) from None
    if "error" in answer:
        raise TaskError(answer["error"], answer.get("question"))
    return answer["answer"]


def _too_slow(limits: Limits) -> str:
    return f"This took longer than {limits.seconds:g} seconds and was stopped; try a smaller file."


def _why_it_broke(code: int | None, limits: Limits) -> str:
    if code == -signal.SIGXCPU:
        return _too_slow(limits)
    if code in (-signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS):
        return "The file could not be read: reading it broke down. Is it damaged, or very large when unpacked?"
    return "The file could not be read: reading it ended without an answer."


def _work(sending: connection.Connection, name: str, arguments: str, limits: Limits) -> None:
    """Run a task in this process, which ends with it."""
    _separate()
    _limit(limits)
    content = _answer(name, arguments, limits)
    if len(content) > MAX_ANSWERED:
        content = json.dumps({"error": "The answer is too long to be shown; try a smaller file."}).encode()
    with open(sending.fileno(), "wb", closefd=False) as out:
        out.write(content)


def _answer(name: str, arguments: str, limits: Limits) -> bytes:
    from holdfast.serialization import to_plain
    from holdfast.web.tasks import TASKS

    try:
        answer: dict[str, Any] = {"answer": to_plain(TASKS[name](**json.loads(arguments)))}
        return json.dumps(answer).encode()
    except MemoryError:
        answer = {"error": f"This needs more than the {limits.memory / GIGABYTE:g} GB of memory that are allowed."}
    except Exception as error:  # a reader may fail in any way on a file of another kind
        expected = isinstance(error, ValueError)
        sentence = str(error) if expected else f"The file could not be read ({type(error).__name__}): {error}"
        answer = {"error": sentence[:2000], "question": to_plain(getattr(error, "question", None))}
    return json.dumps(answer).encode()


def _separate() -> None:
    """Leave the terminal, the group of processes and the environment of the server."""
    with suppress(OSError):
        os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):  # what a library prints is nobody's
        os.dup2(nowhere, handle)
    sys.stdout = sys.stderr = open(nowhere, "w")  # noqa: SIM115
    for variable in list(os.environ):
        if not PASSED_VARIABLES.fullmatch(variable):
            del os.environ[variable]


def _limit(limits: Limits) -> None:
    """Bound what this process may use, for good, as far as the system can; time is watched from outside, too."""
    seconds = max(int(limits.seconds), 1)
    for kind, most, spare in (
        (resource.RLIMIT_AS, _virtual_memory() + limits.memory, 0),
        (resource.RLIMIT_CPU, seconds + 1, 1),  # first a signal that says why, then an end
        (resource.RLIMIT_FSIZE, limits.written, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, hard = resource.getrlimit(kind)
        allowed = [number if hard == resource.RLIM_INFINITY else min(number, hard) for number in (most, most + spare)]
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (allowed[0], allowed[1]))


def _virtual_memory() -> int:
    """Bytes of address space that this process has."""
    try:
        with open("/proc/self/statm") as facts:
            return int(facts.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 8 * GIGABYTE
