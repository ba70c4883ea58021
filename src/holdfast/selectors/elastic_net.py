"""Elastic-net paths as selectors: at a lambda, by the order of entry, or with lambda chosen by cross-validation."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from holdfast.declared import About
from holdfast.kernels.elastic_net import NothingVariesError, Paths, elastic_net_paths
from holdfast.selectors.base import FitsTogether, Preference, Selector, TakesGroups, Ties
from holdfast.selectors.copies import Exchange, exchange_copies
from holdfast.selectors.elimination import ranks_of
from holdfast.selectors.models import LinearClassifier, LinearRegressor, Predicts
from holdfast.selectors.rows import Floats, Ints, Machine, Resamples, Target, one_against_rest

Model = Literal["auto", "logistic", "linear"]


class _ElasticNet(Predicts, Selector):
    """What both selectors share: the target's kind, and paths of all classes."""

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

    def _problems(self, target: Target, resamples: Resamples) -> list[Machine]:
        """The two-class problems of a target, or the one of its numbers."""
        if target.classes is not None:
            return one_against_rest(target, resamples)
        return [Machine(target.values, 0, np.ones(len(resamples.seeds), dtype=bool))]

    def _paths(self, X: Floats, target: Target, problem: Machine, counts: Ints, **how: Any) -> Paths:
        family: Any = "linear" if target.classes is None else "logistic"
        return elastic_net_paths(
            X, problem.labels, counts, family=family, l1_ratio=self.l1_ratio, n_lambdas=self.n_penalty_strengths,
            lambda_min_ratio=self.min_penalty_ratio, **how,
        )  # fmt: skip


class Solution(NamedTuple):
    """Weights of one problem at one lambda."""

    code: int
    columns: NDArray[Any]
    coef: Floats
    intercept: float


def solution(paths: Paths, run: int, place: int, code: int) -> Solution:
    """The solution of a resample at a lambda."""
    at = run * paths.lambdas.shape[1] + place
    part = slice(paths.indptr[at], paths.indptr[at + 1])
    return Solution(code, paths.indices[part], paths.coefficients[part], float(paths.intercepts[run, place]))


def make_preference(
    solutions: Sequence[Solution],
    target: Target,
    counts: Ints,
    penalty_strength: float,
    exchange: Exchange | None = None,
) -> Preference:
    """The columns with a weight in any problem, and the model that they make."""
    if exchange is not None:
        solutions = [Solution(at.code, *exchange.weights(at.columns, at.coef, at.intercept)) for at in solutions]
    columns = np.unique(np.concatenate([one.columns for one in solutions]))
    coef = np.zeros((len(solutions), columns.size))
    for row, one in zip(coef, solutions, strict=True):
        row[np.searchsorted(columns, one.columns)] = one.coef
    intercept = np.array([one.intercept for one in solutions])
    extras: dict[str, Any] = {"penalty_strength_": penalty_strength}
    if target.classes is None:
        model: Any = LinearRegressor(columns, coef, intercept)
    else:
        codes = target.present(counts) if len(solutions) == 1 else np.array([one.code for one in solutions])
        model = LinearClassifier(columns, coef, intercept, target.classes[codes])
        extras["classes_"] = model.classes_
    return Preference("subset", columns, model, {**extras, "model_": model})


