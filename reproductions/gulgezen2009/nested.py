"""Studies with nested subsamples, and what they say of the values of alpha and of MID beside MIQ."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.study import StudyResult
from reproductions.gulgezen2009.published import ALPHAS
from reproductions.workbench import Workbench

REDRAWS = 200
THIN_FROM, STEP = 200, 40
"""Above so many features, every so many numbers of them are looked at."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Nested:
    """A study on one data set, and the measure of stability with the similarities on each bootstrap sample.

    ``of`` is ``"stability"`` or ``"accuracy"``; an alpha of None stands for MIQ; ``constant`` are features that have
    one value in all rows.
    """

    result: StudyResult
    measure: hf.Measure
    constant: tuple[str, ...] = ()
    known: dict[Any, Any] = field(default_factory=dict)

    def names(self, alpha: float | None) -> list[str]:
        """The candidates of one alpha by their number of features."""
        settings = {name: self.result.settings(name) for name in self.result.candidates}
        own = [name for name, setting in settings.items() if setting.get("alpha") == alpha]
        return sorted(own, key=lambda name: settings[name]["size"])

    def by_sample(self, alpha: float | None, ratio: float, of: str) -> Floats:
        """The values of one alpha: sizes × bootstrap samples."""
        if of == "stability":
            estimates = [self.result.stability(name, self.measure, fraction=ratio) for name in self.names(alpha)]
            return np.array([estimate.pseudo_values for estimate in estimates])
        scores = [self.result.split_scores(name, of, fraction=ratio)[0] for name in self.names(alpha)]
        return np.array(scores, dtype=np.float64)

    def ranks(self, ratio: float, of: str, measure: hf.Measure | None = None) -> pd.DataFrame:
        """Mean rank of each alpha and its standard deviation over numbers of features, as in the paper's tables."""
        key, chosen = (ratio, of, measure and measure.name), measure or self.measure
        if key not in self.known:
            names = [name for alpha in ALPHAS for name in self.names(alpha)]
            ranks = self.result.setting_ranks("size", of=of, measure=chosen, fraction=ratio, candidates=names)
            self.known[key] = ranks.loc[[f"mid(alpha={alpha:g})" for alpha in ALPHAS]].set_axis(list(ALPHAS))
        return self.known[key]

    def redrawn_ranks(self, ratio: float, of: str) -> Floats:
        """Mean ranks of the alphas with bootstrap samples drawn again: redraws × alphas."""
        values = np.array([self.by_sample(alpha, ratio, of) for alpha in ALPHAS])
        drawn = np.random.default_rng(0).integers(0, values.shape[2], (REDRAWS, values.shape[2]))
        means = values[:, :, drawn].mean(axis=3).round(12)  # alphas × sizes × redraws
        return rankdata(-means, method="min", axis=0).mean(axis=1).T

    def share_with_constants(self, alpha: float | None, size: int) -> float:
        """Share of samples on which a feature that is constant is among the first so many."""
        (name,) = [name for name in self.names(alpha) if self.result.settings(name)["size"] == size]
        return float(self.result.preferences(name).to_frame()[list(self.constant)].any(axis=1).mean())

    def difference(self, ratio: float, of: str) -> Floats:
        """MID minus MIQ: sizes × bootstrap samples."""
        return self.by_sample(0.5, ratio, of) - self.by_sample(None, ratio, of)


def make_mrmr(n_features: int, scheme: hf.selectors.mrmr.Scheme, n_bins: int | None = 10) -> hf.selectors.MRMR:
    """The selector as the paper defines it."""
    return hf.selectors.MRMR(
        n_features, scheme=scheme, n_bins=n_bins, bins="full", ties="lowest", relevant_only=False
    )  # fmt: skip


def run_study(bench: Workbench, name: str, ratios: Sequence[float], *, binned: bool = False) -> Nested:
    """Run MID with all alphas, and MIQ, on a data set; of the classifier on bins, MID alone."""
    X, y = bench.load(name)
    codes = hf.similarity.SymmetricalUncertainty(X).codes.T
    sizes, n_bins = _find_sizes(bench, X.shape[1], binned), None if binned else 10
    selectors = {"mid": hf.Candidates(make_mrmr(1, "mid_alpha", n_bins), {"alpha": list(ALPHAS)}, sizes=sizes)}
    if not binned:
        selectors["miq"] = hf.Candidates(make_mrmr(1, "miq"), sizes=sizes)
    plan = hf.Study(
        selectors=selectors, perturbation=hf.NestedSubsamples(bench.choose(10, 3), tuple(ratios)),
        estimator=KNeighborsClassifier(3),
    )  # fmt: skip
    result = bench.study(f"{name}-bins" if binned else name, plan, codes if binned else X, y)
    wholes = result.splits.query("fraction == 1")
    rows = [rows.repeat(counts) for rows, counts in zip(wholes["train_rows"], wholes["train_counts"], strict=True)]
    alike = [hf.similarity.SymmetricalUncertainty(codes[own], n_bins=None) for own in rows]
    constant = () if binned else tuple(X.columns[np.ptp(codes, axis=0) == 0])
    return Nested(result, hf.MEASURES["gulgezen"].bind(similarity=alike), constant)


def _find_sizes(bench: Workbench, n_features: int, binned: bool) -> list[int]:
    """All numbers of features, or evenly some of them; fewer with bins, where many distances tie."""
    if bench.quick:
        return [1, 3, 8]
    step = STEP if n_features > THIN_FROM else 5 if binned and n_features > THIN_FROM / 2 else 1
    return sorted({1, *range(step, n_features, step), n_features})


def describe_protocol(title: str, result: StudyResult, ratios: Sequence[float]) -> str:
    """What was done, in a few sentences."""
    sizes = {result.settings(name)["size"] for name in result.candidates}
    total = len(result.feature_names)
    numbers = "every number of features" if len(sizes) == total else f"{len(sizes)} of the {total} numbers of features"
    return (
        f"{title}: {result.splits['block'].nunique()} bootstrap samples, and parts of them at r = "
        f"{', '.join(f'{ratio:g}' for ratio in ratios)}; MID with five alphas, and MIQ, at {numbers}. Stability is the "
        "similarity of the selection on a part with that on its bootstrap sample by the best matching, with "
        "symmetrical uncertainties on that sample; accuracy is that of 3 nearest neighbors among the rows of the part, "
        "on rows that the bootstrap did not draw. Means over bootstrap samples are ranked at each number of features, "
        "and ranks averaged."
    )
