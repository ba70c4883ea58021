"""``holdfast replicate``, and what other commands say about new studies."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app
from holdfast.report import summarize

STUDY = ("study", "patients.csv", "--target", "status", "-s", "anova:k=5", "--quiet")
BOTH = (*STUDY, "-s", "golub:k=5", "--resamples", "10", "--store", "both.db", "--no-replicability")


@pytest.fixture(autouse=True)
def patients(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((60, 40))
    X[:, :10] += np.arange(60)[:, None] % 2
    frame = pd.DataFrame(X, columns=[f"gene {place}" for place in range(40)]).assign(status=["ill", "well"] * 30)
    frame.to_csv("patients.csv", sep=";", decimal=",", index=False)
    return frame


def cli(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result


def test_the_answer_about_a_stored_study_is_kept_for_its_report():
    cli(*BOTH)
    assert summarize(hf.load_study("both.db"), candidate="anova").replication is None
    asked = cli("replicate", "both.db", "--candidate", "anova", "-n", "10")
    assert "The result is stored in both.db; a report on anova shows it." in asked.stderr
    told = summarize(hf.load_study("both.db"), candidate="anova").replication
    assert told.sentence in asked.stdout
    assert told.n_pairs == 10


def test_an_answer_about_other_data_is_not_kept(patients):
    cli(*BOTH)
    patients.iloc[:50].to_csv("patients.csv", sep=";", decimal=",", index=False)
    asked = cli("replicate", "both.db", "--candidate", "anova", "-n", "10", "--quiet")
    assert "is not stored in both.db, as its study is not the same: the data (60 × 40" in asked.stderr
    assert summarize(hf.load_study("both.db"), candidate="anova").replication is None


def test_json_names_the_only_candidate():
    asked = cli("replicate", "patients.csv", "--target", "status", "-s", "anova:k=5", "-n", "10", "--quiet", "--json")
    assert json.loads(asked.stdout)["candidate"] == "anova"


def test_what_is_not_known_is_said_once_and_without_a_table():
    asked = cli("replicate", "patients.csv", "--target", "status", "-s", "anova:k=40", "-n", "10", "--quiet")
    (line,) = asked.stdout.splitlines()
    assert line.endswith("is not known: in 10 of 10 splits a half selected everything.")


def test_a_study_of_split_halves_needs_no_others():
    halved = (*STUDY, "--perturb", "split_halves:n_pairs=10", "--store", "halved.db")
    assert json.loads(cli(*halved, "--dry-run", "--json").stdout)["replicability"]["fits"] == 0
    sentence = cli(*halved).stdout.splitlines()[-1]
    assert "new study of this size" in sentence
    assert cli("show", "halved.db").stdout.splitlines()[-1] == sentence


def test_rows_are_halved_again_only_if_the_answer_is_not_there():
    study = [argument for argument in (*STUDY, "--resamples", "5", "--store", "s.db") if argument != "--quiet"]
    first, second = cli(*study), cli(*study)
    assert "Repeated split-half" in first.stderr
    assert "Repeated split-half" not in second.stderr
    assert "new study of this size" in second.stdout
