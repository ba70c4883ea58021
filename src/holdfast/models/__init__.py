"""Models that predict from selected features, and scores of their predictions, by name.

``catalog`` has the models that can be named, ``scores`` the scores as functions of many cells, and ``recognized`` the
models of scikit-learn that are fitted many at a time, on the cells that ``block`` describes. Begin with :data:`MODELS`
and :data:`SCORES`.
"""

from holdfast.models.catalog import EXACTNESS, MODELS, Model
from holdfast.models.scores import SCORES, Score

__all__ = ["EXACTNESS", "MODELS", "SCORES", "Model", "Score"]
