"""The stability of a selection: estimate, interval and test.

:func:`stability` checks its arguments, evaluates the measures, and makes an estimate of each.
"""

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeGuard, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.cards import Bar, Card, Svg, draw_intervals, make_bar
from holdfast.checks import Matrix
from holdfast.inference.intervals import (
    Interval,
    Jackknife,
    SamplingDistribution,
    UnknownDistribution,
    check_level,
    choose_distribution,
)
from holdfast.measures import Form, Measure, UndefinedStabilityError, UndefinedStabilityWarning, find_measure
from holdfast.measures import corrected as corrected_for_chance
from holdfast.measures.forms import REQUIRED, Tally
from holdfast.preferences import Kind, Preferences
from holdfast.result_base import AnyChart, ResultMixin
from holdfast.serialization import to_plain
from holdfast.similarity import Correlation, FeatureSimilarity, SymmetricalUncertainty, aligned
from holdfast.text import format_percent

Undefined: TypeAlias = Literal["nan", "raise", "skip"] | float
Method: TypeAlias = Literal["jackknife", "asymptotic", "bootstrap"]
SCOPE = "resampling of this data set, not new data sets"


@dataclass(frozen=True, kw_only=True)
class StabilityTest(ResultMixin):
    """A one-sided test that a stability is greater than a given value.

    Attributes
    ----------
    greater_than : float
        Stability under the null hypothesis.
    p_value : float
        One-sided p-value.
    method : str
        As for :attr:`StabilityEstimate.method`.
    statistic : float
        V_M of the 2018 paper for ``method="asymptotic"``; ``nan`` for tests without a statistic.

    See Also
    --------
    StabilityEstimate.test : Makes a test.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import load_example
    >>> round(hf.stability(load_example().top(10)).test(greater_than=0.8).p_value, 4)
    0.2887
    """

    greater_than: float
    p_value: float
    method: str
    statistic: float = math.nan

    @property
    def _title(self) -> str:
        return f"p = {self.p_value:.3g} that the stability is not above {self.greater_than:g} ({self.method})"


class ForestResult(ResultMixin):
    """A result that is drawn as stabilities with their intervals, by ``plot`` and in its card."""

    @property
    @abstractmethod
    def _estimates(self) -> "dict[str, StabilityEstimate]":
        """The stabilities by name."""

    def plot(self, *, level: float = 0.95) -> "AnyChart":
        """Draw the stabilities with their intervals (see :func:`holdfast.plots.plot_forest`).

        Parameters
        ----------
        level : float
            Level of the intervals.

        Returns
        -------
        altair.Chart
            A point with its interval for each.
        """
        from holdfast.plots import plot_forest

        return plot_forest(self._estimates, level=level)

    def _bars(self) -> list[Bar]:
        return [make_bar(name, estimate.value, *estimate.ci()) for name, estimate in self._estimates.items()]

    def _picture(self) -> Svg | None:
        return draw_intervals(self._bars())


