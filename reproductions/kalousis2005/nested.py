"""The four methods in nested ten-fold cross-validation, and differences of stabilities over the outer folds."""

from typing import Any, TypedDict

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import holdfast as hf
from holdfast.inference import StabilityEstimate
from reproductions.kalousis2005.published import METHODS, MICROARRAYS, OVARIAN, PAPER
from reproductions.workbench import Workbench

TOP = 10
SIZES = (10, 20, 30, 40, 50)
SEED = 2005
PROTOCOL = (
    "Nested stratified ten-fold cross-validation: in each of ten training sets of an outer one, ten inner ones, on "
    "which the selector is fitted; their stability is averaged over the outer folds, as in the paper (seed 2005). "
    "Information gain after discretization by the rule of Fayyad and Irani, ReliefF with ten neighbors and all rows "
    "as probes, squared weights of a linear support vector machine (SVMONE) and recursive elimination with it "
    "(SVMRFE), C = 0.5 and 10 % of the remaining features dropped in each step (the paper: 10 % “at the earliest "
    "iterations”, as read here in all of them, at least one feature). The machines see columns standardized in each "
    "training set; WEKA, which the paper used, scales them to [0, 1]. "
)
PEAKS = (
    "The {points:,} points of the ovarian spectra became {peaks} peaks of the mean spectrum (smoothing over 7 points, "
    "baseline over 301, five times the noise), found without the classes; the paper's own preprocessing (baseline "
    "removal, denoising, smoothing, peak detection and alignment) is described in a report that we do not have. "
)
SAME = "The studies of Table 2, read again. "
QUICK_COLUMNS = 120


def names_of_data(bench: Workbench) -> list[str]:
    """The data sets to use, the one that claims are judged on first."""
    return bench.available(bench.choose((OVARIAN, *MICROARRAYS), ("alon",)))


def load_data(bench: Workbench, name: str) -> tuple[pd.DataFrame, Any, str]:
    """Features, target, and what was done to the features, in a sentence."""
    X, y = bench.load(name)
    if name == OVARIAN:
        peaks = hf.datasets.spectrum_peaks(X)
        return peaks, y, PEAKS.format(points=X.shape[1], peaks=peaks.shape[1])
    return (X.iloc[:, :QUICK_COLUMNS] if bench.quick else X), y, ""


def run_methods(bench: Workbench, name: str, X: pd.DataFrame, y: Any) -> hf.StudyResult:
    """The study of the four methods on one data set: weights or orders of all features, cut to five sizes, scored."""
    weighing = {
        "IG": hf.selectors.InformationGain(),
        "ReliefF": hf.selectors.ReliefF(n_neighbors=10),
        "SVMONE": hf.selectors.LinearSVMWeights(C=0.5),
    }
    sizes = list(bench.choose(SIZES, SIZES[:2]))
    candidates = {key: hf.Candidates(selector, sizes=sizes, keep="weights") for key, selector in weighing.items()}
    candidates["SVMRFE"] = hf.Candidates(hf.selectors.SVMRFE(C=0.5, drop=0.1), sizes=sizes, keep="order")
    folds = bench.choose(10, 3)
    plan = hf.Study(
        selectors=candidates,
        perturbation=hf.NestedFolds(folds, n_inner=folds),
        estimator=make_pipeline(StandardScaler(), SVC(kernel="linear", C=0.5)),
        random_state=SEED,
    )
    return bench.sharing(f"{PAPER}-studies").study(name, plan, X, y)


def at_size(method: str, size: int = TOP) -> str:
    """The candidate of a method with so many features."""
    return f"{method}(size={size})"


def measure_all(result: hf.StudyResult) -> dict[str, dict[str, StabilityEstimate]]:
    """S_W, S_R, S_R with random ties and S_S of the best ten, by method; SVMRFE has no weights."""
    found = {}
    for method in METHODS:
        three = result.kalousis(at_size(method))
        at_random = result.stability(at_size(method), "spearman", ties="random")
        measured = {"S_W": three.weights, "S_R": three.ranks, "S_R, random ties": at_random, "S_S": three.subsets}
        found[method] = {key: estimate for key, estimate in measured.items() if estimate is not None}
    return found


class Difference(TypedDict):
    """A difference with its interval, as a check takes it."""

    difference: float
    low: float
    high: float


def paired(first: StabilityEstimate, second: StabilityEstimate) -> Difference:
    """The difference of two stabilities over the same outer folds, with Student's 95 % interval, for a check."""
    differences = first.pseudo_values - second.pseudo_values
    value = float(differences.mean())
    if np.ptp(differences) < 1e-12:
        return {"difference": value, "low": value, "high": value}
    low, high = ttest_1samp(differences, 0.0).confidence_interval(0.95)
    return {"difference": value, "low": float(low), "high": float(high)}


def most_stable(found: dict[str, dict[str, StabilityEstimate]], measure: str, *leave_out: str) -> str:
    """The method of the largest stability by a measure, some left out."""
    values = {key: by[measure].value for key, by in found.items() if measure in by and key not in leave_out}
    return max(values, key=lambda key: values[key])


def zero_share(result: hf.StudyResult, method: str = "IG") -> float:
    """The mean share of features whose weight is zero."""
    return float((result.preferences(at_size(method), kind="weighting").matrix() == 0).mean())
