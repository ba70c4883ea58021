"""Measures of all runs at once: sums over features, and any function of the runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.measures import chance
from holdfast.measures.pairs import overlap_matrix
from holdfast.measures.record import FEW_RUNS, Form, Measure
from holdfast.measures.tally import Floats, Tally, WholeTally, pair_roughness
from holdfast.preferences import Preferences


@dataclass(frozen=True)
class FeatureSum(Form):
    """Form of measures that are a function of a sum over features.

    The sum is over a term in how often each feature was selected.

    Attributes
    ----------
    term : callable
        ``term(h, M)`` of a feature that is selected in ``h`` of ``M`` runs.
    finish : callable
        ``finish(total, q, M, d)`` makes the value from the total, the number ``q`` of all selections, and the number
        ``d`` of features. It must be linear in the total, which makes the expectation under chance exact.
    from_overlap : callable or None
        ``from_overlap(overlap, size, d)``, the same value from the mean overlap of two runs and the mean size.

    See Also
    --------
    OverlapPairs : Means over pairs of a function of overlap and sizes.
    Whole : Any function of all runs.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.measures import FeatureSum
    >>> always = FeatureSum(lambda h, M: (h == M) * 1.0, lambda total, q, M, d: total / (q / M))
    >>> hf.stability([[1, 1, 0], [1, 0, 1]], hf.Measure(name="always selected", form=always)).value
    0.5
    """

    term: Callable[[Floats, Any], Floats]
    finish: Callable[..., Any]
    from_overlap: Callable[..., Any] | None = None

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        times = np.bincount(preferences.counts, minlength=preferences.n_runs + 1)
        return [measure.form._tally(times, preferences) for measure in measures]  # type: ignore[attr-defined]

    def _tally(self, times: NDArray[Any], preferences: Preferences) -> Tally:
        return WholeTally(
            self.value(times, preferences),
            partial(self.leave_one_out, times, preferences),
            find_roughness=partial(self.roughness, times, preferences),
        )

    def value(self, times: NDArray[Any], preferences: Preferences) -> float:
        """Return the value for given, or expected, numbers of features per selection count.

        Parameters
        ----------
        times : ndarray
            Number of features that are selected 0, 1, … times.
        preferences : Preferences
            The runs.

        Returns
        -------
        float
            The value; ``nan`` if it is undefined.
        """
        n_runs = preferences.n_runs
        if n_runs < 2:
            return np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            total = times @ self.term(np.arange(times.size, dtype=float), n_runs)
            return float(self.finish(np.float64(total), int(preferences.sizes.sum()), n_runs, preferences.n_features))

    def leave_one_out(self, times: NDArray[Any], preferences: Preferences) -> Floats:
        """Return the values without each run, in time linear in the selections.

        A run that is left out lowers the count of every feature it selected by one.

        Parameters
        ----------
        times : ndarray
            Number of features that are selected 0, 1, … times.
        preferences : Preferences
            The runs.

        Returns
        -------
        ndarray
            One value per run that is left out.
        """
        n_left = preferences.n_runs - 1
        if n_left < 2:
            return np.full(preferences.n_runs, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            term = self.term(np.arange(n_left + 1, dtype=float), n_left)
            unchanged = np.append(term, 0.0)  # a feature of all runs is lowered by each of them
            lowered = np.insert(term, 0, 0.0)
            total = times @ unchanged + sum_over_selected(preferences, (lowered - unchanged)[preferences.counts])
            selected = (preferences.sizes.sum() - preferences.sizes).astype(float)
            return np.asarray(self.finish(total, selected, n_left, preferences.n_features), dtype=float)

    def roughness(self, times: NDArray[Any], preferences: Preferences) -> float:
        """Estimate the roughness from pairs of runs, if these are few, and from features; the larger counts.

        The first sees features that move together. The second takes the curvature of the term, as if features were
        selected on their own, twice; it rests on more numbers.

        Parameters
        ----------
        times : ndarray
            Number of features that are selected 0, 1, … times.
        preferences : Preferences
            The runs.

        Returns
        -------
        float
            Variance of what a pair of runs adds beyond what its two runs add each.
        """
        n_runs, d, selected = preferences.n_runs, preferences.n_features, int(preferences.sizes.sum())
        h = np.arange(n_runs + 1, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            term = self.term(h, n_runs)
            with_one, with_none = (self.finish(np.float64(total), selected, n_runs, d) for total in (1, 0))
        curvature = np.zeros(n_runs + 1)
        curvature[1:-1] = n_runs * (n_runs - 1) / 2 * (with_one - with_none) * np.diff(term, 2)
        variance = h * (n_runs - h) / (n_runs * (n_runs - 1))
        from_features = float(2 * times @ (curvature * variance) ** 2)
        kernel = self._kernel(preferences) if 4 <= n_runs <= FEW_RUNS else None
        return from_features if kernel is None else max(from_features, pair_roughness(kernel))

    def kernel(self, preferences: Preferences, measure: Measure) -> Floats | None:
        return self._kernel(preferences)

    def _kernel(self, preferences: Preferences) -> Floats | None:
        if self.from_overlap is None:
            return None
        size, d = preferences.sizes.mean(), preferences.n_features
        return overlap_matrix(preferences) * (self.from_overlap(1.0, size, d) - self.from_overlap(0.0, size, d))

    def resampled(self, preferences: Preferences, measure: Measure, weights: Floats) -> Floats:
        if self.from_overlap is None:
            return super().resampled(preferences, measure, weights)
        overlap = mean_overlap(preferences, weights)
        size = weights @ preferences.sizes / weights.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.from_overlap(overlap, size, preferences.n_features)

    def corrected(self, measure: Measure) -> "Whole":
        return Whole(partial(_corrected_sum, self, measure.best))


def mean_overlap(preferences: Preferences, weights: Floats) -> Floats:
    """Return the mean number of features that two resampled runs share, for each row of weights, copies left out.

    Counted by features or by pairs of runs, whichever takes less: a feature that is drawn c times is in c² pairs.
    """
    shared = np.flatnonzero(preferences.counts > 1)
    squares = weights**2
    if 2 * shared.size < preferences.n_runs:
        selected = preferences.to_sparse()[:, shared].toarray()
        kind = _kind_for_sums(weights, 1.0)
        times = (weights.astype(kind) @ selected.astype(kind)).astype(np.float64)
        together = np.einsum("bf,bf->b", times, times) - squares @ selected.sum(axis=1)
    else:
        together = 2 * _sum_over_pairs(overlap_matrix(preferences), weights)
    return together / (weights.sum(axis=1) ** 2 - squares.sum(axis=1))


def _sum_over_pairs(overlap: Floats, weights: Floats) -> Floats:
    """Return the sum over all unordered pairs of different runs of their overlap times their weights."""
    from scipy.linalg.blas import dtrmm, strmm  # not needed to measure

    np.fill_diagonal(overlap, 0.0)
    kind = _kind_for_sums(weights, float(overlap.max(initial=0.0)))
    multiply = strmm if kind is np.float32 else dtrmm
    with_later = multiply(1.0, overlap.astype(kind).T, weights.astype(kind).T, lower=1).T
    return np.einsum("bi,bi->b", weights, with_later.astype(np.float64))


def _kind_for_sums(weights: Floats, largest: float) -> type[np.float32 | np.float64]:
    """The fastest kind of number that is exact: 32 bits for sums of whole numbers up to 2²⁴."""
    small = weights.sum(axis=1).max(initial=0.0) * largest < 2**24
    return np.float32 if small and (weights == np.rint(weights)).all() else np.float64


def sum_over_selected(preferences: Preferences, values: Floats) -> Floats:
    """For each run, the sum of ``values`` over the features that it selected."""
    indices, indptr = preferences.lists()
    sums = np.zeros(preferences.n_runs)
    filled = preferences.sizes > 0  # reduceat would give an empty run the next run's first value
    if filled.any():
        sums[filled] = np.add.reduceat(values[indices], indptr[:-1][filled])
    return sums


def _corrected_sum(form: FeatureSum, best: float, preferences: Preferences) -> float:
    value = form.value(np.bincount(preferences.counts, minlength=preferences.n_runs + 1), preferences)
    by_chance = preferences.n_features * chance.count_distribution(preferences.sizes, preferences.n_features)
    return _above_chance(value, form.value(by_chance, preferences), best)


def _above_chance(value: float, expected: float, best: float) -> float:
    return (value - expected) / (best - expected) if best != expected else np.nan


def leave_one_out(function: Callable[[Preferences], float], preferences: Preferences) -> Floats:
    """Evaluate a function without each run in turn."""
    runs = np.arange(preferences.n_runs)
    if preferences.n_runs < 3:
        return np.full(preferences.n_runs, np.nan)
    return np.array([function(preferences.take(runs[runs != run])) for run in runs])


@dataclass(frozen=True)
class Whole(Form):
    """Form of measures that are any function of all runs.

    Attributes
    ----------
    function : callable
        ``function(preferences, **parameters)``; returns ``nan`` where it is undefined.

    See Also
    --------
    FeatureSum : Sums over features, which are faster.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> from holdfast.measures import Whole
    >>> def core(runs):
    ...     return float(np.mean(runs.frequency[runs.counts > 0] == 1))
    >>> hf.stability([[1, 1, 0], [1, 0, 1]], hf.Measure(name="core", form=Whole(core))).value
    0.3333333333333333
    """

    function: Callable[..., float]

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        return [measure.form._tally(preferences, measure) for measure in measures]  # type: ignore[attr-defined]

    def _tally(self, preferences: Preferences, measure: Measure) -> Tally:
        function = partial(self.function, **measure.parameters)
        return WholeTally(function(preferences), partial(leave_one_out, function, preferences))

    def corrected(self, measure: Measure) -> "CorrectedWhole":
        return CorrectedWhole(self.function, measure.best)


@dataclass(frozen=True)
class CorrectedWhole(Whole):
    """A function of all runs, corrected with its expectation for as many random sets of the same sizes."""

    best: float
    expected: dict[Any, chance.Expectation] = field(default_factory=dict, compare=False, repr=False)

    def _tally(self, preferences: Preferences, measure: Measure) -> Tally:
        function = partial(self.function, **measure.parameters)

        def corrected(runs: Preferences) -> float:
            return _above_chance(function(runs), self._expectation(function, runs, measure).value, self.best)

        value, without = corrected(preferences), partial(leave_one_out, corrected, preferences)
        if np.isnan(value):
            return WholeTally(value, without)
        expected = self._expectation(function, preferences, measure)
        slope = (1 - value) / (self.best - expected.value)
        return WholeTally(value, without, abs(slope) * expected.standard_error)

    def _expectation(
        self, function: Callable[[Preferences], float], runs: Preferences, measure: Measure
    ) -> chance.Expectation:
        key = runs.n_features, *np.sort(runs.sizes).tolist(), *measure.parameters.values()
        if key not in self.expected:
            self.expected[key] = chance.collection_expectation(function, runs.sizes, runs.n_features)
        return self.expected[key]
