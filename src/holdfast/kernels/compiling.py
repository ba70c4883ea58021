"""Saying that kernels are being compiled, which happens once on a machine and takes some seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from numba.core import event

LINE = "Compiling kernels for this machine, once: some seconds each, and later studies start at once."


class _Watch(event.Listener):
    """Tells of the first compilation, and adds up the seconds of all; what is in the cache is not compiled."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell, self.depth, self.told = tell, 0, False
        self.begun, self.seconds = 0.0, 0.0

    def on_start(self, event: Any) -> None:
        """Note when a kernel begins to be compiled; those that it calls are a part of it."""
        if not self.told:
            self.tell(LINE)
            self.told = True
        if not self.depth:
            self.begun = monotonic()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """Note how long it took."""
        self.depth -= 1
        if not self.depth:
            self.seconds += monotonic() - self.begun


@contextmanager
def tell_of_compiling(tell: Callable[[str], None]) -> Iterator[Any]:
    """Tell once if kernels have to be compiled; what is yielded knows the ``seconds`` that it took."""
    watch = _Watch(tell)
    with event.install_listener("numba:compile", watch):
        yield watch
