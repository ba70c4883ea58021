"""Probabilities in a new study: what is stated, and what happens, on kinds of data that are held out.

``OMP_NUM_THREADS=1 python tests/validity/probabilities.py --sets 40`` prints the figures of docs/validity.md (two
minutes on an idle core); ``--real`` those of docs/replicability.md, on real data in ``HOLDFAST_DATA``, where rows that
are not of a study are the source of new ones.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from new_studies import load_rows, select_on
from populations import POPULATIONS
from sklearn.model_selection import train_test_split

import holdfast as hf
import replication
from holdfast.selectors import MRMR, AnovaF, ElasticNetPath, HybridRFE

SELECTORS = ("filter, best 15", "filter, best 5", "filter, p < 0.003", "L1 path")
HELD_OUT = [name for name, population in POPULATIONS.items() if population.held_out]
STEPS = (0, 0.1, 0.3, 0.5, 0.7, 1.01)
SOURCES = {
    "spambase": (100, 10), "breast_cancer": (100, 8), "gtzan5_librosa": (100, 10), "ionosphere": (80, 8),
    "sonar": (60, 10), "optdigits_train": (200, 10), "mfeat": (200, 10), "ovarian_8_7_02": (60, 10),
}  # fmt: skip
"""Rows of a study of each data set, and features that it selects."""


def log_loss(stated, true):
    stated = np.clip(stated, 0.005, 0.995)
    return float(-(true * np.log(stated) + (1 - true) * np.log(1 - stated)).mean())


def compare(about, found, probability, n_studies):
    """A frame with a row per selected feature, and one with a row for the data set: what is stated, what is true.

    What is true is known from so many new studies only: a number counts as covered up to two of its standard errors.
    """
    if found.reason is not None:
        return pd.DataFrame(), pd.DataFrame()
    true, (low, high) = probability[found.frame["column"].to_numpy()], found.expected_interval
    features = pd.DataFrame({**about, "stated": found.frame["probability"].to_numpy(), "true": true})
    slack = 2 * np.sqrt((true * (1 - true)).sum() / n_studies) + 1e-9
    covered = low - slack <= true.sum() <= high + slack
    number = {**about, "size": true.size, "expected": found.expected, "true": true.sum(), "low": low, "high": high}
    number["covered"] = covered
    return features, pd.DataFrame([number])


def state(kind, selector, seeds, n=100, n_pairs=50, n_studies=300):
    """What is stated of data sets of a simulated kind, and what is true."""
    population = POPULATIONS[kind]
    _, probability = replication.truth(kind, selector, n, n_studies)
    for seed in seeds:
        X, y = population.draw(n, np.random.default_rng([seed, n, 23]))
        made = replication.SELECTORS[selector](population.task)
        found = hf.replicability(made, X, y, n_pairs=n_pairs, random_state=seed, n_shuffles=0)
        yield compare({"kind": kind, "selector": selector}, found, probability, n_studies)


def state_real(name, seeds, n_studies=60):
    """The same for rows of a real data set; new studies are of its other rows."""
    X, y = load_rows(name)
    n, size = SOURCES[name]
    selectors = {"F test": AnovaF(size), "F test, half": AnovaF(size // 2), "mRMR": MRMR(size)}
    if np.unique(y).size == 2 and X.shape[1] < 1000:
        selectors |= {"lasso": ElasticNetPath(n_features=size), "hybrid RFE": HybridRFE(size)}
    for seed in seeds:
        mine, rest = train_test_split(np.arange(len(y)), train_size=n, stratify=y, random_state=seed)
        drawn = [
            train_test_split(rest, train_size=n, stratify=y[rest], random_state=1000 * seed + study)[0]
            for study in range(n_studies)
        ]
        again = select_on(X, y, selectors, drawn)
        for label, selector in selectors.items():
            found = hf.replicability(selector, X[mine], y[mine], n_pairs=50, random_state=seed, n_shuffles=0)
            yield compare({"kind": name, "selector": label}, found, again[label].mean(axis=0), n_studies)


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
    options.add_argument("--real", action="store_true", help="of real data")
    options = options.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(options.sets)
    if options.real:
        parts = [part for name in SOURCES for part in state_real(name, seeds)]
    else:
        parts = [part for kind in HELD_OUT for name in SELECTORS for part in state(kind, name, seeds)]
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
