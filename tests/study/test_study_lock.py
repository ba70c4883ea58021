"""One writer at a time, by whatever name; a store that is taken away during a run is noticed and saved."""

import importlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

import holdfast as hf
from holdfast.study.store import find_writer, open_to_write, opening
from holdfast.study.store.schema import BASELINES
from study_parts import X, Y, anova, assert_same, robust_study, run_with_failures, start_script

HOLD = """
import sys, time
from holdfast.study.store import open_to_write

with open_to_write(sys.argv[1]):
    print("open", flush=True)
    time.sleep(600)
"""
fcntl = importlib.import_module("fcntl") if os.name == "posix" else None
linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="symbolic links and open files that can be deleted")


def small_study(n=5):
    return hf.Study(selectors={"anova": anova()}, perturbation=hf.Bootstrap(n))


@linux
def test_a_symbolic_link_leads_to_the_same_lock(tmp_path):
    store, link, folder = tmp_path / "s.db", tmp_path / "link.db", tmp_path / "folder"
    link.symlink_to(store)
    folder.symlink_to(tmp_path)
    small_study().run(X, Y, store=link)
    with open_to_write(link):
        for name in (store, link, folder / "s.db", folder / "link.db"):
            with pytest.raises(hf.study.StoreError, match=rf"Another process \(\d+\) is writing {name}"):
                small_study().run(X, Y, store=name)
        assert hf.load_study(link).complete
        assert (tmp_path / "s.db.holdfast-lock").exists()
        assert not (tmp_path / "link.db.holdfast-lock").exists()
    assert_same(small_study(8).run(X, Y, store=link), small_study(8).run(X, Y))
    assert {path.name for path in tmp_path.iterdir()} == {"s.db", "link.db", "folder"}


@linux
def test_a_store_with_two_names_is_refused(tmp_path):
    store, other = tmp_path / "s.db", tmp_path / "other.db"
    small_study().run(X, Y, store=store)
    with open_to_write(store):
        os.link(store, other)
        for use in (lambda: small_study().run(X, Y, store=other), lambda: hf.load_study(other)):
            with pytest.raises(hf.study.StoreError, match=r"with one name, got .*other.db with 2 \(hard links\)"):
                use()
        other.unlink()
    assert hf.load_study(store).complete


AUDITED = """
import os, sys, threading
from study_parts import X, Y, robust_study
import holdfast as hf

store, opened = sys.argv[1], []
def audit(event, arguments):
    if event == "open" and str(arguments[0]).endswith("s.db"):
        opened.append(arguments[0])
sys.addaudithook(audit)
def look(progress):
    hf.load_study(store)
for n in (3, 6):
    robust_study(n).run(X, Y, store=store, progress=look)
open(store, "rb").close()
print(len(opened))
"""


def test_the_file_is_never_opened_beside_sqlite(tmp_path):
    """Closing it would release the locks that SQLite has on it in this process."""
    with start_script(AUDITED, tmp_path / "s.db") as process:
        out, err = process.communicate(timeout=600)
    assert out.strip() == "1", (out, err)  # the one that the program itself opens


@linux
def test_a_refused_writer_releases_no_lock(tmp_path):
    store, link = tmp_path / "s.db", tmp_path / "link.db"
    link.symlink_to(store)
    small_study().run(X, Y, store=store)
    write = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    with open_to_write(store) as opened, opened.transaction():
        opened.remove(BASELINES, "split = ?", [1])
        for name in (store, link):
            hf.load_study(name)
            with pytest.raises(hf.study.StoreError, match="Another process"):
                small_study().run(X, Y, store=name)
        other = subprocess.run([sys.executable, "-c", write, store], capture_output=True, text=True, check=False)
    assert "database is locked" in other.stderr


# Taken away


def unlink(store):
    store.unlink()


def move(store):
    store.rename(store.with_name("moved.db"))


def replace(store):
    shutil.copy(store.with_name("other.db"), store.with_name("new.db"))
    store.with_name("new.db").replace(store)


def delete_all(store):
    for path in store.parent.glob("s.db*"):
        path.unlink()


@pytest.mark.parametrize("take_away", [unlink, move, replace, delete_all])
@linux
def test_a_store_that_is_taken_away_is_noticed_and_saved(take_away, tmp_path):
    store, study, seen = tmp_path / "s.db", robust_study(40), []
    small_study().run(X, Y, store=tmp_path / "other.db")
    other = (tmp_path / "other.db").read_bytes()

    def watch(progress):
        if progress.done > 20 and not seen:
            take_away(store)
            seen.append(progress.done)

    what = "replaced by another file" if take_away is replace else "deleted or moved"
    with pytest.raises(
        hf.study.StoreError, match=rf"The store .*s.db was {what} while it was written, so the study"
    ) as told:
        study.run(X, Y, store=store, progress=watch)
    saved = tmp_path / "s.rescued.db"
    assert f"is saved in {saved}: run the study again with that store to resume" in str(told.value)
    part = hf.load_study(saved)
    assert part.n_outcomes > seen[0]  # the block that was in flight is there too
    assert not part.complete
    assert_same(run_with_failures(study, X, Y, store=saved), run_with_failures(study, X, Y))
    assert not (tmp_path / "s.db.holdfast-lock").exists()
    if take_away is replace:
        assert store.read_bytes() == other


