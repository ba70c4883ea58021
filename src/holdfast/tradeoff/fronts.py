"""Pareto fronts on plain arrays: who is on the front, how much it dominates, how sure that is.

On both axes more is better. A point without a score or without a stability (``nan``) is never on a front.
"""

import math
from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
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
    place = math.ceil(level * len(x) - 1e-9) - 1  # the k-th best of all versions
    known = ~(np.isnan(x) | np.isnan(y))
    surface = []
    for score in np.asarray(at, dtype=np.float64).ravel():
        best = np.where(known & (x >= score), y, -np.inf).max(axis=1, initial=-np.inf)
        surface.append(-np.partition(-best, place)[place])
    heights = np.array(surface)
    return np.where(np.isneginf(heights), np.nan, heights)


def _as_axes(scores: ArrayLike, stabilities: ArrayLike) -> tuple[Floats, Floats]:
    x, y = (np.asarray(axis, dtype=np.float64) for axis in (scores, stabilities))
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"Expected one score and one stability for each point, got shapes {x.shape} and {y.shape}.")
    return x, y
