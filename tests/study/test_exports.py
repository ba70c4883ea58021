"""What a study exports, and what comes back of it."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app
from holdfast.io.loading import load_frame
from holdfast.io.selections import protect_formula
from holdfast.selectors import AnovaF, ElasticNetPath, ReliefF
from holdfast.study.exports import write_table

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:80, :12].rename(
    columns={"mean radius": "=radius", "mean area": "NA", "mean texture": "'quoted", "mean smoothness": "-1"}
)
Y = Y[:80]
DESIGNS = {
    "runs": hf.Bootstrap(8),
    "subsample": hf.Subsample(8, 0.7),
    "folds": hf.Folds(4, n_repeats=2),
    "pairs": hf.ComplementaryPairs(5),
    "nested_subsamples": hf.NestedSubsamples(5, (0.5, 0.75)),
}


def study(perturbation, **parts):
    return hf.Study(
        selectors={
            "anova": AnovaF(3),
            "=lasso": hf.Candidates(ElasticNetPath(penalty_strength=0.3)),  # at times it selects nothing
            "weights": LogisticRegression(max_iter=50),
        },
        perturbation=perturbation,
        **parts,
    )


@pytest.fixture(scope="module")
def results():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: study(perturbation).run(X, Y) for name, perturbation in DESIGNS.items()}


def quietly(call, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **kwargs)


def call(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def same(a, b):
    return a == b or (a is None and b is None) or (a != a and b != b)


@pytest.mark.parametrize("format", ["csv", "csv2", "parquet"])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_stability_of_what_was_exported_is_the_study_s_to_the_last_bit(results, design, format, tmp_path):
    result = results[design]
    quietly(result.export, tmp_path, format)
    file = tmp_path / f"selections.{format.removesuffix('2')}"
    for candidate in result.candidates:
        assert hf.read_preferences(file, candidate=candidate) == result.preferences(candidate)
        printed = json.loads(call("measure", file, "--candidate", candidate, "--json").stdout)
        (row,) = printed["candidates"]
        (estimate,) = row["estimates"]
        expected = quietly(result.stability, candidate).to_dict()
        assert estimate == json.loads(json.dumps(expected)), candidate


def test_rankings_come_back_too(tmp_path):
    ranked = hf.Study(
        selectors={"relief": hf.Candidates(ReliefF(4), keep="weights"), "rfe": ranking_selector()},
        perturbation=hf.Bootstrap(5),
    ).run(X, Y)
    ranked.export(tmp_path, "csv")
    assert ranked.kinds["rfe"] == "ranking"
    back = hf.read_preferences(tmp_path / "selections.csv", candidate="rfe")
    assert back == ranked.preferences("rfe")
    assert hf.stability(back, "spearman").value == ranked.stability("rfe").value


def ranking_selector():
    from sklearn.base import BaseEstimator

    class Ranks(BaseEstimator):
        def fit(self, X, y):
            self.ranking_ = 1 + np.argsort(np.argsort(-np.abs(np.asarray(X)[np.asarray(y) == 1].mean(axis=0))))
            return self

    return Ranks()


@pytest.mark.parametrize("design", ["runs", "pairs", "nested_subsamples"])
def test_all_candidates_are_measured_and_compared_as_in_the_study(results, design, tmp_path):
    result = results[design]
    quietly(result.export, tmp_path, "parquet")
    printed = json.loads(call("measure", tmp_path / "selections.parquet", "--json").stdout)
    assert [row["candidate"] for row in printed["candidates"]] == result.candidates
    values = quietly(result.summary)["stability"]
    for row in printed["candidates"]:
        assert same(row["estimates"][0]["value"] or np.nan, values[row["candidate"]])
    try:
        expected = quietly(result.compare).to_dict()
    except ValueError:
        expected = None
    assert printed["comparison"] == json.loads(json.dumps(expected))


def test_a_table_shows_candidates_and_letters(results, tmp_path):
    results["runs"].export(tmp_path, "csv")
    shown = call("measure", tmp_path / "selections.csv", "-m", "nogueira", "-m", "jaccard").stdout
    for words in ("=lasso", "anova", "jaccard", "letters", "paired"):
        assert words in shown


def test_names_that_a_spreadsheet_would_run_are_texts(results, tmp_path):
    quietly(results["runs"].export, tmp_path, "csv")
    selections = pd.read_csv(tmp_path / "selections.csv", keep_default_na=False)
    texts = {*selections["feature"], *selections["candidate"]}
    assert "'=lasso" in texts
    assert not [text for text in texts if text.startswith(("=", "+", "-", "@"))]
    features = pd.read_csv(tmp_path / "features.csv", keep_default_na=False)["feature"]
    assert {"'=radius", "''quoted", "'-1", "NA"} <= set(features)
    for name in ("=1", "+x", "-", "@a", "'", "plain", ""):
        assert protect_formula(name).removeprefix("'") == name or protect_formula(name) == name


def test_runs_that_selected_nothing_stay(results, tmp_path):
    result = results["runs"]
    sizes = result.preferences("=lasso").sizes
    assert 0 in sizes
    result.export(tmp_path, "csv")
    np.testing.assert_array_equal(hf.read_preferences(tmp_path / "selections.csv", candidate="=lasso").sizes, sizes)


def test_data_of_all_features_can_be_joined(results, tmp_path):
    result = results["runs"]
    result.export(tmp_path, "csv")
    X.to_csv(tmp_path / "data.csv", index=False)
    arguments = [
        "-m",
        "intersection_mbm:threshold=0.9",
        "--candidate",
        "anova",
        "--data",
        tmp_path / "data.csv",
        "--json",
    ]
    printed = json.loads(call("measure", tmp_path / "selections.csv", *arguments).stdout)
    expected = result.stability("anova", hf.MEASURES["intersection_mbm"].bind(threshold=0.9), X=X)
    assert printed["candidates"][0]["estimates"][0]["value"] == pytest.approx(expected.value, rel=1e-12)


def test_a_long_table_of_others_is_read_if_the_universe_is_said(tmp_path):
    file = tmp_path / "long.csv"
    file.write_text("candidate,run,feature,value\na,1,TP53,1\na,1,KRAS,1\na,2,TP53,1\na,3,,0\n")
    runs = hf.read_preferences(file, n_features=50)
    assert (runs.n_runs, runs.n_features, runs.sizes.tolist()) == (3, 50, [2, 1, 0])
    assert runs.selected(0) == ["TP53", "KRAS"]
    with pytest.raises(ValueError, match="give n_features="):
        hf.read_preferences(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("candidate,run,feature,value\n", "without rows"),
        ("candidate,run,feature,value\na,1,x,high\n", "Expected numbers in the column 'value'"),
        ("candidate,run,feature,value,n_features\na,1,x,1,5\na,2,x,1,6\n", "Expected one n_features for all runs"),
        ("candidate,run,feature,value,column,n_features\na,1,x,1,7,5\n", "Expected columns from 0 to 4"),
        ("candidate,run,feature,value,column,n_features\na,1,x,1,2,5\na,1,x,1,2,5\n", "each feature once per run"),
        ("candidate,run,feature,value\na,1,x,0.5\n", "if these are ranks or weights"),
        ("candidate,run,feature,value,kind,n_features\na,1,x,1,ranking,2\n", "Expected a ranking of all 2 features"),
        ("candidate,run,feature,value,n_features\na,1,x,1,5\nb,1,x,1,5\n", "got a, b; give candidate="),
    ],
)
def test_a_table_that_cannot_be_read_is_one_sentence(text, message, tmp_path):
    file = tmp_path / "selections.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        hf.read_preferences(file)


def test_a_candidate_is_asked_for_by_its_name(results, tmp_path):
    results["runs"].export(tmp_path, "csv")
    with pytest.raises(ValueError, match="Expected one of the candidates anova, =lasso, weights"):
        hf.read_preferences(tmp_path / "selections.csv", candidate="forest")
    (tmp_path / "runs.csv").write_text("a,b\n1,0\n0,1\n")
    with pytest.raises(ValueError, match="Expected selections that a study exported"):
        hf.read_preferences(tmp_path / "runs.csv", candidate="a")


def test_export_writes_what_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hf.Study(selectors=[AnovaF(2)], perturbation=hf.Bootstrap(4)).run(X, Y, store="s.db")
    files = call("export", "s.db", "--csv", "a", "--parquet", "b", "--latex", "t.tex").stdout.split()
    assert len(files) == 15
    assert all(Path(file).is_file() for file in files)
    assert "Expected --csv DIR, --parquet DIR or --latex FILE" in str(call("export", "s.db", code=1).exception)
    with pytest.raises(ValueError, match="Expected format= to be one of csv, csv2, xlsx, parquet, got 'feather'"):
        hf.load_study("s.db").export("c", "feather")


# LaTeX


def test_a_latex_table_says_how_intervals_were_made():
    names = {"50% & more_$": AnovaF(2), "b\\c{d}~^#": AnovaF(3)}
    result = hf.Study(selectors=names, perturbation=hf.Bootstrap(6), estimator=KNeighborsClassifier(3)).run(X, Y)
    text = result.to_latex(level=0.9, label="tab:stability")
    assert r"50\% \& more\_\$ & " in text
    assert r"b\textbackslash{}c\{d\}\textasciitilde{}\textasciicircum{}\# & " in text
    caption = re.search(r"\\caption\{(.*)\}\n", text)[1]
    for words in (
        "6 bootstrap samples",
        r"90\,\% confidence intervals by the jackknife",
        "Nadeau and Bengio",
        "80 samples, 12 features",
    ):
        assert words in caption
    assert text.count("\\toprule") == text.count("\\midrule") == text.count("\\bottomrule") == 1
    assert "\\label{tab:stability}" in text
    assert text.count("{") == text.count("}")
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert {len(re.split(r"(?<!\\)&", line)) for line in rows} == {5}


def test_a_latex_table_without_intervals_says_why(results):
    text = quietly(results["pairs"].to_latex)
    assert "; without intervals: " in text
    assert " -- " in text or "{--}" in text


def test_tables_for_spreadsheets_of_europe_and_for_excel(results, tmp_path):
    result = results["runs"]
    for format in ("csv2", "xlsx"):
        quietly(result.export, tmp_path / format, format)
    expected = result.summary()["stability"].tolist()
    text = (tmp_path / "csv2" / "summary.csv").read_text(encoding="utf-8-sig")
    semicolons = pd.read_csv(tmp_path / "csv2" / "summary.csv", sep=";", decimal=",", encoding="utf-8-sig")
    assert ";" in text.splitlines()[0]
    assert semicolons["stability"].tolist() == pytest.approx(expected)
    assert load_frame(tmp_path / "xlsx" / "summary.xlsx").frame["stability"].tolist() == pytest.approx(expected)
    write_table(pd.DataFrame({"=a": ["=1+1", "b\x00c"]}), tmp_path / "t.xlsx", "xlsx")
    cells = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert [[cell.value for cell in row] for row in cells.iter_rows()] == [["'=a"], ["'=1+1"], ["b c"]]
    with pytest.raises(ValueError, match=r"fewer than 1,048,576 rows for .*; write CSV"):
        write_table(pd.DataFrame({"a": np.zeros(2**20)}), tmp_path / "t.xlsx", "xlsx")
    with pytest.raises(ValueError, match="one of csv, csv2, xlsx, parquet, got 'xls'"):
        result.export(tmp_path, "xls")
