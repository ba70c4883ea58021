"""Models of scikit-learn that are fitted a whole block at a time, recognized by exact type and parameters.

A recognized model is either *identical* to scikit-learn's (equal predictions, probabilities and tie-breaks; predicted
numbers equal to rounding) or fitted to the *optimum* of the same objective, where scikit-learn stops at a tolerance.
Cells that a kernel cannot answer so are marked, and are for scikit-learn. Anything else is not recognized: a subclass,
an unknown parameter or value, a callback, a request for metadata. :data:`RECOGNIZED` declares what is.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from sklearn.base import clone
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
from holdfast.kernels.regression import logistic_margins, ridge_risks, ridge_values, softmax_margins
from holdfast.kernels.ridge import fit_ridge_logistic
from holdfast.kernels.survival_curves import breslow_hazard, predict_survival
from holdfast.kernels.svm import squared_hinge_margins, svm_margins
from holdfast.models.block import SURVIVAL_FUNCTION, Block, Floats, Ints, Predictions, evaluation_times
from holdfast.models.catalog import Exactness
from holdfast.models.cox import CoxRidge

MAX_COLUMNS_OF_A_TREE = 15
"""Columns up to which scikit-learn's ``algorithm="auto"`` searches a tree, with fewer neighbors than half the rows."""
MAX_SOFTMAX_WEIGHTS = 300
"""Weights of all classes together, up to which a multinomial cell is solved faster here than by scikit-learn."""
MAX_HINGE_WEIGHTS = 300
"""Columns, or rows if these are fewer, up to which a cell with the squared hinge loss is solved here."""
DIRECT = "auto", "svd", "cholesky"
"""Solvers of Ridge that end at the solution; others iterate to a tolerance."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class BlockModel(ABC):
    """A model that is fitted to every cell of a block at once.

    Attributes
    ----------
    parameters : mapping
        As scikit-learn's class has them.
    scaling : int
        How columns are scaled before, as :mod:`holdfast.kernels.linear` numbers it.
    device : str
        ``"cpu"``; for logistic regression of two classes also ``"cuda"`` or ``"torch"``: all cells at once by torch.
    answers : frozenset of str
        Which of ``predict``, ``decision_function`` and ``predict_proba`` it has.
    exactness : str
        How its predictions compare with scikit-learn's.
    """

    parameters: Mapping[str, Any]
    scaling: int
    device: str

    answers: ClassVar[frozenset[str]]
    exactness: ClassVar[Exactness]

    def serves(self, n_classes: int) -> bool:
        """Return whether its parameters together mean what it does, for so many classes."""
        return True

    @abstractmethod
    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        """Fit all cells and predict their held-out rows; also returns which cells scikit-learn must fit instead."""


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
    if not allow:
        return None
    scaling, last = _read_steps(estimator)
    known = RECOGNIZED.get(type(last))
    if known is None or not known.least_classes <= n_classes <= known.most_classes:
        return None
    parameters = _read_parameters(last, known.parameters)
    model = None if parameters is None else known.model(parameters, scaling, device)
    if model is None or not model.serves(n_classes):
        return None
    return model if allow is True or model.exactness == "identical" else None


def _read_steps(estimator: Any) -> tuple[int, Any]:
    """How columns are scaled, and the model behind; None for the model if there is anything else."""
    if type(estimator) is not Pipeline:
        return UNSCALED, estimator
    if _read_parameters(estimator, PIPELINE) is None or len(estimator.steps) not in (1, 2):
        return UNSCALED, None
    *scalers, last = [step for _, step in estimator.steps]
    scaling = UNSCALED
    for scaler in scalers:
        scaling, checks = SCALERS.get(type(scaler), (UNSCALED, {}))
        if not checks or _read_parameters(scaler, checks) is None:
            return UNSCALED, None
    return scaling, last


Check = Callable[[Any], bool]


def _read_parameters(estimator: Any, checks: Mapping[str, Check]) -> dict[str, Any] | None:
    """Return an estimator's parameters; None if one is unknown or does not pass its check, or a clone carries more.

    Clones carry what ``set_output``, ``set_fit_request`` and callbacks leave on an estimator.
    """
    parameters, checks = estimator.get_params(deep=False), {**COMMON, **checks}
    if any(name not in checks or not checks[name](value) for name, value in parameters.items()):
        return None
    plain = type(estimator)(**parameters)
    return parameters if set(vars(clone(estimator))) == set(vars(plain)) else None


# Models without features


class ClassShares(BlockModel):
    """DummyClassifier that answers with the shares of the classes, or with the most frequent one."""

    answers = frozenset({"predict", "predict_proba"})
    exactness = "identical"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        classes = block.y[:, None] == np.arange(block.n_classes)
        totals = np.stack([counts @ classes for counts in block.counts])
        shares = totals / totals.sum(axis=1, keepdims=True)
        most = totals.argmax(axis=1)
        if self.parameters["strategy"] == "most_frequent":
            shares = np.eye(block.n_classes)[most]
        splits = _find_splits_of_rows(block)
        probabilities = shares[splits] if "predict_proba" in wanted else None
        missing = (totals == 0).any(axis=1)[block.splits]
        return Predictions(block.starts, most[splits], predict_proba=probabilities), missing


class OneNumber(BlockModel):
    """DummyRegressor."""

    answers = frozenset({"predict"})
    exactness = "identical"

    @property
    def value(self) -> Any:
        """The quantile or the constant; strategies that take no number have no parameter of their name."""
        value = self.parameters.get(self.parameters["strategy"], 0.0)
        return None if value is None else float(value)

    def serves(self, n_classes: int) -> bool:
        return self.value is not None

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        numbers = np.array([self._summarize(np.repeat(block.y, counts)) for counts in block.counts])
        return Predictions(block.starts, numbers[_find_splits_of_rows(block)]), np.zeros(block.n_cells, np.bool_)

    def _summarize(self, y: Floats) -> float:
        strategy = self.parameters["strategy"]
        if strategy == "mean":
            return float(np.average(y))
        if strategy == "median":
            return float(np.median(y))
        return float(np.percentile(y, self.value * 100.0)) if strategy == "quantile" else float(self.value)


def _find_splits_of_rows(block: Block) -> Ints:
    """The split of each held-out row of each cell."""
    return np.repeat(block.splits, np.diff(block.starts))


# Nearest neighbors


class NeighborVotes(BlockModel):
    """KNeighborsClassifier with Euclidean distances; probabilities and tie-breaks are scikit-learn's, too."""

    answers = frozenset({"predict", "predict_proba"})
    exactness = "identical"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        labels, shares = np.zeros(block.starts[-1], np.int64), np.zeros((block.starts[-1], block.n_classes))
        fallback, label_only = np.zeros(block.n_cells, np.bool_), "predict_proba" not in wanted
        options = *self._options(block), label_only
        neighbor_votes(block.cells, frozen(block.y, np.int64), *options, labels, shares, fallback)
        return Predictions(block.starts, labels, predict_proba=None if label_only else shares), fallback

    def _options(self, block: Block) -> tuple[int, int, bool, Mask]:
        """Neighbors, scaling, whether they weigh by distance, and whether scikit-learn would search a tree.

        The distances of a tree are exactly 0 between equal rows.
        """
        k, algorithm = int(self.parameters["n_neighbors"]), self.parameters["algorithm"]
        searches_trees = np.full(block.n_cells, algorithm != "brute")
        if algorithm == "auto":
            few = k < block.counts.sum(axis=1) // 2
            searches_trees = (block.n_columns <= MAX_COLUMNS_OF_A_TREE) & few[block.splits]
        return k, self.scaling, self.parameters["weights"] == "distance", searches_trees


