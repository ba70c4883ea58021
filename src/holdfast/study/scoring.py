"""Scoring: a model is trained on the selected features, predicts held-out rows, and its answers are scored.

A *cell* is one selection on one split. :func:`score_cells` has cells answered together by the linear models that
selectors fitted themselves and by recognized models, the others one by one by scikit-learn; all answers are scored
together, and no cell depends on another. :func:`score_guesses` scores what is answered without any feature.
"""

import math
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context, metrics
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor

from holdfast.declared import did_you_mean
from holdfast.io.estimators import set_seeds
from holdfast.kernels.linear import training_spreads
from holdfast.kernels.survival_curves import kaplan_meier
from holdfast.models import MODELS, SCORES
from holdfast.models.block import Block, Ints, Predictions, Training, evaluation_times
from holdfast.models.recognized import BlockModel, read_coefficients
from holdfast.models.scores import (
    Scorer,
    ask_model,
    ask_scorer,
    cells_by_size,
    has_answer,
    join_predictions,
    needed_answers,
    recognize_scorer,
    score_block,
    sum_cells,
)
from holdfast.resampling import Split
from holdfast.resampling.split import count_rows, take
from holdfast.selection import FewerFeaturesWarning, Selection
from holdfast.selectors.models import LinearClassifier, LinearRegressor, SoftmaxClassifier, predict_rules
from holdfast.study.data import StudyData
from holdfast.study.families import fit_arguments
from holdfast.study.memory import gc_paused
from holdfast.targets import TASKS

ANSWERS = ("predict", "predict_proba", "decision_function", "predict_log_proba")
NO_SCORES: Mapping[str, float] = {}
Coefficients = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Scoring:
    """How selections are scored.

    Attributes
    ----------
    estimator : estimator or None
        The model that is trained on selected features; without one, that of the selector is scored.
    scorers : mapping of Scorer
        The scores, by name.
    block_model : BlockModel or None
        The model in a form that fits whole blocks, if there is one for it and for such data.
    keep_predictions : bool
        Whether predictions for held-out rows are stored.
    """

    estimator: Any
    scorers: Mapping[str, Scorer]
    block_model: BlockModel | None = None
    keep_predictions: bool = True

    @cached_property
    def validated(self) -> set[str]:
        """What was fitted in this process: scikit-learn need not validate its parameters again."""
        return set()

    def trains_on(self, selection: Selection) -> bool:
        """Whether the estimator is trained on a selection; else the selector's model counts."""
        return self.estimator is not None and selection.kind == "subset"

    def wanted_answers(self, has: Callable[[str], bool]) -> set[str] | None:
        """What to ask of a model that has these methods; None if a score needs the model itself."""
        needed = needed_answers(self.scorers.values(), has)
        return needed if needed is None or not self.keep_predictions else {*needed, "predict"}


class Failure(NamedTuple):
    """What went wrong, and where."""

    stage: str  # "select", "score", "time limit" or "died"
    error: str
    traceback: str = ""

    @classmethod
    def from_exception(cls, stage: str, error: BaseException) -> "Failure":
        """Record an exception with its notes and its traceback."""
        lines = "".join(traceback.format_exception(error))
        words = "; ".join([str(error).removesuffix("."), *error.__notes__]) if hasattr(error, "__notes__") else error
        return cls(stage, f"{type(error).__name__}: {words}".strip().removesuffix(":"), lines)


class Cell(NamedTuple):
    """A selection to predict from, and its split, at this position of the block."""

    position: int
    split: Split
    selection: Selection


class CellScore(NamedTuple):
    """What is stored of a cell: its scores, the predictions for held-out rows, or why there are none.

    A coefficient is that of a feature in a linear model, in units of its standard deviation on the training rows: by
    how much the predicted number, or the decision value for the second of two classes, rises with it.
    """

    scores: Mapping[str, float] = NO_SCORES
    predictions: NDArray[Any] | None = None
    failure: Failure | None = None
    note: str = ""
    seconds: float = 0.0
    coefficients: Coefficients | None = None


NOT_SCORED = CellScore()


class ModelAnswers(NamedTuple):
    """What the models of some cells answered, which are given by number, with the seconds and the notes of each."""

    numbers: Sequence[int]
    predictions: Predictions
    seconds: Sequence[float]
    notes: Sequence[str] | None = None


