"""Baselines: the scores of guessing without any feature, which a candidate has to beat."""

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import accuracy_score, average_precision_score, brier_score_loss, log_loss, roc_auc_score

from holdfast.models.block import Floats, Ints, Predictions
from holdfast.models.cells import cells_by_size, sum_cells
from holdfast.models.score_block import Scorer, score_block
from holdfast.resampling import Split
from holdfast.selection import Selection
from holdfast.study.effects import holds_out
from holdfast.study.predicting import predicting_model
from holdfast.study.scoring import Answers, score_model
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
    """Scores guessing once on every split on which a candidate was scored."""

    def __init__(self, store: Store, context: Context) -> None:
        self.context, self.done = context, store.guessed_splits()
        left_out = self.score_new(store.scored_splits())  # by an interruption
        if left_out:
            store.add_baselines(left_out)

    def score_new(self, splits: Iterable[int]) -> list[Baseline]:
        """Score guessing on those of these splits that are new."""
        new = sorted(set(splits) - self.done)
        self.done.update(new)
        return score_guesses(self.context, [self.context.split(index) for index in new]) if new else []


def score_guesses(context: Context, splits: Iterable[Split]) -> list[Baseline]:
    """Every score of every way to guess; none on splits that score rows they were trained on."""
    held_out = [split for split in splits if holds_out(split, context.y.size)]
    with fitting():
        scores = {strategy: _score_strategy(context, held_out, strategy) for strategy in _strategies(context)}
    return [
        Baseline(split.index, strategy, metric, values[place])
        for place, split in enumerate(held_out)
        for strategy, by_metric in scores.items()
        for metric, values in by_metric.items()
    ]


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
    function = getattr(scorer.scorer, "_score_func", None)
    if strategy == COVARIATES or function not in BEST_GUESS:
        return True
    return strategy.startswith(BEST_GUESS[function])


def _score_strategy(context: Context, splits: Sequence[Split], strategy: str) -> dict[str, list[float]]:
    """Scores of one way to guess by name, one for each split: of all splits at once where no model is needed."""
    scorers = {name: scorer for name, scorer in context.scorers.items() if _may_be_best(strategy, scorer)}
    if not scorers or not splits:
        return {}
    truth = context.y if context.classes is None else np.searchsorted(context.classes, context.y)
    callables = {name: scorer for name, scorer in scorers.items() if scorer.answers is None}  # they want a model
    places = _find_answerable(context, splits, strategy, truth)
    scores = {name: np.full(len(splits), math.nan) for name in scorers}
    if places and len(callables) < len(scorers):
        answered = [splits[place] for place in places]
        predictions, y = _guess(context, answered, strategy, truth), truth[_join(split.test for split in answered)]
        for name in scorers.keys() - callables:  # one by one: what one cannot score is no error of the others
            scores[name][places] = score_block({name: scorers[name]}, y, predictions, context.classes).values[name]
    unanswered = set(range(len(splits))) - set(places)
    if callables or unanswered:
        with _without_checks():
            for place, split in enumerate(splits):
                left = scorers if place in unanswered else callables
                for name, value in _score_model(context, split, strategy, left, truth).items():
                    scores[name][place] = value
    return {name: values.tolist() for name, values in scores.items()}


# What is answered without fitting anything


def _find_answerable(context: Context, splits: Sequence[Split], strategy: str, truth: NDArray[Any]) -> Sequence[int]:
    """Places of the splits on which the answers of scikit-learn's dummies are known without fitting one."""
    everywhere = range(len(splits))
    if strategy == COVARIATES or (
        context.classes is None and truth.dtype != np.float64 and truth.dtype.kind not in "iu"
    ):
        return []
    if context.classes is None or strategy.startswith(ALWAYS):
        return everywhere
    n_classes = context.classes.size  # a dummy knows only the classes that it was trained on
    return [place for place in everywhere if np.bincount(truth[splits[place].rows], minlength=n_classes).all()]


def _guess(context: Context, splits: Sequence[Split], strategy: str, truth: NDArray[Any]) -> Predictions:
    """Answer as scikit-learn's dummies do."""
    if context.classes is None:
        return _guess_numbers(splits, strategy, truth)
    n_classes = context.classes.size
    if strategy.startswith(ALWAYS):
        number = [f"{ALWAYS}{label}" for label in context.classes].index(strategy)
        return _predict_classes(splits, np.tile(np.eye(n_classes)[number], (len(splits), 1)))
    counts = np.array([np.bincount(truth[split.train], minlength=n_classes) for split in splits])
    shares = counts / counts.sum(axis=1, keepdims=True)
    return _predict_classes(splits, shares) if strategy == PRIOR else _draw_classes(splits, shares)


def _guess_numbers(splits: Sequence[Split], strategy: str, truth: NDArray[Any]) -> Predictions:
    """Answer the mean or median of the training rows."""
    train = [split.train for split in splits]
    y, starts = truth[_join(train)].astype(np.float64), _starts(train)
    if strategy == "mean":
        constants = sum_cells(y, starts) / np.diff(starts)
    else:
        constants = np.empty(len(splits))
        for cells, rows in cells_by_size(starts):
            constants[cells] = np.median(y[rows], axis=1)
    test_starts = _starts([split.test for split in splits])
    return Predictions(test_starts, np.repeat(constants, np.diff(test_starts)))


def _predict_classes(splits: Sequence[Split], shares: Floats) -> Predictions:
    """Answer the class of the largest share, and the shares as probabilities."""
    starts = _starts([split.test for split in splits])
    sizes = np.diff(starts)
    return Predictions(starts, np.repeat(shares.argmax(axis=1), sizes), None, np.repeat(shares, sizes, axis=0))


def _draw_classes(splits: Sequence[Split], shares: Floats) -> Predictions:
    """Draw a class by its share for each held-out row, with the random numbers of scikit-learn's dummy."""
    random, draws = np.random.RandomState(), []  # making one for each split would take longer than all else
    for split, of_split in zip(splits, shares, strict=True):
        random.seed(split.seed)
        draws.append(random.multinomial(1, of_split, size=split.test.size))
    proba = np.concatenate(draws).astype(np.float64)
    return Predictions(_starts([split.test for split in splits]), proba.argmax(axis=1), None, proba)


def _join(rows: Iterable[Ints]) -> Ints:
    """Put the rows of splits one after the other."""
    return np.concatenate(list(rows))


def _starts(rows: Sequence[Ints]) -> Ints:
    """Where the rows of each split then begin, and the end of the last."""
    return np.cumsum([0, *(of_split.size for of_split in rows)])


# What needs a model


@contextmanager
def _without_checks() -> Iterator[None]:
    """Fit and score models without scikit-learn's checks of parameters and its warnings."""
    with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        yield


def _score_model(
    context: Context, split: Split, strategy: str, scorers: Mapping[str, Scorer], truth: NDArray[Any]
) -> dict[str, float]:
    """Scores of a model that guesses on one split; ``nan`` where the model or the score fails."""
    model, X = _fit_guess(context, split, strategy) if scorers else (None, None)
    answers, scores = Answers(model, X), dict.fromkeys(scorers, math.nan)
    for name, scorer in scorers.items() if model is not None else ():
        try:
            scores.update(score_model(answers, X, truth[split.test], {name: scorer}, context.classes))
        except Exception:  # scorers of one's own may ask a model for anything
            continue
    return scores


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
