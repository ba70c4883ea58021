"""Whether a new study would select the same features: statistics, split halves, words, and evidence against it."""

import json
import math
import sqlite3
from contextlib import closing

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.special import expit, logit, ndtr
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import holdfast as hf
from holdfast.replication import Replicability, count_fits, estimate_replicability, find_answer, store_replicability
from holdfast.replication.agreements import (
    GROWTH,
    FrequencyProfile,
    SplitHalfAgreements,
    pearson_table,
    score_interval,
    soft_variance,
)
from holdfast.replication.running import find_stored, jackknife_halves, splits_without_groups
from holdfast.report import Summary, render, summarize
from holdfast.resampling import Samples, SplitHalves
from holdfast.resampling.kinds import find_copies
from holdfast.study import load_study
from holdfast.study.store import StoreError, open_to_write, verify
from holdfast.tradeoff.selected import features_that_count

RNG = np.random.default_rng(0)
SELECTOR = hf.selectors.AnovaF(10)


def draw(n, effect, seed, d=200):
    """Two classes that differ by an effect in the first 20 of d features."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, :20] += effect * y[:, None]
    return X, y


def halves_of(pairs, d, size, shared, seed=0):
    """Halves that each select ``shared`` fixed features and others at random."""
    rng = np.random.default_rng(seed)
    runs = np.zeros((2 * pairs, d), dtype=int)
    runs[:, :shared] = 1
    for run in runs:
        run[shared + rng.permutation(d - shared)[: size - shared]] = 1
    return hf.Preferences.from_matrix(runs)


# Statistics


def test_the_table_of_agreements_is_that_of_correlations():
    runs = RNG.random((8, 30)) < 0.3
    table = pearson_table((runs @ runs.T.astype(float)), runs.sum(axis=1), 30)
    assert_allclose(table, np.corrcoef(runs), atol=1e-12)
    empty = np.vstack([np.zeros(30, bool), runs[0]])
    with np.errstate(all="raise"):
        assert np.isnan(pearson_table(empty @ empty.T.astype(float), empty.sum(axis=1), 30)[0]).all()


def test_halves_of_one_split_are_apart_from_those_of_others():
    table = RNG.random((6, 6))
    table = table + table.T
    agreements = SplitHalfAgreements.from_table(table)
    assert_allclose(agreements.within, [table[0, 1], table[2, 3], table[4, 5]])
    others = [table[i, j] for i in range(6) for j in range(6) if i // 2 != j // 2]
    assert_allclose(agreements.overlapping, np.mean(others))
    means = [np.mean([table[i, j] for j in range(6) if i // 2 != j // 2]) for i in range(6)]
    added = max(np.var(others) - 2 * np.var(means, ddof=1), 0) / 4
    assert_allclose(agreements.spread, max(np.var(means, ddof=1) - added, 0))


@pytest.mark.parametrize("value", [-0.5, -0.2, -0.05, 0.0, 0.3, 0.95, 1.0])
@pytest.mark.parametrize("rate", [0.001, 0.02, 0.13, 0.5, 1.0])
def test_a_score_interval_holds_every_value_that_is_not_too_far(value, rate):
    z = 1.959964
    low, high = score_interval(value, rate, 0.95)
    inside = [t for t in np.linspace(-1.5, 1, 5001) if (value - t) ** 2 <= z**2 * rate * soft_variance(t)]
    assert_allclose([low, high], [inside[0], inside[-1]], atol=2e-3)
    assert score_interval(value, rate, 0.5).low > low


def test_a_profile_expects_as_many_features_and_is_steeper_with_more_agreement():
    profile = FrequencyProfile(RNG.integers(0, 41, 300), 40)
    for c in (0.0, 0.5, 2.0):
        assert_allclose(profile.weight @ profile.probabilities(c, 12), 12)
    assert_allclose(profile.agreement(0.0, 12), 0, atol=1e-12)
    c = profile.stretch_for(0.4, 12)
    assert_allclose(profile.agreement(c, 12), 0.4, atol=1e-6)
    assert_allclose(profile.extrapolate(0.4, 12, 2, 12), profile.agreement(GROWTH * c, 12))
    assert profile.extrapolate(0.0, 12, 2, 12) == 0.0


def deconvolve_slowly(counts, n_runs, size, agreement):
    """The same by plain sums: every feature by itself, the noise on a fine grid."""
    positions, noise = np.arange(-7, 7.01, 0.2), np.linspace(-6, 6, 601)
    weight = np.exp(-(noise**2) / 2) / np.exp(-(noise**2) / 2).sum()
    share = ndtr(positions[:, None] + noise)
    likelihood = np.array([binom.pmf(count, n_runs, share) @ weight for count in counts])
    wide = np.exp(-0.5 * ((positions + 1.5) / 3) ** 2)
    prior = wide = wide / wide.sum()
    for _ in range(50):
        posterior = likelihood * prior
        posterior /= posterior.sum(axis=1, keepdims=True)
        prior = posterior.sum(axis=0) + 10 * wide
        prior /= prior.sum()
    posterior = likelihood * prior
    posterior /= posterior.sum(axis=1, keepdims=True)
    cuts = np.linspace(-12, 12, 4801)
    sums = np.array([(posterior @ ndtr(positions - cut)).sum() for cut in cuts])
    p = posterior @ ndtr(positions - cuts[np.abs(sums - size).argmin()])
    drawn = expit(0.84 * logit(p))
    selected = np.argsort(-counts, kind="stable")[:size]
    number = size * (agreement * (1 - size / counts.size) + size / counts.size)
    steps = np.linspace(-6, 6, 48001)
    sums = expit(logit(drawn[selected])[:, None] + steps).sum(axis=0)
    step = steps[np.abs(sums - (drawn[selected].sum() + number) / 2).argmin()]
    expected = np.minimum(drawn, p)
    expected[selected] = expit(logit(drawn[selected]) + step)
    return np.minimum(expected, 0.95)


@pytest.mark.parametrize("agreement", [-0.1, 0.2, 0.6, 0.95])
def test_probabilities_are_counts_without_the_noise_of_one_data_set(agreement):
    counts = np.r_[40, 40, 37, 30, 22, 15, 8, np.random.default_rng(3).integers(0, 6, 60)]
    profile, selected = FrequencyProfile(counts, 40), np.arange(67) < 6
    expected = profile.expect(counts, selected, agreement)
    assert_allclose(expected, deconvolve_slowly(counts, 40, 6, max(agreement, 0)), atol=2e-3)
    for part in (selected, ~selected):
        assert (np.diff(expected[part][np.argsort(counts[part], kind="stable")]) >= -1e-12).all()
    assert expected[selected].sum() <= profile.expect(counts, selected, agreement + 0.04)[selected].sum() + 1e-12
    assert FrequencyProfile(np.full(60, 40), 40).expect(np.full(60, 40), np.arange(60) < 59, 0.9).max() <= 59 / 60


def test_stored_probabilities_are_computed_from_counts_again():
    found = hf.replicability(SELECTOR, *draw(80, 1.0, 4), n_pairs=20, n_shuffles=0)
    plain = found.to_dict()
    for row in plain["frame"]:
        row["probability"] = 0.99  # of an earlier version
        for name in ("by_habit", "expected_false", "q"):
            del row[name]
    del plain["shuffled"]
    for earlier in (plain, {**plain, "halves": []}):
        assert_allclose(Replicability.from_dict(earlier).frame["probability"], found.frame["probability"])


def test_the_agreement_of_a_profile_is_that_of_drawn_selections():
    profile = FrequencyProfile(np.repeat([38, 10, 0], [5, 20, 75]), 40)
    p = profile.probabilities(1.0, 12)[profile.entry]
    drawn = np.random.default_rng(1).random((4000, 2, 100)) < p
    observed = np.mean([(a & b).sum() for a, b in drawn])
    share = 12 / 100
    assert_allclose((observed / 12 - share) / (1 - share), profile.agreement(1.0, 12), atol=0.02)


# What is estimated


def test_halves_that_agree_on_everything_leave_a_little_doubt():
    found = estimate_replicability(halves_of(50, 100, 8, 8), range(8), 60)
    assert found.half_agreement == 1
    assert 0.8 < found.half_interval.low < 1 == found.half_interval.high
    assert found.sentence == "A new study of this size would be expected to select 8 of your 8 features (7 to 8)."
    assert found.rows_for_half == 30


def test_noise_is_said_to_be_noise():
    found = estimate_replicability(halves_of(50, 200, 10, 0), range(10), 80)
    assert not found.beyond_chance
    assert found.interval.low < 0
    assert found.sentence.startswith(
        "It was not shown that a new study of this size would select more of your 10 features"
    )
    assert found.rows_for_half is None
    assert found.frame["probability"].max() < 0.2


def test_what_half_of_the_features_share_is_between():
    found = estimate_replicability(halves_of(60, 400, 10, 5), range(10), 100)
    assert_allclose(found.half_agreement, 0.49, atol=0.03)
    assert found.half_interval.low < 0.49 < found.half_interval.high
    assert found.half_agreement < found.agreement < 1
    low, high = found.expected_interval
    assert low < found.expected < high
    assert found.frame["feature"].tolist()[:5] == sorted(range(5), key=found.frame["feature"].tolist().index)
    assert_allclose(found.agreement_at(50), found.half_agreement, atol=1e-6)
    assert_allclose(found.agreement_at(100), found.agreement, atol=1e-6)
    sizes = [found.agreement_at(rows) for rows in range(50, 201, 5)]
    assert np.diff(sizes).min() > 0
    assert np.diff(sizes).max() < 0.03
    with pytest.raises(ValueError, match="Expected a number of rows from 50 to 200"):
        found.agreement_at(201)


def test_empty_halves_are_left_out_and_counted():
    runs = halves_of(40, 100, 8, 6).to_sparse().toarray().astype(int)
    runs[[0, 4]] = 0
    found = estimate_replicability(hf.Preferences.from_matrix(runs), range(8), 60)
    assert (found.n_pairs, found.n_empty) == (40, 2)
    whole = estimate_replicability(hf.Preferences.from_matrix(np.delete(runs, [0, 1, 4, 5], axis=0)), range(8), 60)
    assert found.agreement == whole.agreement


@pytest.mark.parametrize(
    ("empty", "selected", "reason"),
    [
        (slice(0, 60), range(8), "in 30 of 40 splits a half selected nothing"),
        (slice(0, 0), [], "nothing was selected on all rows"),
        (slice(0, 0), range(100), "every feature was selected on all rows"),
    ],
)
def test_what_is_not_known_has_a_reason(empty, selected, reason):
    runs = halves_of(40, 100, 8, 6).to_sparse().toarray().astype(int)
    runs[empty] = 0
    found = estimate_replicability(hf.Preferences.from_matrix(runs), selected, 60)
    assert found.reason == reason
    assert math.isnan(found.agreement)
    assert found.sentence == f"Whether a new study would select the same features is not known: {reason}."
    assert json.loads(json.dumps(found.to_dict()))["agreement"] is None
    assert "not known" in found._repr_html_()


def test_too_few_splits_say_so():
    found = estimate_replicability(halves_of(5, 100, 8, 6), range(8), 60)
    assert found.reason == "5 splits in half are too few, 10 are needed"


# SplitHalves


def test_halves_share_no_row_cover_all_and_keep_classes():
    y = np.repeat([0, 1, 2], [7, 12, 5])
    first, *halves = SplitHalves(20).splits(y)
    assert (first.label, first.measured, first.train.tolist()) == ("all rows", False, list(range(24)))
    for a, b in zip(halves[::2], halves[1::2], strict=True):
        assert sorted([*a.train, *b.train]) == list(range(24))
        assert abs(len(a.train) - len(b.train)) <= 1
        assert np.abs(np.bincount(y[a.train], minlength=3) - np.bincount(y[b.train], minlength=3)).max() <= 1
        assert a.block == b.block
        assert a.test.tolist() == b.train.tolist()
    assert len({tuple(half.train) for half in halves}) == 40


def test_groups_and_equal_rows_stay_together():
    X, y = RNG.standard_normal((30, 4)), np.arange(30) % 2
    X[20:] = X[:10]
    for bound, groups in ((SplitHalves(10).bind(X, y, None, 0), None), (SplitHalves(10), np.arange(30) % 20)):
        for split in list(bound.splits(y, groups))[1:]:
            for row in range(10):
                assert (row in split.train) == (row + 20 in split.train)
    assert SplitHalves(10).bind(X[:20], y[:20], None, 0) == SplitHalves(10)
    assert SplitHalves(10).bind(X, y, None, 0).identity() == SplitHalves(10).identity()


def test_equal_rows_are_found_in_dense_and_sparse_tables():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [-0.0, 1.0]])
    assert find_copies(X).tolist() == find_copies(sp.csr_matrix(X)).tolist() == [0, 1, 0]
    assert find_copies(X[:2]) is find_copies(sp.csr_matrix(X[:2])) is None


def test_equal_rows_are_found_in_tables_with_texts_and_missing_values():
    frame = pd.DataFrame({"a": ["x", "y", "x", None, None], "b": [1.0, 1.0, 1.0, np.nan, np.nan]})
    assert find_copies(frame).tolist() == find_copies(frame.to_numpy()).tolist() == [0, 1, 0, 2, 2]
    assert find_copies(frame.astype({"a": "category"})).tolist() == [0, 1, 0, 2, 2]


def test_selectors_that_encode_texts_or_fill_in_values_are_asked_too():
    X, y = draw(60, 1.0, 5, d=6)
    X[0, 0] = np.nan
    filled = hf.replicability(make_pipeline(SimpleImputer(), SelectKBest(k=2)), X, y, n_pairs=10, n_shuffles=0)
    frame = pd.DataFrame(X[:, 1:]).assign(text=np.where(y, "a", "b"))
    encoding = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    encoded = hf.replicability(make_pipeline(encoding, SelectKBest(k=2)), frame, y, n_pairs=10, n_shuffles=0)
    assert filled.reason is encoded.reason is None


def test_more_splits_are_added_to_those_that_are_there(tmp_path):
    X, y = draw(40, 1.0, 0)
    study = hf.Study(selectors=[SELECTOR], perturbation=SplitHalves(10))
    study.run(X, y, store=tmp_path / "s.db")
    more = hf.Study(selectors=[SELECTOR], perturbation=SplitHalves(20)).run(X, y, store=tmp_path / "s.db")
    whole = hf.Study(selectors=[SELECTOR], perturbation=SplitHalves(20)).run(X, y)
    assert more.replicability().to_dict() == whole.replicability().to_dict()


# Of selectors and studies


@pytest.mark.slow
def test_it_is_unbiased_at_half_the_size_and_near_at_the_full_size():
    rows = [hf.replicability(SELECTOR, *draw(80, 0.7, seed), n_pairs=25, n_shuffles=0) for seed in range(30)]

    def truth(n):
        fits = np.array([SELECTOR.fit(*draw(n, 0.7, 1000 + seed)).get_support() for seed in range(120)], dtype=float)
        table = np.corrcoef(fits)
        return (table.sum() - 120) / (120 * 119)

    half, full = np.array([row.half_agreement for row in rows]), np.array([row.agreement for row in rows])
    assert abs(half.mean() - truth(40)) < 4 * half.std() / math.sqrt(30) + 0.02
    assert abs(full.mean() - truth(80)) < 0.12
    covered = np.mean([row.half_interval.low <= truth(40) <= row.half_interval.high for row in rows])
    assert covered >= 0.86


@pytest.mark.parametrize("selector", [SELECTOR, hf.selectors.MRMR(10), hf.selectors.ElasticNetPath(n_features=10)])
def test_on_noise_nothing_is_shown_and_features_are_unlikely(selector):
    found = hf.replicability(selector, *draw(80, 0.0, 3), n_pairs=30, n_shuffles=0)
    assert abs(found.half_agreement) < 0.1
    assert not found.beyond_chance
    assert found.frame["probability"].mean() <= 0.16


def test_a_study_of_split_halves_answers_for_each_candidate():
    X, y = draw(60, 1.0, 1)
    study = hf.Study(
        selectors={"anova": hf.Candidates(SELECTOR, {"n_features": [5, 10]})}, perturbation=SplitHalves(30)
    )
    result = study.run(X, y)
    with pytest.raises(ValueError, match="Expected candidate=, one of the study's 2"):
        result.replicability()
    name = "anova(n_features=5)"
    found = result.replicability(name)
    assert found.n_selected == 5
    other = hf.Study(selectors=study.selectors, perturbation=hf.Bootstrap(10))
    again = hf.replicability(other, X, y, candidate=name, n_pairs=30, n_shuffles=0)
    assert again.agreement == found.agreement
    with pytest.raises(ValueError, match=r"Expected a study with hf\.resampling\.SplitHalves"):
        other.run(X, y).replicability(name)


def test_one_of_several_sizes_of_a_selector_is_named():
    X, y = draw(60, 1.0, 1)
    sizes = hf.Candidates(SELECTOR, sizes=[5, 10])
    with pytest.raises(ValueError, match="Expected candidate=, one of the study's 2"):
        hf.replicability(sizes, X, y, n_pairs=10, n_shuffles=0)
    found = hf.replicability(sizes, X, y, candidate="anova(size=5)", n_pairs=30, n_shuffles=0)
    alone = hf.replicability(hf.selectors.AnovaF(5), X, y, n_pairs=30, n_shuffles=0)
    assert found.agreement == alone.agreement
    with pytest.raises(ValueError, match="Expected one of the study's candidates"):
        hf.replicability(SELECTOR, X, y, candidate="mrmr", n_pairs=10, n_shuffles=0)


def test_covariates_are_kept_out_of_the_selection():
    X, y = draw(60, 1.0, 1, d=30)
    study = hf.Study(
        selectors=[hf.selectors.AnovaF(4)], covariates=["f0", "f1"], estimator=LogisticRegression(), adjust=False
    )
    frame = pd.DataFrame(X).add_prefix("f")
    found = hf.replicability(study, frame, y, n_pairs=10, n_shuffles=0, thorough=True)
    alone = hf.replicability(hf.selectors.AnovaF(4), frame.drop(columns=["f0", "f1"]), y, n_pairs=10, n_shuffles=0)
    assert found.half_agreement == alone.half_agreement
    assert not {"f0", "f1"} & set(found.selected)


def test_rankings_need_a_number_of_features():
    X, y = draw(60, 1.0, 1)
    study = hf.Study(selectors={"anova": hf.Candidates(SELECTOR, keep="weights")}, perturbation=SplitHalves(20))
    assert study.run(X, y).replicability(top=3).n_selected == 3


def test_lists_of_near_copies_many_features_and_few_rows_are_warned_of():
    X, y = draw(30, 1.0, 2, d=12)
    X[:, 1:6] = X[:, [0]] + 0.01 * X[:, 1:6]
    found = hf.replicability(hf.selectors.AnovaF(7), X, y, n_pairs=25, n_shuffles=0)
    text = " ".join(found.cautions)
    assert "A half has only 7 rows of class 0" in text
    assert "More than half of all features are selected" in text
    assert "A selected feature has 5 near-copies" in text
    assert hf.replicability(SELECTOR, *draw(60, 1.0, 1), n_pairs=25, n_shuffles=0).cautions == ()


def test_few_groups_of_rows_are_warned_of():
    X, y = draw(80, 1.0, 1)
    few, many = (
        hf.replicability(SELECTOR, X, y, groups=np.arange(80) // size, n_pairs=10, n_shuffles=0) for size in (5, 4)
    )
    assert few.cautions == ("A half has the rows of only 8 groups: with fewer than 10, halves say little.",)
    assert many.cautions == ()


def test_a_thorough_look_leaves_groups_of_rows_out_and_never_narrows_the_interval():
    X, y = draw(60, 0.8, 7)
    quick, thorough = (
        hf.replicability(SELECTOR, X, y, n_pairs=20, n_shuffles=0, thorough=more) for more in (False, True)
    )
    assert thorough.agreement == quick.agreement
    assert thorough.half_interval.low <= quick.half_interval.low
    assert thorough.half_interval.high >= quick.half_interval.high


def test_a_jackknife_is_that_of_the_means_of_groups():
    rng = np.random.default_rng(0)
    runs = rng.random((10 * 2 * 6, 40)) < 0.3
    runs[:, 0] = True
    means = [np.mean([np.corrcoef(*pair)[0, 1] for pair in group]) for group in runs.reshape(10, 6, 2, 40)]
    halves, splits = hf.Preferences.from_matrix(runs), np.arange(120)
    assert_allclose(jackknife_halves(halves, splits, 120), 0.9 * np.sum((means - np.mean(means)) ** 2))
    means[0] = np.mean([np.corrcoef(*pair)[0, 1] for pair in runs.reshape(10, 6, 2, 40)[0, 1:]])
    without_one = halves.take(range(119, 0, -1))
    assert_allclose(jackknife_halves(without_one, splits[:0:-1], 120), 0.9 * np.sum((means - np.mean(means)) ** 2))
    assert math.isnan(jackknife_halves(halves.take(range(12, 120)), splits[12:], 120))


@pytest.mark.filterwarnings("ignore:.* fits failed")
def test_a_thorough_look_leaves_out_pairs_of_which_a_fit_failed():
    X, y = draw(80, 1.0, 5)
    usual = hf.replicability(FailsOn(), X, y, n_pairs=20, n_shuffles=0)
    some, none = (
        hf.replicability(FailsOn(range(30, 40), share=share), X, y, n_pairs=20, thorough=True, n_shuffles=0)
        for share in (0.1, 0.97)
    )
    assert some.half_interval.low <= usual.half_interval.low
    assert some.cautions == ()
    assert none.half_interval == usual.half_interval
    assert none.cautions[-1].startswith("Without some group of rows no pair of halves could be compared")


def test_copies_of_a_row_are_left_out_together():
    X, y = draw(60, 1.0, 5)
    X[40:] = X[:20]
    splits = splits_without_groups(SplitHalves(3).bind(X, y, None, 0), Samples.of(60, y), 0)
    for (first, _), (second, _) in zip(splits[::2], splits[1::2], strict=True):
        rows = np.concatenate([first, second])
        assert (np.isin(np.arange(20), rows) == np.isin(np.arange(40, 60), rows)).all()


def test_groups_are_left_out_of_every_half():
    y = np.arange(40) % 2
    splits = splits_without_groups(SplitHalves(5), Samples.of(40, y), 0)
    assert len(splits) == 10 * 2 * 5
    rows = [np.sort(np.concatenate([a, b])) for (a, _), (b, _) in zip(splits[::2], splits[1::2], strict=True)]
    assert {len(row) for row in rows} == {36}
    left_out = [np.setdiff1d(np.arange(40), row).tolist() for row in rows[::5]]
    assert sorted(row for rows in left_out for row in rows) == list(range(40))


def test_what_is_kept_is_what_was_found(tmp_path):
    X, y = draw(60, 0.8, 7)
    study = hf.Study(selectors=[SELECTOR], perturbation=hf.Bootstrap(10))
    result = study.run(X, y, store=tmp_path / "s.db")
    with pytest.raises(ValueError, match="Expected a study with hf"):
        result.replicability()
    found = hf.replicability(study, X, y, n_pairs=20, n_shuffles=0)
    store_replicability(tmp_path / "s.db", found)
    kept = hf.load_study(tmp_path / "s.db").replicability()
    assert kept.to_dict() == found.to_dict()
    assert kept.sentence == found.sentence
    assert kept.rows_for_half == found.rows_for_half
    nothing = estimate_replicability(halves_of(5, 100, 8, 6), range(8), 60)
    assert Replicability.from_dict(nothing.to_dict()).to_dict() == nothing.to_dict()
    assert study.run(X, y, store=tmp_path / "s.db").complete


def test_the_report_says_it_beside_the_stability(tmp_path):
    X, y = draw(60, 0.8, 7)
    study = hf.Study(selectors=[SELECTOR], perturbation=hf.Bootstrap(10))
    result = study.run(X, y, store=tmp_path / "s.db")
    assert summarize(result).replication is None
    page = render(summarize(result)).split("<footer")[0].split('id="words"')[0]
    assert "would be expected to select" not in page
    assert "Next: estimate how many of these features a new study would select" in page
    found = hf.replicability(study, X, y, n_pairs=20, n_shuffles=0)
    store_replicability(tmp_path / "s.db", found)
    summary = summarize(hf.load_study(tmp_path / "s.db"))
    assert (summary.replication.sentence, summary.replication.expected) == (found.sentence, found.expected)
    assert "estimated by repeated split-half of the rows (20 ×)" in summary.method.paragraph
    assert "All other figures describe the variation over resamples" in summary.method.paragraph
    probabilities = {f"feature {row.feature}": row.probability for row in found.frame.itertuples()}
    shown = {row.feature: row.new_study for row in summary.features.shown}
    assert {name: shown[name] for name in probabilities} == pytest.approx(probabilities)
    others = [shown[name] for name in shown.keys() - probabilities]
    assert others
    assert max(others) < max(probabilities.values())
    for form in ("html", "md"):
        assert found.sentence in render(summary, form)
    assert Summary.from_dict(summary.to_dict()).to_dict() == summary.to_dict()


def test_a_table_in_markdown_has_a_head_for_each_column(tmp_path):
    X, y = draw(60, 0.8, 7, d=30)
    study = hf.Study(selectors=[SELECTOR], perturbation=hf.Bootstrap(10), estimator=LogisticRegression())
    study.run(X, y, store=tmp_path / "s.db")
    store_replicability(tmp_path / "s.db", hf.replicability(study, X, y, n_pairs=20, n_shuffles=0))
    lines = render(summarize(hf.load_study(tmp_path / "s.db")), "md").splitlines()
    (head,) = (place for place, line in enumerate(lines) if line.startswith("| feature | frequency"))
    assert "| in a new study | used | direction |" in lines[head]
    assert "| in models |" in lines[head]
    assert {line.count("|") for line in lines[head : head + 4]} == {12}
    assert not any("\\|" in line for line in lines[head : head + 2])


@pytest.mark.parametrize("selector", [SELECTOR, hf.Candidates(RandomForestClassifier(5))])
def test_a_study_of_split_halves_answers_by_itself(selector):
    X, y = draw(60, 0.8, 7, d=30)
    result = hf.Study(selectors={"any": selector}, perturbation=SplitHalves(12)).run(X, y)
    top = features_that_count(result, "any")
    found = result.replicability(top=top)
    assert find_answer(result) == found.sentence
    assert summarize(result).replication.sentence == found.sentence


@pytest.mark.filterwarnings("ignore:.* fits failed")
@pytest.mark.parametrize("rows", [60, 30])
def test_a_report_does_without_an_answer_where_fits_failed(rows):
    X, y = draw(60, 0.8, 7, d=30)
    selectors = {"failing": FailsOn([rows], share=0.9), "anova": SELECTOR}
    result = hf.Study(selectors=selectors, perturbation=SplitHalves(12)).run(X, y)
    assert summarize(result, candidate="failing").replication is None
    assert summarize(result, candidate="anova").replication is not None


def test_it_depends_on_data_plan_and_seed_only():
    X, y = draw(60, 0.8, 5)
    found = hf.replicability(SELECTOR, X, y, n_pairs=20, n_shuffles=4)
    with joblib.parallel_config(backend="threading"):
        assert hf.replicability(SELECTOR, X, y, n_pairs=20, n_shuffles=4, n_jobs=2).to_dict() == found.to_dict()
    assert hf.replicability(SELECTOR, X, y, n_pairs=20, n_shuffles=0, random_state=1).agreement != found.agreement


def test_intervals_of_other_levels_need_no_other_fits(tmp_path):
    X, y = draw(80, 1.0, 3)
    found = hf.replicability(SELECTOR, X, y, n_pairs=25, n_shuffles=0)
    wide, again = found.at_level(0.99), hf.replicability(SELECTOR, X, y, n_pairs=25, n_shuffles=0, level=0.99)
    assert wide.interval == again.interval
    assert wide.half_interval == again.half_interval
    assert wide.interval.low < found.interval.low
    kept = Replicability.from_dict(json.loads(json.dumps(found.to_dict())))
    assert kept.at_level(0.99).interval == wide.interval
    unknown = estimate_replicability(hf.Preferences.from_matrix(np.zeros((40, 9), int)), [], 50)
    assert np.isnan(unknown.at_level(0.5).interval.low)


def test_other_measures_tell_how_far_halves_agree():
    X, y = draw(80, 1.0, 4)
    X[:, 1] = X[:, 0] + 0.01 * X[:, 1]
    found = hf.replicability(SELECTOR, X, y, n_pairs=25, n_shuffles=0, measures=["pearson", "yu", "spearman"])
    assert found.other_measures["pearson"] == pytest.approx(found.half_agreement)
    study = hf.Study(selectors={"anova": hf.Candidates(SELECTOR, keep="weights")}, perturbation=SplitHalves(25))
    result = study.run(X, y)
    assert result.stability("anova", "spearman").value == pytest.approx(found.other_measures["spearman"])
    assert result.stability("anova", "yu", top=10, X=X).value == pytest.approx(found.other_measures["yu"])
    assert "yu of studies of half the size" in repr(found)
    with pytest.raises(ValueError, match="did you mean 'jaccard'"):
        hf.replicability(SELECTOR, X, y, n_pairs=25, n_shuffles=0, measures=["jacard"])


class FailsOn(SelectKBest):
    """Fails on samples of some sizes, or on some of them."""

    def __init__(self, rows=(), k=3, share=1.0):
        super().__init__(k=k)
        self.rows, self.share = rows, share

    def fit(self, X, y):
        if len(X) in self.rows and np.asarray(X).sum() % 1 < self.share:
            raise RuntimeError("no fit to these")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore:.* fits failed")
def test_fits_that_fail_are_told():
    X, y = draw(80, 1.0, 5)
    for rows, what in ((80, "all rows"), (40, "halves")):
        with pytest.raises(ValueError, match=f"could not be fitted to {what}: RuntimeError: no fit to these"):
            hf.replicability(FailsOn([rows]), X, y, n_pairs=25, n_shuffles=0)
    found = hf.replicability(FailsOn([40], share=0.2), X, y, n_pairs=40, n_shuffles=0)
    lost = 40 - found.n_pairs
    assert 0 < lost < 40
    assert found.cautions[0].startswith(
        f"{lost} of 40 splits in half were left out, as fits failed; most often: RuntimeError"
    )


def test_a_record_that_cannot_be_read_is_made_again(tmp_path):
    X, y = draw(60, 1.0, 6)
    study = hf.Study(selectors=[SELECTOR], perturbation=hf.Bootstrap(5))
    result = study.run(X, y, store=tmp_path / "s.db")
    found = hf.replicability(study, X, y, n_pairs=12, n_shuffles=0)
    store_replicability(result.path, found)
    assert find_stored(load_study(result.path), "anova").sentence == found.sentence
    with open_to_write(result.path) as opened, opened.transaction():
        opened.put("replicability", {"anova": {"agreement": "high"}})
    assert find_stored(load_study(result.path), "anova") is None
    assert verify(result.path).state == "sound"


@pytest.mark.filterwarnings("ignore:The store .* was damaged")
def test_a_damaged_record_costs_no_more_than_itself(tmp_path):
    X, y = draw(60, 1.0, 6)
    study = hf.Study(selectors=[SELECTOR], perturbation=hf.Bootstrap(5))
    result = study.run(X, y, store=tmp_path / "s.db")
    store_replicability(result.path, hf.replicability(study, X, y, n_pairs=12, n_shuffles=0))
    with closing(sqlite3.connect(result.path)) as connection, connection:
        connection.execute("UPDATE meta SET value = '[1]' WHERE key = 'replicability'")
    assert verify(result.path).state == "damaged"
    with pytest.raises(StoreError, match="1 of 14 entries of the plan lost: replicability"):
        load_study(result.path)
    assert study.run(X, y, store=result.path).stability("anova") == result.stability("anova")
    assert verify(result.path).state == "sound"
    assert find_stored(load_study(result.path), "anova") is None


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("n_rows", "many"), ("n_rows", 0), ("n_rows", 10**400), ("n_features", 8), ("n_features", 10**15),
        ("n_pairs", -1), ("level", 5), ("agreement", None), ("agreement", 9), ("interval", [0, 1, 2]),
        ("cautions", [1]), ("cautions", "few"), ("frame", []), ("variation", None), ("profile", None),
        ("frame", [{"feature": "a", "column": 1, "probability": 2, "frequency": 1}]),
        ("variation", {"half_rate": -1, "rate": 1, "slow": 0, "fast": 1}),
        ("profile", {"n_runs": 40, "counts": [3], "features": [10**15]}),
        ("profile", {"n_runs": 40, "counts": [10**30], "features": [100]}),
        ("profile", {"n_runs": 40, "counts": [3], "features": [7]}), ("reason", {}), ("other_measures", ["yu"]),
    ],
)  # fmt: skip
def test_a_record_with_wrong_values_is_refused(entry, value):
    plain = estimate_replicability(halves_of(20, 100, 8, 6), range(8), 60).to_dict()
    assert Replicability.from_dict(plain).to_dict() == plain
    with pytest.raises(ValueError, match="Expected"):
        Replicability.from_dict({**plain, entry: value})


def test_one_feature_has_a_probability_and_several_a_number():
    runs = np.zeros((40, 50), dtype=int)
    runs[:, 0] = 1
    one = estimate_replicability(hf.Preferences.from_matrix(runs), [0], 100)
    assert one.sentence.startswith("A new study of this size would select your feature with a probability of 0.95 (")
    rng = np.random.default_rng(0)
    by_chance = hf.Preferences.from_matrix(np.eye(50, dtype=int)[rng.integers(50, size=40)])
    doubt = estimate_replicability(by_chance, [0], 100)
    assert doubt.sentence.startswith(
        "It was not shown that a new study of this size would select your feature more often than by chance ("
    )


def test_the_picture_shows_probabilities_beside_shares_of_halves():
    X, y = draw(80, 1.0, 7)
    found = hf.replicability(hf.selectors.AnovaF(6), X, y, n_pairs=25, n_shuffles=0)
    data = hf.plots.replicability_data(found, most=4)
    assert data["probability"].tolist() == found.frame["probability"].tolist()[:4]
    chart = found.plot(most=4)
    assert found.sentence == " ".join(chart.title.text)
    assert chart.title.subtitle == ["2 features less likely to come back left out; repeated split-half (25 ×)"]
    nothing = estimate_replicability(hf.Preferences.from_matrix(np.zeros((40, 9), int)), [1], 50)
    assert "not known" in str(nothing.plot().to_dict())
    with pytest.raises(ValueError, match="number of features to show, got 0"):
        hf.plots.replicability_data(found, most=0)


def test_a_selector_that_ignores_the_target_is_found_out():
    X, y = draw(80, 1.0, 8)
    X[:, 30:40] *= 3
    found = hf.replicability(hf.selectors.Variance(10), X, y, n_pairs=25, n_shuffles=10)
    assert [found.agreement, found.shuffled_agreement] == pytest.approx([1, 1])
    assert "With a shuffled target halves agree by 1.00, too (with the true one by 1.00)" in found.cautions[-1]
    assert "too" not in " ".join(hf.replicability(hf.selectors.Variance(10), X, y, n_shuffles=0).cautions)


@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_a_selector_that_looks_at_the_target_is_not(effect):
    for seed in range(2):
        found = hf.replicability(SELECTOR, *draw(80, effect, seed), n_pairs=25, n_shuffles=10)
        assert abs(found.shuffled_agreement) < 0.08
        assert not any("shuffled" in caution for caution in found.cautions)


def test_the_control_leaves_everything_else_as_it_is():
    X, y = draw(80, 1.0, 9)
    with_control, without = (hf.replicability(SELECTOR, X, y, n_pairs=25, n_shuffles=n) for n in (5, 0))
    common = ["feature", "column", "probability", "frequency"]
    assert with_control.frame[common].equals(without.frame[common])
    assert without.frame[["by_habit", "expected_false", "q"]].isna().all(axis=None)
    assert without.real_sentence == ""
    assert set(without.corners) == {""}
    assert with_control.interval == without.interval
    assert math.isnan(without.shuffled_agreement)


def test_the_fits_are_counted():
    counted = []
    X, y = draw(60, 1.0, 10)

    class Counting(SelectKBest):
        def fit(self, X, y):
            counted.append(len(X))
            return super().fit(X, y)

    hf.replicability(Counting(k=3), X, y, n_pairs=12, n_shuffles=3)
    assert len(counted) == count_fits(12, 3) == 1 + 24 + 60


def test_the_rows_for_half_of_the_list_are_told_within_twice_those_of_the_data():
    sure = estimate_replicability(halves_of(25, 100, 10, 10), range(10), 60)
    assert sure.rows_sentence == "Half of them would be expected again with 30 rows already."
    some = estimate_replicability(halves_of(25, 100, 10, 3), range(10), 60)
    assert some.rows_for_half is None or 30 < some.rows_for_half <= 120
    few = estimate_replicability(halves_of(25, 100, 10, 2), range(10), 60)
    assert few.beyond_chance
    assert few.rows_sentence.startswith(
        "Half of them would be expected again only with more than 120 rows; how many more is"
    )
    chance = estimate_replicability(halves_of(25, 100, 10, 0), range(10), 60)
    assert chance.rows_sentence == ""
    unknown = estimate_replicability(hf.Preferences.from_matrix(np.zeros((40, 9), int)), [], 50)
    assert unknown.rows_sentence == ""
    assert unknown.to_dict()["rows_for_half"] is None


def test_the_rows_for_half_are_the_fewest_with_which_half_is_expected():
    found = estimate_replicability(halves_of(25, 40, 10, 4), range(10), 60)
    enough, too_few = (
        10 * (0.75 * found.agreement_at(rows) + 0.25) for rows in (found.rows_for_half, found.rows_for_half - 1)
    )  # of 10 selected features a quarter is expected again by chance
    assert too_few < 5 <= enough


def test_what_a_study_found_is_asked_about_and_reported(tmp_path):
    X, y = draw(60, 1.0, 11)
    selectors = {"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[4, 8])}
    study = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(10))
    result = study.run(X, y, store=tmp_path / "s.db")
    found = hf.replicability(result, X, y, n_pairs=12, n_shuffles=0)
    assert found.candidate in result.candidates
    assert find_stored(load_study(tmp_path / "s.db"), found.candidate).sentence == found.sentence
    hf.replicability(result, X[:, ::-1], y, n_pairs=12, n_shuffles=0)
    assert find_stored(load_study(tmp_path / "s.db"), found.candidate).sentence == found.sentence  # not of other data
    in_memory = study.run(X, y)
    summary = summarize(in_memory, replicability=found)
    assert summary.candidate == found.candidate
    assert summary.replication.sentence == found.sentence
    assert summarize(in_memory, replicability=found, level=0.5).replication.low > summary.replication.low
    other = next(name for name in result.candidates if name != found.candidate)
    with pytest.raises(ValueError, match=r"Expected the replicability of .*, which the report shows, got that of"):
        in_memory.report(tmp_path / "r.html", candidate=other, replicability=found)
    with pytest.raises(ValueError, match="got results that were read from a store"):
        hf.replicability(load_study(tmp_path / "s.db"), X, y)
