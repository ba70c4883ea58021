"""The lasso at four redundancies: likelihood against stability, and what is selected (section 6.1.2)."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pandas as pd

from holdfast import plots
from holdfast.tradeoff import pareto_front
from reproductions import redundancy, unconverted
from reproductions.experiments import experiment
from reproductions.records import Claim, Outcome, Picture, Table
from reproductions.redundancy import (
    MAX_STABLE,
    REDUNDANCIES,
    SCORE,
    WORDS,
    LassoFindings,
    check_draw,
    check_gain,
    mean_interval,
)
from reproductions.workbench import Workbench

PAPER = "nogueira2018"
LAMBDA_LIKELIHOOD, LAMBDA_BOTH, STABILITY_BOTH = 0.0051, 0.0187, 0.63
"""Figure 6b and the text of section 6.1.2: low redundancy."""
TABLE_5 = {
    "none": ((0, 0), (0, 0)),
    "low": ((14, 19), (0, 20)),
    "medium": ((0, 26), (0, 26)),
    "high": ((12, 38), (0, 39)),
}
"""False positives and false negatives by redundancy: at the best likelihood, and by both (Table 5)."""
Found = Mapping[str, list[LassoFindings]]


def _find_all(bench: Workbench) -> dict[str, list[LassoFindings]]:
    return {level: redundancy.find_lasso(bench, rho) for level, rho in REDUNDANCIES.items()}


def _gains(found: list[LassoFindings], after: float, before: float, column: str) -> list[float]:
    return [findings.at(after, column) - findings.at(before, column) for findings in found]


@experiment(PAPER, "figure6", shows="Figure 6", title="the lasso: likelihood and stability against the penalty")
def likelihood_and_stability(bench: Workbench) -> Outcome:
    """Out-of-bag log-likelihood and stability against the penalty strength, at four redundancies."""
    found = _find_all(bench)
    apart = {
        column: float(np.mean([
            abs(findings.at_choice("likelihood", column) - findings.at_choice(MAX_STABLE, column))
            for findings in found["none"]
        ]))
        for column in ("log_likelihood", "nogueira")
    }  # fmt: skip
    similar = unconverted.fact(
        "Without redundancy, the λ of the best likelihood and of the highest stability give similar values of both",
        "Section 6.1.2, Figure 6a", holds=max(apart.values()) <= 0.02,
        rule="both differ by at most 0.02 on average over data sets",
        ours=f"log-likelihood {apart['log_likelihood']:.4f}, stability {apart['nogueira']:.4f}",
    )  # fmt: skip
    return Outcome(
        claims=[similar, *_check_strengths(found["low"]), *_check_gain(found["low"])],
        pictures=[_picture(found)], protocol=_protocol(bench), notes=[_tell_gain(bench, found["low"])],
    )  # fmt: skip


def _check_strengths(found: list[LassoFindings]) -> list[Claim]:
    """The printed penalty strengths of low redundancy."""
    reasons = []
    for column in ("log_likelihood", "nogueira"):
        low, high = redundancy.spread_of_best(found, column)
        reasons.append(
            "The curve is flat near its highest point. If each λ had resamples of its own, as in the authors' script, "
            f"the highest point would lie between λ = {low:.2g} and {high:.2g} in 95 % of draws."
        )
    return [
        check_draw("Low redundancy: λ = 0.0051 has the best likelihood", "Section 6.1.2, Figure 6b", by_factors=True,
                   published=LAMBDA_LIKELIHOOD, ours=[findings.chosen["nogueira", "likelihood"] for findings in found],
                   if_missed=f"{reasons[0]} The paper of 2016 has 0.009 for the same design."),
        check_draw("Low redundancy: λ = 0.0187 has the highest stability", "Figure 6b, black line", by_factors=True,
                   digits=3, published=LAMBDA_BOTH, if_missed=reasons[1],
                   ours=[findings.chosen["nogueira", MAX_STABLE] for findings in found]),
    ]  # fmt: skip


def _lost_likelihood(found: list[LassoFindings]) -> list[float]:
    """What the printed compromise loses against the best likelihood."""
    return [findings.column("log_likelihood").max() - findings.at(LAMBDA_BOTH, "log_likelihood") for findings in found]


def _check_gain(found: list[LassoFindings]) -> list[Claim]:
    lost = np.mean(_lost_likelihood(found))
    error = np.mean([findings.at_choice("likelihood", "log_likelihood_se") for findings in found])
    rates = [
        np.mean([findings.at(at, "misclassified") for findings in found]) for at in (LAMBDA_LIKELIHOOD, LAMBDA_BOTH)
    ]
    return [
        check_draw("Low redundancy: the stability at λ = 0.0187 is 0.63", "Section 6.1.2", published=STABILITY_BOTH,
                   ours=[findings.at(LAMBDA_BOTH, "nogueira") for findings in found], rounding=0.005),
        check_gain("Low redundancy: λ = 0.0187 is more stable than λ = 0.0051", "Section 6.1.2",
                   _gains(found, LAMBDA_BOTH, LAMBDA_LIKELIHOOD, "nogueira")),
        unconverted.fact(
            "Low redundancy: λ = 0.0187 sacrifices a negligible amount of likelihood", "Section 6.1.2",
            holds=bool(lost <= error), rule="on average less than one standard error of the best likelihood",
            ours=f"{lost:.4f} lost, standard error {error:.4f}",
            if_missed=f"The share of misclassified rows is {rates[0]:.3f} at λ = 0.0051 and {rates[1]:.3f} at 0.0187.",
        ),
    ]  # fmt: skip


def _protocol(bench: Workbench) -> str:
    return (
        f"{redundancy.describe_protocol(bench)} The paper does not say which λ it tried. The log-likelihood is a mean "
        "over rows, the stability that of Definition 4."
    )


def _picture(found: Found) -> Picture:
    curves = {
        f"{level}, rho = {REDUNDANCIES[level]:g}": [findings.curve for findings in drawn]
        for level, drawn in found.items()
    }
    table = redundancy.curve_table(curves, {"log_likelihood": "log-likelihood", "nogueira": "stability"})
    n_sets = len(next(iter(found.values())))
    highest = table[table["quantity"] == "stability"].groupby("line", sort=False)["value"].max()
    title = f"Highest stability by redundancy: {', '.join(f'{value:.2f} ({line})' for line, value in highest.items())}"
    return Picture(
        name="curves", chart=plots.plot_setting(table, "lambda", lines="redundancy", title=title),
        caption=f"Log-likelihood and stability against λ, beside Figure 6: means over {n_sets} data sets at each "
        "redundancy, with the 95 % interval of the mean.",
    )  # fmt: skip


def _tell_gain(bench: Workbench, found: list[LassoFindings]) -> str:
    result = redundancy.run_lasso(bench, REDUNDANCIES["low"])
    gains = _gains(found, LAMBDA_BOTH, LAMBDA_LIKELIHOOD, "nogueira")
    mean, low, high = mean_interval(gains)
    losses = _lost_likelihood(found)
    return (
        f"{redundancy.tell_difference(result, LAMBDA_LIKELIHOOD, LAMBDA_BOTH, 'nogueira')} Over {len(gains)} data sets "
        f"the gain is {mean:.2f} ({low:.2f} to {high:.2f}), and the log-likelihood that λ = {LAMBDA_BOTH:g} loses "
        f"against the best is {np.mean(losses):.4f} per row, {max(losses):.4f} at most."
    )


# Fronts


@experiment(PAPER, "figure7", shows="Figures 7 and 8", title="the lasso: Pareto fronts of likelihood and stability")
def fronts(bench: Workbench) -> Outcome:
    """Stability against likelihood, and the fronts by both definitions, at four redundancies."""
    found = _find_all(bench)
    ranks = [
        findings.curve["log_likelihood"].corr(findings.curve["nogueira"], method="spearman")
        for findings in found["none"]
    ]
    highest = {level: [findings.curve["nogueira"].max() for findings in drawn] for level, drawn in found.items()}
    checks = [
        unconverted.fact(
            "Without redundancy, stability seems to be an increasing function of the likelihood", "Section 6.1.2, "
            "Figure 7a", holds=float(np.median(ranks)) >= 0.8, rule="rank correlation over λ of at least 0.8 in the "
            "median data set", ours=f"median {np.median(ranks):.2f}, from {min(ranks):.2f} to {max(ranks):.2f}",
        ),
        *(
            check_gain(f"{WORDS[level].capitalize()}: of two λ with the same likelihood, the larger is more stable",
                       "Section 6.1.2, Figure 7", [_gain_at_equal_likelihood(findings) for findings in found[level]])
            for level in ("low", "medium", "high")
        ),
        *(
            check_gain(f"The best case for stability is lower at {WORDS[more]} than at {WORDS[less]}",
                       "Section 6.1.2, Figure 8", np.subtract(highest[less], highest[more]).tolist())
            for less, more in pairwise(REDUNDANCIES)
        ),
        *_check_fronts(found),
    ]  # fmt: skip
    return Outcome(
        claims=checks, tables=[_front_table(found)],
        pictures=[_draw_front(bench, level) for level in REDUNDANCIES],
        protocol=f"{_protocol(bench)} Fronts by two definitions: the usual one drops a λ if another is at least as "
        "good in both and better in one; the paper's drops it only if another is better in both.",
        notes=[_tell_probabilities(bench)],
    )  # fmt: skip


def _gain_at_equal_likelihood(findings: LassoFindings) -> float:
    """How much more stable λ above the best likelihood are than λ below it that have the same, on average."""
    curve = findings.curve.sort_index()
    best = int(np.argmax(curve["log_likelihood"].to_numpy()))
    below, above = curve.iloc[: best + 1], curve.iloc[best + 1 :]
    above = above[above["log_likelihood"] >= below["log_likelihood"].iloc[0]].dropna()
    equal = np.interp(above["log_likelihood"], below["log_likelihood"], below["nogueira"])
    return float((above["nogueira"] - equal).mean())


def _front(findings: LassoFindings, rule: str = "usual") -> pd.DataFrame:
    """The front of a data set, the best likelihood first."""
    curve = findings.curve.dropna()
    on_front = pareto_front(curve["log_likelihood"], curve["nogueira"], rule)  # type: ignore[arg-type]
    return curve[on_front].sort_values("log_likelihood", ascending=False)


def _check_fronts(found: Found) -> list[Claim]:
    ends: dict[str, list[float]] = {"log_likelihood": [], "misclassified": []}
    for drawn in found.values():
        for column, widths in ends.items():
            widths.append(float(np.mean([np.ptp(_front(findings)[column]) for findings in drawn])))
    gained = ", ".join(
        f"{level} {_share_within_one_se(drawn):.0%}" for level, drawn in found.items() if level != "none"
    )
    reason = (
        "The last steps of a front cost likelihood and hardly gain stability: within one standard error of the best "
        f"likelihood, this share of its gain in stability is reached: {gained}."
    )
    parts = ", ".join(f"{level} {width:.3f}" for level, width in zip(found, ends["log_likelihood"], strict=True))
    rates = ", ".join(f"{level} {width:.3f}" for level, width in zip(found, ends["misclassified"], strict=True))
    return [
        unconverted.fact("All points of a front have a similar likelihood", "Section 6.1.2, Figure 8",
                   holds=max(ends["log_likelihood"]) <= 0.05, ours=f"spans: {parts}",
                   rule="a front spans at most 0.05 per row, on average over data sets, at every redundancy",
                   if_missed=reason),
        unconverted.fact("All points of a front have a similar misclassification rate", "Section 6.1.2, Figure 8",
                   holds=max(ends["misclassified"]) <= 0.02, ours=f"spans: {rates}",
                   rule="a front spans at most 0.02, on average over data sets, at every redundancy",
                   if_missed=reason),
    ]  # fmt: skip


def _share_within_one_se(found: list[LassoFindings]) -> float:
    """Which share of the gain in stability along the front the rule ``one-se`` has, on average."""
    start, near, end = (
        np.array([findings.at_choice(rule, "nogueira") for findings in found])
        for rule in ("likelihood", "one-se", MAX_STABLE)
    )
    return float(np.mean((near - start) / np.maximum(end - start, 1e-12)))


def _front_table(found: Found) -> Table:
    rows = {}
    for level, drawn in found.items():
        usual, weak = ([_front(findings, rule) for findings in drawn] for rule in ("usual", "weak"))
        first, last = ([front.iloc[end] for front in usual] for end in (0, -1))
        rows[level] = {
            "points": f"{np.mean([len(front) for front in usual]):.1f}",
            "points, paper's definition": f"{np.mean([len(front) for front in weak]):.1f}",
            **{
                f"{name}, {end}": f"{np.mean([point[column] for point in points]):.{digits}f}"
                for name, column, digits in (("log-likelihood", "log_likelihood", 4), ("stability", "nogueira", 3),
                                             ("misclassified", "misclassified", 3))
                for end, points in (("most likely", first), ("most stable", last))
            },
        }  # fmt: skip
    return Table(
        title="Fronts of likelihood and stability, beside Figure 8: number of points by the usual definition and by "
        "that of the paper, and the two ends of the usual one; means over data sets.",
        frame=pd.DataFrame(rows).T.rename_axis("redundancy"),
    )  # fmt: skip


def _draw_front(bench: Workbench, level: str) -> Picture:
    front = redundancy.run_lasso(bench, REDUNDANCIES[level]).pareto(SCORE, n_draws=0)
    return Picture(
        name=f"front-{level}", chart=plots.plot_pareto(front, score="log-likelihood"),
        caption=f"Stability against log-likelihood at {WORDS[level]} (rho = {REDUNDANCIES[level]:g}) on the first "
        "data set, every point a λ, with 95 % intervals on the front, beside Figures 7 and 8.",
    )  # fmt: skip


def _tell_probabilities(bench: Workbench) -> str:
    """How sure the fronts are, on the first data set."""
    parts = []
    for level, rho in REDUNDANCIES.items():
        frame = redundancy.run_lasso(bench, rho).pareto(SCORE, n_draws=bench.choose(500, 20)).frame
        known = frame["probability"]
        parts.append(
            f"{WORDS[level]}: {frame['on_front'].sum()} λ on the front, {(known >= 0.05).sum()} that would be on it "
            f"with a probability of at least 5 %, {(known >= 0.95).sum()} of at least 95 %"
        )
    return f"If the resamples of the first data set were drawn again: {'; '.join(parts)}."


# What is selected


@experiment(PAPER, "table5", shows="Figure 9 and Table 5", title="the lasso: frequencies, and errors of the final fit")
def final_features(bench: Workbench) -> Outcome:
    """Selection frequencies at high redundancy, and false positives and negatives of the final fit at all."""
    found, n_relevant = _find_all(bench), redundancy.find_scale(bench).n_relevant
    cells = [
        redundancy.check_errors(
            f"{WORDS[level].capitalize()}, optimizing {what}: errors of the final fit", "Table 5", printed=numbers,
            found=found[level], rule=rule, measure="nogueira", if_missed=_explain(level, found[level]),
        )
        for level, printed in TABLE_5.items()
        for numbers, what, rule in zip(printed, ("likelihood", "both"), ("likelihood", "one-se"), strict=True)
    ]  # fmt: skip
    return Outcome(
        claims=[*_check_frequencies(found["high"], n_relevant), *cells, *_check_changes(found)],
        tables=[Table(
            title="False positives (FP) and false negatives (FN) of the final fit, means over data sets, by the rule "
            "that chose λ, beside Table 5.", frame=redundancy.error_table(found, "nogueira"),
        )],
        pictures=[_draw_frequencies(bench)],
        protocol=f"{_protocol(bench)} *Optimizing both* is `one-se`, the most stable λ within one standard error of "
        "the best likelihood: the rule of this table, fixed before the full run, after a trial on the first data set; "
        "two others stand beside it. The paper has none.",
        notes=[redundancy.tell_rules(found, "nogueira")],
    )  # fmt: skip


def _explain(level: str, found: list[LassoFindings]) -> str:
    """What may be behind errors of a final fit that are unlike ours."""
    low, high = redundancy.spread_of_best(found, "log_likelihood")
    reason = (
        "A smaller λ selects more false features. If each λ had resamples of its own, as in the authors' script, the "
        f"best likelihood would lie between λ = {low:.2g} and {high:.2g} in 95 % of draws."
    )
    if level == "low":
        false = [findings.final[LAMBDA_LIKELIHOOD].false_positives for findings in found]
        reason += f" At the printed λ = 0.0051 our final fits have {np.mean(false):.1f} ({min(false)} to {max(false)})."
    return reason


def _check_frequencies(found: list[LassoFindings], n_relevant: int) -> list[Claim]:
    shares = {
        rule: [findings.shares(findings.chosen["nogueira", rule]) for findings in found]
        for rule in ("likelihood", "one-se")
    }
    overlap = sum(bool(share[n_relevant:].max() > share[:n_relevant].min()) for share in shares["likelihood"])
    return [
        check_draw("High redundancy, optimizing both: no irrelevant feature is selected in any resample",
                   "Section 6.1.2, Figure 9, right", published=0, digits=0, smallest=0,
                   ours=[float((share[n_relevant:] > 0).sum()) for share in shares["one-se"]]),
        unconverted.fact(
            "High redundancy, optimizing likelihood: relevant and irrelevant features cannot be told apart by their "
            "frequencies", "Section 6.1.2, Figure 9, left", holds=overlap == len(found),
            rule="some irrelevant feature is selected more often than some relevant one, in every data set",
            ours=f"in {overlap} of {len(found)} data sets",
        ),
    ]  # fmt: skip


def _check_changes(found: Found) -> list[Claim]:
    checks, where = [], "Section 6.1.2, Table 5"
    for level in ("low", "medium", "high"):
        title = WORDS[level].capitalize()
        fewer = redundancy.error_change(found[level], "nogueira", "false_positives")
        more = redundancy.error_change(found[level], "nogueira", "false_negatives")
        mean, low, high = mean_interval(more)
        checks += [
            check_gain(f"{title}: fewer false positives when optimizing both", where,
                       [-change for change in fewer]),
            unconverted.fact(f"{title}: a limited effect on the false negatives", where,
                       holds=abs(mean) <= 5, rule="on average at most 5 of 50 features",
                       ours=f"{mean:+.1f} ({low:+.1f} to {high:+.1f})"),
        ]  # fmt: skip
    return checks


def _draw_frequencies(bench: Workbench) -> Picture:
    rho = REDUNDANCIES["high"]
    result, findings = redundancy.run_lasso(bench, rho), redundancy.find_lasso(bench, rho)[0]
    truth = redundancy.draw_data(bench, rho, 0).truth
    recoveries = {}
    for label, rule in (("best likelihood", "likelihood"), ("both", "one-se")):
        strength = findings.chosen["nogueira", rule]
        recoveries[f"{label}, λ = {strength:.2g}"] = result.recovery(truth, redundancy.find_name(result, strength))
    return Picture(
        name="frequencies", chart=plots.plot_recovery(recoveries),
        caption="Selection frequency of every feature at high redundancy on the first data set, where λ has the best "
        "likelihood, and where it is chosen by both, beside Figure 9.",
    )  # fmt: skip
