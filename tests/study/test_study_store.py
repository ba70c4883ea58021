"""The file of a study: what is no store is refused and left alone, and a full disk loses nothing."""

import errno
import json
import os
import re
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.selectors import ElasticNetPath
from holdfast.study import families
from holdfast.study.plan import plain_selector
from holdfast.study.store import opening, schema
from study_parts import Raising, X, Y, anova, assert_same, robust_study, run_with_failures


def study_of(selectors=None, n=5):
    selectors = selectors or {"anova": anova(), "raising": Raising()}
    return hf.Study(selectors=selectors, perturbation=hf.Bootstrap(n), estimator=KNeighborsClassifier(3))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("finished") / "study.db"
    run_with_failures(study_of(n=30), X, Y, store=path)
    return path


def assert_refused(path, message):
    """Neither read nor written, and not a byte is changed."""
    before = path.read_bytes()
    with pytest.raises(hf.study.StoreError, match=message):
        hf.load_study(path)
    with pytest.raises(hf.study.StoreError, match=message):
        run_with_failures(study_of(), X, Y, store=path)
    assert path.read_bytes() == before
    assert not path.with_name(f"{path.name}.holdfast-lock").exists()


@pytest.mark.parametrize("length", [1, 15, 50, 99, 100, 511, 512, 1024, 4095, 4096, 8192, 0.5, 0.9, -4096, -4095, -1])
def test_a_truncated_store_is_refused_and_left_alone(length, finished, tmp_path):
    whole, path = finished.read_bytes(), tmp_path / "cut.db"
    path.write_bytes(whole[: int(length * len(whole)) if isinstance(length, float) else length])
    assert_refused(
        path,
        r"Expected a study's store .* got .*cut.db: it is (damaged|another kind of file)|got another or an",
    )


@pytest.mark.parametrize("place", [0, 20, 100, 4096])
def test_a_damaged_store_is_refused_and_left_alone(place, finished, tmp_path):
    whole, path = bytearray(finished.read_bytes()), tmp_path / "scratched.db"
    whole[place : place + 200] = b"\xa5" * 200
    path.write_bytes(whole)
    assert_refused(
        path,
        r"Expected a study's store that can be used, got .*scratched.db: |is damaged \(13 of 13 entries of the plan",
    )


def test_other_files_are_refused_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("do not lose me\n" * 100)
    assert_refused(text, "notes.txt: it is another kind of file; give a store that holdfast study made")
    foreign = tmp_path / "foreign.db"
    with closing(sqlite3.connect(foreign)) as connection, connection:
        connection.execute("CREATE TABLE mine (value)")
        connection.execute("INSERT INTO mine VALUES (1)")
    connection.close()
    assert_refused(
        foreign, "Expected a study in .*foreign.db, got another or an empty file; give the path of a study's"
    )
    future = tmp_path / "future.db"
    study_of({"anova": anova()}).run(X, Y, store=future)
    with opening.open_to_write(future) as opened, opened.transaction():
        opened.put("format", 99)
    assert_refused(future, r"Expected a store of format 4, got format 99 in .*future.db; use the holdfast that wrote")
    former = tmp_path / "former.db"
    with closing(sqlite3.connect(former)) as connection, connection:
        connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
        connection.execute("CREATE TABLE candidates (candidate INTEGER PRIMARY KEY, name TEXT UNIQUE)")
        connection.execute("INSERT INTO meta VALUES ('format', '1')")
    connection.close()
    assert_refused(former, r"Expected a store of format 4, got format 1 in .*former.db; use the holdfast that wrote")


def assert_no_file(path, message):
    with pytest.raises(hf.study.StoreError, match=message):
        hf.load_study(path)
    with pytest.raises(hf.study.StoreError, match=message):
        study_of().run(X, Y, store=path)


def test_a_folder_a_device_and_memory_are_no_store(tmp_path, monkeypatch):
    assert_no_file(
        tmp_path, rf"Expected a file as store, got the folder {tmp_path}; name a file in it, such as {tmp_path}/"
    )
    monkeypatch.chdir(tmp_path)
    assert_no_file(".", r"Expected a file as store, got the folder \.; name a file in it, such as study.db")
    with pytest.raises(ValueError, match="Expected the path of a study's store, got ''"):
        hf.load_study("")
    assert_no_file(
        ":memory:", r"Expected a file as store, got ':memory:'; leave the store out \(store=None, no --store\)"
    )
    assert_no_file(os.devnull, f"Expected a file as store, got {os.devnull}, which is none")
    assert list(tmp_path.iterdir()) == []


def test_the_home_folder_may_be_written_as_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    run_with_failures(study_of(), X, Y, store="~/s.db")
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]
    assert hf.load_study("~/s.db").complete


