"""Engines: fits in this process, in others on this machine, or on a cluster; results come as they are ready.

An engine takes tasks lazily, so that their size can follow what has been learned of the speed, and yields each task
with its outcomes. Whatever engine, a fit that takes too long or ends its process becomes a failure of that fit alone.
"""

import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, Any

import cloudpickle
import joblib
from joblib.parallel import get_active_backend

from holdfast.study.scoring import CellScore, Failure
from holdfast.study.work import BlockResult, Outcome, SplitEffects, SplitOrder, Task, WorkPlan, one_thread, run_block

LENGTH = struct.Struct("<Q")
COMMAND = "import sys; sys.path[:] = {path!r}; from holdfast.study.engines import answer_calls; answer_calls()"


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
            code = self.process.wait()
            how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
            raise EndedError(not deadline.passed, how)
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


_of_thread = threading.local()
_children: "weakref.WeakSet[Child]" = weakref.WeakSet()


def end_children() -> None:
    """Kill all subprocesses, whatever they are doing, and wait until they are gone: a dying one still seems alive."""
    children = list(_children)
    for child in children:
        child.process.kill()
    for child in children:
        child.process.wait()


def call_in_subprocess(function: Any, context: Any, task: Any, limit: float | None) -> Any:
    """Call ``function(context, task)`` in this thread's own process, a new one if the last was ended.

    Nothing begins for a context that was closed: one that closes while a process starts is seen here, one that closes
    later finds the process among those to end.
    """
    child: Child | None = getattr(_of_thread, "child", None)
    if child is None or not child.alive:
        child = _of_thread.child = Child()
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


Done = tuple[Task, BlockResult]
Tasks = Iterator[Task]
Missing = Callable[[], Tasks]


def check_backend(n_jobs: int | None, time_limit: float | None) -> None:
    """Raise if joblib's active backend cannot hand over results as they come."""
    backend, default_jobs = get_active_backend()
    several = joblib.effective_n_jobs(default_jobs if n_jobs is None else n_jobs) > 1 and time_limit is None
    if several and not (_is_dask(backend) or backend.supports_return_generator):
        name = type(backend).__name__.removesuffix("Backend").lower()
        raise ValueError(
            f"Expected a joblib backend that returns results one by one (loky, which is the default, threading, or "
            f"dask), got {name}; leave it out, or set n_jobs=1."
        )


def _is_dask(backend: Any) -> bool:
    return type(backend).__name__ == "DaskDistributedBackend"


def stream(plan: WorkPlan, tasks: Missing, n_jobs: int | None, time_limit: float | None) -> Generator[Done]:
    """Do all tasks, in parallel if asked for, and yield each with its outcomes as it is done.

    ``tasks`` is called again, for what is still missing, if worker processes were lost.
    """
    backend, default_jobs = get_active_backend()
    with one_thread():  # for the whole time: threads that share this process must not undo it for each other
        if _is_dask(backend):
            yield from _on_dask(plan, tasks(), backend.client, time_limit)
            return
        jobs = joblib.effective_n_jobs(default_jobs if n_jobs is None else n_jobs)
        if time_limit is not None:
            yield from _in_subprocesses(plan, tasks(), jobs, time_limit)
        elif jobs == 1 and any(getattr(family.selector, "device", "cpu") != "cpu" for family in plan.families):
            yield from _prefetch_one_block(plan, tasks())
        elif jobs == 1:
            yield from ((task, run_block(plan, task)) for task in tasks())
        else:
            try:
                yield from _on_joblib(plan, tasks(), jobs)
            except BrokenProcessPool:  # a fit took its worker with it: go on where only that fit is lost
                yield from _in_subprocesses(plan, tasks(), jobs, None)


# On this machine


def _prefetch_one_block(plan: WorkPlan, tasks: Tasks) -> Iterator[Done]:
    """In another thread, which is at the next task while the last one is stored, so that a device never waits."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        running = [thread.submit(_do, plan, task) for task in islice(tasks, 1)]
        while running:
            done = running.pop().result()
            running = [thread.submit(_do, plan, task) for task in islice(tasks, 1)]
            yield done


def _on_joblib(plan: WorkPlan, tasks: Tasks, jobs: int) -> Iterator[Done]:
    """Through joblib, with its active backend (processes by default); arrays are shared by memory map."""
    with _shared(plan) as shared:
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        results = parallel(joblib.delayed(_do)(shared, task) for task in tasks)
        try:
            for done in results:  # noqa: UP028 - yield from would close the results by itself
                yield done
        finally:
            _close(results)


def _in_subprocesses(plan: WorkPlan, tasks: Tasks, jobs: int, limit: float | None) -> Iterator[Done]:
    """In subprocesses that can be killed, each led by a thread."""
    with _shared(plan) as shared:
        parallel = joblib.Parallel(
            n_jobs=jobs, backend="threading", return_as="generator_unordered", batch_size=1, pre_dispatch=jobs
        )
        results = parallel(joblib.delayed(_do_one_by_one)(shared, task, limit) for task in tasks)
        try:
            for done in results:  # noqa: UP028
                yield done
        finally:
            shared.closed = True
            end_children()
            _close(results)


def _close(results: Any) -> None:
    """End joblib's work without its advice to finish it."""
    with warnings.catch_warnings(action="ignore"):
        results.close()


