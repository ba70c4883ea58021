"""How many features: stability over the number of features, and what is selected at each, from the stored orders."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from holdfast.inference.features import feature_table
from holdfast.plots.embed import draw_figure
from holdfast.plots.lines import draw_profile, profile_data
from holdfast.report.features import show_name
from holdfast.report.labels import make_labels
from holdfast.report.records import Labels
from holdfast.report.verdict import warn_of_unfinished
from holdfast.study import StudyResult
from holdfast.study.orders import UnansweredError
from holdfast.text import describe_interval, format_count, format_number, format_score
from holdfast.tradeoff.profiles import SizeProfile, cut_to_sizes, find_sizes, gives_orders
from holdfast.web import results
from holdfast.web.rendering import Page
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
class SizeQuery(results.CommonQuery):
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
            "selector": labels[line["name"]], "baseline": point["random"],
            **{name: point[name] for name in ("size", "stability", "low", "high", "knot")},
        }
        for line in page.lines
        for point in line["points"]
    ]  # fmt: skip
    if len(rows) < 2:
        return {}
    data = profile_data(pd.DataFrame(rows))
    return {"profile": draw_figure("figure-profile", draw_profile, data, level=page.options.level, columns=COLUMNS)}


@routes.page("/studies/{study}/profile", "profile.html.j2", draw_lines)
def show_profile(site: Site, study: str, query: ProfileQuery) -> Page:
    """Show stability over the number of features, and what is selected at one of them."""
    state, snapshot = site.launcher.state(study), site.results.get(study)
    options = results.choose_options(snapshot, query.measure, query.metric, query.level, subsets=True)
    sources, source = find_sources(snapshot), find_source(snapshot, query.family)
    if source is None:
        lines: list[dict[str, Any]] = []
    else:
        others = [other for other in sources if query.together and not other.missing and other != source]
        key = (options.measure, options.metric, options.level)
        lines = [
            snapshot.remember(("profile", name, *key), partial(make_line, name=name, options=options))
            for name in [source.name, *(other.name for other in others)][:MAX_LINES]
        ]
    size = query.size or (default_size(lines[0]) if lines else 0)
    knots = KNOTS.format("0.2") if any(line["knots"] for line in lines) else ""
    nested = "The samples of full size are measured here." if snapshot.result.design == "nested_subsamples" else ""
    return Page(
        state=state, labels=results.find_labels(snapshot), options=options, sources=sources, source=source,
        together=query.together, lines=tuple(lines), knots=knots,
        at=None if source is None else select_size(snapshot, source, size, options),
        notes=tuple(filter(None, [warn_of_unfinished(snapshot.result), nested])),
    )  # fmt: skip


@routes.data("/studies/{study}/profile/{size}")
def read_size(site: Site, study: str, size: str, query: SizeQuery) -> dict[str, Any]:
    """Return what is selected if so many features are, from the stored orders."""
    snapshot = site.results.get(study)
    if not size.isascii() or not size.isdigit() or len(size) > 9:
        raise ValueError(f"Expected a number of features, got {size[:60]!r}.")
    options = results.choose_options(snapshot, query.measure, query.metric, query.level, subsets=True)
    source = find_source(snapshot, query.family)
    if source is None:
        raise ValueError(f"There are no orders of features to cut: {find_sources(snapshot)[0].missing}.")
    return select_size(snapshot, source, int(size), options)


# Who has a profile


def find_sources(snapshot: results.Snapshot) -> tuple[ProfileSource, ...]:
    """Return all selectors, and candidates that order all features, with the sizes that can be asked for."""
    labels = results.find_labels(snapshot)

    def list_sources(result: StudyResult) -> tuple[ProfileSource, ...]:
        sources = []
        for family in result.families:
            ordering = [
                name for name in result.candidates if result.family(name) == family and gives_orders(result, name)
            ]
            for name in ordering or [family]:
                sources.append(_source(result, name, labels.candidate(name) if ordering else labels.family(name)))
        return tuple(sources)

    return snapshot.remember("profile sources", list_sources)


def _source(result: StudyResult, name: str, label: str) -> ProfileSource:
    try:
        sizes = find_sizes(result, name)
    except UnansweredError as unanswered:
        return ProfileSource(name=name, label=label, missing=unanswered.plain)
    if len(sizes) < 2:
        return ProfileSource(name=name, label=label, missing="only one number of features was stored")
    listed = () if isinstance(sizes, range) else tuple(sizes)
    return ProfileSource(name=name, label=label, least=sizes[0], most=sizes[-1], sizes=listed)


def find_source(snapshot: results.Snapshot, name: str) -> ProfileSource | None:
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


def make_line(
    result: StudyResult, name: str, options: results.CommonOptions, sizes: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return the profile of a selector: its knots, and the rows of its frame, with scores where there are some."""
    metric = options.metric if result.has_scores else None

    def find_profile(metric: str | None) -> SizeProfile:
        return results.without_warnings(
            lambda: result.profile(name, options.measure, sizes=sizes, metric=metric, level=options.level)
        )

    try:
        profile = find_profile(metric)
    except ValueError:  # the candidates with these sizes have no scores
        profile = find_profile(None)
    frame = profile.frame.assign(**{name: math.nan for name in ("score", "score_se") if name not in profile.frame})
    frame = frame.assign(knot=frame["size"].isin(list(profile.knots))).rename(columns={"score_se": "score_error"})
    return {"name": profile.name, "knots": tuple(profile.knots), "points": frame.to_dict("records")}


def default_size(line: Mapping[str, Any]) -> int:
    """The size to look at first: the first knot, else the most stable one."""
    if line["knots"]:
        return int(line["knots"][0])
    points = line["points"]
    stable = max(points, key=lambda point: -math.inf if math.isnan(point["stability"]) else point["stability"])
    return int(stable["size"])


# One size


def select_size(
    snapshot: results.Snapshot, source: ProfileSource, size: int, options: results.CommonOptions
) -> dict[str, Any]:
    """Return what is selected if so many features are: stability, score, and the most frequent features."""
    if not source.least <= size <= source.most or (source.sizes and size not in source.sizes):
        which = ", ".join(map(str, source.sizes)) if source.sizes else f"{source.least:,} to {source.most:,}"
        raise ValueError(f"Expected a number of features that was stored for {source.label} ({which}), got {size:,}.")

    def select(result: StudyResult) -> dict[str, Any]:
        (point,) = make_line(result, source.name, options, [size])["points"]
        (runs_by_block,) = cut_to_sizes(result, source.name, [size])[0].values()
        table = feature_table(runs_by_block.runs, level=options.level).head(MAX_FEATURES)
        columns = np.argsort(-runs_by_block.runs.counts, kind="stable")[: len(table)]  # in the order of the table
        rows = table.assign(feature=table["feature"].map(show_name), column=columns)
        n_runs, n_selected = runs_by_block.runs.n_runs, int((runs_by_block.runs.counts > 0).sum())
        return {
            "family": source.name, "size": size, "n_runs": n_runs, "n_selected": n_selected,
            "features": rows[["feature", "column", "count", "frequency", "low", "high"]].to_dict("records"),
            **{key: float(point[key]) for key in ("stability", "low", "high", "random", "score", "score_error")},
            "sentence": _describe_size(point, n_runs, n_selected, options, make_labels(result)),
        }  # fmt: skip

    return snapshot.remember(("size", source.name, size, options.measure, options.metric, options.level), select)


def _describe_size(
    point: Mapping[str, Any], n_runs: int, n_selected: int, options: results.CommonOptions, labels: Labels
) -> str:
    """The stability at a size, and how many features were selected, in sentences."""
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
