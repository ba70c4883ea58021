"""Guessing as the baseline of every score: what is stored, what is tested, and that noise is not told as holding."""

import os
import warnings
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, get_scorer, make_scorer
from sklearn.naive_bayes import GaussianNB

import holdfast as hf
from holdfast.report import summarize
from holdfast.report.verdict import find_standing, match_headline
from holdfast.selectors import AnovaF
from holdfast.tradeoff.selected import compare_with_guessing, judge_features
from results import make_result, scores_around, sets_with_core

heavy = pytest.mark.skipif(
    not os.environ.get("HOLDFAST_HEAVY"), reason="a simulation of minutes; set HOLDFAST_HEAVY=1 to run it"
)
N = 60
X = np.random.default_rng(0).normal(size=(N, 50))
Y = np.arange(N) % 2


def cost(model, X, y):
    """A score of one's own: what is right, less half of the missed positives."""
    predicted = model.predict(X)
    return float(np.mean(predicted == y) - 0.5 * np.mean((predicted == 0) & (y == 1)))


CLASSES = {"accuracy": "accuracy", "neg_log_loss": "neg_log_loss", "f1": "f1", "roc_auc": "roc_auc", "own": cost}
NUMBERS = {"r2": "r2", "mse": "neg_mean_squared_error", "mae": "neg_mean_absolute_error"}
SIZES = {1: [5], 4: [2, 5, 10, 20]}
PERTURBATIONS = {"ten folds": hf.Folds(10), "bootstrap": hf.Bootstrap(30), "subsamples": hf.Subsample(30, 0.8)}


def studied(perturbation, y, sizes=(5,), scoring="accuracy", data=X, estimator=None, **options):
    if np.asarray(y).dtype.kind == "f":
        family = hf.Candidates(SelectKBest(f_regression), {"k": list(sizes)})
        model = estimator or LinearRegression()
    else:
        family, model = hf.Candidates(AnovaF(), {"n_features": list(sizes)}), estimator or GaussianNB()
    study = hf.Study(
        selectors={"filter": family}, perturbation=perturbation, estimator=model, scoring=scoring, **options
    )
    return study.run(data, y)


def claims(result, metric):
    """Whether a report says that the selection, or any feature, holds."""
    if not any(compare_with_guessing(result, name, metric).shown for name in result.candidates):
        return False  # then no report says so, as the tests below show
    summary = summarize(result, metric=metric)
    return summary.verdict.standing in ("holds", "partly") or bool(summary.features.holding)


# What is stored


@pytest.mark.parametrize("metric", ["accuracy", "f1", "balanced_accuracy", "neg_log_loss", "roc_auc", "f1_macro"])
def test_guessing_scores_as_scikit_learn_s_dummies_do(metric):
    result = studied(hf.Folds(5), Y, scoring=metric)
    stored = result.guessing_scores(metric)
    splits = list(hf.Folds(5).splits(Y, random_state=0))
    for split in splits:
        for strategy in stored.columns:
            if strategy.startswith("always"):
                dummy = DummyClassifier(strategy="constant", constant=int(strategy[-1]))
            else:
                dummy = DummyClassifier(strategy=strategy, random_state=split.seed)
            dummy.fit(X[split.train], Y[split.train])
            expected = get_scorer(metric)(dummy, X[split.test], Y[split.test])
            assert stored.loc[split.index, strategy] == pytest.approx(expected)


def test_left_out_guesses_are_never_the_best():
    """Of scores whose best guess is known only that one is scored; all others score less, over all splits."""
    result = studied(hf.Folds(5), np.r_[np.zeros(40, int), np.ones(20, int)], scoring=["accuracy", "neg_log_loss"])
    y = np.r_[np.zeros(40, int), np.ones(20, int)]
    for metric in result.metrics:
        best = result.guessing_scores(metric).mean().max()
        for dummy in ("prior", "stratified", "uniform", "most_frequent"):
            scores = [
                get_scorer(metric)(
                    DummyClassifier(strategy=dummy, random_state=0).fit(X[s.train], y[s.train]), X[s.test], y[s.test]
                )
                for s in hf.Folds(5).splits(y, random_state=0)
            ]
            assert np.mean(scores) <= best + 1e-12


