"""Pareto fronts of a study: of every selector and of all, with the probability to be on them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from holdfast.cards import Card, Point, draw_points
from holdfast.checks import Matrix
from holdfast.inference.estimate import SCOPE
from holdfast.inference.intervals import check_level
from holdfast.measures import Measure
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain
from holdfast.study.result import StudyResult
from holdfast.tradeoff.fronts import (
    DIGITS,
    Floats,
    Rule,
    attainment,
    hypervolume,
    lowest_point,
    pareto_front,
    round_axes,
)
from holdfast.tradeoff.points import Points, make_points

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

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

    @property
    def front(self) -> pd.DataFrame:
        """The joint front, the most accurate first."""
        return _sort_front(self.frame[self.frame["on_front"]])

    @property
    def fronts(self) -> dict[str, pd.DataFrame]:
        """The front of every group, each with the most accurate first."""
        own = self.frame[self.frame["on_own_front"]]
        return {str(group): _sort_front(own[own["group"] == group]) for group in self.frame["group"].unique()}

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

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate (see :attr:`frame`).

        Returns
        -------
        DataFrame
            Indexed by candidate.
        """
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """Return axes, areas and candidates as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            ``metric``, ``measure``, ``rule``, ``reference``, ``level``, ``areas``, ``scope`` and ``candidates``.
        """
        record = {
            "metric": self.metric, "measure": self.measure, "rule": self.rule, "reference": self.reference,
            "level": self.level, "areas": self.areas, "scope": self.scope, "candidates": self.frame,
        }  # fmt: skip
        return to_plain(record)

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
        columns = ["score", "stability", "low", "high", "size", "on_front", "probability"]
        return Card(
            title=f"Front of {self.metric} and {self.measure}", verdict=self._title,
            frame=self.frame[columns].sort_values("on_front", ascending=False, kind="stable"),
            picture=draw_points(points, x_title=f"stability ({self.measure})", y_title=self.metric), note=self.scope,
        )  # fmt: skip

    def __repr__(self) -> str:
        front = self.front
        columns = ["score", "score_low", "score_high", "stability", "low", "high", "size", "probability"]
        shown = front[columns].rename(columns={"score": self.metric, "stability": self.measure})
        head = f"{len(front)} of {len(self.frame)} candidates are on the front of {self.metric} and {self.measure}"
        areas = ", ".join(f"{name} {area:.3f}" for name, area in self.areas.items())
        above = f"{self.metric} {self.reference[0]:.3g}, {self.measure} {self.reference[1]:.3g}"
        table = shown.to_string(float_format=lambda number: f"{number:.3f}", index_names=False)
        return f"{head}\n{table}\nDominated area above ({above}): {areas}"


def _sort_front(front: pd.DataFrame) -> pd.DataFrame:
    return front.sort_values(["score", "stability"], ascending=[False, True], kind="stable")


def pareto(
    result: StudyResult,
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
        The measure of stability; the usual one for what the candidates give by default.
    by : {"family", None}
        Whether every selector has a front of its own.
    rule : {"usual", "weak"}
        How points are dropped (see :func:`pareto_front`).
    reference : (float, float), optional
        From which score and stability dominated areas are measured; by default the lowest score of all candidates, and
        0 or the lowest stability if that is below 0.
    candidates : iterable of str, optional
        Which candidates to look at; all by default.
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
    pareto_front : The front of plain arrays.
    """
    check_level(level)
    if by not in ("family", None):
        raise ValueError(f"Expected by='family' or None, got {by!r}.")
    points = make_points(result, metric, measure, candidates=candidates, level=level, X=X, **parameters)
    frame = points.frame.assign(group=points.frame["family"] if by == "family" else ALL)
    scores, stabilities = points.draws(n_draws, random_state)
    frame = _add_fronts(frame, scores, stabilities, rule)
    reference = reference or lowest_point(frame)
    groups = [str(group) for group in frame["group"].unique()] if by == "family" else []
    areas = {group: _area(frame[frame["group"] == group], reference) for group in groups}
    return Pareto(
        frame=frame, areas={**areas, ALL: _area(frame, reference)}, metric=points.metric, measure=points.measure.label,
        rule=rule, reference=reference, level=level, scores=scores, stabilities=stabilities,
        scope=_describe_scope(points),
    )  # fmt: skip


def _add_fronts(frame: pd.DataFrame, scores: Floats, stabilities: Floats, rule: Rule) -> pd.DataFrame:
    """Add who is on the joint front and on that of its group, and how probable that is."""
    places = np.arange(len(frame))
    x, y = round_axes(frame)
    on_front = pareto_front(x, y, rule)
    probability = _probability(scores, stabilities, rule)
    on_own, own = on_front.copy(), probability.copy()
    for group in frame["group"].unique():
        members = places[(frame["group"] == group).to_numpy()]
        if members.size < places.size:
            on_own[members] = pareto_front(x[members], y[members], rule)
            own[members] = _probability(scores[:, members], stabilities[:, members], rule)
    return frame.assign(on_front=on_front, probability=probability, on_own_front=on_own, own_probability=own)


def _probability(scores: Floats, stabilities: Floats, rule: Rule) -> Floats:
    """In which share of the draws each candidate is on the front; ``nan`` if nothing was drawn."""
    if not len(scores):
        return np.full(scores.shape[1], np.nan)
    hits = [pareto_front(x, y, rule) for x, y in zip(scores.round(DIGITS), stabilities.round(DIGITS), strict=True)]
    return np.mean(hits, axis=0)


def _area(frame: pd.DataFrame, reference: tuple[float, float]) -> float:
    return hypervolume(frame["score"], frame["stability"], reference)


def _describe_scope(points: Points) -> str:
    scope = next((point.estimate.scope for point in points.points if point.estimate is not None), "")
    return f"{scope}; probabilities: {SCOPE}" if points.result.design == "pairs" else scope
