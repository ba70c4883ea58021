"""Scores of a whole block of cells are what scikit-learn's scorers give for each cell, warnings and errors included."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, fbeta_score, get_scorer, get_scorer_names, make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from holdfast.declared import About
from holdfast.models import SCORES, Score
from holdfast.models.block import Predictions
from holdfast.models.scores import (
    Cells,
    ask_model,
    count_cells,
    join_predictions,
    needed_answers,
    number_classes,
    recognize_scorer,
    score_block,
    sum_cells,
)
from holdfast.study.scoring import find_scorer

LABELS = {
    "from 0": lambda k: np.arange(k),
    "from 1": lambda k: np.arange(1, k + 1),
    "about 0": lambda k: np.arange(k) * 2 - 1,
    "whole floats": lambda k: np.arange(k).astype(float),
    "words": lambda k: np.array(["ash", "birch", "cedar", "elm", "fir"])[:k],
    "words as objects": lambda k: np.array(["ash", "birch", "cedar", "elm", "fir"], dtype=object)[:k],
    "fractions": lambda k: np.arange(k) + 0.5,
    "truth values": lambda k: np.array([False, True]) if k == 2 else np.arange(k),
}


@dataclass
class Tables:
    """Random truths and answers of a few cells."""

    classes: np.ndarray | None
    truth: np.ndarray
    predictions: Predictions


class Repeats(BaseEstimator):
    """A model that repeats what it was told to answer, for the first column as row numbers."""

    def __init__(self, answers):
        self.answers = answers

    def predict(self, X):
        return self.answers["predict"][X[:, 0]]


class RepeatsValues(Repeats):
    def decision_function(self, X):
        return self.answers["decision_function"][X[:, 0]]


class RepeatsProbabilities(Repeats):
    def predict_proba(self, X):
        return self.answers["predict_proba"][X[:, 0]]


class Regressor(RegressorMixin, Repeats):
    pass


class WithBoth(ClassifierMixin, RepeatsValues, RepeatsProbabilities):
    pass


class WithProbabilities(ClassifierMixin, RepeatsProbabilities):
    pass


def model_of(tables):
    """The model that gave these answers, as scikit-learn would know it."""
    given = tables.predictions
    answers = {"predict": given.predict, "predict_proba": given.predict_proba}
    if tables.classes is None:
        return Regressor(answers)
    answers["predict"] = tables.classes[given.predict]
    if given.decision_function is None:
        model = WithProbabilities(answers)
    else:
        model = WithBoth({**answers, "decision_function": given.decision_function})
    model.classes_ = tables.classes
    return model


@st.composite
def class_tables(draw):
    """Cells of 2 to 5 classes, with ties, certain probabilities, constant predictions and missing classes."""
    k = draw(st.sampled_from([2, 2, 2, 3, 5]))
    classes = LABELS[draw(st.sampled_from(sorted(LABELS)))](k)
    sizes = draw(st.lists(st.integers(1, 12) | st.just(23), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, kind = sum(sizes), draw(st.sampled_from(["any", "any", "few", "one", "constant"]))
    among = {"few": min(k, 2), "one": 1}.get(kind, k)
    truth = rng.integers(0, among, n)
    proba = rng.dirichlet(np.ones(k), size=n)
    if draw(st.booleans()):  # ties, zeros and ones
        proba = np.eye(k)[rng.integers(0, k, n)] if draw(st.booleans()) else np.round(proba * 4) / 4
        proba[:, -1] = 1 - proba[:, :-1].sum(axis=1)
    predict = np.full(n, k - 1) if kind == "constant" else np.argmax(proba, axis=1)
    decision = None
    if draw(st.booleans()):
        decision = np.round(rng.normal(size=n if k == 2 else (n, k)), draw(st.integers(0, 3)))
    return Tables(classes, truth, Predictions(np.cumsum([0, *sizes]), predict, decision, proba))


@st.composite
def number_tables(draw):
    """Cells of 1 to 12 rows; constant and large numbers, and perfect predictions."""
    sizes = draw(st.lists(st.integers(1, 12) | st.just(300), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = sum(sizes)
    truth = {
        "any": rng.normal(size=n),
        "constant": np.full(n, 0.1),
        "whole": rng.integers(-3, 4, n),
        "far from 0": 1e6 + rng.normal(size=n),
    }[draw(st.sampled_from(["any", "constant", "whole", "far from 0"]))]
    predict = {
        "any": truth + rng.normal(size=n),
        "constant": np.full(n, 0.5),
        "right": truth.astype(float),
        "too large": np.full(n, 1e200),
        "infinite": np.where(rng.random(n) < 0.1, np.inf, truth),
    }[draw(st.sampled_from(["any", "any", "constant", "right", "too large", "infinite"]))]
    return Tables(None, truth, Predictions(np.cumsum([0, *sizes]), predict))


def expected_of(name, tables, cell):
    """What scikit-learn's scorer gives for a cell: value, error, warnings."""
    rows = np.arange(*tables.predictions.starts[cell : cell + 2])
    y = tables.truth[rows] if tables.classes is None else tables.classes[tables.truth[rows]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value, error = float(get_scorer(name)(model_of(tables), rows[:, None], y)), None
        except Exception as raised:
            value, error = np.nan, raised
    return value, error, [(warning.category, str(warning.message)) for warning in caught]


def check_score(name, tables):
    """A block scores as scikit-learn does, and every cell of it as it does alone."""
    scorers = {name: recognize_scorer(get_scorer(name))}
    assert scorers[name].block is SCORES[name].block
    scores = score_block(scorers, tables.truth, tables.predictions, tables.classes)
    for cell in range(tables.predictions.starts.size - 1):
        value, error, warned = expected_of(name, tables, cell)
        assert scores.values[name][cell] == pytest.approx(value, rel=1e-12, abs=1e-14, nan_ok=True)
        found = scores.errors.get(cell)
        assert (type(found), str(found)) == (type(error), str(error))
        assert [(w.category, str(w.message)) for w in scores.warnings.get(cell, [])] == warned
        alone = score_block(scorers, *only(tables, cell), tables.classes)
        assert alone.values[name].tobytes() == scores.values[name][cell : cell + 1].tobytes()


def only(tables, cell):
    """Truth and answers of one cell."""
    given, rows = tables.predictions, slice(*tables.predictions.starts[cell : cell + 2])
    kept = [None if values is None else values[rows] for values in (given.decision_function, given.predict_proba)]
    return tables.truth[rows], Predictions(np.array([0, rows.stop - rows.start]), given.predict[rows], *kept)


OF_CLASSES = [name for name, score in SCORES.items() if score.about.task == "classification"]
OF_NUMBERS = [name for name, score in SCORES.items() if score.about.task == "regression"]


@pytest.mark.parametrize("name", OF_CLASSES)
@settings(max_examples=15)
@given(tables=class_tables())
def test_scores_of_classes_are_those_of_scikit_learn(name, tables):
    check_score(name, tables)


@pytest.mark.parametrize("name", OF_NUMBERS)
@settings(max_examples=15)
@given(tables=number_tables())
def test_scores_of_numbers_are_those_of_scikit_learn(name, tables):
    check_score(name, tables)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_class_that_a_cell_knows_nothing_of_does_not_count(name):
    tables = ordinary_tables(k=3, n_cells=4)
    without = Predictions(tables.predictions.starts, tables.predictions.predict % 2, None, np.eye(3)[tables.truth % 2])
    check_score(name, Tables(tables.classes, tables.truth % 2, without))


@pytest.mark.parametrize("name", [name for name, record in SCORES.items() if isinstance(record.scorer, str)])
def test_every_record_says_what_scikit_learn_s_scorer_asks(name):
    method = get_scorer(SCORES[name].scorer)._response_method
    assert SCORES[name].answers == ((method,) if isinstance(method, str) else tuple(method))
    assert SCORES[name].block is not None


ORDINARY = {
    "accuracy",
    "roc_auc",
    "neg_log_loss",
    "balanced_accuracy",
    "f1_macro",
    "matthews_corrcoef",
    "neg_brier_score",
}


@pytest.mark.parametrize("name", sorted(ORDINARY))
def test_ordinary_cells_are_scored_without_scikit_learn(name):
    tables = ordinary_tables()
    assert np.isfinite(SCORES[name].block(Cells(tables.truth, tables.predictions, tables.classes))).all()


def ordinary_tables(k=2, n_cells=40, n=23):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(k), size=n * n_cells)
    truth = np.tile(np.arange(n) % k, n_cells)
    return Tables(np.arange(k), truth, Predictions(np.arange(n_cells + 1) * n, np.argmax(proba, axis=1), None, proba))


