"""Selections, weights and scores of every selector and model on three small data sets, through studies and single fits.

Numbers are written as hexadecimal floats, so that no bit is lost. Another processor or another BLAS may give other last
bits; :func:`machine` says on which one an expectation holds exactly.
"""

import warnings
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pandas as pd
import scipy
import sklearn
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

import holdfast as hf
from holdfast import selectors as of
from holdfast.models import MODELS, SCORES
from holdfast.selectors import SELECTORS
from holdfast.study.named import named_estimator, named_selectors

N_ROWS, N_COLUMNS = 60, 40
PERTURBATIONS = {
    "bootstrap": hf.Bootstrap(4),
    "subsample": hf.Subsample(3, 0.7),
    "folds": hf.Folds(3),
}
KINDS = ("two classes", "three classes", "numbers")


def make_data(kind):
    """Rows of a data set with ties, a constant, a copy and nearly a copy among its columns."""
    rng = np.random.default_rng(20)
    hidden = rng.normal(size=N_ROWS)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) * np.linspace(0.5, 3, N_COLUMNS)
    X[:, :8] += np.linspace(1.6, 0.4, 8) * hidden[:, None]
    X[:, 9], X[:, 10], X[:, 11] = 1.5, X[:, 0], X[:, 1] + 0.05 * rng.normal(size=N_ROWS)
    X[:, 12:15] = np.round(X[:, 12:15])
    noisy = hidden + 0.4 * rng.normal(size=N_ROWS)
    if kind == "numbers":
        y = 10 + 3 * noisy
    else:
        n_classes = 2 if kind == "two classes" else 3
        y = np.argsort(np.argsort(noisy)) * n_classes // N_ROWS
    return pd.DataFrame(X, columns=[f"f{column}" for column in range(N_COLUMNS)]), pd.Series(y, name="target")


def task_of(kind):
    return "regression" if kind == "numbers" else "classification"


# Selectors

NAMED = {  # smaller than the defaults where these would take long, and with a base for every task
    "stability_selection": {"base": "lasso", "q": 4, "threshold": 0.6, "n": 5},
    "ensemble": {"base": "lasso", "n_features": 4, "n": 5},
    "grouped": {"base": "lasso", "n_features": 4},
    "prefiltered": {"base": "lasso", "n_features": 4, "n": 15},
    "forest": {"n_estimators": 5, "sizes": [4]},
    "mutual_info": {"k": 4},
    "correlation": {"k": 4},
    "rfe": {"k": 4, "step": 0.3},
}
"""Parameters of registered selectors; those that are not named here take four features, or what they take."""

FOR_ANY_TARGET = {
    "Variance by sizes": hf.Candidates(of.Variance(), sizes=[1, 9], keep="weights"),
    "ElasticNetPath by penalty": hf.Candidates(of.ElasticNetPath(0.1), {"penalty_strength": [0.3, 0.1, 0.03]}),
    "ElasticNetPath by mixture": hf.Candidates(of.ElasticNetPath(n_features=5), {"l1_ratio": [0.3, 0.9]}),
    "ElasticNetPath by sizes": hf.Candidates(of.ElasticNetPath(), sizes=[2, 5]),
    "ElasticNetCV": hf.Candidates(of.ElasticNetCV(3), {"rule": ["min", "1se"]}),
    "ElasticNetCV, copies apart": of.ElasticNetCV(3, copies="apart"),
    "StabilitySelection": of.StabilitySelection(of.ElasticNetPath(), q=4, threshold=0.6, n_resamples=4),
    "EnsembleSelector": of.EnsembleSelector(of.Variance(), 4, n_resamples=4, aggregate="frequency"),
    "GroupedSelector": of.GroupedSelector(of.ElasticNetPath(n_features=4), threshold=0.7),
}
FOR_CLASSES = {
    **{
        f"{filter.__name__} by sizes": hf.Candidates(filter(), sizes=[1, 9], keep="weights")
        for filter in (
            of.AnovaF, of.InformationGain, of.SymmetricalUncertaintyFilter, of.ReliefF, of.LinearSVMWeights,
        )
    },
    "AnovaF by grid": hf.Candidates(of.AnovaF(), {"n_features": [2, 6]}),
    "AnovaF, lowest of ties": of.AnovaF(4, ties="lowest"),
    "MRMR by sizes": hf.Candidates(of.MRMR(), sizes=[1, 9], keep="order"),
    "MRMR by alpha": hf.Candidates(of.MRMR(5), {"alpha": [0.5, 1.0]}),
    "SVMRFE by sizes": hf.Candidates(of.SVMRFE(), sizes=[2, 6], keep="order"),
    "EnsembleSelector of a filter": of.EnsembleSelector(of.AnovaF(), 4, n_resamples=4, aggregate="exponential"),
    "GroupedSelector of a filter": of.GroupedSelector(of.AnovaF(4), threshold=0.7),
    "Prefiltered": of.Prefiltered(of.SVMRFE(4), of.AnovaF(12)),
}  # fmt: skip
FOR_TWO_CLASSES = {
    "Golub by sizes": hf.Candidates(of.Golub(), sizes=[1, 9], keep="weights"),
    "GolubVariance by sizes": hf.Candidates(of.GolubVariance(), sizes=[1, 9], keep="weights"),
    "GolubVariance by weight": hf.Candidates(of.GolubVariance(4, units="largest"), {"lambda_v": [0.1, 0.9]}),
    "HybridRFE by grid": hf.Candidates(
        of.HybridRFE(), {"n_features": [4, 8], "n_forced": [0, 3], "C": [0.1, 10.0], "criterion": ["variance", "golub"]}
    ),
    "HybridRFE as printed": of.HybridRFE(5, n_forced=2, fit_intercept=False, standardize=False, drop=1),
    "HybridRFE on a full scale": hf.Candidates(of.HybridRFE(5, n_forced=2, scale="full"), {"shrinkage": [0.3, 1.0]}),
    "HybridRFE apart": of.HybridRFE(5, n_forced=2, complement="independent", criterion=of.GolubVariance(lambda_v=0.5)),
    "HybridRFE by sizes": hf.Candidates(of.HybridRFE(), sizes=[3, 7], keep="order"),
}
SETTINGS = {
    "numbers": FOR_ANY_TARGET,
    "three classes": FOR_ANY_TARGET | FOR_CLASSES,
    "two classes": FOR_ANY_TARGET | FOR_CLASSES | FOR_TWO_CLASSES,
}
"""Further settings for each data set: sizes, grids, wrapped selectors, and what is stored of a fit."""


