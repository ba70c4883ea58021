"""Cross-validation, plain and nested."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from holdfast.declared import About
from holdfast.resampling.perturbation import PERTURBATIONS, SHARED_ROWS, Perturbation, check_count, deal_into_folds
from holdfast.resampling.split import ROWS, Design, Samples, Split, no_rows, rng_of, split_of_rows


@PERTURBATIONS.add
@dataclass(frozen=True)
class Folds(Perturbation):
    """Cross-validation: each of ``n_splits`` folds is held out once.

    Two training sets share most of their rows, so selections agree more than on independent samples, and they are not
    independent of each other: the interval is only a rough guide, and labeled so.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        Number of repetitions, each with new folds.
    stratify : bool
        Spread every class evenly over the folds; no effect on a target of numbers.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    NestedFolds : Folds inside each training set.
    Bootstrap : Resamples whose interval holds.

    Examples
    --------
    >>> import holdfast as hf
    >>> for split in hf.Folds(3).splits([0, 0, 0, 1, 1, 1]):
    ...     print(split.label, split.train, split.test)
    fold 0 [0 1 3 5] [2 4]
    fold 1 [0 2 4 5] [1 3]
    fold 2 [1 2 3 4] [0 5]
    """

    about = About(
        name="folds",
        summary="Cross-validation: each fold is held out once, and the selector is fitted to the others.",
        methods="the {n} training sets of repeated cross-validation",
        scope="folds of this data set, which share most of their rows: the interval is a rough guide",
        caution=SHARED_ROWS,
    )
    design: ClassVar[Design] = "folds"
    grows: ClassVar[str | None] = "n_repeats"

    n_splits: int = 10
    n_repeats: int = 1
    stratify: bool = True
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, 2)
        check_count("n_repeats", self.n_repeats, 1)

    @property
    def least_units(self) -> int:
        return self.n_splits

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        repeat, fold = divmod(index, self.n_splits)
        fold_of = deal_into_folds(samples, self.n_splits, self.stratify, rng_of(seed, repeat, ROWS))
        label = f"fold {fold}" if repeat == 0 else f"fold {fold} of repeat {repeat}"
        return split_of_rows(label, index, samples, seed, np.flatnonzero(fold_of != fold), block=repeat)


@PERTURBATIONS.add
@dataclass(frozen=True)
class NestedFolds(Perturbation):
    """Nested cross-validation: stability inside each outer training set (Kalousis, Prados and Hilario, 2005).

    Each of ``n_splits`` outer folds is held out for the score; its training rows are divided again into ``n_inner``
    folds, and the selections on those are compared with each other. The stability is the mean over outer folds.

    Parameters
    ----------
    n_splits : int
        Number of outer folds.
    n_inner : int
        Number of inner folds.
    n_repeats : int
        Number of repetitions, each with new folds.
    stratify : bool
        Spread every class evenly over the folds; no effect on a target of numbers.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    Folds : Cross-validation without inner folds.

    Examples
    --------
    >>> import holdfast as hf
    >>> splits = list(hf.NestedFolds(2, n_inner=2).splits([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> for split in splits[:3]:
    ...     print(split.label, split.train, split.test)
    outer 0 [0 3 4 7] [1 2 5 6]
    outer 0 inner 0 [3 4] []
    outer 0 inner 1 [0 7] []
    """

    about = About(
        name="nested_folds",
        summary="Cross-validation inside each training set of a cross-validation: stability inside, scores outside.",
        methods="{n} inner folds of the training folds of a nested cross-validation",
        scope="folds inside each training fold of this data set, which share most of their rows",
        caution=SHARED_ROWS,
        reference="kalousis2005",
    )
    rows_only: ClassVar[bool] = False
    design: ClassVar[Design] = "nested_folds"
    grows: ClassVar[str | None] = "n_repeats"

    n_splits: int = 10
    n_inner: int = 10
    n_repeats: int = 1
    stratify: bool = True
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, 2)
        check_count("n_inner", self.n_inner, 2)
        check_count("n_repeats", self.n_repeats, 1)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits * self.n_repeats * (self.n_inner + 1)

    @property
    def least_units(self) -> int:
        return max(self.n_splits, self.n_inner + 1)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        outer, place = divmod(index, self.n_inner + 1)
        repeat, fold = divmod(outer, self.n_splits)
        fold_of = deal_into_folds(samples, self.n_splits, self.stratify, rng_of(seed, repeat, ROWS))
        train = np.flatnonzero(fold_of != fold)
        if place == 0:
            return split_of_rows(f"outer {outer}", index, samples, seed, train, block=outer, measured=False)
        inside = Samples.of(
            train.size, *(None if labels is None else labels[train] for labels in (samples.classes, samples.groups))
        )
        inner_of = deal_into_folds(inside, self.n_inner, self.stratify, rng_of(seed, repeat, fold, ROWS))
        rows = train[inner_of != place - 1]
        return split_of_rows(f"outer {outer} inner {place - 1}", index, samples, seed, rows, no_rows(), block=outer)
