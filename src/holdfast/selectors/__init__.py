"""Selectors that fit many resamples quickly, in scikit-learn's manner."""

from holdfast.selectors.base import Selector
from holdfast.selectors.baseline import RandomSelector
from holdfast.selectors.elastic_net import ElasticNetCV, ElasticNetPath
from holdfast.selectors.elimination import SVMRFE, LinearSVMWeights
from holdfast.selectors.filters import GV, AnovaF, Golub, InformationGain, ReliefF, Uncertainty, Variance
from holdfast.selectors.mrmr import MRMR
from holdfast.selectors.rfe import HybridRFE

__all__ = [
    "GV",
    "MRMR",
    "SVMRFE",
    "AnovaF",
    "ElasticNetCV",
    "ElasticNetPath",
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
