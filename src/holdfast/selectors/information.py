"""Filters by information about the class, on discretized features."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.declared import About
from holdfast.kernels.discretize import Sorted, equal_width_codes, mdl_codes, sort_columns
from holdfast.kernels.information import information, make_sample, uncertainty
from holdfast.selectors.base import Ties
from holdfast.selectors.rows import Floats, Ints, Target
from holdfast.selectors.weighing import Filter, learned_on


class InformationGain(Filter):
    r"""Select the features with the most information about the class, discretized by Fayyad and Irani's rule.

    Features are cut into intervals inside the split, where that tells the classes apart well enough to pay for its
    description (minimum description length). A feature that is not worth a cut weighs 0 and is not selected: of noise
    few are, or none.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to select at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mutual information of each discretized feature with the class, in nats.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    SymmetricalUncertaintyFilter : Normalized information, on bins of equal width.
    MRMR : Information about the class, less what is shared with features chosen before.

    References
    ----------
    Fayyad and Irani (1993).

    Examples
    --------
    >>> from holdfast.selectors import InformationGain
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(InformationGain(3).fit(X, y).get_feature_names_out())
    ['worst radius', 'worst perimeter', 'worst area']
    """

    about: ClassVar[About] = About(
        name="information_gain",
        label="Information gain",
        summary="Most information about the class, bins by the MDL rule.",
        methods="information gain",
        reference="kalousis2005",
        needs=("classes",),
    )

    uninformative: ClassVar[str | None] = "an information gain of 0"

    def _shared(self, X: Floats, target: Target) -> Sorted:
        return sort_columns(X)

    def _weights(self, shared: Any, X: Floats, target: Target, counts: Ints) -> Floats:
        codes = mdl_codes(shared, target.values, counts)
        return information(make_sample(codes, counts), target.values)


class SymmetricalUncertaintyFilter(Filter):
    r"""Select the features of the largest symmetrical uncertainty (normalized information) with the class.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    n_bins : int, default 10
        Number of bins of equal width, from 2 to 256.
    bins : {"split", "full"}, default "split"
        Whether bins lie between the least and largest value of the split's rows, or of all rows.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to select at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Symmetrical uncertainty of each feature with the class, from 0 to 1.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    InformationGain : Information, on intervals that fit the classes.
    holdfast.similarity.SymmetricalUncertainty : The same between features.

    Notes
    -----
    :math:`2\, I(x; y) / (H(x) + H(y))` on bins of equal width, with mutual information :math:`I` and entropies
    :math:`H`.

    Examples
    --------
    >>> from holdfast.selectors import SymmetricalUncertaintyFilter
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(SymmetricalUncertaintyFilter(3).fit(X, y).get_feature_names_out())
    ['mean concave points', 'worst perimeter', 'worst area']
    """

    about: ClassVar[About] = About(
        name="symmetrical_uncertainty",
        label="Symmetrical uncertainty",
        summary="Largest symmetrical uncertainty with the class.",
        methods="symmetrical uncertainty with the class",
        reference="gulgezen2009",
        needs=("classes",),
    )

    uninformative: ClassVar[str | None] = "a symmetrical uncertainty of 0"

    def __init__(
        self,
        n_features: int = 10,
        *,
        n_bins: int = 10,
        bins: Literal["split", "full"] = "split",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features, ties=ties, random_state=random_state)
        self.n_bins, self.bins = n_bins, bins

    def _shared(self, X: Floats, target: Target) -> NDArray[np.uint8] | None:
        return equal_width_codes(X, self.n_bins) if learned_on("bins", self.bins) == "full" else None

    def _weights(self, shared: Any, X: Floats, target: Target, counts: Ints) -> Floats:
        rows = np.flatnonzero(counts)
        codes = equal_width_codes(X, self.n_bins, rows) if shared is None else shared[:, rows]
        return uncertainty(make_sample(codes, counts[rows]), target.values[rows])
