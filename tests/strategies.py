"""Random selections for property tests."""

import numpy as np
from hypothesis import strategies as st

import holdfast as hf


@st.composite
def subset_runs(draw, *, min_runs=2, max_runs=6, max_features=8, one_size=False, proper=True, sizes=None):
    """A few runs over a few features; ``proper`` leaves out empty and full sets."""
    d = draw(st.integers(3, max_features))
    n_runs = draw(st.integers(min_runs, max_runs)) if sizes is None else len(sizes)
    low, high = (1, d - 1) if proper else (0, d)
    if sizes is None:
        k = draw(st.integers(low, high))
        sizes = [k] * n_runs if one_size else draw(st.lists(st.integers(low, high), min_size=n_runs, max_size=n_runs))
    sets = [draw(st.permutations(range(d)))[:size] for size in sizes]
    return hf.Preferences.from_sets(sets, n_features=d)


@st.composite
def rank_runs(draw, *, max_runs=5, max_features=7, ties=True):
    """A few rankings; no run ties all features."""
    d, n_runs = draw(st.integers(2, max_features)), draw(st.integers(2, max_runs))
    rows = []
    for _ in range(n_runs):
        if ties:
            rows.append(draw(st.lists(st.integers(1, d), min_size=d, max_size=d).filter(lambda row: len(set(row)) > 1)))
        else:
            rows.append([rank + 1 for rank in draw(st.permutations(range(d)))])
    return hf.Preferences.from_rankings(rows)


@st.composite
def weight_runs(draw, *, max_runs=5, max_features=7):
    """A few weightings; no run weighs all features the same."""
    d, n_runs = draw(st.integers(2, max_features)), draw(st.integers(2, max_runs))
    row = st.lists(st.integers(-50, 50), min_size=d, max_size=d).filter(lambda row: len(set(row)) > 1)
    return hf.Preferences.from_weights([draw(row) for _ in range(n_runs)])


@st.composite
def similarities(draw, d):
    """A symmetric similarity with a unit diagonal; about a third of the pairs are similar."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = np.where(rng.random((d, d)) < 0.35, rng.uniform(0.9, 1, (d, d)), rng.uniform(0, 0.9, (d, d)))
    matrix = np.triu(matrix, 1)
    return matrix + matrix.T + np.eye(d)
