"""Selectors around another selector, the base: what it prefers on resamples of the rows, of any class."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import has_fit_parameter

from holdfast.checks import check_whole, is_number
from holdfast.declared import About
from holdfast.io.estimators import preserve_random_state, read_selection, set_seeds
from holdfast.resampling import Bootstrap, ComplementaryPairs, Perturbation, Samples, Split
from holdfast.resampling.split import rng_of
from holdfast.selection import FewerFeaturesWarning, Selection, tie_ranks
from holdfast.selectors.base import (
    AS_BASE,
    Batch,
    BinaryProblem,
    Data,
    Floats,
    Ints,
    Preference,
    Ranked,
    Selector,
    Serves,
    Setting,
    TakesGroups,
    check_choice,
    tied,
)
from holdfast.similarity import BLOCK_ENTRIES, Correlation, FeatureSimilarity, SymmetricalUncertainty
from holdfast.targets import Target

Copies = Literal["together", "apart"]


class InnerSplit(NamedTuple):
    """How often each row counts in training, and how often among those that are held out."""

    train: Ints
    held_out: Ints


def check_copies(copies: str, groups: Ints | None) -> None:
    """Raise unless copies of rows can be dealt in this way."""
    check_choice("copies", copies, get_args(Copies))
    if copies == "apart" and groups is not None:
        raise ValueError(
            "Expected copies='together' where rows have groups, as a row and its copies are of one group, got 'apart'."
        )


def order_rows(X: Floats, target: Target) -> Ints:
    """The rank of each row in an order that does not depend on the order of rows; equal rows share it."""
    return np.unique(np.column_stack([target.values, X]), axis=0, return_inverse=True)[1].ravel()


def deal_folds(
    order: Ints, target: Target, counts: Ints, n_folds: int, copies: Copies, seed: int | None
) -> list[InnerSplit]:
    """Deal rows that count so often to folds.

    Parameters
    ----------
    order : ndarray of int
        The rank of each row, as of :func:`order_rows`, or its group.
    target : Target
        Rows are dealt class by class, if there are classes.
    counts : ndarray of int
        How often each row counts.
    n_folds : int
        How many folds; fewer, if there is less to deal.
    copies : {"together", "apart"}
        Whether all that share a rank go to one fold, or each copy is dealt by itself.
    seed : int, optional
        Of the deal.

    Returns
    -------
    list of InnerSplit
        One for each fold.
    """
    rows = np.flatnonzero(counts)
    rows = rows[np.argsort(order[rows], kind="stable")]
    dealt = np.repeat(rows, counts[rows])
    begins = np.ones(dealt.size, dtype=bool) if copies == "apart" else np.diff(order[dealt], prepend=-1) > 0
    first = dealt[begins]
    rng = np.random.default_rng(seed)
    strata = np.zeros(first.size) if target.strata is None else target.strata[first]
    deck = np.concatenate([rng.permutation(np.flatnonzero(strata == code)) for code in np.unique(strata)])
    n_folds, fold_of = min(n_folds, first.size), np.empty(first.size, np.int64)
    fold_of[deck] = np.arange(deck.size) % n_folds
    cells = fold_of[np.cumsum(begins) - 1] * counts.size + dealt
    held_out = np.bincount(cells, minlength=n_folds * counts.size).reshape(n_folds, counts.size)
    return [InnerSplit(counts - held, held) for held in held_out]


def usable_splits(
    splits: Sequence[InnerSplit], problems: Sequence[BinaryProblem], target: Target
) -> Sequence[InnerSplit]:
    """The splits that hold something out and train on both labels of every problem; raise if there is but one.

    Without the fold of a class's only row, rows to train on have one label.
    """
    labels = [] if target.classes is None else [problem.labels for problem in problems]
    usable = [
        split
        for split in splits
        if split.held_out.any() and all(np.unique(label[split.train > 0]).size == 2 for label in labels)
    ]
    if len(usable) < 2:
        raise ValueError("Expected different rows of each class in at least two folds, got fewer; lower cv.")
    return usable


Resampling = Literal["pairs", "subsamples", "bootstrap"]
INNER = 0  # what a random stream is for


class Wrapper(TakesGroups):
    """A selector around a ``base``: a selector of holdfast, or any scikit-learn estimator."""

    base: Any

    def _target(self, y: Any) -> Target:
        return Target(np.asarray(y), None)  # unchanged: the base interprets it

    def _checked_base(self) -> Any:
        if isinstance(self.base, type) or not hasattr(self.base, "fit") or not hasattr(self.base, "get_params"):
            raise ValueError(
                f"Expected a selector or scikit-learn estimator as base, got {self.base!r}"
                + ("; call the class to make an object of it." if isinstance(self.base, type) else ".")
            )
        return self.base

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.base, BaseEstimator):
            base_tags = get_tags(self.base).classifier_tags
            tags.classifier_tags = None if base_tags is None or base_tags.multi_class else base_tags
        return tags


class Inner(NamedTuple):
    """What all outer resamples share: the base's part, and which rows are drawn together.

    Attributes
    ----------
    base : object
        What the base prepared.
    unit_of : ndarray of int
        The unit of each row, see :func:`row_units`.
    groups : ndarray of int or None
        The group of each row, if there are groups.
    """

    base: Any
    unit_of: Ints
    groups: Ints | None

    def n_units(self, rows: NDArray[Any]) -> int:
        """How many units these rows belong to."""
        return np.unique(self.unit_of[rows]).size


class ResamplingWrapper(Wrapper):
    """A selector that fits its base to many resamples of the rows.

    Copies of a row, such as those in a bootstrap sample, are drawn together or not at all, and so are rows of one
    group: else halves would not be independent. Draws go by the values of rows, never by their order, so that weights
    equal repeated rows. The seed governs the base too, whose ``random_state`` has no effect: each resample gives it
    a new seed.
    """

    draws: ClassVar[bool] = True

    @abstractmethod
    def _base_settings(self) -> Sequence[Setting]:
        """Settings of the base to prepare; raise if parameters are wrong."""

    def share(self, data: Data) -> Inner:
        base, settings, y = self._unseeded(), self._base_settings(), data.target.values
        known = (data.groups,) if data.covariates is None else (data.groups, data.covariates)
        prepared = base.prepare(data.X, y, settings, *known) if isinstance(base, Selector) else None
        return Inner(prepared, row_units(data.X, y, data.groups), data.groups)

    def _unseeded(self) -> Any:
        """The base, ready for a seed of each resample."""
        base = clone(self._checked_base())
        return base.set_params(random_state=None) if "random_state" in base.get_params(deep=False) else base

    def _preferred(
        self, shared: Inner, batch: Batch, splits: Sequence[Split], settings: Sequence[Setting], *, cut: bool = False
    ) -> Iterator[list[Selection]]:
        """What each setting of the base prefers on each split: an order of features if it has one, unless cut."""
        base, X, y = self._unseeded(), batch.X, batch.target.values
        if isinstance(base, Selector):
            results: Any = (base.refit_many if cut else base.prefer_many)(shared.base, X, y, splits, settings)
        else:
            results = (_fit_clones(base, batch, split, settings, ordered=not cut) for split in splits)
        for split, selections in zip(splits, results, strict=True):
            for selection in selections:
                if isinstance(selection, Exception):
                    raise _name_resample(selection, base, split, y) from selection
            yield selections


def _fit_clones(
    base: Any, batch: Batch, split: Split, settings: Sequence[Setting], *, ordered: bool
) -> list[Selection | Exception]:
    """What a clone with each setting prefers on a split, or the error that stopped it."""
    rows, labels = split.data(batch.X, batch.target.values)
    row_groups = None if batch.groups is None else batch.groups[split.train]
    preferences: list[Selection | Exception] = []
    for setting in settings:
        try:
            twin = fitted(clone(base).set_params(**setting), rows, labels, split.seed, row_groups, always=True)
            preferences.append(read(twin, ordered=ordered))
        except Exception as error:
            preferences.append(error)
    return preferences


def fitted(
    estimator: Any, X: Floats, y: NDArray[Any], random_state: int | None, groups: Ints | None, *, always: bool = False
) -> Any:
    """The estimator, fitted with a seed and with groups if there are any; seeds that were set stay, unless always."""
    given = {} if groups is None or not has_fit_parameter(estimator, "groups") else {"groups": groups}
    if random_state is None:
        return estimator.fit(X, y, **given)
    with preserve_random_state():
        set_seeds(estimator, random_state, always=always)
        return estimator.fit(X, y, **given)


@contextmanager
def collect_fewer_notes() -> Iterator[list[str]]:
    """Collect the notes of warnings about features without information; other warnings are passed on."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for warning in caught:
        if isinstance(warning.message, FewerFeaturesWarning):
            notes.append(warning.message.note)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def read(estimator: Any, *, ordered: bool) -> Selection:
    """What a fitted estimator prefers: an order of features, or what it selects, whichever is asked for first."""
    return read_selection(estimator, [f"x{column}" for column in range(estimator.n_features_in_)], ordered=ordered)


