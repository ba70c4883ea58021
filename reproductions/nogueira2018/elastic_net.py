"""The elastic net at high redundancy: two penalties, likelihood and stability (section 6.1.3)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

import holdfast as hf
from holdfast.plots.theme import finish_chart, inline_data
from reproductions import redundancy
from reproductions.experiments import experiment
from reproductions.records import Claim, Evidence, Outcome, Picture, Rule, Table
from reproductions.redundancy import MOST, NEAR, REDUNDANCIES, SCORE, LassoRun, distance, gain, judge, share_of_sets
from reproductions.workbench import Workbench

PAPER, WHERE = "nogueira2018", "Section 6.1.3"
RHO = REDUNDANCIES["high"]
ALPHAS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Mixes of the penalties; the text names 0.05 only, others are in the legend of Figure 10."""
LAMBDAS = tuple(np.round(np.arange(0.01, 1.0, 0.05), 2).tolist())
"""Penalty strengths: a grid that has all values of the text."""
ALPHA, LAMBDA_LIKELIHOOD, LAMBDA_BOTH, LAMBDA_STABLE = 0.05, 0.16, 0.76, 0.56
"""Section 6.1.3 and the caption of Figure 11. The text says λ = 0.05 where the caption has 0.16: 0.05 is α."""
COLUMNS = ["features", "log-likelihood", "stability", "misclassified"]


Runs = Sequence[LassoRun]
"""The elastic net with the printed α on every data set."""


def run_elastic_net(bench: Workbench) -> list[pd.DataFrame]:
    """Run the elastic net on every data set, or read what was stored: a row for each α and λ."""
    numbers = range(redundancy.find_scale(bench).n_sets)
    frames = [bench.frame(f"set-{number}", partial(_run_once, bench, number)) for number in numbers]
    return [frame.set_index(["alpha", "strength"]) for frame in frames]


def _run_once(bench: Workbench, number: int) -> pd.DataFrame:
    X, y, _ = redundancy.draw_data(bench, RHO, number)
    grid = {
        "l1_ratio": list(bench.choose(ALPHAS, (0.05, 1.0))),
        "penalty_strength": list(bench.choose(LAMBDAS, (0.06, 0.16, 0.61, 0.76))),
    }
    plan = hf.Study(
        selectors={"elastic net": hf.Candidates(hf.selectors.ElasticNetPath(), grid)},
        perturbation=hf.Bootstrap(redundancy.find_scale(bench).n_resamples), scoring=[SCORE, "accuracy"],
        random_state=int(bench.rng(10, number).integers(2**31)),
    )  # fmt: skip
    half, rows = len(y) // 2, []
    result = plan.run(X[:half], y[:half], keep_predictions=False)
    summary = result.summary("nogueira")
    for name in result.candidates:
        setting, row = result.settings(name), summary.loc[name]
        rows.append({
            "alpha": setting["l1_ratio"], "strength": setting["penalty_strength"], "features": row["size"],
            "log-likelihood": row[SCORE], "stability": row["stability"], "misclassified": 1 - row["accuracy"],
            **{f"x{feature}": share for feature, share in enumerate(result.preferences(name).frequency)},
        })  # fmt: skip
    return pd.DataFrame(rows)


@experiment(
    PAPER, "figure10", shows="Figures 10 and 11", title="the elastic net at high redundancy",
    question="Does an elastic net select redundant features stably, at no loss of likelihood?",
)  # fmt: skip
def elastic_net(bench: Workbench) -> Outcome:
    """Size, likelihood and stability against λ for several α, and what is selected at two λ."""
    frames = run_elastic_net(bench)
    at_printed: list[Any] = [frame.xs(ALPHA) for frame in frames]
    runs = [LassoRun(curve=own[COLUMNS], frequency=own.filter(regex="^x")) for own in at_printed]
    mean = pd.concat(frames).groupby(level=[0, 1]).mean()
    alphas, strengths = (sorted(set(mean.index.get_level_values(level))) for level in (0, 1))
    shares = {f"λ = {strength:g}": runs[0].shares(strength) for strength in (LAMBDA_LIKELIHOOD, LAMBDA_BOTH)}
    table = mean.xs(ALPHA)[COLUMNS].reset_index()
    return Outcome(
        claims=[*judge_curves(frames, runs), *judge_pairs(runs), *judge_frequencies(runs)],
        tables=[Table(title="The elastic "
                            "net with α = 0.05, means over data sets, beside Figure 10", frame=table, digits=3)],
        pictures=[
            draw_curves(mean, len(runs)),
            redundancy.picture_frequencies("Figure 11", shares, "with α = 0.05 on the first data set"),
        ],
        protocol=f"{redundancy.describe_protocol(bench).split(' On the first')[0]} At ρ = {RHO:g} only. On the first "
        f"half of the rows, the elastic net on {redundancy.find_scale(bench).n_resamples} bootstrap samples, the same "
        f"for all penalties, as in the authors' script, for {len(alphas)} α and {len(strengths)} λ from "
        f"{min(strengths):g} to {max(strengths):g}; the paper lists neither.",
    )  # fmt: skip


