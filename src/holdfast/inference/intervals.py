"""How sure a stability is: interval and test, by several laws that share one face.

A law knows the sampling distribution of an estimate well enough for :meth:`Law.ci` and :meth:`Law.p_value`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

Floats = NDArray[np.float64]


def check_level(level: float) -> None:
    """Raise unless this can be a confidence level."""
    if not 0 < level < 1:
        raise ValueError(f"Expected a level between 0 and 1, such as 0.95, got {level}.")


class Interval(NamedTuple):
    """The ends of an interval; ``nan`` if there is none."""

    low: float
    high: float


class Law(ABC):
    """What is known of how an estimate would vary from one set of runs to another."""

    method: str
    standard_error: float = np.nan

    @abstractmethod
    def ci(self, level: float) -> Interval:
        """Return the confidence interval at this level."""

    @abstractmethod
    def p_value(self, null: float) -> float:
        """Return the p-value of the one-sided test that the stability is greater than ``null``."""


@dataclass(frozen=True)
class NoLaw(Law):
    """There is no interval, and this is why."""

    reason: str
    method: str = "none"

    def ci(self, level: float) -> Interval:
        return Interval(np.nan, np.nan)

    def p_value(self, null: float) -> float:
        return np.nan


@dataclass(frozen=True)
class Jackknife(Law):
    r"""Student's t on the logarithm of what the value lacks to the most it can be.

    With the loss :math:`\ell = \text{most} - \hat\Phi`, the jackknife's variance :math:`v`, the roughness
    :math:`\rho` (the variance of a pair of runs beyond what the two runs explain) and M runs,

    .. math:: s^2 = \max\left(v, \frac{\rho}{2M}\right), \qquad
              \text{most} - \ell\, e^{\pm t_{M-1}\, s/\ell}, \qquad
              \text{upper end} \mathrel{+}= \frac{\rho\,(t^2 + 1)}{2 M \ell}.

    The logarithm keeps the interval below the most there can be and stretches it downwards, where a rare deviation
    that was not drawn would have moved the value. The jackknife's variance vanishes where the value is at a turning
    point (one feature that flickers half of the time); the roughness does not. It also bends the value there, by an
    amount that the last term adds. Without an upper bound the plain scale is used.
    """

    value: float
    variance: float
    roughness: float
    n_runs: int
    low: float
    most: float
    method: str = "jackknife"

    @property
    def loss(self) -> float:
        """What the value lacks to the most it can be."""
        return self.most - self.value

    @property
    def standard_error(self) -> float:  # type: ignore[override]
        return float(np.sqrt(max(self.variance, self.roughness / (2 * self.n_runs))))

    def ci(self, level: float) -> Interval:
        t = stdtrit(self.n_runs - 1, (1 + level) / 2)
        if not np.isfinite(self.most):
            return Interval(self.value - t * self.standard_error, self.value + t * self.standard_error)
        stretch = np.exp(t * self.standard_error / self.loss)
        bend = self.roughness * (t**2 + 1) / (2 * self.n_runs * self.loss)
        low, high = self.most - self.loss * stretch, self.most - self.loss / stretch + bend
        return Interval(float(max(low, self.low)), float(min(high, self.most)))

    def p_value(self, null: float) -> float:
        if not np.isfinite(self.most):
            return float(stdtr(self.n_runs - 1, -((self.value - null) / self.standard_error)))
        if null >= self.most:
            return 1.0
        statistic = np.log((self.most - null) / self.loss) / (self.standard_error / self.loss)
        return float(stdtr(self.n_runs - 1, -statistic))


@dataclass(frozen=True)
class Unanimous(Law):
    r"""All runs agree: a bound on how many others would not.

    At most :math:`\delta = 1 - \alpha^{1/(M-1)}` of runs differ from the agreed one (it was chosen by the first run,
    the other M − 1 repeat it), and two runs agree with probability at least :math:`(1-\delta)^2`; else their similarity
    is anything between the least and the most there is.
    """

    value: float
    n_runs: int
    low: float
    most: float
    method: str = "bound"
    standard_error: float = 0.0

    def ci(self, level: float) -> Interval:
        agree = (1 - level) ** (2 / (self.n_runs - 1))
        return Interval(*(float(agree * self.value + (1 - agree) * end) for end in (self.low, self.most)))

    def p_value(self, null: float) -> float:
        if null >= self.value:
            return 1.0
        agree = max(0.0, (null - self.low) / (self.value - self.low))
        return float(agree ** ((self.n_runs - 1) / 2))


@dataclass(frozen=True)
class Student(Law):
    r"""Student's t for the mean of values that stand beside each other, such as the agreements of pairs of halves.

    Where all values are equal, at most :math:`1 - \alpha^{1/n}` of others would differ, by anything there can be.
    """

    values: Floats = field(compare=False)
    low: float
    most: float
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
            return Interval(*(float(self.value + differ * (end - self.value)) for end in (self.low, self.most)))
        reach = stdtrit(self.values.size - 1, (1 + level) / 2) * self.standard_error
        return Interval(float(max(self.value - reach, self.low)), float(min(self.value + reach, self.most)))

    def p_value(self, null: float) -> float:
        if self._equal:
            if null >= self.value or np.isinf(self.low):
                return 1.0
            return float(max(0.0, (null - self.low) / (self.value - self.low)) ** self.values.size)
        return float(stdtr(self.values.size - 1, -(self.value - null) / self.standard_error))


@dataclass(frozen=True)
class Normal(Law):
    """The published interval: normal, neither clipped nor widened for few runs."""

    value: float
    standard_error: float
    method: str = "asymptotic"

    def ci(self, level: float) -> Interval:
        reach = ndtri((1 + level) / 2) * self.standard_error
        return Interval(float(self.value - reach), float(self.value + reach))

    def p_value(self, null: float) -> float:
        return float(ndtr(-((self.value - null) / self.standard_error))) if self.standard_error > 0 else np.nan


@dataclass(frozen=True)
class Bootstrap(Law):
    """Bias-corrected and accelerated percentiles of resampled runs."""

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


def jackknife_variance(deleted: Floats) -> float:
    """Variance of the estimate from its values without each run."""
    return float((deleted.size - 1) / deleted.size * ((deleted - deleted.mean()) ** 2).sum())


def acceleration(deleted: Floats) -> float:
    """Skewness of the influence of single runs, as BCa intervals need it."""
    away = deleted.mean() - deleted
    spread = (away**2).sum()
    return float((away**3).sum() / (6 * spread**1.5)) if spread > 0 else 0.0
