"""Stopping a study by Ctrl-C or SIGTERM: what is said then, and how to resume."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.study.store import Store


class StudyInterrupted(KeyboardInterrupt):
    """A study was stopped by Ctrl-C or SIGTERM; what was finished is stored.

    Attributes
    ----------
    signal : int
        The number of the signal.

    See Also
    --------
    Study.run : Run again with the same store, it resumes.

    Examples
    --------
    >>> from holdfast.study import StudyInterrupted
    >>> issubclass(StudyInterrupted, KeyboardInterrupt)
    True
    """

    signal: int = signal.SIGINT


class _Terminated(KeyboardInterrupt):
    """SIGTERM came."""


@contextmanager
def report_interruption(store: Store) -> Iterator[None]:
    """Say after Ctrl-C or SIGTERM how far the study has come and how to resume it."""
    try:
        with _sigterm_interrupts():
            yield
    except KeyboardInterrupt as interrupt:
        done, total = store.progress()
        stopped = StudyInterrupted(
            f"The study was stopped after {done:,} of {total:,} fits. "
            + ("Run it again with the same store to resume." if store.path else "It was in memory only.")
        )
        stopped.signal = signal.SIGTERM if isinstance(interrupt, _Terminated) else signal.SIGINT
        raise stopped from None


@contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """Let SIGTERM stop what follows as Ctrl-C would, in the main thread, unless the program handles it itself."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    process = os.getpid()

    def stop(*_: Any) -> None:
        if os.getpid() == process:
            raise _Terminated
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a forked worker ends as it would have
        os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
