"""All rows in every resample: with noise added, or with new random numbers for the selector."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from holdfast.checks import is_number
from holdfast.declared import About
from holdfast.resampling.perturbation import PERTURBATIONS, Perturbation, check_count, check_share
from holdfast.resampling.split import NOISE, Change, Samples, Split, no_rows, split_of_rows


@PERTURBATIONS.add
@dataclass(frozen=True)
class Noise(Perturbation):
    """All rows, with noise added to the features and, if asked, some class labels exchanged; nothing is held out.

    Parameters
    ----------
    n_splits : int
        Number of noisy copies.
    scale : float
        Standard deviation of the noise, in standard deviations of each feature.
    flip : float
        Share of rows whose class is exchanged for another, drawn for each row.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.
    """

    about = About(
        name="noise",
        summary="Add noise to the features of all rows, and flip labels if asked; nothing is held out.",
        methods="{n} copies of the data with added noise",
        scope="this data set with noise added to it, not new data sets",
        caution="Resamples differ by noise that was added to the data, not by their samples: other samples would "
        "usually agree less.",
    )
    rows_only: ClassVar[bool] = False

    n_splits: int = 100
    scale: float = 0.1
    flip: float = 0.0
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, 1)
        check_share("flip", self.flip, zero=True)
        if not is_number(self.scale) or not self.scale >= 0:
            raise ValueError(f"Expected scale to be 0 or more, got {self.scale!r}.")

    def bind(self, X: Any, y: Any, groups: Any, seed: int) -> "Noise":
        if sp.issparse(X):
            raise ValueError(f"Expected a dense X for {self}, which changes every entry, got a sparse one; densify it.")
        return self

    def check(self, samples: Samples) -> None:
        super().check(samples)
        if self.flip and samples.classes is None:
            raise ValueError(f"Expected a target of classes for flip={self.flip}, got numbers; leave flip out.")

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        change = Change(self.scale, self.flip, (seed, index, NOISE))
        return split_of_rows(f"noise {index}", index, samples, seed, np.arange(samples.n), no_rows(), change=change)


@PERTURBATIONS.add
@dataclass(frozen=True)
class NewSeeds(Perturbation):
    """All rows, a new ``random_state`` in each resample: how far a selector's own randomness goes; nothing is held out.

    Parameters
    ----------
    n_splits : int
        Number of resamples.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.
    """

    about = About(
        name="new_seeds",
        summary="Fit to all rows with a new random seed each time; nothing is held out.",
        methods="{n} repetitions on all rows with new random numbers",
        scope="other random seeds on this data set: chance in the selector alone, not in the data",
        caution="Resamples differ only by the selector's own random numbers, not by their data: this says nothing "
        "about other samples.",
    )
    rows_only: ClassVar[bool] = False

    n_splits: int = 20
    random_state: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, 1)

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        return split_of_rows(f"seed {index}", index, samples, seed, np.arange(samples.n), no_rows(), reseed=True)
