"""Candidates as points of accuracy and stability, with their uncertainty."""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtr, stdtr, stdtrit

from holdfast.checks import Matrix, as_names, read_only
from holdfast.inference.designs import RunsByBlock, block_values
from holdfast.inference.estimate import StabilityEstimate, bind_similarity, convert_kind
from holdfast.inference.intervals import Interval
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.models.scores import UNBOUNDED, Range
from holdfast.study.memory import Cache, IdentityKey
from holdfast.study.orders import UnansweredError
from holdfast.study.stabilities import CommonMeasure, corrected_error, mean_score_interval, score_range
from holdfast.study.tables import StudyTables

Floats = NDArray[np.float64]
PLAIN = ("runs", "folds")
"""Designs whose splits are drawn one by one."""
FIGURES = ("score", "score_se", "stability", "low", "high")
"""The figures of a point that are drawn again."""
MAX_BYTES = 16 << 20
"""Size of the cache of redraws; 1000 redraws of 1000 resamples take half of it."""


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
    score, score_se : float
        Mean score over runs, and its standard error, which allows for runs that share training rows.
    stability, low, high : float
        The stability, ``nan`` if there is none, and the ends of its interval.
    reason : str or None
        Why something is missing.
    score_bounds : Range
        The least and the largest value of the score.
    redrawn : bool
        Whether score, error, stability and its interval are those of redrawn resamples, not those that were measured.
    """

    candidate: str
    family: str
    scores: "pd.Series[float]"
    splits: pd.DataFrame
    estimate: StabilityEstimate | None
    score: float
    score_se: float
    stability: float
    low: float
    high: float
    reason: str | None
    score_bounds: Range = UNBOUNDED
    redrawn: bool = False

    def score_interval(self, level: float) -> Interval:
        """Student's interval of the score with this standard error, inside the range of the score."""
        if self.redrawn:
            reach = stdtrit(max(len(self.scores) - 1, 1), (1 + level) / 2) * self.score_se
            low, high = np.clip([self.score - reach, self.score + reach], *self.score_bounds)
            return Interval(float(low), float(high))
        return mean_score_interval(self.scores, self.splits, self.score_bounds, level)

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

    result: StudyTables
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
    def memory(self) -> Cache:
        """What was drawn again before."""
        return Cache(MAX_BYTES)

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

    @cached_property
    def once(self) -> "Redraws":
        """The figures as they are, as a single draw: what rules choose from."""
        figures = {name: self.frame[name].to_numpy(dtype=np.float64)[None] for name in FIGURES}
        times = np.ones(self.units.size) if self.times is None else self.times
        return Redraws(points=self, times=times[None], **figures)

    def draws(self, n_draws: int, random_state: int = 0) -> tuple[Floats, Floats]:
        """Scores and stabilities (draws × candidates) of runs drawn anew, the same runs for all candidates.

        Copies of one run never meet: a run compared with itself would agree perfectly. Where a design has blocks (pairs
        of halves, outer folds), blocks are drawn.
        """

        def measure() -> tuple[Floats, Floats]:
            times = self.draw_units(n_draws, random_state)
            return read_only(self.drawn_scores(times)), read_only(self.drawn_stabilities(times))

        key = ("draws", n_draws, random_state)
        return self.memory.get_or_compute(key, measure, lambda draws: sum(axis.nbytes for axis in draws))

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
        """The index of each of these splits, or of its block, among the units."""
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
        return weighted_means(drawn.of(by_unit.index.to_numpy()), np.asarray(by_unit, dtype=np.float64))

    def _drawn_stabilities(self, point: Point, drawn: "Drawn") -> Floats:
        if point.estimate is None or math.isnan(point.estimate.value):
            return np.full(len(drawn.times), np.nan)
        runs_by_block = self.result.measured(point.candidate, CommonMeasure(self.measure, self.top))
        if runs_by_block.has_blocks:
            return self._drawn_blocks(runs_by_block, drawn)
        chosen = drawn.of(self.result.split_numbers(runs_by_block.runs))
        single = np.count_nonzero(chosen, axis=1) < 2  # one run and its copies have no stability
        if single.any():
            chosen = chosen.copy(order="K")
            chosen[single] = 1.0
        runs = convert_kind(runs_by_block.runs, self.measure.kind, self.measure.name)
        (measure,) = bind_similarity([self.measure], runs, self.X)
        try:
            values = measure.form.resampled(runs, measure, chosen)
        except ValueError:  # no mean over pairs: each run moves the value by its pseudo-value
            values = _by_pseudo_values(point.estimate, chosen)
        return np.where(single, np.nan, values)

    def _drawn_blocks(self, runs_by_block: RunsByBlock, drawn: "Drawn") -> Floats:
        (measure,) = bind_similarity([self.measure], runs_by_block.runs, self.X)
        with warnings.catch_warnings(action="ignore", category=UndefinedStabilityWarning):
            by_block = block_values(runs_by_block, measure, "nan")
        by_block = by_block.take(by_block.counted("nan"))
        return weighted_means(drawn.of(by_block.blocks), by_block.values)


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


