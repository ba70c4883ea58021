import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif, f_regression

import holdfast as hf
from holdfast.kernels import filters
from holdfast.kernels.filters import (
    anova_f,
    centered,
    class_moments,
    golub,
    golub_variance,
    moments_by_blocks,
    quantile_codes,
    ratio_per_variance,
    variance,
)
from holdfast.selectors import (
    AnovaF,
    FTest,
    Golub,
    GolubVariance,
    InformationGain,
    SymmetricalUncertaintyFilter,
    Variance,
)

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 50)
X = RNG.normal(size=(50, 7)) * np.logspace(-3, 3, 7) + 100
X[:, :3] += 0.01 * Y[:, None]
COUNTS = RNG.multinomial(50, np.full(50, 1 / 50), size=4)


def moments(X, y, counts=None):
    return class_moments(centered(X, y), counts)


def slow_golub(X, y):
    one, two = X[y == 0], X[y == 1]
    return np.abs(one.mean(axis=0) - two.mean(axis=0)) / (one.std(axis=0, ddof=1) + two.std(axis=0, ddof=1))


@pytest.mark.parametrize("scale", [1e-150, 1, 1e140])
@pytest.mark.parametrize("offset", [0, -1e3, 1e6])
def test_filters_are_the_definitions(scale, offset):
    data = (X + offset) * scale
    of = moments(data, Y)
    np.testing.assert_allclose(variance(of), data.var(axis=0, ddof=1), rtol=1e-7 if offset else 1e-9)
    np.testing.assert_allclose(golub(of), slow_golub(data, Y), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_golub_of_several_classes_is_the_largest_of_two_or_of_one_against_the_rest(n_classes):
    y = np.arange(50) % n_classes
    two = [np.isin(y, (a, b)) for b in range(n_classes) for a in range(b)]
    pairs = [slow_golub(X[rows], y[rows] == y[rows].max()) for rows in two]
    rest = [slow_golub(X, y == a) for a in range(n_classes)]
    np.testing.assert_allclose(golub(moments(X, y)), np.max(pairs, axis=0), rtol=1e-9)
    np.testing.assert_allclose(golub(moments(X, y), "rest"), np.max(rest, axis=0), rtol=1e-9)
    if n_classes == 2:
        assert golub(moments(X, y)).tolist() == golub(moments(X, y), "rest").tolist()


@pytest.mark.parametrize("contrast", ["pairwise", "rest"])
def test_golub_of_several_classes_takes_counts_for_repeated_rows(contrast):
    y, counts = np.arange(50) % 4, COUNTS[0]
    rows = np.repeat(np.arange(50), counts)
    weighted, again = golub(moments(X, y, counts), contrast), golub(moments(X[rows], y[rows]), contrast)
    np.testing.assert_allclose(weighted, again, rtol=1e-9)
    lonely = np.where(y == 3, np.arange(50) == 3, 1)  # one row of a class
    assert np.isfinite(golub(moments(X, y, lonely), contrast)).all()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_anova_is_that_of_scikit_learn(n_classes):
    y = np.arange(50) % n_classes
    expected = f_classif(X - X.mean(axis=0), y)[0]  # which loses digits of data that are far from 0
    np.testing.assert_allclose(anova_f(moments(X, y)), expected, rtol=1e-9)


@pytest.mark.parametrize("counts", COUNTS)
def test_weighted_rows_are_repeated_rows(counts):
    rows = np.repeat(np.arange(50), counts)
    weighted, again = moments(X, Y, counts), moments(X[rows], Y[rows])
    for of in (variance, golub, anova_f):
        np.testing.assert_allclose(of(weighted), of(again), rtol=1e-9)
    np.testing.assert_allclose(golub(weighted), slow_golub(X[rows], Y[rows]), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-290, 1e290])
def test_tiny_and_huge_values_keep_their_ratios(scale):
    of, scaled = moments(X, Y), moments(X * scale, Y)
    np.testing.assert_allclose(golub(scaled), golub(of), rtol=1e-9)
    np.testing.assert_allclose(anova_f(scaled), anova_f(of), rtol=1e-9)


def test_golub_with_variance():
    of = moments(X, Y)
    assert (golub_variance(of, 0) == golub(of)).all()
    np.testing.assert_allclose(golub_variance(of, 2.5), golub(of) + 2.5 * variance(of))
    assert (golub_variance(of, math.inf) == variance(of)).all()


