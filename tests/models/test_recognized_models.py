"""Recognized models: a whole block at a time, and equal to what scikit-learn fits cell by cell."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from holdfast import survival
from holdfast.kernels.svm import svm_elimination
from holdfast.models.block import Block
from holdfast.models.catalog import EXACTNESS, MODELS
from holdfast.models.cox import CoxRidge
from holdfast.models.recognized import RECOGNIZED, recognize

TABLES = ["continuous", "zeros and ones", "duplicated rows", "far from zero", "constant columns"]
SCALERS = [None, StandardScaler, MinMaxScaler]
ANSWERS = ("predict", "decision_function", "predict_proba")


def make_table(kind, rng, n, d):
    X = rng.normal(size=(n, d))
    if kind == "zeros and ones":
        X = (X > 0).astype(float)
    elif kind == "duplicated rows":
        X = X[rng.integers(0, n, n)]
    elif kind == "far from zero":
        X = X * 10.0 ** rng.uniform(-2, 3, d) + 10.0 ** rng.uniform(0, 4, d)
    elif kind == "constant columns":
        X[:, : d // 2 + 1] = rng.normal(size=d // 2 + 1)
        X[rng.integers(n), rng.integers(d)] += 1  # constant in some resamples only
    return X


def make_block(kind, seed, n_classes, n=40, d=30, n_splits=3, n_cells=8, most_columns=30):
    """A block of bootstraps; with one half and its complement among them."""
    rng = np.random.default_rng(seed)
    X = make_table(kind, rng, n, d)
    y = rng.permutation(np.arange(n) % n_classes) if n_classes else X[:, 0] + np.round(rng.normal(size=n), 1)
    counts = np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(n_splits)])
    counts[0] = rng.permutation(np.arange(n) % 2)
    splits = rng.integers(0, n_splits, n_cells)
    columns = [rng.choice(d, rng.integers(1, most_columns + 1), replace=False) for _ in range(n_cells)]
    return Block(X, y, n_classes, counts, [np.flatnonzero(count == 0) for count in counts], splits, columns)


def cut_to(block, cell):
    """The same block with one of its cells."""
    return Block(
        block.X, block.y, block.n_classes, block.counts, block.tests, block.splits[[cell]], [block.columns[cell]]
    )


def fit_cell(estimator, block, cell):
    """scikit-learn's model of a cell, and its held-out rows."""
    rows, tests = block.train(cell), block.tests[block.splits[cell]]
    model = clone(estimator).fit(block.X[np.ix_(rows, block.columns[cell])], block.y[rows])
    return model, block.X[np.ix_(tests, block.columns[cell])]


def on_scale(scaler, model):
    return model if scaler is None else make_pipeline(scaler(), model)


def check_equal(estimator, block, tolerance, exactness="identical", reference=None):
    """Compare the unmarked cells with scikit-learn; returns the share of marked ones."""
    model = recognize(estimator, block.n_classes)
    assert model is not None
    assert model.exactness == exactness
    found, marked = model.predict(block, model.answers)
    for cell in np.flatnonzero(~marked):
        expected, X = fit_cell(estimator if reference is None else reference, block, cell)
        assert model.answers == {name for name in ANSWERS if hasattr(expected, name)}
        at = slice(block.starts[cell], block.starts[cell + 1])
        sure = compare_values(model, found, at, expected, X, tolerance)
        if block.n_classes:
            np.testing.assert_array_equal(found.predict[at][sure], expected.predict(X)[sure])
        else:
            numbers = expected.predict(X)
            np.testing.assert_allclose(found.predict[at], numbers, atol=tolerance * (1 + abs(numbers).max()))
    check_cells_are_independent(model, block, found, marked)
    return marked.mean()