class NeighborMeans(NeighborVotes):
    """KNeighborsRegressor with Euclidean distances."""

    answers = frozenset({"predict"})

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        numbers, fallback = np.zeros(block.starts[-1]), np.zeros(block.n_cells, np.bool_)
        neighbor_means(block.cells, frozen(block.y, np.float64), *self._options(block), numbers, fallback)
        return Predictions(block.starts, numbers), fallback


# Linear models


class LeastSquares(BlockModel):
    """Ridge, identical to scikit-learn's unless its solver iterates, or LinearRegression."""

    answers = frozenset({"predict"})

    @property
    def exactness(self) -> Exactness:  # type: ignore[override]
        """Identical to scikit-learn's to rounding, or the optimum where its solver iterates to a tolerance."""
        return "identical" if self.parameters.get("solver", "auto") in DIRECT else "optimum"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        alpha = float(self.parameters.get("alpha", 0.0))
        cut = 0.0 if alpha else float(self.parameters["tol"])  # of singular values, as shares of the largest
        options = alpha, cut, self.parameters["fit_intercept"], self.scaling
        values, fallback, weights = _fit_by_shape(block, np.float64, ridge_values, options, fits_wide=alpha > 0)
        return Predictions(block.starts, values, coefficients=weights), fallback


class Logistic(BlockModel):
    """LogisticRegression with an L2 penalty."""

    answers = frozenset({"predict", "decision_function", "predict_proba"})
    exactness = "optimum"

    def serves(self, n_classes: int) -> bool:
        liblinear = self.parameters["solver"] == "liblinear"  # one class against the rest, intercepts penalized
        return not (liblinear and (n_classes > 2 or self.parameters["fit_intercept"]))

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        options = float(self.parameters["C"]), self.parameters["fit_intercept"], self.scaling
        if block.n_classes > 2:
            margins, weights = np.zeros((block.starts[-1], block.n_classes)), None
            fallback = block.n_classes * (_count_weights(block) + 1) > MAX_SOFTMAX_WEIGHTS
            softmax_margins(block.cells, frozen(block.y, np.int64), *options, margins, fallback)
        elif self.device != "cpu" and self.scaling != MIN_MAX:
            margins, fallback, weights = self._fit_on_device(block)
        else:
            margins, fallback, weights = _fit_by_shape(block, np.int64, logistic_margins, options)
        shares = _find_shares(margins) if "predict_proba" in wanted else None
        return _classify(block, margins, wanted, weights, shares), fallback

    def _fit_on_device(self, block: Block) -> tuple[Floats, Mask, list[Floats]]:
        """Fit all cells of two classes in lock-step; those that were trained on one class are left."""
        ones = block.counts @ (block.y == 1)
        both = ((ones > 0) & (ones < block.counts.sum(axis=1)))[block.splits]
        numbers = np.flatnonzero(both).tolist()
        models = fit_ridge_logistic(
            block.X, 2.0 * block.y - 1, block.counts, block.splits[both].tolist(),
            [block.columns[cell] for cell in numbers], float(self.parameters["C"]),
            intercept=self.parameters["fit_intercept"], scale="split" if self.scaling == STANDARD else "full",
            device=self.device,
        )  # fmt: skip
        coefs, intercepts = [np.zeros(columns.size) for columns in block.columns], np.zeros(block.n_cells)
        for cell, (coef, intercept) in zip(numbers, models, strict=True):
            coefs[cell], intercepts[cell] = coef, intercept
        cells, coef = block.cells, np.concatenate(coefs)
        values = linear_values(block.X, block.rows, block.starts, cells.columns, cells.column_starts, coef, intercepts)
        return values, ~both | ~np.isfinite(intercepts), block.cut_weights(coef)


