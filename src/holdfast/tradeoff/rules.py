"""Rules that choose one candidate by accuracy and stability, each with a sentence that says why.

A rule chooses in all redraws of a study at once: a function of :class:`~holdfast.tradeoff.points.Redraws` returns the
index of the chosen candidate in each, -1 where there is none. The candidates as they were measured are a single draw
(:attr:`~holdfast.tradeoff.points.Points.once`), so that a choice and its probability come from the same code.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betainc, stdtr

from holdfast.checks import is_number
from holdfast.declared import REQUIRED, About, Parameter, Registry, describe_parameters, did_you_mean
from holdfast.inference.comparison import holm
from holdfast.study.orders import UnansweredError
from holdfast.text import format_count, format_number, format_p_value, format_percent
from holdfast.tradeoff.fronts import DIGITS, pareto_front
from holdfast.tradeoff.points import (
    Floats,
    Point,
    Points,
    Redraws,
    Test,
    default_test,
    predicted_by_both,
    weighted_variance,
)

Choices = NDArray[np.int64]
"""The index of the candidate chosen in each draw, -1 for none."""
Mask = NDArray[np.bool_]
"""Which candidates are meant, draw by draw (draws × candidates)."""

_number = partial(format_number, decimals=3)


@dataclass(frozen=True)
class Decision:
    """The candidate that a rule chose, the sentence that says why, and why none of the others."""

    candidate: str
    reason: str
    why_not: dict[str, str]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A way to choose one candidate.

    Attributes
    ----------
    about : About
        Its name and descriptions. In ``methods``, which continues "The candidate was chosen", ``{metric}`` is
        the name of the score, and any parameter of the rule may be named in braces.
    decide : callable
        Takes :class:`~holdfast.tradeoff.points.Points` and the parameters of the rule, and returns a :class:`Decision`.
    many : callable, optional
        The same for many redraws at once: takes :class:`~holdfast.tradeoff.points.Redraws` and the parameters, and
        returns the index of the chosen candidate in each, -1 for none. Without it ``decide`` is called draw by draw.
    """

    about: About
    decide: Callable[..., Decision]
    many: Callable[..., Choices] | None = None

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters that users may set, with defaults and meanings."""
        return describe_parameters(self.decide, hidden=("points",))

    def phrase(self, metric: str, given: Mapping[str, Any] | None = None) -> str:
        """How it was chosen, for a methods section, with these parameters or their defaults."""
        defaults = {name: parameter.default for name, parameter in self.parameters.items()}
        return self.about.phrase(**{**defaults, **(given or {}), "metric": metric})

    def check(self, given: Mapping[str, Any]) -> None:
        """Raise unless these are parameters of the rule, of the right type, and all that have no default."""
        known, signature = self.parameters, inspect.signature(self.decide).parameters
        for name, value in given.items():
            if name not in known:
                listed = ", ".join(known) or "none"
                raise ValueError(
                    f"Expected parameters of rule {self.about.name} ({listed}), got {name!r}{did_you_mean(name, known)}"
                )
            if signature[name].annotation is float and not is_number(value):
                raise ValueError(f"Expected a number for {name} of rule {self.about.name}, got {value!r}.")
        for name, parameter in known.items():
            if parameter.default is REQUIRED and name not in given:
                meaning = parameter.meaning.rstrip(".")
                raise ValueError(f"Expected {name}= for rule {self.about.name} ({meaning}), got none.")

    def __call__(self, points: Points, **parameters: Any) -> Decision:
        return self.decide(points, **parameters)


RULES: Registry[Rule] = Registry("rule", where="holdfast.tradeoff.RULES")
"""Rules by name."""


def rule(
    name: str, *, summary: str, methods: str, reference: str | None = None, many: Callable[..., Choices] | None = None
) -> Callable[[Callable[..., Decision]], Rule]:
    """Declare a function as a rule: known to studies, to the command line and to reports from then on.

    Parameters
    ----------
    name : str
        The name that users write.
    summary : str
        One line that says which candidate it chooses.
    methods : str
        Phrase that continues "The candidate was chosen …" in a methods section; ``{metric}`` is the score's name.
    reference : str, optional
        Key of what to cite, in :data:`holdfast.references.REFERENCES`.
    many : callable, optional
        The same rule for many redraws at once (see :class:`Rule`), which makes the probabilities of a choice fast.

    Returns
    -------
    callable
        A decorator for a function of points and parameters that returns a :class:`Decision`.
    """

    def register(decide: Callable[..., Decision]) -> Rule:
        about = About(name=name, summary=summary, methods=methods, reference=reference)
        return RULES.add(Rule(about=about, decide=decide, many=many))

    return register


def best_score(redraws: Redraws) -> Choices:
    """Best score; among equals the most stable."""
    return best_in_draws(redraws, redraws.known, redraws.score, redraws.stability)


@rule("accuracy", summary="Best score; among equals the most stable.", methods="by the best {metric}",
      many=best_score)  # fmt: skip
def accuracy(points: Points) -> Decision:
    """Choose the best score; among equals the most stable."""
    frame = scored_and_measured(points)
    chosen = points.names[best_score(points.once)[0]]
    score = _number(frame["score"][chosen])
    ties = frame["score"].round(DIGITS) == round(frame["score"][chosen], DIGITS)
    why = {
        name: "as accurate, but not more stable"
        if tied
        else f"{points.metric} is lower: {_number(frame['score'][name])}"
        for name, tied in ties.items()
    }
    reason = f"{chosen} predicts best: its {points.metric} on held-out rows is {score}, the highest of {len(frame)}."
    return Decision(chosen, reason, why)


def near_best(redraws: Redraws) -> tuple[Choices, Mask]:
    """The best score, and which candidates are within one standard error of it."""
    best, draws = best_score(redraws), np.arange(len(redraws))
    least = redraws.score[draws, best] - redraws.score_se[draws, best] - 10.0**-DIGITS
    with np.errstate(invalid="ignore"):
        return best, redraws.known & (redraws.score >= least[:, None])


def most_stable_near_best(redraws: Redraws) -> Choices:
    """Most stable within one standard error of the best score."""
    return best_in_draws(redraws, near_best(redraws)[1], redraws.stability, redraws.score)


@rule(
    "one-se",
    summary="Most stable candidate within one standard error of the best score.",
    methods="as the most stable one within one standard error of the best {metric}",
    reference="breiman1984",
    many=most_stable_near_best,
)
def one_se(points: Points) -> Decision:
    """Choose the most stable within one standard error of the best score."""
    frame = scored_and_measured(points)
    (best_index,), (is_near,) = near_best(points.once)
    best, near = points.names[best_index], points.frame[is_near]
    error = frame["score_se"][best]
    if math.isnan(error):
        raise UnansweredError(
            f"A standard error of {best} needs at least two scored resamples; run more of them.",
            "a single scored resample has no standard error",
        )
    chosen = points.names[most_stable_near_best(points.once)[0]]
    reason = _most_stable(
        points, near, chosen, best, f"within one standard error ({_number(error)}) of the best {points.metric}"
    )
    far = {
        str(
            name
        ): f"{points.metric} {_number(score)} is more than one standard error ({_number(error)}) below the best "
        f"({_number(frame['score'][best])})"
        for name, score in frame["score"].items()
        if name not in near.index
    }
    return Decision(chosen, reason, _why(near, chosen) | far, {"standard_error": error, "best": best})


def most_stable_not_worse(
    redraws: Redraws, correction: Literal["holm"] | None = "holm", level: float = 0.95, test: Test | None = None
) -> Choices:
    """Most stable of those that do not predict significantly worse than the best."""
    p_values = _p_values_of_worse(redraws, test or default_test(redraws.points))
    not_worse = _not_worse(redraws, _holm(p_values, redraws.known) if correction else p_values, level)
    return best_in_draws(redraws, not_worse, redraws.stability, redraws.score)


def _not_worse(redraws: Redraws, p_values: Floats, level: float) -> Mask:
    """Which candidates do not predict significantly worse than the best."""
    return redraws.known & ~(p_values <= 1 - level)


@rule(
    "not-worse",
    summary="Most stable of the candidates that do not predict significantly worse than the best.",
    methods="as the most stable one that did not predict significantly worse than the best (Kalousis, 2005)",
    reference="kalousis2005",
    many=most_stable_not_worse,
)
def not_worse(
    points: Points, correction: Literal["holm"] | None = "holm", level: float = 0.95, test: Test | None = None
) -> Decision:
    """Choose the most stable of those that do not predict significantly worse than the best.

    Parameters
    ----------
    points : Points
        The candidates.
    correction : {"holm", None}
        Correction for several comparisons; None for none, as in the 2005 paper.
    level : float
        Confidence level of the tests.
    test : {"mcnemar", "resampled-t"}, optional
        McNemar's test if every row was predicted once, else the corrected resampled t-test.
    """
    if correction not in ("holm", None):
        raise ValueError(f"Expected correction 'holm' or None, got {correction!r}.")
    if test not in ("mcnemar", "resampled-t", None):
        raise ValueError(f"Expected test 'mcnemar' or 'resampled-t', got {test!r}.")
    frame, once, chosen_test = scored_and_measured(points), points.once, test or default_test(points)
    best = points.names[best_score(once)[0]]
    raw = _p_values_of_worse(once, chosen_test)
    others = [index for index, name in enumerate(points.names) if name != best and name in frame.index]
    if others and np.isnan(raw[0, others]).all():
        raise UnansweredError(
            f"A test needs at least two scored resamples that {best} shares with others; run more of them.",
            "fewer than two scored resamples are shared by the candidates",
        )
    corrected = _holm(raw, once.known) if correction else raw
    p_values = {points.names[index]: float(corrected[0, index]) for index in others}
    equally_good = _not_worse(once, corrected, level)
    equal = points.frame[equally_good[0]]
    chosen = points.names[best_in_draws(once, equally_good, once.stability, once.score)[0]]
    how = "McNemar's test" if chosen_test == "mcnemar" else "the corrected resampled t-test"
    reason = _most_stable(
        points, equal, chosen, best, f"not significantly worse than the best {points.metric} by {how}"
    )
    why = _why(equal, chosen) | {
        name: f"{points.metric} {_number(frame['score'][name])} is significantly below the "
        f"{_number(frame['score'][best])} of {best} ({format_p_value(p_values[name])})"
        for name in frame.index.difference(equal.index, sort=False)
    }
    return Decision(chosen, reason, why, {"test": chosen_test, "correction": correction, "p_values": p_values})


def beyond_line(redraws: Redraws) -> tuple[Floats, Mask]:
    """How far points of each draw's front are from the line between its ends, times √2; and which are on it."""
    (score, stability), on_front = on_front_scale(redraws)
    return np.where(on_front.sum(axis=1, keepdims=True) > 1, score + stability - 1, 0.0), on_front