def compare_values(model, found, at, expected, X, tolerance):
    """Compare decision values and probabilities; returns the rows whose label they tell."""
    sure = np.ones(len(X), bool)
    if "decision_function" in model.answers:
        values = expected.decision_function(X)
        np.testing.assert_allclose(found.decision_function[at], values, atol=tolerance * (1 + abs(values).max()))
        ordered = np.sort(values, axis=1) if values.ndim > 1 else np.stack([-values, values], axis=1)
        ordered = np.sort(ordered, axis=1)
        sure = ordered[:, -1] - ordered[:, -2] > max(1e-6, 2 * tolerance * (1 + abs(values).max()))
    if "predict_proba" in model.answers:
        np.testing.assert_allclose(found.predict_proba[at], expected.predict_proba(X), atol=tolerance)
    return sure


def check_cells_are_independent(model, block, found, marked):
    for cell in range(0, block.n_cells, 3):
        alone, alone_marked = model.predict(cut_to(block, cell), model.answers)
        assert alone_marked[0] == marked[cell]
        if not marked[cell]:
            at = slice(block.starts[cell], block.starts[cell + 1])
            for name in model.answers:
                assert getattr(alone, name).tobytes() == getattr(found, name)[at].tobytes()


# Nearest neighbors


@given(
    kind=st.sampled_from(TABLES),
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 4),
    scaler=st.sampled_from(SCALERS),
    weights=st.sampled_from(["uniform", "distance"]),
    algorithm=st.sampled_from(["auto", "brute", "kd_tree", "ball_tree"]),
    k=st.integers(1, 7),
)
def test_neighbors_vote_as_in_scikit_learn(kind, seed, n_classes, scaler, weights, algorithm, k):
    block = make_block(kind, seed, n_classes)
    model = on_scale(scaler, KNeighborsClassifier(k, weights=weights, algorithm=algorithm))
    share = check_equal(model, block, 1e-8)
    if kind == "continuous" and n_classes == 2 and (weights == "uniform" or "tree" in algorithm):
        assert share == 0


@given(
    kind=st.sampled_from(TABLES),
    seed=st.integers(0, 2**32 - 1),
    scaler=st.sampled_from(SCALERS),
    weights=st.sampled_from(["uniform", "distance"]),
    k=st.integers(1, 7),
)
def test_means_of_neighbors_are_those_of_scikit_learn(kind, seed, scaler, weights, k):
    model = on_scale(scaler, KNeighborsRegressor(k, weights=weights))
    share = check_equal(model, make_block(kind, seed, 0), 1e-8)
    if kind == "continuous" and weights == "uniform":
        assert share == 0


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5), columns=st.integers(1, 6), n_classes=st.integers(2, 3))
def test_labels_that_ties_leave_alone_are_answered(seed, k, columns, n_classes):
    block = make_block("zeros and ones", seed, n_classes, most_columns=columns)
    estimator = KNeighborsClassifier(k)
    model = recognize(estimator, n_classes)
    (_, all_marked), (found, marked) = model.predict(block, model.answers), model.predict(block, {"predict"})
    assert not (marked & ~all_marked).any()
    assert found.predict_proba is None
    for cell in np.flatnonzero(~marked):
        expected, X = fit_cell(estimator, block, cell)
        labels = found.predict[block.starts[cell] : block.starts[cell + 1]]
        np.testing.assert_array_equal(labels, expected.predict(X))


def test_ties_on_zeros_and_ones_are_left_to_scikit_learn():
    block = make_block("zeros and ones", 0, 2, n_cells=40, most_columns=6)
    _, marked = recognize(KNeighborsClassifier(3), 2).predict(block, {"predict", "predict_proba"})
    assert marked.mean() > 0.5
    same = Block(block.X, block.X[:, 0].astype(int), 2, block.counts, block.tests, block.splits, [np.array([0])] * 40)
    assert not recognize(KNeighborsClassifier(3), 2).predict(same, {"predict"})[1].any()  # ties of one class each


