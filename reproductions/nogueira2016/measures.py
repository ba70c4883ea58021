"""Worked examples and theorems, figures of properties, and which measure has which (sections 1 to 4)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import holdfast as hf
from reproductions.enumeration import (
    FINDERS,
    PRINTED,
    PROPERTIES,
    check_equal,
    check_exact,
    check_marks,
    describe_sizes,
    draw_by_size,
    enumerate_all,
    simulate_random,
    values_by_size,
)  # fmt: skip
from reproductions.experiments import experiment
from reproductions.records import Claim, Evidence, Outcome, Rule, Table
from reproductions.workbench import Workbench

PAPER = "nogueira2016"
A_1 = [[1, 1, 1, 0, 0]] * 3
A_2 = [[1, 1, 1, 0, 0], [1, 0, 1, 1, 0], [1, 0, 1, 0, 0]]
"""The two examples of equation (1), section 1."""
UNCORRECTED = {"hamming": "Hamming", "jaccard": "Jaccard", "pog": "POG", "dice": "Dice"}
"""The measures of Figure 2."""
TABLE_1 = {
    **dict.fromkeys(("jaccard", "hamming", "dice", "pog"), "✓✓✓–"),
    "kuncheva": "–✓✓✓", "npog": "✓–✓✓", "lustgarten": "✓✓–✓", "wald": "✓––✓", "krizek": "––✓–", "cw_rel": "✓✓–✓",
}  # fmt: skip
"""Marks that follow from sections 2.2 and 3 and the definitions, in the order of Table 1."""
COLUMNS = tuple(column for column in PROPERTIES if column != "Monotonicity")


def stability(rows: object, measure: str) -> float:
    """Return the value of a measure for rows of 0 and 1."""
    return hf.stability(np.asarray(rows), measure).value


# Worked examples and theorems


@experiment(
    PAPER, "examples", shows="Figure 3", title="worked examples, theorems and scenarios",
    question="Do the examples and theorems of sections 1 to 4 give the printed numbers?",
)  # fmt: skip
def worked_examples(bench: Workbench) -> Outcome:
    """The two matrices of equation (1), Theorems 2 and 3, the conventions of section 4.1, the scenarios of Figure 3."""
    names = ("jaccard", "dice", "pearson", "nogueira", "cw_rel")
    frame = pd.DataFrame({name: [stability(A_1, name), stability(A_2, name)] for name in names}, index=["A_1", "A_2"])
    ours, later = frame.loc["A_2", ["pearson", "nogueira"]]
    few, many = (scenario_3(n) for n in (100, 1000))
    return Outcome(
        claims=[
            check_equal("The Jaccard stability of A_1 is 1.", "Section 2.2",
                        abs(stability(A_1, "jaccard") - 1), printed="1"),
            check_equal("The Jaccard stability of A_2 is 11/18.", "Section 2.2",
                        abs(stability(A_2, "jaccard") - 11 / 18), printed="11/18"),
            check_equal("Features 2 and 4 of A_2 have the frequency 1/3.", "Section 1",
                        float(np.abs(hf.Preferences.from_matrix(A_2).frequency[[1, 3]] - 1 / 3).max()), printed="1/3"),
            *check_theorems(bench),
            check_equal("Scenario 1: always the same 6 of 15 features have the stability 1.", "Section 4.2",
                        abs(stability([[1] * 6 + [0] * 9] * 100, "pearson") - 1), exhibit="Figure 3", printed="1"),
            check_exact("Scenario 3: equal frequencies of 6/15 have the stability 0.", "Section 4.2", many,
                        Rule.within("0.00"), printed="0.00", exhibit="Figure 3"),
        ],
        tables=[Table(title="The two examples by several measures", frame=frame.rename_axis("example"), digits=4)],
        sentences={"Figure 3": "Scenarios 1 and 3 have the printed stabilities, the latter where M is large."},
        protocol="Exact arithmetic on the printed matrices; Theorem 2 on random selections of one size; Theorem 3 on "
        f"{describe_sizes(enumerate_all(bench))}; scenario 3 with M = 1,000.",
        notes=[
            f"The measure of this paper and that of 2018 are two measures if sizes vary: A_2 has {ours:.4f} by the "
            f"mean correlation of pairs and {later:.4f} by the later definition.",
            "Equal *observed* frequencies have the stability −1/(M − 1), as S has the unbiased variance and S_max has "
            f"not: {few:.4f} for M = 100, {many:.4f} for M = 1,000. 0 is the value of the probabilities.",
        ],
    )  # fmt: skip


def scenario_3(n_runs: int) -> float:
    """Return the stability of 6 of 15 features with equal frequencies: each run begins one block later."""
    places = (6 * np.arange(n_runs)[:, None] + np.arange(6)) % 15
    rows = np.zeros((n_runs, 15), dtype=np.int64)
    np.put_along_axis(rows, places, 1, axis=1)
    return stability(rows, "pearson")


def check_theorems(bench: Workbench) -> list[Claim]:
    """Judge Theorems 2 and 3, and the conventions of section 4.1."""
    empty, some, full = [0] * 5, [1, 1, 0, 0, 0], [1] * 5
    conventions = [(empty, some, 0.0), (full, some, 0.0), (empty, full, 0.0), (empty, empty, 1.0), (full, full, 1.0)]
    known = enumerate_all(bench)
    beyond = {part.M: float(part.values["pearson"].min() + 1 / (part.M - 1)) for part in known}
    least = ", ".join(f"{beyond[n] - 1 / (n - 1):.3f} (M = {n})" for n in sorted(beyond))
    return [
        check_equal("With subsets of one size the correlation, Kuncheva's, Wald's measure and nPOG agree.", "Theorem 2",
                    largest_gap(bench)),
        check_exact("As M grows the stability lies in [0, 1]: it is at least −1/(M − 1).", "Theorem 3",
                    min(beyond.values()), Rule(text="no collection is below", low=0.0), shown=f"at least {least}"),
        check_equal("The correlation is 0 if one set is empty or full and the other is not, 1 if both are.",
                    "Section 4.1", max(abs(stability(pair, "pearson") - value) for *pair, value in conventions)),
    ]  # fmt: skip


def largest_gap(bench: Workbench) -> float:
    """Return the largest difference of the measures of Theorem 2 in random selections of one size."""
    rng, gaps = bench.rng(2), []
    for _ in range(bench.choose(200, 10)):
        d = int(rng.integers(5, 30))
        rows = [rng.permutation(np.arange(d) < rng.integers(1, d)).astype(int)]
        rows += [rng.permutation(rows[0]) for _ in range(int(rng.integers(1, 12)))]
        gaps.append(np.ptp([stability(rows, name) for name in ("pearson", "kuncheva", "wald", "npog")]))
    return float(max(gaps))


# Properties


@experiment(
    PAPER, "figure1", shows="Figure 1", title="measures that violate the property of the maximum",
    question="Which measures are not 1 exactly where all samples select the same features?",
)  # fmt: skip
def maximum(bench: Workbench) -> Outcome:
    """Identical sets, by Lustgarten; two sets that differ by a feature, by Wald and CW_rel."""
    labels = {"lustgarten": "Lustgarten", "wald": "Wald", "cw_rel": "CW_rel", "pearson": "correlation"}
    differ, agree = values_by_size(labels)
    same, where = agree["lustgarten"], "Section 3, property 3"
    panels = {"all samples select the same k features": agree[["lustgarten"]],
              "half select k features, half k − 1 of them": differ[["wald", "cw_rel", "pearson"]]}  # fmt: skip
    return Outcome(
        claims=[
            check_exact("Lustgarten's measure of identical sets varies with their size.", where, float(np.ptp(same)),
                        Rule.above(0), printed="clearly varies with k", exhibit="Figure 1",
                        shown=f"from {same.min():.2f} to {same.max():.2f}"),
            *(
                check_equal(f"{labels[name]} is 1 although half of the samples select a feature less.", where,
                            float((differ[name] - 1).abs().max()), exhibit="Figure 1")
                for name in ("wald", "cw_rel")
            ),
        ],
        tables=[Table(title="Stability against k where half of the samples select k features, half k − 1 of them",
                      frame=differ.rename(columns=labels))],
        pictures=[draw_by_size(
            "Figure 1", panels, labels, f"Lustgarten's measure of identical sets is {same.min():.1f} to "
                                        f"{same.max():.1f}; Wald's and CW_rel of sets that differ are 1",
            "Stability against the size k, in the two parts of Figure 1. Wald's line lies under that of CW_rel; the "
            "correlation, which the paper proposes, is below 1.",
        )],
        protocol="Exact, as in the paper: d = 10 and M = 100.",
    )  # fmt: skip


@experiment(
    PAPER, "figure2", shows="Figure 2", title="measures of random selections against their size",
    question="Is the stability of random selections the same whatever their size?",
)  # fmt: skip
def correction_for_chance(bench: Workbench) -> Outcome:
    """Mean stability of random selections against their size."""
    n_draws, labels = bench.choose(200, 10), {**UNCORRECTED, "pearson": "correlation", "cw_rel": "CW_rel"}
    drawn = simulate_random(bench, labels, range(2, 9), n_draws, sideways=0.25)
    means, errors = drawn.mean(), drawn.sem()
    spans = [f"{label} {means[name].min():.2f} to {means[name].max():.2f}" for name, label in UNCORRECTED.items()]
    return Outcome(
        claims=[
            judge_varying(label, means[name].to_dict(), errors[name].to_dict(), n_draws)
            for name, label in UNCORRECTED.items()
        ],
        tables=[Table(title="Mean stability of random selections against their size k",
                      frame=means.rename(columns=labels).round(4) + 0.0, digits=3)],
        pictures=[draw_by_size(
            "Figure 2", {"stability": means}, labels, f"Random selections, k = 2 to 8: {', '.join(spans)}",
            "Mean stability of random selections against their size, in the layout of Figure 2, with two measures that "
            "the paper calls corrected for chance.",
        )],
        protocol="As in the paper: d = 10, M = 100; a sample selects k features with probability 1/2, k − 1 or k + 1 "
        f"with 1/4 each. Means over {n_draws} such selections, where the paper shows one. k = 2 to 8, so that no set "
        "is empty or full.",
        notes=[
            f"The largest mean of the correlation is {means['pearson'].abs().max():.4f}, that of CW_rel "
            f"{means['cw_rel'].abs().max():.4f}, about 1/M: it is corrected only as M grows, as the paper of 2018 says."
        ],
    )  # fmt: skip


def judge_varying(label: str, means: Mapping[Any, float], errors: Mapping[Any, float], n_draws: int) -> Claim:
    """Judge whether a mean depends on the size, by its largest difference."""
    least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    return Claim(
        claim=f"{label} is not corrected for chance: for random selections it depends on their size.",
        exhibit="Figure 2", printed="depends on k", rule=Rule.word("considerably", "stability"),
        evidence=Evidence.from_error(
            means[most] - means[least], np.hypot(errors[most], errors[least]), f"{n_draws} selections of each size",
            shown=f"from {means[least]:.2f} (k = {least}) to {means[most]:.2f} (k = {most})",
        ),
    )  # fmt: skip


@experiment(
    PAPER, "table1", shows="Table 1", title="which measure has which property, by enumeration",
    question="Which of ten measures has which of the four properties, and has the correlation all of them?",
)  # fmt: skip
def properties(bench: Workbench) -> Outcome:
    """Marks by text and definitions, beside counter-examples among all small collections."""
    known = enumerate_all(bench)
    found: dict[str, dict[str, Any]] = {
        column: {name: FINDERS[column](name, known) for name in (*TABLE_1, "pearson")} for column in COLUMNS
    }
    lacking = [column for column in COLUMNS if found[column]["pearson"]]
    marks = {column: {name: ticks[place] for name, ticks in TABLE_1.items()} for place, column in enumerate(COLUMNS)}
    reason = (
        "Section 2.2 calls CW_rel corrected for chance. For M runs its mean over random selections is about 1/M, which "
        "the paper of 2018 says too."
    )
    frame = pd.DataFrame(
        {column: {name: "–" if found[column][name] else "✓" for name in found[column]} for column in found}
    )
    frame.index = pd.Index([*(PRINTED[name][0] for name in TABLE_1), "correlation"], name="measure")
    return Outcome(
        claims=[
            *(check_marks("Table 1", column, marks[column], found[column], reason) for column in COLUMNS),
            check_exact("The correlation has all four properties.", "Section 4.1, Theorem 1", float(not lacking),
                        Rule.same("no collection contradicts any"), printed="4 of 4",
                        shown=f"not {', '.join(lacking)}" if lacking else "no counter-example"),
        ],
        tables=[Table(title="Table 1, as enumerated", frame=frame)],
        sentences={"Table 1": "The table is damaged in the text that we have; of the 40 marks that follow from text "
                              "and definitions 39 are right: CW_rel is corrected for chance only as M grows."},
        protocol=f"Counter-examples were looked for among {describe_sizes(known)}. Correction: the exact mean over all "
        "collections must be the same for all sizes. Bounds: values of collections that are as far apart as can be "
        "must not grow with d. What enumeration does not contradict need not be true for larger collections.",
    )  # fmt: skip
