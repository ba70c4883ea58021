r"""The statistics of replicability: how far studies of new samples agree, from halves of one data set.

Two halves of a data set that share no row are independent samples: their mean agreement over many random splits
estimates, without bias, how far two studies of half the size agree. All else follows from the same fits:

- the interval over data sets, from the spread of each half's agreement with the halves of *other* splits, which share
  about a quarter of all rows with it: a half that agrees more with all others is a sign that rows matter
- the agreement at the full size, from the selection frequencies as a profile of probabilities that becomes steeper
  with the number of rows
- for each feature the probability that a new study selects it: counts of halves, without the noise of a data set

The constants were fitted by simulation; ``docs/validity.md`` has what holds on other kinds of data.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, gammaln, log_ndtr, logit, ndtr, ndtri

from holdfast.inference.intervals import Interval
from holdfast.measures import formulas
from holdfast.preferences import Preferences
from holdfast.serialization import read_plain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FACTOR = 4.0
"""Variance over data sets, per variance of a half's mean agreement with halves of other splits."""
SOFTNESS = 0.05
"""Keeps variances above zero where the agreement is 0 or 1."""
FLOOR = 0.1
"""Lower bound on the standard error of a probability, also where all halves agree."""
FACTOR_AT_FULL_SIZE, ERROR_AT_FULL_SIZE = 1.75, 0.028
"""Variance at the full size, per the same variance; and that of the extrapolation."""
FEWEST_PAIRS = 10


def pearson(overlaps: Floats, sizes: Ints, other_sizes: Ints, n_features: int) -> Floats:
    """Pearson's correlation of selections, from how many features they share; ``nan`` if one is empty or full."""
    usable, other_usable = ((size > 0) & (size < n_features) for size in (sizes, other_sizes))
    return np.where(usable & other_usable, formulas.pearson(overlaps, sizes, other_sizes, n_features), np.nan)


def pearson_table(overlaps: Floats, sizes: Ints, n_features: int) -> Floats:
    """Pearson's correlation of all runs with all."""
    return pearson(overlaps, sizes[:, None], sizes[None, :], n_features)


@dataclass(frozen=True, eq=False)
class SplitHalfAgreements:
    """Agreements of split halves of one data set.

    Attributes
    ----------
    within : ndarray
        Agreement of the two halves of each split.
    between : ndarray
        Agreement of each half with each half of another split; ``nan`` for itself and its partner.
    """

    within: Floats
    between: Floats

    @classmethod
    def from_table(cls, table: Floats) -> "SplitHalfAgreements":
        """Divide a table of agreements of halves 1a, 1b, 2a, 2b, … with each other."""
        halves = np.arange(len(table))
        between = table.copy()
        between[halves, halves] = between[halves, halves ^ 1] = np.nan
        return cls(within=table[halves[::2], halves[1::2]], between=between)

    @classmethod
    def from_runs(cls, runs: Preferences) -> "SplitHalfAgreements":
        """Compare what halves 1a, 1b, 2a, 2b, … selected."""
        members = runs.to_sparse().astype(np.float64)
        return cls.from_table(pearson_table((members @ members.T).toarray(), runs.sizes, runs.n_features))

    @property
    def half(self) -> float:
        """Mean agreement of two halves that share no row."""
        return float(self.within.mean())

    @cached_property
    def overlapping(self) -> float:
        """Mean agreement of halves that share about half of their rows."""
        return float(np.nanmean(self.between))

    @cached_property
    def spread(self) -> float:
        """Variance of a half's mean agreement with the others, less what their finite number adds."""
        means = np.nanmean(self.between, axis=1)
        variance = float(means.var(ddof=1))
        added = max(float(np.nanvar(self.between)) - 2 * variance, 0.0) / (len(means) - 2)
        return max(variance - added, 0.0)

    def half_rate(self, size: float, n_features: int, jackknife: float = 0.0) -> float:
        """Variance of :attr:`half` over data sets, per :func:`soft_variance`; not less than that of a jackknife."""
        of_splits = float(self.within.var(ddof=1)) / self.within.size / soft_variance(self.half)
        floor = (FLOOR / min(size, n_features - size)) ** 2 / soft_variance(1.0)
        spread = FACTOR * self.spread / soft_variance(self.overlapping) + of_splits
        return max(spread, floor, jackknife / soft_variance(self.overlapping))

    def full_rate(self) -> float:
        """Variance of the agreement at the full size over data sets, per :func:`soft_variance`, extrapolation apart."""
        return FACTOR_AT_FULL_SIZE * self.spread / soft_variance(self.overlapping)


