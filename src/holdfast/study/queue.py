"""The queue of a study: missing fits, in blocks whose size follows the speed."""

from collections.abc import Collection, Iterator, Sequence
from time import monotonic
from typing import TypeAlias

import numpy as np

from holdfast.study.collecting import without_collecting
from holdfast.study.families import Family
from holdfast.study.progress import Progress
from holdfast.study.store import Row, Store
from holdfast.study.work import Finished, Task

BLOCK_SECONDS = 0.25
LARGEST_BLOCK = 250

Missing: TypeAlias = tuple[int, tuple[int, ...]]  # a split, and the settings that did not run on it


class Queue:
    """The work that is left, and what was learned of its speed."""

    def __init__(
        self,
        store: Store,
        families: Sequence[Family],
        n_splits: int,
        one_by_one: bool,
        only: Collection[str] | None = None,
    ) -> None:
        self.store, self.families, self.n_splits, self.one_by_one = store, families, n_splits, one_by_one
        ids = store.ids()
        self.ids = [[ids[name] for name in family.names] for family in families]
        self.seconds = [np.nan] * len(families)  # of one split, as far as known
        self.done = store.done(max(number for number, _ in ids.values()), n_splits)
        if only is not None:
            self.done[[number for name, (number, _) in ids.items() if name not in only]] = True
        ours = self.done[[number for family_ids in self.ids for number, _ in family_ids]]
        self.n_done, self.n_total, self.failures = int(ours.sum()), ours.size, store.n_failures
        self.begun, self.fitted = monotonic(), 0
        self.first_fitted, self.first_seconds = 0, 0.0

    def _numbers(self, place: int) -> list[int]:
        """The numbers of a family's candidates."""
        return [number for number, _ in self.ids[place]]

    @property
    def needed(self) -> set[int]:
        """The families that have work to do."""
        return {place for place in range(len(self.families)) if not self.done[self._numbers(place)].all()}

    @property
    def progress(self) -> Progress:
        """How far it has come; a family's first block, which may wait for kernels to be compiled, tells no speed."""
        if not self.fitted and self.n_done < self.n_total:
            return Progress(self.n_done, self.n_total, self.failures, 0.0)
        seconds = monotonic() - self.begun
        fitted, seconds = (self.fitted, seconds) if self.fitted else (self.first_fitted, seconds + self.first_seconds)
        return Progress(self.n_done, self.n_total, self.failures, fitted / max(seconds, 1e-9))

    def record(self, task: Task, finished: Finished, baselines: Sequence[Row] = ()) -> None:
        """Store what a piece of work gave, and learn from how long it took."""
        with without_collecting():
            self.store.add(finished, self.ids, baselines)
        outcomes, ids = finished.outcomes, self.ids[task.family]
        for outcome in outcomes:
            number = ids[outcome.candidate][0]
            self.n_done += not self.done[number, outcome.split]
            self.done[number, outcome.split] = True
            self.failures += outcome.failure is not None
        if np.isnan(self.seconds[task.family]):
            now = monotonic()
            self.begun, self.first_fitted = now, self.first_fitted + len(outcomes)
            self.first_seconds += finished.seconds
            self.fitted = 0
        else:
            self.fitted += len(outcomes)
        self.seconds[task.family] = finished.seconds / max(len(task.splits), 1)

    def tasks(self) -> Iterator[Task]:
        """Yield what is missing: families in turn, so that all of them have come equally far."""
        missing = [list(self._missing(place)) for place in range(len(self.families))]
        reached = [0] * len(missing)
        while any(missing):
            place = min((place for place in range(len(missing)) if missing[place]), key=lambda place: reached[place])
            block = self._block(place, missing[place])
            del missing[place][: len(block)]
            reached[place] = block[-1][0] + 1
            yield Task(place, tuple(split for split, _ in block), block[0][1])

    def _missing(self, place: int) -> Iterator[Missing]:
        """Each split on which a family has work to do, and which settings."""
        family = self.families[place]
        shape = (len(family.settings), len(family.cuts), self.n_splits)
        done = np.logical_and.reduce(self.done[self._numbers(place)].reshape(shape), axis=1)
        for split in np.flatnonzero(~np.logical_and.reduce(done, axis=0)):
            yield int(split), tuple(np.flatnonzero(~done[:, split]).tolist())

    def _block(self, place: int, missing: list[Missing]) -> list[Missing]:
        """The next splits with the same missing settings: as many as take a moment, one while the speed is unknown."""
        seconds = self.seconds[place]
        size = 1 if np.isnan(seconds) else int(np.clip(BLOCK_SECONDS / max(seconds, 1e-9), 1, LARGEST_BLOCK))
        if self.families[place].batched:
            fits = getattr(self.families[place].selector, "block_fits", 1)
            size = max(size, -(-fits // len(missing[0][1])))
        block = missing[: 1 if self.one_by_one else size]
        return [entry for entry in block if entry[1] == block[0][1]]
