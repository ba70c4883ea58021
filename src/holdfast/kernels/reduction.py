"""Fewer columns for cells that have more of them than rows, with the same products of rows.

A ridge penalty lets the weights be combinations of the training rows, so that a fit depends on products of rows alone.
A pivoted Cholesky factor T of the training rows' Gram matrix, ZZᵀ = TᵀT, has a column for each row at most; held-out
rows get their coordinates by the same elimination. Directions that add less than a share ``NEGLIGIBLE`` of the largest
row's square are left out: a penalized weight along them moves margins by no more than that.
"""

import numpy as np

from holdfast.kernels.jit import summing_step
from holdfast.kernels.scaling import Cell

NEGLIGIBLE = 1e-12


@summing_step
def reduce_columns(cell):  # type: ignore[no-untyped-def]
    """Return a cell of at most as many columns as rows; the cell itself if it has no more."""
    n, p = cell.rows.size, cell.train.shape[0]
    if p <= n:
        return cell
    T, U, rest = np.zeros((n, n)), np.zeros((n, cell.n_tests)), np.zeros(n)
    for j in range(p):
        for i in range(n):
            rest[i] += cell.train[j, i] ** 2
    rank, first = 0, 0.0
    while rank < n:
        pivot = 0
        for i in range(1, n):
            pivot = i if rest[i] > rest[pivot] else pivot
        first = rest[pivot] if rank == 0 else first
        if rest[pivot] <= NEGLIGIBLE * first:
            break
        _eliminate(cell.train, cell.train, T, T, rank, pivot, n)
        _eliminate(cell.train, cell.test, T, U, rank, pivot, cell.n_tests)
        for i in range(n):
            rest[i] = max(rest[i] - T[rank, i] ** 2, 0.0)
        rest[pivot] = 0.0
        rank += 1
    rank = max(rank, 1)
    return Cell(cell.rows, cell.counts, T[:rank], U[:rank], cell.n_tests, cell.start)


@summing_step
def _eliminate(train, others, T, out, rank, pivot, n):  # type: ignore[no-untyped-def]
    """Set the coordinates of these rows along what the pivot adds to those before it."""
    new = out[rank]
    for i in range(n):
        new[i] = 0.0
    square = 0.0
    for j in range(train.shape[0]):
        own, row = train[j, pivot], others[j]
        square += own * own
        for i in range(n):
            new[i] += own * row[i]
    for s in range(rank):
        own, row = T[s, pivot], out[s]
        square -= own * own
        for i in range(n):
            new[i] -= own * row[i]
    root = np.sqrt(square)
    for i in range(n):
        new[i] /= root
