"""Correction for chance: the expected value of a measure when features are drawn at random.

Under the null model every run keeps its size and draws its features at random. The expectation is exact wherever that
is possible: a function of the overlap of two sets is summed over the hypergeometric distribution, a sum over features
over the distribution of a feature's count. Everything else is enumerated if it is small, and simulated if not, with
a standard error.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from holdfast.checks import is_number
from holdfast.kernels.stand_ins import random_sets
from holdfast.preferences import Preferences

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ENUMERATE = 20_000
"""Number of collections up to which all of them are enumerated."""

DRAWS = 2_000
"""Number of random draws where an expectation has to be simulated."""


class Expectation(NamedTuple):
    """An expected value, how it was found, and its standard error (0 if exact)."""

    value: float
    standard_error: float = 0.0
    method: str = "closed form"


def overlap_expectation(similarity: Callable[..., Floats], k1: int, k2: int, n_features: int) -> Expectation:
    """Expected similarity of random sets of sizes ``k1`` and ``k2``, exactly."""
    shared = np.arange(max(0, k1 + k2 - n_features), min(k1, k2) + 1)
    log_p = log_choose(k1, shared) + log_choose(n_features - k1, k2 - shared) - log_choose(n_features, np.array([k2]))
    size = np.ones_like(shared)
    return Expectation(float(np.exp(log_p) @ similarity(shared, size * k1, size * k2, n_features)))


def count_distribution(sizes: Ints, n_features: int) -> Floats:
    """Probability that a feature is in 0, 1, … of the runs, exactly (a sum of different coin tosses)."""
    return _count_distribution(tuple(np.sort(sizes).tolist()), n_features)


@lru_cache(maxsize=256)
def _count_distribution(sizes: tuple[int, ...], n_features: int) -> Floats:
    probability = np.ones(1)
    for share in np.array(sizes) / n_features:
        probability = np.append(probability * (1 - share), 0) + np.append(0, probability * share)
    return probability


def collection_expectation(
    value: Callable[[Preferences], float], sizes: Ints, n_features: int, *, draws: int = DRAWS
) -> Expectation:
    """Expected value of any function of random sets of the given sizes."""
    n_collections = math.prod(math.comb(n_features, int(size)) for size in sizes)
    if n_collections <= ENUMERATE:
        values = [value(collection) for collection in all_collections(sizes, n_features)]
        return Expectation(float(np.mean(values)), 0.0, "enumeration")
    rng = np.random.default_rng([n_features, *sorted(map(int, sizes))])
    values = [value(random_collection(sizes, n_features, rng)) for _ in range(draws)]
    return _simulated(np.array(values))


def pair_expectation(
    values: Callable[[Preferences], Floats], k1: int, k2: int, n_features: int, *, draws: int = DRAWS
) -> Expectation:
    """Expected value of a function of two random sets; ``values`` takes runs 0–1, 2–3, … as pairs."""
    sizes = np.array([k1, k2])
    if math.comb(n_features, k1) * math.comb(n_features, k2) <= ENUMERATE:
        rows = [row for collection in _all_sets(sizes, n_features) for row in collection]
        return Expectation(
            float(np.mean(values(Preferences.from_sets(rows, n_features=n_features)))), 0.0, "enumeration"
        )
    if not (is_number(draws) and draws == int(draws) and 2 <= draws <= 10_000_000):
        raise ValueError(f"Expected a number of draws from 2 to 10 million to simulate an expectation, got {draws}.")
    rng = np.random.default_rng([n_features, k1, k2])
    sets = [random_sets(rng.random((draws, size)), n_features) for size in (k1, k2)]
    indices = np.concatenate(sets, axis=1).ravel()
    indptr = np.concatenate([[0], np.cumsum(np.tile(sizes, draws))])
    pairs = Preferences(kind="subset", n_features=n_features, indices=indices, indptr=indptr)
    return _simulated(values(pairs))


def random_collection(sizes: Ints, n_features: int, rng: np.random.Generator) -> Preferences:
    """Draw runs of the given sizes at random."""
    if (sizes == sizes[0]).all():
        indices = random_sets(rng.random((sizes.size, int(sizes[0]))), n_features).ravel()
    else:
        indices = np.concatenate([random_sets(rng.random((1, int(size))), n_features)[0] for size in sizes])
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Preferences(kind="subset", n_features=n_features, indices=indices, indptr=indptr)


def _simulated(values: Floats) -> Expectation:
    return Expectation(float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size)), "simulation")


def _all_sets(sizes: Iterable[int], n_features: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    return itertools.product(*(itertools.combinations(range(n_features), int(size)) for size in sizes))


def all_collections(sizes: Iterable[int], n_features: int) -> Iterator[Preferences]:
    """Yield all collections of sets of these sizes."""
    for sets in _all_sets(sizes, n_features):
        yield Preferences.from_sets(sets, n_features=n_features)


def log_choose(n: Any, k: Any) -> Any:
    """Logarithm of the binomial coefficient, ``n`` choose ``k``."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
