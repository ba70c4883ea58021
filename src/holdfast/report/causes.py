"""Why a selection varies, and what would help: each cause only where the numbers of the study show it."""

import math
import warnings
from collections.abc import Sequence

from holdfast.inference.planning import Pilot, runs_needed
from holdfast.plots.text import counted, listed, number, percent, short
from holdfast.report.summary import Cause, Feature, Features, Selector, Stability, Tradeoff
from holdfast.study import StudyResult

MATTERS = 0.2  # share of the variation from which on a cause is told
CALM = 0.9  # stability from which on there is little to explain
ENOUGH = 10  # runs from which on frequencies tell features apart
WIDE = 0.1  # half width of an interval that more runs should narrow
NARROW = 0.05


def causes_of(
    result: StudyResult,
    candidate: str | None,
    stability: Stability,
    features: Features | None,
    selectors: Sequence[Selector],
    tradeoff: Tradeoff,
    level: float,
) -> tuple[Cause, ...]:
    """All causes that the numbers show, those that the reader can act on first."""
    if candidate is None or features is None or math.isnan(stability.value):
        return ()
    found: list[Cause | None] = [_no_signal(tradeoff)]
    enough = features.n_runs >= ENOUGH
    if not stability.low >= CALM:
        found += [
            _turns(features) if enough else None,
            _near_the_cut(features, selectors, candidate) if enough else None,
            _changing_size(result, candidate),
            _small_sample(result, stability),
            _stable_but_worse(result, stability, selectors, tradeoff),
        ]
    found.append(_few_runs(result, candidate, stability, level))
    return tuple(one for one in found if one is not None)


def _no_signal(tradeoff: Tradeoff) -> Cause | None:
    if not tradeoff.guesses:
        return None
    return Cause(
        kind="no signal",
        title="The features may tell nothing about the target",
        evidence=(
            f"The {tradeoff.metric} is {number(tradeoff.score)} (interval from {number(tradeoff.score_low)}); guessing "
            f"without any feature gives {number(tradeoff.baseline)}."
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
        f"{short(one.feature, 30)} was selected in {percent(one.frequency)} of the runs, it or one of its stand-ins "
        f"({listed(one.stand_ins)}) in {percent(one.with_stand_ins)}"
    )
    if features.alike_checked:
        title, why = "Features stand in for each other", "They are correlated and carry much the same information."
        helps = (
            "Report such features as a group. A measure that lets similar features stand in for each other "
            "(result.stability(…, 'zucknick', data=X)) tells how stable the groups are; GroupedSelector selects groups."
        )
    else:
        title = "Features take turns"
        why = "They may carry the same information, or compete for the last places; the data would tell which."
        helps = (
            "Give the report the data (result.report(…, data=X)) to see whether these features are correlated. If they "
            "are, report them as a group."
        )
    total = f"{len(taking)} features take turns and make {percent(_round(share))} of the variation"
    return Cause(kind="stand-ins", title=title, evidence=f"{total}: {example}. {why}", help=helps)


def _near_the_cut(features: Features, selectors: Sequence[Selector], candidate: str) -> Cause | None:
    """Some features hold, and others come and go around the cut."""
    core = [one for one in features.shown if one.frequency >= 0.9]
    unsure = [one for one in features.shown if 0.1 <= one.frequency < 0.9]
    share = _share(features, unsure)
    if not core or len(unsure) < 2 or share < 0.5:
        return None
    mean_size = sum(row["frequency"] for row in features.table)
    places = mean_size - sum(one.frequency for one in core)
    smaller, holding = _smaller(selectors, candidate), len(features.trusted)
    fewer = holding if len(core) < holding < mean_size - 0.5 else len(core)
    return Cause(
        kind="near the cut",
        title="Features near the cut come and go",
        evidence=(
            f"{counted(len(core), 'feature')} {'is' if len(core) == 1 else 'are'} in nearly every run, but the other "
            f"{places:.1f} places of an average selection are shared by {len(unsure)} features that come and go; these "
            f"make {percent(_round(share))} of the variation.{smaller}"
        ),
        help=(
            f"Select fewer features, such as {fewer} instead of {mean_size:.0f}. result.profile(…) shows the stability "
            "against the number of features, for selectors that rank."
        ),
    )


def _smaller(selectors: Sequence[Selector], candidate: str) -> str:
    """A sibling that selects fewer features and is clearly more stable, if there is one."""
    mine = next(one for one in selectors if one.candidate == candidate)
    for one in selectors:
        if one.family == mine.family and one.size < mine.size - 0.5 and one.stability.low > mine.stability.high:
            return (
                f" With {one.size:.0f} features ({short(one.candidate, 40)}) the same selector has a stability of "
                f"{number(one.stability.value)} instead of {number(mine.stability.value)}."
            )
    return ""


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
        help="Fix the number of features, or choose the penalty by more than one split; stability selection does both.",
    )


