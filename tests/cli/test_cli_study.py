"""Studies from the command line."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app, run
from holdfast.cli.terminal import notes
from holdfast.replication import count_fits
from holdfast.study.store import open_to_write
from holdfast.study.store.schema import OUTCOMES

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a small data set in it."""
    monkeypatch.chdir(tmp_path)
    table = X.iloc[:120, :8].assign(diagnosis=Y.map({0: "malignant", 1: "benign"}), patient=range(120))
    table.to_csv("patients.csv", index=False)
    return tmp_path


def call(*arguments, code=0):
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def told(*arguments):
    """What a command prints as JSON."""
    return json.loads(call(*arguments, "--json").stdout)


STUDY = ("study", "patients.csv", "--target", "diagnosis", "--ignore", "patient", "--quiet")
TEXTS = ("study", "texts.csv", "--target", "ill")


def test_a_study_from_a_file_equals_the_library_s(folder):
    found = told(*STUDY, "-s", "anova:k=3", "--estimator", "linear", "-n", 6, "--seed", 4)
    from holdfast.study.named import named_estimator, named_selectors

    table = hf.read_table("patients.csv", "diagnosis", ignore=["patient"])
    study = hf.Study(
        selectors=named_selectors("anova", "anova", {"k": 3}, "classification"),
        perturbation=hf.Bootstrap(6),
        estimator=named_estimator("linear", {}, "classification"),
        random_state=4,
    )
    expected = study.run(table.X, table.y).summary().iloc[0]
    (row,) = found["candidates"]
    for name in ("stability", "low", "high", "accuracy", "accuracy_se", "size"):
        assert row[name] == pytest.approx(expected[name], rel=1e-12), name
    assert found["complete"]


def test_several_values_make_several_candidates(folder):
    found = told(
        *STUDY,
        "-s",
        "anova:k=2|3",
        "-s",
        "lasso:penalty_strength=0.2|0.05",
        "-s",
        "forest:n_estimators=3,sizes=2|4",
        "-n",
        4,
    )
    names = [row["candidate"] for row in found["candidates"]]
    assert names == [
        "anova(n_features=2)",
        "anova(n_features=3)",
        "lasso(penalty_strength=0.2)",
        "lasso(penalty_strength=0.05)",
        "forest(size=2)",
        "forest(size=4)",
    ]
    assert [row["size"] for row in found["candidates"]][:2] == [2, 3]


@pytest.mark.slow
def test_a_class_by_its_path_and_every_perturbation_work(folder):
    for perturb in (
        "subsample:fraction=0.7",
        "pairs",
        "noise:scale=0.2",
        "nested-subsamples:fractions=0.5|0.75",
        "new_seeds",
    ):
        path = "sklearn.feature_selection.SelectKBest:k=2"
        found = told(*STUDY, "-s", path, "--perturb", perturb, "-n", 3)
        assert found["candidates"][0]["candidate"] == "SelectKBest"
        assert found["candidates"][0]["stability"] is not None
    for perturb, splits in (("folds:n_splits=3,n_repeats=2", 6), ("nested_folds:n_splits=2,n_inner=3", 8)):
        assert told(*STUDY, "--perturb", perturb, "-s", "anova:k=2")["splits"] == splits


def test_sizes_and_missing_intervals_are_told_once(folder):
    text = call(*STUDY, "-s", "anova:k=2", "--perturb", "nested_subsamples:fractions=0.5|0.75", "-n", 3).stdout
    assert "9 splits (nested_subsamples; stability and scores are means over the fractions 0.5, 0.75)" in " ".join(
        text.split()
    )
    text = call(*STUDY, "-s", "anova:k=2|3", "--perturb", "pairs", "-n", 3).stdout
    assert text.count("do not show how much new data sets would differ") == 1
    assert "all candidates: pairs of halves" in text


def test_names_may_be_written_with_hyphens(folder):
    found = told(*STUDY, "-s", "hybrid-rfe:k=3,n_forced=1|2", "-n", 3, "--estimator", "naive-bayes")
    assert [row["candidate"] for row in found["candidates"]] == ["hybrid-rfe(n_forced=1)", "hybrid-rfe(n_forced=2)"]


