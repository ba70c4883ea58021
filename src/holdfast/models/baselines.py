"""Predictions from the target alone, for whole blocks, as scikit-learn's dummies make them."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.models.block import Block, Floats, Ints, Predictions
from holdfast.models.parameters import anything, one_of


def _is_plain_number(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value))


CLASSES = {"strategy": one_of("prior", "most_frequent"), "constant": anything, "random_state": anything}
"""Parameters of DummyClassifier, and the values that are understood; a constant would be a label, not its number."""

NUMBERS = {
    "strategy": one_of("mean", "median", "quantile", "constant"),
    "constant": _is_plain_number,
    "quantile": lambda value: value is None or (_is_plain_number(value) and 0 <= value <= 1),
}
"""Parameters of DummyRegressor, and the values that are understood."""


@dataclass(frozen=True)
class ClassShares:
    """DummyClassifier that answers with the shares of the classes, or with the most frequent one.

    Attributes
    ----------
    strategy : str
        ``"prior"`` or ``"most_frequent"``.
    answers : frozenset of str
        What the model answers.
    exactness : str
        Predictions and probabilities equal scikit-learn's.
    """

    strategy: str
    answers: frozenset[str] = frozenset({"predict", "predict_proba"})
    exactness: Literal["identical"] = "identical"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, NDArray[np.bool_]]:
        """Predict the held-out rows of all cells; also tells which cells scikit-learn must answer."""
        classes = block.y[:, None] == np.arange(block.n_classes)
        totals = np.stack([counts @ classes for counts in block.counts])
        shares = totals / totals.sum(axis=1, keepdims=True)
        most = totals.argmax(axis=1)
        if self.strategy == "most_frequent":
            shares = np.eye(block.n_classes)[most]
        at = _split_of_rows(block)
        probabilities = shares[at] if "predict_proba" in wanted else None
        missing = (totals == 0).any(axis=1)[block.splits]
        return Predictions(block.starts, most[at], predict_proba=probabilities), missing


@dataclass(frozen=True)
class OneNumber:
    """DummyRegressor.

    Attributes
    ----------
    strategy : str
        ``"mean"``, ``"median"``, ``"quantile"`` or ``"constant"``.
    value : float
        The quantile or the constant.
    answers : frozenset of str
        What the model answers.
    exactness : str
        Predictions equal scikit-learn's.
    """

    strategy: str
    value: float
    answers: frozenset[str] = frozenset({"predict"})
    exactness: Literal["identical"] = "identical"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, NDArray[np.bool_]]:
        """Predict the held-out rows of all cells; scikit-learn must answer none."""
        numbers = np.array([self._summarize(np.repeat(block.y, counts)) for counts in block.counts])
        return Predictions(block.starts, numbers[_split_of_rows(block)]), np.zeros(block.n_cells, np.bool_)

    def _summarize(self, y: Floats) -> float:
        if self.strategy == "mean":
            return float(np.average(y))
        if self.strategy == "median":
            return float(np.median(y))
        return float(np.percentile(y, self.value * 100.0)) if self.strategy == "quantile" else self.value


def _split_of_rows(block: Block) -> Ints:
    """The split of each held-out row of each cell."""
    return np.repeat(block.splits, np.diff(block.starts))
