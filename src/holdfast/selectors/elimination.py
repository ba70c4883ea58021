"""Linear support vector machines as selectors: by the weights of one fit, and by recursive elimination."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.declared import About
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
from holdfast.kernels.filters import best_by_moments, class_moments, golub, variance
from holdfast.kernels.libraries import DEVICE_BYTES, check_device, library
from holdfast.kernels.lockstep import Data, Models, Recorded, Settings, lockstep_models, run_lockstep, with_resamples
from holdfast.kernels.ridge import Eliminations, ridge_eliminations, ridge_models
from holdfast.kernels.svm import svm_elimination
from holdfast.kernels.tolerances import TIE, column_units
from holdfast.selection import Selection, best_columns, fewer_note
from holdfast.selectors.base import (
    BinaryProblem,
    Filter,
    FitsTogether,
    Floats,
    Ints,
    Mask,
    Preference,
    Resamples,
    Target,
    Ties,
    learned_on,
    one_against_rest,
    tied,
    varying,
)
from holdfast.selectors.filters import Golub, GolubVariance, Variance, _Moments
from holdfast.selectors.models import LinearClassifier, Predicts

CRITERIA = {"variance": Variance, "golub": Golub}


class Criterion(NamedTuple):
    """What ranks features for forcing: a filter with what it shares over all resamples, or a number for each."""

    filter: Filter | None
    shared: Any
    numbers: Floats | None


def criterion_key(criterion: Any) -> Hashable:
    """By which equal criteria are known."""
    named = isinstance(criterion, (str, Filter))
    return repr(criterion) if named else np.asarray(criterion, dtype=np.float64).tobytes()


def as_filter(criterion: Any) -> Filter | None:
    """The filter that ranks features for forcing; None if numbers were given."""
    if isinstance(criterion, str):
        if criterion not in CRITERIA:
            raise ValueError(
                f"Expected the criterion {' or '.join(map(repr, CRITERIA))}, a filter or numbers, got {criterion!r}."
            )
        return CRITERIA[criterion]()
    return criterion if isinstance(criterion, Filter) else None


def check_numbers(criterion: Any, n_features: int) -> None:
    """Raise if a criterion is neither a name nor a filter nor a number for each feature."""
    if as_filter(criterion) is None and np.shape(criterion) != (n_features,):
        raise ValueError(f"Expected a number for each of {n_features} features, got shape {np.shape(criterion)}.")


def share_criteria(criteria: Sequence[Any], X: Floats, target: Target) -> dict[Hashable, Criterion]:
    """Prepare criteria, by their keys; filters by class moments share centered data."""
    prepared: dict[Hashable, Criterion] = {}
    parts: dict[Any, Any] = {}
    for criterion in criteria:
        filter_ = as_filter(criterion)
        if filter_ is None:
            prepared[criterion_key(criterion)] = Criterion(None, None, np.asarray(criterion, dtype=np.float64))
            continue
        part = type(filter_)._shared if _is_by_moments(filter_) else criterion_key(criterion)
        if part not in parts:
            parts[part] = filter_._shared(X, target)
        prepared[criterion_key(criterion)] = Criterion(filter_, parts[part], None)
    return prepared


def _is_by_moments(filter_: Filter) -> bool:
    return isinstance(filter_, _Moments) and type(filter_)._weights is _Moments._weights


class Forced(NamedTuple):
    """Which features each resample forces, and what went wrong: by set of features and resample."""

    columns: NDArray[np.int64]  # sets × resamples × most that are forced, the best first, −1 where there are fewer
    errors: dict[tuple[int, int], Exception]

    def masks(self, n_features: int) -> Mask:
        """Sets × resamples × features: which are forced."""
        masks = np.zeros((*self.columns.shape[:2], n_features + 1), dtype=bool)
        np.put_along_axis(masks, np.where(self.columns < 0, n_features, self.columns), True, axis=2)
        return masks[:, :, :n_features]


def force_features(
    sets: Sequence[tuple[Hashable, int]],
    criteria: Mapping[Hashable, Criterion],
    X: Floats,
    target: Target,
    resamples: Resamples,
    lib: Any = None,
) -> Forced:
    """Force the best features by each criterion: a set is a criterion's key and how many it forces.

    A criterion orders the features of a resample once, for the largest set; of features that tell it nothing it forces
    none. ``resamples`` have the seeds by which equally good features take their turns. With a library of a device
    (:mod:`holdfast.kernels.libraries`), moments are computed there.
    """
    widest = max((size for _, size in sets), default=0)
    forced = Forced(np.full((len(sets), len(resamples.seeds), widest), -1, dtype=np.int64), {})
    most: dict[Hashable, int] = {}
    for key, size in sets:
        most[key] = max(size, most.get(key, 0))
    known = {} if lib is None else _best_on_device(most, criteria, X.shape[1], resamples, lib)
    for resample, (counts, seed) in enumerate(zip(*resamples, strict=True)):
        moments: dict[int, _Weights] = {}
        orders: dict[Hashable, NDArray[np.int32] | Exception] = {}
        for key, size in most.items():
            try:
                own = known[key][resample] if key in known else None
                orders[key] = own if own is not None else _best(criteria[key], size, X, target, counts, seed, moments)
            except Exception as error:
                orders[key] = error
        for number, (key, size) in enumerate(sets):
            order = orders[key]
            if isinstance(order, Exception):
                forced.errors[number, resample] = order
            else:
                forced.columns[number, resample, : order[:size].size] = order[:size]
    return forced


def _best_on_device(
    most: Mapping[Hashable, int],
    criteria: Mapping[Hashable, Criterion],
    n_features: int,
    resamples: Resamples,
    lib: Any,
) -> dict[Hashable, list[NDArray[Any] | None]]:
    """The best features by criteria that a device can compute; None where ties or undefined weights ask for a look."""
    lambdas = {key: _lambda(criteria[key].filter) for key, size in most.items() if size < n_features}
    found: dict[Hashable, list[NDArray[Any] | None]] = {}
    for part in {id(criteria[key].shared): key for key, own in lambdas.items() if own is not None}.values():
        shared = criteria[part].shared
        keys = [key for key in lambdas if criteria[key].shared is shared and lambdas[key] is not None]
        own = [float(lambdas[key]) for key in keys]  # type: ignore[arg-type]
        best = best_by_moments(lib, shared, resamples.counts, own, max(most[key] for key in keys) + 1)
        for key, (weights, columns) in zip(keys, best, strict=True):
            size, filter_ = most[key], criteria[key].filter
            assert filter_ is not None
            first = weights[:, : size + 1]
            with np.errstate(invalid="ignore"):
                clear = (first[:, :-1] - first[:, 1:] > TIE * first[:, :1]).all(axis=1) & np.isfinite(first).all(axis=1)
            clear &= filter_._informative(first[:, size - 1]) & (first[:, 0] > 1e-290) & (first[:, 0] < 1e300)
            found[key] = [row[:size] if sure else None for row, sure in zip(columns, clear.tolist(), strict=True)]
    return found


def _lambda(filter_: Filter | None) -> float | None:
    """The weight of the variance as it is beside Golub's ratio; None for a filter that is something else."""
    if type(filter_) is GolubVariance:
        return filter_.lambda_v if filter_.lambda_v >= 0 and filter_.units == "data" else None
    known: dict[Any, float] = {Variance: np.inf, Golub: 0.0}
    return known.get(type(filter_))


