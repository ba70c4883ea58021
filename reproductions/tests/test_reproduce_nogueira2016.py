"""Nogueira and Brown (2016), done again: every experiment in its quick form, and that verdicts follow the numbers."""

import numpy as np
import pytest

import holdfast as hf
from reproductions import Workbench, enumeration
from reproductions.experiments import load_experiments
from reproductions.nogueira2016 import lasso, measures

EXPERIMENTS = ["examples", "figure1", "figure2", "table1", "figure4", "figure5", "table2"]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder, known = tmp_path_factory.mktemp("stores"), load_experiments()
    names = {short: f"nogueira2016-{short}" for short in EXPERIMENTS}
    return {short: known[name].run(Workbench(folder=folder / name, quick=True)) for short, name in names.items()}


@pytest.mark.parametrize("short", EXPERIMENTS)
def test_every_experiment_has_claims_and_says_what_was_done(outcomes, short):
    outcome = outcomes[short]
    assert outcome.claims
    assert outcome.protocol
    assert all(claim.rule.text and str(claim.evidence) and claim.location for claim in outcome.claims)
    assert all(picture.chart.to_dict(validate=True) for picture in outcome.pictures)


def verdicts(outcome):
    return {claim.claim: claim.verdict for claim in outcome.claims}


def test_the_worked_examples_and_theorems_are_exact(outcomes):
    assert set(verdicts(outcomes["examples"]).values()) == {"holds"}
    assert measures.scenario_3(100) == pytest.approx(-1 / 99)
    assert measures.scenario_3(1000) == pytest.approx(-1 / 999)
    assert hf.Preferences.from_matrix(measures.A_2).frequency[[1, 3]] == pytest.approx([1 / 3, 1 / 3])


def test_lustgarten_wald_and_the_consistency_violate_the_property_of_the_maximum(outcomes):
    assert set(verdicts(outcomes["figure1"]).values()) == {"holds"}
    k = np.arange(1, 10)
    expected = (k - k**2 / 10) / (k - np.maximum(0, 2 * k - 10))
    np.testing.assert_allclose(enumeration.values_by_size(["lustgarten"])[1]["lustgarten"], expected)


def test_the_correlation_has_all_properties_and_the_consistency_not_the_correction(outcomes):
    missed = [claim for claim in outcomes["table1"].claims if claim.verdict != "holds"]
    assert [str(claim.evidence) for claim in missed] == ["all right but for CW_rel"]
    frame = outcomes["table1"].tables[0].frame
    assert set(frame.loc["correlation"]) == {"✓"}
    assert list(frame.loc["Krízek"]) == ["–", "–", "✓", "–"]


def test_verdicts_turn_if_the_measures_are_wrong(monkeypatch, tmp_path):
    monkeypatch.setattr(measures, "stability", lambda rows, measure: 0.25)
    monkeypatch.setattr(enumeration, "value_of", lambda name, sets, d: 0.25)
    bench = Workbench(folder=tmp_path / "x", quick=True)
    assert verdicts(measures.worked_examples(bench))["The Jaccard stability of A_2 is 11/18."] == "does not hold"
    assert set(verdicts(measures.maximum(bench)).values()) == {"does not hold"}


def test_random_selections_are_as_large_as_asked(tmp_path):
    drawn = enumeration.simulate_random(Workbench(folder=tmp_path), ["dice", "pearson"], [5], 20, sideways=0.25)
    assert drawn.mean().loc[5].tolist() == pytest.approx([0.5, 0.0], abs=0.02)


def test_the_printed_table_fits_the_data_that_it_is_about():
    for printed in lasso.TABLE_2.values():
        assert all(false <= 50 and missed <= 50 for false, missed in printed)
    assert [row[1][0] for row in lasso.TABLE_2.values()] == [0, 0, 0]  # "in all cases … reduces the FP rate to zero"