# Cells


def score_cells(data: StudyData, scoring: Scoring, splits: Sequence[Split], cells: Sequence[Cell]) -> list[CellScore]:
    """Predict the held-out rows from every selection, and score that."""
    left = {
        number: cell
        for number, cell in enumerate(cells)
        if cell.split.test.size and (scoring.trains_on(cell.selection) or cell.selection.model is not None)
    }
    together = list[ModelAnswers]()
    for predict in (_predict_by_selectors, _predict_by_block_model):
        answers = predict(data, scoring, splits, left)
        if answers is not None:
            together.append(answers)
            answered = set(answers.numbers)
            left = {number: cell for number, cell in left.items() if number not in answered}
    scored, single = dict[int, CellScore](), dict[tuple[str, ...], list[ModelAnswers]]()
    for number, cell in left.items():
        answer = _predict_one(data, scoring, number, cell)
        if isinstance(answer, CellScore):
            scored[number] = answer
        else:
            single.setdefault(answer.predictions.answers, []).append(answer)
    for answers in together + [_join_answers(several) for several in single.values()]:
        with gc_paused():
            scored |= _score_answers(data, scoring, [cells[number] for number in answers.numbers], answers)
    return [scored.get(number, NOT_SCORED) for number in range(len(cells))]


def _predict_by_selectors(
    data: StudyData, scoring: Scoring, splits: Sequence[Split], cells: Mapping[int, Cell]
) -> ModelAnswers | None:
    """Predict by the linear models that the selector fitted itself."""
    known = dict[tuple[type, int], bool]()  # models of one resample share their classes
    models = dict[int, Any]()
    for number, cell in cells.items():
        model = cell.selection.model
        if data.sample_weight is None and not scoring.trains_on(cell.selection):
            key = type(model), id(getattr(model, "classes_", None))
            if key not in known:
                known[key] = _predicts_target(model, data)
            if known[key]:
                models[number] = model
    first = next(iter(models.values()), None)
    models = {number: model for number, model in models.items() if type(model) is type(first)}
    wanted = scoring.wanted_answers(lambda name: hasattr(first, name)) if models else None
    if wanted is None:
        return None
    begun = perf_counter()
    tests = [cells[number].split.test for number in models]
    coefficients = [_read_coefficients(data, scoring, cells[number].selection, models[number]) for number in models]
    predictions = predict_rules(list(models.values()), data.numbers, tests, wanted)
    share = (perf_counter() - begun) / len(models)
    return ModelAnswers(list(models), replace(predictions, coefficients=coefficients), [share] * len(models))


def _predicts_target(model: Any, data: StudyData) -> bool:
    """Whether this is a linear model of holdfast's selectors for all classes, or for numbers."""
    if type(model) in (LinearClassifier, SoftmaxClassifier):
        return data.classes is not None and np.array_equal(model.classes_, data.classes)
    return type(model) is LinearRegressor and data.classes is None


def _predict_by_block_model(
    data: StudyData, scoring: Scoring, splits: Sequence[Split], cells: Mapping[int, Cell]
) -> ModelAnswers | None:
    """Fit and predict all cells of a recognized model; those that are not sure to be as scikit-learn's are left."""
    model = scoring.block_model
    wanted = None if model is None else scoring.wanted_answers(lambda name: name in model.answers)
    known = {
        number: cell
        for number, cell in cells.items()
        if cell.selection.kind == "subset"
        and (cell.selection.values.size or data.covariates is not None)
        and cell.split.change is None
    }
    if model is None or wanted is None or not known:
        return None
    begun = perf_counter()
    covariates = np.arange(len(data.columns), data.model_table.shape[1])
    block = Block(
        X=data.model_table,
        y=data.target.values,
        n_classes=data.n_classes,
        counts=count_rows(splits, len(data.y)),
        tests=[split.test for split in splits],
        splits=np.array([cell.position for cell in known.values()]),
        columns=[
            np.concatenate([data.columns_of(cell.selection.values), covariates])
            if covariates.size
            else data.columns_of(cell.selection.values)
            for cell in known.values()
        ],
    )
    predictions, unsure = model.predict(block, wanted)
    sure = np.flatnonzero(~unsure)
    if not sure.size:
        return None
    answers = predictions if sure.size == unsure.size else predictions.take(sure)
    share = (perf_counter() - begun) / len(known)
    return ModelAnswers(np.array(list(known))[sure].tolist(), answers, [share] * sure.size)


