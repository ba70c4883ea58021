"""Checks for people who add their own measure: that what it declares is true."""

import math
import warnings
from collections.abc import Sequence

import numpy as np

from holdfast.inference.estimate import stability
from holdfast.measures import Measure, UndefinedStabilityWarning
from holdfast.measures.chance import all_collections, random_collection
from holdfast.preferences import Kind, Preferences

TOLERANCE = 1e-9


def check_measure(measure: Measure, *, n_collections: int = 100, random_state: int = 0) -> None:
    """Raise an AssertionError, with the counter-example, if a measure breaks what it declares.

    Checked on random collections of runs: the order of runs never matters; values stay within ``range``; ``properties``
    that are declared hold: defined, bounded, best exactly when all runs agree, monotone, and zero in expectation under
    random choice (by enumerating all small collections).

    Parameters
    ----------
    measure : Measure
        With all its parameters set.
    n_collections : int
        How many random collections are tried.
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


def value_of(preferences: Preferences, measure: Measure) -> float:
    """Return the value, ``nan`` if it is undefined, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedStabilityWarning)
        return stability(preferences, measure).value


def check_order(measure: Measure, runs: Preferences, rng: np.random.Generator) -> None:
    """Assert that the order of the runs does not matter."""
    shuffled = runs.take(rng.permutation(runs.n_runs))
    one, two = value_of(runs, measure), value_of(shuffled, measure)
    same = (math.isnan(one) and math.isnan(two)) or abs(one - two) <= TOLERANCE * (1 + abs(one))
    assert same, f"{measure.name} gives {one} and {two} for the same runs in another order: {_shown(runs)}"


def check_range(measure: Measure, runs: Preferences) -> None:
    """Assert that the value is defined where that is declared, and within the range."""
    value, (low, high) = value_of(runs, measure), measure.range
    if measure.properties.fully_defined == "yes" or measure.one_size:
        assert not math.isnan(value), f"{measure.name} is undefined for {_shown(runs)}"
    if measure.properties.bounded == "yes":
        assert math.isfinite(low), f"{measure.name} declares a bound, but its range is {measure.range}"
        assert math.isfinite(high), f"{measure.name} declares a bound, but its range is {measure.range}"
    inside = math.isnan(value) or low - TOLERANCE <= value <= high + TOLERANCE
    assert inside, f"{measure.name} is {value}, outside {measure.range}, for {_shown(runs)}"


def check_maximum(measure: Measure, runs: Preferences) -> None:
    """Assert that equal runs, and only they, have the best value, if that is declared."""
    if measure.properties.maximum != "yes":
        return
    rows = [_row(runs, run) for run in range(runs.n_runs)]
    equal = _with_rows(runs, [rows[0]] * runs.n_runs)
    assert abs(value_of(equal, measure) - measure.best) <= TOLERANCE, (
        f"{measure.name} is {value_of(equal, measure)} for equal runs, not {measure.best}: {_shown(equal)}"
    )
    if any(row != rows[0] for row in rows):
        assert abs(value_of(runs, measure) - measure.best) > TOLERANCE, (
            f"{measure.name} has its best value {measure.best} for runs that differ: {_shown(runs)}"
        )


def check_monotone(measure: Measure, one: Preferences, two: Preferences) -> None:
    """Assert that of two collections of the same sizes the one with less selection variance is more stable."""
    if measure.properties.monotone in ("yes", "one size"):
        assert not violates_monotone(measure, one, two), (
            f"{measure.name} does not rise where the variance falls: {_shown(one)} and {_shown(two)}"
        )


def violates_monotone(measure: Measure, one: Preferences, two: Preferences) -> bool:
    """Tell whether the collection with less variance is not the more stable one."""
    less, more = sorted((one, two), key=_variance)
    if _variance(more) - _variance(less) <= TOLERANCE:
        return False
    sign = 1 if measure.higher_is_better else -1
    return sign * (value_of(less, measure) - value_of(more, measure)) <= TOLERANCE


def check_chance(measure: Measure, sizes: Sequence[int], n_features: int) -> None:
    """Assert that the mean over all collections of these sizes is zero, if that is declared."""
    declared = measure.properties.chance
    if declared == "yes" or (declared == "one size" and len(set(sizes)) == 1):
        mean = mean_by_chance(measure, sizes, n_features)
        assert abs(mean) <= TOLERANCE, f"{measure.name} is {mean} on average over all collections of sizes {sizes}"


def mean_by_chance(measure: Measure, sizes: Sequence[int], n_features: int) -> float:
    """Return the mean value over all collections of these sizes."""
    return float(np.mean([value_of(runs, measure) for runs in all_collections(sizes, n_features)]))


def _two_collections(rng: np.random.Generator, *, one_size: bool) -> tuple[Preferences, Preferences]:
    n_runs, d = int(rng.integers(2, 7)), int(rng.integers(4, 10))
    sizes = np.full(n_runs, rng.integers(1, d)) if one_size else rng.integers(1, d, n_runs)
    return random_collection(sizes, d, rng), random_collection(sizes, d, rng)


def _variance(runs: Preferences) -> float:
    return float(runs.frequency @ (1 - runs.frequency))


def _row(runs: Preferences, run: int) -> list[float]:
    if runs.kind == "subset":
        indices, indptr = runs.lists()
        return indices[indptr[run] : indptr[run + 1]].tolist()
    return runs.matrix()[run].tolist()


def _with_rows(runs: Preferences, rows: list[list[float]]) -> Preferences:
    if runs.kind == "subset":
        return Preferences.from_sets(rows, n_features=runs.n_features)
    return Preferences(kind=runs.kind, n_features=runs.n_features, values=np.array(rows, dtype=float))


def _shown(runs: Preferences) -> str:
    return str([_row(runs, run) for run in range(runs.n_runs)])
