"""The work of a study: one family on a block of splits, in whatever process."""

import math
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeAlias, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer
from threadpoolctl import ThreadpoolController

from holdfast.declared import About, did_you_mean
from holdfast.io.estimators import set_seeds
from holdfast.kernels.effects import effect_width, held_out_effects
from holdfast.kernels.linear import training_spreads
from holdfast.models import SCORES
from holdfast.models.block import Block, Predictions
from holdfast.models.recognized import BlockModel, read_coefficients, recognize
from holdfast.models.scores import Cells, ask_model, join_predictions, needed_answers, recognize_scorer, score_block
from holdfast.models.scores import Scorer as Scorer
from holdfast.preferences import Kind
from holdfast.resampling import Perturbation, Samples, Split
from holdfast.resampling.split import take
from holdfast.selection import FewerFeaturesWarning, Selection
from holdfast.selectors.models import LinearClassifier, LinearRegressor, predict_rules
from holdfast.study.families import Family, FittedSplit, Order, as_numbers
from holdfast.study.memory import without_collecting


class Failure(NamedTuple):
    """What went wrong, and where."""

    stage: str  # "select", "score", "time limit" or "died"
    error: str
    traceback: str = ""

    @classmethod
    def from_exception(cls, stage: str, error: BaseException) -> "Failure":
        """Record an exception with its traceback."""
        lines = "".join(traceback.format_exception(error))
        return cls(stage, f"{type(error).__name__}: {error}".strip().removesuffix(":"), lines)


@contextmanager
def record_warnings() -> Iterator[list[Any]]:
    """Collect warnings instead of showing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def join_warnings(caught: Sequence[Any]) -> str:
    """Each different warning once, a line each; those meant for developers are left out."""
    if not caught:
        return ""
    for_developers = (DeprecationWarning, PendingDeprecationWarning)
    for_users = (warning for warning in caught if not issubclass(warning.category, for_developers))
    return join_notes(map(_format_warning, for_users))


def join_notes(notes: "Iterator[str] | Sequence[str]") -> str:
    """Different notes, a line each."""
    return "\n".join(dict.fromkeys(filter(None, notes)))


def _format_warning(warning: Any) -> str:
    if isinstance(warning.message, FewerFeaturesWarning):
        return warning.message.note
    return f"{warning.category.__name__}: {' '.join(str(warning.message).split())}"


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


Coefficients = NDArray[np.float32]


class SplitCoefficients(NamedTuple):
    """What the model of one split does with its features: these ascending, and a coefficient for each.

    A coefficient is that of the feature in units of its standard deviation on the training rows: by how much a model's
    predicted number, or its decision value for the second of two classes, rises with it.
    """

    split: int
    features: NDArray[np.int32]
    values: Coefficients


def model_coefficients(context: "Context", selection: Selection, model: Any) -> NDArray[np.float64] | None:
    """The coefficients of the selected columns in a fitted model, and of the covariates after them; None without."""
    if selection.kind != "subset" or context.n_classes > 2:
        return None
    if type(model) in (LinearClassifier, LinearRegressor):
        return _own_coefficients(model, selection.values)
    if context.estimator is None:  # a selector's own model, of all features
        coef = read_coefficients(model, len(context.names))
        return None if coef is None else coef[selection.values]
    beside = 0 if context.covariates is None else context.covariates.shape[1]
    return read_coefficients(model, selection.values.size + beside)


def _own_coefficients(model: Any, selected: NDArray[Any]) -> NDArray[np.float64] | None:
    """Weights of the selected features in a selector's own model; 0 for those that it does not use."""
    if model.coef.shape[0] != 1:
        return None
    if np.array_equal(model.columns, selected):
        return model.coef[0]
    weight = dict(zip(model.columns.tolist(), model.coef[0].tolist(), strict=True))
    return np.array([weight.get(column, 0.0) for column in selected.tolist()])


