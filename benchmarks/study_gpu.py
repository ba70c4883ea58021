"""Hybrid RFE on a GPU end to end: data in, stored and scored candidates out; how fast, and whether equal to the CPU.

A script for a machine that has a GPU, torch and what holdfast needs, no more::

    PYTHONPATH=src python benchmarks/study_gpu.py speed    DATA/chiaretti.npz --out speed.json
    PYTHONPATH=src python benchmarks/study_gpu.py protocol DATA/alon.npz …    --stores DONE --out protocol.json

``NAME.npz`` holds X and y (−1, 1), as ``python -m benchmarks.hybrid_rfe_inputs`` writes them. ``speed`` runs 12
settings on 1,000 bootstraps, and the first of these on the CPU. ``protocol`` runs the 608 settings of Hamer and Dupont
(2020) on each data set; its stores are continued when it is started again.
"""

import argparse
import importlib.util
import json
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import holdfast as hf
from holdfast.kernels.filters import centered, class_moments, golub, variance
from holdfast.selectors import GolubVariance, HybridRFE

SECONDS, MINUTES = {"chiaretti": 4.0}, 5
"""What the 12 settings may take, after warm-up, and what the protocol may take on five data sets."""
N_KEPT = 20


def lockstep_script() -> Any:
    """The settings, which the benchmark of the kernels has."""
    path = Path(__file__).with_name("hybrid_rfe_gpu.py")
    spec = importlib.util.spec_from_file_location("hybrid_rfe_gpu", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["hybrid_rfe_gpu"] = module
    spec.loader.exec_module(module)
    return module


KERNELS = lockstep_script()


def load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path) as file:
        return np.ascontiguousarray(file["X"], dtype=np.float64), file["y"].astype(np.int64)


def criteria(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The criteria of the kernels' benchmark, by name; lambda_v in units of mean ratio over mean variance."""
    moments = class_moments(centered(X, (y > 0).astype(np.int64)))
    unit = float(golub(moments).mean() / variance(moments).mean())
    named: dict[str, Any] = {"none": "variance", "variance": "variance", "golub": "golub"}
    factors = {name: factor for name, factor in KERNELS.CRITERIA.items() if name not in named}
    return named | {name: GolubVariance(lambda_v=factor * unit) for name, factor in factors.items()}


def candidates(X: np.ndarray, y: np.ndarray, settings: Sequence[Any], device: str, finals: Sequence[Any]) -> Any:
    """Each setting as a grid of its own, with every C_final."""
    ranked = criteria(X, y)
    grid = [
        {
            "n_forced": [setting.n_forced], "criterion": [ranked[setting.criterion]], "C": [setting.C],
            "shrinkage": [setting.shrinkage], "C_final": list(finals),
        }
        for setting in settings
    ]  # fmt: skip
    return hf.Candidates(HybridRFE(N_KEPT, device=device), grid)


def run(X: np.ndarray, y: np.ndarray, chosen: Any, n_resamples: int, store: Path) -> Any:
    study = hf.Study(selectors={"h": chosen}, perturbation=hf.Bootstrap(n_resamples), scoring="accuracy")
    return study.run(X, y, store=store)


# Where the time goes


@contextmanager
def stages() -> Iterator[dict[str, float]]:
    """Seconds by stage of the selector; the rest of a study is predictions, scores and the store."""
    from holdfast.selectors import elimination

    seconds: dict[str, float] = {}
    watched = [
        (elimination.HybridRFE, "share", "prepare"), (elimination, "force_features", "forced"),
        (elimination, "varying", "varying columns"), (elimination, "run_lockstep", "elimination"),
        (elimination, "lockstep_models", "finals"), (elimination.HybridRFE, "refit_many", "refit_many, all of it"),
    ]  # fmt: skip
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in watched]
    for (owner, name, function), (_, _, stage) in zip(before, watched, strict=True):
        setattr(owner, name, timed(function, stage, seconds))
    try:
        yield seconds
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


def timed(function: Callable[..., Any], stage: str, seconds: dict[str, float]) -> Callable[..., Any]:
    def wrapper(*args: Any, **options: Any) -> Any:
        begun = time.perf_counter()
        result = function(*args, **options)
        if stage.startswith("refit_many"):
            result = iter(list(result))
        seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - begun
        return result

    return wrapper


# Speed


