"""Hybrid elimination in lock-step on an accelerator: how fast, whether equal, and the whole protocol of the paper.

A script for a machine that has NumPy and torch and nothing else; it finds the kernels in ``src/holdfast/kernels``::

    python benchmarks/hybrid_rfe_gpu.py speed    DATA/alon.npz … --references DATA --out speed.json
    python benchmarks/hybrid_rfe_gpu.py protocol DATA/alon.npz … --results DONE --out protocol.json

``NAME.npz`` holds X and y (−1, 1), and, if ``python -m benchmarks.hybrid_rfe_inputs`` wrote it, the bootstraps and the
order of the features by each criterion in each; else these are made here. ``NAME_reference.npz`` in the folder of
references holds the sets that the compiled form selects. The protocol keeps what is done in its folder of results, a
file for each block of settings, and goes on from there when it is started again.
"""

import argparse
import importlib
import importlib.util
import itertools
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SEED, N_KEPT = 20200422, 20
CRITERIA = {"variance": math.inf, "golub": 0.0, "gv1": 0.1, "gv2": 1.0}
"""lambda_v of each criterion, in units of mean Golub ratio over mean variance in the whole data."""
SECONDS = {"alon": 0.25, "gravier": 0.5, "chiaretti": 0.35}
"""What one elimination of 1,000 bootstraps may take."""
EQUAL, MINUTES = 0.999, 10
C_FINALS = 0.001, 0.01, 0.1, 1.0


class Setting(NamedTuple):
    """One elimination: how many features are forced by which criterion, and how the model is regularized."""

    n_forced: int
    criterion: str
    C: float
    shrinkage: float


SPEED = [
    Setting(0, "none", 1.0, 1.0), Setting(0, "none", 0.1, 1.0), Setting(0, "none", 0.01, 1.0),
    Setting(5, "variance", 1.0, 1.0), Setting(5, "golub", 0.1, 0.3), Setting(5, "gv1", 0.01, 0.1),
    Setting(10, "variance", 0.1, 0.1), Setting(10, "golub", 1.0, 0.3), Setting(10, "gv2", 0.01, 1.0),
    Setting(15, "variance", 1.0, 0.3), Setting(15, "golub", 0.01, 0.1), Setting(15, "gv1", 0.1, 1.0),
]  # fmt: skip
"""The batched grid that is timed and compared."""


def protocol_settings() -> list[Setting]:
    """Classic elimination, hybrids of every kind, and pure filters; each is followed by all of ``C_FINALS``."""
    constants = 0.001, 0.01, 0.1, 1.0
    classic = [Setting(0, "none", C, 1.0) for C in constants]
    hybrids = itertools.starmap(Setting, itertools.product((5, 10, 15), CRITERIA, constants, (1.0, 0.3, 0.1)))
    return [*classic, *hybrids, *(Setting(N_KEPT, criterion, 1.0, 1.0) for criterion in CRITERIA)]


# Data


class Data(NamedTuple):
    """A data set with its bootstraps, and the best features of each bootstrap by each criterion."""

    name: str
    X: Floats
    y: Floats
    counts: NDArray[np.int64]
    best: dict[str, NDArray[np.int64]]  # resamples × N_KEPT

    def first(self, n_resamples: int) -> "Data":
        best = {name: columns[:n_resamples] for name, columns in self.best.items()}
        return self._replace(counts=self.counts[:n_resamples], best=best)

    def forced(self, settings: Sequence[Setting]) -> NDArray[np.bool_]:
        """Settings × resamples × features."""
        mask = np.zeros((len(settings), len(self.counts), self.X.shape[1]), bool)
        for g, setting in enumerate(settings):
            if setting.n_forced:
                np.put_along_axis(mask[g], self.best[setting.criterion][:, : setting.n_forced], True, axis=1)
        return mask

    @property
    def sizes(self) -> NDArray[np.int64]:
        """A fifth of the remaining features falls at each step."""
        sizes = [self.X.shape[1]]
        while sizes[-1] > N_KEPT:
            sizes.append(max(N_KEPT, sizes[-1] - max(1, math.floor(0.2 * sizes[-1] + 1e-9))))
        return np.array(sizes)


