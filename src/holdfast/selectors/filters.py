"""Filters: features weighed by class means and scatter, by information, or by near rows; and a random baseline."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from holdfast.checks import check_whole
from holdfast.declared import About
from holdfast.kernels import filters as moments_of
from holdfast.kernels.information import (
    Sorted,
    equal_width_codes,
    information,
    make_sample,
    mdl_codes,
    sort_columns,
    uncertainty,
)
from holdfast.kernels.neighbors import Ranges, shared_ranges, split_ranges, weigh_features, weigh_features_by_numbers
from holdfast.selectors.base import (
    ROUNDING,
    Adjusts,
    Batch,
    Data,
    Filter,
    Floats,
    Ints,
    Mask,
    Preference,
    Ranked,
    Selector,
    Serves,
    Ties,
    check_choice,
    checked_target,
    learns_on_all,
)
from holdfast.targets import Target

CONTRASTS = get_args(moments_of.Contrast)


class _Moments(Filter):
    """A filter by the mean and scatter of each class."""

    any_precision: ClassVar[bool] = True
    block_fits: int = 16  # of a large table, as many share a pass
    seconds_per_number: ClassVar[float] = 1e-9

    def _center(self, data: Data) -> moments_of.Centered:
        """The data about their center, the rows of each class together."""
        return moments_of.centered(data.X.astype(np.float64, copy=False), data.target.values)

    def share(self, data: Data) -> moments_of.Centered | moments_of.Adjusted | None:
        if data.covariates is not None or (data.sites is not None and self.adjusts is not None):
            classes = np.arange(1, data.target.n_classes)
            return moments_of.adjusted(data.X, 1.0 * (data.target.values[:, None] == classes), data.adjustment)
        return self._center(data) if data.X.size <= moments_of.AT_ONCE else None

    def weigh(self, batch: Batch, shared: Any) -> Floats:
        if isinstance(shared, moments_of.Adjusted):
            return moments_of.weigh_adjusted(self._adjusted_formula, shared, batch.counts)
        return np.concatenate([self._formula(moments) for moments in self._moments(batch, shared)])

    def _moments(self, batch: Batch, shared: Any) -> Iterable[moments_of.Moments]:
        """The moments of all resamples, several at a time."""
        if shared is None:
            return moments_of.moments_by_blocks(batch.X, batch.target.values, batch.counts)
        return moments_of.moments_of_resamples(shared, batch.counts)

    takes_weights: ClassVar[bool] = True
    _formula: Callable[[moments_of.Moments], Floats]
    """Weights from the moments of the classes."""
    _adjusted_formula: Callable[[moments_of.Adjusted, Any], Floats]
    """Weights next to covariates, in selectors that adjust for them."""


class Variance(_Moments):
    r"""Select the features of the largest sample variance, without looking at the target (classes or numbers).

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
        Sample variance of each feature (divisor n - 1).
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    GolubVariance : Signal-to-noise ratio plus variance.
    HybridRFE : Elimination that keeps the features of largest variance.

    Notes
    -----
    Features are compared on the scale they come in: standardized ones all have variance 1. A very stable criterion, as
    the target's noise has no part in it (Hamer and Dupont, 2020).

    Examples
    --------
    >>> from holdfast.selectors import Variance
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(Variance(3).fit(X, y).get_feature_names_out())
    ['mean area', 'area error', 'worst area']
    """

    about: ClassVar[About] = About(
        name="variance",
        label="Variance",
        summary="Largest variance.",
        methods="the features of largest variance",
    )
    serves: ClassVar[Serves] = Serves("variance", "variance", "variance", "variance")

    needs_classes: ClassVar[bool] = False
    uninformative: ClassVar[str | None] = "a variance of 0"

    def _target(self, y: Any) -> Target:
        return Target(np.zeros(len(y)), None)

    def _center(self, data: Data) -> moments_of.Centered:
        # a hybrid elimination hands over its own target
        return super()._center(replace(data, target=self._target(data.target.values)))

    adjusts: ClassVar[Adjusts] = "formula"
    _formula = staticmethod(moments_of.variance)
    _adjusted_formula = staticmethod(moments_of.partial_variance)


class AnovaF(_Moments):
    r"""Select the features of the largest F value of a one-way analysis of variance, for any number of classes.

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
        F value of each feature.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    Golub : Signal-to-noise ratio of two classes, or of one against the rest.
    sklearn.feature_selection.f_classif : The same F values, resample by resample.

    Notes
    -----
    For classes :math:`c` with :math:`n_c` rows, mean :math:`\mu_c` and overall mean :math:`\mu`,

    .. math:: F = \frac{\sum_c n_c (\mu_c - \mu)^2 / (k - 1)}{\sum_c \sum_{i \in c} (x_i - \mu_c)^2 / (n - k)}

    with :math:`k` classes and :math:`n` rows.

    Examples
    --------
    >>> from holdfast.selectors import AnovaF
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(AnovaF(3).fit(X, y).get_feature_names_out())
    ['mean concave points', 'worst perimeter', 'worst concave points']
    """

    serves: ClassVar[Serves] = Serves("F, analysis of variance", "F, analysis of variance")
    about: ClassVar[About] = About(
        name="anova",
        label="ANOVA F",
        summary="Largest F value of an analysis of variance.",
        methods="the largest F statistics of an analysis of variance",
        needs=serves.needs,
    )

    uninformative: ClassVar[str | None] = "an F value of 0, or undefined"
    null_weight: float = ROUNDING**2
    adjusts: ClassVar[Adjusts] = "formula"

    _formula = staticmethod(moments_of.anova_f)

    @staticmethod
    def _adjusted_formula(shared: moments_of.Adjusted, counts: Any) -> Floats:
        return moments_of.partial_f(shared, counts)[0]

    def weigh_within(self, batch: Batch, shared: Any) -> Floats:
        assert batch.sites is not None
        return moments_of.weigh_adjusted(partial(moments_of.nested_f, sites=batch.sites), shared, batch.counts)


class FTest(Filter):
    r"""Select the features of the largest F value of a regression on each alone, for numbers to predict.

    The order is that of the absolute correlation with the target.

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
        F value of each feature.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    AnovaF : The same for classes.
    sklearn.feature_selection.f_regression : The same F values, resample by resample.

    Notes
    -----
    With the correlation :math:`r` of a feature and the target over :math:`n` rows,
    :math:`F = (n - 2)\, r^2 / (1 - r^2)`.

    Examples
    --------
    >>> from holdfast.selectors import FTest
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> list(FTest(3).fit(X, y).get_feature_names_out())
    ['bmi', 'bp', 's5']
    """

    serves: ClassVar[Serves] = Serves(numbers="F, regression on one feature")
    about: ClassVar[About] = About(
        name="f_test",
        label="F test",
        summary="Largest F value of a regression on one feature, as by the absolute correlation.",
        methods="the largest F statistics of linear regressions on single features",
        needs=serves.needs,
    )

    needs_classes: ClassVar[bool] = False
    uninformative: ClassVar[str | None] = "an F value of 0, or undefined"
    null_weight: float = ROUNDING**2
    adjusts: ClassVar[Adjusts] = "formula"
    takes_weights: ClassVar[bool] = True

    def share(self, data: Data) -> moments_of.Adjusted:
        nothing = np.empty((len(data.X), 0))
        covariates = nothing if data.covariates is None else data.covariates
        return moments_of.adjusted(data.X, data.target.values[:, None], covariates)

    def weigh(self, batch: Batch, shared: Any) -> Floats:
        return moments_of.weigh_adjusted(AnovaF._adjusted_formula, shared, batch.counts)


class PartialF:
    """The scores of scikit-learn's ``f_classif`` or ``f_regression`` next to covariates, for its univariate selectors.

    Parameters
    ----------
    covariates : ndarray
        Columns to adjust for, of the rows that are scored.
    classes : bool
        Whether the target has classes, as for ``f_classif``.
    """

    def __init__(self, covariates: Floats, *, classes: bool) -> None:
        self.covariates, self.classes = covariates, classes

    def __call__(self, X: Any, y: Any) -> tuple[Floats, Floats]:
        target = checked_target(y, self.classes)
        kinds = target.n_classes
        columns = 1.0 * (target.values[:, None] == np.arange(1, kinds)) if kinds else target.values[:, None]
        shared = moments_of.adjusted(np.asarray(X, dtype=np.float64), columns, self.covariates)
        (f,), (n_target,), (n_free,) = moments_of.partial_f(shared, np.ones((1, len(X))))
        return f, stats.f.sf(f, n_target, n_free) if n_free > 0 else np.full(f.size, np.nan)


class Golub(_Moments):
    r"""Select the features of the largest signal-to-noise ratio of two classes (Golub et al., 1999).

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    multi_class : {"pairwise", "rest"}, default "pairwise"
        With more than two classes, the largest ratio counts: of any two of them, or of one against all others.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to select at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Signal-to-noise ratio of each feature.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    GolubVariance : The same plus a multiple of the variance.
    AnovaF : All classes at once.

    Notes
    -----
    The ratio is :math:`|\mu_1 - \mu_2| / (\sigma_1 + \sigma_2)`, with the means and sample standard deviations (divisor
    n - 1) of two classes, or of one and of the rows of all others.

    Examples
    --------
    >>> from holdfast.selectors import Golub
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(Golub(3).fit(X, y).get_feature_names_out())
    ['mean concave points', 'worst perimeter', 'worst concave points']
    """

    serves: ClassVar[Serves] = Serves(
        "signal-to-noise ratio", "largest ratio of two classes, or of one against the rest"
    )
    about: ClassVar[About] = About(
        name="golub",
        label="Signal-to-noise ratio",
        summary="Largest signal-to-noise ratio of two classes, or of one against the rest.",
        methods="the signal-to-noise ratio of Golub et al. (1999)",
        reference="golub1999",
        needs=serves.needs,
    )

    uninformative: ClassVar[str | None] = "a signal-to-noise ratio of 0"
    null_weight: float = ROUNDING

    def __init__(
        self,
        n_features: int = 10,
        *,
        multi_class: moments_of.Contrast = "pairwise",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features, ties=ties, random_state=random_state)
        self.multi_class = multi_class

    def _formula(self, moments: moments_of.Moments) -> Floats:
        return moments_of.golub(moments, check_choice("multi_class", self.multi_class, CONTRASTS))


class GolubVariance(_Moments):
    r"""Select the features of the largest sum of signal-to-noise ratio and a multiple of the variance.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    lambda_v : float, default 1.0
        Weight of the variance, 0 or more; infinity is the order by variance.
    units : {"data", "largest"}, default "data"
        What ``lambda_v`` counts in. With ``"data"`` it multiplies the variance as it is, so that a good value depends
        on the scale of the data. With ``"largest"`` it counts in units of the largest ratio per largest variance of the
        split: at 1, the feature of largest variance gets as much from it as the best feature gets from its ratio.
    multi_class : {"pairwise", "rest"}, default "pairwise"
        With more than two classes, the largest ratio counts: of any two of them, or of one against all others.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to select at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The sum for each feature.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    Golub : Without the variance.
    Variance : The variance alone.

    Notes
    -----
    The score is :math:`|\mu_1 - \mu_2| / (\sigma_1 + \sigma_2) + \lambda_v \operatorname{var}(x)`. A larger
    :math:`\lambda_v` makes selections more stable, at a cost in accuracy. With ``units="largest"`` both terms are
    divided by their largest (finite) value over the features before :math:`\lambda_v` weighs them, which orders
    features the same way whatever unit the data are in.

    References
    ----------
    Hamer and Dupont (2020), equation 2.

    Examples
    --------
    >>> from holdfast.selectors import GolubVariance
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(GolubVariance(3, lambda_v=1e-5).fit(X, y).get_feature_names_out())
    ['mean area', 'worst area', 'worst concave points']
    >>> list(GolubVariance(3, lambda_v=1, units="largest").fit(X, y).get_feature_names_out())
    ['mean area', 'worst area', 'worst concave points']
    """

    serves: ClassVar[Serves] = Serves("ratio plus variance", "largest ratio plus variance")
    about: ClassVar[About] = About(
        name="golub_variance",
        label="Signal-to-noise ratio and variance",
        summary="Largest sum of signal-to-noise ratio and lambda_v times variance.",
        methods="a weighted sum of signal-to-noise ratio and variance",
        reference="hamer2020",
        needs=serves.needs,
    )

    shared_parameters: ClassVar[tuple[str, ...]] = ("n_features", "lambda_v")
    uninformative: ClassVar[str | None] = "a sum of 0"

    def __init__(
        self,
        n_features: int = 10,
        *,
        lambda_v: float = 1.0,
        units: Literal["data", "largest"] = "data",
        multi_class: moments_of.Contrast = "pairwise",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features, ties=ties, random_state=random_state)
        self.lambda_v, self.units, self.multi_class = lambda_v, units, multi_class

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        # one preference for each lambda_v, all from the same moments
        moments = list(self._moments(batch, shared))
        by_lambda: dict[float, list[Any]] = {}
        for selector in batch.selectors:
            if selector.lambda_v not in by_lambda:
                try:
                    weights = np.concatenate([selector._formula(several) for several in moments])
                    by_lambda[selector.lambda_v] = selector._rank_by(weights, batch)
                except ValueError as error:
                    by_lambda[selector.lambda_v] = [error] * len(batch)
        return list(zip(*(by_lambda[selector.lambda_v] for selector in batch.selectors), strict=True))

    @property
    def null_weight(self) -> float:  # type: ignore[override]
        """That of Golub's ratio, or of a sum with a variance, which has no rounding about 0."""
        return ROUNDING if self.lambda_v == 0 else 0.0

    def _formula(self, moments: moments_of.Moments) -> Floats:
        if not self.lambda_v >= 0:
            raise ValueError(f"Expected lambda_v to be 0 or more, got {self.lambda_v!r}.")
        relative = check_choice("units", self.units, ("data", "largest")) == "largest"
        contrast = check_choice("multi_class", self.multi_class, CONTRASTS)
        return moments_of.golub_variance(moments, self.lambda_v, relative=relative, contrast=contrast)


