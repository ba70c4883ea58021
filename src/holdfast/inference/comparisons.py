"""Comparing the stabilities of several selections, each with each."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from holdfast.cards import Card, draw_intervals, make_bar
from holdfast.checks import Matrix
from holdfast.inference.comparison import compare_sides
from holdfast.inference.differences import (
    compact_letters,
    holm,
)
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.evaluation import Undefined
from holdfast.inference.intervals import check_level
from holdfast.inference.sides import Side, are_paired, evaluate_sides
from holdfast.measures import Measure, find_measure
from holdfast.preferences import Preferences
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart


@dataclass(frozen=True, kw_only=True)
class Comparisons(ResultMixin):
    """All pairwise comparisons of several selections.

    Attributes
    ----------
    estimates : dict
        The stability of each selection.
    pairs : DataFrame
        One row per pair: stabilities, difference, interval, raw p-value, and Holm's corrected one.
    letters : dict
        Compact letter display: selections that share a letter do not differ significantly.
    level : float
        Confidence level of intervals; its complement is the level of significance for the letters.

    See Also
    --------
    holdfast.compare_many : Makes the comparisons.
    Comparison : The comparison of two selections.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import load_example
    >>> example = load_example()
    >>> comparisons = hf.compare_many({"best 5": example.top(5), "best 10": example.top(10)})
    >>> comparisons.letters
    {'best 10': 'a', 'best 5': 'b'}
    """

    estimates: dict[str, StabilityEstimate]
    pairs: pd.DataFrame
    letters: dict[str, str]
    level: float

    def to_frame(self) -> pd.DataFrame:
        """Return the stability, interval and letters of each selection, the most stable first.

        Returns
        -------
        DataFrame
            One row per selection.
        """
        rows = []
        for name in sorted(self.estimates, key=lambda name: -self.estimates[name].value):
            low, high = self.estimates[name].ci(self.level)
            values = {"stability": self.estimates[name].value, "low": low, "high": high}
            rows.append({"selection": name, **values, "letters": self.letters[name]})
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return estimates, comparisons and letters as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            ``estimates`` and ``letters`` by name, ``pairs`` as a list with one dict per pair, and the ``level``.
        """
        return {
            "level": self.level,
            "estimates": {name: estimate.to_dict(self.level) for name, estimate in self.estimates.items()},
            "pairs": to_plain(self.pairs),
            "letters": dict(self.letters),
        }

    def plot(self) -> "AnyChart":
        """Draw the matrix of differences (see :func:`holdfast.plots.plot_comparisons`).

        Returns
        -------
        altair.Chart
            The matrix.
        """
        from holdfast.plots import plot_comparisons

        return plot_comparisons(self)

    @property
    def _title(self) -> str:
        return f"{len(self.estimates)} selections; those that share a letter do not differ significantly"

    def _card(self) -> Card:
        frame = self.to_frame()
        rows = frame.to_numpy().tolist()
        bars = [make_bar(name, value, low, high, f" · {letters}") for name, value, low, high, letters in rows]
        alike = sum(bool(set(letters) & set(self.letters[bars[0].label])) for letters in self.letters.values()) - 1
        verdict = f"{bars[0].label} is the most stable; not significantly more than {alike} of {len(bars) - 1} others"
        bands = all(estimate.has_strength for estimate in self.estimates.values())
        return Card(title=self._title, verdict=verdict, frame=frame, picture=draw_intervals(bars, bands=bands))

    def __repr__(self) -> str:
        return self.to_frame().to_string(index=False, float_format=lambda number: f"{number:.3f}")


def compare_many(
    selections: Mapping[str, Preferences | Matrix],
    measure: str | Measure = "nogueira",
    *,
    paired: bool | None = None,
    level: float = 0.95,
    X: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> Comparisons:
    """Compare the stabilities of several selections pairwise, with Holm's correction.

    Parameters
    ----------
    selections : mapping from name to Preferences or matrix
        At least two selections.
    measure : str or Measure
        Measure of stability.
    paired : bool, optional
        Whether run ``i`` of all used the same resample, as for :func:`compare`.
    level : float
        Confidence level; selections whose corrected p-value is at most its complement get different letters.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    undefined : {"nan", "raise", "skip"} or float
        What to do where the measure is undefined, as for :func:`holdfast.stability`.
    **parameters
        Parameters of the measure.

    Returns
    -------
    Comparisons
        All pairwise comparisons, and a compact letter display.

    Raises
    ------
    ValueError
        If there are fewer than two selections, or two of them cannot be compared.

    See Also
    --------
    compare : Two selections.
    holdfast.plots.plot_comparisons : Draw the differences.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import make_selections
    >>> steady, calm, shaky = (
    ...     make_selections(stability=value, size=5, n_features=40, n_runs=30, random_state=seed)
    ...     for seed, value in enumerate((0.8, 0.75, 0.5))
    ... )
    >>> hf.compare_many({"steady": steady, "calm": calm, "shaky": shaky}, paired=False)
    selection  stability   low  high letters
       steady      0.796 0.650 0.853       a
         calm      0.748 0.610 0.817       a
        shaky      0.478 0.382 0.567       b
    """
    if len(selections) < 2:
        raise ValueError(f"Expected at least two selections to compare, got {len(selections)}.")
    chosen = find_measure(measure).bind(**parameters)
    sides = evaluate_sides(selections.values(), chosen, X, undefined, "jackknife")
    return compare_all_pairs(dict(zip(selections, sides, strict=True)), chosen, paired, level)


def compare_all_pairs(
    sides: Mapping[str, Side], measure: Measure, paired: bool | Callable[[str, str], bool] | None, level: float
) -> Comparisons:
    """Compare every two sides; those without runs are compared as pairs, value by value, unless ``paired`` is False."""
    check_level(level)
    names = list(sides)
    comparisons = {}
    for a, b in itertools.combinations(names, 2):
        stated = paired(a, b) if callable(paired) else paired
        as_pairs = are_paired(sides[a].runs, sides[b].runs, stated)
        comparisons[a, b] = compare_sides(sides[a], sides[b], as_pairs, "jackknife")
    estimates = {name: side.estimate for name, side in sides.items()}
    corrected = holm(np.array([comparison.p_value for comparison in comparisons.values()]))
    rows = [
        {"first_name": a, "second_name": b, **comparison.to_dict(level), "p_holm": p}
        for ((a, b), comparison), p in zip(comparisons.items(), corrected, strict=True)
    ]
    different = {pair for pair, p in zip(comparisons, corrected, strict=True) if p <= 1 - level}
    sign = -1 if measure.higher_is_better else 1
    order = sorted(names, key=lambda name: sign * estimates[name].value)
    pairs = pd.DataFrame(rows).astype({"p_value": float})
    return Comparisons(estimates=estimates, pairs=pairs, letters=compact_letters(order, different), level=level)