class _Weights:
    """Weights of features in one resample, from moments that are computed once."""

    def __init__(self, shared: Any, counts: Ints) -> None:
        self.moments = class_moments(shared, counts)

    @cached_property
    def golub(self) -> Floats:
        return golub(self.moments)

    @cached_property
    def variance(self) -> Floats:
        return variance(self.moments)

    def by(self, filter_: _Moments) -> Floats:
        """The weights of a filter, bit by bit as it computes them."""
        factor = _lambda(filter_)
        if factor is not None and (factor == 0 or np.isinf(factor)):
            return self.golub if factor == 0 else self.variance
        if factor is not None and factor * float(np.max(self.variance, initial=0.0)) < np.inf:
            return self.golub + factor * self.variance
        return filter_._formula(self.moments)


def _best(
    criterion: Criterion, size: int, X: Floats, target: Target, counts: Ints, seed: int | None,
    moments: dict[int, _Weights],
) -> NDArray[np.int32]:  # fmt: skip
    """The best features by a criterion in one resample, whose moments are kept for the next criterion."""
    filter_, shared, numbers = criterion
    if filter_ is None:
        assert numbers is not None
        return best_columns(numbers, size, None, seed, tolerance=0.0).order
    own = filter_._tie_seed(seed)
    if isinstance(filter_, _Moments) and _is_by_moments(filter_):
        if id(shared) not in moments:
            moments[id(shared)] = _Weights(shared, counts)
        weights = moments[id(shared)].by(filter_)
        return best_columns(weights, size, filter_._informative(weights), own).order
    best = filter_._take_best(filter_._preference(shared, X, target, counts, own), size, own).order
    assert best is not None
    return best