def test_numbers_are_guessed_by_mean_and_median():
    y = np.random.default_rng(0).exponential(size=N)
    result = studied(hf.Folds(4), y, scoring=NUMBERS)
    for metric, scorer in NUMBERS.items():
        stored = result.guessing_scores(metric)
        for split in hf.Folds(4).splits(y, stratified=False, random_state=0):
            for strategy in ("mean", "median"):
                dummy = DummyRegressor(strategy=strategy).fit(X[split.train], y[split.train])
                expected = get_scorer(scorer)(dummy, X[split.test], y[split.test])
                assert stored.loc[split.index, strategy] == pytest.approx(expected)
    assert result.guessing_scores("mae").mean().idxmax() == "median"


def test_f1_is_best_guessed_by_always_answering_the_positive_class():
    found = compare_with_guessing(studied(hf.Folds(5), Y, scoring="f1"), "filter")
    assert found.strategy == "always answering '1'"
    assert found.baseline == pytest.approx(2 / 3)


def test_with_covariates_guessing_knows_them():
    rng = np.random.default_rng(0)
    age = Y + 0.3 * rng.normal(size=N)
    table = pd.DataFrame(X, columns=[f"gene {i}" for i in range(50)]).assign(age=age)
    result = studied(hf.Bootstrap(15), Y, data=table, covariates=["age"])
    found = compare_with_guessing(result, result.candidates[0])
    assert found.strategy == "a model of the covariates alone"
    assert found.baseline > 0.8
    assert not found.shown  # what age tells is no merit of the genes


def test_guessing_depends_neither_on_processes_nor_on_interruptions(tmp_path):
    scoring = ["accuracy", "f1"]
    whole = studied(hf.Bootstrap(12), Y, scoring=scoring).stored.baselines
    study = hf.Study(
        selectors={"filter": AnovaF(n_features=5)},
        perturbation=hf.Bootstrap(12),
        estimator=GaussianNB(),
        scoring=scoring,
    )
    pd.testing.assert_frame_equal(study.run(X, Y, n_jobs=2).stored.baselines, whole)

    def stop(progress):
        if progress.done >= 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        study.run(X, Y, store=tmp_path / "study.db", progress=stop)
    import sqlite3

    with closing(sqlite3.connect(tmp_path / "study.db")) as connection, connection:
        connection.execute("DELETE FROM baselines WHERE split = 0")
    with pytest.warns(UserWarning, match=r"of \d+ baselines lost"):
        mended = study.run(X, Y, store=tmp_path / "study.db")
    pd.testing.assert_frame_equal(mended.stored.baselines, whole)
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection, connection:
        connection.execute("DELETE FROM baselines WHERE split = 5")
    with pytest.warns(UserWarning, match="baselines lost"):
        resumed = study.run(X, Y, store=tmp_path / "study.db")  # nothing else is left to do
    pd.testing.assert_frame_equal(resumed.stored.baselines, whole)


# What is tested


def asks_for_coefficients(model, X, y):
    return float(np.abs(model.coef_).sum())


UNTESTED = {
    "no model": (hf.Bootstrap(60), {"estimator": None}),
    "noise": (hf.Noise(60), {}),
    "new seeds": (hf.NewSeeds(60), {}),
    "a scorer that cannot score guessing": (hf.Bootstrap(60), {"scoring": asks_for_coefficients}),
    "rows that were trained on": ([(np.arange(N), np.arange(N))] * 60, {}),
}


@pytest.mark.parametrize("name", UNTESTED)
@pytest.mark.parametrize("signal", [True, False])
def test_without_a_test_nothing_is_said_to_hold(name, signal):
    perturbation, options = UNTESTED[name]
    data = X.copy()
    if signal:
        data[:, :5] += 3 * Y[:, None]
    study = hf.Study(
        selectors={"filter": AnovaF(n_features=5)}, perturbation=perturbation,
        **{"estimator": LogisticRegression(), **options},
    )  # fmt: skip
    summary = summarize(study.run(data, Y))
    assert summary.information.untested
    assert summary.verdict.standing in ("stable", "partly stable", "not stable", "too early")
    assert not summary.features.holding
    assert "holds" not in {one.verdict for one in summary.features.shown}
    if signal:
        assert summary.verdict.headline == "Stable; whether it carries information was not tested."
        assert summary.features.frequent[0].verdict == "selected often; whether it carries information was not tested"


def scored(gain, n_candidates=1, spread=0.05, n_runs=20):
    """Candidates that gain so much over guessing, of which the stability is high."""
    candidates = {
        f"c{i}": {"sets": sets_with_core(0.99), "scores": scores_around(0.5 + gain, n_runs, spread)}
        for i in range(n_candidates)
    }
    rows = [(run, "always 0", "accuracy", 0.5) for run in range(n_runs)]
    return make_result(candidates, baselines=rows)