def test_an_empty_file_holds_no_study_and_becomes_one(tmp_path):
    path = tmp_path / "new.db"
    path.touch()  # as a process leaves it that was killed while it made its store
    with pytest.raises(hf.study.StoreError, match=r"Expected a study in .*, got another or an empty file"):
        hf.load_study(path)
    assert_same(run_with_failures(study_of(), X, Y, store=path), run_with_failures(study_of(), X, Y))


def test_a_store_that_was_never_begun_says_so(tmp_path):
    path = tmp_path / "new.db"
    with opening.open_to_write(path):
        pass
    with pytest.raises(hf.study.StoreError, match="got a store that was never begun"):
        hf.load_study(path)
    assert run_with_failures(study_of(), X, Y, store=path).complete


@pytest.fixture(scope="module")
def robust(tmp_path_factory):
    """The whole of a study with something of everything, and its store."""
    path = tmp_path_factory.mktemp("robust") / "whole.db"
    return run_with_failures(robust_study(60, 0.001), X, Y, store=path), path


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.95])
def test_a_full_disk_loses_nothing_that_was_finished(share, robust, tmp_path, monkeypatch):
    path, study, (whole, whole_path) = tmp_path / "s.db", robust_study(60, 0.001), robust
    pages, prepare = int(share * whole_path.stat().st_size / 4096), opening._prepare

    def on_a_small_disk(connection, path):
        prepare(connection, path)
        connection.execute(f"PRAGMA max_page_count = {pages}")

    with monkeypatch.context() as small:
        small.setattr(opening, "_prepare", on_a_small_disk)
        small.setattr(families, "BLOCK_SECONDS", 0.01)
        with pytest.raises(
            hf.study.StoreError, match="there is no room left on its disk; what was finished is safe: make room"
        ):
            study.run(X, Y, store=path)
    if share < 0.5:  # not even the plan found room
        with pytest.raises(hf.study.StoreError, match="got a store that was never begun"):
            hf.load_study(path)
    else:
        part = hf.load_study(path)
        assert part.n_outcomes < whole.n_outcomes
        assert share < 0.8 or part.n_outcomes > 0
    assert_same(run_with_failures(study, X, Y, store=path), whole)


def test_a_lock_that_cannot_be_signed_still_locks(tmp_path, monkeypatch):
    def full(handle, text):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as small:
        small.setattr(os, "write", full)
        with (
            opening.open_to_write(tmp_path / "s.db"),
            pytest.raises(hf.study.StoreError, match=r"Another process \(number unknown\) is writing"),
        ):
            study_of().run(X, Y, store=tmp_path / "s.db")


def test_a_second_writer_in_one_process_is_refused(tmp_path):
    path, told = tmp_path / "s.db", []

    def again(progress):
        with pytest.raises(
            hf.study.StoreError, match=rf"Another process \({os.getpid()}\) is writing .*; wait for it, or read"
        ):
            study_of().run(X, Y, store=path)
        told.append(progress)

    result = run_with_failures(study_of(), X, Y, store=path, progress=again)
    assert told
    assert result.complete


def test_a_lock_that_was_left_behind_is_taken(tmp_path):
    (tmp_path / "s.db.holdfast-lock").write_text("999999\n")
    assert run_with_failures(study_of(), X, Y, store=tmp_path / "s.db").complete
    assert not (tmp_path / "s.db.holdfast-lock").exists()


@pytest.fixture
def powerless():
    """Be a user who may not write everywhere."""
    if os.geteuid() == 0:
        os.seteuid(65534)
        yield
        os.seteuid(0)
    else:
        yield


@pytest.fixture
def read_only(finished):
    """A folder that cannot be written, with a store in it."""
    folder = Path(tempfile.mkdtemp())
    shutil.copy(finished, folder / "study.db")
    (folder / "study.db").chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_folder_that_cannot_be_written_can_be_read(finished, read_only, request):
    whole = hf.load_study(finished)
    request.getfixturevalue("powerless")
    with pytest.raises(OSError, match="denied"):
        (read_only / "new").touch()
    assert_same(hf.load_study(read_only / "study.db"), whole)
    for name in ("study.db", "another.db"):
        with pytest.raises(
            hf.study.StoreError, match=re.escape(f"Expected a store that can be written, got {read_only / name}: ")
        ):
            study_of().run(X, Y, store=read_only / name)
    assert [path.name for path in read_only.iterdir()] == ["study.db"]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_the_store_of_a_killed_study_can_be_read_where_nothing_can_be_written(finished, read_only, tmp_path, request):
    shutil.copy(finished, tmp_path / "s.db")
    read_only.chmod(0o755)
    with opening.open_to_write(tmp_path / "s.db") as opened:
        with opened.transaction():
            opened.remove(schema.OUTCOMES, "candidate > ?", [0])
        for name in ("", "-wal", "-shm"):
            shutil.copy(tmp_path / f"s.db{name}", read_only / f"killed.db{name}")
    read_only.chmod(0o555)
    request.getfixturevalue("powerless")
    assert hf.load_study(read_only / "killed.db").scores.empty


