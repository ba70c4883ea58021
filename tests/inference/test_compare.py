"""Comparisons of two selections and of several."""

import itertools
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

import holdfast as hf
from holdfast.datasets import make_selections
from holdfast.inference.comparison import compact_letters, holm
from holdfast.inference.intervals import asymptotic_variance
from holdfast.measures import forms as module

SHARED = np.random.default_rng(0).normal(size=(12, 15))  # noise that two selectors share


def weights(boost, n_runs=12, seed=1):
    own = np.random.default_rng(seed).normal(size=(n_runs, 15))
    return hf.Preferences.from_weights(boost * np.linspace(2, -2, 15) + SHARED[:n_runs] + own)


STEADY, SHAKY = weights(1.5), weights(0.6, seed=2)
RUNS = {
    "subset": (STEADY.top(5), SHAKY.top(5)),
    "ranking": (STEADY.to_ranking(), SHAKY.to_ranking()),
    "weighting": [hf.Preferences.from_weights(runs.matrix() * runs.top(9).to_frame()) for runs in (STEADY, SHAKY)],
}
ONE, TWO = RUNS["subset"]
SIZES = [make_selections(stability=value, size=4, n_features=12, n_runs=9, random_state=3) for value in (0.7, 0.4)]
SIMILARITY = np.abs(np.corrcoef(np.random.default_rng(4).normal(size=(8, 15)), rowvar=False))
UNANIMOUS = hf.Preferences.from_sets([{0, 1}] * 5, n_features=12)
APART = hf.Preferences.from_sets([{2 * run, 2 * run + 1} for run in range(5)], n_features=12)


def labeled(runs, labels):
    return hf.Preferences.from_matrix(runs.to_sparse(), labels=labels)


def same(a, b):
    numbers = [(one.difference, one.standard_error, one.degrees, one.p_value) for one in (a, b)]
    return a.design == b.design and numbers[0] == pytest.approx(numbers[1], rel=1e-9)


# Slow definitions


def slow_pseudo_values(runs, measure):
    n, value = runs.n_runs, hf.stability(runs, measure).value
    without = [hf.stability(runs.take([run for run in range(n) if run != out]), measure).value for out in range(n)]
    return n * value - (n - 1) * np.array(without)


def slow_pairs(runs, measure):
    """What each pair of runs adds to the value."""
    pairs = list(itertools.combinations(range(runs.n_runs), 2))
    if measure != "nogueira":
        return np.array([hf.stability(runs.take(pair), measure).value for pair in pairs])
    sets = [set(runs.selected(run)) for run in range(runs.n_runs)]
    size, d = np.mean([len(one) for one in sets]), runs.n_features
    return np.array([len(sets[i] & sets[j]) for i, j in pairs]) / (size * (1 - size / d))


def slow_variance(pseudo_values, pairs):
    n = pseudo_values.size
    pair_of_runs = np.zeros((pairs.size, n + 1))
    pair_of_runs[:, n] = 1
    for row, pair in enumerate(itertools.combinations(range(n), 2)):
        pair_of_runs[row, list(pair)] = 1
    explained = pair_of_runs @ np.linalg.lstsq(pair_of_runs, pairs, rcond=None)[0]
    roughness = ((pairs - explained) ** 2).sum() / (n * (n - 3) / 2)
    return max(pseudo_values.var(ddof=1) / n, 2 * roughness / (n * (n - 1)))


def slow_degrees(values):
    excess = max(0.0, stats.kurtosis(values))
    return 2 / (2 / (values.size - 1) + excess / values.size)


def slow_allowance(runs, measure):
    """What the variance lacks for one run that was not drawn; all measures here have 0 for unrelated runs."""
    estimate, n = hf.stability(runs, measure), runs.n_runs
    variance = estimate.pseudo_values.var(ddof=1) / n
    kept = np.exp(-1 / (n - 1))
    left = kept**2 * estimate.value
    if measure == "nogueira":
        d, mean = runs.n_features, runs.sizes.mean()
        mixed = kept * mean + (1 - kept) * runs.sizes.max()
        left *= mean * (d - mean) / (mixed * (d - mixed))
    deviations = (1 - estimate.value) ** 2 / variance
    reach = (estimate.value - left) * 10 / (10 + deviations)
    return max(0.0, (reach / stats.t.ppf(0.975, n - 1)) ** 2 - variance)


def more_stable(one, two, measure):
    return max((one, two), key=lambda runs: hf.stability(runs, measure).value)


