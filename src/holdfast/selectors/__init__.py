"""Selectors that fit many resamples quickly, in scikit-learn's manner."""

from holdfast.selectors.base import Selector
from holdfast.selectors.baseline import RandomSelector
from holdfast.selectors.elimination import SVMRFE, LinearSVMWeights
from holdfast.selectors.filters import GV, AnovaF, Golub, InformationGain, ReliefF, Uncertainty, Variance
from holdfast.selectors.mrmr import MRMR
from holdfast.selectors.rfe import HybridRFE

__all__ = [
    "GV",
    "MRMR",
    "SVMRFE",
    "AnovaF",
    "Golub",
    "HybridRFE",
    "InformationGain",
    "LinearSVMWeights",
    "RandomSelector",
    "ReliefF",
    "Selector",
    "Uncertainty",
    "Variance",
]
