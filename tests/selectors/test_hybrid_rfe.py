"""Hybrid RFE: plain RFE at one end, the filter at the other, and exact in between."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast import selectors as of
from holdfast.kernels.ridge import fit_ridge_logistic


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
        (
            {"criterion": "size"},
            "Expected the criterion 'variance', 'golub', 'correlation', 'cox_score', a filter or numbers, got 'size'",
        ),
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


# Many fits at once


def bootstraps(y, n=9):
    return list(hf.Bootstrap(n, stratify=True).splits(y))


GRID = [
    {"n_forced": n_forced, "criterion": criterion, "C": C, "shrinkage": shrinkage, "n_features": size}
    for n_forced, criterion, C, shrinkage in [
        (0, "variance", 1.0, 1.0), (0, "golub", 0.1, 0.5), (3, "variance", 0.1, 0.3), (3, "golub", 1.0, 1.0),
        (4, of.GolubVariance(lambda_v=0.1), 0.1, 0.3), (2, of.GolubVariance(lambda_v=2.0), 0.1, 0.3),
        (2, of.AnovaF(), 1.0, 0.5), (3, of.GolubVariance(lambda_v=0.5, units="largest"), 0.1, 0.3),
    ]
    for size in (4, 9)
]  # fmt: skip


def many(selector, X, y, splits, settings, block):
    shared = selector.prepare(X, y, settings)
    return [
        results
        for start in range(0, len(splits), block)
        for results in selector.refit_many(shared, X, y, splits[start : start + block], settings)
    ]


@pytest.mark.parametrize(
    "options", [{}, {"scale": "full"}, {"complement": "independent"}, {"standardize": False}], ids=str
)
def test_many_fits_are_those_of_any_other_block_bit_by_bit_and_of_single_fits(options):
    X, y = data(10)
    splits, selector = bootstraps(y), of.HybridRFE(**options)
    together = many(selector, X, y, splits, GRID, 9)
    for block in (1, 4):
        for own, other in zip(together, many(selector, X, y, splits, GRID, block), strict=True):
            for a, b in zip(own, other, strict=True):
                assert a.order.tolist() == b.order.tolist()
                assert (a.note, a.smallest) == (b.note, b.smallest)
                assert a.model.coef.tobytes() == b.model.coef.tobytes()
                assert a.model.intercept.tobytes() == b.model.intercept.tobytes()
    for split, own in zip(splits[:3], together, strict=False):
        for setting, selection in zip(GRID, own, strict=True):
            alone = of.HybridRFE(**options, **setting, random_state=split.seed).fit(X, y, split.weights(len(y)))
            assert np.flatnonzero(alone.support_).tolist() == selection.values.tolist()
            assert alone.model_.coef.tobytes() == selection.model.coef.tobytes()
            whole = selection.whole()
            if setting["n_features"] == 4:  # alone, the other goes down to 9 only
                assert whole.values.tolist() == alone.ranking_.tolist()
            assert whole.informative.tolist() == alone.informative_.tolist()
            assert whole.top(setting["n_features"]).order.tolist() == selection.order.tolist()


def test_a_cut_of_the_order_is_a_fit_of_that_size_down_to_the_smallest():
    X, y = data(11)
    splits = bootstraps(y, 3)
    settings = [{"n_features": size, "n_forced": 2} for size in (12, 7, 5)]
    for own in many(of.HybridRFE(), X, y, splits, settings, 3):
        assert [selection.smallest for selection in own] == [5, 5, 5]
        for selection in own[1:]:
            assert own[0].order[: selection.order.size].tolist() == selection.order.tolist()


def test_a_setting_that_fails_fails_alone():
    X, y = data(12)
    settings = [{"C": 1.0}, {"C": -1.0}, {"n_forced": 30}, {"n_forced": 2, "criterion": np.ones(3)}, {"C_final": 0.0}]
    for fine, *wrong in many(of.HybridRFE(5), X, y, bootstraps(y, 3), settings, 3):
        assert fine.values.size == 5
        assert [type(error) for error in wrong] == [ValueError] * 4


def test_long_numbers_as_criteria_are_told_apart():
    X, y = np.random.default_rng(0).normal(size=(20, 1500)), np.arange(20) % 2
    first, second = np.zeros(1500), np.zeros(1500)
    first[700], second[800] = 1.0, 1.0  # a printed array leaves these out
    settings = [{"n_forced": 1, "criterion": numbers, "n_features": 1} for numbers in (first, second)]
    for own in many(of.HybridRFE(), X, y, bootstraps(y, 2), settings, 2):
        assert [selection.values.tolist() for selection in own] == [[700], [800]]


@pytest.mark.parametrize("options", [{}, {"complement": "independent"}, {"scale": "full"}], ids=str)
def test_a_device_selects_and_predicts_the_same(options):
    pytest.importorskip("torch", reason="torch is not installed")
    X, y = data(13)
    splits = bootstraps(y, 4)
    for own, other in zip(
        *(many(of.HybridRFE(device=device, **options), X, y, splits, GRID, 4) for device in ("cpu", "torch")),
        strict=True,
    ):
        for a, b in zip(own, other, strict=True):
            assert (a.order.tolist(), a.note, a.smallest) == (b.order.tolist(), b.note, b.smallest)
            np.testing.assert_allclose(a.model.coef, b.model.coef, rtol=1e-6)
            assert a.model.predict(X).tolist() == b.model.predict(X).tolist()
            assert a.whole().values.tolist() == b.whole().values.tolist()


def test_a_missing_torch_or_gpu_is_one_sentence_before_any_work(monkeypatch):
    X, y = data(14)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match="needs torch, which is not installed: pip install 'holdfast\\[gpu\\]'"):
        of.HybridRFE(device="cuda").prepare(X, y, [{}])
    without = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", without)
    with pytest.raises(ValueError, match="needs a GPU that torch can use, and there is none; take device='cpu'"):
        of.HybridRFE(device="cuda").fit(X, y)


@pytest.mark.parametrize("device", ["cpu", "torch"])
@pytest.mark.parametrize("scale", ["split", "full"])
def test_logistic_regression_on_given_columns(device, scale):
    if device == "torch":
        pytest.importorskip("torch", reason="torch is not installed")
    X, y = data(15)
    counts = np.array([split.weights(len(y)) for split in bootstraps(y, 3)])
    columns = [np.array([1, 5]), np.array([0, 2, 7, 30]), np.array([3, 59])]
    found = fit_ridge_logistic(X, 2.0 * y - 1, counts, [2, 0, 1], columns, [0.1, 1.0, 10.0], scale=scale, device=device)
    for (coef, intercept), resample, own, C in zip(found, [2, 0, 1], columns, [0.1, 1.0, 10.0], strict=True):
        rows = np.repeat(np.arange(len(y)), counts[resample])
        Z = X[rows][:, own]
        scaler = StandardScaler().fit(Z) if scale == "split" else StandardScaler(with_mean=False, with_std=False).fit(Z)
        oracle = LogisticRegression(C=C, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
        oracle.fit(scaler.transform(Z), y[rows])
        expected = oracle.decision_function(scaler.transform(X[:, own]))
        np.testing.assert_allclose(X[:, own] @ coef + intercept, expected, atol=1e-6)


def test_a_criterion_that_fails_on_every_resample_fails_its_settings_alone():
    X, y = data(16)
    settings = [{"n_forced": 2}, {"n_forced": 0}]
    for forced, plain in many(of.HybridRFE(4), X * 2.0**900, y, bootstraps(y, 3), settings, 3):
        assert "whose variance can be computed" in str(forced)
        assert plain.values.size == 4


# Several classes, and numbers


def several(seed=0, n=48, d=40, n_classes=3):
    """Rows of several classes, and numbers to predict that other features tell."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.uniform(0.5, 3, d) * (rng.normal(size=(n, d)) + (y[:, None] == np.arange(d)))
    return X, np.array(["a", "b", "c", "d"])[y], X[:, 5] - X[:, 6] + rng.normal(size=n) + 20


