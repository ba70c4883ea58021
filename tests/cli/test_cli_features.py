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
from holdfast.cli.features import judge_list
from holdfast.tradeoff.selected import DOES_NOT_HOLD, NOT_ABOVE_CHANCE
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
    often = {"feature": "f0", "verdict": "selected often; not shown to carry information"}
    found = hf.load_study(folder / "s.db").features("anova(k=4)")
    assert judge_list([often], found).startswith(f"The whole list is {often['verdict']} (1 feature).")
    some = judge_list([often, {"feature": "f11", "verdict": "undecided"}], found)
    assert f"of 2 features, 1 is {often['verdict']}. Of the others, 1 is undecided." in some
    rare = [{"feature": "f11", "verdict": verdict} for verdict in (DOES_NOT_HOLD, *[NOT_ABOVE_CHANCE] * 8)]
    assert "Of the others, 1 does not hold; 8 do not hold (may be chance)." in judge_list([often, *rare], found)
    assert "unknown; did you mean 'f0'?" in mixed
    none = run("check", "genie,other", "--store", folder / "s.db")
    assert "No feature of the study has a name of this list" in str(none.exception)
    assert "There is no file" in str(run("check", "absent.txt", "--store", folder / "s.db").exception)


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
