"""The life of a run: what is written down, how many resamples, the fits that are missing, progress and interruption."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from holdfast.checks import check_whole
from holdfast.declared import FORMER_OPTIONS, About
from holdfast.inference.intervals import check_level
from holdfast.inference.planning import check_half_width
from holdfast.io.record import DataRecord
from holdfast.measures import find_measure
from holdfast.models import SCORES
from holdfast.models.recognized import BlockModel, recognize
from holdfast.resampling import Perturbation, as_perturbation
from holdfast.selectors.catalog import SELECTORS
from holdfast.serialization import to_plain
from holdfast.study import engines
from holdfast.study.data import StudyData
from holdfast.study.families import Family
from holdfast.study.memory import gc_paused
from holdfast.study.plan import describe, fingerprint, write_code
from holdfast.study.requirements import (
    check_adjustment,
    check_classes,
    check_gaps,
    check_made_columns,
    check_room,
    check_scored,
    check_weights,
)
from holdfast.study.scoring import Baseline, Scoring, find_scorer, named_scoring, score_guesses
from holdfast.study.store import Row, Store
from holdfast.study.tables import StudyTables, read_selected, read_snapshot
from holdfast.study.work import BlockResult, Task, WorkPlan, compute_effects, fitting, one_thread

if TYPE_CHECKING:
    from holdfast.study.study import Study


@dataclass(frozen=True, kw_only=True)
class TargetPrecision:
    """Sample size for an interval of a given width: a pilot, then as many resamples as it asks for (Stein).

    Stopping as soon as the interval is narrow enough would lose coverage; this two-stage rule does not.

    Parameters
    ----------
    half_width : float
        Half of the width that the interval of every candidate may have.
    pilot : int
        Number of resamples in the pilot.
    cap : int
        Maximum number of resamples.
    measure : str
        A measure of subsets.
    level : float
        Confidence level.

    See Also
    --------
    Study.run : Takes it as ``until=``.
    runs_needed : The same calculation, from a pilot of your own.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(hf.selectors.ReliefF(2), hf.Bootstrap(20))
    >>> result = study.run(X, y, until=hf.TargetPrecision(0.15, cap=200))
    >>> result.n_splits
    33
    """

    half_width: float = field(kw_only=False)
    pilot: int = 20
    cap: int = 1000
    measure: str = "nogueira"
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        find_measure(self.measure)
        check_half_width(self.half_width)
        check_whole("cap", self.cap, 3)
        if not isinstance(self.pilot, (int, np.integer)) or not 3 <= self.pilot <= self.cap:
            raise ValueError(f"Expected a pilot of 3 resamples to cap={self.cap}, got {self.pilot!r}.")


class StudyError(RuntimeError):
    """A fit failed, and ``on_error="raise"`` stopped the study.

    See Also
    --------
    Study.run : Records failed fits by default, and goes on.

    Examples
    --------
    >>> import holdfast as hf
    >>> import numpy as np
    >>> from sklearn.svm import LinearSVC
    >>> study = hf.Study({"svm": LinearSVC(C=-1)}, hf.Bootstrap(5))
    >>> try:
    ...     study.run(np.eye(8), [0, 1] * 4, on_error="raise")
    ... except hf.StudyError as error:
    ...     print(str(error).split(":")[0])
    svm failed on split 0 (select)
    """


class StudyInterrupted(KeyboardInterrupt):
    """A study was stopped by Ctrl-C or SIGTERM; what was finished is stored.

    Attributes
    ----------
    signal : int
        The number of the signal.

    See Also
    --------
    Study.run : Run again with the same store, it resumes.

    Examples
    --------
    >>> from holdfast.study import StudyInterrupted
    >>> issubclass(StudyInterrupted, KeyboardInterrupt)
    True
    """

    signal: int = signal.SIGINT


# Progress


@dataclass(frozen=True)
class Progress:
    """How far a study has come.

    Attributes
    ----------
    done, total : int
        Fits that are finished, those of earlier sessions included, and fits in all.
    failures : int
        Fits that failed.
    rate : float
        Fits per second in this session.
    """

    done: int
    total: int
    failures: int
    rate: float

    @property
    def seconds_left(self) -> float:
        """Seconds until the end, if it goes on like this."""
        return (self.total - self.done) / self.rate if self.rate > 0 else float("inf")

    def __str__(self) -> str:
        share = self.done / self.total if self.total else 1.0
        filled = round(20 * share)
        bar = "█" * filled + "░" * (20 - filled)
        failed = f", {self.failures} failed" if self.failures else ""
        speed = f", {self.rate:,.1f} per second" if self.rate else ""
        left = f", {format_duration(self.seconds_left)} left" if self.rate and self.done < self.total else ""
        return f"{bar} {self.done:,} of {self.total:,} fits{speed}{left}{failed}"


Report: TypeAlias = Callable[[Progress], None]


def format_duration(seconds: float) -> str:
    """Format a time to wait."""
    if seconds == float("inf"):
        return "unknown time"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Line:
    """Draws progress on stderr: one line that is written over on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self.alive = sys.stderr.isatty()
        self.wait = 0.1 if self.alive else 15.0
        self.last = monotonic() - (self.wait if self.alive else 0)

    def __call__(self, progress: Progress) -> None:
        now, ended = monotonic(), progress.done >= progress.total
        if now - self.last < self.wait and not ended:
            return
        self.last = now
        start, end = ("\r\x1b[K", "\n" if ended else "") if self.alive else ("", "\n")
        sys.stderr.write(f"{start}{progress}{end}")
        sys.stderr.flush()

    def write_above(self, text: str) -> None:
        """Write a line above that of the progress."""
        sys.stderr.write(f"\r\x1b[K{text}\n" if self.alive else f"{text}\n")
        sys.stderr.flush()


