"""Base class of filters: features weighed, weights that differ by rounding made equal."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from holdfast.kernels.tolerances import TIE
from holdfast.selection import Best, Selection, best_columns
from holdfast.selectors.base import Preference, Selector, Ties
from holdfast.selectors.rows import Floats, Ints, Mask, Target

ROUNDING = 1e-11
"""Weights from 0 to about 1 that are no larger are 0 but for rounding."""


class Filter(Selector):
    """A selector that weighs features and keeps the best; write :meth:`_weights`.

    Weights within 1e-9 of the largest weight of each other tie, so that equal columns never depend on rounding.
    """

    nothing: ClassVar[float] = 0.0
    """The weight of a constant column; up to it a feature carries no information."""

    def __init__(self, n_features: int = 10, *, ties: Ties = "auto", random_state: Any = None) -> None:
        self.n_features, self.ties, self.random_state = n_features, ties, random_state

    @abstractmethod
    def _weights(self, shared: Any, X: Floats, target: Target, counts: Ints) -> Floats:
        """How much each feature weighs; larger is better, and what is not finite is undefined or beyond measure."""

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        return self._weighed(self._weights(shared, X, target, counts))

    def _weighed(self, weights: Floats) -> Preference:
        most = self.n_features if isinstance(self.n_features, (int, np.integer)) else 0
        return Weighed(weights, self._informative(weights), int(most))

    def _informative(self, weights: Floats) -> Mask:
        """Which features weigh more than a constant column; those that are undefined do not."""
        return weights > self.nothing


class Weighed(Preference):
    """Weights of features, of which those tie that differ by rounding only; the best are found without sorting all.

    Parameters
    ----------
    weights : ndarray
        As computed; what is not finite is undefined or beyond measure.
    informative : ndarray of bool
        Which features carry information.
    most : int
        The largest size that will be asked for, if known: all sizes are cuts of one order.
    """

    weights: Floats

    def __init__(self, weights: Floats, informative: Mask, most: int = 0) -> None:
        own = {"kind": "weighting", "model": None, "extras": None, "note": ""}
        self.__dict__.update(own, informative=informative, weights=weights, _most=most, _best={})

    @cached_property
    def values(self) -> Floats:
        """The weights, equal where they tie."""
        return tied(self.weights)

    def top(self, k: int, *, random_state: int | None, rule: str) -> Selection:
        wanted = min(k, self.weights.size)
        found: dict[tuple[int | None, int], Best] = self.__dict__["_best"]
        most = min(max(wanted, self.__dict__["_most"]), self.weights.size)
        if (random_state, most) not in found:
            found[random_state, most] = best_columns(self.weights, most, self.informative, random_state)
        return found[random_state, most].first(wanted).select(wanted, random_state, rule, whole=self.selection)


def tied(weights: Floats) -> Floats:
    """Make weights equal that differ by rounding only; those that are undefined are the least."""
    defined = np.isfinite(weights)
    clean = np.where(defined, weights, np.where(weights == np.inf, np.inf, -np.inf))
    order = np.argsort(-clean, kind="stable")
    ranked = clean[order]
    scale = np.abs(weights[defined]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        steps = np.r_[True, ranked[:-1] - ranked[1:] > TIE * scale]
    leaders = np.maximum.accumulate(np.where(steps, np.arange(ranked.size), 0))
    equal = np.empty_like(clean)
    equal[order] = ranked[leaders]
    lowest = min(0.0, weights[defined].min(initial=0.0))
    return np.where(equal == -np.inf, lowest, np.where(equal == np.inf, np.finfo(float).max, equal))


def learned_on(name: str, rows: str) -> str:
    """Return the rows that something is learned on, or raise."""
    if rows not in ("split", "full"):
        raise ValueError(f"Expected {name}='split' or 'full', got {rows!r}.")
    return rows
