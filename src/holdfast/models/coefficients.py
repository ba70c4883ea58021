"""Coefficients of fitted linear models of scikit-learn on the columns they were given, before any scaling."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

Floats = NDArray[np.float64]


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
