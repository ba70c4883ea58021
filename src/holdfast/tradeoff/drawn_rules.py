"""The rules over all redraws at once: the place of the chosen candidate in each, -1 where there is none.

Each function chooses in every draw what its rule would choose from the points of that draw; a test compares the two.
"""

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betainc, stdtr

from holdfast.tradeoff.fronts import pareto_front
from holdfast.tradeoff.points import Floats, Redraws, Test, usual_test, weighted_variance

DIGITS = 12  # what differs beyond them is rounding
Places = NDArray[np.int64]


def accuracy(redraws: Redraws) -> Places:
    """Best score; among equals the most stable."""
    return best_in_draws(redraws, redraws.known, redraws.score, redraws.stability)


def one_se(redraws: Redraws) -> Places:
    """Most stable within one standard error of the best score."""
    best = accuracy(redraws)
    draws = np.arange(len(redraws))
    least = redraws.score[draws, best] - redraws.score_se[draws, best] - 10.0**-DIGITS
    with np.errstate(invalid="ignore"):
        near = redraws.known & (redraws.score >= least[:, None])
    return best_in_draws(redraws, near, redraws.stability, redraws.score)


def not_worse(
    redraws: Redraws, correction: Literal["holm"] | None = "holm", level: float = 0.95, test: Test | None = None
) -> Places:
    """Most stable of those that do not predict significantly worse than the best."""
    best, test = accuracy(redraws), test or usual_test(redraws.points)
    p_values = np.ones_like(redraws.score)
    for leader in np.unique(best[best >= 0]):
        draws = np.flatnonzero(best == leader)
        for other in range(p_values.shape[1]):
            if other != leader:
                p_values[draws, other] = _p_values_of_worse(redraws, int(leader), other, draws, test)
    if correction == "holm":
        p_values = _holm(p_values)
    return best_in_draws(redraws, redraws.known & (p_values > 1 - level), redraws.stability, redraws.score)


def knee(redraws: Redraws) -> Places:
    """Point of the front that is farthest from the line between its ends."""
    scaled, n = _on_front_scale(redraws)
    beyond = np.where((n > 1)[:, None], scaled[0] + scaled[1] - 1, 0.0)
    return best_in_draws(redraws, ~np.isnan(scaled[0]), beyond, redraws.score)


def at_least(redraws: Redraws, stability: float) -> Places:
    """Best score with a stability of at least the given value, by the lower end of its interval."""
    with np.errstate(invalid="ignore"):
        stable = redraws.known & (redraws.low >= stability)
    return best_in_draws(redraws, stable, redraws.score, redraws.stability)


def weighted(redraws: Redraws, weight: float = 0.5) -> Places:
    """Largest weight · score + (1 − weight) · stability, both scaled to the front."""
    scaled, _ = _on_front_scale(redraws)
    total = weight * scaled[0] + (1 - weight) * scaled[1]
    then = (redraws.score, redraws.stability) if weight >= 0.5 else (redraws.stability, redraws.score)
    return best_in_draws(redraws, ~np.isnan(scaled[0]), total, *then)


# What they share


def best_in_draws(redraws: Redraws, among: NDArray[np.bool_], *keys: Floats) -> Places:
    """The candidate with the most by the first key, then by the next; then the smallest, then the first."""
    left = among.copy()
    for key in (*keys, np.broadcast_to(-redraws.size, left.shape)):
        values = np.where(left, np.round(key, DIGITS), -np.inf)
        left &= values == values.max(axis=1, keepdims=True)
    return np.where(among.any(axis=1), left.argmax(axis=1), -1)


def _on_front_scale(redraws: Redraws) -> tuple[Floats, NDArray[np.int64]]:
    """Score and stability of each draw's front from 0 to 1, ``nan`` off it; and how many candidates are on it."""
    both = np.where(redraws.known, np.stack([redraws.score, redraws.stability]).round(DIGITS), np.nan)
    on_front = np.array([pareto_front(*draw) for draw in both.transpose(1, 0, 2)]) & redraws.known
    both = np.where(on_front, both, np.nan)
    lowest = np.nanmin(np.where(on_front, both, np.inf), axis=2, keepdims=True)
    span = np.nanmax(np.where(on_front, both, -np.inf), axis=2, keepdims=True) - lowest
    return (both - lowest) / np.where(span > 0, span, 1.0), on_front.sum(axis=1)


def _holm(p_values: Floats) -> Floats:
    """P-values of each draw corrected by Holm's method, those of the best itself (1) left out of the count."""
    n = p_values.shape[1] - 1
    order = np.argsort(p_values, axis=1, kind="stable")
    factors = np.maximum(n - np.arange(n + 1), 1)
    raised = np.maximum.accumulate(np.minimum(np.take_along_axis(p_values, order, 1) * factors, 1.0), axis=1)
    corrected = np.empty_like(p_values)
    np.put_along_axis(corrected, order, raised, 1)
    return corrected


def _p_values_of_worse(redraws: Redraws, best: int, other: int, draws: NDArray[np.int64], test: Test) -> Floats:
    """P-values that another candidate predicts worse than the best; 1 where it does not."""
    first, second = redraws.points.points[best], redraws.points.points[other]
    if test == "mcnemar":
        return _mcnemar(redraws, first.candidate, second.candidate, draws)
    difference = (first.scores - second.scores).dropna()
    if difference.size < 2:
        return np.ones(draws.size)
    values = np.asarray(difference, dtype=np.float64)
    weights = redraws.weights(difference.index, draws)
    ratio = (first.splits.loc[difference.index, "n_test"] / first.splits.loc[difference.index, "n_rows"]).mean()
    error = np.sqrt((1 / values.size + ratio) * weighted_variance(values, weights))
    mean = weights @ values
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * stdtr(values.size - 1, -np.abs(mean / error))
    p_values = np.where(error > 1e-15, p_values, np.where(mean > 0, 0.0, 1.0))
    return np.where(mean > 0, p_values, 1.0)


def _mcnemar(redraws: Redraws, best: str, other: str, draws: NDArray[np.int64]) -> Floats:
    """McNemar's test on the rows of the folds drawn, for counts that need not be whole."""
    right = _right_by_row(redraws, other)["right"].rename("other")
    both = _right_by_row(redraws, best).join(right, how="inner")
    first, second = both["right"].astype(bool), both["other"].astype(bool)
    counts = pd.DataFrame({"gained": first & ~second, "lost": second & ~first}).groupby(both["split"]).sum()
    chosen = redraws.weights(counts.index, draws) * len(counts)
    gained, lost = (chosen @ counts[column].to_numpy(dtype=np.float64) for column in ("gained", "lost"))
    fewer = np.minimum(gained, lost)
    p_values = np.minimum(1.0, 2 * betainc(np.maximum(gained + lost - fewer, 1e-12), fewer + 1, 0.5))
    return np.where(gained > lost, p_values, 1.0)


def _right_by_row(redraws: Redraws, candidate: str) -> pd.DataFrame:
    """Whether the one prediction of each row was right, and in which split it was made."""
    table = redraws.points.result.predictions(candidate)
    right = (table["truth"] == table["predicted"]).to_numpy()
    splits = redraws.points.result.split_table
    by_label = pd.Series(splits.index, index=splits["label"])
    return pd.DataFrame({"right": right, "split": by_label.loc[table["run"]].to_numpy()}, index=table["row"])