def obvious(X, y, k, fit, forced=(), drop=0.2):
    """Recursive elimination by the sum of squared weights of a scikit-learn model."""
    columns, Z = np.arange(X.shape[1]), StandardScaler().fit_transform(X)
    while columns.size > k:
        squares = (np.atleast_2d(fit(Z[:, columns], y)) ** 2).sum(axis=0)
        squares[np.isin(columns, forced)] = np.inf
        n_left = max(k, columns.size - max(1, int(drop * columns.size)))
        columns = np.sort(columns[np.argsort(-squares, kind="stable")[:n_left]])
    return columns.tolist()


PEERS = {
    "multinomial": LogisticRegression(C=0.5, tol=1e-9, max_iter=10_000, solver="newton-cholesky"),
    "rest": OneVsRestClassifier(LogisticRegression(C=0.5, tol=1e-9, max_iter=10_000, solver="newton-cholesky")),
}


def weights_of(model):
    return np.vstack([part.coef_ for part in getattr(model, "estimators_", [model])])


@pytest.mark.parametrize("multi_class", ["multinomial", "rest"])
@pytest.mark.parametrize("n_forced", [0, 2])
def test_classes_are_eliminated_by_the_sum_of_their_squared_weights(multi_class, n_forced):
    X, y, _ = several()
    forced = chosen(of.Golub(n_forced), X, y)
    hybrid = of.HybridRFE(6, n_forced=n_forced, criterion="golub", C=0.5, multi_class=multi_class)
    peer = PEERS[multi_class]
    assert chosen(hybrid, X, y) == obvious(X, y, 6, lambda Z, y: weights_of(peer.fit(Z, y)), forced)
    Z = StandardScaler().fit_transform(X[:, hybrid.get_support()])
    peer.fit(Z, y)
    assert hybrid.classes_.tolist() == ["a", "b", "c"]
    assert hybrid.predict(X).tolist() == peer.predict(Z).tolist()
    np.testing.assert_allclose(hybrid.predict_proba(X), peer.predict_proba(Z), atol=1e-6)