def standardize_coefficients(
    context: "Context", cells: "Sequence[Cell]", coefficients: Sequence[NDArray[np.float64] | None] | None
) -> list[Coefficients | None]:
    """Coefficients of each cell's features, ascending, times their standard deviations on its training rows."""
    found: list[Coefficients | None] = [None] * len(cells)
    known = [] if coefficients is None else [place for place, coef in enumerate(coefficients) if coef is not None]
    known = [place for place in known if cells[place].selection.kind == "subset"]
    table = context.effect_table
    if coefficients is None or not known or table is None:
        return found
    lists = [cells[place].selection.values for place in known]
    starts = np.concatenate([[0], np.cumsum([columns.size for columns in lists])])
    columns = np.concatenate(lists)
    used, places = np.unique(columns, return_inverse=True)
    split_at = {cells[place].place: cells[place].split for place in known}
    number = {place: index for index, place in enumerate(split_at)}
    spreads = training_spreads(
        np.ascontiguousarray(table[:, used].T, dtype=np.float64),
        np.array([split.weights(table.shape[0]) for split in split_at.values()], dtype=np.float64),
        [number[cells[place].place] for place in known], places, starts,
    )  # fmt: skip
    raw = np.concatenate([coefficients[place][: own.size] for place, own in zip(known, lists, strict=True)])  # type: ignore[index]
    owner = np.repeat(np.arange(len(known)), np.diff(starts))
    values = (raw * spreads).astype(np.float32)[np.argsort(owner * (used.size + 1) + places, kind="stable")]
    for index, place in enumerate(known):
        found[place] = values[starts[index] : starts[index + 1]]
    return found


NO_SCORES: Mapping[str, float] = {}
NO_NOTES: Mapping[int, str] = {}


class Cell(NamedTuple):
    """A selection to predict from: on the split at this place of the block."""

    place: int
    split: Split
    selection: Selection


class Scored(NamedTuple):
    """What is stored of a cell: its scores, the predictions for held-out rows, or why there are none.

    ``coefficients`` are those of a linear model, see :mod:`~holdfast.study.work`.
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


Columns = NDArray[np.int32]

RANKED = 100
"""Of a ranking or weights, the effects of so many of the best features are stored."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
FEWEST = 8
"""Classes of fewer rows have no quantiles: these would be close to the values of single rows."""
MOST_QUANTILES = 200
"""Quantiles are stored for so many features of a family: those that most splits selected."""
THIRDS = ("lowest third", "middle third", "highest third")
"""Groups of rows by the target, where that is a number."""


class SplitEffects(NamedTuple):
    """Effects of the features that a family selected on one split: features ascending, one row of values for each."""

    family: str
    split: int
    features: Columns
    values: NDArray[np.float32]


def why_no_effects(X: Any) -> str | None:
    """Why no effects are computed for such data, in words; None if they are."""
    if sp.issparse(X):
        return "the data are a sparse matrix"
    try:
        _as_table(X)
    except (ValueError, TypeError):
        return "the features are not all numbers"
    return None


def effect_table(X: Any) -> NDArray[Any] | None:
    """The features as numbers, rows × features, as they stand in memory; None if effects are not computed for them."""
    return None if why_no_effects(X) else _as_table(X)


def _as_table(X: Any) -> NDArray[Any]:
    table = X.to_numpy() if hasattr(X, "columns") else np.asarray(X)
    return table if table.dtype.kind in "biuf" else table.astype(np.float64)


def holds_out(split: Split, n_rows: int) -> bool:
    """Whether there are held-out rows, and none of them is trained on."""
    trained = np.zeros(n_rows, dtype=bool)
    trained[split.rows] = True
    return bool(split.test.size) and not trained[split.test].any()


# While the study runs


