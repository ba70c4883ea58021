"""Pareto fronts of accuracy and stability: which points are on the front, how much it dominates, how certain that is.

On both axes more is better. A point without a score or without a stability (``nan``) is never on a front.
"""

import math
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from holdfast.cards import Card, Point, draw_points
from holdfast.checks import Matrix
from holdfast.inference.estimate import SCOPE
from holdfast.inference.intervals import check_level
from holdfast.measures import Measure
from holdfast.result_base import AnyChart, ResultMixin
from holdfast.serialization import to_plain
from holdfast.study.tables import StudyTables
from holdfast.tradeoff.points import Floats, Points, make_points

Rule: TypeAlias = Literal["usual", "weak"]
DIGITS = 12  # what differs beyond them is rounding, and ties are ties


def round_axes(frame: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return ``score`` and ``stability`` of candidates, rounded so that ties are ties."""
    x, y = (frame[axis].to_numpy(dtype=np.float64).round(DIGITS) for axis in ("score", "stability"))
    return x, y


def lowest_point(frame: pd.DataFrame) -> tuple[float, float]:
    """Return from where dominated areas are measured: the lowest score, and 0 or the lowest stability below it."""
    lowest = [float(frame[axis].min()) for axis in ("score", "stability")]
    score, stability = (0.0 if math.isnan(value) else value for value in lowest)
    return score, min(0.0, stability)


def pareto_front(scores: ArrayLike, stabilities: ArrayLike, rule: Rule = "usual") -> NDArray[np.bool_]:
    """Find which points are on the Pareto front.

    Parameters
    ----------
    scores, stabilities : array
        The two axes, one number per point; more is better.
    rule : {"usual", "weak"}
        ``"usual"`` drops a point if another one is at least as good on both axes and better on one. ``"weak"`` drops it
        only if another one is better on both, as Nogueira, Sechidis and Brown (2018) say it; points that are beaten on
        one axis and tied on the other stay.

    Returns
    -------
    ndarray of bool
        True for points on the front. Equal points are all on it, or none of them is.

    Raises
    ------
    ValueError
        If there is no such rule.

    Examples
    --------
    >>> import holdfast as hf
    >>> hf.tradeoff.pareto_front([0.90, 0.90, 0.85, 0.80], [0.5, 0.4, 0.7, 0.6])
    array([ True, False,  True, False])
    >>> hf.tradeoff.pareto_front([0.90, 0.90, 0.85, 0.80], [0.5, 0.4, 0.7, 0.6], rule="weak")
    array([ True,  True,  True, False])
    """
    if rule not in get_args(Rule):
        raise ValueError(f"Expected rule 'usual' or 'weak', got {rule!r}.")
    x, y = _as_axes(scores, stabilities)
    known = ~(np.isnan(x) | np.isnan(y))
    front = np.zeros(x.size, dtype=bool)
    front[known] = _unbeaten(x[known], y[known], rule)
    return front


def _unbeaten(x: Floats, y: Floats, rule: Rule) -> NDArray[np.bool_]:
    levels, level = np.unique(-x, return_inverse=True)  # the best score first
    highest = np.full(levels.size, -np.inf)
    np.maximum.at(highest, level, y)
    above = np.append(np.nan, np.maximum.accumulate(highest))[level]  # among better scores; nothing is above the best
    return ~(above > y) if rule == "weak" else (y == highest[level]) & ~(above >= y)


def hypervolume(scores: ArrayLike, stabilities: ArrayLike, reference: tuple[float, float]) -> float:
    """Area that points dominate above a reference point: larger is better.

    Parameters
    ----------
    scores, stabilities : array
        The two axes; points that are ``nan``, or not better than the reference on both, add nothing.
    reference : (float, float)
        Score and stability from which the area is measured.

    Returns
    -------
    float
        The area; 0 if no point is better than the reference on both axes.

    Examples
    --------
    >>> import holdfast as hf
    >>> round(hf.tradeoff.hypervolume([0.9, 0.8], [0.5, 0.7], reference=(0.5, 0.0)), 12)
    0.26
    """
    x, y = _as_axes(scores, stabilities)
    with np.errstate(invalid="ignore"):
        beyond = (x > reference[0]) & (y > reference[1])
    x, y = x[beyond], y[beyond]
    order = np.lexsort((-y, -x))
    heights = np.maximum.accumulate(np.append(reference[1], y[order]))
    return float((x[order] - reference[0]) @ np.diff(heights))


def attainment(scores: ArrayLike, stabilities: ArrayLike, at: ArrayLike, level: float = 0.5) -> Floats:
    """Empirical attainment surface: the stability that a share of fronts attain together with each score.

    Parameters
    ----------
    scores, stabilities : array, draws × candidates
        Several versions of the same points, such as those of resamples drawn again.
    at : array
        Scores to look at.
    level : float
        Share of the versions that must attain (score, stability): 0.5 is the median front, 0.95 a front that is nearly
        always attained, 0.05 one that hardly ever is.

    Returns
    -------
    ndarray
        For each score in ``at`` the highest such stability; ``nan`` if less than this share attain the score at all.

    Raises
    ------
    ValueError
        If the level is not above 0 and up to 1, or the two axes differ in shape.

    References
    ----------
    Grunert da Fonseca, Fonseca and Hall (2001).

    Examples
    --------
    >>> from holdfast.tradeoff import attainment
    >>> attainment([[0.9, 0.8], [0.9, 0.7], [0.8, 0.7]], [[0.5, 0.7], [0.4, 0.9], [0.6, 0.6]], at=[0.7, 0.8, 0.9])
    array([0.7, 0.6, 0.4])
    """
    if not 0 < level <= 1:
        raise ValueError(f"Expected a level above 0 and up to 1, got {level}.")
    x, y = (np.atleast_2d(np.asarray(axis, dtype=np.float64)) for axis in (scores, stabilities))
    if x.shape != y.shape:
        raise ValueError(f"Expected as many scores as stabilities, got shapes {x.shape} and {y.shape}.")
    rank = math.ceil(level * len(x) - 1e-9) - 1  # from 0: the k-th best of all versions
    known = ~(np.isnan(x) | np.isnan(y))
    surface = []
    for score in np.asarray(at, dtype=np.float64).ravel():
        best = np.where(known & (x >= score), y, -np.inf).max(axis=1, initial=-np.inf)
        surface.append(-np.partition(-best, rank)[rank])
    heights = np.array(surface)
    return np.where(np.isneginf(heights), np.nan, heights)


def _as_axes(scores: ArrayLike, stabilities: ArrayLike) -> tuple[Floats, Floats]:
    x, y = (np.asarray(axis, dtype=np.float64) for axis in (scores, stabilities))
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"Expected one score and one stability for each point, got shapes {x.shape} and {y.shape}.")
    return x, y


SURFACE_POINTS = 200
ALL = "all"


@dataclass(frozen=True, kw_only=True, eq=False)
class Pareto(ResultMixin):
    """Pareto fronts of accuracy and stability: which candidates are the best compromises.

    Attributes
    ----------
    frame : DataFrame
        One row per candidate: ``family``, ``score`` and ``stability`` with intervals and errors, ``size``, ``runs``,
        whether it is ``on_front`` (the joint one) and ``on_own_front`` (that of its group), and the ``probability`` and
        ``own_probability`` to be there if the resamples were drawn again.
    areas : dict
        The area that each group dominates above ``reference``, and that of ``"all"``.
    metric, measure : str
        What the axes are.
    rule : str
        How points are dropped (see :func:`pareto_front`).
    reference : (float, float)
        Score and stability from which areas are measured.
    level : float
        Level of the intervals.
    scores, stabilities : ndarray, draws × candidates
        The points of resamples drawn again.
    scope : str
        What probabilities and stabilities describe.
    second_measure : str or None
        Where candidates force features into the selection, a measure whose value for those on a front is a column of
        this name: ``used_again``, of what the models use, or ``nogueira``, of the list, if ``measure`` is the other.

    See Also
    --------
    holdfast.StudyResult.pareto : Makes them.
    Choice : One candidate, chosen by a rule.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(
    ...     selectors={"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 2, 3])},
    ...     perturbation=hf.Bootstrap(20),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = study.run(X, y)
    >>> pareto = result.pareto()
    >>> pareto.front[["score", "stability", "size"]].round(2).reset_index()
           candidate  score  stability  size
    0  anova(size=3)   0.96        1.0   3.0
    """

    _columns: ClassVar[tuple[str, ...]] = (
        "metric", "measure", "second_measure", "rule", "reference", "level", "areas", "scope",
    )  # fmt: skip
    _table_field: ClassVar[str] = "frame"

    frame: pd.DataFrame
    areas: dict[str, float]
    metric: str
    measure: str
    rule: Rule
    reference: tuple[float, float]
    level: float
    scores: Floats
    stabilities: Floats
    scope: str
    second_measure: str | None = None

    @property
    def shown_columns(self) -> list[str]:
        """The columns of stability, and of the second measure if there is one."""
        return ["stability", "low", "high", *([self.second_measure] if self.second_measure else [])]

    @property
    def front(self) -> pd.DataFrame:
        """The joint front, the most accurate first."""
        return _sort_front(self.frame[self.frame["on_front"]])

    @property
    def fronts(self) -> dict[str, pd.DataFrame]:
        """The front of every group, each with the most accurate first."""
        fronts = self.frame[self.frame["on_own_front"]]
        return {str(group): _sort_front(fronts[fronts["group"] == group]) for group in self.frame["group"].unique()}

    @property
    def area(self) -> float:
        """The area that all candidates together dominate."""
        return self.areas[ALL]

    def attainment(self, level: float = 0.5) -> pd.DataFrame:
        """Return the front that a share of the redrawn resamples attain: ``score`` and ``stability`` (see ``level``).

        Parameters
        ----------
        level : float
            0.5 is the median front, 0.95 one that is nearly always attained, 0.05 one that hardly ever is.

        Returns
        -------
        DataFrame
            One row per score, from the lowest to the highest.

        See Also
        --------
        holdfast.tradeoff.attainment : The definition.
        """
        known = self.scores[~np.isnan(self.scores)]
        at = np.linspace(known.min(), known.max(), SURFACE_POINTS)
        surface = pd.DataFrame({"score": at, "stability": attainment(self.scores, self.stabilities, at, level)})
        return surface.dropna().reset_index(drop=True)

    def to_dict(self) -> dict[str, Any]:
        """Return axes, areas and candidates as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            ``metric``, ``measure``, ``rule``, ``reference``, ``level``, ``areas``, ``scope`` and ``candidates``.
        """
        return {**super().to_dict(), "candidates": to_plain(self.frame)}

    def plot(self) -> "AnyChart":
        """Draw accuracy against stability with the front (see :func:`holdfast.plots.plot_pareto`).

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast.plots import plot_pareto

        return plot_pareto(self, score=self.metric, level=self.level)

    def _card(self) -> Card:
        points = [
            Point(row.stability, row.score, str(name), strong=bool(row.on_front))
            for name, row in self.frame[["stability", "score", "on_front"]].iterrows()
        ]
        columns = ["score", *self.shown_columns, "size", "on_front", "probability"]
        return Card(
            title=f"Front of {self.metric} and {self.measure}", verdict=self._title,
            frame=self.frame[columns].sort_values("on_front", ascending=False, kind="stable"),
            picture=draw_points(points, x_title=f"stability ({self.measure})", y_title=self.metric), note=self.scope,
        )  # fmt: skip

    def __repr__(self) -> str:
        front = self.front
        columns = ["score", "score_low", "score_high", *self.shown_columns, "size", "probability"]
        shown = front[columns].rename(columns={"score": self.metric, "stability": self.measure})
        head = f"{len(front)} of {len(self.frame)} candidates are on the front of {self.metric} and {self.measure}"
        areas = ", ".join(f"{name} {area:.3f}" for name, area in self.areas.items())
        above = f"{self.metric} {self.reference[0]:.3g}, {self.measure} {self.reference[1]:.3g}"
        table = shown.to_string(float_format=lambda number: f"{number:.3f}", index_names=False)
        return f"{head}\n{table}\nDominated area above ({above}): {areas}"


def _sort_front(front: pd.DataFrame) -> pd.DataFrame:
    return front.sort_values(["score", "stability"], ascending=[False, True], kind="stable")


def pareto(
    result: StudyTables,
    metric: str | None = None,
    measure: str | Measure | None = None,
    *,
    by: Literal["family"] | None = "family",
    rule: Rule = "usual",
    reference: tuple[float, float] | None = None,
    candidates: Iterable[str] | None = None,
    level: float = 0.95,
    n_draws: int = 1000,
    random_state: int = 0,
    X: Matrix | None = None,
    **parameters: Any,
) -> Pareto:
    """Find the Pareto front of accuracy and stability among the candidates of a study.

    The probability of a candidate to be on the front comes from drawing the resamples again, with replacement, the same
    ones for all candidates; copies of one are never compared with each other. It describes other resamples of this data
    set, not new data.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    metric : str, optional
        The score; the study's first one by default.
    measure : str or Measure, optional
        The measure of stability; by default the one for what the candidates give.
    by : {"family", None}
        Whether to find a separate front for every selector.
    rule : {"usual", "weak"}
        How points are dropped (see :func:`holdfast.tradeoff.pareto_front`).
    reference : (float, float), optional
        From which score and stability dominated areas are measured; by default the lowest score of all candidates, and
        0 or the lowest stability if that is below 0.
    candidates : iterable of str, optional
        Which candidates to look at; by default all but those that a search stopped.
    level : float
        Level of the intervals.
    n_draws : int
        How often the resamples are drawn again; 0 for no probabilities.
    random_state : int
        Seed of that.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure, as for :func:`holdfast.stability`.

    Returns
    -------
    Pareto
        Scores and stabilities of all candidates, fronts, and the probability of each to be on them.

    Raises
    ------
    ValueError
        If no candidate has a score, or ``by`` is something else.

    See Also
    --------
    choose : One candidate of them, by a rule.
    holdfast.tradeoff.pareto_front : The front of plain arrays.
    """
    check_level(level)
    if by not in ("family", None):
        raise ValueError(f"Expected by='family' or None, got {by!r}.")
    points = make_points(result, metric, measure, candidates=candidates, level=level, X=X, **parameters)
    frame = points.frame.assign(group=points.frame["family"] if by == "family" else ALL)
    scores, stabilities = points.draws(n_draws, random_state)
    frame = _add_fronts(frame, scores, stabilities, rule)
    frame, second = _add_second_measure(points, frame)
    reference = reference or lowest_point(frame)
    groups = [str(group) for group in frame["group"].unique()] if by == "family" else []
    areas = {group: _area(frame[frame["group"] == group], reference) for group in groups}
    scope = next((point.estimate.scope for point in points.points if point.estimate is not None), "")
    return Pareto(
        frame=frame, areas={**areas, ALL: _area(frame, reference)}, metric=points.metric, measure=points.measure.label,
        rule=rule, reference=reference, level=level, scores=scores, stabilities=stabilities, second_measure=second,
        scope=f"{scope}; probabilities: {SCOPE}" if points.result.design == "pairs" else scope,
    )  # fmt: skip


def _add_fronts(frame: pd.DataFrame, scores: Floats, stabilities: Floats, rule: Rule) -> pd.DataFrame:
    """Add which candidates are on the joint front and on that of their group, and how probable that is."""
    x, y = round_axes(frame)
    on_front = pareto_front(x, y, rule)
    probability = _probability(scores, stabilities, rule)
    on_group_front, group_probability = on_front.copy(), probability.copy()
    for group in frame["group"].unique():
        members = (frame["group"] == group).to_numpy()
        if not members.all():
            on_group_front[members] = pareto_front(x[members], y[members], rule)
            group_probability[members] = _probability(scores[:, members], stabilities[:, members], rule)
    return frame.assign(
        on_front=on_front, probability=probability, on_own_front=on_group_front, own_probability=group_probability
    )


def _add_second_measure(points: Points, frame: pd.DataFrame) -> tuple[pd.DataFrame, str | None]:
    """Add the stability of what models use beside that of the list, or the other way round, to those on a front.

    Only where candidates force features, which makes lists more alike than what their models use.
    """
    if not any(points.result.n_forced(str(name)) for name in frame.index):
        return frame, None
    second = "nogueira" if points.measure.of_models else "used_again"
    values = pd.Series(math.nan, index=frame.index)
    for name in frame.index[frame["on_front"] | frame["on_own_front"]]:
        with warnings.catch_warnings(action="ignore"), suppress(ValueError):  # models may have no coefficients
            values[name] = points.result.stability(str(name), second).value
    return (frame, None) if values.isna().all() else (frame.assign(**{second: values}), second)


def _probability(scores: Floats, stabilities: Floats, rule: Rule) -> Floats:
    """In which share of the draws each candidate is on the front; ``nan`` if nothing was drawn."""
    if not len(scores):
        return np.full(scores.shape[1], np.nan)
    hits = [pareto_front(x, y, rule) for x, y in zip(scores.round(DIGITS), stabilities.round(DIGITS), strict=True)]
    return np.mean(hits, axis=0)


def _area(frame: pd.DataFrame, reference: tuple[float, float]) -> float:
    return hypervolume(frame["score"], frame["stability"], reference)
