"""A baseline that chooses at random."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from holdfast.declared import About
from holdfast.selection import Selection
from holdfast.selectors.base import Preference, Selector
from holdfast.selectors.rows import Floats, Ints, Target


class RandomSelector(Selector):
    """Select features at random, without looking at the data: the baseline whose stability is 0 on average.

    Parameters
    ----------
    n_features : int or None, default 10
        Number of features to select; None draws the number, from 1 to all, anew in each fit.
    random_state : int, optional
        Seed. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    order_ : ndarray
        Selected columns in the order in which they were drawn.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    holdfast.datasets.make_selections : Selections with a known stability.

    Examples
    --------
    >>> from holdfast.selectors import RandomSelector
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(RandomSelector(3, random_state=0).fit(X, y).get_feature_names_out())
    ['mean perimeter', 'texture error', 'worst concavity']
    """

    about: ClassVar[About] = About(
        name="random",
        label="Random choice",
        summary="Any, at random: a baseline.",
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
        return [selector._preference(shared, X, target, counts, seed) for selector in selectors]

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        rng = np.random.default_rng(seed)
        d = X.shape[1]
        size = int(rng.integers(1, d + 1)) if self.n_features is None else self._wanted_size(d)
        order = rng.permutation(d)[:size]
        return Preference("subset", np.sort(order), extras={"order_": order})

    def _cut_to_size(self, preference: Preference, n_features: int, seed: int | None) -> Selection:
        assert preference.extras is not None
        order = preference.extras["order_"]
        return Selection.subset(order) if self.n_features is None else Selection.first(order)
