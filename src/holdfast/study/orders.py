"""Stored orders: the features of every fit, best first, of which selections of any size are cut when they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.preferences import Kind
from holdfast.study.candidates import Keep
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


@dataclass(frozen=True, eq=False)
class StoredOrders:
    """The orders of one ordering, by split: ``smallest``, ``complete``, ``columns``, ``kind``, ``whole``."""

    name: str  # of the candidate that asks
    table: pd.DataFrame
    n_features: int

    @cached_property
    def _columns(self) -> dict[int, Columns]:
        return {
            split: np.frombuffer(blob, dtype="<i4")
            for split, blob in zip(self.table.index.tolist(), self.table["columns"], strict=True)
        }

    def cut(self, split: int, size: int) -> Columns:
        """The best features of a fit, ascending."""
        return np.sort(self._columns[split][:size])

    def reach(self, splits: Sequence[int]) -> tuple[int, int]:
        """The least and the largest size that the orders of all these splits hold for."""
        rows = self.table.loc[list(splits)]
        lengths = [
            self.n_features if complete else self._columns[split].size
            for split, complete in zip(rows.index.tolist(), rows["complete"], strict=True)
        ]
        return int(rows["smallest"].max()), min(lengths)

    def check_size(self, size: int, splits: Sequence[int]) -> None:
        """Raise if the stored orders do not tell what a fit of this size selects."""
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"Expected a number of features of at least 1, got {size!r}.")
        least, most = self.reach(splits)
        if not least <= size <= most:
            raise UnansweredError(
                f"The stored orders of {self.name} hold for {least} to {most} features, not for {size}; run it with "
                f"{ask_for('order')} to store all of them.",
                f"only orders of {least} to {most} features were stored",
            )

    def whole(self, splits: Sequence[int], kind: Kind) -> tuple[Kind, NDArray[np.float64]]:
        """Weights or ranks of all features on these splits; ranks from orders, where these are complete."""
        rows = self.table.loc[list(splits)]
        if rows["whole"].notna().all() and (kind == "ranking" or (rows["kind"] == "weighting").all()):
            values = [unpack_weights(blob, self.n_features) for blob in rows["whole"]]
            return rows["kind"].iloc[0], np.vstack(values)
        if kind == "ranking" and rows["complete"].all() and (rows["smallest"] == 1).all():
            return "ranking", np.vstack([self._rank(self._columns[split]) for split in rows.index])
        raise no_weights(self.name, kind)

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
