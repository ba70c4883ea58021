"""Candidates as points of accuracy and stability, with their uncertainty."""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from holdfast.checks import Matrix, read_only
from holdfast.inference.designs import DesignedRuns, block_values
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.evaluation import bind_similarity, convert_kind
from holdfast.inference.intervals import Interval
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.models.scores import UNBOUNDED, Range
from holdfast.study.common_measure import CommonMeasure
from holdfast.study.memory import Memory, Same
from holdfast.study.orders import UnansweredError
from holdfast.study.result import StudyResult
from holdfast.study.score_intervals import mean_score_interval, score_range
from holdfast.study.summary import corrected_error

Floats = NDArray[np.float64]
PLAIN = ("runs", "folds")
"""Designs whose splits are drawn one by one."""
MOST_BYTES = 16 << 20
"""How much points remember of what was drawn again; 1000 redraws of 1000 resamples take half of it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """One candidate: how well it predicts, how stable it is, in which runs.

    Attributes
    ----------
    candidate, family : str
        Its name, and the selector it belongs to.
    scores : Series
        Score of each run, by split.
    splits : DataFrame
        What is known of these splits.
    estimate : StabilityEstimate or None
        The stability; None if there is none.
    low, high : float
        Ends of the stability's interval.
    reason : str or None
        Why something is missing.
    score_bounds : Range
        The least and the largest value of the score.
    redrawn : (float, float, float) or None
        Score, its standard error and stability over redrawn resamples, in place of those that were measured.
    """

    candidate: str
    family: str
    scores: "pd.Series[float]"
    splits: pd.DataFrame
    estimate: StabilityEstimate | None
    low: float
    high: float
    reason: str | None
    score_bounds: Range = UNBOUNDED
    redrawn: tuple[float, float, float] | None = None

    @cached_property
    def score(self) -> float:
        """Mean score over runs."""
        if self.redrawn is not None:
            return self.redrawn[0]
        return float(self.scores.mean()) if len(self.scores) else math.nan

    @cached_property
    def score_se(self) -> float:
        """Its standard error, which allows for runs that share training rows."""
        if self.redrawn is not None:
            return self.redrawn[1]
        return corrected_error(np.asarray(self.scores, dtype=np.float64), self.splits)

    def score_interval(self, level: float) -> Interval:
        """Student's interval of the score with this standard error, inside the range of the score."""
        if self.redrawn is not None:
            reach = stdtrit(max(len(self.scores) - 1, 1), (1 + level) / 2) * self.score_se
            low, high = np.clip([self.score - reach, self.score + reach], *self.score_bounds)
            return Interval(float(low), float(high))
        return mean_score_interval(self.scores, self.splits, self.score_bounds, level)

    @cached_property
    def stability(self) -> float:
        """The stability; ``nan`` if there is none."""
        if self.redrawn is not None:
            return self.redrawn[2]
        return math.nan if self.estimate is None else self.estimate.value

    @cached_property
    def size(self) -> float:
        """Mean number of selected features."""
        return math.nan if self.estimate is None or self.estimate.mean_size is None else self.estimate.mean_size


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """All candidates that are weighed against each other.

    Attributes
    ----------
    result : StudyResult
        Where they come from.
    metric : str
        The score.
    measure : Measure
        The measure of stability.
    level : float
        Level of the intervals.
    points : list of Point
    X : matrix or None
        Samples × features for measures that need a similarity of features.
    top : int or None
        How many of the best features of rankings and weights count (see :meth:`StudyResult.common_measure`).
    times : ndarray or None
        How often each unit was drawn, of points over redrawn resamples; None for those that were measured.
    """

    result: StudyResult
    metric: str
    measure: Measure
    level: float
    points: Sequence[Point]
    X: Matrix | None = None
    top: int | None = None
    times: Floats | None = None

    @property
    def names(self) -> list[str]:
        """Names of the candidates."""
        return [point.candidate for point in self.points]

    @cached_property
    def memory(self) -> Memory:
        """What was drawn again before."""
        return Memory(MOST_BYTES)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per candidate: score and stability with their intervals, size, runs, and why something is missing."""
        rows = []
        for point in self.points:
            score_low, score_high = point.score_interval(self.level)
            rows.append(
                {
                    "candidate": point.candidate, "family": point.family, "score": point.score,
                    "score_se": point.score_se, "score_low": score_low, "score_high": score_high,
                    "stability": point.stability, "low": point.low, "high": point.high, "size": point.size,
                    "runs": 0 if point.estimate is None else point.estimate.n_runs, "reason": point.reason,
                }
            )  # fmt: skip
        return pd.DataFrame(rows).set_index("candidate")

    # Resampled runs

    def draws(self, n_draws: int, random_state: int = 0) -> tuple[Floats, Floats]:
        """Scores and stabilities (draws × candidates) of runs drawn anew, the same runs for all candidates.

        Copies of one run never meet: a run compared with itself would agree perfectly. Where a design has blocks (pairs
        of halves, outer folds), blocks are drawn.
        """
        return self.memory.recall(
            ("draws", n_draws, random_state),
            lambda: self._measure_draws(self.draw_units(n_draws, random_state)),
            lambda draws: sum(axis.nbytes for axis in draws),
        )

    def _measure_draws(self, times: Floats) -> tuple[Floats, Floats]:
        return read_only(self.drawn_scores(times)), read_only(self.drawn_stabilities(times))

    def draw_units(self, n_draws: int, random_state: int = 0, size: int | None = None) -> Floats:
        """How often each unit was drawn (draws × units): as many as there are, or ``size``."""
        n, rng = self.units.size, np.random.default_rng(random_state)
        return rng.multinomial(size or n, np.full(n, 1 / n), n_draws).astype(np.float64)

    def drawn_scores(self, times: Floats) -> Floats:
        """Scores (draws × candidates) where each unit was drawn so many times."""
        drawn = Drawn(times, self.units)
        return np.column_stack([self._drawn_scores(point, drawn) for point in self.points])

    def drawn_stabilities(self, times: Floats) -> Floats:
        """Stabilities (draws × candidates) where each unit was drawn so many times."""
        if not len(times):
            return np.empty((0, len(self.points)))
        drawn = Drawn(times, self.units)
        return np.column_stack([self._drawn_stabilities(point, drawn) for point in self.points])

    def units_of(self, splits: "pd.Index[int]") -> NDArray[np.int64]:
        """The place of each of these splits, or of its block, among the units."""
        table = self.result.split_table
        drawn = splits.to_numpy() if self._has_plain_runs else table["block"].loc[splits].to_numpy()
        return np.searchsorted(self.units, drawn)

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """What is drawn: splits, or blocks of them."""
        return make_units(self.result)

    @property
    def _has_plain_runs(self) -> bool:
        return self.result.design in PLAIN

    def _drawn_scores(self, point: Point, drawn: "Drawn") -> Floats:
        if not len(point.scores):
            return np.full(len(drawn.times), np.nan)
        by_unit = point.scores if self._has_plain_runs else point.scores.groupby(point.splits["block"]).mean()
        return _weighted_means(drawn.of(by_unit.index.to_numpy()), np.asarray(by_unit, dtype=np.float64))

    def _drawn_stabilities(self, point: Point, drawn: "Drawn") -> Floats:
        if point.estimate is None or math.isnan(point.estimate.value):
            return np.full(len(drawn.times), np.nan)
        designed, splits = self._designed(point.candidate)
        if not designed.stand_alone:
            return self._drawn_blocks(designed, drawn)
        chosen = drawn.of(splits)
        single = np.count_nonzero(chosen, axis=1) < 2  # one run and its copies have no stability
        if single.any():
            chosen = chosen.copy(order="K")
            chosen[single] = 1.0
        runs = convert_kind(designed.runs, self.measure.kind, self.measure.name)
        (measure,) = bind_similarity([self.measure], runs, self.X)
        try:
            values = measure.form.resampled(runs, measure, chosen)
        except ValueError:  # no mean over pairs: each run moves the value by its pseudo-value
            values = _by_pseudo_values(point.estimate, chosen)
        return np.where(single, np.nan, values)

    def _designed(self, candidate: str) -> tuple[DesignedRuns, NDArray[np.int64]]:
        """The measured runs of a candidate, and the split of each."""
        designed = self.result.measured(candidate, CommonMeasure(self.measure, self.top))
        return designed, self.result.split_numbers(designed.runs)

    def _drawn_blocks(self, designed: DesignedRuns, drawn: "Drawn") -> Floats:
        (measure,) = bind_similarity([self.measure], designed.runs, self.X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedStabilityWarning)
            by_block = block_values(designed, measure, "nan")
        by_block = by_block.take(by_block.counted("nan"))
        return _weighted_means(drawn.of(by_block.blocks), by_block.values)


class Drawn:
    """How often units were drawn (draws × units); candidates that ran on the same ones share what is read of them."""

    def __init__(self, times: Floats, units: NDArray[np.int64]) -> None:
        self.times, self.units = times, units
        self._last: tuple[NDArray[np.int64], Floats] | None = None

    def of(self, units: NDArray[np.int64]) -> Floats:
        """How often these units were drawn."""
        if self._last is None or not np.array_equal(self._last[0], units):
            self._last = units, read_only(self.times[:, np.searchsorted(self.units, units)])
        return self._last[1]


def make_units(result: StudyResult) -> NDArray[np.int64]:
    """Return what is drawn again: the splits of a study, or blocks of them (pairs of halves, outer folds)."""
    splits = result.split_table
    return splits.index.to_numpy() if result.design in PLAIN else np.unique(splits["block"])


def _weighted_means(times: Floats, values: Floats) -> Floats:
    """Weighted means; ``nan`` where nothing was drawn."""
    with np.errstate(invalid="ignore"):
        return times @ values / times.sum(axis=1)


def _by_pseudo_values(estimate: StabilityEstimate, times: Floats) -> Floats:
    """The value, moved by the pseudo-values of the runs drawn; the value itself where there are none."""
    pseudo = estimate.pseudo_values
    if pseudo.size != times.shape[1]:
        return np.full(len(times), estimate.value)
    return estimate.value + _weighted_means(times, pseudo - pseudo.mean())


def make_points(
    result: StudyResult,
    metric: str | None = None,
    measure: str | Measure | None = None,
    *,
    candidates: Iterable[str] | None = None,
    level: float = 0.95,
    X: Matrix | None = None,
    **parameters: Any,
) -> Points:
    """Make the points of accuracy and stability of a study's candidates; raise if it has no scores.

    A candidate's scores are those of all its runs; of nested subsamples, the means over the smaller sizes, as the
    stability is. Candidates that a search stopped early are left out unless they are asked for.
    """
    stopped = set(result.stopped.index)
    going = [name for name in result.candidates if name not in stopped]
    names = going if candidates is None else [str(name) for name in candidates]
    if X is not None or parameters:
        return _find_points(result, names, metric, measure, level, X, parameters)
    return result.memory.recall(
        ("points", tuple(names), metric, Same(None if measure is None else find_measure(measure)), level),
        lambda: _find_points(result, names, metric, measure, level, None, {}),
        lambda points: points.memory.most_bytes,
    )


def _find_points(
    result: StudyResult,
    names: Sequence[str],
    metric: str | None,
    measure: str | Measure | None,
    level: float,
    X: Matrix | None,
    parameters: dict[str, Any],
) -> Points:
    common = result.common_measure(names, measure)
    chosen = _higher_is_better(find_measure(common.measure)).bind(**parameters)
    metric = check_metric(result, metric)
    points = [_make_point(result, name, metric, CommonMeasure(chosen, common.top), level, X) for name in names]
    if all(not len(point.scores) for point in points):
        raise UnansweredError(
            f"No candidate has a score ({metric}); give the study an estimator= and a perturbation "
            "that holds out rows.",
            f"no candidate has a score ({metric})",
        )
    return Points(result=result, metric=metric, measure=chosen, level=level, points=points, X=X, top=common.top)


def check_metric(result: StudyResult, metric: str | None) -> str:
    """Return the score, the study's first one if none is given; raise if the study has no such score."""
    if metric is None:
        return result.metrics[0]
    if metric not in result.metrics:
        raise ValueError(f"Expected one of the study's scores ({', '.join(result.metrics)}), got {metric!r}.")
    return metric


def _higher_is_better(chosen: Measure) -> Measure:
    if not chosen.higher_is_better:
        raise ValueError(f"Expected a measure of which more is better, got {chosen.name}; take nogueira, for instance.")
    return chosen


def _make_point(
    result: StudyResult, name: str, metric: str, common: CommonMeasure, level: float, X: Matrix | None
) -> Point:
    scores, splits = result.split_scores(name, metric)
    estimate, ends, reason = None, Interval(math.nan, math.nan), None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedStabilityWarning)
            estimate = result.stability(name, common.measure, top=common.top_of(result.kinds.get(name)), X=X)
    except ValueError as error:
        reason = getattr(error, "plain", str(error))
    else:
        ends, reason = result.interval(name, estimate, level), estimate.note
    if not len(scores):
        reason = reason or "no run has a score"
    return Point(
        candidate=name, family=result.family(name), scores=scores, splits=splits,
        estimate=estimate, low=ends.low, high=ends.high, reason=reason,
        score_bounds=score_range(result.plan["scoring"][metric]),
    )  # fmt: skip
