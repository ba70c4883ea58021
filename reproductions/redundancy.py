"""The lasso on simulated data of known redundancy, which both papers of Nogueira study; and checks against one draw.

The papers drew one data set at each redundancy. We draw several, and a printed number counts as reproduced if it lies
where one more of our data sets would be expected.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

import holdfast as hf
from holdfast.datasets import Simulated, make_redundant
from reproductions import unconverted
from reproductions.records import Claim
from reproductions.workbench import Workbench

REDUNDANCIES = {"none": 0.0, "low": 0.3, "medium": 0.5, "high": 0.8}
"""The four redundancies of the papers (2018, page 26; 2016 has 0, 0.3, 0.5 and 0.8 too)."""
PRINTED_STRENGTHS = (0.023, 0.0187, 0.009, 0.0051, 4.12e-4)
"""The penalty strengths of the lasso that the papers print, which join our grid."""
LARGEST, SMALLEST = 0.35, 3.5e-5
"""Ends of the grid: about where the first feature enters, and 1/10,000 of it; the authors' script sets neither."""
WORDS = {level: f"{'no' if level == 'none' else level} redundancy" for level in REDUNDANCIES}
SCORE = "neg_log_loss"
ALIKE = 0.4
"""Correlation from which features stand in for each other: relevant ones have at least 0.5, others about 0."""
FOLDER = "lasso-by-redundancy"
RULES = {"likelihood": "accuracy", "one-se": "one-se", "knee": "knee"}
"""Ways to choose a penalty strength, by our names, and as rules of a study."""
MAX_STABLE = "most stable"


class Scale(NamedTuple):
    """How much is simulated."""

    n_samples: int
    n_features: int
    n_relevant: int
    n_resamples: int
    n_sets: int
    n_strengths: int


FULL = Scale(n_samples=2000, n_features=100, n_relevant=50, n_resamples=100, n_sets=20, n_strengths=100)
QUICK = Scale(n_samples=160, n_features=16, n_relevant=8, n_resamples=8, n_sets=2, n_strengths=6)


class FinalErrors(NamedTuple):
    """False positives and false negatives of a final fit."""

    false_positives: int
    false_negatives: int


@dataclass(frozen=True, kw_only=True, eq=False)
class LassoFindings:
    """What the lasso did on one data set.

    Attributes
    ----------
    curve : DataFrame
        One row per penalty strength, the largest first: out-of-bag ``log_likelihood`` (a mean over rows) with its
        standard error, ``error`` (minus its sum over rows), ``misclassified``, ``size``, stability by ``pearson`` and
        ``nogueira``; ``log_likelihood_noise`` and ``nogueira_noise`` are what other resamples of the same data would
        change (a standard error).
    frequency : DataFrame
        Selection frequencies, penalty strengths × features.
    chosen : dict
        The penalty strength by measure and rule.
    final : dict
        Errors of a fit to the other half of the rows, by penalty strength, for those that were chosen or printed.
    aware : dict
        Stability that counts correlated features as stand-ins, for the chosen strengths.
    """

    curve: pd.DataFrame
    frequency: pd.DataFrame
    chosen: Mapping[tuple[str, str], float]
    final: Mapping[float, FinalErrors]
    aware: Mapping[float, float]

    def at(self, strength: float, column: str) -> float:
        """The value of a column of the curve at a penalty strength of the grid."""
        return float(self.curve[column].to_dict()[strength])

    @property
    def strengths(self) -> NDArray[np.float64]:
        """The penalty strengths, the largest first."""
        return self.curve.index.to_numpy(dtype=np.float64)

    def column(self, column: str) -> NDArray[np.float64]:
        """A column of the curve, the largest penalty strength first."""
        return self.curve[column].to_numpy(dtype=np.float64)

    def shares(self, strength: float) -> NDArray[np.float64]:
        """The selection frequencies of all features at a penalty strength."""
        return self.frequency.to_numpy(dtype=np.float64)[self.frequency.index.get_loc(strength)]

    def at_choice(self, rule: str, column: str, measure: str = "nogueira") -> float:
        """The value of a column of the curve at the strength that a rule chose."""
        return self.at(self.chosen[measure, rule], column)


# Data and studies


def find_scale(bench: Workbench) -> Scale:
    """Return how much the full or the quick protocol simulates."""
    return bench.choose(FULL, QUICK)


def make_strengths(n_strengths: int) -> list[float]:
    """Return the penalty strengths, the largest first: a geometric grid, and those that are printed."""
    grid = np.geomspace(LARGEST, SMALLEST, n_strengths).round(8).tolist()
    return sorted({*grid, *PRINTED_STRENGTHS}, reverse=True)


