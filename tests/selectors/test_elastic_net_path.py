"""Elastic-net paths against independent solvers, their optimality conditions and their promises."""

import os
import warnings

import numpy as np
import pytest
from glum import GeneralizedLinearRegressor
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import ElasticNet, LogisticRegression, enet_path
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast.kernels import elastic_net, jit, tolerances
from holdfast.kernels.elastic_net import NothingVariesError, elastic_net_paths
from holdfast.resampling import Samples
from holdfast.selectors import ElasticNetPath, HybridRFE
from holdfast.selectors.elastic_net import make_path_preferences, make_preference, take_solution

RHOS, SHAPES, L1_RATIOS = (0, 0.3, 0.5, 0.8), ((120, 15), (50, 120)), (1, 0.5, 0.1)


def largest_lambdas(X, y, counts, **options):
    """Least lambda of each resample at which no column has a weight; 0 if no column varies with y."""
    try:
        return elastic_net_paths(X, y, counts, n_lambdas=1, **options).lambdas[:, 0]
    except NothingVariesError:
        return np.zeros(len(counts))


def draw(n, d, rho=0.3, seed=0, family="logistic"):
    """Equally correlated columns, ten of which matter at most, and noisy outcomes: nothing is separable by accident."""
    rng = np.random.default_rng(seed)
    X = np.sqrt(1 - rho) * rng.normal(size=(n, d)) + np.sqrt(rho) * rng.normal(size=(n, 1))
    X = X * rng.uniform(0.5, 20, d) + rng.normal(size=d)
    f = (X[:, :10] - X[:, :10].mean(axis=0)) / X[:, :10].std(axis=0) @ rng.normal(size=min(d, 10))
    if family == "linear":
        return X, 3 + 5 * f + 5 * rng.normal(size=n)
    return X, np.where(f + rng.logistic(size=n) > 0, 1.0, -1.0)


def bootstraps(n, n_resamples, seed=1):
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), n_resamples)


def dense(paths, n_features, values="standardized"):
    """Lists as an array, resamples × lambdas × features."""
    out = np.zeros((paths.lambdas.size, n_features))
    rows = np.repeat(np.arange(paths.lambdas.size), np.diff(paths.indptr))
    out[rows, paths.indices] = getattr(paths, values)
    return out.reshape(*paths.lambdas.shape, n_features)


def standardized(X, c, Z=None):
    X, Z = X[c > 0], None if Z is None else Z[c > 0]
    c = c[c > 0] / c.sum()
    centered = X - c @ X if Z is None else left_by(Z, X, c)
    scale = np.sqrt(c @ centered**2)
    scale[np.ptp(X, axis=0) <= 1e-12 * np.abs(X).max(axis=0)] = np.inf
    return centered / scale


def left_by(Z, values, c):
    """What a weighted regression on an intercept and covariates leaves, in the most obvious way."""
    design = np.column_stack([np.ones(len(Z)), Z])
    root = np.sqrt(c)[:, None]
    return values - design @ np.linalg.lstsq(design * root, values * root, rcond=None)[0]


def violation(X, y, c, w, intercept, lam, l1_ratio, family):
    """How far a solution is from optimal, beside lambda times l1_ratio (straight from the conditions)."""
    Z, y, c = standardized(X, c), y[c > 0], c[c > 0] / c.sum()
    f = intercept + Z @ w
    r = c * (y - f) if family == "linear" else c * y / (1 + np.exp(y * f))
    g = Z.T @ r - lam * (1 - l1_ratio) * w
    l1 = lam * l1_ratio
    off = np.where(w != 0, np.abs(g - l1 * np.sign(w)), np.maximum(np.abs(g) - l1, 0))
    return max(off.max(), abs(r.sum())) / l1


def intercepts_of_standardized(paths, X, c):
    return paths.intercepts[0] + dense(paths, X.shape[1], "coefficients")[0] @ (c @ X / c.sum())


