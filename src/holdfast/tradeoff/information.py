"""Test of information: whether a candidate predicts better than guessing without any feature."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from holdfast.cards import Card, draw_intervals, make_bar
from holdfast.results import ResultMixin
from holdfast.study.result import StudyResult
from holdfast.study.summary import corrected_error

LEVELS = (0.05, 0.01)
FREE_CANDIDATES = (4, 1)
"""Levels of the test where at least half as many rows are held out as trained on, and where fewer are.

The corrected standard error is cautious in the first case, and not enough in the second, where all runs share most of
their rows: on shuffled targets tests at 5 % pass in up to 1 % and in 5 to 9 % of cases, tests at 1 % in up to 4 %. So
in the first case up to four candidates may each have that level and the largest of their chances is still below 5 %.
"""
STRATEGIES = {
    "prior": "knowing only how common each class is",
    "stratified": "drawing classes at random, each as often as it is there",
    "mean": "always predicting the mean",
    "median": "always predicting the median",
    "covariates": "a model of the covariates alone",
}


@dataclass(frozen=True, kw_only=True)
class Information(ResultMixin):
    """What is known of whether a candidate predicts better than guessing without any feature.

    Attributes
    ----------
    untested : str or None
        Why it could not be tested; None if it was.
    metric : str or None
        The score.
    strategy : str or None
        The best way to guess, in words.
    score, baseline : float
        Mean score of the candidate and of guessing, on the same held-out rows.
    gain, gain_error : float
        Mean difference of the two, and its standard error, which allows for runs that share training rows.
    p_value : float
        Of no gain, against more; multiplied for the number of candidates, of which any might have been the lucky one.
    level : float
        The largest p-value at which the gain counts as shown.
    """

    untested: str | None = None
    metric: str | None = None
    strategy: str | None = None
    score: float = math.nan
    baseline: float = math.nan
    gain: float = math.nan
    gain_error: float = math.nan
    p_value: float = math.nan
    level: float = math.nan

    @property
    def _title(self) -> str:
        if self.untested:
            return f"Whether the features carry information was not tested: {self.untested}"
        shown = "was shown" if self.shown else "was not shown"
        return (
            f"That it predicts better than guessing {shown}: {self.metric} {self.score:.3f} against {self.baseline:.3f}"
        )

    def _card(self) -> Card:
        values = {"candidate": self.score, "guessing": self.baseline}
        bars = [make_bar(name, value, math.nan, math.nan, strong=name == "candidate") for name, value in values.items()]
        frame = self.to_frame()[["metric", "score", "baseline", "gain", "gain_error", "p_value", "level"]]
        picture = None if self.untested else draw_intervals(bars)
        return Card(title="Information in the features", verdict=self._title, frame=frame, picture=picture,
                    note=f"Guessing: {self.strategy}" if self.strategy else "")  # fmt: skip

    @property
    def shown(self) -> bool:
        """Whether the features were shown to carry information."""
        return self.p_value <= self.level

    @property
    def guesses(self) -> bool:
        """Whether the candidate is not even one standard error better than guessing."""
        return self.gain <= self.gain_error


def compare_with_guessing(result: StudyResult, candidate: str, metric: str | None = None) -> Information:
    """Test whether a candidate predicts better than the best way to guess, split by split."""
    name = metric or next(iter(result.metrics), None)
    if name is None:
        return Information(untested=why_no_scores(result))
    scores, splits = result.split_scores(candidate, name)
    if scores.empty:
        return Information(untested=why_no_scores(result))
    guessing = result.guessing_scores(name).reindex(scores.index).dropna(axis="columns")
    if guessing.empty or guessing.columns.empty:
        return Information(untested=f"{name} has no value for guessing on the same rows", metric=name)
    if len(scores) < 2:
        return Information(untested="a single scored resample has no uncertainty", metric=name)
    best = str(guessing.mean().idxmax())
    gains = (scores - guessing[best]).to_numpy(dtype=np.float64)
    error = corrected_error(gains, splits)
    few_held_out = int((splits["n_test"] / splits["n_rows"]).mean() < 0.5)
    lucky = max(1.0, len(result.candidates) / FREE_CANDIDATES[few_held_out])
    return Information(
        metric=name, strategy=STRATEGIES.get(best) or f"always answering {best.removeprefix('always ')!r}",
        score=float(scores.mean()), baseline=float(guessing[best].mean()), gain=float(gains.mean()), gain_error=error,
        p_value=min(1.0, _p_value(gains, error) * lucky), level=LEVELS[few_held_out],
    )  # fmt: skip


def why_no_scores(result: StudyResult) -> str:
    """Why candidates have no scores, in words."""
    if not (result.split_table["n_test"] > 0).any():
        return "no rows were held out"
    return "no model was scored on held-out rows"


def _p_value(gains: np.ndarray, error: float) -> float:
    """Student's one-sided p-value; of equal gains, which have no spread, that of the sign test."""
    if error > 1e-12:
        return float(stdtr(gains.size - 1, -gains.mean() / error))
    return 0.5**gains.size if gains.mean() > 0 else 1.0
