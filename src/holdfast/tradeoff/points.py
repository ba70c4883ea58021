"""The candidates of a study as points of accuracy and stability, with what is known of their uncertainty."""

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

from holdfast.checks import Matrix
from holdfast.inference.designs import DesignedRuns, block_values
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.evaluation import bind_similarity, convert_kind
from holdfast.inference.intervals import Interval
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.study.footing import Footing
from holdfast.study.result import StudyResult, corrected_error
from holdfast.study.stored import UnansweredError

Floats = NDArray[np.float64]


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
    """

    candidate: str
    family: str
    scores: "pd.Series[float]"
    splits: pd.DataFrame
    estimate: StabilityEstimate | None
    low: float
    high: float
    reason: str | None

    @cached_property
    def score(self) -> float:
        """Mean score over runs."""
        return float(self.scores.mean()) if len(self.scores) else math.nan

    @cached_property
    def score_se(self) -> float:
        """Its standard error, which allows for runs that share training rows."""
        return corrected_error(np.asarray(self.scores, dtype=np.float64), self.splits)

    def score_interval(self, level: float) -> Interval:
        """Student's interval of the score with this standard error."""
        reach = stdtrit(max(len(self.scores) - 1, 1), (1 + level) / 2) * self.score_se
        return Interval(float(self.score - reach), float(self.score + reach))

    @property
    def stability(self) -> float:
        """The stability; ``nan`` if there is none."""
        return math.nan if self.estimate is None else self.estimate.value

    @property
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
        How many of the best features of rankings and weights count (see :meth:`StudyResult.footing`).
    """

    result: StudyResult
    metric: str
    measure: Measure
    level: float
    points: Sequence[Point]
    X: Matrix | None = None
    top: int | None = None

    @property
    def names(self) -> list[str]:
        """Names of the candidates."""
        return [point.candidate for point in self.points]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per candidate: score and stability with their intervals, size, runs, and why something is missing."""
        rows = []
        for one in self.points:
            score_low, score_high = one.score_interval(self.level)
            rows.append(
                {
                    "candidate": one.candidate, "family": one.family, "score": one.score, "score_se": one.score_se,
                    "score_low": score_low, "score_high": score_high, "stability": one.stability, "low": one.low,
                    "high": one.high, "size": one.size, "runs": 0 if one.estimate is None else one.estimate.n_runs,
                    "reason": one.reason,
                }
            )  # fmt: skip
        return pd.DataFrame(rows).set_index("candidate")

    # Resampled runs

    def draws(self, n_draws: int, random_state: int = 0) -> tuple[Floats, Floats]:
        """Scores and stabilities (draws × candidates) of runs drawn anew, the same runs for all candidates.

        Copies of one run never meet: a run compared with itself would agree perfectly. Where a design has blocks (pairs
        of halves, outer folds), blocks are drawn.
        """
        units = self._units
        rng = np.random.default_rng(random_state)
        times = rng.multinomial(units.size, np.full(units.size, 1 / units.size), n_draws).astype(np.float64)
        scores, stabilities = np.full((2, n_draws, len(self.points)), np.nan)
        for place, point in enumerate(self.points):
            scores[:, place] = self._drawn_scores(point, units, times)
            stabilities[:, place] = self._drawn_stabilities(point, units, times)
        return scores, stabilities

    @cached_property
    def _units(self) -> NDArray[np.int64]:
        """What is drawn: splits, or blocks of them."""
        splits = self.result.stored.splits
        return splits.index.to_numpy() if self._stand_alone else np.unique(splits["block"])

    @property
    def _stand_alone(self) -> bool:
        return self.result.design in ("runs", "folds")

    def _drawn_scores(self, point: Point, units: NDArray[np.int64], times: Floats) -> Floats:
        if not len(point.scores):
            return np.full(len(times), np.nan)
        by_unit = point.scores if self._stand_alone else point.scores.groupby(point.splits["block"]).mean()
        chosen = times[:, np.searchsorted(units, by_unit.index.to_numpy())]
        return _weighted(chosen, np.asarray(by_unit, dtype=np.float64))

    def _drawn_stabilities(self, point: Point, units: NDArray[np.int64], times: Floats) -> Floats:
        if point.estimate is None or math.isnan(point.estimate.value):
            return np.full(len(times), np.nan)
        designed, places = self._designed(point.candidate)
        if not designed.stand_alone:
            return self._drawn_blocks(designed, units, times)
        chosen = times[:, np.searchsorted(units, places)]
        alone = (chosen > 0).sum(axis=1) < 2  # one run and its copies have no stability
        chosen[alone] = 1.0
        runs = convert_kind(designed.runs, self.measure.kind, self.measure.name)
        (measure,) = bind_similarity([self.measure], runs, self.X)
        try:
            drawn = measure.form.resampled(runs, measure, chosen)
        except ValueError:  # no mean over pairs: each run moves the value by its pseudo-value
            drawn = _by_pseudo_values(point.estimate, chosen)
        return np.where(alone, np.nan, drawn)

    def _designed(self, candidate: str) -> tuple[DesignedRuns, NDArray[np.int64]]:
        """The measured runs of a candidate, and the split of each."""
        designed = Footing(self.measure, self.top).cut(self.result.stored.designed(candidate))
        splits = self.result.stored.splits
        place = pd.Series(splits.index, index=splits["label"])
        return designed, place.loc[list(designed.runs.labels or ())].to_numpy()

    def _drawn_blocks(self, designed: DesignedRuns, units: NDArray[np.int64], times: Floats) -> Floats:
        (measure,) = bind_similarity([self.measure], designed.runs, self.X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedStabilityWarning)
            found = block_values(designed, measure, "nan")
        found = found.take(found.counted("nan"))
        return _weighted(times[:, np.searchsorted(units, found.blocks)], found.values)


