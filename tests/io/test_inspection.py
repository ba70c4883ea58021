"""Looking at files before they are read: what they hold, and what is to be decided, in plain words."""

import json
import os
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

import holdfast as hf
from holdfast.io import Question, ReadingError, inspect_selections, inspect_table
from holdfast.io.files import as_path, display_name, name_path
from holdfast.io.inspection import SelectionsInspection, TableInspection
from holdfast.io.questions import add_answer
from holdfast.serialization import from_plain, json_schema, to_json

PLAIN = "age,crp,status\n31,0.5,ill\n45,1.5,well\n50,2.5,ill\n62,3.5,well\n"
EUROPEAN = "größe;crp;krank\r\n1,75;1.234,5;ja\r\n1,62;0,5;nein\r\n1,81;12,25;ja\r\n1,7;3;nein\r\n".encode("cp1252")
GENES = "probe\tGSM1\tGSM2\tGSM3\n1007_s_at\t7.25\t8.5\t6.75\n1053_at\t5.5\t5.25\t5.75\n117_at\t1.5\t2.5\t3.5\n"
R_ROWS = '"age" "crp" "status"\n"p1" 31 0.5 "ill"\n"p2" 45 1.5 "well"\n"p3" 50 2.5 "ill"\n"p4" 62 0.5 "well"\n'
ROW_NUMBERS = "patient_id,crp,status\n" + "".join(
    f"{row},{row * 7 % 5},{'ill' if row % 2 else 'well'}\n" for row in range(1, 21)
)
SUBJECTS = "patient_id,crp,status\n" + "".join(
    f"{row // 2},{row * 7 % 5},{'ill' if row % 3 else 'well'}\n" for row in range(20)
)
GAPS = "age,crp,status\n31,,ill\n45,1.5,well\n,2.5,ill\n62,0.5,well\n"
TEXTS = "sex,crp,status\nf,0.5,ill\nm,1.5,well\nm,2.5,ill\nf,0.5,well\n"
NAMES = "who,crp,status\n" + "".join(f"p{row},{row * 7 % 5},{'ill' if row % 2 else 'well'}\n" for row in range(12))
EMPTY_COLUMN = "age,crp,status\n31,,ill\n45,,well\n50,,ill\n62,,well\n"
NUMBERS = "age,crp\n" + "".join(f"{row * 7 % 40},{row}\n" for row in range(40))
ONE_CLASS = "age,crp,status\n31,0.5,ill\n45,1.5,ill\n50,2.5,ill\n62,3.5,ill\n"