def _name_resample(error: Exception, base: Any, split: Split, y: NDArray[Any]) -> Exception:
    """Return the error of a base with the name of the resample that it came from."""
    if not isinstance(error, ValueError):
        return error
    one_class = np.unique(y[split.rows]).size == 1 < np.unique(y).size
    few = "; draw within classes, as ComplementaryPairs(stratify=True) does" if one_class else ""
    return ValueError(f"{type(base).__name__} cannot be fitted to {split.label}: {str(error).rstrip('.')}{few}.")


def row_units(X: Floats, y: NDArray[Any], groups: Ints | None = None) -> Ints:
    """The unit that each row is drawn with: its group; without groups, all rows that equal it in X and y.

    Units are numbered by their values from the first column on, whatever the order of rows; those of some of the rows
    are in the same order as those of all.

    >>> row_units(np.array([[2.0, 1], [1, 5], [2, 1], [2, 0]]), np.array(["a", "b", "a", "a"]))
    array([2, 0, 2, 1])
    """
    if groups is not None:
        return groups
    row_codes = np.unique(X[:, 0], return_inverse=True)[1]
    if np.unique(row_codes).size < len(X):
        row_codes = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    pairs = np.column_stack([row_codes, np.unique(y, return_inverse=True)[1]])
    return np.unique(pairs, axis=0, return_inverse=True)[1].ravel()


