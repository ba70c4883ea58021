"""Minimum redundancy, maximum relevance: features chosen one after the other (Ding and Peng; Gulgezen et al. 2009).

A feature's relevance V is its information about the class, its redundancy W the mean information it shares with the
features chosen before it. A row of information is computed once and serves every ``alpha``.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.discretize import equal_width_codes, given_codes
from holdfast.kernels.information import NO_INFORMATION, Codes, Sample, information, joint, make_sample
from holdfast.kernels.jit import frozen, kernel
from holdfast.kernels.tolerances import TIE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scheme = Literal["mid", "miq", "mid_alpha"]
Rows = Callable[[int], Ints]


class Paths(NamedTuple):
    """Features in the order of their choice, and why: each array ends with the axes alphas × steps.

    The redundancy of the first feature, with nothing chosen before it, is 0.
    """

    order: Ints
    relevance: Floats
    redundancy: Floats


def selection_paths(
    X: NDArray[np.generic],
    y: ArrayLike,
    counts: ArrayLike,
    n_features: int,
    *,
    scheme: Scheme = "mid",
    alphas: Sequence[float] = (0.5,),
    bins: Literal["split", "full"] = "split",
    n_bins: int | None = 10,
) -> Paths:
    """Choose features on each of many resamples.

    Parameters
    ----------
    X : array of shape (n, d)
        Feature values; with ``n_bins=None`` codes 0 … 255, taken as they are.
    y : array of int of shape (n,)
        Classes, whole numbers from 0.
    counts : array of int of shape (resamples, n)
        How often each resample takes each row.
    n_features : int
        How many features to choose, at most d.
    scheme, alphas
        See :func:`selection_path`.
    bins : "split" or "full"
        Whether the equal-width bins lie between the minimum and maximum of the resample's rows, or of all rows.
    n_bins : int or None
        Number of bins.

    Returns
    -------
    Paths
        With the axes resamples × alphas × steps.
    """
    codes_of = _coder(X, bins, n_bins)
    labels = np.asarray(y)
    paths = []
    for own in np.atleast_2d(counts):
        rows = np.flatnonzero(own)
        sample = make_sample(codes_of(rows), own[rows])
        paths.append(selection_path(sample, labels[rows], n_features, scheme=scheme, alphas=alphas))
    return Paths(*(np.stack(arrays) for arrays in zip(*paths, strict=True)))


def selection_path(
    sample: Sample,
    labels: ArrayLike,
    n_features: int,
    *,
    scheme: Scheme = "mid",
    alphas: Sequence[float] = (0.5,),
    relevance: Floats | None = None,
    relevant_only: bool = False,
    tie_order: NDArray[np.integer] | None = None,
) -> Paths:
    """Choose features on one sample, with the axes alphas × steps.

    The first feature has the largest V, whatever the scheme; each next one has the largest V - W (``"mid"``), V / W
    (``"miq"``) or alpha·V - (1 - alpha)·W (``"mid_alpha"``, for each of ``alphas``). V / 0 is infinite, or 0 if V is 0
    too. Scores that are equal up to rounding tie, and the lowest column is chosen, or the first by ``tie_order``, which
    holds the turn of each column. ``relevance`` is V, if it is known. With ``relevant_only``, features of V = 0 are
    never chosen: by V - W a constant one, which shares nothing, would come before one that tells of the class.
    """
    if scheme not in get_args(Scheme):
        raise ValueError(f"Expected a scheme out of {', '.join(get_args(Scheme))}, got {scheme!r}.")
    V = frozen(information(sample, labels) if relevance is None else relevance, np.float64)
    among = V > 0 if relevant_only else np.ones(V.size, dtype=bool)
    turns = frozen(np.arange(V.size) if tie_order is None else tie_order, np.int64)
    row_of = _cached_rows(sample)
    weights = alphas if scheme == "mid_alpha" else (0.5,)
    n_steps = min(n_features, int(among.sum()))
    paths = [_forward(sample, V, row_of, n_steps, scheme == "miq", float(alpha), among, turns) for alpha in weights]
    return Paths(*(np.stack(arrays) for arrays in zip(*paths, strict=True)))


def score_path(sample: Sample, labels: ArrayLike, order: Sequence[int]) -> tuple[Floats, Floats]:
    """Relevance V and redundancy W of each feature of an order given, beside the features before it."""
    chosen = np.asarray(order, dtype=np.int64)
    relevance = information(sample, labels)[chosen]
    total, redundancy = np.zeros(len(sample.codes)), np.zeros(chosen.size)
    for step, feature in enumerate(chosen[:-1], start=1):
        total += information(sample, sample.codes[feature])
        redundancy[step] = total[chosen[step]] / step
    return relevance, redundancy


def _coder(X: NDArray[np.generic], bins: str, n_bins: int | None) -> Callable[[Ints], Codes]:
    """How to get the codes of some rows."""
    if bins not in ("split", "full"):
        raise ValueError(f"Expected bins 'split' or 'full', got {bins!r}.")
    if n_bins is not None and bins == "split":
        values = np.ascontiguousarray(X, dtype=np.float64)
        return lambda rows: equal_width_codes(values, n_bins, rows)
    codes = given_codes(X) if n_bins is None else equal_width_codes(X.astype(np.float64), n_bins)
    return lambda rows: np.take(codes, rows, axis=1)


def _cached_rows(sample: Sample) -> Rows:
    """Σ x·log x over the joint histograms of a feature with all features, computed when first asked for."""
    rows: dict[int, Ints] = {}

    def row_of(feature: int) -> Ints:
        if feature not in rows:
            rows[feature] = joint(sample, sample.codes[feature])
        return rows[feature]

    return row_of


def _forward(
    sample: Sample, V: Floats, row_of: Rows, n_steps: int, quotient: bool, alpha: float, among: Mask, turns: Ints
) -> Paths:
    order, redundancy, left = np.empty(n_steps, np.int64), np.zeros(n_steps), among.copy()
    total, own = np.zeros(V.size), frozen(sample.own, np.int64)
    unit, nothing = sample.table.unit / max(sample.table.entries.size - 1, 1), NO_INFORMATION * sample.whole
    for step in range(n_steps):
        if step == 0:
            order[0] = _first_best(np.where(among, V, -np.inf), V, turns)
        else:
            last = int(order[step - 1])
            rest = sample.whole - own[last]
            order[step] = _next(row_of(last), own, rest, unit, nothing, V, total, step, left, turns, quotient, alpha)
            redundancy[step] = total[order[step]] / step
        left[order[step]] = False
    return Paths(order, V[order], redundancy)


@kernel
def _next(joint, own, rest, unit, nothing, V, total, step, left, turns, quotient, alpha):  # type: ignore[no-untyped-def]
    """Add to each total the information shared with the feature chosen last; return the best of those left.

    What is to be largest comes from V and W, the mean of what is shared; a difference is rounding beside the size of
    the terms that make it up.
    """
    score, size = np.empty(V.size), np.empty(V.size)
    for j in range(V.size):
        shared = rest - own[j] + joint[j]
        total[j] += shared * unit if shared > nothing else 0.0
        W = total[j] / step
        if quotient:
            score[j] = size[j] = V[j] / W if W > 0 else (np.inf if V[j] > 0 else 0.0)
        else:
            score[j] = alpha * V[j] - (1 - alpha) * W
            size[j] = alpha * V[j] + (1 - alpha) * W
        if not left[j]:
            score[j] = -np.inf
    return _first_best(score, size, turns)


@kernel
def _first_best(score, size, turns):  # type: ignore[no-untyped-def]
    """The column of the first turn whose score reaches the maximum up to rounding of the terms that make it up."""
    best = 0
    for j in range(1, score.size):
        if score[j] > score[best]:
            best = j
    least = score[best] - (TIE * size[best] if np.isfinite(score[best]) else 0.0)
    first = best
    for j in range(score.size):
        if score[j] >= least and turns[j] < turns[first]:
            first = j
    return first
