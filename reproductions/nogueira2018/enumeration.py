"""Measures of Table 2 on all small collections of selections, and counter-examples to properties among them."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import holdfast as hf
from holdfast.testing import stability_value

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
"""Table 2 (Section 3.5), and what Section 4.1 says of the new measure: its five properties in the order of Table 1."""
PROPERTIES = ("Fully defined", "Monotonicity", "Bounds", "Maximum", "Correction")


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


def enumerate_collections(d: int, M: int, size: int | None = None) -> Collections:
    """Evaluate the measures of Table 2 on all collections, or on all of one size."""
    sizes = range(1, d) if size is None else [size]
    subsets = [subset for k in sizes for subset in itertools.combinations(range(d), k)]
    sets = list(itertools.combinations_with_replacement(subsets, M))
    weights = [math.factorial(M) // math.prod(map(math.factorial, Counter(own).values())) for own in sets]
    frequencies = [np.bincount(np.concatenate(own), minlength=d) / M for own in sets]
    variances = np.array([p @ (1 - p) for p in frequencies]) * M / (M - 1)
    values = pd.DataFrame({name: [value_of(name, own, d) for own in sets] for name in PRINTED})
    return Collections(d, M, sets, np.array(weights), variances, values)


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
    if (np.diff(list(reached.values())) > 0.5).all():
        return f"beyond {', '.join(f'{value:.3g}' for value in reached.values())} with {', '.join(map(str, reached))} "
        "features"
    return ""


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
