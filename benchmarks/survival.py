"""Survival times compared with scikit-survival, where it is installed, and with definitions in NumPy.

scikit-survival is no dependency of the benchmarks: without it the lines have no peer, and are checked all the same.
"""

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from benchmarks.inputs import SEED
from benchmarks.rfe import N_KEPT, N_RESAMPLES, Eliminated, ridge_elimination
from benchmarks.rfe import Rows as Expression
from benchmarks.timing import Row, best_time
from holdfast.kernels.cox import concordance, score_tests, sort_rows
from holdfast.kernels.elastic_net import Paths, elastic_net_paths
from holdfast.kernels.elimination import elimination_sizes
from holdfast.kernels.jit import frozen
from holdfast.kernels.ridge_targets import Objective
from holdfast.models import CoxRidge
from holdfast.selectors import CoxLasso

Floats = NDArray[np.float64]
PEER = "sksurv"
HAS_PEER = importlib.util.find_spec(PEER) is not None
KKT = 1e-9
"""Largest violation of the optimality conditions, relative to lambda, at which a path counts as solved."""
N_EXACT = 3
"""So many bootstraps are compared with the peer at its optimum."""


class Survivors(NamedTuple):
    """Expression-like data with survival times, about 60 % events, and bootstrap counts."""

    X: Floats
    y: NDArray[Any]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, n: int, d: int) -> "Survivors":
        """The columns of the eliminations' benchmarks; the hazard grows with the mean of forty."""
        rows = Expression.of(n, d, 0)
        rng = np.random.default_rng(SEED)
        time, end = rng.exponential(np.exp(-3 * rows.y / rows.y.std() / 2)), rng.exponential(2, n)
        return cls(rows.X, hf.survival(np.minimum(time, end), time <= end), rows.counts)

    def drawn(self, resample: int) -> tuple[Floats, NDArray[Any]]:
        """The rows of a bootstrap, repeated and standardized, as the peer takes them."""
        rows = np.repeat(np.arange(len(self.y)), self.counts[resample])
        X = self.X[rows]
        scale = X.std(axis=0)
        return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), self.y[rows]


def cox() -> Iterator[Row]:
    """The path, the filter and the score by themselves."""
    data = Survivors.of(100, 5_000)
    options: dict[str, Any] = {"family": "cox", "lambda_min_ratio": 0.05}
    ours = partial(elastic_net_paths, data.X, data.y, data.counts[:10], **options)
    paths = ours()
    violation = max(_violation(data, paths, resample) for resample in range(10))
    if violation > 1.01 * KKT:
        raise ValueError(f"Expected a violation of at most {KKT} of lambda, got {violation:g}.")
    peer, shared = None, ""
    if HAS_PEER:
        peer = best_time(partial(_coxnet, *data.drawn(0), paths.lambdas[0]), at_least=2)
        shared = f"; peer's sets equal at {_same_sets(paths, _coxnet(*data.drawn(0), paths.lambdas[0])):.0%} of lambdas"
    yield Row(
        what="Cox lasso path of a bootstrap, 100 lambdas to 0.05, 100 × 5,000",
        ours=best_time(ours) / 10,
        peer=peer,
        peer_name="scikit-survival Coxnet, tol 1e-7",
        equal=f"KKT to {violation:.0e}{shared}",
        limit=0.018,
    )
    rows, n_checked = sort_rows(data.y), 20
    ordered, counts = frozen(data.X[rows.order], np.float64), data.counts[:, rows.order]
    slow = partial(_score_by_definition, data.X[:, :n_checked], data.y, data.counts[0])
    z = score_tests(ordered, rows, counts)[0, :n_checked]
    yield Row(
        what="Cox score test of all columns, per bootstrap, 100 × 5,000",
        ours=best_time(partial(score_tests, ordered, rows, counts)) / len(counts),
        peer=best_time(slow) / n_checked * data.X.shape[1],
        peer_name=f"the definition in NumPy ({n_checked} columns, scaled)",
        equal=_close(z, slow()),
        limit=0.00035,
    )
    sizes = elimination_sizes(data.X.shape[1], N_KEPT, 0.2)
    ours = partial(ridge_elimination, data.X, data.y, data.counts, sizes=sizes, objective=Objective("cox"))
    yield Row(
        what=f"Cox ridge elimination, 100 × 5,000 to {N_KEPT}",
        ours=best_time(ours) / N_RESAMPLES,
        equal=f"last weights {_last_weights(data, ours())}" if HAS_PEER else "in tests",
    )
    n_cells, n = 1_000, 37
    rng = np.random.default_rng(SEED)
    place, risk = rng.integers(0, 100, n_cells * n), rng.normal(size=n_cells * n)
    held_out, starts = data.y[place], np.arange(0, n_cells * n + 1, n)
    ours = partial(concordance, held_out["time"], held_out["event"], risk, starts)
    peer = partial(_concordances, held_out, risk, starts) if HAS_PEER else None
    yield Row(
        what="Harrell's C of 37 held-out rows",
        ours=best_time(ours) / n_cells,
        peer=best_time(peer, at_least=2) / n_cells if peer else None,
        peer_name="scikit-survival",
        equal=_close(ours(), peer()) if peer else "in tests",
        limit=5e-6,
    )


