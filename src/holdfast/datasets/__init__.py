"""Data sets: real ones by name, and simulated ones whose truth is known.

``real`` loads the data sets of ``datasets.toml`` and verifies their checksums, ``synthetic`` makes tables with known
relevant features, ``selections`` simulates selections with a known stability, ``spectra`` turns spectra into peaks.
Begin with :func:`load` or :func:`make_redundant`.
"""

from importlib.resources import as_file, files

from holdfast.datasets.real import Dataset, DatasetInfo, listing, load, names
from holdfast.datasets.selections import make_selections, population_stability, selection_probabilities
from holdfast.datasets.spectra import spectrum_peaks
from holdfast.datasets.synthetic import Simulated, Truth, make_block_correlated, make_redundant
from holdfast.io.selections import read_preferences
from holdfast.preferences import Preferences

__all__ = [
    "Dataset",
    "DatasetInfo",
    "Simulated",
    "Truth",
    "listing",
    "load",
    "load_example",
    "make_block_correlated",
    "make_redundant",
    "make_selections",
    "names",
    "population_stability",
    "selection_probabilities",
    "spectrum_peaks",
]


def load_example() -> Preferences:
    """Load an example: ANOVA F values of 30 features on 20 bootstrap samples of scikit-learn's breast-cancer data.

    Returns
    -------
    Preferences
        Weights of 20 runs.

    Examples
    --------
    >>> from holdfast.datasets import load_example
    >>> load_example()
    Preferences: 20 weightings of 30 features
    """
    with as_file(files("holdfast.datasets") / "example.csv") as path:
        return read_preferences(path)
