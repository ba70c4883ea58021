"""Intervals and tests of the stability on simulated selections: Figures 3 to 5 and Table 4.

The selection probabilities behind the three cases are not printed, nor is the second stability of Figure 5; ours are
two values, one for each of ``SIZE`` features and one for all others.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

import holdfast as hf
from holdfast import plots
from holdfast.datasets import make_selections
from reproductions.experiments import experiment
from reproductions.records import Claim, Evidence, Outcome, Picture, Rule, Table
from reproductions.redundancy import NEAR, judge
from reproductions.workbench import Workbench

PAPER = "nogueira2018"
CASES = (0.8, 0.5, 0.3)
D, SIZE, LARGE_D = 100, 20, 10_000
LEVELS = (0.99, 0.95, 0.90)
TABLE_4 = {0.8: ("0.985", "0.943", "0.890"), 0.5: ("0.986", "0.938", "0.890"), 0.3: ("0.986", "0.940", "0.893")}
"""Coverage at the three levels, M = 100, d = 100 (Table 4, Section 5.3)."""
THEIR_REPEATS = 10_000
SAME_COVERAGE = 0.015
"""How far two coverages may be apart and count as the same."""
CLOSE = 0.03
"""How far a coverage may be from its level and count as close."""
SECOND = 0.782
"""The second stability of Figure 5, right, for which our median is about the printed one."""
FIGURE_5 = {"median": "-3.8", "low": "-7.6", "high": "-0.4"}
"""The statistic where the stabilities differ (Section 5.3)."""
CASE = "Φ = {:g}"
UNKNOWN = "The selection probabilities are not printed, and the result depends on them."
Floats = NDArray[np.float64]
Cell = Mapping[Any, Any]
"""A row of the simulated coverages."""


def draw(
    stability: float, n_runs: int, rng: np.random.Generator, n_features: int = D, **options: Any
) -> hf.Preferences:
    """Simulate runs with this population stability; a fifth of the features is often selected."""
    return make_selections(
        stability=stability,
        size=SIZE * n_features // D,
        n_features=n_features,
        n_runs=n_runs,
        random_state=rng,
        **options,
    )


# Figure 3


@experiment(
    PAPER, "figure3", shows="Figure 3", title="the estimate approaches the population stability",
    question="How many runs does the estimate need to be near the population stability?",
)  # fmt: skip
def show_consistency(bench: Workbench) -> Outcome:
    """Errors of the estimate from the first M runs of many sequences."""
    counts, repeats = [2, 5, 10, 20, 50, 100, 200, 500, 1000][: bench.choose(9, 6)], bench.choose(300, 20)
    frame = bench.frame("sequences", lambda: draw_sequences(bench, counts, repeats))
    errors = {case: own.drop(columns="case").to_numpy() for case, own in frame.groupby("case", sort=False)}
    rows = [
        (CASE.format(case), M, "estimate", case + np.median(own), *(case + np.quantile(own, [0.05, 0.95])))
        for case in CASES for M, own in zip(counts, errors[case].T, strict=True)
    ]  # fmt: skip
    curves = pd.DataFrame(rows, columns=["line", "setting", "quantity", "value", "low", "high"])
    typical = pd.DataFrame({CASE.format(case): np.median(np.abs(errors[case]), axis=0) for case in CASES},
                           index=pd.Index(counts, name="M"))  # fmt: skip
    ratios = {case: compare_errors(bench, errors[case][:, [counts.index(10), -1]]) for case in CASES}
    return Outcome(
        claims=[
            *(
                judge(f"From M = {M} on the estimate is generally within {reach:.0%} of the population stability.",
                      "Figure 3", "Section 5.1", f"within {reach}", share_within(errors, counts.index(M), reach),
                      Rule(text="in more than half of the sequences of each case", low=0.5, base_low=1.0, strict=True),
                      UNKNOWN)
                for M, reach in ((10, 0.05), (100, 0.01))
            ),
            judge(f"The estimate approaches the population stability: its median error at M = {counts[-1]:,} is small "
                  "against that at M = 10 (the largest ratio of three cases).", "Figure 3", "Theorem 7", "consistent",
                  max(ratios.values(), key=lambda ratio: ratio.value), Rule.at_most(0.2)),
        ],
        tables=[Table(title=f"Median error over {repeats} sequences of runs, by M", frame=typical, digits=4)],
        pictures=[
            Picture(
                name="consistency", exhibit="Figure 3",
                chart=plots.plot_setting(
                    curves, "M", level=0.9, lines="population",
                    title=f"The largest of three median errors is {typical.iloc[0].max():.3f} at M = {counts[0]} and "
                    f"{typical.iloc[-1].max():.3f} at M = {counts[-1]}",
                ),
                caption=f"The estimate against M, in the layout of Figure 3: median and 90 % range over {repeats} "
                "sequences of runs, from the first M runs of each.",
            )
        ],
        protocol=f"d = {D} features and population stabilities of 0.8, 0.5 and 0.3 as in the paper; its selection "
        f"probabilities are not printed. Ours: {SIZE} features share a high probability, the others a low one. The "
        f"paper shows one sequence of runs, we draw {repeats} of each. “Within 5 % for M ≤ 10” is read as M ≥ 10, and "
        "so on, as an evident slip.",
    )  # fmt: skip


def draw_sequences(bench: Workbench, counts: list[int], repeats: int) -> pd.DataFrame:
    """Return estimate less truth, sequences × numbers of runs, of each case."""
    rng, rows = bench.rng(3), []
    for case in CASES:
        for _ in range(repeats):
            runs = draw(case, counts[-1], rng)
            rows.append({"case": case, **{str(M): hf.stability(runs.take(range(M))).value - case for M in counts}})
    return pd.DataFrame(rows)


def compare_errors(bench: Workbench, errors: Floats) -> Evidence:
    """Return the ratio of the median error with many runs to that with few, over redraws of the sequences."""
    rng, sizes = bench.rng(31), np.abs(errors)

    def ratio(sample: Floats) -> float:
        few, many = np.median(sample, axis=0)
        return float(many / few)

    draws = [ratio(sizes[rng.integers(len(sizes), size=len(sizes))]) for _ in range(500)]
    return Evidence.from_draws(ratio(sizes), draws, f"{len(sizes)} sequences")


def share_within(errors: dict[Any, Floats], place: int, reach: float) -> Evidence:
    """Return in which share of the sequences the error is so small, in the case where that is rarest."""
    inside = {case: np.abs(own[:, place]) <= reach for case, own in errors.items()}
    rarest = min(inside, key=lambda case: inside[case].mean())
    n = inside[rarest].size
    return Evidence.from_count(int(inside[rarest].sum()), n, f"{n} sequences of {CASE.format(rarest)}")


# Figure 4 and Table 4


@experiment(
    PAPER, "coverage", shows="Figure 4 and Table 4", title="how often confidence intervals hold the truth",
    question="Do the intervals of Corollary 8 hold the population stability as often as they promise?",
)  # fmt: skip
def show_coverage(bench: Workbench) -> Outcome:
    """Coverage at M = 100 for three levels, and at 90 % as M grows, with few features and many."""
    counts = bench.choose([5, 10, 20, 50, 100, 200], [10, 100])
    by_key = {(row["design"], row["M"], row["level"], row["case"]): row for row in simulate_coverage(bench, counts)}
    cells = {(case, level): by_key["plain", 100, level, case] for case in CASES for level in LEVELS}
    by_count = {M: [by_key["plain", M, 0.9, case] for case in CASES] for M in counts}
    many, correlated = ([by_key[name, 100, 0.9, case] for case in CASES] for name in ("many features", "correlated"))
    gap = {M: np.mean([abs(cell["covered"] - 0.9) for cell in found]) for M, found in by_count.items()}
    errors = {M: math.sqrt(sum(0.09 / cell["repeats"] for cell in own)) / len(own) for M, own in by_count.items()}
    first, last, simulated = counts[0], counts[-1], "repeats of the simulation"
    table = pd.DataFrame([
        {"case": CASE.format(case), "level": level, "printed": TABLE_4[case][LEVELS.index(level)],
         "ours": cell["covered"]}
        for (case, level), cell in cells.items()
    ]).set_index("case")  # fmt: skip
    few = by_count[first]
    return Outcome(
        claims=[
            *(judge_cell(case, level, cell) for (case, level), cell in cells.items()),
            judge(f"Coverage approaches 90 % as M grows: mean distance at M = {last}.", "Figure 4", "Section 5.2",
                  "quickly approaches", Evidence.from_error(gap[last], errors[last], simulated, digits=3),
                  Rule.at_most(0.02)),
            judge(f"Coverage is farther from 90 % at M = {first} than at M = {last}.", "Figure 4", "Section 5.2",
                  "quickly approaches", Evidence.from_error(gap[first] - gap[last], math.hypot(errors[first],
                  errors[last]), simulated, digits=3), Rule.above(0)),
            *(
                judge(f"With d = 10,000 features 90 % intervals cover about as much where {CASE.format(case)} (M = "
                      "100).", "", "Section 5.2", "the same behaviour", count_covered(cell),
                      Rule.between(0.9 - CLOSE, 0.9 + CLOSE))
                for case, cell in zip(CASES, many, strict=True)
            ),
        ],
        tables=[Table(title="Table 4: coverage of intervals by Corollary 8, M = 100", frame=table, digits=3)],
        pictures=[
            Picture(
                name="coverage", exhibit="Figure 4",
                chart=plots.plot_setting(tabulate_curves(by_count), "M", lines="population",
                                         title=f"90 % intervals by Corollary 8 are off by {gap[first]:.3f} at M = "
                                         f"{first}, and by {gap[last]:.3f} at M = {last}"),
                caption="Coverage of 90 % intervals by Corollary 8 against M, in the layout of Figure 4, with the 95 % "
                "error of the simulation.",
            )
        ],
        protocol=f"d = {D}, population stabilities 0.8, 0.5 and 0.3, M = 100 and {int(cells[0.8, 0.9]['repeats']):,} "
        f"repeats for Table 4 as in the paper; {int(few[0]['repeats']):,} at each other M of Figure 4, whose values of "
        f"M are not printed; {int(many[0]['repeats']):,} for d = {LARGE_D:,}. The selection probabilities are not "
        f"printed; ours are as for Figure 3. Coverages within {SAME_COVERAGE:.3f} count as the same, within {CLOSE:g} "
        "of the level as close.",
        notes=[
            f"With M = {first} runs 90 % intervals cover {few[0]['covered']:.1%} to {few[-1]['covered']:.1%}. With "
            "selections of neighboring features that are strongly correlated (0.7 within blocks of five) they cover "
            f"{min(cell['covered'] for cell in correlated):.1%} to {max(cell['covered'] for cell in correlated):.1%} "
            "at M = 100."
        ],
    )  # fmt: skip


def simulate_coverage(bench: Workbench, counts: list[int]) -> list[dict[Any, Any]]:
    """Return how often intervals hold the truth, a row for each design, M, case and level."""
    full, fewer, least = bench.choose((THEIR_REPEATS, 2000, 1000), (60, 20, 4))
    designs: list[tuple[str, int, int, dict[str, Any]]] = [
        *(("plain", M, full if M == 100 else fewer, {}) for M in counts),
        ("many features", 100, fewer, {"n_features": bench.choose(LARGE_D, 1000)}),
        ("correlated", 100, least, {"correlation": 0.7}),
    ]
    rows: list[dict[Any, Any]] = []
    for number, (design, M, repeats, options) in enumerate(designs):
        for case in CASES:
            rng = bench.rng(4, number, round(10 * case))
            frame = bench.frame(
                f"coverage-{design.replace(' ', '-')}-{M}-{case:g}",
                partial(count_covering, case, M, repeats, rng, options),
            )
            rows += frame.assign(design=design, M=M, case=case, repeats=repeats).to_dict("records")
    return rows


def count_covering(
    case: float, M: int, repeats: int, rng: np.random.Generator, options: dict[str, Any]
) -> pd.DataFrame:
    """Return how often intervals of Corollary 8 hold the truth, by level."""
    held = np.zeros(len(LEVELS))
    for _ in range(repeats):
        intervals = map(hf.stability(draw(case, M, rng, **options), method="asymptotic").ci, LEVELS)
        held += [low <= case <= high for low, high in intervals]
    return pd.DataFrame({"level": LEVELS, "covered": held / repeats})


def count_covered(cell: Cell) -> Evidence:
    """Return a coverage with its exact interval over the repeats of the simulation."""
    repeats = int(cell["repeats"])
    return Evidence.from_count(round(cell["covered"] * repeats), repeats, f"{repeats:,} repeats", digits=3)


def judge_cell(case: float, level: float, cell: Cell) -> Claim:
    """Judge a cell of Table 4, which comes from 10,000 repeats."""
    printed = TABLE_4[case][LEVELS.index(level)]
    rule = Rule.within(printed, SAME_COVERAGE, error=math.sqrt(level * (1 - level) / THEIR_REPEATS))
    return judge(f"{level:.0%} intervals cover the truth as often as printed where {CASE.format(case)}.", "Table 4",
                 "Section 5.2", printed, count_covered(cell), rule, UNKNOWN)  # fmt: skip


def tabulate_curves(by_count: Mapping[int, Sequence[Cell]]) -> pd.DataFrame:
    """Return the coverage of 90 % intervals against M."""
    rows = []
    for M, cells in by_count.items():
        for case, cell in zip(CASES, cells, strict=True):
            found = count_covered(cell)
            rows.append((CASE.format(case), M, "coverage", found.value, found.low, found.high))
    return pd.DataFrame(rows, columns=["line", "setting", "quantity", "value", "low", "high"])


# Figure 5


@experiment(
    PAPER, "figure5", shows="Figure 5", title="the statistic that compares two stabilities is normal",
    question="Is the statistic T_M standard normal for equal stabilities, and normal for different ones?",
)  # fmt: skip
def show_statistic(bench: Workbench) -> Outcome:
    """QQ plots of T_M for equal and for different stabilities."""
    M, repeats = bench.choose(1000, 60), bench.choose({0.8: 2000, SECOND: 1000}, {0.8: 40, SECOND: 40})
    equal, different = (draw_statistics(bench, second, M, n) for second, n in repeats.items())
    median = float(np.median(different))
    many = f"{equal.size:,} repeats"
    samples = {"0.8 and 0.8": equal, f"0.8 and {SECOND}": different}
    moments = pd.DataFrame(
        {name: [own.mean(), own.std(ddof=1), np.median(own), own.min(), own.max()] for name, own in samples.items()},
        index=["mean", "standard deviation", "median", "least", "largest"],
    )
    where, equal_where = "Section 5.3", "Theorem 9"
    return Outcome(
        claims=[
            judge("For equal stabilities the mean of T_M is 0.", "Figure 5", equal_where, "0",
                  Evidence.from_error(equal.mean(), 1 / math.sqrt(equal.size), many), Rule.between(-0.1, 0.1)),
            judge("For equal stabilities the standard deviation of T_M is 1.", "Figure 5", equal_where, "1",
                  Evidence.from_error(equal.std(ddof=1), 1 / math.sqrt(2 * equal.size), many), Rule.between(0.9, 1.1)),
            judge("For equal stabilities T_M has the quantiles of the standard normal distribution (largest distance "
                  "of the distributions).", "Figure 5", where, "on the line", from_normal(bench, equal, fitted=False),
                  Rule.at_most(0.06)),
            judge("For different stabilities T_M is normal (largest distance of the distributions).", "Figure 5", where,
                  "on the line", from_normal(bench, different, fitted=True), Rule.at_most(0.06)),
            judge("All values of T_M are negative where the second is less stable.", "Figure 5", where, "all",
                  Evidence.from_count(int((different < 0).sum()), different.size, f"{different.size:,} "
                      "repeats", digits=4),
                  Rule.share(0.99)),
            *(
                judge(f"Where the median is the printed one, the {name} of 1,000 values is the printed one too.",
                      "Figure 5", where, FIGURE_5[key], extreme_distance(bench, different, float(FIGURE_5[key]), pick),
                      NEAR)
                for name, key, pick in (("least", "low", np.min), ("largest", "high", np.max))
            ),
        ],
        tables=[Table(title="The statistic T_M, second less first", frame=moments.T.rename_axis("stabilities"))],
        pictures=[
            Picture(
                name="equal", chart=plots.plot_qq(equal), exhibit="Figure 5",
                caption=f"{equal.size:,} values of T_M where both stabilities are 0.8 (M = {M:,}), as Figure 5, left.",
            ),
            Picture(
                name="different", chart=plots.plot_qq(different, reference="fitted"), exhibit="Figure 5",
                caption=f"{different.size:,} values of T_M where the stabilities are 0.8 and {SECOND}, as Figure 5, "
                        "right.",
            ),
        ],
        protocol=f"d = {D}, M = {M:,}, {equal.size:,} repeats for equal and {different.size:,} for different "
                 "stabilities (the paper has 1,000). The second stability of the right panel is not printed; at "
                 f"{SECOND} our median is {median:.2f} (printed {FIGURE_5['median']}), so that it is not judged, but "
                 "the range is. Distributions count as the same if they are at most 0.06 apart.",
    )  # fmt: skip


def draw_statistics(bench: Workbench, second: float, M: int, repeats: int) -> Floats:
    """Return values of T_M by the published test, for a first stability of 0.8."""

    def simulate() -> pd.DataFrame:
        rng = bench.rng(5, round(1000 * second))
        pairs = ((draw(0.8, M, rng), draw(second, M, rng)) for _ in range(repeats))
        return pd.DataFrame({"T": [hf.compare(*pair, method="asymptotic", paired=False).statistic for pair in pairs]})

    return bench.frame(f"statistics-{second:g}", simulate)["T"].to_numpy(dtype=np.float64)


def from_normal(bench: Workbench, values: Floats, *, fitted: bool) -> Evidence:
    """Return the largest distance of a distribution from the normal one, over redraws of the sample."""
    rng, n = bench.rng(51), values.size

    def measure(sample: Floats) -> float:
        center, spread = (sample.mean(), sample.std(ddof=1)) if fitted else (0.0, 1.0)
        expected = norm.cdf(np.sort(sample), center, spread)
        return float(max((np.arange(1, n + 1) / n - expected).max(), (expected - np.arange(n) / n).max()))

    draws = [measure(values[rng.integers(n, size=n)]) for _ in range(200)]
    return Evidence.from_draws(measure(values), draws, f"{n:,} repeats", digits=3)


def extreme_distance(bench: Workbench, values: Floats, printed: float, pick: Callable[..., Any]) -> Evidence:
    """Return how many standard deviations a printed extreme lies from those of as many normal values like ours."""
    rng = bench.rng(52)

    def measure(sample: Floats) -> float:
        extremes = pick(rng.normal(sample.mean(), sample.std(ddof=1), size=(100, 1000)), axis=1)
        return float(abs(printed - extremes.mean()) / extremes.std(ddof=1))

    draws = [measure(values[rng.integers(values.size, size=values.size)]) for _ in range(100)]
    found = Evidence.from_draws(measure(values), draws, f"{values.size:,} repeats", digits=1)
    shown = f"ours {pick(values):.1f}; printed is {found} standard deviations away"
    return replace(found, shown=shown)
