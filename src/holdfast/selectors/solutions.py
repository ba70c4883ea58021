"""Solutions of elastic nets as preferences: columns with a weight, orders of entry, the choice of a strength."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.elastic_net import Paths
from holdfast.selectors.base import Preference
from holdfast.selectors.copies import Exchange
from holdfast.selectors.elimination import ranks_of
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


def order_by_entry(steps: Floats, weights: Floats, entered: NDArray[np.bool_], turns: NDArray[np.int32]) -> Preference:
    """The order of entry, features of one step by weight, then by turn; those that never enter share the last rank."""
    ranks = np.where(entered, ranks_of(np.lexsort((turns, -weights, steps))), float(steps.size))
    return Preference("ranking", ranks, extras={"n_entered_": int(entered.sum())}, informative=entered)


def note_entries(paths: Paths, resample: int, steps: Floats, weights: Floats) -> None:
    """Note when each column of a resample's path entered, and its weight then; an earlier entry stays."""
    for place in range(paths.lambdas.shape[1]):
        at = resample * paths.lambdas.shape[1] + place
        part = slice(paths.indptr[at], paths.indptr[at + 1])
        columns, sizes = paths.indices[part], np.abs(paths.standardized[part])
        new = steps[columns] > place
        weights[columns[new]] = sizes[new]
        same = steps[columns] == place  # another problem's column of this step
        weights[columns[same]] = np.maximum(weights[columns[same]], sizes[same])
        steps[columns[new]] = place


def held_out_loss(predictors: Floats, y: Floats, numbers: bool) -> Floats:
    """Half the squared error, or the logistic loss."""
    return (predictors - y) ** 2 / 2 if numbers else np.logaddexp(0, -y * predictors)


def choose_strength(losses: Floats, weights: Floats, rule: str) -> int:
    """Place of the strength of least mean loss, or of the largest one within a standard error; strengths fall."""
    share = weights / weights.sum()
    mean = share @ losses
    best = int(mean.argmin())
    if rule == "min":
        return best
    error = np.sqrt(share @ (losses[:, best] - mean[best]) ** 2 / (len(losses) - 1))
    return int(np.flatnonzero(mean <= mean[best] + error)[0])
