"""Why a selection varies, and what would help: each cause only where the numbers of the study show it."""

import math
import warnings
from collections.abc import Sequence

from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.planning import Pilot, runs_needed
from holdfast.plots.text import counted, listed, number, percent, short
from holdfast.report.summary import Cause, Feature, Features, Selector, Stability, Tradeoff
from holdfast.study import StudyResult
from holdfast.tradeoff.information import Information
from holdfast.tradeoff.stand_ins import ALIKE

MATTERS = 0.2  # share of the variation from which on a cause is told
CALM = 0.9  # stability from which on there is little to explain
ENOUGH = 10  # runs from which on frequencies tell features apart, and a pilot tells how many runs are needed
WIDE = 0.1  # half width of an interval that more runs should narrow
NARROW = 0.05


def causes_of(
    result: StudyResult,
    candidate: str | None,
    stability: Stability,
    features: Features | None,
    selectors: Sequence[Selector],
    tradeoff: Tradeoff,
    information: Information,
    estimate: StabilityEstimate | str | None,
    level: float,
) -> tuple[Cause, ...]:
    """All causes that the numbers show, those that the reader can act on first."""
    if candidate is None or features is None or math.isnan(stability.value):
        return ()
    found: list[Cause | None] = [_no_signal(information)]
    enough = features.n_runs >= ENOUGH
    if not stability.low >= CALM:
        found += [
            _turns(features) if enough else None,
            _near_the_cut(features) if enough else None,
            _changing_size(result, candidate),
            _small_sample(result, stability),
            _stable_but_worse(result, stability, selectors, tradeoff),
        ]
    found.append(_few_runs(result, stability, estimate, level))
    return tuple(one for one in found if one is not None)


def _no_signal(information: Information) -> Cause | None:
    if information.untested or information.shown or not information.guesses:
        return None
    return Cause(
        kind="no signal",
        title="The features may tell nothing about the target",
        evidence=(
            f"The {information.metric} is {information.score:.3f}; guessing without any feature "
            f"({information.strategy}) gives {information.baseline:.3f} on the same rows."
        ),
        help=(
            "Look at the data before the features: is the target right, are there enough samples? Run the study again "
            "with a shuffled target; if it is as stable as this one, the stability is that of noise."
        ),
    )


def _turns(features: Features) -> Cause | None:
    """Features that stand in for each other."""
    taking = [one for one in features.shown if one.stand_ins]
    share = _share(features, taking)
    if len(taking) < 2 or share < MATTERS:
        return None
    one = min(taking, key=lambda feature: abs(feature.frequency - 0.5))
    example = (
        f"{short(one.feature, 30)} was selected in {percent(_round(one.frequency))} of the runs, it or one of its "
        f"stand-ins ({listed(one.stand_ins)}) in {percent(_round(one.with_stand_ins))}"
    )
    if features.alike_checked:
        title = "Features stand in for each other"
        why = f"They are correlated (at {ALIKE:g} or more), so that one may carry what another tells."
        helps = (
            "Report such features as a group. A measure that lets similar features stand in for each other, such as "
            "zucknick, tells how stable the groups are; a grouped selector selects whole groups."
        )
    else:
        title = "Features take turns"
        why = "They may carry the same information, or compete for the last places; the data would tell which."
        helps = (
            "Make the report with the data to see whether these features are correlated. If they are, report them as a "
            "group."
        )
    total = f"{len(taking)} features take turns and account for {percent(_round(share))} of the variation"
    return Cause(kind="stand-ins", title=title, evidence=f"{total}: {example}. {why}", help=helps)


