"""Whether a new study would select the same features: repeated split-half of one candidate, and what it says."""

import math
import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any

import joblib
import numpy as np
import pandas as pd
import scipy.sparse as sp
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from scipy.special import ndtri

from holdfast.declared import renamed
from holdfast.inference.intervals import check_level
from holdfast.measures import Measure, find_measure
from holdfast.preferences import Preferences
from holdfast.replication.agreements import FEWEST_PAIRS, SplitHalfAgreements, pearson
from holdfast.replication.result import UNKNOWN, Replicability, ShuffledControl, estimate_replicability
from holdfast.resampling import Samples, SplitHalves
from holdfast.resampling.kinds import ALL_ROWS, find_copies
from holdfast.resampling.shuffles import TargetShuffles, tell_from_chance
from holdfast.resampling.split import ROWS, check_count, deal_into_folds, rng_of
from holdfast.selection import Selection
from holdfast.similarity import Correlation
from holdfast.study import Study, StudyError, UnansweredError
from holdfast.study.data import GivenData, StudyData, prepare_data, record_data, take_data
from holdfast.study.orders import Sets
from holdfast.study.running import Progress, Report, StudyRun, make_reporter
from holdfast.study.stabilities import CommonMeasure, features_that_count
from holdfast.study.store import open_to_write
from holdfast.study.tables import StudyTables
from holdfast.study.work import fitting
from holdfast.text import format_count, format_number, join_first
from holdfast.tradeoff.final import study_of_candidate
from holdfast.tradeoff.selected import default_candidate


def read_runs(result: StudyTables, candidate: str, top: int | None, measured: bool) -> Preferences:
    """What a candidate selected on halves (``measured``), or on all rows; of rankings and weights the best ``top``."""
    if result.kinds.get(candidate) == "subset":
        return result.runs_by_block(candidate, top=top, measured=measured).runs
    if top is None and candidate in result.kinds:
        raise ValueError(
            f"Expected top=, the number of best features that count as selected: {candidate} gives a "
            f"{result.kinds[candidate]}."
        )
    return CommonMeasure("", top).cut(result.runs_by_block(candidate, measured=measured)).runs


def complete_pairs(result: StudyTables, halves: Preferences) -> Preferences:
    """The halves of splits both of whose fits ended well, in order."""
    splits = result.split_numbers(halves)
    order = np.argsort(splits)
    blocks = result.split_table["block"].loc[splits[order].tolist()].to_numpy()
    numbers, counts = np.unique(blocks, return_counts=True)
    both = np.isin(blocks, numbers[counts == 2])
    return halves.take(order[both].tolist())


ALIKE = 0.7
"""Correlation from which features of a list count as near-copies."""
MAX_COMPARED = 2**23
"""Pairs of features that are compared at a time."""
FEWEST_OF_CLASS = 10
"""Rows of each class in a half, or groups of rows, below which halves say little."""


def warn_of_failures(result: StudyTables, candidate: str, n_complete: int) -> list[str]:
    """State how many splits were left out because fits failed."""
    failures = result.failures[result.failures["candidate"] == candidate]
    n_pairs = result.n_splits // 2
    if n_complete == n_pairs or failures.empty:
        return []
    error = failures["error"].value_counts().index[0]
    return [f"{n_pairs - n_complete} of {n_pairs} splits in half were left out, as fits failed; most often: {error}"]


def warn_of_cut(result: StudyTables, cut: int | None) -> list[str]:
    """State how many features count as selected where the user did not set it."""
    if cut is None:
        return []
    candidate = result.candidates[0]
    return [f"{candidate} gives a {result.kinds[candidate]} of all features: the best {cut} count as selected (top)."]