def soft_variance(agreement: float) -> float:
    """How much an agreement varies, up to a factor: most in the middle, a little at 0 and 1."""
    inside = min(max(agreement, 0.0), 1.0)
    return (inside + SOFTNESS) * (1 + SOFTNESS - inside)


def score_interval(value: float, rate: float, level: float) -> Interval:
    r"""Return every :math:`t` with :math:`(\text{value} - t)^2 \le z^2 \cdot \text{rate} \cdot h(t)`, as Wilson's.

    :math:`h` is :func:`soft_variance`: below 0 it is that at 0, so ends below 0 are solved apart.
    """
    r = float(ndtri((1 + level) / 2)) ** 2 * rate
    reach = math.sqrt(r * soft_variance(0.0))
    middle = value + r / 2
    square = middle**2 - (1 + r) * (value**2 - reach**2)
    root = math.sqrt(max(square, 0.0))
    low = value - reach if value < reach else (middle - root) / (1 + r)
    high = (middle + root) / (1 + r) if square >= 0 and middle + root > 0 else value + reach
    return Interval(low, min(high, 1.0))


GROWTH = 1.6
"""By this, doubling the rows stretches the logits of the features' probabilities, as a rule."""
SLOWEST, FASTEST = 1.0, 2.0
"""By this it may stretch them: not at all where many features are equally good, more where a few stand out."""
NO_AGREEMENT = 0.002
"""Agreement up to which there is no profile to find."""
STEEPEST = 4.0
MAX_COUNT = 2**31
"""Features and runs are fewer than this."""


class FrequencyProfile:
    r"""Selection frequencies as logits, which stretched by c and moved are probabilities of selecting features.

    Features of equal counts share one entry, with their number as weight.

    Parameters
    ----------
    counts : ndarray of int
        How often each feature was selected.
    n_runs : int
        In how many runs.
    weight : ndarray of int, optional
        How many features each count stands for; one each by default.
    """

    def __init__(self, counts: Ints, n_runs: int, weight: Ints | None = None) -> None:
        self.values, self.entry = np.unique(counts, return_inverse=True)
        self.weight = np.bincount(self.entry, weights=weight).astype(np.int64)
        self.n_runs = n_runs
        logits = np.log((self.values + 0.5) / (n_runs - self.values + 0.5))
        self.logits = logits - np.average(logits, weights=self.weight)

    def to_dict(self) -> dict[str, Any]:
        """Return how many features were selected how often, as plain values."""
        return {"n_runs": self.n_runs, "counts": self.values.tolist(), "features": self.weight.tolist()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "FrequencyProfile":
        """Return what :meth:`to_dict` wrote, without the order of the features."""
        n_runs = read_plain(int, plain["n_runs"], "n_runs")
        counts, features = (read_plain(tuple[int, ...], plain[name], name) for name in ("counts", "features"))
        if not (len(counts) == len(features) and all(0 <= count <= n_runs < MAX_COUNT for count in counts)):
            raise ValueError(f"Expected counts of features from 0 to {n_runs}, got others.")
        if not all(0 < number < MAX_COUNT for number in features):
            raise ValueError("Expected a positive number of features for each count, got others.")
        return cls(np.array(counts, np.int64), n_runs, np.array(features, np.int64))

    @property
    def n_features(self) -> int:
        """Number of all features."""
        return int(self.weight.sum())

    @property
    def size(self) -> float:
        """Mean number of features that a run selected."""
        return float(self.weight @ self.values / self.n_runs)

    def probabilities(self, c: float, size: float) -> Floats:
        """Probability of each different count, such that so many features are expected to be selected."""
        stretched = c * self.logits
        ends = -stretched.max() - 40, -stretched.min() + 40
        return expit(stretched + brentq(lambda move: self.weight @ expit(stretched + move) - size, *ends))

    def agreement(self, c: float, size: float) -> float:
        """Expected agreement of two independent selections with these probabilities."""
        share = size / self.n_features
        return float((self.weight @ self.probabilities(c, size) ** 2 / size - share) / (1 - share))

    def stretch_for(self, agreement: float, size: float) -> float:
        """The c that leads to this agreement; the largest one if none does."""
        if agreement <= NO_AGREEMENT:
            return 0.0
        if self.agreement(STEEPEST, size) <= agreement:
            return STEEPEST
        return float(brentq(lambda c: self.agreement(c, size) - agreement, 0.0, STEEPEST, xtol=1e-8))

    def extrapolate(
        self, agreement: float, size: float, times: float, size_then: float, growth: float = GROWTH
    ) -> float:
        """Return the agreement with so many times the rows and so many features, from the agreement now."""
        if agreement <= NO_AGREEMENT:
            return 0.0
        return self.agreement(growth ** math.log2(times) * self.stretch_for(agreement, size), size_then)

    def interpolate(self, half: float, agreement: float, times: float, size: float) -> float:
        """Return the agreement with so many times the rows, half of them to all, from that with half and with all."""
        at_half, now = self.stretch_for(half, self.size), self.stretch_for(agreement, size)
        return self.agreement(at_half * (now / at_half) ** (1 + math.log2(times)), size)

    @cached_property
    def posterior(self) -> Floats:
        """The distribution over :data:`POSITIONS` of what each different count stands for, by deconvolution.

        The share of halves that select a feature is, as a normal quantile, its position plus a noise of the whole data
        set, which more halves do not reduce: about 1 for every selector and kind of data. The positions of all features
        have a prior of their own, found by steps of expectation and maximization from a wide one.
        """
        likelihood = count_likelihood(self.values, self.n_runs)
        wide = np.exp(-0.5 * ((POSITIONS - PRIOR_MEAN) / PRIOR_SPREAD) ** 2)
        wide /= wide.sum()
        prior = wide
        for _ in range(PRIOR_STEPS):
            posterior = likelihood * prior
            posterior /= posterior.sum(axis=1, keepdims=True)
            prior = self.weight @ posterior + PRIOR_WEIGHT * wide
            prior /= prior.sum()
        posterior = likelihood * prior
        return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))

    def expect(self, counts: Ints, selected: NDArray[np.bool_], agreement: float) -> Floats:
        """Return the probability that a new study, which selects as many features, selects those with these counts.

        A new study is another noise; its threshold is where so many features are expected. Probabilities are then drawn
        toward one half, by what simulations show, and end at 0.95; or toward the share of all features that is
        selected, and end there, where that is more. If a feature is not ``selected`` now, only high ones are drawn.

        The agreement expects a number of the selected features, too. It knows what their counts do not, how often two
        halves select the same ones, and errs by about as much: the logits of the selected ones move by a step, so that
        they sum to the mean of both.
        """
        position = np.searchsorted(self.values, counts)
        mine = np.bincount(position[selected], minlength=self.values.size)
        size = int(mine.sum())
        ends = POSITIONS[0] - 15, POSITIONS[-1] + 15
        cut = brentq(lambda cut: self.weight @ (self.posterior @ ndtr(POSITIONS - cut)) - size, *ends)
        again = np.clip(self.posterior @ ndtr(POSITIONS - cut), 1e-12, 1 - 1e-12)
        share = size / self.n_features
        middle = logit(max(share, 0.5))
        drawn = expit(middle + CERTAIN * (logit(again) - middle))
        number = (mine @ drawn + expect_number(agreement, size, self.n_features)) / 2
        moved = expit(logit(drawn) + find_step(drawn, mine, number))
        stated = np.where(selected, moved[position], np.minimum(drawn, again)[position])
        return np.minimum(stated, max(share, LIKELIEST))


