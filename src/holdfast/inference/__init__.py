"""Statistical inference: estimates, intervals, comparisons, planning, features and agreement."""

from holdfast.inference.agreements import Agreement, Kalousis, agreement, kalousis
from holdfast.inference.comparison import Comparison, compare
from holdfast.inference.comparisons import Comparisons, compare_many
from holdfast.inference.estimate import StabilityEstimate, StabilityTest, stability
from holdfast.inference.features import feature_swaps, feature_table
from holdfast.inference.intervals import Interval
from holdfast.inference.planning import Pilot, PlannedRuns, runs_needed

__all__ = [
    "Agreement",
    "Comparison",
    "Comparisons",
    "Interval",
    "Kalousis",
    "Pilot",
    "PlannedRuns",
    "StabilityEstimate",
    "StabilityTest",
    "agreement",
    "compare",
    "compare_many",
    "feature_swaps",
    "feature_table",
    "kalousis",
    "runs_needed",
    "stability",
]
