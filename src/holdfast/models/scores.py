"""The scores that can be named. Any other name that scikit-learn knows, and any callable, works as well."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, NamedTuple

from holdfast.declared import About, Registry
from holdfast.models.block import Floats
from holdfast.models.cells import Cells
from holdfast.models.class_scores import (
    Average,
    accuracy,
    averaged,
    balanced_accuracy,
    f1_parts,
    jaccard_parts,
    matthews_corrcoef,
    precision_parts,
    recall_parts,
)
from holdfast.models.number_scores import (
    explained_variance,
    neg_max_error,
    neg_mean_absolute_error,
    neg_mean_absolute_percentage_error,
    neg_mean_squared_error,
    neg_median_absolute_error,
    neg_root_mean_squared_error,
    r2,
)
from holdfast.models.probability_scores import neg_brier_score, neg_log_loss
from holdfast.models.rank_scores import average_precision, multiclass_roc_auc, roc_auc


class Range(NamedTuple):
    """The least and the largest value that a score can have; infinite where there is none."""

    low: float
    high: float


UNBOUNDED = Range(-inf, inf)
SHARE = Range(0.0, 1.0)
AT_MOST_ONE = Range(-inf, 1.0)
AT_MOST_ZERO = Range(-inf, 0.0)


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score of predictions; higher is better.

    Attributes
    ----------
    about : About
        Its name, and what is said of it; ``methods`` is a noun phrase ("classification accuracy").
    scorer : str or callable
        scikit-learn's name of it, or a callable ``(model, X, y) -> float``.
    block : callable, optional
        The same score for many models at once: ``(Cells) -> array`` of a value for each cell, ``nan`` where the scorer
        is to be asked. A study then calls the scorer for those cells only, with a model that repeats its answers.
    answers : tuple of str
        What ``block`` needs of a model: the first of these methods that the model has.
    low, high : float
        The least and the largest value that the score can have; its intervals stay inside.
    """

    about: About
    scorer: Any
    block: Callable[[Cells], Floats] | None = None
    answers: tuple[str, ...] = ("predict",)
    low: float = -inf
    high: float = inf

    @property
    def range(self) -> Range:
        """Its least and its largest value."""
        return Range(self.low, self.high)


SCORES: Registry[Score] = Registry("score", where="holdfast.models.SCORES")
"""Scores by name. ``SCORES.add(Score(…))`` adds one of your own."""

LABELS = ("predict",)
PROBABILITIES = ("predict_proba",)
VALUES = ("decision_function", "predict_proba")


def _add(
    block: Callable[[Cells], Floats],
    name: str,
    summary: str,
    methods: str,
    *needs: str,
    answers: tuple[str, ...] = LABELS,
    bounds: Range = SHARE,
    label: str = "",
) -> None:
    about = About(name=name, label=label, summary=summary, methods=methods, needs=needs)
    SCORES.add(Score(about=about, scorer=name, block=block, answers=answers, low=bounds.low, high=bounds.high))


def _add_averages(parts: Any, name: str, what: str, methods: str, *, of_one: str) -> None:
    """Add a score of the positive class, and its averages over classes."""
    _add(partial(averaged, parts=parts, average="binary"), name, of_one, methods, "two classes")
    averages: list[tuple[Average, str, str]] = [
        ("macro", f"Mean {what} over classes.", "mean over classes"),
        ("micro", f"{what[0].upper()}{what[1:]} of all classes together.", "all classes together"),
        ("weighted", f"Mean {what} over classes, weighted by their size.", "weighted by class"),
    ]
    for average, summary, how in averages:
        block = partial(averaged, parts=parts, average=average)
        _add(block, f"{name}_{average}", summary, f"{methods} ({how})", "classes")


_add(accuracy, "accuracy", "Share of right predictions.", "accuracy", "classes")
_add(balanced_accuracy, "balanced_accuracy", "Mean share of right predictions over classes.", "balanced accuracy",
     "classes")  # fmt: skip