def draw_data(bench: Workbench, rho: float, number: int) -> Simulated:
    """Draw a data set; its first half is for the study, its second half for the final fit."""
    scale = find_scale(bench)
    return make_redundant(
        rho, n_samples=scale.n_samples, n_features=scale.n_features, n_relevant=scale.n_relevant, random_state=number
    )


def run_lasso(bench: Workbench, rho: float, number: int = 0) -> hf.StudyResult:
    """Run the lasso at all penalty strengths on bootstrap samples of a data set; experiments share these studies."""
    X, y, _ = draw_data(bench, rho, number)
    half, scale = len(y) // 2, find_scale(bench)
    grid = {"penalty_strength": make_strengths(scale.n_strengths)}
    plan = hf.Study(
        selectors={"lasso": hf.Candidates(hf.selectors.ElasticNetPath(), grid)},
        perturbation=hf.Bootstrap(scale.n_resamples),
        scoring=[SCORE, "accuracy"],
        random_state=number,
    )
    return bench.sharing(FOLDER).study(f"rho-{rho:g}-set-{number}", plan, X[:half], y[:half], keep_predictions=False)


def find_lasso(bench: Workbench, rho: float) -> list[LassoFindings]:
    """Return what the lasso did on every data set of a redundancy."""
    folder, keys = bench.folder.parent, range(find_scale(bench).n_sets)
    return [_find_once(folder, bench.quick, bench.n_jobs, rho, number) for number in keys]


@lru_cache(maxsize=len(REDUNDANCIES) * FULL.n_sets)
def _find_once(folder: Path, quick: bool, n_jobs: int, rho: float, number: int) -> LassoFindings:
    """Summarize a data set once in a session: several experiments read the same curves."""
    bench = Workbench(folder=folder / FOLDER, quick=quick, n_jobs=n_jobs)
    data, result = draw_data(bench, rho, number), run_lasso(bench, rho, number)
    curve, names = read_curve(result), _names_by_strength(result)
    frequency = pd.DataFrame({strength: result.preferences(name).frequency for strength, name in names.items()}).T
    chosen = {
        (measure, rule): choose_strength(result, curve, rule, measure)
        for measure in ("pearson", "nogueira")
        for rule in (*RULES, MAX_STABLE)
    }
    half = len(data.y) // 2
    final, aware = {}, {}
    for strength in {*chosen.values(), *PRINTED_STRENGTHS}:
        errors = result.recovery(data.truth, names[strength], data.X[half:], data.y[half:]).final
        assert errors is not None
        final[strength] = FinalErrors(len(errors.false_positives), len(errors.false_negatives))
        aware[strength] = result.stability(
            names[strength], "yu", X=data.X[:half], threshold=ALIKE, undefined="skip"
        ).value
    return LassoFindings(curve=curve, frequency=frequency, chosen=chosen, final=final, aware=aware)


def _names_by_strength(result: hf.StudyResult) -> dict[float, str]:
    return {float(result.settings(name)["penalty_strength"]): name for name in result.candidates}


def find_name(result: hf.StudyResult, strength: float) -> str:
    """Return the candidate of a penalty strength."""
    return _names_by_strength(result)[strength]


def read_curve(result: hf.StudyResult) -> pd.DataFrame:
    """Return likelihood, stability and size at every penalty strength (see :class:`LassoFindings`)."""
    names = _names_by_strength(result)
    usual, pearson = result.summary("nogueira"), result.summary("pearson")
    rows = {}
    for strength, name in names.items():
        scores, splits = result.split_scores(name, SCORE)
        row = usual.loc[name]
        rows[strength] = {
            "log_likelihood": row[SCORE], "log_likelihood_se": row[f"{SCORE}_se"],
            "error": float(-(scores * splits["n_test"]).mean()), "misclassified": 1 - row["accuracy"],
            "size": row["size"], "pearson": pearson.loc[name, "stability"], "nogueira": row["stability"],
            "log_likelihood_noise": float(np.std(scores, ddof=1) / np.sqrt(len(scores))),
            "nogueira_noise": (row["high"] - row["low"]) / (2 * ndtri(0.975)),
        }  # fmt: skip
    return pd.DataFrame(rows).T


def choose_strength(result: hf.StudyResult, curve: pd.DataFrame, rule: str, measure: str) -> float:
    """Return the penalty strength that a rule chooses."""
    if rule == MAX_STABLE:
        return float(curve.index.to_numpy()[np.nanargmax(curve[measure])])
    choice = result.choose(RULES[rule], metric=SCORE, measure=measure, n_draws=0)
    return float(result.settings(choice.candidate)["penalty_strength"])


# Several data sets beside the one of a paper


def mean_interval(values: ArrayLike) -> tuple[float, float, float]:
    """Return the mean over data sets and its 95 % interval by Student's t."""
    mean, reach = _mean_and_reach(values, one_more=False)
    return mean, mean - reach, mean + reach