def cox_study() -> Iterator[Row]:
    """Two studies, of the first ten to enter with a ridge model, and of ten strengths with their own models."""
    data, strengths = Survivors.of(100, 5_000), np.geomspace(0.3, 0.1, 10).round(6).tolist()
    ridge = make_pipeline(StandardScaler(), CoxRidge())
    cases: list[tuple[str, Any, Any, Callable[..., list[float]], float | None]] = [
        ("the first ten to enter the Cox lasso, Cox ridge", CoxLasso(n_features=10), ridge, _first_ten, 8),
        (
            "Cox lasso at ten strengths, own models", hf.Candidates(CoxLasso(), {"penalty_strength": strengths}), None,
            partial(_own_models, strengths=strengths), None,
        ),
    ]  # fmt: skip
    for what, selector, model, loop, ratio in cases:
        perturbation = hf.Bootstrap(100, stratify=True)
        study = hf.Study(selectors={"lasso": selector}, perturbation=perturbation, estimator=model)
        splits, ours = list(perturbation.splits(data.y["event"])), list[float]()
        for _ in range(4):
            with tempfile.TemporaryDirectory() as folder:
                begun = process_time()
                result = study.run(data.X, data.y, store=Path(folder) / "study.db")
                ours.append(process_time() - begun)
        found = np.array([result.scores.query("candidate == @name")["concordance"] for name in result.candidates]).T
        seconds, equal = None, "in tests"
        if HAS_PEER:
            begun = process_time()
            for split in splits:
                loop(data, split)
            seconds = process_time() - begun
            expected = [loop(data, split, tol=1e-13) for split in splits[:N_EXACT]]
            equal = f"{_close(found[:N_EXACT], expected)} ({N_EXACT} bootstraps, the peer at tol 1e-13)"
        yield Row(
            what=f"{what}, 100 bootstraps, C, store, the whole study; 100 × 5,000",
            ours=median(ours[1:]),
            peer=seconds,
            peer_name="scikit-survival in a loop",
            equal=equal,
            ratio_to_reach=ratio if HAS_PEER else None,
        )


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {"cox": cox, "cox_study": cox_study}


def _coxnet(X: Floats, y: NDArray[Any], lambdas: Floats, tol: float = 1e-7) -> Any:
    """Fit the peer's path; it must have all lambdas, as it may stop without a word."""
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    model = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=lambdas, tol=tol, max_iter=10**7).fit(X, y)
    if len(model.alphas_) != len(lambdas):
        raise ValueError(f"Expected {len(lambdas)} lambdas of the peer, got {len(model.alphas_)}.")
    return model


def _own_models(data: Survivors, split: Any, strengths: list[float], tol: float = 1e-7) -> list[float]:
    """The concordances of the peer's lasso at these strengths."""
    from sksurv.metrics import concordance_index_censored

    train, test = _scaled(data, split)
    model = _coxnet(train, data.y[split.train], np.array(strengths), tol)
    held_out, scores = data.y[split.test], []
    for alpha in strengths:
        scores.append(concordance_index_censored(*_fields(held_out), model.predict(test, alpha=alpha))[0])
    return scores