class Tail(NamedTuple):
    """The features of each resample that fall last in an elimination, from the last on."""

    order: NDArray[np.int32]  # resamples × features
    weight: Floats
    unsolved: Ints  # resamples: number of features of the fit that was given up, or 0


class CompiledEngine:
    """All settings of a resample one after the other, compiled for this processor."""

    lib: Any = None

    def __init__(self, block: "Block") -> None:
        self.block = block

    @cached_property
    def paths(self) -> Eliminations:
        """The paths of every resample and elimination."""
        block, M = self.block, len(self.block.resamples.seeds)
        together = [] if block.independent else block.eliminations
        some = any(elimination.forced >= 0 for elimination in together)
        nothing = np.zeros((1, M, block.d), bool)
        return ridge_eliminations(
            block.shared.data, block.labels, block.resamples.counts,
            [elimination.sizes for elimination in block.eliminations],
            C=[elimination.C for elimination in block.eliminations],
            shrinkage=[elimination.shrinkage for elimination in together] or 1.0,
            forced=np.concatenate([nothing, block.forced.masks(block.d)]) if some else None,
            which_forced=[elimination.forced + 1 for elimination in together],
            intercept=block.first.fit_intercept, tie_order=block.turns,
        )  # fmt: skip

    @cached_property
    def tails(self) -> list[Tail]:
        """The last features of each elimination."""
        if not self.block.eliminations:
            return []
        M, found = len(self.block.resamples.seeds), dict[int, Tail]()
        by_reach: dict[int, list[int]] = {}
        for number, elimination in enumerate(self.block.eliminations):
            by_reach.setdefault(elimination.reach, []).append(number)
        for reach, numbers in by_reach.items():
            every = len(numbers) == len(self.block.eliminations)
            own: list[Any] = [array if every else array[:, numbers] for array in self.paths]
            kept_until, weight, unsolved = own
            good, order = unsolved == 0, np.zeros((M, len(numbers), reach), np.int32)
            steps, weights = (x.reshape(-1, self.block.d) if good.all() else x[good] for x in (kept_until, weight))
            order[good] = first_of_orders(steps, weights, reach, self.block.turn_of, np.nonzero(good)[0].tolist())
            last: Any = np.take_along_axis(weight, order, axis=2)
            for place, number in enumerate(numbers):
                found[number] = Tail(order[:, place], last[:, place], unsolved[:, place])
        return [found[number] for number in range(len(self.block.eliminations))]

    def whole(self, number: int, resample: int) -> tuple[NDArray[np.int32], Floats]:
        """All features of one path, from the last to the first to fall, and the weight of each feature."""
        kept_until, weight = self.paths.kept_until[resample, number], self.paths.weight[resample, number]
        order = first_of_orders(kept_until[None], weight[None], weight.size, self.block.turn_of, [resample])
        return order[0], weight

    def models(self, resamples: Sequence[int], columns: Ints, C: Floats) -> Models:
        """Fit models on columns, each on its resample and with its C."""
        block = self.block
        return ridge_models(
            block.shared.data, block.labels, block.resamples.counts, resamples, columns, C,
            intercept=block.first.fit_intercept,
        )  # fmt: skip


