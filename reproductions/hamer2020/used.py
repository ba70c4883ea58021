"""Beyond the paper: how much of the hybrid's gain in stability is of features that its models use."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

import holdfast as hf
from holdfast.inference import Comparison
from reproductions.experiments import experiment
from reproductions.hamer2020.curves import NO_LOSS, Floats, of_family
from reproductions.hamer2020.studies import (
    COSTS,
    COSTS_FINAL,
    DATA,
    PAPER,
    K,
    choose_data,
    filter_data,
    run_pairs,
)
from reproductions.records import Claim, Evidence, Outcome, Rule, Table
from reproductions.workbench import Workbench

MEASURES = ("nogueira", "used_again", "shared_importance")
SHOWN = (8, 12, 15)
"""N of the table of forced features, with λ = 50 and λ_f = 5."""
ON_CHOICE = (
    "The two settings were chosen on the same resamples, each as the most stable one at no loss of accuracy, by the "
    "stability of the list."
)


@experiment(
    PAPER, "used", shows="Figure 1", title="what the models use of the lists", data=DATA,
    question="Stability can be gamed where it is optimized together with accuracy, write Hamer and Dupont (2021): how "
    "much of the variance hybrid's gain is of features that its models use?",
)  # fmt: skip
def used(bench: Workbench) -> Outcome:
    """Compare the hybrid with the classic RFE by the list, and by what models use, on the same resamples."""
    claims, gains, forced, n_resamples = list[Claim](), list[dict[str, str]](), list[dict[str, str]](), 0
    for name in choose_data(bench):
        result = run_pairs(bench, name)
        n_resamples = result.n_splits
        gain = compare_pair(result)
        claims += judge_gain(name, gain)
        gains.append(gain.row(name))
        forced += tabulate_forced(bench, name, result)
    remaining = "; ".join(f"{row['data set']} {row['remains (used again)']}" for row in gains)
    return Outcome(
        claims=claims,
        tables=[
            Table(title="Gain in stability of the variance hybrid over the classic RFE", frame=_indexed(gains)),
            Table(title="The importance of forced features; how alike lists and models are", frame=_indexed(forced)),
        ],
        protocol=(
            f"{n_resamples} bootstrap samples, k = {K}, models with an intercept on standardized columns, scored out "
            f"of bag. λ = 1 / (2 C) with C {', '.join(map(str, COSTS[:3]))}; C_final "
            f"{', '.join(map(str, COSTS_FINAL[:2]))}; N 8, 12, 15. Hybrid and RFE are each the setting with the "
            f"most stable list among those within {NO_LOSS:g} of the best RFE's accuracy, with "
            "the same λ_f. Importances are absolute standardized coefficients of the final model. Intervals (95 %) are "
            "those of a paired jackknife over the resamples; of what remains, quantiles over 2000 redraws of its "
            "pseudo-values."
        ),
        findings=[
            "**What remains of the gain.** Of what forcing gains in the stability of the list, this share is also "
            f"gained in the stability of what the models use: {remaining}. {ON_CHOICE}"
        ],
    )  # fmt: skip


@dataclass(frozen=True)
class Gain:
    """The settings that are compared, and the comparison of each measure."""

    rfe: str
    hybrid: str
    accuracy: tuple[float, float]
    by_measure: dict[str, Comparison]

    def evidence(self, measure: str) -> Evidence:
        """Return the gain by a measure, with the interval of a paired jackknife."""
        compared = self.by_measure[measure]
        low, high = compared.ci()
        return Evidence(
            value=compared.difference, low=float(low), high=float(high), varied="the bootstrap samples", digits=3
        )

    def remaining(self, measure: str, n_draws: int = 2000) -> Evidence:
        """Return the gain by a measure as a share of the gain in the stability of the list."""
        of_runs = [
            compared.first.pseudo_values - compared.second.pseudo_values
            for compared in (self.by_measure[measure], self.by_measure["nogueira"])
        ]
        n_runs = of_runs[0].size
        times = np.random.default_rng(0).multinomial(n_runs, np.full(n_runs, 1 / n_runs), n_draws)
        part, whole = (times @ values / n_runs for values in of_runs)
        value = self.by_measure[measure].difference / self.by_measure["nogueira"].difference
        return Evidence.from_draws(value, part / whole, f"{n_draws} redraws of the bootstrap samples")

    def row(self, name: str) -> dict[str, str]:
        """Return the row of a table."""
        return {
            "data set": name, "RFE": self.rfe, "hybrid": self.hybrid,
            "accuracy": " → ".join(f"{score:.3f}" for score in self.accuracy),
            "gain (list)": str(self.evidence("nogueira")),
            "gain (used again)": str(self.evidence("used_again")),
            "remains (used again)": str(self.remaining("used_again")),
            "gain (shared importance)": str(self.evidence("shared_importance")),
            "remains (shared importance)": str(self.remaining("shared_importance")),
        }  # fmt: skip


def compare_pair(result: hf.StudyResult) -> Gain:
    """Choose the most stable list of the RFE and of the hybrid near the best RFE's accuracy, and compare the two.

    Their final models have the same λ_f: it decides how alike the features of a model are used, whatever was selected.
    """
    summary = result.summary(candidates=[*of_family([result], "RFE"), *of_family([result], "VAR")])
    summary["C_final"] = [result.settings(str(name))["C_final"] for name in summary.index]
    rfe = _choose_near(summary[summary["family"] == "RFE"], summary)
    same = summary["C_final"] == summary["C_final"][rfe]
    hybrid = _choose_near(summary[(summary["family"] == "VAR") & same], summary)
    compared = {measure: _compare(result, hybrid, rfe, measure) for measure in MEASURES}
    return Gain(rfe, hybrid, (float(summary["accuracy"][rfe]), float(summary["accuracy"][hybrid])), compared)


def _choose_near(settings: pd.DataFrame, summary: pd.DataFrame) -> str:
    """Return the most stable of these settings at no loss of accuracy, or else the most accurate."""
    least = summary["accuracy"][summary["family"] == "RFE"].max() - NO_LOSS
    near = settings[settings["accuracy"] >= least]
    return str(settings["accuracy"].idxmax() if near.empty else near["stability"].idxmax())


def _compare(result: hf.StudyResult, first: str, second: str, measure: str) -> Comparison:
    of_list = measure == "nogueira"
    a, b = (result.preferences(name) if of_list else result.importances(name).runs for name in (first, second))
    return hf.compare(a, b, measure)


def judge_gain(name: str, gain: Gain) -> list[Claim]:
    """Judge whether the gain is also one of what models use, and whether the list alone gains more."""
    listed, used = (gain.by_measure[measure] for measure in ("nogueira", "used_again"))
    difference = (listed.first.pseudo_values - listed.second.pseudo_values) - (
        used.first.pseudo_values - used.second.pseudo_values
    )
    error: Floats = difference.std(ddof=1) / np.sqrt(difference.size)
    more = Evidence.from_error(listed.difference - used.difference, float(error), "the bootstrap samples", digits=3)

    def judge(claim: str, evidence: Evidence) -> Claim:
        return Claim(
            claim=f"On {name} {claim}.", kind="beyond", exhibit="Figure 1", where="Hamer and Dupont (2021)",
            evidence=evidence, rule=Rule.above(0), reason=ON_CHOICE,
        )  # fmt: skip

    return [
        judge("what the variance hybrid's models use is more stable than what those of the classic RFE use",
              gain.evidence("used_again")),
        judge("the variance hybrid gains more in the stability of its list than of what its models use", more),
    ]  # fmt: skip


def tabulate_forced(bench: Workbench, name: str, result: hf.StudyResult) -> list[dict[str, str]]:
    """Return how much of the importance is on the features that the variance forces, for several N."""
    X, _ = filter_data(bench, name)
    table, splits, rows = X.to_numpy(dtype=np.float64), result.splits, []
    settings = {candidate: result.settings(candidate) for candidate in of_family([result], "VAR")}
    chosen = {
        setting["n_forced"]: candidate
        for candidate, setting in settings.items()
        if (setting["C"], setting["C_final"]) == (0.01, 0.1)
    }
    for n_forced in sorted(set(SHOWN) & set(chosen)):
        runs = result.importances(chosen[n_forced]).runs
        weights, shares = runs.matrix(), []
        for split, own in zip(result.split_numbers(runs).tolist(), weights, strict=True):
            drawn = np.repeat(splits["train_rows"][split], splits["train_counts"][split])
            most = np.argsort(-table[drawn].var(axis=0), kind="stable")[:n_forced]
            shares.append(own[most].sum() / own.sum())
        rows.append({
            "data set": name, "N": str(n_forced), "of the list": f"{n_forced / K:.0%}",
            "of the importance": f"{np.mean(shares):.0%}",
            **{measure: f"{result.stability(chosen[n_forced], measure).value:.3f}" for measure in MEASURES},
        })  # fmt: skip
    return rows


def _indexed(rows: list[dict[str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows).set_index("data set")
