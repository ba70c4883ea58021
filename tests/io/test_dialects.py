"""Text tables as R, Excel and other programs write them: byte by byte."""

import gzip
import re
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import holdfast as hf
from holdfast.io.delimited import open_text
from holdfast.io.dialect import detect_dialect, detect_encoding, read_mark, to_number
from holdfast.io.loading import load_frame

X = {"größe": [1.75, 1.5, 1.8125, 2.0], "dosis": [1234.5, 0.25, 12345678.5, 3.0]}
Y = ["krank", "gesund", "krank", "gesund"]


def written(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def message(path, target="y", **options):
    with pytest.raises(ValueError, match=r"^Expected [^\n]*[.?]$") as caught:
        hf.read_table(path, target, **options)
    return str(caught.value)


FILES = {
    "R write.csv2": (
        "d.csv",
        '"";"größe";"dosis";"y"\n"1";1,75;1234,5;"krank"\n"2";1,5;0,25;"gesund"\n'
        '"3";1,8125;12345678,5;"krank"\n"4";2;3;"gesund"\n',
        "utf-8",
        "Read as text separated by ';' with decimal commas (UTF-8).",
    ),
    "R write.csv": (
        "d.csv",
        '"","größe","dosis","y"\n"1",1.75,1234.5,"krank"\n"2",1.5,0.25,"gesund"\n'
        '"3",1.8125,12345678.5,"krank"\n"4",2,3,"gesund"\n',
        "utf-8",
        None,
    ),
    "R write.table": (
        "d.txt",
        '"größe" "dosis" "y"\n"1" 1.75 1234.5 "krank"\n"2" 1.5 0.25 "gesund"\n'
        '"3" 1.8125 12345678.5 "krank"\n"4" 2 3 "gesund"\n',
        "utf-8",
        "Read as text separated by spaces (UTF-8).",
    ),
    "R write.table, Windows": (
        "d.txt",
        '"größe" "dosis" "y"\r\n"a" 1.75 1234.5 "krank"\r\n"b" 1.5 0.25 "gesund"\r\n'
        '"c" 1.8125 12345678.5 "krank"\r\n"d" 2 3 "gesund"\r\n',
        "latin-1",
        "Read as text separated by spaces (Latin-1).",
    ),
    "R write.table, commas": (
        "d.dat",
        '"größe";"dosis";"y"\n"1";1,75;1234,5;"krank"\n"2";1,5;0,25;"gesund"\n'
        '"3";1,8125;12345678,5;"krank"\n"4";2;3;"gesund"\n',
        "utf-8",
        "Read as text separated by ';' with decimal commas (UTF-8).",
    ),
    "Excel, CSV of Europe": (
        "d.csv",
        "größe;dosis;y\r\n1,75;1.234,50;krank\r\n1,50;0,25;gesund\r\n1,8125;12.345.678,50;krank\r\n2,00;3,00;gesund\r\n",
        "cp1252",
        "Read as text separated by ';' with decimal commas and points between thousands (Latin-1).",
    ),
    "Excel, its own line first": (
        "d.csv",
        "sep=;\r\ngröße;dosis;y\r\n1,75;1234,5;krank\r\n1,5;,25;gesund\r\n1,8125;12345678,5;krank\r\n2;3;gesund\r\n",
        "utf-8-sig",
        "Read as text separated by ';' with decimal commas (UTF-8).",
    ),
    "Excel, Unicode text": (
        "d.txt",
        "größe\tdosis\ty\r\n1,75\t1234,5\tkrank\r\n1,5\t0,25\tgesund\r\n1,8125\t12345678,5\tkrank\r\n2\t3\tgesund\r\n",
        "utf-16",
        "Read as text separated by tabs with decimal commas (UTF-16).",
    ),
    "UTF-16 without its mark": (
        "d.csv",
        "größe,dosis,y\n1.75,1234.5,krank\n1.5,0.25,gesund\n1.8125,12345678.5,krank\n2,3,gesund\n",
        "utf-16-be",
        "Read as text separated by ',' (UTF-16).",
    ),
    "France": (
        "d.csv",
        "größe;dosis;y\n1,75;1\u202f234,5;krank\n1,5;0,25;gesund\n1,8125;12\u202f345\u202f678,5;krank\n2;3;gesund\n",
        "utf-8",
        "Read as text separated by ';' with decimal commas and spaces between thousands (UTF-8).",
    ),
    "France, Windows": (
        "d.csv",
        "größe;dosis;y\n1,75;1\u00a0234,5;krank\n1,5;0,25;gesund\n1,8125;12\u00a0345\u00a0678,5;krank\n2;3;gesund\n",
        "cp1252",
        "Read as text separated by ';' with decimal commas and spaces between thousands (Latin-1).",
    ),
    "Switzerland": (
        "d.tab",
        "größe\tdosis\ty\n1.75\t1'234.5\tkrank\n1.5\t0.25\tgesund\n1.8125\t12'345'678.5\tkrank\n2\t3\tgesund\n",
        "utf-8",
        "Read as text separated by tabs with apostrophes between thousands (UTF-8).",
    ),
    "America, formatted": (
        "d.csv",
        'größe,dosis,y\n1.75,"1,234.50",krank\n1.50,0.25,gesund\n1.8125,"12,345,678.50",krank\n2.00,3.00,gesund\n',
        "utf-8-sig",
        "Read as text separated by ',' with commas between thousands (UTF-8).",
    ),
    "decimals in quotes": (
        "d.csv",
        '"größe","dosis","y"\n"1,75","1234,5","krank"\n"1,5","0,25","gesund"\n'
        '"1,8125","12345678,5","krank"\n"2","3","gesund"\n',
        "utf-8",
        "Read as text separated by ',' with decimal commas (UTF-8).",
    ),
    "bars": (
        "d.dat",
        "größe|dosis|y\n1.75|1234.5|krank\n1.5|.25|gesund\n1.8125|12345678.5|krank\n2|3|gesund\n",
        "utf-8",
        "Read as text separated by '|' (UTF-8).",
    ),
    "aligned with spaces": (
        "d.txt",
        "  größe      dosis      y\n   1.75     1234.5  krank\n    1.5       0.25 gesund\n 1.8125 12345678.5  krank\n"
        "      2          3 gesund\n",
        "utf-8",
        "Read as text separated by spaces (UTF-8).",
    ),
    "packed": (
        "d.txt.gz",
        "größe;dosis;y\n1,75;1234,5;krank\n1,5;0,25;gesund\n1,8125;1,23456785e7;krank\n2;3;gesund\n",
        "utf-8",
        "Read as text separated by ';' with decimal commas (UTF-8).",
    ),
}


@pytest.mark.parametrize(("name", "text", "encoding", "note"), FILES.values(), ids=FILES)
def test_what_programs_write_is_read(tmp_path, name, text, encoding, note):
    table = hf.read_table(written(tmp_path / name, text.encode(encoding)), "y")
    assert table.X.to_dict("list") == X
    assert table.y.tolist() == Y
    assert [line for line in table.notes if line.startswith("Read as")] == ([note] if note else [])
    assert table.record.file_format.startswith("text separated by ")
    assert table.record.source == name
    assert (table.record.rows_read, table.record.columns_read) == (4, 3)


def test_row_names_of_r_are_row_names(tmp_path):
    _, text, encoding, _ = FILES["R write.table, Windows"]
    table = hf.read_table(written(tmp_path / "d.txt", text.encode(encoding)), "y")
    assert list(table.X.index) == list("abcd")
    assert "row names" in table.notes[1]


# What cannot be known is asked


AMBIGUOUS = {
    "semicolons and commas": ("d.csv", "a;b;y\n1,234;5,678;p\n2,345;6,789;q\n"),
    "semicolons and points": ("d.csv", "a;b;y\n1.234;5.678;p\n2.345;6.789;q\n"),
    "tabs and commas": ("d.tsv", "a\tb\ty\n1,234\t5,678\tp\n2,345\t6,789\tq\n"),
    "commas in quotes": ("d.csv", 'a,b,y\n"1,234","5,678",p\n"2,345","6,789",q\n'),
    "commas in one column": ("d.csv", "a;b;y\n1,234;5;p\n12,345;6;q\n"),
}


@pytest.mark.parametrize(("name", "text"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_numbers_that_may_be_two_are_refused_with_the_option(tmp_path, name, text):
    path = written(tmp_path / name, text.encode())
    told = message(path)
    assert re.search(r"got '1[,.]234'( in 'a')?, which may be 1\.234 or 1234", told)
    assert told.endswith("pass decimal=',' or decimal='.'.")
    other = {",": 1.234, ".": 1234.0} if "," in text.splitlines()[1].replace('",', "") else {",": 1234.0, ".": 1.234}
    for decimal, first in other.items():
        assert hf.read_table(path, "y", decimal=decimal).X["a"].iloc[0] == first


RESOLVED = {
    "a fraction below": ("a;b;y\n1,234;5,678;p\n2,345;0,5;q\n", [1.234, 2.345]),
    "a fraction after hundreds of lines": ("a;y\n" + "1,234;p\n2,345;q\n" * 300 + "1,5;q\n", [1.234, 2.345]),
    "thousands of thousands": ("a;b;y\n1,234;5,678,901;p\n2,345;6,789,012;q\n", [1234, 2345]),
    "points elsewhere": ("a;b;y\n1,234;5.5;p\n2,345;6.5;q\n", [1234, 2345]),
    "commas elsewhere": ("a;b;y\n1.234;5,5;p\n2.345;6,5;q\n", [1234, 2345]),
    "an exponent": ("a;b;y\n1,234;5,678e-3;p\n2,345;6;q\n", [1.234, 2.345]),
    "a leading zero": ("a;b;y\n1,234;0,678;p\n2,345;0,123;q\n", [1.234, 2.345]),
    "four digits before": ("a;b;y\n1,234;5678,123;p\n2,345;6789,012;q\n", [1.234, 2.345]),
}


@pytest.mark.parametrize(("text", "values"), RESOLVED.values(), ids=RESOLVED)
def test_other_numbers_of_the_file_tell(tmp_path, text, values):
    assert hf.read_table(written(tmp_path / "d.csv", text.encode()), "y").X["a"].tolist()[:2] == values


def test_contrary_columns_are_refused_and_become_texts_by_option(tmp_path):
    path = written(tmp_path / "d.csv", b"a;b;y\n1,5;2.5;p\n2,5;3.5;q\n")
    told = message(path)
    assert "one decimal mark" in told
    assert "'1,5' in 'a'" in told
    assert "'2.5' in 'b'" in told
    assert "text in 1 column: 'b' ('2.5' at row 0)" in message(path, decimal=",")
    assert "text in 1 column: 'a' ('1,5' at row 0)" in message(path, decimal=".")
    assert hf.read_table(path, "y", decimal=",", ignore="b").X["a"].tolist() == [1.5, 2.5]


@pytest.mark.parametrize("cell", ["12.05.2020", "192.168.1.1", "1.2.3", "12,34,56", "1,234.567,8", "0,123.5", "1 23,5"])
def test_dates_and_the_like_are_no_numbers(tmp_path, cell):
    path = written(tmp_path / "d.csv", f"a;b;y\n1,5;{cell};p\n2,5;{cell};q\n".encode())
    assert f"'b' ('{cell}' at row 0)" in message(path)


def test_a_comment_with_a_comma_does_not_change_numbers(tmp_path):
    path = written(tmp_path / "d.csv", b"a;b;y\n1.5;1,5;p\n2.25;see note, 2;q\n")
    assert hf.read_table(path, "y", ignore="b").X["a"].tolist() == [1.5, 2.25]


# Missing values


@pytest.mark.parametrize(
    "mark", ["", "NA", ".", "-", "?", "NaN", "nan", "null", "NULL", "#N/A", "#NV", "\u2013", " - "]
)
@pytest.mark.parametrize(("sep", "decimal"), [(",", "."), (";", ",")], ids=["point", "comma"])
def test_marks_of_missing_values(tmp_path, mark, sep, decimal):
    lines = [["a", "b", "y"], [f"1{decimal}5", "1", "p"], [mark, "2", "q"], [f"3{decimal}25", "4", "q"]]
    path = written(tmp_path / "d.csv", "\n".join(map(sep.join, lines)).encode())
    table = hf.read_table(path, "y", missing="drop")
    assert table.X["a"].tolist() == [1.5, 3.25]
    assert "Dropped 1 of 3 rows with missing values: 'a' (1)." in table.notes


def test_a_dash_among_texts_is_a_text(tmp_path):
    path = written(tmp_path / "d.csv", b"er,a,y\n+,1,p\n-,2,q\n-,3,p\n+,5,q\n")
    table = hf.read_table(path, "y", categorical="one-hot")
    assert table.X["er=-"].tolist() == [0, 1, 1, 0]
    assert hf.read_table(path, "er", ignore="y").record.classes == (("+", 2), ("-", 2))


def test_dashes_for_missing_values_are_noted(tmp_path):
    path = written(tmp_path / "d.csv", b"a,y\n1,p\n-,q\n3,p\n4,q\n")
    assert "Took dashes for missing values in 'a'." in hf.read_table(path, "y", missing="drop").notes


# Options


def test_what_is_said_is_not_guessed(tmp_path):
    path = written(tmp_path / "d.csv", "a b;c;y\n1 2;3;é\n4 5;6;b\n".encode("latin-1"))
    assert "the target column 'y'" in message(path, "y", sep="space")
    assert hf.read_table(path, "y", encoding="cp1252", ignore="a b").y.tolist() == ["é", "b"]
    assert hf.read_table(path, "y", encoding="cp1250", ignore="a b").y.tolist() == ["é", "b"]
    told = message(path, "y", encoding="utf-8")
    assert "Expected text in utf-8" in told
    assert "encoding" in message(path, encoding="klingon")
    assert "decimal='.' or decimal=','" in message(path, decimal=";")
    for sep in ("ab", "a", '"', ""):
        assert "for sep=" in message(path, sep=sep)


@pytest.mark.parametrize("sep", ["tab", "\t", "\\t"])
def test_separators_have_names(tmp_path, sep):
    path = written(tmp_path / "d.csv", b"a,b\ty\n1.5\tp\n2\tq\n")
    assert hf.read_table(path, "y", sep=sep).X["a,b"].tolist() == [1.5, 2]


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"PK\3\4" + bytes(range(256)) * 9, "Excel or zip"), (b"\x89HDF\r\n" + bytes(500), "HDF5"), (bytes(99), "binary")],
)
def test_a_binary_file_with_a_wrong_ending_is_named(tmp_path, content, kind):
    assert kind in message(written(tmp_path / "d.csv", content))


