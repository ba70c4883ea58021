"""Solutions of elastic nets as preferences: the columns with a weight, and the model that they make."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.elastic_net import Paths
from holdfast.selectors.base import Preference
from holdfast.selectors.copies import Exchange
from holdfast.selectors.models import LinearClassifier, LinearRegressor
from holdfast.selectors.rows import Floats, Ints, Target


class Solution(NamedTuple):
    """Weights of one problem of a resample at one lambda."""

    code: int  # of the class that the problem sets against the rest
    columns: NDArray[Any]
    coef: Floats
    intercept: float


def take_solution(paths: Paths, resample: int, place: int, code: int) -> Solution:
    """The solution of a resample at the lambda of this place on its path."""
    at = resample * paths.lambdas.shape[1] + place
    part = slice(paths.indptr[at], paths.indptr[at + 1])
    return Solution(code, paths.indices[part], paths.coefficients[part], float(paths.intercepts[resample, place]))


def make_preference(
    solutions: Sequence[Solution],
    target: Target,
    counts: Ints,
    penalty_strength: float,
    exchange: Exchange | None = None,
) -> Preference:
    """Select the columns with a weight in any problem of a resample, with the model that they make."""
    if exchange is not None:
        solutions = [Solution(at.code, *exchange.weights(at.columns, at.coef, at.intercept)) for at in solutions]
    columns = np.unique(np.concatenate([solution.columns for solution in solutions]))
    coef = np.zeros((len(solutions), columns.size))
    for row, solution in zip(coef, solutions, strict=True):
        row[np.searchsorted(columns, solution.columns)] = solution.coef
    intercept = np.array([solution.intercept for solution in solutions])
    extras: dict[str, Any] = {"penalty_strength_": penalty_strength}
    if target.classes is None:
        model: Any = LinearRegressor(columns, coef, intercept)
    else:
        codes = target.present(counts) if len(solutions) == 1 else np.array([solution.code for solution in solutions])
        model = LinearClassifier(columns, coef, intercept, target.classes[codes])
        extras["classes_"] = model.classes_
    return Preference("subset", columns, model, {**extras, "model_": model})
