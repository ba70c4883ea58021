"""What the table of measures declares is true, and what it denies is shown by a counter-example."""

import itertools
import math
from dataclasses import fields, replace
from functools import lru_cache
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast import testing
from holdfast.measures import Measure, OverlapPairs, Properties, Whole
from holdfast.measures.forms import random_collection
from strategies import rank_runs, subset_runs, weight_runs


def stand_ins(d):
    """Features 0 and 1 can stand in for each other."""
    s = np.eye(d)
    s[0, 1] = s[1, 0] = 0.97
    return s


@lru_cache
def similarity(d):
    """The same, made once, as expectations under chance are remembered with it."""
    return hf.similarity.GivenSimilarity(stand_ins(d))


def complete(measure, d=4):
    """The measure with all parameters set, for d features."""
    if measure.name == "davis":
        return measure.bind(alpha=0.5)
    return measure.bind(similarity=similarity(d)) if measure.similarity else measure


MEASURES = list(hf.MEASURES.values())
SUBSET = [measure for measure in MEASURES if measure.kind == "subset"]


def by_measures(chosen):
    return pytest.mark.parametrize("measure", chosen, ids=attrgetter("name"))


def without(name, measures=SUBSET):
    """Measures that the table does not simply grant this property."""
    return by_measures([measure for measure in measures if getattr(measure.properties, name) not in ("yes", None)])


def with_value(name, *values):
    return by_measures([measure for measure in SUBSET if getattr(measure.properties, name) in values])


@by_measures(MEASURES)
def test_what_a_measure_declares_is_true(measure):
    testing.check_measure(complete(measure))


def runs_of(measure):
    if measure.kind == "subset":
        return subset_runs(one_size=measure.one_size)
    return rank_runs() if measure.kind == "ranking" else weight_runs()


@by_measures(MEASURES)
@given(data=st.data())
@settings(max_examples=25)
def test_order_never_matters_and_bounds_hold(measure, data):
    runs = data.draw(runs_of(measure))
    d = runs.n_features
    bound = complete(measure, d)
    if not measure.similarity:
        testing.check_range(bound, runs)
        testing.check_maximum(bound, runs)
    testing.check_order(bound, runs, np.random.default_rng(data.draw(st.integers(0, 99))))

    order = np.array(data.draw(st.permutations(range(d))))  # of the features
    if runs.kind == "subset":
        moved = hf.Preferences.from_sets([order[run] for run in rows_of(runs)], n_features=d)
    else:
        moved = replace(runs, values=runs.matrix()[:, order])
    back = np.argsort(order)
    moved_bound = bound.bind(similarity=stand_ins(d)[np.ix_(back, back)]) if measure.similarity else bound
    assert testing.stability_value(moved, moved_bound) == pytest.approx(
        testing.stability_value(runs, bound), abs=1e-9, nan_ok=True
    )


def rows_of(runs):
    return [np.array(runs.selected(run), dtype=int) for run in range(runs.n_runs)]


UNCHANGED_BY_MORE_FEATURES = ["jaccard", "dice", "ochiai", "pog", "krizek", "lausser", "novovicova"]


@pytest.mark.parametrize("name", UNCHANGED_BY_MORE_FEATURES)
@given(data=st.data(), more=st.integers(1, 50))
@settings(max_examples=25)
def test_unselected_features_do_not_matter_where_they_must_not(name, data, more):
    runs = data.draw(subset_runs(one_size=hf.MEASURES[name].one_size))
    wider = replace(runs, n_features=runs.n_features + more)
    assert hf.stability(wider, name).value == pytest.approx(hf.stability(runs, name).value, abs=1e-12)


@with_value("monotone", "yes", "one size")
@given(data=st.data())
@settings(max_examples=25)
def test_monotone(measure, data):
    one_size = measure.one_size or measure.properties.monotone == "one size"
    one = data.draw(subset_runs(one_size=one_size))
    two = hf.Preferences.from_sets(
        [data.draw(st.permutations(range(one.n_features)))[:size] for size in one.sizes], n_features=one.n_features
    )
    testing.check_monotone(complete(measure, one.n_features), one, two)


# Counter-examples: whatever the table does not grant


@without("fully_defined")
def test_not_fully_defined(measure):
    with pytest.raises(ValueError, match=r"equally many features.*2 in run 0 and 1 in run 2"):
        hf.stability([[1, 1, 0], [1, 1, 0], [1, 0, 0]], complete(measure, 3))


@without("monotone")
@pytest.mark.slow
def test_not_monotone(measure):
    one_size = measure.properties.monotone == "no" and measure.one_size
    rng = np.random.default_rng(0)
    tries = (testing._two_collections(rng, one_size=one_size) for _ in range(5000))
    assert any(testing.violates_monotone(complete(measure, one.n_features), one, two) for one, two in tries)


def opposite_blocks(d):
    """Half of the runs select all but the last feature, the others only that."""
    return np.r_[[np.r_[np.ones(d - 1), 0]] * 2, [np.r_[np.zeros(d - 1), 1]] * 2]


def two_loners(d):
    """All features but two can stand in for each other; one run selects one of the two, the other the other."""
    s = np.full((d, d), 0.95)
    s[-2:, :] = s[:, -2:] = 0
    np.fill_diagonal(s, 1)
    runs = np.zeros((2, d))
    runs[0, -1] = runs[1, -2] = 1
    return runs, s


