"""mRMR, ReliefF and RReliefF compared with their peers.

The peers would take minutes to hours, so they are timed on a part whose share of the whole work is known: some of the
steps of mRMR, each a pass over all features, and some of the features of ReliefF, which skrebate scores one by one.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks import inputs, peers
from benchmarks.timing import Row, agreed, best_time
from holdfast.kernels.filters import correlate
from holdfast.kernels.information import Paths, correlation_path, equal_width_codes, make_sample, selection_path
from holdfast.kernels.neighbors import shared_ranges, split_ranges, weigh_features, weigh_features_by_numbers

Floats = NDArray[np.float64]


def mrmr() -> Iterator[Row]:
    n, d, n_chosen, steps = 1_000, 500, 50, 2
    X, y = inputs.classes(n, d)
    codes = equal_width_codes(X, 10)

    def ours(scheme: str = "mid", alphas: tuple[float, ...] = (0.5,)) -> Paths:
        return selection_path(make_sample(codes, np.ones(n)), y, n_chosen, scheme=scheme, alphas=alphas)

    our_time = best_time(ours)
    part = best_time(partial(peers.mrmr_mid, codes, y, steps), at_least=2)
    yield Row(
        what=f"mRMR-MID, {n:,} × {d:,}, {n_chosen} features",
        ours=our_time,
        peer=part / steps * n_chosen,
        peer_name=f"loop of mutual_info_score ({steps} steps, scaled)",
        equal=_same_path(ours(), codes, y, steps),
        ratio_to_reach=500,
    )
    alphas = tuple(np.linspace(0, 1, 10))
    every = ours("mid_alpha", alphas)
    alone = np.stack([ours("mid_alpha", (alpha,)).order[0] for alpha in alphas])
    yield Row(
        what=f"mRMR-MID_alpha, ten alphas, {n:,} × {d:,}, {n_chosen} features",
        ours=best_time(partial(ours, "mid_alpha", alphas)),
        peer=our_time,
        peer_name="one alpha",
        equal=agreed(every.order + 1, alone + 1),
        ratio_to_reach=1 / 3.5,
    )


def numbers() -> Iterator[Row]:
    """mRMR by correlation, and RReliefF, for numbers to predict."""
    n, d, n_chosen, steps = 200, 5_000, 50, 2
    X, _ = inputs.classes(n, d)
    y = X[:, :5].sum(axis=1) + np.random.default_rng(inputs.SEED).normal(size=n)
    everything, targets = np.ones(n), y[:, None]

    def ours() -> Paths:
        correlated = correlate(X, targets, everything)
        return correlation_path(correlated, correlated.relevance("f"), n_chosen, scheme="miq")

    order = ours().order[0]
    yield Row(
        what=f"mRMR by F and correlation, {n:,} × {d:,}, {n_chosen} features",
        ours=best_time(ours),
        peer=best_time(partial(peers.mrmr_fcq, X, y, steps), at_least=2) / steps * n_chosen,
        peer_name=f"f_regression and a loop of corrcoef ({steps} steps, scaled)",
        equal=agreed(order[:steps] + 1, np.array(peers.mrmr_fcq(X, y, steps)) + 1),
        ratio_to_reach=100,
    )

    def weigh() -> Floats:
        return weigh_features_by_numbers(split_ranges(X, everything), y, everything)

    yield Row(
        what=f"RReliefF, first fit, {n:,} × {d:,}",
        ours=best_time(weigh),
        peer=best_time(partial(peers.rrelief, X, y, 10), at_least=2),
        peer_name="NumPy, a row at a time",
        equal=_same_weights(weigh(), peers.rrelief(X, y, 10)),
        ratio_to_reach=8,
    )


def relief() -> Iterator[Row]:
    n, d, part = 250, 15_000, 300
    X, y = inputs.classes(n, d)
    everything = np.ones(n)
    first_columns = np.ascontiguousarray(X[:, :part])
    peer_name = f"skrebate ({part} features, scaled)"

    def first_fit(X: Floats) -> Floats:
        return weigh_features(split_ranges(X, everything), y, everything)

    yield Row(
        what=f"ReliefF, first fit, {n:,} × {d:,}",
        ours=best_time(partial(first_fit, X)),
        peer=best_time(partial(peers.skrebate_weights, first_columns, y), at_least=2) * d / part,
        peer_name=peer_name,
        equal=_same_weights(first_fit(first_columns), peers.skrebate_weights(first_columns, y)),
        ratio_to_reach=100,
    )
    shared = shared_ranges(X)
    half = np.random.default_rng(inputs.SEED).permutation(n) < n // 2
    later = partial(weigh_features, shared, y, half)
    yield Row(
        what=f"ReliefF, a later subsample of {n // 2}, ranges of the full data, {n:,} × {d:,}",
        ours=best_time(later),
        peer=best_time(partial(peers.skrebate_weights, first_columns[half], y[half]), at_least=2) * d / part,
        peer_name=peer_name,
        equal=_same_weights(later(), peers.relief(X[half] / np.ptp(X, axis=0), y[half], 10)),
        ratio_to_reach=3000,
    )


def _same_path(ours: Paths, codes: NDArray[np.uint8], y: NDArray[np.int64], steps: int) -> str:
    """Compare the first choices with the peer's, and relevance and redundancy of all choices with its information."""
    order = ours.order[0]
    agreed(order[:steps] + 1, np.array(peers.mrmr_mid(codes, y, steps)) + 1)
    V, W = peers.relevance_and_redundancy(codes, y, order.tolist())
    return agreed(np.append(ours.relevance[0], ours.redundancy[0, 1:]), np.append(V, W[1:]))


def _same_weights(ours: Floats, peer: Floats) -> str:
    return agreed(1 + ours, 1 + peer)  # weights are around 0, so relative to the largest


BENCHMARKS = {benchmark.__name__: benchmark for benchmark in (mrmr, numbers, relief)}
