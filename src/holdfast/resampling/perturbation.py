"""What all perturbations have in common, and the list of those that can be named."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from holdfast.checks import as_column, is_number
from holdfast.declared import About, Registry
from holdfast.resampling.split import Design, Ints, Samples, Split

MOST = 10_000_000
"""Most samples, folds or repeats: their rows alone would fill a disk."""
SHARED_ROWS = (
    "Resamples of one data set share many rows, so they agree more than studies of new samples would. Even on pure "
    "noise this stability stays above 0 and some features come back often; shuffle the target and run the study "
    "again to see how much noise alone gives."
)


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
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"Expected {name} to be a whole number of at least {least}, got {value!r}.")
    if value > MOST:
        raise ValueError(f"Expected {name} to be at most {MOST:,}, got {value!r}.")


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


PERTURBATIONS: Registry[type[Perturbation]] = Registry("perturbation", where="holdfast.resampling.PERTURBATIONS")
"""Perturbations by name. ``PERTURBATIONS.add`` registers a class of your own; it works as a decorator."""
