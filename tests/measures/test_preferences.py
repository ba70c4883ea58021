import pickle
from collections import Counter
from dataclasses import FrozenInstanceError
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from holdfast import Preferences
from holdfast.measures.forms import stacked

MATRIX = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 0]])
NAMES, LABELS = ("age", "dose", "sex", "pulse"), ("a", "b", "c")
FRAME = pd.DataFrame(MATRIX, columns=pd.Index(NAMES), index=pd.Index(LABELS))
RANKS = [[1, 2, 3, 4], [4, 3, 2, 1]]
WEIGHTS = [[0.5, 2.0, 0.5, 0.5], [3.0, -1.0, 0.0, 3.0]]

SUBSETS, RANKING, WEIGHTING = (
    Preferences.from_matrix(MATRIX),
    Preferences.from_rankings(RANKS),
    Preferences.from_weights(WEIGHTS),
)


def selections(preferences):
    return [preferences.selected(run) for run in range(len(preferences))]


# Making one

BARE_MATRICES = {
    "int array": MATRIX,
    "float array": MATRIX.astype(float),
    "bool array": MATRIX.astype(bool),
    "object array": MATRIX.astype(object),
    "Fortran order": np.asfortranarray(MATRIX),
    "nested list": MATRIX.tolist(),
    "nested list of bool": MATRIX.astype(bool).tolist(),
    "tuple of arrays": tuple(MATRIX),
    "csr array": sp.csr_array(MATRIX),
    "csc array": sp.csc_array(MATRIX),
    "lil matrix": sp.lil_matrix(MATRIX),
    "sparse bool": sp.csr_array(MATRIX.astype(bool)),
    "unsorted sparse": sp.csr_array(([1, 1, 1, 1], [2, 0, 1, 0], [0, 2, 2, 4]), shape=(3, 4)),
    "explicit zeros": sp.csr_array(([1, 0, 1, 0, 1, 1], [0, 1, 2, 3, 0, 1], [0, 3, 4, 6]), shape=(3, 4)),
    "repeated entries of True": sp.coo_array(
        (np.ones(5, dtype=bool), ([0, 0, 0, 2, 2], [0, 0, 2, 0, 1])), shape=(3, 4)
    ),
    "plain frame": pd.DataFrame(MATRIX),
    "plain bool frame": pd.DataFrame(MATRIX.astype(bool)),
}


@pytest.mark.parametrize("matrix", BARE_MATRICES.values(), ids=BARE_MATRICES)
def test_every_bare_matrix_says_the_same(matrix):
    preferences = Preferences.from_matrix(matrix)
    assert preferences == SUBSETS
    assert (preferences.kind, preferences.n_runs, preferences.n_features) == ("subset", 3, 4)
    assert (preferences.names, preferences.labels, preferences.features) == (None, None, range(4))
    assert selections(preferences) == [[0, 2], [], [0, 1]]


@pytest.mark.parametrize(
    ("matrix", "labels"),
    [
        (FRAME, LABELS),
        (FRAME.reset_index(drop=True), None),
        (FRAME.astype(bool), LABELS),
        (FRAME.astype({"age": bool}), LABELS),
        (FRAME.astype("Int64"), LABELS),
        (FRAME.astype("boolean"), LABELS),
        (FRAME.set_axis([10, 20, 30]), None),
        (FRAME.set_axis(pd.Index([10, 20, 30], name="resample")), ("10", "20", "30")),
        (pl.DataFrame(MATRIX, schema=NAMES, orient="row"), None),
        (pl.DataFrame(MATRIX.astype(bool), schema=NAMES, orient="row"), None),
    ],
    ids=["pandas", "plain index", "bool", "mixed", "Int64", "boolean", "left over", "named", "polars", "polars bool"],
)
def test_frames_bring_their_names(matrix, labels):
    preferences = Preferences.from_matrix(matrix)
    assert preferences == Preferences.from_matrix(MATRIX, features=NAMES, labels=labels)
    assert selections(preferences) == [["age", "sex"], [], ["age", "dose"]]


