"""Perturbed versions of a data set: every kind yields the same kind of split, made from (seed, index) alone.

``split`` has :class:`Split`, what a perturbation may know of the data, and the base class :class:`Perturbation`;
``kinds`` has all perturbations. Begin with :class:`Bootstrap`, the shortest.
"""

from typing import Any

from holdfast.declared import warn_of_former_name
from holdfast.resampling.kinds import (
    Bootstrap,
    ComplementaryPairs,
    Folds,
    GivenSplits,
    NestedFolds,
    NestedSubsamples,
    NewSeeds,
    Noise,
    SplitHalves,
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
    "NestedFolds",
    "NestedSubsamples",
    "NewSeeds",
    "Noise",
    "Perturbation",
    "Samples",
    "Split",
    "SplitHalves",
    "Subsample",
    "as_perturbation",
]


def __getattr__(name: str) -> Any:
    """Return a class by its former name."""
    if name == "Halvings":
        warn_of_former_name("resampling.Halvings", "resampling.SplitHalves")
        return SplitHalves
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
