"""The four methods in nested ten-fold cross-validation, on every list of peaks that the paper may have used."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

import holdfast as hf
from reproductions.kalousis2005.published import METHODS, OVARIAN, PAPER
from reproductions.records import Claim, Evidence, Kind, Rule, Table, Verdict
from reproductions.workbench import Workbench

TOP = 10
SIZES = (10, 20, 30, 40, 50)
CUTS = (1000, 500, 750, 1500, 2000)
"""Least m/z of a peak, the one that is shown first."""
SCALINGS = ("[0, 1]", "standardized")
N_DRAWS = 5
TOLERANCE = 0.5
"""Agreement of entering features up to which they enter at random: folds share most rows, and agree on noise too."""
APART = 1.1
"""Knots are looked for among sizes that are so much larger than the one before: closer ones swap neighbors."""
OTHER_PEAKS = "Peaks are others than the paper's, whose settings and number we do not know."
PROTOCOL = (
    "Nested stratified ten-fold cross-validation: in each of ten training sets of an outer one, ten inner ones, on "
    "which the selector is fitted; their stability is averaged over the outer folds. Information gain (IG) after "
    "discretization by the rule of Fayyad and Irani, ReliefF with ten neighbors and all rows as probes, squared "
    "weights of a linear support vector machine (SVMONE) and recursive elimination with it (SVMRFE), C = 0.5, 10 % of "
    "the remaining features dropped in each step. Columns are scaled to [0, 1] over all rows (the paper's software: "
    "over those of each training set), or standardized in each training set. "
)
Floats = NDArray[np.float64]


class RangedWeights(hf.selectors.LinearSVMWeights):
    """The weights of a support vector machine that sees columns scaled to [0, 1]."""

    def share(self, data: Any) -> Floats:
        return MinMaxScaler().fit_transform(data.X)


class RangedRFE(hf.selectors.SVMRFE):
    """Recursive elimination by support vector machines that see columns scaled to [0, 1]."""

    def share(self, data: Any) -> Floats:
        return MinMaxScaler().fit_transform(data.X)


@dataclass(frozen=True, eq=False)
class Folds:
    """What the four methods did in one draw of nested folds."""

    result: hf.StudyResult

    @cache  # noqa: B019  lives as long as the experiment
    def stability(self, method: str, measure: str = "jaccard", size: int = TOP, **options: Any) -> float:
        """The mean stability within outer folds: S_W ("weight_correlation"), S_R ("spearman") or S_S ("jaccard")."""
        return self.result.stability(at_size(method, size), measure, **options).value

    def gap(self, measure: str, method: str, *others: str) -> float:
        """How much more stable a method is than the most stable of others."""
        return self.stability(method, measure) - max(self.stability(other, measure) for other in others)

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of features that were scored."""
        return sorted({self.result.settings(name)["size"] for name in self.result.candidates})

    @cached_property
    def errors(self) -> pd.DataFrame:
        """The share of rows that are predicted wrongly, each once: sizes × methods."""
        tables = {size: {m: self.result.predictions(at_size(m, size)) for m in METHODS} for size in self.sizes}
        return pd.DataFrame(
            {size: {m: (table["truth"] != table["predicted"]).mean() for m, table in by.items()}
             for size, by in tables.items()}
        ).T  # fmt: skip

    @cache  # noqa: B019
    def zero_share(self, method: str) -> float:
        """The mean share of features whose weight is zero."""
        return float((self.result.preferences(at_size(method), kind="weighting").matrix() == 0).mean())

    @cached_property
    def n_features(self) -> int:
        return len(self.result.feature_names)

    @cached_property
    def n_informative(self) -> float:
        """How many features have information gain, mean over inner folds."""
        return (1 - self.zero_share("IG")) * self.n_features

    @cached_property
    def curves(self) -> pd.DataFrame:
        """S_S at the paper's sizes, 10, 15, … up to all features: sizes × methods, and of random features."""
        sizes = list(range(TOP, self.n_features + 1, 5))
        lines = {method: self._profile(method, sizes).set_index("size") for method in METHODS}
        return pd.DataFrame(
            {method: line["stability"] for method, line in lines.items()} | {"random": lines["IG"]["random"]}
        )

    def _profile(self, method: str, sizes: Sequence[int]) -> pd.DataFrame:
        return self.result.profile(method, "jaccard", sizes=sizes, fill=True).frame

    def knots(self, method: str) -> list[int]:
        """The knots of a method among those of the paper's sizes that are a tenth above the one before."""
        sizes = [TOP]
        for size in range(TOP, self.n_features + 1, 5):
            if size >= APART * sizes[-1]:
                sizes.append(size)
        return list(self.result.profile(method, "jaccard", sizes=sizes, tolerance=TOLERANCE, fill=True).knots)

    @cached_property
    def selected(self) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.int64]]]:
        """The ten best features of each inner fold, and its outer fold, by method."""
        found = {}
        for method in METHODS:
            runs = self.result.runs_by_block(at_size(method))
            _, blocks = np.unique(np.asarray(runs.blocks), return_inverse=True)
            found[method] = (runs.runs.to_frame().to_numpy().astype(bool), blocks)
        return found


