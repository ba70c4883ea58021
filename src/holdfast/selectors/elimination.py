"""Linear support vector machines as selectors: by the weights of one fit, and by recursive elimination."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.inputs import Scale
from holdfast.kernels.magnitude import column_units
from holdfast.kernels.paths import elimination_sizes, orders
from holdfast.kernels.svm import svm_elimination
from holdfast.selectors.base import FitsTogether, Preference, Ties
from holdfast.selectors.filters import learned_on, tied
from holdfast.selectors.rows import Floats, Ints, BinaryProblem, Resamples, Target, one_against_rest, varying


def standardized(X: Floats) -> Floats:
    """Columns of mean 0 and standard deviation 1; constant ones are 0."""
    X = X / column_units(X)
    away = X - X.mean(axis=0)
    deviation = away.std(axis=0)
    return away / np.where(deviation > 0, deviation, 1.0)


def ranks_of(order: NDArray[Any]) -> Floats:
    """Rank of each feature, 1 for the first of the order."""
    ranks = np.empty(order.size)
    ranks[order] = np.arange(1, order.size + 1)
    return ranks


class _LinearSVM(FitsTogether):
    """What both share: columns scaled by split or in full, one machine per class where there are more than two."""

    uninformative: ClassVar[str | None] = "a weight of 0, or constant"
    C: float
    scale: Scale

    def _shared(self, X: Floats, target: Target) -> Floats | None:
        return standardized(X) if learned_on("scale", self.scale) == "full" else None


class LinearSVMWeights(_LinearSVM):
    """Keep the features of the largest squared weight in a linear support vector machine (SVMONE).

    More than two classes: one machine for each against the rest, squared weights summed.

    Parameters
    ----------
    n_features : int
        How many to keep, at most: constant features are not kept.
    C : float
        Weight of the loss.
    scale : {"split", "full"}
        Columns are standardized by the split's rows, or by all rows.
    ties, random_state
        As for :class:`Variance`.

    Attributes
    ----------
    scores_ : ndarray
        Squared weights.
    """

    def __init__(
        self,
        n_features: int = 10,
        *,
        C: float = 0.5,
        scale: Scale = "split",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features, self.C, self.scale, self.ties, self.random_state = n_features, C, scale, ties, random_state

    def _preferences_by_resample(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Preference | Exception]]:
        squares = np.zeros((len(resamples.seeds), X.shape[1]))
        for machine in one_against_rest(target, resamples):
            counts = resamples.counts[machine.resamples]
            fit = svm_elimination(X if shared is None else shared, machine.labels, counts, C=self.C, scale=self.scale)
            squares[machine.resamples] += fit.weight**2
        informative = (squares > 0) & varying(X, resamples)
        return [
            [Preference("weighting", tied(row), informative=own)] * len(selectors)
            for row, own in zip(squares, informative, strict=True)
        ]


class SVMRFE(_LinearSVM):
    """Recursive feature elimination with a linear support vector machine (Guyon et al., 2002).

    Fit, drop the features of least squared weight, and fit again. More than two classes: one machine for each against
    the rest, squared weights summed.

    Parameters
    ----------
    n_features : int
        How many to keep, at most: constant features are not kept. All sizes come from one elimination.
    C : float
        Weight of the loss.
    drop : float
        Share of the remaining features that is dropped in each step, at least one feature; from 1 on, their number.
    scale : {"split", "full"}
        Columns are standardized by the split's rows, or by all rows; then the Gram matrix is shared, which is faster.
    ties, random_state
        As for :class:`Variance`, at each step.

    Attributes
    ----------
    ranking_ : ndarray
        1 for the last feature to fall; features that fall together are ordered by their weights.

    Examples
    --------
    >>> from holdfast.selectors import SVMRFE
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(SVMRFE(3).fit(X, y).get_feature_names_out())
    ['mean concave points', 'worst radius', 'worst area']
    """

    def __init__(
        self,
        n_features: int = 10,
        *,
        C: float = 0.5,
        drop: float = 0.1,
        scale: Scale = "split",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features, self.C, self.drop, self.scale = n_features, C, drop, scale
        self.ties, self.random_state = ties, random_state

    def _preferences_by_resample(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Preference | Exception]]:
        smallest = max(1, min(one._wanted_size(X.shape[1]) for one in selectors))
        sizes = elimination_sizes(X.shape[1], smallest, self.drop)
        data, machines = X if shared is None else shared, one_against_rest(target, resamples)
        turns, informative = self._tie_orders(resamples.seeds, X.shape[1]), varying(X, resamples)
        if len(machines) == 1:
            paths = svm_elimination(
                data, machines[0].labels, resamples.counts, sizes=sizes, C=self.C, scale=self.scale, tie_order=turns
            )
            found, informative = orders(paths, turns), informative & (paths.weight != 0)
        else:
            each = np.broadcast_to(turns, informative.shape)
            found = np.array(
                [self._together(data, machines, run, own, sizes, each[run]) for run, own in enumerate(resamples.counts)]
            )
        return [
            [Preference("ranking", ranks_of(order), informative=own)] * len(selectors)
            for order, own in zip(found, informative, strict=True)
        ]

    def _together(
        self, X: Floats, machines: Sequence[BinaryProblem], run: int, counts: Ints, sizes: Ints, turns: NDArray[np.int32]
    ) -> Ints:
        """The order of an elimination by several machines at once."""
        columns, fallen = np.arange(X.shape[1]), np.empty(0, np.int64)
        for size in [*sizes[1:], 0]:
            squares = np.zeros(columns.size)
            for machine in machines:
                if machine.resamples[run]:
                    fit = svm_elimination(X, machine.labels, counts[None], columns=columns, C=self.C, scale=self.scale)
                    squares += fit.weight[0] ** 2
            order = np.lexsort((turns[columns], -tied(squares)))
            fallen = np.concatenate([columns[order[size:]], fallen])
            columns = np.sort(columns[order[:size]])
        return fallen
