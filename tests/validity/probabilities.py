"""Probabilities in a new study: what is stated, and what happens, on kinds of data that are held out.

``OMP_NUM_THREADS=1 python tests/validity/probabilities.py`` prints the figures of docs/validity.md (two minutes on an
idle core).
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from populations import POPULATIONS

import holdfast as hf
import replication

SELECTORS = ("filter, best 15", "filter, best 5", "filter, p < 0.003", "L1 path")
HELD_OUT = [name for name, population in POPULATIONS.items() if population.held_out]
STEPS = (0, 0.1, 0.3, 0.5, 0.7, 1.01)


def log_loss(stated, true):
    stated = np.clip(stated, 0.005, 0.995)
    return float(-(true * np.log(stated) + (1 - true) * np.log(1 - stated)).mean())


def state(kind, selector, n=100, n_sets=10, n_pairs=30, n_studies=150):
    """One row per selected feature, and one per data set: what is stated, and what is true."""
    population = POPULATIONS[kind]
    _, probability = replication.truth(kind, selector, n, n_studies)
    features, numbers = [], []
    for seed in range(n_sets):
        X, y = population.draw(n, np.random.default_rng([seed, n, 23]))
        made = replication.SELECTORS[selector](population.task)
        found = hf.replicability(made, X, y, n_pairs=n_pairs, random_state=seed, n_shuffles=0)
        if found.reason is not None:
            continue
        true = probability[found.frame["column"].to_numpy()]
        features += [(kind, selector, *pair) for pair in zip(found.frame["probability"], true, strict=True)]
        low, high = found.expected_interval
        covered = low - 1e-9 <= true.sum() <= high + 1e-9
        numbers.append((kind, selector, len(true), found.expected, true.sum(), covered))
    return (
        pd.DataFrame(features, columns=["kind", "selector", "stated", "true"]),
        pd.DataFrame(numbers, columns=["kind", "selector", "size", "expected", "true", "covered"]),
    )


def by_step(features):
    """Stated and true probabilities by step, with the range of the middle 80 % of true ones."""
    steps = pd.cut(features["stated"], STEPS, right=False)
    table = features.groupby(steps, observed=True).agg(
        features=("stated", "size"), stated=("stated", "mean"), true=("true", "mean"),
        low=("true", lambda true: true.quantile(0.1)), high=("true", lambda true: true.quantile(0.9)),
    )  # fmt: skip
    return table.round(2)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sets", type=int, default=10, help="data sets of each kind and selector")
    options = options.parse_args()
    warnings.simplefilter("ignore")
    parts = [state(kind, selector, n_sets=options.sets) for kind in HELD_OUT for selector in SELECTORS]
    features, numbers = (pd.concat(some) for some in zip(*parts, strict=True))
    print(by_step(features).to_string())
    for name, part in (("all", features), *features.groupby("selector")):
        print(f"log loss, {name}: {log_loss(part['stated'], part['true']):.4f}")
    error = (numbers["expected"] - numbers["true"]) / numbers["size"]
    print(f"number: bias {error.mean():+.3f} k, RMSE {(error**2).mean() ** 0.5:.3f} k")
    print(f"interval: covers {numbers['covered'].mean():.3f}")
    print(
        numbers.groupby(["kind", "selector"])["covered"].agg(["mean", "size"]).sort_values("mean").head(5).to_string()
    )
