"""The kinds of perturbations: drawn rows, folds, given splits, split halves, and all rows with noise or new seeds.

Each declares what is said of it, and makes a split from seed and number alone; :class:`Perturbation` does the rest.
"""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from holdfast.checks import is_number
from holdfast.declared import About, renamed
from holdfast.resampling.split import (
    NOISE,
    PERTURBATIONS,
    ROWS,
    SHARED_ROWS,
    Change,
    Design,
    Ints,
    Perturbation,
    Samples,
    Split,
    check_share,
    deal_into_folds,
    draw_units,
    no_rows,
    rng_of,
    selector_seed,
    split_of_draws,
    split_of_rows,
)


@PERTURBATIONS.add
@dataclass(frozen=True)
class Bootstrap(Perturbation):
    """Bootstrap: n of n rows drawn with replacement; rows never drawn (about 37 %) are held out.

    Parameters
    ----------
    n_splits : int
        Number of bootstrap samples.
    stratify : bool
        Draw within each class, so that every sample has the same share of it.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    Subsample : Rows drawn without replacement.
    NestedSubsamples : Smaller parts of each bootstrap sample, too.

    Examples
    --------
    >>> import holdfast as hf
    >>> first = next(hf.Bootstrap(100).splits([0, 0, 0, 1, 1, 1], random_state=1))
    >>> first.train, first.test
    (array([0, 0, 1, 4, 5, 5]), array([2, 3]))
    """

    about = About(
        name="bootstrap",
        summary="Draw as many rows as there are with replacement; rows never drawn are held out.",
        methods="{n} bootstrap samples of the data{stratify:if , stratified by class}",
        caution=SHARED_ROWS,
    )
    _least_counts: ClassVar = {"n_splits": 1}

    n_splits: int = 100
    stratify: bool = False
    random_state: int | None = field(default=None, repr=False)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        drawn = draw_units(samples, self.stratify, rng_of(seed, index, ROWS))
        return split_of_draws(f"bootstrap {index}", index, samples, seed, drawn, drawn)


@PERTURBATIONS.add
@dataclass(frozen=True)
class Subsample(Perturbation):
    """Subsampling: a share of the rows drawn without replacement; the others are held out.

    Parameters
    ----------
    n_splits : int
        Number of subsamples.
    fraction : float
        Share of the rows to train on.
    stratify : bool
        Take this share of every class.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    Bootstrap : Rows drawn with replacement.
    ComplementaryPairs : Halves in pairs that share no row.

    Examples
    --------
    >>> import holdfast as hf
    >>> first = next(hf.Subsample(100, stratify=True).splits([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> first.train, first.test
    (array([1, 3, 4, 6]), array([0, 2, 5, 7]))
    """

    about = About(
        name="subsample",
        summary="Draw a share of the rows without replacement; the others are held out.",
        methods="{n} random subsamples of {fraction:percent} of the rows{stratify:if , stratified by class}",
        caution=SHARED_ROWS,
    )
    _least_counts: ClassVar = {"n_splits": 1}

    n_splits: int = 100
    fraction: float = 0.5
    stratify: bool = False
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("fraction", self.fraction)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        rng = rng_of(seed, index, ROWS)
        parts = [
            rng.permutation(units)[: share_of(units.size, self.fraction)] for units in samples.strata(self.stratify)
        ]
        return split_of_rows(f"subsample {index}", index, samples, seed, samples.rows_of(np.concatenate(parts)))


def share_of(size: int, fraction: float) -> int:
    """A share of a number, at least one."""
    return max(1, int(size * fraction + 0.5))


