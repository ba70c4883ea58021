"""Stored orders: the features of every fit, best first, of which selections of any size are cut when they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.preferences import Kind
from holdfast.study.families import Keep
from holdfast.study.store import unpack_weights

Columns = NDArray[np.int32]


class UnansweredError(ValueError):
    """A question that a study cannot answer.

    Parameters
    ----------
    message : str
        What is missing and what to do, for a caller.
    plain : str
        Why, in words for a report, without advice on calls.

    See Also
    --------
    StudyError : A study that could not be run.

    Examples
    --------
    >>> from holdfast.study import UnansweredError
    >>> UnansweredError("Run at least two resamples.", "a single resample has no stability").plain
    'a single resample has no stability'
    """

    def __init__(self, message: str, plain: str) -> None:
        super().__init__(message)
        self.plain = plain


class Sets(NamedTuple):
    """Selected features of several splits: split ``i`` selected ``indices[indptr[i]:indptr[i + 1]]``, ascending."""

    indices: Columns
    indptr: NDArray[np.int64]

    @classmethod
    def join(cls, sets: Sequence[Columns]) -> "Sets":
        """Put the selections of single splits together."""
        indptr = np.concatenate([[0], np.cumsum([columns.size for columns in sets])]).astype(np.int64)
        return cls(np.concatenate([*sets, np.empty(0, np.int32)]).astype(np.int32), indptr)

    def split(self) -> list[Columns]:
        """The selection of each split."""
        return np.split(self.indices, self.indptr[1:-1]) if self.indptr.size > 1 else []


@dataclass(frozen=True, eq=False)
class StoredOrders:
    """The orders of one ordering, by split: ``smallest``, ``complete``, ``columns``, ``kind``, ``whole``."""

    table: pd.DataFrame
    n_features: int

    @cached_property
    def _columns(self) -> Columns:
        """The orders of all splits, one after the other."""
        return np.frombuffer(b"".join(self.table["columns"]), dtype="<i4")

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        return np.array([len(blob) // 4 for blob in self.table["columns"]], dtype=np.int64)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.cumsum(self._lengths) - self._lengths

    def _rows(self, splits: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of splits in the table."""
        rows = self.table.index.get_indexer(pd.Index(splits))
        if (rows < 0).any():
            raise KeyError(f"Expected orders of all splits, got none of {np.asarray(splits)[rows < 0].tolist()}.")
        return rows.astype(np.int64)

    def cut(self, splits: Sequence[int] | NDArray[np.int64], size: int) -> Sets:
        """The best features of the fit on each split, ascending."""
        rows = self._rows(splits)
        lengths = np.minimum(self._lengths[rows], size)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        if rows.size and (lengths == lengths[0]).all():
            best = self._columns[self._starts[rows][:, None] + np.arange(lengths[0])]
            return Sets(np.sort(best, axis=1).ravel(), indptr)
        owner = np.repeat(np.arange(rows.size), lengths)
        columns = self._columns[(self._starts[rows] - indptr[:-1])[owner] + np.arange(owner.size)]
        in_order = np.sort(owner * self.n_features + columns)
        return Sets((in_order - owner * self.n_features).astype(np.int32), indptr)

    def reach(self, splits: Sequence[int]) -> tuple[int, int]:
        """The least and the largest size that the orders of all these splits hold for."""
        rows = self._rows(splits)
        complete = self.table["complete"].to_numpy()[rows].astype(bool)
        lengths = np.where(complete, self.n_features, self._lengths[rows])
        return int(self.table["smallest"].to_numpy()[rows].max()), int(lengths.min())

    def check_size(self, size: int, splits: Sequence[int], name: str) -> None:
        """Raise if the stored orders do not say what a fit of this size selects; ``name`` is the candidate."""
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"Expected a number of features of at least 1, got {size!r}.")
        least, most = self.reach(splits)
        if not least <= size <= most:
            raise UnansweredError(
                f"The stored orders of {name} hold for {least} to {most} features, not for {size}; run it with "
                f"{ask_for('order')} to store all of them.",
                f"only orders of {least} to {most} features were stored",
            )

    def whole(self, splits: Sequence[int], kind: Kind, name: str) -> tuple[Kind, NDArray[np.float64]]:
        """Weights or ranks of all features on these splits; ranks from orders, where these are complete."""
        rows = self.table.loc[list(splits)]
        if rows["whole"].notna().all() and (kind == "ranking" or (rows["kind"] == "weighting").all()):
            values = [unpack_weights(blob, self.n_features) for blob in rows["whole"]]
            return rows["kind"].iloc[0], np.vstack(values)
        if kind == "ranking" and rows["complete"].all() and (rows["smallest"] == 1).all():
            return "ranking", np.vstack([self._rank(np.frombuffer(blob, dtype="<i4")) for blob in rows["columns"]])
        raise no_weights(name, kind)

    def _rank(self, columns: Columns) -> NDArray[np.float64]:
        """Ranks of an order; features that are not in it share the last."""
        ranks = np.full(self.n_features, (columns.size + 1 + self.n_features) / 2)
        ranks[columns] = np.arange(1, columns.size + 1)
        return ranks


def ask_for(keep: Keep) -> str:
    """How to ask for what was not stored."""
    return f'hf.Candidates(…, keep="{keep}")'


def no_orders(name: str) -> UnansweredError:
    """Say that nothing but selected sets was stored of a candidate."""
    return UnansweredError(
        f"{name} has no order of features in the store that could be cut to another size, only the selected ones; give "
        f"the selector sizes, or ask for the order with {ask_for('order')}.",
        "orders of features were not stored",
    )


def no_weights(name: str, kind: Kind) -> UnansweredError:
    """Say that only selections were stored of a candidate."""
    what = "weights" if kind == "weighting" else "rankings"
    return UnansweredError(
        f"{name} has no {what} of all features in the store, only selections; run it with {ask_for('weights')} to "
        "store them.",
        f"{what} of all features were not stored",
    )