def test_a_tie_that_the_copies_of_one_row_make_is_answered():
    X, y = np.array([[0.0], [1.0], [5.0], [0.2]]), np.array([0, 1, 1, 0])
    block = Block(X, y, 2, np.array([[4, 1, 1, 0]]), [np.array([3])], np.array([0]), [np.array([0])])
    found, marked = recognize(KNeighborsClassifier(3), 2).predict(block, {"predict", "predict_proba"})
    assert not marked[0]
    assert found.predict_proba.tolist() == [[1.0, 0.0]]


def test_a_row_at_no_distance_has_all_the_weight():
    X, y = np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0], [0.0]]), np.array([0, 1, 1, 0, 1, 0, 0])
    counts, tests = np.array([[1, 1, 1, 1, 1, 1, 0]]), [np.array([6])]
    block = Block(X, y, 2, counts, tests, np.array([0]), [np.array([0])])
    estimator = KNeighborsClassifier(2, weights="distance", algorithm="kd_tree")
    found, marked = recognize(estimator, 2).predict(block, {"predict", "predict_proba"})
    assert not marked[0]
    assert found.predict_proba.tolist() == [[1.0, 0.0]]
    brute = recognize(clone(estimator).set_params(algorithm="brute"), 2)
    assert brute.predict(block, {"predict"})[1][0]  # whose rounding may see a distance


@pytest.mark.parametrize("n_classes", [0, 2])
def test_more_neighbors_than_rows_and_missing_classes_are_left_to_scikit_learn(n_classes):
    block = make_block("continuous", 1, n_classes)
    estimator = KNeighborsClassifier(41) if n_classes else KNeighborsRegressor(41)
    assert recognize(estimator, n_classes).predict(block, {"predict"})[1].all()
    if n_classes:
        split = Block(block.X, block.y, 3, block.counts, block.tests, block.splits, block.columns)
        assert recognize(KNeighborsClassifier(3), 3).predict(split, {"predict"})[1].all()


# Linear models


def at_the_optimum(scaler, **parameters):
    """scikit-learn's logistic regression as far as rounding lets it; centered columns change no prediction."""
    model = LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=10_000, **parameters)
    if scaler is None and parameters["fit_intercept"]:
        return make_pipeline(StandardScaler(with_std=False), model)
    return on_scale(scaler, model)


@given(
    kind=st.sampled_from(TABLES),
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 4),
    scaler=st.sampled_from(SCALERS),
    C=st.sampled_from([0.01, 1.0, 100.0]),
    fit_intercept=st.booleans(),
    most_columns=st.sampled_from([5, 30]),
)
def test_logistic_regression_is_at_its_optimum(kind, seed, n_classes, scaler, C, fit_intercept, most_columns):
    assume(kind != "far from zero" or fit_intercept or scaler)  # as good as singular for scikit-learn
    block = make_block(kind, seed, n_classes, most_columns=most_columns, n_cells=4)
    options = {"C": C, "fit_intercept": fit_intercept}
    estimator, reference = on_scale(scaler, LogisticRegression(**options)), at_the_optimum(scaler, **options)
    share = check_equal(estimator, block, 1e-6, "optimum", reference)
    if most_columns == 5:
        assert share == 0