def inner_splits(
    resampling: Perturbation, shared: Inner, counts: Ints, y: NDArray[Any], random_state: int | None, copies: Copies
) -> list[Split]:
    """Resamples of rows that count so often, whole units drawn together or each copy by itself, as splits of rows."""
    assert random_state is not None
    rows = np.repeat(np.arange(counts.size), counts)
    units = np.unique(shared.unit_of[rows], return_inverse=True)[1]
    if copies == "apart":
        rows, units = rows[np.argsort(units, kind="stable")], np.arange(rows.size)
    if units.max(initial=-1) + 1 < resampling.least_units:
        different = "different rows" if shared.groups is None else "groups of rows"
        raise ValueError(
            f"Expected at least {resampling.least_units} {different} for {resampling}, got {units.max(initial=-1) + 1}."
        )
    strata = None
    if y.dtype.names or type_of_target(y) in ("binary", "multiclass"):
        strata = np.unique(y["event"][rows] if y.dtype.names else y[rows], return_inverse=True)[1]
    samples = Samples(rows.size, strata, units)
    resampling.check(samples)
    start = int(rng_of(random_state, INNER).integers(2**31))
    splits = []
    for index in range(resampling.get_n_splits()):
        split = resampling.make_split(index, samples, start)
        if split.change is not None:
            raise ValueError(
                "Expected resampling that draws rows, such as Bootstrap, got a perturbation that changes their values."
            )
        drawn, times = np.unique(rows[split.train], return_counts=True)
        splits.append(replace(split, rows=drawn, counts=times))
    return splits


