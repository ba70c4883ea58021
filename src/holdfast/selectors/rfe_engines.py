"""Where eliminations and final models of a block are computed: compiled for this processor, or in lock-step by torch.

An engine has ``tails``, for each elimination the features that fall last, and makes models and whole orders.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.paths import first_of_orders
from holdfast.kernels.ridge_settings import Eliminations, Models, ridge_eliminations, ridge_models
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

    def __init__(self, block: "Block") -> None:
        self.block = block

    @cached_property
    def paths(self) -> Eliminations:
        """The paths of every resample and elimination."""
        block, M = self.block, len(self.block.resamples.seeds)
        together = [] if block.independent else block.eliminations
        masks = np.concatenate([np.zeros((1, M, block.d), bool), block.forced.masks]) if any(
            elimination.forced >= 0 for elimination in together
        ) else None  # fmt: skip
        return ridge_eliminations(
            block.shared.data, block.labels, block.resamples.counts,
            [elimination.sizes for elimination in block.eliminations],
            C=[elimination.C for elimination in block.eliminations],
            shrinkage=[elimination.shrinkage for elimination in together] or 1.0,
            forced=masks, which_forced=[elimination.forced + 1 for elimination in together],
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
            order[good] = first_of_orders(steps, weights, reach, self.block.turns, np.nonzero(good)[0])
            last = np.take_along_axis(weight, order, axis=2)
            found |= {
                number: Tail(order[:, place], last[:, place], unsolved[:, place])
                for place, number in enumerate(numbers)
            }
        return [found[number] for number in range(len(self.block.eliminations))]

    def whole(self, number: int, resample: int) -> tuple[NDArray[np.int32], Floats]:
        """All features of one path, from the last to the first to fall, and the weight of each feature."""
        kept_until, weight = self.paths.kept_until[resample, number], self.paths.weight[resample, number]
        order = first_of_orders(kept_until[None], weight[None], weight.size, self.block.turns, np.array([resample]))
        return order[0], weight

    def models(self, resamples: Sequence[int], columns: Ints, C: Floats) -> Models:
        """Fit models on columns, each on its resample and with its C."""
        block = self.block
        return ridge_models(
            block.shared.data, block.labels, block.resamples.counts, resamples, columns, C,
            intercept=block.first.fit_intercept,
        )  # fmt: skip


def engine_for(block: "Block") -> Any:
    """The engine of a block."""
    return CompiledEngine(block)
