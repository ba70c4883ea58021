"""Estimators from any library: seeding them, and reading what they selected once they are fitted."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.preferences import Kind
from holdfast.selection import FeatureGroups, Selection, count_for_features

Columns = NDArray[np.int64]
INNER = ("best_estimator_", "regressor_")  # where a search or a wrapper stores the estimator that it fitted


def read_selection(
    fitted: Any, names: Sequence[str], *, ordered: bool = False, groups: FeatureGroups | None = None
) -> Selection:
    """Read which features a fitted estimator selected, ranked or weighted.

    Parameters
    ----------
    fitted : estimator
        An estimator or Pipeline. Columns that a step drops count as not selected; a pipeline that selects before its
        last step, which is not a selector, selects the columns that reach that step, or one before that mixes columns.
        Columns that a step makes of one other, as a OneHotEncoder does, count for that one.
    names : sequence of str
        All columns, as they were handed over.
    ordered : bool
        Look for an order of all features (ranking, scores, coefficients, importances) before looking for a support.
    groups : FeatureGroups, optional
        The features that columns belong to; without it, each column is a feature.

    Returns
    -------
    Selection
        A subset, a ranking or weights over all features.
    """
    made, last, selected = _trace_columns(fitted, Made(np.arange(len(names)), list(names)))
    support, order = _read_support(last, made.sources.size), _read_order(last, made.sources.size)
    if selected and not ordered and support is None:
        support = np.ones(made.sources.size, dtype=bool)
    readings: list[Reading] = [order, ("subset", support)] if ordered else [("subset", support), order]
    kind, numbers = next((reading for reading in readings if reading[1] is not None), ("subset", None))
    if numbers is None:
        raise ValueError(
            f"{type(last).__name__} has no support, ranking, coefficients or importances after fitting, so its "
            "selection cannot be read; end the pipeline with a selector such as SelectFromModel."
        )
    if numbers.size != made.sources.size:
        raise ValueError(f"Expected a number for each of {made.sources.size} columns, got {numbers.size}.")
    informative = getattr(last, "informative_", None) if kind != "subset" else None
    if informative is None and kind != "subset":
        informative = numbers != 0 if kind == "weighting" else np.ones(numbers.size, dtype=bool)
    model, values = fitted if hasattr(fitted, "predict") else None, np.flatnonzero(numbers)
    chosen = Selection(kind, values if kind == "subset" else numbers, model, informative=informative)
    groups = FeatureGroups(np.arange(len(names)), list(names)) if groups is None else groups
    return count_for_features(chosen, groups.of_columns(made.sources), made.names)


class Made(NamedTuple):
    """The columns that reach a step: the column that each was made of, and their names."""

    sources: Columns
    names: list[str]

    def take(self, columns: Any) -> "Made":
        """Return some of the columns, by number or by a mask."""
        numbers = np.arange(self.sources.size)[columns]
        return Made(self.sources[numbers], [self.names[number] for number in numbers])


class MixingStepError(ValueError):
    """A step makes columns of several others, so that none of these can be named for them; ``what`` says which."""

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(
            f"Expected steps before the selection{where} that keep or drop columns or make each of one other, as "
            f"OneHotEncoder does, got {what}; put the step after the selection, or leave it out."
        )
        self.what = what


def _trace_columns(fitted: Any, made: Made) -> tuple[Made, Any, bool]:
    """Return the columns that reach the last step of a search or pipeline, that step, and if they were selected."""
    for name in INNER:
        if hasattr(fitted, name) and not hasattr(fitted, "get_support"):
            return _trace_columns(getattr(fitted, name), made)
    if not hasattr(fitted, "steps"):
        return made, fitted, False
    steps = [step for _, step in fitted.steps if step is not None and step != "passthrough"]
    last_selecting = max((number for number, step in enumerate(steps) if selects(step)), default=-1)
    for number, step in enumerate(steps[:-1]):
        try:
            made = columns_after(step, made)
        except MixingStepError:
            if not -1 < last_selecting < number:
                raise
            return made, step, True  # what comes after the selection may mix columns
    made, innermost, selected = _trace_columns(steps[-1], made)
    return made, innermost, selected or any(map(selects, steps[:-1]))


def selects(step: Any) -> bool:
    """Whether a step, fitted or not, or one inside it selects columns."""
    has_support = hasattr(step, "get_support") or _read_support(step) is not None
    return has_support or any(selects(inner) for _, inner in getattr(step, "steps", ()))


def columns_after(step: Any, made: Made) -> Made:
    """Follow the columns through one step, which may keep, drop, or make columns, each of one other.

    Steps that hand columns to others (ColumnTransformer, FeatureUnion, Pipeline) are followed into these. Any other is
    asked for the names of what it makes of columns named ``⟦0⟧``, ``⟦1⟧``, …: the one that a name has in it is the one
    that the column was made of.
    """
    support = _read_support(step, made.sources.size)
    if support is not None:
        return made.take(support)
    if hasattr(step, "steps"):
        for _, inner in step.steps:
            made = made if inner is None or inner == "passthrough" else columns_after(inner, made)
        return made
    if hasattr(step, "transformers_"):
        parts = [
            (_columns_of_part(part, made.take(_find_columns(step, columns, made))), step.output_indices_[name])
            for name, part, columns in step.transformers_
            if name in step.output_indices_ and part != "drop"
        ]
        parts = sorted((part for part in parts if part[0].sources.size), key=lambda part: part[1].start)
        return _join_made([part for part, _ in parts])
    if hasattr(step, "transformer_list"):
        return _join_made([_columns_of_part(part, made) for _, part in step.transformer_list if part != "drop"])
    from sklearn.base import OneToOneFeatureMixin

    if getattr(step, "n_features_in_", made.sources.size) == made.sources.size and (
        isinstance(step, OneToOneFeatureMixin)
    ):
        return made
    handed = np.array(getattr(step, "feature_names_in_", made.names), dtype=object)
    if len(set(made.sources.tolist())) == 1 and hasattr(step, "get_feature_names_out"):
        named = list(map(str, step.get_feature_names_out(handed)))
        return Made(np.repeat(made.sources[:1], len(named)), named)
    if not hasattr(step, "get_feature_names_out"):
        remedy = " (feature_names_out='one-to-one' would)" if hasattr(step, "feature_names_out") else ""
        raise MixingStepError(f"{type(step).__name__}, which has no get_feature_names_out to say what it makes{remedy}")
    anonymous = copy(step)
    vars(anonymous).pop("feature_names_in_", None)
    before = [f"⟦{column}⟧" for column in range(made.sources.size)]
    after = [str(name) for name in anonymous.get_feature_names_out(np.array(before, dtype=object))]
    origins = [{int(column) for column in re.findall(r"⟦(\d+)⟧", name)} for name in after]
    if not all(len(origin) == 1 for origin in origins):  # a step that names its columns by names of its own
        known = {str(name): column for column, name in enumerate(handed)}
        after = [str(name) for name in step.get_feature_names_out(handed)]
        if len(set(after)) < len(after) or not set(after) <= set(known):
            new = next((name for name in after if name not in known), after[0])
            raise MixingStepError(
                f"{type(step).__name__}, which makes the column {new!r} of several columns or does not say of which"
            )
        return made.take([known[name] for name in after])
    columns = [origin.pop() for origin in origins]
    named = [name.replace(f"⟦{column}⟧", made.names[column]) for name, column in zip(after, columns, strict=True)]
    return Made(made.sources[columns], named)


def _columns_of_part(part: Any, made: Made) -> Made:
    """Follow columns through a part of a step, which may be the word passthrough."""
    return made if part is None or isinstance(part, str) or not made.sources.size else columns_after(part, made)


def _find_columns(step: Any, columns: Any, made: Made) -> Columns:
    """The numbers of the columns that a ColumnTransformer hands to one of its parts."""
    names = list(getattr(step, "feature_names_in_", made.names))
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, slice):
        start, stop = (names.index(end) if isinstance(end, str) else end for end in (columns.start, columns.stop))
        stop = stop + 1 if isinstance(columns.stop, str) else stop  # names of a slice include the last
        columns = slice(start, stop, columns.step)
    elif not isinstance(columns, (int, np.integer)):
        listed = list(columns)
        columns = [names.index(name) for name in listed] if listed and isinstance(listed[0], str) else columns
    return np.atleast_1d(np.arange(made.sources.size)[columns if np.size(columns) else []])


def _join_made(parts: Sequence[Made]) -> Made:
    sources = np.concatenate([np.empty(0, np.int64), *(part.sources for part in parts)]).astype(np.int64)
    return Made(sources, [name for part in parts for name in part.names])


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


def _read_order(fitted: Any, n_columns: int) -> Reading:
    if hasattr(fitted, "ranking_"):
        return "ranking", np.asarray(fitted.ranking_, dtype=np.float64)
    scores = getattr(fitted, "scores_", None)
    if scores is not None and np.ndim(scores) == 1:  # larger is better, whatever the sign
        return "weighting", _replace_undefined(np.asarray(scores, dtype=np.float64))
    for name in ("scores_", "coef_", "feature_importances_"):
        weights = getattr(fitted, name, None)
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)
            if weights.ndim == 2 and weights.shape[0] == n_columns != weights.shape[1]:
                weights = weights[:, -1]  # of the strengths of a penalty, as Cox paths have, the last one predicts
            return "weighting", _magnitudes(weights)
    return "weighting", None


def _replace_undefined(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores; undefined ones become the lowest score, and at most 0."""
    missing = np.isnan(scores)
    return np.where(missing, min(0.0, scores[~missing].min(initial=0.0)), scores)


def _magnitudes(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the magnitude of each feature's weight, over all classes; undefined weights become 0."""
    weights = np.where(np.isnan(weights), 0.0, weights)
    return np.abs(weights) if weights.ndim == 1 else np.linalg.norm(weights, axis=0)


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
