"""Selections that scikit-learn's own tools made, and tables of pairs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFECV, SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


def test_rfecv_tells_the_support_of_every_fold_at_the_chosen_size():
    rfecv = RFECV(RidgeClassifier(), step=4, cv=KFold(4), min_features_to_select=6).fit(X, Y)
    runs = hf.study.from_rfecv(rfecv)
    assert runs.n_runs == 4
    assert runs.names == tuple(X.columns)
    assert set(runs.sizes) == {rfecv.n_features_}
    place = list(rfecv.cv_results_["n_features"]).index(rfecv.n_features_)
    expected = [np.flatnonzero(rfecv.cv_results_[f"split{fold}_support"][place]) for fold in range(4)]
    assert [[X.columns.get_loc(name) for name in runs.selected(fold)] for fold in range(4)] == [
        one.tolist() for one in expected
    ]


def test_estimators_of_cross_validate_tell_what_reached_their_model():
    model = make_pipeline(StandardScaler(), SelectKBest(k=4), LogisticRegression())
    fitted = cross_validate(model, X, Y, return_estimator=True)
    runs = hf.from_cross_validate(fitted)
    assert runs.names == tuple(X.columns)
    for run, one in enumerate(fitted["estimator"]):
        assert runs.selected(run) == list(one[:-1].get_feature_names_out())


def test_coefficients_are_weights_until_they_are_cut():
    fitted = cross_validate(make_pipeline(StandardScaler(), RidgeClassifier()), X.to_numpy(), Y, return_estimator=True)
    weights = hf.from_cross_validate(fitted)
    assert weights.kind == "weighting"
    assert weights.names is None
    np.testing.assert_array_equal(weights.matrix()[0], abs(fitted["estimator"][0][-1].coef_.ravel()))
    assert hf.from_cross_validate(fitted["estimator"], top=5) == weights.top(5)


def test_pairs_become_sets_and_empty_runs_can_be_named():
    pairs = pd.DataFrame({"sample": ["b", "a", "b"], "gene": ["g1", "g2", "g3"]})
    runs = hf.study.from_pairs(pairs, run="sample", feature="gene", features=["g1", "g2", "g3"], runs=["a", "b", "c"])
    assert runs.labels == ("a", "b", "c")
    assert [runs.selected(run) for run in range(3)] == [["g2"], ["g1", "g3"], []]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hf.study.from_rfecv(RFECV(RidgeClassifier())), "Expected a fitted RFECV"),
        (lambda: hf.from_cross_validate({"test_score": [1]}), "return_estimator=True"),
        (lambda: hf.from_cross_validate([]), "return_estimator=True"),
        (lambda: hf.study.from_pairs(pd.DataFrame({"run": [1]}), n_features=3), "Expected a column 'feature'"),
        (
            lambda: hf.study.from_pairs(pd.DataFrame({"run": [1], "feature": ["a"]}), n_features=3, runs=[2]),
            "Expected only the runs that runs= lists, got 1",
        ),
    ],
)
def test_bad_input_is_told_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