@dataclass(frozen=True, kw_only=True)
class StabilityEstimate(ForestResult):
    """The stability of a selection by one measure, with its standard error, interval and test.

    Attributes
    ----------
    measure : str
        Name of the measure, with its parameters.
    value : float
        The stability; ``nan`` if it is undefined.
    n_runs, n_features : int
        Number of runs and of features to choose from.
    distribution : SamplingDistribution
        Sampling distribution of the estimate, which gives :meth:`ci` and :meth:`test`.
    pseudo_values : ndarray
        Jackknife pseudo-values, one per run, for paired comparisons. Empty if there are none.
    mean_size : float or None
        Mean number of features selected; None for rankings and weights.
    mean_overlap : float or None
        How many features two runs that are compared share; None for rankings, weights and nested subsamples.
    tied_share : float or None
        Mean share of features that are tied with another; None for subsets.
    reason : str or None
        Why it, or a part of it, is undefined.
    chance_error : float
        Standard error that a simulated correction for chance adds; 0 if the correction is exact or there is none.
    validated : bool
        Whether simulations showed that this interval covers as it should for this measure.
    has_strength : bool
        Whether words like "excellent" apply: chance-corrected measures of subsets with maximum 1.
    scope : str
        What the interval describes.

    See Also
    --------
    holdfast.stability : Makes an estimate from the selections of several runs.
    holdfast.compare : Whether two selections differ in stability.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import load_example
    >>> estimate = hf.stability(load_example().top(10))
    >>> estimate
    nogueira = 0.874 [0.665, 0.920] (95% CI, 20 runs)
    >>> round(estimate.standard_error, 3)
    0.02
    """

    measure: str
    value: float
    n_runs: int
    n_features: int
    distribution: SamplingDistribution
    pseudo_values: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    mean_size: float | None = None
    mean_overlap: float | None = None
    tied_share: float | None = None
    reason: str | None = None
    chance_error: float = 0.0
    validated: bool = False
    has_strength: bool = False
    scope: str = SCOPE

    @property
    def method(self) -> str:
        """Method of interval and test: jackknife, bound (all runs agree), asymptotic, bootstrap, blocks or none."""
        return self.distribution.method

    @property
    def standard_error(self) -> float:
        """Standard error of the value; ``nan`` if there is none."""
        return self.distribution.standard_error

    def ci(self, level: float = 0.95) -> Interval:
        """Return the confidence interval at a level.

        Parameters
        ----------
        level : float
            Confidence level.

        Returns
        -------
        Interval
            Lower and upper end; ``nan`` if there is no interval (see :attr:`no_interval`).
        """
        check_level(level)
        return self.distribution.ci(level)

    @property
    def no_interval(self) -> str | None:
        """Why there is no interval, or None."""
        return self.distribution.reason if isinstance(self.distribution, UnknownDistribution) else None

    def unseen_share(self, level: float = 0.95) -> float:
        """Return the largest share of all possible runs that may be unlike any seen.

        The runs seen cannot rule out, at this level, that so many of further ones select something else altogether.

        Parameters
        ----------
        level : float
            Confidence level.

        Returns
        -------
        float
            Share of all possible runs; ``nan`` for intervals that do not allow for unseen runs.

        Examples
        --------
        >>> import holdfast as hf
        >>> round(hf.stability([[1, 1, 0, 0, 0, 0, 0, 0]] * 20).unseen_share(), 2)
        0.13
        """
        check_level(level)
        return 1 - self.distribution.seen_share(level) if isinstance(self.distribution, Jackknife) else math.nan

    @property
    def note(self) -> str | None:
        """What is undefined, was left out, or has no interval, and why; None if there is nothing to say."""
        if math.isnan(self.value):
            return self.reason or self.no_interval
        return "; ".join(filter(None, (self.reason, self.no_interval))) or None

    def test(self, *, greater_than: float) -> StabilityTest:
        """Test whether the stability is greater than a value, one-sided.

        Parameters
        ----------
        greater_than : float
            Stability under the null hypothesis.

        Returns
        -------
        StabilityTest
            The one-sided p-value, with the statistic where there is one.
        """
        return StabilityTest(
            greater_than=greater_than,
            p_value=self.distribution.p_value(greater_than),
            method=self.method,
            statistic=self.distribution.statistic(greater_than),
        )

    @property
    def strength(self) -> str | None:
        """The value in words (poor < 0.40 ≤ intermediate to good ≤ 0.75 < excellent), or the span of its interval."""
        if not self.has_strength or math.isnan(self.value):
            return None
        low, high = (_word(end) for end in self.ci())
        return _word(self.value) if low == high or self.no_interval else f"between {low} and {high}"

    def __float__(self) -> float:
        return self.value

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return the estimate as plain values, ready for JSON: undefined numbers are None.

        Parameters
        ----------
        level : float
            Level of the interval.

        Returns
        -------
        dict
            Value, standard error, interval, facts about the runs, reason and scope.
        """
        low, high = self.ci(level)
        return to_plain({
            "measure": self.measure, "value": self.value, "standard_error": self.standard_error,
            "level": level, "low": low, "high": high, "method": self.method, "validated": self.validated,
            "unseen_share": self.unseen_share(level), "strength": self.strength,
            "n_runs": self.n_runs, "n_features": self.n_features, "mean_size": self.mean_size,
            "mean_overlap": self.mean_overlap, "tied_share": self.tied_share, "chance_error": self.chance_error,
            "reason": self.note, "scope": self.scope,
        })  # fmt: skip

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return the estimate as a frame of one row.

        Parameters
        ----------
        level : float
            Level of the interval.

        Returns
        -------
        DataFrame
            The columns are those of :meth:`to_dict`.
        """
        return pd.DataFrame([self.to_dict(level)])

    @property
    def _estimates(self) -> "dict[str, StabilityEstimate]":
        return {"the selection": self}

    def _card(self) -> Card:
        bar, words = make_bar(self.measure, self.value, *self.ci()), f": {self.strength}" if self.strength else ""
        frame = self.to_frame()[["standard_error", "method", "n_runs", "n_features", "mean_size", "mean_overlap"]]
        return Card(
            title=f"Stability; runs: {self.n_runs}", verdict=f"{self.measure} {bar.text}{words}", frame=frame,
            picture=draw_intervals([bar], bands=self.has_strength), note=self.note or f"It describes {self.scope}",
        )  # fmt: skip

    def __repr__(self) -> str:
        runs = f"{self.n_runs} run" + ("s" if self.n_runs > 1 else "")
        if math.isnan(self.value):
            return f"{self.measure} is undefined: {self.reason} ({runs})"
        runs += f"; {self.reason}" if self.reason else ""
        if self.no_interval:
            return f"{self.measure} = {self.value:.3f} (no interval: {self.no_interval}; {runs})"
        low, high = self.ci()
        note = "" if self.validated else ", not validated"
        return f"{self.measure} = {self.value:.3f} [{low:.3f}, {high:.3f}] (95% CI{note}, {runs})"