@PERTURBATIONS.add
@dataclass(frozen=True)
class ComplementaryPairs(Perturbation):
    """Complementary pairs: disjoint halves of the rows, each held out for the other (Shah and Samworth, 2013).

    Halves of one pair have no row in common, so their agreement estimates, without bias, how far two studies of half
    this size would agree. The stability is therefore the mean agreement *within* pairs. It has no interval: all pairs
    are drawn from one data set, and their spread does not show how much new data sets would differ.

    Parameters
    ----------
    n_pairs : int
        Number of pairs; there are twice as many splits.
    stratify : bool
        Halve every class.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    Subsample : Halves that are drawn independently of each other, with ``fraction=0.5``.

    Examples
    --------
    >>> import holdfast as hf
    >>> for split in hf.ComplementaryPairs(1).splits([0, 0, 0, 1, 1, 1]):
    ...     print(split.label, split.train, split.test)
    pair 0a [0 1 5] [2 3 4]
    pair 0b [2 3 4] [0 1 5]
    """

    about = About(
        name="pairs",
        summary="Divide the rows into two halves, again and again; each half is held out for the other.",
        methods="{n} random halves of the rows, in pairs that share no row{stratify:if , stratified by class}",
        scope="disjoint halves of this data set: how far two studies of half its size would agree",
        no_interval="pairs of halves of one data set do not show how much new data sets would differ",
        caution="Resamples are compared on disjoint halves of the data, which share no rows: the stability tells how "
        "far two studies of half this size would agree, and on pure noise it would be about 0.",
        reference="shah2013",
    )
    _least_counts: ClassVar = {"n_pairs": 1}
    grows: ClassVar[str | None] = "n_pairs"
    design: ClassVar[Design] = "pairs"

    n_pairs: int = 50
    stratify: bool = False
    random_state: int | None = field(default=None, repr=False)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return 2 * self.n_pairs

    @property
    def least_units(self) -> int:
        return 4

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        pair, half = divmod(index, 2)
        rng = rng_of(seed, pair, ROWS)
        parts = []
        for units in samples.strata(self.stratify):
            size = units.size // 2
            parts.append(rng.permutation(units)[half * size : (half + 1) * size])
        rows = samples.rows_of(np.concatenate(parts))
        return split_of_rows(f"pair {pair}{'ab'[half]}", index, samples, seed, rows, block=pair)


@PERTURBATIONS.add
@dataclass(frozen=True)
class NestedSubsamples(Perturbation):
    """Nested subsamples: parts of each bootstrap sample, compared with it (Gulgezen, Cataltepe and Yu, 2009).

    Smaller samples of one bootstrap are drawn from it without replacement, each contained in the next. The rows that
    the bootstrap never drew are held out for all of them.

    Parameters
    ----------
    n_bootstraps : int
        Number of bootstrap samples.
    fractions : float or tuple of float
        Sizes of the smaller samples, as shares of the whole, which is always made (1).
    stratify : bool
        Draw the bootstrap within each class.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    Bootstrap : Bootstrap samples alone.
    holdfast.StudyResult.fraction_profile : Agreement and score at each of the sizes.

    Examples
    --------
    >>> import holdfast as hf
    >>> for split in hf.NestedSubsamples(1, fractions=0.5).splits([0, 0, 0, 1, 1, 1]):
    ...     print(split.label, split.train, split.test)
    bootstrap 0 at 0.5 [3 5 5] [1 4]
    bootstrap 0 at 1 [0 2 3 5 5 5] [1 4]
    """

    about = About(
        name="nested_subsamples",
        summary="Compare each bootstrap sample with smaller and smaller parts of itself.",
        methods="{blocks} bootstrap samples and parts of them ({fractions:percent}; {n} samples in all)"
        "{stratify:if , stratified by class}",
        scope="bootstrap samples of this data set beside smaller parts of themselves",
        caution=SHARED_ROWS,
        reference="gulgezen2009",
    )
    _least_counts: ClassVar = {"n_bootstraps": 1}
    rows_only: ClassVar[bool] = False
    grows: ClassVar[str | None] = "n_bootstraps"
    design: ClassVar[Design] = "nested_subsamples"

    n_bootstraps: int = 10
    fractions: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1)
    stratify: bool = False
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.fractions
        fractions = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
        for fraction in fractions:
            check_share("each of fractions", fraction, one=True)
        if not any(fraction < 1 for fraction in fractions):
            raise ValueError(f"Expected at least one of fractions to be below 1, the whole, got {given!r}.")
        object.__setattr__(self, "fractions", tuple(sorted({*map(float, fractions), 1.0})))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_bootstraps * len(self.fractions)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        sample, part_number = divmod(index, len(self.fractions))
        fraction, rng = self.fractions[part_number], rng_of(seed, sample, ROWS)
        whole = rng.permutation(draw_units(samples, self.stratify, rng))
        part = whole[: share_of(whole.size, fraction)]
        label = f"bootstrap {sample} at {fraction:g}"
        return split_of_draws(label, index, samples, seed, part, whole, block=sample, fraction=fraction)


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
        methods="the {n} training sets of {n_splits}-fold cross-validation{stratify:if , stratified by class}",
        scope="folds of this data set, which share most of their rows: the interval is a rough guide",
        caution=SHARED_ROWS,
    )
    _least_counts: ClassVar = {"n_splits": 2, "n_repeats": 1}
    design: ClassVar[Design] = "folds"
    grows: ClassVar[str | None] = "n_repeats"

    n_splits: int = 10
    n_repeats: int = 1
    stratify: bool = True
    random_state: int | None = field(default=None, repr=False)

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
class LeaveOneSiteOut(Perturbation):
    """Leave-one-site-out: the rows of each site (batch, center, cohort) are held out once.

    Scores say how well models predict at a site that they have not seen. Training sets share all sites but two, so
    selections agree more than studies of other sites would: :func:`holdfast.replication.site_replicability` asks how
    much these agree.

    Parameters
    ----------
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    Folds : Folds that are drawn.
    holdfast.replication.site_replicability : What a new study at other sites would select.

    Examples
    --------
    >>> from holdfast.resampling import LeaveOneSiteOut
    >>> for train, test in LeaveOneSiteOut().split([[1], [2], [3], [4]], groups=["Bern", "Chur", "Bern", "Genf"]):
    ...     print(train, test)
    [1 3] [0 2]
    [0 2 3] [1]
    [0 1 2] [3]
    """

    about = About(
        name="leave_one_site_out",
        summary="Leave-one-site-out: each site is held out once, and the selector is fitted to the others.",
        methods="the {n} training sets that each lack one site",
        scope="leaving out one site of this data set at a time; the training sets share most rows: the interval is a "
        "rough guide",
        caution=SHARED_ROWS,
        needs=("sites",),
    )
    design: ClassVar[Design] = "folds"
    grows: ClassVar[str | None] = None
    by_sites: ClassVar[bool] = True

    random_state: int | None = field(default=None, repr=False)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.bind(X, y, groups, 0).get_n_splits()

    def identity(self) -> dict[str, Any]:
        return {"perturbation": "LeaveOneSiteOut"}

    def bind(self, X: Any, y: Any, groups: Any, seed: int) -> "LeaveOneSiteOut":
        if groups is None:
            raise ValueError(
                "Expected sites to leave out one at a time, got none; give sites= and where each row comes from."
            )
        codes, labels = pd.factorize(np.asarray(groups), sort=True)
        if labels.size < 2:
            raise ValueError(f"Expected two sites or more to leave out one at a time, got {labels.size}.")
        return _KnownSites(self.random_state, codes.astype(np.int64), tuple(map(str, labels)))

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        raise ValueError("Expected sites to leave out one at a time, got none; call bind with the site of each row.")


