"""How well a selection predicts held-out rows."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer

from holdfast.declared import About, did_you_mean
from holdfast.io.estimators import set_seeds
from holdfast.models import SCORES
from holdfast.models.cells import Cells
from holdfast.models.score_block import Scorer as Scorer
from holdfast.models.score_block import ask_model, needed_answers, recognize_scorer
from holdfast.resampling import Split

ANSWERS = ("predict", "predict_proba", "decision_function", "predict_log_proba")


def named_scoring(scoring: Any, task: str) -> dict[str, Any]:
    """Name what was asked for: names, callables, or a mapping of them; the usual score of the task if nothing was."""
    if scoring is None:
        scoring = "accuracy" if task == "classification" else "r2"
    if isinstance(scoring, str) or callable(scoring):
        scoring = [scoring]
    if isinstance(scoring, Mapping):
        return {str(name): one for name, one in scoring.items()}
    names = [_name(one) for one in scoring]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"Expected scores of different names, got {twice[0]!r} twice; give a mapping from name to score."
        )
    return dict(zip(names, scoring, strict=True))


def _name(scoring: Any) -> str:
    """The name of a score: its own, or that of the function which a scorer was made of."""
    if isinstance(scoring, str):
        return scoring
    return str(getattr(getattr(scoring, "_score_func", scoring), "__name__", scoring))


def scorers_of(named: Mapping[str, Any]) -> dict[str, Scorer]:
    """The scorer of each name, with the array function of the same score where there is one."""
    return {name: _scorer(one) for name, one in named.items()}


def _scorer(scoring: Any) -> Scorer:
    if callable(scoring):
        return recognize_scorer(scoring)
    record = SCORES.get(scoring)
    known = scoring if record is None else record.scorer
    try:
        scorer = known if callable(known) else get_scorer(known)
    except ValueError:
        raise ValueError(
            f"Expected scoring by names ({', '.join(SCORES)}, or others that sklearn.metrics.get_scorer_names() lists) "
            f"or callables, got {scoring!r}{did_you_mean(scoring, SCORES)}"
        ) from None
    if record is None or record.block is None:
        return recognize_scorer(scorer)
    return Scorer(scorer, record.block, record.answers)


def describe_score(name: str, scoring: Any) -> About:
    """Return what is said of a score: the words of its record, or its name."""
    known = SCORES.get(scoring) if isinstance(scoring, str) else None
    return About(name=name, summary=name, methods=name) if known is None else known.about


class Answers:
    """A fitted model that is asked once for each kind of answer on the held-out rows, however many scores need it."""

    def __init__(self, model: Any, held_out: Any) -> None:
        self._model, self._held_out, self._given = model, held_out, dict[str, Any]()

    def has(self, method: str) -> bool:
        """Tell whether the model has a method."""
        return hasattr(self._model, method)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._model, name)
        if name not in ANSWERS:
            return found

        def answer(X: Any) -> Any:
            if X is not self._held_out:
                return found(X)
            if name not in self._given:
                self._given[name] = found(X)
            return self._given[name]

        answer.__name__ = name  # scikit-learn's scorers look methods up by their names
        return answer


def model_on(
    columns: NDArray[Any], estimator: Any, train: tuple[Any, Any], split: Split, task: str
) -> Callable[[Any], Any]:
    """Fit a clone of the estimator to these columns; without any, what the target alone tells."""
    if not columns.size:
        model = DummyClassifier(strategy="prior") if task == "classification" else DummyRegressor()
        return model.fit(np.zeros((len(train[1]), 1)), train[1])
    model = clone(estimator)
    set_seeds(model, split.seed)
    return model.fit(*train)


def scores_of(answers: Answers, X: Any, y: NDArray[Any], scorers: Mapping[str, Scorer]) -> dict[str, float]:
    """Every score of a model on held-out rows."""
    return {name: float(scorer(answers, X, y)) for name, scorer in scorers.items()}


def score_model(
    answers: Answers, X: Any, truth: NDArray[Any], scorers: Mapping[str, Scorer], classes: NDArray[Any] | None
) -> dict[str, float]:
    """Every score of one fitted model on held-out rows: as :func:`scores_of`, without scikit-learn's checks.

    The truth is given as in a block: numbers of classes, or the numbers to predict. What an array function cannot score
    for certain is asked of scikit-learn and the model itself, so errors and warnings are theirs.
    """
    y = truth if classes is None else classes[truth]
    asked = needed_answers([scorer for scorer in scorers.values() if scorer.block is not None], answers.has)
    predictions = ask_model(answers, X, asked, classes) if asked else None
    if predictions is None:
        return scores_of(answers, X, y, scorers)
    cells, scores = Cells(truth, predictions, classes), dict[str, float]()
    for name, scorer in scorers.items():
        value = math.nan if scorer.block is None else float(scorer.block(cells)[0])
        scores[name] = value if math.isfinite(value) else float(scorer(answers, X, y))
    return scores


def coded(predicted: Sequence[Any] | NDArray[Any], classes: NDArray[Any] | None) -> NDArray[Any] | None:
    """Predictions as they are stored: the number of the class, or the predicted number.

    None if something else than one of the classes is predicted, as a regression of class labels does.
    """
    if classes is None:
        return np.asarray(predicted, dtype=np.float64).ravel()
    if not np.isin(predicted, classes).all():
        return None
    return np.searchsorted(classes, np.asarray(predicted)).astype(np.min_scalar_type(classes.size))
