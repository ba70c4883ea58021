"""Where studies of the command line are kept, and what is said of it."""

import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

import holdfast as hf
from holdfast.cli.running import NEXT, default_name
from holdfast.study.store import open_to_write
from holdfast.study.store.schema import OUTCOMES

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
STUDY = ("study", "heart.csv", "--target", "diagnosis", "-s", "anova:k=2|3", "--estimator", "knn", "-n", "4")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a small data set in it."""
    monkeypatch.chdir(tmp_path)
    table = X.iloc[:120, :6].assign(diagnosis=Y.map({0: "malignant", 1: "benign"}))
    table.to_csv("heart.csv", index=False)
    table.iloc[:100].to_csv("fewer.csv", index=False)
    return tmp_path


@pytest.fixture
def stored(folder, printed_by):
    """The store of the study in the current folder; it is run once for all tests."""
    path = Path("heart-study.db")
    if not FIRST:
        printed_by(*STUDY, code=0)
        FIRST.append(path.read_bytes())
    path.write_bytes(FIRST[0])
    return path


FIRST = []


def stores():
    return sorted(path.name for path in Path().glob("*.db"))


def test_a_study_is_kept_and_ends_with_commands_that_work(folder, printed_by):
    printed = printed_by(*STUDY, code=0)
    assert stores() == ["heart-study.db"]
    assert "The study is stored in heart-study.db. Next:" in printed.err
    assert "The study is in" not in printed.out
    commands = [line.split("  ")[1] for line in printed.err.splitlines() if line.startswith("  holdfast ")]
    assert [shlex.split(command)[1] for command in commands if "features" not in command] == [
        "report", "choose", "show",
    ]  # fmt: skip
    for command in commands:
        printed_by(*shlex.split(command)[1:], code=0)
    assert hf.load_study("heart-study.db").complete


def test_the_same_plan_continues_and_grows(stored, printed_by):
    assert "Continued heart-study.db: 8 of 8 fits were there." in printed_by(*STUDY, code=0).err
    assert "Continued heart-study.db: 8 of 12 fits were there." in printed_by(*STUDY[:-1], "6", code=0).err
    more = printed_by(*STUDY, "-s", "golub:k=2", code=0).err
    assert "Continued heart-study.db: 12 of 18 fits were there." in more
    assert stores() == ["heart-study.db"]
    assert hf.load_study("heart-study.db").n_splits == 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--seed", "3"), "the seed (0, now 3)"),
        (("--estimator", "linear"), "the model (KNeighborsClassifier, now LogisticRegression)"),
        (("--estimator", "knn:n_neighbors=7"), "the model (n_neighbors was 3 and is now 7)"),
        (("--score", "roc_auc"), "the scores (accuracy, now roc_auc)"),
        (("--perturb", "subsample"), "how resamples are made (Bootstrap, now Subsample)"),
        (("--covariates", "mean area"), "the covariates (none, now mean area)"),
        (("--ignore", "mean area"), "the data (120 × 6, now 120 × 5)"),
    ],
)
@pytest.mark.slow
def test_another_plan_gets_a_name_of_its_own(stored, printed_by, change, words):
    told = printed_by(*STUDY, *change, code=0).err
    assert "heart-study.db holds another study, which differs in " in told
    assert words in told
    assert "The study is stored in heart-study-2.db." in told
    assert "Continued heart-study-2.db: " in printed_by(*STUDY, *change, code=0).err
    assert stores() == ["heart-study-2.db", "heart-study.db"]


def test_other_selectors_and_other_rows_get_a_name_of_their_own(stored, printed_by):
    others = ["study", "heart.csv", "--target", "diagnosis", "-s", "golub:k=2", "--estimator", "knn", "-n", "4"]
    told = printed_by(*others, code=0).err
    assert "the selectors (anova is there and not asked for now)" in told
    smaller = printed_by(*STUDY[:5], "anova:k=2", *STUDY[6:], code=0).err
    assert "heart-study.db holds another study" in smaller
    Path("fewer.csv").rename("heart.csv")
    assert "the data (120 × 6, now 100 × 6)" in printed_by(*STUDY, code=0).err
    assert stores() == [f"heart-study{end}.db" for end in ("-2", "-3", "-4", "")]


def test_files_that_are_no_stores_are_left_alone(folder, printed_by):
    Path("heart-study.db").write_text("my notes")
    Path("heart-study-2.db").mkdir()
    with closing(sqlite3.connect("heart-study-3.db")) as connection, connection:
        connection.execute("CREATE TABLE mine (x)")
    Path("heart-study-4.db").symlink_to("nowhere.db")
    told = printed_by(*STUDY, code=0).err
    assert "is no store of a study that can be used" in told
    assert "The study is stored in heart-study-5.db." in told
    assert Path("heart-study.db").read_text() == "my notes"
    assert not Path("nowhere.db").exists()


def test_a_store_that_another_process_writes_is_not_shared(folder, printed_by):
    with open_to_write("heart-study.db"):  # begun, and of no study yet
        told = printed_by(*STUDY, code=0).err
    assert "heart-study.db is being written by another process." in told
    assert "The study is stored in heart-study-2.db." in told
    Path("heart-study.db").unlink()
    printed_by(*STUDY, code=0)
    with open_to_write("heart-study.db"):
        told = printed_by(*STUDY).err
    assert "Another process" in told
    assert "holdfast show" in told


@pytest.mark.slow
def test_two_studies_that_start_at_once_do_not_share_a_file(folder):
    program = [sys.executable, "-m", "holdfast", *STUDY, "--seed"]
    processes = [subprocess.Popen([*program, str(seed)], stderr=subprocess.PIPE, text=True) for seed in (1, 2)]
    told = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], told
    assert stores() == ["heart-study-2.db", "heart-study.db"]
    assert {hf.load_study(store).plan["random_state"] for store in stores()} == {1, 2}
    assert all(hf.load_study(store).complete for store in stores())


def test_a_study_that_was_killed_is_continued(folder, stored, printed_by):
    """A killed process leaves its journal beside the store, and a lock that nobody holds."""
    left = folder / "left"
    left.mkdir()
    with open_to_write(stored) as store:
        with store.transaction():
            store.remove(OUTCOMES, "split > ?", [1])
        for path in Path().glob("heart-study.db*"):
            shutil.copy(path, left)
    for path in left.iterdir():
        shutil.copy(path, folder)
    assert {path.name[len("heart-study.db") :] for path in left.iterdir()} == {"", "-wal", "-shm", ".holdfast-lock"}
    assert "Continued heart-study.db: 4 of 8 fits were there." in printed_by(*STUDY, code=0).err
    assert stores() == ["heart-study.db"]
    assert hf.load_study("heart-study.db").complete


def fits(store):
    """How many fits a store holds; none if it is only being made."""
    try:
        return hf.load_study(store).n_outcomes
    except ValueError:
        return 0


@pytest.mark.slow
def test_a_command_that_was_killed_is_continued(folder, printed_by):
    slow = ["study", "heart.csv", "--target", "diagnosis", "-s", "forest:n_estimators=60,sizes=2", "-n", "12"]
    process = subprocess.Popen([sys.executable, "-m", "holdfast", *slow], stderr=subprocess.DEVNULL)
    while fits("heart-study.db") < 2:
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    told = printed_by(*slow, code=0).err
    assert "Continued heart-study.db: " in told
    assert stores() == ["heart-study.db"]
    assert hf.load_study("heart-study.db").complete


def test_a_store_that_was_only_begun_is_taken(folder, printed_by):
    Path("heart-study.db").touch()
    assert "The study is stored in heart-study.db." in printed_by(*STUDY, code=0).err
    assert stores() == ["heart-study.db"]


def test_nothing_is_written_where_that_is_asked_for_or_impossible(folder, printed_by, monkeypatch):
    assert "The study is in" not in printed_by(*STUDY, "--no-store", code=0).err
    printed_by(*STUDY, "--dry-run", code=0)
    assert stores() == []
    assert "Expected --store FILE or --no-store, got both" in printed_by(*STUDY, "--no-store", "--store", "s.db").err
    assert printed_by(*STUDY, "--quiet", code=0).err == ""
    assert stores() == ["heart-study.db"]


def test_a_study_of_which_every_fit_failed_is_not_kept(folder, printed_by):
    arguments = ["study", "heart.csv", "--target", "diagnosis", "-s", "anova:k=x", "-n", "3"]
    for _ in range(2):
        assert "Every fit failed; the most common error was: " in printed_by(*arguments).err
        assert stores() == []


def test_a_wanted_width_does_not_promise_a_number_of_fits(folder, printed_by):
    wanted = [*STUDY[:-2], "--until", "0.2", "--cap", "30"]
    printed_by(*wanted, code=0)
    assert re.search(r"Continued heart-study.db: \d+ fits were there", printed_by(*wanted, code=0).err)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that nobody can write")
def test_a_folder_that_cannot_be_written_leaves_the_study_in_memory(monkeypatch, printed_by):
    monkeypatch.chdir("/proc")
    told = printed_by("study", "breast_cancer", "-s", "anova:k=2", "-n", "3", code=0)
    assert "The study was kept in memory only, as this folder is not writable" in told.err
    assert "anova" in told.out


def test_a_trade_off_is_kept_too(folder, printed_by):
    tradeoff = ["tradeoff", *STUDY[1:]]
    assert "The study is stored in heart-study.db. Next:" in printed_by(*tradeoff, code=0).err
    assert "Continued heart-study.db: 8 of 8 fits were there." in printed_by(*STUDY, code=0).err


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("/some/where/heart.csv.gz", "heart"),
        ("breast_cancer", "breast_cancer"),
        ("my data.v2.csv", "my data.v2"),
        ("-x.csv", "_x"),
        ("a\x1b[31m.csv", "a_[31m"),
        ("é" * 300 + ".csv", "é" * 60),
        (".csv", "_csv"),
    ],
)
def test_stores_are_named_after_the_data(data, name):
    assert default_name(data) == name


def test_next_commands_are_of_the_program_or_of_a_later_one():
    from holdfast.cli import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert set(NEXT) - known <= {"features"}
