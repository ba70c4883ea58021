"""Linear support vector machines of whole blocks, fitted to the optimum of scikit-learn's objectives."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import frozen
from holdfast.kernels.squared_hinge import squared_hinge_margins
from holdfast.kernels.svm_cells import svm_margins
from holdfast.models.block import Block, Floats, Predictions
from holdfast.models.layout import count_columns, cut_weights, lay_out_cells, smaller_sides
from holdfast.models.parameters import anything, at_least, at_most, is_flag, is_none, is_positive, one_of

SVC_PARAMETERS = {
    "C": is_positive,
    "kernel": one_of("linear"),
    "probability": one_of(False, "deprecated"),
    "tol": at_most(1e-3),
    "class_weight": is_none,
    "max_iter": one_of(-1),
    "shrinking": is_flag,
    "break_ties": is_flag,
    "decision_function_shape": one_of("ovr", "ovo"),
    "cache_size": is_positive,
    "degree": anything,
    "gamma": one_of("scale", "auto"),
    "coef0": anything,
    "random_state": anything,
    "verbose": anything,
}
"""Parameters of SVC, and the values that are understood."""

LINEAR_SVC_PARAMETERS = {
    "C": is_positive,
    "penalty": one_of("l2"),
    "loss": one_of("squared_hinge"),
    "dual": one_of("auto", True, False),
    "tol": at_most(1e-4),
    "max_iter": at_least(1000),
    "fit_intercept": is_flag,
    "intercept_scaling": is_positive,
    "multi_class": one_of("ovr"),
    "class_weight": is_none,
    "random_state": anything,
    "verbose": anything,
}
"""Parameters of LinearSVC, and the values that are understood."""

MOST_WEIGHTS = 300
"""Columns, or rows if these are fewer, up to which a cell with the squared hinge loss is solved here."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class SupportVectors:
    """SVC with a linear kernel and two classes.

    Attributes
    ----------
    C : float
        Weight of the loss.
    scaling : int
        How columns are scaled before, as :mod:`holdfast.kernels.scaling` numbers it.
    answers : frozenset of str
        What the model answers.
    exactness : str
        Fitted to the optimum, where scikit-learn stops at a tolerance.
    """

    C: float
    scaling: int
    answers: frozenset[str] = frozenset({"predict", "decision_function"})
    exactness: Literal["optimum"] = "optimum"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        """Predict the held-out rows of all cells; also tells which cells scikit-learn must answer."""
        margins, given_up = np.zeros(block.starts[-1]), np.zeros(block.n_cells, np.bool_)
        weights = np.zeros(count_columns(block).sum())
        svm_margins(lay_out_cells(block), frozen(block.y, np.int64), self.C, self.scaling, margins, weights, given_up)
        return _as_predictions(block, margins, wanted, weights), given_up


@dataclass(frozen=True)
class SquaredHinge:
    """LinearSVC with the squared hinge loss; more than two classes each against the others.

    Attributes
    ----------
    C : float
        Weight of the loss.
    intercept : float
        The number in the column that stands for the intercept; 0 if there is none.
    scaling : int
        How columns are scaled before, as :mod:`holdfast.kernels.scaling` numbers it.
    answers : frozenset of str
        What the model answers.
    exactness : str
        Fitted to the optimum, where scikit-learn stops at a tolerance.
    """

    C: float
    intercept: float
    scaling: int
    answers: frozenset[str] = frozenset({"predict", "decision_function"})
    exactness: Literal["optimum"] = "optimum"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        """Predict the held-out rows of all cells; also tells which cells scikit-learn must answer."""
        margins = np.zeros((block.starts[-1], 1 if block.n_classes == 2 else block.n_classes))
        given_up = smaller_sides(block) > MOST_WEIGHTS
        options, weights = (self.C, self.intercept, self.scaling), np.zeros(count_columns(block).sum())
        squared_hinge_margins(lay_out_cells(block), frozen(block.y, np.int64), *options, margins, weights, given_up)
        return _as_predictions(block, margins[:, 0] if block.n_classes == 2 else margins, wanted, weights), given_up


def _as_predictions(block: Block, margins: Floats, wanted: Collection[str], weights: Floats) -> Predictions:
    two = margins.ndim == 1
    labels = (margins > 0).astype(np.int64) if two else margins.argmax(axis=1)
    return Predictions(
        block.starts,
        labels,
        margins if "decision_function" in wanted else None,
        coefficients=cut_weights(block, weights) if two else None,
    )
