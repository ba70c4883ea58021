"""Populations to draw data sets from, for what is said of new studies.

None of them was used to fit the constants of :mod:`holdfast.replication`, which come from independent gaussian effects
(sparse, dense, none), correlated blocks, heavy tails, binary columns, counts, and samples of some real data sets. The
first were looked at when the interval at the full size was widened; those that are held out were not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

import holdfast as hf

D = 300
"""Features of each population."""


@dataclass(frozen=True)
class Population:
    """Where data sets come from.

    Attributes
    ----------
    name : str
        What it is like.
    draw : callable
        Given a number of rows and a generator, returns X and y.
    task : str
        ``"two classes"``, ``"several classes"``, ``"numbers"`` or ``"survival"``.
    held_out : bool
        Whether nothing was chosen by it.
    """

    name: str
    draw: Callable
    task: Literal["two classes", "several classes", "numbers", "survival"] = "two classes"
    held_out: bool = False


def two_classes(n):
    return np.arange(n) % 2


def effects(first, last, n_relevant):
    found = np.zeros(D)
    found[:n_relevant] = np.linspace(first, last, n_relevant)
    return found


def shifted(effect, noise=lambda n, rng: rng.standard_normal((n, D)), classes=two_classes):
    """Noise of some kind, moved by an effect of each feature in the second class."""

    def draw(n, rng):
        y = classes(n)
        return noise(n, rng) + effect * y[:, None], y

    return draw


def neighbors(correlation):
    """Each feature depends on the one before it."""

    def noise(n, rng):
        X = rng.standard_normal((n, D))
        for j in range(1, D):
            X[:, j] = correlation * X[:, j - 1] + (1 - correlation**2) ** 0.5 * X[:, j]
        return X

    return noise


SPREAD_OUT = np.where(np.arange(D) % 15 == 0, np.linspace(1, 0.2, D), 0)
LOADINGS = 0.6 * np.random.default_rng(7).standard_normal((5, D))
BATCHES = 0.8 * np.random.default_rng(3).standard_normal(D)


def factors(n, rng):
    """Five hidden variables, two of which differ between the classes."""
    y = two_classes(n)
    hidden = rng.standard_normal((n, 5)) + np.outer(y, [0.8, -0.5, 0, 0, 0])
    return hidden @ LOADINGS + rng.standard_normal((n, D)), y


def unequal_spread(n, rng):
    y = two_classes(n)
    wider = np.where((np.arange(D) % 3 == 0) & (y[:, None] == 1), 2.5, 1.0)
    return rng.standard_normal((n, D)) * wider + effects(0.6, 0.6, 30) * y[:, None], y


def lognormal(n, rng):
    y = two_classes(n)
    scale = 0.7 * rng.standard_normal((n, 1))
    return np.exp(0.8 * (rng.standard_normal((n, D)) + scale + effects(0.9, 0.3, 20) * y[:, None])), y


def many_zeros(n, rng):
    y = two_classes(n)
    rate = 0.6 * (1 + np.where(np.arange(D) < 25, 1.2, 0) * y[:, None])
    return rng.poisson(rate) * (rng.random((n, D)) < 0.5) + 1e-9 * rng.standard_normal((n, D)), y


def subtypes(n, rng):
    """Three kinds of cases, each with features of its own."""
    y, kind = two_classes(n), rng.integers(3, size=n)
    effect = 1.5 * (np.arange(D) // 20 == np.arange(3)[:, None])
    return rng.standard_normal((n, D)) + effect[kind] * y[:, None], y


def batches(n, rng):
    return BATCHES * rng.integers(2, size=(n, 1)) + rng.standard_normal((n, D))


def near_copies(n, rng):
    """Every feature five times, with a little noise."""
    y = two_classes(n)
    base = rng.standard_normal((n, D // 5)) + effects(1, 0.4, 8)[: D // 5] * y[:, None]
    return np.repeat(base, 5, axis=1) + 0.2 * rng.standard_normal((n, D)), y


def four_classes(n, rng):
    y = np.arange(n) % 4
    centers = np.random.default_rng(5).standard_normal((4, D)) * effects(1, 0.2, 40)
    return rng.standard_normal((n, D)) + centers[y], y


def numbers(n, rng):
    X = neighbors(0.5)(n, rng)
    return X, X @ effects(0.6, 0.1, 25) + 1.5 * rng.standard_normal(n)


def noise(n, rng):
    return rng.standard_normal((n, D)), two_classes(n)


# Held out


def pathways(n, rng):
    """Thirty groups of ten features, each moved by a hidden variable; four groups differ between the classes."""
    y = two_classes(n)
    active = np.where(np.arange(30) < 4, 0.9, 0)
    hidden = rng.standard_normal((n, 30)) + active * y[:, None]
    return 0.6 * np.repeat(hidden, 10, axis=1) + 0.8 * rng.standard_normal((n, D)), y


MEANS = np.random.default_rng(11).lognormal(3, 1, D)
SHARES = np.random.default_rng(13).uniform(0.05, 0.5, D)


def sequencing(n, rng):
    """Logarithms of overdispersed counts; thirty features change 1.2- to 2.2-fold."""
    y = two_classes(n)
    mean = MEANS * np.where(y[:, None] == 1, 1 + effects(1.2, 0.2, 30), 1) * rng.lognormal(0, 0.2, (n, 1))
    return np.log1p(rng.poisson(mean * rng.gamma(2.5, 1 / 2.5, (n, D)))), y


def genotypes(n, rng):
    """Three values, many ties."""
    y = two_classes(n)
    odds = SHARES / (1 - SHARES) * np.exp(effects(1.4, 0.4, 20) * y[:, None])
    return rng.binomial(2, odds / (1 + odds)).astype(float), y


def bad_rows(n, rng):
    """One row in twenty is five times as noisy."""
    return rng.standard_normal((n, D)) * np.where(rng.random((n, 1)) < 0.05, 5, 1)


def curved(n, rng):
    """A number that depends on features in steps and products, too."""
    X = rng.standard_normal((n, D))
    steps = (X[:, :10] > 0.5) @ np.linspace(1.2, 0.4, 10)
    return X, steps + X[:, 10] * X[:, 11] + 0.6 * X[:, 10:20].sum(axis=1) + rng.standard_normal(n)


POPULATIONS = {
    population.name: population
    for population in (
        Population("neighbors correlated by 0.5", shifted(SPREAD_OUT, neighbors(0.5))),
        Population("neighbors correlated by 0.9", shifted(SPREAD_OUT, neighbors(0.9))),
        Population("five factors", factors),
        Population("unequal spread", unequal_spread),
        Population(
            "one class of five rare", shifted(effects(1.2, 0.4, 25), classes=lambda n: (np.arange(n) % 5 == 0) * 1)
        ),
        Population("lognormal", lognormal),
        Population("many zeros", many_zeros),
        Population("subtypes", subtypes),
        Population("effects by a power law", shifted(1.5 / np.arange(1, D + 1) ** 0.5)),
        Population("60 equal effects", shifted(effects(0.5, 0.5, 60))),
        Population("5 strong effects", shifted(effects(1.5, 1.5, 5))),
        Population("batches", shifted(effects(0.9, 0.4, 25), batches)),
        Population("five near-copies of each", near_copies),
        Population("pure noise", noise),
        Population("four classes", four_classes, "several classes"),
        Population("a number to predict", numbers, "numbers"),
        Population("pathways", pathways, held_out=True),
        Population("sequencing counts", sequencing, held_out=True),
        Population("genotypes", genotypes, held_out=True),
        Population("effects that halve every seven", shifted(1.3 * np.exp(-np.arange(D) / 10)), held_out=True),
        Population("bad rows", shifted(effects(1, 0.3, 25), bad_rows), held_out=True),
        Population("a curved number to predict", curved, "numbers", held_out=True),
    )
}


# Survival times, of which few are observed


def rarely_observed(time, rng, share=0.15, strata=None):
    """The target where this share of rows has the event, the others leave one after the other."""
    leaving = rng.uniform(0.3, 1, time.size)
    end = leaving * np.quantile(time / leaving, share, method="lower")
    return hf.survival(np.minimum(time, end), time <= end, strata)


def rare_events(n, rng):
    X = neighbors(0.5)(n, rng)
    return X, rarely_observed(rng.exponential(np.exp(-X @ effects(0.7, 0.3, 15))), rng)


def rare_events_of_factors(n, rng):
    """Five hidden variables, of which two raise the hazard; times in weeks, so that many tie; two centers."""
    hidden, center = rng.standard_normal((n, 5)), np.arange(n) % 2
    time = rng.weibull(1.5, n) * np.exp(-hidden @ [0.9, -0.6, 0, 0, 0] - 0.7 * center)
    y = rarely_observed(time, rng, strata=center)
    y["time"] = np.ceil(y["time"] / y["time"].max() * 12)
    return hidden @ LOADINGS + rng.standard_normal((n, D)), y


SURVIVAL = {
    population.name: population
    for population in (
        Population("survival, 15 % events", rare_events, "survival", held_out=True),
        Population("survival, 15 % events, factors, ties, strata", rare_events_of_factors, "survival", held_out=True),
    )
}
EVERY = POPULATIONS | SURVIVAL
