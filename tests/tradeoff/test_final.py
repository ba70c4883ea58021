"""The features to report, lists to check, known truth, and predictions beside selections."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression

import holdfast as hf
from holdfast.datasets import make_redundant
from holdfast.inference.features import frequency_interval
from holdfast.tradeoff.selected import judge_features
from results import make_result, scores_around, sets_with_core

RNG = np.random.default_rng(0)
TURNS = [[0, 1 + run % 2, 3 + RNG.integers(10)] for run in range(40)]  # 0 always, 1 and 2 in turn, others at random


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((60, 8)), columns=list("abcdefgh"))
    y = (X["a"] + X["b"] + 0.5 * rng.standard_normal(60) > 0).astype(int)
    return X, y


@pytest.fixture(scope="module")
def study():
    return hf.Study(selectors={"k": hf.Candidates(SelectKBest(), {"k": [2, 3]})}, perturbation=hf.Bootstrap(15))


def test_the_final_fit_is_the_candidate_s_on_all_rows(data, study):
    X, y = data
    found = study.run(X, y).final_features("k(k=2)", X, y)
    expected = X.columns[SelectKBest(k=2).fit(X, y).get_support()].tolist()
    assert found.selected == expected
    assert found.selected_on == "all 60 rows of the study"
    assert set(found.frame.loc[found.frame["consensus"], "frequency"].ge(0.5)) == {True}


def test_rows_kept_aside_are_called_so_and_other_columns_refused(data, study):
    X, y = data
    result = study.run(X[:40], y[:40])
    assert result.final_features("k(k=2)", X[40:], y[40:]).selected_on == "20 rows that are not those of the study"
    with pytest.raises(ValueError, match="Expected X with all features of the study, got none named 'h'"):
        result.final_features("k(k=2)", X.drop(columns="h"), y)
    with pytest.raises(ValueError, match=r"Expected the features of the study \(8, a first\), got 8 others"):
        result.final_features("k(k=2)", X[list("hgfedcba")], y)


def test_a_loaded_study_needs_its_plan(data, study, tmp_path):
    X, y = data
    first = study.run(X, y, store=tmp_path / "study.db").final_features("k(k=3)", X, y)
    loaded = hf.load_study(tmp_path / "study.db")
    with pytest.raises(ValueError, match="A final fit needs study=, the plan of the study"):
        loaded.final_features("k(k=3)", X, y)
    assert loaded.final_features("k(k=3)", X, y, study=study).selected == first.selected
    assert loaded.final_features("k(k=3)").selected_on is None


def test_final_fits_of_sizes_and_grids_are_those_of_the_study(data):
    X, y = data
    forest = hf.Candidates(RandomForestClassifier(5, random_state=0), {"max_depth": [1, 3]}, sizes=[2, 4])
    plan = hf.Study(selectors={"f": forest}, perturbation=hf.Bootstrap(3))
    found = plan.run(X, y).final_features("f(max_depth=3, size=4)", X, y)
    importances = RandomForestClassifier(5, random_state=0, max_depth=3).fit(X, y).feature_importances_
    assert set(found.selected) == set(X.columns[np.argsort(-importances)[:4]])


def test_frequencies_have_intervals_and_never_selected_features_count_as_never():
    result = make_result({"a": {"sets": TURNS}})
    found = result.final_features("a", threshold=0.4)
    assert found.consensus == [0, 1, 2]
    low, high = frequency_interval(np.array([40, 20, 20]), 40, 0.95)
    assert np.allclose(found.frame["low"], low)
    assert np.allclose(found.frame["high"], high)
    assert "no final fit" in repr(found)


def test_stand_ins_take_turns():
    found = make_result({"a": {"sets": TURNS}}).final_features("a", threshold=0.4)
    told = dict(zip(found.frame["feature"], found.frame["stand_ins"], strict=True))
    assert told == {0: (), 1: (2,), 2: (1,)}


def test_with_data_stand_ins_must_be_correlated_too():
    result = make_result({"a": {"sets": TURNS}})
    X = np.random.default_rng(0).standard_normal((100, 20))
    assert judge_features([1], result, "a", X=X)["stand_ins"].tolist() == [()]
    X[:, 2] = X[:, 1] + 0.1 * X[:, 2]
    assert judge_features([1], result, "a", X=X)["stand_ins"].tolist() == [(2,)]
    with pytest.raises(ValueError, match="Expected X with the 20 features of the study, got 3 columns"):
        judge_features([1], result, "a", X=X[:, :3])


def test_columns_of_text_stand_in_for_none():
    result = make_result({"a": {"sets": TURNS}})
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((100, 20)))
    X[2] = X[1]
    assert judge_features([1], result, "a", X=X)["stand_ins"].tolist() == [(2,)]
    assert judge_features([1], result, "a", X=X.assign(flag=True).astype(object))["stand_ins"].tolist() == [(2,)]
    X[2] = np.where(X[1] > 0, "yes", None)
    assert judge_features([1], result, "a", X=X)["stand_ins"].tolist() == [()]


def test_features_that_come_and_go_at_random_have_no_stand_ins():
    rng = np.random.default_rng(3)
    sets = [np.flatnonzero(rng.random(30) < 0.4).tolist() or [0] for _ in range(60)]
    found = judge_features(range(30), make_result({"a": {"sets": sets}}, n_features=30), "a")
    assert (found["stand_ins"].str.len() > 0).sum() <= 2


HALF = {"perturbation": "Subsample", "fraction": 0.5}
PAIRS = {"design": "pairs", "blocks": np.repeat(range(20), 2).tolist()}


@pytest.mark.parametrize(
    ("more", "threshold", "told"),
    [
        (
            {"design": "pairs", "blocks": np.repeat(range(20), 2).tolist()},
            0.75,
            "at most 0.9 features that halves select",
        ),
        ({"perturbation": HALF}, 0.75, "at most 0.9 features of noise, if these are exchangeable"),
        ({"perturbation": HALF}, 0.5, "no bound on false features, which needs a threshold above 0.5"),
        (
            {"perturbation": {**HALF, "fraction": 0.6}},
            0.75,
            "no bound on false features, which needs resamples of half",
        ),
        ({}, 0.75, "no bound on false features, which needs resamples of half"),
    ],
)
def test_the_error_bound_is_told_only_where_it_holds(more, threshold, told):
    found = make_result({"a": {"sets": TURNS}}, **more).final_features("a", threshold=threshold)
    assert found.bound.sentence.startswith(told)  # q² / ((2π − 1) d) = 9 / (0.5 · 20)
    assert np.isnan(found.bound.value) == told.startswith("no bound")


def test_there_is_no_bound_for_sizes_that_vary():
    sets = [[0, 1], [0], *TURNS[2:]]
    found = make_result({"a": {"sets": sets}}, perturbation=HALF).final_features("a", threshold=0.9)
    assert "resamples that all select equally many features" in found.bound.sentence


def test_a_list_is_checked_name_by_name():
    sets = [[0, 1 + run % 2, *([3] if run % 2 else []), *([4] if run < 16 else []), 6 + run % 9] for run in range(40)]
    guessing = [(run, "always 0", "accuracy", 0.5) for run in range(40)]
    result = make_result({"a": {"sets": sets, "scores": scores_around(0.9, 40)}}, baselines=guessing)
    found = judge_features([0, 1, 4, 5, "gene"], result)
    twice = "does not hold; at most twice chance"
    assert found["verdict"].tolist() == ["holds", "takes turns", "undecided", twice, "unknown"]
    assert found["count"].tolist() == [40, 20, 16, 0, 0]
    assert found.loc[1, "with_stand_ins"] == 1
    assert np.isnan(found.loc["gene", "frequency"])
    rare = [[0, *([1] if run < 10 else [])] for run in range(40)]
    assert judge_features([1], make_result({"a": {"sets": rare}}), "a")["verdict"].tolist() == ["does not hold"]


def test_the_rarer_feature_has_no_softer_word():
    """None, 3, 10 and 25 of 100 runs, where chance is 2 %: all of them do not hold."""
    sets = [
        [0, *([1] if run < 25 else []), *([2] if run < 10 else []), *([3] if run < 3 else [])] for run in range(100)
    ]
    for n_features in (20, 500, 7000):
        found = judge_features([1, 2, 3, 4], make_result({"a": {"sets": sets}}, n_features=n_features), "a")
        assert all(verdict.startswith("does not hold") for verdict in found["verdict"])


def test_chance_has_two_labels():
    """Five of 40 runs where chance is 6.25 %: not shown to exceed it, and not shown to stay below twice as much."""
    sets = [[0, *([1] if run < 5 else []), *([2] if run < 1 else [])] for run in range(40)]
    few = judge_features([1, 2], make_result({"a": {"sets": sets}}, n_features=20), "a")
    assert few["verdict"].tolist() == ["does not hold; may be chance", "does not hold; may be chance"]
    many = make_result({"a": {"sets": [one for one in sets for _ in range(5)]}}, n_features=20)
    assert judge_features([2], many, "a")["verdict"].tolist() == ["does not hold; at most twice chance"]


@pytest.mark.parametrize("n_runs", [20, 100])
@pytest.mark.parametrize("strengths", [(0.0, 1.0, 5.0), (0.1,) * 11 + (2.1,) * 9, (1.0,), (0.2, 0.5, 0.6, 0.7, 3.0)])
def test_what_is_said_to_be_at_most_twice_chance_is(n_runs, strengths):
    """Features with known probabilities: of those so labeled, at least 95 % are truly at most twice chance."""
    rng = np.random.default_rng(n_runs)
    right = said = 0
    for _ in range(20 if os.environ.get("HOLDFAST_HEAVY") else 2):
        p = np.repeat(np.array(strengths) / np.mean(strengths) * 0.1, 200 // len(strengths))
        sets = [np.flatnonzero(rng.random(p.size) < p).tolist() for _ in range(n_runs)]
        found = judge_features(range(p.size), make_result({"a": {"sets": sets}}, n_features=p.size), "a")
        labeled = (found["verdict"] == "does not hold; at most twice chance").to_numpy()
        said, right = said + labeled.sum(), right + (p[labeled] <= 2 * p.mean() + 1e-12).sum()
    assert right >= 0.95 * said


def test_several_candidates_must_be_told_apart():
    result = make_result({"a": {"sets": TURNS}, "b": {"sets": TURNS}})
    with pytest.raises(ValueError, match=r"Expected candidate= to say which of 2 to check .*\(a, b\)"):
        judge_features([0], result)


def test_rankings_need_a_size():
    weights = np.random.default_rng(0).random((10, 20))
    result = make_result({"a": {"weights": weights}})
    with pytest.raises(ValueError, match="say with top= how many"):
        result.final_features("a")
    assert len(judge_features([0], result, "a", top=5)) == 1
    with pytest.raises(ValueError, match="Expected rankings or weights to cut"):
        make_result({"a": {"sets": TURNS}}).final_features("a", top=3)


def test_recovery_counts_per_run_and_for_the_consensus():
    sets = [[0, 1, 5], [0, 2, 5], [0, 5, 6], [0, 1, 7]]
    found = make_result({"a": {"sets": sets}}).recovery([0, 1, 2, 3], "a")
    assert found.runs["false_positives"].tolist() == [1, 1, 2, 1]
    assert found.runs["false_negatives"].tolist() == [2, 2, 3, 2]
    assert found.consensus == ([5], [2, 3])
    assert found.final is None
    assert found.relevant == [0, 1, 2, 3]
    assert found.features["frequency"].tolist()[:4] == [1.0, 0.5, 0.25, 0.0]
    assert "the consensus at 0.5 has 1 false ones and misses 2." in repr(found)
    with pytest.raises(ValueError, match="Expected relevant features by name or by column"):
        make_result({"a": {"sets": sets}}).recovery(["x"], "a")


def test_recovery_takes_the_truth_of_simulated_data():
    X, y, truth = make_redundant(0.0, n_samples=100, n_features=12, n_relevant=4, random_state=0)
    plan = hf.Study(selectors={"k": SelectKBest(f_classif, k=4)}, perturbation=hf.Bootstrap(5))
    found = plan.run(X, y).recovery(truth, "k")
    assert found.consensus == ([], [])


def test_recovery_of_a_fit_to_rows_that_took_no_part_in_the_study():
    X, y, truth = make_redundant(0.5, n_samples=60, n_features=20, n_relevant=6, random_state=0)
    grid = {"penalty_strength": [0.3, 0.01]}
    plan = hf.Study(
        selectors={"lasso": hf.Candidates(hf.selectors.ElasticNetPath(), grid)}, perturbation=hf.Bootstrap(5)
    )
    result = plan.run(X[:30], y[:30])
    for strength, candidate in zip(grid["penalty_strength"], result.candidates, strict=True):
        found = result.recovery(truth, candidate, X[30:], y[30:])
        alone = hf.selectors.ElasticNetPath(strength).fit(X[30:], y[30:]).get_support()
        assert found.final.false_positives == np.flatnonzero(alone & (np.arange(20) >= 6)).tolist()
        assert found.final.false_negatives == np.flatnonzero(~alone[:6]).tolist()
        assert found.selected_on == "30 rows that are not those of the study"
        assert f"a fit to 30 rows that are not those of the study has {len(found.final.false_positives)} false" in repr(
            found
        )
        assert found.to_dict()["final"]["false_negatives"] == found.final.false_negatives
    assert result.recovery(truth, candidate, X[:30], y[:30]).selected_on == "all 30 rows of the study"
    with pytest.raises(ValueError, match="Expected both X and y for a final fit, got only X"):
        result.recovery(truth, candidate, X[30:])


# Predictions


def test_redundant_features_predict_alike_although_selections_differ():
    rng = np.random.default_rng(0)
    signal = rng.standard_normal(120)
    X = np.column_stack([signal + 0.02 * rng.standard_normal(120) for _ in range(15)])
    plan = hf.Study(selectors={"k": SelectKBest(k=2)}, perturbation=hf.Bootstrap(15), estimator=LogisticRegression())
    found = plan.run(X, (signal > 0).astype(int)).prediction_agreement("k")
    assert found.value > 0.9
    assert found.stability < 0.5
    assert found.verdict.startswith("the selections differ, the predictions hardly do")


def test_noise_predicts_and_selects_differently():
    rng = np.random.default_rng(0)
    plan = hf.Study(selectors={"k": SelectKBest(k=3)}, perturbation=hf.Bootstrap(15), estimator=LogisticRegression())
    found = plan.run(rng.standard_normal((60, 100)), np.arange(60) % 2).prediction_agreement("k")
    assert found.verdict == "selections and predictions both differ: noise"


def test_agreement_of_predictions_is_fleiss_kappa():
    tests = [[0, 1, 2], [0, 1, 3], [0, 2, 3]]
    predicted = [[0, 1, 1], [0, 1, 0], [1, 1, 0]]
    result = make_result({"a": {"sets": sets_with_core(0.9, 3), "predicted": predicted}}, tests=tests)
    found = result.prediction_agreement("a")
    agreeing = 2 + 2 + 2 + 2  # rows 0 (2 of 6 ordered pairs), 1, 2 and 3 (both of 2)
    assert found.observed == pytest.approx(agreeing / 12)
    assert found.expected == pytest.approx((4 / 9) ** 2 + (5 / 9) ** 2)
    assert found.value == pytest.approx((found.observed - found.expected) / (1 - found.expected))
    assert found.n_rows == 4


def test_predictions_of_numbers_agree_by_the_intraclass_correlation():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    from sklearn.feature_selection import f_regression
    from sklearn.linear_model import LinearRegression

    plan = hf.Study(
        selectors={"k": SelectKBest(f_regression, k=2)}, perturbation=hf.Bootstrap(8), estimator=LinearRegression()
    )
    found = plan.run(X, X[:, 0] + X[:, 1] + 0.1 * rng.standard_normal(80)).prediction_agreement("k")
    assert 0.95 < found.value <= 1
    assert np.isnan(found.observed)


def test_single_folds_share_no_held_out_row():
    result = make_result(
        {"a": {"sets": sets_with_core(0.9, 3), "predicted": [[0], [1], [0]], "scores": scores_around(0.5, 3)}},
        tests=[[0], [1], [2]],
        design="folds",
    )
    found = result.prediction_agreement("a")
    assert np.isnan(found.value)
    assert found.verdict.startswith("no row was held out by two resamples")
