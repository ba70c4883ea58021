"""The page's folder and its processes: permissions, the queue, kills and restarts, full disks, one server a folder."""

import errno
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from holdfast.study.store.opening import only_writer
from holdfast.web import folder as folders
from holdfast.web import launcher as launching
from holdfast.web.folder import UNFINISHED, Folder, Uploads, write_record
from holdfast.web.guard import RefusedError
from holdfast.web.launcher import Launcher, Watch
from holdfast.web.server import AlreadyServedError, _greeting, _only_server, _open_page, listen, serve
from serving import open_client, start_server, upload, wait_for

STUDY = "study", "--quiet", "-n", "10", "-s", "anova:k=2", "breast_cancer"


@pytest.fixture
def place(tmp_path):
    return Folder(tmp_path / "page")


def test_the_folder_is_its_owners_only(place):
    for path in (place.path, place.private, place.uploads, place.queue, place.logs):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    token = place.token()
    assert stat.S_IMODE((place.private / "token").stat().st_mode) == 0o600
    assert place.token() == token != place.token(new=True)
    place.private.chmod(0o777)
    assert stat.S_IMODE(Folder(place.path).private.stat().st_mode) == 0o700


def test_a_private_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    (tmp_path / ".holdfast-page").symlink_to(tmp_path / "other")
    with pytest.raises(ValueError, match="a folder of your own"):
        Folder(tmp_path)
    (tmp_path / ".holdfast-page").unlink()
    (tmp_path / ".holdfast-page").write_text("")
    with pytest.raises(ValueError, match="a folder of your own"):
        Folder(tmp_path)
    (tmp_path / ".holdfast-page").unlink()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(ValueError, match="a folder of your own"):
        Folder(tmp_path)


@pytest.mark.parametrize("name", ["", "a\0b", "file", "circle", "x" * 5000])
def test_what_is_no_folder_is_one_sentence(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    Path("circle").symlink_to("circle")
    with pytest.raises(ValueError, match="Expected a folder"):
        Folder(name)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ValueError, match=r"can be written, got .*: Read-only file system\."):
        Folder(tmp_path)


def test_whoever_opens_a_page_keeps_their_own_habits_about_files(tmp_path):
    (tmp_path / "file").touch()
    before = os.umask(0o022)
    try:
        with pytest.raises(ValueError, match="Expected a folder"):
            serve(tmp_path / "file", open_browser=False)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def test_only_files_that_can_be_stores_are_listed(place):
    header = b"SQLite format 3\0"
    (place.path / "good.db").write_bytes(header)
    (place.path / "link.db").symlink_to("good.db")
    (place.path / "text.db").write_text("text")
    (place.path / "folder.db").mkdir()
    os.mkfifo(place.path / "pipe.db")  # opening it would wait forever
    Path(os.fsdecode(os.fsencode(place.path) + b"/\xff.db")).write_bytes(header)
    assert list(place.stores()) == ["good"]
    assert [name for name in ("good", "link", "text", "folder", "pipe", "", "../page/good") if place.find(name)] == [
        "good"
    ]


def test_messages_name_files_without_their_folders(place):
    key = "0123456789abcdef"
    text = (
        f"{place.uploads}/{key}/my data.csv and {place.path}/a.db, /usr/lib/python3/x.py: 0/1, and/or, https://x.org/a"
    )
    assert place.shown(text) == "my data.csv and a.db, x.py: 0/1, and/or, https://x.org/a"


def test_uploads_that_were_cut_off_by_a_kill_are_removed(place):
    uploads = Uploads(place)
    old, new = place.uploads / ("a" * 16), place.uploads / ("b" * 16)
    for path in (old, new):
        path.mkdir()
        (path / "half.csv").write_text("1")
    os.utime(old, (0, time.time() - UNFINISHED - 9))
    uploads.remove_unfinished()
    assert (old.exists(), new.exists()) == (False, True)


# One server for a folder


