"""Values of many linear models, each on rows of its own; a value is the sum of its terms one after the other."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.jit import frozen, kernel

Floats = NDArray[np.float64]


def linear_values(
    X: ArrayLike,
    rows: ArrayLike,
    row_starts: ArrayLike,
    columns: ArrayLike,
    column_starts: ArrayLike,
    coef: ArrayLike,
    intercept: ArrayLike,
) -> Floats:
    """Return intercept + Σ coef · x of each model on each of its rows, model after model.

    Parameters
    ----------
    X
        Rows × features.
    rows, row_starts
        The rows of all models, one model after the other; where those of each begin, and the end of the last.
    columns, column_starts
        The same of their columns.
    coef
        A weight for each of ``columns``.
    intercept
        One for each model.
    """
    starts = frozen(row_starts, np.int64)
    values = np.empty(int(starts[-1]))
    _values(
        frozen(X, np.float64), frozen(rows, np.int64), starts, frozen(columns, np.int64),
        frozen(column_starts, np.int64), frozen(coef, np.float64), frozen(intercept, np.float64), values,
    )  # fmt: skip
    return values


@kernel
def _values(X, rows, row_starts, columns, column_starts, coef, intercept, values):  # type: ignore[no-untyped-def]
    for model in range(intercept.size):
        first, last = column_starts[model], column_starts[model + 1]
        for place in range(row_starts[model], row_starts[model + 1]):
            x, total = X[rows[place]], intercept[model]
            for term in range(first, last):
                total += coef[term] * x[columns[term]]
            values[place] = total
