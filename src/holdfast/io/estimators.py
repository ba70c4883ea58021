"""Estimators of any make: given a seed, and read once fitted (support, ranking, scores, coefficients, importances)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.preferences import Kind
from holdfast.selection import Selection

INNER = ("best_estimator_", "regressor_")  # where a search or a wrapper keeps what it fitted


def selection_of(fitted: Any, names: Sequence[str], *, ordered: bool = False) -> Selection:
    """Read what an estimator preferred among the columns it was fitted to.

    Parameters
    ----------
    fitted : estimator
        An estimator or Pipeline. Columns that a step drops count as not selected; a pipeline that selects before its
        last step, which is no selector, selects the columns that reach that step.
    names : sequence of str
        All columns, as they were handed over.
    ordered : bool
        Look for an order of all features (ranking, scores, coefficients, importances) before looking for a support.
    """
    columns, last, chosen = _followed(fitted, np.arange(len(names)), names)
    model = fitted if hasattr(fitted, "predict") else None
    if chosen and not ordered and _read_support(last, columns.size) is None:
        return Selection.subset(columns, model)
    support: Found = "subset", _read_support(last, columns.size)
    for kind, found in (_orders(last), support) if ordered else (support, _orders(last)):
        if found is not None:
            if kind == "subset":
                return Selection.subset(columns[np.flatnonzero(found)], model)
            values = _on_all_columns(kind, found, columns, len(names))
            return Selection(kind, values, model, informative=_informative(last, kind, found, columns, len(names)))
    raise ValueError(
        f"Expected an estimator with a support, ranking, coefficients or importances after fitting, got "
        f"{type(last).__name__} without any; end the pipeline with a selector such as SelectFromModel."
    )


def _followed(fitted: Any, columns: NDArray[np.int64], names: Sequence[str]) -> tuple[NDArray[np.int64], Any, bool]:
    """The columns that reach the last step of searches and pipelines, that step, and whether they were selected."""
    for name in INNER:
        if hasattr(fitted, name) and not hasattr(fitted, "get_support"):
            return _followed(getattr(fitted, name), columns, names)
    if not hasattr(fitted, "steps"):
        return columns, fitted, False
    *before, last = [step for _, step in fitted.steps if step is not None and step != "passthrough"]
    for step in before:
        columns = _columns_after(step, columns, names)
    columns, innermost, chosen = _followed(last, columns, names)
    return columns, innermost, chosen or any(map(_selects, before))


def _selects(step: Any) -> bool:
    return _read_support(step) is not None or any(_selects(inner) for _, inner in getattr(step, "steps", ()))


def _columns_after(step: Any, columns: NDArray[np.int64], names: Sequence[str]) -> NDArray[np.int64]:
    """Follow the columns through one step, which may drop some but not make new ones."""
    support = _read_support(step, columns.size)
    if support is not None:
        return columns[support]
    if getattr(step, "n_features_in_", columns.size) == columns.size and _keeps_columns(step):
        return columns
    if not hasattr(step, "get_feature_names_out"):
        raise ValueError(f"Expected steps that keep or drop columns, got {type(step).__name__}, which does not tell.")
    given = np.array([names[column] for column in columns], dtype=object)
    place = dict(zip(given, columns, strict=True))
    after = list(step.get_feature_names_out(given))
    if len(set(after)) < len(after) or not set(after) <= set(place):
        new = next((name for name in after if name not in place), after[0])
        raise ValueError(
            f"Expected steps that keep or drop columns, got {type(step).__name__}, which makes the column {new!r}; "
            "make such columns before the study (for a ColumnTransformer set verbose_feature_names_out=False)."
        )
    return np.array([place[name] for name in after], dtype=np.int64)


def _keeps_columns(step: Any) -> bool:
    from sklearn.base import OneToOneFeatureMixin

    return isinstance(step, OneToOneFeatureMixin)


Found = tuple[Kind, NDArray[Any] | None]


def _read_support(fitted: Any, n_columns: int | None = None) -> NDArray[np.bool_] | None:
    """The mask of selected columns: ``get_support()``, or ``support_`` alone; None if there is neither.

    The ``support_`` of a support vector machine holds numbers of rows, and is none.
    """
    if hasattr(fitted, "get_support"):
        return fitted.get_support()
    support = np.asarray(getattr(fitted, "support_", None))
    is_mask = support.dtype == np.bool_ and support.ndim == 1 and support.size == (n_columns or support.size)
    return support if is_mask else None


def _orders(fitted: Any) -> Found:
    if hasattr(fitted, "ranking_"):
        return "ranking", np.asarray(fitted.ranking_, dtype=np.float64)
    scores = getattr(fitted, "scores_", None)
    if scores is not None and np.ndim(scores) == 1:  # larger is better, whatever the sign
        return "weighting", _defined(np.asarray(scores, dtype=np.float64))
    for name in ("scores_", "coef_", "feature_importances_"):
        weights = getattr(fitted, name, None)
        if weights is not None:
            return "weighting", _sizes(np.asarray(weights, dtype=np.float64))
    return "weighting", None


def _defined(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores, those that are undefined the least there are, and no more than 0."""
    missing = np.isnan(scores)
    return np.where(missing, min(0.0, scores[~missing].min(initial=0.0)), scores)


def _sizes(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The size of each feature's weight, over all classes; a weight that is undefined is the least there can be."""
    weights = np.where(np.isnan(weights), 0.0, weights)
    return np.abs(weights) if weights.ndim == 1 else np.linalg.norm(weights, axis=0)


def _on_all_columns(
    kind: Kind, found: NDArray[np.float64], columns: NDArray[np.int64], n_features: int
) -> NDArray[np.float64]:
    """Give features that an earlier step dropped the last rank, or no weight."""
    if found.size != columns.size:
        raise ValueError(f"Expected a number for each of {columns.size} columns, got {found.size}.")
    dropped = n_features if kind == "ranking" else 0.0
    everywhere = np.full(n_features, dropped, dtype=np.float64)
    everywhere[columns] = found
    return everywhere


def _informative(
    fitted: Any, kind: Kind, found: NDArray[np.float64], columns: NDArray[np.int64], n_features: int
) -> NDArray[np.bool_]:
    """Which features have a weight, or are known to carry information; none that an earlier step dropped."""
    known = getattr(fitted, "informative_", None)
    mask = np.zeros(n_features, dtype=bool)
    mask[columns] = known if known is not None else (found != 0 if kind == "weighting" else True)
    return mask


def seed(estimator: Any, random_state: int, *, always: bool = False) -> None:
    """Give every part of an estimator that chooses at random a seed; one that was set stays, unless always.

    NumPy's global state is seeded too, for estimators that draw from it.
    """
    np.random.seed(random_state)  # noqa: NPY002
    parameters = estimator.get_params(deep=True)
    names = [name for name in parameters if name == "random_state" or name.endswith("__random_state")]
    chosen = {name: random_state for name in names if always or parameters[name] is None}
    if chosen:
        estimator.set_params(**chosen)


@contextmanager
def kept_global_state() -> Iterator[None]:
    """Leave NumPy's global random state as it was before."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
