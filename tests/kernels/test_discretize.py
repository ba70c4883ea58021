import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from holdfast.kernels.information import equal_width_codes, information, make_sample, mdl_codes, sort_columns

# Equal width


def slow_bins(column, n_bins):
    return np.digitize(column, np.linspace(column.min(), column.max(), n_bins + 1)[1:-1])


@pytest.mark.parametrize("n_bins", [2, 10, 255, 256])
@pytest.mark.parametrize("d", [1, 3, 64, 150])
def test_equal_width_is_the_slow_definition(n_bins, d):
    X = np.random.default_rng(0).normal(size=(40, d)) * 1e3 + 1e5
    rows = np.array([3, 4, 9, 17, 30])
    for chosen in (np.arange(40), rows):
        codes = equal_width_codes(X, n_bins, chosen)
        assert codes.tolist() == [slow_bins(column, n_bins).tolist() for column in X[chosen].T]
    assert (equal_width_codes(X, n_bins) == equal_width_codes(X, n_bins, np.arange(40))).all()


def test_constant_columns_have_one_bin_and_edges_belong_to_the_bin_above():
    X = np.column_stack([np.full(9, 0.1), np.arange(9.0)])
    assert equal_width_codes(X, 4).tolist() == [[0] * 9, [0, 0, 1, 1, 2, 2, 3, 3, 3]]


# Minimum description length


def entropy(classes):
    return -sum(c / len(classes) * math.log2(c / len(classes)) for c in Counter(classes).values())


def slow_cuts(values, classes):
    """Fayyad and Irani on sorted repeated rows: the borders, as places in the list."""
    n, best = len(values), None
    for cut in range(1, n):
        if values[cut] > values[cut - 1]:
            left, right = classes[:cut], classes[cut:]
            remaining = (cut * entropy(left) + (n - cut) * entropy(right)) / n
            if best is None or remaining < best[0] - 1e-12:
                best = remaining, cut
    if best is None:
        return []
    remaining, cut = best
    left, right = classes[:cut], classes[cut:]
    k, k1, k2 = len(set(classes)), len(set(left)), len(set(right))
    delta = math.log2(3**k - 2) - (k * entropy(classes) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(classes) - remaining <= (math.log2(n - 1) + delta) / n + 1e-12:
        return []
    further = [cut + border for border in slow_cuts(values[cut:], right)]
    return [*slow_cuts(values[:cut], left), cut, *further]


def slow_mdl(x, y):
    order = np.argsort(x, kind="stable")
    values, classes = x[order].tolist(), y[order].tolist()
    cuts = [values[cut] for cut in slow_cuts(values, classes)]
    return np.searchsorted(cuts, x, side="right")


@st.composite
def columns(draw):
    n, n_values, n_classes = draw(st.integers(1, 40)), draw(st.integers(1, 20)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.integers(0, n_values, n).astype(float)
    follows = rng.random(n) < draw(st.sampled_from([0, 0.7, 0.95]))
    y = np.where(follows, x * n_classes // n_values, rng.integers(0, n_classes, n)).astype(int)
    counts = rng.integers(0, draw(st.integers(2, 6)), n)
    counts[0] = 1
    return x, y, counts


@given(columns())
@settings(max_examples=300)
def test_mdl_is_the_slow_definition_on_repeated_rows(column):
    x, y, counts = column
    rows = np.repeat(np.arange(x.size), counts)
    codes = mdl_codes(sort_columns(x[:, None]), y, counts)[0]
    assert codes[rows].tolist() == slow_mdl(x[rows], y[rows]).tolist()
    assert not codes[counts == 0].any()
    assert codes[rows].tolist() == mdl_codes(sort_columns(x[rows, None]), y[rows])[0].tolist()


@pytest.mark.parametrize("n_classes", [2, 5])
def test_mdl_of_continuous_features(n_classes):
    rng = np.random.default_rng(1)
    y = rng.integers(0, n_classes, 200)
    X = rng.normal(size=(200, 30)) + np.linspace(0, 2, 30) * y[:, None]
    codes = mdl_codes(sort_columns(X), y)
    assert codes.tolist() == [slow_mdl(x, y).tolist() for x in X.T]
    assert codes[0].max() == 0 < codes[-1].max()
    gain = information(make_sample(codes), y)
    np.testing.assert_allclose(gain, [mutual_info_score(code, y) for code in codes], atol=1e-13)
    assert gain[0] == 0


def test_a_cut_separates_classes_and_a_constant_feature_has_none():
    y = np.repeat([0, 1, 0], 20)
    X = np.column_stack([np.arange(60.0), np.full(60, 0.1), -np.arange(60.0)])
    third = np.repeat([0, 1, 2], 20)
    assert mdl_codes(sort_columns(X), y).tolist() == [third.tolist(), [0] * 60, (2 - third).tolist()]


def test_of_two_equally_good_cuts_the_lower_is_taken():
    y = np.repeat([0, 1, 2], [6, 1, 6])  # before or behind the 1; a second cut does not pay
    assert mdl_codes(sort_columns(np.arange(13.0)[:, None]), y).tolist() == [[0] * 6 + [1] * 7]


def test_more_intervals_than_codes():
    x, y = np.arange(3000.0)[:, None], np.repeat(np.arange(300), 10)
    with pytest.raises(ValueError, match="Expected at most 256 intervals of a feature, got 300"):
        mdl_codes(sort_columns(x), y)
