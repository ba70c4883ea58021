"""Correction for chance: exact where it can be, simulated with its error where not."""

from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings

import holdfast as hf
from holdfast.measures import forms
from holdfast.measures.forms import all_collections
from holdfast.testing import mean_by_chance, stability_value
from strategies import subset_runs

SUBSET = [measure for measure in hf.MEASURES.values() if measure.kind == "subset"]
S = np.eye(4)
S[0, 1] = S[1, 0] = 0.97
SIMILARITY = hf.similarity.GivenSimilarity(S)  # one object, so that expectations are found once


def complete(measure):
    if measure.name == "davis":
        return measure.bind(alpha=0.5)
    return measure.bind(similarity=SIMILARITY) if measure.similarity else measure


BY_CHANCE = [(measure, (2, 2, 2)) for measure in SUBSET]
BY_CHANCE += [pytest.param(measure, (1, 2, 3), marks=pytest.mark.slow) for measure in SUBSET if not measure.one_size]


@pytest.mark.parametrize(("measure", "sizes"), BY_CHANCE, ids=lambda item: getattr(item, "name", str(item)))
def test_a_corrected_measure_is_zero_over_all_random_collections(measure, sizes):
    assert mean_by_chance(hf.corrected(complete(measure)), sizes, 4) == pytest.approx(0, abs=1e-9)


REACHED = [measure for measure in SUBSET if measure.name not in ("goh", "davis", "lustgarten")]


@pytest.mark.parametrize("measure", REACHED, ids=attrgetter("name"))
def test_a_corrected_measure_is_one_for_a_perfect_selection(measure):
    runs = hf.Preferences.from_sets([{0, 2}] * 3, n_features=4)
    assert stability_value(runs, hf.corrected(complete(measure))) == pytest.approx(1)


@given(runs=subset_runs())
@settings(max_examples=40)
def test_corrected_overlaps_have_known_forms(runs):
    """Hypergeometric expectations turn these into measures that are in the table."""
    for plain, known in (("dice", "kappa"), ("ochiai", "unadjusted"), ("pog", "npog")):
        assert hf.stability(runs, plain, corrected=True).value == pytest.approx(hf.stability(runs, known).value)


@given(runs=subset_runs())
@settings(max_examples=20)
def test_what_is_corrected_already_does_not_change(runs):
    for name in ("pearson", "kappa", "wald", "npog"):
        assert hf.stability(runs, name, corrected=True).value == pytest.approx(hf.stability(runs, name).value)


@pytest.mark.parametrize("d", [3, 4])
def test_expected_nogueira_with_varying_sizes(d):
    """−Σ (k − k̄)² / (M (M − 1) k̄ (d − k̄)): slightly below zero."""
    sizes = np.array([1, 2, 2])
    spread = ((sizes - sizes.mean()) ** 2).sum()
    expected = -spread / (3 * 2 * sizes.mean() * (d - sizes.mean()))
    assert mean_by_chance(hf.MEASURES["nogueira"], sizes, d) == pytest.approx(expected)


@pytest.mark.parametrize(("M", "k", "expected"), [(5, 5, 0.168), (10, 5, 0.0765), (100, 5, 0.00725), (100, 1, 0.0199)])
def test_expected_guzman_is_not_zero(M, k, expected):
    by_chance = 10 * forms.count_distribution((k,) * M, 10)
    form = hf.MEASURES["guzman"].form
    runs = hf.Preferences.from_sets([range(k)] * M, n_features=10)
    assert form.value(by_chance, runs) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(("M", "k"), [(4, 2), (6, 3)])
def test_expected_lausser(M, k):
    by_chance = 8 * forms.count_distribution((k,) * M, 8)
    runs = hf.Preferences.from_sets([range(k)] * M, n_features=8)
    assert hf.MEASURES["lausser"].form.value(by_chance, runs) == pytest.approx(1 / M + (M - 1) / M * k / 8)


def test_expected_hamming_with_varying_sizes():
    """1 − 2 k̄/d + 2/d² · mean of kᵢ kⱼ; the printed general formula gives 0.2292."""
    assert mean_by_chance(hf.MEASURES["hamming"], (1, 2, 3), 4) == pytest.approx(0.4583, abs=1e-4)


@pytest.mark.parametrize("name", ["krizek", "davis", "zucknick", "gulgezen", "pogr"])
def test_simulation_and_enumeration_agree(name, monkeypatch):
    measure = complete(hf.MEASURES[name])
    runs = hf.Preferences.from_sets([{0, 1}, {0, 2}, {1, 3}], n_features=4)
    exact = hf.stability(runs, measure, corrected=True)
    monkeypatch.setattr(forms, "ENUMERATE", 0)
    simulated = hf.stability(runs, measure, corrected=True)
    assert exact.chance_error == 0 < simulated.chance_error
    assert abs(simulated.value - exact.value) < 4 * simulated.chance_error


def test_a_measure_of_all_runs_is_corrected_for_as_many_runs():
    """More random runs leave fewer chances to agree by accident; the expectation must follow."""
    few = list(all_collections((2, 2), 4))
    many = list(all_collections((2, 2, 2), 4))
    krizek = hf.MEASURES["krizek"]
    assert np.mean([stability_value(runs, krizek) for runs in few]) < np.mean(
        [stability_value(runs, krizek) for runs in many]
    )
    for collections in (few, many):
        assert np.mean([stability_value(runs, hf.corrected(krizek)) for runs in collections]) == pytest.approx(
            0, abs=1e-9
        )


def test_random_selections_of_different_size_score_alike_only_when_corrected():
    rng = np.random.default_rng(0)
    plain, fair = [], []
    for k in (5, 50):
        runs = hf.Preferences.from_weights(rng.random((60, 100))).top(k)
        plain.append(hf.stability(runs, "jaccard").value)
        fair.append(hf.stability(runs, "jaccard", corrected=True).value)
    assert plain[1] - plain[0] > 0.25
    assert fair == pytest.approx([0, 0], abs=0.02)


def test_only_measures_of_subsets_can_be_corrected():
    with pytest.raises(ValueError, match=r"measure of subsets.*spearman"):
        hf.corrected("spearman")
