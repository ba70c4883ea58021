"""Selectors that fit many resamples quickly, in scikit-learn's manner."""

from holdfast.selectors.base import Selector
from holdfast.selectors.baseline import RandomSelector
from holdfast.selectors.filters import GV, AnovaF, Golub, InformationGain, ReliefF, Uncertainty, Variance
from holdfast.selectors.mrmr import MRMR

__all__ = [
    "GV",
    "MRMR",
    "AnovaF",
    "Golub",
    "InformationGain",
    "RandomSelector",
    "ReliefF",
    "Selector",
    "Uncertainty",
    "Variance",
]