@given(sizes=st.lists(st.integers(1, 300), min_size=1, max_size=5), seed=st.integers(0, 2**32 - 1))
def test_sums_of_cells_are_numpy_s_to_the_last_bit(sizes, seed):
    rng, starts = np.random.default_rng(seed), np.cumsum([0, *sizes])
    values = rng.normal(size=starts[-1]) * 10.0 ** rng.integers(-8, 8, starts[-1])
    parts = np.split(values, starts[1:-1])
    assert sum_cells(values, starts).tolist() == [part.sum() for part in parts]
    assert count_cells(values > 0, starts).tolist() == [(part > 0).sum() for part in parts]


def test_what_a_cell_cannot_be_scored_by_is_its_own_error():
    tables = ordinary_tables(n_cells=3)
    tables.truth[:23] = 1
    scorers = {name: recognize_scorer(get_scorer(name)) for name in ("accuracy", "neg_log_loss", "roc_auc")}
    scores = score_block(scorers, tables.truth, tables.predictions, tables.classes)
    assert list(scores.errors) == [0]
    assert "only one label" in str(scores.errors[0])
    assert [all(np.isfinite(list(row.values()))) for row in scores.by_cell()] == [False, True, True]
    assert not scores.warnings  # the area under the curve is not asked for after the error