class LockstepEngine:
    """All resamples and settings side by side, by torch on a device."""

    def __init__(self, block: "Block") -> None:
        self.block, device = block, block.first.device
        place = "cuda" if device == "cuda" else "cpu"
        self.lib = library("torch", place, "float64", DEVICE_BYTES[device])
        self._alone: dict[int, CompiledEngine] = {}

    @cached_property
    def data(self) -> Data:
        """The scaled data with labels and counts."""
        return with_resamples(self.block.shared.data, self.block.labels, self.block.resamples.counts)

    @cached_property
    def tails(self) -> list[Tail]:
        """The last features of each elimination; those that pass the same sizes run together."""
        by_sizes: dict[tuple[int, ...], list[int]] = {}
        for number, elimination in enumerate(self.block.eliminations):
            by_sizes.setdefault(tuple(elimination.sizes.tolist()), []).append(number)
        found: dict[int, Tail] = {}
        for sizes, numbers in by_sizes.items():
            recorded = self._run(np.array(sizes), numbers)
            for place, number in enumerate(numbers):
                found[number] = self._tail(recorded, place, self._reach(number))
        return [found[number] for number in range(len(self.block.eliminations))]

    def _reach(self, number: int) -> int:
        return self.block.d if self.block.independent else self.block.eliminations[number].reach

    def _run(self, sizes: Ints, numbers: Sequence[int]) -> Recorded:
        block, own = self.block, [self.block.eliminations[number] for number in numbers]
        columns, alone = block.forced.columns, block.independent
        nothing = np.full((1, len(block.resamples.seeds), columns.shape[2]), -1)
        settings = Settings(
            np.array([elimination.C for elimination in own]),
            np.array([1.0 if alone else elimination.shrinkage for elimination in own]),
            nothing if alone else np.concatenate([nothing, columns]),
            np.array([0 if alone else elimination.forced + 1 for elimination in own]),
        )
        reach = max(self._reach(number) for number in numbers)
        return run_lockstep(self.lib, self.data, settings, sizes, block.first.fit_intercept, reach, self._turns)

    def _turns(self, here: slice) -> NDArray[np.int32]:
        """The turns of some of the resamples."""
        return np.broadcast_to(self.block.turns, (len(self.block.resamples.seeds), self.block.d))[here]

    def _tail(self, recorded: Recorded, place: int, reach: int) -> Tail:
        parts = recorded.columns, recorded.kept_until, recorded.weight, recorded.unsolved
        names, kept_until, weight, unsolved = (array[place] for array in parts)
        good = np.flatnonzero(unsolved == 0)
        order, last = np.zeros((len(names), reach), np.int32), np.zeros((len(names), reach))
        own = first_of_orders(kept_until[good], weight[good], reach, self.block.turn_of, good.tolist(), names[good])
        where = [np.searchsorted(row, columns) for row, columns in zip(names[good], own, strict=True)]
        order[good] = own
        last[good] = np.take_along_axis(weight[good], np.array(where, dtype=np.int64).reshape(own.shape), axis=1)
        return Tail(order, last, unsolved)

    def whole(self, number: int, resample: int) -> tuple[NDArray[np.int32], Floats]:
        """All features of one path and the weight of each feature; compiled, unless all of it was recorded."""
        tail = self.tails[number]
        if tail.order.shape[1] == self.block.d:
            weight = np.empty(self.block.d)
            weight[tail.order[resample]] = tail.weight[resample]
            return tail.order[resample], weight
        if resample not in self._alone:
            self._alone = {resample: CompiledEngine(self.block.only(resample))}
        return self._alone[resample].whole(number, 0)

    def models(self, resamples: Sequence[int], columns: Ints, C: Floats) -> Models:
        """Fit models on columns, each on its resample and with its C."""
        return lockstep_models(self.lib, self.data, resamples, columns, C, self.block.first.fit_intercept)


Engine = CompiledEngine | LockstepEngine


Orders = NDArray[np.int32]


class Shared(NamedTuple):
    """What all resamples share: the scaled data, and what each criterion needs."""

    data: Scaled
    criteria: dict[Hashable, Criterion]


class Elimination(NamedTuple):
    """An elimination of every resample, and the places of the selectors that take their results from it."""

    C: float
    shrinkage: float
    forced: int  # number of the set of forced features, −1 for none
    n_forced: int
    sizes: NDArray[np.int64]
    places: list[int]
    largest: int  # most features that one of them selects

    @property
    def reach(self) -> int:
        """The size that it passes from which on the order is wanted."""
        return int(self.sizes[self.sizes >= self.largest].min())


