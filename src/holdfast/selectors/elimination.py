"""Recursive elimination: by ridge regression with features forced by a filter, and by linear support vector machines.

A :class:`Block` puts the settings of a batch together that one elimination serves, finds the features that each
resample forces, and follows all eliminations: compiled, path by path, or side by side on a device. Four kinds of
indices are distinguished: ``resample`` (of the batch), ``setting`` (of the batch), ``elimination`` (of the block) and
``forced_set`` (of the block).
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.checks import check_whole
from holdfast.declared import About
from holdfast.kernels.covariates import residuals
from holdfast.kernels.elimination import (
    Scale,
    Scaled,
    check_costs,
    check_shrinkages,
    elimination_sizes,
    first_of_orders,
    orders,
    scale_data,
    unsolved_error,
)
from holdfast.kernels.filters import Moments, best_by_moments, class_moments
from holdfast.kernels.libraries import DEVICE_BYTES, check_device, library
from holdfast.kernels.lockstep import Models, Settings, lockstep_models, run_lockstep, with_resamples
from holdfast.kernels.ridge import ridge_eliminations, ridge_models
from holdfast.kernels.ridge_targets import Objective, output_models
from holdfast.kernels.svm import svm_elimination
from holdfast.kernels.tolerances import TIE, column_units
from holdfast.preferences import Kind
from holdfast.selection import Selection, best_columns, falls, fewer_note
from holdfast.selectors.base import (
    Adjusts,
    Batch,
    BinaryProblem,
    Data,
    Filter,
    FitResult,
    Floats,
    ForAnyTarget,
    Ints,
    Mask,
    Model,
    Preference,
    Ranked,
    Selector,
    Serves,
    Ties,
    check_choice,
    learns_on_all,
    one_against_rest,
    tied,
    varying,
)
from holdfast.selectors.filters import FTest, Golub, GolubVariance, Variance, _Moments
from holdfast.selectors.models import LinearClassifier, LinearRegressor, Predicts, SoftmaxClassifier
from holdfast.selectors.survival import CoxScore
from holdfast.targets import Target

Orders = NDArray[np.int32]


class HybridRFE(Predicts, ForAnyTarget):
    r"""Recursive feature elimination (RFE) by ridge regression that keeps the best features of a stable filter.

    The ``n_forced`` best features by a univariate criterion are never dropped; the elimination chooses features that
    complete them. More forced features make the selection more stable, at a cost in accuracy that may be small. Without
    any it is plain RFE; with all of them forced it is the filter. Classes are separated by ridge-logistic regression,
    numbers predicted by ridge regression, and survival times by Cox's model with a ridge penalty.

    Parameters
    ----------
    n_features : int, default 20
        Number of features to select, at most: constant features are never selected. All sizes come from one
        elimination.
    n_forced : int, default 0
        How many of them the criterion forces; at most ``n_features``, and no feature that tells it nothing.
    criterion : {"variance", "golub", "correlation", "cox_score"}, filter, or array, default "variance"
        What ranks features for forcing, on the data as they are, unscaled: a name (``"golub"`` for classes,
        ``"correlation"`` for numbers to predict, ``"cox_score"`` for survival times), a filter such as
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
    model : {"auto", "logistic", "linear", "cox"}, default "auto"
        What is predicted; ``"auto"`` takes numbers that are not whole for numbers, what :func:`holdfast.survival`
        returns for survival times, all else for classes.
    multi_class : {"multinomial", "rest"}, default "multinomial"
        With more than two classes, one multinomial (softmax) model, or a model of each class against all others; a
        feature is judged by the sum over classes of its squared weights.
    device : {"cpu", "cuda", "torch"}, default "cpu"
        Where eliminations with two classes are computed: compiled for this processor, or in lock-step over resamples by
        torch, on a GPU or (to try it) on the processor. The selected sets are the same. More classes, numbers and
        survival times are always computed on the processor.
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
        The classes, if there are some.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    SVMRFE : Elimination by a support vector machine.
    Variance, Golub, GolubVariance, FTest, CoxScore : Criteria for forcing.

    Notes
    -----
    Each fit minimizes :math:`C \sum_i \log(1 + e^{-y_i f_i}) + \frac12 \sum_j \beta_j^2 w_j^2`, where
    :math:`\beta_j` is the ``shrinkage`` for forced features and 1 for others. The λ of the paper is 1 / (2 C). The
    algorithm as printed there is ``fit_intercept=False, standardize=False, drop=1``. For more than two classes the loss
    is that of multinomial regression; for numbers it is half the squared difference, so that scikit-learn's ``Ridge``
    has ``alpha`` = 1 / C; for survival times it is minus the log partial likelihood, with Breslow's ties and without an
    intercept, and ``predict`` returns log risks.

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
        summary="Elimination that keeps n_forced features of a stable criterion.",
        methods="hybrid recursive feature elimination",
        reference="hamer2020",
    )
    serves: ClassVar[Serves] = Serves(
        "ridge-logistic", "multinomial ridge, or one class against the rest", "ridge regression", "Cox's model, ridge"
    )
    adjusts_two_classes: ClassVar[bool] = True

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
        model: Model = "auto",
        multi_class: Literal["multinomial", "rest"] = "multinomial",
        device: Literal["cpu", "cuda", "torch"] = "cpu",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features, self.n_forced, self.criterion, self.C, self.shrinkage = (
            n_features, n_forced, criterion, C, shrinkage,
        )  # fmt: skip
        self.C_final, self.drop, self.fit_intercept, self.standardize = C_final, drop, fit_intercept, standardize
        self.scale, self.complement, self.device = scale, complement, device
        self.model, self.multi_class = model, multi_class
        self.ties, self.random_state = ties, random_state

    shared_parameters: ClassVar[tuple[str, ...]] = (
        "n_features", "n_forced", "criterion", "C", "shrinkage", "C_final",
    )  # fmt: skip

    @property
    def adjusts(self) -> Adjusts:  # type: ignore[override]
        """By columns without a penalty, if the features that are forced can be adjusted too."""
        criterion = as_filter(self.criterion)
        can = self.n_forced == 0 or criterion is None or criterion.adjusts is not None
        return "formula" if can and self.device == "cpu" else None

    @property
    def block_fits(self) -> int:  # type: ignore[override]
        """How many fits, settings times resamples, a study should hand over at a time, at least."""
        return 1 if self.device == "cpu" else 50_000

    def share(self, data: Data) -> "Shared":
        if check_choice("device", self.device, ("cpu", "cuda", "torch")) != "cpu":
            check_device(self.device)
        X, criteria = data.X, share_criteria(data)
        if not (self.standardize and learns_on_all("scale", self.scale)):
            return Shared(scale_data(X, "split" if self.standardize else "full"), criteria)
        power = column_units(X)
        scaled = X / power
        rest = scaled if data.covariates is None else residuals(scaled, data.covariates, np.ones(len(X)))
        deviation = rest.std(axis=0)
        shift, unit = scaled.mean(axis=0) * power, np.where(deviation > 0, deviation, 1.0) * power
        return Shared(scale_data((X - shift) / unit, "full")._replace(shift=shift, unit=unit), criteria)

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        check_choice("complement", self.complement, ("hybrid", "independent"))
        check_choice("multi_class", self.multi_class, ("multinomial", "rest"))
        if batch.target.classes is not None:
            held = [tuple(batch.target.present(counts).tolist()) for counts in batch.counts]
            if len(set(held)) > 1:
                return self._rank_by_classes(batch, shared, held)
        batch = replace(batch, seeds=[self._tie_seed(seed) for seed in batch.seeds])
        on_device = self.device != "cpu" and batch.target.classes is not None and len(held[0]) == 2
        if batch.covariates is not None and (
            batch.target.task == "survival" or (batch.target.classes is not None and len(held[0]) != 2)
        ):
            raise ValueError(
                "Expected two classes, or numbers, to adjust an elimination for covariates, got another target; give "
                "adjust=False."
            )
        block: Block = (LockstepBlock if on_device else CompiledBlock)(batch, shared)
        preferences: list[list[Any]] = [list(block.setting_errors) for _ in batch.seeds]
        by_size: dict[int, list[EliminationPath]] = {}
        for elimination, (plan, tail) in enumerate(zip(block.eliminations, block.tails, strict=True)):
            solved = []
            for resample, unsolved in enumerate(tail.unsolved.tolist()):
                error = block.forced.errors.get((plan.forced_set, resample))
                if error is None and not unsolved:
                    solved.append(resample)
                    continue
                for setting in plan.settings:
                    preferences[resample][setting] = error or unsolved_error(block.model_name, unsolved)
            for setting in plan.settings:
                wanted = batch.selectors[setting]._wanted_size(block.d)
                for resample, order in zip(solved, block.select(elimination, solved, wanted), strict=True):
                    path = EliminationPath(block, elimination, setting, resample, order, np.sort(order), wanted)
                    preferences[resample][setting] = path
                    by_size.setdefault(order.size, []).append(path)
        for size, paths in by_size.items() if batch.covariates is None else ():  # models take features alone
            for path, model in zip(paths, block.fit_models(size, paths), strict=True):
                if isinstance(model, Exception):
                    preferences[path.resample][path.setting] = model
                else:
                    path.model = model
        return preferences

    def _rank_by_classes(self, batch: Batch, shared: Any, held: list[tuple[int, ...]]) -> Ranked:
        """Rank resamples that hold the same classes together."""
        ranked: list[Any] = [()] * len(batch)
        for classes in dict.fromkeys(held):
            here = [resample for resample, present in enumerate(held) if present == classes]
            part = replace(batch, counts=batch.counts[here], seeds=[batch.seeds[resample] for resample in here])
            for resample, preferences in zip(here, self.rank(part, shared), strict=True):
                ranked[resample] = preferences
        return ranked

    def _find_fault(self, n_features: int, target: Target) -> ValueError | None:
        """What is wrong with the parameters that settings may differ in; None if nothing is."""
        try:
            n = check_whole("n_forced", self.n_forced, 0)
            if self._wanted_size(n_features) < n:
                raise ValueError(
                    f"Expected at most n_features={self.n_features} forced features, got n_forced={n}; force fewer."
                )
            if n and as_filter(self.criterion) is None and np.shape(self.criterion) != (n_features,):
                shape = np.shape(self.criterion)
                raise ValueError(f"Expected a number for each of {n_features} features, got shape {shape}.")
            if n and not suits(self.criterion, target):
                others = " or ".join(name for name in CRITERIA if suits(name, target))
                raise ValueError(
                    f"Expected a criterion for {target.facts.noun}, such as {others}, got {self.criterion!r}."
                )
            check_costs([self.C, self._final_cost()])
            check_shrinkages(self.shrinkage)
        except ValueError as error:
            return error
        return None

    def _final_cost(self) -> float:
        """The weight of the loss in the model that predicts."""
        return self.C if self.C_final is None else self.C_final


