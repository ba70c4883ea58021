"""Nogueira, Sechidis and Brown (2018): properties, inference and Stability Selection, done again."""

import itertools
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import holdfast as hf
from holdfast import datasets, selectors
from holdfast.testing import mean_by_chance
from reproductions import EXPERIMENTS, Workbench, enumeration
from reproductions.experiments import load_experiments
from reproductions.nogueira2018 import appendix, inference, stability_selection

MINE = ("figure1", "figure2", "table2", "figure3", "coverage", "figure5", "appendix")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    load_experiments()
    folder = tmp_path_factory.mktemp("stores")
    return {
        short: EXPERIMENTS[f"nogueira2018-{short}"].run(Workbench(folder=folder / short, quick=True)) for short in MINE
    }


def missed(outcome):
    return {claim.claim for claim in outcome.claims if claim.verdict != "holds"}


@pytest.mark.parametrize("short", MINE)
def test_each_experiment_has_claims_a_protocol_and_pictures_that_draw(short, outcomes):
    outcome = outcomes[short]
    assert outcome.claims
    assert outcome.protocol
    assert all(claim.rule.text and str(claim.evidence) and claim.location for claim in outcome.claims)
    for picture in outcome.pictures:
        picture.chart.to_dict(validate=True)


def test_what_the_appendix_has_wrong_is_a_miss_and_the_rest_is_not(outcomes):
    assert missed(outcomes["appendix"]) == {
        "The sum of variances of Z1 in C.2.5.",
        "The sum of variances of Z2 in C.2.5.",
        "The expectation of Krízek for random selections of one size.",
        "The expectation of Guzmán for random selections of one size.",
        "The expectation of Hamming's measure for random selections of any sizes.",
        "The expected variance of a feature in the example of two runs with sizes 1 and 2 of 3.",
        "Davis' measure without a penalty is Goh's.",
    }


def test_a_wrong_derivative_or_similarity_is_found(monkeypatch):
    similarity, derivative = appendix.TABLE_7["jaccard"]
    monkeypatch.setitem(appendix.TABLE_7, "jaccard", (similarity, lambda r, k, q, d: 1 / (k + q - r)))
    assert [claim.verdict for claim in appendix.check_derivatives()] == ["does not hold", "holds", "holds"]
    monkeypatch.setitem(appendix.TABLE_7, "jaccard", (lambda r, k, q, d: r / (k + q), derivative))
    assert [claim.verdict for claim in appendix.check_derivatives()] == ["does not hold", "holds", "does not hold"]


def test_figure_1_names_the_measures_that_the_paper_names(outcomes):
    assert not missed(outcomes["figure1"])


def test_the_printed_table_is_the_one_that_measures_carry():
    for name, (_, ticks) in enumeration.PRINTED.items():
        published = hf.MEASURES[name].published
        own = [getattr(published, key) for key in ("fully_defined", "monotone", "bounded", "maximum", "chance")]
        assert ["yes" if tick == "✓" else "no" for tick in ticks] == own


@pytest.fixture(scope="module")
def small():
    return [enumeration.enumerate_collections(4, 2), enumeration.enumerate_collections(3, 3)]


@pytest.mark.parametrize("name", enumeration.PRINTED)
def test_no_counter_example_to_what_measures_declare(name, small):
    declared = hf.MEASURES[name].properties
    keys = dict(zip(enumeration.PROPERTIES, ("fully_defined", "monotone", "bounded", "maximum", "chance"), strict=True))
    for column, key in keys.items():
        if getattr(declared, key) == "yes":
            assert enumeration.FINDERS[column](name, small) == "", column


def test_counter_examples_are_true(small):
    text = enumeration.not_monotone("jaccard", small)
    parts = [part.rpartition(" (")[0].split(", ") for part in text.removesuffix(")").split(") and ")]
    less, more = (np.array([list(map(int, row)) for row in part]) for part in parts)
    assert appendix.sum_of_variances(less) < appendix.sum_of_variances(more)
    assert hf.stability(less, "jaccard").value <= hf.stability(more, "jaccard").value + 1e-12
    assert enumeration.not_maximal("wald", small).startswith("1 for ")
    assert enumeration.not_bounded("npog", small)


def test_one_size_suffices_to_contradict_guzman():
    part = enumeration.enumerate_collections(5, 4, 2)
    assert enumeration.not_monotone("guzman", [part])
    assert enumeration.not_monotone("lausser", [part]) == ""
    assert enumeration.not_monotone("jaccard", [part])


