import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.kernels import neighbors
from holdfast.kernels.neighbors import (
    shared_ranges,
    split_ranges,
    weigh_features,
    weigh_features_by_numbers,
)


def relief_weights(X, y, counts, n_neighbors=10, *, ranges="split"):
    """Weigh all features on each of many resamples, scaled by their range over the resample's rows or over all."""
    shared = shared_ranges(X) if ranges == "full" else None
    resamples = np.atleast_2d(counts)
    return np.stack([weigh_features(shared or split_ranges(X, own), y, own, n_neighbors) for own in resamples])


def slow_relief(X, y, k, low_high=None):
    """The definition, row by row; ``low_high`` are rows that the ranges are taken from, the same unless given."""
    ranges = np.ptp(X if low_high is None else low_high, axis=0)
    scaled = X / np.where(ranges > 0, ranges, np.inf)
    share = {c: np.mean(y == c) for c in set(y.tolist())}
    weights = np.zeros(X.shape[1])
    for i in range(len(X)):
        own = y[i]
        for c in share:
            near = [r for r in range(len(X)) if y[r] == c and r != i and not (c == own and (X[r] == X[i]).all())]
            near.sort(key=lambda r: (round(np.abs(scaled[r] - scaled[i]).sum(), 9), r))
            if near:
                difference = np.abs(scaled[near[:k]] - scaled[i]).mean(axis=0)
                weights += -difference if c == own else share[c] / (1 - share[own]) * difference
    return weights / len(X)


def make_data(n=60, d=8, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) * np.logspace(-2, 3, d)
    X[:, 0] += 0.01 * y
    return X, y


X, Y = make_data()
COUNTS = np.random.default_rng(1).multinomial(60, np.full(60, 1 / 60), size=5)
HALVES = np.array([np.random.default_rng(seed).permutation(60) < 30 for seed in range(5)]).astype(int)


def repeated(counts):
    return np.repeat(np.arange(counts.size), counts)


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_weights_are_the_slow_definition(k, n_classes):
    X, y = make_data(n_classes=n_classes)
    np.testing.assert_allclose(relief_weights(X, y, np.ones(60), k)[0], slow_relief(X, y, k), atol=1e-12)


def test_weights_are_those_of_skrebate():
    skrebate = pytest.importorskip("skrebate")
    peer = skrebate.ReliefF(n_neighbors=10, n_features_to_select=2).fit(X, Y)
    np.testing.assert_allclose(relief_weights(X, Y, np.ones(60))[0], peer.feature_importances_, atol=1e-12)


@st.composite
def small_samples(draw):
    """Few rows and values: equal rows in and across classes, ties of distances, constant features, absent classes."""
    n, d = draw(st.integers(1, 10)), draw(st.integers(1, 4))
    column = st.lists(st.integers(0, draw(st.integers(0, 4))), min_size=n, max_size=n)
    X = np.array([draw(column) for _ in range(d)], float).T * 0.1
    y = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    return X, y, np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any)))


@given(small_samples(), st.integers(1, 5))
@settings(max_examples=300)
def test_weighted_rows_are_repeated_rows(sample, k):
    X, y, counts = sample
    rows = repeated(counts)
    for ranges, low_high in (("split", None), ("full", X)):
        weighted = relief_weights(X, y, counts, k, ranges=ranges)[0]
        np.testing.assert_allclose(weighted, slow_relief(X[rows], y[rows], k, low_high), atol=1e-12)
    again = relief_weights(X[rows], y[rows], np.ones(rows.size), k)[0]
    np.testing.assert_allclose(relief_weights(X, y, counts, k)[0], again, atol=1e-14)


@pytest.mark.parametrize("ranges", ["split", "full"])
@pytest.mark.parametrize("counts", [COUNTS, HALVES], ids=["bootstraps", "subsamples"])
def test_many_resamples_are_each_alone(ranges, counts):
    together = relief_weights(X, Y, counts, ranges=ranges)
    assert together.shape == (5, 8)
    for weights, own in zip(together, counts, strict=True):
        assert (weights == relief_weights(X, Y, own, ranges=ranges)[0]).all()
        rows = repeated(own)
        expected = slow_relief(X[rows], Y[rows], 10, X if ranges == "full" else None)
        np.testing.assert_allclose(weights, expected, atol=1e-12)


