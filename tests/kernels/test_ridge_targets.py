"""Ridge elimination for any target, compared in an obvious loop with scikit-learn, or a minimizer of Cox's loss."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge

import holdfast as hf
from eliminations import slow_elimination, standardized
from holdfast.kernels.elimination import elimination_sizes, scale_data
from holdfast.kernels.ridge import ridge_eliminations
from holdfast.kernels.ridge_targets import Objective, output_models

K = 3
FAMILIES = ["multinomial", "rest", "numbers", "cox"]
SHAPES = [(40, 90), (45, 30), (60, 9)]  # dual, dual and then in the weights, in the weights


def make_data(n, d, family, seed=0):
    """Rows of three classes, with numbers, or with tied times in two strata, and two resamples with all classes."""
    rng = np.random.default_rng(seed)
    classes, X = np.arange(n) % K, rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d) + rng.normal(size=d)
    X[:, :6] += 0.8 * (classes[:, None] == np.arange(6) % K)
    numbers = X[:, 0] - X[:, 1] + rng.normal(size=n) + 7
    counts = np.array([rng.multinomial(n, np.full(n, 1 / n)) for _ in range(2)], float)
    if family == "cox":
        times = np.ceil(20 * rng.exponential(np.exp(0.5 * (numbers - 7))))
        return X, hf.survival(times, rng.random(n) < 0.7, rng.integers(0, 2, n)), counts
    return X, numbers if family == "numbers" else classes, counts


def cox_loss(f, y, count):
    """Minus the log partial likelihood with Breslow's ties, and its slope, one event after the other."""
    total, slope = 0.0, np.zeros(len(y))
    for row in np.flatnonzero(y["event"]):
        at_risk = (y["time"] >= y["time"][row]) & (y["stratum"] == y["stratum"][row])
        v = count * at_risk * np.exp(f - f[at_risk].max())
        total += count[row] * (np.log(v.sum()) + f[at_risk].max() - f[row])
        slope[row] -= count[row]
        slope += count[row] * v / v.sum()
    return total, slope


def oracle(family, C, intercept):
    """The peer's coefficients, one row for each output, on the problem rotated to at most as many columns as rows."""

    def fit(X, y, count):
        rows = count > 0
        U, s, Vt = np.linalg.svd(X[rows], full_matrices=False)
        logistic = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=500, fit_intercept=intercept)
        if family == "numbers":
            model = Ridge(alpha=1 / C, fit_intercept=intercept, solver="cholesky")
            return model.fit(U * s, y[rows], sample_weight=count[rows]).coef_[None] @ Vt
        if family == "cox":

            def penalized(w):
                loss, slope = cox_loss(U * s @ w, y[rows], count[rows])
                return C * loss + w @ w / 2, C * (U * s).T @ slope + w

            start = np.zeros(s.size)
            return minimize(penalized, start, jac=True, method="BFGS", options={"gtol": 1e-8}).x[None] @ Vt
        targets = [y[rows]] if family == "multinomial" else [y[rows] == label for label in range(K)]
        fitted = [logistic.fit(U * s, target, sample_weight=count[rows]).coef_ for target in targets]
        return np.vstack(fitted) @ Vt

    return fit


def objective(family):
    return Objective(family, 1 if family in ("numbers", "cox") else K)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize(("C", "intercept", "scale"), [(1, True, "split"), (3, False, "full"), (0.01, True, "full")])
def test_eliminations_are_those_of_an_obvious_loop(n, d, C, intercept, scale, family):
    X, y, counts = make_data(n, d, family)
    sizes, peer = elimination_sizes(d, 4, 0.3), oracle(family, C, intercept)

    def weigh(X, y, count, columns):
        Z = standardized(X[:, columns], count)[0] if scale == "split" else X[:, columns]
        return np.sqrt((peer(Z, y, count) ** 2).sum(axis=0))

    found = ridge_eliminations(
        scale_data(X, scale), y, counts, [sizes], C=C, intercept=intercept, run=objective(family).run
    )
    assert not found.unsolved.any()
    for resample, count in enumerate(counts):
        path = slow_elimination(weigh, X, y, count, sizes)
        for columns, _ in path:
            assert np.flatnonzero(found.smallest_size[resample, 0] <= columns.size).tolist() == columns.tolist()
        columns, expected = path[-1]
        np.testing.assert_allclose(np.abs(found.weight[resample, 0, columns]), expected, atol=1e-6 * expected.max())


