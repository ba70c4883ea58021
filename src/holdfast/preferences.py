"""What a feature selector preferred in each of its runs: subsets, rankings or weights."""

import html
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from holdfast.checks import (
    Matrix,
    as_finite_floats,
    as_matrix,
    as_names,
    check_binary,
    check_members,
    check_number_of_features,
    check_unique,
    find_names,
    find_universe,
    first_wrong,
    sorted_indices,
    sparse_ones,
)
from holdfast.results import ResultMixin

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

Kind = Literal["subset", "ranking", "weighting"]
Ties = Literal["average", "random"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Preferences(ResultMixin):
    """The preferences of several runs over the same features; read-only.

    Make one with :meth:`from_matrix`, :meth:`from_sets`, :meth:`from_rankings` or :meth:`from_weights`. Subsets are
    kept as index lists, so a million features cost nothing; rankings and weights as a runs × features matrix.
    Conversion goes one way: weights → :meth:`to_ranking` → :meth:`top`.

    Attributes
    ----------
    kind : {"subset", "ranking", "weighting"}
        What a run says of the features.
    n_features : int
        Size of the universe the selector chose from, features that were never selected included.
    indices, indptr : ndarray
        Subsets only: run ``i`` selected ``indices[indptr[i]:indptr[i + 1]]``, ascending.
    values : ndarray of shape (n_runs, n_features)
        Rankings (1 is best, ties share their average rank) and weights (larger is better) only.
    names : sequence of str or None
        Names of the features; None if they are just numbered.
    labels : tuple of str or None
        Which resample each run came from. Equal labels mean that two selectors' runs can be compared as pairs.

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
        self._freeze()
        for what, number in (("run", self.n_runs), ("feature", self.n_features)):
            if number < 1:
                raise ValueError(
                    f"Expected at least one run and one feature, got {number or 'zero'} {what}s; add a {what}."
                )
        object.__setattr__(self, "n_features", check_number_of_features(self.n_features))
        check_unique(self.names, self.n_features, "feature", "column", "features=")
        check_unique(self.labels, self.n_runs, "run", "run", "labels=")
        if self.names is not None and all(name == str(place) for place, name in enumerate(self.names)):
            object.__setattr__(self, "names", None)  # names that only count from 0 are no names

    def _freeze(self) -> None:
        for array in (self.indices, self.indptr, self.values):
            if array is not None:
                array.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)  # as pickle would; it forgets that arrays were read-only
        self._freeze()

    # Making one

    @classmethod
    def from_matrix(
        cls, matrix: Matrix, *, features: Iterable[Any] | None = None, labels: Iterable[Any] | None = None
    ) -> "Preferences":
        """Read subsets from a 0/1 or boolean matrix, one row per run.

        Parameters
        ----------
        matrix : array, nested list, scipy.sparse matrix, pandas or polars frame
            1 where a run (row) selected a feature (column).
        features, labels : iterable of str, optional
            Names of the columns and of the runs; taken from a frame's columns and (pandas, named index) rows.
        """
        names, labels = find_names(matrix, features, labels)
        if sp.issparse(matrix):
            rows, columns, n_runs, n_features = sparse_ones(matrix, names, labels)
        else:
            array = as_matrix(matrix, "0/1 matrix")
            n_runs, n_features = array.shape
            if array.dtype != bool:
                check_binary(array, names, labels)
            rows, columns = np.nonzero(array)
        counts = np.bincount(rows, minlength=n_runs)
        return cls(
            kind="subset",
            n_features=n_features,
            indices=columns.astype(np.int32),
            indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            names=names,
            labels=labels,
        )

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

        The universe must be said, because stability depends on it: all names by ``features``, or only how many there
        are by ``n_features`` (features that no run selected then stay unnamed).

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
        """
        if isinstance(sets, Mapping):
            labels = sets.keys() if labels is None else labels
            sets = sets.values()
        if not isinstance(sets, Iterable):
            raise ValueError(f"Expected one list or set of features per run, got {sets!r}.")
        runs = [check_members(run, members) for run, members in enumerate(sets)]
        names, universe, index_of = find_universe(runs, features, n_features)
        rows = [sorted_indices(run, members, index_of, universe) for run, members in enumerate(runs)]
        sizes = [len(row) for row in rows]
        return cls(
            kind="subset",
            n_features=universe,
            indices=np.concatenate([*rows, np.empty(0, np.int32)]).astype(np.int32),
            indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            names=names,
            labels=None if labels is None else as_names(labels, "labels="),
        )

    @classmethod
    def from_rankings(
        cls, ranks: Matrix, *, features: Iterable[Any] | None = None, labels: Iterable[Any] | None = None
    ) -> "Preferences":
        """Read rankings from a matrix of ranks, one row per run: 1 is best, ties by any convention.

        Ties are stored as average ranks, so 1, 1, 2 and 1, 1, 3 and 1.5, 1.5, 3 all mean the same.
        """
        names, labels = find_names(ranks, features, labels)
        array = as_finite_floats(ranks, "ranks", names, labels)
        wrong = (array < 1) | (array > array.shape[1]) | (2 * array % 1 != 0)
        if wrong.any():
            raise ValueError(
                f"Expected ranks from 1 (best) to {array.shape[1]}, got {first_wrong(array, wrong, names, labels)}. "
                "Add 1 to ranks that count from 0; for scores use Preferences.from_weights()."
            )
        return cls(
            kind="ranking",
            n_features=array.shape[1],
            values=average_ranks(array),
            names=names,
            labels=labels,
        )

    @classmethod
    def from_weights(
        cls, weights: Matrix, *, features: Iterable[Any] | None = None, labels: Iterable[Any] | None = None
    ) -> "Preferences":
        """Read weights (scores, importances) from a matrix, one row per run; larger is better.

        For signed coefficients, of which the size matters, pass their absolute values or squares.
        """
        names, labels = find_names(weights, features, labels)
        array = as_finite_floats(weights, "weights", names, labels)
        return cls(kind="weighting", n_features=array.shape[1], values=array.copy(), names=names, labels=labels)

    # What it says

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(self.values) if self.values is not None else len(cast(NDArray[np.int64], self.indptr)) - 1

    @property
    def features(self) -> Sequence[str] | range:
        """Names of the features, or their numbers if they have no names."""
        return range(self.n_features) if self.names is None else self.names

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many features each run selected."""
        return _frozen(np.diff(self.lists()[1]))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """In how many runs each feature was selected."""
        return _frozen(np.bincount(self.lists()[0], minlength=self.n_features))

    @cached_property
    def frequency(self) -> NDArray[np.float64]:
        """In which share of the runs each feature was selected."""
        return _frozen(self.counts / self.n_runs)

    @property
    def density(self) -> float:
        """Mean share of the features that a run selects."""
        return len(self.lists()[0]) / (self.n_runs * self.n_features)

    def lists(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the index lists ``(indices, indptr)`` of subsets."""
        if self.indices is None or self.indptr is None:
            raise TypeError(f"Expected subsets, got a {self.kind}; cut it with .top(k) first.")
        return self.indices, self.indptr

    def matrix(self) -> NDArray[np.float64]:
        """Return the runs × features matrix of a ranking or weighting."""
        if self.values is None:
            raise TypeError("Expected rankings or weights, got subsets: a subset has no order.")
        return self.values

    def selected(self, run: int) -> list[Any]:
        """Return the features that a run selected, by name if they have names."""
        indices, indptr = self.lists()
        run = range(self.n_runs)[run]  # -1 is the last run
        return [self.features[index] for index in indices[indptr[run] : indptr[run + 1]]]

    def to_sparse(self) -> sp.csr_array:
        """Return subsets as a sparse 0/1 matrix."""
        indices, indptr = self.lists()
        return sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(self.n_runs, self.n_features))

    def to_frame(self) -> pd.DataFrame:
        """Return the runs × features matrix as a frame with names and labels."""
        if self.values is not None:
            matrix: NDArray[Any] = self.values
        else:
            matrix = self.to_sparse().toarray().astype(np.int8)
        index = None if self.labels is None else pd.Index(self.labels)
        return pd.DataFrame(
            matrix, columns=pd.Index(self.features if self.names is None else list(self.names)), index=index
        )

    # Conversions

    def to_ranking(
        self, *, ties: Ties = "average", random_state: int | np.random.Generator | None = None
    ) -> "Preferences":
        """Return the ranking of each run: the largest weight is rank 1.

        Parameters
        ----------
        ties : {"average", "random"}
            Equal weights share their average rank, or are ordered at random. With many ties (scores of zero) average
            ranks make rankings look more alike than they are; random order does not.
        random_state : int or Generator, optional
            Seed of the random order.
        """
        if ties not in ("average", "random"):
            raise ValueError(f"Expected ties='average' or 'random', got {ties!r}.")
        if ties == "average":
            return self._average_ranking
        better_first = self.matrix() if self.kind == "ranking" else -self.matrix()
        rng = np.random.default_rng(random_state)
        order = np.lexsort((rng.random(better_first.shape), better_first), axis=1)
        ranks = np.empty(order.shape)
        np.put_along_axis(ranks, order, np.arange(1.0, self.n_features + 1)[None, :], axis=1)
        return replace(self, kind="ranking", values=ranks)

    @cached_property
    def _average_ranking(self) -> "Preferences":
        if self.kind == "ranking":
            return self
        return replace(self, kind="ranking", values=average_ranks(-self.matrix()))

    def top(
        self, k: int, *, ties: Literal["lowest", "random"] | None = None, random_state: int | None = None
    ) -> "Preferences":
        """Return the ``k`` best features of each run as subsets.

        Parameters
        ----------
        k : int
            How many.
        ties : {"lowest", "random"}, optional
            Which of several equally good features are taken where the cut falls among them: those in the lowest
            columns, which makes runs look alike, or any. Left out, it is the lowest, with a warning.
        random_state : int, optional
            Seed of the random choice.
        """
        if not (isinstance(k, (int, np.integer)) and 1 <= k <= self.n_features):
            raise ValueError(f"Expected a whole number k from 1 to the {self.n_features} features, got {k!r}.")
        if ties not in (None, "lowest", "random"):
            raise ValueError(f"Expected ties='lowest' or 'random', got {ties!r}.")
        if ties == "random":
            return self.to_ranking(ties="random", random_state=random_state).top(k, ties="lowest")
        ranks = self.matrix() if self.kind == "ranking" else -self.matrix()
        order = np.argsort(ranks, axis=1, kind="stable")
        if ties is None and k < self.n_features:
            _warn_of_ties(np.take_along_axis(ranks, order[:, k - 1 : k + 1], axis=1), k)
        best = np.sort(order[:, :k], axis=1).astype(np.int32)
        pointers = np.arange(self.n_runs + 1) * k
        return replace(self, kind="subset", values=None, indices=best.ravel(), indptr=pointers)

    def take(self, runs: ArrayLike) -> "Preferences":
        """Return only these runs, by position (or a boolean mask), in this order; each at most once."""
        if not isinstance(runs, slice):
            runs = np.atleast_1d(runs)
            runs = runs if runs.size else runs.astype(np.int64)
        chosen = np.arange(self.n_runs)[runs]
        labels = None if self.labels is None else tuple(self.labels[run] for run in chosen)
        if self.values is not None:
            return replace(self, values=self.values[chosen], labels=labels)
        indices, indptr = self.lists()
        rows = [indices[indptr[run] : indptr[run + 1]] for run in chosen]
        pointers = np.concatenate([[0], np.cumsum(self.sizes[chosen])]).astype(np.int64)
        return replace(self, indices=np.concatenate([*rows, indices[:0]]), indptr=pointers, labels=labels)

    # Python

    def __len__(self) -> int:
        return self.n_runs

    def plot(self) -> "AnyChart":
        """Draw which run selected which feature (see :func:`holdfast.plots.plot_selection_map`)."""
        from holdfast.plots import plot_selection_map

        return plot_selection_map(self)

    def _repr_html_(self) -> str:  # a table of runs × features may be large
        return f"<p>{html.escape(repr(self))}</p>"

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
        plural = "" if self.n_runs == 1 else "s"
        text = f"Preferences: {self.n_runs} {self.kind}{plural} of {self.n_features} features"
        if self.kind != "subset":
            return text
        low, high = self.sizes.min(), self.sizes.max()
        return f"{text}, {low if low == high else f'{low} to {high}'} selected each"


