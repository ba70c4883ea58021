import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

import holdfast as hf
import holdfast.similarity
from holdfast.similarity import Correlation, GivenSimilarity, SymmetricalUncertainty, aligned
from strategies import similarities

X = np.random.default_rng(0).normal(size=(60, 6)) @ np.random.default_rng(1).normal(size=(6, 6))
GIVEN = np.array([[1, 0.9, 0.2, 0], [0.9, 1, 0.5, 0], [0.2, 0.5, 1, 0.95], [0, 0, 0.95, 1]])
ALL = [
    Correlation(X),
    SymmetricalUncertainty(X, n_bins=3),
    GivenSimilarity(GIVEN),
    GivenSimilarity(sp.csr_array(GIVEN)),
    Correlation(X).select(np.array([4, 0, 2])),
    GivenSimilarity(sp.csr_array(GIVEN)).select(np.array([3, 1, 0])),
]


def whole(similarity):
    everything = np.arange(similarity.n_features)
    return similarity.block(everything, everything)


# Correlation


@pytest.mark.parametrize("scale", [1, 1e-180, 1e150])
def test_correlation_is_that_of_numpy(scale):
    expected = np.abs(np.corrcoef(X, rowvar=False))
    np.testing.assert_allclose(whole(Correlation(X * scale + scale)), expected, atol=1e-12)


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e6])
@pytest.mark.parametrize("kind", [Correlation, SymmetricalUncertainty])
def test_a_constant_feature_is_similar_to_none_but_itself(kind, constant):
    data = X.copy()
    data[:, [1, 4]] = constant
    similarity = whole(kind(data))
    assert (similarity[[1, 4]] == np.eye(6)[[1, 4]]).all()
    assert (similarity[:, [1, 4]] == np.eye(6)[:, [1, 4]]).all()
    assert similarity[0, 2] == pytest.approx(whole(kind(X))[0, 2])


def test_copies_and_mirror_images_are_fully_correlated():
    similarity = whole(Correlation(np.column_stack([X[:, 0], 3 * X[:, 0] + 2, -X[:, 0]])))
    np.testing.assert_allclose(similarity, 1)
    assert similarity.max() <= 1


# Symmetrical uncertainty


def equal_width(column, n_bins):
    """Bins closed on the left, the maximum in the last one."""
    return np.digitize(column, np.linspace(column.min(), column.max(), n_bins + 1)[1:-1])


def slow_uncertainty(x, y):
    entropies = entropy(np.unique(x, return_counts=True)[1]) + entropy(np.unique(y, return_counts=True)[1])
    return 2 * mutual_info_score(x, y) / entropies


def slow_matrix(codes):
    return [[slow_uncertainty(x, y) for y in codes.T] for x in codes.T]


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # from scikit-learn before 1.8
@pytest.mark.parametrize("n_bins", [2, 3, 10, 40])
def test_symmetrical_uncertainty_is_the_slow_definition(n_bins):
    codes = np.column_stack([equal_width(column, n_bins) for column in X.T])
    np.testing.assert_allclose(whole(SymmetricalUncertainty(X, n_bins=n_bins)), slow_matrix(codes), atol=1e-12)


