"""Whether a new study would select the same features: halvings of one candidate, and what they say."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.inference.intervals import check_level
from holdfast.measures import Measure, find_measure
from holdfast.replication.agreements import FEWEST_PAIRS
from holdfast.replication.cautions import (
    warn_of_classes,
    warn_of_copies,
    warn_of_cut,
    warn_of_dependent_rows,
    warn_of_failures,
    warn_of_groups,
    warn_of_jackknife,
    warn_of_size,
)
from holdfast.replication.control import N_HALVINGS, N_ORDERS, shuffled_agreement, warn_of_preference
from holdfast.replication.estimating import estimate_replicability
from holdfast.replication.kept import find_kept, find_known, format_answer, has_halvings, keep_replicability
from holdfast.replication.reading import complete_pairs, read_runs
from holdfast.replication.result import Replicability
from holdfast.replication.thorough import jackknife_halves, splits_without_groups
from holdfast.resampling import Halvings
from holdfast.resampling.halvings import ALL_ROWS
from holdfast.resampling.perturbation import check_count
from holdfast.study import Study, StudyError, StudyResult, UnansweredError
from holdfast.study.data import GivenData, StudyData, prepare_data, take_data
from holdfast.study.progress import Report
from holdfast.tradeoff.refit import study_of_candidate
from holdfast.tradeoff.reported import default_candidate, features_that_count


def replicability(
    what: Any,
    X: Any,
    y: Any = None,
    *,
    candidate: str | None = None,
    n_halvings: int = 100,
    groups: Any = None,
    level: float = 0.95,
    top: int | None = None,
    measures: str | Measure | Sequence[str | Measure] = (),
    random_state: int | None = None,
    control: bool = True,
    thorough: bool = False,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    progress: bool | Report = False,
) -> Replicability:
    """Estimate how many of the selected features a new study would select too.

    That is another question than how stable a selection is when *this* data set is resampled: resamples share rows, new
    studies do not. Here the selector is fitted to all rows, and to both halves of many random halvings, which share no
    row: their agreement tells without bias how far two studies of half the size would agree; the agreement with a study
    of this size is extrapolated from it. The intervals are over data sets.

    Parameters
    ----------
    what : selector or Study
        A selector or :class:`Candidates`, as for :class:`Study`; or a study. One candidate is taken.
    X, y : array, frame or Table
        The data, as for :meth:`Study.run`.
    candidate : str, optional
        Name of the candidate; not needed if there is only one.
    n_halvings : int
        Number of halvings, at least 10; each is two fits. 50 are usually enough, 25 the least for intervals.
    groups : array, optional
        Rows of one group, such as several samples of one patient, stay together. Without groups equal rows do.
    level : float
        Level of the intervals.
    top : int, optional
        How many of the best features count, for selectors that give rankings or weights; by default as many as a report
        would take, which a caution tells.
    measures : str, Measure or sequence of them
        Other measures of which the value at half the size is wanted, such as ``"yu"``, which counts near-copies as the
        same, or ``"spearman"``. They get no interval and no extrapolation: neither has been validated.
    random_state : int, optional
        Seed; that of the study, or 0, by default.
    control : bool
        Halve the rows also after the target was shuffled (45 fits more), to tell a selector that prefers certain
        features whatever the target is.
    thorough : bool
        Repeat halvings without each of ten groups of rows: up to 1,200 fits more, for a wider interval at half the size
        where blocks of near-copies make it too narrow.
    n_jobs : int, optional
        Processes to use, -1 for all cores.
    time_limit : float, optional
        Seconds after which a fit is ended.
    progress : bool or callable
        Draw progress on stderr, or hand it to a function.

    Returns
    -------
    Replicability
        The expected number of features with its interval, agreements, a probability for each feature, cautions.

    Raises
    ------
    ValueError
        If the study has no such candidate, or several and none is named.

    See Also
    --------
    holdfast.Study : Its stability says how a selection varies when this data set is resampled.
    holdfast.resampling.Halvings : The same fits as a design of a study, for several candidates at once.

    Notes
    -----
    The frequency with which halves select the features that were selected *here* overstates how often new studies
    would: they were selected because they did well in these data (the winner's curse). The probabilities returned here
    are shrunken to the agreement of independent halves.

    Examples
    --------
    >>> import holdfast as hf
    >>> X, y = hf.datasets.load("breast_cancer")
    >>> print(hf.replicability(hf.selectors.AnovaF(5), X, y).sentence)
    A new study of this size would be expected to select 5 of your 5 features (3 to 5).
    """
    check_count("n_halvings", n_halvings, FEWEST_PAIRS)
    check_level(level)
    if top is not None:
        check_count("top", top, 1)
    asked = [find_measure(measure) for measure in ([measures] if isinstance(measures, (str, Measure)) else measures)]
    if isinstance(what, StudyResult):
        candidate = candidate or default_candidate(what)
        top = features_that_count(what, candidate) if top is None else top
    plan = _plan_halvings(_find_study(what), candidate, Halvings(n_halvings), random_state, asked)
    running: dict[str, Any] = {"n_jobs": n_jobs, "time_limit": time_limit}
    result = plan.run(X, y, groups=groups, progress=progress, **running)
    cut = None if top is not None else features_that_count(result, result.candidates[0])
    top = cut or top
    given, plan = take_data(X, y, groups), replace(plan, task=result.plan["task"])
    data = prepare_data(given.X, given.y, given.groups, plan.keep, plan.task, None)
    jackknife = _leave_groups_out(plan, given, data, top, progress=progress, **running) if thorough else 0.0
    found = study_replicability(result, level=level, top=top, X=data.X, measures=asked, jackknife=jackknife)
    found = replace(found, cautions=(*warn_of_cut(result, cut), *warn_of_dependent_rows(data), *found.cautions))
    if control:
        shuffled = shuffled_agreement(plan, given, top, **running)
        cautions = (*found.cautions, *warn_of_preference(shuffled, found.half_agreement))
        found = replace(found, shuffled_agreement=shuffled, cautions=cautions)
    if isinstance(what, StudyResult) and what.path is not None and what.plan["data"] == result.plan["data"]:
        keep_replicability(what.path, found)
    return found


def _plan_halvings(
    study: Study, candidate: str | None, halvings: Halvings, seed: int | None, measures: Sequence[Measure]
) -> Study:
    """The study of one candidate on halves; without a model, unless covariates need one."""
    names = [name for family in study.families for name in family.names]
    plan = study_of_candidate(study, _only_candidate(names, candidate), halvings)
    if seed is not None:
        plan = replace(plan, random_state=seed)
    if not plan.keep:
        plan = replace(plan, estimator=None, scoring=None)
    if any(measure.kind != "subset" for measure in measures):
        plan = replace(plan, selectors={part.name: replace(part.candidates, keep="weights") for part in plan.families})
    return plan


def _leave_groups_out(plan: Study, given: GivenData, data: StudyData, top: int | None, **running: Any) -> float:
    """Variance over data sets of the mean agreement, by the same halvings without each of some groups of rows."""
    seed = int(plan.random_state)
    bound = plan.perturbation.bind(data.X, data.y, data.groups, seed)
    without_groups = replace(plan, perturbation=splits_without_groups(bound, data.samples, seed))
    again = without_groups.run(given.X, given.y, groups=given.groups, **running)
    halves = read_runs(again, again.candidates[0], top, measured=True)
    return jackknife_halves(halves, again.split_numbers(halves), again.n_splits)


def _find_study(what: Any) -> Study:
    """The study of a selector, of itself, or behind what was found."""
    if not isinstance(what, StudyResult):
        return what if isinstance(what, Study) else Study(selectors=[what])
    if what.study is None:
        raise ValueError(
            "Expected results together with their study, got results that were read from a store, which holds neither "
            "data nor selectors; make the same hf.Study again, and pass it or what its run() returns."
        )
    return what.study


def count_fits(n_halvings: int) -> int:
    """Return how many fits :func:`replicability` makes, with its control."""
    return 1 + 2 * n_halvings + N_ORDERS * (1 + 2 * N_HALVINGS)


def replicate_reported(result: StudyResult, data: Any, *, n_halvings: int = 50, **options: Any) -> str:
    """Estimate the replicability of the candidate that a report shows, unless it is known already.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    data : Table
        The data.
    n_halvings : int
        Number of halvings.
    **options
        Of :func:`replicability`.

    Returns
    -------
    str
        The answer in a line, with the candidate's name if there are others; or why there is none.
    """
    candidate = default_candidate(result)
    known = find_known(result, candidate)
    if known is None:
        try:
            known = replicability(result, data, candidate=candidate, n_halvings=n_halvings, **options)
        except (ValueError, StudyError) as error:
            return format_answer(result, candidate, str(error).partition("\n")[0].removesuffix("."))
    return format_answer(result, candidate, known)


def _only_candidate(names: list[str], candidate: str | None) -> str:
    if candidate is None and len(names) > 1:
        raise ValueError(f"Expected candidate=, one of the study's {len(names)} ({', '.join(names[:20])}), got none.")
    return candidate or names[0]


def study_replicability(
    result: StudyResult,
    candidate: str | None = None,
    *,
    level: float = 0.95,
    top: int | None = None,
    X: Any = None,
    measures: Sequence[str | Measure] = (),
    jackknife: float = 0.0,
) -> Replicability:
    """Estimate how many of a candidate's features a new study would select too, from a study with Halvings.

    Of another study, what was kept in its store is returned, if something was (:func:`keep_replicability`).

    Parameters
    ----------
    result : StudyResult
        Of a study with :class:`~holdfast.resampling.Halvings`, or of one whose store says more.
    candidate : str, optional
        Name of a candidate; not needed if there is only one.
    level : float
        Level of the intervals.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.
    X : matrix, optional
        The features, to look for near-copies among those selected, and for measures that need them.
    measures : sequence of str or Measure
        As for :func:`replicability`.
    jackknife : float
        As for :func:`estimate_replicability`.

    Returns
    -------
    Replicability
        As of :func:`replicability`.

    Raises
    ------
    ValueError
        If the study has another design, or the candidate gives rankings or weights and ``top`` is missing.
    """
    if not has_halvings(result):
        kept = find_kept(result, _only_candidate(result.candidates, candidate))
        if kept is not None:
            return kept.at_level(level)
        raise ValueError(
            "Expected a study with hf.resampling.Halvings, which fits all rows and halves that share no row, got one "
            f"with {result.perturbation.get('perturbation')}; hf.replicability(study, X, y) runs what is missing."
        )
    candidate = _only_candidate(result.candidates, candidate)
    _check_fits(result, candidate)
    whole, halves = (read_runs(result, candidate, top, measured) for measured in (False, True))
    selected, pairs = whole.lists()[0], complete_pairs(result, halves)
    n_rows = int(result.split_table["n_rows"].max())
    cautions = [
        *warn_of_failures(result, candidate, pairs.n_runs // 2),
        *warn_of_classes(result),
        *warn_of_groups(result),
        *warn_of_size(selected.size, whole.n_features),
        *warn_of_copies(X, selected),
        *warn_of_jackknife(jackknife),
    ]
    others, unanswered = _measure_halves(result, candidate, measures, top, X)
    cautions += unanswered
    jackknife = float(np.nan_to_num(jackknife))
    found = estimate_replicability(pairs, selected, n_rows, level=level, cautions=cautions, jackknife=jackknife)
    return replace(found, candidate=candidate, other_measures=others)


def _check_fits(result: StudyResult, candidate: str) -> None:
    """Raise if the fit to all rows failed, or half of those to halves: with fewer, some halving is complete."""
    failures = result.failures[result.failures["candidate"] == candidate]
    of_all_rows = failures["run"] == ALL_ROWS
    for what, failed, most in (("all rows", of_all_rows, 0), ("halves", ~of_all_rows, result.n_splits // 2 - 1)):
        if failed.sum() > most:
            error = failures[failed]["error"].value_counts().index[0]
            raise ValueError(f"{candidate} could not be fitted to {what}: {error}")


def _measure_halves(
    result: StudyResult, candidate: str, measures: Sequence[str | Measure], top: int | None, X: Any
) -> tuple[dict[str, float], list[str]]:
    """The mean agreement of the two halves by other measures, and why some have none; rankings are of all features."""
    found, unanswered = dict[str, float](), list[str]()
    for measure in map(find_measure, measures):
        cut = top if measure.kind == "subset" else None
        needed = X if measure.similarity else None
        try:
            found[measure.label] = result.stability(candidate, measure, top=cut, X=needed).value
        except UnansweredError as error:
            unanswered.append(f"Agreement by {measure.label} is not known: {error.plain}.")
    return found, unanswered
