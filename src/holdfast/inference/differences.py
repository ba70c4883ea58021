"""Statistics of differences: variance, degrees of freedom, Holm's correction and the compact letter display."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from scipy.special import stdtrit

from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import Jackknife
from holdfast.inference.uncertainty import ROUNDING
from holdfast.measures.tally import Floats, pair_roughness

Kernel: TypeAlias = Floats | None


ENOUGH_DEVIATIONS = 10
"""Number of deviations seen at which half of the allowance for an unseen one is left."""


def variance_of_mean(values: Floats, kernel: Kernel) -> float:
    """Variance of the mean of pseudo-values; at least 2ρ / (M (M − 1)), the variance of a mean over pairs."""
    n = values.size
    variance = float(values.var(ddof=1)) / n
    if kernel is None or np.isnan(kernel).any():
        return variance
    return max(variance, 2 * pair_roughness(kernel) / (n * (n - 1)))


def degrees_of_freedom(values: Floats) -> Floats:
    """Degrees of freedom of the variance of values, along the last axis: fewer than n − 1 if their tails are heavy.

    By Satterthwaite, 2 / (2 / (n − 1) + κ / n), with the excess kurtosis κ of the values, if that is above 0.
    """
    n = values.shape[-1]
    away = values - values.mean(axis=-1, keepdims=True)
    second, fourth = (away**2).mean(axis=-1), (away**4).mean(axis=-1)
    flat = second < ROUNDING**2
    excess = np.where(flat, 0.0, fourth / np.where(flat, 1.0, second) ** 2 - 3)
    return np.asarray(2 / (2 / (n - 1) + np.maximum(excess, 0) / n))


def variance_for_unseen(estimate: StabilityEstimate) -> float:
    """Variance to add for one run that was not drawn, less the more deviations were seen.

    If one of M runs had nothing to do with the others, the value would be lower by a reach r; the variance must be at
    least (r/t)². Deviations that were seen show what deviations are like: ν of them leave 10 / (10 + ν) of the reach.
    """
    jackknife = estimate.distribution
    if not isinstance(jackknife, Jackknife):
        return 0.0
    seen = 0.0 if jackknife.unanimous else jackknife.loss**2 / max(jackknife.variance, ROUNDING**2)
    allowance = ENOUGH_DEVIATIONS / (ENOUGH_DEVIATIONS + seen) if math.isfinite(seen) else 0.0
    reach = (jackknife.value - jackknife.unseen.value_at(math.exp(-1 / (jackknife.n_runs - 1)))) * allowance
    return max(0.0, float(reach / stdtrit(jackknife.n_runs - 1, 0.975)) ** 2 - jackknife.variance)


def holm(p_values: Floats) -> Floats:
    """Return Holm's step-down corrected p-values."""
    order = np.argsort(p_values)
    steps = np.maximum.accumulate(p_values[order] * (p_values.size - np.arange(p_values.size)))
    corrected = np.empty(p_values.size)
    corrected[order] = np.minimum(steps, 1)
    return corrected


def compact_letters(names: list[str], different: set[tuple[str, str]]) -> dict[str, str]:
    """Return a compact letter display: two names share a letter exactly if they are not in ``different``.

    Groups are split wherever they hold a different pair, and groups inside others are dropped (Piepho 2004).
    """
    places = {name: place for place, name in enumerate(names)}
    groups = [(1 << len(names)) - 1]  # the names of a group are the bits of a number
    for a, b in sorted({(places[a], places[b]) for a, b in different}):
        both = 1 << a | 1 << b
        whole = [group for group in groups if group & both != both]
        parts = {group & ~(1 << name) for group in groups if group & both == both for name in (a, b)} - set(whole)
        groups = whole + [part for part in parts if not _is_inside(part, [*whole, *parts])]
    members = sorted([place for place in places.values() if group >> place & 1] for group in groups)
    return {name: "".join(_letter(n) for n, group in enumerate(members) if places[name] in group) for name in names}


def _is_inside(group: int, others: Sequence[int]) -> bool:
    return any(group & other == group != other for other in others)


def _letter(n: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[n % 26] * (n // 26 + 1)
