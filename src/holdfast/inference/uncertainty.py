"""Which law an estimate follows: the choice between jackknife, bound, bootstrap and none."""

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.inference import intervals
from holdfast.inference.intervals import Law, NoLaw, Unseen
from holdfast.inference.variance import asymptotic_variance
from holdfast.measures import Measure
from holdfast.measures.record import Tally
from holdfast.measures.whole import FeatureSum
from holdfast.preferences import Preferences
from holdfast.similarity import GivenSimilarity

N_BOOTSTRAP = 2000
ROUNDING = 1e-9
"""What is smaller than this is taken for rounding."""


def deleted_values(
    tally: Tally, measure: Measure, value: float, n_runs: int, fill: float | None
) -> NDArray[np.float64]:
    """The values without each run; empty if the measure allows none or they do not exist."""
    if measure.no_interval or n_runs < 3 or math.isnan(value):
        return np.empty(0)
    deleted = tally.deleted(fill)
    return np.empty(0) if np.isnan(deleted).any() else deleted


def law_of(
    runs: Preferences,
    measure: Measure,
    tally: Tally,
    value: float,
    deleted: NDArray[np.float64],
    method: str,
) -> Law:
    """Choose what is known of the estimate's distribution, or why nothing is."""
    why_not = _no_law(measure, value, runs.n_runs)
    if why_not:
        return NoLaw(why_not)
    if method == "asymptotic":
        return _published(runs, measure, value)
    if deleted.size == 0:
        return NoLaw("without one of the runs the measure is undefined")
    most = _most(measure, value)
    unanimous = _unanimous(runs) or (np.isfinite(most) and most - value < ROUNDING)
    if method == "bootstrap" and not unanimous:
        return _bootstrap(runs, measure, value, deleted)
    variance = 0.0 if unanimous else intervals.jackknife_variance(deleted)
    roughness = 0.0 if unanimous else _roughness(tally, variance, min(most, 1.0) - value, runs.n_runs)
    return intervals.Jackknife(
        value=value,
        variance=variance + tally.chance_error**2,
        roughness=roughness,
        n_runs=runs.n_runs,
        lowest=measure.range[0],
        most=measure.best if value > measure.best - ROUNDING else most,
        unseen=_unseen(runs, measure, value),
        unanimous=bool(unanimous),
    )


def _no_law(measure: Measure, value: float, n_runs: int) -> str | None:
    if math.isnan(value):
        return "the value is undefined"
    if n_runs < 3:
        return "at least three runs are needed"
    if not (measure.no_interval or measure.higher_is_better):
        return "intervals are made for measures of which more is better; turn it round"
    return measure.no_interval or None


def _published(runs: Preferences, measure: Measure, value: float) -> Law:
    if measure.name != "nogueira":
        raise ValueError(f"Expected nogueira for method='asymptotic', as published, got {measure.name}.")
    error = math.sqrt(asymptotic_variance(runs))
    return intervals.Normal(value, error) if error > ROUNDING else NoLaw("the published variance is 0 for these runs")


def _bootstrap(runs: Preferences, measure: Measure, value: float, deleted: NDArray[np.float64]) -> Law:
    n_runs = runs.n_runs
    weights = np.random.default_rng(0).multinomial(n_runs, np.full(n_runs, 1 / n_runs), N_BOOTSTRAP).astype(float)
    draws = measure.form.resampled(runs, measure, weights[(weights < n_runs).all(axis=1)])
    if np.isnan(draws).any():
        return NoLaw("the bootstrap needs pairs of runs that are all defined")
    if np.ptp(draws) < ROUNDING:
        return NoLaw("resampled runs all have the same value")
    return intervals.Bootstrap(value, np.sort(draws), intervals.acceleration(deleted))


def _roughness(tally: Tally, variance: float, loss: float, n_runs: int) -> float:
    """The tally's roughness; the most it can be (the squared loss) where leaving out runs tells nothing at all."""
    roughness, still = tally.roughness, variance < ROUNDING**2
    if not math.isnan(roughness) and not (still and roughness == 0):
        return roughness
    return loss**2 if still or n_runs == 3 else 0.0  # three runs are three pairs: nothing is left over to see it


def _most(measure: Measure, value: float) -> float:
    """The most the measure can be; of one without bound, what a perfect selection has, unless the value is beyond."""
    most = measure.range[1]
    return measure.best if np.isinf(most) and value < measure.best + ROUNDING else most


def _unanimous(preferences: Preferences) -> bool:
    """Whether all runs prefer the same."""
    if preferences.kind != "subset":
        return bool((preferences.matrix() == preferences.matrix()[0]).all())
    return bool((preferences.sizes == np.count_nonzero(preferences.counts)).all())  # each run has all that any has


def _unseen(preferences: Preferences, measure: Measure, value: float) -> Unseen:
    """What runs that were not drawn could do to the value."""
    if not isinstance(measure.form, FeatureSum) or measure.form.from_overlap is None:
        return Unseen(value, _unrelated(preferences, measure, value))
    d, sizes = preferences.n_features, preferences.sizes
    mean, unseen = float(sizes.mean()), max((sizes.min(), sizes.max()), key=lambda size: size * (1 - size / d))
    return Unseen(value, 0.0, mean, float(unseen), d)


def _unrelated(preferences: Preferences, measure: Measure, value: float) -> float:
    """What two runs have that have nothing to do with each other: 0, or the least that sets of a size seen have."""
    if measure.range[0] < 0:
        return 0.0
    if preferences.kind != "subset" or not preferences.sizes.any():
        return measure.range[0]
    d, sizes = preferences.n_features, preferences.sizes[preferences.sizes > 0]
    if measure.similarity:
        measure = measure.bind(similarity=GivenSimilarity(sp.identity(d, format="csr")))
    apart = [Preferences.from_sets([range(k), range(d - k, d)], n_features=d) for k in {sizes.min(), sizes.max()}]
    least = min(measure.form.tally(sets, [measure])[0].value() for sets in apart)
    return max(measure.range[0], least) if least < value else measure.range[0]
