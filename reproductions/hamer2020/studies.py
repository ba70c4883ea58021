"""The studies behind both figures and Table 1: one per data set and reading, every setting on the same resamples."""

import math
from typing import Any

import numpy as np
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
K = 20
READINGS: dict[str, tuple[dict[str, bool], int]] = {
    "": ({"fit_intercept": False}, 1000),
    "intercept": ({"fit_intercept": True}, 400),
    "unscaled": ({"fit_intercept": False, "standardize": False}, 400),
}
"""How Algorithm 1 is read, the first as in the figures, with the number of resamples (1000 in the paper)."""
SHRINKAGES = (0.1, 0.3, 0.6)
"""ε; the first at every N, the others at the marked ones."""
WEIGHTS = (0, 0.25, 0.5, 1, 2, 4, 8, math.inf)
"""λ_v where all features are forced."""
GV = {"GV1": 1, "GV2": 4}
"""λ_v of the two hybrids between signal-to-noise ratio and variance."""
FORCED = (1, 2, 3, 4, 8, 12, 15)
"""N, besides 0 for the classic RFE and k for the criterion alone."""
MARKED = (12, 15)
"""N of the points in circles of Figure 2a."""
COSTS, COSTS_FINAL = (0.001, 0.01, 0.1, 1.0, 10.0), (0.1, 1.0, 10.0)
"""C of the elimination, of the classic RFE and the hybrids alike, and of the models that predict; λ = 1 / (2 C)."""
GRID = (
    f"λ {', '.join(f'{1 / (2 * C):g}' for C in COSTS)}, λ_f {', '.join(f'{1 / (2 * C):g}' for C in COSTS_FINAL)}, "
    f"N {', '.join(map(str, FORCED))} and {K}"
)


def count_resamples(bench: Workbench, reading: str = "") -> int:
    """Return how many bootstrap samples are drawn."""
    return bench.choose(READINGS[reading][1], 20)


def choose_data(bench: Workbench) -> list[str]:
    """Return the data sets that a run is about."""
    names = bench.available(DATA)
    return bench.choose(names, names[:1])


def run_study(bench: Workbench, name: str, reading: str = "") -> hf.StudyResult:
    """Select 20 features on bootstrap samples of a data set, by every setting of both figures but weaker shrinkages."""
    costs, costs_final = bench.choose(COSTS, (0.01, 1.0)), bench.choose(COSTS_FINAL, (1.0,))
    final = {"C_final": list(costs_final)}
    plain = {"C": list(costs), **final}
    hybrid = {"n_forced": list(bench.choose(FORCED, (1, *MARKED))), **plain}

    def eliminate(grid: dict[str, Any], **parameters: Any) -> hf.Candidates:
        return _eliminate(bench, grid, **READINGS[reading][0], **parameters)

    selectors = {
        "RFE": eliminate(plain),
        "VAR": eliminate(hybrid),
        **{name: eliminate(hybrid, criterion=weigh_variance(weight)) for name, weight in GV.items()},
        "forced": eliminate({"criterion": [weigh_variance(weight) for weight in WEIGHTS], **final}, n_forced=K),
    }
    if not reading:
        selectors["shrinkage"] = eliminate(hybrid, shrinkage=SHRINKAGES[0])
        selectors["independent"] = eliminate(hybrid, complement="independent")
    return _run(bench, name, reading, selectors, count_resamples(bench, reading))


def run_shrinkages(bench: Workbench, name: str) -> hf.StudyResult:
    """Do the same for weaker differential shrinkage, on the same resamples."""
    grid = {
        "n_forced": list(MARKED), "C": list(bench.choose(COSTS, (0.01,))), "shrinkage": list(SHRINKAGES[1:]),
        "C_final": list(bench.choose(COSTS_FINAL, (1.0,))),
    }  # fmt: skip
    selectors = {"shrinkage": _eliminate(bench, grid, fit_intercept=False)}
    return _run(bench, name, "shrinkage", selectors, count_resamples(bench))


def run_pairs(bench: Workbench, name: str) -> hf.StudyResult:
    """Run the classic RFE and the variance hybrid with an intercept, by the settings near the best accuracy."""
    grid = {"C": list(bench.choose(COSTS[:3], (0.01,))), "C_final": list(bench.choose(COSTS_FINAL[:2], (0.1,)))}
    selectors = {
        "RFE": _eliminate(bench, grid),
        "VAR": _eliminate(bench, {"n_forced": list(bench.choose((8, *MARKED), MARKED)), **grid}),
    }
    return _run(bench, name, "pairs", selectors, bench.choose(1000, 20))


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
        random_state=bench.seed,
    )
    return bench.sharing(f"{PAPER}-studies").study(f"{PAPER}-{name}-sizes", plan, X, y)


def _run(
    bench: Workbench, name: str, ending: str, selectors: dict[str, hf.Candidates], resamples: int
) -> hf.StudyResult:
    X, y = filter_data(bench, name)
    if ending == "unscaled":  # one unit for all features, so that the same λ penalize about as much
        X = X / np.sqrt(X.var().mean())
    size = X.shape[1]
    plan = hf.Study(
        selectors=selectors,
        perturbation=hf.Bootstrap(resamples),
        random_state=bench.seed,
        prefilter=f"the {size} features of largest variance over all rows" if size < TABLE_1[name][1] else None,
    )
    file = f"{PAPER}-{name}-{ending}".removesuffix("-")
    return bench.sharing(f"{PAPER}-studies").study(file, plan, X, y)


def filter_data(bench: Workbench, name: str) -> tuple[pd.DataFrame, Any]:
    """Return a data set with the features of largest variance over all rows, as many as Table 1 says."""
    X, y = bench.load(name)
    size = bench.choose(TABLE_1[name][2], 200)
    return Variance(size).set_output(transform="pandas").fit_transform(X, y), y


def _eliminate(bench: Workbench, grid: dict[str, Any], **parameters: Any) -> hf.Candidates:
    return hf.Candidates(HybridRFE(K, **parameters).set_params(device=bench.device), grid, keep="selected")


def weigh_variance(weight: float) -> GolubVariance:
    """Return the criterion of equation 2, with λ_v in units of its own terms."""
    return GolubVariance(lambda_v=weight, units="largest")
