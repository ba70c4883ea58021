"""Checks for measures and selectors of your own: ``check_measure`` and ``check_selector``."""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import has_fit_parameter

from holdfast.inference.estimate import stability
from holdfast.io.estimators import preserve_random_state, set_seeds
from holdfast.measures import Measure, UndefinedStabilityWarning
from holdfast.measures.forms import all_collections, random_collection
from holdfast.preferences import Kind, Preferences
from holdfast.resampling import Bootstrap, Perturbation, Samples, Subsample
from holdfast.selection import RefitsMany

__all__ = ["check_measure", "check_selector"]

TOLERANCE = 1e-9


def check_measure(measure: Measure, *, n_collections: int = 100, random_state: int = 0) -> None:
    """Check that a measure has the properties that it declares; raise an AssertionError with a counter-example if not.

    Checked on random collections of runs: the order of runs never matters; values stay within ``range``; ``properties``
    that are declared hold: defined, bounded, best exactly when all runs agree, monotone, and zero in expectation under
    random choice (by enumerating all small collections).

    Parameters
    ----------
    measure : Measure
        A measure with all its parameters set.
    n_collections : int
        Number of random collections to try.
    random_state : int
        Seed.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.testing import check_measure
    >>> check_measure(hf.MEASURES["jaccard"])
    """
    rng = np.random.default_rng(random_state)
    for _ in range(n_collections):
        runs = random_runs(measure.kind, rng, one_size=measure.one_size)
        check_order(measure, runs, rng)
        check_range(measure, runs)
        check_maximum(measure, runs)
        if measure.kind == "subset":
            one_size = measure.one_size or measure.properties.monotone == "one size"
            check_monotone(measure, *_two_collections(rng, one_size=one_size))
    if measure.kind == "subset":
        check_chance(measure, sizes=(2, 2, 2), n_features=4)
        if not measure.one_size:
            check_chance(measure, sizes=(1, 2, 3), n_features=4)


def random_runs(kind: Kind, rng: np.random.Generator, *, one_size: bool = False) -> Preferences:
    """Draw a few runs over four features: non-empty proper subsets, or rankings or weights without ties."""
    n_runs, d = int(rng.integers(2, 6)), 4
    if kind != "subset":
        order = rng.permuted(np.tile(np.arange(1.0, d + 1), (n_runs, 1)), axis=1)
        return Preferences(kind=kind, n_features=d, values=order)
    sizes = np.full(n_runs, rng.integers(1, d)) if one_size else rng.integers(1, d, n_runs)
    return random_collection(sizes, d, rng)


def stability_value(preferences: Preferences, measure: Measure) -> float:
    """Return the stability, ``nan`` if it is undefined, without a warning."""
    with warnings.catch_warnings(action="ignore", category=UndefinedStabilityWarning):
        return stability(preferences, measure).value


def check_order(measure: Measure, runs: Preferences, rng: np.random.Generator) -> None:
    """Assert that the order of the runs does not matter."""
    shuffled = runs.take(rng.permutation(runs.n_runs))
    value, again = stability_value(runs, measure), stability_value(shuffled, measure)
    same = (math.isnan(value) and math.isnan(again)) or abs(value - again) <= TOLERANCE * (1 + abs(value))
    assert same, f"{measure.name} gives {value} and {again} for the same runs in another order: {_format_runs(runs)}"


def check_range(measure: Measure, runs: Preferences) -> None:
    """Assert that the value is defined where that is declared, and within the range."""
    value, (low, high) = stability_value(runs, measure), measure.range
    if measure.properties.fully_defined == "yes" or measure.one_size:
        assert not math.isnan(value), f"{measure.name} is undefined for {_format_runs(runs)}"
    if measure.properties.bounded == "yes":
        assert math.isfinite(low), f"{measure.name} declares a bound, but its range is {measure.range}"
        assert math.isfinite(high), f"{measure.name} declares a bound, but its range is {measure.range}"
    inside = math.isnan(value) or low - TOLERANCE <= value <= high + TOLERANCE
    assert inside, f"{measure.name} is {value}, outside {measure.range}, for {_format_runs(runs)}"


