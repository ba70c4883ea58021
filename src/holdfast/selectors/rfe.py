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
    r"""Recursive feature elimination that keeps the best features of a stable filter (Hamer and Dupont, 2020).

    The ``n_forced`` best features by a univariate criterion are never dropped; the elimination chooses features that
    complete them. More forced features make the selection more stable, at a cost in accuracy that may be small. Without
    any it is plain RFE; with all of them forced it is the filter. For two classes.

    Each fit minimizes :math:`C \sum_i \log(1 + e^{-y_i f_i}) + \frac12 \sum_j \beta_j^2 w_j^2`, where
    :math:`\beta_j` is the ``shrinkage`` for forced features and 1 for others; the intercept is not penalized.

    Parameters
    ----------
    n_features : int
        How many to keep, at most: constant features are not kept. All sizes come from one elimination.
    n_forced : int
        How many of them the criterion forces; at most ``n_features``, and no feature that tells it nothing.
    criterion : {"variance", "golub"}, filter, or array
        What ranks features for forcing, on the data as they are, unscaled: a name, a filter such as
        ``GolubVariance(lambda_v=0.5)``, or a number for each feature.
    C : float
        Weight of the loss in the elimination.
    shrinkage : float
        Factor of the forced features' weights in the penalty, above 0 and at most 1; below 1 they are shrunk less.
    C_final : float, optional
        Weight of the loss in the model on the selected features, which predicts; ``C`` by default.
    drop : float
        Share of the remaining features that is dropped in each step, at least one feature; from 1 on, their number.
    fit_intercept, standardize : bool
        Whether models have an intercept, and columns of mean 0 and standard deviation 1. The algorithm as printed is
        ``fit_intercept=False, standardize=False, drop=1``.
    scale : {"split", "full"}
        Whether columns are standardized by the split's rows, or by all rows; then the Gram matrix is shared.
    complement : {"hybrid", "independent"}
        Whether features that complete the forced ones are chosen together with them, or independently of them (a
        baseline for comparison).
    device : {"cpu", "cuda", "torch"}
        Where eliminations are computed: compiled for this processor, or in lock-step over resamples by torch, on a GPU
        or (to try it) on the processor. The selected sets are the same.
    ties, random_state
        As for :class:`Variance`, at each step and for forcing.

    Attributes
    ----------
    ranking_ : ndarray
        1 for the last feature to fall.
    forced_ : ndarray
        Columns that were forced.
    model_ : object
        The model on the selected features.

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
        summary="elimination that keeps n_forced features of a stable criterion, two classes",
        methods="hybrid recursive feature elimination",
        reference="hamer2020",
        needs=("two classes",),
    )

    most_classes: ClassVar[int | None] = 2
    uninformative: ClassVar[str | None] = "a weight of 0, or constant"

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
        """Parameters of which one piece of work serves all values; in lock-step, settings run side by side."""
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
        for some in _alike(selectors):
            forced = some[0]._forced(shared, X, target, resamples)
            sound = [one for one in some if one._wanted_size(X.shape[1]) >= one.n_forced]
            eliminations.append((Ready(data, labels, target, resamples, forced, turns, shared), sound))
        found: dict[int, list[Preference]] = {}
        for (ready, sound), (order, weighed) in zip(eliminations, self._all_orders(eliminations), strict=True):
            found |= {id(one): one._finals(ready, order, vary & weighed) for one in sound}
        return [
            [found[id(one)][run] if id(one) in found else one._too_many() for one in selectors]
            for run in range(len(resamples.seeds))
        ]

    def _too_many(self) -> ValueError:
        return ValueError(
            f"Expected at most n_features={self.n_features} forced features, got n_forced={self.n_forced}; force fewer."
        )

    def _forced(self, shared: Any, X: Floats, target: Target, resamples: Resamples) -> NDArray[np.bool_]:
        """Which features each resample forces: the best by the criterion, of those that it tells anything of."""
        n, d = self.n_forced, X.shape[1]
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
            raise ValueError(f"Expected n_forced to be a whole number of at least 0, got {n!r}.")
        forced = np.zeros((len(resamples.seeds), d), dtype=bool)
        filter_ = self._filter()
        for run, (counts, own) in enumerate(zip(*resamples, strict=True)):
            seed = self._tie_seed(own)
            if n and filter_ is not None:
                found = filter_._preference(shared.criterion, X, target, counts, seed)
                forced[run, filter_._take_best(found, min(n, d), seed).values] = True
            elif n:
                forced[run, Selection("weighting", self._given(d)).top(n, random_state=seed).values] = True
        return forced

    def _given(self, n_features: int) -> Floats:
        numbers = np.asarray(self.criterion, dtype=np.float64)
        if numbers.shape != (n_features,):
            raise ValueError(f"Expected a number for each of {n_features} features, got shape {numbers.shape}.")
        return numbers

    def _all_orders(self, eliminations: Sequence["Elimination"]) -> list[tuple[NDArray[Any], Mask]]:
        """For each elimination, the features of each resample, from the last to the first to fall, and which weigh."""
        if self.complement not in ("hybrid", "independent"):
            raise ValueError(f"Expected complement='hybrid' or 'independent', got {self.complement!r}.")
        if self.device not in ("cpu", "cuda", "torch"):
            raise ValueError(f"Expected device='cpu', 'cuda' or 'torch', got {self.device!r}.")
        turns, found = eliminations[0][0].turns, dict[int, tuple[NDArray[Any], Mask]]()
        for sizes, places in _schedules(eliminations, self).items():
            some = [eliminations[place] for place in places]
            paths = self._one_by_one(some, sizes) if self.device == "cpu" else self._side_by_side(some, sizes)
            found |= {place: (orders(path, turns), path.weight != 0) for place, path in zip(places, paths, strict=True)}
        nothing = np.empty((len(eliminations[0][0].forced), 0), np.int64)
        ordered = [found.get(place, (nothing, nothing > 0)) for place in range(len(eliminations))]
        if self.complement == "hybrid":
            return ordered
        return [
            (_forced_first(order, ready.forced), weighed | ready.forced)
            for (order, weighed), (ready, _) in zip(ordered, eliminations, strict=True)
        ]

    def _one_by_one(self, eliminations: Sequence["Elimination"], sizes: tuple[int, ...]) -> list[Paths]:
        """Compiled for this processor."""
        together = self.complement == "hybrid"
        return [
            self._fits(
                ready, sound[0].C, sizes=sizes, forced=ready.forced if together else None,
                shrinkage=sound[0].shrinkage if together else 1.0, tie_order=ready.turns,
            )
            for ready, sound in eliminations
        ]  # fmt: skip

    def _side_by_side(self, eliminations: Sequence["Elimination"], sizes: tuple[int, ...]) -> list[Paths]:
        """In lock-step over resamples and settings."""
        ready, together = eliminations[0][0], self.complement == "hybrid"
        return lockstep_elimination(
            ready.data, ready.labels, ready.resamples.counts, sizes, C=[sound[0].C for _, sound in eliminations],
            forced=np.array([each.forced for each, _ in eliminations]) if together else None,
            shrinkage=[sound[0].shrinkage if together else 1.0 for _, sound in eliminations],
            intercept=self.fit_intercept, scale=ready.shared.kernel_scale, tie_order=ready.turns, xp="torch",
            device="cuda" if self.device == "cuda" else "cpu", memory=DEVICE_BYTES if self.device == "cuda" else 2e9,
        )  # fmt: skip

    def _fits(self, ready: "Ready", C: float, **how: Any) -> Paths:
        scale = ready.shared.kernel_scale
        return ridge_elimination(
            ready.data, ready.labels, ready.resamples.counts, C=C, intercept=self.fit_intercept, scale=scale, **how
        )

    def _finals(self, ready: "Ready", order: NDArray[Any], informative: Mask) -> list[Preference]:
        """What each resample found, with the model on the selected features."""
        wanted = self._wanted_size(ready.data.shape[1])
        if not wanted:
            return [Preference("ranking", ranks_of(row)) for row in order]
        selected = [np.sort(row[own[row]][:wanted]) for row, own in zip(order, informative, strict=True)]
        models: dict[int, LinearClassifier] = {}
        for size in {columns.size for columns in selected}:
            runs = [run for run, columns in enumerate(selected) if columns.size == size]
            models |= self._models(ready, runs, np.array([selected[run] for run in runs]))
        preferences = []
        for run, own in enumerate(informative):
            model = models[run]
            extras = {"model_": model, "forced_": np.flatnonzero(ready.forced[run]), "classes_": model.classes_}
            preferences.append(Preference("ranking", ranks_of(order[run]), model, extras, own))
        return preferences

    def _models(self, ready: "Ready", runs: list[int], selected: NDArray[Any]) -> dict[int, LinearClassifier]:
        """The models of some resamples on equally many features each."""
        shift, unit, part = ready.shared.shift, ready.shared.unit, ready._replace(resamples=ready.resamples.take(runs))
        if not selected.size:
            none = selected[0], np.zeros(0)
            return {run: LinearClassifier(*none, self._prior(ready, run), ready.classes(run)) for run in runs}
        fits = self._fits(part, self.C if self.C_final is None else self.C_final, columns=selected)
        models = {}
        for run, columns, coef, intercept in zip(runs, selected, fits.coef, fits.intercept, strict=True):
            with np.errstate(over="ignore", invalid="ignore"):  # the model refuses weights that are not finite
                coef = coef / unit[columns]
                intercept = intercept - coef @ shift[columns]
            models[run] = LinearClassifier(columns, coef, intercept, ready.classes(run))
        return models

    def _prior(self, ready: "Ready", run: int) -> Floats:
        """The intercept of a model without features: the logarithm of the odds."""
        counts = ready.resamples.counts[run]
        odds = counts[ready.labels > 0].sum() / counts[ready.labels < 0].sum()
        return np.log([odds if self.fit_intercept else 1.0])


class Shared(NamedTuple):
    """What all resamples share: the criterion's part, the scale of columns in full, and what is left to the kernel."""

    criterion: Any
    shift: Floats
    unit: Floats
    kernel_scale: Scale