def test_enumerated_means_are_those_over_all_ordered_collections(tmp_path):
    bench = Workbench(folder=tmp_path / "x")
    for part in (enumeration.enumerate_collections(4, 2), enumeration.enumerate_collections(4, 2, bench=bench)):
        for name, sizes in itertools.product(("nogueira", "jaccard", "cw_rel"), ((1, 3), (2, 2))):
            assert enumeration.expectations(name, part)[sizes] == pytest.approx(
                mean_by_chance(enumeration.measure_of(name), sizes, 4)
            )
        assert part.weights.sum() == 14**2


def test_intervals_cover_and_printed_numbers_are_plausible():
    held = inference.count_covering(0.5, 60, 60, np.random.default_rng(0), {})["covered"]
    assert held[0] > 0.9
    assert held[0] >= held[1] >= held[2] > 0.7
    for printed in inference.TABLE_4.values():
        assert np.all(np.abs(np.array(printed, dtype=float) - np.array(inference.LEVELS)) < 0.015)
    assert sorted(map(float, inference.FIGURE_5.values())) == [-7.6, -3.8, -0.4]


def test_a_spoiled_coverage_is_a_miss():
    def verdict(share, repeats):
        return inference.judge_cell(0.8, 0.95, {"covered": share, "repeats": repeats}).verdict

    assert (verdict(0.943, 10_000), verdict(0.90, 10_000), verdict(0.943, 100)) == ("holds", "does not hold", "open")


def test_the_statistic_is_second_less_first_and_no_other_distribution_is_normal(tmp_path):
    bench = Workbench(folder=tmp_path)
    assert (inference.draw_statistics(bench, 0.3, 50, 3) < 0).all()
    normal = np.random.default_rng(0).normal(-3.8, 1, size=2000)
    assert (
        inference.from_normal(bench, normal, fitted=True).high
        < 0.06
        < inference.from_normal(bench, normal, fitted=False).low
    )
    assert (
        inference.extreme_distance(bench, normal, -7.2, np.min).high
        < 2
        < inference.extreme_distance(bench, normal, -9, np.min).low
    )


# Figure 12


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The experiment's study, on simulated data."""
    X, y = datasets.make_redundant(n_samples=80, rho=0.5, n_relevant=4, n_features=12, random_state=0)[:2]
    bench = Workbench(folder=tmp_path_factory.mktemp("stores"), quick=True)
    X = pd.DataFrame(np.asarray(X))
    result = bench.study("sonar", stability_selection.plan("sonar", 12, bench), X, np.asarray(y))
    return stability_selection.Compared("sonar", result, X)


def test_both_ways_are_compared(compared):
    assert len(compared.stable("apart")) == len(compared.stable("together")) == 6
    claim = stability_selection.judge_least(compared, "apart")
    evidence = claim.evidence
    differences = compared.differences("apart").values()
    assert evidence.value == min(one.difference for one in differences)
    assert evidence.low == min(one.ci()[0] for one in differences)
    assert evidence.high >= min(one.ci()[1] for one in differences)
    assert (claim.kind, stability_selection.judge_least(compared, "together").kind) == ("empirical", "beyond")
    for copies in stability_selection.WAYS:
        stability_selection.draw(compared, copies).chart.to_dict(validate=True)
    frame = stability_selection.tabulate(compared).frame
    assert len(frame) == 14
    assert set(frame["tick"]) <= {"", "✓", "–"}
    assert stability_selection.judge_undecided(compared).verdict in ("holds", "open")  # six runs decide nothing
    (text,) = stability_selection.describe_leak([compared])
    assert "6 settings" in text


def test_the_plan_is_the_printed_one():
    assert stability_selection.sizes(13) == [3, 4, 6]
    assert stability_selection.sizes(500) == [20, 30, 40]
    full = Workbench(folder=Path("unused"), seed=3)
    plan = stability_selection.plan("boston", 13, full)
    lasso, stable = plan.selectors["lasso apart"], plan.selectors["stable apart"]
    assert isinstance(lasso, selectors.ElasticNetCV)
    assert (lasso.cv, lasso.rule, lasso.copies, lasso.model) == (10, "1se", "apart", "linear")
    assert (stable.selector.n_resamples, stable.selector.resampling) == (100, "subsamples")
    for name, d in (("boston", 13), ("madelon", 500), ("spambase", 57)):
        plan = stability_selection.plan(name, d, full)
        assert (plan.perturbation.get_n_splits(), plan.random_state) == (100, 3)
    assert stability_selection.plan("boston", 13, replace(full, quick=True)).perturbation.get_n_splits() < 10


@pytest.mark.skipif("HOLDFAST_DATA" not in os.environ, reason="needs the real data sets in HOLDFAST_DATA")
def test_figure_12_on_real_data(tmp_path):
    load_experiments()
    outcome = EXPERIMENTS["nogueira2018-figure12"].run(Workbench(folder=tmp_path, quick=True))
    assert {claim.exhibit for claim in outcome.claims} == {"Figure 12"}
    assert len(outcome.tables[0].frame) == 14
