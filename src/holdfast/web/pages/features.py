"""The features of a study: a table to search and sort, and a page for each of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.inference.features import frequency_interval, selected_instead
from holdfast.plots.embed import draw_figure
from holdfast.plots.lines import line_with_band
from holdfast.plots.theme import alt, finish_chart, inline_data, tooltips
from holdfast.preferences import Preferences
from holdfast.report.building import describe_stability, estimate_stability
from holdfast.report.features import describe_effects, show_name
from holdfast.report.records import Feature, Features, FeatureTable, ReportOptions
from holdfast.report.verdict import match_headline
from holdfast.study import StudyResult
from holdfast.study.stabilities import take_best
from holdfast.text import format_count, format_percent
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
from holdfast.web.forms import NamedOption
from holdfast.web.guard import RefusedError
from holdfast.web.rendering import Page
from holdfast.web.results import Snapshot, find_labels, without_warnings
from holdfast.web.routing import Routes, list_changes, study_address
from holdfast.web.site import Site

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

routes = Routes()

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
        found = without_warnings(lambda: result.features(candidate, level=LEVEL, threshold=THRESHOLD))
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
    checked = without_warnings(
        lambda: check_features([name], result, candidate, level=LEVEL, threshold=THRESHOLD, top=top)
    )
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


def count_so_far(selected: NDArray[np.bool_], most: int = 20) -> list[dict[str, Any]]:
    """Return the share of the first resamples that selected a feature, with its interval, as resamples are added."""
    n, counts = selected.size, np.cumsum(selected)
    numbers = np.unique(np.linspace(1, n, min(n, most)).round().astype(int))
    rows = []
    for number in numbers.tolist():
        count = int(counts[number - 1])
        low, high = find_interval(count, number)
        rows.append({"resamples": number, "share": count / number, "low": low, "high": high})
    return rows


def count_elsewhere(snapshot: Snapshot, place: int) -> list[dict[str, Any]]:
    """Return how often each candidate selected a feature; undefined where none of its fits has finished."""
    labels, rows = find_labels(snapshot), []
    for candidate, (counts, n_runs) in snapshot.remember("counts", _count_all).items():
        count = int(counts[place]) if n_runs else 0
        low, high = find_interval(count, n_runs) if n_runs else (math.nan, math.nan)
        rows.append({
            "candidate": candidate, "label": labels.candidate(candidate), "count": count, "resamples": n_runs,
            "frequency": count / n_runs if n_runs else math.nan, "low": low, "high": high,
        })  # fmt: skip
    return rows


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


# The table


MAX_SHOWN = 1000
MAX_SEARCHED = 200
SORTS = {
    "frequency": "frequency", "with-stand-ins": "frequency with stand-ins", "effect": "effect", "name": "name",
    "column": "order in the file",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FeaturesQuery:
    """Which features are shown.

    Attributes
    ----------
    candidate : str
        Name of a candidate; by default the one that a report is about.
    sort : {"frequency", "name", "effect", "with-stand-ins", "column"}
        What they are sorted by: the most frequent or the strongest first, names and columns ascending.
    search : str
        Part of a name; features that were never selected are found, too.
    verdict : str
        Only features of which this is said.
    most : int
        How many are shown, at most 1000.
    """

    candidate: str = ""
    sort: Sort = "frequency"
    search: str = ""
    verdict: str = ""
    most: int = 50

    def address(self, study: str, place: int | None = None) -> str:
        """Where the table is shown, or one feature of it."""
        if place is None:
            return study_address(study, "features", list_changes(self))
        return study_address(study, f"features/{place}", list_changes(replace(self, most=FeaturesQuery.most)))


@dataclass(frozen=True, kw_only=True)
class FeatureFacts:
    """What holds for all features of a candidate.

    Attributes
    ----------
    n_features, n_selected, n_runs : int
        Number of features, of those ever selected, and of resamples.
    threshold, level : float
        Selection frequency that the interval of a feature must exceed, and the level of intervals.
    chance : float
        Selection frequency of a feature drawn at random.
    top : int or None
        How many of the best features of a ranking or weights count as selected; None for subsets.
    effect : str or None
        What effects are (AUC, rank correlation); None if there are none.
    no_effects, no_model_use : str or None
        Why there are no effects, and why it is not said what models do with a feature.
    model_uses : bool
        Whether it is said what models do with a feature.
    """

    n_features: int
    n_selected: int
    n_runs: int
    threshold: float
    level: float
    chance: float
    top: int | None
    effect: str | None
    no_effects: str | None
    no_model_use: str | None
    model_uses: bool
    rows_visible: bool = False


@dataclass(frozen=True, kw_only=True)
class FeatureRow:
    """A row of the table.

    Attributes
    ----------
    place : int
        Column of the feature in the data, from 0.
    feature : Feature
        What is known of it.
    """

    place: int
    feature: Feature


@routes.page("/studies/{study}/features", "study_features.html.j2")
def show_features(site: Site, study: str, query: FeaturesQuery) -> Page:
    """List the features of a candidate: how often they were selected, their effects, stand-ins and verdicts."""
    check_query(query)
    page = Page(
        state=site.launcher.state(study), measured=0, settings=query, candidates=(), missing=None, facts=None,
        n_found=0, rows=(), label="", more="", sorts=SORTS, verdicts=VERDICTS,
    )  # fmt: skip
    try:
        snapshot = site.results.get(study)
    except RefusedError as refused:
        page.missing = refused.sentence.rstrip(".")
        return page
    page.settings = query = with_candidate(snapshot, query)
    page.candidates, page.label = list_candidates(snapshot), find_labels(snapshot).candidate(query.candidate)
    page.measured = snapshot.progress.done
    try:
        features = find_features(snapshot, query.candidate)
    except ValueError as error:
        page.missing = str(error).rstrip(".")
        return page
    order = features.arrange(query.sort, query.search.strip(), query.verdict)
    shown = order[: query.most]
    page.facts, page.n_found = list_facts(features), len(order)
    page.more = replace(query, most=min(query.most + 100, MAX_SHOWN)).address(study)
    page.rows = tuple(
        FeatureRow(place=place, feature=feature) for place, feature in zip(shown, features.describe(shown), strict=True)
    )
    return page


def check_query(query: FeaturesQuery) -> None:
    """Refuse what cannot be searched for."""
    if not 1 <= query.most <= MAX_SHOWN:
        raise ValueError(f"Expected most from 1 to {MAX_SHOWN}, got {query.most}.")
    if len(query.search) > MAX_SEARCHED:
        raise ValueError(f"Expected a search of at most {MAX_SEARCHED} characters, got {len(query.search)}.")
    if query.verdict and query.verdict not in VERDICTS:
        raise ValueError(f"Expected verdict to be one of {', '.join(VERDICTS)}, got {query.verdict[:60]!r}.")


def with_candidate(snapshot: Snapshot, query: FeaturesQuery) -> FeaturesQuery:
    """The same query, with the reported candidate if none was asked for."""
    if not query.candidate:
        return replace(query, candidate=snapshot.remember("reported candidate", default_candidate))
    snapshot.result.family(query.candidate)  # raises a sentence that lists the candidates
    return query


def list_candidates(snapshot: Snapshot) -> tuple[NamedOption, ...]:
    """The candidates of a study, with what they are called."""
    labels = find_labels(snapshot)
    return tuple(NamedOption(name=name, label=labels.candidate(name)) for name in snapshot.result.candidates)


def list_facts(features: CandidateFeatures) -> FeatureFacts:
    """What holds for all features of a candidate."""
    found = features.found
    return FeatureFacts(
        n_features=found.n_features, n_selected=len(found.frame), n_runs=found.n_runs, threshold=THRESHOLD, level=LEVEL,
        chance=float(features.runs.density), top=found.top, effect=found.effect, no_effects=found.missing,
        no_model_use=found.no_model_use, model_uses=found.has_model_use,
    )  # fmt: skip


# One feature


MAX_INSTEAD = 10
WIDTH, NARROW, HEIGHT = 560, 262, 220


def draw_feature(page: Page) -> Mapping[str, str]:
    """Return the figure of one feature: how its share develops."""
    if len(page.shares) < 2:
        return {}
    columns = {"resamples": "resamples", "share": "share", "low": "lower end", "high": "upper end"}
    return {"shares": draw_figure("figure-shares", draw_shares, page, columns=columns)}


def draw_shares(page: Page, *, narrow: bool) -> "AnyChart":
    """Draw how the share of the resamples that selected a feature develops as resamples are added."""
    data, width = pd.DataFrame(page.shares), NARROW if narrow else WIDTH
    base = alt.Chart(inline_data(data)).encode(
        x=alt.X("resamples:Q", title="number of resamples", axis=alt.Axis(tickMinStep=1, format=",d"))
    )
    y = alt.Y("share:Q", title="selected in", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    numbers = {"share:Q": "selected in", "low:Q": "interval from", "high:Q": "to"}
    tooltip = tooltips({"resamples:Q": "resamples"}, ",d") + tooltips(numbers, ".0%")
    level = inline_data(pd.DataFrame({"y": [page.facts.threshold]}))
    threshold = alt.Chart(level).mark_rule(strokeDash=[4, 4], opacity=0.6).encode(y="y:Q")
    chart = alt.layer(threshold, *line_with_band(base, data, y, tooltip=tooltip)).properties(width=width, height=HEIGHT)
    last = page.shares[-1]
    finding = (
        f"{format_percent(last['share'], 0)} of {format_count(last['resamples'], 'resample')} selected it "
        f"({format_percent(LEVEL)} interval {100 * last['low']:.0f} to {100 * last['high']:.0f} %)"
    )
    notes = [
        f"band: {format_percent(LEVEL)} interval; dashed: {format_percent(THRESHOLD)}, which a feature must exceed"
    ]
    return finish_chart(chart, finding, notes, width=width + 60)


@routes.page("/studies/{study}/features/{place}", "feature.html.j2", draw=draw_feature)
def show_feature(site: Site, study: str, place: str, query: FeaturesQuery) -> Page:
    """Show one feature, by its column: how often it was selected, its effect, and what is selected instead."""
    check_query(query)
    state, snapshot = site.launcher.state(study), site.results.get(study)
    query = with_candidate(snapshot, query)
    features = find_features(snapshot, query.candidate)
    n_features = features.runs.n_features
    if not (place.isascii() and place.isdigit() and len(place) < 12 and int(place) < n_features):
        raise RefusedError(404, f"Expected the column of a feature, from 0 to {n_features - 1}, got {place[:20]!r}.")
    column = int(place)
    (feature,) = features.describe([column])
    order = features.arrange(query.sort, query.search.strip(), query.verdict)
    position = order.index(column) + 1 if column in order else 0
    selected, facts = features.selected_in(column), list_facts(features)
    frame = selected_instead(features.runs, column, most=MAX_INSTEAD, level=LEVEL)
    instead = [{**row, **_link(features, int(row["column"]))} for row in frame.to_dict(orient="records")]
    return Page(
        state=state, measured=snapshot.progress.done, settings=query, candidates=list_candidates(snapshot),
        facts=facts, place=column, feature=feature, reason=explain_verdict(feature, facts),
        no_boxes=not any(box.quantiles for box in feature.boxes),
        selected_in=tuple(selected.tolist()), resamples=tuple(features.runs.labels or ()),
        shares=count_so_far(selected), elsewhere=count_elsewhere(snapshot, column),
        stand_ins=_link_stand_ins(features, column), instead=instead, position=position,
        n_listed=len(order), previous=_link(features, order[position - 2]) if position > 1 else None,
        next=_link(features, order[position]) if 0 < position < len(order) else None,
    )  # fmt: skip


def _link(features: CandidateFeatures, place: int) -> dict[str, Any]:
    return {"place": place, "feature": show_name(features.runs.features[place])}


def _link_stand_ins(features: CandidateFeatures, place: int) -> list[dict[str, Any]]:
    rows = np.flatnonzero(features.places == place)
    if not rows.size:
        return []
    column = {name: other for other, name in enumerate(features.runs.features)}
    return [_link(features, column[name]) for name in features.found.frame["stand_ins"].iloc[int(rows[0])]]


def explain_verdict(feature: Feature, facts: FeatureFacts) -> str:
    """Why the verdict on a feature is what it is, in a sentence."""
    level, threshold = format_percent(facts.level), format_percent(facts.threshold)
    low, high, chance = format_percent(feature.low, 0), format_percent(feature.high, 0), f"{100 * facts.chance:.2g} %"
    often = f"Its selection frequency is above {threshold}: the {level} interval begins at {low}."
    spread = f"The {level} interval of its selection frequency, {low} to {high},"
    reasons = {
        HOLDS: f"{often} And the candidate predicts held-out rows better than guessing.",
        OFTEN: f"{often} But how stable the selection is as a whole is not sure enough to say that it holds.",
        UNTESTED: f"{often} But whether the features carry information was not tested.",
        NOT_SHOWN: f"{often} But the candidate was not shown to predict better than guessing.",
        "takes turns": (
            f"Alone it is not above {threshold}, but it or one of its stand-ins was selected in "
            f"{format_percent(feature.with_stand_ins, 0)} of the resamples, which is."
        ),
        "undecided": f"{spread} includes {threshold}: more resamples would tell.",
        "does not hold": f"{spread} is below {threshold}, though above chance ({chance}).",
        NOT_ABOVE_CHANCE: f"{spread} includes {chance}, the frequency of a feature drawn at random.",
        AT_MOST_TWICE: f"{spread} ends at or below twice the frequency of a feature drawn at random ({chance}).",
    }
    return reasons.get(feature.verdict, "")
