"""Worker processes: what touches files of strangers runs in a process of its own, with limits, and answers in JSON.

Workers are forked from a process that has imported everything and never saw a file, so that they start at once. Nothing
is unpickled that comes back from one.
"""

import json
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

PRELOADED = ["holdfast.web.preloaded", "scipy.stats", "pyarrow.parquet", "python_calamine"]
"""Modules that workers find loaded: the tasks, and what is otherwise imported only when it is needed."""
GIGABYTE = 1_000_000_000
MOST_ANSWERED = 64_000_000
"""Bytes of the longest answer."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a task may use.

    Attributes
    ----------
    seconds : float
        Time until it must have answered.
    memory : int
        Bytes of memory beside what a worker has at its start.
    written : int
        Bytes of the largest file that it may write.
    """

    seconds: float = 120
    memory: int = 4 * GIGABYTE
    written: int = 2 * GIGABYTE


USUAL = Limits()


class TaskError(ValueError):
    """A task ended without an answer; the message is for the person who asked, ``question`` what would help."""

    def __init__(self, sentence: str, question: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.question = question


def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def warm() -> None:
    """Start the process from which workers are forked, so that the first of them need not wait."""
    run_task("warm", {}, Limits(seconds=300))


def run_task(name: str, arguments: Mapping[str, Any], limits: Limits = USUAL) -> Any:
    """Run a task of :data:`holdfast.web.tasks.TASKS` in a worker, and return its answer.

    Raises
    ------
    TaskError
        If it refused its input, took too long, needed too much memory, or broke down.
    """
    context = _context()
    receiving, sending = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(sending, name, json.dumps(arguments), limits), daemon=True)
    try:
        worker.start()
        sending.close()
        if not receiving.poll(limits.seconds):
            raise TaskError(f"This took longer than {limits.seconds:g} seconds and was stopped; try a smaller file.")
        return _read_answer(receiving, worker, limits)
    finally:
        receiving.close()
        if worker.is_alive():
            worker.kill()
        worker.join()
        worker.close()


def _read_answer(receiving: connection.Connection, worker: Any, limits: Limits) -> Any:
    try:
        answer = json.loads(receiving.recv_bytes(MOST_ANSWERED))
    except (EOFError, OSError):
        worker.join(5)
        raise TaskError(_why_it_broke(worker.exitcode, limits)) from None
    if "error" in answer:
        raise TaskError(answer["error"], answer.get("question"))
    return answer["answer"]


def _why_it_broke(code: int | None, limits: Limits) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGALRM):
        return f"This took longer than {limits.seconds:g} seconds and was stopped; try a smaller file."
    if code in (-signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS):
        return "The file could not be read: reading it broke down. Is it damaged, or very large when unpacked?"
    return "The file could not be read: reading it ended without an answer."


def _work(sending: connection.Connection, name: str, arguments: str, limits: Limits) -> None:
    """Run a task in this process, which ends with it."""
    from holdfast.serialization import to_plain
    from holdfast.web.tasks import TASKS

    _limit(limits)
    with open(os.devnull, "w") as nowhere:  # what a library prints is nobody's
        sys.stdout = sys.stderr = nowhere
        try:
            answer: dict[str, Any] = {"answer": to_plain(TASKS[name](**json.loads(arguments)))}
        except MemoryError:
            answer = {"error": f"This needs more than the {limits.memory / GIGABYTE:g} GB of memory that are allowed."}
        except Exception as error:  # a reader may fail in any way on a file of another kind
            expected = isinstance(error, ValueError)
            sentence = str(error) if expected else f"The file could not be read ({type(error).__name__}): {error}"
            answer = {"error": sentence, "question": to_plain(getattr(error, "question", None))}
    content = json.dumps(answer).encode(errors="replace")
    if len(content) > MOST_ANSWERED:
        content = json.dumps({"error": "The answer is too long to be shown; try a smaller file."}).encode()
    sending.send_bytes(content)
    sending.close()


def _limit(limits: Limits) -> None:
    """Bound what this process may use, for good."""
    used = _virtual_memory()
    for kind, most in (
        (resource.RLIMIT_AS, used + limits.memory),
        (resource.RLIMIT_CPU, int(limits.seconds) + 1),
        (resource.RLIMIT_FSIZE, limits.written),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _virtual_memory() -> int:
    """Bytes of address space that this process has."""
    try:
        with open("/proc/self/statm") as facts:
            return int(facts.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 8 * GIGABYTE