@pytest.mark.parametrize(
    ("measure", "runs"),
    [
        ("nogueira", RUNS["subset"]),
        ("nogueira", SIZES),
        ("jaccard", SIZES),
        ("pog", SIZES),
        ("kendall", RUNS["ranking"]),
        ("weight_correlation", RUNS["weighting"]),
        ("used_again", RUNS["weighting"]),
        ("shared_importance", RUNS["weighting"]),
    ],
)
def test_paired_is_a_t_test_of_the_differences_of_pseudo_values(measure, runs):
    one, two = runs
    found = hf.compare(one, two, measure, paired=True)
    pseudo_values = slow_pseudo_values(one, measure) - slow_pseudo_values(two, measure)
    variance = slow_variance(pseudo_values, slow_pairs(one, measure) - slow_pairs(two, measure))
    error = np.sqrt(variance + slow_allowance(more_stable(one, two, measure), measure))
    difference = hf.stability(one, measure).value - hf.stability(two, measure).value
    degrees = slow_degrees(pseudo_values)
    assert found.design == "paired"
    assert found.degrees == pytest.approx(degrees)
    assert found.difference == pytest.approx(difference)
    assert found.standard_error == pytest.approx(error)
    assert found.statistic == pytest.approx(difference / error)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(difference) / error, degrees))
    assert found.ci(0.9) == pytest.approx(stats.t.interval(0.9, degrees, difference, error))


@pytest.mark.parametrize("measure", ["nogueira", "jaccard"])
def test_independent_is_welch_s_test_of_pseudo_values(measure):
    one, two = SIZES[0], SIZES[1].take(range(7))
    found = hf.compare(one, two, measure, paired=False)
    parts = [slow_variance(slow_pseudo_values(runs, measure), slow_pairs(runs, measure)) for runs in (one, two)]
    own = [slow_degrees(slow_pseudo_values(runs, measure)) for runs in (one, two)]
    degrees = min(6, sum(parts) ** 2 / (parts[0] ** 2 / own[0] + parts[1] ** 2 / own[1]))
    allowance = slow_allowance(more_stable(one, two, measure), measure)
    assert found.design == "independent"
    assert found.standard_error == pytest.approx(np.sqrt(sum(parts) + allowance))
    assert found.degrees == pytest.approx(degrees)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.statistic), degrees))


@pytest.mark.parametrize("measure", ["nogueira", "jaccard"])
def test_many_runs_are_compared_as_scipy_does(measure):
    n_runs = module.FEW_RUNS + 1
    one, two = (
        make_selections(stability=value, size=5, n_features=20, n_runs=n, random_state=5)
        for value, n in ((0.6, n_runs), (0.55, n_runs + 30))
    )
    values = [hf.stability(runs, measure).pseudo_values for runs in (one, two)]
    independent, welch = hf.compare(one, two, measure, paired=False), stats.ttest_ind(*values, equal_var=False)
    assert independent.degrees == min(n_runs - 1, welch.df) == n_runs - 1
    assert independent.standard_error == pytest.approx(np.sqrt(sum(part.var(ddof=1) / part.size for part in values)))
    two, values[1] = two.take(range(n_runs)), hf.stability(two.take(range(n_runs)), measure).pseudo_values
    paired, related = hf.compare(one, two, measure, paired=True), stats.ttest_rel(*values)
    assert paired.degrees == pytest.approx(slow_degrees(values[0] - values[1]))
    assert paired.standard_error == pytest.approx(np.mean(values[0] - values[1]) / related.statistic)
    if measure == "jaccard":  # the mean of its pseudo-values is the value itself
        assert independent.statistic == pytest.approx(welch.statistic)
        assert independent.p_value == pytest.approx(welch.pvalue, rel=0.05)
        assert paired.statistic == pytest.approx(related.statistic)
        assert related.pvalue < paired.p_value < 1e-9  # tails are heavy


@pytest.mark.parametrize("n_runs", [3, module.FEW_RUNS + 1])
def test_without_a_correction_the_variance_is_that_of_the_pseudo_values(n_runs):
    one, two = (make_selections(stability=0.5, size=3, n_features=9, n_runs=n_runs, random_state=s) for s in (0, 1))
    values = hf.stability(one).pseudo_values - hf.stability(two).pseudo_values
    assert hf.compare(one, two, paired=True).standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(n_runs))


def test_pairing_takes_out_the_noise_that_is_shared():
    assert hf.compare(ONE, TWO, paired=True).standard_error < hf.compare(ONE, TWO, paired=False).standard_error


# Published


