"""Why a selection varies, and what would help: each cause only where the numbers of the study show it."""

import math
import warnings
from collections.abc import Sequence

from holdfast.inference.planning import Pilot, runs_needed
from holdfast.plots.text import format_count, format_number, format_percent, join_names, shorten
from holdfast.report.feature_records import Feature, Features
from holdfast.report.findings import Findings
from holdfast.report.records import Cause, Labels, Stability
from holdfast.study import StudyResult
from holdfast.tradeoff.information import Information
from holdfast.tradeoff.stand_ins import ALIKE

MATTERS = 0.2  # share of the variation from which a cause is reported
STABLE = 0.9  # stability from which there is little to explain
ENOUGH = 10  # resamples from which frequencies tell features apart, and a pilot tells how many are needed
WIDE = 0.1  # half width of an interval that more resamples should narrow
NARROW = 0.05


def find_causes(findings: Findings) -> tuple[Cause, ...]:
    """Return all causes that the numbers show, those that the reader can act on first."""
    result, candidate, features, stability = (
        findings.result, findings.candidate, findings.features, findings.stability,
    )  # fmt: skip
    if candidate is None or features is None or math.isnan(stability.value):
        return ()
    causes: list[Cause | None] = [_no_signal(findings.information, findings.labels)]
    enough = features.n_runs >= ENOUGH
    if not stability.low >= STABLE:
        causes += [
            _stand_ins(features) if enough else None,
            _near_the_cut(features) if enough else None,
            _changing_size(result, candidate),
            _small_sample(result, stability),
            _stable_but_worse(findings),
        ]
    causes.append(_few_resamples(findings))
    return tuple(cause for cause in causes if cause is not None)


def _no_signal(information: Information, labels: Labels) -> Cause | None:
    if information.untested or information.shown or not information.guesses:
        return None
    return Cause(
        kind="no signal",
        title="The features may carry no information about the target",
        evidence=(
            f"The {labels.score(information.metric)} is {information.score:.3f}; guessing without any feature "
            f"({information.strategy}) gives {information.baseline:.3f} on the same rows."
        ),
        help=(
            "Check the data before the features: is the target right, are there enough samples? Run the study again "
            "with a shuffled target; if it is as stable as this one, the stability is that of noise."
        ),
    )


def _stand_ins(features: Features) -> Cause | None:
    """Features that stand in for each other."""
    taking_turns = [feature for feature in features.shown if feature.stand_ins]
    share = _variance_share(features, taking_turns)
    if len(taking_turns) < 2 or share < MATTERS:
        return None
    example = min(taking_turns, key=lambda feature: abs(feature.frequency - 0.5))
    evidence = (
        f"{len(taking_turns)} features take turns and account for {_percent(share)} of the variation: "
        f"{shorten(example.feature, 30)} was selected in {_percent(example.frequency)} of the resamples, it or one of "
        f"its stand-ins ({join_names(example.stand_ins)}) in {_percent(example.with_stand_ins)}."
    )
    if features.correlation_checked:
        return Cause(
            kind="stand-ins",
            title="Features stand in for each other",
            evidence=f"{evidence} They are correlated (at {ALIKE:g} or more), so one may carry what another tells.",
            help=(
                "Report such features as a group. A measure that lets similar features stand in for each other tells "
                "how stable the groups are; a grouped selector selects whole groups."
            ),
        )
    return Cause(
        kind="stand-ins",
        title="Features take turns",
        evidence=(
            f"{evidence} They may carry the same information, or compete for the last places; the data would tell "
            "which."
        ),
        help=(
            "Make the report with the data to see whether these features are correlated. If they are, report them as a "
            "group."
        ),
    )


