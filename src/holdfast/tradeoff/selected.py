"""Selected features by name: how often, in which direction, how strong on held-out rows, and their stand-ins."""

import contextlib
import json
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr
from scipy.stats import binom

from holdfast.cards import SHOWN_ROWS as CARD_ROWS
from holdfast.cards import Card, draw_bars, draw_intervals, make_bar
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.features import SWAP_CANDIDATES, feature_table, find_swaps, frequency_interval
from holdfast.inference.intervals import check_level
from holdfast.kernels.effects import effect_width
from holdfast.measures import Measure, find_measure
from holdfast.preferences import Preferences
from holdfast.result_base import AnyChart, ResultMixin
from holdfast.serialization import to_plain
from holdfast.study.orders import UnansweredError
from holdfast.study.stabilities import corrected_error, take_best
from holdfast.study.stabilities import features_that_count as features_that_count
from holdfast.study.tables import StudyTables
from holdfast.targets import TASKS
from holdfast.text import LEGEND, format_interval, format_number, format_share, join_names
from holdfast.tradeoff.choice import choose

ALIKE = 0.5  # correlation from which features count as alike
FALSE_PAIRS = 0.05  # accepted share of false pairs among those that are reported


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How often each feature was selected, with its stand-ins.

    Attributes
    ----------
    runs : Preferences
        Subsets.
    stand_ins : dict
        For each feature (by column) those that took turns with it, the strongest first.
    """

    runs: Preferences
    stand_ins: dict[int, list[int]]

    def intervals(self, columns: Sequence[int], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Intervals of the frequencies of some features."""
        return frequency_interval(self.runs.counts[list(columns)], self.runs.n_runs, level)

    def together(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """In which share of the runs each of these features or one of its stand-ins was selected."""
        shares = self.runs.frequency[list(columns)]
        selected = self.runs.to_sparse().tocsc() if self.stand_ins else None
        for row, column in enumerate(columns):
            if selected is not None and column in self.stand_ins:
                chosen = selected[:, [column, *self.stand_ins[column]]]
                shares[row] = (np.asarray(chosen.sum(axis=1)) > 0).mean()
        return shares

    def names(self, column: int) -> tuple[Any, ...]:
        """Names of a feature's stand-ins."""
        return tuple(self.runs.features[other] for other in self.stand_ins.get(column, []))


def count_frequencies(result: StudyTables, candidate: str, top: int | None, X: Any) -> Frequencies:
    """Read how often a candidate selected each feature, and which features take turns."""
    if X is not None:
        return find_frequencies(read_subsets(result, candidate, top), X)
    return result.memory.get_or_compute(
        ("frequencies", candidate, top), lambda: find_frequencies(read_subsets(result, candidate, top))
    )


def read_subsets(result: StudyTables, candidate: str, top: int | None) -> Preferences:
    """Return the subsets that a candidate selected, or the best ``top`` features of its rankings or weights."""
    runs = result.preferences(candidate)
    if runs.kind != "subset":
        if top is None:
            raise ValueError(
                f"Expected subsets, got {runs.kind}s of {candidate}; say with top= how many of the best features count."
            )
        return take_best(runs, top)
    if top is not None:
        raise ValueError(f"Expected rankings or weights to cut with top={top}, got subsets of {candidate}.")
    return runs


def find_frequencies(runs: Preferences, X: Any = None) -> Frequencies:
    """Return how often runs selected each feature, and which features take turns.

    Of the pairs that are reported at most 5 % are false (Benjamini and Hochberg).
    """
    swaps = find_swaps(runs, most=SWAP_CANDIDATES**2)
    if swaps.empty:
        return Frequencies(runs, {})
    pairs = swaps[["first", "second"]].to_numpy()
    varying = min(int(((runs.counts > 0) & (runs.counts < runs.n_runs)).sum()), SWAP_CANDIDATES)
    p_values, tests = swaps["p_value"].to_numpy(), varying * (varying - 1) // 2  # of all pairs that were looked at
    if X is not None:
        alike, tests = _find_correlated(match_columns(X, runs.features), pairs)
        pairs, p_values = pairs[alike], p_values[alike]
    order = np.argsort(p_values, kind="stable")
    passed = np.flatnonzero(p_values[order] <= FALSE_PAIRS * np.arange(1, order.size + 1) / max(tests, 1))
    stand_ins: dict[int, list[int]] = {}
    for first, second in pairs[order[: passed[-1] + 1 if passed.size else 0]].tolist():
        stand_ins.setdefault(first, []).append(second)
        stand_ins.setdefault(second, []).append(first)
    return Frequencies(runs, stand_ins)


def match_columns(X: Any, features: Sequence[Any]) -> Any:
    """The columns of X that are the features of the study."""
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        missing = [str(name) for name in features if str(name) not in names]
        if missing:
            raise ValueError(f"Expected X with all features of the study, got none named {missing[0]!r}.")
        return X[[X.columns[names.index(str(name))] for name in features]].to_numpy()
    if X.shape[1] != len(features):
        raise ValueError(f"Expected X with the {len(features)} features of the study, got {X.shape[1]} columns.")
    return X


def as_numbers(table: Any) -> NDArray[np.float64]:
    """The values of a table, nan in the columns that hold texts."""
    values = np.asarray(table)
    if values.dtype.kind != "O":
        return values.astype(np.float64, copy=False)
    columns = np.full(values.shape, np.nan)
    for column in range(values.shape[1]):
        with contextlib.suppress(TypeError, ValueError):
            columns[:, column] = np.where(pd.isna(values[:, column]), np.nan, values[:, column]).astype(np.float64)
    return columns


def _find_correlated(X: Any, pairs: NDArray[np.int64]) -> tuple[NDArray[np.bool_], int]:
    """Which pairs of features are correlated, and how many such pairs there are among all these features."""
    used = np.unique(pairs)
    table = X[:, used]
    values = as_numbers(table.toarray() if hasattr(table, "toarray") else table)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlated = np.nan_to_num(np.abs(np.corrcoef(values, rowvar=False))) >= ALIKE
    first, second = np.searchsorted(used, pairs).T
    return correlated[first, second], int(np.triu(correlated, 1).sum())


LEVELS = (0.05, 0.01)
FREE_CANDIDATES = (4, 1)
"""Levels of the test where at least half as many rows are held out as trained on, and where fewer are.

The corrected standard error is cautious in the first case, and not enough in the second, where all runs share most of
their rows: on shuffled targets tests at 5 % pass in up to 1 % and in 5 to 9 % of cases, tests at 1 % in up to 4 %. So
in the first case up to four candidates may each have that level and the largest of their chances is still below 5 %.
"""
STRATEGIES = {
    "prior": "knowing only how common each class is",
    "equal risk": "giving every row the same risk",
    "stratified": "drawing classes at random, each as often as it is there",
    "mean": "always predicting the mean",
    "median": "always predicting the median",
    "covariates": "a model of the covariates alone",
}


@dataclass(frozen=True, kw_only=True)
class Information(ResultMixin):
    """A test of whether a candidate predicts better than guessing without any feature.

    Attributes
    ----------
    untested : str or None
        Why it could not be tested; None if it was.
    metric : str or None
        The score.
    strategy : str or None
        The best way to guess, as a phrase.
    score, baseline : float
        Mean score of the candidate and of guessing, on the same held-out rows.
    gain, gain_error : float
        Mean difference of the two, and its standard error, which allows for runs that share training rows.
    p_value : float
        Of no gain, against more; multiplied for the number of candidates, of which any might have been the lucky one.
    level : float
        The largest p-value at which the gain counts as shown.
    """

    untested: str | None = None
    metric: str | None = None
    strategy: str | None = None
    score: float = math.nan
    baseline: float = math.nan
    gain: float = math.nan
    gain_error: float = math.nan
    p_value: float = math.nan
    level: float = math.nan

    @property
    def _title(self) -> str:
        if self.untested:
            return f"Whether the features carry information was not tested: {self.untested}"
        shown = "was shown" if self.shown else "was not shown"
        score, baseline = format_number(self.score, 3), format_number(self.baseline, 3)
        return f"That it predicts better than guessing {shown}: {self.metric} {score} against {baseline}"

    def _card(self) -> Card:
        values = {"candidate": self.score, "guessing": self.baseline}
        bars = [make_bar(name, value, math.nan, math.nan, strong=name == "candidate") for name, value in values.items()]
        frame = self.to_frame()[["metric", "score", "baseline", "gain", "gain_error", "p_value", "level"]]
        picture = None if self.untested else draw_intervals(bars)
        return Card(title="Information in the features", verdict=self._title, frame=frame, picture=picture,
                    note=f"Guessing: {self.strategy}" if self.strategy else "")  # fmt: skip

    @property
    def shown(self) -> bool:
        """Whether the features were shown to carry information."""
        return self.p_value <= self.level

    @property
    def guesses(self) -> bool:
        """Whether the candidate is not even one standard error better than guessing."""
        return self.gain <= self.gain_error


def compare_with_guessing(result: StudyTables, candidate: str, metric: str | None = None) -> Information:
    """Test whether a candidate predicts better than the best way to guess, split by split."""
    name = metric or next(iter(result.metrics), None)
    if name is None:
        return Information(untested=why_no_scores(result))
    scores, splits = result.split_scores(candidate, name)
    if scores.empty:
        return Information(untested=why_no_scores(result))
    guessing = result.guessing_scores(name).reindex(scores.index).dropna(axis="columns")
    if guessing.empty or guessing.columns.empty:
        return Information(untested=f"{name} has no value for guessing on the same rows", metric=name)
    if len(scores) < 2:
        return Information(untested="a single scored resample has no uncertainty", metric=name)
    best = str(guessing.mean().idxmax())
    gains = (scores - guessing[best]).to_numpy(dtype=np.float64)
    error = corrected_error(gains, splits)
    few_held_out = int((splits["n_test"] / splits["n_rows"]).mean() < 0.5)
    lucky = max(1.0, len(result.candidates) / FREE_CANDIDATES[few_held_out])
    if error > 1e-12:
        p_value = float(stdtr(gains.size - 1, -gains.mean() / error))
    else:  # equal gains have no spread: the sign test
        p_value = 0.5**gains.size if gains.mean() > 0 else 1.0
    return Information(
        metric=name, strategy=STRATEGIES.get(best) or f"always answering {best.removeprefix('always ')!r}",
        score=float(scores.mean()), baseline=float(guessing[best].mean()), gain=float(gains.mean()), gain_error=error,
        p_value=min(1.0, p_value * lucky), level=LEVELS[few_held_out],
    )  # fmt: skip


def why_no_scores(result: StudyTables) -> str:
    """Return why candidates have no scores, as a phrase."""
    if not (result.split_table["n_test"] > 0).any():
        return "no rows were held out"
    return "no model was scored on held-out rows"


Floats = NDArray[np.float64]

NO_DIRECTION = "direction not shown"
GRID = 401  # effects that are tried for an interval; no effect is one of them
ADJUSTED_COLUMNS = ("adjusted_effect", "adjusted_low", "adjusted_high")
EFFECT_COLUMNS = ("effect", "effect_low", "effect_high", "splits", "agreement", "second_effect", "direction")


@dataclass(frozen=True, eq=False)
class MeanEffects:
    """Mean effects of features on held-out rows.

    Attributes
    ----------
    name, second_name : str or None
        What the effect is, and a second one; None if there is none.
    frame : DataFrame
        Indexed by the feature's column: ``effect`` with its interval, number of ``splits`` behind it, ``agreement``
        (the share of them whose effect points the same way), ``second_effect`` and ``direction``; of a selection that
        is adjusted, ``adjusted_effect`` with its interval.
    missing : str or None
        Why there are no effects.
    """

    name: str | None
    second_name: str | None
    frame: pd.DataFrame
    missing: str | None = None


def mean_effects(result: StudyTables, candidate: str, runs: Preferences, level: float) -> MeanEffects:
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
        return MeanEffects(None, None, pd.DataFrame(columns=list(EFFECT_COLUMNS)), missing)
    splits, columns, values = _find_selected(result, candidate, runs)
    used, feature = np.unique(columns, return_inverse=True)
    table = result.split_table
    ratio = (table["n_test"] / table["n_rows"]).loc[splits.tolist()].to_numpy(dtype=np.float64)
    effect, several = TASKS[result.task].effect, len(classes) > 2
    neutral = 0.0 if effect.is_ratio else effect.neutral
    moments = [_average(feature, value, ratio, used.size, neutral) for value in values.T]
    before, after = moments[: effect_width(len(classes))], moments[effect_width(len(classes)) :]
    group = np.zeros(used.size, dtype=np.int64)
    if several and used.size:
        group = np.argmax(np.nan_to_num(np.abs([mean - neutral for mean, *_ in before]), nan=-1), axis=0)

    def estimate(moments: Sequence[tuple[Floats, ...]]) -> tuple[Any, ...]:
        """Mean, interval, number of splits, their agreement, and whether a direction is shown."""
        mean, error, n, agreement, spread = (
            np.array(part)[group, np.arange(used.size)] for part in zip(*moments, strict=True)
        )
        whole, tests = WholeSample.of(result, group, spread), len(classes) if several else 1
        p_values = np.minimum(_p_values(mean - neutral, np.maximum(error, whole.error(neutral))) * tests, 1.0)
        shown, share = find_shown(p_values, 1 - level, len(result.feature_names))
        return mean, *_intervals(mean, error, n, share / tests, whole), n.astype(np.int64), agreement, shown

    mean, low, high, *rest, shown = estimate(before)
    second = np.full(used.size, np.nan) if several else before[1][0]
    above = mean > neutral
    if effect.is_ratio:
        mean, low, high = np.exp(mean), np.exp(low), np.exp(high)
    frame = pd.DataFrame(dict(zip(EFFECT_COLUMNS, [mean, low, high, *rest, second], strict=False)), index=used)
    if after:
        frame[list(ADJUSTED_COLUMNS)] = np.column_stack(estimate(after)[:3])
    frame["direction"] = [
        describe_direction(result, bool(above), int(number)) if stated else NO_DIRECTION
        for above, number, stated in zip(above, group, shown, strict=True)
    ]
    return MeanEffects(effect.name, None if several else effect.second, frame)


MOST_LOG_HAZARD = 3.0
"""Intervals of log hazard ratios per standard deviation end there."""


@dataclass(frozen=True)
class WholeSample:
    """How precise the effect of a feature is that all rows together give, each row or group counted once.

    Attributes
    ----------
    first, second : ndarray
        For AUCs the number of rows in the class that an effect belongs to, and in all others; for correlations
        ``first`` is the number of rows and ``second`` is 0; for hazard ratios ``first`` is the number of events and
        ``second`` is -1.
    spread : ndarray
        By how much the standard error grows as the effect is a mean over a few splits and not that of all rows.
    """

    first: Floats
    second: Floats
    spread: Floats

    @classmethod
    def of(cls, result: StudyTables, group: NDArray[np.int64], spread: Floats) -> "WholeSample":
        """Count the rows; ``group`` is the class that the effect of each feature belongs to."""
        record = result.data
        units = 1.0 if record.n_groups is None else record.n_groups / record.rows
        if record.events is not None:  # the information of a standardized feature is that of one row for each event
            return cls(np.full(group.size, record.events * units), np.full(group.size, -1.0), spread)
        if not record.classes:
            return cls(np.full(group.size, record.rows * units), np.zeros(group.size), spread)
        sizes = np.array([count for _, count in record.classes], dtype=np.float64)
        of_class = sizes[group if sizes.size > 2 else np.full(group.size, sizes.size - 1)]
        return cls(of_class * units, (record.rows - of_class) * units, spread)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest effect that there can be."""
        if (self.second < 0).any():
            return -MOST_LOG_HAZARD, MOST_LOG_HAZARD
        return (0.0, 1.0) if self.second.any() else (-1.0, 1.0)

    def error(self, effect: float) -> Floats:
        """Standard error of an effect if this is its true value (for AUCs that of Hanley and McNeil, 1982)."""
        if (self.second < 0).any():
            return self.spread / np.sqrt(np.maximum(self.first, 1))
        if not self.second.any():
            return self.spread * (1 - effect**2) / np.sqrt(np.maximum(self.first - 1, 1))
        auc = max(effect, 1 - effect)
        first, second = auc / (2 - auc) - auc**2, 2 * auc**2 / (1 + auc) - auc**2
        variance = auc * (1 - auc) + (self.first - 1) * first + (self.second - 1) * second
        return self.spread * np.sqrt(np.maximum(variance, 0) / np.maximum(self.first * self.second, 1))


def _find_selected(
    result: StudyTables, candidate: str, runs: Preferences
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Split, feature and effects of every selection of a candidate that has effects."""
    width, n_features = effect_width(len(result.classes or ())), len(result.feature_names)
    parts, width = result.split_effects(candidate), width if result.adjusted_for is None else 2 * width
    known = np.concatenate([np.empty(0, np.int64), *(part.split * n_features + part.features for part in parts)])
    values = np.concatenate([np.empty((0, width), np.float32), *(part.values for part in parts)])
    indices, pointers = runs.lists()
    splits = np.repeat(result.split_numbers(runs), np.diff(pointers))
    wanted = splits * n_features + indices
    nearest = np.minimum(np.searchsorted(known, wanted), max(known.size - 1, 0))
    has_effect = known[nearest] == wanted if known.size else np.zeros(wanted.size, dtype=bool)
    return splits[has_effect], indices[has_effect].astype(np.int64), values[nearest[has_effect]].astype(np.float64)


def _average(feature: NDArray[Any], values: Floats, ratio: Floats, size: int, neutral: float) -> tuple[Floats, ...]:
    """Of each feature: mean effect, corrected standard error, number of splits, share of them that point its way.

    Last, by how much the standard error of a mean over these splits exceeds that of all rows, if held-out rows of two
    splits share as many as they would by chance.
    """
    known = np.isfinite(values)
    feature, values, ratio = feature[known], values[known], ratio[known]
    n = np.bincount(feature, minlength=size).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(feature, values, size) / n
        variance = np.bincount(feature, (values - mean[feature]) ** 2, size) / (n - 1)
        share = np.bincount(feature, ratio, size) / n
        error = np.sqrt((1 / n + share) * variance)
        same = np.sign(values - neutral) == np.sign(mean[feature] - neutral)
        agreement = np.bincount(feature, same, size) / n
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


def describe_direction(result: StudyTables, above: bool, group: int) -> str:
    """Return the direction of an effect as a phrase; ``group`` is its class where there are several."""
    classes = result.classes
    if result.task == "survival":
        return f"{'higher' if above else 'lower'} hazard with larger values"
    if classes is None:
        return f"{'rises' if above else 'falls'} with {result.data.target or 'the target'}"
    if len(classes) == 2:
        return f"higher in {class_name(classes[int(above)])}"
    return f"{'higher' if above else 'lower'} in {class_name(classes[group])}"


def class_name(label: Any) -> str:
    """Return a class's name for a sentence: numbers and signs are called a class."""
    return label if isinstance(label, str) and label[:1].isalpha() else f"class {label}"


def toward_direction(row: Mapping[str, Any], name: str | None) -> tuple[float, float, float]:
    """Return an effect and its interval in its direction: the AUC of the class in which the feature is higher.

    Where no direction is shown, it is that of the second class.
    """
    effect, low, high = (float(row[column]) for column in ("effect", "effect_low", "effect_high"))
    turned = name == "AUC" and row["direction"] not in (None, NO_DIRECTION) and effect < 0.5
    return (1 - effect, 1 - high, 1 - low) if turned else (effect, low, high)


MODEL_USE_COLUMNS = ("coefficient", "model_agreement", "used", "model_use")


@dataclass(frozen=True, eq=False)
class ModelUse:
    """What linear models do with features.

    Attributes
    ----------
    frame : DataFrame
        Indexed by the feature's column: the mean ``coefficient``, the share of the models whose coefficient has the
        sign of the majority (``model_agreement``), the mean share of a model's importance (``used``), and the sign as a
        phrase (``model_use``).
    missing : str or None
        Why it is not known, or not described.
    """

    frame: pd.DataFrame
    missing: str | None = None


def model_use(
    result: StudyTables, candidate: str, runs: Preferences, information: Information, level: float
) -> ModelUse:
    """Count the signs of each feature's coefficient over the models of the resamples that selected it.

    A sign is described only if the candidate is shown to predict better than guessing: on noise, too, the models
    of resamples that share rows agree. The majority must then differ from one half by the sign test, with the procedure
    of Benjamini and Hochberg over all features of the study. That describes models of resamples of this data set.
    """
    missing = result.no_model_use(candidate)
    if missing is not None:
        return ModelUse(pd.DataFrame(columns=list(MODEL_USE_COLUMNS)), missing)
    columns, values, shares = _find_coefficients(result, candidate, runs)
    used, feature = np.unique(columns, return_inverse=True)
    n, positive, negative = (
        np.bincount(feature, flags, used.size) for flags in (np.isfinite(values), values > 0, values < 0)
    )
    most = np.maximum(positive, negative)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, agreement = np.bincount(feature, np.nan_to_num(values), used.size) / n, most / n
        share = np.bincount(feature, np.nan_to_num(shares), used.size) / n
    shown, _ = find_shown(np.minimum(2 * binom.sf(most - 1, n, 0.5), 1.0), 1 - level, len(result.feature_names))
    informative = information.untested is None and information.shown
    words = [
        _describe(result, bool(up), float(agreed), bool(stated)) if informative and agreed == agreed else None
        for up, agreed, stated in zip(positive >= negative, agreement, shown, strict=True)
    ]
    frame = pd.DataFrame(dict(zip(MODEL_USE_COLUMNS, [mean, agreement, share, words], strict=True)), index=used)
    return ModelUse(frame, None if informative else "the models were not shown to predict better than guessing")


def _find_coefficients(
    result: StudyTables, candidate: str, runs: Preferences
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Feature, coefficient and share of importance of every selection by the resamples that count."""
    counted = set(result.split_numbers(runs).tolist())
    parts = [part for part in result.model_coefficients(candidate) if part.split in counted]
    columns = np.concatenate([np.empty(0, np.int64), *(part.features for part in parts)])
    values = [part.values.astype(np.float64) for part in parts]
    with np.errstate(invalid="ignore"):  # a model that uses no feature has no shares
        shares = [np.abs(coef) / np.abs(coef).sum() for coef in values]
    return columns, np.concatenate([np.empty(0), *values]), np.concatenate([np.empty(0), *shares])


def _describe(result: StudyTables, up: bool, share: float, shown: bool) -> str:
    percent = format_share(share)
    if not shown:
        few = "one sign in all of its models, too few to tell"
        return few if share == 1 else f"sign not shown: {percent} of its models agree"
    return f"{_describe_sign(result, up)} in {percent} of its models"


def _describe_sign(result: StudyTables, up: bool) -> str:
    if result.task == "survival":
        return f"{'raises' if up else 'lowers'} the predicted risk"
    if result.classes is None:
        return f"{'raises' if up else 'lowers'} the predicted {result.data.target or 'target'}"
    toward = class_name(result.classes[int(up)])
    models_odds = "LogisticRegression" in json.dumps(result.plan["estimator"])
    return f"raises the odds of {toward}" if models_odds else f"moves predictions toward {toward}"


HOLDS = "holds"
OFTEN = "selected often"
UNTESTED = f"{OFTEN}; whether it carries information was not tested"
NOT_SHOWN = f"{OFTEN}; not shown to carry information"
IN_DOUBT = f"{OFTEN}; in doubt as a feature"
DOES_NOT_HOLD = "does not hold"
NOT_ABOVE_CHANCE = f"{DOES_NOT_HOLD}; may be chance"
AT_MOST_TWICE = f"{DOES_NOT_HOLD}; at most twice chance"


def question_doubted(names: Iterable[Any]) -> str:
    """Return what to check before trusting features that may be none, as a sentence; empty without any."""
    doubted = [str(name) for name in names]
    if not doubted:
        return ""
    return f"Check first whether {join_names(doubted, 3)} {'is a feature' if len(doubted) == 1 else 'are features'}."


def judge_features(
    features: Iterable[Any],
    result: StudyTables,
    candidate: str | None = None,
    *,
    X: Any = None,
    level: float = 0.95,
    threshold: float = 0.5,
    top: int | None = None,
    metric: str | None = None,
) -> pd.DataFrame:
    """Return frequency, stand-ins and verdict of features, name by name, as :func:`holdfast.check_features` says."""
    check_level(level)
    name = choose_only_candidate(result, candidate)
    frequencies = count_frequencies(result, name, top, X)
    information = compare_with_guessing(result, name, metric)
    often = UNTESTED if information.untested else HOLDS if information.shown else NOT_SHOWN
    by_name = {str(feature): column for column, feature in enumerate(frequencies.runs.features)}
    names = list(features)
    columns = [by_name.get(str(feature)) for feature in names]
    known = check_columns([column for column in columns if column is not None], frequencies, level, threshold, often)
    rows = [
        {"feature": name, **(UNKNOWN if column is None else known[column])}
        for name, column in zip(names, columns, strict=True)
    ]
    for row in rows:
        if row["verdict"] == often and str(row["feature"]) in result.data.doubted:
            row["verdict"] = IN_DOUBT
    return pd.DataFrame(rows, columns=["feature", *UNKNOWN]).set_index("feature")


def choose_only_candidate(result: StudyTables, candidate: str | None) -> str:
    """Return the candidate that is named, or the only one."""
    if candidate is not None:
        return candidate
    if len(result.candidates) > 1:
        raise ValueError(
            f"Expected candidate= to say which of {len(result.candidates)} to check the list against, got none "
            f"({', '.join(result.candidates[:10])})."
        )
    return result.candidates[0]


UNKNOWN: dict[str, Any] = {
    "count": 0, "frequency": math.nan, "low": math.nan, "high": math.nan, "with_stand_ins": math.nan, "stand_ins": (),
    "verdict": "unknown",
}  # fmt: skip
"""The row of a name that no feature of the study has."""


def check_columns(
    columns: Sequence[int], frequencies: Frequencies, level: float, threshold: float, often: str
) -> dict[int, dict[str, Any]]:
    """Return frequency, stand-ins and verdict of features of the study, by column."""
    runs = frequencies.runs
    low, high = frequencies.intervals(columns, level)
    together = frequencies.together(columns)
    joint, _ = frequency_interval(np.round(together * runs.n_runs).astype(np.int64), runs.n_runs, level)
    return {
        column: {
            "count": int(runs.counts[column]), "frequency": float(runs.frequency[column]), "low": float(low[row]),
            "high": float(high[row]), "with_stand_ins": float(together[row]),
            "stand_ins": frequencies.names(column),
            "verdict": often if low[row] > threshold
            else _judge_rare(low[row], high[row], joint[row], runs.density, threshold),
        }
        for row, column in enumerate(columns)
    }  # fmt: skip


def _judge_rare(low: float, high: float, joint: float, chance: float, threshold: float) -> str:
    """The verdict on a feature whose frequency is not shown to be above the threshold.

    ``joint`` is the lower end of the frequency of it or its stand-ins, ``chance`` that of a feature drawn at random.
    """
    if low > chance and joint > threshold:
        return "takes turns"
    if low <= chance and high < threshold:
        return AT_MOST_TWICE if high <= 2 * chance else NOT_ABOVE_CHANCE
    return DOES_NOT_HOLD if high < threshold else "undecided"


def default_candidate(result: StudyTables) -> str:
    """Return the candidate that a report is about: the one that the default rule chooses, else the most stable one."""
    if not result.finished:
        raise UnansweredError("No fit has succeeded, so there is no candidate to look at.", "no fit has succeeded")
    if len(result.candidates) == 1:
        return result.candidates[0]
    with warnings.catch_warnings(action="ignore"):
        if result.has_scores:
            try:
                return choose(result, n_draws=0).candidate
            except ValueError:  # scores or stabilities are undefined
                pass
        common, estimates = result.common_measure(), dict[str, StabilityEstimate | str]()
        for name in result.finished:
            try:
                estimates[name] = common.estimate(result, name)
            except ValueError as error:
                estimates[name] = str(error)
    return most_stable(estimates) or result.finished[0]


def most_stable(estimates: Mapping[str, StabilityEstimate | str]) -> str | None:
    """Return the candidate whose estimate is best; None if none has a stability."""
    known = {
        name: estimate
        for name, estimate in estimates.items()
        if isinstance(estimate, StabilityEstimate) and estimate.value == estimate.value
    }
    if not known:
        return None
    measure = find_measure(next(iter(known.values())).measure.split("(")[0])
    best = max if measure.higher_is_better else min
    return best(known, key=lambda name: known[name].value)


def judge_stability(
    result: StudyTables, candidate: str, least: float, *, measure: Measure | None = None, level: float = 0.95
) -> tuple[str, bool]:
    """Return whether the interval of a candidate's stability is at or above a bound, in a sentence for a log too."""
    row: Any = result.summary(measure, level=level).loc[candidate]
    required = f"at least {least:g} required of the whole interval"
    if row["low"] != row["low"]:
        reason = row["reason"] if isinstance(row["reason"], str) else "its interval is not known"
        return f"Undecided: {candidate}: {reason}; {required}.", False
    if not find_measure(str(row["measure"]).partition("(")[0]).higher_is_better:
        raise ValueError(f"Expected a measure that is higher for a more stable selection, got {row['measure']}.")
    stability = f"{format_number(row['stability'], 3)} {format_interval(row['low'], row['high'], 3)}"
    finding = f"the stability of {candidate} is {stability}"
    if not result.complete:
        return f"Undecided: the study is not finished; so far {finding}, {required}.", False
    passed = bool(row["low"] >= least)
    verdict = "Passed" if passed else "Not passed" if row["high"] < least else "Undecided"
    return f"{verdict}: {finding}, {required}.", passed


SHOWN_ROWS = 20
SCOPE = (
    "Effects are means over the held-out rows of the resamples that selected the feature. Their intervals allow for "
    "overlapping resamples (Nadeau and Bengio, 2003) and for looking at the strongest of {n_features:,} features "
    "(Benjamini and Yekutieli, 2005); a direction is stated where the interval excludes no effect. They describe this "
    "data set: in new samples, effects of features that were singled out tend to be weaker."
)

MODEL_SCOPE = (
    "What models do with a feature is the sign of its coefficient next to the other features, in the linear models of "
    "the resamples that selected it: it describes models of this data set."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectedFeatures(ResultMixin):
    """Selected features of a candidate: selection frequency, verdict, direction and effect on held-out rows, stand-ins.

    Attributes
    ----------
    candidate : str
        Its name.
    frame : DataFrame
        One row per feature that was ever selected, the most frequent first: ``count``, ``frequency`` with ``low`` and
        ``high``, ``verdict``, ``direction`` in words, the mean ``effect`` on held-out rows with ``effect_low`` and
        ``effect_high``, the number of ``splits`` behind it, the share of them that point the same way (``agreement``),
        a ``second_effect``; what linear models do with it next to the other features, in words (``model_use``), with
        the share of its models that agree on the sign (``model_agreement``), its mean ``coefficient``, that of the
        feature in units of its standard deviation, and the mean share of its models' importance that it has
        (``used``); ``stand_ins`` and the share of the resamples that selected it or one of them. If the selection is
        adjusted, ``adjusted_effect`` with ``adjusted_low`` and ``adjusted_high``: the effect of what covariates and
        sites leave, in the same direction. :meth:`holdfast.StudyResult.features` adds the probability that a new study
        selects it (``new_study``), ``by_habit``, ``expected_false`` and ``q``, as in
        :class:`~holdfast.replication.Replicability`, ``nan`` where they were not estimated.
    effect, second_effect : str or None
        What the effects are: for two classes the probability that a row of the second class has the higher value (AUC,
        no effect at 0.5) and the difference of means in units of the pooled deviation; for several classes the AUC of
        the class that differs most from all others; for numbers the correlations of ranks and of values.
    missing : str or None
        Why there are no effects; None if there are.
    no_model_use : str or None
        Why it is not said what models do with a feature; None if it is.
    level, threshold : float
        Level of the intervals; selection frequency that the interval of a feature that holds must exceed.
    top : int or None
        How many of the best features of a ranking or weights count as selected; None for subsets.
    n_runs, n_features : int
        Number of resamples and of all features.
    scope : str
        What effects and their intervals describe.
    adjusted_for : str or None
        What the selection, and ``adjusted_effect``, are adjusted for; None if they are not.

    See Also
    --------
    holdfast.StudyResult.features : Makes it.
    holdfast.check_features : A list of your own, checked name by name.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> study = hf.Study(selectors={"anova": hf.selectors.AnovaF(3)}, perturbation=hf.Bootstrap(30))
    >>> found = study.run(X, y).features()
    >>> found.to_frame()[["feature", "count", "direction", "effect"]].head(2).round(2)
                    feature  count          direction  effect
    0       worst perimeter     30  higher in class 0    0.97
    1  worst concave points     28  higher in class 0    0.96
    """

    _table_field: ClassVar[str] = "frame"

    candidate: str
    frame: pd.DataFrame
    effect: str | None
    second_effect: str | None
    missing: str | None
    no_model_use: str | None
    level: float
    threshold: float
    top: int | None
    n_runs: int
    n_features: int
    scope: str
    adjusted_for: str | None = None

    @property
    def known_numbers(self) -> list[str]:
        """Which of :data:`LEGEND` is known of some feature."""
        return [name for name in LEGEND if name in self.frame and self.frame[name].notna().any()]

    @property
    def legend(self) -> list[str]:
        """What each of these numbers says, in a sentence."""
        return [LEGEND[name] for name in self.known_numbers]

    @property
    def has_model_use(self) -> bool:
        """Whether it is said what models do with a feature."""
        return bool(self.frame["model_use"].notna().any())

    def to_frame(self) -> pd.DataFrame:
        """Return the table as it is printed, exported and reported: an effect has the direction that is stated.

        Returns
        -------
        DataFrame
            :attr:`frame`, in which an AUC is that of the class in which the feature is higher; without a direction it
            is that of the second class.
        """
        frame = self.frame.copy()
        rows = [{str(key): value for key, value in row.items()} for row in frame.to_dict(orient="records")]
        effects = np.array([toward_direction(row, self.effect) for row in rows], dtype=np.float64).reshape(-1, 3)
        turned = (frame["effect"] != effects[:, 0]) & frame["effect"].notna()
        frame["second_effect"] = frame["second_effect"].where(~turned, -frame["second_effect"])
        frame[["effect", "effect_low", "effect_high"]] = effects
        if self.adjusted_for is not None:
            adjusted = frame[list(ADJUSTED_COLUMNS)].to_numpy()
            frame[list(ADJUSTED_COLUMNS)] = np.where(turned.to_numpy()[:, None], 1 - adjusted[:, [0, 2, 1]], adjusted)
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON, with the table of :meth:`to_frame`.

        Returns
        -------
        dict
            One entry per attribute.
        """
        return super().to_dict() | {"frame": to_plain(self.to_frame())}

    def plot(self, *, most: int = 30) -> "AnyChart":
        """Draw the effects of the most frequent features, with their intervals.

        Parameters
        ----------
        most : int
            Number of features to draw.

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast import plots

        return plots.plot_effects(self, most=most)

    def _card(self) -> Card:
        """The table as it is printed: an AUC is that of the class in which the feature is higher."""
        name, rows = self.effect or "effect", self.frame.head(CARD_ROWS).to_dict(orient="records")
        effects = {"effect": name, "effect_low": f"{name} low", "effect_high": f"{name} high"}
        columns = ["feature", "frequency", "low", "high", *self.known_numbers, "verdict", "direction"]
        columns += [] if self.missing else list(effects)
        bars = [
            make_bar(row["feature"], row["frequency"], row["low"], row["high"], strong=row["verdict"] == "holds")
            for row in rows
        ]
        cut = "" if self.top is None else f" among the best {self.top}"
        question = question_doubted(self.frame["feature"][self.frame["verdict"] == IN_DOUBT])
        selected = f"{len(self.frame)} of {self.n_features:,} were selected{cut} in {self.n_runs} resamples"
        return Card(
            title=f"Features of {self.candidate}",
            verdict=f"{question} {selected}".strip(),
            frame=self.to_frame()[columns].rename(columns=effects),
            picture=draw_bars(bars, mark=self.threshold),
            note=" ".join([*self.legend, f"No effects: {self.missing}." if self.missing else self.scope]),
        )

    def __repr__(self) -> str:
        cut = "" if self.top is None else f" among the best {self.top}"
        head = f"Features of {self.candidate}: {len(self.frame)} were selected{cut} in {self.n_runs} resamples"
        first = self.to_frame().head(SHOWN_ROWS)
        shown = first.assign(stand_ins=[", ".join(map(str, names)) for names in first["stand_ins"]])
        left_out = {
            "second_effect": self.second_effect is None, "model_use": not self.has_model_use,
            **{name: name not in self.known_numbers for name in LEGEND},
        }  # fmt: skip
        hidden = [column for column, missing in left_out.items() if missing]
        hidden += ["with_stand_ins", "model_agreement", "coefficient", "by_habit", "expected_false"]
        shown = shown.drop(columns=hidden, errors="ignore")
        table = shown.to_string(index=False, float_format=lambda number: f"{number:.3f}")
        effect = f"No effects: {self.missing}." if self.missing else f"Effect: {self.effect}. {self.scope}"
        if self.adjusted_for is not None:
            effect += f" Adjusted: for {self.adjusted_for}."
        return f"{head}\n{table}\n{effect}" + (f"\n{MODEL_SCOPE}" if self.has_model_use else "")


def selected_features(
    result: StudyTables,
    candidate: str | None = None,
    *,
    level: float = 0.95,
    threshold: float = 0.5,
    top: int | None = None,
    X: Any = None,
    metric: str | None = None,
) -> SelectedFeatures:
    """Tabulate the selected features of a candidate: frequency, verdict, direction, effect and stand-ins.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidate : str, optional
        Name of a candidate; by default the one that a report is about: the only one, the chosen one, or without scores
        the most stable one.
    level : float
        Level of the intervals.
    threshold : float
        Selection frequency that the interval of a feature that holds must exceed.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.
    X : frame or array, optional
        The features that the study ran on; stand-ins must then be correlated too.
    metric : str, optional
        The score by which the candidate must predict better than guessing; the study's first by default.

    Returns
    -------
    SelectedFeatures
        One row per feature that was ever selected, the most frequent first.

    See Also
    --------
    final_features : The features of a fit to all rows.
    holdfast.check_features : A list of your own, checked name by name.
    """
    check_level(level)
    name = default_candidate(result) if candidate is None else candidate
    runs = result.preferences(name)
    top = None if runs.kind == "subset" else top or features_that_count(result, name)
    subsets = runs if top is None else take_best(runs, top)
    table = feature_table(subsets, level=level)
    checked = judge_features(
        table["feature"], result, name, X=X, level=level, threshold=threshold, top=top, metric=metric
    )
    effects = mean_effects(result, name, subsets, level)
    used = model_use(result, name, subsets, compare_with_guessing(result, name, metric), level)
    by_name = {feature: column for column, feature in enumerate(subsets.features)}
    columns = [by_name[feature] for feature in table["feature"]]
    strengths, uses = effects.frame.reindex(columns), used.frame.reindex(columns)
    parts = checked.reset_index()[["feature", "count", "frequency", "low", "high", "verdict"]]
    frame = parts.assign(
        direction=strengths["direction"].where(strengths["direction"].notna(), None).to_numpy(),
        **{column: strengths[column].to_numpy(dtype=float) for column in EFFECT_COLUMNS if column != "direction"},
        model_use=uses["model_use"].where(uses["model_use"].notna(), None).to_numpy(),
        **{column: uses[column].to_numpy(dtype=float) for column in ("model_agreement", "coefficient", "used")},
        stand_ins=checked["stand_ins"].to_numpy(),
        with_stand_ins=checked["with_stand_ins"].to_numpy(),
        **{column: strengths[column].to_numpy(dtype=float) for column in ADJUSTED_COLUMNS if column in strengths},
    )
    frame["splits"] = frame["splits"].fillna(0).astype(int)
    return SelectedFeatures(
        candidate=name, frame=frame, effect=effects.name, second_effect=effects.second_name, missing=effects.missing,
        no_model_use=used.missing, level=level, threshold=threshold, top=top, n_runs=subsets.n_runs,
        n_features=subsets.n_features, scope=SCOPE.format(n_features=subsets.n_features),
        adjusted_for=result.adjusted_for,
    )  # fmt: skip
