"""Perturbed versions of a data set: all yield the same kind of split, made from (seed, index) alone."""

from holdfast.resampling.designs import (
    Bootstrap,
    ComplementaryPairs,
    Folds,
    NestedFolds,
    NestedSubsamples,
    NewSeeds,
    Noise,
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
    "NestedSubsamples",
    "NewSeeds",
    "Noise",
    "Perturbation",
    "Samples",
    "Split",
    "Subsample",
    "as_perturbation",
]
