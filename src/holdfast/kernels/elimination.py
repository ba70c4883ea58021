"""Inputs and results of every elimination, compiled or in lock-step: checks, scaled data, paths, orders.

Needs nothing but NumPy, as :mod:`~holdfast.kernels.lockstep` does.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .tolerances import TIE, check_squares, column_units  # relative: there may be no package around this folder

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scale = Literal["split", "full"]


def check_labels(shape: tuple[int, ...], y: ArrayLike, counts: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return labels −1 and 1 (n) and counts (M × n, all rows once if not given) that go with an X of this shape."""
    y = np.asarray(y, dtype=np.float64)
    counts = np.ones((1, len(y))) if counts is None else np.atleast_2d(np.asarray(counts, dtype=np.float64))
    if len(shape) != 2 or y.shape != shape[:1] or counts.shape[1:] != y.shape:
        raise ValueError(f"Expected X of n × d, n labels and M × n counts, got {shape}, {y.shape} and {counts.shape}.")
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"Expected labels −1 and 1, got {y[~np.isin(y, (-1, 1))][0]:g}.")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("Expected counts that are finite and not negative.")
    for label in (-1, 1):
        missing = np.flatnonzero(counts[:, y == label].sum(axis=1) == 0)
        if missing.size:
            raise ValueError(
                f"Expected rows of both classes in every resample, got none with label {label} in resample "
                f"{missing[0]} ({missing.size} such resamples). Draw resamples by class."
            )
    return y, counts


def check_columns(columns: ArrayLike | None, n_columns: int, n_resamples: int) -> Ints:
    """Return the columns that paths start from, 1 or M × p; all if not given."""
    if columns is None:
        return np.arange(n_columns)[None]
    start = np.atleast_2d(np.asarray(columns, dtype=np.int64))
    if len(start) not in (1, n_resamples) or start.shape[1] == 0:
        raise ValueError(f"Expected columns for all or each of {n_resamples} resamples, got shape {start.shape}.")
    if start.min() < 0 or start.max() >= n_columns or (np.diff(start, axis=1) <= 0).any():
        raise ValueError(f"Expected columns that ascend within 0 … {n_columns - 1}.")
    return start


def check_sizes(sizes: ArrayLike | None, n_features: int) -> Ints:
    """Return the sizes that a path passes; only that of all features if not given."""
    passed = np.array([n_features] if sizes is None else sizes, dtype=np.int64)
    if passed.ndim != 1 or passed[0] != n_features or passed[-1] < 1 or (np.diff(passed) >= 0).any():
        raise ValueError(f"Expected sizes that fall from {n_features} features, got {passed}; see elimination_sizes().")
    return passed


def check_n_forced(forced: Mask, n_remaining: int) -> None:
    """Raise if more features are forced, along the last axis, than remain."""
    most = int(forced.sum(axis=-1).max())
    if most > n_remaining:
        raise ValueError(f"Expected at most {n_remaining} forced features, as many as are selected, got {most}.")


def check_tie_ranks(tie_ranks: ArrayLike | None, n_columns: int, n_resamples: int) -> NDArray[np.int32]:
    """Return the tie-break rank of each column, 1 or M × p; by column if not given."""
    ranks = np.atleast_2d(np.asarray(np.arange(n_columns) if tie_ranks is None else tie_ranks, dtype=np.int32))
    if len(ranks) not in (1, n_resamples) or ranks.shape[1] != n_columns:
        raise ValueError(
            f"Expected tie-break ranks of {n_columns} columns for all or each of {n_resamples} resamples, got shape "
            f"{ranks.shape}."
        )
    return ranks


def check_costs(C: ArrayLike) -> Floats:
    """Return the weights of the loss, one for each setting; positive numbers whose squares can be computed."""
    costs = np.atleast_1d(np.asarray(C, dtype=np.float64))
    for cost in costs[~((costs >= 1e-100) & (costs <= 1e100))]:
        raise ValueError(f"Expected a positive C, from 1e-100 to 1e100, got {cost}.")
    return costs


