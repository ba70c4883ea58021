"""Whole studies, from the data to stored and scored candidates, compared with their kernels and with a plain loop.

Every time is CPU time of one thread, the least of several runs, each with a store of its own, or the median of runs
that alternate with the peer's; what a user would write instead is scikit-learn in a loop over the same resamples,
without a store.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from benchmarks.elastic_net import correlated
from benchmarks.rfe import ridge_elimination
from benchmarks.timing import Row, added_time, best_time
from holdfast.kernels.elastic_net import elastic_net_paths
from holdfast.kernels.elimination import elimination_sizes, scale_data
from holdfast.kernels.filters import centered, class_moments, golub
from holdfast.kernels.ridge import ridge_models
from holdfast.selectors import MRMR, AnovaF, ElasticNetPath, HybridRFE

Floats = NDArray[np.float64]
KEPT = 20
GRID = {"n_forced": [0, 5, 10], "C": [1.0, 0.1], "shrinkage": [1.0, 0.3]}


class Data(NamedTuple):
    """A table with two classes, and where it comes from."""

    X: Floats
    y: NDArray[np.int64]
    name: str

    def __str__(self) -> str:
        return f"{self.name}, {self.X.shape[0]} × {self.X.shape[1]:,}"


@lru_cache(maxsize=2)
def microarray(name: str, rows: int, columns: int) -> Data:
    """The most variable columns of a real data set if HOLDFAST_DATA has it, else random ones of the same shape."""
    path = Path(os.environ.get("HOLDFAST_DATA", "")) / f"{name}.parquet"
    if "HOLDFAST_DATA" in os.environ and path.exists():
        table = pd.read_parquet(path)
        y = np.unique(table.pop("target"), return_inverse=True)[1]
        X = table.to_numpy(dtype=np.float64)
        most = np.sort(np.argsort(-X.var(axis=0), kind="stable")[:columns])
        return Data(np.ascontiguousarray(X[:, most]), y.astype(np.int64), name)
    rng = np.random.default_rng(0)
    y = (np.arange(rows) % 3 == 0).astype(np.int64)
    X = rng.normal(size=(rows, columns)) @ np.diag(rng.uniform(0.5, 2, columns))
    X[:, :30] += y[:, None]
    return Data(X, y, f"as {name}")


def _timed(study: hf.Study, data: Data, times: int = 3) -> tuple[float, hf.StudyResult]:
    """Least CPU time of a study with its store, and what it found."""
    least = np.inf
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            begun = process_time()
            result = study.run(data.X, data.y, store=Path(folder) / "study.db")
            least = min(least, process_time() - begun)
    return least, result


def _check(equal: bool, what: str) -> None:
    if not equal:
        raise ValueError(f"Expected {what} as in the plain loop: a wrong answer has no speed.")


def _sets(result: hf.StudyResult, candidate: str) -> list[list[int]]:
    indices, starts = result.preferences(candidate).lists()
    return [part.tolist() for part in np.split(indices, starts[1:-1])]


# Hybrid elimination


def hybrid_rfe_study() -> Iterator[Row]:
    for name, rows, columns, resamples, most in (("alon", 62, 2000, 200, 1.4), ("chiaretti", 111, 5000, 60, 1.2)):
        data = microarray(name, rows, columns)
        selector = HybridRFE(KEPT, criterion="golub", ties="lowest")
        study = hf.Study(selectors={"rfe": hf.Candidates(selector, GRID)}, perturbation=hf.Bootstrap(resamples))
        ours, result = _timed(study, data)
        settings = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
        splits = list(hf.Bootstrap(resamples).splits(data.y))
        counts = np.array([split.weights(rows) for split in splits])
        masks = _forced(data, counts)
        alone = partial(_all_kernels, data, counts, settings, masks)
        kernels = best_time(alone, at_least=2)
        fits = len(settings) * resamples
        for candidate, selected in zip(result.candidates, alone(), strict=True):
            _check(_sets(result, candidate) == np.sort(selected, axis=1).tolist(), "the selected features")
        yield Row(
            what=f"hybrid RFE, 12 settings × {resamples} bootstraps, own model, accuracy, store, per fit; {data}",
            ours=ours / fits,
            peer=kernels / fits,
            peer_name="its kernels alone",
            equal="yes",
            ratio_to_reach=1 / most,
        )
        if name == "alon":
            yield _beside_loop(data, result, settings, splits, ours / fits)


def _forced(data: Data, counts: Any) -> dict[int, NDArray[np.bool_]]:
    """Features that each resample forces, for each number of them."""
    shared, masks = (
        centered(data.X, data.y),
        {n: np.zeros((len(counts), data.X.shape[1]), bool) for n in GRID["n_forced"]},
    )
    for resample, count in enumerate(counts):
        order = np.argsort(-golub(class_moments(shared, count)), kind="stable")
        for n, mask in masks.items():
            mask[resample, order[: int(n)]] = True
    return {int(n): mask for n, mask in masks.items()}


def _all_kernels(data: Data, counts: Any, settings: Any, masks: dict[int, NDArray[np.bool_]]) -> list[Any]:
    return [_kernels(data, counts, setting, masks) for setting in settings]


def _kernels(data: Data, counts: Any, setting: dict[str, Any], masks: dict[int, NDArray[np.bool_]]) -> Any:
    """The elimination and the final models, and nothing else."""
    labels, sizes = np.where(data.y > 0, 1.0, -1.0), elimination_sizes(data.X.shape[1], KEPT, 0.2)
    forced = {"forced": masks[setting["n_forced"]], "shrinkage": setting["shrinkage"]}
    paths = ridge_elimination(data.X, labels, counts, sizes=sizes, C=setting["C"], **forced)
    ridge_models(scale_data(data.X, "split"), labels, counts, np.arange(len(counts)), paths.selected, setting["C"])
    return paths.selected


def _beside_loop(data: Data, result: hf.StudyResult, settings: Any, splits: Any, ours: float) -> Row:
    """The same with scikit-learn's model in the loop, on the first resamples."""
    checked, begun = 2, process_time()
    scores = [[_loop_fit(data, split, setting) for split in splits[:checked]] for setting in settings]
    peer = (process_time() - begun) / (checked * len(settings))
    table = result.scores.pivot_table(index="run", columns="candidate", values="accuracy", sort=False)
    table = table.loc[[split.label for split in splits[:checked]], result.candidates]
    _check(np.allclose(table.to_numpy().T, scores, atol=1e-12), "the accuracies")
    return Row(
        what=f"the same beside scikit-learn in a loop, per fit; {data}",
        ours=ours,
        peer=peer,
        peer_name="elimination with scikit-learn lbfgs, tol 1e-10, then predict and accuracy_score",
        equal="yes",
        ratio_to_reach=65,
    )