def glum_path(X, y, c, lambdas, l1_ratio, family):
    model = GeneralizedLinearRegressor(
        family="normal" if family == "linear" else "binomial",
        l1_ratio=l1_ratio,
        alpha=list(lambdas),
        alpha_search=True,
        gradient_tol=1e-10,
        max_iter=10_000,
    )
    target = y if family == "linear" else (y > 0).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(np.asfortranarray(standardized(X, c)), target[c > 0], sample_weight=c[c > 0].astype(float))
    return model.coef_path_, model.intercept_path_


def assert_same(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6 * max(1, np.abs(theirs).max()))
    np.testing.assert_array_equal(ours != 0, np.abs(theirs) > 1e-9)


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("family", ["logistic", "linear"])
def test_solutions_are_those_of_glum(family, rho, n, d, l1_ratio):
    X, y = draw(n, d, rho, family=family)
    counts = bootstraps(n, 2 if family == "logistic" else 1)
    paths = elastic_net_paths(X, y, counts, family=family, l1_ratio=l1_ratio, n_lambdas=10, lambda_min_ratio=0.05)
    for m, c in enumerate(counts):
        weights, _ = glum_path(X, y, c, paths.lambdas[m], l1_ratio, family)
        assert_same(dense(paths, d)[m], weights)


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_linear_solutions_are_those_of_scikit_learn(n, d, l1_ratio):
    X, y = draw(n, d, 0.5, family="linear")
    c = bootstraps(n, 1)
    paths = elastic_net_paths(X, y, c, family="linear", l1_ratio=l1_ratio, n_lambdas=30)
    Z, target = np.repeat(standardized(X, c[0]), c[0][c[0] > 0], axis=0), np.repeat(y, c[0])
    settings = {"l1_ratio": l1_ratio, "alphas": paths.lambdas[0], "tol": 1e-14, "max_iter": 100_000}
    _, theirs, _ = enet_path(np.asfortranarray(Z), target - target.mean(), **settings)
    assert_same(dense(paths, d)[0], theirs.T)


@pytest.mark.parametrize("l1_ratio", [1, 0.5])
def test_logistic_solutions_are_those_of_scikit_learn(l1_ratio):
    X, y = draw(100, 20)
    c = bootstraps(100, 1)
    lam = largest_lambdas(X, y, c, family="logistic", l1_ratio=l1_ratio)[0] * np.array([0.5, 0.1])
    paths = elastic_net_paths(X, y, c, family="logistic", l1_ratio=l1_ratio, lambdas=lam)
    Z = standardized(X, c[0])
    for k in range(2):
        peer = LogisticRegression(
            solver="saga", l1_ratio=l1_ratio, C=1 / (100 * lam[k]), tol=1e-12, max_iter=100_000, random_state=0
        )
        peer.fit(Z, y[c[0] > 0], sample_weight=c[0][c[0] > 0])
        assert_same(dense(paths, 20)[0, k], peer.coef_[0])
        np.testing.assert_allclose(intercepts_of_standardized(paths, X, c[0])[k], peer.intercept_[0], atol=1e-6)


@pytest.mark.parametrize("l1_ratio", [1, 0.5])
def test_the_strength_of_a_penalty_in_scikit_learns_terms(l1_ratio):
    """The table of docs/selectors.md: C = 1 / (n lambda) for classes, alpha = lambda for numbers."""
    X, y = draw(80, 10)
    Z, strength = StandardScaler().fit_transform(X), 0.05
    peers = {
        "logistic": LogisticRegression(
            solver="saga", l1_ratio=l1_ratio, C=1 / (80 * strength), tol=1e-12, max_iter=100_000, random_state=0
        ).fit(Z, y),
        "linear": ElasticNet(alpha=strength, l1_ratio=l1_ratio, tol=1e-12, max_iter=100_000).fit(Z, 3 * y),
    }
    for model, peer in peers.items():
        target = y if model == "logistic" else 3 * y
        fitted = ElasticNetPath(strength, l1_ratio=l1_ratio, model=model).fit(X, target)
        np.testing.assert_array_equal(fitted.get_support(), peer.coef_.ravel() != 0)
        ours = fitted.model_.coef.ravel() * X.std(axis=0)[fitted.get_support()]
        np.testing.assert_allclose(ours, peer.coef_.ravel()[fitted.get_support()], atol=1e-6)


