"""Pieces of the long simulations; each is small enough to balance two processes."""

import itertools
import warnings
from functools import cache

import numpy as np
import pandas as pd
from cells import (
    TESTS,
    Cell,
    above_threshold,
    best_of_noisy_scores,
    coverage,
    filled,
    flicker,
    graded_probabilities,
    known,
    noise,
    pair_of_selectors,
    pool_of_models,
    rejections,
    stray,
    weighed,
)
from kinds import equal_pairs, half_different, kinds, modes, noise_and_strays, wild_sizes

import holdfast as hf
from holdfast.datasets import make_selections, selection_probabilities
from holdfast.measures.forms import stacked


def ignore_warnings():
    """Undefined values are part of the simulations; their warnings are ignored."""
    warnings.simplefilter("ignore")


def places():
    """Every cell, by its kind and its place in it."""
    return [(kind, place) for kind, cells in kinds().items() for place in range(len(cells))]


def main_coverage(job):
    kind, place, runs, replicates = job
    found = coverage(kinds()[kind][place], "nogueira", runs, replicates, place, methods=("jackknife", "asymptotic"))
    return found.assign(kind=kind)


def sizes_by_kind(job):
    """Share of rejections for two selections of one kind: the size of the test."""
    kind, place, runs, replicates = job
    cell = kinds()[kind][place]
    tests = {name: TESTS[name] for name in ("paired", "independent")}
    found = [
        {
            "kind": kind,
            "cell": cell.name,
            "runs": n,
            **rejections(both(cell, cell), n, replicates, 20 + place, tests),
        }
        for n in runs
    ]
    return pd.DataFrame(found)


def both(first, second):
    return lambda n, rng: (first.draw(n, rng), second.draw(n, rng))


def sizes_of_equals(job):
    """Share of rejections for two kinds of equal stability."""
    name, runs, replicates = job
    first, second = equal_pairs()[name]
    found = [rejections(both(first, second), n, replicates, 21, {"paired": TESTS["paired"]})["paired"] for n in runs]
    row = {"first; second": name, "stability": first.population("nogueira"), **dict(zip(runs, found, strict=True))}
    return pd.DataFrame([row])