def test_groups_and_covariates_are_passed_on(folder):
    table = pd.read_csv("patients.csv").assign(patient=[row // 3 for row in range(120)])
    table.to_csv("patients.csv", index=False)
    arguments = ["study", "patients.csv", "--target", "diagnosis", "--groups", "patient", "--covariates", "mean radius"]
    call(*arguments, "--estimator", "knn", "-n", 5, "--store", "s.db", "-s", "anova:k=2", "--quiet")
    result = hf.load_study("s.db")
    assert "mean radius" not in result.feature_names
    held = result.predictions("anova").groupby("run")["row"].apply(lambda rows: (rows // 3).value_counts().eq(3).all())
    assert held.all()


def test_a_store_is_shown_exported_grown_and_resumed(folder):
    call(*STUDY, "-s", "anova:k=3", "-n", 5, "--store", "s.db")
    first = told("show", "s.db")
    assert told("show", "s.db", "-m", "jaccard")["candidates"][0]["measure"] == "jaccard"
    shown = call("show", "s.db").stdout
    assert "anova" in shown
    assert "1 candidate on 5 splits (bootstrap), 8 features" in shown
    call(*STUDY, "-s", "anova:k=3", "-n", 8, "--store", "s.db")
    assert told("show", "s.db")["splits"] == 8
    again = told("resume", "s.db", "--quiet")
    assert again["splits"] == 8
    assert again["candidates"][0]["stability"] != first["candidates"][0]["stability"]
    files = call("export", "s.db", "--parquet", "tables").stdout.split()
    assert [len(pd.read_parquet(file)) for file in files][:2] == [1, 24]


def test_a_configuration_file_names_selectors_and_the_command_line_wins(folder):
    (folder / "study.toml").write_text(
        'data = "patients.csv"\ntarget = "diagnosis"\nignore = "patient"\nresamples = 9\nestimator = "naive_bayes"\n'
        'score = ["accuracy", "roc_auc"]\n[select]\n"two best" = "anova:k=2"\n'
    )
    found = told("study", "--config", "study.toml", "-n", 4, "--quiet")
    assert found["splits"] == 4
    assert found["candidates"][0]["candidate"] == "two best"
    assert 0.5 < found["candidates"][0]["roc_auc"] <= 1
    cost = told("study", "--config", "study.toml", "--dry-run", "--quiet")
    assert (cost["candidates"], cost["splits"], cost["fits"]) == (1, 9, 9)
    assert cost["seconds"] > 0
    assert cost["bytes"] > 0
    assert cost["memory"] > 1e7


def test_a_wanted_width_and_a_known_data_set(folder):
    arguments = ["study", "breast_cancer", "-s", "anova:k=5", "--until", "0.06", "--cap", 60, "--quiet"]
    row = told(*arguments)["candidates"][0]
    assert 20 <= row["runs"] <= 60
    assert (row["high"] - row["low"]) / 2 <= 0.06 + 1e-12


def test_selectors_are_listed():
    names = {row["name"] for row in told("selectors")["selectors"]}
    assert {"anova", "lasso"} <= names
    assert "anova" in call("selectors").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["study"], "Expected a data file for the study, got none"),
        (
            ["study", "patients.csv"],
            "Expected --target COLUMN, the column of patients.csv to be predicted, or --time and --event, got none; "
            "it may be 'diagnosis'",
        ),
        (["study", "nowhere.csv", "--target", "x"], "There is no file nowhere.csv, and no data set of this name."),
        ([*STUDY, "-s", "anovo"], "did you mean 'anova'?"),
        (
            [*STUDY, "-s", "anova:q=1"],
            "Expected parameters of selector anova (n_features, ties, random_state), got 'q'",
        ),
        ([*STUDY, "-s", "anova:k"], "Expected NAME:param=value,param=value for a selector, got 'anova:k'"),
        ([*STUDY, "-s", "sklearn.Nothing"], "Expected the path of a class for a selector, got 'sklearn.Nothing'"),
        ([*STUDY, "--perturb", "boot"], "Expected a perturbation (bootstrap, "),
        ([*STUDY, "--perturb", "folds", "-n", "5"], "Expected --resamples with resamples that are drawn"),
        ([*STUDY, "-s", "anova:k=x", "-n", "3"], "Every fit failed; the most common error was: "),
        ([*STUDY, "--estimator", "kn"], "did you mean 'knn'?"),
        ([*STUDY, "--estimator", "logistic"], "Expected an estimator (knn, "),
        ([*TEXTS, "-s", "anova"], "pass --index 'name' or --ignore 'name'."),
        ([*TEXTS, "--ignore", "name,sex"], "these are several: give --ignore 'name' --ignore 'sex'."),
        (
            [*TEXTS, "--index", "name"],
            "pass --categorical 'one-hot', 'codes' or 'drop', or leave columns out with --ig",
        ),
        (
            ["study", "breast_cancer", "--groups", "patient"],
            "Expected a file for --groups, got the data set breast_can",
        ),
        ([*STUDY, "--estimator", "knn", "--score", "speed"], "Expected scoring by names"),
        ([*STUDY, "--config", "odd.toml"], "Expected options of holdfast study in odd.toml"),
        ([*STUDY, "--config", "bad.toml"], "Expected TOML in bad.toml"),
        (["show", "none.db"], "Expected a study's store, got no file at none.db"),
        (["verify", "patients.csv"], "got patients.csv: it is another kind of file; give a store that"),
        ([*STUDY, "--store", "."], "Expected a file as store, got the folder .; name a file in it, such as study.db"),
        ([*STUDY, "--store", ":memory:"], "Expected a file as store, got ':memory:'; leave the store out"),
        (["resume", "python.db"], "Expected a study that holdfast study began"),
    ],
)
def test_bad_options_are_told_in_one_sentence(folder, arguments, message, monkeypatch, capsys):
    (folder / "odd.toml").write_text("color = 1")
    (folder / "bad.toml").write_text("= 1")
    (folder / "texts.csv").write_text(
        "name,sex,age,ill\n" + "".join(f"p{i},{'fm'[i % 2]},{i},{i % 3 > 0}\n" for i in range(60))
    )
    from sklearn.feature_selection import SelectKBest

    hf.Study(selectors={"a": SelectKBest(k=1)}, perturbation=hf.Bootstrap(2)).run(
        X.iloc[:, :3], Y, store=folder / "python.db"
    )
    monkeypatch.setattr(sys, "argv", ["holdfast", *arguments])
    with pytest.raises(SystemExit) as left:
        run()
    told = capsys.readouterr().err
    assert left.value.code == 2, told
    assert message in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("target", "sentences"),
    [
        ((), ["Expected --target COLUMN, the column of ask.csv to be predicted, or --time and --event, got none",
              "Also, with --target 'ill': Expected unambiguous numbers in ask.csv, got '1,500'",
              "Also, with --decimal ',': Expected numbers in ask.csv, got text in 1 column: 'sex'"]),
        (("--target", "ill"), ["Expected unambiguous numbers in ask.csv", "Also, with --decimal ',': Expected"]),
        (("--target", "ill", "--decimal", ","), ["Expected numbers in ask.csv, got text in 1 column: 'sex'"]),
        (("--target", "il", "--decimal", ","), ["Expected the target column 'il' in ask.csv"]),
    ],
)  # fmt: skip
def test_all_that_a_file_leaves_open_is_asked_at_once(folder, target, sentences, monkeypatch, capsys):
    lines = [f"{i},500;{'fm'[i // 2 % 2]};{'yes' if i % 2 else 'no'}" for i in range(1, 9)]
    (folder / "ask.csv").write_text("\n".join(["crp;sex;ill", *lines]), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["holdfast", "study", "ask.csv", *target])
    with pytest.raises(SystemExit):
        run()
    printed = capsys.readouterr().err.splitlines()
    assert len(printed) == len(sentences)
    assert all(sentence in line for sentence, line in zip(sentences, printed, strict=True))


