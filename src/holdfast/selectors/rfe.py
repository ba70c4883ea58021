"""Recursive elimination by ridge-logistic regression, with some features forced by a stable filter."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np

from holdfast.declared import About
from holdfast.kernels.inputs import Scale, check_costs, check_shrinkages, scale_data
from holdfast.kernels.libraries import check_device
from holdfast.kernels.magnitude import column_units
from holdfast.selection import Selection
from holdfast.selectors.base import FitsTogether, Preference, Ties
from holdfast.selectors.forcing import check_numbers, share_criteria
from holdfast.selectors.models import Predicts
from holdfast.selectors.rfe_block import Block, Eliminated, Shared
from holdfast.selectors.rows import Floats, Ints, Resamples, Target
from holdfast.selectors.weighing import learned_on


class HybridRFE(Predicts, FitsTogether):
    r"""Recursive feature elimination (logistic RFE) that keeps the best features of a stable filter, for two classes.

    The ``n_forced`` best features by a univariate criterion are never dropped; the elimination chooses features that
    complete them. More forced features make the selection more stable, at a cost in accuracy that may be small. Without
    any it is plain RFE; with all of them forced it is the filter.

    Parameters
    ----------
    n_features : int, default 20
        Number of features to select, at most: constant features are never selected. All sizes come from one
        elimination.
    n_forced : int, default 0
        How many of them the criterion forces; at most ``n_features``, and no feature that tells it nothing.
    criterion : {"variance", "golub"}, filter, or array, default "variance"
        What ranks features for forcing, on the data as they are, unscaled: a name, a filter such as
        ``GolubVariance(lambda_v=0.5)``, or a number for each feature.
    C : float, default 1.0
        Weight of the loss in the elimination.
    shrinkage : float, default 1.0
        Factor of the forced features' weights in the penalty, above 0 and at most 1; below 1 they are shrunk less.
    C_final : float, optional
        Weight of the loss in the model on the selected features, which predicts; ``C`` by default.
    drop : float, default 0.2
        Share of the remaining features that is dropped in each step, at least one feature; from 1 on, their number.
    fit_intercept : bool, default True
        Whether models have an intercept; it is not penalized.
    standardize : bool, default True
        Whether models see columns of mean 0 and standard deviation 1; the criterion never does.
    scale : {"split", "full"}, default "split"
        Whether columns are standardized by the split's rows, or by all rows; then the Gram matrix is shared.
    complement : {"hybrid", "independent"}, default "hybrid"
        Whether features that complete the forced ones are chosen together with them, or independently of them (a
        baseline for comparison).
    device : {"cpu", "cuda", "torch"}, default "cpu"
        Where eliminations are computed: compiled for this processor, or in lock-step over resamples by torch, on a GPU
        or (to try it) on the processor. The selected sets are the same.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to force, and to keep at each step: drawn at random, or the lowest columns.
        ``"auto"`` draws where there is a seed, as in every study, and takes the lowest columns in a plain fit.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the last to fall.
    forced_ : ndarray of int
        Columns that were forced.
    model_ : object
        The model on the selected features, which ``predict`` uses.
    classes_ : ndarray
        The two classes.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    SVMRFE : Elimination by a support vector machine, for any number of classes.
    Variance, Golub, GolubVariance : Criteria for forcing.

    Notes
    -----
    Each fit minimizes :math:`C \sum_i \log(1 + e^{-y_i f_i}) + \frac12 \sum_j \beta_j^2 w_j^2`, where
    :math:`\beta_j` is the ``shrinkage`` for forced features and 1 for others. The λ of the paper is 1 / (2 C). The
    algorithm as printed there is ``fit_intercept=False, standardize=False, drop=1``.

    References
    ----------
    Hamer and Dupont (2020).

    Examples
    --------
    >>> from holdfast.selectors import HybridRFE
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> rfe = HybridRFE(4, n_forced=2, criterion="golub").fit(X, y)
    >>> list(rfe.get_feature_names_out())
    ['worst radius', 'worst perimeter', 'worst area', 'worst concave points']
    >>> round(float(rfe.predict_proba(X)[0, 0]), 3)
    1.0
    """

    about: ClassVar[About] = About(
        name="hybrid_rfe",
        label="Hybrid RFE",
        summary="Elimination that keeps n_forced features of a stable criterion, two classes.",
        methods="hybrid recursive feature elimination",
        reference="hamer2020",
        needs=("two classes",),
    )

    most_classes: ClassVar[int | None] = 2
    model_parameters: ClassVar[tuple[str, ...]] = ("C_final",)
    uninformative: ClassVar[str | None] = "a weight of 0, or constant"
    whole_order: ClassVar[tuple[str, ...]] = ("smallest",)

    def __init__(
        self,
        n_features: int = 20,
        *,
        n_forced: int = 0,
        criterion: Any = "variance",
        C: float = 1.0,
        shrinkage: float = 1.0,
        C_final: float | None = None,
        drop: float = 0.2,
        fit_intercept: bool = True,
        standardize: bool = True,
        scale: Scale = "split",
        complement: Literal["hybrid", "independent"] = "hybrid",
        device: Literal["cpu", "cuda", "torch"] = "cpu",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features, self.n_forced, self.criterion, self.C, self.shrinkage = (
            n_features, n_forced, criterion, C, shrinkage,
        )  # fmt: skip
        self.C_final, self.drop, self.fit_intercept, self.standardize = C_final, drop, fit_intercept, standardize
        self.scale, self.complement, self.device = scale, complement, device
        self.ties, self.random_state = ties, random_state

    shared_parameters: ClassVar[tuple[str, ...]] = (
        "n_features", "n_forced", "criterion", "C", "shrinkage", "C_final",
    )  # fmt: skip

    @property
    def block_fits(self) -> int:
        """How many fits, settings times resamples, a study should hand over at a time, at least."""
        return 1 if self.device == "cpu" else 50_000

    # What all resamples share

    def _shared(self, X: Floats, target: Target) -> Shared:
        return self._shared_by_settings([self], X, target, None)

    def _shared_by_settings(self, selectors: Sequence[Self], X: Floats, target: Target, groups: Ints | None) -> Shared:
        self._check_device()
        criteria = share_criteria([selector.criterion for selector in selectors], X, target)
        if not self.standardize or learned_on("scale", self.scale) == "split":
            return Shared(scale_data(X, "split" if self.standardize else "full"), criteria)
        power = column_units(X)
        scaled = X / power
        deviation = scaled.std(axis=0)
        shift, unit = scaled.mean(axis=0) * power, np.where(deviation > 0, deviation, 1.0) * power
        return Shared(scale_data((X - shift) / unit, "full")._replace(shift=shift, unit=unit), criteria)

    def _check_device(self) -> None:
        if self.device not in ("cpu", "cuda", "torch"):
            raise ValueError(f"Expected device='cpu', 'cuda' or 'torch', got {self.device!r}.")
        if self.device != "cpu":
            check_device(self.device)

    # Fitting

    def _preferences_by_resample(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Preference | Exception]]:
        if self.complement not in ("hybrid", "independent"):
            raise ValueError(f"Expected complement='hybrid' or 'independent', got {self.complement!r}.")
        turns = resamples._replace(seeds=[self._tie_seed(seed) for seed in resamples.seeds])
        return Block(selectors, shared, X, target, turns).preferences()

    def _fault(self, n_features: int) -> ValueError | None:
        """What is wrong with the parameters that settings may differ in; None if nothing is."""
        try:
            n = self.n_forced
            if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
                raise ValueError(f"Expected n_forced to be a whole number of at least 0, got {n!r}.")
            if self._wanted_size(n_features) < n:
                raise ValueError(
                    f"Expected at most n_features={self.n_features} forced features, got n_forced={n}; force fewer."
                )
            if n:
                check_numbers(self.criterion, n_features)
            check_costs([self.C, self._final_cost()])
            check_shrinkages(self.shrinkage)
        except ValueError as error:
            return error
        return None

    def _final_cost(self) -> float:
        """The weight of the loss in the model that predicts."""
        return self.C if self.C_final is None else self.C_final

    def _cut_to_size(self, preference: Preference, n_features: int, seed: int | None) -> Selection:
        assert isinstance(preference, Eliminated)
        return preference.cut()
