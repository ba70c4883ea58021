"""holdfast tells which selected features hold fast: the stability of feature selection, measured."""

from holdfast.inference.agreement import Agreement, Kalousis, agreement, kalousis
from holdfast.inference.estimate import StabilityEstimate, stability
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

__version__ = "0.1.0"

__all__ = [
    "MEASURES",
    "Agreement",
    "Correlation",
    "FeatureSimilarity",
    "GivenSimilarity",
    "Kalousis",
    "Measure",
    "Preferences",
    "StabilityEstimate",
    "SymmetricalUncertainty",
    "UndefinedStabilityError",
    "UndefinedStabilityWarning",
    "agreement",
    "corrected",
    "kalousis",
    "properties",
    "stability",
]
