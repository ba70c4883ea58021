"""Evaluating measures: their parameters, the kind of preferences, the similarity of features, undefined values."""

import math
import warnings
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from holdfast.checks import Matrix
from holdfast.io.own_files import from_numbers
from holdfast.measures import Measure, UndefinedStabilityError, UndefinedStabilityWarning
from holdfast.measures.record import REQUIRED
from holdfast.measures.tally import Tally
from holdfast.preferences import Kind, Preferences
from holdfast.similarity import Correlation, FeatureSimilarity, SymmetricalUncertainty, aligned

Undefined: TypeAlias = Literal["nan", "raise", "skip"] | float


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
    return from_numbers(kinds.pop(), preferences)


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
        if measure.similarity is not None:
            similarity = measure.parameters["similarity"]
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
                if measure.similarity not in computed:
                    computed[measure.similarity] = aligned(make(X), preferences.features)
                similarity = computed[measure.similarity]
            measure = measure.bind(similarity=aligned(similarity, preferences.features))
        measure.check_complete()
        bound.append(measure)
    return bound


def evaluate(preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
    """Evaluate measures, those of one form together in one pass over the runs."""
    tallies: dict[int, Tally] = {}
    order = sorted(range(len(measures)), key=lambda place: (measures[place].kind, type(measures[place].form).__name__))
    for (kind, form), group in groupby(order, key=lambda place: (measures[place].kind, type(measures[place].form))):
        places = list(group)
        runs = convert_kind(preferences, kind, measures[places[0]].name)
        for place in places:
            measures[place].check_sizes(runs)
        for place, tally in zip(places, form.tally(runs, [measures[place] for place in places]), strict=True):
            tallies[place] = tally
    return [tallies[place] for place in range(len(measures))]


def check_undefined(undefined: Undefined) -> None:
    """Raise unless ``undefined`` is one of the options for undefined values."""
    number = isinstance(undefined, (int, float)) and not isinstance(undefined, bool) and math.isfinite(undefined)
    if not number and undefined not in ("nan", "raise", "skip"):
        raise ValueError(f"Expected undefined='nan', 'raise', 'skip' or a number, got {undefined!r}.")


def resolve_undefined(tally: Tally, measure: Measure, n_runs: int, undefined: Undefined) -> tuple[float, str | None]:
    """Return the value, and why it or a part of it is undefined, as ``undefined`` says."""
    if n_runs < 2:
        reason = "a single run has no stability, two are needed"
    elif tally.undefined is None:
        return tally.value(), None
    else:
        reason = f"{measure.name} is undefined for {measure.undefined} ({tally.undefined})"
    if undefined == "raise":
        raise UndefinedStabilityError(f"The stability is undefined: {reason}; choose undefined='skip' or a number.")
    if undefined == "skip":
        value = tally.value()
    elif undefined == "nan":
        value = np.nan
    else:
        value = tally.value(float(undefined)) if n_runs > 1 else float(undefined)
    if math.isnan(value):
        warnings.warn(f"The stability is undefined: {reason}.", UndefinedStabilityWarning, stacklevel=4)
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
