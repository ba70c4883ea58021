"""The lasso at four redundancies: likelihood against stability, and what is selected (section 6.1.2)."""

from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from holdfast.plots.theme import finish_chart, inline_data
from reproductions import redundancy
from reproductions.experiments import experiment
from reproductions.records import Claim, Evidence, Outcome, Picture, Rule, Table
from reproductions.redundancy import (
    BOTH,
    MOST,
    NEAR,
    REDUNDANCIES,
    WORDS,
    Choice,
    LassoRun,
    by_both,
    distance,
    draw_curves,
    draw_points,
    gain,
    judge,
    judge_errors,
    run_lasso,
    share_of_sets,
)  # fmt: skip
from reproductions.workbench import Workbench

PAPER = "nogueira2018"
LAMBDA_LIKELIHOOD, LAMBDA_BOTH = 0.0051, 0.0187
"""Figure 6b and the text of section 6.1.2: low redundancy."""
TABLE_5 = {
    "none": ((0, 0), (0, 0)),
    "low": ((14, 19), (0, 20)),
    "medium": ((0, 26), (0, 26)),
    "high": ((12, 38), (0, 39)),
}
"""False positives and false negatives by redundancy: at the best likelihood, and by both (Table 5)."""
WHERE = "Section 6.1.2"
Runs = list[LassoRun]


def find_all(bench: Workbench) -> dict[str, Runs]:
    """Return the runs of the lasso by redundancy."""
    return {level: run_lasso(bench, rho) for level, rho in REDUNDANCIES.items()}


def make_protocol(bench: Workbench) -> str:
    """Return what was done, in words."""
    return (
        f"{redundancy.describe_protocol(bench)} The log-likelihood is a mean over rows, the stability that of "
        f"Definition 4. {redundancy.TOLD}"
    )


@experiment(
    PAPER, "figure6", shows="Figure 6", title="the lasso: likelihood and stability against the penalty",
    question="Does a stronger penalty than the likeliest one buy stability at a small loss of likelihood?",
)  # fmt: skip
def likelihood_and_stability(bench: Workbench) -> Outcome:
    """Out-of-bag log-likelihood and stability against the penalty strength, at four redundancies."""
    found = find_all(bench)
    low, none = found["low"], found["none"]
    rules: tuple[Choice, ...] = ("likelihood", "most stable")
    ends = {column: np.array([[run.at_choice(rule, column) for rule in rules] for run in none])
            for column in ("log_likelihood", "nogueira")}  # fmt: skip
    gains = [run.at(LAMBDA_BOTH, "nogueira") - run.at(LAMBDA_LIKELIHOOD, "nogueira") for run in low]
    losses = [run.at_choice("likelihood", "log_likelihood") - run.at(LAMBDA_BOTH, "log_likelihood") for run in low]
    highest = ", ".join(f"{np.mean([run.curve['nogueira'].max() for run in runs]):.2f} ({level})"
                        for level, runs in found.items())  # fmt: skip
    rates = [np.mean([run.at(at, "misclassified") for run in low]) for at in (LAMBDA_LIKELIHOOD, LAMBDA_BOTH)]
    flat = (
        "The curve is flat near its highest point, and neighboring λ have other resamples, so that the highest point "
        "varies from draw to draw."
    )
    return Outcome(
        claims=[
            judge("Without redundancy the likeliest and the most stable λ have similar likelihoods.", "Figure 6", WHERE,
                  "similar values", gain(ends["log_likelihood"][:, 0] - ends["log_likelihood"][:, 1], 4),
                  Rule.word("similar", "likelihood")),
            judge("Without redundancy the likeliest and the most stable λ have similar stabilities.", "Figure 6", WHERE,
                  "similar values", gain(ends["nogueira"][:, 1] - ends["nogueira"][:, 0], 4),
                  Rule.word("similar", "stability")),
            judge("Low redundancy: λ = 0.0051 has the best likelihood.", "Figure 6", WHERE, "0.0051",
                  distance("0.0051", [run.choose("likelihood") for run in low], "factors"), NEAR,
                  f"{flat} The paper of 2016 has 0.009 for the same design."),
            judge("Low redundancy: λ = 0.0187 has the highest stability.", "Figure 6", WHERE, "0.0187",
                  distance("0.0187", [run.choose("most stable") for run in low], "factors", 3), NEAR, flat),
            judge("Low redundancy: the stability at λ = 0.0187 is 0.63.", "Figure 6", WHERE, "0.63",
                  distance("0.63", [run.at(LAMBDA_BOTH, "nogueira") for run in low]), NEAR),
            judge("Low redundancy: λ = 0.0187 is considerably more stable than λ = 0.0051.", "Figure 6", WHERE,
                  "quite significant", gain(gains), Rule.word("considerably", "stability")),
            judge("Low redundancy: λ = 0.0187 loses a negligible log-likelihood per row.", "Figure 6", WHERE,
                  "a negligible amount", gain(losses, 4), Rule.word("negligible", "likelihood"),
                  f"The loss is against the best λ of each data set. Of rows {rates[0]:.3f} are misclassified at λ = "
                  f"0.0051 and {rates[1]:.3f} at λ = 0.0187."),
        ],
        pictures=[
            Picture(
                name="curves", exhibit="Figure 6",
                chart=draw_curves(found, {"log_likelihood": "log-likelihood", "nogueira": "stability"}, "nogueira",
                                  f"Highest stability by redundancy: {highest}"),
                caption="Log-likelihood (left) and stability (right) against λ, in the layout of Figure 6: means over "
                f"{len(low)} data sets. Dashed: the λ of the best likelihood (pink) and of the highest stability "
                "(black).",
            )
        ],
        protocol=make_protocol(bench),
    )  # fmt: skip