def _first_ten(data: Survivors, split: Any, tol: float = 1e-7) -> list[float]:
    """The concordance of the peer's ridge model on the first ten columns of its path."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis
    from sksurv.metrics import concordance_index_censored

    (train, test), y = _scaled(data, split), data.y[split.train]
    largest = np.abs(train.T @ _slope(np.zeros(len(y)), y, np.full(len(y), 1 / len(y)))[0]).max()
    path = _coxnet(train, y, largest * np.geomspace(1, 0.05, 100), tol).coef_
    entered = np.where((path != 0).any(axis=1), (path != 0).argmax(axis=1), path.shape[1])
    weight = np.abs(path[np.arange(len(path)), np.minimum(entered, path.shape[1] - 1)])
    first = np.lexsort((-weight, entered))[:10]
    model = CoxPHSurvivalAnalysis(alpha=1.0).fit(train[:, first], y)
    held_out = data.y[split.test]
    return [concordance_index_censored(*_fields(held_out), model.predict(test[:, first]))[0]]


def _scaled(data: Survivors, split: Any) -> tuple[Floats, Floats]:
    """The rows of a split, standardized by those to train on."""
    train, test = data.X[split.train], data.X[split.test]
    mean, scale = train.mean(axis=0), train.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return (train - mean) / scale, (test - mean) / scale


def _fields(y: NDArray[Any]) -> tuple[NDArray[np.bool_], Floats]:
    return y["event"], y["time"]


def _last_weights(data: Survivors, ours: Eliminated) -> str:
    """Compare the weights of the last features with those of the peer, which does not converge on all 5,000."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    expected = []
    for resample in range(N_EXACT):
        X, y = data.drawn(resample)
        model = CoxPHSurvivalAnalysis(alpha=1.0, tol=1e-13, n_iter=200).fit(X[:, ours.selected[resample]], y)
        expected.append(np.abs(model.coef_))
    return _close([ours.weight[resample, ours.selected[resample]] for resample in range(N_EXACT)], expected)


def _concordances(y: NDArray[Any], risk: Floats, starts: NDArray[np.int64]) -> list[float]:
    from sksurv.metrics import concordance_index_censored

    parts = (slice(*ends) for ends in pairwise(starts))
    return [concordance_index_censored(y["event"][part], y["time"][part], risk[part])[0] for part in parts]


def _slope(f: Floats, y: NDArray[Any], c: Floats) -> tuple[Floats, Floats]:
    """Minus the slope of Cox's loss by the rows' linear predictors, and who is at risk with which share, by event."""
    slope, shares = c * y["event"], []
    for row in np.flatnonzero(y["event"] & (c > 0)):
        v = c * np.exp(f - f.max()) * (y["time"] >= y["time"][row])
        shares.append(v / v.sum())
        slope = slope - c[row] * shares[-1]
    return slope, np.array(shares)


def _violation(data: Survivors, paths: Paths, resample: int) -> float:
    """Largest violation of the optimality conditions along a path, relative to lambda."""
    c, n_lambdas = data.counts[resample] / data.counts[resample].sum(), paths.lambdas.shape[1]
    mean = c @ data.X
    Z = (data.X - mean) / np.sqrt(c @ (data.X - mean) ** 2)
    worst = 0.0
    for step, at in enumerate(paths.lambdas[resample]):
        part = slice(*paths.indptr[resample * n_lambdas + step :][:2])
        w = np.zeros(Z.shape[1])
        w[paths.indices[part]] = paths.standardized[part]
        gradient = Z.T @ _slope(Z @ w, data.y, c)[0]
        off = np.where(w != 0, np.abs(gradient - at * np.sign(w)), np.abs(gradient) - at)
        worst = max(worst, float(off.max()) / at)
    return worst


def _score_by_definition(X: Floats, y: NDArray[Any], counts: NDArray[np.int64]) -> Floats:
    c, z = counts.astype(float), np.empty(X.shape[1])
    slope, shares = _slope(np.zeros(len(y)), y, c)
    weights = c[np.flatnonzero(y["event"] & (c > 0))]
    for column, x in enumerate(X.T):
        z[column] = slope @ x / np.sqrt(weights @ (shares @ x**2 - (shares @ x) ** 2))
    return z


def _same_sets(paths: Paths, model: Any) -> float:
    sets = [paths.indices[slice(*paths.indptr[step : step + 2])] for step in range(model.coef_.shape[1])]
    both = zip(sets, model.coef_.T, strict=True)
    return float(np.mean([ours.tolist() == np.flatnonzero(w).tolist() for ours, w in both]))


def _close(ours: Any, peer: Any) -> str:
    apart = float(np.nanmax(np.abs(np.asarray(ours) - np.asarray(peer))))
    if not apart <= 1e-9:
        raise ValueError(f"Expected the peer's values, got some {apart:g} apart: a wrong answer has no speed.")
    return f"yes, to {apart:.0e}"
