"""Which law an estimate follows: the choice between jackknife, bound, bootstrap and none."""

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.inference import intervals
from holdfast.inference.intervals import Law, NoLaw
from holdfast.inference.variance import asymptotic_variance
from holdfast.measures import Measure
from holdfast.measures.record import Tally
from holdfast.preferences import Preferences
from holdfast.similarity import GivenSimilarity

N_BOOTSTRAP = 2000


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
    n_runs = runs.n_runs
    if math.isnan(value):
        return NoLaw("the value is undefined")
    if measure.no_interval:
        return NoLaw(measure.no_interval)
    if n_runs < 3:
        return NoLaw("at least three runs are needed")
    if method == "asymptotic":
        if measure.name != "nogueira":
            raise ValueError(f"Expected nogueira for method='asymptotic', as published, got {measure.name}.")
        return intervals.Normal(value, math.sqrt(asymptotic_variance(runs)))
    if deleted.size == 0:
        return NoLaw("without one of the runs the measure is undefined")
    variance, roughness, most = intervals.jackknife_variance(deleted), tally.roughness, _most(measure, value)
    if _unanimous(runs) or (np.isfinite(most) and most - value < 1e-12):
        top = measure.best if value > measure.best - 1e-9 else most
        return intervals.Unanimous(value, n_runs, _least(runs, measure, value), top)
    still = variance < 1e-18
    if math.isnan(roughness) or (still and roughness == 0):  # nothing is known, or runs lie all alike
        roughness = (min(most, 1.0) - value) ** 2 if n_runs == 3 or still else 0.0
    if method == "bootstrap":
        weights = np.random.default_rng(0).multinomial(n_runs, np.full(n_runs, 1 / n_runs), N_BOOTSTRAP).astype(float)
        draws = measure.form.resampled(runs, measure, weights[(weights < n_runs).all(axis=1)])
        return intervals.Bootstrap(value, np.sort(draws), intervals.acceleration(deleted))
    return intervals.Jackknife(value, variance, roughness, n_runs, measure.range[0], most)


def _most(measure: Measure, value: float) -> float:
    """The most the measure can be; of one without bound, what a perfect selection has, unless the value is beyond."""
    most = measure.range[1]
    return measure.best if np.isinf(most) and value < measure.best else most


def _unanimous(preferences: Preferences) -> bool:
    """Whether all runs prefer the same."""
    if preferences.kind != "subset":
        return bool((preferences.matrix() == preferences.matrix()[0]).all())
    return bool((preferences.sizes == np.count_nonzero(preferences.counts)).all())  # each run has all that any has


def _least(preferences: Preferences, measure: Measure, value: float) -> float:
    """The least two runs of this size can have: that of sets with as little in common as can be, and no stand-ins."""
    if preferences.kind != "subset":
        return measure.range[0]
    d, first = preferences.n_features, preferences.take([0]).lists()[0]
    other = np.argsort(np.isin(np.arange(d), first), kind="stable")[: first.size]
    if measure.similarity:
        measure = measure.bind(similarity=GivenSimilarity(sp.identity(d, format="csr")))
    least = measure.form.tally(Preferences.from_sets([first, other], n_features=d), [measure])[0].value()
    return max(measure.range[0], least) if least < value else measure.range[0]
