"""All rows once, and halves of them that share no row: for the question whether a new study would select the same."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from holdfast.declared import About
from holdfast.resampling.perturbation import PERTURBATIONS, Perturbation, check_count
from holdfast.resampling.split import ROWS, Design, Places, Samples, Split, no_rows, rng_of, split_of_rows

ALL_ROWS = "all rows"
"""Label of the split that takes every row."""


@PERTURBATIONS.add
@dataclass(frozen=True)
class Halvings(Perturbation):
    """Halvings: all rows once, then again and again two halves that share no row.

    The two halves of a halving are independent samples, so their agreement tells how far two studies of half this size
    would agree, and with what was selected on all rows how far a new study would
    (:meth:`~holdfast.StudyResult.replicability`). Rows of one group stay together; without groups, equal rows do. Every
    row is in one of the two halves.

    Parameters
    ----------
    n_halvings : int
        Number of halvings; there are twice as many halves.
    stratify : bool
        Halve every class.
    random_state : int, optional
        Not used: a study has its own seed.

    See Also
    --------
    holdfast.replicability : Runs such a study of one selector.
    ComplementaryPairs : Halves alone, for stability selection and scores on the other half.

    Examples
    --------
    >>> import holdfast as hf
    >>> for split in hf.resampling.Halvings(1).splits([0, 0, 0, 1, 1, 1]):
    ...     print(split.label, split.train)
    all rows [0 1 2 3 4 5]
    halving 0a [1 2 3]
    halving 0b [0 4 5]
    """

    about = About(
        name="halvings",
        summary="Fit to all rows once, and again and again to two halves that share no row, for replicability.",
        methods="{n} random halves of the rows, in pairs that share no row, beside all rows",
        scope="disjoint halves of this data set: how far two studies of half its size would agree",
        no_interval="halves of one data set do not show how much new data sets would differ; replicability has an "
        "interval that does",
        caution="Resamples are compared on disjoint halves of the data, which share no rows: the stability tells how "
        "far two studies of half this size would agree, and on pure noise it would be about 0.",
        reference="shah2013",
    )
    rows_only: ClassVar[bool] = False
    grows: ClassVar[str | None] = "n_halvings"
    design: ClassVar[Design] = "pairs"

    n_halvings: int = 100
    stratify: bool = True
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_count("n_halvings", self.n_halvings, 1)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return 1 + 2 * self.n_halvings

    @property
    def least_units(self) -> int:
        return 4

    def bind(self, X: Any, y: Any, groups: Any, seed: int) -> "Halvings":
        copies = None if groups is not None else find_copies(X)
        return self if copies is None else _HalvingsOfCopies(self.n_halvings, self.stratify, self.random_state, copies)

    def units(self, samples: Samples) -> Samples:
        """Return the rows with those that stay together as groups.

        Parameters
        ----------
        samples : Samples
            The rows.

        Returns
        -------
        Samples
            The same; groups are equal rows, where there are any and no others.
        """
        return samples

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        samples = self.units(samples)
        if index == 0:
            return split_of_rows(ALL_ROWS, 0, samples, seed, np.arange(samples.n), no_rows(), measured=False)
        halving, half = divmod(index - 1, 2)
        rng = rng_of(seed, halving, ROWS)
        strata = samples.strata(self.stratify)
        deck = np.concatenate([rng.permutation(strata[place]) for place in rng.permutation(len(strata))])
        rows = samples.rows_of(deck[(rng.integers(2) + half) % 2 :: 2])
        return split_of_rows(f"halving {halving}{'ab'[half]}", index, samples, seed, rows, block=halving)


@dataclass(frozen=True)
class _HalvingsOfCopies(Halvings):
    """Halvings of data in which some rows are equal: these stay together."""

    about = Halvings.about
    copies: Places = field(default_factory=no_rows, repr=False, compare=False)

    def identity(self) -> dict[str, Any]:
        return Halvings(self.n_halvings, self.stratify).identity()

    def units(self, samples: Samples) -> Samples:
        return replace(samples, groups=self.copies)

    def check(self, samples: Samples) -> None:
        super().check(self.units(samples))


def find_copies(X: ArrayLike | Any) -> Places | None:
    """Return a number for each row that equal rows share; None if no two rows are equal."""
    if sp.issparse(X):
        table = sp.csr_matrix(X, copy=True)
        table.sum_duplicates()
        table.eliminate_zeros()
        ends = zip(table.indptr[:-1], table.indptr[1:], strict=True)
        keys = [table.indices[a:b].tobytes() + table.data[a:b].tobytes() for a, b in ends]
    else:
        keys = [row.tobytes() for row in _comparable(X)]
    numbers: dict[bytes, int] = {}
    places = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    return places if len(numbers) < len(places) else None


def _comparable(X: Any) -> NDArray[Any]:
    """Values whose bytes are equal if they are: numbers, or the number of each different value of a column."""
    try:
        return np.ascontiguousarray(X, dtype=np.float64) + 0.0  # -0 is 0
    except (TypeError, ValueError):  # texts, categories, dates
        frame = pd.DataFrame(X)
        return np.column_stack([pd.factorize(frame.iloc[:, place])[0] for place in range(frame.shape[1])])