TABLES = [  # content, options, option that is asked for, values of the choices (the first ones)
    (PLAIN, {}, "target", ["status", "age"]),
    (PLAIN, {"target": "status"}, None, []),
    (PLAIN, {"target": "stauts"}, "target", ["status"]),
    (PLAIN, {"target": "status", "groups": "patient"}, "groups", ["", "age"]),
    (PLAIN, {"target": "status", "encoding": "utf-9"}, "encoding", ["utf-8", "cp1252"]),
    (PLAIN, {"target": "status", "sep": "ab"}, "sep", [";", ","]),
    (PLAIN, {"target": "status", "decimal": ";"}, "decimal", [",", "."]),
    (PLAIN, {"target": "status", "task": "regression"}, "task", ["classification"]),
    (PLAIN, {"target": "crp", "task": "classification", "ignore": "status"}, "task", ["regression"]),
    (EUROPEAN, {}, "target", ["krank"]),
    (EUROPEAN, {"target": "krank"}, None, []),
    (EUROPEAN, {"encoding": "ascii"}, "encoding", ["utf-8"]),
    ("a;b;status\n1,234;5,678;ill\n2,345;6,789;well\n", {}, "decimal", [",", "."]),
    ("a;b;status\n1.234;5.678;ill\n2.345;6.789;well\n", {}, "decimal", [".", ","]),
    ("a;b;status\n1,5;1.5;ill\n2,5;2.5;well\n", {}, "decimal", [",", "."]),
    ("a,b,status\n1,2,ill\n1,2,3,well\n", {}, "sep", [";", ","]),
    (GENES, {}, "transpose", ["true", "false"]),
    (GENES, {"transpose": True}, "target_file", []),
    (GENES, {"transpose": True, "target": "relapse"}, "target_file", []),
    (GENES, {"transpose": False}, "target", []),
    (GENES, {"transpose": False, "target": "relapse"}, "target", []),
    ("a,b\n1.5,2\n2.5,3\n", {"transpose": True}, "transpose", ["true", "false"]),
    ("name,p1,p2\nage,1,2\nstatus,ill,well\n", {"target": "status"}, "transpose", ["true", "false"]),
    (R_ROWS, {}, "target", ["status"]),
    (R_ROWS, {"target": "status"}, None, []),
    (ROW_NUMBERS, {"target": "status"}, "ignore", ["patient_id"]),
    (ROW_NUMBERS, {"target": "status", "ignore": ("patient_id",)}, None, []),
    (ROW_NUMBERS, {"target": "status", "treat_as_feature": ("patient_id",)}, None, []),
    (SUBJECTS, {"target": "status"}, "ignore", ["patient_id"]),
    (GAPS, {"target": "status"}, "missing", ["impute-median", "drop"]),
    (GAPS, {"target": "age", "categorical": "one-hot"}, "missing", ["drop"]),
    (TEXTS, {"target": "status"}, "categorical", ["one-hot", "codes", "drop"]),
    (NAMES, {"target": "status"}, "index", ["who"]),
    (NAMES, {"target": "status", "index": "crp"}, "ignore", ["who"]),
    (EMPTY_COLUMN, {"target": "status", "missing": "impute-median"}, "ignore", ["crp"]),
    (EMPTY_COLUMN, {"target": "status", "missing": "drop"}, "ignore", ["crp"]),
    (NUMBERS, {"target": "crp"}, "task", ["regression", "classification"]),
    (NUMBERS, {"target": "crp", "task": "classification"}, "task", ["regression"]),
    (NAMES, {"target": "who", "categorical": "drop"}, "target", ["crp", "status"]),
    (ONE_CLASS, {"target": "status"}, "target", ["age", "crp"]),
    (ONE_CLASS, {"target": "age", "groups": "status", "task": "regression"}, "groups", [""]),
]  # fmt: skip
SYNTAX = re.compile(r"\w=|--\w|\(\w*=|True|[/\\]tmp|\bpass \w+=")


