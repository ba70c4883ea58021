"""The elastic net at high redundancy: two penalties, likelihood and stability (section 6.1.3)."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import holdfast as hf
from holdfast import plots
from reproductions import redundancy, unconverted
from reproductions.experiments import experiment
from reproductions.records import Claim, Outcome, Picture, Table
from reproductions.redundancy import REDUNDANCIES, SCORE, check_draw, check_gain
from reproductions.workbench import Workbench

PAPER = "nogueira2018"
RHO = REDUNDANCIES["high"]
ALPHAS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Mixes of the penalties; the text names 0.05 only, others are in the legend of Figure 10."""
LAMBDAS = tuple(np.round(np.arange(0.01, 1.0, 0.05), 2).tolist())
"""Penalty strengths: a grid that has all values of the text."""
ALPHA, LAMBDA_LIKELIHOOD, LAMBDA_BOTH, LAMBDA_STABLE = 0.05, 0.16, 0.76, 0.56
STABILITY_LIKELIHOOD, STABILITY_BOTH, MISCLASSIFIED = 0.34, 0.98, 0.14
"""Section 6.1.3 and the caption of Figure 11. The text says λ = 0.05 where the caption has 0.16: 0.05 is α."""
FOLDER = "elastic-net"


Floats = NDArray[np.float64]


class ElasticNetRun(NamedTuple):
    """The elastic net on one data set: its curve of λ for each α, and selection frequencies by α and λ."""

    curves: dict[float, pd.DataFrame]
    frequency: dict[tuple[float, float], Floats]

    def at(self, strength: float, column: str) -> float:
        """The value of a column of the curve of the printed α."""
        return float(self.curves[ALPHA][column].to_dict()[strength])


def _run(bench: Workbench, number: int) -> hf.StudyResult:
    X, y, _ = redundancy.draw_data(bench, RHO, number)
    grid = {
        "l1_ratio": list(bench.choose(ALPHAS, (0.05, 1.0))),
        "penalty_strength": list(bench.choose(LAMBDAS, (0.06, 0.16, 0.61, 0.76))),
    }
    plan = hf.Study(
        selectors={"elastic net": hf.Candidates(hf.selectors.ElasticNetPath(), grid)},
        perturbation=hf.Bootstrap(redundancy.find_scale(bench).n_resamples),
        scoring=[SCORE, "accuracy"],
        random_state=number,
    )
    half = len(y) // 2
    return bench.sharing(FOLDER).study(f"set-{number}", plan, X[:half], y[:half], keep_predictions=False)


def _read(result: hf.StudyResult) -> ElasticNetRun:
    summary, frequency = result.summary("nogueira").to_dict("index"), {}
    rows: dict[float, dict[float, dict[str, float]]] = {}
    for name in result.candidates:
        alpha, strength = (float(result.settings(name)[key]) for key in ("l1_ratio", "penalty_strength"))
        row = summary[name]
        rows.setdefault(alpha, {})[strength] = {
            "features": row["size"], "log-likelihood": row[SCORE], "stability": row["stability"],
            "misclassified": 1 - row["accuracy"],
        }  # fmt: skip
        frequency[alpha, strength] = result.preferences(name).frequency
    curves = {alpha: pd.DataFrame(curve).T.rename_axis("λ") for alpha, curve in rows.items()}
    return ElasticNetRun(curves, frequency)


@experiment(PAPER, "figure10", shows="Figures 10 and 11", title="the elastic net at high redundancy")
def elastic_net(bench: Workbench) -> Outcome:
    """Size, likelihood and stability against λ for several α, and what is selected at two λ."""
    runs = [_read(_run(bench, number)) for number in range(redundancy.find_scale(bench).n_sets)]
    mean = {
        alpha: pd.concat([run.curves[alpha] for run in runs]).groupby(level=0, sort=False).mean()
        for alpha in runs[0].curves
    }
    strengths = mean[ALPHA].index
    return Outcome(
        claims=[*_check_curves(mean), *_check_pairs(runs), *_check_frequencies(bench, runs)],
        tables=[Table(title="The elastic net with α = 0.05, means over data sets, beside Figure 10.",
                      frame=mean[ALPHA].assign(features=mean[ALPHA]["features"].map("{:.1f}".format)).rename(
                          index="{:g}".format), digits=3)],
        pictures=[_draw_curves(runs), _draw_frequencies(bench)],
        protocol=f"{redundancy.describe_protocol(bench).split(' On the first')[0]} At rho = {RHO:g} only. On the first "
        f"half of the rows, the elastic net on {redundancy.find_scale(bench).n_resamples} bootstrap samples for "
        f"{len(mean)} α and {len(strengths)} λ from {min(strengths):g} to {max(strengths):g}; the paper lists neither. "
        "λ and α are those of glmnet (`penalty_strength`, `l1_ratio`). The pair that the text prints as λ = 0.05 and "
        "stability 0.34 is read as λ = 0.16, as in Figure 11.",
        notes=[_compare_with_lasso(bench, runs), _tell_likeliest(mean)],
    )  # fmt: skip