def test_values_on_an_edge_belong_to_the_bin_above_and_the_maximum_to_the_last():
    grid = np.random.default_rng(2).permuted(np.tile(np.arange(9.0), (5, 4)), axis=1).T  # 0 … 8, edges at 2, 4 and 6
    codes = np.minimum(grid // 2, 3)
    np.testing.assert_allclose(whole(SymmetricalUncertainty(grid, n_bins=4)), slow_matrix(codes), atol=1e-12)


def test_ten_bins_unless_said_otherwise():
    assert (whole(SymmetricalUncertainty(X)) == whole(SymmetricalUncertainty(X, n_bins=10))).all()


def test_codes_are_taken_as_they_are():
    codes = np.random.default_rng(3).integers(0, 4, (50, 4))
    codes[:, 3] = 255 * (codes[:, 0] > 1)
    np.testing.assert_allclose(whole(SymmetricalUncertainty(codes, n_bins=None)), slow_matrix(codes), atol=1e-12)


@pytest.mark.parametrize("codes", [[[0.5, 1], [1, 0]], [[-1, 0], [1, 0]], [[0, 256], [1, 0]]])
def test_codes_are_whole_numbers_from_0_to_255(codes):
    with pytest.raises(ValueError, match=r"Expected codes, whole numbers from 0 to 255, .* row 0, .* give n_bins"):
        SymmetricalUncertainty(codes, n_bins=None)


@pytest.mark.parametrize("n_bins", [-1, 0, 1, 257, 2.5, True, "10"])
def test_numbers_of_bins(n_bins):
    with pytest.raises(ValueError, match=f"Expected n_bins to be a whole number from 2 to 256, got {n_bins!r}"):
        SymmetricalUncertainty(X, n_bins=n_bins)


def test_a_constant_matches_nothing_not_even_itself():
    """0 / 0 is read as no information where sets are matched; elsewhere a feature equals itself."""
    data = X.copy()
    data[:, 1] = 3.0
    alike, runs = SymmetricalUncertainty(data), hf.Preferences.from_sets([{0, 1}, {0, 1}], n_features=X.shape[1])
    everything = np.arange(X.shape[1])
    assert (alike.block(everything, everything).diagonal() == 1).all()
    assert alike.matching_block(everything, everything).diagonal().tolist() == (everything != 1).tolist()
    for similarity in (alike, alike.select(everything)):
        assert hf.stability(runs, "gulgezen", similarity=similarity).value == 0.5
        assert hf.stability(runs, "yu", similarity=similarity, threshold=0.9).value == 1
    assert hf.stability(runs, "gulgezen", X=data).value == 0.5
    assert hf.stability(runs, "gulgezen", similarity=Correlation(data)).value == 1


def test_what_is_remembered_is_what_is_computed(monkeypatch):
    rows, columns = np.array([3, 0, 3]), np.array([5, 1])
    remembering = SymmetricalUncertainty(X)
    found = [remembering.block(rows, columns), remembering.block(columns, rows).T, whole(remembering)]
    monkeypatch.setattr(holdfast.similarity, "REMEMBERED", 0)
    computed = SymmetricalUncertainty(X)
    expected = [computed.block(rows, columns), computed.block(columns, rows).T, whole(computed)]
    assert all((ours == theirs).all() for ours, theirs in zip(found, expected, strict=True))
    remembering.block(rows, columns)[:] = 9
    assert (whole(remembering) <= 1).all()


# Data of both


@pytest.mark.parametrize("kind", [Correlation, SymmetricalUncertainty])
def test_data_in_every_form(kind):
    names = list("abcdef")
    frame = pd.DataFrame(X, columns=names)
    for form in (X.tolist(), np.asfortranarray(X), sp.csr_array(X), frame, pl.from_pandas(frame)):
        np.testing.assert_allclose(whole(kind(form)), whole(kind(X)), atol=1e-12)
    assert (kind(X).names, kind(frame).names, kind(pl.from_pandas(frame)).names) == (None, tuple(names), tuple(names))


@pytest.mark.parametrize("kind", [Correlation, SymmetricalUncertainty])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pd.DataFrame({"a": [1, 2], "b": [3, np.nan]}), ["nan at sample 1, feature 1 ('b')", "Fill in or leave out"]),
        (pd.DataFrame({"a": pd.array([1, None], "Int64")}), ["nan at sample 1, feature 0 ('a')", "Fill in"]),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "3"]}), ["'x' at sample 0, feature 1 ('b')", "make it a number"]),
        ([[1, np.inf]], ["finite feature values, got inf at sample 0, feature 1"]),
        ([1, 2, 3], ["one row per sample and one column per feature", "1 dimension(s)"]),
        ([[1, 2], [3]], ["2 entries in sample 0 and 1 in sample 1"]),
    ],
    ids=["gap", "pandas gap", "text", "infinite", "flat", "ragged"],
)
def test_bad_data_is_told_in_one_sentence(kind, data, words):
    with pytest.raises(ValueError, match=r"^Expected ") as caught:
        kind(data)
    for word in words:
        assert word in str(caught.value)


# Given matrices

FRAME = pd.DataFrame(GIVEN, columns=list("abcd"), index=list("abcd"))


@pytest.mark.parametrize(
    ("matrix", "names"),
    [
        (GIVEN, None),
        (GIVEN.tolist(), None),
        (sp.csr_array(GIVEN), None),
        (sp.coo_matrix(GIVEN), None),
        (FRAME, ("a", "b", "c", "d")),
        (pl.from_pandas(FRAME), ("a", "b", "c", "d")),
    ],
    ids=["array", "list", "csr", "coo", "pandas", "polars"],
)
def test_given_in_every_form(matrix, names):
    similarity = GivenSimilarity(matrix)
    assert (similarity.n_features, similarity.names) == (4, names)
    assert (whole(similarity) == GIVEN).all()
    assert (similarity.block(np.array([2, 0]), np.array([3, 2, 1])) == GIVEN[np.ix_([2, 0], [3, 2, 1])]).all()
    assert repr(similarity) == "GivenSimilarity(4 features)"