def warn_of_classes(result: StudyTables) -> list[str]:
    """Name the class of which a half has few rows, or state that it has few events."""
    events = result.data.events
    if events is not None and events // 2 < FEWEST_OF_CLASS:
        few = format_count(events // 2, "event")
        return [f"A half has only {few}: with fewer than {FEWEST_OF_CLASS}, halves say little."]
    return _warn_of_rarest([(label, count // 2) for label, count in result.data.classes], "row")


def _warn_of_rarest(counts: Sequence[tuple[Any, int]], noun: str) -> list[str]:
    label, count = min(counts, key=lambda item: item[1], default=("", FEWEST_OF_CLASS))
    if count >= FEWEST_OF_CLASS:
        return []
    few = format_count(count, noun)
    return [f"A half has only {few} of class {label}: with fewer than {FEWEST_OF_CLASS}, halves say little."]


def warn_of_dependent_rows(data: StudyData) -> list[str]:
    """State how many rows are copies of others; with groups, name the class of which there are few."""
    n = len(data.y)
    if data.groups is None:
        copies = find_copies(data.X)
        n_copies = 0 if copies is None else n - len(np.unique(copies))
        copied = "1 row is a copy of another" if n_copies == 1 else f"{n_copies:,} rows are copies of others"
        text = f"{copied}: equal rows stay in the same half, and this study has {n - n_copies:,} different ones."
        return [text] if n_copies else []
    if data.classes is None or len(np.unique(data.groups)) // 2 < FEWEST_OF_CLASS:  # warn_of_groups
        return []
    counts = [(label, len(np.unique(data.groups[data.y == label])) // 2) for label in data.classes]
    rarest = min(counts, key=lambda item: item[1])
    few_rows = (data.y == rarest[0]).sum() // 2 < FEWEST_OF_CLASS  # warn_of_classes
    return [] if few_rows else _warn_of_rarest([rarest], "group")


def warn_of_doubted(estimate: Replicability, doubted: Collection[str]) -> Replicability:
    """Return the estimate with a caution that names the selected features which may be none."""
    names = tuple(name for name in map(str, estimate.selected) if name in doubted)
    if not names:
        return estimate
    caution = f"In doubt as features, and not to be trusted until that is settled: {join_first(names, 6)}."
    return replace(estimate, doubted=names, cautions=(caution, *estimate.cautions))


def warn_of_groups(result: StudyTables) -> list[str]:
    """Rows of one group are not independent: halves are as small as their number of groups."""
    count = None if result.data.n_groups is None else result.data.n_groups // 2
    if count is None or count >= FEWEST_OF_CLASS:
        return []
    return [f"A half has the rows of only {count} groups: with fewer than {FEWEST_OF_CLASS}, halves say little."]


def warn_of_copies(X: Any, selected: NDArray[np.integer[Any]]) -> list[str]:
    """Whether the list swaps blocks of near-copies about as large as itself."""
    if X is None or selected.size < 2 or sp.issparse(X):
        return []
    try:
        similarity = Correlation(X)
    except (TypeError, ValueError):  # columns that are no numbers, or miss some
        return []
    everything = np.arange(similarity.n_features)
    parts = np.array_split(selected.astype(np.int64), math.ceil(selected.size * everything.size / MAX_COMPARED))
    # with few rows, more than chance gives among so many
    by_chance = math.tanh(float(ndtri(1 - 0.025 / everything.size)) / math.sqrt(max(len(X) - 3, 1)))
    alike = max(ALIKE, by_chance)
    largest = max(int((similarity.block(part, everything) >= alike).sum(axis=1).max()) for part in parts if part.size)
    if 2 * largest < selected.size or largest < 3:
        return []
    return [
        f"A selected feature has {largest - 1} near-copies (correlation of {alike:.2g} or more), and the list "
        f"{selected.size} features: a new study may select a copy instead, which counts as another feature here, and "
        "the intervals may be too narrow."
    ]


N_SHUFFLES, SHUFFLED_PAIRS = 40, 10
"""How many times the target is shuffled, and split in half with each."""
SAME_SIZE = 0.9
"""Halves of shuffled targets select at least this share of the number of features, or nothing is said."""
NOTEWORTHY = 0.1
"""Agreement with a shuffled target above which there is a caution, if it is at least half of that with the true one."""
MIN_SITES = 4
"""With fewer, halves of the sites say nothing of the spread of sites."""
SHUFFLE = 7
"""Stream of random numbers for the order of the target."""


def of_rows(given: GivenData) -> dict[str, Any]:
    """What is known of rows, as arguments of a run."""
    return {"groups": given.groups, "sites": given.sites, "sample_weight": given.sample_weight}


def run_control(
    plan: Study, given: GivenData, data: StudyData, halves: Preferences, top: int | None, n_shuffles: int,
    progress: bool | Report = False, n_jobs: int | None = None, time_limit: float | None = None,
) -> ShuffledControl:  # fmt: skip
    """Fit halves after the target was shuffled, again and again, and compare what they select with the true target.

    ``halves`` are those of the true target, in pairs. The shuffles are divided among processes; with a time limit the
    fits of each are, as only these can be ended.
    """
    groups = data.groups
    if groups is None:
        copies = find_copies(data.X)
        pairs = None if copies is None else pd.Series(zip(copies, data.y, strict=True))
        groups = None if pairs is None else pd.factorize(pairs)[0]
    alike: list[NDArray[Any]] = [] if data.sites is None else [pd.factorize(data.sites)[0]]
    alike += [] if data.covariates is None else [data.covariates]
    shuffles = TargetShuffles.plan(data.y, groups, np.column_stack(alike) if alike else None)
    if shuffles.reason:
        return ShuffledControl(n_shuffles=n_shuffles, n_pairs=SHUFFLED_PAIRS, reason=shuffles.reason)
    bound = SplitHalves(SHUFFLED_PAIRS).bind(data.X, data.y, data.groups, 0)
    by_limit = {"n_jobs": n_jobs, "time_limit": time_limit} if time_limit is not None else {"n_jobs": 1}
    shared = (plan, given, data, shuffles, bound, top, by_limit)
    tasks = (joblib.delayed(select_on_shuffled)(*shared, number) for number in range(n_shuffles))
    returned = "generator" if get_active_backend()[0].supports_return_generator else "list"
    parallel = joblib.Parallel(n_jobs=1 if time_limit is not None else n_jobs, return_as=returned)
    report, begun, shuffled = make_reporter(progress), monotonic(), list[Preferences | None]()
    for selected in parallel(tasks):
        shuffled.append(selected)
        done, total = (2 * SHUFFLED_PAIRS * count for count in (len(shuffled), n_shuffles))
        report(Progress(done, total, 0, done / max(monotonic() - begun, 1e-9)))
    return judge_by_shuffles(halves, [runs for runs in shuffled if runs is not None], n_shuffles)


def select_on_shuffled(
    plan: Study, given: GivenData, data: StudyData, shuffles: TargetShuffles, bound: SplitHalves, top: int | None,
    running: dict[str, Any], number: int,
) -> Preferences | None:  # fmt: skip
    """What halves of the rows select with the target in another order, in pairs; None if they could not be fitted."""
    rng = rng_of(int(plan.random_state), number, SHUFFLE)
    order, seed = shuffles.draw(rng), int(rng.integers(2**31))
    shuffled = replace(data, y=data.y[order], target=data.target.take(order))
    halves = [bound.make_split(1 + half, shuffled.samples, seed) for half in range(2 * SHUFFLED_PAIRS)]
    study = replace(plan, perturbation=[(half.rows, half.rows[:0]) for half in halves], random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits to a shuffled target may warn
        try:
            if top is None and "time_limit" not in running:  # forty stores would take longer than the fits
                runs, splits = _select(study, shuffled)
            else:
                result = study.run(given.X, data.y[order], **of_rows(given), treat_as_feature=True, **running)
                runs = read_runs(result, result.candidates[0], top, measured=True)
                splits = result.split_numbers(runs)
        except (ValueError, StudyError):
            return None
    both = np.isin(splits // 2, np.flatnonzero(np.bincount(splits // 2) == 2))
    position = np.flatnonzero(both)
    return runs.take(position[np.argsort(splits[position])].tolist()) if position.size else None


def _select(study: Study, data: StudyData) -> tuple[Preferences, NDArray[np.int64]]:
    """What the candidate of a study selects, without a store, and the splits: fits that fail are left out."""
    run = StudyRun(study, data, keep_predictions=False)
    run.prepare([0])
    family, splits = run.families[0], [run.work.split(number) for number in range(run.perturbation.get_n_splits())]
    with fitting():
        fitted = chain.from_iterable(family.run(run.work.shared[0], data, splits, range(len(family.settings))))
        results = [of_split.fits[0].result for of_split in fitted]
    selected = {split: of.values for split, of in enumerate(results) if isinstance(of, Selection)}
    if not selected or any(of.kind != "subset" for of in results if isinstance(of, Selection)):
        raise ValueError("Expected subsets.")
    sets = Sets.join([np.sort(columns) for columns in selected.values()])
    runs = Preferences(kind="subset", n_features=len(data.names), indices=sets.indices, indptr=sets.indptr)
    return runs, np.array(list(selected))


def judge_by_shuffles(halves: Preferences, shuffled: Sequence[Preferences], n_shuffles: int) -> ShuffledControl:
    """Compare what halves select with the true target to what they select with shuffled ones."""
    about: dict[str, Any] = {"n_shuffles": n_shuffles, "n_pairs": SHUFFLED_PAIRS}
    if 2 * len(shuffled) < n_shuffles:
        few = f"with a shuffled target the selector could be fitted in only {len(shuffled)} of {n_shuffles} cases"
        return ShuffledControl(reason=few, **about)
    within = np.concatenate([SplitHalfAgreements.from_runs(runs).within for runs in shuffled])
    known = within[~np.isnan(within)]
    agreement = float(known.mean()) if 2 * known.size >= n_shuffles * SHUFFLED_PAIRS else math.nan
    size, shuffled_size = float(halves.sizes.mean()), float(np.mean([runs.sizes.mean() for runs in shuffled]))
    about |= {"agreement": agreement, "size": size, "shuffled_size": shuffled_size}
    if shuffled_size < SAME_SIZE * size:
        return ShuffledControl(
            reason=f"with a shuffled target halves select {format_number(shuffled_size, 1)} features, with the true "
            f"one {format_number(size, 1)}, so that features which come in by chance only where there is something to "
            "find would not be seen; fix the number of features that the selector takes and ask again",
            **about,
        )
    counted = np.array([halves.counts / halves.n_runs, *(runs.counts / runs.n_runs for runs in shuffled)])
    first = halves.take(range(min(2 * SHUFFLED_PAIRS, halves.n_runs)))
    columns = np.flatnonzero(counted.any(axis=0))
    counted, alike = counted[:, columns], (first.counts / first.n_runs)[columns]
    errors = tell_from_chance(counted, 1 / SHUFFLED_PAIRS, alike)
    mine = counted[0] > 0
    return ShuffledControl(
        p_any=errors.p_any,
        columns=tuple(columns[mine].tolist()),
        by_habit=tuple(errors.by_habit[mine].tolist()),
        expected_false=tuple(np.minimum(errors.expected_false[mine], halves.n_features).tolist()),
        q=tuple(errors.q[mine].tolist()),
        **about,
    )


def warn_of_preference(shuffled: float, half_agreement: float) -> list[str]:
    """Warn that halves agree about equally well whatever the target is, if they do."""
    if not (shuffled > NOTEWORTHY and shuffled >= half_agreement / 2):
        return []
    return [
        f"With a shuffled target halves agree by {format_number(shuffled)}, too (with the true one by "
        f"{format_number(half_agreement)}): the selector prefers certain features whatever the target is, so being "
        "found again is no sign that they matter."
    ]


GROUPS, PAIRS = 10, 60
"""How many groups of rows are left out in turn, and the splits that are repeated without each."""
Rows = NDArray[np.int64]


def splits_without_groups(perturbation: SplitHalves, samples: Samples, seed: int) -> list[tuple[Rows, Rows]]:
    """Halves of the first splits without each group of rows: those of one group together, halves in pairs."""
    dealt = deal_into_folds(perturbation.units(samples), GROUPS, perturbation.stratify, rng_of(seed, GROUPS, ROWS))
    halves = [perturbation.make_split(1 + half, samples, seed) for half in range(2 * min(PAIRS, perturbation.n_pairs))]
    return [(half.rows[dealt[half.rows] != group], half.rows[:0]) for group in range(GROUPS) for half in halves]


def jackknife_halves(halves: Preferences, splits: Rows, n_splits: int) -> float:
    """Variance over data sets of the mean agreement of halves, from :func:`splits_without_groups`.

    ``splits`` are the numbers of the splits that the halves come from: a pair of which a fit failed is left out.
    ``nan`` if none is left without some group.
    """
    members, sizes = halves.to_sparse().astype(np.float64), halves.sizes
    run = np.full(n_splits, -1)
    run[splits] = np.arange(halves.n_runs)
    first, second = run[::2], run[1::2]
    complete = (first >= 0) & (second >= 0)
    a, b = first[complete], second[complete]
    agreements = np.full(complete.size, np.nan)
    overlaps = np.asarray(members[a].multiply(members[b]).sum(axis=1)).ravel()
    agreements[complete] = pearson(overlaps, sizes[a], sizes[b], halves.n_features)
    by_group = agreements.reshape(GROUPS, -1)
    if np.isnan(by_group).all(axis=1).any():
        return math.nan
    means = np.nanmean(by_group, axis=1)
    return float((GROUPS - 1) / GROUPS * ((means - means.mean()) ** 2).sum())


KEY = "replicability"


def store_replicability(store: str | Path, estimate: Replicability) -> None:
    """Write the replicability of a candidate into the store of its study."""
    with open_to_write(store) as opened, opened.transaction():
        opened.put(KEY, {**(opened.get(KEY) or {}), estimate.candidate: estimate.to_dict()})


def find_stored(result: StudyTables, candidate: str) -> Replicability | None:
    """Return the replicability of a candidate from the store of its study; None if it holds none that can be read."""
    plain = result.stored_replicability.get(candidate)
    try:
        return None if plain is None else Replicability.from_dict(plain)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # written by another version: it is computed again


def has_split_halves(result: StudyTables) -> bool:
    """Whether a study has halved the rows itself."""
    return result.perturbation.get("perturbation") == "Halvings"  # its name in plans


def find_known(result: StudyTables, candidate: str, *, level: float = 0.95, X: Any = None) -> Replicability | None:
    """Return what a study says of a candidate in new studies: by its own split halves, or from its store; else None."""
    if not has_split_halves(result):
        stored = find_stored(result, candidate)
        return None if stored is None else stored.at_level(level)
    try:
        return study_replicability(result, candidate, level=level, top=features_that_count(result, candidate), X=X)
    except ValueError:  # fits are missing, or failed
        return None


def find_answer(result: StudyTables, level: float = 0.95) -> str | None:
    """Return the replicability of the candidate that a report shows, in a line; None if it is not known."""
    if not result.finished:
        return None
    candidate = default_candidate(result)
    estimate = find_known(result, candidate, level=level)
    return None if estimate is None else format_answer(result, candidate, estimate)


def format_answer(result: StudyTables, candidate: str, estimate: Replicability | str) -> str:
    """Return the answer in a line, or the reason why there is none; a candidate among others is named."""
    if isinstance(estimate, str):
        answer = f"{UNKNOWN}: {estimate}."
    else:
        answer = estimate.sentence + (" See Limitations in the report." if estimate.cautions else "")
    return answer if len(result.candidates) == 1 else f"{candidate}: {answer}"


@renamed(n_halvings="n_pairs")
def replicability(
    what: Any,
    X: Any,
    y: Any = None,
    *,
    candidate: str | None = None,
    n_pairs: int = 100,
    n_shuffles: int = N_SHUFFLES,
    groups: Any = None,
    sites: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    top: int | None = None,
    measures: str | Measure | Sequence[str | Measure] = (),
    random_state: int | None = None,
    thorough: bool = False,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    progress: bool | Report = False,
) -> Replicability:
    """Estimate how many of the selected features a new study would select too.

    This differs from how stable a selection is when *this* data set is resampled: resamples share rows, new studies do
    not. Here the selector is fitted to all rows, and to both halves of many random splits, which share no row: their
    agreement estimates without bias how far two studies of half the size would agree; the agreement with a study of
    this size is extrapolated from it. The intervals are over data sets.

    Parameters
    ----------
    what : selector or Study
        A selector or :class:`Candidates`, as for :class:`Study`; or a study. One candidate is taken.
    X, y : array, frame or Table
        The data, as for :meth:`Study.run`.
    candidate : str, optional
        Name of the candidate; not needed if there is only one.
    n_pairs : int
        How often the rows are split in half, at least 10 times; each is two fits. 50 are usually enough, 25
        the least for intervals.
    n_shuffles : int
        How often the target is shuffled and the rows split in half 10 times (20 fits each), to tell which features
        have to do with the target, and to detect a selector that prefers certain features whatever the target is. No
        q can be below 1 / (n_shuffles + 1): 40 are usually enough, 20 a cheaper choice, 0 leaves it out.
    groups : array, optional
        Rows of one group, such as several samples of one patient, stay together. Without groups equal rows do.
    sites : array, optional
        Where rows come from; the selection is adjusted for it, as in :meth:`Study.run`. The new study is one at the
        same sites; :func:`~holdfast.replication.site_replicability` answers for other sites, too.
    sample_weight : array, optional
        What each row weighs, as in :meth:`Study.run`.
    level : float
        Level of the intervals.
    top : int, optional
        How many of the best features count, for selectors that give rankings or weights; by default as many as a report
        would take, which a caution states.
    measures : str, Measure or sequence of them
        Other measures of which the value at half the size is wanted, such as ``"yu"``, which counts near-copies as the
        same, or ``"spearman"``. They get no interval and no extrapolation: neither has been validated.
    random_state : int, optional
        Seed; that of the study, or 0, by default.
    thorough : bool
        Repeat splits without each of ten groups of rows: up to 1,200 fits more, for a wider interval at half the size
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
    holdfast.resampling.SplitHalves : The same fits as a design of a study, for several candidates at once.

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
    A new study of this size would be expected to select 4 of your 5 features (3 to 5).
    """
    check_count("n_pairs", n_pairs, FEWEST_PAIRS)
    check_count("n_shuffles", n_shuffles, 0)
    check_level(level)
    if top is not None:
        check_count("top", top, 1)
    others = [find_measure(measure) for measure in ([measures] if isinstance(measures, (str, Measure)) else measures)]
    if isinstance(what, StudyTables):
        candidate = candidate or default_candidate(what)
        top = features_that_count(what, candidate) if top is None else top
    plan = _plan_split_halves(_find_study(what), candidate, SplitHalves(n_pairs), random_state, others)
    running: dict[str, Any] = {"n_jobs": n_jobs, "time_limit": time_limit}
    rows: dict[str, Any] = {"groups": groups, "sites": sites, "sample_weight": sample_weight}
    result = plan.run(X, y, **rows, treat_as_feature=True, progress=progress, **running)
    cut = None if top is not None else features_that_count(result, result.candidates[0])
    top = cut or top
    given, plan = take_data(X, y, **rows), replace(plan, task=result.plan["task"])
    data = prepare_data(given.X, given.y, given.groups, plan.covariates, plan.task, None, sites=given.sites)
    jackknife = _leave_groups_out(plan, given, data, top, progress=progress, **running) if thorough else 0.0
    X_of_features = data.X if plan.feature_groups is None else None  # of a group there is no one column
    estimate = _estimate_from_split_halves(result, result.candidates[0], level, top, X_of_features, others, jackknife)
    at_same_sites = [] if data.sites is None else [
        f"The new study is one at the same {len(np.unique(data.sites))} sites; one at other sites may select fewer of "
        "these features."
    ]  # fmt: skip
    estimate = replace(
        estimate,
        cautions=(
            *warn_of_cut(result, cut),
            *at_same_sites,
            *warn_of_dependent_rows(data),
            *estimate.cautions,
        ),
    )
    if n_shuffles:
        halves = complete_pairs(result, read_runs(result, result.candidates[0], top, measured=True))
        control = run_control(plan, given, data, halves, top, n_shuffles, progress, **running)
        cautions = (*estimate.cautions, *warn_of_preference(control.agreement, estimate.half_agreement))
        estimate = replace(estimate.with_control(control), cautions=cautions)
    record = what.data if isinstance(what, StudyTables) else record_data(data, given)
    estimate = warn_of_doubted(estimate, record.doubted)
    if isinstance(what, StudyTables) and what.path is not None and what.plan["data"] == result.plan["data"]:
        store_replicability(what.path, estimate)
    return estimate


def _plan_split_halves(
    study: Study, candidate: str | None, perturbation: SplitHalves, seed: int | None, measures: Sequence[Measure]
) -> Study:
    """The study of one candidate on halves; without a model, unless covariates need one."""
    names = [name for family in study.families for name in family.names]
    plan = study_of_candidate(study, _only_candidate(names, candidate), perturbation)
    if seed is not None:
        plan = replace(plan, random_state=seed)
    if not plan.covariates:
        plan = replace(plan, estimator=None, scoring=None)
    if any(measure.kind != "subset" for measure in measures):
        plan = replace(plan, selectors={part.name: replace(part.candidates, keep="weights") for part in plan.families})
    return plan


def _leave_groups_out(plan: Study, given: GivenData, data: StudyData, top: int | None, **running: Any) -> float:
    """Variance over data sets of the mean agreement, by the same splits without each of some groups of rows."""
    seed = int(plan.random_state)
    bound = plan.perturbation.bind(data.X, data.y, data.groups, seed)
    without_groups = replace(plan, perturbation=splits_without_groups(bound, data.samples, seed))
    again = without_groups.run(given.X, given.y, **of_rows(given), treat_as_feature=True, **running)
    halves = read_runs(again, again.candidates[0], top, measured=True)
    return jackknife_halves(halves, again.split_numbers(halves), again.n_splits)


def _find_study(what: Any) -> Study:
    """Return the study of a selector, a study itself, or that of a result."""
    if not isinstance(what, StudyTables):
        return what if isinstance(what, Study) else Study(selectors=[what])
    if what.study is None:
        raise ValueError(
            "Expected results together with their study, got results that were read from a store, which holds neither "
            "data nor selectors; make the same hf.Study again, and pass it or what its run() returns."
        )
    return what.study


def count_fits(n_pairs: int, n_shuffles: int = N_SHUFFLES) -> int:
    """Return how many fits :func:`replicability` makes, with those to shuffled targets."""
    return 1 + 2 * (n_pairs + n_shuffles * SHUFFLED_PAIRS)


def replicate_reported(result: StudyTables, data: Any, *, n_pairs: int = 50, **options: Any) -> str:
    """Estimate the replicability of the candidate that a report shows, unless it is known already.

    Parameters
    ----------
    result : StudyResult
        What a study estimate.
    data : Table
        The data.
    n_pairs : int
        How often the rows are split in half.
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
            known = replicability(result, data, candidate=candidate, n_pairs=n_pairs, **options)
        except (ValueError, StudyError) as error:
            return format_answer(result, candidate, str(error).partition("\n")[0].removesuffix("."))
    return format_answer(result, candidate, known)


def _only_candidate(names: list[str], candidate: str | None) -> str:
    if candidate is None and len(names) > 1:
        raise ValueError(f"Expected candidate=, one of the study's {len(names)} ({', '.join(names[:20])}), got none.")
    return candidate or names[0]


def study_replicability(
    result: StudyTables,
    candidate: str | None = None,
    *,
    level: float = 0.95,
    top: int | None = None,
    X: Any = None,
    measures: Sequence[str | Measure] = (),
) -> Replicability:
    """Estimate how many of a candidate's features a new study would select too, from a study with SplitHalves.

    For another study, the estimate in its store is returned, if there is one (:func:`store_replicability`). What
    shuffled targets say is taken from the store for both.

    Parameters
    ----------
    result : StudyResult
        Of a study with :class:`~holdfast.resampling.SplitHalves`, or of one whose store holds an estimate.
    candidate : str, optional
        Name of a candidate; not needed if there is only one.
    level : float
        Level of the intervals.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.
    X : matrix, optional
        The features, to look for near-copies among those selected, and for measures that need them.
    measures : sequence of str or Measure
        Other measures of which the value at half the size is wanted.

    Returns
    -------
    Replicability
        The expected number of features with its interval, agreements, a probability for each feature, cautions.

    Raises
    ------
    ValueError
        If the study has another design: :func:`holdfast.replicability` runs what is missing; or the candidate gives
        rankings or weights and ``top`` is missing.

    See Also
    --------
    holdfast.replicability : Runs the fits too.
    """
    if not has_split_halves(result):
        stored = find_stored(result, _only_candidate(result.candidates, candidate))
        if stored is not None:
            return stored.at_level(level)
        raise ValueError(
            "Expected a study with hf.resampling.SplitHalves, which fits all rows and halves that share no row, got "
            f"one with {result.perturbation.get('perturbation')}; hf.replicability(study, X, y) runs what is missing."
        )
    name = _only_candidate(result.candidates, candidate)
    estimate = _estimate_from_split_halves(result, name, level, top, X, measures)
    stored = find_stored(result, name)  # its own halves have the true target only
    if stored is not None and stored.shuffled is not None:
        estimate = estimate.with_control(stored.shuffled)
    return warn_of_doubted(estimate, result.data.doubted)


def _estimate_from_split_halves(
    result: StudyTables,
    candidate: str,
    level: float,
    top: int | None,
    X: Any,
    measures: Sequence[str | Measure],
    jackknife: float = 0.0,
) -> Replicability:
    """Estimate replicability from a study with split halves; ``jackknife`` as for :func:`estimate_replicability`."""
    _check_fits(result, candidate)
    whole, halves = (read_runs(result, candidate, top, measured) for measured in (False, True))
    selected, pairs = whole.lists()[0], complete_pairs(result, halves)
    n_rows = int(result.split_table["n_rows"].max())
    cautions = [
        *warn_of_failures(result, candidate, pairs.n_runs // 2), *warn_of_classes(result), *warn_of_groups(result),
    ]  # fmt: skip
    if whole.n_features / 2 < selected.size < whole.n_features:
        cautions.append("More than half of all features are selected: the interval may be too narrow.")
    cautions += warn_of_copies(X, selected)
    if math.isnan(jackknife):  # too many fits of the thorough look failed
        cautions.append("Without some group of rows no pair of halves could be compared: the interval is not widened.")
    others, unanswered = _measure_halves(result, candidate, measures, top, X)
    cautions += unanswered
    jackknife = float(np.nan_to_num(jackknife))
    estimate = estimate_replicability(pairs, selected, n_rows, level=level, cautions=cautions, jackknife=jackknife)
    return replace(estimate, candidate=candidate, other_measures=others)


def _check_fits(result: StudyTables, candidate: str) -> None:
    """Raise if the fit to all rows failed, or half of those to halves: with fewer, some split is complete."""
    failures = result.failures[result.failures["candidate"] == candidate]
    of_all_rows = failures["run"] == ALL_ROWS
    for what, failed, most in (("all rows", of_all_rows, 0), ("halves", ~of_all_rows, result.n_splits // 2 - 1)):
        if failed.sum() > most:
            error = failures[failed]["error"].value_counts().index[0]
            raise ValueError(f"{candidate} could not be fitted to {what}: {error}")


def _measure_halves(
    result: StudyTables, candidate: str, measures: Sequence[str | Measure], top: int | None, X: Any
) -> tuple[dict[str, float], list[str]]:
    """The mean agreement of the two halves by other measures, and why some have none; rankings are of all features."""
    values, unanswered = dict[str, float](), list[str]()
    for measure in map(find_measure, measures):
        cut = top if measure.kind == "subset" else None
        needed = X if measure.similarity else None
        try:
            values[measure.label] = result.stability(candidate, measure, top=cut, X=needed).value
        except UnansweredError as error:
            unanswered.append(f"Agreement by {measure.label} is not known: {error.plain}.")
    return values, unanswered