@dataclass(eq=False)
class EliminationPath(FitResult):
    """What one path gives one setting; the ranking of all features is made when it is asked for.

    Attributes
    ----------
    block : Block
        The block that it is a part of.
    elimination, setting, resample : int
        Its numbers in the block.
    order : ndarray of int
        The selected columns, the best first.
    columns : ndarray of int
        The same, ascending.
    wanted : int
        How many were wanted.
    """

    block: "Block"
    elimination: int
    setting: int
    resample: int
    order: Orders
    columns: Orders
    wanted: int
    model: Any = None
    kind: Kind = "ranking"

    @cached_property
    def _whole(self) -> tuple[Floats, Mask]:
        order, informative = self.block.order_all(self.elimination, self.resample)
        return rank_columns(order), informative

    @property
    def values(self) -> Floats:
        """The rank of each feature."""
        return self._whole[0]

    @property
    def informative(self) -> Mask:
        """Which features carry information."""
        return self._whole[1]

    @property
    def extras(self) -> dict[str, Any]:
        """Fitted attributes."""
        if self.model is None:
            return {}
        forced = self.block.forced_columns(self.elimination, self.resample)
        classes = {} if self.block.classes is None else {"classes_": self.block.classes}
        return {"model_": self.model, "forced_": forced, **classes}

    def ranking(self) -> Selection:
        """The ranking of all features that the selection was cut from."""
        return Selection("ranking", self.values, informative=self.informative)

    def top(self, k: int, *, random_state: int | None, rule: str) -> Selection:
        """Return the selected features; they are ``k``, or as many as carry information."""
        plan = self.block.eliminations[self.elimination]
        smallest = int(plan.sizes[-1]) + (plan.n_forced if self.block.independent else 0)
        note = fewer_note(rule) if self.order.size < min(self.wanted, self.block.d) else ""
        return Selection("subset", self.columns, self.model, note, None, self.order, smallest, self.ranking)