def _loop_fit(data: Data, split: Any, setting: dict[str, Any]) -> float:
    counts = split.weights(len(data.y))
    used = counts > 0
    held = _forced(data, counts[None])[setting["n_forced"]][0]
    mean = np.average(data.X, axis=0, weights=counts)
    unit = np.sqrt(np.average((data.X - mean) ** 2, axis=0, weights=counts))
    Z, y, columns = (data.X - mean) / np.where(unit > 0, unit, 1), np.where(data.y > 0, 1.0, -1.0), np.arange(held.size)
    factor = np.where(held, 1 / setting["shrinkage"], 1.0)
    for size in elimination_sizes(data.X.shape[1], KEPT, 0.2)[1:]:
        scaled = Z[used][:, columns] * factor[columns]
        model = LogisticRegression(C=setting["C"], tol=1e-10, max_iter=100_000)
        w = np.abs(model.fit(scaled, y[used], sample_weight=counts[used]).coef_[0]) * factor[columns]
        kept = np.argsort(-np.where(held[columns], np.inf, w), kind="stable")[:size]
        columns = np.sort(columns[kept])
    model = LogisticRegression(C=setting["C"], tol=1e-10, max_iter=10_000)
    model.fit(Z[used][:, columns], y[used], sample_weight=counts[used])
    return accuracy_score(y[split.test], model.predict(Z[split.test][:, columns]))


# Filters with a model


def filter_study() -> Iterator[Row]:
    data, knn = microarray("alon", 62, 2000), KNeighborsClassifier(3)
    cases = [(knn, "3-NN", 100, 12), (knn, "3-NN", 1_000, 25), (LogisticRegression(), "logistic regression", 1_000, 15)]
    for model, name, resamples, to_reach in cases:
        study = hf.Study(selectors={"anova": AnovaF(10)}, perturbation=hf.Bootstrap(resamples), estimator=model)
        _timed(study, data, times=1)  # kernels are read
        ours, theirs = list[float](), list[float]()
        for _ in range(5 if name == "3-NN" else 1):
            seconds, result = _timed(study, data, times=1)
            begun = process_time()
            loop = _plain_loop(data, resamples, model)
            theirs.append(process_time() - begun)
            ours.append(seconds)
        exact = model if name == "3-NN" else LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000)
        expected = loop if name == "3-NN" else _plain_loop(data, resamples, exact)
        _check(np.allclose(result.scores["accuracy"], expected, atol=1e-12), "the accuracies")
        yield Row(
            what=f"ANOVA F and {name}, {resamples} bootstraps, accuracy, store, per fit; {data}",
            ours=median(ours) / resamples,
            peer=median(theirs) / resamples,
            peer_name="SelectKBest, the model and accuracy_score in a plain loop",
            equal="yes" if name == "3-NN" else "yes, to the peer with newton-cholesky, tol 1e-12",
            ratio_to_reach=to_reach,
        )


def _plain_loop(data: Data, resamples: int, model: Any) -> list[float]:
    scores = []
    for split in hf.Bootstrap(resamples).splits(data.y):
        selector = SelectKBest(f_classif, k=10).fit(data.X[split.train], data.y[split.train])
        fitted = clone(model).fit(selector.transform(data.X[split.train]), data.y[split.train])
        scores.append(accuracy_score(data.y[split.test], fitted.predict(selector.transform(data.X[split.test]))))
    return scores


