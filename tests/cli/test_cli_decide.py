"""Comparing stored studies, nested choices, and one sentence for every wrong input, from the command line."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.cli import app
from holdfast.selectors import AnovaF, Golub
from holdfast.study.stabilities import compare_studies

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X, Y = X.iloc[:100, :6], Y[:100]
DATA = ("patients.csv", "--target", "diagnosis")


def study(*, perturbation=None, random_state=0, **selectors):
    return hf.Study(
        selectors=selectors or {"anova": AnovaF(2), "golub": Golub(2)},
        perturbation=perturbation or hf.Bootstrap(8),
        estimator=KNeighborsClassifier(3),
        random_state=random_state,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with data, selections and stored studies."""
    folder = tmp_path_factory.mktemp("studies")
    X.assign(diagnosis=Y.map({0: "malignant", 1: "benign"})).to_csv(folder / "patients.csv", index=False)
    study().run(X, Y, store=folder / "both.db")
    study(anova=AnovaF(2)).run(X, Y, store=folder / "anova.db")
    study(golub=Golub(2)).run(X, Y, store=folder / "golub.no-ending")
    study(anova=AnovaF(2), random_state=5).run(X, Y, store=folder / "seed.db")
    study(anova=AnovaF(2)).run(X.iloc[:80], Y[:80], store=folder / "rows.db")
    study(anova=AnovaF(2), perturbation=hf.Subsample(8)).run(X, Y, store=folder / "halves.db")
    study(perturbation=hf.ComplementaryPairs(5)).run(X, Y, store=folder / "pairs.db")
    study(perturbation=hf.ComplementaryPairs(5), random_state=3).run(X, Y, store=folder / "pairs-too.db")
    (folder / "runs.csv").write_text("run,a,b,c\n1,1,0,0\n2,1,0,0\n3,0,1,0\n")
    (folder / "broken.db").write_bytes(b"SQLite format 3\0" + bytes(200))
    return folder


@pytest.fixture
def folder(place, monkeypatch):
    monkeypatch.chdir(place)
    return place


def json_of(printed):
    return json.loads(printed.out)


# Comparing


def test_candidates_of_one_study_are_compared_as_by_the_library(folder, printed_by):
    found = json_of(printed_by("compare", "both.db", "--json", "-m", "jaccard", "--level", "0.9", code=0))
    expected = hf.load_study("both.db").compare(None, "jaccard", level=0.9)
    for name in ("difference", "low", "high", "p_value", "p_holm"):
        assert [pair[name] for pair in found["pairs"]] == pytest.approx(expected.pairs[name].tolist(), rel=1e-12)
    assert {row["selection"]: row["letters"] for row in found["selections"]} == expected.letters
    shown = printed_by("compare", "both.db", code=0).out
    assert shown.startswith("Candidates of one study: compared split by split (paired).")
    assert "letters" in shown


@pytest.mark.parametrize(
    ("others", "design", "words"),
    [
        (["golub.no-ending"], "paired", "the same data and splits"),
        (["seed.db"], "independent", "differ in data or splits"),
        (["rows.db"], "independent", "differ in data or splits"),
        (["halves.db"], "independent", "Resamples were made in different ways (bootstrap, subsample)"),
    ],
)
def test_studies_are_paired_if_data_and_splits_are_the_same(folder, printed_by, others, design, words):
    (pair,) = json_of(printed_by("compare", "anova.db", *others, "--json", code=0))["pairs"]
    assert pair["design"] == design
    assert words in printed_by("compare", "anova.db", *others, code=0).out


def test_a_pair_of_studies_equals_the_comparison_inside_one(folder):
    apart = compare_studies({name: hf.load_study(name) for name in ("anova.db", "golub.no-ending")})
    together = hf.load_study("both.db").compare()
    for name in ("difference", "low", "high", "p_value"):
        assert apart.pairs.loc[0, name] == together.pairs.loc[0, name]


def test_independent_studies_are_compared_by_welch(folder):
    found = compare_studies({name: hf.load_study(name) for name in ("anova.db", "seed.db")})
    a, b = (hf.load_study(name).preferences("anova") for name in ("anova.db", "seed.db"))
    expected = hf.compare(a, b, paired=False)
    assert found.pairs.loc[0, "p_value"] == expected.p_value
    assert found.pairs.loc[0, "difference"] == expected.difference


