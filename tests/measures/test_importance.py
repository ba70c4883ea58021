"""Measures of what models use: against slow definitions, by their properties, and against a linear program."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import holdfast as hf
import oracles
from holdfast.kernels.intersections import move_shares
from strategies import similarities, subset_runs

undefined_is_fine = pytest.mark.filterwarnings("ignore::holdfast.UndefinedStabilityWarning")
NAMES = ("used_again", "shared_importance")


@st.composite
def importances(draw, *, max_runs=5, max_features=7, empty=False):
    """Coefficients of a few runs, many of them 0; ``empty``: some runs use nothing."""
    d, n_runs = draw(st.integers(2, max_features)), draw(st.integers(2, max_runs))
    row = st.lists(st.sampled_from([0, 0, 0.5, -1, 2, 7.25]), min_size=d, max_size=d)
    return np.array([draw(row if empty else row.filter(any)) for _ in range(n_runs)], dtype=float)


def values(weights, name, **options):
    return hf.stability(hf.Preferences.from_weights(weights), name, **options).value


@undefined_is_fine
@pytest.mark.parametrize("name", NAMES)
@given(weights=importances())
def test_the_definition(name, weights):
    ours, slow = values(weights, name), getattr(oracles, name)(weights.tolist())
    assert (math.isnan(ours) and math.isnan(slow)) or ours == pytest.approx(slow, abs=1e-10)


@undefined_is_fine
@given(runs=subset_runs(one_size=True))
def test_where_all_features_are_used_alike_they_are_nogueira(runs):
    weights = runs.to_sparse().toarray() * np.linspace(0.1, 40, runs.n_runs)[:, None]
    expected = hf.stability(runs).value
    assert [values(weights, name) for name in NAMES] == pytest.approx([expected, expected], abs=1e-10)


@given(runs=subset_runs(min_runs=3))
def test_with_several_sizes_used_again_is_nogueira_but_for_its_bias(runs):
    """Which docs/measures.md gives."""
    size, n_runs, d = runs.sizes, runs.n_runs, runs.n_features
    mean = size.mean()
    bias = ((size - mean) ** 2).sum() / (n_runs * (n_runs - 1) * mean * (d - mean))
    above = hf.stability(runs).value + bias
    assert values(runs.to_sparse().toarray(), "used_again") * (1 + bias) == pytest.approx(above, abs=1e-10)


@undefined_is_fine
@pytest.mark.parametrize("name", NAMES)
@given(weights=importances(max_runs=2, max_features=5))
@settings(max_examples=15)
def test_features_at_random_places_give_zero(name, weights):
    if math.isnan(values(weights, name)):
        return
    orders = itertools.permutations(range(weights.shape[1]))  # only where the runs lie to each other counts
    assert np.mean([values(np.array([weights[0], weights[1][list(order)]]), name) for order in orders]) == (
        pytest.approx(0, abs=1e-10)
    )


@undefined_is_fine
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fill", [None, 0.0])
@given(weights=importances(empty=True))
def test_leaving_runs_out_and_runs_that_use_nothing(name, fill, weights):
    measure = hf.MEASURES[name]
    tally = measure.form.tally(hf.Preferences.from_weights(weights), [measure])[0]
    n_empty = int((~weights.any(axis=1)).sum())
    if not n_empty and not math.isnan(tally.value()):
        assert tally.undefined is None
    if n_empty and len(weights) - n_empty >= 2:
        assert tally.value() == pytest.approx(values(weights[weights.any(axis=1)], name), abs=1e-10, nan_ok=True)
    for run, value in enumerate(tally.leave_one_out(fill)):
        rest = hf.Preferences.from_weights(np.delete(weights, run, axis=0))
        alone = measure.form.tally(rest, [measure])[0].value(fill)
        if len(weights) > 2:
            assert value == pytest.approx(alone, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
def test_pairs_have_the_value_as_their_mean_and_many_runs_need_none(name):
    rng = np.random.default_rng(1)
    weights = np.where(rng.random((120, 40)) < np.linspace(0.6, 0, 40), rng.gamma(1, size=(120, 40)), 0)
    form, runs = hf.MEASURES[name].form, hf.Preferences.from_weights(weights)
    few, many = (form.tally(part, [hf.MEASURES[name]])[0] for part in (runs.take(range(90)), runs))
    matrix = few.matrix
    assert matrix[~np.eye(90, dtype=bool)].mean() == pytest.approx(few.value(), abs=1e-12)
    assert many.pairs is None
    assert many.value() == pytest.approx(getattr(oracles, name)(weights.tolist()), abs=1e-10)
    drawn = np.random.default_rng(0).multinomial(90, np.full(90, 1 / 90), 20).astype(float)
    resampled = form.resampled(hf.Preferences.from_weights(weights[:90]), hf.MEASURES[name], drawn)
    assert np.abs(resampled - few.value()).max() < 0.1
    assert hf.stability(weights[:90], name).standard_error == pytest.approx(resampled.std(), rel=0.5)


def test_features_that_models_hardly_use_add_nothing():
    rng = np.random.default_rng(0)
    weights = np.where(rng.random((40, 60)).argsort(axis=1) < 6, 1.0, 0)
    filled = np.c_[weights, np.full((40, 10), 0.006)]
    before, after = (hf.stability(hf.Preferences.from_matrix(part > 0)).value for part in (weights, filled))
    assert after > before + 0.5
    for name in NAMES:  # more features to choose from are less chance, too
        assert values(filled, name) < values(weights, name) + 0.03


def test_of_any_unit_and_sign():
    weights = np.random.default_rng(2).normal(size=(6, 9)) * (np.arange(9) < [[4], [5], [6], [4], [5], [6]])
    for name in NAMES:
        for scale in (1e-200, -3.0, 1e200):
            assert values(weights * scale, name) == pytest.approx(values(weights, name))
    assert values(weights[:, ::-1], "used_again") == pytest.approx(values(weights, "used_again"))


# Transport


def by_linear_program(similarity, supply, demand):
    n, m = similarity.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    solved = linprog(-similarity.ravel(), A_eq=np.r_[rows, columns], b_eq=np.r_[supply, demand], method="highs")
    return -solved.fun


@pytest.mark.parametrize("size", [1, 3, 8, 20])
def test_moving_shares_is_the_linear_program(size):
    rng = np.random.default_rng(size)
    for _ in range(25):
        n, m = size, int(rng.integers(1, 2 * size + 1))
        similarity = np.round(rng.random((n, m)), int(rng.integers(1, 4)))  # ties too
        supply, demand = rng.dirichlet(np.full(n, 0.5)), rng.dirichlet(np.full(m, 0.5))
        assert move_shares(similarity, supply, demand) == pytest.approx(
            by_linear_program(similarity, supply, demand), abs=1e-9
        )


@given(data=st.data())
@settings(max_examples=10)
def test_with_similar_features_it_is_the_linear_program_above_chance(data):
    weights = data.draw(importances(max_runs=4))
    s = data.draw(similarities(weights.shape[1]))
    tally = transported(weights, s, draws=50)
    shares = np.abs(weights) / np.abs(weights).sum(axis=1, keepdims=True)
    shared, most = tally.pairs
    for a, b in itertools.combinations(range(len(weights)), 2):
        expected = by_linear_program(s, shares[a], shares[b])
        assert shared[a, b] + 1 - most[a, b] == pytest.approx(expected, abs=1e-9)


def transported(weights, similarity, draws):
    measure = hf.MEASURES["shared_importance"]
    bound = measure.bind(similarity=hf.similarity.GivenSimilarity(similarity), draws=draws)
    return bound.form.tally(hf.Preferences.from_weights(weights), [bound])[0]


def test_without_similar_features_transport_is_shared_importance():
    weights = np.random.default_rng(3).gamma(0.3, size=(12, 30)).round(1)
    exact = values(weights, "shared_importance")
    estimate = hf.stability(weights, "shared_importance", similarity=np.eye(30), draws=4000)
    assert estimate.value == pytest.approx(exact, abs=4 * estimate.chance_error)
    assert 0 < estimate.chance_error < 0.01
    assert estimate.standard_error > hf.stability(weights, "shared_importance").standard_error * 0.9


def test_a_chain_of_stand_ins_is_worth_more_than_keeping_what_is_shared():
    s = np.array([[1, 0.71, 0], [0.71, 1, 0.71], [0, 0.71, 1]])
    halves = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert move_shares(s[:2, 1:], *halves) == pytest.approx(0.71)  # not 0.5, as where the middle one stays


def test_stand_ins_of_noise_are_chance():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 200))
    weights = np.where(rng.random((20, 200)).argsort(axis=1) < 20, rng.gamma(1, size=(20, 200)), 0)
    similarity = hf.similarity.Correlation(X)
    estimate = hf.stability(weights, "shared_importance", similarity=similarity)
    assert abs(estimate.value) < 0.05
    assert transported(weights, similarity.block(np.arange(200), np.arange(200)), 50).pairs[1][0, 1] < 0.75  # chance


@undefined_is_fine
def test_bad_input_is_a_sentence():
    weights = np.eye(3)
    with pytest.raises(ValueError, match="a number of draws from 2"):
        hf.stability(weights, "shared_importance", similarity=np.eye(3), draws=1)
    with pytest.raises(ValueError, match="a similarity of the 3 features"):
        hf.stability(weights, "shared_importance", similarity=np.eye(2))
    estimate = hf.stability([[1.0, 0, 0], [0, 0, 0], [2, 1, 0]], "used_again")
    assert math.isnan(estimate.value)
    assert "a run that uses no feature" in estimate.reason
    assert not math.isnan(hf.stability([[1.0, 0, 0], [0, 0, 0], [2, 1, 0]], "used_again", undefined="skip").value)
    assert replace(hf.MEASURES["used_again"], name="mine").of_models
