"""Copies of columns, up to shift, scale and sign: to a linear model it is arbitrary which of them has the weight."""

from typing import NamedTuple

import numpy as np

from holdfast.selection import tie_order
from holdfast.selectors.rows import Floats, Ints

SAME = 1e-11
"""Projections of standardized columns that differ by less belong to copies."""
COARSE = 1e-6
"""Ratios that differ by a smaller share may be those of copies."""


class Exchange(NamedTuple):
    """Copies of columns exchanged for each other, in one resample.

    Attributes
    ----------
    to : ndarray
        The column that takes the place of each column.
    groups : list of ndarray
        Columns that are copies of each other, ascending; only those that have a copy.
    mean, size : ndarray
        Mean of each column, and norm of its deviations, with the sign that makes copies alike.
    """

    to: Ints
    groups: list[Ints]
    mean: Floats
    size: Floats

    def entries(self, steps: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """When columns enter a path, and their weight then: equal for copies that enter, and moved to their places."""
        for group in self.groups:
            entered = group[weights[group] > 0]  # in a lasso one of them, else all, but for rounding at the same step
            if entered.size > 1:
                steps[entered], weights[entered] = steps[entered].min(), weights[entered].max()
        moved = np.empty_like(steps), np.empty_like(weights)
        moved[0][self.to], moved[1][self.to] = steps, weights
        return moved

    def weights(self, columns: Ints, coef: Floats, intercept: float) -> tuple[Ints, Floats, float]:
        """The same model on the columns that take the places of these, ascending."""
        to = self.to[columns]
        other = to != columns
        slope, shift = np.ones(columns.size), np.zeros(columns.size)
        slope[other] = self.size[columns[other]] / self.size[to[other]]  # column = shift + slope · the other
        shift[other] = self.mean[columns[other]] - slope[other] * self.mean[to[other]]
        order = np.argsort(to)
        return to[order], (coef * slope)[order], intercept + float(coef @ shift)


def exchange_copies(X: Floats, counts: Ints, random_state: int | None) -> Exchange | None:
    """Draw which of the copies of a column takes its place; None if no column has a copy in this resample.

    Without a seed every column keeps its place.
    """
    drawn = np.flatnonzero(counts)
    columns = _may_have_copies(X, drawn)
    if columns.size < 2:
        return None
    rows = X[np.ix_(drawn, columns)]
    mean, size, groups = _copies(rows)
    if not groups:
        return None
    whole = np.zeros((2, X.shape[1]))
    whole[:, columns] = mean, size
    groups = [columns[group] for group in groups]
    to, turns = np.arange(X.shape[1]), tie_order(X.shape[1], random_state)
    for group in groups:
        to[group] = group[np.argsort(turns[group])]
    return Exchange(to, groups, *whole)


def _may_have_copies(X: Floats, drawn: Ints) -> Ints:
    """Columns whose steps between three rows have a ratio that others have too, as copies would, or that have none."""
    if drawn.size < 3:
        return np.arange(X.shape[1])
    first, second, third = X[drawn[:3]]
    with np.errstate(all="ignore"):
        ratio = (first - second) / (first - third)
    order = np.argsort(ratio)  # nan comes last
    with np.errstate(invalid="ignore"):
        near = ~(np.diff(ratio[order]) > COARSE * np.abs(ratio[order[1:]]))
    alike = np.r_[near, False] | np.r_[False, near]
    return np.sort(order[alike])


def _copies(rows: Floats) -> tuple[Floats, Floats, list[Ints]]:
    """Mean and signed size of each column, and groups of those that are copies of each other."""
    mean = rows.mean(axis=0)
    away = rows - mean
    largest = np.abs(away).max(axis=0)
    varies = (rows != rows[0]).any(axis=0) & (largest > 0)
    away /= np.where(varies, largest, 1.0)
    norm = np.sqrt(np.einsum("ij,ij->j", away, away))
    probes = np.random.default_rng(0).normal(size=(2, len(rows))) @ away / np.where(varies, norm, 1.0)
    first, second = np.abs(probes)
    order = np.flatnonzero(varies)[np.argsort(first[varies], kind="stable")]
    apart = (np.diff(first[order]) > SAME) | (np.abs(np.diff(second[order])) > SAME)
    parts = np.split(order, np.flatnonzero(apart) + 1)
    signed = norm * largest * np.where(probes[0] < 0, -1.0, 1.0)
    return mean, signed, [np.sort(part) for part in parts if part.size > 1]