def _check_curves(mean: dict[float, pd.DataFrame]) -> list[Claim]:
    rises = {alpha: np.diff(curve["features"]) for alpha, curve in mean.items()}
    steepest = max(rises, key=lambda alpha: float(rises[alpha].max()))
    rise, place = float(rises[steepest].max()), int(rises[steepest].argmax())
    strengths = mean[steepest].index.to_numpy()
    likelihoods = np.array([curve["log-likelihood"] for curve in mean.values()])
    wins, n_strengths = int((np.array(list(mean))[likelihoods.argmax(axis=0)] == ALPHA).sum()), likelihoods.shape[1]
    stable = mean[ALPHA][mean[ALPHA].index > LAMBDA_STABLE]
    sizes, least = stable["features"].to_numpy(), float(stable["stability"].min())
    reason = (
        f"It is at α = {steepest:g}, from λ = {strengths[place]:g} to {strengths[place + 1]:g}; the largest rise of "
        f"α = 0.05 is {max(float(rises[ALPHA].max()), 0.0):.2f}. The ridge part of the penalty grows with λ too, and "
        "takes correlated features in together."
    )
    return [
        unconverted.fact("As λ increases, fewer features are selected", "Section 6.1.3, Figure 10a", holds=rise <= 0.5,
                   rule="for every α the mean size never rises by more than 0.5 from one λ to the next",
                   ours=f"largest rise {rise:.2f}", if_missed=reason),
        unconverted.fact("α = 0.05 has a higher likelihood than other α for most λ", "Section 6.1.3, Figure 10b",
                   holds=wins > n_strengths / 2, rule="highest mean log-likelihood of all α at more than half of the λ",
                   ours=f"at {wins} of {n_strengths} λ"),
        unconverted.fact("α = 0.05: the stability is above 0.90 for λ above 0.56", "Section 6.1.3, Figure 10c",
                   holds=least > 0.9, rule="its mean over data sets is, at every such λ",
                   ours=f"at least {least:.3f}"),
        unconverted.fact("α = 0.05: about 50 features are selected for these λ", "Section 6.1.3, Figure 10a",
                   holds=bool(np.abs(sizes - 50).max() <= 5), rule="mean size within 5 of 50 at every such λ",
                   ours=f"from {sizes.min():.1f} to {sizes.max():.1f}"),
    ]  # fmt: skip


def _check_pairs(runs: list[ElasticNetRun]) -> list[Claim]:
    strengths = runs[0].curves[ALPHA].index.to_numpy()
    best = [float(strengths[np.argmax(run.curves[ALPHA]["log-likelihood"])]) for run in runs]
    where = "Section 6.1.3, Figure 11"
    return [
        check_draw("α = 0.05: the likelihood is best at λ = 0.16", where, published=LAMBDA_LIKELIHOOD, ours=best,
                   rounding=0.025),
        *(
            check_draw(f"α = 0.05, λ = {strength:g}: stability {printed:g}", where, published=printed, rounding=0.005,
                       ours=[run.at(strength, "stability") for run in runs])
            for strength, printed in ((LAMBDA_LIKELIHOOD, STABILITY_LIKELIHOOD), (LAMBDA_BOTH, STABILITY_BOTH))
        ),
        *(
            check_draw(f"α = 0.05, λ = {strength:g}: 14 % are misclassified", "Section 6.1.3", published=MISCLASSIFIED,
                       ours=[run.at(strength, "misclassified") for run in runs], rounding=0.005)
            for strength in (LAMBDA_LIKELIHOOD, LAMBDA_BOTH)
        ),
    ]  # fmt: skip


