"""The cost of an answer about new studies, from the table to the sentence, compared with a loop over the halves."""

from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectKBest, f_classif

import holdfast as hf
from benchmarks.timing import Row, added_time, agreed, best_time

Floats = NDArray[np.float64]
LIMITS = {100: 3.0, 1000: 30.0}
"""Seconds that this number of split halves may take."""
MOST_SHUFFLED = 3.0
"""Seconds that 40 shuffled targets with 20 halves each may take."""


def replication() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 5000)) + np.where(np.arange(5000) < 20, y[:, None], 0)
    for n_pairs, limit in LIMITS.items():
        found: list[Any] = []
        ours = best_time(lambda n=n_pairs, found=found: found.append(_answer(X, y, n, 0)), at_least=2)
        begun = process_time()
        peer = _loop(X, y, n_pairs)
        yield Row(
            what=f"replicability of the best 20 by F test, split-half ({n_pairs:,} ×), 100 × 5,000",
            ours=ours,
            peer=process_time() - begun,
            peer_name="scikit-learn on the same halves, without interval or extrapolation",
            equal=agreed(found[-1].half_agreement, peer),
            limit=limit,
        )
    found = []
    ours, noise = added_time(lambda: found.append(_answer(X, y, 50, 40)), lambda: _answer(X, y, 50, 0), times=3)
    begun = process_time()
    size = _loop_shuffled(X, y)
    yield Row(
        what="shuffled targets: 40 × 20 halves, expected false features and q, best 20 by F test, 100 × 5,000",
        ours=ours,
        noise=noise,
        peer=process_time() - begun,
        peer_name="scikit-learn on as many halves, which are only counted",
        equal=agreed(found[-1].shuffled.shuffled_size, size),
        limit=MOST_SHUFFLED,
    )


def _answer(X: Floats, y: NDArray[np.int64], n_pairs: int, n_shuffles: int) -> Any:
    return hf.replicability(hf.selectors.AnovaF(20), X, y, n_pairs=n_pairs, n_shuffles=n_shuffles)


def _loop_shuffled(X: Floats, y: NDArray[np.int64]) -> float:
    """Mean number of features that a half selects with a shuffled target, each fitted by itself."""
    rng, sizes = np.random.default_rng(1), []
    for _ in range(40):
        target = rng.permutation(y)
        _, *halves = hf.resampling.SplitHalves(10).splits(target)
        selector = SelectKBest(f_classif, k=20)
        sizes += [selector.fit(X[half.rows], target[half.rows]).get_support().sum() for half in halves]
    return float(np.mean(sizes))


def _loop(X: Floats, y: NDArray[np.int64], n_pairs: int) -> float:
    """Mean correlation of what is selected on the two halves, each fitted by itself."""
    _, *halves = hf.resampling.SplitHalves(n_pairs).splits(y)
    selected = [SelectKBest(f_classif, k=20).fit(X[half.rows], y[half.rows]).get_support() for half in halves]
    pairs = zip(selected[::2], selected[1::2], strict=True)
    return float(np.mean([np.corrcoef(first, second)[0, 1] for first, second in pairs]))


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {"replication": replication}