Statistic = Callable[[Folds], float | str]
Lists = Mapping[tuple[int, str], Sequence[Folds]]
"""Draws of the folds by least m/z and scaling, the primary choice first."""


def at_size(method: str, size: int = TOP) -> str:
    """The candidate of a method with so many features."""
    return f"{method}(size={size})"


def run_lists(bench: Workbench, cuts: Sequence[int] = CUTS, n_draws: int = N_DRAWS) -> Lists:
    """Run the four methods on every list of peaks, scaled in both ways, in every draw of the folds."""
    X, y = load_peaks(bench)
    cuts, draws = bench.choose(cuts, cuts[:1]), range(bench.choose(n_draws, 2))
    masses = find_masses(X)
    lists = {}
    for cut in cuts:
        own = X if bench.quick else X.loc[:, masses >= cut]
        for scaling in SCALINGS:
            lists[cut, scaling] = [Folds(run_methods(bench, own, y, cut, scaling, draw)) for draw in draws]
    return lists


def load_peaks(bench: Workbench) -> tuple[pd.DataFrame, Any]:
    """The peaks of the ovarian spectra; for a quick run some columns of another data set."""
    if bench.quick:
        X, y = bench.load("alon")
        return X.iloc[:, :120], y
    X, y = bench.load(OVARIAN)
    return hf.datasets.spectrum_peaks(X), y


def find_masses(X: pd.DataFrame) -> Floats:
    """The m/z of each peak."""
    return np.array([float(str(name).rpartition("_")[2]) if str(name).startswith("mz_") else 0.0 for name in X.columns])


def run_methods(bench: Workbench, X: pd.DataFrame, y: Any, cut: int, scaling: str, draw: int) -> hf.StudyResult:
    """Weights or orders of all features by the four methods, cut to five sizes and scored, in one draw of the folds."""
    ranged = scaling == SCALINGS[0]
    one = RangedWeights(C=0.5, scale="full") if ranged else hf.selectors.LinearSVMWeights(C=0.5)
    rfe = RangedRFE(C=0.5, drop=0.1, scale="full") if ranged else hf.selectors.SVMRFE(C=0.5, drop=0.1)
    weighing = {"IG": hf.selectors.InformationGain(), "ReliefF": hf.selectors.ReliefF(n_neighbors=10), "SVMONE": one}
    sizes, folds = list(bench.choose(SIZES, SIZES[:2])), bench.choose(10, 3)
    candidates = {key: hf.Candidates(selector, sizes=sizes, keep="weights") for key, selector in weighing.items()}
    candidates["SVMRFE"] = hf.Candidates(rfe, sizes=sizes, keep="order")
    plan = hf.Study(
        selectors=candidates,
        perturbation=hf.NestedFolds(folds, n_inner=folds),
        estimator=make_pipeline(MinMaxScaler() if ranged else StandardScaler(), SVC(kernel="linear", C=0.5)),
        random_state=int(bench.rng(2005, draw).integers(2**31)),
    )
    name = f"{cut}-{'range' if ranged else 'standard'}-{draw}"
    return bench.sharing(f"{PAPER}-studies").study(name, plan, X, y)


def judge(
    lists: Lists, exhibit: str, claim: str, statistic: Statistic, rule: Rule, *, where: str = "", printed: str = "",
    reason: str = OTHER_PEAKS, most: float = math.inf, kind: Kind = "empirical",
) -> Claim:  # fmt: skip
    """Judge a claim by a number of each draw of the folds, at most ``most``, or an answer, on every list of peaks."""
    parts = []
    for draws in lists.values():
        found, varied = [statistic(folds) for folds in draws], f"{len(draws)} draws of the folds"
        if isinstance(found[0], str):
            parts.append(Evidence.from_answers([str(answer) for answer in found], printed, varied))
        else:
            part = Evidence.from_sample(found, varied, digits=3)
            parts.append(replace(part, high=min(part.high, most)))
    evidence = Evidence.by_choice(parts, f"{len(parts)} lists of peaks")
    return Claim(
        claim=claim, kind=kind, exhibit=exhibit, where=where, printed=printed, evidence=evidence, rule=rule,
        reason=reason,
    )  # fmt: skip


def show_choices(claims: Sequence[Claim], lists: Lists) -> Table:
    """Show the number of every claim on every list of peaks."""
    signs = {"holds": "✓", "does not hold": "✗"}
    rows = {}
    for claim in claims:
        parts = zip(lists, claim.evidence.parts, part_verdicts(claim), strict=True)
        rows[claim.claim] = {
            f"{cut:,}, {scaling}": f"{part.shown or f'{part.value:.3f}'} {signs.get(verdict, '?')}"
            for (cut, scaling), part, verdict in parts
        }
    return Table(
        title="Each claim by least m/z and scaling: the mean over draws of the folds, and whether it holds",
        frame=pd.DataFrame.from_dict(rows, orient="index").rename_axis("claim"),
    )


def part_verdicts(claim: Claim) -> list[Verdict]:
    """The verdicts of a claim by choice."""
    return [replace(claim, evidence=part).verdict for part in claim.evidence.parts]
