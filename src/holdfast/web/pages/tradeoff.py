"""The trade-off: score against stability of all candidates, the rule that chooses one, and how sure that is."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from holdfast.plots.embed import draw_figure
from holdfast.plots.pareto import draw_pareto, pareto_data
from holdfast.report.building import describe_choice, describe_stability, estimate_stability
from holdfast.report.labels import make_labels
from holdfast.report.pictures import COLUMNS_OF_FIGURES, make_point
from holdfast.report.records import Candidate, Labels, Score
from holdfast.report.summary import describe_guessing
from holdfast.report.verdict import warn_of_unfinished
from holdfast.study import StudyResult
from holdfast.study.orders import UnansweredError
from holdfast.study.stabilities import CommonMeasure, corrected_error, mean_score_interval, score_range
from holdfast.text import format_count
from holdfast.tradeoff.choice import Choice
from holdfast.tradeoff.rules import RULES, Rule
from holdfast.tradeoff.selected import compare_with_guessing, why_no_scores
from holdfast.web import results
from holdfast.web.forms import describe_inputs, describe_rule, missing_parameters, read_parameters
from holdfast.web.rendering import Page
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()


def draw_front(page: Page) -> dict[str, str]:
    """Draw score against stability, with points that can be clicked."""
    chosen, picked = page.chosen and page.chosen.candidate, page.picked and page.picked.candidate
    rows = [
        {
            **make_point(row, score, page.labels), "chosen": row.candidate == chosen,
            "picked": row.candidate == picked != chosen, "key": str(index),
        }
        for index, row in enumerate(page.candidates)
        for score in row.scores
        if not math.isnan(score.value + row.stability.value)
    ]  # fmt: skip
    if len(rows) < 2:
        return {}
    data, score = pareto_data(pd.DataFrame(rows), level=page.options.level), page.labels.score(page.options.metric)
    columns = COLUMNS_OF_FIGURES["front"]
    return {
        "front": draw_figure("figure-front", draw_pareto, data, score=score, level=page.options.level, columns=columns)
    }


@routes.page("/studies/{study}/tradeoff", "tradeoff_page.html.j2", draw_front)
def show_tradeoff(site: Site, study: str, query: results.ResultQuery) -> Page:
    """Show score and stability of all candidates, and choose one by a rule."""
    state, snapshot = site.launcher.state(study), site.results.get(study)
    rule, given = query.found_rule, query.rule_texts
    options = results.choose_options(snapshot, query.measure, query.metric, query.level)
    if query.candidate:
        results.check_candidate(snapshot.result, query.candidate)
    labels = results.find_labels(snapshot)
    choice, missing = choose_candidate(snapshot, rule, options, given)
    candidates = find_candidates(snapshot, options, choice, labels)
    name = query.candidate or (choice.candidate if choice else candidates[0].candidate if candidates else "")
    information = None if name not in snapshot.result.kinds else snapshot.remember(
        ("information", name, options.metric),
        lambda result: results.without_warnings(lambda: compare_with_guessing(result, name, options.metric)),
    )  # fmt: skip
    stopped = len(snapshot.result.stopped)
    left_out = f"{format_count(stopped, 'candidate')} that the search stopped early {'is' if stopped == 1 else 'are'}"
    notes = [warn_of_unfinished(snapshot.result), f"{left_out} left out." if stopped else ""]
    return Page(
        state=state, labels=labels, options=options, parameters=describe_inputs(rule, given),
        rule=describe_rule(rule), rules=tuple(map(describe_rule, RULES.values())),
        query=dict(replace(query, candidate="").pairs), candidates=candidates,
        scored=any(row.scores for row in candidates),
        chosen=None if choice is None else describe_choice(choice, labels), missing=missing,
        picked=next((row for row in candidates if row.candidate == name), None), information=information,
        guessing="" if information is None else describe_guessing(information, labels, labels.candidate(name)),
        notes=tuple(filter(None, notes)),
    )  # fmt: skip


# The choice


def choose_candidate(
    snapshot: results.Snapshot, rule: Rule, options: results.CommonOptions, given: Mapping[str, str]
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
    arguments = {**results.library_options(snapshot, options), **parameters}

    def choose(result: StudyResult) -> tuple[Choice | None, str]:
        if not result.metrics or not result.has_scores:
            return None, f"There is no choice by accuracy and stability: {why_no_scores(result)}."
        try:
            return results.without_warnings(lambda: result.choose(rule.about.name, **arguments)), ""
        except UnansweredError as unanswered:
            return None, f"This rule chooses no candidate: {make_labels(result).write(unanswered.plain)}."
        except ValueError as error:
            return None, make_labels(result).write(str(error))

    return snapshot.remember(key, choose)


# The candidates


def make_candidate(result: StudyResult, name: str, common: CommonMeasure, options: results.CommonOptions) -> Candidate:
    """Return a candidate with its stability by a common measure and its score, or why there is no stability."""
    estimate = estimate_stability(result, name, common, None) if name in result.kinds else "no fit has succeeded"
    stability = describe_stability(result, name, {name: estimate}, options.level)
    size = math.nan if isinstance(estimate, str) or estimate.mean_size is None else float(estimate.mean_size)
    scores: tuple[Score, ...] = ()
    if options.metric is not None and not (scored := result.split_scores(name, options.metric))[0].empty:
        values, bounds = np.asarray(scored[0], dtype=np.float64), score_range(result.plan["scoring"][options.metric])
        low, high = mean_score_interval(*scored, bounds, options.level)
        error = corrected_error(values, scored[1])
        scores = (Score(metric=options.metric, value=float(values.mean()), error=error, low=low, high=high),)
    return Candidate(
        candidate=name, family=result.family(name), stability=stability, scores=scores, size=size, seconds=math.nan,
        failures=0, letters="", on_front=False, reported=False, why_not=stability.reason,
    )  # fmt: skip


def find_candidates(
    snapshot: results.Snapshot, options: results.CommonOptions, choice: Choice | None, labels: Labels
) -> tuple[Candidate, ...]:
    """Return all candidates with what the choice says of them, the most stable first."""
    arguments = results.library_options(snapshot, options)

    def list_candidates(result: StudyResult) -> list[Candidate]:
        common = result.common_measure(measure=options.measure)
        rows = [make_candidate(result, name, common, options) for name in result.candidates]
        try:
            front = (
                results.without_warnings(lambda: result.pareto(**arguments, n_draws=0)) if result.has_scores else None
            )
        except ValueError:  # they cannot be weighed
            front = None
        if front is None:
            return rows
        facts: dict[Any, Any] = front.frame.to_dict("index")
        return [
            replace(row, on_front=bool(known["on_front"]), why_not=known["reason"], size=float(known["size"]))
            for row in rows
            for known in [facts[row.candidate]]
        ]

    rows = snapshot.remember(("candidates", options.metric, options.measure, options.level), list_candidates)
    if choice is not None:
        why, shares = choice.beaten["why_not"], choice.probabilities["probability"]
        rows = [
            replace(
                row, why_not=labels.write(str(why.get(row.candidate, ""))),
                chosen_in=float(shares.get(row.candidate, math.nan)),
                alternative=len(choice.alternatives) > 1 and row.candidate in choice.alternatives,
            )
            for row in rows
        ]  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (math.isnan(row.stability.value), -row.stability.value)))