def test_given_names_go_before_those_of_a_frame():
    preferences = Preferences.from_matrix(FRAME, features="wxyz", labels=[7, 8, 9])
    assert (preferences.names, preferences.labels) == (("w", "x", "y", "z"), ("7", "8", "9"))


@pytest.mark.parametrize("make", [Preferences.from_matrix, Preferences.from_weights])
def test_names_that_only_count_from_zero_are_no_names(make):
    assert make(MATRIX, features=["0", "1", "2", "3"]) == make(MATRIX, features=range(4)) == make(MATRIX)
    assert make(MATRIX, features=["1", "2", "3", "4"]).names == ("1", "2", "3", "4")


@pytest.mark.parametrize(
    "sets",
    [
        [{"age", "sex"}, set(), {"dose", "age"}],
        [["sex", "age"], [], ["age", "dose"]],
        [("sex", "age"), frozenset(), np.array(["age", "dose"])],
        ({"age", "sex"}, [], {"age": 1, "dose": 2}),
        iter([["age", "sex"], [], ["age", "dose"]]),
        [pd.Index(["age", "sex"]), (), pd.Series(["age", "dose"])],
        [{0, 2}, set(), {1, 0}],
        [[2, 0], [], np.array([0, 1])],
    ],
    ids=["sets", "lists", "tuples and arrays", "keys", "generator", "pandas", "indices", "arrays of indices"],
)
def test_sets_of_names_or_indices(sets):
    assert Preferences.from_sets(sets, features=NAMES) == Preferences.from_matrix(MATRIX, features=NAMES)


def test_sets_of_indices_need_only_a_number():
    assert Preferences.from_sets([[2, 0], [], np.array([1, 0])], n_features=4) == SUBSETS


def test_a_mapping_brings_labels():
    sets = {"a": {"age", "sex"}, "b": [], "c": ["age", "dose"]}
    assert Preferences.from_sets(sets, features=NAMES) == Preferences.from_matrix(FRAME)
    assert Preferences.from_sets(sets, features=NAMES, labels="xyz").labels == ("x", "y", "z")


def test_numbers_are_names_where_features_are_named_by_numbers():
    preferences = Preferences.from_sets([[20, 10], ["30"]], features=[10, 20, 30])
    assert selections(preferences) == [["10", "20"], ["30"]]


def test_with_only_a_number_the_names_seen_come_first():
    preferences = Preferences.from_sets([["dose", "age"], ["sex"]], n_features=5)
    assert preferences.names == ("dose", "age", "sex", "unnamed_3", "unnamed_4")
    assert selections(preferences) == [["dose", "age"], ["sex"]]
    assert preferences.counts.tolist() == [1, 1, 1, 0, 0]


def test_names_seen_in_sets_do_not_depend_on_their_order_in_memory():
    assert Preferences.from_sets([set("qwertz")], n_features=6).names == tuple("eqrtwz")


def test_features_and_number_may_both_be_given_if_they_agree():
    assert Preferences.from_sets([{0}], features=NAMES, n_features=4).n_features == 4


@pytest.mark.parametrize(
    "ranks",
    [[1.5, 1.5, 3, 4], [1, 1, 3, 4], [2, 2, 3, 4], [1, 1, 2, 3]],
    ids=["average", "min", "max", "dense"],
)
@pytest.mark.parametrize("form", [np.array, pd.DataFrame, sp.csr_array, list])
def test_ties_of_every_convention_become_average_ranks(ranks, form):
    preferences = Preferences.from_rankings(form([ranks]))
    assert preferences.kind == "ranking"
    assert preferences.matrix().tolist() == [[1.5, 1.5, 3, 4]]


def test_rankings_and_weights_bring_the_names_of_frames():
    frame = pd.DataFrame(RANKS, columns=list("wxyz"), index=["r", "s"])
    for make in (Preferences.from_rankings, Preferences.from_weights):
        assert (make(frame).names, make(frame).labels) == (("w", "x", "y", "z"), ("r", "s"))
        assert make(pl.from_pandas(frame)).matrix().tolist() == RANKS