def test_the_c_of_hybrid_elimination_is_that_of_scikit_learn_and_half_of_the_papers_lambda():
    X, y = draw(60, 5)
    strength = 0.3  # of sum of losses + strength * w @ w, as Hamer and Dupont (2020) print it
    fitted = HybridRFE(5, C=1 / (2 * strength), fit_intercept=False, standardize=False).fit(X, y)

    def objective(w):
        return np.logaddexp(0, -y * (X @ w)).sum() + strength * w @ w

    best = minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(fitted.model_.coef[0], best, atol=1e-6)
    peer = LogisticRegression(C=1 / (2 * strength), fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(fitted.model_.coef[0], peer.coef_[0], atol=1e-5)


@st.composite
def problems(draw):
    """Small data with constant, equal, opposite and dependent columns, and any weights."""
    n, d = draw(st.integers(4, 40)), draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    coarse = draw(st.booleans())
    X = (
        rng.integers(-2, 3, (n, d)).astype(float)
        if coarse
        else rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    )
    for j in range(1, d):
        match rng.integers(0, 8):
            case 0:
                X[:, j] = X[:, rng.integers(0, j)] * rng.choice([-2, 1]) + 3
            case 1:
                X[:, j] = X[:, : j // 2 + 1].sum(axis=1)
            case 2:
                X[:, j] = 7
    c = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else rng.exponential(size=n)
    c[:4] += 1
    family = draw(st.sampled_from(["logistic", "linear"]))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0) if family == "logistic" else rng.normal(size=n) * 100
    y[:2] = 1, -1
    return X, y, c, family, draw(st.sampled_from([1, 0.9, 0.5, 0.05]))


@given(problem=problems())
@settings(max_examples=150)
def test_every_solution_satisfies_its_optimality_conditions(problem):
    X, y, c, family, l1_ratio = problem
    if largest_lambdas(X, y, c[None], family=family, l1_ratio=l1_ratio)[0] == 0:
        return
    paths = elastic_net_paths(X, y, c[None], family=family, l1_ratio=l1_ratio, n_lambdas=25, lambda_min_ratio=1e-3)
    intercepts = intercepts_of_standardized(paths, X, c)
    for k, lam in enumerate(paths.lambdas[0]):
        off = violation(X, y, c, dense(paths, X.shape[1])[0, k], intercepts[k], lam, l1_ratio, family)
        assert off < 2e-8


@pytest.mark.parametrize("family", ["logistic", "linear"])
@pytest.mark.parametrize("l1_ratio", [1, 0.3])
def test_counts_are_repeated_rows(family, l1_ratio):
    X, y = draw(60, 30, family=family)
    c = bootstraps(60, 1)
    settings = {"family": family, "l1_ratio": l1_ratio, "n_lambdas": 40, "lambda_min_ratio": 0.01}
    weighted = elastic_net_paths(X, y, c, **settings)
    repeated = elastic_net_paths(np.repeat(X, c[0], axis=0), np.repeat(y, c[0]), np.ones((1, 60)), **settings)
    np.testing.assert_array_equal(weighted.indptr, repeated.indptr)
    np.testing.assert_array_equal(weighted.indices, repeated.indices)
    np.testing.assert_allclose(weighted.coefficients, repeated.coefficients, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(weighted.intercepts, repeated.intercepts, rtol=1e-6, atol=1e-8)


def test_many_resamples_are_one_after_the_other():
    X, y = draw(50, 80)
    counts = bootstraps(50, 4)
    together = elastic_net_paths(X, y, counts, family="logistic", predict=True)
    alone = [elastic_net_paths(X, y, c[None], family="logistic", predict=True) for c in counts]
    for name in ("lambdas", "indices", "coefficients", "standardized", "intercepts", "predictors"):
        np.testing.assert_array_equal(getattr(together, name), np.concatenate([getattr(one, name) for one in alone]))
    np.testing.assert_array_equal(np.diff(together.indptr), np.concatenate([np.diff(one.indptr) for one in alone]))


@pytest.mark.parametrize("family", ["logistic", "linear"])
def test_given_lambdas_are_a_subset_of_the_path_in_any_order_and_number(family):
    X, y = draw(50, 80, family=family)
    counts = bootstraps(50, 2)
    fine = elastic_net_paths(X, y, counts, family=family, l1_ratio=0.9)
    picked = np.array([99, 0, 40, 40, 7])
    coarse = elastic_net_paths(X, y, counts, family=family, l1_ratio=0.9, lambdas=fine.lambdas[:, picked])
    one = elastic_net_paths(X, y, counts, family=family, l1_ratio=0.9, lambdas=[fine.lambdas[0, 99]])
    np.testing.assert_array_equal(coarse.lambdas, fine.lambdas[:, picked])
    np.testing.assert_allclose(dense(coarse, 80), dense(fine, 80)[:, picked], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(dense(coarse, 80) != 0, dense(fine, 80)[:, picked] != 0)
    np.testing.assert_allclose(coarse.intercepts, fine.intercepts[:, picked], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(dense(one, 80)[0, 0], dense(fine, 80)[0, 99], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("family", ["logistic", "linear"])
@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
def test_the_largest_lambda_is_the_least_that_selects_nothing(family, l1_ratio):
    X, y = draw(40, 100, family=family)
    counts = bootstraps(40, 3)
    largest = largest_lambdas(X, y, counts, family=family, l1_ratio=l1_ratio)
    lambdas = largest[:, None] * [2, 1, 1 - 1e-6]
    sizes = np.diff(elastic_net_paths(X, y, counts, family=family, l1_ratio=l1_ratio, lambdas=lambdas).indptr)
    np.testing.assert_array_equal(sizes.reshape(3, 3), [[0, 0, 1]] * 3)
    path = elastic_net_paths(X, y, counts, family=family, l1_ratio=l1_ratio)
    np.testing.assert_allclose(path.lambdas, largest[:, None] * np.geomspace(1, 0.01, 100))


def test_predictors_are_those_of_the_coefficients_for_every_row():
    X, y = draw(40, 60)
    paths = elastic_net_paths(X, y, bootstraps(40, 2), family="logistic", predict=True)
    expected = paths.intercepts[..., None] + dense(paths, 60, "coefficients") @ X.T
    np.testing.assert_allclose(paths.predictors, expected, rtol=1e-10, atol=1e-10)


def test_separable_data_are_solved_to_the_last_lambda():
    X, y = draw(40, 20)
    X[:, 3] = y * 2 + np.linspace(-1, 1, 40)
    c = np.ones((1, 40))
    paths = elastic_net_paths(X, y, c, family="logistic", lambda_min_ratio=1e-6)
    intercepts = intercepts_of_standardized(paths, X, c[0])
    off = [
        violation(X, y, c[0], dense(paths, 20)[0, k], intercepts[k], lam, 1, "logistic")
        for k, lam in enumerate(paths.lambdas[0])
    ]
    assert max(off) < 1e-7
    assert np.abs(paths.standardized).max() > 10


@pytest.mark.parametrize("family", ["logistic", "linear"])
def test_the_lowest_of_equal_columns_carries_the_weight(family):
    X, y = draw(80, 20, family=family)
    counts = bootstraps(80, 3)
    alone = dense(elastic_net_paths(X, y, counts, family=family), 20)
    copies = np.hstack([X, X[:, ::-1], 5 - 3 * X])
    paths = elastic_net_paths(copies, y, counts, family=family)
    assert paths.indices.max() < 20
    np.testing.assert_allclose(dense(paths, 60)[..., :20], alone, rtol=1e-6, atol=1e-7)
    shared = dense(elastic_net_paths(copies, y, counts, family=family, l1_ratio=0.5), 60)
    np.testing.assert_allclose(shared[..., :20], shared[..., 39:19:-1], atol=1e-7)
    np.testing.assert_allclose(shared[..., :20], -shared[..., 40:], atol=1e-7)


def test_nearly_dependent_columns_are_told_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 150)) + 1e-3 * rng.normal(size=(60, 150))
    y = np.where(X[:, 0] + rng.logistic(size=60) > 0, 1.0, -1.0)
    c = bootstraps(60, 1)
    paths = elastic_net_paths(X, y, c, family="logistic", lambda_min_ratio=1e-3)
    intercepts = intercepts_of_standardized(paths, X, c[0])
    for k, lam in enumerate(paths.lambdas[0]):
        assert violation(X, y, c[0], dense(paths, 150)[0, k], intercepts[k], lam, 1, "logistic") < 1e-7


def test_constant_columns_get_nothing():
    X, y = draw(30, 10)
    X[:, 4] = 0.1
    c = np.ones(30)
    c[0] = 0
    X[1:, 6] = 1e6
    paths = elastic_net_paths(X, y, c[None], family="logistic")
    assert not np.isin([4, 6], paths.indices).any()
    nothing = elastic_net_paths(np.ones((30, 2)), y, c[None], family="logistic", lambdas=[0.1])
    assert nothing.indices.size == 0


def test_supports_larger_than_the_sample_are_solved_and_recorded():
    X, y = draw(30, 400)
    c = np.ones((1, 30))
    paths = elastic_net_paths(X, y, c, family="logistic", l1_ratio=0.02, n_lambdas=30)
    assert np.diff(paths.indptr).max() > 100
    assert paths.indptr[-1] > 30 * 32  # more than there is room for at first
    intercepts = intercepts_of_standardized(paths, X, c[0])
    for k, lam in enumerate(paths.lambdas[0]):
        assert violation(X, y, c[0], dense(paths, 400)[0, k], intercepts[k], lam, 0.02, "logistic") < 1e-8


def test_what_cannot_be_solved_is_told(monkeypatch):
    X, y = draw(30, 5)
    counts = np.ones((3, 30))
    counts[2, y > 0] = 0
    with pytest.raises(ValueError, match=r"both classes in resample 2, got only y = -1"):
        elastic_net_paths(X, y, counts, family="logistic")
    with pytest.raises(ValueError, match=r"a y that varies in resample 2"):
        elastic_net_paths(X, y, counts, family="linear")
    with pytest.raises(ValueError, match=r"resample 0, got no row at all"):
        elastic_net_paths(X, y, counts * 0, family="linear")
    with pytest.raises(ValueError, match=r"a column that varies with y in resample 0"):
        elastic_net_paths(np.ones((30, 2)), y, counts[:1], family="logistic")
    monkeypatch.setattr(elastic_net, "path", lambda *arguments: elastic_net.NOT_CONVERGED)
    with pytest.raises(ValueError, match=r"no convergence at 0\.5 in resample 0\. Ask for larger lambdas"):
        elastic_net_paths(X, y, counts, family="logistic", lambdas=[0.5])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"X": np.ones(3)}, "Expected X"),
        ({"counts": np.ones(30)}, "Expected X"),
        ({"counts": -np.ones((1, 30))}, "not negative"),
        ({"y": np.arange(30)}, "-1 and 1"),
        ({"y": np.full(30, np.nan)}, "finite numbers"),
        ({"y": draw(30, 5)[1] * 1e200, "family": "linear"}, "squares can be computed"),
        ({"y": draw(30, 5)[1] * 1e-200, "family": "linear"}, "squares can be computed"),
        ({"family": "poisson"}, "'logistic' or 'linear'"),
        ({"l1_ratio": 0}, "l1_ratio above 0"),
        ({"lambdas": [0.1, 0]}, "positive, finite"),
        ({"lambdas": np.ones((2, 3))}, r"\(L,\) or \(1, L\)"),
        ({"n_lambdas": 0}, "n_lambdas of at least 1"),
        ({"lambda_min_ratio": 1}, "between 0 and 1"),
    ],
)
def test_wrong_input_is_told(changed, message):
    X, y = draw(30, 5)
    arguments = {"X": X, "y": y, "counts": np.ones((1, 30)), "family": "logistic", **changed}
    with pytest.raises(ValueError, match=message):
        elastic_net_paths(arguments.pop("X"), arguments.pop("y"), arguments.pop("counts"), **arguments)


