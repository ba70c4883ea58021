"""The verdict: how stable, how sure, what to use, and what the number does not say."""

import math
from dataclasses import replace

from holdfast.plots.text import counted, listed, number, percent, short
from holdfast.report.summary import Features, Stability, Standing, Tradeoff, Verdict
from holdfast.study import StudyResult
from holdfast.tradeoff.final import HOLDS, NOT_SHOWN, OFTEN, UNTESTED
from holdfast.tradeoff.information import Information

NOT_TESTED = "whether it carries information was not tested"
HEADLINES: dict[Standing, str] = {
    "holds": "The selection holds.",
    "partly": "The selection holds in part.",
    "fails": "The selection does not hold.",
    "unsure": "It is too early to say whether the selection holds.",
    "stable": f"Stable; {NOT_TESTED}.",
    "partly stable": f"Partly stable; {NOT_TESTED}.",
    "not stable": "Not stable.",
    "too early": f"It is too early to say whether the selection is stable; {NOT_TESTED}.",
    "weak signal": "The selected features were not shown to carry information.",
    "no signal": "Nothing shows that the selected features carry information.",
    "unknown": "The stability could not be measured.",
}
NO_INTERVAL = "The stability has no interval, so whether the selection holds stays open."
UNTESTED_STANDINGS: dict[Standing, Standing] = {
    "holds": "stable",
    "partly": "partly stable",
    "fails": "not stable",
    "unsure": "too early",
}
MANY = 100
"""Number of runs with which rare kinds of runs are likely to be seen."""


def verdict_of(
    result: StudyResult,
    candidate: str | None,
    stability: Stability,
    features: Features | None,
    tradeoff: Tradeoff,
    information: Information,
    level: float,
) -> Verdict:
    """The verdict on a candidate."""
    standing = standing_of(stability, information, features)
    return Verdict(
        standing=standing,
        headline=_headline(standing, stability, features),
        sentences=(
            _how_stable(stability, level),
            _what_to_use(result, candidate, standing, features, tradeoff, information, level),
        ),
        cautions=tuple(_cautions(result, stability, tradeoff, information)),
    )


def standing_of(stability: Stability, information: Information, features: Features | None) -> Standing:
    """Where a selection stands: by its interval, never by the value alone, and never as holding without a test."""
    if math.isnan(stability.value):
        return "unknown"
    if information.untested:
        return UNTESTED_STANDINGS[_by_stability(stability, features)]
    if information.shown:
        return _by_stability(stability, features)
    return "no signal" if information.guesses else "weak signal"


def _by_stability(stability: Stability, features: Features | None) -> Standing:
    if math.isnan(stability.low):
        return "unsure"
    if stability.low >= 0.75:
        return "holds"
    if stability.high < 0.4:
        return "fails"
    if stability.high - stability.low > 0.4 or (stability.low < 0.4 and not (features and features.often)):
        return "unsure"
    return "partly"


def as_the_headline_says(features: Features | None, stability: Stability, information: Information) -> Features | None:
    """The features, of which none is said to hold where the headline says nothing of the kind."""
    standing = standing_of(stability, information, features)
    if features is None or standing in ("holds", "partly", "fails"):
        return features
    label = UNTESTED if information.untested else OFTEN if information.shown else NOT_SHOWN
    shown = (replace(one, verdict=label) if one.verdict == HOLDS else one for one in features.shown)
    return replace(features, shown=tuple(shown))