@pytest.mark.parametrize("form", [np.array, list, pd.DataFrame, pl.DataFrame, sp.csc_array])
def test_weights_are_kept_as_they_are(form):
    given = np.transpose(WEIGHTS).tolist() if form is pl.DataFrame else WEIGHTS
    preferences = Preferences.from_weights(form(given), features="wxyz")
    assert preferences.kind == "weighting"
    assert preferences.matrix().tolist() == WEIGHTS


# What it says


def test_what_subsets_say():
    assert SUBSETS.sizes.tolist() == [2, 0, 2]
    assert SUBSETS.counts.tolist() == [2, 1, 1, 0]
    np.testing.assert_allclose(SUBSETS.frequency, [2 / 3, 1 / 3, 1 / 3, 0])
    assert SUBSETS.density == pytest.approx(4 / 12)
    assert SUBSETS.to_sparse().toarray().tolist() == MATRIX.tolist()
    assert len(SUBSETS) == 3


def test_selected_counts_from_the_end_too():
    assert SUBSETS.selected(-1) == [0, 1]
    with pytest.raises(IndexError):
        SUBSETS.selected(3)


@pytest.mark.parametrize("name", ["sizes", "counts", "frequency", "density"])
def test_only_subsets_have_sizes(name):
    with pytest.raises(TypeError, match=r"Expected subsets, got rankings; cut them with \.top\(k\)"):
        getattr(RANKING, name)


def test_subsets_have_no_order():
    for ask in (SUBSETS.matrix, SUBSETS.to_ranking, partial(SUBSETS.top, 1)):
        with pytest.raises(TypeError, match="Expected rankings or weights, got subsets"):
            ask()


def test_frames_of_every_kind():
    named = Preferences.from_matrix(FRAME)
    pd.testing.assert_frame_equal(named.to_frame(), FRAME, check_dtype=False)
    pd.testing.assert_frame_equal(SUBSETS.to_frame(), pd.DataFrame(MATRIX), check_dtype=False, check_index_type=False)
    pd.testing.assert_frame_equal(WEIGHTING.to_frame(), pd.DataFrame(WEIGHTS), check_index_type=False)


@pytest.mark.parametrize(
    ("preferences", "text"),
    [
        (SUBSETS, "Preferences: 3 subsets of 4 features, 0 to 2 selected each"),
        (Preferences.from_sets([[0]], n_features=9), "Preferences: 1 subset of 9 features, 1 selected each"),
        (RANKING, "Preferences: 2 rankings of 4 features"),
        (WEIGHTING, "Preferences: 2 weightings of 4 features"),
    ],
)
def test_repr_is_one_line(preferences, text):
    assert repr(preferences) == text


def test_equality():
    same = Preferences.from_matrix(MATRIX, features=NAMES, labels=LABELS)
    assert same == Preferences.from_matrix(FRAME)
    others = [
        SUBSETS,
        Preferences.from_matrix(1 - MATRIX, features=NAMES, labels=LABELS),
        Preferences.from_matrix(MATRIX, features="abcd", labels=LABELS),
        Preferences.from_matrix(MATRIX, features=NAMES, labels="xyz"),
        Preferences.from_weights(MATRIX, features=NAMES, labels=LABELS),
        "subsets",
    ]
    assert not any(same == other for other in others)
    assert Preferences.from_rankings(RANKS) != Preferences.from_weights(RANKS)
    with pytest.raises(TypeError, match="unhashable"):
        hash(same)


# It never changes


@pytest.mark.parametrize(
    "array",
    [
        SUBSETS.indices,
        SUBSETS.indptr,
        SUBSETS.sizes,
        SUBSETS.counts,
        SUBSETS.frequency,
        RANKING.values,
        WEIGHTING.values,
        WEIGHTING.to_ranking().values,
        WEIGHTING.top(2, ties="lowest").indptr,
        SUBSETS.take([0, 1]).indices,
    ],
)
def test_arrays_are_read_only(array):
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 0


@pytest.mark.parametrize("name", ["kind", "n_features", "indices", "names", "labels"])
def test_attributes_are_frozen(name):
    with pytest.raises(FrozenInstanceError):
        setattr(SUBSETS, name, None)