def expect_number(agreement: float, size: int, n_features: int) -> float:
    """How many of so many selected features a study with this agreement would be expected to select."""
    share = size / n_features if n_features else math.nan
    return size * (max(agreement, 0.0) * (1 - share) + share) if agreement == agreement else math.nan


def find_step(probabilities: Floats, weight: NDArray[Any], number: float) -> float:
    """The step by which all logits move so that the probabilities, weighted, sum to a number; at most far out."""
    wanted = min(max(number, 1e-6), float(weight.sum()) - 1e-6)
    return float(brentq(lambda step: weight @ expit(logit(probabilities) + step) - wanted, -40, 40))


POSITIONS = np.arange(-7, 7.01, 0.2)
"""Positions of features, in units of the noise of a data set."""
PRIOR_MEAN, PRIOR_SPREAD, PRIOR_WEIGHT, PRIOR_STEPS = -1.5, 3.0, 10.0, 50
"""The wide prior of positions, for how many features it counts, and steps from it."""
CERTAIN, LIKELIEST = 0.84, 0.95
"""How much of a logit remains, and the largest probability that is stated."""


def count_likelihood(counts: Ints, n_runs: int) -> Floats:
    """The probability of each count of runs at each of :data:`POSITIONS`: binomial, given the noise."""
    noise, weight = np.polynomial.hermite_e.hermegauss(41)
    probit, count = POSITIONS[:, None] + noise, counts[:, None, None]
    log = gammaln(n_runs + 1) - gammaln(count + 1) - gammaln(n_runs - count + 1)
    log = log + count * log_ndtr(probit) + (n_runs - count) * log_ndtr(-probit)
    return np.asarray(np.exp(log) @ (weight / weight.sum()))
