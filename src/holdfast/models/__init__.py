"""Models that predict from selected features, and scores of their predictions, by name."""

from holdfast.models.catalog import MODELS, Model
from holdfast.models.scores import SCORES, Score

__all__ = ["MODELS", "SCORES", "Model", "Score"]
