"""The work of a study: one family on a block of splits, in whatever process."""

import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from holdfast.preferences import Kind
from holdfast.resampling import Perturbation, Samples, Split
from holdfast.resampling.split import take
from holdfast.selection import FewerFeaturesWarning, Selection
from holdfast.study.families import Family, FittedSplit, Order, as_numbers
from holdfast.study.scoring import Answers, Scorer, coded, model_on, scores_of

NO_SCORES: Mapping[str, float] = {}


class Task(NamedTuple):
    """A family, the splits to fit it on, and the places of its settings."""

    family: int
    splits: tuple[int, ...]
    settings: tuple[int, ...]


class Failure(NamedTuple):
    """What went wrong, and where."""

    stage: str  # "select", "score", "time limit" or "died"
    error: str
    traceback: str = ""

    @classmethod
    def from_exception(cls, stage: str, error: BaseException) -> "Failure":
        """Record an exception with its traceback."""
        lines = "".join(traceback.format_exception(error))
        return cls(stage, f"{type(error).__name__}: {error}".strip().removesuffix(":"), lines)


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
    """What a piece of work gives: outcomes of candidates, the orders that they are cuts of, and its seconds."""

    outcomes: list[Outcome]
    orders: list[SplitOrder]
    seconds: float = 0.0


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
    scorers: Mapping[str, Scorer]
    keep_predictions: bool

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

    def split(self, index: int) -> Split:
        """Make a split again."""
        return self.perturbation.make_split(index, self.samples, self.seed)


def work(context: Context, task: Task) -> Finished:
    """Fit a family on a block of splits: select, score, and return the outcome of each candidate."""
    begun, outcomes, orders = perf_counter(), list[Outcome](), list[SplitOrder]()
    family, splits = context.families[task.family], [context.split(index) for index in task.splits]
    with fitting():
        fitted = family.run(context.shared.get(task.family), context, splits, task.settings)
        for split in splits:
            with record_warnings() as caught:
                results = next(fitted, None)
            if results is None:
                raise RuntimeError(f"{family.name} returned fewer results than splits.")
            outcomes += _make_outcomes(context, task, split, results, join_warnings(caught))
            orders += _find_cuts(family, task, split, results)
    return Finished(outcomes, orders, perf_counter() - begun)


def _make_outcomes(context: Context, task: Task, split: Split, results: FittedSplit, note: str) -> Iterator[Outcome]:
    """One outcome for each candidate of these settings."""
    scored: dict[bytes, tuple[dict[str, Any], str]] = {}
    for candidate, (selection, seconds) in results.fits.items():
        where: dict[str, Any] = {
            "family": task.family,
            "candidate": candidate,
            "split": split.index,
            "seconds": seconds,
        }
        if isinstance(selection, Exception):
            yield Outcome(**where, note=note, failure=Failure.from_exception("select", selection))
            continue
        alike = context.estimator is not None and selection.kind == "subset"
        key = selection.values.tobytes() if alike else b"%d" % len(scored)
        if key not in scored:
            scored[key] = _score(context, split, selection)
        score, score_note = scored[key]
        yield Outcome(
            **where,
            kind=selection.kind,
            values=_own_values(context.families[task.family], candidate, selection, results.orders),
            note="\n".join(dict.fromkeys(filter(None, [note, selection.note, score_note]))),
            **score,
        )


def _find_cuts(family: Family, task: Task, split: Split, results: FittedSplit) -> Iterator[SplitOrder]:
    """The orders of a split, each with those candidates of these settings that take their selection from it."""
    for order in results.orders:
        sizes = family.orderings[order.ordering].sizes
        yield SplitOrder(
            task.family, tuple(candidate for candidate in results.fits if candidate in sizes), split.index, order
        )


def _own_values(family: Family, candidate: int, selection: Selection, orders: Sequence[Order]) -> NDArray[Any] | None:
    """What a candidate selected; None if it is the beginning of an order, which is stored once for all sizes."""
    number = family.ordering_of.get(candidate)
    size = None if number is None else family.orderings[number].sizes[candidate]
    order = next((order for order in orders if order.ordering == number), None)
    cut = size is not None and order is not None and order.begins_with(selection, size)
    return None if cut else selection.values


def _score(context: Context, split: Split, selection: Selection) -> tuple[dict[str, Any], str]:
    """Predict the held-out rows with the selected features, and score that; also the warnings meanwhile."""
    if not split.test.size:
        return {}, ""
    begun, score = perf_counter(), dict[str, Any]()
    with record_warnings() as caught:
        try:
            fitted = predicting_model(context, split, selection)
            if fitted is None:
                return {}, ""
            model, X = fitted
            answers, y = Answers(model, X), context.y[split.test]
            if context.keep_predictions:
                score["predictions"] = coded(answers.predict(X), context.classes)
            score["scores"] = scores_of(answers, X, y, context.scorers)
        except Exception as error:
            score["failure"] = Failure.from_exception("score", error)
    return {**score, "score_seconds": perf_counter() - begun}, join_warnings(caught)


def predicting_model(context: Context, split: Split, selection: Selection) -> tuple[Any, Any] | None:
    """The model that predicts from a selection, and the held-out rows as it wants them; None if there is none."""
    if context.estimator is None or selection.kind != "subset":
        return None if selection.model is None else (selection.model, take(context.X, split.test))
    changed, y = (context.table, context.y) if split.change is None else split.change(context.table, context.y)
    train, test = changed[np.ix_(split.train, selection.values)], context.table[np.ix_(split.test, selection.values)]
    if context.covariates is not None:
        train, test = (
            (sp.hstack if sp.issparse(features) else np.hstack)([features, context.covariates[rows]])
            for features, rows in ((train, split.train), (test, split.test))
        )
    used = np.arange(train.shape[1])
    model = model_on(used, context.estimator, (train, y[split.train]), split, context.task)
    return model, test if used.size else np.zeros((split.test.size, 1))


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


@contextmanager
def record_warnings() -> Iterator[list[Any]]:
    """Collect warnings instead of showing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def join_warnings(caught: Sequence[Any]) -> str:
    """Each different warning once, a line each; those meant for developers are left out."""
    for_developers = (DeprecationWarning, PendingDeprecationWarning)
    for_users = (warning for warning in caught if not issubclass(warning.category, for_developers))
    return "\n".join(dict.fromkeys(map(_format_warning, for_users)))


def _format_warning(warning: Any) -> str:
    if isinstance(warning.message, FewerFeaturesWarning):
        return warning.message.note
    return f"{warning.category.__name__}: {' '.join(str(warning.message).split())}"
