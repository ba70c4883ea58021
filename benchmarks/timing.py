"""Time and memory of a call, and the record that a benchmark makes of them."""

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Any, Literal

import numpy as np


def best_time(call: Callable[[], Any], *, at_least: int = 3, for_seconds: float = 1.0) -> float:
    """Least CPU time of several calls; the first, which may compile kernels, is never the least.

    On one thread CPU time is what an idle machine would take, and the least of many what a busy one disturbs least.
    """
    times: list[float] = []
    begin = perf_counter()
    while len(times) < at_least or perf_counter() - begin < for_seconds:
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def added_time(longer: Callable[[], Any], shorter: Callable[[], Any], times: int = 7) -> tuple[float, float]:
    """How much more CPU time one call takes than another, and the noise of that difference.

    The two alternate, so that a busy hour disturbs both; the difference is the median of the pairs', its noise twice
    the standard error of that median by the spread of the pairs.
    """
    differences = []
    for _ in range(times + 1):
        begun = process_time()
        longer()
        between = process_time()
        shorter()
        differences.append(2 * between - begun - process_time())
    differences = differences[1:]  # the first may compile kernels
    middle = median(differences)
    spread = 1.4826 * median(abs(difference - middle) for difference in differences)
    return middle, 2 * 1.2533 * spread / times**0.5


def peak_megabytes(call: Callable[[], Any]) -> float:
    """Most memory that a call holds at a time beyond what was there before, in MB.

    Arrays that numba makes inside a kernel are not seen; the kernels measured here are handed all of theirs.
    """
    call()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def agreed(ours: Any, peer: Any, tolerance: float = 1e-9) -> str:
    """Return the largest relative difference of two results; raise if that is more than rounding."""
    ours, peer = np.asarray(ours, dtype=float), np.asarray(peer, dtype=float)
    difference = float(np.max(np.abs(ours - peer) / np.abs(peer)))
    if not difference <= tolerance:
        raise ValueError(f"Expected the peer's result {peer}, got {ours}: a wrong answer has no speed.")
    return "yes" if difference == 0 else f"yes, to {difference:.0e}"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table: what was measured, compared with what, and the target.

    ``ratio_to_reach`` is the least ratio of the peer's figure to ours, ``limit`` the most that ours may be. A
    difference of two times has ``noise``; one below it is told as such, and has no ratio.
    """

    what: str
    ours: float
    peer: float | None = None
    peer_name: str = ""
    equal: str
    unit: Literal["s", "MB"] = "s"
    ratio_to_reach: float | None = None
    limit: float | None = None
    noise: float = 0.0

    @property
    def ratio(self) -> float | None:
        """How many times the peer's figure is ours; None without a peer, and for a difference below its noise."""
        return None if self.peer is None or self.ours < self.noise else self.peer / self.ours

    @property
    def reached(self) -> bool:
        """Whether everything that was to be reached is; true if nothing was."""
        fast = self.ratio_to_reach is None or (self.ratio is not None and self.ratio >= self.ratio_to_reach)
        return fast and (self.limit is None or max(self.ours, self.noise) < self.limit)

    def cells(self) -> tuple[str, ...]:
        """Return the line as it is printed."""
        peer = "–" if self.peer is None else f"{_shown(self.peer, self.unit)}, {self.peer_name}"
        ratio = "–" if self.ratio is None else _number(self.ratio)
        below_noise = self.ours < self.noise
        ours = f"< noise, {_shown(self.noise, self.unit)}" if below_noise else _shown(self.ours, self.unit)
        return self.what, ours, peer, ratio, self._to_reach(), self.equal

    def _to_reach(self) -> str:
        goals = [] if self.ratio_to_reach is None else [f"ratio ≥ {_number(self.ratio_to_reach)}"]
        goals += [] if self.limit is None else [f"< {_shown(self.limit, self.unit)}"]
        return f"{', '.join(goals)}: {'reached' if self.reached else 'not reached'}" if goals else "–"


COLUMNS = "what", "ours", "peer", "ratio", "to reach", "equal?"


def _shown(value: float, unit: str) -> str:
    return f"{_number(value * 1000)} ms" if unit == "s" and value < 1 else f"{_number(value)} {unit}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"
