"""Effects of selected features on the rows held out, and quantiles by class, while a study runs.

An effect belongs to a feature on a split, whichever candidate selected it, so it is stored once for all candidates of a
family. Only rows that the selection did not see count: on training rows a feature that was selected because it looks
strong there looks stronger than it is (winner's curse).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.kernels.effects import effect_width, held_out_effects
from holdfast.preferences import Kind
from holdfast.resampling import Split
from holdfast.selection import Selection

if TYPE_CHECKING:
    from holdfast.study.families import FittedSplit
    from holdfast.study.work import Context

Columns = NDArray[np.int32]

RANKED = 100
"""Of a ranking or weights, the effects of so many of the best features are stored."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
FEWEST = 8
"""Classes of fewer rows have no quantiles: these would be close to the values of single rows."""
MOST_QUANTILES = 200
"""Quantiles are stored for so many features of a family: those that most splits selected."""
THIRDS = ("lowest third", "middle third", "highest third")
"""Groups of rows by the target, where that is a number."""


class SplitEffects(NamedTuple):
    """Effects of the features that a family selected on one split: features ascending, one row of values for each."""

    family: str
    split: int
    features: Columns
    values: NDArray[np.float32]


def why_no_effects(X: Any) -> str | None:
    """Why no effects are computed for such data, in words; None if they are."""
    if sp.issparse(X):
        return "the data are a sparse matrix"
    try:
        _as_table(X)
    except (ValueError, TypeError):
        return "the features are not all numbers"
    return None


def effect_table(X: Any) -> NDArray[Any] | None:
    """The features as numbers, rows × features, as they stand in memory; None if effects are not computed for them."""
    return None if why_no_effects(X) else _as_table(X)


def _as_table(X: Any) -> NDArray[Any]:
    table = X.to_numpy() if hasattr(X, "columns") else np.asarray(X)
    return table if table.dtype.kind in "biuf" else table.astype(np.float64)


def holds_out(split: Split, n_rows: int) -> bool:
    """Whether there are held-out rows, and none of them is trained on."""
    trained = np.zeros(n_rows, dtype=bool)
    trained[split.rows] = True
    return bool(split.test.size) and not trained[split.test].any()


# While the study runs


def block_effects(
    context: "Context", family: str, splits: Sequence[Split], fitted: "Sequence[FittedSplit]"
) -> list[SplitEffects]:
    """Effects of all features that the candidates of a family selected on a block of splits."""
    if context.effect_table is None:
        return []
    selected = [
        [best_features(result.kind, result.values) for result, _ in results.fits.values() if _is_selection(result)]
        for results in fitted
    ]
    places = [place for place, lists in enumerate(selected) if lists]
    return compute_effects(context, family, [splits[place] for place in places], [selected[place] for place in places])


def _is_selection(result: Selection | Exception) -> TypeGuard[Selection]:
    return isinstance(result, Selection)


def best_features(kind: Kind, values: NDArray[Any]) -> NDArray[Any]:
    """The selected features; of a ranking or weights the best ones, without those that are not ordered or used."""
    if kind == "subset":
        return values
    informative = values > 0 if kind == "weighting" else (values < values.max()) | (values == 1)
    best = np.argsort(-values if kind == "weighting" else values, kind="stable")[:RANKED]
    return best[informative[best]]


def compute_effects(
    context: "Context", family: str, splits: Sequence[Split], selected: Sequence[Sequence[NDArray[Any]]]
) -> list[SplitEffects]:
    """Effects on each split of the features in any of its lists; none on splits that test rows they were trained on."""
    table, none = context.effect_table, np.empty(0, np.int32)
    if table is None or not splits:
        return []
    features = [
        _unite(lists) if holds_out(split, table.shape[0]) else none
        for split, lists in zip(splits, selected, strict=True)
    ]
    sizes = [columns.size for columns in features]
    used, place = np.unique(np.concatenate([none, *features]), return_inverse=True)
    values = held_out_effects(
        np.ascontiguousarray(table[:, used].T, dtype=np.float64), context.codes, context.n_classes,
        [split.test for split in splits], np.repeat(np.arange(len(splits)), sizes), place,
    ).astype(np.float32)  # fmt: skip
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [
        SplitEffects(family, split.index, columns, part)
        for split, columns, part in zip(splits, features, parts, strict=True)
    ]


def _unite(lists: Sequence[NDArray[Any]]) -> Columns:
    """The features in any list, ascending; a list names a feature once."""
    return (np.sort(lists[0]) if len(lists) == 1 else np.unique(np.concatenate(lists))).astype(np.int32)


