"""Pairwise measures of subsets: means over all pairs of runs."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels import intersections
from holdfast.measures import chance
from holdfast.measures.record import Form, Measure, stacked
from holdfast.measures.tally import Floats, PairTally, Tally, mean_over_pairs
from holdfast.preferences import Preferences

Ints = NDArray[np.int64]

DENSE_CELLS = 1 << 15
"""Runs × features up to which shared features are counted by one dense product, quicker than laying them out."""
MOST_GROUPS = 1 << 20
"""Groups of pairs (size of the other run, features shared) up to which pairs are grouped; the count takes 8 MB."""


class PairValues(NamedTuple):
    """Similarities of pairs, and the standard error that a simulated expectation gives each (0 if exact)."""

    value: Floats
    error: Floats | float = 0.0


@dataclass(frozen=True)
class SetPairs(Form):
    """Form of measures that are the mean over all ordered pairs of a similarity of two sets.

    See Also
    --------
    OverlapPairs : A similarity that depends only on the overlap.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.measures import SetPairs
    >>> isinstance(hf.MEASURES["gulgezen"].form, SetPairs)
    True
    """

    symmetric = True
    pairwise = True

    @abstractmethod
    def values(self, sets: Preferences, first: Ints, second: Ints, measure: Measure) -> PairValues:
        """Return the similarities of the runs ``first`` with the runs ``second``; ``nan`` if undefined.

        Parameters
        ----------
        sets : Preferences
            The runs.
        first, second : ndarray of int
            Positions of the runs of each pair.
        measure : Measure
            The measure of this form.

        Returns
        -------
        PairValues
            Similarities of the pairs; ``nan`` where undefined.
        """

    @classmethod
    def values_together(
        cls, sets: Preferences, first: Ints, second: Ints, measures: Sequence[Measure]
    ) -> list[PairValues]:
        """Return the similarities for several measures of this form.

        Parameters
        ----------
        sets : Preferences
            The runs.
        first, second : ndarray of int
            Positions of the runs of each pair.
        measures : sequence of Measure
            Measures of this form.

        Returns
        -------
        list of PairValues
            One for each measure.
        """
        return [measure.form.values(sets, first, second, measure) for measure in measures]  # type: ignore[attr-defined]

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        sums = [_Sums(preferences.n_runs) for _ in measures]
        one_way = [place for place, measure in enumerate(measures) if not measure.form.symmetric]  # type: ignore[attr-defined]
        for first, second in pair_blocks(preferences.n_runs):
            forth = cls.values_together(preferences, first, second, measures)
            back = cls.values_together(preferences, second, first, [measures[place] for place in one_way])
            both = {**dict(enumerate(forth)), **dict(zip(one_way, back, strict=True))}
            for place, total in enumerate(sums):
                total.add(first, second, forth[place], both[place])
        return [total.tally() for total in sums]

    def kernel(self, preferences: Preferences, measure: Measure) -> Floats:
        """Return the runs × runs similarities, the mean of both orders.

        Parameters
        ----------
        preferences : Preferences
            The runs.
        measure : Measure
            The measure of this form.

        Returns
        -------
        ndarray of shape (n_runs, n_runs)
            Similarities of all pairs.
        """
        similarity = np.eye(preferences.n_runs)
        for first, second in pair_blocks(preferences.n_runs):
            forth = self.values(preferences, first, second, measure).value
            back = forth if self.symmetric else self.values(preferences, second, first, measure).value
            similarity[first, second] = similarity[second, first] = (forth + back) / 2
        return similarity

    def resampled(self, preferences: Preferences, measure: Measure, weights: Floats) -> Floats:
        return mean_over_pairs(self.kernel(preferences, measure), weights)

    def between(self, a: Preferences, b: Preferences, measure: Measure) -> Floats:
        runs = np.arange(a.n_runs)
        return self.values(stacked(a, b), runs, runs + a.n_runs, measure).value

    def corrected(self, measure: Measure) -> "SetPairs":
        return CorrectedPairs(self, measure.best)


class _Sums:
    """Collects similarities of pairs into a :class:`PairTally`."""

    def __init__(self, n_runs: int):
        self.n_runs, self.error, self.squares = n_runs, 0.0, 0.0
        self.sums, self.defined = np.zeros(n_runs), np.zeros(n_runs, dtype=np.int64)

    def add(self, first: Ints, second: Ints, forth: PairValues, back: PairValues) -> None:
        for values in (forth, back):
            defined = ~np.isnan(values.value)
            for runs in (first, second):
                self.sums += np.bincount(runs[defined], values.value[defined], self.n_runs)
                self.defined += np.bincount(runs[defined], minlength=self.n_runs)
            self.error += float(np.nansum(np.abs(values.error)))
        self.squares += 2 * float((((forth.value + back.value) / 2) ** 2).sum())

    def tally(self) -> PairTally:
        return PairTally(self.sums, self.defined, self.squares, self.error / max(1, self.defined.sum() // 2))


def pair_blocks(n_runs: int, size: int = 1 << 16) -> Iterator[tuple[Ints, Ints]]:
    """Yield all unordered pairs of different runs, about ``size`` at a time."""
    height = max(1, size // n_runs)
    for start in range(0, n_runs - 1, height):
        rows = np.arange(start, min(start + height, n_runs - 1))
        first = np.repeat(rows, n_runs - 1 - rows)
        yield first, np.concatenate([np.arange(run + 1, n_runs) for run in rows])


# Overlaps


class Cells(NamedTuple):
    """Ordered pairs of runs, grouped by the number of shared features and the sizes."""

    runs: slice  # first runs of the pairs in this block
    border: Ints  # where each first run's cells begin
    shared: Ints
    k1: Ints
    k2: Ints
    pairs: Ints  # how many pairs are in the cell


def pair_cells(preferences: Preferences) -> Iterator[Cells]:
    """Yield all ordered pairs of different runs, a block of first runs at a time."""
    sizes, n_runs = preferences.sizes, preferences.n_runs
    distinct, size_class = np.unique(sizes, return_inverse=True)
    n_values = int(sizes.max()) + 1
    layout = intersections.plan(*preferences.lists(), preferences.n_features)
    worth_grouping = 2 * distinct.size <= n_runs and distinct.size * n_values <= MOST_GROUPS
    for start, shared in intersections.intersection_blocks(layout):
        runs = slice(start, start + len(shared))
        if worth_grouping:
            border, code, pairs = intersections.group_pairs(start, shared, size_class, distinct.size, n_values)
            k1 = np.repeat(sizes[runs], np.diff(border))
            yield Cells(runs, border[:-1], code % n_values, k1, distinct[code // n_values], pairs)
        else:
            others = np.arange(n_runs) != np.arange(n_runs)[runs, None]
            k1, k2 = np.broadcast_arrays(sizes[runs, None], sizes[None, :])
            between = shared[others].astype(np.int64)
            border = np.arange(len(shared)) * (n_runs - 1)
            yield Cells(runs, border, between, k1[others], k2[others], np.ones_like(between))


def overlap_matrix(preferences: Preferences) -> Floats:
    """Return how many features every two runs share, as a runs × runs matrix."""
    if preferences.n_runs * preferences.n_features <= DENSE_CELLS:
        selected = preferences.to_sparse().toarray()
        return selected @ selected.T
    layout = intersections.plan(*preferences.lists(), preferences.n_features)
    return np.concatenate([shared for _, shared in intersections.intersection_blocks(layout)]).astype(float)


@dataclass(frozen=True)
class OverlapPairs(SetPairs):
    """Form of measures that are the mean over all pairs of a function of overlap and sizes.

    All such measures are evaluated in one pass.

    Attributes
    ----------
    similarity : callable
        ``similarity(r, k1, k2, d)`` takes arrays (features shared, sizes of the first and second set) and the number of
        all features. It returns ``nan`` where it is undefined.
    symmetric : bool
        Whether the order of the two sets does not matter.

    See Also
    --------
    SetPairs : Any similarity of two sets.
    holdfast.Measure : What a form is part of.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.measures import OverlapPairs
    >>> shared = OverlapPairs(lambda r, k1, k2, d: r / d)
    >>> hf.stability([[1, 1, 0, 0], [1, 0, 1, 0]], hf.Measure(name="shared", form=shared)).value
    0.25
    """

    similarity: Callable[..., Floats]
    symmetric: bool = True

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        sums = np.zeros((len(measures), preferences.n_runs))
        defined = np.zeros((len(measures), preferences.n_runs), dtype=np.int64)
        squares = np.zeros(len(measures))
        if preferences.n_runs > 1:
            for cells in pair_cells(preferences):
                for row, measure in enumerate(measures):
                    forth, back = measure.form._both_ways(cells, preferences.n_features, measure)  # type: ignore[attr-defined]
                    squares[row] += cells.pairs @ ((forth + back) / 2) ** 2
                    for values, weight in [(forth, 2)] if forth is back else [(forth, 1), (back, 1)]:
                        pairs, missing = weight * cells.pairs, np.isnan(values)
                        if missing.any():
                            values, pairs = np.where(missing, 0, values), np.where(missing, 0, pairs)
                        sums[row, cells.runs] += np.add.reduceat(values * pairs, cells.border)
                        defined[row, cells.runs] += np.add.reduceat(pairs, cells.border)
        return [PairTally(*totals) for totals in zip(sums, defined, squares.tolist(), strict=True)]

    def _both_ways(self, cells: Cells, n_features: int, measure: Measure) -> tuple[Floats, Floats]:
        """Similarities forth and back; the same array if the similarity is symmetric."""
        forth = self._similarity(cells.shared, cells.k1, cells.k2, n_features, measure)
        if self.symmetric:
            return forth, forth
        return forth, self._similarity(cells.shared, cells.k2, cells.k1, n_features, measure)

    def kernel(self, preferences: Preferences, measure: Measure) -> Floats:
        shared, k = overlap_matrix(preferences).astype(np.int64), preferences.sizes
        k1, k2 = np.broadcast_arrays(k[:, None], k[None, :])
        similarity = self._similarity(shared, k1, k2, preferences.n_features, measure)
        return (similarity + similarity.T) / 2

    def _similarity(self, shared: Ints, k1: Ints, k2: Ints, n_features: int, measure: Measure) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.similarity(shared, k1, k2, n_features, **measure.parameters)

    def values(self, sets: Preferences, first: Ints, second: Ints, measure: Measure) -> PairValues:
        rows = sets.to_sparse()
        shared = np.asarray(rows[first].multiply(rows[second]).sum(axis=1)).astype(np.int64)
        return PairValues(self._similarity(shared, sets.sizes[first], sets.sizes[second], sets.n_features, measure))

    def corrected(self, measure: Measure) -> "OverlapPairs":
        return OverlapPairs(partial(_corrected_overlap, self.similarity, measure.best), self.symmetric)


def _corrected_overlap(
    similarity: Callable[..., Floats], best: float, shared: Ints, k1: Ints, k2: Ints, d: int, **parameters: Any
) -> Floats:
    def expectation(size1: int, size2: int) -> chance.Expectation:
        return chance.overlap_expectation(partial(similarity, **parameters), size1, size2, d)

    return above_chance(similarity(shared, k1, k2, d, **parameters), best, k1, k2, expectation).value


# Correction for chance, pair by pair


def above_chance(
    value: Floats, best: Floats | float, k1: Ints, k2: Ints, expectation: Callable[[int, int], chance.Expectation]
) -> PairValues:
    """Return (value − expected) / (best − expected), the expectation found once for each pair of sizes."""
    width = int(k2.max(initial=0)) + 1
    codes, pair = np.unique(k1 * width + k2, return_inverse=True)  # many times faster than np.unique(axis=1)
    expectations = np.array([expectation(*divmod(int(code), width))[:2] for code in codes])[pair]
    expected, error = expectations[:, 0], expectations[:, 1]
    room = best - expected
    room = np.where(np.abs(room) < 1e-9 * (1 + np.abs(best)), 0, room)  # nothing can be better than chance
    with np.errstate(divide="ignore", invalid="ignore"):
        return PairValues((value - expected) / np.where(room == 0, np.nan, room), error * (value - best) / room**2)


@dataclass(frozen=True)
class CorrectedPairs(SetPairs):
    """A similarity of two sets, corrected with its simulated or enumerated expectation for random sets."""

    inner: SetPairs
    best: float
    expected: dict[Any, chance.Expectation] = field(default_factory=dict, compare=False, repr=False)

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.inner.symmetric

    def values(self, sets: Preferences, first: Ints, second: Ints, measure: Measure) -> PairValues:
        plain = replace(measure, form=self.inner)

        def of_pairs(random: Preferences) -> Floats:
            even = np.arange(0, random.n_runs, 2)
            return self.inner.values(random, even, even + 1, plain).value

        def expectation(k1: int, k2: int) -> chance.Expectation:
            key = k1, k2, sets.n_features, *measure.parameters.values()
            if key not in self.expected:
                self.expected[key] = chance.pair_expectation(of_pairs, k1, k2, sets.n_features)
            return self.expected[key]

        value = self.inner.values(sets, first, second, plain).value
        return above_chance(value, self.best, sets.sizes[first], sets.sizes[second], expectation)
