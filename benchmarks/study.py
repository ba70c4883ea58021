"""What a study adds to its fits: time compared with the bare loop, and memory as resamples grow."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

import holdfast as hf
from benchmarks.timing import Row

ROWS, FEATURES = 200, 50
FEW, MANY = 200, 2_000


class Nothing(BaseEstimator):
    """A selector that does nothing: it selects the first five."""

    def fit(self, X: Any, y: Any) -> "Nothing":
        self.support_ = np.arange(X.shape[1]) < 5
        return self

    def get_support(self) -> Any:
        return self.support_


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(ROWS, FEATURES)), np.arange(ROWS) % 2


def _study(n: int) -> hf.Study:
    return hf.Study(selectors={"nothing": Nothing()}, perturbation=hf.Bootstrap(n))


def study_overhead() -> Iterator[Row]:
    n, (X, y) = 1_000, _data()
    splits = list(hf.Bootstrap(n).splits(y))

    def bare() -> list[Any]:
        return [np.flatnonzero(clone(Nothing()).fit(*split.data(X, y)).get_support()) for split in splits]

    with tempfile.TemporaryDirectory() as folder:
        stores = (Path(folder) / f"{place}.db" for place in range(1_000))  # each study starts from nothing
        ours, result = _least_wall_time(lambda: _study(n).run(X, y, store=next(stores)))
    peer, expected = _least_wall_time(bare)
    if not np.array_equal(result.preferences("nothing").lists()[0], np.concatenate(expected)):
        raise ValueError("Expected the study to select as the bare loop does: a wrong answer has no speed.")
    yield Row(
        what=f"what a study with its store adds to one fit, by the clock, {n:,} resamples of {ROWS} × {FEATURES}",
        ours=(ours - peer) / n,
        peer=peer / n,
        peer_name="the fit alone",
        equal="yes",
        limit=1e-3,
    )


def study_memory() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        stores = {n: Path(folder) / f"{n}.db" for n in (1, FEW, MANY)}
        peak = {n: _peak_megabytes(n, store) for n, store in stores.items()}
        few, many = (hf.load_study(stores[n]).preferences("nothing").lists()[0] for n in (FEW, MANY))
        if not np.array_equal(few, many[: few.size]):
            raise ValueError("Expected equal selections on equal resamples: a wrong answer has no size.")
        stored = {n: store.stat().st_size / 1e6 for n, store in stores.items()}
    yield Row(
        what=f"memory that {MANY:,} resamples need more than {FEW}, beside what is stored of them",
        ours=max(peak[MANY] - peak[FEW] - (stored[MANY] - stored[FEW]), 0.1),
        peer=peak[FEW] - peak[1],
        peer_name=f"what {FEW} need more than one",
        equal="yes",
        unit="MB",
        limit=10,
    )


def _peak_megabytes(n: int, store: Path) -> float:
    """Most memory that a process of its own takes for a study of so many resamples."""
    code = (
        "from pathlib import Path; from benchmarks.study import _data, _study; "
        f"_study({n}).run(*_data(), store={str(store)!r}); print(Path('/proc/self/status').read_text())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(re.search(r"VmHWM:\s*(\d+) kB", done.stdout)[1]) / 1000  # type: ignore[index]


def _least_wall_time(call: Callable[[], Any], times: int = 5) -> tuple[float, Any]:
    """Least time by the clock, which waits for the disk too, and what the call gave."""
    least = np.inf
    for _ in range(times):
        begun = perf_counter()
        result = call()
        least = min(least, perf_counter() - begun)
    return least, result


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    benchmark.__name__: benchmark for benchmark in (study_overhead, study_memory)
}
