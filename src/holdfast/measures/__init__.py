"""Measures of stability: the table :data:`MEASURES`, and what measures are made of."""

from holdfast.measures.catalog import MEASURES, MeasureTable, corrected, find_measure, properties
from holdfast.measures.forms import (
    REQUIRED,
    FeatureSum,
    Form,
    Measure,
    OverlapPairs,
    PairTally,
    Properties,
    RowPairs,
    SetPairs,
    UndefinedStabilityError,
    UndefinedStabilityWarning,
    Whole,
)

__all__ = [
    "MEASURES",
    "REQUIRED",
    "FeatureSum",
    "Form",
    "Measure",
    "MeasureTable",
    "OverlapPairs",
    "PairTally",
    "Properties",
    "RowPairs",
    "SetPairs",
    "UndefinedStabilityError",
    "UndefinedStabilityWarning",
    "Whole",
    "corrected",
    "find_measure",
    "properties",
]
