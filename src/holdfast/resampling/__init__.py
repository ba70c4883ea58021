"""Perturbed versions of a data set: every kind yields the same kind of split, made from (seed, index) alone.

``split`` has :class:`Split`, what a perturbation may know of the data, and the base class :class:`Perturbation`;
``kinds`` has all perturbations. Begin with :class:`Bootstrap`, the shortest.
"""

from typing import Any

import lazy_loader

import holdfast.resampling.kinds  # noqa: F401  declares the perturbations, which the registry has from the start
from holdfast.declared import warn_of_former_name

_find_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import what is asked for; a class by its former name, too."""
    if name == "Halvings":
        warn_of_former_name("resampling.Halvings", "resampling.SplitHalves")
        name = "SplitHalves"
    return _find_name(name)
