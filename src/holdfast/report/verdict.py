"""The verdict: how stable, how certain, what to use, and what the number does not say."""

import math
from collections.abc import Iterator
from dataclasses import replace

from holdfast.measures import MEASURES
from holdfast.replication.result import MAX_ROWS
from holdfast.report.records import TRUST, Features, Findings, Labels, Stability, Standing, Tradeoff, Use, Verdict
from holdfast.study.tables import StudyTables
from holdfast.text import (
    describe_interval,
    format_count,
    format_number,
    format_percent,
    join_names,
    shorten,
    upper_first,
)
from holdfast.tradeoff.selected import HOLDS, NOT_SHOWN, OFTEN, UNTESTED, Information, question_doubted

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
NO_INTERVAL = "The stability has no interval, so whether the selection holds remains open."
UNTESTED_STANDINGS: dict[Standing, Standing] = {
    "holds": "stable",
    "partly": "partly stable",
    "fails": "not stable",
    "unsure": "too early",
}
UNUSED = 0.1
"""Stability of features that models hardly use above which there is a caution."""
MANY = 100
"""Number of resamples with which rare kinds of selections are likely to be seen."""


def make_verdict(findings: Findings) -> Verdict:
    """Return the verdict on the reported candidate."""
    standing = find_standing(findings.stability, findings.information, findings.features)
    doubted = findings.features.doubted if findings.features else ()
    headline = [
        question_doubted(row.feature for row in doubted),
        make_headline(standing, findings.stability, findings.features),
        _list_alternatives(findings, standing),
    ]
    return Verdict(
        standing=standing,
        headline=" ".join(filter(None, headline)),
        sentences=(
            say_how_stable(findings.stability, findings.level),
            *say_what_is_used(findings.use),
            _what_to_use(findings, standing),
            *_list_doubted(findings),
        ),
        cautions=tuple(_cautions(findings)),
        next_step=_say_next_step(findings, standing),
    )


def _list_doubted(findings: Findings) -> Iterator[str]:
    """Yield a sentence that lists the doubted features apart, with what each looks like."""
    if findings.features is not None and findings.features.doubted:
        reasons = findings.result.data.doubted
        described = [f"{row.feature} {reasons[str(row.feature)].rstrip('?')}" for row in findings.features.doubted]
        yield f"Not among the features to trust until that is settled: {'; '.join(described[:6])}."


def find_standing(stability: Stability, information: Information, features: Features | None) -> Standing:
    """Return the standing of a selection: by its interval, not the value alone; it never holds without a test."""
    if math.isnan(stability.value):
        return "unknown"
    if information.untested:
        return UNTESTED_STANDINGS[_standing_by_interval(stability, features)]
    if information.shown:
        return _standing_by_interval(stability, features)
    return "no signal" if information.guesses else "weak signal"


def _standing_by_interval(stability: Stability, features: Features | None) -> Standing:
    if math.isnan(stability.low):
        return "unsure"
    if stability.low >= 0.75:
        return "holds"
    if stability.high < 0.4:
        return "fails"
    if stability.high - stability.low > 0.4 or (stability.low < 0.4 and not (features and features.frequent)):
        return "unsure"
    return "partly"


def match_headline(features: Features | None, stability: Stability, information: Information) -> Features | None:
    """Return the features with verdicts that match the headline: none holds unless the selection may."""
    standing = find_standing(stability, information, features)
    if features is None or standing in ("holds", "partly", "fails"):
        return features
    label = UNTESTED if information.untested else OFTEN if information.shown else NOT_SHOWN
    shown = (replace(row, verdict=label) if row.verdict == HOLDS else row for row in features.shown)
    return replace(features, shown=tuple(shown))


def make_headline(standing: Standing, stability: Stability, features: Features | None) -> str:
    """Return the standing of a selection in a few words."""
    if standing == "unsure" and math.isnan(stability.low):
        return NO_INTERVAL
    if standing == "fails" and features is not None and features.holding:
        count = len(features.holding)
        those = "one of its features does" if count == 1 else f"{count} of its features do"
        return f"The selection as a whole does not hold; {those}."
    return HEADLINES[standing]


def _list_alternatives(findings: Findings, standing: Standing) -> str:
    """Return the end of the headline: candidates that these data cannot distinguish; empty if there are none."""
    tradeoff = findings.tradeoff
    if not tradeoff.alternatives_text or tradeoff.candidate != findings.candidate or standing == "no signal":
        return ""
    names = shorten(tradeoff.alternatives_text, 200)
    names = upper_first(names) if names.startswith("one of ") else names  # a name stays as it is
    return f"{names}: these data cannot distinguish them."


