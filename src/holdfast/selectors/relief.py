"""ReliefF: features that differ between near rows of different classes."""

from typing import Any, ClassVar, Literal

import numpy as np

from holdfast.declared import About
from holdfast.kernels.relief import Ranges, shared_ranges, split_ranges, weigh_features
from holdfast.selectors.base import Ties
from holdfast.selectors.rows import Floats, Ints, Mask, Target
from holdfast.selectors.weighing import ROUNDING, Filter, learned_on


class ReliefF(Filter):
    r"""Select features that differ between near rows of different classes and agree between near rows of one class.

    Unlike filters that look at one feature at a time, it sees features that tell the classes apart together. All rows
    are probes. Rows of a probe's class that equal it, such as its copies in a bootstrap sample, are never its
    neighbors. Where there are fewer than ``n_neighbors`` rows of a class, all of them are taken; a class of one row has
    no near rows of its own. A constant feature weighs 0 and is never selected; one that differs more within classes
    than between them weighs less than 0, which is not the same, and comes last.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    n_neighbors : int, default 10
        Number of near rows of each class that a row is compared with.
    ranges : {"split", "full"}, default "split"
        Whether features are scaled by their range in the split's rows, or in all rows; then distances are computed once
        for all resamples, which is much faster.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to select at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Weight of each feature, from -1 to 1.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    AnovaF : Features one by one, much faster.

    Notes
    -----
    With :math:`\delta_f` the mean absolute difference of feature f, beside its range, between a probe of class c and
    its nearest rows of a class, the weight is the mean over probes of
    :math:`\sum_{c' \ne c} \frac{P(c')}{1 - P(c)} \delta_f(c') - \delta_f(c)`.

    References
    ----------
    Kononenko (1994); Robnik-Šikonja and Kononenko (2003).

    Examples
    --------
    >>> from holdfast.selectors import ReliefF
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(ReliefF(3).fit(X, y).get_feature_names_out())
    ['worst radius', 'worst perimeter', 'worst concave points']
    """

    about: ClassVar[About] = About(
        name="relieff",
        label="ReliefF",
        summary="Differs between near rows of other classes; ranges=full is fast.",
        methods="ReliefF",
        reference="kononenko1994",
        needs=("classes",),
    )

    uninformative: ClassVar[str | None] = "a weight of 0"

    def __init__(
        self,
        n_features: int = 10,
        *,
        n_neighbors: int = 10,
        ranges: Literal["split", "full"] = "split",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features, ties=ties, random_state=random_state)
        self.n_neighbors, self.ranges = n_neighbors, ranges

    def _informative(self, weights: Floats) -> Mask:
        return np.abs(weights) > ROUNDING

    def _shared(self, X: Floats, target: Target) -> Ranges | None:
        return shared_ranges(X) if learned_on("ranges", self.ranges) == "full" else None

    def _weights(self, shared: Any, X: Floats, target: Target, counts: Ints) -> Floats:
        if not isinstance(self.n_neighbors, (int, np.integer)) or self.n_neighbors < 1:
            raise ValueError(f"Expected n_neighbors to be a whole number of at least 1, got {self.n_neighbors!r}.")
        ranges = split_ranges(X, counts) if shared is None else shared
        return weigh_features(ranges, target.values, counts, self.n_neighbors)
