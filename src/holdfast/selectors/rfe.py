"""Recursive elimination by ridge-logistic regression, with some features forced by a stable filter."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.declared import About
from holdfast.kernels.inputs import Scale
from holdfast.kernels.lockstep import lockstep_elimination
from holdfast.kernels.magnitude import column_units
from holdfast.kernels.paths import Paths, elimination_sizes, orders
from holdfast.kernels.ridge import ridge_elimination
from holdfast.selection import Selection
from holdfast.selectors.base import FitsTogether, Preference, Ties
from holdfast.selectors.elimination import ranks_of
from holdfast.selectors.filters import Golub, Variance
from holdfast.selectors.models import LinearClassifier, Predicts
from holdfast.selectors.rows import Floats, Mask, Resamples, Target, varying
from holdfast.selectors.weighing import Filter, learned_on

DEVICE_BYTES = 40e9
"""About how much of an accelerator's memory is used at a time."""

CRITERIA = {"variance": Variance, "golub": Golub}


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
        summary="Elimination that keeps n_forced features of a stable criterion, two classes.",
        methods="hybrid recursive feature elimination",
        reference="hamer2020",
        needs=("two classes",),
    )

    most_classes: ClassVar[int | None] = 2
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

    @property
    def shared_parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """Parameters of which one elimination gives the results for all values; in lock-step, more of them."""
        return ("n_features", "C_final", *(() if self.device == "cpu" else ("C", "shrinkage", "n_forced")))

    @property
    def block_size(self) -> int:
        """How many resamples a study should hand over at a time, at least."""
        return 1 if self.device == "cpu" else 1000

    # What all resamples share

    def _shared(self, X: Floats, target: Target) -> "Shared":
        filter_ = self._filter()
        criterion = None if filter_ is None else filter_._shared(X, target)
        if not self.standardize or learned_on("scale", self.scale) == "split":
            return Shared(criterion, np.zeros(X.shape[1]), np.ones(X.shape[1]), "split" if self.standardize else "full")
        power = column_units(X)
        scaled = X / power
        deviation = scaled.std(axis=0)
        return Shared(criterion, scaled.mean(axis=0) * power, np.where(deviation > 0, deviation, 1.0) * power, "full")

    def _filter(self) -> Filter | None:
        """The filter that ranks features for forcing; None if numbers were given."""
        if isinstance(self.criterion, str):
            if self.criterion not in CRITERIA:
                raise ValueError(
                    f"Expected the criterion {' or '.join(map(repr, CRITERIA))}, a filter or numbers, got "
                    f"{self.criterion!r}."
                )
            return CRITERIA[self.criterion]()
        return self.criterion if isinstance(self.criterion, Filter) else None

    # Fitting

    def _preferences_by_resample(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Preference | Exception]]:
        data, labels = (X - shared.shift) / shared.unit, _labels(target, resamples)
        turns, vary = self._tie_orders(resamples.seeds, X.shape[1]), varying(X, resamples)
        eliminations = []
        for group in _group_by_elimination(selectors):
            forced = group[0]._mask_forced(shared, X, target, resamples)
            valid = [selector for selector in group if selector._wanted_size(X.shape[1]) >= selector.n_forced]
            eliminations.append(Elimination(Inputs(data, labels, target, resamples, forced, turns, shared), valid))
        preferences: dict[int, list[Preference]] = {}
        for (inputs, valid), (order, weighed) in zip(eliminations, self._order_features(eliminations), strict=True):
            preferences |= {id(selector): selector._with_models(inputs, order, vary & weighed) for selector in valid}
        return [
            [
                preferences[id(selector)][resample] if id(selector) in preferences else selector._too_many_forced()
                for selector in selectors
            ]
            for resample in range(len(resamples.seeds))
        ]

    def _too_many_forced(self) -> ValueError:
        return ValueError(
            f"Expected at most n_features={self.n_features} forced features, got n_forced={self.n_forced}; force fewer."
        )

    def _mask_forced(self, shared: Any, X: Floats, target: Target, resamples: Resamples) -> NDArray[np.bool_]:
        """Which features each resample forces: the best by the criterion, of those that it tells anything of."""
        n, d = self.n_forced, X.shape[1]
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
            raise ValueError(f"Expected n_forced to be a whole number of at least 0, got {n!r}.")
        forced = np.zeros((len(resamples.seeds), d), dtype=bool)
        filter_ = self._filter()
        for resample, (counts, own) in enumerate(zip(*resamples, strict=True)):
            seed = self._tie_seed(own)
            if n and filter_ is not None:
                preference = filter_._preference(shared.criterion, X, target, counts, seed)
                forced[resample, filter_._take_best(preference, min(n, d), seed).values] = True
            elif n:
                forced[
                    resample, Selection("weighting", self._numbers_for_forcing(d)).top(n, random_state=seed).values
                ] = True
        return forced

    def _numbers_for_forcing(self, n_features: int) -> Floats:
        numbers = np.asarray(self.criterion, dtype=np.float64)
        if numbers.shape != (n_features,):
            raise ValueError(f"Expected a number for each of {n_features} features, got shape {numbers.shape}.")
        return numbers

    def _order_features(self, eliminations: Sequence["Elimination"]) -> list[tuple[NDArray[Any], Mask]]:
        """For each elimination, the features of each resample, from the last to the first to fall, and which weigh."""
        if self.complement not in ("hybrid", "independent"):
            raise ValueError(f"Expected complement='hybrid' or 'independent', got {self.complement!r}.")
        if self.device not in ("cpu", "cuda", "torch"):
            raise ValueError(f"Expected device='cpu', 'cuda' or 'torch', got {self.device!r}.")
        eliminate = self._eliminate_compiled if self.device == "cpu" else self._eliminate_in_lockstep
        turns, ordered = eliminations[0].inputs.turns, dict[int, tuple[NDArray[Any], Mask]]()
        for sizes, places in _group_by_sizes(eliminations, self).items():
            paths = eliminate([eliminations[place] for place in places], sizes)
            ordered |= {
                place: (orders(path, turns), path.weight != 0) for place, path in zip(places, paths, strict=True)
            }
        nothing = np.empty((len(eliminations[0].inputs.forced), 0), np.int64)
        results = [ordered.get(place, (nothing, nothing > 0)) for place in range(len(eliminations))]
        if self.complement == "hybrid":
            return results
        return [
            (_forced_first(order, inputs.forced), weighed | inputs.forced)
            for (order, weighed), (inputs, _) in zip(results, eliminations, strict=True)
        ]

    def _eliminate_compiled(self, eliminations: Sequence["Elimination"], sizes: tuple[int, ...]) -> list[Paths]:
        """One elimination after the other, compiled for this processor."""
        together = self.complement == "hybrid"
        return [
            self._solve(
                inputs, valid[0].C, sizes=sizes, forced=inputs.forced if together else None,
                shrinkage=valid[0].shrinkage if together else 1.0, tie_order=inputs.turns,
            )
            for inputs, valid in eliminations
        ]  # fmt: skip

    def _eliminate_in_lockstep(self, eliminations: Sequence["Elimination"], sizes: tuple[int, ...]) -> list[Paths]:
        """All eliminations in lock-step over resamples and settings, on a device."""
        inputs, together = eliminations[0][0], self.complement == "hybrid"
        return lockstep_elimination(
            inputs.data, inputs.labels, inputs.resamples.counts, sizes, C=[valid[0].C for _, valid in eliminations],
            forced=np.array([elimination.inputs.forced for elimination in eliminations]) if together else None,
            shrinkage=[valid[0].shrinkage if together else 1.0 for _, valid in eliminations],
            intercept=self.fit_intercept, scale=inputs.shared.kernel_scale, tie_order=inputs.turns, xp="torch",
            device="cuda" if self.device == "cuda" else "cpu", memory=DEVICE_BYTES if self.device == "cuda" else 2e9,
        )  # fmt: skip

    def _solve(self, inputs: "Inputs", C: float, **options: Any) -> Paths:
        scale = inputs.shared.kernel_scale
        return ridge_elimination(
            inputs.data,
            inputs.labels,
            inputs.resamples.counts,
            C=C,
            intercept=self.fit_intercept,
            scale=scale,
            **options,
        )

    def _with_models(self, inputs: "Inputs", order: NDArray[Any], informative: Mask) -> list[Preference]:
        """The preference of each resample, with the model on the features that are selected."""
        wanted = self._wanted_size(inputs.data.shape[1])
        if not wanted:
            return [Preference("ranking", ranks_of(row)) for row in order]
        selected = [np.sort(row[mask[row]][:wanted]) for row, mask in zip(order, informative, strict=True)]
        models: dict[int, LinearClassifier] = {}
        for size in {columns.size for columns in selected}:
            numbers = [resample for resample, columns in enumerate(selected) if columns.size == size]
            models |= self._fit_models(inputs, numbers, np.array([selected[resample] for resample in numbers]))
        preferences = []
        for resample, mask in enumerate(informative):
            model = models[resample]
            extras = {"model_": model, "forced_": np.flatnonzero(inputs.forced[resample]), "classes_": model.classes_}
            preferences.append(Preference("ranking", ranks_of(order[resample]), model, extras, mask))
        return preferences

    def _fit_models(self, inputs: "Inputs", numbers: list[int], selected: NDArray[Any]) -> dict[int, LinearClassifier]:
        """Fit the models of these resamples, on equally many features each."""
        shift, unit, part = (
            inputs.shared.shift,
            inputs.shared.unit,
            inputs._replace(resamples=inputs.resamples.take(numbers)),
        )
        if not selected.size:
            none = selected[0], np.zeros(0)
            return {
                resample: LinearClassifier(*none, self._log_odds(inputs, resample), inputs.classes(resample))
                for resample in numbers
            }
        fits = self._solve(part, self.C if self.C_final is None else self.C_final, columns=selected)
        models = {}
        for resample, columns, coef, intercept in zip(numbers, selected, fits.coef, fits.intercept, strict=True):
            with np.errstate(over="ignore", invalid="ignore"):  # the model refuses weights that are not finite
                coef = coef / unit[columns]
                intercept = intercept - coef @ shift[columns]
            models[resample] = LinearClassifier(columns, coef, intercept, inputs.classes(resample))
        return models

    def _log_odds(self, inputs: "Inputs", resample: int) -> Floats:
        """The intercept of a model without features: the logarithm of the odds."""
        counts = inputs.resamples.counts[resample]
        odds = counts[inputs.labels > 0].sum() / counts[inputs.labels < 0].sum()
        return np.log([odds if self.fit_intercept else 1.0])


