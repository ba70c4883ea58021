"""One candidate, chosen by a rule, with the sentence that says why."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from holdfast.checks import Matrix
from holdfast.inference.intervals import Interval, check_level
from holdfast.measures import Measure
from holdfast.study.result import StudyResult
from holdfast.tradeoff.points import Points, points_of
from holdfast.tradeoff.rules import RULES, Decision

SAME = "the same resamples that it was chosen on: choosing makes its score look better than it is"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The candidate that a rule chose.

    Attributes
    ----------
    candidate : str
        Its name.
    rule : str
        The rule.
    reason : str
        Why, in one sentence.
    metric, measure : str
        The score and the measure of stability that were weighed.
    score, stability : float
        Those of the chosen candidate.
    score_interval, stability_interval : Interval
        How sure they are.
    beaten : DataFrame
        One row per other candidate: ``score``, ``stability`` and ``why_not``.
    measured_on : str
        What the score was measured on: the same resamples that served to choose, or outer folds that did not.
    nested : bool
        Whether the score is that of outer folds.
    facts : dict
        What the rule found on its way: the test it used, p-values, the standard error.
    """

    candidate: str
    rule: str
    reason: str
    metric: str
    measure: str
    score: float
    score_interval: Interval
    stability: float
    stability_interval: Interval
    beaten: pd.DataFrame = field(compare=False)
    measured_on: str = SAME
    nested: bool = False
    facts: dict[str, Any] = field(default_factory=dict, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return what there is to know, ready for JSON but for ``nan``."""
        return {
            "candidate": self.candidate, "rule": self.rule, "reason": self.reason, "metric": self.metric,
            "measure": self.measure, "score": self.score, "score_interval": list(self.score_interval),
            "stability": self.stability, "stability_interval": list(self.stability_interval),
            "measured_on": self.measured_on, "nested": self.nested, "facts": self.facts,
            "beaten": self.beaten.reset_index().to_dict(orient="records"),
        }  # fmt: skip

    def __repr__(self) -> str:
        score = f"{self.metric} {self.score:.3f}{_ends(self.score_interval)}"
        stability = f"{self.measure} {self.stability:.3f}{_ends(self.stability_interval)}"
        return f"{self.reason}\n{score}, {stability}\nMeasured on {self.measured_on}."


def _ends(interval: Interval) -> str:
    return "" if math.isnan(interval.low) else f" [{interval.low:.3f}, {interval.high:.3f}]"


def choose(
    result: StudyResult,
    rule: str = "one-se",
    *,
    metric: str | None = None,
    measure: str | Measure | None = None,
    candidates: Iterable[str] | None = None,
    level: float = 0.95,
    X: Matrix | None = None,
    nested: bool = False,
    **options: Any,
) -> Choice:
    """Choose one candidate of a study by accuracy and stability.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    rule : str
        ``"accuracy"``: the best score. ``"one-se"``: the most stable within one standard error of the best score.
        ``"not-worse"``: the most stable of those that do not predict significantly worse than the best (Kalousis,
        Prados and Hilario, 2005). ``"knee"``: the point of the front that is farthest from the line between its ends.
        ``"at-least"``: the best score with a stability of at least ``stability=``, by the lower end of its interval.
        ``"weighted"``: the largest ``weight`` · score + (1 − ``weight``) · stability, both scaled to the front.
    metric, measure, candidates, X
        As for :meth:`StudyResult.pareto`.
    level : float
        Level of the intervals, and of the tests of ``"not-worse"``.
    nested : bool
        A study alone cannot measure the choice itself: see :func:`holdfast.nested_choice`.
    **options
        Options of the rule: ``correction="holm"`` or None and ``test="mcnemar"`` or ``"resampled-t"`` of
        ``"not-worse"``, ``stability`` of ``"at-least"``, ``weight`` of ``"weighted"``; and parameters of the measure.
    """
    check_level(level)
    if nested:
        raise ValueError(
            "Expected nested=False for a finished study, got True: measuring the choice itself needs the data; use "
            "hf.nested_choice(study, X, y, rule=…)."
        )
    own, parameters = _split_options(rule, options)
    points = points_of(result, metric, measure, candidates=candidates, level=level, X=X, **parameters)
    if "level" in RULES[rule].parameters:
        own.setdefault("level", level)
    return _made(points, RULES[rule].about.name, RULES[rule](points, **own))


def check_rule(rule: str, options: dict[str, Any]) -> None:
    """Raise unless there is such a rule and these are options of it."""
    _split_options(rule, options)


def _split_options(rule: str, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of the rule, and those of the measure."""
    known = set(RULES.find(rule).parameters)
    others = {name for other in RULES.values() for name in other.parameters} - known
    RULES[rule].check([name for name in options if name in known | others])
    own = {name: value for name, value in options.items() if name in known}
    return own, {name: value for name, value in options.items() if name not in known}


def _made(points: Points, rule: str, decision: Decision) -> Choice:
    frame = points.frame
    row: Any = frame.loc[decision.candidate]
    others = frame.index[frame.index != decision.candidate]
    why_not = [decision.why_not.get(name) or _missing(frame.loc[name].to_dict()) for name in others]
    return Choice(
        candidate=decision.candidate, rule=rule, reason=decision.reason, metric=points.metric,
        measure=points.measure.label, score=float(row["score"]),
        score_interval=Interval(float(row["score_low"]), float(row["score_high"])),
        stability=float(row["stability"]), stability_interval=Interval(float(row["low"]), float(row["high"])),
        beaten=frame.loc[others, ["score", "stability"]].assign(why_not=why_not), facts=decision.facts,
    )  # fmt: skip


def _missing(row: dict[str, Any]) -> str:
    what = "score" if math.isnan(row["score"]) else "stability"
    return f"it has no {what}" + (f": {row['reason']}" if row["reason"] else "")
