"""Linear models of whole blocks, fitted to the optimum of scikit-learn's objective."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import frozen
from holdfast.kernels.least_squares import ridge_values, wide_ridge_values
from holdfast.kernels.logistic import logistic_margins, wide_logistic_margins
from holdfast.kernels.predictions import linear_values
from holdfast.kernels.ridge_settings import fit_ridge_logistic
from holdfast.kernels.scaling import MIN_MAX, STANDARD
from holdfast.kernels.softmax import softmax_margins
from holdfast.models.block import Block, Floats, Predictions
from holdfast.models.layout import count_columns, count_rows, cut_weights, lay_out_cells, smaller_sides
from holdfast.models.parameters import (
    anything,
    at_least,
    at_most,
    is_flag,
    is_none,
    is_number_or_none,
    is_positive,
    one_of,
)

LOGISTIC = {
    "C": is_positive,
    "penalty": one_of("l2", "deprecated"),
    "l1_ratio": one_of(0, 0.0, None),
    "dual": one_of(False),
    "fit_intercept": is_flag,
    "solver": one_of("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga", "liblinear"),
    "tol": at_most(1e-4),
    "max_iter": at_least(100),
    "class_weight": is_none,
    "warm_start": one_of(False),
    "multi_class": one_of("deprecated", "auto"),
    "intercept_scaling": anything,
    "random_state": anything,
    "n_jobs": is_number_or_none,
    "verbose": anything,
}
"""Parameters of LogisticRegression, and the values that are understood."""

DIRECT = "auto", "svd", "cholesky"
"""Solvers of Ridge that end at the solution; others iterate to a tolerance."""

RIDGE = {
    "alpha": is_positive,
    "fit_intercept": is_flag,
    "copy_X": is_flag,
    "positive": one_of(False),
    "solver": one_of(*DIRECT, "lsqr", "sparse_cg", "sag", "saga"),
    "tol": at_most(1e-4),
    "max_iter": is_none,
    "random_state": anything,
}
"""Parameters of Ridge, and the values that are understood."""

LEAST_SQUARES = {
    "fit_intercept": is_flag,
    "copy_X": is_flag,
    "positive": one_of(False),
    "tol": at_most(1e-6),
    "n_jobs": is_number_or_none,
}
"""Parameters of LinearRegression, and the values that are understood."""

MOST_SOFTMAX_WEIGHTS = 300
"""Weights of all classes together, up to which a multinomial cell is solved faster here than by scikit-learn."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Logistic:
    """LogisticRegression with an L2 penalty.

    Attributes
    ----------
    parameters : mapping
        As scikit-learn's class has them.
    scaling : int
        How columns are scaled before, as :mod:`holdfast.kernels.scaling` numbers it.
    device : str
        ``"cpu"``, or for two classes ``"cuda"`` or ``"torch"``: all cells at once by torch.
    answers : frozenset of str
        What the model answers.
    exactness : str
        Fitted to the optimum, where scikit-learn stops at a tolerance.
    """

    parameters: Mapping[str, Any]
    scaling: int
    device: str = "cpu"
    answers: frozenset[str] = frozenset({"predict", "decision_function", "predict_proba"})
    exactness: Literal["optimum"] = "optimum"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        """Predict the held-out rows of all cells; also tells which cells scikit-learn must answer."""
        two, weights = block.n_classes == 2, None
        if two:
            margins, given_up, weights = self._fit_two_classes(block)
        else:
            margins, given_up = self._fit_classes(block)
        probabilities = _two_shares(margins) if two else _shares(margins)
        return Predictions(
            block.starts,
            (margins > 0).astype(np.int64) if two else margins.argmax(axis=1),
            margins if "decision_function" in wanted else None,
            probabilities if "predict_proba" in wanted else None,
            weights,
        ), given_up

    def _fit_two_classes(self, block: Block) -> tuple[Floats, Mask, list[Floats]]:
        if self.device != "cpu" and self.scaling != MIN_MAX:
            return self._fit_on_device(block)
        weights = np.zeros(count_columns(block).sum())
        narrow, wide = (partial(self._call, fit, block, weights) for fit in (logistic_margins, wide_logistic_margins))
        return *fit_by_shape(block, narrow, wide), cut_weights(block, weights)

    def _fit_on_device(self, block: Block) -> tuple[Floats, Mask, list[Floats]]:
        """Fit all cells in lock-step; those that were trained on one class are left."""
        ones = block.counts @ (block.y == 1)
        both = ((ones > 0) & (ones < block.counts.sum(axis=1)))[block.splits]
        models = fit_ridge_logistic(
            block.X, 2.0 * block.y - 1, block.counts, block.splits[both].tolist(),
            [columns for columns, fits in zip(block.columns, both, strict=True) if fits], float(self.parameters["C"]),
            intercept=self.parameters["fit_intercept"], scale="split" if self.scaling == STANDARD else "full",
            device=self.device,
        )  # fmt: skip
        fitted = iter(models)
        every = [
            next(fitted) if fits else (np.zeros(own.size), 0.0) for own, fits in zip(block.columns, both, strict=True)
        ]
        given_up = ~both | np.array([not np.isfinite(intercept) for _, intercept in every], dtype=bool)
        columns = np.cumsum([0, *(own.size for own in block.columns)])
        coef, intercept = np.concatenate([coef for coef, _ in every]), [intercept for _, intercept in every]
        values = linear_values(
            block.X, block.rows, block.starts, np.concatenate(block.columns), columns, coef, intercept
        )
        return values, given_up, cut_weights(block, coef)

    def _fit_classes(self, block: Block) -> tuple[Floats, Mask]:
        n_weights = block.n_classes * (smaller_sides(block) + 1)
        margins, given_up = np.zeros((block.starts[-1], block.n_classes)), n_weights > MOST_SOFTMAX_WEIGHTS
        softmax_margins(*self._options(block), margins, given_up)
        return margins, given_up

    def _call(
        self, kernel: Callable[..., None], block: Block, weights: Floats, margins: Floats, given_up: Mask
    ) -> None:
        kernel(*self._options(block), margins, weights, given_up)

    def _options(self, block: Block) -> tuple[Any, ...]:
        C, intercept = float(self.parameters["C"]), self.parameters["fit_intercept"]
        return lay_out_cells(block), frozen(block.y, np.int64), C, intercept, self.scaling


