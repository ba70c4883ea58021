"""What cannot be fitted to such data at all is refused once, before any fit, with what would do instead."""

import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold, f_regression
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import holdfast as hf
from holdfast import selectors as of
from holdfast.selection import FewerFeaturesWarning
from holdfast.study import requirements
from study_parts import Constant, Selector, X, Y, anova

GAPS = X.copy()
GAPS.iloc[7, 3] = GAPS.iloc[20, 5] = np.nan
THREE = np.arange(60) % 3


def study(selectors, n=2, **options):
    return hf.Study(selectors=selectors, perturbation=hf.Bootstrap(n), **options)


class Counted(Selector):
    """Counts its fits."""

    fits = 0

    def before_selecting(self, values):
        Counted.fits += 1


# Numbers


@pytest.mark.parametrize("y", [np.arange(60) % 30, np.linspace(0, 1, 60)], ids=["whole", "decimal"])
@pytest.mark.parametrize(
    "selector",
    [
        of.AnovaF(2),
        of.ElasticNetPath(model="logistic"),
        of.EnsembleSelector(of.AnovaF(), 2),
        of.Prefiltered(of.ElasticNetPath(model="linear"), of.AnovaF(5)),
        make_pipeline(StandardScaler(), anova(2)),
        SelectFromModel(LogisticRegression()),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_selectors_that_tell_classes_apart_are_refused_for_numbers(selector, y):
    for options in ({}, {"estimator": LinearRegression(), "scoring": "r2"}):
        with pytest.raises(
            ValueError, match=r"Expected selectors for the numbers in y, got a \(.*task='classification'"
        ):
            study({"a": selector}, **options).run(X, y)


@pytest.mark.parametrize(
    "selector",
    [of.Variance(2), of.ElasticNetPath(model="linear"), SelectKBest(f_regression, k=2), RandomForestRegressor(3)],
)
def test_selectors_for_numbers_are_not_refused(selector):
    assert study({"a": selector}).run(X, np.arange(60) % 30).failures.empty


# Gaps


def test_gaps_are_refused_before_any_fit_by_name_with_a_pipeline_that_would_do():
    Counted.fits = 0
    plan = study({"anova": anova(2), "counted": Counted(), "forest": RandomForestClassifier(5)}, estimator=GaussianNB())
    with pytest.raises(ValueError, match="Expected X without missing values") as error:
        plan.run(GAPS, Y)
    told = str(error.value)
    assert "for anova (SelectKBest), counted (Counted), the model (GaussianNB), got 2 missing values" in told
    assert "the first in row 7, column 'f3'" in told
    assert "anova=make_pipeline(SimpleImputer(), SelectKBest(k=2))" in told
    assert "estimator=make_pipeline(SimpleImputer(), GaussianNB())" in told
    assert "(forest takes them as they are)" in told
    assert Counted.fits == 0


class TakesGaps(Constant):
    """Takes gaps, and says so."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class Duck:
    """An estimator without tags."""

    def fit(self, X, y):
        self.coef_ = np.arange(X.shape[1])
        return self

    def get_params(self, deep=True):
        return {}

    def set_params(self, **parameters):
        return self


INSIDE = make_pipeline(SimpleImputer(), LogisticRegression())
TAKE = {
    "a forest": RandomForestClassifier(5),
    "a model around one": SelectFromModel(RandomForestClassifier(5)),
    "own": TakesGaps(everything=True),
    "without tags": Duck(),
    "filled": make_pipeline(SimpleImputer(), anova(2)),
    "scaled, then filled": make_pipeline(StandardScaler(), KNNImputer(), anova(2)),
    "filled by a function": make_pipeline(
        FunctionTransformer(np.nan_to_num, feature_names_out="one-to-one"), SelectKBest(k=2)
    ),
    "filled column by column": make_pipeline(
        ColumnTransformer([("all", SimpleImputer(), slice(0, 12))], verbose_feature_names_out=False), anova(2)
    ),
    "filled in a search": GridSearchCV(make_pipeline(SimpleImputer(), LogisticRegression()), {}, cv=2),
    "a search": GridSearchCV(RandomForestClassifier(3), {}, cv=2),
}
REFUSE = {
    "a filter": anova(2),
    "one of holdfast": of.MRMR(2),
    "around a filter": of.EnsembleSelector(anova(2), 2),
    "scaled only": make_pipeline(StandardScaler(), anova(2)),
    "columns dropped only": make_pipeline(VarianceThreshold(), anova(2)),
    "filled too late": make_pipeline(anova(4), SimpleImputer(), LogisticRegression()),
    "a model around one": SelectFromModel(LogisticRegression()),
    "a search": GridSearchCV(LogisticRegression(), {}, cv=2),
    "filled inside only": RFE(INSIDE, n_features_to_select=2, importance_getter="named_steps.logisticregression.coef_"),
}


@pytest.mark.parametrize("name", TAKE)
def test_those_that_take_gaps_run(name):
    assert study({"a": TAKE[name]}).run(GAPS, Y).failures.empty


@pytest.mark.parametrize("name", REFUSE)
def test_those_that_do_not_are_refused(name):
    with pytest.raises(ValueError, match=r"Expected X without missing values for a \(\w+\), got 2 missing values"):
        study({"a": REFUSE[name]}).run(GAPS, Y)
    with pytest.raises(ValueError, match="missing values for a"):
        study({"a": REFUSE[name]}).cost(GAPS, Y)


def test_a_grid_that_fills_gaps_in_one_setting_may_run():
    pipeline = make_pipeline(StandardScaler(), anova(2))
    grid = {"standardscaler": [SimpleImputer(), KNNImputer()]}
    assert study({"a": hf.Candidates(pipeline, grid)}).run(GAPS, Y).failures.empty
    with pytest.raises(ValueError, match="missing values for a"):
        study({"a": hf.Candidates(pipeline, {"standardscaler": [StandardScaler(with_std=False)]})}).run(GAPS, Y)


@pytest.mark.parametrize(
    "form", [np.asarray, lambda frame: sp.csr_matrix(frame.to_numpy()), lambda frame: frame.astype(object)]
)
def test_gaps_are_found_in_whatever_holds_them(form):
    with pytest.raises(ValueError, match=r"got 2 missing values, the first in row 7, column '[fx]3'"):
        study({"a": SelectKBest(k=2)}).run(form(GAPS), Y)


def test_gaps_in_covariates_matter_to_the_model_only():
    plan = study({"a": anova(2)}, estimator=GaussianNB(), covariates=["f3", "f5"], adjust=False)
    with pytest.raises(ValueError, match=r"for the model \(GaussianNB\), got missing values in covariates="):
        plan.run(GAPS, Y)
    filled = study(
        {"a": anova(2)}, estimator=make_pipeline(SimpleImputer(), GaussianNB()), covariates=["f3", "f5"], adjust=False
    )
    assert filled.run(GAPS, Y).failures.empty


def test_candidates_that_do_not_run_now_are_not_asked():
    plan = study({"a": anova(2), "forest": RandomForestClassifier(5)})
    assert plan.run(GAPS, Y, only=["forest"]).failures.empty
    with pytest.raises(ValueError, match="missing values for a "):
        plan.run(GAPS, Y, only=["a"])


def test_large_numbers_are_no_gaps():
    assert study({"a": RandomForestClassifier(3)}).run(X * 1e30, Y).failures.empty
    huge = np.full((60, 3), 1e308)
    huge[:, 0] = np.arange(60)
    assert study({"a": Constant(everything=True)}).run(huge, Y).failures.empty


# Classes


class TwoClassGolub(of.Golub):
    """A filter for two classes, which says so."""

    most_classes = 2


@pytest.mark.parametrize(
    "selector",
    [
        TwoClassGolub(2),
        of.EnsembleSelector(TwoClassGolub(2), 2),
        make_pipeline(StandardScaler(), TwoClassGolub(2)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_selectors_for_two_classes_are_refused_once_with_others(selector):
    message = r"Expected selectors and models for 3 classes \(0, 1, 2\), got a \(\w+\), for two classes only; .*AnovaF"
    with pytest.raises(ValueError, match=message):
        study({"a": selector, "b": anova(2)}).run(X, THREE)
    assert study({"a": selector}).run(X, Y).failures.empty


@pytest.mark.parametrize(
    "selector",
    [of.FTest(2), of.EnsembleSelector(of.FTest(2), 2), make_pipeline(StandardScaler(), of.RReliefF(2))],
    ids=lambda one: type(one).__name__,
)
def test_selectors_for_numbers_are_refused_where_there_are_classes(selector):
    for y in (Y, THREE):
        message = r"Expected selectors for the classes in y, got a \(\w+\), for numbers to predict; .* are .*AnovaF"
        with pytest.raises(ValueError, match=message):
            study({"a": selector, "b": anova(2)}).run(X, y)
    assert study({"a": selector}).run(X, np.arange(len(Y)) / 7).failures.empty


@pytest.mark.parametrize("selector", [of.CoxScore(2), of.EnsembleSelector(of.CoxLasso(n_features=2), 2)])
def test_selectors_for_survival_times_are_refused_as_such_where_there_are_classes(selector):
    for y in (Y, THREE):
        with pytest.raises(ValueError, match=r"for the classes in y, got a \(\w+\), for survival times; .*AnovaF"):
            study({"a": selector, "b": anova(2)}).run(X, y)
    with pytest.raises(ValueError, match=r"got a \(\w+\), b \(FTest\), for numbers to predict and survival times;"):
        study({"a": selector, "b": of.FTest(2)}).run(X, Y)


def test_alternatives_take_more_classes():
    from holdfast.study.requirements import _multiclass_selectors

    assert {"AnovaF", "MRMR", "SVMRFE", "Golub", "GolubVariance", "HybridRFE"} <= set(_multiclass_selectors())
    assert not {"Selector", "FTest", "RReliefF", "StabilitySelection"} & set(_multiclass_selectors())
    for name in _multiclass_selectors():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)  # noise has no information gain
            assert getattr(of, name)().fit(X, THREE).get_support().size == 12


class TwoOnly(ClassifierMixin, BaseEstimator):
    """A model for two classes, which says so."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_models_for_two_classes_are_refused():
    with pytest.raises(ValueError, match=r"got the model \(TwoOnly\), for two classes only; .*OneVsRestClassifier"):
        study({"a": anova(2)}, estimator=TwoOnly()).run(X, THREE)
    assert study({"a": anova(2)}, estimator=TwoOnly()).run(X, Y).failures.empty


# Backends


def test_a_backend_that_cannot_stream_is_refused_in_a_sentence(tmp_path):
    store = tmp_path / "s.db"
    with joblib.parallel_config(backend="multiprocessing"):
        with pytest.raises(ValueError, match=r"returns results one by one .* got multiprocessing; leave it out"):
            study({"a": anova(2)}).run(X, Y, n_jobs=2, store=store)
        assert not store.exists()
        assert study({"a": anova(2)}).run(X, Y, n_jobs=1).failures.empty


@pytest.mark.parametrize(
    ("selector", "scored"),
    [
        (hf.selectors.AnovaF(2), False),
        (hf.Candidates(LogisticRegression(), sizes=2), False),  # its model uses all features
        (LogisticRegression(), True),
        (hf.Candidates(hf.selectors.ElasticNetPath(), {"n_features": [2, 3]}), False),
        (hf.Candidates(hf.selectors.ElasticNetPath(), {"penalty_strength": [0.1, 0.01]}), True),
        (make_pipeline(SelectKBest(k=2), LogisticRegression()), True),
    ],
)
def test_a_score_needs_a_model_or_a_selector_that_predicts(selector, scored):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    study = hf.Study(selectors={"mine": selector}, perturbation=hf.Bootstrap(3), scoring="f1")
    if scored:
        assert study.run(X, y).has_scores
    else:
        with pytest.raises(ValueError, match="A score needs a model: mine selects features and does not predict"):
            study.run(X, y)


def test_a_column_of_text_is_named_before_a_model_meets_it():
    frame = X.assign(sex="f", site="b")
    study = hf.Study(selectors={"k": SelectKBest(k=2)}, perturbation=hf.Bootstrap(3), estimator=LogisticRegression())
    with pytest.raises(ValueError, match="got 'f' in row 0 of column 'sex' and text in 1 other column; leave such"):
        study.run(frame, Y)


def test_a_table_that_does_not_fit_in_double_precision_is_refused_before_any_fit(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(40, 50)).astype(np.float32), np.arange(40) % 2
    monkeypatch.setattr(requirements, "free_bytes", lambda: 8.0 * 40 * 50 - 1)
    with pytest.raises(ValueError, match=r"free memory for the features in double precision, as mrmr needs them"):
        hf.Study([hf.selectors.MRMR(5)], hf.Bootstrap(3)).run(X, y)
    assert hf.Study([hf.selectors.AnovaF(5)], hf.Bootstrap(3)).run(X, y).complete  # reads it as it stands
    assert hf.Study([hf.selectors.MRMR(5)], hf.Bootstrap(3)).run(X.astype(np.float64), y).complete  # no copy is made