def check_shrinkages(shrinkage: ArrayLike) -> Floats:
    """Return the factors of the forced features' weights in the penalty, one for each setting."""
    factors = np.atleast_1d(np.asarray(shrinkage, dtype=np.float64))
    for factor in factors[~((factors > 0) & (factors <= 1))]:
        raise ValueError(f"Expected a shrinkage in (0, 1], got {factor}.")
    return factors


class Scaled(NamedTuple):
    """Data as models take them, made once for all resamples and settings: see :func:`scale_data`."""

    XT: Floats  # d × n, contiguous
    shift: Floats  # d: XT was (x − shift) / unit before
    unit: Floats
    split: bool  # whether each resample standardizes its columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.XT.shape[1], self.XT.shape[0]

    @property
    def wide(self) -> bool:
        """Whether the Gram matrix of the rows is the smaller one."""
        return self.XT.shape[0] > self.XT.shape[1]


def scale_data(X: ArrayLike, scale: Scale) -> Scaled:
    """Check rows × features and scale the columns.

    With ``"split"``, where each resample standardizes its columns, all are brought near 1 first, so that the resamples'
    moments have all their digits. ``"full"`` takes the data as they are. Sums go along the memory of ``XT``: its order
    decides their last digits.
    """
    values = np.asarray(X, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"Expected finite numbers in X, got {np.count_nonzero(~np.isfinite(values))} that are not.")
    if scale not in get_args(Scale):
        raise ValueError(f"Expected scale='split' or 'full', got {scale!r}.")
    XT = np.ascontiguousarray(values.T)
    if scale == "full":
        check_squares(XT)
        shift, unit = np.zeros(len(XT)), np.ones(len(XT))
    else:
        power = column_units(XT.T)
        XT = XT / power[:, None]
        shift = XT.mean(axis=1)
        XT -= shift[:, None]
        deviation = np.sqrt(np.mean(XT**2, axis=1))
        unit = np.where(deviation > 0, deviation, 1.0)
        XT /= unit[:, None]
        shift, unit = shift * power, unit * power
    for array in (XT, shift, unit):
        array.flags.writeable = False  # another type would be another compilation
    return Scaled(XT, shift, unit, scale == "split")


class Paths(NamedTuple):
    """Eliminations of M resamples, each from p features down to k.

    The set of size s that a path passed is ``smallest_size <= s``. A weight belongs to columns as the model saw them:
    standardized if it scaled them. ``coef`` and ``intercept`` belong to X as it was handed in.
    """

    smallest_size: NDArray[np.int32]  # M × p: size of the smallest set that has the feature
    weight: Floats  # M × p: its weight in that set's fit
    selected: Ints  # M × k: columns of the last set, ascending
    coef: Floats  # M × k
    intercept: Floats  # M


def elimination_sizes(n_features: int, n_remaining: int, drop: float = 0.2) -> Ints:
    """Sizes that an elimination passes: each step drops ⌊drop · remaining⌋, at least one, down to ``n_remaining``.

    From 1 on, ``drop`` is a whole number of features: 1 drops one at a time.

    >>> elimination_sizes(20, 5, 0.2)
    array([20, 16, 13, 11,  9,  8,  7,  6,  5])
    >>> elimination_sizes(5, 3, 1)
    array([5, 4, 3])
    """
    if not 1 <= n_remaining <= n_features:
        raise ValueError(f"Expected to keep 1 to {n_features} features, got {n_remaining}.")
    _check_drop(drop)
    sizes = [n_features]
    while sizes[-1] > n_remaining:
        share = drop * sizes[-1] if drop < 1 else drop
        sizes.append(max(n_remaining, sizes[-1] - max(1, math.floor(share + 1e-9))))  # 0.29 · 100 is 28.999…
    return np.array(sizes, dtype=np.int64)


