"""Lasso and elastic net as selectors: at a penalty strength, by the order of entry, or chosen by cross-validation."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv

from holdfast.declared import About
from holdfast.kernels.elastic_net import NothingVariesError, Paths
from holdfast.selectors.base import FitsTogether, Preference, Setting, TakesGroups, Ties
from holdfast.selectors.copies import Exchange
from holdfast.selectors.folds import Copies, InnerSplit, check_copies, deal_folds, order_rows, usable_splits
from holdfast.selectors.rows import BinaryProblem, Floats, Ints, Resamples, Target
from holdfast.selectors.setting_groups import Key
from holdfast.selectors.solutions import (
    ElasticNetBase,
    Model,
    Solution,
    choose_strength,
    held_out_loss,
    is_number_of_folds,
    make_path_preferences,
    make_preference,
    note_entries,
    order_by_entry,
    take_solution,
)


class ElasticNetPath(ElasticNetBase, FitsTogether):
    r"""Lasso or elastic net: select the features with a weight, for classes (logistic) or numbers (linear).

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
    model : {"auto", "logistic", "linear"}, default "auto"
        What is predicted; ``"auto"`` takes numbers that are not whole for numbers, all else for classes.
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

    shared_parameters: ClassVar[tuple[str, ...]] = ("penalty_strength", "n_features")
    uninformative: ClassVar[str | None] = "never entered the path"
    whole_order: ClassVar[tuple[str, ...]] = ("largest",)

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
        return self._follow_paths(selectors, X, target, resamples, stop_at=None)

    def _preferences_to_cut(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Preference | Exception]]:
        """The order of entry until as many features as the largest size have entered, by any of the problems."""
        sizes = [selector.n_features for selector in selectors if selector.penalty_strength is None]
        known = all(size is None or isinstance(size, (int, np.integer)) for size in sizes)
        largest = max((10 if size is None else int(size) for size in sizes), default=0) if known else None
        return self._follow_paths(selectors, X, target, resamples, stop_at=largest)

    def _follow_paths(
        self, selectors: Sequence[Self], X: Floats, target: Target, resamples: Resamples, *, stop_at: int | None
    ) -> Sequence[Sequence[Preference | Exception]]:
        for selector in selectors:
            if selector.penalty_strength is not None and selector.n_features is not None:
                raise ValueError(
                    f"Expected penalty_strength or n_features, got both ({selector.penalty_strength} and "
                    f"{selector.n_features}); give one."
                )
        given = [None if each.penalty_strength is None else float(each.penalty_strength) for each in selectors]
        strengths = sorted({strength for strength in given if strength is not None}, reverse=True)
        places = {strength: place for place, strength in enumerate(strengths)}
        selected = self._select_at(strengths, X, target, resamples) if strengths else []
        ranked = self._rank_by_entry(X, target, resamples, stop_at) if None in given else []
        return [
            [ranked[resample] if strength is None else selected[resample][places[strength]] for strength in given]
            for resample in range(len(resamples.seeds))
        ]

    def _select_at(
        self, penalty_strengths: list[float], X: Floats, target: Target, resamples: Resamples
    ) -> list[list[Preference]]:
        """Resamples × penalty strengths: the features with a weight."""
        parts: list[list[tuple[Paths, int, int]]] = [[] for _ in resamples.seeds]
        for problem in self._problems(target, resamples):
            numbers = np.flatnonzero(problem.resamples)
            paths = self._paths(X, target, problem, resamples.counts[numbers], lambdas=penalty_strengths)
            for row, resample in enumerate(numbers):
                parts[resample].append((paths, row, problem.code))
        return [
            self._select_along(own, target, counts, penalty_strengths, exchange)
            for own, counts, exchange in zip(parts, resamples.counts, self._exchanges(X, resamples), strict=True)
        ]

    def _select_along(
        self,
        parts: list[tuple[Paths, int, int]],
        target: Target,
        counts: Ints,
        penalty_strengths: list[float],
        exchange: Exchange | None,
    ) -> list[Preference]:
        """The features with a weight at each strength on a resample's paths, one for each of its problems."""
        if len(parts) == 1 and exchange is None:
            preferences = make_path_preferences(*parts[0][:2], target, counts, penalty_strengths)
            if preferences is not None:
                return preferences
        return [
            make_preference(
                [take_solution(paths, row, place, code) for paths, row, code in parts],
                target, counts, strength, exchange,
            )
            for place, strength in enumerate(penalty_strengths)
        ]  # fmt: skip

    def _exchanges(self, X: Floats, resamples: Resamples) -> list[Exchange | None]:
        return [self._exchange(X, counts, seed) for counts, seed in zip(*resamples, strict=True)]

    def _rank_by_entry(self, X: Floats, target: Target, resamples: Resamples, stop_at: int | None) -> list[Preference]:
        """The order in which features enter each resample's path, by any of its problems."""
        steps = np.full((len(resamples.seeds), X.shape[1]), self.n_penalty_strengths, dtype=np.float64)
        weights = np.zeros_like(steps)
        for problem in self._problems(target, resamples):
            for resample, paths, row in self._solve_paths(X, target, problem, resamples.counts, stop_at):
                note_entries(paths, row, steps[resample], weights[resample])
        for resample, exchange in enumerate(self._exchanges(X, resamples)):
            if exchange is not None:
                steps[resample], weights[resample] = exchange.entries(steps[resample], weights[resample])
        turns = np.broadcast_to(self._tie_orders(resamples.seeds, X.shape[1]), steps.shape)
        return [
            order_by_entry(step, weight, step < self.n_penalty_strengths, turn)
            for step, weight, turn in zip(steps, weights, turns, strict=True)
        ]

    def _solve_paths(
        self, X: Floats, target: Target, problem: BinaryProblem, counts: Ints, stop_at: int | None
    ) -> Iterator[tuple[int, Paths, int]]:
        """Yield each resample of a problem, its path, and its row there; none if no column varies with the target."""
        numbers = np.flatnonzero(problem.resamples)
        try:
            paths = self._paths(X, target, problem, counts[numbers], stop_at=stop_at)
            yield from ((int(resample), paths, row) for row, resample in enumerate(numbers))
        except NothingVariesError:
            for resample in numbers if numbers.size > 1 else ():
                single = problem._replace(resamples=np.arange(len(counts)) == resample)
                yield from self._solve_paths(X, target, single, counts, stop_at)


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

    about: ClassVar[About] = About(
        name="lasso_cv",
        label="Cross-validated lasso",
        summary="A weight in a lasso whose strength is chosen inside the split.",
        methods="the lasso with its penalty chosen by cross-validation",
        reference="tibshirani1996",
    )

    shared_parameters: ClassVar[tuple[str, ...]] = ("rule",)
    uninformative: ClassVar[str | None] = "a weight of 0"
    draws: ClassVar[bool] = True

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

    def _shared_in_groups(self, X: Floats, target: Target, groups: Ints | None) -> Ints:
        check_copies(self.copies, groups)
        return order_rows(X, target) if groups is None else groups

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        return self._preferences_by_setting([self], shared, X, target, counts, seed)[0]

    def _preferences_by_setting(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None
    ) -> Sequence[Preference]:
        for selector in selectors:
            if selector.rule not in ("min", "1se"):
                raise ValueError(f"Expected rule='min' or '1se', got {selector.rule!r}.")
        splits = self._inner_splits(shared, X, target, counts, seed)
        problems = self._problems(target, Resamples(counts[None], [seed]))
        penalty_strengths = self._penalty_strengths(X, target, problems, counts)
        if penalty_strengths is None:
            return [self._empty(X, target, problems, counts)] * len(selectors)
        losses, weights = self._losses(X, target, problems, splits, penalty_strengths)
        exchange = self._exchange(X, counts, seed)
        places = [choose_strength(losses, weights, selector.rule) for selector in selectors]
        return [
            make_preference(
                self._solutions(X, target, problems, counts, penalty_strengths[: place + 1]), target, counts,
                float(penalty_strengths[place]), exchange,
            )
            for place in places
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

    def _penalty_strengths(
        self, X: Floats, target: Target, problems: Sequence[BinaryProblem], counts: Ints
    ) -> Floats | None:
        """The path of the problem that begins first; None if no column varies with the target."""
        paths = []
        for problem in problems:
            with suppress(NothingVariesError):
                paths.append(self._paths(X, target, problem, counts[None]).lambdas[0])
        return max(paths, key=lambda path: path[0], default=None)

    def _empty(self, X: Floats, target: Target, problems: Sequence[BinaryProblem], counts: Ints) -> Preference:
        """The preference where no column varies with the target: no feature at any lambda, and intercepts alone."""
        solutions = self._solutions(X, target, problems, counts, [1.0])
        return replace(make_preference(solutions, target, counts, np.inf), note="no feature varies with the target")

    def _inner_splits(
        self, order: Ints, X: Floats, target: Target, counts: Ints, seed: int | None
    ) -> Sequence[InnerSplit]:
        """What to train on and what to hold out, for each fold."""
        if is_number_of_folds(self.cv):
            return deal_folds(order, target, counts, self.cv, self.copies, seed)
        rows, splits = np.arange(counts.size), check_cv(self.cv).split(X, target.values)
        return [InnerSplit(*(np.where(np.isin(rows, part), counts, 0) for part in split)) for split in splits]

    def prepare(
        self, X: Floats, y: NDArray[Any], settings: Sequence[Setting], groups: NDArray[Any] | None = None
    ) -> dict[Key, Any]:
        for cv in [self.cv, *(setting["cv"] for setting in settings if "cv" in setting)]:
            if not is_number_of_folds(cv):
                raise ValueError(
                    f"Where rows are resampled, cv is a number of folds: a splitter, such as {cv!r:.60}, names rows of "
                    "the whole data."
                )
        return super().prepare(X, y, settings, groups)

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
                row_losses = held_out_loss(
                    paths.predictors[fold][:, test], problem.labels[test], target.classes is None
                )
                losses[fold] += row_losses @ counts[test] / counts[test].sum()
        return losses, held_out.sum(axis=1).astype(np.float64)
