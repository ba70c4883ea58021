"""The features of a study: a table to search and sort, and a page for each of them."""

import math
import re
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
from holdfast.plots.survival import draw_survival_curves
from holdfast.plots.theme import alt, finish_chart, inline_data, tooltips
from holdfast.preferences import Preferences
from holdfast.replication import Replicability, check_features, find_known
from holdfast.replication.lists import tabulate_new_study
from holdfast.report.building import describe_stability, estimate_stability
from holdfast.report.features import describe_effects, make_feature, show_name
from holdfast.report.pictures import COLUMNS_OF_FIGURES, list_curves
from holdfast.report.records import NO_TABLE, Feature, Features, ReportOptions
from holdfast.report.verdict import match_headline
from holdfast.study import StudyResult
from holdfast.study.stabilities import features_that_count, subsets_that_count
from holdfast.targets import EFFECTS
from holdfast.text import format_count, format_percent
from holdfast.tradeoff import SelectedFeatures
from holdfast.tradeoff.selected import (
    AT_MOST_TWICE,
    DOES_NOT_HOLD,
    HOLDS,
    IN_DOUBT,
    NOT_ABOVE_CHANCE,
    NOT_SHOWN,
    OFTEN,
    UNTESTED,
    compare_with_guessing,
    default_candidate,
    judge_features,
)
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
    HOLDS, IN_DOUBT, OFTEN, UNTESTED, NOT_SHOWN, "takes turns", "undecided", DOES_NOT_HOLD, NOT_ABOVE_CHANCE,
    AT_MOST_TWICE,
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
    columns : ndarray of int
        Their columns, in the order of ``found``.
    never : dict
        The facts of a feature that was never selected.
    known : Replicability or None
        What is known of the candidate in new studies.
    """

    result: StudyResult
    runs: Preferences
    found: SelectedFeatures
    columns: NDArray[np.int64]
    never: dict[str, Any]
    known: Replicability | None

    def names(self) -> list[str]:
        """Names of all features of the study."""
        return [show_name(name) for name in self.runs.features]

    def arrange(self, query: "FeaturesQuery") -> list[int]:
        """Return the columns of the features that a query finds, in order; without a search, of those ever selected."""
        frame, names = self.found.frame, self.names()
        order = np.arange(len(frame))
        if query.sort == "name":
            order = np.array(sorted(order, key=lambda row: names[self.columns[row]].casefold()), dtype=int)
        elif query.sort == "column":
            order = np.argsort(self.columns)
        elif query.sort == "effect":
            known = EFFECTS.get(self.found.effect or "", EFFECTS["AUC"])
            effects = np.log(frame["effect"]) if known.is_ratio else frame["effect"] - known.neutral
            strengths = np.nan_to_num(effects.abs().to_numpy(), nan=-1.0)
            order = np.argsort(-strengths, kind="stable")
        elif query.sort == "with-stand-ins":
            order = np.argsort(-frame["with_stand_ins"].to_numpy(), kind="stable")
        chosen = self.columns[order].tolist()
        if wanted := query.search.strip().casefold():
            rest = np.setdiff1d(np.arange(self.runs.n_features), self.columns).tolist()
            chosen = [column for column in [*chosen, *rest] if wanted in names[column].casefold()]
        if query.verdict:
            verdicts = dict(zip(self.columns.tolist(), frame["verdict"], strict=True))
            unselected = self.never.get("verdict")
            chosen = [column for column in chosen if verdicts.get(column, unselected) == query.verdict]
        return chosen

    def describe(self, columns: Sequence[int]) -> Features:
        """Return these features, as a report holds those that it shows."""
        row_of = {column: row for row, column in enumerate(self.columns.tolist())}
        known = [column for column in columns if column in row_of]
        names = [self.runs.features[column] for column in known]
        effects = dict(zip(known, describe_effects(self.result, self.found, names, ReportOptions()), strict=True))
        rows = self.found.frame.iloc[[row_of[column] for column in known]].to_dict(orient="records")
        facts: dict[int, dict[Any, Any]] = dict(zip(known, rows, strict=True))
        again: list[dict[Any, Any]] = tabulate_new_study(self.known, columns).to_dict("records")
        features = self.runs.features
        return Features(
            n_features=self.found.n_features, n_runs=self.found.n_runs, threshold=THRESHOLD,
            shown=tuple(
                make_feature(
                    features[column], facts.get(column, self.never), **effects.get(column, {}), **numbers
                )
                for column, numbers in zip(columns, again, strict=True)
            ),
            table=NO_TABLE, map=None, bound="", top=self.found.top, correlation_checked=False,
            chance=float(self.runs.density), effect=self.found.effect, no_effects=self.found.missing,
            no_model_use=self.found.no_model_use,
        )  # fmt: skip

    def selected_in(self, column: int) -> NDArray[np.bool_]:
        """Which resamples selected a feature."""
        indices, pointers = self.runs.lists()
        selected = np.zeros(self.runs.n_runs, dtype=bool)
        selected[np.repeat(np.arange(self.runs.n_runs), np.diff(pointers))[indices == column]] = True
        return selected

    def link(self, column: int) -> dict[str, Any]:
        """A feature as templates link to it."""
        return {"column": column, "feature": show_name(self.runs.features[column])}


# What a snapshot remembers


def find_columns(snapshot: Snapshot, names: Sequence[str]) -> tuple[int, ...]:
    """Return the columns of features by the names that readers see, or by the number of one without a name."""

    def list_columns(result: StudyResult) -> dict[str, int]:
        features = result.feature_names
        numbered = {show_name(column): column for column in range(len(features))}
        return numbered | {show_name(features[column]): column for column in range(len(features) - 1, -1, -1)}

    columns = snapshot.remember("columns of features", list_columns)
    return tuple(columns[name] for name in names)


def find_features(snapshot: Snapshot, candidate: str) -> CandidateFeatures:
    """Return the features of a candidate; raises ValueError, with the reason, if nothing can be said of them."""

    def find(result: StudyResult) -> CandidateFeatures:
        runs = subsets_that_count(result, candidate)
        found = without_warnings(lambda: result.features(candidate, level=LEVEL, threshold=THRESHOLD))
        column_of = {feature: column for column, feature in enumerate(runs.features)}
        columns = np.array([column_of[feature] for feature in found.frame["feature"]], dtype=np.int64)
        missing = np.flatnonzero(runs.counts == 0)
        never: dict[str, Any] = {}
        if missing.size:  # the same is said of all that were never selected
            name = runs.features[int(missing[0])]
            checked = without_warnings(
                lambda: judge_features([name], result, candidate, level=LEVEL, threshold=THRESHOLD, top=found.top)
            )
            never = {str(key): value for key, value in checked.iloc[0].to_dict().items()}
        known = find_known(result, candidate, level=LEVEL)
        return _match_report(
            CandidateFeatures(result=result, runs=runs, found=found, columns=columns, never=never, known=known)
        )

    return snapshot.remember(("features", candidate), find)


def _match_report(features: CandidateFeatures) -> CandidateFeatures:
    """Let no feature hold unless the selection may, as in the report of the candidate."""
    found, result = features.found, features.result
    holds = np.flatnonzero(found.frame["verdict"] == HOLDS)
    if not holds.size:
        return features
    estimate = estimate_stability(result, found.candidate, result.common_measure(), None)
    stability = describe_stability(result, found.candidate, {found.candidate: estimate}, LEVEL)
    record = features.describe([int(features.columns[holds[0]])])
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


def count_elsewhere(snapshot: Snapshot, column: int) -> list[dict[str, Any]]:
    """Return how often each candidate selected a feature; undefined where none of its fits has finished."""
    labels, rows = find_labels(snapshot), []
    for candidate, (counts, n_runs) in snapshot.remember("counts", _count_all).items():
        count = int(counts[column]) if n_runs else 0
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
            runs = subsets_that_count(result, candidate)
            counted[candidate] = runs.counts.astype(np.int32), runs.n_runs
        except ValueError:  # none of its fits has finished
            counted[candidate] = np.zeros(0, dtype=np.int32), 0
    return counted


# The table


MAX_SHOWN = 1000
MAX_SEARCHED = 200
SHARES = ("frequency", "low", "high", "with_stand_ins", "used", "new_study", "by_habit")
"""Columns of a checked list that are shares of resamples or of studies."""
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

    def address(self, study: str, column: int | None = None) -> str:
        """Where the table is shown, or one feature of it."""
        if column is None:
            return study_address(study, "features", list_changes(self))
        return study_address(study, f"features/{column}", list_changes(replace(self, most=FeaturesQuery.most)))


@routes.page("/studies/{study}/features", "study_features.html.j2")
def show_features(site: Site, study: str, query: FeaturesQuery) -> Page:
    """List the features of a candidate: how often they were selected, their effects, stand-ins and verdicts."""
    check_query(query)
    page = Page(
        state=site.launcher.state(study), settings=query, candidates=(), missing=None, features=None, columns=(),
        n_found=0, n_selected=0, label="", more="", sorts=SORTS, verdicts=VERDICTS, level=LEVEL,
    )  # fmt: skip
    try:
        snapshot = site.results.get(study)
        page.settings = query = with_candidate(snapshot, query)
        labels = find_labels(snapshot)
        page.candidates = {name: labels.candidate(name) for name in snapshot.result.candidates}
        page.label = labels.candidate(query.candidate)
    except RefusedError as refused:
        page.missing = refused.sentence.rstrip(".")
        return page
    try:
        features = find_features(snapshot, query.candidate)
    except ValueError as error:
        page.missing = str(error).rstrip(".")
        return page
    order = features.arrange(query)
    page.columns, page.n_found, page.n_selected = order[: query.most], len(order), len(features.columns)
    page.features = features.describe(page.columns)
    page.more = replace(query, most=min(query.most + 100, MAX_SHOWN)).address(study)
    return page


@dataclass(frozen=True, kw_only=True)
class ListForm:
    """A list of features to check.

    Attributes
    ----------
    names : str
        The names, one in each line, or separated by commas, semicolons or tabs in one line.
    candidate : str
        Name of a candidate; by default the one that a report is about.
    """

    names: str = ""
    candidate: str = ""


@routes.form("/studies/{study}/check", "check.html.j2")
def check_list(site: Site, study: str, form: ListForm) -> Page:
    """Check a list of features against the resamples of a candidate, name by name."""
    text = form.names.strip()
    names = [name.strip() for name in (text.splitlines() if "\n" in text else re.split(r"[,;\t]", text))]
    names = list(dict.fromkeys(filter(None, names)))
    if not names:
        raise RefusedError(400, "There are no names in the field: paste your list first, one name in each line.")
    if len(names) > MAX_SHOWN:
        raise RefusedError(400, f"Expected at most {MAX_SHOWN:,} names, got {len(names):,}.")
    snapshot = site.results.get(study)
    candidate = with_candidate(snapshot, FeaturesQuery(candidate=form.candidate)).candidate
    top = features_that_count(snapshot.result, candidate)
    checked = without_warnings(lambda: check_features(names, snapshot.result, candidate, top=top))
    return Page(
        state=site.launcher.state(study), label=find_labels(snapshot).candidate(candidate), candidate=candidate,
        names=names, columns=[str(column) for column in checked.columns], shares=SHARES,
        rows=checked.reset_index(names="feature").to_dict(orient="records"),
        new_study=f"{checked.attrs['new_study']['sentence']} {checked.attrs['real']}".strip(),
    )  # fmt: skip


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


# One feature


MAX_INSTEAD = 10
WIDTH, NARROW, HEIGHT = 560, 262, 220


def draw_feature(page: Page) -> Mapping[str, str]:
    """Return the figures of one feature: how its share develops, and survival by thirds of it."""
    figures = {}
    if len(page.shares) > 1:
        columns = {"resamples": "resamples", "share": "share", "low": "lower end", "high": "upper end"}
        figures["shares"] = draw_figure("figure-shares", draw_shares, page, columns=columns)
    if page.feature.curves:
        figures["survival"] = draw_figure(
            "figure-survival", draw_survival_curves, list_curves([page.feature]), time=page.time,
            columns=COLUMNS_OF_FIGURES["survival"],
        )  # fmt: skip
    return figures


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


@routes.page("/studies/{study}/features/{column}", "feature.html.j2", draw=draw_feature)
def show_feature(site: Site, study: str, column: str, query: FeaturesQuery) -> Page:
    """Show one feature, by its column: how often it was selected, its effect, and what is selected instead."""
    check_query(query)
    state, snapshot = site.launcher.state(study), site.results.get(study)
    query = with_candidate(snapshot, query)
    features, labels = find_features(snapshot, query.candidate), find_labels(snapshot)
    n_features = features.runs.n_features
    if not (column.isascii() and column.isdigit() and len(column) < 12 and int(column) < n_features):
        raise RefusedError(404, f"Expected the column of a feature, from 0 to {n_features - 1}, got {column[:20]!r}.")
    number = int(column)
    facts = features.describe([number])
    (feature,) = facts.shown
    order = features.arrange(query)
    position = order.index(number) + 1 if number in order else 0
    selected = features.selected_in(number)
    frame = selected_instead(features.runs, number, most=MAX_INSTEAD, level=LEVEL)
    column_of = {name: other for other, name in enumerate(features.runs.features)}
    stand_ins = list(features.found.frame["stand_ins"][features.columns == number])
    return Page(
        state=state, settings=query, candidates={name: labels.candidate(name) for name in snapshot.result.candidates},
        time=snapshot.result.data.target or "time", facts=facts,
        column=number, feature=feature, reason=explain_verdict(feature, facts), level=LEVEL,
        no_boxes=not any(box.quantiles for box in feature.boxes), selected_in=tuple(selected.tolist()),
        shares=count_so_far(selected), elsewhere=count_elsewhere(snapshot, number),
        stand_ins=[features.link(column_of[name]) for names in stand_ins for name in names],
        instead=[{**row, **features.link(int(row["column"]))} for row in frame.to_dict(orient="records")],
        position=position, n_listed=len(order), previous=features.link(order[position - 2]) if position > 1 else None,
        next=features.link(order[position]) if 0 < position < len(order) else None,
    )  # fmt: skip


def explain_verdict(feature: Feature, facts: Features) -> str:
    """Why the verdict on a feature is what it is, in a sentence."""
    level, threshold = format_percent(LEVEL), format_percent(facts.threshold)
    low, high, chance = format_percent(feature.low, 0), format_percent(feature.high, 0), f"{100 * facts.chance:.2g} %"
    often = f"Its selection frequency is above {threshold}: the {level} interval begins at {low}."
    spread = f"The {level} interval of its selection frequency, {low} to {high},"
    reasons = {
        HOLDS: f"{often} And the candidate predicts held-out rows better than guessing.",
        OFTEN: f"{often} But how stable the selection is as a whole is not sure enough to say that it holds.",
        UNTESTED: f"{often} But whether the features carry information was not tested.",
        IN_DOUBT: f"{often} But whether the column is a feature is in doubt: see the cautions.",
        NOT_SHOWN: f"{often} But the candidate was not shown to predict better than guessing.",
        "takes turns": (
            f"Alone it is not above {threshold}, but it or one of its stand-ins was selected in "
            f"{format_percent(feature.with_stand_ins, 0)} of the resamples, which is."
        ),
        "undecided": f"{spread} includes {threshold}: more resamples would tell.",
        DOES_NOT_HOLD: f"{spread} is below {threshold}, though above chance ({chance}).",
        NOT_ABOVE_CHANCE: f"{spread} includes {chance}, the frequency of a feature drawn at random.",
        AT_MOST_TWICE: f"{spread} ends at or below twice the frequency of a feature drawn at random ({chance}).",
    }
    return reasons.get(feature.verdict, "")
