"""What happened to the data reaches the store, the report and whoever reads the results."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app
from holdfast.io.doubts import Doubt
from holdfast.io.record import DataRecord
from holdfast.io.table import make_table
from holdfast.report import render, summarize
from holdfast.report.method import describe_data
from study_parts import anova, small_data

X, Y = small_data(n=40)
STUDY = hf.Study(selectors={"anova": anova()}, perturbation=hf.Bootstrap(6), estimator=KNeighborsClassifier(3))
LABELS = np.where(Y == 1, "relapse", "none")
NOTES = ("Filled 3 missing values with the median of the column: 'f1' (3).", "Left out 'id', as asked.")
TABLE = make_table(X, LABELS, "classification", target="status", notes=NOTES)
RECORDED = make_table(
    X, LABELS, "classification", target="status", notes=NOTES, source="patients.csv",
    file_format="text separated by ';'", rows_read=43, columns_read=15,
    warnings=("'f0' tells the classes apart almost perfectly; it may be a copy of the target.",),
)  # fmt: skip


def test_arrays_are_recorded_with_names_and_counts_as_far_as_they_have_some():
    groups = pd.Series(np.arange(40) // 2, name="patient")
    result = STUDY.run(X, pd.Series(LABELS, name="status"), groups=groups)
    assert result.data == DataRecord(
        rows_read=40, columns_read=12, rows=40, features=12, target="status", task="classification",
        classes=(("none", 20), ("relapse", 20)), groups="patient", n_groups=20,
    )  # fmt: skip
    plain = hf.Study(selectors={"anova": anova()}, perturbation=hf.Bootstrap(3)).run(X.to_numpy(), Y)
    assert plain.data.target is None
    assert plain.data.classes == (("0", 20), ("1", 20))


def test_numbers_have_no_classes_and_covariates_are_no_features():
    study = hf.Study(
        selectors={"variance": hf.selectors.Variance(2)},
        perturbation=hf.Bootstrap(3),
        estimator=KNeighborsClassifier(3),
        covariates=["f11"],
        adjust=False,
    )
    record = study.run(X, Y).data
    assert (record.columns_read, record.features) == (12, 11)
    numbers = hf.Study(selectors={"v": hf.selectors.Variance(2)}, perturbation=hf.Bootstrap(3), task="regression")
    assert numbers.run(X, X["f0"] * 1.5).data == DataRecord(
        rows_read=40, columns_read=12, rows=40, features=12, target="f0", task="regression",
        warnings=("'f0' is named like the target 'f0' and orders the rows as it does.",),
        doubts=(Doubt("f0", "is named like the target 'f0' and orders the rows as it does", "certain"),),
    )  # fmt: skip


def test_a_table_brings_target_groups_and_record(tmp_path):
    result = STUDY.run(TABLE, store=tmp_path / "s.db")
    pd.testing.assert_frame_equal(result.scores, STUDY.run(X, LABELS).scores)
    assert (result.data.target, result.data.notes) == ("status", NOTES)
    recorded = STUDY.run(RECORDED)
    assert recorded.data == RECORDED.record
    for more in ({"y": Y}, {"groups": Y}):
        with pytest.raises(ValueError, match="Expected a table alone, which brings its own"):
            STUDY.run(TABLE, **more)
    with pytest.raises(ValueError, match="Expected a target y with X"):
        STUDY.run(X)
    assert STUDY.cost(TABLE)["fits"] == 6


def test_the_record_is_stored_and_arrays_do_not_replace_that_of_a_table(tmp_path):
    path = tmp_path / "s.db"
    STUDY.run(RECORDED, store=path)
    assert hf.load_study(path).data == RECORDED.record
    assert STUDY.run(X, LABELS, store=path).data == RECORDED.record
    assert hf.load_study(path).to_dict()["data"]["notes"] == list(NOTES)


def test_the_record_is_shown_and_reported(tmp_path):
    path = tmp_path / "s.db"
    STUDY.run(RECORDED, store=path)
    shown = CliRunner().invoke(app, ["show", str(path)]).output
    assert "patients.csv: 40 rows, 12 features" in shown
    assert "status: none (20), relapse (20)" in shown
    assert all(note in shown for note in NOTES)
    assert "f0' tells the classes apart" in shown
    told = json.loads(CliRunner().invoke(app, ["show", str(path), "--json"]).output)
    assert told["data"]["classes"] == [["none", 20], ["relapse", 20]]
    for result in (hf.load_study(path), hf.load_study(path).report()):
        assert f"Caution: {RECORDED.record.warnings[0]}" in repr(result)
        assert '<div class="holdfast-caution">Caution: ' in result._repr_html_()
    summary = summarize(hf.load_study(path))
    assert summary.data == RECORDED.record
    assert RECORDED.record.warnings[0] in summary.verdict.cautions
    facts = {fact.name: fact.value for fact in summary.method.facts}
    assert facts["Data"] == "patients.csv (text separated by ';'): 43 rows and 15 columns read; 40 samples, 12 features"
    whole = DataRecord(source="a.csv", rows_read=40, columns_read=13, rows=40, features=12, task="regression")
    assert describe_data(whole)[0] == ("Data", "a.csv: 40 samples, 12 features")
    assert facts["Target"] == "status, 2 classes: none (20), relapse (20)"
    for page in (render(summary, "html"), render(summary, "md")):
        assert "Left out" in page
        assert "Filled 3 missing values" in page
        caution = page.index("tells the classes apart")  # once, below the headline
        assert caution < page.index("Limitations")
        assert "tells the classes apart" not in page[page.index("Limitations") :]


def test_splits_hold_their_row_numbers(tmp_path):
    result = STUDY.run(X, Y, store=tmp_path / "s.db")
    for split, table in zip(hf.Bootstrap(6).splits(Y), result.splits.itertuples(), strict=True):
        np.testing.assert_array_equal(np.repeat(table.train_rows, table.train_counts), np.sort(split.train))
        np.testing.assert_array_equal(table.test_rows, split.test)
        assert not set(table.train_rows) & set(table.test_rows)
    result.export(tmp_path / "tables")
    exported = pd.read_parquet(tmp_path / "tables" / "splits.parquet")
    for column in ("train_rows", "train_counts", "test_rows"):
        assert [list(rows) for rows in exported[column]] == [list(rows) for rows in result.splits[column]]
    folds = hf.Study(selectors={"anova": anova()}, perturbation=hf.Folds(4)).run(X, Y)
    assert sorted(np.concatenate(folds.splits["test_rows"].tolist())) == list(range(40))
    assert all((counts == 1).all() for counts in folds.splits["train_counts"])


def test_a_trial_names_the_candidates_that_cannot_be_fitted():
    from holdfast.selectors import MRMR, AnovaF

    grid = hf.Candidates(MRMR(2), {"n_bins": [5, 1000]})
    cost = hf.Study(selectors={"anova": AnovaF(2), "mrmr": grid}, perturbation=hf.Bootstrap(3)).cost(X, Y)
    assert cost["candidates"] == 3
    assert list(cost["failures"]) == ["mrmr(n_bins=1000)"]
    assert "n_bins" in cost["failures"]["mrmr(n_bins=1000)"]