def _predict_one(data: StudyData, scoring: Scoring, number: int, cell: Cell) -> ModelAnswers | CellScore:
    """Fit a clone of the model to one cell and ask it; score it at once if scores need the model itself."""
    begun, score = perf_counter(), CellScore()
    with record_warnings() as caught:
        try:
            model, X = fit_model(data, scoring, cell.split, cell.selection)
            weighs = data.sample_weight is not None  # scikit-learn's scorers take the weights
            wanted = None if weighs else scoring.wanted_answers(partial(has_answer, model))
            predictions = None if wanted is None else ask_model(model, X, wanted, data.classes, data.y)
            coefficients = [_read_coefficients(data, scoring, cell.selection, model)]
            if predictions is not None:
                predictions = replace(predictions, coefficients=coefficients)
                return ModelAnswers([number], predictions, [perf_counter() - begun], [join_warnings(caught)])
            answers = Answers(model, X)
            predicted = encode_predictions(answers.predict(X), data.classes) if scoring.keep_predictions else None
            standardized = standardize_coefficients(data, [cell], coefficients)[0]
            score = CellScore(predictions=predicted, coefficients=standardized)  # stored even if a score fails
            y = data.y[cell.split.test]
            asked = {
                name: partial(scorer.scorer, **scorer_arguments(data, scorer, cell.split))
                for name, scorer in scoring.scorers.items()
            }
            scores = {name: ask_scorer(name, scorer, answers, X, y) for name, scorer in asked.items()}
            score = score._replace(scores=scores)
        except Exception as error:
            score = score._replace(failure=Failure.from_exception("score", error))
    return score._replace(note=join_warnings(caught), seconds=perf_counter() - begun)


def scorer_arguments(data: StudyData, scorer: Scorer, split: Split) -> dict[str, Any]:
    """What a score takes besides a model and held-out rows: their weights, or of survival times the training rows."""
    if scorer.undefined:
        return {"training": find_training(data, [split])}
    return {} if data.sample_weight is None else {"sample_weight": data.sample_weight[split.test]}


def find_training(data: StudyData, splits: Sequence[Split]) -> Training | None:
    """The training rows of cells on these splits, for scores of survival times; None for another target."""
    if data.task != "survival":
        return None
    different = {split.index: split for split in splits}
    position = {index: row for row, index in enumerate(different)}
    counts = count_rows(list(different.values()), len(data.y))
    return Training(data.y, counts, np.array([position[split.index] for split in splits]))


def _join_answers(several: Sequence[ModelAnswers]) -> ModelAnswers:
    return ModelAnswers(
        [number for answers in several for number in answers.numbers],
        join_predictions([answers.predictions for answers in several]),
        [seconds for answers in several for seconds in answers.seconds],
        [note for answers in several for note in answers.notes or ()],
    )


def _score_answers(
    data: StudyData, scoring: Scoring, cells: Sequence[Cell], answers: ModelAnswers
) -> dict[int, CellScore]:
    """Every score of every cell that was answered."""
    begun, predictions = perf_counter(), answers.predictions
    truth = data.target.values[np.concatenate([cell.split.test for cell in cells])]
    training = find_training(data, [cell.split for cell in cells])
    scores = score_block(scoring.scorers, truth, predictions, data.classes, training)
    coefficients = standardize_coefficients(data, cells, predictions.coefficients)
    share = (perf_counter() - begun) / len(cells)
    predicted = predictions.predict if scoring.keep_predictions else None
    if predicted is not None:
        predicted = predicted.astype(np.float64 if data.classes is None else np.min_scalar_type(data.classes.size))
    scored = {}
    for index, (number, values) in enumerate(zip(answers.numbers, scores.by_cell(), strict=True)):
        error, note = scores.errors.get(index), "" if answers.notes is None else answers.notes[index]
        if index in scores.warnings:
            note = join_notes([note, join_warnings(scores.warnings[index])])
        scored[number] = CellScore(
            values if error is None else NO_SCORES,
            None if predicted is None else predicted[predictions.starts[index] : predictions.starts[index + 1]],
            None if error is None else Failure.from_exception("score", error),
            note,
            answers.seconds[index] + share,
            coefficients[index],
        )
    return scored


