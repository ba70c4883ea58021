"""What linear models do with the features they were given: a coefficient for each, in units that can be compared."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.spreads import training_spreads
from holdfast.models.coefficients import read_coefficients
from holdfast.selection import Selection
from holdfast.selectors.models import LinearClassifier, LinearRegressor

if TYPE_CHECKING:
    from holdfast.study.predicting import Cell
    from holdfast.study.work import Context

Coefficients = NDArray[np.float32]


class SplitCoefficients(NamedTuple):
    """What the model of one split does with its features: these ascending, and a coefficient for each.

    A coefficient is that of the feature in units of its standard deviation on the training rows: by how much a model's
    predicted number, or its decision value for the second of two classes, rises with it.
    """

    split: int
    features: NDArray[np.int32]
    values: Coefficients


def model_coefficients(context: "Context", selection: Selection, model: Any) -> NDArray[np.float64] | None:
    """The coefficients of the selected columns in a fitted model, and of the covariates after them; None without."""
    if selection.kind != "subset" or context.n_classes > 2:
        return None
    if type(model) in (LinearClassifier, LinearRegressor):
        return _own_coefficients(model, selection.values)
    if context.estimator is None:  # a selector's own model, of all features
        coef = read_coefficients(model, len(context.names))
        return None if coef is None else coef[selection.values]
    beside = 0 if context.covariates is None else context.covariates.shape[1]
    return read_coefficients(model, selection.values.size + beside)


def _own_coefficients(model: Any, selected: NDArray[Any]) -> NDArray[np.float64] | None:
    """Weights of the selected features in a selector's own model; 0 for those that it does not use."""
    if model.coef.shape[0] != 1:
        return None
    if np.array_equal(model.columns, selected):
        return model.coef[0]
    weight = dict(zip(model.columns.tolist(), model.coef[0].tolist(), strict=True))
    return np.array([weight.get(column, 0.0) for column in selected.tolist()])


def standardize_coefficients(
    context: "Context", cells: "Sequence[Cell]", coefficients: Sequence[NDArray[np.float64] | None] | None
) -> list[Coefficients | None]:
    """Coefficients of each cell's features, ascending, times their standard deviations on its training rows."""
    found: list[Coefficients | None] = [None] * len(cells)
    known = [] if coefficients is None else [place for place, coef in enumerate(coefficients) if coef is not None]
    known = [place for place in known if cells[place].selection.kind == "subset"]
    table = context.effect_table
    if coefficients is None or not known or table is None:
        return found
    lists = [cells[place].selection.values for place in known]
    starts = np.concatenate([[0], np.cumsum([columns.size for columns in lists])])
    columns = np.concatenate(lists)
    used, places = np.unique(columns, return_inverse=True)
    split_at = {cells[place].place: cells[place].split for place in known}
    number = {place: index for index, place in enumerate(split_at)}
    spreads = training_spreads(
        np.ascontiguousarray(table[:, used].T, dtype=np.float64),
        np.array([split.weights(table.shape[0]) for split in split_at.values()], dtype=np.float64),
        [number[cells[place].place] for place in known], places, starts,
    )  # fmt: skip
    raw = np.concatenate([coefficients[place][: own.size] for place, own in zip(known, lists, strict=True)])  # type: ignore[index]
    owner = np.repeat(np.arange(len(known)), np.diff(starts))
    values = (raw * spreads).astype(np.float32)[np.argsort(owner * (used.size + 1) + places, kind="stable")]
    for index, place in enumerate(known):
        found[place] = values[starts[index] : starts[index + 1]]
    return found
