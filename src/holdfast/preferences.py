"""``Preferences``: the subsets, rankings or weights that a feature selector gave in each of its runs."""

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from holdfast import checks
from holdfast.cards import Card, make_preferences_card
from holdfast.result_base import AnyChart, ResultMixin
from holdfast.text import pluralize

Floats = NDArray[np.float64]


def average_ranks(rows: Floats) -> Floats:
    """Rank each row, the smallest first; ties share their average rank."""
    from scipy.stats import rankdata  # half a second to import

    return rankdata(rows, method="average", axis=1)


def random_ranks(rows: Floats, rng: np.random.Generator) -> Floats:
    """Rank each row, the smallest first; ties are broken at random."""
    order = np.lexsort((rng.random(rows.shape), rows), axis=1)
    ranks = np.empty(order.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, rows.shape[1] + 1)[None, :], axis=1)
    return ranks


def best_columns(rows: Floats, k: int, *, warn: bool) -> NDArray[np.int32]:
    """Return the columns of the ``k`` smallest entries of each row, ascending; the lowest columns win ties."""
    order = np.argsort(rows, axis=1, kind="stable")
    if warn and k < rows.shape[1]:
        _warn_about_ties(np.take_along_axis(rows, order[:, k - 1 : k + 1], axis=1), k)
    return np.sort(order[:, :k], axis=1).astype(np.int32)


def _warn_about_ties(around_the_cut: Floats, k: int) -> None:
    tied = np.count_nonzero(around_the_cut[:, 0] == around_the_cut[:, 1])
    if tied:
        warnings.warn(
            f"In {tied} of {len(around_the_cut)} runs the cut after the best {k} falls among tied features; the lowest "
            "columns were taken, which makes runs look alike. Choose ties='random' or ties='lowest'.",
            UserWarning,
            stacklevel=4,
        )