# Models


def fit_model(data: StudyData, scoring: Scoring, split: Split, selection: Selection) -> tuple[Any, Any]:
    """The model that predicts from a selection, and the held-out rows as it wants them.

    That is a clone of the estimator, trained on the selected columns and the covariates; without any column, what the
    target alone predicts; without an estimator, the selector's model.
    """
    if not scoring.trains_on(selection):
        return selection.model, take(data.X, split.test)
    table, y = (data.table, data.y) if split.change is None else split.change(data.table, data.y)
    columns = data.columns_of(selection.values)
    train, test = table[np.ix_(split.train, columns)], data.table[np.ix_(split.test, columns)]
    if data.covariates is not None:
        train, test = (
            (sp.hstack if sp.issparse(features) else np.hstack)([features, data.covariates[rows]])
            for features, rows in ((train, split.train), (test, split.test))
        )
    if not train.shape[1]:
        train, test = (np.zeros((rows.size, 1)) for rows in (split.train, split.test))
        return MODELS["baseline"].make(task=data.task).fit(train, y[split.train]), test
    model = clone(scoring.estimator)
    set_seeds(model, split.seed)
    with config_context(skip_parameter_validation="model" in scoring.validated):
        weights = {} if data.sample_weight is None else {"sample_weight": data.sample_weight[split.train]}
        model.fit(train, y[split.train], **fit_arguments(model, weights))
    scoring.validated.add("model")
    return model, test


def _read_coefficients(
    data: StudyData, scoring: Scoring, selection: Selection, model: Any
) -> NDArray[np.float64] | None:
    """The coefficients of the selected columns in a fitted model, and of the covariates after them; None without."""
    columns = data.columns_of(selection.values)
    if selection.kind != "subset" or data.n_classes > 2:
        return None
    if type(model) in (LinearClassifier, LinearRegressor):
        if model.coef.shape[0] != 1:
            return None
        if model.columns is columns or np.array_equal(model.columns, columns):
            return model.coef[0]
        weight = dict(zip(model.columns.tolist(), model.coef[0].tolist(), strict=True))
        return np.array([weight.get(column, 0.0) for column in columns.tolist()])
    if scoring.estimator is None:  # a selector's model, of all features
        coef = read_coefficients(model, len(data.columns))
        return None if coef is None else coef[columns]
    n_covariates = 0 if data.covariates is None else data.covariates.shape[1]
    return read_coefficients(model, columns.size + n_covariates)


def standardize_coefficients(
    data: StudyData, cells: Sequence[Cell], coefficients: Sequence[NDArray[np.float64] | None] | None
) -> list[Coefficients | None]:
    """Coefficients of each cell's features, ascending, times their standard deviations on its training rows."""
    standardized: list[Coefficients | None] = [None] * len(cells)
    table = data.effect_table
    linear = [
        (number, cell, coef)
        for number, (cell, coef) in enumerate(zip(cells, coefficients or (), strict=False))
        if coef is not None and cell.selection.kind == "subset"
    ]
    if table is None or not linear:
        return standardized
    selected = [cell.selection.values for _, cell, _ in linear]
    starts = np.concatenate([[0], np.cumsum([columns.size for columns in selected])])
    used, columns = np.unique(np.concatenate(selected), return_inverse=True)
    splits = {cell.position: cell.split for _, cell, _ in linear}
    row = {position: index for index, position in enumerate(splits)}
    row_of = np.repeat([row[cell.position] for _, cell, _ in linear], np.diff(starts))
    spreads = training_spreads(
        np.ascontiguousarray(table[:, used].T, dtype=np.float64),
        count_rows(list(splits.values()), table.shape[0]).astype(np.float64), row_of, columns,
    )  # fmt: skip
    raw = np.concatenate([coef[_first_columns(data, cell.selection.values)] for _, cell, coef in linear])
    cell_of = np.repeat(np.arange(len(linear)), np.diff(starts))
    values = (raw * spreads).astype(np.float32)[np.argsort(cell_of * (used.size + 1) + columns, kind="stable")]
    for index, (number, _, _) in enumerate(linear):
        standardized[number] = values[starts[index] : starts[index + 1]]
    return standardized


