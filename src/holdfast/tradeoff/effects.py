"""Mean effects of selected features on held-out rows, with intervals that allow for how the features were found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from holdfast.kernels.effects import effect_width
from holdfast.preferences import Preferences
from holdfast.study.result import StudyResult

Floats = NDArray[np.float64]

NOT_SHOWN = "direction not shown"
GRID = 401  # effects that are tried for an interval; no effect is one of them
COLUMNS = ("effect", "effect_low", "effect_high", "splits", "agreement", "second_effect", "direction")


@dataclass(frozen=True, eq=False)
class MeanEffects:
    """Mean effects of features on held-out rows.

    Attributes
    ----------
    name, second_name : str or None
        What the effect is, and the second one that is listed beside it; None if there is none.
    frame : DataFrame
        Indexed by the feature's column: ``effect`` with its interval, number of ``splits`` behind it, ``agreement``
        (the share of them whose effect points the same way), ``second_effect`` and ``direction``.
    missing : str or None
        Why there are no effects.
    """

    name: str | None
    second_name: str | None
    frame: pd.DataFrame
    missing: str | None = None


def mean_effects(result: StudyResult, candidate: str, runs: Preferences, level: float) -> MeanEffects:
    r"""Average the effects of every feature over the splits on which a candidate selected it.

    The variance over splits is times :math:`1/J + n_{test}/n_{train}` (Nadeau and Bengio, 2003), as for scores. No
    effect is taken for more precise than one that all rows together would give, whose variance is times
    :math:`1 + n_{train}/(J n_{test})` for a mean of :math:`J` splits. The features that are looked at are the strongest
    of many, so a direction is stated by the procedure of Benjamini and Hochberg over all :math:`d` features of the
    study, and intervals have the level :math:`1 - R\alpha/d` if :math:`R` directions are stated (Benjamini and
    Yekutieli, 2005): a direction is stated exactly where the interval excludes no effect. Of several classes, the one
    with the largest effect is reported, and the level is divided by their number.
    """
    missing, classes = result.no_effects, result.classes or ()
    if missing is not None:
        return MeanEffects(None, None, pd.DataFrame(columns=list(COLUMNS)), missing)
    splits, columns, values = _find_selected(result, candidate, runs)
    used, place = np.unique(columns, return_inverse=True)
    table = result.split_table
    ratio = (table["n_test"] / table["n_rows"]).loc[splits.tolist()].to_numpy(dtype=np.float64)
    neutral, several = 0.5 if classes else 0.0, len(classes) > 2
    moments = [_average(place, value, ratio, used.size, neutral) for value in values.T]
    group = np.zeros(used.size, dtype=np.int64)
    if several and used.size:
        group = np.argmax(np.nan_to_num(np.abs([mean - neutral for mean, *_ in moments]), nan=-1), axis=0)
    mean, error, n, agreement, spread = (
        np.array(part)[group, np.arange(used.size)] for part in zip(*moments, strict=True)
    )
    whole = WholeSample.of(result, group, spread)
    tests = len(classes) if several else 1
    p_values = np.minimum(_p_values(mean - neutral, np.maximum(error, whole.error(neutral))) * tests, 1.0)
    shown, share = find_shown(p_values, 1 - level, len(result.feature_names))
    low, high = _intervals(mean, error, n, share / tests, whole)
    second = np.full(used.size, np.nan) if several else moments[1][0]
    rows = [mean, low, high, n.astype(np.int64), agreement, second]
    frame = pd.DataFrame(dict(zip(COLUMNS, rows, strict=False)), index=used)
    frame["direction"] = [
        describe_direction(result, bool(above), int(number)) if stated else NOT_SHOWN
        for above, number, stated in zip(mean > neutral, group, shown, strict=True)
    ]
    second_name = None if several else "standardized difference" if classes else "correlation"
    return MeanEffects("AUC" if classes else "rank correlation", second_name, frame)


@dataclass(frozen=True)
class WholeSample:
    """How precise the effect of a feature is that all rows together give, each row or group counted once.

    Attributes
    ----------
    first, second : ndarray
        For AUCs the number of rows in the class that an effect belongs to, and in all others; for correlations
        ``first`` is the number of rows and ``second`` is 0.
    spread : ndarray
        By how much the standard error grows as the effect is a mean over a few splits and not that of all rows.
    """

    first: Floats
    second: Floats
    spread: Floats

    @classmethod
    def of(cls, result: StudyResult, group: NDArray[np.int64], spread: Floats) -> "WholeSample":
        """Count the rows; ``group`` is the class that the effect of each feature belongs to."""
        record = result.data
        units = 1.0 if record.n_groups is None else record.n_groups / record.rows
        if not record.classes:
            return cls(np.full(group.size, record.rows * units), np.zeros(group.size), spread)
        sizes = np.array([count for _, count in record.classes], dtype=np.float64)
        of_class = sizes[group if sizes.size > 2 else np.full(group.size, sizes.size - 1)]
        return cls(of_class * units, (record.rows - of_class) * units, spread)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest effect that there can be."""
        return (0.0, 1.0) if self.second.any() else (-1.0, 1.0)

    def error(self, effect: float) -> Floats:
        """Standard error of an effect if this is its true value (for AUCs that of Hanley and McNeil, 1982)."""
        if not self.second.any():
            return self.spread * (1 - effect**2) / np.sqrt(np.maximum(self.first - 1, 1))
        auc = max(effect, 1 - effect)
        first, second = auc / (2 - auc) - auc**2, 2 * auc**2 / (1 + auc) - auc**2
        variance = auc * (1 - auc) + (self.first - 1) * first + (self.second - 1) * second
        return self.spread * np.sqrt(np.maximum(variance, 0) / np.maximum(self.first * self.second, 1))