def test_a_folder_has_one_server_and_others_are_told_where(place):
    write_record(place.private / "server.json", {"address": "http://stale", "pid": 1})
    with _only_server(place) as announce:
        announce("http://127.0.0.1:1/")
        with pytest.raises(AlreadyServedError, match=r"open already: http://127\.0\.0\.1:1/"), _only_server(place):
            pass
    assert not (place.private / "server.json").exists()
    with _only_server(place):
        pass


def test_a_port_that_is_taken_and_a_host_that_is_none(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port} of 127.0.0.1 to be free"):
            listen("127.0.0.1", port)
        monkeypatch.setattr("holdfast.web.server.PORT", port)
        with listen("127.0.0.1", None) as other:
            assert other.getsockname()[1] > port
    for host in ("no.such.host.invalid", "a" * 300, "", "\udcff"):
        with pytest.raises(ValueError, match="--host"):
            listen(host or ".", 0)
    with pytest.raises(ValueError, match="Expected to listen at"):
        listen("203.0.113.7", 0)


def test_the_greeting_warns_of_other_machines_and_other_writers(place):
    assert not [line for line in _greeting("http://a", place, "127.0.0.1") if "warning" in line]
    place.path.chmod(0o777)
    warnings = [line for line in _greeting("http://a", place, "0.0.0.0") if "warning" in line]
    assert ["other machines" in warnings[0], "others may write" in warnings[1]] == [True, True]