def fitting(registry, kind):
    """Names in a registry of things that suit a data set, as far as their records say."""
    unsuited = {
        "two classes": {"numbers to predict", "times and events"},
        "three classes": {"numbers to predict", "two classes", "times and events"},
        "numbers": {"classes", "two classes", "times and events"},
    }[kind]
    return [name for name, record in registry.items() if not unsuited & set(record.about.needs)]


def all_selectors(kind):
    """Every registered selector that suits a data set, and the further settings."""
    found = {}
    for name in fitting(SELECTORS, kind):
        if not SELECTORS[name].installed:
            continue
        parameters = NAMED.get(name, {"n_features": 4} if "n_features" in SELECTORS[name].parameters else {})
        found |= named_selectors(name, name, parameters, task_of(kind))
    return found | SETTINGS[kind]


def selections(kind, perturbation):
    """What each selector selects on each split, with the weights it kept, scores, warnings and failures."""
    X, y = make_data(kind)
    model = named_estimator("knn", {}, task_of(kind))
    study = hf.Study(
        selectors=all_selectors(kind), perturbation=PERTURBATIONS[perturbation], estimator=model, random_state=3
    )
    result = run_quietly(study, X, y)
    failed = result.failures.groupby("candidate")["error"].agg(lambda errors: sorted(set(errors)))
    notes = result.notes.groupby("candidate")["note"].agg(sorted)
    scores = result.scores.set_index("candidate")
    found = {}
    for candidate in result.candidates:
        told = found[candidate] = {}
        if candidate in failed:
            told["errors"] = failed[candidate]
        if candidate in notes:
            told["notes"] = notes[candidate]
        if candidate in result.finished:
            told["selected"] = selected(result.preferences(candidate))
            told["scores"] = hexes(scores.loc[[candidate], result.metrics[0]])
        keep = getattr(study.selectors[result.family(candidate)], "keep", None)
        if keep == "weights":
            told["weights of the first run"] = hexes(result.preferences(candidate, kind="weighting").matrix()[0])
        elif keep == "order":
            told["ranks"] = result.preferences(candidate, kind="ranking").matrix().tolist()
    return found


def selected(preferences):
    """The columns that each run selects."""
    indices, starts = preferences.lists()
    return [np.sort(run).tolist() for run in np.split(indices, starts[1:-1])]


def hexes(values):
    return [float(value).hex() for value in np.ravel(values)]


def run_quietly(study, X, y):
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return study.run(X, y)


# Single fits


def single_fits(kind):
    """What each registered selector knows after a plain fit to all rows."""
    X, y = make_data(kind)
    found = {}
    for name, candidates in all_selectors(kind).items():
        selector = clone(candidates.selector if isinstance(candidates, hf.Candidates) else candidates)
        if "random_state" in selector.get_params():
            selector.set_params(random_state=5)
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            try:
                fitted = selector.fit(X, y)
            except ValueError as error:
                found[name] = {"error": str(error)}
                continue
        found[name] = fitted_attributes(fitted)
    return found