def judge_curves(frames: Sequence[pd.DataFrame], runs: Runs) -> list[Claim]:
    """Judge what the text says of Figure 10."""
    alphas, strengths = (list(dict.fromkeys(frames[0].index.get_level_values(level))) for level in (0, 1))
    sizes, likelihoods = (
        np.array([frame[column].to_numpy().reshape(len(alphas), -1) for frame in frames])
        for column in ("features", "log-likelihood")
    )  # data sets × α × λ
    rises = np.diff(sizes, axis=2)
    row, place = np.unravel_index(rises.mean(axis=0).argmax(), rises.shape[1:])
    wins = ((likelihoods.argmax(axis=1) == alphas.index(ALPHA)).mean(axis=1) > 0.5).tolist()
    stable = [strength for strength in strengths if strength > LAMBDA_STABLE]
    least = [min(run.at(strength, "stability") for strength in stable) for run in runs]
    about_50 = [gain([run.at(strength, "features") for run in runs], 1) for strength in stable]
    return [
        judge("As λ increases, fewer features are selected (the largest rise of the mean size, any α).", "Figure 10",
              WHERE, "fewer", gain(rises[:, row, place]), Rule.at_most(0.5), f"It is at α = {alphas[row]:g}, from λ = "
              f"{strengths[place]:g} to {strengths[place + 1]:g}. The ridge part of the penalty grows with λ too, and "
              "takes correlated features in together."),
        judge("α = 0.05 has a higher likelihood than the other α for most λ.", "Figure 10", WHERE, "most",
              share_of_sets(wins), MOST),
        judge("α = 0.05: the stability is above 0.90 at every λ above 0.56.", "Figure 10", WHERE, "> 0.90",
              gain(least, 3), Rule.above(0.9)),
        judge("α = 0.05: about 50 features are selected at every λ above 0.56.", "Figure 10", WHERE, "around 50",
              Evidence.over(about_50, f"{len(stable)} λ; {len(runs)} data sets"),
              Rule(text="within 5 of 50", low=45.0, high=55.0, base_low=50.0, base_high=50.0)),
    ]  # fmt: skip


def judge_pairs(runs: Runs) -> list[Claim]:
    """Judge the printed pairs of λ and stability, and the misclassification rates."""
    best = [float(run.curve.index.to_numpy()[run.curve["log-likelihood"].argmax()]) for run in runs]
    numbers = [
        ("the likelihood is best at λ = 0.16", "0.16", best),
        ("λ = 0.16 has the stability 0.34", "0.34", [run.at(LAMBDA_LIKELIHOOD, "stability") for run in runs]),
        ("λ = 0.76 has the stability 0.98", "0.98", [run.at(LAMBDA_BOTH, "stability") for run in runs]),
        ("λ = 0.16 misclassifies 14 %", "0.14", [run.at(LAMBDA_LIKELIHOOD, "misclassified") for run in runs]),
        ("λ = 0.76 misclassifies 14 %", "0.14", [run.at(LAMBDA_BOTH, "misclassified") for run in runs]),
    ]
    return [
        judge(f"α = 0.05: {claim}.", "Figure 11", WHERE, printed, distance(printed, values, digits=3), NEAR)
        for claim, printed, values in numbers
    ]


def judge_frequencies(runs: Runs) -> list[Claim]:
    """Judge what the text says of Figure 11."""
    likely, both = ([run.false_shares(at).mean() for run in runs] for at in (LAMBDA_LIKELIHOOD, LAMBDA_BOTH))
    relevant = [run.shares(LAMBDA_BOTH)[: len(run.false_shares(LAMBDA_BOTH))] for run in runs]
    return [
        judge("α = 0.05, λ = 0.76: all relevant features are selected in every resample.", "Figure 11", WHERE,
              "the whole set", share_of_sets([bool((shares == 1).all()) for shares in relevant]), MOST,
              f"Their mean frequency is {np.mean(relevant):.4f}."),
        judge("α = 0.05, λ = 0.76: irrelevant features are only rarely selected.", "Figure 11", WHERE, "only rarely",
              gain(both, 3), Rule.at_most(0.05)),
        judge("Irrelevant features are selected a lot more often at λ = 0.16 than at λ = 0.76.", "Figure 11", WHERE,
              "a lot more often", gain(np.subtract(likely, both)), Rule.above(0.1)),
    ]  # fmt: skip


def draw_curves(mean: pd.DataFrame, n_sets: int) -> Picture:
    """Draw the three panels of Figure 10 side by side, a line for each α."""
    frame = mean[COLUMNS].reset_index().rename(columns={"strength": "λ"})
    frame["α"] = frame["alpha"].map("{:g}".format)
    panels = [
        alt.Chart(inline_data(frame[["λ", "α", column]].dropna())).mark_line().encode(
            x="λ:Q", y=alt.Y(f"{column}:Q", scale=alt.Scale(zero=False)), color=alt.Color("α:N", title="α")
        ).properties(width=190, height=170)
        for column in COLUMNS[:3]
    ]  # fmt: skip
    likely, both = (mean["stability"].to_dict()[ALPHA, strength] for strength in (LAMBDA_LIKELIHOOD, LAMBDA_BOTH))
    finding = (
        f"Stability at α = {ALPHA:g}: {likely:.2f} at λ = {LAMBDA_LIKELIHOOD:g}, {both:.2f} at λ = {LAMBDA_BOTH:g}"
    )
    return Picture(
        name="curves", exhibit="Figure 10",
        chart=finish_chart(alt.hconcat(*panels), finding, ["means over data sets"], width=640),
        caption="Number of selected features, log-likelihood and stability against λ, in the layout of Figure 10: "
                f"means over {n_sets} data sets; no stability where nothing is selected.",
    )  # fmt: skip
