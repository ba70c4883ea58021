"""Linear support vector machines as selectors: by the weights of one fit, and by recursive elimination."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.declared import About
from holdfast.kernels.inputs import Scale
from holdfast.kernels.magnitude import column_units
from holdfast.kernels.paths import elimination_sizes, orders
from holdfast.kernels.svm import svm_elimination
from holdfast.selectors.base import FitsTogether, Preference, Ties
from holdfast.selectors.rows import BinaryProblem, Floats, Ints, Resamples, Target, one_against_rest, varying
from holdfast.selectors.weighing import learned_on, tied


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
    """A linear support vector machine, one for each class against the rest if there are more than two."""

    uninformative: ClassVar[str | None] = "a weight of 0, or constant"
    C: float
    scale: Scale

    def _shared(self, X: Floats, target: Target) -> Floats | None:
        return standardized(X) if learned_on("scale", self.scale) == "full" else None


class LinearSVMWeights(_LinearSVM):
    r"""Select the features of the largest squared weight in one linear support vector machine.

    More than two classes: one machine for each against the rest, squared weights summed.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    C : float, default 0.5
        Weight of the loss.
    scale : {"split", "full"}, default "split"
        Whether columns are standardized by the split's rows, or by all rows; then the Gram matrix is shared, which is
        faster.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to select at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Squared weight of each feature, standardized.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    SVMRFE : The same weights, recursively.

    Notes
    -----
    Minimizes :math:`C \sum_i \max(0, 1 - y_i f_i) + \frac12 \|w\|^2` with :math:`f = Xw + b` to the optimum; the
    intercept is not penalized. Called SVMONE where it is compared with recursive elimination.

    Examples
    --------
    >>> from holdfast.selectors import LinearSVMWeights
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(LinearSVMWeights(3).fit(X, y).get_feature_names_out())
    ['mean concavity', 'worst texture', 'worst concavity']
    """

    about: ClassVar[About] = About(
        name="svm_weights",
        label="SVM weights",
        summary="Largest squared weight in a linear support vector machine.",
        methods="the weights of a linear support vector machine",
        reference="kalousis2005",
        needs=("classes",),
    )

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
            [Preference("weighting", tied(row), informative=mask)] * len(selectors)
            for row, mask in zip(squares, informative, strict=True)
        ]


class SVMRFE(_LinearSVM):
    r"""Recursive feature elimination with a linear support vector machine (SVM-RFE; Guyon et al., 2002).

    Fit, drop the features of least squared weight, and fit again. More than two classes: one machine for each against
    the rest, squared weights summed.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected. All sizes come from one
        elimination.
    C : float, default 0.5
        Weight of the loss.
    drop : float, default 0.1
        Share of the remaining features that is dropped in each step, at least one feature; from 1 on, their number.
    scale : {"split", "full"}, default "split"
        Whether columns are standardized by the split's rows, or by all rows; then the Gram matrix is shared, which is
        faster.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to select at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the last to fall; features that fall together are ordered by their weights.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    LinearSVMWeights : The weights of the first fit only.
    HybridRFE : Elimination by ridge-logistic regression, with features forced by a filter.
    sklearn.feature_selection.RFE : Elimination by any estimator, one resample at a time.

    Notes
    -----
    Each fit minimizes :math:`C \sum_i \max(0, 1 - y_i f_i) + \frac12 \|w\|^2` with :math:`f = Xw + b` to the optimum.
    Of features whose weights tie at the cut, those stay that come first in the order of ``ties``.

    References
    ----------
    Guyon, Weston, Barnhill and Vapnik (2002).

    Examples
    --------
    >>> from holdfast.selectors import SVMRFE
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(SVMRFE(3).fit(X, y).get_feature_names_out())
    ['mean concave points', 'worst radius', 'worst area']
    """

    about: ClassVar[About] = About(
        name="svm_rfe",
        label="SVM-RFE",
        summary="Recursive elimination by a linear support vector machine.",
        methods="recursive feature elimination by a linear support vector machine",
        reference="guyon2002",
        needs=("classes",),
    )

    whole_order: ClassVar[tuple[str, ...]] = ("smallest",)

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
        smallest = max(1, min(selector._wanted_size(X.shape[1]) for selector in selectors))
        sizes = elimination_sizes(X.shape[1], smallest, self.drop)
        data, machines = X if shared is None else shared, one_against_rest(target, resamples)
        turns, informative = self._tie_orders(resamples.seeds, X.shape[1]), varying(X, resamples)
        if len(machines) == 1:
            paths = svm_elimination(
                data, machines[0].labels, resamples.counts, sizes=sizes, C=self.C, scale=self.scale, tie_order=turns
            )
            order, informative = orders(paths, turns), informative & (paths.weight != 0)
        else:
            all_turns = np.broadcast_to(turns, informative.shape)
            order = np.array(
                [
                    self._eliminate_by_machines(data, machines, resample, counts, sizes, all_turns[resample])
                    for resample, counts in enumerate(resamples.counts)
                ]
            )
        return [
            [Preference("ranking", ranks_of(columns), informative=mask)] * len(selectors)
            for columns, mask in zip(order, informative, strict=True)
        ]

    def _eliminate_by_machines(
        self,
        X: Floats,
        machines: Sequence[BinaryProblem],
        resample: int,
        counts: Ints,
        sizes: Ints,
        turns: NDArray[np.int32],
    ) -> Ints:
        """The order of an elimination by summed squared weights of several machines, one for each class."""
        columns, fallen = np.arange(X.shape[1]), np.empty(0, np.int64)
        for size in [*sizes[1:], 0]:
            squares = np.zeros(columns.size)
            for machine in machines:
                if machine.resamples[resample]:
                    fit = svm_elimination(X, machine.labels, counts[None], columns=columns, C=self.C, scale=self.scale)
                    squares += fit.weight[0] ** 2
            order = np.lexsort((turns[columns], -tied(squares)))
            fallen = np.concatenate([columns[order[size:]], fallen])
            columns = np.sort(columns[order[:size]])
        return fallen