# Fronts


@experiment(
    PAPER, "figure7", shows="Figures 7 and 8", title="the lasso: fronts of likelihood and stability",
    question="Which stabilities can be had for which likelihood, and what does redundancy change?",
)  # fmt: skip
def fronts(bench: Workbench) -> Outcome:
    """Stability against likelihood, and the fronts, at four redundancies."""
    found = find_all(bench)
    ranks = [run.curve["log_likelihood"].corr(run.curve["nogueira"], method="spearman") for run in found["none"]]
    highest = {level: np.array([run.curve["nogueira"].max() for run in runs]) for level, runs in found.items()}
    spans = {
        column: {level: gain([np.ptp(run.front[column]) for run in runs], 3) for level, runs in found.items()}
        for column in ("log_likelihood", "misclassified")
    }
    reason = "The last steps of a front cost likelihood and hardly gain stability."
    return Outcome(
        claims=[
            judge("Without redundancy stability seems to be an increasing function of the likelihood (rank correlation "
                  "over λ).", "Figure 7", WHERE, "seems to be", gain(ranks), Rule.above(0.8)),
            *(
                judge(f"{WORDS[level].capitalize()}: of two λ with the same likelihood, the larger is clearly more "
                      "stable.", "Figure 7", WHERE, "clearly",
                      gain([gain_at_equal_likelihood(run) for run in found[level]]),
                      Rule.word("considerably", "stability"))
                for level in ("low", "medium", "high")
            ),
            *(
                judge(f"The best case for stability is lower at {WORDS[more]} than at {WORDS[less]}.", "Figure 8",
                      WHERE, "lower", gain(highest[less] - highest[more]), Rule.above(0))
                for less, more in pairwise(REDUNDANCIES)
            ),
            judge_spans("likelihood", spans["log_likelihood"], Rule.word("similar", "likelihood"), reason),
            judge_spans("misclassification rate", spans["misclassified"], Rule.word("similar", "accuracy"), reason),
        ],
        tables=[tabulate_fronts(found)],
        pictures=[draw_trade_offs(found), draw_fronts(found)],
        protocol=f"{make_protocol(bench)} A front holds the λ that no other beats in one and equals in the other. The "
        "misclassification rates in Figure 8 are drawn, not in the text that we have.",
    )  # fmt: skip


def gain_at_equal_likelihood(run: LassoRun) -> float:
    """Return how much more stable λ above the best likelihood are than λ below it that have the same, on average."""
    curve = run.curve.dropna().sort_index()
    best = int(np.argmax(curve["log_likelihood"].to_numpy()))
    below, above = curve.iloc[: best + 1], curve.iloc[best + 1 :]
    rising = np.maximum.accumulate(below["log_likelihood"].to_numpy())
    above = above[above["log_likelihood"] >= rising[0]]
    equal = np.interp(above["log_likelihood"], rising, below["nogueira"])
    return float((above["nogueira"] - equal).mean())


def judge_spans(what: str, spans: dict[str, Evidence], rule: Rule, reason: str) -> Claim:
    """Judge how far apart the two ends of a front are, where they are farthest."""
    widest = max(spans, key=lambda level: spans[level].value)
    listed = ", ".join(f"{level} {span}" for level, span in spans.items())
    return judge(f"All points of a front have a similar {what}, also at the redundancy where they differ most.",
                 "Figure 8", WHERE, "similar", spans[widest], rule, f"Spans: {listed}. {reason}")  # fmt: skip


def tabulate_fronts(found: dict[str, Runs]) -> Table:
    """Return the two ends of the fronts, as Figure 8 shows them."""
    rows = {}
    for level, runs in found.items():
        ends = {"most likely": [run.front.iloc[0] for run in runs], "most stable": [run.front.iloc[-1] for run in runs]}
        rows[level] = {
            "points": np.mean([len(run.front) for run in runs]),
            **{
                f"{name}, {end}": np.mean([point[column] for point in points])
                for name, column in (("log-likelihood", "log_likelihood"), ("stability", "nogueira"),
                                     ("misclassified", "misclassified"))
                for end, points in ends.items()
            },
        }  # fmt: skip
    frame = pd.DataFrame(rows).T.rename_axis("redundancy")
    return Table(title="Both ends of the fronts, beside Figure 8: means over data sets", frame=frame, digits=3)