def test_any_array_is_one_compilation():
    X, y = draw(30, 6)
    for array in (np.asfortranarray(X), X.astype(np.float32), X[:, ::2]):
        elastic_net_paths(array, y.astype(np.int8), np.ones((1, 30), dtype=bool), family="logistic")
    assert len(elastic_net.path.signatures) == 1


def test_the_cache_goes_by_all_sources():
    """numba's cache notices changes of the kernel's own file; the others must be part of its stamp."""
    _, stamps = elastic_net.path._cache._cache_file._source_stamp
    for module in (jit, tolerances):
        stat = os.stat(module.__file__)
        assert (stat.st_mtime, stat.st_size) in stamps


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_models_along_a_path_are_those_made_one_by_one(numbers):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 15))
    y = X[:, 0] + rng.normal(size=40) if numbers else np.array(["a", "b"])[(X[:, 0] + rng.normal(size=40) > 0) * 1]
    selector = ElasticNetPath()
    target, drawn = selector._target(y), rng.multinomial(40, np.full(40, 1 / 40), size=3)
    (problem,) = selector._problems(target, drawn)
    strengths = [0.3, 0.1, 0.01]
    paths = selector._paths(X, target, problem, drawn, lambdas=strengths)
    for row, counts in enumerate(drawn):
        along = make_path_preferences(paths, row, target, counts, strengths)
        for place, preference in enumerate(along):
            single = make_preference([take_solution(paths, row, place, 1)], target, counts, strengths[place])
            assert type(preference.model) is type(single.model)
            assert preference.extras.keys() == single.extras.keys()
            for name in vars(single.model):
                np.testing.assert_array_equal(getattr(preference.model, name), getattr(single.model, name))
            np.testing.assert_array_equal(preference.model.predict(X), single.model.predict(X))
    broken = paths._replace(coefficients=np.full(paths.coefficients.size, np.inf))
    assert make_path_preferences(broken, 0, target, drawn[0], strengths) is None