class SupportVectors(BlockModel):
    """SVC with a linear kernel and two classes."""

    answers = frozenset({"predict", "decision_function"})
    exactness = "optimum"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        margins, weights = np.zeros(block.starts[-1]), np.zeros(block.cells.columns.size)
        fallback, options = np.zeros(block.n_cells, np.bool_), (float(self.parameters["C"]), self.scaling)
        svm_margins(block.cells, frozen(block.y, np.int64), *options, margins, weights, fallback)
        return _classify(block, margins, wanted, block.cut_weights(weights)), fallback


class SquaredHinge(BlockModel):
    """LinearSVC with the squared hinge loss; more than two classes each against the others."""

    answers = frozenset({"predict", "decision_function"})
    exactness = "optimum"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        two = block.n_classes == 2
        margins = np.zeros((block.starts[-1], 1 if two else block.n_classes))
        weights, fallback = np.zeros(block.cells.columns.size), _count_weights(block) > MAX_HINGE_WEIGHTS
        intercept = float(self.parameters["intercept_scaling"]) if self.parameters["fit_intercept"] else 0.0
        options = float(self.parameters["C"]), intercept, self.scaling
        squared_hinge_margins(block.cells, frozen(block.y, np.int64), *options, margins, weights, fallback)
        if two:
            return _classify(block, margins[:, 0], wanted, block.cut_weights(weights)), fallback
        return _classify(block, margins, wanted), fallback


def _fit_by_shape(
    block: Block, target: DTypeLike, kernel: Callable[..., None], options: tuple[Any, ...], *, fits_wide: bool = True
) -> tuple[Floats, Mask, list[Floats]]:
    """Fit cells with more columns than rows apart from others, or leave them to scikit-learn.

    Returns predicted values, which cells are left, and the weights of each cell.
    """
    cells, y, is_wide = block.cells, frozen(block.y, target), block.n_columns > block.n_train_rows
    values, weights = np.zeros(block.starts[-1]), np.zeros(cells.columns.size)
    fallback = is_wide & (not fits_wide)
    for wide, others in ((None, is_wide), (True, ~is_wide | fallback)):
        if not others.all():
            skipped = others.copy()
            kernel(cells, y, *options, values, weights, skipped, wide)
            fallback |= skipped & ~others
    return values, fallback, block.cut_weights(weights)