def make_units(result: StudyTables) -> NDArray[np.int64]:
    """Return what is drawn again: the splits of a study, or blocks of them (pairs of halves, outer folds)."""
    splits = result.split_table
    return splits.index.to_numpy() if result.design in PLAIN else np.unique(splits["block"])


def weighted_means(times: Floats, values: Floats) -> Floats:
    """Weighted means; ``nan`` where nothing was drawn."""
    with np.errstate(invalid="ignore"):
        return times @ values / times.sum(axis=1)


def _by_pseudo_values(estimate: StabilityEstimate, times: Floats) -> Floats:
    """The value, moved by the pseudo-values of the runs drawn; the value itself where there are none."""
    pseudo = estimate.pseudo_values
    if pseudo.size != times.shape[1]:
        return np.full(len(times), estimate.value)
    return estimate.value + weighted_means(times, pseudo - pseudo.mean())


def make_points(
    result: StudyTables,
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
    names = going if candidates is None else as_names(candidates, "candidates=")
    if X is not None or parameters:
        return _find_points(result, names, metric, measure, level, X, parameters)
    return result.memory.get_or_compute(
        ("points", tuple(names), metric, IdentityKey(None if measure is None else find_measure(measure)), level),
        lambda: _find_points(result, names, metric, measure, level, None, {}),
        lambda points: points.memory.most_bytes,
    )


def _find_points(
    result: StudyTables,
    names: Sequence[str],
    metric: str | None,
    measure: str | Measure | None,
    level: float,
    X: Matrix | None,
    parameters: dict[str, Any],
) -> Points:
    common = result.common_measure(names, measure)
    chosen = find_measure(common.measure)
    if not chosen.higher_is_better:
        raise ValueError(f"Expected a measure of which more is better, got {chosen.name}; take nogueira, for instance.")
    chosen = chosen.bind(**parameters)
    metric = check_metric(result, metric)
    points = [_make_point(result, name, metric, CommonMeasure(chosen, common.top), level, X) for name in names]
    if all(not len(point.scores) for point in points):
        raise UnansweredError(
            f"No candidate has a score ({metric}); give the study an estimator= and a perturbation "
            "that holds out rows.",
            f"no candidate has a score ({metric})",
        )
    return Points(result=result, metric=metric, measure=chosen, level=level, points=points, X=X, top=common.top)


def check_metric(result: StudyTables, metric: str | None) -> str:
    """Return the score, the study's first one if none is given; raise if the study has no such score."""
    if metric is None:
        return result.metrics[0]
    if metric not in result.metrics:
        raise ValueError(f"Expected one of the study's scores ({', '.join(result.metrics)}), got {metric!r}.")
    return metric


def _make_point(
    result: StudyTables, name: str, metric: str, common: CommonMeasure, level: float, X: Matrix | None
) -> Point:
    scores, splits = result.split_scores(name, metric)
    estimate, ends, reason = None, Interval(math.nan, math.nan), None
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedStabilityWarning):
            estimate = common.estimate(result, name, X=X)
    except ValueError as error:
        reason = getattr(error, "plain", str(error))
    else:
        ends, reason = result.interval(name, estimate, level), estimate.note
    if not len(scores):
        reason = reason or "no run has a score"
    return Point(
        candidate=name, family=result.family(name), scores=scores, splits=splits,
        estimate=estimate, score=float(scores.mean()) if len(scores) else math.nan,
        score_se=corrected_error(np.asarray(scores, dtype=np.float64), splits),
        stability=math.nan if estimate is None else estimate.value, low=ends.low, high=ends.high, reason=reason,
        score_bounds=score_range(result.plan["scoring"][metric]),
    )  # fmt: skip


