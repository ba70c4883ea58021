"""Data, misbehaving selectors and comparisons that the tests of studies share; child processes import it too."""

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf

HERE = Path(__file__).parent
heavy = pytest.mark.skipif(os.environ.get("HOLDFAST_HEAVY") != "1", reason="takes long; set HOLDFAST_HEAVY=1 to run it")


def small_data(n=60, d=12, classes=2, seed=0):
    """Samples of a few classes; the first three features tell them apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, d))
    X[:, :3] += np.array([1.5, 1.0, 0.7]) * y[:, None]
    return pd.DataFrame(X, columns=[f"f{column}" for column in range(d)]), y


X, Y = small_data()
RARE = 0.135  # the number of bootstraps 3, 7 and 8 of the first 12 is above


def last_feature_mean(train):
    """A number that tells a training set from others, to be compared with a threshold: the mean of its last feature."""
    return float(np.asarray(train)[:, -1].mean())


class Selector(BaseEstimator):
    """Selects the two features of largest mean difference; subclasses do something else before."""

    def fit(self, X, y):
        values, y = np.asarray(X), np.asarray(y)
        self.before_selecting(values)
        away = abs(values[y == y.max()].mean(axis=0) - values[y != y.max()].mean(axis=0))
        self.support_ = np.isin(np.arange(away.size), np.argsort(-away)[:2])
        return self

    def before_selecting(self, values):
        pass

    def get_support(self):
        return self.support_


class Raising(Selector):
    """Raises where a training set is unusual: where its number is above a threshold."""

    def __init__(self, above=RARE):
        self.above = above

    def before_selecting(self, values):
        if last_feature_mean(values) > self.above:
            raise ValueError("too large; and more")


class CallsSysExit(Raising):
    """Calls sys.exit there."""

    def before_selecting(self, values):
        if last_feature_mean(values) > self.above:
            sys.exit(3)


class KillsProcess(Raising):
    """Ends its process there."""

    def before_selecting(self, values):
        if last_feature_mean(values) > self.above:
            os.kill(os.getpid(), signal.SIGKILL)


class ExitsProcess(Raising):
    """Ends its process there, in another way."""

    def before_selecting(self, values):
        if last_feature_mean(values) > self.above:
            os._exit(7)


class NeverReturns(Raising):
    """Never ends there; says so by a file named after its process."""

    def __init__(self, folder, above=RARE):
        super().__init__(above)
        self.folder = folder

    def before_selecting(self, values):
        while last_feature_mean(values) > self.above:
            (Path(self.folder) / str(os.getpid())).touch()
            time.sleep(0.01)


class Slow(Selector):
    """Takes a while, always."""

    def __init__(self, seconds=0.02):
        self.seconds = seconds

    def before_selecting(self, values):
        time.sleep(self.seconds)


class KillsProcessOnce(Selector):
    """Ends its process the first time, and leaves a mark so that it does not do so again."""

    def __init__(self, mark):
        self.mark = mark

    def before_selecting(self, values):
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)


class PrintsAndWarns(Selector):
    """Prints and warns."""

    def before_selecting(self, values):
        print("hello from a fit")
        os.write(1, b"hello from below\n")
        warnings.warn("solver did not converge; increase max_iter", UserWarning, stacklevel=2)
        warnings.warn("will be removed", DeprecationWarning, stacklevel=2)


class UsesGlobalRandomState(Selector):
    """Draws from NumPy's global random state."""

    def fit(self, X, y):
        draws = []
        for _ in range(3):
            draws.append(np.random.random(np.shape(X)[1]))  # noqa: NPY002
            time.sleep(0.001)  # other threads get their turn
        self.support_ = np.sum(draws, axis=0) > 1.5
        return self


class Constant(BaseEstimator):
    """Selects nothing, or everything."""

    def __init__(self, everything=False):
        self.everything = everything

    def fit(self, X, y):
        self.support_ = np.full(np.shape(X)[1], self.everything)
        return self

    def get_support(self):
        return self.support_


def anova(k=3):
    return SelectKBest(k=k)