# Parts


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"", "utf-8"), (b"abc", "utf-8"), ("é".encode(), "utf-8"), ("é".encode("utf-8-sig"), "utf-8-sig"),
        ("é".encode("latin-1"), "latin-1"), ("“é”".encode("cp1252"), "cp1252"), (b"\x81\xe9", "latin-1"),
        ("a,b\n".encode("utf-16"), "utf-16"), ("a,b\n".encode("utf-16-le"), "utf-16-le"),
        ("a,b\n".encode("utf-16-be"), "utf-16-be"), ("a".encode("utf-32"), "utf-32"),
    ],
)  # fmt: skip
def test_encodings(content, encoding):
    assert detect_encoding(content) == encoding


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("1,5", (",", "decimal")), ("1.5", (".", "decimal")), ("1,234", (",", "maybe")), ("-1.234", (".", "maybe")),
        ("0,123", (",", "decimal")), ("1234,567", (",", "decimal")), ("1,234,567", (",", "thousands")),
        ("1.234,5", (",", "decimal")), ("1,234.5", (".", "decimal")), ("1 234,567", (",", "decimal")), ("12", None),
        ("1,23,4", None), ("abc", None), ("", None), ("12.05.2020", None), (",5", (",", "decimal")),
        ("1,234e5", (",", "decimal")),
    ],
)  # fmt: skip
def test_what_a_cell_says_of_its_marks(cell, said):
    assert read_mark(cell) == said


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("1.234,5", ",", 1234.5), ("1,234.5", ".", 1234.5), ("1 234", ".", 1234), ("1.23", ",", None),
        ("1,2,3", ",", None), ("1_000", ".", None), ("12.34.567", ",", None), ("-1'234", ".", -1234),
        ("0.123", ",", None), ("1,5.5", ",", None),
    ],
)  # fmt: skip
def test_texts_as_numbers(text, decimal, number):
    assert to_number(text, decimal) == number


