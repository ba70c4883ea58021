"""Standard errors, intervals and tests of single stabilities."""

import math
from functools import lru_cache
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma, norm
from scipy.stats import t as student

import holdfast as hf
from holdfast.datasets import load_example, make_selections
from holdfast.inference import intervals
from holdfast.inference.estimate import bind_similarity, evaluate
from holdfast.inference.intervals import asymptotic_variance
from holdfast.measures.forms import FEW_RUNS, mean_over_pairs, pair_roughness
from strategies import rank_runs, subset_runs, weight_runs

WITH_INTERVAL = [measure for measure in hf.MEASURES.values() if not measure.no_interval]
by_measure = pytest.mark.parametrize("measure", WITH_INTERVAL, ids=attrgetter("name"))
undefined_is_fine = pytest.mark.filterwarnings("ignore::holdfast.UndefinedStabilityWarning")


@lru_cache
def similarity(d):
    """Features 0 and 1 can stand in for each other; made once, as expectations under chance are remembered with it."""
    s = np.eye(d)
    s[0, 1] = s[1, 0] = 0.97
    return hf.similarity.GivenSimilarity(s)


def complete(measure, d):
    return measure.bind(similarity=similarity(d)) if measure.similarity else measure


def runs_of(measure, **options):
    if measure.kind == "subset":
        return subset_runs(one_size=measure.one_size, **options)
    return rank_runs() if measure.kind == "ranking" else weight_runs()


def without(runs, run):
    return runs.take([other for other in range(runs.n_runs) if other != run])


def tally_of(runs, measure):
    ready = bind_similarity([measure], runs, None)
    return evaluate(runs, ready)[0]


@undefined_is_fine
@by_measure
@given(data=st.data())
@settings(max_examples=20)
def test_values_without_each_run_are_those_of_the_other_runs(measure, data):
    runs = data.draw(runs_of(measure))
    measure = complete(measure, runs.n_features)
    deleted = tally_of(runs, measure).leave_one_out()
    expected = [hf.stability(without(runs, run), measure).value for run in range(runs.n_runs)]
    assert deleted == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ["jaccard", "pog", "pearson", "spearman", "kendall", "canberra", "rank_variance",
                                  "rank_biased_overlap", "yu", "gulgezen", "zucknick"])  # fmt: skip
def test_roughness_is_what_a_least_squares_fit_of_runs_leaves(name):
    rng = np.random.default_rng(0)
    weights = hf.Preferences.from_weights(rng.normal(size=(9, 12)) + np.linspace(2, 0, 12))
    measure = complete(hf.MEASURES[name], 12)
    runs = weights.top(5) if measure.kind == "subset" else weights.to_ranking()
    (ready,) = bind_similarity([measure], runs, None)
    kernel = ready.form.kernel(runs, ready)
    first, second = np.triu_indices(9, 1)
    design = np.zeros((first.size, 9))
    design[np.arange(first.size), first] = design[np.arange(first.size), second] = 1
    residual = kernel[first, second] - design @ np.linalg.lstsq(design, kernel[first, second], rcond=None)[0]
    expected = (residual**2).sum() / (first.size - 9)
    assert pair_roughness(kernel) == pytest.approx(expected)
    assert tally_of(runs, measure).roughness == pytest.approx(expected)


@pytest.mark.parametrize("n_runs", [12, FEW_RUNS + 1])
def test_roughness_of_nogueira_is_the_larger_of_what_features_and_pairs_say(n_runs):
    rng = np.random.default_rng(1)
    runs = hf.Preferences.from_matrix(rng.random((n_runs, 30)) < rng.random(30))
    s2 = runs.frequency * (1 - runs.frequency) * n_runs / (n_runs - 1)
    of_features = 2 * (s2**2).sum() / (30 * runs.density * (1 - runs.density)) ** 2
    nogueira = hf.MEASURES["nogueira"]
    of_pairs = pair_roughness(nogueira.form.kernel(runs, nogueira))
    expected = max(of_features, of_pairs) if n_runs <= FEW_RUNS else of_features
    assert tally_of(runs, nogueira).roughness == pytest.approx(expected)


