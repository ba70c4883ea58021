"""Intervals of scores stay inside the range of the score, and cover at least as often as plain ones."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from holdfast.models import SCORES
from holdfast.models.scores import UNBOUNDED, Range
from holdfast.study.stabilities import corrected_error, mean_score_interval, score_range
from results import make_result, sets_with_core

SHARE = Range(0.0, 1.0)


def splits(n, n_test=37, n_rows=100):
    return pd.DataFrame({"n_test": [n_test] * n, "n_rows": [n_rows] * n})


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.sampled_from([0.8, 0.95, 0.99]))
def test_ends_are_in_the_range_and_around_the_mean(scores, level):
    low, high = mean_score_interval(np.array(scores), splits(len(scores)), SHARE, level)
    assert 0 <= low <= np.mean(scores) + 1e-12
    assert np.mean(scores) - 1e-12 <= high <= 1


@given(st.lists(st.floats(-50, 1), min_size=2, max_size=30))
def test_an_upper_bound_alone_is_kept_too(scores):
    low, high = mean_score_interval(np.array(scores), splits(len(scores)), Range(-np.inf, 1.0), 0.95)
    assert low <= np.mean(scores) + 1e-9
    assert np.mean(scores) - 1e-9 <= high <= 1


def test_far_from_the_bounds_it_is_nearly_the_plain_one():
    scores = 0.5 + 0.001 * np.random.default_rng(0).normal(size=20)
    reach = stdtrit(19, 0.975) * corrected_error(scores, splits(20))
    low, high = mean_score_interval(scores, splits(20), SHARE, 0.95)
    assert (low, high) == pytest.approx((scores.mean() - reach, scores.mean() + reach), abs=1e-5)
    assert mean_score_interval(scores, splits(20), UNBOUNDED, 0.95) == (scores.mean() - reach, scores.mean() + reach)


def test_all_right_is_not_certain():
    few, many = (mean_score_interval(np.ones(20), splits(20, n // 3, n), SHARE, 0.95) for n in (30, 3000))
    assert few.high == many.high == 1
    assert 0.8 < few.low < 0.95 < many.low < 1
    wrong = mean_score_interval(np.zeros(20), splits(20, 10, 30), SHARE, 0.95)
    assert wrong.low == 0
    assert wrong.high == pytest.approx(1 - few.low)


def test_every_named_score_declares_its_range():
    for name in SCORES:
        low, high = score_range(name)
        assert high in (0, 1)
        assert low == -np.inf or low in (-1, 0)
        assert ("neg_" in name) == (high == 0)
    assert score_range(lambda model, X, y: 2.0) == score_range("of my own") == UNBOUNDED


def test_studies_use_it_everywhere():
    scores = np.array([1.0, 0.95] * 10)
    result = make_result(
        {
            "a": {"scores": scores, "sets": sets_with_core(0.9)},
            "b": {"scores": scores - 0.2, "sets": sets_with_core(0.5)},
        }
    )
    frame = result.pareto(n_draws=2).frame
    assert (frame["score_high"] < 1).all()
    assert result.choose().score_interval.high == frame["score_high"]["a"]


def coverage(p, n, n_splits, rng, repeats):
    """Share of intervals that hold the share of rows that a model gets right: plain, and inside the range."""
    hits = np.zeros(2)
    frame = splits(n_splits, round(0.368 * n), n)
    for _ in range(repeats):
        right = rng.random(n) < p
        scores = np.array([right[rng.permutation(n)[: round(0.368 * n)]].mean() for _ in range(n_splits)])
        for place, bounds in enumerate((UNBOUNDED, SHARE)):
            low, high = mean_score_interval(scores, frame, bounds, 0.95)
            hits[place] += low <= p <= high
    return hits / repeats


@pytest.mark.parametrize("p", [0.7, 0.95])
def test_coverage_is_not_less_than_that_of_plain_intervals(p):
    plain, inside = coverage(p, 60, 20, np.random.default_rng(1), 300)
    assert inside >= plain - 2 * np.sqrt(0.05 * 0.95 / 300)
    assert inside > 0.83