def write(folder, content, name="patients.txt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def check_question(question, option, values):
    """Whether a question asks for an option in plain words, with these values first."""
    if option is None:
        assert question is None
        return
    assert question.option == option
    assert [value for value, _ in question.choices][: len(values)] == values
    for text in (question.sentence, *(label for _, label in question.choices)):
        assert not SYNTAX.search(text), text
    assert question.sentence[-1] in ".?"
    assert question.choices or question.typed


@pytest.mark.parametrize(("content", "options", "option", "values"), TABLES)
def test_what_a_table_leaves_open(tmp_path, content, options, option, values):
    found = inspect_table(write(tmp_path, content), **options)
    check_question(found.question, option, values)
    assert not found.problem
    assert not SYNTAX.search(" ".join(found.notes))
    assert from_plain(TableInspection, json.loads(to_json(found))) == found
    assert (found.record is None) == (option is not None)


READER_TABLES = [
    row for row in TABLES if "target" in row[1] and (row[2] != "target" or row[1].get("transpose") is None)
]


@pytest.mark.parametrize(("content", "options", "option", "values"), READER_TABLES)
def test_the_error_of_the_reader_carries_the_question(tmp_path, content, options, option, values):
    path = write(tmp_path, content)
    if option is None:
        record = hf.read_table(path, **options).record
        assert inspect_table(path, **options).record.rows == record.rows
        return
    with pytest.raises(ReadingError) as caught:
        hf.read_table(path, **options)
    check_question(caught.value.question, option, values)
    assert pickle.loads(pickle.dumps(caught.value)).question == caught.value.question


def test_answers_lead_to_a_table(tmp_path):
    rows = [f"{row},{'fm'[row % 2]},{row * 7 % 5},{row * row},{'ill' if row % 3 else 'well'}" for row in range(20)]
    rows[3] = rows[3].replace(",9,", ",,")
    path = write(tmp_path, "id,sex,crp,square,status\n" + "\n".join(rows) + "\n", "patients.csv")
    answers, asked = {}, []
    while (question := inspect_table(path, **answers).question) is not None:
        asked.append(question.option)
        answers = add_answer(answers, question.answer(question.choices[0][0]))
    assert asked == ["target", "categorical", "missing", "ignore"]
    table = hf.read_table(path, **answers)
    assert table.X.columns.tolist() == ["sex=m", "crp", "square"]
    assert inspect_table(path, **answers).record == replace(table.record)
    assert inspect_table(path, **answers).notes == table.notes


def test_what_a_table_holds(tmp_path):
    found = inspect_table(write(tmp_path, EUROPEAN, "patienten.csv"))
    assert (found.name, found.rows, found.columns) == ("patienten.csv", 4, 3)
    assert "decimal commas" in found.file_format
    assert found.header == ("größe", "crp", "krank")
    assert found.preview[0] == ("1.75", "1234.5", "ja")
    target = found.targets[0]
    assert (target.name, target.kind, target.n_values, target.examples) == (
        "krank", "classes", 2, (("ja", 2), ("nein", 2)),
    )  # fmt: skip
    assert not found.features_in_rows
    turned = inspect_table(write(tmp_path, GENES), transpose=True)
    assert (turned.rows, turned.columns, turned.header[:2]) == (3, 3, ("", "1007_s_at"))
    assert turned.preview[0] == ("GSM1", "7.25", "5.5", "1.5")
    assert turned.features_in_rows
    assert "named “probe”" in turned.orientation
    assert inspect_table(write(tmp_path, R_ROWS)).header == ("", "age", "crp", "status")
    assert inspect_table(write(tmp_path, NAMES)).identifiers == ("who",)
    assert inspect_table(write(tmp_path, ROW_NUMBERS)).identifiers == ("patient_id",)


def test_previews_are_small_and_safe(tmp_path):
    wide = pd.DataFrame(np.arange(3000.0).reshape(30, 100)).add_prefix("x")
    wide.insert(0, "evil\x1b[2J", ["<script>" + "y" * 5000, "\u202eabc", *(["z"] * 28)])
    wide.to_csv(tmp_path / "wide.csv", index=False)
    found = inspect_table(tmp_path / "wide.csv")
    assert len(found.preview) == 8
    assert {len(row) for row in found.preview} == {12}
    assert max(len(cell) for row in found.preview for cell in row) <= 40
    assert not re.search("[\x00-\x1f\u202e]", "".join((*found.header, *sum(found.preview, ()))))
    assert len(found.targets) == 50
    assert (found.columns, found.n_hidden) == (101, 89)


def test_a_preview_of_a_wide_table_shows_the_columns_that_matter_first(tmp_path):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(30, 40))).add_prefix("x")
    wide["patient_id"], wide["visit"], wide["status"] = range(100, 130), np.repeat(range(15), 2), ["ill", "well"] * 15
    wide.to_csv(tmp_path / "wide.csv", index=False)
    found = inspect_table(tmp_path / "wide.csv")
    assert (found.header[0], found.roles[0]) == ("status", "likely target")
    assert dict(zip(found.header, found.roles, strict=True))["patient_id"] == "looks like row names"
    assert [name for name, role in zip(found.header, found.roles, strict=True) if not role][:2] == ["x0", "x1"]
    assert {len(row) for row in found.preview} == {len(found.header)} == {12}
    assert found.n_hidden == 31
    given = inspect_table(tmp_path / "wide.csv", "x7", groups="visit", index="patient_id")
    assert given.header[:4] == ("x7", "visit", "patient_id", "x0")
    assert given.roles[:4] == ("target", "groups", "row names", "")
    assert given.preview[0][:3] == (f"{float(wide['x7'][0]):.6g}", "0", "100")
    narrow = inspect_table(write(tmp_path, "age,status,crp\n1,ill,2\n2,well,5\n3,ill,1\n", "narrow.csv"), "status")
    assert (narrow.header, narrow.roles, narrow.n_hidden) == (("age", "status", "crp"), ("", "target", ""), 0)


def test_a_file_without_a_table_yet_shows_its_lines(tmp_path):
    found = inspect_table(write(tmp_path, "a,b\n1,2,3\n1,2\n1\n"))
    assert found.question.option == "sep"
    assert found.preview[0] == ("1,2,3",)
    ragged = inspect_table(write(tmp_path, "a,b\n1,2,3\n1,2\n1\n1,2,3\n", "patients.csv"))
    assert ragged.question.option == "sep"
    assert ragged.preview[:2] == (("a,b",), ("1,2,3",))


