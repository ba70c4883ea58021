"""What one fit selects or ranks, ties at a cut, and the interface of selectors that fit many resamples together."""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from holdfast.kernels.filters import best_of_rows
from holdfast.kernels.jit import frozen
from holdfast.kernels.tolerances import TIE
from holdfast.preferences import Kind

TIES = 2  # what a random stream is for


class FewerFeaturesWarning(UserWarning):
    """Fewer features carry information than should be selected; ``note`` says so without numbers, to be counted."""

    def __init__(self, message: str, note: str) -> None:
        super().__init__(message)
        self.note = note


def tie_ranks(n_features: int, random_state: int | None) -> NDArray[np.int32]:
    """Tie-break rank of each column among equally good ones: by column, or drawn from a seed."""
    columns, ranks = np.arange(n_features), np.empty(n_features, dtype=np.int32)
    if random_state is not None:
        stream = np.random.SeedSequence(random_state, spawn_key=(TIES,))
        np.random.default_rng(stream).shuffle(columns)
    ranks[columns] = np.arange(n_features, dtype=np.int32)
    return ranks


class Best(NamedTuple):
    """The best columns, the best first, ties decided; and whether each ties with the one that comes next."""

    order: NDArray[np.int32]
    ties: NDArray[np.bool_]

    @property
    def ties_at_cut(self) -> bool:
        """Whether columns that tie with the last one were left out."""
        return bool(self.ties.size and self.ties[-1])

    def first(self, k: int) -> "Best":
        """The best ``k`` of them."""
        return Best(self.order[:k], self.ties[:k])

    def select(self, wanted: int, random_state: int | None, rule: str, note: str = "", **more: Any) -> "Selection":
        """Select these columns; the note says if they are fewer than wanted, or if others are as good."""
        reason = fewer_note(rule) if self.order.size < wanted else ""
        if self.ties_at_cut:
            taken = "the lowest columns were taken" if random_state is None else "some of them were drawn at random"
            reason = f"the cut falls among tied features, and {taken}"
        return Selection.first(self.order, note="\n".join(filter(None, [note, reason])), **more)


def best_columns(
    weights: NDArray[np.float64],
    k: int,
    informative: NDArray[np.bool_] | None = None,
    random_state: int | None = None,
    *,
    tolerance: float = TIE,
    rounding: float = 0.0,
) -> Best:
    """Find the ``k`` columns of largest weight, without sorting all of them.

    Parameters
    ----------
    weights : ndarray
        The weight of every column, larger is better; those that are ``nan`` are the least.
    k : int
        How many, at most.
    informative : ndarray of bool, optional
        Which columns may be taken; all if not given.
    random_state : int, optional
        Seed that decides which of equally good columns come first; the lowest columns if not given.
    tolerance, rounding : float
        Weights next to each other tie if they differ by no more than this share of the smaller one, or by no more than
        ``rounding``.

    Returns
    -------
    Best
        The columns, fewer than ``k`` if fewer are informative.
    """
    (best,) = best_of_resamples(weights[None], k, None if informative is None else informative[None], [random_state],
        tolerance=tolerance, rounding=rounding)  # fmt: skip
    return best


def best_of_resamples(
    weights: NDArray[np.float64], k: int, informative: NDArray[np.bool_] | None, seeds: Sequence[int | None],
    *, tolerance: float = TIE, rounding: float = 0.0,
) -> list[Best]:  # fmt: skip
    """Find the best columns of each row of weights (resamples × columns), each by its seed, as :func:`best_columns`."""
    n, size = weights.shape
    k = min(k, size)
    if not k:
        return [Best(np.empty(0, np.int32), np.empty(0, np.bool_)) for _ in seeds]
    rows = frozen(weights, np.float64)
    masks = frozen(np.ones(weights.shape, np.bool_) if informative is None else informative, np.bool_)
    order, ties, found = np.empty((n, k), np.int32), np.zeros((n, k), np.bool_), np.zeros(n, np.int64)
    best_of_rows(rows, masks, frozen(np.empty((0, 0)), np.int32), k, tolerance, rounding, order, ties, found)
    for resample in np.flatnonzero(ties.any(axis=1)).tolist():  # only then do ranks matter
        if seeds[resample] is not None:
            ranks = frozen(tie_ranks(size, seeds[resample])[None], np.int32)
            part = slice(resample, resample + 1)
            best_of_rows(rows[part], masks[part], ranks, k, tolerance, rounding, order[part], ties[part], found[part])
    return [Best(order[row, :n], ties[row, :n]) for row, n in enumerate(found.tolist())]


