"""A block of work: select, score and describe one family on some splits, in whatever process.

:func:`run_block` gets a :class:`WorkPlan`, which every process gets once, and a :class:`Task`. Nothing in its result
depends on which splits are in a block.
"""

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from holdfast.kernels.covariates import residuals
from holdfast.kernels.effects import effect_width, held_out_effects
from holdfast.kernels.survival_curves import MIN_ROWS, curves_by_group
from holdfast.preferences import Kind
from holdfast.resampling import Perturbation, Split
from holdfast.selection import Members, Selection
from holdfast.study.data import StudyData
from holdfast.study.families import Family, FittedSplit, Order
from holdfast.study.memory import gc_paused
from holdfast.study.scoring import (
    Cell,
    CellScore,
    Coefficients,
    Failure,
    Scoring,
    join_notes,
    join_warnings,
    record_warnings,
    score_cells,
)
from holdfast.targets import Target

FastModels: TypeAlias = Literal[True, "identical", False]
MAX_CACHED_ROWS = 1_000_000
"""Up to so many rows of all splits together, splits are kept in memory instead of being made again."""


class Task(NamedTuple):
    """A family, the splits to fit it on, and the numbers of its settings."""

    family: int
    splits: tuple[int, ...]
    settings: tuple[int, ...]


class Outcome(NamedTuple):
    """What one candidate did on one split, as it is stored.

    ``kind`` is None where the selection failed, and ``values`` also where they are the beginning of a stored order.
    ``score`` has the failure and the notes of the selection, too. ``members`` are the columns among those of the
    selected features that were selected themselves, where features have several.
    """

    family: int
    candidate: int
    split: int
    seconds: float
    score: CellScore
    kind: Kind | None = None
    values: NDArray[Any] | None = None
    members: Members | None = None

    @property
    def failure(self) -> Failure | None:
        """Why the selection or its score failed; None if neither did."""
        return self.score.failure


class SplitOrder(NamedTuple):
    """An order of features on one split, and the candidates of a family that are cuts of it."""

    family: int
    candidates: tuple[int, ...]
    split: int
    order: Order


class SplitEffects(NamedTuple):
    """Effects of the features that a family selected on one split: features ascending, one row of values for each."""

    family: str
    split: int
    features: NDArray[np.int32]
    values: NDArray[np.float32]


class SplitCoefficients(NamedTuple):
    """What the model of one split does with its features: these ascending, and a coefficient for each."""

    split: int
    features: NDArray[np.int32]
    values: Coefficients


class BlockResult(NamedTuple):
    """What a block gives: outcomes of candidates, the orders they are cuts of, seconds, effects of features."""

    outcomes: list[Outcome]
    orders: list[SplitOrder]
    seconds: float = 0.0
    effects: Sequence[SplitEffects] = ()


@dataclass(kw_only=True, eq=False)
class WorkPlan:
    """What is done with the data of a study; sent to every process once.

    Attributes
    ----------
    data : StudyData
        The data.
    families : sequence of Family
        The selectors with their candidates.
    scoring : Scoring
        How selections are scored.
    perturbation : Perturbation
        What makes the splits, from their numbers and the seed.
    seed : int
        Seed of the study.
    shared : dict
        What all splits share, for each family that has work to do.
    splits : dict
        Splits of small data; other processes make their own.
    """

    data: StudyData
    families: Sequence[Family]
    scoring: Scoring
    perturbation: Perturbation
    seed: int
    shared: dict[int, Any] = field(default_factory=dict)
    splits: dict[int, Split] = field(default_factory=dict)

    def split(self, index: int) -> Split:
        """Make a split, unless it is in memory."""
        if index in self.splits:
            return self.splits[index]
        split = self.perturbation.make_split(index, self.data.samples, self.seed)
        if len(self.data.y) * self.perturbation.get_n_splits() <= MAX_CACHED_ROWS:
            self.splits[index] = split
        return split


