"""How often intervals for new studies at other sites cover: ``python tests/validity/sites.py [REPEATS [KIND ...]]``.

Each data set has 60 features, of which the adjusted F value selects 12; the truth is the mean agreement of 150 studies
at other sites. Nothing was tuned on these kinds of data but the width for slow and fast growth, which was chosen after
a look at ``dense`` and at data with eight strong features.
"""

import math
import sys

import numpy as np
from scipy.stats import t as student

from holdfast.kernels.filters import adjusted, partial_f
from holdfast.preferences import Preferences
from holdfast.replication.sites import JACKKNIFE_PAIRS, MIN_SITES_FOR_INTERVAL, _estimate, halve_sites

D, K, TRUTH = 60, 12, 150
KINDS = ("correlated", "rare class", "decaying", "dense", "heavy tails", "numbers")
CONDITIONS = ((0.0, "equal"), (0.4, "equal"), (0.4, "unequal"), (0.4, "one large"), (0.8, "equal"))
N_SITES = (6, 8, 12)


def draw_study(rng, kind, n_sites, spread, sizes):
    """Features, target and sites of one study; ``spread`` is that of effects between sites."""
    of_sites = {"equal": [30], "unequal": [12, 20, 30, 44], "one large": [18 * n_sites, *[12] * (n_sites - 1)]}
    sites = np.repeat(np.arange(n_sites), np.resize(of_sites[sizes], n_sites))
    y = rng.normal(size=sites.size) if kind == "numbers" else rng.integers(0, 2, sites.size)
    if kind == "rare class":
        y = 1 * (rng.random(sites.size) < 0.2)
        y[np.unique(sites, return_index=True)[1]] = 1  # at each site
    numbers = np.arange(D)
    effects = {
        "dense": 0.3 * (numbers < 30),
        "decaying": 0.85**numbers,
        "numbers": 0.3 * (numbers < 10),
        "heavy tails": 0.5 * (numbers < 8),
        "correlated": 0.5 * (numbers < 10),
        "rare class": 0.7 * (numbers < 8),
    }[kind]
    X = rng.standard_t(3, size=(y.size, D)) if kind == "heavy tails" else rng.normal(size=(y.size, D))
    if kind == "correlated":  # by 0.7, in blocks of five
        X = np.sqrt(0.3) * X + np.sqrt(0.7) * np.repeat(rng.normal(size=(y.size, D // 5)), 5, axis=1)
    X += 0.8 * rng.normal(size=(n_sites, D))[sites]
    of_sites = spread * rng.normal(size=(n_sites, D)) * (numbers < 30)
    return X + y[:, None] * (effects + of_sites[sites]), y, sites


def select(X, y, sites, kind):
    """The best features by the F value adjusted for sites."""
    target = y[:, None] if kind == "numbers" else 1.0 * (y[:, None] == [0, 1])
    shared = adjusted(X, target, 1.0 * (sites[:, None] == np.unique(sites)[1:]))
    f = partial_f(shared, np.ones((1, len(X))))[0][0]
    return set(np.argsort(-np.nan_to_num(f), kind="stable")[:K].tolist())


def simulate(kind, n_sites, spread, sizes, repeats, seed):
    """Expected number in truth, as estimated on average, share of intervals that cover, and their half width."""
    rng = np.random.default_rng(seed)
    members = np.zeros((TRUTH, D))
    for row in members:
        row[list(select(*draw_study(rng, kind, n_sites, spread, sizes), kind))] = 1
    shared = (members @ members.T)[np.triu_indices(TRUTH, 1)].mean()
    truth = (shared - K * K / D) / (K - K * K / D)
    estimates, covered, widths = [], [], []
    for number in range(repeats):
        X, y, sites = draw_study(rng, kind, n_sites, spread, sizes)
        pairs = halve_sites(n_sites, 50, number)
        left_out = range(n_sites if n_sites >= MIN_SITES_FOR_INTERVAL else 0)
        without = [[tuple(half - {site} for half in pair) for pair in pairs[:JACKKNIFE_PAIRS]] for site in left_out]
        subsets = list(dict.fromkeys(half for some in [pairs, *without] for pair in some for half in pair))
        inside = [np.isin(sites, list(subset)) for subset in subsets]
        chosen = [select(X[rows], y[rows], sites[rows], kind) for rows in inside]
        runs, of_subset = Preferences.from_sets(chosen, n_features=D), {of: run for run, of in enumerate(subsets)}
        whole = _estimate(runs, of_subset, pairs, K)
        estimates.append(whole.agreement)
        if without:
            parts = np.array([_estimate(runs, of_subset, some, K).agreement for some in without])
            error = math.sqrt((n_sites - 1) / n_sites * ((parts - parts.mean()) ** 2).sum())
            reach = student.ppf(0.975, n_sites - 1) * error
            low, high = whole.slow - reach, min(1.0, whole.fast + reach)
            covered.append(low <= truth <= high)
            widths.append((high - low) / 2 * K * (1 - K / D))
    number_of = [K * (value * (1 - K / D) + K / D) for value in (truth, np.mean(estimates))]
    return *number_of, np.mean(covered) if covered else math.nan, np.mean(widths) if widths else math.nan


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    heads = "".join(f" {n_sites} sites | covered |" for n_sites in N_SITES)
    print(f"| kind | spread of effects, sizes |{heads}\n|---|---|{'---|---|' * len(N_SITES)}")
    for kind in sys.argv[2:] or KINDS:
        for spread, sizes in CONDITIONS:
            print(f"| {kind} | {spread:g}{'' if sizes == 'equal' else f', {sizes}'}", end="")
            for n_sites in N_SITES:
                true, said, covered, width = simulate(kind, n_sites, spread, sizes, repeats, seed=100 + n_sites)
                print(f" | {true:.2f}, said {said:.2f} ± {width:.2f} | {covered:.2f}", end="", flush=True)
            print(" |", flush=True)