def make_reporter(progress: bool | Report) -> Report:
    """Return the callback for progress: a line on stderr, nothing, or the function that was given."""
    if callable(progress):
        return progress
    return Line() if progress else lambda _: None


# A run


class StudyRun:
    """A study on its data, while it runs: :meth:`Study.run` calls the methods from the first to the last."""

    def __init__(
        self,
        study: "Study",
        data: StudyData,
        keep_predictions: bool,
        only: Collection[str] | None = None,
        record: DataRecord | None = None,
        unsuitable: str = "raise",
    ) -> None:
        self.study, self.data, self.only, self.record = study, data, only, record
        self.families = study.families
        for name in only or ():
            if not any(name in family.names for family in self.families):
                raise ValueError(f"Expected candidates of the study in only=, got {name!r}.")
        self.scores = named_scoring(study.scoring, data.task)
        scorers = {name: find_scorer(score) for name, score in self.scores.items()}
        check_scored(study.scoring, self.families, study.estimator)
        perturbation = as_perturbation(study.perturbation)
        units = data.sites if perturbation.by_sites else data.groups
        self.perturbation = perturbation.bind(data.X, data.y, units, study.random_state)
        self.perturbation.check(data.samples)
        fitted = [family for family in self.families if only is None or set(only) & set(family.names)]
        refusals = check_classes(data, fitted, study.estimator, unsuitable)
        self.families = [replace(family, refusal=refusals.get(family.name, "")) for family in self.families]
        check_gaps(data, fitted, study.estimator)
        check_made_columns(data, fitted)
        check_room(data, fitted)
        check_weights(data, fitted, study.estimator, scorers)
        check_adjustment(data, fitted, self.perturbation)
        self.work = WorkPlan(
            data=data,
            families=self.families,
            scoring=Scoring(
                estimator=study.estimator,
                scorers=scorers,
                block_model=_find_block_model(study, data),
                keep_predictions=keep_predictions,
            ),
            perturbation=self.perturbation,
            seed=int(study.random_state),
        )

    @property
    def candidates(self) -> list[str]:
        """Names of all candidates."""
        return [name for family in self.families for name in family.names]

    # What is written down

    def plan(self) -> dict[str, Any]:
        """What results depend on."""
        study, data, model = self.study, self.data, self.work.scoring.block_model
        structure: dict[str, Any] = {}  # what older plans do not know is left out where it is not used
        if data.feature_groups is not None:
            structure["feature_groups"] = describe(data.feature_groups._asdict())
        if data.sample_weight is not None:
            structure["sample_weight"] = describe(data.sample_weight)
        if data.sites is not None:
            structure["sites"] = describe(data.sites)
        if data.adjusts:
            structure["adjust"] = "within" if data.within else True
        return {
            "data": fingerprint(data.X, data.y, data.groups, data.covariates, data.columns),
            "perturbation": describe(self.perturbation.identity()),
            "random_state": int(study.random_state),
            "estimator": describe(study.estimator),
            "model_fits": "scikit-learn" if model is None else model.exactness,
            "device": study.device,
            "scoring": describe(self.scores),
            "keep": [str(name) for name in study.covariates],
            "task": data.task,
            "keep_predictions": self.work.scoring.keep_predictions,
            **structure,
        }

    def about(self, command: Mapping[str, Any] | None) -> dict[str, Any]:
        """What a reader of the results needs to know.

        What perturbation, selectors and scores say of themselves is part of it: a report needs no more than the store.
        """
        data = self.data
        known = {name: SCORES.get(score) if isinstance(score, str) else None for name, score in self.scores.items()}
        scores = {
            name: About(name=name, summary=name, methods=name) if score is None else score.about
            for name, score in known.items()
        }
        former = {name: old for old, name in FORMER_OPTIONS.items()}  # stores keep their keys
        given = [name for name in ("groups", "sites", "sample_weight") if getattr(data, name) is not None]
        why_no_effects = None
        if data.effect_table is None:
            sparse = sp.issparse(data.X)
            why_no_effects = "the data are a sparse matrix" if sparse else "the features are not all numbers"
        return {
            "design": self.perturbation.design,
            "declared": {
                "perturbation": self.perturbation.about.to_dict(),
                "selectors": {family.name: SELECTORS.describe(family.selector).to_dict() for family in self.families},
                "scores": {name: about.to_dict() for name, about in scores.items()},
            },
            "names": data.names if data.named else None,
            "n_features": len(data.names),
            "classes": None if data.classes is None else [describe(label) for label in data.classes.tolist()],
            "target": data.target.values.tolist(),
            "data_record": to_plain(self.record),
            "no_effects": why_no_effects,
            "prefilter": self.study.prefilter,
            **({"code": [write_code(self.study, given)]} if command is None else {}),
            "command": None if command is None else {former.get(key, key): value for key, value in command.items()},
        }

    # How many resamples

    def write_splits(self, store: Store, perturbation: Perturbation | None = None) -> None:
        """Store the splits that are not there yet: all of a perturbation, and as many as the store has reached."""
        self.work.perturbation = extend(self.perturbation, store) if perturbation is None else perturbation
        store.add_splits(map(self.work.split, range(self.work.perturbation.get_n_splits())))

    def stages(self, store: Store, until: TargetPrecision | None) -> Iterator[Perturbation]:
        """The perturbation; with a target precision first the pilot, then as many resamples as it asks for."""
        if until is None:
            yield extend(self.perturbation, store)
            return
        if self.perturbation.grows is None or self.perturbation.design != "runs":
            without = "; pairs of halves have no interval to narrow" if self.perturbation.design == "pairs" else ""
            raise ValueError(
                f"Expected resamples that are drawn one by one for until=, such as hf.Bootstrap, got "
                f"{self.perturbation}{without}."
            )
        yield self.perturbation.grown(until.pilot)
        with store.transaction():
            store.put("until", {**vars(until)})
        needed = StudyTables(read_snapshot(store)).pilot_runs
        if needed > until.cap:
            warnings.warn(
                f"The pilot asks for {needed} runs for ±{until.half_width:g}, more than cap={until.cap}; intervals "
                "will be wider.",
                UserWarning,
                stacklevel=4,
            )
        yield extend(self.perturbation.grown(max(until.pilot, min(needed, until.cap))), store)

    # The work

    def prepare(self, families: Collection[int]) -> None:
        """Compute what all splits share, for families that have work to do."""
        with one_thread():
            for family in set(families) - set(self.work.shared):
                self.work.shared[family] = self.families[family].prepare(self.data)

    def fit_missing(
        self,
        store: Store,
        n_jobs: int | None,
        time_limit: float | None,
        report: Report,
        on_error: str,
        splits: Collection[int] | None = None,
    ) -> None:
        """Fit what is missing, of all splits or of some, and store outcomes as they come."""
        n_splits = self.work.perturbation.get_n_splits()
        queue = Queue(store, self.families, n_splits, time_limit is not None, self.only, splits)
        if self.study.estimator is None or self.work.scoring.block_model is not None:  # scores take little
            size = len(self.data.y) * len(self.data.columns)
            queue.expected = [size * family.traits.seconds_per_number for family in self.families]
        report(queue.progress)
        self.prepare(queue.needed)
        guessed = self._restore_lost(store)
        if not queue.needed:
            return
        results = engines.stream(self.work, queue.tasks, n_jobs, time_limit)
        try:
            for task, result in results:
                with gc_paused():
                    scored = {outcome.split for outcome in result.outcomes if outcome.score.scores}
                    queue.record(task, result, self._score_guesses(scored - guessed))
                    guessed |= scored
                    report(queue.progress)
                    for outcome in result.outcomes if on_error == "raise" else ():
                        if outcome.failure is not None:
                            name, failure = self.families[outcome.family].names[outcome.candidate], outcome.failure
                            raise StudyError(
                                f"{name} failed on split {outcome.split} ({failure.stage}): {failure.error}. What was "
                                f"finished is stored; on_error='record' goes on after failures.\n\n{failure.traceback}"
                            )
                    del result  # before garbage is looked for again
        finally:
            results.close()

    def _restore_lost(self, store: Store) -> set[int]:
        """Compute what an interruption or damage left out; return the splits that have scores of guessing."""
        scored, guessed = store.scored_splits()
        left_out = self._score_guesses(scored - guessed)
        if left_out:
            store.add(BlockResult([], []), [], left_out)
        lost = store.splits_without_effects() if self.data.effect_table is not None else []
        if lost:
            stored = StudyTables(read_snapshot(store, trusted=True))
            for family in dict.fromkeys(family for family, _ in lost):
                numbers = sorted({split for name, split in lost if name == family})
                selected = read_selected(stored, family, numbers)
                splits, lists = map(self.work.split, numbers), [selected[number] for number in numbers]
                store.add(BlockResult([], [], effects=compute_effects(self.data, family, list(splits), lists)), [])
        return guessed | scored

    def _score_guesses(self, splits: Collection[int]) -> list[Baseline]:
        """Score guessing on these splits, in this process."""
        if not splits:
            return []
        with fitting():
            return score_guesses(self.data, self.work.scoring, map(self.work.split, sorted(splits)))