def test_the_published_statistic_is_second_minus_first_over_its_normal_error():
    one, two = SIZES[0], SIZES[1].take(range(7))
    found = hf.compare(one, two, method="asymptotic", paired=False)
    error = np.sqrt(asymptotic_variance(one) + asymptotic_variance(two))
    statistic = (hf.stability(two).value - hf.stability(one).value) / error
    assert (found.design, found.degrees) == ("asymptotic", np.inf)
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(statistic)))
    assert found.ci() == pytest.approx(stats.norm.interval(0.95, found.difference, error))


# Every measure


def bound(measure):
    given_parameters = {"similarity": SIMILARITY, "alpha": 1.0, "draws": 200}
    return measure.bind(**{name: value for name, value in given_parameters.items() if name in measure.parameters})


@pytest.mark.parametrize("paired", [True, False], ids=["paired", "independent"])
@pytest.mark.parametrize("measure", [bound(one) for one in hf.MEASURES.values()], ids=attrgetter("name"))
def test_every_measure_with_an_interval_can_be_compared(measure, paired):
    one, two = RUNS[measure.kind]
    if measure.no_interval:
        assert measure.name in ("davis", "krizek", "cw_rel")
        with pytest.raises(ValueError, match=f"need a standard error to be compared, got one without: {measure.name}"):
            hf.compare(one, two, measure, paired=paired)
        return
    found, back = hf.compare(one, two, measure, paired=paired), hf.compare(two, one, measure, paired=paired)
    assert found.difference == hf.stability(one, measure).value - hf.stability(two, measure).value
    assert found.ci().low <= found.difference <= found.ci().high
    assert back.difference == -found.difference
    assert (back.standard_error, back.degrees) == pytest.approx((found.standard_error, found.degrees))
    assert back.ci() == pytest.approx((-found.ci().high, -found.ci().low))
    assert back.p_value == pytest.approx(found.p_value)
    if measure.name == "goh":  # the share selected, the same in all runs here
        assert (found.standard_error, found.p_value) == (0, 1)
    else:
        assert back.statistic == pytest.approx(-found.statistic)
        assert 0 < found.p_value < 1


def test_a_matrix_data_and_parameters_are_taken_as_by_stability():
    matrices = [runs.to_sparse().toarray() for runs in (ONE, TWO)]
    assert same(hf.compare(*matrices, paired=True), hf.compare(ONE, TWO, paired=True))
    data = np.random.default_rng(6).normal(size=(20, 15))
    by_data = hf.compare(ONE, TWO, "pogr", paired=True, X=data, threshold=0.3)
    similarity = hf.similarity.Correlation(data)
    assert same(by_data, hf.compare(ONE, TWO, "pogr", paired=True, similarity=similarity, threshold=0.3))
    assert by_data.first.measure == by_data.measure == "pogr(threshold=0.3)"


# Labels


LABELS = [f"resample {run}" for run in range(12)]
OTHERS = [f"other {run}" for run in range(12)]


def test_equal_labels_mean_pairs_in_any_order():
    order = np.random.default_rng(7).permutation(12)
    expected = hf.compare(ONE, TWO, paired=True)
    one, two = labeled(ONE, LABELS), labeled(TWO, LABELS)
    assert same(hf.compare(one, two), expected)
    assert same(hf.compare(one, two.take(order)), expected)
    assert same(hf.compare(one.take(order), two, paired=True), expected)
    assert not same(hf.compare(ONE, TWO.take(order), paired=True), expected)  # without labels the order counts


