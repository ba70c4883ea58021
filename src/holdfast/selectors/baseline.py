"""A baseline that chooses at random."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from holdfast.declared import About
from holdfast.selectors.base import Preference, Selector
from holdfast.selectors.rows import Floats, Ints, Target


class RandomSelector(Selector):
    """Choose features at random, without a look at them: what a stability of 0 looks like.

    Parameters
    ----------
    n_features : int or None
        How many to choose; None draws the number, from 1 to all, anew in each fit.
    random_state : int, optional
        Seed. In a study, each run gets its own unless this is set.
    """

    about: ClassVar[About] = About(
        name="random",
        summary="any, at random: a baseline",
        methods="random choice, as a baseline",
    )

    needs_classes: ClassVar[bool] = False
    draws: ClassVar[bool] = True

    def __init__(self, n_features: int | None = 10, *, random_state: Any = None) -> None:
        self.n_features, self.random_state = n_features, random_state

    def _target(self, y: Any) -> Target:
        return Target(np.zeros(len(y)), None)

    def _shared(self, X: Floats, target: Target) -> None:
        return None

    def _preferences_by_setting(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None
    ) -> Sequence[Preference]:
        return [one._preference(shared, X, target, counts, seed) for one in selectors]  # every size draws its own

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        rng = np.random.default_rng(seed)
        d = X.shape[1]
        size = int(rng.integers(1, d + 1)) if self.n_features is None else self._wanted_size(d)
        return Preference("subset", np.sort(rng.permutation(d)[:size]))
