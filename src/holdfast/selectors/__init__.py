"""Selectors that fit many resamples quickly, in scikit-learn's manner."""

from holdfast.selectors.base import Selector
from holdfast.selectors.baseline import RandomSelector
from holdfast.selectors.catalog import SELECTORS, NamedSelector
from holdfast.selectors.elastic_net import ElasticNetCV, ElasticNetPath
from holdfast.selectors.elimination import SVMRFE, LinearSVMWeights
from holdfast.selectors.ensemble import EnsembleSelector
from holdfast.selectors.filters import AnovaF, Golub, GolubVariance, Variance
from holdfast.selectors.grouped import GroupedSelector
from holdfast.selectors.information import InformationGain, SymmetricalUncertaintyFilter
from holdfast.selectors.mrmr import MRMR
from holdfast.selectors.prefiltered import Prefiltered
from holdfast.selectors.relief import ReliefF
from holdfast.selectors.rfe import HybridRFE
from holdfast.selectors.stability_selection import StabilitySelection
from holdfast.selectors.terms import mrmr_terms

__all__ = [
    "MRMR",
    "SELECTORS",
    "SVMRFE",
    "AnovaF",
    "ElasticNetCV",
    "ElasticNetPath",
    "EnsembleSelector",
    "Golub",
    "GolubVariance",
    "GroupedSelector",
    "HybridRFE",
    "InformationGain",
    "LinearSVMWeights",
    "NamedSelector",
    "Prefiltered",
    "RandomSelector",
    "ReliefF",
    "Selector",
    "StabilitySelection",
    "SymmetricalUncertaintyFilter",
    "Variance",
    "mrmr_terms",
]