def test_different_labels_mean_independent_runs():
    one, two = labeled(ONE, LABELS), labeled(TWO, OTHERS)
    assert same(hf.compare(one, two), hf.compare(ONE, TWO, paired=False))
    with pytest.raises(ValueError, match="same run labels to compare as pairs, got 'resample 0' on one side only"):
        hf.compare(one, two, paired=True)
    assert same(hf.compare(one, labeled(TWO, LABELS), paired=False), hf.compare(ONE, TWO, paired=False))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hf.compare(ONE, TWO), r"have no labels, .* pass paired=True or paired=False \(--paired, --indep"),
        (lambda: hf.compare(labeled(ONE, LABELS), TWO), "The runs have no labels"),
        (
            lambda: hf.compare(labeled(ONE, LABELS), labeled(TWO, LABELS[:5] + OTHERS[5:])),
            "all equal or all different, got 5 in common of 12 and 12",
        ),
        (
            lambda: hf.compare(labeled(ONE, LABELS), labeled(TWO, LABELS).take(range(8))),
            "got 8 in common of 12 and 8; keep the common runs",
        ),
        (lambda: hf.compare(ONE, TWO.take(range(5)), paired=True), "equally many runs .* got 12 and 5"),
        (lambda: hf.compare(ONE, TWO.take([0, 1]), paired=False), "got one without: .* at least three runs"),
        (lambda: hf.compare(ONE, TWO, "jaccard", method="asymptotic", paired=True), "for nogueira only; for jaccard"),
        (lambda: hf.compare(ONE, TWO, method="normal", paired=True), "'jackknife' or 'asymptotic', got 'normal'"),
        (lambda: hf.compare(ONE, STEADY, paired=True), r"Expected subsets for nogueira, got weightings"),
        (lambda: hf.compare(ONE, TWO, "jacard", paired=True), "did you mean 'jaccard'"),
        (lambda: hf.compare(ONE, TWO, paired=True, alpha=1), "parameters of nogueira .none., got 'alpha'"),
        (lambda: hf.compare(ONE, TWO, paired=True).ci(95), "level between 0 and 1, such as 0.95, got 95"),
        (lambda: hf.compare_many({"one": ONE}, paired=True), "at least two selections to compare, got 1"),
        (lambda: hf.compare_many({"one": ONE, "two": TWO}), "The runs have no labels"),
        (lambda: hf.compare_many({"one": ONE, "two": TWO}, paired=True, level=1), "level between 0 and 1"),
    ],
)
def test_a_wrong_call_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# Nothing varies


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("runs", [ONE, SIZES[0], UNANIMOUS, APART], ids=["one size", "sizes", "unanimous", "apart"])
def test_a_selection_does_not_differ_from_itself(runs, paired):
    found = hf.compare(runs, runs, paired=paired)
    low, high = found.ci()
    assert (found.difference, found.p_value) == (0, 1)
    assert low == pytest.approx(-high)
    assert high > 0


@pytest.mark.parametrize("measure", ["nogueira", "jaccard", "wald", "hamming"])
@pytest.mark.parametrize("paired", [True, False])
def test_runs_that_all_agree_are_not_known_exactly(measure, paired):
    """One run that was not drawn could lower the value: the difference has an error, and it is that of the reach."""
    found = hf.compare(UNANIMOUS, APART, measure, paired=paired)
    distribution = found.first.distribution
    reach = distribution.value - distribution.unseen.value_at(np.exp(-1 / 4))
    assert found.standard_error == pytest.approx(reach / stats.t.ppf(0.975, 4))
    assert found.ci() == pytest.approx((found.difference - reach, found.difference + reach))
    assert 0 < found.p_value < 0.05


@pytest.mark.parametrize("paired", [True, False])
def test_ten_equal_runs_do_not_beat_six_of_ten_beyond_doubt(paired):
    equal = hf.Preferences.from_sets([{0, 1}] * 10, n_features=20)
    mixed = hf.Preferences.from_sets([{0, 1}] * 6 + [{0, 2}] * 4, n_features=20)
    assert 0.01 < hf.compare(equal, mixed, paired=paired).p_value < 0.1  # Fisher's test on the counts: 0.09


def test_the_published_statistic_is_defined_if_one_side_varies():
    mixed = hf.Preferences.from_sets([{0, 1}] * 3 + [{0, 2}] * 2, n_features=12)
    found = hf.compare(UNANIMOUS, mixed, paired=False, method="asymptotic")
    error = np.sqrt(asymptotic_variance(mixed))
    assert found.statistic == pytest.approx((found.second.value - found.first.value) / error)  # T_M: second − first
    assert found.statistic < 0
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(found.statistic)))
    both = hf.compare(UNANIMOUS, UNANIMOUS, paired=False, method="asymptotic")
    assert np.isnan(both.statistic)
    assert both.p_value == 1


def test_the_published_statistic_needs_no_value_without_each_run():
    full_once = hf.Preferences.from_sets([range(12), *[()] * 4], n_features=12)  # without the first run all are empty
    mixed = hf.Preferences.from_sets([{0, 1}] * 3 + [{0, 2}] * 2, n_features=12)
    found = hf.compare(full_once, mixed, paired=False, method="asymptotic")
    error = np.sqrt(asymptotic_variance(full_once) + asymptotic_variance(mixed))
    assert found.statistic == pytest.approx((found.second.value - found.first.value) / error)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(found.statistic)))
    with pytest.raises(ValueError, match=r"got one without: .*without one of the runs the measure is undefined"):
        hf.compare(full_once, mixed, paired=False)


