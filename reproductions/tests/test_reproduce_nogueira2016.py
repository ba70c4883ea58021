"""Nogueira and Brown (2016), done again: every experiment in its quick form, and that verdicts follow the numbers."""

import numpy as np
import pytest

import holdfast as hf
from reproductions import Workbench
from reproductions.experiments import load_experiments
from reproductions.nogueira2016 import lasso, measures

EXPERIMENTS = ["examples", "figure1", "figure2", "figure4", "figure5", "table2"]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder, known = tmp_path_factory.mktemp("stores"), load_experiments()
    names = {short: f"nogueira2016-{short}" for short in EXPERIMENTS}
    return {short: known[name].run(Workbench(folder=folder / name, quick=True)) for short, name in names.items()}


@pytest.mark.parametrize("short", EXPERIMENTS)
def test_every_experiment_has_checks_and_says_what_was_done(outcomes, short):
    outcome = outcomes[short]
    assert outcome.claims
    assert outcome.protocol
    assert all(check.rule and str(check.evidence) and check.where for check in outcome.claims)
    assert all(picture.chart.to_dict(validate=True) for picture in outcome.pictures)


def verdicts(outcome):
    return {check.claim: check.verdict for check in outcome.claims}


def test_the_worked_examples_are_exact(outcomes):
    missed = [claim for claim, verdict in verdicts(outcomes["examples"]).items() if verdict != "holds"]
    assert missed == ["Scenario 3: equal frequencies 6/15 give a stability of 0"]  # it is -1/(M - 1)
    assert hf.Preferences.from_matrix(measures.A_2).frequency[[1, 3]] == pytest.approx([1 / 3, 1 / 3])


def test_lustgarten_wald_and_the_consistency_violate_the_property_of_the_maximum(outcomes):
    assert set(verdicts(outcomes["figure1"]).values()) == {"holds"}
    lines = outcomes["figure1"].tables[0].frame
    k = np.arange(1, 10)
    expected = (k - k**2 / 10) / (k - np.maximum(0, 2 * k - 10))
    np.testing.assert_allclose(lines["lustgarten, identical sets"], expected)


def test_verdicts_turn_if_the_measures_are_wrong(monkeypatch):
    monkeypatch.setattr(measures, "_stability", lambda rows, measure: 0.25)
    found = verdicts(measures.worked_examples(Workbench(folder=None, quick=True)))
    assert found["The Jaccard stability of A_2 is 11/18"] == "does not hold"
    found = verdicts(measures.maximum(Workbench(folder=None, quick=True)))
    assert set(found.values()) == {"does not hold"}


def test_random_selections_are_as_large_as_asked():
    means = np.mean(measures._random_stabilities(5, 20, ["dice", "pearson"]), axis=0)
    assert means == pytest.approx([0.5, 0.0], abs=0.02)


def test_the_printed_table_fits_the_data_that_it_is_about():
    for printed in lasso.TABLE_2.values():
        assert all(false <= 50 and missed <= 50 for false, missed in printed)
    assert [row[1][0] for row in lasso.TABLE_2.values()] == [0, 0, 0]  # "in all cases … reduces the FP rate to zero"
