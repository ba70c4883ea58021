"""Predictions and scores of a block of fits: models on selected features, on the held-out rows of every split.

A *cell* is one selection on one split. Cells whose model is recognized, or is a linear model that the selector fitted
itself, are predicted together; others are cloned and fitted by scikit-learn one by one. All are scored together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context

from holdfast.models.block import Block, Predictions
from holdfast.models.score_block import ask_model, join_predictions, needed_answers, score_block
from holdfast.resampling import Split
from holdfast.resampling.split import take
from holdfast.selection import Selection
from holdfast.selectors.models import LinearClassifier, LinearRegressor, predict_rules
from holdfast.study.collecting import without_collecting
from holdfast.study.incidents import Failure, join_notes, join_warnings, record_warnings
from holdfast.study.model_use import Coefficients, model_coefficients, standardize_coefficients
from holdfast.study.scoring import Answers, coded, model_on, scores_of

if TYPE_CHECKING:
    from holdfast.study.work import Context

NO_SCORES: Mapping[str, float] = {}
NO_NOTES: Mapping[int, str] = {}


class Cell(NamedTuple):
    """A selection to predict from: on the split at this place of the block."""

    place: int
    split: Split
    selection: Selection


class Scored(NamedTuple):
    """What is stored of a cell: its scores, the predictions for held-out rows, or why there are none.

    ``coefficients`` are those of a linear model, see :mod:`~holdfast.study.model_use`.
    """

    scores: Mapping[str, float] = NO_SCORES
    predictions: NDArray[Any] | None = None
    failure: Failure | None = None
    note: str = ""
    seconds: float = 0.0
    coefficients: Coefficients | None = None


NOT_SCORED = Scored()


class Batch(NamedTuple):
    """Cells that gave the same kinds of answers, by number, with the answers and the seconds and notes of each."""

    numbers: Sequence[int]
    predictions: Predictions
    seconds: Sequence[float]
    notes: Mapping[int, str] = NO_NOTES


def score_cells(context: "Context", splits: Sequence[Split], cells: Sequence[Cell]) -> list[Scored]:
    """Predict the held-out rows from every selection, and score that."""
    left = {number: cell for number, cell in enumerate(cells) if cell.split.test.size and _has_model(context, cell)}
    scored, batches = dict[int, Scored](), list[Batch]()
    for predict in (_predict_own, _predict_recognized):
        batch = predict(context, splits, left)
        if batch is not None:
            batches.append(batch)
            predicted = set(batch.numbers)
            left = {number: cell for number, cell in left.items() if number not in predicted}
    alone: dict[tuple[str, ...], list[tuple[int, Answered]]] = {}
    for number, cell in left.items():
        answered = _predict_alone(context, cell)
        if isinstance(answered, Scored):
            scored[number] = answered
        else:
            alone.setdefault(answered.predictions.answers, []).append((number, answered))
    batches += [_join_answers(answers) for answers in alone.values()]
    for batch in batches:
        with without_collecting():
            scored |= _score_batch(context, [cells[number] for number in batch.numbers], batch)
    return [scored.get(number, NOT_SCORED) for number in range(len(cells))]


def _has_model(context: "Context", cell: Cell) -> bool:
    return (context.estimator is not None and cell.selection.kind == "subset") or cell.selection.model is not None


def _score_batch(context: "Context", cells: Sequence[Cell], batch: Batch) -> dict[int, Scored]:
    """Every score of every cell of a batch."""
    begun, predictions = perf_counter(), batch.predictions
    truth = context.codes[np.concatenate([cell.split.test for cell in cells])]
    scores = score_block(context.scorers, truth, predictions, context.classes)
    coefficients = standardize_coefficients(context, cells, predictions.coefficients)
    share = (perf_counter() - begun) / len(cells)
    kept = None if predictions.predict is None else _as_kept(predictions.predict, context.classes)
    scored = {}
    for place, (number, values) in enumerate(zip(batch.numbers, scores.by_cell(), strict=True)):
        error = scores.errors.get(place)
        scored[number] = Scored(
            values if error is None else NO_SCORES,
            kept[predictions.starts[place] : predictions.starts[place + 1]]
            if kept is not None and context.keep_predictions
            else None,
            None if error is None else Failure.from_exception("score", error),
            _join_notes(batch, number, scores.warnings.get(place, ())),
            batch.seconds[place] + share,
            coefficients[place],
        )
    return scored


def _join_notes(batch: Batch, number: int, caught: Sequence[Any]) -> str:
    note = batch.notes.get(number, "")
    return join_notes([note, join_warnings(caught)]) if caught else note


def _as_kept(predicted: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[Any]:
    """Predictions as they are stored: numbers of classes in as few bytes as possible, or numbers."""
    return predicted.astype(np.float64 if classes is None else np.min_scalar_type(classes.size))


# Together


def _predict_own(context: "Context", splits: Sequence[Split], cells: Mapping[int, Cell]) -> Batch | None:
    """Predict by the linear models that the selector fitted itself."""
    own = {
        number: cell.selection.model
        for number, cell in cells.items()
        if (context.estimator is None or cell.selection.kind != "subset") and _is_own(context, cell.selection.model)
    }
    wanted = _wanted_answers(context, next(iter(own.values()))) if own else None
    if wanted is None:
        return None
    begun = perf_counter()
    tests = [cells[number].split.test for number in own]
    predictions = replace(
        predict_rules(list(own.values()), context.numbers, tests, wanted),
        coefficients=[model_coefficients(context, cells[number].selection, model) for number, model in own.items()],
    )
    return Batch(list(own), predictions, [(perf_counter() - begun) / len(own)] * len(own))


def _is_own(context: "Context", model: Any) -> bool:
    if type(model) is LinearClassifier:
        classes, own = context.classes, model.classes_
        return classes is not None and own.size == classes.size and bool((own == classes).all())
    return type(model) is LinearRegressor and context.classes is None


def _wanted_answers(context: "Context", model: Any) -> set[str] | None:
    """What to ask of a model; None if a score needs the model itself."""
    needed = needed_answers(context.scorers.values(), lambda name: hasattr(model, name))
    return needed if needed is None or not context.keep_predictions else {*needed, "predict"}


def _predict_recognized(context: "Context", splits: Sequence[Split], cells: Mapping[int, Cell]) -> Batch | None:
    """Fit and predict all cells of a recognized model; those that are not sure to be as scikit-learn's are left."""
    model = context.block_model
    wanted = None if model is None else needed_answers(context.scorers.values(), lambda name: name in model.answers)
    known = {number: cell for number, cell in cells.items() if _is_plain(context, cell)}
    if model is None or wanted is None or not known:
        return None
    begun, beside = perf_counter(), context.covariate_columns
    block = Block(
        X=context.model_table,
        y=context.codes,
        n_classes=0 if context.classes is None else context.classes.size,
        counts=np.array([split.weights(len(context.y)) for split in splits]),
        tests=[split.test for split in splits],
        splits=np.array([cell.place for cell in known.values()]),
        columns=[
            cell.selection.values if beside is None else np.concatenate([cell.selection.values, beside])
            for cell in known.values()
        ],
    )
    predictions, unsure = model.predict(block, wanted | {"predict"} if context.keep_predictions else wanted)
    sure = np.flatnonzero(~unsure)
    if not sure.size:
        return None
    numbers = np.array(list(known))[sure].tolist()
    answers = predictions if sure.size == unsure.size else predictions.take(sure)
    return Batch(numbers, answers, [(perf_counter() - begun) / len(known)] * len(numbers))


