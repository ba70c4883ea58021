"""The selectors that can be named. Any other scikit-learn estimator is given as an object or by its class's path."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from holdfast.declared import About, Parameter, Registry, describe_parameters
from holdfast.models.catalog import random_forest
from holdfast.models.cox import CoxRidge
from holdfast.selectors.base import AS_BASE, Serves
from holdfast.selectors.elastic_net import CoxLasso, ElasticNetCV, ElasticNetPath
from holdfast.selectors.elimination import SVMRFE, HybridRFE, LinearSVMWeights
from holdfast.selectors.filters import (
    AnovaF,
    FTest,
    Golub,
    GolubVariance,
    InformationGain,
    RandomSelector,
    ReliefF,
    RReliefF,
    SymmetricalUncertaintyFilter,
    Variance,
)
from holdfast.selectors.mrmr import MRMR
from holdfast.selectors.prefiltered import Prefiltered
from holdfast.selectors.stability_selection import StabilitySelection
from holdfast.selectors.survival import CoxConcordance, CoxScore
from holdfast.selectors.wrapping import EnsembleSelector, GroupedSelector

Make = Callable[..., Any]
Resolve = Callable[..., Any]
"""Makes the selector of a name, with parameters: what wrappers need for their base."""


@dataclass(frozen=True, kw_only=True)
class NamedSelector:
    """A selector that can be named.

    Attributes
    ----------
    about : About
        Its name, and what is said of it; ``methods`` is a noun phrase ("the lasso").
    make : callable
        Takes parameters and returns a selector. If it has a parameter ``task`` it gets the task; if it has one
        ``resolve``, a function that makes the selector of a name.
    classes : tuple of type
        Classes of fitted selectors that are described by these words, wherever they come from.
    sizes : int, optional
        To how many features its order is cut if nothing else is asked for.
    package : str
        The package that it needs and that holdfast does not depend on; empty if there is none.
    serves : Serves or None
        What it does for each kind of target, if that is declared.

    See Also
    --------
    holdfast.declared.About : The words.

    Examples
    --------
    >>> from holdfast.selectors import SELECTORS
    >>> SELECTORS["mrmr"].about.reference
    'peng2005'
    >>> SELECTORS["forest"].parameters["n_estimators"].meaning
    'Number of trees.'
    """

    about: About
    make: Callable[..., Any]
    classes: tuple[type, ...] = ()
    sizes: int | None = None
    package: str = ""
    serves: Serves | None = None

    @property
    def installed(self) -> bool:
        """Whether the package that it needs is there."""
        return not self.package or importlib.util.find_spec(self.package) is not None

    @property
    def parameters(self) -> dict[str, Parameter]:
        """What users may set, with defaults and meanings."""
        return describe_parameters(self.make, hidden=("task", "resolve"))


class SelectorRegistry(Registry[NamedSelector]):
    """Selectors by name. A class with an ``about`` registers itself: ``@SELECTORS.add``."""

    def add(self, thing: Any) -> Any:
        """Register a :class:`NamedSelector`, or a class that has an ``about``; return it."""
        if isinstance(thing, type):
            about, serves = thing.about, getattr(thing, "serves", None)  # type: ignore[attr-defined]
            super().add(NamedSelector(about=about, make=thing, classes=(thing,), serves=serves))
            return thing
        return super().add(thing)

    def describe(self, selector: Any) -> About:
        """Return how a selector is described: by its ``about``, its class's record, or the name of its class."""
        if isinstance(selector, Pipeline):
            steps = [self.describe(step) for _, step in selector.steps if isinstance(step, BaseEstimator)]
            named = [about for about in steps if about.name in self]
            return named[-1] if named else steps[-1]
        about = getattr(selector, "about", None)
        if isinstance(about, About):
            return about
        records = [record.about for record in self.values() if type(selector) in record.classes]
        name = type(selector).__name__
        return records[0] if records else About(name=name, summary=name, methods=name)


SELECTORS = SelectorRegistry("selector", where="holdfast.selectors.SELECTORS")
"""All selectors that can be named."""