class SharedPlan:
    """A plan in a file, which is loaded where this arrives. Once it is closed no fit begins any more."""

    def __init__(self, path: str) -> None:
        self.path, self.closed = path, False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        exit_with_parent()  # joblib's own workers would wait for minutes
        _load_plan(self.path)


@contextmanager
def _shared(plan: WorkPlan) -> Iterator[SharedPlan]:
    """Write a plan to a file whose arrays other processes of this machine map into their memory."""
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as folder:
        path = str(Path(folder) / "plan")
        arrays = {name: getattr(plan.data, name) for name in ("X", "covariates", "y")}
        none: dict[str, Any] = dict.fromkeys(arrays)
        rest = replace(plan, data=replace(plan.data, **none), shared={}, splits={})
        joblib.dump((arrays, plan.shared, cloudpickle.dumps(rest)), path)
        try:
            yield SharedPlan(path)
        finally:
            _load_plan.cache_clear()


@lru_cache(maxsize=1)
def _load_plan(path: str) -> WorkPlan:
    arrays, shared, rest = joblib.load(path, mmap_mode="r")
    plan = cloudpickle.loads(rest)
    return replace(plan, data=replace(plan.data, **arrays), shared=shared)


def _load(plan: WorkPlan | SharedPlan) -> WorkPlan:
    return _load_plan(plan.path) if isinstance(plan, SharedPlan) else plan


def _do(plan: WorkPlan | SharedPlan, task: Task) -> Done:
    return task, run_block(_load(plan), task)


def _do_one_by_one(plan: WorkPlan | SharedPlan, task: Task, limit: float | None) -> Done:
    """Do each fit of a task in a subprocess that can be killed."""
    outcomes, orders, seconds, effects = list[Outcome](), list[SplitOrder](), 0.0, list[SplitEffects]()
    family = _load(plan).families[task.family]
    for split in task.splits:
        for settings in family.part_by_fit(task.settings):
            if getattr(plan, "closed", False):
                return task, BlockResult([], [])
            try:
                _, done = call_in_subprocess(_do, plan, Task(task.family, (split,), settings), limit)
            except EndedError as ended:
                if ended.in_time:
                    failure = Failure("died", f"The process of this fit ended {ended}.")
                else:
                    failure = Failure("time limit", f"The fit did not end within {limit:g} seconds.")
                failed = [
                    Outcome(task.family, candidate, split, limit or 0.0, CellScore(failure=failure))
                    for setting in settings
                    for candidate in range(setting * len(family.cuts), (setting + 1) * len(family.cuts))
                ]
                done = BlockResult(failed, [], limit or 0.0)
            outcomes += done.outcomes
            orders += done.orders
            seconds += done.seconds
            effects += done.effects
    return task, BlockResult(outcomes, orders, seconds, effects)


# On a cluster


def _on_dask(plan: WorkPlan, tasks: Tasks, client: Any, limit: float | None) -> Iterator[Done]:
    """On a Dask cluster. A task whose worker died again and again is done anew where only one fit can be lost."""
    import dask
    import distributed

    as_completed: Any = distributed.as_completed  # untyped
    # The plan is the result of a task, which is made again if the workers that have it are lost.
    packed = cloudpickle.dumps(replace(plan, data=replace(plan.data), splits={}))
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
        remote_plan = client.submit(cloudpickle.loads, packed, pure=False)
    running: dict[Any, Task] = {}
    # Threads of a worker fit one at a time, so where there are several each has a process of its own.
    in_subprocess = limit is not None or max(client.nthreads().values(), default=1) > 1

    def submit(task: Task, in_subprocess: bool) -> Any:
        call = (_do_one_by_one, remote_plan, task, limit) if in_subprocess else (_do, remote_plan, task)
        future = client.submit(*call, pure=False)
        running[future] = task
        return future

    width = 2 * max(1, sum(client.nthreads().values()))
    queue = as_completed([submit(task, in_subprocess) for task in islice(tasks, width)])
    try:
        for future in queue:
            task = running.pop(future)
            try:
                done = future.result()
            except distributed.KilledWorker:
                queue.add(submit(task, in_subprocess=True))
                continue
            yield done
            following = next(tasks, None)
            if following is not None:
                queue.add(submit(following, in_subprocess))
    finally:
        client.cancel(list(running))
