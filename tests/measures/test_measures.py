"""Every measure against a slow, obvious definition."""

import itertools
import math
import re
from dataclasses import replace
from operator import attrgetter
from statistics import fmean as mean

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
import oracles
from holdfast.datasets import make_selections
from holdfast.measures import catalog, forms
from holdfast.measures.formulas import random_canberra
from holdfast.measures.redundancy import Neighbors
from holdfast.references import REFERENCES
from strategies import rank_runs, similarities, subset_runs, weight_runs

THRESHOLD = 0.9
undefined_is_fine = pytest.mark.filterwarnings("ignore::holdfast.UndefinedStabilityWarning")


def check_equal(ours, theirs):
    assert (math.isnan(ours) and math.isnan(theirs)) or ours == pytest.approx(theirs, abs=1e-10, rel=1e-9)


@undefined_is_fine
@pytest.mark.parametrize("oracle", oracles.OVERLAP, ids=attrgetter("__name__"))
@given(data=st.data())
@settings(max_examples=60)
def test_overlap_measures_are_means_over_ordered_pairs(oracle, data):
    measure = hf.MEASURES[oracle.__name__]
    runs = data.draw(subset_runs(one_size=measure.one_size, proper=False))
    check_equal(hf.stability(runs, measure).value, oracles.pairwise(oracle, runs))


@undefined_is_fine
@pytest.mark.parametrize("oracle", oracles.WHOLE, ids=attrgetter("__name__"))
@given(data=st.data())
@settings(max_examples=60)
def test_measures_of_all_runs(oracle, data):
    measure = hf.MEASURES[oracle.__name__]
    runs = data.draw(subset_runs(one_size=measure.one_size, proper=False))
    check_equal(hf.stability(runs, measure).value, oracle(runs))


@undefined_is_fine
@given(runs=subset_runs(proper=False), alpha=st.floats(0, 3))
def test_davis(runs, alpha):
    check_equal(hf.stability(runs, "davis", alpha=alpha).value, oracles.davis(runs, alpha))


def test_pairs_are_grouped_where_that_pays_and_count_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    many_sizes = hf.Preferences.from_matrix(rng.random((12, 300)) < rng.random((12, 1)))
    one_size = hf.Preferences.from_weights(rng.random((40, 300))).top(20)
    group, grouped = forms.intersections.group_pairs, []
    monkeypatch.setattr(forms.intersections, "group_pairs", lambda *a: grouped.append(a) or group(*a))
    for runs, expected in ((many_sizes, False), (one_size, True)):
        grouped.clear()
        for oracle in oracles.OVERLAP:
            measure = hf.MEASURES[oracle.__name__]
            if not measure.one_size or expected:
                check_equal(measure.form.tally(runs, [measure])[0].value(), oracles.pairwise(oracle, runs))
        assert bool(grouped) is expected


def test_blocks_of_pairs_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(4)
    runs = hf.Preferences.from_matrix(rng.random((30, 50)) < 0.3)
    whole = hf.stability(runs, ["jaccard", "pog"])
    blocks = forms.intersections.intersection_blocks
    monkeypatch.setattr(forms.intersections, "intersection_blocks", lambda layout: blocks(layout, 70))
    assert [estimate.value for estimate in hf.stability(runs, ["jaccard", "pog"])] == pytest.approx(
        [estimate.value for estimate in whole], rel=1e-13
    )


@pytest.mark.parametrize("word_cost", [0.0, 1.0, 1e9], ids=["pack all", "pack what pays", "pack nothing"])
def test_common_features_packed_or_listed_count_the_same(monkeypatch, word_cost):
    rng = np.random.default_rng(5)
    runs = hf.Preferences.from_matrix(rng.random((25, 470)) < np.r_[np.full(70, 0.9), np.full(400, 0.02)])
    monkeypatch.setattr(forms.intersections, "WORD_COST", word_cost)
    check_equal(hf.stability(runs, "jaccard").value, oracles.pairwise(oracles.jaccard, runs))


# Stand-ins


