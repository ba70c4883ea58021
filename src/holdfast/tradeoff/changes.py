"""Effects of following advice, tested on the resamples of a study: another size, another candidate, groups."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from holdfast.checks import Matrix
from holdfast.inference.designs import RunsByBlock, design_comparisons
from holdfast.study.orders import UnansweredError
from holdfast.study.stabilities import CommonMeasure, corrected_error
from holdfast.study.tables import StudyTables
from holdfast.tradeoff.profiles import SIZE_NAMES

SHARES = (0.125, 0.25, 0.5, 0.75, 1.5, 2.0)
"""Sizes to look at, as shares of the present one."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A figure before and after a change, and the interval of the difference on the same resamples.

    Attributes
    ----------
    before, after : float
        The figure at present, and with the change.
    low, high : float
        Interval of the difference, after minus before.
    """

    before: float
    after: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a change does to the stability and to the score of a candidate.

    Attributes
    ----------
    to : str or int
        The other candidate, or the other number of features.
    stability : Change
        The stability.
    score : Change or None
        The score; None if it was not measured.
    n_looked : int
        Number of changes that were looked at, for which the intervals of the stability allow.
    """

    to: str | int
    stability: Change
    score: Change | None
    n_looked: int


def find_better_size(
    result: StudyTables,
    candidate: str,
    common: CommonMeasure,
    *,
    metric: str | None = None,
    level: float = 0.95,
    X: Matrix | None = None,
) -> Effect | None:
    """Find the number of features at which the stored orders of a candidate are more stable than at the present one.

    The stabilities are compared on the same resamples, each size with the present one, and the level is shared among
    the sizes that were looked at (Bonferroni). A size at which a scored candidate predicts worse is left out.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidate : str
        Name of a candidate.
    common : CommonMeasure
        The measure of stability.
    metric : str, optional
        The score to compare too, where candidates with these sizes were scored.
    level : float
        Level of the intervals.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.

    Returns
    -------
    Effect or None
        The size whose gain is largest by the lower end of its interval; None if none is shown to be more stable.
    """
    present = common.cut(result.runs_by_block(candidate))
    if present.runs.kind != "subset" or not present.runs.sizes.mean() > 0:
        return None
    size = round(float(present.runs.sizes.mean()))
    siblings = _siblings(result, candidate)
    sizes = _sizes_to_try(result, candidate, size, list(siblings))
    effects = []
    for other in sizes:
        cut = _cut(result, candidate, other)
        change = None if cut is None else compare_stability(present, cut, common, 1 - (1 - level) / len(sizes), X)
        score = compare_scores(result, candidate, siblings.get(other), metric, level)
        if change is not None and change.low > 0 and not (score is not None and score.high < 0):
            effects.append(Effect(to=other, stability=change, score=score, n_looked=len(sizes)))
    return max(effects, key=lambda effect: effect.stability.low, default=None)


def find_more_stable(
    result: StudyTables,
    candidate: str,
    others: Sequence[str],
    common: CommonMeasure,
    *,
    metric: str | None = None,
    level: float = 0.95,
    X: Matrix | None = None,
) -> Effect | None:
    """Find the candidate that is shown to be more stable than a given one, with what it does to the score.

    Parameters
    ----------
    result, candidate, common, metric, level, X
        As for :func:`find_better_size`.
    others : sequence of str
        Candidates to look at; the level is shared among them.

    Returns
    -------
    Effect or None
        The one whose gain is largest by the lower end of its interval; None if none is shown to be more stable.
    """
    present = common.cut(result.runs_by_block(candidate))
    effects = []
    for other in others:
        runs_by_block = common.cut(result.runs_by_block(other))
        change = compare_stability(present, runs_by_block, common, 1 - (1 - level) / len(others), X)
        if change is not None and change.low > 0:
            score = compare_scores(result, candidate, other, metric, level)
            effects.append(Effect(to=other, stability=change, score=score, n_looked=len(others)))
    return max(effects, key=lambda effect: effect.stability.low, default=None)


