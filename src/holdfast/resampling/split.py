"""Splits, what a perturbation may know of the data to make them, and their random streams."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from holdfast.checks import as_column

Design: TypeAlias = Literal["runs", "folds", "pairs", "nested_folds", "nested_subsamples"]
Ints: TypeAlias = NDArray[np.int64]
ROWS, NOISE = range(2)  # what a random stream is for


def no_rows() -> Ints:
    """No rows at all."""
    return np.empty(0, np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """One perturbed version of the data: what to train on, and what was held out.

    Attributes
    ----------
    index : int
        Its number among the splits of its perturbation, from 0.
    label : str
        Its name. Selectors that were fitted on splits of equal names can be compared in pairs.
    rows : ndarray
        Rows to train on, ascending, each once.
    seed : int
        For selectors that choose at random.
    counts : ndarray or None
        How often each of ``rows`` is used; None for once.
    test : ndarray
        Held-out rows; empty if there are none.
    block : int
        Pair, outer fold or bootstrap sample that it belongs to; its own index if it stands alone.
    fraction : float
        Size as a share of the sample that it is a part of; below 1 for the smaller ones of NestedSubsamples.
    measured : bool
        Whether its selection enters the stability; False for the outer folds of :class:`NestedFolds`.
    reseed : bool
        Whether ``seed`` replaces even a ``random_state`` that was set.
    change : Change or None
        What is done to the training data beside choosing rows.

    See Also
    --------
    Perturbation.splits : Makes the splits of a data set.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.resampling import Split
    >>> split = Split(index=0, label="bootstrap 0", rows=np.array([0, 2]), counts=np.array([2, 1]), seed=0)
    >>> split.train, split.weights(3)
    (array([0, 0, 2]), array([2, 0, 1]))
    """

    index: int
    label: str
    rows: Ints
    seed: int
    counts: Ints | None = None
    test: Ints = field(default_factory=no_rows)
    block: int = -1
    fraction: float = 1.0
    measured: bool = True
    reseed: bool = False
    change: "Change | None" = None

    @property
    def train(self) -> Ints:
        """Rows to train on, repeated as often as they count."""
        return self.rows if self.counts is None else np.repeat(self.rows, self.counts)

    def weights(self, n_samples: int) -> Ints:
        """Return how often each row of the data set is used, as weights of the samples.

        Parameters
        ----------
        n_samples : int
            Number of all rows.

        Returns
        -------
        ndarray
            One whole number per row, 0 for rows that are not trained on.
        """
        weights = np.zeros(n_samples, np.int64)
        weights[self.rows] = 1 if self.counts is None else self.counts
        return weights

    def data(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the training rows of X and y, with noise if the split adds any.

        Parameters
        ----------
        X : array, frame or sparse matrix
            The features of all rows.
        y : array or None
            The target of all rows.

        Returns
        -------
        tuple
            X and y (None without a target), with rows repeated as often as they count.
        """
        if self.change is not None:
            X, y = self.change(X, y)
        return take(X, self.train), None if y is None else y[self.train]


def take(X: Any, rows: Ints) -> Any:
    """Return rows of a frame, a column, an array, a list or a sparse matrix."""
    if isinstance(X, (pd.DataFrame, pd.Series)):
        return X.iloc[rows]
    if sp.issparse(X):
        return X.tocsr()[rows]
    return np.asarray(X)[rows] if isinstance(X, (list, tuple)) else X[rows]


@dataclass(frozen=True)
class Change:
    """Noise added to features, and class labels exchanged."""

    scale: float
    flip: float
    key: tuple[int, ...]

    def __call__(self, X: Any, y: Any) -> tuple[Any, Any]:
        rng = rng_of(*self.key)
        values = np.asarray(X, dtype=np.float64)
        noise = rng.standard_normal(values.shape) * (self.scale * values.std(axis=0))
        X = pd.DataFrame(values + noise, columns=X.columns) if isinstance(X, pd.DataFrame) else values + noise
        if self.flip:
            classes, codes = np.unique(y, return_inverse=True)
            other = (codes + rng.integers(1, max(2, classes.size), codes.size)) % classes.size
            y = np.where(rng.random(codes.size) < self.flip, classes[other], y)
        return X, y


