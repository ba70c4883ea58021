"""Tallies: the result of one pass over the runs, from which value, leave-one-out values and roughness follow."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Tally(ABC):
    """Result of one pass over the runs, before undefined parts are left out or replaced."""

    chance_error: float = 0.0
    """Standard error that a simulated expectation under chance adds to the value; 0 if it is exact."""

    @abstractmethod
    def value(self, fill: float | None = None) -> float:
        """Return the value of the measure.

        Parameters
        ----------
        fill : float, optional
            Value of undefined parts; they are left out by default.

        Returns
        -------
        float
            The stability; ``nan`` if it is undefined.
        """

    @abstractmethod
    def leave_one_out(self, fill: float | None = None) -> Floats:
        """Return the values with each run left out in turn.

        Parameters
        ----------
        fill : float, optional
            Value of undefined parts; they are left out by default.

        Returns
        -------
        ndarray
            One value per run.
        """

    @property
    @abstractmethod
    def roughness(self) -> float:
        """Variance of what a pair of runs adds beyond what its two runs add each; ``nan`` if it is not known.

        It is the uncertainty that remains where leaving out single runs changes nothing.
        """

    @property
    @abstractmethod
    def undefined(self) -> str | None:
        """Which part is undefined, or None."""


@dataclass(frozen=True)
class WholeTally(Tally):
    """A single number, and how to find it without a run."""

    number: float
    find_leave_one_out: Callable[[], Floats]
    chance_error: float = 0.0
    find_roughness: Callable[[], float] = lambda: np.nan

    def value(self, fill: float | None = None) -> float:
        return fill if fill is not None and np.isnan(self.number) else self.number

    def leave_one_out(self, fill: float | None = None) -> Floats:
        values = self.find_leave_one_out()
        return values if fill is None else np.where(np.isnan(values), fill, values)

    @property
    def roughness(self) -> float:
        return self.find_roughness()

    @property
    def undefined(self) -> str | None:
        return "as here" if np.isnan(self.number) else None


@dataclass(frozen=True)
class PairTally(Tally):
    """Similarities of all ordered pairs of runs, summed per run.

    Every pair is in the sums of both its runs.

    Attributes
    ----------
    sums : ndarray
        For each run, the sum over all defined ordered pairs that it is in, at either place.
    defined : ndarray of int
        For each run, the number of these pairs.
    squares : float
        Sum over all ordered pairs of the squared similarity, taken as the mean of both orders.
    chance_error : float
        Standard error that a simulated expectation under chance adds to the value; 0 if it is exact.
    matrix : ndarray or None
        The similarities themselves, where there are few runs.

    See Also
    --------
    RowPairs : The form whose functions return a tally.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.measures import PairTally
    >>> PairTally(sums=np.array([2.0, 1.5, 1.5]), defined=np.array([4, 4, 4])).value()
    0.4166666666666667
    """

    sums: Floats
    defined: NDArray[np.int64]
    squares: float = np.nan
    chance_error: float = 0.0
    matrix: Floats | None = None  # the similarities themselves, where there are few runs

    @property
    def n_pairs(self) -> int:
        """Number of ordered pairs, defined or not."""
        return self.sums.size * (self.sums.size - 1)

    @property
    def n_undefined(self) -> int:
        """Number of ordered pairs without a value."""
        return self.n_pairs - int(self.defined.sum()) // 2

    def value(self, fill: float | None = None) -> float:
        total, pairs = self.sums.sum() / 2, self.n_pairs - self.n_undefined
        if fill is not None:
            total, pairs = total + fill * self.n_undefined, self.n_pairs
        return float(total / pairs) if pairs else np.nan

    def leave_one_out(self, fill: float | None = None) -> Floats:
        total, pairs = self.sums.sum() / 2 - self.sums, self.defined.sum() // 2 - self.defined
        if fill is not None:
            everything = (self.sums.size - 1) * (self.sums.size - 2)
            total, pairs = total + fill * (everything - pairs), np.full_like(pairs, everything)
        return np.where(pairs > 0, total / np.maximum(pairs, 1), np.nan)

    @property
    def roughness(self) -> float:
        n_runs = self.sums.size
        if n_runs < 4 or self.n_undefined:
            return np.nan
        rows = self.sums / 2
        explained = self.n_pairs / 2 * self.value() ** 2 + ((rows - rows.mean()) ** 2).sum() / (n_runs - 2)
        left = self.squares / 2 - explained
        return 0.0 if left < 1e-12 * self.squares else left / (n_runs * (n_runs - 3) / 2)  # less is rounding

    @property
    def undefined(self) -> str | None:
        if not self.n_undefined:
            return None
        return f"{self.n_undefined} of {self.n_pairs} ordered pairs of runs"


def mean_over_pairs(similarity: Floats, weights: Floats) -> Floats:
    """Return the mean similarity of resampled runs for each row of weights, pairs of copies left out."""
    similarity = similarity - np.diag(np.diag(similarity))
    together = np.einsum("bi,bi->b", weights @ similarity, weights)
    return together / (weights.sum(axis=1) ** 2 - (weights**2).sum(axis=1))


def pair_roughness(kernel: Floats) -> float:
    """Return the variance of pairs beyond what their two runs explain, from a runs × runs matrix."""
    between = kernel - np.diag(np.diag(kernel))
    rows, n_runs = between.sum(axis=1), len(between)
    return PairTally(2 * rows, np.full(n_runs, 2 * (n_runs - 1)), float((between**2).sum())).roughness
