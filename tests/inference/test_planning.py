"""How many runs are needed."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import holdfast as hf
from holdfast.datasets import make_selections, population_stability, selection_probabilities
from holdfast.measures.forms import random_collection, stacked

PILOT = make_selections(stability=0.6, size=5, n_features=30, n_runs=20, random_state=1)
UNANIMOUS = hf.Preferences.from_sets([{0, 1, 2}] * 8, n_features=20)


# After a pilot


@pytest.mark.parametrize("measure", ["nogueira", "jaccard"])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("half_width", [0.01, 0.02, 0.05])
def test_stein_s_rule_by_hand(half_width, level, measure):
    needed = hf.runs_needed(half_width, pilot=PILOT, measure=measure, level=level)
    estimate = hf.stability(PILOT, measure)
    variance = 20 * estimate.standard_error**2
    excess = max(0.0, stats.kurtosis(estimate.pseudo_values))
    t = stats.t.ppf(0.5 + level / 2, 2 / (2 / 19 + excess / 20))
    seen_share = estimate.distribution.unseen.seen_share_for(estimate.value - half_width)
    for_unseen = 1 + math.log(1.5 * (1 - level)) / math.log(seen_share)
    assert needed.n_runs == max(20, math.ceil(t**2 * variance / half_width**2), math.ceil(for_unseen))
    assert needed == hf.inference.Pilot(n_runs=needed.n_runs, half_width=half_width, estimate=estimate, level=level)


@pytest.mark.parametrize("half_width", [0.01, 0.03, 0.05])
def test_the_interval_after_all_runs_is_as_narrow_as_was_asked(half_width):
    needed = hf.runs_needed(half_width, pilot=PILOT)
    assert needed.n_runs > 20
    for n_runs, narrow in ((needed.n_runs, True), (needed.n_runs - 1, False)):
        found = hf.stability(make_selections(stability=0.6, size=5, n_features=30, n_runs=n_runs, random_state=2))
        low, high = needed.ci(found)
        assert (low + high) / 2 == pytest.approx(found.value)
        assert ((high - low) / 2 <= half_width) is narrow


@pytest.mark.parametrize("pilot", [PILOT, UNANIMOUS], ids=["varying", "unanimous"])
def test_never_fewer_runs_than_the_pilot_has(pilot):
    assert hf.runs_needed(0.9, pilot=pilot).n_runs == pilot.n_runs


def test_a_pilot_may_be_runs_a_matrix_or_an_estimate():
    asked = [
        hf.runs_needed(0.02, pilot=pilot, measure="jaccard")
        for pilot in (PILOT, PILOT.to_sparse().toarray(), hf.stability(PILOT, "jaccard"))
    ]
    assert asked[0] == asked[1] == asked[2]
    similarity = np.eye(30)
    needed = hf.runs_needed(0.02, pilot=PILOT, measure="pogr", similarity=similarity, threshold=0.5)
    assert needed.estimate.measure == "pogr(threshold=0.5)"
    assert repr(needed).startswith(f"{needed.n_runs} runs for ±0.02 at 95%, after a pilot of 20 (pogr")


@pytest.mark.parametrize("measure", ["nogueira", "jaccard", "hamming"])
@pytest.mark.parametrize(("half_width", "level"), [(0.01, 0.95), (0.05, 0.95), (0.05, 0.8)])
def test_a_unanimous_pilot_asks_for_the_runs_that_make_the_bound_narrow_enough(half_width, level, measure):
    needed = hf.runs_needed(half_width, pilot=UNANIMOUS, measure=measure, level=level)

    def lower_reach(n_runs):
        estimate = hf.stability(UNANIMOUS.take([0] * n_runs), measure)
        assert needed.ci(estimate) == estimate.ci(level)
        return estimate.value - estimate.ci(level).low

    assert needed.n_runs > 8
    assert lower_reach(needed.n_runs) <= half_width * (1 + 1e-9)
    assert lower_reach(needed.n_runs - 1) > half_width


def test_the_two_stage_rule_covers_after_pilots_that_all_agree():
    """5 % of the runs select at random: a third of the pilots see none of them."""
    p = np.full(50, 0.05 * 5 / 50)
    p[:5] += 0.95
    truth, held, unanimous = population_stability(p), 0, 0
    for seed in range(150):
        rng = np.random.default_rng([5, seed])

        def draw(n, rng=rng):
            strays = random_collection(np.full(n, 5), 50, rng).lists()[0].reshape(n, 5)
            return np.where(rng.random((n, 1)) < 0.05, strays, np.arange(5)).tolist()

        sets = draw(20)
        needed = hf.runs_needed(0.05, pilot=hf.Preferences.from_sets(sets, n_features=50))
        sets += draw(needed.n_runs - 20)
        low, high = needed.ci(hf.stability(hf.Preferences.from_sets(sets, n_features=50)))
        held += low <= truth <= high
        unanimous += needed.estimate.method == "bound"
    assert unanimous > 30
    assert held / 150 >= 0.92


def test_the_two_stage_rule_covers():
    p, half_width = selection_probabilities(0.6, 5, 20), 0.05
    truth, rng, replicates = population_stability(p), np.random.default_rng(2), 400
    held, wide, runs_in_all = 0, 0, []
    for _ in range(replicates):
        pilot = make_selections(p=p, n_runs=20, random_state=rng)
        needed = hf.runs_needed(half_width, pilot=pilot)
        runs = pilot
        if needed.n_runs > 20:
            runs = stacked(pilot, make_selections(p=p, n_runs=needed.n_runs - 20, random_state=rng))
        low, high = needed.ci(hf.stability(runs))
        wide += high - low > 2 * half_width + 1e-12
        held += low <= truth <= high
        runs_in_all.append(needed.n_runs)
    assert np.median(runs_in_all) > 40  # or the second stage was not tested
    assert wide / replicates < 0.1  # only where the pilot's runs happened to be far too alike
    assert held / replicates >= 0.92


def test_a_pilot_that_saw_too_little_is_not_believed():
    calm = make_selections(stability=0.9, size=5, n_features=30, n_runs=20, random_state=3)
    wild = make_selections(stability=0.3, size=5, n_features=30, n_runs=40, random_state=4)
    plan = hf.runs_needed(0.05, pilot=calm)
    found = hf.stability(stacked(calm, wild))
    assert plan.ci(found) == found.ci()
    assert np.diff(plan.ci(found)) > 2 * 0.05


# Before any run


@pytest.mark.parametrize("stability", [0.3, 0.7, 0.95])
@pytest.mark.parametrize(("size", "n_features"), [(3, 20), (10, 200)])
def test_a_plan_is_worst_where_runs_deviate_as_a_whole(stability, size, n_features):
    plans = [
        hf.runs_needed(half_width, stability=stability, size=size, n_features=n_features)
        for half_width in (0.02, 0.05, 0.1)
    ]
    for plan in plans:
        assert 3 <= plan.independent <= plan.worst
    for finer, coarser in pairwise(plans):
        assert finer.independent > coarser.independent
        assert finer.worst > coarser.worst
    surer = hf.runs_needed(0.05, stability=stability, size=size, n_features=n_features, level=0.99)
    assert surer.independent > plans[1].independent


def test_a_plan_for_random_choice_counts_what_pairs_add():
    plan = hf.runs_needed(0.05, stability=0, size=3, n_features=10)
    values = [
        hf.stability(make_selections(p=np.full(10, 0.3), n_runs=plan.independent, random_state=seed)).value
        for seed in range(300)
    ]
    assert 0.02 < 1.96 * np.std(values) < 0.06


@pytest.mark.parametrize("stability", [0.2, 0.7])
def test_a_plan_foretells_the_reach_of_the_interval(stability):
    """Of unstable selections by what varies, of stable ones by what 71 runs may have missed."""
    plan = hf.runs_needed(0.05, stability=stability, size=10, n_features=100)
    options = {"stability": stability, "size": 10, "n_features": 100, "n_runs": plan.independent}
    found = [hf.stability(make_selections(**options, random_state=seed)) for seed in range(60)]
    assert np.mean([one.value - one.ci().low for one in found]) == pytest.approx(0.05, rel=0.2)
    assert repr(plan) == (
        f"{plan.independent} runs (features selected independently) to {plan.worst} (all or nothing) "
        f"for ±0.05 at 95%, if the stability is {stability}"
    )


@pytest.mark.parametrize(
    ("half_width", "options", "words"),
    [
        (0, {"pilot": PILOT}, "half width above 0, got 0"),
        (-0.1, {"pilot": PILOT}, "half width above 0, got -0.1"),
        (np.nan, {"pilot": PILOT}, "half width above 0, got nan"),
        (0.1, {"pilot": PILOT, "level": 95}, "level between 0 and 1, such as 0.95, got 95"),
        (0.1, {"pilot": PILOT.take([0, 1])}, "pilot needs an interval, got .*; give it more runs"),
        (0.1, {"pilot": PILOT, "measure": "cw_rel"}, "pilot needs an interval, got cw_rel"),
        (0.1, {"pilot": PILOT, "measure": "jacard"}, "did you mean 'jaccard'"),
        (0.1, {}, "Pass a pilot, or stability=, size= and n_features="),
        (0.1, {"stability": 0.5, "size": 3}, "Pass a pilot, or stability="),
        (0.1, {"stability": 1.5, "size": 3, "n_features": 9}, "stability from 0 to 1"),
        (0.1, {"stability": 0.5, "size": 9, "n_features": 9}, "below the number of features"),
    ],
)
def test_a_wrong_call_gets_a_sentence(half_width, options, words):
    with pytest.raises(ValueError, match=words):
        hf.runs_needed(half_width, **options)