def test_a_path_is_the_same_to_the_last_bit_where_arrays_are_neighbors_in_memory(monkeypatch):
    X, y = draw(300, 30)
    plain = elastic_net_paths(X, y, np.ones((1, 300)), family="logistic")

    default_start = elastic_net.start

    def start(*given):
        point, work, model, step = default_start(*given)
        room = np.zeros(model.W.size + 2 + model.scaled.size)
        neighbors = {"W": room[: model.W.size], "scaled": room[model.W.size + 2 :]}
        return point, work, model._replace(**neighbors), step

    monkeypatch.setattr(elastic_net, "start", start)
    close = elastic_net_paths(X, y, np.ones((1, 300)), family="logistic")
    assert close.coefficients.tobytes() == plain.coefficients.tobytes()


@pytest.mark.parametrize("family", ["logistic", "linear"])
@pytest.mark.parametrize("l1_ratio", [1, 0.5])
def test_a_path_that_stops_is_the_beginning_of_the_whole_one(family, l1_ratio):
    X, y = draw(50, 120, family=family)
    counts = bootstraps(50, 3)
    whole = elastic_net_paths(X, y, counts, family=family, l1_ratio=l1_ratio)
    for stop_at in (1, 5, 10**6):
        part = elastic_net_paths(X, y, counts, family=family, l1_ratio=l1_ratio, stop_at=stop_at)
        for m in range(3):
            seen, ended = set(), False
            for place in range(100):
                own, full = (take_solution(paths, m, place, 0) for paths in (part, whole))
                if ended:
                    assert own.columns.size == 0
                    assert np.isnan(own.intercept)
                    continue
                np.testing.assert_array_equal(own.columns, full.columns)
                np.testing.assert_array_equal(own.coef, full.coef)
                assert own.intercept == full.intercept
                seen |= set(own.columns.tolist())
                ended = len(seen) >= stop_at


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_first_to_enter_are_the_same_if_the_path_stops_there(n_classes):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(45, 30)), np.arange(45) % n_classes
    X[:, :4] += 0.7 * y[:, None]
    X[:, 9] = -2 * X[:, 1] + 1
    splits = [hf.Bootstrap(4).make_split(index, Samples.of(45), 3) for index in range(4)]
    selector, settings = ElasticNetPath(), [{"n_features": size} for size in (1, 3, 6)]
    prepared = selector.prepare(X, y, settings)
    whole = selector.prefer_many(prepared, X, y, splits, settings)
    for selections, preferred in zip(selector.refit_many(prepared, X, y, splits, settings), whole, strict=True):
        for setting, selection, ranking in zip(settings, selections, preferred, strict=True):
            assert selection.order.tolist() == np.argsort(ranking.values)[: setting["n_features"]].tolist()
            assert (np.sort(selection.whole().values)[:6] == np.arange(1, 7)).all()