def check_maximum(measure: Measure, runs: Preferences) -> None:
    """Assert that equal runs, and only they, have the best value, if that is declared."""
    if measure.properties.maximum != "yes":
        return
    equal = runs.take(np.zeros(runs.n_runs, dtype=np.int64))
    assert abs(stability_value(equal, measure) - measure.best) <= TOLERANCE, (
        f"{measure.name} is {stability_value(equal, measure)} for equal runs, not {measure.best}: {_format_runs(equal)}"
    )
    if runs != equal:
        assert abs(stability_value(runs, measure) - measure.best) > TOLERANCE, (
            f"{measure.name} has its best value {measure.best} for runs that differ: {_format_runs(runs)}"
        )


def check_monotone(measure: Measure, first: Preferences, second: Preferences) -> None:
    """Assert that of two collections of the same sizes the one with less selection variance is more stable."""
    if measure.properties.monotone in ("yes", "one size"):
        assert not violates_monotone(measure, first, second), (
            f"{measure.name} does not rise where the variance falls: {_format_runs(first)} and {_format_runs(second)}"
        )


def violates_monotone(measure: Measure, first: Preferences, second: Preferences) -> bool:
    """Whether the collection with less variance is not the more stable one."""
    less, more = sorted((first, second), key=_variance)
    if _variance(more) - _variance(less) <= TOLERANCE:
        return False
    sign = 1 if measure.higher_is_better else -1
    return sign * (stability_value(less, measure) - stability_value(more, measure)) <= TOLERANCE


def check_chance(measure: Measure, sizes: Sequence[int], n_features: int) -> None:
    """Assert that the mean over all collections of these sizes is zero, if that is declared."""
    declared = measure.properties.chance
    if declared == "yes" or (declared == "one size" and len(set(sizes)) == 1):
        mean = mean_by_chance(measure, sizes, n_features)
        assert abs(mean) <= TOLERANCE, f"{measure.name} is {mean} on average over all collections of sizes {sizes}"


def mean_by_chance(measure: Measure, sizes: Sequence[int], n_features: int) -> float:
    """Return the mean value over all collections of these sizes."""
    return float(np.mean([stability_value(runs, measure) for runs in all_collections(sizes, n_features)]))


def _two_collections(rng: np.random.Generator, *, one_size: bool) -> tuple[Preferences, Preferences]:
    n_runs, d = int(rng.integers(2, 7)), int(rng.integers(4, 10))
    sizes = np.full(n_runs, rng.integers(1, d)) if one_size else rng.integers(1, d, n_runs)
    return random_collection(sizes, d, rng), random_collection(sizes, d, rng)


def _variance(runs: Preferences) -> float:
    return float(runs.frequency @ (1 - runs.frequency))


def _format_runs(runs: Preferences) -> str:
    rows = np.split(runs.lists()[0], runs.lists()[1][1:-1]) if runs.kind == "subset" else runs.matrix()
    return str([row.tolist() for row in rows])


def check_selector(selector: Any, X: Any = None, y: Any = None, *, random_state: int = 0) -> None:
    """Check what scikit-learn and studies rely on in a selector; raise an AssertionError that says what is broken.

    Checked: parameters are stored untouched and survive cloning and fitting; the support is one bool for each feature,
    and :meth:`transform` keeps those; fits with one seed are equal; names of features are kept; names of classes do not
    matter; a constant feature is never selected before one that varies, unless the selector declares
    ``uninformative = None``; input that makes no sense raises ValueError. And where they are offered: ``sample_weight``
    is the same as repeated rows; ``refit_many`` is the same as cloning and fitting.

    Besides these checks, run those of scikit-learn (``sklearn.utils.estimator_checks.parametrize_with_checks``).

    Parameters
    ----------
    selector : estimator
        A selector with all its parameters set; not fitted.
    X, y : arrays, optional
        Data to try it on; two classes of 40 rows and 12 features, one constant and one a copy of another, by default.
    random_state : int
        Seed.

    Examples
    --------
    >>> from holdfast.selectors import AnovaF
    >>> from holdfast.testing import check_selector
    >>> check_selector(AnovaF(3))
    """
    if X is None:
        X, y = example_data(random_state)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    with warnings.catch_warnings(action="ignore"):
        check_parameters(selector, X, y)
        check_support(selector, X, y)
        check_repeatable(selector, X, y)
        check_names(selector, X, y)
        check_labels(selector, X, y)
        check_bad_input(selector, X, y)
        check_constant(selector, X, y)
        if has_fit_parameter(selector, "sample_weight"):
            check_weights(selector, X, y, random_state)
        if isinstance(selector, RefitsMany):
            for perturbation in (Bootstrap(4), Subsample(3, 0.6)):
                check_batches(selector, X, y, perturbation, random_state)


