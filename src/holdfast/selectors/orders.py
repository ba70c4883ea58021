"""Features in the order of their choice, without a rank for all the others."""

from functools import cached_property
from typing import Any

import numpy as np

from holdfast.selection import Best, Selection
from holdfast.selectors.base import Preference
from holdfast.selectors.rows import Floats, Ints, Mask


class Ordered(Preference):
    """Features in the order of their choice, all others after them.

    Parameters
    ----------
    order : ndarray of int
        The chosen columns, the best first; all that carry information, or as many as the largest size asked for.
    informative : ndarray of bool
        Which features carry information.
    extras : dict
        Fitted attributes beyond the usual ones.
    """

    order: Ints

    def __init__(self, order: Ints, informative: Mask, extras: dict[str, Any]) -> None:
        own = {"kind": "ranking", "model": None, "note": ""}
        self.__dict__.update(own, informative=informative, extras=extras, order=order)

    @cached_property
    def values(self) -> Floats:
        """The rank of every feature; those that were not chosen share the last."""
        assert self.informative is not None
        ranks = np.full(self.informative.size, self.informative.size, dtype=np.float64)
        ranks[self.order] = np.arange(1, self.order.size + 1)
        return ranks

    def top(self, k: int, *, random_state: int | None, rule: str) -> Selection:
        assert self.informative is not None
        best = Best(self.order[:k].astype(np.int32), np.zeros(min(k, self.order.size), np.bool_))
        return best.select(min(k, self.informative.size), random_state, rule, whole=self.selection)