def _count_weights(block: Block) -> Ints:
    """Return how many columns, or rows if fewer, each cell has: that many weights determine a linear model."""
    return np.minimum(block.n_columns, block.n_train_rows)


def _classify(
    block: Block,
    margins: Floats,
    wanted: Collection[str],
    weights: list[Floats] | None = None,
    shares: Floats | None = None,
) -> Predictions:
    """Predict the second of two classes where its margin is above 0, or the class with the largest margin."""
    labels = (margins > 0).astype(np.int64) if margins.ndim == 1 else margins.argmax(axis=1)
    return Predictions(block.starts, labels, margins if "decision_function" in wanted else None, shares, weights)


def _find_shares(margins: Floats) -> Floats:
    """Return the probabilities of the classes, without a large exponential."""
    if margins.ndim == 1:
        small = np.exp(-np.abs(margins))
        low, high = small / (1 + small), 1 / (1 + small)
        return np.stack([np.where(margins > 0, low, high), np.where(margins > 0, high, low)], axis=1)
    raised = np.exp(margins - margins.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


class CoxRisks(BlockModel):
    """CoxRidge, which fits a cell by itself in the same way."""

    answers = frozenset({"predict", SURVIVAL_FUNCTION})
    exactness = "identical"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, Mask]:
        values, flat, failed = ridge_risks(block.cells, block.y, float(self.parameters["alpha"]), self.scaling)
        weights, survival = block.cut_weights(flat), None
        if SURVIVAL_FUNCTION in wanted:
            times = evaluation_times(block.y)
            survival = np.zeros((values.size, times.size))
            for cell, split in enumerate(block.splits.tolist()):
                X = block.X[:, block.columns[cell]]
                risk = (X - X[block.train(cell)].mean(axis=0)) @ weights[cell]
                hazard = breslow_hazard(block.y, risk[None], block.counts[split][None]).at(times)
                rows = slice(*block.starts[cell : cell + 2])
                survival[rows] = predict_survival(hazard, risk[block.tests[split], None])
        return Predictions(block.starts, values, coefficients=weights, predict_survival_function=survival), failed


# What is understood


def anything(value: Any) -> bool:
    """Accept a parameter that changes nothing."""
    return True


def one_of(*allowed: Any) -> Check:
    """Accept these values, of these types."""
    return lambda value: any(type(value) is type(known) and value == known for known in allowed)


