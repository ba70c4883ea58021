"""A study on its data, while it runs: what is written down, how many resamples, and the fits that are missing."""

import math
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import accuracy_score, average_precision_score, brier_score_loss, log_loss, roc_auc_score

from holdfast.inference.intervals import check_level
from holdfast.io.record import DataRecord
from holdfast.models.block import Floats, Ints, Predictions
from holdfast.models.scores import Scorer, cells_by_size, score_block, sum_cells
from holdfast.resampling import Perturbation, Split, as_perturbation
from holdfast.selection import Selection
from holdfast.selectors.catalog import SELECTORS
from holdfast.serialization import to_plain
from holdfast.study import engines
from holdfast.study.data import StudyData
from holdfast.study.families import Family
from holdfast.study.memory import without_collecting
from holdfast.study.plan import describe, fingerprint
from holdfast.study.progress import Progress, Report
from holdfast.study.requirements import check_requirements, check_scored
from holdfast.study.result import StudyResult
from holdfast.study.store import Row, Store
from holdfast.study.stored import read_stored
from holdfast.study.work import (
    Answers,
    Context,
    Finished,
    ModelFits,
    Outcome,
    Task,
    compute_effects,
    count_features,
    describe_score,
    fitting,
    holds_out,
    named_scoring,
    one_thread,
    predicting_model,
    quantile_rows,
    score_model,
    scorers_of,
    why_no_effects,
)

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
    >>> study = hf.Study(selectors=[hf.selectors.ReliefF(2)], perturbation=hf.Bootstrap(20))
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
        if not self.half_width >= 1e-9:
            raise ValueError(f"Expected a half width above 0, got {self.half_width}. The least is 1e-9.")
        if not 3 <= self.pilot <= self.cap:
            raise ValueError(f"Expected a pilot of 3 resamples to cap={self.cap}, got {self.pilot}.")


