import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy
from sklearn.feature_selection import f_classif, f_regression
from sklearn.metrics import mutual_info_score

import holdfast as hf
from holdfast.kernels.filters import quantile_codes
from holdfast.kernels.information import (
    FEW_ROWS,
    WIDTH,
    Paths,
    _first_best,
    equal_width_codes,
    given_codes,
    information,
    joint,
    make_sample,
    score_path,
    selection_path,
    uncertainty,
)
from holdfast.selectors import MRMR


def selection_paths(X, y, counts, n_features, *, bins="split", n_bins=10, **options):
    """Choose features on each of many resamples, with bins of the resample's rows or of all rows."""
    codes = given_codes(X) if n_bins is None else equal_width_codes(np.ascontiguousarray(X, dtype=np.float64), n_bins)
    paths = []
    for own in np.atleast_2d(counts):
        rows = np.flatnonzero(own)
        split = n_bins is not None and bins == "split"
        of_rows = equal_width_codes(np.ascontiguousarray(X), n_bins, rows) if split else np.take(codes, rows, axis=1)
        paths.append(selection_path(make_sample(of_rows, own[rows]), np.asarray(y)[rows], n_features, **options))
    return Paths(*(np.stack(arrays) for arrays in zip(*paths, strict=True)))


def slow_information(x, y):
    value = mutual_info_score(x, y)
    return value if value > 1e-12 else 0.0


def slow_path(codes, y, n_features, scheme, alpha=0.5):
    """The definition on rows × features, one information at a time."""
    V = np.array([slow_information(x, y) for x in codes.T])
    shared = np.array([[slow_information(x, other) for other in codes.T] for x in codes.T])
    order, relevance, redundancy = [], [], []
    while len(order) < min(n_features, V.size):
        W = shared[:, order].mean(axis=1) if order else 0 * V
        if not order:
            score, size = V, V
        elif scheme == "miq":
            score = size = np.array([v / w if w > 0 else np.inf if v > 0 else 0 for v, w in zip(V, W, strict=True)])
        else:
            score, size = alpha * V - (1 - alpha) * W, alpha * V + (1 - alpha) * W
        left = [f for f in range(V.size) if f not in order]
        best = max(left, key=lambda f: score[f])
        margin = 1e-9 * size[best] if np.isfinite(score[best]) else 0
        chosen = min(f for f in left if score[f] >= score[best] - margin)
        order.append(chosen)
        relevance.append(V[chosen])
        redundancy.append(W[chosen])
    return order, relevance, redundancy


def make_data(n=80, d=12, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    factors = rng.normal(size=(n, 3))
    X = factors @ rng.normal(size=(3, d)) + rng.normal(size=(n, d))
    X[:, : d // 3] += y[:, None]
    return X, y


X, Y = make_data()
COUNTS = np.random.default_rng(1).multinomial(80, np.full(80, 1 / 80), size=6)
SCHEMES = [("mid", 0.5), ("miq", 0.5), ("mid_alpha", 0.0), ("mid_alpha", 0.3), ("mid_alpha", 1.0)]


def same(one, two):
    return all((a == b).all() for a, b in zip(one, two, strict=True))


# Choice


@pytest.mark.parametrize(("scheme", "alpha"), SCHEMES)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_paths_are_the_slow_definition(scheme, alpha, n_classes):
    X, y = make_data(n_classes=n_classes)
    codes = equal_width_codes(X, 10)
    ours = selection_path(make_sample(codes), y, 12, scheme=scheme, alphas=[alpha])
    order, relevance, redundancy = slow_path(codes.T, y, 12, scheme, alpha)
    assert ours.order[0].tolist() == order
    np.testing.assert_allclose(ours.relevance[0], relevance, atol=1e-13)
    np.testing.assert_allclose(ours.redundancy[0], redundancy, atol=1e-13)


@st.composite
def small_samples(draw):
    """Few rows and values: ties, constant features, classes and rows that do not occur."""
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    column = st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n)
    codes = np.array([draw(column) for _ in range(d)], np.uint8)
    counts = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)))
    return codes, np.array(draw(column)), counts


