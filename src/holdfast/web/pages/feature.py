"""One feature of a study: how often it was selected and where, what it is worth, and what is selected instead."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from holdfast.inference.features import selected_instead
from holdfast.plots.embed import figure
from holdfast.plots.lines import line_with_band
from holdfast.plots.text import format_count, format_percent
from holdfast.plots.theme import alt, finish_chart, inline_data, unchecked
from holdfast.report.features import show_name
from holdfast.report.records import Feature
from holdfast.tradeoff.selected import AT_MOST_TWICE, HOLDS, NOT_ABOVE_CHANCE, NOT_SHOWN, OFTEN, UNTESTED
from holdfast.web.choices import NamedOption
from holdfast.web.findings.features import (
    LEVEL,
    THRESHOLD,
    CandidateFeatures,
    count_elsewhere,
    count_so_far,
    find_features,
)
from holdfast.web.guard import RefusedError
from holdfast.web.launcher import StudyState
from holdfast.web.pages.features import (
    FeatureFacts,
    FeaturesQuery,
    check_query,
    list_candidates,
    list_facts,
    with_candidate,
)
from holdfast.web.results import Snapshot
from holdfast.web.routing import Routes
from holdfast.web.site import Site

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

routes = Routes()

MOST_INSTEAD = 10
WIDTH, NARROW, HEIGHT = 560, 262, 220


@dataclass(frozen=True, kw_only=True)
class FeatureLink:
    """Another feature.

    Attributes
    ----------
    place : int
        Its column in the data, from 0.
    feature : str
        Its name.
    """

    place: int
    feature: str


@dataclass(frozen=True, kw_only=True)
class ShareSoFar:
    """How often a feature was selected after so many resamples.

    Attributes
    ----------
    resamples : int
        Number of resamples.
    share, low, high : float
        Share of them that selected it, with its interval.
    """

    resamples: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class CandidateFrequency:
    """How often a candidate selected a feature.

    Attributes
    ----------
    candidate, label : str
        The candidate's exact name, and what it is called.
    count, resamples : int
        How many of the resamples selected it.
    frequency, low, high : float
        The share, with its interval; undefined if none of the candidate's fits has finished.
    """

    candidate: str
    label: str
    count: int
    resamples: int
    frequency: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Instead:
    """A feature that is selected more often where the one that is looked at is not.

    Attributes
    ----------
    place : int
        Its column in the data, from 0.
    feature : str
        Its name.
    without, beside : float
        Share of the resamples without the one that is looked at, and with it, that selected it.
    clear : bool
        Whether the difference is larger than chance would give, among all features.
    """

    place: int
    feature: str
    without: float
    beside: float
    clear: bool


@dataclass(frozen=True, kw_only=True)
class FeaturePage:
    """One feature of a candidate of a study.

    Attributes
    ----------
    state : StudyState
        What the study is doing.
    measured : int
        Number of fits behind what is shown.
    settings : FeaturesQuery
        The table that it is a row of.
    candidates : tuple of NamedOption
        The candidates of the study.
    facts : FeatureFacts
        What holds for all features.
    place : int
        Column of the feature in the data, from 0.
    feature : Feature
        How often it was selected, its effect, values by class, stand-ins, and verdict.
    reason : str
        Why the verdict is what it is.
    selected_in : tuple of bool
        Whether each resample selected it, in order.
    resamples : tuple of str
        Labels of the resamples.
    shares : tuple of ShareSoFar
        How the share develops as resamples are added.
    elsewhere : tuple of CandidateFrequency
        How often every candidate of the study selected it.
    stand_ins : tuple of FeatureLink
        Features that take turns with it.
    instead : tuple of Instead
        What is selected more often where it is not, the largest difference first.
    position, n_listed : int
        Where it stands in the table, from 1, and how many features the table has; 0 if it is not in it.
    previous, next : FeatureLink or None
        The features before and after it in the table.
    """

    state: StudyState
    measured: int
    settings: FeaturesQuery
    candidates: tuple[NamedOption, ...]
    facts: FeatureFacts
    place: int
    feature: Feature
    reason: str
    selected_in: tuple[bool, ...]
    resamples: tuple[str, ...]
    shares: tuple[ShareSoFar, ...]
    elsewhere: tuple[CandidateFrequency, ...]
    stand_ins: tuple[FeatureLink, ...]
    instead: tuple[Instead, ...]
    position: int
    n_listed: int
    previous: FeatureLink | None
    next: FeatureLink | None

    @property
    def label(self) -> str:
        """What the candidate is called."""
        return next(candidate.label for candidate in self.candidates if candidate.name == self.settings.candidate)

    @property
    def no_boxes(self) -> bool:
        """Whether there is no picture by class."""
        return not any(box.quantiles for box in self.feature.boxes)


def draw_feature(page: FeaturePage) -> Mapping[str, str]:
    """Return the figure of one feature: how its share develops."""
    if len(page.shares) < 2:
        return {}
    with unchecked():
        wide, narrow = draw_shares(page, WIDTH), draw_shares(page, NARROW)
    columns = {"resamples": "resamples", "share": "share", "low": "lower end", "high": "upper end"}
    return {"shares": figure(wide, "figure-shares", narrow=narrow, columns=columns)}


def draw_shares(page: FeaturePage, width: int) -> "AnyChart":
    """Draw how the share of the resamples that selected a feature develops as resamples are added."""
    data = pd.DataFrame([vars(share) for share in page.shares])
    base = alt.Chart(inline_data(data)).encode(
        x=alt.X("resamples:Q", title="number of resamples", axis=alt.Axis(tickMinStep=1, format=",d"))
    )
    y = alt.Y("share:Q", title="selected in", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    tooltip = [
        alt.Tooltip("resamples:Q", title="resamples", format=",d"),
        *(alt.Tooltip(f"{name}:Q", title=title, format=".0%") for name, title in zip(
            ("share", "low", "high"), ("selected in", "interval from", "to"), strict=True
        )),
    ]  # fmt: skip
    level = inline_data(pd.DataFrame({"y": [page.facts.threshold]}))
    threshold = alt.Chart(level).mark_rule(strokeDash=[4, 4], opacity=0.6).encode(y="y:Q")
    chart = alt.layer(threshold, *line_with_band(base, data, y, tooltip=tooltip)).properties(width=width, height=HEIGHT)
    last = page.shares[-1]
    finding = (
        f"{100 * last.share:.0f} % of {format_count(last.resamples, 'resample')} selected it "
        f"({format_percent(LEVEL)} interval {100 * last.low:.0f} to {100 * last.high:.0f} %)"
    )
    notes = [
        f"band: {format_percent(LEVEL)} interval; dashed: {format_percent(THRESHOLD)}, which a feature must exceed"
    ]
    return finish_chart(chart, finding, notes, width=width + 60)


@routes.page("/studies/{study}/features/{place}", "feature.html.j2", draw=draw_feature)
def show_feature(site: Site, study: str, place: str, query: FeaturesQuery) -> FeaturePage:
    """Show one feature, by its column: how often it was selected, its effect, and what is selected instead."""
    check_query(query)
    state, snapshot = site.launcher.state(study), site.results.get(study)
    query = with_candidate(snapshot, query)
    features = find_features(snapshot, query.candidate)
    column = _read_place(place, features.runs.n_features)
    (feature,) = features.describe([column])
    order = features.arrange(query.sort, query.search.strip(), query.verdict)
    position = order.index(column) + 1 if column in order else 0
    selected, facts = features.selected_in(column), list_facts(features)
    return FeaturePage(
        state=state, measured=snapshot.progress.done, settings=query, candidates=list_candidates(snapshot),
        facts=facts, place=column, feature=feature, reason=explain_verdict(feature, facts),
        selected_in=tuple(selected.tolist()), resamples=tuple(features.runs.labels or ()),
        shares=_develop(selected), elsewhere=_compare_candidates(snapshot, column),
        stand_ins=_link_stand_ins(features, column), instead=_find_instead(features, column), position=position,
        n_listed=len(order), previous=_link(features, order[position - 2] if position > 1 else None),
        next=_link(features, order[position] if 0 < position < len(order) else None),
    )  # fmt: skip


def _read_place(place: str, n_features: int) -> int:
    if not (place.isascii() and place.isdigit() and len(place) < 12 and int(place) < n_features):
        raise RefusedError(404, f"Expected the column of a feature, from 0 to {n_features - 1}, got {place[:20]!r}.")
    return int(place)


def _develop(selected: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> tuple[ShareSoFar, ...]:
    return tuple(
        ShareSoFar(resamples=number, share=share, low=low, high=high)
        for number, share, low, high in count_so_far(selected)
    )


def _compare_candidates(snapshot: Snapshot, place: int) -> tuple[CandidateFrequency, ...]:
    found = count_elsewhere(snapshot, place)
    labels = {candidate.name: candidate.label for candidate in list_candidates(snapshot)}
    return tuple(
        CandidateFrequency(
            candidate=name, label=labels[name], count=count, resamples=n, low=low, high=high,
            frequency=count / n if n else float("nan"),
        )
        for name, (count, n, low, high) in found.items()
    )  # fmt: skip


def _link(features: CandidateFeatures, place: int | None) -> FeatureLink | None:
    if place is None:
        return None
    return FeatureLink(place=place, feature=show_name(features.runs.features[place]))


def _link_stand_ins(features: CandidateFeatures, place: int) -> tuple[FeatureLink, ...]:
    rows = np.flatnonzero(features.places == place)
    if not rows.size:
        return ()
    column = {name: other for other, name in enumerate(features.runs.features)}
    names = features.found.frame["stand_ins"].iloc[int(rows[0])]
    return tuple(FeatureLink(place=column[name], feature=show_name(name)) for name in names)


def _find_instead(features: CandidateFeatures, place: int) -> tuple[Instead, ...]:
    frame = selected_instead(features.runs, place, most=MOST_INSTEAD, level=LEVEL)
    return tuple(
        Instead(
            place=int(row["column"]), feature=show_name(features.runs.features[int(row["column"])]),
            without=float(row["without"]), beside=float(row["beside"]), clear=bool(row["clear"]),
        )
        for row in frame.to_dict(orient="records")
    )  # fmt: skip


def explain_verdict(feature: Feature, facts: FeatureFacts) -> str:
    """Why the verdict on a feature is what it is, in a sentence."""
    level, threshold = format_percent(facts.level), format_percent(facts.threshold)
    low, high, chance = f"{100 * feature.low:.0f} %", f"{100 * feature.high:.0f} %", f"{100 * facts.chance:.2g} %"
    often = f"Its selection frequency is above {threshold}: the {level} interval begins at {low}."
    spread = f"The {level} interval of its selection frequency, {low} to {high},"
    reasons = {
        HOLDS: f"{often} And the candidate predicts held-out rows better than guessing.",
        OFTEN: f"{often} But how stable the selection is as a whole is not sure enough to say that it holds.",
        UNTESTED: f"{often} But whether the features carry information was not tested.",
        NOT_SHOWN: f"{often} But the candidate was not shown to predict better than guessing.",
        "takes turns": (
            f"Alone it is not above {threshold}, but it or one of its stand-ins was selected in "
            f"{100 * feature.with_stand_ins:.0f} % of the resamples, which is."
        ),
        "undecided": f"{spread} includes {threshold}: more resamples would tell.",
        "does not hold": f"{spread} is below {threshold}, though above chance ({chance}).",
        NOT_ABOVE_CHANCE: f"{spread} includes {chance}, the frequency of a feature drawn at random.",
        AT_MOST_TWICE: f"{spread} ends at or below twice the frequency of a feature drawn at random ({chance}).",
    }
    return reasons.get(feature.verdict, "")
