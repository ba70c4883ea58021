"""Minimum redundancy, maximum relevance: features chosen one after the other (Ding and Peng; Gulgezen et al. 2009).

A feature's relevance V is its information about the class, its redundancy W the mean information it shares with the
features chosen before it. A row of information is computed once and serves every ``alpha``.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.discretize import equal_width_codes, given_codes
from holdfast.kernels.information import Codes, Sample, information, make_sample
from holdfast.kernels.tolerances import TIE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scheme = Literal["mid", "miq", "mid_alpha"]
Rows = Callable[[int], Floats]
Formula = Callable[[Floats, Floats], Floats]


class Criterion(NamedTuple):
    """What is to be largest, from V and W, and the size of its terms, beside which a difference is rounding."""

    score: Formula
    size: Formula


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
    V, row_of = information(sample, labels) if relevance is None else relevance, _cached_rows(sample)
    among = V > 0 if relevant_only else np.ones(V.size, dtype=bool)
    turns = np.arange(V.size) if tie_order is None else tie_order
    weights = alphas if scheme == "mid_alpha" else (0.5,)
    criteria = [Criterion(_quotient, _quotient)] if scheme == "miq" else [_difference(alpha) for alpha in weights]
    paths = [_forward(V, row_of, n_features, criterion, among, turns) for criterion in criteria]
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
    """The information of a feature with all features, computed when first asked for."""
    rows: dict[int, Floats] = {}

    def row_of(feature: int) -> Floats:
        if feature not in rows:
            rows[feature] = information(sample, sample.codes[feature])
        return rows[feature]

    return row_of


def _forward(
    relevance: Floats, row_of: Rows, n_features: int, criterion: Criterion, among: Mask, turns: NDArray[np.integer]
) -> Paths:
    n_steps, left_out = min(n_features, int(among.sum())), np.flatnonzero(~among)
    order, redundancy = np.empty(n_steps, np.int64), np.zeros(n_steps)
    total = np.zeros(relevance.size)
    if n_steps:
        order[0] = _first_best(np.where(among, relevance, -np.inf), relevance, turns)
    for step in range(1, n_steps):
        total += row_of(int(order[step - 1]))
        W = total / step
        score = criterion.score(relevance, W)
        score[order[:step]] = -np.inf
        score[left_out] = -np.inf
        order[step] = _first_best(score, criterion.size(relevance, W), turns)
        redundancy[step] = W[order[step]]
    return Paths(order, relevance[order], redundancy)


def _first_best(score: Floats, size: Floats, turns: NDArray[np.integer]) -> int:
    """The column of the first turn whose score reaches the maximum up to rounding of the terms that make it up."""
    best = np.argmax(score)
    margin = TIE * size[best] if np.isfinite(score[best]) else 0.0
    tied = np.flatnonzero(score >= score[best] - margin)
    return int(tied[np.argmin(turns[tied])])


def _difference(alpha: float) -> Criterion:
    return Criterion(lambda V, W: alpha * V - (1 - alpha) * W, lambda V, W: alpha * V + (1 - alpha) * W)


def _quotient(V: Floats, W: Floats) -> Floats:
    return np.divide(V, W, out=np.where(V > 0, np.inf, 0.0), where=W > 0)