@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize("kind", ["continuous", "constant columns", "duplicated rows"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_more_columns_than_rows_are_at_their_optimum(kind, scaler, fit_intercept):
    for n_classes in (2, 3):
        block = make_block(kind, 5, n_classes, n=30, d=60, n_cells=3, most_columns=60)
        options = {"C": 0.5, "fit_intercept": fit_intercept}
        estimator, reference = on_scale(scaler, LogisticRegression(**options)), at_the_optimum(scaler, **options)
        assert check_equal(estimator, block, 1e-6, "optimum", reference) == 0
        hinge = on_scale(scaler, LinearSVC(**options))
        reference = on_scale(scaler, LinearSVC(dual=False, tol=1e-8, **options))
        assert check_equal(hinge, block, 1e-6, "optimum", reference) == 0


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_solvers_have_the_same_optimum(solver, n_classes):
    block = make_block("continuous", 2, n_classes, most_columns=4, n_cells=2)
    tight = LogisticRegression(solver=solver, tol=1e-10, max_iter=100_000, random_state=0)
    check_equal(make_pipeline(StandardScaler(), tight), block, 1e-5, "optimum")


def test_liblinear_penalizes_intercepts_only_where_there_are_some():
    block = make_block("continuous", 3, 2, most_columns=5, n_cells=3)
    estimator = LogisticRegression(solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=10_000)
    check_equal(estimator, block, 1e-5, "optimum")


@given(
    kind=st.sampled_from(TABLES),
    seed=st.integers(0, 2**32 - 1),
    scaler=st.sampled_from(SCALERS),
    alpha=st.sampled_from([0.01, 1.0, 100.0]),
    fit_intercept=st.booleans(),
    solver=st.sampled_from(["auto", "svd", "cholesky"]),
)
def test_ridge_regression_is_that_of_scikit_learn(kind, seed, scaler, alpha, fit_intercept, solver):
    block = make_block(kind, seed, 0)
    model = on_scale(scaler, Ridge(alpha=alpha, fit_intercept=fit_intercept, solver=solver))
    share = check_equal(model, block, 1e-8)
    if scaler is StandardScaler and fit_intercept:
        assert share == 0


@given(
    kind=st.sampled_from(TABLES),
    seed=st.integers(0, 2**32 - 1),
    scaler=st.sampled_from(SCALERS),
    fit_intercept=st.booleans(),
)
def test_least_squares_are_those_of_scikit_learn(kind, seed, scaler, fit_intercept):
    block = make_block(kind, seed, 0, most_columns=8)
    share = check_equal(on_scale(scaler, LinearRegression(fit_intercept=fit_intercept)), block, 1e-8)
    if kind == "continuous":
        assert share == 0


def test_least_squares_without_a_single_solution_are_left_to_scikit_learn():
    block = make_block("continuous", 0, 0)
    twins = Block(
        np.hstack([block.X, block.X]), block.y, 0, block.counts, block.tests, block.splits, [np.array([0, 30])] * 8
    )
    assert recognize(LinearRegression(), 0).predict(twins, {"predict"})[1].all()
    wide = [np.arange(30)] * 8  # as many columns as rows, or more
    cells = Block(block.X, block.y, 0, block.counts, block.tests, block.splits, wide)
    assert recognize(LinearRegression(), 0).predict(cells, {"predict"})[1].all()


def test_iterative_ridge_is_at_its_optimum():
    block = make_block("continuous", 1, 0, most_columns=5, n_cells=3)
    check_equal(Ridge(solver="lsqr", tol=1e-12), block, 1e-6, "optimum")
    assert recognize(Ridge(solver="saga"), 0, allow="identical") is None


@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize(
    ("n_classes", "model"),
    [
        (2, DummyClassifier()),
        (3, DummyClassifier(strategy="most_frequent", random_state=3)),
        (0, DummyRegressor()),
        (0, DummyRegressor(strategy="median")),
        (0, DummyRegressor(strategy="quantile", quantile=0.3)),
        (0, DummyRegressor(strategy="constant", constant=2)),
    ],
)
def test_dummies_are_those_of_scikit_learn(n_classes, model, scaler):
    assert check_equal(on_scale(scaler, model), make_block("continuous", 4, n_classes), 1e-15) == 0


@settings(max_examples=50)
@given(
    kind=st.sampled_from(["continuous", "zeros and ones", "duplicated rows"]),
    seed=st.integers(0, 2**32 - 1),
    scaler=st.sampled_from(SCALERS),
    C=st.sampled_from([0.01, 1.0, 10.0]),
)
def test_linear_svm_is_at_its_optimum(kind, seed, scaler, C):
    block = make_block(kind, seed, 2, n=24, d=20, n_cells=4, most_columns=20)  # with more rows, libsvm takes for ever
    estimator, reference = SVC(C=C, kernel="linear"), SVC(C=C, kernel="linear", tol=1e-6)
    check_equal(on_scale(scaler, estimator), block, 1e-4, "optimum", on_scale(scaler, reference))  # libsvm's own digits


@given(seed=st.integers(0, 2**32 - 1), C=st.sampled_from([0.01, 1.0, 10.0]))
def test_linear_svm_is_that_of_the_elimination(seed, C):
    block = make_block("continuous", seed, 2, n_cells=3)
    found, marked = recognize(SVC(C=C, kernel="linear"), 2).predict(block, {"decision_function"})
    assert not marked.any()
    for cell in range(3):
        columns, counts = np.sort(block.columns[cell]), block.counts[block.splits[cell]]
        exact = svm_elimination(block.X[:, columns], 2.0 * block.y - 1, counts, C=C, scale="full")
        values = block.X[np.ix_(block.tests[block.splits[cell]], columns)] @ exact.coef[0] + exact.intercept[0]
        at = slice(block.starts[cell], block.starts[cell + 1])
        np.testing.assert_allclose(found.decision_function[at], values, atol=1e-7 * (1 + abs(values).max()))


@given(
    kind=st.sampled_from(["continuous", "zeros and ones", "duplicated rows", "constant columns"]),
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 4),
    scaler=st.sampled_from(SCALERS),
    C=st.sampled_from([0.01, 1.0]),
    fit_intercept=st.booleans(),
    intercept_scaling=st.sampled_from([1.0, 3.0]),
)
def test_squared_hinge_is_at_its_optimum(kind, seed, n_classes, scaler, C, fit_intercept, intercept_scaling):
    block = make_block(kind, seed, n_classes, n_cells=4)
    options = {"C": C, "fit_intercept": fit_intercept, "intercept_scaling": intercept_scaling}
    reference = LinearSVC(dual=False, tol=1e-8, max_iter=1000, **options)
    share = check_equal(on_scale(scaler, LinearSVC(**options)), block, 1e-6, "optimum", on_scale(scaler, reference))
    assert share == 0 or kind == "constant columns"  # which can hide an intercept: some are left to scikit-learn


# What is not recognized


class Subclass(KNeighborsClassifier):
    """A class of its own."""


@pytest.mark.parametrize(
    "estimator",
    [
        Subclass(),
        KNeighborsClassifier(metric="manhattan"),
        KNeighborsClassifier(p=1),
        KNeighborsClassifier(weights=lambda distances: distances),
        KNeighborsClassifier(metric_params={"w": [1, 2]}),
        KNeighborsClassifier(n_neighbors=0),
        KNeighborsClassifier(n_neighbors=True),
        KNeighborsRegressor(),
        LogisticRegression(C=np.inf),
        LogisticRegression(l1_ratio=0.5, solver="saga"),
        LogisticRegression(class_weight="balanced"),
        LogisticRegression(warm_start=True),
        LogisticRegression(solver="liblinear"),
        LogisticRegression(max_iter=10),
        LogisticRegression(tol=0.1),
        LogisticRegression(C="much"),
        DummyClassifier(strategy="stratified"),
        DummyClassifier(strategy="constant", constant=1),
        DummyRegressor(),
        Ridge(),
        LinearRegression(),
        SVC(),
        SVC(kernel="linear", class_weight="balanced"),
        SVC(kernel="linear", max_iter=5),
        LinearSVC(loss="hinge"),
        LinearSVC(class_weight="balanced"),
        make_pipeline(PCA(), KNeighborsClassifier()),
        make_pipeline(StandardScaler(), MinMaxScaler(), KNeighborsClassifier()),
        make_pipeline(StandardScaler(with_mean=False), KNeighborsClassifier()),
        make_pipeline(MinMaxScaler((0, 2)), KNeighborsClassifier()),
        make_pipeline(MinMaxScaler(clip=True), KNeighborsClassifier()),
        make_pipeline(StandardScaler().set_output(transform="pandas"), KNeighborsClassifier()),
        make_pipeline(StandardScaler(), KNeighborsClassifier(), memory="somewhere"),
        make_pipeline(StandardScaler(), "passthrough"),
        make_pipeline("passthrough", KNeighborsClassifier()),
        "KNeighborsClassifier",
        KNeighborsClassifier,
    ],
    ids=lambda model: str(model).split(" at 0x")[0],  # the same in every process of the tests
)
def test_anything_else_is_left_to_scikit_learn(estimator):
    assert recognize(estimator, 2) is None


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(alpha=0),
        Ridge(alpha=[1.0]),
        Ridge(positive=True),
        Ridge(max_iter=3, solver="lsqr"),
        LinearRegression(positive=True),
        DummyRegressor(strategy="constant"),
        DummyRegressor(strategy="constant", constant=[1.0]),
        DummyRegressor(strategy="quantile"),
        KNeighborsClassifier(),
        LogisticRegression(),
    ],
    ids=str,
)
def test_any_other_model_of_numbers_is_left_to_scikit_learn(estimator):
    assert recognize(estimator, 0) is None


