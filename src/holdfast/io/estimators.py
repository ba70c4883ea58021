"""Estimators from any library: seeding them, and reading what they selected once they are fitted."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.preferences import Kind
from holdfast.selection import Selection

Columns = NDArray[np.int64]
INNER = ("best_estimator_", "regressor_")  # where a search or a wrapper stores the estimator that it fitted


def read_selection(fitted: Any, names: Sequence[str], *, ordered: bool = False) -> Selection:
    """Read which features a fitted estimator selected, ranked or weighted.

    Parameters
    ----------
    fitted : estimator
        An estimator or Pipeline. Columns that a step drops count as not selected; a pipeline that selects before its
        last step, which is not a selector, selects the columns that reach that step.
    names : sequence of str
        All columns, as they were handed over.
    ordered : bool
        Look for an order of all features (ranking, scores, coefficients, importances) before looking for a support.

    Returns
    -------
    Selection
        A subset, a ranking or weights over all columns.
    """
    columns, last, selected = _trace_columns(fitted, np.arange(len(names)), names)
    model = fitted if hasattr(fitted, "predict") else None
    support: Reading = "subset", _read_support(last, columns.size)
    if selected and not ordered and support[1] is None:
        return Selection.subset(columns, model)
    for kind, numbers in (_read_order(last), support) if ordered else (support, _read_order(last)):
        if numbers is not None:
            if kind == "subset":
                return Selection.subset(columns[np.flatnonzero(numbers)], model)
            values = _on_all_columns(kind, numbers, columns, len(names))
            return Selection(kind, values, model, informative=_informative(last, kind, numbers, columns, len(names)))
    raise ValueError(
        f"{type(last).__name__} has no support, ranking, coefficients or importances after fitting, so its selection "
        "cannot be read; end the pipeline with a selector such as SelectFromModel."
    )


def _trace_columns(fitted: Any, columns: Columns, names: Sequence[str]) -> tuple[Columns, Any, bool]:
    """Return the columns that reach the last step of a search or pipeline, that step, and if they were selected."""
    for name in INNER:
        if hasattr(fitted, name) and not hasattr(fitted, "get_support"):
            return _trace_columns(getattr(fitted, name), columns, names)
    if not hasattr(fitted, "steps"):
        return columns, fitted, False
    *before, last = [step for _, step in fitted.steps if step is not None and step != "passthrough"]
    for step in before:
        columns = _columns_after(step, columns, names)
    columns, innermost, selected = _trace_columns(last, columns, names)
    return columns, innermost, selected or any(map(_selects, before))


def _selects(step: Any) -> bool:
    return _read_support(step) is not None or any(_selects(inner) for _, inner in getattr(step, "steps", ()))


def _columns_after(step: Any, columns: Columns, names: Sequence[str]) -> Columns:
    """Follow the columns through one step, which may drop some but not make new ones."""
    support = _read_support(step, columns.size)
    if support is not None:
        return columns[support]
    from sklearn.base import OneToOneFeatureMixin

    if getattr(step, "n_features_in_", columns.size) == columns.size and isinstance(step, OneToOneFeatureMixin):
        return columns
    if not hasattr(step, "get_feature_names_out"):
        raise ValueError(f"Expected steps that keep or drop columns, got {type(step).__name__}, which does not say.")
    before = np.array([names[column] for column in columns], dtype=object)
    position = dict(zip(before, columns, strict=True))
    after = list(step.get_feature_names_out(before))
    if len(set(after)) < len(after) or not set(after) <= set(position):
        new = next((name for name in after if name not in position), after[0])
        raise ValueError(
            f"Expected steps that keep or drop columns, got {type(step).__name__}, which makes the column {new!r}; "
            "make such columns before the study (for a ColumnTransformer set verbose_feature_names_out=False)."
        )
    return np.array([position[name] for name in after], dtype=np.int64)


Reading = tuple[Kind, NDArray[Any] | None]


def _read_support(fitted: Any, n_columns: int | None = None) -> NDArray[np.bool_] | None:
    """The mask of selected columns: ``get_support()``, or ``support_`` alone; None if there is neither.

    The ``support_`` of a support vector machine holds numbers of rows, and is none.
    """
    if hasattr(fitted, "get_support"):
        return fitted.get_support()
    support = np.asarray(getattr(fitted, "support_", None))
    is_mask = support.dtype == np.bool_ and support.ndim == 1 and support.size == (n_columns or support.size)
    return support if is_mask else None


def _read_order(fitted: Any) -> Reading:
    if hasattr(fitted, "ranking_"):
        return "ranking", np.asarray(fitted.ranking_, dtype=np.float64)
    scores = getattr(fitted, "scores_", None)
    if scores is not None and np.ndim(scores) == 1:  # larger is better, whatever the sign
        return "weighting", _replace_undefined(np.asarray(scores, dtype=np.float64))
    for name in ("scores_", "coef_", "feature_importances_"):
        weights = getattr(fitted, name, None)
        if weights is not None:
            return "weighting", _magnitudes(np.asarray(weights, dtype=np.float64))
    return "weighting", None


def _replace_undefined(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores; undefined ones become the lowest score, and at most 0."""
    missing = np.isnan(scores)
    return np.where(missing, min(0.0, scores[~missing].min(initial=0.0)), scores)


def _magnitudes(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the magnitude of each feature's weight, over all classes; undefined weights become 0."""
    weights = np.where(np.isnan(weights), 0.0, weights)
    return np.abs(weights) if weights.ndim == 1 else np.linalg.norm(weights, axis=0)


def _on_all_columns(kind: Kind, numbers: NDArray[np.float64], columns: Columns, n_features: int) -> NDArray[np.float64]:
    """Return ranks or weights of all features; those that an earlier step dropped get the last rank, or weight 0."""
    if numbers.size != columns.size:
        raise ValueError(f"Expected a number for each of {columns.size} columns, got {numbers.size}.")
    dropped = n_features if kind == "ranking" else 0.0
    everywhere = np.full(n_features, dropped, dtype=np.float64)
    everywhere[columns] = numbers
    return everywhere


def _informative(
    fitted: Any, kind: Kind, numbers: NDArray[np.float64], columns: Columns, n_features: int
) -> NDArray[np.bool_]:
    """Return which features have a weight or are known to carry information; dropped ones do not."""
    known = getattr(fitted, "informative_", None)
    mask = np.zeros(n_features, dtype=bool)
    mask[columns] = known if known is not None else (numbers != 0 if kind == "weighting" else True)
    return mask


def set_seeds(estimator: Any, random_state: int, *, always: bool = False) -> None:
    """Set ``random_state`` in every part of an estimator; those set by the user stay, unless ``always``.

    NumPy's global state is seeded too, for estimators that draw from it.
    """
    np.random.seed(random_state)  # noqa: NPY002
    parameters = estimator.get_params(deep=True)
    names = [name for name in parameters if name == "random_state" or name.endswith("__random_state")]
    unset = {name: random_state for name in names if always or parameters[name] is None}
    if unset:
        estimator.set_params(**unset)


@contextmanager
def preserve_random_state() -> Iterator[None]:
    """Restore NumPy's global random state afterwards."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