def _find_block_model(study: "Study", data: StudyData) -> BlockModel | None:
    """The model in a form that fits whole blocks; None if there is none for it, or for such data."""
    if study.estimator is None or not study.fast_models or sp.issparse(data.X) or data.sample_weight is not None:
        return None
    if data.table.dtype in (np.float16, np.float32):  # scikit-learn would compute in as few digits
        return None
    model = recognize(study.estimator, data.n_classes, study.fast_models, study.device)
    return model if model is not None and np.isfinite(data.model_table).all() else None


def extend(perturbation: Perturbation, store: Store) -> Perturbation:
    """Give a perturbation at least as many splits as the store has: a study never shrinks."""
    stored = store.n_splits
    if perturbation.grows is None or perturbation.get_n_splits() >= stored:
        return perturbation
    unit = perturbation.get_n_splits() // getattr(perturbation, perturbation.grows)
    return perturbation.grown(-(-stored // unit))


# The queue

Missing: TypeAlias = tuple[int, tuple[int, ...]]  # a split, and the settings that did not run on it


class Queue:
    """The work that is left, and what was learned of its speed."""

    def __init__(
        self,
        store: Store,
        families: Sequence[Family],
        n_splits: int,
        one_by_one: bool,
        only: Collection[str] | None = None,
        splits: Collection[int] | None = None,
    ) -> None:
        self.store, self.families, self.n_splits, self.one_by_one = store, families, n_splits, one_by_one
        ids = store.ids()
        self.ids = [[ids[name] for name in family.names] for family in families]
        self.numbers = [[number for number, _ in family_ids] for family_ids in self.ids]  # of candidates in the store
        self.seconds = [np.nan] * len(families)  # of one split, as far as known
        self.expected = [np.nan] * len(families)  # before the first block
        self.done = store.done(max(number for number, _ in ids.values()), n_splits)
        if only is not None:
            self.done[[number for name, (number, _) in ids.items() if name not in only]] = True
        if splits is not None:
            self.done[:, sorted(set(range(n_splits)) - set(splits))] = True
        done = self.done[[number for numbers in self.numbers for number in numbers]]
        self.n_done, self.n_total, self.failures = int(done.sum()), done.size, store.counts()["failures"]
        self.begun, self.fitted = monotonic(), 0
        self.first_fitted, self.first_seconds = 0, 0.0

    @property
    def needed(self) -> set[int]:
        """The families that have work to do."""
        return {family for family, numbers in enumerate(self.numbers) if not self.done[numbers].all()}

    @property
    def progress(self) -> Progress:
        """How far it has come; a family's first block, which may wait for kernels to be compiled, gives no speed."""
        if not self.fitted and self.n_done < self.n_total:
            return Progress(self.n_done, self.n_total, self.failures, 0.0)
        seconds = monotonic() - self.begun
        fitted, seconds = (self.fitted, seconds) if self.fitted else (self.first_fitted, seconds + self.first_seconds)
        return Progress(self.n_done, self.n_total, self.failures, fitted / max(seconds, 1e-9))

    def tasks(self) -> Iterator[Task]:
        """Yield what is missing: families in turn, so that all of them have come equally far."""
        missing = list[list[Missing]]()
        for family, numbers in zip(self.families, self.numbers, strict=True):
            shape = (len(family.settings), len(family.cuts), self.n_splits)
            done = np.logical_and.reduce(self.done[numbers].reshape(shape), axis=1)
            splits = np.flatnonzero(~np.logical_and.reduce(done, axis=0)).tolist()
            of_splits, which = np.unique(~done[:, splits], axis=1, return_inverse=True)
            settings = [tuple(np.flatnonzero(of_split).tolist()) for of_split in of_splits.T]
            kinds = which.ravel().tolist()  # a column in NumPy 2.0
            missing.append([(split, settings[kind]) for split, kind in zip(splits, kinds, strict=True)])
        reached = [0] * len(missing)
        while any(missing):
            index = min((index for index, left in enumerate(missing) if left), key=reached.__getitem__)
            block = self._block(index, missing[index])
            del missing[index][: len(block)]
            reached[index] = block[-1][0] + 1
            yield Task(index, tuple(split for split, _ in block), block[0][1])

    def _block(self, family: int, missing: list[Missing]) -> list[Missing]:
        """The next splits with the same missing settings: as many as take a moment, one while the speed is unknown."""
        seconds = self.expected[family] if np.isnan(self.seconds[family]) else self.seconds[family]
        size = self.families[family].block_size(len(missing[0][1]), seconds)
        block = missing[: 1 if self.one_by_one else size]
        return [entry for entry in block if entry[1] == block[0][1]]

    def record(self, task: Task, result: BlockResult, baselines: Sequence[Row]) -> None:
        """Store what a block gave, and learn from how long it took."""
        self.store.add(result, self.ids, baselines)
        candidates = [outcome.candidate for outcome in result.outcomes]
        cells = np.array(self.numbers[task.family])[candidates], [outcome.split for outcome in result.outcomes]
        self.n_done += int(np.count_nonzero(~self.done[cells]))
        self.done[cells] = True
        self.failures += sum(outcome.failure is not None for outcome in result.outcomes)
        if np.isnan(self.seconds[task.family]):
            self.begun, self.fitted = monotonic(), 0
            self.first_fitted += len(result.outcomes)
            self.first_seconds += result.seconds
        else:
            self.fitted += len(result.outcomes)
        self.seconds[task.family] = result.seconds / max(len(task.splits), 1)


# Interruption


class _Terminated(KeyboardInterrupt):
    """SIGTERM came."""


@contextmanager
def report_interruption(store: Store) -> Iterator[None]:
    """Say after Ctrl-C or SIGTERM how far the study has come and how to resume it.

    SIGTERM stops a study as Ctrl-C would, in the main thread, unless the program handles it itself.
    """
    main, process = threading.current_thread() is threading.main_thread(), os.getpid()
    interrupts = main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

    def stop(*_: Any) -> None:
        if os.getpid() == process:
            raise _Terminated
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a forked worker ends as it would have
        os.kill(os.getpid(), signal.SIGTERM)

    try:
        if interrupts:
            signal.signal(signal.SIGTERM, stop)
        try:
            yield
        finally:
            if interrupts:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
    except KeyboardInterrupt as interrupt:
        done, total = store.progress()
        stopped = StudyInterrupted(
            f"The study was stopped after {done:,} of {total:,} fits. "
            + ("Run it again with the same store to resume." if store.path else "It was in memory only.")
        )
        stopped.signal = signal.SIGTERM if isinstance(interrupt, _Terminated) else signal.SIGINT
        raise stopped from None