def say_how_stable(stability: Stability, level: float) -> str:
    """Return the stability with its interval and its strength, as a sentence."""
    if math.isnan(stability.value):
        return f"The stability is undefined: {(stability.reason or 'no reason is known').rstrip('.')}."
    words = f", which is {stability.strength}" if stability.strength else ""
    scale = "on a scale where 0 is agreement by chance and 1 is complete agreement"
    if stability.measure is None or stability.measure.split("(")[0] != "nogueira":
        measure = MEASURES.get(str(stability.measure).split("(")[0])
        scale = f"by {'a custom measure' if measure is None else measure.methods}"
    interval = describe_interval(stability.low, stability.high, level)
    count = format_count(stability.n_runs, "resample")
    return f"The stability is {format_number(stability.value)} {scale}{words} ({interval}, {count})."


def say_what_is_used(use: Use | None) -> list[str]:
    """Return that less of what models use comes back than of the list, as a sentence; nothing unless that is shown."""
    if use is None or not use.low > 0:
        return []
    listed, used = format_percent(use.listed, 0), format_percent(use.used, 0)
    return [f"Of the list, {listed} comes back in another resample; of what the models use, {used}."]


def _what_to_use(findings: Findings, standing: Standing) -> str:
    features, information = findings.features, findings.information
    metric = findings.labels.score(information.metric)
    if findings.candidate is None or features is None:
        return "There is nothing to use yet: no fit has succeeded."
    name = shorten(findings.labels.candidate(findings.candidate), 60)
    frequent = count_frequent(features, findings.level)
    score, baseline = format_number(information.score), format_number(information.baseline)
    if standing == "no signal":
        return (
            f"Do not use it yet: {name} predicts about as well as guessing ({metric} {score}, guessing "
            f"{baseline}), so features that are selected again and again may be noise that these data repeat."
        )
    if standing == "weak signal":
        return (
            f"Do not rely on {name} yet: its {metric} of {score} was not shown to be "
            f"better than guessing ({baseline}). {upper_first(frequent)}."
        )
    if information.untested:
        return (
            f"For {name}, {frequent}; whether the features carry information was not tested "
            f"({findings.labels.write(information.untested)})."
        )
    return _what_to_trust(findings, features, standing, name)


def _what_to_trust(findings: Findings, features: Features, standing: Standing, name: str) -> str:
    tradeoff = findings.tradeoff
    chosen = len(findings.result.candidates) > 1 and tradeoff.candidate == findings.candidate
    scored = f"{findings.labels.score(tradeoff.metric)} {format_number(tradeoff.score)} on held-out rows"
    use = f"{'Use' if chosen else 'For'} {name}{'' if math.isnan(tradeoff.score) else f' ({scored})'}"
    and_trust, but_trust = (f"{use} and trust", f"{use}, but trust") if chosen else (f"{use}, trust",) * 2
    if standing == "unsure" or not features.holding:
        yet = " yet" if standing == "unsure" else ""
        return f"{but_trust} no single feature{yet}: {count_frequent(features, findings.level)}."
    likely = f"selected in at least {format_percent(TRUST)} of the resamples and, as probably, in a new study"
    rest = [row for row in features.holding if row not in features.trusted]
    held = f"{format_count(len(rest), 'feature')} {'holds' if len(rest) == 1 else 'hold'}"
    named = join_names([row.feature for row in rest], 6)
    if features.trusted:
        count = len(features.trusted)
        those = "the one feature" if count == 1 else f"the {count} features"
        names = join_names([row.feature for row in features.trusted], 6)
        more = (
            f" Of the others, {held} in resamples of these data, but may not in a new study: {named}." if rest else ""
        )
        return f"{and_trust} {those} {likely}: {names}.{more}"
    held += f" in resamples of these data, with a selection frequency {_above(features, findings.level)}: {named}"
    if all(math.isnan(row.new_study) for row in rest):
        asked = "Whether a new study would select them is not known, so none is called one to trust."
        return f"{use}{': ' if chosen else ', '}{held}. {asked}"
    return f"{but_trust} no single feature yet: {held}; that a new study would select them again is not sure enough."


def _say_next_step(findings: Findings, standing: Standing) -> str:
    """Return what to do next, with the number of rows that it takes as far as it is known."""
    features, known = findings.features, findings.replicability
    if features is None:
        return ""
    if standing in ("no signal", "weak signal"):
        return "Next: study more samples, or measure other features; validating single features would be too early."
    if known is None or known.reason:
        return "Next: estimate how many of these features a new study would select, before validating any of them."
    names = [row.feature for row in features.trusted or features.holding]
    task = f"validate {join_names(names, 6)} in" if names else "repeat the study with"
    rows, twice = known.rows_for_half, format_count(int(MAX_ROWS * known.n_rows), "new sample")
    if rows is None:
        return (
            f"Next: {task} more than {twice}; with fewer, less than half of the {known.n_selected:,} selected features "
            "would be expected to be selected again."
        )
    return (
        f"Next: {task} {format_count(rows, 'new sample')} or more: with as many, half of the {known.n_selected:,} "
        "selected features would be expected to be selected again."
    )


