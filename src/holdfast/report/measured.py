"""What can be said of selections alone, without the study that made them: features, verdict and causes.

The words are those of a report; whether features carry information is never tested here, as there are no data.
"""

import math

import numpy as np

from holdfast.inference.designs import RunsByBlock
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.features import feature_table
from holdfast.preferences import Preferences
from holdfast.report import verdict
from holdfast.report.causes import ENOUGH, STABLE, changing_size, count_needed, few_resamples, near_the_cut, take_turns
from holdfast.report.features import MAX_SHOWN, RARE, make_feature, make_map, make_table
from holdfast.report.records import Cause, Feature, Features, Stability, Verdict
from holdfast.study.stabilities import common_size, take_best
from holdfast.text import format_estimate, join_names, upper_first
from holdfast.tradeoff.selected import OFTEN, Information, check_columns, find_frequencies

SELECTIONS_ONLY = "these are selections only, without the data"
THRESHOLD = 0.5


def record_stability(estimate: StabilityEstimate, level: float) -> Stability:
    """Return an estimate as a report holds it."""
    return Stability.of(estimate, estimate.ci(level), level)


# Features


def as_subsets(runs: Preferences) -> tuple[Preferences, int | None]:
    """Return runs as subsets, and how many of the best features of rankings and weights count; None for subsets."""
    if runs.kind == "subset":
        return runs, None
    top = common_size([], runs.n_features)
    return take_best(runs, top), top


def describe_features(
    subsets: Preferences, level: float, *, top: int | None = None, threshold: float = THRESHOLD
) -> Features:
    """Return how often each feature was selected, with its stand-ins, and which resample selected which."""
    table = feature_table(subsets, level=level)
    n_shown = min(int((table["frequency"] >= RARE).sum()), MAX_SHOWN)
    return Features(
        n_features=subsets.n_features,
        n_runs=subsets.n_runs,
        threshold=threshold,
        shown=_describe(subsets, n_shown, level, threshold),
        table=make_table(table),
        map=make_map(subsets),
        bound="",
        top=top,
        correlation_checked=False,
        chance=float(subsets.density),
        no_effects=SELECTIONS_ONLY,
        no_model_use=SELECTIONS_ONLY,
    )


def _describe(runs: Preferences, count: int, level: float, threshold: float) -> tuple[Feature, ...]:
    """Describe the most frequent features, in the order of their frequency."""
    if not count:
        return ()
    used = np.flatnonzero(runs.counts)
    order = used[np.argsort(-runs.counts[used], kind="stable")][:count].tolist()
    rows = check_columns(order, find_frequencies(runs), level, threshold, OFTEN)
    return tuple(make_feature(runs.features[column], row) for column, row in rows.items())


# Verdict


def judge_selections(estimate: StabilityEstimate, features: Features, level: float) -> Verdict:
    """Return how stable selections are, how sure that is, and what it does not say."""
    stability = record_stability(estimate, level)
    standing = verdict.find_standing(stability, Information(untested=SELECTIONS_ONLY), features)
    headline = verdict.make_headline(standing, stability, features)
    if not math.isnan(stability.value) and not estimate.has_strength:  # the bounds of the words mean nothing here
        standing = "unknown"
        headline = f"The stability is {format_estimate(stability.value, stability.low, stability.high)}."
    return Verdict(
        standing=standing,
        headline=headline,
        sentences=(verdict.say_how_stable(stability, level), _which_often(features, level)),
        cautions=tuple(_cautions(estimate, stability)),
    )


def _which_often(features: Features, level: float) -> str:
    often = verdict.count_frequent(features, level)
    names = f": {join_names([row.feature for row in features.frequent], 6)}" if features.frequent else ""
    counted = "" if features.top is None else f"With the top {features.top} of each resample as selected, "
    return f"{counted}{often if counted else upper_first(often)}{names}."


def _cautions(estimate: StabilityEstimate, stability: Stability) -> list[str]:
    cautions = []
    if math.isnan(stability.low):
        if not math.isnan(stability.value) and stability.reason:
            cautions.append(f"The stability has no interval: {stability.reason.rstrip('.')}.")
    else:
        cautions.append(f"The interval describes {stability.scope.partition(';')[0]}.")
        if stability.reason:
            cautions.append(f"{upper_first(stability.reason.rstrip('.'))}.")
        if not estimate.validated:
            cautions.append("Simulations have not shown that this interval covers as it should for this measure.")
    return [*cautions, *verdict.warn_of_unseen(stability), verdict.warn_of_untested(SELECTIONS_ONLY)]


# Causes


def find_causes_alone(
    runs_by_block: RunsByBlock, estimate: StabilityEstimate, features: Features, level: float
) -> tuple[Cause, ...]:
    """Return the causes of instability that selections alone can show."""
    stability = record_stability(estimate, level)
    if math.isnan(stability.value):
        return ()
    causes: list[Cause | None] = []
    enough = features.n_runs >= ENOUGH
    if not stability.low >= STABLE:
        causes = [take_turns(features), near_the_cut(features)] if enough else []
        causes.append(changing_size(runs_by_block.runs))
    needed = count_needed(estimate, level) if runs_by_block.design == "runs" else None
    causes.append(few_resamples(stability, level, needed))
    return tuple(cause for cause in causes if cause is not None)
