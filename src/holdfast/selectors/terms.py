"""Relevance, redundancy and the criteria of mRMR along one order of features, on many resamples."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from holdfast.checks import find_names
from holdfast.resampling import Bootstrap, Perturbation
from holdfast.selectors.mrmr import MRMR
from holdfast.selectors.rows import Floats

COLUMNS = ["resample", "step", "feature", "relevance", "redundancy", "difference", "quotient"]


def mrmr_terms(
    selector: MRMR,
    X: Any,
    y: Any,
    perturbation: Perturbation | None = None,
    *,
    order: Sequence[int] | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """Compute what mRMR weighs at each step of one order of features, on each of many resamples.

    How much relevance V, redundancy W, V - W and V / W vary over resamples shows how far the choice at a step depends
    on the rows at hand.

    Parameters
    ----------
    selector : MRMR
        Says how features are binned, how many are chosen, and by which criterion.
    X : array or frame of shape (n_samples, n_features)
        Finite numbers.
    y : array of shape (n_samples,)
        The classes.
    perturbation : Perturbation, optional
        Resamples of the rows; 50 bootstrap samples by default.
    order : sequence of int, optional
        Columns in the order in which they enter; by default that of the selector on all rows.
    random_state : int
        Seed of the resamples.

    Returns
    -------
    DataFrame
        One row per resample and step: ``resample``, ``step`` (from 1), ``feature``, ``relevance`` (V), ``redundancy``
        (W, 0 at the first step), ``difference`` (V - W) and ``quotient`` (V / W, infinite where W is 0).

    Raises
    ------
    ValueError
        If the perturbation changes values or labels, not only rows.

    See Also
    --------
    MRMR.score_path : Relevance and redundancy on one sample.
    holdfast.plots.plot_mrmr_terms : Draws mean and standard deviation at each step.

    References
    ----------
    Gulgezen, Cataltepe and Yu (2009), Figures 1 and 2.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> terms = hf.selectors.mrmr_terms(hf.selectors.MRMR(3), X, y, hf.Bootstrap(20))
    >>> terms.groupby("step", as_index=False)[["relevance", "redundancy", "difference"]].std().round(3)
       step  relevance  redundancy  difference
    0     1      0.028       0.000       0.028
    1     2      0.033       0.042       0.033
    2     3      0.046       0.051       0.035
    """
    names, _ = find_names(X, None, None)
    fitted = clone(selector).fit(X, y)
    columns = fitted.order_.tolist() if order is None else list(order)
    features = [names[column] if names is not None else column for column in columns]
    tables = []
    for split in (perturbation or Bootstrap(50)).splits(y, random_state=random_state):
        if split.change is not None:
            raise ValueError("Expected a perturbation that resamples rows, got one that changes values or labels.")
        V, W = fitted.score_path(X, y, columns, sample_weight=split.weights(len(y)))
        tables.append(pd.DataFrame({"resample": split.label, "feature": features, **_criteria(V, W)}))
    return pd.concat(tables, ignore_index=True)[COLUMNS]


def _criteria(V: Floats, W: Floats) -> dict[str, Any]:
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.where(W > 0, V / W, np.where(V > 0, np.inf, 0.0))
    steps = np.arange(1, V.size + 1)
    return {"step": steps, "relevance": V, "redundancy": W, "difference": V - W, "quotient": quotient}
