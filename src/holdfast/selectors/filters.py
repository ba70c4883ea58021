"""Filters: features weighed one by one."""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.declared import About
from holdfast.kernels import filters as moments_of
from holdfast.kernels.discretize import Sorted, equal_width_codes, mdl_codes, sort_columns
from holdfast.kernels.information import information, sample_of, uncertainty
from holdfast.kernels.relief import Ranges, shared_ranges, split_ranges, weights_of
from holdfast.kernels.tolerances import TIE
from holdfast.selectors.base import Preference, Selector, Ties
from holdfast.selectors.rows import Floats, Ints, Mask, Target

ROUNDING = 1e-11
"""Weights from 0 to about 1 that are no larger are 0 but for rounding."""


class Filter(Selector):
    """A selector that weighs features and keeps the best; write :meth:`_weights`.

    Weights within 1e-9 of the largest weight of each other tie, so that equal columns never depend on rounding.
    """

    nothing: ClassVar[float] = 0.0
    """The weight of a constant column; up to it a feature carries no information."""

    def __init__(self, n_features: int = 10, *, ties: Ties = "auto", random_state: Any = None) -> None:
        self.n_features, self.ties, self.random_state = n_features, ties, random_state

    @abstractmethod
    def _weights(self, shared: Any, X: Floats, target: Target, counts: Ints) -> Floats:
        """How much each feature weighs; larger is better, and what is not finite is undefined or beyond measure."""

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        weights = self._weights(shared, X, target, counts)
        return Preference("weighting", tied(weights), informative=self._informative(weights))

    def _informative(self, weights: Floats) -> Mask:
        """Which features weigh more than a constant column; those that are undefined do not."""
        return weights > self.nothing