@dataclass(frozen=True)
class _KnownSites(LeaveOneSiteOut):
    """The same, of data whose sites are known."""

    about = LeaveOneSiteOut.about
    codes: Ints = field(default_factory=no_rows, repr=False, compare=False)
    labels: tuple[str, ...] = ()

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return len(self.labels)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        rows = np.flatnonzero(self.codes != index)
        return split_of_rows(f"without {self.labels[index]}", index, samples, seed, rows, block=0)


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
        methods="{n} inner folds, {n_inner} of each training fold of a {n_splits}-fold cross-validation"
        "{stratify:if , stratified by class}",
        scope="folds inside each training fold of this data set, which share most of their rows",
        caution=SHARED_ROWS,
        reference="kalousis2005",
    )
    _least_counts: ClassVar = {"n_splits": 2, "n_inner": 2, "n_repeats": 1}
    rows_only: ClassVar[bool] = False
    design: ClassVar[Design] = "nested_folds"
    grows: ClassVar[str | None] = "n_repeats"

    n_splits: int = 10
    n_inner: int = 10
    n_repeats: int = 1
    stratify: bool = True
    random_state: int | None = field(default=None, repr=False)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits * self.n_repeats * (self.n_inner + 1)

    @property
    def least_units(self) -> int:
        return max(self.n_splits, self.n_inner + 1)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        outer, inner = divmod(index, self.n_inner + 1)
        repeat, fold = divmod(outer, self.n_splits)
        fold_of = deal_into_folds(samples, self.n_splits, self.stratify, rng_of(seed, repeat, ROWS))
        train = np.flatnonzero(fold_of != fold)
        if inner == 0:
            return split_of_rows(f"outer {outer}", index, samples, seed, train, block=outer, measured=False)
        inside = Samples.of(
            train.size, *(None if labels is None else labels[train] for labels in (samples.classes, samples.groups))
        )
        inner_of = deal_into_folds(inside, self.n_inner, self.stratify, rng_of(seed, repeat, fold, ROWS))
        rows = train[inner_of != inner - 1]
        return split_of_rows(f"outer {outer} inner {inner - 1}", index, samples, seed, rows, no_rows(), block=outer)


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
    pairs: Sequence[tuple[Ints, Ints]] | None = None
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
        """Folds if every row is held out equally often, else separate runs."""
        if not self.pairs:
            return "runs"
        held = np.bincount(np.concatenate([test for _, test in self.pairs]))
        largest = max(int(rows.max()) for pair in self.pairs for rows in pair if rows.size)
        return "folds" if held.size == largest + 1 and held.min() == held.max() else "runs"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return len(self._bound_pairs)

    @property
    def _bound_pairs(self) -> Sequence[tuple[Ints, Ints]]:
        if self.pairs is None:
            raise ValueError("Expected the data of the splitter, got none yet; call bind(X, y, groups, seed) first.")
        return self.pairs

    def bind(self, X: Any, y: Any, groups: Any, seed: int) -> "GivenSplits":
        splitter = self.splitter
        if hasattr(splitter, "split"):
            if getattr(splitter, "random_state", 0) is None and getattr(splitter, "shuffle", True):
                splitter = copy.copy(splitter)
                splitter.random_state = selector_seed(seed, 0)
            splitter = splitter.split(X, y, groups)
        pairs = [_read_pair(index, pair, len(y)) for index, pair in enumerate(splitter)]
        if not pairs:
            raise ValueError(f"Expected at least one split from {self.splitter!r}, got none.")
        return GivenSplits(self.splitter, pairs)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        train, test = self._bound_pairs[index]
        rows, counts = np.unique(train, return_counts=True)
        more = {} if counts.max() == 1 else {"counts": counts}
        return split_of_rows(f"split {index}", index, samples, seed, rows, test, **more)