def _first_columns(data: StudyData, features: NDArray[Any]) -> NDArray[Any] | slice:
    """Where the first column of each feature is among those of all; coefficients of several columns are nan anyway."""
    if data.feature_groups is None:
        return slice(features.size)
    sizes = np.bincount(data.feature_groups.feature_of)[features]
    return np.cumsum(sizes) - sizes


def encode_predictions(predicted: Sequence[Any] | NDArray[Any], classes: NDArray[Any] | None) -> NDArray[Any] | None:
    """Predictions as they are stored: the number of the class, or the predicted number.

    None if something else than one of the classes is predicted, as a regression of class labels does.
    """
    if classes is None:
        return np.asarray(predicted, dtype=np.float64).ravel()
    if not np.isin(predicted, classes).all():
        return None
    return np.searchsorted(classes, np.asarray(predicted)).astype(np.min_scalar_type(classes.size))


class Answers:
    """A fitted model that is asked once for each kind of answer on the held-out rows, however many scores need it."""

    def __init__(self, model: Any, held_out: Any) -> None:
        self._model, self._held_out, self._given = model, held_out, dict[str, Any]()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._model, name)
        if name not in ANSWERS:
            return attribute

        def answer(X: Any) -> Any:
            if X is not self._held_out:
                return attribute(X)
            if name not in self._given:
                self._given[name] = attribute(X)
            return self._given[name]

        answer.__name__ = name  # scikit-learn's scorers look methods up by their names
        return answer


# Guessing

ALWAYS, PRIOR, COVARIATES, EQUAL_RISK = "always ", "prior", "covariates", "equal risk"
BEST_GUESS: dict[Any, str] = {
    metrics.accuracy_score: ALWAYS,
    metrics.roc_auc_score: PRIOR,
    metrics.average_precision_score: PRIOR,
    metrics.log_loss: PRIOR,
    metrics.brier_score_loss: PRIOR,
}
"""The best guess for scores of which it is known, so that others need not be scored."""


class Baseline(NamedTuple):
    """The score of one way to guess on one split; ``nan`` if the scorer cannot score it."""

    split: int
    strategy: str
    metric: str
    value: float


def score_guesses(data: StudyData, scoring: Scoring, splits: Iterable[Split]) -> list[Baseline]:
    """Every score of every way to guess; none on splits that score rows they were trained on.

    F1 is best guessed by always answering the positive class, log loss by the shares of the classes, an absolute error
    by the median. With covariates in every model, a model on these alone is one more.
    """
    held_out = [split for split in splits if split.holds_out]
    strategies = ["mean", "median"] if data.task == "regression" else [EQUAL_RISK]
    if data.classes is not None:
        strategies = [PRIOR, "stratified", *(f"{ALWAYS}{label}" for label in data.classes)]
    if data.covariates is not None:
        strategies.append(COVARIATES)
    scores = {strategy: _score_strategy(data, scoring, held_out, strategy) for strategy in strategies}
    return [
        Baseline(split.index, strategy, metric, values[position])
        for position, split in enumerate(held_out)
        for strategy, by_metric in scores.items()
        for metric, values in by_metric.items()
    ]


