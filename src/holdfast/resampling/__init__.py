"""Perturbed versions of a data set: all yield the same kind of split, made from (seed, index) alone."""

from holdfast.resampling.designs import (
    Bootstrap,
    ComplementaryPairs,
    Folds,
    NestedFolds,
    Noise,
    Reseed,
    Shrink,
    Subsample,
)
from holdfast.resampling.given import GivenSplits, as_perturbation
from holdfast.resampling.split import Design, Perturbation, Samples, Split

__all__ = [
    "Bootstrap",
    "ComplementaryPairs",
    "Design",
    "Folds",
    "GivenSplits",
    "NestedFolds",
    "Noise",
    "Perturbation",
    "Reseed",
    "Samples",
    "Shrink",
    "Split",
    "Subsample",
    "as_perturbation",
]
