"""holdfast tells which selected features hold fast: the stability of feature selection, measured."""

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