@pytest.mark.parametrize("make", [Preferences.from_matrix, Preferences.from_rankings, Preferences.from_weights])
@pytest.mark.parametrize("form", [np.array, np.asfortranarray, pd.DataFrame, sp.csr_array])
def test_later_changes_of_the_input_change_nothing(make, form):
    given = form(np.ones((2, 3)))
    preferences = make(given)
    if form is pd.DataFrame:
        given.iloc[0, 0] = 3.0
    else:
        given[0, 0] = 3.0
    assert preferences == make(np.ones((2, 3)))


def test_a_sparse_input_stays_as_it_was():
    given = sp.csr_array(([1, 0, 1], [2, 1, 0], [0, 3]), shape=(1, 3))
    assert Preferences.from_matrix(given).selected(0) == [0, 2]
    assert (given.data.tolist(), given.indices.tolist()) == ([1, 0, 1], [2, 1, 0])
    repeated = sp.csr_array(([1, 1], [1, 1], [0, 2]), shape=(1, 3))
    with pytest.raises(ValueError, match="got 2 at run 0, feature 1"):
        Preferences.from_matrix(repeated)
    assert repeated.data.tolist() == [1, 1]


# Conversions


def test_average_ranking_of_weights():
    assert WEIGHTING.to_ranking() == Preferences.from_rankings([[3, 1, 3, 3], [1.5, 4, 3, 1.5]])
    assert RANKING.to_ranking() == RANKING


def test_random_ranking_is_seeded_and_keeps_the_order_of_the_weights():
    weights = Preferences.from_weights(np.random.default_rng(0).integers(0, 3, (20, 8)), features="abcdefgh")
    ranking = weights.to_ranking(ties="random", random_state=3)
    assert ranking == weights.to_ranking(ties="random", random_state=np.random.default_rng(3))
    assert ranking != weights.to_ranking(ties="random", random_state=4)
    assert (np.sort(ranking.matrix(), axis=1) == np.arange(1, 9)).all()
    by_rank = np.take_along_axis(weights.matrix(), np.argsort(ranking.matrix(), axis=1), axis=1)
    assert (np.diff(by_rank, axis=1) <= 0).all()
    assert ranking.names == weights.names


@pytest.mark.parametrize("make", [Preferences.from_weights, Preferences.from_rankings])
def test_random_ranking_is_uniform_over_ties(make):
    ties = make(np.ones((6000, 3)))
    orders = Counter(map(tuple, ties.to_ranking(ties="random", random_state=1).matrix().tolist()))
    assert len(orders) == 6
    assert all(abs(times - 1000) < 150 for times in orders.values())  # five standard deviations


def test_ties_are_average_or_random():
    with pytest.raises(ValueError, match="Expected ties='average' or 'random', got 'first'"):
        WEIGHTING.to_ranking(ties="first")


@pytest.mark.parametrize(
    ("preferences", "k", "expected"),
    [
        (WEIGHTING, 1, [[1], [0]]),
        (WEIGHTING, 2, [[0, 1], [0, 3]]),
        (WEIGHTING, 3, [[0, 1, 2], [0, 2, 3]]),
        (WEIGHTING, 4, [[0, 1, 2, 3]] * 2),
        (RANKING, 2, [[0, 1], [2, 3]]),
        (Preferences.from_rankings([[1, 1, 1, 1]]), 2, [[0, 1]]),
    ],
)
def test_top_takes_the_lowest_columns_of_ties(preferences, k, expected):
    assert selections(preferences.top(k, ties="lowest")) == expected


def test_top_warns_where_the_cut_falls_among_ties():
    with pytest.warns(UserWarning, match=r"In 1 of 2 runs the cut after the best 2.*ties='random'"):
        WEIGHTING.top(2)
    assert WEIGHTING.top(4).sizes.tolist() == [4, 4]  # nothing is cut


def test_random_ties_do_not_make_runs_look_alike():
    zeros = Preferences.from_weights(np.zeros((30, 50)))
    random = zeros.top(10, ties="random", random_state=0)
    assert zeros.top(10, ties="lowest").counts.max() == 30
    assert random.counts.max() < 20
    assert random == zeros.top(10, ties="random", random_state=0)
    with pytest.raises(ValueError, match="ties='lowest' or 'random', got 'average'"):
        zeros.top(10, ties="average")


