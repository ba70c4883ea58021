"""Properties of measures: Figures 1 and 2, and Table 2."""

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import holdfast as hf
from holdfast import plots
from holdfast.testing import stability_value
from reproductions import unconverted
from reproductions.experiments import experiment
from reproductions.nogueira2018.enumeration import (
    ALPHA,
    FINDERS,
    PRINTED,
    PROPERTIES,
    ROUNDING,
    Collections,
    enumerate_collections,
    value_of,
)
from reproductions.records import Claim, Outcome, Picture, Table
from reproductions.workbench import Workbench

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

PAPER = "nogueira2018"

# Figures 1 and 2


@experiment(PAPER, "figure1", shows="Figure 1", title="which measures are largest exactly where all runs agree")
def show_maximum(bench: Workbench) -> Outcome:
    """Half of the runs miss a feature; then all runs agree."""
    left, right = _half_differ_and_all_agree(d := 10, M := 100)
    largest = left.groupby("line")["value"].agg(["min", "max"])
    varying = right.groupby("line")["value"].agg(np.ptp) > ROUNDING
    at_one = sorted(largest.index[largest["min"] > 1 - ROUNDING])
    return Outcome(
        claims=[
            unconverted.fact(
                "Wald's measure and CW_rel still return their maximum of 1 where half of the runs miss a feature.",
                "Figure 1a, Section 3.4", holds=at_one == ["CW_rel", "Wald"], published="Wald and CW_rel",
                ours=_join(at_one), rule="these and no others of Table 2 are 1 at every k",
            kind="exact"),
            unconverted.fact(
                "Lustgarten's and Goh's measures vary with k though all runs agree.", "Figure 1b, Section 3.4",
                holds=set(varying.index[varying]) == {"Lustgarten", "Goh"}, published="Lustgarten and Goh",
                ours=_join(sorted(varying.index[varying])),
                rule="these and no others of Table 2, but for Krízek and Davis, vary by more than rounding",
            kind="exact"),
        ],
        pictures=[
            Picture(
                name="half-differ", chart=_draw(
                    left, f"1 where half of the runs miss a feature: {_join(at_one)}",
                    "Wald", "CW_rel", "Jaccard", "Hamming", "the new measure",
                ),
                caption="Beside Figure 1a: half of 100 runs select features 1 to k of 10, the others 1 to k − 1. "
                "Wald's measure and CW_rel coincide.",
            ),
            Picture(
                name="all-agree", chart=_draw(
                    right, f"Vary with k though all runs agree: {_join(sorted(varying.index[varying]))}",
                    "Lustgarten", "Goh", "Jaccard", "Wald", "the new measure",
                ),
                caption="Beside Figure 1b: all 100 runs select features 1 to k of 10. Jaccard's index, Wald's and the "
                "new measure coincide, and from k = 5 on Goh's and Lustgarten's.",
            ),
        ],
        protocol=f"d = {d} features, M = {M} runs, as in the paper. Davis' measure, whose penalty is not given, and "
        "Krízek's, which is lower for more stable selections, are left out; the values are exact.",
        notes=[
            "The new measure has neither fault, and tells what one feature more or less in half of the runs matters: "
            f"from {_extreme(left, 'idxmin')} to {_extreme(left, 'idxmax')}."
        ],
    )  # fmt: skip