def _read_pair(index: int, pair: Any, n: int) -> tuple[Ints, Ints]:
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise ValueError(f"Expected (training rows, held-out rows) as split {index}, got {pair!r}.") from None
    train, test = (
        np.flatnonzero(part) if part.dtype == bool else part.astype(np.int64) for part in map(np.asarray, (train, test))
    )
    if not train.size or min(train.min(), test.min(initial=0)) < 0 or max(train.max(), test.max(initial=0)) >= n:
        raise ValueError(f"Expected rows from 0 to {n - 1} in split {index}, got none or others.")
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


ALL_ROWS = "all rows"
"""Label of the split that takes every row."""


@PERTURBATIONS.add
@renamed(n_halvings="n_pairs")
@dataclass(frozen=True)
class SplitHalves(Perturbation):
    """Repeated split-half: all rows once, then repeatedly two random halves that share no row.

    The two halves of a split are independent samples, so their agreement estimates how far two studies of half this
    size would agree, and with what was selected on all rows how far a new study would
    (:meth:`~holdfast.StudyResult.replicability`). Rows of one group stay together; without groups, equal rows do. Every
    row is in one of the two halves.

    Parameters
    ----------
    n_pairs : int
        Number of pairs of halves.
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
    >>> for split in hf.resampling.SplitHalves(1).splits([0, 0, 0, 1, 1, 1]):
    ...     print(split.label, split.train)
    all rows [0 1 2 3 4 5]
    halving 0a [1 2 3]
    halving 0b [0 4 5]
    """

    about = About(
        name="split_halves",
        summary="Fit to all rows once, and repeatedly to two halves that share no row, for replicability.",
        methods="repeated split-half ({blocks} ×: two random halves of the rows that share none), and all rows",
        scope="disjoint halves of this data set: how far two studies of half its size would agree",
        no_interval="halves of one data set do not show how much new data sets would differ; replicability has an "
        "interval that does",
        caution="Resamples are compared on disjoint halves of the data, which share no rows: the stability tells how "
        "far two studies of half this size would agree, and on pure noise it would be about 0.",
        reference="shah2013",
    )
    _least_counts: ClassVar = {"n_pairs": 1}
    rows_only: ClassVar[bool] = False
    grows: ClassVar[str | None] = "n_pairs"
    design: ClassVar[Design] = "pairs"

    n_pairs: int = 100
    stratify: bool = True
    random_state: int | None = field(default=None, repr=False)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return 1 + 2 * self.n_pairs

    @property
    def least_units(self) -> int:
        return 4

    def identity(self) -> dict[str, Any]:
        return {"perturbation": "Halvings", "stratify": self.stratify}  # its name in the plans of stores

    def bind(self, X: Any, y: Any, groups: Any, seed: int) -> "SplitHalves":
        copies = None if groups is not None else find_copies(X)
        return self if copies is None else _SplitHalvesOfCopies(self.n_pairs, self.stratify, self.random_state, copies)

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
        pair, half = divmod(index - 1, 2)
        rng = rng_of(seed, pair, ROWS)
        strata = samples.strata(self.stratify)
        deck = np.concatenate([rng.permutation(strata[stratum]) for stratum in rng.permutation(len(strata))])
        rows = samples.rows_of(deck[(rng.integers(2) + half) % 2 :: 2])
        return split_of_rows(f"halving {pair}{'ab'[half]}", index, samples, seed, rows, block=pair)