class Ready(NamedTuple):
    """Resamples ready to be fitted."""

    data: Floats
    labels: Floats
    target: Target
    resamples: Resamples
    forced: Mask
    turns: NDArray[np.int32]  # of each column among equally good ones, for all or each of the resamples
    shared: Shared

    def classes(self, run: int) -> NDArray[Any]:
        """The two classes of a resample."""
        assert self.target.classes is not None
        return self.target.classes[self.target.present(self.resamples.counts[run])]


Elimination = tuple[Ready, Sequence[HybridRFE]]


def _alike(selectors: Sequence[HybridRFE]) -> list[list[Any]]:
    """Selectors that one elimination serves, together."""
    groups: dict[Any, list[Any]] = {}
    for one in selectors:
        groups.setdefault((one.C, one.shrinkage, one.n_forced), []).append(one)
    return list(groups.values())


def _schedules(eliminations: Sequence[Elimination], selector: HybridRFE) -> dict[tuple[int, ...], list[int]]:
    """Places of the eliminations that pass the same sizes; those that nobody wants are left out."""
    schedules: dict[tuple[int, ...], list[int]] = {}
    for place, (ready, sound) in enumerate(eliminations):
        if sound:
            n_features = ready.data.shape[1]
            alone = 0 if selector.complement == "hybrid" else sound[0].n_forced
            smallest = max(1, min(one._wanted_size(n_features) for one in sound) - alone)
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
