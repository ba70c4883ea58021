"""Stability against size and against the sample; knots; mean ranks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.inference.designs import agreement_by_fraction
from holdfast.study.orders import UnansweredError
from holdfast.tradeoff.profiles import entering, find_knots, find_sizes
from results import make_result, scores_around, sets_with_core


def weights(core, d=100, n_runs=30, seed=0, spread=0.3):
    """The first ``core`` features in nearly the same order, the others in any."""
    rng = np.random.default_rng(seed)
    ordered = np.concatenate([10 + np.arange(core)[::-1], np.zeros(d - core)])
    return ordered + rng.standard_normal((n_runs, d)) * np.where(np.arange(d) < core, spread, 1.0)


SIZES = [1, 2, 3, 5, 8, 12, 16, 20, 25, 32, 40, 55, 75, 100]


@pytest.mark.parametrize("core", [5, 12, 20, 40])
def test_the_knot_is_where_random_features_begin(core):
    found = make_result({"a": {"weights": weights(core)}}, n_features=100).profile("a", sizes=SIZES)
    assert found.knots == [core]
    after = found.frame[(found.frame["size"] > core) & (found.frame["size"] < 100)]
    assert (after["entering"].abs() < 0.1).all()
    assert (found.frame["entering"][found.frame["size"] <= core] > 0.5).all()


def test_random_orders_have_no_knot_and_no_stability():
    found = make_result({"a": {"weights": weights(0)}}, n_features=100).profile("a", sizes=SIZES)
    assert found.knots == []
    assert found.frame["stability"].iloc[:-1].abs().max() < 0.1
    assert np.isnan(found.frame["stability"].iloc[-1])  # all features are no selection


def test_features_of_no_weight_are_ordered_at_random_not_by_column():
    zeros = weights(10)
    zeros[:, 10:] = 0
    found = make_result({"a": {"weights": zeros}}, n_features=100).profile("a", sizes=SIZES)
    assert found.knots == [8, 12] or found.knots == [12]  # twelve is the first size with all ten
    assert found.frame["entering"].iloc[SIZES.index(20)] == pytest.approx(0, abs=0.1)


def test_features_may_enter_at_random_and_in_order_again():
    rng = np.random.default_rng(0)
    level = np.repeat([30.0, 20.0, 10.0, 0.0], [8, 300, 20, 72])
    order = np.where(np.isin(level, [20, 0]), rng.standard_normal((30, 400)), -np.arange(400) * 0.01)
    result = make_result({"a": {"weights": level + order}}, n_features=400)
    assert result.profile("a", sizes=[4, 8, 16, 32, 64, 308, 318, 328, 350, 375]).knots == [8, 328]


@pytest.mark.parametrize("measure", ["jaccard", "nogueira", "kuncheva"])
def test_the_random_baseline_is_what_random_orders_have(measure):
    result = make_result({"a": {"weights": np.random.default_rng(1).random((60, 40))}}, n_features=40)
    frame = result.profile("a", measure, sizes=[2, 10, 30]).frame
    assert np.allclose(frame["stability"], frame["random"], atol=0.03)


def test_intervals_and_values_are_those_of_the_cut_runs():
    result = make_result({"a": {"weights": weights(10)}}, n_features=100)
    row = result.profile("a", sizes=[7]).frame.iloc[0]
    expected = hf.stability(result.preferences("a").top(7))
    assert (row["stability"], row["low"], row["high"]) == pytest.approx((expected.value, *expected.ci()))


def test_entering_is_zero_on_average_for_features_that_enter_at_random():
    rng = np.random.default_rng(0)
    values = []
    for _ in range(200):
        order = rng.permuted(np.tile(np.arange(30), (2, 1)), axis=1)
        overlaps = {k: np.array([len(set(order[0, :k]) & set(order[1, :k]))], dtype=float) for k in (5, 12, 20)}
        values.append(entering(overlaps, 30)[0])
    assert np.abs(np.mean(values, axis=0)).max() < 0.05


def test_knots_need_two_random_steps_or_the_end():
    assert find_knots([1, 2, 3, 4, 5], [0.9, 0.1, 0.9, 0.0, 0.0], 0.2) == [3]
    assert find_knots([1, 2, 3, 4, 5], [0.9, 0.1, 0.0, 0.9, 0.1], 0.2) == [1, 4]
    assert find_knots([1, 2, 3], [0.9, 0.9, np.nan], 0.2) == []


def test_a_selector_with_sizes_has_a_profile_with_scores():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 12)), np.arange(60) % 2
    X[:, :3] += y[:, None]
    sizes = hf.Candidates(SelectKBest(), {"k": [1, 3, 6]})
    result = hf.Study(selectors={"anova": sizes}, perturbation=hf.Bootstrap(10), estimator=KNeighborsClassifier(3)).run(
        X, y
    )
    frame = result.profile("anova").frame
    assert frame["size"].tolist() == [1, 3, 6]
    assert frame["score"].tolist() == [result.summary()["accuracy"][f"anova(k={k})"] for k in (1, 3, 6)]


def test_blocks_are_measured_inside():
    blocks = np.repeat(range(15), 2).tolist()
    result = make_result({"a": {"weights": weights(12)}}, n_features=100, design="pairs", blocks=blocks)
    assert result.profile("a", sizes=SIZES).knots == [12]


@pytest.mark.parametrize("design", [hf.Bootstrap(12), hf.NestedFolds(4, 3)], ids=["bootstrap", "nested folds"])
def test_selections_are_filled_up_with_features_without_information_on_demand(design):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 40)), np.arange(90) % 2
    X[:, :5] += 3 * y[:, None]
    gain = hf.Candidates(hf.selectors.InformationGain(), sizes=[3, 5], keep="weights")
    result = hf.Study(selectors={"gain": gain}, perturbation=design).run(X, y)
    sizes = [3, 5, 8, 20, 40]
    bare, filled = (result.profile("gain", "jaccard", sizes=sizes, fill=fill) for fill in (False, True))
    assert filled.frame["stability"].iloc[:2].tolist() == bare.frame["stability"].iloc[:2].tolist()
    assert filled.frame["stability"].iloc[-1] == 1 > bare.frame["stability"].iloc[-1]  # all features
    assert filled.frame["stability"].iloc[2] < bare.frame["stability"].iloc[2]
    assert filled.knots in ([5], [8])  # a feature of noise may pass in most resamples


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.profile("b"), "Expected a candidate that gives rankings or weights"),
        (lambda r: r.profile("a", "spearman"), "Expected a measure of subsets for a profile"),
        (lambda r: r.profile("a", tolerance=1), "Expected a tolerance from 0 to below 1"),
        (lambda r: r.fraction_profile(), "Expected a study with hf.NestedSubsamples, got one of runs"),
        (lambda r: r.setting_ranks("alpha"), "Expected candidates that set 'alpha', got none"),
        (lambda r: r.setting_ranks(of="speed"), "Expected 'stability' or a score"),
    ],
)
def test_errors_are_one_sentence(call, message):
    result = make_result({"a": {"weights": weights(5)}, "b": {"sets": [[0, 1]] * 30}}, n_features=100)
    with pytest.raises(ValueError, match=message):
        call(result)


# Shrinking samples


def test_agreement_and_score_by_fraction():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 15)), np.arange(80) % 2
    X[:, :3] += y[:, None]
    plan = hf.Study(
        selectors={"k": SelectKBest(k=3)},
        perturbation=hf.NestedSubsamples(8, (0.25, 0.75)),
        estimator=KNeighborsClassifier(3),
    )
    result = plan.run(X, y)
    found = result.fraction_profile()
    assert found["fraction"].tolist() == [0.25, 0.75, 1.0]
    agreements = agreement_by_fraction(result.runs_by_block("k"), hf.MEASURES["nogueira"])
    assert found["agreement"].tolist()[:2] == [agreements[fraction].mean() for fraction in (0.25, 0.75)]
    assert np.isnan(found["agreement"].iloc[2])
    assert found["agreement"].iloc[0] < found["agreement"].iloc[1]
    whole = result.scores[result.scores["run"].str.endswith("at 1")]["accuracy"]
    assert found["score"].iloc[2] == pytest.approx(whole.mean())
    assert (found["low"] <= found["agreement"]).iloc[:2].all()
    with pytest.raises(ValueError, match=r"Expected one of the study's scores \(accuracy\), got 'speed'"):
        result.fraction_profile(metric="speed")


def shrunk(scores, sets=None, **settings):
    """Three samples at 0.25, 0.5 and 1 that score as told, one row per sample."""
    sets = sets or [[[0, 1], [0, 2], [0, 1]]] * 3
    return {"sets": [run for sample in sets for run in sample], "scores": np.ravel(scores).tolist(), **settings}


def made_of_samples(**candidates):
    blocks, fractions = np.repeat([0, 1, 2], 3).tolist(), [0.25, 0.5, 1.0] * 3
    return make_result(candidates, design="nested_subsamples", blocks=blocks, fractions=fractions)


SCORES = np.array([[0.5, 0.6, 0.9], [0.6, 0.8, 0.9], [0.4, 0.7, 0.9]])


def test_a_row_of_a_summary_is_at_the_same_sizes_throughout():
    result = made_of_samples(a=shrunk(SCORES))
    means = SCORES[:, :2].mean(axis=1)
    row, point = result.summary().loc["a"], result.pareto().frame.loc["a"]
    assert row["accuracy"] == point["score"] == pytest.approx(means.mean())
    error = means.std(ddof=1) * np.sqrt(1 / 3 + 20 / 80)  # three samples, 20 rows tested for 80 trained
    assert row["accuracy_se"] == point["score_se"] == pytest.approx(error)
    assert row["stability"] == result.stability("a").value
    assert "means over the fractions 0.25, 0.5)" in repr(result)
    for place, size in enumerate((0.25, 0.5)):
        row = result.summary(fraction=size).loc["a"]
        assert row["accuracy"] == pytest.approx(SCORES[:, place].mean())
        assert row["stability"] == result.stability("a", fraction=size).value
        assert row["stability"] == result.fraction_profile()["agreement"][place]
    whole = result.summary(fraction=1).loc["a"]
    assert whole["accuracy"] == pytest.approx(0.9)
    assert np.isnan(whole["stability"])
    assert "not with itself" in whole["reason"]


def test_the_error_of_a_mean_over_sizes_takes_the_mean_ratio_of_tested_to_trained_rows():
    plan = hf.Study(
        selectors={"k": SelectKBest(k=2)},
        perturbation=hf.NestedSubsamples(6, (0.25, 0.75)),
        estimator=KNeighborsClassifier(3),
    )
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((60, 8)), np.arange(60) % 2
    result = plan.run(X, y)
    splits = result.stored.splits.query("fraction < 1")
    means = (
        result.scores.set_axis(result.stored.splits.index).loc[splits.index, "accuracy"].groupby(splits["block"]).mean()
    )
    error = np.sqrt((1 / 6 + (splits["n_test"] / splits["n_rows"]).mean()) * means.var())
    assert result.summary().loc["k", "accuracy"] == pytest.approx(means.mean())
    assert result.summary().loc["k", "accuracy_se"] == pytest.approx(error)


def test_samples_that_lost_a_size_count_for_neither_score_nor_stability():
    lost = SCORES.astype(object)
    lost[1, 0] = None
    sets = [[[0, 1], [0, 1], [0, 1]], [None, [2, 3], [0, 1]], [[0, 1], [0, 1], [0, 1]]]
    result = made_of_samples(a=shrunk(lost, sets))
    assert result.summary().loc["a", "accuracy"] == pytest.approx(SCORES[[0, 2], :2].mean())
    assert result.stability("a").value == 1
    assert np.nanmin(result.pareto().stabilities) == 1
    assert result.summary(fraction=0.5).loc["a", "accuracy"] == pytest.approx(SCORES[:, 1].mean())
    never = made_of_samples(a=shrunk(lost, [[None, *sample[1:]] for sample in sets]))
    with pytest.warns(hf.UndefinedStabilityWarning, match=r"at every smaller size \(0.25, 0.5\); choose one size with"):
        assert np.isnan(never.stability("a").value)
    assert never.stability("a", fraction=0.5).value < 1


def test_settings_are_ranked_at_the_same_sizes():
    """One is better at smaller sizes, the other as a whole."""
    early = shrunk(SCORES, family="m", settings={"a": "early", "size": 5})
    late = shrunk(SCORES - [0.1, 0.1, -0.05], family="m", settings={"a": "late", "size": 5})
    result = made_of_samples(early=early, late=late)
    for fraction, best in ((None, "early"), (0.25, "early"), (1, "late")):
        ranks = result.setting_ranks("size", of="accuracy", fraction=fraction)["rank"]
        assert ranks.idxmin() == f"m(a={best})"


def test_sizes_that_a_study_does_not_have_are_named():
    with pytest.raises(ValueError, match=r"Expected one of the sizes 0.25, 0.5, 1, got 0.3"):
        made_of_samples(a=shrunk(SCORES)).summary(fraction=0.3)
    with pytest.raises(ValueError, match=r"Expected a study with hf.NestedSubsamples for fraction=, got one of runs"):
        make_result({"a": {"sets": sets_with_core(0.7), "scores": scores_around(0.8)}}).setting_ranks(fraction=0.3)


def test_the_sizes_that_can_be_asked_for_are_those_of_orders_or_of_candidates():
    unsized = {f"m(a={a})": {"family": "m", "settings": {"a": a}, "sets": sets_with_core(0.5)} for a in (1, 2)}
    sized = {f"s(k={k})": {"family": "s", "settings": {"k": k}, "sets": sets_with_core(0.5)} for k in (9, 4)}
    result = make_result(
        {"ordered": {"weights": weights(5, d=20)}, **unsized, **sized, "free": {"sets": sets_with_core(0.5)}}
    )
    assert find_sizes(result, "ordered") == range(1, 21)
    assert find_sizes(result, "s") == [4, 9]
    for name, why in {"m": "differ in more than the number", "free": "as many features as it finds"}.items():
        with pytest.raises(UnansweredError) as error:
            find_sizes(result, name)
        assert why in error.value.plain


# Mean ranks


def test_ties_share_the_best_rank():
    table = pd.DataFrame({"a": [0.5, 0.5, 0.9], "b": [0.5, 0.4, 0.1], "c": [0.5, 0.6, 0.1 + 1e-15]})
    found = hf.tradeoff.mean_ranks(table)
    assert found["rank"].tolist() == pytest.approx([(1 + 2 + 1) / 3, (1 + 3 + 2) / 3, (1 + 1 + 2) / 3])
    assert found["sd"].tolist() == pytest.approx([np.std(ranks, ddof=1) for ranks in ([1, 2, 1], [1, 3, 2], [1, 1, 2])])
    assert found["conditions"].tolist() == [3, 3, 3]
    assert hf.tradeoff.mean_ranks(-table, higher_is_better=False).equals(hf.tradeoff.mean_ranks(table))


def test_the_totals_of_the_2009_tables_follow():
    """Five methods that tie at the first and the last of d sizes: ranks total 15 - 20 / d (Wine: 13.46)."""
    d = 13
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((d, 5)))
    table.iloc[[0, -1]] = 0.5
    assert hf.tradeoff.mean_ranks(table)["rank"].sum() == pytest.approx(15 - 20 / d)


def test_settings_are_ranked_over_a_parameter():
    sets = {("x", 1): 0, ("y", 1): 0, ("x", 2): 1, ("y", 2): 0}
    candidates = {
        f"m({a}, {k})": {
            "family": "m",
            "settings": {"a": a, "size": k},
            "sets": [[0, 1 + run * unsteady] for run in range(10)],
            "scores": scores_around(0.8, 10),
        }
        for (a, k), unsteady in sets.items()
    }
    found = make_result(candidates).setting_ranks("size")
    assert found["rank"].to_dict() == {"m(a=y)": 1.0, "m(a=x)": 1.5}
    assert found["sd"].tolist() == pytest.approx([0, np.sqrt(0.5)])
    assert found["conditions"].tolist() == [2, 2]
    by_score = make_result(candidates).setting_ranks("size", of="accuracy")
    summary = make_result(candidates).summary()["accuracy"]
    table = (
        pd.DataFrame({a: [summary[f"m({a}, {k})"] for k in (1, 2)] for a in "xy"}).add_prefix("m(a=").add_suffix(")")
    )
    assert by_score["rank"].to_dict() == hf.tradeoff.mean_ranks(table)["rank"].to_dict()


def test_some_candidates_are_ranked_among_themselves():
    scores = {"a": 0.9, "b": 0.8, "c": 0.7}
    candidates = {
        f"{name}{k}": {"family": name, "settings": {"size": k}, "sets": [[0]] * 10, "scores": [score] * 10}
        for name, score in scores.items()
        for k in (1, 2)
    }
    found = make_result(candidates).setting_ranks("size", of="accuracy", candidates=["b1", "b2", "c1", "c2"])
    assert found["rank"].to_dict() == {"b": 1, "c": 2}
    result = make_result(candidates)
    assert result.summary(candidates=["c2", "a1"]).equals(result.summary().loc[["c2", "a1"]])
    with pytest.raises(ValueError, match="Expected one of the candidates a1, a2"):
        result.summary(candidates=["d"])
    with pytest.raises(ValueError, match="Expected at least one candidate, got none"):
        result.summary(candidates=[])


def test_undefined_rows_are_left_out_and_nothing_left_is_an_error():
    found = hf.tradeoff.mean_ranks(pd.DataFrame({"a": [1, np.nan], "b": [2, 3]}))
    assert found["rank"].tolist() == [2, 1]
    assert found["sd"].isna().all()
    with pytest.raises(ValueError, match="Expected at least one row"):
        hf.tradeoff.mean_ranks(pd.DataFrame({"a": [np.nan]}))