for _selector in (
    AnovaF, FTest, Variance, Golub, GolubVariance, InformationGain, SymmetricalUncertaintyFilter, MRMR, ReliefF,
    RReliefF, LinearSVMWeights, SVMRFE, HybridRFE, CoxScore, CoxConcordance, CoxLasso,
):  # fmt: skip
    SELECTORS.add(_selector)


def _declare(
    about: About, *classes: type, serves: Serves, sizes: int | None = None, package: str = ""
) -> Callable[[Make], Make]:
    """Add what makes a selector to the selectors, under this description; it makes objects of these classes."""
    served = replace(about, needs=serves.needs)

    def add(make: Make) -> Make:
        SELECTORS.add(
            NamedSelector(about=served, make=make, classes=classes, sizes=sizes, package=package, serves=serves)
        )
        return make

    return add


@_declare(About(name="correlation", label="Correlation", summary="Largest correlation with the target.",
                methods="correlation with the target"),
          serves=Serves(numbers="absolute correlation"))  # fmt: skip
def correlation(k: int = 10) -> SelectKBest:
    """Make a filter by correlation with the target.

    Parameters
    ----------
    k : int
        Number of features to select.
    """
    return SelectKBest(f_regression, k=k)


@_declare(About(name="mutual_info", label="Mutual information", methods="mutual information",
                summary="Most mutual information, by nearest neighbors."),
          serves=Serves(*["information by near rows"] * 3))  # fmt: skip
def mutual_information(task: str, k: int = 10) -> SelectKBest:
    """Make a filter by mutual information with the target, estimated by nearest neighbors.

    Parameters
    ----------
    task : str
        What is predicted.
    k : int
        Number of features to select.
    """
    return SelectKBest(mutual_info_regression if task == "regression" else mutual_info_classif, k=k)


SELECTORS.add(ElasticNetPath)
SELECTORS.add(ElasticNetCV)


@_declare(StabilitySelection.about, StabilitySelection, serves=AS_BASE)
def stability_selection(
    task: str,
    resolve: Resolve,
    base: str = "lasso",
    q: int = 10,
    threshold: float = 0.75,
    resampling: Any = "pairs",
    n: int | None = None,
) -> StabilitySelection:
    """Make Stability Selection around a selector of a name.

    Parameters
    ----------
    task : str
        What is predicted.
    resolve : callable
        Makes the selector of a name.
    base : str
        Name of the selector that is fitted to halves.
    q : int
        How many features each half selects.
    threshold : float
        Share of halves that must select a feature.
    resampling : {"pairs", "subsamples", "bootstrap"}
        How rows are drawn.
    n : int, optional
        Number of pairs, subsamples or bootstrap samples.
    """
    return StabilitySelection(resolve(base), q=q, threshold=threshold, resampling=resampling, n_resamples=n)


@_declare(EnsembleSelector.about, EnsembleSelector, serves=AS_BASE)
def ensemble(
    task: str, resolve: Resolve, base: str = "mrmr", n_features: int = 10, n: int = 50, aggregate: Any = "mean_rank"
) -> EnsembleSelector:
    """Make an ensemble around a selector of a name.

    Parameters
    ----------
    task : str
        What is predicted.
    resolve : callable
        Makes the selector of a name.
    base : str
        Name of the selector that is fitted to resamples.
    n_features : int
        Number of features to select.
    n : int
        Number of resamples.
    aggregate : {"mean_rank", "frequency", "exponential"}
        How the selections are put together.
    """
    return EnsembleSelector(resolve(base), n_features, n_resamples=n, aggregate=aggregate)


@_declare(GroupedSelector.about, GroupedSelector, serves=AS_BASE)
def grouped(
    task: str, resolve: Resolve, base: str = "lasso", n_features: int = 10, threshold: float = 0.8
) -> GroupedSelector:
    """Make a selector of groups around a selector of a name.

    Parameters
    ----------
    task : str
        What is predicted.
    resolve : callable
        Makes the selector of a name.
    base : str
        Name of the selector that chooses among groups.
    n_features : int
        Number of groups to select.
    threshold : float
        Correlation from which features form one group.
    """
    return GroupedSelector(resolve(base, n_features=n_features), threshold=threshold)