def test_top_keeps_names_and_labels():
    weights = Preferences.from_weights(WEIGHTS, features=NAMES, labels="xy")
    assert weights.top(2, ties="lowest") == Preferences.from_sets(
        [["age", "dose"], ["age", "pulse"]], features=NAMES, labels=["x", "y"]
    )


@pytest.mark.parametrize("k", [0, 5, -1])
def test_top_of_too_many_or_too_few(k):
    with pytest.raises(ValueError, match=f"Expected a whole number k from 1 to the 4 features, got {k}"):
        WEIGHTING.top(k)


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (Preferences.from_matrix, np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0]])),
        (Preferences.from_rankings, np.array([[1, 2, 3], [3, 2, 1], [2, 2, 2]])),
        (Preferences.from_weights, np.eye(3)),
    ],
    ids=["subset", "ranking", "weighting"],
)
@pytest.mark.parametrize(
    ("runs", "places"),
    [
        ([2, 0], [2, 0]),
        (np.array([1]), [1]),
        (1, [1]),
        ([-1], [2]),
        (slice(1, None), [1, 2]),
        ([True, False, True], [0, 2]),
    ],
    ids=["list", "array", "one", "from the end", "slice", "mask"],
)
def test_take(make, values, runs, places):
    taken = make(values, labels=LABELS).take(runs)
    assert taken == make(values[places], labels=[LABELS[place] for place in places])


def test_take_of_nothing_or_of_a_run_twice():
    labeled = Preferences.from_matrix(FRAME)
    with pytest.raises(ValueError, match="got zero runs"):
        labeled.take([])
    with pytest.raises(ValueError, match="'a' for runs 0 and 1"):
        labeled.take([0, 0])
    with pytest.raises(IndexError):
        labeled.take([3])


@pytest.mark.parametrize("preferences", [SUBSETS, RANKING, WEIGHTING], ids=["subset", "ranking", "weighting"])
def test_stacked_is_both_one_after_the_other(preferences):
    both = stacked(preferences, preferences)
    n = len(preferences)
    assert both.take(range(n)) == both.take(range(n, 2 * n)) == preferences
    assert stacked(Preferences.from_matrix(FRAME), Preferences.from_matrix(FRAME)).labels is None


# Bad input: what was expected, what came, where, and what to do

matrix, sets = Preferences.from_matrix, Preferences.from_sets
rankings, weights = Preferences.from_rankings, Preferences.from_weights

