"""What one fit preferred, and what a selector offers that can fit many resamples together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from holdfast.preferences import Kind


@dataclass(frozen=True, eq=False)
class Selection:
    """What one fit preferred.

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
    """

    kind: Kind
    values: NDArray[Any]
    model: Any = None
    note: str = ""

    @classmethod
    def subset(cls, columns: Any, model: Any = None, note: str = "") -> "Selection":
        """A selection of these columns."""
        return cls("subset", np.sort(np.asarray(columns, dtype=np.int32)), model, note)

    def top(self, k: int) -> "Selection":
        """Cut a ranking or weights to the best ``k``; the lowest column wins a tie, and the note says so."""
        if self.kind == "subset":
            raise ValueError("Expected a ranking or weights to cut, got a subset, which has no order.")
        worse = self.values if self.kind == "ranking" else -self.values
        order = np.argsort(worse, kind="stable")
        k = min(k, order.size)
        tied = k < order.size and worse[order[k - 1]] == worse[order[k]]
        note = "the cut falls among tied features, and the lowest columns were taken" if tied else ""
        return Selection.subset(order[:k], note="\n".join(filter(None, [self.note, note])))


@runtime_checkable
class RefitsMany(Protocol):
    """A selector that fits many resamples, and many of its settings, in one piece of work."""

    def prepare(self, X: NDArray[np.float64], y: NDArray[Any], settings: Sequence[dict[str, Any]]) -> Any:
        """Compute what all resamples share (Gram matrix, codes, distances), without labels of held-out rows.

        If it has a further parameter ``groups``, it is told the group of each row in a study with groups.
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

        ``settings`` are all or some of those that ``prepare`` was given.

        Equal to cloning the selector, setting its parameters and fitting it to the rows of the split, one by one.
        """
        ...