@dataclass(frozen=True, eq=False)
class Samples:
    """What a perturbation may know of the rows: how many there are, their classes, their groups.

    Rows of one group (several samples of one patient) always go together.

    Parameters
    ----------
    n : int
        Number of rows.
    classes : ndarray of int, optional
        Class of each row, numbered from 0.
    groups : ndarray of int, optional
        Group of each row, numbered from 0.

    See Also
    --------
    Perturbation.make_split : Receives it.

    Examples
    --------
    >>> from holdfast.resampling import Samples
    >>> samples = Samples.of(4, groups=["Ann", "Ann", "Bob", "Cem"])
    >>> samples.n_units, samples.rows_of([0, 2])
    (3, array([0, 1, 3]))
    """

    n: int
    classes: Ints | None = None
    groups: Ints | None = None

    @classmethod
    def of(cls, n: int, classes: ArrayLike | None = None, groups: ArrayLike | None = None) -> "Samples":
        """Number classes and groups of any kind.

        Parameters
        ----------
        n : int
            Number of rows.
        classes : array, optional
            Class of each row: texts or numbers.
        groups : array, optional
            Group of each row: texts or numbers.

        Returns
        -------
        Samples
            With classes and groups numbered in order of appearance.
        """
        return cls(n, _numbered(classes, "y", "class", n), _numbered(groups, "groups", "group", n))

    @cached_property
    def unit_of(self) -> Ints:
        """The unit that each row belongs to: its group, or the row itself."""
        return np.arange(self.n) if self.groups is None else self.groups

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.unit_of.max(initial=-1)) + 1

    def strata(self, stratify: bool) -> list[Ints]:
        """Return the units of each class, or all units as one stratum.

        Parameters
        ----------
        stratify : bool
            Whether to divide by class; a group counts for its most common class.

        Returns
        -------
        list of ndarray
            The units of each stratum; a single one without classes.
        """
        if not stratify or self.classes is None:
            return [np.arange(self.n_units)]
        votes = np.zeros((self.n_units, int(self.classes.max()) + 1), np.int64)
        np.add.at(votes, (self.unit_of, self.classes), 1)
        of_unit = votes.argmax(axis=1)
        return [np.flatnonzero(of_unit == label) for label in np.unique(of_unit)]

    def rows_of(self, units: Ints) -> Ints:
        """Return all rows of units, ascending.

        Parameters
        ----------
        units : ndarray of int
            Numbers of units: groups, or rows where there are no groups.

        Returns
        -------
        ndarray of int
            Their rows.
        """
        return np.flatnonzero(np.isin(self.unit_of, units))


def _numbered(given: ArrayLike | None, name: str, what: str, n: int) -> Ints | None:
    if given is None:
        return None
    column = as_column(given, name, what)
    if len(column) != n:
        raise ValueError(f"Expected one {what} for each of {n} rows, got {len(column)}.")
    return pd.factorize(column)[0]


def rng_of(seed: int, *key: int) -> np.random.Generator:
    """The random stream of this purpose."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def selector_seed(seed: int, index: int) -> int:
    """The seed for selectors on a split: 31 bits, the same for all of them."""
    return int(np.random.SeedSequence(seed, spawn_key=(index,)).generate_state(1)[0] >> 1)


def draw_units(samples: Samples, stratify: bool, rng: np.random.Generator) -> Ints:
    """Units drawn with replacement, within classes if asked."""
    return np.concatenate([units[rng.integers(units.size, size=units.size)] for units in samples.strata(stratify)])


def split_of_draws(label: str, index: int, samples: Samples, seed: int, drawn: Ints, seen: Ints, **more: Any) -> Split:
    """Return a split that takes units as often as they were drawn; what was never seen is held out."""
    times, times_seen = (np.bincount(units, minlength=samples.n_units)[samples.unit_of] for units in (drawn, seen))
    rows, test = np.flatnonzero(times), np.flatnonzero(times_seen == 0)
    return split_of_rows(label, index, samples, seed, rows, test, counts=times[rows], **more)


def split_of_rows(
    label: str, index: int, samples: Samples, seed: int, rows: Ints, test: Ints | None = None, **more: Any
) -> Split:
    """Return a split that uses rows once; all others are held out unless said otherwise."""
    if test is None:
        test = np.setdiff1d(np.arange(samples.n), rows)
    more.setdefault("block", index)
    return Split(index=index, label=label, rows=rows, test=test, seed=selector_seed(seed, index), **more)
