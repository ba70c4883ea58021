"""Perturbed versions of a data set: all yield the same kind of split, made from (seed, index) alone."""

from holdfast.resampling.drawn import Bootstrap, ComplementaryPairs, NestedSubsamples, Subsample
from holdfast.resampling.folds import Folds, NestedFolds
from holdfast.resampling.given import GivenSplits, as_perturbation
from holdfast.resampling.halvings import Halvings
from holdfast.resampling.perturbation import PERTURBATIONS, Perturbation
from holdfast.resampling.split import Design, Samples, Split
from holdfast.resampling.unsampled import NewSeeds, Noise

__all__ = [
    "PERTURBATIONS",
    "Bootstrap",
    "ComplementaryPairs",
    "Design",
    "Folds",
    "GivenSplits",
    "Halvings",
    "NestedFolds",
    "NestedSubsamples",
    "NewSeeds",
    "Noise",
    "Perturbation",
    "Samples",
    "Split",
    "Subsample",
    "as_perturbation",
]
