"""Every rule on cases whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tradeoff import RULES
from holdfast.tradeoff.points import make_points, mcnemar, resampled_t
from holdfast.tradeoff.rules import most_stable_not_worse
from results import make_result, scores_around, sets_with_core

SAME = [[0, 1, 2, 3, 4]] * 20


def study(**scores_and_sets):
    return make_result({name: {"scores": scores, "sets": sets} for name, (scores, sets) in scores_and_sets.items()})


def front():
    """Four compromises and one that is dominated; the second is the knee."""
    return study(
        first=(scores_around(0.90), sets_with_core(0.30, seed=1)),
        knee=(scores_around(0.89), sets_with_core(0.90, seed=2)),
        third=(scores_around(0.80), sets_with_core(0.96, seed=3)),
        last=(scores_around(0.60), SAME),
        beaten=(scores_around(0.50), sets_with_core(0.20, seed=4)),
    )


def test_accuracy_takes_the_best_score_and_among_equals_the_most_stable():
    assert front().choose("accuracy").candidate == "first"
    tied = study(
        a=(scores_around(0.9), sets_with_core(0.5)), b=(scores_around(0.9), SAME), c=(scores_around(0.8), SAME)
    )
    choice = tied.choose("accuracy")
    assert choice.candidate == "b"
    assert choice.beaten["why_not"].tolist() == ["as accurate, but not more stable", "accuracy is lower: 0.800"]


def test_one_se_takes_the_most_stable_near_the_best():
    scores = scores_around(0.90, spread=0.05)
    error = study(a=(scores, SAME)).pareto().frame["score_se"]["a"]
    near, far = 0.90 - 0.99 * error, 0.90 - 1.01 * error
    result = study(
        best=(scores, sets_with_core(0.5)),
        near=(scores_around(near), sets_with_core(0.8, seed=1)),
        far=(scores_around(far), SAME),
    )
    choice = result.choose()
    assert choice.candidate == "near"
    assert choice.rule == "one-se"
    assert choice.facts["standard_error"] == error
    assert choice.reason.startswith("Of 2 candidates within one standard error (0.0")
    assert choice.beaten["why_not"]["far"] == (
        f"accuracy {far:.3f} is more than one standard error ({error:.3f}) below the best (0.900)"
    )
    assert "not more stable" in choice.beaten["why_not"]["best"]


def test_one_se_says_so_where_nothing_else_is_near():
    choice = study(best=(scores_around(0.9, spread=0.001), sets_with_core(0.5)), far=(scores_around(0.5), SAME)).choose(
        "one-se"
    )
    assert choice.candidate == "best"
    assert choice.reason.startswith("best predicts best, and no other candidate is within one standard error")


@pytest.mark.parametrize("rule", ["one-se", "accuracy", "not-worse"])
def test_a_single_candidate_is_no_choice_and_no_reason_for_doubt(rule):
    choice = study(only=(scores_around(0.9), sets_with_core(0.5))).choose(rule)
    assert choice.reason == "There is only one candidate, only, so there was no choice to make."
    assert "better than it is" not in repr(choice)


def test_not_worse_takes_the_most_stable_of_those_that_are_not_significantly_worse():
    noise = scores_around(0.0, spread=0.02, seed=1)
    result = study(
        best=(0.90 + noise, sets_with_core(0.5)),
        equal=(scores_around(0.895, seed=2), sets_with_core(0.9)),
        worse=(0.70 + noise / 2, SAME),
    )
    choice = result.choose("not-worse")
    assert choice.candidate == "equal"
    assert choice.facts["test"] == "resampled-t"
    assert "corrected resampled t-test" in choice.reason
    assert choice.beaten["why_not"]["worse"].startswith(
        "accuracy 0.700 is significantly below the 0.900 of best (p < 0.001)"
    )


def folds(wrong, n=60, k=5):
    """Single folds with one prediction per row; ``wrong`` are the rows that a candidate predicts wrongly."""
    tests = [np.arange(n)[fold::k] for fold in range(k)]
    return tests, [[int(row in wrong) for row in test] for test in tests]


def folded(wrongs, sets, **more):
    built = {}
    for name, wrong in wrongs.items():
        tests, predicted = folds(set(wrong))
        scores = [1 - np.mean(one) for one in predicted]
        built[name] = {"sets": sets[name][:5], "scores": scores, "predicted": predicted}
    return make_result(built, design="folds", tests=tests, truth=[0] * 60, n_rows=48, **more)


def test_not_worse_uses_mcnemar_where_every_row_was_predicted_once():
    wrongs = {"best": range(2), "equal": range(5), "worse": range(20)}
    sets = {"best": sets_with_core(0.4), "equal": sets_with_core(0.9), "worse": SAME}
    choice = folded(wrongs, sets).choose("not-worse")
    assert choice.facts["test"] == "mcnemar"
    assert choice.candidate == "equal"
    assert choice.facts["p_values"]["worse"] == pytest.approx(2 * 2 * 0.5**18)  # 18 rows, none the other way, Holm
    assert "McNemar's test" in choice.reason
    uncorrected = folded(wrongs, sets).choose("not-worse", correction=None)
    assert uncorrected.facts["p_values"]["worse"] == pytest.approx(2 * 0.5**18)
    assert folded(wrongs, sets).choose("not-worse", test="resampled-t").facts["test"] == "resampled-t"


def test_holm_keeps_what_single_tests_would_drop():
    wrongs = {"best": range(2), "a": range(8), "b": range(8)}  # six rows: p = 0.031 alone, 0.0625 corrected
    sets = {"best": sets_with_core(0.4), "a": SAME, "b": sets_with_core(0.9)}
    assert folded(wrongs, sets).choose("not-worse").candidate == "a"
    assert folded(wrongs, sets).choose("not-worse", correction=None).candidate == "best"


def test_candidates_without_a_stability_do_not_count_in_the_correction_nor_in_redraws():
    wrongs = {"best": range(2), "a": range(8), "b": range(8)}  # p = 0.031 of a alone: b has no stability
    result = folded(wrongs, {"best": sets_with_core(0.4), "a": SAME, "b": [[]] * 20})
    points = make_points(result)
    assert result.choose("not-worse").candidate == "best"
    assert points.names[most_stable_not_worse(points.once)[0]] == "best"


def test_pooled_predictions_are_refused_for_mcnemar():
    result = make_result(
        {name: {"sets": SAME, "scores": scores_around(0.8), "predicted": [[0] * 20] * 20} for name in "ab"},
        truth=[0] * 20,
    )
    assert result.choose("not-worse").facts["test"] == "resampled-t"
    with pytest.raises(ValueError, match="Expected one held-out prediction per row"):
        result.choose("not-worse", test="mcnemar")


def test_more_predictions_than_rows_are_not_read_to_see_that_rows_repeat(monkeypatch):
    result = make_result(
        {name: {"sets": SAME, "scores": scores_around(0.8), "predicted": [[0] * 20] * 20} for name in "ab"}
    )
    monkeypatch.setattr(type(result), "predictions", lambda *_: pytest.fail("predictions were read"))
    assert result.choose("not-worse").facts["test"] == "resampled-t"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_mcnemar_equals_the_binomial_test(pairs):
    from scipy.stats import binomtest

    one, two = np.array(pairs).T
    gained, lost = int((one & ~two).sum()), int((two & ~one).sum())
    expected = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(one, two).p_value == pytest.approx(expected)


def test_the_corrected_t_test_follows_its_formula_and_knows_its_edges():
    import pandas as pd
    from scipy.stats import t

    splits = pd.DataFrame({"n_test": [20] * 10, "n_rows": [80] * 10})
    differences = np.random.default_rng(0).normal(0.1, 0.2, 10)
    error = differences.std(ddof=1) * np.sqrt(1 / 10 + 20 / 80)
    found = resampled_t(differences, splits)
    assert found.p_value == pytest.approx(2 * t.sf(abs(differences.mean()) / error, 9))
    assert resampled_t(np.zeros(10), splits).p_value == 1
    assert resampled_t(np.full(10, 0.1), splits).p_value == 0
    assert np.isnan(resampled_t(np.array([0.1]), splits[:1]).p_value)


def test_knee_takes_the_point_farthest_from_the_chord():
    choice = front().choose("knee")
    assert choice.candidate == "knee"
    assert "best compromise" in choice.reason
    assert choice.beaten["why_not"]["beaten"].startswith("another candidate is at least as accurate and as stable")


def test_knee_of_short_or_hollow_fronts():
    alone = study(a=(scores_around(0.9), SAME), b=(scores_around(0.8), sets_with_core(0.5)))
    assert alone.choose("knee").reason.startswith("a is the only candidate on the front")
    two = study(a=(scores_around(0.9), sets_with_core(0.5)), b=(scores_around(0.8), SAME))
    assert two.choose("knee").candidate == "a"
    hollow = study(
        a=(scores_around(0.9), sets_with_core(0.3)),
        b=(scores_around(0.61), sets_with_core(0.5, seed=1)),
        c=(scores_around(0.6), SAME),
    )
    choice = hollow.choose("knee")
    assert choice.candidate == "a"
    assert "nothing between the ends" in choice.reason


def test_at_least_asks_the_lower_end_of_the_interval():
    result = front()
    low = result.pareto().frame["low"]
    assert result.choose("at-least", stability=low["knee"]).candidate == "knee"
    assert result.choose("at-least", stability=low["knee"] + 1e-6).candidate == "third"
    assert result.stability("knee").value > low["knee"] + 1e-6
    with pytest.raises(ValueError, match=r"got 0\.\d+ at the most \(\w+\)"):
        result.choose("at-least", stability=0.9999)
    with pytest.raises(ValueError, match="Expected stability= for rule at-least"):
        result.choose("at-least")


def test_weighted_goes_from_the_most_stable_to_the_most_accurate():
    result = front()
    assert result.choose("weighted", weight=0).candidate == "last"
    assert result.choose("weighted", weight=1).candidate == "first"
    assert result.choose("weighted").candidate == "knee"
    with pytest.raises(ValueError, match="Expected a weight of the score from 0 to 1"):
        result.choose("weighted", weight=2)


def test_ties_go_to_fewer_features():
    assert (
        study(a=(scores_around(0.9), [[0, 1, 2]] * 20), b=(scores_around(0.9), [[0, 1]] * 20))
        .choose("accuracy")
        .candidate
        == "b"
    )


@pytest.mark.parametrize("rule", RULES)
def test_every_choice_says_why_and_what_it_was_measured_on(rule):
    from test_redraws import sized

    result = sized() if rule == "knot" else front()  # a knot needs several sizes of one selector
    choice = result.choose(rule, **({"stability": 0.5} if rule == "at-least" else {}))
    assert choice.candidate in choice.reason
    assert choice.reason.endswith(".")
    assert choice.reason.count("\n") == 0
    assert len(choice.beaten) == len(result.candidates) - 1
    assert (choice.beaten["why_not"].str.len() > 3).all()
    assert choice.measured_on.startswith("the same resamples that it was chosen on")
    assert not choice.nested
    assert choice.reason in repr(choice)
    assert choice.to_dict()["candidate"] == choice.candidate


def test_candidates_without_a_score_are_beaten_for_that_reason():
    result = make_result({"a": {"sets": SAME, "scores": scores_around(0.8)}, "b": {"sets": SAME}})
    assert result.choose("accuracy").beaten["why_not"]["b"] == "it has no score: no run has a score"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "one-sd"}, "did you mean 'one-se'?"),
        ({"rule": "accuracy", "weight": 1}, r"or parameters of the rule accuracy \(none\), got 'weight'"),
        ({"rule": "not-worse", "correction": "bonferroni"}, "Expected correction 'holm' or None"),
        ({"rule": "not-worse", "test": "t"}, "Expected test 'mcnemar' or 'resampled-t'"),
        ({"mesure": "jaccard"}, r"Expected options of choose \(rule, metric, measure, .*did you mean 'measure'"),
        ({"rule": "weighted", "wheight": 1}, r"the rule weighted \(weight\), got 'wheight'; did you mean 'weight'"),
    ],
)
def test_errors_are_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        front().choose(**options)