def _score_strategy(
    data: StudyData, scoring: Scoring, splits: Sequence[Split], strategy: str
) -> dict[str, list[float]]:
    """Scores of one way to guess by name, one for each split: of all splits at once where no model is needed."""
    scorers = dict[str, Scorer]()
    for name, scorer in scoring.scorers.items():
        best = BEST_GUESS.get(getattr(scorer.scorer, "_score_func", None), "")
        if strategy == COVARIATES or strategy.startswith(best):
            scorers[name] = scorer
    if not scorers or not splits:
        return {}
    truth = data.y if data.classes is None else data.target.values
    need_model = {name: scorer for name, scorer in scorers.items() if scorer.answers is None}
    scores = {name: np.full(len(splits), math.nan) for name in scorers}
    answerable = _find_answerable(data, splits, strategy, truth)
    if answerable and len(need_model) < len(scorers):
        answered = [splits[position] for position in answerable]
        predictions, training = _guess(data, answered, strategy, truth), find_training(data, answered)
        y = truth[np.concatenate([split.test for split in answered])]
        for name in scorers.keys() - need_model:  # one by one: what one cannot score is no error of the others
            values = score_block({name: scorers[name]}, y, predictions, data.classes, training).values[name]
            scores[name][answerable] = values
    if need_model or len(answerable) < len(splits):
        with warnings.catch_warnings(action="ignore"), config_context(skip_parameter_validation=True):
            for position, split in enumerate(splits):
                left = need_model if position in answerable else scorers
                for name, value in _score_guessing_model(data, scoring, split, strategy, left, truth).items():
                    scores[name][position] = value
    return {name: values.tolist() for name, values in scores.items()}


def _find_answerable(data: StudyData, splits: Sequence[Split], strategy: str, truth: NDArray[Any]) -> Sequence[int]:
    """Positions of the splits on which the answers of scikit-learn's dummies are known without fitting one."""
    if data.sample_weight is not None:
        return []
    if strategy == EQUAL_RISK:
        return range(len(splits))
    if strategy == COVARIATES or (data.classes is None and truth.dtype != np.float64 and truth.dtype.kind not in "iu"):
        return []
    if data.classes is None or strategy.startswith(ALWAYS):
        return range(len(splits))
    n_classes = data.classes.size  # a dummy knows only the classes that it was trained on
    return [
        position for position, split in enumerate(splits) if np.bincount(truth[split.rows], minlength=n_classes).all()
    ]


def _guess(data: StudyData, splits: Sequence[Split], strategy: str, truth: NDArray[Any]) -> Predictions:
    """Answer as scikit-learn's dummies do, without fitting any."""
    starts = _starts([split.test for split in splits])
    sizes = np.diff(starts)
    if strategy == EQUAL_RISK:
        counts, times = count_rows(splits, len(data.y)), evaluation_times(data.y)
        survival = np.repeat(kaplan_meier(data.y, counts).at(times), sizes, axis=0)
        return Predictions(starts, np.zeros(starts[-1]), predict_survival_function=survival)
    if data.classes is None:
        train = [split.train for split in splits]
        y, train_starts = truth[np.concatenate(train)].astype(np.float64), _starts(train)
        if strategy == "mean":
            constants = sum_cells(y, train_starts) / np.diff(train_starts)
        else:
            constants = np.empty(len(splits))
            for cells, rows in cells_by_size(train_starts):
                constants[cells] = np.median(y[rows], axis=1)
        return Predictions(starts, np.repeat(constants, sizes))
    n_classes = data.classes.size
    if strategy.startswith(ALWAYS):
        number = [f"{ALWAYS}{label}" for label in data.classes].index(strategy)
        shares = np.tile(np.eye(n_classes)[number], (len(splits), 1))
    else:
        counts = np.array([np.bincount(truth[split.train], minlength=n_classes) for split in splits])
        shares = counts / counts.sum(axis=1, keepdims=True)
    if strategy != "stratified":
        return Predictions(starts, np.repeat(shares.argmax(axis=1), sizes), None, np.repeat(shares, sizes, axis=0))
    random, draws = np.random.RandomState(), []  # making one for each split would take longer than all else
    for split, split_shares in zip(splits, shares, strict=True):
        random.seed(split.seed)
        draws.append(random.multinomial(1, split_shares, size=split.test.size))
    drawn = np.concatenate(draws).astype(np.float64)
    return Predictions(starts, drawn.argmax(axis=1), None, drawn)


def _starts(rows: Sequence[Ints]) -> Ints:
    """Where the rows of each split begin if they follow one after the other, and the end of the last."""
    return np.cumsum([0, *(of_split.size for of_split in rows)])


