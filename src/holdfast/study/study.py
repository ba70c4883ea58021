"""A study: selectors on resamples of a data set, scored on held-out rows, and stored."""

import logging
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from holdfast.declared import renamed
from holdfast.io.record import DataRecord
from holdfast.io.table import Table, read_feature_groups, read_table
from holdfast.kernels.jit import report_compilation
from holdfast.kernels.libraries import check_device
from holdfast.resampling import Bootstrap, as_perturbation
from holdfast.selection import GroupWeight
from holdfast.study import engines
from holdfast.study.data import (
    Adjust,
    StudyData,
    prepare_for,
    record_data,
    take_data,
)
from holdfast.study.families import Candidates, Family, name_selectors
from holdfast.study.matching import verify_study
from holdfast.study.memory import peak_bytes
from holdfast.study.plan import versions
from holdfast.study.requirements import check_estimator
from holdfast.study.running import Line, Report, StudyRun, TargetPrecision, make_reporter, report_interruption
from holdfast.study.store import estimate_bytes, open_to_write, read_plan, repair
from holdfast.study.tables import StudyTables, make_result
from holdfast.study.work import FastModels, Task, quantile_rows, run_block
from holdfast.targets import TASKS, TaskName
from holdfast.text import join_first, join_words

if TYPE_CHECKING:
    from holdfast.result import StudyResult

log = logging.getLogger(__name__)


