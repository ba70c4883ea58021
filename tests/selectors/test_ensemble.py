"""Many rankings, one order."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif, f_regression
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import holdfast as hf
from holdfast import selectors as of
from holdfast.resampling import Samples
from holdfast.resampling.split import rng_of
from holdfast.selection import FewerFeaturesWarning, Selection
from holdfast.selectors.wrapping import INNER, score_features


def data(seed=0, n=60, d=15, informative=4):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, d)) + np.where(np.arange(d) < informative, y[:, None], 0), np.array(["x", "y", "z"])[y]


def splits_of(perturbation, y, seed):
    """The resamples that a selector of this seed draws from rows in the order of their values."""
    start, classes = int(rng_of(seed, INNER).integers(2**31)), np.unique(y, return_inverse=True)[1]
    return [perturbation.make_split(at, Samples(len(y), classes), start) for at in range(perturbation.get_n_splits())]


@pytest.mark.parametrize("aggregate", ["mean_rank", "frequency", "exponential"])
@pytest.mark.parametrize("perturbation", [hf.Bootstrap(6), hf.Subsample(5, 0.7, stratify=True)], ids=str)
def test_scores_are_means_over_resamples(aggregate, perturbation):
    X, y = data()
    X, y = (values[np.argsort(X[:, 0])] for values in (X, y))
    fitted = of.EnsembleSelector(
        of.AnovaF(), 4, resampling=perturbation, aggregate=aggregate, depth=3, random_state=7
    ).fit(X, y)
    ranks = np.array([rankdata(-of.AnovaF().fit(*split.data(X, y)).scores_) for split in splits_of(perturbation, y, 7)])
    expected = {
        "mean_rank": -ranks.mean(axis=0),
        "frequency": (ranks <= 3).mean(axis=0),
        "exponential": np.exp(-ranks / 3).mean(axis=0),
    }[aggregate]
    assert np.allclose(fitted.scores_, expected)
    assert fitted.support_.tolist() == (np.argsort(np.argsort(-fitted.scores_, kind="stable")) < 4).tolist()
    assert fitted.ranking_.tolist() == rankdata(-fitted.scores_).tolist()


def test_the_bootstrap_draws_within_classes_where_there_are_classes():
    X, y = data()
    few = np.r_[0:30:3, 1:3]  # ten rows of a class, one of each other: a plain bootstrap misses one in most resamples
    by_name, stratified, plain = (
        of.EnsembleSelector(of.AnovaF(), 4, n_resamples=8, random_state=0, **how).fit(X[few], y[few])
        for how in ({}, {"resampling": hf.Bootstrap(8, stratify=True)}, {"resampling": hf.Bootstrap(8)})
    )
    assert by_name.scores_.tolist() == stratified.scores_.tolist() != plain.scores_.tolist()
    numbers = np.arange(60) % 20  # whole numbers to predict are no classes
    base = SelectKBest(f_regression, k=4)
    by_name, plain = (
        of.EnsembleSelector(base, 4, n_resamples=8, random_state=0, **how).fit(X, numbers)
        for how in ({}, {"resampling": hf.Bootstrap(8)})
    )
    assert by_name.scores_.tolist() == plain.scores_.tolist()


def test_tied_features_share_ranks_and_places():
    weights = Selection("weighting", np.array([3.0, 1, 1, 1, 0]))
    assert score_features(weights, 5, "mean_rank", 2).tolist() == [-1, -3, -3, -3, -5]
    assert score_features(weights, 5, "frequency", 2) == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3, 0])
    assert score_features(Selection("ranking", np.array([2.0, 1, 3])), 3, "frequency", 2).tolist() == [1, 1, 0]
    assert score_features(weights, 5, "exponential", 2)[0] == pytest.approx(np.exp(-0.5))
    subset = Selection.subset([1, 4])
    assert score_features(subset, 5, "mean_rank", 2).tolist() == [-4, -1.5, -4, -4, -1.5]
    assert score_features(subset, 5, "frequency", 1).tolist() == [0, 1, 0, 0, 1]


def test_the_order_does_not_depend_on_how_many_are_kept():
    X, y = data()
    orders = {
        tuple(of.EnsembleSelector(of.MRMR(), k, n_resamples=5, random_state=0).fit(X, y).ranking_) for k in (1, 9)
    }
    assert len(orders) == 1


@pytest.mark.parametrize(
    "base",
    [
        of.ReliefF(n_neighbors=3),
        of.RandomSelector(),
        RandomForestClassifier(3),
        make_pipeline(SelectKBest(f_classif, k=8), RandomForestClassifier(3)),
        SelectFromModel(LogisticRegression()),
        of.GroupedSelector(of.AnovaF(3)),
        of.EnsembleSelector(of.AnovaF(), 3, n_resamples=2),
    ],
    ids=lambda one: type(one).__name__,
)
def test_any_base(base):
    X, y = data()
    fitted = of.EnsembleSelector(base, 4, n_resamples=3, random_state=0).fit(X, y)
    assert fitted.support_.sum() == 4
    assert clone(fitted).fit(X, y).scores_.tolist() == fitted.scores_.tolist()


def test_an_ensemble_is_more_stable_than_its_base():
    X, y = data(3, n=40, d=60, informative=8)
    study = hf.Study(
        selectors={"one": of.AnovaF(6), "many": of.EnsembleSelector(of.AnovaF(), 6, resampling=hf.Bootstrap(50))},
        perturbation=hf.Subsample(30, 0.5),
    )
    result = study.run(X, y)
    assert result.stability("many").value > result.stability("one").value - 0.02


def test_names_and_pipelines():
    pd = pytest.importorskip("pandas")
    X, y = data()
    frame = pd.DataFrame(X, columns=[f"gene {at}" for at in range(15)])
    pipeline = make_pipeline(of.EnsembleSelector(of.AnovaF(), 3, n_resamples=3), LogisticRegression())
    pipeline.set_output(transform="pandas").fit(frame, y)
    assert list(pipeline[:-1].transform(frame).columns) == list(pipeline[0].get_feature_names_out())
    assert pipeline[0].get_feature_names_out()[0].startswith("gene")


def test_edges():
    X, y = data(d=5)
    X[:, 3] = 2.0
    with pytest.warns(FewerFeaturesWarning, match="Only 4 of 5 features carry information; 4 instead of 5 were"):
        whole = of.EnsembleSelector(of.AnovaF(), 9, n_resamples=2).fit(X, y)
    assert whole.support_.tolist() == [True, True, True, False, True]
    last = of.EnsembleSelector(of.AnovaF(), 4, n_resamples=5, random_state=0).fit(X, y)
    assert not last.support_[3]
    rare = np.r_[["other"], y[1:]]
    assert of.EnsembleSelector(of.AnovaF(), 2, n_resamples=3).fit(X, rare).support_.sum() == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"aggregate": "median"}, "Expected aggregate='mean_rank', 'frequency' or 'exponential', got 'median'"),
        ({"depth": 0}, "Expected depth to be a whole number of at least 1, got 0"),
        ({"n_resamples": 1.5}, "Expected n_resamples to be a whole number of at least 1, got 1.5"),
        ({"resampling": "noise"}, "Expected resampling to be 'bootstrap', 'subsamples', 'pairs' or a perturbation"),
        ({"n_features": -1}, "Expected n_features to be a whole number of at least 0"),
        ({"base": "anova"}, "Expected a selector or scikit-learn estimator as base, got 'anova'"),
    ],
)
def test_bad_input_is_told_in_one_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        of.EnsembleSelector(**{"base": of.AnovaF(), "n_resamples": 3, **given}).fit(*data())
