"""Memory: answers that were computed once, objects made without a search for cycles, and how much is held and free."""

import gc
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

Value = TypeVar("Value")

FEW_BYTES = 1 << 16
"""The size assumed of an answer whose size is not counted: tables and estimates of a thousand resamples."""


class Cache:
    """Answers by key; once they take more than ``most_bytes``, those that were not asked for longest are forgotten.

    Answers must not depend on anything but their key and on what the memory belongs to, which never changes. A copy,
    and what is read back from a pickle, begins with nothing.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self.n_bytes = most_bytes, 0
        self._answers: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get_or_compute(
        self,
        key: Hashable,
        find: Callable[[], Value],
        count_bytes: Callable[[Value], int] = lambda _: FEW_BYTES,
        is_final: Callable[[Value], bool] = lambda _: True,
    ) -> Value:
        """Return the answer to a question that was asked before; find it the first time, and if it is not final."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key][0]
        answer = find()  # by several threads at once, if they ask together: all find the same
        n_bytes = count_bytes(answer) if is_final(answer) else self.most_bytes + 1
        with self._lock:
            if key not in self._answers and n_bytes <= self.most_bytes:
                self._answers[key] = answer, n_bytes
                self.n_bytes += n_bytes
                while self.n_bytes > self.most_bytes:
                    self.n_bytes -= self._answers.popitem(last=False)[1][1]
        return answer

    def __reduce__(self) -> tuple[type["Cache"], tuple[int]]:
        return Cache, (self.most_bytes,)


class IdentityKey:
    """A part of a key that is the same only if it is the same object, such as a measure with its parameters."""

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Make objects without a search for cycles among them: with tens of thousands it takes longer than all else.

    For short pieces of holdfast's code, never around fits of other packages.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def peak_bytes() -> float:
    """The most memory that this process has held at a time; ``nan`` where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def free_bytes() -> float:
    """The memory that this process may still take, of the machine or of its control group; infinite if unknown."""
    free = float("inf")
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = 1024.0 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable")))
    with suppress(OSError, ValueError):  # "max" where there is no limit
        group = Path("/sys/fs/cgroup")
        taken = int((group / "memory.current").read_text())
        free = min(free, max(0.0, float(int((group / "memory.max").read_text()) - taken)))
    return free