def find_gain_of_groups(
    result: StudyTables, candidate: str, common: CommonMeasure, *, level: float = 0.95, X: Matrix
) -> Change | None:
    """Measure how much more stable the selection is if correlated features may stand in for each other.

    Returns
    -------
    Change or None
        From ``nogueira`` to ``yu``, both corrected for chance; None if the gain is not shown, or the design has none.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            alone, grouped = (
                replace(common, measure=name).estimate(result, candidate, X=X) for name in ("nogueira", "yu")
            )
    except ValueError:
        return None
    if not alone.pseudo_values.size or alone.pseudo_values.size != grouped.pseudo_values.size:
        return None
    gains = grouped.pseudo_values - alone.pseudo_values
    reach = float(stdtrit(gains.size - 1, (1 + level) / 2) * gains.std(ddof=1) / math.sqrt(gains.size))
    gain = grouped.value - alone.value
    return (
        Change(before=alone.value, after=grouped.value, low=gain - reach, high=gain + reach) if gain > reach else None
    )


def compare_stability(
    present: RunsByBlock, other: RunsByBlock, common: CommonMeasure, level: float, X: Matrix | None
) -> Change | None:
    """Compare two selections on the same resamples; None if they cannot be."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compared = design_comparisons({"other": other, "present": present}, common.measure, level=level, X=X)
    except ValueError:
        return None
    pair = compared.pairs.iloc[0]
    before, after = (compared.estimates[name].value for name in ("present", "other"))
    if pd.isna(pair["low"]):
        return None
    return Change(before=before, after=after, low=float(pair["low"]), high=float(pair["high"]))


def _sizes_to_try(result: StudyTables, candidate: str, size: int, scored: Sequence[int]) -> list[int]:
    """Sizes other than the present one that the stored orders hold for: shares of it, and those that were scored."""
    n_features = len(result.feature_names)
    try:
        least, most = result.stored_sizes(candidate) if result.kinds[candidate] == "subset" else (1, n_features)
    except UnansweredError:
        return []
    wanted = {max(1, round(size * share)) for share in SHARES} | {other for other in scored if other <= 4 * size}
    return sorted(other for other in wanted - {size} if least <= other <= most and other < n_features)


def _cut(result: StudyTables, candidate: str, size: int) -> RunsByBlock | None:
    try:
        if result.kinds[candidate] == "subset":
            return result.runs_by_block(candidate, top=size)
        return CommonMeasure("", size).cut(result.runs_by_block(candidate))
    except ValueError:
        return None


def _siblings(result: StudyTables, candidate: str) -> dict[int, str]:
    """The candidates that differ from this one in the number of features alone, by that number."""
    others, family = _without_size(result, candidate), result.family(candidate)
    return {
        size: name
        for name in result.candidates
        if name != candidate and result.family(name) == family and _without_size(result, name) == others
        for size in [result.size_of(name)]
        if size is not None
    }


def _without_size(result: StudyTables, candidate: str) -> dict[str, object]:
    return {key: value for key, value in result.settings(candidate).items() if key not in SIZE_NAMES}


def compare_scores(
    result: StudyTables, candidate: str, other: str | None, metric: str | None, level: float
) -> Change | None:
    """Compare the scores of two candidates split by split, other minus first; None if they share fewer than two.

    The interval is that of the corrected resampled t-test (see :func:`holdfast.tradeoff.points.resampled_t`).
    """
    if other is None or metric is None:
        return None
    (before, splits), (after, _) = (result.split_scores(name, metric) for name in (candidate, other))
    differences = (after - before).dropna()
    if len(differences) < 2:
        return None
    values, mean = np.asarray(differences, dtype=np.float64), float(differences.mean())
    reach = stdtrit(values.size - 1, (1 + level) / 2) * corrected_error(values, splits.loc[differences.index])
    shared = before.loc[differences.index]
    return Change(
        before=float(shared.mean()),
        after=float(shared.mean()) + mean,
        low=float(mean - reach),
        high=float(mean + reach),
    )
