"""The form of measures of rankings and weights: means over pairs of rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.measures.record import Floats, Form, Measure, PairTally, Tally
from holdfast.preferences import Preferences


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

    def corrected(self, measure: Measure) -> "RowPairs":
        raise ValueError(
            f"Expected a measure of subsets to correct for chance, got {measure.name}, a measure of {measure.kind}s; "
            "cut the runs with .top(k) first."
        )


def correlation_sums(blocks: Iterable[Floats], lengths: Floats) -> PairTally:
    """Sum the correlations of every row with all others in linear time.

    Rows come as blocks of columns, already centred, with the Euclidean ``lengths`` of the whole rows: the sum of a unit
    vector's products with all others is its product with their sum. A row of length 0 has no correlation.
    """
    defined = lengths > 0
    scale = np.where(defined, 1 / np.where(defined, lengths, 1), 0)
    with_all = np.zeros(lengths.size)
    for block in blocks:
        units = block * scale[:, None]
        with_all += units @ units.sum(axis=0)
    return PairTally(2 * (with_all - defined), 2 * _others(defined))


def distance_sums(matrix: Floats) -> Floats:
    """Sum the squared Euclidean distances of every row to all others, in linear time."""
    centred = matrix - matrix.mean(axis=0)  # distances do not change, rounding does
    squares = np.einsum("ij,ij->i", centred, centred)
    return len(matrix) * squares - 2 * centred @ centred.sum(axis=0) + squares.sum()


def pair_sums(n_runs: int, with_following: Callable[[int], Floats]) -> PairTally:
    """Sum symmetric similarities, given those of run ``i`` with the runs after it; ``nan`` is undefined."""
    sums, defined = np.zeros(n_runs), np.zeros(n_runs, dtype=np.int64)
    for run in range(n_runs - 1):
        values = with_following(run)
        good = ~np.isnan(values)
        values = np.where(good, values, 0)
        sums[run] += 2 * values.sum()
        defined[run] += 2 * good.sum()
        sums[run + 1 :] += 2 * values
        defined[run + 1 :] += 2 * good
    return PairTally(sums, defined)


def _others(defined: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many defined partners each row has."""
    return np.where(defined, defined.sum() - 1, 0).astype(np.int64)
