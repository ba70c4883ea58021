"""Resamples that are drawn: bootstrap samples, subsamples, halves, and smaller parts of a bootstrap sample."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from holdfast.declared import About
from holdfast.resampling.perturbation import PERTURBATIONS, SHARED_ROWS, Perturbation, check_count, check_share
from holdfast.resampling.split import ROWS, Design, Samples, Split, draw_units, rng_of, split_of_draws, split_of_rows


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
        methods="{n} bootstrap samples of the data",
        caution=SHARED_ROWS,
    )

    n_splits: int = 100
    stratify: bool = False
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, 1)

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
        methods="{n} random subsamples of the rows",
        caution=SHARED_ROWS,
    )

    n_splits: int = 100
    fraction: float = 0.5
    stratify: bool = False
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, 1)
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
        methods="{n} random halves of the rows, in pairs that share no row",
        scope="disjoint halves of this data set: how far two studies of half its size would agree",
        no_interval="pairs of halves of one data set do not show how much new data sets would differ",
        caution="Resamples are compared on disjoint halves of the data, which share no rows: the stability tells how "
        "far two studies of half this size would agree, and on pure noise it would be about 0.",
        reference="shah2013",
    )
    grows: ClassVar[str | None] = "n_pairs"
    design: ClassVar[Design] = "pairs"

    n_pairs: int = 50
    stratify: bool = False
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_count("n_pairs", self.n_pairs, 1)

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
        methods="{blocks} bootstrap samples and smaller parts of them ({n} samples in all)",
        scope="bootstrap samples of this data set beside smaller parts of themselves",
        caution=SHARED_ROWS,
        reference="gulgezen2009",
    )
    rows_only: ClassVar[bool] = False
    grows: ClassVar[str | None] = "n_bootstraps"
    design: ClassVar[Design] = "nested_subsamples"

    n_bootstraps: int = 10
    fractions: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1)
    stratify: bool = False
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_count("n_bootstraps", self.n_bootstraps, 1)
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
        sample, place = divmod(index, len(self.fractions))
        rng = rng_of(seed, sample, ROWS)
        whole = rng.permutation(draw_units(samples, self.stratify, rng))
        part = whole[: share_of(whole.size, self.fractions[place])]
        fraction = self.fractions[place]
        label = f"bootstrap {sample} at {fraction:g}"
        return split_of_draws(label, index, samples, seed, part, whole, block=sample, fraction=fraction)
