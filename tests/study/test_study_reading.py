"""What a fitted estimator preferred, read from whatever scikit-learn offers."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFpr,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
)  # fmt: skip
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import holdfast as hf
from holdfast.io.estimators import read_selection
from holdfast.selection import Selection
from study_parts import Selector, X, Y, small_data

NAMES = list(X.columns)
MODEL = LogisticRegression()


def read(estimator, X=X, y=Y, **how):
    return read_selection(estimator.fit(X, y), NAMES, **how)


def columns(estimator, X=X, y=Y):
    selection = read(estimator, X, y)
    assert selection.kind == "subset"
    assert selection.values.dtype == np.int32
    return selection.values.tolist()


BEST = np.argsort(-SelectKBest(k="all").fit(X, Y).scores_)


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(k=3),
        SelectFpr(alpha=0.2),
        VarianceThreshold(0.9),
        SelectFromModel(MODEL),
        RFE(MODEL, n_features_to_select=4),
        RFECV(MODEL, cv=3),
        SequentialFeatureSelector(MODEL, n_features_to_select=2, cv=2),
    ],
    ids=lambda selector: type(selector).__name__,
)
@pytest.mark.parametrize("form", [lambda X: X, np.asarray], ids=["frame", "array"])
def test_a_selectors_support_is_read(selector, form):
    given = form(X)
    assert columns(selector, given) == np.flatnonzero(selector.get_support()).tolist()
    scaled = make_pipeline(StandardScaler(), selector)
    assert columns(scaled, given) == np.flatnonzero(scaled[-1].get_support()).tolist()


def test_weights_are_read_by_their_size_over_all_classes():
    selection = read(MODEL)
    assert selection.kind == "weighting"
    np.testing.assert_array_equal(selection.values, abs(MODEL.coef_[0]))
    three, labels = small_data(60, 12, classes=3)
    many = LogisticRegression().fit(three, labels)
    np.testing.assert_array_equal(read_selection(many, NAMES).values, np.sqrt((many.coef_**2).sum(axis=0)))
    forest = RandomForestClassifier(5, random_state=0)
    np.testing.assert_array_equal(read(forest).values, forest.feature_importances_)
    lasso = Lasso(0.1)
    np.testing.assert_array_equal(read(make_pipeline(StandardScaler(), lasso)).values, abs(lasso.coef_))


def test_a_subset_has_its_own_model_and_weights_too():
    rfe = RFE(MODEL)
    assert read(rfe).model is rfe
    assert read(SelectKBest()).model is None
    pipeline = make_pipeline(SelectKBest(k=2), KNeighborsClassifier())
    assert read(pipeline).model is pipeline


def test_columns_that_reach_the_model_are_selected():
    flat = X.assign(f2=1.0)
    pipeline = make_pipeline(VarianceThreshold(), StandardScaler(), SelectKBest(k=3), LogisticRegression())
    remaining = [column for column in range(12) if column != 2]
    chosen = [remaining[place] for place in np.flatnonzero(pipeline.fit(flat, Y)[2].get_support())]
    assert columns(pipeline, flat) == chosen
    assert columns(pipeline, flat.to_numpy()) == chosen
    assert columns(make_pipeline(VarianceThreshold(), MODEL), flat) == remaining
    assert columns(make_pipeline(SelectKBest(k=5), SelectKBest(k=2))) == sorted(BEST[:2])


def test_features_that_were_dropped_before_have_no_weight_and_the_last_rank():
    flat = X.assign(f2=1.0)
    weights = read(make_pipeline(VarianceThreshold(), LogisticRegression()), flat, ordered=True)
    assert weights.kind == "weighting"
    assert weights.values[2] == 0
    assert np.all(np.delete(weights.values, 2) > 0)
    ranks = read(make_pipeline(VarianceThreshold(), RFE(MODEL, n_features_to_select=1)), flat, ordered=True)
    assert ranks.kind == "ranking"
    assert ranks.values[2] == 12
    assert sorted(np.delete(ranks.values, 2)) == list(range(1, 12))


def test_an_order_is_read_where_a_size_is_asked_for():
    anova = SelectKBest(k=2)
    np.testing.assert_array_equal(read(anova, ordered=True).values, anova.scores_)
    assert read(anova, ordered=True).top(4).values.tolist() == sorted(BEST[:4])
    rfe = RFE(MODEL, n_features_to_select=1)
    assert read(rfe, ordered=True).top(3).values.tolist() == np.flatnonzero(rfe.ranking_ <= 3).tolist()
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=6), LogisticRegression())
    assert set(read(pipeline, ordered=True).top(2).values) <= set(BEST[:6])
    assert read(pipeline, ordered=True).top(99).values.size == 6  # none that an earlier step dropped


def test_a_cut_among_ties_is_noted():
    tied = Selection("weighting", np.array([1.0, 2.0, 1.0, 1.0]))
    assert tied.top(2).values.tolist() == [0, 1]
    assert "tied features" in tied.top(2).note
    assert not tied.top(1).note
    assert not tied.top(4).note
    study = hf.Study(selectors={"rfe": hf.Candidates(RFE(MODEL), sizes=3)}, perturbation=hf.Bootstrap(2))
    result = study.run(X, Y)
    assert result.notes.set_index("candidate")["runs"].to_dict() == {"rfe": 2}


def test_undefined_scores_are_the_least():
    with pytest.warns(UserWarning, match="constant"), np.errstate(invalid="ignore"):
        selection = read(SelectKBest(), X.assign(f2=1.0), ordered=True)
    assert selection.values[2] == 0
    assert 2 not in selection.top(11).values


@pytest.mark.parametrize("bare", [True, False], ids=["selector", "pipeline"])
def test_a_search_is_read_by_its_best(bare):
    inner = RFE(MODEL) if bare else make_pipeline(StandardScaler(), SelectKBest(), KNeighborsClassifier())
    grid = {"n_features_to_select" if bare else "selectkbest__k": [2, 4]}
    search = GridSearchCV(inner, grid, cv=2).fit(X, Y)
    best = search.best_estimator_
    support = best.get_support() if bare else best[1].get_support()
    assert columns(search) == np.flatnonzero(support).tolist()
    assert read_selection(search, NAMES).model is search


def test_wrappers_and_pipelines_inside_pipelines_are_read():
    y = X["f0"].to_numpy() * 2 + 5
    wrapped = TransformedTargetRegressor(LinearRegression())
    np.testing.assert_array_equal(read(wrapped, y=y).values, abs(wrapped.regressor_.coef_))
    last = make_pipeline(StandardScaler(), make_pipeline(SelectKBest(k=3), LogisticRegression()))
    assert columns(last) == sorted(BEST[:3])
    first = make_pipeline(make_pipeline(StandardScaler(), SelectKBest(k=4)), SelectKBest(k=2))
    assert columns(first) == sorted(BEST[:2])
    searched = make_pipeline(StandardScaler(), GridSearchCV(make_pipeline(SelectKBest(k=3), MODEL), {}, cv=2))
    assert columns(searched) == sorted(BEST[:3])


def test_steps_that_are_left_out_or_fill_in_change_nothing():
    holes = X.mask(X > 2)
    pipeline = Pipeline([("none", "passthrough"), ("fill", SimpleImputer()), ("pick", SelectKBest(k=3)), ("end", None)])
    assert columns(pipeline, holes) == np.flatnonzero(pipeline[2].get_support()).tolist()


def test_a_column_transformer_that_keeps_columns_is_followed():
    some = ColumnTransformer(
        [("scaled", StandardScaler(), NAMES[4:]), ("plain", "passthrough", NAMES[:2])], verbose_feature_names_out=False
    )
    pipeline = make_pipeline(some, SelectKBest(k=3)).fit(X, Y)
    order = [*range(4, 12), 0, 1]
    assert columns(pipeline) == sorted(order[place] for place in np.flatnonzero(pipeline[1].get_support()))


class Mute(TransformerMixin, BaseEstimator):
    """Changes columns and does not tell."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.asarray(X)[:, ::2]


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (make_pipeline(PCA(3), SelectKBest(k=2)), "got PCA, which makes the column 'pca0' of several"),
        (
            make_pipeline(PolynomialFeatures(2, include_bias=False), MODEL),
            "got PolynomialFeatures, which makes the column 'f0^2'",
        ),
        (make_pipeline(Mute(), SelectKBest(k=2)), "got Mute, which has no get_feature_names_out to say"),
        (KNeighborsClassifier(), "KNeighborsClassifier has no support, ranking, coefficients or importances"),
        (make_pipeline(StandardScaler()), "StandardScaler has no support, ranking, coefficients or importances"),
    ],
    ids=lambda one: "" if isinstance(one, str) else None,
)
def test_what_cannot_be_read_is_told(estimator, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(estimator)


def test_a_size_needs_an_order():
    study = hf.Study(selectors={"fixed": hf.Candidates(Selector(), sizes=1)}, perturbation=hf.Bootstrap(2))
    with pytest.warns(UserWarning, match="2 of 2 fits failed, of fixed; most often: ValueError: Expected a ranking or"):
        result = study.run(X, Y)
    with pytest.raises(ValueError, match=r"fixed has no finished fits; the table .failures says why"):
        result.preferences("fixed")
    assert result.summary().loc["fixed", "reason"].startswith("fixed has no finished fits")
    assert "2 failed" in repr(result)


def test_what_has_not_run_yet_is_no_failure(tmp_path):
    study = hf.Study(selectors={"now": Selector(), "later": Selector()}, perturbation=hf.Bootstrap(2))
    result = study.run(X, Y, store=tmp_path / "s.db", only=["now"])
    with pytest.raises(ValueError, match="later has no finished fits; the study has not come so far"):
        result.preferences("later")


def test_rankings_and_weights_are_kept_as_they_are():
    class Ranks(Selector):
        def fit(self, X, y):
            self.ranking_ = np.argsort(np.argsort(-abs(np.asarray(X)[:7].sum(axis=0)))) + 1
            return self

        get_support = property()

    study = hf.Study(selectors={"ranks": Ranks(), "weights": LogisticRegression()}, perturbation=hf.Subsample(4))
    result = study.run(X, Y)
    ranks, weights = result.preferences("ranks"), result.preferences("weights")
    assert (ranks.kind, weights.kind) == ("ranking", "weighting")
    for place, split in enumerate(hf.Subsample(4).splits(Y)):
        train = X.iloc[split.train], Y[split.train]
        np.testing.assert_array_equal(ranks.matrix()[place], Ranks().fit(*train).ranking_)
        np.testing.assert_array_equal(weights.matrix()[place], abs(LogisticRegression().fit(*train).coef_[0]))
    assert result.stability("ranks").measure == "spearman"
    assert result.stability("weights").measure == "weight_correlation"
    assert result.stability("ranks").value == hf.stability(ranks, "spearman").value
    assert isinstance(result.summary(), pd.DataFrame)
