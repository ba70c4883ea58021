"""Splits and what makes them: what a perturbation may know of the data, random streams, what all have in common."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from holdfast.checks import as_column, check_whole, is_number
from holdfast.declared import About, Registry

Design: TypeAlias = Literal["runs", "folds", "pairs", "nested_folds", "nested_subsamples"]
Ints: TypeAlias = NDArray[np.int64]
ROWS, NOISE = range(2)  # what a random stream is for
MAX_COUNT = 10_000_000
"""Most samples, folds or repeats: their rows alone would fill a disk."""
SHARED_ROWS = (
    "Resamples of one data set share many rows, so they agree more than studies of new samples would. Even on pure "
    "noise this stability stays above 0 and some features come back often; shuffle the target and run the study "
    "again to see how much noise alone gives."
)


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
        How often each of ``rows`` is used; None for once. In :meth:`weighted`, what they weigh.
    test : ndarray
        Held-out rows; empty if there are none.
    block : int
        Pair, outer fold or bootstrap sample that it belongs to; its index if it is in none.
    fraction : float
        Size as a share of the sample that it is a part of; below 1 for the smaller ones of NestedSubsamples.
    measured : bool
        Whether its selection enters the stability; False for the outer folds of :class:`NestedFolds`.
    reseed : bool
        Whether ``seed`` replaces even a ``random_state`` that was set.
    change : Change or None
        What is done to the training data besides choosing rows.

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

    @cached_property
    def holds_out(self) -> bool:
        """Whether there are held-out rows, and none of them is trained on."""
        if not self.test.size:
            return False
        return not np.bincount(self.rows, minlength=1 + int(self.test.max()))[self.test].any()

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
        weights = np.zeros(n_samples, np.int64 if self.counts is None else self.counts.dtype)
        weights[self.rows] = 1 if self.counts is None else self.counts
        return weights

    def weighted(self, sample_weight: NDArray[np.float64]) -> "Split":
        """Return the split with what its rows weigh in place of how often they count.

        Parameters
        ----------
        sample_weight : ndarray
            What each row of the data set weighs; whole numbers stay whole.

        Returns
        -------
        Split
            The same rows, with the product of both as ``counts``.
        """
        times: NDArray[Any] = sample_weight[self.rows] * (1 if self.counts is None else self.counts)
        if (times == np.round(times)).all():
            times = times.astype(np.int64)
        return replace(self, counts=times)

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


def count_rows(splits: Sequence[Split], n_samples: int) -> NDArray[Any]:
    """How often each split takes each row: the weights of all splits (splits × rows)."""
    rows, owner = [split.rows for split in splits], np.arange(len(splits))
    times = [np.ones(split.rows.size, np.int64) if split.counts is None else split.counts for split in splits]
    counted = np.zeros((len(splits), n_samples), np.result_type(np.int64, *{of_split.dtype for of_split in times}))
    if rows:
        counted[np.repeat(owner, [of_split.size for of_split in rows]), np.concatenate(rows)] = np.concatenate(times)
    return counted


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

    @cached_property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.unit_of.max(initial=-1)) + 1

    @cached_property
    def _units(self) -> Ints:
        return np.arange(self.n_units)

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
            return [self._units]
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
        among = np.zeros(self.n_units, dtype=bool)
        among[units] = True
        return among[self.unit_of].nonzero()[0]


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
    drawn = [units[rng.integers(units.size, size=units.size)] for units in samples.strata(stratify)]
    return drawn[0] if len(drawn) == 1 else np.concatenate(drawn)


def split_of_draws(label: str, index: int, samples: Samples, seed: int, drawn: Ints, seen: Ints, **more: Any) -> Split:
    """Return a split that takes units as often as they were drawn; what was never seen is held out."""
    times = np.bincount(drawn, minlength=samples.n_units)[samples.unit_of]
    seen_at_all = times if seen is drawn else np.bincount(seen, minlength=samples.n_units)[samples.unit_of]
    rows, test = times.nonzero()[0], (seen_at_all == 0).nonzero()[0]
    return split_of_rows(label, index, samples, seed, rows, test, counts=times[rows], **more)


def split_of_rows(
    label: str, index: int, samples: Samples, seed: int, rows: Ints, test: Ints | None = None, **more: Any
) -> Split:
    """Return a split that uses rows once; all others are held out unless said otherwise."""
    if test is None:
        others = np.ones(samples.n, dtype=bool)
        others[rows] = False
        test = others.nonzero()[0]
    more.setdefault("block", index)
    return Split(index=index, label=label, rows=rows, test=test, seed=selector_seed(seed, index), **more)


# Perturbations


class Perturbation(ABC):
    """A way to perturb a data set: write :meth:`make_split`, and receive the rest.

    A perturbation is a frozen dataclass whose fields are its parameters; ``n_splits`` is the number of resamples,
    unless :meth:`get_n_splits` says otherwise. It is also a scikit-learn splitter:
    ``cross_validate(model, X, y, cv=hf.Bootstrap(50))`` works, and ``random_state`` is its seed there. In a study the
    seed is the study's, so that all selectors see the same resamples.

    Attributes
    ----------
    about : About
        Its name, and what is said of it in help texts and reports. In ``methods``, ``{n}`` is the number of resamples
        and ``{blocks}`` that of the blocks (pairs, outer folds, bootstrap samples) that they form.
    design : {"runs", "folds", "pairs", "nested_folds", "nested_subsamples"}
        How the stability of its resamples is put together.
    grows : str or None
        The parameter that may be raised for more resamples of the same kind.
    rows_only : bool
        Whether a pair of training and held-out rows says everything, as scikit-learn needs it.
    by_sites : bool
        Whether the groups that :meth:`bind` receives are sites.

    See Also
    --------
    holdfast.Bootstrap : A perturbation to use as it is.
    as_perturbation : Makes one of a scikit-learn splitter.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from holdfast.resampling import Perturbation, Split
    >>> @dataclass(frozen=True)
    ... class LeaveOneOut(Perturbation):
    ...     '''Leave each of the first n_splits rows out once.'''
    ...
    ...     n_splits: int = 10
    ...     random_state: int | None = None
    ...
    ...     def make_split(self, index, samples, seed):
    ...         rows, test = np.delete(np.arange(samples.n), index), np.array([index])
    ...         return Split(index=index, label=f"without {index}", rows=rows, test=test, seed=seed)
    >>> for train, test in LeaveOneOut(2).split([[1], [2], [3]]):
    ...     print(train, test)
    [1 2] [0]
    [0 2] [1]
    """

    about: ClassVar[About]
    design: ClassVar[Design] = "runs"
    grows: ClassVar[str | None] = "n_splits"
    rows_only: ClassVar[bool] = True
    by_sites: ClassVar[bool] = False
    random_state: int | None
    _least_counts: ClassVar[Mapping[str, int]] = {}
    """Parameters that are whole numbers, and the least that each may be."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Describe a class that does not describe itself by its name and the first line of its docstring."""
        super().__init_subclass__(**options)
        if "about" not in vars(cls):
            summary = (cls.__doc__ or "A perturbation.").strip().partition("\n")[0]
            name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
            methods = f"{{n}} resamples made by {cls.__name__}"
            cls.about = About(name=name, summary=summary, methods=methods, caution=SHARED_ROWS)

    def __post_init__(self) -> None:
        """Check the parameters that are counts."""
        for name, least in self._least_counts.items():
            check_count(name, getattr(self, name), least)

    @property
    def least_units(self) -> int:
        """How many rows, or groups of rows, it needs."""
        return 2

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of resamples: ``n_splits``, times ``n_repeats`` if there is such a parameter.

        Parameters
        ----------
        X, y, groups : object
            Not looked at; scikit-learn hands them over.

        Returns
        -------
        int
            Number of resamples.
        """
        return int(vars(self)["n_splits"]) * int(vars(self).get("n_repeats", 1))

    @abstractmethod
    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        """Make one split from seed and index alone.

        Parameters
        ----------
        index : int
            Number of the split, from 0.
        samples : Samples
            Number, classes and groups of the rows.
        seed : int
            Seed of all splits.

        Returns
        -------
        Split
            The same one for equal arguments, whatever else was made before.
        """

    def bind(self, X: Any, y: Any, groups: Any, seed: int) -> "Perturbation":
        """Return the perturbation ready for a data set.

        Parameters
        ----------
        X : array, frame or sparse matrix
            The features.
        y : array
            The target.
        groups : array or None
            Groups of the rows.
        seed : int
            Seed for splitters that have none.

        Returns
        -------
        Perturbation
            Itself, unless splits depend on the data.
        """
        return self

    def check(self, samples: Samples) -> None:
        """Raise if this data set cannot be perturbed in this way.

        Parameters
        ----------
        samples : Samples
            Number, classes and groups of the rows.

        Raises
        ------
        ValueError
            If there are too few rows or groups.
        """
        if samples.n_units < self.least_units:
            what = "rows" if samples.groups is None else "groups"
            raise ValueError(f"Expected at least {self.least_units} {what} for {self}, got {samples.n_units}.")

    def split(
        self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield training and held-out rows, as scikit-learn's splitters do.

        Parameters
        ----------
        X : array or frame
            The data; only its number of rows matters.
        y : array, optional
            The target. Classes are kept in proportion if the perturbation stratifies.
        groups : array, optional
            Rows of one group stay together.

        Yields
        ------
        train, test : ndarray
            Rows to train on, repeated as often as they were drawn, and rows that were held out.

        Raises
        ------
        ValueError
            If rows alone do not describe its resamples (noise, new seeds, nested ones).

        Examples
        --------
        >>> import holdfast as hf
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import cross_val_score
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> cross_val_score(GaussianNB(), X, y, cv=hf.Bootstrap(3, random_state=0)).round(2)
        array([0.92, 0.93, 0.95])
        """
        if not self.rows_only:
            raise ValueError(
                f"{type(self).__name__} cannot be used as a scikit-learn splitter, because training and held-out rows "
                f"do not say what it does: {self.about.summary} Use it in holdfast.Study, or take Bootstrap, "
                "Subsample or Folds."
            )
        classes = y is not None and type_of_target(y) in ("binary", "multiclass")
        n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        samples = Samples.of(n_rows, y if classes else None, groups)
        seed = self.random_state
        seed = int(np.random.SeedSequence().generate_state(1)[0] if seed is None else seed)
        bound = self.bind(X, y, groups, seed)
        bound.check(samples)
        for index in range(bound.get_n_splits()):
            split = bound.make_split(index, samples, seed)
            yield split.train, split.test

    def splits(
        self, y: ArrayLike, groups: ArrayLike | None = None, *, stratified: bool = True, random_state: int = 0
    ) -> Iterator[Split]:
        """Yield all splits of a data set with these labels, with all that a study knows of them.

        Parameters
        ----------
        y : array
            Class labels; numbers to predict with ``stratified=False``.
        groups : array, optional
            Rows of one group stay together.
        stratified : bool
            Whether ``y`` holds classes.
        random_state : int
            Seed.

        Yields
        ------
        Split
            One for each resample.

        Examples
        --------
        >>> import holdfast as hf
        >>> first = next(hf.Bootstrap(10).splits([0, 0, 0, 1, 1, 1], random_state=1))
        >>> first.rows, first.counts, first.test
        (array([0, 1, 4, 5]), array([2, 1, 1, 2]), array([2, 3]))
        """
        samples = Samples.of(len(as_column(y, "y")), y if stratified else None, groups)
        self.check(samples)
        yield from (self.make_split(index, samples, random_state) for index in range(self.get_n_splits()))

    def grown(self, number: int) -> Self:
        """Return the same perturbation with another number of resamples.

        Parameters
        ----------
        number : int
            Value of the parameter that :attr:`grows` names.

        Returns
        -------
        Perturbation
            A copy; the splits that both make are the same.

        Raises
        ------
        ValueError
            If the number of resamples is fixed.
        """
        if self.grows is None:
            raise ValueError(f"Expected a perturbation that can make more resamples, got {self}.")
        return replace(self, **{self.grows: number})  # type: ignore[type-var]

    def identity(self) -> dict[str, Any]:
        """Return what must be equal for two perturbations to make the same splits, as far as both go.

        Returns
        -------
        dict
            Name of the class, and all parameters but the seed and the number of resamples.
        """
        free = (self.grows, "random_state")  # more resamples may be added, and the seed is the study's
        names = [item.name for item in fields(self) if item.name not in free]  # type: ignore[arg-type]
        return {"perturbation": type(self).__name__, **{name: getattr(self, name) for name in names}}