def test_requests_for_metadata_are_left_to_scikit_learn():
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = LogisticRegression().set_fit_request(sample_weight=True)
        assert recognize(estimator, 2) is None
        assert recognize(make_pipeline(StandardScaler(), estimator), 2) is None
        assert recognize(LogisticRegression(), 2) is not None


def test_callbacks_are_left_to_scikit_learn():
    estimator = KNeighborsClassifier()
    estimator._skl_callbacks = [print]
    carried = hasattr(clone(estimator), "_skl_callbacks")  # since scikit-learn 1.9
    assert (recognize(estimator, 2) is None) == carried


def test_an_unknown_parameter_is_left_to_scikit_learn(monkeypatch):
    known = KNeighborsClassifier.get_params
    monkeypatch.setattr(KNeighborsClassifier, "get_params", lambda self, deep=True: {**known(self, deep), "new": None})
    assert recognize(KNeighborsClassifier(), 2) is None


def test_what_may_be_recognized_is_chosen():
    assert recognize(KNeighborsClassifier(), 2, allow=False) is None
    assert recognize(KNeighborsClassifier(), 2, allow="identical").exactness == "identical"
    assert recognize(LogisticRegression(), 2).exactness == "optimum"
    assert recognize(LogisticRegression(), 2, allow="identical") is None
    assert recognize(SVC(kernel="linear"), 3) is None