def test_a_study_never_shrinks(tmp_path):
    study_of({"anova": anova()}).run(X, Y, store=tmp_path / "s.db")
    grown = study_of({"anova": anova(), "two": anova(2)}, n=2).run(X, Y, store=tmp_path / "s.db")
    assert grown.summary()["runs"].tolist() == [5, 5]
    assert grown.complete


def test_failures_are_tried_again_when_asked_and_those_of_others_stay(tmp_path):
    path = tmp_path / "s.db"
    both = {"raising": Raising(), "other": Raising(0.1)}
    before = run_with_failures(study_of(both), X, Y, store=path)
    assert set(before.failures["candidate"]) == {"raising", "other"}
    again = run_with_failures(study_of(both), X, Y, store=path)
    assert_same(again, before)
    with monkeypatched_threshold(9):
        retried = run_with_failures(study_of({"raising": Raising()}), X, Y, store=path, retry_failures=True)
    assert set(retried.failures["candidate"]) == {"other"}
    assert retried.complete
    assert_same(retried, before, candidates=["other"])


class monkeypatched_threshold:  # noqa: N801
    """Selectors that raise above a threshold do so above another."""

    def __init__(self, above):
        self.above, self.before_selecting = above, Raising.before_selecting

    def __enter__(self):
        Raising.before_selecting = lambda selector, values: None

    def __exit__(self, *_):
        Raising.before_selecting = self.before_selecting


def test_a_failed_score_is_tried_again_with_its_selection(tmp_path):
    path = tmp_path / "s.db"
    study = hf.Study(
        selectors={"anova": anova()}, perturbation=hf.Bootstrap(3), estimator=KNeighborsClassifier(3), scoring=moody
    )
    MOOD.append(True)
    failed = run_with_failures(study, X, Y, store=path)
    assert failed.summary().loc["anova", "failures"] == 3
    assert failed.preferences("anova").n_runs == 3
    MOOD.clear()
    retried = study.run(X, Y, store=path, retry_failures=True)
    assert retried.scores["moody"].tolist() == [1.0] * 3
    assert_same(retried, study.run(X, Y))


MOOD = []


def moody(model, X, y):
    return 1 / (not MOOD)


def test_a_store_is_one_file_of_plain_tables(finished):
    connection = sqlite3.connect(finished)
    plan = json.loads(connection.execute("SELECT value FROM meta WHERE key = 'plan'").fetchone()[0])
    (count,) = connection.execute("SELECT count(*) FROM splits").fetchone()
    connection.close()
    assert plan["perturbation"] == {"perturbation": "Bootstrap", "stratify": False}
    assert count == 30


def functions(text):
    """The functions of a script, as it has them each time it is started."""
    names = {"__name__": "__main__"}
    exec(text, names)
    return names


def test_functions_of_a_script_are_known_again_by_what_they_do():
    from holdfast.study.plan import describe

    text = """
def plain(model, X, y): return sum(one for one in y if one in {"a", "b", "c"}) + (lambda z: z)(1)
def other(model, X, y): return sum(one for one in y if one in {"a", "b", "d"}) + (lambda z: z)(1)
def named(model, X, y): return max(one for one in y if one in {"a", "b", "c"}) + (lambda z: z)(1)
"""
    first, again = functions(text), functions(text)
    told = [describe(first[name]).split("#")[1] for name in ("plain", "other", "named")]
    assert told == [describe(again[name]).split("#")[1] for name in ("plain", "other", "named")]
    assert len(set(told)) == 3


def test_a_lasso_whose_model_was_found_is_that_of_numbers_with_fractions(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 8))
    y = X[:, 0] + rng.normal(size=50)

    def run(model, n, store=None):
        study = hf.Study(selectors={"lasso": ElasticNetPath(n_features=3, model=model)}, perturbation=hf.Bootstrap(n))
        return study.run(X, y, store=store)

    run("auto", 3, tmp_path / "s.db")  # as commands made it before they named the model
    resumed, fresh = run("linear", 5, tmp_path / "s.db").preferences("lasso"), run("linear", 5).preferences("lasso")
    assert [resumed.selected(run) for run in range(5)] == [fresh.selected(run) for run in range(5)]
    described = '{"ElasticNetPath": {"model": "auto"}}'
    assert plain_selector(described, "regression", [1.5]) == described.replace("auto", "linear")
    for task, target in (("regression", [1.0, 2.0]), ("classification", [0, 1])):  # whole numbers may be classes
        assert plain_selector(described, task, target) == described
