"""Preferences from scikit-learn's RFECV and cross_validate, or from a table of pairs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from holdfast.io.estimators import read_selection
from holdfast.io.selections import from_numbers
from holdfast.preferences import Preferences


def from_rfecv(rfecv: Any, *, features: Iterable[Any] | None = None) -> Preferences:
    """Read which features each fold of a fitted ``RFECV`` selected, at the number of features that it chose.

    Parameters
    ----------
    rfecv : sklearn.feature_selection.RFECV
        Fitted.
    features : iterable of str, optional
        Names of the features; those that it was fitted with by default.

    Returns
    -------
    Preferences
        Subsets, one run per fold.

    Raises
    ------
    ValueError
        If it is not fitted, or scikit-learn did not keep the supports of the folds.

    See Also
    --------
    from_cross_validate : What the estimators of ``cross_validate`` preferred.
    stability : Measures the stability of what is returned.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.feature_selection import RFECV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> hf.study.from_rfecv(RFECV(DecisionTreeClassifier(random_state=0), step=5).fit(X, y))
    Preferences: 5 subsets of 30 features, 5 selected each
    """
    results = getattr(rfecv, "cv_results_", None)
    if results is None:
        raise ValueError(f"Expected a fitted RFECV, got {rfecv!r} without cv_results_; call fit first.")
    folds = sorted((key for key in results if re.fullmatch(r"split\d+_support", key)), key=lambda key: int(key[5:-8]))
    if not folds:
        raise ValueError(
            "Expected the supports of each fold in cv_results_, got none; scikit-learn keeps them since 1.7: update it."
        )
    chosen = int(np.flatnonzero(np.asarray(results["n_features"]) == rfecv.n_features_)[0])
    names = getattr(rfecv, "feature_names_in_", None) if features is None else features
    matrix = np.array([results[key][chosen] for key in folds])
    return Preferences.from_matrix(matrix, features=names, labels=[f"fold {fold}" for fold in range(len(folds))])


def from_cross_validate(
    results: Mapping[str, Any] | Sequence[Any], *, features: Iterable[Any] | None = None, top: int | None = None
) -> Preferences:
    """Read what the estimators of ``cross_validate(…, return_estimator=True)`` preferred.

    Parameters
    ----------
    results : mapping or sequence of estimators
        What ``cross_validate`` returned, or fitted estimators: each with a support, ranking, coefficients or
        importances.
    features : iterable of str, optional
        Names of the features; those that the estimators were fitted with by default.
    top : int, optional
        Cut rankings, coefficients or importances to this many best features; those of weight 0 do not count, and which
        of equally good ones are taken is drawn for each fold.

    Returns
    -------
    Preferences
        Subsets, rankings or weights, one run per estimator.

    Raises
    ------
    ValueError
        If there are no fitted estimators, or they do not know their features.

    See Also
    --------
    from_rfecv : What each fold of ``RFECV`` selected.
    stability : Measures the stability of what is returned.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> fitted = cross_validate(make_pipeline(SelectKBest(k=5), RidgeClassifier()), X, y, return_estimator=True)
    >>> hf.from_cross_validate(fitted)
    Preferences: 5 subsets of 30 features, 5 selected each
    """
    estimators = results.get("estimator") if isinstance(results, Mapping) else results
    if estimators is None or not len(estimators):
        raise ValueError(
            "Expected fitted estimators, got none; call cross_validate(…, return_estimator=True) to keep them."
        )
    names, named = _names(estimators[0], features)
    selections = [read_selection(estimator, names, ordered=top is not None) for estimator in estimators]
    if top is not None:
        selections = [selection.top(top, random_state=fold) for fold, selection in enumerate(selections)]
    labels, feature_names = [f"fold {fold}" for fold in range(len(selections))], names if named else None
    kind = selections[0].kind
    if kind == "subset":
        sets = [selection.values.tolist() for selection in selections]
        indexed = Preferences.from_sets(sets, n_features=len(names), labels=labels)
        return Preferences.from_matrix(indexed.to_sparse(), features=feature_names, labels=labels)
    rows = np.vstack([selection.values for selection in selections])
    return from_numbers(kind, rows, features=feature_names, labels=labels)


def _names(estimator: Any, features: Iterable[Any] | None) -> tuple[list[str], bool]:
    """Names of the columns, and whether they are more than numbers."""
    if features is not None:
        return list(map(str, features)), True
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None:
        return list(map(str, known)), True
    number = getattr(estimator, "n_features_in_", None)
    if number is None:
        raise ValueError("Expected fitted estimators that know their features, got others; give features=.")
    return [f"x{column}" for column in range(number)], False


def from_pairs(
    pairs: pd.DataFrame,
    *,
    run: str = "run",
    feature: str = "feature",
    features: Iterable[Any] | None = None,
    n_features: int | None = None,
    runs: Iterable[Any] | None = None,
) -> Preferences:
    """Read subsets from a table with one row for each feature that a run selected.

    Parameters
    ----------
    pairs : DataFrame
        One row per run and selected feature.
    run, feature : str
        Names of its two columns.
    features : iterable of str, optional
        Names of all features that could have been selected.
    n_features : int, optional
        Their number, if names are not known.
    runs : iterable, optional
        All runs, in order: those that selected nothing have no row in the table.

    Returns
    -------
    Preferences
        Subsets, one per run, labeled by it.

    Raises
    ------
    ValueError
        If a column is missing, or a run is not among ``runs``.

    See Also
    --------
    Preferences.from_sets : The same from sets.

    Examples
    --------
    >>> import holdfast as hf
    >>> import pandas as pd
    >>> pairs = pd.DataFrame({"run": [1, 1, 2], "feature": ["age", "dose", "age"]})
    >>> hf.study.from_pairs(pairs, n_features=10)
    Preferences: 2 subsets of 10 features, 1 to 2 selected each
    """
    for column in (run, feature):
        if column not in pairs.columns:
            raise ValueError(
                f"Expected a column {column!r} in the table of pairs, got {', '.join(map(str, pairs.columns))}; name "
                "the columns with run= and feature=."
            )
    known = list(pd.unique(pairs[run])) if runs is None else list(runs)
    sets: dict[Any, list[Any]] = {label: [] for label in known}
    for label, name in zip(pairs[run].tolist(), pairs[feature].tolist(), strict=True):
        if label not in sets:
            raise ValueError(f"Expected only the runs that runs= lists, got {label!r} in the table.")
        sets[label].append(name)
    return Preferences.from_sets(sets, features=features, n_features=n_features)