def prediction_interval(values: ArrayLike) -> tuple[float, float, float]:
    """Return the mean over data sets, and where one more is expected with 95 % confidence, by Student's t."""
    mean, reach = _mean_and_reach(values, one_more=True)
    return mean, mean - reach, mean + reach


def _mean_and_reach(values: ArrayLike, *, one_more: bool) -> tuple[float, float]:
    array: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    spread = array.std(ddof=1) * np.sqrt(1 / array.size + one_more)
    return float(array.mean()), float(stdtrit(array.size - 1, 0.975) * spread)


def check_draw(
    claim: str,
    where: str,
    *,
    published: float,
    ours: Iterable[float],
    digits: int = 2,
    rounding: float = 0.0,
    by_factors: bool = False,
    smallest: float = -np.inf,
    if_missed: str = "",
) -> Claim:
    """Claim a number that was found on one data set: it may lie where one more of our data sets is expected.

    ``by_factors`` takes logarithms, as for a penalty strength. ``rounding`` is how far the printed number may be off,
    and ``smallest`` the least value that it can have.
    """
    values = np.array(list(ours), dtype=np.float64)
    mean, low, high = prediction_interval(np.log(values) if by_factors else values)
    mean, low, high = np.exp([mean, low, high]) if by_factors else (mean, max(low, smallest), high)
    what = "geometric mean" if by_factors else "mean"
    return unconverted.fact(
        claim, where, published=f"{published:.{digits}g}" if by_factors else f"{published:.{digits}f}",
        holds=bool(low - rounding <= published <= high + rounding),
        ours=f"{what} {format_plain(mean, digits, by_factors)}; one more data set "
        f"{format_plain(low, digits, by_factors)} to {format_plain(high, digits, by_factors)}",
        rule=f"inside the 95 % prediction interval for one more data set, from {values.size} that were drawn, as the "
        "paper drew one" + (f", and the rounding of print ({rounding:g})" if rounding else ""),
        if_missed=if_missed,
    )  # fmt: skip


def format_plain(value: float, digits: int, by_factors: bool = False) -> str:
    """Format a number with these digits behind the point, or in all."""
    return f"{value:.{digits}g}" if by_factors else f"{value:.{digits}f}"


def check_errors(
    claim: str,
    where: str,
    *,
    printed: tuple[int, int],
    found: Sequence[LassoFindings],
    rule: str,
    measure: str,
    if_missed: str = "",
) -> Claim:
    """Claim printed false positives and false negatives of a final fit, both against one more of our data sets."""
    inside, ours = [], []
    for number, kind in zip(printed, FinalErrors._fields, strict=True):
        mean, low, high = prediction_interval(final_errors(found, rule, measure, kind))
        inside.append(low - 0.5 <= number <= high + 0.5)
        ours.append(f"{mean:.1f} ({max(low, 0.0):.0f} to {high:.0f})")
    return unconverted.fact(
        claim, where, published=f"FP = {printed[0]}, FN = {printed[1]}", holds=all(inside),
        ours=f"FP = {ours[0]}, FN = {ours[1]}",
        rule=f"both inside the 95 % prediction interval for one more data set, from {len(found)} that were drawn, and "
        "the rounding to whole numbers", if_missed=if_missed,
    )  # fmt: skip


def check_gain(claim: str, where: str, gains: Sequence[float], *, digits: int = 2, if_missed: str = "") -> Claim:
    """Claim that something is larger on average over data sets."""
    mean, low, high = mean_interval(gains)
    return unconverted.order(claim, where, difference=mean, low=low, high=high, digits=digits, if_missed=if_missed)


def curve_table(curves: Mapping[str, Sequence[pd.DataFrame]], quantities: Mapping[str, str]) -> pd.DataFrame:
    """Return means of columns over data sets, each under its name, with 95 % intervals, for ``plot_setting``."""
    rows = []
    for line, drawn in curves.items():
        for column, quantity in quantities.items():
            values = np.array([curve[column] for curve in drawn])
            for strength, over_sets in zip(drawn[0].index, values.T, strict=True):
                mean, low, high = mean_interval(over_sets)
                rows.append((line, strength, quantity, mean, low, high))
    return pd.DataFrame(rows, columns=["line", "setting", "quantity", "value", "low", "high"])


def spread_of_best(found: Sequence[LassoFindings], column: str, n_draws: int = 200) -> tuple[float, float]:
    """Return where the best penalty strength lies with 95 % probability if each strength has resamples of its own.

    The authors' script draws them so; ours are the same for all strengths, which moves the best one less.
    """
    rng, best = np.random.default_rng(0), []
    for findings in found:
        values, noise = findings.column(column), findings.column(f"{column}_noise")
        drawn = values + noise * rng.standard_normal((n_draws, values.size))
        best.append(findings.strengths[np.nanargmax(drawn, axis=1)])
    low, high = np.quantile(best, [0.025, 0.975])
    return float(low), float(high)


