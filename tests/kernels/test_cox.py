"""Cox's partial likelihood, against definitions that loop over all rows at risk, and against derivatives by steps."""

import numpy as np
import pytest
from scipy.optimize import minimize

import holdfast as hf
from holdfast.kernels import cox
from holdfast.kernels.elastic_net import elastic_net_paths
from holdfast.kernels.jit import frozen
from holdfast.models import CoxRidge


def make(n, d, rng, *, strata=0, ties=True, signal=0.5):
    """Rows with exponential times, censored independently; ties come of rounding."""
    X = rng.normal(size=(n, d))
    time, end = rng.exponential(np.exp(-signal * X[:, :3].sum(axis=1))), rng.exponential(1.5, size=n)
    if ties:
        time, end = np.ceil(5 * time), np.ceil(5 * end)
    return X, hf.survival(np.minimum(time, end), time <= end, rng.integers(0, strata, n) if strata else None)


def strata_of(y):
    """The stratum of each row."""
    return y["stratum"] if "stratum" in y.dtype.names else np.zeros(len(y))


def slow_loss(f, y, c):
    """Minus the log partial likelihood with Breslow's ties, row by row."""
    total, strata = 0.0, strata_of(y)
    for row in np.flatnonzero(y["event"] & (c > 0)):
        at_risk = (y["time"] >= y["time"][row]) & (strata == strata[row])
        total -= c[row] * (f[row] - np.log(np.sum(c[at_risk] * np.exp(f[at_risk]))))
    return total


def slow_slope(f, y, c):
    """Minus the slope of the loss over the sum of weights, row by row."""
    slope, weights, strata = np.zeros(len(y)), c / c.sum(), strata_of(y)
    v = weights * np.exp(f - f.max())
    for row in np.flatnonzero(y["event"] & (c > 0)):
        at_risk = (y["time"] >= y["time"][row]) & (strata == strata[row])
        slope[row] += weights[row]
        slope[at_risk] -= weights[row] * v[at_risk] / v[at_risk].sum()
    return slope


def slow_concordance(y, risk, c=None, *, within=False):
    """Harrell's C, pair by pair."""
    c, strata, good, pairs = np.ones(len(y)) if c is None else c, strata_of(y), 0.0, 0.0
    for i in range(len(y)):
        for k in range(len(y)):
            tied = y["time"][i] == y["time"][k] and not y["event"][k]
            comparable = y["event"][i] and (y["time"][i] < y["time"][k] or tied)
            if comparable and not (within and strata[i] != strata[k]):
                pairs += c[i] * c[k]
                good += c[i] * c[k] * ((risk[i] > risk[k]) + 0.5 * (risk[i] == risk[k]))
    return good / pairs if pairs else np.nan


def newton_step(x, y, c, h=1e-4):
    """Slope and curvature at 0 of the loss along one column, by differences."""
    low, middle, high = (slow_loss(step * x, y, c) for step in (-h, 0.0, h))
    return -(high - low) / (2 * h), (high - 2 * middle + low) / h**2


@pytest.mark.parametrize("strata", [0, 2])
def test_filters_are_score_tests_and_concordances(strata):
    rng = np.random.default_rng(0)
    X, y = make(40, 5, rng, strata=strata)
    X[:, 4] = 1.0  # constant
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=3)
    rows = cox.sort_rows(y)
    ordered = frozen(X[rows.order], np.float64)
    scores = cox.score_tests(ordered, rows, counts[:, rows.order])
    concordances = cox.column_concordances(ordered, rows, counts[:, rows.order])
    for resample, c in enumerate(counts):
        for column in range(4):
            slope, curvature = newton_step(X[:, column], y, c)
            assert scores[resample, column] == pytest.approx(slope / np.sqrt(curvature), abs=1e-4)
            slow = slow_concordance(y, X[:, column], c, within=True)
            assert concordances[resample, column] == pytest.approx(slow, abs=1e-12)
    assert (scores[:, 4] == 0).all()
    assert (concordances[:, 4] == 0.5).all()


