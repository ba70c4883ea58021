"""Orders of features: ranks with ties averaged or broken at random, and the best columns of each row."""

import warnings

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def average_ranks(rows: Floats) -> Floats:
    """Rank each row, the smallest first; ties share their average rank."""
    from scipy.stats import rankdata  # half a second to import

    return rankdata(rows, method="average", axis=1)


def random_ranks(rows: Floats, rng: np.random.Generator) -> Floats:
    """Rank each row, the smallest first; ties are broken at random."""
    order = np.lexsort((rng.random(rows.shape), rows), axis=1)
    ranks = np.empty(order.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, rows.shape[1] + 1)[None, :], axis=1)
    return ranks


def best_columns(rows: Floats, k: int, *, warn: bool) -> NDArray[np.int32]:
    """Return the columns of the ``k`` smallest entries of each row, ascending; the lowest columns win ties."""
    order = np.argsort(rows, axis=1, kind="stable")
    if warn and k < rows.shape[1]:
        _warn_about_ties(np.take_along_axis(rows, order[:, k - 1 : k + 1], axis=1), k)
    return np.sort(order[:, :k], axis=1).astype(np.int32)


def _warn_about_ties(around_the_cut: Floats, k: int) -> None:
    tied = np.count_nonzero(around_the_cut[:, 0] == around_the_cut[:, 1])
    if tied:
        warnings.warn(
            f"In {tied} of {len(around_the_cut)} runs the cut after the best {k} falls among tied features; the lowest "
            "columns were taken, which makes runs look alike. Choose ties='random' or ties='lowest'.",
            UserWarning,
            stacklevel=4,
        )
