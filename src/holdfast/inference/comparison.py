"""Comparing the stabilities of two selections."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from holdfast.cards import Card, draw_intervals, make_bar
from holdfast.checks import Matrix
from holdfast.inference.differences import (
    degrees_of_freedom,
    variance_for_unseen,
    variance_of_mean,
)
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.evaluation import Undefined
from holdfast.inference.intervals import Interval, check_level
from holdfast.inference.sides import Side, are_paired, evaluate_sides, published_variance, welch_variance
from holdfast.inference.uncertainty import ROUNDING
from holdfast.measures import Measure, find_measure
from holdfast.preferences import Preferences
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

Design: TypeAlias = Literal["paired", "independent", "asymptotic"]


@dataclass(frozen=True, kw_only=True)
class Comparison(ResultMixin):
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

    def plot(self, *, level: float = 0.95) -> "AnyChart":
        """Draw the two stabilities with their intervals (see :func:`holdfast.plots.plot_forest`).

        Parameters
        ----------
        level : float
            Level of the intervals.

        Returns
        -------
        altair.Chart
            Two points with their intervals.
        """
        from holdfast.plots import plot_forest

        return plot_forest({"first": self.first, "second": self.second}, level=level)

    def _card(self) -> Card:
        sides = {"first": self.first, "second": self.second}
        bars = [make_bar(name, estimate.value, *estimate.ci()) for name, estimate in sides.items()]
        bars.append(make_bar("difference", self.difference, *self.ci(), f" · p = {self.p_value:.2g}"))
        frame = self.to_frame()[["difference", "low", "high", "standard_error", "p_value", "design"]]
        return Card(title="Comparison", verdict=self._title, frame=frame, picture=draw_intervals(bars, mark=0.0))

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
    return compare_sides(a, b, are_paired(a.runs, b.runs, paired), method)


def compare_sides(first: Side, second: Side, paired: bool, method: str) -> Comparison:
    """Test whether two selections differ: with paired runs by the pairs, else as independent ones."""
    a, b = first.estimate, second.estimate
    for estimate in (a, b):
        if estimate.pseudo_values.size < 2:
            raise ValueError(f"Both stabilities need a standard error to be compared, got one without: {estimate!r}.")
    design: Design
    if method == "asymptotic":
        variance, degrees = sum(published_variance(side) for side in (first, second)), math.inf
        design = "asymptotic"
    elif paired:
        kernel = None if first.kernel is None or second.kernel is None else first.kernel - second.kernel
        differences = a.pseudo_values - b.pseudo_values  # of runs, or of the blocks that they form
        variance, degrees = variance_of_mean(differences, kernel), float(degrees_of_freedom(differences))
        design = "paired"
    else:
        variance, degrees = welch_variance(first, second)
        design = "independent"
    if method != "asymptotic":
        variance += variance_for_unseen(a if a.value >= b.value else b)
    error = math.sqrt(variance) if variance > ROUNDING**2 else 0.0
    return Comparison(measure=a.measure, first=a, second=b, design=design, standard_error=error, degrees=degrees)
