"""What goes into an elimination and what comes out: resamples checked and laid out, sizes, paths, orders."""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.elimination import TIE
from holdfast.kernels.magnitude import check_squares, column_units

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scale = Literal["split", "full"]


class Paths(NamedTuple):
    """Eliminations of M resamples, each from p features down to k.

    The set of size s that a path passed is ``kept_until <= s``. A weight belongs to columns as the model saw them:
    standardized if it scaled them. ``coef`` and ``intercept`` belong to X as it was handed in.
    """

    kept_until: NDArray[np.int32]  # M × p: size of the smallest set that has the feature
    weight: Floats  # M × p: its weight in that set's fit
    selected: Ints  # M × k: columns of the last set, ascending
    coef: Floats  # M × k
    intercept: Floats  # M


class Layout(NamedTuple):
    """Arrays as the kernels take them: contiguous, of one type each, read-only, so that each is compiled once."""

    XT: Floats  # d × n
    y: Floats
    counts: Floats  # M × n
    columns: Ints  # 1 or M × p: where each path starts
    forced: NDArray[np.bool_]  # 1 or M × p: which of them may not fall
    sizes: Ints
    tie_order: NDArray[np.int32]  # 1 or M × p: the turn of each column among equally good ones
    shift: Floats  # d: X was (x − shift) / unit before
    unit: Floats

    @property
    def wide(self) -> bool:
        """Whether the Gram matrix of the rows is the smaller one."""
        return self.XT.shape[0] > self.XT.shape[1]


def elimination_sizes(n_features: int, n_kept: int, drop: float = 0.2) -> Ints:
    """Sizes that an elimination passes: each step drops ⌊drop · remaining⌋, at least one, and never passes ``n_kept``.

    From 1 on, ``drop`` is a whole number of features: 1 drops one at a time.

    >>> elimination_sizes(20, 5, 0.2)
    array([20, 16, 13, 11,  9,  8,  7,  6,  5])
    >>> elimination_sizes(5, 3, 1)
    array([5, 4, 3])
    """
    if not 1 <= n_kept <= n_features:
        raise ValueError(f"Expected to keep 1 to {n_features} features, got {n_kept}.")
    _check_drop(drop)
    sizes = [n_features]
    while sizes[-1] > n_kept:
        share = drop * sizes[-1] if drop < 1 else drop
        sizes.append(max(n_kept, sizes[-1] - max(1, math.floor(share + 1e-9))))  # 0.29 · 100 is 28.999…
    return np.array(sizes, dtype=np.int64)


def _check_drop(drop: Any) -> None:
    number = isinstance(drop, (int, float, np.integer, np.floating)) and not isinstance(drop, bool)
    if not (number and (0 < drop < 1 or (drop >= 1 and float(drop).is_integer()))):
        raise ValueError(
            f"Expected drop to be a share of the features below 1, or a whole number of features, got {drop!r}; drop=1 "
            "drops one at a time."
        )


def orders(paths: Paths, tie_order: ArrayLike | None = None) -> NDArray[np.int32]:
    """Features of each path from the last to the first to fall; of one step by falling |weight|, then by their turn.

    ``tie_order`` holds the turn of each column, for all or each of the resamples; by column if not given.
    """
    result = np.empty(paths.weight.shape, dtype=np.int32)
    turns = np.broadcast_to(_turns(tie_order, paths.weight.shape[1]), result.shape)
    for order, kept_until, weight, turn in zip(result, paths.kept_until, np.abs(paths.weight), turns, strict=True):
        order[:] = np.lexsort((-weight, kept_until))
        ordered, step = weight[order], kept_until[order]
        apart = (step[1:] != step[:-1]) | (ordered[:-1] - ordered[1:] > TIE * ordered[:-1])
        if not apart.all():
            group = np.concatenate([[0], np.cumsum(apart)])
            order[:] = order[np.lexsort((turn[order], group))]
    return result


def _turns(tie_order: ArrayLike | None, n_columns: int) -> NDArray[np.int32]:
    """The turn of each column, for all or each of the resamples."""
    return np.atleast_2d(np.asarray(np.arange(n_columns) if tie_order is None else tie_order, dtype=np.int32))