class Halves(ComplementaryPairs):
    """Half of the rows, drawn anew for each split: the first halves of complementary pairs."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_pairs

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        half = super().make_split(2 * index, samples, seed)
        return replace(half, index=index, label=f"subsample {index}", block=index)


def selects_for_classes(base: Any, y: NDArray[Any]) -> bool:
    """Whether a base takes the target as classes, or as events: a selector by its rule, others if they classify."""
    if isinstance(base, Wrapper):
        return selects_for_classes(base.base, y)
    return base._target(y).strata is not None if isinstance(base, Selector) else bool(is_classifier(base))


def named_resampling(
    resampling: Any, n_resamples: int | None, default_numbers: dict[str, int], *, stratify: bool = False
) -> Perturbation:
    """A perturbation by its name and number, drawn within classes if asked, or as it was given."""
    if isinstance(resampling, Perturbation):
        return resampling
    if not isinstance(resampling, str) or resampling not in default_numbers:
        names = ", ".join(map(repr, default_numbers))
        raise ValueError(f"Expected resampling to be {names} or a perturbation, got {resampling!r}.")
    n = default_numbers[resampling] if n_resamples is None else n_resamples
    makes = {"pairs": ComplementaryPairs, "subsamples": Halves, "bootstrap": Bootstrap}
    return makes[resampling](check_whole("n_resamples", n, 1), stratify=stratify)


def badness(selection: Selection, n_features: int) -> Floats:
    """Return a number for every feature, larger for worse ones; equal for ties, and for all that are not selected.

    Features without information are infinitely bad, and so are those beyond the end of an order that was cut.
    """
    if selection.order is not None:
        positions = np.full(n_features, np.inf)
        positions[selection.order] = np.arange(selection.order.size)
        return positions
    if selection.kind == "subset":
        left_out = np.ones(n_features)
        left_out[selection.values] = 0
        return left_out
    values = np.asarray(selection.values, dtype=np.float64)
    worse = values if selection.kind == "ranking" else -values
    return worse if selection.informative is None else np.where(selection.informative, worse, np.inf)


Aggregate = Literal["mean_rank", "frequency", "exponential"]
DEFAULT_NUMBERS = dict.fromkeys(("bootstrap", "subsamples", "pairs"), 50)


class EnsembleSelector(ResamplingWrapper):
    r"""Ensemble feature selection: fit a selector to many resamples and keep the features that are best overall.

    Every feature gets a score over the resamples: minus its mean rank (``"mean_rank"``, complete linear aggregation),
    the share of resamples in which it is among the best ``depth`` (``"frequency"``), or the mean of
    :math:`e^{-r/k}` over its ranks r with k = ``depth`` (``"exponential"``). Tied features share their mean rank,
    and the remaining ranks of a list; a base without an order ranks all that it selects before all others. Of features
    with equal scores, those that are selected are drawn. Copies of a row, and rows of one group, are drawn together.

    Parameters
    ----------
    base : selector
        A selector, or any scikit-learn estimator with a ranking, scores, coefficients or importances. Its
        ``n_features`` says how far features are ordered, where that matters: MRMR orders no more than that, and an
        elimination goes no further and orders what is left by weight.
    n_features : int
        Number of features to select. All sizes come from one fit.
    n_resamples : int
        How many resamples, or pairs of them.
    resampling : {"bootstrap", "subsamples", "pairs"} or perturbation
        How rows are drawn: with replacement, within each class if the base selects for classes, so that no class goes
        missing; halves; disjoint halves two by two; or a perturbation with its number, such as
        ``hf.Subsample(100, 0.8)`` or ``hf.Bootstrap(50)``, which draws from all rows alike.
    aggregate : {"mean_rank", "frequency", "exponential"}
        How ranks become a score.
    depth : int
        Length of the lists that ``"frequency"`` counts, and scale of ``"exponential"``.
    random_state : int, optional
        Seed of the resamples and of the base. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray
        Score of every feature; larger is better.
    ranking_ : ndarray
        Rank of every feature by its score, 1 is best; equal scores share their mean rank.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    StabilitySelection : How often features are selected on halves, with a bound on false ones.

    References
    ----------
    Saeys, Abeel and Van de Peer (2008); Abeel et al. (2010); Haury, Gestraud and Vert (2011).

    Examples
    --------
    >>> from holdfast.selectors import AnovaF, EnsembleSelector
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(EnsembleSelector(AnovaF(), 3, random_state=0).fit(X, y).get_feature_names_out())
    ['mean concave points', 'worst perimeter', 'worst concave points']
    """

    about: ClassVar[About] = About(
        name="ensemble",
        label="Ensemble",
        summary="Best mean rank of a base selector over resamples.",
        methods="an ensemble of selections on resamples",
    )
    serves: ClassVar[Serves | None] = AS_BASE

    shared_parameters: ClassVar[tuple[str, ...]] = ("n_features",)
    uninformative: ClassVar[str | None] = "no information for the base in any resample"

    def __init__(
        self,
        base: Any,
        n_features: int = 10,
        *,
        n_resamples: int = 50,
        resampling: Resampling | Perturbation = "bootstrap",
        aggregate: Aggregate = "mean_rank",
        depth: int = 10,
        random_state: Any = None,
    ) -> None:
        self.base, self.n_features, self.n_resamples, self.resampling = base, n_features, n_resamples, resampling
        self.aggregate, self.depth, self.random_state = aggregate, depth, random_state

    def _base_settings(self) -> list[Setting]:
        check_choice("aggregate", self.aggregate, get_args(Aggregate))
        check_whole("depth", self.depth, 1)
        return [{}]

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        y, d, depth = batch.target.values, batch.n_features, int(self.depth)
        by_class = self.resampling == "bootstrap" and selects_for_classes(self.base, y)
        resampling = named_resampling(self.resampling, self.n_resamples, DEFAULT_NUMBERS, stratify=by_class)
        ranked = []
        for counts, seed in batch.resamples:
            splits = inner_splits(resampling, shared, counts, y, seed, "together")
            total, informative = np.zeros(d), np.zeros(d, dtype=bool)
            for (selection,) in self._preferred(shared, batch, splits, [{}]):
                total += score_features(selection, d, self.aggregate, depth)
                if selection.kind == "subset":
                    informative[selection.values] = True
                else:
                    informative |= True if selection.informative is None else selection.informative
            scores = tied(total / len(splits))
            ranks = np.asarray(rankdata(-scores), dtype=np.float64)
            preference = Preference("ranking", ranks, extras={"scores_": scores}, informative=informative)
            ranked.append([preference] * len(batch.settings))
        return ranked


def score_features(selection: Selection, n_features: int, aggregate: Aggregate, depth: int) -> Floats:
    """Score every feature by its rank, 1 is best and shared by ties; larger scores are better.

    Minus the rank (``"mean_rank"``), a score that falls by a factor e every ``depth`` ranks (``"exponential"``), or
    whether it is among the best ``depth`` (``"frequency"``), of which tied features have a share each.
    """
    worse = badness(selection, n_features)
    if aggregate == "frequency":
        if selection.kind == "subset":
            return 1 - worse
        first, last = (np.asarray(rankdata(worse, method=method), dtype=np.float64) for method in ("min", "max"))
        return np.clip((depth - first + 1) / (last - first + 1), 0, 1)
    ranks = np.asarray(rankdata(worse), dtype=np.float64)
    return -ranks if aggregate == "mean_rank" else np.exp(-ranks / depth)


Linkage = Literal["complete", "average", "single"]
Representative = Literal["medoid", "first"]
SimilarityName = Literal["correlation", "symmetrical_uncertainty"]
ROUNDING = 1e-12
NANOSECONDS = {"correlation": (15.0, 0.08), "symmetrical_uncertainty": (150.0, 1.0)}
"""About what a pair of features costs, and what each row adds to it, on one core."""
LONG = 60.0
"""Seconds of a fit that are worth a warning."""
MAX_LINKED = 20_000
"""Features that may be clustered together: their similarities, as a matrix with its copies, take 8 GB."""


class GroupedSelector(Wrapper):
    """Cluster correlated features into groups, and let a selector choose among a representative of each group.

    Correlated features stand in for each other, so that a selector picks now this one, now that one: a stability that
    compares features one by one calls this unstable. Groups are more stable. They come from hierarchical clustering on
    the training rows alone. Selections of representatives are best compared by a measure
    that knows which features are alike; see :mod:`holdfast.similarity`.

    A constant feature is alike to none. Similarities are computed in blocks, and only features that are linked to each
    other at ``threshold`` are clustered together, so that memory grows with the square of the largest such component,
    not of all features; one of more than 20,000 features is refused. Time grows with the square of all features: where
    a fit will take minutes, a warning says so before it begins.

    Parameters
    ----------
    base : selector
        A selector, or any scikit-learn estimator with a support. Its number of features counts groups.
    threshold : float
        Similarity from which features belong together, above 0: of all pairs in a group (``"complete"``), on average
        between the parts that form it (``"average"``), or along a chain (``"single"``).
    linkage : {"complete", "average", "single"}
        See ``threshold``.
    similarity : {"correlation", "symmetrical_uncertainty"}
        Absolute correlation, or symmetrical uncertainty on ten bins of equal width.
    representative : {"medoid", "first"}
        The feature that is most alike to the others of its group, on average, or the lowest column. Of equal medoids
        one is drawn; the lowest column, in a plain fit without a seed.
    members : bool
        Select all features of a selected group, not only its representative.
    random_state : int, optional
        Seed of that, and of a base without one. In a study, each resample has its own unless this is set.

    Attributes
    ----------
    groups_ : ndarray of int
        The group of each feature, numbered from 0 by lowest column.
    representatives_ : ndarray of int
        The representative of each group, a column.
    group_support_ : ndarray of bool
        Which groups are selected.
    ranking_ : ndarray
        Rank of every feature, 1 is best, if the base has an order: features of one group share that of their group if
        ``members``, else all but the representatives share the last.

    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    holdfast.similarity.Correlation : The similarity, for measures that let similar features stand in.

    References
    ----------
    Yu, Ding and Loscalzo (2008).

    Examples
    --------
    >>> from holdfast.selectors import AnovaF, GroupedSelector
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> grouped = GroupedSelector(AnovaF(3)).fit(X, y)
    >>> list(grouped.get_feature_names_out())
    ['mean concave points', 'worst radius', 'worst compactness']
    >>> grouped.group_support_.size
    16
    """

    about: ClassVar[About] = About(
        name="grouped",
        label="Grouped selection",
        summary="A base selector's choice among groups of correlated features.",
        methods="selection among groups of correlated features",
    )
    serves: ClassVar[Serves | None] = AS_BASE

    shared_parameters: ClassVar[tuple[str, ...]] = ()
    uninformative: ClassVar[str | None] = "no information for the base"

    def __init__(
        self,
        base: Any,
        *,
        threshold: float = 0.8,
        linkage: Linkage = "complete",
        similarity: SimilarityName = "correlation",
        representative: Representative = "medoid",
        members: bool = False,
        random_state: Any = None,
    ) -> None:
        self.base, self.threshold, self.linkage, self.random_state = base, threshold, linkage, random_state
        self.similarity, self.representative, self.members = similarity, representative, members

    def share(self, data: Data) -> None:
        self._checked_base()
        if not is_number(self.threshold) or not 0 < self.threshold <= 1:
            raise ValueError(f"Expected threshold above 0 and at most 1, got {self.threshold!r}.")
        check_choice("linkage", self.linkage, get_args(Linkage))
        check_choice("similarity", self.similarity, get_args(SimilarityName))
        check_choice("representative", self.representative, get_args(Representative))
        (n_rows, n_features), (each, by_row) = data.X.shape, NANOSECONDS[self.similarity]
        pairs = n_features * (n_features - 1) / 2
        seconds = pairs * (each + by_row * n_rows) * 1e-9
        if seconds > LONG:
            warnings.warn(
                f"GroupedSelector compares all pairs of {n_features:,} features, {pairs:.1e} pairs, which takes about "
                f"{seconds / 60:.0f} minutes for each fit on {n_rows} rows, and up to 8 GB of memory where "
                f"{MAX_LINKED:,} of them are linked (more are refused). Select some features first: "
                "Prefiltered(GroupedSelector(...), AnovaF(5000)) takes seconds.",
                UserWarning,
                stacklevel=4,
            )

    def rank(self, batch: Batch, shared: None) -> Ranked:
        return [[self._select_groups(batch, *resample)] * len(batch.settings) for resample in batch.resamples]

    def _select_groups(self, batch: Batch, counts: Ints, seed: int | None) -> Preference:
        """Group the features of one resample, and let the base choose among groups."""
        rows = np.repeat(np.arange(counts.size), counts)
        X, y = batch.X[rows], batch.target.values[rows]
        alike = Correlation(X) if self.similarity == "correlation" else SymmetricalUncertainty(X)
        ranks = tie_ranks(X.shape[1], seed)
        groups = group_features(alike, self.threshold, self.linkage, self.representative, ranks)
        row_groups = None if batch.groups is None else batch.groups[rows]
        with collect_fewer_notes() as notes:
            base = fitted(clone(self.base), X[:, groups.representatives], y, seed, row_groups)
        selection, order = read(base, ordered=False), read(base, ordered=True)
        if selection.kind != "subset":
            raise ValueError(
                f"Expected a base that selects features, got {type(base).__name__}, which only orders them; wrap it, "
                "as SelectFromModel does."
            )
        chosen = np.zeros(groups.representatives.size, dtype=bool)
        chosen[selection.values] = True
        selected = np.flatnonzero(chosen[groups.labels]) if self.members else groups.representatives[chosen]
        extras = {"groups_": groups.labels, "representatives_": groups.representatives, "group_support_": chosen}
        if order.kind != "subset":
            extras["ranking_"] = groups.ranks(badness(order, chosen.size), members=self.members)
        return Preference("subset", np.sort(selected), extras=extras, note="\n".join(notes))


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of features.

    Attributes
    ----------
    labels : ndarray of int
        The group of each feature, numbered from 0 by lowest column.
    representatives : ndarray of int
        The column that stands for each group.
    """

    labels: Ints
    representatives: Ints

    def ranks(self, worse: Floats, *, members: bool) -> Floats:
        """Ranks of all features, given numbers that are larger for worse groups."""
        if members:
            return np.asarray(rankdata(worse[self.labels], method="min"), dtype=np.float64)
        ranks = np.full(self.labels.size, float(self.labels.size))
        ranks[self.representatives] = rankdata(worse, method="min")
        return ranks


