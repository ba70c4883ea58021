"""Where fits run does not matter: in this process, in others, in threads, on a cluster; nor does losing workers."""

import operator
import os
import signal
import subprocess
import threading
import time
import warnings
from contextlib import contextmanager
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_info, threadpool_limits

import holdfast as hf
from holdfast.study import engines
from study_parts import (
    RARE,
    CallsSysExit,
    ExitsProcess,
    KillsProcess,
    KillsProcessOnce,
    NeverReturns,
    PrintsAndWarns,
    Raising,
    Slow,
    UsesGlobalRandomState,
    X,
    Y,
    anova,
    assert_same,
    heavy,
    last_feature_mean,
    outcome_tables,
    run_with_failures,
)  # fmt: skip

SELECTORS = {
    "anova": hf.Candidates(anova(), {"k": [2, 3]}),
    "forest": hf.Candidates(RandomForestClassifier(3), sizes=[2, 3]),
    "information": SelectKBest(mutual_info_classif, k=3),
    "gambling": UsesGlobalRandomState(),
    "raising": Raising(),
    "leaving": CallsSysExit(),
    "talking": PrintsAndWarns(),
}
DEAD, EXITED = (f"The process of this fit ended {how}." for how in ("by signal SIGKILL", "with exit code 7"))


def study_of(selectors=SELECTORS, n=5, **parts):
    parts = {"perturbation": hf.Bootstrap(n), "estimator": KNeighborsClassifier(3), **parts}
    return hf.Study(selectors=selectors, **parts)


def deaths(n=8):
    """The splits on which misbehaving selectors misbehave."""
    return [split.label for split in hf.Bootstrap(n).splits(Y) if last_feature_mean(X.iloc[split.train]) > RARE]


@pytest.fixture(scope="module")
def serial():
    return run_with_failures(study_of(), X, Y)


@contextmanager
def local_cluster(workers, threads, *, processes=True):
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            workers, threads_per_worker=threads, processes=processes, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(2, 1) as client:
        yield client


def on_cluster(study, **how):
    with joblib.parallel_config(backend="dask"):
        return run_with_failures(study, X, Y, **how)


def test_processes_give_the_same(serial):
    assert_same(run_with_failures(study_of(), X, Y, n_jobs=2), serial)


def test_processes_that_can_be_ended_give_the_same_whatever_fits_print(serial, capfd):
    assert_same(run_with_failures(study_of(), X, Y, time_limit=600), serial)
    out, err = capfd.readouterr()
    assert "hello" not in out  # stdout is for results; the child's goes to stderr
    assert err.count("hello from below") == 5


@pytest.mark.slow
def test_several_processes_that_can_be_ended_give_the_same(serial):
    assert_same(run_with_failures(study_of(), X, Y, n_jobs=2, time_limit=600), serial)


def test_threads_give_the_same(serial):
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert_same(run_with_failures(study_of(), X, Y), serial)


def test_a_study_in_a_thread_gives_the_same(serial):
    found = []
    thread = threading.Thread(target=lambda: found.append(run_with_failures(study_of(), X, Y)))
    thread.start()
    thread.join()
    assert_same(found[0], serial)


def test_jobs_set_outside_are_used(serial):
    with joblib.parallel_config(n_jobs=2):
        assert_same(run_with_failures(study_of(), X, Y), serial)


def test_a_cluster_in_this_process_gives_the_same(serial):
    with local_cluster(1, 1, processes=False):
        assert_same(on_cluster(study_of()), serial)


@pytest.mark.slow
def test_a_cluster_gives_the_same(serial, cluster):
    assert_same(on_cluster(study_of()), serial)
    assert_same(on_cluster(study_of(), time_limit=600), serial)


@heavy
def test_a_cluster_of_workers_with_threads_gives_the_same(serial):
    with local_cluster(1, 2):
        assert_same(on_cluster(study_of()), serial)


# Output, warnings, leaving


def test_warnings_become_notes_with_all_that_they_say(serial):
    notes = serial.notes.set_index("candidate")["note"]
    assert notes.loc["talking"] == "UserWarning: solver did not converge; increase max_iter"
    assert serial.notes.set_index("candidate")["runs"].loc["talking"] == 5


def test_a_fit_that_calls_exit_is_a_failure(serial):
    mine = serial.failures[serial.failures["candidate"] == "leaving"]
    assert mine["run"].tolist() == deaths(5)
    assert set(mine["error"]) == {"RuntimeError: The selector called sys.exit(3)."}


