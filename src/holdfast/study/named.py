"""Selectors, estimators and perturbations by name, for the command line and its configuration files."""

import difflib
import inspect
import itertools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import (
    RFE,
    SelectKBest,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from holdfast import selectors as of
from holdfast.resampling import (
    Bootstrap,
    ComplementaryPairs,
    Folds,
    NestedFolds,
    NestedSubsamples,
    NewSeeds,
    Noise,
    Perturbation,
    Subsample,
)
from holdfast.study.data import PredictionTask
from holdfast.study.families import Candidates, candidate_name
from holdfast.study.trust import PUBLIC_CLASSES, Trust, dotted_paths, find_class

Make = Callable[..., Any]


class Named(NamedTuple):
    """Something that can be asked for by name.

    ``make`` takes parameters, the task if it serves both, and whom to trust if it looks up a base selector by name;
    ``task`` names the only one that it serves.
    """

    make: Make
    summary: str
    task: PredictionTask | None = None


def _k_best(score: tuple[Any, Any]) -> Make:
    return lambda task, k=10: SelectKBest(score[task == "regression"], k=k)


def _rfe(task: str, k: int = 10, step: float = 0.1) -> Any:
    model = Ridge() if task == "regression" else LogisticRegression(max_iter=10_000)
    return make_pipeline(StandardScaler(), RFE(model, n_features_to_select=k, step=step))


def _forest(task: str, n_estimators: int = 100) -> Any:
    make = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return make(n_estimators=n_estimators)


def _base(name: Any, task: str, trust: Trust, **parameters: Any) -> Any:
    if not isinstance(name, str):
        raise ValueError(f"Expected the name of a selector as base, got {name!r}.")
    return _made(_underscored(name, SELECTORS), SELECTORS, "selector", task, parameters, trust)


def _stability(
    task: str,
    trust: Trust,
    base: str = "lasso",
    q: int = 10,
    threshold: float = 0.75,
    resampling: Any = "pairs",
    n: int | None = None,
) -> Any:
    inner = _base(base, task, trust)
    return of.StabilitySelection(inner, q=q, threshold=threshold, resampling=resampling, n_resamples=n)


def _ensemble(
    task: str, trust: Trust, base: str = "mrmr", n_features: int = 10, n: int = 50, aggregate: Any = "mean_rank"
) -> Any:
    return of.EnsembleSelector(_base(base, task, trust), n_features, n_resamples=n, aggregate=aggregate)


def _grouped(task: str, trust: Trust, base: str = "lasso", n_features: int = 10, threshold: float = 0.8) -> Any:
    return of.GroupedSelector(_base(base, task, trust, n_features=n_features), threshold=threshold)


def _classes_only(make: Make, summary: str) -> Named:
    return Named(make, summary, "classification")


SELECTORS: dict[str, Named] = {
    "anova": _classes_only(of.AnovaF, "largest F value of an analysis of variance"),
    "variance": Named(of.Variance, "largest variance"),
    "golub": _classes_only(of.Golub, "largest signal-to-noise ratio, two classes"),
    "golub_variance": _classes_only(
        of.GolubVariance, "largest sum of signal-to-noise ratio and lambda_v times variance, two classes"
    ),
    "information_gain": _classes_only(of.InformationGain, "most information about the class, bins by the MDL rule"),
    "symmetrical_uncertainty": _classes_only(
        of.SymmetricalUncertaintyFilter, "largest symmetrical uncertainty with the class"
    ),
    "mrmr": _classes_only(of.MRMR, "much information about the class, little shared: scheme=mid, miq or mid_alpha"),
    "relieff": _classes_only(of.ReliefF, "differs between near rows of other classes; ranges=full is fast"),
    "svm_weights": _classes_only(of.LinearSVMWeights, "largest squared weight in a linear support vector machine"),
    "svm_rfe": _classes_only(of.SVMRFE, "recursive elimination by a linear support vector machine"),
    "hybrid_rfe": _classes_only(
        of.HybridRFE, "elimination that keeps n_forced features of a stable criterion, two classes"
    ),
    "correlation": Named(
        lambda k=10: SelectKBest(f_regression, k=k), "largest correlation with the target", "regression"
    ),
    "mutual_info": Named(
        _k_best((mutual_info_classif, mutual_info_regression)), "most mutual information, by nearest neighbors"
    ),
    "lasso": Named(
        of.ElasticNetPath,
        "a weight in a lasso of the given penalty_strength, or the first n_features to enter its path",
    ),
    "lasso_cv": Named(of.ElasticNetCV, "a weight in a lasso whose strength is chosen inside the split"),
    "stability_selection": Named(_stability, "often among the first q to enter a base selector's order, on halves"),
    "ensemble": Named(_ensemble, "best mean rank of a base selector over resamples"),
    "grouped": Named(_grouped, "a base selector's choice among groups of correlated features"),
    "rfe": Named(_rfe, "recursive elimination by a linear model"),
    "forest": Named(_forest, "importance in a random forest; sizes=10 by default"),
    "random": Named(of.RandomSelector, "any, at random: a baseline"),
}

ESTIMATORS: dict[str, Named] = {
    "knn": Named(
        lambda task, n_neighbors=3: make_pipeline(
            StandardScaler(), (KNeighborsRegressor if task == "regression" else KNeighborsClassifier)(n_neighbors)
        ),
        "nearest neighbors on scaled features",
    ),
    "linear": Named(
        lambda task, C=1.0: make_pipeline(
            StandardScaler(), Ridge(alpha=1 / C) if task == "regression" else LogisticRegression(C=C, max_iter=10_000)
        ),
        "ridge or logistic regression on scaled features",
    ),
    "svm": Named(
        lambda task, C=1.0, kernel="rbf": make_pipeline(
            StandardScaler(), (SVR if task == "regression" else SVC)(C=C, kernel=kernel)
        ),
        "support vector machine on scaled features",
    ),
    "forest": Named(_forest, "random forest"),
    "naive_bayes": Named(GaussianNB, "Gaussian naive Bayes", "classification"),
}

PERTURBATIONS: dict[str, type[Perturbation]] = {
    "bootstrap": Bootstrap,
    "subsample": Subsample,
    "pairs": ComplementaryPairs,
    "folds": Folds,
    "nested": NestedFolds,
    "noise": Noise,
    "shrink": NestedSubsamples,
    "reseed": NewSeeds,
}


def named_selectors(
    label: str, name: str, parameters: Mapping[str, Any], task: str, trust: Trust = PUBLIC_CLASSES
) -> dict[str, Candidates]:
    """Selectors by their name, or by the dotted path of their class; lists of values make several.

    Values of the selector's own parameters make one family, which may share its work; others make one family each.
    ``k`` is short for ``n_features``.
    """
    name = _underscored(name, SELECTORS)
    given = {_spelled(name, key): value for key, value in parameters.items()}
    sizes = given.pop("sizes", 10 if name == "forest" else None)
    grid = {key: value for key, value in given.items() if isinstance(value, list)}
    first = {key: value[0] if key in grid else value for key, value in given.items()}
    selector = _made(name, SELECTORS, "selector", task, first, trust)
    if set(grid) <= set(selector.get_params(deep=False)):
        return {label: Candidates(selector, grid, sizes)}
    settings = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    return {
        candidate_name(label, setting): Candidates(
            _made(name, SELECTORS, "selector", task, {**first, **setting}, trust), {}, sizes
        )
        for setting in settings
    }


def _underscored(name: str, known: Mapping[str, Named]) -> str:
    """A known name, also if it was written with hyphens."""
    return name.replace("-", "_") if name.replace("-", "_") in known else name


def _spelled(name: str, parameter: str) -> str:
    """The full name of a selector's parameter; k is short for n_features."""
    known = parameters_of(SELECTORS[name]) if name in SELECTORS else {}
    if parameter != "k" or "k" in known or not known:
        return parameter
    if "n_features" not in known:
        raise ValueError(
            f"k is short for n_features, the number of features to select, which {name} does not have. Its parameters "
            f"are {', '.join(known)}."
        )
    return "n_features"


def named_estimator(name: str, parameters: Mapping[str, Any], task: str, trust: Trust = PUBLIC_CLASSES) -> Any:
    """An estimator by its name, or by the dotted path of its class."""
    return _made(_underscored(name, ESTIMATORS), ESTIMATORS, "estimator", task, parameters, trust)


def named_perturbation(name: str, parameters: Mapping[str, Any], resamples: int | None) -> Perturbation:
    """A perturbation by its name."""
    make = PERTURBATIONS.get(name)
    if make is None:
        raise ValueError(
            f"Expected a perturbation ({', '.join(PERTURBATIONS)}), got {name!r}{_meant(name, PERTURBATIONS)}"
        )
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    if resamples is not None:
        if make.grows != "n":
            raise ValueError(
                f"Expected --resamples with runs that are drawn, got it with {name}; say {name}:k=…,repeats=…."
            )
        given = {"n": resamples, **given}
    return _called(make, given, f"perturbation {name}")


def _made(
    name: str, known: Mapping[str, Named], what: str, task: str, parameters: Mapping[str, Any], trust: Trust
) -> Any:
    trust.check(dotted_paths(name, parameters))
    trust.check_memory(name, parameters)
    if name in known:
        found = known[name]
        if found.task not in (None, task):
            others = [other for other, one in known.items() if one.task in (None, task)]
            raise ValueError(
                f"Expected {_a(what)} for {task} ({', '.join(others)}), got {name!r}, which is for {found.task}."
            )
        return _called(found.make, parameters, f"{what} {name}", {"task": task, "trust": trust})
    if "." not in name:
        raise ValueError(
            f"Expected {_a(what)} ({', '.join(known)}) or the dotted path of a class, got {name!r}{_meant(name, known)}"
        )
    return _called(find_class(name, _a(what), trust), parameters, f"{what} {name}")


def _a(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def _meant(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else "."


def _called(make: Make, parameters: Mapping[str, Any], what: str, given: Mapping[str, Any] = {}) -> Any:
    """Call with parameters by name, and with what is given to whoever takes it; say which there are if one is wrong."""
    takes = inspect.signature(make).parameters
    known = [name for name in takes if name not in given]
    for name in parameters:
        if name not in known:
            raise ValueError(f"Expected parameters of {what} ({', '.join(known) or 'none'}), got {name!r}.")
    needed = [name for name in known if takes[name].default is inspect.Parameter.empty and name not in parameters]
    if any(takes[name].kind not in (takes[name].VAR_POSITIONAL, takes[name].VAR_KEYWORD) for name in needed):
        raise ValueError(f"Expected {needed[0]}= for {what}, got none; it has no usual value.")
    return make(**parameters, **{name: value for name, value in given.items() if name in takes})


def parameters_of(named: Named) -> dict[str, Any]:
    """The parameters that something known by name takes, with their usual values."""
    found = inspect.signature(named.make).parameters.values()
    return {one.name: one.default for one in found if one.name not in ("task", "trust")}
