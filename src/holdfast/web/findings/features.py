"""The features of one candidate of a study, ready to be searched, sorted and looked at one by one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdfast.inference.features import frequency_interval
from holdfast.preferences import Preferences
from holdfast.report.building import describe_stability, estimate_stability
from holdfast.report.features import describe_effects, show_name
from holdfast.report.records import Feature, Features, FeatureTable, ReportOptions
from holdfast.report.verdict import match_headline
from holdfast.study import StudyResult
from holdfast.study.stabilities import take_best
from holdfast.tradeoff import SelectedFeatures, check_features
from holdfast.tradeoff.selected import (
    AT_MOST_TWICE,
    HOLDS,
    NOT_ABOVE_CHANCE,
    NOT_SHOWN,
    OFTEN,
    UNTESTED,
    compare_with_guessing,
    default_candidate,
    features_that_count,
)
from holdfast.web.findings.candidates import quietly
from holdfast.web.results import Snapshot

Sort: TypeAlias = Literal["frequency", "name", "effect", "with-stand-ins", "column"]
LEVEL, THRESHOLD = 0.95, 0.5
VERDICTS = (
    HOLDS, OFTEN, UNTESTED, NOT_SHOWN, "takes turns", "undecided", "does not hold", NOT_ABOVE_CHANCE, AT_MOST_TWICE,
)  # fmt: skip
"""All that is said of a feature, the best first."""


@dataclass(frozen=True, eq=False)
class CandidateFeatures:
    """How often a candidate selected each feature, and what that says.

    Attributes
    ----------
    result : StudyResult
        The study.
    runs : Preferences
        What each resample selected.
    found : SelectedFeatures
        The features that were ever selected.
    places : ndarray of int
        Their columns, in the order of ``found``.
    never : dict
        What is said of a feature that was never selected.
    """

    result: StudyResult
    runs: Preferences
    found: SelectedFeatures
    places: NDArray[np.int64]
    never: dict[str, Any]

    def names(self) -> list[str]:
        """Names of all features of the study."""
        return [show_name(name) for name in self.runs.features]

    def arrange(self, sort: Sort, search: str, verdict: str) -> list[int]:
        """Return the columns of the features that a search finds, in order; without one, of those ever selected."""
        places, frame = self.places, self.found.frame
        order = _order(sort, self, frame)
        chosen = places[order]
        if search:
            rest = np.setdiff1d(np.arange(self.runs.n_features), places)
            chosen = np.concatenate([chosen, rest])
            names, wanted = self.names(), search.casefold()
            chosen = chosen[[wanted in names[place].casefold() for place in chosen]]
        if verdict:
            verdicts = dict(zip(places.tolist(), frame["verdict"], strict=True))
            chosen = chosen[[verdicts.get(place, self.never.get("verdict")) == verdict for place in chosen.tolist()]]
        return [int(place) for place in chosen]

    def describe(self, places: Sequence[int]) -> list[Feature]:
        """Return what is known of some features."""
        row_of = {place: row for row, place in enumerate(self.places.tolist())}
        known = [place for place in places if place in row_of]
        names = [self.runs.features[place] for place in known]
        options = ReportOptions(
            candidate=self.found.candidate, rule="one-se", metric=None, measure=None, level=LEVEL, threshold=THRESHOLD,
            X=None,
        )  # fmt: skip
        effects = dict(zip(known, describe_effects(self.result, self.found, names, options), strict=True))
        rows = self.found.frame.iloc[[row_of[place] for place in known]].to_dict(orient="records")
        facts: dict[int, dict[Any, Any]] = dict(zip(known, rows, strict=True))
        return [self._feature(place, facts.get(place, self.never), effects.get(place, {})) for place in places]

    def _feature(self, place: int, row: dict[Any, Any], effects: dict[str, Any]) -> Feature:
        numbers: dict[str, Any] = {name: float(row[name]) for name in ("frequency", "low", "high", "with_stand_ins")}
        return Feature(
            feature=show_name(self.runs.features[place]),
            count=int(row["count"]),
            stand_ins=tuple(show_name(name) for name in row["stand_ins"]),
            verdict=str(row["verdict"]),
            **numbers,
            **effects,
        )

    def selected_in(self, place: int) -> NDArray[np.bool_]:
        """Which resamples selected a feature."""
        indices, pointers = self.runs.lists()
        selected = np.zeros(self.runs.n_runs, dtype=bool)
        selected[np.repeat(np.arange(self.runs.n_runs), np.diff(pointers))[indices == place]] = True
        return selected


def _order(sort: Sort, features: CandidateFeatures, frame: Any) -> Any:
    if sort == "name":
        names = features.names()
        return np.array(sorted(range(len(frame)), key=lambda row: names[features.places[row]].casefold()), dtype=int)
    if sort == "column":
        return np.argsort(features.places)
    if sort == "effect":
        neutral = 0.5 if features.found.effect == "AUC" else 0.0
        return np.argsort(-np.nan_to_num((frame["effect"] - neutral).abs().to_numpy(), nan=-1.0), kind="stable")
    if sort == "with-stand-ins":
        return np.argsort(-frame["with_stand_ins"].to_numpy(), kind="stable")
    return np.arange(len(frame))


# What a snapshot remembers


def find_reported(snapshot: Snapshot) -> str:
    """Return the candidate that a report would be about."""
    return snapshot.remember("reported candidate", default_candidate)


def find_places(snapshot: Snapshot, names: Sequence[str]) -> tuple[int, ...]:
    """Return the columns of features by the names that readers see."""
    columns = snapshot.remember("columns of features", _list_columns)
    return tuple(columns[name] for name in names)


def _list_columns(result: StudyResult) -> dict[str, int]:
    """The columns of all features by name, and by the number that one without a name is called by."""
    features = result.feature_names
    numbered = {show_name(column): column for column in range(len(features))}
    return numbered | {show_name(features[column]): column for column in range(len(features) - 1, -1, -1)}


def read_subsets(result: StudyResult, candidate: str) -> Preferences:
    """Return what each resample selected; of rankings and weights the best features."""
    runs = result.preferences(candidate)
    top = None if runs.kind == "subset" else features_that_count(result, candidate)
    return runs if top is None else take_best(runs, top)


def find_features(snapshot: Snapshot, candidate: str) -> CandidateFeatures:
    """Return the features of a candidate; raises ValueError, with the reason, if nothing can be said of them."""

    def find(result: StudyResult) -> CandidateFeatures:
        runs = read_subsets(result, candidate)
        found = quietly(lambda: result.features(candidate, level=LEVEL, threshold=THRESHOLD))
        column = {feature: place for place, feature in enumerate(runs.features)}
        places = np.array([column[feature] for feature in found.frame["feature"]], dtype=np.int64)
        never = _check_never_selected(result, candidate, runs, found.top)
        return _as_in_report(CandidateFeatures(result=result, runs=runs, found=found, places=places, never=never))

    return snapshot.remember(("features", candidate), find)


def _check_never_selected(result: StudyResult, candidate: str, runs: Preferences, top: int | None) -> dict[str, Any]:
    """What is said of a feature that was never selected: the same of all."""
    missing = np.flatnonzero(runs.counts == 0)
    if not missing.size:
        return {}
    name = runs.features[int(missing[0])]
    checked = quietly(lambda: check_features([name], result, candidate, level=LEVEL, threshold=THRESHOLD, top=top))
    return {str(key): value for key, value in checked.iloc[0].to_dict().items()}


def _as_in_report(features: CandidateFeatures) -> CandidateFeatures:
    """Let no feature hold unless the selection may, as in the report of the candidate."""
    found, result = features.found, features.result
    holds = np.flatnonzero(found.frame["verdict"] == HOLDS)
    if not holds.size:
        return features
    common = result.common_measure()
    estimate = estimate_stability(result, found.candidate, common, None)
    stability = describe_stability(result, found.candidate, {found.candidate: estimate}, LEVEL)
    record = Features(
        n_features=found.n_features, n_runs=found.n_runs, threshold=THRESHOLD,
        shown=tuple(features.describe([int(features.places[holds[0]])])),
        table=FeatureTable(feature=(), count=(), frequency=(), low=(), high=(), variance_share=()),
        map=None, bound="", top=found.top, correlation_checked=False, chance=float(features.runs.density),
    )  # fmt: skip
    matched = match_headline(record, stability, compare_with_guessing(result, found.candidate, None))
    label = matched.shown[0].verdict if matched else HOLDS
    verdicts = found.frame["verdict"].where(found.frame["verdict"] != HOLDS, label)
    return replace(features, found=replace(found, frame=found.frame.assign(verdict=verdicts)))


# Numbers of one feature


@lru_cache(maxsize=8192)
def find_interval(count: int, n_runs: int) -> tuple[float, float]:
    """Return the interval of a selection frequency; many features share a count."""
    low, high = frequency_interval(np.array([count]), n_runs, LEVEL)
    return float(low[0]), float(high[0])


def count_so_far(selected: NDArray[np.bool_], most: int = 20) -> list[tuple[int, float, float, float]]:
    """Return the share of the first resamples that selected a feature, with its interval, as resamples are added."""
    n, counts = selected.size, np.cumsum(selected)
    numbers = np.unique(np.linspace(1, n, min(n, most)).round().astype(int))
    rows = []
    for number in numbers.tolist():
        count = int(counts[number - 1])
        rows.append((number, count / number, *find_interval(count, number)))
    return rows


def count_elsewhere(snapshot: Snapshot, place: int) -> dict[str, tuple[int, int, float, float]]:
    """Return how often each candidate selected a feature: count, number of resamples, and the interval."""
    found: dict[str, tuple[int, int, float, float]] = {}
    for candidate, (counts, n_runs) in snapshot.remember("counts", _count_all).items():
        count = int(counts[place]) if n_runs else 0
        found[candidate] = (count, n_runs, *(find_interval(count, n_runs) if n_runs else (math.nan, math.nan)))
    return found


def _count_all(result: StudyResult) -> dict[str, tuple[NDArray[np.int32], int]]:
    """How often each candidate selected each feature, and on how many resamples; none without a finished fit."""
    counted = {}
    for candidate in result.candidates:
        try:
            runs = read_subsets(result, candidate)
            counted[candidate] = runs.counts.astype(np.int32), runs.n_runs
        except ValueError:  # none of its fits has finished
            counted[candidate] = np.zeros(0, dtype=np.int32), 0
    return counted