def load(path: Path, n_resamples: int) -> Data:
    with np.load(path) as file:
        stored = {key: file[key] for key in file.files}
    X, y = stored["X"].astype(np.float64), stored["y"].astype(np.float64)
    counts = stored["counts"].astype(np.int64) if "counts" in stored else bootstraps(y, n_resamples)
    if len(counts) < n_resamples:
        raise SystemExit(f"Expected {n_resamples} bootstraps in {path}, got {len(counts)}; ask for fewer.")
    best = {name: stored[f"best_{name}"].astype(np.int64) for name in CRITERIA if f"best_{name}" in stored}
    data = Data(path.stem, X, y, counts, best or best_features(X, y, counts))
    return data.first(n_resamples)


def bootstraps(y: Floats, n_resamples: int) -> NDArray[np.int64]:
    """Counts of rows drawn with replacement, each class at least twice."""
    rng, n = np.random.default_rng(SEED), len(y)
    counts: list[NDArray[np.int64]] = []
    while len(counts) < n_resamples:
        count = np.bincount(rng.integers(0, n, n), minlength=n)
        if min(count[y > 0].sum(), count[y < 0].sum()) > 1:
            counts.append(count)
    return np.array(counts)


def best_features(X: Floats, y: Floats, counts: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """First N_KEPT columns of each resample by each criterion, on X as it is; ties by the lowest column."""
    golub, variance = _golub(X, y, counts), _moments(X, counts)[1]
    everything = np.ones((1, len(y)))
    unit = _golub(X, y, everything).mean() / _moments(X, everything)[1].mean()
    best = {}
    for name, factor in CRITERIA.items():
        score = variance if math.isinf(factor) else golub + factor * unit * variance
        best[name] = np.argsort(-score, axis=1, kind="stable")[:, :N_KEPT]
    return best


def _moments(X: Floats, counts: NDArray[Any]) -> tuple[Floats, Floats]:
    """Mean and unbiased variance of each column in each resample."""
    shift, total = X.mean(axis=0), counts.sum(axis=1, keepdims=True)
    mean = counts @ (X - shift) / total
    variance = counts @ (X - shift) ** 2 / total - mean**2
    return mean + shift, np.maximum(variance, 0) * total / (total - 1)


def _golub(X: Floats, y: Floats, counts: NDArray[Any]) -> Floats:
    (mean, variance), (other_mean, other_variance) = (_moments(X[y == c], counts[:, y == c]) for c in (1, -1))
    spread = np.sqrt(variance) + np.sqrt(other_variance)
    return np.abs(mean - other_mean) / np.maximum(spread, 1e-300)


# Runs


class Machine:
    """Where it runs, and with how much memory."""

    def __init__(self, kernels: Path, device: str, memory: float | None) -> None:
        package = importlib.util.spec_from_file_location(
            "holdfast_kernels", kernels / "__init__.py", submodule_search_locations=[str(kernels)]
        )  # the folder alone: the package around it needs more than there is
        assert package
        sys.modules["holdfast_kernels"] = importlib.util.module_from_spec(package)
        names = "torch", "holdfast_kernels.lockstep", "holdfast_kernels.libraries"
        self.torch, self.lockstep, self.libraries = map(importlib.import_module, names)
        self.device, self.memory = device, memory or (self._free() if device == "cuda" else 2e9)

    def _free(self) -> float:
        return float(min(0.5 * self.torch.cuda.mem_get_info()[0], 50e9))

    def description(self) -> dict[str, Any]:
        facts = {
            "device": self.device, "processor": platform.processor(), "cores": os.cpu_count(),
            "python": platform.python_version(), "numpy": np.__version__, "torch": self.torch.__version__,
        }  # fmt: skip
        if self.device == "cuda":
            gpu = self.torch.cuda.get_device_properties(0)
            facts |= {"gpu": gpu.name, "gpu_bytes": gpu.total_memory, "cuda": self.torch.version.cuda}
        return facts

    def seconds(self, call: Callable[[], Any]) -> tuple[float, Any]:
        """Time of a call until the device is done, with its result; with half the memory if there was too little."""
        while True:
            try:
                self._wait()
                start = time.perf_counter()
                result = call()
                self._wait()
                return time.perf_counter() - start, result
            except self.torch.OutOfMemoryError:
                self.memory /= 2
                say(f"  out of memory; again with {self.memory / 1e9:.1f} GB at a time")
                self.free()

    def _wait(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def free(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.empty_cache()

    def peak_bytes(self) -> int:
        return int(self.torch.cuda.max_memory_allocated()) if self.device == "cuda" else 0

    def selected(self, data: Data, settings: Sequence[Setting]) -> NDArray[np.int64]:
        """Settings × resamples × N_KEPT."""
        best = [data.best.get(setting.criterion, np.empty((len(data.counts), 0), int)) for setting in settings]
        forced = np.full((len(settings), len(data.counts), N_KEPT), -1)
        for columns, setting, mine in zip(best, settings, forced, strict=True):
            mine[:, : setting.n_forced] = columns[:, : setting.n_forced]
        chosen = self.lockstep.Settings(
            np.array([s.C for s in settings]),
            np.array([s.shrinkage for s in settings]),
            forced,
            np.arange(len(settings)),
        )
        resamples = self.lockstep.with_resamples(data.X, data.y, data.counts, "split")
        return self.lockstep.run_lockstep(self._library(), resamples, chosen, data.sizes, True, 0, None).selected

    def accuracies(self, data: Data, selected: NDArray[np.int64]) -> Floats:
        """Settings × C_FINALS × resamples: share of the rows not drawn that the final model gets right."""
        (S, M, k), F = selected.shape, len(C_FINALS)
        columns = np.broadcast_to(selected[:, None], (S, F, M, k)).reshape(-1, k)
        which, costs = np.tile(np.arange(M), S * F), np.tile(np.repeat(C_FINALS, M), S)
        resamples = self.lockstep.with_resamples(data.X, data.y, data.counts, "split")
        models = self.lockstep.lockstep_models(self._library(), resamples, which, columns, costs)
        fits = zip(columns, models.coef, models.intercept, strict=True)
        decision = np.array([data.X[:, chosen] @ coef + b for chosen, coef, b in fits]).reshape(S, F, M, -1)
        out = data.counts == 0
        right = ((decision > 0) == (data.y > 0)) & out
        with np.errstate(invalid="ignore"):
            return right.sum(axis=3) / out.sum(axis=1)

    def _library(self) -> Any:
        return self.libraries.library("torch", self.device, "float64", self.memory)


def speed(
    machine: Machine, data: Data, references: Path | None, repeats: int
) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Seconds per elimination, the mean over the grid, how many sets are those of the compiled form; and the sets."""
    say(f"{data.name} {data.X.shape[0]} × {data.X.shape[1]}, {len(data.counts)} bootstraps")
    warm_up, _ = machine.seconds(lambda: machine.selected(data.first(20), SPEED))
    say(f"  warm-up on 20 bootstraps {warm_up:.2f} s")
    times, finals_time, selected, accuracy = [], math.nan, None, None
    for _ in range(repeats):
        elapsed, selected = machine.seconds(lambda: machine.selected(data, SPEED))
        times.append(elapsed / len(SPEED))
        say(f"  {times[-1]:.4f} s per elimination")
    assert selected is not None
    for _ in range(2):
        finals_time, accuracy = machine.seconds(lambda: machine.accuracies(data, selected))
    assert accuracy is not None
    best, limit = float(np.median(times)), SECONDS.get(data.name)
    result = {
        "n": data.X.shape[0], "d": data.X.shape[1], "resamples": len(data.counts), "settings": len(SPEED),
        "seconds_per_elimination": best, "all_seconds": times, "warm_up_seconds": warm_up, "limit": limit,
        "reached": best <= limit if limit and len(data.counts) >= 1000 else None,
        "finals_seconds_per_elimination": finals_time / len(SPEED), "finals": len(C_FINALS),
        "peak_bytes": machine.peak_bytes(), "mean_accuracy": np.nanmean(accuracy, axis=2).max(axis=1).tolist(),
    }  # fmt: skip
    result |= compared(data, selected, references)
    say(f"  {json.dumps({k: result.get(k) for k in ('seconds_per_elimination', 'limit', 'reached', 'equal_share')})}")
    return result, selected


def compared(data: Data, selected: NDArray[np.int64], references: Path | None) -> dict[str, Any]:
    """Share of the paths whose set is that of the compiled form."""
    path = references / f"{data.name}_reference.npz" if references else None
    if path is None or not path.exists():
        return {"equal_share": None}
    with np.load(path) as file:
        settings, expected = [Setting(*s) for s in json.loads(str(file["settings"]))], file["selected"]
    n = min(expected.shape[1], selected.shape[1])
    sets = selected[[SPEED.index(setting) for setting in settings], :n]
    equal = (sets == expected[:, :n]).all(axis=2)
    return {
        "equal_share": float(equal.mean()),
        "compared_paths": int(equal.size),
        "equal_enough": bool(equal.mean() >= EQUAL),
    }


def protocol(machine: Machine, data: Data, folder: Path, block: int) -> dict[str, Any]:
    """Every setting's accuracy and stability; from the results of an earlier start where there are any."""
    settings, rows, seconds, again = protocol_settings(), [], 0.0, 0
    for number, start in enumerate(range(0, len(settings), block)):
        block_settings = settings[start : start + block]
        path = folder / f"{data.name}-{number:03d}.json"
        done = read_block(path, data, block_settings)
        if done is None:
            elapsed, done = machine.seconds(
                lambda block_settings=block_settings: evaluated(machine, data, block_settings)
            )  # type: ignore[misc]
            done |= {"seconds": elapsed, "key": block_key(data, block_settings)}
            path.with_suffix(".part").write_text(json.dumps(done))
            os.replace(path.with_suffix(".part"), path)
            say(f"  {data.name}, settings {start} to {start + len(block_settings) - 1}: {elapsed:.2f} s")
        else:
            again += 1
            say(f"  {data.name}, settings {start} to {start + len(block_settings) - 1}: done before")
        rows += done["rows"]
        seconds += done["seconds"]
    failed = [row for row in rows if "error" in row]
    return {"seconds": seconds, "settings": len(rows) * len(C_FINALS), "eliminations": len(rows),
            "blocks_done_before": again, "failed": len(failed), "C_finals": C_FINALS, "rows": rows}  # fmt: skip


def block_key(data: Data, settings: Sequence[Setting]) -> list[Any]:
    return [len(data.counts), int((data.counts * np.arange(data.counts.shape[1])).sum()), *map(list, settings)]


def read_block(path: Path, data: Data, settings: Sequence[Setting]) -> dict[str, Any] | None:
    """Return what an earlier start has done, unless it was something else."""
    try:
        done: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return done if done.get("key") == block_key(data, settings) else None


def evaluated(machine: Machine, data: Data, settings: Sequence[Setting]) -> dict[str, Any]:
    """Run a block of settings; where a fit is given up, one setting after the other, so that the rest is kept."""
    try:
        selected = machine.selected(data, settings)
        accuracy = machine.accuracies(data, selected)
    except ArithmeticError as error:
        if len(settings) == 1:
            return {"rows": [{**settings[0]._asdict(), "error": str(error)}]}
        parts = [evaluated(machine, data, [setting]) for setting in settings]
        return {"rows": [row for part in parts for row in part["rows"]]}
    rows = []
    for setting, sets, scores in zip(settings, selected, accuracy, strict=True):
        mean, spread = np.nanmean(scores, axis=1), np.nanstd(scores, axis=1, ddof=1) / math.sqrt(scores.shape[1])
        figures = {"accuracy": np.round(mean, 5).tolist(), "standard_error": np.round(spread, 5).tolist()}
        rows.append({**setting._asdict(), "stability": round(stability(sets, data.X.shape[1]), 5), **figures})
    return {"rows": rows}


def stability(sets: NDArray[np.int64], d: int) -> float:
    """Equation (1) of the paper, for sets of one size."""
    M, k = sets.shape
    p = np.bincount(sets.ravel(), minlength=d) / M
    return float(1 - M / (M - 1) * np.mean(p * (1 - p)) / (k / d * (1 - k / d)))


def say(text: str) -> None:
    print(text, flush=True)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Hybrid elimination in lock-step on an accelerator.")
    parser.add_argument("mode", choices=("speed", "protocol"))
    parser.add_argument("data", nargs="+", type=Path, help="NAME.npz with X and y")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--references", type=Path, help="folder of NAME_reference.npz")
    parser.add_argument("--results", type=Path, default=Path("hybrid_rfe_results"), help="folder of finished blocks")
    parser.add_argument(
        "--kernels", type=Path, default=Path(__file__).resolve().parents[1] / "src" / "holdfast" / "kernels"
    )
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--block", type=int, default=38, help="settings at a time")
    parser.add_argument("--memory", type=float, help="bytes at a time (half of what is free, at most 50 GB)")
    parser.add_argument("--worthwhile", type=float, help="use an inverse again while the residual falls to this share")
    return parser.parse_args(given)


def results(chosen: argparse.Namespace, machine: Machine) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of each data set when it is done."""
    for path in chosen.data:
        try:
            elapsed, data = machine.seconds(lambda path=path: load(path, chosen.resamples))  # type: ignore[misc]
            if chosen.mode == "speed":
                figures, selected = speed(machine, data, chosen.references, chosen.repeats)
                np.savez_compressed(chosen.out.parent / f"{data.name}_selected.npz", selected=selected.astype(np.int32))
            else:
                figures = protocol(machine, data, chosen.results, chosen.block)
            yield data.name, figures | {"load_seconds": elapsed}
        except ArithmeticError as error:
            say(f"  {path.stem}: {error}")
            yield path.stem, {"error": str(error)}
        machine.free()


def main(given: Sequence[str] | None = None) -> int:
    chosen = arguments(given)
    machine = Machine(chosen.kernels, chosen.device, chosen.memory)
    if chosen.worthwhile:
        vars(machine.lockstep)["INVERSE_REUSE"] = chosen.worthwhile
    chosen.results.mkdir(parents=True, exist_ok=True)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"mode": chosen.mode, "machine": machine.description(), "data": {}}
    say(json.dumps(report["machine"]))
    start = time.perf_counter()
    for name, figures in results(chosen, machine):
        report["data"][name] = figures
        report["wall_seconds"] = time.perf_counter() - start
        report["seconds"] = sum(
            figures.get("seconds", 0) + figures.get("load_seconds", 0) for figures in report["data"].values()
        )
        chosen.out.write_text(json.dumps(report, indent=1))
    if chosen.mode == "protocol":
        report["reached"] = report["seconds"] < 60 * MINUTES
        chosen.out.write_text(json.dumps(report, indent=1))
        say(f"{len(report['data'])} data sets in {report['seconds']:.0f} s; to reach: {60 * MINUTES} s")
    return int(any("error" in figures or figures.get("failed") for figures in report["data"].values()))


if __name__ == "__main__":
    sys.exit(main())