class ElasticNetPath(_ElasticNet, FitsTogether):
    r"""Select the features with a weight in an elastic net, for classes (logistic) or numbers (linear).

    For each :math:`\lambda`, on glmnet's scale, the mean loss plus
    :math:`\lambda (\alpha \|\beta\|_1 + \frac{1-\alpha}{2} \|\beta\|_2^2)` is minimized over standardized columns,
    with an intercept that is not penalized, to the optimum. More than two classes: one problem for each against the
    rest, and features with a weight in any of them.

    Parameters
    ----------
    penalty_strength : float, optional
        Where to select; all values come from one fit.
    n_features : int, optional
        Select the first so many features that enter the path as lambda falls, instead; 10 if neither is given. Features
        that never enter it are not selected.
    l1_ratio : float
        The :math:`\alpha` above, above 0 and at most 1 (the lasso).
    n_penalty_strengths, min_penalty_ratio : int, float, optional
        The path to follow for ``n_features``: its length, and its end as a share of its begin.
    model : {"auto", "logistic", "linear"}
        What is predicted; numbers that are not whole are taken for numbers by ``"auto"``.
    ties, random_state
        As for :class:`Variance`: which of columns that are copies of each other, up to shift, scale and sign, has the
        weight.

    Attributes
    ----------
    ranking_ : ndarray
        Order of entry, if ``n_features`` was asked for.
    model_ : object
        The model at ``penalty_strength``.

    Examples
    --------
    >>> from holdfast.selectors import ElasticNetPath
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(ElasticNetPath(0.15).fit(X, y).get_feature_names_out())
    ['worst radius', 'worst concave points']
    >>> list(ElasticNetPath(n_features=2).fit(X, y).get_feature_names_out())
    ['worst perimeter', 'worst concave points']
    """

    about: ClassVar[About] = About(
        name="lasso",
        summary="a weight in a lasso of the given penalty_strength, or the first n_features to enter its path",
        methods="the lasso",
        reference="tibshirani1996",
    )

    shared_parameters: ClassVar[tuple[str, ...]] = ("penalty_strength", "n_features")
    uninformative: ClassVar[str | None] = "never entered the path"

    def __init__(
        self,
        penalty_strength: float | None = None,
        *,
        n_features: int | None = None,
        l1_ratio: float = 1.0,
        n_penalty_strengths: int = 100,
        min_penalty_ratio: float | None = None,
        model: Model = "auto",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        self.penalty_strength, self.n_features, self.l1_ratio = penalty_strength, n_features, l1_ratio
        self.n_penalty_strengths, self.min_penalty_ratio, self.model = n_penalty_strengths, min_penalty_ratio, model
        self.ties, self.random_state = ties, random_state

    def _predicts(self) -> bool:
        return self.penalty_strength is not None

    def _wanted_size(self, n_features: int) -> int:
        if self.n_features is None:
            return min(10, n_features)
        return super()._wanted_size(n_features)

    def _preferences_by_resample(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Preference | Exception]]:
        both = [one for one in selectors if one.penalty_strength is not None and one.n_features is not None]
        if both:
            raise ValueError(
                f"Expected penalty_strength or n_features, got both ({both[0].penalty_strength} and "
                f"{both[0].n_features}); give one."
            )
        penalty_strengths = sorted(
            {float(one.penalty_strength) for one in selectors if one.penalty_strength is not None}, reverse=True
        )
        at = self._at(penalty_strengths, X, target, resamples) if penalty_strengths else []
        entering = len(penalty_strengths) < len(selectors) and any(one.penalty_strength is None for one in selectors)
        orders = self._entry(X, target, resamples) if entering else []
        return [
            [
                orders[run]
                if one.penalty_strength is None
                else at[run][penalty_strengths.index(float(one.penalty_strength))]
                for one in selectors
            ]
            for run in range(len(resamples.seeds))
        ]

    def _at(
        self, penalty_strengths: list[float], X: Floats, target: Target, resamples: Resamples
    ) -> list[list[Preference]]:
        """What each resample selects at each lambda."""
        solutions: list[list[list[Solution]]] = [[[] for _ in penalty_strengths] for _ in resamples.seeds]
        for problem in self._problems(target, resamples):
            runs = np.flatnonzero(problem.runs)
            paths = self._paths(X, target, problem, resamples.counts[runs], lambdas=penalty_strengths)
            for place, run in enumerate(runs):
                for one in range(len(penalty_strengths)):
                    solutions[run][one].append(solution(paths, place, one, problem.code))
        return [
            [
                make_preference(at, target, counts, penalty_strength, exchange)
                for at, penalty_strength in zip(each, penalty_strengths, strict=True)
            ]
            for each, counts, exchange in zip(solutions, resamples.counts, self._exchanges(X, resamples), strict=True)
        ]

    def _exchanges(self, X: Floats, resamples: Resamples) -> list[Exchange | None]:
        return [self._exchange(X, counts, seed) for counts, seed in zip(*resamples, strict=True)]

    def _entry(self, X: Floats, target: Target, resamples: Resamples) -> list[Preference]:
        """The order in which features enter each resample's path, by any of its problems."""
        steps = np.full((len(resamples.seeds), X.shape[1]), self.n_penalty_strengths, dtype=np.float64)
        weights = np.zeros_like(steps)
        for problem in self._problems(target, resamples):
            for run, paths, place in self._solve_paths(X, target, problem, resamples.counts):
                _enter(paths, place, steps[run], weights[run])
        for run, exchange in enumerate(self._exchanges(X, resamples)):
            if exchange is not None:
                steps[run], weights[run] = exchange.entries(steps[run], weights[run])
        turns = np.broadcast_to(self._tie_orders(resamples.seeds, X.shape[1]), steps.shape)
        return [
            _by_entry(step, weight, step < self.n_penalty_strengths, turn)
            for step, weight, turn in zip(steps, weights, turns, strict=True)
        ]

    def _solve_paths(
        self, X: Floats, target: Target, problem: Machine, counts: Ints
    ) -> Iterator[tuple[int, Paths, int]]:
        """Each resample of a problem with its path, and its place there; none if no column varies with the target."""
        runs = np.flatnonzero(problem.runs)
        try:
            paths = self._paths(X, target, problem, counts[runs])
            yield from ((int(run), paths, place) for place, run in enumerate(runs))
        except NothingVariesError:
            for run in runs if runs.size > 1 else ():
                alone = problem._replace(runs=np.arange(len(counts)) == run)
                yield from self._solve_paths(X, target, alone, counts)


