"""Studies: what is run, what grows, what is refused; scores against a slow and obvious loop."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, get_scorer, make_scorer
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import holdfast as hf
from holdfast.io.estimators import read_selection
from holdfast.selection import Selection
from holdfast.study import families
from results import make_result
from study_parts import (
    Constant,
    Raising,
    UsesGlobalRandomState,
    X,
    Y,
    anova,
    assert_same,
    run_with_failures,
    selected_names,
    small_data,
)


def study_of(selectors=None, **parts):
    parts = {"perturbation": hf.Bootstrap(5), **parts}
    return hf.Study(selectors=selectors or {"anova": anova()}, **parts)


# Scores, against a plain loop


def oracle(X, y, selector, perturbation, estimator, metrics, *, kept=None, stratified=True, seed=0):
    """Scores and predictions of every split, by scikit-learn alone."""
    X, y = np.asarray(X), np.asarray(y)
    for split in perturbation.splits(y, stratified=stratified, random_state=seed):
        train, test = np.repeat(split.rows, 1 if split.counts is None else split.counts), split.test
        chosen = np.flatnonzero(clone(selector).fit(X[train], y[train]).get_support())
        parts = [X[:, chosen]] if kept is None else [X[:, chosen], np.asarray(kept)]
        columns = np.hstack(parts)
        model = clone(estimator)
        if not columns.shape[1]:
            columns = np.zeros((len(y), 1))
            model = DummyClassifier() if stratified else DummyRegressor()
        model.fit(columns[train], y[train])
        scores = {name: get_scorer(name)(model, columns[test], y[test]) for name in metrics}
        yield split, chosen, scores, model.predict(columns[test])


def assert_as_oracle(result, name, expected, y):
    expected = list(expected)
    metrics = list(expected[0][2])
    scores = result.scores[result.scores["candidate"] == name].set_index("run")[metrics]
    predictions = result.predictions(name)
    sets = selected_names(result, name)
    for (split, chosen, told, predicted), found in zip(expected, sets, strict=True):
        assert found == {result.feature_names[column] for column in chosen}
        assert scores.loc[split.label].to_dict() == pytest.approx(told, rel=1e-13, abs=0)
        mine = predictions[predictions["run"] == split.label]
        assert mine["row"].tolist() == split.test.tolist()
        assert mine["truth"].tolist() == np.asarray(y)[split.test].tolist()
        exact = predicted.dtype.kind != "f" or len(np.unique(predicted)) <= 3  # labels; sums differ by rounding
        assert mine["predicted"].tolist() == (predicted.tolist() if exact else pytest.approx(predicted, rel=1e-12))


PERTURBATIONS = [hf.Bootstrap(4), hf.Subsample(4, 0.6, stratify=True), hf.ComplementaryPairs(2), hf.Folds(3)]


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=str)
def test_scores_are_those_of_a_plain_loop(perturbation):
    metrics = ["accuracy", "neg_log_loss", "roc_auc"]
    model = KNeighborsClassifier(3)
    result = study_of(perturbation=perturbation, estimator=model, scoring=metrics, random_state=3).run(X, Y)
    assert result.metrics == metrics
    assert_as_oracle(result, "anova", oracle(X, Y, anova(), perturbation, model, metrics, seed=3), Y)


@pytest.mark.parametrize("labels", [["healthy", "ill", "unknown"], [7, 3, 5], [-1.0, 1.0, 4.0]], ids=str)
def test_more_classes_and_any_labels_are_scored(labels):
    features, codes = small_data(60, 8, classes=3)
    y = np.array(labels)[codes]
    metrics, model = ["accuracy", "f1_macro"], KNeighborsClassifier(3)
    study = study_of(estimator=model, scoring=metrics)
    result = study.run(features, y)
    assert_as_oracle(result, "anova", oracle(features, y, anova(), hf.Bootstrap(5), model, metrics), y)
    assert_same(study.run(features, pd.Series(y)), result)
    assert_same(study.run(features, y.tolist()), result)


def test_numbers_are_predicted_and_scored():
    y = np.asarray(X["f0"] - 2 * X["f4"]) + np.random.default_rng(1).normal(size=len(X))
    metrics, model, selector = ["r2", "neg_mean_squared_error"], KNeighborsRegressor(3), SelectKBest(f_regression, k=3)
    result = study_of({"anova": selector}, estimator=model, scoring=metrics).run(X, y)
    expected = oracle(X, y, selector, hf.Bootstrap(5), model, metrics, stratified=False)
    assert_as_oracle(result, "anova", expected, y)
    assert result.stored.meta["plan"]["task"] == "regression"
    assert study_of({"anova": selector}, estimator=model).run(X, y).metrics == ["r2"]


@pytest.mark.parametrize("form", [lambda X: X, sp.csr_matrix], ids=["dense", "sparse"])
def test_kept_covariates_are_in_every_model_and_outside_the_universe(form):
    values, model = X.to_numpy(), LogisticRegression()
    study = study_of(
        estimator=model, covariates=["x1", "x7"], adjust=False, scoring="neg_log_loss", fast_models="identical"
    )
    result = study.run(form(values), Y)
    rest = np.delete(values, [1, 7], axis=1)
    assert len(result.feature_names) == 10
    expected = oracle(rest, Y, anova(), hf.Bootstrap(5), model, ["neg_log_loss"], kept=values[:, [1, 7]])
    assert_as_oracle(result, "anova", expected, Y)


def test_covariates_of_a_frame_are_named():
    result = study_of(estimator=KNeighborsClassifier(3), covariates=["f1", "f7"], adjust=False).run(X, Y)
    assert result.feature_names == [name for name in X.columns if name not in ("f1", "f7")]
    rest = X.drop(columns=["f1", "f7"])
    expected = oracle(rest, Y, anova(), hf.Bootstrap(5), KNeighborsClassifier(3), ["accuracy"], kept=X[["f1", "f7"]])
    assert_as_oracle(result, "anova", expected, Y)


@pytest.mark.parametrize("y", [Y, X["f5"].to_numpy()], ids=["classes", "numbers"])
def test_an_empty_selection_is_scored_as_a_model_without_features(y):
    classes = y is Y
    model, metric = (KNeighborsClassifier(3), "accuracy") if classes else (KNeighborsRegressor(3), "r2")
    result = study_of({"none": Constant()}, estimator=model, scoring=metric).run(X, y)
    expected = oracle(X, y, Constant(), hf.Bootstrap(5), model, [metric], stratified=classes)
    assert_as_oracle(result, "none", expected, y)
    with_age = study_of({"none": Constant()}, estimator=model, scoring=metric, covariates=["f0"], adjust=False).run(
        X, y
    )
    kept, rest = X[["f0"]], X.drop(columns="f0")
    expected = oracle(rest, y, Constant(), hf.Bootstrap(5), model, [metric], kept=kept, stratified=classes)
    assert_as_oracle(with_age, "none", expected, y)


def test_without_an_estimator_a_selectors_own_model_is_scored():
    own = make_pipeline(StandardScaler(), anova(), LogisticRegression())
    selectors = {"pipeline": own, "rfe": RFE(LogisticRegression()), "anova": anova(), "weights": LogisticRegression()}
    result = study_of(selectors).run(X, Y)
    scores = result.scores.pivot_table(index="run", columns="candidate", values="accuracy")
    for split in hf.Bootstrap(5).splits(Y):
        for name in ("pipeline", "rfe", "weights"):
            model = clone(selectors[name]).fit(X.iloc[split.train], Y[split.train])
            assert scores.loc[split.label, name] == model.score(X.iloc[split.test], Y[split.test])
    assert "anova" not in scores
    assert np.isnan(result.summary().loc["anova", "accuracy"])
    assert result.predictions("anova").empty


def test_an_estimator_is_not_used_for_weights_which_select_nothing():
    grid = hf.Candidates(LogisticRegression(), {"fit_intercept": [True, False]})
    result = study_of({"weights": grid}, estimator=KNeighborsClassifier(3), scoring="neg_log_loss").run(X, Y)
    split = next(hf.Bootstrap(5).splits(Y))
    for intercept in (True, False):
        model = LogisticRegression(fit_intercept=intercept).fit(X.iloc[split.train], Y[split.train])
        score = get_scorer("neg_log_loss")(model, X.iloc[split.test], Y[split.test])
        mine = result.scores[result.scores["candidate"] == f"weights(fit_intercept={intercept})"]
        assert mine["neg_log_loss"].iloc[0] == score


def own_score(model, X, y):
    return float(np.mean(model.predict(X[:7]) == y[:7]) + 10 * np.mean(model.predict(X) == y))


def test_scores_may_be_callables_and_may_look_at_some_of_the_rows():
    study = study_of(estimator=KNeighborsClassifier(3), scoring={"own": own_score, "accuracy": "accuracy"})
    result = study.run(X, Y)
    for split, chosen, told, _ in oracle(X, Y, anova(), hf.Bootstrap(5), KNeighborsClassifier(3), ["accuracy"]):
        mine = result.scores.set_index("run").loc[split.label]
        train, test = X.iloc[split.train, chosen], X.iloc[split.test, chosen].to_numpy()
        model = KNeighborsClassifier(3).fit(train.to_numpy(), Y[split.train])
        assert mine["accuracy"] == told["accuracy"]
        assert mine["own"] == own_score(model, test, Y[split.test])
    assert study_of(estimator=KNeighborsClassifier(3), scoring=own_score).run(X, Y).metrics == ["own_score"]
    assert study_of(estimator=KNeighborsClassifier(3), scoring=make_scorer(f1_score)).run(X, Y).metrics == ["f1_score"]


def undefined(model, X, y):
    return float("nan")


def test_an_undefined_score_is_kept_as_such():
    result = study_of(estimator=KNeighborsClassifier(3), scoring=[undefined, "accuracy"]).run(X, Y)
    assert result.failures.empty
    assert result.scores["undefined"].isna().all()
    assert result.scores["accuracy"].notna().all()
    assert np.isnan(result.summary().loc["anova", "undefined"])
    alone = study_of(estimator=KNeighborsClassifier(3), scoring=undefined).run(X, Y)
    assert alone.scores["undefined"].isna().all()
    assert len(alone.scores) == 5


def broken(model, X, y):
    return 1 / 0


def test_a_score_that_cannot_be_computed_is_a_failure_and_the_selection_stays():
    study = study_of(estimator=KNeighborsClassifier(3), scoring=["accuracy", broken])
    with pytest.warns(
        UserWarning, match=r"5 of 5 fits failed, of anova; most often: ZeroDivisionError: division by zero. "
    ):
        result = study.run(X, Y)
    assert set(result.failures["stage"]) == {"score"}
    assert result.preferences("anova").n_runs == 5
    assert result.summary().loc["anova", "failures"] == 5


def test_the_error_of_a_score_allows_for_shared_rows():
    result = study_of(perturbation=hf.Bootstrap(6), estimator=KNeighborsClassifier(3)).run(X, Y)
    splits = list(hf.Bootstrap(6).splits(Y))
    values = result.scores["accuracy"]
    ratio = np.mean([split.test.size / split.rows.size for split in splits])
    row = result.summary().loc["anova"]
    assert row["accuracy"] == pytest.approx(values.mean())
    assert row["accuracy_se"] == pytest.approx(np.sqrt((1 / 6 + ratio) * values.var()))
    one = study_of(perturbation=hf.Bootstrap(1), estimator=KNeighborsClassifier(3)).run(X, Y)
    assert np.isnan(one.summary().loc["anova", "accuracy_se"])


def test_predictions_can_be_left_out():
    study = study_of(estimator=KNeighborsClassifier(3))
    result, without = study.run(X, Y), study.run(X, Y, keep_predictions=False)
    assert without.predictions("anova").empty
    pd.testing.assert_frame_equal(result.scores, without.scores)


# Candidates and seeds


def test_selectors_and_perturbation_need_no_names_and_all_else_does():
    named = hf.Study(selectors={"anova": anova()}, perturbation=hf.Bootstrap(3))
    study = hf.Study({"anova": anova()}, hf.Bootstrap(3), random_state=0)
    assert study.perturbation == named.perturbation == hf.Bootstrap(3)
    assert_same(study.run(X, Y), named.run(X, Y))
    assert hf.Study(anova()).perturbation == hf.Bootstrap()
    with pytest.raises(TypeError, match="positional argument"):
        hf.Study({"anova": anova()}, hf.Bootstrap(3), KNeighborsClassifier(3))


def test_grids_and_sizes_are_candidates_each():
    forest = RandomForestClassifier(5)
    both = hf.Candidates(forest, {"max_depth": [2, None]}, sizes=[2, 4])
    names = [
        "f(max_depth=2, size=2)",
        "f(max_depth=2, size=4)",
        "f(max_depth=None, size=2)",
        "f(max_depth=None, size=4)",
    ]
    assert both.names("f") == names
    result = study_of({"f": both}, random_state=1).run(X, Y)
    assert result.candidates == names
    assert [result.settings(name) for name in names] == [
        {"max_depth": depth, "size": top} for depth in (2, None) for top in (2, 4)
    ]
    for split, run in zip(hf.Bootstrap(5).splits(Y, random_state=1), selected_names(result, names[3]), strict=True):
        fitted = clone(forest).set_params(random_state=split.seed).fit(X.iloc[split.train], Y[split.train])
        best = np.argsort(-fitted.feature_importances_, kind="stable")[:4]
        assert set(run) == set(X.columns[best])


def test_lists_of_grids_and_single_settings_are_named():
    several = hf.Candidates(anova(), [{"k": [1]}, {"k": [2, 3]}])
    assert several.names("a") == ["a(k=1)", "a(k=2)", "a(k=3)"]
    assert hf.Candidates(anova(), {"k": [4]}).names("a") == ["a"]
    assert hf.Candidates(anova(), sizes=np.int64(4)).names("a") == ["a"]
    assert hf.Candidates(anova(), sizes=[3, 4]).names("a") == ["a(size=3)", "a(size=4)"]
    result = study_of({"a": hf.Candidates(anova(), {"k": np.array([1, 2])})}).run(X, Y)
    assert [set(result.preferences(name).sizes) for name in result.candidates] == [{1}, {2}]


def test_a_grid_may_set_estimators_and_each_fit_gets_its_own():
    models = [LogisticRegression(C=0.1), LogisticRegression(C=10)]
    grid = hf.Candidates(SelectFromModel(LogisticRegression()), {"estimator": models})
    result = study_of({"l": grid}).run(X, Y)
    assert result.failures.empty
    assert not any(hasattr(model, "coef_") for model in models)


def test_estimators_without_a_seed_are_repeatable_and_seeds_that_were_set_are_kept():
    forest = RandomForestClassifier(3, max_features=1)
    free, fixed = SelectFromModel(forest), SelectFromModel(clone(forest).set_params(random_state=5))
    study = study_of({"free": free, "fixed": fixed, "gambling": UsesGlobalRandomState()}, perturbation=hf.Bootstrap(3))
    result = study.run(X, Y)
    np.random.seed(77)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    assert_same(result, study.run(X, Y))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    for split, run in zip(hf.Bootstrap(3).splits(Y), selected_names(result, "fixed"), strict=True):
        fitted = clone(fixed).fit(X.iloc[split.train], Y[split.train])
        assert set(run) == set(X.columns[fitted.get_support()])
    other = study_of({"gambling": UsesGlobalRandomState()}, perturbation=hf.Bootstrap(3), random_state=1).run(X, Y)
    assert selected_names(other, "gambling") != selected_names(result, "gambling")


def test_new_seeds_replace_even_one_that_was_set():
    fixed = SelectFromModel(RandomForestClassifier(2, max_features=1, random_state=5))
    result = study_of({"fixed": fixed}, perturbation=hf.NewSeeds(6)).run(X, Y)
    assert len(set(map(frozenset, selected_names(result, "fixed")))) > 1
    alike = study_of({"fixed": fixed}, perturbation=hf.Noise(3, scale=0)).run(X, Y)
    assert len(set(map(frozenset, selected_names(alike, "fixed")))) == 1


# Equal, whatever the way


SELECTORS = {
    "anova": hf.Candidates(anova(), {"k": [2, 3]}),
    "forest": hf.Candidates(RandomForestClassifier(3), sizes=[2, 3]),
    "gambling": UsesGlobalRandomState(),
    "raising": Raising(),
}


def full(selectors=SELECTORS, n=6, **parts):
    return study_of(selectors, **{"perturbation": hf.Bootstrap(n), "estimator": KNeighborsClassifier(3), **parts})


@pytest.fixture(scope="module")
def whole():
    return run_with_failures(full(), X, Y)


def test_order_and_company_of_selectors_do_not_matter(whole):
    assert_same(run_with_failures(full(dict(reversed(SELECTORS.items()))), X, Y), whole)
    for name, selector in SELECTORS.items():
        alone = run_with_failures(full({name: selector}), X, Y)
        assert_same(alone, whole, candidates=alone.candidates)


@pytest.mark.parametrize("seconds", [0, 1e-3, 100])
def test_the_size_of_blocks_does_not_matter(whole, seconds, monkeypatch):
    monkeypatch.setattr(families, "BLOCK_SECONDS", seconds)
    assert_same(run_with_failures(full(), X, Y), whole)


def test_first_fits_tell_no_time_as_kernels_may_be_compiled_in_them():
    seen = []
    full({"anova": anova(), "gambling": UsesGlobalRandomState()}).run(X, Y, progress=seen.append)
    assert "left" not in str(seen[0])
    assert "per second" not in str(seen[0])
    assert "per second" in str(seen[-1])


def test_a_store_grows_to_the_study_that_would_have_been_one(whole, tmp_path):
    store = tmp_path / "s.db"
    first = {"anova": hf.Candidates(anova(), {"k": [3, 4]}), "gambling": UsesGlobalRandomState()}
    run_with_failures(full(first, n=2), X, Y, store=store)
    run_with_failures(full({"anova": SELECTORS["anova"], "raising": Raising()}, n=4), X, Y, store=store)
    grown = run_with_failures(full(), X, Y, store=store)
    assert not grown.complete  # the setting that was left out meanwhile
    assert_same(grown, whole, candidates=whole.candidates)
    assert_same(hf.load_study(store), grown)
    everything = run_with_failures(
        full({**SELECTORS, "anova": hf.Candidates(anova(), {"k": [2, 3, 4]})}), X, Y, store=store
    )
    assert everything.complete
    assert len(everything.provenance["sessions"]) == 4


@pytest.mark.parametrize(
    ("few", "many"),
    [
        (hf.Folds(3), hf.Folds(3, n_repeats=2)),
        (hf.ComplementaryPairs(2), hf.ComplementaryPairs(3)),
        (hf.NestedFolds(2, 2), hf.NestedFolds(2, 2, n_repeats=2)),
        (hf.NestedSubsamples(2, (0.5,)), hf.NestedSubsamples(3, (0.5,))),
        (hf.Noise(2), hf.Noise(4)),
        (hf.NewSeeds(2), hf.NewSeeds(4)),
    ],
    ids=str,
)
def test_every_perturbation_grows_and_never_shrinks(few, many, tmp_path):
    store = tmp_path / "s.db"
    study_of(perturbation=few).run(X, Y, store=store)
    grown = study_of(perturbation=many).run(X, Y, store=store)
    assert_same(grown, study_of(perturbation=many).run(X, Y))
    again = study_of({"anova": anova(), "two": anova(2)}, perturbation=few).run(X, Y, store=store)
    assert len(again.stored.splits) == many.get_n_splits()
    assert again.complete
    assert_same(again, grown, candidates=["anova"])


def test_frames_arrays_polars_and_sparse_matrices_give_the_same_selections():
    import polars as pl

    def columns(result):
        return result.preferences("anova").lists()[0].tolist()

    study = study_of(estimator=KNeighborsClassifier(3))
    frame = study.run(X, Y)
    shuffled = X.set_axis(range(100, 160)).set_axis(range(12), axis=1)
    for given in (
        X.to_numpy(),
        np.asfortranarray(X),
        sp.csc_matrix(X.to_numpy()),
        pl.DataFrame(X.to_numpy()),
        shuffled,
    ):
        result = study.run(given, Y)
        assert columns(result) == columns(frame)
        pd.testing.assert_frame_equal(result.scores, frame.scores)
    assert study.run(shuffled, Y).feature_names == [str(column) for column in range(12)]


# Another plan


def other_target(y):
    return np.where(np.arange(y.size) == 3, 1 - y, y)


def scored(model, X, y):
    return 0.0


BASE = {"estimator": KNeighborsClassifier(3), "scoring": "accuracy", "perturbation": hf.Subsample(3, 0.5)}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"X": X + 1}, "data.features was"),
        ({"X": X.rename(columns={"f3": "renamed"})}, "data.names was"),
        ({"X": X.iloc[:, :-1]}, "data.n_features was 12 and is now 11"),
        ({"y": other_target(Y)}, "data.target was"),
        ({"groups": np.arange(60) // 2}, "data.groups was None and is now"),
        ({"perturbation": hf.Subsample(3, 0.6)}, "perturbation.fraction was 0.5 and is now 0.6"),
        ({"perturbation": hf.Bootstrap(3)}, "perturbation was {'perturbation': 'Subsample'"),
        ({"perturbation": ShuffleSplit(3)}, "and is now {'perturbation': 'GivenSplits'"),
        ({"random_state": 1}, "random_state was 0 and is now 1"),
        ({"estimator": KNeighborsClassifier(5)}, "KNeighborsClassifier.n_neighbors was 3 and is now 5"),
        ({"estimator": None, "scoring": None}, "estimator was {'sklearn.neighbors"),
        ({"scoring": "f1"}, "scoring was {'accuracy': 'accuracy'} and is now {'f1': 'f1'}"),
        ({"scoring": {"accuracy": scored}}, "scoring.accuracy was 'accuracy' and is now 'test_study.scored'"),
        ({"covariates": ["f1"]}, "keep was [] and is now ['f1']"),
        ({"keep_predictions": False}, "keep_predictions was True and is now False"),
        ({"selectors": {"anova": anova(4)}}, "selector 'anova' as it is in {store}, got another: "),
        ({"selectors": {"anova": anova(4)}}, "SelectKBest.k was 3 and is now 4"),
        ({"selectors": {"anova": VarianceThreshold()}}, "VarianceThreshold"),
        (
            {
                "selectors": {"anova": SelectKBest(f_regression, k=3)},
                "task": "regression",
                "scoring": "r2",
                "estimator": LinearRegression(),
            },
            "task was 'classification' and is",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else ", ".join(one),
)
def test_another_plan_is_refused_and_the_difference_named(change, told, tmp_path):
    store = tmp_path / "study.db"
    study_of(**BASE).run(X, Y, store=store)
    before = hf.load_study(store)
    given = {"X": X, "y": Y, "groups": None, "keep_predictions": True, **change}
    run = {name: given.pop(name) for name in ("X", "y", "groups", "keep_predictions")}
    with pytest.raises(hf.study.StoreError, match=re.escape(told.replace("{store}", str(store)))):
        study_of(**{**BASE, **given}).run(**run, store=store)
    assert_same(hf.load_study(store), before)
    assert_same(study_of(**BASE).run(X, Y, store=store), before)


# A pilot


def test_a_pilot_asks_once_and_its_interval_is_told(tmp_path):
    study, until = study_of({"anova": anova(), "all": Constant(True)}), hf.TargetPrecision(0.08, pilot=8, cap=500)
    store = tmp_path / "s.db"
    result = study.run(X, Y, store=store, until=until)
    pilot = hf.runs_needed(0.08, pilot=study_of(perturbation=hf.Bootstrap(8)).run(X, Y).stability("anova"))
    assert len(result.stored.splits) == pilot.n_runs > 8
    estimate, row = result.stability("anova"), result.summary().loc["anova"]
    assert (row["low"], row["high"]) == pytest.approx(pilot.ci(estimate))
    assert row["high"] - row["low"] <= 2 * 0.08 + 1e-12
    assert_same(study_of({"anova": anova()}, perturbation=hf.Bootstrap(pilot.n_runs)).run(X, Y), result,
                candidates=["anova"])  # fmt: skip
    again = study.run(X, Y, store=store, until=until)
    assert_same(again, result)
    assert again.summary().loc["anova", "low"] == row["low"]


def test_a_pilot_with_little_left_to_do_changes_nothing():
    result = study_of().run(X, Y, until=hf.TargetPrecision(3, pilot=6, cap=6))
    assert len(result.stored.splits) == 6


def test_a_cap_warns_and_holds():
    with pytest.warns(UserWarning, match=r"The pilot asks for \d+ runs for ±0.01, more than cap=12"):
        result = study_of().run(X, Y, until=hf.TargetPrecision(0.01, pilot=6, cap=12))
    assert len(result.stored.splits) == 12


def test_a_pilot_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path, monkeypatch):
    study, until = study_of(), hf.TargetPrecision(0.15, pilot=8)
    monkeypatch.setattr(families, "BLOCK_SECONDS", 0)
    whole = study.run(X, Y, until=until)
    assert len(whole.stored.splits) > 10

    def stop(progress):
        if progress.done == stop.at:
            raise KeyboardInterrupt

    for stop.at in (3, 8, 10):
        with pytest.raises(hf.study.StudyInterrupted):
            study.run(X, Y, until=until, store=tmp_path / "s.db", progress=stop)
    assert_same(study.run(X, Y, until=until, store=tmp_path / "s.db"), whole)


def test_a_candidate_without_a_pilot_has_its_own_interval(tmp_path):
    until, study = hf.TargetPrecision(0.01, pilot=4, cap=12), study_of({"anova": anova(), "late": Raising(-0.005)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = study.run(X, Y, until=until, store=tmp_path / "s.db")
        assert result.preferences("late").labels == ("bootstrap 6",)
        assert result.summary()["runs"].tolist() == [12, 1]
        assert_same(study.run(X, Y, until=until, store=tmp_path / "s.db"), result)


# Selectors that fit many resamples together


class Batched(BaseEstimator):
    """Selects the features of largest mean difference, one by one or many resamples together."""

    def __init__(self, k=3, fails=None, block_size=4):
        self.k, self.fails, self.block_size = k, fails, block_size

    def fit(self, X, y):
        self.support_ = np.zeros(np.shape(X)[1], bool)
        self.support_[self._best(np.asarray(X, float), np.asarray(y), self.k)] = True
        return self

    def get_support(self):
        return self.support_

    def _best(self, X, y, k):
        away = abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
        return np.argsort(-away, kind="stable")[:k]

    def prepare(self, X, y, settings):
        assert X.flags.c_contiguous
        assert X.dtype == np.float64
        CALLS.append("prepare")
        return {"prepared": X.sum()}

    def refit_many(self, shared, X, y, splits, settings):
        assert shared == {"prepared": X.sum()}
        CALLS.append(len(splits))
        for split in splits:
            if split.index == self.fails:
                raise RuntimeError("the batch broke")
            yield [Selection.subset(self._best(*split.data(X, y), {"k": self.k, **one}["k"])) for one in settings]


CALLS = []


class OneByOne(Batched):
    prepare = refit_many = None


def batched(cls=Batched, n=9, perturbation=None, **parts):
    many = hf.Candidates(cls(**parts), {"k": [2, 3]})
    return study_of({"many": many}, perturbation=perturbation or hf.Bootstrap(n), estimator=KNeighborsClassifier(3))


@pytest.mark.parametrize("fails", [None, 0, 5])
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_batched_selector_equals_clone_and_fit(fails, n_jobs, caplog):
    CALLS.clear()
    alone, many = batched(OneByOne).run(X, Y), batched(fails=fails).run(X, Y, n_jobs=n_jobs)
    assert many.failures.empty
    assert n_jobs == 2 or bool(caplog.records) == (fails is not None)  # a batch that fails is logged, in its process
    assert_same(many, alone)
    assert CALLS[0] == "prepare"
    assert n_jobs == 2 or max(CALLS[1:]) >= 4


@pytest.mark.parametrize("perturbation", [hf.Noise(4, 0.5), hf.NewSeeds(3)], ids=str)
def test_where_data_change_a_batched_selector_is_fitted_one_by_one(perturbation):
    CALLS.clear()
    result = batched(perturbation=perturbation).run(X, Y)
    assert set(CALLS) == {"prepare"}
    assert_same(result, batched(OneByOne, perturbation=perturbation).run(X, Y))


def test_what_splits_share_is_prepared_for_every_family_that_has_work_left(tmp_path):
    until, store = hf.TargetPrecision(0.1, pilot=5, cap=14), tmp_path / "s.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study_of({"one": Batched()}).run(X, Y, until=hf.TargetPrecision(3, pilot=5, cap=5), store=store)
        both = study_of({"one": Batched(), "two": Batched(2)}).run(X, Y, until=until, store=store)
    assert both.complete
    assert both.failures.empty
    assert len(both.stored.splits) > 5


# What is told


def test_a_result_tells_where_it_comes_from(tmp_path):
    store = tmp_path / "s.db"
    study = study_of(estimator=KNeighborsClassifier(3), prefilter="constant columns dropped")
    result = study.run(X, Y, store=store, command={"target": "y"})
    told = hf.load_study(store).provenance
    assert told == result.provenance
    assert told["prefilter"] == "constant columns dropped"
    assert told["n_splits"] == 5
    assert told["plan"]["data"]["n_samples"] == 60
    assert told["sessions"][0]["versions"]["holdfast"] == hf.__version__
    assert result.stored.meta["command"] == {"target": "y"}
    assert "Study of 1 candidate on 5 splits (bootstrap)" in repr(result)


def test_progress_is_told_to_the_end():
    seen = []
    run_with_failures(full(n=3), X, Y, progress=seen.append)
    assert (seen[0].done, seen[0].total) == (0, 18)
    assert (seen[-1].done, seen[-1].total) == (18, 18)
    assert [one.done for one in seen] == sorted(one.done for one in seen)


def test_tables_are_exported(tmp_path):
    result = run_with_failures(full(), X, Y.astype(str))
    files = result.export(tmp_path / "out")
    assert sorted(path.stem for path in files) == [
        "failures", "features", "predictions", "scores", "selections", "splits", "summary",
    ]  # fmt: skip
    selections = pd.read_parquet(tmp_path / "out" / "selections.parquet")
    mine = selections[selections["candidate"] == "anova(k=3)"].groupby("run")["feature"].apply(set)
    assert mine.loc["bootstrap 0"] == set(selected_names(result, "anova(k=3)")[0])


# Bad input


class OnlyFits:
    def fit(self, X, y):
        return self


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: hf.Study(selectors={}),
            "Expected at least one selector: a mapping from name to estimator, a list, or a single one; got {}.",
        ),
        (lambda: hf.Study(selectors=[]), "or a single one; got {}."),
        (lambda: hf.Study(selectors="anova"), "Expected a scikit-learn estimator as selector, got 'anova'."),
        (lambda: study_of({"a": SelectKBest}), "make one of it by calling the class."),
        (lambda: study_of({"a": 7}), "Expected a scikit-learn estimator as selector, got 7."),
        (lambda: study_of(random_state=None), "Expected a whole number of at least 0 as random_state"),
        (
            lambda: study_of(task="clustering"),
            "Expected task 'classification', 'regression' or 'survival', got 'clustering'.",
        ),
        (lambda: study_of(covariates=["f1"]), "Expected an estimator for covariates=['f1']"),
        (lambda: study_of(perturbation=5), "Expected a perturbation such as hf.Bootstrap(100)"),
        (lambda: hf.Candidates(anova(), {"size": [1]}), "Expected a parameter of SelectKBest in the grid, got 'size'"),
        (lambda: hf.Candidates(anova(), {"k": 3}), "Expected a list of values for 'k' in the grid, got 3."),
        (lambda: hf.Candidates(anova(), {"k": "all"}), "Expected a list of values for 'k' in the grid, got 'all'."),
        (
            lambda: hf.Candidates(anova(), sizes=0),
            "Expected sizes to be a whole number of at least 1, or several, got 0.",
        ),
        (
            lambda: hf.Candidates(anova(), sizes=[2, 2.5]),
            "Expected sizes to be a whole number of at least 1, or several",
        ),
        (lambda: hf.Candidates(anova(), {"k": []}), "Expected at least one value for 'k' in the grid, got none."),
        (
            lambda: hf.Candidates(anova(), sizes=[]),
            "Expected sizes to be a whole number of at least 1, or several, got []",
        ),
        (lambda: hf.Candidates(anova(), sizes=b"x"), "Expected sizes to be a whole number of at least 1, or several"),
        (lambda: hf.Candidates(anova(), sizes=True), "Expected sizes to be a whole number of at least 1, or several"),
        (lambda: hf.Candidates(anova(), sizes=10**29), "Expected sizes of at most 2,147,483,647 features, got 1000"),
        (lambda: study_of({"a": hf.Candidates(anova(), {"k": [1, 1]})}), "got 'a(k=1)' twice; change the grid."),
        (lambda: hf.TargetPrecision(0), "Expected a finite half width above 0, got 0."),
        (lambda: hf.TargetPrecision(np.inf), "Expected a finite half width above 0, got inf."),
        (lambda: hf.TargetPrecision(True), "Expected a finite half width above 0, got True."),
        (lambda: hf.TargetPrecision("0.1"), "Expected a finite half width above 0, got '0.1'."),
        (lambda: hf.TargetPrecision(0.1, pilot=2), "Expected a pilot of 3 resamples to cap=1000, got 2."),
        (lambda: hf.TargetPrecision(0.1, pilot=3.5), "Expected a pilot of 3 resamples to cap=1000, got 3.5."),
        (lambda: hf.TargetPrecision(0.1, cap=np.inf), "Expected cap to be a whole number of at least 3, got inf."),
        (lambda: hf.TargetPrecision(0.1, measure="none"), "Expected the name of a measure, got 'none'."),
        (lambda: hf.TargetPrecision(0.1, level=95), "Expected a level between 0 and 1"),
        (lambda: study_of().run(X, Y, on_error="stop"), "Expected on_error 'record' or 'raise', got 'stop'."),
        (lambda: study_of().run(X, Y, until=0.05), "Expected until=hf.TargetPrecision(…), got 0.05."),
        (lambda: study_of().run(X, Y, time_limit=0), "Expected a time limit above 0 seconds, got 0."),
        (lambda: study_of().run(X, Y[:-1]), "Expected one label or number in y for each of 60 rows of X, got 59."),
        (
            lambda: study_of().run(X, X),
            "Expected one label or number in y for each row, got an array of shape (60, 12).",
        ),
        (lambda: study_of().run(X, Y, groups=[1]), "Expected one group in groups for each of 60 rows of X, got 1."),
        (lambda: study_of().run(X["f1"].to_numpy(), Y), "Expected X with one row per sample and one column per"),
        (lambda: study_of().run(X.iloc[:, :0], Y), "Expected X with one row per sample and one column per feature"),
        (lambda: study_of().run(X.iloc[:0], Y[:0]), "Expected X with one row per sample and one column per feature"),
        (lambda: study_of().run(X, np.where(Y, np.nan, 1)), "Expected a label or number in y for every row, got none"),
        (
            lambda: study_of().run(X, [*Y[:-1], "a"]),
            "Expected labels of one kind in y, got number (row 0) and text (row 59)",
        ),
        (lambda: study_of().run(pd.concat([X, X], axis=1), Y), "f0"),
        (
            lambda: study_of(estimator=LogisticRegression(), covariates=["age"]).run(X, Y),
            "Expected columns of X in covariates=, ",
        ),
        (
            lambda: study_of(estimator=LogisticRegression(), covariates="f1"),
            "Expected a list of columns as covariates=, got 'f1'.",
        ),
        (
            lambda: study_of(estimator=LogisticRegression(), covariates=list(X)).run(X, Y),
            "Expected features to choose from",
        ),
        (lambda: study_of({"a": OnlyFits()}), "; derive its class from sklearn.base.BaseEstimator."),
        (lambda: study_of(scoring=[own_score, own_score]).run(X, Y), "got 'own_score' twice; give a mapping from name"),
        (lambda: study_of(scoring="exactness").run(X, Y), "Expected scoring by names (accuracy, balanced_accuracy,"),
        (lambda: study_of(perturbation=hf.Folds(70)).run(X, Y), "Expected at least 70 rows for Folds("),
        (lambda: study_of(perturbation=hf.Noise(2)).run(sp.csr_matrix(X), Y), "Expected a dense X for Noise("),
        (
            lambda: study_of(perturbation=hf.Folds(3)).run(X, Y, until=hf.TargetPrecision(0.1)),
            "Expected resamples that are drawn one by one for until=",
        ),
        (lambda: study_of().run(X, Y, n_jobs=0), "Expected n_jobs to be a whole number other than 0, got 0."),
        (
            lambda: study_of().run(X, Y, store="/nowhere/s.db"),
            "Expected a folder for the store /nowhere/s.db, got none",
        ),
        (lambda: study_of().run(X, Y).stability("none"), "Expected one of the candidates anova, got 'none'."),
        (lambda: study_of().run(X, Y).compare(), "Expected at least two candidates to compare, got 1."),
        (
            lambda: study_of().run(X, Y).stability("anova", ["nogueira", "jaccard"]),
            "Expected the name of a measure or a Measure, got ['nogueira', 'jaccard'].",
        ),
        (lambda: study_of().run(X, Y).compare(-1), "Expected a list of names as candidates=, got -1."),
        (lambda: study_of().run(X, Y).pareto(candidates=-1), "Expected a list of names as candidates=, got -1."),
        (lambda: study_of().run(X, Y).summary(candidates=-1), "Expected a list of names as candidates=, got -1."),
        (lambda: study_of().run(X, Y).summary(np.nan), "Expected the name of a measure or a Measure, got nan."),
        (lambda: study_of().run(X, Y).summary([]), "Expected at least one measure, got none."),
        (
            lambda: study_of().run(X, Y).summary(["jaccard"], beta=1),
            "Expected parameters of jaccard (none), got 'beta'.",
        ),
        (
            lambda: study_of().run(X, Y).fraction_profile(["anova"]),
            "Expected a study with hf.NestedSubsamples, got one of runs.",
        ),
        (lambda: hf.load_study("/nowhere/s.db"), "Expected a study's store, got no file at /nowhere/s.db."),
    ],
)
def test_bad_input_is_told_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_several_measures_are_rows_of_a_summary():
    selectors = {"anova": anova(), "weights": LogisticRegression(), "lost": Raising(-9)}
    result = run_with_failures(study_of(selectors, estimator=KNeighborsClassifier(3)), X, Y)
    found = result.summary(["nogueira", "jaccard", "zucknick"], X=X, threshold=0.8)
    assert found.index.names == ["candidate", "measure"]
    assert found.index.get_level_values("measure").tolist() == ["nogueira", "jaccard", "zucknick(threshold=0.8)"] * 3
    for measure, parameters in (("nogueira", {}), ("jaccard", {}), ("zucknick", {"threshold": 0.8, "X": X})):
        alone = result.summary(measure, **parameters)
        label = result.stability("anova", measure, **parameters).measure
        mine = found.xs(label, level="measure")
        pd.testing.assert_frame_equal(mine, alone.drop(columns="measure"))
    assert found["top"].dropna().to_dict() == {
        ("weights", measure): 3 for measure in ("nogueira", "jaccard", "zucknick(threshold=0.8)")
    }


@pytest.mark.parametrize("perturbation", [hf.Bootstrap(6), hf.ComplementaryPairs(3)], ids=str)
def test_a_failed_candidate_is_left_out_of_a_comparison(perturbation):
    selectors = {"three": anova(3), "lost": Raising(-9), "six": anova(6)}
    result = run_with_failures(study_of(selectors, perturbation=perturbation), X, Y)
    with pytest.warns(UserWarning, match=r"lost has fewer than two finished fits and is left out of"):
        found = result.compare()
    assert list(found.estimates) == ["three", "six"]
    pd.testing.assert_frame_equal(found.pairs, result.compare(["three", "six"]).pairs)
    with pytest.raises(ValueError, match=r"lost has no finished fits; the table \.failures says why"):
        result.compare(["three", "lost"])


def test_candidates_without_common_splits_are_not_compared():
    sets = [[0, 1], [0, 2], [0, 1], [0, 3]]
    result = make_result(
        {"a": {"sets": sets}, "b": {"sets": [None, None, *sets[2:]]}, "c": {"sets": [*sets[:3], None]}}
    )
    with pytest.raises(
        ValueError, match=r"two splits that all candidates finished, got 1; b finished 2: choose others"
    ):
        result.compare()
    assert len(result.compare(["a", "c"]).pairs) == 1


def test_scores_have_rows_for_what_was_scored_alone():
    selectors = {"kept": anova(), "lost": Raising()}
    study = study_of(selectors, perturbation=hf.Bootstrap(12), estimator=KNeighborsClassifier(3))
    result = run_with_failures(study, X, Y)
    assert len(result.failures) == 3
    assert len(result.scores) == 2 * 12 - 3
    assert result.scores.notna().all(axis=None)


def test_selectors_without_names_are_named_after_their_classes():
    selectors = [hf.selectors.AnovaF(3), SelectKBest(k=3), hf.Candidates(SelectKBest(), {"k": [1, 2]})]
    study = study_of(selectors)
    assert list(study.selectors) == ["anova", "select_k_best", "select_k_best_2"]
    names = [name for family in study.families for name in family.names]
    assert names == ["anova", "select_k_best", "select_k_best_2(k=1)", "select_k_best_2(k=2)"]
    piped = make_pipeline(StandardScaler(), SelectKBest(k=3), KNeighborsClassifier())
    assert list(study_of(piped).selectors) == ["select_k_best"]
    assert list(study_of(iter([piped])).selectors) == ["select_k_best"]
    assert run_with_failures(study_of(SelectKBest(k=3)), X, Y).candidates == ["select_k_best"]


class SupportAlone(BaseEstimator):
    """Selects as some packages outside scikit-learn tell it: by ``support_`` and no ``get_support``."""

    def fit(self, X, y):
        self.support_ = np.arange(np.shape(X)[1]) < 3
        self.ranking_ = np.arange(1, np.shape(X)[1] + 1)
        return self

    def transform(self, X):
        return np.asarray(X)[:, self.support_]


def test_a_support_alone_is_understood_but_not_that_of_a_support_vector_machine():
    found = read_selection(SupportAlone().fit(X, Y), [f"x{place}" for place in range(X.shape[1])])
    assert found.kind == "subset"
    assert found.values.tolist() == [0, 1, 2]
    names = [f"x{place}" for place in range(X.shape[1])]
    piped = make_pipeline(SupportAlone(), LogisticRegression()).fit(X, Y)
    assert read_selection(piped, names).values.tolist() == [0, 1, 2]
    assert read_selection(SVC(kernel="linear").fit(X, Y), names).kind == "weighting"  # support_ are rows


@pytest.mark.parametrize("model", [KNeighborsClassifier(3), DecisionTreeClassifier(max_depth=2)])
@pytest.mark.parametrize(("score", "other"), [("roc_auc", "roc_auc_ovr"), ("f1", "f1_macro")])
def test_a_score_for_two_classes_says_that_it_failed_and_which_would_do(score, other, model):
    study = hf.Study(anova(), hf.Bootstrap(3), estimator=model, scoring=score)
    with pytest.warns(UserWarning, match=f"the score {score} failed: it is for two classes, .* for more take {other}"):
        result = study.run(X, np.arange(60) % 4)
    words = f"; the score {score} failed: it is for two classes, and there are 4; for more take {other}"
    assert result.failures["error"].str.contains(words).all()
    assert "Traceback" in result.failures["traceback"][0]
    assert not np.isnan(result.stability("select_k_best").value)
