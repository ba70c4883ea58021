"""Scores of a block of cells: by array functions where there are some, else by scikit-learn's scorers, cell by cell."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import get_scorer, make_scorer

from holdfast.models.block import ANSWERS, Floats, Ints, Predictions
from holdfast.models.cells import Cells, cut_cells
from holdfast.models.scores import SCORES

ScikitScorer = type(make_scorer(lambda truth, predicted: 0.0))


@dataclass(frozen=True, eq=False)
class Scorer:
    """A score as studies compute it.

    Attributes
    ----------
    scorer : callable
        ``(model, X, y) -> float``, scikit-learn's or a user's.
    block : callable, optional
        The same for many models at once, see :class:`holdfast.models.Score`.
    answers : tuple of str, optional
        What it needs of a model: the first of these methods that the model has. None if it may ask for anything.
    """

    scorer: Callable[[Any, Any, Any], float]
    block: Callable[[Cells], Floats] | None = None
    answers: tuple[str, ...] | None = None

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        """Score one model."""
        return self.scorer(model, X, y)

    def answer(self, has: Callable[[str], bool]) -> str | None:
        """Return the method that is asked of a model which has these; None if it has none of those needed."""
        return next((name for name in self.answers or () if has(name)), None)


def recognize_scorer(scorer: Any) -> Scorer:
    """Return scikit-learn's scorer or a callable with the array function of the same score, if one is known."""
    if isinstance(scorer, Scorer):
        return scorer
    if type(scorer) is not ScikitScorer:
        return Scorer(scorer)
    method = scorer._response_method
    answers = (method,) if isinstance(method, str) else tuple(method)
    if not set(answers) <= set(ANSWERS):
        return Scorer(scorer)
    block = None if hasattr(scorer, "_metadata_request") else _scikit_learn_blocks().get(_identity(scorer))
    return Scorer(scorer, block, answers)


def _identity(scorer: Any) -> tuple[Any, ...]:
    """All that a scorer of scikit-learn depends on."""
    method = scorer._response_method
    options = tuple(sorted((name, repr(value)) for name, value in scorer._kwargs.items()))
    return scorer._score_func, scorer._sign, options, (method,) if isinstance(method, str) else tuple(method)


@lru_cache(maxsize=1)
def _scikit_learn_blocks() -> dict[tuple[Any, ...], Callable[[Cells], Floats]]:
    """The array function of every scorer of scikit-learn that has one."""
    named = [score for score in SCORES.values() if isinstance(score.scorer, str) and score.block is not None]
    return {_identity(get_scorer(score.scorer)): score.block for score in named if score.block is not None}


def needed_answers(scorers: Iterable[Scorer], has: Callable[[str], bool]) -> set[str] | None:
    """Return the methods of a model that these scores ask for; None if one of them needs the model itself.

    Parameters
    ----------
    scorers : iterable of Scorer
        The scores.
    has : callable
        Tells of ``"predict"``, ``"predict_proba"`` and ``"decision_function"`` whether the model has that method.

    Returns
    -------
    set of str or None
        Names of methods.
    """
    needed = {scorer.answer(has) for scorer in scorers}
    return None if None in needed else {name for name in needed if name is not None}


@dataclass(frozen=True, eq=False)
class BlockScores:
    """Scores of the cells of a block.

    Attributes
    ----------
    values : dict of ndarray
        By the name of the score: its value for each cell; ``nan`` for cells with an error.
    errors : dict of Exception
        By cell: what its first score that failed raised.
    warnings : dict of list
        By cell: the warnings that scikit-learn's scorers gave, if any.
    """

    values: dict[str, Floats]
    errors: dict[int, Exception] = field(default_factory=dict)
    warnings: dict[int, list[Any]] = field(default_factory=dict)

    def by_cell(self) -> list[dict[str, float]]:
        """Return the scores of each cell by name; cells with an error are to be looked up in ``errors``."""
        columns = [values.tolist() for values in self.values.values()]
        return [dict(zip(self.values, row, strict=True)) for row in zip(*columns, strict=True)]


def score_block(
    scorers: Mapping[str, Scorer], truth: NDArray[Any], predictions: Predictions, classes: NDArray[Any] | None
) -> BlockScores:
    """Compute every score of every cell.

    Parameters
    ----------
    scorers : mapping of Scorer
        By name; none of them may need the model itself (see :func:`needed_answers`).
    truth : ndarray
        For each row the number of its class, from 0, or the number to predict.
    predictions : Predictions
        What models answered.
    classes : ndarray or None
        The labels of the classes, sorted; None if numbers are predicted.

    Returns
    -------
    BlockScores
        Values, and where they failed errors.
    """
    cells = Cells(truth, predictions, classes)
    values = {name: np.full(cells.sizes.size, np.nan) for name in scorers}
    for some in cut_cells(cells.starts):
        part = cells.part(some)
        for name, scorer in scorers.items():
            if scorer.block is not None and scorer.answer(part.has) is not None:
                values[name][some] = scorer.block(part)
    scores = BlockScores(values)
    unsure = [~np.isfinite(column) for column in values.values()]
    for cell in np.flatnonzero(np.logical_or.reduce(unsure)) if unsure else ():
        _ask_scikit_learn(scorers, cells, int(cell), scores)
    return scores