def falls(
    ranked: NDArray[np.float64], tolerance: float = TIE, rounding: NDArray[np.float64] | float = 0.0
) -> NDArray[np.bool_]:
    """Where weights in falling order (last axis) are less than the one before, by more than rounding explains.

    The scale is that of the two weights compared, never that of the largest: a feature that almost is the target can
    weigh 1e13 times as much as the others, which still differ from each other.
    """
    above, below = ranked[..., :-1], ranked[..., 1:]
    with np.errstate(invalid="ignore"):  # infinite ones tie with each other
        return above - below > np.maximum(tolerance * np.minimum(np.abs(above), np.abs(below)), rounding)


@dataclass(frozen=True, eq=False)
class Selection:
    """What one fit gives: a subset, a ranking or weights of features, with the model that it fitted.

    Attributes
    ----------
    kind : {"subset", "ranking", "weighting"}
        What ``values`` are.
    values : ndarray
        The selected columns, ascending (subset); the rank of every feature, 1 is best (ranking); or the weight of every
        feature, larger is better (weighting).
    model : object, optional
        A fitted model that predicts from rows of all features; None if there is none, or if it used other features than
        the selected ones.
    note : str
        What a user should know of this fit, a line for each thing; empty for nothing.
    informative : ndarray of bool, optional
        Which features got anything else than a constant column would; a cut takes no others. All, if not given.
    order : ndarray of int, optional
        Of a subset that was cut from an order, its columns, the best first, ties decided.
    smallest : int
        The least number of the first columns of ``order`` that are what a fit of that size would select.
    whole : callable, optional
        Returns the ranking or the weights of all features that a subset was cut from.
    members : callable, optional
        Returns, for selected features, the columns that were made of them, or belong to them, and were selected;
        None where each feature is one column.
    """

    kind: Kind
    values: NDArray[Any]
    model: Any = None
    note: str = ""
    informative: NDArray[np.bool_] | None = None
    order: NDArray[np.int32] | None = None
    smallest: int = 1
    whole: "Callable[[], Selection] | None" = None
    members: "Callable[[NDArray[Any]], Members] | None" = None

    @classmethod
    def subset(cls, columns: Any, model: Any = None, note: str = "") -> "Selection":
        """A selection of these columns."""
        chosen = np.asarray(columns, dtype=np.int32)
        return cls("subset", chosen if is_rising(chosen) else np.sort(chosen), model, note)

    @classmethod
    def first(cls, order: Any, model: Any = None, note: str = "", **more: Any) -> "Selection":
        """A selection of these columns, which come the best first."""
        columns = np.asarray(order, dtype=np.int32)
        return cls("subset", np.sort(columns), model, note, order=columns, **more)

    def top(self, k: int, *, random_state: int | None = None, rule: str = "a weight of 0") -> "Selection":
        """Cut a ranking or weights to the best ``k``, or to those that carry information if these are fewer.

        Parameters
        ----------
        k : int
            How many, at most.
        random_state : int, optional
            Seed that decides which of equally good features are taken; the lowest columns if not given.
        rule : str
            What marks a feature without information, for the note.
        """
        if self.kind == "subset":
            raise ValueError("Expected a ranking or weights to cut, got a subset, which has no order.")
        better = -self.values if self.kind == "ranking" else self.values
        wanted = min(k, better.size)
        best = best_columns(better, wanted, self.informative, random_state, tolerance=0.0)
        return best.select(wanted, random_state, rule, self.note, whole=lambda: self, members=self.members)


def is_rising(columns: NDArray[Any]) -> bool:
    """Whether the numbers of columns rise; few are faster looked at one by one."""
    if columns.size > 512:
        return bool((columns[1:] > columns[:-1]).all())
    listed = columns.tolist()
    return all(map(operator.lt, listed, listed[1:]))


Members = dict[int, list[str]]
"""Names of columns, by the number of the feature that they count for."""
GroupWeight = Literal["largest", "mean"]


class FeatureGroups(NamedTuple):
    """The features that columns belong to: each column is a feature, or several form one.

    Attributes
    ----------
    feature_of : ndarray of int
        The number of the feature of each column.
    names : list of str
        Names of the features.
    weight : {"largest", "mean"}
        What a feature of several columns weighs: as much as its best column, or their mean.
    """

    feature_of: NDArray[np.int64]
    names: list[str]
    weight: GroupWeight = "largest"

    def of_columns(self, columns: NDArray[np.int64]) -> "FeatureGroups":
        """Return the features of some columns, one after the other."""
        return self._replace(feature_of=self.feature_of[columns])


