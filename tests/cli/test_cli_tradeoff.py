"""Trade-offs and choices from the command line."""

import json

import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a small data set in it."""
    monkeypatch.chdir(tmp_path)
    X.iloc[:120, :8].assign(diagnosis=Y.map({0: "malignant", 1: "benign"})).to_csv("patients.csv", index=False)
    return tmp_path


def call(*arguments, code=0):
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


TRADEOFF = ("tradeoff", "patients.csv", "--target", "diagnosis", "-s", "anova:k=2|4", "-n", 6, "--quiet")


def test_a_trade_off_is_told_in_words(folder):
    told = call(*TRADEOFF, "--store", "study.db").stdout
    result = hf.load_study("study.db")
    choice = result.choose()
    assert "The front: " in told
    assert f"The choice (one-se): {choice.reason}" in told
    assert f"Measured on {choice.measured_on}." in told
    for name in result.pareto().front.index:
        assert name in told
    assert f"The choice (one-se): {choice.reason}" in call("choose", "study.db").stdout


def test_json_holds_the_choice_and_all_points(folder):
    found = json.loads(call(*TRADEOFF, "--rule", "accuracy", "--json", "--store", "study.db").stdout)
    result = hf.load_study("study.db")
    assert found["choice"]["candidate"] == result.choose("accuracy").candidate
    assert [one["candidate"] for one in found["pareto"]["candidates"]] == result.candidates
    assert found["pareto"]["areas"]["all"] == pytest.approx(result.pareto().area)
    assert not found["choice"]["nested"]


@pytest.mark.parametrize(
    ("options", "rule", "expected"),
    [
        ([], "weighted:weight=0.9", {"weight": 0.9}),
        ([], "at_least:stability=-1", {"stability": -1}),
        ([], "not-worse:correction=none", {"correction": None}),
        (["-m", "jaccard", "--level", "0.9"], "knee", {"measure": "jaccard", "level": 0.9}),
    ],
)
def test_options_reach_the_rule(folder, options, rule, expected):
    call(*TRADEOFF, "--store", "study.db")
    found = json.loads(call("choose", "study.db", "--rule", rule, *options, "--json").stdout)
    choice = hf.load_study("study.db").choose(rule.partition(":")[0], **expected)
    assert found["choice"]["reason"] == choice.reason
    assert found["choice"]["measure"] == choice.measure


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["choose", "none.db"], "Expected a study's store, got no file at none.db"),
        (["choose", "study.db", "--rule", "best"], "Expected a rule (accuracy, one-se"),
        (["choose", "study.db", "--rule", "knee:weight=0.5"], "Expected parameters of rule knee (none), got 'weight'"),
        (
            ["choose", "study.db", "--rule", "at-least"],
            "Expected stability= for rule at-least (Smallest acceptable stability",
        ),
        (["choose", "study.db", "--metric", "f1"], "Expected one of the study's scores (accuracy), got 'f1'"),
    ],
)
def test_bad_options_are_told_in_one_sentence(folder, arguments, message):
    call(*TRADEOFF, "--store", "study.db")
    assert message in str(call(*arguments, code=1).exception)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rule", "best"], "Expected a rule (accuracy, one-se"),
        (["--rule", "at-least"], "Expected stability= for rule at-least (Smallest acceptable stability"),
        (["--level", "95"], "Expected a level between 0 and 1"),
        (["--measure", "jacard"], "Expected the name of a measure, got 'jacard'"),
        (["--score", "accuracy", "--metric", "f1"], "Expected one of the scores (accuracy) as --metric, got 'f1'"),
    ],
)
def test_how_to_decide_is_checked_before_the_study_runs(folder, options, message):
    assert message in str(call(*TRADEOFF, *options, "--store", "study.db", code=1).exception)
    assert not (folder / "study.db").exists()


def test_numbers_are_traded_off_by_the_usual_selectors_too(folder):
    target = "mean area"
    found = json.loads(
        call("tradeoff", "patients.csv", "--target", target, "--ignore", "diagnosis", "-n", 5, "-q", "--json").stdout
    )
    families = {one["family"] for one in found["pareto"]["candidates"]}
    assert families >= {"lasso"}
    assert found["choice"]["metric"] == "r2"
