"""Hybrid RFE: plain RFE at one end, the filter at the other, and exact in between."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast import selectors as of


def data(seed=0, n=40, d=60):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    spread = rng.uniform(0.5, 3, d)
    X = spread * (rng.normal(size=(n, d)) + np.where(np.arange(d) < 8, 0.9 * y[:, None], 0))
    return X, y


def exact(X, y, C, penalties, intercept):
    """Ridge-logistic weights, where feature j is penalized by penalties[j] squared."""
    model = LogisticRegression(C=C, tol=1e-12, max_iter=10_000, fit_intercept=intercept, solver="newton-cholesky")
    return model.fit(X / penalties, y).coef_[0] / penalties


def slow_elimination(X, y, k, *, forced=(), C=1.0, shrinkage=1.0, drop=0.2, intercept=True, standardize=True):
    """Algorithm 1, as it is told."""
    columns = np.arange(X.shape[1])
    Z = StandardScaler().fit_transform(X) if standardize else X
    while columns.size > k:
        penalties = np.where(np.isin(columns, forced), shrinkage, 1.0)
        weights = np.abs(exact(Z[:, columns], y, C, penalties, intercept))
        weights[np.isin(columns, forced)] = np.inf
        n_drop = min(columns.size - k, max(1, int(drop * columns.size)) if drop < 1 else int(drop))
        columns = np.sort(columns[np.argsort(-weights, kind="stable")[: columns.size - n_drop]])
    return columns.tolist()


def chosen(selector, X, y):
    return np.flatnonzero(selector.fit(X, y).get_support()).tolist()


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_nothing_forced_is_plain_elimination(C):
    X, y = data()
    assert chosen(of.HybridRFE(7, C=C), X, y) == slow_elimination(X, y, 7, C=C)


@pytest.mark.parametrize(("criterion", "filter_"), [("variance", of.Variance), ("golub", of.Golub)])
def test_all_forced_is_the_filter(criterion, filter_):
    X, y = data(1)
    assert chosen(of.HybridRFE(6, n_forced=6, criterion=criterion), X, y) == chosen(filter_(6), X, y)


@pytest.mark.parametrize("shrinkage", [1.0, 0.3])
def test_in_between_it_is_the_algorithm(shrinkage):
    X, y = data(2)
    forced = chosen(of.GolubVariance(3, lambda_v=0.2), X, y)
    hybrid = of.HybridRFE(8, n_forced=3, criterion=of.GolubVariance(lambda_v=0.2), shrinkage=shrinkage)
    assert chosen(hybrid, X, y) == slow_elimination(X, y, 8, forced=forced, shrinkage=shrinkage)
    assert hybrid.forced_.tolist() == forced


def test_as_printed_one_at_a_time_without_intercept_or_scaling():
    X, y = data(3, d=25)
    printed = of.HybridRFE(5, n_forced=2, drop=1, fit_intercept=False, standardize=False)
    forced = chosen(of.Variance(2), X, y)
    expected = slow_elimination(X, y, 5, forced=forced, drop=1, intercept=False, standardize=False)
    assert chosen(printed, X, y) == expected


def test_the_criterion_can_be_numbers():
    X, y = data(4)
    hybrid = of.HybridRFE(5, n_forced=2, criterion=np.arange(60.0))
    assert {58, 59} <= set(chosen(hybrid, X, y))


def test_an_independent_complement_ignores_what_is_forced():
    X, y = data(5)
    forced, alone = chosen(of.Variance(4), X, y), of.HybridRFE(2).fit(X, y).ranking_
    others = [column for column in np.argsort(alone) if column not in forced][:2]
    independent = of.HybridRFE(6, n_forced=4, complement="independent")
    assert chosen(independent, X, y) == sorted([*forced, *(int(column) for column in others)])


@pytest.mark.parametrize("scale", ["split", "full"])
def test_the_final_model_is_ridge_logistic_regression_on_the_selected_features(scale):
    X, y = data(6)
    hybrid = of.HybridRFE(5, n_forced=2, C_final=0.1, scale=scale).fit(X, y)
    Z = StandardScaler().fit_transform(X[:, hybrid.get_support()])
    oracle = LogisticRegression(C=0.1, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(Z, y)
    np.testing.assert_allclose(hybrid.decision_function(X), oracle.decision_function(Z), atol=1e-6)
    np.testing.assert_allclose(hybrid.predict_proba(X), oracle.predict_proba(Z), atol=1e-6)
    assert hybrid.predict(X).tolist() == oracle.predict(Z).tolist()


def test_a_grid_is_taken_from_few_eliminations_and_scored_by_its_own_models():
    X, y = data(7)
    grid = {"n_forced": [0, 3], "C_final": [0.01, 1.0], "n_features": [4, 8]}
    study = hf.Study(selectors={"hybrid": hf.Candidates(of.HybridRFE(), grid)}, perturbation=hf.Bootstrap(6))
    result = study.run(X, y)
    assert len(result.candidates) == 8
    for candidate in result.candidates:
        setting = result.settings(candidate)
        split = next(hf.Bootstrap(6).splits(y))
        alone = of.HybridRFE(**setting).fit(*split.data(X, y))
        assert result.preferences(candidate).selected(0) == np.flatnonzero(alone.get_support()).tolist()
        scored = result.scores.query("candidate == @candidate and run == 'bootstrap 0'")["accuracy"].item()
        assert scored == pytest.approx(np.mean(alone.predict(X[split.test]) == y[split.test]))


@pytest.mark.parametrize("n_copies", [1, 3])  # copies of a column tie at every cut
def test_lock_step_selects_the_same(n_copies):
    pytest.importorskip("torch", reason="torch is not installed")
    X, y = data(9)
    X = np.tile(X, n_copies)
    grid = {"n_forced": [0, 2], "C": [0.1, 1.0], "shrinkage": [0.5]}
    found = [
        hf.Study(
            selectors={"h": hf.Candidates(of.HybridRFE(5, device=device), grid)}, perturbation=hf.Bootstrap(8)
        ).run(X, y)
        for device in ("cpu", "torch")
    ]
    for candidate in found[0].candidates:
        assert found[0].preferences(candidate) == found[1].preferences(candidate)


def test_more_forced_than_kept_fails_that_candidate_alone():
    X, y = data(8)
    candidates = hf.Candidates(of.HybridRFE(n_forced=5), {"n_features": [3, 8]})
    with pytest.warns(UserWarning, match="Expected at most n_features=3 forced features, got n_forced=5"):
        result = hf.Study(selectors={"h": candidates}, perturbation=hf.Bootstrap(3)).run(X, y)
    assert result.summary()["failures"].tolist() == [3, 0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_forced": 9, "n_features": 4}, "Expected at most n_features=4 forced features, got n_forced=9"),
        ({"n_forced": -1}, "Expected n_forced to be a whole number of at least 0, got -1"),
        ({"criterion": "size"}, "Expected the criterion 'variance' or 'golub', a filter or numbers, got 'size'"),
        ({"criterion": [1, 2], "n_forced": 1}, "Expected a number for each of 60 features"),
        ({"shrinkage": 0.0, "n_forced": 1}, r"Expected a shrinkage in \(0, 1\], got 0"),
        ({"C": -1.0}, "Expected a positive C, from 1e-100 to 1e100, got -1"),
        ({"complement": "none"}, "Expected complement='hybrid' or 'independent', got 'none'"),
        ({"device": "tpu"}, "Expected device='cpu', 'cuda' or 'torch', got 'tpu'"),
        ({"scale": "none"}, "Expected scale='split' or 'full', got 'none'"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(parameters, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        of.HybridRFE(**parameters).fit(X, y)