def group_features(
    similarity: FeatureSimilarity,
    threshold: float,
    linkage: Linkage = "complete",
    representative: Representative = "medoid",
    ranks: NDArray[np.integer] | None = None,
) -> Groups:
    """Group features by hierarchical clustering; of equal medoids, that of lowest tie-break rank represents a group.

    A cluster formed at ``threshold`` lies within features that are linked by pairs at least so similar, whatever the
    linkage; so each such component is clustered separately, and no matrix of all features is needed.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.selectors.wrapping import group_features
    >>> from holdfast.similarity import GivenSimilarity
    >>> alike = GivenSimilarity(np.array([[1, 0.9, 0.2], [0.9, 1, 0.8], [0.2, 0.8, 1]]))
    >>> group_features(alike, 0.8, "complete").labels, group_features(alike, 0.8, "single").labels
    (array([0, 0, 1]), array([0, 0, 0]))
    """
    component = _components(similarity, threshold)
    dense = linkage != "single" or representative == "medoid"
    largest = int(np.bincount(component).max()) if dense else 1
    if largest > MAX_LINKED:
        raise ValueError(
            f"Expected at most {MAX_LINKED:,} features to cluster together, got {largest:,} of {component.size:,} "
            f"that are linked by pairs at threshold={threshold:g}, which would take {20e-9 * largest**2:.0f} GB; raise "
            "threshold, select fewer features first, or give linkage='single' with representative='first'."
        )
    labels, n_groups = np.empty(component.size, dtype=np.int64), 0
    representatives: dict[int, int] = {}
    by_component = np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component))[:-1])
    for columns in by_component:
        block = similarity.block(columns, columns) if dense and columns.size > 1 else np.ones((columns.size, 1))
        inside = _clusters(block, threshold, linkage)
        for cluster in range(inside.max() + 1):
            members = np.flatnonzero(inside == cluster)
            group = columns[members]
            labels[group], center = n_groups, 0
            if representative == "medoid":  # most alike to the others; of equals, that of lowest rank
                alike = -np.round(block[np.ix_(members, members)].mean(axis=1), 9)
                center = int(np.lexsort((group if ranks is None else ranks[group], alike))[0])
            representatives[n_groups] = int(group[center])
            n_groups += 1
    first, numbered = np.unique(labels, return_index=True)[1], np.empty(n_groups, dtype=np.int64)
    numbered[np.argsort(first)] = np.arange(n_groups)
    in_order = np.empty(n_groups, dtype=np.int64)
    in_order[numbered] = [representatives[label] for label in range(n_groups)]
    return Groups(numbered[labels], in_order)


def _components(similarity: FeatureSimilarity, threshold: float) -> Ints:
    """The component of each feature: linked, directly or along a chain, by pairs at least so similar."""
    d = similarity.n_features
    component, every = np.arange(d), np.arange(d)
    height = max(1, BLOCK_ENTRIES // d)
    for start in range(0, d, height):
        block = similarity.block(every[start : start + height], every[start:])
        first, second = np.nonzero(block >= threshold)
        links = component[first + start], component[second + start]
        joined = sp.coo_array((np.ones(first.size, dtype=np.int8), links), shape=(d, d))
        component = connected_components(joined, directed=False)[1][component].astype(np.int64)
    return np.unique(component, return_inverse=True)[1]


def _clusters(block: Floats, threshold: float, linkage: Linkage) -> Ints:
    """The cluster of each feature of a component, numbered from 0."""
    if block.shape[0] == 1 or linkage == "single":
        return np.zeros(block.shape[0], dtype=np.int64)
    tree = hierarchy.linkage(squareform(1 - block, checks=False), method=linkage)
    return hierarchy.fcluster(tree, 1 - threshold + ROUNDING, criterion="distance").astype(np.int64) - 1
