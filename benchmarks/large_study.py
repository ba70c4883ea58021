"""A large study opened again: its store read, its report made, and what is asked of it after that.

A cached answer is compared with the same call on a result that has just been read, whose cache is empty.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from benchmarks.timing import Row, best_time
from holdfast.report import render, summarize
from holdfast.selectors import AnovaF
from holdfast.study.store import read_progress

SHAPE = "1,000 resamples × 20 candidates × 20,000 features"
MANY_FITS = "100,000 fits (1,000 resamples × 100 candidates)"
QUESTIONS: dict[str, Callable[[hf.StudyResult], Any]] = {
    "its report once more": lambda result: render(summarize(result), "json"),
    "its features": lambda result: result.features().to_dict(),
    "its front": lambda result: result.pareto().to_dict(),
    "its choice": lambda result: result.choose().to_dict(),
}
TIMES = 3


@contextmanager
def _stored(n_features: int = 20_000, step: int = 5) -> Iterator[tuple[Path, hf.StudyResult]]:
    """A store of 1,000 resamples with a candidate for every so many features up to 100, and the result of the study."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, n_features)), np.arange(60) % 2
    X[:, :20] += y[:, None]
    study = hf.Study(
        selectors={"anova": hf.Candidates(AnovaF(), sizes=list(range(step, 101, step)))},
        perturbation=hf.Bootstrap(1_000),
        estimator=KNeighborsClassifier(3),
    )
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "study.db"
        yield store, study.run(X, y, store=store)


def large_store() -> Iterator[Row]:
    with _stored() as (store, result):
        begun = perf_counter()
        loaded = hf.load_study(store)
        opened = perf_counter() - begun
        begun = perf_counter()
        summary = loaded.summary()
        summarized = perf_counter() - begun
    _check(summary.equals(result.summary()), "the summary")
    for what, seconds in (("opening", opened), ("the summary of", summarized)):
        yield Row(what=f"{what} a store of {SHAPE}, by the clock", ours=seconds, equal="yes", limit=1.0)


def large_study() -> Iterator[Row]:
    with _stored() as (store, result):
        expected = render(summarize(result), "json")
        read, made, drawn = zip(*(_open(store, expected) for _ in range(1 + TIMES)), strict=True)
        yield Row(what=f"reading {SHAPE}", ours=min(read), equal="yes", limit=0.4)
        yield Row(what="making its report, numbers and words", ours=min(made), equal="yes", limit=1.2)
        yield Row(what="drawing its report as a page", ours=min(drawn[1:]), equal="yes", limit=0.4)
        whole = min(map(sum, list(zip(read, made, drawn, strict=True))[1:]))
        yield Row(what="all three: what a reader waits for", ours=whole, equal="yes", limit=2.0)
        yield from _questions(store)
        yield Row(
            what="how far it has come", ours=best_time(lambda: read_progress(store)), peer=min(read),
            peer_name="reading all of it", equal="yes", limit=5e-3,
        )  # fmt: skip
        _check(read_progress(store).done == result.n_outcomes, "the progress")


def many_fits() -> Iterator[Row]:
    """Every fit is a row with a checksum: reading them must not take longer than a reader waits."""
    with _stored(n_features=500, step=1) as (store, result):
        expected, times = result.summary(), []
        for _ in range(1 + TIMES):
            begun = process_time()
            loaded = hf.load_study(store)
            read = process_time()
            summary = loaded.summary()
            times.append((read - begun, process_time() - begun))
            _check(summary.equals(expected), "the summary")
    read, answered = zip(*times[1:], strict=True)
    yield Row(what=f"reading {MANY_FITS}", ours=min(read), equal="yes", limit=1.5)
    yield Row(what="until the first answer, its summary", ours=min(answered), equal="yes", limit=2.0)


def _open(store: Path, expected: str) -> tuple[float, float, float]:
    """Seconds to read a study, to make its report, and to draw that; the first page waits for Vega too."""
    begun = process_time()
    result = hf.load_study(store)
    read = process_time()
    summary = summarize(result)
    made = process_time()
    render(summary)
    drawn = process_time()
    _check(render(summary, "json") == expected, "the report")
    return read - begun, made - read, drawn - made


def _questions(store: Path) -> Iterator[Row]:
    """Questions after the report was made, compared with a result whose cache is empty."""
    for what, ask in QUESTIONS.items():
        ours, peer, answers = [], [], []
        for _ in range(TIMES):
            warm, cold = hf.load_study(store), hf.load_study(store)
            summarize(warm)
            for times, result in ((ours, warm), (peer, cold)):
                begun = process_time()
                answers.append(ask(result))
                times.append(process_time() - begun)
        _check(all(answer == answers[0] for answer in answers), what)
        limit = 0.5 if what == "its features" else None if what == "its report once more" else 0.2
        yield Row(
            what=f"{what}, after its report", ours=min(ours), peer=min(peer), peer_name="the first thing asked",
            equal="yes", limit=limit,
        )  # fmt: skip


def _check(equal: bool, what: str) -> None:
    if not equal:
        raise ValueError(f"Expected {what} to be equal however it was asked for: a wrong answer has no speed.")


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    benchmark.__name__: benchmark for benchmark in (large_store, large_study, many_fits)
}