def robust_study(n=40, seconds=0.005):
    """A study with something of everything, which takes a moment."""
    selectors = {
        "slow": hf.Candidates(Slow(seconds), {"seconds": [seconds, seconds / 2]}),
        "gambling": UsesGlobalRandomState(),
        "raising": Raising(),
    }
    return hf.Study(selectors=selectors, perturbation=hf.Bootstrap(n), estimator=KNeighborsClassifier(3))


# Comparing results


def outcome_tables(result):
    """All that must be equal, bit by bit, however a study was run."""
    stored = result.stored
    outcomes, scores, failures = (
        stored.with_names(table) for table in (stored.outcomes, stored.scores.assign(), stored.failures)
    )
    columns = ["candidate", "run", "kind", "preference", "predictions", "note"]
    return {
        "outcomes": outcomes[columns],
        "scores": scores[["candidate", "run", "metric", "value"]],
        "failures": failures[["candidate", "run", "stage", "error"]],
        "orders": _named_orders(stored),
        "splits": stored.splits.reset_index(),
    }


def _named_orders(stored):
    """The stored orders of each ordering, by the names of the candidates that are cuts of it."""
    names = stored.candidates.dropna(subset="ordering").groupby("ordering")["name"].agg(", ".join)
    orders = stored.with_names(stored.orders.assign(candidate=0)).assign(candidate=stored.orders["ordering"].map(names))
    return orders[["candidate", "run", "smallest", "complete", "columns", "kind", "whole"]]


def assert_same(first_result, second_result, *, candidates=None):
    """Check that two studies have the same results, timings apart."""
    for (name, first), second in zip(
        outcome_tables(first_result).items(), outcome_tables(second_result).values(), strict=True
    ):
        if name != "splits":
            keys = [column for column in ("candidate", "run", "metric") if column in first]
            if candidates is not None:
                first, second = (table[table["candidate"].isin(candidates)] for table in (first, second))
            first, second = (table.sort_values(keys, ignore_index=True) for table in (first, second))
        pd.testing.assert_frame_equal(first, second, check_exact=True, check_dtype=False, obj=name)
    for name in ("effects", "quantiles") if candidates is None else ():
        pd.testing.assert_frame_equal(getattr(first_result.stored, name), getattr(second_result.stored, name), obj=name)


def selected_names(result, candidate):
    """The names of the features that each run selected."""
    runs = result.preferences(candidate)
    indices, indptr = runs.lists()
    return [{runs.features[column] for column in run} for run in np.split(indices, indptr[1:-1])]


def run_with_failures(study, *args, **kwargs):
    """Run a study of which fits fail."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".* fits failed")
        return study.run(*args, **kwargs)


# Processes


def start_script(code, *arguments, out=subprocess.PIPE):
    """Start a Python process that can import this module, as the leader of a session."""
    path = os.pathsep.join([str(HERE), str(HERE.parent / "src")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "default"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment, stdout=out, stderr=out, text=True, start_new_session=True,
    )  # fmt: skip


PAUSED = """
import sys, time
from pathlib import Path
from study_parts import X, Y, robust_study, run_with_failures

def wait(progress):
    while progress.done > 60 and not Path(sys.argv[2]).exists():
        time.sleep(0.01)

run_with_failures(robust_study(20), X, Y, store=sys.argv[1], progress=wait)
"""


def start_paused_study(store, go_on):
    """Start a process that writes ``robust_study(20)`` to a store, and ends it only when the file ``go_on`` exists."""
    return start_script(PAUSED, store, go_on)


def group_members(group):
    """Processes of a session that was started with ``start_script``."""
    members = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == group and fields[0] != "Z":
            members.append(int(entry.parent.name))
    return members


def is_busy(process):
    """Whether a process still computes, though workers soon notice that their parent is gone."""
    used = []

    def rests():
        try:
            used.append(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11:13])
        except OSError:
            return True
        time.sleep(0.5)
        return used[-2:-1] == used[-1:]

    return not wait_until(rests)


def wait_until(condition, seconds=20.0):
    """Wait for something to become true; return False if it does not in ten times as long as a quiet machine needs."""
    end = time.monotonic() + 10 * seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def n_stored(path):
    """How many outcomes a store holds; 0 before it is one."""
    try:
        return hf.load_study(path).n_outcomes
    except ValueError:
        return 0
