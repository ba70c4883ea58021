"""What a choice is worth on rows that took no part in it, and what pure noise looks like."""

import os

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf

heavy = pytest.mark.skipif(
    not os.environ.get("HOLDFAST_HEAVY"), reason="a simulation of minutes; set HOLDFAST_HEAVY=1 to run it"
)


def noise(seed, n=60, d=100):
    return np.random.default_rng(seed).standard_normal((n, d)), np.arange(n) % 2


def study(sizes=(1, 2, 4, 8, 16)):
    return hf.Study(
        selectors={"anova": hf.Candidates(SelectKBest(), {"k": list(sizes)})},
        perturbation=hf.Folds(3),
        estimator=KNeighborsClassifier(3),
    )


def scores(seeds, rule, n_outer=4):
    found = [hf.nested_choice(study(), *noise(seed), rule=rule, outer=hf.Folds(n_outer)) for seed in seeds]
    return np.array([(one.choice.score, one.promised) for one in found])


def test_the_nested_score_of_pure_noise_is_chance():
    honest, promised = scores(range(4), "accuracy", 3).T
    assert abs(honest.mean() - 0.5) < 3 * 0.5 / np.sqrt(4 * 60)  # four data sets of 60 rows
    assert promised.mean() > 0.52


@heavy
@pytest.mark.parametrize("rule", ["accuracy", "one-se", "not-worse", "knee", "weighted"])
def test_no_rule_beats_chance_on_noise(rule):
    honest, promised = scores(range(60), rule).T
    assert abs(honest.mean() - 0.5) < 3 * 0.5 / np.sqrt(60 * 60)
    assert promised.mean() > honest.mean()


def test_a_nested_choice_says_what_it_was_measured_on():
    X, y = noise(0)
    X[:, :2] += 1.5 * y[:, None]
    found = hf.nested_choice(study((1, 2)), X, y, rule="accuracy", outer=hf.Folds(3))
    assert found.choice.nested
    assert found.choice.measured_on.startswith("3 outer folds that took no part in the choice")
    assert found.choice.score == found.folds["score"].mean()
    assert found.promised == found.result.choose("accuracy").score
    assert found.folds["held_out"].sum() == 60
    assert found.stability.n_runs == 3
    assert "Chosen on outer folds: " in repr(found)
    assert found.choice.candidate == found.result.choose("accuracy").candidate


def test_the_score_of_an_outer_fold_is_that_of_the_candidate_trained_on_its_rows():
    X, y = noise(1)
    X[:, :2] += y[:, None]
    found = hf.nested_choice(study((2, 4)), X, y, outer=hf.Folds(3), rule="accuracy")
    split = next(hf.Folds(3).splits(y))
    k = int(found.folds["candidate"][0].removeprefix("anova(k=").removesuffix(")"))
    chosen = SelectKBest(k=k).fit(X[split.rows], y[split.rows])
    model = KNeighborsClassifier(3).fit(chosen.transform(X[split.rows]), y[split.rows])
    assert found.folds["score"][0] == model.score(chosen.transform(X[split.test]), y[split.test])


def test_outer_splits_must_hold_out_rows():
    with pytest.raises(ValueError, match="Expected outer splits that hold out rows"):
        hf.nested_choice(study(), *noise(0), outer=hf.NewSeeds(2))


def test_a_misspelled_option_is_named_before_anything_runs():
    with pytest.raises(ValueError, match=r"Expected options of nested_choice \(study, .*; did you mean 'metric'\?"):
        hf.nested_choice(None, *noise(0), metrik="accuracy")


def test_noise_looks_stable_where_runs_share_rows_and_not_in_disjoint_halves():
    """About 0.1 for bootstraps, 0.5 for ten folds, 0 for disjoint halves: shared rows, not signal."""
    X, y = noise(0, n=100, d=1000)
    found = {
        name: hf.Study(selectors={"anova": SelectKBest(k=20)}, perturbation=one).run(X, y).stability("anova")
        for name, one in {
            "bootstrap": hf.Bootstrap(30),
            "folds": hf.Folds(10),
            "halves": hf.ComplementaryPairs(20),
        }.items()
    }
    assert 0.05 < found["bootstrap"].value < 0.25
    assert 0.35 < found["folds"].value < 0.65
    assert abs(found["halves"].value) < 0.03
    assert found["bootstrap"].scope.startswith("resampling of this data set, not new data sets")
    assert found["folds"].scope.startswith("folds of this data set, which share most of their rows")
