"""The lasso on simulated data of known redundancy, which both papers of Nogueira study, and how one draw is judged.

The papers drew one data set at each redundancy, and new bootstrap samples for every penalty strength. We draw new ones
for neighboring strengths, on several data sets; a printed number holds if it lies near enough to ours, counted in
standard deviations of a data set.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

import holdfast as hf
from holdfast.datasets import Simulated, make_redundant
from holdfast.plots.theme import finish_chart, inline_data
from holdfast.tradeoff import pareto_front
from reproductions.records import Claim, Evidence, Picture, Rule, last_digit
from reproductions.workbench import Workbench

REDUNDANCIES = {"none": 0.0, "low": 0.3, "medium": 0.5, "high": 0.8}
"""The four redundancies of the papers (2018, page 26; 2016 has 0, 0.3, 0.5 and 0.8 too)."""
WORDS = {level: f"{'no' if level == 'none' else level} redundancy" for level in REDUNDANCIES}
PRINTED_STRENGTHS = (0.023, 0.0187, 0.009, 0.0051, 4.12e-4)
"""The penalty strengths of the lasso that the papers print, which join our grid; it ends at the smallest."""
LARGEST, SMALLEST = 0.35, 3.5e-5
"""Ends of the default path of 100 strengths: about where the first feature enters, and 1/10,000 of it."""
SCORE = "neg_log_loss"
Choice = Literal["likelihood", "one-se", "most stable"]
BOTH: tuple[Choice, ...] = ("one-se", "most stable")
"""How λ is chosen by likelihood and stability; the papers print no rule, so that claims must hold for either."""
TOLD = (
    "“By both” is read in two ways, as the papers print no rule: the most stable λ within one standard error of the "
    "best likelihood (`one-se`), and the most stable λ of all that penalize at least as much (`most stable`). Claims "
    "hold if they do for either."
)
NEAR = Rule(text="at most 2 standard deviations of a data set from our mean", high=2.0)
FEW_FEATURES = Rule.word("limited", "features")
"""What "no significant effect" (2016) and "a limited effect" (2018) on false negatives mean."""
MOST = Rule.share(0.8)
"""What the paper saw on its data set is seen on most."""
FARTHEST = 99.0
"""Standard deviations from which on a distance is no longer told."""
N_REDRAWS = 1000
Floats = NDArray[np.float64]
Scales = Literal["plain", "factors", "counts"]


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


# Data and runs


def find_scale(bench: Workbench) -> Scale:
    """Return how much the full or the quick protocol simulates."""
    return bench.choose(FULL, QUICK)


def make_strengths(n_strengths: int) -> list[float]:
    """Return the penalty strengths, the largest first: the default path down to the smallest printed one."""
    path = np.geomspace(LARGEST, SMALLEST, n_strengths).round(8).tolist()
    return sorted({*(value for value in path if value > min(PRINTED_STRENGTHS)), *PRINTED_STRENGTHS}, reverse=True)


def draw_data(bench: Workbench, rho: float, number: int) -> Simulated:
    """Draw a data set; its first half is for the resamples, its second half for the final fit."""
    scale = find_scale(bench)
    return make_redundant(
        rho, n_samples=scale.n_samples, n_features=scale.n_features, n_relevant=scale.n_relevant,
        random_state=1000 * bench.seed + number,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class LassoRun:
    """What the lasso did on one data set.

    Attributes
    ----------
    curve : DataFrame
        One row per penalty strength, the largest first: out-of-bag ``log_likelihood`` (a mean over rows) with its
        standard error ``log_likelihood_se``, ``error`` (minus its sum over rows), ``misclassified``, ``size``,
        stability by ``pearson`` and by ``nogueira`` with its interval (``low``, ``high``), and ``false_positives``
        and ``false_negatives`` of a fit to the other half of the rows.
    frequency : DataFrame
        Selection frequencies, penalty strengths × features.
    """

    curve: pd.DataFrame
    frequency: pd.DataFrame

    def at(self, strength: float, column: str) -> float:
        """The value of a column of the curve at a penalty strength of the grid."""
        return float(self.curve[column].to_dict()[strength])

    def choose(self, rule: Choice, measure: str = "nogueira") -> float:
        """The penalty strength by a rule; where nothing is selected there is nothing to choose."""
        columns = ("log_likelihood", "log_likelihood_se", "size", measure)
        likelihood, error, size, stability = self.curve[list(columns)].to_numpy(dtype=np.float64).T
        strengths, allowed = self.curve.index.to_numpy(dtype=np.float64), size >= 1
        best = int(np.where(allowed, likelihood, -np.inf).argmax())
        if rule == "likelihood":
            return float(strengths[best])
        allowed &= strengths >= strengths[best]
        if rule == "one-se":
            allowed &= likelihood >= likelihood[best] - error[best]
        return float(strengths[np.nanargmax(np.where(allowed, stability, np.nan))])

    def at_choice(self, rule: Choice, column: str, measure: str = "nogueira") -> float:
        """The value of a column of the curve at the strength that a rule chooses."""
        return self.at(self.choose(rule, measure), column)

    def shares(self, strength: float) -> Floats:
        """The selection frequencies of all features at a penalty strength."""
        return self.frequency.to_numpy(dtype=np.float64)[self.frequency.index.get_loc(strength)]

    def overlaps(self, strength: float) -> bool:
        """Whether some irrelevant feature is selected more often than some relevant one."""
        shares = self.shares(strength)
        return bool(self.false_shares(strength).max() > shares[: shares.size // 2].min())

    def false_shares(self, strength: float) -> Floats:
        """The selection frequencies of the irrelevant features."""
        shares = self.shares(strength)
        return shares[shares.size // 2 :]

    @property
    def front(self) -> pd.DataFrame:
        """The strengths that none beats in likelihood and stability, the best likelihood first."""
        curve = self.curve.dropna()
        on_front = pareto_front(curve["log_likelihood"], curve["nogueira"])
        return curve[on_front].sort_values("log_likelihood", ascending=False)


def run_lasso(bench: Workbench, rho: float) -> list[LassoRun]:
    """Run the lasso on every data set of a redundancy, or read what was stored; experiments share these runs."""
    shared, runs = bench.sharing("lasso-by-redundancy"), []
    for number in range(find_scale(bench).n_sets):
        frame = shared.frame(f"rho-{rho:g}-set-{number}", partial(_run_once, bench, rho, number)).set_index("strength")
        features = [name for name in frame.columns if name.startswith("x")]
        runs.append(LassoRun(curve=frame.drop(columns=features), frequency=frame[features]))
    return runs


def _run_once(bench: Workbench, rho: float, number: int) -> pd.DataFrame:
    """One row per penalty strength; neighbors on the path are fitted to other bootstrap samples."""
    X, y, truth = draw_data(bench, rho, number)
    scale, half = find_scale(bench), len(y) // 2
    strengths, rows = make_strengths(scale.n_strengths), []
    n_pools, relevant = count_pools(bench), np.isin(np.arange(X.shape[1]), truth.relevant)
    for pool, stream in enumerate(bench.rng(number, round(10 * rho)).integers(2**31, size=n_pools).tolist()):
        plan = hf.Study(
            selectors={
                "lasso": hf.Candidates(hf.selectors.ElasticNetPath(), {"penalty_strength": strengths[pool::n_pools]})
            },
            perturbation=hf.Bootstrap(scale.n_resamples), scoring=[SCORE, "accuracy"], random_state=stream,
        )  # fmt: skip
        result = plan.run(X[:half], y[:half], keep_predictions=False)
        usual, pearson = (result.summary(measure).to_dict("index") for measure in ("nogueira", "pearson"))
        for name in result.candidates:
            row, (scores, splits) = usual[name], result.split_scores(name, SCORE)
            strength = float(result.settings(name)["penalty_strength"])
            selected = hf.selectors.ElasticNetPath(strength).fit(X[half:], y[half:]).get_support()
            rows.append({
                "strength": strength, "log_likelihood": row[SCORE], "log_likelihood_se": row[f"{SCORE}_se"],
                "error": float(-(scores * splits["n_test"]).mean()), "misclassified": 1 - row["accuracy"],
                "size": row["size"], "pearson": pearson[name]["stability"], "nogueira": row["stability"],
                "low": row["low"], "high": row["high"], "false_positives": int((selected & ~relevant).sum()),
                "false_negatives": int((relevant & ~selected).sum()),
                **{f"x{feature}": share for feature, share in enumerate(result.preferences(name).frequency)},
            })  # fmt: skip
    return pd.DataFrame(rows).sort_values("strength", ascending=False)


def count_pools(bench: Workbench) -> int:
    """Return how many sets of bootstrap samples are drawn: as many as strengths in the largest run."""
    return bench.choose(5, 2, len(make_strengths(FULL.n_strengths)))


def describe_protocol(bench: Workbench) -> str:
    """Return what was done, in words."""
    scale = find_scale(bench)
    strengths = make_strengths(scale.n_strengths)
    return (
        f"{scale.n_sets} data sets at each redundancy (`datasets.make_redundant`); the papers drew one. Each has "
        f"{scale.n_samples} rows and {scale.n_features} features, of which {scale.n_relevant} are relevant. On the "
        f"first half of the rows, the lasso at {len(strengths)} penalty strengths λ (the default path of "
        f"{scale.n_strengths} from {LARGEST:g} down to the smallest printed one, {strengths[-1]:g}, and all that are "
        f"printed), each on {scale.n_resamples} bootstrap samples; scores are those of the rows that a sample left "
        f"out. The authors draw new samples for every λ; here {count_pools(bench)} λ in a row have different ones "
        "(`--large`: all). The second half is for the final fit. Models are solved to the optimum. Intervals are over "
        "the data sets, which are redrawn."
    )


# One printed draw beside several of ours


def distance(printed: str | Sequence[str], ours: ArrayLike, scale: Scales = "plain", digits: int = 2) -> Evidence:
    """Return how many standard deviations of a data set a printed number lies from the mean of ours.

    Parameters
    ----------
    printed : str, or sequence of str
        The number, or several of one data set, of which the farthest counts; any that rounds to it is as good.
    ours : array
        The number on each of our data sets, or data sets × numbers.
    scale : {"plain", "factors", "counts"}
        Whether logarithms are compared, as of penalty strengths, or square roots, whose spread is about the same for
        counts of any size, also near 0.
    digits : int
        Digits of our mean.
    """
    texts, values = [printed] if isinstance(printed, str) else list(printed), np.asarray(ours, dtype=np.float64)
    transform: Callable[[Floats], Floats] = {"plain": np.positive, "factors": np.log, "counts": np.sqrt}[scale]
    own = transform(values.reshape(len(values), len(texts)))
    ends = np.array([[float(text) - last_digit(text) / 2, float(text) + last_digit(text) / 2] for text in texts])
    low, high = transform(np.maximum(ends, 0.0) if scale == "counts" else ends).T

    def measure(sample: Floats) -> float:
        mean, spread = sample.mean(axis=0), np.maximum(sample.std(axis=0, ddof=1), 1e-12)
        return float((np.maximum(low - mean, mean - high) / spread).clip(0, FARTHEST).max())

    rng = np.random.default_rng(0)
    draws = [measure(own[rng.integers(len(own), size=len(own))]) for _ in range(N_REDRAWS)]
    found = Evidence.from_draws(measure(own), draws, f"{len(own)} data sets", n_units=len(own), digits=1)
    center = np.exp(own.mean(axis=0)) if scale == "factors" else values.reshape(own.shape).mean(axis=0)
    kind = "g" if scale == "factors" else "f"
    means = ", ".join(f"{value:.{digits}{kind}}" for value in center)
    shown = f"{'geometric mean' if scale == 'factors' else 'mean'} {means}; printed is {found} standard deviations away"
    return replace(found, shown=shown)


def judge(
    claim: str, exhibit: str, where: str, printed: str, evidence: Evidence, rule: Rule, reason: str = ""
) -> Claim:
    """Make a claim of a paper about data or a simulation."""
    return Claim(
        claim=claim, exhibit=exhibit, where=where, printed=printed, evidence=evidence, rule=rule, reason=reason
    )


def gain(values: ArrayLike, digits: int = 2) -> Evidence:
    """Return the mean of a change over data sets."""
    sample = np.asarray(values, dtype=np.float64)
    return Evidence.from_sample(sample, f"{sample.size} data sets", digits=digits)


def by_both(evidence: Sequence[Evidence]) -> Evidence:
    """Return the range over both readings of how λ is chosen by likelihood and stability; one number as it is."""
    ways = f"; {len(evidence)} ways to choose λ" if len(evidence) > 1 else ""
    return Evidence.over(evidence, evidence[0].varied + ways)


def share_of_sets(answers: Sequence[bool]) -> Evidence:
    """Return the share of data sets on which something is so."""
    n, n_true = len(answers), sum(answers)
    return Evidence.from_count(n_true, n, f"{n} data sets", shown=f"on {n_true} of {n}")


ERRORS = ("false_positives", "false_negatives")


def errors_of(runs: Sequence[LassoRun], rule: Choice, measure: str) -> Floats:
    """Return false positives and false negatives of the final fits: data sets × 2."""
    return np.array([[run.at_choice(rule, column, measure) for column in ERRORS] for run in runs])


def judge_errors(
    level: str, printed: Sequence[tuple[int, int]], runs: Sequence[LassoRun], measure: str, exhibit: str, where: str,
    reason: str = "",
) -> list[Claim]:  # fmt: skip
    """Judge a row of the table of final fits: its two cells, and how many errors stability spares."""
    ways: dict[str, tuple[Choice, ...]] = {"likelihood": ("likelihood",), "likelihood and stability": BOTH}
    title, errors = WORDS[level].capitalize(), {rule: errors_of(runs, rule, measure) for rule in ("likelihood", *BOTH)}
    cells = [
        judge(f"{title}: false positives and negatives of the final fit where λ is chosen by {what}.", exhibit, where,
              f"FP = {numbers[0]}, FN = {numbers[1]}",
              by_both([distance([str(n) for n in numbers], errors[rule], "counts", 1) for rule in rules]), NEAR, reason)
        for numbers, (what, rules) in zip(printed, ways.items(), strict=True)
    ]  # fmt: skip
    if level == "none":
        return cells
    fewer, more = (
        by_both([gain(sign * (errors[rule] - errors["likelihood"])[:, column], 1) for rule in BOTH])
        for column, sign in enumerate((-1, 1))
    )
    return [
        *cells,
        judge(f"{title}: stability spares false positives.", exhibit, where, "fewer", fewer, Rule.above(0)),
        judge(f"{title}: stability has no considerable effect on false negatives.", exhibit, where, "limited", more,
              FEW_FEATURES),
    ]  # fmt: skip


def error_table(found: Mapping[str, Sequence[LassoRun]], measure: str) -> pd.DataFrame:
    """Return means over data sets by redundancy and by the rule that chose the penalty strength."""
    rules: tuple[Choice, ...] = ("likelihood", *BOTH)
    rows = []
    for level, runs in found.items():
        for rule in rules:
            columns = (*ERRORS, measure, "log_likelihood", "misclassified")
            means = {name: np.mean([run.at_choice(rule, name, measure) for run in runs]) for name in columns}
            strength = np.exp(np.mean(np.log([run.choose(rule, measure) for run in runs])))
            rows.append(
                {"redundancy": level, "λ by": rule, "λ": f"{strength:.2g}", "FP": f"{means['false_positives']:.1f}",
                 "FN": f"{means['false_negatives']:.1f}", "stability": f"{means[measure]:.2f}",
                 "log-likelihood": f"{means['log_likelihood']:.4f}", "misclassified": f"{means['misclassified']:.3f}"}
            )  # fmt: skip
    return pd.DataFrame(rows)


# Pictures


PINK, BLACK, RED, BLUE = "#d6438a", "#222222", "#c62828", "#0072B2"
SPREAD = alt.Scale(zero=False)


def draw_curves(
    found: Mapping[str, Sequence[LassoRun]], quantities: Mapping[str, str], measure: str, finding: str
) -> alt.VConcatChart:
    """Draw means over data sets against λ, a row per redundancy, with dashed lines at the two best λ (2018, Figure 6).

    The pink line is at the best likelihood, the black one at the highest stability (geometric means over data sets).
    """
    rows = []
    for level, runs in found.items():
        best = [
            np.exp(np.mean(np.log([run.choose(rule, measure) for run in runs]))) for rule in ("likelihood", BOTH[1])
        ]
        marks = pd.DataFrame({"λ": best, "best": ["likelihood", "stability"]})
        panels = []
        told = (f"likeliest λ {best[0]:.2g}", f"most stable λ {best[1]:.2g}")
        for (column, title), optimum in zip(quantities.items(), told, strict=True):
            mean = pd.concat([run.curve[column] for run in runs], axis=1).mean(axis=1)
            axis, log = alt.Axis(format="~g", values=[0.001, 0.01, 0.1]), alt.Scale(type="log", nice=False)
            line = alt.Chart(inline_data(pd.DataFrame({"λ": mean.index, "value": mean.to_numpy()}).dropna()))
            y = alt.Y("value:Q", title=title, scale=SPREAD)
            colors = alt.Scale(domain=["likelihood", "stability"], range=[PINK, BLACK])
            dashed = alt.Chart(inline_data(marks)).mark_rule(strokeDash=[5, 3])
            panel = alt.layer(
                line.mark_line(color=BLUE).encode(x=alt.X("λ:Q", scale=log, axis=axis), y=y),
                dashed.encode(x="λ:Q", color=alt.Color("best:N", title="best λ for", scale=colors)),
            )
            panels.append(panel.properties(width=230, height=120, title=f"ρ = {REDUNDANCIES[level]:g}: {optimum}"))
        rows.append(alt.hconcat(*panels))
    return finish_chart(alt.vconcat(*rows), finding, ["means over data sets"], width=560)


def draw_points(
    runs: Mapping[str, LassoRun], finding: str, *, x: str, y: str, titles: tuple[str, str]
) -> alt.ConcatChart:
    """Draw one quantity of the curve against another, every point a λ, a panel per data set, with 95 % intervals."""
    panels = []
    for name, run in runs.items():
        frame = run.curve.dropna().reset_index()[["strength", x, y, "low", "high"]].rename(columns={x: "x", y: "y"})
        across, up = (alt.X("x:Q", title=titles[0], scale=SPREAD), alt.Y("y:Q", title=titles[1], scale=SPREAD))
        base = alt.Chart(inline_data(frame)).encode(x=across, tooltip=["strength:Q", "x:Q", "y:Q"])
        points = base.mark_circle(color=BLUE, size=22).encode(y=up)
        intervals = [base.mark_rule(color=BLUE, opacity=0.35).encode(y="low:Q", y2="high:Q")] if y == "nogueira" else []
        panels.append(alt.layer(*intervals, points).properties(width=240, height=180, title=name))
    return finish_chart(alt.concat(*panels, columns=2), finding, ["every point is a λ"], width=560)


def picture_frequencies(exhibit: str, shares: Mapping[str, Floats], about: str) -> Picture:
    """Return the selection frequencies of every feature, a panel per λ; the red line ends the relevant features."""
    panels = []
    for title, values in shares.items():
        frame = pd.DataFrame({"feature": np.arange(1, values.size + 1), "frequency": values})
        y = alt.Y("frequency:Q", scale=alt.Scale(domain=[0, 1]))
        bars = alt.Chart(inline_data(frame)).mark_bar(color=BLUE, size=2).encode(x="feature:Q", y=y)
        line = alt.Chart(inline_data(pd.DataFrame({"feature": [values.size / 2 + 0.5]}))).mark_rule(color=RED)
        panels.append(alt.layer(bars, line.encode(x="feature:Q")).properties(width=250, height=150, title=title))
    means = ", ".join(f"{values[values.size // 2 :].mean():.1%} ({title})" for title, values in shares.items())
    finding = f"Irrelevant features are selected in {means}"
    return Picture(
        name="frequencies", exhibit=exhibit,
        chart=finish_chart(alt.hconcat(*panels), finding, ["relevant features are left of the red line"], width=560),
        caption=f"Selection frequency of every feature {about}, in the layout of {exhibit}.",
    )  # fmt: skip