def count_for_features(chosen: Selection, groups: FeatureGroups, names: Sequence[str]) -> Selection:
    """Count what was chosen of columns for the features that these belong to.

    A feature is selected if one of its columns is. It has the largest or the mean weight of its columns, the best or
    the mean of their ranks, and its place in an order is that of its first column. A feature without columns has
    weight 0, or the last rank.

    Parameters
    ----------
    chosen : Selection
        A subset, a ranking or weights of columns.
    groups : FeatureGroups
        The feature of each column.
    names : sequence of str
        Names of the columns.

    Examples
    --------
    >>> groups = FeatureGroups(np.array([0, 0, 1]), ["color", "size"])
    >>> weights = Selection("weighting", np.array([0.1, 0.7, 0.3]))
    >>> counted = count_for_features(weights, groups, ["color_red", "color_blue", "size"])
    >>> counted.values.tolist(), counted.members(np.array([0]))
    ([0.7, 0.3], {0: ['color_blue']})
    """
    feature_of, n_features = groups.feature_of, len(groups.names)
    n_columns = np.bincount(feature_of, minlength=n_features)
    other = np.array([name != groups.names[of] for name, of in zip(names, feature_of.tolist(), strict=True)], bool)
    several = bool(other.any())

    def list_members(features: NDArray[Any], columns: NDArray[Any]) -> Members:
        """The names of those of the columns that are not features themselves, by the features."""
        found: Members = {}
        for column in columns[np.isin(feature_of[columns], features) & other[columns]].tolist():
            found.setdefault(int(feature_of[column]), []).append(names[column])
        return found

    whole = chosen.whole
    common: dict[str, Any] = {
        "smallest": 1 if several else chosen.smallest,
        "whole": None if whole is None else lambda: count_for_features(whole(), groups, names),
    }
    if chosen.kind == "subset":
        order = None if chosen.order is None else pd.unique(feature_of[chosen.order]).astype(np.int32)
        if several:
            common["members"] = lambda features: list_members(features, chosen.values)
        features = np.unique(feature_of[chosen.values]).astype(np.int32)
        return replace(chosen, values=features, order=order, **common)
    informative = np.ones(feature_of.size, bool) if chosen.informative is None else chosen.informative
    carrying = np.zeros(n_features, dtype=bool)
    carrying[feature_of[informative]] = True
    sign = -1.0 if chosen.kind == "ranking" else 1.0  # of which the largest is the best
    weights = sign * np.asarray(chosen.values, dtype=np.float64)
    best = np.full(n_features, -np.inf)
    if groups.weight == "mean":
        sums = np.bincount(feature_of, weights=weights, minlength=n_features)
        best[n_columns > 0] = sums[n_columns > 0] / n_columns[n_columns > 0]
    else:
        np.maximum.at(best, feature_of, weights)
    values = sign * best
    if chosen.kind == "ranking" and several:
        values = np.asarray(rankdata(values, method="min"), dtype=np.float64)
    values[n_columns == 0] = n_features if chosen.kind == "ranking" else 0.0
    if several:

        def members(features: NDArray[Any]) -> Members:
            """Columns of these features that are as good as the worst of the features."""
            least = best[features].min(initial=np.inf) if groups.weight == "largest" else -np.inf
            return list_members(features, np.flatnonzero(informative & (weights >= least)))

        common["members"] = members
    return replace(chosen, values=values, informative=carrying, **common)


def fewer_note(rule: str) -> str:
    """Say that a selection is smaller than wanted; without numbers, so that resamples are counted together."""
    return f"fewer features than asked for carry information, and only those were selected (without: {rule})"


@runtime_checkable
class RefitsMany(Protocol):
    """Interface of a selector that fits many resamples, and many of its settings, together."""

    def prepare(self, X: NDArray[np.float64], y: NDArray[Any], settings: Sequence[dict[str, Any]]) -> Any:
        """Compute what all resamples share (Gram matrix, codes, distances), without labels of held-out rows.

        If it has a further parameter ``groups``, it gets the group of each row in a study with groups.
        """
        ...

    def refit_many(
        self,
        shared: Any,
        X: NDArray[np.float64],
        y: NDArray[Any],
        splits: Sequence[Any],
        settings: Sequence[dict[str, Any]],
    ) -> Iterator[Sequence["Selection | Exception"]]:
        """Yield, for each split, what each setting selected, or the error that stopped it.

        ``settings`` are all or some of those of ``prepare``.

        Equal to cloning the selector, setting its parameters and fitting it to the rows of the split, one by one.
        """
        ...