def test_some_studies_are_paired_and_others_not(folder, printed_by):
    found = json_of(printed_by("compare", "anova.db", "golub.no-ending", "seed.db", "--json", code=0))
    assert [pair["design"] for pair in found["pairs"]] == ["paired", "independent", "independent"]


def test_pairs_of_halves_of_two_studies_are_independent_blocks(folder, printed_by):
    found = json_of(
        printed_by("compare", "pairs.db", "pairs-too.db", "-c", "anova", "-c", "pairs: golub", "--json", code=0)
    )
    names = [row["selection"] for row in found["selections"]]
    assert sorted(names) == ["pairs-too: anova", "pairs: anova", "pairs: golub"]
    designs = {(pair["first_name"], pair["second_name"]): pair["design"] for pair in found["pairs"]}
    assert designs["pairs: anova", "pairs: golub"] == "paired"
    assert designs["pairs: anova", "pairs-too: anova"] == "independent"
    assert all(pair["standard_error"] is not None for pair in found["pairs"])


# Nested


def test_a_nested_choice_is_that_of_the_library(folder, printed_by):
    arguments = ["nested", *DATA, "-s", "anova:k=2|3", "--estimator", "knn", "-n", "5", "--rule", "accuracy"]
    found = json_of(printed_by(*arguments, "--outer", "folds:n_splits=3", "--json", "--quiet", code=0))
    from holdfast.study.named import named_estimator

    same = hf.Study(
        selectors={"anova": hf.Candidates(AnovaF(), {"n_features": [2, 3]})},
        perturbation=hf.Bootstrap(5),
        estimator=named_estimator("knn", {}, "classification"),
    )
    table = hf.read_table("patients.csv", "diagnosis")
    expected = hf.nested_choice(same, table.X, table.y, rule="accuracy", outer=hf.Folds(3))
    assert found["schema"] == "holdfast.nested/1"
    assert found["choice"]["score"] == expected.choice.score
    assert found["promised"] == expected.promised
    assert [fold["candidate"] for fold in found["folds"]] == expected.folds["candidate"].tolist()
    assert not list(folder.glob("patients-study*"))


def test_a_nested_choice_runs_a_stored_study_and_tells_its_score(folder, printed_by):
    printed_by("study", *DATA, "-s", "anova:k=2|3", "--estimator", "knn", "-n", "4", "--store", "own.db", code=0)
    printed = printed_by("nested", "own.db", "--outer", "folds:n_splits=3", code=0)
    assert "On rows that took no part in the choice, its accuracy is 0." in printed.out
    assert "32 of 32 fits" in printed.err  # the study and three folds of it, as one progress
    assert len(re.findall(r"^ \d ", printed.out, flags=re.MULTILINE)) == 3
    Path("own.db").unlink()


def test_a_long_nested_choice_says_so_before(folder, printed_by, monkeypatch):
    monkeypatch.setattr("holdfast.cli.decisions.MIN_ANNOUNCED", 0)
    told = printed_by("nested", *DATA, "-s", "anova:k=2", "-n", "3", "--outer", "folds:n_splits=3", code=0).err
    assert re.search(r"The study is run 4 times: about .* on one core", told)


