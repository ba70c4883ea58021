"""Studies with nested subsamples, and what they say of the values of alpha and of MID next to MIQ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.study import StudyResult
from reproductions.gulgezen2009.published import ALPHAS, PAPER
from reproductions.records import Evidence
from reproductions.workbench import Workbench

REDRAWS = 200
THIN_FROM, STEP = 200, 40
"""Above so many features, every so many numbers of them are looked at."""
REDRAWN = f"{REDRAWS} redraws of the bootstrap samples"
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
    seed: int = 0

    @cache  # noqa: B019  lives as long as the experiment
    def names(self, alpha: float | None) -> list[str]:
        """The candidates of one alpha by their number of features."""
        settings = {name: self.result.settings(name) for name in self.result.candidates}
        own = [name for name, setting in settings.items() if setting.get("alpha") == alpha]
        return sorted(own, key=lambda name: settings[name]["size"])

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of features that were looked at."""
        return [self.result.settings(name)["size"] for name in self.names(ALPHAS[0])]

    @cache  # noqa: B019
    def by_sample(self, alpha: float | None, ratio: float, of: str) -> Floats:
        """The values of one alpha: sizes × bootstrap samples."""
        if of == "stability":
            estimates = [self.result.stability(name, self.measure, fraction=ratio) for name in self.names(alpha)]
            return np.array([estimate.pseudo_values for estimate in estimates])
        scores = [self.result.split_scores(name, of, fraction=ratio)[0] for name in self.names(alpha)]
        return np.array(scores, dtype=np.float64)

    @cache  # noqa: B019
    def ranks(self, ratio: float, of: str) -> pd.DataFrame:
        """Mean rank of each alpha and its standard deviation over numbers of features, as in the paper's tables."""
        names = [name for alpha in ALPHAS for name in self.names(alpha)]
        ranks = self.result.setting_ranks("size", of=of, measure=self.measure, fraction=ratio, candidates=names)
        return ranks.loc[[f"mid(alpha={alpha:g})" for alpha in ALPHAS]].set_axis(list(ALPHAS))

    def redraw(self, values: Floats) -> Floats:
        """Means over bootstrap samples, the last axis, drawn again: redraws are the last axis."""
        rng = np.random.default_rng([9, self.seed])
        return values[..., rng.integers(0, values.shape[-1], (REDRAWS, values.shape[-1]))].mean(axis=-1).round(12)

    @cache  # noqa: B019
    def redrawn_ranks(self, ratio: float, of: str) -> Floats:
        """Mean ranks of the alphas with bootstrap samples drawn again: redraws × alphas."""
        values = np.array([self.by_sample(alpha, ratio, of) for alpha in ALPHAS])
        return rankdata(-self.redraw(values), method="min", axis=0).mean(axis=1).T

    def judge_ranks(
        self, ratio: float, of: str, statistic: Callable[[Floats], float], n_tries: int = 1, **options: Any
    ) -> Evidence:
        """Return a number made of the mean ranks of the alphas."""
        ours, drawn = self.ranks(ratio, of)["rank"].to_numpy(), self.redrawn_ranks(ratio, of)
        return Evidence.from_draws(
            statistic(ours), [statistic(ranks) for ranks in drawn], REDRAWN, n_tries=n_tries, n_units=self.n_samples,
            **options,
        )  # fmt: skip

    @cached_property
    def n_samples(self) -> int:
        """How many bootstrap samples were drawn."""
        return int(self.result.splits["block"].nunique())

    def difference(self, ratio: float, of: str) -> Floats:
        """MID minus MIQ: sizes × bootstrap samples."""
        return self.by_sample(0.5, ratio, of) - self.by_sample(None, ratio, of)

    def share_with_constants(self, alpha: float | None, size: int) -> float:
        """Share of samples on which a feature that is constant is among the first so many."""
        name = self.names(alpha)[self.sizes.index(size)]
        return float(self.result.preferences(name).to_frame()[list(self.constant)].any(axis=1).mean())


def make_mrmr(n_features: int, scheme: hf.selectors.mrmr.Scheme) -> hf.selectors.MRMR:
    """The selector as the paper defines it."""
    return hf.selectors.MRMR(
        n_features, scheme=scheme, n_bins=10, bins="full", ties="lowest", relevant_only=False
    )  # fmt: skip


def run_study(
    bench: Workbench, name: str, ratios: Sequence[float], *, estimator: Any = None, n_sizes: int = 0
) -> Nested:
    """Run MID with all alphas, and MIQ, on a data set; with another classifier at so many numbers of features."""
    X, y = bench.load(name)
    sizes = find_sizes(bench, X.shape[1])
    if n_sizes:
        sizes = sorted({sizes[place] for place in np.linspace(0, len(sizes) - 1, n_sizes).astype(int)})
    plan = hf.Study(
        selectors={
            "mid": hf.Candidates(make_mrmr(1, "mid_alpha"), {"alpha": list(ALPHAS)}, sizes=sizes),
            "miq": hf.Candidates(make_mrmr(1, "miq"), sizes=sizes),
        },
        perturbation=hf.NestedSubsamples(bench.choose(10, 3), tuple(ratios)),
        estimator=estimator or KNeighborsClassifier(3),
        random_state=bench.seed,
    )
    result = bench.sharing(f"{PAPER}-studies").study(f"{name}-other" if estimator else name, plan, X, y)
    codes, wholes = bin_features(X), result.splits.query("fraction == 1")
    rows = [rows.repeat(counts) for rows, counts in zip(wholes["train_rows"], wholes["train_counts"], strict=True)]
    alike = [hf.similarity.SymmetricalUncertainty(codes[own], n_bins=None) for own in rows]
    constant = tuple(X.columns[np.ptp(codes, axis=0) == 0])
    return Nested(result, hf.MEASURES["gulgezen"].bind(similarity=alike), constant, bench.seed)


def bin_features(X: pd.DataFrame) -> NDArray[np.int64]:
    """The ten bins of each feature over all rows: rows × features."""
    return hf.similarity.SymmetricalUncertainty(X).codes.T.astype(np.int64)


def find_sizes(bench: Workbench, n_features: int) -> list[int]:
    """All numbers of features, or evenly some of them."""
    if bench.quick:
        return [1, 3, 8]
    step = STEP if n_features > THIN_FROM else 1
    return sorted({1, *range(step, n_features, step), n_features})


def describe_protocol(title: str, nested: Nested, ratios: Sequence[float]) -> str:
    """What was done, in a few sentences."""
    total = len(nested.result.feature_names)
    every = len(nested.sizes) == total
    numbers = "every number of features" if every else f"{len(nested.sizes)} of the {total} numbers of features"
    return (
        f"{title}: {nested.n_samples} bootstrap samples, and parts of them at r = "
        f"{', '.join(f'{ratio:g}' for ratio in ratios)}; MID with five α, and MIQ, at {numbers}. Stability is the "
        "similarity of the selection on a part with that on its bootstrap sample by the best matching, with "
        "symmetrical uncertainties on that sample; accuracy is that of 3 nearest neighbors among the rows of the part, "
        "on rows that the bootstrap did not draw. Means over bootstrap samples are ranked at each number of features, "
        "and ranks averaged. Ranks are close to print if their mean distance is at most that of the word “similar”."
    )