def test_entries_given_in_parts_are_added_up():
    parts = sp.csr_array(([1, 0.4, 0.4, 0.8, 1], [0, 1, 1, 0, 1], [0, 3, 5]), shape=(2, 2))
    similarity = GivenSimilarity(parts)
    assert similarity.above(0.5).toarray().tolist() == [[1, 0.8], [0.8, 1]]
    assert parts.nnz == 5


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_later_changes_of_a_given_matrix_change_nothing(form):
    matrix = form(GIVEN)
    similarity = GivenSimilarity(matrix)
    matrix[0, 1] = 0.1
    assert (whole(similarity) == GIVEN).all()


def changed(**entries):
    matrix = GIVEN.copy()
    for place, value in entries.items():
        matrix[int(place[1]), int(place[2])] = matrix[int(place[2]), int(place[1])] = value
    return matrix


@pytest.mark.parametrize("form", [np.array, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (GIVEN[:3], "Expected a square similarity matrix, got 3 × 4"),
        (changed(e01=-0.5), "Expected similarities from 0 to 1, got -0.5 to 1; take absolute values"),
        (changed(e01=1.5), "Expected similarities from 0 to 1, got 0 to 1.5"),
        (np.triu(GIVEN), "Expected a symmetric similarity matrix, got one that is not; use (S + S.T) / 2"),
        (changed(e22=0.5), "Expected 1 on the diagonal of the similarity matrix"),
        (changed(e01=np.nan), "got nan"),
    ],
    ids=["not square", "negative", "above one", "not symmetric", "diagonal", "gap"],
)
def test_bad_given_matrices(form, matrix, message):
    message = message.replace("got 0 to 1.5", "got 0.2 to 1.5") if form is sp.csr_array else message
    with pytest.raises(ValueError, match=re.escape(message)):
        GivenSimilarity(form(matrix))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (FRAME.astype(object).mask(FRAME == 0.2, "x"), "Expected similarities, got 'x' at feature 0, feature 2 ('c')"),
        (FRAME.replace(0.2, np.nan), "Expected finite similarities, got nan at feature 0, feature 2 ('c')"),
        (np.ones(3), "Expected a matrix of similarities with one row per feature"),
        ("similarity.csv", "Expected a matrix of similarities"),
    ],
    ids=["text", "gap", "flat", "path"],
)
def test_given_matrices_that_are_none(matrix, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GivenSimilarity(matrix)


# Thresholds


@pytest.mark.parametrize("entries", [None, 1, 7, 13], ids="entries={}".format)
@pytest.mark.parametrize("threshold", [0, 0.3, 0.9, 0.95, 1])
@pytest.mark.parametrize("similarity", ALL, ids=repr)
def test_above_is_the_dense_matrix_cut_at_the_threshold(similarity, threshold, entries, monkeypatch):
    if entries is not None:
        monkeypatch.setattr(holdfast.similarity, "BLOCK_ENTRIES", entries)
    dense = whole(similarity)
    kept = similarity.above(threshold)
    np.testing.assert_allclose(kept.toarray(), np.where(dense >= threshold, dense, 0), atol=1e-12)
    assert (kept.diagonal() == 1).all()
    assert kept.nnz == np.count_nonzero(np.where(dense >= threshold, dense, 0))


@given(similarities(5), st.floats(0.01, 1))
def test_dense_and_sparse_agree(matrix, threshold):
    dense, sparse = GivenSimilarity(matrix), GivenSimilarity(sp.csc_array(matrix))
    assert (dense.above(threshold) != sparse.above(threshold)).nnz == 0


# Lining up


def test_aligned_by_name():
    for similarity in (FRAME, GivenSimilarity(FRAME)):
        lined_up = aligned(similarity, ("d", "b", "a"))
        assert lined_up.names == ("d", "b", "a")
        assert (whole(lined_up) == GIVEN[np.ix_([3, 1, 0], [3, 1, 0])]).all()
        assert (lined_up.above(0.9).toarray() == [[1, 0, 0], [0, 1, 0.9], [0, 0.9, 1]]).all()


def test_aligned_already():
    named, bare = GivenSimilarity(FRAME), GivenSimilarity(GIVEN)
    assert aligned(named, tuple("abcd")) is named
    assert aligned(named, range(4)) is named
    assert aligned(bare, tuple("wxyz")) is bare
    assert aligned(bare, range(4)) is bare


@pytest.mark.parametrize(
    ("similarity", "features", "message"),
    [
        (FRAME, ("a", "q", "r"), "got none for 'q' (2 such features); add them to the data or the similarity matrix"),
        (FRAME, range(3), "Expected a similarity of the 3 features selected from, got 4; name the features"),
        (GIVEN, ("a", "b"), "Expected a similarity of the 2 features selected from, got 4; name the features"),
        (GIVEN, range(5), "Expected a similarity of the 5 features selected from, got 4; name the features"),
    ],
    ids=["missing names", "fewer", "no names", "more"],
)
def test_similarities_that_do_not_line_up(similarity, features, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        aligned(similarity, features)
