"""Redrawn resamples: the figures that a rule would see if the study were run again with another seed.

Another seed draws other resamples of the same data. Its means differ from those of this study by what both draw at
random, so that the variance of the difference is twice that of a mean: half as many resamples are drawn here, with
replacement, and the same ones for all candidates. The best of many close candidates is best in part by luck; so the
scores of those that cannot be told from the best are drawn around means that are pulled together (James and Stein,
1961), as far as their differences are no larger than chance makes them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.tradeoff.points import Floats, Point, Points

LEAST_UNITS = 8
"""Resamples, or blocks of them, below which nothing is redrawn: half of them would show too little."""
CLOSE = 3.0
"""Standard errors of the paired difference up to which a candidate counts as close to the best score."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Redraws:
    """Figures of all candidates over redrawn resamples, draws × candidates; ``nan`` where there is none.

    Attributes
    ----------
    points : Points
        The candidates as they were measured.
    times : ndarray, draws × units
        How often each resample, or block of resamples, was drawn.
    score, score_se : ndarray
        Mean scores, and their standard errors for as many resamples as the study has.
    stability, low, high : ndarray
        Stabilities and the ends of their intervals, which keep their distance from the value.
    """

    points: Points
    times: Floats
    score: Floats
    score_se: Floats
    stability: Floats
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.times)

    @property
    def n_bytes(self) -> int:
        """Number of bytes that the figures take."""
        figures = (self.times, self.score, self.score_se, self.stability, self.low, self.high)
        return sum(figure.nbytes for figure in figures)

    @cached_property
    def size(self) -> Floats:
        """Mean number of selected features of each candidate; infinite if it is not known."""
        return np.nan_to_num(np.array([point.size for point in self.points.points]), nan=np.inf)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which candidates have a score and a stability, draw by draw."""
        return ~np.isnan(self.score + self.stability)

    def weights(self, splits: "pd.Index[int]", draws: NDArray[np.int64]) -> Floats:
        """Share of each of these splits in some of the draws (draws × splits)."""
        chosen = np.ascontiguousarray(self.times[draws][:, self.points.units_of(splits)])
        with np.errstate(invalid="ignore"):
            return chosen / chosen.sum(axis=1, keepdims=True)

    def points_of(self, draw: int) -> Points:
        """The candidates as one draw shows them, for a rule that looks at one at a time."""
        points = [self._redrawn(point, draw, place) for place, point in enumerate(self.points.points)]
        return Points(
            result=self.points.result, metric=self.points.metric, measure=self.points.measure,
            level=self.points.level, points=points, X=self.points.X, top=self.points.top, times=self.times[draw],
        )  # fmt: skip

    def _redrawn(self, point: Point, draw: int, place: int) -> Point:
        return Point(
            candidate=point.candidate, family=point.family, scores=point.scores, splits=point.splits,
            estimate=point.estimate, low=float(self.low[draw, place]), high=float(self.high[draw, place]),
            reason=point.reason, score_bounds=point.score_bounds,
            redrawn=(
                float(self.score[draw, place]), float(self.score_se[draw, place]), float(self.stability[draw, place]),
            ),
        )  # fmt: skip


def redraw(points: Points, n_draws: int) -> Redraws:
    """Draw the resamples of a study again, and measure all candidates on each draw."""
    return points.memory.recall(
        ("redraws", n_draws), lambda: measure_draws(points, draw_half(points, n_draws)), lambda redraws: redraws.n_bytes
    )


def draw_half(points: Points, n_draws: int) -> Floats:
    """How often each unit was drawn (draws × units), half as many as there are; by the seed of the study."""
    seed = int(points.result.plan.get("random_state") or 0)
    times = points.draw_units(n_draws, seed, size=max(2, points.units.size // 2))
    times[(times > 0).sum(axis=1) < 2] = 1.0  # copies of one resample have no stability
    return times


def measure_draws(points: Points, times: Floats) -> Redraws:
    """Measure all candidates where each unit was drawn so many times (draws × units)."""
    stability, observed = points.drawn_stabilities(times), np.array([point.stability for point in points.points])
    shift = stability - observed
    low, high = (np.array([getattr(point, end) for point in points.points]) + shift for end in ("low", "high"))
    score = pull_together(points.drawn_scores(times), np.array([point.score for point in points.points]))
    return Redraws(
        points=points, times=times, score=score, score_se=_drawn_errors(points, times), stability=stability,
        low=low, high=np.minimum(high, np.maximum(1.0, stability)),
    )  # fmt: skip


def pull_together(drawn: Floats, observed: Floats) -> Floats:
    """Draw the scores of candidates that are close to the best around means that are pulled together.

    With noise of variance v and observed means of variance b about their own mean, a share 1 − v/b of their
    differences is kept.

    Parameters
    ----------
    drawn : ndarray, draws × candidates
        Mean scores over half as many resamples, which have twice the variance of a mean.
    observed : ndarray
        Mean scores over all resamples.
    """
    close = _close_to_best(drawn, observed)
    complete = ~np.isnan(drawn[:, close]).any(axis=1)
    if close.size < 3 or complete.sum() < 2:
        return drawn
    means = observed[close]
    mean, deviation = means.mean(), drawn[np.ix_(complete, close)] - means
    shared = deviation.mean(axis=1, keepdims=True)
    own = deviation - shared
    noise = (own**2).sum() / len(own) / (close.size - 1) / 2
    spread = means.var(ddof=1)
    kept = max(0.0, 1 - noise / spread) if spread > 0 else 0.0
    pulled = drawn.copy()
    pulled[np.ix_(complete, close)] = mean + kept * (means - mean) + shared + own * np.sqrt((1 + kept) / 2)
    return pulled


def _close_to_best(drawn: Floats, observed: Floats) -> NDArray[np.int64]:
    """The candidates whose score is not clearly below the best, by the standard error of the paired difference."""
    known = np.flatnonzero(~np.isnan(observed) & ~np.isnan(drawn).all(axis=0))
    if not known.size:
        return known
    best = known[np.argmax(observed[known])]
    deviation = drawn[:, known] - observed[known]
    error = np.sqrt(np.nanmean((deviation - (drawn[:, [best]] - observed[best])) ** 2, axis=0) / 2)
    return known[observed[best] - observed[known] <= CLOSE * np.maximum(error, 1e-12)]


def _drawn_errors(points: Points, times: Floats) -> Floats:
    """Standard errors of Nadeau and Bengio (draws × candidates), for as many resamples as the study has."""
    errors = np.full((len(times), len(points.points)), np.nan)
    for place, point in enumerate(points.points):
        values = np.asarray(point.scores, dtype=np.float64)
        if values.size < 2:
            continue
        weights = times[:, points.units_of(point.scores.index)]
        variance = weighted_variance(values, weights)
        ratio = (point.splits["n_test"] / point.splits["n_rows"]).mean()
        errors[:, place] = np.sqrt((1 / values.size + ratio) * variance)
    return errors


def weighted_variance(values: Floats, weights: Floats) -> Floats:
    """Variance of values (one row, or a row per draw) with these weights in each draw, without bias."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = weights / weights.sum(axis=1, keepdims=True)
        mean = (share * values).sum(axis=1)
        square = (share * values**2).sum(axis=1)
        return np.maximum(square - mean**2, 0.0) / (1 - (share**2).sum(axis=1))
