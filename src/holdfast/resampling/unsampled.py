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
    """Noise added to the features of all rows and, with ``flip``, to the class labels; nothing is held out.

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

    See Also
    --------
    NewSeeds : All rows unchanged, with new random numbers for the selector.

    Examples
    --------
    >>> import holdfast as hf
    >>> import numpy as np
    >>> X, y = np.eye(4), np.array([0, 0, 1, 1])
    >>> first = next(hf.Noise(scale=0.1).splits(y))
    >>> noisy, target = first.data(X, y)
    >>> noisy[0].round(2), target
    (array([ 0.93, -0.05,  0.  ,  0.03]), array([0, 0, 1, 1]))
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
    """New random seeds on all rows: variation that comes from the selector's own randomness; nothing is held out.

    Parameters
    ----------
    n_splits : int
        Number of resamples.
    random_state : int, optional
        Seed where it is used as a scikit-learn splitter; a study has its own.

    See Also
    --------
    Noise : All rows, with noise added to the features.

    Examples
    --------
    >>> import holdfast as hf
    >>> for split in hf.NewSeeds(2).splits([0, 0, 1, 1]):
    ...     print(split.train, split.seed)
    [0 1 2 3] 1878776328
    [0 1 2 3] 336614359
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
