"""Stability of what models use: from stored coefficients and refitted models, next to that of the list, in reports."""

import json
import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app
from holdfast.report import Summary, render, summarize
from holdfast.report.verdict import say_what_is_used, warn_of_unused
from holdfast.selectors import AnovaF, HybridRFE
from holdfast.study import UnansweredError
from holdfast.study.data import prepare_data
from holdfast.tradeoff.importance import change_of_output
from study_parts import small_data

X, Y = small_data(n=80)
LINEAR = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))


def run(estimator=LINEAR, y=Y, selectors=None, n=12, **options):
    selectors = selectors or {"f": hf.Candidates(AnovaF(), sizes=[3, 5])}
    study = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(n), estimator=estimator)
    return study.run(X, y, **options)


@pytest.fixture(scope="module")
def linear():
    return run()


@pytest.fixture(scope="module")
def hybrids():
    """Three features of large variance that carry nothing are forced; thirty others are as good as each other."""
    table = np.random.default_rng(1).normal(size=(80, 40))
    table[:, :30] += 0.6 * Y[:, None]
    table[:, 30:33] *= 5
    grid = {"n_forced": [0, 3], "C_final": [0.1]}
    plan = hf.Study({"h": hf.Candidates(HybridRFE(5, C=0.1), grid, keep="selected")}, hf.Bootstrap(40))
    return plan.run(table, Y)


def weights_of(result, name):
    weights = np.zeros((result.n_splits, len(result.feature_names)))
    for part in result.model_coefficients(name):
        weights[part.split, part.features] = np.abs(part.values)
    return weights


@pytest.mark.parametrize("measure", ["used_again", "shared_importance"])
def test_a_study_measures_what_its_models_use(linear, measure):
    expected = hf.stability(weights_of(linear, "f(size=5)"), measure)
    found = linear.stability("f(size=5)", measure)
    assert (found.value, found.ci()) == (expected.value, expected.ci())
    assert linear.importance_stability("f(size=5)", measure).value == expected.value
    assert found.mean_size == 5
    assert linear.summary(measure).loc["f(size=5)", "stability"] == expected.value


def test_everything_that_takes_a_measure_takes_these(linear):
    assert linear.compare(measure="used_again").pairs["design"].tolist() == ["paired"]
    front = linear.pareto(measure="used_again")
    values = [linear.stability(name, "used_again").value for name in front.frame.index]
    assert front.frame["stability"].tolist() == values
    assert front.frame["size"].tolist() == [3, 5]
    assert front.frame["probability"].notna().all()
    assert linear.choose(measure="used_again").measure == "used_again"
    options = {"estimator": LINEAR, "perturbation": hf.Bootstrap(25), "measure": "used_again"}
    found = hf.optimize(AnovaF(), {"n_features": [2, 3, 11]}, X, Y, **options)
    assert found.complete


def test_models_that_use_nothing_are_left_out_and_counted():
    nothing = make_pipeline(StandardScaler(), LogisticRegression(C=0.043, l1_ratio=1.0, solver="saga", max_iter=1000))
    result = run(nothing)
    empty = int((~weights_of(result, "f(size=3)").any(axis=1)).sum())
    assert 0 < empty < 10
    found = result.stability("f(size=3)", "used_again")
    assert found.n_runs == 12 - empty
    assert f"{empty} of 12 runs left out" in found.note
    assert not math.isnan(found.value)


@pytest.mark.parametrize("perturbation", [hf.ComplementaryPairs(6), hf.NestedSubsamples(6)])
def test_in_designs_with_blocks_models_are_compared_within_blocks(perturbation):
    plan = hf.Study({"f": AnovaF(3)}, perturbation, estimator=LINEAR)
    result = plan.run(X, Y)
    found = result.stability("f", "used_again")
    assert found.pseudo_values.mean() == pytest.approx(found.value)
    assert found.pseudo_values.size == 6
    assert result.compare_with_use("f").comparison.design == "paired"


def test_resamples_that_score_no_model_are_a_sentence():
    plan = hf.Study({"f": AnovaF(3)}, hf.NestedFolds(4, 3), estimator=LINEAR)
    with pytest.raises(UnansweredError, match="no resample that counts has a model"):
        plan.run(X, Y).stability("f", "used_again")


def test_the_difference_from_the_list_is_paired(linear):
    found = linear.compare_with_use("f(size=5)")
    listed, used = linear.stability("f(size=5)"), linear.stability("f(size=5)", "used_again")
    assert found.comparison.difference == pytest.approx(listed.value - used.value)
    assert found.listed == pytest.approx(listed.mean_overlap / listed.mean_size)
    weights = weights_of(linear, "f(size=5)")
    shares = weights / weights.sum(axis=1, keepdims=True)
    again = [shares[i] @ (weights[j] > 0) for i in range(12) for j in range(12) if i != j]
    assert found.used == pytest.approx(np.mean(again))
    spread = (listed.pseudo_values - used.pseudo_values).std(ddof=1) / 12**0.5
    assert found.comparison.standard_error >= spread


# Models without coefficients


def test_for_a_linear_model_the_change_of_output_is_its_coefficient():
    model = LINEAR.fit(X.to_numpy(), Y)
    data = prepare_data(X, Y, None, (), None, None)
    found = change_of_output(model, X.to_numpy(), 12, data, np.random.default_rng(0), 400)
    slope = np.abs(model[-1].coef_[0] / model[0].scale_)
    apart = np.abs(X.to_numpy()[:, None] - X.to_numpy()[None]).mean(axis=(0, 1))
    assert found == pytest.approx(slope * apart, rel=0.05)