@pytest.mark.parametrize("n_forced", [0, 2])
def test_numbers_are_eliminated_by_ridge_regression(n_forced):
    X, _, y = several(1)
    forced = chosen(of.FTest(n_forced), X, y)
    hybrid, peer = of.HybridRFE(6, n_forced=n_forced, criterion="correlation", C=0.1), Ridge(alpha=10)
    assert chosen(hybrid, X, y) == obvious(X, y, 6, lambda Z, y: peer.fit(Z, y).coef_, forced)
    Z = StandardScaler().fit_transform(X[:, hybrid.get_support()])
    np.testing.assert_allclose(hybrid.predict(X), peer.fit(Z, y).predict(Z), rtol=1e-9)
    for unit, shift in ((1e9, 0), (1e-9, 0), (1, 1e6)):
        assert chosen(hybrid, X, y * unit + shift) == chosen(hybrid, X, y)
    plain = of.HybridRFE(40, C=0.1, fit_intercept=False, standardize=False).fit(X, y)
    through_0 = Ridge(alpha=10, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(plain.predict(X), through_0.predict(X), rtol=1e-7)
    whole = of.HybridRFE(6, model="linear").fit(X, np.round(y))
    assert whole.model_.intercept == pytest.approx(
        np.round(y).mean() - whole.model_.coef[0] @ X[:, whole.model_.columns].mean(axis=0)
    )


def test_two_classes_are_those_of_two_whatever_else_is_said():
    X, y = data(10)
    both = [of.HybridRFE(5, n_forced=2, criterion=criterion, multi_class=name).fit(X, y)
            for name in ("multinomial", "rest") for criterion in ("golub", of.Golub(multi_class="rest"))]  # fmt: skip
    assert len({(tuple(fitted.ranking_), fitted.model_.coef.tobytes()) for fitted in both}) == 1


@pytest.mark.parametrize("multi_class", ["multinomial", "rest", "numbers"])
def test_resamples_that_lack_a_class_and_blocks_change_nothing(multi_class):
    X, classes, numbers = several(3, n=24, d=30)
    classes[:2] = "d"  # often missing
    y = numbers if multi_class == "numbers" else classes
    options = {} if multi_class == "numbers" else {"multi_class": multi_class}
    criterion = "correlation" if multi_class == "numbers" else "golub"
    splits = list(hf.Bootstrap(6).splits(y))
    settings = [{"n_forced": n, "criterion": criterion, "n_features": size} for n in (0, 2) for size in (3, 5)]
    selector = of.HybridRFE(**options)
    together = many(selector, X, y, splits, settings, 6)
    for split, own, other in zip(splits, together, many(selector, X, y, splits, settings, 4), strict=True):
        for setting, a, b in zip(settings, own, other, strict=True):
            assert a.order.tolist() == b.order.tolist()
            assert a.model.coef.tobytes() == b.model.coef.tobytes()
            alone = of.HybridRFE(**options, **setting, random_state=split.seed).fit(*split.data(X, y))
            assert a.values.tolist() == np.flatnonzero(alone.get_support()).tolist()
            np.testing.assert_allclose(alone.model_.values(X[split.test]), a.model.values(X[split.test]), rtol=1e-6)


@pytest.mark.parametrize("multi_class", ["multinomial", "rest", "numbers"])
def test_without_information_the_model_predicts_shares_or_the_mean(multi_class):
    X, classes, numbers = np.ones((12, 3)), np.array(["a"] * 6 + ["b"] * 4 + ["c"] * 2), np.arange(12) / 7
    hybrid = of.HybridRFE(2, **({} if multi_class == "numbers" else {"multi_class": multi_class}))
    with pytest.warns(hf.selection.FewerFeaturesWarning):
        hybrid.fit(X, numbers if multi_class == "numbers" else classes)
    if multi_class == "numbers":
        assert hybrid.predict(X)[0] == pytest.approx(numbers.mean())
    else:
        np.testing.assert_allclose(hybrid.predict_proba(X)[0], [1 / 2, 1 / 3, 1 / 6])


def test_a_criterion_for_another_target_is_one_sentence_and_fails_alone():
    X, classes, numbers = several()
    for y, criterion, message in (
        (numbers, "golub", "a criterion for numbers, such as variance or correlation, got 'golub'"),
        (classes, of.FTest(), r"a criterion for classes, such as variance or golub, got FTest\(\)"),
    ):
        with pytest.raises(ValueError, match=f"Expected {message}"):
            of.HybridRFE(4, n_forced=2, criterion=criterion).fit(X, y)
        grid = {"criterion": [criterion, "variance"], "n_forced": [2]}
        study = hf.Study(selectors={"h": hf.Candidates(of.HybridRFE(4), grid)}, perturbation=hf.Bootstrap(3))
        with pytest.warns(UserWarning, match=message):
            assert study.run(X, y).summary()["failures"].tolist() == [3, 0]


def test_a_device_leaves_more_classes_and_numbers_to_the_processor():
    pytest.importorskip("torch", reason="torch is not installed")
    X, classes, numbers = several()
    for y in (classes, numbers):
        assert chosen(of.HybridRFE(4, device="torch"), X, y) == chosen(of.HybridRFE(4), X, y)


def test_a_study_scores_several_classes_and_numbers_by_the_models_of_the_selector():
    X, classes, numbers = several(5)
    grid = {"multi_class": ["multinomial", "rest"], "n_features": [3, 6]}
    scored = hf.Study(
        selectors={"h": hf.Candidates(of.HybridRFE(), grid)},
        perturbation=hf.Bootstrap(4),
        scoring=["accuracy", "neg_log_loss"],
    ).run(X, classes)
    split = next(hf.Bootstrap(4).splits(classes))
    for candidate in scored.candidates:
        alone = of.HybridRFE(**scored.settings(candidate), random_state=split.seed).fit(*split.data(X, classes))
        row = scored.scores.query("candidate == @candidate and run == 'bootstrap 0'").iloc[0]
        assert row["accuracy"] == pytest.approx(np.mean(alone.predict(X[split.test]) == classes[split.test]))
        shares = alone.predict_proba(X[split.test])[
            np.arange(split.test.size), np.searchsorted(alone.classes_, classes[split.test])
        ]
        assert row["neg_log_loss"] == pytest.approx(np.log(shares).mean())
    numeric = hf.Study(selectors={"h": of.HybridRFE(6)}, perturbation=hf.Bootstrap(4)).run(X, numbers)
    assert numeric.scores["r2"].notna().all()