def farthest_beyond_line(redraws: Redraws) -> Choices:
    """Point of the front that is farthest from the line between its ends."""
    beyond, on_front = beyond_line(redraws)
    return best_in_draws(redraws, on_front, beyond, redraws.score)


@rule(
    "knee",
    summary="Point of the front that is farthest from the line between its ends.",
    methods="at the knee of the front of {metric} and stability",
    reference="hamer2020",
    many=farthest_beyond_line,
)
def knee(points: Points) -> Decision:
    """Choose the point of the front that is farthest from the line between its ends."""
    frame = scored_and_measured(points)
    (beyond,), (on_front,) = beyond_line(points.once)
    (index,) = farthest_beyond_line(points.once)
    chosen = points.names[index]
    reason = (
        f"{chosen} is the best compromise: from here more {points.metric} ({_number(frame['score'][chosen])}) costs "
        f"much stability ({_number(frame['stability'][chosen])}), and more stability costs much {points.metric}."
        if beyond[index] / math.sqrt(2) > 10.0**-DIGITS
        else _at_an_end(points, chosen, int(on_front.sum()))
    )
    return Decision(chosen, reason, _off_front(points, on_front, "closer to the line between the ends of the front"))


def best_score_at_least(redraws: Redraws, stability: float) -> Choices:
    """Best score with a stability of at least the given value, by the lower end of its interval."""
    with np.errstate(invalid="ignore"):
        stable = redraws.known & (redraws.low >= stability)
    return best_in_draws(redraws, stable, redraws.score, redraws.stability)


