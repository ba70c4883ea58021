"""The studies behind both figures and Table 1: one per data set, with every setting on the same resamples."""

import math
from typing import Any

import pandas as pd

import holdfast as hf
from holdfast.selectors import GolubVariance, HybridRFE, Prefiltered, Variance
from reproductions.workbench import Workbench

PAPER = "hamer2020"
TABLE_1 = {  # rows, features, features after filtering
    "alon": (62, 2000, 2000),
    "borovecki": (31, 22283, 1000),
    "singh": (102, 12600, 1250),
    "gravier": (168, 2905, 2905),
    "chiaretti": (111, 12625, 5000),
}
"""Table 1 (Section 4), without ``chin``: 118, 22215, 100."""
DATA = tuple(TABLE_1)
K, SEED, RESAMPLES = 20, 2020, 1000
WITH_INTERCEPT = 400
"""Resamples with an intercept, the second reading."""
WEIGHTS = (0, 0.25, 0.5, 1, 2, 4, 8, math.inf)
"""λ_v where all features are forced."""
GV = {"GV1": 1, "GV2": 4}
"""λ_v of the two hybrids between signal-to-noise ratio and variance."""
FORCED = (4, 8, 12, 15)
"""N, beside 0 for the classic RFE and k for the criterion alone; Figure 2a marks 12 and 15."""
COSTS, COSTS_FINAL, COSTS_RFE = (0.001, 0.01, 0.1), (0.1, 1.0, 10.0), (0.001, 0.01, 0.1, 1.0, 10.0)
"""C of the hybrids, C of the models that predict, C of the classic RFE; λ = 1 / (2 C)."""
GRID = (
    f"λ {', '.join(f'{1 / (2 * C):g}' for C in COSTS)} (the classic RFE also 0.5 and 0.05), "
    f"λ_f {', '.join(f'{1 / (2 * C):g}' for C in COSTS_FINAL)}, N {', '.join(map(str, FORCED))} and {K}"
)


def run_study(bench: Workbench, name: str, *, intercept: bool) -> hf.StudyResult:
    """Select 20 features on bootstrap samples of a data set, by every setting of both figures but other shrinkages."""
    resamples = bench.choose(WITH_INTERCEPT if intercept else RESAMPLES, 20)
    return _run(bench, name, "-intercept" if intercept else "", make_candidates(bench, intercept=intercept), resamples)


def run_shrinkages(bench: Workbench, name: str) -> hf.StudyResult:
    """Do the same for weaker differential shrinkage, on the same resamples."""
    grid = {
        "n_forced": bench.choose([12, 15], [12]), "C": bench.choose(list(COSTS), [0.01]), "shrinkage": [0.3, 0.6],
        "C_final": bench.choose(list(COSTS_FINAL), [1.0]),
    }  # fmt: skip
    selectors = {"shrinkage": _eliminate(bench, grid, fit_intercept=False)}
    return _run(bench, name, "-shrinkage", selectors, bench.choose(RESAMPLES, 20))


def _run(
    bench: Workbench, name: str, ending: str, selectors: dict[str, hf.Candidates], resamples: int
) -> hf.StudyResult:
    X, y = filter_data(bench, name)
    size = X.shape[1]
    plan = hf.Study(
        selectors=selectors,
        perturbation=hf.Bootstrap(resamples),
        random_state=SEED,
        prefilter=f"the {size} features of largest variance over all rows" if size < TABLE_1[name][1] else None,
    )
    return bench.sharing(f"{PAPER}-studies").study(f"{PAPER}-{name}{ending}", plan, X, y)


def filter_data(bench: Workbench, name: str) -> tuple[pd.DataFrame, Any]:
    """Return a data set with the features of largest variance over all rows, as many as Table 1 says."""
    X, y = bench.load(name)
    size = bench.choose(TABLE_1[name][2], 200)
    return Variance(size).set_output(transform="pandas").fit_transform(X, y), y


def run_sizes(bench: Workbench, name: str) -> hf.StudyResult:
    """Eliminate among so many features of largest variance, at several numbers of them, on the same resamples."""
    X, y = bench.load(name)
    sizes = {100, 300, 1000, 3000, TABLE_1[name][2], X.shape[1]}
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
    return bench.sharing(f"{PAPER}-studies").study(f"{PAPER}-{name}-sizes", plan, X, y)


def make_candidates(bench: Workbench, *, intercept: bool) -> dict[str, hf.Candidates]:
    """Return the classic RFE, the hybrids by criterion, and all features forced; without intercept, Figure 2 too."""
    final = {"C_final": bench.choose(list(COSTS_FINAL), [1.0])}
    hybrid = {"n_forced": bench.choose(list(FORCED), [12, 15]), "C": bench.choose(list(COSTS), [0.01]), **final}

    def eliminate(grid: dict[str, Any], **parameters: Any) -> hf.Candidates:
        return _eliminate(bench, grid, fit_intercept=intercept, **parameters)

    figure_1 = {
        "RFE": eliminate({"C": bench.choose(list(COSTS_RFE), [0.01, 1.0]), **final}),
        "VAR": eliminate(hybrid),
        **{name: eliminate(hybrid, criterion=relative(weight)) for name, weight in GV.items()},
        "forced": eliminate({"criterion": [relative(weight) for weight in WEIGHTS], **final}, n_forced=K),
    }
    figure_2 = {
        "shrinkage": eliminate(hybrid, shrinkage=0.1),
        "independent": eliminate(hybrid, complement="independent"),
    }
    return figure_1 if intercept else {**figure_1, **figure_2}


def _eliminate(bench: Workbench, grid: dict[str, Any], **parameters: Any) -> hf.Candidates:
    return hf.Candidates(HybridRFE(K, **parameters).set_params(device=bench.device), grid, keep="selected")


def relative(weight: float) -> GolubVariance:
    """Return the criterion of equation 2, with λ_v in units of its own terms."""
    return GolubVariance(lambda_v=weight, units="largest")