def test_a_browser_is_opened_without_showing_the_token_to_other_users(place, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    _open_page(place, 'http://127.0.0.1:1/?token=secret"')
    (address,) = opened
    assert "secret" not in address
    file = Path(address.removeprefix("file://"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "url=http://127.0.0.1:1/?token=secret&quot;" in file.read_text()


# The queue, with processes that only wait


@pytest.fixture
def spawned(monkeypatch):
    """Studies are processes that sleep until they are killed."""
    children = []

    def spawn(arguments, log):
        child = subprocess.Popen(["sh", "-c", "trap '' TERM; exec sleep 60"])  # a fit that takes long
        children.append(child)
        return child.pid

    monkeypatch.setattr(launching, "_spawn", spawn)
    yield children
    for child in children:
        child.kill()
        child.wait()


def states(launcher):
    return {study: state.state for study, state in launcher.states().items()}


def test_studies_wait_for_their_turn(place, spawned):
    launcher = Launcher(place, at_once=2)
    for name in "abcd":
        launcher.submit(name, STUDY)
    assert states(launcher) == {"a": "starting", "b": "starting", "c": "queued", "d": "queued"}
    assert [launcher.state(name).place for name in "abcd"] == [None, None, 1, 2]
    spawned[0].kill()
    wait_for(lambda: launcher.start_waiting() or len(spawned) == 3)
    assert states(launcher) == {"b": "starting", "c": "starting", "d": "queued", "a": "failed"}
    assert "killed" in launcher.state("a").message


def test_a_queue_outlives_its_server_and_starts_nothing_twice(place, spawned):
    first = Launcher(place)
    first.submit("a", STUDY)
    first.submit("b", STUDY)
    second = Launcher(place)
    second.start_waiting()
    assert states(second) == {"a": "starting", "b": "queued"}
    assert len(spawned) == 1
    spawned[0].kill()
    spawned[0].wait()
    second.start_waiting()
    assert states(second) == {"b": "starting", "a": "failed"}
    assert len(spawned) == 2


def test_the_number_of_a_process_that_is_used_again_is_not_taken_for_it(place, spawned):
    record = {"arguments": list(STUDY), "submitted": 1.0, "begun": True, "pid": os.getpid(), "born": "1"}
    write_record(place.queue / "old.json", record)
    launcher = Launcher(place)
    assert states(launcher) == {"old": "failed"}
    with pytest.raises(RefusedError, match="not running"):
        launcher.stop("old")


DAMAGED = [
    "", "[]", "{", "null", '{"arguments": "rm -rf /", "submitted": 1}', '{"arguments": [1], "submitted": 1}',
    '{"arguments": [], "submitted": 1}', '{"arguments": ["a\\u0000b"], "submitted": 1}',
    '{"arguments": ["study"], "submitted": "now"}', '{"arguments": ["study"], "submitted": 1, "pid": -1}',
    '{"arguments": ["study"], "submitted": 1, "pid": 1, "born": "1"}',
    '{"arguments": ["study"], "more": 1, "submitted": 1}',
]  # fmt: skip


@pytest.mark.parametrize("text", DAMAGED)
def test_a_record_that_is_damaged_starts_and_stops_nothing(place, spawned, text):
    (place.queue / "bad.json").write_text(text)
    (place.queue / ".bad.json.1234").write_text("{}")
    launcher = Launcher(place)
    launcher.start_waiting()
    assert not spawned
    assert states(launcher) == {"bad": "failed"}
    with pytest.raises(RefusedError):
        launcher.stop("bad")
    with pytest.raises(RefusedError, match="not known any more"):
        launcher.resume("bad")
    launcher.remove("bad")
    assert states(launcher) == {}


def test_stopping_takes_out_of_the_queue_and_what_was_stopped_goes_on(place, spawned):
    launcher = Launcher(place)
    launcher.submit("a", STUDY)
    launcher.submit("b", STUDY)
    assert launcher.stop("b").state == "stopped"
    assert launcher.stop("a").state == "stopping"
    assert Launcher(place).state("a").state == "stopping"
    spawned[0].kill()
    spawned[0].wait()
    launcher.start_waiting()
    assert states(launcher) == {"a": "stopped", "b": "stopped"}
    assert launcher.resume("b").state == "starting"


def test_resuming_twice_at_once_starts_one_process(place, spawned):
    launcher, outcomes = Launcher(place, at_once=5), []
    launcher.submit("a", STUDY)
    launcher.stop("a")
    spawned[0].kill()
    spawned[0].wait()
    launcher.start_waiting()

    def resume():
        try:
            outcomes.append(launcher.resume("a").state)
        except RefusedError as error:
            outcomes.append(error.status)

    threads = [threading.Thread(target=resume) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes, key=str) == [409] * 7 + ["starting"]
    assert len(spawned) == 2


def test_a_study_that_runs_is_not_removed(place, spawned):
    launcher = Launcher(place)
    launcher.submit("a", STUDY)
    with pytest.raises(RefusedError, match="stop it before"):
        launcher.remove("a")


def test_a_process_that_does_not_start_is_one_sentence(place, monkeypatch):
    def fail(*_):
        raise OSError(errno.E2BIG, "Argument list too long")

    monkeypatch.setattr(launching, "_spawn", fail)
    launcher = Launcher(place)
    state = launcher.submit("a", STUDY)
    assert (state.state, "Argument list too long" in state.message) == ("failed", True)
    launcher.start_waiting()


def test_a_study_that_is_just_being_started_is_not_taken_for_one_that_failed(place, spawned, monkeypatch):
    launcher, seen, spawn = Launcher(place), [], launching._spawn

    def ask_first(*arguments):
        seen.append(launcher.state("a").state)
        return spawn(*arguments)

    monkeypatch.setattr(launching, "_spawn", ask_first)
    launcher.submit("a", STUDY)
    assert seen == ["starting"]


def test_the_queue_is_bounded(place, spawned, monkeypatch):
    monkeypatch.setattr(launching, "MAX_QUEUED", 2)
    launcher = Launcher(place)
    for name in "abc":
        launcher.submit(name, STUDY)
    with pytest.raises(RefusedError) as refusal:
        launcher.submit("d", STUDY)
    assert refusal.value.status == 429


def test_a_writer_on_another_machine_is_not_sent_a_signal(place, spawned):
    """The number in a lock file may be that of a process elsewhere, and somebody else's here."""
    store = place.path / "far.db"
    store.write_bytes(b"SQLite format 3\0" + bytes(84))
    lock = store.with_name("far.db.holdfast-lock")
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        with only_writer(store, store):
            lock.write_text(f"{bystander.pid}\n")
            launcher = Launcher(place)
            with pytest.raises(RefusedError, match="another machine"):
                launcher._terminate("far")
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_full_disk_starts_nothing_twice_and_is_one_sentence(place, spawned, monkeypatch):
    launcher = Launcher(place)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda _: usage(1, 1, 0))
    with pytest.raises(RefusedError) as refusal:
        launcher.submit("a", STUDY)
    assert refusal.value.status == 507
    monkeypatch.undo()

    written, writes = launching.write_record, []

    def full(path, record):
        writes.append(record)
        if record.get("begun"):
            raise OSError(errno.ENOSPC, "No space left on device")
        written(path, record)

    monkeypatch.setattr(launching, "write_record", full)
    monkeypatch.setattr(launching, "_spawn", lambda *_: pytest.fail("it was started without being written"))
    with pytest.raises(OSError, match="No space"):
        launcher.submit("a", STUDY)
    assert states(launcher) == {"a": "queued"}


def test_a_record_is_written_whole_or_not_at_all(place, monkeypatch):
    write_record(place.queue / "a.json", {"whole": True})

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_record(place.queue / "a.json", {"whole": False})
    assert [path.name for path in place.queue.iterdir()] == ["a.json"]
    assert json.loads((place.queue / "a.json").read_text()) == {"whole": True}


def test_uploads_on_a_full_disk_leave_nothing(tmp_path, monkeypatch):
    with open_client(tmp_path) as client:
        real = anyio.AsyncFile.write

        async def full(self, piece):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(anyio.AsyncFile, "write", full)
        answer = client.put("/api/v1/uploads?name=a.csv", content=b"1,2\n")
        assert (answer.status_code, answer.json()["error"][:17]) == (507, "The disk is full;")
        assert list((tmp_path / ".holdfast-page" / "uploads").iterdir()) == []
        monkeypatch.setattr(anyio.AsyncFile, "write", real)
        assert upload(client, b"1,2\n", "a.csv")


# Counting


def test_a_store_is_counted_once_a_second_whoever_asks(place, monkeypatch):
    store = place.path / "a.db"
    store.write_bytes(b"SQLite format 3\0")
    counted = []

    def count(study, path):
        counted.append(study)
        return launching.StudyState(study=study, state="stopped", done=len(counted), total=9)

    monkeypatch.setattr(launching, "_count", count)
    # all of this happens at one moment, however long it takes
    monkeypatch.setattr(launching, "time", SimpleNamespace(monotonic=lambda: 0.0))
    launcher = Launcher(place)
    with only_writer(store, store):
        assert {launcher.state("a").done for _ in range(20)} == {1}
        watch = Watch(launcher)

        async def ask():
            async with anyio.create_task_group() as tasks:
                for _ in range(50):
                    tasks.start_soon(watch.state, "a")

        anyio.run(ask)
    assert counted == ["a"]
    assert launcher.state("a").done == 2  # nobody writes it any more: what is there now counts


# Whole servers (make test-app)


def command(*arguments):
    return [sys.executable, "-m", "holdfast", *map(str, arguments)]


def ask(address, path, method="GET"):
    import urllib.request

    base, _, token = address.partition("/?token=")
    request = urllib.request.Request(base + path, method=method, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def state_of(address, study):
    (state,) = [state for state in ask(address, "/api/v1/studies")["studies"] if state["study"] == study] or [{}]
    assert state.get("state") != "failed", state
    return state


def slow_study(folder, name, n=4000):
    """Arguments of a study that takes a while."""
    store = str(folder / f"{name}.db")
    return ["study", "--quiet", "-n", str(n), "-s", "mutual_info:k=2", "--store", store, "breast_cancer"]


def queue(folder, name, arguments):
    place = Folder(folder)
    write_record(place.queue / f"{name}.json", {"arguments": arguments, "submitted": time.time()})


@pytest.mark.server
def test_a_server_that_is_killed_loses_nothing_and_neither_does_a_study(tmp_path):
    queue(tmp_path, "first-study", slow_study(tmp_path, "first-study"))
    queue(tmp_path, "second-study", slow_study(tmp_path, "second-study", 20))
    with start_server(tmp_path) as (address, server):
        wait_for(lambda: state_of(address, "first-study").get("done"))
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
    with start_server(tmp_path) as (again, server):
        assert again.partition("token=")[2] == address.partition("token=")[2]
        seen = state_of(again, "first-study")
        assert (seen["state"], seen["done"] > 0) == ("running", True)
        assert state_of(again, "second-study")["state"] == "queued"
        process = int((tmp_path / "first-study.db.holdfast-lock").read_text())
        fds = [os.readlink(handle) for handle in Path(f"/proc/{process}/fd").iterdir()]
        assert not [target for target in fds if "socket" in target or "server.lock" in target]
        os.kill(process, signal.SIGKILL)
        before = wait_for(lambda: (seen := state_of(again, "first-study"))["state"] == "stopped" and seen["done"])
        wait_for(lambda: state_of(again, "second-study")["state"] == "finished")
        assert stat.S_IMODE((tmp_path / "second-study.db").stat().st_mode) == 0o600
        assert ask(again, "/api/v1/studies/first-study/resume", "POST")["state"] in ("starting", "running", "queued")
        wait_for(lambda: state_of(again, "first-study")["done"] > before)
        assert ask(again, "/api/v1/studies/first-study/stop", "POST")["state"] == "stopping"
        wait_for(lambda: state_of(again, "first-study")["state"] == "stopped")
        assert state_of(again, "first-study")["message"] == ""  # the state says it
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        assert not [
            child for child in children if "Z" in Path(f"/proc/{child}/stat").read_text().rpartition(")")[2][:3]
        ]


@pytest.mark.server
def test_a_study_from_the_command_line_is_seen_and_can_be_stopped(tmp_path):
    with start_server(tmp_path) as (address, _):
        study = subprocess.Popen(command(*slow_study(tmp_path, "own-study")), stderr=subprocess.DEVNULL)
        wait_for(lambda: state_of(address, "own-study").get("state") == "running")
        assert ask(address, "/api/v1/studies/own-study/stop", "POST")["state"] == "stopping"
        assert study.wait(60) == 143
        wait_for(lambda: state_of(address, "own-study")["state"] == "stopped")


@pytest.mark.server
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_server_ends_quietly_also_with_open_streams(tmp_path, number):
    queue(tmp_path, "a-study", slow_study(tmp_path, "a-study"))
    with start_server(tmp_path) as (address, server):
        wait_for(lambda: state_of(address, "a-study").get("done"))
        base, _, token = address.partition("/?token=")
        host, port = base.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as stream:
            lines = ["GET /api/v1/studies/a-study/events HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}"]
            stream.sendall("\r\n".join([*lines, "", ""]).encode())
            received = b""
            while b"progress" not in received:
                received += stream.recv(1 << 16)
            start = time.monotonic()
            server.send_signal(number)
            assert server.wait(30) == 0
            seconds = time.monotonic() - start
            print(f"ended after {seconds:.1f} s")
            while stream.recv(1 << 16):
                pass
        said = server.stdout.read()
        assert said.splitlines() == ["Ctrl-C closes it; studies that run go on, and are there when it is opened again."]
        assert not (tmp_path / ".holdfast-page" / "server.json").exists()
    assert subprocess.run(command("show", tmp_path / "a-study.db"), capture_output=True, check=False).returncode == 0
    os.kill(int((tmp_path / "a-study.db.holdfast-lock").read_text()), signal.SIGTERM)


@pytest.mark.server
def test_a_second_server_for_a_folder_says_where_the_first_is(tmp_path):
    with start_server(tmp_path) as (address, _):
        done = subprocess.run(command("serve", tmp_path, "--no-browser"), capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert address in done.stderr
        assert done.stderr.count("\n") == 1


def test_the_store_of_a_study_that_was_removed_can_be_moved_back(place, spawned):
    store = place.path / "a.db"
    store.write_bytes(b"SQLite format 3\0")
    launcher = Launcher(place)
    assert states(launcher) == {"a": "unreadable"}
    away = launcher.remove("a")
    assert states(launcher) == {}
    shutil.move(away, store)
    assert states(launcher) == {"a": "unreadable"}
