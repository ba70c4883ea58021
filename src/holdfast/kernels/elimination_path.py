"""The path of one resample, whatever the model: its Gram matrix from step to step, the cut, the record.

The kernels of :mod:`~holdfast.kernels.ridge` and :mod:`~holdfast.kernels.svm` compile these steps in. For each resample
they call, in this order:

    begin_resample → begin_path → start_gram → (fit → weigh → record → cut → next_gram) for each size → finish

What the arrays of :class:`Workspace` hold, for n rows, p columns at the start, and s columns that are active now:

- ``active[:s]`` are the active columns, ascending, as indices 0 … p − 1 of ``Z.column``; ``w[:s]`` their weights of Z.
  The weights of X's standardized columns are w · β⁻¹ for forced ones (β is the shrinkage), w for others: Z holds the
  forced columns divided by β, so that the penalty is ½‖w‖² for all.
- ``K`` is the lower triangle of ZZᵀ over the resample's rows (rows that it did not draw are not in it) and the active
  columns; it is only there with more features than rows. After a cut the dropped columns are subtracted, or, where they
  are most or where subtraction would leave less than ``LOST`` of a diagonal entry, K is built anew.
- ``dropped`` holds the columns that the last cut took away.

The cut (:func:`cut`): forced columns stay, constant ones (``Z.factor`` 0) fall first, the others stay by falling |w|.
Weights within a share ``TIE`` of the one at the edge tie and stay by their ``tie_ranks``. The lock-step form
has the same rule on rectangular arrays (:func:`holdfast.kernels.lockstep.mask_remaining`): change both.

What may be changed: anything, as long as ``test_ridge.py`` and ``test_svm.py`` (optimum, exactness),
``test_ties.py`` (tie-break ranks) and ``test_lockstep.py`` (both forms take the same paths) pass. Sums must not call
BLAS, and loops stay loops: array expressions take numba ten times as long to compile.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.elimination import Floats, Ints
from holdfast.kernels.jit import summing_step
from holdfast.kernels.linear import (
    add_gram,
    fill,
    padded,
    panel,
    scale_next_to,
    square,
    standardize,
    vector,
    weights_of,
)
from holdfast.kernels.tolerances import LOST, TIE


class Outcome(NamedTuple):
    """What a kernel writes."""

    smallest_size: NDArray[np.int32]  # M × p
    weight: Floats  # M × p
    coef: Floats  # M × k, of the columns of XT
    intercept: Floats  # M
    unsolved: Ints  # M: number of features of the fit that did not converge, or 0


class Workspace(NamedTuple):
    """Arrays that every path of a call uses again; see the top of this module."""

    K: NDArray[np.float64]  # Gram matrix of the path's rows
    shared: NDArray[np.float64]  # of all rows and columns, or empty
    L: NDArray[np.float64]  # space for a factor
    R: NDArray[np.float64]  # space for a chunk of rows of Z
    active: NDArray[np.int64]  # columns, ascending
    dropped: NDArray[np.int64]
    w: NDArray[np.float64]  # weights of the active columns
    scratch: NDArray[np.float64]
    spread: NDArray[np.float64]  # over all rows of X
    diagonal: NDArray[np.float64]  # of K when it was built


@summing_step
def make_workspace(Z, n, wide, shared):  # type: ignore[no-untyped-def]
    """Allocate arrays for paths from these columns on up to n rows; with the shared Gram matrix if asked."""
    p = Z.column.size
    side = n if wide else p
    work = Workspace(
        square(n if wide else 0), square(n if shared else 0), square(side), panel(side),
        np.arange(p), np.empty(p, np.int64), vector(p), vector(p), vector(n), vector(n),
    )  # fmt: skip
    if shared:
        _build(work.shared, Z, work.active, np.arange(n), work.R)
    return work


@summing_step
def begin_resample(work, Z, counts, rows, split, others, in_dual, start, scale):  # type: ignore[no-untyped-def]
    """Set what all paths of a resample start from: Z's mean and factor (also as ``scale``), and its Gram matrix.

    Columns that each resample standardizes are scaled next to ``others``. Nothing is divided by a shrinkage yet.
    """
    fill(Z.mean, 0.0)
    fill(Z.factor, 1.0)
    if split:
        standardize(Z, counts)
        if len(others) > 1:  # more than an intercept
            scale_next_to(Z, counts, others, work.spread)
    for column in range(Z.column.size):
        work.active[column] = column
        scale[column] = Z.factor[column]
    if in_dual and work.shared.size == 0:
        _build(start, Z, work.active, rows, work.R)
    elif in_dual:
        for i in range(rows.size):
            for j in range(i + 1):
                start[i, j] = work.shared[rows[i], rows[j]]


@summing_step
def begin_path(work, Z, forced, shrinkage, scale):  # type: ignore[no-untyped-def]
    """All columns are active; divide the forced by their shrinkage β, for the penalty ½β²w²."""
    for column in range(forced.size):
        work.active[column] = column
        Z.factor[column] = scale[column] / shrinkage if forced[column] else scale[column]
    fill(work.w, 0.0)
    fill(work.spread, 0.0)


@summing_step
def start_gram(work, Z, rows, forced, shrinkage, start):  # type: ignore[no-untyped-def]
    """Set K for all columns, from that of its resample."""
    for i in range(padded(rows.size)):
        for j in range(i + 1):
            work.K[i, j] = start[i, j]
    if shrinkage != 1:
        _reweigh(work, Z, rows, np.flatnonzero(forced), shrinkage)
    _note_diagonal(work, rows.size)


@summing_step
def next_gram(work, Z, rows, n_active, n_dropped):  # type: ignore[no-untyped-def]
    """Take what was dropped out of K, or build it anew where that is cheaper or the difference would lose digits."""
    if n_dropped < n_active:
        add_gram(work.K, Z, work.dropped[:n_dropped], rows, -1.0, work.R)
        if _has_its_digits(work, rows.size):
            return
    _build(work.K, Z, work.active[:n_active], rows, work.R)
    _note_diagonal(work, rows.size)


@summing_step
def _note_diagonal(work, n):  # type: ignore[no-untyped-def]
    for i in range(n):
        work.diagonal[i] = work.K[i, i]


@summing_step
def _has_its_digits(work, n):  # type: ignore[no-untyped-def]
    least = 1.0
    for i in range(n):
        least = min(least, work.K[i, i] / work.diagonal[i] if work.diagonal[i] > 0 else 1.0)
    return least > LOST


@summing_step
def _reweigh(work, Z, rows, active, shrinkage):  # type: ignore[no-untyped-def]
    """Give the forced columns in K, which the shared matrix has undivided, their factor."""
    for sign in (-1.0, 1.0):
        for q in range(active.size):
            Z.factor[active[q]] *= shrinkage if sign < 0 else 1 / shrinkage
        add_gram(work.K, Z, active, rows, sign, work.R)


@summing_step
def _build(K, Z, active, rows, R):  # type: ignore[no-untyped-def]
    for i in range(padded(rows.size)):
        fill(K[i], 0.0)
    add_gram(K, Z, active, rows, 1.0, R)


@summing_step
def weigh(work, Z, n_active, rows, a):  # type: ignore[no-untyped-def]
    """Set the weights of the active columns from dual variables of these rows."""
    for i in range(rows.size):
        work.spread[rows[i]] = a[i]
    weights_of(Z, work.active[:n_active], work.spread, work.w)


@summing_step
def record(work, n_active, forced, shrinkage, smallest_size, weight):  # type: ignore[no-untyped-def]
    """Note the weights of the active columns, of X and not of Z, and that they got as far as here."""
    for q in range(n_active):
        column = work.active[q]
        weight[column] = work.w[q] / (shrinkage if forced[column] else 1.0)
        smallest_size[column] = n_active


@summing_step
def finish(work, Z, n_active, b, coef):  # type: ignore[no-untyped-def]
    """Set the coefficients of X that the weights of Z amount to; returns the intercept."""
    for q in range(n_active):
        column = work.active[q]
        coef[q] = work.w[q] * Z.factor[column]
        b -= coef[q] * Z.mean[column]
    return b


@summing_step
def cut(work, Z, n_active, n_remaining, forced, tie_ranks):  # type: ignore[no-untyped-def]
    """Keep the forced and the largest weights, ties by ``tie_ranks``; list what falls in ``dropped``."""
    active, w, sizes = work.active, work.w, work.scratch
    n_free = 0
    for q in range(n_active):
        if not forced[active[q]]:
            sizes[n_free] = _size(Z, active[q], w[q])
            n_free += 1
    n_wanted = n_remaining - (n_active - n_free)
    edge = _kth_largest(sizes[:n_free], n_wanted) if n_wanted > 0 else np.inf
    above, below = edge + TIE * abs(edge), edge - TIE * abs(edge) if n_wanted > 0 else np.inf
    for q in range(n_free):
        n_wanted -= sizes[q] > above
    last_rank = _last_tie_rank(work, Z, n_active, forced, below, above, tie_ranks, n_wanted)
    n_left, n_dropped = 0, 0
    for q in range(n_active):
        column = active[q]
        size = np.inf if forced[column] else _size(Z, column, w[q])
        tied = below <= size <= above and tie_ranks[column] <= last_rank
        if tied or size > above or forced[column]:
            active[n_left], w[n_left] = column, w[q]
            n_left += 1
        else:
            work.dropped[n_dropped] = column
            n_dropped += 1


@summing_step
def _last_tie_rank(work, Z, n_active, forced, below, above, tie_ranks, n_wanted):  # type: ignore[no-untyped-def]
    """Largest tie-break rank among the ``n_wanted`` tied features that stay; those of higher rank fall."""
    active, ranks, n_tied = work.active, work.scratch, 0
    for q in range(n_active):
        if not forced[active[q]] and below <= _size(Z, active[q], work.w[q]) <= above:
            ranks[n_tied] = -tie_ranks[active[q]]
            n_tied += 1
    if n_wanted <= 0:
        return -1.0
    return -_kth_largest(ranks[:n_tied], n_wanted) if n_wanted < n_tied else np.inf


@summing_step
def _size(Z, column, w):  # type: ignore[no-untyped-def]
    """What a column is judged by; constant ones are worse than any other."""
    return abs(w) if Z.factor[column] > 0 else -1.0


@summing_step
def _kth_largest(values, k):  # type: ignore[no-untyped-def]
    """Quickselect, in place; every pass leaves out the pivot at least."""
    low, high, target, pivot = 0, values.size, values.size - k, np.nan
    for _ in range(values.size):
        pivot = values[(low + high) // 2]
        equal = _partition(values, low, high, pivot, False)
        if target < equal:
            high = equal
            continue
        above = _partition(values, equal, high, pivot, True)
        if target < above:
            break
        low = above
    return pivot


@summing_step
def _partition(values, low, high, pivot, inclusive):  # type: ignore[no-untyped-def]
    """Move what is below (or equal to) the pivot to the front, without a branch to mispredict; returns its end."""
    end = low
    for i in range(low, high):
        value = values[i]
        values[i] = values[end]
        values[end] = value
        end += value < pivot or (inclusive and value == pivot)
    return end
