import numpy as np
import pytest
from sklearn.svm import SVC

from eliminations import bootstraps, correlated, selected_columns, slow_elimination, standardized
from holdfast.kernels.elimination import elimination_sizes, orders
from holdfast.kernels.svm import svm_elimination

SHAPES = [(40, 200), (60, 59), (30, 31), (150, 12), (300, 3)]


def libsvm(X, y, count, C):
    rows = count > 0
    return SVC(C=C, kernel="linear", tol=1e-10).fit(X[rows], y[rows], sample_weight=count[rows])


def exact(X, y, count, C):
    """Weights and intercept that follow from which rows libsvm leaves within their bounds.

    libsvm itself computes in single precision; here its answer is only a guess that has to fulfil all conditions.
    """
    model, rows = libsvm(X, y, count, C), count > 0
    X, y, upper = X[rows], y[rows], float(C) * count[rows]
    v = np.zeros(len(y))
    v[model.support_] = model.dual_coef_[0]
    at_upper, free = y * v >= upper * (1 - 1e-12), (y * v > 0) & (y * v < upper * (1 - 1e-12))
    v = np.where(at_upper, y * upper, 0.0)
    F = X[free]
    border = np.ones((len(F), 1))
    conditions = np.block([[F @ F.T, border], [border.T, np.zeros((1, 1))]])
    *v[free], b = np.linalg.lstsq(conditions, np.append(y[free] - F @ X.T @ v, -v.sum()), rcond=1e-12)[0]
    w, b = X.T @ v, b if free.any() else model.intercept_[0]
    excess = y * (X @ w + b) - 1
    assert (np.where(at_upper, excess, -excess) < 1e-8).all()
    assert (np.abs(excess[free]) < 1e-8).all()
    assert ((y * v >= 0) & (y * v <= upper)).all()
    return w, b, free.any()


def oracle(C=0.5):
    return lambda X, y, count, columns: exact(X[:, columns], y, count, C)[0]


# The optimum


@pytest.mark.parametrize("C", [1e-3, 0.5, 20])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_weights_are_the_exact_ones(n, d, C):
    X, y = correlated(n, d, 0.3)
    X /= X.std(axis=0)
    counts = bootstraps(y, 2)
    paths = svm_elimination(X, y, counts, C=C, scale="full")
    for count, coef, intercept in zip(counts, paths.coef, paths.intercept, strict=True):
        w, b, is_unique = exact(X, y, count, C)
        np.testing.assert_allclose(coef, w, atol=1e-9 * np.abs(w).max())
        np.testing.assert_allclose(coef, libsvm(X, y, count, C).coef_[0], atol=1e-3 * np.abs(w).max())
        assert not is_unique or intercept == pytest.approx(b, abs=1e-8)


def test_every_row_at_its_bound():
    X = np.array([[1.0, 0], [2, 1], [-1, 0], [-2, 0.5]])
    y = np.array([1, 1, -1, -1])
    model = SVC(C=1e-3, kernel="linear", tol=1e-12).fit(X, y)
    paths = svm_elimination(X, y, C=1e-3, scale="full")
    np.testing.assert_allclose(paths.coef, model.coef_, atol=1e-12)
    np.testing.assert_allclose(paths.intercept, model.intercept_, atol=1e-9)


