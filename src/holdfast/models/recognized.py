"""Models of scikit-learn that are fitted a whole block at a time, recognized by exact type and parameters.

A recognized model is either *identical* to scikit-learn's (equal predictions, probabilities and tie-breaks; predicted
numbers equal to rounding) or fitted to the *optimum* of the same objective, where scikit-learn stops at a tolerance.
Cells that a kernel cannot answer so are marked, and are for scikit-learn. Anything else is not recognized: a subclass,
an unknown parameter or value, a callback, a request for metadata.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from holdfast.kernels.jit import frozen
from holdfast.kernels.linear import MIN_MAX, STANDARD, UNSCALED, linear_values
from holdfast.kernels.neighbors import neighbor_means, neighbor_votes
from holdfast.kernels.regression import (
    logistic_margins,
    ridge_values,
    softmax_margins,
    wide_logistic_margins,
    wide_ridge_values,
)
from holdfast.kernels.ridge import fit_ridge_logistic
from holdfast.kernels.svm import squared_hinge_margins, svm_margins
from holdfast.models.block import (
    Block,
    Floats,
    Ints,
    Predictions,
    anything,
    at_least,
    at_most,
    count_columns,
    count_rows,
    cut_weights,
    is_count,
    is_flag,
    is_none,
    is_number_or_none,
    is_positive,
    lay_out_cells,
    one_of,
    read_parameters,
    smaller_sides,
)
from holdfast.models.catalog import Exactness


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
        How columns are scaled before, as :mod:`holdfast.kernels.linear` numbers it.
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
        How columns are scaled before, as :mod:`holdfast.kernels.linear` numbers it.
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


PARAMETERS = {
    "n_neighbors": is_count,
    "weights": one_of("uniform", "distance"),
    "algorithm": one_of("auto", "ball_tree", "kd_tree", "brute"),
    "leaf_size": is_count,
    "p": one_of(2, 2.0),
    "metric": one_of("minkowski", "euclidean"),
    "metric_params": is_none,
    "n_jobs": is_number_or_none,
}
"""Parameters of both classes, and the values that are understood."""

MOST_COLUMNS_OF_A_TREE = 15
"""Columns up to which scikit-learn's ``algorithm="auto"`` searches a tree, with fewer neighbors than half the rows."""


@dataclass(frozen=True)
class Neighbors:
    """KNeighborsClassifier or KNeighborsRegressor with Euclidean distances.

    Attributes
    ----------
    parameters : mapping
        As scikit-learn's class has them.
    scaling : int
        How columns are scaled before, as :mod:`holdfast.kernels.linear` numbers it.
    answers : frozenset of str
        What the model answers.
    exactness : str
        Predictions, probabilities and tie-breaks equal scikit-learn's.
    """

    parameters: Mapping[str, Any]
    scaling: int
    answers: frozenset[str]
    exactness: Literal["identical"] = "identical"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, NDArray[np.bool_]]:
        """Predict the held-out rows of all cells; also tells which cells scikit-learn must answer."""
        cells, n = lay_out_cells(block), int(block.starts[-1])
        given_up = np.zeros(block.n_cells, np.bool_)
        k, by_distance = int(self.parameters["n_neighbors"]), self.parameters["weights"] == "distance"
        options = k, self.scaling, by_distance, self._searches_trees(block)
        if "predict_proba" not in self.answers:
            numbers = np.zeros(n)
            neighbor_means(cells, frozen(block.y, np.float64), *options, numbers, given_up)
            return Predictions(block.starts, numbers), given_up
        labels, shares = np.zeros(n, np.int64), np.zeros((n, block.n_classes))
        label_only = "predict_proba" not in wanted
        neighbor_votes(cells, frozen(block.y, np.int64), *options, label_only, labels, shares, given_up)
        return Predictions(block.starts, labels, predict_proba=None if label_only else shares), given_up

    def _searches_trees(self, block: Block) -> NDArray[np.bool_]:
        """Whether scikit-learn would search a tree, whose distances are exactly 0 between equal rows."""
        algorithm = self.parameters["algorithm"]
        if algorithm != "auto":
            return np.full(block.n_cells, algorithm != "brute")
        narrow = count_columns(block) <= MOST_COLUMNS_OF_A_TREE
        few = self.parameters["n_neighbors"] < block.counts.sum(axis=1) // 2
        return narrow & few[block.splits]


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


@dataclass(frozen=True)
class SupportVectors:
    """SVC with a linear kernel and two classes.

    Attributes
    ----------
    C : float
        Weight of the loss.
    scaling : int
        How columns are scaled before, as :mod:`holdfast.kernels.linear` numbers it.
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
        How columns are scaled before, as :mod:`holdfast.kernels.linear` numbers it.
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


class BlockModel(Protocol):
    """A model that is fitted to every cell of a block at once."""

    @property
    def exactness(self) -> Exactness:
        """How its predictions compare with scikit-learn's."""

    @property
    def answers(self) -> frozenset[str]:
        """Which of ``predict``, ``decision_function`` and ``predict_proba`` it has."""

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, NDArray[np.bool_]]:
        """Fit all cells and predict their held-out rows; also tells which cells scikit-learn must fit instead."""


SCALERS = {
    StandardScaler: (STANDARD, {"copy": is_flag, "with_mean": one_of(True), "with_std": one_of(True)}),
    MinMaxScaler: (MIN_MAX, {"copy": is_flag, "clip": one_of(False), "feature_range": one_of((0, 1))}),
}
"""Scalers, how they scale, and the parameters that are understood."""

PIPELINE = {"steps": anything, "memory": is_none, "transform_input": is_none, "verbose": is_flag}