def test_a_dialect_tells_about_itself():
    assert str(detect_dialect("a;b\n1,5;2\n", ",")) == "text separated by ';' with decimal commas"
    assert detect_dialect("", ",").sep == ","


# Any table in any dialect


cells = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-9999, 9999).map(lambda x: round(x, 3))
names = st.lists(st.text("abcé ,;|\"'#.\n", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)
SEPARATORS = {",": ",", ";": ";", "\t": "tab", "|": "|", " ": "space"}


@given(
    values=hnp.arrays(float, st.tuples(st.integers(4, 9), st.just(4)), elements=cells),
    names=names,
    sep=st.sampled_from(sorted(SEPARATORS)),
    decimal=st.sampled_from(",."),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    ending=st.sampled_from(["csv", "tsv", "txt", "dat", "tab", "csv.gz"]),
)
def test_any_table_comes_back(tmp_path_factory, values, names, sep, decimal, encoding, newline, ending):
    path = tmp_path_factory.mktemp("any") / f"d.{ending}"
    frame = pd.DataFrame(values[:, : len(names)], columns=names).assign(
        **{"the target": list("pq") * 2 + ["p"] * (len(values) - 4)}
    )
    frame.to_csv(path, index=False, sep=sep, decimal=decimal, encoding=encoding, lineterminator=newline)
    found = hf.read_table(path, "the target", sep=SEPARATORS[sep], decimal=decimal)
    np.testing.assert_array_equal(found.X.to_numpy(), frame[names].to_numpy())
    if newline == "\n":
        assert list(found.X.columns) == names
    with suppress(ValueError):  # refused with a sentence, or right
        np.testing.assert_array_equal(hf.read_table(path, "the target").X.to_numpy(), frame[names].to_numpy())


WIDE = {
    "fractions": ["0.5", "-1.25e-3", "7.0", "1e3"],
    "whole numbers": ["1", "0", "-3", "+4"],
    "whole numbers among fractions": ["0.5", "1.5", "2", "3.5"],
    "gaps": ["0.5", "", "1.5", ""],
    "infinity": ["0.5", "inf", "-inf", "1"],
    "more digits than a float has": ["0.1234567890123456789", "12345678901234567890", "1", "2"],
    "texts": ["0.5", "NA", "nan", "yes"],
    "truths": ["True", "False", "1", "0"],
    "quotes": ['"0.5"', '"a,b"', "1", "2"],
    "a separator in quotes": ['"1,5"', "0.5", "1.5", "2.5"],
    "spaces": [" 0.5", "1.5 ", " 2 ", "3"],
    "versions": ["1.2.3", "0.5", ".", "1e"],
    "marks between thousands": ['"1,234.5"', "1", "2", "3"],
}


@pytest.mark.parametrize("n_odd", [3, 299], ids=["few", "many"])
@pytest.mark.parametrize("labels", [True, False], ids=["labels", "no labels"])
@pytest.mark.parametrize("cells", WIDE.values(), ids=WIDE)
def test_few_lines_of_very_many_columns_are_parsed_as_pandas_parses_columns(tmp_path, cells, labels, n_odd):
    """Most columns are fractions; some, at both ends and in between, hold these cells, in every order."""
    width, rows = 1_200, []
    for row in range(4):
        line = [f"{0.25 + row + column}" for column in range(width)]
        for start in (0, *range(600, 600 - 2 * n_odd, -4), width - 4):
            line[start : start + 4] = [cells[(row + shift) % 4] for shift in range(4)]
            line[start + 2] = cells[0]
        rows.append(",".join([*([f"run{row}"] if labels else []), *line]))
    header = ",".join([*(["run"] if labels else []), *(f"g{column}" for column in range(width))])
    table = open_text(written(tmp_path / "d.csv", "\n".join([header, *rows, ""]).encode()))
    pd.testing.assert_frame_equal(table.parse_body(["?"]), table.parse(skiprows=1, na_values=["?"]), check_exact=True)


def test_a_column_costs_no_frame_of_pandas_where_there_are_very_many(tmp_path, monkeypatch):
    lines = [",".join(f"{row}.{column}" for column in range(3_000)) for row in range(4)]
    header = ",".join(f"g{column}" for column in range(3_000))
    path = written(tmp_path / "d.csv", "\n".join([header, *lines]).encode())
    parse, widths = pd.read_csv, []
    monkeypatch.setattr(pd, "read_csv", lambda *a, **k: widths.append((frame := parse(*a, **k)).shape[1]) or frame)
    assert load_frame(path).frame.shape == (4, 3_000)
    assert max(widths) == 1
