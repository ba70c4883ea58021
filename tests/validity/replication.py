"""What is said of new studies, against many new studies: unbiased, covered, calibrated.

``python tests/validity/replication.py TASK [SETS [PROCESSES]]`` prints the coverage for one task, such as ``survival``.
"""

import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from populations import EVERY, POPULATIONS, SURVIVAL
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectFpr, SelectFromModel, SelectKBest, f_classif, f_regression

import holdfast as hf
from holdfast import selectors

ROWS = (60, 100, 200)
STUDIES = 300
"""Independent data sets that tell the truth."""
BINS = np.linspace(0, 1, 11)


def forest(task):
    model = RandomForestRegressor if task == "numbers" else RandomForestClassifier
    return SelectFromModel(model(n_estimators=20, max_depth=4, random_state=0), max_features=10, threshold=-np.inf)


def best(size):
    return lambda task: SelectKBest(f_regression, k=size) if task == "numbers" else selectors.AnovaF(size)


SELECTORS = {
    "filter, best 15": best(15),
    "filter, best 5": best(5),
    "filter, p < 0.003": lambda task: SelectFpr(f_regression if task == "numbers" else f_classif, alpha=0.003),
    "mRMR": lambda task: selectors.MRMR(10),
    "L1 path": lambda task: selectors.ElasticNetPath(n_features=10),
    "hybrid RFE": lambda task: selectors.HybridRFE(10),
    "forest": forest,
    "Cox score, best 15": lambda task: selectors.CoxScore(15),
    "Cox score, best 5": lambda task: selectors.CoxScore(5),
    "Cox lasso": lambda task: selectors.CoxLasso(n_features=10),
}
FILTERS = tuple(SELECTORS)[:3]


def select(selector, X, y):
    """The features that are selected on a data set, as 0/1."""
    return np.asarray(selector.fit(X, y).get_support(), dtype=float)


def unit_rows(selections):
    """Selections of which products are Pearson's correlations; without those that are empty or full."""
    centered = selections - selections.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centered, axis=1)
    return centered[length > 0] / length[length > 0, None]


@cache
def truth(name, selector, n, n_studies=STUDIES):
    """Agreement of independent studies of n rows, and how often they select each feature."""
    population = EVERY[name]
    rng = np.random.default_rng([n, 17])
    selections = np.array(
        [select(SELECTORS[selector](population.task), *population.draw(n, rng)) for _ in range(n_studies)]
    )
    rows = unit_rows(selections)
    m = len(rows)
    agreement = (np.sum(rows.sum(axis=0) ** 2) - m) / (m * (m - 1)) if m > n_studies / 5 else math.nan
    return agreement, selections.mean(axis=0)


def replicate(job, *, thorough=False):
    """One row per data set: what is said of new studies, and what is true."""
    name, selector, n, n_sets, n_pairs = job
    population = EVERY[name]
    n_studies = STUDIES if selector != "forest" else 60
    (half, _), (full, probability) = (truth(name, selector, rows, n_studies) for rows in (n // 2, n))
    rows = []
    for seed in range(n_sets):
        X, y = population.draw(n, np.random.default_rng([seed, n, 23]))
        made = SELECTORS[selector](population.task)
        found = hf.replicability(made, X, y, n_pairs=n_pairs, random_state=seed, thorough=thorough, n_shuffles=0)
        mine = found.frame["column"].to_numpy()
        said, came_back = found.frame["probability"].to_numpy(), probability[mine]
        by_bin = np.clip(np.digitize(said, BINS) - 1, 0, 9) if found.reason is None else np.empty(0, int)
        rows.append({
            "kind": name, "task": population.task, "selector": selector, "n": n, "truth_half": half, "truth": full,
            "half": found.half_agreement, "half_low": found.half_interval.low, "half_high": found.half_interval.high,
            "value": found.agreement, "low": found.interval.low, "high": found.interval.high,
            "said": said.mean() if mine.size else math.nan, "came back": came_back.mean() if mine.size else math.nan,
            "raw": found.frame["frequency"].mean(), "beyond chance": found.beyond_chance,
            **{f"features {b}": (by_bin == b).sum() for b in range(10)},
            **{f"said {b}": said[by_bin == b].sum() if by_bin.size else 0.0 for b in range(10)},
            **{f"true {b}": came_back[by_bin == b].sum() if by_bin.size else 0.0 for b in range(10)},
        })  # fmt: skip
    return pd.DataFrame(rows)


def replicate_thoroughly(job):
    """The same, with groups of rows left out in turn."""
    return replicate(job, thorough=True)


OTHERS = {
    "two classes": ("mRMR", "L1 path", "hybrid RFE", "forest"),
    "several classes": ("filter, best 15", "filter, p < 0.003", "mRMR", "L1 path", "forest"),
    "numbers": ("filter, best 15", "filter, p < 0.003", "L1 path", "forest"),
    "survival": ("Cox score, best 15", "Cox score, best 5", "Cox lasso", "hybrid RFE"),
}
SOME = (
    "neighbors correlated by 0.5", "pure noise", "four classes", "a number to predict", "pathways", "genotypes",
    "a curved number to predict",
)  # fmt: skip


def jobs(n_sets):
    """Filters on every kind and at every size; other selectors on some, at one size."""
    two_classes = [name for name, population in POPULATIONS.items() if population.task == "two classes"]
    yield from ((name, selector, n, n_sets, 50) for name in two_classes for selector in FILTERS for n in ROWS)
    for name in SOME:
        for other in OTHERS[POPULATIONS[name].task]:
            slow = other == "forest"
            yield name, other, 100, max(n_sets // 4, 5) if slow else n_sets, 25 if slow else 50
    yield from ((name, other, n, n_sets, 50) for name in SURVIVAL for other in OTHERS["survival"] for n in ROWS[1:])


def hard_jobs(n_sets):
    """Kinds whose features come in blocks, for the thorough variant."""
    kinds = ("neighbors correlated by 0.9", "five factors", "five near-copies of each", "pathways")
    return [(name, "filter, best 15", 100, n_sets, 60) for name in kinds]


def main(task, n_sets=60, n_processes=2):
    """Print how often intervals cover at half the size and at the full size, cell by cell."""
    import replication_tables
    import simulations

    wanted = [job for job in jobs(n_sets) if EVERY[job[0]].task == task]
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    spawn = get_context("spawn")
    with ProcessPoolExecutor(n_processes, mp_context=spawn, initializer=simulations.ignore_warnings) as pool:
        found = replication_tables.cells(pd.concat(pool.map(replicate, wanted, chunksize=1), ignore_index=True))
    columns = ["truth_half", "half", "half_covered", "half_width", "truth", "value", "covered", "width", "sets"]
    print(found[["kind", "selector", "n", *columns]].round(3).to_string(index=False))
    print(f"covered at n/2: {found.half_covered.mean():.3f}, least {found.half_covered.min():.3f};", end=" ")
    print(f"at n: {found.covered.mean():.3f}, least {found.covered.min():.3f}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(sys.argv[1], *map(int, sys.argv[2:]))