def _near_the_cut(features: Features) -> Cause | None:
    """Some features are in nearly every resample, and others come and go."""
    frequencies = features.table.frequency
    core = [frequency for frequency in frequencies if frequency >= 0.9]
    changing = [0.1 <= frequency < 0.9 for frequency in frequencies]
    share = sum(part for part, changes in zip(features.table.variance_share, changing, strict=True) if changes)
    if not core or sum(changing) < 2 or share < 0.5:
        return None
    places = sum(frequency for frequency, changes in zip(frequencies, changing, strict=True) if changes)
    fill = "fills" if len(core) == 1 else "fill"
    return Cause(
        kind="near the cut",
        title="Features near the cut come and go",
        evidence=(
            f"{format_count(len(core), 'feature')} in at least 90 % of the resamples {fill} {sum(core):.1f} of the "
            f"{sum(frequencies):.1f} places of an average selection; {sum(changing)} features in 10 to 90 % of the "
            f"resamples fill {places:.1f} and account for {_percent(share)} of the variation."
        ),
        help=(
            "Report the features that are in nearly every resample separately from those that come and go. For "
            "selectors that rank, a size profile shows how the stability changes with the number of features."
        ),
    )


def _changing_size(result: StudyResult, candidate: str) -> Cause | None:
    runs = result.preferences(candidate)
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
        help=(
            "Fix the number of features, or tune the penalty on more than one split of the rows; stability selection "
            "combines many."
        ),
    )


def _small_sample(result: StudyResult, stability: Stability) -> Cause | None:
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
        help=(
            "More samples help most. Before collecting them, a study of nested subsamples shows how the agreement "
            "grows with the number of samples. Drop features that cannot matter before the study."
        ),
    )


def _stable_but_worse(findings: Findings) -> Cause | None:
    """Another candidate is clearly more stable, but predicts worse: a hybrid may have both."""
    stability, tradeoff = findings.stability, findings.tradeoff
    used = str(findings.result.selectors)
    if tradeoff.missing or "HybridRFE" in used or not stability.high < 0.75:
        return None
    for other in findings.candidates:
        score = next((score.value for score in other.scores if score.metric == tradeoff.metric), math.nan)
        if other.stability.low > stability.high and score < tradeoff.score - tradeoff.score_error:
            return Cause(
                kind="hybrid",
                title="A more stable selector predicts less well",
                evidence=(
                    f"{shorten(findings.labels.candidate(other.candidate), 40)} has a stability of "
                    f"{format_number(other.stability.value)}, but "
                    f"{findings.labels.score(tradeoff.metric)} {score:.3f} instead of {tradeoff.score:.3f}."
                ),
                help=(
                    "A hybrid may have both: hybrid recursive elimination keeps some features of a stable filter and "
                    "lets an elimination choose the others."
                ),
            )
    return None


def _few_resamples(findings: Findings) -> Cause | None:
    stability = findings.stability
    if not (stability.high - stability.low) / 2 > WIDE:
        return None
    needed = _needed(findings)
    about = f"About {needed:,} resamples in all would give ± {NARROW:g}. " if needed else ""
    interval = f"{format_number(stability.low)} to {format_number(stability.high)}"
    return Cause(
        kind="few resamples",
        title="The stability itself is not known precisely yet",
        evidence=(
            f"The {format_percent(findings.level)} interval is {interval} after "
            f"{format_count(stability.n_runs, 'resample')}."
        ),
        help=f"{about}More resamples narrow the interval; they do not make the selection more stable.",
    )


def _needed(findings: Findings) -> int | None:
    """Return the number of resamples for a narrow interval; None if the resamples so far cannot tell."""
    if findings.result.design != "runs" or findings.estimate is None or findings.estimate.n_runs < ENOUGH:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plan = runs_needed(NARROW, pilot=findings.estimate, level=findings.level)
        except ValueError:
            return None
    return plan.n_runs if isinstance(plan, Pilot) else None


def _variance_share(features: Features, part: Sequence[Feature]) -> float:
    """Return the share of some features in the summed selection variances."""
    names = {feature.feature for feature in part}
    rows = zip(features.table.feature, features.table.variance_share, strict=True)
    return sum(share for name, share in rows if name in names)


def _percent(share: float) -> str:
    return format_percent(round(share, 2))