def test_roughness_of_features_that_move_together_is_seen_by_pairs():
    rng = np.random.default_rng(1)
    runs = hf.Preferences.from_matrix(np.repeat(rng.random((12, 3)) < 0.5, 10, axis=1))
    nogueira = hf.MEASURES["nogueira"]
    assert tally_of(runs, nogueira).roughness == pytest.approx(pair_roughness(nogueira.form.kernel(runs, nogueira)))


def test_roughness_of_sechidis_without_stand_ins_is_that_of_its_pairs():
    rng = np.random.default_rng(2)
    runs = hf.Preferences.from_weights(rng.normal(size=(9, 12)) + np.linspace(2, 0, 12)).top(4)
    ours = tally_of(runs, hf.MEASURES["sechidis"].bind(similarity=np.eye(12))).roughness
    nogueira = hf.MEASURES["nogueira"]
    assert ours == pytest.approx(pair_roughness(nogueira.form.kernel(runs, nogueira)))


# The interval


def seen(estimate, roughness, level):
    """Where the stability lies by what was seen, by the formulas."""
    n, loss = estimate.n_runs, 1 - estimate.value
    error = math.sqrt(max(estimate.pseudo_values.var(ddof=1) / n, 2 * roughness / (n * (n - 1))))
    t, nu = student.ppf((1 + level) / 2, n - 1), (loss / error) ** 2
    low = 1 - loss * gamma.isf(norm.sf(t), nu + 1) / nu
    return low, 1 - loss * gamma.ppf(norm.sf(t), nu) / nu + roughness * (t**2 + 1) / (2 * n * loss)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("sizes", ["one", "several"])
def test_the_default_interval_by_hand(sizes, level):
    runs = load_example().top(10).take(range(12)) if sizes == "one" else make_selections(
        stability=0.6, size=6, n_features=40, n_runs=30, random_state=0)  # fmt: skip
    n, d = runs.n_runs, runs.n_features
    estimate, roughness = hf.stability(runs), tally_of(runs, hf.MEASURES["nogueira"]).roughness
    deleted = np.array([hf.stability(without(runs, run)).value for run in range(n)])
    assert estimate.pseudo_values == pytest.approx(n * estimate.value - (n - 1) * deleted)
    low, high = seen(estimate, roughness, level)
    kept = (1.5 * (1 - level)) ** (1 / (n - 1))
    mean, largest = runs.sizes.mean(), runs.sizes.max()
    with_unseen = kept * mean + (1 - kept) * largest
    unseen = kept**2 * estimate.value * mean * (d - mean) / (with_unseen * (d - with_unseen))
    assert estimate.ci(level) == pytest.approx((min(low, unseen), high))


def test_what_was_seen_sets_the_lower_end_of_many_shaky_runs():
    runs = make_selections(stability=0.3, size=6, n_features=40, n_runs=400, random_state=0)
    estimate, roughness = hf.stability(runs), tally_of(runs, hf.MEASURES["nogueira"]).roughness
    assert estimate.ci() == pytest.approx(seen(estimate, roughness, 0.95))
    assert estimate.ci() == pytest.approx(
        (estimate.value - 1.966 * estimate.standard_error, estimate.value + 1.966 * estimate.standard_error), abs=0.003
    )


BEST_IF_EQUAL = [m for m in WITH_INTERVAL if m.kind == "subset" and m.properties.maximum in ("yes", "one size")]


@pytest.mark.parametrize("measure", BEST_IF_EQUAL, ids=attrgetter("name"))
@given(data=st.data())
@settings(max_examples=40, deadline=None)
@undefined_is_fine
def test_a_first_run_that_deviates_never_raises_the_lower_end(measure, data):
    n, d = data.draw(st.integers(4, 40)), data.draw(st.integers(4, 30))
    size = data.draw(st.integers(1, d - 1))
    other = data.draw(st.sets(st.integers(0, d - 1), min_size=1, max_size=d))
    if measure.one_size:
        other = set(sorted(other | set(range(d)), key=lambda feature: (feature not in other, -feature))[:size])
    equal, deviating = (
        hf.stability(hf.Preferences.from_sets([first, *[set(range(size))] * (n - 1)], n_features=d),
                     complete(measure, d), undefined=0.0)
        for first in (set(range(size)), other)
    )  # fmt: skip
    if not deviating.no_interval:
        for level in (0.8, 0.95, 0.99):
            assert deviating.ci(level).low <= equal.ci(level).low + 1e-9


