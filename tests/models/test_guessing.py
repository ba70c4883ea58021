"""Guessing is scored for many splits at once, with the numbers of scikit-learn's dummies fitted one by one."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import fbeta_score, make_scorer

import holdfast as hf
from holdfast.resampling import Split
from holdfast.study.data import StudyData
from holdfast.study.scoring import ALWAYS, Scoring, find_scorer, score_guesses
from holdfast.targets import Target

ALWAYS_BEST = {"accuracy"}
PRIOR_BEST = {"roc_auc", "roc_auc_ovr", "average_precision", "neg_log_loss", "neg_brier_score"}
LABELS = {
    "numbers": lambda k: np.arange(k),
    "words": lambda k: np.array(["ash", "birch", "cedar"])[:k],
    "from 2": lambda k: np.arange(k) + 2.0,
}


def own(model, X, y):
    """A score of one's own, which asks for anything."""
    return float(np.mean(model.predict(X) == y)) + hasattr(model, "class_prior_")


OF_CLASSES = {
    **{name: name for name in ("accuracy", "balanced_accuracy", "f1", "f1_macro", "precision", "matthews_corrcoef")},
    **{name: name for name in sorted(PRIOR_BEST)},
    "own": own,
    "f2": make_scorer(fbeta_score, beta=2),
}
OF_NUMBERS = {name: name for name in ("r2", "neg_mean_absolute_error", "neg_median_absolute_error", "neg_max_error")}


def make_data(y, classes=None):
    target = Target.of(y, False) if classes is None else Target(np.searchsorted(classes, y), classes)
    return StudyData(X=None, covariates=None, y=y, groups=None, names=[], named=False, target=target)


def make_scoring(named):
    return Scoring(estimator=None, scorers={name: find_scorer(score) for name, score in named.items()})


def slow_guesses(data, scoring, splits):
    """What is stored of guessing: each dummy fitted to each split, and scored by scikit-learn."""
    rows = []
    for split in splits:
        if not split.test.size or np.isin(split.test, split.rows).any():
            continue
        for strategy in strategies(data.classes):
            model = fit(data, split, strategy)
            rows += [
                (split.index, strategy, name, value(scorer.scorer, model, data.y[split.test]))
                for name, scorer in scoring.scorers.items()
                if not (name in ALWAYS_BEST and not strategy.startswith(ALWAYS))
                and not (name in PRIOR_BEST and strategy != "prior")
            ]
    return rows


def strategies(classes):
    if classes is None:
        return ["mean", "median"]
    return ["prior", "stratified", *(f"{ALWAYS}{label}" for label in classes)]


def fit(data, split, strategy):
    y = data.y[split.train]
    if data.classes is None:
        model = DummyRegressor(strategy=strategy)
    elif strategy.startswith(ALWAYS):
        labels = {f"{ALWAYS}{label}": label for label in data.classes}
        model, y = DummyClassifier(strategy="constant", constant=np.array([labels[strategy]])), data.classes
    else:
        model = DummyClassifier(strategy=strategy, random_state=split.seed)
    return model.fit(np.zeros((len(y), 1)), y)


def value(scorer, model, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(scorer(model, np.zeros((y.size, 1)), y))
        except Exception:
            return math.nan


def assert_guessed_as_by_dummies(data, scoring, splits):
    """Raise unless scores of guessing are those of dummies, and there are some."""
    found, expected = score_guesses(data, scoring, splits), slow_guesses(data, scoring, splits)
    assert expected
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    np.testing.assert_allclose([row.value for row in found], [row[3] for row in expected], rtol=1e-12, atol=1e-14)


@settings(max_examples=15)
@given(
    labels=st.sampled_from(sorted(LABELS)),
    k=st.integers(2, 3),
    rare=st.booleans(),
    n_splits=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
@pytest.mark.slow
def test_classes_are_guessed_as_by_dummies(labels, k, rare, n_splits, seed):
    rng = np.random.default_rng(seed)
    classes, numbers = LABELS[labels](k), np.r_[np.arange(k), rng.integers(0, k, 25)]
    if rare:  # then some splits are trained, and some are scored, without one of the classes
        numbers[k:] = rng.integers(0, 2, 25) * (rng.random(25) < 0.1)
    data = make_data(classes[numbers], classes)
    assert_guessed_as_by_dummies(
        data,
        make_scoring(OF_CLASSES),
        list(hf.Bootstrap(n_splits, stratify=False).splits(data.y, random_state=seed % 1000)),
    )


@settings(max_examples=15)
@given(
    kind=st.sampled_from(["float64", "int64", "float32"]), n_splits=st.integers(1, 4), seed=st.integers(0, 2**32 - 1)
)
def test_numbers_are_guessed_as_by_dummies(kind, n_splits, seed):
    y = (10 * np.random.default_rng(seed).exponential(size=30)).astype(kind)
    assert_guessed_as_by_dummies(
        make_data(y),
        make_scoring(OF_NUMBERS),
        list(hf.Subsample(n_splits, 0.8).splits(y, stratified=False, random_state=seed % 1000)),
    )


def test_splits_that_hold_nothing_out_are_left_out():
    y = np.arange(12) % 2
    data, scoring = make_data(y, np.arange(2)), make_scoring({"accuracy": "accuracy"})
    rows = np.arange(8)
    splits = [
        Split(index=0, label="none", rows=rows, seed=0),
        Split(index=1, label="seen", rows=rows, seed=0, test=np.arange(6, 10)),
        Split(index=2, label="unseen", rows=rows, seed=0, test=np.arange(8, 12)),
    ]
    assert {row.split for row in score_guesses(data, scoring, splits)} == {2}
    assert_guessed_as_by_dummies(data, scoring, splits)
    assert score_guesses(data, scoring, []) == []


def test_many_splits_give_what_each_gives_alone():
    y = np.random.default_rng(0).integers(0, 3, 40)
    data, scoring = make_data(y, np.arange(3)), make_scoring(OF_CLASSES)
    splits = list(hf.Bootstrap(12).splits(y, random_state=0))
    together = score_guesses(data, scoring, splits)
    alone = [row for split in splits for row in score_guesses(data, scoring, [split])]
    assert repr(together) == repr(alone)


@pytest.mark.parametrize("metric", ["accuracy", "neg_log_loss", "roc_auc"])
def test_no_dummy_is_fitted_for_the_usual_scores(metric, monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a dummy was fitted")

    monkeypatch.setattr("holdfast.study.scoring.DummyClassifier", refuse)
    y = np.arange(40) % 2
    data, scoring = make_data(y, np.arange(2)), make_scoring({metric: metric})
    found = score_guesses(data, scoring, list(hf.Bootstrap(5).splits(y, random_state=0)))
    assert found
    assert all(math.isfinite(row.value) for row in found)