@rule(
    "at-least",
    summary="Best score with a stability of at least the given value, by the lower end of its interval.",
    methods="by the best {metric} among those whose stability is at least {stability:g}, by the lower end of its "
    "interval",
    many=best_score_at_least,
)
def at_least(points: Points, stability: float) -> Decision:
    """Choose the best score with a stability of at least the given value, by the lower end of its interval.

    Parameters
    ----------
    points : Points
        The candidates.
    stability : float
        Smallest acceptable stability, such as 0.75.
    """
    if stability > 1:
        raise ValueError(f"Expected a stability of at most 1, got {stability:g}.")
    frame = scored_and_measured(points)
    stable = frame[frame["low"] >= stability]
    if stable.empty:
        if frame["low"].isna().all():
            why = next((reason for reason in frame["reason"] if reason), "run at least three resamples")
            raise UnansweredError(
                f"Expected stabilities with an interval, got none: {why}.", f"no stability has an interval: {why}"
            )
        most = str(frame["low"].idxmax())
        raise UnansweredError(
            f"Expected a candidate whose stability is at least {stability:g} by the lower end of its interval, got "
            f"{_number(frame['low'][most])} at the most ({most}); ask for less, or run more resamples.",
            f"no candidate has a stability of at least {stability:g} by the lower end of its interval; the highest is "
            f"{_number(frame['low'][most])} ({most})",
        )
    chosen = points.names[best_score_at_least(points.once, stability)[0]]
    reason = (
        f"{chosen} predicts best ({points.metric} {_number(frame['score'][chosen])}) of the "
        f"{format_count(len(stable), 'candidate')} whose stability is at least {stability:g} with "
        f"{format_percent(points.level)} confidence (here from {_number(frame['low'][chosen])})."
    )
    why = {
        name: f"{points.metric} is not higher ({_number(frame['score'][name])})"
        if name in stable.index
        else f"stability may be below {stability:g}: its interval begins at {_number(frame['low'][name])}"
        for name in frame.index
    }
    return Decision(chosen, reason, why)