class Shared(NamedTuple):
    """What all resamples share: the criterion's part, the scale of columns in full, and what is left to the kernel."""

    criterion: Any
    shift: Floats
    unit: Floats
    kernel_scale: Scale


class Inputs(NamedTuple):
    """What an elimination of all resamples is given."""

    data: Floats
    labels: Floats
    target: Target
    resamples: Resamples
    forced: Mask
    turns: NDArray[np.int32]  # of each column among equally good ones, for all or each of the resamples
    shared: Shared

    def classes(self, resample: int) -> NDArray[Any]:
        """The two classes of a resample."""
        assert self.target.classes is not None
        return self.target.classes[self.target.present(self.resamples.counts[resample])]


class Elimination(NamedTuple):
    """An elimination of all resamples, and the selectors that take their results from it."""

    inputs: Inputs
    selectors: list[Any]


def _group_by_elimination(selectors: Sequence[HybridRFE]) -> list[list[Any]]:
    """Put selectors together that take their results from one elimination."""
    groups: dict[Any, list[Any]] = {}
    for selector in selectors:
        groups.setdefault((selector.C, selector.shrinkage, selector.n_forced), []).append(selector)
    return list(groups.values())


def _group_by_sizes(eliminations: Sequence[Elimination], selector: HybridRFE) -> dict[tuple[int, ...], list[int]]:
    """Places of the eliminations that pass the same sizes; those without a selector are left out."""
    schedules: dict[tuple[int, ...], list[int]] = {}
    for place, (inputs, valid) in enumerate(eliminations):
        if valid:
            n_features = inputs.data.shape[1]
            alone = 0 if selector.complement == "hybrid" else valid[0].n_forced
            smallest = max(1, min(each._wanted_size(n_features) for each in valid) - alone)
            sizes = elimination_sizes(n_features, smallest, selector.drop)
            schedules.setdefault(tuple(sizes.tolist()), []).append(place)
    return schedules


def _forced_first(order: NDArray[Any], forced: NDArray[np.bool_]) -> NDArray[Any]:
    """The order with forced features before all others."""
    if not order.size:
        return order
    first = np.argsort(~np.take_along_axis(forced, order, axis=1), axis=1, kind="stable")
    return np.take_along_axis(order, first, axis=1)


def _labels(target: Target, resamples: Resamples) -> Floats:
    """−1 and 1; the higher of the two classes that the rows hold is 1."""
    held = np.unique(target.values[resamples.counts.any(axis=0)])
    return np.where(target.values == held[-1], 1.0, -1.0)