def _half_differ_and_all_agree(d: int, M: int) -> list[pd.DataFrame]:
    """Values of the measures by k where half of M runs miss the last of k features, and where all agree."""
    names = [name for name in PRINTED if name not in ("davis", "krizek")]  # one needs a penalty, one is lower if better
    differ = {k: [range(k)] * (M // 2) + [range(k - 1)] * (M // 2) for k in range(2, d)}
    agree = {k: [range(k)] * M for k in range(1, d)}
    rows = [
        [(PRINTED[name][0], k, value_of(name, sets, d)) for name in names for k, sets in runs.items()]
        for runs in (differ, agree)
    ]
    return [pd.DataFrame(part, columns=["line", "setting", "value"]).dropna() for part in rows]


def _join(names: list[str]) -> str:
    return " and ".join(names) or "none"


def _draw(table: pd.DataFrame, title: str, *lines: str) -> "AnyChart":
    shown = table[table["line"].isin(lines)].assign(quantity="stability value")
    return plots.plot_setting(shown, "k", lines="measure", title=title)


def _extreme(table: pd.DataFrame, which: str) -> str:
    own = table[table["line"] == "the new measure"]
    row = own.loc[getattr(own["value"], which)()]
    return f"{row['value']:.2f} at k = {row['setting']}"


@experiment(PAPER, "figure2", shows="Figure 2", title="measures of random selections against their size")
def show_correction(bench: Workbench) -> Outcome:
    """Random sets of k features: which measures stay at one value."""
    d, M, repeats = 10, 100, bench.choose(200, 5)
    table = _random_selections(d, M, repeats)
    lines = {line: part.reset_index(drop=True) for line, part in table.groupby("line")}
    steps = np.diff(lines["Dice"]["value"])
    step = int(steps.argmin())
    spread = float(np.hypot(*lines["Dice"]["error"][step : step + 2]))
    worst = (lines["Kuncheva"]["value"] / lines["Kuncheva"]["error"]).abs().max()
    formula = {"Dice": "k/d", "POG": "k/d", "Hamming": "1 − 2(k/d)(1 − k/d)"}
    expected = {line: _expected(line, np.arange(1, d) / d) for line in formula}
    return Outcome(
        claims=[
            unconverted.order(
                "By Dice's index the stability of random selections systematically rises with their size.",
                "Section 3.5", difference=steps[step], low=steps[step] - 2 * spread, high=steps[step] + 2 * spread,
                published="rises", digits=3,
            ),
            unconverted.fact(
                "Kuncheva's measure is close to 0 for random selections, whatever their size.", "Section 3.5",
                holds=worst < 4, published="0", rule="no mean is 4 standard errors from 0 (nine are looked at)",
                ours=f"at most {worst:.1f} standard errors, {lines['Kuncheva']['value'].abs().max():.4f}",
            ),
            *(
                unconverted.fact(
                    f"For random selections of one size {line} is {formula[line]} on average.", "Appendix C.5.1",
                    holds=(off := (lines[line]["value"] - expected[line]).abs() / lines[line]["error"]).max() < 4,
                    published=formula[line], ours=f"off by at most {off.max():.1f} standard errors",
                    rule="no mean is 4 standard errors off (nine are looked at)", kind="exact",
                )
                for line in formula
            ),
        ],
        pictures=[
            Picture(
                name="random",
                chart=plots.plot_setting(
                    table.assign(quantity="stability value"), "k", lines="measure",
                    title="For random selections Kuncheva's measure is within "
                    f"{lines['Kuncheva']['value'].abs().max():.4f} of 0; Dice's index goes from "
                    f"{lines['Dice']['value'].iloc[0]:.2f} to {lines['Dice']['value'].iloc[-1]:.2f}",
                ),
                caption=f"Beside Figure 2: means over {repeats} collections of 100 random selections of k of 10 "
                "features; bands of two standard errors. Dice and POG coincide.",
            )
        ],
        protocol=f"d = {d}, M = {M} as in the paper; the paper shows one collection for each k, we average {repeats}.",
    )  # fmt: skip


def _random_selections(d: int, M: int, repeats: int) -> pd.DataFrame:
    """Mean value of five measures for M random selections of k features, with its standard error."""
    rng = np.random.default_rng(2)
    rows = []
    for k, name in itertools.product(range(1, d), ("hamming", "pog", "jaccard", "dice", "kuncheva")):
        values = [
            value_of(name, rng.permuted(np.tile(np.arange(d), (M, 1)), axis=1)[:, :k].tolist(), d)
            for _ in range(repeats)
        ]
        mean, error = np.mean(values), np.std(values, ddof=1) / math.sqrt(repeats)
        rows.append((PRINTED[name][0], k, mean, mean - 2 * error, mean + 2 * error, error))
    return pd.DataFrame(rows, columns=["line", "setting", "value", "low", "high", "error"])


def _expected(line: str, share: Any) -> Any:
    return 1 - 2 * share * (1 - share) if line == "Hamming" else share


# Table 2


@experiment(PAPER, "table2", shows="Table 2", title="properties of 16 measures, by enumeration")
def tabulate_properties(bench: Workbench) -> Outcome:
    """Ticks as printed, beside counter-examples among all small collections."""
    sizes: list[tuple[int, ...]] = [(4, 2), (3, 3)] if bench.quick else [(4, 2), (4, 3), (4, 4), (5, 2), (5, 4, 2)]
    known = [enumerate_collections(*size) for size in sizes]
    found = {name: {column: FINDERS[column](name, known) for column in PROPERTIES} for name in PRINTED}
    cells = {
        name: [_cell(tick, found[name][column]) for tick, column in zip(ticks, PROPERTIES, strict=True)]
        for name, (_, ticks) in PRINTED.items()
    }
    table = pd.DataFrame.from_dict(cells, orient="index", columns=list(PROPERTIES))
    table.index = pd.Index([PRINTED[name][0] for name in PRINTED], name="measure")
    wrong = [
        (PRINTED[name][0], column, found[name][column])
        for name, (_, ticks) in PRINTED.items() for tick, column in zip(ticks, PROPERTIES, strict=True)
        if tick == "✓" and found[name][column]
    ]  # fmt: skip
    shown = ", ".join(f"d = {d} with M = {M}" + (f" and sizes of {own[0]}" if own else "") for d, M, *own in sizes)
    return Outcome(
        claims=[_column_check(place, column, found) for place, column in enumerate(PROPERTIES)]
        + [_new_measure_check(found["nogueira"])],
        tables=[
            Table(title="Table 2: ✓ and – as printed and as enumerated; ✗ a printed ✓ with a counter-example; ? a "
            "printed – "
                  "without one", frame=table),
            Table(title="Counter-examples to printed ticks; runs as rows of 0 and 1",
                  frame=pd.DataFrame(wrong, columns=["measure", "property", "counter-example"])),
        ],
        protocol=f"All {sum(len(part.sets) for part in known):,} collections of M non-empty proper subsets of d "
        f"features were evaluated ({shown}). Monotonicity: of two collections with the same sizes the one with the "
        "smaller sum of variances must have the larger value. Bounds: values of collections that are as far apart as "
        "can be must not grow for d = 10 to 80. Correction: the exact mean must be the same for all sizes. Measures "
        f"for one size are judged on collections of one size. Davis' measure has a penalty of {ALPHA}. What "
        "enumeration does not contradict need not be true for larger collections.",
        notes=[_davis_note(known)],
    )  # fmt: skip


def _cell(tick: str, counter: str) -> str:
    return {("✓", True): "✗", ("✓", False): "✓", ("–", True): "–", ("–", False): "?"}[tick, bool(counter)]


def _column_check(place: int, column: str, found: dict[str, dict[str, str]]) -> Claim:
    rows = [(label, ticks[place], found[name][column]) for name, (label, ticks) in list(PRINTED.items())[:-1]]
    wrong = [label for label, tick, counter in rows if (tick == "✓") == bool(counter)]
    ticks = sum(tick == "✓" for _, tick, _ in rows)
    return unconverted.fact(
        f"{column}: the marks of the 15 measures from the literature.", "Table 2", holds=not wrong,
        published=f"{ticks} of 15 have it", ours=f"wrong for {', '.join(wrong)}" if wrong else "all 15 marks as "
        "printed",
        rule="no collection contradicts a tick, and one contradicts each blank",
        if_missed={
            "Monotonicity": "The proof (C.2.1) differentiates by the mean overlap as if the mean similarity were a "
            "function of it, which holds only where all pairs have one slope.",
            "Correction": "The proof for Guzmán (C.5.2) divides Jensen's inequality by a negative number without "
            "turning it: the mean is above 0 for every finite M, and falls to 0 as M grows.",
        }.get(column, "See the counter-examples below."),
    kind="exact")  # fmt: skip


def _new_measure_check(found: dict[str, str]) -> Claim:
    lacking = {column: counter for column, counter in found.items() if counter}
    return unconverted.fact(
        "The new measure has all five properties.", "Section 4.1", holds=not lacking, published="5 of 5",
        ours="; ".join(f"not {column}: {counter}" for column, counter in lacking.items()) or "no counter-example",
        rule="no collection contradicts any of them",
        if_missed="Theorem 3 treats runs of different sizes as draws from one distribution. For selections of one "
        "size the expectation is exactly 0; else it is below 0 by an amount of the order of 1/M.",
    kind="exact")  # fmt: skip


def _davis_note(known: Sequence[Collections]) -> str:
    plain = hf.MEASURES["davis"].bind(alpha=0.0)
    part = known[0]
    values = [stability_value(hf.Preferences.from_sets(sets, n_features=part.d), plain) for sets in part.sets]
    equal = [len(set(sets)) == 1 for sets in part.sets]
    has = all(same == (abs(value - 1) <= ROUNDING) for same, value in zip(equal, values, strict=True))
    goh = np.abs(np.array(values) - part.values["goh"]).max()
    return (
        f"Davis' measure without a penalty {'has' if has else 'has not'} the Maximum property on these collections, "
        f"and differs from Goh's by up to {goh:.2f}: Appendix C.4.3 takes the two for one measure there. It divides by "
        "the number of features that are ever selected, Goh's by the number of all."
    )