def test_settings_of_a_batch_may_read_the_target_as_classes_or_as_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), np.arange(60) % 2
    X[:, :3] += y[:, None]
    split = next(iter(hf.Bootstrap(1).splits(y, random_state=0)))
    settings = [{"model": model, "penalty_strength": 0.02} for model in ("linear", "logistic")]
    selector = ElasticNetPath(random_state=0)
    (found,) = selector.refit_many(selector.prepare(X, y, settings), X, y, [split], settings)
    for setting, selection in zip(settings, found, strict=True):
        alone = ElasticNetPath(random_state=0, **setting).fit(*split.data(X, y))
        assert type(selection.model) is type(alone.model_)
        assert selection.values.tolist() == np.flatnonzero(alone.support_).tolist()


# Covariates


def adjusted_problem(n, d, seed, separated):
    """Classes of covariates and features that depend on each other; with a site of a single class, if separated."""
    rng = np.random.default_rng(seed)
    X, y = draw(n, d, seed=seed)
    site = np.arange(n) % 4
    Z = np.column_stack([rng.normal(size=n), site[:, None] == [1, 2, 3]]).astype(float)
    X += 3 * X.std(axis=0) * rng.normal(size=d) * Z[:, :1] + X.std(axis=0) * (site[:, None] == 2)
    y = np.where(rng.uniform(size=n) < 0.6, y, np.sign(Z[:, 0] + 0.5))
    return X, np.where((site == 3) & separated, 1.0, y), Z


