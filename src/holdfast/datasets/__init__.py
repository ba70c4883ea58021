"""Data to try things on."""

from importlib.resources import as_file, files

from holdfast.datasets.selections import make_selections, population_stability, selection_probabilities
from holdfast.preferences import Preferences
from holdfast.tables import read_preferences

__all__ = ["load_example", "make_selections", "population_stability", "selection_probabilities"]


def load_example() -> Preferences:
    """Return feature weights of 20 bootstraps: ANOVA F values on the breast-cancer data of scikit-learn.

    Examples
    --------
    >>> from holdfast.datasets import load_example
    >>> load_example()
    Preferences: 20 weightings of 30 features
    """
    with as_file(files("holdfast.datasets") / "example.csv") as path:
        return read_preferences(path)
