"""Which features have to do with the target: expected false and q promised, share of false and true ones found.

``OMP_NUM_THREADS=1 python tests/validity/real.py --sets 24`` prints the tables of docs/validity.md; ``--resume FOLDER``
keeps what an earlier call did. No constant was chosen by these kinds. *Marginally* false is a feature that has nothing
to do with the linear predictor; *conditionally* false one that is not in it. Semi-synthetic kinds take the rows of a
microarray in ``HOLDFAST_DATA``: planted genes and their 20 nearest keep their rows together, all others are permuted
against them, so that they are exactly null.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import holdfast as hf
from holdfast.replication.running import SHUFFLE
from holdfast.resampling import Samples, SplitHalves
from holdfast.resampling.shuffles import TargetShuffles, tell_from_chance
from holdfast.resampling.split import rng_of

LEVELS = (0.1, 0.2)
RELATED = 0.02
"""Absolute population correlation with the linear predictor from which a feature is marginally related."""


@dataclass(frozen=True)
class Kind:
    """Where features come from, and which of them make the target."""

    name: str
    features: Callable  # rows, generator → X
    n: int
    p: int
    n_real: int
    signal: float  # SD of the linear predictor, per SD of the noise


def gaussian(p):
    return lambda n, rng: rng.standard_normal((n, p))


def autoregressive(p, correlation=0.9):
    def features(n, rng):
        X = rng.standard_normal((n, p))
        for j in range(1, p):
            X[:, j] = correlation * X[:, j - 1] + (1 - correlation**2) ** 0.5 * X[:, j]
        return X

    return features


def blocks(p, size=20, correlation=0.8):
    def features(n, rng):
        shared = np.repeat(rng.standard_normal((n, p // size)), size, axis=1)
        return correlation**0.5 * shared + (1 - correlation) ** 0.5 * rng.standard_normal((n, p))

    return features


def factors(p, n_factors=8):
    loadings = np.random.default_rng(5).standard_normal((n_factors, p)) * (np.random.default_rng(6).random(p) < 0.5)
    return lambda n, rng: 0.5 * rng.standard_normal((n, n_factors)) @ loadings + rng.standard_normal((n, p))


def genotypes(p):
    """Two haplotypes of markers in linkage disequilibrium, rare and common ones."""
    cuts = stats.norm.isf(np.random.default_rng(8).uniform(0.05, 0.5, p))
    hidden = autoregressive(p, 0.85)
    return lambda n, rng: sum((hidden(n, rng) > cuts).astype(float) for _ in range(2))


def heavy_tails(p):
    return lambda n, rng: rng.standard_t(2, (n, p))


KINDS = {
    kind.name: kind
    for kind in (
        Kind("independent", gaussian(400), 150, 400, 6, 2.5),
        Kind("autoregressive", autoregressive(400), 150, 400, 6, 2.5),
        Kind("blocks", blocks(400), 150, 400, 6, 2.5),
        Kind("factor model", factors(600), 150, 600, 6, 2.5),
        Kind("SNP-like", genotypes(600), 200, 600, 8, 1.5),
        Kind("heavy tails", heavy_tails(400), 150, 400, 6, 2.5),
        Kind("dense", gaussian(300), 150, 300, 60, 3.0),
        Kind("sparse", gaussian(1000), 100, 1000, 3, 2.5),
    )
}
ARRAYS = ("gravier", "singh")


@cache
def related(name):
    """Columns of the features in the linear predictor, and whether each feature is marginally related to it."""
    kind = KINDS[name]
    columns = np.random.default_rng(3).choice(kind.p, kind.n_real, replace=False)
    X = kind.features(40_000 // (1 + kind.p // 500), np.random.default_rng(4))
    ranked = stats.rankdata(X, axis=0) if name == "heavy tails" else X  # no second moments
    predictor = ranked[:, columns] @ np.where(np.arange(kind.n_real) % 2, -1, 1)
    correlation = np.abs(np.corrcoef(predictor, ranked, rowvar=False)[0, 1:])
    marginal = correlation > RELATED + 2 / len(X) ** 0.5
    marginal[columns] = True
    return columns, marginal


def draw(name, noise, rng):
    """A data set: X, a target of two classes, and whether each feature is conditionally and marginally related."""
    if name in ARRAYS:
        X, columns, marginal = plant(name, rng)
        signal = 2.5
    else:
        kind = KINDS[name]
        X, (columns, marginal), signal = kind.features(kind.n, rng), related(name), kind.signal
    values = (
        stats.norm.ppf((stats.rankdata(X[:, columns], axis=0) - 0.5) / len(X))
        if name == "heavy tails"
        else X[:, columns]
    )
    predictor = values @ np.where(np.arange(columns.size) % 2, -1, 1)
    predictor = signal * (predictor - predictor.mean()) / predictor.std()
    target = rng.standard_normal(len(X)) + (0 if noise else predictor)
    conditional = np.zeros(X.shape[1], dtype=bool)
    conditional[columns] = True
    none = np.zeros_like(conditional)
    return X, (target > np.median(target)).astype(int), none if noise else conditional, none if noise else marginal


@cache
def array_of(name):
    X, _ = hf.datasets.load(name)
    X = np.asarray(X, dtype=float)
    X = X[:, X.std(axis=0) > 0]
    return X[:, np.argsort(-X.var(axis=0))[:2000]]


def plant(name, rng, n_real=6, near=20):
    X = array_of(name)
    columns = rng.choice(X.shape[1], n_real, replace=False)
    correlation = np.abs(np.corrcoef(X, rowvar=False)[columns])
    moved = np.zeros(X.shape[1], dtype=bool)
    moved[np.argsort(-correlation, axis=1)[:, : near + 1]] = True
    planted = X.copy()
    planted[:, moved] = X[rng.permutation(len(X))][:, moved]
    return planted, columns, moved


# Methods: expected number of false features and q of every feature


def by_shuffles(selector):
    def judge(X, y, seed):
        found = hf.replicability(selector, X, y, n_pairs=50, random_state=seed)
        table = found.errors_of(list(range(X.shape[1])))
        return table["expected_false"].to_numpy(), table["q"].to_numpy(), found.shuffled.p_any

    return judge


def by_counts(size=10, n_shuffles=40):
    """The filter of the best by t test, all halves of a target at once: equal to ``by_shuffles`` where nothing ties."""

    def judge(X, y, seed):
        samples, shuffles = Samples.of(len(y), y), TargetShuffles.plan(y)
        halves = [split_rows(SplitHalves(50), samples, seed, half) for half in range(100)]
        counted, alike = [count_best(X, y, size, halves)], count_best(X, y, size, halves[:20])
        for number in range(n_shuffles):
            rng = rng_of(seed, number, SHUFFLE)
            shuffled, again = y[shuffles.draw(rng)], int(rng.integers(2**31))
            of_shuffled = Samples.of(len(y), shuffled)
            rows = [split_rows(SplitHalves(10), of_shuffled, again, half) for half in range(20)]
            counted.append(count_best(X, shuffled, size, rows))
        errors = tell_from_chance(np.array(counted), 0.1, alike)
        return np.minimum(errors.expected_false, X.shape[1]), errors.q, errors.p_any

    return judge


def split_rows(perturbation, samples, seed, half):
    """Rows of a half, as a study draws them; split 0 has all rows."""
    return perturbation.make_split(1 + half, samples, seed).rows


def count_best(X, y, size, rows):
    """Share of halves in which a feature is among the best by its t value."""
    halves = np.zeros((len(rows), 2, len(y)))
    for half, chosen in enumerate(rows):
        halves[half, y[chosen], chosen] = 1
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    n = halves.sum(axis=2)[..., None]
    mean = halves @ X / n
    within = (n * (halves @ X**2 / n - mean**2)).sum(axis=1)
    t = np.abs(mean[:, 1] - mean[:, 0]) / np.sqrt(within / (1 / n).sum(axis=1))
    best = np.argpartition(-t, size, axis=1)[:, :size]
    return np.bincount(best.ravel(), minlength=X.shape[1]) / len(rows)


def by_t_test(X, y, seed):
    p = stats.ttest_ind(X[y == 1], X[y == 0]).pvalue
    return p * p.size, stats.false_discovery_control(p), np.nan


def by_path(**options):
    """Along the lasso path: shuffled targets, or the integrated path."""

    def judge(X, y, seed):
        path = hf.selectors.StabilitySelection(
            hf.selectors.ElasticNetPath(), threshold=0.6, penalty_strengths=hf.selectors.path_strengths(X, y),
            resampling=hf.ComplementaryPairs(50, stratify=True), random_state=seed, **options,
        ).fit(X, y)  # fmt: skip
        return path.expected_false_, path.q_values_, np.nan

    return judge


def by_knockoffs(X, y, seed):
    """Gaussian model-X knockoffs of hidimstat, with its settings; q is the level from which knockoff+ selects."""
    from hidimstat import ModelXKnockoff

    known = ModelXKnockoff(random_state=seed)
    known.fit_importance(X, y.astype(float))
    statistic = known.importances_[0]
    thresholds = np.abs(statistic)
    below = (statistic <= -thresholds[:, None]).sum(axis=1)
    level = np.minimum((1 + below) / (statistic >= thresholds[:, None]).sum(axis=1).clip(min=1), 1)
    at_most = (thresholds <= statistic[:, None]) & (thresholds > 0)
    return np.full(level.size, np.nan), np.where(at_most, level, 1.0).min(axis=1), np.nan


METHODS = {
    "shuffled, ANOVA best 10": by_counts(10),
    "the same by hf.replicability": by_shuffles(hf.selectors.AnovaF(10)),
    "shuffled, lasso first 10": by_shuffles(hf.selectors.ElasticNetPath(n_features=10)),
    "shuffled, area under the path": by_path(n_shuffles=40),
    "integrated path, m = 1": by_path(ipss=1),
    "integrated path, m = 2": by_path(ipss=2),
    "t test + Benjamini-Hochberg": by_t_test,
    "knockoffs of hidimstat": by_knockoffs,
}


def check(method, name, noise, seed):
    """One row: how many features are found, and how many of them are false, for each promise."""
    X, y, conditional, marginal = draw(name, noise, np.random.default_rng([seed, 77]))
    begun = time.process_time()
    expected, q, p_any = METHODS[method](X, y, seed)
    row = {"method": method, "kind": name, "noise": noise, "seed": seed, "p_any": p_any,
           "seconds": time.process_time() - begun}  # fmt: skip
    for label, found in (("one", expected <= 1), *((f"q {level}", q <= level) for level in LEVELS)):
        row |= {
            f"{label}: found": found.sum(), f"{label}: true": (found & conditional).sum(),
            f"{label}: false": (found & ~marginal).sum(), f"{label}: proxies": (found & marginal & ~conditional).sum(),
        }  # fmt: skip
    return row


# Tables


def share(part, label, of="false"):
    """Share of false features in each data set; 0 where nothing is found."""
    return part[f"{label}: {of}"] / part[f"{label}: found"].clip(lower=1)


def plus_minus(values):
    return f"{values.mean():.2f} ± {values.std(ddof=1) / len(values) ** 0.5:.2f}"


def by_method(rows):
    table = []
    for method, part in rows.groupby("method", sort=False):
        signal, noise = part[~part.noise], part[part.noise]
        worst = share(signal, "q 0.1").groupby(signal.kind).mean()
        table.append({
            "method": method, "sets": len(part),
            "false at expected ≤ 1, noise": plus_minus(noise["one: false"]),
            "largest kind": f"{noise.groupby('kind')['one: false'].mean().max():.2f}",
            "anything at q ≤ 0.1, noise": plus_minus(noise["q 0.1: found"] > 0),
            "worst kind": f"{(noise['q 0.1: found'] > 0).groupby(noise.kind).mean().max():.2f}",
            "share false at q ≤ 0.1": plus_minus(share(signal, "q 0.1")), "worst ": f"{worst.max():.2f}",
            "at q ≤ 0.2": plus_minus(share(signal, "q 0.2")),
            "not in the model (q ≤ 0.1)": plus_minus(share(signal, "q 0.1") + share(signal, "q 0.1", "proxies")),
            "true found at q ≤ 0.1": f"{signal.groupby('kind')['q 0.1: true'].mean().sum():.1f}",
            "seconds": f"{part.seconds.mean():.1f}",
        })  # fmt: skip
    return pd.DataFrame(table)


def by_kind(rows):
    table = []
    for (kind, method), part in rows.groupby(["kind", "method"], sort=False):
        signal, noise = part[~part.noise], part[part.noise]
        table.append({
            "kind": kind, "method": method,
            "noise: false at expected ≤ 1": plus_minus(noise["one: false"]),
            "noise: anything at q ≤ 0.1": plus_minus(noise["q 0.1: found"] > 0),
            "signal: false at expected ≤ 1": plus_minus(signal["one: false"]),
            "signal: share false at q ≤ 0.1": plus_minus(share(signal, "q 0.1")),
            "true found": f"{signal['q 0.1: true'].mean():.1f}",
            "proxies found": f"{signal['q 0.1: proxies'].mean():.1f}",
        })  # fmt: skip
    return pd.DataFrame(table)


def markdown(table):
    lines = [table.columns, ["---"] * table.shape[1], *table.to_numpy(str)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sets", type=int, default=24, help="data sets of each kind, with signal and of noise")
    methods = [name for name in METHODS if name != "knockoffs of hidimstat" or find_spec("hidimstat")]
    options.add_argument("--methods", nargs="*", default=methods)
    options.add_argument("--kinds", nargs="*", default=[*KINDS, *ARRAYS])
    options.add_argument("--resume", type=Path, help="file with results of an earlier call, which are kept")
    options = options.parse_args()
    warnings.simplefilter("ignore")
    path = options.resume
    rows = pd.read_csv(path).to_dict("records") if path and path.exists() else []
    done = {(row["method"], row["kind"], row["noise"], row["seed"]) for row in rows}
    begun = time.monotonic()
    for seed in range(options.sets):
        for job in (
            (m, kind, noise, seed) for kind in options.kinds for noise in (False, True) for m in options.methods
        ):
            if job not in done:
                rows.append(check(*job))
                if path:
                    pd.DataFrame(rows).to_csv(path, index=False)
        print(f"{seed + 1} of {options.sets} data sets, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    table = pd.DataFrame(rows)
    print(markdown(by_method(table)), markdown(by_kind(table)), sep="\n\n")


if __name__ == "__main__":
    main()
