"""One study on three engines, with a worker killed half-way: ``python -m benchmarks.engines [--workers N]``.

The study runs in this process, in processes of joblib, and on local workers of Dask, each once undisturbed and once
while one worker is killed. Selections and scores must be equal to the last bit; seconds are by the clock, with
workers already started. With ``--device`` the eliminations of the study run there once more, with equal selections,
and ANOVA F is computed there as products of matrices, which holdfast does not do: the table says from which size on
that would pay. Dask and torch are left out where they are not installed.
"""

import argparse
import logging
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
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
from holdfast.kernels.filters import anova_f, centered, moments_of_resamples
from holdfast.selectors import AnovaF, HybridRFE

Victim = Callable[[], int | None]
"""Returns the process number of a worker."""


def main() -> None:
    """Run the study on every engine and print how long each took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__.partition(":")[0])
    parser.add_argument("--workers", type=int, default=2, help="processes of joblib and of Dask (2)")
    parser.add_argument("--resamples", type=int, default=400)
    parser.add_argument("--device", choices=("cuda", "torch"), help="run the eliminations on this device, too")
    chosen = parser.parse_args()
    data = microarray("alon", 62, 2000)
    expected, alone = None, np.nan
    print("| engine | seconds | ratio | selections and scores |\n| --- | --- | --- | --- |")
    for name, how, victim in _engines(chosen.workers, chosen.device):
        study = _make_study(chosen.resamples, how.pop("device", "cpu"))
        for killed in (None, victim) if victim else (None,):
            study.run(data.X, data.y, only=["anova(size=5)"], **how)  # workers are up
            result, seconds = _run(study, data, how, killed)
            found = _describe(result)
            if expected is None:
                expected, alone = found, seconds
            pd.testing.assert_frame_equal(found, expected, check_exact=True)
            what = f"{name}, a worker killed" if killed else name
            print(f"| {what} | {seconds:.2f} | {alone / seconds:.2f} | equal |", flush=True)
    if chosen.device is not None:
        _compare_anova("cuda" if chosen.device == "cuda" else "cpu")


def _make_study(resamples: int, device: Any) -> hf.Study:
    selectors = {
        "anova": hf.Candidates(AnovaF(), sizes=[5, 10, 20]),
        "rfe": hf.Candidates(HybridRFE(KEPT, ties="lowest", device=device), {"n_forced": [0, 5], "C": [1.0, 0.1]}),
    }
    return hf.Study(selectors, hf.Bootstrap(resamples), estimator=KNeighborsClassifier(3))


def _compare_anova(device: str) -> None:
    """ANOVA F of many resamples by the kernel on one core, and by products of matrices on a device, with transfers."""
    import torch

    print("\n| ANOVA F: rows × features × resamples | one core, s | device, s | ratio |\n| --- | --- | --- | --- |")
    for n, d, resamples in ((62, 2_000, 1_000), (200, 20_000, 200), (2_000, 20_000, 200), (2_000, 100_000, 100)):
        rng, y = np.random.default_rng(0), np.arange(n) % 2
        X, counts = rng.normal(size=(n, d)), np.array([split.weights(n) for split in hf.Bootstrap(resamples).splits(y)])

        def on_core(X: Any = X, y: Any = y, counts: Any = counts) -> Any:
            return np.concatenate([anova_f(moments) for moments in moments_of_resamples(centered(X, y), counts)])

        def on_device(X: Any = X, y: Any = y, counts: Any = counts) -> Any:
            values = torch.as_tensor(X, device=device)
            values = values - values.mean(dim=0)
            squares, sums, scatter, size = values**2, [], 0.0, []
            for label in (0, 1):
                weights = torch.as_tensor(counts * (y == label), dtype=values.dtype, device=device)
                size.append(weights.sum(dim=1, keepdim=True))
                sums.append(weights @ values / size[-1])
                scatter = scatter + weights @ squares - size[-1] * sums[-1] ** 2
            between = (sums[1] - sums[0]) ** 2 * size[0] * size[1] / (size[0] + size[1])
            return (between / (scatter / (size[0] + size[1] - 2))).cpu().numpy()

        np.testing.assert_allclose(on_core(), on_device(), rtol=1e-6)
        core, beside = (min(_clock(call) for _ in range(5)) for call in (on_core, on_device))
        print(f"| {n:,} × {d:,} × {resamples:,} | {core:.3f} | {beside:.3f} | {core / beside:.1f} |", flush=True)


def _clock(call: Callable[[], Any]) -> float:
    begun = perf_counter()
    call()
    return perf_counter() - begun


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


def _engines(workers: int, device: str | None) -> Iterator[tuple[str, dict[str, Any], Victim | None]]:
    """Each engine: its name, the arguments of ``run``, and how to find a worker to kill."""
    yield "this process", {"n_jobs": 1}, None
    first = lambda: next(iter(reusable_executor._executor._processes), None)  # noqa: E731
    yield f"joblib, {workers} processes", {"n_jobs": workers}, first
    if device is not None:
        yield f"this process, eliminations by {device}", {"n_jobs": 1, "device": device}, None
    if find_spec("distributed") is None:
        return
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
