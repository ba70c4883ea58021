"""Arrays of the compiled eliminations: how their kernels take what they are given, and what they write.

:func:`lay_out` checks and arranges, the kernel of :mod:`~holdfast.kernels.ridge` or :mod:`~holdfast.kernels.svm` fills
an :class:`Outcome`, :func:`collect_paths` makes :class:`~holdfast.kernels.paths.Paths` of it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.inputs import (
    Floats,
    Ints,
    Scale,
    check_columns,
    check_forced,
    check_rows,
    check_sizes,
    check_tie_order,
    scale_columns,
)
from holdfast.kernels.jit import frozen
from holdfast.kernels.paths import Paths, check_solved, on_scale_of_data


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


def lay_out(
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
    X, y, counts = check_rows(X, y, counts)
    n_resamples = len(counts)
    start = check_columns(columns, X.shape[1], n_resamples)
    p = start.shape[1]
    passed = check_sizes(sizes, p)
    held = check_forced(forced, p, n_resamples, int(passed[-1]))
    turns = check_tie_order(tie_order, p, n_resamples)
    XT, shift, unit = scale_columns(np.ascontiguousarray(X.T), scale)
    arrays: tuple[NDArray[Any], ...] = (XT, y, counts, start, held, passed, turns, shift, unit)
    return Layout(*(frozen(array, array.dtype) for array in arrays))


class Outcome(NamedTuple):
    """What a kernel writes."""

    kept_until: NDArray[np.int32]  # M × p
    weight: Floats  # M × p
    coef: Floats  # M × k, of the columns of XT
    intercept: Floats  # M
    unsolved: Ints  # M: number of features of the fit that was given up, or 0


def empty_outcome(layout: Layout) -> Outcome:
    """Make room for what a kernel writes."""
    M, p, k = len(layout.counts), layout.columns.shape[1], layout.sizes[-1]
    return Outcome(np.empty((M, p), np.int32), np.empty((M, p)), np.empty((M, k)), np.empty(M), np.zeros(M, np.int64))


def collect_paths(model: str, layout: Layout, outcome: Outcome, max_iter: int) -> Paths:
    """Put what a kernel wrote into terms of X as it was handed in; raise if it gave a fit up."""
    kept_until, weight, coef, intercept, unsolved = outcome
    check_solved(model, unsolved, max_iter)
    last = kept_until == layout.sizes[-1]
    selected = np.broadcast_to(layout.columns, last.shape)[last].reshape(coef.shape)
    return Paths(
        kept_until,
        weight,
        selected,
        *on_scale_of_data(coef, intercept, layout.shift[selected], layout.unit[selected]),
    )
