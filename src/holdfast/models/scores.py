"""The scores that can be named. Any other name that scikit-learn knows, and any callable, works as well."""

from dataclasses import dataclass
from typing import Any

from holdfast.declared import About, Registry


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score of predictions; higher is better.

    Attributes
    ----------
    about : About
        Its name, and what is said of it; ``methods`` is a noun phrase ("classification accuracy").
    scorer : str or callable
        scikit-learn's name of it, or a callable ``(model, X, y) -> float``.
    """

    about: About
    scorer: Any


SCORES: Registry[Score] = Registry("score", where="holdfast.models.SCORES")
"""Scores by name. ``SCORES.add(Score(…))`` adds one of your own."""


def _add(name: str, summary: str, methods: str, *needs: str) -> None:
    SCORES.add(Score(about=About(name=name, summary=summary, methods=methods, needs=needs), scorer=name))


_add("accuracy", "Share of right predictions.", "accuracy", "classes")
_add("balanced_accuracy", "Mean share of right predictions over classes.", "balanced accuracy", "classes")
_add("f1", "Harmonic mean of precision and recall of the positive class.", "F1 score", "two classes")
_add("f1_macro", "Mean F1 score over classes.", "F1 score (mean over classes)", "classes")
_add("f1_weighted", "Mean F1 score over classes, weighted by their size.", "F1 score (weighted by class)", "classes")
_add("matthews_corrcoef", "Correlation of true and predicted classes.", "Matthews correlation coefficient", "classes")
_add("roc_auc", "Area under the ROC curve.", "area under the ROC curve", "two classes", "probabilities")
_add("roc_auc_ovr", "Area under the ROC curve, each class against the rest.",
     "area under the ROC curve (one versus rest)", "classes", "probabilities")  # fmt: skip
_add("roc_auc_ovo", "Area under the ROC curve, classes two by two.", "area under the ROC curve (one versus one)",
     "classes", "probabilities")  # fmt: skip
_add("average_precision", "Area under the precision-recall curve.", "average precision", "two classes", "probabilities")
_add("neg_log_loss", "Minus the log loss of predicted probabilities.", "negative log loss", "classes", "probabilities")
_add("neg_brier_score", "Minus the Brier score of predicted probabilities.", "negative Brier score", "classes",
     "probabilities")  # fmt: skip
_add("r2", "Share of explained variance about the mean.", "coefficient of determination", "numbers to predict")
_add("explained_variance", "Share of explained variance.", "explained variance", "numbers to predict")
_add("neg_mean_squared_error", "Minus the mean squared error.", "negative mean squared error", "numbers to predict")
_add("neg_root_mean_squared_error", "Minus the root of the mean squared error.", "negative root mean squared error",
     "numbers to predict")  # fmt: skip
_add("neg_mean_absolute_error", "Minus the mean absolute error.", "negative mean absolute error", "numbers to predict")