def block_effects(
    context: "Context", family: str, splits: Sequence[Split], fitted: "Sequence[FittedSplit]"
) -> list[SplitEffects]:
    """Effects of all features that the candidates of a family selected on a block of splits."""
    if context.effect_table is None:
        return []
    selected = [
        [best_features(result.kind, result.values) for result, _ in results.fits.values() if _is_selection(result)]
        for results in fitted
    ]
    places = [place for place, lists in enumerate(selected) if lists]
    return compute_effects(context, family, [splits[place] for place in places], [selected[place] for place in places])


def _is_selection(result: Selection | Exception) -> TypeGuard[Selection]:
    return isinstance(result, Selection)


def best_features(kind: Kind, values: NDArray[Any]) -> NDArray[Any]:
    """The selected features; of a ranking or weights the best ones, without those that are not ordered or used."""
    if kind == "subset":
        return values
    informative = values > 0 if kind == "weighting" else (values < values.max()) | (values == 1)
    best = np.argsort(-values if kind == "weighting" else values, kind="stable")[:RANKED]
    return best[informative[best]]


def compute_effects(
    context: "Context", family: str, splits: Sequence[Split], selected: Sequence[Sequence[NDArray[Any]]]
) -> list[SplitEffects]:
    """Effects on each split of the features in any of its lists; none on splits that test rows they were trained on."""
    table, none = context.effect_table, np.empty(0, np.int32)
    if table is None or not splits:
        return []
    features = [
        _unite(lists) if holds_out(split, table.shape[0]) else none
        for split, lists in zip(splits, selected, strict=True)
    ]
    sizes = [columns.size for columns in features]
    used, place = np.unique(np.concatenate([none, *features]), return_inverse=True)
    values = held_out_effects(
        np.ascontiguousarray(table[:, used].T, dtype=np.float64), context.codes, context.n_classes,
        [split.test for split in splits], np.repeat(np.arange(len(splits)), sizes), place,
    ).astype(np.float32)  # fmt: skip
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [
        SplitEffects(family, split.index, columns, part)
        for split, columns, part in zip(splits, features, parts, strict=True)
    ]


def _unite(lists: Sequence[NDArray[Any]]) -> Columns:
    """The features in any list, ascending; a list names a feature once."""
    return (np.sort(lists[0]) if len(lists) == 1 else np.unique(np.concatenate(lists))).astype(np.int32)


def join_effects(parts: Iterable[SplitEffects]) -> list[SplitEffects]:
    """Join effects of the same family and split: those of a feature are equal, whoever selected it."""
    by_split: dict[tuple[str, int], list[SplitEffects]] = {}
    for part in parts:
        by_split.setdefault((part.family, part.split), []).append(part)
    return [same[0] if len(same) == 1 else _join_same(same) for same in by_split.values()]


def _join_same(parts: Sequence[SplitEffects]) -> SplitEffects:
    features, first = np.unique(np.concatenate([part.features for part in parts]), return_index=True)
    return parts[0]._replace(features=features, values=np.concatenate([part.values for part in parts])[first])


def pack_effects(effects: SplitEffects) -> tuple[str, int, bytes, bytes]:
    """The row of a store that holds these effects."""
    return (
        effects.family, effects.split, effects.features.astype("<i4", copy=False).tobytes(),
        effects.values.astype("<f4", copy=False).tobytes(),
    )  # fmt: skip


def unpack_effects(row: tuple[str, int, bytes, bytes], n_classes: int) -> SplitEffects:
    """The effects in the row of a store."""
    family, split, features, values = row
    width = effect_width(n_classes)
    return SplitEffects(
        family, split, np.frombuffer(features, dtype="<i4"), np.frombuffer(values, dtype="<f4").reshape(-1, width)
    )


# Quantiles


def group_rows(target: NDArray[Any], n_classes: int) -> NDArray[np.int64]:
    """The group of each row: its class, or the third of the target that it is in."""
    if n_classes:
        return target.astype(np.int64)
    return np.searchsorted(np.quantile(target, [1 / 3, 2 / 3]), target, side="left").astype(np.int64)


