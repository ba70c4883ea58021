"""A study on its data, while it runs: what is written down, how many resamples, and the fits that are missing."""

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.io.record import DataRecord
from holdfast.resampling import Perturbation, Split, as_perturbation
from holdfast.selectors.catalog import SELECTORS
from holdfast.serialization import to_plain
from holdfast.study import engines
from holdfast.study.data import StudyData
from holdfast.study.effects import compute_effects, count_features, quantile_rows, why_no_effects
from holdfast.study.families import Family
from holdfast.study.guessing import Guesses
from holdfast.study.plan import describe, fingerprint
from holdfast.study.precision import TargetPrecision
from holdfast.study.progress import Report
from holdfast.study.queue import Queue
from holdfast.study.requirements import check_requirements, check_scored
from holdfast.study.result import StudyResult
from holdfast.study.scoring import describe_score, named_scoring, scorers_of
from holdfast.study.store import Store
from holdfast.study.stored import read_stored
from holdfast.study.work import Context, ModelFits, Outcome, one_thread

if TYPE_CHECKING:
    from holdfast.study.study import Study

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