def test_near_agreement_is_never_surer_than_agreement():
    equal = hf.Preferences.from_sets([set(range(10))] * 20, n_features=100)
    one_swap = hf.Preferences.from_sets([set(range(9)) | {10}, *[set(range(10))] * 19], n_features=100)
    assert hf.stability(equal).ci() == pytest.approx((0.075 ** (2 / 19), 1))
    assert hf.stability(one_swap).ci().low == pytest.approx(hf.stability(one_swap).value * 0.075 ** (2 / 19))


def test_near_chance_the_interval_is_as_narrow_as_the_runs_allow():
    """The floor of the variance is that of a mean over pairs, 2ρ/(M (M − 1)): far below ρ/(2M)."""
    rng = np.random.default_rng(0)
    sets = [rng.choice(10_000, 20, replace=False) for _ in range(20)]
    low, high = hf.stability(hf.Preferences.from_sets(sets, n_features=10_000)).ci()
    assert high - low < 0.03


@undefined_is_fine
@by_measure
@given(data=st.data())
@settings(max_examples=25)
def test_an_interval_has_width_holds_the_value_and_stays_in_range(measure, data):
    runs = data.draw(runs_of(measure, min_runs=3))
    measure = complete(measure, runs.n_features)
    estimate = hf.stability(runs, measure)
    low, high = estimate.ci()
    if estimate.no_interval:
        assert math.isnan(low)
        assert math.isnan(high)
        return
    assert low <= estimate.value + 1e-12
    assert estimate.value <= high + 1e-12
    assert high - low > 1e-6
    assert low >= measure.range[0] - 1e-12
    assert high <= measure.range[1] + 1e-12
    narrow = estimate.ci(0.8)
    assert low <= narrow.low + 1e-12
    assert narrow.high <= high + 1e-12


@by_measure
def test_runs_that_all_agree_have_a_bound_not_a_point(measure):
    last = 0 if measure.kind == "weighting" else 4
    rows = [[1, 0, 1, 0, 0, 0]] if measure.kind == "subset" else [[3, 1, 2, 6, 5, last]]
    few, many = (hf.stability(np.array(rows * n), complete(measure, 6)) for n in (5, 40))
    if few.value == pytest.approx(measure.best):
        assert few.method == many.method == "bound"
        assert (few.ci().high, many.ci().high) == pytest.approx((1, 1))
    assert few.ci().low < many.ci().low < many.value
    assert few.ci(0.99).low < few.ci(0.9).low


def test_the_bound_is_what_runs_unlike_the_agreed_one_could_do():
    estimate = hf.stability(hf.Preferences.from_sets([{0, 1, 2, 3}] * 10, n_features=20))
    kept = 0.075 ** (1 / 9)
    assert estimate.method == "bound"
    assert estimate.ci() == pytest.approx((kept**2, 1))
    assert estimate.test(greater_than=estimate.ci().low).p_value == pytest.approx(0.05)
    assert estimate.test(greater_than=1).p_value == 1


def test_runs_that_were_not_drawn_may_be_as_large_as_the_largest():
    """What a share of unrelated runs of that size truly does to the stability."""
    runs = hf.Preferences.from_sets([{0, 1, 2, 3}] * 9 + [set(range(12))], n_features=40)
    estimate, kept = hf.stability(runs), 0.9
    seen, unseen = runs.to_sparse().toarray(), np.zeros((12_000, 40))
    rng = np.random.default_rng(0)
    unseen[np.arange(12_000)[:, None], rng.permuted(np.tile(np.arange(40), (12_000, 1)), axis=1)[:, :12]] = 1
    p = kept * seen.mean(axis=0) + (1 - kept) * unseen.mean(axis=0)
    spread = p.mean() * (1 - p.mean())
    # seen runs share what they share; unseen ones have nothing to do with any other
    covariance = kept**2 * estimate.value * runs.density * (1 - runs.density)
    assert estimate.distribution.unseen.value_at(kept) == pytest.approx(covariance / spread, rel=0.01)


@pytest.mark.parametrize("null", [0.1, 0.5, 0.9])
def test_the_share_of_unseen_runs_that_leaves_a_value(null):
    runs = hf.Preferences.from_sets([{0, 1, 2, 3}] * 9 + [set(range(12))], n_features=40)
    unseen = hf.stability(runs).distribution.unseen
    share = unseen.seen_share_for(null * unseen.value)
    assert unseen.value_at(share) == pytest.approx(null * unseen.value)
    assert unseen.seen_share_for(unseen.value) == 1


