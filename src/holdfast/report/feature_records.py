"""The features of a summary, as plain typed data: frequencies, stand-ins, and which resample selected what."""

import math
from dataclasses import dataclass

from holdfast.tradeoff.selected import HOLDS, OFTEN


@dataclass(frozen=True, kw_only=True)
class Box:
    """The values of a feature in one class, or in one third of a target that is a number.

    Attributes
    ----------
    group : str
        The class, or which third.
    quantiles : tuple of float
        10, 25, 50, 75 and 90 % quantiles, rounded; empty for groups of fewer than eight rows.
    rows : tuple of float
        Values of single rows; empty unless the report was made with the data.
    """

    group: str
    quantiles: tuple[float, ...]
    rows: tuple[float, ...] = ()

    @property
    def least(self) -> float:
        """The lower end of what is drawn."""
        return min((*self.quantiles, *self.rows))

    @property
    def largest(self) -> float:
        """The upper end of what is drawn."""
        return max((*self.quantiles, *self.rows))


@dataclass(frozen=True, kw_only=True)
class Feature:
    """How often a feature was selected, its stand-ins, and what that means.

    Attributes
    ----------
    feature : str
        Name of the feature.
    count : int
        Number of resamples that selected it.
    frequency, low, high : float
        Selection frequency with its interval.
    stand_ins : tuple of str
        Features that were selected instead of it.
    with_stand_ins : float
        Share of the resamples that selected it or one of its stand-ins.
    verdict : str
        What the interval says about the feature.
    direction : str or None
        In which class it is higher, or whether the target rises or falls with it; None without an effect.
    effect, effect_low, effect_high : float
        Mean effect on held-out rows with its interval; an AUC is that of the class in ``direction``.
    effect_splits : int
        Number of resamples behind the effect.
    agreement : float
        Share of them whose effect points the same way.
    boxes : tuple of Box
        Quantiles of its values by class; empty if they were not stored.
    model_use : str or None
        What linear models do with it beside the other features, in words; None if that is not known, or if they were
        not shown to predict better than guessing.
    model_agreement : float
        Share of its models whose coefficient has the sign of the majority.
    coefficient : float
        Its mean coefficient in these models, in units of its standard deviation.
    on_list : float
        Share of redrawn resamples of this data set in which the feature is on the list of features selected often: its
        frequency there, by the candidate chosen there, is above the threshold by the lower end of its interval.
    new_study : float
        Probability that a new study of this size selects it, if it was selected on all rows.
    """

    feature: str
    count: int
    frequency: float
    low: float
    high: float
    stand_ins: tuple[str, ...]
    with_stand_ins: float
    verdict: str
    direction: str | None = None
    effect: float = math.nan
    effect_low: float = math.nan
    effect_high: float = math.nan
    effect_splits: int = 0
    agreement: float = math.nan
    boxes: tuple[Box, ...] = ()
    model_use: str | None = None
    model_agreement: float = math.nan
    coefficient: float = math.nan
    on_list: float = math.nan
    new_study: float = math.nan


@dataclass(frozen=True, kw_only=True)
class FeatureTable:
    """Every feature that was ever selected, the most frequent first, as columns of equal length.

    Attributes
    ----------
    feature : tuple of str
        Names of the features.
    count : tuple of int
        Number of resamples that selected each.
    frequency, low, high : tuple of float
        Selection frequencies with their intervals.
    variance_share : tuple of float
        Share of each feature in the summed selection variances.
    """

    feature: tuple[str, ...]
    count: tuple[int, ...]
    frequency: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    variance_share: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.feature)


@dataclass(frozen=True, kw_only=True)
class MapRow:
    """One row of the selection map: a resample, or several if there are many.

    Attributes
    ----------
    resample : str
        Label of the resample.
    first, last : int
        Numbers of the resamples in this row, from 1.
    block : str
        Outer fold, pair or repeat that it belongs to; empty if the design has none.
    columns : tuple of int
        Which columns it selected, by their place in ``features``.
    shares : tuple of float
        Which share of the resamples in this row selected each of these columns; empty if all did.
    """

    resample: str
    first: int
    last: int
    block: str
    columns: tuple[int, ...]
    shares: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SelectionMap:
    """Which resample selected which feature: the data of the selection map.

    Attributes
    ----------
    n_always, n_sometimes : int
        Number of features that every resample selected, and that some but not all did.
    features : tuple of str
        The columns: the most frequent features.
    frequencies : tuple of float
        Their selection frequencies.
    rows : tuple of MapRow
        The rows.
    """

    n_always: int
    n_sometimes: int
    features: tuple[str, ...]
    frequencies: tuple[float, ...]
    rows: tuple[MapRow, ...]


@dataclass(frozen=True, kw_only=True)
class Features:
    """The features of the reported candidate.

    Attributes
    ----------
    n_features, n_runs : int
        Number of all features and of resamples.
    threshold : float
        Selection frequency that the interval of a feature must exceed for the feature to be trusted.
    shown : tuple of Feature
        Features that at least a tenth of the resamples selected, the most frequent first, at most 100.
    table : FeatureTable
        Every feature that was ever selected.
    map : SelectionMap or None
        Which resample selected which feature; None if nothing was selected.
    bound : str
        How many features of the consensus may be there by chance, in words.
    top : int or None
        How many of the best features of a ranking or weights count as selected; None for subsets.
    correlation_checked : bool
        Whether stand-ins had to be correlated, which takes the data; otherwise they only take turns.
    chance : float
        Selection frequency of a feature drawn at random: mean number of selected features over the number of all.
    effect : str or None
        What the effects of features are (AUC, rank correlation); None if there are none.
    no_effects : str or None
        Why there are no effects.
    no_model_use : str or None
        Why it is not said what models do with a feature.
    rows_visible : bool
        Whether single rows of the data are part of the summary.
    """

    n_features: int
    n_runs: int
    threshold: float
    shown: tuple[Feature, ...]
    table: FeatureTable
    map: SelectionMap | None
    bound: str
    top: int | None
    correlation_checked: bool
    chance: float
    effect: str | None = None
    no_effects: str | None = None
    no_model_use: str | None = None
    rows_visible: bool = False

    @property
    def model_uses(self) -> bool:
        """Whether it is said what models do with a feature."""
        return any(feature.model_use for feature in self.shown)

    @property
    def frequent(self) -> tuple[Feature, ...]:
        """The features whose selection frequency is above the threshold, by the lower end of its interval."""
        return tuple(feature for feature in self.shown if feature.verdict.startswith((HOLDS, OFTEN)))

    @property
    def trusted(self) -> tuple[Feature, ...]:
        """Those of them that hold: the candidate was shown to predict better than guessing."""
        return tuple(feature for feature in self.shown if feature.verdict == HOLDS)
