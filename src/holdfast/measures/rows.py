"""The form of measures of rankings and weights: means over pairs of rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.measures.record import Floats, Form, Measure, PairTally, Tally, mean_over_pairs
from holdfast.preferences import Preferences

ALL_PAIRS = 100
"""Number of runs up to which the correlation of every pair is looked at; beyond, only sums are taken."""


@dataclass(frozen=True)
class RowPairs(Form):
    """The mean over all pairs of a similarity of two rows of ranks or weights.

    ``sums(matrix, **parameters)`` returns a :class:`PairTally`, so that a similarity which need not look at every pair
    does not have to.
    """

    sums: Callable[..., PairTally]
    pairwise = True

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        return [
            measure.form.sums(preferences.matrix(), **measure.parameters)  # type: ignore[attr-defined]
            for measure in measures
        ]

    def kernel(self, preferences: Preferences, measure: Measure) -> Floats | None:
        return self.sums(preferences.matrix(), **measure.parameters).matrix

    def resampled(self, preferences: Preferences, measure: Measure, weights: Floats) -> Floats:
        similarity = self.kernel(preferences, measure)
        if similarity is None:
            raise ValueError(
                f"Expected at most {ALL_PAIRS} runs to resample pairs of {measure.kind}s, got {preferences.n_runs}; "
                "use the jackknife."
            )
        return mean_over_pairs(similarity, weights)

    def corrected(self, measure: Measure) -> "RowPairs":
        raise ValueError(
            f"Expected a measure of subsets to correct for chance, got {measure.name}, a measure of {measure.kind}s; "
            "cut the runs with .top(k) first."
        )


def correlation_sums(blocks: Iterable[Floats], lengths: Floats) -> PairTally:
    """Sum the correlations of every row with all others in linear time.

    Rows come as blocks of columns, already centered, with the Euclidean ``lengths`` of the whole rows: the sum of a
    unit vector's products with all others is its product with their sum. A row of length 0 has no correlation.
    """
    defined = lengths > 0
    scale = np.where(defined, 1 / np.where(defined, lengths, 1), 0)
    n_runs = lengths.size
    with_all, every = np.zeros(n_runs), np.zeros((n_runs, n_runs) if n_runs <= ALL_PAIRS else (0, 0))
    for block in blocks:
        units = block * scale[:, None]
        with_all += units @ units.sum(axis=0)
        if every.size:
            every += units @ units.T
    if not every.size:
        return PairTally(2 * (with_all - defined), 2 * _others(defined))
    every[~np.outer(defined, defined)] = np.nan
    return PairTally(2 * (with_all - defined), 2 * _others(defined), _squares(every), matrix=every)


def _squares(matrix: Floats) -> float:
    """Sum of squares beside the diagonal."""
    return float((matrix**2).sum() - (np.diag(matrix) ** 2).sum())


def distance_sums(matrix: Floats) -> tuple[Floats, Floats | None]:
    """Sum the squared Euclidean distances of every row to all others, in linear time.

    Returns these sums, and the distances of all pairs (None beyond ``ALL_PAIRS`` rows).
    """
    centered = matrix - matrix.mean(axis=0)  # distances do not change, rounding does
    lengths = np.einsum("ij,ij->i", centered, centered)
    to_others = len(matrix) * lengths - 2 * centered @ centered.sum(axis=0) + lengths.sum()
    if len(matrix) > ALL_PAIRS:
        return to_others, None
    return to_others, lengths[:, None] + lengths[None, :] - 2 * centered @ centered.T


def pair_sums(n_runs: int, with_following: Callable[[int], Floats]) -> PairTally:
    """Sum symmetric similarities, given those of run ``i`` with the runs after it; ``nan`` is undefined."""
    sums, defined, squares = np.zeros(n_runs), np.zeros(n_runs, dtype=np.int64), 0.0
    every = np.eye(n_runs) if n_runs <= ALL_PAIRS else None
    for run in range(n_runs - 1):
        values = with_following(run)
        squares += 2 * float(values @ values)
        if every is not None:
            every[run, run + 1 :] = every[run + 1 :, run] = values
        good = ~np.isnan(values)
        values = np.where(good, values, 0)
        sums[run] += 2 * values.sum()
        defined[run] += 2 * good.sum()
        sums[run + 1 :] += 2 * values
        defined[run + 1 :] += 2 * good
    return PairTally(sums, defined, squares, matrix=every)


def _others(defined: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many defined partners each row has."""
    return np.where(defined, defined.sum() - 1, 0).astype(np.int64)
