"""What ties do to the stability of rankings: the paper's numbers against what they imply, and a simulation."""

import numpy as np
import pandas as pd
from scipy.stats import norm

import holdfast as hf
from reproductions import unconverted
from reproductions.experiments import experiment
from reproductions.kalousis2005.published import PAPER, TIES, implied
from reproductions.records import Claim, Outcome, Table
from reproductions.workbench import Workbench

SEED = 32
NEAR = 0.03
FORMULA = (
    "With one block of tied features, a share q of all, Pearson's correlation of average ranks is about n / (1 − "
    "q³), where n is its mean with ties broken at random."
)


@experiment(PAPER, "ties", shows="Section 4, on ties", title="rankings with many features of no weight")
def ties(bench: Workbench) -> Outcome:
    """Compare the printed values with what the printed shares of ties imply, and simulate."""
    d, n_runs, n_repeats = bench.choose((2000, 20, 20), (300, 6, 4))
    simulated = pd.DataFrame(
        [_simulate(printed.zero_share, d, n_runs, n_repeats) for printed in TIES.values()],
        index=pd.Index(TIES, name="data"),
    )
    return Outcome(
        claims=[*judge_printed(), *judge_simulated(simulated)],
        tables=[
            Table(
                title="Simulated weights with the shares of zeros that the paper gives: S_R with average ranks and "
                "with ties broken at random, what the share implies for the latter, and the standard error of that "
                "difference",
                frame=simulated, digits=3,
            ),
        ],
        protocol=f"{FORMULA} The printed S_R with average ranks and shares of features without gain thus imply what is "
        f"printed for random ties. {n_repeats} simulated data sets for each share: {n_runs} runs of {d:,} weights "
        f"that vary about a value of their own and are zero below a threshold (seed {SEED}).",
        notes=[_formula_of_differences()],
    )  # fmt: skip


def judge_printed() -> list[Claim]:
    """Claim that the paper's numbers fit together."""
    return [
        unconverted.number(
            f"{name}: S_R of information gain with random ties follows from that with average ranks "
            f"({printed.average:.3f}) and {printed.zero_share:.1%} features without gain",
            "Table 2 and Section 4", published=printed.at_random, ours=implied(*printed[:2]), tolerance=NEAR, digits=3,
            because="the tied features of two folds are not quite the same",
            if_missed="No reading of Spearman's correlation with ties gives the printed value; a slip in one of the "
            "three printed numbers is likely.",
        kind="beyond")
        for name, printed in TIES.items()
    ]  # fmt: skip


def _simulate(share: float, d: int, n_runs: int, n_repeats: int) -> dict[str, float]:
    """The mean of both stabilities over simulated data sets."""
    rng = np.random.default_rng(SEED)
    rows = []
    for _ in range(n_repeats):
        noise = 0.5
        own = rng.standard_normal(d) - norm.ppf(share) * np.sqrt(1 + noise**2)
        weights = np.maximum(own + noise * rng.standard_normal((n_runs, d)), 0)
        runs = hf.Preferences.from_weights(weights)
        average, at_random = (hf.stability(runs, "spearman", ties=how).value for how in ("average", "random"))
        rows.append((float((weights == 0).mean()), average, at_random, implied(average, share)))
    frame = pd.DataFrame(rows, columns=["zeros", "average ranks", "random ties", "implied"])
    difference = frame["average ranks"] - frame["random ties"]
    error = float(difference.std(ddof=1) / np.sqrt(n_repeats))
    return {str(name): float(value) for name, value in frame.mean().items()} | {"error": error}


def judge_simulated(simulated: pd.DataFrame) -> list[Claim]:
    """Claim that average ranks look more alike where the truth is known."""
    checks = []
    for name, row in simulated.iterrows():
        difference = row["average ranks"] - row["random ties"]
        reach = 2 * row["error"]
        checks.append(
            unconverted.order(
                f"Average ranks of tied features make rankings look more stable (simulated, {row['zeros']:.0%} "
                "zeros, as "
                f"{name})", "Section 4", difference=difference, low=difference - reach, high=difference + reach,
                digits=3,
            kind="beyond")
        )  # fmt: skip
    return checks


def _formula_of_differences() -> str:
    others = {name: printed.average - printed.zero_share**3 for name, printed in TIES.items()}
    listed = ", ".join(f"{name} {value:.3f} (printed {TIES[name].at_random:.3f})" for name, value in others.items())
    return (
        "With the textbook formula 1 − 6 Σd² / (m (m² − 1)) on average ranks, which is not a correlation if there "
        f"are ties, random ties would be q³ lower: {listed}. Pearson's correlation of average ranks is the better "
        "reading of the paper; holdfast uses it."
    )
