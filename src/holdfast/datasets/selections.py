"""Simulated selections whose population stability is known."""

from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from holdfast.preferences import Preferences

Floats = NDArray[np.float64]


def population_stability(p: ArrayLike) -> float:
    """Compute the population stability (``nogueira``) of features selected with probabilities ``p``.

    Only the probabilities matter, not how features go together.

    Parameters
    ----------
    p : array of float
        Probability that each feature is selected.

    Returns
    -------
    float
        The stability that many runs tend to; ``nan`` if all probabilities are 0, or all are 1.

    Examples
    --------
    >>> from holdfast.datasets import population_stability
    >>> round(population_stability([0.9, 0.9, 0.1, 0.1]), 6)
    0.64
    """
    p = np.asarray(p, dtype=float)
    density = p.mean()
    if density in (0, 1):
        return np.nan
    return float(1 - (p * (1 - p)).mean() / (density * (1 - density)))


def selection_probabilities(stability: float, size: float, n_features: int) -> Floats:
    """Choose selection probabilities that have a given population stability.

    Parameters
    ----------
    stability : float
        Population stability, from 0 to 1.
    size : int
        Mean number of selected features.
    n_features : int
        Number of features.

    Returns
    -------
    ndarray
        ``size`` probabilities that are high and equal, and low ones for all other features.

    Raises
    ------
    ValueError
        If a number is out of range.
    """
    if not 0 <= stability <= 1 or not 1 <= size < n_features or size != int(size):
        raise ValueError(
            f"Expected a stability from 0 to 1 and a whole size from 1 to below the number of features, got stability "
            f"{stability}, size {size} of {n_features}."
        )
    core = int(size)
    likely = size / n_features + np.sqrt(stability) * (1 - size / n_features)
    p = np.full(n_features, (size - core * likely) / (n_features - core))
    p[:core] = likely
    return np.clip(p, 0, 1)


def make_selections(
    *,
    p: ArrayLike | None = None,
    stability: float | None = None,
    size: int | None = None,
    n_features: int | None = None,
    n_runs: int = 100,
    correlation: float = 0.0,
    block: int = 5,
    fixed_size: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Preferences:
    """Simulate selections with known probabilities, hence with a known population stability.

    Parameters
    ----------
    p : array of float, optional
        Probability that each feature is selected.
    stability, size, n_features : float, int, int, optional
        Instead of ``p``: the population stability, mean number of features selected, number of features.
    n_runs : int
        Number of runs.
    correlation : float
        Correlation of the scores behind the selections of features in the same block; 0 selects them independently.
    block : int
        Number of neighboring features in a block.
    fixed_size : bool
        Select exactly ``sum(p)`` features in every run, still with probabilities ``p`` (systematic sampling in random
        order).
    random_state : int or Generator, optional
        Seed.

    Returns
    -------
    Preferences
        The simulated runs.

    Raises
    ------
    ValueError
        If probabilities or sizes are out of range, or it is not known which to take.

    Examples
    --------
    >>> from holdfast.datasets import make_selections
    >>> make_selections(stability=0.8, size=5, n_features=40, n_runs=20, fixed_size=True, random_state=0)
    Preferences: 20 subsets of 40 features, 5 selected each
    """
    if not 0 <= correlation <= 1 or (correlation and fixed_size):
        raise ValueError(f"Expected a correlation from 0 to 1, and none with a fixed size, got {correlation}.")
    chance = _probabilities(p, stability, size, n_features)
    rng = np.random.default_rng(random_state)
    if fixed_size:
        selected = _systematic(chance, n_runs, rng)
    else:
        scores = rng.standard_normal((n_runs, chance.size))
        if correlation:
            shared = rng.standard_normal((n_runs, -(-chance.size // block)))
            shared = np.repeat(shared, block, axis=1)[:, : chance.size]
            scores = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * scores
        selected = scores < ndtri(chance)
    return Preferences.from_matrix(selected)


def _probabilities(p: Any, stability: float | None, size: int | None, n_features: int | None) -> Floats:
    if p is not None:
        chance = np.asarray(p, dtype=float)
        if chance.ndim != 1 or not ((chance >= 0) & (chance <= 1)).all():
            raise ValueError("Expected p to be a list of probabilities from 0 to 1.")
        return chance
    if stability is None or size is None or n_features is None:
        raise ValueError("Pass p=, or stability=, size= and n_features=.")
    return selection_probabilities(stability, size, n_features)


def _systematic(p: Floats, n_runs: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Select each feature with its probability and always as many: every whole step of the running sum selects one."""
    if abs(p.sum() - round(p.sum())) > 1e-6:
        raise ValueError(f"Expected probabilities that sum to a whole number for a fixed size, got {p.sum():g}.")
    order = rng.permuted(np.tile(np.arange(p.size), (n_runs, 1)), axis=1)
    steps = np.floor(np.cumsum(p[order], axis=1) - rng.random((n_runs, 1)) + 1e-12)
    taken = np.diff(steps, axis=1, prepend=-1.0) > 0
    selected = np.zeros((n_runs, p.size), dtype=bool)
    np.put_along_axis(selected, order, taken, axis=1)
    return selected


def load_example() -> Preferences:
    """Load an example: ANOVA F values of 30 features on 20 bootstrap samples of scikit-learn's breast-cancer data.

    Returns
    -------
    Preferences
        Weights of 20 runs.

    Examples
    --------
    >>> from holdfast.datasets import load_example
    >>> load_example()
    Preferences: 20 weightings of 30 features
    """
    from holdfast.io.selections import read_preferences  # here: what reads files knows data sets

    with as_file(files("holdfast.datasets") / "example.csv") as path:
        return read_preferences(path)