def largest_sum(redraws: Redraws, weight: float = 0.5) -> Choices:
    """Largest weight · score + (1 − weight) · stability, both scaled to the front."""
    (score, stability), on_front = on_front_scale(redraws)
    total = weight * score + (1 - weight) * stability
    tie_breakers = (redraws.score, redraws.stability) if weight >= 0.5 else (redraws.stability, redraws.score)
    return best_in_draws(redraws, on_front, total, *tie_breakers)


@rule(
    "weighted",
    summary="Largest weight · score + (1 − weight) · stability, both scaled to the front.",
    methods="by a weighted sum of {metric} ({weight:percent}) and stability, each scaled to the front",
    many=largest_sum,
)
def weighted(points: Points, weight: float = 0.5) -> Decision:
    """Choose the largest weight · score + (1 − weight) · stability, both scaled to the front.

    Parameters
    ----------
    points : Points
        The candidates.
    weight : float
        Weight of the score, from 0 to 1.
    """
    if not 0 <= weight <= 1:
        raise UnansweredError(
            f"Expected a weight of the score from 0 to 1, got {weight}.",
            f"the weight of the score is expected to be from 0 to 1, not {weight:g}",
        )
    frame = scored_and_measured(points)
    chosen = points.names[largest_sum(points.once, weight)[0]]
    reason = (
        f"{chosen} is best if {points.metric} counts {format_percent(weight)} and stability "
        f"{format_percent(1 - weight)}, each measured from its lowest to its highest value on the front: "
        f"{points.metric} {_number(frame['score'][chosen])}, stability {_number(frame['stability'][chosen])}."
    )
    on_front = on_front_scale(points.once)[1][0]
    return Decision(chosen, reason, _off_front(points, on_front, "less in sum"), {"weight": weight})


def scored_and_measured(points: Points) -> pd.DataFrame:
    """The candidates that have both a score and a stability."""
    frame = points.frame.dropna(subset=["score", "stability"])
    if frame.empty:
        reasons = points.frame["reason"].dropna()
        why = f" ({reasons.iloc[0]})" if len(reasons) else ""
        raise UnansweredError(
            f"Expected a candidate with a score and a stability, got none{why}.",
            "no candidate has both a score and a stability",
        )
    return frame


def best_in_draws(redraws: Redraws, among: Mask, *keys: Floats) -> Choices:
    """The candidate with the most by the first key, then by the next; then the smallest, then the first."""
    left = among.copy()
    for key in (*keys, np.broadcast_to(-redraws.size, left.shape)):
        values = np.where(left, np.round(key, DIGITS), -np.inf)
        left &= values == values.max(axis=1, keepdims=True)
    return np.where(among.any(axis=1), left.argmax(axis=1), -1)


def on_front_scale(redraws: Redraws) -> tuple[Floats, Mask]:
    """Score and stability of each draw's front from 0 to 1, ``nan`` off it; and which candidates are on it."""
    both = np.where(redraws.known, np.stack([redraws.score, redraws.stability]).round(DIGITS), np.nan)
    on_front = np.array([pareto_front(*draw) for draw in both.transpose(1, 0, 2)]) & redraws.known
    both = np.where(on_front, both, np.nan)
    lowest = np.nanmin(np.where(on_front, both, np.inf), axis=2, keepdims=True)
    span = np.nanmax(np.where(on_front, both, -np.inf), axis=2, keepdims=True) - lowest
    return (both - lowest) / np.where(span > 0, span, 1.0), on_front