# What all resamples share


class Criterion(NamedTuple):
    """What ranks features for forcing: a filter with what it shares over all resamples, or a number for each."""

    filter: Filter | None
    shared: Any
    numbers: Floats | None


class Shared(NamedTuple):
    """What all resamples share: the scaled data, and what each criterion needs."""

    data: Scaled
    criteria: dict[Hashable, Criterion]


CRITERIA: dict[str, type[Filter]] = {
    "variance": Variance, "golub": Golub, "correlation": FTest, "cox_score": CoxScore,
}  # fmt: skip


def criterion_key(criterion: Any) -> Hashable:
    """A key that equal criteria share."""
    named = isinstance(criterion, (str, Filter))
    return repr(criterion) if named else np.asarray(criterion, dtype=np.float64).tobytes()


def as_filter(criterion: Any) -> Filter | None:
    """The filter that ranks features for forcing; None if numbers were given."""
    if isinstance(criterion, str):
        if criterion not in CRITERIA:
            raise ValueError(
                f"Expected the criterion {', '.join(map(repr, CRITERIA))}, a filter or numbers, got {criterion!r}."
            )
        return CRITERIA[criterion]()
    return criterion if isinstance(criterion, Filter) else None


def suits(criterion: Any, target: Target) -> bool:
    """Whether a criterion can rank features for this target."""
    filter_ = as_filter(criterion)
    if target.task == "regression" and getattr(filter_, "target_bins", None) is not None:
        return True
    about = getattr(filter_, "about", None)
    return about is None or about.task in (None, target.task)