def tell_difference(result: hf.StudyResult, first: float, second: float, measure: str) -> str:
    """Say how much more stable the second penalty strength is than the first, paired over the resamples of a study."""
    runs = [result.preferences(find_name(result, strength)) for strength in (second, first)]
    found = hf.compare(runs[0], runs[1], measure, paired=True)
    low, high = found.ci()
    p = f"p = {found.p_value:.2g}" if found.p_value >= 0.001 else "p < 0.001"
    return (
        f"On the first data set the stability at λ = {second:.3g} is {found.difference:+.2f} against that at λ = "
        f"{first:.3g} (95 % interval {low:+.2f} to {high:+.2f}, paired over resamples; {p})."
    )


def describe_protocol(bench: Workbench) -> str:
    """Return what was done, in words."""
    scale = find_scale(bench)
    return (
        f"{scale.n_sets} data sets at each redundancy (`datasets.make_redundant`, seeds 0 to {scale.n_sets - 1}; the "
        f"papers drew one): {scale.n_samples} rows, {scale.n_features} features, of which {scale.n_relevant} are "
        f"relevant. On the first half of the rows, the lasso at {len(make_strengths(scale.n_strengths))} penalty "
        f"strengths λ ({scale.n_strengths} from {LARGEST:g} down to {SMALLEST:g}, and those that are printed) on "
        f"{scale.n_resamples} bootstrap samples, the same for all λ; scores are those of the rows that a sample left "
        "out. The second half is for the final fit. Models are solved to the optimum."
    )


# Errors of final fits


def final_errors(found: Sequence[LassoFindings], rule: str, measure: str, kind: str) -> list[float]:
    """Return the number of false positives or negatives of the final fit, for each data set."""
    return [float(getattr(findings.final[findings.chosen[measure, rule]], kind)) for findings in found]


def error_change(found: Sequence[LassoFindings], measure: str, kind: str, rule: str = "one-se") -> list[float]:
    """Return how much a rule changes these errors against the best likelihood, for each data set."""
    pairs = zip(final_errors(found, rule, measure, kind), final_errors(found, "likelihood", measure, kind), strict=True)
    return [after - before for after, before in pairs]


def error_table(found: Mapping[str, Sequence[LassoFindings]], measure: str) -> pd.DataFrame:
    """Return means over data sets by redundancy and by the rule that chose the penalty strength."""
    rows = [
        {
            "redundancy": level, "λ by": rule,
            "λ": f"{np.exp(np.mean(np.log([findings.chosen[measure, rule] for findings in drawn]))):.2g}",
            "FP": f"{_mean_errors(drawn, rule, measure, 'false_positives'):.1f}",
            "FN": f"{_mean_errors(drawn, rule, measure, 'false_negatives'):.1f}",
            "stability": f"{np.mean([findings.at_choice(rule, measure, measure) for findings in drawn]):.2f}",
            "log-likelihood":
                f"{np.mean([findings.at_choice(rule, 'log_likelihood', measure) for findings in drawn]):.4f}",
        }
        for level, drawn in found.items() for rule in (*RULES, MAX_STABLE)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _mean_errors(found: Sequence[LassoFindings], rule: str, measure: str, kind: str) -> float:
    return float(np.mean(final_errors(found, rule, measure, kind)))


def tell_rules(found: Mapping[str, Sequence[LassoFindings]], measure: str) -> str:
    """Say what the choice of a rule changes, and what correlated features that stand in for each other change."""
    parts, aware = [], []
    for level, drawn in found.items():
        others = [_mean_errors(drawn, rule, measure, "false_positives") for rule in (*RULES, MAX_STABLE)][1:]
        parts.append(
            f"{WORDS[level]} {_mean_errors(drawn, 'likelihood', measure, 'false_positives'):.1f} at the best "
            f"likelihood, {min(others):.1f} to {max(others):.1f} by the three rules that use stability"
        )
        plain = np.mean([findings.at_choice("likelihood", measure, measure) for findings in drawn])
        with_stand_ins = np.mean([findings.aware[findings.chosen[measure, "likelihood"]] for findings in drawn])
        aware.append(f"{WORDS[level]} {plain:.2f} and {with_stand_ins:.2f}")
    return (
        f"False positives of the final fit, means over data sets: {'; '.join(parts)}. Stability at the best "
        f"likelihood, as it is and if features with a correlation of at least {ALIKE:g} count as stand-ins (`yu`): "
        f"{'; '.join(aware)}."
    )