class Block:
    """Eliminations of some resamples by selectors that differ in ``shared_parameters`` only.

    ``resamples`` have the seeds by which equally good features take their turns.
    """

    def __init__(
        self, selectors: Sequence[Any], shared: Shared, X: Floats, target: Target, resamples: Resamples
    ) -> None:
        self.selectors, self.first, self.shared, self.resamples = selectors, selectors[0], shared, resamples
        self.X, self.target, self.d = X, target, X.shape[1]
        self.errors = [selector._fault(self.d) for selector in selectors]
        self.sets: list[tuple[Hashable, int]] = []
        self.eliminations = self._eliminations()
        self.engine: Engine = (CompiledEngine if self.first.device == "cpu" else LockstepEngine)(self)
        self.forced: Forced = force_features(self.sets, shared.criteria, X, target, resamples, self.engine.lib)
        self.vary: Mask = varying(X, resamples)

    @cached_property
    def labels(self) -> Floats:
        """−1 and 1; the higher of the two classes that the rows hold is 1."""
        held = np.unique(self.target.values[self.resamples.counts.any(axis=0)])
        return np.where(self.target.values == held[-1], 1.0, -1.0)

    @cached_property
    def classes(self) -> list[NDArray[Any]]:
        """The two classes of each resample."""
        assert self.target.classes is not None
        return [self.target.classes[self.target.present(counts)] for counts in self.resamples.counts]

    def turn_of(self, resample: int) -> Orders:
        """The turn of each feature among equally good ones in a resample."""
        return self.turns[min(resample, len(self.turns) - 1)]

    @cached_property
    def turns(self) -> Orders:
        """The turn of each feature among equally good ones, for all or each of the resamples."""
        return self.first._tie_orders(self.resamples.seeds, self.d)

    def _eliminations(self) -> list[Elimination]:
        """Put selectors together that take their results from one elimination; those at fault are left out."""
        places: dict[Any, list[int]] = {}
        for place, selector in enumerate(self.selectors):
            if self.errors[place] is None:
                n = int(selector.n_forced)
                key = (float(selector.shrinkage), (criterion_key(selector.criterion), n)) if n else (1.0, None)
                places.setdefault((float(selector.C), *key, n), []).append(place)
        return [self._elimination(key, own) for key, own in places.items()]

    def _elimination(self, setting: Any, places: list[int]) -> Elimination:
        C, shrinkage, key, n_forced = setting
        if key is not None and key not in self.sets:
            self.sets.append(key)
        wanted = [self.selectors[place]._wanted_size(self.d) for place in places]
        alone = n_forced if self.independent else 0
        sizes = elimination_sizes(self.d, max(1, min(wanted) - alone), self.first.drop)
        number = -1 if key is None else self.sets.index(key)
        return Elimination(C, shrinkage, number, n_forced, sizes, places, max(1, *wanted))

    @property
    def independent(self) -> bool:
        """Whether features that complete the forced ones are chosen without them."""
        return bool(self.first.complement == "independent")

    def forced_columns(self, number: int, resample: int) -> NDArray[np.int64]:
        """Columns that an elimination forces."""
        own = self.eliminations[number].forced
        columns = self.forced.columns[own, resample] if own >= 0 else np.empty(0, np.int64)
        return np.sort(columns[columns >= 0])

    def whole_order(self, number: int, resample: int) -> tuple[Orders, Mask]:
        """All features of one path, from the last to the first to fall; and which features carry information."""
        order, weight = self.engine.whole(number, resample)
        carries = weight != 0
        if self.independent:
            forced = np.zeros(self.d, dtype=bool)
            forced[self.forced_columns(number, resample)] = True
            order, carries = order[np.argsort(~forced[order], kind="stable")], carries | forced
        return order, carries & self.vary[resample]

    def only(self, resample: int) -> "Block":
        """The same for one of the resamples."""
        return Block(self.selectors, self.shared, self.X, self.target, self.resamples.take([resample]))

    # What each setting selects

    def preferences(self) -> list[list[Preference | Exception]]:
        """What each resample prefers, by each selector."""
        cells: list[list[Any]] = [list(self.errors) for _ in self.resamples.seeds]
        fits = Finals(self)
        for number, (elimination, tail) in enumerate(zip(self.eliminations, self.engine.tails, strict=True)):
            good = self._mark_failures(number, tail, cells)
            for place in elimination.places:
                wanted = self.selectors[place]._wanted_size(self.d)
                for resample, order in zip(good, self._selected(number, tail, good, wanted), strict=True):
                    cells[resample][place] = own = Eliminated(self, number, place, resample, order, wanted)
                    fits.add(own)
        for cell, error in fits.fit():
            cells[cell.resample][cell.place] = error
        return cells

    def _mark_failures(self, number: int, tail: Tail, cells: list[list[Any]]) -> list[int]:
        """Write down which paths failed; return the other resamples."""
        elimination, good = self.eliminations[number], []
        for resample, unsolved in enumerate(tail.unsolved.tolist()):
            error = self.forced.errors.get((elimination.forced, resample))
            if error is None and unsolved:
                error = unsolved_error("ridge-logistic", unsolved)
            if error is None:
                good.append(resample)
                continue
            for place in elimination.places:
                cells[resample][place] = error
        return good

    def _selected(self, number: int, tail: Tail, good: list[int], wanted: int) -> list[Orders]:
        """The selected features of these resamples, the best first; those without information are left out."""
        if not wanted:
            return [np.empty(0, np.int32)] * len(good)
        if self.independent:
            return [order[carries[order]][:wanted] for order, carries in (self.whole_order(number, m) for m in good)]
        here = np.array(good, dtype=np.int64)
        first = tail.order[here, :wanted]
        carries = (tail.weight[here, :wanted] != 0) & self.vary[here[:, None], first]
        orders = list(first)
        for row in np.flatnonzero(~carries.all(axis=1)):
            order, informative = self.whole_order(number, good[row])
            orders[row] = order[informative[order]][:wanted]
        return orders