def test_runs_that_lie_all_alike_have_an_interval():
    estimate = hf.stability(np.eye(6), "jaccard")  # no two runs share anything: leaving one out changes nothing
    assert estimate.value == 0
    assert estimate.ci().high > 0.05


@pytest.mark.parametrize("n_runs", [1, 2])
@undefined_is_fine
def test_one_or_two_runs_have_no_interval(n_runs):
    estimate = hf.stability([[1, 0, 1, 0], [1, 1, 0, 0]][:n_runs])
    assert estimate.no_interval == ("the value is undefined" if n_runs == 1 else "at least three runs are needed")
    assert all(math.isnan(end) for end in estimate.ci())
    assert math.isnan(estimate.standard_error)
    assert math.isnan(estimate.test(greater_than=0).p_value)


@pytest.mark.parametrize(("name", "why"), [("davis", "median"), ("krizek", "distinct sets"), ("cw_rel", "remainders")])
def test_measures_without_a_jackknife_say_why(name, why):
    parameters = {"alpha": 0.5} if name == "davis" else {}
    estimate = hf.stability(load_example().top(10), name, **parameters)
    assert why in estimate.no_interval
    assert f"no interval: {estimate.no_interval}" in repr(estimate)


@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("n_runs", [3, 7, 10])
def test_one_full_run_among_empty_ones_has_no_interval_whatever_the_number_of_features(n_runs, odd):
    for d in range(2, 40):
        Z = np.full((n_runs, d), 1 - odd)
        Z[0] = odd
        estimate = hf.stability(Z)
        assert estimate.value == pytest.approx(-1 / (n_runs - 1))
        assert estimate.no_interval == "without one of the runs the measure is undefined"
        assert np.isnan(estimate.ci()).all()
        assert not np.isnan(hf.stability(Z, undefined=0.0).pseudo_values).any()


def test_undefined_parts_are_treated_alike_with_and_without_a_run():
    runs = hf.Preferences.from_sets([{0, 1}, set(), {0}, set(), {0, 2}], n_features=4)
    for undefined in ("skip", 0.5):
        deleted = [hf.stability(without(runs, run), "jaccard", undefined=undefined).value for run in range(5)]
        estimate = hf.stability(runs, "jaccard", undefined=undefined)
        assert estimate.pseudo_values == pytest.approx(5 * estimate.value - 4 * np.array(deleted))


# Other methods


def test_the_asymptotic_interval_is_the_published_one():
    runs = load_example().top(10)
    estimate = hf.stability(runs, method="asymptotic")
    reach = norm.ppf(0.975) * math.sqrt(asymptotic_variance(runs))
    assert estimate.ci() == pytest.approx((estimate.value - reach, estimate.value + reach))
    statistic = (estimate.value - 0.8) / math.sqrt(asymptotic_variance(runs))
    assert estimate.test(greater_than=0.8).p_value == pytest.approx(norm.sf(statistic))
    assert estimate.test(greater_than=0.8).statistic == pytest.approx(statistic)  # V_M
    assert math.isnan(hf.stability(runs).test(greater_than=0.8).statistic)
    assert not estimate.validated
    with pytest.raises(ValueError, match="published for nogueira only; for jaccard"):
        hf.stability(runs, "jaccard", method="asymptotic")


def test_the_published_variance_and_the_jackknife_agree_for_many_runs_of_varying_size():
    rng = np.random.default_rng(3)
    p = np.r_[np.full(10, 0.8), np.full(40, 0.1)]
    runs = hf.Preferences.from_matrix(rng.random((400, 50)) < p * rng.choice([0.3, 1.1], size=(400, 1)))
    estimate = hf.stability(runs)
    assert estimate.standard_error**2 == pytest.approx(asymptotic_variance(runs), rel=0.03)