def _weighted(times: Floats, values: Floats) -> Floats:
    """Weighted means; ``nan`` where nothing was drawn."""
    with np.errstate(invalid="ignore"):
        return times @ values / times.sum(axis=1)


def _by_pseudo_values(estimate: StabilityEstimate, times: Floats) -> Floats:
    """The value, moved by the pseudo-values of the runs drawn; the value itself where there are none."""
    pseudo = estimate.pseudo_values
    if pseudo.size != times.shape[1]:
        return np.full(len(times), estimate.value)
    return estimate.value + _weighted(times, pseudo - pseudo.mean())


def points_of(
    result: StudyResult,
    metric: str | None = None,
    measure: str | Measure | None = None,
    *,
    candidates: Iterable[str] | None = None,
    level: float = 0.95,
    X: Matrix | None = None,
    **parameters: Any,
) -> Points:
    """Read the points of a study; raise if it has no scores.

    A candidate's scores are those of all its runs; of shrinking samples, the means over the smaller sizes, as the
    stability is. Candidates that a search stopped early are left out unless they are asked for.
    """
    stopped = set(result.stopped.index)
    everyone = [name for name in result.candidates if name not in stopped]
    names = everyone if candidates is None else [str(name) for name in candidates]
    footing = result.footing(names, measure)
    chosen = _higher_is_better(find_measure(footing.measure)).bind(**parameters)
    metric = metric_of(result, metric)
    points = [_point(result, name, metric, Footing(chosen, footing.top), level, X) for name in names]
    if all(not len(point.scores) for point in points):
        raise UnansweredError(
            f"Expected candidates with a score ({metric}), got none; give the study an estimator= and a perturbation "
            "that holds out rows.",
            f"no candidate has a score ({metric})",
        )
    return Points(result=result, metric=metric, measure=chosen, level=level, points=points, X=X, top=footing.top)


def metric_of(result: StudyResult, metric: str | None) -> str:
    """The score that is meant, the first one if none is said; raise if the study has no such score."""
    if metric is None:
        return result.metrics[0]
    if metric not in result.metrics:
        raise ValueError(f"Expected one of the study's scores ({', '.join(result.metrics)}), got {metric!r}.")
    return metric


def _higher_is_better(chosen: Measure) -> Measure:
    if not chosen.higher_is_better:
        raise ValueError(f"Expected a measure of which more is better, got {chosen.name}; take nogueira, for instance.")
    return chosen


def _point(result: StudyResult, name: str, metric: str, footing: Footing, level: float, X: Matrix | None) -> Point:
    row, stored = result.stored.row(name), result.stored
    scores, splits = stored.scores_of(name, metric)
    estimate, ends, reason = None, Interval(math.nan, math.nan), None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedStabilityWarning)
            estimate = result.stability(name, footing.measure, top=footing.top, X=X)
    except ValueError as error:
        reason = getattr(error, "plain", str(error))
    else:
        ends, reason = result.interval(name, estimate, level), estimate.note
    if not len(scores):
        reason = reason or "no run has a score"
    return Point(
        candidate=name, family=str(row["family"]), scores=scores, splits=splits,
        estimate=estimate, low=ends.low, high=ends.high, reason=reason,
    )  # fmt: skip