@given(st.floats(-1e6, 1e6, allow_subnormal=False), st.floats(-1e6, 1e6, allow_subnormal=False), st.integers(0, 10**6))
@settings(max_examples=50)
def test_constant_features_leave_no_rounding(first, second, seed):
    counts = np.random.default_rng(seed).integers(1, 4, 50)
    data = np.column_stack([np.full(50, first), np.where(Y == 0, first, second), X[:, 0]])
    of = moments(data, Y, counts)
    apart = math.inf if first != second else 0
    assert variance(of)[0] == golub(of)[0] == anova_f(of)[0] == 0
    assert golub(of)[1] == anova_f(of)[1] == apart
    only = np.where(Y == 1, 0, counts) > 0
    assert moments(data, Y, only).scatter[:, :2].tolist() == [[0, 0], [0, 0]]  # nothing of the class without rows


def test_a_feature_constant_in_a_resample_only():
    data = X.copy()
    data[:-1, 2], data[-1, 2] = 0.1, 1e4
    counts = np.ones(50)
    counts[-1] = 0
    of = moments(data, Y, counts)
    assert variance(of)[2] == golub(of)[2] == anova_f(of)[2] == 0


def test_a_class_that_hardly_varies_beside_its_distance_keeps_its_digits():
    small = RNG.normal(size=50)
    data = (small + 1e5 * Y)[:, None]
    np.testing.assert_allclose(golub(moments(data, Y)), slow_golub(data, Y), rtol=1e-9)
    np.testing.assert_allclose(anova_f(moments(data, Y)), f_classif(data, Y)[0], rtol=1e-6)


def test_classes_that_are_too_few_or_of_one_row():
    assert np.isnan(golub(moments(X, Y * 0))).all()
    assert np.isnan(anova_f(moments(X, Y * 0))).all()
    assert np.isnan(anova_f(moments(X[:3], np.arange(3)))).all()
    assert np.isnan(variance(moments(X[:1], [0]))).all()
    assert np.isnan(golub(moments(X, Y * 0), "rest")).all()
    one = moments(X[:4], [0, 0, 0, 1])
    np.testing.assert_allclose(golub(one), np.abs(X[:3].mean(axis=0) - X[3]) / X[:3].std(axis=0, ddof=1), rtol=1e-9)