def share_criteria(data: Data) -> dict[Hashable, Criterion]:
    """Prepare the criteria of all settings, by their keys; filters by class moments share centered data."""
    prepared: dict[Hashable, Criterion] = {}
    parts: dict[Any, Any] = {}
    for criterion in (selector.criterion for selector in data.selectors):
        if not suits(criterion, data.target):  # a fault of those settings that force features
            continue
        filter_, key = as_filter(criterion), criterion_key(criterion)
        if filter_ is None:
            prepared[key] = Criterion(None, None, np.asarray(criterion, dtype=np.float64))
            continue
        centers = isinstance(filter_, _Moments) and _is_by_moments(filter_, data)
        part = type(filter_)._center if centers else key
        if part not in parts:
            share = filter_._center if centers else filter_.share
            parts[part] = share(replace(data, settings=[{}], selectors=[filter_]))
        prepared[key] = Criterion(filter_, parts[part], None)
    return prepared


def _is_by_moments(filter_: Filter, data: Data) -> bool:
    return isinstance(filter_, _Moments) and type(filter_).weigh is _Moments.weigh and data.covariates is None


# Forced features


class ForcedFeatures(NamedTuple):
    """Which features each resample forces, and what went wrong: by set of features and resample."""

    columns: NDArray[np.int64]  # sets × resamples × most that are forced, the best first, −1 where there are fewer
    errors: dict[tuple[int, int], Exception]

    def masks(self, n_features: int) -> Mask:
        """Sets × resamples × features: which are forced."""
        masks = np.zeros((*self.columns.shape[:2], n_features + 1), dtype=bool)
        np.put_along_axis(masks, np.where(self.columns < 0, n_features, self.columns), True, axis=2)
        return masks[:, :, :n_features]


def force_features(
    sets: Sequence[tuple[Hashable, int]], criteria: Mapping[Hashable, Criterion], batch: Batch, lib: Any = None
) -> ForcedFeatures:
    """Force the best features by each criterion: a set is a criterion's key and how many it forces.

    A criterion orders the features of a resample once, for the largest set; of features without information it forces
    none. The batch has the seeds that draw tie-break ranks. With a library of a device
    (:mod:`holdfast.kernels.libraries`), moments are computed there.
    """
    widest = max((size for _, size in sets), default=0)
    forced = ForcedFeatures(np.full((len(sets), len(batch), widest), -1, dtype=np.int64), {})
    largest: dict[Hashable, int] = {}
    for key, size in sets:
        largest[key] = max(size, largest.get(key, 0))
    on_device = {} if lib is None else _best_on_device(largest, criteria, batch, lib)
    for resample, single in enumerate(batch):
        moments: dict[int, Moments] = {}
        best: dict[Hashable, NDArray[Any] | Exception] = {}
        for key, size in largest.items():
            from_device = on_device[key][resample] if key in on_device else None
            try:
                best[key] = _best(criteria[key], size, single, moments) if from_device is None else from_device
            except Exception as error:
                best[key] = error
        for forced_set, (key, size) in enumerate(sets):
            order = best[key]
            if isinstance(order, Exception):
                forced.errors[forced_set, resample] = order
            else:
                forced.columns[forced_set, resample, : order[:size].size] = order[:size]
    return forced


def _best_on_device(
    largest_sizes: Mapping[Hashable, int], criteria: Mapping[Hashable, Criterion], batch: Batch, lib: Any
) -> dict[Hashable, list[NDArray[Any] | None]]:
    """The best features by criteria that a device can compute; None where ties or undefined weights ask for a look."""
    factors = {
        key: _variance_factor(criteria[key].filter) for key, size in largest_sizes.items() if size < batch.n_features
    }
    lambdas = {key: factor for key, factor in factors.items() if factor is not None}
    best_by_key: dict[Hashable, list[NDArray[Any] | None]] = {}
    for shared in {id(criteria[key].shared): criteria[key].shared for key in lambdas}.values():
        keys = [key for key in lambdas if criteria[key].shared is shared]
        largest = max(largest_sizes[key] for key in keys) + 1
        best = best_by_moments(lib, shared, batch.counts, [float(lambdas[key]) for key in keys], largest)
        for key, (weights, columns) in zip(keys, best, strict=True):
            size, filter_ = largest_sizes[key], criteria[key].filter
            assert filter_ is not None
            first = weights[:, : size + 1]
            clear = falls(first, rounding=filter_.null_weight).all(axis=1) & np.isfinite(first).all(axis=1)
            clear &= filter_._informative(first[:, size - 1]) & (first[:, 0] > 1e-290) & (first[:, 0] < 1e300)
            best_by_key[key] = [row[:size] if sure else None for row, sure in zip(columns, clear.tolist(), strict=True)]
    return best_by_key


def _variance_factor(filter_: Filter | None) -> float | None:
    """The weight of the plain variance that is added to Golub's ratio; None for any other filter."""
    if type(filter_) is GolubVariance:
        return filter_.lambda_v if filter_.lambda_v >= 0 and filter_.units == "data" else None
    known: dict[Any, float] = {Variance: np.inf, Golub: 0.0}
    return known.get(type(filter_))