@pytest.mark.parametrize("tile", [1, 7, 59, 60])
def test_distances_in_tiles_and_streamed_change_nothing(tile, monkeypatch):
    expected = {ranges: relief_weights(X, Y, COUNTS, ranges=ranges) for ranges in ("split", "full")}
    monkeypatch.setattr(neighbors, "TILE_ROWS", tile)
    for ranges, weights in expected.items():
        assert (weights == relief_weights(X, Y, COUNTS, ranges=ranges)).all()
    monkeypatch.setattr(neighbors, "SHARED_ROWS", 59)
    assert shared_ranges(X).keys is None
    assert (expected["full"] == relief_weights(X, Y, COUNTS, ranges="full")).all()


def test_more_features_than_fit_into_a_block():
    X, y = make_data(n=20, d=301)
    np.testing.assert_allclose(relief_weights(X, y, np.ones(20), 4)[0], slow_relief(X, y, 4), atol=1e-12)


def test_many_rows_keep_no_matrix_of_distances():
    X, _ = make_data(n=5_001, d=2)
    assert shared_ranges(X).keys is None
    assert shared_ranges(X[:300]).keys.shape == (300, 300)


def test_equally_near_rows_are_taken_by_their_place():
    X = np.array([[0.0, 0], [0.3, 0], [0, 0.3], [1, 1], [0.9, 1]])  # rows 1 and 2 are equally far from row 0
    weights = relief_weights(X, np.array([0, 1, 1, 1, 1]), np.ones(5), 1)[0]
    np.testing.assert_allclose(weights, slow_relief(X, np.array([0, 1, 1, 1, 1]), 1), atol=1e-12)
    exchanged = relief_weights(X[[0, 2, 1, 3, 4]], np.array([0, 1, 1, 1, 1]), np.ones(5), 1)[0]
    np.testing.assert_allclose(weights - exchanged, [0.3 / 5, -0.3 / 5])


def test_copies_of_a_row_are_not_its_neighbors_in_its_class():
    X = np.array([[0.0], [0.0], [0.4], [1.0]])
    y = np.array([0, 0, 0, 1])
    hits = 3 * 0.4  # rows 0 and 1 see row 2, row 2 sees row 0
    misses = 1 + 1 + 0.6 + 0.6
    np.testing.assert_allclose(relief_weights(X, y, np.ones(4), 1)[0], (misses - hits) / 4)
    across = np.array([0, 1, 0, 1])  # row 1 equals row 0 in another class: the nearest miss
    np.testing.assert_allclose(relief_weights(X, across, np.ones(4), 1)[0], (0 + 0 + 0.4 + 0.6 - 0.4 - 1 - 0.4 - 1) / 4)


def test_a_class_of_one_row_has_only_misses_and_one_class_only_hits():
    X = np.array([[0.0], [0.5], [1.0]])
    np.testing.assert_allclose(relief_weights(X, np.array([0, 0, 1]), np.ones(3)), (1 + 0.5 + 0.75 - 0.5 - 0.5) / 3)
    np.testing.assert_allclose(relief_weights(X, np.array([2, 2, 2]), np.ones(3)), -(0.75 + 0.5 + 0.75) / 3)
    assert relief_weights(X, np.array([0, 0, 1]), [0, 1, 0]).tolist() == [[0]]


def test_constant_features_and_large_offsets():
    shifted = X + 1e6
    shifted[:, 3] = 0.1
    expected = slow_relief(shifted - shifted.min(axis=0), Y, 10)
    np.testing.assert_allclose(relief_weights(shifted, Y, np.ones(60))[0], expected, atol=1e-9)
    assert expected[3] == relief_weights(shifted, Y, np.ones(60))[0][3] == 0


