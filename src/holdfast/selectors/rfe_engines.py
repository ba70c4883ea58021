"""Where eliminations and final models of a block are computed: compiled for this processor, or in lock-step by torch.

An engine has ``tails``, for each elimination the features that fall last, and makes models and whole orders.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.libraries import DEVICE_BYTES, library
from holdfast.kernels.lockstep import Models, Recorded, lockstep_models, run_lockstep
from holdfast.kernels.lockstep_paths import Settings
from holdfast.kernels.paths import first_of_orders
from holdfast.kernels.resampled import Data, with_resamples
from holdfast.kernels.ridge_settings import Eliminations, ridge_eliminations, ridge_models
from holdfast.selectors.rows import Floats, Ints

if TYPE_CHECKING:
    from holdfast.selectors.rfe_block import Block


class Tail(NamedTuple):
    """The features of each resample that fall last in an elimination, from the last on."""

    order: NDArray[np.int32]  # resamples × features
    weight: Floats
    unsolved: Ints  # resamples: number of features of the fit that was given up, or 0


class CompiledEngine:
    """All settings of a resample one after the other, compiled for this processor."""

    lib: Any = None

    def __init__(self, block: "Block") -> None:
        self.block = block

    @cached_property
    def paths(self) -> Eliminations:
        """The paths of every resample and elimination."""
        block, M = self.block, len(self.block.resamples.seeds)
        together = [] if block.independent else block.eliminations
        some = any(elimination.forced >= 0 for elimination in together)
        nothing = np.zeros((1, M, block.d), bool)
        return ridge_eliminations(
            block.shared.data, block.labels, block.resamples.counts,
            [elimination.sizes for elimination in block.eliminations],
            C=[elimination.C for elimination in block.eliminations],
            shrinkage=[elimination.shrinkage for elimination in together] or 1.0,
            forced=np.concatenate([nothing, block.forced.masks(block.d)]) if some else None,
            which_forced=[elimination.forced + 1 for elimination in together],
            intercept=block.first.fit_intercept, tie_order=block.turns,
        )  # fmt: skip

    @cached_property
    def tails(self) -> list[Tail]:
        """The last features of each elimination."""
        if not self.block.eliminations:
            return []
        M, found = len(self.block.resamples.seeds), dict[int, Tail]()
        by_reach: dict[int, list[int]] = {}
        for number, elimination in enumerate(self.block.eliminations):
            by_reach.setdefault(elimination.reach, []).append(number)
        for reach, numbers in by_reach.items():
            every = len(numbers) == len(self.block.eliminations)
            own: list[Any] = [array if every else array[:, numbers] for array in self.paths]
            kept_until, weight, unsolved = own
            good, order = unsolved == 0, np.zeros((M, len(numbers), reach), np.int32)
            steps, weights = (x.reshape(-1, self.block.d) if good.all() else x[good] for x in (kept_until, weight))
            order[good] = first_of_orders(steps, weights, reach, self.block.turn_of, np.nonzero(good)[0].tolist())
            last: Any = np.take_along_axis(weight, order, axis=2)
            for place, number in enumerate(numbers):
                found[number] = Tail(order[:, place], last[:, place], unsolved[:, place])
        return [found[number] for number in range(len(self.block.eliminations))]

    def whole(self, number: int, resample: int) -> tuple[NDArray[np.int32], Floats]:
        """All features of one path, from the last to the first to fall, and the weight of each feature."""
        kept_until, weight = self.paths.kept_until[resample, number], self.paths.weight[resample, number]
        order = first_of_orders(kept_until[None], weight[None], weight.size, self.block.turn_of, [resample])
        return order[0], weight

    def models(self, resamples: Sequence[int], columns: Ints, C: Floats) -> Models:
        """Fit models on columns, each on its resample and with its C."""
        block = self.block
        return ridge_models(
            block.shared.data, block.labels, block.resamples.counts, resamples, columns, C,
            intercept=block.first.fit_intercept,
        )  # fmt: skip


class LockstepEngine:
    """All resamples and settings side by side, by torch on a device."""

    def __init__(self, block: "Block") -> None:
        self.block, device = block, block.first.device
        place = "cuda" if device == "cuda" else "cpu"
        self.lib = library("torch", place, "float64", DEVICE_BYTES[device])
        self._alone: dict[int, CompiledEngine] = {}

    @cached_property
    def data(self) -> Data:
        """The scaled data with labels and counts."""
        return with_resamples(self.block.shared.data, self.block.labels, self.block.resamples.counts)

    @cached_property
    def tails(self) -> list[Tail]:
        """The last features of each elimination; those that pass the same sizes run together."""
        by_sizes: dict[tuple[int, ...], list[int]] = {}
        for number, elimination in enumerate(self.block.eliminations):
            by_sizes.setdefault(tuple(elimination.sizes.tolist()), []).append(number)
        found: dict[int, Tail] = {}
        for sizes, numbers in by_sizes.items():
            recorded = self._run(np.array(sizes), numbers)
            for place, number in enumerate(numbers):
                found[number] = self._tail(recorded, place, self._reach(number))
        return [found[number] for number in range(len(self.block.eliminations))]

    def _reach(self, number: int) -> int:
        return self.block.d if self.block.independent else self.block.eliminations[number].reach

    def _run(self, sizes: Ints, numbers: Sequence[int]) -> Recorded:
        block, own = self.block, [self.block.eliminations[number] for number in numbers]
        columns, alone = block.forced.columns, block.independent
        nothing = np.full((1, len(block.resamples.seeds), columns.shape[2]), -1)
        settings = Settings(
            np.array([elimination.C for elimination in own]),
            np.array([1.0 if alone else elimination.shrinkage for elimination in own]),
            nothing if alone else np.concatenate([nothing, columns]),
            np.array([0 if alone else elimination.forced + 1 for elimination in own]),
        )
        reach = max(self._reach(number) for number in numbers)
        return run_lockstep(self.lib, self.data, settings, sizes, block.first.fit_intercept, reach, self._turns)

    def _turns(self, here: slice) -> NDArray[np.int32]:
        """The turns of some of the resamples."""
        return np.broadcast_to(self.block.turns, (len(self.block.resamples.seeds), self.block.d))[here]

    def _tail(self, recorded: Recorded, place: int, reach: int) -> Tail:
        parts = recorded.columns, recorded.kept_until, recorded.weight, recorded.unsolved
        names, kept_until, weight, unsolved = (array[place] for array in parts)
        good = np.flatnonzero(unsolved == 0)
        order, last = np.zeros((len(names), reach), np.int32), np.zeros((len(names), reach))
        own = first_of_orders(kept_until[good], weight[good], reach, self.block.turn_of, good.tolist(), names[good])
        where = [np.searchsorted(row, columns) for row, columns in zip(names[good], own, strict=True)]
        order[good] = own
        last[good] = np.take_along_axis(weight[good], np.array(where, dtype=np.int64).reshape(own.shape), axis=1)
        return Tail(order, last, unsolved)

    def whole(self, number: int, resample: int) -> tuple[NDArray[np.int32], Floats]:
        """All features of one path and the weight of each feature; compiled, unless all of it was recorded."""
        tail = self.tails[number]
        if tail.order.shape[1] == self.block.d:
            weight = np.empty(self.block.d)
            weight[tail.order[resample]] = tail.weight[resample]
            return tail.order[resample], weight
        if resample not in self._alone:
            self._alone = {resample: CompiledEngine(self.block.only(resample))}
        return self._alone[resample].whole(number, 0)

    def models(self, resamples: Sequence[int], columns: Ints, C: Floats) -> Models:
        """Fit models on columns, each on its resample and with its C."""
        return lockstep_models(self.lib, self.data, resamples, columns, C, self.block.first.fit_intercept)


Engine = CompiledEngine | LockstepEngine