@pytest.mark.slow
def test_a_nested_choice_stops_cleanly(folder):
    arguments = ["nested", *DATA, "-s", "forest:n_estimators=200,sizes=2", "--estimator", "knn", "-n", "500"]
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    while "The study is run 6 times" not in process.stderr.readline():  # said before the first fit
        assert process.poll() is None
    time.sleep(1)
    os.kill(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    assert "topped" in errors
    assert "Traceback" not in errors
    assert out == ""


# One sentence for every wrong input

WRONG = {
    "study": (["nowhere.csv", "--target", "x"], "There is no file nowhere.csv"),
    "study with a score and no model": (["study", *DATA, "--score", "f1"], "A score needs a model"),
    "study on a device": ([*DATA, "--device", "tpu"], "Expected --device 'cpu', 'cuda' or 'torch', got 'tpu'"),
    "resume": (["runs.csv"], "got runs.csv: it is another kind of file"),
    "show": (["broken.db"], "broken.db"),
    "verify": (["nothing.db"], "Expected a study's store, got no file at nothing.db"),
    "plot": (
        ["nothing.db", "pie"],
        "Expected a picture among frequencies, front, replicability, map, profile, got pie",
    ),
    "checklist": (["nothing.db"], "Expected --tripod-ai or --remark"),
    "export": (["both.db"], "Expected --csv DIR, --parquet DIR or --latex FILE, got none"),
    "tradeoff": ([*DATA, "--rule", "best"], "Expected a rule (accuracy"),
    "choose": (["both.db", "--metric", "f1"], "Expected one of the study's scores (accuracy), got 'f1'"),
    "report": (["both.db", "--format", "pdf"], "Expected --format html, md or json, got 'pdf'"),
    "nested": ([*DATA, "-s", "anova:k=2", "--outer", "fold"], "Expected a perturbation"),
    "nested of a study in Python": (["nested", "both.db"], "Expected a study that holdfast study began"),
    "nested without rows held out": (
        ["nested", *DATA, "-s", "anova:k=2", "-n", "3", "--outer", "noise", "-q"],
        "Expected outer splits that hold out rows",
    ),
    "compare": (["both.db", "runs.csv"], "Expected stored studies only or files of selections only, got both"),
    "compare one candidate": (["compare", "anova.db"], "Expected at least two candidates to compare, got 1"),
    "compare unknown": (
        ["compare", "both.db", "-c", "forest"],
        "Expected one of the candidates anova, golub, got 'forest'",
    ),
    "compare designs": (["compare", "both.db", "pairs.db"], "Expected studies of one design"),
    "compare pairing": (["compare", "both.db", "--paired"], "--paired is for selections in files"),
    "compare candidates of files": (
        ["compare", "runs.csv", "patients.csv", "-c", "a"],
        "Expected stored studies for --candidates",
    ),
    "measure": (["runs.csv", "-m", "jacard"], "did you mean 'jaccard'?"),
    "measure a candidate": (["measure", "runs.csv", "--candidate", "a"], "Expected selections that a study exported"),
    "features": (["both.db", "--candidate", "forest"], "Expected one of the candidates anova, golub, got 'forest'"),
    "check": (["", "--store", "both.db"], "Expected names of features, got ''"),
    "benchmark": (["nowhere.csv"], "There is no file nowhere.csv"),
    "demo": (["--resamples", "0"], "0"),
    "serve": (["runs.csv", "--no-browser"], "Expected a folder for the page, got the file runs.csv"),
    "replicate": ([*DATA, "-s", "anova:k=2|3", "-n", "10"], "Expected --candidate NAME, one of the study's 2"),
    "replicate few": (
        ["replicate", *DATA, "-n", "5"],
        "Expected n_pairs to be a whole number of at least 10, got 5",
    ),
    "reproduce": (["all", "--quick"], "The papers' experiments are no longer part of the package"),
    "selectors": (["anovo"], "did you mean 'anova'?"),
    "perturbations": (["boot"], "Expected a perturbation"),
    "models": (["kn"], "did you mean 'knn'?"),
    "scores": (["acuracy"], "did you mean 'accuracy'?"),
    "rules": (["best"], "Expected a rule"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_input_is_one_sentence_and_exit_code_2(folder, printed_by, name):
    arguments, message = WRONG[name]
    command = arguments if " " in name and arguments[0] == name.split()[0] else [name.split()[0], *arguments]
    printed = printed_by(*command)
    assert printed.out == ""
    (sentence,) = [line for line in printed.err.splitlines() if line.startswith("holdfast: ") and "note:" not in line]
    assert message in sentence
    assert "Traceback" not in printed.err


def test_every_command_has_a_wrong_input_and_an_example():
    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert names - {name.split()[0] for name in WRONG} <= {"measures"}
    lists = {"selectors", "perturbations", "models", "scores", "rules", "measures"}
    for command in app.registered_commands:
        if not command.hidden and (command.name or command.callback.__name__) not in lists:
            assert "**Example" in command.callback.__doc__, command.callback.__name__


def test_help_begins_with_the_two_commands_that_a_newcomer_needs(printed_by, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", printed_by("--help", code=0).out)
    first, second = shown.index("holdfast study data.csv --target COLUMN"), shown.index("holdfast report data-study.db")
    assert first < second < shown.index("Start here")
