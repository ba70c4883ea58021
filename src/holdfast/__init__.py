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
from holdfast.similarity import Correlation, FeatureSimilarity, GivenSimilarity, SymmetricalUncertainty
from holdfast.tables import read_preferences, write_preferences

__version__ = "0.1.0"

__all__ = [
    "MEASURES",
    "Agreement",
    "Comparison",
    "Comparisons",
    "Correlation",
    "FeatureSimilarity",
    "GivenSimilarity",
    "Interval",
    "Kalousis",
    "Measure",
    "Pilot",
    "Plan",
    "Preferences",
    "StabilityEstimate",
    "SymmetricalUncertainty",
    "Table",
    "UndefinedStabilityError",
    "UndefinedStabilityWarning",
    "agreement",
    "compare",
    "compare_many",
    "corrected",
    "feature_table",
    "kalousis",
    "properties",
    "read_preferences",
    "read_table",
    "runs_needed",
    "stability",
    "swaps",
    "write_preferences",
]