def run_block(plan: WorkPlan, task: Task) -> BlockResult:
    """Select, score and describe one family on a block of splits."""
    family, scoring = plan.families[task.family], plan.scoring
    is_ours = family.is_ours and (scoring.estimator is None or scoring.block_model is not None)
    with gc_paused() if is_ours else nullcontext():
        return _run_block(plan, task)


def _run_block(plan: WorkPlan, task: Task) -> BlockResult:
    begun = perf_counter()
    data, family, splits = plan.data, plan.families[task.family], [plan.split(index) for index in task.splits]
    selected = list[tuple[FittedSplit, str]]()  # what the family selected on each split, and the warnings meanwhile
    with fitting():
        fits = family.run(plan.shared.get(task.family), data, splits, task.settings)
        while len(selected) < len(splits):
            with record_warnings() as caught:
                results = next(fits, None)
            if results is None:
                raise RuntimeError(f"{family.name} returned fewer results than splits.")
            notes = [join_warnings(caught)] + [""] * len(results)
            selected.extend(zip(results, notes, strict=False))
        with gc_paused():
            cells = {  # on every split, each different selection once
                _key(plan.scoring, position, candidate, fit.result): Cell(position, splits[position], fit.result)
                for position, (fitted, _) in enumerate(selected)
                for candidate, fit in fitted.fits.items()
                if isinstance(fit.result, Selection)
            }
        scored = dict(zip(cells, score_cells(data, plan.scoring, splits, list(cells.values())), strict=True))
    with gc_paused():
        outcomes = [
            outcome
            for position, (fitted, note) in enumerate(selected)
            for outcome in _make_outcomes(plan, task, position, fitted, note, scored)
        ]
        orders = [
            SplitOrder(
                task.family, tuple(cut for cut in family.orderings[number].sizes if cut in fitted.fits), split, order
            )
            for split, (fitted, _) in zip(task.splits, selected, strict=True)
            for number, order in fitted.orders.items()
        ]
        features = [
            [
                best_features(fit.result.kind, fit.result.values)
                for fit in fitted.fits.values()
                if isinstance(fit.result, Selection)
            ]
            for fitted, _ in selected
        ]
        effects = compute_effects(data, family.name, splits, features)
    return BlockResult(outcomes, orders, perf_counter() - begun, effects)


CellKey: TypeAlias = tuple[int, bytes | int]


def _key(scoring: Scoring, position: int, candidate: int, selection: Selection) -> CellKey:
    """What distinguishes models: with an estimator the selected columns, else the candidate."""
    return position, selection.values.tobytes() if scoring.trains_on(selection) else candidate


def _make_outcomes(
    plan: WorkPlan, task: Task, position: int, fitted: FittedSplit, note: str, scored: Mapping[CellKey, CellScore]
) -> Iterator[Outcome]:
    """What each candidate did on the split at this position of the block."""
    family, split = plan.families[task.family], task.splits[position]
    for candidate, (selection, seconds) in fitted.fits.items():
        if isinstance(selection, Exception):
            failed = CellScore(failure=Failure.from_exception("select", selection), note=note)
            yield Outcome(task.family, candidate, split, seconds, failed)
            continue
        score = scored[_key(plan.scoring, position, candidate, selection)]
        number = family.ordering_of.get(candidate, -1)
        order = fitted.orders.get(number)
        is_cut = order is not None and order.begins_with(selection, family.orderings[number].sizes[candidate])
        if note or selection.note:
            score = score._replace(note=join_notes([note, selection.note, score.note]))
        values = None if is_cut else selection.values  # the order is stored once for all sizes
        subset_members = selection.members if selection.kind == "subset" else None
        members = None if subset_members is None else subset_members(selection.values)
        yield Outcome(task.family, candidate, split, seconds, score, selection.kind, values, members)


# Around a block

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
    """Fit alone in this process, with BLAS on one thread, and put NumPy's random state back, which fits seed."""
    with _fit_lock, one_thread():
        before = np.random.get_state()  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(before)  # noqa: NPY002


# Effects of features