@linux
def test_a_store_that_is_deleted_by_another_process_is_saved_beside_what_was_saved_before(tmp_path):
    store = tmp_path / "s.db"
    (tmp_path / "s.rescued.db").write_text("not to be overwritten")

    def watch(progress):
        subprocess.run(["rm", "-f", *tmp_path.glob("s.db*")], check=True)

    saved = tmp_path / "s.rescued-2.db"
    with pytest.raises(hf.study.StoreError, match=rf"The store .* was deleted or moved .* saved in {saved}: run"):
        robust_study(10).run(X, Y, store=store, progress=watch)
    assert (tmp_path / "s.rescued.db").read_text() == "not to be overwritten"
    assert hf.load_study(saved).n_outcomes > 0


@linux
def test_a_store_whose_folder_is_gone_is_saved_elsewhere(tmp_path, monkeypatch):
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))

    def watch(progress):
        shutil.rmtree(folder, ignore_errors=True)

    with pytest.raises(hf.study.StoreError, match=rf"is saved in {elsewhere}/s.rescued.db"):
        robust_study(10).run(X, Y, store=folder / "s.db", progress=watch)
    assert hf.load_study(elsewhere / "s.rescued.db").n_outcomes > 0


def test_a_store_that_nobody_uses_is_one_file(tmp_path):
    run_with_failures(robust_study(5), X, Y, store=tmp_path / "s.db")
    hf.load_study(tmp_path / "s.db")
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]
    connection = sqlite3.connect(tmp_path / "s.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


# SIGTERM


def test_the_handler_of_sigterm_is_put_back_and_a_program_s_own_is_left_alone(tmp_path):
    before, seen = signal.getsignal(signal.SIGTERM), []

    def look(progress):
        seen.append(signal.getsignal(signal.SIGTERM))

    def own(*_):
        pass

    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        small_study().run(X, Y, progress=look)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert callable(seen[0])
        signal.signal(signal.SIGTERM, own)
        small_study().run(X, Y, progress=look)
        assert signal.getsignal(signal.SIGTERM) is seen[-1] is own
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        thread = threading.Thread(target=lambda: small_study().run(X, Y, progress=look))
        thread.start()
        thread.join()
        assert seen[-1] is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


@linux
def test_sigterm_stops_a_study_in_memory_too():
    def stop(progress):
        os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(hf.study.StudyInterrupted, match=r"stopped after \d+ of 5 fits. It was in memory only") as told:
        small_study().run(X, Y, progress=stop)
    assert told.value.signal == signal.SIGTERM


# Who writes


def test_the_writer_is_known_while_it_writes_and_not_after(tmp_path):
    store, lock = tmp_path / "s.db", tmp_path / "s.db.holdfast-lock"
    assert find_writer(store) is None
    with start_script(HOLD, store) as process:
        assert process.stdout.readline() == "open\n"
        assert find_writer(store) == process.pid
        process.kill()
        process.communicate()
    assert lock.read_text() == f"{process.pid}\n"  # it left its number, but holds nothing
    assert find_writer(store) is None
    with open_to_write(store):
        assert find_writer(store) == os.getpid()
    assert find_writer(store) is None
    assert not lock.exists()


@linux
def test_a_writer_waits_for_those_who_only_look(tmp_path, monkeypatch):
    store, lock = tmp_path / "s.db", tmp_path / "s.db.holdfast-lock"
    lock.touch()
    looking = os.open(lock, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    assert find_writer(store) is None  # those who look do not take each other for writers
    monkeypatch.setattr(opening.time, "sleep", lambda _: os.close(looking))
    with open_to_write(store):
        assert find_writer(store) == os.getpid()


def test_looking_never_keeps_a_writer_out(tmp_path):
    store, seen, ended = tmp_path / "s.db", set(), threading.Event()

    def look():
        while not ended.is_set():
            seen.add(find_writer(store))

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(40):
            with open_to_write(store):
                pass
    finally:
        ended.set()
        for looker in lookers:
            looker.join()
    assert seen == {None, os.getpid()}


@linux
def test_the_number_of_a_killed_writer_is_not_taken_for_that_of_the_next(tmp_path, monkeypatch):
    store, lock = tmp_path / "s.db", tmp_path / "s.db.holdfast-lock"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    lock.write_text(f"{gone.pid}\n")
    holder = os.open(lock, os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)  # it has the lock, and will leave its number in a moment
    monkeypatch.setattr(opening.time, "sleep", lambda _: lock.write_text(f"{os.getpid()}\n"))
    assert find_writer(store) == os.getpid()
    os.close(holder)