@pytest.mark.parametrize(
    ("first", "options"),
    [
        (hf.Preferences.from_sets([{0}, {1}], n_features=12), {}),
        (hf.Preferences.from_sets([()] * 5, n_features=12), {"undefined": 0.0}),
        (APART, {"measure": "davis", "alpha": 1}),
    ],
    ids=["two runs", "a number for what is undefined", "another measure"],
)
def test_the_published_statistic_needs_its_variance(first, options):
    with pytest.raises(ValueError, match="Both stabilities need a standard error to be compared, got one without"):
        hf.compare(first, APART, paired=False, method="asymptotic", **options)


def test_a_comparison_tells_what_it_is():
    found = hf.compare(ONE, TWO, paired=True)
    record = found.to_dict(0.9)
    assert (record["low"], record["high"], record["level"]) == (*found.ci(0.9), 0.9)
    assert (record["first"], record["second"]) == (hf.stability(ONE).value, hf.stability(TWO).value)
    assert (record["difference"], record["p_value"], record["design"]) == (found.difference, found.p_value, "paired")
    assert f"{found.first.value:.3f} - {found.second.value:.3f} = {found.difference:.3f}" in repr(found)


# Several selections


@pytest.mark.parametrize(
    "p_values",
    [
        [0.2],
        [0.5, 0.5, 0.0, 1.0, 1e-12],
        [0.9, 0.2, 0.02, 0.021, 0.019, 0.3],
        np.random.default_rng(8).random(15) ** 4,
    ],
)
def test_holm_is_that_of_statsmodels(p_values):
    assert holm(np.array(p_values)) == pytest.approx(multipletests(p_values, method="holm")[1])


@given(data=st.data(), n=st.integers(1, 6))
def test_names_share_a_letter_exactly_if_they_do_not_differ(data, n):
    names = data.draw(st.permutations(["lasso", "mrmr", "anova", "boruta", "forest", "relief"]))[:n]
    pairs = list(itertools.combinations(names, 2))
    different = set(data.draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()
    display = compact_letters(names, different)
    assert list(display) == names
    assert all(display.values())
    for one, two in pairs:
        assert bool(set(display[one]) & set(display[two])) == ((one, two) not in different)
    groups = {letter: {name for name in names if letter in display[name]} for letter in "".join(display.values())}
    assert not any(one < two for one, two in itertools.permutations(groups.values(), 2))
    best = [min(names.index(name) for name in groups[letter]) for letter in sorted(groups)]
    assert best == sorted(best)
    assert "".join(sorted(groups)) == "abcdefghijklmnopqrstuvwxyz"[: len(groups)]


MANY = {
    name: make_selections(stability=stability, size=6, n_features=40, n_runs=25, random_state=seed)
    for seed, (name, stability) in enumerate({"shaky": 0.3, "steady": 0.92, "calm": 0.85, "middling": 0.6}.items())
}


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("measure", ["nogueira", "jaccard"])
def test_several_are_compared_pair_by_pair_with_holm_s_correction(measure, paired):
    found = hf.compare_many(MANY, measure, paired=paired, level=0.9)
    names = list(itertools.combinations(MANY, 2))
    each = [hf.compare(MANY[one], MANY[two], measure, paired=paired) for one, two in names]
    assert list(zip(found.pairs["first_name"], found.pairs["second_name"], strict=True)) == names
    for column, values in {
        "difference": [one.difference for one in each],
        "low": [one.ci(0.9).low for one in each],
        "high": [one.ci(0.9).high for one in each],
        "p_value": [one.p_value for one in each],
        "p_holm": multipletests([one.p_value for one in each], method="holm")[1],
    }.items():
        assert found.pairs[column].to_numpy() == pytest.approx(np.array(values))
    for (one, two), p in zip(names, found.pairs["p_holm"], strict=True):
        assert bool(set(found.letters[one]) & set(found.letters[two])) == (p > 0.1)
    assert found.estimates == {name: hf.stability(runs, measure) for name, runs in MANY.items()}


def test_letters_follow_stability():
    found = hf.compare_many(MANY, paired=False)
    table = found.to_frame()
    assert table["selection"].tolist() == ["steady", "calm", "middling", "shaky"]
    assert table["stability"].is_monotonic_decreasing
    assert table["letters"].tolist() == ["a", "a", "b", "c"]
    assert table[["low", "high"]].to_numpy().tolist() == [list(found.estimates[n].ci()) for n in table["selection"]]
    assert repr(found).splitlines()[1].split()[-1] == "a"


def test_selections_that_all_agree_share_a_letter():
    found = hf.compare_many({"agree": UNANIMOUS, "too": UNANIMOUS, "apart": APART}, paired=True)
    assert found.pairs["p_value"].dtype == float
    assert found.letters == {"agree": "a", "too": "a", "apart": "b"}
