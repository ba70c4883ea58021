"""Planning: the number of runs needed for an interval of a given width."""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from holdfast.cards import Svg, draw_intervals, make_bar
from holdfast.checks import Matrix, is_number
from holdfast.datasets.selections import make_selections, population_stability
from holdfast.inference import estimate as estimates
from holdfast.inference.comparison import degrees_of_freedom
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import UNSEEN_RISK, Interval, Jackknife, UnseenRuns, asymptotic_variance, check_level
from holdfast.measures import MEASURES, Measure
from holdfast.measures.forms import random_collection
from holdfast.preferences import Preferences
from holdfast.result_base import AnyChart, ResultMixin
from holdfast.serialization import to_plain

SIMULATED_RUNS = 4000
SURPRISE = 1.25
"""If all runs vary by more than this factor times the pilot's, the pilot is not believed."""


@dataclass(frozen=True, kw_only=True)
class Pilot(ResultMixin):
    """The number of runs needed after a pilot, by Stein's two-stage rule.

    Make runs up to ``n_runs`` once, then report the value ± the half width.

    Looking again and again until the interval is narrow enough loses coverage; this rule does not, because the width is
    settled by the pilot alone. The number also makes the allowance for runs that were not drawn (see
    :class:`~holdfast.inference.intervals.Jackknife`) as small as that; after a pilot whose runs all agreed, that alone
    settles it.

    Attributes
    ----------
    n_runs : int
        Runs in all, those of the pilot included.
    half_width : float
        Requested half width of the interval.
    estimate : StabilityEstimate
        The pilot's estimate.
    level : float
        Confidence level.

    See Also
    --------
    holdfast.runs_needed : Plans the number of runs.
    PlannedRuns : A plan without a pilot.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import load_example
    >>> hf.runs_needed(0.03, pilot=load_example().top(10))
    150 runs for ±0.03 at 95%, after a pilot of 20 (nogueira = 0.874)
    """

    n_runs: int
    half_width: float
    estimate: StabilityEstimate
    level: float
    _heading = "Runs needed"

    def ci(self, estimate: StabilityEstimate) -> Interval:
        """Return the interval of the estimate from all runs, by the pilot's standard deviation.

        A pilot whose runs all agreed has none; then the interval is that of the estimate. So it is where all runs vary
        clearly more than the pilot's did, as they may if a few runs select very many features: then it is wider than
        requested.

        Parameters
        ----------
        estimate : StabilityEstimate
            The estimate from all runs.

        Returns
        -------
        Interval
            The value ± the half width, unless the pilot is not believed.
        """
        reach = _reach(self.estimate, self.level)
        if self.estimate.method == "bound" or _reach(estimate, self.level) > SURPRISE * reach:
            return estimate.ci(self.level)
        reach /= math.sqrt(estimate.n_runs)
        allowance = 0.0
        if isinstance(estimate.distribution, Jackknife):
            unseen, seen_share = estimate.distribution.unseen, estimate.distribution.seen_share(self.level)
            allowance = estimate.value - unseen.value_at(seen_share)
        return Interval(
            estimate.value - max(reach, min(allowance, self.half_width)),
            estimate.value + reach,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON.

        Returns
        -------
        dict
            Number of runs, half width and level, and measure, value and number of runs of the pilot.
        """
        return to_plain({
            "n_runs": self.n_runs, "half_width": self.half_width, "level": self.level, "measure": self.estimate.measure,
            "pilot_value": self.estimate.value, "pilot_runs": self.estimate.n_runs,
        })  # fmt: skip

    def plot(self) -> "AnyChart":
        """Draw the pilot's stability with its interval (see :func:`holdfast.plots.plot_forest`).

        Returns
        -------
        altair.Chart
            The point and its interval.
        """
        from holdfast.plots import plot_forest

        return plot_forest({f"pilot of {self.estimate.n_runs}": self.estimate}, level=self.level)

    def to_frame(self) -> pd.DataFrame:
        """Return the plan as a frame of one row.

        Returns
        -------
        DataFrame
            The columns are those of :meth:`to_dict`.
        """
        return pd.DataFrame([self.to_dict()])

    def _picture(self) -> Svg | None:
        pilot, value = self.estimate, self.estimate.value
        planned = make_bar(f"{self.n_runs} runs", value, value - self.half_width, value + self.half_width, strong=False)
        return draw_intervals([make_bar(f"pilot of {pilot.n_runs}", value, *pilot.ci(self.level)), planned])

    def __repr__(self) -> str:
        return (
            f"{self.n_runs} runs for ±{self.half_width:g} at {100 * self.level:g}%, "
            f"after a pilot of {self.estimate.n_runs} ({self.estimate.measure} = {self.estimate.value:.3f})"
        )


@dataclass(frozen=True, kw_only=True)
class PlannedRuns(ResultMixin):
    """The number of runs needed before any was made, under two models of how features are selected.

    Both numbers are large enough that no more than the half width is left to runs that were not drawn.

    Attributes
    ----------
    independent : int
        If each feature is selected independently.
    worst : int
        If a run selects the usual set or a random one: the same stability, but every deviation is total.
    half_width, level, stability : float
        Requested half width and level, and the assumed stability.

    See Also
    --------
    holdfast.runs_needed : Plans the number of runs.
    Pilot : A plan after a pilot.

    Examples
    --------
    >>> import holdfast as hf
    >>> hf.runs_needed(0.05, stability=0.7, size=10, n_features=100).worst
    597
    """

    independent: int
    worst: int
    half_width: float
    level: float
    stability: float

    def __repr__(self) -> str:
        return (
            f"{self.independent} runs (features selected independently) to {self.worst} (all or nothing) "
            f"for ±{self.half_width:g} at {100 * self.level:g}%, if the stability is {self.stability:g}"
        )


def check_half_width(half_width: Any) -> None:
    """Raise unless this is half of the width that an interval can have."""
    if not is_number(half_width) or not 1e-9 <= half_width <= sys.float_info.max:
        raise ValueError(f"Expected a finite half width above 0, got {half_width!r}. The least is 1e-9.")


def runs_needed(
    half_width: float,
    *,
    pilot: StabilityEstimate | Preferences | Matrix | None = None,
    measure: str | Measure = "nogueira",
    stability: float | None = None,
    size: int | None = None,
    n_features: int | None = None,
    level: float = 0.95,
    **parameters: Any,
) -> Pilot | PlannedRuns:
    """Plan the number of runs for a confidence interval of ± ``half_width``.

    Parameters
    ----------
    half_width : float
        Half of the width of the confidence interval.
    pilot : StabilityEstimate, Preferences or matrix, optional
        Runs that were made already, preferably 20 or more, for Stein's two-stage rule.
    measure : str or Measure
        Measure of the pilot's stability.
    stability, size, n_features : float, int, int, optional
        Without a pilot: assumed stability (``nogueira``), number of selected features, number of all features.
    level : float
        Confidence level.
    **parameters
        Parameters of the measure.

    Returns
    -------
    Pilot or PlannedRuns
        The first after a pilot, the second before any run.

    Raises
    ------
    ValueError
        If the half width is not above 0, the pilot has no interval, or neither a pilot nor a model is given.

    See Also
    --------
    TargetPrecision : Lets a study settle its number of resamples by a pilot.
    stability : The estimate and its interval.

    Examples
    --------
    >>> import holdfast as hf
    >>> hf.runs_needed(0.05, stability=0.7, size=10, n_features=100)
    71 runs (features selected independently) to 597 (all or nothing) for ±0.05 at 95%, if the stability is 0.7
    """
    check_half_width(half_width)
    check_level(level)
    if pilot is not None:
        estimate = pilot if isinstance(pilot, StabilityEstimate) else estimates.stability(pilot, measure, **parameters)
        if estimate.no_interval:
            more = "; give it more runs" if estimate.n_runs < 3 else ""
            raise ValueError(f"The pilot needs an interval, got {estimate!r}{more}.")
        seen = 0 if estimate.method == "bound" else math.ceil((_reach(estimate, level) / half_width) ** 2)
        drawn_from = estimate.distribution
        unseen = _runs_for_unseen(drawn_from.unseen, half_width, level) if isinstance(drawn_from, Jackknife) else 0
        n_runs = max(estimate.n_runs, seen, unseen)
        return Pilot(n_runs=n_runs, half_width=half_width, estimate=estimate, level=level)
    if stability is None or size is None or n_features is None:
        raise ValueError("Pass a pilot, or stability=, size= and n_features= to plan with.")
    likely = make_selections(
        stability=stability, size=size, n_features=n_features, n_runs=SIMULATED_RUNS, random_state=0
    )
    unseen = _runs_for_unseen(UnseenRuns(stability), half_width, level)
    independent, worst = (
        max(unseen, _runs_for_width(half_width, level, runs))
        for runs in (likely, _draw_all_or_nothing(stability, size, n_features))
    )
    return PlannedRuns(independent=independent, worst=worst, half_width=half_width, level=level, stability=stability)


def _reach(estimate: StabilityEstimate, level: float) -> float:
    """Student's t of the pilot times the standard deviation of one run's pseudo-value."""
    spread = estimate.standard_error * math.sqrt(estimate.n_runs)
    return float(stdtrit(degrees_of_freedom(estimate.pseudo_values), (1 + level) / 2)) * spread


def _runs_for_unseen(unseen: UnseenRuns, half_width: float, level: float) -> int:
    """Return how many runs leave no more than the half width to runs that were not drawn."""
    seen_share = min(unseen.seen_share_for(unseen.value - half_width), 1 - 1e-12)
    return 1 + math.ceil(math.log(min(1.0, UNSEEN_RISK * (1 - level))) / math.log(seen_share)) if seen_share > 0 else 0


def _runs_for_width(half_width: float, level: float, runs: Preferences) -> int:
    """Solve t² (σ²/N + 2ρ/N²) = h² for N: the variance of single runs, and that of pairs, which few runs feel."""
    nogueira = MEASURES["nogueira"]
    single = asymptotic_variance(runs) * runs.n_runs
    pairs = 2 * nogueira.form.tally(runs, [nogueira])[0].roughness
    quantile, needed = ndtri((1 + level) / 2), 0
    for _ in range(20):  # Student's quantile depends on the number that it determines
        ratio = (quantile / half_width) ** 2
        root = math.sqrt((ratio * single) ** 2 + 4 * ratio * pairs)
        before, needed = needed, max(5, math.ceil((ratio * single + root) / 2))
        if needed == before:
            break
        quantile = stdtrit(needed - 1, (1 + level) / 2)
    return needed


def _draw_all_or_nothing(stability: float, size: int, n_features: int) -> Preferences:
    """Draw runs that select the same set, or, with the share that gives this stability, a random one."""
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        p = np.full(n_features, share * size / n_features)
        p[:size] += 1 - share
        low, high = (share, high) if population_stability(p) > stability else (low, share)
    rng = np.random.default_rng(0)
    stray = random_collection(np.full(SIMULATED_RUNS, size), n_features, rng).lists()[0].reshape(SIMULATED_RUNS, size)
    strays = rng.random((SIMULATED_RUNS, 1)) < share
    sets = np.where(strays, stray, np.arange(size, dtype=np.int32))
    return Preferences(
        kind="subset", n_features=n_features, indices=sets.ravel().astype(np.int32),
        indptr=np.arange(SIMULATED_RUNS + 1) * size,
    )  # fmt: skip