def _score_guessing_model(
    data: StudyData, scoring: Scoring, split: Split, strategy: str, scorers: Mapping[str, Scorer], truth: NDArray[Any]
) -> dict[str, float]:
    """Scores of a model that guesses on one split; none where the model or the score fails."""
    scores: dict[str, float] = {}
    if not scorers:
        return scores
    y, X = data.y[split.train], np.zeros((split.test.size, 1))
    if strategy == COVARIATES:
        try:
            model, X = fit_model(data, scoring, split, Selection.subset([]))
        except Exception:  # as where a candidate's model fails: there is no score
            return scores
    else:
        if strategy == EQUAL_RISK:
            model = MODELS["baseline"].make(task=data.task)
        elif data.classes is None:
            model = DummyRegressor(strategy=strategy)
        elif strategy.startswith(ALWAYS):
            labels = {f"{ALWAYS}{label}": label for label in data.classes}
            model, y = DummyClassifier(strategy="constant", constant=np.array([labels[strategy]])), data.classes
        else:
            model = DummyClassifier(strategy=strategy, random_state=split.seed)
        weights = None if data.sample_weight is None else data.sample_weight[split.train]
        constant = strategy.startswith(ALWAYS) and data.classes is not None
        weighed = {} if constant or weights is None else {"sample_weight": weights}
        model.fit(np.zeros((y.size, 1)), y, **weighed)
    answers = Answers(model, X)
    for name, scorer in scorers.items():
        try:
            weighs = data.sample_weight is not None
            asked = None if scorer.block is None or weighs else scorer.answer(partial(has_answer, model))
            predictions = None if asked is None else ask_model(answers, X, [asked], data.classes, data.y)
            if predictions is None:
                more = scorer_arguments(data, scorer, split)
                scores[name] = float(scorer.scorer(answers, X, data.y[split.test], **more))
            else:
                training = find_training(data, [split])
                block = score_block({name: scorer}, truth[split.test], predictions, data.classes, training)
                scores[name] = float(block.values[name][0])
        except Exception:  # a custom scorer may ask a model for anything
            continue
    return scores


# Names of scores


def named_scoring(scoring: Any, task: str) -> dict[str, Any]:
    """Name what was asked for: names, callables, or a mapping of them; the default score of the task if nothing was."""
    if scoring is None:
        scoring = TASKS[task].score
    if isinstance(scoring, str) or callable(scoring):
        scoring = [scoring]
    if isinstance(scoring, Mapping):
        return {str(name): score for name, score in scoring.items()}
    named = dict[str, Any]()
    for score in scoring:
        # a callable has its own name, a scorer that of the function which it was made of
        name = score if isinstance(score, str) else getattr(getattr(score, "_score_func", score), "__name__", score)
        if str(name) in named:
            raise ValueError(
                f"Expected scores of different names, got {str(name)!r} twice; give a mapping from name to score."
            )
        named[str(name)] = score
    return named


def find_scorer(scoring: Any) -> Scorer:
    """The scorer of a name or callable, with the array function of the same score where there is one."""
    if callable(scoring):
        return recognize_scorer(scoring)
    record = SCORES.get(scoring)
    known = scoring if record is None else record.scorer
    try:
        scorer = known if callable(known) else metrics.get_scorer(known)
    except ValueError:
        raise ValueError(
            f"Expected scoring by names ({', '.join(SCORES)}, or others that sklearn.metrics.get_scorer_names() lists) "
            f"or callables, got {scoring!r}{did_you_mean(scoring, SCORES)}"
        ) from None
    if record is None or record.block is None:
        return recognize_scorer(scorer)
    return Scorer(scorer, record.block, record.answers, record.undefined)


# Warnings


@contextmanager
def record_warnings() -> Iterator[list[Any]]:
    """Collect warnings instead of showing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def join_warnings(caught: Sequence[Any]) -> str:
    """Each different warning once, a line each; those meant for developers are left out."""
    notes = []
    for warning in caught:
        if isinstance(warning.message, FewerFeaturesWarning):
            notes.append(warning.message.note)
        elif not issubclass(warning.category, (DeprecationWarning, PendingDeprecationWarning)):
            notes.append(f"{warning.category.__name__}: {' '.join(str(warning.message).split())}")
    return join_notes(notes)


def join_notes(notes: Iterable[str]) -> str:
    """All lines of several notes, each once."""
    return "\n".join(dict.fromkeys(line for note in notes if note for line in note.split("\n")))