@pytest.mark.parametrize("C", [0.01, 1, 1000])
@pytest.mark.parametrize(("n", "d"), [(60, 3), (200, 4), (12, 40)])
def test_many_equal_rows_and_few_values(n, d, C):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (n, d)).astype(float), rng.choice([-1, 1], n)
    X[n // 2 :] = X[: n - n // 2]
    ours, theirs = svm_elimination(X, y, C=C, scale="full"), libsvm(X, y, np.ones(n), C)
    margins = X @ ours.coef[0] + ours.intercept[0], theirs.decision_function(X)
    hinges = [np.maximum(0, 1 - y * f).sum() for f in margins]
    assert C * hinges[0] + np.sum(ours.coef**2) / 2 <= (C * hinges[1] + np.sum(theirs.coef_**2) / 2) * (1 + 1e-9)
    np.testing.assert_allclose(ours.coef, theirs.coef_, atol=1e-4)


def test_separable_data_with_little_penalty():
    X, y = correlated(30, 100, 0)
    paths = svm_elimination(X, y, C=1e6, scale="full")
    expected = oracle(1e6)(X, y, np.ones(30), np.arange(100))
    np.testing.assert_allclose(paths.weight[0], expected, atol=1e-9 * np.abs(expected).max())


# Eliminations


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize("rho", [0, 0.5, *(pytest.param(rho, marks=pytest.mark.slow) for rho in (0.3, 0.8))])
@pytest.mark.parametrize(("n", "d"), [(40, 300), (30, 31), (100, 20)])
def test_eliminations_are_those_of_an_obvious_loop(n, d, rho, scale):
    X, y = correlated(n, d, rho, seed=3)
    counts = bootstraps(y, 3)
    sizes = elimination_sizes(d, 5, 0.1)
    paths = svm_elimination(X, y, counts, sizes=sizes, scale=scale)
    for m, count in enumerate(counts):
        Z = standardized(X, count)[0] if scale == "split" else X
        expected = slow_elimination(oracle(), Z, y, count, sizes)
        for found, (columns, _) in zip(selected_columns(paths, sizes, m), expected, strict=True):
            np.testing.assert_array_equal(found, columns)
        columns, weights = expected[-1]
        np.testing.assert_allclose(paths.weight[m, columns], weights, atol=1e-9 * np.abs(weights).max())


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize(("n", "d"), [(30, 80), (60, 20)])
def test_counts_are_repeated_rows(n, d, scale):
    X, y = correlated(n, d, 0.5)
    sizes = elimination_sizes(d, 4, 0.1)
    count = bootstraps(y, 1)[0]
    rows = np.repeat(np.arange(n), count)
    once = svm_elimination(X, y, count, sizes=sizes, scale=scale)
    repeated = svm_elimination(X[rows], y[rows], sizes=sizes, scale=scale)
    np.testing.assert_array_equal(once.smallest_size, repeated.smallest_size)
    np.testing.assert_allclose(once.weight, repeated.weight, atol=1e-7 * np.abs(once.weight).max())
    np.testing.assert_allclose(once.coef, repeated.coef, rtol=1e-6)


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize(("n", "d"), [(30, 80), (60, 20)])
def test_all_resamples_at_once_are_one_by_one_to_the_last_bit(n, d, scale):
    X, y = correlated(n, d, 0.5)
    counts = bootstraps(y, 5)
    options = {"sizes": elimination_sizes(d, 5, 0.1), "scale": scale}
    together = svm_elimination(X, y, counts, **options)
    for m in range(5):
        for one, all_of_them in zip(svm_elimination(X, y, counts[m], **options), together, strict=True):
            np.testing.assert_array_equal(one[0], all_of_them[m])


# Corners


@pytest.mark.parametrize(("n", "d"), [(30, 60), (90, 20)])
def test_of_equal_columns_the_lowest_is_kept(n, d):
    X, y = correlated(n, d // 2, 0.3)
    X = np.column_stack([X, 3 - 2.5 * X])  # mirror images: the same to a model that scales
    order = orders(svm_elimination(X, y, bootstraps(y, 3), sizes=elimination_sizes(d, 4, 1))).argsort(axis=1)
    assert (order[:, : d // 2] < order[:, d // 2 :]).all()


@pytest.mark.parametrize(("n", "d"), [(30, 60), (90, 20)])
def test_constant_columns_fall_first(n, d):
    X, y = correlated(n, d, 0.3)
    X[:, 0], X[:, 5] = 0.1, np.arange(n) == 0
    paths = svm_elimination(X, y, np.minimum(np.arange(n), 1), sizes=[d, d - 2, 3])
    assert set(np.flatnonzero(paths.smallest_size[0] == d)) == {0, 5}


def test_with_nothing_but_constants_the_lowest_columns_are_kept():
    paths = svm_elimination(np.ones((5, 7)), np.array([1, 1, -1, -1, -1]), sizes=[7, 3])
    np.testing.assert_array_equal(paths.selected, [[0, 1, 2]])
    assert paths.intercept[0] == pytest.approx(-1)


def test_a_fit_that_is_given_up_raises():
    X, y = correlated(30, 60, 0.3)
    for data in (X, X[:, :20]):
        with pytest.raises(ArithmeticError, match=r"resample 0 at \d+ features"):
            svm_elimination(data, y, sizes=[data.shape[1], 5], max_iter=1)


def test_a_resample_of_one_class_is_told():
    X, y = correlated(6, 4, 0)
    with pytest.raises(ValueError, match="none with label 1 in resample 1"):
        svm_elimination(X, y, [np.ones(6), y < 0])


@pytest.mark.parametrize("every", [2, 4])
@pytest.mark.parametrize(("n", "d"), [(40, 12), (20, 60)])
def test_weights_fall_with_a_small_cost_in_proportion_or_the_fit_is_given_up(n, d, every):
    """Below some C no margin reaches 1, and the optimum is that of any smaller C but for its size."""
    X, y = np.random.default_rng(0).normal(size=(n, d)), np.where(np.arange(n) % every == 0, 1.0, -1.0)
    weights, fallback = svm_elimination(X, y, C=1e-5).weight[0] / 1e-5, []
    for C in 10.0 ** -np.arange(6, 40):
        try:
            np.testing.assert_allclose(svm_elimination(X, y, C=C).weight[0] / C, weights, rtol=1e-4, atol=1e-6)
        except ArithmeticError as error:
            fallback.append(C)
            assert "in resample 0" in str(error)  # noqa: PT017
            assert "take a C nearer to 1" in str(error)  # noqa: PT017
    assert 1e-8 not in fallback
    assert 1e-12 in fallback


@pytest.mark.parametrize("C", [0, -1, 1e-200, 1e200, np.inf, np.nan])
def test_a_cost_whose_squares_cannot_be_computed_is_refused(C):
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.where(np.arange(20) % 2, 1.0, -1.0)
    with pytest.raises(ValueError, match="Expected a positive C, from 1e-100 to 1e100, got"):
        svm_elimination(X, y, C=C)