def test_the_bootstrap_never_lets_a_run_meet_itself():
    rng = np.random.default_rng(4)
    runs = hf.Preferences.from_weights(rng.normal(size=(6, 10)) + np.linspace(2, 0, 10)).top(4)
    weights = np.array([[2, 1, 1, 1, 1, 0], [0, 3, 3, 0, 0, 0]], dtype=float)
    for name in ("nogueira", "jaccard", "pog"):
        measure = hf.MEASURES[name]
        found = measure.form.resampled(runs, measure, weights)
        kernel = measure.form.kernel(runs, measure)
        for row, w in enumerate(weights):
            pairs = [(i, j) for i in range(6) for j in range(6) if i != j for _ in range(int(w[i] * w[j]))]
            if name == "nogueira":  # of one size: a mean over pairs too
                value = np.mean([hf.stability(runs.take([i, j])).value for i, j in pairs])
            else:
                value = np.mean([kernel[i, j] for i, j in pairs])
            assert found[row] == pytest.approx(value)


def test_copies_that_met_would_raise_the_value():
    """By (1 − Φ)/M: what leaving pairs of copies out avoids."""
    runs = make_selections(stability=0.5, size=5, n_features=30, n_runs=12, fixed_size=True, random_state=5)
    value = hf.stability(runs).value
    weights = np.random.default_rng(0).multinomial(12, np.full(12, 1 / 12), 4000)
    kernel = hf.MEASURES["pearson"].form.kernel(runs, hf.MEASURES["pearson"])
    apart = mean_over_pairs(kernel, weights.astype(float))
    copied = [[runs.selected(run) for run in np.repeat(range(12), w)] for w in weights[:400]]
    met = [hf.stability(hf.Preferences.from_sets(sets, n_features=30)).value for sets in copied]
    assert np.mean(apart) == pytest.approx(value, abs=0.01)
    assert np.mean(met) == pytest.approx(value + (1 - value) / 12, abs=0.015)


def test_the_bootstrap_interval_is_near_the_others_and_repeats():
    runs = make_selections(stability=0.7, size=8, n_features=60, n_runs=60, random_state=6)
    for measure in ("nogueira", "jaccard"):
        jackknife, bootstrap = (hf.stability(runs, measure, method=method) for method in ("jackknife", "bootstrap"))
        assert bootstrap.ci().high == pytest.approx(jackknife.ci().high, abs=0.02)
        assert jackknife.ci().low < bootstrap.ci().low < bootstrap.value  # it allows for no unseen runs
        assert bootstrap.standard_error == pytest.approx(jackknife.standard_error, rel=0.2)
        assert hf.stability(runs, measure, method="bootstrap").ci() == bootstrap.ci()
        assert bootstrap.test(greater_than=0.3).p_value < 0.01 < bootstrap.test(greater_than=bootstrap.value).p_value
    with pytest.raises(ValueError, match="mean over pairs of runs for the bootstrap, got guzman"):
        hf.stability(runs.take(np.flatnonzero(runs.sizes == 8)), "guzman", method="bootstrap")


def test_bca_is_percentiles_without_bias_and_skew():
    draws = np.sort(np.random.default_rng(7).normal(size=20001))
    distribution = intervals.Bootstrap(float(np.median(draws)), draws, 0.0)
    assert distribution.ci(0.9) == pytest.approx(np.quantile(draws, [0.05, 0.95]), abs=0.01)


# What an estimate tells


@pytest.mark.parametrize("stability", [0.3, 0.8])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_test_and_the_interval_say_the_same(stability, level):
    runs = make_selections(stability=stability, size=6, n_features=40, n_runs=30, random_state=1)
    estimate = hf.stability(runs)
    p = estimate.test(greater_than=estimate.ci(level).low).p_value
    assert p in (pytest.approx((1 - level) / 2), pytest.approx(1 - level))  # of what was seen, or of what was not
    assert estimate.test(greater_than=estimate.value + 0.01).p_value > 0.5


@pytest.mark.parametrize(
    ("stability", "n_runs", "words"),
    [(0.9, 200, "excellent"), (0.6, 200, "intermediate to good"), (0.2, 200, "poor"),
     (0.75, 20, "between intermediate to good and excellent")],
)  # fmt: skip
def test_strength_in_words(stability, n_runs, words):
    runs = make_selections(stability=stability, size=10, n_features=100, n_runs=n_runs, random_state=8)
    assert hf.stability(runs).strength == words


