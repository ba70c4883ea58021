"""The comparison of resampling with new studies, in its quick form: on simulated data, and on one real set."""

import os

import numpy as np
import pandas as pd
import pytest
from new_studies import (
    Source,
    agreement,
    ask_microarray,
    calibration,
    claims_table,
    compare_source,
    compare_studies,
    draw_studies,
    errors,
    known_agreements,
    load_rows,
    make_page,
    make_selectors,
    ordered_rightly,
    show,
)

import holdfast as hf

needs_data = pytest.mark.skipif("HOLDFAST_DATA" not in os.environ, reason="needs the real data sets in HOLDFAST_DATA")


@pytest.fixture(scope="module")
def population():
    """A thousand rows of two classes that differ in 20 of 200 features, in some more than in others."""
    rng = np.random.default_rng(3)
    y = np.arange(1000) % 2
    X = rng.standard_normal((1000, 200))
    X[:, :20] += np.linspace(0.1, 0.7, 20) * y[:, None]
    return X, y


@pytest.fixture(scope="module")
def compared(population):
    X, y = population
    selectors = make_selectors(y, ["F test", "lasso"], 10)
    studies, features = compare_studies(X, y, selectors, 80, 6, n_pairs=25, n_resamples=25)
    studies = studies.merge(known_agreements(X, y, selectors, 80, 30), on="selector")
    return studies.assign(data="simulated", rows=1000, features=200, n=80), features.assign(data="simulated")


def test_two_studies_share_no_row_and_have_the_classes_of_the_source():
    y = np.repeat(["a", "b"], [60, 240])
    for mine, other in draw_studies(y, 50, 5, seed=0):
        assert np.intersect1d(mine, other).size == 0
        assert [(y[rows] == "a").sum() for rows in (mine, other)] == [10, 10]


def test_agreement_is_that_of_the_measure():
    first, second = np.zeros((2, 12), dtype=bool)
    first[:4] = second[1:5] = True
    assert agreement(first, second) == pytest.approx(hf.stability([first, second], "pearson").value)
    assert agreement(first, second) == pytest.approx(hf.stability([first, second], "nogueira").value)


def test_ten_folds_overstate_what_a_new_study_selects_and_halves_do_not(compared):
    studies, _ = compared
    assert len(studies) == 12
    assert (studies["came_back"] <= studies["size"]).all()
    found = errors(studies).set_index("estimate")
    assert found.loc["ten folds", "error"] > 0.15
    assert abs(found.loc["extrapolated from halves", "error"]) < 0.1
    assert abs(found.loc["halves, of studies of half the size", "error"]) < 0.08
    assert found.loc["halves, of studies of half the size", "covered"] >= 0.85
    assert found.loc["extrapolated from halves", "covered"] >= 0.85
    assert found.loc["extrapolated from halves", "rmse"] < found.loc["ten folds", "rmse"]
    assert abs(studies["actual"].mean() - studies["truth"].mean()) < 0.1
    assert studies["shuffled"].abs().max() < 0.05


def test_frequencies_overstate_what_comes_back_and_probabilities_do_not(compared):
    _, features = compared
    everything = calibration(features).loc["all"]
    assert everything["number"] == 120
    assert everything["frequency"] > everything["came_back"] + 0.05
    assert everything["probability"] == pytest.approx(everything["came_back"], abs=0.1)


def test_the_order_of_selectors_counts_where_new_studies_differ():
    rows = [("a", 0.5, 0.9), ("b", 0.3, 0.95), ("c", 0.31, 0.1)]  # a before b, a before c; b and c are too close
    studies = pd.DataFrame(
        [
            {"data": "x", "repeat": repeat, "selector": name, "truth": truth, "folds": folds}
            for repeat in range(4)
            for name, truth, folds in rows
        ]
    )
    assert ordered_rightly(studies, "folds") == (0.5, 1, 2)


def test_numbers_are_shown_without_a_minus_before_zero():
    assert [show(value) for value in (-0.001, -0.016, 0.125)] == ["0.00", "-0.02", "0.12"]


def test_the_tables_have_a_row_for_each_selector(compared):
    studies, features = compared
    assert claims_table(studies)["selector"].tolist() == ["F test", "lasso"]
    assert claims_table(studies)["features expected → selected"].str.endswith(" of 10").all()
    arrays = pd.DataFrame(
        [
            {
                "data": "chip", "rows": 60, "features": 2000, "selector": "F test", "size": 10, "folds": 0.8,
                "bootstrap": 0.4, "half": 0.3, "half_low": 0.1, "half_high": 0.5, "full": 0.5, "full_low": 0.3,
                "full_high": 0.7, "expected": 5.0, "expected_low": 3.0, "expected_high": 7.0, "shown": True,
                "cautions": "",
            }
        ]
    )  # fmt: skip
    page = make_page(studies, features, arrays, 8)
    assert page.startswith("<!-- Written by ")
    assert "| chip, 60 × 2,000 | F test, 10 features | 0.80 | 0.40 |" in page
    assert "| 5 of 10 (3 to 7) |" in page
    assert "not shown (3 to 7 of 10)" in make_page(studies, features, arrays.assign(shown=False), 8)


@needs_data
def test_ten_folds_overstate_on_real_data():
    try:
        studies, features = compare_source(Source("boston", size=5, selectors=("F test", "lasso")), 3, 10)
    except FileNotFoundError:
        pytest.skip("needs boston.parquet in HOLDFAST_DATA")
    found = errors(studies).set_index("estimate")
    assert found.loc["ten folds", "error"] > 0.15
    assert len(features) == 30


@needs_data
def test_a_microarray_is_asked_about_lists():
    try:
        found = ask_microarray("alon", lists=[("F test", 10)], n_pairs=25)
    except FileNotFoundError:
        pytest.skip("needs alon.parquet in HOLDFAST_DATA")
    row = found.iloc[0]
    assert row["half_low"] <= row["half"] <= row["half_high"]
    assert row["folds"] > row["half"] + 0.3
    assert row["expected_low"] < row["expected"] < row["expected_high"]
    assert len(load_rows("alon")[0]) == 62