@pytest.mark.parametrize("separated", [False, True])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.05])
@pytest.mark.parametrize(("n", "d"), [(80, 10), (60, 150)])
def test_covariates_have_no_penalty(n, d, l1_ratio, separated):
    X, y, Z = adjusted_problem(n, d, n + d, separated)
    counts = bootstraps(n, 3)
    paths = elastic_net_paths(
        X, y, counts, family="logistic", l1_ratio=l1_ratio, n_lambdas=12, lambda_min_ratio=0.02, covariates=Z
    )
    weights, n_selected = dense(paths, d), []
    for m, c in enumerate(counts):
        rows, share = c > 0, c[c > 0] / c.sum()
        columns, labels, design = standardized(X, c, Z), y[rows], np.column_stack([np.ones(rows.sum()), Z[rows]])
        for lam, w in zip(paths.lambdas[m], weights[m], strict=True):
            r = share * labels * wrong_next_to(design, columns @ w, labels, share)
            gradient, l1 = columns.T @ r - lam * (1 - l1_ratio) * w, lam * l1_ratio
            off = np.where(w != 0, np.abs(gradient - l1 * np.sign(w)), np.maximum(np.abs(gradient) - l1, 0))
            assert off.max() < 1e-7 * l1
            n_selected.append(np.count_nonzero(w))
        assert not weights[m, 0].any()
        assert weights[m, 1].any()
    assert max(n_selected) > 5


