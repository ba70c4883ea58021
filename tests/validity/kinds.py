"""Kinds of selections beside the ordinary ones: runs that deviate rarely, modes, empty runs, wild sizes, chance.

Those named ``held out`` were not looked at while intervals and tests were chosen.
"""

from functools import cache

import numpy as np
from cells import SHAPES, Cell, best_of_noisy_scores, coverage_cells, flicker, known, noise, stray

import holdfast as hf
from holdfast.datasets import population_stability
from holdfast.measures.forms import random_collection
from holdfast.selectors import MRMR, SVMRFE, AnovaF, ElasticNetPath

BANK = 5000
"""Fits of a real selector that stand for the population of all runs."""


def from_rows(rows):
    return hf.Preferences.from_matrix(np.asarray(rows, dtype=bool))


def random_rows(n, size, n_features, rng):
    return random_collection(np.full(n, size), n_features, rng).to_sparse().toarray().astype(bool)


def agreed(n, size, n_features):
    return np.tile(np.arange(n_features) < size, (n, 1))


def scored(n, size, n_features, signal, rng):
    """Rows of the best by a noisy score."""
    mean = signal * np.r_[np.linspace(2, 1, size), np.linspace(1, -1, n_features - size)]
    scores = mean + noise(n, n_features, 0.0, 5, rng)
    return scores >= np.sort(scores, axis=1)[:, [-size]]


# Rare deviations


def noise_and_strays(n_features, size, signal, share):
    def draw(n, rng):
        deviate = rng.random((n, 1)) < share
        return from_rows(
            np.where(deviate, random_rows(n, size, n_features, rng), scored(n, size, n_features, signal, rng))
        )

    return Cell(f"noisy scores, signal {signal}, {share:.0%} of the runs at random, {size} of {n_features}", draw)


