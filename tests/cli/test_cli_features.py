"""The commands about single features: features, check."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app
from holdfast.replication.lists import judge_list
from holdfast.tradeoff.selected import DOES_NOT_HOLD, IN_DOUBT, NOT_ABOVE_CHANCE
from study_parts import anova, small_data

X, Y = small_data(n=120)
LABELS = np.where(Y == 1, "relapse", "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("features")
    X.assign(status=LABELS).to_csv(path / "patients.csv", index=False)
    study = hf.Study(
        selectors={"anova": hf.Candidates(anova(), {"k": [2, 4]})}, perturbation=hf.Bootstrap(25),
        estimator=KNeighborsClassifier(3),
    )  # fmt: skip
    study.run(X, pd.Series(LABELS, name="status"), store=path / "s.db")
    return path


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_features_are_listed_with_direction_and_effect(folder):
    shown = run("features", folder / "s.db", "--candidate", "anova(k=4)")
    assert shown.exit_code == 0
    first = next(line for line in shown.stdout.splitlines() if line.strip().startswith("f0"))
    assert "higher in relapse" in first
    assert re.search(r"\s100 %\s.*\sto 100 %\s", first)  # how often it was selected, and the interval
    assert "Effects are means over the held-out rows" in shown.stdout
    told = json.loads(run("features", folder / "s.db", "--json").stdout)
    assert told["schema"] == "holdfast.features/1"
    assert told["frame"][0]["direction"] == "higher in relapse"


def test_features_are_written_as_csv(folder, tmp_path):
    assert run("features", folder / "s.db", "--csv", tmp_path / "f.csv").exit_code == 0
    table = pd.read_csv(tmp_path / "f.csv")
    expected = hf.load_study(folder / "s.db").features().frame
    assert table["feature"].tolist() == expected["feature"].tolist()
    stated = ~expected["direction"].isin(["direction not shown"]) & expected["direction"].notna()
    assert stated.any()
    assert (table.loc[stated, "effect"] > 0.5).all()  # as printed: the AUC of the class in which it is higher
    away = np.abs(expected["effect"] - 0.5)
    np.testing.assert_allclose(np.abs(table["effect"] - 0.5), away)
    assert (table["effect_low"].dropna() <= table["effect"][table["effect_low"].notna()]).all()


def test_given_the_data_stand_ins_are_correlated_and_other_data_are_refused(folder, tmp_path):
    shown = run("features", folder / "s.db", "--data", folder / "patients.csv", "--json")
    assert shown.exit_code == 0, shown.output
    changed = tmp_path / "others.csv"
    X.assign(f0=0.0, status=LABELS).to_csv(changed, index=False)
    refused = run("features", folder / "s.db", "--data", changed)
    assert isinstance(refused.exception, ValueError)
    assert "Expected the data of the study in" in str(refused.exception)
    assert "features differ" in str(refused.exception)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.txt", "f0\nf1\n\nf9\n"),
        ("list.csv", "rank,gene\n1,f0\n2,f1\n3,f9\n"),
        ("plain.csv", "f0\nf1\nf9\n"),
        ("european.csv", "\ufeffrang;gene\r\n1,5;f0\r\n2,5;f1\r\n3;f9\r\n"),
        ("bom.txt", "\ufefff0\nf1\nf9"),
    ],
)
def test_lists_come_in_files_and_as_names(name, text, folder, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    for given in (tmp_path / name, "f0, f1,f9"):
        told = json.loads(run("check", given, "--store", folder / "s.db", "--json").stdout)
        assert [row["feature"] for row in told["features"]] == ["f0", "f1", "f9"]
    verdicts = hf.check_features(["f0", "f1", "f9"], hf.load_study(folder / "s.db"), told["candidate"])["verdict"]
    assert [row["verdict"] for row in told["features"]] == verdicts.tolist()


def test_a_list_is_judged_as_a_whole_and_unknown_names_get_a_hint(folder):
    wide = "--store", folder / "s.db", "--candidate", "anova(k=4)"
    assert "The whole list holds (1 feature)." in run("check", "f0", *wide).stdout
    mixed = run("check", "f0,f11,F00", *wide).stdout
    assert "The list as a whole does not hold: of 3 features, 1 holds." in mixed
    assert "AUC [interval]" in mixed
    often = "selected often; not shown to carry information"
    found = hf.load_study(folder / "s.db").features("anova(k=4)").frame
    assert judge_list(["f0"], [often], found).startswith(
        "The whole list is selected often (1 feature; not shown to carry information)."
    )
    some = judge_list(["f0", "f11"], [often, "undecided"], found)
    assert "of 2 features, 1 is selected often (not shown to carry information). Of the others, 1 is undecided." in some
    rare = [DOES_NOT_HOLD, *[NOT_ABOVE_CHANCE] * 8]
    judged = judge_list([f"f{number}" for number in range(10)], [often, *rare], found)
    assert "Of the others, 1 does not hold; 8 do not hold (may be chance)." in judged
    doubted = judge_list(["f0", "f1"], ["holds", IN_DOUBT], found)
    assert "of 2 features, 1 holds. Of the others, 1 is selected often (in doubt as a feature)." in doubted
    assert "1 is selected often (in doubt" in judge_list(["f0", "f1"], [IN_DOUBT, "undecided"], found)
    assert "f0" not in judge_list(["f1"], ["undecided"], found.replace({"verdict": {"holds": IN_DOUBT}}))
    assert "unknown; did you mean 'f0'?" in mixed
    none = run("check", "genie,other", "--store", folder / "s.db")
    assert "No feature of the study has a name of this list" in str(none.exception)
    assert "There is no file" in str(run("check", "absent.txt", "--store", folder / "s.db").exception)


def test_a_list_of_symbols_is_checked_where_the_study_has_names_with_labels(tmp_path):
    labeled = X.rename(columns={"f0": "TP53 (ENSG1)", "f1": "EGFR (ENSG2)", "f2": "EGFR (ENSG3)"})
    study = hf.Study(selectors={"anova": anova(k=2)}, perturbation=hf.Bootstrap(20))
    study.run(labeled, pd.Series(LABELS), store=tmp_path / "s.db")
    rows = json.loads(run("check", "TP53,ENSG1", "--store", tmp_path / "s.db", "--json").stdout)["features"]
    assert [(row["feature"], row["count"]) for row in rows] == [("TP53 (ENSG1)", 20)]
    refused = run("check", "TP53,EGFR", "--store", tmp_path / "s.db")
    assert "'EGFR', which may be any of 2: 'EGFR (ENSG2)', 'EGFR (ENSG3)'; write which one." in str(refused.exception)


def test_noise_features_never_make_a_list_that_holds(tmp_path):
    rng = np.random.default_rng(3)
    noise = pd.DataFrame(rng.normal(size=(len(Y), 30))).add_prefix("f")
    study = hf.Study(selectors={"anova": anova(k=3)}, perturbation=hf.Bootstrap(20), estimator=KNeighborsClassifier(3))
    found = study.run(noise, Y, store=tmp_path / "noise.db").features()
    assert not (found.frame["verdict"] == "holds").any()
    told = run("check", ",".join(found.frame["feature"].head(3)), "--store", tmp_path / "noise.db").stdout
    assert "The list as a whole does not hold" in told


def test_the_card_of_features_tells_what_is_printed(folder):
    found = hf.load_study(folder / "s.db").features("anova(k=4)")
    card = found._card()
    stated = found.frame["direction"].notna() & (found.frame["direction"] != "direction not shown")
    assert (card.frame.loc[stated, "AUC"] > 0.5).all()
    assert card.frame["feature"].tolist() == found.frame["feature"].tolist()
    assert card.note == found.scope
    assert "AUC low" in found._repr_html_()


NOT_KNOWN = "How many of these features a new study would select is not known"


@pytest.fixture(scope="module")
def begun(folder, tmp_path_factory):
    """A study that the command began, without what a new study would select."""
    path = tmp_path_factory.mktemp("begun") / "s.db"
    study = ("--select", "anova:k=3", "--resamples", 20, "--estimator", "knn", "--no-replicability", "--quiet")
    assert run("study", folder / "patients.csv", "--target", "status", *study, "--store", path).exit_code == 0
    return path


def test_a_list_gets_probabilities_in_a_new_study_once_they_are_estimated(folder, begun):
    names = "f0,f1,f11"
    before = run("check", names, "--store", begun)
    assert f"{NOT_KNOWN}: it has not been estimated; holdfast check {names} --store" in before.stdout
    assert "--data FILE estimates it" in before.stdout
    assert "new study  " not in before.stdout  # no column without a number
    asked = run("check", names, "--store", begun, "--data", folder / "patients.csv", "--json")
    assert "The result is stored in" in asked.stderr
    told, stored = json.loads(asked.stdout), json.loads(run("check", names, "--store", begun, "--json").stdout)
    assert stored == told
    probabilities = [row["new_study"] for row in told["features"]]
    assert all(0 <= probability <= 1 for probability in probabilities)
    assert told["new_study"]["expected"] == pytest.approx(sum(probabilities))
    assert told["new_study"]["low"] <= told["new_study"]["expected"] <= told["new_study"]["high"]
    assert "of your 3 features" in told["new_study"]["sentence"]
    assert probabilities[0] > probabilities[2]
    again = run("check", names, "--store", begun, "--data", folder / "patients.csv")
    assert "repeated split-half follows" not in again.stderr
    assert told["new_study"]["sentence"] in again.stdout
    assert "new study" in run("features", begun).stdout


@pytest.mark.parametrize(("share", "code", "verdict"), [(0.5, 0, "Passed"), (0.75, 3, "Not passed"), (0, 0, "Passed")])
def test_a_list_is_a_gate_for_a_log(share, code, verdict, folder):
    wide = "f0,f11", "--store", folder / "s.db", "--candidate", "anova(k=4)", "--require", share
    shown = run("check", *wide)
    assert shown.exit_code == code
    (line,) = shown.stderr.splitlines()
    assert line.startswith(f"holdfast: {verdict}: 1 of 2 features holds (50 %; at least {100 * share:.0f} % required)")
    told = run("check", *wide, "--json")
    assert told.exit_code == code
    assert json.loads(told.stdout)["passed"] == (code == 0)


@pytest.mark.parametrize("share", ["-0.1", "1.5", "nan"])
def test_no_share_that_can_be_required_is_wrong_input(share, folder):
    refused = run("check", "f0", "--store", folder / "s.db", f"--require={share}")
    assert "Expected a share from 0 to 1 for --require" in str(refused.exception)


def test_effects_have_one_direction_in_table_csv_and_json(tmp_path):
    store = tmp_path / "turned.db"
    study = hf.Study(selectors={"anova": anova(k=2)}, perturbation=hf.Bootstrap(25))
    found = study.run(X, np.where(Y == 1, "a", "b"), store=store).features()  # higher in the first class
    assert found.frame["effect"][0] < 0.5
    effect = found.to_frame()["effect"][0]
    assert effect == pytest.approx(1 - found.frame["effect"][0])
    run("features", store, "--csv", tmp_path / "f.csv")
    run("export", store, "--csv", tmp_path / "tables")
    written, exported = pd.read_csv(tmp_path / "f.csv"), pd.read_csv(tmp_path / "tables" / "features.csv")
    features = json.loads(run("features", store, "--json").stdout)["frame"]
    checked = json.loads(run("check", "f0", "--store", store, "--json").stdout)["features"]
    assert [table["effect"][0] for table in (written, exported)] == pytest.approx([effect] * 2)
    assert [row[0]["effect"] for row in (features, checked)] == pytest.approx([effect] * 2)
    assert "higher in a" in run("features", store).stdout
    assert ["candidate", *written.columns, "column"] == list(exported.columns)
    assert set(exported["feature"]) == set(X.columns)  # those that were never selected, too
    assert written["second_effect"][0] > 0
