"""Tests over data sets: against slow oracles, scipy, published examples, and on noise."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from holdfast.benchmarking.result import make_verdict
from holdfast.inference import POST_HOC_TESTS, bayesian_signed_rank, compare_ranks, friedman
from holdfast.inference.ranks import (
    MAX_ENUMERATED,
    critical_difference,
    make_blocks,
    permutation_p_value,
    signed_rank_posterior,
    signed_rank_test,
)
from holdfast.references import REFERENCES

# Demšar (2006), Table 6: AUC of C4.5, with tuned m, with tuned cf, and with both, on 14 data sets. The paper ranks the
# third above the fourth on the data set voting, where both are printed as 0.975: the digits that were rounded away.
DEMSAR = pd.DataFrame(
    [
        (0.763, 0.768, 0.771, 0.798), (0.599, 0.591, 0.590, 0.569), (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657), (0.882, 0.888, 0.886, 0.898), (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685), (0.583, 0.583, 0.563, 0.625), (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000), (0.940, 0.962, 0.965, 0.962), (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9751, 0.975), (0.957, 0.978, 0.946, 0.970),
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)  # fmt: skip
TABLES = st.integers(2, 7).flatmap(
    lambda n: st.integers(2, 5).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 6).map(lambda value: value / 10), min_size=k, max_size=k), min_size=n, max_size=n
        )
    )
)


# Friedman


def test_the_worked_example_of_demsar():
    test = friedman(DEMSAR, correct_ties=False)
    assert np.round(test.mean_ranks, 3).tolist() == [3.143, 2.000, 2.893, 1.964]
    assert round(test.chi_square, 2) == 9.28
    assert round(test.f_statistic, 2) == 3.69
    assert (test.degrees, test.f_degrees) == (3, (3, 39))
    assert test.p_f < 0.05
    assert test.best == "C4.5+m+cf"
    nemenyi = compare_ranks(DEMSAR, "nemenyi")
    assert round(nemenyi.critical_difference, 2) == 1.25
    assert not nemenyi.pairs["different"].any()  # "the post-hoc test is not powerful enough", at 5 %
    at_ten = compare_ranks(DEMSAR, "nemenyi", level=0.9)
    assert round(at_ten.critical_difference, 2) == 1.12
    assert at_ten.different == {("C4.5+m", "C4.5"), ("C4.5+m+cf", "C4.5")}


def test_the_control_of_demsar_with_holm():
    z = compare_ranks(DEMSAR, "mean-ranks", control="C4.5").pairs.set_index("second")
    assert (-z["statistic"]).tolist() == pytest.approx([2.342, 0.512, 2.416], abs=1e-3)  # he divides by a rounded 0.488
    assert z["p_value"].tolist() == pytest.approx([0.019, 0.607, 0.016], abs=2e-3)
    assert z["different"].to_dict() == {"C4.5+m": True, "C4.5+cf": False, "C4.5+m+cf": True}


@given(TABLES)
def test_friedman_is_that_of_scipy_and_of_a_slow_oracle(rows):
    values = np.array(rows)
    test = friedman(values)
    slow = np.array([[1 + (row > one).sum() + ((row == one).sum() - 1) / 2 for one in row] for row in values])
    assert np.allclose(test.mean_ranks, slow.mean(axis=0))
    if all(len(set(row)) == 1 for row in rows):
        assert (test.chi_square, test.f_statistic, test.p_value) == (0, 0, 1)
    elif values.shape[1] > 2:
        expected = stats.friedmanchisquare(*values.T)
        assert test.chi_square == pytest.approx(expected.statistic)
        assert test.p_chi_square == pytest.approx(expected.pvalue)
    n, k = values.shape
    if not math.isinf(test.f_statistic):
        assert test.f_statistic == pytest.approx((n - 1) * test.chi_square / (n * (k - 1) - test.chi_square))
        assert test.p_f == pytest.approx(stats.f.sf(test.f_statistic, *test.f_degrees))


def test_friedman_agrees_with_statsmodels_blocks():
    oneway = pytest.importorskip("statsmodels.stats.anova")
    ranks = make_blocks(DEMSAR).ranks  # Iman and Davenport's F is that of an analysis of variance of the ranks
    tall = pd.DataFrame(ranks).melt(ignore_index=False, var_name="candidate").reset_index(names="dataset")
    table = oneway.AnovaRM(tall, "value", "dataset", within=["candidate"]).fit().anova_table
    assert friedman(DEMSAR).f_statistic == pytest.approx(table["F Value"].iloc[0])


@given(TABLES.filter(lambda rows: len(rows) <= 3 and len(rows[0]) <= 3))
def test_the_permutation_p_value_counts_all_orders(rows):
    ranks = make_blocks(np.array(rows)).ranks
    observed = ranks.sum(axis=0).var()
    all_orders = [
        np.sum(choice, axis=0).var() for choice in itertools.product(*(itertools.permutations(row) for row in ranks))
    ]
    expected = np.mean([value >= observed - 1e-9 for value in all_orders])
    assert permutation_p_value(ranks) == (pytest.approx(expected), True)


def test_drawn_permutations_come_close_to_all_of_them(monkeypatch):
    ranks = make_blocks(np.random.default_rng(3).normal([0, 0.5, 1.5], size=(5, 3))).ranks
    counted, exact = permutation_p_value(ranks)
    assert exact
    monkeypatch.setattr("holdfast.inference.ranks.math.factorial", lambda k: 10**6)
    drawn, exact = permutation_p_value(ranks)
    assert not exact
    assert drawn == pytest.approx(counted, abs=5 / math.sqrt(MAX_ENUMERATED))
    assert permutation_p_value(ranks)[0] == drawn


def test_perfect_agreement_of_few_data_sets_is_not_overrated():
    test = friedman(np.array([[3.0, 2.0, 1.0]] * 2))
    assert math.isinf(test.f_statistic)
    assert test.p_f == 0  # the approximation; by chance two data sets agree in one of six cases
    assert test.p_value == pytest.approx(1 / 6) == test.smallest_p


TWO_SETS = "a comparison needs two data sets with values of all candidates, and there"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[0.1, 0.2, 0.3]], f"{TWO_SETS} is 1"),
        ([[0.1], [0.2]], "a comparison needs two candidates that have values, and there is 1"),
        ([[0.1, np.nan], [np.nan, 0.2]], f"{TWO_SETS} are 0"),
        (np.empty((0, 3)), f"{TWO_SETS} are 0"),
    ],
)  # fmt: skip
def test_too_little_is_undefined_with_a_reason(values, reason):
    test, pairs, posterior = friedman(values), compare_ranks(values), bayesian_signed_rank(values)
    assert test.reason == pairs.reason == posterior.reason == reason
    assert math.isnan(test.p_value)
    assert not pairs.pairs["different"].any()
    assert posterior.pairs[["first_better", "equivalent", "second_better"]].isna().all(axis=None)
    assert reason in repr(test)
    assert make_verdict("stability", test, pairs).headline.endswith(f"{reason}.")


def test_incomplete_data_sets_are_left_out_and_said():
    values = DEMSAR.assign(never=np.nan).rename(index=lambda place: f"set {place}")
    values.iloc[2, 1] = np.nan
    test = friedman(values)
    assert test.n_datasets == 13
    assert test.candidates == tuple(DEMSAR.columns)
    assert test.note == "Left out: never (no value on any data set) and the data set set 2 (not all values)."
    assert test.p_value == friedman(DEMSAR.drop(index=2)).p_value


def test_lower_values_can_be_better():
    up, down = friedman(DEMSAR), friedman(-DEMSAR, higher_is_better=False)
    assert up == down


# Pairs


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=9))
def test_the_signed_rank_test_counts_all_signs(differences):
    moved = np.array([value for value in differences if value], dtype=float)
    found = signed_rank_test(np.array(differences, dtype=float))
    if not moved.size:
        assert found.p_value == 1
        return
    ranks = stats.rankdata(np.abs(moved))
    sums = np.array([ranks[np.array(signs)].sum() for signs in itertools.product([True, False], repeat=moved.size)])
    low = min(ranks[moved > 0].sum(), ranks[moved < 0].sum())
    assert found.p_value == pytest.approx(min(1, 2 * (sums <= low).mean()))
    assert found.positive + found.negative == pytest.approx(ranks.sum())


@pytest.mark.parametrize("n", [6, 15, 40])
def test_the_signed_rank_test_is_that_of_scipy_without_ties(n):
    differences = np.random.default_rng(n).normal(0.3, 1, n)
    assert signed_rank_test(differences).p_value == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


def test_pairs_are_corrected_by_holm():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    for test in ("wilcoxon", "mean-ranks"):
        pairs = compare_ranks(DEMSAR, test).pairs
        assert np.allclose(pairs["p_corrected"], multitest.multipletests(pairs["p_value"], method="holm")[1])


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (10, 3.164)])
def test_critical_values_are_those_of_demsar(k, q):
    assert critical_difference(24, k) / math.sqrt(k * (k + 1) / (6 * 24)) == pytest.approx(q, abs=1e-3)  # his Table 5


def test_nemenyi_pairs_differ_from_the_critical_difference_on():
    pairs = compare_ranks(DEMSAR, "nemenyi", level=0.9)
    beyond = pairs.pairs["rank_difference"].abs() >= pairs.critical_difference
    assert (beyond == pairs.pairs["different"]).all()


def test_mean_ranks_of_a_pair_depend_on_the_pool_and_signed_ranks_do_not():
    rng = np.random.default_rng(0)
    pair = pd.DataFrame({"a": rng.normal(size=12), "b": rng.normal(0.6, 1, size=12)})
    between = pair.assign(**{f"c{place}": (pair["a"] + pair["b"]) / 2 + place / 1000 for place in range(5)})
    alone, pooled = (compare_ranks(table, "mean-ranks").pairs.iloc[0] for table in (pair, between))
    assert pooled["p_value"] < alone["p_value"]
    assert compare_ranks(pair).pairs.iloc[0]["p_value"] == compare_ranks(between).pairs.iloc[0]["p_value"]
    assert "depends on which other candidates take part" in compare_ranks(pair, "nemenyi").note
    assert compare_ranks(pair).note == ""


def test_letters_join_what_was_not_shown_to_differ():
    rng = np.random.default_rng(1)
    values = pd.DataFrame(rng.normal(size=(20, 3)) / 10 + [0, 0, 2], columns=["a", "b", "c"])
    assert compare_ranks(values).letters == {"c": "a", "a": "b", "b": "b"}
    assert compare_ranks(values).different == {("c", "a"), ("c", "b")}


def test_wrong_options_are_told():
    with pytest.raises(ValueError, match=r"Expected a post-hoc test \(wilcoxon, nemenyi, mean-ranks\), got 'tukey'"):
        compare_ranks(DEMSAR, "tukey")
    with pytest.raises(ValueError, match=r"as control, got 'C5'"):
        compare_ranks(DEMSAR, control="C5")
    with pytest.raises(ValueError, match=r"for control='C4\.5' take 'wilcoxon' or 'mean-ranks'"):
        compare_ranks(DEMSAR, "nemenyi", control="C4.5")
    with pytest.raises(ValueError, match=r"at least 0, got rope=-1"):
        bayesian_signed_rank(DEMSAR, rope=-1)
    with pytest.raises(ValueError, match="Expected at least one draw"):
        bayesian_signed_rank(DEMSAR, n_draws=0)


def test_every_post_hoc_test_cites_what_is_known():
    assert all(test.about.reference in REFERENCES for test in POST_HOC_TESTS.values())
    for key in (
        "demsar2006", "friedman1937", "imandavenport1980", "nemenyi1963", "holm1979", "benavoli2014", "benavoli2016",
        "benavoli2017",
    ):  # fmt: skip
        assert REFERENCES[key].bibtex.startswith("@")


# Bayes


def slow_posterior(differences, rope, n_draws, seed):
    """The published algorithm, draw by draw and pair by pair."""
    points = [0.0, *differences]
    wins = np.zeros(3)
    for weights in np.random.default_rng(seed).dirichlet([0.5, *[1.0] * len(differences)], n_draws):
        region = np.zeros(3)
        for (a, x), (b, y) in itertools.product(zip(weights, points, strict=True), repeat=2):
            mean = round((x + y) / 2, 12)
            region[0 if mean > rope else 2 if mean < -rope else 1] += a * b
        wins[np.argmax(region)] += 1
    return wins / n_draws


@pytest.mark.parametrize("rope", [0.005, 0.02])
def test_the_posterior_is_that_of_the_published_algorithm(rope):
    differences = (DEMSAR["C4.5+m+cf"] - DEMSAR["C4.5"]).to_numpy()
    found = signed_rank_posterior(differences, rope=rope, n_draws=300, random_state=5)
    assert np.allclose(found, slow_posterior(differences, rope, 300, 5))
    assert sum(found) == pytest.approx(1)


def test_the_posterior_is_symmetric_and_seeded():
    table = DEMSAR[["C4.5", "C4.5+m"]]
    there, back = (bayesian_signed_rank(table[list(order)]).pairs.iloc[0] for order in (table, table.columns[::-1]))
    assert there["first_better"] == back["second_better"]
    assert bayesian_signed_rank(table, random_state=1).pairs.equals(bayesian_signed_rank(table, random_state=1).pairs)


def test_equal_candidates_are_equivalent_and_without_a_region_undecided():
    same = pd.DataFrame({"a": np.arange(5.0), "b": np.arange(5.0)})
    assert bayesian_signed_rank(same).pairs["equivalent"].iloc[0] == 1
    row = bayesian_signed_rank(same, rope=0).pairs.iloc[0]
    assert (row["first_better"], row["equivalent"], row["second_better"]) == (0.5, 0.0, 0.5)


# Noise


@pytest.mark.parametrize(
    ("n", "k"), [(8, 3), *(pytest.param(*one, marks=pytest.mark.slow) for one in [(3, 4), (5, 2), (5, 6), (12, 4)])]
)
def test_claims_on_noise_are_rare_and_pairs_only_named_if_something_was_shown(n, k):
    rng = np.random.default_rng([n, k])
    shown = []
    for _ in range(200):
        blocks = make_blocks(rng.normal(size=(n, k)).round(1))  # with ties
        verdict = make_verdict("stability", friedman(blocks), compare_ranks(blocks))
        assert verdict.shown == verdict.headline.startswith("There are differences")
        assert verdict.shown or not any("more stable than" in sentence for sentence in verdict.sentences)
        shown.append(verdict.shown)
    assert np.mean(shown) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_a_large_difference_is_shown_and_named(seed):
    values = np.random.default_rng(seed).normal([0.9, 0.5, 0.4], 0.01, size=(12, 3))
    blocks = make_blocks(pd.DataFrame(values, columns=["lasso", "anova", "forest"]))
    verdict = make_verdict("stability", friedman(blocks), compare_ranks(blocks))
    assert verdict.shown
    assert "lasso is more stable than anova, forest" in verdict.sentences[1]


def test_what_few_data_sets_cannot_show_is_said():
    values = pd.DataFrame(np.arange(12.0).reshape(3, 4) * [1, 2, 3, 4])
    blocks = make_blocks(values[[0, 1]])
    verdict = make_verdict("accuracy", friedman(blocks), compare_ranks(blocks))
    assert verdict.headline == (
        "No difference in accuracy was shown between 2 candidates over 3 data sets "
        "(Wilcoxon's signed-rank test, p = 0.25)."
    )
    assert "With 3 data sets none could have been shown" in verdict.sentences[0]
    blocks = make_blocks(values)
    verdict = make_verdict("accuracy", friedman(blocks), compare_ranks(blocks))
    assert verdict.shown
    assert "with 3 data sets none could, because the smallest possible p of 6 pairs is 1" in verdict.sentences[1]