def half_different(n_features, size, share):
    """A share of the runs swaps half of its features for others, drawn at random."""

    def draw(n, rng):
        rows, half = agreed(n, size, n_features), size // 2
        for run in np.flatnonzero(rng.random(n) < share):
            rows[run, rng.choice(size, half, replace=False)] = False
            rows[run, size + rng.choice(n_features - size, half, replace=False)] = True
        return from_rows(rows)

    p = np.full(n_features, share * (size // 2) / (n_features - size))
    p[:size] = 1 - share * (size // 2) / size
    return Cell(f"{share:.0%} of the runs half different, {size} of {n_features}", draw, population_stability(p))


def losing(n_features, size, share):
    """Each feature of the agreed set is lost now and then."""
    p = np.where(np.arange(n_features) < size, 1 - share, 0)
    return known(f"{share:.1%} of the features lost, {size} of {n_features}", p)


# Modes, empty runs, sizes, chance


def modes(n_features, size, shares):
    """Runs take one of several disjoint sets."""

    def draw(n, rng):
        mode = rng.choice(len(shares), n, p=shares)
        return from_rows([np.arange(n_features) // size == chosen for chosen in mode])

    p = np.zeros(n_features)
    p[: size * len(shares)] = np.repeat(shares, size)
    proportions = " : ".join(f"{share:.0%}" for share in shares)
    return Cell(f"disjoint modes {proportions}, {size} of {n_features}", draw, population_stability(p))


def noisy_modes(n_features, size, signal, share):
    """Two modes with noisy scores; the second reverses the order."""

    def draw(n, rng):
        rows = scored(n, size, n_features, signal, rng)
        second = rng.random(n) < share
        rows[second] = rows[second][:, ::-1]
        return from_rows(rows)

    return Cell(f"two noisy modes, signal {signal}, {share:.0%} in the second, {size} of {n_features}", draw)


def with_empty(n_features, size, signal, share):
    def draw(n, rng):
        return from_rows(scored(n, size, n_features, signal, rng) & (rng.random((n, 1)) >= share))

    return Cell(f"noisy scores, signal {signal}, {share:.0%} of the runs empty, {size} of {n_features}", draw)


def wild_sizes(n_features, size, signal, tail):
    """The best by a noisy score, as many as a size with heavy tails says."""

    def draw(n, rng):
        scale = rng.lognormal(0, tail, n) if tail < 2 else 1 + rng.pareto(tail, n)
        sizes = np.clip(np.round(size * scale), 1, n_features - 1).astype(int)
        mean = signal * np.linspace(2, -2, n_features)
        scores = mean + noise(n, n_features, 0.0, 5, rng)
        ranks = (-scores).argsort(axis=1).argsort(axis=1)
        return from_rows(ranks < sizes[:, None])

    distribution = f"lognormal ({tail:g})" if tail < 2 else f"Pareto ({tail:g})"
    return Cell(f"{distribution} sizes around {size} of {n_features}, signal {signal}", draw)


def by_chance(n_features, size):
    def draw(n, rng):
        return random_collection(np.full(n, size), n_features, rng)

    return Cell(f"chance, {size} of {n_features}", draw, 0.0)


def everything(n_features, size, signal, share):
    def draw(n, rng):
        return from_rows(scored(n, size, n_features, signal, rng) | (rng.random((n, 1)) < share))

    return Cell(f"noisy scores, signal {signal}, {share:.0%} of the runs everything, {size} of {n_features}", draw)


# Held out


def regimes(n_features, size, signal):
    """Three regimes of unequal share, whose sets overlap in part, with noise in each."""
    shares, shifts = [0.6, 0.3, 0.1], [0, size // 2, size + 3]

    def draw(n, rng):
        rows = scored(n, size, n_features, signal, rng)
        regime = rng.choice(3, n, p=shares)
        return from_rows([np.roll(row, shifts[chosen]) for row, chosen in zip(rows, regime, strict=True)])

    return Cell(f"three regimes, signal {signal}, {size} of {n_features}", draw)


def swapping_groups(n_groups, group, wanted, signal):
    """Groups of features that are selected together or not at all."""

    def draw(n, rng):
        return from_rows(np.repeat(scored(n, wanted, n_groups, signal, rng), group, axis=1))

    return Cell(f"{wanted} of {n_groups} groups of {group} that swap together, signal {signal}", draw)


def own_sizes(n_features, size, signal):
    """Noisy orders, each cut at a size of its own."""

    def draw(n, rng):
        scores = signal * np.linspace(2, -2, n_features) + noise(n, n_features, 0.5, 5, rng)
        ranks = (-scores).argsort(axis=1).argsort(axis=1)
        return from_rows(ranks < np.maximum(1, rng.poisson(size, n))[:, None])

    return Cell(f"orders with a size of their own around {size} of {n_features}, signal {signal}", draw)


def real_selector(name, make, data, n_rows):
    """A selector on samples of a real data set, drawn with replacement as from an infinite population.

    A bank of fits is the population: runs are drawn from it with replacement, so its value is known exactly.
    """

    @cache
    def bank():
        X, y = data()
        rng = np.random.default_rng(5)
        rows = rng.integers(len(y), size=(BANK, n_rows))
        counts = [np.bincount(sample, minlength=len(y)) for sample in rows]
        splits = [_split(index, count) for index, count in enumerate(counts)]
        selector = make()
        shared = selector.prepare(X, y, [{}])
        return np.array([
            np.isin(np.arange(X.shape[1]), selection.values)
            for (selection,) in selector.refit_many(shared, X, y, splits, [{}])
            if not isinstance(selection, Exception)
        ])  # fmt: skip

    def draw(n, rng):
        sets = bank()
        return from_rows(sets[rng.integers(len(sets), size=n)])

    cell = Cell(f"{name}, {n_rows} rows", draw)
    return Cell(cell.name, draw, lambda: population_stability(bank().mean(axis=0)))


def _split(index, counts):
    from holdfast.resampling import Split

    rows = np.flatnonzero(counts)
    return Split(index=index, label=str(index), seed=index, rows=rows, counts=counts[rows], test=np.empty(0, int))


def _two_digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8))
    return np.ascontiguousarray(X[chosen][:, X[chosen].std(axis=0) > 0]), (y[chosen] == 8).astype(int)


def _cancer():
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@cache
def kinds():
    """All cells by kind."""
    return {
        "ordinary": coverage_cells(),
        "near-perfect": [losing(100, 10, share) for share in (0.002, 0.01, 0.03)],
        "one flickering feature": [
            *(flicker(60, 6, share) for share in (0.02, 0.05, 0.15, 0.25, 0.35, 0.4, 0.5)),
            flicker(12, 3, 0.5),
        ],
        "rare deviations": [
            *(stray(d, k, share) for d, k in SHAPES for share in (0.02, 0.07, 0.2)),
            *(stray(80, 8, share) for share in (0.01, 0.03, 0.05)),
            *(noise_and_strays(80, 8, signal, share) for signal in (3, 5) for share in (0.03, 0.1)),
            *(half_different(80, 8, share) for share in (0.02, 0.05, 0.1, 0.2)),
            *(modes(80, 8, [1 - share, share]) for share in (0.05, 0.1)),
        ],
        "two modes": [
            *(modes(80, 8, shares) for shares in ([0.5, 0.5], [0.75, 0.25])),
            *(noisy_modes(80, 8, signal, share) for signal, share in ((4, 0.3), (2, 0.5))),
        ],
        "empty runs": [with_empty(80, 8, 4, share) for share in (0.05, 0.2, 0.5)],
        "heavy-tailed sizes": [
            *(wild_sizes(200, 10, 2, tail) for tail in (0.5, 0.8, 1.2, 2.5)),
            wild_sizes(1000, 10, 3, 1.2),
        ],
        "chance": [by_chance(20, 5), by_chance(100, 10), by_chance(1000, 20), by_chance(10_000, 20)],
        "out of reach": [
            *(everything(80, 8, 4, share) for share in (0.02, 0.1)),
            *(stray(80, 8, share) for share in (0.5, 0.8)),
        ],
        "held out: three regimes": [*(regimes(60, 6, signal) for signal in (1, 3, 6)), regimes(500, 20, 4)],
        "held out: groups that swap together": [
            *(swapping_groups(20, 3, 4, signal) for signal in (2, 5)),
            swapping_groups(100, 5, 5, 3),
        ],
        "held out: sizes of their own": [own_sizes(60, 6, 1), own_sizes(60, 6, 4), own_sizes(300, 15, 3)],
        "held out: real selectors": [
            real_selector("ANOVA F on breast cancer", lambda: AnovaF(6), _cancer, 40),
            real_selector("mRMR on breast cancer", lambda: MRMR(6), _cancer, 80),
            real_selector("lasso on breast cancer", lambda: ElasticNetPath(penalty_strength=0.05), _cancer, 80),
            real_selector("ANOVA F on two digits", lambda: AnovaF(10), _two_digits, 30),
            real_selector("SVM-RFE on two digits", lambda: SVMRFE(10), _two_digits, 60),
        ],
    }  # fmt: skip


@cache
def equal_pairs():
    """Two kinds of equal stability that deviate in different ways, by name."""
    firsts = {
        "3% of the features lost; some runs at random": (losing(80, 8, 0.03), "stray"),
        "1% of the features lost; some runs at random": (losing(80, 8, 0.01), "stray"),
        "one flickering feature; some runs at random": (flicker(80, 8, 0.35), "stray"),
        "noisy scores; some runs at random": (best_of_noisy_scores(80, 8, 4, 0.0), "stray"),
        "3% of the features lost; some runs half different": (losing(80, 8, 0.03), "half"),
        "noisy scores; two noisy modes": (best_of_noisy_scores(80, 8, 3, 0.0), "modes"),
        "noisy scores; less noisy, some runs empty": (best_of_noisy_scores(80, 8, 2, 0.0), "empty"),
    }
    return {name: (first, _matched(first.population("nogueira"), kind)) for name, (first, kind) in firsts.items()}


def _matched(stability, kind):
    """The cell of a family whose stability is this."""
    make = {
        "stray": lambda share: stray(80, 8, share),
        "half": lambda share: half_different(80, 8, share),
        "modes": lambda share: noisy_modes(80, 8, 4, share),
        "empty": lambda share: with_empty(80, 8, 4, share),
    }[kind]
    low, high = 0.0, 0.5
    for _ in range(20):
        share = (low + high) / 2
        low, high = (share, high) if make(share).population("nogueira", n_runs=20_000) > stability else (low, share)
    return make(share)