_add_averages(
    f1_parts, "f1", "F1 score", "F1 score", of_one="Harmonic mean of precision and recall of the positive class."
)
_add_averages(precision_parts, "precision", "precision", "precision",
              of_one="Share of those predicted positive that are.")  # fmt: skip
_add_averages(recall_parts, "recall", "recall", "recall", of_one="Share of the positive class that is predicted so.")
_add_averages(jaccard_parts, "jaccard", "Jaccard index", "Jaccard index",
              of_one="Rows predicted positive rightly, among all that are positive or predicted so.")  # fmt: skip
_add(matthews_corrcoef, "matthews_corrcoef", "Correlation of true and predicted classes.",
     "Matthews correlation coefficient", "classes", bounds=Range(-1.0, 1.0))  # fmt: skip
_add(roc_auc, "roc_auc", "Area under the ROC curve.", "area under the ROC curve", "two classes", "probabilities",
     answers=VALUES, label="AUC")  # fmt: skip
_add(partial(multiclass_roc_auc, pairs="ovr"), "roc_auc_ovr", "Area under the ROC curve, each class against the rest.",
     "area under the ROC curve (one versus rest)", "classes", "probabilities", answers=PROBABILITIES,
     label="AUC (one versus rest)")  # fmt: skip
_add(partial(multiclass_roc_auc, pairs="ovr", average="weighted"), "roc_auc_ovr_weighted",
     "Area under the ROC curve, each class against the rest, weighted by their size.",
     "area under the ROC curve (one versus rest, weighted by class)", "classes", "probabilities",
     answers=PROBABILITIES, label="AUC (one versus rest, weighted)")  # fmt: skip
_add(partial(multiclass_roc_auc, pairs="ovo"), "roc_auc_ovo", "Area under the ROC curve, classes two by two.",
     "area under the ROC curve (one versus one)", "classes", "probabilities", answers=PROBABILITIES,
     label="AUC (one versus one)")  # fmt: skip
_add(partial(multiclass_roc_auc, pairs="ovo", average="weighted"), "roc_auc_ovo_weighted",
     "Area under the ROC curve, classes two by two, weighted by their size.",
     "area under the ROC curve (one versus one, weighted by class)", "classes", "probabilities",
     answers=PROBABILITIES, label="AUC (one versus one, weighted)")  # fmt: skip
_add(average_precision, "average_precision", "Area under the precision-recall curve.", "average precision",
     "two classes", "probabilities", answers=VALUES)  # fmt: skip
_add(neg_log_loss, "neg_log_loss", "Minus the log loss of predicted probabilities.", "negative log loss", "classes",
     "probabilities", answers=PROBABILITIES, bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_brier_score, "neg_brier_score", "Minus the Brier score of predicted probabilities.", "negative Brier score",
     "classes", "probabilities", answers=PROBABILITIES, bounds=AT_MOST_ZERO)  # fmt: skip
_add(
    r2,
    "r2",
    "Share of explained variance about the mean.",
    "coefficient of determination",
    "numbers to predict",
    bounds=AT_MOST_ONE,
    label="R²",
)
_add(
    explained_variance,
    "explained_variance",
    "Share of explained variance.",
    "explained variance",
    "numbers to predict",
    bounds=AT_MOST_ONE,
)
_add(neg_mean_squared_error, "neg_mean_squared_error", "Minus the mean squared error.", "negative mean squared error",
     "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_root_mean_squared_error, "neg_root_mean_squared_error", "Minus the root of the mean squared error.",
     "negative root mean squared error", "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_mean_absolute_error, "neg_mean_absolute_error", "Minus the mean absolute error.",
     "negative mean absolute error", "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_median_absolute_error, "neg_median_absolute_error", "Minus the median absolute error.",
     "negative median absolute error", "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(neg_mean_absolute_percentage_error, "neg_mean_absolute_percentage_error",
     "Minus the mean absolute error as a share of the truth.", "negative mean absolute percentage error",
     "numbers to predict", bounds=AT_MOST_ZERO)  # fmt: skip
_add(
    neg_max_error,
    "neg_max_error",
    "Minus the largest absolute error.",
    "negative largest error",
    "numbers to predict",
    bounds=AT_MOST_ZERO,
)
