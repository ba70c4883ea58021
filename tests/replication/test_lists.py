"""Lists that the selector did not choose, in new studies."""

import numpy as np
import pandas as pd
import pytest

import holdfast as hf
from holdfast.replication import Replicability, estimate_replicability, expect_list
from study_parts import anova, small_data


def halves(seed=0, n_features=60, n_pairs=40):
    """What halves select: of five features each with 80 %, of ten with 30 %, of the others with 2 %."""
    p = np.repeat([0.8, 0.3, 0.02], [5, 10, n_features - 15])
    return hf.Preferences.from_matrix(np.random.default_rng(seed).random((2 * n_pairs, n_features)) < p)


@pytest.fixture(scope="module")
def found():
    return estimate_replicability(halves(), range(8), 100)


def test_the_selection_as_a_list_gets_the_answer_of_the_selection(found):
    said = expect_list(found, range(8))
    assert said.expected == pytest.approx(found.expected)
    assert said.interval == found.expected_interval
    assert said.sentence == found.sentence
    known = found.frame.set_index("column")["probability"].sort_index()
    np.testing.assert_allclose(said.probabilities, known)


def test_features_off_the_selection_get_probabilities_that_add_up(found):
    everything = expect_list(found, range(60))
    assert everything.expected == pytest.approx(8, abs=0.8)  # as many as the selection has
    assert everything.probabilities[8:15].mean() > everything.probabilities[15:].mean()
    off = expect_list(found, range(8, 60))
    assert found.expected + off.expected == pytest.approx(everything.expected)
    assert found.expected == pytest.approx(found.frame["probability"].sum())
    assert off.interval.low <= off.expected <= off.interval.high <= 52
    assert expect_list(found, [9]).sentence.startswith("A new study of this size would select your feature with a prob")


def test_intervals_widen_with_the_level_and_away_from_the_selection(found):
    listed = [0, 1, 9, 10, 30]
    narrow, wide = (expect_list(found.at_level(level), listed).interval for level in (0.8, 0.95))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_answers_survive_as_plain_values_and_those_of_earlier_versions_still_open(found):
    plain = found.to_dict()
    again = Replicability.from_dict(plain)
    assert expect_list(again, [0, 9, 30]).to_dict() == expect_list(found, [0, 9, 30]).to_dict()
    earlier = Replicability.from_dict({name: value for name, value in plain.items() if name != "halves"})
    said = expect_list(earlier, [0, 9])
    assert said.probabilities[0] == pytest.approx(found.frame.set_index("column")["probability"][0])
    assert np.isnan(said.probabilities[1])
    assert "is not known: it has not been estimated" in said.sentence
    for damaged in ([[0, 99], [1]], [[0]], [[-1], [1]]):
        with pytest.raises(ValueError, match="Expected numbers of a replicability that fit"):
            Replicability.from_dict({**plain, "halves": damaged})


def test_a_list_may_name_features_by_either_part_of_their_labels():
    X, y = small_data(n=120)
    joined = {"f0": "TP53 (ENSG1)", "f1": "EGFR (ENSG2)", "f2": "EGFR (ENSG3)", "f3": "ENSG9", "f4": "MYC (ENSG9)"}
    study = hf.Study(selectors={"anova": anova(k=3)}, perturbation=hf.Bootstrap(20))
    result = study.run(X.rename(columns=joined), y)
    whole = hf.check_features(["TP53 (ENSG1)", "EGFR (ENSG2)"], result)
    assert whole["count"].iloc[0] == 20
    pd.testing.assert_frame_equal(hf.check_features(["TP53", "ENSG2"], result), whole)
    pd.testing.assert_frame_equal(hf.check_features(["ENSG1", "ENSG2"], result), whole)
    pd.testing.assert_frame_equal(hf.check_features(["ENSG9"], result), hf.check_features([joined["f3"]], result))
    assert hf.check_features(["ENSG7", "P53"], result)["verdict"].tolist() == ["unknown", "unknown"]
    with pytest.raises(ValueError, match=r"got 'EGFR', which may be any of 2: 'EGFR \(ENSG2\)', 'EGFR \(ENSG3\)'; wri"):
        hf.check_features(["TP53", "EGFR"], result)


def test_what_cannot_be_estimated_has_a_reason(found):
    empty = estimate_replicability(hf.Preferences.from_matrix(np.zeros((20, 9), dtype=int)), [1], 100)
    assert "in 10 of 10 splits a half selected nothing" in expect_list(empty, [1]).sentence
    assert "no feature of the list is in the study" in expect_list(found, []).sentence


def test_check_features_estimates_and_stores_it_where_there_are_data(tmp_path):
    X, y = small_data(n=120)
    study = hf.Study(selectors={"anova": anova(k=3)}, perturbation=hf.Bootstrap(20))
    result = study.run(X, y, store=tmp_path / "s.db")
    names = ["f0", "f11", "absent"]
    unknown = hf.check_features(names, result)
    assert unknown["new_study"].isna().all()
    assert "X= and y= estimate it" in unknown.attrs["new_study"]["sentence"]
    checked = hf.check_features(names, result, X=X, y=y)
    assert checked["new_study"].notna().tolist() == [True, True, False]
    assert checked.loc["f0", "direction"] == "higher in class 1"
    assert checked.loc["absent", "direction"] is None
    assert "of your 2 features" in checked.attrs["new_study"]["sentence"]
    stored = hf.check_features(names, hf.load_study(tmp_path / "s.db"))
    assert stored["new_study"].equals(checked["new_study"])
    assert stored.attrs == checked.attrs
