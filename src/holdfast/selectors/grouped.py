"""Groups of correlated features, clustered inside the split, and a selector on a representative of each."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.base import clone

from holdfast.checks import is_number
from holdfast.declared import About
from holdfast.selection import tie_order
from holdfast.selectors.base import Preference, TakesGroups
from holdfast.selectors.rows import Floats, Ints, Target
from holdfast.selectors.wrapping import Wrapper, collect_fewer_notes, fitted, read, worse_first
from holdfast.similarity import BLOCK_ENTRIES, Correlation, FeatureSimilarity, SymmetricalUncertainty

Linkage = Literal["complete", "average", "single"]
Representative = Literal["medoid", "first"]
SimilarityName = Literal["correlation", "symmetrical_uncertainty"]
ROUNDING = 1e-12
NANOSECONDS = {"correlation": (15.0, 0.08), "symmetrical_uncertainty": (150.0, 1.0)}
"""About what a pair of features costs, and what each row adds to it, on one core."""
LONG = 60.0
"""Seconds of a fit that are worth a warning."""
MOST_LINKED = 20_000
"""Features that may be clustered together: their similarities, as a matrix with its copies, take 8 GB."""


class GroupedSelector(TakesGroups, Wrapper):
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
        Seed of that, and of a base without one of its own. In a study, each resample has its own unless this is set.

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

    def _shared_in_groups(self, X: Floats, target: Target, groups: Ints | None) -> Ints | None:
        self._shared(X, target)
        return groups

    def _warn_of_cost(self, n_rows: int, n_features: int) -> None:
        """Say how long a fit will take, if that is long."""
        each, by_row = NANOSECONDS[self.similarity]
        pairs = n_features * (n_features - 1) / 2
        seconds = pairs * (each + by_row * n_rows) * 1e-9
        if seconds > LONG:
            warnings.warn(
                f"GroupedSelector compares all pairs of {n_features:,} features, {pairs:.1e} pairs, which takes about "
                f"{seconds / 60:.0f} minutes for each fit on {n_rows} rows, and up to 8 GB of memory where "
                f"{MOST_LINKED:,} of them are linked (more are refused). Select some features first: "
                "Prefiltered(GroupedSelector(...), AnovaF(5000)) takes seconds.",
                UserWarning,
                stacklevel=5,
            )

    def _shared(self, X: Floats, target: Target) -> None:
        self._checked_base()
        if not is_number(self.threshold) or not 0 < self.threshold <= 1:
            raise ValueError(f"Expected threshold above 0 and at most 1, got {self.threshold!r}.")
        for name, allowed in (
            ("linkage", Linkage),
            ("similarity", SimilarityName),
            ("representative", Representative),
        ):
            if getattr(self, name) not in get_args(allowed):
                raise ValueError(
                    f"Expected {name} to be {' or '.join(map(repr, get_args(allowed)))}, got {getattr(self, name)!r}."
                )
        self._warn_of_cost(*X.shape)

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        rows = np.repeat(np.arange(counts.size), counts)
        X, y = X[rows], target.values[rows]
        alike = Correlation(X) if self.similarity == "correlation" else SymmetricalUncertainty(X)
        turns = tie_order(X.shape[1], seed)
        groups = group_features(alike, self.threshold, self.linkage, self.representative, turns)
        row_groups = None if shared is None else shared[rows]
        with collect_fewer_notes() as notes:
            base = fitted(clone(self.base), X[:, groups.representatives], y, seed, groups=row_groups)
        chosen = np.zeros(groups.representatives.size, dtype=bool)
        chosen[_selected(base)] = True
        selected = np.flatnonzero(chosen[groups.labels]) if self.members else groups.representatives[chosen]
        extras = {"groups_": groups.labels, "representatives_": groups.representatives, "group_support_": chosen}
        order = read(base, ordered=True)
        if order.kind != "subset":
            extras["ranking_"] = groups.ranks(worse_first(order, chosen.size), members=self.members)
        return Preference("subset", np.sort(selected), extras=extras, note="\n".join(notes))


def _selected(base: Any) -> Ints:
    selection = read(base, ordered=False)
    if selection.kind != "subset":
        raise ValueError(
            f"Expected a base that selects features, got {type(base).__name__}, which only orders them; wrap it, as "
            "SelectFromModel does."
        )
    return np.asarray(selection.values, dtype=np.int64)


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
    turns: NDArray[np.integer] | None = None,
) -> Groups:
    """Group features by hierarchical clustering; of equal medoids, the column of the first turn represents a group.

    A cluster formed at ``threshold`` lies within features that are linked by pairs at least so similar, whatever the
    linkage; so each such component is clustered on its own, and no matrix of all features is needed.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.selectors.grouped import group_features
    >>> from holdfast.similarity import GivenSimilarity
    >>> alike = GivenSimilarity(np.array([[1, 0.9, 0.2], [0.9, 1, 0.8], [0.2, 0.8, 1]]))
    >>> group_features(alike, 0.8, "complete").labels, group_features(alike, 0.8, "single").labels
    (array([0, 0, 1]), array([0, 0, 0]))
    """
    component = _components(similarity, threshold)
    dense = linkage != "single" or representative == "medoid"
    _check_linked(int(np.bincount(component).max()) if dense else 1, component.size, threshold)
    labels, n_groups = np.empty(component.size, dtype=np.int64), 0
    representatives: dict[int, int] = {}
    by_component = np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component))[:-1])
    for columns in by_component:
        block = similarity.block(columns, columns) if dense and columns.size > 1 else np.ones((columns.size, 1))
        inside = _clusters(block, threshold, linkage)
        for cluster in range(inside.max() + 1):
            places = np.flatnonzero(inside == cluster)
            labels[columns[places]] = n_groups
            inner = columns[places]
            own = inner if turns is None else turns[inner]
            center = _center(block[np.ix_(places, places)], own) if representative == "medoid" else 0
            representatives[n_groups] = int(inner[center])
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


def _check_linked(largest: int, n_features: int, threshold: float) -> None:
    if largest > MOST_LINKED:
        raise ValueError(
            f"Expected at most {MOST_LINKED:,} features to cluster together, got {largest:,} of {n_features:,} that "
            f"are linked by pairs at threshold={threshold:g}, which would take {20e-9 * largest**2:.0f} GB; raise "
            "threshold, select fewer features first, or give linkage='single' with representative='first'."
        )


def _clusters(block: Floats, threshold: float, linkage: Linkage) -> Ints:
    """The cluster of each feature of a component, numbered from 0."""
    if block.shape[0] == 1 or linkage == "single":
        return np.zeros(block.shape[0], dtype=np.int64)
    tree = hierarchy.linkage(squareform(1 - block, checks=False), method=linkage)
    return hierarchy.fcluster(tree, 1 - threshold + ROUNDING, criterion="distance").astype(np.int64) - 1


def _center(block: Floats, turns: NDArray[np.integer]) -> int:
    """The feature that is most alike to the others; of equals, that of the first turn."""
    return int(np.lexsort((turns, -np.round(block.mean(axis=1), 9)))[0])