@dataclass(frozen=True)
class LeastSquares:
    """Ridge or LinearRegression.

    Attributes
    ----------
    alpha : float
        Weight of the penalty; 0 for none.
    cut : float
        Share of the largest singular value below which scikit-learn drops others, without a penalty.
    intercept : bool
        Whether there is one.
    scaling : int
        How columns are scaled before, as :mod:`holdfast.kernels.scaling` numbers it.
    exactness : str
        Identical to scikit-learn's to rounding, or the optimum where scikit-learn's solver iterates to a tolerance.
    answers : frozenset of str
        What the model answers.
    """

    alpha: float
    cut: float
    intercept: bool
    scaling: int
    exactness: Literal["identical", "optimum"]
    answers: frozenset[str] = frozenset({"predict"})

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        """Predict the held-out rows of all cells; also tells which cells scikit-learn must answer."""
        weights = np.zeros(count_columns(block).sum())
        values, given_up = fit_by_shape(
            block,
            partial(self._call, ridge_values, block, weights),
            partial(self._call, wide_ridge_values, block, weights) if self.alpha else None,
        )
        return Predictions(block.starts, values, coefficients=cut_weights(block, weights)), given_up

    def _call(self, kernel: Callable[..., None], block: Block, weights: Floats, values: Floats, given_up: Mask) -> None:
        options = self.alpha, self.cut, self.intercept, self.scaling
        kernel(lay_out_cells(block), frozen(block.y, np.float64), *options, values, weights, given_up)


Call = Callable[[Floats, Mask], None]


def fit_by_shape(block: Block, narrow: Call, wide: Call | None) -> tuple[Floats, Mask]:
    """Fit cells with more columns than rows by another kernel, or leave them to scikit-learn if there is none.

    A kernel is called, and compiled, only if there are cells for it; those that it finds given up it leaves alone.
    """
    is_wide = count_columns(block) > count_rows(block)
    values, given_up = np.zeros(block.starts[-1]), np.zeros(block.n_cells, np.bool_)
    for call, others in ((narrow, is_wide), (wide, ~is_wide)):
        if call is None:
            given_up |= ~others
        elif not others.all():
            skipped = others.copy()
            call(values, skipped)
            given_up |= skipped & ~others
    return values, given_up


def _two_shares(margins: Floats) -> Floats:
    """Probabilities of two classes, without a large exponential."""
    small = np.exp(-np.abs(margins))
    low, high = small / (1 + small), 1 / (1 + small)
    second = np.where(margins > 0, high, low)
    return np.stack([np.where(margins > 0, low, high), second], axis=1)


def _shares(margins: Floats) -> Floats:
    """Probabilities of the classes."""
    raised = np.exp(margins - margins.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)
