"""Selections with a known population stability."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.datasets import make_selections, population_stability, selection_probabilities

GRADED = np.r_[0.95, 0.9, 0.7, 0.5, 0.4, 0.25, 0.2, 0.1, 0.0, 1.0]  # sums to 5


def frequencies_are(runs, p):
    """No feature is further from its probability than five standard errors."""
    error = np.sqrt(p * (1 - p) / runs.n_runs)
    assert (np.abs(runs.frequency - p) <= 5 * error).all()


# Population stability


@pytest.mark.parametrize(
    ("p", "value"),
    [
        ([1, 1, 0, 0], 1),
        ([0.3, 0.3, 0.3], 0),
        ([0.9, 0.9, 0.1, 0.1], 1 - 0.09 / 0.25),
        ([0.5, 0.5, 0, 0], 1 - 0.125 / 0.1875),
    ],
)
def test_population_stability_in_closed_form(p, value):
    assert population_stability(p) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("p", [[0, 0, 0], [1, 1]])
def test_nothing_or_everything_selected_has_no_population_stability(p):
    assert np.isnan(population_stability(p))


@pytest.mark.parametrize("options", [{}, {"correlation": 0.7}, {"fixed_size": True}], ids=str)
def test_many_runs_tend_to_the_population_stability(options):
    runs = make_selections(p=GRADED, n_runs=20_000, random_state=1, **options)
    assert hf.stability(runs, method="asymptotic").value == pytest.approx(population_stability(GRADED), abs=0.01)
    frequencies_are(runs, GRADED)


@pytest.mark.parametrize("stability", [0, 0.2, 0.5, 0.9, 1])
@pytest.mark.parametrize(("size", "n_features"), [(1, 2), (5, 40), (19, 20), (20, 1000)])
def test_probabilities_have_the_stability_and_the_size(stability, size, n_features):
    p = selection_probabilities(stability, size, n_features)
    assert p.size == n_features
    assert ((p >= 0) & (p <= 1)).all()
    assert population_stability(p) == pytest.approx(stability, abs=1e-12)
    assert p.sum() == pytest.approx(size, abs=1e-9)
    assert (p[:size] >= p[-1]).all()


# Runs


def test_a_fixed_size_is_exact_and_keeps_the_probabilities():
    runs = make_selections(p=GRADED, n_runs=20_000, fixed_size=True, random_state=2)
    assert (runs.sizes == 5).all()
    frequencies_are(runs, GRADED)
    assert (make_selections(stability=0.4, size=7, n_features=100, fixed_size=True, random_state=3).sizes == 7).all()


def test_correlation_makes_the_sizes_vary_by_blocks():
    p, n_runs = np.full(40, 0.5), 5000
    alone, blocks, large, all_or_nothing = (
        make_selections(p=p, n_runs=n_runs, random_state=4, correlation=correlation, block=block).sizes.var()
        for correlation, block in ((0, 5), (0.6, 5), (0.6, 20), (1, 20))
    )
    assert alone == pytest.approx(40 / 4, rel=0.1)
    assert 2 * alone < blocks < large < all_or_nothing
    together = 0.25 + np.arcsin(0.6) / (2 * np.pi)  # chance that two of a block are selected, each half of the time
    assert blocks == pytest.approx(40 / 4 + 40 * 4 * (together - 0.25), rel=0.1)
    assert all_or_nothing == pytest.approx(2 * 20**2 / 4, rel=0.1)


def test_features_of_other_blocks_stay_independent():
    runs = make_selections(p=np.full(7, 0.5), n_runs=20_000, correlation=0.8, block=3, random_state=5)
    together = np.corrcoef(runs.to_sparse().toarray(), rowvar=False)
    block = np.arange(7) // 3
    same = (block[:, None] == block[None, :]) & ~np.eye(7, dtype=bool)
    assert together[same] == pytest.approx(2 * np.arcsin(0.8) / np.pi, abs=0.04)
    assert together[block[:, None] != block[None, :]] == pytest.approx(0, abs=0.04)


@pytest.mark.parametrize("options", [{}, {"correlation": 0.5}, {"fixed_size": True}], ids=str)
def test_the_seed_settles_the_runs(options):
    first, again, other = (make_selections(p=GRADED, n_runs=30, random_state=seed, **options) for seed in (6, 6, 7))
    assert first == again
    assert first != other
    assert first == make_selections(p=GRADED, n_runs=30, random_state=np.random.default_rng(6), **options)


def test_certain_and_impossible_features():
    runs = make_selections(p=[1, 0, 0.5], n_runs=50, random_state=8)
    assert runs.counts[0] == 50
    assert runs.counts[1] == 0
    assert 0 < runs.counts[2] < 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Pass p=, or stability=, size= and n_features="),
        ({"stability": 0.5, "size": 3}, "Pass p=, or stability="),
        ({"p": [0.5, 1.2]}, "probabilities from 0 to 1"),
        ({"p": [[0.5, 0.2]]}, "probabilities from 0 to 1"),
        ({"p": [np.nan, 0.2]}, "probabilities from 0 to 1"),
        ({"p": [0.5, 0.2], "fixed_size": True}, "sum to a whole number for a fixed size, got 0.7"),
        ({"p": [0.5, 0.5], "correlation": -0.1}, "correlation from 0 to 1, .* got -0.1"),
        ({"p": [0.5, 0.5], "correlation": 1.1}, "correlation from 0 to 1, .* got 1.1"),
        ({"p": [0.5, 0.5], "correlation": 0.3, "fixed_size": True}, "none with a fixed size, got 0.3"),
        ({"stability": 1.1, "size": 3, "n_features": 9}, "stability 1.1, size 3 of 9"),
        ({"stability": -0.1, "size": 3, "n_features": 9}, "stability from 0 to 1"),
        ({"stability": 0.5, "size": 9, "n_features": 9}, "below the number of features"),
        ({"stability": 0.5, "size": 0, "n_features": 9}, "size from 1"),
        ({"stability": 0.5, "size": 2.5, "n_features": 9}, "whole size"),
    ],
)
def test_a_wrong_call_gets_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        make_selections(**options)
