"""What studies found, read from their stores and remembered until the stores change."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from holdfast.study import StudyResult, load_study
from holdfast.study.memory import FEW_BYTES, Memory
from holdfast.study.store import Progress, find_writer, read_progress
from holdfast.web.folder import Folder
from holdfast.web.guard import RefusedError

MOST_REMEMBERED = 4
"""Studies whose snapshots are kept."""
MOST_ANSWERS = 64
"""Answers that a snapshot keeps; beyond that, the one that was not asked for the longest is forgotten."""
PATIENCE = 4
"""While a study runs, its results are read again after this many times the time that reading them took."""
Answer = TypeVar("Answer")


@dataclass(eq=False)
class Snapshot:
    """A study as it was at one moment, and what was asked of it.

    Attributes
    ----------
    result : StudyResult
        What it found so far.
    progress : Progress
        How far it had come.
    file : int
        Which file it was read from.
    begun : float
        When it was read.
    spent : float
        Seconds that reading it and answering questions took.
    """

    result: StudyResult
    progress: Progress
    file: int
    begun: float = field(default_factory=time.monotonic)
    spent: float = 0.0
    _memory: Memory = field(default_factory=lambda: Memory(MOST_ANSWERS * FEW_BYTES))
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def is_due(self) -> bool:
        """Whether a newer one may be read, of a study that runs."""
        return time.monotonic() - self.begun > min(PATIENCE * self.spent, 60)

    @property
    def every(self) -> float:
        """Seconds after which it is worth looking for a newer one, of a study that runs."""
        return min(max(PATIENCE * self.spent, 3.0), 60.0)

    def remember(self, key: Hashable, work_out: Callable[[StudyResult], Answer]) -> Answer:
        """Return the answer to a question about the study, worked out once as long as it is among the last ones."""

        def find() -> Answer:
            start = time.monotonic()
            try:
                return work_out(self.result)
            finally:
                self.spent += time.monotonic() - start

        with self._lock:  # whoever asks together waits for one answer
            return self._memory.recall(key, find)


class Results:
    """The results of a folder's studies; the ones asked for last are remembered.

    Parameters
    ----------
    folder : Folder
        Where the stores are.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._snapshots: OrderedDict[str, Snapshot] = OrderedDict()
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, study: str) -> Snapshot:
        """The newest snapshot of a study; while it runs, one that may be some seconds old."""
        path = self.folder.find(study)
        if path is None:
            raise RefusedError(404, "There are no results of this study yet.")
        with self._lock:
            lock = self._locks.setdefault(study, threading.Lock())
        with lock:
            known, progress = self._snapshots.get(study), read_progress(path)
            file = path.stat().st_ino
            if known is not None and known.file != file:  # another study of the same name
                known = None
            if not progress.done:
                raise RefusedError(404, "There are no results of this study yet.")
            if known is None or (known.progress != progress and (find_writer(path) is None or known.is_due)):
                start = time.monotonic()
                known = Snapshot(load_study(path), progress, file)
                known.spent = time.monotonic() - start
            with self._lock:
                self._snapshots[study] = known
                self._snapshots.move_to_end(study)
                while len(self._snapshots) > MOST_REMEMBERED:
                    self._snapshots.popitem(last=False)
        return known
