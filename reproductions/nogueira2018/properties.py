"""Properties of measures: Figures 1 and 2, and Table 2."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reproductions.enumeration import (
    ALPHA,
    FINDERS,
    PRINTED,
    PROPERTIES,
    ROUNDING,
    check_exact,
    check_marks,
    describe_sizes,
    draw_by_size,
    enumerate_all,
    simulate_random,
    values_by_size,
)  # fmt: skip
from reproductions.experiments import experiment
from reproductions.records import Evidence, Outcome, Rule, Table
from reproductions.redundancy import judge
from reproductions.workbench import Workbench

PAPER = "nogueira2018"
NO_PROOF = {
    "Monotonicity": "The proof (C.2.1) differentiates by the mean overlap as if the mean similarity were a function of "
    "it, which it is only where all pairs have one slope.",
    "Correction": "The proof for Guzmán (C.5.2) divides Jensen's inequality by a negative number without turning it: "
    "the mean is above 0 for every finite M, and falls to 0 as M grows.",
}

# Figures 1 and 2


@experiment(
    PAPER, "figure1", shows="Figure 1", title="which measures are largest exactly where all runs agree",
    question="Which measures are at their maximum where runs differ, or vary with the size where all runs agree?",
)  # fmt: skip
def show_maximum(bench: Workbench) -> Outcome:
    """Half of the runs miss a feature; then all runs agree."""
    names = [name for name in PRINTED if name not in ("davis", "krizek")]
    differ, agree = values_by_size(names)
    at_one = [PRINTED[name][0] for name in names if differ[name].min() > 1 - ROUNDING]
    varying = [PRINTED[name][0] for name in names if np.ptp(agree[name]) > ROUNDING]
    shown = ("wald", "cw_rel", "lustgarten", "goh", "jaccard", "nogueira")
    return Outcome(
        claims=[
            check_exact("Wald's measure and CW_rel, and no others, are 1 where half of the runs miss a feature.",
                        "Section 3.4", float(at_one == ["Wald", "CW_rel"]), Rule.same("these of Table 2 at every k"),
                        exhibit="Figure 1", printed="Wald and CW_rel", shown=" and ".join(at_one)),
            check_exact("Lustgarten's and Goh's measures, and no others, vary with k though all runs agree.",
                        "Section 3.4", float(varying == ["Lustgarten", "Goh"]), Rule.same("these of Table 2"),
                        exhibit="Figure 1", printed="Lustgarten and Goh", shown=" and ".join(varying)),
        ],
        pictures=[
            draw_by_size(
                "Figure 1", {"half of the runs miss a feature": differ, "all runs agree": agree},
                {name: PRINTED[name][0] for name in shown},
                f"1 where runs differ: {' and '.join(at_one)}; vary though they agree: {' and '.join(varying)}",
                "Stability against the size k, in the two parts of Figure 1. Above, half of 100 runs select features 1 "
                "to k of 10, the others 1 to k − 1; Wald's measure and CW_rel coincide. Below, all select features 1 "
                "to k; Jaccard's index, Wald's and the new measure coincide, and from k = 5 on Goh's and Lustgarten's.",
            )
        ],
        protocol="d = 10 features, M = 100 runs, as in the paper; the values are exact. Davis' measure, whose penalty "
                 "is not given, and Krízek's, which is lower for more stable selections, are left out.",
    )  # fmt: skip


@experiment(
    PAPER, "figure2", shows="Figure 2", title="measures of random selections against their size",
    question="Is the stability of random selections the same whatever their size?",
)  # fmt: skip
def show_correction(bench: Workbench) -> Outcome:
    """Random sets of k features: which measures stay at one value."""
    repeats, names = bench.choose(200, 5), ("hamming", "pog", "jaccard", "dice", "kuncheva")
    drawn = simulate_random(bench, names, range(1, 10), repeats)
    means, errors = drawn.mean(), drawn.sem()
    steps, kuncheva = np.diff(means["dice"]), means["kuncheva"].to_numpy()
    least, farthest = int(steps.argmin()), int(np.abs(kuncheva).argmax())
    spread = np.hypot(*errors["dice"].to_numpy()[least : least + 2])
    varied, ends = f"{repeats} collections of each size", means["dice"].to_numpy()[[0, -1]]
    return Outcome(
        claims=[
            judge("By Dice's index the stability of random selections rises with each feature more (least step).",
                  "Figure 2", "Section 3.5", "systematically increases",
                  Evidence.from_error(steps[least], spread, varied, digits=3), Rule.above(0)),
            judge("Kuncheva's measure is close to 0 for random selections of any size (farthest mean).", "Figure 2",
                  "Section 3.5", "close to 0",
                  Evidence.from_error(kuncheva[farthest], errors["kuncheva"].to_numpy()[farthest], varied, digits=4),
                  Rule.word("the same", "stability")),
        ],
        pictures=[
            draw_by_size(
                "Figure 2", {"stability": means}, {name: PRINTED[name][0] for name in names},
                f"For random selections Kuncheva's measure is within {np.abs(kuncheva).max():.4f} of 0; Dice's index "
                f"goes from {ends[0]:.2f} to {ends[1]:.2f}",
                "Stability of random selections against their size, in the layout of Figure 2. Dice and POG coincide.",
            )
        ],
        protocol=f"d = 10, M = 100 as in the paper; it shows one collection for each k, we average {repeats}.",
    )  # fmt: skip


# Table 2


@experiment(
    PAPER, "table2", shows="Table 2", title="properties of 16 measures, by enumeration",
    question="Which measure has which of the five properties?",
)  # fmt: skip
def tabulate_properties(bench: Workbench) -> Outcome:
    """Ticks as printed, beside counter-examples among all small collections."""
    known = enumerate_all(bench)
    found = {column: {name: FINDERS[column](name, known) for name in PRINTED} for column in PROPERTIES}
    marks = {
        column: {name: ticks[place] for name, (_, ticks) in PRINTED.items()} for place, column in enumerate(PROPERTIES)
    }
    signs = {("✓", True): "✗", ("✓", False): "✓", ("–", True): "–", ("–", False): "?"}
    frame = pd.DataFrame(
        {column: {PRINTED[name][0]: signs[marks[column][name], bool(found[column][name])] for name in PRINTED}
         for column in PROPERTIES}
    ).rename_axis("measure")  # fmt: skip
    wrong = [
        (PRINTED[name][0], column, found[column][name])
        for name in PRINTED for column in PROPERTIES if marks[column][name] == "✓" and found[column][name]
    ]  # fmt: skip
    in_table = [row for row in wrong if row[0] != PRINTED["nogueira"][0]]
    lacking = [f"{column}: {text}" for name, column, text in wrong if name == PRINTED["nogueira"][0]]
    from_literature = [name for name in PRINTED if name != "nogueira"]
    n_marks = len(from_literature) * len(PROPERTIES)
    return Outcome(
        claims=[
            *(
                check_marks("Table 2", column, {name: marks[column][name] for name in from_literature}, found[column],
                            NO_PROOF.get(column, "See the counter-examples."))
                for column in PROPERTIES
            ),
            check_exact("The new measure has all five properties.", "Section 4.1", float(not lacking),
                        Rule.same("no collection contradicts any of them"), printed="5 of 5",
                        shown="; ".join(lacking) or "no counter-example", reason="Theorem 3 treats runs of different "
                        "sizes as draws from one distribution. For selections of one size the expectation is exactly "
                        "0; else it is below 0 by an amount of the order of 1/M."),
        ],
        sentences={"Table 2": f"{n_marks - len(in_table)} of {n_marks} marks are right; {len(in_table)} ticks are not: "
                   + ", ".join(f"{column} of {name}" for name, column, _ in in_table) + "."},
        tables=[
            Table(title="Table 2: ✓ and – as printed and as enumerated; ✗ a printed ✓ with a counter-example; ? a "
                  "printed – without one", frame=frame),
            Table(title="The smallest counter-example to each wrong tick; runs as rows of 0 and 1",
                  frame=pd.DataFrame(wrong, columns=["measure", "property", "counter-example"])),
        ],
        protocol=f"Evaluated were {describe_sizes(known)}, the smallest first, so that a counter-example is a smallest "
                 "one among them. Monotonicity: of two collections with the same sizes the one with the smaller sum of "
                 "variances must have the larger value. Bounds: values of collections that are as far apart as can be "
                 "must not grow for d = 10 to 80. Correction: the exact mean must be the same for all sizes. Measures "
                 f"for one size are judged on collections of one size. Davis' measure has a penalty of {ALPHA}. What "
                 "enumeration does not contradict need not be true for larger collections.",
        findings=[*describe_wrong_ticks(in_table), describe_bias(lacking)],
    )  # fmt: skip


def describe_wrong_ticks(wrong: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return which ticks are wrong, each with its counter-example."""
    listed = "".join(f"\n- {name}, {column}: {text}" for name, column, text in wrong)
    columns = dict.fromkeys(column for _, column, _ in wrong)
    reasons = " ".join(NO_PROOF[column] for column in columns if column in NO_PROOF)
    told = (
        f"**{len(wrong)} of the 75 marks of Table 2 are wrong**, all of them ticks. {reasons} The smallest cases; of "
        f"two collections the first varies less and yet has the lower value:\n{listed}"
    )
    return [told] if wrong else []


def describe_bias(lacking: Sequence[str]) -> str:
    """Return what the expectation of the new measure is where sizes vary."""
    hundred = np.repeat([4, 5, 6], [33, 34, 33])
    bias = -((hundred - hundred.mean()) ** 2).sum() / (100 * 99 * hundred.mean() * (10 - hundred.mean()))
    return (
        "**The new measure is unbiased only for sets of one size.** Under the null model of Definition 2, which holds "
        "the sizes kᵢ, its expectation is −Σ(kᵢ − k̄)² / (M(M − 1) k̄ (d − k̄)) and not 0 (the appendix confirms the "
        f"formula). The smallest case: {'; '.join(lacking)}. The proof of Theorem 3 takes the entries of a column for "
        "draws from one distribution; rows of different sizes have different ones. It is of the order of 1/M, "
        f"{bias:.1e} for M = 100 runs with 4 to 6 of 10 features, and no matter in practice; the mean correlation of "
        "pairs (2016) has it exactly 0. Was the null model meant to draw the sizes too?"
    )
