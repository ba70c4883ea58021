"""Selectors that fit many resamples quickly, as scikit-learn estimators.

``base`` has :class:`Selector`: ``rank(batch, shared)`` carries single fits, batches and studies. The others are named
after their method (``filters``, ``mrmr``, ``elastic_net``, ``elimination``, ``stability_selection``), or wrap another
selector (``wrapping``, ``prefiltered``); ``catalog`` has the selectors that can be named. Begin with :class:`AnovaF`
in ``filters``.
"""

from holdfast.selectors.base import Selector
from holdfast.selectors.catalog import SELECTORS, NamedSelector
from holdfast.selectors.elastic_net import ElasticNetCV, ElasticNetPath
from holdfast.selectors.elimination import SVMRFE, HybridRFE, LinearSVMWeights
from holdfast.selectors.filters import (
    AnovaF,
    Golub,
    GolubVariance,
    InformationGain,
    RandomSelector,
    ReliefF,
    SymmetricalUncertaintyFilter,
    Variance,
)
from holdfast.selectors.mrmr import MRMR, mrmr_terms
from holdfast.selectors.prefiltered import Prefiltered
from holdfast.selectors.stability_selection import StabilitySelection
from holdfast.selectors.wrapping import EnsembleSelector, GroupedSelector

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
