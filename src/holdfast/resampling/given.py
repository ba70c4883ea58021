"""Splits made elsewhere: by a scikit-learn splitter, or as a list."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from holdfast.declared import About
from holdfast.resampling.folds import Folds
from holdfast.resampling.perturbation import PERTURBATIONS, SHARED_ROWS, Perturbation
from holdfast.resampling.split import Design, Places, Samples, Split, selector_seed, split_of_rows


@dataclass(frozen=True, eq=False)
class GivenSplits(Perturbation):
    """Splits made elsewhere: by a scikit-learn splitter, or a list of (training rows, held-out rows).

    Parameters
    ----------
    splitter : scikit-learn splitter or list of (array, array)
        Makes the splits, or holds them. A splitter that shuffles without a seed gets the study's.
    pairs : list of (array, array), optional
        The splits of one data set; :meth:`bind` fills them in.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    as_perturbation : Wraps a splitter if it needs to be.
    Folds : Cross-validation that a study can extend by more repeats.

    Examples
    --------
    >>> from holdfast.resampling import GivenSplits
    >>> given = GivenSplits([([0, 1, 2], [3]), ([1, 2, 3], [0])])
    >>> for split in given.bind(None, [0, 0, 1, 1], None, seed=0).splits([0, 0, 1, 1]):
    ...     print(split.label, split.train, split.test)
    split 0 [0 1 2] [3]
    split 1 [1 2 3] [0]
    """

    grows: ClassVar[str | None] = None

    splitter: Any
    pairs: Sequence[tuple[Places, Places]] | None = None
    random_state: int | None = None

    @property
    def about(self) -> About:  # type: ignore[override]
        """What is said of folds if these are folds; else of resamples."""
        summary = "Rows to train on and rows held out, as given or as a scikit-learn splitter makes them."
        scope = Folds.about.scope if self.design == "folds" else ""
        methods = "{n} given training sets"
        return About(name="given_splits", summary=summary, methods=methods, scope=scope, caution=SHARED_ROWS)

    @property
    def design(self) -> Design:  # type: ignore[override]
        """Folds if every row is held out equally often, else runs of their own."""
        if not self.pairs:
            return "runs"
        held = np.bincount(np.concatenate([test for _, test in self.pairs]))
        largest = max(int(rows.max()) for pair in self.pairs for rows in pair if rows.size)
        return "folds" if held.size == largest + 1 and held.min() == held.max() else "runs"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        if self.pairs is None:
            raise ValueError("Expected the data of the splitter, got none yet; call bind(X, y, groups, seed) first.")
        return len(self.pairs)

    def bind(self, X: Any, y: Any, groups: Any, seed: int) -> "GivenSplits":
        splitter = self.splitter
        if hasattr(splitter, "split"):
            if getattr(splitter, "random_state", 0) is None and getattr(splitter, "shuffle", True):
                splitter = _seeded(splitter, seed)
            splitter = splitter.split(X, y, groups)
        pairs = [_pair(place, pair, len(y)) for place, pair in enumerate(splitter)]
        if not pairs:
            raise ValueError(f"Expected at least one split from {self.splitter!r}, got none.")
        return GivenSplits(self.splitter, pairs)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        if self.pairs is None:
            raise ValueError("Expected the data of the splitter, got none yet; call bind(X, y, groups, seed) first.")
        train, test = self.pairs[index]
        rows, counts = np.unique(train, return_counts=True)
        more = {} if counts.max() == 1 else {"counts": counts}
        return split_of_rows(f"split {index}", index, samples, seed, rows, test, **more)


def _seeded(splitter: Any, seed: int) -> Any:
    """A copy of a splitter that would divide at random, with a seed."""
    seeded = copy.copy(splitter)
    seeded.random_state = selector_seed(seed, 0)
    return seeded


def _pair(place: int, pair: Any, n: int) -> tuple[Places, Places]:
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise ValueError(f"Expected (training rows, held-out rows) as split {place}, got {pair!r}.") from None
    train, test = (
        np.flatnonzero(part) if part.dtype == bool else part.astype(np.int64) for part in map(np.asarray, (train, test))
    )
    if not train.size or min(train.min(), test.min(initial=0)) < 0 or max(train.max(), test.max(initial=0)) >= n:
        raise ValueError(f"Expected rows from 0 to {n - 1} in split {place}, got none or others.")
    return train, np.sort(test)


def as_perturbation(given: Any) -> Perturbation:
    """Return a perturbation as it is; wrap a scikit-learn splitter or a list of splits.

    Parameters
    ----------
    given : Perturbation, scikit-learn splitter or list of (array, array)
        How resamples are made, or their training and held-out rows.

    Returns
    -------
    Perturbation
        What was given, or :class:`GivenSplits` of it.

    Raises
    ------
    ValueError
        If it is none of these.

    Examples
    --------
    >>> from holdfast.resampling import as_perturbation
    >>> from sklearn.model_selection import KFold
    >>> as_perturbation(KFold(3))
    GivenSplits(splitter=KFold(n_splits=3, random_state=None, shuffle=False), pairs=None, random_state=None)
    """
    if isinstance(given, Perturbation):
        return given
    if isinstance(given, str) and given in PERTURBATIONS:
        name = PERTURBATIONS[given].__name__
        raise ValueError(f"Expected a perturbation as an object, got the name {given!r}; write hf.{name}().")
    if isinstance(given, type):
        raise ValueError(f"Expected a perturbation as an object, got the class; write {given.__name__}().")
    if (hasattr(given, "split") and not isinstance(given, str)) or (
        isinstance(given, Iterable) and not isinstance(given, (str, Iterator))
    ):
        return GivenSplits(given)
    raise ValueError(
        f"Expected a perturbation such as hf.Bootstrap(100), a scikit-learn splitter or a list of (training rows, "
        f"held-out rows), got {given!r}."
    )