def _near_the_cut(features: Features) -> Cause | None:
    """Some features are in nearly every run, and others come and go."""
    rows = features.table
    core = [row["frequency"] for row in rows if row["frequency"] >= 0.9]
    changing = [row for row in rows if 0.1 <= row["frequency"] < 0.9]
    share = float(sum(row["variance_share"] for row in changing))
    if not core or len(changing) < 2 or share < 0.5:
        return None
    places, rest = sum(row["frequency"] for row in changing), sum(row["frequency"] for row in rows)
    fill = "fills" if len(core) == 1 else "fill"
    return Cause(
        kind="near the cut",
        title="Features near the cut come and go",
        evidence=(
            f"{counted(len(core), 'feature')} in at least 90 % of the runs {fill} {sum(core):.1f} of the {rest:.1f} "
            f"places of an average selection; {len(changing)} features in 10 to 90 % of the runs fill {places:.1f} "
            f"and account for {percent(_round(share))} of the variation."
        ),
        help=(
            "Report the features that are in nearly every run apart from those that come and go. How the stability "
            "changes with the number of features can be measured for selectors that rank (a size profile)."
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
        title="The number of selected features changes from run to run",
        evidence=(
            f"Runs selected from {int(runs.sizes.min())} to {int(runs.sizes.max())} features, {runs.sizes.mean():.1f} "
            "on average."
        ),
        help=(
            "Fix the number of features, or choose the penalty by more than one division of the rows; stability "
            "selection combines many."
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
            f"{counted(rows, 'sample')} stand against {counted(columns, 'feature')} to choose from, and the interval "
            f"of the stability ends at {number(stability.high)}, below 0.75."
        ),
        help=(
            "More samples help most. A study of smaller and smaller parts of the sample shows how the agreement grows "
            "with its size, before new samples are collected. Drop features that cannot matter before the study."
        ),
    )


def _stable_but_worse(
    result: StudyResult, stability: Stability, selectors: Sequence[Selector], tradeoff: Tradeoff
) -> Cause | None:
    """Another candidate is clearly more stable, but predicts worse: a hybrid may have both."""
    used = str(result.selectors)
    if tradeoff.missing or "HybridRFE" in used or not stability.high < 0.75:
        return None
    for one in selectors:
        score = next((score.value for score in one.scores if score.metric == tradeoff.metric), math.nan)
        if one.stability.low > stability.high and score < tradeoff.score - tradeoff.score_error:
            return Cause(
                kind="hybrid",
                title="A more stable selector predicts less well",
                evidence=(
                    f"{short(one.candidate, 40)} has a stability of {number(one.stability.value)}, but "
                    f"{tradeoff.metric} {score:.3f} instead of {tradeoff.score:.3f}."
                ),
                help=(
                    "A hybrid may have both: hybrid recursive elimination keeps some features of a stable filter and "
                    "lets an elimination choose the others."
                ),
            )
    return None


def _few_runs(
    result: StudyResult, stability: Stability, estimate: StabilityEstimate | str | None, level: float
) -> Cause | None:
    half = (stability.high - stability.low) / 2
    if not half > WIDE:
        return None
    needed = _needed(result, estimate, level)
    about = f"About {needed:,} runs in all would give ± {NARROW:g}. " if needed else "More runs narrow it. "
    return Cause(
        kind="few runs",
        title="The stability itself is not known well yet",
        evidence=(
            f"The {percent(level)} interval goes from {number(stability.low)} to {number(stability.high)} after "
            f"{counted(stability.runs, 'run')}."
        ),
        help=f"{about}This narrows the interval; it does not make the selection more stable.",
    )


def _needed(result: StudyResult, estimate: StabilityEstimate | str | None, level: float) -> int | None:
    if result.design != "runs" or not isinstance(estimate, StabilityEstimate) or estimate.n_runs < ENOUGH:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            planned = runs_needed(NARROW, pilot=estimate, level=level)
        except ValueError:
            return None
    return planned.n_runs if isinstance(planned, Pilot) else None


def _share(features: Features, chosen: Sequence[Feature]) -> float:
    """The part of the summed selection variances that some features make."""
    names = {one.feature for one in chosen}
    return float(sum(row["variance_share"] for row in features.table if row["feature"] in names))


def _round(share: float) -> float:
    return round(share, 2)
