"""Columns made of others, groups of features, and what else belongs together in a table."""

import json
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, SplineTransformer, StandardScaler

import holdfast as hf
from holdfast.io.estimators import read_selection
from holdfast.kernels.covariates import residuals
from holdfast.report import summarize
from holdfast.selectors import (
    MRMR,
    SELECTORS,
    AnovaF,
    ElasticNetCV,
    ElasticNetPath,
    Golub,
    HybridRFE,
    ReliefF,
    RReliefF,
    StabilitySelection,
)
from holdfast.study.data import group_columns
from holdfast.study.named import named_selectors
from holdfast.study.store import open_to_write
from holdfast.study.store.schema import EFFECTS

NUMBERS = [f"x{column}" for column in range(5)]


def make_people(n=90, seed=0):
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(rng.normal(size=(n, 5)), columns=NUMBERS)
    people["city"] = rng.choice(["Basel", "Bern", "Chur"], n)
    people["kind"] = pd.Categorical(rng.choice(["u", "v"], n))
    ill = np.where(people["x0"] + 2 * (people["city"] == "Bern") + rng.normal(size=n) / 2 > 0.7, "ill", "well")
    people.loc[3:9, "x1"] = np.nan
    return people, ill


PEOPLE, ILL = make_people()


def standard_pipeline(select=None, numbers=None):
    prepare = ColumnTransformer(
        [
            ("cat", OneHotEncoder(handle_unknown="ignore"), ["city", "kind"]),
            ("num", numbers or make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
        ]
    )
    select = select or SelectFromModel(RandomForestClassifier(15, random_state=0))
    return make_pipeline(prepare, select, LogisticRegression())


# Columns made of others


def test_the_standard_pipeline_counts_made_columns_for_their_sources():
    pipeline = standard_pipeline()
    result = hf.Study({"standard": pipeline}, hf.Bootstrap(20)).run(PEOPLE, ILL)
    assert result.failures.empty
    assert result.scores["accuracy"].notna().all()
    runs, made = result.preferences("standard"), result.stored.members.set_index("split")["columns"]
    for run, split in enumerate(result.splits.itertuples()):
        rows = np.repeat(split.train_rows, split.train_counts)
        fitted = clone(pipeline).fit(PEOPLE.iloc[rows], ILL[rows])
        names = [name.partition("__")[2] for name in fitted[:-1].get_feature_names_out()]
        assert set(runs.selected(run)) == {name.partition("_")[0] for name in names}
        assert all((name in made.loc[run]) == (name in names) for name in ("city_Bern", "city_Basel", "kind_u"))
    members = result.members("standard").set_index("column")
    assert set(members["feature"]) <= {"city", "kind"}
    assert (members["frequency"] <= members["feature_frequency"]).all()
    shown = sum('"city_Bern"' in text for text in made)
    assert members.loc["city_Bern", "frequency"] == shown / 20
    assert members.loc["city_Bern", "low"] < members.loc["city_Bern", "frequency"]


def test_sizes_count_sources_of_made_columns():
    study = hf.Study({"best": hf.Candidates(standard_pipeline(SelectKBest(k=4))[:-1], sizes=[1, 2])}, hf.Bootstrap(10))
    result = study.run(PEOPLE, ILL)
    assert result.preferences("best(size=2)").sizes.tolist() == [2] * 10
    assert result.preferences("best(size=1)").frequency[result.feature_names.index("city")] > 0.5


@pytest.mark.parametrize(
    ("step", "sources"),
    [
        (OneHotEncoder(drop="first", sparse_output=False), [0, 0, 1]),
        (ColumnTransformer([("o", OneHotEncoder(), [1])], remainder="passthrough"), [1, 1, 0]),
        (ColumnTransformer([("drop", "drop", [0]), ("same", "passthrough", slice(1, 2))]), [1]),
        (FeatureUnion([("a", OneHotEncoder()), ("b", OneHotEncoder(drop="first"))]), [0, 0, 0, 1, 1, 0, 0, 1]),
        (make_pipeline(OneHotEncoder(sparse_output=False), StandardScaler()), [0, 0, 0, 1, 1]),
    ],
    ids=str,
)
def test_steps_are_followed_to_the_sources_of_what_they_make(step, sources):
    X = np.array([["a", "u"], ["b", "v"], ["c", "u"], ["a", "v"]] * 5, dtype=object)
    y = np.array([0, 1, 1, 0] * 5)
    pipeline = make_pipeline(step, LogisticRegression())
    if isinstance(step, ColumnTransformer) and step.transformers[0][0] == "drop":
        X = np.column_stack([X[:, 0], np.where(X[:, 1] == "u", 0.0, 1.0)])
    elif isinstance(step, ColumnTransformer):
        X = np.column_stack([np.where(X[:, 0] == "a", 0.0, 1.0), X[:, 1]])
    fitted = pipeline.fit(X, y)
    weights = read_selection(fitted, ["first", "second"]).values
    by_source = [np.abs(fitted[-1].coef_[0][np.array(sources) == source]) for source in (0, 1)]
    np.testing.assert_allclose(weights, [part.max(initial=0) for part in by_source])


def test_words_of_a_single_column_count_for_it():
    text = pd.DataFrame({"notes": ["old ill", "young well", "old", "young ill now"], "age": [1.0, 5.0, 2.0, 4.0]})
    words = ColumnTransformer([("words", CountVectorizer(), "notes"), ("age", "passthrough", ["age"])])
    fitted = make_pipeline(words, LogisticRegression()).fit(text, [0, 1, 0, 1])
    weights = np.abs(fitted[-1].coef_[0])
    np.testing.assert_allclose(read_selection(fitted, ["notes", "age"]).values, [weights[:-1].max(), weights[-1]])


class Products(TransformerMixin, BaseEstimator):
    """A step that multiplies columns and does not say so by scikit-learn's classes."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.asarray(X)[:, :1] * np.asarray(X)[:, 1:]

    def get_feature_names_out(self, names):
        return np.array([f"{names[0]}*{name}" for name in names[1:]], dtype=object)


@pytest.mark.parametrize("step", [PCA(3), PolynomialFeatures(2), Products()], ids=lambda step: type(step).__name__)
def test_a_step_that_mixes_columns_is_refused_before_the_first_fit(step, tmp_path):
    pipeline = standard_pipeline(numbers=make_pipeline(SimpleImputer(), step))
    with pytest.raises(ValueError, match=f"before the selection in mixed that .* got {type(step).__name__}, which"):
        hf.Study({"mixed": pipeline}, hf.Bootstrap(5)).run(PEOPLE, ILL, store=tmp_path / "s.db")
    assert not (tmp_path / "s.db").exists()


def test_a_step_that_mixes_columns_after_the_selection_is_no_concern():
    pipeline = make_pipeline(SimpleImputer(), SelectKBest(k=2), LogisticRegression())
    after = make_pipeline(SimpleImputer(), SplineTransformer(3), SelectKBest(k=2), LogisticRegression())
    result = hf.Study({"plain": pipeline, "splines": after}, hf.Bootstrap(5)).run(PEOPLE[NUMBERS], ILL)
    assert result.members("plain").empty
    assert set(result.members("splines")["feature"]) <= set(NUMBERS)
    assert result.members("splines")["column"].str.contains("_sp_").all()


# Groups of features

TABLE = pd.DataFrame(np.random.default_rng(1).normal(size=(80, 12)), columns=[f"g{i // 3}.{i % 3}" for i in range(12)])
TABLE += np.repeat(np.random.default_rng(2).normal(size=(80, 4)), 3, axis=1)
Y = (TABLE["g0.0"] + TABLE["g2.1"] + np.random.default_rng(3).normal(size=80) > 0).to_numpy()
GROUPS = {f"g{group}": [f"g{group}.{member}" for member in range(3)] for group in range(4)}
GROUP_OF = {member: group for group, members in GROUPS.items() for member in members}


def rename(names):
    return list(dict.fromkeys(GROUP_OF.get(name, name) for name in names))


def test_groups_equal_columns_renamed_by_hand():
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=4), LogisticRegression())
    columns, groups = (
        hf.Study({"best": pipeline}, hf.Bootstrap(30), feature_groups=given).run(TABLE, Y) for given in (None, GROUPS)
    )
    runs = columns.preferences("best")
    by_hand = hf.Preferences.from_sets([set(rename(runs.selected(run))) for run in range(30)], features=list(GROUPS))
    selected = groups.preferences("best")
    assert [selected.selected(run) for run in range(30)] == [by_hand.selected(run) for run in range(30)]
    assert groups.stability("best").value == hf.stability(by_hand).value
    members = groups.members("best").set_index("column")["frequency"]
    np.testing.assert_allclose(members, pd.Series(runs.frequency, runs.names)[members.index])


@pytest.mark.parametrize(
    "selector", [AnovaF(2), ReliefF(2), HybridRFE(n_features=2), MRMR(2), ElasticNetPath(n_features=2)], ids=str
)
def test_sizes_count_groups_in_the_order_of_their_best_columns(selector):
    order = clone(selector).set_params(n_features=12)
    everything = hf.Study(
        {"one": hf.Candidates(order, sizes=range(1, 13), keep="order")}, hf.Bootstrap(6), random_state=1
    ).run(TABLE, Y)
    grouped = hf.Study({"one": selector}, hf.Bootstrap(6), feature_groups=GROUPS, random_state=1).run(TABLE, Y)
    for run in range(6):
        best = []
        for size in range(1, 13):
            chosen = everything.preferences(f"one(size={size})").selected(run)
            best += [name for name in chosen if name not in best]
        wanted = rename(best)[:2]
        assert set(grouped.preferences("one").selected(run)) == set(wanted)


def test_the_mean_of_its_columns_can_weigh_a_group():
    study = hf.Study({"f": hf.Candidates(AnovaF(1), keep="weights")}, hf.Bootstrap(3), feature_groups=GROUPS)
    columns = hf.Study({"f": hf.Candidates(AnovaF(1), keep="weights")}, hf.Bootstrap(3)).run(TABLE, Y)
    f = columns.preferences("f", kind="weighting").matrix()[0].reshape(4, 3)
    largest = study.run(TABLE, Y).preferences("f", kind="weighting").matrix()[0]
    np.testing.assert_allclose(largest, f.max(axis=1), rtol=1e-6)
    mean = hf.Study(
        {"f": hf.Candidates(AnovaF(1), keep="weights")}, hf.Bootstrap(3), feature_groups=GROUPS, group_weight="mean"
    ).run(TABLE, Y)
    np.testing.assert_allclose(mean.preferences("f", kind="weighting").matrix()[0], f.mean(axis=1), rtol=1e-6)


def test_models_get_all_columns_of_a_group():
    seen = []

    class Counting(LogisticRegression):
        def fit(self, X, y):
            seen.append(X.shape[1])
            return super().fit(X, y)

    hf.Study({"f": AnovaF(2)}, hf.Bootstrap(3), estimator=Counting(), feature_groups=GROUPS).run(TABLE, Y)
    assert seen == [6, 6, 6]
    model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=10_000))
    fast, slow = (
        hf.Study({"f": AnovaF(2)}, hf.Bootstrap(5), estimator=model, feature_groups=GROUPS, fast_models=fast)
        .run(TABLE, Y).scores["accuracy"]
        for fast in (True, False)
    )  # fmt: skip
    assert fast.tolist() == slow.tolist()


def test_groups_are_given_in_four_ways(tmp_path):
    series = pd.Series(GROUP_OF).drop("g3.0")
    listed = [GROUP_OF[name] for name in TABLE.columns]
    path = tmp_path / "groups.csv"
    pd.Series(GROUP_OF).reset_index().to_csv(path, index=False)
    expected = group_columns(GROUPS, list(TABLE.columns))
    assert group_columns(listed, list(TABLE.columns)).feature_of.tolist() == expected.feature_of.tolist()
    assert group_columns(series, list(TABLE.columns)).names == ["g0", "g1", "g2", "g3.0", "g3"]
    assert hf.Study(AnovaF(), feature_groups=path).feature_groups == GROUPS
    table = hf.read_table(TABLE.assign(y=np.where(Y, "a", "b")), "y", feature_groups=str(path))
    result = hf.Study({"f": AnovaF(2)}, hf.Bootstrap(3)).run(table)
    assert result.feature_names == list(GROUPS)
    assert any(note.startswith("12 columns form 4 groups, each selected") for note in result.data.notes)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": ["g0.0", "nowhere"]}, "got 'nowhere' in 'g', which is none of the 12 columns"),
        ({"g": []}, "got none in 'g'"),
        ({"a": ["g0.0", "g0.1"], "b": ["g0.1"]}, "Expected groups without columns in common .* got 'g0.1' in 'a' and"),
        ({"g1.0": ["g0.0", "g0.1"]}, "got 'g1.0' for both"),
        (["a", "b"], "Expected a group for each of 12 columns in feature_groups=, got 2"),
        (pd.Series(["a", "b"], ["g0.0", "g0.0"]), "got 'g0.0' twice"),
    ],
)
def test_groups_that_cannot_be_are_refused_in_a_sentence(groups, message):
    with pytest.raises(ValueError, match=message):
        hf.Study(AnovaF(2), feature_groups=groups).run(TABLE, Y)


def test_a_store_of_other_groups_is_refused_and_an_older_one_is_completed(tmp_path):
    path = tmp_path / "s.db"
    hf.Study({"f": AnovaF(2)}, hf.Bootstrap(4)).run(TABLE, Y, store=path)
    with closing(sqlite3.connect(path)) as connection:  # as stores were before groups
        connection.execute("DROP TABLE members")
        connection.execute("DELETE FROM totals WHERE name = 'members'")
        connection.commit()
    assert hf.load_study(path).members("f").empty
    assert hf.Study({"f": AnovaF(2)}, hf.Bootstrap(6)).run(TABLE, Y, store=path).n_splits == 6
    assert hf.load_study(path).n_splits == 6
    with pytest.raises(hf.study.StoreError, match="feature_groups was None and is now"):
        hf.Study({"f": AnovaF(2)}, hf.Bootstrap(6), feature_groups=GROUPS).run(TABLE, Y, store=path)


# Weights of rows

WEIGHTS = np.random.default_rng(4).integers(1, 5, 80)
FOLDS = [(np.flatnonzero(np.arange(80) % 4 != fold), np.flatnonzero(np.arange(80) % 4 == fold)) for fold in range(4)]
REPEATED = np.repeat(np.arange(80), WEIGHTS)
LOGISTIC = LogisticRegression(tol=1e-10, max_iter=10_000)


def repeated_folds():
    return [tuple(np.flatnonzero(np.isin(REPEATED, rows)) for rows in fold) for fold in FOLDS]


@pytest.mark.parametrize(
    "selector",
    [
        AnovaF(3),
        ReliefF(3),
        HybridRFE(n_features=3),
        ElasticNetPath(n_features=3),
        make_pipeline(StandardScaler(), SelectFromModel(LOGISTIC), LOGISTIC),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_whole_weights_equal_repeated_rows(selector):
    model = make_pipeline(StandardScaler(), LOGISTIC)
    scoring = ["accuracy", "neg_log_loss"]
    weighted = hf.Study({"one": selector}, FOLDS, estimator=model, scoring=scoring).run(TABLE, Y, sample_weight=WEIGHTS)
    repeated = hf.Study({"one": selector}, repeated_folds(), estimator=model, scoring=scoring, fast_models=False).run(
        TABLE.iloc[REPEATED], Y[REPEATED], treat_as_feature=True
    )
    runs = [result.preferences("one") for result in (weighted, repeated)]
    assert [runs[0].selected(run) for run in range(4)] == [runs[1].selected(run) for run in range(4)]
    np.testing.assert_allclose(weighted.scores[scoring], repeated.scores[scoring], rtol=1e-5)
    guesses = [result.guessing_scores("neg_log_loss") for result in (weighted, repeated)]
    np.testing.assert_allclose(guesses[0], guesses[1], rtol=1e-9)


def test_weights_of_any_size_count_by_their_ratio():
    study = hf.Study({"f": AnovaF(3)}, hf.Bootstrap(10), estimator=LOGISTIC, scoring="accuracy")
    whole = study.run(TABLE, Y, sample_weight=WEIGHTS)
    halves = study.run(TABLE, Y, sample_weight=WEIGHTS / 2)
    plain = study.run(TABLE, Y)
    runs = [[result.preferences("f").selected(run) for run in range(10)] for result in (whole, halves, plain)]
    assert runs[0] == runs[1] != runs[2]
    assert any(note.startswith("Rows have weights, from 0.5 to 2") for note in halves.data.notes)


@pytest.mark.parametrize(
    ("study", "weights", "message"),
    [
        (hf.Study(AnovaF(3)), [0.0, *[1] * 79], r"got 0 in row 0 \(1 such\)"),
        (hf.Study(AnovaF(3)), [np.nan] * 80, r"got nan in row 0 \(80 such\)"),
        (hf.Study(AnovaF(3)), [1, 2], "Expected one weight for each of 80 rows"),
        (hf.Study(AnovaF(3)), ["a"] * 80, "Expected numbers above 0"),
        (hf.Study({"relief": ReliefF(3)}), [0.5] * 80, r"weights of any size .* got relief \(ReliefF\)"),
        (hf.Study({"best": SelectKBest(k=3)}), [1] * 80, r"got best \(SelectKBest\)"),
        (hf.Study(AnovaF(3), estimator=KNeighborsClassifier(3)), [1] * 80, r"got the model \(KNeighborsClassifier\)"),
        (
            hf.Study(AnovaF(3), estimator=LOGISTIC, scoring={"own": lambda model, X, y: 1.0}),
            [1] * 80,
            "got 'own', which does not",
        ),
    ],
)
def test_weights_that_cannot_be_used_are_refused_before_the_first_fit(study, weights, message):
    with pytest.raises(ValueError, match=message):
        study.run(TABLE, Y, sample_weight=weights)


def test_weights_are_a_column_of_a_table(tmp_path):
    frame = TABLE.assign(y=np.where(Y, "a", "b"), w=WEIGHTS)
    table = hf.read_table(frame, "y", weights="w")
    study = hf.Study({"f": AnovaF(3)}, hf.Bootstrap(5))
    from_table, from_arrays = study.run(table), study.run(TABLE, table.y, sample_weight=WEIGHTS)
    assert from_table.plan["sample_weight"] == from_arrays.plan["sample_weight"]
    assert from_table.feature_names == list(TABLE.columns)


# Covariates and sites

SITES = np.repeat(["north", "south", "west", "east"], 20)
ADJUSTED = TABLE.assign(age=np.random.default_rng(5).normal(size=80))
ADJUSTED["g1.0"] += 3 * ADJUSTED["age"] + 2 * (SITES == "west")
NUMBER = TABLE["g0.0"] + ADJUSTED["age"] + np.random.default_rng(6).normal(size=80)


def residual_squares(design, values):
    return ((values - design @ np.linalg.lstsq(design, values, rcond=None)[0]) ** 2).sum(axis=0)


def partial_f_by_definition(X, target, covariates):
    """F of the target's columns in least squares of each feature, by two models fitted to repeated rows."""
    without = np.column_stack([np.ones(len(X)), covariates])
    full = np.column_stack([without, target])
    rank = np.linalg.matrix_rank(full)
    before, after = residual_squares(without, X), residual_squares(full, X)
    gained = rank - np.linalg.matrix_rank(without)
    return (before - after) / gained / (after / (len(X) - rank))


def design_of(frame, sites=SITES):
    return np.column_stack([frame["age"], sites[:, None] == np.unique(sites)[1:]])


@pytest.mark.parametrize("classes", [2, 3])
def test_the_adjusted_f_value_is_that_of_two_nested_models(classes):
    y = np.digitize(NUMBER, np.quantile(NUMBER, np.arange(1, classes) / classes))
    selectors = {"ours": hf.Candidates(AnovaF(12), keep="weights"), "sklearn": SelectKBest(k=5)}
    study = hf.Study(selectors, hf.Bootstrap(6), covariates=["age"], estimator=LOGISTIC)
    result = study.run(ADJUSTED, y, sites=SITES)
    assert result.plan["adjust"] is True
    weights = result.preferences("ours", kind="weighting").matrix()
    for run, split in enumerate(result.splits.itertuples()):
        rows = np.repeat(split.train_rows, split.train_counts)
        target = (y[:, None] == np.unique(y)[1:])[rows]
        expected = partial_f_by_definition(features_at(rows), target, design_of(ADJUSTED)[rows])
        np.testing.assert_allclose(weights[run], expected, rtol=1e-5)
        best = set(np.argsort(-expected)[:5])
        assert {result.feature_names.index(name) for name in result.preferences("sklearn").selected(run)} == best


def features_at(rows):
    return ADJUSTED[TABLE.columns].to_numpy()[rows]


def test_correlation_is_partial_next_to_covariates():
    study = hf.Study(SelectKBest(f_regression, k=4), FOLDS, covariates=["age"], estimator=Ridge())
    result = study.run(ADJUSTED, NUMBER)
    for run, (rows, _) in enumerate(FOLDS):
        left = [
            values - values.mean(axis=0) - np.outer(age, age @ values) / (age @ age)
            for age in [ADJUSTED["age"].to_numpy()[rows] - ADJUSTED["age"].to_numpy()[rows].mean()]
            for values in (features_at(rows), NUMBER.to_numpy()[rows, None])
        ]
        correlation = np.abs(np.corrcoef(left[0].T, left[1].T)[-1, :-1])
        best = {TABLE.columns[column] for column in np.argsort(-correlation)[:4]}
        assert set(result.preferences("select_k_best").selected(run)) == best


def test_the_lasso_leaves_covariates_without_a_penalty():
    strength = 0.15
    study = hf.Study(ElasticNetPath(strength), FOLDS, covariates=["age"], estimator=Ridge())
    result = study.run(ADJUSTED, NUMBER, sites=SITES)
    for run, (rows, _) in enumerate(FOLDS):
        X, y, Z = features_at(rows), NUMBER.to_numpy()[rows], np.column_stack([np.ones(60), design_of(ADJUSTED)[rows]])
        left = X - Z @ np.linalg.lstsq(Z, X, rcond=None)[0]
        scaled, gamma, beta = X / left.std(axis=0), np.zeros(Z.shape[1]), np.zeros(12)
        for _ in range(2000):  # coordinate descent on all columns, those of Z without a penalty
            gamma = np.linalg.lstsq(Z, y - scaled @ beta, rcond=None)[0]
            for column in range(12):
                part = y - Z @ gamma - scaled @ beta + scaled[:, column] * beta[column]
                slope, size = scaled[:, column] @ part / 60, scaled[:, column] @ scaled[:, column] / 60
                beta[column] = np.sign(slope) * max(abs(slope) - strength, 0) / size
        wanted = {TABLE.columns[column] for column in np.flatnonzero(np.abs(beta) > 1e-8)}
        assert set(result.preferences("lasso").selected(run)) == wanted


def descend(X, y, Z, strength, l1_ratio):
    """Logistic elastic net of -1 and 1 by proximal steps on X, with Z fitted anew at each without a penalty."""
    beta, gamma = np.zeros(X.shape[1]), np.zeros(Z.shape[1])
    step = 4 * len(X) / np.linalg.norm(np.column_stack([X, Z]), 2) ** 2
    for _ in range(4000):
        for _ in range(3):
            wrong = 1 / (1 + np.exp(y * (X @ beta + Z @ gamma)))
            gamma += np.linalg.lstsq((Z.T * (wrong * (1 - wrong))) @ Z, Z.T @ (y * wrong), rcond=None)[0]
        wrong = 1 / (1 + np.exp(y * (X @ beta + Z @ gamma)))
        new = beta + step * (X.T @ (y * wrong) / len(X) - strength * (1 - l1_ratio) * beta)
        beta = np.sign(new) * np.maximum(np.abs(new) - step * strength * l1_ratio, 0)
    return beta


@pytest.mark.parametrize(("classes", "l1_ratio"), [(2, 1.0), (2, 0.5), (3, 1.0)])
def test_the_lasso_for_classes_leaves_covariates_without_a_penalty(classes, l1_ratio):
    y, strength = np.digitize(NUMBER, np.quantile(NUMBER, np.arange(1, classes) / classes)), 0.05
    study = hf.Study(ElasticNetPath(strength, l1_ratio=l1_ratio), FOLDS, covariates=["age"], estimator=LOGISTIC)
    result = study.run(ADJUSTED, y, sites=SITES)
    for run, (rows, _) in enumerate(FOLDS):
        X, Z = features_at(rows), np.column_stack([np.ones(60), design_of(ADJUSTED)[rows]])
        scaled, wanted = X / (X - Z @ np.linalg.lstsq(Z, X, rcond=None)[0]).std(axis=0), set()
        for code in range(1 if classes == 2 else 0, classes):
            beta = descend(scaled, np.where(y[rows] == code, 1.0, -1.0), Z, strength, l1_ratio)
            wanted |= {TABLE.columns[column] for column in np.flatnonzero(np.abs(beta) > 1e-8)}
        assert 0 < len(wanted) < 12
        assert set(result.preferences("lasso").selected(run)) == wanted


@pytest.mark.parametrize("y", [NUMBER.round() > 0, NUMBER], ids=["classes", "numbers"])
def test_stability_selection_adjusts_in_every_half(y):
    stable = StabilitySelection(ElasticNetPath(), threshold=0.7, q=3, n_resamples=10, random_state=0)
    study = hf.Study(stable, FOLDS, covariates=["age"], estimator=Ridge() if y is NUMBER else LOGISTIC)
    found = study.run(ADJUSTED, y).preferences("stability_selection").frequency
    # halves are drawn by the order of rows in the first column
    left = ADJUSTED.assign(**{name: residual(ADJUSTED[name]) for name in TABLE.columns[1:]})
    of_residuals = study.run(left, y).preferences("stability_selection").frequency
    plain = replace(study, adjust=False).run(ADJUSTED, y).preferences("stability_selection").frequency
    np.testing.assert_array_equal(found, of_residuals)
    assert (found != plain).any()


def eliminate(X, y, free, n_features, forced=()):
    """Drop a fifth of the features again and again, by plain Newton steps with columns without a penalty."""
    rest = X - free @ np.linalg.lstsq(free, X, rcond=None)[0]
    Z, columns = (X - X.mean(axis=0)) / rest.std(axis=0), np.arange(X.shape[1])
    while columns.size > n_features:
        design, w = np.column_stack([Z[:, columns], free]), np.zeros(columns.size + free.shape[1])
        penalty = np.repeat([1.0, 0.0], [columns.size, free.shape[1]])
        for _ in range(30):
            wrong = 1 / (1 + np.exp(y * (design @ w)))
            slope = penalty * w - design.T @ (y * wrong)
            w -= np.linalg.solve((design.T * (wrong * (1 - wrong))) @ design + np.diag(penalty), slope)
        badness = np.where(np.isin(columns, forced), -np.inf, -np.abs(w[: columns.size]))
        size = max(n_features, columns.size - max(1, columns.size // 5))
        columns = np.sort(columns[np.argsort(badness, kind="stable")[:size]])
    return columns


@pytest.mark.parametrize("criterion", [None, "variance", AnovaF()], ids=["ridge", "variance", "anova"])
def test_recursive_elimination_leaves_covariates_without_a_penalty(criterion):
    y, n_forced = np.where(NUMBER > 0, 1, -1), 0 if criterion is None else 2
    rfe = HybridRFE(4, n_forced=n_forced, criterion="variance" if criterion is None else criterion)
    result = hf.Study(rfe, hf.Bootstrap(6), covariates=["age"], estimator=LOGISTIC).run(ADJUSTED, y, sites=SITES)
    differs = False
    for run, split in enumerate(result.splits.itertuples()):
        rows, forced = np.repeat(split.train_rows, split.train_counts), []
        X, covariates = features_at(rows), design_of(ADJUSTED)[rows]
        free = np.column_stack([np.ones(80), covariates])
        if criterion == "variance":
            forced = np.argsort(-residual_squares(free, X))[:2]
        elif criterion is not None:
            forced = np.argsort(-partial_f_by_definition(X, y[rows, None], covariates))[:2]
        wanted = eliminate(X, y[rows], free, 4, forced)
        assert set(result.preferences("hybrid_rfe").selected(run)) == {TABLE.columns[column] for column in wanted}
        differs |= set(wanted) != set(eliminate(X, y[rows], free[:, :1], 4, forced))
    assert differs


@pytest.mark.parametrize("n_forced", [0, 2])
def test_recursive_elimination_of_numbers_leaves_covariates_without_a_penalty(n_forced):
    """A minimum over weights without a penalty leaves the residuals of all else."""
    rfe = HybridRFE(4, n_forced=n_forced)
    result = hf.Study(rfe, hf.Bootstrap(6), covariates=["age"], estimator=Ridge()).run(ADJUSTED, NUMBER, sites=SITES)
    differs = False
    for run, split in enumerate(result.splits.itertuples()):
        rows = np.repeat(split.train_rows, split.train_counts)
        free = np.column_stack([np.ones(80), design_of(ADJUSTED)[rows]])
        both = np.column_stack([features_at(rows), NUMBER[rows]])
        left = both - free @ np.linalg.lstsq(free, both, rcond=None)[0]
        forced = np.argsort(-(left[:, :-1] ** 2).sum(axis=0))[:n_forced]
        columns, Z = np.arange(left.shape[1] - 1), left[:, :-1] / left[:, :-1].std(axis=0)
        while columns.size > 4:
            w = Ridge(alpha=1.0, fit_intercept=False).fit(Z[:, columns], left[:, -1]).coef_
            badness = np.where(np.isin(columns, forced), -np.inf, -np.abs(w))
            size = max(4, columns.size - max(1, columns.size // 5))
            columns = np.sort(columns[np.argsort(badness, kind="stable")[:size]])
        assert set(result.preferences("hybrid_rfe").selected(run)) == {TABLE.columns[column] for column in columns}
        differs |= set(columns) != set(HybridRFE(4, n_forced=n_forced).fit(both[:, :-1], both[:, -1]).get_support(True))
    assert differs


@pytest.mark.parametrize("y", [NUMBER > 0, NUMBER], ids=["classes", "numbers"])
def test_effects_are_known_before_and_after_adjustment(y):
    y = np.asarray(y)
    is_number = y.dtype.kind == "f"
    selector = SelectKBest(f_regression if is_number else f_classif, k=5)
    study = hf.Study({"best": selector}, FOLDS, covariates=["age"], estimator=Ridge() if is_number else LOGISTIC)
    gaps = ADJUSTED.assign(**{"g3.0": ADJUSTED["g3.0"].where(np.arange(80) != 2, 0.0)})
    result, design, after = study.run(gaps, y, sites=SITES), design_of(gaps), {}
    assert result.adjusted_for == "age and the sites"
    for run, (rows, held_out) in enumerate(FOLDS):
        for name in result.preferences("best").selected(run):
            x = gaps[name].to_numpy()
            fitted = np.column_stack([design, *([] if is_number else [y])])
            left = x - design @ LinearRegression().fit(fitted[rows], x[rows]).coef_[: design.shape[1]]
            if is_number:
                rest = y - design @ LinearRegression().fit(design[rows], y[rows]).coef_
                effect = spearmanr(left[held_out], rest[held_out]).statistic
            else:
                effect = roc_auc_score(y[held_out], left[held_out])
            after.setdefault(name, []).append(effect)
    features = result.features("best")
    frame = features.frame.set_index("feature")
    for name, effects in after.items():
        assert frame.loc[name, "adjusted_effect"] == pytest.approx(np.mean(effects), abs=1e-6)
    several = frame[frame["splits"] > 1]
    assert (several["adjusted_low"] <= several["adjusted_effect"]).all()
    assert (several["adjusted_effect"] <= several["adjusted_high"]).all()
    assert "Adjusted: for age and the sites." in str(features)
    shown = features.to_frame().set_index("feature")
    turned = shown["effect"] != frame["effect"]
    np.testing.assert_allclose(shown["adjusted_low"][turned], 1 - frame["adjusted_high"][turned])


def test_the_report_shows_effects_before_and_after_adjustment(tmp_path):
    confounded = ADJUSTED.assign(copy=ADJUSTED["age"] + np.random.default_rng(9).normal(size=80) / 2)
    study = hf.Study({"noisy": SelectKBest(f_classif, k=9)}, hf.Bootstrap(20), covariates=["age"], estimator=LOGISTIC)
    result = study.run(confounded, ADJUSTED["age"] + Y > 0.5, store=tmp_path / "s.db")
    row = result.features("noisy").to_frame().set_index("feature").loc["copy"]
    assert row["effect_low"] > 0.6  # older people have more of it, and are ill
    assert row["adjusted_low"] < 0.5 < row["adjusted_high"]
    page = result.report(tmp_path / "report.html").read_text()
    assert "what age leaves of the values" in page
    assert f"adjusted {row['adjusted_effect']:.2f}" in page
    summary = json.loads(result.report(tmp_path / "report.json").read_text())["features"]
    assert summary["adjusted_for"] == "age"
    (stored,) = [feature for feature in summary["shown"] if feature["feature"] == "copy"]
    assert stored["adjusted_effect"] == pytest.approx(row["adjusted_effect"])
    text = result.report(tmp_path / "report.md").read_text()
    assert "| adjusted |" in text
    assert "of what age leave" in text
    plain = replace(study, adjust=False).run(confounded, ADJUSTED["age"] + Y > 0.5)
    assert "adjusted_effect" not in plain.features("noisy").frame


def test_a_store_without_adjusted_effects_is_read_with_none(tmp_path):
    study = hf.Study({"best": SelectKBest(f_classif, k=3)}, FOLDS, covariates=["age"], estimator=LOGISTIC)
    study.run(ADJUSTED, Y, store=tmp_path / "s.db")
    with open_to_write(tmp_path / "s.db") as store:
        rows = store._ask("SELECT family, split, features, effects FROM effects")
        cut = [(*row[:3], np.frombuffer(row[3], "<f4").reshape(-1, 4)[:, :2].tobytes()) for row in rows]
        with store.transaction():
            store.write(EFFECTS, cut)
    older = hf.load_study(tmp_path / "s.db")
    frame = older.features("best").frame
    assert frame["effect"].notna().all()
    assert frame["adjusted_effect"].isna().all()


def test_what_covariates_leave_depends_on_no_unit():
    counts, design = np.arange(80) % 3, design_of(ADJUSTED)
    values = np.column_stack([features_at(slice(None)), np.full(80, 3.3), 7 * design[:, 0] + 1e3])
    plain, large = (residuals(values, design * [unit, 1, 1, 1], counts) for unit in (1, 1e13))
    np.testing.assert_allclose(large, plain, atol=1e-12)
    np.testing.assert_allclose((counts * plain.T) @ np.column_stack([np.ones(80), design]), 0, atol=1e-11)
    assert not plain[:, -2:].any()


def residual(values):
    design = np.column_stack([np.ones(80), ADJUSTED["age"]])
    return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]


@pytest.mark.parametrize("covariates", [(), ("age",)])
def test_the_f_value_within_sites_adds_up_the_squares_of_each(covariates):
    y = np.digitize(NUMBER, np.quantile(NUMBER, [1 / 3, 2 / 3]))
    study = hf.Study(
        {"f": hf.Candidates(AnovaF(12), keep="weights")}, hf.Bootstrap(5), covariates=covariates, estimator=LOGISTIC,
        adjust="within",
    )  # fmt: skip
    X = ADJUSTED if covariates else ADJUSTED[TABLE.columns]
    result = study.run(X, y, sites=SITES)
    assert result.plan["adjust"] == "within"
    assert "Features are weighed within sites, in each resample." in result.data.notes
    weights = result.preferences("f", kind="weighting").matrix()
    for run, split in enumerate(result.splits.itertuples()):
        rows = np.repeat(split.train_rows, split.train_counts)
        squares, freedom = np.zeros((2, 12)), np.zeros(2)
        for site in np.unique(SITES):
            here = rows[SITES[rows] == site]
            without = np.column_stack([np.ones(here.size), *([ADJUSTED["age"].to_numpy()[here]] if covariates else [])])
            full = np.column_stack([without, y[here, None] == [1, 2]])
            before, after = (residual_squares(design, features_at(here)) for design in (without, full))
            ranks = [np.linalg.matrix_rank(design) for design in (without, full)]
            squares += before - after, after
            freedom += ranks[1] - ranks[0], here.size - ranks[1]
        np.testing.assert_allclose(weights[run], np.divide(*(squares.T / freedom).T), rtol=1e-6)


def test_weights_within_sites_are_means_over_sites_that_have_both_classes():
    y = np.where(SITES == "west", True, NUMBER > 0)
    study = hf.Study({"g": hf.Candidates(Golub(12), keep="weights")}, FOLDS, adjust="within")
    result = study.run(TABLE, y, sites=SITES)
    for run, (rows, _) in enumerate(FOLDS):
        parts = [rows[SITES[rows] == site] for site in ("north", "south", "east")]
        parts = [part for part in parts if np.unique(y[part]).size == 2]
        ratios = [part.size * Golub().fit(TABLE.to_numpy()[part], y[part]).scores_ for part in parts]
        expected = sum(ratios) / sum(map(len, parts))
        np.testing.assert_allclose(result.preferences("g", kind="weighting").matrix()[run], expected, rtol=1e-6)


def test_effects_of_different_directions_are_found_within_sites_alone():
    sign = np.where(np.isin(SITES, ["north", "west"]), 2.0, -2.0)
    turned = TABLE.assign(**{"g2.0": TABLE["g2.0"] + np.where(Y, sign, 0)})
    within, across = (
        hf.Study(AnovaF(1), hf.Bootstrap(8), adjust=adjust).run(turned, Y, sites=SITES).preferences("anova").frequency
        for adjust in ("within", True)
    )
    column = list(TABLE.columns).index("g2.0")
    assert within[column] == 1
    assert across[column] < 0.5


def test_a_feature_that_a_covariate_explains_is_not_selected():
    only_age = TABLE.assign(age=ADJUSTED["age"], copy=ADJUSTED["age"] * 2 + 1)
    ill = ADJUSTED["age"] > 0
    adjusted, plain = (
        hf.Study(AnovaF(1), hf.Bootstrap(10), covariates=["age"], estimator=LOGISTIC, adjust=adjust)
        .run(only_age, ill, treat_as_feature=True).preferences("anova").frequency
        for adjust in (True, False)
    )  # fmt: skip
    assert (adjusted[-1], plain[-1]) == (0.0, 1.0)


def test_adjustment_is_the_default_for_new_studies_and_older_ones_go_on_without(tmp_path):
    study = hf.Study(AnovaF(2), hf.Bootstrap(4), covariates=["age"], estimator=LOGISTIC)
    before = replace(study, adjust=False).run(ADJUSTED, Y, store=tmp_path / "old.db")
    assert "adjust" not in before.plan
    assert "adjust" not in replace(study, perturbation=hf.Bootstrap(6)).run(ADJUSTED, Y, store=tmp_path / "old.db").plan
    new = study.run(ADJUSTED, Y, store=tmp_path / "new.db")
    assert new.plan["adjust"]
    assert any(note.startswith("The selection is adjusted for the covariates, within") for note in new.data.notes)
    assert study.run(ADJUSTED, Y, store=tmp_path / "new.db").plan["adjust"]


@pytest.mark.parametrize(
    ("study", "y", "given", "message"),
    [
        (hf.Study({"r": ReliefF(2)}, hf.Bootstrap(4)), Y, {"sites": SITES}, r"got r \(ReliefF\); forests and mRMR"),
        (
            hf.Study(HybridRFE(3, n_forced=1, criterion="golub"), hf.Bootstrap(4)),
            Y,
            {"sites": SITES},
            "or HybridRFE with",
        ),
        (hf.Study(HybridRFE(3, device="torch"), hf.Bootstrap(4)), Y, {"sites": SITES}, r"got hybrid_rfe \(HybridRFE\)"),
        (hf.Study({"f": SelectFromModel(RandomForestClassifier())}), Y, {"sites": SITES}, "forests and mRMR cannot be"),
        (
            hf.Study(HybridRFE(3), hf.Bootstrap(4)),
            np.array(["a", "b", "c"])[np.arange(80) % 3],
            {"sites": SITES},
            r"or SelectKBest\(f_classif\)\), got hybrid_rfe",
        ),
        (
            hf.Study({"r": RReliefF(3)}, hf.Bootstrap(4)),
            TABLE["g0.0"].to_numpy(),
            {"sites": SITES},
            r"or HybridRFE with variance or FTest as its criterion\), got r ",
        ),
        (hf.Study(ElasticNetPath(), adjust="within"), Y, {"sites": SITES}, r"Expected filters to .* got lasso"),
        (hf.Study(AnovaF(2), adjust="within"), Y, {}, r"Expected sites= .* with adjust='within', got none"),
        (hf.Study(AnovaF(2), adjust="inside"), Y, {"sites": SITES}, "Expected adjust=True, False or 'within'"),
        (
            hf.Study({"g": Golub(2)}, covariates=["age"], estimator=LOGISTIC, adjust="within"),
            Y,
            {"sites": SITES},
            r"adjusted for covariates too \(AnovaF\) to select within sites, .* got g \(Golub\)",
        ),
        (hf.Study({"l": ElasticNetCV()}, hf.Bootstrap(4)), Y, {"sites": SITES}, r"got l \(ElasticNetCV\)"),
        (
            hf.Study({"s": StabilitySelection(ReliefF(), q=3, pfer=1)}, hf.Bootstrap(4)),
            Y,
            {"sites": SITES},
            r"got s \(StabilitySelection\)",
        ),
        (
            hf.Study(StabilitySelection(AnovaF(), q=3, pfer=1, n_shuffles=5), hf.Bootstrap(4)),
            Y,
            {"sites": SITES},
            "Expected n_shuffles=0 where the selection is adjusted, got 5",
        ),
        (hf.Study(AnovaF(2), hf.NewSeeds(4)), Y, {"sites": SITES}, "Expected resamples of rows"),
        (hf.Study(AnovaF(2)), SITES == "west", {"sites": SITES}, r"sites that determine the class(.|\n)*west +0 +20"),
        (hf.Study(AnovaF(2)), Y, {"sites": ["a"] * 80}, "got a alone"),
        (hf.Study(AnovaF(2)), Y, {"sites": ["a"] * 79 + ["b"]}, "got one of b"),
        (hf.Study(AnovaF(2)), Y, {"sites": SITES, "groups": np.arange(80) // 30}, "rows of group 0 in several"),
        (
            hf.Study(AnovaF(2), covariates=["age", "copy"], estimator=LOGISTIC),
            Y,
            {},
            "no linear combinations of each other, got 'copy'",
        ),
    ],
)
def test_what_cannot_be_adjusted_is_refused_in_a_sentence(study, y, given, message):
    with pytest.raises(ValueError, match=message):
        study.run(ADJUSTED.assign(copy=1 - ADJUSTED["age"]), y, **given)


def test_each_site_is_left_out_once_by_name(tmp_path):
    study = hf.Study(AnovaF(2), hf.resampling.LeaveOneSiteOut(), estimator=LOGISTIC)
    result = study.run(ADJUSTED, Y, sites=SITES, store=tmp_path / "s.db")
    assert result.splits["label"].tolist() == [f"without {site}" for site in ("east", "north", "south", "west")]
    for split in result.splits.itertuples():
        assert set(SITES[split.test_rows]) == {split.label.removeprefix("without ")}
        assert set(split.train_rows) == set(range(80)) - set(split.test_rows)
    assert result.plan["perturbation"] == {"perturbation": "LeaveOneSiteOut"}
    assert study.run(ADJUSTED, Y, sites=SITES, store=tmp_path / "s.db").scores.equals(result.scores)
    assert "4 training sets that each lack one site" in summarize(result).method.paragraph
    with pytest.raises(ValueError, match="Expected sites to leave out one at a time, got none"):
        study.run(ADJUSTED, Y)


def test_sites_are_a_column_of_a_table():
    frame = TABLE.assign(y=np.where(Y, "a", "b"), center=SITES)
    table = hf.read_table(frame, "y", sites="center")
    result = hf.Study(AnovaF(2), hf.Bootstrap(4)).run(table)
    assert result.feature_names == list(TABLE.columns)
    assert any(note == "Rows come from 4 sites, of 20 to 20 rows." for note in result.data.notes)


# Selectors of packages that are no dependencies


class Boosted(LogisticRegression):
    """Stands in for a boosted model."""

    def __init__(self, n_estimators=1, **others):
        super().__init__()
        self.n_estimators, self.others = n_estimators, others

    def get_params(self, deep=True):
        return {"n_estimators": self.n_estimators}

    def fit(self, X, y):
        super().fit(X, y)
        self.feature_importances_ = np.abs(self.coef_[0])
        return self


@pytest.mark.parametrize(
    ("name", "made"), [("lightgbm", "LGBMClassifier"), ("xgboost", "XGBClassifier"), ("catboost", "CatBoostClassifier")]
)
def test_boosted_trees_are_selectors_by_name_where_they_are_installed(name, made, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match=f"needs the package {name}: pip install {name}"):
        named_selectors(name, name, {"k": 4}, "classification")
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(**{made: Boosted}))
    selectors = named_selectors(name, name, {"k": 4, "n_estimators": 7}, "classification")
    assert selectors[name].selector.estimator.n_estimators == 7
    result = hf.Study(selectors, hf.Bootstrap(3)).run(TABLE, Y)
    assert result.preferences(name).sizes.tolist() == [4, 4, 4]


def test_boruta_is_a_selector_by_name_where_it_is_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "boruta", None)
    with pytest.raises(ValueError, match="needs the package Boruta: pip install Boruta"):
        named_selectors("boruta", "boruta", {}, "regression")
    monkeypatch.setitem(sys.modules, "boruta", SimpleNamespace(BorutaPy=lambda forest, **given: (forest, given)))
    forest, given = SELECTORS["boruta"].make("classification", max_iter=30)
    assert isinstance(forest, RandomForestClassifier)
    assert given == {"n_estimators": "auto", "max_iter": 30, "perc": 100}