def _word(value: float) -> str:
    return "poor" if value < 0.4 else "intermediate to good" if value <= 0.75 else "excellent"


@overload
def stability(
    preferences: Preferences | Matrix,
    measure: str | Measure = "nogueira",
    *,
    corrected: bool = False,
    X: Matrix | None = None,
    method: Method = "jackknife",
    undefined: Undefined = "nan",
    **parameters: Any,
) -> StabilityEstimate: ...


@overload
def stability(
    preferences: Preferences | Matrix,
    measure: Iterable[str | Measure],
    *,
    corrected: bool = False,
    X: Matrix | None = None,
    method: Method = "jackknife",
    undefined: Undefined = "nan",
    **parameters: Any,
) -> list[StabilityEstimate]: ...


def stability(
    preferences: Preferences | Matrix,
    measure: str | Measure | Iterable[str | Measure] = "nogueira",
    *,
    corrected: bool = False,
    X: Matrix | None = None,
    method: Method = "jackknife",
    undefined: Undefined = "nan",
    **parameters: Any,
) -> StabilityEstimate | list[StabilityEstimate]:
    """Estimate the stability of feature selection over several runs.

    Parameters
    ----------
    preferences : Preferences or matrix
        What each run preferred. A bare matrix, one row per run, is read as the measure's kind: 0/1 for measures of
        subsets, ranks (1 is best) for measures of rankings, weights for measures of weights.
    measure : str, Measure, or several of them
        Measure of stability; :data:`holdfast.MEASURES` lists the names. Several measures share one pass over the runs.
    corrected : bool
        Correct the measure for chance (see :func:`holdfast.corrected`).
    X : matrix, optional
        Samples × features, for measures that need a similarity of features: absolute correlation, or symmetrical
        uncertainty on ten bins for ``gulgezen``. Columns of a frame are lined up with the features by name.
    method : {"jackknife", "asymptotic", "bootstrap"}
        How to find standard error, interval and test: the jackknife over runs, which holds for few runs; the variance
        and normal interval of the 2018 paper, exactly as published (``nogueira`` only); or BCa intervals from
        resampled runs.
    undefined : {"nan", "raise", "skip"} or float
        What to do where the measure is undefined: return ``nan`` with a warning and a reason, raise, leave undefined
        pairs out of the mean, or take this number for them.
    **parameters
        Parameters of the measures, such as ``threshold=0.8`` or ``similarity=…`` (a
        :class:`~holdfast.similarity.FeatureSimilarity` or a matrix).

    Returns
    -------
    StabilityEstimate or list of StabilityEstimate
        A list, in their order, for several measures.

    Raises
    ------
    ValueError
        If a measure, parameter or method is unknown, or the preferences are not of the measure's kind.
    UndefinedStabilityError
        If the stability is undefined and ``undefined="raise"``.

    See Also
    --------
    StabilityEstimate : What is returned.
    compare : Whether two selections differ in stability.
    runs_needed : How many runs an interval of a given width needs.
    MEASURES : All measures by name.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import load_example
    >>> best = load_example().top(10)
    >>> hf.stability(best)
    nogueira = 0.874 [0.665, 0.920] (95% CI, 20 runs)
    >>> hf.stability(best).strength
    'between intermediate to good and excellent'
    """
    several = isinstance(measure, Iterable) and not isinstance(measure, str)
    measures = [find_measure(name) for name in measure] if several else [find_measure(measure)]  # type: ignore[union-attr,arg-type]
    if corrected:
        measures = [corrected_for_chance(plain) for plain in measures]
    if parameters:
        measures = bind_parameters(measures, parameters)
    runs = as_preferences(preferences, measures)
    if any(chosen.parameters for chosen in measures):
        measures = bind_similarity(measures, runs, X)
    if method not in ("jackknife", "asymptotic", "bootstrap"):
        raise ValueError(f"Expected method 'jackknife', 'asymptotic' or 'bootstrap', got {method!r}.")
    check_undefined(undefined)
    fill = float(undefined) if isinstance(undefined, (int, float)) else None
    n_runs, facts, estimates = runs.n_runs, describe_runs(runs), []
    for chosen, tally in zip(measures, evaluate(runs, measures), strict=True):
        value, reason = tally.value(), None
        if n_runs < 2 or tally.undefined:
            value, reason = resolve_undefined(tally, chosen, n_runs, undefined)
        leave_one_out = np.empty(0)
        if not (chosen.no_interval or n_runs < 3 or math.isnan(value)):
            leave_one_out = tally.leave_one_out(fill)
            if np.isnan(leave_one_out).any():
                leave_one_out = np.empty(0)
        converted = convert_kind(runs, chosen.kind, chosen.name)
        distribution = choose_distribution(converted, chosen, tally, value, leave_one_out, method)
        scope = SCOPE
        if isinstance(distribution, Jackknife):
            unseen = format_percent(1 - distribution.seen_share(0.95), 1)
            scope += f"; with {n_runs} runs, selection patterns rarer than {unseen} may be unseen"
        estimates.append(
            StabilityEstimate(
                measure=chosen.label,
                value=value,
                distribution=distribution,
                scope=scope,
                pseudo_values=n_runs * value - (n_runs - 1) * leave_one_out,
                reason=reason,
                chance_error=tally.chance_error,
                validated=chosen.validated and method == "jackknife",
                has_strength=chosen.has_strength,
                **facts,
            )
        )
    return estimates if several else estimates[0]