@pytest.mark.parametrize("family", FAMILIES)
def test_models_are_those_of_scikit_learn_on_the_data_as_they_are(family):
    X, y, counts = make_data(50, 12, family)
    columns = np.array([[0, 3, 5], [1, 2, 11]])
    models = output_models(objective(family), scale_data(X, "full"), y, counts, [0, 1], columns, [0.5, 4.0])
    for row, C in enumerate([0.5, 4.0]):
        expected = oracle(family, C, True)(X[:, columns[row]], y, counts[row])
        np.testing.assert_allclose(models.coef[row], expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("family", FAMILIES)
def test_forced_features_stay_and_shrinkage_is_another_scale_of_their_columns(family):
    X, y, counts = make_data(40, 60, family)
    forced = np.zeros((1, 2, 60), bool)
    forced[0, 0, [20, 21]] = forced[0, 1, [30, 31]] = True
    sizes = elimination_sizes(60, 5, 0.3)
    found = ridge_eliminations(
        scale_data(X, "full"), y, counts, [sizes], C=1, shrinkage=0.25, forced=forced, which_forced=[0],
        run=objective(family).run,
    )  # fmt: skip
    for resample, held in enumerate(forced[0]):
        assert (found.smallest_size[resample, 0, held] == 5).all()
        last = np.flatnonzero(found.smallest_size[resample, 0] == 5)
        Z = X[:, last] * np.where(held[last], 4, 1)
        expected = np.sqrt((oracle(family, 1, True)(Z, y, counts[resample]) ** 2).sum(axis=0)) * np.where(
            held[last], 4, 1
        )
        np.testing.assert_allclose(np.abs(found.weight[resample, 0, last]), expected, atol=1e-6 * expected.max())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_that_counts_twice_is_two_rows_and_a_path_depends_on_no_other(family):
    X, y, counts = make_data(30, 50, family)
    rows = np.repeat(np.arange(30), counts[0].astype(int))
    sizes, run = [elimination_sizes(50, 3, 0.4)], objective(family).run
    both = ridge_eliminations(scale_data(X, "split"), y, counts, sizes, C=1, run=run)
    single = ridge_eliminations(scale_data(X, "split"), y, counts[1:], sizes, C=1, run=run)
    again = ridge_eliminations(scale_data(X[rows], "split"), y[rows], np.ones((1, rows.size)), sizes, C=1, run=run)
    assert single.weight[0].tolist() == both.weight[1].tolist()
    assert again.smallest_size[0].tolist() == both.smallest_size[0].tolist()
    np.testing.assert_allclose(again.weight[0], both.weight[0], rtol=1e-6, atol=1e-9)


def test_where_columns_lie_does_not_matter_to_survival_times():
    X, y, counts = make_data(40, 90, "cox")
    sizes, run = [elimination_sizes(90, 4, 0.3)], objective("cox").run
    near, far = (ridge_eliminations(scale_data(X + by, "full"), y, counts, sizes, C=1, run=run) for by in (0, 1e6))
    assert not far.unsolved.any()
    assert far.smallest_size.tolist() == near.smallest_size.tolist()
    np.testing.assert_allclose(far.weight, near.weight, atol=1e-6)


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("scale", ["split", "full"])
def test_numbers_next_to_covariates_are_what_these_leave_of_them(n, d, scale):
    """A minimum over weights without a penalty leaves the residuals of all else."""
    X, y, counts = make_data(n, d, "numbers")
    covariates = np.column_stack([X[:, 2] + 0.3 * y, np.arange(n) % 3 == 0])
    sizes, free = elimination_sizes(d, 4, 0.3), np.column_stack([np.ones(n), covariates])
    found = ridge_eliminations(
        scale_data(X, scale), y, counts, [sizes], C=0.7, covariates=covariates, run=objective("numbers").run
    )
    for resample, count in enumerate(counts):
        root = np.sqrt(count)[:, None]
        fitted = free @ np.linalg.lstsq(root * free, root * np.column_stack([X, y]), rcond=None)[0]
        rest = np.column_stack([X, y]) - fitted
        unit = np.sqrt(count @ rest**2 / count.sum()) if scale == "split" else np.ones(d + 1)

        def weigh(X, y, count, columns, Z=rest[:, :-1] / unit[:-1], left=rest[:, -1]):
            return np.abs(oracle("numbers", 0.7, False)(Z[:, columns], left, count)[0])

        path = slow_elimination(weigh, X, y, count, sizes)
        for columns, _ in path:
            assert np.flatnonzero(found.smallest_size[resample, 0] <= columns.size).tolist() == columns.tolist()
        columns, expected = path[-1]
        np.testing.assert_allclose(np.abs(found.weight[resample, 0, columns]), expected, atol=1e-6 * expected.max())


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("family", FAMILIES)
def test_extreme_costs_on_separable_data_reach_the_optimum(family, C):
    X, y, counts = make_data(30, 80, family)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    models = output_models(objective(family), scale_data(Z, "full"), y, counts, [0, 1], [np.arange(80)] * 2, C)
    assert not models.unsolved.any()
    for count, w, b in zip(counts, models.coef, models.intercept, strict=True):
        f = Z @ w.T + b
        if family == "cox":
            g = cox_loss(f[:, 0], y, count)[1][:, None] / np.maximum(count, 1)[:, None]
        elif family == "numbers":
            g = f - y[:, None]
        elif family == "rest":
            g = 1 / (1 + np.exp(-f)) - (y[:, None] == np.arange(K))
        else:
            shares = np.exp(f - f.max(axis=1, keepdims=True))
            g = shares / shares.sum(axis=1, keepdims=True) - (y[:, None] == np.arange(K))
        g *= C * count[:, None]
        np.testing.assert_allclose(w, -(Z.T @ g).T, atol=1e-7 * np.abs(g).sum())
        assert np.abs(g.sum(axis=0)).max() < 1e-7 * np.abs(g).sum()
