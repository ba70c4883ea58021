"""Measures of stability: the table :data:`MEASURES`, and the parts that measures consist of.

A measure is a formula (``formulas``, or ``redundancy`` where similar features stand in for each other), a form that
evaluates it for all runs (``forms``), and its facts (``measures.toml``, put together by ``catalog``). Begin with a
formula and the entry of the same name in ``catalog``.
"""

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
