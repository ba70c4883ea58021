"""Excel, AnnData and R files as tables, whole and broken."""

import datetime
import sys
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from scipy import sparse

import holdfast as hf

h5py = pytest.importorskip("h5py")
rdata = pytest.importorskip("rdata")

ROWS = [["age", "dose", "ill"], [31.5, 0, "no"], [45, 2, "yes"], [50, 1, "no"], [62, 1, "yes"]]
X = {"age": [31.5, 45, 50, 62], "dose": [0, 2, 1, 1]}


def message(path, target="ill", **options):
    with pytest.raises(ValueError, match=r"^Expected [^\n]*[.?]$") as caught:
        hf.read_table(path, target, **options)
    return str(caught.value)


# Excel


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_excel(tmp_path):
    table = hf.read_table(workbook(tmp_path / "d.xlsx", first=ROWS), "ill")
    assert table.X.to_dict("list") == X
    assert table.y.tolist() == ["no", "yes", "no", "yes"]
    assert table.notes == ()
    assert table.record.file_format == "Excel, sheet 'first'"


def test_several_sheets(tmp_path):
    other = [["age", "ill"], [1, "a"], [2, "b"], [4, "a"], [3, "b"]]
    path = workbook(tmp_path / "d.xlsx", empty=[], **{"the data": ROWS, "more": other})
    table = hf.read_table(path, "ill")
    assert table.X.to_dict("list") == X
    assert table.notes == ("Read the sheet 'the data'; not read: 'more' (sheet= names another one).",)
    assert hf.read_table(path, "ill", sheet="more").X.to_dict("list") == {"age": [1, 2, 4, 3]}
    assert "did you mean 'more'?" in message(path, sheet="mor")
    assert "got no sheet with a table" in message(path, sheet="empty")


def test_titles_and_remarks_are_left_out_with_a_note(tmp_path):
    rows = [["Table 1. Patients"], [], *ROWS, [], ["* preliminary"]]
    table = hf.read_table(workbook(tmp_path / "d.xlsx", s=rows), "ill")
    assert table.X.to_dict("list") == X
    assert table.notes == (
        "Read the sheet 's'.",
        "Left out 1 cell above the table: 'Table 1. Patients'.",
        "Left out 1 cell below the table: '* preliminary'.",
    )


def test_columns_need_names_but_the_first(tmp_path):
    told = message(workbook(tmp_path / "d.xlsx", s=[["age", None, "dose", "ill"], [1, 2, 3, "a"], [3, 4, 5, "b"]]))
    assert "got none above column 2, after 'age'" in told
    assert "split merged cells" in told
    table = hf.read_table(workbook(tmp_path / "e.xlsx", s=[[None, "age", "ill"], ["p", 2, "a"], ["q", 4, "b"]]), "ill")
    assert list(table.X.index) == ["p", "q"]
    wide = workbook(tmp_path / "f.xlsx", s=[["age", None, "ill"], [1, None, "a"], [2, None, "b"]])
    assert list(hf.read_table(wide, "ill").X.columns) == ["age"]


def test_cells_of_any_kind(tmp_path):
    rows = [
        ["gap", "truth", "text", "comma", 2019, "ill"],
        [1, True, "1.5", "1,5", 0.1, "a"], ["NA", False, "2", "2,25", 0.2, "b"], [None, True, "3", "3", 1 / 3, "a"],
        [4, False, "4", "1.234,5", 1e-300, "b"],
    ]  # fmt: skip
    table = hf.read_table(workbook(tmp_path / "d.xlsx", s=rows), "ill", missing="impute-median")
    assert table.X.to_dict("list") == {
        "gap": [1, 2.5, 2.5, 4], "truth": [1, 0, 1, 0], "text": [1.5, 2, 3, 4], "comma": [1.5, 2.25, 3, 1234.5],
        "2019": [0.1, 0.2, 1 / 3, 1e-300],
    }  # fmt: skip
    day = [["day", "a", "ill"], *([datetime.date(2020, 1, place), place**2, "pq"[place % 2]] for place in range(1, 5))]
    assert "'day'" in message(workbook(tmp_path / "e.xlsx", s=day))
    open_ = [["a", "b", "ill"], ["1,234", 1, "p"], ["2,345", 2, "q"]]
    assert "'a' ('1,234' at row 0)" in message(workbook(tmp_path / "f.xlsx", s=open_))