def test_for_numbers_and_many_rows_too():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000, 3))
    target = table @ [1.0, -2.0, 0.0]
    data = prepare_data(table, target, None, (), "regression", None)
    found = change_of_output(LinearRegression().fit(table, target), table, 3, data, rng, 5)
    assert found == pytest.approx(np.array([1, 2, 0]) * 2 / np.pi**0.5, rel=0.05, abs=1e-9)


def test_three_classes_do_not_depend_on_what_decision_values_are_less():
    X3, y3 = small_data(n=90, classes=3)
    data = prepare_data(X3, y3, None, (), None, None)
    model = LogisticRegression().fit(X3.to_numpy(), y3)
    first = change_of_output(model, X3.to_numpy(), 3, data, np.random.default_rng(0), 5)
    model.coef_ += 1.0  # all classes alike
    second = change_of_output(model, X3.to_numpy(), 3, data, np.random.default_rng(0), 5)
    assert first == pytest.approx(second)


def test_other_models_are_fitted_again():
    result = run(KNeighborsClassifier(5))
    found = result.importance_stability("f(size=5)", X=X, y=Y)
    assert found.value == result.importance_stability("f(size=5)", X=X, y=Y).value
    assert 0 < found.value <= 1
    forest = run(RandomForestClassifier(20), n=5)
    assert 0 < forest.importance_stability("f(size=3)", "shared_importance", X=X, y=Y).value < 1
    with pytest.raises(UnansweredError, match="got none: the model is not linear; importance_stability"):
        result.stability("f(size=5)", "used_again")
    with pytest.raises(ValueError, match="the X and y that the study ran on"):
        result.importance_stability("f(size=5)", X=X + 1, y=Y)
    with pytest.raises(ValueError, match="a measure of weights, such as used_again"):
        result.importance_stability("f(size=5)", "nogueira")
    with pytest.raises(UnansweredError, match="give the study estimator="):
        run(None, n=3).importance_stability("f(size=5)", X=X, y=Y)


def test_refitted_linear_models_agree_with_stored_coefficients(linear):
    from holdfast.tradeoff.importance import find_importances

    refitted = find_importances(linear, "f(size=5)", X, Y, None, linear.study, 200).runs.matrix()
    stored = weights_of(linear, "f(size=5)")
    shares = [weights / weights.sum(axis=1, keepdims=True) for weights in (refitted, stored)]
    assert np.minimum(*shares).sum(axis=1).min() > 0.95


# What is shown


def test_fronts_of_forced_features_show_both(hybrids, linear):
    first, forced = hybrids.candidates
    assert [hybrids.n_forced(name) for name in (first, forced)] == [0, 3]
    front = hybrids.pareto(n_draws=10)
    assert front.second_measure == "used_again"
    on_front = front.frame.index[front.frame["on_front"]]
    assert front.frame.loc[on_front, "used_again"].tolist() == [
        hybrids.stability(name, "used_again").value for name in on_front
    ]
    assert "used_again" in repr(front)
    assert hybrids.pareto(measure="used_again", n_draws=10).second_measure == "nogueira"
    assert linear.pareto(n_draws=10).second_measure is None


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_report_says_what_is_used_where_that_is_shown_to_be_less(hybrids, linear):
    name = hybrids.candidates[1]
    found, summary = hybrids.compare_with_use(name), summarize(hybrids, candidate=name)
    assert found.comparison.ci().low > 0.1
    listed, used = (f"{100 * share:.0f} %" for share in (found.listed, found.used))
    sentence = f"Of the list, {listed} comes back in another resample; of what the models use, {used}."
    assert sentence in [plain(line) for line in summary.verdict.sentences]
    assert summary.use.difference == found.comparison.difference
    assert any("features that the models hardly use" in caution for caution in summary.verdict.cautions)
    for format in ("html", "md"):
        assert "of what the models use" in render(summary, format)
    assert Summary.from_dict(json.loads(render(summary, "json"))).use == summary.use
    assert "of what the models use" in summary._card().note
    other = summarize(linear, candidate="f(size=3)")
    assert say_what_is_used(other.use) == [] or other.use.low > 0
    assert say_what_is_used(None) == warn_of_unused(None) == []


def test_the_table_of_features_has_their_share(hybrids):
    name = hybrids.candidates[1]
    frame = hybrids.features(name).to_frame().set_index("feature")
    weights = weights_of(hybrids, name)
    times, shares = (weights > 0).sum(axis=0), weights / weights.sum(axis=1, keepdims=True)
    columns = frame.index.to_numpy(dtype=int)
    expected = shares.sum(axis=0)[columns] / times[columns]
    assert frame["used"].to_numpy() == pytest.approx(expected, rel=1e-6)
    assert frame["used"].max() < 1


def test_on_the_command_line(tmp_path, hybrids):
    path = tmp_path / "study.db"
    grid = {"n_forced": [0, 3], "C_final": [0.1]}
    hf.Study({"h": hf.Candidates(HybridRFE(5, C=0.1), grid)}, hf.Bootstrap(10)).run(X, Y, store=path)
    for options in (["choose", str(path), "-m", "used_again"], ["choose", str(path)]):
        shown = CliRunner().invoke(app, options)
        assert shown.exit_code == 0, shown.output
        assert "used_again" in shown.output
        assert "nogueira" in shown.output
    found = json.loads(CliRunner().invoke(app, ["choose", str(path), "--measure", "used_again", "--json"]).stdout)
    assert found["pareto"]["measure"] == "used_again"