class Eliminated(Preference):
    """What one path gives one selector; the ranking of all features is made when it is asked for."""

    block: Block
    number: int  # of the elimination
    place: int  # of the selector
    resample: int
    order: Orders
    columns: Orders  # the same, ascending
    cut_note: str

    def __init__(self, block: Block, number: int, place: int, resample: int, order: Orders, wanted: int) -> None:
        note = fewer_note(block.first.uninformative) if order.size < min(wanted, block.d) else ""
        self.__dict__.update(
            kind="ranking", block=block, number=number, place=place, resample=resample, order=order,
            columns=np.sort(order), model=None, cut_note=note, note="",
        )  # fmt: skip

    @cached_property
    def _whole(self) -> tuple[Floats, Mask]:
        order, informative = self.block.whole_order(self.number, self.resample)
        ranks = np.empty(order.size)
        ranks[order] = np.arange(1, order.size + 1)
        return ranks, informative

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
        forced = self.block.forced_columns(self.number, self.resample)
        return {"model_": self.model, "forced_": forced, "classes_": self.model.classes_}

    def ranking(self) -> Selection:
        """The ranking of all features that the selection was cut from."""
        return Selection("ranking", self.values, informative=self.informative)

    def cut(self) -> Selection:
        """Return the selected features."""
        elimination = self.block.eliminations[self.number]
        smallest = int(elimination.sizes[-1]) + (elimination.n_forced if self.block.independent else 0)
        return Selection("subset", self.columns, self.model, self.cut_note, None, self.order, smallest, self.ranking)


class Finals:
    """The models on the selected features, fitted together: those of one number of features in one call."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.cells: dict[int, list[Any]] = {}

    def add(self, cell: Any) -> None:
        """Ask for the model of a cell."""
        self.cells.setdefault(cell.order.size, []).append(cell)

    def fit(self) -> list[tuple[Any, Exception]]:
        """Give every cell its model; return those for which there is none, and why."""
        return [failure for size, cells in self.cells.items() for failure in self._fit(size, cells)]

    def _fit(self, size: int, cells: list[Any]) -> list[tuple[Any, Exception]]:
        block, failures = self.block, list[tuple[Any, Exception]]()
        if not size:
            for cell in cells:
                if block.selectors[cell.place]._wanted_size(block.d):
                    cell.__dict__["model"] = self._without_features(cell)
            return []
        columns = np.array([cell.columns for cell in cells])
        costs = [block.selectors[cell.place]._final_cost() for cell in cells]
        models = block.engine.models([cell.resample for cell in cells], columns, np.array(costs))
        fine = np.isfinite(models.coef).all(axis=1) & np.isfinite(models.intercept) & ~models.unsolved
        for number, (cell, own) in enumerate(zip(cells, fine.tolist(), strict=True)):
            arrays = cell.columns, models.coef[number : number + 1], models.intercept[number : number + 1]
            make = partial(LinearClassifier.trusted if own else LinearClassifier, *arrays, block.classes[cell.resample])
            try:
                if models.unsolved[number]:
                    raise unsolved_error("ridge-logistic", size)
                cell.__dict__["model"] = make()
            except (ArithmeticError, ValueError) as error:
                failures.append((cell, error))
        return failures

    def _without_features(self, cell: Any) -> LinearClassifier:
        """A model that predicts by the odds."""
        counts, labels = self.block.resamples.counts[cell.resample], self.block.labels
        odds = counts[labels > 0].sum() / counts[labels < 0].sum()
        intercept = np.log([odds if self.block.first.fit_intercept else 1.0])
        return LinearClassifier(cell.columns, np.zeros(0), intercept, self.block.classes[cell.resample])


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
