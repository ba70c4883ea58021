"""The lasso on data of known redundancy: error, stability and what is selected (section 5)."""

from itertools import pairwise

import numpy as np

from reproductions import redundancy
from reproductions.experiments import experiment
from reproductions.records import Outcome, Picture, Rule, Table
from reproductions.redundancy import (
    BOTH,
    MOST,
    NEAR,
    WORDS,
    by_both,
    distance,
    draw_curves,
    draw_points,
    gain,
    judge,
    judge_errors,
    run_lasso,
    share_of_sets,
)
from reproductions.workbench import Workbench

PAPER = "nogueira2016"
LAMBDA_NONE, LAMBDA_ERROR, LAMBDA_BOTH = 4.12e-4, 0.009, 0.023
"""Printed penalty strengths: section 5.2, Figures 4 and 5."""
WHERE = "Section 5.2"
TABLE_2 = {
    "low": ((4, 17), (0, 17)),
    "medium": ((7, 24), (0, 25)),
    "high": ((5, 35), (0, 33)),
}
"""False positives and false negatives, by redundancy: at the least error, and by error and stability (Table 2)."""
PANELS = {"error": "error (sum over rows)", "pearson": "stability"}
NO_RULE = (
    "The paper has no rule for the trade-off, and its data set is not published; the two readings of “by both” lie on "
    "different sides of the printed λ."
)


@experiment(
    PAPER, "figure4", shows="Figure 4", title="the lasso without redundancy: error and stability",
    question="Without redundancy, is the penalty of least error also that of the highest stability?",
)  # fmt: skip
def no_redundancy(bench: Workbench) -> Outcome:
    """Error and stability of the lasso against the penalty strength, for independent relevant features."""
    runs = run_lasso(bench, 0.0)
    lost = [run.curve["pearson"].max() - run.at_choice("likelihood", "pearson") for run in runs]
    at_end = [run.curve["error"].idxmin() == LAMBDA_NONE for run in runs]
    return Outcome(
        claims=[
            judge("At λ = 4.12e-4 the error is 0.30.", "Figure 4", WHERE, "0.30",
                  distance("0.30", [run.at(LAMBDA_NONE, "error") for run in runs]), NEAR),
            judge("At λ = 4.12e-4 the stability is 0.98.", "Figure 4", WHERE, "0.98",
                  distance("0.98", [run.at(LAMBDA_NONE, "pearson") for run in runs], digits=3), NEAR),
            judge("The λ of least error is as stable as the most stable one.", "Figure 4", WHERE, "the same λ",
                  gain(lost, 4), Rule.word("negligible", "stability")),
        ],
        pictures=[picture_curves("none", runs, "Figure 4")],
        protocol=f"{redundancy.describe_protocol(bench)} The error is minus the log-likelihood, *summed* over the "
        "out-of-bag rows; the stability is the mean correlation of pairs of selections.",
        notes=[
            f"The error is least at the end of the path, λ = {LAMBDA_NONE:g}, on {sum(at_end)} of {len(runs)} data "
            "sets: where classes can be separated the likelihood grows as λ falls, and a solver ends the path where "
            "hardly any deviance is left (glmnet at 0.1 %). Whether `lassoglm` of Matlab, from which the authors took "
            "their λ, does so too was not tried."
        ],
    )  # fmt: skip


def picture_curves(level: str, runs: list[redundancy.LassoRun], exhibit: str) -> Picture:
    """Return the picture of error and stability against λ."""
    highest = np.mean([run.curve["pearson"].max() for run in runs])
    least = np.mean([run.curve["error"].min() for run in runs])
    finding = f"{WORDS[level].capitalize()}: least error {least:.2f}, highest stability {highest:.2f}"
    return Picture(
        name=f"curves-{level}", exhibit=exhibit, chart=draw_curves({level: runs}, PANELS, "pearson", finding),
        caption=f"Error and stability against λ, in the layout of {exhibit}: means over {len(runs)} data sets. Dashed: "
        "the λ of the best likelihood (pink) and of the highest stability (black).",
    )  # fmt: skip