def test_the_test_follows_its_formula_and_counts_all_candidates():
    from scipy.stats import t

    alone, many = scored(0.05), scored(0.05, 4)
    gains = scores_around(0.05, 20, 0.05)
    error = gains.std(ddof=1) * np.sqrt(1 / 20 + 20 / 80)
    found = compare_with_guessing(alone, "c0")
    assert found.gain == pytest.approx(0.05)
    assert found.gain_error == pytest.approx(error)
    assert found.p_value == pytest.approx(t.sf(0.05 / error, 19))
    assert compare_with_guessing(many, "c0").p_value == pytest.approx(4 * t.sf(0.05 / error, 19))


def test_equal_gains_have_no_spread_and_are_judged_by_their_sign():
    assert compare_with_guessing(scored(0.3, spread=0.0), "c0").shown
    assert not compare_with_guessing(scored(0.0, spread=0.0), "c0").shown


def test_a_feature_holds_only_where_the_headline_says_so():
    for gain, label in ((0.3, "holds"), (0.0, "selected often; not shown to carry information")):
        found = judge_features([0], scored(gain), "c0")
        assert found["verdict"].tolist() == [label]
    data = X.copy()
    data[:, :5] += 3 * Y[:, None]
    summary = summarize(studied(hf.Bootstrap(60), Y, data=data))
    assert len(summary.features.holding) == 5
    wide = replace(summary.stability, low=0.2, high=0.9)
    assert find_standing(wide, summary.information, summary.features) == "unsure"
    told = match_headline(summary.features, wide, summary.information)
    assert {one.verdict for one in told.frequent} == {"selected often"}


def test_some_features_can_hold_where_the_selection_does_not():
    data = X.copy()
    data[:, 0] += 4 * Y
    result = studied(hf.Bootstrap(40), Y, sizes=(15,), data=data)
    summary = summarize(result)
    assert summary.verdict.standing == "fails"
    trusted = [one.feature for one in summary.features.holding]
    assert "feature 0" in trusted
    assert summary.verdict.headline == f"The selection as a whole does not hold; {len(trusted)} of its features do."


# Simulations on shuffled targets


def shares(perturbation, n_candidates, n_shuffles, first):
    """In which share of shuffles something is said to hold, for each score."""
    found = dict.fromkeys([*CLASSES, *NUMBERS], 0)
    numbers = np.random.default_rng(5).normal(size=N)
    for seed in range(first, first + n_shuffles):
        rng = np.random.default_rng(seed)
        for y, scoring in ((rng.permutation(Y), CLASSES), (rng.permutation(numbers), NUMBERS)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = studied(perturbation, y, SIZES[n_candidates], scoring, random_state=seed)
                for metric in scoring:
                    found[metric] += claims(result, metric)
    return {metric: count / n_shuffles for metric, count in found.items()}


def test_noise_is_not_told_as_holding():
    """A light simulation; before guessing was scored, noise on ten folds was mostly said to hold by log loss or F1."""
    assert set(shares(hf.Folds(10), 1, 5, first=100).values()) == {0.0}
    assert set(shares(hf.Bootstrap(8), 4, 2, first=200).values()) == {0.0}


@heavy
@pytest.mark.parametrize("n_candidates", [1, 4])
@pytest.mark.parametrize("name", PERTURBATIONS)
def test_noise_is_told_as_holding_in_at_most_one_of_twenty_shuffles(name, n_candidates):
    n_shuffles = 100
    found = shares(PERTURBATIONS[name], n_candidates, n_shuffles, first=1000)
    print(name, n_candidates, found)
    assert max(found.values()) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_shuffles), found


@pytest.mark.parametrize(
    "perturbation",
    [
        hf.Bootstrap(60),
        *(pytest.param(one, marks=pytest.mark.slow) for one in (hf.Subsample(60, 0.8), hf.Folds(10, 6))),
    ],
    ids=str,
)
def test_signal_is_told_as_such(perturbation):
    data = X.copy()
    data[:, :5] += 2.5 * Y[:, None]
    result = studied(perturbation, Y, scoring=CLASSES, data=data)
    for metric in CLASSES:
        summary = summarize(result, metric=metric)
        assert summary.verdict.standing == "holds", metric
        assert len(summary.features.holding) == 5


def test_f1_of_one_s_own_make_is_scored_too():
    result = studied(hf.Bootstrap(5), Y, scoring={"mine": make_scorer(f1_score, pos_label=0)})
    assert compare_with_guessing(result, result.candidates[0]).strategy == "always answering '0'"