def _best(criterion: Criterion, size: int, single: Batch, moments: dict[int, Moments]) -> Orders:
    """The best features by a criterion in one resample, whose moments are cached for the next criterion."""
    filter_, shared, numbers = criterion
    (seed,) = single.seeds
    if filter_ is None:
        assert numbers is not None
        return best_columns(numbers, size, None, seed, tolerance=0.0).order
    tie_seed = filter_._tie_seed(seed)
    if isinstance(filter_, _Moments) and _is_by_moments(filter_, single):
        if id(shared) not in moments:
            moments[id(shared)] = class_moments(shared, single.counts[0])
        weights = filter_._formula(moments[id(shared)])
        informative = filter_._informative(weights)
        return best_columns(weights, size, informative, tie_seed, rounding=filter_.null_weight).order
    batch = replace(single, settings=[{}], selectors=[filter_], seeds=[tie_seed])
    ((preference,),) = filter_.rank(batch, shared)
    if isinstance(preference, Exception):
        raise preference
    best = preference.top(size, random_state=tie_seed, rule="").order
    assert best is not None
    return best


# Eliminations


class Elimination(NamedTuple):
    """An elimination of every resample, and the settings that take their results from it."""

    C: float
    shrinkage: float
    forced_set: int  # number of the set of forced features, −1 for none
    n_forced: int
    sizes: NDArray[np.int64]
    settings: list[int]
    largest: int  # most features that one of them selects

    @property
    def reach(self) -> int:
        """The size that it passes from which on the order is wanted."""
        return int(self.sizes[self.sizes >= self.largest].min())


class Tail(NamedTuple):
    """The features of each resample that fall last in an elimination, from the last on."""

    order: NDArray[np.int32]  # resamples × features
    weight: Floats
    unsolved: Ints  # resamples: number of features of the fit that did not converge, or 0


