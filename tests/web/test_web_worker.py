"""Workers: what a file can make its reader do, and that it ends within its limits."""

import json
import multiprocessing
import os
import signal
import sys
import threading
import time

import pytest

from holdfast.web import worker
from holdfast.web.tasks import TASKS
from holdfast.web.worker import Limits, TaskError, run_task
from serving import open_client, wait_for

FEW = Limits(seconds=600, memory=300_000_000, written=1_000_000)
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def loop():
    while True:
        pass


def sleep():
    time.sleep(600)


def allocate():
    return len(bytearray(2_000_000_000))


def collect():
    kept = []
    while True:
        kept.append(bytearray(10_000_000))


def print_much():
    for _ in range(1000):
        print("x" * 1000, file=sys.stderr)
        os.write(1, b"x" * 1000)
    return "printed"


def answer_much():
    return "x" * worker.MAX_ANSWERED


def crash():
    os.kill(os.getpid(), signal.SIGKILL)  # as the system does when memory runs out


def leave():
    sys.exit(3)


def leave_at_once():
    os._exit(0)


def recurse(depth=0):
    return recurse(depth + 1)


def write(path):
    with open(path, "wb") as file:
        while True:
            file.write(b"x" * 100_000)


def refuse():
    error = ValueError("Expected numbers, got words.")
    error.question = {"name": "sheet", "choices": ["a", "b"]}
    raise error


def break_down():
    raise KeyError("no such column")


def start_another():
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
    time.sleep(600)


def tell():
    import resource

    return {
        "environment": dict(os.environ),
        "handles": [os.readlink(f"/proc/self/fd/{handle}") for handle in (0, 1, 2)],
        "group": os.getpgid(0) == os.getpid(),
        "core": resource.getrlimit(resource.RLIMIT_CORE),
    }  # fmt: skip


def undefined():
    return {"value": float("nan"), "name": "\ud800"}


OWN = (
    loop, sleep, allocate, collect, print_much, answer_much, crash, leave, leave_at_once, recurse, write, refuse,
    break_down, start_another, tell, undefined,
)  # fmt: skip


@pytest.fixture(autouse=True)
def tasks(monkeypatch):
    """Tasks of these tests, in workers that are forked from here and so know them."""
    for function in OWN:
        monkeypatch.setitem(TASKS, function.__name__, function)
    monkeypatch.setattr(worker, "_context", lambda: multiprocessing.get_context("fork"))


def sentence(name, arguments=(), limits=FEW):
    with pytest.raises(TaskError) as error:
        run_task(name, dict(arguments), limits)
    assert not worker._running
    return str(error.value)


@pytest.mark.parametrize("name", ["loop", "sleep", "start_another"])
def test_time_is_limited(name):
    assert sentence(name, limits=Limits(seconds=0.5)).startswith("This took longer than 0.5 seconds")


@pytest.mark.parametrize("name", ["allocate", "collect"])
def test_memory_is_limited(name):
    assert sentence(name).startswith("This needs more than the 0.3 GB of memory")


def test_what_is_written_is_limited(tmp_path):
    assert "could not be read" in sentence("write", {"path": str(tmp_path / "large")})
    assert (tmp_path / "large").stat().st_size <= FEW.written


def test_an_answer_is_limited():
    assert sentence("answer_much", limits=Limits()).startswith("The answer is too long")


@pytest.mark.parametrize(
    ("name", "why"), [("crash", "broke down"), ("leave", "without an"), ("leave_at_once", "without an")]
)
def test_the_end_of_a_process_is_one_sentence(name, why):
    assert why in sentence(name)


def test_errors_come_back_as_sentences_with_their_question():
    with pytest.raises(TaskError, match=r"Expected numbers, got words\.") as error:
        run_task("refuse", {}, FEW)
    assert error.value.question == {"name": "sheet", "choices": ["a", "b"]}
    assert sentence("break_down") == "The file could not be read (KeyError): 'no such column'"
    assert "RecursionError" in sentence("recurse")


def test_what_a_library_prints_is_nobodys(capfd):
    assert run_task("print_much", {}, FEW) == "printed"
    assert capfd.readouterr() == ("", "")


def test_values_that_json_lacks_come_back_undefined():
    assert run_task("undefined", {}, FEW) == {"value": None, "name": "\ud800"}


def test_a_worker_has_no_secrets_of_the_server_and_leaves_its_group(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    told = run_task("tell", {}, FEW)
    assert "secret" not in json.dumps(told["environment"])
    assert told["environment"]["OMP_NUM_THREADS"] == "1"
    assert told["handles"] == ["/dev/null"] * 3
    assert told["group"]
    assert told["core"] == [0, 0]


def test_limits_that_the_system_does_not_have_are_done_without(monkeypatch):
    def unable(*_):
        raise ValueError("not allowed")

    monkeypatch.setattr(worker.resource, "setrlimit", unable)
    assert run_task("tell", {}, FEW)["group"]
    assert sentence("loop", limits=Limits(seconds=0.3)).startswith("This took longer")


def test_memory_is_known_where_proc_is_not(monkeypatch):
    monkeypatch.setattr("builtins.open", lambda *_: (_ for _ in ()).throw(FileNotFoundError()))
    assert worker._virtual_memory() == 8 * worker.GIGABYTE


def test_a_worker_that_cannot_be_started_is_one_sentence(monkeypatch):
    class Context:
        Pipe = staticmethod(multiprocessing.Pipe)

        def Process(self, **_):  # noqa: N802
            return self

        def start(self):
            raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(worker, "_context", Context)
    assert sentence("tell").startswith("No process could be started")


def test_workers_are_stopped_when_the_server_ends():
    outcome = []

    def ask():
        try:
            run_task("sleep", {}, FEW)
        except TaskError as error:
            outcome.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    wait_for(lambda: worker._running)
    time.sleep(0.2)
    worker.stop_all()
    thread.join(600)
    assert "broke down" in outcome[0]


def test_the_page_answers_while_workers_are_busy_and_few_run_at_a_time(tmp_path):
    with open_client(tmp_path) as client:
        site = client.app.app.state.site
        site.limits = Limits(seconds=600)
        threads = [threading.Thread(target=client.portal.call, args=(_swallow, site)) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(worker._running) == 2)
        assert client.get("/api/v1/studies").status_code == 200
        assert len(worker._running) == 2
        worker.stop_all()
        wait_for(lambda: worker.stop_all() or not any(thread.is_alive() for thread in threads))


async def _swallow(site):
    with pytest.raises(TaskError):
        await site.run_task("sleep", {})


@pytest.mark.server
def test_workers_are_forked_from_a_process_that_knows_nothing(monkeypatch, tmp_path):
    """The usual way: the forked process holds no handle of the server, and not the token."""
    monkeypatch.undo()
    with open_client(tmp_path):
        assert run_task("warm", {}) is True
