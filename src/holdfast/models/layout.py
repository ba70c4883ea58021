"""Blocks in the one form in which kernels take them, and what kernels write in the form of predictions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import frozen
from holdfast.kernels.scaling import Cells
from holdfast.models.block import Block


def lay_out_cells(block: Block) -> Cells:
    """Lay out the arrays of a block."""
    tests, test_starts = _join(block.tests)
    columns, column_starts = _join(block.columns)
    integers = block.counts, tests, test_starts, block.splits, columns, column_starts, block.starts
    return Cells(frozen(block.X, np.float64), *(frozen(array, np.int64) for array in integers))


def _join(arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Arrays one after the other, and where each begins."""
    starts = np.zeros(len(arrays) + 1, np.int64)
    np.cumsum([array.size for array in arrays], out=starts[1:])
    return (np.concatenate(arrays) if len(arrays) else np.empty(0, np.int64)), starts


def count_columns(block: Block) -> NDArray[np.int64]:
    """Return how many columns each cell has."""
    return np.array([columns.size for columns in block.columns], dtype=np.int64)


def count_rows(block: Block) -> NDArray[np.int64]:
    """Return how many different rows each cell trains on."""
    return np.count_nonzero(block.counts, axis=1)[block.splits]


def cut_weights(block: Block, weights: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Cut the weights of all cells, one after the other, into those of each."""
    ends = np.cumsum(count_columns(block)).tolist()
    return [weights[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def smaller_sides(block: Block) -> NDArray[np.int64]:
    """Return how many columns, or rows if these are fewer, each cell has: that many weights tell a linear model."""
    return np.minimum(count_columns(block), count_rows(block))