@undefined_is_fine
@pytest.mark.parametrize("name", oracles.CREDITS)
@given(data=st.data())
@settings(max_examples=15)
def test_adjusted_stand_ins_by_enumeration(name, data):
    runs = data.draw(subset_runs(max_runs=4, max_features=5, proper=False))
    s = data.draw(similarities(runs.n_features))
    ours = hf.stability(runs, name, similarity=s, threshold=THRESHOLD).value
    sets, d = oracles.sets_of(runs), runs.n_features
    check_equal(ours, mean(oracles.adjusted(name, v, w, d, s, THRESHOLD) for v, w in oracles.ordered_pairs(sets)))


@undefined_is_fine
@pytest.mark.parametrize("oracle", [oracles.pogr, oracles.zucknick], ids=attrgetter("__name__"))
@given(data=st.data())
def test_plain_stand_ins(oracle, data):
    runs = data.draw(subset_runs(proper=False))
    s = data.draw(similarities(runs.n_features))
    ours = hf.stability(runs, oracle.__name__, similarity=s, threshold=THRESHOLD).value
    check_equal(ours, oracles.pairwise(oracle, runs, s, THRESHOLD))


@undefined_is_fine
@given(data=st.data())
def test_gulgezen_is_the_best_matching(data):
    runs = data.draw(subset_runs(max_features=6, max_runs=4, proper=False))
    s = data.draw(similarities(runs.n_features))
    check_equal(hf.stability(runs, "gulgezen", similarity=s).value, oracles.pairwise(oracles.gulgezen, runs, s))


@undefined_is_fine
@given(data=st.data())
def test_sechidis(data):
    runs = data.draw(subset_runs(proper=False))
    s = data.draw(similarities(runs.n_features))
    ours = hf.stability(runs, "sechidis", similarity=s, threshold=THRESHOLD).value
    check_equal(ours, oracles.sechidis(runs, s, THRESHOLD))


@given(runs=subset_runs())
@settings(max_examples=settings().max_examples // 4)  # each is enumerated several times
def test_without_stand_ins_they_are_their_plain_relatives(runs):
    s = np.eye(runs.n_features)
    plain = {
        "sechidis": "nogueira", "pogr": "pog", "npogr": "npog", "yu": "kappa", "zucknick": "jaccard",
        "intersection_count": "unadjusted", "intersection_mean": "unadjusted",
        "intersection_mbm": "unadjusted", "intersection_greedy": "unadjusted",
    }  # fmt: skip
    ours = hf.stability(runs, list(plain), similarity=s)
    for estimate, name in zip(ours, plain.values(), strict=True):
        room = 1e-9 + 5 * estimate.chance_error
        assert estimate.value == pytest.approx(hf.stability(runs, name).value, abs=room)


@pytest.mark.parametrize("name", [name for name in oracles.CREDITS if name not in ("npogr", "yu")])
def test_a_simulated_expectation_tells_its_error(name, monkeypatch):
    rng = np.random.default_rng(0)
    runs = hf.Preferences.from_weights(rng.random((5, 6))).top(3)
    s = np.where(np.abs(np.subtract.outer(np.arange(6), np.arange(6))) <= 1, 0.95, 0.1)
    np.fill_diagonal(s, 1)
    exact = hf.stability(runs, name, similarity=s)
    assert exact.chance_error == 0
    monkeypatch.setattr(forms, "ENUMERATE", 0)
    simulated = hf.stability(runs, name, similarity=s, draws=4000)
    assert 0 < simulated.chance_error < 0.05
    assert abs(simulated.value - exact.value) < 4 * simulated.chance_error
    assert hf.stability(runs, name, similarity=s, draws=4000).value == simulated.value


@pytest.mark.parametrize("name", ["yu", "npogr"])
def test_the_exact_expectation_of_covered_features_is_what_simulation_finds(name):
    rng = np.random.default_rng(1)
    X = np.repeat(rng.normal(size=(30, 15)), 3, axis=1) + 0.05 * rng.normal(size=(30, 45))
    neighbors = Neighbors.of(hf.MEASURES[name].bind(similarity=hf.similarity.Correlation(X), threshold=0.9))
    assert neighbors.degree.min() >= 1
    credit = hf.MEASURES[name].form.credit
    exact = neighbors.expectation(credit, 9, 14, 1)
    drawn = forms.pair_expectation(lambda sets: neighbors._credit_of_pairs(credit, sets), 9, 14, 45, draws=20000)
    assert exact.standard_error == 0
    assert abs(exact.value - drawn.value) < 4 * drawn.standard_error


def test_a_matching_that_needs_augmenting_paths():
    s = np.eye(6)
    for x, y, z in ((0, 3, 0.99), (0, 4, 0.95), (1, 3, 0.95), (2, 4, 0.99), (2, 5, 0.91)):
        s[x, y] = s[y, x] = z
    v, w = {0, 1, 2}, {3, 4, 5}
    assert (oracles.maximum_matching(v, w, s, 0.9), oracles.greedy_matching(v, w, s, 0.9)) == (3, 2)
    runs = hf.Preferences.from_sets([v, w], n_features=6)
    for name in ("intersection_mbm", "intersection_greedy"):
        check_equal(hf.stability(runs, name, similarity=s).value, oracles.adjusted(name, v, w, 6, s, 0.9))


def test_similarity_is_made_from_data_and_lined_up_by_name():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 4))
    names = ["a", "b", "c", "d"]
    runs = hf.Preferences.from_sets([{"a", "b"}, {"a", "c"}, {"b", "d"}], features=names)
    frame = pd.DataFrame(X, columns=names).assign(target=0.0)[["d", "target", "b", "a", "c"]]
    from_frame = hf.stability(runs, ["yu", "gulgezen"], X=frame, threshold=0.1)
    direct = [
        hf.stability(runs, "yu", similarity=hf.similarity.Correlation(X), threshold=0.1),
        hf.stability(runs, "gulgezen", similarity=hf.similarity.SymmetricalUncertainty(X)),
    ]
    assert [one.value for one in from_frame] == pytest.approx([one.value for one in direct])