class Block:
    """Eliminations of a batch; its seeds draw the tie-break ranks."""

    lib: Any = None
    classes: NDArray[Any] | None
    objective: Objective | None  # None for two classes

    def __init__(self, batch: Batch, shared: Shared) -> None:
        self.batch, self.shared, self.first, self.d = batch, shared, batch.selectors[0], batch.n_features
        self.independent: bool = self.first.complement == "independent"  # complements are chosen without forced ones
        self.tie_ranks = self.first._tie_ranks(batch.seeds, self.d)
        self.classes, self.objective, self.model_name = None, None, "ridge-logistic"
        self.labels, self.center, self.unit = batch.target.values, 0.0, 1.0
        if batch.target.task == "survival":
            self.objective, self.model_name = Objective("cox"), "Cox ridge"
        elif batch.target.classes is None:
            self.objective, self.model_name = Objective("numbers"), "ridge"
            self.unit = float(column_units(self.labels[:, None])[0])
            self.center = float(self.labels.mean()) if self.first.fit_intercept else 0.0
            self.labels = (self.labels - self.center) / self.unit
        else:  # all resamples hold the same classes
            present = batch.target.present(batch.counts.sum(axis=0))
            self.classes = batch.target.classes[present]
            if present.size == 2:
                self.labels = np.where(batch.target.values == present[-1], 1.0, -1.0)
            else:
                self.labels = np.minimum(np.searchsorted(present, batch.target.values), present.size - 1)
                self.objective = Objective(self.first.multi_class, present.size)
                self.model_name = "multinomial ridge" if self.first.multi_class == "multinomial" else "ridge-logistic"
        self.setting_errors = [selector._find_fault(self.d, batch.target) for selector in batch.selectors]
        settings: dict[Any, list[int]] = {}
        for setting, selector in enumerate(batch.selectors):
            if self.setting_errors[setting] is None:
                n = int(selector.n_forced)
                key = (float(selector.shrinkage), (criterion_key(selector.criterion), n)) if n else (1.0, None)
                settings.setdefault((float(selector.C), *key, n), []).append(setting)
        sets = list(dict.fromkeys(key for _, _, key, _ in settings if key is not None))
        self.eliminations = []
        for (C, shrinkage, key, n_forced), together in settings.items():
            wanted = [batch.selectors[setting]._wanted_size(self.d) for setting in together]
            smallest = max(1, min(wanted) - (n_forced if self.independent else 0))
            sizes = elimination_sizes(self.d, smallest, self.first.drop)
            forced_set = -1 if key is None else sets.index(key)
            plan = Elimination(C, shrinkage, forced_set, n_forced, sizes, together, max(1, *wanted))
            self.eliminations.append(plan)
        self.forced = force_features(sets, shared.criteria, batch, self.lib)
        self.vary = varying(batch.X, batch.counts)

    @property
    def tails(self) -> list[Tail]:
        """The last features of each elimination."""
        raise NotImplementedError

    def follow(self, elimination: int, resample: int) -> tuple[Orders, Floats]:
        """All features of one path, from the last to the first to fall, and the weight of each feature."""
        raise NotImplementedError

    def solve(self, resamples: Sequence[int], columns: Ints, C: Floats) -> Models:
        """Fit models on columns, each on its resample and with its C."""
        raise NotImplementedError

    def read_tail(self, smallest_size: Any, weight: Any, unsolved: Ints, reach: int, names: Any = None) -> Tail:
        """The last features of one elimination's paths (resamples × columns), which ``names`` names if not all."""
        solved = np.flatnonzero(unsolved == 0)
        order, last = np.zeros((unsolved.size, reach), np.int32), np.zeros((unsolved.size, reach))
        steps, weight, names = smallest_size[solved], weight[solved], None if names is None else names[solved]
        columns: Any = first_of_orders(steps, weight, reach, self.find_tie_ranks, solved.tolist(), names)
        order[solved] = columns
        if names is not None:
            pairs = zip(names, columns, strict=True)
            columns = np.array([np.searchsorted(*pair) for pair in pairs], np.int64).reshape(columns.shape)
        last[solved] = np.take_along_axis(weight, columns, axis=1)
        return Tail(order, last, unsolved)

    def find_tie_ranks(self, resample: int) -> Orders:
        """Tie-break rank of each feature in a resample."""
        return self.tie_ranks[min(resample, len(self.tie_ranks) - 1)]

    def forced_columns(self, elimination: int, resample: int) -> NDArray[np.int64]:
        """Columns that an elimination forces."""
        forced_set = self.eliminations[elimination].forced_set
        columns = self.forced.columns[forced_set, resample] if forced_set >= 0 else np.empty(0, np.int64)
        return np.sort(columns[columns >= 0])

    def order_all(self, elimination: int, resample: int) -> tuple[Orders, Mask]:
        """All features of one path, from the last to the first to fall; and which features carry information."""
        order, weight = self.follow(elimination, resample)
        carries = weight != 0
        if self.independent:
            forced = np.zeros(self.d, dtype=bool)
            forced[self.forced_columns(elimination, resample)] = True
            order, carries = order[np.argsort(~forced[order], kind="stable")], carries | forced
        return order, carries & self.vary[resample]

    def select(self, elimination: int, resamples: list[int], wanted: int) -> list[Orders]:
        """The selected features of these resamples, the best first; those without information are left out."""
        if not wanted:
            return [np.empty(0, np.int32)] * len(resamples)
        if self.independent:
            all_orders = (self.order_all(elimination, resample) for resample in resamples)
            return [order[carries[order]][:wanted] for order, carries in all_orders]
        here, tail = np.array(resamples, dtype=np.int64), self.tails[elimination]
        first = tail.order[here, :wanted]
        carries = (tail.weight[here, :wanted] != 0) & self.vary[here[:, None], first]
        selected = list(first)
        for row in np.flatnonzero(~carries.all(axis=1)):
            order, informative = self.order_all(elimination, resamples[row])
            selected[row] = order[informative[order]][:wanted]
        return selected

    def fit_models(self, size: int, paths: list[EliminationPath]) -> list[Any]:
        """The model on the selected features of each path, which are so many; None if none were wanted; or an error."""
        if not size:
            return [self._predict_by_odds(path) if path.wanted else None for path in paths]
        columns = np.array([path.columns for path in paths])
        costs = [self.batch.selectors[path.setting]._final_cost() for path in paths]
        models = self.solve([path.resample for path in paths], columns, np.array(costs))
        coef, intercepts = models.coef.reshape(len(paths), -1, size), models.intercept.reshape(len(paths), -1)
        if self.classes is None:
            coef, intercepts = coef * self.unit, intercepts * self.unit + self.center
        finite = np.isfinite(coef).all(axis=(1, 2)) & np.isfinite(intercepts).all(axis=1) & ~models.unsolved
        fitted: list[Any] = []
        for row, (path, is_finite) in enumerate(zip(paths, finite.tolist(), strict=True)):
            try:
                if models.unsolved[row]:
                    fitted.append(unsolved_error(self.model_name, size))
                else:
                    fitted.append(self.make_model(path.columns, coef[row], intercepts[row], is_finite))
            except ValueError as error:
                fitted.append(error)
        return fitted

    def make_model(self, columns: Orders, coef: Floats, intercept: Floats, is_finite: bool) -> Any:
        """The model that predicts by these weights (outputs × columns), which are checked unless they are finite."""
        kind: Any = LinearRegressor if self.classes is None else LinearClassifier
        if self.objective is not None and self.objective.family == "multinomial":
            kind = SoftmaxClassifier
        if is_finite:
            return kind.of_finite(
                columns, coef, intercept, **({} if self.classes is None else {"classes_": self.classes})
            )
        return kind(columns, coef, intercept, *(() if self.classes is None else (self.classes,)))

    def _predict_by_odds(self, path: EliminationPath) -> Any:
        """A model without features."""
        counts, n_outputs = self.batch.counts[path.resample], 1 if self.objective is None else self.objective.n_outputs
        intercept = np.zeros(n_outputs)
        if not self.first.fit_intercept:
            pass
        elif self.classes is None:
            intercept[:] = 0.0 if self.labels.dtype.names else counts @ self.batch.target.values / counts.sum()
        elif self.objective is None:
            intercept[:] = np.log(counts[self.labels > 0].sum() / counts[self.labels < 0].sum())
        else:
            sizes = np.bincount(self.labels, weights=counts)
            others = sizes.sum() - sizes if self.objective.family == "rest" else 1.0
            intercept = np.log(sizes / others)
        return self.make_model(path.columns, np.zeros((n_outputs, 0)), intercept, False)


