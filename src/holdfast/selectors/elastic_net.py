"""Lasso and elastic net as selectors: at a penalty strength, by the order of entry, or chosen by cross-validation."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv

from holdfast.checks import is_number
from holdfast.declared import About
from holdfast.kernels.covariates import residuals
from holdfast.kernels.elastic_net import NothingVariesError, Paths, elastic_net_paths
from holdfast.selection import tie_ranks
from holdfast.selectors.base import (
    Adjusts,
    Batch,
    BinaryProblem,
    Data,
    Floats,
    ForAnyTarget,
    Ints,
    LazyRanking,
    Model,
    Preference,
    Ranked,
    Serves,
    Setting,
    SharedBySetting,
    TakesGroups,
    Ties,
    check_choice,
    one_against_rest,
)
from holdfast.selectors.models import LinearClassifier, LinearRegressor, Predicts
from holdfast.selectors.wrapping import Copies, InnerSplit, check_copies, deal_folds, order_rows, usable_splits
from holdfast.targets import Target

SAME = 1e-11
"""Projections of standardized columns that differ by less belong to copies."""
COARSE = 1e-6
"""Ratios that differ by a smaller share may be those of copies."""
LOST = 1e-8
"""Below this share of the numbers that they are made of, ratios are not known well enough."""


class Exchange(NamedTuple):
    """Copies of columns exchanged for each other, in one resample.

    Attributes
    ----------
    to : ndarray
        The column that replaces each column.
    groups : list of ndarray
        Columns that are copies of each other, ascending; only those that have a copy.
    mean, size : ndarray
        Mean of each column, and norm of its deviations, with the sign that makes copies alike.
    """

    to: Ints
    groups: list[Ints]
    mean: Floats
    size: Floats

    def entries(self, steps: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """When columns enter a path, and their weight then: equal for copies that enter, and moved to their places."""
        for group in self.groups:
            entered = group[weights[group] > 0]  # in a lasso one of them, else all, but for rounding at the same step
            if entered.size > 1:
                steps[entered], weights[entered] = steps[entered].min(), weights[entered].max()
        moved = np.empty_like(steps), np.empty_like(weights)
        moved[0][self.to], moved[1][self.to] = steps, weights
        return moved

    def weights(self, columns: Ints, coef: Floats, intercept: float) -> tuple[Ints, Floats, float]:
        """The same model on the columns that take the places of these, ascending."""
        to = self.to[columns]
        other = to != columns
        slope, shift = np.ones(columns.size), np.zeros(columns.size)
        slope[other] = self.size[columns[other]] / self.size[to[other]]  # column = shift + slope · the other
        shift[other] = self.mean[columns[other]] - slope[other] * self.mean[to[other]]
        order = np.argsort(to)
        return to[order], (coef * slope)[order], intercept + float(coef @ shift)


def exchange_copies(
    X: Floats, counts: Ints, random_state: int | None, covariates: Floats | None = None
) -> Exchange | None:
    """Draw which of the copies of a column takes its place; None if no column has a copy in this resample.

    Next to covariates, columns are copies of which the covariates leave copies. Without a seed no column is exchanged.
    """
    drawn = np.flatnonzero(counts)
    columns = _may_have_copies(X, drawn, covariates)
    if columns.size < 2:
        return None
    rows = X[np.ix_(drawn, columns)]
    if covariates is not None:
        rows = residuals(rows, covariates[drawn], counts[drawn])
    mean, size, groups = _copies(rows)
    if not groups:
        return None
    whole = np.zeros((2, X.shape[1]))
    whole[:, columns] = mean, size
    groups = [columns[group] for group in groups]
    to, ranks = np.arange(X.shape[1]), tie_ranks(X.shape[1], random_state)
    for group in groups:
        to[group] = group[np.argsort(ranks[group])]
    return Exchange(to, groups, *whole)


def _may_have_copies(X: Floats, drawn: Ints, covariates: Floats | None) -> Ints:
    """Columns whose steps between three rows have a ratio that others have too, as copies would, or that have none.

    Next to covariates, steps between so many rows that covariates do not change them.
    """
    n_rows = 3 if covariates is None else 3 + covariates.shape[1]
    if drawn.size < n_rows:
        return np.arange(X.shape[1])
    rows = X[drawn[:n_rows]]
    if covariates is None:
        above, below = rows[0] - rows[1], rows[0] - rows[2]
    else:
        design = np.column_stack([np.ones(n_rows), covariates[drawn[:n_rows]]])
        above, below = np.linalg.svd(design.T)[2][-2:] @ rows
        lost = np.minimum(np.abs(above), np.abs(below)) <= LOST * np.abs(rows).max(axis=0)
        above[lost] = below[lost] = 0.0
    with np.errstate(all="ignore"):
        ratio = above / below
    order = np.argsort(ratio)  # nan comes last
    with np.errstate(invalid="ignore"):
        near = ~(np.diff(ratio[order]) > COARSE * np.abs(ratio[order[1:]]))
    alike = np.r_[near, False] | np.r_[False, near]
    return np.sort(order[alike])


def _copies(rows: Floats) -> tuple[Floats, Floats, list[Ints]]:
    """Mean and signed size of each column, and groups of those that are copies of each other."""
    mean = rows.mean(axis=0)
    away = rows - mean
    largest = np.abs(away).max(axis=0)
    varies = (rows != rows[0]).any(axis=0) & (largest > 0)
    away /= np.where(varies, largest, 1.0)
    norm = np.sqrt(np.einsum("ij,ij->j", away, away))
    probes = np.random.default_rng(0).normal(size=(2, len(rows))) @ away / np.where(varies, norm, 1.0)
    first, second = np.abs(probes)
    order = np.flatnonzero(varies)[np.argsort(first[varies], kind="stable")]
    apart = (np.diff(first[order]) > SAME) | (np.abs(np.diff(second[order])) > SAME)
    parts = np.split(order, np.flatnonzero(apart) + 1)
    signed = norm * largest * np.where(probes[0] < 0, -1.0, 1.0)
    return mean, signed, [np.sort(part) for part in parts if part.size > 1]


FAMILIES = {"classification": "logistic", "regression": "linear", "survival": "cox"}


class ElasticNetBase(Predicts, ForAnyTarget):
    """An elastic net for classes, numbers or survival times: what both selectors share."""

    l1_ratio: float
    n_penalty_strengths: int
    min_penalty_ratio: float | None

    def _problems(self, target: Target, counts: Ints) -> list[BinaryProblem]:
        """The two-class problems of a target, or the one of its numbers or survival times."""
        if target.classes is not None:
            return one_against_rest(target, counts)
        return [BinaryProblem(target.values, 0, np.ones(len(counts), dtype=bool))]

    def _paths(self, X: Floats, target: Target, problem: BinaryProblem, counts: Ints, **options: Any) -> Paths:
        family: Any = FAMILIES[target.task]
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


def take_solution(paths: Paths, resample: int, step: int, code: int) -> Solution:
    """The solution of a resample at this step of its path."""
    at = resample * paths.lambdas.shape[1] + step
    part = slice(paths.indptr[at], paths.indptr[at + 1])
    return Solution(code, paths.indices[part], paths.coefficients[part], float(paths.intercepts[resample, step]))


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

    None if a weight is not finite: then the model in question raises.
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
    for step, (begin, end) in enumerate(pairwise(ends)):
        columns = indices[begin:end]
        model = kind.of_finite(columns, coefficients[:, begin:end], intercepts[step : step + 1], **known)
        extras = {"penalty_strength_": penalty_strengths[step], **known, "model_": model}
        preferences.append(Preference("subset", columns, model, extras))
    return preferences


def note_entries(paths: Paths, resample: int, steps: Floats, weights: Floats) -> None:
    """Note when each column of a resample's path entered, and its weight then; an earlier entry stays."""
    n = paths.lambdas.shape[1]
    ends = paths.indptr[resample * n : (resample + 1) * n + 1]
    columns, first = np.unique(paths.indices[ends[0] : ends[-1]], return_index=True)
    entered = np.searchsorted(ends[1:] - ends[0], first, side="right")
    sizes = np.abs(paths.standardized[ends[0] + first])
    new, same = steps[columns] > entered, steps[columns] == entered  # the latter by another problem
    weights[columns[new]], steps[columns[new]] = sizes[new], entered[new]
    weights[columns[same]] = np.maximum(weights[columns[same]], sizes[same])


