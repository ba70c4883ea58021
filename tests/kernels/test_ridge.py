import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from eliminations import bootstraps, correlated, ridge_elimination, selected_columns, slow_elimination, standardized
from holdfast.kernels.elimination import elimination_sizes, orders

SHAPES = [(40, 200), (60, 59), (30, 31), (150, 12)]


def oracle(C=1.0, intercept=True, penalty=None):
    """scikit-learn's Newton solver on the problem rotated to at most as many columns as there are rows."""

    def fit(X, y, count, columns):
        rows = count > 0
        scale = np.ones(len(columns)) if penalty is None else 1 / penalty[columns]
        U, s, Vt = np.linalg.svd(X[np.ix_(rows, columns)] * scale, full_matrices=False)
        model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-11, max_iter=200, fit_intercept=intercept)
        model.fit(U * s, y[rows], sample_weight=count[rows])
        return Vt.T @ model.coef_[0] * scale

    return fit


def assert_same_path(paths, resample, expected, rtol=1e-6):
    sizes = [len(columns) for columns, _ in expected]
    for found, (columns, _) in zip(selected_columns(paths, sizes, resample), expected, strict=True):
        np.testing.assert_array_equal(found, columns)
    columns, weights = expected[-1]
    np.testing.assert_array_equal(paths.selected[resample], columns)
    np.testing.assert_allclose(paths.weight[resample, columns], weights, atol=rtol * np.abs(weights).max())


# The optimum