RANKED = 100
"""Of a ranking or weights, the effects of so many of the best features are stored."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
MAX_QUANTILES = 200
"""Quantiles are stored for so many features of a family: those that most splits selected."""


def best_features(kind: Kind, values: NDArray[Any]) -> NDArray[Any]:
    """The selected features; of a ranking or weights the best ones, without those that are not ordered or used."""
    if kind == "subset":
        return values
    informative = values > 0 if kind == "weighting" else (values < values.max()) | (values == 1)
    best = np.argsort(-values if kind == "weighting" else values, kind="stable")[:RANKED]
    return best[informative[best]]


def compute_effects(
    data: StudyData, family: str, splits: Sequence[Split], selected: Sequence[Sequence[NDArray[Any]]]
) -> list[SplitEffects]:
    """Effects on each split of the features in any of its lists; none on splits that test rows they were trained on.

    Of a selection that is adjusted, the effects after adjustment follow those before.
    """
    table, none = data.effect_table, np.empty(0, np.int32)
    pairs = [(split, lists) for split, lists in zip(splits, selected, strict=True) if lists]
    if table is None or not pairs:
        return []
    scored = [np.concatenate(lists) if split.holds_out else none for split, lists in pairs]
    owner = np.repeat(np.arange(len(pairs)), [columns.size for columns in scored])
    cells = np.unique(owner * table.shape[1] + np.concatenate([none, *scored]))  # of each split, features ascending
    owner, features = cells // table.shape[1], (cells % table.shape[1]).astype(np.int32)
    used, column = np.unique(features, return_inverse=True)
    values = held_out_effects(
        np.ascontiguousarray(table[:, used].T, dtype=np.float64), data.target.values, data.n_classes,
        [split.test for split, _ in pairs], owner, column,
    ).astype(np.float32)  # fmt: skip
    ends = np.searchsorted(owner, np.arange(len(pairs) + 1)).tolist()
    if data.adjusts:
        parts = [
            _adjusted_effects(data, split, np.asarray(table[:, features[begin:end]], dtype=np.float64))
            for (split, _), (begin, end) in zip(pairs, pairwise(ends), strict=True)
        ]
        values = np.hstack([values, np.concatenate(parts)])
    return [
        SplitEffects(family, split.index, features[begin:end], values[begin:end])
        for (split, _), (begin, end) in zip(pairs, pairwise(ends), strict=True)
    ]


def _adjusted_effects(data: StudyData, split: Split, values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Effects on held-out rows of what covariates and sites leave of these features (rows × features).

    What they explain is learned on the training rows: of a feature next to the classes, of a feature and of a number to
    predict each by itself. For numbers these are partial correlations.
    """
    weights, target, left = split.weights(len(data.y)), data.target.values, np.full(values.shape, np.nan)
    classes = None if data.classes is None else 1.0 * (target[:, None] == np.arange(1, data.n_classes))
    known = np.isfinite(values)
    complete = known.all(axis=0)
    left[:, complete] = residuals(values[:, complete], data.confounders, weights, classes)
    for column in np.flatnonzero(~complete & (known & (weights > 0)[:, None]).any(axis=0)):
        rows = known[:, column]
        left[rows, column] = residuals(
            values[rows, column, None], data.confounders[rows], weights[rows],
            None if classes is None else classes[rows],
        )[:, 0]  # fmt: skip
    if classes is None:
        target = residuals(target[:, None], data.confounders, weights)[:, 0]
    cells = np.zeros(values.shape[1], np.int64), np.arange(values.shape[1])
    return held_out_effects(np.ascontiguousarray(left.T), target, data.n_classes, [split.test], *cells).astype(
        np.float32
    )


def join_effects(parts: Iterable[SplitEffects]) -> list[SplitEffects]:
    """Join effects of the same family and split: those of a feature are equal, whichever candidate selected it."""
    by_split: dict[tuple[str, int], list[SplitEffects]] = {}
    for part in parts:
        by_split.setdefault((part.family, part.split), []).append(part)
    for key, same in by_split.items():
        if len(same) > 1:
            features, first = np.unique(np.concatenate([part.features for part in same]), return_index=True)
            by_split[key] = [SplitEffects(*key, features, np.concatenate([part.values for part in same])[first])]
    return [part for (part,) in by_split.values()]