@experiment(
    PAPER, "figure5", shows="Figures 5 and 6", title="the lasso at redundancy 0.3: error, stability, frequencies",
    question="Can stability be raised at a small cost in error, and are irrelevant features then told apart?",
)  # fmt: skip
def low_redundancy(bench: Workbench) -> Outcome:
    """The penalty strengths of least error and of the trade-off, and how often features are selected there."""
    runs = run_lasso(bench, 0.3)
    by_error = [run.choose("likelihood", "pearson") for run in runs]
    gains = [run.at(LAMBDA_BOTH, "pearson") - run.at(LAMBDA_ERROR, "pearson") for run in runs]
    losses = [run.at_choice("likelihood", "log_likelihood") - run.at(LAMBDA_BOTH, "log_likelihood") for run in runs]
    noise = [run.false_shares(LAMBDA_BOTH) for run in runs]
    front = {"first data set": runs[0]}
    shares = {f"λ = {strength:g}": runs[0].shares(strength) for strength in (LAMBDA_ERROR, LAMBDA_BOTH)}
    return Outcome(
        claims=[
            judge("The error is least at λ = 0.009.", "Figure 5", WHERE, "0.009",
                  distance("0.009", by_error, "factors"), NEAR),
            judge("Error and stability together suggest λ = 0.023.", "Figure 5", WHERE, "0.023", by_both(
                [distance("0.023", [run.choose(rule, "pearson") for run in runs], "factors") for rule in BOTH]
            ), NEAR, NO_RULE),
            judge("λ = 0.023 is considerably more stable than λ = 0.009.", "Figure 5", WHERE, "significantly",
                  gain(gains), Rule.word("considerably", "stability")),
            judge("λ = 0.023 sacrifices a small amount of error (log-likelihood per row).", "Figure 5", WHERE,
                  "a small amount", gain(losses, 4), Rule.word("similar", "likelihood")),
            judge("At λ = 0.023 two of the 50 irrelevant features are selected in any sample.", "Figure 6", WHERE, "2",
                  distance("2", [float((shares > 0).sum()) for shares in noise], "counts", 1), NEAR),
            judge("At λ = 0.023 no irrelevant feature is selected in more than one of 100 samples.", "Figure 6", WHERE,
                  "1", distance("1", [100 * float(shares.max()) for shares in noise], "counts", 1), NEAR),
            judge("At λ = 0.009 relevant and irrelevant features cannot be told apart by their frequencies.",
                  "Figure 6", WHERE, "cannot", share_of_sets([run.overlaps(LAMBDA_ERROR) for run in runs]), MOST),
        ],
        pictures=[
            picture_curves("low", runs, "Figure 5"),
            Picture(
                name="front", exhibit="Figure 5",
                chart=draw_points(front, f"λ = 0.023 is {np.mean(gains):.2f} more stable than λ = 0.009, on average",
                                  x="error", y="pearson", titles=(PANELS["error"], PANELS["pearson"])),
                caption="Stability against error, in the layout of Figure 5, right, on the first data set.",
            ),
            redundancy.picture_frequencies("Figure 6", shares, "at redundancy 0.3 on the first data set"),
        ],
        protocol=f"{redundancy.describe_protocol(bench)} {redundancy.TOLD}",
    )  # fmt: skip


@experiment(
    PAPER, "table2", shows="Table 2", title="false positives and negatives of the final fit",
    question="Does a penalty that is chosen by error and stability spare irrelevant features, and keep relevant ones?",
)  # fmt: skip
def final_features(bench: Workbench) -> Outcome:
    """Errors of a lasso on the other half of the rows, with penalty strengths chosen by error, or stability too."""
    found = {level: run_lasso(bench, redundancy.REDUNDANCIES[level]) for level in TABLE_2}
    claims = [
        claim
        for level, printed in TABLE_2.items()
        for claim in judge_errors(level, printed, found[level], "pearson", exhibit="Table 2", where=WHERE)
    ]
    highest = {level: np.array([run.at_choice("most stable", "pearson", "pearson") for run in runs])
               for level, runs in found.items()}  # fmt: skip
    claims += [
        judge(f"Points of the front are less stable at {WORDS[more]} than at {WORDS[less]}.", "", WHERE,
              "smaller stability values", gain(highest[less] - highest[more]), Rule.above(0))
        for less, more in pairwise(found)
    ]  # fmt: skip
    return Outcome(
        claims=claims,
        tables=[Table(title="False positives (FP) and false negatives (FN) of the final fit beside Table 2: means over "
                      "data sets, by the rule that chose λ", frame=redundancy.error_table(found, "pearson"))],
        protocol=f"{redundancy.describe_protocol(bench)} {redundancy.TOLD}",
    )  # fmt: skip
