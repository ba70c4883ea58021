"""The stability of a selection, as an estimate."""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import pandas as pd

from holdfast.intake import Matrix
from holdfast.measures import Measure, UndefinedStabilityError, UndefinedStabilityWarning, find
from holdfast.measures import corrected as corrected_for_chance
from holdfast.measures.record import REQUIRED, Tally
from holdfast.preferences import Kind, Preferences
from holdfast.similarity import Correlation, FeatureSimilarity, SymmetricalUncertainty, aligned

Undefined: TypeAlias = Literal["nan", "raise", "skip"] | float
SCOPE = "this data set resampled, not new data sets"


@dataclass(frozen=True, kw_only=True)
class StabilityEstimate:
    """How stable a selection is by one measure.

    Attributes
    ----------
    measure : str
        Name of the measure, with its parameters.
    value : float
        The stability; ``nan`` if it is undefined.
    n_runs, n_features : int
        Number of runs and of features to choose from.
    mean_size : float or None
        Mean number of features selected; None for rankings and weights.
    reason : str or None
        Why it, or a part of it, is undefined.
    chance_error : float
        Standard error that a simulated correction for chance adds; 0 if the correction is exact or there is none.
    scope : str
        What the number speaks about.
    """

    measure: str
    value: float
    n_runs: int
    n_features: int
    mean_size: float | None
    reason: str | None = None
    chance_error: float = 0.0
    scope: str = SCOPE

    def __float__(self) -> float:
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, ready for JSON: an undefined value is None."""
        return {**asdict(self), "value": None if math.isnan(self.value) else self.value}

    def to_frame(self) -> pd.DataFrame:
        """Return all fields as a frame of one row."""
        return pd.DataFrame([asdict(self)])

    def __repr__(self) -> str:
        if math.isnan(self.value):
            return f"{self.measure} is undefined: {self.reason} ({self.n_runs} runs)"
        return f"{self.measure} = {self.value:.3f} ({self.n_runs} runs)"


@overload
def stability(
    preferences: Preferences | Matrix,
    measure: str | Measure = "nogueira",
    *,
    corrected: bool = False,
    data: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> StabilityEstimate: ...


@overload
def stability(
    preferences: Preferences | Matrix,
    measure: Iterable[str | Measure],
    *,
    corrected: bool = False,
    data: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> list[StabilityEstimate]: ...


def stability(
    preferences: Preferences | Matrix,
    measure: str | Measure | Iterable[str | Measure] = "nogueira",
    *,
    corrected: bool = False,
    data: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> StabilityEstimate | list[StabilityEstimate]:
    """Measure how stable the preferences of several runs are.

    Parameters
    ----------
    preferences : Preferences or matrix
        What each run preferred. A bare matrix, one row per run, is read as the measure's kind: 0/1 for measures of
        subsets, ranks (1 is best) for measures of rankings, weights for measures of weights.
    measure : str, Measure, or several of them
        What to measure; :data:`holdfast.MEASURES` lists the names. Several measures share one pass over the runs.
    corrected : bool
        Correct the measure for chance (see :func:`holdfast.corrected`).
    data : matrix, optional
        Samples × features, for measures that need a similarity of features: absolute correlation, or symmetrical
        uncertainty on ten bins for ``gulgezen``. Columns of a frame are lined up with the features by name.
    undefined : {"nan", "raise", "skip"} or float
        What to do where the measure is undefined: return ``nan`` with a warning and a reason, raise, leave undefined
        pairs out of the mean, or take this number for them.
    **parameters
        Parameters of the measures, such as ``threshold=0.8`` or ``similarity=…`` (a
        :class:`~holdfast.similarity.FeatureSimilarity` or a matrix).

    Returns
    -------
    StabilityEstimate or list of StabilityEstimate
        A list if several measures were asked for, in their order.

    Examples
    --------
    >>> import holdfast as hf
    >>> hf.stability([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0]])
    nogueira = 0.444 (3 runs)
    """
    several = not isinstance(measure, (str, Measure))
    wanted = [find(measure)] if isinstance(measure, (str, Measure)) else [find(one) for one in measure]
    if corrected:
        wanted = [corrected_for_chance(one) for one in wanted]
    wanted = _bound(wanted, parameters)
    runs = as_preferences(preferences, wanted)
    wanted = with_similarity(wanted, runs, data)
    estimates = _estimates(runs, wanted, undefined)
    return estimates if several else estimates[0]


def _bound(measures: Sequence[Measure], parameters: dict[str, Any]) -> list[Measure]:
    """Give each parameter to the measures that know it."""
    for name in parameters:
        if not any(name in measure.parameters for measure in measures):
            known = sorted({known for measure in measures for known in measure.parameters})
            names = ", ".join(measure.name for measure in measures)
            raise ValueError(f"Expected parameters of {names} ({', '.join(known) or 'none'}), got {name!r}.")
    return [
        measure.bind(**{name: value for name, value in parameters.items() if name in measure.parameters})
        for measure in measures
    ]


def as_preferences(preferences: Preferences | Matrix, measures: Sequence[Measure]) -> Preferences:
    """Return preferences as they are; read a matrix as the kind that the measures measure."""
    if isinstance(preferences, Preferences):
        return preferences
    kinds = {measure.kind for measure in measures}
    if len(kinds) != 1:
        raise ValueError(
            f"Expected measures of one kind for a bare matrix, got {' and '.join(sorted(kinds))}; "
            "say what the matrix holds with Preferences.from_matrix(), .from_rankings() or .from_weights()."
        )
    read = {
        "subset": Preferences.from_matrix,
        "ranking": Preferences.from_rankings,
        "weighting": Preferences.from_weights,
    }
    return read[kinds.pop()](preferences)


def of_kind(preferences: Preferences, kind: Kind, name: str) -> Preferences:
    """Return the preferences as this kind; weights become rankings, nothing else is converted."""
    if preferences.kind == kind:
        return preferences
    if (preferences.kind, kind) == ("weighting", "ranking"):
        return preferences.to_ranking()
    if kind == "subset":
        raise ValueError(f"Expected subsets for {name}, got {preferences.kind}s; cut them with .top(k) (--top) first.")
    raise ValueError(
        f"Expected {kind}s for {name}, got {preferences.kind}s, which do not tell them; "
        f"take a measure of {preferences.kind}s."
    )


def with_similarity(measures: Sequence[Measure], preferences: Preferences, data: Matrix | None) -> list[Measure]:
    """Give the measures that need a similarity of features the one they were bound to, or one made from data."""
    made: dict[str, FeatureSimilarity] = {}
    ready = []
    for measure in measures:
        if measure.similarity is not None:
            given = measure.parameters["similarity"]
            if given is REQUIRED and data is None:
                raise ValueError(
                    f"Expected data= or similarity= for {measure.name}, which lets similar features stand in for each "
                    "other, got neither."
                )
            if given is REQUIRED:
                make = Correlation if measure.similarity == "correlation" else SymmetricalUncertainty
                if measure.similarity not in made:
                    made[measure.similarity] = aligned(make(data), preferences.features)
                given = made[measure.similarity]
            if not isinstance(given, list):
                given = aligned(given, preferences.features)
            measure = measure.bind(similarity=given)
        measure.check_complete()
        ready.append(measure)
    return ready


def tallies(preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
    """Evaluate measures, those of one form together."""
    found: dict[int, Tally] = {}
    order = sorted(range(len(measures)), key=lambda place: (measures[place].kind, type(measures[place].form).__name__))
    for (kind, form), group in groupby(order, key=lambda place: (measures[place].kind, type(measures[place].form))):
        places = list(group)
        runs = of_kind(preferences, kind, measures[places[0]].name)
        for place in places:
            measures[place].check_sizes(runs)
        for place, tally in zip(places, form.tally(runs, [measures[place] for place in places]), strict=True):
            found[place] = tally
    return [found[place] for place in range(len(measures))]


def _estimates(preferences: Preferences, measures: Sequence[Measure], undefined: Undefined) -> list[StabilityEstimate]:
    mean_size = float(preferences.sizes.mean()) if preferences.kind == "subset" else None
    estimates = []
    for measure, tally in zip(measures, tallies(preferences, measures), strict=True):
        value, reason = settle(tally, measure, preferences.n_runs, undefined)
        estimates.append(
            StabilityEstimate(
                measure=measure.label,
                value=value,
                n_runs=preferences.n_runs,
                n_features=preferences.n_features,
                mean_size=mean_size,
                reason=reason,
                chance_error=tally.chance_error,
            )
        )
    return estimates


def settle(tally: Tally, measure: Measure, n_runs: int, undefined: Undefined) -> tuple[float, str | None]:
    """Return the value, and why it or a part of it is undefined; do with that what the caller chose."""
    if undefined not in ("nan", "raise", "skip") and not isinstance(undefined, (int, float)):
        raise ValueError(f"Expected undefined='nan', 'raise', 'skip' or a number, got {undefined!r}.")
    if n_runs < 2:
        reason = "a single run has no stability, two are needed"
    elif tally.undefined is None:
        return tally.value(), None
    else:
        reason = f"{measure.name} has no value for {measure.undefined}, and {tally.undefined} meet that"
    if undefined == "raise":
        raise UndefinedStabilityError(f"Expected a defined stability, got none: {reason}; choose undefined=.")
    if undefined == "skip":
        value = tally.value()
    elif undefined == "nan":
        value = np.nan
    else:
        value = tally.value(float(undefined)) if n_runs > 1 else float(undefined)
    if math.isnan(value):
        warnings.warn(f"The stability is undefined: {reason}.", UndefinedStabilityWarning, stacklevel=4)
    return value, reason
