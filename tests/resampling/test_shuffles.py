"""Shuffled targets: what changes places, and what is expected to be false."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from holdfast.resampling.shuffles import TargetShuffles, leave_one_out_excess, tell_from_chance

Y = np.arange(40) % 2


def draws(shuffles, y, n=200):
    return np.array([y[shuffles.draw(np.random.default_rng(seed))] for seed in range(n)])


def test_rows_change_places():
    drawn = draws(TargetShuffles.plan(Y), Y)
    assert (drawn.sum(axis=1) == 20).all()
    assert_allclose(drawn.mean(axis=0), 0.5, atol=0.15)


def test_rows_of_a_group_keep_one_target_and_go_to_groups_of_their_size():
    groups = np.repeat(np.arange(20), np.r_[np.full(10, 3), np.full(7, 2), 4, 5, 6])
    y = np.repeat(np.arange(20) % 2, np.bincount(groups))
    drawn = draws(TargetShuffles.plan(y, groups), y)
    first = np.unique(groups, return_index=True)[1]
    assert (drawn == drawn[:, first][:, groups]).all()
    for size in (3, 2):
        of_size = first[np.bincount(groups) == size]
        assert (drawn[:, of_size].sum(axis=1) == y[of_size].sum()).all()
    assert len(np.unique(drawn[:, first[-3:]], axis=0)) > 1  # rare sizes change places with each other


def test_targets_that_differ_within_groups_are_shuffled_there():
    groups = np.arange(40) // 8
    drawn = draws(TargetShuffles.plan(Y, groups), Y)
    assert (drawn.reshape(200, 5, 8).sum(axis=2) == 4).all()


def test_rows_change_places_only_among_equal_covariates():
    sex = (np.arange(40) < 12).astype(float)
    drawn = draws(TargetShuffles.plan(Y, covariates=sex[:, None]), Y)
    assert (drawn[:, :12].sum(axis=1) == Y[:12].sum()).all()
    assert_allclose(drawn[:, 12:].mean(), 0.5)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"covariates": np.arange(40.0)[:, None]}, "only 1 different order among rows of equal covariates; cov"),
        (
            {"covariates": np.maximum(18.0, np.arange(40))[:, None]},
            "only 19 of 40 rows can get another target among rows",
        ),
        ({"groups": np.arange(40) // 10 * 2 + Y}, "70 different orders, as groups of rows keep one target"),
        ({"groups": np.repeat(np.arange(20), 2), "covariates": np.arange(40.0)[:, None] % 2}, "vary within groups"),
    ],
)
def test_few_orders_are_a_reason(options, reason):
    y = np.repeat(np.arange(20) % 2, 2) if "vary" in reason else Y
    assert reason in TargetShuffles.plan(y, **options).reason


def expect_slowly(statistics, least):
    """The same by counting, feature by feature."""
    excess = np.array([row - np.delete(statistics, k, 0).mean(axis=0) for k, row in enumerate(statistics)]).round(9)
    own = excess[0]
    expected = [np.mean([(row >= value).sum() for row in excess]) for value in own]
    share = [count / (own >= value).sum() for count, value in zip(expected, own, strict=True)]
    q = [min([1, *(s for s, v in zip(share, own, strict=True) if least <= v <= value)]) for value in own]
    return np.where(own >= least, expected, np.inf), np.where(own >= least, q, 1)


def test_expected_false_and_q_are_counts():
    rng = np.random.default_rng(0)
    statistics = rng.integers(0, 21, (11, 30)) / 20
    statistics[0, :4] = 1
    errors = tell_from_chance(statistics, 0.1)
    expected, q = expect_slowly(statistics, 0.1)
    assert_allclose(errors.expected_false, expected)
    assert_allclose(errors.q, q)
    assert_allclose(errors.by_habit, statistics[1:].mean(axis=0))
    assert errors.q.min() >= 1 / 11


def test_the_order_of_shuffles_and_features_does_not_matter():
    rng = np.random.default_rng(1)
    statistics = rng.integers(0, 21, (9, 25)) / 20
    errors = tell_from_chance(statistics, 0.1)
    rows, columns = np.r_[0, 1 + rng.permutation(8)], rng.permutation(25)
    moved = tell_from_chance(statistics[rows][:, columns], 0.1)
    assert_allclose(moved.q, errors.q[columns])
    assert moved.p_any == errors.p_any
    padded = tell_from_chance(np.hstack([statistics, np.zeros((9, 7))]), 0.1)  # nobody selects these
    assert_allclose(padded.q[:25], errors.q)


def test_what_is_selected_by_habit_owes_nothing_to_the_target_and_stands_in_no_ones_way():
    statistics = np.zeros((21, 10))
    statistics[:, :3] = 1  # whatever the target is
    statistics[0, 3] = 0.6
    errors = tell_from_chance(statistics, 0.1)
    assert errors.q.tolist() == [1, 1, 1, pytest.approx(1 / 21), *[1] * 6]
    assert leave_one_out_excess(statistics)[0, :3].tolist() == [0, 0, 0]
    assert errors.p_any == pytest.approx(1 / 21)


@pytest.mark.parametrize("correlation", [0.0, 0.95])
def test_in_noise_no_more_features_than_promised_whatever_their_dependence(correlation):
    counted, p_any = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X = correlation**0.5 * rng.normal(size=(40, 1)) + (1 - correlation) ** 0.5 * rng.normal(size=(40, 100))
        y = rng.normal(size=40)
        targets = np.array([y, *(rng.permutation(y) for _ in range(19))])
        errors = tell_from_chance(np.abs((targets - targets.mean()) @ ((X - X.mean(0)) / X.std(0))), 1e-9)
        counted.append((errors.expected_false <= 1).sum())
        p_any.append(errors.p_any)
    assert np.mean(counted) <= 1 + 3 * np.std(counted) / 150**0.5
    assert np.mean(np.array(p_any) <= 0.1) <= 0.1 + 3 * (0.09 / 150) ** 0.5
    assert np.mean(p_any) >= 0.4
