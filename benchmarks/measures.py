"""The measures of sets compared with their peers."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

import holdfast as hf
from benchmarks import inputs, peers
from benchmarks.inputs import Lists, Size
from benchmarks.timing import Row, agreed, best_time, peak_megabytes
from holdfast.inference.intervals import asymptotic_variance

OVERLAP = tuple(name for name, measure in hf.MEASURES.items() if isinstance(measure.form, hf.measures.OverlapPairs))
OF_MANY_SIZES = tuple(name for name in OVERLAP if not hf.MEASURES[name].one_size)


def nogueira() -> Iterator[Row]:
    size = Size(1_000, 100_000, 100)
    runs = inputs.stable_sets(size)
    ours, peer = partial(_with_variance, runs), partial(peers.nogueira_with_variance, runs.dense(np.int64))
    yield Row(
        what=f"nogueira and its variance, {size}",
        ours=best_time(ours),
        peer=best_time(peer),
        peer_name="dense int64 formula",
        equal=agreed(ours(), peer()),
        ratio_to_reach=100,
    )


def nogueira_large() -> Iterator[Row]:
    size = Size(10_000, 1_000_000, 100)
    runs = inputs.stable_sets(size)
    ours, peer = partial(_with_variance, runs), partial(peers.nogueira_with_variance, runs.sparse())
    facts = {"peer_name": "formula on a sparse matrix", "equal": agreed(ours(), peer())}
    yield Row(what=f"nogueira and its variance, {size}", ours=best_time(ours), peer=best_time(peer), **facts)
    yield Row(
        what=f"memory of nogueira and its variance, {size}",
        ours=peak_megabytes(ours),
        peer=peak_megabytes(peer),
        unit="MB",
        limit=100,
        **facts,
    )


def overlap() -> Iterator[Row]:
    size = Size(1_000, 10_000, 100)
    for name, runs in (("random sets", inputs.random_sets(size)), ("stable sets", inputs.stable_sets(size))):
        yield _overlap_row(name, runs, OVERLAP, size, ratio_to_reach=1 / 3)
        ours, peer = partial(_stability, runs, ["jaccard"]), partial(pdist, runs.dense(np.bool_), "jaccard")
        yield Row(
            what=f"jaccard, {name}, {size}",
            ours=best_time(ours),
            peer=best_time(peer, at_least=1),
            peer_name="scipy pdist",
            equal=agreed(ours(), 1 - peer().mean()),
            ratio_to_reach=100,
        )
    yield _overlap_row("sets of 50 to 150", inputs.sets_of_many_sizes(size), OF_MANY_SIZES, size)


def _overlap_row(name: str, runs: Lists, measures: Sequence[str], size: Size, **facts: Any) -> Row:
    ours, peer = partial(_stability, runs, measures), partial(peers.total_shared, peers.packed(runs.dense(np.bool_)))
    equal = _same_overlap(runs, measures)
    mean_shared = peer() / (size.runs * (size.runs - 1) / 2)
    hamming = 1 - 2 * (runs.indices.size / size.runs - mean_shared) / size.features
    agreed(ours()[measures.index("hamming")], hamming)
    return Row(
        what=f"{len(measures)} overlap measures, {name}, {size}",
        ours=best_time(ours),
        peer=best_time(peer),
        peer_name="popcount over all pairs",
        equal=equal,
        **facts,
    )


def overlap_memory() -> Iterator[Row]:
    size = Size(5_000, 10_000, 100)
    for name, runs in (("random sets", inputs.random_sets(size)), ("stable sets", inputs.stable_sets(size))):
        yield Row(
            what=f"memory of {len(OVERLAP)} overlap measures, {name}, {size}",
            ours=peak_megabytes(partial(_stability, runs, OVERLAP)),
            peer=size.runs**2 * np.dtype(float).itemsize / 1e6,
            peer_name="a runs × runs matrix",
            equal=_same_overlap(runs, OVERLAP),
            unit="MB",
            ratio_to_reach=10,
        )


def fleiss() -> Iterator[Row]:
    size = Size(1_000, 10_000, 100)
    Z = inputs.stable_sets(size).dense(np.int64)
    ratings = np.ascontiguousarray(Z.T)

    def peer() -> float:
        return fleiss_kappa(aggregate_raters(ratings)[0])

    yield Row(
        what=f"nogueira from a 0/1 matrix, {size}",
        ours=best_time(partial(hf.stability, Z)),
        peer=best_time(peer),
        peer_name="statsmodels fleiss_kappa",
        equal=agreed(hf.stability(Z).value, peer()),
    )


def stand_ins() -> Iterator[Row]:
    small, size = Size(20, 10_000, 100), Size(1_000, 10_000, 100)
    few, many = inputs.swapping_sets(small), inputs.swapping_sets(size)
    similarity = inputs.sparse_similarity(size.features)
    similar = [set(row.tolist()) for row in np.split(similarity.indices, similarity.indptr[1:-1])]
    credit = peers.fewest_covered(similar)
    oracles: dict[str, Callable[[], float]] = {
        "sechidis": partial(peers.sechidis, few.sets(), similarity),
        "intersection_count": partial(peers.above_chance, credit, few.sets(), size.features),
    }
    for name, oracle in oracles.items():
        ours = partial(_stability, few, [name], similarity=similarity)
        yield Row(
            what=f"{name}, sparse similarity, {small}",
            ours=best_time(ours),
            peer=best_time(oracle),
            peer_name="plain Python",
            equal=agreed(ours(), oracle()),
        )
        seconds = best_time(partial(_stability, many, [name], similarity=similarity))
        yield Row(what=f"{name}, sparse similarity, {size}", ours=seconds, equal=f"at {small.runs} runs")


def matching() -> Iterator[Row]:
    size = Size(100, 1_000, 30)
    runs, similarity = inputs.swapping_sets(size), inputs.dense_similarity(size.features)
    best, most = peers.best_matching(similarity), peers.most_matched(similarity >= 0.9)
    oracles: dict[str, Callable[[], float]] = {
        "gulgezen": partial(peers.mean_of_pairs, best, runs.sets()),
        "intersection_mbm": partial(peers.above_chance, most, runs.sets(), size.features),
    }
    for name, oracle in oracles.items():
        ours = partial(_stability, runs, [name], similarity=similarity)
        yield Row(
            what=f"{name}, dense similarity, {size}",
            ours=best_time(ours),
            peer=best_time(oracle),
            peer_name="scipy assignment, pair by pair",
            equal=agreed(ours(), oracle()),
        )


def uncertainty() -> Iterator[Row]:
    """Standard error and interval compared with the bare value."""
    for name, size, most in (("nogueira", Size(1_000, 100_000, 100), 3), ("jaccard", Size(1_000, 10_000, 100), 1.5)):
        runs = inputs.stable_sets(size)
        ours, bare = partial(_with_interval, runs, name), partial(_bare_value, runs, name)
        yield Row(
            what=f"{name} with standard error and interval, {size}",
            ours=best_time(ours),
            peer=best_time(bare),
            peer_name="its bare value",
            equal=agreed(ours(), bare()),
            ratio_to_reach=1 / most,
        )


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    benchmark.__name__: benchmark
    for benchmark in (nogueira, nogueira_large, uncertainty, overlap, overlap_memory, fleiss, stand_ins, matching)
}


def _with_interval(runs: Lists, name: str) -> float:
    estimate = hf.stability(runs.preferences(), name)
    low, high = estimate.ci()
    if not low < estimate.value < high:
        raise ValueError(f"Expected an interval around the value, got {estimate!r}.")
    return estimate.value


def _bare_value(runs: Lists, name: str) -> float:
    measure = hf.MEASURES[name]
    return measure.form.tally(runs.preferences(), [measure])[0].value()


def _with_variance(runs: Lists) -> tuple[float, float]:
    preferences = runs.preferences()
    return hf.stability(preferences, "nogueira").value, asymptotic_variance(preferences)


def _stability(runs: Lists, measures: Sequence[str], **parameters: Any) -> list[float]:
    return [estimate.value for estimate in hf.stability(runs.preferences(), measures, **parameters)]


def _same_overlap(runs: Lists, measures: Sequence[str]) -> str:
    expected = peers.overlap_measures(runs.dense(np.float32))
    return agreed(_stability(runs, measures), [expected[name] for name in measures])