@pytest.mark.parametrize("C", [1e-4, 0.1, 1, 100])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_weights_are_those_of_scikit_learn(n, d, C):
    X, y = correlated(n, d, 0.3)
    counts = bootstraps(y, 2)
    paths = ridge_elimination(X, y, counts, C=C, scale="full")
    for count, weight in zip(counts, paths.weight, strict=True):
        expected = oracle(C)(X, y, count, np.arange(d))
        np.testing.assert_allclose(weight, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_the_gradient_vanishes(n, d, intercept, scale):
    X, y = correlated(n, d, 0.5)
    counts = bootstraps(y, 2) * 0.7
    paths = ridge_elimination(X, y, counts, C=2, scale=scale, intercept=intercept)
    for m, count in enumerate(counts):
        Z = standardized(X, count)[0] if scale == "split" else X
        f = X @ paths.coef[m] + paths.intercept[m]
        assert intercept or scale == "split" or paths.intercept[m] == 0
        g = -2 * count * y / (1 + np.exp(y * f))
        assert not intercept or abs(g.sum()) < 1e-8 * np.abs(g).sum()
        np.testing.assert_allclose(paths.weight[m], -Z.T @ g, atol=1e-7 * np.abs(g).sum())


def test_separable_data_with_little_penalty():
    X, y = correlated(30, 100, 0)
    X[:, 0] = 10 * y
    paths = ridge_elimination(X, y, C=1e5, scale="full")
    expected = oracle(1e5)(X, y, np.ones(30), np.arange(100))
    np.testing.assert_allclose(paths.weight[0], expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_the_unit_of_a_column_is_nothing_to_a_scaled_fit(unit):
    X, y = correlated(30, 50, 0.3)
    Z = X.copy()
    Z[:, 7] = 3 + unit * Z[:, 7] if unit > 1 else unit * (3 + Z[:, 7])
    first, second = ridge_elimination(X, y), ridge_elimination(Z, y)
    np.testing.assert_allclose(first.weight, second.weight, rtol=1e-7)
    margins = [data @ paths.coef[0] + paths.intercept[0] for data, paths in ((X, first), (Z, second))]
    np.testing.assert_allclose(*margins, rtol=1e-7)


# Eliminations


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize("rho", [0, 0.5, *(pytest.param(rho, marks=pytest.mark.slow) for rho in (0.3, 0.8))])
@pytest.mark.parametrize(("n", "d"), [(40, 300), (30, 31), (150, 25)])
def test_eliminations_are_those_of_an_obvious_loop(n, d, rho, scale):
    X, y = correlated(n, d, rho, seed=3)
    counts = bootstraps(y, 4)
    sizes = elimination_sizes(d, 5)
    paths = ridge_elimination(X, y, counts, sizes=sizes, scale=scale)
    for m, count in enumerate(counts):
        Z = standardized(X, count)[0] if scale == "split" else X
        assert_same_path(paths, m, slow_elimination(oracle(), Z, y, count, sizes))


@pytest.mark.parametrize(("n", "d"), [(20, 40), (60, 15)])
def test_one_feature_at_a_time(n, d):
    X, y = correlated(n, d, 0.5)
    sizes = elimination_sizes(d, 1, 1)
    paths = ridge_elimination(X, y, sizes=sizes, scale="full", C=0.3)
    assert_same_path(paths, 0, slow_elimination(oracle(0.3), X, y, np.ones(n), sizes))
    assert (np.sort(paths.smallest_size[0]) == np.arange(1, d + 1)).all()
    assert (paths.smallest_size[0][orders(paths)[0]] == np.arange(1, d + 1)).all()


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize("shrinkage", [1, 0.3, 0.01])
@pytest.mark.parametrize(("n", "d"), [(30, 80), (60, 20)])
def test_forced_features_stay_and_shrink_less(n, d, shrinkage, scale):
    X, y = correlated(n, d, 0.3)
    counts = bootstraps(y, 2)
    sizes = elimination_sizes(d, 6)
    forced = np.random.default_rng(0).permuted(np.arange(d) < 3 * np.ones((2, 1)), axis=1)
    paths = ridge_elimination(X, y, counts, sizes=sizes, forced=forced, shrinkage=shrinkage, scale=scale)
    for m, count in enumerate(counts):
        Z = standardized(X, count)[0] if scale == "split" else X
        fit = oracle(penalty=np.where(forced[m], shrinkage, 1.0))
        assert_same_path(paths, m, slow_elimination(fit, Z, y, count, sizes, np.flatnonzero(forced[m])))


def test_with_all_that_is_kept_forced_the_set_is_theirs():
    X, y = correlated(30, 80, 0.3)
    forced = np.isin(np.arange(80), [3, 50, 77])
    paths = ridge_elimination(X, y, sizes=elimination_sizes(80, 3), forced=forced, shrinkage=0.1)
    np.testing.assert_array_equal(paths.selected, [[3, 50, 77]])


def test_with_none_forced_the_shrinkage_is_nothing():
    X, y = correlated(30, 80, 0.3)
    sizes = elimination_sizes(80, 3)
    plain = ridge_elimination(X, y, sizes=sizes)
    for one, other in zip(plain, ridge_elimination(X, y, sizes=sizes, shrinkage=0.1), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize(("n", "d"), [(30, 80), (60, 20)])
def test_counts_are_repeated_rows(n, d, scale):
    X, y = correlated(n, d, 0.5)
    sizes = elimination_sizes(d, 4)
    count = bootstraps(y, 1)[0]
    rows = np.repeat(np.arange(n), count)
    once = ridge_elimination(X, y, count, sizes=sizes, scale=scale)
    repeated = ridge_elimination(X[rows], y[rows], sizes=sizes, scale=scale)
    np.testing.assert_array_equal(once.smallest_size, repeated.smallest_size)
    np.testing.assert_allclose(once.weight, repeated.weight, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(once.coef, repeated.coef, rtol=1e-6)
    np.testing.assert_allclose(once.intercept, repeated.intercept, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize(("n", "d"), [(30, 80), (60, 20)])
def test_all_resamples_at_once_are_one_by_one_to_the_last_bit(n, d, scale):
    X, y = correlated(n, d, 0.5)
    counts = bootstraps(y, 5)
    forced = np.random.default_rng(0).random((5, d)) < 0.05
    options = {"sizes": elimination_sizes(d, 8), "scale": scale, "shrinkage": 0.5}
    together = ridge_elimination(X, y, counts, forced=forced, **options)
    for m in range(5):
        alone = ridge_elimination(X, y, counts[m], forced=forced[m], **options)
        for one, all_of_them in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one[0], all_of_them[m])


def test_a_path_may_start_from_some_columns():
    X, y = correlated(30, 80, 0.3)
    counts = bootstraps(y, 2)
    columns = np.array([[1, 4, 7, 30, 31, 60], [0, 2, 3, 8, 70, 79]])
    paths = ridge_elimination(X, y, counts, columns=columns, sizes=[6, 3], C=0.2)
    for m in range(2):
        alone = ridge_elimination(X[:, columns[m]], y, counts[m], sizes=[6, 3], C=0.2)
        np.testing.assert_array_equal(paths.smallest_size[m], alone.smallest_size[0])
        np.testing.assert_array_equal(paths.selected[m], columns[m][alone.selected[0]])
        np.testing.assert_allclose(paths.coef[m], alone.coef[0], rtol=1e-6)


# Corners


@pytest.mark.parametrize(("n", "d"), [(30, 60), (90, 20)])
def test_of_equal_columns_the_lowest_is_kept(n, d):
    X, y = correlated(n, d // 2, 0.3)
    X = np.column_stack([X, 3 - 2.5 * X])  # mirror images: the same to a model that scales
    paths = ridge_elimination(X, y, bootstraps(y, 3), sizes=elimination_sizes(d, 4, 1))
    for found in (paths.smallest_size, orders(paths).argsort(axis=1)):
        lower, higher = found[:, : d // 2], found[:, d // 2 :]
        assert ((lower < higher) | (lower == 4)).all()
    assert (lower < higher).all()


@pytest.mark.parametrize(("n", "d"), [(30, 60), (90, 20)])
def test_constant_columns_fall_first(n, d):
    X, y = correlated(n, d, 0.3)
    X[:, 0], X[:, 5] = 0.1, np.arange(n) == 0
    count = np.minimum(np.arange(n), 1)
    paths = ridge_elimination(X, y, count, sizes=[d, d - 2, 3])
    assert set(np.flatnonzero(paths.smallest_size[0] == d)) == {0, 5}
    assert (paths.weight[0, [0, 5]] == 0).all()
    np.testing.assert_array_equal(
        np.delete(paths.smallest_size[0], [0, 5]),
        ridge_elimination(np.delete(X, [0, 5], axis=1), y, count, sizes=[d - 2, 3]).smallest_size[0],
    )


def test_with_nothing_but_constants_the_lowest_columns_are_kept():
    y = np.array([1, 1, -1, -1, -1])
    paths = ridge_elimination(np.ones((5, 7)), y, sizes=[7, 3])
    np.testing.assert_array_equal(paths.selected, [[0, 1, 2]])
    assert paths.intercept[0] == pytest.approx(np.log(2 / 3))


def test_arrays_of_any_kind_give_the_same():
    X, y = correlated(30, 60, 0.3)
    counts = bootstraps(y, 2)
    expected = ridge_elimination(X, y, counts, sizes=[60, 10])
    frozen = np.asfortranarray(X)
    frozen.flags.writeable = False
    found = ridge_elimination(frozen, y.astype(np.int8), counts.tolist(), sizes=(60, 10))
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_fit_that_is_given_up_raises():
    X, y = correlated(30, 60, 0.3)
    for data in (X, X[:, :20]):
        with pytest.raises(ArithmeticError, match=r"resample 0 at \d+ features"):
            ridge_elimination(data, y, sizes=[data.shape[1], 5], max_iter=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": [[1] * 6, [1, 0, 1, 0, 1, 0]]}, "none with label -1 in resample 1"),
        ({"counts": [[1, 1, 1, 1, 1, -1]]}, "not negative"),
        ({"y": [0, 1, 0, 1, 0, 1]}, "labels −1 and 1, got 0"),
        ({"y": [1, -1]}, "n labels"),
        ({"X": np.full((6, 4), np.nan)}, "finite"),
        ({"sizes": [4, 4]}, "sizes that fall from 4"),
        ({"sizes": [3, 2]}, "sizes that fall from 4"),
        ({"columns": [2, 1]}, "ascend"),
        ({"columns": [[0], [1]]}, "each of 1 resamples"),
        ({"forced": [True, True, True, False], "sizes": [4, 2]}, "at most 2 forced"),
        ({"forced": [True]}, "mask over 4 columns"),
        ({"C": 0}, "positive C"),
        ({"shrinkage": 0}, "shrinkage"),
    ],
)
def test_what_cannot_be_is_told(change, message):
    given = {"X": np.arange(24).reshape(6, 4) % 5, "y": [1, -1] * 3, **change}
    with pytest.raises(ValueError, match=message):
        ridge_elimination(**given)


# Sizes


@pytest.mark.parametrize(
    ("share", "steps"), [(0.29, [100, 71, 51, 37]), (0.1, [100, 90, 81, 73]), (3, [100, 97, 94, 91])]
)
def test_sizes_drop_whole_shares(share, steps):
    np.testing.assert_array_equal(elimination_sizes(100, 1, share)[:4], steps)


@pytest.mark.parametrize("n_remaining", [0, 11])
def test_sizes_that_cannot_be(n_remaining):
    with pytest.raises(ValueError, match="Expected to keep 1 to 10 features"):
        elimination_sizes(10, n_remaining, 0.2)


@pytest.mark.parametrize("drop", [np.inf, np.nan, 0, -1, -0.2, 1.5, True, None, "half"])
def test_a_drop_that_is_neither_a_share_nor_a_number_is_refused(drop):
    with pytest.raises(ValueError, match="Expected drop to be a share of the features below 1, or a whole number of"):
        elimination_sizes(10, 10, drop)


def test_a_number_of_features_may_be_larger_than_what_is_left():
    assert elimination_sizes(10, 2, 1e12).tolist() == [10, 2]
    assert elimination_sizes(10, 2, 3.0).tolist() == elimination_sizes(10, 2, np.int64(3)).tolist() == [10, 7, 4, 2]


# Columns without a penalty


def newton(X, y, cost, free, penalty):
    """Weights of X and of columns without a penalty, by plain Newton steps on both."""
    Z, squares = np.column_stack([X, free]), np.concatenate([penalty**2, np.zeros(free.shape[1])])
    w = np.zeros(Z.shape[1])
    for _ in range(60):
        wrong = 1 / (1 + np.exp(y * (Z @ w)))
        slope = squares * w - Z.T @ (cost * y * wrong)
        w -= np.linalg.solve((Z.T * (cost * wrong * (1 - wrong))) @ Z + np.diag(squares), slope)
    return w[: X.shape[1]]


def scaled_next_to(X, free, count):
    """Columns in units of the standard deviation that others leave of them."""
    root = np.sqrt(count / count.sum())[:, None]
    rest = root * X - root * free @ np.linalg.lstsq(root * free, root * X, rcond=None)[0]
    return (X - np.average(X, axis=0, weights=count)) / np.sqrt((rest**2).sum(axis=0))


def confounded(n, d, n_sites=3):
    """Features and classes that depend on an age and on sites, and these."""
    X, y = correlated(n, d, 0.3, seed=n)
    rng = np.random.default_rng(d)
    sites = rng.integers(0, n_sites, n)
    age = 0.4 * y + rng.normal(size=n)
    X[:, ::3] += age[:, None]
    X[:, 1::4] += 2 * sites[:, None]
    return X, y, np.column_stack([50 + 20 * age, 1.0 * (sites[:, None] == np.arange(1, n_sites))])


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize("shrinkage", [1, 0.3])
@pytest.mark.parametrize(("n", "d"), [(50, 150), (50, 40), (90, 12)])
def test_eliminations_next_to_covariates_are_those_of_an_obvious_loop(n, d, shrinkage, scale):
    X, y, covariates = confounded(n, d)
    counts, sizes, forced = bootstraps(y, 2, seed=5), elimination_sizes(d, 6), np.arange(d) % 50 == 7
    arguments = {"sizes": sizes, "C": 0.5, "shrinkage": shrinkage, "forced": forced, "scale": scale}
    paths = ridge_elimination(X, y, counts, covariates=covariates, **arguments)
    free = np.column_stack([np.ones(n), covariates])
    penalty = np.where(forced, shrinkage, 1.0)
    for m, count in enumerate(counts):
        Z = scaled_next_to(X, free, count) if scale == "split" else X

        def fit(Z, y, count, columns):
            return newton(Z[:, columns], y, 0.5 * count, free, penalty[columns])

        assert_same_path(paths, m, slow_elimination(fit, Z, y, count, sizes, np.flatnonzero(forced)))


def test_covariates_with_hardly_a_penalty_are_almost_without():
    X, y, covariates = confounded(60, 20)
    paths = ridge_elimination(X, y, covariates=covariates, scale="full")
    Z = np.column_stack([X, 1e5 * (covariates - covariates.mean(axis=0)) / covariates.std(axis=0)])
    expected = oracle()(Z, y, np.ones(60), np.arange(23))[:20]
    np.testing.assert_allclose(paths.weight[0], expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("d", [100, 15])
def test_counts_are_repeated_rows_next_to_covariates(d):
    X, y, covariates = confounded(40, d)
    count = bootstraps(y, 1)[0]
    rows = np.repeat(np.arange(40), count)
    paths = ridge_elimination(X, y, count, covariates=covariates)
    repeated = ridge_elimination(X[rows], y[rows], covariates=covariates[rows])
    np.testing.assert_allclose(paths.weight, repeated.weight, atol=1e-8 * np.abs(paths.weight).max())


@pytest.mark.parametrize("d", [100, 15])
def test_features_made_of_covariates_fall_first_and_units_of_covariates_do_not_matter(d):
    X, y, covariates = confounded(40, d)
    X[:, 3], X[:, 4] = 3 * covariates[:, 0] - covariates[:, 2], X[:, 5] + 5 * covariates[:, 1]
    sizes = elimination_sizes(d, 5)
    paths = ridge_elimination(X, y, sizes=sizes, covariates=covariates)
    assert paths.smallest_size[0, 3] == d
    assert paths.weight[0, 3] == 0
    other = ridge_elimination(X, y, sizes=sizes, covariates=covariates @ [[1e6, 2, 0], [1, 1, 0], [0, 3, 1e-3]])
    np.testing.assert_array_equal(paths.smallest_size, other.smallest_size)
    X[:, 4] = X[:, 5]  # what covariates add to a feature changes nothing
    same = ridge_elimination(X, y, covariates=covariates)
    first = ridge_elimination(X + covariates @ np.ones((3, d)), y, covariates=covariates)
    np.testing.assert_allclose(first.weight, same.weight, atol=1e-7 * np.abs(same.weight).max())


def test_sites_of_one_class_have_no_say_and_covariates_that_tell_classes_apart_are_refused():
    X, y, covariates = confounded(60, 30)
    alone = covariates[:, 1] == 1
    y[alone] = 1
    rest = ~alone
    paths = ridge_elimination(X, y, covariates=covariates)
    without = ridge_elimination(X[rest], y[rest], covariates=covariates[rest])
    np.testing.assert_allclose(paths.weight, without.weight, atol=1e-8 * np.abs(paths.weight).max())
    with pytest.raises(ValueError, match="Expected classes that covariates do not tell apart"):
        ridge_elimination(X, y, covariates=y[:, None] + 0.0)