def from_numbers(kind: Kind, matrix: Matrix, **names: Any) -> Preferences:
    """Read a matrix as what its numbers are: 0/1, ranks or weights."""
    read = {
        "subset": Preferences.from_matrix,
        "ranking": Preferences.from_rankings,
        "weighting": Preferences.from_weights,
    }
    return read[kind](matrix, **names)


def average_ranks(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank each row, the smallest first; ties share their average rank."""
    from scipy.stats import rankdata  # half a second to import

    return rankdata(rows, method="average", axis=1)


def stacked(first: Preferences, second: Preferences) -> Preferences:
    """Return the runs of both, one after the other, without labels."""
    if first.values is not None:
        return replace(first, values=np.vstack([first.values, second.matrix()]), labels=None)
    (indices, indptr), (more, pointers) = first.lists(), second.lists()
    indptr = np.concatenate([indptr, indptr[-1] + pointers[1:]])
    return replace(first, indices=np.concatenate([indices, more]), indptr=indptr, labels=None)


def _warn_of_ties(around_the_cut: NDArray[np.float64], k: int) -> None:
    tied = np.count_nonzero(around_the_cut[:, 0] == around_the_cut[:, 1])
    if tied:
        warnings.warn(
            f"In {tied} of {len(around_the_cut)} runs the cut after the best {k} falls among tied features; the lowest "
            "columns were taken, which makes runs look alike. Choose ties='random' or ties='lowest'.",
            UserWarning,
            stacklevel=3,
        )


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