def test_ranges_travel_between_processes():
    ranges = shared_ranges(X)
    copies = ranges._replace(**{name: getattr(ranges, name).copy() for name in ranges._fields})
    assert (weigh_features(copies, Y, COUNTS[0]) == weigh_features(ranges, Y, COUNTS[0])).all()
    kernels = neighbors._offer, neighbors._tile_keys, neighbors._add_differences
    assert [len(kernel.signatures) for kernel in kernels] == [1, 1, 1]


def test_unknown_ranges():
    with pytest.raises(ValueError, match="Expected ranges='split' or 'full', got 'some'"):
        hf.selectors.ReliefF(2, ranges="some").fit(X, Y)


# Numbers to predict


def slow_rrelief(X, y, k, sigma=None, low_high=None):
    """The algorithm of Robnik-Sikonja and Kononenko, row by row and neighbor by neighbor."""
    ranges = np.ptp(X if low_high is None else low_high, axis=0)
    scaled, target = X / np.where(ranges > 0, ranges, np.inf), y / np.ptp(y)
    n_dc, n_da, n_dc_da, total = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0
    for i in range(len(X)):
        near = [r for r in range(len(X)) if not (X[r] == X[i]).all()]
        near.sort(key=lambda r: (round(np.abs(scaled[r] - scaled[i]).sum(), 9), r))
        near = near[:k]
        influence = np.array(
            [1.0 if sigma is None else np.exp(-(((rank + 1) / sigma) ** 2)) for rank in range(len(near))]
        )
        for r, share in zip(near, influence / influence.sum() if near else (), strict=True):
            n_dc += abs(target[i] - target[r]) * share
            n_da += np.abs(scaled[i] - scaled[r]) * share
            n_dc_da += abs(target[i] - target[r]) * np.abs(scaled[i] - scaled[r]) * share
            total += share
    return n_dc_da / n_dc - (n_da - n_dc_da) / (total - n_dc)


NUMBERS = X[:, 0] / np.ptp(X[:, 0]) - (X[:, 1] / np.ptp(X[:, 1])) ** 2 + 0.1 * np.random.default_rng(3).normal(size=60)


@pytest.mark.parametrize("sigma", [None, 3.0])
@pytest.mark.parametrize("k", [1, 10, 100])
def test_weights_by_numbers_are_the_slow_definition(k, sigma):
    found = weigh_features_by_numbers(split_ranges(X, np.ones(60)), NUMBERS, np.ones(60), k, sigma)
    np.testing.assert_allclose(found, slow_rrelief(X, NUMBERS, k, sigma), atol=1e-12)


@pytest.mark.parametrize("ranges", ["split", "full"])
@pytest.mark.parametrize("sigma", [None, 4.0])
def test_rows_that_count_twice_are_two_rows_by_numbers_too(ranges, sigma):
    for counts in COUNTS:
        rows = repeated(counts)
        shared = shared_ranges(X) if ranges == "full" else split_ranges(X, counts)
        found = weigh_features_by_numbers(shared, NUMBERS, counts, 7, sigma)
        expected = slow_rrelief(X[rows], NUMBERS[rows], 7, sigma, X if ranges == "full" else None)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_numbers_weigh_what_tells_of_them_together_and_nothing_where_they_do_not_differ():
    rng = np.random.default_rng(0)
    data = rng.uniform(-1, 1, size=(400, 6))
    data[:, 5] = 1.0
    together = np.where(data[:, 0] * data[:, 1] > 0, 1.0, 0.0) + 0.01 * data[:, 2]  # no single feature tells
    found = hf.selectors.RReliefF(2).fit(data, together)
    assert np.flatnonzero(found.get_support()).tolist() == [0, 1]
    assert found.scores_[5] == 0
    assert not found.informative_[5]
    with pytest.warns(hf.selection.FewerFeaturesWarning):
        assert not hf.selectors.RReliefF(2).fit(data, np.full(400, 0.5)).get_support().any()
    with pytest.raises(ValueError, match="Expected sigma to be None or a positive number, got -1"):
        hf.selectors.RReliefF(2, sigma=-1).fit(data, together)