Test: TypeAlias = Literal["mcnemar", "resampled-t"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How much better one candidate predicts than another, and how probable that is without any difference.

    Attributes
    ----------
    difference : float
        Score of the better one minus that of the other; for McNemar's test the share of rows.
    p_value : float
        Two-sided; ``nan`` if there is nothing to compare.
    test : {"mcnemar", "resampled-t"}
        How it was found.
    """

    difference: float
    p_value: float
    test: Test


def mcnemar(right: NDArray[np.bool_], other: NDArray[np.bool_]) -> Difference:
    """McNemar's exact test on one held-out prediction per row: how often one is right where the other is wrong.

    Parameters
    ----------
    right, other : array of bool
        Whether the prediction of each row was right, by the first model and by the other.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.tradeoff.points import mcnemar
    >>> round(mcnemar(np.array([True] * 9 + [False]), np.array([False] * 8 + [True, False])).p_value, 4)
    0.0078
    """
    gained, lost = int((right & ~other).sum()), int((other & ~right).sum())
    p = min(1.0, 2 * float(bdtr(min(gained, lost), gained + lost, 0.5))) if gained + lost else 1.0
    return Difference(difference=(gained - lost) / right.size, p_value=p, test="mcnemar")


def resampled_t(differences: NDArray[np.float64], splits: pd.DataFrame) -> Difference:
    """Corrected resampled t-test (Nadeau and Bengio, 2003) on differences of scores, run by run.

    Runs on one data set share rows; the plain t-test takes them for independent and finds differences where there are
    none. The variance is multiplied by 1/J + tested/trained rows instead of 1/J.
    """
    if differences.size < 2:
        return Difference(difference=float(np.mean(differences)), p_value=np.nan, test="resampled-t")
    mean, error = float(differences.mean()), corrected_error(differences, splits)
    if error == 0:
        return Difference(difference=mean, p_value=1.0 if mean == 0 else 0.0, test="resampled-t")
    p = 2 * float(stdtr(differences.size - 1, -abs(mean / error)))
    return Difference(difference=mean, p_value=p, test="resampled-t")


def default_test(points: Points) -> Test:
    """McNemar's test where every row was predicted once and classes are counted; else the corrected t-test.

    Pooling repeated predictions of one row for McNemar's test would reject a true null in two thirds of cases.
    """
    if points.metric != "accuracy" or points.result.classes is None:
        return "resampled-t"
    return "mcnemar" if all(_predicts_rows_once(points.result, point) for point in points.points) else "resampled-t"


def _predicts_rows_once(result: StudyTables, point: Point) -> bool:
    if point.splits["n_test"].sum() > result.data.rows:
        return False  # more predictions than rows: there is no need to read them
    rows = result.predictions(point.candidate)["row"]
    return len(rows) > 0 and rows.is_unique


def differ(points: Points, best: Point, other: Point, test: Test) -> Difference:
    """Test whether one candidate predicts better than another."""
    if test == "mcnemar":
        both = predicted_by_both(points.result, best.candidate, other.candidate)
        return mcnemar(both["best"].to_numpy(), both["other"].to_numpy())
    difference = (best.scores - other.scores).dropna()
    return resampled_t(np.asarray(difference, dtype=np.float64), best.splits.loc[difference.index])


def predicted_by_both(result: StudyTables, best: str, other: str) -> pd.DataFrame:
    """Return the rows that two candidates predicted once: whether each was right, and the split of the first."""
    first, second = _is_right(result, best), _is_right(result, other)["right"]
    both = first.rename(columns={"right": "best"}).join(second.rename("other"), how="inner")
    if both.empty:
        raise ValueError(f"No row was predicted by both {best} and {other}.")
    return both.astype({"best": bool, "other": bool})


def _is_right(result: StudyTables, candidate: str) -> pd.DataFrame:
    """Whether the one prediction of each row was right, and in which split it was made."""
    predictions = result.predictions(candidate)
    if predictions.empty:
        raise UnansweredError(
            f"{candidate} has no stored predictions; run the study with keep_predictions=True.",
            "McNemar's test needs predictions of held-out rows, which were not stored",
        )
    if not predictions["row"].is_unique:
        raise UnansweredError(
            "Expected one held-out prediction per row for McNemar's test, as single folds give it, got several; "
            "pooling them makes the test find differences that are not there. Use test='resampled-t'.",
            "rows were predicted several times, and McNemar's test takes one prediction of each",
        )
    right, splits = (predictions["truth"] == predictions["predicted"]).to_numpy(), result.split_table
    by_label = pd.Series(splits.index, index=splits["label"])
    return pd.DataFrame({"right": right, "split": by_label.loc[predictions["run"]].to_numpy()}, predictions["row"])


LEAST_UNITS = 8
"""Resamples, or blocks of resamples, below which nothing is redrawn: half as many would show too little."""
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
        return sum(getattr(self, name).nbytes for name in ("times", *FIGURES))

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

    def make_points(self, draw: int) -> Points:
        """Make the candidates as one draw shows them, for a rule that chooses in one draw at a time."""
        points = []
        for candidate, point in enumerate(self.points.points):
            figures = {name: float(getattr(self, name)[draw, candidate]) for name in FIGURES}
            points.append(replace(point, **figures, redrawn=True))  # type: ignore[arg-type]
        return replace(self.points, points=points, times=self.times[draw])


def redraw(points: Points, n_draws: int) -> Redraws:
    """Draw the resamples of a study again, and measure all candidates on each draw."""
    return points.memory.get_or_compute(
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

    With noise of variance v and observed means of variance b about their common mean, differences are multiplied by
    1 − v/b.

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
    residual = deviation - shared
    noise = (residual**2).sum() / len(residual) / (close.size - 1) / 2
    spread = means.var(ddof=1)
    shrinkage = max(0.0, 1 - noise / spread) if spread > 0 else 0.0
    pulled = drawn.copy()
    pulled[np.ix_(complete, close)] = (
        mean + shrinkage * (means - mean) + shared + residual * np.sqrt((1 + shrinkage) / 2)
    )
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
    for candidate, point in enumerate(points.points):
        values = np.asarray(point.scores, dtype=np.float64)
        if values.size < 2:
            continue
        weights = times[:, points.units_of(point.scores.index)]
        variance = weighted_variance(values, weights)
        ratio = (point.splits["n_test"] / point.splits["n_rows"]).mean()
        errors[:, candidate] = np.sqrt((1 / values.size + ratio) * variance)
    return errors


def weighted_variance(values: Floats, weights: Floats) -> Floats:
    """Variance of values (one row, or a row per draw) with these weights in each draw, without bias."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = weights / weights.sum(axis=1, keepdims=True)
        mean = (share * values).sum(axis=1)
        square = (share * values**2).sum(axis=1)
        return np.maximum(square - mean**2, 0.0) / (1 - (share**2).sum(axis=1))
