"""Selection frequencies as a profile of probabilities, which becomes steeper with the number of rows."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from holdfast.serialization import read_plain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GROWTH = 1.6
"""By this, doubling the rows stretches the logits of the features' probabilities, as a rule."""
SLOWEST, FASTEST = 1.0, 2.0
"""By this it may stretch them: not at all where many features are equally good, more where a few stand out."""
NO_AGREEMENT = 0.002
"""Agreement up to which there is no profile to find."""
STEEPEST = 4.0
MOST = 2**31
"""Features and runs are fewer than this."""


class FrequencyProfile:
    r"""Selection frequencies as logits, which stretched by c and moved are probabilities of selecting features.

    Features of equal counts are kept as one, with their number as weight.

    Parameters
    ----------
    counts : ndarray of int
        How often each feature was selected.
    n_runs : int
        In how many runs.
    weight : ndarray of int, optional
        How many features each count stands for; one each by default.
    """

    def __init__(self, counts: Ints, n_runs: int, weight: Ints | None = None) -> None:
        self.values, self.place = np.unique(counts, return_inverse=True)
        self.weight = np.bincount(self.place, weights=weight).astype(np.int64)
        self.n_runs = n_runs
        logits = np.log((self.values + 0.5) / (n_runs - self.values + 0.5))
        self.logits = logits - np.average(logits, weights=self.weight)

    def to_dict(self) -> dict[str, Any]:
        """Return how many features were selected how often, as plain values."""
        return {"n_runs": self.n_runs, "counts": self.values.tolist(), "features": self.weight.tolist()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "FrequencyProfile":
        """Return what :meth:`to_dict` wrote, without the order of the features."""
        n_runs = read_plain(int, plain["n_runs"], "n_runs")
        counts, features = (read_plain(tuple[int, ...], plain[name], name) for name in ("counts", "features"))
        if not (len(counts) == len(features) and all(0 <= count <= n_runs < MOST for count in counts)):
            raise ValueError(f"Expected counts of features from 0 to {n_runs}, got others.")
        if not all(0 < number < MOST for number in features):
            raise ValueError("Expected a positive number of features for each count, got others.")
        return cls(np.array(counts, np.int64), n_runs, np.array(features, np.int64))

    @property
    def n_features(self) -> int:
        """Number of all features."""
        return int(self.weight.sum())

    @property
    def size(self) -> float:
        """Mean number of features that a run selected."""
        return float(self.weight @ self.values / self.n_runs)

    def probabilities(self, c: float, size: float) -> Floats:
        """Probability of each different count, such that so many features are expected to be selected."""
        stretched = c * self.logits
        ends = -stretched.max() - 40, -stretched.min() + 40
        return expit(stretched + brentq(lambda move: self.weight @ expit(stretched + move) - size, *ends))

    def agreement(self, c: float, size: float) -> float:
        """Expected agreement of two independent selections with these probabilities."""
        share = size / self.n_features
        return float((self.weight @ self.probabilities(c, size) ** 2 / size - share) / (1 - share))

    def stretch_for(self, agreement: float, size: float) -> float:
        """The c that leads to this agreement; the largest one if none does."""
        if agreement <= NO_AGREEMENT:
            return 0.0
        if self.agreement(STEEPEST, size) <= agreement:
            return STEEPEST
        return float(brentq(lambda c: self.agreement(c, size) - agreement, 0.0, STEEPEST, xtol=1e-8))

    def extrapolate(
        self, agreement: float, size: float, times: float, size_then: float, growth: float = GROWTH
    ) -> float:
        """Return the agreement with so many times the rows and so many features, from the agreement now."""
        if agreement <= NO_AGREEMENT:
            return 0.0
        return self.agreement(growth ** math.log2(times) * self.stretch_for(agreement, size), size_then)

    def interpolate(self, half: float, agreement: float, times: float, size: float) -> float:
        """Return the agreement with so many times the rows, half of them to all, from that with half and with all."""
        at_half, now = self.stretch_for(half, self.size), self.stretch_for(agreement, size)
        return self.agreement(at_half * (now / at_half) ** (1 + math.log2(times)), size)

    def shrink(self, selected: Ints, share: float, size: float) -> Floats:
        """Return each feature's probability such that so large a share of the selected ones is expected again."""
        mine = np.bincount(self.place[selected], minlength=self.weight.size)

        def missing(c: float) -> float:
            return share - float(mine @ self.probabilities(c, size) / selected.size)

        if missing(0.0) <= 0:
            c = 0.0
        elif missing(STEEPEST) >= 0:
            c = STEEPEST
        else:
            c = float(brentq(missing, 0.0, STEEPEST))
        return self.probabilities(c, size)[self.place]