@pytest.mark.parametrize("k", [2, 3, 5])
def test_scores_do_not_depend_on_how_many_rows_are_handled_at_once(k, monkeypatch):
    tables = ordinary_tables(k, n_cells=30)
    scorers = {
        name: recognize_scorer(get_scorer(name)) for name in OF_CLASSES if k == 2 or name in ORDINARY - {"roc_auc"}
    }
    expected = score_block(scorers, tables.truth, tables.predictions, tables.classes).values
    for at_once in (1, 50, 500):
        monkeypatch.setattr("holdfast.models.scores.MAX_AT_ONCE", at_once)
        found = score_block(scorers, tables.truth, tables.predictions, tables.classes).values
        assert all(found[name].tobytes() == expected[name].tobytes() for name in scorers)


def test_no_cells_have_no_scores():
    empty = Predictions(np.array([0]), np.empty(0, int), None, np.empty((0, 2)))
    scorers = {name: recognize_scorer(get_scorer(name)) for name in OF_CLASSES}
    scores = score_block(scorers, np.empty(0, int), empty, np.arange(2))
    assert scores.by_cell() == []
    assert not scores.errors


# Which scorers are recognized


def test_scorers_of_scikit_learn_are_recognized_however_they_are_given():
    assert recognize_scorer(make_scorer(f1_score, average="macro", pos_label=None)).block is SCORES["f1_macro"].block
    for name in set(get_scorer_names()) - set(SCORES):
        assert recognize_scorer(get_scorer(name)).block is None


def test_scorers_with_other_options_ask_scikit_learn():
    own = recognize_scorer(make_scorer(fbeta_score, beta=2))
    assert (own.block, own.answers) == (None, ("predict",))
    assert recognize_scorer(make_scorer(f1_score, average="macro")).block is None
    tables = ordinary_tables()
    scores = score_block({"f2": own}, tables.truth, tables.predictions, tables.classes)
    rows = slice(0, 23)
    expected = fbeta_score(tables.truth[rows], tables.predictions.predict[rows], beta=2)
    assert scores.values["f2"][0] == expected


