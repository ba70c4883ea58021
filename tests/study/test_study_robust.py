"""Whatever happens to a study's process, what was finished is safe, and going on gives the same to the last bit."""

import os
import re
import signal
from contextlib import suppress

import pytest

import holdfast as hf
from study_parts import (
    X,
    Y,
    assert_same,
    group_members,
    heavy,
    is_busy,
    n_stored,
    robust_study,
    run_with_failures,
    start_paused_study,
    start_script,
    wait_until,
)  # fmt: skip

KILLED = """
import os, signal, sys, threading
from study_parts import X, Y, robust_study

store, n_jobs, *delays = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])

def run(delay):
    before = []
    def arm(progress):
        before.append(progress.done)
        if progress.done > before[0] and delay is not None and not hasattr(arm, "timer"):
            arm.timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL))
            arm.timer.daemon = True
            arm.timer.start()
    robust_study().run(X, Y, store=store, n_jobs=n_jobs, progress=arm)

for delay in (*delays, None):
    child = os.fork()  # the modules are imported once
    if child == 0:
        run(delay)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
RUN = """
import sys
from study_parts import X, Y, robust_study

store, n_jobs, limit, n, seconds = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])
robust_study(int(n), seconds).run(X, Y, store=store, n_jobs=n_jobs, time_limit=limit or None)
"""
linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks processes up in /proc")


@pytest.fixture(scope="module")
def whole():
    return run_with_failures(robust_study(), X, Y)


@pytest.mark.parametrize(
    ("n_jobs", "delays"),
    [
        (1, [0, 0.11]),
        pytest.param(1, [0, 0.013, 0.057, 0.11, 0.2], marks=pytest.mark.slow),
        pytest.param(2, [0.15], marks=pytest.mark.slow),
        pytest.param(1, [0.003 * place for place in range(40)], marks=heavy),
        pytest.param(2, [0.001, *(0.02 * place for place in range(12))], marks=heavy),
    ],
    ids=["serial", "serial, five times", "two processes", "serial, often", "two processes, often"],
)
@linux
def test_a_killed_study_goes_on_to_the_same_to_the_last_bit(n_jobs, delays, whole, tmp_path):
    store = tmp_path / "s.db"
    with (tmp_path / "told").open("w") as told, start_script(KILLED, store, n_jobs, *delays, out=told) as process:
        process.wait(timeout=1200)
        busy = [one for one in group_members(process.pid) if is_busy(one)]
        for one in group_members(process.pid):  # a worker that was about to start waits in vain for minutes, idle
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
    assert not busy
    codes = [int(line) for line in re.findall(r"^-?\d+$", (tmp_path / "told").read_text(), re.MULTILINE)]
    assert codes[-1] == 0, (tmp_path / "told").read_text()
    assert codes.count(-signal.SIGKILL) >= min(2, len(delays))
    result = hf.load_study(store)
    assert_same(result, whole)
    assert len(result.provenance["sessions"]) == len(codes)
    unended = result.stored.sessions["ended"].isna().sum()  # a kill may come between a session's end and the program's
    assert 1 <= unended <= codes.count(-signal.SIGKILL)


@pytest.mark.parametrize(
    ("n_jobs", "limit", "as_terminal", "stop"),
    [
        (1, 0, False, signal.SIGINT),
        pytest.param(2, 0, True, signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(2, 60, True, signal.SIGINT, marks=heavy),
        (1, 0, False, signal.SIGTERM),
        pytest.param(2, 0, True, signal.SIGTERM, marks=heavy),
        pytest.param(2, 60, True, signal.SIGTERM, marks=heavy),
        pytest.param(1, 60, True, signal.SIGINT, marks=heavy),
        pytest.param(2, 0, False, signal.SIGINT, marks=heavy),
        pytest.param(2, 60, False, signal.SIGINT, marks=heavy),
        pytest.param(1, 0, True, signal.SIGINT, marks=heavy),
        pytest.param(2, 0, False, signal.SIGTERM, marks=heavy),
        pytest.param(2, 60, False, signal.SIGTERM, marks=heavy),
    ],
)
@pytest.mark.slow
@linux
def test_a_stopped_study_ends_cleanly_and_says_how_to_resume(n_jobs, limit, as_terminal, stop, tmp_path):
    store = tmp_path / "s.db"
    with start_script(RUN, store, n_jobs, limit, 2000, 0.005) as process:
        assert wait_until(lambda: n_stored(store) >= 10, 60)
        (os.killpg if as_terminal else os.kill)(process.pid, stop)  # a terminal tells all processes of a group
        _, err = process.communicate(timeout=300)
        assert process.returncode in (-signal.SIGINT, 130, 1)
        assert wait_until(lambda: not group_members(process.pid)), "processes were left behind"
    told = re.search(r"StudyInterrupted: The study was stopped after ([\d,]+) of 8,000 fits. (.*)", err)
    assert told, err
    assert told[2] == "Run it again with the same store to resume."
    assert int(told[1].replace(",", "")) == n_stored(store)
    assert not (tmp_path / "s.db.holdfast-lock").exists()
    _assert_part_of_the_whole(hf.load_study(store))


def _assert_part_of_the_whole(part):
    """What is there is what an uninterrupted study has there."""
    furthest = int(part.stored.outcomes["split"].max()) + 1
    whole = run_with_failures(robust_study(furthest), X, Y)
    for name in whole.candidates:
        done = part.stored.find_outcomes(name).set_index("split")[["preference", "predictions"]]
        assert done.equals(
            whole.stored.find_outcomes(name).set_index("split")[["preference", "predictions"]].loc[done.index]
        )


@linux
def test_one_writes_and_all_may_read_and_a_dead_ones_lock_is_no_hindrance(tmp_path):
    store = tmp_path / "s.db"
    study = robust_study(20)
    with start_paused_study(store, tmp_path / "go on") as process:
        assert wait_until(lambda: n_stored(store) > 0, 60)
        with pytest.raises(hf.study.StoreError, match=rf"Another process \(\d+\) is writing {re.escape(str(store))}"):
            study.run(X, Y, store=store)
        seen = [hf.load_study(store) for _ in range(8)]
        process.kill()
        process.communicate()
    counts = [result.n_outcomes for result in seen]
    assert counts == sorted(counts)
    assert counts[0] > 0
    assert not seen[-1].complete
    for result in seen:  # an outcome is there with its score, or not at all
        selected = set(zip(result.stored.outcomes["candidate"], result.stored.outcomes["split"], strict=True))
        scored = set(zip(result.stored.scores["candidate"], result.stored.scores["split"], strict=True))
        assert selected == scored
        assert "fits so far" in repr(result)
    assert (tmp_path / "s.db.holdfast-lock").exists()
    assert_same(run_with_failures(study, X, Y, store=store), run_with_failures(robust_study(20), X, Y))
    assert not (tmp_path / "s.db.holdfast-lock").exists()
