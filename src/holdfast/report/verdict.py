"""The verdict: how stable, how sure, what to use, and what the number does not say."""

import math

from holdfast.plots.text import counted, listed, number, percent, short
from holdfast.report.summary import Features, Stability, Standing, Tradeoff, Verdict
from holdfast.study import StudyResult

HEADLINES: dict[Standing, str] = {
    "holds": "The selection holds.",
    "partly": "The selection holds in part.",
    "fails": "The selection does not hold.",
    "unsure": "It is too early to say whether the selection holds.",
    "weak signal": "It is not sure that the selected features carry information.",
    "no signal": "Nothing shows that the selected features carry information.",
    "unknown": "The stability could not be measured.",
}
NO_INTERVAL = "The stability has no interval, so whether the selection holds stays open."
SHARED = (
    "Resamples of one data set share many rows, so they agree more than studies of new samples would. Even on pure "
    "noise this stability stays above 0 and some features come back often; shuffle the target and run the study "
    "again to see how much noise alone gives."
)
SCOPES = {
    "pairs": "Runs are compared on disjoint halves of the data, which share no rows: the stability tells how far two "
    "studies of half this size would agree, and on pure noise it would be about 0.",
    "Noise": "Runs differ by noise that was added to the data, not by their samples: other samples would usually agree "
    "less.",
    "Reseed": "Runs differ only by the selector's own random numbers, not by their data: this says nothing about other "
    "samples.",
}


def verdict_of(
    result: StudyResult,
    candidate: str | None,
    stability: Stability,
    features: Features | None,
    tradeoff: Tradeoff,
    level: float,
) -> Verdict:
    """The verdict on a candidate."""
    standing = standing_of(stability, tradeoff, features)
    return Verdict(
        standing=standing,
        headline=NO_INTERVAL if standing == "unsure" and math.isnan(stability.low) else HEADLINES[standing],
        sentences=(_how_stable(stability, level), _what_to_use(result, candidate, standing, features, tradeoff)),
        cautions=tuple(_cautions(result, stability, tradeoff)),
    )


def standing_of(stability: Stability, tradeoff: Tradeoff, features: Features | None) -> Standing:
    """Where a selection stands: by its interval, never by the value alone."""
    if math.isnan(stability.value):
        return "unknown"
    if tradeoff.guesses:
        return "no signal"
    if tradeoff.doubtful:
        return "weak signal"
    if math.isnan(stability.low):
        return "unsure"
    if stability.low >= 0.75:
        return "holds"
    if stability.high < 0.4:
        return "fails"
    if stability.high - stability.low > 0.4 or (stability.low < 0.4 and not (features and features.trusted)):
        return "unsure"
    return "partly"


def _how_stable(stability: Stability, level: float) -> str:
    if math.isnan(stability.value):
        return f"The stability is undefined: {(stability.reason or 'no reason is known').rstrip('.')}."
    runs = counted(stability.runs, "run")
    words = f", which is {stability.strength}" if stability.strength else ""
    scale = "on a scale on which 0 is what chance alone gives and 1 is complete agreement"
    if stability.measure is None or stability.measure.split("(")[0] != "nogueira":
        scale = f"by the measure {stability.measure}"
    sure = (
        f"{percent(level)} interval {number(stability.low)} to {number(stability.high)}"
        if not math.isnan(stability.low)
        else "no interval"
    )
    return f"The stability is {number(stability.value)} {scale}{words} ({sure}, {runs})."


def _what_to_use(
    result: StudyResult, candidate: str | None, standing: Standing, features: Features | None, tradeoff: Tradeoff
) -> str:
    if candidate is None or features is None:
        return "There is nothing to use yet: no run has finished."
    name, trusted = short(candidate, 60), features.trusted
    if standing == "no signal":
        return (
            f"Use none of it yet: {name} predicts about as well as guessing ({tradeoff.metric} "
            f"{number(tradeoff.score)}, guessing {number(tradeoff.baseline)}), so features that come back may be noise "
            "that these data repeat."
        )
    if standing == "weak signal":
        return (
            f"Wait for more samples before using {name}: {counted(len(trusted), 'feature')} came back again and again, "
            f"but its {tradeoff.metric} of {number(tradeoff.score)} is not surely better than guessing "
            f"({number(tradeoff.baseline)})."
        )
    chosen = len(result.candidates) > 1 and tradeoff.candidate == candidate
    scored = "" if math.isnan(tradeoff.score) else f" ({tradeoff.metric} {number(tradeoff.score)} on held-out rows)"
    use = f"Use {name}{scored}" if chosen else f"Of {name}{scored}"
    often = f"surely selected in more than {percent(features.threshold)} of the runs"
    if not trusted:
        return f"{use}{', but trust' if chosen else ', trust'} no feature on its own yet: none was {often}."
    its = "the one feature" if len(trusted) == 1 else f"the {len(trusted)} features"
    names = listed([one.feature for one in trusted], 6)
    were = "was" if len(trusted) == 1 else "were"
    return f"{use}{' and trust' if chosen else ', trust'} {its} that {were} {often}: {names}."


def _sizes(result: StudyResult) -> str:
    return ", ".join(percent(size) for size in result.stored.sizes() or ())


def _cautions(result: StudyResult, stability: Stability, tradeoff: Tradeoff) -> list[str]:
    perturbation = result.stored.meta["plan"]["perturbation"].get("perturbation")
    told = [SCOPES.get(result.design) or SCOPES.get(str(perturbation)) or SHARED]
    if stability.scope and result.design in ("folds", "nested", "shrink"):
        told.append(f"The interval speaks of {stability.scope}.")
    if math.isnan(stability.low) and not math.isnan(stability.value) and stability.reason:
        told.append(f"The stability has no interval: {stability.reason.rstrip('.')}.")
    if result.design == "shrink":
        told.append(f"Stability and scores are means over the smaller samples ({_sizes(result)} of a whole one).")
    if not result.complete:
        told.append(
            f"The study is not finished: {result.n_outcomes:,} of "
            f"{len(result.candidates) * len(result.stored.splits):,} fits have ended. All numbers may still change."
        )
    failed = len(result.failures)
    if failed:
        told.append(
            f"{counted(failed, 'fit')} failed and {'is' if failed == 1 else 'are'} left out; if the data were the "
            "reason, the stability looks better than it is."
        )
    if tradeoff.missing:
        told.append(
            "A selection can be stable and useless: a selector that always takes the same features is perfectly "
            f"stable. How well the features predict is not known here ({tradeoff.missing.rstrip('.')})."
        )
    elif tradeoff.optimistic and len(result.candidates) > 1:
        told.append(
            f"The candidate was chosen and its {tradeoff.metric} measured on the same resamples, so the "
            f"{tradeoff.metric} is optimistic."
        )
    if stability.runs and stability.runs < 20 and not math.isnan(stability.value):
        told.append(f"{counted(stability.runs, 'run')} are few: intervals are wide, and rare selections are not seen.")
    return told