Kind = Literal["subset", "ranking", "weighting"]
Ties = Literal["average", "random"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Preferences(ResultMixin):
    """The selections of several runs over the same features, as subsets, rankings or weights; read-only.

    Make one with :meth:`from_matrix`, :meth:`from_sets`, :meth:`from_rankings` or :meth:`from_weights`. Subsets are
    kept as index lists, so a million features cost nothing; rankings and weights as a runs × features matrix.
    Conversion goes one way: weights → :meth:`to_ranking` → :meth:`top`.

    Attributes
    ----------
    kind : {"subset", "ranking", "weighting"}
        Whether a run selects, ranks or weights the features.
    n_features : int
        Number of features to choose from, those that were never selected included.
    indices, indptr : ndarray
        Subsets only: run ``i`` selected ``indices[indptr[i]:indptr[i + 1]]``, ascending.
    values : ndarray of shape (n_runs, n_features)
        Rankings (1 is best, ties share their average rank) and weights (larger is better) only.
    names : sequence of str or None
        Names of the features; None if they are just numbered.
    labels : tuple of str or None
        Which resample each run came from. Equal labels mean that two selectors' runs can be compared as pairs.

    See Also
    --------
    read_preferences : Read selections from a file.
    stability : How stable the selections are.

    Examples
    --------
    >>> import holdfast as hf
    >>> runs = hf.Preferences.from_sets([{"age", "dose"}, {"age", "weight"}], features=["age", "dose", "weight", "sex"])
    >>> runs
    Preferences: 2 subsets of 4 features, 2 selected each
    >>> runs.frequency
    array([1. , 0.5, 0.5, 0. ])
    """

    kind: Kind
    n_features: int
    indices: NDArray[np.int32] | None = None
    indptr: NDArray[np.int64] | None = None
    values: NDArray[np.float64] | None = None
    names: Sequence[str] | None = None
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        checks.freeze(self.indices, self.indptr, self.values)
        for what, count in (("run", self.n_runs), ("feature", self.n_features)):
            if count < 1:
                raise ValueError(
                    f"Expected at least one run and one feature, got {count or 'zero'} {what}s; add a {what}."
                )
        object.__setattr__(self, "n_features", checks.check_number_of_features(self.n_features))
        object.__setattr__(
            self, "names", checks.check_unique(self.names, self.n_features, "feature", "column", "features=")
        )
        object.__setattr__(self, "labels", checks.check_unique(self.labels, self.n_runs, "run", "run", "labels="))
        if self.names is not None and all(name == str(column) for column, name in enumerate(self.names)):
            object.__setattr__(self, "names", None)  # names that only count from 0 are no names

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)  # as pickle would; it forgets that arrays were read-only
        checks.freeze(self.indices, self.indptr, self.values)

    @classmethod
    def from_matrix(
        cls, matrix: checks.Matrix, *, features: Iterable[Any] | None = None, labels: Iterable[Any] | None = None
    ) -> "Preferences":
        """Read subsets from a 0/1 or boolean matrix, one row per run.

        Parameters
        ----------
        matrix : array, nested list, scipy.sparse matrix, pandas or polars frame
            1 where a run (row) selected a feature (column).
        features, labels : iterable of str, optional
            Names of the columns and of the runs; taken from a frame's columns and (pandas, named index) rows.

        Returns
        -------
        Preferences
            The runs.
        """
        names, labels = checks.find_names(matrix, features, labels)
        indices, indptr, n_features = checks.subsets_of_matrix(matrix, names, labels)
        return cls(kind="subset", n_features=n_features, indices=indices, indptr=indptr, names=names, labels=labels)

    @classmethod
    def from_sets(
        cls,
        sets: Iterable[Collection[Any]] | Mapping[Any, Collection[Any]],
        *,
        features: Iterable[Any] | None = None,
        n_features: int | None = None,
        labels: Iterable[Any] | None = None,
    ) -> "Preferences":
        """Read subsets from lists or sets of feature names or indices (from 0), one per run.

        Stability depends on how many features there were to choose from. Pass the names of all of them as ``features``,
        or their number as ``n_features`` (features that no run selected then stay unnamed).

        Parameters
        ----------
        sets : iterable of collections, or mapping from run label to collection
            The selected features of each run.
        features : iterable of str, optional
            Names of all features, in column order.
        n_features : int, optional
            Number of all features.
        labels : iterable of str, optional
            Names of the runs.

        Returns
        -------
        Preferences
            The runs.

        Raises
        ------
        ValueError
            If a feature is unknown or repeated in a run, or it is not known how many features there were.
        """
        if isinstance(sets, Mapping):
            labels = sets.keys() if labels is None else labels
            sets = sets.values()
        indices, indptr, names, total = checks.subsets_of_sets(sets, features, n_features)
        labels = None if labels is None else checks.as_names(labels, "labels=")
        return cls(kind="subset", n_features=total, indices=indices, indptr=indptr, names=names, labels=labels)

    @classmethod
    def from_rankings(
        cls, ranks: checks.Matrix, *, features: Iterable[Any] | None = None, labels: Iterable[Any] | None = None
    ) -> "Preferences":
        """Read rankings from a matrix of ranks, one row per run: 1 is best, ties by any convention.

        Ties are stored as average ranks, so 1, 1, 2 and 1, 1, 3 and 1.5, 1.5, 3 all mean the same.

        Parameters
        ----------
        ranks : array, nested list, pandas or polars frame
            Rank of each feature (column) in each run (row).
        features, labels : iterable of str, optional
            Names of the columns and of the runs; by default those of a frame.

        Returns
        -------
        Preferences
            The runs.

        Raises
        ------
        ValueError
            If an entry is not a rank from 1 to the number of features.
        """
        names, labels = checks.find_names(ranks, features, labels)
        array = checks.as_ranks(ranks, names, labels)
        values = average_ranks(array)
        return cls(kind="ranking", n_features=array.shape[1], values=values, names=names, labels=labels)

    @classmethod
    def from_weights(
        cls, weights: checks.Matrix, *, features: Iterable[Any] | None = None, labels: Iterable[Any] | None = None
    ) -> "Preferences":
        """Read weights (scores, importances) from a matrix, one row per run; larger is better.

        For signed coefficients, of which the size matters, pass their absolute values or squares.

        Parameters
        ----------
        weights : array, nested list, pandas or polars frame
            Weight of each feature (column) in each run (row).
        features, labels : iterable of str, optional
            Names of the columns and of the runs; by default those of a frame.

        Returns
        -------
        Preferences
            The runs.
        """
        names, labels = checks.find_names(weights, features, labels)
        array = checks.as_finite_floats(weights, "weights", names, labels)
        return cls(kind="weighting", n_features=array.shape[1], values=array.copy(), names=names, labels=labels)

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(self.values) if self.values is not None else len(cast("NDArray[np.int64]", self.indptr)) - 1

    @property
    def features(self) -> Sequence[str] | range:
        """Names of the features, or their numbers if they have no names."""
        return range(self.n_features) if self.names is None else self.names

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of features that each run selected."""
        return checks.read_only(np.diff(self.lists()[1]))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of runs in which each feature was selected."""
        return checks.read_only(np.bincount(self.lists()[0], minlength=self.n_features))

    @cached_property
    def frequency(self) -> NDArray[np.float64]:
        """Selection frequency of each feature: the share of runs that selected it."""
        return checks.read_only(self.counts / self.n_runs)

    @property
    def density(self) -> float:
        """Mean share of the features that a run selects."""
        return len(self.lists()[0]) / (self.n_runs * self.n_features)

    def lists(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the index lists ``(indices, indptr)`` of subsets.

        Returns
        -------
        tuple of ndarray
            ``indices`` and ``indptr``, as in a sparse matrix.

        Raises
        ------
        TypeError
            If these are rankings or weights.
        """
        if self.indices is None or self.indptr is None:
            raise TypeError(f"Expected subsets, got {self.kind}s; cut them with .top(k) first.")
        return self.indices, self.indptr

    def matrix(self) -> NDArray[np.float64]:
        """Return the runs × features matrix of ranks or weights.

        Returns
        -------
        ndarray of shape (n_runs, n_features)
            Ranks or weights.

        Raises
        ------
        TypeError
            If these are subsets.
        """
        if self.values is None:
            raise TypeError("Expected rankings or weights, got subsets, which have no order.")
        return self.values

    def selected(self, run: int) -> list[Any]:
        """Return the features that a run selected, as names or indices.

        Parameters
        ----------
        run : int
            Position of the run; -1 is the last.

        Returns
        -------
        list
            Names, or indices if the features have no names.
        """
        indices, indptr = self.lists()
        run = range(self.n_runs)[run]  # -1 is the last run
        return [self.features[index] for index in indices[indptr[run] : indptr[run + 1]]]

    def to_sparse(self) -> sp.csr_array:
        """Return subsets as a sparse 0/1 matrix.

        Returns
        -------
        csr_array of shape (n_runs, n_features)
            1 where a run selected a feature.
        """
        indices, indptr = self.lists()
        return sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(self.n_runs, self.n_features))

    def to_frame(self) -> pd.DataFrame:
        """Return the runs × features matrix as a frame with names and labels.

        Returns
        -------
        DataFrame
            0 and 1 for subsets, else ranks or weights.
        """
        matrix = self.to_sparse().toarray().astype(np.int8) if self.values is None else self.values
        columns = pd.Index(self.features if self.names is None else list(self.names))
        return pd.DataFrame(matrix, columns=columns, index=None if self.labels is None else pd.Index(self.labels))

    def to_ranking(
        self, *, ties: Ties = "average", random_state: int | np.random.Generator | None = None
    ) -> "Preferences":
        """Convert weights to rankings: the largest weight has rank 1.

        Parameters
        ----------
        ties : {"average", "random"}
            Equal weights share their average rank, or are ordered at random. With many ties (scores of zero) average
            ranks make rankings look more alike than they are; random order does not.
        random_state : int or Generator, optional
            Seed of the random order.

        Returns
        -------
        Preferences
            Rankings of the same runs.

        Raises
        ------
        ValueError
            If ``ties`` is neither of the two.
        """
        if ties not in ("average", "random"):
            raise ValueError(f"Expected ties='average' or 'random', got {ties!r}.")
        if ties == "average":
            return self._average_ranking
        ranks = random_ranks(self._best_smallest(), np.random.default_rng(random_state))
        return replace(self, kind="ranking", values=ranks)

    def _best_smallest(self) -> NDArray[np.float64]:
        """Ranks, or weights with their sign reversed."""
        return self.matrix() if self.kind == "ranking" else -self.matrix()

    @cached_property
    def _average_ranking(self) -> "Preferences":
        if self.kind == "ranking":
            return self
        return replace(self, kind="ranking", values=average_ranks(-self.matrix()))

    def top(
        self, k: int, *, ties: Literal["lowest", "random"] | None = None, random_state: int | None = None
    ) -> "Preferences":
        """Cut rankings or weights to subsets: the ``k`` best features of each run.

        Parameters
        ----------
        k : int
            Number of features.
        ties : {"lowest", "random"}, optional
            Which of several tied features are taken where the cut falls among them: those in the lowest columns, which
            makes runs look alike, or a random choice. By default the lowest, with a warning.
        random_state : int, optional
            Seed of the random choice.

        Returns
        -------
        Preferences
            Subsets of ``k`` features.

        Raises
        ------
        ValueError
            If ``k`` is not a number of features, or ``ties`` is unknown.
        """
        if not (isinstance(k, (int, np.integer)) and 1 <= k <= self.n_features):
            raise ValueError(f"Expected a whole number k from 1 to the {self.n_features} features, got {k!r}.")
        if ties not in (None, "lowest", "random"):
            raise ValueError(f"Expected ties='lowest' or 'random', got {ties!r}.")
        if ties == "random":
            return self.to_ranking(ties="random", random_state=random_state).top(k, ties="lowest")
        best = best_columns(self._best_smallest(), k, warn=ties is None)
        return replace(self, kind="subset", values=None, indices=best.ravel(), indptr=np.arange(self.n_runs + 1) * k)

    def take(self, runs: ArrayLike) -> "Preferences":
        """Select runs by position or by a boolean mask, in this order; each at most once.

        Parameters
        ----------
        runs : array of int or bool
            Positions of the runs, or a mask.

        Returns
        -------
        Preferences
            The runs.
        """
        chosen = checks.as_positions(runs, self.n_runs)
        labels = None if self.labels is None else tuple(self.labels[run] for run in chosen)
        if self.values is not None:
            return replace(self, values=self.values[chosen], labels=labels)
        indices, indptr = self.lists()
        rows = [indices[indptr[run] : indptr[run + 1]] for run in chosen]
        pointers = np.concatenate([[0], np.cumsum(self.sizes[chosen])]).astype(np.int64)
        return replace(self, indices=np.concatenate([*rows, indices[:0]]), indptr=pointers, labels=labels)

    def __len__(self) -> int:
        return self.n_runs

    def plot(self) -> "AnyChart":
        """Draw which run selected which feature.

        Returns
        -------
        altair.Chart
            A selection map (see :func:`holdfast.plots.plot_selection_map`).
        """
        from holdfast.plots import plot_selection_map

        return plot_selection_map(self)

    def _card(self) -> Card:
        return make_preferences_card(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Preferences):
            return NotImplemented
        alike = ("kind", "n_features", "names", "labels")
        return all(getattr(self, name) == getattr(other, name) for name in alike) and all(
            np.array_equal(cast(Any, getattr(self, name)), cast(Any, getattr(other, name)))
            for name in ("indices", "indptr", "values")
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        text = f"Preferences: {self.n_runs} {pluralize(self.n_runs, self.kind)} of {self.n_features} features"
        if self.kind != "subset":
            return text
        low, high = self.sizes.min(), self.sizes.max()
        return f"{text}, {low if low == high else f'{low} to {high}'} selected each"