def is_whole(value: Any) -> bool:
    """Accept a whole number."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Accept a number."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def is_positive(value: Any) -> bool:
    """Accept a number above 0."""
    return is_finite(value) and value > 0


def is_count(value: Any) -> bool:
    """Accept a whole number from 1."""
    return is_whole(value) and value >= 1


def or_none(check: Check) -> Check:
    """Accept None, too."""
    return lambda value: value is None or check(value)


def at_most(limit: float) -> Check:
    """Accept a positive number up to a limit, the default: a larger tolerance may be meant to stop early."""
    return lambda value: is_positive(value) and value <= limit


def at_least(limit: int) -> Check:
    """Accept a whole number from a limit, the default: fewer steps may be meant to stop early."""
    return lambda value: is_count(value) and value >= limit


NONE, FLAG, FALSE = one_of(None), one_of(True, False), one_of(False)

COMMON: dict[str, Check] = {
    "C": is_positive,
    "class_weight": NONE,
    "copy": FLAG,
    "copy_X": FLAG,
    "fit_intercept": FLAG,
    "n_jobs": or_none(is_whole),
    "positive": FALSE,
    "random_state": anything,
    "verbose": anything,
    "warm_start": FALSE,
}
"""Values that are understood of a parameter, whichever class it belongs to."""
PIPELINE = {"steps": anything, "memory": NONE, "transform_input": NONE, "verbose": FLAG}
SCALERS: dict[type, tuple[int, dict[str, Check]]] = {
    StandardScaler: (STANDARD, {"with_mean": one_of(True), "with_std": one_of(True)}),
    MinMaxScaler: (MIN_MAX, {"clip": FALSE, "feature_range": one_of((0, 1))}),
}
"""Scalers, how they scale, and the parameters that are understood besides the common ones."""
NEIGHBORS = {
    "n_neighbors": is_count,
    "weights": one_of("uniform", "distance"),
    "algorithm": one_of("auto", "ball_tree", "kd_tree", "brute"),
    "leaf_size": is_count,
    "p": one_of(2, 2.0),
    "metric": one_of("minkowski", "euclidean"),
    "metric_params": NONE,
}


class Recognized(NamedTuple):
    """What is understood of a class of scikit-learn.

    Attributes
    ----------
    model : type
        Its block form.
    least_classes, most_classes : float
        How many classes there may be; none if numbers are predicted.
    parameters : mapping
        Which values of its parameters are understood, besides the common ones.
    """

    model: type[BlockModel]
    least_classes: int
    most_classes: float
    parameters: Mapping[str, Check]


RECOGNIZED: dict[type, Recognized] = {
    KNeighborsClassifier: Recognized(NeighborVotes, 1, math.inf, NEIGHBORS),
    KNeighborsRegressor: Recognized(NeighborMeans, 0, 0, NEIGHBORS),
    LogisticRegression: Recognized(Logistic, 2, math.inf, {
        "penalty": one_of("l2", "deprecated"),
        "l1_ratio": one_of(0, 0.0, None),
        "dual": FALSE,
        "solver": one_of("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga", "liblinear"),
        "tol": at_most(1e-4),
        "max_iter": at_least(100),
        "multi_class": one_of("deprecated", "auto"),
        "intercept_scaling": anything,
    }),
    SVC: Recognized(SupportVectors, 2, 2, {
        "kernel": one_of("linear"),
        "probability": one_of(False, "deprecated"),
        "tol": at_most(1e-3),
        "max_iter": one_of(-1),
        "shrinking": FLAG,
        "break_ties": FLAG,
        "decision_function_shape": one_of("ovr", "ovo"),
        "cache_size": is_positive,
        "degree": anything,
        "gamma": one_of("scale", "auto"),
        "coef0": anything,
    }),
    LinearSVC: Recognized(SquaredHinge, 2, math.inf, {
        "penalty": one_of("l2"),
        "loss": one_of("squared_hinge"),
        "dual": one_of("auto", True, False),
        "tol": at_most(1e-4),
        "max_iter": at_least(1000),
        "intercept_scaling": is_positive,
        "multi_class": one_of("ovr"),
    }),
    Ridge: Recognized(LeastSquares, 0, 0, {
        "alpha": is_positive,
        "solver": one_of(*DIRECT, "lsqr", "sparse_cg", "sag", "saga"),
        "tol": at_most(1e-4),
        "max_iter": NONE,
    }),
    CoxRidge: Recognized(CoxRisks, 0, 0, {
        "alpha": is_positive,
    }),
    LinearRegression: Recognized(LeastSquares, 0, 0, {
        "tol": at_most(1e-6),
    }),
    DummyClassifier: Recognized(ClassShares, 1, math.inf, {
        "strategy": one_of("prior", "most_frequent"),  # a constant would be a label, not its number
        "constant": anything,
    }),
    DummyRegressor: Recognized(OneNumber, 0, 0, {
        "strategy": one_of("mean", "median", "quantile", "constant"),
        "constant": or_none(is_finite),
        "quantile": or_none(lambda value: is_finite(value) and 0 <= value <= 1),
    }),
}  # fmt: skip
"""Classes of scikit-learn and what is understood of them; a class or a parameter that is not here is not recognized."""


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
        fitted = getattr(model, "best_estimator_", model)
        *before, last = [step for _, step in fitted.steps] if isinstance(fitted, Pipeline) else [fitted]
        coef = getattr(getattr(last, "best_estimator_", last), "coef_", None)
        if coef is None:
            return None
        row = np.atleast_2d(np.asarray(coef.toarray() if sp.issparse(coef) else coef, dtype=np.float64))
        factors = [_find_factor(step) for step in before]
        if row.shape != (1, n_columns) or any(factor is None for factor in factors):
            return None
        return np.prod([row[0], *(np.broadcast_to(factor, n_columns) for factor in factors)], axis=0)
    except Exception:  # other models may have anything under these names
        return None


def _find_factor(step: Any) -> Any:
    """By what a step multiplies columns; None if it does something else to them."""
    if step in (None, "passthrough") or (type(step) in (SimpleImputer, KNNImputer) and not step.add_indicator):
        return 1.0
    if type(step) in (StandardScaler, RobustScaler, MaxAbsScaler):
        return 1.0 if step.scale_ is None else 1 / step.scale_
    return step.scale_ if type(step) is MinMaxScaler and not step.clip else None