def count_features(lists: Iterable[tuple[str, bytes]], n_features: int) -> dict[str, NDArray[np.int64]]:
    """How many splits selected each feature, for each family, from the lists of effects that a store holds."""
    by_family: dict[str, list[bytes]] = {}
    for family, features in lists:
        by_family.setdefault(family, []).append(features)
    return {
        family: np.bincount(np.frombuffer(b"".join(blobs), dtype="<i4"), minlength=n_features)
        for family, blobs in by_family.items()
    }


def quantile_rows(context: "Context", counts: Mapping[str, NDArray[np.int64]]) -> list[tuple[str, int, bytes]]:
    """Quantiles by group of the features that most splits selected, as rows of a store: family, feature, values."""
    if context.effect_table is None:
        return []
    often = {
        family: np.sort([feature for feature in np.argsort(-times, kind="stable")[:MOST_QUANTILES] if times[feature]])
        for family, times in counts.items()
    }
    used = sorted(set(chain.from_iterable(columns.tolist() for columns in often.values())))
    groups = group_rows(context.codes, context.n_classes)
    quantiles = find_quantiles(context.effect_table[:, used], groups, context.n_classes or len(THIRDS))
    blobs = dict(zip(used, (values.astype("<f8").tobytes() for values in quantiles), strict=True))
    return [(family, int(feature), blobs[int(feature)]) for family, columns in often.items() for feature in columns]