def _holm(p_values: Floats, known: Mask) -> Floats:
    """P-values of each draw corrected by Holm's method for the candidates that are known, without the best itself."""
    return holm(np.nan_to_num(p_values, nan=1.0), known.sum(axis=1, keepdims=True) - 1)


def _p_values_of_worse(redraws: Redraws, test: Test) -> Floats:
    """P-values that candidates predict worse than the best of each draw; 1 where they do not, ``nan`` if untested."""
    points, best = redraws.points.points, best_score(redraws)
    p_values = np.ones_like(redraws.score)
    for leader in np.unique(best[best >= 0]).tolist():
        draws = np.flatnonzero(best == leader)
        for other in np.flatnonzero(redraws.known[draws].any(axis=0)).tolist():
            if other != leader:
                compare = _mcnemar if test == "mcnemar" else _resampled_t
                p_values[draws, other] = compare(redraws, points[leader], points[other], draws)
    return np.where(redraws.known, p_values, 1.0)


def _resampled_t(redraws: Redraws, best: Point, other: Point, draws: Choices) -> Floats:
    """The corrected resampled t-test, as :func:`holdfast.tradeoff.points.resampled_t`, on the splits drawn."""
    difference = (best.scores - other.scores).dropna()
    if difference.size < 2:
        return np.full(draws.size, np.nan)
    values = np.asarray(difference, dtype=np.float64)
    weights = redraws.weights(difference.index, draws)
    ratio = (best.splits.loc[difference.index, "n_test"] / best.splits.loc[difference.index, "n_rows"]).mean()
    error = np.sqrt((1 / values.size + ratio) * weighted_variance(values - values.mean(), weights))
    mean = weights @ values
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * stdtr(values.size - 1, -np.abs(mean / error))
    p_values = np.where(error > 1e-15, p_values, np.where(mean > 0, 0.0, 1.0))
    return np.where(mean > 0, p_values, 1.0)


def _mcnemar(redraws: Redraws, best: Point, other: Point, draws: Choices) -> Floats:
    """McNemar's test on the rows of the folds drawn, for counts that need not be whole."""
    both = predicted_by_both(redraws.points.result, best.candidate, other.candidate)
    first, second = both["best"], both["other"]
    counts = pd.DataFrame({"gained": first & ~second, "lost": second & ~first}).groupby(both["split"]).sum()
    chosen = redraws.weights(counts.index, draws) * len(counts)
    gained, lost = (chosen @ counts[column].to_numpy(dtype=np.float64) for column in ("gained", "lost"))
    fewer = np.minimum(gained, lost)
    p_values = np.minimum(1.0, 2 * betainc(np.maximum(gained + lost - fewer, 1e-12), fewer + 1, 0.5))
    return np.where(gained > lost, p_values, 1.0)


def _why(accurate: pd.DataFrame, chosen: str) -> dict[str, str]:
    """Why not the candidates that predict well enough: another one is at least as stable."""
    most = _number(accurate["stability"][chosen])
    return {
        str(name): f"accurate enough, but not more stable ({_number(stability)}, not above {most})"
        for name, stability in accurate["stability"].items()
    }


def _off_front(points: Points, on_front: Mask, why_not: str) -> dict[str, str]:
    """Why not each candidate with a score and a stability: those on the front, and the others."""
    better = "another candidate is at least as accurate and as stable, and better in one of the two"
    known = np.flatnonzero(points.once.known[0])
    return {points.names[index]: why_not if on_front[index] else better for index in known}


def _at_an_end(points: Points, chosen: str, n: int) -> str:
    if n == 1:
        return f"{chosen} is the only candidate on the front: no other is more accurate or more stable."
    return (
        f"{chosen} is the more accurate end of the front ({points.metric}): nothing between the ends is a better "
        "compromise than the line from one to the other."
    )


def _most_stable(points: Points, accurate: pd.DataFrame, chosen: str, best: str, which: str) -> str:
    """The sentence of rules that take the most stable of the candidates that predict well enough."""
    best_score = f"{best}, {_number(points.frame['score'][best])}"
    if len(accurate) == 1:
        return f"{chosen} predicts best, and no other candidate is {which} ({best_score})."
    stability = _number(accurate["stability"][chosen])
    return (
        f"Of {format_count(len(accurate), 'candidate')} {which} ({best_score}), {chosen} changes its selection least "
        f"from one resample to the next (stability {stability})."
    )