def _by_entry(steps: Floats, weights: Floats, entered: NDArray[np.bool_], turns: NDArray[np.int32]) -> Preference:
    """The order of entry, features of one step by weight, then by turn; those that never enter share the last rank."""
    ranks = np.where(entered, ranks_of(np.lexsort((turns, -weights, steps))), float(steps.size))
    return Preference("ranking", ranks, extras={"n_entered_": int(entered.sum())}, informative=entered)


def _enter(paths: Paths, run: int, steps: Floats, weights: Floats) -> None:
    """Note when each column of a resample's path entered, and its weight then; an earlier entry stays."""
    for place in range(paths.lambdas.shape[1]):
        at = run * paths.lambdas.shape[1] + place
        part = slice(paths.indptr[at], paths.indptr[at + 1])
        columns, sizes = paths.indices[part], np.abs(paths.standardized[part])
        new = steps[columns] > place
        weights[columns[new]] = sizes[new]
        same = steps[columns] == place  # another problem's column of this step
        weights[columns[same]] = np.maximum(weights[columns[same]], sizes[same])
        steps[columns[new]] = place


class ElasticNetCV(TakesGroups, _ElasticNet):
    """Select the features with a weight in an elastic net whose lambda is chosen by cross-validation inside the split.

    Equal rows, such as copies in a bootstrap sample, always share a fold, and so do rows of one group.

    Parameters
    ----------
    cv : int
        Number of folds; classes are dealt evenly.
    rule : {"min", "1se"}
        The lambda of least held-out loss, or the largest one within a standard error of it.
    l1_ratio, n_penalty_strengths, min_penalty_ratio, model
        As for :class:`ElasticNetPath`.
    ties : {"auto", "random", "lowest"}
        As for :class:`ElasticNetPath`.
    random_state : int, optional
        Seed of the folds, and of the choice among copies.

    Attributes
    ----------
    penalty_strength_ : float
        The chosen lambda.
    model_ : object
        The model at that lambda.
    """

    about: ClassVar[About] = About(
        name="lasso_cv",
        summary="a weight in a lasso whose strength is chosen inside the split",
        methods="the lasso with its penalty chosen by cross-validation",
        reference="tibshirani1996",
    )

    shared_parameters: ClassVar[tuple[str, ...]] = ("rule",)
    uninformative: ClassVar[str | None] = "a weight of 0"
    draws: ClassVar[bool] = True

    def __init__(
        self,
        cv: int = 10,
        *,
        rule: Literal["min", "1se"] = "1se",
        l1_ratio: float = 1.0,
        n_penalty_strengths: int = 100,
        min_penalty_ratio: float | None = None,
        model: Model = "auto",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        self.ties = ties
        self.cv, self.rule, self.l1_ratio, self.n_penalty_strengths = cv, rule, l1_ratio, n_penalty_strengths
        self.min_penalty_ratio, self.model, self.random_state = min_penalty_ratio, model, random_state

    def _shared_in_groups(self, X: Floats, target: Target, groups: Ints | None) -> Ints:
        return self._shared(X, target) if groups is None else groups

    def _shared(self, X: Floats, target: Target) -> Ints:
        """The place of each row in an order that does not depend on the order of rows; equal rows share it."""
        return np.unique(np.column_stack([target.values, X]), axis=0, return_inverse=True)[1].ravel()

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        return self._preferences_by_setting([self], shared, X, target, counts, seed)[0]

    def _preferences_by_setting(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None
    ) -> Sequence[Preference]:
        for one in selectors:
            if one.rule not in ("min", "1se"):
                raise ValueError(f"Expected rule='min' or '1se', got {one.rule!r}.")
        folds = self._folds(shared, target, counts, seed)
        problems = self._problems(target, Resamples(counts[None], [seed]))
        penalty_strengths = self._penalty_strengths(X, target, problems, counts)
        if penalty_strengths is None:
            return [self._empty(X, target, problems, counts)] * len(selectors)
        losses, weights = self._losses(X, target, problems, counts, folds, penalty_strengths)
        exchange = self._exchange(X, counts, seed)
        found = []
        for one in selectors:
            place = chosen_lambda(losses, weights, one.rule)
            at = [
                self._paths(X, target, problem, counts[None], lambdas=penalty_strengths[: place + 1])
                for problem in problems
            ]
            solutions = [solution(path, 0, place, problem.code) for path, problem in zip(at, problems, strict=True)]
            found.append(make_preference(solutions, target, counts, float(penalty_strengths[place]), exchange))
        return found

    def _penalty_strengths(self, X: Floats, target: Target, problems: Sequence[Machine], counts: Ints) -> Floats | None:
        """The path of the problem that begins first; None if no column varies with the target."""
        found = []
        for problem in problems:
            with suppress(NothingVariesError):
                found.append(self._paths(X, target, problem, counts[None]).lambdas[0])
        return max(found, key=lambda penalty_strengths: penalty_strengths[0], default=None)

    def _empty(self, X: Floats, target: Target, problems: Sequence[Machine], counts: Ints) -> Preference:
        """What is found where no column varies with the target: no feature at any lambda, and intercepts alone."""
        at = [self._paths(X, target, problem, counts[None], lambdas=[1.0]) for problem in problems]
        solutions = [solution(path, 0, 0, problem.code) for path, problem in zip(at, problems, strict=True)]
        return replace(make_preference(solutions, target, counts, np.inf), note="no feature varies with the target")

    def _folds(self, order: Ints, target: Target, counts: Ints, seed: int | None) -> Ints:
        """The fold of each row, −1 for those that do not count: different rows are dealt in turn, class by class."""
        rows = np.flatnonzero(counts)
        different, first = np.unique(order[rows], return_index=True)
        if isinstance(self.cv, bool) or not isinstance(self.cv, (int, np.integer)) or self.cv < 2:
            raise ValueError(f"Expected cv to be a whole number of at least 2, got {self.cv!r}.")
        rng = np.random.default_rng(seed)
        classes = target.values[rows[first]] if target.classes is not None else np.zeros(different.size)
        deck = np.concatenate([rng.permutation(np.flatnonzero(classes == one)) for one in np.unique(classes)])
        fold_of = np.empty(different.size, np.int64)
        fold_of[deck] = np.arange(deck.size) % min(self.cv, different.size)
        folds = np.full(counts.size, -1)
        folds[rows] = fold_of[np.searchsorted(different, order[rows])]
        return folds

    def _losses(
        self,
        X: Floats,
        target: Target,
        problems: Sequence[Machine],
        counts: Ints,
        folds: Ints,
        penalty_strengths: Floats,
    ) -> tuple[Floats, Floats]:
        """Held-out loss of each fold at each lambda, summed over problems, and how much each fold weighs."""
        held = [(folds == fold) for fold in range(int(folds.max()) + 1)]
        held = [out for out in held if all(_can_be_trained(problem, counts, out, target) for problem in problems)]
        if len(held) < 2:
            raise ValueError("Expected different rows of each class in at least two folds, got fewer; lower cv.")
        train = np.array([np.where(out, 0, counts) for out in held])
        losses = np.zeros((len(held), penalty_strengths.size))
        for problem in problems:
            paths = self._paths(X, target, problem, train, lambdas=penalty_strengths, predict=True)
            assert paths.predictors is not None
            for fold, out in enumerate(held):
                each = loss(paths.predictors[fold][:, out], problem.labels[out], target.classes is None)
                losses[fold] += each @ counts[out] / counts[out].sum()
        return losses, np.array([counts[out].sum() for out in held], dtype=np.float64)


def _can_be_trained(problem: Machine, counts: Ints, out: NDArray[np.bool_], target: Target) -> bool:
    """Whether the rows left by a fold have both labels; the fold of a class's only row has not, and is left out."""
    return target.classes is None or np.unique(problem.labels[~out & (counts > 0)]).size == 2


def loss(predictors: Floats, y: Floats, numbers: bool) -> Floats:
    """Half the squared error, or the logistic loss."""
    return (predictors - y) ** 2 / 2 if numbers else np.logaddexp(0, -y * predictors)


def chosen_lambda(losses: Floats, weights: Floats, rule: str) -> int:
    """Place of the lambda of least mean loss, or of the largest one within a standard error; they fall."""
    share = weights / weights.sum()
    mean = share @ losses
    best = int(mean.argmin())
    if rule == "min":
        return best
    error = np.sqrt(share @ (losses[:, best] - mean[best]) ** 2 / (len(losses) - 1))
    return int(np.flatnonzero(mean <= mean[best] + error)[0])