# Rankings and weights


@pytest.mark.parametrize("oracle", [oracles.spearman, oracles.kendall], ids=attrgetter("__name__"))
@given(data=st.data())
def test_rank_correlations(oracle, data):
    runs = data.draw(rank_runs())
    rows = itertools.combinations(runs.matrix(), 2)
    check_equal(hf.stability(runs, oracle.__name__).value, mean(oracle(x, y) for x, y in rows))


@given(runs=weight_runs())
def test_weight_correlation(runs):
    rows = itertools.combinations(runs.matrix(), 2)
    check_equal(hf.stability(runs, "weight_correlation").value, mean(oracles.spearman(x, y) for x, y in rows))


@given(data=st.data())
@settings(max_examples=50)
def test_canberra(data):
    runs = data.draw(rank_runs(max_features=6))
    k = data.draw(st.integers(1, runs.n_features))
    rows = itertools.combinations(runs.matrix(), 2)
    check_equal(hf.stability(runs, "canberra", k=k).value, mean(oracles.canberra(x, y, k) for x, y in rows))


def test_expected_canberra_distance_at_larger_size():
    d, k = 200, 30
    p = np.r_[np.full(k, 1 / d), (d - k) / d]
    ranks = np.arange(1, k + 2)
    distance = np.abs(np.subtract.outer(ranks, ranks)) / np.add.outer(ranks, ranks)
    assert random_canberra(d, k) == pytest.approx(d * p @ distance @ p)


@given(runs=rank_runs(), p=st.floats(0.05, 0.98))
def test_rank_biased_overlap(runs, p):
    expected = mean(oracles.rank_biased_overlap(x, y, p) for x, y in itertools.combinations(runs.matrix(), 2))
    check_equal(hf.stability(runs, "rank_biased_overlap", p=p).value, expected)


def test_rank_biased_overlap_cuts_only_what_weighs_nothing():
    rng = np.random.default_rng(0)
    runs = hf.Preferences.from_weights(rng.normal(size=(3, 900)) + np.linspace(3, 0, 900)).to_ranking()
    expected = mean(oracles.rank_biased_overlap(x, y, 0.9) for x, y in itertools.combinations(runs.matrix(), 2))
    check_equal(hf.stability(runs, "rank_biased_overlap").value, expected)


@given(runs=rank_runs())
def test_rank_variance(runs):
    check_equal(hf.stability(runs, "rank_variance").value, oracles.rank_variance(runs.matrix()))


@given(runs=rank_runs(ties=False))
def test_rank_variance_is_spearman_without_ties(runs):
    check_equal(hf.stability(runs, "rank_variance").value, hf.stability(runs, "spearman").value)


