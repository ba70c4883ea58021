"""Models that predict from selected features, and scores of their predictions, by name."""

from holdfast.models.catalog import EXACTNESS, MODELS, Model
from holdfast.models.scores import SCORES, Score

__all__ = ["EXACTNESS", "MODELS", "SCORES", "Model", "Score"]