def choose_strength(losses: Floats, weights: Floats, rule: str) -> int:
    """Step of the strength of least mean loss, or of the largest one within a standard error; strengths fall."""
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


class ElasticNetPath(ElasticNetBase):
    r"""Lasso or elastic net: select the features with a weight, for classes, numbers, or survival times (Cox).

    Select at a ``penalty_strength``, or the first ``n_features`` that enter the path as the penalty falls. More than
    two classes: one problem for each against the rest, and features with a weight in any of them.

    Parameters
    ----------
    penalty_strength : float, optional
        The :math:`\lambda` below, at which to select; all values come from one fit.
    n_features : int, optional
        Select the first so many features that enter the path instead; 10 if neither is given. Features that never enter
        it are not selected.
    l1_ratio : float, default 1.0
        The mix :math:`\rho` of the two penalties, above 0 and at most 1 (the lasso).
    n_penalty_strengths : int, default 100
        Length of the path that is followed for ``n_features``.
    min_penalty_ratio : float, optional
        End of that path as a share of its beginning; 1e-4 if there are more rows than features, else 1e-2.
    model : {"auto", "logistic", "linear", "cox"}, default "auto"
        What is predicted; ``"auto"`` takes numbers that are not whole for numbers, what :func:`holdfast.survival`
        returns for survival times, all else for classes.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of columns that are copies of each other, up to shift, scale and sign, has the weight: drawn, or the
        lowest. ``"auto"`` draws where there is a seed, as in every study.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Order of entry, if ``n_features`` decides; features that never enter share the last rank.
    n_entered_ : int
        Number of features that enter the path, if ``n_features`` decides.
    penalty_strength_ : float
        The strength, if it decides.
    model_ : object
        The model at ``penalty_strength``, which ``predict`` uses.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    ElasticNetCV : The strength chosen by cross-validation.
    StabilitySelection : How often features are selected along the path, on halves of the rows.

    Notes
    -----
    Minimizes, over columns that are standardized by the split's rows,

    .. math:: \frac1n \sum_i \ell(y_i, b + x_i^\top \beta)
              + \lambda \left( \rho \|\beta\|_1 + \frac{1 - \rho}{2} \|\beta\|_2^2 \right)

    to the optimum; the loss is :math:`\log(1 + e^{-y f})` for classes −1 and 1, and :math:`(y - f)^2 / 2` for numbers.
    For survival times it is minus the log partial likelihood of Cox's model (Breslow's ties), without b.
    This is glmnet's scale; scikit-learn's ``LogisticRegression`` has ``C`` = 1 / (n λ).

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
        label="Lasso",
        summary="A weight in a lasso of the given penalty_strength, or the first n_features to enter its path.",
        methods="the lasso",
        reference="tibshirani1996",
    )
    serves: ClassVar[Serves] = Serves("logistic", "logistic, one class against the rest", "linear", "Cox's model")

    shared_parameters: ClassVar[tuple[str, ...]] = ("penalty_strength", "n_features")
    uninformative: ClassVar[str | None] = "never entered the path"
    whole_order: ClassVar[tuple[str, ...]] = ("largest",)
    adjusts: ClassVar[Adjusts] = "formula"

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

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        for selector in batch.selectors:
            if selector.penalty_strength is not None and selector.n_features is not None:
                raise ValueError(
                    f"Expected penalty_strength or n_features, got both ({selector.penalty_strength} and "
                    f"{selector.n_features}); give one."
                )
        strengths = [
            None if selector.penalty_strength is None else float(selector.penalty_strength)
            for selector in batch.selectors
        ]
        path = sorted({strength for strength in strengths if strength is not None}, reverse=True)
        step_of = {strength: step for step, strength in enumerate(path)}
        exchanges = [
            exchange_copies(batch.X, counts, self._tie_seed(seed), batch.covariates) for counts, seed in batch.resamples
        ]
        selected = self._select_at(path, batch, exchanges) if path else []
        ranked = self._rank_by_entry(batch, exchanges) if None in strengths else []
        return [
            [ranked[resample] if strength is None else selected[resample][step_of[strength]] for strength in strengths]
            for resample in range(len(batch))
        ]

    def _select_at(
        self, path: list[float], batch: Batch, exchanges: Sequence[Exchange | None]
    ) -> list[list[Preference]]:
        """Resamples × penalty strengths: the features with a weight."""
        parts: list[list[tuple[Paths, int, int]]] = [[] for _ in exchanges]
        for problem in self._problems(batch.target, batch.counts):
            resamples = np.flatnonzero(problem.resamples)
            paths = self._paths(
                batch.X, batch.target, problem, batch.counts[resamples], lambdas=path, covariates=batch.covariates
            )
            for row, resample in enumerate(resamples):
                parts[resample].append((paths, row, problem.code))
        selected = []
        for solved, counts, exchange in zip(parts, batch.counts, exchanges, strict=True):
            preferences = None
            if len(solved) == 1 and exchange is None:
                preferences = make_path_preferences(*solved[0][:2], batch.target, counts, path)
            if preferences is None:
                preferences = [
                    make_preference(
                        [take_solution(paths, row, step, code) for paths, row, code in solved],
                        batch.target, counts, strength, exchange,
                    )
                    for step, strength in enumerate(path)
                ]  # fmt: skip
            if batch.covariates is not None:  # a model of what covariates leave is none of the target
                preferences = [replace(preference, model=None, extras=None) for preference in preferences]
            selected.append(preferences)
        return selected

    def _rank_by_entry(self, batch: Batch, exchanges: Sequence[Exchange | None]) -> list[LazyRanking]:
        """The order in which features enter each resample's path, by any of its problems.

        Features of one step are ordered by weight, then by tie-break rank; those that never enter share the last rank.
        If the order will be cut, paths end where as many features as the largest size have entered.
        """
        stop_at = None
        if batch.cut:
            sizes = [selector.n_features for selector in batch.selectors if selector.penalty_strength is None]
            if all(size is None or isinstance(size, (int, np.integer)) for size in sizes):
                stop_at = max(10 if size is None else int(size) for size in sizes)
        steps = np.full((len(batch), batch.n_features), self.n_penalty_strengths, dtype=np.float64)
        weights = np.zeros_like(steps)
        for problem in self._problems(batch.target, batch.counts):
            for resample, paths, row in self._solve_paths(batch, problem, stop_at):
                note_entries(paths, row, steps[resample], weights[resample])
        tie_ranks_by_resample = np.broadcast_to(self._tie_ranks(batch.seeds, batch.n_features), steps.shape)
        ranked = []
        for step, weight, ranks, exchange in zip(steps, weights, tie_ranks_by_resample, exchanges, strict=True):
            if exchange is not None:
                step, weight = exchange.entries(step, weight)
            columns = np.flatnonzero(step < self.n_penalty_strengths)
            order = columns[np.lexsort((ranks[columns], -weight[columns], step[columns]))]
            ranked.append(LazyRanking(order, step < self.n_penalty_strengths, {"n_entered_": columns.size}))
        return ranked

    def _solve_paths(
        self, batch: Batch, problem: BinaryProblem, stop_at: int | None
    ) -> Iterator[tuple[int, Paths, int]]:
        """Yield each resample of a problem, its path, and its row there; none if no column varies with the target."""
        resamples = np.flatnonzero(problem.resamples)
        try:
            paths = self._paths(
                batch.X, batch.target, problem, batch.counts[resamples], stop_at=stop_at, covariates=batch.covariates
            )
            yield from ((int(resample), paths, row) for row, resample in enumerate(resamples))
        except NothingVariesError:
            for resample in resamples if resamples.size > 1 else ():
                single = problem._replace(resamples=np.arange(len(batch)) == resample)
                yield from self._solve_paths(batch, single, stop_at)


class CoxLasso(ElasticNetPath):
    r"""Lasso or elastic net of Cox's proportional hazards model: select the features with a weight, for survival times.

    Select at a ``penalty_strength``, or the first ``n_features`` that enter the path as the penalty falls.

    Parameters
    ----------
    penalty_strength : float, optional
        The :math:`\lambda` at which to select; all values come from one fit.
    n_features : int, optional
        Select the first so many features that enter the path instead; 10 if neither is given. Features that never enter
        it are not selected.
    l1_ratio : float, default 1.0
        The mix :math:`\rho` of the two penalties, above 0 and at most 1 (the lasso).
    n_penalty_strengths : int, default 100
        Length of the path that is followed for ``n_features``.
    min_penalty_ratio : float, default 0.05
        End of that path as a share of its beginning.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of columns that are copies of each other, up to shift, scale and sign, has the weight: drawn, or the
        lowest. ``"auto"`` draws where there is a seed, as in every study.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Order of entry, if ``n_features`` decides; features that never enter share the last rank.
    n_entered_ : int
        Number of features that enter the path, if ``n_features`` decides.
    penalty_strength_ : float
        The strength, if it decides.
    model_ : object
        The model at ``penalty_strength``; ``predict`` returns its log risks.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    ElasticNetPath : The same for any target, on a longer path.
    CoxScore : A feature at a time.

    Notes
    -----
    Minimizes minus the log partial likelihood over the number of rows, with Breslow's ties, next to
    :math:`\lambda (\rho \|\beta\|_1 + \frac{1 - \rho}{2} \|\beta\|_2^2)` over standardized columns, to the optimum:
    the scale of glmnet and scikit-survival.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> from holdfast.selectors import CoxLasso
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5))
    >>> time, end = rng.exponential(np.exp(-X[:, 3])), rng.exponential(2, size=80)
    >>> CoxLasso(n_features=1).fit(X, hf.survival(np.minimum(time, end), time <= end)).get_support()
    array([False, False, False,  True, False])
    """

    serves: ClassVar[Serves] = Serves(survival="Cox's model")
    about: ClassVar[About] = About(
        name="cox_lasso",
        label="Cox lasso",
        summary="A weight in a Cox lasso of the given penalty_strength, or the first n_features to enter its path.",
        methods="the lasso of Cox's proportional hazards model",
        reference="tibshirani1997",
        needs=serves.needs,
    )

    model: Model = "cox"
    needs_classes: ClassVar[bool] = False

    def __init__(
        self,
        penalty_strength: float | None = None,
        *,
        n_features: int | None = None,
        l1_ratio: float = 1.0,
        n_penalty_strengths: int = 100,
        min_penalty_ratio: float = 0.05,
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        self.penalty_strength, self.n_features, self.l1_ratio = penalty_strength, n_features, l1_ratio
        self.n_penalty_strengths, self.min_penalty_ratio = n_penalty_strengths, min_penalty_ratio
        self.ties, self.random_state = ties, random_state


class ElasticNetCV(TakesGroups, ElasticNetBase):
    """Lasso or elastic net whose penalty strength is chosen by cross-validation inside the split.

    Features with a weight at that strength are selected. Equal rows, such as copies in a bootstrap sample, share a fold
    unless ``copies="apart"``, and so do rows of one group.

    Parameters
    ----------
    cv : int, cross-validation splitter or iterable, default 10
        Number of folds, to which different rows are dealt, class by class; or, in a plain fit, a splitter of
        scikit-learn, or pairs of rows to train on and to hold out.
    copies : {"together", "apart"}, default "together"
        Whether copies of a row share a fold, or are dealt one by one, as glmnet's ``cv.glmnet`` does with a bootstrap
        sample. Apart, most held-out rows of a bootstrap sample have a copy among those to train on, and the chosen
        strength is too small.
    rule : {"min", "1se"}, default "1se"
        Choose the strength of least held-out loss, or the largest one within a standard error of it.
    l1_ratio : float, default 1.0
        The mix of the two penalties, above 0 and at most 1 (the lasso).
    n_penalty_strengths : int, default 100
        Number of strengths to choose from.
    min_penalty_ratio : float, optional
        The least of them as a share of the largest; 1e-4 if there are more rows than features, else 1e-2.
    model : {"auto", "logistic", "linear"}, default "auto"
        What is predicted; ``"auto"`` takes numbers that are not whole for numbers, all else for classes.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of columns that are copies of each other has the weight, as for :class:`ElasticNetPath`.
    random_state : int, optional
        Seed of the folds, and of the choice among copies. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    penalty_strength_ : float
        The chosen strength.
    model_ : object
        The model at that strength, which ``predict`` uses.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    ElasticNetPath : At a given strength, and the objective.
    sklearn.linear_model.LogisticRegressionCV : Cross-validation by scores, for one resample.

    Notes
    -----
    The held-out loss is the mean over folds, weighted by their rows, of the logistic loss or half the squared error.
    The number of features follows from the data; it varies between resamples.

    Examples
    --------
    >>> from holdfast.selectors import ElasticNetCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> chosen = ElasticNetCV(5, random_state=0).fit(X, y)
    >>> round(chosen.penalty_strength_, 4), int(chosen.get_support().sum())
    (0.0044, 12)
    """

    serves: ClassVar[Serves] = Serves("logistic", "logistic, one class against the rest", "linear")
    about: ClassVar[About] = About(
        name="lasso_cv",
        label="Cross-validated lasso",
        summary="A weight in a lasso whose strength is chosen inside the split.",
        methods="the lasso with its penalty chosen by cross-validation",
        reference="tibshirani1996",
        needs=serves.needs,
    )

    shared_parameters: ClassVar[tuple[str, ...]] = ("rule",)
    uninformative: ClassVar[str | None] = "a weight of 0"
    draws: ClassVar[bool] = True

    def _survival_target(self, y: Any) -> Target:
        raise ValueError(
            "Expected classes or numbers in y, got survival times, for which ElasticNetCV has no score inside the "
            "split; give CoxLasso a penalty_strength or n_features."
        )

    def __init__(
        self,
        cv: Any = 10,
        *,
        copies: Copies = "together",
        rule: Literal["min", "1se"] = "1se",
        l1_ratio: float = 1.0,
        n_penalty_strengths: int = 100,
        min_penalty_ratio: float | None = None,
        model: Model = "auto",
        ties: Ties = "auto",
        random_state: Any = None,
    ) -> None:
        self.ties, self.copies = ties, copies
        self.cv, self.rule, self.l1_ratio, self.n_penalty_strengths = cv, rule, l1_ratio, n_penalty_strengths
        self.min_penalty_ratio, self.model, self.random_state = min_penalty_ratio, model, random_state

    def share(self, data: Data) -> Ints:
        check_copies(self.copies, data.groups)
        return order_rows(data.X, data.target) if data.groups is None else data.groups

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        for selector in batch.selectors:
            check_choice("rule", selector.rule, ("min", "1se"))
        return [self._choose(batch, shared, counts, seed) for counts, seed in batch.resamples]

    def _choose(self, batch: Batch, order: Ints, counts: Ints, seed: int | None) -> list[Preference]:
        """What each setting selects of one resample, at the strength that it chooses."""
        X, target = batch.X, batch.target
        if is_number_of_folds(self.cv):
            splits = deal_folds(order, target, counts, self.cv, self.copies, seed)
        else:
            rows, given = np.arange(counts.size), check_cv(self.cv).split(X, target.values)
            splits = [InnerSplit(*(np.where(np.isin(rows, part), counts, 0) for part in split)) for split in given]
        problems = self._problems(target, counts[None])
        paths = []
        for problem in problems:
            with suppress(NothingVariesError):
                paths.append(self._paths(X, target, problem, counts[None]).lambdas[0])
        if not paths:  # no feature at any strength, and intercepts alone
            solutions = self._solutions(X, target, problems, counts, [1.0])
            empty = make_preference(solutions, target, counts, np.inf)
            return [replace(empty, note="no feature varies with the target")] * len(batch.selectors)
        strengths = max(paths, key=lambda path: path[0])  # of the problem whose path begins first
        losses, weights = self._losses(X, target, problems, splits, strengths)
        exchange = exchange_copies(X, counts, self._tie_seed(seed))
        chosen = [choose_strength(losses, weights, selector.rule) for selector in batch.selectors]
        return [
            make_preference(
                self._solutions(X, target, problems, counts, strengths[: step + 1]), target, counts,
                float(strengths[step]), exchange,
            )
            for step in chosen
        ]  # fmt: skip

    def _solutions(
        self, X: Floats, target: Target, problems: Sequence[BinaryProblem], counts: Ints, penalty_strengths: ArrayLike
    ) -> list[Solution]:
        """The solution of each problem at the last of these strengths."""
        solutions = []
        for problem in problems:
            path = self._paths(X, target, problem, counts[None], lambdas=penalty_strengths)
            solutions.append(take_solution(path, 0, path.lambdas.shape[1] - 1, problem.code))
        return solutions

    def prepare(
        self,
        X: Floats,
        y: NDArray[Any],
        settings: Sequence[Setting],
        groups: NDArray[Any] | None = None,
        covariates: Floats | None = None,
        sites: Ints | None = None,
    ) -> SharedBySetting:
        for cv in [self.cv, *(setting["cv"] for setting in settings if "cv" in setting)]:
            if not is_number_of_folds(cv):
                raise ValueError(
                    f"Where rows are resampled, cv is a number of folds: a splitter, such as {cv!r:.60}, names rows of "
                    "the whole data."
                )
        return super().prepare(X, y, settings, groups, covariates, sites)

    def _losses(
        self,
        X: Floats,
        target: Target,
        problems: Sequence[BinaryProblem],
        splits: Sequence[InnerSplit],
        penalty_strengths: Floats,
    ) -> tuple[Floats, Floats]:
        """Held-out loss of each fold at each lambda, summed over problems, and how much each fold weighs."""
        train, held_out = map(np.array, zip(*usable_splits(splits, problems, target), strict=True))
        losses = np.zeros((len(train), penalty_strengths.size))
        for problem in problems:
            paths = self._paths(X, target, problem, train, lambdas=penalty_strengths, predict=True)
            assert paths.predictors is not None
            for fold, counts in enumerate(held_out):
                test = np.flatnonzero(counts)
                predicted, y = paths.predictors[fold][:, test], problem.labels[test]
                row_losses = (predicted - y) ** 2 / 2 if target.classes is None else np.logaddexp(0, -y * predicted)
                losses[fold] += row_losses @ counts[test] / counts[test].sum()
        return losses, held_out.sum(axis=1).astype(np.float64)
