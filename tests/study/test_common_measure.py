"""Candidates that give different things stand beside each other by one measure, of one kind of preference."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast import plots
from holdfast.preferences import Preferences
from holdfast.report import render, summarize
from holdfast.study.stabilities import common_size, take_best
from results import make_result, scores_around, sets_with_core

WEIGHTS = np.random.default_rng(0).random((20, 20))


def mixed():
    return make_result(
        {
            "sets of 3": {"sets": sets_with_core(0.7, size=3), "scores": scores_around(0.8)},
            "sets of 5": {"sets": sets_with_core(0.9, size=5), "scores": scores_around(0.8)},
            "weights": {"weights": WEIGHTS, "scores": scores_around(0.7)},
        }
    )


@pytest.fixture(scope="module")
def lasso_beside_filter():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    study = hf.Study(
        selectors={"lasso": make_pipeline(StandardScaler(), LassoCV(cv=3)), "k best": SelectKBest(k=6)},
        perturbation=hf.Bootstrap(12), estimator=make_pipeline(StandardScaler(), LogisticRegression()),
        scoring={"explained": squared}, task="classification",
    )  # fmt: skip
    return study.run(X, y)


def squared(model, X, y):
    return -float(np.mean((model.predict(X) - y) ** 2))


def test_features_of_weight_0_are_never_selected():
    weights = np.zeros((3, 8))
    weights[0, [5, 6]], weights[1, [1, 2, 3, 4]], weights[2, 7] = 1, [4, 3, 2, 1], 2
    cut = take_best(Preferences.from_weights(weights), 3)
    rows = np.split(*[cut.lists()[0], cut.lists()[1][1:-1]])
    assert [row.tolist() for row in rows] == [[5, 6], [1, 2, 3], [7]]
    assert take_best(Preferences.from_weights(np.zeros((2, 4))), 2).sizes.tolist() == [0, 0]


def test_ties_at_the_cut_are_not_broken_by_column_order():
    equal = np.ones((200, 10))
    cut = take_best(Preferences.from_weights(equal), 5)
    assert cut.sizes.tolist() == [5] * 200
    assert hf.stability(cut).value < 0.1
    last = np.tile([1.0, 2, 6.5, 6.5, 6.5, 6.5, 6.5, 6.5], (4, 1))  # six features that no run tells apart
    assert take_best(Preferences.from_rankings(last), 5).sizes.tolist() == [2] * 4


def test_the_common_size_is_the_median_of_the_subsets():
    assert mixed().common_measure().top == 4
    assert common_size([], 100) == 10
    assert common_size([], 7) == 3
    assert common_size([99.0], 20) == 19


def test_one_column_is_one_measure():
    result = mixed()
    table = result.summary()
    assert set(table["measure"]) == {"nogueira"}
    assert table["top"].dropna().to_dict() == {"weights": 4}
    cut = result.stability("weights", top=4)
    assert table["stability"]["weights"] == cut.value == result.compare().estimates["weights"].value
    assert plots.forest_data(result).set_index("name")["stability"]["weights"] == cut.value
    assert "weights" in repr(result)
    assert result.choose().candidate == "sets of 5"
    assert result.stability("weights").measure == "weight_correlation"  # alone, as it is


def test_what_all_give_is_measured_as_it_is():
    alike = make_result({"a": {"weights": WEIGHTS}, "b": {"weights": WEIGHTS[::-1]}})
    assert alike.common_measure().top is None
    assert set(alike.summary()["measure"]) == {"weight_correlation"}
    assert set(alike.summary("jaccard")["top"]) == {10}  # asked for subsets: the ten best of each run
    assert make_result({"a": {"sets": sets_with_core(0.5)}}).summary()["top"].isna().all()


def test_measures_of_weights_leave_subsets_out():
    table = mixed().summary("weight_correlation")
    assert table["stability"].isna().tolist() == [True, True, False]


def test_a_report_says_how_weights_were_compared(lasso_beside_filter):
    summary = summarize(lasso_beside_filter)
    expected = (
        "For lasso, which gives rankings or weights, the top 6 features of each resample counted as selected, as many "
        "as the other candidates select (median); features of weight 0 never did."
    )
    assert summary.common_measure == expected
    assert expected in summary.method.paragraph
    assert {one.stability.measure for one in summary.candidates} == {"nogueira"}
    assert not summary.tradeoff.missing
    for format in ("html", "md"):
        page = render(summarize(lasso_beside_filter), format)
        assert "the top 6 features of each resample" in page
        assert "weight_correlation" not in page
    lasso = summarize(lasso_beside_filter, candidate="lasso")
    assert lasso.features.top == 6
    assert "(for lasso: the selector's own model)" in lasso.method.paragraph
    cut = take_best(lasso_beside_filter.preferences("lasso"), 6)
    assert sum(lasso.features.table.count) == cut.sizes.sum()


def test_a_nested_choice_of_different_kinds_has_a_stability():
    X, y = load_breast_cancer(return_X_y=True)
    study = hf.Study(
        selectors={"weights": LogisticRegression(C=0.01), "k best": SelectKBest(k=6)}, perturbation=hf.Bootstrap(4),
        estimator=LogisticRegression(C=0.01),
    )  # fmt: skip
    from holdfast.tradeoff.nested import _stability

    found = study.run(X[:100] / X.std(axis=0), y[:100])
    runs = [found.preferences(name).take([0]) for name in ("weights", "k best", "k best")]
    assert _stability(runs, None).measure == "nogueira"
    assert _stability(runs[:1] * 2, None).measure == "weight_correlation"