def bind_parameters(measures: Sequence[Measure], parameters: dict[str, Any]) -> list[Measure]:
    """Set each parameter in the measures that have it."""
    for name in parameters:
        if not any(name in measure.parameters for measure in measures):
            known = sorted({known for measure in measures for known in measure.parameters})
            names = ", ".join(measure.name for measure in measures)
            hint = " The level is an argument of .ci(level)." if name == "level" else ""
            raise ValueError(f"Expected parameters of {names} ({', '.join(known) or 'none'}), got {name!r}.{hint}")
    return [
        measure.bind(**{name: value for name, value in parameters.items() if name in measure.parameters})
        for measure in measures
    ]


def as_preferences(preferences: Preferences | Matrix, measures: Sequence[Measure]) -> Preferences:
    """Return preferences as they are; read a matrix as the kind that the measures measure."""
    if isinstance(preferences, Preferences):
        return preferences
    kinds = {measure.kind for measure in measures}
    if not kinds:
        raise ValueError("Expected at least one measure, got none.")
    if len(kinds) != 1:
        raise ValueError(
            f"Expected measures of one kind for a bare matrix, got {' and '.join(sorted(kinds))}; "
            "state what the matrix holds with Preferences.from_matrix(), .from_rankings() or .from_weights()."
        )
    read = {
        "subset": Preferences.from_matrix,
        "ranking": Preferences.from_rankings,
        "weighting": Preferences.from_weights,
    }
    return read[kinds.pop()](preferences)


def convert_kind(preferences: Preferences, kind: Kind, name: str) -> Preferences:
    """Return the preferences as this kind; weights become rankings, nothing else is converted."""
    if preferences.kind == kind:
        return preferences
    if (preferences.kind, kind) == ("weighting", "ranking"):
        return preferences.to_ranking()
    if kind == "subset":
        raise ValueError(f"Expected subsets for {name}, got {preferences.kind}s; cut them with .top(k) (--top) first.")
    raise ValueError(
        f"Expected {kind}s for {name}, got {preferences.kind}s, which cannot be converted; "
        f"use a measure of {preferences.kind}s."
    )


