"""Selectors that fit many resamples quickly, in scikit-learn's manner."""

from holdfast.selectors.base import Selector
from holdfast.selectors.baseline import RandomSelector
from holdfast.selectors.elastic_net import ElasticNetCV, ElasticNetPath
from holdfast.selectors.elimination import SVMRFE, LinearSVMWeights
from holdfast.selectors.ensemble import EnsembleSelector
from holdfast.selectors.filters import GV, AnovaF, Golub, InformationGain, ReliefF, Uncertainty, Variance
from holdfast.selectors.grouped import GroupedSelector
from holdfast.selectors.mrmr import MRMR
from holdfast.selectors.rfe import HybridRFE
from holdfast.selectors.stability_selection import StabilitySelection

__all__ = [
    "GV",
    "MRMR",
    "SVMRFE",
    "AnovaF",
    "ElasticNetCV",
    "ElasticNetPath",
    "EnsembleSelector",
    "Golub",
    "GroupedSelector",
    "HybridRFE",
    "InformationGain",
    "LinearSVMWeights",
    "RandomSelector",
    "ReliefF",
    "Selector",
    "StabilitySelection",
    "Uncertainty",
    "Variance",
]
