"""Splits: what they promise whatever the perturbation, and what each perturbation adds."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, RepeatedKFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

import holdfast as hf
from holdfast.resampling import GivenSplits, LeaveOneSiteOut, Samples, as_perturbation

PERTURBATIONS = [
    hf.Bootstrap(6),
    hf.Bootstrap(6, stratify=True),
    hf.Subsample(6, 0.4),
    hf.Subsample(6, 0.4, stratify=True),
    hf.ComplementaryPairs(3),
    hf.ComplementaryPairs(3, stratify=True),
    hf.Folds(4),
    hf.Folds(3, n_repeats=2, stratify=False),
    hf.NestedFolds(3, 3),
    hf.Noise(4, 0.3),
    hf.NestedSubsamples(2, (0.25, 0.5)),
    hf.NewSeeds(3),
    hf.resampling.SplitHalves(3),
    LeaveOneSiteOut().bind(None, None, np.repeat(["Bern", "Chur", "Genf"], [12, 9, 9]), 0),
]
every = pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=str)
Y = np.repeat(["a", "b", "c"], [10, 14, 6])
GROUPS = np.repeat(np.arange(10), 3)


def test_every_perturbation_takes_part_in_these_tests():
    kinds = set(hf.resampling.PERTURBATIONS.values())
    assert {kind for kind in kinds if any(isinstance(perturbation, kind) for perturbation in PERTURBATIONS)} == kinds


def same(one, two):
    arrays = [(getattr(one, name), getattr(two, name)) for name in ("rows", "counts", "test")]
    return one.label == two.label and one.seed == two.seed and all(np.array_equal(a, b) for a, b in arrays)


@every
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_held_out_rows_are_never_trained_on_and_groups_stay_together(perturbation, groups):
    for split in perturbation.splits(Y, groups, random_state=3):
        assert split.rows.size
        assert np.all(np.diff(split.rows) > 0)
        assert not set(split.rows) & set(split.test)
        assert split.train.size == split.weights(Y.size).sum()
        if groups is not None:
            assert not set(groups[split.rows]) & set(groups[split.test])
            weights = split.weights(Y.size).reshape(10, 3)
            assert perturbation.design == "nested_subsamples" or np.all(weights == weights[:, :1])


@every
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), index=st.integers(0, 5))
def test_a_split_depends_on_seed_and_index_alone(perturbation, seed, index):
    samples = Samples.of(Y.size, Y)
    index %= perturbation.get_n_splits()
    alone = perturbation.make_split(index, samples, seed)
    assert same(alone, list(perturbation.splits(Y, random_state=seed))[index])
    if perturbation.grows is not None:  # else more resamples are other resamples
        larger = type(perturbation)(**{**vars(perturbation), perturbation.grows: 7})
        assert same(alone, larger.make_split(index, samples, seed))


@every
def test_another_seed_gives_other_splits_and_labels_are_unique(perturbation):
    ones, others = (list(perturbation.splits(Y, random_state=seed)) for seed in (0, 1))
    assert len({split.label for split in ones}) == perturbation.get_n_splits()
    assert len({split.seed for split in ones}) == perturbation.get_n_splits()
    assert not all(same(one, other) for one, other in zip(ones, others, strict=True))


def test_bootstrap_draws_as_many_rows_and_holds_out_the_rest():
    splits = list(hf.Bootstrap(200).splits(np.zeros(100), random_state=0))
    assert all(split.train.size == 100 and split.rows.size + split.test.size == 100 for split in splits)
    assert np.mean([split.test.size for split in splits]) == pytest.approx(36.6, abs=0.7)  # 100 (1 − 1/100)^100
    drawn = np.mean([split.weights(100) for split in splits], axis=0)
    assert abs(drawn - 1).max() < 0.35  # five standard errors


@pytest.mark.parametrize("perturbation", [hf.Bootstrap(5, stratify=True), hf.Folds(2), hf.Subsample(5, 0.5, True)])
def test_strata_keep_their_shares(perturbation):
    for split in perturbation.splits(Y):
        shares = np.unique(Y[split.train], return_counts=True)[1] / split.train.size
        np.testing.assert_allclose(shares, np.array([10, 14, 6]) / 30, atol=0.04)


def test_halves_of_a_pair_are_disjoint():
    splits = list(hf.ComplementaryPairs(4).splits(np.zeros(11)))
    for one, two in zip(splits[::2], splits[1::2], strict=True):
        assert one.block == two.block
        assert one.rows.size == two.rows.size == 5
        assert not set(one.rows) & set(two.rows)


def test_folds_hold_out_every_row_once_in_each_repeat():
    splits = list(hf.Folds(4, n_repeats=3).splits(Y))
    for repeat in range(3):
        held = np.concatenate([split.test for split in splits if split.block == repeat])
        assert sorted(held) == list(range(30))


def test_inner_folds_stay_inside_their_outer_fold():
    splits = list(hf.NestedFolds(3, 4).splits(Y))
    outer = {split.block: split for split in splits if not split.measured}
    assert sorted(np.concatenate([split.test for split in outer.values()])) == list(range(30))
    for split in splits:
        if split.measured:
            assert set(split.rows) < set(outer[split.block].rows)
            assert split.test.size == 0
    inner = [split for split in splits if split.measured and split.block == 1]
    left_out = [set(outer[1].rows) - set(split.rows) for split in inner]
    assert sum(map(len, left_out)) == len(set().union(*left_out)) == outer[1].rows.size


def test_shrunken_samples_are_parts_of_their_bootstrap():
    splits = list(hf.NestedSubsamples(2, (0.2, 0.6)).splits(Y))
    for sample in (splits[:3], splits[3:]):
        weights = [split.weights(30) for split in sample]
        assert [one.sum() for one in weights] == [6, 18, 30]
        assert np.all(weights[0] <= weights[1])
        assert np.all(weights[1] <= weights[2])
        assert all(np.array_equal(split.test, sample[-1].test) for split in sample)


def test_noise_is_seeded_and_scaled_by_the_feature():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"small": rng.normal(size=4000), "large": 100 * rng.normal(size=4000), "flat": 7.0})
    y = np.tile(["a", "b"], 2000)
    first, second = hf.Noise(2, scale=0.5, flip=0.2).splits(y)
    noisy, flipped = first.data(X, y)
    again, _ = first.data(X, y)
    assert noisy.equals(again)
    assert not noisy.equals(second.data(X, y)[0])
    np.testing.assert_allclose((noisy - X).std(ddof=0), [0.5, 50, 0], rtol=0.05)
    assert np.mean(flipped != y) == pytest.approx(0.2, abs=0.03)
    values, labels = first.data(X.to_numpy(), y)
    np.testing.assert_array_equal(values, noisy.to_numpy())
    np.testing.assert_array_equal(labels, flipped)


def test_exchanged_labels_are_always_other_classes():
    (split,) = hf.Noise(1, scale=0, flip=0.999).splits(Y)
    _, flipped = split.data(np.zeros((30, 1)), Y)
    assert np.mean(flipped != Y) > 0.9
    assert set(flipped) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("splitter", "design"),
    [
        (StratifiedKFold(3), "folds"),
        (RepeatedKFold(n_splits=3, n_repeats=2), "folds"),
        (GroupKFold(3), "folds"),
        (ShuffleSplit(5), "runs"),
        ([(np.arange(20), np.arange(20, 30)), (np.arange(10, 30), [0, 1])], "runs"),
    ],
    ids=str,
)
def test_scikit_learn_splitters_and_lists_work(splitter, design):
    X, groups = np.zeros((30, 2)), GROUPS if isinstance(splitter, GroupKFold) else None
    bound = as_perturbation(splitter).bind(X, Y, groups, 5)
    again = as_perturbation(splitter).bind(X, Y, groups, 5)
    splits, repeated = (list(one.splits(Y, groups)) for one in (bound, again))
    assert bound.design == design
    assert all(same(one, two) for one, two in zip(splits, repeated, strict=True))  # seeded although random_state=None
    if hasattr(splitter, "random_state"):
        assert splitter.random_state is None  # the user's object is left alone


def test_repeated_training_rows_are_counted():
    bound = GivenSplits([(np.array([3, 3, 1]), np.array([0]))]).bind(np.zeros((4, 1)), np.zeros(4), None, 0)
    split = bound.make_split(0, Samples.of(4), 0)
    assert split.rows.tolist() == [1, 3]
    assert split.counts.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hf.Bootstrap(0), "Expected n_splits to be a whole number of at least 1, got 0."),
        (lambda: hf.Bootstrap(2.5), "Expected n_splits to be a whole number of at least 1, got 2.5."),
        (lambda: hf.Subsample(5, 1.0), "Expected fraction to be a share above 0 and below 1, got 1.0."),
        (lambda: hf.NestedSubsamples(5, (0.5, 2)), "Expected each of fractions to be a share above 0 to 1, got 2."),
        (
            lambda: hf.NestedSubsamples(5, (1.0,)),
            "Expected at least one of fractions to be below 1, the whole, got (1.0,).",
        ),
        (lambda: hf.Noise(5, -1), "Expected scale to be 0 or more, got -1."),
        (lambda: hf.Folds(1), "Expected n_splits to be a whole number of at least 2, got 1."),
        (lambda: list(hf.Folds(5).splits([0, 1])), "Expected at least 5 rows for Folds(n_splits=5, n_repeats=1, "),
        (lambda: list(hf.Bootstrap(5).splits([0, 1], [1, 1])), "Expected at least 2 groups for Bootstrap("),
        (lambda: list(hf.Noise(2, flip=0.1).splits([1.5, 2], stratified=False)), "Expected a target of classes"),
        (lambda: list(hf.Folds(2).splits([0, 1], [1])), "Expected one group for each of 2 rows, got 1."),
        (lambda: as_perturbation(7), "Expected a perturbation such as hf.Bootstrap(100)"),
        (lambda: as_perturbation([1, 2]).bind(None, [0], None, 0), "Expected (training rows, held-out rows) as split"),
        (lambda: as_perturbation([([0, 5], [1])]).bind(None, [0, 1], None, 0), "Expected rows from 0 to 1 in split 0"),
        (lambda: as_perturbation([]).bind(None, [0, 1], None, 0), "Expected at least one split"),
    ],
)
def test_bad_input_is_told_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    "perturbation", [hf.Bootstrap(4), hf.Subsample(4), hf.ComplementaryPairs(2), hf.Folds(4)], ids=str
)
@pytest.mark.parametrize("groups", [None, np.arange(120) // 3])
def test_perturbations_are_scikit_learn_splitters(perturbation, groups):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), np.repeat([0, 1], 60)
    seeded = replace(perturbation, random_state=1)
    scores = cross_val_score(GaussianNB(), X, y, groups=groups, cv=seeded)
    assert scores.size == seeded.get_n_splits(X, y, groups) == 4
    for (train, test), split in zip(seeded.split(X, y, groups), seeded.splits(y, groups, random_state=1), strict=True):
        assert np.array_equal(train, split.train)
        assert np.array_equal(test, split.test)
        if groups is not None:
            assert not set(groups[train]) & set(groups[test])


def test_a_splitter_without_a_seed_draws_anew_and_a_study_has_its_own():
    X, y = np.zeros((40, 1)), np.repeat([0, 1], 20)
    first, second = (next(hf.Bootstrap(1).split(X, y))[0] for _ in range(2))
    assert not np.array_equal(first, second)
    assert hf.Bootstrap(5, random_state=3).identity() == hf.Bootstrap(9).identity()


def test_numbers_to_predict_are_not_stratified():
    target = np.linspace(0, 1, 30)
    rows = list(hf.Bootstrap(2, stratify=True, random_state=0).split(np.zeros((30, 1)), target))
    assert len(rows) == 2


@pytest.mark.parametrize(
    "perturbation", [hf.Noise(2), hf.NewSeeds(2), hf.NestedFolds(2), hf.NestedSubsamples(2)], ids=str
)
def test_what_rows_alone_cannot_carry_is_refused_as_a_splitter(perturbation):
    message = f"{type(perturbation).__name__} cannot be used as a scikit-learn splitter, because training and held-out"
    with pytest.raises(ValueError, match=message):
        next(perturbation.split(np.zeros((20, 1)), np.repeat([0, 1], 10)))