def test_a_class_that_a_resample_lost_is_left_out():
    y = np.arange(50) % 3
    counts = (y != 1).astype(int)
    rows = np.flatnonzero(counts)
    np.testing.assert_allclose(golub(moments(X, y, counts)), slow_golub(X[rows], y[rows] // 2), rtol=1e-9)


def test_a_weight_of_the_variance_that_leaves_the_range_of_numbers_is_refused():
    moments = class_moments(centered(np.array([[0.0, 9.0], [1, 3], [5, 7], [20, 1]]), [0, 0, 1, 1]))
    with pytest.raises(ValueError, match=r"lambda_v times the variance to be finite, got lambda_v=1e\+308"):
        golub_variance(moments, 1e308)
    assert golub_variance(moments, 0).tolist() == golub(moments).tolist()


def test_a_relative_weight_of_the_variance_counts_in_largest_values_and_no_unit_of_the_data_changes_it():
    own = moments(X, Y)
    expected = golub(own) + 0.5 * golub(own).max() / variance(own).max() * variance(own)
    np.testing.assert_allclose(golub_variance(own, 0.5, relative=True), expected, rtol=1e-12)
    in_thousands = moments(X * 1000, Y)
    np.testing.assert_allclose(golub_variance(in_thousands, 0.5, relative=True), expected, rtol=1e-9)
    assert not np.allclose(golub_variance(in_thousands, 0.5), golub_variance(own, 0.5))
    assert golub_variance(own, np.inf, relative=True).tolist() == variance(own).tolist()


def test_a_relative_weight_passes_over_infinite_ratios_and_falls_back_where_nothing_differs():
    assert ratio_per_variance(np.array([np.inf, 2.0, 1.0]), np.array([4.0, 1.0, 0.0])) == 0.5
    assert ratio_per_variance(np.zeros(2), np.array([4.0, 1.0])) == 1.0
    assert ratio_per_variance(np.full(2, np.nan), np.zeros(2)) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
def test_moments_by_blocks_of_columns_are_those_of_the_whole_table(monkeypatch, dtype):
    data, counts = np.abs(X * 7).astype(dtype), np.vstack([COUNTS] * 10)
    monkeypatch.setattr(filters, "AT_ONCE", 8 * 50 * 3)  # three columns at a time
    by_blocks = list(moments_by_blocks(data, Y, counts))
    ends = np.cumsum([len(several.size) for several in by_blocks])  # as many as share a pass
    assert ends[-1] == len(counts)
    for rows, several in zip(np.split(counts, ends[:-1]), by_blocks, strict=True):
        whole = moments(data.astype(np.float64), Y, rows)
        np.testing.assert_array_equal(several.size, whole.size)
        np.testing.assert_array_equal(several.unit, whole.unit)
        np.testing.assert_allclose(several.mean, whole.mean, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(several.scatter, whole.scatter, rtol=1e-12)


def test_moments_of_several_resamples_are_those_of_each_to_the_last_bit():
    y, counts = np.arange(50) % 3, COUNTS.copy()
    counts[1, y == 0] = 0
    together = moments(X, y, counts)
    for resample, row in enumerate(counts):
        alone = moments(X, y, row)
        assert all((part[resample] == of).all() for part, of in zip(together[:3], alone, strict=False))
        assert (anova_f(together)[resample] == anova_f(alone)).all()
        assert (variance(together)[resample] == variance(alone)).all()


@pytest.mark.parametrize("selector", [AnovaF(4), Golub(4), Variance(4), GolubVariance(4, lambda_v=0.5)])
def test_a_large_table_of_single_precision_selects_as_a_small_one_of_the_same_numbers(monkeypatch, selector):
    data = (X * 3).astype(np.float32)
    study = hf.Study(selectors={"filter": selector}, perturbation=hf.Bootstrap(20), scoring=None)
    small = study.run(data.astype(np.float64), Y).preferences("filter").lists()
    monkeypatch.setattr(filters, "AT_ONCE", 200)
    large = study.run(data, Y).preferences("filter").lists()
    np.testing.assert_array_equal(large[0], small[0])
    np.testing.assert_array_equal(large[1], small[1])


# Numbers to predict

NUMBERS = X[:, 0] / 1e-3 + X[:, 4] / 100 + np.random.default_rng(7).normal(size=50)


@pytest.mark.parametrize("shift", [0, 1e6])
def test_the_f_test_is_that_of_scikit_learn(shift):
    found = FTest(3).fit(X, NUMBERS + shift)
    centered = X - X.mean(axis=0)  # the peer loses digits of data that are far from 0
    np.testing.assert_allclose(found.scores_, f_regression(centered, NUMBERS)[0], rtol=1e-6)
    rows = np.repeat(np.arange(50), COUNTS[0])
    weighted = FTest(3).fit(X, NUMBERS, sample_weight=COUNTS[0])
    np.testing.assert_allclose(weighted.scores_, f_regression(centered[rows], NUMBERS[rows])[0], rtol=1e-6)
    constant = np.column_stack([X, np.full(50, 0.1), NUMBERS])
    scores = FTest(3).fit(constant, NUMBERS).scores_
    assert scores[7] == 0
    assert scores[8] == scores.max()


@pytest.mark.parametrize("n_bins", [2, 4, 7])
def test_bins_of_numbers_hold_as_many_rows_each_and_no_ties_are_parted(n_bins):
    values = np.round(NUMBERS, 1)
    codes = quantile_codes(values, np.ones(50), n_bins)
    assert codes.max() == n_bins - 1
    assert np.ptp(np.bincount(codes)) <= 5
    assert all(np.unique(codes[values == value]).size == 1 for value in values)
    assert (np.diff(codes[np.argsort(values)]) >= 0).all()
    rows = np.repeat(np.arange(50), COUNTS[0])
    again = quantile_codes(values[rows], np.ones(rows.size), n_bins)
    assert quantile_codes(values, COUNTS[0], n_bins)[rows].tolist() == again.tolist()


@pytest.mark.parametrize("kind", [InformationGain, SymmetricalUncertaintyFilter])
def test_information_filters_bin_numbers_if_asked_to(kind):
    binned = kind(1, target_bins=3).fit(X, NUMBERS)
    of_classes = kind(1).fit(X, quantile_codes(NUMBERS, np.ones(50), 3))
    assert binned.scores_.tolist() == of_classes.scores_.tolist()
    with pytest.raises(ValueError, match="Unknown label type"):
        kind(3).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="Expected target_bins to be None or a whole number of at least 2, got 1"):
        kind(3, target_bins=1).fit(X, NUMBERS)
    study = hf.Study(selectors={"s": kind(1, target_bins=3)}, perturbation=hf.Bootstrap(4))
    split = next(hf.Bootstrap(4).splits(NUMBERS, stratified=False))
    alone = kind(1, target_bins=3, random_state=split.seed).fit(*split.data(X, NUMBERS))
    assert study.run(X, NUMBERS).preferences("s").selected(0) == np.flatnonzero(alone.get_support()).tolist()