@_declare(Prefiltered.about, Prefiltered, serves=AS_BASE)
def prefiltered(
    task: str, resolve: Resolve, base: str = "mrmr", n_features: int = 10, filter: str = "variance", n: int = 1000
) -> Prefiltered:
    """Make a selector of a name that chooses among the best features of a filter.

    Parameters
    ----------
    task : str
        What is predicted.
    resolve : callable
        Makes the selector of a name.
    base : str
        Name of the selector that chooses among the features left.
    n_features : int
        Number of features to select.
    filter : str
        Name of the filter.
    n : int
        Number of features that the filter leaves.
    """
    return Prefiltered(resolve(base, n_features=n_features), resolve(filter, n_features=n))


@_declare(About(name="rfe", label="Recursive elimination", summary="Recursive elimination by a linear model.",
                methods="recursive feature elimination", reference="guyon2002"), RFE,
          serves=Serves("logistic", "multinomial", "ridge regression", "Cox's model, ridge"))  # fmt: skip
def linear_rfe(task: str, k: int = 10, step: float = 0.1) -> Pipeline:
    """Make scikit-learn's recursive feature elimination by a linear model on scaled features.

    Parameters
    ----------
    task : str
        What is predicted.
    k : int
        Number of features to select.
    step : float
        Number, or share of all features, that each step drops.
    """
    models = {"classification": LogisticRegression(max_iter=10_000), "regression": Ridge(), "survival": CoxRidge()}
    return make_pipeline(StandardScaler(), RFE(models[task], n_features_to_select=k, step=step))


_declare(
    About(name="forest", label="Random forest", summary="Importance in a random forest; sizes=10 by default.",
          methods="importance in a random forest", reference="breiman2001"),
    RandomForestClassifier, RandomForestRegressor, sizes=10, serves=Serves(*["importance in trees"] * 3),
)(random_forest)  # fmt: skip


def _import(package: str, install: str) -> Any:
    """Import a package that is no dependency, or raise how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ValueError(f"This selector needs the package {install}: pip install {install}.") from None


def _declare_boosted(package: str, label: str, importance: str, estimator: str, **options: Any) -> None:
    """Add a selector by the importances in boosted trees of another package."""

    def boosted(task: str, k: int = 10, n_estimators: int = 100) -> SelectFromModel:
        """Make a selector by the importance of features in boosted trees.

        Parameters
        ----------
        task : str
            What is predicted.
        k : int
            Number of features to select.
        n_estimators : int
            Number of trees.
        """
        kind = "Regressor" if task == "regression" else "Classifier"
        make = getattr(_import(package, package), f"{estimator}{kind}")
        return SelectFromModel(make(n_estimators=n_estimators, **options), threshold=-np.inf, max_features=k)

    about = About(
        name=package, label=label, summary=f"{importance} {label}, if it is installed.",
        methods=f"{importance[0].lower()}{importance[1:]} {label}"
    )  # fmt: skip
    _declare(about, package=package, serves=Serves(*["importance in trees"] * 3))(boosted)


_declare_boosted(
    "lightgbm", "LightGBM", "Gain in boosted trees of", "LGBM", importance_type="gain", n_jobs=1, verbose=-1
)
_declare_boosted("xgboost", "XGBoost", "Gain in boosted trees of", "XGB", importance_type="gain", n_jobs=1)
_declare_boosted(
    "catboost", "CatBoost", "Importance in boosted trees of", "CatBoost",
    thread_count=1, verbose=False, allow_writing_files=False,
)  # fmt: skip


@_declare(About(name="boruta", label="Boruta", summary="Better than shuffled copies in a forest, if installed.",
                methods="Boruta"), package="boruta",
          serves=Serves(*["importance in trees, compared with shuffled copies"] * 3))  # fmt: skip
def boruta(task: str, max_iter: int = 100, perc: int = 100) -> Any:
    """Make Boruta around a random forest; it decides itself how many features it selects.

    Parameters
    ----------
    task : str
        What is predicted.
    max_iter : int
        Number of forests.
    perc : int
        Percentile of the importances of shuffled copies that a feature has to exceed.
    """
    package = _import("boruta", "Boruta")
    forest = (RandomForestRegressor if task == "regression" else RandomForestClassifier)(max_depth=5)
    return package.BorutaPy(forest, n_estimators="auto", max_iter=max_iter, perc=perc)


SELECTORS.add(RandomSelector)