@renamed(keep="covariates")
@dataclass(frozen=True, kw_only=True)
class Study:
    """Feature selectors to compare by stability and accuracy on resamples of a data set.

    Every selector is fitted on the same splits, so that they can be compared split by split. Scaling, and whatever
    else a pipeline learns, is learned inside the split.

    Parameters
    ----------
    selectors : mapping from name to estimator or Candidates, list of them, or a single one
        Any scikit-learn estimator or Pipeline that has a support, ranking, coefficients or importances after fitting;
        :class:`Candidates` adds a grid of settings or several sizes. Without names, they are named after their classes.
    perturbation : Perturbation or scikit-learn splitter
        How the data are perturbed; 100 bootstrap samples by default.
    estimator : estimator, optional
        Trained on the selected features and scored on held-out rows. Without it the selector's own model is scored, if
        it has one.
    scoring : str, callable, or list or mapping of them, optional
        Names as ``sklearn.metrics.get_scorer_names()`` lists them; accuracy or r2 by default.
    covariates : sequence of str
        Columns (age, sex, batch) that are in every model of ``estimator``, and not to be chosen.
    feature_groups : mapping, Series, sequence or path, optional
        Columns that form one feature, such as the 0/1 columns of a category, the genes of a pathway or the probes of a
        gene: the columns of each group, the group of each column (by order, or in a Series by name), or a table with
        two columns, column and group. A group is selected if one of its columns is, and counted once; a size counts
        groups, and the model gets all columns of a group. ``result.members()`` has the columns.
    group_weight : {"largest", "mean"}
        What a group weighs in an order of features: as much as its best column, or their mean.
    adjust : bool or "within", optional
        Whether the selection is adjusted for covariates and sites, inside each split: by default where there are any,
        unless the store holds a study without. ``"within"`` weighs features at each site and adds up what they weigh
        (filters only). Selectors that cannot be adjusted are refused before the first fit.
    task : {"classification", "regression"}, optional
        What is predicted; by default guessed from estimator and target.
    random_state : int
        Seed of all that is random. Selectors without a ``random_state`` get one from it.
    fast_models : bool or "identical"
        Whether models of scikit-learn that holdfast knows are fitted many at a time by its own kernels, much faster:
        those whose predictions are identical to scikit-learn's, and those fitted to the optimum where scikit-learn
        stops at a tolerance (:data:`holdfast.models.MODELS`). ``"identical"`` allows the former only, False none.
    device : {"cpu", "cuda", "torch"}
        Where models are fitted that can be fitted elsewhere: logistic regression of two classes, by torch on a GPU, or
        (to try it) by torch on the processor. Selectors have a ``device`` of their own.
    prefilter : str, optional
        What was done to the columns before, in words. Selecting outside the splits is not measured and makes scores
        look better than they are; it is reported with the results.

    See Also
    --------
    stability : Stability of selections that were made elsewhere.
    optimize : Search the settings of one selector.
    load_study : Read a study from its store.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> study = hf.Study(
    ...     {"anova": SelectKBest(k=5)},
    ...     hf.Bootstrap(20),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = study.run(X, y)
    >>> result.stability("anova")
    nogueira = 0.905 [0.689, 0.965] (95% CI, 20 runs)
    """

    selectors: Any = field(kw_only=False)
    perturbation: Any = field(default_factory=Bootstrap, kw_only=False)
    estimator: Any = None
    scoring: Any = None
    covariates: Sequence[str] = ()
    feature_groups: Any = None
    group_weight: GroupWeight = "largest"
    adjust: Adjust | None = None
    task: TaskName | None = None
    random_state: int = 0
    fast_models: FastModels = True
    device: Literal["cpu", "cuda", "torch"] = "cpu"
    prefilter: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "selectors", name_selectors(self.selectors))
        if not self.selectors:
            raise ValueError(
                "Expected at least one selector: a mapping from name to estimator, a list, or a single one; got "
                f"{self.selectors!r}."
            )
        seed = self.random_state
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise ValueError(
                f"Expected a whole number of at least 0 as random_state, so that a study can be repeated, got {seed!r}."
            )
        if self.task is not None and self.task not in TASKS:
            raise ValueError(f"Expected task {join_words([repr(task) for task in TASKS], ' or ')}, got {self.task!r}.")
        if self.fast_models not in (True, "identical", False):
            raise ValueError(f"Expected fast_models True, 'identical' or False, got {self.fast_models!r}.")
        if self.device not in ("cpu", "cuda", "torch"):
            raise ValueError(f"Expected device='cpu', 'cuda' or 'torch', got {self.device!r}.")
        if self.group_weight not in get_args(GroupWeight):
            raise ValueError(f"Expected group_weight 'largest' or 'mean', got {self.group_weight!r}.")
        if isinstance(self.feature_groups, (str, Path)):
            object.__setattr__(self, "feature_groups", read_feature_groups(self.feature_groups))
        if isinstance(self.covariates, str):
            raise ValueError(f"Expected a list of columns as covariates=, got {self.covariates!r}.")
        if self.covariates and self.estimator is None:
            raise ValueError(
                f"Expected an estimator for covariates={list(self.covariates)!r}: they join the selected features in "
                "its models; give estimator=."
            )
        names = [name for family in self.families for name in family.names]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"Expected candidates of different names, got {twice!r} twice; change the grid.")
        as_perturbation(self.perturbation)
        check_estimator(self.estimator)

    @property
    def families(self) -> list[Family]:
        """The selectors, each with its candidates."""
        return [
            Family(name, selector if isinstance(selector, Candidates) else Candidates(selector))
            for name, selector in self.selectors.items()
        ]

    def run(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        sites: Any = None,
        sample_weight: Any = None,
        target: str | None = None,
        layer: str | None = None,
        store: str | Path | None = None,
        n_jobs: int | None = None,
        progress: bool | Report = False,
        on_error: Literal["record", "raise"] = "record",
        time_limit: float | None = None,
        until: TargetPrecision | None = None,
        keep_predictions: bool = True,
        retry_failures: bool = False,
        only: Collection[str] | None = None,
        treat_as_feature: Iterable[str] | bool = (),
        command: Mapping[str, Any] | None = None,
        unsuitable: Literal["raise", "record"] = "raise",
    ) -> "StudyResult":
        """Fit every candidate on every resample, or what is missing of that in the store.

        Parameters
        ----------
        X : frame, array, sparse matrix, Table or AnnData
            Samples × features. The columns are the universe that stability is measured in. A table of
            :func:`holdfast.read_table` brings target, groups and the record of what was done to it.
        y : array
            The target: classes or numbers; left out for a table.
        groups : array, optional
            Rows of one group, such as several samples of one patient, are never divided between training and held-out.
            With ``target``, the name of their column.
        sites : array, optional
            Where rows come from: batches, centers, cohorts, donors. Groups of rows lie within sites. The selection is
            adjusted for them, unless ``adjust=False``. With ``target``, the name of their column.
        sample_weight : array, optional
            What each row weighs, numbers above 0: in selectors, models and scores, multiplied by how often a resample
            takes the row. A selector, model or score that takes no weights is refused. With ``target``, the name of a
            column.
        target : str, optional
            Column of a frame, or of the ``obs`` of AnnData, that is the target: X is read as
            :func:`holdfast.read_table` reads it.
        layer : str, optional
            Layer of AnnData to read instead of its ``X``, or modality of MuData.
        store : path, optional
            File to keep everything in; ``~`` is expanded. If it holds this study already, only what is missing is run:
            after a crash, or to add resamples or selectors. None keeps the study in memory.
        n_jobs : int, optional
            Processes to use, -1 for all cores. Inside ``joblib.parallel_config(backend="dask")`` the cluster is used.
        progress : bool or callable
            Draw progress on stderr, or hand it to a function.
        on_error : {"record", "raise"}
            Record fits that fail, with their tracebacks, and go on; or stop at the first one.
        time_limit : float, optional
            Seconds for one fit and its score; a fit that takes longer is ended and recorded.
        until : TargetPrecision, optional
            Choose the number of resamples by a pilot.
        keep_predictions : bool
            Keep the prediction for every held-out row.
        retry_failures : bool
            Try what failed in an earlier session again.
        only : collection of str, optional
            Candidates to fit now; others stay as they are in the store. All by default.
        treat_as_feature : iterable of str, or True
            Columns that are features though they look like an identifier, a batch or the target; True for all columns,
            which are then not searched for such.
        command : mapping, optional
            The command that started the study, stored so that the study can be resumed.
        unsuitable : {"raise", "record"}
            Refuse selectors that do not suit the classes or numbers in ``y`` before any fit, or, if there are others,
            record their fits as failures.

        Returns
        -------
        StudyResult
            Preferences, scores and failures of all candidates, and what can be concluded from them.

        Raises
        ------
        ValueError
            If an option or the data do not fit the study.
        StudyError
            If a fit fails and ``on_error="raise"``.
        """
        if isinstance(X, Table) and X.feature_groups is not None and self.feature_groups is None:
            arguments = {name: value for name, value in locals().items() if name not in ("self", "X")}
            return replace(self, feature_groups=X.feature_groups).run(X, **arguments)
        if self.adjust is None and (self.covariates or sites is not None or getattr(X, "sites", None) is not None):
            arguments = {name: value for name, value in locals().items() if name != "self"}
            stored = read_plan(store) if store is not None and Path(store).expanduser().exists() else None
            adjust = stored is None or stored.plan.get("adjust", False)
            return replace(self, adjust=adjust).run(**arguments)
        if on_error not in ("record", "raise"):
            raise ValueError(f"Expected on_error 'record' or 'raise', got {on_error!r}.")
        if time_limit is not None and not (isinstance(time_limit, (int, float)) and time_limit > 0):
            raise ValueError(f"Expected a time limit above 0 seconds, got {time_limit!r}.")
        if n_jobs is not None and (not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0):
            raise ValueError(f"Expected n_jobs to be a whole number other than 0, got {n_jobs!r}.")
        if until is not None and not isinstance(until, TargetPrecision):
            raise ValueError(f"Expected until=hf.TargetPrecision(…), got {until!r}.")
        engines.check_backend(n_jobs, time_limit)
        if self.device != "cpu":
            check_device(self.device)
        if target is not None:
            if y is not None:
                raise ValueError(f"Expected y or target={target!r}, got both; give one of them.")
            X = read_table(X, target, groups=groups, sites=sites, weights=sample_weight, sheet=layer)
            groups = sites = sample_weight = None
        data, record = self._read_data(X, y, groups, treat_as_feature, sample_weight, sites)
        run = StudyRun(self, data, keep_predictions, only, record, unsuitable)
        with open_to_write(store) as opened, report_interruption(opened):
            about = run.about(command)
            opened.begin(run.plan(), about, run.families)
            if repair(opened):
                run.write_splits(opened)
            opened.add_code(about.get("code", ()))
            if retry_failures:
                opened.forget_failures(run.candidates)
            session, report = opened.begin_session(n_jobs, versions()), make_reporter(progress)
            with report_compilation(report.write_above if isinstance(report, Line) else log.info):
                for perturbation in run.stages(opened, until):
                    run.write_splits(opened, perturbation)
                    run.fit_missing(opened, n_jobs, time_limit, report, on_error)
            opened.replace_quantiles(quantile_rows(data, opened.lists_of_features()))
            opened.end_session(session)
            result = make_result(opened, self)
        _warn_of_failures(result)
        return result

    def _read_data(
        self,
        X: Any,
        y: Any,
        groups: Any,
        treat_as_feature: Iterable[str] | bool = True,
        sample_weight: Any = None,
        sites: Any = None,
    ) -> tuple[StudyData, DataRecord]:
        """The data as fits take them, and the record of them."""
        source = take_data(X, y, groups, sample_weight, sites)
        task = self.task or (None if source.table is None else source.table.task)
        data = prepare_for(
            self, source.X, source.y, source.groups, task, sample_weight=source.sample_weight, sites=source.sites
        )
        return data, record_data(data, source, treat_as_feature)

    verify = verify_study

    def cost(self, X: Any, y: Any = None, *, groups: Any = None) -> dict[str, Any]:
        """Estimate time, disk space and memory of a study from two fits of each candidate and a block of them.

        Parameters
        ----------
        X, y, groups : array, or X a Table
            The data, as for :meth:`run`.

        Returns
        -------
        dict
            Number of ``candidates``, ``splits`` and ``fits``, and about how many ``seconds`` on one core and ``bytes``
            on disk they take. ``memory`` is the most that one process will hold, in bytes, with the interpreter, the
            data and whatever else the process of this call has held; ``nan`` on Windows. ``failures`` are the errors of
            candidates that could not be fitted, by their names.
        """
        run = StudyRun(self, self._read_data(X, y, groups)[0], True)
        run.prepare(range(len(run.families)))
        splits, seconds = run.perturbation.get_n_splits(), 0.0
        for split in range(min(2, splits)):  # the first may wait for kernels to be compiled
            blocks = [
                run_block(run.work, Task(number, (split,), tuple(range(len(family.settings)))))
                for number, family in enumerate(run.families)
            ]
        outcomes = [outcome for block in blocks for outcome in block.outcomes]
        n_bytes = splits * estimate_bytes(blocks, [run.work.split(0)])
        for number, (family, block) in enumerate(zip(run.families, blocks, strict=True)):
            together = tuple(range(min(splits, family.block_size(len(family.settings), block.seconds))))
            whole = run_block(run.work, Task(number, together, tuple(range(len(family.settings)))))
            seconds += min(block.seconds, whole.seconds / len(together))  # what splits share counts once
        return {
            "candidates": len(outcomes),
            "splits": splits,
            "fits": len(outcomes) * splits,
            "seconds": seconds * splits,
            "bytes": n_bytes,
            "memory": peak_bytes() + 2.0 * n_bytes,  # results are read from the store, packed and as tables
            "failures": {
                run.families[outcome.family].names[outcome.candidate]: outcome.failure.error
                for outcome in outcomes
                if outcome.failure is not None
            },
        }


def _warn_of_failures(result: StudyTables) -> None:
    """Warn once of what failed."""
    if not result.stored.checks["failures"].rows:
        return
    failures = result.failures
    commonest = failures["error"].value_counts().index[0].removesuffix(".")
    names = list(failures["candidate"].unique())
    shown = join_first(names, 3)
    warnings.warn(
        f"{len(failures)} of {result.n_outcomes} fits failed, of {shown}; most often: {commonest}. "
        "The table .failures holds their tracebacks.",
        UserWarning,
        stacklevel=3,
    )
