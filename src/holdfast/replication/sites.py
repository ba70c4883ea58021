"""A new study at as many other sites, and one at the same sites: two questions, with an answer each.

Rows of one site have more in common than rows of several. Halves of whole sites, which share none, are studies at
different sites of half as many; halves of the rows of each site are studies of half the size at the same sites. Both
agreements are extrapolated to the size of the data as those of :mod:`holdfast.replication.agreements` are.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from holdfast.checks import check_whole
from holdfast.inference.intervals import Interval, check_level
from holdfast.preferences import Preferences
from holdfast.replication.agreements import FASTEST, GROWTH, SLOWEST, FrequencyProfile, SplitHalfAgreements
from holdfast.replication.result import Replicability, estimate_replicability
from holdfast.replication.running import MIN_SITES, of_rows, read_runs
from holdfast.resampling.kinds import find_copies
from holdfast.resampling.split import rng_of
from holdfast.result_base import ResultMixin
from holdfast.study import Study
from holdfast.study.data import StudyData, prepare_for, take_data
from holdfast.study.stabilities import features_that_count
from holdfast.study.tables import StudyTables
from holdfast.text import format_number
from holdfast.tradeoff.final import study_of_candidate
from holdfast.tradeoff.selected import default_candidate

MIN_SITES_FOR_INTERVAL = 6
"""Sites below which a jackknife over sites has no interval."""
JACKKNIFE_PAIRS = 40
"""Pairs of halves that are repeated without each site."""
SITE_PAIRS = 10
"""Pairs of halves of the rows of single sites."""
SITES, WITHIN = 11, 12  # what a random stream is for
Subset = frozenset[int]
Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class SiteReplicability(ResultMixin):
    """How many of the selected features new studies would be expected to select, at other sites and at the same.

    Attributes
    ----------
    candidate : str
        What selected the features.
    agreement : float
        Expected agreement with a new study of this size at as many other sites (Pearson's correlation of selections).
    interval : Interval
        Of :attr:`agreement`, by a jackknife over sites with Student's t; nan for fewer than six sites.
    half_agreement : float
        Mean agreement of halves of whole sites.
    same_sites : Replicability
        The same for a new study at the same sites, by halves of the rows of each site.
    n_sites, n_selected, n_features : int
        Sites of the data, features that were selected on all rows, and all features.
    n_pairs, n_left_out : int
        Pairs of halves of whole sites, and those that were left out as a half lacked a class, or selected nothing.
    reason : str or None
        Why there is no number for other sites; None if there is.
    level : float
        Level of the intervals.
    within, between : float
        Mean agreement of selections from halves of the rows of one site, and from such halves of different sites; nan
        if fewer than four sites can be halved.
    difference : Interval
        Of ``within - between``, by a jackknife over sites with Student's t: above 0, what is selected depends on the
        site.

    See Also
    --------
    holdfast.replication.site_replicability : Makes one.
    holdfast.replicability : The question where rows do not come from sites.
    """

    _shown: ClassVar[tuple[str, ...]] = ("new study", "expected", "low", "high")
    _table_field: ClassVar[str] = "frame"

    candidate: str
    agreement: float
    interval: Interval
    half_agreement: float
    same_sites: Replicability
    n_sites: int
    n_selected: int
    n_features: int
    n_pairs: int
    n_left_out: int = 0
    reason: str | None = None
    level: float = 0.95
    within: float = math.nan
    between: float = math.nan
    difference: Interval = field(default=Interval(math.nan, math.nan))

    def _number(self, agreement: float) -> float:
        """How many of the selected features are expected again at an agreement."""
        share = self.n_selected / self.n_features
        return self.n_selected * (max(agreement, 0.0) * (1 - share) + share) if agreement == agreement else math.nan

    @property
    def expected(self) -> float:
        """How many of the selected features a new study at as many other sites would be expected to select."""
        return self._number(self.agreement)

    @property
    def expected_interval(self) -> Interval:
        """Of :attr:`expected`."""
        return Interval(*map(self._number, self.interval))

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each question: agreement and expected number, with their intervals."""
        rows = [
            ("at other sites", self.agreement, self.expected, *self.expected_interval),
            (
                "at the same sites",
                self.same_sites.agreement,
                self.same_sites.expected,
                *self.same_sites.expected_interval,
            ),
        ]
        return pd.DataFrame(rows, columns=["new study", "agreement", "expected", "low", "high"])

    @property
    def sentence(self) -> str:
        """Both answers in words."""
        if self.reason is not None:
            return f"How many features a new study at other sites would select is not known: {self.reason}."
        same, low = self.same_sites, self.interval.low
        span = "no interval below six sites" if math.isnan(low) else _span(self.expected_interval)
        at_same = "; at the same sites that is not known"
        if same.reason is None:
            at_same = f"; at the same sites {format_number(same.expected, 0)} ({_span(same.expected_interval)})"
        return (
            f"At other sites a new study of this size would be expected to select {format_number(self.expected, 0)} of "
            f"your {self.n_selected:,} features ({span}){at_same}."
        )

    def __str__(self) -> str:
        left_out = f", {self.n_left_out} left out" if self.n_left_out else ""
        head = f"{self.sentence}\n{self.n_sites} sites, {self.n_pairs} pairs of halves of them{left_out}"
        return f"{head}\n{self.stability}" if self.within == self.within else head

    __repr__ = __str__

    @property
    def stability(self) -> str:
        """How well selections at one site, and at different sites, agree, in words."""
        if math.isnan(self.within):
            return "How well selections agree within sites is not known: fewer than four sites can be halved."
        low, high = (format_number(end) for end in self.difference)
        return (
            f"Selections from halves of one site agree {format_number(self.within)}, from halves of different sites "
            f"{format_number(self.between)} (difference {format_number(self.within - self.between)}, {low} to {high})."
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(), "same_sites": self.same_sites.to_dict(), "expected": self.expected,
            "expected_interval": list(self.expected_interval), "sentence": self.sentence,
            "stability": self.stability,
        }  # fmt: skip


def _span(interval: Interval) -> str:
    return " to ".join(dict.fromkeys(format_number(end, 0) for end in interval))


def site_replicability(
    what: Any,
    X: Any,
    y: Any = None,
    *,
    sites: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    candidate: str | None = None,
    n_pairs: int = 50,
    level: float = 0.95,
    top: int | None = None,
    n_jobs: int | None = None,
) -> SiteReplicability:
    """Estimate how many of the selected features new studies would select, at other sites and at the same sites.

    Whole sites are halved, so that the two halves share no site: their agreement is that of studies at half as many
    other sites, and is extrapolated to as many as there are. The rows of each site are halved too, for a new study at
    the same sites. The selection is adjusted for sites, unless the study has ``adjust=False``. Halves of the rows of
    single sites show how well selections agree within sites, and between sites.

    Parameters
    ----------
    what : selector, Study or StudyResult
        What selects; of several candidates one.
    X, y : array, frame or Table
        The data, as for :meth:`Study.run`.
    sites : array
        Where each row comes from; a table brings its own.
    groups : array, optional
        Rows of one group stay together; groups lie within sites.
    sample_weight : array, optional
        What each row weighs, as in :meth:`Study.run`.
    candidate : str, optional
        Name of the candidate; not needed if there is only one.
    n_pairs : int
        How often sites and rows are halved; all halvings of the sites, if these are fewer.
    level : float
        Level of the intervals.
    top : int, optional
        How many of the best features count, for selectors that give rankings or weights.
    n_jobs : int, optional
        Processes to use, -1 for all cores.

    Returns
    -------
    SiteReplicability
        Both answers.

    Raises
    ------
    ValueError
        If there are fewer than four sites: halves of one site each say nothing about the spread of sites.

    See Also
    --------
    replicability : The question where rows do not come from sites.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> rng = np.random.default_rng(0)
    >>> sites, y = np.repeat(np.arange(6), 30), np.tile([0, 1], 90)
    >>> X = rng.normal(size=(180, 40))
    >>> X[:, :4] += y[:, None]  # at every site
    >>> X[:, 4:10] += y[:, None] * rng.normal(size=(6, 6))[sites]  # another effect at each site
    >>> print(hf.replication.site_replicability(hf.selectors.AnovaF(8), X, y, sites=sites).sentence)
    At other sites a new study of this size would be expected to select 6 of your 8 features (4 to 7); at the same \
sites 6 (5 to 7).
    """
    check_level(level)
    check_whole("n_pairs", n_pairs, 10)
    given = take_data(X, y, groups, sample_weight, sites)
    if given.sites is None:
        raise ValueError("Expected sites= for a new study at other sites, got none; give the site of each row.")
    if isinstance(what, StudyTables):
        candidate = candidate or default_candidate(what)
        top = features_that_count(what, candidate) if top is None else top
        if what.study is None:
            raise ValueError("Expected results together with their study, got results from a store; give the study.")
        what = what.study
    study = what if isinstance(what, Study) else Study(selectors=[what])
    names = [name for family in study.families for name in family.names]
    if candidate is None and len(names) > 1:
        raise ValueError(f"Expected candidate=, one of {', '.join(names[:20])}, got none.")
    data = prepare_for(study, given.X, given.y, given.groups, sites=given.sites)
    codes = np.unique(np.asarray(data.sites), return_inverse=True)[1]
    n_sites = int(codes.max()) + 1
    if n_sites < MIN_SITES:
        raise ValueError(
            f"Expected at least {MIN_SITES} sites to halve, got {n_sites}; hf.replicability answers for a new study "
            "at the same sites, and a study with LeaveOneSiteOut for one site at a time."
        )
    seed = int(study.random_state)
    pairs = halve_sites(n_sites, n_pairs, seed)
    without = {
        site: [tuple(half - {site} for half in pair) for pair in pairs[:JACKKNIFE_PAIRS]]
        for site in range(n_sites if n_sites >= MIN_SITES_FOR_INTERVAL else 0)
    }
    halves = itertools.chain(*pairs, *itertools.chain(*without.values()))
    strata = data.target.strata
    n_strata = 0 if strata is None else np.unique(strata).size
    subsets = [
        subset  # with rows of every stratum
        for subset in dict.fromkeys(halves)
        if strata is None or np.unique(strata[np.isin(codes, list(subset))]).size == n_strata
    ]
    within = halve_rows(data, codes, n_pairs, seed)
    alone = [half[codes[half] == site] for half in within[: 2 * SITE_PAIRS] for site in range(n_sites)]
    varied = data.target.values if strata is None else strata
    usable = [part.size > 1 and np.unique(varied[part]).size >= max(n_strata, 2) for part in alone]
    rows = [
        np.arange(len(codes)), *(np.flatnonzero(np.isin(codes, list(subset))) for subset in subsets), *within,
        *(part for part, is_usable in zip(alone, usable, strict=True) if is_usable),
    ]  # fmt: skip
    plan = study_of_candidate(study, candidate or names[0], [(part, part[:0]) for part in rows])
    if not plan.covariates:
        plan = replace(plan, estimator=None, scoring=None)
    result = plan.run(
        given.X, given.y, **of_rows(given), n_jobs=n_jobs, treat_as_feature=True, keep_predictions=False,
    )  # fmt: skip
    top = features_that_count(result, result.candidates[0]) if top is None else top
    runs = read_runs(result, result.candidates[0], top, measured=True)
    run_of = {int(split): run for run, split in enumerate(result.split_numbers(runs))}
    if 0 not in run_of:
        raise ValueError(f"{result.candidates[0]} could not be fitted to all rows; run the study to see why.")
    of_subset = {subset: run_of[split] for split, subset in enumerate(subsets, 1) if split in run_of}
    selected = runs.lists()[0][slice(*runs.lists()[1][run_of[0] : run_of[0] + 2])]
    first = 1 + len(subsets)
    last = first + len(within)
    halved = [(run_of.get(split), run_of.get(split + 1)) for split in range(first, last, 2)]
    complete = [run for one, other in halved if one is not None and other is not None for run in (one, other)]
    runs_alone = np.full(len(alone), -1)
    runs_alone[usable] = [run_of.get(split, -1) for split in range(last, len(rows))]
    compared = _compare_sites(runs, runs_alone.reshape(-1, 2, n_sites), level)
    same = estimate_replicability(runs.take(complete), selected, len(codes), level=level)
    whole = _estimate(runs, of_subset, pairs, selected.size)
    reason, interval = None, Interval(math.nan, math.nan)
    if whole is None:
        reason = "hardly any half of the sites has all classes and selects something"
    elif without:
        parts = [_estimate(runs, of_subset, left, selected.size) for left in without.values()]
        known = np.array([part.agreement for part in parts if part is not None])
        if known.size >= MIN_SITES_FOR_INTERVAL:
            error = math.sqrt((known.size - 1) / known.size * ((known - known.mean()) ** 2).sum())
            reach = float(student.ppf((1 + level) / 2, known.size - 1)) * error
            interval = Interval(whole.slow - reach, min(whole.fast + reach, 1.0))
    return SiteReplicability(
        candidate=result.candidates[0], agreement=math.nan if whole is None else whole.agreement, interval=interval,
        half_agreement=math.nan if whole is None else whole.half, same_sites=same, n_sites=n_sites,
        n_selected=int(selected.size), n_features=runs.n_features, n_pairs=len(pairs),
        n_left_out=len(pairs) - (0 if whole is None else whole.n_pairs), reason=reason, level=level,
        within=compared[0], between=compared[1], difference=compared[2],
    )  # fmt: skip


def halve_sites(n_sites: int, n_pairs: int, seed: int) -> list[tuple[Subset, Subset]]:
    """Different halvings of the sites: all of them, or so many that are drawn."""
    size, everything = n_sites // 2, frozenset(range(n_sites))
    if math.comb(n_sites, size) <= 4 * n_pairs:
        halves = map(frozenset, itertools.combinations(range(n_sites), size))
        pairs = [(half, everything - half) for half in halves if n_sites % 2 or 0 in half]
        if len(pairs) <= n_pairs:
            return pairs
        order = rng_of(seed, 0, SITES).permutation(len(pairs))
        return [pairs[number] for number in order[:n_pairs]]
    drawn: dict[Subset, tuple[Subset, Subset]] = {}
    rng = rng_of(seed, 0, SITES)
    while len(drawn) < n_pairs:
        deck = rng.permutation(n_sites).tolist()
        half, other = frozenset(deck[:size]), frozenset(deck[size:])
        key = half if n_sites % 2 or 0 in half else other
        drawn.setdefault(key, (half, other))
    return list(drawn.values())


def halve_rows(data: StudyData, codes: Rows, n_pairs: int, seed: int) -> list[Rows]:
    """Halves of the rows of each site and class, one after the other in pairs; groups and equal rows stay together."""
    units = data.samples.groups if data.groups is not None else find_copies(data.X)
    unit = np.arange(len(codes)) if units is None else np.unique(units, return_inverse=True)[1]
    first = np.unique(unit, return_index=True)[1]
    strata = data.target.strata
    stratum = codes if strata is None else codes * (strata.max() + 1) + strata
    halves = []
    for pair in range(n_pairs):
        rng = rng_of(seed, pair, WITHIN)
        side = np.empty(first.size, dtype=np.int64)
        start = 0
        for value in rng.permutation(np.unique(stratum)):  # what is left over of a stratum goes to the other half
            members = rng.permutation(np.flatnonzero(stratum[first] == value))
            side[members] = (np.arange(members.size) + start) % 2
            start = (start + members.size) % 2
        halves += [np.flatnonzero(side[unit] == half) for half in (0, 1)]
    return halves


def _compare_sites(runs: Preferences, run_of: NDArray[np.int64], level: float) -> tuple[float, float, Interval]:
    """Mean agreement within sites and between them, and an interval of the difference.

    ``run_of`` has the run of each pair, half and site; -1 if there is none. Agreement is Pearson's correlation.
    """
    known = (run_of >= 0) & np.isin(run_of, np.flatnonzero((runs.sizes > 0) & (runs.sizes < runs.n_features)))
    sites = np.flatnonzero(known.all(axis=(0, 1)))
    if sites.size < MIN_SITES:
        return math.nan, math.nan, Interval(math.nan, math.nan)
    members, share, agreement = runs.to_sparse(), runs.sizes / runs.n_features, np.zeros((sites.size, sites.size))
    for first, second in run_of[:, :, sites]:
        p, q = share[first][:, None], share[second][None]
        both = (members[first] @ members[second].T).toarray() / runs.n_features
        agreement += (both - p * q) / np.sqrt(p * (1 - p) * q * (1 - q)) / len(run_of)

    def split(chosen: NDArray[np.int64]) -> tuple[float, float]:
        part = agreement[np.ix_(chosen, chosen)]
        within = float(np.diag(part).mean())
        return within, float((part.sum() - np.trace(part)) / (part.size - len(part)))

    within, between = split(np.arange(sites.size))
    without = np.array([np.subtract(*split(np.delete(np.arange(sites.size), site))) for site in range(sites.size)])
    error = math.sqrt((sites.size - 1) / sites.size * ((without - without.mean()) ** 2).sum())
    reach = float(student.ppf((1 + level) / 2, sites.size - 1)) * error
    return within, between, Interval(within - between - reach, within - between + reach)


class _Halved(NamedTuple):
    """Agreement of halves of whole sites, that at the full number of sites, and from how many pairs.

    ``slow`` and ``fast`` are the agreements where it grows with the number of sites as slowly, and as fast, as it may.
    """

    half: float
    agreement: float
    slow: float
    fast: float
    n_pairs: int


def _estimate(
    runs: Preferences, of_subset: Mapping[Subset, int], pairs: Sequence[Sequence[Subset]], n_selected: int
) -> _Halved | None:
    """The agreement of these halves, extrapolated to twice as many sites; None if few pairs can be compared."""
    numbers = [of_subset.get(half) for pair in pairs for half in pair]
    some = (runs.sizes > 0) & (runs.sizes < runs.n_features)
    usable = [
        (first, second)
        for first, second in zip(numbers[::2], numbers[1::2], strict=True)
        if first is not None and second is not None and some[first] and some[second]
    ]
    if len(usable) < 2 or 2 * len(usable) < len(pairs) or not 0 < n_selected < runs.n_features:
        return None
    of_halves = runs.take([number for pair in usable for number in pair])
    splits, profile = SplitHalfAgreements.from_runs(of_halves), FrequencyProfile(of_halves.counts, of_halves.n_runs)
    size = float(of_halves.sizes.mean())
    default, slow, fast = (
        (splits.overlapping + profile.extrapolate(splits.half, size, 2, n_selected, growth)) / 2
        for growth in (GROWTH, SLOWEST, FASTEST)
    )
    return _Halved(splits.half, default, slow, fast, len(usable))
