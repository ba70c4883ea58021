"""Which features hold, and which take turns."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.stats import binom, fisher_exact
from statsmodels.stats.proportion import proportion_confint

import holdfast as hf
from holdfast.datasets import make_selections
from holdfast.inference import features
from strategies import subset_runs

RUNS = make_selections(stability=0.5, size=6, n_features=30, n_runs=25, fixed_size=True, random_state=1)
COLUMNS = ["first", "second", "both", "only_first", "only_second", "neither", "correlation", "p_value"]


# How often each feature was selected


def truncated_tails(c, n, p):
    """P(X ≤ c) and P(X ≥ c) of a binomial count that is at least 1, summed term by term."""
    mass = binom.pmf(np.arange(n + 1), n, p)[1:] / (1 - (1 - p) ** n)
    return mass[:c].sum(), mass[c - 1 :].sum()


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [2, 10, 57])
def test_intervals_are_exact_for_counts_that_are_at_least_one(n, level):
    counts = np.arange(n + 1)
    low, high = features.frequency_interval(counts, n, level)
    tail = (1 - level) / 2
    for c in counts[2:]:
        assert truncated_tails(c, n, low[c])[1] == pytest.approx(tail)
    for c in counts[1:-1]:
        assert truncated_tails(c, n, high[c])[0] == pytest.approx(tail)
    assert low[:2].tolist() == [0, 0]
    assert high[-1] == 1
    assert high[0] == pytest.approx(proportion_confint(0, n, alpha=1 - level, method="beta")[1])


def test_intervals_of_frequent_features_are_those_of_clopper_and_pearson():
    counts = np.array([20, 35, 49, 50])
    low, high = proportion_confint(counts, 50, method="beta")
    assert np.array(features.frequency_interval(counts, 50, 0.95)) == pytest.approx(np.array([low, high]), abs=1e-6)


@pytest.mark.parametrize("n", [5, 20, 100])
def test_rows_that_are_shown_are_covered_however_rare_they_are(n):
    low, high = features.frequency_interval(np.arange(n + 1), n, 0.95)
    for p in np.r_[np.linspace(0.0005, 0.05, 40), np.linspace(0.06, 0.999, 60)]:
        mass = binom.pmf(np.arange(n + 1), n, p)
        held = mass[(low <= p) & (p <= high) & (np.arange(n + 1) > 0)].sum() / mass[1:].sum()
        assert held >= 0.95


def test_the_table_holds_counts_intervals_and_order():
    table = hf.feature_table(RUNS, level=0.9)
    low, high = features.frequency_interval(table["count"].to_numpy(), 25, 0.9)
    assert table["low"].tolist() == low.tolist()
    assert table["high"].tolist() == high.tolist()
    assert table["count"].tolist() == [RUNS.counts[feature] for feature in table["feature"]]
    assert table["frequency"].tolist() == (table["count"] / 25).tolist()
    assert set(table["feature"]) == set(np.flatnonzero(RUNS.counts))
    assert table["feature"].tolist() == sorted(table["feature"], key=lambda feature: (-RUNS.counts[feature], feature))


@given(runs=subset_runs(proper=False))
@settings(max_examples=50)
def test_shares_of_the_variance_sum_to_one(runs):
    table = hf.feature_table(runs)
    total = table["variance_share"].sum()
    varies = ((table["frequency"] > 0) & (table["frequency"] < 1)).any()
    assert total == pytest.approx(1.0 if varies else 0.0)
    spread = table["frequency"] * (1 - table["frequency"])
    assert (table["variance_share"] * spread.sum()).to_numpy() == pytest.approx(spread.to_numpy())
    assert (table["variance_share"][table["frequency"] == 1] == 0).all()


def test_names_are_those_of_the_features():
    runs = hf.Preferences.from_sets(
        [["dose", "age"], ["age"], ["age", "sex"]], features=["sex", "age", "dose", "pulse"]
    )
    assert hf.feature_table(runs)["feature"].tolist() == ["age", "sex", "dose"]


def test_nothing_selected_leaves_an_empty_table():
    assert hf.feature_table(hf.Preferences.from_sets([set(), set()], n_features=3)).empty


# Swaps


def slow_swaps(runs):
    """All pairs that are selected together less often than by chance, by counting."""
    rows = []
    sets = [set(runs.selected(run)) for run in range(runs.n_runs)]
    for first, second in itertools.combinations(range(runs.n_features), 2):
        both, only_first, only_second, neither = (
            sum(((first in one), (second in one)) == here for one in sets)
            for here in ((True, True), (True, False), (False, True), (False, False))
        )
        table = [[both, only_first], [only_second, neither]]
        if both * neither < only_first * only_second:  # else they go together, or one of them never varies
            columns = np.array([[feature in one for one in sets] for feature in (first, second)], dtype=float)
            p_value = fisher_exact(table, alternative="less").pvalue
            correlation = np.corrcoef(columns)[0, 1]
            rows.append([first, second, both, only_first, only_second, neither, correlation, p_value])
    return pd.DataFrame(rows, columns=COLUMNS)


@given(runs=subset_runs(max_runs=9, max_features=7, proper=False))
@settings(max_examples=50)
def test_swaps_are_those_of_a_slow_count(runs):
    found, slow = hf.feature_swaps(runs, most=1000), slow_swaps(runs)
    pd.testing.assert_frame_equal(
        found.sort_values(["first", "second"], ignore_index=True), slow, check_dtype=False, atol=1e-9
    )
    assert (np.diff(found["correlation"]) >= -1e-12).all()


def test_only_the_strongest_are_returned():
    everything = hf.feature_swaps(RUNS, most=1000)
    assert len(everything) > 20
    assert len(hf.feature_swaps(RUNS)) == 20
    pd.testing.assert_frame_equal(hf.feature_swaps(RUNS, most=3), everything.head(3))
    assert hf.feature_swaps(RUNS, most=0).empty


def test_features_that_take_turns_come_first():
    rng = np.random.default_rng(2)
    sets = [{"always", "left" if turn else "right", f"noise {noise}"} for turn, noise in rng.integers(0, 2, (12, 2))]
    names = ["always", "left", "right", "noise 0", "noise 1", "never"]
    best = hf.feature_swaps(hf.Preferences.from_sets(sets, features=names), most=2)
    assert list(zip(best["first"], best["second"], strict=True)) == [("left", "right"), ("noise 0", "noise 1")]
    assert best["correlation"].tolist() == pytest.approx([-1, -1])
    assert (best[["both", "neither"]] == 0).all(axis=None)


@pytest.mark.parametrize(
    "sets", [[{0, 1}] * 5, [set()] * 5, [{0, 1, 2}] * 3, [{0}, {0, 1}, {0}], [{0, 1}, set(), {0, 1}]], ids=str
)
def test_no_swaps_where_nothing_takes_turns(sets):
    found = hf.feature_swaps(hf.Preferences.from_sets(sets, n_features=3))
    assert found.empty
    assert list(found) == COLUMNS


def test_of_many_features_those_that_vary_most_are_looked_at(monkeypatch):
    monkeypatch.setattr(features, "SWAP_CANDIDATES", 4)
    middle = np.argsort(np.abs(RUNS.counts - 12.5), kind="stable")[:4]
    found = hf.feature_swaps(RUNS, most=1000)
    slow = slow_swaps(RUNS)
    inside = slow[slow["first"].isin(middle) & slow["second"].isin(middle)]
    assert set(zip(found["first"], found["second"], strict=True)) == set(
        zip(inside["first"], inside["second"], strict=True)
    )
    assert len(found) > 0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: hf.feature_table(RUNS, level=1.5), ValueError, "level between 0 and 1, such as 0.95, got 1.5"),
        (lambda: hf.feature_table(hf.Preferences.from_weights([[1, 2]])), TypeError, r"cut them with \.top\(k\)"),
        (lambda: hf.feature_swaps(hf.Preferences.from_rankings([[1, 2]])), TypeError, r"cut them with \.top\(k\)"),
    ],
)
def test_a_wrong_call_gets_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("first", "second", "standing"),
    [
        ((0.6, 0.9), (0.1, 0.4), "first only"),
        ((0.1, 0.4), (0.6, 0.9), "second only"),
        ((0.6, 0.9), (0.55, 0.7), "both"),
        ((0.0, 0.1), (0.2, 0.4), "neither"),
        ((0.6, 0.9), (0.4, 0.6), "open"),  # not lost: the second interval does not say so
        ((0.5, 0.9), (0.1, 0.2), "open"),
    ],
)
def test_a_feature_is_lost_or_gained_only_if_both_intervals_say_so(first, second, standing):
    assert features.compare_frequencies(first, second) == standing