class CompiledBlock(Block):
    """All eliminations of a resample one after the other, compiled for this processor."""

    def __init__(self, batch: Batch, shared: Shared) -> None:
        super().__init__(batch, shared)
        if not self.eliminations:
            return
        together = [] if self.independent else self.eliminations
        none_forced = np.zeros((1, len(batch), self.d), bool)
        forces = any(plan.forced_set >= 0 for plan in together)
        self.paths = ridge_eliminations(
            shared.data, self.labels, batch.counts, [plan.sizes for plan in self.eliminations],
            C=[plan.C for plan in self.eliminations],
            shrinkage=[plan.shrinkage for plan in together] or 1.0,
            forced=np.concatenate([none_forced, self.forced.masks(self.d)]) if forces else None,
            which_forced=[plan.forced_set + 1 for plan in together],
            intercept=self.first.fit_intercept, tie_ranks=self.tie_ranks, covariates=batch.covariates,
            run=None if self.objective is None else self.objective.run,
        )  # fmt: skip

    @cached_property
    def tails(self) -> list[Tail]:
        if not self.eliminations:
            return []
        steps, weight, unsolved = self.paths
        plans = enumerate(self.eliminations)
        return [self.read_tail(steps[:, row], weight[:, row], unsolved[:, row], plan.reach) for row, plan in plans]

    def follow(self, elimination: int, resample: int) -> tuple[Orders, Floats]:
        smallest_size, weight, _ = (array[resample, elimination] for array in self.paths)
        order = first_of_orders(smallest_size[None], weight[None], weight.size, self.find_tie_ranks, [resample])
        return order[0], weight

    def solve(self, resamples: Sequence[int], columns: Ints, C: Floats) -> Models:
        fit = ridge_models if self.objective is None else partial(output_models, self.objective)
        data, intercept = self.shared.data, self.first.fit_intercept
        return fit(data, self.labels, self.batch.counts, resamples, columns, C, intercept=intercept)


class LockstepBlock(Block):
    """All resamples and eliminations side by side, by torch on a device."""

    def __init__(self, batch: Batch, shared: Shared) -> None:
        device = batch.selectors[0].device
        self.lib = library("torch", "cuda" if device == "cuda" else "cpu", "float64", DEVICE_BYTES[device])
        super().__init__(batch, shared)
        self.data = with_resamples(shared.data, self.labels, batch.counts)
        self._compiled: dict[int, CompiledBlock] = {}

    @cached_property
    def tails(self) -> list[Tail]:
        """The last features of each elimination; those that pass the same sizes run together."""
        by_sizes: dict[tuple[int, ...], list[int]] = {}
        for elimination, plan in enumerate(self.eliminations):
            by_sizes.setdefault(tuple(plan.sizes.tolist()), []).append(elimination)
        none_forced = np.full((1, len(self.batch), self.forced.columns.shape[2]), -1)
        all_tie_ranks = np.broadcast_to(self.tie_ranks, (len(self.batch), self.d))
        by_elimination: dict[int, Tail] = {}
        for sizes, eliminations in by_sizes.items():
            plans = [self.eliminations[elimination] for elimination in eliminations]
            settings = Settings(
                np.array([plan.C for plan in plans]),
                np.array([1.0 if self.independent else plan.shrinkage for plan in plans]),
                none_forced if self.independent else np.concatenate([none_forced, self.forced.columns]),
                np.array([0 if self.independent else plan.forced_set + 1 for plan in plans]),
            )
            reaches = [self.d if self.independent else plan.reach for plan in plans]
            recorded = run_lockstep(
                self.lib, self.data, settings, np.array(sizes), self.first.fit_intercept, max(reaches),
                lambda resamples: all_tie_ranks[resamples],
            )  # fmt: skip
            arrays = recorded.smallest_size, recorded.weight, recorded.unsolved, reaches, recorded.columns
            for elimination, *of_elimination in zip(eliminations, *arrays, strict=True):
                by_elimination[elimination] = self.read_tail(*of_elimination)
        return [by_elimination[elimination] for elimination in range(len(self.eliminations))]

    def follow(self, elimination: int, resample: int) -> tuple[Orders, Floats]:
        """All features of one path and the weight of each feature; compiled, unless all of it was recorded."""
        tail = self.tails[elimination]
        if tail.order.shape[1] == self.d:
            weight = np.empty(self.d)
            weight[tail.order[resample]] = tail.weight[resample]
            return tail.order[resample], weight
        if resample not in self._compiled:
            single = list(self.batch)[resample]
            self._compiled = {resample: CompiledBlock(single, self.shared)}
        return self._compiled[resample].follow(elimination, 0)

    def solve(self, resamples: Sequence[int], columns: Ints, C: Floats) -> Models:
        return lockstep_models(self.lib, self.data, resamples, columns, C, self.first.fit_intercept)


