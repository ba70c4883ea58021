"""Why a selection varies, and what would help: each only where the numbers of the study show it.

Help is given where its effect was tested on the resamples of the study, and names this effect with an interval.
"""

import math
import warnings
from dataclasses import replace

from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.planning import Pilot, runs_needed
from holdfast.preferences import Preferences
from holdfast.report.records import Cause, Features, Findings, Labels, Stability
from holdfast.study.tables import StudyTables
from holdfast.text import describe_interval, format_count, format_number, format_percent, join_names, shorten
from holdfast.tradeoff.changes import Change, Effect, find_better_size, find_gain_of_groups, find_more_stable
from holdfast.tradeoff.selected import ALIKE, Information

MATTERS = 0.2  # share of the variation from which a cause is reported
STABLE = 0.9  # stability from which there is little to explain
ENOUGH = 10  # resamples from which frequencies distinguish features, and a pilot shows how many are needed
WIDE = 0.1  # half width of an interval that more resamples should narrow
NARROW = 0.05
MAX_COMPARED = 30  # more stable candidates beyond which none is tested


def find_causes(findings: Findings) -> tuple[Cause, ...]:
    """Return all causes that the numbers show, those that the reader can act on first."""
    result, candidate, features, stability = (
        findings.result, findings.candidate, findings.features, findings.stability,
    )  # fmt: skip
    if candidate is None or features is None or math.isnan(stability.value):
        return ()
    no_signal = _no_signal(findings.information, findings.labels)
    causes: list[Cause | None] = [no_signal]
    enough = features.n_runs >= ENOUGH
    useful = enough and no_signal is None  # more stable noise is no help
    if not stability.low >= STABLE:
        size = _better_size(findings, candidate) if useful else None
        causes += [
            size,
            _stand_ins(findings, candidate, features) if enough else None,
            near_the_cut(features) if enough else None,
            changing_size(result.preferences(candidate)),
            _small_sample(result, stability),
            _more_stable(findings, candidate, size is not None) if useful else None,
        ]
    needed = count_needed(findings.estimate, findings.level) if result.design == "runs" else None
    causes.append(few_resamples(stability, findings.level, needed))
    return tuple(cause for cause in causes if cause is not None)


def _no_signal(information: Information, labels: Labels) -> Cause | None:
    if information.untested or information.shown or not information.guesses:
        return None
    return Cause(
        kind="no signal",
        title="The features may carry no information about the target",
        evidence=(
            f"The {labels.score(information.metric)} is {format_number(information.score, 3)}; guessing without any "
            f"feature ({information.strategy}) gives {format_number(information.baseline, 3)} on the same rows."
        ),
    )


def _better_size(findings: Findings, candidate: str) -> Cause | None:
    """Another number of features is shown to be more stable, by the stored orders of the same resamples."""
    effect = find_better_size(
        findings.result, candidate, findings.common, metric=findings.tradeoff.metric, level=findings.level,
        X=findings.options.X,
    )  # fmt: skip
    if effect is None:
        return None
    size, present = int(effect.to), findings.features
    fewer = present is not None and size < round(sum(present.table.frequency))
    return Cause(
        kind="size",
        title=f"{'Fewer' if fewer else 'More'} features are more stable",
        evidence=(
            f"With {format_count(size, 'feature')} the stability is {_format_change(effect.stability, findings.level)} "
            f"on the same resamples; {format_count(effect.n_looked, 'other size')} "
            f"{'was' if effect.n_looked == 1 else 'were'} examined, which the interval allows for."
        ),
        help=f"Select {format_count(size, 'feature')}: {_format_gain(effect, findings)}.",
    )


def take_turns(features: Features) -> Cause | None:
    """Features are selected in turns."""
    taking_turns = [feature for feature in features.shown if feature.stand_ins]
    variances = dict(zip(features.table.feature, features.table.variance_share, strict=True))
    share = sum(variances.get(feature.feature, 0.0) for feature in taking_turns)
    if len(taking_turns) < 2 or share < MATTERS:
        return None
    example = min(taking_turns, key=lambda feature: abs(feature.frequency - 0.5))
    evidence = (
        f"{len(taking_turns)} features take turns and account for {format_percent(share, 0)} of the variation: "
        f"{shorten(example.feature, 30)} was selected in {format_percent(example.frequency, 0)} of the resamples, "
        f"it or one of its stand-ins ({join_names(example.stand_ins)}) in {format_percent(example.with_stand_ins, 0)}."
    )
    if features.correlation_checked:
        return Cause(kind="stand-ins", title="Features stand in for each other", evidence=evidence)
    unchecked = "They may carry the same information, or compete for the last ranks; their correlation was not checked."
    return Cause(kind="stand-ins", title="Features take turns", evidence=f"{evidence} {unchecked}")


def _stand_ins(findings: Findings, candidate: str, features: Features) -> Cause | None:
    """Features that stand in for each other, and what it would change to count them as one."""
    cause = take_turns(features)
    if cause is None or not features.correlation_checked:
        return cause
    correlated = f"They are correlated (at {ALIKE:g} or more), so one may carry the information of another."
    gain = find_gain_of_groups(findings.result, candidate, findings.common, level=findings.level, X=findings.options.X)
    return replace(
        cause,
        evidence=f"{cause.evidence} {correlated}",
        help=None
        if gain is None
        else (
            "Report such features as a group: if correlated features may stand in for each other, the stability is "
            f"{_format_change(gain, findings.level)}."
        ),
    )


