"""The queue of a study: missing fits, in blocks whose size follows the speed."""

from collections.abc import Collection, Iterator, Sequence
from time import monotonic
from typing import TypeAlias

import numpy as np

from holdfast.study.families import Family
from holdfast.study.progress import Progress
from holdfast.study.store import Store
from holdfast.study.work import Outcome, Task

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
        self.done = store.done(max(ids.values()), n_splits)
        if only is not None:
            self.done[[number for name, number in ids.items() if name not in only]] = True
        self.begun, self.fitted = monotonic(), 0
        self.failures = store.n_failures

    @property
    def needed(self) -> set[int]:
        """The families that have work to do."""
        return {place for place in range(len(self.families)) if not self.done[self.ids[place]].all()}

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        ours = self.done[[number for ids in self.ids for number in ids]]
        rate = self.fitted / max(monotonic() - self.begun, 1e-9)
        return Progress(int(ours.sum()), ours.size, self.failures, rate)

    def record(self, task: Task, outcomes: Sequence[Outcome]) -> None:
        """Store outcomes, and learn from how long they took."""
        self.store.add(outcomes, self.ids)
        seconds_by_fit = {}  # candidates of one setting that differ in size share a fit
        for outcome in outcomes:
            self.done[self.ids[outcome.family][outcome.candidate], outcome.split] = True
            self.failures += outcome.failure is not None
            setting = outcome.candidate // len(self.families[outcome.family].cuts)
            seconds_by_fit[outcome.split, setting] = outcome.seconds
        seconds = sum(seconds_by_fit.values()) + sum(outcome.score_seconds for outcome in outcomes)
        self.seconds[task.family] = seconds / len(task.splits)
        if not self.fitted:  # the time that workers took to start tells nothing of those to come
            self.begun = monotonic() - seconds
        self.fitted += len(outcomes)

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
        done = np.logical_and.reduce(self.done[self.ids[place]].reshape(shape), axis=1)
        for split in np.flatnonzero(~np.logical_and.reduce(done, axis=0)):
            yield int(split), tuple(np.flatnonzero(~done[:, split]).tolist())

    def _block(self, place: int, missing: list[Missing]) -> list[Missing]:
        """The next splits with the same missing settings: as many as take a moment, one while the speed is unknown."""
        seconds = self.seconds[place]
        size = 1 if np.isnan(seconds) else int(np.clip(BLOCK_SECONDS / max(seconds, 1e-9), 1, LARGEST_BLOCK))
        if self.families[place].batched:
            size = max(size, getattr(self.families[place].selector, "block_size", 1))
        block = missing[: 1 if self.one_by_one else size]
        return [entry for entry in block if entry[1] == block[0][1]]