# Support vector machines


def standardized(X: Floats) -> Floats:
    """Columns of mean 0 and standard deviation 1; constant ones are 0."""
    X = X / column_units(X)
    away = X - X.mean(axis=0)
    deviation = away.std(axis=0)
    return away / np.where(deviation > 0, deviation, 1.0)


def rank_columns(order: NDArray[Any]) -> Floats:
    """Rank of each feature, 1 for the first of the order."""
    ranks = np.empty(order.size)
    ranks[order] = np.arange(1, order.size + 1)
    return ranks


class _LinearSVM(Selector):
    """A linear support vector machine, one for each class against the rest if there are more than two."""

    uninformative: ClassVar[str | None] = "a weight of 0, or constant"
    C: float
    scale: Scale

    def share(self, data: Data) -> Floats | None:
        return standardized(data.X) if learns_on_all("scale", self.scale) else None


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

    serves: ClassVar[Serves] = Serves("one machine", "one class against the rest, squares summed")
    about: ClassVar[About] = About(
        name="svm_weights",
        label="SVM weights",
        summary="Largest squared weight in a linear support vector machine.",
        methods="the weights of a linear support vector machine",
        reference="kalousis2005",
        needs=serves.needs,
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

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        squares = np.zeros((len(batch), batch.n_features))
        data = batch.X if shared is None else shared
        for machine in one_against_rest(batch.target, batch.counts):
            counts = batch.counts[machine.resamples]
            fit = svm_elimination(data, machine.labels, counts, C=self.C, scale=self.scale)
            squares[machine.resamples] += fit.weight**2
        informative = (squares > 0) & varying(batch.X, batch.counts)
        return [
            [Preference("weighting", tied(row, TIE * row.max()), informative=mask)] * len(batch.settings)
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

    serves: ClassVar[Serves] = Serves("one machine", "one class against the rest, squares summed")
    about: ClassVar[About] = About(
        name="svm_rfe",
        label="SVM-RFE",
        summary="Recursive elimination by a linear support vector machine.",
        methods="recursive feature elimination by a linear support vector machine",
        reference="guyon2002",
        needs=serves.needs,
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

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        smallest = max(1, min(selector._wanted_size(batch.n_features) for selector in batch.selectors))
        sizes = elimination_sizes(batch.n_features, smallest, self.drop)
        data, machines = batch.X if shared is None else shared, one_against_rest(batch.target, batch.counts)
        tie_ranks, informative = self._tie_ranks(batch.seeds, batch.n_features), varying(batch.X, batch.counts)
        if len(machines) == 1:
            paths = svm_elimination(
                data, machines[0].labels, batch.counts, sizes=sizes, C=self.C, scale=self.scale, tie_ranks=tie_ranks
            )
            all_orders: Any = orders(paths, tie_ranks)
            informative &= paths.weight != 0
        else:
            all_orders = []
            for resample, ranks in enumerate(np.broadcast_to(tie_ranks, informative.shape)):
                present = [machine for machine in machines if machine.resamples[resample]]
                order = self._eliminate_by_machines(data, present, batch.counts[resample], sizes, ranks)
                all_orders.append(order)
        return [
            [Preference("ranking", rank_columns(order), informative=mask)] * len(batch.settings)
            for order, mask in zip(all_orders, informative, strict=True)
        ]

    def _eliminate_by_machines(
        self, X: Floats, machines: Sequence[BinaryProblem], counts: Ints, sizes: Ints, tie_ranks: NDArray[np.int32]
    ) -> Ints:
        """The order of an elimination by summed squared weights of several machines, one for each class."""
        columns, fallen = np.arange(X.shape[1]), np.empty(0, np.int64)
        for size in [*sizes[1:], 0]:
            squares = np.zeros(columns.size)
            for machine in machines:
                fit = svm_elimination(X, machine.labels, counts[None], columns=columns, C=self.C, scale=self.scale)
                squares += fit.weight[0] ** 2
            order = np.lexsort((tie_ranks[columns], -tied(squares, TIE * squares.max())))
            fallen = np.concatenate([columns[order[size:]], fallen])
            columns = np.sort(columns[order[:size]])
        return fallen