def fitted_attributes(fitted):
    """The numbers among the attributes that a fit of one of our own selectors left."""
    if not type(fitted).__module__.startswith("holdfast."):
        return {}
    told = {}
    for name, value in sorted(vars(fitted).items()):
        if name.endswith("_") and name[0] != "_" and isinstance(value, (int, float, np.ndarray)):
            array = np.asarray(value)
            if array.dtype.kind == "f":
                told[name] = hexes(array)
            else:
                told[name] = (np.flatnonzero(array) if array.dtype == bool else array.ravel()).tolist()
    return told


# Models

MORE_MODELS = {
    "classification": {
        "KNeighborsClassifier, distance": make_pipeline(MinMaxScaler(), KNeighborsClassifier(4, weights="distance")),
        "LogisticRegression, balanced": LogisticRegression(C=0.3, class_weight="balanced", max_iter=5000),
        "SVC, linear": make_pipeline(StandardScaler(), SVC(kernel="linear", C=0.5)),
        "LinearSVC": make_pipeline(StandardScaler(), LinearSVC(C=0.2, random_state=0)),
        "DummyClassifier": DummyClassifier(strategy="most_frequent"),
        "GaussianNB": GaussianNB(),
    },
    "regression": {
        "KNeighborsRegressor, distance": make_pipeline(MinMaxScaler(), KNeighborsRegressor(4, weights="distance")),
        "Ridge without intercept": Ridge(alpha=2.0, fit_intercept=False),
        "LinearRegression": LinearRegression(),
        "SVR": make_pipeline(StandardScaler(), SVR(C=2.0)),
        "DummyRegressor": DummyRegressor(strategy="median"),
    },
}
"""Models beyond those that can be named: other scalers, weights and strategies."""


def all_models(kind):
    """Every registered model that suits a data set, and some more."""
    parameters = {"forest": {"n_estimators": 5}}
    task = task_of(kind)
    named = {name: named_estimator(name, parameters.get(name, {}), task) for name in fitting(MODELS, kind)}
    return named | MORE_MODELS[task]


def model_scores(kind):
    """Every score that suits a data set, of each model on selected features; and the first predictions."""
    X, y = make_data(kind)
    return {name: scores_of(model, X, y, kind) for name, model in all_models(kind).items()}


def scores_of(model, X, y, kind):
    names = [name for name in fitting(SCORES, kind) if any(hasattr(model, one) for one in SCORES[name].answers)]
    study = hf.Study(
        selectors={"lasso": hf.Candidates(of.ElasticNetPath(), sizes=[1, 5])},
        perturbation=hf.Bootstrap(3),
        estimator=model,
        scoring=names,
        random_state=1,
    )
    result = run_quietly(study, X, y)
    errors = sorted(set(result.failures["error"]))
    told = {name: hexes(result.scores[name]) for name in result.metrics}
    predicted = result.predictions(result.candidates[-1])["predicted"]
    return {**told, "predicted": hexes(predicted), "errors": errors}


# Where it was computed


def machine():
    """What last bits depend on: the processor, and the libraries that compute."""
    libraries = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn, "numba": numba}
    return {
        "processor": processor(),
        **{name: library.__version__ for name, library in libraries.items()},
        "BLAS": sorted(
            {f"{one['internal_api']} {one['version']} {one.get('architecture')}" for one in threadpool_info()}
        ),
    }


def processor():
    wanted = ("model name", "cpu family", "model")
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        return "unknown"
    pairs = [tuple(map(str.strip, line.split(":", 1))) for line in lines if ":" in line]
    return ", ".join(f"{name} {value}" for name, value in pairs if name in wanted)


PARTS = {
    **{f"selections, {kind}, {name}": partial(selections, kind, name) for kind in KINDS for name in PERTURBATIONS},
    **{f"single fits, {kind}": partial(single_fits, kind) for kind in KINDS},
    **{f"models, {kind}": partial(model_scores, kind) for kind in KINDS},
}
"""All that is recorded, by name."""

LONGER_PARTS = {"selections, two classes, folds", "selections, three classes, subsample"}
"""Those that are left out of a usual run: other parts have the same selectors, or the same perturbation."""

COMPILED_DIFFERENTLY = {"svm_weights"}
"""Of the last bits two compilations of the same kernel decide, on the same machine: about half of them each way."""
DECIDED_BY_ROUNDING = {"rfe"}
"""Selectors of scikit-learn that take one of two copies by the last bit of a coefficient, which BLAS decides."""
