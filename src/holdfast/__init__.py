"""holdfast tells which selected features hold fast: the stability of feature selection, measured."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # at run time names are imported when they are first used: scikit-learn and pandas take a second
    from holdfast.data import Table, read_table
    from holdfast.inference.agreement import Agreement, Kalousis, agreement, kalousis
    from holdfast.inference.compare import Comparison, Comparisons, compare, compare_many
    from holdfast.inference.estimate import StabilityEstimate, stability
    from holdfast.inference.features import feature_table, swaps
    from holdfast.inference.intervals import Interval
    from holdfast.inference.planning import Pilot, Plan, runs_needed
    from holdfast.measures import (
        MEASURES,
        Measure,
        UndefinedStabilityError,
        UndefinedStabilityWarning,
        corrected,
        properties,
    )
    from holdfast.preferences import Preferences
    from holdfast.resampling import (
        Bootstrap,
        ComplementaryPairs,
        Folds,
        NestedFolds,
        Noise,
        Reseed,
        Shrink,
        Split,
        Subsample,
    )
    from holdfast.similarity import Correlation, FeatureSimilarity, GivenSimilarity, SymmetricalUncertainty
    from holdfast.study import (
        Candidates,
        HalfWidth,
        StoreError,
        Study,
        StudyError,
        StudyInterrupted,
        StudyResult,
        from_cross_validate,
        from_pairs,
        from_rfecv,
        load,
    )
    from holdfast.tables import read_preferences, write_preferences
    from holdfast.tradeoff import (
        Choice,
        FinalFeatures,
        NestedChoice,
        Pareto,
        PredictionAgreement,
        Recovery,
        SizeProfile,
        check_list,
        hypervolume,
        mean_ranks,
        nested_choice,
        optimize,
        pareto_front,
    )

__version__ = "0.1.0"

__all__ = [
    "MEASURES",
    "Agreement",
    "Bootstrap",
    "Candidates",
    "Choice",
    "Comparison",
    "Comparisons",
    "ComplementaryPairs",
    "Correlation",
    "FeatureSimilarity",
    "FinalFeatures",
    "Folds",
    "GivenSimilarity",
    "HalfWidth",
    "Interval",
    "Kalousis",
    "Measure",
    "NestedChoice",
    "NestedFolds",
    "Noise",
    "Pareto",
    "Pilot",
    "Plan",
    "PredictionAgreement",
    "Preferences",
    "Recovery",
    "Reseed",
    "Shrink",
    "SizeProfile",
    "Split",
    "StabilityEstimate",
    "StoreError",
    "Study",
    "StudyError",
    "StudyInterrupted",
    "StudyResult",
    "Subsample",
    "SymmetricalUncertainty",
    "Table",
    "UndefinedStabilityError",
    "UndefinedStabilityWarning",
    "agreement",
    "check_list",
    "compare",
    "compare_many",
    "corrected",
    "feature_table",
    "from_cross_validate",
    "from_pairs",
    "from_rfecv",
    "hypervolume",
    "kalousis",
    "load",
    "mean_ranks",
    "nested_choice",
    "optimize",
    "pareto_front",
    "properties",
    "read_preferences",
    "read_table",
    "runs_needed",
    "stability",
    "swaps",
    "write_preferences",
]

_HOMES = {
    "holdfast.data": (
        "Table",
        "read_table",
    ),
    "holdfast.inference.agreement": (
        "Agreement",
        "Kalousis",
        "agreement",
        "kalousis",
    ),
    "holdfast.inference.compare": (
        "Comparison",
        "Comparisons",
        "compare",
        "compare_many",
    ),
    "holdfast.inference.estimate": (
        "StabilityEstimate",
        "stability",
    ),
    "holdfast.inference.features": (
        "feature_table",
        "swaps",
    ),
    "holdfast.inference.intervals": ("Interval",),
    "holdfast.inference.planning": (
        "Pilot",
        "Plan",
        "runs_needed",
    ),
    "holdfast.measures": (
        "MEASURES",
        "Measure",
        "UndefinedStabilityError",
        "UndefinedStabilityWarning",
        "corrected",
        "properties",
    ),
    "holdfast.preferences": ("Preferences",),
    "holdfast.resampling": (
        "Bootstrap",
        "ComplementaryPairs",
        "Folds",
        "NestedFolds",
        "Noise",
        "Reseed",
        "Shrink",
        "Split",
        "Subsample",
    ),
    "holdfast.similarity": (
        "Correlation",
        "FeatureSimilarity",
        "GivenSimilarity",
        "SymmetricalUncertainty",
    ),
    "holdfast.study": (
        "Candidates",
        "HalfWidth",
        "StoreError",
        "Study",
        "StudyError",
        "StudyInterrupted",
        "StudyResult",
        "from_cross_validate",
        "from_pairs",
        "from_rfecv",
        "load",
    ),
    "holdfast.tables": (
        "read_preferences",
        "write_preferences",
    ),
    "holdfast.tradeoff": (
        "Choice",
        "FinalFeatures",
        "NestedChoice",
        "Pareto",
        "PredictionAgreement",
        "Recovery",
        "SizeProfile",
        "check_list",
        "hypervolume",
        "mean_ranks",
        "nested_choice",
        "optimize",
        "pareto_front",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_PARTS = ("datasets", "plots", "report", "selectors", "testing")


logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless the user wants to hear


def __getattr__(name: str) -> Any:
    """Import a public name, or a part of the package, when it is first asked for."""
    if name in _PARTS:
        return import_module(f"holdfast.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME[name]), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__, *_PARTS]
