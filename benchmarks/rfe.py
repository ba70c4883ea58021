"""Recursive elimination compared with scikit-learn's models in the same loop, per resample."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

from benchmarks.inputs import SEED
from benchmarks.timing import Row, best_time
from holdfast.kernels.elimination import Paths, Scale, elimination_sizes, scale_data
from holdfast.kernels.ridge import ridge_eliminations
from holdfast.kernels.ridge_targets import Family, Objective
from holdfast.kernels.svm import svm_elimination

Floats = NDArray[np.float64]
SHAPES = (60, 2000), (100, 5000), (170, 5000)
N_RESAMPLES, N_CHECKED, N_KEPT = 50, 3, 20
EXACT = 1e-6
"""How much weights may differ from the peer's, relative to the largest."""


class Rows(NamedTuple):
    """Expression-like data of two classes with bootstrap counts."""

    X: Floats
    y: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, n: int, d: int, n_classes: int = 2) -> "Rows":
        """Twenty factors that each move a seventh of the features, forty features that know the class; standardized.

        Two classes are −1 and 1, more are numbered from 0, and without classes there are numbers to predict.
        """
        rng = np.random.default_rng(SEED)
        y = np.arange(n) % n_classes if n_classes > 2 else np.where(np.arange(n) % 2 == 0, 1, -1)
        loadings = rng.normal(size=(20, d)) * (rng.random((20, d)) < 0.15)
        X = rng.normal(size=(n, 20)) @ loadings + rng.normal(size=(n, d))
        informed = rng.permutation(d)[:40]
        X[:, informed] += 0.6 * (y[:, None] == np.arange(40) % n_classes) if n_classes > 2 else 0.6 * y[:, None]
        if not n_classes:
            y = X[:, informed].mean(axis=1) + 0.1 * rng.normal(size=n)
        counts = rng.multinomial(n, np.full(n, 1 / n), N_RESAMPLES)
        return cls((X - X.mean(axis=0)) / X.std(axis=0), y, counts)


class Eliminated(NamedTuple):
    """Resamples × selected columns, and the last weight of each feature."""

    selected: NDArray[np.int64]
    weight: Floats


def ridge_elimination(
    X: Floats, y: Floats, counts: NDArray[np.int64], *, sizes: NDArray[np.int64], C: float = 1.0,
    forced: NDArray[np.bool_] | None = None, shrinkage: float = 1.0, scale: Scale = "split",
    objective: Objective | None = None,
) -> Eliminated:  # fmt: skip
    """The eliminations of one setting, as HybridRFE calls for them."""
    paths = ridge_eliminations(
        scale_data(X, scale), y, counts, [sizes], C=C, shrinkage=shrinkage,
        forced=None if forced is None else forced[None], which_forced=[0],
        run=None if objective is None else objective.run,
    )  # fmt: skip
    selected = np.nonzero(paths.smallest_size[:, 0] <= sizes[-1])[1].reshape(len(counts), -1)
    weight = paths.weight[:, 0]
    return Eliminated(selected, weight if objective is None else np.abs(weight))  # of all outputs: no sign


def ridge_rfe() -> Iterator[Row]:
    goals: dict[Scale, tuple[int, int, int]] = {"full": (75, 35, 18), "split": (55, 24, 13)}
    for scale, ratios in goals.items():
        for (n, d), ratio in zip(SHAPES, ratios, strict=True):
            rows, sizes = Rows.of(n, d), elimination_sizes(d, N_KEPT, 0.2)
            ours = partial(ridge_elimination, rows.X, rows.y, rows.counts, sizes=sizes, scale=scale)
            equal = same(ours(), _loop(rotated_newton, rows, sizes, scale))
            shared = shared_share(ours(), _loop(lbfgs, rows, sizes, scale))
            yield Row(
                what=f"ridge-logistic elimination, {scale!r}, {n} × {d:,} to {N_KEPT}",
                ours=best_time(ours) / N_RESAMPLES,
                peer=best_time(partial(_loop, lbfgs, rows, sizes, scale), at_least=2) / N_CHECKED,
                peer_name="scikit-learn lbfgs, tol 1e-10",
                equal=f"{equal}; peer shares {shared:.0%}",
                ratio_to_reach=ratio,
            )


def target_rfe() -> Iterator[Row]:
    """More classes, and numbers: the peers in the space that the rows span, where they are fastest."""
    families: dict[Family, tuple[int, Callable[..., Floats], float]] = {
        "multinomial": (4, partial(rotated, multinomial), 15),
        "rest": (4, partial(rotated, one_against_rest), 35),
        "numbers": (0, partial(rotated, ridge), 25),
    }
    for family, (n_classes, fit, ratio) in families.items():
        for n, d in SHAPES[:2]:
            rows, sizes = Rows.of(n, d, n_classes), elimination_sizes(d, N_KEPT, 0.2)
            objective = Objective(family, max(n_classes, 1))
            ours = partial(ridge_elimination, rows.X, rows.y, rows.counts, sizes=sizes, objective=objective)
            peer = partial(_loop, fit, rows, sizes, "split")
            classes = f" of {n_classes} classes" if n_classes else ""
            yield Row(
                what=f"ridge elimination, {family}{classes}, {n} × {d:,} to {N_KEPT}",
                ours=best_time(ours) / N_RESAMPLES,
                peer=best_time(peer, at_least=2) / N_CHECKED,
                peer_name="scikit-learn on the space of the rows",
                equal=same(ours(), peer()),
                ratio_to_reach=ratio,
            )