def _small_sample(result: StudyResult, stability: Stability) -> Cause | None:
    data = result.stored.meta["plan"]["data"]
    rows, columns = data["n_samples"], data["n_features"]
    if not stability.high < 0.75 or (rows >= 100 and rows >= columns):
        return None
    return Cause(
        kind="small sample",
        title="There are few samples for so many features",
        evidence=(
            f"{counted(rows, 'sample')} stand against {counted(columns, 'feature')} to choose from, and the stability "
            f"is surely below 0.75 (at most {number(stability.high)})."
        ),
        help=(
            "More samples help most. A study with hf.Shrink(…) shows how the agreement grows with the size of the "
            "sample, before new ones are collected. Drop features that cannot matter before the study."
        ),
    )


def _stable_but_worse(
    result: StudyResult, stability: Stability, selectors: Sequence[Selector], tradeoff: Tradeoff
) -> Cause | None:
    """Another candidate is clearly more stable, but predicts worse: a hybrid may have both."""
    used = " ".join(result.stored.meta["selectors"].values())
    if tradeoff.missing or "HybridRFE" in used or not stability.high < 0.75:
        return None
    for one in selectors:
        score = next((score.value for score in one.scores if score.metric == tradeoff.metric), math.nan)
        if one.stability.low > stability.high and score < tradeoff.score:
            return Cause(
                kind="hybrid",
                title="A more stable selector predicts less well",
                evidence=(
                    f"{short(one.candidate, 40)} has a stability of {number(one.stability.value)}, but "
                    f"{tradeoff.metric} {score:.3f} instead of {tradeoff.score:.3f}."
                ),
                help=(
                    "A hybrid may have both: selectors.HybridRFE keeps some features of a stable filter and lets an "
                    "elimination choose the others."
                ),
            )
    return None


def _few_runs(result: StudyResult, candidate: str, stability: Stability, level: float) -> Cause | None:
    half = (stability.high - stability.low) / 2
    if not half > WIDE:
        return None
    needed = _needed(result, candidate, level)
    about = f"About {needed:,} runs in all would give ± {NARROW:g}. " if needed else "More runs narrow it. "
    return Cause(
        kind="few runs",
        title="The number itself is not sure yet",
        evidence=(
            f"The {percent(level)} interval goes from {number(stability.low)} to {number(stability.high)} after "
            f"{counted(stability.runs, 'run')}."
        ),
        help=f"{about}This makes the number surer; it does not make the selection more stable.",
    )


def _needed(result: StudyResult, candidate: str, level: float) -> int | None:
    if result.design != "runs":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            planned = runs_needed(NARROW, pilot=result.stability(candidate), level=level)
        except ValueError:
            return None
    return planned.n_runs if isinstance(planned, Pilot) else None


def _share(features: Features, chosen: Sequence[Feature]) -> float:
    """The part of the summed selection variances that some features make."""
    names = {one.feature for one in chosen}
    return float(sum(row["variance_share"] for row in features.table if row["feature"] in names))


def _round(share: float) -> float:
    return round(share, 2)