def mrmr_study() -> Iterator[Row]:
    data, resamples, sizes = microarray("alon", 62, 2000), 60, list(range(5, 51, 5))
    study = hf.Study(
        selectors={"mrmr": hf.Candidates(MRMR(), sizes=sizes)},
        perturbation=hf.Bootstrap(resamples),
        estimator=KNeighborsClassifier(3),
    )
    ours, result = _timed(study, data)
    sets = {name: _sets(result, name) for name in result.candidates}
    begun = process_time()
    scores = {}
    for name, chosen in sets.items():
        scores[name] = []
        for split, columns in zip(hf.Bootstrap(resamples).splits(data.y), chosen, strict=True):
            model = KNeighborsClassifier(3).fit(data.X[np.ix_(split.train, columns)], data.y[split.train])
            predicted = model.predict(data.X[np.ix_(split.test, columns)])
            scores[name].append(accuracy_score(data.y[split.test], predicted))
    peer = process_time() - begun
    for name, values in scores.items():
        own = result.scores[result.scores["candidate"] == name]["accuracy"]
        _check(np.allclose(own, values, atol=1e-12), "the accuracies")
    yield Row(
        what=f"mRMR, ten sizes, and 3-NN, {resamples} bootstraps, accuracy, store, the whole study; {data}",
        ours=ours,
        peer=peer,
        peer_name="scikit-learn's 3-NN and accuracy_score alone on the same sets",
        equal="yes",
        ratio_to_reach=7,
    )


# Paths


def lasso_study() -> Iterator[Row]:
    problem, resamples = correlated(1_000, 100, 0.5, 10), 100
    data = Data(problem.X, (problem.y > 0).astype(np.int64), "simulated")
    strengths = np.geomspace(1, 0.001, 100).round(6).tolist()
    study = hf.Study(
        selectors={"lasso": hf.Candidates(ElasticNetPath(), {"penalty_strength": strengths})},
        perturbation=hf.Bootstrap(resamples),
        scoring="neg_log_loss",
    )
    ours, result = _timed(study, data, times=2)
    counts = np.array([split.weights(1_000) for split in hf.Bootstrap(resamples).splits(data.y)])
    labels = np.where(data.y > 0, 1.0, -1.0)
    paths = best_time(lambda: elastic_net_paths(data.X, labels, counts, family="logistic"), at_least=2)
    _check(len(result.scores) == 100 * resamples and result.scores["neg_log_loss"].notna().all(), "a score for each")
    yield Row(
        what=f"lasso, 100 penalties × {resamples} bootstraps, each a candidate, log loss, store; {data}",
        ours=ours,
        peer=paths,
        peer_name="its paths alone",
        equal="sets and losses: tests",
        ratio_to_reach=1 / 1.5,
    )


# What is not recognized


def unrecognized_study() -> Iterator[Row]:
    data, resamples = microarray("alon", 62, 2000), 300
    few = Data(np.ascontiguousarray(data.X[:, :200]), data.y, data.name)
    study = hf.Study(
        selectors={"kbest": SelectKBest(f_classif, k=10)}, perturbation=hf.Bootstrap(resamples), estimator=GaussianNB()
    )
    loop = partial(_plain_loop, few, resamples, GaussianNB())
    _, result = _timed(study, few, times=1)
    _check(np.allclose(result.scores["accuracy"], loop(), atol=1e-12), "the accuracies")
    added, noise = added_time(lambda: _timed(study, few, times=1), loop)
    yield Row(
        what=f"what a study with its store adds to a fit of SelectKBest and naive Bayes, accuracy; {few}",
        ours=added / resamples,
        noise=noise / resamples,
        peer=best_time(loop, at_least=2) / resamples,
        peer_name="the bare loop",
        equal="yes",
        limit=0.3e-3,
    )


# Processes and large stores


def two_processes() -> Iterator[Row]:
    data, resamples = microarray("alon", 62, 2000), 1500
    study = hf.Study(
        selectors={"rfe": hf.Candidates(HybridRFE(KEPT, criterion="golub", ties="lowest"), GRID)},
        perturbation=hf.Bootstrap(resamples),
    )
    times, sets = {}, {}
    for jobs in (1, 2):
        study.run(data.X, data.y, n_jobs=jobs, only=["rfe(n_forced=0, C=1, shrinkage=1)"])  # workers are up
        begun = perf_counter()
        result = study.run(data.X, data.y, n_jobs=jobs)
        times[jobs] = perf_counter() - begun
        sets[jobs] = [_sets(result, candidate) for candidate in result.candidates]
    _check(sets[1] == sets[2], "the selected features")
    yield Row(
        what=f"hybrid RFE, 12 settings × {resamples} bootstraps in two processes, by the clock; {data}",
        ours=times[2],
        peer=times[1],
        peer_name="in one",
        equal="yes",
        ratio_to_reach=1.8,
    )


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    benchmark.__name__: benchmark
    for benchmark in (
        hybrid_rfe_study, filter_study, mrmr_study, lasso_study, unrecognized_study, two_processes,
    )
}  # fmt: skip