def class_codes(target: Target, counts: Ints, target_bins: int | None) -> Ints:
    """The class number of each row: of its class, or of the bin of its number in this resample."""
    if target.classes is not None or target_bins is None:
        return target.values
    return moments_of.quantile_codes(target.values, counts, target_bins)


class _Information(Filter):
    """A filter by information about classes, or about bins of numbers if their number is given."""

    target_bins: int | None

    def _target(self, y: Any) -> Target:
        return checked_target(y, self.target_bins is None)


class InformationGain(_Information):
    r"""Select the features with the most information about the class, discretized by Fayyad and Irani's rule.

    Features are cut into intervals inside the split, where that separates the classes well enough to pay for its
    description (minimum description length). A feature that is not worth a cut weighs 0 and is not selected: of noise
    few are, or none.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    target_bins : int, optional
        Number of bins of about equal size, learned from the split's rows, into which numbers to predict are cut; they
        are refused if it is not given.
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

    serves: ClassVar[Serves] = Serves("information", "information", "information about bins", numbers_by="target_bins")
    about: ClassVar[About] = About(
        name="information_gain",
        label="Information gain",
        summary="Most information about the class, bins by the MDL rule.",
        methods="information gain",
        reference="kalousis2005",
        needs=serves.needs,
    )

    uninformative: ClassVar[str | None] = "an information gain of 0"

    def __init__(
        self,
        n_features: int = 10,
        *,
        target_bins: int | None = None,
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features, ties=ties, random_state=random_state)
        self.target_bins = target_bins

    def share(self, data: Data) -> Sorted:
        return sort_columns(data.X)

    def weigh(self, batch: Batch, shared: Any) -> Floats:
        weights = np.empty((len(batch), batch.n_features))
        for row, counts in zip(weights, batch.counts, strict=True):
            labels = class_codes(batch.target, counts, self.target_bins)
            row[:] = information(make_sample(mdl_codes(shared, labels, counts), counts), labels)
        return weights


class SymmetricalUncertaintyFilter(_Information):
    r"""Select the features of the largest symmetrical uncertainty (normalized information) with the class.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    n_bins : int, default 10
        Number of bins of equal width, from 2 to 256.
    bins : {"split", "full"}, default "split"
        Whether bins lie between the least and largest value of the split's rows, or of all rows.
    target_bins : int, optional
        Number of bins of about equal size, learned from the split's rows, into which numbers to predict are cut; they
        are refused if it is not given.
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

    serves: ClassVar[Serves] = Serves(
        "normalized information",
        "normalized information",
        "normalized information about bins",
        numbers_by="target_bins",
    )
    about: ClassVar[About] = About(
        name="symmetrical_uncertainty",
        label="Symmetrical uncertainty",
        summary="Largest symmetrical uncertainty with the class.",
        methods="symmetrical uncertainty with the class",
        reference="gulgezen2009",
        needs=serves.needs,
    )

    uninformative: ClassVar[str | None] = "a symmetrical uncertainty of 0"

    def __init__(
        self,
        n_features: int = 10,
        *,
        n_bins: int = 10,
        bins: Literal["split", "full"] = "split",
        target_bins: int | None = None,
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features, ties=ties, random_state=random_state)
        self.n_bins, self.bins, self.target_bins = n_bins, bins, target_bins

    def share(self, data: Data) -> NDArray[np.uint8] | None:
        return equal_width_codes(data.X, self.n_bins) if learns_on_all("bins", self.bins) else None

    def weigh(self, batch: Batch, shared: Any) -> Floats:
        weights = np.empty((len(batch), batch.n_features))
        for row, counts in zip(weights, batch.counts, strict=True):
            drawn = np.flatnonzero(counts)
            codes = equal_width_codes(batch.X, self.n_bins, drawn) if shared is None else shared[:, drawn]
            row[:] = uncertainty(
                make_sample(codes, counts[drawn]), class_codes(batch.target, counts, self.target_bins)[drawn]
            )
        return weights