@without("bounded")
def test_not_bounded(measure):
    values = []
    for d in (10, 40, 160):
        if measure.name == "krizek":
            runs = np.eye(d)
        elif (measure.similarity and measure.name != "sechidis") or measure.name == "sechidis":
            runs, s = two_loners(d)
            measure = measure.bind(similarity=s)
        else:
            runs = opposite_blocks(d)
        values.append(abs(hf.stability(runs, measure).value))
    assert values[0] + 0.5 < values[1]
    assert values[1] + 0.5 < values[2]


TWINS = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]  # one run selects feature 0, the other its twin, feature 1
DENIES_MAXIMUM = {
    "lustgarten": [[1, 0, 0, 0]] * 3,  # runs agree, the value is not 1
    "goh": [[1, 0, 0, 0]] * 3,
    "davis": [[1, 0, 0, 0]] * 3,
    "wald": [[1, 1, 0, 0], [1, 0, 0, 0]],  # runs differ, the value is 1
    "cw_rel": [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0]],
    "weight_correlation": [[1, 2, 4], [2, 4, 8]],
    "used_again": [[1, 2, 0], [2, 1, 0]],
    "shared_importance": [[1, 2, 0], [2, 4, 0]],
}


@without("maximum", MEASURES)
def test_not_the_maximum(measure):
    if measure.similarity:
        s = np.eye(6)
        s[0, 1] = s[1, 0] = 1
        assert hf.stability(TWINS, measure, similarity=s).value == pytest.approx(measure.best)
        return
    runs = DENIES_MAXIMUM[measure.name]
    value = hf.stability(runs, complete(measure)).value
    agree = all(run == runs[0] for run in runs)
    assert (value < measure.range[1] - 0.1) if agree else value == pytest.approx(measure.best)


@without("chance")
def test_not_corrected_for_chance(measure):
    sizes = (1, 2, 3) if measure.properties.chance == "one size" else (2, 2, 2)
    assert abs(testing.mean_by_chance(complete(measure), sizes, 4)) > 1e-3


@with_value("chance", "asymptotic")
def test_corrected_for_chance_only_with_many_runs(measure):
    rng = np.random.default_rng(0)
    few, many = (
        np.mean([hf.stability(random_collection(np.full(M, 5), 10, rng), measure).value for _ in range(200)])
        for M in (5, 200)
    )
    assert abs(few) > 0.05
    assert abs(many) < 0.01


@pytest.mark.parametrize("name", ["spearman", "kendall", "canberra", "rank_variance"])
def test_rank_measures_are_zero_over_all_orders(name):
    orders = list(itertools.permutations((1, 2, 3)))
    values = [hf.stability(rows, name).value for rows in itertools.product(orders, repeat=3)]
    assert np.mean(values) == pytest.approx(0, abs=1e-12)


# The table itself


def test_every_measure_says_what_it_is():
    for measure in MEASURES:
        assert measure.summary
        assert measure.reference
        assert math.isnan(measure.best) or measure.range[0] <= measure.best <= measure.range[1]


def test_the_property_table_puts_print_and_truth_side_by_side():
    table = hf.measures.properties()
    assert list(table.index) == list(hf.MEASURES)
    assert table.loc["jaccard", ["monotone", "monotone, published"]].tolist() == ["no", "yes"]
    assert table.loc["guzman", ["chance", "chance, published"]].tolist() == ["asymptotic", "yes"]
    published = {item.name for item in fields(Properties)}
    assert {f"{name}, published" for name in published} <= set(table.columns)


def test_the_table_prints():
    text = repr(hf.MEASURES)
    assert all(name in text for name in hf.MEASURES)
    assert "<table>" in hf.MEASURES._repr_html_()
    assert len(hf.MEASURES) == len(MEASURES)


# A measure of one's own


def cosine_of_sizes(r, k1, k2, d):
    return np.minimum(k1, k2) / np.maximum(k1, k2)


def test_a_measure_of_ones_own_works_everywhere():
    mine = Measure(name="size_ratio", form=OverlapPairs(cosine_of_sizes), range=(0, 1))
    runs = hf.Preferences.from_sets([{0}, {1, 2}, {0, 1, 2, 3}], n_features=6)
    assert hf.stability(runs, mine).value == pytest.approx((1 / 2 + 1 / 4 + 1 / 2) / 3)
    assert [one.measure for one in hf.stability(runs, ["jaccard", mine])] == ["jaccard", "size_ratio"]
    assert hf.inference.agreement(runs, runs, mine).value == 1
    testing.check_measure(mine)


@pytest.mark.parametrize(
    ("claim", "form"),
    [
        ("maximum", OverlapPairs(cosine_of_sizes)),
        ("chance", OverlapPairs(lambda r, k1, k2, d: r / np.maximum(k1, k2))),
        ("monotone", OverlapPairs(lambda r, k1, k2, d: 1.0 * (r > 1))),
        ("bounded", Whole(lambda runs: float(runs.sizes.sum()))),
        ("fully_defined", OverlapPairs(lambda r, k1, k2, d: np.where(r == 0, math.nan, 1.0))),
    ],
)
def test_a_false_claim_is_found(claim, form):
    honest = Properties("no", "no", "no", "no", "no")
    measure = Measure(
        name="mine",
        form=form,
        range=(0, 1) if claim == "bounded" else (0, math.inf),
        properties=replace(honest, **{claim: "yes"}),
    )
    with pytest.raises(AssertionError, match="mine"):
        testing.check_measure(measure)


def test_a_measure_that_depends_on_the_order_of_runs_is_found():
    first = Measure(name="first", form=Whole(lambda runs: float(runs.sizes[0])))
    with pytest.raises(AssertionError, match="another order"):
        testing.check_measure(first)