def join_effects(parts: Iterable[SplitEffects]) -> list[SplitEffects]:
    """Join effects of the same family and split: those of a feature are equal, whoever selected it."""
    by_split: dict[tuple[str, int], list[SplitEffects]] = {}
    for part in parts:
        by_split.setdefault((part.family, part.split), []).append(part)
    return [same[0] if len(same) == 1 else _join_same(same) for same in by_split.values()]


def _join_same(parts: Sequence[SplitEffects]) -> SplitEffects:
    features, first = np.unique(np.concatenate([part.features for part in parts]), return_index=True)
    return parts[0]._replace(features=features, values=np.concatenate([part.values for part in parts])[first])


def pack_effects(effects: SplitEffects) -> tuple[str, int, bytes, bytes]:
    """The row of a store that holds these effects."""
    return (
        effects.family, effects.split, effects.features.astype("<i4", copy=False).tobytes(),
        effects.values.astype("<f4", copy=False).tobytes(),
    )  # fmt: skip


def unpack_effects(row: tuple[str, int, bytes, bytes], n_classes: int) -> SplitEffects:
    """The effects in the row of a store."""
    family, split, features, values = row
    width = effect_width(n_classes)
    return SplitEffects(
        family, split, np.frombuffer(features, dtype="<i4"), np.frombuffer(values, dtype="<f4").reshape(-1, width)
    )


# Quantiles


def group_rows(target: NDArray[Any], n_classes: int) -> NDArray[np.int64]:
    """The group of each row: its class, or the third of the target that it is in."""
    if n_classes:
        return target.astype(np.int64)
    return np.searchsorted(np.quantile(target, [1 / 3, 2 / 3]), target, side="left").astype(np.int64)


def count_features(lists: Iterable[tuple[str, bytes]], n_features: int) -> dict[str, NDArray[np.int64]]:
    """How many splits selected each feature, for each family, from the lists of effects that a store holds."""
    by_family: dict[str, list[bytes]] = {}
    for family, features in lists:
        by_family.setdefault(family, []).append(features)
    return {
        family: np.bincount(np.frombuffer(b"".join(blobs), dtype="<i4"), minlength=n_features)
        for family, blobs in by_family.items()
    }


def quantile_rows(context: "Context", counts: Mapping[str, NDArray[np.int64]]) -> list[tuple[str, int, bytes]]:
    """Quantiles by group of the features that most splits selected, as rows of a store: family, feature, values."""
    if context.effect_table is None:
        return []
    often = {
        family: np.sort([feature for feature in np.argsort(-times, kind="stable")[:MOST_QUANTILES] if times[feature]])
        for family, times in counts.items()
    }
    used = sorted(set(chain.from_iterable(columns.tolist() for columns in often.values())))
    groups = group_rows(context.codes, context.n_classes)
    quantiles = find_quantiles(context.effect_table[:, used], groups, context.n_classes or len(THIRDS))
    blobs = dict(zip(used, (values.astype("<f8").tobytes() for values in quantiles), strict=True))
    return [(family, int(feature), blobs[int(feature)]) for family, columns in often.items() for feature in columns]


def find_quantiles(table: NDArray[Any], groups: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    """Quantiles of each column in each group (columns × groups × quantiles); ``nan`` for groups of few rows.

    They are rounded to about a hundredth of their range, so that none is the exact value of a row.
    """
    quantiles = np.full((table.shape[1], n_groups, len(QUANTILES)), np.nan)
    for group in range(n_groups):
        values = np.asarray(table[groups == group], dtype=np.float64)
        whole = np.isfinite(values).all(axis=0) & (values.shape[0] >= FEWEST)
        if whole.any():
            quantiles[whole, group] = np.quantile(values[:, whole], QUANTILES, axis=0).T
        for column in np.flatnonzero(~whole):
            known = values[np.isfinite(values[:, column]), column]
            if known.size >= FEWEST:
                quantiles[column, group] = np.quantile(known, QUANTILES)
    return np.array([_round(of_column) for of_column in quantiles]).reshape(quantiles.shape)


def _round(quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round the quantiles of one feature to about a hundredth of their range."""
    known = quantiles[np.isfinite(quantiles)]
    spread = float(np.ptp(known)) if known.size else 0.0
    return quantiles if not 0 < spread < np.inf else np.round(quantiles, 2 - math.floor(math.log10(spread)))