class ReliefF(Filter):
    r"""Select features that differ between near rows of different classes and agree between near rows of one class.

    Unlike filters that look at one feature at a time, it sees features that separate the classes together. All rows
    are probes. Rows of a probe's class that equal it, such as its copies in a bootstrap sample, are never its
    neighbors. Where there are fewer than ``n_neighbors`` rows of a class, all of them are taken; a class of one row has
    no near rows. A constant feature weighs 0 and is never selected; one that differs more within classes
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
    RReliefF : For numbers to predict.

    Notes
    -----
    With :math:`\delta_f` the mean absolute difference of feature f, relative to its range, between a probe of class c
    and its nearest rows of a class, the weight is the mean over probes of
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

    serves: ClassVar[Serves] = Serves("near rows of the other class", "near rows of each other class")
    about: ClassVar[About] = About(
        name="relieff",
        label="ReliefF",
        summary="Differs between near rows of other classes; ranges=full is fast.",
        methods="ReliefF",
        reference="kononenko1994",
        needs=serves.needs,
    )

    uninformative: ClassVar[str | None] = "a weight of 0"
    null_weight: float = ROUNDING

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
        return np.abs(weights) > self.null_weight

    def share(self, data: Data) -> Ranges | None:
        return shared_ranges(data.X) if learns_on_all("ranges", self.ranges) else None

    def weigh(self, batch: Batch, shared: Any) -> Floats:
        check_whole("n_neighbors", self.n_neighbors, 1)
        weights = np.empty((len(batch), batch.n_features))
        for row, counts in zip(weights, batch.counts, strict=True):
            ranges = split_ranges(batch.X, counts) if shared is None else shared
            row[:] = self._weigh_features(ranges, batch.target, counts)
        return weights

    def _weigh_features(self, ranges: Ranges, target: Target, counts: Ints) -> Floats:
        """Return the weights of one resample."""
        return weigh_features(ranges, target.values, counts, self.n_neighbors)


class RReliefF(ReliefF):
    r"""Select features that differ between near rows whose targets differ: ReliefF for numbers to predict.

    It sees features that tell of the target together. All rows are probes; rows that equal a probe in all features,
    such as its copies in a bootstrap sample, are never its neighbors. A constant feature weighs 0 and is never
    selected; one that differs more where the target does not weighs less than 0, which is not the same, and comes last.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    n_neighbors : int, default 10
        Number of near rows that a row is compared with.
    sigma : float, optional
        The near row of rank r counts :math:`e^{-(r / \sigma)^2}`, relative to the others; all count the same if it is
        not given.
    ranges : {"split", "full"}, default "split"
        Whether features are scaled by their range in the split's rows, or in all rows; then distances are computed once
        for all resamples, which is much faster. The target is scaled by its range in the split's rows.
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
    ReliefF : For classes.
    FTest : Features one by one, much faster.

    Notes
    -----
    An estimate of the probability that a feature differs between near rows of different targets, less that between near
    rows of similar ones; with the differences :math:`\delta` of near rows relative to the ranges, and means over them,

    .. math:: W_f = \frac{\overline{\delta_y \delta_f}}{\overline{\delta_y}}
              - \frac{\overline{(1 - \delta_y)\, \delta_f}}{1 - \overline{\delta_y}}

    References
    ----------
    Robnik-Šikonja and Kononenko (1997, 2003).

    Examples
    --------
    >>> from holdfast.selectors import RReliefF
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> list(RReliefF(3).fit(X, y).get_feature_names_out())
    ['bmi', 's4', 's5']
    """

    serves: ClassVar[Serves] = Serves(numbers="near rows whose numbers differ")
    about: ClassVar[About] = About(
        name="rrelieff",
        label="RReliefF",
        summary="Differs between near rows whose targets differ; ranges=full is fast.",
        methods="RReliefF",
        reference="robnik1997",
        needs=serves.needs,
    )

    needs_classes: ClassVar[bool] = False

    def __init__(
        self,
        n_features: int = 10,
        *,
        n_neighbors: int = 10,
        sigma: float | None = None,
        ranges: Literal["split", "full"] = "split",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features, n_neighbors=n_neighbors, ranges=ranges, ties=ties, random_state=random_state)
        self.sigma = sigma

    def _weigh_features(self, ranges: Ranges, target: Target, counts: Ints) -> Floats:
        if self.sigma is not None and not 0 < self.sigma < np.inf:
            raise ValueError(f"Expected sigma to be None or a positive number, got {self.sigma!r}.")
        return weigh_features_by_numbers(ranges, target.values, counts, self.n_neighbors, self.sigma)


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
    serves: ClassVar[Serves] = Serves(*["at random"] * 4)

    needs_classes: ClassVar[bool] = False
    draws: ClassVar[bool] = True

    def __init__(self, n_features: int | None = 10, *, random_state: Any = None) -> None:
        self.n_features, self.random_state = n_features, random_state

    def _target(self, y: Any) -> Target:
        return Target(np.zeros(len(y)), None)

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        return [[selector._draw(seed, batch.n_features) for selector in batch.selectors] for seed in batch.seeds]

    def _draw(self, seed: int | None, n_features: int) -> Preference:
        rng, any_size = np.random.default_rng(seed), self.n_features is None
        size = int(rng.integers(1, n_features + 1)) if any_size else self._wanted_size(n_features)
        order = rng.permutation(n_features)[:size]
        return Preference("subset", np.sort(order), extras={"order_": order}, order=None if any_size else order)
