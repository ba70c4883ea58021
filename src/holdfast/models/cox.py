"""Cox's proportional hazards model with a ridge penalty, as a scikit-learn estimator; and a model of no features."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast.kernels.jit import frozen
from holdfast.kernels.linear import UNSCALED, Cells
from holdfast.kernels.regression import ridge_risks
from holdfast.kernels.survival_curves import breslow_hazard, kaplan_meier, predict_survival
from holdfast.models.block import Floats
from holdfast.models.scores import score_survival
from holdfast.targets import as_survival


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
        return score_survival("concordance", self, X, as_survival(y))


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
    unique_times_ : ndarray
        The different times of the training rows.
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
        self.unique_times_, self._hazard, _ = breslow_hazard(target, ((X - self._mean) @ weights)[None])
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

    def predict_survival_function(self, X: Any, return_array: bool = True) -> Floats:
        """Return the probability of each row of being without the event at each of ``unique_times_``.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features.
        return_array : bool
            For the contract of scikit-survival's models; there is no other form.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            By Breslow's estimate of the baseline hazard, one for all strata.
        """
        return predict_survival(self._hazard, self.predict(X)[:, None])


class EqualRisk(_RiskModel):
    """A model without features: every row has the same risk."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the survival of all rows together.

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
        self.unique_times_, self._survival, _ = kaplan_meier(as_survival(y))
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

    def predict_survival_function(self, X: Any, return_array: bool = True) -> Floats:
        """Return Kaplan and Meier's estimate from the training rows, for each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features.
        return_array : bool
            As for :class:`CoxRidge`.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            The probability of no event until each of ``unique_times_``.
        """
        return np.repeat(self._survival, np.shape(X)[0], axis=0)
