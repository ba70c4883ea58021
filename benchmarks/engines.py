"""One study on three engines, with a worker killed half-way: ``python -m benchmarks.engines [--workers N]``.

The study runs in this process, in processes of joblib, and on local workers of Dask, each once undisturbed and once
while one worker is killed. Selections and scores must be equal to the last bit; seconds are by the clock, with
workers already started.
"""

import argparse
import logging
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import joblib
import numpy as np
import pandas as pd
from joblib.externals.loky import reusable_executor
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from benchmarks.studies import KEPT, microarray
from holdfast.selectors import AnovaF, HybridRFE

Victim = Callable[[], int | None]
"""Returns the process number of a worker."""


def main() -> None:
    """Run the study on every engine and print how long each took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__.partition(":")[0])
    parser.add_argument("--workers", type=int, default=2, help="processes of joblib and of Dask (2)")
    parser.add_argument("--resamples", type=int, default=400)
    chosen = parser.parse_args()
    data = microarray("alon", 62, 2000)
    selectors = {
        "anova": hf.Candidates(AnovaF(), sizes=[5, 10, 20]),
        "rfe": hf.Candidates(HybridRFE(KEPT, ties="lowest"), {"n_forced": [0, 5], "C": [1.0, 0.1]}),
    }
    study = hf.Study(selectors, hf.Bootstrap(chosen.resamples), estimator=KNeighborsClassifier(3))
    expected, alone = None, np.nan
    print("| engine | seconds | ratio | selections and scores |\n| --- | --- | --- | --- |")
    for name, how, victim in _engines(chosen.workers):
        for killed in (None, victim) if victim else (None,):
            study.run(data.X, data.y, only=["anova(size=5)"], **how)  # workers are up
            result, seconds = _run(study, data, how, killed)
            found = _describe(result)
            if expected is None:
                expected, alone = found, seconds
            pd.testing.assert_frame_equal(found, expected, check_exact=True)
            what = f"{name}, a worker killed" if killed else name
            print(f"| {what} | {seconds:.2f} | {alone / seconds:.2f} | equal |", flush=True)


def _run(study: hf.Study, data: Any, how: dict[str, Any], victim: Victim | None) -> tuple[hf.StudyResult, float]:
    """The result and seconds of a study, of which one worker is killed once a third is done."""
    ended = list[int | None]()

    def kill(progress: Any) -> None:
        if victim is not None and not ended and progress.done >= progress.total / 3:
            ended.append(victim())
            if ended[0] is not None:
                os.kill(ended[0], signal.SIGKILL)

    with tempfile.TemporaryDirectory() as folder:
        begun = perf_counter()
        result = study.run(data.X, data.y, store=Path(folder) / "study.db", progress=kill, **how)
        seconds = perf_counter() - begun
        if victim is not None and not any(ended):
            raise RuntimeError("Expected a worker to kill, found none.")
        return result, seconds


def _describe(result: hf.StudyResult) -> pd.DataFrame:
    """What every fit predicted and scored, and what every candidate selected."""
    rows = result.stored.outcomes.sort_values(["candidate", "split"], ignore_index=True)
    sets = [result.preferences(candidate).lists()[0].tolist() for candidate in result.candidates]
    return rows[["candidate", "split", "predictions", "scores"]].join(pd.Series(sets, name="sets").astype(str))


def _engines(workers: int) -> Iterator[tuple[str, dict[str, Any], Victim | None]]:
    """Each engine: its name, the arguments of ``run``, and how to find a worker to kill."""
    yield "this process", {"n_jobs": 1}, None
    first = lambda: next(iter(reusable_executor._executor._processes), None)  # noqa: E731
    yield f"joblib, {workers} processes", {"n_jobs": workers}, first
    with _cluster(workers) as client, joblib.parallel_config(backend="dask"):
        yield f"Dask, {workers} local workers", {}, lambda: next(iter(client.run(os.getpid).values()))


@contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    import distributed

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a killed worker is no news here
    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


if __name__ == "__main__":
    main()
