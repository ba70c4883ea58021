"""The rule that chooses a size at a knot of its profile: further features enter almost at random."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.inference.designs import DesignedRuns
from holdfast.study.orders import UnansweredError
from holdfast.tradeoff.cuts import group_by_order, keep_whole_samples
from holdfast.tradeoff.drawn_rules import Places, best_in_draws
from holdfast.tradeoff.knots import block_overlaps, entering_steps, find_knots
from holdfast.tradeoff.points import Floats, Points
from holdfast.tradeoff.redraws import Redraws
from holdfast.tradeoff.rules import Decision, best_of, rule, scored_and_measured

TOLERANCE = 0.2
DRAWS_AT_ONCE = 100
"""Redraws whose counts of features are in memory together."""


@dataclass(frozen=True, eq=False)
class SizedGroup:
    """Candidates that differ in size alone, and how far resamples agree on what enters at each size.

    Attributes
    ----------
    family : str
        Their selector.
    candidates : dict of int to str
        Candidate by size, ascending.
    entering : ndarray, draws × sizes
        Agreement on the features that enter since the size before; 0 as by chance, 1 as far as possible.
    """

    family: str
    candidates: dict[int, str]
    entering: Floats

    def knots(self, draw: int, tolerance: float) -> list[int]:
        """Sizes after which features enter almost at random, in one draw."""
        return find_knots(list(self.candidates), self.entering[draw].tolist(), tolerance)

    def why_none(self, tolerance: float) -> str:
        """Why there is no knot, in words."""
        sizes = list(self.candidates)
        if len(sizes) < 2:
            return f"{self.family} was tried with {sizes[0]} features alone, and a knot is found among several sizes"
        known = self.entering[0][~np.isnan(self.entering[0])]
        if known.size and known[-1] > tolerance:
            return f"resamples agree on the features of {self.family} up to {sizes[-1]}, the most that were tried"
        return f"features of {self.family} enter almost at random from {sizes[0]} on, the fewest that were tried"


def find_groups(points: Points, times: Floats) -> list[SizedGroup]:
    """Group the candidates that differ in size alone, where each unit was drawn so many times (draws × units)."""
    result = points.result
    subsets = [name for name in points.names if result.kinds.get(name) == "subset"]
    groups = []
    for candidates in group_by_order(result, subsets):
        designed = [keep_whole_samples(result.designed(name)) for name in candidates.values()]
        overlaps = [_drawn_overlaps(points, one_size, times) for one_size in designed]
        mean_sizes = [float(one_size.runs.sizes.mean()) for one_size in designed]
        steps = entering_steps(overlaps, len(result.feature_names), mean_sizes)
        family = result.family(next(iter(candidates.values())))
        groups.append(SizedGroup(family, candidates, np.column_stack(steps)))
    return groups


def _drawn_overlaps(points: Points, designed: DesignedRuns, times: Floats) -> Floats:
    """How many features two runs share on average, in each draw; copies of one run never meet."""
    splits = pd.Index(points.result.split_numbers(designed.runs))
    if not designed.stand_alone:
        blocks, means = block_overlaps(designed)
        return _mean(times[:, np.searchsorted(points.units, blocks)], means)
    drawn = times[:, points.units_of(splits)]
    matrix, sizes = designed.runs.to_sparse().astype(np.float64), designed.runs.sizes
    squares = [
        ((matrix.T @ drawn[start : start + DRAWS_AT_ONCE].T) ** 2).sum(axis=0)
        for start in range(0, len(drawn), DRAWS_AT_ONCE)
    ]
    pairs = drawn.sum(axis=1) ** 2 - (drawn**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((np.concatenate(squares) - drawn**2 @ sizes) / pairs)


def _mean(times: Floats, values: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(times @ values / times.sum(axis=1))


def knot_in_draws(redraws: Redraws, tolerance: float = TOLERANCE) -> Places:
    """Best score among the candidates at a knot, in every draw."""
    at_knot = mark_knots(redraws.points.names, find_groups(redraws.points, redraws.times), tolerance)
    return best_in_draws(redraws, redraws.known & at_knot, redraws.score, redraws.stability)


def mark_knots(names: Sequence[str], groups: Sequence[SizedGroup], tolerance: float) -> NDArray[np.bool_]:
    """Which candidates are at a knot of their profile (draws × candidates)."""
    n_draws = len(groups[0].entering) if groups else 1
    marked, place = np.zeros((n_draws, len(names)), dtype=bool), {name: place for place, name in enumerate(names)}
    for group in groups:
        for draw in range(n_draws):
            marked[draw, [place[group.candidates[size]] for size in group.knots(draw, tolerance)]] = True
    return marked


@rule(
    "knot",
    summary="Best score among the sizes at a knot of their profile: further features enter almost at random.",
    methods="by the best {metric} among the numbers of features at a knot of the stability profile, after which "
    "features enter almost at random (Kalousis, 2005)",
    reference="kalousis2005",
    many=knot_in_draws,
)
def knot(points: Points, tolerance: float = TOLERANCE) -> Decision:
    """Choose the best score among the sizes at a knot of their profile, after which features enter almost at random.

    Parameters
    ----------
    points : Points
        The candidates.
    tolerance : float
        Agreement of entering features up to which they enter almost at random, from 0 to below 1; folds need more.
    """
    if not 0 <= tolerance < 1:
        raise ValueError(f"Expected a tolerance from 0 to below 1, got {tolerance}.")
    frame = scored_and_measured(points)
    times = np.ones(points.units.size) if points.times is None else points.times
    groups = find_groups(points, times[None])
    knots = {group.candidates[size]: size for group in groups for size in group.knots(0, tolerance)}
    at_knot = frame[frame.index.isin(list(knots))]
    if at_knot.empty:
        raise _no_knot(groups, tolerance)
    chosen = best_of(at_knot, "score", "stability")
    return Decision(
        chosen, _reason(points, at_knot, chosen, groups), _why_not(points, at_knot, groups, tolerance), {"knots": knots}
    )


def _reason(points: Points, at_knot: pd.DataFrame, chosen: str, groups: Sequence[SizedGroup]) -> str:
    group = next(group for group in groups if chosen in group.candidates.values())
    sizes, agreed = list(group.candidates), group.entering[0]
    place = list(group.candidates.values()).index(chosen)
    after = next(later for later in range(place + 1, len(sizes)) if not np.isnan(agreed[later]))
    others = f", the best of the {len(at_knot)} candidates at a knot" if len(at_knot) > 1 else ""
    return (
        f"{chosen} is at a knot of the profile of {group.family}: up to {sizes[place]} features resamples agree on "
        f"what enters ({agreed[place]:.2f} of what is possible), further ones enter almost at random "
        f"({agreed[after]:.2f} up to {sizes[after]}). Its {points.metric} is {at_knot['score'][chosen]:.3f}{others}."
    )


def _why_not(points: Points, at_knot: pd.DataFrame, groups: Sequence[SizedGroup], tolerance: float) -> dict[str, str]:
    why = dict.fromkeys(points.names, "it has no number of features that could be at a knot")
    for group in groups:
        knots = group.knots(0, tolerance)
        known = f"not at a knot of {group.family}: {', '.join(map(str, knots))}" if knots else group.why_none(tolerance)
        why |= dict.fromkeys(group.candidates.values(), known)
    scores = at_knot["score"].items()
    return why | {str(name): f"at a knot, but {points.metric} is not higher ({score:.3f})" for name, score in scores}


def _no_knot(groups: Sequence[SizedGroup], tolerance: float) -> UnansweredError:
    why = "; ".join(dict.fromkeys(group.why_none(tolerance) for group in groups))
    why = why or "no selector was tried with several numbers of features"
    return UnansweredError(
        "Expected a candidate at a knot of its profile, a size after which features enter almost at random (agreement "
        f"up to {tolerance:g}), got none: {why}. Give selectors more sizes (hf.Candidates(…, sizes=[5, 10, 20, 50])), "
        "or choose another tolerance.",
        f"no candidate is at a knot of its profile: {why}",
    )