# Time limits


class WhenStuck(engines._Deadline):
    """A deadline that passes when the process of a fit says that it will never end, on however busy a machine."""

    def __init__(self, folder, process, limit):
        super().__init__(process, None)
        self.mark, self.left = folder / str(process.pid), threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self):
        while not self.left.wait(0.01):
            if self.mark.exists():
                self._end()
                return

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.left.set()
        self.thread.join()


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=heavy)])
def test_a_fit_that_never_ends_is_ended_and_told(n_jobs, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "_Deadline", partial(WhenStuck, tmp_path))
    study = study_of({"endless": NeverReturns(str(tmp_path)), "anova": anova()})
    result = run_with_failures(study, X, Y, time_limit=3, n_jobs=n_jobs)
    assert result.complete
    assert result.failures["run"].tolist() == deaths(5)
    assert set(result.failures["candidate"]) == {"endless"}
    assert set(result.failures["stage"]) == {"time limit"}
    assert set(result.failures["error"]) == {"The fit did not end within 3 seconds."}
    calm = run_with_failures(study_of({"endless": Raising(), "anova": anova()}), X, Y)
    one, two = (outcome_tables(each)["outcomes"] for each in (calm, result))
    assert one.equals(two)


def test_a_deadline_is_told_from_a_death_beyond_doubt():
    for _ in range(50):
        process = subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE)
        with engines._Deadline(process, 0.002) as deadline:
            assert process.stdout.read() == b""
        process.stdout.close()
        assert deadline.passed
        assert process.wait() == -signal.SIGKILL


# Fits that end their process


@pytest.mark.parametrize(
    ("selector", "told", "how"),
    [
        pytest.param(KillsProcess, DEAD, {"n_jobs": 2}, marks=pytest.mark.slow),
        (ExitsProcess, EXITED, {"time_limit": 600}),
        pytest.param(ExitsProcess, EXITED, {"n_jobs": 2, "time_limit": 600}, marks=pytest.mark.slow),
        pytest.param(KillsProcess, DEAD, {"time_limit": 600}, marks=heavy),
        pytest.param(ExitsProcess, EXITED, {"n_jobs": 2}, marks=heavy),
    ],
)
def test_a_fit_that_ends_its_process_costs_that_fit_alone(selector, told, how):
    study = study_of({"dying": selector(), "anova": anova(), "gambling": UsesGlobalRandomState()})
    result = run_with_failures(study, X, Y, **how)
    _assert_only_deaths(result, told)


def _assert_only_deaths(result, told, n=5):
    assert result.complete
    assert result.failures["run"].tolist() == deaths(n)
    assert set(result.failures["candidate"]) == {"dying"}
    assert set(result.failures["stage"]) == {"died"}
    assert set(result.failures["error"]) == {told}
    calm = run_with_failures(
        study_of({"dying": Raising(), "anova": anova(), "gambling": UsesGlobalRandomState()}, n), X, Y
    )
    one, two = (outcome_tables(each) for each in (calm, result))
    assert one["outcomes"].equals(two["outcomes"])
    assert one["scores"].equals(two["scores"])


def test_all_sizes_of_a_fit_that_died_are_failures():
    study = study_of({"dying": hf.Candidates(KillsProcess(-99), sizes=[2, 3])}, n=1)
    result = run_with_failures(study, X, Y, time_limit=600)
    assert len(result.failures) == 2
    assert result.complete


@pytest.mark.slow
def test_a_fit_that_ends_its_worker_every_time_costs_that_fit_alone_on_a_cluster(cluster):
    study = study_of({"dying": KillsProcess(), "anova": anova(), "gambling": UsesGlobalRandomState()})
    _assert_only_deaths(on_cluster(study), DEAD)


@heavy
def test_a_worker_of_a_cluster_killed_half_way_costs_nothing(cluster, tmp_path):
    study = study_of({"slow": Slow(0.05), "gambling": UsesGlobalRandomState()}, n=30)
    killed = []

    def kill(progress):
        if progress.done >= 20 and not killed:
            killed.append(cluster.run(os.getpid)[next(iter(cluster.scheduler_info()["workers"]))])
            os.kill(killed[0], signal.SIGKILL)

    result = on_cluster(study, progress=kill, store=tmp_path / "s.db")
    assert killed
    assert_same(result, study.run(X, Y))


