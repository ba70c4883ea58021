"""The work of a study: one family on a block of splits, in whatever process."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from holdfast.models.recognized import BlockModel, recognize
from holdfast.models.score_block import Scorer
from holdfast.preferences import Kind
from holdfast.resampling import Perturbation, Samples, Split
from holdfast.selection import Selection
from holdfast.study.collecting import without_collecting
from holdfast.study.effects import SplitEffects, block_effects, effect_table
from holdfast.study.families import Family, FittedSplit, Order, as_numbers
from holdfast.study.incidents import Failure, join_notes, join_warnings, record_warnings
from holdfast.study.model_use import Coefficients
from holdfast.study.predicting import NO_SCORES, Cell, Scored, score_cells

FastModels: TypeAlias = Literal[True, "identical", False]
ModelFits: TypeAlias = Literal["scikit-learn", "identical", "optimum"]


class Task(NamedTuple):
    """A family, the splits to fit it on, and the places of its settings."""

    family: int
    splits: tuple[int, ...]
    settings: tuple[int, ...]


class Outcome(NamedTuple):
    """What one candidate did on one split, as it is stored.

    ``values`` are None where the selection failed, and where it is the beginning of an order that is stored beside.
    """

    family: int
    candidate: int
    split: int
    kind: Kind | None = None
    values: NDArray[Any] | None = None
    scores: Mapping[str, float] = NO_SCORES
    predictions: NDArray[Any] | None = None
    coefficients: Coefficients | None = None
    seconds: float = 0.0
    score_seconds: float = 0.0
    note: str = ""
    failure: Failure | None = None


class SplitOrder(NamedTuple):
    """An order of features on one split, and the candidates of a family that are cuts of it."""

    family: int
    candidates: tuple[int, ...]
    split: int
    order: Order


class Finished(NamedTuple):
    """What a piece of work gives: outcomes of candidates, the orders they are cuts of, seconds, effects of features."""

    outcomes: list[Outcome]
    orders: list[SplitOrder]
    seconds: float = 0.0
    effects: Sequence[SplitEffects] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Context:
    """All that a piece of work needs to know; sent to every process once."""

    X: Any
    covariates: Any
    y: NDArray[Any]
    names: Sequence[str]
    samples: Samples
    classes: NDArray[Any] | None
    families: Sequence[Family]
    shared: Mapping[int, Any]
    perturbation: Perturbation
    seed: int
    estimator: Any
    fast_models: FastModels
    device: str
    scorers: Mapping[str, Scorer]
    keep_predictions: bool
    made: Mapping[int, Split] = field(default_factory=dict)  # splits of small data; other processes make their own

    @property
    def task(self) -> str:
        """Whether classes or numbers are predicted."""
        return "regression" if self.classes is None else "classification"

    @property
    def groups(self) -> NDArray[Any] | None:
        """The group of each row."""
        return self.samples.groups

    @cached_property
    def table(self) -> NDArray[Any]:
        """The features without their names."""
        return self.X if not hasattr(self.X, "columns") else self.X.to_numpy()

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The features as numbers, dense: made once in every process."""
        return as_numbers(self.X)

    @cached_property
    def codes(self) -> NDArray[Any]:
        """The target as numbers: of classes, or to predict."""
        return self.y.astype(np.float64) if self.classes is None else np.searchsorted(self.classes, self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 if numbers are predicted."""
        return 0 if self.classes is None else self.classes.size

    @cached_property
    def effect_table(self) -> NDArray[Any] | None:
        """The features as numbers, for their effects; None if there are none for such data."""
        return effect_table(self.X)

    # Models

    @cached_property
    def block_model(self) -> BlockModel | None:
        """The model in a form that fits whole blocks; None if there is none for it, or for such data."""
        if self.estimator is None or not self.fast_models or sp.issparse(self.X):
            return None
        if self.table.dtype in (np.float16, np.float32):  # scikit-learn would compute in as few digits
            return None
        model = recognize(self.estimator, self.n_classes, self.fast_models, self.device)
        return model if model is not None and np.isfinite(self.model_table).all() else None

    @cached_property
    def model_table(self) -> NDArray[np.float64]:
        """All features, then the covariates, as numbers."""
        if self.covariates is None:
            return self.numbers
        return np.ascontiguousarray(np.hstack([self.numbers, self.covariates]), dtype=np.float64)

    @cached_property
    def covariate_columns(self) -> NDArray[np.int64] | None:
        """Where the covariates stand in that table; None if there are none."""
        return None if self.covariates is None else np.arange(self.numbers.shape[1], self.model_table.shape[1])

    @cached_property
    def validated(self) -> set[str]:
        """What was fitted in this process: scikit-learn need not validate its parameters again."""
        return set()

    def split(self, index: int) -> Split:
        """Make a split again, unless it is at hand."""
        if index in self.made:
            return self.made[index]
        return self.perturbation.make_split(index, self.samples, self.seed)


def work(context: Context, task: Task) -> Finished:
    """Fit a family on a block of splits: select, score, and return the outcome of each candidate."""
    begun = perf_counter()
    family, splits = context.families[task.family], [context.split(index) for index in task.splits]
    with fitting():
        selected = list(_select(context, task, splits))
        with without_collecting():
            cells = _list_cells(context, splits, selected)
        scored = dict(zip(cells, score_cells(context, splits, list(cells.values())), strict=True))
    with without_collecting():
        outcomes = [
            _make_outcome(context, task, place, candidate, selected, scored)
            for place in range(len(splits))
            for candidate in selected[place].fitted.fits
        ]
        orders = [
            order
            for split, (results, _) in zip(splits, selected, strict=True)
            for order in _find_cuts(family, task, split, results)
        ]
        effects = block_effects(context, family.name, splits, [results for results, _ in selected])
    return Finished(outcomes, orders, perf_counter() - begun, effects)


class Selected(NamedTuple):
    """What a family selected on one split, and the warnings meanwhile."""

    fitted: FittedSplit
    note: str


def _select(context: Context, task: Task, splits: Sequence[Split]) -> Iterator[Selected]:
    family = context.families[task.family]
    fitted = family.run(context.shared.get(task.family), context, splits, task.settings)
    for _ in splits:
        with record_warnings() as caught:
            results = next(fitted, None)
        if results is None:
            raise RuntimeError(f"{family.name} returned fewer results than splits.")
        yield Selected(results, join_warnings(caught))


Key = tuple[int, bytes | int]


def _list_cells(context: Context, splits: Sequence[Split], selected: Sequence[Selected]) -> dict[Key, Cell]:
    """What is to be scored: on every split, each different selection once."""
    return {
        _key(context, place, candidate, fit.result): Cell(place, splits[place], fit.result)
        for place, (results, _) in enumerate(selected)
        for candidate, fit in results.fits.items()
        if isinstance(fit.result, Selection)
    }


def _key(context: Context, place: int, candidate: int, selection: Selection) -> Key:
    """What tells models apart: with an estimator the selected columns, else every candidate has its own."""
    alike = context.estimator is not None and selection.kind == "subset"
    return place, selection.values.tobytes() if alike else candidate


def _make_outcome(
    context: Context, task: Task, place: int, candidate: int, selected: Sequence[Selected], scored: Mapping[Key, Scored]
) -> Outcome:
    """What a candidate did on the split at this place."""
    results, note = selected[place]
    selection, seconds = results.fits[candidate]
    split = task.splits[place]
    if isinstance(selection, Exception):
        failure = Failure.from_exception("select", selection)
        return Outcome(task.family, candidate, split, seconds=seconds, note=note, failure=failure)
    score = scored[_key(context, place, candidate, selection)]
    return Outcome(
        family=task.family,
        candidate=candidate,
        split=split,
        kind=selection.kind,
        values=_own_values(context.families[task.family], candidate, selection, results.orders),
        scores=score.scores,
        predictions=score.predictions,
        coefficients=score.coefficients,
        seconds=seconds,
        score_seconds=score.seconds,
        note=_join(note, selection.note, score.note),
        failure=score.failure,
    )


def _join(*notes: str) -> str:
    """All lines of several notes, each once."""
    return "" if not any(notes) else join_notes([line for note in notes if note for line in note.split("\n")])


def _find_cuts(family: Family, task: Task, split: Split, results: FittedSplit) -> Iterator[SplitOrder]:
    """The orders of a split, each with those candidates of these settings that take their selection from it."""
    for number, order in results.orders.items():
        sizes = family.orderings[number].sizes
        cuts = tuple(candidate for candidate in sizes if candidate in results.fits)
        yield SplitOrder(task.family, cuts, split.index, order)


def _own_values(
    family: Family, candidate: int, selection: Selection, orders: Mapping[int, Order]
) -> NDArray[Any] | None:
    """What a candidate selected; None if it is the beginning of an order, which is stored once for all sizes."""
    number = family.ordering_of.get(candidate, -1)
    order = orders.get(number)
    is_cut = order is not None and order.begins_with(selection, family.orderings[number].sizes[candidate])
    return None if is_cut else selection.values


# Around a piece of work

# Threads of one process share NumPy's random state and the filters of warnings, so only one of them fits at a time.
_fit_lock = threading.RLock()


@lru_cache(maxsize=1)
def _thread_limits() -> ThreadpoolController:
    return ThreadpoolController()  # looking for the libraries takes milliseconds


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS to one thread: two give other bits than one, and collapse where there are many workers."""
    with _thread_limits().limit(limits=1):
        yield


@contextmanager
def fitting() -> Iterator[None]:
    """Fit alone in this process, with BLAS on one thread, and leave NumPy's random state as it was."""
    with _fit_lock, one_thread(), _restore_random_state():
        yield


@contextmanager
def _restore_random_state() -> Iterator[None]:
    """Put NumPy's global random state back; fits seed it, for selectors that use it."""
    before = np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