def test_changes_at_the_top_cost_more_in_rank_biased_overlap():
    order = np.arange(1, 11)
    top, bottom = order.copy(), order.copy()
    top[[0, 1]], bottom[[8, 9]] = top[[1, 0]], bottom[[9, 8]]
    at_top, at_bottom = (hf.stability([order, other], "rank_biased_overlap").value for other in (top, bottom))
    assert at_top < at_bottom < 1
    plain = [hf.stability([order, other], "spearman").value for other in (top, bottom)]
    assert plain[0] == pytest.approx(plain[1])


def test_random_ties_take_away_the_correlation_that_shared_ties_feign():
    rng = np.random.default_rng(0)
    weights = np.zeros((20, 200))
    weights[:, :20] = rng.random((20, 20)) + 1  # 90 % of the features are never scored
    runs = hf.Preferences.from_weights(weights)
    average = hf.stability(runs, "spearman").value
    random = hf.stability(runs, "spearman", ties="random", random_state=1).value
    assert average > 0.9
    assert random == pytest.approx(average * (1 - 0.9**3), abs=0.02)  # a tied block of share q keeps 1 − q³
    assert hf.stability(runs, "spearman", ties="random", random_state=1).value == random


def test_every_measure_can_be_cited_in_a_methods_section():
    for measure in hf.MEASURES.values():
        publication = REFERENCES[measure.cite]
        assert measure.reference.startswith(publication.short)
        assert publication.bibtex.startswith("@")
        assert f"{{{measure.cite}," in publication.bibtex
        assert re.search(r"\d{4}", measure.methods), measure.name
    phrase = "the mean Jaccard index of two resamples (Kalousis, Prados and Hilario, 2005)"
    assert hf.MEASURES["jaccard"].methods == phrase
    assert hf.corrected("jaccard").methods == f"{phrase}, corrected for chance"
    assert hf.Measure(name="own", form=hf.MEASURES["jaccard"].form).methods == "the measure own"
    with pytest.raises(KeyError, match=r"got .kunchewa2007.; did you mean .kuncheva2007"):
        hf.Measure(name="own", form=hf.MEASURES["jaccard"].form, cite="kunchewa2007")


def test_a_registered_measure_is_known_by_its_name():
    runs = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]
    own = replace(hf.MEASURES["jaccard"], name="own_index", summary="one of our own")
    assert hf.MEASURES.add(own) is own
    try:
        assert hf.stability(runs, "own_index").value == hf.stability(runs, "jaccard").value
        assert "own_index" in repr(hf.MEASURES)
        assert "own_index" in hf.MEASURES._repr_html_()
        assert hf.MEASURES.to_frame().loc["own_index", "summary"] == "one of our own"
        with pytest.raises(ValueError, match="Expected a new name for a measure, got 'own_index', which is taken"):
            hf.MEASURES.add(own)
    finally:
        hf.MEASURES.remove("own_index")
    assert "own_index" not in hf.MEASURES
    with pytest.raises(ValueError, match="Expected a Measure to register, got 'jaccard'"):
        hf.MEASURES.add("jaccard")


def test_a_misspelled_name_gets_a_hint_whatever_its_case():
    with pytest.raises(KeyError, match=r"got 'Jacard'; did you mean 'jaccard'\? holdfast\.MEASURES lists them"):
        hf.MEASURES["Jacard"]
    with pytest.raises(ValueError, match=r"got 'nothing like it'\. holdfast\.MEASURES lists"):
        hf.stability([[1, 0], [1, 0]], "nothing like it")


@pytest.mark.parametrize("n_runs", [4, 30])
def test_counting_shared_features_at_once_changes_nothing(n_runs, monkeypatch):
    runs = make_selections(stability=0.5, size=6, n_features=40, n_runs=n_runs, random_state=0)
    at_once = forms.overlap_matrix(runs)
    monkeypatch.setattr(forms, "DENSE_CELLS", 0)
    np.testing.assert_array_equal(forms.overlap_matrix(runs), at_once)
    np.testing.assert_array_equal(np.diag(at_once), runs.sizes)


def test_forms_and_parameters_are_of_known_measures():
    assert catalog.PARAMETERS.keys() <= set(hf.MEASURES)
    assert catalog.SIMILARITY_FORMS.keys() == {name for name, one in hf.MEASURES.items() if one.similarity is not None}
