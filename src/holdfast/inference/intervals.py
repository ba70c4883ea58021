"""Confidence intervals and tests of a stability, one class for each way to approximate its sampling distribution."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaincc, gammainccinv, gammaincinv, ndtr, ndtri, stdtr, stdtrit

from holdfast.measures import Measure
from holdfast.measures.forms import FeatureSum, Floats, Tally, sum_over_selected
from holdfast.preferences import Preferences
from holdfast.similarity import GivenSimilarity

UNSEEN_RISK = 1.5
"""Probability, per unit of 1 − level, that is allowed for: that runs which would have mattered were not drawn."""


def check_level(level: float) -> None:
    """Raise unless this can be a confidence level."""
    if not 0 < level < 1:
        raise ValueError(f"Expected a level between 0 and 1, such as 0.95, got {level}.")


class Interval(NamedTuple):
    """Lower and upper end of a confidence interval; ``nan`` if there is none.

    Attributes
    ----------
    low, high : float
        Lower and upper end.

    See Also
    --------
    StabilityEstimate.ci : The confidence interval of a stability.

    Examples
    --------
    >>> import holdfast as hf
    >>> low, high = hf.stability([[1, 1, 0, 0, 0, 0, 0, 0]] * 10).ci()
    >>> round(low, 3), high
    (0.562, 1.0)
    """

    low: float
    high: float


class SamplingDistribution(ABC):
    """The sampling distribution of a stability: how it would vary from one set of runs to another."""

    method: str
    standard_error: float = np.nan

    @abstractmethod
    def ci(self, level: float) -> Interval:
        """Return the confidence interval at this level."""

    @abstractmethod
    def p_value(self, null: float) -> float:
        """Return the p-value of the one-sided test that the stability is greater than ``null``."""

    def statistic(self, null: float) -> float:
        """Return the statistic of that test; ``nan`` if it has none."""
        return np.nan


@dataclass(frozen=True)
class UnknownDistribution(SamplingDistribution):
    """A sampling distribution that is not known: there is no interval, for the given reason."""

    reason: str
    method: str = "none"

    def ci(self, level: float) -> Interval:
        return Interval(np.nan, np.nan)

    def p_value(self, null: float) -> float:
        return np.nan


@dataclass(frozen=True)
class UnseenRuns:
    r"""The stability if some of all possible runs were unlike any that was drawn.

    A share :math:`\kappa` of all runs is like the runs seen; the others have nothing to do with any run. Two runs are
    then both of the first kind with probability :math:`\kappa^2`:

    .. math:: u(\kappa) = \kappa^2\,\hat\Phi + (1 - \kappa^2)\cdot\text{unrelated}.

    ``nogueira`` is also divided by the spread k (1 − k/d) of the mean size k: unseen runs are taken to have the size,
    among those seen, that lowers the value most; if less than half of the features are selected, the largest.
    """

    value: float
    unrelated: float = 0.0
    mean_size: float = 0.0
    unseen_size: float = 0.0
    n_features: float = np.inf

    def value_at(self, seen_share: float) -> float:
        """The stability if only this share of all runs is like those seen; never more than the value seen."""
        value = seen_share**2 * self.value + (1 - seen_share**2) * self.unrelated
        spread = self._spread(seen_share * self.mean_size + (1 - seen_share) * self.unseen_size)
        if self.unseen_size != self.mean_size:
            value = value * self._spread(self.mean_size) / spread if spread > 0 else 0.0
        return min(self.value, value)

    def _spread(self, size: float) -> float:
        return size * (1 - size / self.n_features)

    def seen_share_for(self, value: float) -> float:
        """The share of runs like those seen that leaves this stability; 1 if it is not below the value seen."""
        if value >= self.value:
            return 1.0
        if self.value_at(0.0) >= value:
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self.value_at(middle) < value else (low, middle)
        return high


@dataclass(frozen=True, kw_only=True)
class Jackknife(SamplingDistribution):
    r"""Jackknife interval with an allowance for kinds of runs that were not drawn.

    *Seen.* The loss :math:`\ell = \text{highest} - \hat\Phi` is a sum of deviations that come by chance. With the
    jackknife's variance :math:`V`, the roughness :math:`\rho` (the variance of a pair of runs beyond what the two runs
    explain) and M runs,

    .. math:: s^2 = \max\left(V, \frac{2\rho}{M(M-1)}\right), \qquad \nu = (\ell/s)^2,

    there are :math:`\nu` of them in effect, and the loss lies between :math:`\ell\,\Gamma^{-1}(\nu, \Phi(-t))/\nu` and
    :math:`\ell\,\Gamma^{-1}(\nu+1, \Phi(t))/\nu` (the gamma interval of Fay and Feuer, 1997, with Student's t of M − 1
    degrees of freedom). The upper end gains :math:`\rho\,(t^2+1)/(2M\ell)`, as the value bends at turning points.

    *Not seen.* A kind of run that makes up a share of :math:`1 - \kappa` is missed by M − 1 further runs with
    probability :math:`\kappa^{M-1}`. The lower end is at most :math:`u(\kappa)` (see :class:`UnseenRuns`) with
    :math:`\kappa^{M-1} = 1.5\,(1 - \text{level})`. Runs that all agree are no special case: their loss is 0.

    Without an upper bound of the measure, the plain scale is used for what was seen.
    """

    value: float
    variance: float
    roughness: float
    n_runs: int
    lowest: float
    highest: float
    unseen: UnseenRuns
    unanimous: bool = False

    @property
    def method(self) -> str:  # type: ignore[override]
        return "bound" if self.unanimous else "jackknife"

    @property
    def loss(self) -> float:
        """By how much the value is below the highest possible one."""
        return self.highest - self.value

    @property
    def standard_error(self) -> float:  # type: ignore[override]
        of_pairs = 2 * self.roughness / (self.n_runs * (self.n_runs - 1))
        return float(np.sqrt(max(self.variance, of_pairs)))

    @property
    def deviations(self) -> float:
        """Effective number of deviations that make up the loss."""
        return max((self.loss / self.standard_error) ** 2, 1e-3)

    def seen_share(self, level: float) -> float:
        """The smallest share of all possible runs that is like those seen, at this level."""
        return float(min(1.0, UNSEEN_RISK * (1 - level)) ** (1 / (self.n_runs - 1)))

    def probability_missed(self, null: float) -> float:
        """The probability that no run was drawn of a kind that would have lowered the stability to ``null``."""
        return float(self.unseen.seen_share_for(null) ** (self.n_runs - 1))

    def ci(self, level: float) -> Interval:
        seen_share = self.seen_share(level)
        bound = self.unseen.value_at(seen_share)
        if self.unanimous:
            low, high = self.value, self.value + (1 - seen_share**2) * self.loss
        else:
            low, high = self._seen(float(stdtrit(self.n_runs - 1, (1 + level) / 2)))
        return Interval(float(max(min(low, bound), self.lowest)), float(min(high, self.highest)))

    def _seen(self, t: float) -> tuple[float, float]:
        if not np.isfinite(self.highest):
            return self.value - t * self.standard_error, self.value + t * self.standard_error
        n = self.deviations
        most_loss, least_loss = self.loss * gammainccinv(n + 1, ndtr(-t)) / n, self.loss * gammaincinv(n, ndtr(-t)) / n
        bend = self.roughness * (t**2 + 1) / (2 * self.n_runs * self.loss)
        return self.highest - most_loss, self.highest - least_loss + bend

    def p_value(self, null: float) -> float:
        if null >= self.highest or (self.unanimous and null >= self.value):
            return 1.0
        if self.unanimous:
            return min(1.0, self.probability_missed(null) / UNSEEN_RISK)
        unseen = self.probability_missed(null) / UNSEEN_RISK if null < self.value else 0.0
        return float(min(1.0, max(self._p_value_of_seen(null), unseen)))

    def _p_value_of_seen(self, null: float) -> float:
        if not np.isfinite(self.highest):
            return float(stdtr(self.n_runs - 1, -((self.value - null) / self.standard_error)))
        tail = gammaincc(self.deviations + 1, self.deviations * (self.highest - null) / self.loss)
        return float(stdtr(self.n_runs - 1, ndtri(max(tail, 1e-300))))


@dataclass(frozen=True)
class Student(SamplingDistribution):
    r"""Student's t for the mean of independent values, such as the stabilities of blocks of runs.

    Where all values are equal, at most :math:`1 - \alpha^{1/n}` of others would differ, by anything there can be.
    """

    values: Floats = field(compare=False)
    lowest: float
    highest: float
    method: str = "blocks"

    @property
    def value(self) -> float:
        """The mean."""
        return float(self.values[0] if self._equal else self.values.mean())

    @property
    def _equal(self) -> bool:
        return bool(np.ptp(self.values) < 1e-9)  # up to rounding: the mean of equal numbers need not be one of them

    @property
    def standard_error(self) -> float:  # type: ignore[override]
        return 0.0 if self._equal else float(self.values.std(ddof=1) / np.sqrt(self.values.size))

    def ci(self, level: float) -> Interval:
        if self._equal:
            differ = 1 - (1 - level) ** (1 / self.values.size)
            return Interval(*(float(self.value + differ * (end - self.value)) for end in (self.lowest, self.highest)))
        reach = stdtrit(self.values.size - 1, (1 + level) / 2) * self.standard_error
        return Interval(float(max(self.value - reach, self.lowest)), float(min(self.value + reach, self.highest)))

    def p_value(self, null: float) -> float:
        if self._equal:
            if null >= self.value or np.isinf(self.lowest):
                return 1.0
            return float(max(0.0, (null - self.lowest) / (self.value - self.lowest)) ** self.values.size)
        return float(stdtr(self.values.size - 1, -(self.value - null) / self.standard_error))


@dataclass(frozen=True)
class Normal(SamplingDistribution):
    """Normal distribution, as in the 2018 paper: neither clipped nor widened for few runs."""

    value: float
    standard_error: float
    method: str = "asymptotic"

    def ci(self, level: float) -> Interval:
        reach = ndtri((1 + level) / 2) * self.standard_error
        return Interval(float(self.value - reach), float(self.value + reach))

    def statistic(self, null: float) -> float:
        return (self.value - null) / self.standard_error if self.standard_error > 0 else np.nan

    def p_value(self, null: float) -> float:
        return float(ndtr(-self.statistic(null)))


@dataclass(frozen=True)
class Bootstrap(SamplingDistribution):
    """Bias-corrected and accelerated (BCa) bootstrap over runs."""

    value: float
    draws: Floats = field(compare=False)  # ascending
    acceleration: float
    method: str = "bootstrap"

    @property
    def standard_error(self) -> float:  # type: ignore[override]
        return float(self.draws.std(ddof=1))

    @property
    def _bias(self) -> float:
        below = (np.mean(self.draws < self.value) + np.mean(self.draws <= self.value)) / 2
        return float(ndtri(np.clip(below, 0.5 / self.draws.size, 1 - 0.5 / self.draws.size)))

    def ci(self, level: float) -> Interval:
        z = self._bias + ndtri([(1 - level) / 2, (1 + level) / 2])
        share = ndtr(self._bias + z / (1 - self.acceleration * z))
        return Interval(*(float(end) for end in np.quantile(self.draws, share)))

    def p_value(self, null: float) -> float:
        levels = np.linspace(0.001, 0.999, 999)
        excluded = [level for level in levels if self.ci(level).low > null]
        return float((1 - max(excluded)) / 2) if excluded else 1.0


def jackknife_variance(leave_one_out: Floats) -> float:
    """Jackknife variance of an estimate, from its leave-one-out values."""
    return float((leave_one_out.size - 1) / leave_one_out.size * ((leave_one_out - leave_one_out.mean()) ** 2).sum())


def acceleration(leave_one_out: Floats) -> float:
    """Acceleration of a BCa interval, from leave-one-out values: the skewness of the influence of single runs."""
    away = leave_one_out.mean() - leave_one_out
    spread = (away**2).sum()
    return float((away**3).sum() / (6 * spread**1.5)) if spread > 0 else 0.0


def asymptotic_variance(preferences: Preferences) -> float:
    r"""Variance of ``nogueira`` by Theorem 7 of the 2018 paper, in time linear in the selections.

    .. math:: v = \frac{4}{M^2} \sum_i \left(\hat\Phi_{(i)} - \bar\Phi_{(\cdot)}\right)^2

    It is ``nan`` where the measure is, and 0 where all runs agree (and for every two runs of one size).
    """
    influence = run_influence(preferences)
    return float(4 * np.var(influence) / preferences.n_runs)


def run_influence(preferences: Preferences) -> NDArray[np.float64]:
    r"""The :math:`\hat\Phi_{(i)}` of Theorem 7: half of what each run adds to the stability, up to a constant."""
    n_runs, d, sizes = preferences.n_runs, preferences.n_features, preferences.sizes
    p, density = preferences.frequency, preferences.density
    if n_runs < 2 or density in (0, 1):
        return np.full(n_runs, np.nan)
    expected = density * (1 - density)
    stability = 1 - (p @ (1 - p)) / d * n_runs / (n_runs - 1) / expected
    share = sizes / d
    overlap = sum_over_selected(preferences, p) / d
    return (overlap - share * density + stability / 2 * (2 * density * share - share - density + 1)) / expected


N_BOOTSTRAP = 2000
ROUNDING = 1e-9
"""Smaller differences count as rounding."""


def choose_distribution(
    runs: Preferences, measure: Measure, tally: Tally, value: float, leave_one_out: Floats, method: str
) -> SamplingDistribution:
    """Choose the sampling distribution of an estimate, or say why it has none.

    ``leave_one_out`` is empty if the measure has no interval, or has no value without one of the runs.
    """
    n_runs = runs.n_runs
    if math.isnan(value):
        return UnknownDistribution("the value is undefined")
    if n_runs < 3:
        return UnknownDistribution("at least three runs are needed")
    if measure.no_interval:
        return UnknownDistribution(measure.no_interval)
    if not measure.higher_is_better:
        return UnknownDistribution("intervals need a measure of which higher is better; reverse it")
    if method == "asymptotic":
        return _published_distribution(runs, measure, value)
    if leave_one_out.size == 0:
        return UnknownDistribution("without one of the runs the measure is undefined")
    highest = measure.range[1]
    if np.isinf(highest) and value < measure.best + ROUNDING:  # unbounded: that of a perfect selection
        highest = measure.best
    if runs.kind == "subset":  # each run has all features that any has
        unanimous = (runs.sizes == np.count_nonzero(runs.counts)).all()
    else:
        unanimous = (runs.matrix() == runs.matrix()[0]).all()
    unanimous = bool(unanimous or (np.isfinite(highest) and highest - value < ROUNDING))
    if method == "bootstrap" and not unanimous:
        return _bootstrap(runs, measure, value, leave_one_out)
    variance = roughness = 0.0
    if not unanimous:
        variance, roughness = jackknife_variance(leave_one_out), tally.roughness
        unchanged = variance < ROUNDING**2  # whichever run is left out
        if math.isnan(roughness) or (unchanged and roughness == 0):  # not known: three runs are three pairs
            roughness = (min(highest, 1.0) - value) ** 2 if unchanged or n_runs == 3 else 0.0  # its upper bound
    if isinstance(measure.form, FeatureSum) and measure.form.from_overlap is not None:  # nogueira, or one like it
        d, sizes = runs.n_features, runs.sizes
        most_harmful = max((sizes.min(), sizes.max()), key=lambda size: size * (1 - size / d))
        unseen = UnseenRuns(value, 0.0, float(sizes.mean()), float(most_harmful), d)
    else:
        unseen = UnseenRuns(value, _unrelated(runs, measure, value))
    return Jackknife(
        value=value,
        variance=variance + tally.chance_error**2,
        roughness=roughness,
        n_runs=n_runs,
        lowest=measure.range[0],
        highest=measure.best if value > measure.best - ROUNDING else highest,
        unseen=unseen,
        unanimous=unanimous,
    )


def _published_distribution(runs: Preferences, measure: Measure, value: float) -> SamplingDistribution:
    if measure.name != "nogueira":
        raise ValueError(
            f"The asymptotic interval is published for nogueira only; for {measure.name} use method='jackknife'."
        )
    error = math.sqrt(asymptotic_variance(runs))
    return (
        Normal(value, error) if error > ROUNDING else UnknownDistribution("the published variance is 0 for these runs")
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
    return Bootstrap(value, np.sort(draws), acceleration(leave_one_out))


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
