"""What one fit selects or ranks, ties at a cut, and the interface of selectors that fit many resamples together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from holdfast.preferences import Kind

TIES = 2  # what a random stream is for


class FewerFeaturesWarning(UserWarning):
    """Fewer features carry information than should be selected; ``note`` says so without numbers, to be counted."""

    def __init__(self, message: str, note: str) -> None:
        super().__init__(message)
        self.note = note


def tie_order(n_features: int, random_state: int | None) -> NDArray[np.int32]:
    """The turn of each column among equally good ones: by column, or drawn from a seed."""
    turns = np.empty(n_features, dtype=np.int32)
    turns[_columns_by_turn(n_features, random_state)] = np.arange(n_features, dtype=np.int32)
    return turns


def _columns_by_turn(n_features: int, random_state: int | None) -> NDArray[np.int64]:
    columns = np.arange(n_features)
    if random_state is not None:
        stream = np.random.SeedSequence(random_state, spawn_key=(TIES,))
        np.random.default_rng(stream).shuffle(columns)
    return columns


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
    """

    kind: Kind
    values: NDArray[Any]
    model: Any = None
    note: str = ""
    informative: NDArray[np.bool_] | None = None
    order: NDArray[np.int32] | None = None
    smallest: int = 1
    whole: "Callable[[], Selection] | None" = None

    @classmethod
    def subset(cls, columns: Any, model: Any = None, note: str = "") -> "Selection":
        """A selection of these columns."""
        return cls("subset", np.sort(np.asarray(columns, dtype=np.int32)), model, note)

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
        worse = self.values if self.kind == "ranking" else -self.values
        by_turn = _columns_by_turn(worse.size, random_state)
        order = by_turn[np.argsort(worse[by_turn], kind="stable")]
        if self.informative is not None:
            order = order[self.informative[order]]
        wanted = min(k, worse.size)
        note = fewer_note(rule) if order.size < wanted else ""
        if 0 < wanted < order.size and worse[order[wanted - 1]] == worse[order[wanted]]:
            taken = "the lowest columns were taken" if random_state is None else "some of them were drawn at random"
            note = f"the cut falls among tied features, and {taken}"
        return Selection.first(order[:wanted], note="\n".join(filter(None, [self.note, note])), whole=lambda: self)


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