def test_sheets_are_a_question(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "about"
    for row in (["name", "says"], ["a", "b"]):
        book.active.append(row)
    sheet = book.create_sheet("the data")
    for row in (["age", "status"], [31, "ill"], [45, "well"], [50, "ill"], [62, "well"]):
        sheet.append(row)
    book.save(tmp_path / "d.xlsx")
    found = inspect_table(tmp_path / "d.xlsx")
    assert found.sheets == ("about", "the data")
    assert found.notes == ("Read the sheet 'about'; not read: 'the data'.",)
    check_question(found.question, "sheet", ["about", "the data"])
    chosen = inspect_table(tmp_path / "d.xlsx", sheet="the data")
    check_question(chosen.question, "target", ["status"])
    with pytest.raises(ReadingError) as caught:
        hf.read_table(tmp_path / "d.xlsx", "status", sheet="teh data")
    check_question(caught.value.question, "sheet", ["about", "the data"])
    assert inspect_table(tmp_path / "d.xlsx", sheet="teh data").question == caught.value.question


def test_the_target_in_a_second_table(tmp_path):
    genes, second = write(tmp_path, GENES), write(tmp_path, "sample,relapse\nGSM1,no\nGSM2,yes\n", "clinical.csv")
    options = {"transpose": True, "target_file": second}
    check_question(inspect_table(genes, **options).question, "target", ["relapse"])
    options["target"] = "relapse"
    check_question(inspect_table(genes, **options).question, "missing", ["drop"])
    check_question(
        inspect_table(genes, target_file=second, target="relaps", transpose=True).question, "target", ["sample"]
    )
    found = inspect_table(genes, **options, missing="drop", treat_as_feature=())
    assert found.question is None
    assert found.record.rows == 2
    turned = inspect_table(genes, target_file=second, target="relapse", transpose=False)
    check_question(turned.question, "target", [])


def test_the_target_among_features_in_rows(tmp_path):
    genes = "".join(f"G{row};1,5;2,{row};{row},0;4,0\n" for row in range(9))
    path = write(tmp_path, "gene;S1;S2;S3;S4\nstatus;ill;well;ill;well\n" + genes, "genes.csv")
    assert inspect_table(path).question.option == "transpose"
    found = inspect_table(path, transpose=True)
    assert (found.question.option, found.targets[0].name) == ("target", "status")
    read = inspect_table(path, transpose=True, target="status").record
    assert (read.rows, read.features, read.classes) == (4, 9, (("ill", 2), ("well", 2)))

    texts = "".join(f"P{row};{'ill' if row % 2 else 'well'};red;{row}\n" for row in range(9))
    people = write(tmp_path, "gene;status;color;age\n" + texts, "people.csv")
    assert inspect_table(people).question.option != "transpose"


def test_what_no_option_settles_is_a_problem_or_an_error(tmp_path):
    infinite = inspect_table(write(tmp_path, "a,b,status\n1,inf,x\n2,2,y\n4,5,x\n1,7,y\n"), "status")
    assert infinite.question is None
    assert infinite.problem.startswith("Expected finite numbers")
    for content in (b"", b"\x00\x01\x02" * 900, b"1,0\n"):
        with pytest.raises(ValueError, match=r"^Expected [^\n]*$"):
            inspect_table(write(tmp_path, content))
    with pytest.raises(ValueError, match="Expected a file ending in"):
        inspect_table(write(tmp_path, PLAIN, "patients.docx"))


def test_answers_are_checked():
    question = Question("transpose", "Which way?", (("true", "Yes"), ("false", "No")))
    assert question.answer("false") == {"transpose": False}
    columns = Question("ignore", "Which?", (("a", "A"), ("b", "B")), several=True, rest="treat_as_feature")
    assert columns.answer("b") == {"ignore": ("b",), "treat_as_feature": ("a",)}
    assert columns.answer() == {"ignore": (), "treat_as_feature": ("a", "b")}
    number = Question("n_features", "How many?", typed=True)
    assert number.answer("200") == {"n_features": 200}
    assert Question("groups", "Which?", (("", "None"),)).answer("") == {"groups": None}
    for wrong in (lambda: question.answer("maybe"), question.answer, lambda: columns.answer("c"),
                  lambda: number.answer("many"), lambda: number.answer("9" * 50)):  # fmt: skip
        with pytest.raises(ValueError, match=r"^Expected"):
            wrong()
    assert add_answer({"ignore": "a", "sep": ";"}, {"ignore": ("b",)}) == {"ignore": ("a", "b"), "sep": ";"}


# Selections

EXPORTED = "candidate,run,feature,value,n_features\nlasso,1,a,1,9\nlasso,2,b,1,9\nforest,1,a,1,9\nforest,2,a,1,9\n"
SELECTIONS = [  # name, content, options, option that is asked for, values, kind
    ("r.csv", "run,a,b,c\n1,1,1,0\n2,1,0,1\n", {}, None, [], "subset"),
    ("r.csv", "run,a,b,c\n1,1,2,3\n2,3,1,2\n", {}, "kind", ["ranking", "weighting"], "ranking"),
    ("r.csv", "run,a,b,c\n1,1.5,1.5,3\n2,3,1,2\n", {}, "kind", ["ranking", "weighting"], "ranking"),
    ("r.csv", "run,a,b,c\n1,0.1,2,3\n2,3,1,2\n", {}, "kind", ["weighting", "ranking"], "weighting"),
    ("r.csv", "run,a,b,c\n1,0.1,2,3\n2,3,1,2\n", {"kind": "weighting"}, None, [], "weighting"),
    ("r.csv", "run,a,b,c\n1,1,1,0\n2,1,0,1\n", {"n_features": 7}, "n_features", ["3"], "subset"),
    ("r.csv", "run,a,b,c\n1,1,1,0\n2,1,0,1\n", {"kind": "order"}, "kind", ["subset"], "subset"),
    ("r.csv", "gene,x,y\nTP53,1,1\nEGFR,0,1\n", {}, "transpose", ["true", "false"], "subset"),
    ("r.csv", "gene,x,y\nTP53,1,1\nEGFR,0,1\n", {"transpose": True}, None, [], "subset"),
    ("r.csv", "gene,x,y\nTP53,1,1\nEGFR,0,1\n", {"transpose": False}, None, [], "subset"),
    ("r.csv", "name,run1,run2\na,1,1\nb,0,1\nc,0,0\n", {}, "transpose", ["true"], "subset"),
    ("r.txt", "TP53 EGFR\nTP53 MYC\n", {}, "n_features", ["3"], "subset"),
    ("r.txt", "TP53 EGFR\nTP53 MYC\n", {"transpose": True}, "transpose", ["true", "false"], "subset"),
    ("r.txt", "0 4\n4 7\n", {}, "n_features", ["8"], "subset"),
    ("r.txt", "TP53 EGFR\nTP53 MYC\n", {"n_features": 50}, None, [], "subset"),
    ("r.json", '{"a": ["TP53"], "b": ["EGFR", "TP53"]}', {}, "n_features", ["2"], "subset"),
    ("r.csv", EXPORTED, {}, "candidate", ["lasso", "forest"], ""),
    ("r.csv", EXPORTED, {"candidate": "lasso"}, None, [], "subset"),
    ("r.csv", EXPORTED, {"candidate": "laso"}, "candidate", ["lasso", "forest"], ""),
    ("r.csv", EXPORTED.replace(",n_features", "").replace(",9", ""), {"candidate": "lasso"}, "n_features", ["2"], ""),
    ("r.csv", EXPORTED.replace(",1,9", ",3,9"), {"candidate": "lasso"}, "kind", ["ranking", "weighting"], ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "options", "option", "values", "kind"), SELECTIONS)
def test_what_selections_leave_open(tmp_path, name, content, options, option, values, kind):
    path = write(tmp_path, content, name)
    found = inspect_selections(path, **options)
    check_question(found.question, option, values)
    assert found.kind == kind
    assert not found.problem
    assert not SYNTAX.search(" ".join((*found.notes, found.kind_reason)))
    assert from_plain(SelectionsInspection, json.loads(to_json(found))) == found
    if option is None:
        runs = hf.read_preferences(path, **options)
        assert (found.kind, found.n_runs, found.n_features) == (runs.kind, runs.n_runs, runs.n_features)
    else:
        with pytest.raises(ReadingError) as caught:
            hf.read_preferences(path, **options)
        assert caught.value.question == found.question


def test_what_selections_hold(tmp_path):
    found = inspect_selections(write(tmp_path, "run,a,b,c\n1,1,1,0\n2,1,0,1\n", "r.csv"))
    assert (found.n_runs, found.n_features, found.labels, found.features) == (2, 3, ("1", "2"), ("a", "b", "c"))
    assert found.preview[0] == ("1", "1", "1", "0")
    lists = inspect_selections(write(tmp_path, "TP53 EGFR\nTP53 MYC\n", "r.txt"))
    assert (lists.lists_names, lists.least_features, lists.n_features) == (True, 3, 0)
    assert lists.preview == (("TP53", "EGFR"), ("TP53", "MYC"))
    assert inspect_selections(write(tmp_path, EXPORTED, "r.csv")).candidates == ("lasso", "forest")
    open_ = inspect_selections(write(tmp_path, "a,b,c\n1,1,0\n1,0,1\n", "r.csv"))
    assert open_.notes == ("Read as 2 runs of 3 features.",)
    wrong = inspect_selections(write(tmp_path, "run,a,b\n1,x,1\n2,0,1\n", "r.csv"))
    assert wrong.problem.startswith("Expected")
    for name, content in (("r.json", "[[1"), ("r.csv", ""), ("r.xlsx", "PK")):
        with pytest.raises(ValueError, match=r"^Expected [^\n]*$"):
            inspect_selections(write(tmp_path, content, name))


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_selections_that_holdfast_wrote_leave_nothing_open(tmp_path, ending):
    runs = hf.Preferences.from_weights([[0.5, 2.5, 1.0], [1.5, 0.5, 2.0]], features=["a", "b", "c"])
    hf.write_preferences(runs, tmp_path / f"r.{ending}")
    found = inspect_selections(tmp_path / f"r.{ending}")
    assert (found.kind, found.n_runs, found.n_features, found.question) == ("weighting", 2, 3, None)


# Names of files


@pytest.mark.parametrize(
    "name", ["u17.csv", "u17.xlsx", "u17.parquet", "u17.h5ad", "u17.rds", "u17.arff", "u17.feather"]
)
def test_messages_call_a_file_by_the_name_that_is_given(tmp_path, name):
    path = name_path(write(tmp_path, b"\x00\x01", name), "patients\x1b" + Path(name).suffix)
    assert os.fspath(path) == str(tmp_path / name)
    for read in (lambda: hf.read_table(path, "status"), lambda: inspect_table(path), lambda: inspect_selections(path)):
        with pytest.raises(ValueError, match="patients\ufffd") as caught:
            read()
        assert str(tmp_path) not in str(caught.value)
        assert "u17" not in str(caught.value)


def test_a_named_file_is_read_and_recorded_under_its_name(tmp_path):
    path = name_path(write(tmp_path, PLAIN, "u17.csv"), "patients.csv")
    assert as_path(path) is path
    table = hf.read_table(path, "status")
    assert table.record.source == display_name(path) == inspect_table(path).name == "patients.csv"
    book = pd.read_csv(path)
    book.to_excel(tmp_path / "u18.xlsx", index=False)
    assert hf.read_table(name_path(tmp_path / "u18.xlsx", "p.xlsx"), "status").record.source == "p.xlsx"


def test_inspections_have_a_schema():
    schema = json_schema(TableInspection, title="Table")
    assert set(schema["$defs"]) == {"DataRecord", "Doubt", "Question", "TargetGuess"}
    assert all("description" in field for field in schema["properties"].values())
    described = json_schema(SelectionsInspection, title="Selections")["properties"]
    assert all("description" in field for field in described.values())


# Guesses


FOLDER = Path(os.environ.get("HOLDFAST_DATA", "no folder"))
REAL = sorted(FOLDER.glob("*.parquet"))


@pytest.mark.slow
@pytest.mark.skipif(not REAL, reason="HOLDFAST_DATA is not set")
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_the_target_of_real_data_is_the_first_guess(path, tmp_path):
    found = inspect_table(path)
    assert found.targets[0].name == "target"
    assert found.question.option == "target"
    assert inspect_table(path, "target").question is None
