"""Perturbed versions of a data set: every kind yields the same kind of split, made from (seed, index) alone.

``split`` has :class:`Split`, what a perturbation may know of the data, and the base class :class:`Perturbation`;
``kinds`` has all perturbations. Begin with :class:`Bootstrap`, the shortest.
"""

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