BLOCK_SECONDS = 0.25
LARGEST_BLOCK = 250

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
    ) -> None:
        self.store, self.families, self.n_splits, self.one_by_one = store, families, n_splits, one_by_one
        ids = store.ids()
        self.ids = [[ids[name] for name in family.names] for family in families]
        self.seconds = [np.nan] * len(families)  # of one split, as far as known
        self.done = store.done(max(number for number, _ in ids.values()), n_splits)
        if only is not None:
            self.done[[number for name, (number, _) in ids.items() if name not in only]] = True
        ours = self.done[[number for family_ids in self.ids for number, _ in family_ids]]
        self.n_done, self.n_total, self.failures = int(ours.sum()), ours.size, store.n_failures
        self.begun, self.fitted = monotonic(), 0
        self.first_fitted, self.first_seconds = 0, 0.0

    def _numbers(self, place: int) -> list[int]:
        """The numbers of a family's candidates."""
        return [number for number, _ in self.ids[place]]

    @property
    def needed(self) -> set[int]:
        """The families that have work to do."""
        return {place for place in range(len(self.families)) if not self.done[self._numbers(place)].all()}

    @property
    def progress(self) -> Progress:
        """How far it has come; a family's first block, which may wait for kernels to be compiled, tells no speed."""
        if not self.fitted and self.n_done < self.n_total:
            return Progress(self.n_done, self.n_total, self.failures, 0.0)
        seconds = monotonic() - self.begun
        fitted, seconds = (self.fitted, seconds) if self.fitted else (self.first_fitted, seconds + self.first_seconds)
        return Progress(self.n_done, self.n_total, self.failures, fitted / max(seconds, 1e-9))

    def record(self, task: Task, finished: Finished, baselines: Sequence[Row] = ()) -> None:
        """Store what a piece of work gave, and learn from how long it took."""
        with without_collecting():
            self.store.add(finished, self.ids, baselines)
        outcomes, ids = finished.outcomes, self.ids[task.family]
        for outcome in outcomes:
            number = ids[outcome.candidate][0]
            self.n_done += not self.done[number, outcome.split]
            self.done[number, outcome.split] = True
            self.failures += outcome.failure is not None
        if np.isnan(self.seconds[task.family]):
            now = monotonic()
            self.begun, self.first_fitted = now, self.first_fitted + len(outcomes)
            self.first_seconds += finished.seconds
            self.fitted = 0
        else:
            self.fitted += len(outcomes)
        self.seconds[task.family] = finished.seconds / max(len(task.splits), 1)

    def tasks(self) -> Iterator[Task]:
        """Yield what is missing: families in turn, so that all of them have come equally far."""
        missing = [list(self._missing(place)) for place in range(len(self.families))]
        reached = [0] * len(missing)
        while any(missing):
            place = min((place for place in range(len(missing)) if missing[place]), key=lambda place: reached[place])
            block = self._block(place, missing[place])
            del missing[place][: len(block)]
            reached[place] = block[-1][0] + 1
            yield Task(place, tuple(split for split, _ in block), block[0][1])

    def _missing(self, place: int) -> Iterator[Missing]:
        """Each split on which a family has work to do, and which settings."""
        family = self.families[place]
        shape = (len(family.settings), len(family.cuts), self.n_splits)
        done = np.logical_and.reduce(self.done[self._numbers(place)].reshape(shape), axis=1)
        for split in np.flatnonzero(~np.logical_and.reduce(done, axis=0)):
            yield int(split), tuple(np.flatnonzero(~done[:, split]).tolist())

    def _block(self, place: int, missing: list[Missing]) -> list[Missing]:
        """The next splits with the same missing settings: as many as take a moment, one while the speed is unknown."""
        seconds = self.seconds[place]
        size = 1 if np.isnan(seconds) else int(np.clip(BLOCK_SECONDS / max(seconds, 1e-9), 1, LARGEST_BLOCK))
        if self.families[place].batched:
            fits = getattr(self.families[place].selector, "block_fits", 1)
            size = max(size, -(-fits // len(missing[0][1])))
        block = missing[: 1 if self.one_by_one else size]
        return [entry for entry in block if entry[1] == block[0][1]]


ALWAYS, PRIOR, COVARIATES = "always ", "prior", "covariates"
BEST_GUESS: dict[Any, str] = {
    accuracy_score: ALWAYS,
    roc_auc_score: PRIOR,
    average_precision_score: PRIOR,
    log_loss: PRIOR,
    brier_score_loss: PRIOR,
}


class Baseline(NamedTuple):
    """The score of one way to guess on one split; ``nan`` if the scorer cannot score it."""

    split: int
    strategy: str
    metric: str
    value: float


class Guesses:
    """Scores guessing once on every split on which a candidate was scored."""

    def __init__(self, store: Store, context: Context) -> None:
        self.context, self.done = context, store.guessed_splits()
        left_out = self.score_new(store.scored_splits())  # by an interruption
        if left_out:
            store.add_baselines(left_out)

    def score_new(self, splits: Iterable[int]) -> list[Baseline]:
        """Score guessing on those of these splits that are new."""
        new = sorted(set(splits) - self.done)
        self.done.update(new)
        return score_guesses(self.context, [self.context.split(index) for index in new]) if new else []


def score_guesses(context: Context, splits: Iterable[Split]) -> list[Baseline]:
    """Every score of every way to guess; none on splits that score rows they were trained on."""
    held_out = [split for split in splits if holds_out(split, context.y.size)]
    with fitting():
        scores = {strategy: _score_strategy(context, held_out, strategy) for strategy in _strategies(context)}
    return [
        Baseline(split.index, strategy, metric, values[place])
        for place, split in enumerate(held_out)
        for strategy, by_metric in scores.items()
        for metric, values in by_metric.items()
    ]


def _strategies(context: Context) -> list[str]:
    """The ways to guess, of which one or another is best for a score.

    F1 is best guessed by always answering the positive class, log loss by the shares of the classes, an absolute error
    by the median. With covariates in every model, a model on these alone is one more.
    """
    covariates = [] if context.covariates is None else [COVARIATES]
    if context.classes is None:
        return ["mean", "median", *covariates]
    return [PRIOR, "stratified", *(f"{ALWAYS}{label}" for label in context.classes), *covariates]


def _may_be_best(strategy: str, scorer: Scorer) -> bool:
    """Whether this may be the best guess for a score; of the usual scores it is known, and scoring takes its time."""
    function = getattr(scorer.scorer, "_score_func", None)
    if strategy == COVARIATES or function not in BEST_GUESS:
        return True
    return strategy.startswith(BEST_GUESS[function])


def _score_strategy(context: Context, splits: Sequence[Split], strategy: str) -> dict[str, list[float]]:
    """Scores of one way to guess by name, one for each split: of all splits at once where no model is needed."""
    scorers = {name: scorer for name, scorer in context.scorers.items() if _may_be_best(strategy, scorer)}
    if not scorers or not splits:
        return {}
    truth = context.y if context.classes is None else np.searchsorted(context.classes, context.y)
    callables = {name: scorer for name, scorer in scorers.items() if scorer.answers is None}  # they want a model
    places = _find_answerable(context, splits, strategy, truth)
    scores = {name: np.full(len(splits), math.nan) for name in scorers}
    if places and len(callables) < len(scorers):
        answered = [splits[place] for place in places]
        predictions, y = _guess(context, answered, strategy, truth), truth[_join(split.test for split in answered)]
        for name in scorers.keys() - callables:  # one by one: what one cannot score is no error of the others
            scores[name][places] = score_block({name: scorers[name]}, y, predictions, context.classes).values[name]
    unanswered = set(range(len(splits))) - set(places)
    if callables or unanswered:
        with _without_checks():
            for place, split in enumerate(splits):
                left = scorers if place in unanswered else callables
                for name, value in _score_model(context, split, strategy, left, truth).items():
                    scores[name][place] = value
    return {name: values.tolist() for name, values in scores.items()}


# What is answered without fitting anything


def _find_answerable(context: Context, splits: Sequence[Split], strategy: str, truth: NDArray[Any]) -> Sequence[int]:
    """Places of the splits on which the answers of scikit-learn's dummies are known without fitting one."""
    everywhere = range(len(splits))
    if strategy == COVARIATES or (
        context.classes is None and truth.dtype != np.float64 and truth.dtype.kind not in "iu"
    ):
        return []
    if context.classes is None or strategy.startswith(ALWAYS):
        return everywhere
    n_classes = context.classes.size  # a dummy knows only the classes that it was trained on
    return [place for place in everywhere if np.bincount(truth[splits[place].rows], minlength=n_classes).all()]


def _guess(context: Context, splits: Sequence[Split], strategy: str, truth: NDArray[Any]) -> Predictions:
    """Answer as scikit-learn's dummies do."""
    if context.classes is None:
        return _guess_numbers(splits, strategy, truth)
    n_classes = context.classes.size
    if strategy.startswith(ALWAYS):
        number = [f"{ALWAYS}{label}" for label in context.classes].index(strategy)
        return _predict_classes(splits, np.tile(np.eye(n_classes)[number], (len(splits), 1)))
    counts = np.array([np.bincount(truth[split.train], minlength=n_classes) for split in splits])
    shares = counts / counts.sum(axis=1, keepdims=True)
    return _predict_classes(splits, shares) if strategy == PRIOR else _draw_classes(splits, shares)


def _guess_numbers(splits: Sequence[Split], strategy: str, truth: NDArray[Any]) -> Predictions:
    """Answer the mean or median of the training rows."""
    train = [split.train for split in splits]
    y, starts = truth[_join(train)].astype(np.float64), _starts(train)
    if strategy == "mean":
        constants = sum_cells(y, starts) / np.diff(starts)
    else:
        constants = np.empty(len(splits))
        for cells, rows in cells_by_size(starts):
            constants[cells] = np.median(y[rows], axis=1)
    test_starts = _starts([split.test for split in splits])
    return Predictions(test_starts, np.repeat(constants, np.diff(test_starts)))


def _predict_classes(splits: Sequence[Split], shares: Floats) -> Predictions:
    """Answer the class of the largest share, and the shares as probabilities."""
    starts = _starts([split.test for split in splits])
    sizes = np.diff(starts)
    return Predictions(starts, np.repeat(shares.argmax(axis=1), sizes), None, np.repeat(shares, sizes, axis=0))


def _draw_classes(splits: Sequence[Split], shares: Floats) -> Predictions:
    """Draw a class by its share for each held-out row, with the random numbers of scikit-learn's dummy."""
    random, draws = np.random.RandomState(), []  # making one for each split would take longer than all else
    for split, of_split in zip(splits, shares, strict=True):
        random.seed(split.seed)
        draws.append(random.multinomial(1, of_split, size=split.test.size))
    proba = np.concatenate(draws).astype(np.float64)
    return Predictions(_starts([split.test for split in splits]), proba.argmax(axis=1), None, proba)


def _join(rows: Iterable[Ints]) -> Ints:
    """Put the rows of splits one after the other."""
    return np.concatenate(list(rows))


def _starts(rows: Sequence[Ints]) -> Ints:
    """Where the rows of each split then begin, and the end of the last."""
    return np.cumsum([0, *(of_split.size for of_split in rows)])


# What needs a model


@contextmanager
def _without_checks() -> Iterator[None]:
    """Fit and score models without scikit-learn's checks of parameters and its warnings."""
    with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        yield


def _score_model(
    context: Context, split: Split, strategy: str, scorers: Mapping[str, Scorer], truth: NDArray[Any]
) -> dict[str, float]:
    """Scores of a model that guesses on one split; ``nan`` where the model or the score fails."""
    model, X = _fit_guess(context, split, strategy) if scorers else (None, None)
    answers, scores = Answers(model, X), dict.fromkeys(scorers, math.nan)
    for name, scorer in scorers.items() if model is not None else ():
        try:
            scores.update(score_model(answers, X, truth[split.test], {name: scorer}, context.classes))
        except Exception:  # scorers of one's own may ask a model for anything
            continue
    return scores


def _fit_guess(context: Context, split: Split, strategy: str) -> tuple[Any, Any]:
    """A model that guesses, and the held-out rows without any feature; None where the model fails."""
    y, held_out = context.y[split.train], np.zeros((split.test.size, 1))
    if strategy == COVARIATES:
        try:
            return predicting_model(context, split, Selection.subset([])) or (None, None)
        except Exception:  # as where a candidate's model fails: there is no score
            return None, None
    if context.classes is None:
        model = DummyRegressor(strategy=strategy)
    elif strategy.startswith(ALWAYS):
        labels = {f"{ALWAYS}{label}": label for label in context.classes}
        model, y = DummyClassifier(strategy="constant", constant=np.array([labels[strategy]])), context.classes
    else:
        model = DummyClassifier(strategy=strategy, random_state=split.seed)
    return model.fit(np.zeros((y.size, 1)), y), held_out


AT_HAND = 1_000_000
"""Up to so many rows of all splits together, splits are kept in memory instead of being made again."""


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
    >>> study = hf.Study(selectors={"svm": LinearSVC(C=-1)}, perturbation=hf.Bootstrap(5))
    >>> try:
    ...     study.run(np.eye(8), [0, 1] * 4, on_error="raise")
    ... except hf.StudyError as error:
    ...     print(str(error).split(":")[0])
    svm failed on split 0 (select)
    """


class StudyRun:
    """A study on its data, while it runs."""

    def __init__(
        self,
        study: "Study",
        data: StudyData,
        keep_predictions: bool,
        only: Collection[str] | None = None,
        record: DataRecord | None = None,
    ) -> None:
        self.study, self.data, self.keep_predictions, self.only = study, data, keep_predictions, only
        self.record = record
        self.families = study.families
        for name in only or ():
            if not any(name in family.names for family in self.families):
                raise ValueError(f"Expected candidates of the study in only=, got {name!r}.")
        self.scoring = named_scoring(study.scoring, data.task)
        self.scorers = scorers_of(self.scoring)
        check_scored(study.scoring, self.families, study.estimator)
        self.samples = data.samples
        self.perturbation = as_perturbation(study.perturbation).bind(data.X, data.y, data.groups, study.random_state)
        self.perturbation.check(self.samples)
        fitted = [family for family in self.families if only is None or set(only) & set(family.names)]
        check_requirements(data, fitted, study.estimator)
        self._shared: dict[int, Any] = {}
        self._made: dict[int, Split] = {}

    # What is written down

    def plan(self) -> dict[str, Any]:
        """What results depend on."""
        study, data = self.study, self.data
        return {
            "data": fingerprint(data.X, data.y, data.groups, data.covariates, data.names),
            "perturbation": describe(self.perturbation.identity()),
            "random_state": int(study.random_state),
            "estimator": describe(study.estimator),
            "model_fits": self.model_fits(),
            "device": study.device,
            "scoring": describe(self.scoring),
            "keep": [str(name) for name in study.keep],
            "task": data.task,
            "keep_predictions": self.keep_predictions,
        }

    def model_fits(self) -> ModelFits:
        """By whom the models are fitted: scikit-learn, or kernels that are identical to it or find the optimum."""
        context = self.context(self.perturbation, set())
        return "scikit-learn" if context.block_model is None else context.block_model.exactness

    def about(self, command: Mapping[str, Any] | None) -> dict[str, Any]:
        """What a reader of the results needs to know."""
        data = self.data
        return {
            "design": self.perturbation.design,
            "declared": self.declared(),
            "names": data.names if data.named else None,
            "n_features": len(data.names),
            "classes": None if data.classes is None else [describe(label) for label in data.classes.tolist()],
            "target": data.target.tolist(),
            "data_record": to_plain(self.record),
            "no_effects": why_no_effects(data.X),
            "prefilter": self.study.prefilter,
            "command": None if command is None else dict(command),
        }

    def declared(self) -> dict[str, Any]:
        """What perturbation, selectors and scores say of themselves: a report needs no more than the store."""
        return {
            "perturbation": self.perturbation.about.to_dict(),
            "selectors": {family.name: SELECTORS.describe(family.selector).to_dict() for family in self.families},
            "scores": {name: describe_score(name, scoring).to_dict() for name, scoring in self.scoring.items()},
        }

    # How many resamples

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
        needed = StudyResult(read_stored(store)).pilot_runs
        if needed > until.cap:
            warnings.warn(
                f"The pilot asks for {needed} runs for ±{until.half_width:g}, more than cap={until.cap}; intervals "
                "will be wider.",
                UserWarning,
                stacklevel=4,
            )
        yield extend(self.perturbation.grown(max(until.pilot, min(needed, until.cap))), store)

    def splits(self, perturbation: Perturbation) -> Iterator[Any]:
        """All splits, in order; those of small data are kept at hand."""
        seed, n_splits = int(self.study.random_state), perturbation.get_n_splits()
        at_hand = len(self.data.y) * n_splits <= AT_HAND
        for index in range(n_splits):
            split = self._made.get(index) or perturbation.make_split(index, self.samples, seed)
            if at_hand:
                self._made[index] = split
            yield split

    # The work

    def context(self, perturbation: Perturbation, needed: set[int]) -> Context:
        """What every process needs; what splits share is computed for families that have work to do."""
        data, study = self.data, self.study
        with one_thread():
            for place in needed - set(self._shared):
                self._shared[place] = self.families[place].prepare(data.X, data.y, self.samples.groups)
        return Context(
            X=data.X, covariates=data.covariates, y=data.y, names=data.names, samples=self.samples,
            classes=data.classes, families=self.families, shared=dict(self._shared),
            perturbation=perturbation, seed=int(study.random_state), estimator=study.estimator,
            fast_models=study.fast_models, device=study.device, made=self._made, scorers=self.scorers,
            keep_predictions=self.keep_predictions,
        )  # fmt: skip

    def fit_missing(
        self,
        store: Store,
        perturbation: Perturbation,
        n_jobs: int | None,
        time_limit: float | None,
        report: Report,
        on_error: str,
    ) -> None:
        """Fit what is missing, and store outcomes as they come."""
        queue = Queue(store, self.families, perturbation.get_n_splits(), time_limit is not None, self.only)
        report(queue.progress)
        context = self.context(perturbation, queue.needed)
        guesses = Guesses(store, context)
        restore_effects(store, context)
        if not queue.needed:
            return
        results = engines.stream(context, queue.tasks, n_jobs, time_limit)
        try:
            for task, finished in results:
                scored = {outcome.split for outcome in finished.outcomes if outcome.scores}
                queue.record(task, finished, guesses.score_new(scored))
                report(queue.progress)
                if on_error == "raise":
                    _raise_first(self.families, perturbation, finished.outcomes)
        finally:
            results.close()

    def write_quantiles(self, store: Store) -> None:
        """Store quantiles by class of the features that were selected most often."""
        context = self.context(self.perturbation, set())
        counts = count_features(store.lists_of_features(), len(self.data.names))
        store.replace_quantiles(quantile_rows(context, counts))


def restore_effects(store: Store, context: Context) -> None:
    """Compute effects anew that were lost, from the selections in the store."""
    lost = store.splits_without_effects() if context.effect_table is not None else []
    stored = read_stored(store, own=True) if lost else None
    for family in dict.fromkeys(family for family, _ in lost):
        assert stored is not None
        splits = sorted({split for name, split in lost if name == family})
        selected = stored.selected_features(family, splits)
        made = [context.split(split) for split in splits]
        store.add_effects(compute_effects(context, family, made, [selected[split] for split in splits]))


def extend(perturbation: Perturbation, store: Store) -> Perturbation:
    """Give a perturbation at least as many splits as the store has: a study never shrinks."""
    stored = store.n_splits
    if perturbation.grows is None or perturbation.get_n_splits() >= stored:
        return perturbation
    unit = perturbation.get_n_splits() // getattr(perturbation, perturbation.grows)
    return perturbation.grown(-(-stored // unit))


def _raise_first(families: Sequence[Family], perturbation: Perturbation, outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.failure is not None:
            name, failure = families[outcome.family].names[outcome.candidate], outcome.failure
            raise StudyError(
                f"{name} failed on split {outcome.split} ({failure.stage}): {failure.error}. What was finished is "
                f"stored; on_error='record' goes on after failures.\n\n{failure.traceback}"
            )
