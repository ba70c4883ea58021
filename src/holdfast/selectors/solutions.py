"""Elastic nets of resamples and what is selected by them: columns with a weight, orders of entry, a chosen strength."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from holdfast.checks import is_number
from holdfast.kernels.elastic_net import Paths, elastic_net_paths
from holdfast.selectors.base import Preference, Selector
from holdfast.selectors.copies import Exchange, exchange_copies
from holdfast.selectors.models import LinearClassifier, LinearRegressor, Predicts
from holdfast.selectors.orders import Ordered
from holdfast.selectors.rows import BinaryProblem, Floats, Ints, Resamples, Target, one_against_rest

Model = Literal["auto", "logistic", "linear"]


class ElasticNetBase(Predicts, Selector):
    """An elastic net for classes or numbers: what both selectors share."""

    l1_ratio: float
    n_penalty_strengths: int
    min_penalty_ratio: float | None
    model: Model

    def _exchange(self, X: Floats, counts: Ints, seed: int | None) -> Exchange | None:
        """Which columns take the places of their copies, as a lasso gives the lowest of them all the weight."""
        return exchange_copies(X, counts, self._tie_seed(seed))

    def _target(self, y: Any) -> Target:
        if self.model not in ("auto", "logistic", "linear"):
            raise ValueError(f"Expected model='auto', 'logistic' or 'linear', got {self.model!r}.")
        numbers = self.model == "linear" or (self.model == "auto" and type_of_target(y).startswith("continuous"))
        return Target.of(y, not numbers)

    def _shared(self, X: Floats, target: Target) -> Any:
        return None

    def _problems(self, target: Target, resamples: Resamples) -> list[BinaryProblem]:
        """The two-class problems of a target, or the one of its numbers."""
        if target.classes is not None:
            return one_against_rest(target, resamples)
        return [BinaryProblem(target.values, 0, np.ones(len(resamples.seeds), dtype=bool))]

    def _paths(self, X: Floats, target: Target, problem: BinaryProblem, counts: Ints, **options: Any) -> Paths:
        family: Any = "linear" if target.classes is None else "logistic"
        return elastic_net_paths(
            X, problem.labels, counts, family=family, l1_ratio=self.l1_ratio, n_lambdas=self.n_penalty_strengths,
            lambda_min_ratio=self.min_penalty_ratio, **options,
        )  # fmt: skip


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


def make_path_preferences(
    paths: Paths, row: int, target: Target, counts: Ints, penalty_strengths: Sequence[float]
) -> list[Preference] | None:
    """The preferences of a resample's only problem at each strength, as parts of its path.

    None if a weight is not finite: then the model that is to blame says so.
    """
    n = len(penalty_strengths)
    ends = paths.indptr[row * n : (row + 1) * n + 1].tolist()
    whole, intercepts = slice(ends[0], ends[-1]), paths.intercepts[row]
    if not (np.isfinite(paths.coefficients[whole]).all() and np.isfinite(intercepts).all()):
        return None
    indices, coefficients = paths.indices, paths.coefficients[None]
    numbers = target.classes is None
    known = {} if target.classes is None else {"classes_": target.classes[target.present(counts)]}
    kind: Any = LinearRegressor if numbers else LinearClassifier
    preferences = []
    for place, (begin, end) in enumerate(pairwise(ends)):
        columns = indices[begin:end]
        model = kind.of_finite(columns, coefficients[:, begin:end], intercepts[place : place + 1], **known)
        extras = {"penalty_strength_": penalty_strengths[place], **known, "model_": model}
        preferences.append(Preference("subset", columns, model, extras))
    return preferences


def order_by_entry(steps: Floats, weights: Floats, entered: NDArray[np.bool_], turns: NDArray[np.int32]) -> Preference:
    """The order of entry, features of one step by weight, then by turn; those that never enter share the last rank."""
    columns = np.flatnonzero(entered)
    order = columns[np.lexsort((turns[columns], -weights[columns], steps[columns]))]
    return Ordered(order, entered, {"n_entered_": columns.size})


def note_entries(paths: Paths, resample: int, steps: Floats, weights: Floats) -> None:
    """Note when each column of a resample's path entered, and its weight then; an earlier entry stays."""
    n = paths.lambdas.shape[1]
    ends = paths.indptr[resample * n : (resample + 1) * n + 1]
    columns, first = np.unique(paths.indices[ends[0] : ends[-1]], return_index=True)
    places = np.searchsorted(ends[1:] - ends[0], first, side="right")
    sizes = np.abs(paths.standardized[ends[0] + first])
    new, same = steps[columns] > places, steps[columns] == places  # the latter by another problem
    weights[columns[new]], steps[columns[new]] = sizes[new], places[new]
    weights[columns[same]] = np.maximum(weights[columns[same]], sizes[same])


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


def is_number_of_folds(cv: Any) -> bool:
    """Whether folds are dealt here; raise if it is a number that cannot be one."""
    if not is_number(cv) and not isinstance(cv, bool) and cv is not None:
        return False
    if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)) or cv < 2:
        raise ValueError(f"Expected cv to be a whole number of at least 2, or a splitter, got {cv!r}.")
    return True