def is_list_of_similarities(similarity: Any) -> TypeGuard[Sequence[Any]]:
    """Whether it is a list of similarities, not a matrix written as nested lists."""
    return isinstance(similarity, (list, tuple)) and len(similarity) > 0 and np.ndim(similarity[0]) != 1


def bind_similarity(measures: Sequence[Measure], preferences: Preferences, X: Matrix | None) -> list[Measure]:
    """Set the similarity of features in measures that need one: that of the user, or one computed from ``X``."""
    computed: dict[str, FeatureSimilarity] = {}
    bound = []
    for measure in measures:
        similarity = measure.parameters.get("similarity")
        if similarity is not None:
            if is_list_of_similarities(similarity):
                raise ValueError(
                    f"Expected one similarity of features for {measure.name}, got a list of {len(similarity)}; only "
                    "resamples that come in blocks may have one for each block."
                )
            if similarity is REQUIRED and X is None:
                raise ValueError(
                    f"{measure.name} lets similar features stand in for each other and needs data or a similarity; "
                    "pass X= or similarity=."
                )
            if similarity is REQUIRED:
                make = Correlation if measure.similarity == "correlation" else SymmetricalUncertainty
                if make.__name__ not in computed:
                    computed[make.__name__] = aligned(make(X), preferences.features)
                similarity = computed[make.__name__]
            measure = measure.bind(similarity=aligned(similarity, preferences.features))
        measure.check_complete()
        bound.append(measure)
    return bound


def evaluate(preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
    """Evaluate measures, those of one form together in one pass over the runs."""
    groups: dict[tuple[Kind, type[Form]], list[int]] = {}
    for index, measure in enumerate(measures):
        groups.setdefault((measure.kind, type(measure.form)), []).append(index)
    tallies: dict[int, Tally] = {}
    for (kind, form), indices in groups.items():
        together = [measures[index] for index in indices]
        runs = convert_kind(preferences, kind, together[0].name)
        for measure in together:
            if measure.one_size:
                measure.check_sizes(runs)
        tallies.update(zip(indices, form.tally(runs, together), strict=True))
    return [tallies[index] for index in range(len(measures))]


def check_undefined(undefined: Undefined) -> None:
    """Raise unless ``undefined`` is one of the options for undefined values."""
    number = isinstance(undefined, (int, float)) and not isinstance(undefined, bool) and math.isfinite(undefined)
    if not number and undefined not in ("nan", "raise", "skip"):
        raise ValueError(f"Expected undefined='nan', 'raise', 'skip' or a number, got {undefined!r}.")


def resolve_undefined(tally: Tally, measure: Measure, n_runs: int, undefined: Undefined) -> tuple[float, str]:
    """Return the value of a tally that is undefined or has undefined parts, as ``undefined`` says, and the reason."""
    reason = f"{measure.name} is undefined for {measure.undefined} ({tally.undefined})"
    if n_runs < 2:
        reason = "a single run has no stability, two are needed"
    if undefined == "raise":
        raise UndefinedStabilityError(f"The stability is undefined: {reason}; choose undefined='skip' or a number.")
    if undefined == "skip":
        value = tally.value()
    elif undefined == "nan":
        value = np.nan
    else:
        value = tally.value(float(undefined)) if n_runs > 1 else float(undefined)
    if math.isnan(value):
        warnings.warn(f"The stability is undefined: {reason}.", UndefinedStabilityWarning, stacklevel=3)
    return value, reason


def describe_runs(preferences: Preferences) -> dict[str, Any]:
    """Return the facts about the runs that an estimate carries, whatever the measure."""
    facts: dict[str, Any] = {"n_runs": preferences.n_runs, "n_features": preferences.n_features}
    if preferences.kind != "subset":
        return {**facts, "tied_share": tied_share(preferences.matrix())}
    n_runs, counts = preferences.n_runs, preferences.counts
    facts["mean_size"] = float(preferences.sizes.mean())
    if n_runs > 1:  # every feature is shared by h (h − 1) ordered pairs of runs
        facts["mean_overlap"] = float(counts @ counts - counts.sum()) / (n_runs * (n_runs - 1))
    return facts


def tied_share(rows: NDArray[np.float64]) -> float:
    """Return the mean share of features that are tied with another, run by run."""
    ordered = np.sort(rows, axis=1)
    same = np.diff(ordered, axis=1) == 0
    edge = np.zeros((len(rows), 1), dtype=bool)
    return float((np.hstack([edge, same]) | np.hstack([same, edge])).mean())
