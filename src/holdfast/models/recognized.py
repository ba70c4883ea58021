"""Models of scikit-learn that are fitted a whole block at a time, recognized by exact type and parameters.

A recognized model is either *identical* to scikit-learn's (equal predictions, probabilities and tie-breaks; predicted
numbers equal to rounding) or fitted to the *optimum* of the same objective, where scikit-learn stops at a tolerance.
Cells that a kernel cannot answer so are marked, and are for scikit-learn. Anything else is not recognized: a subclass,
an unknown parameter or value, a callback, a request for metadata.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from holdfast.kernels.scaling import MIN_MAX, STANDARD, UNSCALED
from holdfast.models import baselines, linear, neighbors, support_vectors
from holdfast.models.block import Block, Predictions
from holdfast.models.catalog import Exactness
from holdfast.models.parameters import anything, is_flag, is_none, one_of, read_parameters


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
    if isinstance(model, linear.Logistic):
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
    parameters = read_parameters(estimator, neighbors.PARAMETERS)
    classifies = type(estimator) is KNeighborsClassifier
    if parameters is None or classifies != (n_classes > 0):
        return None
    answers = ("predict", "predict_proba") if classifies else ("predict",)
    return neighbors.Neighbors(parameters, scaling, frozenset(answers))


def _make_logistic(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, linear.LOGISTIC)
    if parameters is None or n_classes < 2:
        return None
    if parameters["solver"] == "liblinear" and (n_classes > 2 or parameters["fit_intercept"]):
        return None  # one class against the rest; an intercept that is penalized
    return linear.Logistic(parameters, scaling)


def _make_ridge(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, linear.RIDGE)
    if parameters is None or n_classes:
        return None
    exactness: Exactness = "identical" if parameters["solver"] in linear.DIRECT else "optimum"
    return linear.LeastSquares(float(parameters["alpha"]), 0.0, parameters["fit_intercept"], scaling, exactness)


def _make_least_squares(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, linear.LEAST_SQUARES)
    if parameters is None or n_classes:
        return None
    return linear.LeastSquares(0.0, float(parameters["tol"]), parameters["fit_intercept"], scaling, "identical")


def _make_class_shares(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, baselines.CLASSES)
    return None if parameters is None or not n_classes else baselines.ClassShares(parameters["strategy"])


def _make_one_number(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, baselines.NUMBERS)
    if parameters is None or n_classes:
        return None
    value = parameters.get(parameters["strategy"], 0.0)  # those that take no number have no parameter of their name
    return None if value is None else baselines.OneNumber(parameters["strategy"], float(value))


def _make_support_vectors(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, support_vectors.SVC_PARAMETERS)
    if parameters is None or n_classes != 2:
        return None
    return support_vectors.SupportVectors(float(parameters["C"]), scaling)


def _make_squared_hinge(estimator: Any, scaling: int, n_classes: int) -> BlockModel | None:
    parameters = read_parameters(estimator, support_vectors.LINEAR_SVC_PARAMETERS)
    if parameters is None or n_classes < 2:
        return None
    intercept = float(parameters["intercept_scaling"]) if parameters["fit_intercept"] else 0.0
    return support_vectors.SquaredHinge(float(parameters["C"]), intercept, scaling)


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
