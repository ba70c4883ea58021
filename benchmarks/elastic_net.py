"""Elastic-net paths of bootstraps compared with the solvers that a user would pick today."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from glum import GeneralizedLinearRegressor
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.inputs import SEED
from benchmarks.timing import Row, best_time
from holdfast.kernels.elastic_net import Paths, elastic_net_paths

Floats = NDArray[np.float64]


class Problem(NamedTuple):
    """Data, one bootstrap of it, and that bootstrap as the peers need it: its unique rows, standardized by hand."""

    X: Floats
    y: Floats
    counts: Floats
    standardized: Floats
    y_drawn: Floats
    weights: Floats

    @classmethod
    def of(cls, X: Floats, y: Floats) -> "Problem":
        """Draw the bootstrap."""
        rng = np.random.default_rng(SEED)
        counts = np.bincount(rng.integers(0, y.size, y.size), minlength=y.size).astype(float)
        drawn = counts > 0
        centered = X[drawn] - counts @ X / y.size
        scale = np.sqrt(counts[drawn] @ centered**2 / y.size)
        return cls(X, y, counts[None], np.asfortranarray(centered / scale), y[drawn], counts[drawn])

    def ours(self) -> Paths:
        """Return the path of the bootstrap, standardization included."""
        return elastic_net_paths(self.X, self.y, self.counts, family="logistic")

    def __str__(self) -> str:
        return f"{self.X.shape[0]:,} × {self.X.shape[1]:,}"


def correlated(n: int, d: int, rho: float, n_relevant: int) -> Problem:
    """Equally correlated columns, of which some shift by one with the class, half of them up and half down."""
    rng = np.random.default_rng(SEED)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = np.sqrt(1 - rho) * rng.normal(size=(n, d)) + np.sqrt(rho) * rng.normal(size=(n, 1))
    X[:, :n_relevant] += y[:, None] * np.where(np.arange(n_relevant) % 2 == 0, 1, -1)
    return Problem.of(X, y)


def expression(n: int, d: int) -> Problem:
    """As of genes: twenty factors each move a seventh of the columns, forty columns shift with the class."""
    rng = np.random.default_rng(SEED)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    loadings = rng.normal(size=(20, d)) * (rng.random((20, d)) < 1 / 7)
    X = rng.normal(size=(n, 20)) @ loadings + rng.normal(size=(n, d))
    X[:, :40] += 0.6 * y[:, None]
    return Problem.of(X, y)


def elastic_net() -> Iterator[Row]:
    tall, wide = correlated(1_000, 100, 0.3, 50), expression(100, 5_000)
    what = "L1-logistic path, 100 lambdas, {}"
    yield Row(
        what=what.format(tall),
        ours=best_time(tall.ours),
        peer=best_time(partial(_liblinear, tall, tall.ours().lambdas[0])),
        peer_name="scikit-learn liblinear",
        equal="no: the peer penalizes the intercept",
        ratio_to_reach=28,
    )
    for problem, ratio in ((tall, 12), (wide, 60)):
        paths = problem.ours()
        peer = partial(_glum, problem, paths.lambdas[0])
        yield Row(
            what=what.format(problem),
            ours=best_time(problem.ours),
            peer=best_time(peer, at_least=2),
            peer_name="glum",
            equal=_same_weights(paths, peer()),
            ratio_to_reach=ratio,
        )


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {"elastic_net": elastic_net}


def _liblinear(problem: Problem, lambdas: Floats) -> None:
    model = LogisticRegression(solver="liblinear", l1_ratio=1)
    for lam in lambdas:
        model.set_params(C=1 / (lam * problem.weights.sum()))
        model.fit(problem.standardized, problem.y_drawn, sample_weight=problem.weights)


def _glum(problem: Problem, lambdas: Floats) -> Floats:
    model = GeneralizedLinearRegressor(
        family="binomial", l1_ratio=1, alpha=list(lambdas), alpha_search=True, gradient_tol=1e-8, max_iter=1_000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it will change in a later version
        model.fit(problem.standardized, (problem.y_drawn > 0).astype(float), sample_weight=problem.weights)
    return model.coef_path_


def _same_weights(paths: Paths, peer: Floats) -> str:
    """Describe the largest difference of the weights; raise if selected sets differ, or weights by over 1e-6."""
    ours = np.zeros(peer.shape)
    ours[np.repeat(np.arange(len(ours)), np.diff(paths.indptr)), paths.indices] = paths.standardized
    difference = float(np.abs(ours - peer).max())
    if ((ours != 0) != (peer != 0)).any() or difference > 1e-6:
        raise ValueError(f"Expected the peer's selected sets and weights, got some {difference:g} apart.")
    return f"yes, to {difference:.0e}"
