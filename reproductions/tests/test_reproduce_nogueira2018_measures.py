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
from reproductions import EXPERIMENTS, Workbench
from reproductions.experiments import load_experiments
from reproductions.nogueira2018 import appendix, enumeration, inference, stability_selection

MINE = ("figure1", "figure2", "table2", "figure3", "coverage", "figure5", "appendix")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    load_experiments()
    bench = Workbench(folder=tmp_path_factory.mktemp("stores"), quick=True)
    return {short: EXPERIMENTS[f"nogueira2018-{short}"].run(bench) for short in MINE}


def verdicts(outcome):
    return {check.claim: check.verdict for check in outcome.claims}


@pytest.mark.parametrize("short", MINE)
def test_each_experiment_has_checks_a_protocol_and_pictures_that_draw(short, outcomes):
    outcome = outcomes[short]
    assert outcome.claims
    assert outcome.protocol
    for picture in outcome.pictures:
        picture.chart.to_dict(validate=True)
    for check in outcome.claims:
        assert check.verdict in ("holds", "does not hold", "open")


def test_what_the_appendix_has_wrong_is_a_miss_and_the_rest_is_not(outcomes):
    missed = {claim for claim, verdict in verdicts(outcomes["appendix"]).items() if verdict != "holds"}
    assert missed == {
        "Sum of variances of Z1 in C.2.5.",
        "Sum of variances of Z2 in C.2.5.",
        "Expectation of Krízek for random selections of one size.",
        "Expectation of Guzmán for random selections of one size.",
        "Expectation of Hamming's measure for random selections of any sizes.",
        "The expected variance of a feature in the example of two runs with sizes 1 and 2 of 3.",
    }


def test_figure_1_names_the_measures_that_the_paper_names(outcomes):
    assert set(verdicts(outcomes["figure1"]).values()) == {"holds"}


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
    less, more = (np.array([list(map(int, row)) for row in part]) for part in _rows_of(text))
    assert appendix.sum_of_variances(less) < appendix.sum_of_variances(more)
    assert hf.stability(less, "jaccard").value <= hf.stability(more, "jaccard").value + 1e-12
    assert enumeration.not_maximal("wald", small).startswith("1 for ")
    assert enumeration.not_bounded("npog", small)


def _rows_of(text):
    """The two collections of a counter-example, as lists of rows."""
    return [part.rpartition(" (")[0].split(", ") for part in text.removesuffix(")").split(") and ")] if text else []


def test_one_size_suffices_to_contradict_guzman():
    part = enumeration.enumerate_collections(5, 4, 2)
    assert enumeration.not_monotone("guzman", [part])
    assert enumeration.not_monotone("lausser", [part]) == ""
    assert enumeration.not_monotone("jaccard", [part])


def test_enumerated_means_are_those_over_all_ordered_collections():
    part = enumeration.enumerate_collections(4, 2)
    for name, sizes in itertools.product(("nogueira", "jaccard", "cw_rel"), ((1, 3), (2, 2))):
        assert enumeration.expectations(name, part)[sizes] == pytest.approx(
            mean_by_chance(enumeration.measure_of(name), sizes, 4)
        )
    assert part.weights.sum() == 14**2


def test_intervals_cover_and_printed_numbers_are_plausible():
    table = inference.coverage(0.5, 60, 60, np.random.default_rng(0), (0.5, 0.99))
    assert (table.loc[0.5] < table.loc[0.99]).all()
    assert (table.loc[0.99] > 0.9).all()
    for printed in inference.TABLE_4.values():
        assert np.all(np.abs(np.array(printed) - 100 * np.array(inference.LEVELS)) < 1.5)
    assert inference.FIGURE_5["low"] < inference.FIGURE_5["median"] < inference.FIGURE_5["high"]


def test_a_spoiled_coverage_is_a_miss():
    table = pd.DataFrame({"published": [0.985, 0.943, 0.89], "holdfast": 0.9}, index=list(inference.LEVELS))
    checks = [inference._table_check(0.8, table, place, 10_000) for place in range(3)]
    assert [check.verdict for check in checks] == ["holds"] * 3
    spoiled = inference._table_check(0.8, table - 0.05, 1, 10_000)
    assert (spoiled.verdict, bool(spoiled.reason)) == ("does not hold", True)


def test_the_statistic_is_second_less_first():
    compared = list(inference.statistics(0.8, 0.3, 50, 3, np.random.default_rng(0)))
    assert all(one.statistic < 0 for one in compared)
    wide = inference._equal_checks(3 * np.random.default_rng(0).normal(size=200))
    assert [check.verdict for check in wide][1:] == ["does not hold"] * 2


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
    check = stability_selection._is_higher(compared, "apart")
    least = min(one.difference for one in compared.differences("apart").values())
    assert f"{least:+.2f}" in str(check.evidence)
    for copies in stability_selection.WAYS:
        stability_selection._picture(compared, copies).chart.to_dict(validate=True)
    frame = stability_selection._table(compared).frame
    assert len(frame) == 14
    assert set(frame["tick"]) <= {"", "✓", "–"}
    (few,) = stability_selection._not_always_significant([compared])
    assert (few.verdict == "holds") == (not all(stability_selection._ticks(compared, "apart")))
    assert not stability_selection._not_always_significant([compared._replace(name="boston")])
    assert "instead of" in stability_selection._leak_note(compared)
    assert "copies together: lasso" in stability_selection._redundancy_note(compared)


def test_the_plan_is_the_printed_one():
    assert stability_selection.sizes(13) == [3, 4, 6]
    assert stability_selection.sizes(500) == [20, 30, 40]
    full = Workbench(folder=Path("unused"))
    plan = stability_selection.plan("boston", 13, full)
    lasso, stable = plan.selectors["lasso apart"], plan.selectors["stable apart"]
    assert isinstance(lasso, selectors.ElasticNetCV)
    assert (lasso.cv, lasso.rule, lasso.copies, lasso.model) == (10, "1se", "apart", "linear")
    assert (stable.selector.n_resamples, stable.selector.resampling) == (100, "subsamples")
    assert plan.perturbation.get_n_splits() == 100
    assert stability_selection.plan("madelon", 500, full).perturbation.get_n_splits() == 50
    assert stability_selection.plan("boston", 13, replace(full, quick=True)).perturbation.get_n_splits() < 10


@pytest.mark.skipif("HOLDFAST_DATA" not in os.environ, reason="needs the real data sets in HOLDFAST_DATA")
def test_figure_12_on_real_data(tmp_path):
    load_experiments()
    outcome = EXPERIMENTS["nogueira2018-figure12"].run(Workbench(folder=tmp_path, quick=True))
    assert [check.where for check in outcome.claims] == ["Section 6.2, Figure 12"] * len(outcome.claims)
    assert len(outcome.tables[0].frame) == 14
