"""Comparing the stabilities of selections: two by :func:`compare`, several pair by pair by :func:`compare_many`.

Each selection becomes a side (:func:`evaluate_sides`), and every two sides are tested by :func:`compare_sides`.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from holdfast.cards import Card, Svg, draw_intervals, make_bar
from holdfast.checks import Matrix
from holdfast.inference.estimate import (
    ForestResult,
    StabilityEstimate,
    Undefined,
    as_preferences,
    bind_similarity,
    convert_kind,
    stability,
)
from holdfast.inference.intervals import ROUNDING, Interval, Jackknife, asymptotic_variance, check_level
from holdfast.measures import Measure, find_measure
from holdfast.measures.forms import FEW_RUNS, Floats, pair_roughness
from holdfast.preferences import Preferences
from holdfast.result_base import DrawnResult
from holdfast.serialization import to_plain

Design: TypeAlias = Literal["paired", "independent", "asymptotic"]
ENOUGH_DEVIATIONS = 10
"""Number of deviations seen at which half of the allowance for an unseen one is left."""


@dataclass(frozen=True, kw_only=True)
class Comparison(ForestResult):
    """The difference of two stabilities, first minus second, with its interval and test.

    Attributes
    ----------
    measure : str
        Name of the measure.
    first, second : StabilityEstimate
        The two estimates.
    design : {"paired", "independent", "asymptotic"}
        Runs on the same resamples, compared by the differences of their pseudo-values; runs on different resamples,
        compared by Welch's test; or the statistic T_M of the 2018 paper, which assumes independent runs.
    standard_error : float
        Standard error of the difference.
    degrees : float
        Degrees of freedom of Student's t; infinite for the published statistic.

    See Also
    --------
    holdfast.compare : Makes a comparison.
    Comparisons : Comparisons of more than two selections.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import load_example
    >>> comparison = hf.compare(load_example().top(5), load_example().top(10))
    >>> comparison
    nogueira: 0.688 - 0.874 = -0.186 [-0.289, -0.082] (95% CI, paired), p = 0.00137
    """

    measure: str
    first: StabilityEstimate
    second: StabilityEstimate
    design: Design
    standard_error: float
    degrees: float
    _shown = ("difference", "low", "high", "standard_error", "p_value", "design")

    @property
    def difference(self) -> float:
        """Stability of the first minus that of the second."""
        return self.first.value - self.second.value

    @property
    def statistic(self) -> float:
        """Difference over its standard error; the published T_M is second minus first."""
        if self.standard_error == 0:
            return np.nan
        return (-1 if self.design == "asymptotic" else 1) * self.difference / self.standard_error

    @property
    def p_value(self) -> float:
        """Two-sided p-value; if the error is 0, it is 1 without a difference and ``nan`` with one."""
        if self.standard_error == 0:
            return 1.0 if abs(self.difference) < ROUNDING else np.nan
        return float(2 * stdtr(self.degrees, -abs(self.statistic)))

    def ci(self, level: float = 0.95) -> Interval:
        """Return the confidence interval of the difference.

        Parameters
        ----------
        level : float
            Confidence level.

        Returns
        -------
        Interval
            Lower and upper end of the difference.
        """
        check_level(level)
        if self.standard_error == 0:  # runs that all agree: what their bounds leave open
            (a, b), (c, d) = self.first.ci(level), self.second.ci(level)
            return Interval(a - d, b - c)
        reach = stdtrit(self.degrees, (1 + level) / 2) * self.standard_error
        return Interval(float(self.difference - reach), float(self.difference + reach))

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return the comparison as plain values, ready for JSON: undefined numbers are None.

        Parameters
        ----------
        level : float
            Level of the interval.

        Returns
        -------
        dict
            Both stabilities, their difference, its interval, standard error and p-value.
        """
        low, high = self.ci(level)
        return to_plain({
            "measure": self.measure, "first": self.first.value, "second": self.second.value,
            "difference": self.difference, "low": low, "high": high, "standard_error": self.standard_error,
            "p_value": self.p_value, "design": self.design, "level": level,
        })  # fmt: skip

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return the comparison as a frame of one row.

        Parameters
        ----------
        level : float
            Level of the interval.

        Returns
        -------
        DataFrame
            The columns are those of :meth:`to_dict`.
        """
        return pd.DataFrame([self.to_dict(level)])

    @property
    def _estimates(self) -> dict[str, StabilityEstimate]:
        return {"first": self.first, "second": self.second}

    def _picture(self) -> Svg | None:
        difference = make_bar("difference", self.difference, *self.ci(), f" · p = {self.p_value:.2g}")
        return draw_intervals([*self._bars(), difference], mark=0.0)

    def __repr__(self) -> str:
        low, high = self.ci()
        note = "" if self.first.validated or self.design == "asymptotic" else ", not validated"
        return (
            f"{self.measure}: {self.first.value:.3f} - {self.second.value:.3f} = {self.difference:.3f} "
            f"[{low:.3f}, {high:.3f}] (95% CI{note}, {self.design}), p = {self.p_value:.3g}"
        )


def compare(
    first: Preferences | Matrix,
    second: Preferences | Matrix,
    measure: str | Measure = "nogueira",
    *,
    paired: bool | None = None,
    method: Literal["jackknife", "asymptotic"] = "jackknife",
    X: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> Comparison:
    """Compare the stabilities of two selections.

    Two selectors that ran on the same resamples share much of their noise; comparing them run by run takes it out. The
    published test ignores that, and where most of the noise is shared it hardly ever finds a difference.

    Parameters
    ----------
    first, second : Preferences or matrix
        What the runs of the two selectors preferred.
    measure : str or Measure
        Measure of stability.
    paired : bool, optional
        Whether run ``i`` of both used the same resample. By default, equal labels of the runs mean yes (runs are put in
        the same order), labels with none in common mean no; required for runs without labels.
    method : {"jackknife", "asymptotic"}
        Pseudo-values of the jackknife, or the statistic T_M of the 2018 paper (``nogueira`` only).
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    undefined : {"nan", "raise", "skip"} or float
        What to do where the measure is undefined, as for :func:`holdfast.stability`.
    **parameters
        Parameters of the measure.

    Returns
    -------
    Comparison
        The difference, with its interval and p-value.

    Raises
    ------
    ValueError
        If the method is unknown, it is not known whether the runs are pairs, or a stability has no standard error.

    See Also
    --------
    compare_many : Several selections, with Holm's correction.
    stability : The stability of one selection.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import make_selections
    >>> steady = make_selections(stability=0.8, size=5, n_features=40, n_runs=30, random_state=0)
    >>> shaky = make_selections(stability=0.5, size=5, n_features=40, n_runs=30, random_state=1)
    >>> hf.compare(steady, shaky, paired=False)
    nogueira: 0.796 - 0.475 = 0.320 [0.212, 0.429] (95% CI, independent), p = 1.79e-06
    """
    if method not in ("jackknife", "asymptotic"):
        raise ValueError(f"Expected method 'jackknife' or 'asymptotic', got {method!r}.")
    chosen = find_measure(measure).bind(**parameters)
    a, b = evaluate_sides([first, second], chosen, X, undefined, method)
    return compare_sides(a, b, paired, method)


@dataclass(frozen=True, kw_only=True)
class Comparisons(DrawnResult):
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
    holdfast.plots.plot_comparisons : The matrix of differences that :meth:`plot` draws.

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
    _drawn_by = "plot_comparisons"

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
    chosen = find_measure(measure).bind(**parameters)
    sides = evaluate_sides(selections.values(), chosen, X, undefined)
    return compare_all_pairs(dict(zip(selections, sides, strict=True)), chosen, paired, level)


class Side(NamedTuple):
    """One side of a comparison.

    Attributes
    ----------
    estimate : StabilityEstimate
        The stability of the selection.
    kernel : ndarray or None
        What pairs of its runs add, where there are few runs.
    runs : Preferences or None
        The runs in the order of their labels; None for values of blocks.
    published : float
        The published variance of its stability, if the published statistic is asked for and has one.
    """

    estimate: StabilityEstimate
    kernel: Floats | None = None
    runs: Preferences | None = None
    published: float = math.nan


def evaluate_sides(
    selections: Iterable[Preferences | Matrix],
    measure: Measure,
    X: Matrix | None,
    undefined: Undefined,
    method: Literal["jackknife", "asymptotic"] = "jackknife",
) -> list[Side]:
    """Evaluate every selection once; a similarity computed from data is shared by all of them."""
    sides = []
    for selection in selections:
        runs = as_preferences(selection, [measure])
        if runs.labels is not None:
            runs = runs.take(np.argsort(np.array(runs.labels)))
        (measure,) = bind_similarity([measure], runs, X)
        few = 4 <= runs.n_runs <= FEW_RUNS
        kernel = measure.form.kernel(convert_kind(runs, measure.kind, measure.name), measure) if few else None
        estimate = stability(runs, measure, method=method, undefined=undefined)
        has_published = method == "asymptotic" and measure.name == "nogueira" and runs.n_runs > 2
        sides.append(Side(estimate, kernel, runs, asymptotic_variance(runs) if has_published else math.nan))
    return sides


def are_paired(first: Preferences | None, second: Preferences | None, paired: bool | None) -> bool:
    """Whether runs, which are sorted by their labels, are compared as pairs."""
    if first is None or second is None:
        return paired is not False
    labels = None if first.labels is None or second.labels is None else (set(first.labels), set(second.labels))
    if paired is None:
        if labels is None:
            raise ValueError(
                "The runs have no labels, so it is not known whether run i of both selections used the same resample; "
                "pass paired=True or paired=False (--paired, --independent), or label the runs."
            )
        common = labels[0] & labels[1]
        if common and labels[0] != labels[1]:
            raise ValueError(
                f"Expected run labels that are all equal or all different, got {len(common)} in common of "
                f"{first.n_runs} and {second.n_runs}; keep the common runs with .take(), or pass paired=False."
            )
        paired = bool(common)
    if paired and first.n_runs != second.n_runs:
        raise ValueError(f"Expected equally many runs to compare as pairs, got {first.n_runs} and {second.n_runs}.")
    if paired and labels and labels[0] != labels[1]:
        raise ValueError(
            f"Expected the same run labels to compare as pairs, got {min(labels[0] - labels[1])!r} on one side only; "
            "label the runs by their resample, or leave labels out."
        )
    return paired


def compare_sides(
    first: Side, second: Side, paired: bool | None, method: Literal["jackknife", "asymptotic"] = "jackknife"
) -> Comparison:
    """Test whether two selections differ: with paired runs by the pairs, else as independent ones."""
    as_pairs = are_paired(first.runs, second.runs, paired)
    for side in (first, second):
        if math.isnan(side.published) if method == "asymptotic" else side.estimate.pseudo_values.size < 2:
            raise ValueError(
                f"Both stabilities need a standard error to be compared, got one without: {side.estimate!r}."
            )
    a, b = first.estimate, second.estimate
    design: Design
    if method == "asymptotic":
        design, variance, degrees = "asymptotic", first.published + second.published, math.inf
    else:
        if as_pairs:
            kernel = None if first.kernel is None or second.kernel is None else first.kernel - second.kernel
            differences = a.pseudo_values - b.pseudo_values  # of runs, or of the blocks that they form
            variance, degrees = variance_of_mean(differences, kernel), float(degrees_of_freedom(differences))
        else:
            variance, degrees = welch_variance(first, second)
        design = "paired" if as_pairs else "independent"
        variance += variance_for_unseen(a if a.value >= b.value else b)
    error = math.sqrt(variance) if variance > ROUNDING**2 else 0.0
    return Comparison(measure=a.measure, first=a, second=b, design=design, standard_error=error, degrees=degrees)


def welch_variance(first: Side, second: Side) -> tuple[float, float]:
    """Welch's test: variance of the difference of two independent means, and its degrees of freedom."""
    values = [side.estimate.pseudo_values for side in (first, second)]
    parts = [variance_of_mean(side.estimate.pseudo_values, side.kernel) for side in (first, second)]
    fewest = float(min(pseudo_values.size for pseudo_values in values) - 1)
    spread = sum(part**2 / degrees_of_freedom(side) for part, side in zip(parts, values, strict=True))
    return sum(parts), min(fewest, float(sum(parts) ** 2 / spread)) if spread else fewest


