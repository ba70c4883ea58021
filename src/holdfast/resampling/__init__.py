"""Perturbed versions of a data set: all yield the same kind of split, made from (seed, index) alone."""

from holdfast.resampling.kinds import (
    Bootstrap,
    ComplementaryPairs,
    Folds,
    GivenSplits,
    Halvings,
    NestedFolds,
    NestedSubsamples,
    NewSeeds,
    Noise,
    Subsample,
    as_perturbation,
)
from holdfast.resampling.split import PERTURBATIONS, Design, Perturbation, Samples, Split

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
