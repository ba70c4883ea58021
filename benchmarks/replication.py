"""The cost of an answer about new studies, from the table to the sentence, compared with a loop over the halves."""

from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectKBest, f_classif

import holdfast as hf
from benchmarks.timing import Row, agreed, best_time

Floats = NDArray[np.float64]
LIMITS = {100: 3.0, 1000: 30.0}
"""Seconds that this number of split halves may take."""


def replication() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 5000)) + np.where(np.arange(5000) < 20, y[:, None], 0)
    for n_pairs, limit in LIMITS.items():
        found: list[Any] = []
        ours = best_time(lambda n=n_pairs, found=found: found.append(_answer(X, y, n)), at_least=2)
        begun = process_time()
        peer = _loop(X, y, n_pairs)
        yield Row(
            what=f"replicability of the best 20 by F test, split-half ({n_pairs:,} ×) and the control, 100 × 5,000",
            ours=ours,
            peer=process_time() - begun,
            peer_name="scikit-learn on the same halves, without control, interval or extrapolation",
            equal=agreed(found[-1].half_agreement, peer),
            limit=limit,
        )


def _answer(X: Floats, y: NDArray[np.int64], n_pairs: int) -> Any:
    return hf.replicability(hf.selectors.AnovaF(20), X, y, n_pairs=n_pairs)


def _loop(X: Floats, y: NDArray[np.int64], n_pairs: int) -> float:
    """Mean correlation of what is selected on the two halves, each fitted by itself."""
    _, *halves = hf.resampling.SplitHalves(n_pairs).splits(y)
    selected = [SelectKBest(f_classif, k=20).fit(X[half.rows], y[half.rows]).get_support() for half in halves]
    pairs = zip(selected[::2], selected[1::2], strict=True)
    return float(np.mean([np.corrcoef(first, second)[0, 1] for first, second in pairs]))


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {"replication": replication}