def example_data(random_state: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw two classes that differ in four of twelve features; one feature is constant, one a copy of another."""
    rng = np.random.default_rng(random_state)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 12)) + np.where(np.arange(12) < 4, y[:, None], 0)
    X[:, 5], X[:, 7] = 1.0, X[:, 2]
    return X, y


def check_parameters(selector: Any, X: NDArray[np.float64], y: NDArray[Any]) -> None:
    """Assert that parameters are stored as they were given, and that a fit leaves them alone."""
    name = type(selector).__name__
    try:
        twin = clone(selector)
    except Exception as error:
        raise AssertionError(f"{name} cannot be cloned; store parameters as they are given: {error}") from error
    assert repr(twin.get_params()) == repr(selector.get_params()), f"A clone of {name} has other parameters"
    twin = _seeded_clone(selector)
    before = repr(twin.get_params())
    fitted = twin.fit(X, y)
    assert fitted is twin, f"{name}.fit returns {type(fitted).__name__}, not the selector itself"
    assert repr(twin.get_params()) == before, f"{name}.fit changes the selector's parameters"


def check_support(selector: Any, X: NDArray[np.float64], y: NDArray[Any]) -> None:
    """Assert that the support is one bool for each feature, and that just those features are kept."""
    name = type(selector).__name__
    assert hasattr(selector, "get_support"), f"{name} has no get_support"
    fitted = _fit(selector, X, y)
    support = np.asarray(fitted.get_support())
    assert support.shape == (X.shape[1],), f"The support of {name} has shape {support.shape} for {X.shape[1]} features"
    assert support.dtype == bool, f"The support of {name} holds {support.dtype}, not bool"
    selected = np.asarray(fitted.transform(X))
    assert np.array_equal(selected, X[:, support]), f"{name}.transform does not keep the columns of the support"


def check_repeatable(selector: Any, X: NDArray[np.float64], y: NDArray[Any]) -> None:
    """Assert that fits with one seed are equal, those of one object too."""
    name, first = type(selector).__name__, _fit(selector, X, y)
    support = first.get_support()
    assert _same(support, _support(selector, X, y)), f"Two fits of {name} with one random_state differ"
    assert _same(support, first.fit(X, y).get_support()), f"{name} selects other features when it is fitted again"


def check_names(selector: Any, X: NDArray[np.float64], y: NDArray[Any]) -> None:
    """Assert that a frame gives the same selection as an array, and that names are kept."""
    name, columns = type(selector).__name__, [f"feature {column}" for column in range(X.shape[1])]
    fitted = _fit(selector, pd.DataFrame(X, columns=columns), y)
    assert _same(fitted.get_support(), _support(selector, X, y)), f"{name} selects other features of a frame"
    assert list(getattr(fitted, "feature_names_in_", ())) == columns, f"{name} does not keep feature_names_in_"
    selected = [column for column, chosen in zip(columns, fitted.get_support(), strict=True) if chosen]
    assert list(fitted.get_feature_names_out()) == selected, (
        f"{name}.get_feature_names_out does not name the selected ones"
    )


def check_labels(selector: Any, X: NDArray[np.float64], y: NDArray[Any]) -> None:
    """Assert that the names of classes do not matter."""
    if type_of_target(y) not in ("binary", "multiclass"):
        return
    labels = np.array([f"class {code:03d}" for code in np.unique(y, return_inverse=True)[1]])
    name = type(selector).__name__
    try:
        support = _support(selector, X, labels)
    except Exception as error:
        raise AssertionError(f"{name} cannot be fitted to classes that are strings: {error}") from error
    assert _same(support, _support(selector, X, y)), f"{name} selects other features if the classes have other names"


def check_bad_input(selector: Any, X: NDArray[np.float64], y: NDArray[Any]) -> None:
    """Assert that input that makes no sense raises ValueError."""
    missing = X.copy()
    missing[0, 0] = np.nan
    fitted = _fit(selector, X, y)
    if not hasattr(selector, "__sklearn_tags__") or not get_tags(selector).input_tags.allow_nan:
        _assert_refused(selector, "a missing value", lambda: _fit(selector, missing, y))
    _assert_refused(selector, "fewer labels than rows", lambda: _fit(selector, X, y[:-1]))
    _assert_refused(selector, "a single column that is not a matrix", lambda: _fit(selector, X[:, 0], y))
    _assert_refused(selector, "other columns than it was fitted to", lambda: fitted.transform(X[:, 1:]))


def check_constant(selector: Any, X: NDArray[np.float64], y: NDArray[Any]) -> None:
    """Assert that a feature that is constant, the first one here, is never selected before one that varies."""
    if getattr(selector, "uninformative", "") is None:  # as of one that chooses without a look at the features
        return
    data = X.copy()
    data[:, 0] = 1.0
    varies, support = (data != data[0]).any(axis=0), _support(selector, data, y)
    chosen, left = np.flatnonzero(support & ~varies), np.flatnonzero(~support & varies)
    assert not chosen.size or not left.size, (
        f"{type(selector).__name__} selects the constant feature {chosen[0]}, and not feature {left[0]}, which varies"
    )


def check_weights(selector: Any, X: NDArray[np.float64], y: NDArray[Any], random_state: int = 0) -> None:
    """Assert that whole weights are the same as repeated rows."""
    rng = np.random.default_rng(random_state)
    for _ in range(5):
        weights = rng.choice([0, 1, 2, 5], len(y))  # unequal enough to change what most selectors select
        weighted = _seeded_clone(selector).fit(X, y, sample_weight=weights).get_support()
        repeated = _support(selector, np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert _same(weighted, repeated), (
            f"{type(selector).__name__} selects other features by weights than by repeated rows"
        )


def check_batches(
    selector: Any, X: NDArray[np.float64], y: NDArray[Any], perturbation: Perturbation, random_state: int = 0
) -> None:
    """Assert that fitting many resamples together is the same as cloning and fitting one by one."""
    name = type(selector).__name__
    sized = isinstance(selector.get_params(deep=False).get("n_features"), int)
    settings: list[dict[str, Any]] = [{"n_features": size} for size in (1, 4)] if sized else [{}]
    splits = [
        perturbation.make_split(at, Samples.of(len(y)), random_state) for at in range(perturbation.get_n_splits())
    ]
    shared = selector.prepare(X, y, settings)
    fits = list(selector.refit_many(shared, X, y, splits, settings))
    assert [len(selections) for selections in fits] == [len(settings)] * len(splits), (
        f"{name}.refit_many does not yield one selection of each setting for each split"
    )
    for split, selections in zip(splits, fits, strict=True):
        for setting, selection in zip(settings, selections, strict=True):
            if isinstance(selection, Exception):
                raise AssertionError(f"{name}.refit_many fails on {split.label}: {selection}") from selection
            single = clone(selector).set_params(**setting)
            with preserve_random_state():
                set_seeds(single, split.seed)
                expected = np.flatnonzero(single.fit(*split.data(X, y)).get_support())
            assert selection.values.tolist() == expected.tolist(), (
                f"{name}.refit_many selects {selection.values.tolist()} on {split.label} with {setting}, a clone "
                f"fitted to its rows {expected.tolist()}"
            )
    (last,) = selector.refit_many(shared, X, y, splits[:1], settings[-1:])
    assert [selection.values.tolist() for selection in last] == [fits[0][-1].values.tolist()], (
        f"{name}.refit_many selects other features when only some of the prepared settings are requested"
    )


def _seeded_clone(selector: Any) -> Any:
    twin = clone(selector)
    for parameter in twin.get_params(deep=True):
        if parameter == "random_state" or parameter.endswith("__random_state"):
            twin.set_params(**{parameter: 0})
    return twin


def _fit(selector: Any, X: Any, y: NDArray[Any]) -> Any:
    return _seeded_clone(selector).fit(X, y)


def _support(selector: Any, X: Any, y: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(_fit(selector, X, y).get_support())


def _same(first: Any, second: Any) -> bool:
    return np.array_equal(np.asarray(first), np.asarray(second))


def _assert_refused(selector: Any, what: str, call: Callable[[], Any]) -> None:
    name = type(selector).__name__
    try:
        call()
    except ValueError:
        return
    except Exception as error:
        raise AssertionError(f"{name} raises {type(error).__name__}, not ValueError, for {what}") from error
    raise AssertionError(f"{name} takes {what} without a ValueError")
