"""A block of hybrid eliminations: some resamples under some settings, and what each setting selects of them.

Settings that differ in ``n_features`` or ``C_final`` take their results from one elimination. What all settings share
is made once: the scaled data for the whole study, class moments and standardized columns for each resample.
"""

from collections.abc import Hashable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.inputs import Scaled
from holdfast.kernels.paths import elimination_sizes, unsolved_error
from holdfast.selection import Selection, fewer_note
from holdfast.selectors.base import Preference
from holdfast.selectors.forcing import Criterion, Forced, criterion_key, force_features
from holdfast.selectors.models import LinearClassifier
from holdfast.selectors.rfe_engines import CompiledEngine, Engine, LockstepEngine, Tail
from holdfast.selectors.rows import Floats, Mask, Resamples, Target, varying

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