def test_callables_need_the_model_itself():
    own = recognize_scorer(lambda model, X, y: 1.0)
    assert own.answers is None
    assert needed_answers([own], lambda name: True) is None
    named = [recognize_scorer(get_scorer(name)) for name in ("accuracy", "roc_auc", "neg_log_loss")]
    assert needed_answers(named, lambda name: True) == {"predict", "decision_function", "predict_proba"}
    assert needed_answers(named, lambda name: name != "decision_function") == {"predict", "predict_proba"}
    assert needed_answers(named, lambda name: name != "predict_proba") is None


# Models that are fitted one at a time


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "model", [LogisticRegression(), GaussianNB(), LinearSVC()], ids=lambda model: type(model).__name__
)
def test_a_fitted_model_is_scored_as_scikit_learn_scores_it(model, k):
    X, numbers = make_classification(120, n_informative=6, n_classes=k, random_state=0)
    classes = np.array(["ash", "birch", "cedar"])[:k]
    y = classes[numbers]
    names = ["accuracy", "f1_macro", "average_precision"] if k == 3 else ["accuracy", "roc_auc"]
    if hasattr(model, "predict_proba"):
        names += ["roc_auc_ovr", "roc_auc_ovo_weighted", "neg_log_loss"]
    scorers = {name: recognize_scorer(get_scorer(name)) for name in names}
    model.fit(X[:80], y[:80])
    asked = needed_answers(scorers.values(), lambda name: hasattr(model, name))
    two = [ask_model(model, rows, asked, classes) for rows in (X[80:], X[70:100])]
    scores = score_block(scorers, np.r_[numbers[80:], numbers[70:100]], join_predictions(two), classes)
    for name in names:
        for cell, rows in enumerate([slice(80, None), slice(70, 100)]):
            expected = get_scorer(name)(model, X[rows], y[rows])
            assert scores.values[name][cell] == pytest.approx(expected, rel=1e-12)


def test_scores_of_one_s_own_may_have_an_array_function():
    about = About(name="share_of_zeros", summary="Share of zeros predicted.")
    SCORES.add(Score(about=about, scorer=lambda model, X, y: 7.0, block=lambda cells: cells.n_hits * np.nan))
    try:
        scorer = find_scorer("share_of_zeros")
        tables = ordinary_tables(n_cells=2)
        assert score_block({"mine": scorer}, tables.truth, tables.predictions, tables.classes).by_cell() == [
            {"mine": 7.0}, {"mine": 7.0}
        ]  # fmt: skip
    finally:
        SCORES.remove("share_of_zeros")


def test_models_that_do_not_know_all_classes_are_asked_themselves():
    X, y = make_classification(60, n_informative=4, n_classes=3, random_state=0)
    model = GaussianNB().fit(X[y < 2], y[y < 2])
    assert ask_model(model, X, {"predict"}, np.arange(3)) is None
    assert ask_model(Ridge().fit(X, y), X, {"predict"}, np.arange(3)) is None  # numbers instead of classes


def test_answers_of_other_kinds_are_left_to_the_model():
    X, y = make_classification(60, random_state=0)
    assert ask_model(Ridge().fit(X, y), X, {"predict"}, None).predict.dtype == np.float64
    single = Ridge().fit(X.astype(np.float32), y.astype(np.float32))
    assert ask_model(single, X.astype(np.float32), {"predict"}, None) is None  # rounded otherwise
    assert ask_model(Ridge().fit(X, np.c_[y, y]), X, {"predict"}, None) is None


def test_labels_become_numbers_of_classes():
    classes = np.array(["ash", "birch"])
    assert number_classes(np.array(["birch", "ash"]), classes).tolist() == [1, 0]
    assert number_classes(np.array(["birch", "zelkova"]), classes) is None
    assert number_classes(np.array([0, 1]), classes) is None
    assert number_classes(np.array([0.0, 1.0]), np.arange(2)).tolist() == [0, 1]