def wrong_next_to(design, offset, y, share):
    """The chance of the other class by a logistic regression on the design next to an offset, by Newton's method."""
    gamma = np.zeros(design.shape[1])
    for _ in range(300):
        wrong = 1 / (1 + np.exp(y * (design @ gamma + offset)))
        curvature = (design.T * (share * wrong * (1 - wrong))) @ design
        step = np.linalg.lstsq(curvature, design.T @ (share * y * wrong), rcond=1e-15)[0]
        gamma += step * min(1, 1 / np.abs(step).max(initial=1e-300))
    return 1 / (1 + np.exp(y * (design @ gamma + offset)))


def test_covariates_are_columns_whose_penalty_vanishes():
    X, y, Z = adjusted_problem(70, 8, 5, separated=False)
    lam, big = 0.03, 1e8
    paths = elastic_net_paths(X, y, np.ones((1, 70)), family="logistic", lambdas=[lam], covariates=Z)
    columns = np.column_stack([standardized(X, np.ones(70), Z), big * Z, np.full(70, big)])

    def objective(halves):
        w = halves[: columns.shape[1]] - halves[columns.shape[1] :]
        f = columns @ w
        slope = -columns.T @ (y / (1 + np.exp(y * f))) / 70
        return np.logaddexp(0, -y * f).mean() + lam * halves.sum(), np.concatenate([slope, -slope]) + lam

    k = columns.shape[1]
    scale = np.tile(np.append(np.ones(8), np.full(k - 8, big)), 2)
    found = minimize(
        lambda halves: (objective(halves / scale)[0], objective(halves / scale)[1] / scale), np.zeros(2 * k), jac=True,
        bounds=[(0, None)] * (2 * k), method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-10},
    ).x / scale  # fmt: skip
    np.testing.assert_allclose(dense(paths, 8)[0, 0], (found[:k] - found[k:])[:8], atol=1e-4)


@pytest.mark.parametrize(("n", "d"), [(80, 10), (60, 150)])
def test_numbers_next_to_covariates_are_what_these_leave(n, d):
    X, _, Z = adjusted_problem(n, d, n, separated=False)
    X[:, 3], X[:, 4] = 2 * Z[:, 0] - Z[:, 1] + 7, 1e3 * Z[:, 0] + X[:, 5]  # nothing is left of it; little is
    y, counts = Z @ [3.0, 1, 0, 2] + X[:, 5] + np.random.default_rng(n).normal(size=n), bootstraps(n, 2)
    paths = elastic_net_paths(
        X, y, counts, family="linear", n_lambdas=12, lambda_min_ratio=0.05, covariates=np.column_stack([Z, Z[:, 0]])
    )
    for m, c in enumerate(counts):
        left = left_by(Z, np.column_stack([X, y]), c)
        left[:, 3] = 0.0
        alone = elastic_net_paths(left[:, :-1], left[:, -1], c[None], family="linear", lambdas=paths.lambdas[m])
        np.testing.assert_allclose(dense(paths, d)[m], dense(alone, d)[0], rtol=1e-6, atol=1e-9)
    assert not dense(paths, d)[:, :, 3].any()
    assert dense(paths, d)[:, -1, 4:6].any(axis=1).all()


def test_without_covariates_that_vary_nothing_changes():
    X, y = draw(50, 12)
    plain, constant = (
        elastic_net_paths(X, y, np.ones((1, 50)), family="logistic", lambdas=[0.1, 0.02], covariates=covariates)
        for covariates in (None, np.ones((50, 1)))
    )
    np.testing.assert_array_equal(plain.indices, constant.indices)
    np.testing.assert_allclose(plain.coefficients, constant.coefficients, rtol=1e-8)


def test_covariates_that_tell_the_classes_apart_are_refused():
    X, y = draw(50, 12)
    with pytest.raises(ValueError, match="covariates do not tell apart, got covariates that do in resample 0"):
        elastic_net_paths(X, y, np.ones((1, 50)), family="logistic", covariates=y[:, None] * 2 + 1)
