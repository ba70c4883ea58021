"""Linear models on selected columns: classifier, regressor, and prediction by the model of a selector."""

from collections.abc import Collection, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast.kernels.linear import linear_values
from holdfast.models.block import Floats, Predictions


class LinearRule(BaseEstimator):
    """Intercepts and weights of selected columns: one row for two classes or numbers, one per class for more."""

    def __init__(self, columns: NDArray[Any], coef: Floats, intercept: Floats) -> None:
        self.columns, self.coef, self.intercept = columns, np.atleast_2d(coef), np.atleast_1d(intercept)
        if not (np.isfinite(self.coef).all() and np.isfinite(self.intercept).all()):
            beyond = self.columns[~np.isfinite(self.coef).all(axis=0)]
            raise ValueError(
                f"Expected a model with finite weights, got other ones in columns {beyond.tolist()}, whose values are "
                "too small; rescale these columns."
            )

    @classmethod
    def of_finite(cls, columns: NDArray[Any], coef: Floats, intercept: Floats, **more: Any) -> Self:
        """Make a model of weights (rows × columns) and intercepts that are known to be finite."""
        model = cls.__new__(cls)
        model.__dict__.update(columns=columns, coef=coef, intercept=intercept, **more)
        return model

    def values(self, X: Any) -> Floats:
        """Weighted sums of the columns."""
        X = np.asarray(X, dtype=np.float64)
        return block_decisions([self], X, [np.arange(len(X))])


def block_decisions(models: Sequence[LinearRule], X: Floats, tests: Sequence[NDArray[Any]]) -> Floats:
    """Weighted sums of models with as many outputs, each on its rows of X; each is what the model alone computes.

    Returns
    -------
    ndarray
        One value per row, model after model, or one column per class if there are more than two.
    """
    outputs = range(len(models[0].coef))
    values = linear_values(
        X,
        np.concatenate([*tests] * len(outputs)),
        np.cumsum([0, *[rows.size for rows in tests] * len(outputs)]),
        np.concatenate([model.columns for model in models] * len(outputs)),
        np.cumsum([0, *[model.columns.size for model in models] * len(outputs)]),
        np.concatenate([model.coef[output] for output in outputs for model in models]),
        np.concatenate([model.intercept[output : output + 1] for output in outputs for model in models]),
    )
    return values if len(outputs) == 1 else values.reshape(len(outputs), -1).T


class LinearRegressor(RegressorMixin, LinearRule):
    """Predicts numbers."""

    def predict(self, X: Any) -> Floats:
        """Predicted numbers."""
        return self.values(X)


class LinearClassifier(ClassifierMixin, LinearRule):
    """Predicts classes: two by the sign, more by the largest value (one against the rest)."""

    def __init__(self, columns: NDArray[Any], coef: Floats, intercept: Floats, classes: NDArray[Any]) -> None:
        super().__init__(columns, coef, intercept)
        self.classes_ = classes

    def decision_function(self, X: Any) -> Floats:
        """Values that decide."""
        return self.values(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted classes."""
        return self.classes_[decide(self.values(X))]

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes."""
        return self.shares(self.values(X))

    def shares(self, values: Floats) -> Floats:
        """Probabilities of the classes: logistic for two, scaled to a sum of one for more."""
        return probabilities(values)


class SoftmaxClassifier(LinearClassifier):
    """Predicts more than two classes by a multinomial model."""

    def shares(self, values: Floats) -> Floats:
        """Probabilities of the classes: exponentials of the values, scaled to a sum of one."""
        return softmax(values, axis=1)


def decide(values: Floats) -> NDArray[np.int64]:
    """The number of the class of each row: of two by the sign, of more the largest value."""
    return (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)


def probabilities(values: Floats) -> Floats:
    """Probabilities of the classes: logistic for two, scaled to a sum of one for more."""
    if values.ndim == 1:
        return expit(np.stack([-values, values])).T
    separate = expit(values)
    total = separate.sum(axis=1, keepdims=True)
    return np.where(total > 0, separate / np.where(total > 0, total, 1), softmax(values, axis=1))


class Predicts:
    """Makes a selector predict by the model that it fitted, ``model_``."""

    model_: Any

    def _predicts(self) -> bool:
        """Whether there will be a model, as its parameters stand."""
        return True

    def _rows(self, X: Any) -> Floats:
        check_is_fitted(self, "support_")
        return validate_data(self, X, dtype=np.float64, reset=False)

    @available_if(lambda selector: selector._predicts())
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict with the model on the selected features.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        ndarray
            One class or number per row.
        """
        rows = self._rows(X)  # raises if there is no model yet
        return self.model_.predict(rows)

    @available_if(lambda selector: selector._predicts())
    def decision_function(self, X: Any) -> Floats:
        """Return the values by which the model on the selected features decides; for classes.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        ndarray
            One value per row; for more than two classes, one column per class.
        """
        rows = self._rows(X)  # raises if there is no model yet
        return self.model_.decision_function(rows)

    @available_if(lambda selector: selector._predicts())
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes by the model on the selected features; for classes.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        ndarray
            One column per class.
        """
        rows = self._rows(X)  # raises if there is no model yet
        return self.model_.predict_proba(rows)


def predict_rules(
    models: Sequence[LinearRule], X: Floats, tests: Sequence[NDArray[Any]], wanted: Collection[str]
) -> Predictions:
    """Ask linear models of one kind for the rows of each; every model answers as it does alone.

    Parameters
    ----------
    models : sequence of LinearClassifier or LinearRegressor
        All of one class, and of the same classes.
    X : ndarray
        All rows.
    tests : sequence of ndarray
        The rows that each model is asked for.
    wanted : collection of str
        What is asked: ``"predict"``, ``"decision_function"``, ``"predict_proba"``.

    Returns
    -------
    Predictions
        A cell for each model; classes by their numbers.
    """
    values = block_decisions(models, X, tests)
    starts = np.concatenate([[0], np.cumsum([rows.size for rows in tests])])
    if not isinstance(models[0], LinearClassifier):
        return Predictions(starts, values)
    return Predictions(
        starts,
        decide(values),
        values if "decision_function" in wanted else None,
        models[0].shares(values) if "predict_proba" in wanted else None,
    )
