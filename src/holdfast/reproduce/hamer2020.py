"""Hamer and Dupont (2020): joint optimization of predictive performance and selection stability.

Figures 1 and 2, and the sizes of Table 1, on five of the six microarrays. ``chin`` (118 × 22215) is not available to
us. The figures have no printed numbers, so what is checked are the claims of the text, data set by data set.

Readings: the penalty is squared, so that λ = 1 / (2 C); a fifth of the features still in is dropped at a time; columns
are standardized in every split for the models, never for the criterion. Algorithm 1 has no intercept: the verdicts on
it stand first, those with an intercept beside. λ, λ_f, ε, N and λ_v are not printed: the grids are ours.
"""

import math
from typing import Any

import holdfast as hf
from holdfast.reproduce.workbench import Workbench
from holdfast.selectors import GolubVariance, HybridRFE, Prefiltered, Variance

PAPER = "hamer2020"
FILTERED = {"alon": 2000, "borovecki": 1000, "singh": 1250, "gravier": 2905, "chiaretti": 5000}
"""Features that are left before everything else, those of largest variance over all rows (Table 1)."""
DATA = tuple(FILTERED)
K, SEED = 20, 2020
WEIGHTS = (0, 0.25, 0.5, 1, 2, 4, 8, math.inf)
"""λ_v where all features are forced, in units of the largest ratio per largest variance."""
GV = {"GV1": 1, "GV2": 4}
"""λ_v of the two hybrids between signal-to-noise ratio and variance."""
SHRINKAGE = 0.1
WITH_INTERCEPT = 400
"""Resamples with an intercept, the second reading; without it there are 1000, as in the paper."""


def run_study(bench: Workbench, name: str, *, intercept: bool) -> hf.StudyResult:
    """Select 20 features on bootstrap samples of a data set, by every setting of both figures."""
    X, y = bench.load(name)
    size = bench.choose(FILTERED[name], 200)
    ending = "-intercept" if intercept else ""
    plan = hf.Study(
        selectors=make_candidates(bench, intercept=intercept),
        perturbation=hf.Bootstrap(bench.choose(WITH_INTERCEPT if intercept else 1000, 20)),
        random_state=SEED,
        prefilter=f"the {size} features of largest variance over all rows" if size < X.shape[1] else None,
    )
    kept = Variance(size).set_output(transform="pandas").fit_transform(X, y)
    return bench.study(f"{PAPER}-{name}{ending}", plan, kept, y)


def run_sizes(bench: Workbench, name: str) -> hf.StudyResult:
    """Eliminate among so many features of largest variance, at several numbers of them, on the same resamples."""
    X, y = bench.load(name)
    sizes = {100, 300, 1000, 3000, FILTERED[name], X.shape[1]}
    rfe = Prefiltered(HybridRFE(K, fit_intercept=False).set_params(device=bench.device), Variance(), on="full")
    grid = {
        "filter__n_features": sorted(size for size in sizes if size <= bench.choose(X.shape[1], 300)),
        "base__C": bench.choose([0.01, 0.1], [0.01]),
        "base__C_final": bench.choose([0.1, 1.0], [1.0]),
    }
    plan = hf.Study(
        selectors={"RFE": hf.Candidates(rfe, grid, keep="selected")},
        perturbation=hf.Bootstrap(bench.choose(500, 20)),
        random_state=SEED,
    )
    return bench.study(f"{PAPER}-{name}-sizes", plan, X, y)


def make_candidates(bench: Workbench, *, intercept: bool) -> dict[str, hf.Candidates]:
    """Return the classic RFE, the hybrids by criterion, and all features forced; without intercept, Figure 2 too."""
    final = {"C_final": bench.choose([0.1, 1.0, 10.0], [1.0])}
    hybrid = {"n_forced": bench.choose([4, 8, 12, 15], [12, 15]), "C": bench.choose([0.001, 0.01, 0.1], [0.01]), **final}

    def eliminate(grid: dict[str, Any], **parameters: Any) -> hf.Candidates:
        selector = HybridRFE(K, fit_intercept=intercept, **parameters).set_params(device=bench.device)
        return hf.Candidates(selector, grid, keep="selected")

    figure_1 = {
        "RFE": eliminate({"C": bench.choose([0.001, 0.01, 0.1, 1.0, 10.0], [0.01, 1.0]), **final}),
        "VAR": eliminate(hybrid),
        **{name: eliminate(hybrid, criterion=relative(weight)) for name, weight in GV.items()},
        "forced": eliminate({"criterion": [relative(weight) for weight in WEIGHTS], **final}, n_forced=K),
    }
    figure_2 = {
        "shrinkage": eliminate(hybrid, shrinkage=SHRINKAGE),
        "independent": eliminate(hybrid, complement="independent"),
    }
    return figure_1 if intercept else {**figure_1, **figure_2}


def relative(weight: float) -> GolubVariance:
    """Return the criterion of equation 2, with λ_v in units of its own terms."""
    return GolubVariance(lambda_v=weight, units="largest")