def _check_drop(drop: Any) -> None:
    number = isinstance(drop, (int, float, np.integer, np.floating)) and not isinstance(drop, bool)
    if not (number and (0 < drop < 1 or (drop >= 1 and float(drop).is_integer()))):
        raise ValueError(
            f"Expected drop to be a share of the features below 1, or a whole number of features, got {drop!r}; drop=1 "
            "drops one at a time."
        )


def orders(paths: Paths, tie_ranks: ArrayLike | None = None) -> NDArray[np.int32]:
    """Features of each path, the last to fall first; of one step by falling |weight|, then by tie-break rank.

    ``tie_ranks`` has a rank for each column, for all or each of the resamples; by column if not given.
    """
    n_resamples, n_columns = paths.weight.shape
    ranks = np.broadcast_to(check_tie_ranks(tie_ranks, n_columns, n_resamples), (n_resamples, n_columns))
    return first_of_orders(paths.smallest_size, paths.weight, n_columns, ranks.__getitem__, range(n_resamples))


def first_of_orders(
    smallest_size: NDArray[Any],
    weight: NDArray[Any],
    size: int,
    tie_ranks: Callable[[int], NDArray[np.int32]],
    resample: Sequence[int],
    names: NDArray[Any] | None = None,
) -> NDArray[np.int32]:
    """Return the ``size`` features of each path that fall last, in the order of :func:`orders`.

    Parameters
    ----------
    smallest_size, weight
        Paths × features, as in :class:`Paths`.
    size
        One that all paths passed.
    tie_ranks
        Returns the tie-break rank of each feature in a resample; called where features tie.
    resample
        The resample of each path.
    names
        Features of each path, if ``smallest_size`` and ``weight`` are of some only.
    """
    n_paths, n_columns = weight.shape
    columns: NDArray[Any] = np.broadcast_to(np.arange(n_columns) if names is None else names, weight.shape)
    step: NDArray[Any] = smallest_size
    if size < n_columns:
        left = np.nonzero(smallest_size <= size)[1].reshape(n_paths, size)
        step, weight = (np.take_along_axis(values, left, axis=1) for values in (smallest_size, weight))
        columns = left if names is None else np.take_along_axis(names, left, axis=1)
    weight = np.abs(weight)
    order = np.lexsort((-weight, step), axis=1)
    columns, step, weight = (np.take_along_axis(values, order, axis=1) for values in (columns, step, weight))
    distinct = (step[:, 1:] != step[:, :-1]) | (weight[:, :-1] - weight[:, 1:] > TIE * weight[:, :-1])
    for path in np.flatnonzero(~distinct.all(axis=1)).tolist():
        group = np.concatenate([[0], np.cumsum(distinct[path])])
        ranks = tie_ranks(resample[path])[columns[path]]
        columns[path] = columns[path][np.lexsort((ranks, group))]
    return columns.astype(np.int32)


def on_scale_of_data(coef: Floats, intercept: Floats, shift: Floats, unit: Floats) -> tuple[Floats, Floats]:
    """Turn weights of columns (x − shift) / unit, along the last axis, and their intercepts into those of x."""
    with np.errstate(over="ignore", invalid="ignore"):  # weights of tiny numbers, which not every caller needs
        coef = coef / unit
        moved = np.cumsum(coef * shift, axis=-1)[..., -1]  # one term after the other, whatever the other rows
        return coef, intercept - moved


def unsolved_error(model: str, unsolved: Ints | int, max_iter: int = 1000) -> ArithmeticError:
    """The error of fits that did not converge; of a single path if ``unsolved`` is a number."""
    sizes = np.atleast_1d(unsolved)
    *setting, resample = np.argwhere(sizes)[0]
    which = f"resample {resample} at {sizes[*setting, resample]} features" + "".join(
        f" of setting {number}" for number in setting
    )
    return ArithmeticError(
        f"The {model} fit did not reach its optimum within {max_iter} iterations in {which} "
        f"({np.count_nonzero(sizes)} such paths). Scale the columns, or take a C nearer to 1."
    )