def _is_plain(context: "Context", cell: Cell) -> bool:
    """Whether a cell is a set of columns of the data as they are."""
    some = cell.selection.values.size or context.covariates is not None
    return cell.selection.kind == "subset" and bool(some) and cell.split.change is None


# One by one


class Answered(NamedTuple):
    """What one model answered, with the warnings and the seconds of its fit."""

    predictions: Predictions
    note: str
    seconds: float


def _join_answers(answered: Sequence[tuple[int, Answered]]) -> Batch:
    numbers, answers = zip(*answered, strict=True)
    return Batch(
        numbers,
        join_predictions([answer.predictions for answer in answers]),
        [answer.seconds for answer in answers],
        {number: answer.note for number, answer in answered},
    )


def _predict_alone(context: "Context", cell: Cell) -> Answered | Scored:
    """Fit a clone of the model to one cell and ask it; score it at once if scores need the model itself."""
    begun, score = perf_counter(), Scored()
    with record_warnings() as caught:
        try:
            fitted = predicting_model(context, cell.split, cell.selection)
            assert fitted is not None
            model, X = fitted
            wanted = _wanted_answers(context, model)
            predictions = None if wanted is None else ask_model(model, X, wanted, context.classes)
            coef = [model_coefficients(context, cell.selection, model)]
            if predictions is not None:
                answered = replace(predictions, coefficients=coef)
                return Answered(answered, join_warnings(caught), perf_counter() - begun)
            score = _score_alone(context, cell, model, X)
            score = score._replace(coefficients=standardize_coefficients(context, [cell], coef)[0])
        except Exception as error:
            score = Scored(failure=Failure.from_exception("score", error))
    return score._replace(note=join_warnings(caught), seconds=perf_counter() - begun)


def _score_alone(context: "Context", cell: Cell, model: Any, X: Any) -> Scored:
    """Ask every scorer; predictions are kept even if a score fails."""
    answers, score = Answers(model, X), Scored()
    if context.keep_predictions:
        score = score._replace(predictions=coded(answers.predict(X), context.classes))
    try:
        return score._replace(scores=scores_of(answers, X, context.y[cell.split.test], context.scorers))
    except Exception as error:
        return score._replace(failure=Failure.from_exception("score", error))


def predicting_model(context: "Context", split: Split, selection: Selection) -> tuple[Any, Any] | None:
    """The model that predicts from a selection, and the held-out rows as it wants them; None if there is none."""
    if context.estimator is None or selection.kind != "subset":
        return None if selection.model is None else (selection.model, take(context.X, split.test))
    changed, y = (context.table, context.y) if split.change is None else split.change(context.table, context.y)
    train, test = changed[np.ix_(split.train, selection.values)], context.table[np.ix_(split.test, selection.values)]
    if context.covariates is not None:
        train, test = (
            (sp.hstack if sp.issparse(features) else np.hstack)([features, context.covariates[rows]])
            for features, rows in ((train, split.train), (test, split.test))
        )
    used = np.arange(train.shape[1])
    with config_context(skip_parameter_validation="model" in context.validated):
        model = model_on(used, context.estimator, (train, y[split.train]), split, context.task)
    if used.size:
        context.validated.add("model")
    return model, test if used.size else np.zeros((split.test.size, 1))
