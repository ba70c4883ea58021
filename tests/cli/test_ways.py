"""Three ways from a raw file to an answer, as people go them: from end to end, on small files made here."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf

MARKERS = ("TP53", "BRCA1", "EGFR")


def expression(seed=0, n=60, d=80):
    """Patients × genes, of which three are higher or lower in those who relapsed."""
    rng = np.random.default_rng(seed)
    relapse = np.repeat(["no", "yes"], n // 2)
    values = rng.normal(8, 1, size=(n, d))
    values[:, :3] += np.outer(relapse == "yes", [2.5, -2.5, 2.2])
    genes = [*MARKERS, *(f"GENE{number}" for number in range(3, d))]
    table = pd.DataFrame(values.round(3), columns=genes).assign(relapse=relapse)
    return table.sample(frac=1, random_state=seed).reset_index(drop=True)


def write_csv(table, folder):
    path = folder / "microarray.csv"
    table.to_csv(path, index=False)
    return path


WRITERS = {"csv": write_csv}
"""Files as people have them, by name: a function that writes a table into a folder and returns the path."""


@pytest.fixture(params=WRITERS)
def raw_file(request, tmp_path, monkeypatch):
    """A microarray table in the current folder, as one kind of file."""
    monkeypatch.chdir(tmp_path)
    return WRITERS[request.param](expression(), tmp_path)


def next_commands(told):
    """The commands that a study ends with."""
    return [
        shlex.split(line.strip().split("  ")[0])[1:] for line in told.splitlines() if line.startswith("  holdfast ")
    ]


def test_a_biostatistician_without_python_gets_a_report_and_a_list(raw_file, printed_by):
    study = printed_by(
        "study", raw_file.name, "--target", "relapse", "-s", "anova:k=3", "-s", "golub:k=3", "--estimator", "linear",
        "-n", "30", code=0,
    )  # fmt: skip
    assert "2 candidates on 30 splits (bootstrap), 80 features" in study.out
    commands = {command[0]: command for command in next_commands(study.err)}
    assert commands["report"] == ["report", "microarray-study.db"]
    assert printed_by(*commands["report"], code=0).out.strip() == "microarray-report.html"
    page = Path("microarray-report.html").read_text(encoding="utf-8")
    for gene in MARKERS:
        assert gene in page
    summary = json.loads(printed_by("report", "microarray-study.db", "--json", code=0).out)
    trusted = [row["feature"] for row in summary["features"]["shown"] if row["low"] > 0.5]
    assert sorted(trusted) == sorted(MARKERS)
    assert summary["information"]["p_value"] < 0.05
    printed_by("export", "microarray-study.db", "--csv", "tables", code=0)
    listed = pd.read_csv("tables/selections.csv")
    often = listed[listed["candidate"] == "anova"]["feature"].value_counts()
    assert set(often.index[:3]) == set(MARKERS)


def test_a_data_scientist_goes_from_file_to_features_in_python(raw_file):
    table = hf.read_table(raw_file, "relapse")
    study = hf.Study(
        selectors={
            "anova": hf.Candidates(SelectKBest(), {"k": [3, 10]}),
            "pipeline": make_pipeline(StandardScaler(), SelectKBest(k=5)),
        },
        perturbation=hf.Bootstrap(20),
        estimator=LogisticRegression(),
    )
    result = study.run(table.X, table.y, store="mine.db")
    choice = result.choose("one-se")
    assert choice.candidate == "anova(k=3)"
    features = result.final_features(choice.candidate, table.X, table.y)
    assert sorted(features.selected) == sorted(MARKERS)
    nested = hf.nested_choice(study, table.X, table.y, outer=hf.Folds(3))
    assert nested.choice.score > 0.8
    again = hf.load_study("mine.db")
    assert again.stability("anova(k=3)").value == result.stability("anova(k=3)").value
    assert result.report("mine.html").stat().st_size > 10_000


def test_a_researcher_compares_selectors_with_a_valid_test(raw_file, printed_by):
    common = [raw_file.name, "--target", "relapse", "--estimator", "linear", "-n", "30", "--quiet"]
    printed_by("study", *common, "-s", "anova:k=3", "-s", "random:k=3", code=0)
    compared = json.loads(printed_by("compare", "microarray-study.db", "--json", code=0).out)
    (pair,) = compared["pairs"]
    assert (pair["design"], pair["first_name"], pair["second_name"]) == ("paired", "anova", "random")
    assert pair["difference"] > 0.5
    assert pair["p_holm"] < 0.001
    assert [row["letters"] for row in compared["selections"]] == ["a", "b"]
    printed_by("study", *common, "-s", "golub:k=3", "--store", "golub.db", code=0)
    together = printed_by("compare", "microarray-study.db", "golub.db", code=0).out
    assert "the same data and splits: compared split by split (paired)" in together
    printed_by("export", "microarray-study.db", "--latex", "table.tex", "--csv", "tables", code=0)
    assert re.search(r"anova & .* \\\\", Path("table.tex").read_text(encoding="utf-8"))
    measured = json.loads(printed_by("measure", "tables/selections.csv", "--json", code=0).out)
    stabilities = {row["candidate"]: row["estimates"][0]["value"] for row in measured["candidates"]}
    result = hf.load_study("microarray-study.db")
    assert stabilities == {name: result.stability(name).value for name in result.candidates}
    nested = json.loads(
        printed_by(
            "nested", "microarray-study.db", "-n", "8", "--outer", "folds:n_splits=3", "--json", "-q", code=0
        ).out
    )
    assert nested["choice"]["candidate"] == "anova"
    assert nested["choice"]["nested"]