def similarity_of_pairs(d):
    """Features 0–1, 2–3, … can stand in for each other."""
    return np.kron(np.eye(d // 2), np.array([[1, 0.95], [0.95, 1]]))


@cache
def other_cells():
    cells = [best_of_noisy_scores(d, k, signal, rho) for d, k in ((20, 5), (100, 10)) for signal in (1, 2, 4)
             for rho in (0.0, 0.8)]  # fmt: skip
    cells += [above_threshold(d, k, signal, 0.8) for d, k in ((20, 5), (100, 10)) for signal in (1, 2, 4)]
    cells += [known(f"fixed size, {k} of {d}, stability {s}", graded_probabilities(s, k, d), fixed_size=True)
              for d, k in ((20, 5), (100, 10)) for s in (0.3, 0.5, 0.8)]  # fmt: skip
    cells += [flicker(60, 6, share) for share in (0.15, 0.35, 0.5)]
    cells += [stray(80, 8, 0.05), noise_and_strays(80, 8, 4, 0.05), half_different(80, 8, 0.1)]
    return [*cells, modes(80, 8, [0.75, 0.25])]


def other_coverage(job):
    measure, place, runs, replicates = job
    cell = cells_for(measure)[place]
    parameters = {}
    if hf.MEASURES[measure].similarity:
        d = cell.draw(1, np.random.default_rng(0)).n_features
        parameters = {"similarity": hf.similarity.GivenSimilarity(similarity_of_pairs(d))}
    return coverage(cell, measure, runs, replicates, place, **parameters)


def cells_for(measure):
    if hf.MEASURES[measure].of_models:
        return importance_cells()
    return other_cells() if hf.MEASURES[measure].kind == "subset" else rank_cells()


@cache
def importance_cells():
    """Selections with importances of three kinds, some with fillers, and models that were fitted to data."""
    cells = [weighed(cell, *kind) for cell in other_cells() for kind in ((0.3, 2), (1.0, 0))]
    cells += [filled(cell, 10, 0.05) for cell in cells[::12]]
    selectors = {
        "ten features by F": hf.selectors.AnovaF(10),
        "a lasso of ten": hf.selectors.ElasticNetPath(n_features=10),
        "an elimination with eight of ten forced": hf.selectors.HybridRFE(10, n_forced=8),
    }
    shapes = ((40, 200, 0.6, 1), (100, 60, 0.0, 2), (60, 1000, 0.8, 3))
    return cells + [pool_of_models(name, selector, *shape) for name, selector in selectors.items() for shape in shapes]


@cache
def rank_cells():
    def noisy_ranks(d, signal, correlation, ties):
        mean = signal * np.linspace(1, -1, d)

        def draw(n, rng):
            scores = mean + noise(n, d, correlation, 5, rng)
            return hf.Preferences.from_weights(np.maximum(scores, 0) if ties else scores).to_ranking()

        return Cell(f"noisy ranks of {d}, signal {signal}, correlation {correlation}{', ties' * ties}", draw)

    return [noisy_ranks(*options) for options in itertools.product((20, 100), (0.5, 1, 2, 6), (0.0, 0.8), (0, 1))]


def sizes_of_tests(job):
    shared, difference, n_runs, replicates = job
    found = rejections(pair_of_selectors(shared, difference), n_runs, replicates, 7, TESTS)
    return pd.DataFrame([{"shared": shared, "difference": difference, "runs": n_runs, **found}])


def table_4(job):
    case, replicates = job
    p = {
        "p uniform in [0, 1]": np.random.default_rng(4).random(100),
        "p from Beta(0.5, 0.5)": np.random.default_rng(4).beta(0.5, 0.5, 100),
        "p uniform in [0, 0.3]": np.random.default_rng(4).random(100) * 0.3,
        "half likely, half unlikely": np.r_[np.full(50, 0.8), np.full(50, 0.1)],
    }[case]
    rows = coverage(known(case, p), "nogueira", (100,), replicates, 44, methods=("asymptotic", "jackknife"))
    return rows.assign(cell=case)


def two_stage(job):
    """Coverage of the interval planned with a pilot of 20 runs, after the planned number of runs."""
    name, half_width, replicates = job
    cell = two_stage_cells()[name]
    truth, held, used, widths = cell.population("nogueira"), 0, [], []
    for seed in range(replicates):
        rng = np.random.default_rng([11, seed])
        pilot = cell.draw(20, rng)
        plan = hf.runs_needed(half_width, pilot=pilot)
        runs = stacked(pilot, cell.draw(plan.n_runs - 20, rng)) if plan.n_runs > 20 else pilot
        low, high = plan.ci(hf.stability(runs))
        held += low <= truth <= high
        used.append(plan.n_runs)
        widths.append((high - low) / 2)
    found = {"coverage": held / replicates, "runs": np.mean(used), "mean half width": np.mean(widths)}
    return pd.DataFrame([{"cell": name, "stability": truth, "half width": half_width, **found}])


@cache
def two_stage_cells():
    return {
        "independent, stability 0.5": known("", selection_probabilities(0.5, 5, 40)),
        "independent, stability 0.8": known("", selection_probabilities(0.8, 5, 40)),
        "5% of the runs at random": stray(80, 8, 0.05),
        "lognormal sizes": wild_sizes(200, 10, 2, 0.8),
        "lognormal sizes, heavier": wild_sizes(200, 10, 2, 1.2),
    }


def shown_rows(job):
    """Coverage of the frequency intervals of the features that were selected at least once."""
    n_runs, replicates = job
    p = np.r_[np.full(5, 0.9), np.full(5, 0.5), np.full(20, 0.1), np.full(200, 0.02), np.full(500, 0.004)]
    rng, rows = np.random.default_rng([12, n_runs]), []
    for _ in range(replicates):
        table = hf.feature_table(make_selections(p=p, n_runs=n_runs, random_state=rng))
        truth = p[table["feature"].to_numpy(dtype=int)]
        rows.append(pd.DataFrame({"p": truth, "held": (table["low"] <= truth) & (truth <= table["high"])}))
    found = pd.concat(rows).groupby("p")["held"].mean()
    return pd.DataFrame(
        [{"runs": n_runs, "all": pd.concat(rows)["held"].mean(), **{f"p = {p:g}": held for p, held in found.items()}}]
    )
