"""Advice is tested before it is given, and following it on other resamples helps."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import holdfast as hf
from holdfast.datasets import make_redundant
from holdfast.report import summarize
from holdfast.selectors import AnovaF
from holdfast.tradeoff.changes import find_better_size, find_gain_of_groups, find_more_stable


def ordered(seed, size, n=150, n_features=40, n_relevant=4, signal=True):
    """A study of an order of features, cut at a size, and at four features too."""
    X, y, _ = make_redundant(0.0, n_samples=n, n_features=n_features, n_relevant=n_relevant, random_state=1)
    if not signal:
        y = np.random.default_rng(seed).permutation(y)
    sizes = sorted({4, 16, size})
    study = hf.Study(
        selectors={"anova": hf.Candidates(AnovaF(), sizes=sizes)}, perturbation=hf.Bootstrap(20),
        estimator=GaussianNB(), random_state=seed,
    )  # fmt: skip
    return X, study.run(X, y)


def test_fewer_features_are_advised_where_the_orders_show_it_and_it_helps_other_seeds():
    for seed in range(3):
        _, result = ordered(seed, 16)
        effect = find_better_size(result, "anova(size=16)", result.common_measure(), metric="accuracy")
        assert effect is not None
        assert effect.to < 16
        assert effect.stability.low > 0
        assert effect.stability.before == result.stability("anova(size=16)").value
        assert effect.stability.after == result.stability("anova(size=16)", top=effect.to).value
        _, again = ordered(seed + 100, 16)
        assert again.stability("anova(size=16)", top=effect.to).value > again.stability("anova(size=16)").value
        if effect.to == 4:
            assert effect.score.after == pytest.approx(result.split_scores("anova(size=4)", "accuracy")[0].mean())


def test_fewer_features_are_not_advised_where_they_are_less_stable():
    for seed in range(3):
        _, result = ordered(seed, 4)
        effect = find_better_size(result, "anova(size=4)", result.common_measure())
        assert effect is None or effect.to > 4


def test_without_stored_orders_no_size_is_advised():
    X, y, _ = make_redundant(0.0, n_samples=100, n_features=30, n_relevant=4, random_state=1)
    from sklearn.feature_selection import SelectKBest

    result = hf.Study(selectors={"k": SelectKBest(k=16)}, perturbation=hf.Bootstrap(12)).run(X, y)
    assert find_better_size(result, "k", result.common_measure()) is None


def test_a_more_stable_candidate_comes_with_both_differences():
    _, result = ordered(0, 16)
    effect = find_more_stable(result, "anova(size=16)", ["anova(size=4)"], result.common_measure(), metric="accuracy")
    assert effect.to == "anova(size=4)"
    assert effect.stability.low > 0
    assert effect.score.low < effect.score.difference < effect.score.high
    assert find_more_stable(result, "anova(size=4)", ["anova(size=16)"], result.common_measure()) is None


def test_groups_of_copies_gain_and_independent_features_do_not():
    X, y, _ = make_redundant(0.9, n_samples=100, n_features=30, n_relevant=8, random_state=1)
    run = hf.Study(selectors={"anova": AnovaF(4)}, perturbation=hf.Bootstrap(20)).run(X, y)
    gain = find_gain_of_groups(run, "anova", run.common_measure(), X=X)
    assert gain is None or gain.low > 0
    alone, result = ordered(0, 8)
    assert find_gain_of_groups(result, "anova(size=8)", result.common_measure(), X=alone) is None


def test_every_help_of_a_report_names_its_effect_with_an_interval():
    for seed, size, signal in ((0, 16, True), (1, 8, True), (2, 16, False)):
        X, result = ordered(seed, size, signal=signal)
        for candidate in result.candidates:
            for cause in summarize(result, candidate=candidate, X=X).causes:
                if cause.help is not None:
                    assert " to " in cause.help
                    assert any(digit in cause.help for digit in "0123456789")
    assert "Select 4 features: expect" in " ".join(
        cause.help or "" for cause in summarize(ordered(0, 16)[1], candidate="anova(size=16)").causes
    )


def test_noise_gets_no_advice_on_stability():
    _, result = ordered(3, 16, signal=False)
    causes = summarize(result, candidate="anova(size=16)").causes
    if causes[0].kind == "no signal":
        assert not {"size", "more stable"} & {cause.kind for cause in causes}
