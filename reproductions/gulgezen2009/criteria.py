"""Figures 1 and 2: how much relevance, redundancy and the two criteria vary over bootstrap samples."""

import numpy as np
import pandas as pd

import holdfast as hf
from holdfast import plots
from reproductions import unconverted
from reproductions.experiments import experiment
from reproductions.gulgezen2009.nested import make_mrmr
from reproductions.gulgezen2009.published import PAPER
from reproductions.records import Claim, Outcome, Picture
from reproductions.workbench import Workbench


@experiment(
    PAPER, "figures1-2", shows="Figures 1 and 2", data=("musk1",),
    title="variance of relevance, redundancy, MID and MIQ on Musk",
)  # fmt: skip
def variances(bench: Workbench) -> Outcome:
    """Order features on all rows by MID and by MIQ, and compute both criteria along the orders on bootstraps."""
    X, y = bench.load("musk1")
    steps, n_resamples = bench.choose((X.shape[1], 50), (12, 10))
    terms = {
        scheme: hf.selectors.mrmr_terms(make_mrmr(steps, scheme), X, y, hf.Bootstrap(n_resamples))
        for scheme in ("miq", "mid")
    }
    spread = {scheme: _by_step(frame) for scheme, frame in terms.items()}
    captions = {
        "miq": "Mean and standard deviation along the order that MIQ chose on all rows (Figure 1).",
        "mid": "Mean and standard deviation along the order that MID chose on all rows (Figure 2).",
    }
    return Outcome(
        claims=judge_variances(spread["mid"], spread["miq"], first=bench.choose(10, 4)),
        pictures=[
            Picture(name=scheme, caption=captions[scheme], chart=plots.plot_mrmr_terms(frame))
            for scheme, frame in terms.items()
        ],
        protocol=f"Musk (version 1), {steps} features in the order of MID and of MIQ on all rows, ten bins; relevance "
        f"V, redundancy W (with the features before), V − W and V / W on {n_resamples} bootstrap samples.",
        notes=compare_variances(spread["mid"], spread["miq"]),
    )


def _by_step(terms: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation of each quantity, one row per step from the second on."""
    data = plots.mrmr_terms_data(terms).pivot_table(index="step", columns="quantity", values=["mean", "sd"])
    return data.loc[2:]


def judge_variances(mid: pd.DataFrame, miq: pd.DataFrame, first: int) -> list[Claim]:
    """Judge the claims on variances, from the second step on; the first steps are those of few features."""
    smaller = mid["sd"]["V − W"].to_numpy() < miq["sd"]["V / W"].to_numpy()
    early, late = miq.iloc[: first - 1].median(), miq.iloc[first - 1 :].median()
    nearer, wider = early["mean", "W"] < late["mean", "W"], early["sd", "V / W"] > late["sd", "V / W"]
    return [
        unconverted.fact(
            "MID has a smaller variance than MIQ.", "Section 4.2, Figures 1 and 2", holds=bool(smaller.all()),
            rule="at every step from the second, the standard deviation of V − W along MID's order is below that of "
            "V / W along MIQ's",
            ours=f"at {smaller.sum()} of {smaller.size} steps; medians {mid['sd']['V − W'].median():.3f} and "
            f"{miq['sd']['V / W'].median():.3f}",
        ),
        unconverted.fact(
            "With few features W is close to 0, and MIQ has a large variance.", "Section 4.1",
            holds=bool(nearer and wider),
            rule=f"along MIQ's order, the median W of steps 2 to {first} is below that of later steps, and the median "
            "standard deviation of V / W above",
            ours=f"W {early['mean', 'W']:.2f} and later {late['mean', 'W']:.2f}; standard deviation "
            f"{early['sd', 'V / W']:.3f} and later {late['sd', 'V / W']:.3f}",
        ),
    ]  # fmt: skip


def compare_variances(mid: pd.DataFrame, miq: pd.DataFrame) -> list[str]:
    """Say what the variances are beside their scale, and beside what theory gives."""
    V, W, var_V, var_W = miq["mean"]["V"], miq["mean"]["W"], miq["sd"]["V"] ** 2, miq["sd"]["W"] ** 2
    predicted = np.sqrt(var_V / W**2 + V**2 * var_W / W**4)
    found = miq["sd"]["V / W"]
    together = (mid["sd"]["V − W"] ** 2 / (mid["sd"]["V"] ** 2 + mid["sd"]["W"] ** 2)).median()
    shares = [
        frame["sd"][name].median() / np.ptp(frame["mean"][name]) for frame, name in ((mid, "V − W"), (miq, "V / W"))
    ]
    return [
        "V − W and V / W are in different units, so that their variances alone do not tell which choice is more "
        "stable: as a share of the range over all steps, the median standard deviation is "
        f"{shares[0]:.1%} for V − W and {shares[1]:.1%} for V / W.",
        "The paper gives V / W unit variance far from 0. The delta method, var(V)/W² + V² var(W)/W⁴, predicts a "
        f"standard deviation of {predicted.median():.3f} (median over steps); {found.median():.3f} was found.",
        f"The variance of V − W is {together:.2f} times var(V) + var(W) (median over steps); the paper's 2σ² takes "
        "the errors of V and W, which come from the same rows, to be independent: then it would be 1.",
    ]
