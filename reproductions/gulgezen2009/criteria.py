"""Figures 1 and 2: how much relevance, redundancy and the two criteria vary over bootstrap samples."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

import holdfast as hf
from holdfast import plots
from reproductions.experiments import experiment
from reproductions.gulgezen2009.nested import REDRAWS, Floats, make_mrmr
from reproductions.gulgezen2009.published import PAPER
from reproductions.records import Claim, Evidence, Outcome, Picture, Rule
from reproductions.workbench import Workbench

FIRST = 10
"""So many features are few."""


@dataclass(frozen=True, eq=False)
class Terms:
    """V, W, V − W and V / W along one order of features, from its second step on: resamples × steps."""

    relevance: Floats
    redundancy: Floats
    difference: Floats
    quotient: Floats

    def redraw(self, rows: Floats) -> "Terms":
        """The same on some of the resamples."""
        return Terms(self.relevance[rows], self.redundancy[rows], self.difference[rows], self.quotient[rows])


@experiment(
    PAPER, "figures1-2", shows="Figures 1 and 2", data=("musk1",),
    title="variance of relevance, redundancy, MID and MIQ on Musk",
    question="Does the difference of relevance and redundancy vary less over bootstrap samples than their quotient?",
)  # fmt: skip
def variances(bench: Workbench) -> Outcome:
    """Order features on all rows by MID and by MIQ, and compute both criteria along the orders on bootstraps."""
    X, y = bench.load("musk1")
    steps, n_resamples = bench.choose((X.shape[1], 50), (12, 10))
    frames = {
        scheme: hf.selectors.mrmr_terms(
            make_mrmr(steps, scheme), X, y, hf.Bootstrap(n_resamples), random_state=bench.seed
        )
        for scheme in ("miq", "mid")
    }
    mid, miq = (lay_out(frames[scheme]) for scheme in ("mid", "miq"))
    redraws = bench.rng(2).integers(0, n_resamples, (REDRAWS, n_resamples))

    def judge(exhibit: str, claim: str, statistic: Callable[[Terms, Terms], float], rule: Rule, where: str) -> Claim:
        drawn = [statistic(mid.redraw(rows), miq.redraw(rows)) for rows in redraws]
        return Claim(
            claim=claim, exhibit=exhibit, where=where, rule=rule,
            evidence=Evidence.from_draws(
                statistic(mid, miq), drawn, f"{REDRAWS} redraws of the bootstrap samples", digits=3
            ),
        )  # fmt: skip

    return Outcome(
        claims=[
            judge("Figure 2", "V − W along the order of MID has a smaller standard deviation than V / W along that of "
                  "MIQ at 95 % of the steps.", share_smaller, Rule.share(0.95), "Section 4.2"),
            judge("Figure 1", "With few features W is lower than later.",
                  lambda _, terms: early_and_late(terms.redundancy.mean(axis=0)), Rule.above(0), "Section 4.1"),
            judge("Figure 1", "With few features V / W varies more than later.",
                  lambda _, terms: -early_and_late(spread(terms.quotient)), Rule.above(0), "Section 4.1"),
        ],
        pictures=[
            Picture(
                name=scheme, exhibit=exhibit, chart=plots.plot_mrmr_terms(frames[scheme]),
                caption=f"{exhibit}: mean and standard deviation along the order that {scheme.upper()} chose on all "
                "rows.",
            )
            for scheme, exhibit in (("miq", "Figure 1"), ("mid", "Figure 2"))
        ],
        protocol=f"Musk (version 1), {steps} features in the order of MID and of MIQ on all rows, ten bins; relevance "
        f"V, redundancy W (with the features before), V − W and V / W on {n_resamples} bootstrap samples. “Few” are "
        f"the first {FIRST} features; medians over steps are compared.",
        notes=compare_variances(mid, miq),
    )  # fmt: skip


def lay_out(frame: pd.DataFrame) -> Terms:
    """Return the terms of all resamples, from the second step on; a quotient of no redundancy is undefined."""
    by_step = frame[frame["step"] > 1].replace(np.inf, np.nan).pivot_table(
        index="resample", columns="step", values=["relevance", "redundancy", "difference", "quotient"], dropna=False,
    )  # fmt: skip
    return Terms(*(by_step[name].to_numpy() for name in ("relevance", "redundancy", "difference", "quotient")))


def spread(values: Floats) -> Floats:
    """The standard deviation over resamples at each step."""
    return pd.DataFrame(values).std().to_numpy()  # leaves undefined ones out


def share_smaller(mid: Terms, miq: Terms) -> float:
    """At which share of the steps V − W along MID's order varies less than V / W along MIQ's."""
    return float((spread(mid.difference) < spread(miq.quotient)).mean())


def early_and_late(by_step: Floats) -> float:
    """How much larger the median of later steps is than that of the first."""
    first = min(FIRST - 1, by_step.size // 2)
    return float(np.nanmedian(by_step[first:]) - np.nanmedian(by_step[:first]))


def compare_variances(mid: Terms, miq: Terms) -> list[str]:
    """Say what the variances are next to their scale, and next to what theory gives."""
    V, W = pd.DataFrame(miq.relevance).mean(), pd.DataFrame(miq.redundancy).mean()  # 0 / 0 is left out of medians
    var_V, var_W = spread(miq.relevance) ** 2, spread(miq.redundancy) ** 2
    predicted = np.nanmedian(np.sqrt(var_V / W**2 + V**2 * var_W / W**4))
    apart = pd.Series(spread(mid.relevance) ** 2 + spread(mid.redundancy) ** 2)
    together = np.nanmedian(spread(mid.difference) ** 2 / apart)
    found = np.nanmedian(spread(miq.quotient))
    shares = [
        np.nanmedian(spread(values)) / np.ptp(pd.DataFrame(values).mean().dropna())
        for values in (mid.difference, miq.quotient)
    ]
    return [
        "V − W and V / W are in different units, so that their variances alone do not tell which choice is more "
        "stable: as a share of the range over all steps, the median standard deviation is "
        f"{shares[0]:.1%} for V − W and {shares[1]:.1%} for V / W.",
        "The paper gives V / W unit variance far from 0. The delta method, var(V)/W² + V² var(W)/W⁴, predicts a "
        f"standard deviation of {predicted:.3f} (median over steps); {found:.3f} was found.",
        f"The variance of V − W is {together:.2f} times var(V) + var(W) (median over steps); the "
        "paper's 2σ² takes the errors of V and W, which come from the same rows, to be independent: it would be 1.",
    ]