def layout(
    X: ArrayLike,
    y: ArrayLike,
    counts: ArrayLike | None,
    sizes: ArrayLike | None,
    columns: ArrayLike | None,
    forced: ArrayLike | None,
    scale: Scale,
    tie_order: ArrayLike | None = None,
) -> Layout:
    """Check what an elimination is given and lay it out."""
    X, y = np.asarray(X, dtype=np.float64), np.ascontiguousarray(y, dtype=np.float64)
    counts = np.ones((1, len(y))) if counts is None else np.atleast_2d(np.asarray(counts, dtype=np.float64))
    _check_rows(X, y, counts)
    columns = np.arange(X.shape[1])[None] if columns is None else np.atleast_2d(np.asarray(columns, dtype=np.int64))
    _check_columns(columns, *X.shape, len(counts))
    sizes = np.array(columns.shape[1:] if sizes is None else sizes, dtype=np.int64)
    _check_sizes(sizes, columns.shape[1])
    forced = np.zeros((1, columns.shape[1]), bool) if forced is None else np.atleast_2d(np.asarray(forced, dtype=bool))
    _check_forced(forced, columns, len(counts), int(sizes[-1]))
    turns = _turns(tie_order, columns.shape[1])
    _check_turns(turns, columns.shape[1], len(counts))
    XT, shift, unit = np.ascontiguousarray(X.T), np.zeros(X.shape[1]), np.ones(X.shape[1])
    if scale == "split":  # bring all columns near 1 first, so that the splits' moments have all their digits
        power = column_units(X)
        XT = XT / power[:, None]
        shift = XT.mean(axis=1)
        XT -= shift[:, None]
        deviation = np.sqrt(np.mean(XT**2, axis=1))
        unit = np.where(deviation > 0, deviation, 1.0)
        XT /= unit[:, None]
        shift, unit = shift * power, unit * power
    else:
        check_squares(X)
    arrays: tuple[NDArray[Any], ...] = (XT, y, counts, columns, forced, sizes, turns, shift, unit)
    return Layout(*map(_read_only, arrays))


class Outcome(NamedTuple):
    """What a kernel writes."""

    kept_until: NDArray[np.int32]
    weight: Floats
    coef: Floats
    intercept: Floats
    unsolved: Ints  # M: number of features of the fit that was given up, or 0


def empty_outcome(laid: Layout) -> Outcome:
    """Make room for what a kernel writes."""
    M, p, k = len(laid.counts), laid.columns.shape[1], laid.sizes[-1]
    return Outcome(np.empty((M, p), np.int32), np.empty((M, p)), np.empty((M, k)), np.empty(M), np.zeros(M, np.int64))


def collected(model: str, laid: Layout, outcome: Outcome, max_iter: int) -> Paths:
    """Put what a kernel wrote into terms of X as it was handed in; raise if it gave a fit up."""
    kept_until, weight, coef, intercept, unsolved = outcome
    if unsolved.any():
        resample = int(np.flatnonzero(unsolved)[0])
        raise ArithmeticError(
            f"Expected every {model} fit to reach its optimum, got none within {max_iter} iterations in resample "
            f"{resample} at {unsolved[resample]} features ({np.count_nonzero(unsolved)} such resamples). Scale the "
            f"columns, or take a C nearer to 1."
        )
    last = kept_until == laid.sizes[-1]
    selected = np.broadcast_to(laid.columns, last.shape)[last].reshape(coef.shape)
    with np.errstate(over="ignore", invalid="ignore"):  # weights of tiny numbers, which not every caller needs
        coef = coef / laid.unit[selected]
        return Paths(kept_until, weight, selected, coef, intercept - np.sum(coef * laid.shift[selected], axis=1))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _check_rows(X: Floats, y: Floats, counts: Floats) -> None:
    shapes = X.shape, y.shape, counts.shape
    if X.ndim != 2 or y.shape != X.shape[:1] or counts.shape[1:] != y.shape:
        raise ValueError("Expected X of n × d, n labels and M × n counts, got {}, {} and {}.".format(*shapes))
    if not np.isfinite(X).all():
        raise ValueError(f"Expected finite numbers in X, got {np.count_nonzero(~np.isfinite(X))} that are not.")
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


def _check_columns(columns: Ints, n: int, d: int, n_resamples: int) -> None:
    if len(columns) not in (1, n_resamples) or columns.shape[1] == 0:
        raise ValueError(f"Expected columns for all or each of {n_resamples} resamples, got shape {columns.shape}.")
    if columns.min() < 0 or columns.max() >= d or (np.diff(columns, axis=1) <= 0).any():
        raise ValueError(f"Expected columns that ascend within 0 … {d - 1}.")


def _check_turns(turns: NDArray[np.int32], n_columns: int, n_resamples: int) -> None:
    if len(turns) not in (1, n_resamples) or turns.shape[1] != n_columns:
        raise ValueError(
            f"Expected the turns of {n_columns} columns for all or each of {n_resamples} resamples, got shape "
            f"{turns.shape}."
        )


def _check_sizes(sizes: Ints, n_features: int) -> None:
    if sizes.ndim != 1 or sizes[0] != n_features or sizes[-1] < 1 or (np.diff(sizes) >= 0).any():
        raise ValueError(f"Expected sizes that fall from {n_features} features, got {sizes}; see elimination_sizes().")


def _check_forced(forced: NDArray[np.bool_], columns: Ints, n_resamples: int, n_kept: int) -> None:
    if len(forced) not in (1, n_resamples) or forced.shape[1] != columns.shape[1]:
        raise ValueError(
            f"Expected forced features as a mask over {columns.shape[1]} columns for all or each of {n_resamples} "
            f"resamples, got shape {forced.shape}."
        )
    most = int(forced.sum(axis=1).max())
    if most > n_kept:
        raise ValueError(f"Expected at most {n_kept} forced features, as many as are kept, got {most}.")
