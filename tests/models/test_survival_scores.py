"""Scores of survival times: numbers of scikit-survival, curves by definition, and studies that compute them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast import selectors as of
from holdfast.kernels.survival_curves import breslow_hazard, kaplan_meier, kaplan_meier_interval
from holdfast.models import MODELS, SCORES, CoxRidge
from holdfast.models.block import Training, evaluation_times
from holdfast.models.cox import EqualRisk
from holdfast.models.scores import score_survival

SURVIVAL_SCORES = [name for name, score in SCORES.items() if score.about.tasks == ("survival",)]
CASES = json.loads(Path(__file__).with_name("survival_scores.json").read_text())["cases"]


def make(n=120, d=6, seed=0):
    """Features of which the first raises the hazard, with times and events."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    time, end = rng.exponential(np.exp(-X[:, 0])), rng.exponential(1.5, size=n)
    return X, hf.survival(np.minimum(time, end), time <= end)


@pytest.mark.parametrize("name", SURVIVAL_SCORES)
@pytest.mark.parametrize("case", CASES, ids=["bootstrap", "another", "ties"])
def test_scores_are_those_of_scikit_survival(name, case):
    X, y = np.array(case["x"])[:, None], hf.survival(case["time"], case["event"])
    train, test = case["train"], case["test"]
    model = CoxRidge(1.0).fit(X[train], y[train])
    assert model.coef_ == pytest.approx(case["coef"], abs=1e-9)
    training = Training(y, np.bincount(train, minlength=len(y))[None], np.zeros(1, int))
    assert score_survival(name, model, X[test], y[test], training) == pytest.approx(case[name], abs=1e-11)


def test_scores_are_equal_in_blocks_and_one_by_one_and_better_than_guessing():
    X, y = make()
    selectors = {"s": hf.Candidates(of.CoxScore(), sizes=[1, 3])}
    options = {"selectors": selectors, "perturbation": hf.Bootstrap(12), "scoring": SURVIVAL_SCORES}
    linear = MODELS["linear"].make(task="survival")
    fast, slow = (hf.Study(estimator=linear, fast_models=fast, **options).run(X, y) for fast in (True, False))
    scores = fast.scores[SURVIVAL_SCORES]
    pd.testing.assert_frame_equal(scores, slow.scores[SURVIVAL_SCORES], rtol=1e-9)
    baselines = fast.stored.baselines.groupby("metric")["value"].mean()
    assert baselines.drop("neg_integrated_brier_score").tolist() == [0.5] * 3
    assert (scores.mean() > baselines[SURVIVAL_SCORES] + 0.02).all()


class PredictsTimes(BaseEstimator):
    """As models of scikit-survival: survival functions at times of its own, and predictions that are no risks."""

    _predict_risk_score = False

    def fit(self, X, y):
        self.unique_times_ = np.array([0.5, 1.0, 2.0])
        return self

    def predict(self, X):
        return -X[:, 0]

    def predict_survival_function(self, X, return_array=False):
        assert return_array
        return np.exp(-self.unique_times_ * np.exp(X[:, [0]]))


def test_models_of_other_packages_and_pipelines_predict_survival():
    X, y = make()
    for model in (PredictsTimes(), make_pipeline(StandardScaler(), CoxRidge()), EqualRisk()):
        values = {name: score_survival(name, model.fit(X, y), X, y) for name in SURVIVAL_SCORES}
        good = not isinstance(model, EqualRisk)
        assert all((values[name] > 0.6) == good for name in SURVIVAL_SCORES[:3])
        assert values["neg_integrated_brier_score"] > -0.25
    with pytest.raises(ValueError, match="Expected a model with predict_survival_function"):
        score_survival("neg_integrated_brier_score", StandardScaler().fit(X), X, y)


def test_what_cannot_be_scored_is_nan_with_a_reason():
    X, y = make(40)
    y["event"][:20] = False
    y["time"][y["event"]] = 9
    for name in SURVIVAL_SCORES[:3]:
        with pytest.warns(UserWarning, match=f"{name} is undefined: no held-out row outlived an"):
            assert np.isnan(score_survival(name, CoxRidge().fit(X, y), X[20:], y[20:]))


def test_curves_are_products_and_sums_over_the_rows_at_risk():
    _, y = make(30, seed=3)
    y["time"] = np.ceil(y["time"] * 5)
    counts = np.random.default_rng(0).integers(0, 3, (2, 30))
    risk = np.random.default_rng(1).normal(size=(2, 30))
    for row in range(2):
        repeated = np.repeat(np.arange(30), counts[row])
        for t in (0.0, 1.0, 4.5, 99.0):
            survival, observed, hazard = 1.0, 1.0, 0.0
            for at in np.unique(y["time"][repeated]):
                here, at_risk = y[repeated]["time"] == at, y[repeated]["time"] >= at
                died, lost = (here & y[repeated]["event"]).sum(), (here & ~y[repeated]["event"]).sum()
                if at <= t:
                    survival *= 1 - died / at_risk.sum()
                    observed *= 1 - lost / (at_risk.sum() - died) if lost else 1
                    hazard += died / np.exp(risk[row][repeated][at_risk]).sum()
            assert kaplan_meier(y, counts).at([t])[row, 0] == pytest.approx(survival)
            assert kaplan_meier(y, counts, censoring=True).at([t], [row])[0] == pytest.approx(observed)
            assert breslow_hazard(y, risk, counts).at([t])[row, 0] == pytest.approx(hazard)


def test_the_interval_of_a_curve_is_that_of_greenwood_on_the_log_log_scale():
    y = hf.survival([1, 2, 3, 4], [1, 1, 0, 1])
    survival, low, high = kaplan_meier_interval(y, [0.5, 1, 2.5, 4])
    assert survival == pytest.approx([1, 0.75, 0.5, 0])
    error = np.sqrt(1 / 12 + 1 / 6) * 1.959963984540054 / np.log(2)
    assert (low[2], high[2]) == (pytest.approx(0.5 ** np.exp(error)), pytest.approx(0.5 ** np.exp(-error)))
    assert (low[0], high[0], low[3], high[3]) == (1, 1, 0, 0)


def test_survival_is_scored_up_to_the_80th_percentile_of_all_times():
    y = hf.survival(np.arange(101), np.ones(101))
    assert evaluation_times(y).tolist() == pytest.approx(list(range(5, 81, 5)))
