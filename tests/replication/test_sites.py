"""New studies at other sites, and at the same sites."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import LeaveOneGroupOut

import holdfast as hf
from holdfast.kernels.filters import adjusted, partial_f
from holdfast.replication.sites import halve_rows, halve_sites
from holdfast.selectors import AnovaF
from holdfast.study.data import prepare_data


def draw(n_sites, seed=0, rows=24, spread=1.0, d=30):
    """Four features with an effect at every site, ten with another effect at each."""
    rng = np.random.default_rng(seed)
    sites, y = np.repeat(np.arange(n_sites), rows), np.tile([0, 1], n_sites * rows // 2)
    X = rng.normal(size=(y.size, d)) + rng.normal(size=(n_sites, d))[sites]
    X[:, :4] += 0.8 * y[:, None]
    X[:, 4:14] += spread * y[:, None] * rng.normal(size=(n_sites, 10))[sites]
    return X, y, sites


@pytest.mark.parametrize(("n_sites", "n_pairs", "expected"), [(4, 50, 3), (5, 50, 10), (6, 50, 10), (12, 30, 30)])
def test_halves_of_sites_are_different_and_share_none(n_sites, n_pairs, expected):
    pairs = halve_sites(n_sites, n_pairs, seed=1)
    assert len(pairs) == expected
    assert len({frozenset(pair) for pair in pairs}) == expected
    for half, other in pairs:
        assert not half & other
        assert half | other == set(range(n_sites))
        assert abs(len(half) - len(other)) <= 1
    assert pairs == halve_sites(n_sites, n_pairs, seed=1)


def test_halves_of_rows_have_half_of_each_site_and_class_and_whole_groups():
    X, y, sites = draw(5, rows=20)
    groups = np.arange(100) // 2
    for given, apart in ((None, 1), (groups, 2)):
        data = prepare_data(X, y, given, (), None, None, sites=sites)
        halves = halve_rows(data, sites, 3, seed=0)
        for first, second in zip(halves[::2], halves[1::2], strict=True):
            assert sorted([*first, *second]) == list(range(100))
            counts = np.array([np.bincount(2 * sites[half] + y[half], minlength=10) for half in (first, second)])
            assert np.abs(counts[0] - counts[1]).max() <= apart
            if given is not None:
                assert not set(groups[first]) & set(groups[second])


def test_the_agreement_of_halved_sites_is_that_of_fits_to_their_rows():
    X, y, sites = draw(4)
    answer = hf.replication.site_replicability(AnovaF(6), X, y, sites=sites, n_pairs=10)

    def best(half):
        rows = np.flatnonzero(np.isin(sites, list(half)))
        site = sites[rows][:, None] == np.unique(sites[rows])[1:]
        shared = adjusted(X[rows], 1.0 * (y[rows][:, None] == [0, 1]), 1.0 * site)
        f = partial_f(shared, np.ones((1, rows.size)))[0][0]
        return set(np.argsort(-f)[:6])

    shared = [len(best(half) & best({0, 1, 2, 3} - set(half))) for half in ([0, 1], [0, 2], [0, 3])]
    expected = np.mean([(n - 36 / 30) / (6 - 36 / 30) for n in shared])
    assert answer.half_agreement == pytest.approx(expected)
    assert (answer.n_pairs, answer.n_left_out) == (3, 0)


def test_other_sites_share_less_than_the_same_ones_where_effects_differ():
    other, same = [], []
    for seed in range(4):
        X, y, sites = draw(6, seed, rows=40, spread=2.0)
        answer = hf.replication.site_replicability(AnovaF(8), X, y, sites=sites, n_pairs=10)
        other.append(answer.expected)
        same.append(answer.same_sites.expected)
        assert answer.interval.low < answer.agreement < answer.interval.high
    assert np.mean(other) + 1 < np.mean(same)
    assert answer.sentence.startswith("At other sites a new study of this size would be expected to select ")
    assert f"; at the same sites {round(answer.same_sites.expected)} (" in answer.sentence
    assert list(answer.to_frame()["new study"]) == ["at other sites", "at the same sites"]
    assert answer.to_dict()["n_sites"] == 6


def test_selections_at_single_sites_are_compared_within_and_between_them():
    X, y, sites = draw(6, 1, rows=48, spread=2.5)
    answer = hf.replication.site_replicability(AnovaF(6), X, y, sites=sites, n_pairs=10)
    data = prepare_data(X, y, None, (), None, None, sites=sites)
    halves = halve_rows(data, sites, 10, 0)

    def members(rows):
        shared = adjusted(X[rows], 1.0 * (y[rows][:, None] == [1]), np.empty((rows.size, 0)))
        f = partial_f(shared, np.ones((1, rows.size)))[0][0]
        return np.isin(np.arange(30), np.argsort(-f)[:6])

    within, between = [], []
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        one, other = ([members(half[sites[half] == site]) for site in range(6)] for half in (first, second))
        correlations = np.corrcoef(one, other)[:6, 6:]
        within += np.diag(correlations).tolist()
        between += correlations[~np.eye(6, dtype=bool)].tolist()
    assert (answer.within, answer.between) == pytest.approx((np.mean(within), np.mean(between)))
    assert answer.difference.low > 0
    assert "Selections from halves of one site agree" in str(answer)
    alike = hf.replication.site_replicability(AnovaF(6), *draw(6, 1, spread=0.0)[:2], sites=draw(6)[2], n_pairs=10)
    assert alike.difference.low < 0 < alike.difference.high


def test_few_sites_have_no_interval_and_fewer_no_answer():
    X, y, sites = draw(5)
    answer = hf.replication.site_replicability(AnovaF(6), X, y, sites=sites, n_pairs=10)
    assert np.isnan(answer.interval.low)
    assert "(no interval below six sites)" in answer.sentence
    with pytest.raises(ValueError, match="Expected at least 4 sites to halve, got 3"):
        hf.replication.site_replicability(AnovaF(6), X[:72], y[:72], sites=sites[:72])
    with pytest.raises(ValueError, match="Expected sites= for a new study at other sites, got none"):
        hf.replication.site_replicability(AnovaF(6), X, y)


def test_halves_that_lack_a_class_are_left_out_and_counted():
    X, y, sites = draw(6)
    y = np.where(sites > 2, 0, y)  # three sites have one class alone: one of ten halvings puts them together
    answer = hf.replication.site_replicability(AnovaF(4), X, y, sites=sites, n_pairs=10)
    assert answer.n_left_out == 1
    assert "10 pairs of halves of them, 1 left out" in str(answer)


def test_a_single_new_site_is_asked_by_leaving_one_out():
    X, y, sites = draw(5)
    result = hf.Study(AnovaF(4), LeaveOneGroupOut()).run(X, y, groups=sites)
    assert result.n_splits == 5
    for site, split in enumerate(result.splits.itertuples()):
        assert split.test_rows.tolist() == np.flatnonzero(sites == site).tolist()


@pytest.mark.parametrize("ask", [hf.replicability, hf.replication.site_replicability])
def test_weights_of_rows_count(ask):
    X, y, sites = draw(4)
    weights = np.where(sites == 0, 1000.0, 0.001)
    plain, weighted = (
        ask(hf.Study(AnovaF(4), adjust=False), X, y, sites=sites, n_pairs=10, **given)
        for given in ({}, {"sample_weight": weights})
    )
    assert plain.agreement != weighted.agreement
    with pytest.raises(ValueError, match="SelectKBest"):
        ask(SelectKBest(k=4), X, y, sites=sites, n_pairs=10, sample_weight=weights)


def test_the_command_answers_for_both(tmp_path, printed_by):
    X, y, sites = draw(4, d=16)
    table = pd.DataFrame(X).add_prefix("g").assign(ill=np.where(y, "yes", "no"), center=sites)
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = ("replicate", str(tmp_path / "t.csv"), "--target", "ill", "--sites", "center", "-s", "anova:k=3")
    printed = printed_by(*arguments, "--pairs", "20", "--quiet", code=0).out
    printed = " ".join(printed.split())
    assert "At other sites a new study of this size would be expected to select" in printed
    assert "Selections from halves of one site agree" in printed
    table[table["center"] < 3].to_csv(tmp_path / "t.csv", index=False)
    few = " ".join(printed_by(*arguments, "--pairs", "20", "--shuffles", "0", "--quiet", code=0).out.split())
    assert "other sites would select is not known: at least 4 sites can be halved, got 3. At the same sites:" in few
    assert "A new study of this size would be expected to select" in few