def pack_effects(effects: SplitEffects) -> tuple[str, int, bytes, bytes]:
    """The row of a store that holds these effects."""
    return (
        effects.family, effects.split, effects.features.astype("<i4", copy=False).tobytes(),
        effects.values.astype("<f4", copy=False).tobytes(),
    )  # fmt: skip


def unpack_effects(row: tuple[str, int, bytes, bytes], n_classes: int, adjusted: bool) -> SplitEffects:
    """The effects in the row of a store: those before adjustment, then those after; nan if they were not computed."""
    family, split, features, values = row
    columns, width = np.frombuffer(features, dtype="<i4"), effect_width(n_classes)
    effects = np.frombuffer(values, dtype="<f4").reshape(columns.size, -1 if columns.size else width * (1 + adjusted))
    if adjusted and effects.shape[1] == width:
        effects = np.hstack([effects, np.full(effects.shape, np.nan, np.float32)])
    return SplitEffects(family, split, columns, effects)


def quantile_rows(data: StudyData, selected: Iterable[tuple[str, bytes]]) -> list[tuple[str, int, bytes]]:
    """Quantiles by group of the features that most splits selected, as rows of a store: family, feature, values.

    For survival times they are curves by groups of the feature. ``selected`` are the lists of features in the effects
    of a store, each with its family.
    """
    if data.effect_table is None:
        return []
    lists: dict[str, list[bytes]] = {}
    for family, features in selected:
        lists.setdefault(family, []).append(features)
    often: dict[str, list[int]] = {}
    for family, blobs in lists.items():
        times = np.bincount(np.frombuffer(b"".join(blobs), dtype="<i4"), minlength=len(data.names))
        most = np.argsort(-times, kind="stable")[:MAX_QUANTILES]
        often[family] = np.sort(most[times[most] > 0]).tolist()
    used = sorted(set(chain.from_iterable(often.values())))
    table = data.effect_table[:, used]
    if data.task == "survival":
        quantiles: Any = [curves_by_group(data.y, column.astype(np.float64)) for column in table.T]
    else:
        quantiles = find_quantiles(table, group_rows(data.target), data.n_classes or len(data.target.facts.groups))
    packed = dict(zip(used, (values.astype("<f8").tobytes() for values in quantiles), strict=True))
    return [(family, feature, packed[feature]) for family, features in often.items() for feature in features]


def group_rows(target: Target) -> NDArray[np.int64]:
    """The group of each row: its class, or the third of the target that it is in."""
    values = target.values
    if target.classes is not None:
        return values
    return np.searchsorted(np.quantile(values, [1 / 3, 2 / 3]), values, side="left").astype(np.int64)


def find_quantiles(table: NDArray[Any], groups: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    """Quantiles of each column in each group (columns × groups × quantiles); ``nan`` for groups of few rows.

    Groups of fewer than eight rows have none, which would be close to the values of single rows. They are rounded to
    about a hundredth of their range, so that none is the exact value of a row.
    """
    quantiles = np.full((table.shape[1], n_groups, len(QUANTILES)), np.nan)
    for group in range(n_groups):
        values = np.asarray(table[groups == group], dtype=np.float64)
        whole = np.isfinite(values).all(axis=0) & (values.shape[0] >= MIN_ROWS)
        if whole.any():
            quantiles[whole, group] = np.quantile(values[:, whole], QUANTILES, axis=0).T
        for column in np.flatnonzero(~whole):
            known = values[np.isfinite(values[:, column]), column]
            if known.size >= MIN_ROWS:
                quantiles[column, group] = np.quantile(known, QUANTILES)
    for of_column in quantiles:
        known = of_column[np.isfinite(of_column)]
        spread = float(np.ptp(known)) if known.size else 0.0
        if 0 < spread < np.inf:
            of_column[:] = np.round(of_column, 2 - math.floor(math.log10(spread)))
    return quantiles