def compare_all_pairs(
    sides: Mapping[str, Side], measure: Measure, paired: bool | Callable[[str, str], bool] | None, level: float
) -> Comparisons:
    """Compare every two sides; those without runs are compared as pairs, value by value, unless ``paired`` is False."""
    if len(sides) < 2:
        raise ValueError(f"Expected at least two selections to compare, got {len(sides)}.")
    check_level(level)
    names = list(sides)
    comparisons = {}
    for a, b in itertools.combinations(names, 2):
        comparisons[a, b] = compare_sides(sides[a], sides[b], paired(a, b) if callable(paired) else paired)
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


def variance_of_mean(values: Floats, kernel: Floats | None) -> float:
    """Variance of the mean of pseudo-values; at least 2ρ / (M (M − 1)), the variance of a mean over pairs."""
    n = values.size
    variance = float(values.var(ddof=1)) / n
    if kernel is None or np.isnan(kernel).any():
        return variance
    return max(variance, 2 * pair_roughness(kernel) / (n * (n - 1)))


def degrees_of_freedom(values: Floats) -> Floats:
    """Degrees of freedom of the variance of values, along the last axis: fewer than n − 1 if their tails are heavy.

    By Satterthwaite, 2 / (2 / (n − 1) + κ / n), with the excess kurtosis κ of the values, if that is above 0.
    """
    n = values.shape[-1]
    away = values - values.mean(axis=-1, keepdims=True)
    second, fourth = (away**2).mean(axis=-1), (away**4).mean(axis=-1)
    flat = second < ROUNDING**2
    excess = np.where(flat, 0.0, fourth / np.where(flat, 1.0, second) ** 2 - 3)
    return np.asarray(2 / (2 / (n - 1) + np.maximum(excess, 0) / n))


