"""What pages about candidates share: measures, scores and levels to choose from, and checks of what was asked for."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from holdfast.declared import did_you_mean
from holdfast.inference.intervals import check_level
from holdfast.measures import MEASURES, Measure, find_measure
from holdfast.plots.text import format_number, format_percent
from holdfast.report.labels import make_labels
from holdfast.report.records import Labels
from holdfast.study import StudyResult
from holdfast.web.choices import NamedOption, list_levels, needs_only_runs
from holdfast.web.results import Snapshot

USUAL_LEVEL = 0.95
MOST_NAMED = 8
"""Candidates that a sentence lists at most."""
Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class CommonQuery:
    """By what stability and prediction are measured.

    Attributes
    ----------
    metric, measure : str
        The score and the measure of stability; the usual ones if they are left out.
    level : float
        Level of all intervals and tests.
    """

    metric: str = ""
    measure: str = ""
    level: float = USUAL_LEVEL


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """The measure, the score and the level of a page, and those that could be chosen instead.

    Attributes
    ----------
    measure : str
        The measure of stability.
    metric : str or None
        The score; None if the study has none.
    level : float
        Level of the intervals and tests.
    measures, metrics : tuple of NamedOption
        The measures and scores to choose from.
    levels : tuple of float
        Levels to choose from.
    """

    measure: str
    metric: str | None
    level: float
    measures: tuple[NamedOption, ...]
    metrics: tuple[NamedOption, ...]
    levels: tuple[float, ...]


def find_labels(snapshot: Snapshot) -> Labels:
    """Return the names for readers, made once."""
    return snapshot.remember("labels", make_labels)


def quietly(work_out: Callable[[], Answer]) -> Answer:
    """Work something out without warnings, which say on a terminal what the page says in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work_out()


# What can be chosen


def choose_options(
    snapshot: Snapshot, measure: str, metric: str, level: float, *, subsets: bool = False
) -> CommonOptions:
    """Check measure, score and level, fill in the usual ones for empty texts, and list the others.

    ``subsets`` asks for a measure of subsets.
    """
    result, labels = snapshot.result, find_labels(snapshot)
    check_level(level)
    measures = {found.name: found for found in usable_measures(result, subsets)}
    if measure and MEASURES.spelled(measure) not in measures:
        raise ValueError(
            f"Expected a measure that a study's selections are enough for ({', '.join(measures)}), got {measure[:60]!r}"
            f"{did_you_mean(measure, measures)}"
        )
    if metric and metric not in result.metrics:
        known = ", ".join(result.metrics) or "it has none"
        raise ValueError(f"Expected one of the study's scores ({known}), got {metric[:60]!r}.")
    return CommonOptions(
        measure=str(MEASURES.spelled(measure)) if measure else _usual_measure(snapshot, subsets),
        metric=metric or next(iter(result.metrics), None),
        level=level,
        measures=tuple(
            NamedOption(name=name, label=found.about.label, summary=found.summary) for name, found in measures.items()
        ),
        metrics=tuple(NamedOption(name=name, label=labels.score(name)) for name in result.metrics),
        levels=list_levels(level),
    )


def library_options(snapshot: Snapshot, options: CommonOptions) -> dict[str, Any]:
    """Return the options as the library takes them: the usual ones are left to it, as the report leaves them.

    So what the report and these pages ask for is the same question, which a result answers once.
    """
    usual = options.measure == _usual_measure(snapshot, subsets=False)
    first = options.metric == next(iter(snapshot.result.metrics), None)
    return {
        "metric": None if first else options.metric, "measure": None if usual else options.measure,
        "level": options.level,
    }  # fmt: skip


def usable_measures(result: StudyResult, subsets: bool) -> list[Measure]:
    """Return the measures of which more is better and that need nothing but selections."""
    kinds = {"subset"} if subsets else {"subset", *result.kinds.values()}
    return [
        measure
        for measure in MEASURES.values()
        if measure.kind in kinds and measure.higher_is_better and needs_only_runs(measure)
    ]


def _usual_measure(snapshot: Snapshot, subsets: bool) -> str:
    if subsets:
        return "nogueira"
    return snapshot.remember("usual measure", lambda result: find_measure(result.common_measure().measure).name)


def check_candidate(result: StudyResult, name: str) -> str:
    """Return the name of a candidate; raise if the study has none such."""
    if name not in result.candidates:
        known = ", ".join(result.candidates[:MOST_NAMED]) + (", …" if len(result.candidates) > MOST_NAMED else "")
        raise ValueError(f"Expected one of the candidates {known}, got {name[:80]!r}.")
    return name


def describe_unfinished(result: StudyResult) -> str:
    """Say that a study has not come to its end; empty if it has."""
    if result.complete:
        return ""
    planned = len(result.candidates) * result.n_splits
    return (
        f"The study is not finished: {result.n_outcomes:,} of {planned:,} fits are done. All numbers may still change."
    )


# In words


def format_interval(low: float, high: float, level: float) -> str:
    """An interval in words; that there is none, if it is undefined."""
    if math.isnan(low) or math.isnan(high):
        return "no interval"
    return f"{format_percent(level)} interval {format_number(low)} to {format_number(high)}"


def format_p_value(p: float) -> str:
    """A p-value, never more precise than anybody needs."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