def recognize(
    estimator: Any, n_classes: int, allow: Literal[True, "identical", False] = True, device: str = "cpu"
) -> BlockModel | None:
    """Return the block form of a scikit-learn model, alone or behind one scaler in a pipeline.

    Parameters
    ----------
    estimator : estimator
        A model; it is not changed.
    n_classes : int
        How many classes the data have; 0 if numbers are predicted.
    allow : bool or str
        Whether models may be recognized: all, those with predictions ``"identical"`` to scikit-learn's, or none.
    device : {"cpu", "cuda", "torch"}
        Where logistic regression of two classes is fitted; other models are always fitted on the processor.

    Returns
    -------
    BlockModel or None
        None if scikit-learn must fit it.
    """
    read = _read_steps(estimator) if allow else None
    make = None if read is None else MAKERS.get(type(read[1]))
    if read is None or make is None:
        return None
    model = make(read[1], read[0], n_classes)
    if isinstance(model, Logistic):
        model = replace(model, device=device)
    return model if model is None or allow is True or model.exactness == "identical" else None


def _read_steps(estimator: Any) -> tuple[int, Any] | None:
    """How columns are scaled, and the model behind; None if there is anything else."""
    if type(estimator) is not Pipeline:
        return UNSCALED, estimator
    parameters = read_parameters(estimator, PIPELINE)
    if parameters is None or len(parameters["steps"]) not in (1, 2):
        return None
    *before, model = [step for _, step in parameters["steps"]]
    scaling = UNSCALED
    for scaler in before:
        if type(scaler) not in SCALERS:
            return None
        scaling, checks = SCALERS[type(scaler)]
        if read_parameters(scaler, checks) is None:
            return None
    return scaling, model


def _make_neighbors(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, PARAMETERS)
    classifies = type(estimator) is KNeighborsClassifier
    if parameters is None or classifies != (n_classes > 0):
        return None
    answers = ("predict", "predict_proba") if classifies else ("predict",)
    return Neighbors(parameters, scaling, frozenset(answers))


def _make_logistic(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, LOGISTIC)
    if parameters is None or n_classes < 2:
        return None
    if parameters["solver"] == "liblinear" and (n_classes > 2 or parameters["fit_intercept"]):
        return None  # one class against the rest; an intercept that is penalized
    return Logistic(parameters, scaling)


def _make_ridge(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, RIDGE)
    if parameters is None or n_classes:
        return None
    exactness: Exactness = "identical" if parameters["solver"] in DIRECT else "optimum"
    return LeastSquares(float(parameters["alpha"]), 0.0, parameters["fit_intercept"], scaling, exactness)


def _make_least_squares(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, LEAST_SQUARES)
    if parameters is None or n_classes:
        return None
    return LeastSquares(0.0, float(parameters["tol"]), parameters["fit_intercept"], scaling, "identical")


def _make_class_shares(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, CLASSES)
    return None if parameters is None or not n_classes else ClassShares(parameters["strategy"])


def _make_one_number(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, NUMBERS)
    if parameters is None or n_classes:
        return None
    value = parameters.get(parameters["strategy"], 0.0)  # those that take no number have no parameter of their name
    return None if value is None else OneNumber(parameters["strategy"], float(value))


def _make_support_vectors(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, SVC_PARAMETERS)
    if parameters is None or n_classes != 2:
        return None
    return SupportVectors(float(parameters["C"]), scaling)


def _make_squared_hinge(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, LINEAR_SVC_PARAMETERS)
    if parameters is None or n_classes < 2:
        return None
    intercept = float(parameters["intercept_scaling"]) if parameters["fit_intercept"] else 0.0
    return SquaredHinge(float(parameters["C"]), intercept, scaling)


MAKERS: dict[type, Callable[[Any, int, int], BlockModel | None]] = {
    KNeighborsClassifier: _make_neighbors,
    KNeighborsRegressor: _make_neighbors,
    LogisticRegression: _make_logistic,
    SVC: _make_support_vectors,
    LinearSVC: _make_squared_hinge,
    Ridge: _make_ridge,
    LinearRegression: _make_least_squares,
    DummyClassifier: _make_class_shares,
    DummyRegressor: _make_one_number,
}
"""What makes the block form of an estimator of each class, given the way of scaling and the number of classes."""


def read_coefficients(model: Any, n_columns: int) -> Floats | None:
    """Return the coefficient of each column of a fitted model, alone, searched, or behind scalers and imputers.

    Parameters
    ----------
    model : estimator
        A fitted model.
    n_columns : int
        Number of columns that it was trained on.

    Returns
    -------
    ndarray or None
        One number per column, toward the second of two classes; None if the model is not linear, or has several rows
        of coefficients, or if there is another step before it.
    """
    try:
        *before, last = _list_steps(getattr(model, "best_estimator_", model))
        coef = getattr(getattr(last, "best_estimator_", last), "coef_", None)
        if coef is None:
            return None
        row = np.atleast_2d(np.asarray(coef.toarray() if sp.issparse(coef) else coef, dtype=np.float64))
        factors = [_find_factor(step) for step in before]
        if row.shape != (1, n_columns) or any(factor is None for factor in factors):
            return None
        return np.prod([row[0], *(np.broadcast_to(factor, n_columns) for factor in factors)], axis=0)
    except Exception:  # models of one's own may have anything under these names
        return None


def _list_steps(model: Any) -> list[Any]:
    return [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]


def _find_factor(step: Any) -> Any:
    """By what a step multiplies columns; None if it does something else to them."""
    if step in (None, "passthrough") or (type(step) in (SimpleImputer, KNNImputer) and not step.add_indicator):
        return 1.0
    if type(step) in (StandardScaler, RobustScaler, MaxAbsScaler):
        return 1.0 if step.scale_ is None else 1 / step.scale_
    return step.scale_ if type(step) is MinMaxScaler and not step.clip else None
