"""Baselines: the scores of guessing without any feature, which a candidate has to beat."""

import math
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import accuracy_score, average_precision_score, brier_score_loss, log_loss, roc_auc_score

from holdfast.resampling import Split
from holdfast.selection import Selection
from holdfast.study.predicting import predicting_model
from holdfast.study.scoring import Answers, Scorer
from holdfast.study.store import Store
from holdfast.study.work import Context, fitting

ALWAYS, PRIOR, COVARIATES = "always ", "prior", "covariates"
BEST_GUESS: dict[Any, str] = {
    accuracy_score: ALWAYS,
    roc_auc_score: PRIOR,
    average_precision_score: PRIOR,
    log_loss: PRIOR,
    brier_score_loss: PRIOR,
}


class Baseline(NamedTuple):
    """The score of one way to guess on one split; ``nan`` if the scorer cannot score it."""

    split: int
    strategy: str
    metric: str
    value: float


class Guesses:
    """Scores guessing once on every split on which a candidate was scored, and stores that."""

    def __init__(self, store: Store, context: Context) -> None:
        self.store, self.context = store, context
        self.done = store.splits_in("baselines")
        self.add(store.splits_in("scores"))  # what an interruption left out

    def add(self, splits: Iterable[int]) -> None:
        """Score guessing on those of these splits that are new."""
        new = sorted(set(splits) - self.done)
        if new:
            self.store.add_baselines(score_guesses(self.context, [self.context.split(index) for index in new]))
            self.done.update(new)


def score_guesses(context: Context, splits: Iterable[Split]) -> list[Baseline]:
    """Every score of every way to guess; none on splits that score rows they were trained on."""
    rows: list[Baseline] = []
    with fitting(), warnings.catch_warnings(), config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        for split in splits:
            if not np.isin(split.test, split.rows).any():
                rows += _score_split(context, split)
    return rows


def _score_split(context: Context, split: Split) -> Iterator[Baseline]:
    y = context.y[split.test]
    for strategy in _strategies(context):
        scorers = {name: scorer for name, scorer in context.scorers.items() if _may_be_best(strategy, scorer)}
        model, X = _fit_guess(context, split, strategy) if scorers else (None, None)
        answers = Answers(model, X)
        for metric, scorer in scorers.items():
            yield Baseline(split.index, strategy, metric, math.nan if model is None else _score(scorer, answers, X, y))


def _strategies(context: Context) -> list[str]:
    """The ways to guess, of which one or another is best for a score.

    F1 is best guessed by always answering the positive class, log loss by the shares of the classes, an absolute error
    by the median. With covariates in every model, a model on these alone is one more.
    """
    covariates = [] if context.covariates is None else [COVARIATES]
    if context.classes is None:
        return ["mean", "median", *covariates]
    return [PRIOR, "stratified", *(f"{ALWAYS}{label}" for label in context.classes), *covariates]


def _may_be_best(strategy: str, scorer: Scorer) -> bool:
    """Whether this may be the best guess for a score; of the usual scores it is known, and scoring takes its time."""
    function = getattr(scorer, "_score_func", None)
    if strategy == COVARIATES or function not in BEST_GUESS:
        return True
    return strategy.startswith(BEST_GUESS[function])


def _fit_guess(context: Context, split: Split, strategy: str) -> tuple[Any, Any]:
    """A model that guesses, and the held-out rows without any feature; None where the model fails."""
    y, held_out = context.y[split.train], np.zeros((split.test.size, 1))
    if strategy == COVARIATES:
        try:
            return predicting_model(context, split, Selection.subset([])) or (None, None)
        except Exception:  # as where a candidate's model fails: there is no score
            return None, None
    if context.classes is None:
        model = DummyRegressor(strategy=strategy)
    elif strategy.startswith(ALWAYS):
        labels = {f"{ALWAYS}{label}": label for label in context.classes}
        model, y = DummyClassifier(strategy="constant", constant=np.array([labels[strategy]])), context.classes
    else:
        model = DummyClassifier(strategy=strategy, random_state=split.seed)
    return model.fit(np.zeros((y.size, 1)), y), held_out


def _score(scorer: Scorer, answers: Answers, X: Any, y: Any) -> float:
    if getattr(scorer, "_score_func", None) is accuracy_score and not getattr(scorer, "_kwargs", None):
        return float(np.mean(answers.predict(X) == y))  # without the checks, which take longer than all else
    try:
        return float(scorer(answers, X, y))
    except Exception:  # scorers of one's own may ask a model for anything
        return math.nan
