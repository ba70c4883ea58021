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
    coverage_cells,
    flicker,
    graded_probabilities,
    known,
    noise,
    pair_of_selectors,
    rejections,
)

import holdfast as hf
from holdfast.datasets import make_selections, population_stability, selection_probabilities


def quiet():
    """Undefined values are part of the simulations; their warnings are not wanted."""
    warnings.simplefilter("ignore")


def main_coverage(job):
    place, runs, replicates = job
    return coverage(coverage_cells()[place], "nogueira", runs, replicates, place, methods=("jackknife", "asymptotic"))


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
    return cells + [flicker(60, 6, share) for share in (0.15, 0.35, 0.5)]


def other_coverage(job):
    measure, place, runs, replicates = job
    cell = cells_for(measure)[place]
    parameters = {}
    if hf.MEASURES[measure].similarity:
        d = cell.draw(1, np.random.default_rng(0)).n_features
        parameters = {"similarity": hf.GivenSimilarity(similarity_of_pairs(d))}
    return coverage(cell, measure, runs, replicates, place, **parameters)


def cells_for(measure):
    return other_cells() if hf.MEASURES[measure].kind == "subset" else rank_cells()


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
    stability, half_width, replicates = job
    p, held, used = selection_probabilities(stability, 5, 40), 0, []
    truth = population_stability(p)
    for seed in range(replicates):
        rng = np.random.default_rng([11, seed])
        plan = hf.runs_needed(half_width, pilot=make_selections(p=p, n_runs=20, random_state=rng))
        # the pilot's runs are part of all runs: draw them again from the same seed, then go on
        rng = np.random.default_rng([11, seed])
        runs = make_selections(p=p, n_runs=20, random_state=rng)
        more = plan.n_runs - 20
        if more:
            rest = make_selections(p=p, n_runs=more, random_state=rng)
            runs = hf.Preferences.from_matrix(np.vstack([runs.to_frame(), rest.to_frame()]))
        low, high = plan.ci(hf.stability(runs))
        held += low <= truth <= high
        used.append(plan.n_runs)
    return pd.DataFrame(
        [{"stability": stability, "half width": half_width, "coverage": held / replicates, "runs": np.mean(used)}]
    )