BAD = {
    "score": (lambda: matrix([[1, 0], [0.5, 2]]), "0.5 at run 1, feature 0", "2 such", "from_weights()"),
    "score, named": (lambda: matrix(FRAME * 2), "2 at run 0 ('a'), feature 0 ('age')", "4 such", "from_rankings()"),
    "sparse score": (lambda: matrix(sp.csr_array(MATRIX * 3)), "got 3 at run 0, feature 0 (4 such", "from_weights()"),
    "sparse gap": (
        lambda: matrix(sp.csr_array([[0, np.nan]]), features="ab"),
        "nan at run 0, feature 1 ('b').",
        "from_weights()",
    ),
    "gap": (lambda: matrix([[1, 0], [0, np.nan]]), "nan at run 1, feature 1.", "Make gaps and texts 0 or 1"),
    "None": (lambda: matrix([[1, None]], features="ab"), "nan at run 0, feature 1 ('b')", "Make gaps"),
    "pandas gap": (
        lambda: matrix(pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [0, 1]})),
        "nan at run 1, feature 0 ('a')",
        "Make gaps",
    ),
    "polars gap": (lambda: matrix(pl.DataFrame({"a": [1, None]})), "nan at run 1, feature 0 ('a')", "Make gaps"),
    "text": (lambda: matrix([["yes", "no"]]), "'yes' at run 0, feature 0 (2 such", "Make gaps and texts 0 or 1"),
    "text of digits": (lambda: matrix([["1", "0"]]), "got '1' at run 0, feature 0", "Make gaps and texts 0 or 1"),
    "text in a frame": (
        lambda: matrix(pd.DataFrame({"a": [1, 0], "b": [0, "x"]}, index=["r", "s"])),
        "'x' at run 1 ('s'), feature 1 ('b')",
        "Make gaps and texts 0 or 1",
    ),
    "sets as matrix": (lambda: matrix([{"a"}, {"b"}]), "list of sets", "from_sets()"),
    "lists as matrix": (lambda: matrix([["a", "b"], ["c"]]), "2 entries in run 0 and 1 in run 1", "from_sets()"),
    "ragged": (lambda: matrix([[1, 0], [1, 0], [1]]), "2 entries in run 0 and 1 in run 2", "from_sets()"),
    "half a matrix": (lambda: matrix([[1, 0], 1]), "2 entries in run 0 and 1 in run 1", "one length"),
    "flat list": (lambda: matrix([1, 0]), "one row per run", "1 dimension(s)", "for a single run pass a matrix of one"),
    "flat array": (lambda: weights(np.ones(3)), "matrix of weights", "1 dimension(s)", "pass a matrix of one row"),
    "series": (lambda: rankings(pd.Series([1, 2])), "matrix of ranks", "1 dimension(s)", "pass a matrix of one row"),
    "cube": (lambda: matrix(np.zeros((1, 2, 3))), "3 dimension(s)"),
    "no runs, list": (lambda: matrix([]), "got zero runs; add a run"),
    "no runs, array": (lambda: matrix(np.empty((0, 3))), "got zero runs; add a run"),
    "no runs, sparse": (lambda: matrix(sp.csr_array((0, 3))), "got zero runs; add a run"),
    "no runs, sets": (lambda: sets([], n_features=3), "got zero runs; add a run"),
    "no runs, ranks": (lambda: rankings([]), "got zero runs; add a run"),
    "no runs, weights": (lambda: weights(np.empty((0, 3))), "got zero runs; add a run"),
    "no features, matrix": (lambda: matrix([[], []]), "got zero features; add a feature"),
    "no features, sets": (
        lambda: sets([[]], n_features=0),
        "Expected n_features to be a whole number of at least 1, got 0",
    ),
    "no features, names": (lambda: sets([[]], features=[]), "got zero features; add a feature"),
    "no features, ranks": (lambda: rankings(np.empty((2, 0))), "got zero features; add a feature"),
    "fewer than no features": (
        lambda: sets([[]], n_features=-1),
        "Expected n_features to be a whole number of at least 1, got -1",
    ),
    "name twice": (lambda: matrix(MATRIX, features="abca"), "feature names", "'a' for columns 0 and 3", "rename one"),
    "label twice": (lambda: matrix(MATRIX, labels="xyx"), "run names", "'x' for runs 0 and 2", "rename one"),
    "too few names": (lambda: matrix(MATRIX, features="abc"), "each of 4 columns, got 3", "check features="),
    "too many labels": (lambda: rankings(RANKS, labels="abc"), "each of 2 runs, got 3", "check labels="),
    "repeats": (lambda: sets([["a"], ["b", "b"]], n_features=3), "'b' 2 times in run 1", "remove the repeats"),
    "repeats of index": (lambda: sets([[1, 1, 1]], n_features=3), "1 3 times in run 0", "remove the repeats"),
    "number and its text": (lambda: sets([["a", "1", 1]], n_features=3), "'1' and 1 in run 0", "remove the repeats"),
    "unknown name": (lambda: sets([["a"], ["q"]], features="abc"), "universe of 3, got 'q' in run 1", "to features="),
    "index too large": (lambda: sets([[0], [3]], n_features=3), "universe of 3, got 3 in run 1", "from 0 to 2"),
    "index below 0": (lambda: sets([[-1]], features="abc"), "got -1 in run 0", "from 0 to 2"),
    "no universe": (lambda: sets([["a"]]), "features=", "n_features=", "got neither"),
    "two universes": (lambda: sets([["a"]], features="abc", n_features=4), "n_features=4, got 3 names", "give one"),
    "more names than features": (lambda: sets([["a", "b"]], n_features=1), "at most n_features=1", "got 2"),
    "text as set": (lambda: sets(["age sex"], n_features=3), "for run 0, got the text 'age sex'", "split it"),
    "number as set": (lambda: sets([[0], 1], n_features=3), "for run 1, got 1", "in a list"),
    "masks as sets": (lambda: sets([[True, False]], n_features=3), "in run 0, got True", "from_matrix()"),
    "lists in sets": (lambda: sets([[["a"]]], n_features=3), "in run 0, got ['a']", "names or indices"),
    "ranks from 0": (lambda: rankings([[0, 1, 2]]), "1 (best) to 3, got 0.0 at run 0, feature 0", "Add 1 to ranks"),
    "ranks from 0, named": (lambda: rankings([[1, 0]], features="ab", labels="r"), "run 0 ('r'), feature 1 ('b')"),
    "rank too large": (lambda: rankings([[1, 2, 4]]), "got 4.0 at run 0, feature 2", "from_weights()"),
    "scores as ranks": (lambda: rankings([[1.25, 2]]), "got 1.25 at run 0, feature 0", "from_weights()"),
    "gap in ranks": (lambda: rankings([[1, np.nan]]), "finite ranks, got nan at run 0, feature 1", "the worst one"),
    "text as rank": (lambda: rankings([[1, "x"]], features="ab"), "'x' at run 0, feature 1 ('b')", "make it a number"),
    "infinite weight": (
        lambda: weights([[1, 2], [np.inf, -np.inf]], features="ab", labels="rs"),
        "finite weights, got inf at run 1 ('s'), feature 0 ('a') (2 such",
        "the worst one",
    ),
    "pandas gap in weights": (
        lambda: weights(pd.DataFrame({"a": pd.array([None, 1.5], dtype="Float64")})),
        "finite weights, got nan at run 0, feature 0 ('a')",
        "the worst one",
    ),
    "text as weight": (lambda: weights([[1, 2], ["x", 3]]), "'x' at run 1, feature 0;", "make it a number"),
}