@pytest.mark.parametrize("name", ["jaccard", "lustgarten", "hamming", "spearman", "krizek"])
def test_strength_is_only_for_measures_corrected_for_chance(name):
    weights = load_example()
    runs = weights.top(10) if hf.MEASURES[name].kind == "subset" else weights
    assert hf.stability(runs, name).strength is None


def test_an_estimate_tells_overlap_ties_and_validity():
    weights = load_example()
    runs = weights.top(10)
    Z = runs.to_frame().to_numpy()
    overlap = (Z @ Z.T)[~np.eye(20, dtype=bool)].mean()
    assert hf.stability(runs).mean_overlap == pytest.approx(overlap)
    assert hf.stability(runs).tied_share is None
    tied = hf.Preferences.from_weights([[0, 0, 1, 2], [0, 1, 2, 3], [1, 1, 1, 0]])
    assert hf.stability(tied, "spearman").tied_share == pytest.approx((2 + 0 + 3) / 12)
    assert hf.stability(runs).validated
    assert "not validated" in repr(hf.stability(runs, "guzman"))


def test_an_estimate_goes_into_frames_and_json():
    estimate = hf.stability(load_example().top(10))
    record = estimate.to_dict(0.9)
    assert (record["low"], record["high"]) == estimate.ci(0.9)
    assert record["standard_error"] == estimate.standard_error
    assert estimate.to_frame().loc[0, "strength"] == "between intermediate to good and excellent"
    two_runs = hf.stability([[1, 0, 1, 0], [1, 1, 0, 0]]).to_dict()
    assert two_runs["low"] is None
    assert two_runs["reason"] == "at least three runs are needed"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda runs: hf.stability(runs).ci(95), "level between 0 and 1"),
        (lambda runs: hf.stability(runs, method="magic"), "'jackknife', 'asymptotic' or 'bootstrap', got 'magic'"),
    ],
)
def test_a_wrong_call_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call(load_example().top(10))


# Corners


def test_perfect_stand_ins_have_an_interval_too():
    s = np.eye(5)
    s[0, 1] = s[1, 0] = 1
    runs = hf.Preferences.from_sets([{0}, {1}, {0}, {1}, {0}], n_features=5)
    for name in ("sechidis", "yu", "pogr"):
        estimate = hf.stability(runs, name, similarity=s)
        assert estimate.value == pytest.approx(1)
        assert estimate.ci().low < 0.5


@pytest.mark.parametrize(
    ("runs", "options", "why"),
    [
        (np.eye(6), {"measure": "jaccard", "method": "bootstrap"}, "the same value"),
        ([[1, 1, 0]] * 5, {"method": "asymptotic"}, "published variance is 0"),
        (
            [[1, 1, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 1, 0]],
            {"measure": "jaccard", "method": "bootstrap", "undefined": 0.5},
            "all defined",
        ),
    ],
)
def test_an_interval_that_would_be_a_point_is_none(runs, options, why):
    estimate = hf.stability(runs, **options)
    assert why in estimate.no_interval
    assert math.isnan(estimate.ci().low)


def test_a_measure_of_which_less_is_better_has_no_interval():
    distance = hf.Measure(
        name="distance",
        form=hf.measures.OverlapPairs(lambda r, k1, k2, d: k1 + k2 - 2.0 * r),
        range=(0, math.inf),
        best=0.0,
        higher_is_better=False,
    )
    assert "reverse it" in hf.stability(np.eye(5), distance).no_interval


def test_the_error_of_a_simulated_expectation_widens_the_interval():
    rng = np.random.default_rng(0)
    runs = hf.Preferences.from_weights(rng.normal(size=(12, 40)) + np.linspace(2, 0, 40)).top(8)
    s = np.kron(np.eye(20), np.array([[1, 0.95], [0.95, 1]]))
    few, many = (hf.stability(runs, "intersection_count", similarity=s, draws=draws) for draws in (3, 20000))
    assert few.chance_error > 10 * many.chance_error > 0
    assert few.standard_error > max(many.standard_error, few.chance_error)
    with pytest.raises(ValueError, match="a number of draws from 2"):
        hf.stability(runs, "intersection_count", similarity=s, draws=1)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_weights_of_any_size_correlate_alike(scale):
    weights = np.random.default_rng(1).normal(size=(5, 8))
    plain = hf.stability(weights, "weight_correlation").value
    assert hf.stability(weights * scale, "weight_correlation").value == pytest.approx(plain)
