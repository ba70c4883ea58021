"""Accuracy and stability together: which candidates are best compromises, which one to choose, what to report.

``points`` turns a study into points with their uncertainty, the basis of ``fronts``, ``rules`` and ``choice``.
``nested`` scores a choice on new rows, ``search`` tries settings, ``profiles`` follow stability over sizes; ``final``
and ``selected`` answer for single features, ``changes`` tests advice. Begin with :func:`choose` in ``choice``.
"""

from holdfast.tradeoff.choice import Choice, choose, list_probabilities
from holdfast.tradeoff.final import ErrorBound, FeatureErrors, FinalFeatures, Recovery, final_features, recovery
from holdfast.tradeoff.fronts import Pareto, attainment, hypervolume, pareto, pareto_front
from holdfast.tradeoff.nested import NestedChoice, nested_choice
from holdfast.tradeoff.predictions import PredictionAgreement, prediction_agreement
from holdfast.tradeoff.profiles import SizeProfile, fraction_profile, mean_ranks, profile, ranked_settings
from holdfast.tradeoff.rules import RULES
from holdfast.tradeoff.search import optimize
from holdfast.tradeoff.selected import SelectedFeatures, selected_features

__all__ = [
    "RULES",
    "Choice",
    "ErrorBound",
    "FeatureErrors",
    "FinalFeatures",
    "NestedChoice",
    "Pareto",
    "PredictionAgreement",
    "Recovery",
    "SelectedFeatures",
    "SizeProfile",
    "attainment",
    "choose",
    "final_features",
    "fraction_profile",
    "hypervolume",
    "list_probabilities",
    "mean_ranks",
    "nested_choice",
    "optimize",
    "pareto",
    "pareto_front",
    "prediction_agreement",
    "profile",
    "ranked_settings",
    "recovery",
    "selected_features",
]