@dataclass(frozen=True)
class _SplitHalvesOfCopies(SplitHalves):
    """Split halves of data in which some rows are equal: these stay together."""

    about = SplitHalves.about
    copies: Ints = field(default_factory=no_rows, repr=False, compare=False)

    def units(self, samples: Samples) -> Samples:
        return replace(samples, groups=self.copies)

    def check(self, samples: Samples) -> None:
        super().check(self.units(samples))


def find_copies(X: ArrayLike | Any) -> Ints | None:
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
    copies = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    return copies if len(numbers) < len(copies) else None


def _comparable(X: Any) -> NDArray[Any]:
    """Values whose bytes are equal if they are: numbers, or the number of each different value of a column."""
    try:
        return np.ascontiguousarray(X, dtype=np.float64) + 0.0  # -0 is 0
    except (TypeError, ValueError):  # texts, categories, dates
        frame = pd.DataFrame(X)
        return np.column_stack([pd.factorize(frame.iloc[:, column])[0] for column in range(frame.shape[1])])


@PERTURBATIONS.add
@dataclass(frozen=True)
class Noise(Perturbation):
    """Noise added to the features of all rows and, with ``flip``, to the class labels; nothing is held out.

    Parameters
    ----------
    n_splits : int
        Number of noisy copies.
    scale : float
        Standard deviation of the noise, in standard deviations of each feature.
    flip : float
        Share of rows whose class is exchanged for another, drawn for each row.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    NewSeeds : All rows unchanged, with new random numbers for the selector.

    Examples
    --------
    >>> import holdfast as hf
    >>> import numpy as np
    >>> X, y = np.eye(4), np.array([0, 0, 1, 1])
    >>> first = next(hf.Noise(scale=0.1).splits(y))
    >>> noisy, target = first.data(X, y)
    >>> noisy[0].round(2), target
    (array([ 0.93, -0.05,  0.  ,  0.03]), array([0, 0, 1, 1]))
    """

    about = About(
        name="noise",
        summary="Add noise to the features of all rows, and flip labels if asked; nothing is held out.",
        methods="{n} copies of the data with noise added ({scale:g} standard deviations; {flip:percent} of the "
        "labels exchanged)",
        scope="this data set with noise added to it, not new data sets",
        caution="Resamples differ by noise that was added to the data, not by their samples: other samples would "
        "usually agree less.",
    )
    _least_counts: ClassVar = {"n_splits": 1}
    rows_only: ClassVar[bool] = False

    n_splits: int = 100
    scale: float = 0.1
    flip: float = 0.0
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("flip", self.flip, zero=True)
        if not is_number(self.scale) or not self.scale >= 0:
            raise ValueError(f"Expected scale to be 0 or more, got {self.scale!r}.")

    def bind(self, X: Any, y: Any, groups: Any, seed: int) -> "Noise":
        if sp.issparse(X):
            raise ValueError(f"Expected a dense X for {self}, which changes every entry, got a sparse one; densify it.")
        return self

    def check(self, samples: Samples) -> None:
        super().check(samples)
        if self.flip and samples.classes is None:
            raise ValueError(f"Expected a target of classes for flip={self.flip}, got numbers; leave flip out.")

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        change = Change(self.scale, self.flip, (seed, index, NOISE))
        return split_of_rows(f"noise {index}", index, samples, seed, np.arange(samples.n), no_rows(), change=change)


@PERTURBATIONS.add
@dataclass(frozen=True)
class NewSeeds(Perturbation):
    """New random seeds on all rows: variation that comes from the selector's own randomness; nothing is held out.

    Parameters
    ----------
    n_splits : int
        Number of resamples.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    Noise : All rows, with noise added to the features.

    Examples
    --------
    >>> import holdfast as hf
    >>> for split in hf.NewSeeds(2).splits([0, 0, 1, 1]):
    ...     print(split.train, split.seed)
    [0 1 2 3] 1878776328
    [0 1 2 3] 336614359
    """

    about = About(
        name="new_seeds",
        summary="Fit to all rows with a new random seed each time; nothing is held out.",
        methods="{n} repetitions on all rows with new random numbers",
        scope="other random seeds on this data set: chance in the selector alone, not in the data",
        caution="Resamples differ only by the selector's own random numbers, not by their data: this says nothing "
        "about other samples.",
    )
    _least_counts: ClassVar = {"n_splits": 1}
    rows_only: ClassVar[bool] = False

    n_splits: int = 20
    random_state: int | None = field(default=None, repr=False)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        return split_of_rows(f"seed {index}", index, samples, seed, np.arange(samples.n), no_rows(), reseed=True)