WAITING = """
import time
from sklearn.feature_selection import SelectKBest

class Waiting(SelectKBest):
    def fit(self, X, y):
        time.sleep(0.1)
        return super().fit(X, y)
"""
"""A selector that takes long however fast the machine is, so that a signal always comes in time."""


@pytest.mark.parametrize(
    ("stop", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_ctrl_c_and_sigterm_say_how_to_resume(folder, stop, code):
    (folder / "patient.py").write_text(WAITING)
    arguments = [*STUDY[:-1], "-s", "patient.Waiting:k=2", "-n", "6000", "--store", "s.db"]  # ten minutes of waiting
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    while not (folder / "s.db").exists() or hf_fits("s.db") < 2:
        assert process.poll() is None
        time.sleep(0.2)
    os.kill(process.pid, stop)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == code, errors
    assert "The study was stopped after" in errors
    assert "holdfast resume s.db" in errors
    assert "Traceback" not in errors
    assert not hf.load_study("s.db").complete


def hf_fits(store):
    """How many fits a store holds; none if it is only being made."""
    try:
        return hf.load_study(store).n_outcomes
    except ValueError:
        return 0


def test_resume_goes_on_with_what_was_asked_for_last(folder):
    call(*STUDY, "-s", "anova:k=3", "-n", 3, "--store", "s.db")
    call(*STUDY, "-s", "anova:k=3", "-s", "golub:k=3", "-n", 3, "--store", "s.db")
    with open_to_write("s.db") as opened, opened.transaction():  # as if it had been stopped
        opened.remove(OUTCOMES, "split = ?", [2])
    assert not told("show", "s.db")["complete"]
    assert told("resume", "s.db", "-q")["complete"]


def test_a_store_is_verified_and_a_damaged_one_resumed(folder):
    call(*STUDY, "-s", "anova:k=3", "-n", 5, "--store", "s.db")
    whole = told("show", "s.db")
    sound = call("verify", "s.db")
    assert sound.stdout.splitlines()[-1] == "s.db is sound."
    assert told("verify", "s.db")["tables"]["outcomes"] == {"sound": 5, "damaged": 0, "missing": 0}
    with closing(sqlite3.connect("s.db")) as connection, connection:
        connection.execute("UPDATE outcomes SET preference = x'00000000' WHERE split = 2")
        connection.execute("DELETE FROM outcomes WHERE split = 3")
    connection.close()
    damaged = json.loads(call("verify", "s.db", "--json", code=1).stdout)
    assert damaged["state"] == "damaged"
    assert damaged["tables"]["outcomes"] == {"sound": 3, "damaged": 1, "missing": 1}
    assert "s.db is damaged (2 of 5 outcomes lost: anova on boot" in damaged["message"]
    assert damaged["message"] in call("verify", "s.db", code=1).stdout
    resumed = call("resume", "s.db", "--json")
    assert "holdfast: note: The store s.db was damaged (2 of 5 outcomes lost" in resumed.stderr
    assert [{**row, "seconds": 0} for row in json.loads(resumed.stdout)["candidates"]] == [
        {**row, "seconds": 0} for row in whole["candidates"]
    ]
    call("verify", "s.db")
    with closing(sqlite3.connect("s.db")) as connection, connection:
        connection.execute("DELETE FROM candidates")
    connection.close()
    assert "this part of it cannot be recomputed" in call("verify", "s.db", code=2).stdout


def test_quiet_tells_nothing_but_results(folder):
    call(*STUDY, "-s", "anova:k=8", "-n", 3, "--store", "s.db")  # all features: undefined, which is worth a note
    for command in (["show", "s.db"], ["show", "s.db", "-m", "jaccard"], ["export", "s.db", "--parquet", "t"]):
        assert call(*command, "--quiet").stderr == ""
    files = told("export", "s.db", "--parquet", "t")["files"]
    assert [file.rsplit("/", 1)[-1] for file in files][:2] == ["summary.parquet", "selections.parquet"]


def test_notes_on_the_command_line_name_nothing_of_python(capsys):
    with notes():
        warnings.warn("1 of 2 fits failed. The table .failures holds their tracebacks.", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "holdfast: note: 1 of 2 fits failed.\n"


# What a new study would find


def test_a_study_says_what_a_new_one_would_find_and_what_that_costs(folder):
    found = told(*STUDY, "-s", "anova:k=3", "-n", 5)
    assert found["new_study"].startswith("A new study of this size would be expected to select ")
    assert told("show", "patients-study.db")["new_study"] == found["new_study"]
    assert told(*STUDY, "-s", "anova:k=3", "-n", 5, "--no-replicability", "--no-store")["new_study"] is None
    cost = told(*STUDY, "-s", "anova:k=3", "-n", 5, "--dry-run")["replicability"]
    assert cost["fits"] == count_fits(50)
    assert told(*STUDY, "-s", "anova:k=3", "--dry-run", "--no-replicability")["replicability"]["fits"] == 0


@pytest.mark.parametrize(("perturb", "more"), [("split_halves:n_pairs=12", 0), ("pairs:n_pairs=5", count_fits(50))])
def test_rows_are_halved_for_new_studies_unless_the_study_does_it(folder, perturb, more):
    arguments = [*STUDY, "-s", "anova:k=3", "--perturb", perturb]
    assert told(*arguments, "--dry-run")["replicability"]["fits"] == more
    found = told(*arguments, "--store", "s.db")
    assert found["new_study"].startswith("A new study of this size would be expected to select ")
    assert told("show", "s.db")["new_study"] == found["new_study"]


def test_replicate_asks_of_data_and_of_a_store(folder):
    of_data = told("replicate", *STUDY[1:], "-s", "anova:k=3", "-n", 12)
    table = hf.read_table("patients.csv", "diagnosis", ignore=["patient"])
    assert of_data["agreement"] == hf.replicability(hf.selectors.AnovaF(3), table, n_pairs=12).agreement
    call(*STUDY, "-s", "anova:k=3|4", "-n", 5, "--no-replicability", "--store", "s.db")
    of_store = told("replicate", "s.db", "--candidate", "anova(n_features=3)", "-n", 12, "--quiet")
    assert of_store["agreement"] == of_data["agreement"]
    printed = call("replicate", *STUDY[1:], "-s", "anova:k=3", "-n", 12).stdout
    assert of_data["sentence"] in printed
    assert all(row["feature"] in printed for row in of_data["frame"])
