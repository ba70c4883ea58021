"""How many features: stability over the number of features, and what is selected at each, from the stored orders."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from holdfast.inference.features import feature_table
from holdfast.plots.embed import draw_figure
from holdfast.plots.lines import draw_profile, profile_data
from holdfast.report.features import show_name
from holdfast.report.labels import make_labels
from holdfast.report.records import Labels
from holdfast.study import StudyResult
from holdfast.study.orders import UnansweredError
from holdfast.text import describe_interval, format_count, format_number, format_score
from holdfast.tradeoff.profiles import SizeProfile, cut_to_sizes, find_sizes, gives_orders
from holdfast.web.rendering import Page
from holdfast.web.results import (
    CommonOptions,
    CommonQuery,
    Snapshot,
    choose_options,
    describe_unfinished,
    find_labels,
    without_warnings,
)
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()


@dataclass(frozen=True, kw_only=True)
class ProfileSource:
    """A selector, or a candidate that orders all features.

    Attributes
    ----------
    name, label : str
        How it is asked for, and what readers call it.
    missing : str
        Why it has no profile; empty if it has one.
    least, most : int
        The smallest and the largest number of features that can be asked for; 0 if it has no profile.
    sizes : tuple of int
        The numbers of features that can be asked for, if not all from ``least`` to ``most``.
    """

    name: str
    label: str
    missing: str = ""
    least: int = 0
    most: int = 0
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ProfileLine:
    """The profile of one selector.

    Attributes
    ----------
    name : str
        The selector, or the candidate.
    knots : tuple of int
        Sizes after which features enter almost at random.
    points : list of dict
        The sizes, the smallest first: a row of the frame of a :class:`holdfast.SizeProfile` each, with whether it is a
        knot, and the score and its standard error, undefined where there is none.
    """

    name: str
    knots: tuple[int, ...]
    points: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class SizedFeature:
    """A feature that was selected at a size.

    Attributes
    ----------
    feature : str
        Its name.
    place : int
        Its column in the data, from 0.
    count : int
        Number of resamples that selected it.
    frequency, low, high : float
        Their share, and its interval.
    """

    feature: str
    place: int
    count: int
    frequency: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class SizedSelection:
    """What is selected if so many features are.

    Attributes
    ----------
    family : str
        The selector, or the candidate.
    size : int
        Number of features.
    stability, low, high : float
        Stability and its interval.
    random : float
        Stability of random subsets of this size.
    score, score_error : float
        Score of the candidate with this size and its standard error; undefined where there is none.
    n_runs : int
        Number of resamples.
    n_selected : int
        Number of features that were selected in any of them.
    features : tuple of SizedFeature
        These features, the most frequent first, at most 100.
    sentence : str
        The stability in a sentence.
    """

    family: str
    size: int
    stability: float
    low: float
    high: float
    random: float
    score: float
    score_error: float
    n_runs: int
    n_selected: int
    features: tuple[SizedFeature, ...]
    sentence: str


# The page


MAX_FEATURES = 100
"""Features that are listed at a size."""
MAX_LINES = 8
"""Selectors in one picture, as many as there are colors."""
COLUMNS = {
    "selector": "selector", "size": "number of features", "stability": "stability", "low": "lower end of the interval",
    "high": "upper end of the interval", "baseline": "random selection",
}  # fmt: skip
KNOTS = (
    "A ring marks a number of features up to which the resamples agree on the features that are added, and after which "
    "further ones enter almost at random (they agree on no more than {} of what is possible beyond chance)."
)


@dataclass(frozen=True, kw_only=True)
class SizeQuery(CommonQuery):
    """Whose selection of a number of features, by what measure of subsets.

    Attributes
    ----------
    family : str
        A selector, or a candidate that orders all features; the first that has orders if it is left out.
    """

    family: str = ""


@dataclass(frozen=True, kw_only=True)
class ProfileQuery(SizeQuery):
    """Whose profile, by what measure of subsets.

    Attributes
    ----------
    size : int or None
        Number of features to look at.
    together : bool
        Whether to draw all selectors that have orders.
    """

    size: int | None = None
    together: bool = False


def draw_lines(page: Page) -> dict[str, str]:
    """Draw stability over the number of features."""
    labels = {source.name: source.label for source in page.sources}
    rows = [
        {
            "selector": labels[line.name], "baseline": point["random"],
            **{name: point[name] for name in ("size", "stability", "low", "high", "knot")},
        }
        for line in page.lines
        for point in line.points
    ]  # fmt: skip
    if len(rows) < 2:
        return {}
    data = profile_data(pd.DataFrame(rows))
    return {"profile": draw_figure("figure-profile", draw_profile, data, level=page.options.level, columns=COLUMNS)}


@routes.page("/studies/{study}/profile", "profile.html.j2", draw_lines)
def show_profile(site: Site, study: str, query: ProfileQuery) -> Page:
    """Show stability over the number of features, and what is selected at one of them."""
    state, snapshot = site.launcher.state(study), site.results.get(study)
    options = choose_options(snapshot, query.measure, query.metric, query.level, subsets=True)
    sources, source = find_sources(snapshot), find_source(snapshot, query.family)
    if source is None:
        lines: list[ProfileLine] = []
    else:
        others = [other for other in sources if query.together and not other.missing and other != source]
        lines = [_make_line(_profile(snapshot, each.name, options)) for each in [source, *others][:MAX_LINES]]
    size = query.size or (_usual_size(lines[0]) if lines else 0)
    knots = KNOTS.format("0.2") if any(line.knots for line in lines) else ""
    return Page(
        state=state, labels=find_labels(snapshot), options=options, sources=sources, source=source,
        together=query.together, lines=tuple(lines), knots=knots,
        at=None if source is None else select_size(snapshot, source, size, options),
        notes=_notes(snapshot.result),
    )  # fmt: skip


@routes.data("/studies/{study}/profile/{size}")
def read_size(site: Site, study: str, size: str, query: SizeQuery) -> SizedSelection:
    """Tell what is selected if so many features are, from the stored orders."""
    snapshot = site.results.get(study)
    if not size.isascii() or not size.isdigit() or len(size) > 9:
        raise ValueError(f"Expected a number of features, got {size[:60]!r}.")
    options = choose_options(snapshot, query.measure, query.metric, query.level, subsets=True)
    source = find_source(snapshot, query.family)
    if source is None:
        raise ValueError(f"There are no orders of features to cut: {find_sources(snapshot)[0].missing}.")
    return select_size(snapshot, source, int(size), options)


# Who has a profile


def find_sources(snapshot: Snapshot) -> tuple[ProfileSource, ...]:
    """Return all selectors, and candidates that order all features, with the sizes that can be asked for."""
    labels = find_labels(snapshot)
    return snapshot.remember("profile sources", lambda result: tuple(_sources(result, labels)))


def _sources(result: StudyResult, labels: Labels) -> list[ProfileSource]:
    sources = []
    for family in result.families:
        ordering = [name for name in result.candidates if result.family(name) == family and gives_orders(result, name)]
        names = dict.fromkeys(ordering or [family])
        sources += [
            _source(result, name, labels.candidate(name) if ordering else labels.family(name)) for name in names
        ]
    return sources


def _source(result: StudyResult, name: str, label: str) -> ProfileSource:
    try:
        sizes = find_sizes(result, name)
    except UnansweredError as unanswered:
        return ProfileSource(name=name, label=label, missing=unanswered.plain)
    if len(sizes) < 2:
        return ProfileSource(name=name, label=label, missing="only one number of features was stored")
    listed = () if isinstance(sizes, range) else tuple(sizes)
    return ProfileSource(name=name, label=label, least=sizes[0], most=sizes[-1], sizes=listed)


def find_source(snapshot: Snapshot, name: str) -> ProfileSource | None:
    """Return the selector that was asked for, or the first that has a profile; None if none has."""
    sources = find_sources(snapshot)
    if not name:
        return next((source for source in sources if not source.missing), None)
    for source in sources:
        if source.name == name:
            if source.missing:
                raise ValueError(f"{source.label} has no profile: {source.missing}.")
            return source
    known = ", ".join(source.name for source in sources[:8])
    raise ValueError(f"Expected one of the selectors {known}, got {name[:80]!r}.")


# The profile


def _profile(snapshot: Snapshot, name: str, options: CommonOptions) -> SizeProfile:
    key = ("profile", name, options.measure, options.metric, options.level)
    return snapshot.remember(key, lambda result: without_warnings(lambda: _work_out(result, name, options)))


def _work_out(result: StudyResult, name: str, options: CommonOptions, sizes: list[int] | None = None) -> SizeProfile:
    metric = options.metric if result.has_scores else None
    try:
        return result.profile(name, options.measure, sizes=sizes, metric=metric, level=options.level)
    except ValueError:  # the candidates with these sizes have no scores
        return result.profile(name, options.measure, sizes=sizes, level=options.level)


def _make_line(profile: SizeProfile) -> ProfileLine:
    frame = profile.frame.assign(**{name: math.nan for name in ("score", "score_se") if name not in profile.frame})
    frame = frame.assign(knot=frame["size"].isin(list(profile.knots))).rename(columns={"score_se": "score_error"})
    points: list[Any] = frame.to_dict("records")
    return ProfileLine(name=profile.name, knots=tuple(profile.knots), points=points)


def _usual_size(line: ProfileLine) -> int:
    """The size to look at first: the first knot, else the most stable one."""
    known = [point for point in line.points if not math.isnan(point["stability"])]
    if line.knots or not known:
        return line.knots[0] if line.knots else int(line.points[0]["size"])
    return int(max(known, key=lambda point: point["stability"])["size"])


# One size


def select_size(snapshot: Snapshot, source: ProfileSource, size: int, options: CommonOptions) -> SizedSelection:
    """Return what is selected if so many features are; an error if the orders do not tell."""
    if not source.least <= size <= source.most or (source.sizes and size not in source.sizes):
        which = ", ".join(map(str, source.sizes)) if source.sizes else f"{source.least:,} to {source.most:,}"
        raise ValueError(f"Expected a number of features that was stored for {source.label} ({which}), got {size:,}.")
    key = ("size", source.name, size, options.measure, options.metric, options.level)
    return snapshot.remember(key, lambda result: without_warnings(lambda: _select(result, source.name, size, options)))


def _select(result: StudyResult, name: str, size: int, options: CommonOptions) -> SizedSelection:
    (point,) = _make_line(_work_out(result, name, options, [size])).points
    (designed,) = cut_to_sizes(result, name, [size])[0].values()
    table = feature_table(designed.runs, level=options.level)
    places = np.argsort(-designed.runs.counts, kind="stable")[: len(table)].tolist()  # in the order of the table
    rows: list[Any] = table[["feature", "count", "frequency", "low", "high"]].to_dict("records")
    features = tuple(
        SizedFeature(**{**row, "feature": show_name(row["feature"]), "place": place})
        for place, row in zip(places[:MAX_FEATURES], rows, strict=False)
    )
    return SizedSelection(
        family=name, size=size, n_runs=designed.runs.n_runs, n_selected=len(table), features=features,
        **{key: float(point[key]) for key in ("stability", "low", "high", "random", "score", "score_error")},
        sentence=_describe_size(point, designed.runs.n_runs, len(table), options, make_labels(result)),
    )  # fmt: skip


def _describe_size(
    point: Mapping[str, Any], n_runs: int, n_selected: int, options: CommonOptions, labels: Labels
) -> str:
    """The stability at a size, and how many features took turns, in sentences."""
    count = format_count(point["size"], "feature")
    if math.isnan(point["stability"]):
        first = (
            f"With {count} the stability is undefined: all features are no selection, or there are too few resamples."
        )
    else:
        random = "" if math.isnan(point["random"]) else f"; random selection {format_number(point['random'])}"
        interval = describe_interval(point["low"], point["high"], options.level)
        first = f"With {count} the stability is {format_number(point['stability'])} ({interval}{random})."
    score = ""
    if not math.isnan(point["score"]):
        numbers = format_score(point["score"], point["score_error"])
        score = f" The {labels.score(options.metric)} is {numbers} (standard error)."
    return (
        f"{first}{score} {format_count(n_runs, 'resample')} selected {format_count(n_selected, 'different feature')}."
    )


def _notes(result: StudyResult) -> tuple[str, ...]:
    nested = "The samples of full size are measured here." if result.design == "nested_subsamples" else ""
    return tuple(filter(None, [describe_unfinished(result), nested]))