@given(small_samples(), st.sampled_from(SCHEMES), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_paths_of_weighted_rows_are_those_of_repeated_rows(sample, scheme, random):
    codes, y, counts = sample
    rows = np.repeat(np.arange(y.size), counts)
    random.shuffle(rows)
    name, alpha = scheme
    weighted = selection_path(make_sample(codes, counts), y, 4, scheme=name, alphas=[alpha])
    repeated = selection_path(make_sample(codes[:, rows]), y[rows], 4, scheme=name, alphas=[alpha])
    assert same(weighted, repeated)
    assert weighted.order[0].tolist() == slow_path(codes[:, rows].T, y[rows], 4, name, alpha)[0]


@pytest.mark.parametrize("bins", ["split", "full"])
@pytest.mark.parametrize("scheme", ["mid", "miq", "mid_alpha"])
def test_many_resamples_are_each_alone(bins, scheme):
    options = {"scheme": scheme, "alphas": [0.2, 0.8], "bins": bins}
    together = selection_paths(X, Y, COUNTS, 5, **options)
    n_paths = 2 if scheme == "mid_alpha" else 1
    assert together.order.shape == together.relevance.shape == together.redundancy.shape == (6, n_paths, 5)
    for resample, own in enumerate(COUNTS):
        assert same([a[resample] for a in together], [a[0] for a in selection_paths(X, Y, own, 5, **options)])


def test_bins_of_the_split_and_of_all_rows():
    taken = np.repeat(np.arange(80), COUNTS[0])
    split = selection_path(make_sample(equal_width_codes(X[taken], 10)), Y[taken], 5)
    full = selection_path(make_sample(equal_width_codes(X, 10)[:, taken]), Y[taken], 5)
    assert same(split, [a[0] for a in selection_paths(X, Y, COUNTS, 5)])
    assert same(full, [a[0] for a in selection_paths(X, Y, COUNTS, 5, bins="full")])
    codes = equal_width_codes(X, 10).T
    assert same(full, [a[0] for a in selection_paths(codes, Y, COUNTS, 5, n_bins=None)])


def test_alphas_share_their_work_and_nothing_else():
    sample = make_sample(equal_width_codes(X, 10))
    alphas = np.linspace(0, 1, 7)
    together = selection_path(sample, Y, 8, scheme="mid_alpha", alphas=alphas)
    for place, alpha in enumerate(alphas):
        alone = selection_path(sample, Y, 8, scheme="mid_alpha", alphas=[alpha])
        assert same([a[place] for a in together], [a[0] for a in alone])
    assert (together.order[:, 0] == together.order[0, 0]).all()
    assert (np.diff(together.relevance[-1]) <= 0).all()  # alpha = 1 is relevance alone
    half = selection_path(sample, Y, 8, scheme="mid_alpha", alphas=[0.5])
    assert same(half, selection_path(sample, Y, 8))


def test_equal_columns_tie_and_the_lowest_is_first():
    doubled = np.hstack([X, X])[:, np.random.default_rng(2).permutation(24)]
    for scheme, alpha in SCHEMES:
        order = selection_paths(doubled, Y, np.ones(80), 24, scheme=scheme, alphas=[alpha]).order[0, 0]
        for column in range(24):
            twin = next(c for c in range(24) if c != column and (doubled[:, c] == doubled[:, column]).all())
            if column < twin:
                assert np.flatnonzero(order == column) < np.flatnonzero(order == twin)


def test_scores_that_differ_by_rounding_of_their_terms_tie():
    V, W = np.array([1.0, 1 + 1e-12, 0.5]), np.array([1.0, 1, 0.1])

    def best(score, size, ranks=range(3)):
        return _first_best(score, size, np.array(ranks))

    assert best(V, V) == 0
    assert best(V, V, [2, 1, 0]) == 1
    assert best(V - 2 * W, V + 2 * W) == 2
    assert best(V[:2] - W[:2], V[:2] + W[:2]) == 0
    assert best(np.array([1.0, 1 + 1e-8]), np.ones(2), [0, 1]) == 1
    assert best(np.array([1.0, np.inf, np.inf]), np.ones(3)) == 1
    assert best(np.array([1.0, np.inf, np.inf]), np.ones(3), [0, 2, 1]) == 2


def test_only_relevant_features_and_ties_by_their_turn():
    """A constant shares nothing, so that V - W would prefer it to a feature that tells less than it shares."""
    y = np.tile([0, 0, 1, 1], 10)
    noisy = y.copy()
    noisy[:4] = 1 - noisy[:4]
    codes = np.array([y * 0, y, y, noisy, np.tile([0, 1], 20)], np.uint8)
    assert selection_path(make_sample(codes), y, 3).order.tolist() == [[1, 0, 2]]
    ranks = np.array([0, 3, 1, 2, 4])
    path = selection_path(make_sample(codes), y, 5, relevant_only=True, tie_ranks=ranks)
    assert path.order.tolist() == [[2, 3, 1]]
    assert (path.relevance > 0).all()


def test_no_redundancy_in_the_quotient():
    y = np.tile([0, 0, 1, 1], 4)
    noise = np.tile([0, 1, 0, 1], 4)  # independent of y, and of y itself as a feature
    codes = np.array([noise, noise * 0, y, np.repeat([0, 1], 8) | y], np.uint8)
    path = selection_path(make_sample(codes), y, 4, scheme="miq")
    assert path.order.tolist() == [[2, 3, 0, 1]]  # V / W = V / V = 1, then 0 / 0 twice: by column
    assert path.redundancy[0, 2:].tolist() == [0, 0]
    both = np.array([np.tile([0, 1, 0, 1], 4), np.tile([0, 0, 1, 1], 4), np.tile([0, 0, 1, 1], 4)], np.uint8)
    sum_of = both[0] + both[1]  # tells of both, and they are independent: V > 0, W = 0
    assert selection_path(make_sample(both), sum_of, 2, scheme="miq").order.tolist() == [[0, 1]]


def test_features_that_tell_nothing_come_by_column():
    path = selection_path(make_sample(np.zeros((4, 9), np.uint8)), np.arange(9) % 2, 10)
    assert path.order.tolist() == [[0, 1, 2, 3]]
    assert not path.relevance.any()
    assert selection_path(make_sample(np.zeros((4, 9), np.uint8)), np.arange(9) % 2, 0).order.shape == (1, 0)


def test_scores_along_an_order():
    sample = make_sample(equal_width_codes(X, 10), COUNTS[0])
    path = selection_path(sample, Y, 12, scheme="miq")
    assert same(score_path(sample, Y, path.order[0]), (path.relevance[0], path.redundancy[0]))
    relevance, redundancy = score_path(sample, Y, [7, 2])
    assert redundancy.tolist() == [0, information(sample, sample.codes[7])[2]]
    assert relevance.tolist() == information(sample, Y)[[7, 2]].tolist()


@pytest.mark.parametrize("scheme", ["mid", "miq"])
def test_terms_on_resamples_are_the_slow_definition(scheme):
    names = [f"gene {column}" for column in range(X.shape[1])]
    selector = hf.selectors.MRMR(5, scheme=scheme, bins="full")
    terms = hf.selectors.mrmr_terms(selector, pd.DataFrame(X, columns=names), Y, hf.Bootstrap(3), random_state=4)
    order, codes = selector.fit(X, Y).order_.tolist(), equal_width_codes(X, 10)
    assert terms["feature"].tolist() == [names[column] for column in order] * 3
    assert terms["step"].tolist() == [1, 2, 3, 4, 5] * 3
    for split in hf.Bootstrap(3).splits(Y, random_state=4):
        own = terms[terms["resample"] == split.label].to_dict("list")
        rows = split.train
        V = [slow_information(codes[column, rows], Y[rows]) for column in order]
        shared = [[slow_information(codes[a, rows], codes[b, rows]) for b in order] for a in order]
        W = [0.0, *(np.mean(shared[step][:step]) for step in range(1, 5))]
        np.testing.assert_allclose(own["relevance"], V, atol=1e-13)
        np.testing.assert_allclose(own["redundancy"], W, atol=1e-13)
        np.testing.assert_allclose(own["difference"], np.subtract(V, W), atol=1e-13)
        np.testing.assert_allclose(own["quotient"], [np.inf, *np.divide(V[1:], W[1:])], rtol=1e-10)


def test_terms_along_a_given_order_and_of_rows_alone():
    selector = hf.selectors.MRMR(2)
    terms = hf.selectors.mrmr_terms(selector, X, Y, hf.Subsample(2, 0.5), order=[7, 2, 3])
    assert terms["feature"].tolist() == [7, 2, 3] * 2
    assert not hasattr(selector, "order_")  # the caller's own selector stays as it is
    with pytest.raises(ValueError, match="that resamples rows, got one that changes values or labels"):
        hf.selectors.mrmr_terms(selector, X, Y, hf.Noise(2))


def test_codes_that_no_byte_holds_are_refused():
    codes = np.random.default_rng(4).integers(0, 300, (40, 3))
    with pytest.raises(ValueError, match="Expected codes, whole numbers from 0 to 255, for n_bins=None, got 2"):
        selection_paths(codes, np.arange(40) % 2, np.ones(40), 2, n_bins=None)
    with pytest.raises(ValueError, match="Expected codes from 0 to 255, got 8 to 298"):
        make_sample(codes.T)


def test_as_many_bins_as_there_can_be_are_the_slow_definition():
    X, y = make_data(n=600, d=4)
    codes = equal_width_codes(X, 256)
    assert codes.max() == 255
    order, relevance, _ = slow_path(codes.T, y, 4, "mid")
    path = selection_path(make_sample(codes), y, 4)
    assert path.order[0].tolist() == order
    np.testing.assert_allclose(path.relevance[0], relevance, atol=1e-13)


def test_unknown_words():
    with pytest.raises(ValueError, match="Expected a scheme out of mid, miq, mid_alpha, got 'mad'"):
        selection_paths(X, Y, COUNTS, 3, scheme="mad")
    with pytest.raises(ValueError, match="Expected bins='split' or 'full', got 'some'"):
        hf.selectors.MRMR(3, bins="some").fit(X, Y)


# Information


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # from scikit-learn before 1.8
@given(st.integers(1, 400), st.integers(1, 256), st.integers(1, 300), st.integers(1, 9), st.integers(0, 10**6))
@settings(max_examples=40)
def test_information_is_that_of_scikit_learn(n, n_codes, n_classes, d, seed):
    rng = np.random.default_rng(seed)
    codes, y = rng.integers(0, n_codes, (d, n)), rng.integers(0, n_classes, n)
    expected = [mutual_info_score(x, y) for x in codes]
    np.testing.assert_allclose(information(make_sample(codes), y), expected, atol=1e-12)


def test_information_is_symmetric_and_knows_no_order_to_the_last_bit():
    codes = equal_width_codes(X, 10)
    sample, shuffled = make_sample(codes), np.random.default_rng(3).permutation(80)
    matrix = np.array([information(sample, x) for x in codes])
    assert (matrix == matrix.T).all()
    assert (matrix == np.array([information(make_sample(codes[:, shuffled]), x[shuffled]) for x in codes])).all()


def test_symmetrical_uncertainty_with_the_class():
    codes = equal_width_codes(X, 10)
    rows = np.repeat(np.arange(80), COUNTS[0])

    def slow(x):
        entropies = [entropy(np.unique(values, return_counts=True)[1]) for values in (x, Y[rows])]
        return 2 * mutual_info_score(x, Y[rows]) / sum(entropies)

    expected = [slow(x) for x in codes[:, rows]]
    np.testing.assert_allclose(uncertainty(make_sample(codes, COUNTS[0]), Y), expected, atol=1e-12)
    assert uncertainty(make_sample(codes * 0), Y * 0).tolist() == [0] * 12


@pytest.mark.parametrize("n_codes", [1, 2, 10, 256])
@pytest.mark.parametrize("n_rows", [1, 7, FEW_ROWS])
def test_rows_compared_two_by_two_give_the_same_sums_as_histograms(n_codes, n_rows):
    rng = np.random.default_rng(n_rows)
    codes = np.minimum(rng.geometric(0.4, size=(WIDTH + 77, n_rows)) - 1, n_codes - 1).astype(np.uint8)
    counts = rng.integers(0, 4 if n_rows < 90 else 3, n_rows)
    few = make_sample(codes, counts)
    many = few._replace(by_row=None)
    assert few.by_row is not None
    for labels in (np.zeros(n_rows, np.uint32), codes[3], codes[-1], rng.integers(0, 3, n_rows).astype(np.uint32)):
        np.testing.assert_array_equal(joint(few, labels), joint(many, labels))


def test_rows_or_copies_that_are_too_many_for_bytes_are_counted_in_histograms():
    assert make_sample(np.zeros((3, FEW_ROWS + 1), np.uint8)).by_row is None
    assert make_sample(np.zeros((3, 2), np.uint8), [200, 56]).by_row is None
    assert make_sample(np.zeros((3, 2), np.uint8), [200, 55]).by_row is not None


# By correlation


def correlated_data(seed=0, n=60, d=12):
    """Columns of which some are nearly copies, numbers to predict, and classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(-3, 3, d) + 50
    X[:, 6:9] = X[:, :3] + 0.3 * X[:, :3].std(axis=0) * rng.normal(size=(n, 3))
    X[:, 11] = 0.1
    y = X[:, 0] / X[:, 0].std() - X[:, 1] / X[:, 1].std() + rng.normal(size=n)
    return X, y, np.digitize(y, np.quantile(y, [0.3, 0.6]))


def slow_correlation_path(X, y, k, relevance, combine):
    """Greedy choice with corrcoef, f_regression and f_classif."""
    varies = np.ptp(X, axis=0) > 0
    R = np.abs(np.corrcoef(X[:, varies], rowvar=False))
    if relevance == "f":
        V = (f_classif if y.dtype.kind == "i" else f_regression)(X[:, varies] - X[:, varies].mean(axis=0), y)[0]
    else:
        V = np.abs([np.corrcoef(column, y)[0, 1] for column in X[:, varies].T])
    chosen, terms = [int(np.argmax(V))], [(V.max(), 0.0)]
    while len(chosen) < k:
        W = R[:, chosen].mean(axis=1)
        score = combine(V, W)
        score[chosen] = -np.inf
        chosen.append(int(np.argmax(score)))
        terms.append((V[chosen[-1]], W[chosen[-1]]))
    return np.flatnonzero(varies)[chosen].tolist(), np.array(terms).T


CRITERIA = {
    "mid": lambda V, W: V - W,
    "miq": lambda V, W: V / W,
    "mid_alpha": lambda V, W: 0.3 * V - 0.7 * W,
}


@pytest.mark.parametrize("scheme", CRITERIA)
@pytest.mark.parametrize(("relevance", "classes"), [("auto", False), ("correlation", False), ("f", False), ("f", True)])
def test_choice_by_correlation_is_the_slow_definition(scheme, relevance, classes):
    X, numbers, codes = correlated_data()
    y = codes if classes else numbers
    order, terms = slow_correlation_path(X, y, 7, relevance, CRITERIA[scheme])
    fitted = MRMR(7, scheme=scheme, alpha=0.3, relevance=relevance).fit(X, y)
    assert fitted.order_.tolist() == order
    np.testing.assert_allclose([fitted.relevance_, fitted.redundancy_], terms, rtol=1e-7, atol=1e-12)
    along = fitted.score_path(X, y, order)
    np.testing.assert_allclose(along, terms, rtol=1e-7, atol=1e-12)
    assert not fitted.informative_[11]


def test_by_correlation_rows_that_count_twice_are_two_rows_and_alphas_share_a_fit():
    X, y, _ = correlated_data(1)
    counts = np.random.default_rng(2).multinomial(60, np.full(60, 1 / 60))
    rows = np.repeat(np.arange(60), counts)
    weighted, again = MRMR(6).fit(X, y, sample_weight=counts), MRMR(6).fit(X[rows], y[rows])
    assert weighted.order_.tolist() == again.order_.tolist()
    np.testing.assert_allclose(weighted.relevance_, again.relevance_, rtol=1e-9)
    grid = [{"alpha": alpha, "n_features": size} for alpha in (0.2, 0.9) for size in (2, 6)]
    splits, selector = list(hf.Bootstrap(4).splits(y, stratified=False)), MRMR(scheme="mid_alpha")
    for split, found in zip(splits, selector.refit_many(selector.prepare(X, y, grid), X, y, splits, grid), strict=True):
        for setting, selection in zip(grid, found, strict=True):
            alone = MRMR(scheme="mid_alpha", random_state=split.seed, **setting).fit(*split.data(X, y))
            assert selection.values.tolist() == np.flatnonzero(alone.get_support()).tolist()


def test_numbers_are_binned_for_their_information_if_asked_to():
    X, y, _ = correlated_data(3)
    codes = quantile_codes(y, np.ones(60), 4)
    assert MRMR(5, target_bins=4).fit(X, y).order_.tolist() == MRMR(5).fit(X, codes).order_.tolist()
    with pytest.raises(ValueError, match="Unknown label type"):
        MRMR(5, relevance="information").fit(X, y)
    with pytest.raises(ValueError, match="Expected relevance='information' with target_bins=4, got 'f'"):
        MRMR(5, relevance="f", target_bins=4).fit(X, y)
    with pytest.raises(ValueError, match="Expected numbers to predict in y, got"):
        MRMR(5, relevance="correlation").fit(X, np.where(y > 0, "b", "a")[np.argsort(y)])


def test_what_mrmr_weighs_is_told_for_numbers_too():
    X, y, _ = correlated_data(4)
    terms = hf.selectors.mrmr_terms(MRMR(3), X, y, hf.Bootstrap(5))
    assert terms["redundancy"].between(0, 1).all()
    assert len(terms) == 15