def _ask_scikit_learn(scorers: Mapping[str, Scorer], cells: Cells, cell: int, scores: BlockScores) -> None:
    """Fill in what the array functions left open in one cell, in the order of the scores, up to the first error."""
    model, y = stored_model(cells.predictions, cell, cells.classes), _labels(cells, cell)
    X = np.zeros((y.size, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for name, scorer in scorers.items():
                if not np.isfinite(scores.values[name][cell]):
                    scores.values[name][cell] = float(scorer(model, X, y))
        except Exception as error:
            scores.errors[cell] = error
            for column in scores.values.values():
                column[cell] = np.nan
    if caught:
        scores.warnings[cell] = list(caught)


def _labels(cells: Cells, cell: int) -> NDArray[Any]:
    truth = cells.truth[cells.starts[cell] : cells.starts[cell + 1]]
    return truth if cells.classes is None else cells.classes[truth]


# Models that are known by their answers only


class _Stored(BaseEstimator):
    """A fitted model that has been asked already; whatever rows it is given, it repeats its answers."""

    def __init__(self, answers: Mapping[str, NDArray[Any]]) -> None:
        self.answers = answers

    def __getattr__(self, name: str) -> Any:
        answers = self.__dict__.get("answers", {})
        if name not in answers:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def answer(X: Any) -> NDArray[Any]:
            return answers[name]

        answer.__name__ = name  # scikit-learn's scorers look methods up by their names
        return answer

    def __sklearn_is_fitted__(self) -> bool:
        return True


class StoredClassifier(ClassifierMixin, _Stored):
    """A fitted classifier that has been asked already."""


class StoredRegressor(RegressorMixin, _Stored):
    """A fitted regressor that has been asked already."""


def stored_model(predictions: Predictions, cell: int, classes: NDArray[Any] | None) -> Any:
    """Return what scikit-learn's scorers take for the fitted model of a cell."""
    of_cell = predictions.part(slice(cell, cell + 1))
    answers = {name: getattr(of_cell, name) for name in ANSWERS if getattr(of_cell, name) is not None}
    if classes is None:
        return StoredRegressor(answers)
    if "predict" in answers:
        answers["predict"] = classes[answers["predict"].astype(np.int64)]
    model = StoredClassifier(answers)
    model.classes_ = classes
    return model


# Models that are fitted one at a time


def ask_model(model: Any, X: Any, methods: Iterable[str], classes: NDArray[Any] | None) -> Predictions | None:
    """Ask a fitted model for its answers on held-out rows, each once.

    Parameters
    ----------
    model : object
        The fitted model.
    X : array
        The held-out rows.
    methods : iterable of str
        What to ask, see :func:`needed_answers`.
    classes : ndarray or None
        The labels of the classes, sorted; None if numbers are predicted.

    Returns
    -------
    Predictions or None
        Of a single cell; None if what the model answers cannot be written so, as where it was trained without one of
        the classes. Scores are then to be asked of the model itself.
    """
    if classes is not None and not (is_classifier(model) and np.array_equal(getattr(model, "classes_", ()), classes)):
        return None
    answers = {name: _as_stored(name, getattr(model, name)(X), classes) for name in methods}
    if any(values is None for values in answers.values()):
        return None
    n = next((len(values) for values in answers.values() if values is not None), 0)
    return Predictions(
        np.array([0, n]), answers.get("predict"), answers.get("decision_function"), answers.get("predict_proba")
    )


def _as_stored(name: str, values: Any, classes: NDArray[Any] | None) -> NDArray[Any] | None:
    """Answers as arrays: numbers of classes, or floats of the expected shape; None if they are something else."""
    values = np.asarray(values)
    if name == "predict" and classes is not None:
        return number_classes(values, classes)
    if classes is None:
        return values if values.ndim == 1 and values.dtype.kind in "fiu" and values.dtype != np.float32 else None
    columns = (classes.size,) if name == "predict_proba" or classes.size > 2 else ()
    return values if values.dtype == np.float64 and values.shape[1:] == columns else None


def number_classes(labels: NDArray[Any], classes: NDArray[Any]) -> Ints | None:
    """Return the number of the class of each label; None if one of them is no class."""
    if labels.ndim != 1 or (labels.dtype.kind in "OUS") != (classes.dtype.kind in "OUS"):
        return None
    numbers = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    return numbers if (classes[numbers] == labels).all() else None


def join_predictions(several: Sequence[Predictions]) -> Predictions:
    """Put the answers of blocks one after the other; all must have answered the same."""
    ends = np.cumsum([0, *(predictions.starts[-1] for predictions in several)])
    starts = [predictions.starts[:-1] + begin for predictions, begin in zip(several, ends, strict=False)]

    def joined(name: str) -> Any:
        parts = [getattr(predictions, name) for predictions in several]
        return None if not parts or parts[0] is None else np.concatenate(parts)

    weights = [coef for predictions in several for coef in _list_coefficients(predictions)]
    return Predictions(
        np.concatenate([*starts, ends[-1:]]), joined("predict"), joined("decision_function"), joined("predict_proba"),
        weights,
    )  # fmt: skip


def _list_coefficients(predictions: Predictions) -> Sequence[NDArray[np.float64] | None]:
    return [None] * (predictions.starts.size - 1) if predictions.coefficients is None else predictions.coefficients
