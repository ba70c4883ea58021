"""The trade-off: score against stability of all candidates, the rule that chooses one, and how sure that is."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from holdfast.plots.embed import draw_figure
from holdfast.plots.pareto import draw_pareto, pareto_data
from holdfast.report.building import describe_stability, estimate_stability
from holdfast.report.labels import make_labels
from holdfast.report.pictures import COLUMNS_OF_FIGURES
from holdfast.report.records import Labels, Tradeoff
from holdfast.report.summary import describe_guessing
from holdfast.study import StudyResult
from holdfast.study.orders import UnansweredError
from holdfast.text import format_count
from holdfast.tradeoff.choice import Choice, describe_certainty
from holdfast.tradeoff.rules import RULES, Rule
from holdfast.tradeoff.selected import Information, compare_with_guessing, why_no_scores
from holdfast.web.forms import (
    describe_inputs,
    describe_rule,
    missing_parameters,
    read_parameters,
)
from holdfast.web.rendering import Page
from holdfast.web.results import (
    CommonOptions,
    ResultQuery,
    Snapshot,
    check_candidate,
    choose_options,
    describe_unfinished,
    find_labels,
    library_options,
    without_warnings,
)
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()


@dataclass(frozen=True, kw_only=True)
class FrontCandidate:
    """A candidate as a point of score and stability.

    Attributes
    ----------
    candidate, family : str
        Its name, and the selector it belongs to.
    score, score_low, score_high, score_error : float
        Mean score on held-out rows, its interval and its standard error.
    stability, low, high : float
        Stability and its interval.
    size : float
        Mean number of selected features.
    on_front : bool
        Whether no other candidate is at least as good in both and better in one.
    chosen_in : float
        Share of redrawn resamples in which the rule chooses it; undefined if nothing was redrawn.
    alternative : bool
        Whether it is one of several that these data cannot tell apart.
    note : str
        Why the rule did not choose it, or what is missing; empty for the chosen one.
    """

    candidate: str
    family: str
    score: float = math.nan
    score_low: float = math.nan
    score_high: float = math.nan
    score_error: float = math.nan
    stability: float
    low: float
    high: float
    size: float
    on_front: bool = False
    chosen_in: float = math.nan
    alternative: bool = False
    note: str = ""


def draw_front(page: Page) -> dict[str, str]:
    """Draw score against stability, with points that can be clicked."""
    known = [row for row in page.candidates if not math.isnan(row.score + row.stability)]
    if len(known) < 2:
        return {}
    chosen, picked = page.chosen and page.chosen.candidate, page.picked and page.picked.candidate
    rows = [
        {
            "candidate": page.labels.candidate(row.candidate), "family": page.labels.family(row.family),
            "score": row.score, "score_se": row.score_error, "score_low": row.score_low, "score_high": row.score_high,
            "stability": row.stability, "low": row.low, "high": row.high, "on_front": row.on_front,
            "chosen": row.candidate == chosen, "picked": row.candidate == picked != chosen, "key": str(place),
        }
        for place, row in enumerate(page.candidates)
    ]  # fmt: skip
    data, score = pareto_data(pd.DataFrame(rows), level=page.options.level), page.labels.score(page.options.metric)
    columns = COLUMNS_OF_FIGURES["front"]
    return {
        "front": draw_figure("figure-front", draw_pareto, data, score=score, level=page.options.level, columns=columns)
    }


@routes.page("/studies/{study}/tradeoff", "tradeoff_page.html.j2", draw_front)
def show_tradeoff(site: Site, study: str, query: ResultQuery) -> Page:
    """Show score and stability of all candidates, and choose one by a rule."""
    state, snapshot = site.launcher.state(study), site.results.get(study)
    rule, given = query.found_rule, query.rule_texts
    options = choose_options(snapshot, query.measure, query.metric, query.level)
    if query.candidate:
        check_candidate(snapshot.result, query.candidate)
    labels = find_labels(snapshot)
    choice, missing = choose_candidate(snapshot, rule, options, given)
    candidates = find_candidates(snapshot, options, choice, labels)
    name = query.candidate or (choice.candidate if choice else candidates[0].candidate if candidates else "")
    information = _test_information(snapshot, name, options.metric) if name in snapshot.result.kinds else None
    return Page(
        state=state, labels=labels, options=options, parameters=describe_inputs(rule, given),
        rule=describe_rule(rule), rules=tuple(map(describe_rule, RULES.values())),
        query=dict(replace(query, candidate="").pairs), candidates=candidates,
        scored=any(not math.isnan(row.score) for row in candidates),
        chosen=None if choice is None else _describe_choice(choice, labels), missing=missing,
        picked=next((row for row in candidates if row.candidate == name), None), information=information,
        guessing="" if information is None else describe_guessing(information, labels, labels.candidate(name)),
        notes=_notes(snapshot.result),
    )  # fmt: skip


# The choice


def choose_candidate(
    snapshot: Snapshot, rule: Rule, options: CommonOptions, given: Mapping[str, str]
) -> tuple[Choice | None, str]:
    """Return what a rule chooses, or why it chooses nothing, in a sentence."""
    missing = missing_parameters(rule, given)
    if missing:
        return None, missing
    try:
        parameters = read_parameters(rule, given)
    except ValueError as error:
        return None, str(error)
    key = ("choice", rule.about.name, options.metric, options.measure, options.level, tuple(sorted(given.items())))
    arguments = {**library_options(snapshot, options), **parameters}
    return snapshot.remember(key, lambda result: _choose(result, rule.about.name, arguments))


def _choose(result: StudyResult, rule: str, arguments: Mapping[str, Any]) -> tuple[Choice | None, str]:
    if not result.metrics or not result.has_scores:
        return None, f"There is no choice by accuracy and stability: {why_no_scores(result)}."
    try:
        return without_warnings(lambda: result.choose(rule, **arguments)), ""
    except UnansweredError as unanswered:
        return None, f"This rule chooses no candidate: {make_labels(result).write(unanswered.plain)}."
    except ValueError as error:
        return None, make_labels(result).write(str(error))


def _describe_choice(choice: Choice, labels: Labels) -> Tradeoff:
    shares = choice.probabilities
    called = shares.rename(index=labels.candidate).assign(family=shares["family"].map(labels.family).to_numpy())
    return Tradeoff(
        candidate=choice.candidate, reason=labels.write(choice.reason), measured_on=choice.measured_on,
        certainty=describe_certainty(called, labels.candidate(choice.candidate)),
        optimistic=not choice.nested and len(choice.beaten) > 0,
    )  # fmt: skip


# The candidates


def find_candidates(
    snapshot: Snapshot, options: CommonOptions, choice: Choice | None, labels: Labels
) -> tuple[FrontCandidate, ...]:
    """Return all candidates with what the choice says of them, the most stable first."""
    key = ("candidates", options.metric, options.measure, options.level)
    arguments = library_options(snapshot, options)
    rows = snapshot.remember(key, lambda result: _front(result, arguments) or _stabilities(result, options))
    if choice is not None:
        why, shares = choice.beaten["why_not"], choice.probabilities
        rows = [
            replace(
                row, note=labels.write(str(why.get(row.candidate, ""))),
                chosen_in=float(shares["probability"].get(row.candidate, math.nan)),
                alternative=len(choice.alternatives) > 1 and row.candidate in choice.alternatives,
            )
            for row in rows
        ]  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (math.isnan(row.stability), -row.stability)))


def _front(result: StudyResult, arguments: Mapping[str, Any]) -> list[FrontCandidate]:
    """Return the candidates with their scores; empty if the study has none, or they cannot be weighed."""
    if not result.has_scores:
        return []
    try:
        front = without_warnings(lambda: result.pareto(**arguments, n_draws=0))
    except ValueError:
        return []
    return [
        FrontCandidate(
            candidate=str(name), family=str(row["family"]), score=float(row["score"]),
            score_low=float(row["score_low"]), score_high=float(row["score_high"]), score_error=float(row["score_se"]),
            stability=float(row["stability"]), low=float(row["low"]), high=float(row["high"]), size=float(row["size"]),
            on_front=bool(row["on_front"]), note=str(row["reason"] or ""),
        )
        for name, row in front.frame.iterrows()
    ]  # fmt: skip


def _stabilities(result: StudyResult, options: CommonOptions) -> list[FrontCandidate]:
    """Return the candidates of a study without scores."""
    common, rows = result.common_measure(measure=options.measure), []
    for name in result.candidates:
        estimate = estimate_stability(result, name, common, None) if name in result.kinds else "no fit has succeeded"
        stability = describe_stability(result, name, {name: estimate}, options.level)
        size = math.nan if isinstance(estimate, str) or estimate.mean_size is None else float(estimate.mean_size)
        rows.append(
            FrontCandidate(
                candidate=name, family=result.family(name), stability=stability.value, low=stability.low,
                high=stability.high, size=size, note=stability.reason or "",
            )
        )  # fmt: skip
    return rows


def _test_information(snapshot: Snapshot, name: str, metric: str | None) -> Information:
    key = ("information", name, metric)
    return snapshot.remember(key, lambda result: without_warnings(lambda: compare_with_guessing(result, name, metric)))


def _notes(result: StudyResult) -> tuple[str, ...]:
    stopped = len(result.stopped)
    left_out = f"{format_count(stopped, 'candidate')} that the search stopped early {'is' if stopped == 1 else 'are'}"
    return tuple(filter(None, [describe_unfinished(result), f"{left_out} left out." if stopped else ""]))