@pytest.mark.parametrize(("call", "words"), [(call, words) for call, *words in BAD.values()], ids=BAD)
def test_bad_input_is_told_in_one_sentence(call, words):
    with pytest.raises(ValueError, match=r"^Expected ") as caught:
        call()
    for word in words:
        assert word in str(caught.value)


# Round trips


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)))
def test_a_matrix_comes_back(given_matrix):
    for form in (given_matrix, given_matrix.astype(float), sp.coo_array(given_matrix)):
        preferences = Preferences.from_matrix(form)
        assert (preferences.to_frame().to_numpy() == given_matrix).all()
        assert Preferences.from_matrix(preferences.to_frame()) == preferences
        assert (preferences.sizes == given_matrix.sum(axis=1)).all()
        assert (preferences.counts == given_matrix.sum(axis=0)).all()
        assert preferences.density == pytest.approx(given_matrix.mean())


@given(
    st.lists(st.text(max_size=3), min_size=1, max_size=6, unique=True).flatmap(
        lambda names: st.tuples(st.just(names), st.lists(st.sets(st.sampled_from(names)), min_size=1, max_size=5))
    )
)
def test_sets_come_back(names_and_runs):
    names, runs = names_and_runs
    preferences = Preferences.from_sets(runs, features=names)
    assert [set(map(str, selected)) for selected in selections(preferences)] == runs
    by_index = Preferences.from_sets([{names.index(name) for name in run} for run in runs], n_features=len(names))
    assert (by_index.indices == preferences.indices).all()
    assert (by_index.indptr == preferences.indptr).all()


@given(hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-3, 3)))
def test_a_ranking_is_a_ranking_of_itself(values):
    ranking = Preferences.from_weights(values).to_ranking()
    assert Preferences.from_rankings(ranking.to_frame()) == ranking
    assert (ranking.matrix().sum(axis=1) == values.shape[1] * (values.shape[1] + 1) / 2).all()


def test_it_survives_pickling_read_only():
    runs = Preferences.from_sets([{0, 1}, {2}], n_features=4, labels=["a", "b"])
    copy = pickle.loads(pickle.dumps(runs))
    assert copy == runs
    assert not copy.indices.flags.writeable