def _find_selected(
    result: StudyResult, candidate: str, runs: Preferences
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Split, feature and effects of every selection of a candidate that has effects."""
    n_classes, n_features, parts = len(result.classes or ()), len(result.feature_names), result.split_effects(candidate)
    known = np.concatenate([np.empty(0, np.int64), *(part.split * n_features + part.features for part in parts)])
    values = np.concatenate([np.empty((0, effect_width(n_classes)), np.float32), *(part.values for part in parts)])
    indices, pointers = runs.lists()
    splits = np.repeat(result.split_numbers(runs), np.diff(pointers))
    wanted = splits * n_features + indices
    place = np.minimum(np.searchsorted(known, wanted), max(known.size - 1, 0))
    found = known[place] == wanted if known.size else np.zeros(wanted.size, dtype=bool)
    return splits[found], indices[found].astype(np.int64), values[place[found]].astype(np.float64)


def _average(place: NDArray[Any], values: Floats, ratio: Floats, size: int, neutral: float) -> tuple[Floats, ...]:
    """Of each feature: mean effect, corrected standard error, number of splits, share of them that point its way.

    Last, by how much the standard error of a mean over these splits exceeds that of all rows, if held-out rows of two
    splits share as many as they would by chance.
    """
    known = np.isfinite(values)
    place, values, ratio = place[known], values[known], ratio[known]
    n = np.bincount(place, minlength=size).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(place, values, size) / n
        variance = np.bincount(place, (values - mean[place]) ** 2, size) / (n - 1)
        share = np.bincount(place, ratio, size) / n
        error = np.sqrt((1 / n + share) * variance)
        same = np.sign(values - neutral) == np.sign(mean[place] - neutral)
        agreement = np.bincount(place, same, size) / n
        spread = np.sqrt(1 + 1 / (share * n))
    return mean, np.where(n > 1, error, np.nan), n, agreement, spread


def _p_values(away: Floats, error: Floats) -> Floats:
    """P-values of no effect; 1 for a single split. Without an effect the standard error is known, hence no Student."""
    p_values = 2 * ndtr(-np.abs(away) / error)
    return np.where(np.isfinite(p_values), p_values, 1.0)


def find_shown(p_values: Floats, alpha: float, n_features: int) -> tuple[NDArray[np.bool_], float]:
    """Return which effects are shown among all features (Benjamini and Hochberg), and the level left to each."""
    ordered = np.sort(p_values)
    passed = np.flatnonzero(ordered <= alpha * np.arange(1, ordered.size + 1) / n_features)
    stated = int(passed[-1]) + 1 if passed.size else 0
    share = alpha * max(stated, 1) / n_features
    return (p_values <= share) & (stated > 0), share


def _intervals(mean: Floats, error: Floats, n: Floats, share: float, whole: WholeSample) -> tuple[Floats, Floats]:
    """All effects that the test does not exclude, each with the precision that it would have itself."""
    t = ndtri(1 - share / 2)
    low, high = mean.copy(), mean.copy()
    for effect in np.linspace(*whole.ends, GRID):
        possible = np.abs(mean - effect) <= t * np.maximum(error, whole.error(float(effect)))
        low, high = np.where(possible & (effect < low), effect, low), np.where(possible & (effect > high), effect, high)
    return np.where(n > 1, low, np.nan), np.where(n > 1, high, np.nan)


def describe_direction(result: StudyResult, above: bool, group: int) -> str:
    """The direction of an effect in words; ``group`` is the class that it belongs to where there are several."""
    classes = result.classes
    if classes is None:
        return f"{'rises' if above else 'falls'} with {result.data.target or 'the target'}"
    if len(classes) == 2:
        return f"higher in {class_name(classes[int(above)])}"
    return f"{'higher' if above else 'lower'} in {class_name(classes[group])}"


def class_name(label: Any) -> str:
    """A class as it stands in a sentence: numbers and signs are called a class."""
    return label if isinstance(label, str) and label[:1].isalpha() else f"class {label}"


def toward_direction(row: Mapping[str, Any], name: str | None) -> tuple[float, float, float]:
    """Return an effect and its interval as it is told beside its direction: an AUC of the class that is named.

    Where no direction is shown, it stays that of the second class.
    """
    effect, low, high = (float(row[column]) for column in ("effect", "effect_low", "effect_high"))
    turned = name == "AUC" and row["direction"] not in (None, NOT_SHOWN) and effect < 0.5
    return (1 - effect, 1 - high, 1 - low) if turned else (effect, low, high)
