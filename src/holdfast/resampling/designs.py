"""The perturbations: bootstraps, subsamples, halves, folds, noise, shrinking samples, new seeds."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from holdfast.checks import is_number
from holdfast.resampling.split import (
    Change,
    Design,
    Perturbation,
    Places,
    Samples,
    Split,
    no_rows,
    rng_of,
    selector_seed,
)

ROWS, NOISE = range(2)  # what a random stream is for


MOST = 10_000_000
"""Most samples, folds or repeats: their rows alone would fill a disk."""


def _check_number(what: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"Expected {what} to be a whole number of at least {least}, got {value!r}.")
    if value > MOST:
        raise ValueError(f"Expected {what} to be at most {MOST:,}, got {value!r}.")


def _check_share(what: str, value: Any, *, zero: bool = False, one: bool = False) -> None:
    if not is_number(value) or not (0 < value < 1 or (zero and value == 0) or (one and value == 1)):
        ends = f"{'from' if zero else 'above'} 0 {'to' if one else 'and below'} 1"
        raise ValueError(f"Expected {what} to be a share {ends}, got {value!r}.")


@dataclass(frozen=True)
class Bootstrap(Perturbation):
    """As many rows as there are, drawn with replacement; those never drawn (about 37 %) are held out.

    Parameters
    ----------
    n : int
        Number of bootstrap samples.
    stratify : bool
        Draw within each class, so that every sample has the same share of it.
    """

    n: int = 100
    stratify: bool = False

    def __post_init__(self) -> None:
        _check_number("n", self.n, 1)

    @property
    def n_splits(self) -> int:
        return self.n

    def split(self, index: int, samples: Samples, seed: int) -> Split:
        drawn = drawn_units(samples, self.stratify, rng_of(seed, index, ROWS))
        return from_draws(f"bootstrap {index}", index, samples, seed, drawn, drawn)


def drawn_units(samples: Samples, stratify: bool, rng: np.random.Generator) -> Places:
    """Units drawn with replacement, within classes if asked."""
    return np.concatenate([units[rng.integers(units.size, size=units.size)] for units in samples.strata(stratify)])


def from_draws(label: str, index: int, samples: Samples, seed: int, drawn: Places, seen: Places, **more: Any) -> Split:
    """A split of the units drawn; what was never seen is held out."""
    times = np.bincount(drawn, minlength=samples.n_units)[samples.unit_of]
    rows = np.flatnonzero(times)
    return Split(
        index=index,
        label=label,
        rows=rows,
        counts=times[rows],
        test=np.flatnonzero(np.bincount(seen, minlength=samples.n_units)[samples.unit_of] == 0),
        seed=selector_seed(seed, index),
        **{"block": index, **more},
    )


def from_rows(
    label: str, index: int, samples: Samples, seed: int, rows: Places, test: Places | None = None, **more: Any
) -> Split:
    """A split that uses rows once; all others are held out unless said otherwise."""
    if test is None:
        test = np.setdiff1d(np.arange(samples.n), rows)
    more.setdefault("block", index)
    return Split(index=index, label=label, rows=rows, test=test, seed=selector_seed(seed, index), **more)


@dataclass(frozen=True)
class Subsample(Perturbation):
    """A share of the rows, each once; the others are held out.

    Parameters
    ----------
    n : int
        Number of subsamples.
    fraction : float
        Share of the rows to train on.
    stratify : bool
        Take this share of every class.
    """

    n: int = 100
    fraction: float = 0.5
    stratify: bool = False

    def __post_init__(self) -> None:
        _check_number("n", self.n, 1)
        _check_share("fraction", self.fraction)

    @property
    def n_splits(self) -> int:
        return self.n

    def split(self, index: int, samples: Samples, seed: int) -> Split:
        rng = rng_of(seed, index, ROWS)
        parts = [
            rng.permutation(units)[: _share_of(units.size, self.fraction)] for units in samples.strata(self.stratify)
        ]
        return from_rows(f"subsample {index}", index, samples, seed, samples.rows_of(np.concatenate(parts)))


def _share_of(size: int, fraction: float) -> int:
    """A share of a number, at least one."""
    return max(1, int(size * fraction + 0.5))


@dataclass(frozen=True)
class ComplementaryPairs(Perturbation):
    """Disjoint halves of the rows, two by two; each is held out for the other.

    Halves of one pair have no row in common, so their agreement estimates, without bias, how far two studies of half
    this size would agree. The stability is therefore the mean agreement *within* pairs. It has no interval: all pairs
    are drawn from one data set, and their spread does not show how much new data sets would differ.

    Parameters
    ----------
    n : int
        Number of pairs; there are twice as many splits.
    stratify : bool
        Halve every class.
    """

    design: ClassVar[Design] = "pairs"

    n: int = 50
    stratify: bool = False

    def __post_init__(self) -> None:
        _check_number("n", self.n, 1)

    @property
    def n_splits(self) -> int:
        return 2 * self.n

    @property
    def least_units(self) -> int:
        return 4

    def split(self, index: int, samples: Samples, seed: int) -> Split:
        pair, half = divmod(index, 2)
        rng = rng_of(seed, pair, ROWS)
        parts = []
        for units in samples.strata(self.stratify):
            size = units.size // 2
            parts.append(rng.permutation(units)[half * size : (half + 1) * size])
        rows = samples.rows_of(np.concatenate(parts))
        return from_rows(f"pair {pair}{'ab'[half]}", index, samples, seed, rows, block=pair)


def dealt(samples: Samples, k: int, stratify: bool, rng: np.random.Generator) -> Places:
    """The fold of every row: units are shuffled within classes and dealt in turn."""
    deck = np.concatenate([rng.permutation(units) for units in samples.strata(stratify)])
    fold_of_unit = np.empty(samples.n_units, np.int64)
    fold_of_unit[deck] = np.arange(deck.size) % k
    return fold_of_unit[samples.unit_of]


@dataclass(frozen=True)
class Folds(Perturbation):
    """Cross-validation: each of ``k`` parts is held out once.

    Two training sets share most of their rows, so runs agree more than runs on independent samples would, and they are
    not independent of each other: the interval is labeled so.

    Parameters
    ----------
    k : int
        Number of parts.
    repeats : int
        How often to divide anew.
    stratify : bool
        Deal every class evenly; has no effect on a target of numbers.
    """

    design: ClassVar[Design] = "folds"
    grows: ClassVar[str | None] = "repeats"

    k: int = 10
    repeats: int = 1
    stratify: bool = True

    def __post_init__(self) -> None:
        _check_number("k", self.k, 2)
        _check_number("repeats", self.repeats, 1)

    @property
    def n_splits(self) -> int:
        return self.k * self.repeats

    @property
    def least_units(self) -> int:
        return self.k

    def split(self, index: int, samples: Samples, seed: int) -> Split:
        repeat, fold = divmod(index, self.k)
        fold_of = dealt(samples, self.k, self.stratify, rng_of(seed, repeat, ROWS))
        label = f"fold {fold}" if repeat == 0 else f"fold {fold} of repeat {repeat}"
        return from_rows(label, index, samples, seed, np.flatnonzero(fold_of != fold), block=repeat)


@dataclass(frozen=True)
class NestedFolds(Perturbation):
    """Stability inside each training fold of the error estimate (Kalousis, Prados and Hilario, 2005).

    Each of ``k`` outer folds is held out for the score; its training rows are divided again into ``inner`` folds, and
    the selections on those are compared with each other. The stability is the mean over outer folds.

    Parameters
    ----------
    k, inner : int
        Number of outer and inner folds.
    repeats : int
        How often to divide anew.
    stratify : bool
        Deal every class evenly; has no effect on a target of numbers.
    """

    design: ClassVar[Design] = "nested"
    grows: ClassVar[str | None] = "repeats"

    k: int = 10
    inner: int = 10
    repeats: int = 1
    stratify: bool = True

    def __post_init__(self) -> None:
        _check_number("k", self.k, 2)
        _check_number("inner", self.inner, 2)
        _check_number("repeats", self.repeats, 1)

    @property
    def n_splits(self) -> int:
        return self.k * self.repeats * (self.inner + 1)

    @property
    def least_units(self) -> int:
        return max(self.k, self.inner + 1)

    def split(self, index: int, samples: Samples, seed: int) -> Split:
        outer, place = divmod(index, self.inner + 1)
        repeat, fold = divmod(outer, self.k)
        fold_of = dealt(samples, self.k, self.stratify, rng_of(seed, repeat, ROWS))
        train = np.flatnonzero(fold_of != fold)
        if place == 0:
            return from_rows(f"outer {outer}", index, samples, seed, train, block=outer, measured=False)
        inside = Samples.of(
            train.size, *(None if one is None else one[train] for one in (samples.classes, samples.groups))
        )
        inner_of = dealt(inside, self.inner, self.stratify, rng_of(seed, repeat, fold, ROWS))
        rows = train[inner_of != place - 1]
        return from_rows(f"outer {outer} inner {place - 1}", index, samples, seed, rows, no_rows(), block=outer)


@dataclass(frozen=True)
class Noise(Perturbation):
    """All rows, with noise added to the features and, if asked, some class labels exchanged; nothing is held out.

    Parameters
    ----------
    n : int
        Number of noisy copies.
    scale : float
        Standard deviation of the noise, in standard deviations of each feature.
    flip : float
        Share of rows whose class is exchanged for another, drawn for each row.
    """

    n: int = 100
    scale: float = 0.1
    flip: float = 0.0

    def __post_init__(self) -> None:
        _check_number("n", self.n, 1)
        _check_share("flip", self.flip, zero=True)
        if not is_number(self.scale) or not self.scale >= 0:
            raise ValueError(f"Expected scale to be 0 or more, got {self.scale!r}.")

    @property
    def n_splits(self) -> int:
        return self.n

    def bind(self, X: Any, y: Any, groups: Any, seed: int) -> "Noise":
        if sp.issparse(X):
            raise ValueError(f"Expected a dense X for {self}, which changes every entry, got a sparse one; densify it.")
        return self

    def check(self, samples: Samples) -> None:
        super().check(samples)
        if self.flip and samples.classes is None:
            raise ValueError(f"Expected a target of classes for flip={self.flip}, got numbers; leave flip out.")

    def split(self, index: int, samples: Samples, seed: int) -> Split:
        change = Change(self.scale, self.flip, (seed, index, NOISE))
        return from_rows(f"noise {index}", index, samples, seed, np.arange(samples.n), no_rows(), change=change)


@dataclass(frozen=True)
class NestedSubsamples(Perturbation):
    """Bootstrap samples, each compared with smaller samples of itself (Gulgezen, Cataltepe and Yu, 2009).

    Smaller samples of one bootstrap are drawn from it without replacement, each contained in the next. The rows that
    the bootstrap never drew are held out for all of them.

    Parameters
    ----------
    n : int
        Number of bootstrap samples.
    fractions : float or tuple of float
        Sizes of the smaller samples, as shares of the whole, which is always made (1).
    stratify : bool
        Draw the bootstrap within each class.
    """

    design: ClassVar[Design] = "shrink"

    n: int = 10
    fractions: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1)
    stratify: bool = False

    def __post_init__(self) -> None:
        _check_number("n", self.n, 1)
        given: Any = self.fractions
        fractions = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
        for fraction in fractions:
            _check_share("each of fractions", fraction, one=True)
        if not any(fraction < 1 for fraction in fractions):
            raise ValueError(f"Expected at least one of fractions to be below 1, the whole, got {given!r}.")
        object.__setattr__(self, "fractions", tuple(sorted({*map(float, fractions), 1.0})))

    @property
    def n_splits(self) -> int:
        return self.n * len(self.fractions)

    def split(self, index: int, samples: Samples, seed: int) -> Split:
        sample, place = divmod(index, len(self.fractions))
        rng = rng_of(seed, sample, ROWS)
        whole = rng.permutation(drawn_units(samples, self.stratify, rng))
        part = whole[: _share_of(whole.size, self.fractions[place])]
        fraction = self.fractions[place]
        label = f"bootstrap {sample} at {fraction:g}"
        return from_draws(label, index, samples, seed, part, whole, block=sample, fraction=fraction)


@dataclass(frozen=True)
class NewSeeds(Perturbation):
    """All rows, a new ``random_state`` in each run: how far a selector's own randomness goes; nothing is held out.

    Parameters
    ----------
    n : int
        Number of runs.
    """

    n: int = 20

    def __post_init__(self) -> None:
        _check_number("n", self.n, 1)

    @property
    def n_splits(self) -> int:
        return self.n

    def split(self, index: int, samples: Samples, seed: int) -> Split:
        return from_rows(f"seed {index}", index, samples, seed, np.arange(samples.n), no_rows(), reseed=True)
