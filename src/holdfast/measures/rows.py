"""Pairwise measures of rankings and weights: means over all pairs of runs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.measures.record import Form, Measure
from holdfast.measures.tally import Floats, PairTally, Tally, mean_over_pairs
from holdfast.preferences import Preferences

ALL_PAIRS = 100
"""Number of runs up to which the similarity of every pair is computed; beyond, only sums are."""


@dataclass(frozen=True)
class RowPairs(Form):
    """Form of measures that are the mean over all pairs of a similarity of two rankings or weightings.

    Attributes
    ----------
    sums : callable
        ``sums(matrix, **parameters)`` returns a :class:`PairTally`; it need not look at every pair.

    See Also
    --------
    PairTally : Sums of similarities per run.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.measures import RowPairs
    >>> isinstance(hf.MEASURES["spearman"].form, RowPairs)
    True
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
    with_all, similarities = np.zeros(n_runs), np.zeros((n_runs, n_runs) if n_runs <= ALL_PAIRS else (0, 0))
    for block in blocks:
        units = block * scale[:, None]
        with_all += units @ units.sum(axis=0)
        if similarities.size:
            similarities += units @ units.T
    if not similarities.size:
        return PairTally(2 * (with_all - defined), 2 * _others(defined))
    similarities[~np.outer(defined, defined)] = np.nan
    return PairTally(2 * (with_all - defined), 2 * _others(defined), _squares(similarities), matrix=similarities)


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
    similarities = np.eye(n_runs) if n_runs <= ALL_PAIRS else None
    for run in range(n_runs - 1):
        values = with_following(run)
        squares += 2 * float(values @ values)
        if similarities is not None:
            similarities[run, run + 1 :] = similarities[run + 1 :, run] = values
        known = ~np.isnan(values)
        values = np.where(known, values, 0)
        sums[run] += 2 * values.sum()
        defined[run] += 2 * known.sum()
        sums[run + 1 :] += 2 * values
        defined[run + 1 :] += 2 * known
    return PairTally(sums, defined, squares, matrix=similarities)


def _others(defined: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many defined partners each row has."""
    return np.where(defined, defined.sum() - 1, 0).astype(np.int64)
