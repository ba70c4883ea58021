"""Pareto fronts, dominated areas and attainment against brute force."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.tradeoff import attainment

axis = st.one_of(st.integers(-3, 3).map(float), st.floats(-2, 2), st.just(float("nan")))
points = st.lists(st.tuples(axis, axis), max_size=25)


def brute_front(pairs, rule):
    def beaten(one, by):
        if rule == "weak":
            return by[0] > one[0] and by[1] > one[1]
        return by[0] >= one[0] and by[1] >= one[1] and by != one

    return [not np.isnan(one).any() and not any(beaten(one, by) for by in pairs) for one in pairs]


@pytest.mark.parametrize("rule", ["usual", "weak"])
@given(points)
def test_fronts_equal_brute_force(rule, pairs):
    x, y = np.array(pairs, dtype=float).reshape(-1, 2).T
    assert hf.tradeoff.pareto_front(x, y, rule).tolist() == brute_front(pairs, rule)


@given(points)
def test_the_weak_front_holds_the_usual_one(pairs):
    x, y = np.array(pairs, dtype=float).reshape(-1, 2).T
    assert not (hf.tradeoff.pareto_front(x, y) & ~hf.tradeoff.pareto_front(x, y, "weak")).any()


def test_equal_points_are_all_on_the_front_and_infinite_ones_count():
    assert hf.tradeoff.pareto_front([1, 1, 0], [1, 1, 1]).tolist() == [True, True, False]
    assert hf.tradeoff.pareto_front([1, 0], [-np.inf, -np.inf]).tolist() == [True, False]
    assert hf.tradeoff.pareto_front([], []).tolist() == []


@given(points, st.integers(-3, 2), st.integers(-3, 2))
def test_areas_equal_those_of_a_grid(pairs, left, bottom):
    x, y = np.array(pairs, dtype=float).reshape(-1, 2).T
    xs = np.unique([left, *x[x > left]])
    ys = np.unique([bottom, *y[y > bottom]])
    expected = sum(
        (right - start) * (top - low)
        for start, right in pairwise(xs)
        for low, top in pairwise(ys)
        if ((x >= right) & (y >= top)).any()
    )
    assert hf.tradeoff.hypervolume(x, y, (left, bottom)) == pytest.approx(expected, abs=1e-9)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=3), min_size=1, max_size=9),
    st.sampled_from([0.05, 0.25, 0.5, 0.75, 1.0]),
)
def test_attainment_equals_counting(draws, level):
    x, y = np.moveaxis(np.array(draws, dtype=float), 2, 0)
    surface = attainment(x, y, range(6), level)
    for score, found in zip(range(6), surface, strict=True):
        shares = {height: np.mean(((x >= score) & (y >= height)).any(axis=1)) for height in range(5)}
        attained = [height for height, share in shares.items() if share >= level - 1e-12]
        assert (np.isnan(found) and not attained) or found == max(attained)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hf.tradeoff.pareto_front([1], [1], "strict"), "Expected rule 'usual' or 'weak', got 'strict'"),
        (lambda: hf.tradeoff.pareto_front([1], [1, 2]), "Expected one score and one stability"),
        (lambda: attainment([[1]], [[1]], [1], 0), "Expected a level above 0"),
        (lambda: attainment([[1]], [[1, 2]], [1]), "Expected as many scores as stabilities"),
    ],
)
def test_errors_are_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