def check_count(name: str, value: Any, least: int) -> None:
    """Raise unless a parameter is a whole number of at least so many."""
    if check_whole(name, value, least) > MAX_COUNT:
        raise ValueError(f"Expected {name} to be at most {MAX_COUNT:,}, got {value!r}.")


def check_share(what: str, value: Any, *, zero: bool = False, one: bool = False) -> None:
    """Raise unless a parameter is a share of a whole."""
    if not is_number(value) or not (0 < value < 1 or (zero and value == 0) or (one and value == 1)):
        ends = f"{'from' if zero else 'above'} 0 {'to' if one else 'and below'} 1"
        raise ValueError(f"Expected {what} to be a share {ends}, got {value!r}.")


def deal_into_folds(samples: Samples, n_folds: int, stratify: bool, rng: np.random.Generator) -> Ints:
    """Return the fold of every row: units are shuffled within classes and dealt in turn."""
    deck = np.concatenate([rng.permutation(units) for units in samples.strata(stratify)])
    fold_of_unit = np.empty(samples.n_units, np.int64)
    fold_of_unit[deck] = np.arange(deck.size) % n_folds
    return fold_of_unit[samples.unit_of]


PERTURBATIONS: Registry[type[Perturbation]] = Registry(
    "perturbation", where="holdfast.resampling.PERTURBATIONS", former={"halvings": "split_halves"}
)
"""Perturbations by name. ``PERTURBATIONS.add`` registers a class of your own; it works as a decorator."""