def speed(path: Path, device: str, n_resamples: int, n_compared: int) -> dict[str, Any]:
    X, y = load(path)
    with tempfile.TemporaryDirectory() as folder:
        chosen = candidates(X, y, KERNELS.SPEED, device, [None])
        begun = time.perf_counter()
        run(X, y, chosen, 20, Path(folder, "warm.db"))
        say(f"{path.stem} {X.shape[0]} × {X.shape[1]}: warm-up on 20 bootstraps {time.perf_counter() - begun:.2f} s")
        begun = time.perf_counter()
        found = run(X, y, chosen, n_resamples, Path(folder, "device.db"))
        elapsed = time.perf_counter() - begun
        say(f"  {len(KERNELS.SPEED)} settings × {n_resamples} bootstraps: {elapsed:.2f} s")
        with stages() as seconds:
            begun = time.perf_counter()
            run(X, y, chosen, n_resamples, Path(folder, "stages.db"))
            total = time.perf_counter() - begun
        seconds["predictions, scores, store"] = total - seconds["refit_many, all of it"] - seconds["prepare"]
        for stage, taken in seconds.items():
            say(f"    {stage}: {taken:.3f} s")
        begun = time.perf_counter()
        slow = run(X, y, candidates(X, y, KERNELS.SPEED, "cpu", [None]), n_compared, Path(folder, "cpu.db"))
        on_cpu = time.perf_counter() - begun
        different = compare(found, slow)
    limit = SECONDS.get(path.stem)
    say(f"  CPU, first {n_compared}: {on_cpu:.2f} s; different: {different}")
    return {
        "shape": X.shape, "resamples": n_resamples, "settings": len(KERNELS.SPEED), "seconds": elapsed,
        "stages": seconds, "cpu_seconds": on_cpu, "cpu_resamples": n_compared, "different": different, "limit": limit,
        "reached": limit is None or elapsed <= limit,
    }  # fmt: skip


def compare(found: Any, slow: Any) -> dict[str, int]:
    """Selections and scores of the runs that both have, candidate by candidate."""
    selections = scores = 0
    for fast, other in zip(found.candidates, slow.candidates, strict=True):
        sets, expected = found.preferences(fast), slow.preferences(other)
        selections += sum(sets.selected(run) != expected.selected(run) for run in range(expected.n_runs))
        mine, theirs = (
            result.scores.query("candidate == @name").set_index("run")["accuracy"]
            for result, name in ((found, fast), (slow, other))
        )
        scores += int((mine.loc[theirs.index].to_numpy() != theirs.to_numpy()).sum())
    return {"selections": selections, "scores": scores}


# The whole protocol


def protocol(path: Path, device: str, n_resamples: int, stores: Path) -> dict[str, Any]:
    X, y = load(path)
    settings = KERNELS.protocol_settings()
    chosen, begun = candidates(X, y, settings, device, KERNELS.C_FINALS), time.perf_counter()
    result = run(X, y, chosen, n_resamples, stores / f"{path.stem}.db")
    elapsed = time.perf_counter() - begun
    say(f"{path.stem}: {len(result.candidates)} settings × {n_resamples} bootstraps in {elapsed:.1f} s")
    return {"shape": X.shape, "settings": len(result.candidates), "resamples": n_resamples, "seconds": elapsed}


def protocols(chosen: argparse.Namespace) -> dict[str, Any]:
    """The protocol on all data sets, some of them at the same time, each in a process of its own."""
    with ProcessPoolExecutor(chosen.at_once, mp_context=get_context("spawn")) as pool:
        arguments = [(path, chosen.device, chosen.resamples, chosen.stores) for path in chosen.data]
        running = {item[0].stem: pool.submit(protocol, *item) for item in arguments}
        return {name: future.result() for name, future in running.items()}


def description(device: str) -> dict[str, Any]:
    facts = {"device": device, "python": platform.python_version(), "numpy": np.__version__}
    if device == "cuda":
        import torch

        facts |= {"gpu": torch.cuda.get_device_name(0), "torch": torch.__version__}
    return facts


def say(text: str) -> None:
    print(text, flush=True)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Hybrid RFE on a GPU, end to end.")
    parser.add_argument("mode", choices=("speed", "protocol"))
    parser.add_argument("data", nargs="+", type=Path, help="NAME.npz with X and y")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--stores", type=Path, default=Path("study_gpu_stores"), help="folder of the protocol's stores")
    parser.add_argument("--device", default="cuda", choices=("cuda", "torch", "cpu"))
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--compared", type=int, default=100, help="bootstraps that the CPU does too")
    parser.add_argument("--at-once", type=int, default=3, help="data sets of the protocol that share the device")
    parser.add_argument("--fresh", action="store_true", help="throw earlier stores away")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    chosen = arguments(given)
    if chosen.fresh and chosen.stores.exists():
        shutil.rmtree(chosen.stores)
    chosen.stores.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"mode": chosen.mode, "machine": description(chosen.device), "data": {}}
    begun = time.perf_counter()
    if chosen.mode == "speed":
        for path in chosen.data:
            compared = min(chosen.compared, chosen.resamples)
            report["data"][path.stem] = speed(path, chosen.device, chosen.resamples, compared)
    else:
        report["data"] = protocols(chosen)
        report["seconds"] = time.perf_counter() - begun
        say(f"{len(chosen.data)} data sets in {report['seconds']:.0f} s; to reach: {60 * MINUTES} s")
    chosen.out.write_text(json.dumps(report, indent=1))
    return int(any(sum(own.get("different", {}).values()) for own in report["data"].values()))


if __name__ == "__main__":
    sys.exit(main())
