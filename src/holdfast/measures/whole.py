"""Forms of measures that look at all runs at once: sums over features, and any function of the runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.measures import chance
from holdfast.measures.record import Floats, Form, Measure, Tally, WholeTally
from holdfast.preferences import Preferences


@dataclass(frozen=True)
class FeatureSum(Form):
    """A function of a sum over features of a term in how often each was selected.

    ``term(h, M)`` is taken for each feature selected in ``h`` of ``M`` runs; ``finish(total, q, M, d)`` makes the value
    from the total, the number ``q`` of all selections, and the number ``d`` of features. ``finish`` must be linear in
    the total, which makes the expectation under chance exact.
    """

    term: Callable[[Floats, Any], Floats]
    finish: Callable[..., Any]

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        times = np.bincount(preferences.counts, minlength=preferences.n_runs + 1)
        return [WholeTally(measure.form.value(times, preferences)) for measure in measures]  # type: ignore[attr-defined]

    def value(self, times: NDArray[Any], preferences: Preferences) -> float:
        """Return the value if ``times[h]`` features are selected ``h`` times (or are expected to be)."""
        n_runs = preferences.n_runs
        if n_runs < 2:
            return np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            total = times @ self.term(np.arange(times.size, dtype=float), n_runs)
            return float(self.finish(np.float64(total), int(preferences.sizes.sum()), n_runs, preferences.n_features))

    def corrected(self, measure: Measure) -> "Whole":
        return Whole(partial(_corrected_sum, self, measure.best))


def _corrected_sum(form: FeatureSum, best: float, preferences: Preferences) -> float:
    value = form.value(np.bincount(preferences.counts, minlength=preferences.n_runs + 1), preferences)
    by_chance = preferences.n_features * chance.count_distribution(preferences.sizes, preferences.n_features)
    return _above_chance(value, form.value(by_chance, preferences), best)


def _above_chance(value: float, expected: float, best: float) -> float:
    return (value - expected) / (best - expected) if best != expected else np.nan


@dataclass(frozen=True)
class Whole(Form):
    """Any function ``function(preferences, **parameters)`` of all runs; ``nan`` where it is undefined."""

    function: Callable[..., float]

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        return [measure.form.one(preferences, measure) for measure in measures]  # type: ignore[attr-defined]

    def one(self, preferences: Preferences, measure: Measure) -> Tally:
        """Evaluate one measure."""
        return WholeTally(self.function(preferences, **measure.parameters))

    def corrected(self, measure: Measure) -> "CorrectedWhole":
        return CorrectedWhole(self.function, measure.best)


@dataclass(frozen=True)
class CorrectedWhole(Whole):
    """A function of all runs, corrected with its expectation for as many random sets of the same sizes."""

    best: float
    expected: dict[Any, chance.Expectation] = field(default_factory=dict, compare=False, repr=False)

    def one(self, preferences: Preferences, measure: Measure) -> Tally:
        function = partial(self.function, **measure.parameters)
        value = function(preferences)
        if np.isnan(value):
            return WholeTally(value)
        key = preferences.n_features, *np.sort(preferences.sizes).tolist(), *measure.parameters.values()
        if key not in self.expected:
            self.expected[key] = chance.collection_expectation(function, preferences.sizes, preferences.n_features)
        expected = self.expected[key]
        corrected = _above_chance(value, expected.value, self.best)
        slope = (value - self.best) / (self.best - expected.value) ** 2 if not np.isnan(corrected) else 0.0
        return WholeTally(corrected, abs(slope) * expected.standard_error)