def draw_trade_offs(found: dict[str, Runs]) -> Picture:
    """Draw stability against likelihood, a panel per redundancy."""
    first = {f"ρ = {REDUNDANCIES[level]:g}": runs[0] for level, runs in found.items()}
    ends = ", ".join(f"{run.front['nogueira'].iloc[-1]:.2f} ({name})" for name, run in first.items())
    return Picture(
        name="trade-offs", exhibit="Figure 7",
        chart=draw_points(first, f"Highest stability on the fronts: {ends}", x="log_likelihood", y="nogueira",
                          titles=("log-likelihood", "stability")),
        caption="Stability with 95 % intervals against log-likelihood, in the layout of Figure 7, on the first data "
                "set of each redundancy.",
    )  # fmt: skip


def draw_fronts(found: dict[str, Runs]) -> Picture:
    """Draw the four fronts in one picture, with the misclassification rates at their ends."""
    fronts, ends = [], []
    for level, runs in found.items():
        front = runs[0].front.assign(redundancy=f"ρ = {REDUNDANCIES[level]:g}")
        fronts.append(front)
        ends += [front.iloc[[0]], front.iloc[[-1]]]
    marks = pd.concat(ends).assign(label=lambda own: own["misclassified"].map("{:.1%}".format))
    columns = {"log_likelihood": "likelihood", "nogueira": "stability"}
    base: dict[str, Any] = {
        "x": alt.X("likelihood:Q", title="log-likelihood"), "y": "stability:Q", "color": "redundancy:N",
    }  # fmt: skip
    kept = [*columns.values(), "redundancy"]
    lines = alt.Chart(inline_data(pd.concat(fronts).rename(columns=columns)[kept])).mark_line(point=True).encode(**base)
    text = alt.Chart(inline_data(marks.rename(columns=columns)[[*kept, "label"]]))
    chart: Any = alt.layer(lines, text.mark_text(dy=-9, fontSize=10).encode(**base, text="label:N"))
    finding = "Fronts on the first data sets: with redundancy stability costs likelihood, and its best case is lower"
    return Picture(
        name="fronts", exhibit="Figure 8",
        chart=finish_chart(chart.properties(width=440, height=300), finding,
                           ["numbers: misclassification rates at both ends"], width=520),
        caption="The four fronts of stability against log-likelihood, in the layout of Figure 8.",
    )  # fmt: skip


# What is selected


@experiment(
    PAPER, "table5", shows="Figure 9 and Table 5", title="the lasso: frequencies, and errors of the final fit",
    question="Does a penalty that is chosen by likelihood and stability spare irrelevant features?",
)  # fmt: skip
def final_features(bench: Workbench) -> Outcome:
    """Selection frequencies at high redundancy, and false positives and negatives of the final fit at all."""
    found = find_all(bench)
    high = found["high"]
    never = [[float((run.false_shares(run.choose(rule)) > 0).sum()) for run in high] for rule in BOTH]
    at_printed = [run.at(LAMBDA_LIKELIHOOD, "false_positives") for run in found["low"]]
    reason = (
        "A smaller λ selects more irrelevant features, and the likeliest λ varies from draw to draw; at the printed λ "
        f"= 0.0051 of low redundancy our final fits have {np.mean(at_printed):.1f} false positives "
        f"({min(at_printed):.0f} to {max(at_printed):.0f})."
    )
    cells = [
        claim
        for level, printed in TABLE_5.items()
        for claim in judge_errors(
            level, printed, found[level], "nogueira", exhibit="Table 5", where=WHERE, reason=reason
        )
    ]
    labels: dict[str, Choice] = {"best likelihood": "likelihood", "both": BOTH[0]}
    shares = {
        f"{label}, λ = {high[0].choose(rule):.2g}": high[0].shares(high[0].choose(rule))
        for label, rule in labels.items()
    }
    return Outcome(
        claims=[
            judge("High redundancy, λ by both: no irrelevant feature is selected in any resample.", "Figure 9", WHERE,
                  "0", by_both([distance("0", own, "counts", 1) for own in never]), NEAR),
            judge("High redundancy, λ by likelihood: relevant and irrelevant features cannot be told apart by their "
                  "frequencies.", "Figure 9", WHERE, "cannot",
                  share_of_sets([run.overlaps(run.choose("likelihood")) for run in high]), MOST),
            *cells,
        ],
        tables=[Table(title="False positives (FP) and false negatives (FN) of the final fit beside Table 5: means over "
                      "data sets, by the rule that chose λ", frame=redundancy.error_table(found, "nogueira"))],
        pictures=[redundancy.picture_frequencies("Figure 9", shares, "at high redundancy on the first data set")],
        protocol=make_protocol(bench),
    )  # fmt: skip
