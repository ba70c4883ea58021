"""Hybrid elimination compared with scikit-learn's model in the same loop, per resample; GPUs have another script."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.rfe import (
    N_CHECKED,
    N_KEPT,
    N_RESAMPLES,
    SHAPES,
    Floats,
    Rows,
    lbfgs,
    ridge_elimination,
    rotated_newton,
    same,
    shared_share,
)
from benchmarks.timing import Row, best_time
from holdfast.kernels.elimination import Scale, elimination_sizes

N_FORCED, SHRINKAGE = 10, 0.3


def hybrid_rfe() -> Iterator[Row]:
    goals: dict[Scale, tuple[int, int, int]] = {
        "full": (75, 35, 18),
        "split": (55, 24, 13),
    }  # those without forced ones
    for scale, ratios in goals.items():
        for (n, d), ratio in zip(SHAPES, ratios, strict=True):
            rows, sizes = Rows.of(n, d), elimination_sizes(d, N_KEPT, 0.2)
            forced = _forced(rows)
            ours = partial(
                ridge_elimination, rows.X, rows.y, rows.counts,
                sizes=sizes, scale=scale, forced=forced, shrinkage=SHRINKAGE,
            )  # fmt: skip
            equal = same(ours(), _loop(rotated_newton, rows, forced, sizes, scale))
            share = shared_share(ours(), _loop(lbfgs, rows, forced, sizes, scale))
            yield Row(
                what=f"hybrid elimination, {N_FORCED} forced, epsilon {SHRINKAGE}, {scale!r}, {n} × {d:,} to {N_KEPT}",
                ours=best_time(ours) / N_RESAMPLES,
                peer=best_time(partial(_loop, lbfgs, rows, forced, sizes, scale), at_least=2) / N_CHECKED,
                peer_name="scikit-learn lbfgs, tol 1e-10",
                equal=f"{equal}; peer shares {share:.0%}",
                ratio_to_reach=ratio,
            )


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {"hybrid_rfe": hybrid_rfe}


def _forced(rows: Rows) -> NDArray[np.bool_]:
    """Those whose means differ most between the classes, in each resample."""
    positive, negative = (rows.counts * (rows.y == label) for label in (1, -1))
    means = [counts @ rows.X / counts.sum(axis=1, keepdims=True) for counts in (positive, negative)]
    difference = np.abs(means[0] - means[1])
    return difference >= np.sort(difference, axis=1)[:, [-N_FORCED]]


def _loop(
    fit: Callable[..., Floats], rows: Rows, forced: NDArray[np.bool_], sizes: NDArray[np.int64], scale: Scale
) -> list[tuple[Any, Floats]]:
    """Eliminate on the first resamples with any fit; returns the last columns and their weights."""
    return [_eliminated(fit, rows, m, forced[m], sizes, scale) for m in range(N_CHECKED)]


def _eliminated(
    fit: Callable[..., Floats], rows: Rows, m: int, held: NDArray[np.bool_], sizes: NDArray[np.int64], scale: Scale
) -> tuple[Any, Floats]:
    used = rows.counts[m] > 0
    X, y, weights, columns = rows.X[used], rows.y[used], rows.counts[m][used].astype(float), np.arange(held.size)
    if scale == "split":
        X = X - np.average(X, axis=0, weights=weights)
        X /= np.sqrt(np.average(X**2, axis=0, weights=weights))
    X = X / np.where(held, SHRINKAGE, 1.0)
    for size in [*sizes[1:], 0]:
        w = fit(X, y, weights)
        if size:
            kept = np.sort(np.argpartition(-np.where(held, np.inf, np.abs(w)), size)[:size])
            X, columns, held = X[:, kept], columns[kept], held[kept]
    return columns, w / np.where(held, SHRINKAGE, 1.0)