def count_frequent(features: Features, level: float) -> str:
    """Return how many features were selected often, in words."""
    count = len(features.frequent)
    whose = f"{count} features have" if count > 1 else f"{'one' if count else 'no'} feature has"
    return f"{whose} a selection frequency {_above(features, level)}"


def _above(features: Features, level: float) -> str:
    return f"above {format_percent(features.threshold)} (lower end of the {format_percent(level)} interval)"


# Cautions


def _cautions(findings: Findings) -> list[str]:
    result, stability = findings.result, findings.stability
    return [
        *result.data.warnings,
        result.records.perturbation.caution,
        *_on_the_interval(result, stability),
        *warn_of_unused(findings.use),
        *_on_missing_fits(result, stability),
        *_on_prediction(result, stability, findings.tradeoff, findings.information, findings.labels),
        *warn_of_unseen(stability),
    ]


def warn_of_unused(use: Use | None) -> list[str]:
    """Return that features which models hardly use make the list look stable; nothing if they do not."""
    if use is None or not (use.low > 0 and use.difference > UNUSED):
        return []
    return [
        "Part of the stability comes from features that the models hardly use: without them it would be "
        f"{format_number(use.difference)} lower."
    ]


def warn_of_unseen(stability: Stability) -> list[str]:
    """Return what so few resamples cannot rule out; nothing if there are many."""
    if stability.n_runs >= MANY or math.isnan(stability.unseen_share):
        return []
    share = stability.unseen_share
    with_many = 1 - (1 - share) ** ((stability.n_runs - 1) / (MANY - 1))
    return [
        f"{upper_first(format_count(stability.n_runs, 'resample'))} cannot rule out that up to "
        f"{format_percent(share, 0)} of further resamples select entirely different features; with {MANY} resamples "
        f"that would be {format_percent(with_many, 1)}."
    ]


def warn_of_untested(why: str) -> str:
    """Return what stability alone does not show."""
    return (
        "A selection can be stable and useless: a selector that always takes the same features is perfectly "
        f"stable. Whether these features predict anything was not tested: {why}."
    )


def _on_the_interval(result: StudyTables, stability: Stability) -> list[str]:
    cautions = []
    if stability.scope and result.design in ("folds", "nested_folds", "nested_subsamples"):
        cautions.append(f"The interval describes {stability.scope}.")
    if math.isnan(stability.low) and not math.isnan(stability.value) and stability.reason:
        cautions.append(f"The stability has no interval: {stability.reason.rstrip('.')}.")
    if result.design == "nested_subsamples":
        sizes = ", ".join(format_percent(size) for size in result.fractions)
        cautions.append(f"Stability and scores are means over the smaller samples ({sizes} of a full one).")
    if result.design in ("nested_folds", "nested_subsamples"):
        cautions.append(
            "Selection frequencies count every sample, and samples of one block share most of their rows: the "
            "intervals of the frequencies are too narrow."
        )
    return cautions


def warn_of_unfinished(result: StudyTables) -> str:
    """Return how far a study has come if it has not come to its end; empty if it has."""
    planned = len(result.candidates) * result.n_splits
    done = f"The study is not finished: {result.n_outcomes:,} of {planned:,} fits are done."
    return "" if result.complete else f"{done} All numbers may still change."


def _on_missing_fits(result: StudyTables, stability: Stability) -> list[str]:
    cautions = list(filter(None, [warn_of_unfinished(result)]))
    failed = len(result.failures)
    if failed and not result.kinds:
        cautions.append(
            f"{'The only fit' if failed == 1 else f'All {failed:,} fits'} failed; the section for the analyst says why."
        )
    elif failed:
        better = "; if the data were the reason, the stability looks better than it is" if stability.n_runs else ""
        cautions.append(f"{format_count(failed, 'fit')} failed and {'is' if failed == 1 else 'are'} left out{better}.")
    return cautions


def _on_prediction(
    result: StudyTables, stability: Stability, tradeoff: Tradeoff, information: Information, labels: Labels
) -> list[str]:
    cautions = []
    if information.untested and stability.n_runs:
        cautions.append(warn_of_untested(labels.write(information.untested)))
    elif tradeoff.optimistic and len(result.candidates) > 1:
        metric = labels.score(tradeoff.metric)
        cautions.append(
            f"The candidate was chosen and its {metric} measured on the same resamples, so the {metric} is optimistic."
        )
    if result.prefilter:
        cautions.append(
            "Features were filtered before the study, on all rows; if that filter saw the target, scores and stability "
            "look better than they are, and noise features can seem to carry information."
        )
    return cautions
