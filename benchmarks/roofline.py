"""How far kernels are from the arithmetic of this machine: the least time of their operations, beside what they take.

The machine's rates are measured in the same run, on one thread: multiplications and additions by a product of matrices
in BLAS, operations on bytes by sums of bytes in the first cache, and memory by copies of 64 MB. What a kernel has to do
at least is counted from its definition, on the rows that a resample draws, each once; the floor is the larger of its
operations at that rate and of its table at the rate of memory. What is not counted is small, or part of the distance:
sorting, weights, branches, temporary arrays.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

import holdfast as hf
from benchmarks.elastic_net import correlated
from benchmarks.rfe import ridge_elimination
from benchmarks.studies import KEPT, Data, microarray
from benchmarks.timing import Row, best_time
from holdfast.kernels.elastic_net import elastic_net_paths
from holdfast.kernels.elimination import elimination_sizes
from holdfast.kernels.filters import anova_f, centered, moments_of_resamples
from holdfast.kernels.information import equal_width_codes, make_sample, selection_path
from holdfast.kernels.jit import kernel

RESAMPLES, STEPS, BINS = 50, 50, 10


class Rates(NamedTuple):
    """What one core does in a second: operations on numbers of 64 bits, on bytes, and bytes to and from memory."""

    flops: float
    byte_operations: float
    memory: float


@kernel
def _add_bytes(a, b, times):  # type: ignore[no-untyped-def]
    for _ in range(times):
        for j in range(a.size):
            a[j] = np.uint8(a[j] + b[j])


@lru_cache(maxsize=1)
def rates() -> Rates:
    """Measure this machine."""
    square, n_bytes = np.random.default_rng(0).normal(size=(1024, 1024)), 2**26
    few, other = np.zeros(2**12, np.uint8), np.ones(2**12, np.uint8)
    source, target = np.ones(n_bytes // 8), np.empty(n_bytes // 8)
    return Rates(
        2 * 1024**3 / best_time(lambda: square @ square),
        2**12 * 10_000 / best_time(lambda: _add_bytes(few, other, 10_000)),
        2 * n_bytes / best_time(lambda: np.copyto(target, source)),
    )


def roofline() -> Iterator[Row]:
    data = microarray("alon", 62, 2000)
    counts = np.array([split.weights(len(data.y)) for split in hf.Bootstrap(RESAMPLES).splits(data.y)])
    drawn = np.count_nonzero(counts, axis=1)
    d, table = data.X.shape[1], data.X.nbytes
    # two products and two sums for each number that is drawn: its sum and that of squares
    yield _row("ANOVA F", data, partial(_weigh, data, counts), 4.0 * drawn.sum() * d, rates().flops, table, to_reach=3)
    yield _row("ridge RFE", data, partial(_eliminate, data, counts), _flops_of_elimination(drawn, d), rates().flops,
        table * RESAMPLES, to_reach=3)  # fmt: skip
    samples = [make_sample(equal_width_codes(data.X, BINS, np.flatnonzero(row)), row[row > 0]) for row in counts]
    labels = [data.y[row > 0].astype(np.uint32) for row in counts]
    orders = _choose(samples, labels)
    # every pair of rows in one bin of the feature chosen last: compared, masked and added, for each other feature
    pairs = sum(float((np.bincount(sample.codes[f]) * (np.bincount(sample.codes[f]) - 1) // 2).sum())
        for sample, order in zip(samples, orders, strict=True) for f in order[:-1])  # fmt: skip
    codes = sum(sample.codes.nbytes for sample in samples) * float(STEPS)
    yield _row(f"mRMR, {STEPS} features", data, partial(_choose, samples, labels), 3.0 * pairs * d,
        rates().byte_operations, codes, to_reach=3)  # fmt: skip
    problem = correlated(1_000, 100, 0.5, 10)
    wide = Data(problem.X, (problem.y > 0).astype(np.int64), "simulated")
    counts = np.array([split.weights(1_000) for split in hf.Bootstrap(RESAMPLES).splits(wide.y)])
    signs = np.where(wide.y > 0, 1.0, -1.0)
    paths = partial(elastic_net_paths, wide.X, signs, counts, family="logistic")
    # at each of 100 penalties one gradient at least, to know that nothing else enters
    yield _row("L1-logistic path, 100 penalties", wide, paths, 100 * 2.0 * np.count_nonzero(counts) * wide.X.shape[1],
        rates().flops, wide.X.nbytes * RESAMPLES)  # fmt: skip


def _row(
    what: str, data: Data, call: Callable[[], object], operations: float, rate: float, n_bytes: float,
    to_reach: float | None = None,
) -> Row:  # fmt: skip
    """A kernel beside its floor: the ratio is the share of the floor in its time."""
    floor = max(operations / rate, n_bytes / rates().memory)
    return Row(
        what=f"{what}, {RESAMPLES} bootstraps, the kernel alone; {data}",
        ours=best_time(call),
        peer=floor,
        peer_name=f"its floor: {operations / 1e6:,.0f} million operations at {rate / 1e9:.0f} a nanosecond",
        equal="–",
        ratio_to_reach=None if to_reach is None else 1 / to_reach,
    )


def _weigh(data: Data, counts: np.ndarray) -> None:
    for moments in moments_of_resamples(centered(data.X, data.y), counts):
        anova_f(moments)


def _eliminate(data: Data, counts: np.ndarray) -> None:
    sizes = elimination_sizes(data.X.shape[1], KEPT, 0.2)
    ridge_elimination(data.X, np.where(data.y > 0, 1.0, -1.0), counts, sizes=sizes)


def _flops_of_elimination(drawn: np.ndarray, d: int) -> float:
    """The Gram matrix, what is taken out of it, one factor for each step, and the weights of what is left."""
    sizes = np.array(elimination_sizes(d, KEPT, 0.2), dtype=float)
    n = drawn.astype(float)
    gram, factors, weights = 2 * n**2 * d, n**3 / 3 * sizes.size, 2 * n * sizes.sum()
    return float((gram + factors + weights).sum())


def _choose(samples: list, labels: list) -> list[np.ndarray]:
    return [selection_path(*pair, STEPS).order[0] for pair in zip(samples, labels, strict=True)]


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {"roofline": roofline}