def test_the_score_test_of_a_group_is_the_log_rank_test():
    rng = np.random.default_rng(1)
    _, y = make(60, 3, rng, ties=False)
    group = (rng.random(60) < 0.5).astype(float)
    observed = expected = variance = 0.0
    for row in np.flatnonzero(y["event"]):
        at_risk = y["time"] >= y["time"][row]
        share = group[at_risk].mean()
        observed, expected, variance = observed + group[row], expected + share, variance + share * (1 - share)
    rows = cox.sort_rows(y)
    z = cox.score_tests(frozen(group[rows.order][:, None], np.float64), rows, np.ones((1, 60)))
    assert z[0, 0] == pytest.approx((observed - expected) / np.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize(("n_columns", "strata", "alpha"), [(3, 0, 1.0), (6, 2, 0.3)])
def test_ridge_models_are_at_the_optimum(n_columns, strata, alpha):
    X, y = make(40, n_columns, np.random.default_rng(2), strata=strata)
    ones = np.ones(40)
    best = minimize(
        lambda w: slow_loss(X @ w, y, ones) + alpha / 2 * w @ w, np.zeros(n_columns), options={"gtol": 1e-9}
    )
    np.testing.assert_allclose(CoxRidge(alpha).fit(X, y).coef_, best.x, atol=1e-6)


def test_ridge_models_of_more_columns_than_rows_are_at_the_optimum():
    X, y = make(30, 50, np.random.default_rng(3))
    X[:, 7] = X[:, 3]
    X[:, 8] *= 40.0
    w = CoxRidge(2.0).fit(X, y).coef_
    slope = 30 * X.T @ slow_slope(X @ w, y, np.ones(30)) - 2.0 * w
    assert np.abs(slope).max() < 1e-8
    assert w[7] == pytest.approx(w[3], rel=1e-9)


def golden():
    """Standardized features and times with ties, by which the numbers of scikit-survival 0.28 below were made."""
    rng = np.random.default_rng(20)
    X = rng.normal(size=(60, 8))
    X[:, 3] = np.round(X[:, 3])
    time, end = rng.exponential(np.exp(-0.6 * X[:, :3].sum(axis=1))), rng.exponential(1.5, size=60)
    time, end = np.ceil(6 * time), np.ceil(6 * end)
    return X, (X - X.mean(axis=0)) / X.std(axis=0), hf.survival(np.minimum(time, end), time <= end)


GOLDEN_PATHS = {
    (1.0, 0.1): [0.402671316, 0.288560958, 0.148592051, 0, 0, 0.033041368, 0, 0],
    (1.0, 0.005): [
        0.655005795, 0.524020176, 0.435944503, -0.208662692, 0.11186649, 0.296912938, 0.008977931, -0.227864227,
    ],
    (0.5, 0.2): [0.319088239, 0.245872806, 0.115144607, 0, 0, 0.041023178, 0, 0],
    (0.5, 0.03): [
        0.599442343, 0.464139366, 0.371311859, -0.170985716, 0.062728974, 0.247309849, 0, -0.154164188,
    ],
}  # fmt: skip
"""By l1_ratio and lambda: CoxnetSurvivalAnalysis(tol=1e-15)."""
GOLDEN_RIDGE = {
    1.0: [0.635719172, 0.518047685, 0.430242128, -0.212573851, 0.118475353, 0.306368661, 0.015529899, -0.228318664],
    10.0: [0.454552084, 0.366862347, 0.275494028, -0.155237648, 0.053139914, 0.216910897, -0.031212852, -0.101013464],
}
"""By alpha: CoxPHSurvivalAnalysis(ties="breslow", tol=1e-14)."""


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_paths_have_the_weights_of_scikit_survival(l1_ratio):
    _, Z, y = golden()
    lambdas = [at for mix, at in GOLDEN_PATHS if mix == l1_ratio]
    paths = elastic_net_paths(Z, y, np.ones((1, 60)), family="cox", l1_ratio=l1_ratio, lambdas=lambdas)
    for step, at in enumerate(lambdas):
        part, w = slice(*paths.indptr[step : step + 2]), np.zeros(8)
        w[paths.indices[part]] = paths.coefficients[part]
        np.testing.assert_allclose(w, GOLDEN_PATHS[l1_ratio, at], atol=2e-8)


@pytest.mark.parametrize("alpha", GOLDEN_RIDGE)
def test_ridge_models_have_the_weights_of_scikit_survival(alpha):
    _, Z, y = golden()
    np.testing.assert_allclose(CoxRidge(alpha).fit(Z, y).coef_, GOLDEN_RIDGE[alpha], atol=2e-9)


def test_concordance_is_that_of_scikit_survival():
    X, _, y = golden()
    risks = np.concatenate([np.round(X[:, 0] + X[:, 1], 1), -X[:, 3]])
    found = cox.concordance(np.tile(y["time"], 2), np.tile(y["event"], 2), risks, [0, 60, 120])
    np.testing.assert_allclose(found, [(783 + 16 / 2) / (783 + 289 + 16), (448 + 252 / 2) / (448 + 388 + 252)])


def test_counts_are_repeated_rows():
    rng = np.random.default_rng(4)
    X, y = make(30, 4, rng)
    c = rng.integers(0, 3, 30)
    repeated = np.repeat(np.arange(30), c)
    once = elastic_net_paths(X, y, c[None], family="cox", n_lambdas=8)
    again = elastic_net_paths(X[repeated], y[repeated], np.ones((1, c.sum())), family="cox", n_lambdas=8)
    np.testing.assert_array_equal(once.indices, again.indices)
    np.testing.assert_allclose(once.standardized, again.standardized, rtol=1e-7)


@pytest.mark.parametrize(
    ("n", "d", "strata", "ties", "l1_ratio"),
    [(60, 20, 0, True, 1.0), (60, 20, 3, True, 0.5), (40, 100, 0, False, 1.0), (40, 100, 2, True, 0.1)],
)
def test_paths_meet_the_optimality_conditions(n, d, strata, ties, l1_ratio):
    rng = np.random.default_rng(5)
    X, y = make(n, d, rng, strata=strata, ties=ties)
    X[:, 6] = -2 * X[:, 1] + 3  # a copy
    X[:, 5] = 1.0
    c = rng.multinomial(n, np.full(n, 1 / n)).astype(float)
    paths = elastic_net_paths(X, y, c[None], family="cox", l1_ratio=l1_ratio, n_lambdas=20, lambda_min_ratio=0.05)
    mean = np.average(X, axis=0, weights=c)
    sd = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=c))
    Z = (X - mean) / np.where(sd > 0, sd, 1.0)
    for step, level in enumerate(paths.lambdas[0]):
        part, w = slice(*paths.indptr[step : step + 2]), np.zeros(d)
        w[paths.indices[part]] = paths.standardized[part]
        gradient = Z.T @ slow_slope(Z @ w, y, c) - level * (1 - l1_ratio) * w
        bound = level * l1_ratio
        assert np.abs(gradient[w != 0] - bound * np.sign(w[w != 0])).max(initial=0) <= 2e-9 * bound
        assert np.abs(gradient[w == 0]).max(initial=0) <= bound * (1 + 2e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("strata", [0, 3])
def test_copies_far_from_zero_which_differ_by_their_rounding_are_solved(seed, strata):
    """The optimum has one of them, that of the steeper slope; the other kept coming back."""
    rng = np.random.default_rng(seed)
    X, y = make(45, 12, rng, strata=strata)
    X = np.hstack([X, -X, 2.5 * X])[:, rng.permutation(36)] + 1e6 * (rng.random(36) < 0.5)
    paths = elastic_net_paths(X, y, np.ones((1, 45)), family="cox", n_lambdas=30, lambda_min_ratio=1e-4)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for step, level in enumerate(paths.lambdas[0]):
        part, w = slice(*paths.indptr[step : step + 2]), np.zeros(36)
        w[paths.indices[part]] = paths.standardized[part]
        gradient = Z.T @ slow_slope(Z @ w, y, np.ones(45))
        assert np.abs(gradient[w != 0] - level * np.sign(w[w != 0])).max(initial=0) <= 3e-9 * level + 1e-13
        assert np.abs(gradient).max() <= level * (1 + 3e-9) + 1e-13


def test_predictors_far_apart_do_not_overflow():
    y = hf.survival(np.arange(1.0, 13), np.ones(12))
    X = -np.arange(12.0)[:, None] * 1e6  # orders all events: the weight grows without end
    paths = elastic_net_paths(X, y, np.ones((1, 12)), family="cox", n_lambdas=60, lambda_min_ratio=1e-6)
    assert np.isfinite(paths.standardized).all()
    assert (np.diff(paths.standardized) > 0).all()
    f = np.linspace(2000, -2000, 12)
    r, W, gain = np.zeros((3, 12))
    flags = np.zeros(12, np.int64)
    flags[0], flags[-1] = cox.FIRST, cox.LAST
    wide = elastic_net_loss(f, flags, r, W, gain)
    assert wide == pytest.approx(-np.log(12))  # each event is certain, but for the weights in the sum
    assert np.isfinite(r).all()


def elastic_net_loss(f, flags, r, W, gain):
    """The loss of twelve events in order."""
    from holdfast.kernels.elastic_net import evaluate_at

    weights = np.full(12, 1 / 12)
    return evaluate_at(12, f, weights, weights, weights, flags, r, W, gain)


def test_concordance_counts_pairs():
    rng = np.random.default_rng(6)
    _, y = make(50, 3, rng)
    risk = np.round(rng.normal(size=50), 1)
    starts = [0, 20, 20, 50]
    cells = cox.concordance(y["time"], y["event"], risk, starts)
    assert cells[0] == pytest.approx(slow_concordance(y[:20], risk[:20]), abs=1e-12)
    assert np.isnan(cells[1])
    assert cells[2] == pytest.approx(slow_concordance(y[20:], risk[20:]), abs=1e-12)
    assert cox.concordance(y["time"], y["event"], np.zeros(50), [0, 50])[0] == 0.5
    weights = rng.random(50)
    one = cox.concordance(y["time"], y["event"], risk, [0, 50], np.full(50, 3.0))[0]
    assert one == pytest.approx(slow_concordance(y, risk), abs=1e-12)
    assert cox.concordance(y["time"], y["event"], risk, [0, 50], weights)[0] != one


def test_effects_are_one_newton_step_and_concordance():
    rng = np.random.default_rng(7)
    X, y = make(40, 4, rng, strata=2)
    X[3, 1] = np.nan
    test = np.sort(rng.permutation(40)[:25])
    effects = np.full((4, 2), np.nan)
    cox.survival_effects(np.ascontiguousarray(X.T), y, [test], np.zeros(4, np.int64), np.arange(4), effects)
    for column in range(4):
        rows = test[np.isfinite(X[test, column])]
        slope, curvature = newton_step(X[rows, column], y[rows], np.ones(rows.size))
        spread = np.nanstd(X[:, column])
        assert effects[column, 0] == pytest.approx(slope / curvature * spread, abs=1e-5)
        assert effects[column, 1] == pytest.approx(slow_concordance(y[rows], X[rows, column], within=True), abs=1e-12)