def _headline(standing: Standing, stability: Stability, features: Features | None) -> str:
    if standing == "unsure" and math.isnan(stability.low):
        return NO_INTERVAL
    if standing == "fails" and features is not None and features.trusted:
        n = len(features.trusted)
        those = "one of its features does" if n == 1 else f"{n} of its features do"
        return f"The selection as a whole does not hold; {those}."
    return HEADLINES[standing]


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
    result: StudyResult,
    candidate: str | None,
    standing: Standing,
    features: Features | None,
    tradeoff: Tradeoff,
    information: Information,
    level: float,
) -> str:
    if candidate is None or features is None:
        return "There is nothing to use yet: no run has finished."
    name = short(candidate, 60)
    if standing == "no signal":
        return (
            f"Use none of it yet: {name} predicts about as well as guessing ({information.metric} "
            f"{number(information.score)}, guessing {number(information.baseline)}), so features that come back may be "
            "noise that these data repeat."
        )
    if standing == "weak signal":
        return (
            f"Wait for more samples before using {name}: its {information.metric} of {number(information.score)} was "
            f"not shown to be better than guessing ({number(information.baseline)}). "
            f"{_capital(_often(features, level))}."
        )
    if information.untested:
        return (
            f"Of {name}, {_often(features, level)}; whether the features carry information was not tested "
            f"({information.untested})."
        )
    chosen = len(result.candidates) > 1 and tradeoff.candidate == candidate
    scored = "" if math.isnan(tradeoff.score) else f" ({tradeoff.metric} {number(tradeoff.score)} on held-out rows)"
    use = f"Use {name}{scored}" if chosen else f"Of {name}{scored}"
    if standing == "unsure":
        return f"{use}{', but trust' if chosen else ', trust'} no feature on its own yet: {_often(features, level)}."
    if not features.trusted:
        return f"{use}{', but trust' if chosen else ', trust'} no feature on its own: {_often(features, level)}."
    n, above = len(features.trusted), _above(features, level)
    its = f"{'the one feature' if n == 1 else f'the {n} features'} whose selection frequency is {above}"
    names = listed([one.feature for one in features.trusted], 6)
    return f"{use}{' and trust' if chosen else ', trust'} {its}: {names}."


def _often(features: Features, level: float) -> str:
    """How many features were selected often, in words."""
    n = len(features.often)
    whose = f"{n} features have" if n > 1 else f"{'one' if n else 'no'} feature has"
    return f"{whose} a selection frequency {_above(features, level)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _above(features: Features, level: float) -> str:
    return f"above {percent(features.threshold)} (lower end of the {percent(level)} interval)"


def _sizes(result: StudyResult) -> str:
    return ", ".join(percent(size) for size in result.fractions)


def _cautions(result: StudyResult, stability: Stability, tradeoff: Tradeoff, information: Information) -> list[str]:
    told = [result.records.perturbation.caution]
    if stability.scope and result.design in ("folds", "nested", "shrink"):
        told.append(f"The interval describes {stability.scope}.")
    if math.isnan(stability.low) and not math.isnan(stability.value) and stability.reason:
        told.append(f"The stability has no interval: {stability.reason.rstrip('.')}.")
    if result.design == "shrink":
        told.append(f"Stability and scores are means over the smaller samples ({_sizes(result)} of a whole one).")
    if not result.complete:
        told.append(
            f"The study is not finished: {result.n_outcomes:,} of "
            f"{len(result.candidates) * result.n_splits:,} fits have ended. All numbers may still change."
        )
    failed = len(result.failures)
    if failed:
        better = "; if the data were the reason, the stability looks better than it is" if stability.runs else ""
        told.append(f"{counted(failed, 'fit')} failed and {'is' if failed == 1 else 'are'} left out{better}.")
    if information.untested and stability.runs:
        told.append(
            "A selection can be stable and useless: a selector that always takes the same features is perfectly "
            f"stable. Whether these features predict anything was not tested: {information.untested}."
        )
    elif tradeoff.optimistic and len(result.candidates) > 1:
        told.append(
            f"The candidate was chosen and its {tradeoff.metric} measured on the same resamples, so the "
            f"{tradeoff.metric} is optimistic."
        )
    if result.prefilter:
        told.append(
            "Features were filtered before the study, on all rows; if that filter saw the target, scores and stability "
            "look better than they are, and features of noise can seem to carry information."
        )
    if stability.runs < MANY and not math.isnan(stability.unseen):
        with_many = 1 - (1 - stability.unseen) ** ((stability.runs - 1) / (MANY - 1))
        told.append(
            f"{_capital(counted(stability.runs, 'run'))} cannot rule out that up to {100 * stability.unseen:.0f} % of "
            f"further runs select something else altogether; with {MANY} runs that would be {100 * with_many:.1f} %."
        )
    return told