def _check_frequencies(bench: Workbench, runs: list[ElasticNetRun]) -> list[Claim]:
    n_relevant = redundancy.find_scale(bench).n_relevant
    likely, both = ([run.frequency[ALPHA, strength] for run in runs] for strength in (LAMBDA_LIKELIHOOD, LAMBDA_BOTH))
    where = "Section 6.1.3, Figure 11, right"
    always = sum(bool((share[:n_relevant] == 1).all()) for share in both)
    noise = np.array([[share[n_relevant:].mean() for share in shares] for shares in (likely, both)])
    return [
        unconverted.fact(
            "α = 0.05, λ = 0.76: all relevant features are selected in every resample", where,
            holds=always > len(runs) / 2, rule="in more than half of the data sets",
            ours=f"in {always} of {len(runs)} data sets; mean frequency "
            f"{np.mean([share[:n_relevant].mean() for share in both]):.4f}",
        ),
        unconverted.fact("α = 0.05, λ = 0.76: irrelevant features are only rarely selected", where,
                   holds=float(np.mean(noise[1])) <= 0.05, rule="mean frequency at most 0.05",
                   ours=f"{np.mean(noise[1]):.3f}"),
        check_gain("Irrelevant features are selected a lot more often at λ = 0.16 than at λ = 0.76",
                   "Section 6.1.3, Figure 11", (noise[0] - noise[1]).tolist()),
    ]  # fmt: skip


def _draw_curves(runs: list[ElasticNetRun]) -> Picture:
    curves = {f"α = {alpha:g}": [run.curves[alpha] for run in runs] for alpha in runs[0].curves}
    quantities = {"features": "mean number selected", "log-likelihood": "log-likelihood", "stability": "stability"}
    table = redundancy.curve_table(curves, quantities)
    likely, both = (np.mean([run.at(at, "stability") for run in runs]) for at in (LAMBDA_LIKELIHOOD, LAMBDA_BOTH))
    title = f"Stability at α = {ALPHA:g}: {likely:.2f} at λ = {LAMBDA_LIKELIHOOD:g}, {both:.2f} at λ = {LAMBDA_BOTH:g}"
    return Picture(
        name="curves", chart=plots.plot_setting(table, "lambda", lines="mix of penalties", title=title),
        caption="Number of selected features, log-likelihood and stability against λ for several α, beside Figure 10: "
        f"means over {len(runs)} data sets, with the 95 % interval of the mean; no stability where nothing is "
        "selected.",
    )  # fmt: skip


def _draw_frequencies(bench: Workbench) -> Picture:
    result, truth = _run(bench, 0), redundancy.draw_data(bench, RHO, 0).truth
    names = {
        float(result.settings(name)["penalty_strength"]): name
        for name in result.candidates
        if result.settings(name)["l1_ratio"] == ALPHA
    }
    recoveries = {
        f"λ = {strength:g}": result.recovery(truth, names[strength]) for strength in (LAMBDA_LIKELIHOOD, LAMBDA_BOTH)
    }
    return Picture(
        name="frequencies", chart=plots.plot_recovery(recoveries),
        caption="Selection frequency of every feature with α = 0.05 on the first data set, beside Figure 11.",
    )  # fmt: skip


def _compare_with_lasso(bench: Workbench, runs: list[ElasticNetRun]) -> str:
    """Stability and likelihood against the lasso on the same data sets and resamples."""
    lasso = redundancy.find_lasso(bench, RHO)
    pairs = list(zip(runs, lasso, strict=True))
    gains = [run.at(LAMBDA_BOTH, "stability") - np.nanmax(other.column("nogueira")) for run, other in pairs]
    likelier = [run.at(LAMBDA_BOTH, "log-likelihood") - other.column("log_likelihood").max() for run, other in pairs]
    stability, low, high = redundancy.mean_interval(gains)
    likelihood, least, most = redundancy.mean_interval(likelier)
    return (
        f"On the same data sets and resamples, the elastic net at α = {ALPHA:g}, λ = {LAMBDA_BOTH:g} against the "
        f"lasso: the stability is {stability:+.2f} ({low:+.2f} to {high:+.2f}) against the most stable λ of the lasso, "
        f"and the log-likelihood per row {likelihood:+.3f} ({least:+.3f} to {most:+.3f}) against the likeliest."
    )


def _tell_likeliest(mean: dict[float, pd.DataFrame], stability: float = 0.95) -> str:
    """Which penalties are likeliest among those that are very stable."""
    stable = [
        (row["log-likelihood"], alpha, strength, row["features"])
        for alpha, curve in mean.items()
        for strength, row in curve.to_dict("index").items()
        if row["stability"] >= stability
    ]
    if not stable:
        return f"No pair of α and λ has a mean stability of {stability:g}."
    likelihood, alpha, strength, features = max(stable)
    printed = mean[ALPHA]["log-likelihood"].to_dict()[LAMBDA_BOTH]
    return (
        f"Among all pairs with a mean stability of at least {stability:g}, the likeliest is α = {alpha:g}, λ = "
        f"{strength:g}: log-likelihood {likelihood:.3f} per row with {features:.1f} features; the printed pair has "
        f"{printed:.3f}."
    )
