"""Choosing the sampling distribution of an estimate: jackknife, bound, published, bootstrap or none."""

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.inference import intervals
from holdfast.inference.intervals import SamplingDistribution, UnknownDistribution, UnseenRuns
from holdfast.inference.variance import asymptotic_variance
from holdfast.measures import Measure
from holdfast.measures.tally import Tally
from holdfast.measures.whole import FeatureSum
from holdfast.preferences import Preferences
from holdfast.similarity import GivenSimilarity

N_BOOTSTRAP = 2000
ROUNDING = 1e-9
"""Smaller differences count as rounding."""


def leave_one_out_values(
    tally: Tally, measure: Measure, value: float, n_runs: int, fill: float | None
) -> NDArray[np.float64]:
    """Return the stability without each run in turn; empty if the measure has no interval or a value is undefined."""
    if measure.no_interval or n_runs < 3 or math.isnan(value):
        return np.empty(0)
    values = tally.leave_one_out(fill)
    return np.empty(0) if np.isnan(values).any() else values


def choose_distribution(
    runs: Preferences,
    measure: Measure,
    tally: Tally,
    value: float,
    leave_one_out: NDArray[np.float64],
    method: str,
) -> SamplingDistribution:
    """Choose the sampling distribution of an estimate, or say why it has none."""
    reason = _why_no_interval(measure, value, runs.n_runs)
    if reason:
        return UnknownDistribution(reason)
    if method == "asymptotic":
        return _published_distribution(runs, measure, value)
    if leave_one_out.size == 0:
        return UnknownDistribution("without one of the runs the measure is undefined")
    highest = _highest(measure, value)
    unanimous = _unanimous(runs) or (np.isfinite(highest) and highest - value < ROUNDING)
    if method == "bootstrap" and not unanimous:
        return _bootstrap(runs, measure, value, leave_one_out)
    variance = 0.0 if unanimous else intervals.jackknife_variance(leave_one_out)
    roughness = 0.0 if unanimous else _roughness(tally, variance, min(highest, 1.0) - value, runs.n_runs)
    return intervals.Jackknife(
        value=value,
        variance=variance + tally.chance_error**2,
        roughness=roughness,
        n_runs=runs.n_runs,
        lowest=measure.range[0],
        highest=measure.best if value > measure.best - ROUNDING else highest,
        unseen=_unseen(runs, measure, value),
        unanimous=bool(unanimous),
    )


def _why_no_interval(measure: Measure, value: float, n_runs: int) -> str | None:
    if math.isnan(value):
        return "the value is undefined"
    if n_runs < 3:
        return "at least three runs are needed"
    if not (measure.no_interval or measure.higher_is_better):
        return "intervals need a measure of which higher is better; reverse it"
    return measure.no_interval or None


def _published_distribution(runs: Preferences, measure: Measure, value: float) -> SamplingDistribution:
    if measure.name != "nogueira":
        raise ValueError(
            f"The asymptotic interval is published for nogueira only; for {measure.name} use method='jackknife'."
        )
    error = math.sqrt(asymptotic_variance(runs))
    return (
        intervals.Normal(value, error)
        if error > ROUNDING
        else UnknownDistribution("the published variance is 0 for these runs")
    )


def _bootstrap(
    runs: Preferences, measure: Measure, value: float, leave_one_out: NDArray[np.float64]
) -> SamplingDistribution:
    n_runs = runs.n_runs
    weights = np.random.default_rng(0).multinomial(n_runs, np.full(n_runs, 1 / n_runs), N_BOOTSTRAP).astype(float)
    draws = measure.form.resampled(runs, measure, weights[(weights < n_runs).all(axis=1)])
    if np.isnan(draws).any():
        return UnknownDistribution("the bootstrap needs pairs of runs that are all defined")
    if np.ptp(draws) < ROUNDING:
        return UnknownDistribution("resampled runs all have the same value")
    return intervals.Bootstrap(value, np.sort(draws), intervals.acceleration(leave_one_out))


def _roughness(tally: Tally, variance: float, loss: float, n_runs: int) -> float:
    """The tally's roughness; its upper bound, the squared loss, where leaving out runs changes nothing at all."""
    roughness, no_variance = tally.roughness, variance < ROUNDING**2
    if not math.isnan(roughness) and not (no_variance and roughness == 0):
        return roughness
    return loss**2 if no_variance or n_runs == 3 else 0.0  # three runs are three pairs: nothing is left over to see it


def _highest(measure: Measure, value: float) -> float:
    """The highest possible value; for an unbounded measure, that of a perfect selection unless the value exceeds it."""
    highest = measure.range[1]
    return measure.best if np.isinf(highest) and value < measure.best + ROUNDING else highest


def _unanimous(preferences: Preferences) -> bool:
    """Whether all runs prefer the same."""
    if preferences.kind != "subset":
        return bool((preferences.matrix() == preferences.matrix()[0]).all())
    return bool((preferences.sizes == np.count_nonzero(preferences.counts)).all())  # each run has all that any has


def _unseen(preferences: Preferences, measure: Measure, value: float) -> UnseenRuns:
    """How runs that were not drawn could lower the value."""
    if not isinstance(measure.form, FeatureSum) or measure.form.from_overlap is None:
        return UnseenRuns(value, _unrelated(preferences, measure, value))
    d, sizes = preferences.n_features, preferences.sizes
    mean, unseen = float(sizes.mean()), max((sizes.min(), sizes.max()), key=lambda size: size * (1 - size / d))
    return UnseenRuns(value, 0.0, mean, float(unseen), d)


def _unrelated(preferences: Preferences, measure: Measure, value: float) -> float:
    """The value of two unrelated runs: 0, or the lowest that sets of a size seen can have."""
    if measure.range[0] < 0:
        return 0.0
    if preferences.kind != "subset" or not preferences.sizes.any():
        return measure.range[0]
    d, sizes = preferences.n_features, preferences.sizes[preferences.sizes > 0]
    if measure.similarity:
        measure = measure.bind(similarity=GivenSimilarity(sp.identity(d, format="csr")))
    disjoint = [Preferences.from_sets([range(k), range(d - k, d)], n_features=d) for k in {sizes.min(), sizes.max()}]
    lowest = min(measure.form.tally(sets, [measure])[0].value() for sets in disjoint)
    return max(measure.range[0], lowest) if lowest < value else measure.range[0]