def variance_for_unseen(estimate: StabilityEstimate) -> float:
    """Variance to add for one run that was not drawn, less the more deviations were seen.

    If one of M runs had nothing to do with the others, the value would be lower by a reach r; the variance must be at
    least (r/t)². Deviations that were seen show what deviations are like: ν of them leave 10 / (10 + ν) of the reach.
    """
    jackknife = estimate.distribution
    if not isinstance(jackknife, Jackknife):
        return 0.0
    seen = 0.0 if jackknife.unanimous else jackknife.loss**2 / max(jackknife.variance, ROUNDING**2)
    allowance = ENOUGH_DEVIATIONS / (ENOUGH_DEVIATIONS + seen) if math.isfinite(seen) else 0.0
    reach = (jackknife.value - jackknife.unseen.value_at(math.exp(-1 / (jackknife.n_runs - 1)))) * allowance
    return max(0.0, float(reach / stdtrit(jackknife.n_runs - 1, 0.975)) ** 2 - jackknife.variance)


def holm(p_values: Floats, n_tests: NDArray[np.int64] | int | None = None) -> Floats:
    """Return Holm's step-down corrected p-values, along the last axis; of as many tests as there are, if not given."""
    n = p_values.shape[-1]
    order = np.argsort(p_values, axis=-1, kind="stable")
    factors = np.maximum((n if n_tests is None else n_tests) - np.arange(n), 1)
    steps = np.maximum.accumulate(np.take_along_axis(p_values, order, axis=-1) * factors, axis=-1)
    corrected = np.empty_like(p_values)
    np.put_along_axis(corrected, order, np.minimum(steps, 1), axis=-1)
    return corrected


def compact_letters(names: list[str], different: set[tuple[str, str]]) -> dict[str, str]:
    """Return a compact letter display: two names share a letter exactly if they are not in ``different``.

    Groups are split wherever they hold a different pair, and groups inside others are dropped (Piepho 2004).
    """
    position = {name: index for index, name in enumerate(names)}
    groups = [(1 << len(names)) - 1]  # the names of a group are the bits of a number
    for a, b in sorted({(position[a], position[b]) for a, b in different}):
        both = 1 << a | 1 << b
        whole = [group for group in groups if group & both != both]
        parts = {group & ~(1 << name) for group in groups if group & both == both for name in (a, b)} - set(whole)
        others = [*whole, *parts]
        groups = whole + [part for part in parts if not any(part & other == part != other for other in others)]
    members = sorted([index for index in position.values() if group >> index & 1] for group in groups)
    letters = ["abcdefghijklmnopqrstuvwxyz"[n % 26] * (n // 26 + 1) for n in range(len(members))]
    return {
        name: "".join(letter for letter, group in zip(letters, members, strict=True) if position[name] in group)
        for name in names
    }