def find_quantiles(table: NDArray[Any], groups: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    """Quantiles of each column in each group (columns × groups × quantiles); ``nan`` for groups of few rows.

    They are rounded to about a hundredth of their range, so that none is the exact value of a row.
    """
    quantiles = np.full((table.shape[1], n_groups, len(QUANTILES)), np.nan)
    for group in range(n_groups):
        values = np.asarray(table[groups == group], dtype=np.float64)
        whole = np.isfinite(values).all(axis=0) & (values.shape[0] >= FEWEST)
        if whole.any():
            quantiles[whole, group] = np.quantile(values[:, whole], QUANTILES, axis=0).T
        for column in np.flatnonzero(~whole):
            known = values[np.isfinite(values[:, column]), column]
            if known.size >= FEWEST:
                quantiles[column, group] = np.quantile(known, QUANTILES)
    return np.array([_round(of_column) for of_column in quantiles]).reshape(quantiles.shape)


def _round(quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round the quantiles of one feature to about a hundredth of their range."""
    known = quantiles[np.isfinite(quantiles)]
    spread = float(np.ptp(known)) if known.size else 0.0
    return quantiles if not 0 < spread < np.inf else np.round(quantiles, 2 - math.floor(math.log10(spread)))


FastModels: TypeAlias = Literal[True, "identical", False]
ModelFits: TypeAlias = Literal["scikit-learn", "identical", "optimum"]


class Task(NamedTuple):
    """A family, the splits to fit it on, and the places of its settings."""

    family: int
    splits: tuple[int, ...]
    settings: tuple[int, ...]


class Outcome(NamedTuple):
    """What one candidate did on one split, as it is stored.

    ``values`` are None where the selection failed, and where it is the beginning of an order that is stored beside.
    """

    family: int
    candidate: int
    split: int
    kind: Kind | None = None
    values: NDArray[Any] | None = None
    scores: Mapping[str, float] = NO_SCORES
    predictions: NDArray[Any] | None = None
    coefficients: Coefficients | None = None
    seconds: float = 0.0
    score_seconds: float = 0.0
    note: str = ""
    failure: Failure | None = None


class SplitOrder(NamedTuple):
    """An order of features on one split, and the candidates of a family that are cuts of it."""

    family: int
    candidates: tuple[int, ...]
    split: int
    order: Order


class Finished(NamedTuple):
    """What a piece of work gives: outcomes of candidates, the orders they are cuts of, seconds, effects of features."""

    outcomes: list[Outcome]
    orders: list[SplitOrder]
    seconds: float = 0.0
    effects: Sequence[SplitEffects] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Context:
    """All that a piece of work needs to know; sent to every process once."""

    X: Any
    covariates: Any
    y: NDArray[Any]
    names: Sequence[str]
    samples: Samples
    classes: NDArray[Any] | None
    families: Sequence[Family]
    shared: Mapping[int, Any]
    perturbation: Perturbation
    seed: int
    estimator: Any
    fast_models: FastModels
    device: str
    scorers: Mapping[str, Scorer]
    keep_predictions: bool
    made: Mapping[int, Split] = field(default_factory=dict)  # splits of small data; other processes make their own

    @property
    def task(self) -> str:
        """Whether classes or numbers are predicted."""
        return "regression" if self.classes is None else "classification"

    @property
    def groups(self) -> NDArray[Any] | None:
        """The group of each row."""
        return self.samples.groups

    @cached_property
    def table(self) -> NDArray[Any]:
        """The features without their names."""
        return self.X if not hasattr(self.X, "columns") else self.X.to_numpy()

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The features as numbers, dense: made once in every process."""
        return as_numbers(self.X)

    @cached_property
    def codes(self) -> NDArray[Any]:
        """The target as numbers: of classes, or to predict."""
        return self.y.astype(np.float64) if self.classes is None else np.searchsorted(self.classes, self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 if numbers are predicted."""
        return 0 if self.classes is None else self.classes.size

    @cached_property
    def effect_table(self) -> NDArray[Any] | None:
        """The features as numbers, for their effects; None if there are none for such data."""
        return effect_table(self.X)

    # Models

    @cached_property
    def block_model(self) -> BlockModel | None:
        """The model in a form that fits whole blocks; None if there is none for it, or for such data."""
        if self.estimator is None or not self.fast_models or sp.issparse(self.X):
            return None
        if self.table.dtype in (np.float16, np.float32):  # scikit-learn would compute in as few digits
            return None
        model = recognize(self.estimator, self.n_classes, self.fast_models, self.device)
        return model if model is not None and np.isfinite(self.model_table).all() else None

    @cached_property
    def model_table(self) -> NDArray[np.float64]:
        """All features, then the covariates, as numbers."""
        if self.covariates is None:
            return self.numbers
        return np.ascontiguousarray(np.hstack([self.numbers, self.covariates]), dtype=np.float64)

    @cached_property
    def covariate_columns(self) -> NDArray[np.int64] | None:
        """Where the covariates stand in that table; None if there are none."""
        return None if self.covariates is None else np.arange(self.numbers.shape[1], self.model_table.shape[1])

    @cached_property
    def validated(self) -> set[str]:
        """What was fitted in this process: scikit-learn need not validate its parameters again."""
        return set()

    def split(self, index: int) -> Split:
        """Make a split again, unless it is at hand."""
        if index in self.made:
            return self.made[index]
        return self.perturbation.make_split(index, self.samples, self.seed)


def work(context: Context, task: Task) -> Finished:
    """Fit a family on a block of splits: select, score, and return the outcome of each candidate."""
    begun = perf_counter()
    family, splits = context.families[task.family], [context.split(index) for index in task.splits]
    with fitting():
        selected = list(_select(context, task, splits))
        with without_collecting():
            cells = _list_cells(context, splits, selected)
        scored = dict(zip(cells, score_cells(context, splits, list(cells.values())), strict=True))
    with without_collecting():
        outcomes = [
            _make_outcome(context, task, place, candidate, selected, scored)
            for place in range(len(splits))
            for candidate in selected[place].fitted.fits
        ]
        orders = [
            order
            for split, (results, _) in zip(splits, selected, strict=True)
            for order in _find_cuts(family, task, split, results)
        ]
        effects = block_effects(context, family.name, splits, [results for results, _ in selected])
    return Finished(outcomes, orders, perf_counter() - begun, effects)


class Selected(NamedTuple):
    """What a family selected on one split, and the warnings meanwhile."""

    fitted: FittedSplit
    note: str


def _select(context: Context, task: Task, splits: Sequence[Split]) -> Iterator[Selected]:
    family = context.families[task.family]
    fitted = family.run(context.shared.get(task.family), context, splits, task.settings)
    for _ in splits:
        with record_warnings() as caught:
            results = next(fitted, None)
        if results is None:
            raise RuntimeError(f"{family.name} returned fewer results than splits.")
        yield Selected(results, join_warnings(caught))


Key = tuple[int, bytes | int]


def _list_cells(context: Context, splits: Sequence[Split], selected: Sequence[Selected]) -> dict[Key, Cell]:
    """What is to be scored: on every split, each different selection once."""
    return {
        _key(context, place, candidate, fit.result): Cell(place, splits[place], fit.result)
        for place, (results, _) in enumerate(selected)
        for candidate, fit in results.fits.items()
        if isinstance(fit.result, Selection)
    }


def _key(context: Context, place: int, candidate: int, selection: Selection) -> Key:
    """What tells models apart: with an estimator the selected columns, else every candidate has its own."""
    alike = context.estimator is not None and selection.kind == "subset"
    return place, selection.values.tobytes() if alike else candidate


def _make_outcome(
    context: Context, task: Task, place: int, candidate: int, selected: Sequence[Selected], scored: Mapping[Key, Scored]
) -> Outcome:
    """What a candidate did on the split at this place."""
    results, note = selected[place]
    selection, seconds = results.fits[candidate]
    split = task.splits[place]
    if isinstance(selection, Exception):
        failure = Failure.from_exception("select", selection)
        return Outcome(task.family, candidate, split, seconds=seconds, note=note, failure=failure)
    score = scored[_key(context, place, candidate, selection)]
    return Outcome(
        family=task.family,
        candidate=candidate,
        split=split,
        kind=selection.kind,
        values=_own_values(context.families[task.family], candidate, selection, results.orders),
        scores=score.scores,
        predictions=score.predictions,
        coefficients=score.coefficients,
        seconds=seconds,
        score_seconds=score.seconds,
        note=_join(note, selection.note, score.note),
        failure=score.failure,
    )


def _join(*notes: str) -> str:
    """All lines of several notes, each once."""
    return "" if not any(notes) else join_notes([line for note in notes if note for line in note.split("\n")])


def _find_cuts(family: Family, task: Task, split: Split, results: FittedSplit) -> Iterator[SplitOrder]:
    """The orders of a split, each with those candidates of these settings that take their selection from it."""
    for number, order in results.orders.items():
        sizes = family.orderings[number].sizes
        cuts = tuple(candidate for candidate in sizes if candidate in results.fits)
        yield SplitOrder(task.family, cuts, split.index, order)


def _own_values(
    family: Family, candidate: int, selection: Selection, orders: Mapping[int, Order]
) -> NDArray[Any] | None:
    """What a candidate selected; None if it is the beginning of an order, which is stored once for all sizes."""
    number = family.ordering_of.get(candidate, -1)
    order = orders.get(number)
    is_cut = order is not None and order.begins_with(selection, family.orderings[number].sizes[candidate])
    return None if is_cut else selection.values


# Around a piece of work

# Threads of one process share NumPy's random state and the filters of warnings, so only one of them fits at a time.
_fit_lock = threading.RLock()


@lru_cache(maxsize=1)
def _thread_limits() -> ThreadpoolController:
    return ThreadpoolController()  # looking for the libraries takes milliseconds


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS to one thread: two give other bits than one, and collapse where there are many workers."""
    with _thread_limits().limit(limits=1):
        yield


@contextmanager
def fitting() -> Iterator[None]:
    """Fit alone in this process, with BLAS on one thread, and leave NumPy's random state as it was."""
    with _fit_lock, one_thread(), _restore_random_state():
        yield


@contextmanager
def _restore_random_state() -> Iterator[None]:
    """Put NumPy's global random state back; fits seed it, for selectors that use it."""
    before = np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