@heavy
def test_a_worker_that_a_fit_killed_once_costs_nothing(cluster, tmp_path):
    selectors = {"once": KillsProcessOnce(str(tmp_path / "mark")), "gambling": UsesGlobalRandomState()}
    result = on_cluster(study_of(selectors))
    assert (tmp_path / "mark").exists()
    assert result.failures.empty
    assert_same(result, study_of(selectors).run(X, Y))


@pytest.mark.slow
def test_a_pool_that_a_fit_killed_once_costs_nothing(tmp_path):
    selectors = {"once": KillsProcessOnce(str(tmp_path / "mark")), "gambling": UsesGlobalRandomState()}
    result = study_of(selectors).run(X, Y, n_jobs=2)
    assert result.failures.empty
    assert_same(result, study_of(selectors).run(X, Y))


# Stopping

ENDED = {"n_jobs": 2, "time_limit": 600}
ALONE, POOL = {"time_limit": 600}, {"n_jobs": 2}
STOPPED = [{}, pytest.param(POOL, marks=pytest.mark.slow), *(pytest.param(how, marks=heavy) for how in (ALONE, ENDED))]
INTERRUPTED = [{}, ENDED, *(pytest.param(how, marks=heavy) for how in (ALONE, POOL))]


@pytest.mark.parametrize("how", STOPPED, ids=str)
def test_stopping_at_the_first_failure_keeps_what_was_finished(how, tmp_path):
    study = study_of({"raising": hf.Candidates(Raising(), {"above": [9, RARE]}), "slow": Slow()}, n=30)
    with pytest.raises(
        hf.StudyError, match=r"raising\(above=0.135\) failed on split \d+ \(select\): ValueError: too large"
    ):
        study.run(X, Y, on_error="raise", store=tmp_path / "s.db", **how)
    kept = hf.load_study(tmp_path / "s.db")
    assert len(kept.failures) >= 1
    assert not kept.complete
    assert_same(run_with_failures(study, X, Y, store=tmp_path / "s.db"), run_with_failures(study, X, Y))


@pytest.mark.parametrize("how", INTERRUPTED, ids=str)
@pytest.mark.slow
def test_an_interruption_leaves_no_process_at_work(how, tmp_path):
    study = study_of({"slow": hf.Candidates(Slow(), {"seconds": [0.02, 0.03]}), "anova": anova()}, n=30)

    def stop(progress):
        if progress.done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(hf.study.StudyInterrupted, match="Run it again with the same store to resume"):
        study.run(X, Y, store=tmp_path / "s.db", progress=stop, **how)
    ends = time.monotonic() + 300
    while at_work := [one for one in engines._children if one.alive]:
        assert time.monotonic() < ends, at_work
        time.sleep(0.05)
    assert_same(study.run(X, Y, store=tmp_path / "s.db"), study.run(X, Y))


def test_nothing_begins_for_a_context_that_was_closed():
    class Place:
        closed = True

    place = Place()
    with pytest.raises(engines.EndedError, match="by signal SIGKILL"):
        engines.call_in_subprocess(max, place, 1, None)
    place.closed = False
    assert engines.call_in_subprocess(getattr, place, "closed", None) is False


def test_an_interrupted_study_in_memory_says_so():
    def stop(progress):
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(hf.study.StudyInterrupted, match="It was in memory only"):
        study_of({"anova": anova()}).run(X, Y, progress=stop)


@pytest.mark.parametrize("how", [{}, ALONE, pytest.param(POOL, marks=pytest.mark.slow)], ids=str)
def test_one_thread_of_blas_wherever_a_fit_runs(how):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(300, 300))
    labels = (wide[:, 0] > 0).astype(int)
    study = hf.Study(selectors={"threads": Threads()}, perturbation=hf.Bootstrap(2))
    with threadpool_limits(2, user_api="blas"):
        assert blas_threads() == 2
        result = study.run(wide, labels, **how)
    assert set(result.notes["note"]) == {"UserWarning: 1 threads"}


def blas_threads():
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")


class Threads(Slow):
    """Tells how many threads linear algebra may use."""

    def before_selecting(self, values):
        warnings.warn(f"{blas_threads()} threads", UserWarning, stacklevel=1)


@pytest.mark.slow
def test_a_process_that_was_ended_is_replaced_at_once():
    for _ in range(2):
        assert engines.call_in_subprocess(operator.contains, {1, 2}, 2, None)
        engines.end_children()
