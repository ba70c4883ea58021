"""Ways of selecting features whose population stability is known."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast.datasets import make_block_correlated, make_selections, population_stability, selection_probabilities
from holdfast.inference.estimate import bind_similarity, evaluate
from holdfast.measures.forms import random_collection

Draw = Callable[[int, np.random.Generator], hf.Preferences]


@dataclass(frozen=True)
class Cell:
    """A way of selecting features; ``truth`` is the population stability, or finds it, if it is known."""

    name: str
    draw: Draw
    truth: float | Callable[[], float] | None = None

    def population(self, measure, n_runs=100_000, **parameters):
        """The value that more and more runs tend to; a mean over pairs has it as its mean, however few the runs."""
        if measure == "nogueira" and self.truth is not None:
            return self.truth() if callable(self.truth) else self.truth
        batch = 1000 if measure == "nogueira" or hf.MEASURES[measure].of_models else 40
        rng = np.random.default_rng(2018)
        batches = (self.draw(batch, rng) for _ in range(n_runs // batch))
        return float(np.mean([stability_value(runs, measure, parameters) for runs in batches]))


def stability_value(runs, measure, parameters):
    """The value alone: without the uncertainty, which takes longer."""
    (bound,) = bind_similarity([hf.MEASURES[measure].bind(**parameters)], runs, None)
    return evaluate(runs, [bound])[0].value(1.0)


def known(name, p, **options):
    return Cell(
        name, lambda n, rng: make_selections(p=p, n_runs=n, random_state=rng, **options), population_stability(p)
    )


def graded_probabilities(stability, size, n_features):
    """Probabilities that fall gradually from likely to unlikely, with this stability and mean size."""
    place = np.linspace(3, -3, n_features)

    def with_slope(slope):
        low, high = -50.0, 50.0
        for _ in range(60):
            middle = (low + high) / 2
            p = 1 / (1 + np.exp(-np.clip(slope * (place - middle), -500, 500)))
            low, high = (middle, high) if p.sum() > size else (low, middle)
        return p

    low, high = 0.01, 500.0
    for _ in range(60):
        slope = np.sqrt(low * high)
        low, high = (slope, high) if population_stability(with_slope(slope)) < stability else (low, slope)
    p = with_slope(slope)
    return p * size / p.sum()


def best_of_noisy_scores(n_features, size, signal, correlation, block=5):
    """The best by a score with noise; the noise of neighboring features is correlated."""
    mean = signal * np.r_[np.linspace(2, 1, size), np.linspace(1, -1, n_features - size)]

    def draw(n, rng):
        return hf.Preferences.from_weights(mean + noise(n, n_features, correlation, block, rng)).top(size)

    return Cell(f"best {size} of {n_features} noisy scores, signal {signal}, correlation {correlation}", draw)


def above_threshold(n_features, size, signal, correlation, block=5):
    """All features whose noisy score is above a threshold."""
    mean = signal * np.r_[np.linspace(2, 1, size), np.linspace(1, -1, n_features - size)]

    def draw(n, rng):
        return hf.Preferences.from_matrix(mean + noise(n, n_features, correlation, block, rng) > signal)

    return Cell(f"noisy scores of {n_features} above a threshold, signal {signal}, correlation {correlation}", draw)


def noise(n, n_features, correlation, block, rng):
    own = rng.standard_normal((n, n_features))
    shared = np.repeat(rng.standard_normal((n, -(-n_features // block))), block, axis=1)[:, :n_features]
    return np.sqrt(1 - correlation) * own + np.sqrt(correlation) * shared


def flicker(n_features, size, share):
    """All runs agree but for one place, which goes to one of two features."""

    def draw(n, rng):
        sets = np.tile(np.arange(size), (n, 1))
        sets[:, -1] += rng.random(n) < share
        return hf.Preferences.from_sets(sets.tolist(), n_features=n_features)

    p = np.zeros(n_features)
    p[: size - 1], p[size - 1], p[size] = 1, 1 - share, share
    return Cell(
        f"one flickering feature, {share:.0%} of the time, {size} of {n_features}", draw, population_stability(p)
    )


def weighed(cell, spread, slope):
    """The same selections with importances: lognormal, and e^slope at the first feature for one at the middle."""

    def draw(n, rng):
        selected = cell.draw(n, rng).to_sparse().toarray()
        usual = np.exp(slope * np.linspace(1, -1, selected.shape[1]))
        return hf.Preferences.from_weights(selected * usual * np.exp(spread * rng.standard_normal(selected.shape)))

    return Cell(f"{cell.name}; importances with spread {spread}, slope {slope}", draw)


def filled(cell, n_fillers, importance):
    """The same importances, and features that every run selects and hardly uses."""

    def draw(n, rng):
        weights = cell.draw(n, rng).matrix()
        return hf.Preferences.from_weights(np.hstack([weights, np.full((n, n_fillers), importance)]))

    return Cell(f"{cell.name}; {n_fillers} fillers with {importance}", draw)


def pool_of_models(name, selector, n_samples, n_features, rho, random_state, n_runs=300):
    """Coefficients of models that were fitted to bootstrap samples of one data set, drawn with replacement."""

    @cache
    def pool():
        X, y, _ = make_block_correlated(n_samples, n_features, rho=rho, n_relevant=8, random_state=random_state)
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
        plan = hf.Study(selectors={"own": selector}, perturbation=hf.Bootstrap(n_runs), estimator=model)
        return plan.run(X, y, treat_as_feature=True).importances("own").runs.matrix()

    def draw(n, rng):
        return hf.Preferences.from_weights(pool()[rng.integers(0, n_runs, n)])

    return Cell(f"models of {name}, {n_samples} × {n_features}, correlation {rho}", draw)


def stray(n_features, size, share):
    """All runs agree, but a share of them selects at random."""

    def draw(n, rng):
        strays = random_collection(np.full(n, size), n_features, rng).lists()[0].reshape(n, size)
        sets = np.where(rng.random((n, 1)) < share, strays, np.arange(size))
        return hf.Preferences.from_sets(np.sort(sets, axis=1).tolist(), n_features=n_features)

    p = np.full(n_features, share * size / n_features)
    p[:size] += 1 - share
    return Cell(f"{share:.0%} of the runs select at random, {size} of {n_features}", draw, population_stability(p))


SHAPES = ((20, 5), (100, 10), (1000, 20))


@cache
def coverage_cells(shapes=SHAPES, stabilities=(0.3, 0.5, 0.8, 0.9, 0.97, 0.99)):
    cells = []
    for d, k in shapes:
        for stability in stabilities:
            where = f"{k} of {d}, stability {stability}"
            graded = graded_probabilities(stability, k, d)
            cells += [
                known(f"independent, varying size, {where}", selection_probabilities(stability, k, d)),
                known(f"correlated blocks, varying size, {where}", graded, correlation=0.8),
                known(f"fixed size, {where}", graded, fixed_size=True),
            ]
        for signal in (1, 2, 4, 6):
            for correlation in (0.0, 0.8):
                cells.append(best_of_noisy_scores(d, k, signal, correlation))
            cells.append(above_threshold(d, k, signal, 0.8))
    return cells


LEVELS = (0.9, 0.95, 0.99)


def coverage(cell, measure, all_runs, replicates, seed, *, methods=("jackknife",), **parameters):
    """Coverage: how often intervals contain the population value; one row per number of runs and method."""
    truth = cell.population(measure, **parameters)
    rows = []
    for n_runs in all_runs:
        rng = np.random.default_rng([seed, n_runs])
        ends = {method: np.empty((replicates, len(LEVELS), 2)) for method in methods}
        for replicate in range(replicates):
            runs = cell.draw(n_runs, rng)
            for method in methods:
                estimate = hf.stability(runs, measure, method=method, undefined=1.0, **parameters)
                ends[method][replicate] = [estimate.ci(level) for level in LEVELS]
        for method, intervals in ends.items():
            held = ((intervals[:, :, 0] <= truth + 1e-9) & (truth <= intervals[:, :, 1] + 1e-9)).mean(axis=0)
            rows.append(
                {
                    "measure": measure, "cell": cell.name, "truth": truth, "runs": n_runs, "method": method,
                    **{f"{level:.0%}": share for level, share in zip(LEVELS, held, strict=True)},
                    "width": float((intervals[:, 1, 1] - intervals[:, 1, 0]).mean()),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


# Two selectors on the same resamples


def pair_of_selectors(shared, difference=0.0, n_features=50, size=8):
    """Draw the selections of two selectors whose noise is partly the same."""
    mean = 1.5 * np.r_[np.linspace(2, 1, size), np.linspace(1, -1, n_features - size)]

    def draw(n, rng):
        common = rng.standard_normal((n, n_features))
        return [
            hf.Preferences.from_weights(
                boost * mean + np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.standard_normal((n, n_features))
            ).top(size)
            for boost in (1.0, 1.0 + difference)
        ]

    return draw


def rejections(draw, n_runs, replicates, seed, tests, level=0.05):
    """How often each test rejects that two stabilities are equal."""
    rng = np.random.default_rng([seed, n_runs])
    rejected = dict.fromkeys(tests, 0)
    for _ in range(replicates):
        first, second = draw(n_runs, rng)
        for name, options in tests.items():
            rejected[name] += hf.compare(first, second, **options, undefined=1.0).p_value <= level
    return {name: count / replicates for name, count in rejected.items()}


TESTS = {
    "paired": {"paired": True},
    "independent": {"paired": False},
    "published": {"paired": False, "method": "asymptotic"},
}
