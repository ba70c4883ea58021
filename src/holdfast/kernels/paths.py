"""What comes out of an elimination, compiled or in lock-step: the sizes it passes, its paths, orders of features.

Needs NumPy alone, as :mod:`~holdfast.kernels.inputs`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .inputs import Floats, Ints, check_tie_order
from .tolerances import TIE


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
    n_resamples, n_columns = paths.weight.shape
    turns = np.broadcast_to(check_tie_order(tie_order, n_columns, n_resamples), (n_resamples, n_columns))
    return first_of_orders(paths.kept_until, paths.weight, n_columns, turns.__getitem__, range(n_resamples))


def first_of_orders(
    kept_until: NDArray[Any],
    weight: NDArray[Any],
    size: int,
    turns: Callable[[int], NDArray[np.int32]],
    resample: Sequence[int],
    names: NDArray[Any] | None = None,
) -> NDArray[np.int32]:
    """Return the ``size`` features of each path that fall last, in the order of :func:`orders`.

    Parameters
    ----------
    kept_until, weight
        Paths × features, as in :class:`Paths`.
    size
        One that all paths passed.
    turns
        Gives the turn of each feature in a resample; asked for where features tie.
    resample
        The resample of each path.
    names
        Features of each path, if ``kept_until`` and ``weight`` are of some only.
    """
    n_paths, n_columns = weight.shape
    columns: NDArray[Any] = np.broadcast_to(np.arange(n_columns) if names is None else names, weight.shape)
    step: NDArray[Any] = kept_until
    if size < n_columns:
        left = np.nonzero(kept_until <= size)[1].reshape(n_paths, size)
        step, weight = (np.take_along_axis(values, left, axis=1) for values in (kept_until, weight))
        columns = left if names is None else np.take_along_axis(names, left, axis=1)
    weight = np.abs(weight)
    order = np.lexsort((-weight, step), axis=1)
    columns, step, weight = (np.take_along_axis(values, order, axis=1) for values in (columns, step, weight))
    apart = (step[:, 1:] != step[:, :-1]) | (weight[:, :-1] - weight[:, 1:] > TIE * weight[:, :-1])
    for path in np.flatnonzero(~apart.all(axis=1)).tolist():
        group = np.concatenate([[0], np.cumsum(apart[path])])
        own = turns(resample[path])[columns[path]]
        columns[path] = columns[path][np.lexsort((own, group))]
    return columns.astype(np.int32)


def on_scale_of_data(coef: Floats, intercept: Floats, shift: Floats, unit: Floats) -> tuple[Floats, Floats]:
    """Turn weights of columns (x − shift) / unit, along the last axis, and their intercepts into those of x."""
    with np.errstate(over="ignore", invalid="ignore"):  # weights of tiny numbers, which not every caller needs
        coef = coef / unit
        moved = np.cumsum(coef * shift, axis=-1)[..., -1]  # one term after the other, whatever stands beside a row
        return coef, intercept - moved


def check_solved(model: str, unsolved: Ints, max_iter: int) -> None:
    """Raise if a fit was given up: ``unsolved`` has its number of features, else 0, by (setting and) resample."""
    if unsolved.any():
        *setting, resample = np.argwhere(unsolved)[0]
        which = f"resample {resample} at {unsolved[*setting, resample]} features" + "".join(
            f" of setting {number}" for number in setting
        )
        raise ArithmeticError(
            f"The {model} fit did not reach its optimum within {max_iter} iterations in {which} "
            f"({np.count_nonzero(unsolved)} such paths). Scale the columns, or take a C nearer to 1."
        )


def unsolved_error(model: str, size: int, max_iter: int = 1000) -> ArithmeticError:
    """The error of a single path whose fit on so many features was given up."""
    try:
        check_solved(model, np.array([size]), max_iter)
    except ArithmeticError as error:
        return error
    raise ValueError("Expected a number of features, got 0.")
