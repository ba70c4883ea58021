"""Measures on all small collections of selections, and counter-examples to properties: for both papers of Nogueira."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import holdfast as hf
from holdfast import plots
from holdfast.testing import stability_value
from reproductions.records import Claim, Evidence, Picture, Rule
from reproductions.workbench import Workbench

if TYPE_CHECKING:
    from pandas.core.groupby import DataFrameGroupBy

ALPHA = 0.5
"""Penalty of Davis' measure, for which the paper gives no value (ERRATA: with 0 it has the Maximum property)."""
ROUNDING = 1e-9

PRINTED = {
    "hamming": ("Hamming", "✓✓✓✓–"),
    "jaccard": ("Jaccard", "✓✓✓✓–"),
    "dice": ("Dice", "✓✓✓✓–"),
    "ochiai": ("Ochiai", "✓✓✓✓–"),
    "pog": ("POG", "✓✓✓✓–"),
    "kuncheva": ("Kuncheva", "–✓✓✓✓"),
    "lustgarten": ("Lustgarten", "✓✓✓–✓"),
    "wald": ("Wald", "✓✓––✓"),
    "npog": ("nPOG", "✓✓–✓✓"),
    "goh": ("Goh", "✓–✓––"),
    "davis": ("Davis", "✓–✓––"),
    "krizek": ("Krízek", "–––✓–"),
    "guzman": ("Guzmán", "––✓✓✓"),
    "cw_rel": ("CW_rel", "✓✓✓––"),
    "lausser": ("Lausser", "–✓✓✓–"),
    "nogueira": ("the new measure", "✓✓✓✓✓"),
}
"""Table 2 of 2018 (Section 3.5), and what Section 4.1 says of the new measure; properties in their order there."""
PROPERTIES = ("Fully defined", "Monotonicity", "Bounds", "Maximum", "Correction")
SIZES = ((3, 2), (4, 2), (3, 3), (5, 2), (3, 4), (4, 3), (3, 5), (4, 4), (5, 4, 2))
"""Features and runs (and features per run) of the collections that are enumerated, the smallest first."""


def measure_of(name: str) -> hf.Measure:
    """A measure of Table 2 with all its parameters."""
    measure = hf.MEASURES[name]
    return measure.bind(alpha=ALPHA) if name == "davis" else measure


def value_of(name: str, sets: Any, d: int) -> float:
    """The value of a measure for sets of features; undefined for sizes that it does not take."""
    runs = hf.Preferences.from_sets(sets, n_features=d)
    if measure_of(name).one_size and len(set(map(len, sets))) > 1:
        return math.nan
    return stability_value(runs, measure_of(name))


class Collections(NamedTuple):
    """All collections of M non-empty proper subsets of d features, in any order, with the values of measures."""

    d: int
    M: int
    sets: list[tuple[tuple[int, ...], ...]]
    weights: Any  # in how many orders each can be drawn
    variances: Any
    values: pd.DataFrame

    def by_size(self, one_size: bool) -> dict[tuple[int, ...], Any]:
        """The places of the collections that have the same sizes; only those of one size, if asked."""
        sizes = [tuple(sorted(map(len, sets))) for sets in self.sets]
        known = [key for key in dict.fromkeys(sizes) if len(set(key)) == 1 or not one_size]
        return {key: np.flatnonzero([own == key for own in sizes]) for key in known}


