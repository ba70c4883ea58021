"""Standard deviations of columns on the rows that models are trained on."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.jit import frozen, kernel


def training_spreads(
    columns: ArrayLike, counts: ArrayLike, splits: ArrayLike, places: ArrayLike, starts: ArrayLike
) -> NDArray[np.float64]:
    """Return the standard deviation of each column of each cell on its training rows; missing values are left out.

    Parameters
    ----------
    columns
        Columns × rows.
    counts
        How often each split trains on each row, splits × rows.
    splits
        The split of each cell.
    places, starts
        The columns of all cells, one cell after the other; where those of each begin, and the end of the last.
    """
    places = frozen(places, np.int64)
    spreads = np.empty(places.size)
    _spreads(
        frozen(columns, np.float64), frozen(counts, np.float64), frozen(splits, np.int64), places,
        frozen(starts, np.int64), spreads,
    )  # fmt: skip
    return spreads


@kernel
def _spreads(columns, counts, splits, places, starts, spreads):  # type: ignore[no-untyped-def]
    for cell in range(splits.size):
        count = counts[splits[cell]]
        for term in range(starts[cell], starts[cell + 1]):
            x, n, total, squares = columns[places[term]], 0.0, 0.0, 0.0
            for i in range(x.size):
                if count[i] > 0 and np.isfinite(x[i]):
                    n += count[i]
                    total += count[i] * x[i]
            mean = total / n if n > 0 else np.nan
            for i in range(x.size):
                if count[i] > 0 and np.isfinite(x[i]):
                    squares += count[i] * (x[i] - mean) ** 2
            spreads[term] = np.sqrt(squares / n) if n > 0 else np.nan
