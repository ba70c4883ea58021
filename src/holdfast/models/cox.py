"""Cox's proportional hazards model with a ridge penalty, as a scikit-learn estimator; and a model of no features."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast.kernels.cox import concordance
from holdfast.kernels.jit import frozen
from holdfast.kernels.linear import UNSCALED, Cells
from holdfast.kernels.regression import ridge_risks
from holdfast.models.block import Floats
from holdfast.targets import as_survival


def concordance_score(model: Any, X: Any, y: Any) -> float:
    """Return Harrell's C of a fitted model's risks on these rows; ``nan`` without comparable pairs.

    Models that say, as those of scikit-survival do, that they predict times and no risks count by minus these.
    """
    y = np.asarray(y)
    if y.dtype.names is None:
        raise ValueError("Expected survival times for the concordance, as holdfast.survival() returns them.")
    risk = risk_sign(model) * np.asarray(model.predict(X), dtype=np.float64)
    value = float(concordance(y["time"], y["event"], risk, np.array([0, len(y)]))[0])
    if value != value:
        warnings.warn("no held-out row outlived another's event, so that the concordance is undefined", stacklevel=2)
    return value


def risk_sign(model: Any) -> int:
    """Return 1 if larger predictions mean earlier events, and -1 where a model of survival times predicts times."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return 1 if getattr(last, "_predict_risk_score", True) else -1


class _RiskModel(BaseEstimator):
    """A model of survival times that predicts risks."""

    def score(self, X: Any, y: Any) -> float:
        """Return Harrell's C of the predicted risks.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features.
        y : array
            Survival times, as :func:`holdfast.survival` returns them.

        Returns
        -------
        float
            The concordance; ``nan`` without comparable pairs.
        """
        return concordance_score(self, X, as_survival(y))


class CoxRidge(_RiskModel):
    r"""Cox's proportional hazards model with a ridge penalty, fitted to the optimum.

    Parameters
    ----------
    alpha : float, default 1.0
        Strength of the penalty: :math:`\frac{\alpha}{2} \|w\|^2` next to minus the log partial likelihood.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Log hazard ratio of each feature.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Tied times are treated as by Breslow. ``predict`` returns log risks, next to that of a row with the mean of every
    feature.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> from holdfast.models import CoxRidge
    >>> y = hf.survival([2, 3, 5, 7, 8], [1, 1, 0, 1, 1])
    >>> CoxRidge().fit([[3.0], [1], [2], [0], [1]], y).coef_.round(3)
    array([0.392])
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.
        y : array
            Survival times, as :func:`holdfast.survival` returns them.

        Returns
        -------
        CoxRidge
            Itself, fitted.
        """
        X, target = validate_data(self, X, as_survival(y), dtype=np.float64)
        if not self.alpha > 0:
            raise ValueError(f"Expected alpha above 0, got {self.alpha!r}.")
        n, d = X.shape
        integers: list[Any] = [np.ones((1, n)), [], [0, 0], [0], np.arange(d), [0, d], [0, 0]]
        cells = Cells(frozen(X, np.float64), *(frozen(values, np.int64) for values in integers))
        _, weights, failed = ridge_risks(cells, target, float(self.alpha), UNSCALED)
        if failed[0]:
            raise ValueError("Expected a Cox model at its optimum, got no convergence; standardize the columns of X.")
        self.coef_, self._mean = weights, X.mean(axis=0)
        return self

    def predict(self, X: Any) -> Floats:
        """Return the log risk of each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log risks: larger for earlier events.
        """
        check_is_fitted(self)
        return (validate_data(self, X, dtype=np.float64, reset=False) - self._mean) @ self.coef_


class EqualRisk(_RiskModel):
    """A model without features: every row has the same risk."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn nothing.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features.
        y : array
            Survival times.

        Returns
        -------
        EqualRisk
            Itself.
        """
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any) -> Floats:
        """Return the same log risk, 0, for each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Zeros.
        """
        return np.zeros(np.shape(X)[0])