def near_the_cut(features: Features) -> Cause | None:
    """Some features are in nearly every resample, and others come and go."""
    frequencies = features.table.frequency
    core = [frequency for frequency in frequencies if frequency >= 0.9]
    changing = [0.1 <= frequency < 0.9 for frequency in frequencies]
    share = sum(part for part, changes in zip(features.table.variance_share, changing, strict=True) if changes)
    if not core or sum(changing) < 2 or share < 0.5:
        return None
    filled = sum(frequency for frequency, changes in zip(frequencies, changing, strict=True) if changes)
    fill = "fills" if len(core) == 1 else "fill"
    return Cause(
        kind="near the cut",
        title="Features near the cut come and go",
        evidence=(
            f"{format_count(len(core), 'feature')} in at least 90 % of the resamples {fill} {sum(core):.1f} of the "
            f"{sum(frequencies):.1f} positions of an average selection; {sum(changing)} features in 10 to 90 % of the "
            f"resamples fill {filled:.1f} and account for {format_percent(share, 0)} of the variation."
        ),
    )


def changing_size(runs: Preferences) -> Cause | None:
    """Resamples select different numbers of features."""
    if runs.kind != "subset" or runs.n_runs < 2 or not runs.sizes.mean() > 0:
        return None
    if runs.sizes.std() / runs.sizes.mean() < 0.3:
        return None
    return Cause(
        kind="changing size",
        title="The number of selected features changes from resample to resample",
        evidence=(
            f"Resamples selected {int(runs.sizes.min())} to {int(runs.sizes.max())} features, {runs.sizes.mean():.1f} "
            "on average."
        ),
    )


def _small_sample(result: StudyTables, stability: Stability) -> Cause | None:
    data = result.plan["data"]
    rows, columns = data["n_samples"], data["n_features"]
    if not stability.high < 0.75 or (rows >= 100 and rows >= columns):
        return None
    return Cause(
        kind="small sample",
        title="There are fewer samples than features" if rows < columns else "There are few samples",
        evidence=(
            f"There are {format_count(rows, 'sample')} and {format_count(columns, 'feature')} to choose from, and the "
            f"interval of the stability ends at {format_number(stability.high)}, below 0.75."
        ),
    )


def _more_stable(findings: Findings, candidate: str, other_family: bool) -> Cause | None:
    """Another candidate, or one of another selector, is shown to be more stable, on the same resamples."""
    result, known = findings.result, findings.stability.value
    others = [
        row.candidate
        for row in findings.candidates
        if row.stability.value > known and not (other_family and row.family == result.family(candidate))
    ]
    if not others or len(others) > MAX_COMPARED:
        return None
    effect = find_more_stable(
        result, candidate, others, findings.common, metric=findings.tradeoff.metric, level=findings.level,
        X=findings.options.X,
    )  # fmt: skip
    if effect is None:
        return None
    name = shorten(findings.labels.candidate(str(effect.to)), 40)
    worse = effect.score is not None and effect.score.high < 0
    return Cause(
        kind="more stable",
        title="A more stable candidate predicts less well" if worse else "Another candidate is more stable",
        evidence=(
            f"The stability of {name} is {_format_change(effect.stability, findings.level)} on the same resamples."
        ),
        help=f"If stability counts more than prediction, use {name}: {_format_gain(effect, findings)}.",
    )


def _format_change(change: Change, level: float, decimals: int = 2) -> str:
    after, before, difference = (format_number(n, decimals) for n in (change.after, change.before, change.difference))
    interval = describe_interval(change.low, change.high, level, decimals)
    return f"{after} instead of {before}, difference {difference} ({interval})"


def _format_gain(effect: Effect, findings: Findings) -> str:
    """Return what a change gains in stability, and what it does to the score."""
    change = effect.stability
    gain = f"expect a gain in stability of {format_number(change.low)} to {format_number(change.high)}"
    if effect.score is None:
        return f"{gain}; its effect on the predictions was not measured"
    metric = findings.labels.score(findings.tradeoff.metric)
    return f"{gain}; the {metric} is {_format_change(effect.score, findings.level, 3)}"


def few_resamples(stability: Stability, level: float, needed: int | None) -> Cause | None:
    """The interval of the stability is wide; ``needed`` resamples would narrow it, if that is known."""
    if not (stability.high - stability.low) / 2 > WIDE:
        return None
    half_width = format_number((stability.high - stability.low) / 2)
    interval = f"{format_number(stability.low)} to {format_number(stability.high)}"
    return Cause(
        kind="few resamples",
        title="The stability itself is not known precisely yet",
        evidence=(
            f"The {format_percent(level)} interval is {interval} after {format_count(stability.n_runs, 'resample')}."
        ),
        help=None
        if needed is None
        else (
            f"About {needed:,} resamples in all would narrow the interval from ± {half_width} to ± {NARROW:g}; they do "
            "not make the selection more stable."
        ),
    )


def count_needed(estimate: StabilityEstimate | None, level: float, half_width: float = NARROW) -> int | None:
    """Return the number of resamples for a narrow interval; None if the resamples so far cannot show it."""
    if estimate is None or estimate.n_runs < ENOUGH:
        return None
    with warnings.catch_warnings(action="ignore"):
        try:
            plan = runs_needed(half_width, pilot=estimate, level=level)
        except ValueError:
            return None
    return plan.n_runs if isinstance(plan, Pilot) else None