def enumerate_collections(d: int, M: int, size: int | None = None, bench: Workbench | None = None) -> Collections:
    """Evaluate the measures of both papers on all collections, or on all of one size; stored by a workbench."""
    sizes = range(1, d) if size is None else [size]
    subsets = [subset for k in sizes for subset in itertools.combinations(range(d), k)]
    sets = list(itertools.combinations_with_replacement(subsets, M))
    weights = [math.factorial(M) // math.prod(map(math.factorial, Counter(own).values())) for own in sets]
    frequencies = [np.bincount(np.concatenate(own), minlength=d) / M for own in sets]
    variances = np.array([p @ (1 - p) for p in frequencies]) * M / (M - 1)

    def evaluate() -> pd.DataFrame:
        return pd.DataFrame({name: [value_of(name, own, d) for own in sets] for name in (*PRINTED, "pearson")})

    values = bench.sharing("collections").frame(f"d-{d}-M-{M}-size-{size}", evaluate) if bench else evaluate()
    return Collections(d, M, sets, np.array(weights), variances, values)


def enumerate_all(bench: Workbench) -> list[Collections]:
    """Evaluate the measures on all collections of the sizes that are enumerated."""
    sizes: tuple[tuple[int, ...], ...] = bench.choose(SIZES, ((4, 2), (3, 3)))
    return [enumerate_collections(size[0], size[1], size[2] if len(size) > 2 else None, bench) for size in sizes]


def describe_sizes(known: Sequence[Collections]) -> str:
    """Return which collections were enumerated."""
    sizes = ", ".join(
        f"d = {part.d} with M = {part.M}" + (" and 2 selected" if len(part.by_size(False)) == 1 else "")
        for part in known
    )
    n = sum(len(part.sets) for part in known)
    return f"all {n:,} collections of M non-empty proper subsets of d features ({sizes})"


def check_exact(
    claim: str,
    where: str,
    ours: float,
    rule: Rule,
    *,
    printed: str = "",
    exhibit: str = "",
    reason: str = "",
    shown: str = "",
    digits: int = 4,
) -> Claim:
    """Judge a number that nothing can change."""
    return Claim(
        claim=claim, kind="exact", exhibit=exhibit, where=where, printed=printed, rule=rule, reason=reason,
        evidence=Evidence.exact(ours, shown=shown, digits=digits),
    )  # fmt: skip


def check_equal(claim: str, where: str, off: float, **options: Any) -> Claim:
    """Judge whether two numbers, or all pairs of them, are equal, by the largest difference."""
    shown = "equal" if off < ROUNDING else f"off by up to {off:.3g}"
    rule = Rule(text="equal, up to the rounding of a computer", high=ROUNDING, base_high=ROUNDING)
    return check_exact(claim, where, off, rule, shown=shown, **options)


def check_marks(
    exhibit: str, column: str, marks: Mapping[str, str], found: Mapping[str, str], reason: str = ""
) -> Claim:
    """Judge a column of ticks: a collection contradicts each blank, and none contradicts a tick."""
    wrong = [PRINTED[name][0] for name, mark in marks.items() if (mark == "✓") == bool(found[name])]
    ticks = sum(mark == "✓" for mark in marks.values())
    return check_exact(
        f"{column}: the marks of {len(marks)} measures.", exhibit, 1 - len(wrong) / len(marks),
        Rule.equal(1.0, "no collection contradicts a tick, and one contradicts each blank"), exhibit=exhibit,
        printed=f"{ticks} ticks", reason=reason,
        shown=f"all right but for {', '.join(wrong)}" if wrong else f"all {len(marks)} right",
    )  # fmt: skip


Finder = Callable[[str, Sequence[Collections]], str]
"""Returns a counter-example in words, or nothing if there is none."""


def not_defined(name: str, known: Sequence[Collections]) -> str:
    """Look for a collection without a value."""
    for part in known:
        for place in np.flatnonzero(part.values[name].isna()):
            return f"undefined for {_show(part.sets[place], part.d)}"
    return ""


def not_monotone(name: str, known: Sequence[Collections]) -> str:
    """Look for two collections of the same sizes of which the one with less variance is less stable, or no more so."""
    measure = measure_of(name)
    for margin, part in itertools.product(
        (ROUNDING, -ROUNDING), known
    ):  # first for values that contradict, then for ties
        values = (1 if measure.higher_is_better else -1) * part.values[name].to_numpy()
        for places in part.by_size(measure.one_size).values():
            order = places[np.argsort(part.variances[places], kind="stable")]
            best = np.maximum.accumulate(values[order][::-1])[::-1]  # the most stable of those from here on
            later = np.searchsorted(part.variances[order], part.variances[order] + ROUNDING, side="right")
            for first, then in zip(order, later, strict=True):
                if then < order.size and best[then] >= values[first] + margin:
                    other = order[then + int(np.argmax(values[order][then:]))]
                    return _contradiction(name, part, int(first), int(other))
    return ""


def _contradiction(name: str, part: Collections, less: int, more: int) -> str:
    first, second = (
        f"{_show(part.sets[place], part.d)} (sum of variances {part.variances[place]:.3g}, value "
        f"{part.values[name][place]:.3g})"
        for place in (less, more)
    )
    return f"{first} and {second}"


def not_bounded(name: str, known: Sequence[Collections]) -> str:
    """Look for values that grow without end with the number of features."""
    reached = {d: np.nanmax([abs(value_of(name, sets, d)) for sets in _far_apart(d)]) for d in (10, 20, 40, 80)}
    if (np.diff(list(reached.values())) <= 0.5).any():
        return ""
    return f"beyond {', '.join(f'{value:.3g}' for value in reached.values())} with {_list(reached)} features"


def _far_apart(d: int) -> list[Any]:
    """Collections of which some measure gets ever further from 1: opposite blocks (C.3.1), and runs that all differ."""
    alone = [[feature] for feature in range(d)]
    return [alone, [[0], [0], [d - 1], [d - 1]], [range(d - 1), range(d - 1), [d - 1], [d - 1]]]


def not_maximal(name: str, known: Sequence[Collections]) -> str:
    """Look for equal runs below the maximum, or different ones at it."""
    measure = measure_of(name)
    best = measure.range[1] if measure.higher_is_better else measure.range[0]
    for part in known:
        equal = np.array([len(set(sets)) == 1 for sets in part.sets])
        at_best = (part.values[name] - best).abs().to_numpy() <= ROUNDING
        for place in np.flatnonzero(part.values[name].notna().to_numpy() & (equal != at_best)):
            return f"{part.values[name][place]:.3g} for {_show(part.sets[place], part.d)}"
    return ""


def not_corrected(name: str, known: Sequence[Collections]) -> str:
    """Look for sizes at which the mean over all collections is another than at others, for one M."""
    for part in known:
        means = expectations(name, part)
        if max(means.values()) - min(means.values()) > ROUNDING:
            least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
            return (
                f"on average {round(means[least], 9) + 0.0:.3g} over selections of sizes {_list(least)}, "
                f"{round(means[most], 9) + 0.0:.3g} over those of {_list(most)} of {part.d} features"
            )
    return ""


def expectations(name: str, part: Collections) -> dict[tuple[int, ...], float]:
    """The mean of a measure over all collections of given sizes."""
    values = part.values[name].to_numpy()
    return {
        sizes: float(np.average(values[places], weights=part.weights[places]))
        for sizes, places in part.by_size(measure_of(name).one_size).items()
    }


def _show(sets: Iterable[Iterable[int]], d: int) -> str:
    return ", ".join("".join("1" if feature in own else "0" for feature in range(d)) for own in map(set, sets))


def _list(sizes: Iterable[int]) -> str:
    return ", ".join(map(str, sizes))


FINDERS: dict[str, Finder] = dict(
    zip(PROPERTIES, (not_defined, not_monotone, not_bounded, not_maximal, not_corrected), strict=True)
)


# Sets that differ by a feature, and random ones (Figures 1 and 2 of both papers)


def values_by_size(names: Iterable[str], d: int = 10, M: int = 100) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return measures by the size k where half of M runs miss the last of k features, and where all runs agree."""
    differ = {k: [range(k)] * (M // 2) + [range(k - 1)] * (M // 2) for k in range(2, d)}
    agree = {k: [range(k)] * M for k in range(1, d)}
    first, second = (
        pd.DataFrame({name: [value_of(name, sets, d) for sets in runs.values()] for name in names}, index=list(runs))
        for runs in (differ, agree)
    )
    return first.rename_axis("k"), second.rename_axis("k")


def simulate_random(
    bench: Workbench, names: Iterable[str], sizes: Iterable[int], repeats: int, sideways: float = 0.0
) -> "DataFrameGroupBy[Any, Any]":
    """Return measures of 100 random selections of k of 10 features, many times, by k; stored.

    ``sideways`` is the probability that a run selects one feature more, and that it selects one less.
    """

    def simulate() -> pd.DataFrame:
        rng, rows = bench.rng(2), []
        for k, _ in itertools.product(sizes, range(repeats)):
            own = rng.choice([k - 1, k, k + 1], size=100, p=[sideways, 1 - 2 * sideways, sideways])
            order = rng.permuted(np.tile(np.arange(10), (100, 1)), axis=1)
            sets = [features[:size].tolist() for features, size in zip(order, own, strict=True)]
            rows.append({"k": k, **{name: value_of(name, sets, 10) for name in names}})
        return pd.DataFrame(rows)

    return bench.frame("random-selections", simulate).groupby("k")


def draw_by_size(
    exhibit: str, panels: Mapping[str, pd.DataFrame], labels: Mapping[str, str], title: str, caption: str
) -> Picture:
    """Return the picture of measures against the size k, one panel below the other."""
    rows = [
        (label, k, panel, value)
        for panel, frame in panels.items() for name, label in labels.items() if name in frame
        for k, value in frame[name].dropna().items()
    ]  # fmt: skip
    columns = pd.DataFrame(rows, columns=["line", "setting", "quantity", "value"])
    chart = plots.plot_setting(columns, "k", lines="measure", title=title)
    return Picture(name="by-size", exhibit=exhibit, caption=caption, chart=chart)