def tied(weights: Floats) -> Floats:
    """Make weights equal that differ by rounding only; those that are undefined are the least."""
    defined = np.isfinite(weights)
    clean = np.where(defined, weights, np.where(weights == np.inf, np.inf, -np.inf))
    order = np.argsort(-clean, kind="stable")
    ranked = clean[order]
    scale = np.abs(weights[defined]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        steps = np.r_[True, ranked[:-1] - ranked[1:] > TIE * scale]
    leaders = np.maximum.accumulate(np.where(steps, np.arange(ranked.size), 0))
    equal = np.empty_like(clean)
    equal[order] = ranked[leaders]
    lowest = min(0.0, weights[defined].min(initial=0.0))
    return np.where(equal == -np.inf, lowest, np.where(equal == np.inf, np.finfo(float).max, equal))


class _Moments(Filter):
    """A filter by the mean and scatter of each class."""

    def _shared(self, X: Floats, target: Target) -> moments_of.Centered:
        return moments_of.centered(X)

    def _weights(self, shared: Any, X: Floats, target: Target, counts: Ints) -> Floats:
        return self._formula(moments_of.class_moments(shared, target.values, counts))

    @abstractmethod
    def _formula(self, moments: moments_of.Moments) -> Floats:
        """Weights from the moments of the classes."""


class Variance(_Moments):
    """Keep the features of the largest sample variance, whatever the target: classes or numbers.

    Parameters
    ----------
    n_features : int
        How many to keep, at most: features without information (``uninformative``) are not kept.
    ties : {"auto", "random", "lowest"}
        Which of equally good features to keep at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of the random choice. In a study, each resample has its own unless this is set.
    """

    about: ClassVar[About] = About(
        name="variance",
        summary="largest variance",
        methods="the features of largest variance",
    )

    needs_classes: ClassVar[bool] = False
    uninformative: ClassVar[str | None] = "a variance of 0"

    def _target(self, y: Any) -> Target:
        return Target(np.zeros(len(y)), None)

    def _weights(self, shared: Any, X: Floats, target: Target, counts: Ints) -> Floats:
        return self._formula(moments_of.class_moments(shared, np.zeros(counts.size), counts))

    def _formula(self, moments: moments_of.Moments) -> Floats:
        return moments_of.variance(moments)


class AnovaF(_Moments):
    """Keep the features of the largest F value of a one-way analysis of variance, for any number of classes.

    Parameters
    ----------
    n_features, ties, random_state
        As for :class:`Variance`.
    """

    about: ClassVar[About] = About(
        name="anova",
        summary="largest F value of an analysis of variance",
        methods="the largest F statistics of an analysis of variance",
        needs=("classes",),
    )

    uninformative: ClassVar[str | None] = "an F value of 0, or undefined"
    nothing: ClassVar[float] = ROUNDING**2

    def _formula(self, moments: moments_of.Moments) -> Floats:
        return moments_of.anova_f(moments)


class Golub(_Moments):
    r"""Keep the features of the largest signal-to-noise ratio :math:`|\mu_1 - \mu_2| / (\sigma_1 + \sigma_2)`.

    For two classes.

    Parameters
    ----------
    n_features, ties, random_state
        As for :class:`Variance`.
    """

    about: ClassVar[About] = About(
        name="golub",
        summary="largest signal-to-noise ratio, two classes",
        methods="the signal-to-noise ratio of Golub et al. (1999)",
        reference="golub1999",
        needs=("two classes",),
    )

    most_classes: ClassVar[int | None] = 2
    uninformative: ClassVar[str | None] = "a signal-to-noise ratio of 0"
    nothing: ClassVar[float] = ROUNDING

    def _formula(self, moments: moments_of.Moments) -> Floats:
        return moments_of.golub(moments)


class GolubVariance(_Moments):
    r"""Keep the features of the largest sum of signal-to-noise ratio and :math:`\lambda_v` times variance.

    For two classes (Hamer and Dupont, 2020). An infinite :math:`\lambda_v` is the order by variance.

    Parameters
    ----------
    n_features : int
        How many to keep.
    lambda_v : float
        Weight of the variance.
    ties, random_state
        As for :class:`Variance`.
    """

    about: ClassVar[About] = About(
        name="golub_variance",
        summary="largest sum of signal-to-noise ratio and lambda_v times variance, two classes",
        methods="a weighted sum of signal-to-noise ratio and variance",
        reference="hamer2020",
        needs=("two classes",),
    )

    most_classes: ClassVar[int | None] = 2
    uninformative: ClassVar[str | None] = "a sum of 0"

    def __init__(
        self, n_features: int = 10, *, lambda_v: float = 1.0, ties: Ties = "auto", random_state: Any = None
    ) -> None:
        super().__init__(n_features, ties=ties, random_state=random_state)
        self.lambda_v = lambda_v

    def _informative(self, weights: Floats) -> Mask:
        return weights > (ROUNDING if self.lambda_v == 0 else 0.0)

    def _formula(self, moments: moments_of.Moments) -> Floats:
        if not self.lambda_v >= 0:
            raise ValueError(f"Expected lambda_v to be 0 or more, got {self.lambda_v!r}.")
        return moments_of.golub_variance(moments, self.lambda_v)


class InformationGain(Filter):
    """Keep the features that tell most about the class, discretized by Fayyad and Irani's rule inside the split.

    Features for which the rule finds no cut worth its description weigh 0, and are not kept: of noise, few or none are.

    Parameters
    ----------
    n_features, ties, random_state
        As for :class:`Variance`.
    """

    about: ClassVar[About] = About(
        name="information_gain",
        summary="most information about the class, bins by the MDL rule",
        methods="information gain",
        reference="kalousis2005",
        needs=("classes",),
    )

    uninformative: ClassVar[str | None] = "an information gain of 0"

    def _shared(self, X: Floats, target: Target) -> Sorted:
        return sort_columns(X)

    def _weights(self, shared: Any, X: Floats, target: Target, counts: Ints) -> Floats:
        codes = mdl_codes(shared, target.values, counts)
        return information(sample_of(codes, counts), target.values)


class SymmetricalUncertaintyFilter(Filter):
    """Keep the features of the largest symmetrical uncertainty with the class, on equal-width bins.

    Parameters
    ----------
    n_features : int
        How many to keep.
    n_bins : int
        Number of bins, from 2 to 256.
    bins : {"split", "full"}
        Whether bins lie between the least and largest value of the split's rows, or of all rows.
    ties, random_state
        As for :class:`Variance`.
    """

    about: ClassVar[About] = About(
        name="symmetrical_uncertainty",
        summary="largest symmetrical uncertainty with the class",
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
        return uncertainty(sample_of(codes, counts[rows]), target.values[rows])


def learned_on(name: str, rows: str) -> str:
    """Return the rows that something is learned on, or raise."""
    if rows not in ("split", "full"):
        raise ValueError(f"Expected {name}='split' or 'full', got {rows!r}.")
    return rows


class ReliefF(Filter):
    """Keep the features that differ between near rows of other classes and agree between near rows of one class.

    All rows are probes. Rows of a probe's class that equal it, such as its copies in a bootstrap sample, are never its
    neighbors. Where there are less than ``n_neighbors`` rows of a class, all of them are taken; a class of one row
    has no near rows of its own. A constant feature weighs 0 and is never kept; one that differs more within classes
    than between them weighs less than 0, which is not the same, and comes last.

    Parameters
    ----------
    n_features : int
        How many to keep.
    n_neighbors : int
        Near rows of each class.
    ranges : {"split", "full"}
        Whether features are scaled by their range in the split's rows, or in all rows; then distances are computed once
        for all resamples, which is much faster.
    ties, random_state
        As for :class:`Variance`.
    """

    about: ClassVar[About] = About(
        name="relieff",
        summary="differs between near rows of other classes; ranges=full is fast",
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
        return weights_of(ranges, target.values, counts, self.n_neighbors)