def svm_rfe() -> Iterator[Row]:
    goals: dict[Scale, tuple[float | None, ...]] = {"full": (22, 15, 8), "split": (None, None, None)}
    for scale, ratios in goals.items():
        for (n, d), ratio in zip(SHAPES, ratios, strict=True):
            rows, sizes = Rows.of(n, d), elimination_sizes(d, N_KEPT, 0.1)
            ours = partial(svm_elimination, rows.X, rows.y, rows.counts, sizes=sizes, scale=scale)
            peer = partial(_loop, _svc, rows, sizes, scale)
            yield Row(
                what=f"SVM elimination, {scale!r}, {n} × {d:,} to {N_KEPT}",
                ours=best_time(ours) / N_RESAMPLES,
                peer=best_time(peer, at_least=2) / N_CHECKED,
                peer_name="scikit-learn SVC, tol 1e-8",
                equal=same(ours(), peer()),
                ratio_to_reach=ratio,
            )


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    benchmark.__name__: benchmark for benchmark in (ridge_rfe, target_rfe, svm_rfe)
}


# Peers


def lbfgs(X: Floats, y: NDArray[np.int64], weights: Floats) -> Floats:
    return LogisticRegression(tol=1e-10, max_iter=100_000).fit(X, y, sample_weight=weights).coef_[0]


def rotated_newton(X: Floats, y: NDArray[np.int64], weights: Floats) -> Floats:
    """To the optimum, in the space that the rows span."""
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    model = LogisticRegression(solver="newton-cholesky", tol=1e-11, max_iter=200)
    return Vt.T @ model.fit(U * s, y, sample_weight=weights).coef_[0]


def rotated(fit: Callable[..., Floats], X: Floats, y: Floats, weights: Floats) -> Floats:
    """Root of the sum of squared weights of a peer's outputs, fitted in the space that the rows span."""
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    weight: Floats = np.sqrt(((np.atleast_2d(fit(U * s, y, weights)) @ Vt) ** 2).sum(axis=0))
    return weight


def multinomial(X: Floats, y: Floats, weights: Floats) -> Floats:
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=200)
    return model.fit(X, y, sample_weight=weights).coef_


def one_against_rest(X: Floats, y: Floats, weights: Floats) -> Floats:
    return np.vstack([multinomial(X, y == label, weights) for label in np.unique(y)])


def ridge(X: Floats, y: Floats, weights: Floats) -> Floats:
    return Ridge(1.0, solver="cholesky").fit(X, y, sample_weight=weights).coef_


def _svc(X: Floats, y: NDArray[np.int64], weights: Floats) -> Floats:
    return SVC(C=0.5, kernel="linear", tol=1e-8).fit(X, y, sample_weight=weights).coef_[0]


def _loop(fit: Callable[..., Floats], rows: Rows, sizes: NDArray[np.int64], scale: Scale) -> list[tuple[Any, Floats]]:
    """Eliminate on the first resamples with any fit; returns the last columns and their weights."""
    return [_eliminated(fit, rows, count, sizes, scale) for count in rows.counts[:N_CHECKED]]


def _eliminated(
    fit: Callable[..., Floats], rows: Rows, count: NDArray[np.int64], sizes: NDArray[np.int64], scale: Scale
) -> tuple[Any, Floats]:
    used = count > 0
    X, y, weights, columns = rows.X[used], rows.y[used], count[used].astype(float), np.arange(rows.X.shape[1])
    if scale == "split":
        X = X - np.average(X, axis=0, weights=weights)
        X /= np.sqrt(np.average(X**2, axis=0, weights=weights))
    for size in [*sizes[1:], 0]:
        w = fit(X, y, weights)
        if size:
            kept = np.sort(np.argpartition(-np.abs(w), size)[:size])
            X, columns = X[:, kept], columns[kept]
    return columns, w


def same(ours: Paths | Eliminated, expected: list[tuple[Any, Floats]]) -> str:
    """Return the largest difference of the weights in words; raise if it is large, or if the sets differ."""
    apart = 0.0
    for m, (columns, w) in enumerate(expected):
        if not np.array_equal(ours.selected[m], columns):
            raise ValueError(f"Expected the columns {columns} in resample {m}, got {ours.selected[m]}.")
        apart = max(apart, float(np.max(np.abs(ours.weight[m, columns] - w)) / np.max(np.abs(w))))
    if apart > EXACT:
        raise ValueError(f"Expected the weights to agree to {EXACT}, got a difference of {apart:.0e}.")
    return f"yes, to {apart:.0e}"


def shared_share(ours: Eliminated, expected: list[tuple[Any, Floats]]) -> float:
    """Share of the selected features that are the same."""
    return float(np.mean([np.isin(ours.selected[m], columns).mean() for m, (columns, _) in enumerate(expected)]))
