"""Measures of stability: the table :data:`MEASURES`, and what measures are made of."""

from holdfast.measures.pairs import OverlapPairs, SetPairs
from holdfast.measures.record import (
    REQUIRED,
    Form,
    Measure,
    Properties,
    UndefinedStabilityError,
    UndefinedStabilityWarning,
)
from holdfast.measures.rows import RowPairs
from holdfast.measures.table import MEASURES, MeasureTable, corrected, find_measure, properties
from holdfast.measures.tally import PairTally
from holdfast.measures.whole import FeatureSum, Whole

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