def test_the_records_say_what_is_recognized():
    declared = {kind: exactness for record in MODELS.values() for kind, exactness in record.recognized.items()}
    assert set(declared) == set(RECOGNIZED)
    for kind, exactness in declared.items():
        estimator = SVC(kernel="linear") if kind is SVC else kind()
        found = recognize(estimator, 2 if is_classifier(estimator) else 0)
        assert found.exactness == exactness
        assert exactness in EXACTNESS


@pytest.mark.parametrize("kind", RECOGNIZED, ids=lambda kind: kind.__name__)
def test_blocks_may_be_empty(kind):
    estimator = SVC(kernel="linear") if kind is SVC else kind()
    n_classes = 2 if is_classifier(estimator) else 0
    model, block = recognize(estimator, n_classes), make_block("continuous", 0, n_classes)
    if kind is CoxRidge:
        block = replace(block, y=survival(np.arange(len(block.y)), np.ones(len(block.y))))
    no_cells = Block(block.X, block.y, n_classes, block.counts, block.tests, np.empty(0, np.int64), [])
    found, marked = model.predict(no_cells, model.answers)
    assert (found.predict.size, marked.size) == (0, 0)
    no_tests = Block(
        block.X, block.y, n_classes, block.counts, [np.empty(0, np.int64)] * 3, block.splits, block.columns
    )
    found, marked = model.predict(no_tests, model.answers)
    assert (found.predict.size, marked.size) == (0, block.n_cells)


def test_fitted_estimators_are_recognized_as_their_clones():
    fitted = KNeighborsClassifier(1).fit([[0.0], [1.0]], [0, 1])
    assert recognize(fitted, 2) is not None
