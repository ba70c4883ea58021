"""A subprocess that can be killed: for fits that may take too long, or take their process with them.

``call_in_subprocess`` hands a task to a process of this thread and waits. If time runs out the process is killed, the
task has failed, and the next task gets a new process. It is started as a plain subprocess, so it works from any thread,
from daemons (as Dask's workers are) and from scripts without a main guard.
"""

import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from functools import lru_cache
from typing import IO, Any

import cloudpickle

LENGTH = struct.Struct("<Q")
COMMAND = "import sys; sys.path[:] = {path!r}; from holdfast.study.child import answer_calls; answer_calls()"


class EndedError(Exception):
    """The process ended before it answered."""

    def __init__(self, in_time: bool, message: str) -> None:
        super().__init__(message)
        self.in_time = in_time


class Child:
    """One process that answers calls, one after the other."""

    def __init__(self) -> None:
        # pipes alone: the child writes what selectors print to stderr
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND.format(path=sys.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.known: weakref.ref[Any] | None = None
        weakref.finalize(self, _end, self.process)
        _children.add(self)

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def call(self, function: Any, context: Any, task: Any, limit: float | None) -> Any:
        """Return ``function(context, task)`` computed there, or raise.

        The context is sent once, and what it takes to load it is not counted as time of the task.
        """
        if self.known is None or self.known() is not context:
            self._ask((function, context, None), None)
            self.known = weakref.ref(context)
        return self._ask((function, None, task), limit)

    def _ask(self, message: Any, limit: float | None) -> Any:
        answer = None
        with _Deadline(self.process, limit) as deadline, suppress(OSError, EOFError):
            send(self.process.stdin, cloudpickle.dumps(message))
            answer = receive(self.process.stdout)
        if deadline.passed or answer is None:
            raise EndedError(not deadline.passed, _describe_exit(self.process.wait()))
        result, error = pickle.loads(answer)
        if error is not None:
            raise error
        return result


class _Deadline:
    """Kills a process when time runs out; afterwards ``passed`` says whether that happened."""

    def __init__(self, process: "subprocess.Popen[bytes]", limit: float | None) -> None:
        self.process, self.passed = process, False
        self.timer = None if limit is None else threading.Timer(limit, self._end)

    def _end(self) -> None:
        self.passed = True
        self.process.kill()

    def __enter__(self) -> "_Deadline":
        if self.timer is not None:
            self.timer.daemon = True
            self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer.join()


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with suppress(OSError):  # what was not sent yet is not wanted any more
                pipe.close()


def _describe_exit(code: int) -> str:
    return f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


def send(pipe: IO[bytes] | None, message: bytes) -> None:
    """Write one message."""
    assert pipe is not None
    pipe.write(LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def receive(pipe: IO[bytes] | None) -> bytes:
    """Read one message."""
    assert pipe is not None
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    message = pipe.read(length)
    if len(message) < length:
        raise EOFError
    return message


_own = threading.local()
_children: "weakref.WeakSet[Child]" = weakref.WeakSet()


def end_children() -> None:
    """Kill all subprocesses, whatever they are doing."""
    for child in list(_children):
        child.process.kill()


def call_in_subprocess(function: Any, context: Any, task: Any, limit: float | None) -> Any:
    """Call ``function(context, task)`` in this thread's own process, a new one if the last was ended.

    Nothing begins for a context that was closed: one that closes while a process starts is seen here, one that closes
    later finds the process among those to end.
    """
    child: Child | None = getattr(_own, "child", None)
    if child is None or not child.alive:
        child = _own.child = Child()
    if getattr(context, "closed", False):
        child.process.kill()
    return child.call(function, context, task, limit)


def answer_calls() -> None:
    """Answer calls until the pipe closes."""
    for stop in (signal.SIGINT, signal.SIGTERM):  # these are for the parent, which ends its children
        signal.signal(stop, signal.SIG_IGN)
    exit_with_parent()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    context = None
    while True:
        try:
            function, new, task = pickle.loads(receive(sys.stdin.buffer))
        except EOFError:
            return
        context = context if new is None else new
        try:
            answer: tuple[Any, Exception | None] = (None if task is None else function(context, task), None)
        except Exception as error:
            answer = (None, error)
        send(answers, cloudpickle.dumps(answer))


@lru_cache(maxsize=1)
def exit_with_parent() -> None:
    """Exit, even amid a fit, once the process that started this one is gone."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