@pytest.mark.parametrize("name", ["d.xlsx", "d.xls", "d.ods", "d.xlsb"])
@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"age,ill\n1,2\n", b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_no_excel_file(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert "got another or half of one" in message(tmp_path / name)


def test_half_an_excel_file(tmp_path):
    whole = workbook(tmp_path / "d.xlsx", s=ROWS).read_bytes()
    for part in (50, len(whole) // 2, len(whole) - 30):
        (tmp_path / "half.xlsx").write_bytes(whole[:part])
        assert "got another or half of one" in message(tmp_path / "half.xlsx")


def test_a_zip_file_that_is_no_workbook(tmp_path):
    with zipfile.ZipFile(tmp_path / "d.xlsx", "w") as archive:
        archive.writestr("a.txt", "a")
    assert "got another or half of one" in message(tmp_path / "d.xlsx")


def test_files_that_would_fill_the_memory_are_refused(tmp_path, monkeypatch):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "a", 1
    book.save(tmp_path / "far.xlsx")
    assert "cells up to row 1048576 and column 16384" in message(tmp_path / "far.xlsx")
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(2**20))
    monkeypatch.setattr("holdfast.io.files.MAX_WORKBOOK_BYTES", 2**19)
    assert "unpacked; save the table as CSV" in message(tmp_path / "bomb.xlsx")


# AnnData


def write_strings(group, name, texts):
    data = group.create_dataset(name, data=np.array(texts, dtype=object), dtype=h5py.string_dtype())
    data.attrs["encoding-type"], data.attrs["encoding-version"] = "string-array", "0.2.0"


def write_h5ad(path, X, *, obs_names=("c1", "c2", "c3", "c4"), var_names=("TP53", "MYC", "KRAS")):
    """A file in the layout that anndata documents."""
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"], file.attrs["encoding-version"] = "anndata", "0.1.0"
        if sparse.issparse(X):
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = f"{X.format}_matrix", X.shape
            for part in ("data", "indices", "indptr"):
                group.create_dataset(part, data=getattr(X, part))
        else:
            file.create_dataset("X", data=X).attrs["encoding-type"] = "array"
        obs = file.create_group("obs")
        obs.attrs["_index"], obs.attrs["column-order"] = "cell", ["type", "batch", "age", "smoker"]
        obs.attrs["encoding-type"] = "dataframe"
        write_strings(obs, "cell", obs_names)
        kind = obs.create_group("type")
        kind.attrs["encoding-type"], kind.attrs["ordered"] = "categorical", False
        write_strings(kind, "categories", ["B", "T"])
        kind.create_dataset("codes", data=np.array([0, 1, 0, 1], dtype=np.int8))
        write_strings(obs, "batch", ["x", "x", "y", "y"])
        obs.create_dataset("age", data=np.array([31, 45, 50, 62]))
        smoker = obs.create_group("smoker")
        smoker.attrs["encoding-type"] = "nullable-boolean"
        smoker.create_dataset("values", data=np.array([True, False, True, False]))
        smoker.create_dataset("mask", data=np.array([False, False, False, True]))
        var = file.create_group("var")
        var.attrs["_index"], var.attrs["encoding-type"] = "_index", "dataframe"
        var.attrs["column-order"] = np.array([], dtype=h5py.string_dtype())
        write_strings(var, "_index", var_names)
        layers = file.create_group("layers")
        layers.create_dataset("counts", data=np.zeros((4, 3)))
    return path


EXPRESSION = np.array([[1.5, 0, 2], [0, 3, 0], [2.5, 0, 0], [0, 0, 0.1]])


@pytest.mark.parametrize(
    "matrix", [EXPRESSION, EXPRESSION.astype("f4"), sparse.csr_matrix(EXPRESSION), sparse.csc_matrix(EXPRESSION)],
    ids=["dense", "single", "csr", "csc"],
)  # fmt: skip
def test_anndata(tmp_path, matrix):
    table = hf.read_table(write_h5ad(tmp_path / "d.h5ad", matrix), "type", groups="batch")
    expected = matrix.toarray() if sparse.issparse(matrix) else matrix
    np.testing.assert_array_equal(table.X.to_numpy(), expected.astype(float))
    assert list(table.X.columns) == ["TP53", "MYC", "KRAS"]
    assert list(table.X.index) == ["c1", "c2", "c3", "c4"]
    assert table.y.tolist() == ["B", "T", "B", "T"]
    assert table.groups.tolist() == ["x", "x", "y", "y"]
    assert table.record.file_format == "AnnData"
    assert "Read X; the layers 'counts' were not read." in table.notes
    assert (
        "Left out what describes the samples: 'age', 'smoker'; treat_as_feature= makes features of them." in table.notes
    )


def test_columns_of_obs_can_be_features(tmp_path):
    table = hf.read_table(write_h5ad(tmp_path / "d.h5ad", EXPRESSION), "type", treat_as_feature="age", ignore="batch")
    assert list(table.X.columns) == ["age", "TP53", "MYC", "KRAS"]
    assert hf.read_table(tmp_path / "d.h5ad", "age", task="regression").y.tolist() == [31, 45, 50, 62]
    assert "the target column 'typ'" in message(tmp_path / "d.h5ad", "typ")


def test_damaged_anndata(tmp_path):
    path = write_h5ad(tmp_path / "d.h5ad", EXPRESSION)
    (tmp_path / "half.h5ad").write_bytes(path.read_bytes()[:1500])
    (tmp_path / "text.h5ad").write_bytes(b"a,b\n")
    for name in ("half.h5ad", "text.h5ad"):
        assert "got another or half of one" in message(tmp_path / name, "type")
    for part in ("X", "obs", "var"):
        write_h5ad(path, EXPRESSION)
        with h5py.File(path, "a") as file:
            del file[part]
        assert f"Expected '{part}'" in message(path, "type")
    assert "got 4 of 3" in message(write_h5ad(path, EXPRESSION, var_names=("a", "b")), "type")
    broken = sparse.csr_matrix(EXPRESSION)
    broken.indices = broken.indices + 7
    assert "a damaged one" in message(write_h5ad(path, broken), "type")


# R


def test_a_data_frame_of_r(tmp_path):
    frame = pd.DataFrame({**X, "ill": pd.Categorical(["no", "yes", "no", "yes"])})
    rdata.write_rds(tmp_path / "d.rds", frame)
    table = hf.read_table(tmp_path / "d.rds", "ill")
    assert table.X.to_dict("list") == X
    assert table.y.tolist() == ["no", "yes", "no", "yes"]
    assert table.record.file_format == "R data"


R_ASCII = """A
3
262657
197888
5
UTF-8
787
3
14
3
1.5
NA
0.1
16
3
262153
1
p
262153
1
q
262153
1
p
13
3
1
0
NA
1026
1
262153
5
names
16
3
262153
1
a
262153
1
b
262153
1
c
1026
1
262153
5
class
16
1
262153
10
data.frame
1026
1
262153
9
row.names
13
2
NA
-3
254
"""


def test_a_data_frame_byte_by_byte(tmp_path):
    (tmp_path / "d.rds").write_text(R_ASCII)
    table = hf.read_table(tmp_path / "d.rds", "b", missing="impute-median")
    assert table.X["a"].tolist() == [1.5, 0.8, 0.1]
    assert table.y.tolist() == ["p", "q", "p"]


def r_survival(kind, *columns):
    """A data frame of R with a column y of survival times, as saveRDS(…, ascii = TRUE) writes it."""
    n = len(columns[0])

    def text(*values):
        return ["16", len(values), *(part for value in values for part in ("262153", len(value), value))]

    def tag(name):
        return ["1026", "1", "262153", len(name), name]

    names = ["start", "stop", "status"] if len(columns) == 3 else ["time", "status"]
    dim = [*tag("dim"), "13", "2", n, len(columns), *tag("dimnames"), "19", "2", "254", *text(*names)]
    surv = ["782", n * len(columns), *(value for column in columns for value in column), *dim]
    surv += [*tag("type"), *text(kind), *tag("class"), *text("Surv"), "254"]
    lines = ["A", "3", "262657", "197888", "5", "UTF-8", "787", "2", "14", n, *range(n), *surv]
    lines += [*tag("names"), *text("a", "y"), *tag("class"), *text("data.frame"), *tag("row.names")]
    return "\n".join(map(str, [*lines, "13", "2", "NA", -n, "254", ""]))


def test_survival_times_of_r(tmp_path):
    (tmp_path / "d.rds").write_text(r_survival("right", [306, 1010.5, 12, 7, 8, 9], [1, 0, 1, 1, 0, 1]))
    table = hf.read_table(tmp_path / "d.rds", "y", treat_as_feature="a")
    assert table.y["time"].tolist() == [306, 1010.5, 12, 7, 8, 9]
    assert table.y["event"].tolist() == [True, False, True, True, False, True]
    (tmp_path / "d.rds").write_text(r_survival("right", [306, "NA", 12], [1, 0, "NA"]))
    assert "got 2 missing in 'y', first at row 1" in message(tmp_path / "d.rds", "y", ignore="a")
    (tmp_path / "e.rds").write_text(r_survival("counting", [0, 2], [3, 4], [1, 0]))
    assert "survival times of type 'counting', of which only 'right'" in message(tmp_path / "e.rds", "y")


def test_objects_that_r_saved(tmp_path):
    rdata.write_rda(tmp_path / "d.RData", {"n": 3, "m": np.eye(3), "k": np.ones((2, 2))})
    table = hf.read_table(tmp_path / "d.RData", "V3")
    assert list(table.X.columns) == ["V1", "V2"]
    assert table.notes[0] == "Read the object 'm'; not read: 'k' (sheet= names another one)."
    assert "the target column 'V3'" in message(tmp_path / "d.RData", "V3", sheet="k")
    assert "give sheet= one of these names" in message(tmp_path / "d.RData", "V3", sheet="zzz")


def test_what_r_saved_that_is_no_table(tmp_path):
    rdata.write_rds(tmp_path / "d.rds", [1, 2])
    assert 'write.csv(x, "x.csv")' in message(tmp_path / "d.rds")
    (tmp_path / "e.rds").write_bytes((tmp_path / "d.rds").read_bytes()[:30])
    (tmp_path / "f.rds").write_bytes(b"")
    (tmp_path / "g.rda").write_bytes(b"a,b\n1,2\n")
    for name in ("e.rds", "f.rds", "g.rda"):
        assert "Expected a file that R saved" in message(tmp_path / name)


# Options and packages


def test_options_of_other_files_are_refused(tmp_path):
    path = workbook(tmp_path / "d.xlsx", s=ROWS)
    for option in ("sep", "decimal", "encoding"):
        assert f"Expected a text file for {option}=" in message(path, **{option: ","})
    (tmp_path / "d.csv").write_text("a,ill\n1,p\n2,q\n")
    assert "Expected an Excel, R or AnnData file for sheet=" in message(tmp_path / "d.csv", sheet="s")


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("d.xlsx", "python_calamine", "python-calamine: pip install 'holdfast[app]'"),
        ("d.h5ad", "h5py", "h5py: pip install 'holdfast[anndata]'"),
        ("d.rds", "rdata", "rdata: pip install 'holdfast[r]'"),
    ],
)
def test_a_missing_package_is_named(tmp_path, monkeypatch, name, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError, match="needs") as caught:
        hf.read_table(tmp_path / name, "ill")
    assert str(caught.value).endswith(package)


@pytest.mark.parametrize("ending", ["xlsx", "ods", "h5ad", "rds", "RData", "txt", "dat"])
def test_a_missing_file_is_named(tmp_path, ending):
    with pytest.raises(FileNotFoundError) as caught:
        hf.read_table(tmp_path / f"missing.{ending}", "ill")
    assert str(caught.value.filename) == str(tmp_path / f"missing.{ending}")


def test_nothing_is_unpickled(tmp_path):
    import pickle

    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "was here"), "w"))

    content = pickle.dumps(Bomb())
    with h5py.File(tmp_path / "d.h5ad", "w") as file:
        file["X"] = np.void(content)
    for ending in ("rds", "RData", "xlsx", "csv", "parquet"):
        (tmp_path / f"d.{ending}").write_bytes(content)
        assert message(tmp_path / f"d.{ending}")
    assert message(tmp_path / "d.h5ad")
    assert not (tmp_path / "was here").exists()
