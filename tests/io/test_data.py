"""Data files as features, target and groups: every format, every policy, every message."""

import datetime
import gzip
import sys
from decimal import Decimal

import arff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import holdfast as hf
from holdfast.cli.running import read
from holdfast.io.record import DataRecord
from holdfast.io.table import without_columns

ROWS = {"age": [31.5, 45, 50, 62], "dose": [0, 2, 1, 1], "ill": ["no", "yes", "no", "yes"]}
FRAME = pd.DataFrame(ROWS)
N = 24
MANY = pd.DataFrame({"x": np.linspace(0, 1, N), "y": np.arange(N) % 2})


def written(path, text):
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def as_arff(frame):
    def kind(column):
        return "REAL" if pd.api.types.is_numeric_dtype(column) else list(dict.fromkeys(column))

    attributes = [(name, kind(frame[name])) for name in frame]
    return arff.dumps({"relation": "a table", "attributes": attributes, "data": frame.to_numpy().tolist()})


WRITERS = {
    "data.csv": lambda frame, path: frame.to_csv(path, index=False),
    "data.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "data.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "data.tsv.gz": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "DATA.CSV": lambda frame, path: frame.to_csv(path, index=False),
    "data.parquet": lambda frame, path: frame.to_parquet(path),
    "data.feather": lambda frame, path: frame.to_feather(path),
    "data.arff": lambda frame, path: written(path, as_arff(frame)),
    "data.arff.gz": lambda frame, path: written(path, as_arff(frame)),
}


def message(data, *options, **named):
    """The one sentence that a table is refused with."""
    with pytest.raises(ValueError, match=r"^Expected [^\n]*[.?]$") as caught:
        hf.read_table(data, *options, **named)
    return str(caught.value)


def changed(**columns):
    return FRAME.assign(**columns)


def many(**columns):
    return MANY.assign(**columns)


# Formats


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(tmp_path, name):
    WRITERS[name](FRAME, tmp_path / name)
    table = hf.read_table(tmp_path / name, "ill")
    assert table.X.to_dict("list") == {"age": [31.5, 45, 50, 62], "dose": [0, 2, 1, 1]}
    assert (table.X.dtypes == np.float64).all()
    assert table.y.tolist() == ROWS["ill"]
    assert (table.target, table.task, table.groups, table.notes) == ("ill", "classification", None, ())


def test_a_table_unpacks_and_tells_about_itself():
    table = hf.read_table(changed(who=[1, 1, 2, 2], flat=7), "ill", groups="who")
    X, y = table
    assert X is table.X
    assert y is table.y
    assert repr(table) == (
        "Table: 4 samples of 3 features, 'ill' of 2 classes (no: 2, yes: 2), 2 groups, 1 note"  # flat
    )
    assert repr(hf.read_table(FRAME, "age", ignore="ill", task="regression")) == (
        "Table: 4 samples of 1 feature, 'age' of numbers, 1 note"  # left out
    )


def test_a_table_has_a_record_of_its_data(tmp_path):
    path = written(
        tmp_path / "patients.csv", "age;sex;flat;who;ill\n1,5;f;1;a;no\n;m;1;a;yes\n3;m;1;b;no\n4;f;1;b;yes\n"
    )
    table = hf.read_table(path, "ill", groups="who", categorical="one-hot", missing="drop", drop_constant=True)
    assert table.record == DataRecord(
        source="patients.csv",
        file_format="text separated by ';' with decimal commas, UTF-8",
        rows_read=4,
        columns_read=5,
        rows=3,
        features=2,
        target="ill",
        task="classification",
        classes=(("no", 2), ("yes", 1)),
        groups="who",
        n_groups=2,
        notes=(
            "Read as text separated by ';' with decimal commas (UTF-8).",
            "Dropped 1 of 4 rows with missing values: 'age' (1).",
            "Made 0/1 columns of the categories of 'sex' ('sex=m').",
            "Left out 1 column with a single value: 'flat'.",
            "Found a single row of class 'yes': splits cannot be stratified by it.",
        ),
        warnings=(),
    )
    frame = hf.read_table(FRAME, "age", ignore="ill", task="regression").record
    assert (frame.source, frame.file_format, frame.classes, frame.task) == (None, None, (), "regression")


def test_a_known_data_set_has_a_record_too():
    record = read({"data": "breast_cancer", "target": "diagnosis"}, quiet=True).record
    assert (record.source, record.rows, record.features, record.target) == ("breast_cancer", 569, 30, "diagnosis")
    assert record.classes == (("benign", 357), ("malignant", 212))
    with pytest.raises(ValueError, match="Expected a file for --target-file, got the data set breast_cancer"):
        read({"data": "breast_cancer", "target_file": "x.csv"}, quiet=True)


def test_columns_are_left_out_of_a_wide_table_without_taking_it_to_pieces():
    frame = pd.DataFrame(np.arange(600.0).reshape(2, 300)).add_prefix("x").assign(text=["a", "b"])
    left = without_columns(frame, ["x7", "x9", "not there"])
    pd.testing.assert_frame_equal(left, frame.drop(columns=["x7", "x9"]))
    assert len(left._mgr.blocks) == 2  # drop() makes 299 of them


def test_the_frame_given_stays_as_it_is():
    before = changed(sex=["f", None, "m", "f"], flat=1)
    frame = before.copy()
    hf.read_table(frame, "ill", missing="impute-median", categorical="codes", drop_constant=True)
    pd.testing.assert_frame_equal(frame, before)


finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.lists(st.text("abcé ,;\"'#\n", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


@given(values=hnp.arrays(float, st.tuples(st.integers(2, 8), st.just(4)), elements=finite), names=names)
@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "feather"])
def test_any_numbers_come_back(tmp_path_factory, ending, values, names):
    path = tmp_path_factory.mktemp("any") / f"data.{ending}"
    frame = pd.DataFrame(values[:, : len(names)], columns=names).assign(**{"the target": np.arange(len(values)) % 2})
    WRITERS[f"data.{ending}"](frame, path)
    X, y = hf.read_table(path, "the target")
    np.testing.assert_array_equal(X.to_numpy(), values[:, : len(names)])
    assert list(X.columns) == names
    assert y.tolist() == frame["the target"].tolist()


def test_steps_that_overflow_are_no_counting():
    far = np.finfo(float).max
    X, _ = hf.read_table(pd.DataFrame({"a": [-far, far] * 2, "ill": [0, 1] * 2}), "ill")
    assert X["a"].tolist() == [-far, far] * 2


ARFF = """% a comment
@RELATION 'blood, mostly'
@ATTRIBUTE 'white cells' NUMERIC
@ATTRIBUTE site {north, 'far south', west}
@ATTRIBUTE class {ill, well}
@DATA
1.5, 'far south', ill
?, north, well
3, ?, ill
2, north, well
"""


def test_arff_keeps_quoted_names_gaps_and_the_order_of_categories(tmp_path):
    path = written(tmp_path / "data.arff", ARFF)
    table = hf.read_table(path, "class", missing="impute-median", categorical="codes")
    assert table.X.to_dict("list") == {"white cells": [1.5, 2, 3, 2], "site": [1, 0, 0, 0]}
    assert table.y.tolist() == ["ill", "well", "ill", "well"]
    assert table.notes == (
        "Filled 1 missing value with the median of the column: 'white cells' (1).",
        "Filled 1 missing value with the most frequent category of the column: 'site' (1).",
        "Numbered the categories of 'site' (0 = 'north', 1 = 'far south').",
    )


def test_sparse_arff(tmp_path):
    text = "@relation r\n@attribute a real\n@attribute c {n, y}\n@data\n{0 1.5}\n{1 y}\n{}\n{0 2, 1 y}\n"
    X, y = hf.read_table(written(tmp_path / "data.arff", text), "c")
    assert X["a"].tolist() == [1.5, 0, 0, 2]
    assert y.tolist() == ["n", "y", "n", "y"]


BAD_FILES = {
    "empty csv": ("d.csv", "", "a header line and one line per sample", "add the missing lines"),
    "only a header": ("d.csv", "a,ill\n", "a header line and one line per sample"),
    "no header": ("d.csv", "1,1\n2,1\n", "feature names in the first line", "the numbers of a sample"),
    "numbers for names": ("d.csv", "5.1,3.5\n4,2\n4,1\n", "the columns '5.1', '3.5'", "add a header"),
    "ragged": ("d.csv", "a,ill\n1,no\n2\n", "2 columns in every line", "got 1 in line 3"),
    "unknown ending": ("d.docx", "", ".csv, .tsv, .tab, .txt", ".arff", "got 'd.docx'", "save it as"),
    "no ending": ("d", "", "a file ending in", "got 'd'"),
    "no Parquet": ("d.parquet", "a,ill\n", "Expected a Parquet file", "got something else"),
    "no Feather": ("d.feather", "a,ill\n", "Expected a Feather file", "got something else"),
    "no ARFF": ("d.arff", "a,ill\n", "Expected ARFF in", "got something else", "line 1"),
    "empty ARFF": ("d.arff", "", "Expected ARFF in"),
    "ARFF with dates": ("d.arff", "@relation r\n@attribute t date\n@data\n1\n", "Expected ARFF in", "line 2"),
    "ARFF, name twice": ("d.arff", "@relation r\n@attribute a real\n@attribute a real\n@data\n", "a at line 3"),
    "ARFF without rows": ("d.arff", "@relation r\n@attribute ill {n}\n@data\n", "one row per sample", "no rows"),
    "name twice": ("d.csv", "a,b,a,b,ill\n1,1,1,1,no\n", "different column names", "'a' (2 times), 'b' (2 times)"),
}


@pytest.mark.parametrize(("name", "text", "words"), [(n, t, w) for n, t, *w in BAD_FILES.values()], ids=BAD_FILES)
def test_bad_files_are_told_in_one_sentence(tmp_path, name, text, words):
    told = message(written(tmp_path / name, text), "ill")
    assert name in told
    for word in words:
        assert word in told


def test_a_name_twice_in_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table([[1, 2], [3, 4]], names=["a", "a"]), tmp_path / "d.parquet")
    assert "got 'a' (2 times); rename them" in message(tmp_path / "d.parquet", "a")


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "arff", "arff.gz"])
def test_a_missing_file_is_named(tmp_path, ending):
    with pytest.raises(FileNotFoundError) as caught:
        hf.read_table(tmp_path / f"missing.{ending}", "ill")
    assert str(caught.value.filename) == str(tmp_path / f"missing.{ending}")


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("d.arff", "arff", "liac-arff"),
        ("d.parquet", "pyarrow.parquet", "pyarrow"),
        ("d.feather", "pyarrow.feather", "pyarrow"),
    ],
)
def test_a_missing_library_is_named(tmp_path, monkeypatch, name, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    written(tmp_path / name, "")
    with pytest.raises(ValueError, match=rf"^The .* file .*{name} needs {package}: pip install "):
        hf.read_table(tmp_path / name, "ill")


# Row names, groups, columns to ignore


def test_row_names_of_pandas_and_r_are_no_feature(tmp_path):
    for text in (FRAME.to_csv(), '"age","ill"\n"1",3,"no"\n"2",4,"yes"\n', "Unnamed: 0,age,ill\n0,3,no\n1,4,yes\n"):
        table = hf.read_table(written(tmp_path / "data.csv", text), "ill")
        assert "Unnamed: 0" not in table.X
        assert "" not in table.X
        assert table.notes[0] == "Took the first column, which has no name, for row names, not for a feature."


def test_an_index_in_parquet_is_no_feature(tmp_path):
    FRAME.set_axis(list("wxyz")).to_parquet(tmp_path / "data.parquet")
    table = hf.read_table(tmp_path / "data.parquet", "ill")
    assert list(table.X.index) == list("wxyz")
    assert table.notes == ("Took the index for row names, not for a feature.",)
    assert hf.read_table(FRAME[FRAME.age > 40].replace("no", "yes!"), "ill").notes == (
        "Found a single row of class 'yes!': splits cannot be stratified by it.",
    )


def test_an_index_can_be_target_or_group(tmp_path):
    changed(who=[1, 1, 2, 2]).set_index("who").to_parquet(tmp_path / "data.parquet")
    table = hf.read_table(tmp_path / "data.parquet", "ill", groups="who")
    assert table.groups.tolist() == [1, 1, 2, 2]
    assert table.notes == ()
    assert hf.read_table(FRAME.set_index("ill"), "ill").y.tolist() == ROWS["ill"]


def test_a_column_can_name_the_rows():
    table = hf.read_table(changed(sample=["p", "q", "r", "p"]), "ill", index="sample")
    assert list(table.X.index) == ["p", "q", "r", "p"]
    assert list(table.X.columns) == ["age", "dose"]


@pytest.mark.parametrize("ignore", ["dose", ["dose"], iter(["dose"])], ids=["text", "list", "iterator"])
def test_columns_can_be_ignored(ignore):
    assert list(hf.read_table(FRAME, "ill", ignore=ignore).X.columns) == ["age"]


def test_an_unnamed_column_can_be_ignored_by_its_name(tmp_path):
    path = written(tmp_path / "data.csv", "Unnamed: 0,age,ill\n0,3,no\n1,4,yes\n")
    assert "row names" not in " ".join(hf.read_table(path, "ill", ignore="Unnamed: 0").notes)


def test_row_names_that_repeat_do_no_harm():
    frame = changed(sex=["f", "m", "m", None]).set_axis(["p", "p", "q", "q"])
    table = hf.read_table(frame, "ill", missing="drop", categorical="one-hot")
    assert table.X["sex=m"].tolist() == [0, 1, 1]
    assert list(table.X.index) == ["p", "p", "q"]


ROLES = {
    "near name": (FRAME, ("Il",), {}, "Expected the target column 'Il' in the frame", "did you mean 'ill'?"),
    "blank in the name": (FRAME.rename(columns={"ill": " Ill"}), ("ill",), {}, "did you mean ' Ill'?"),
    "no near name": (FRAME, ("outcome",), {}, "the columns 'age', 'dose', 'ill'; give target= one of these"),
    "no near name among many": (
        pd.DataFrame({f"g{n}": [0.5, 1.5, 2.5, 3.5] for n in range(9)}).assign(
            arm=list("abab"), z=[1.0, 2.0, 3.0, 5.0]
        ),
        ("outcome",),
        {},
        "… (11 in all); give target= one of these names, such as 'arm'.",
    ),
    "many columns": (FRAME.join(pd.DataFrame(np.eye(4)).add_prefix("g")), ("?",), {}, "'g1', … (7 in all)"),
    "groups": (FRAME, ("ill",), {"groups": "patient"}, "the groups column 'patient'", "give groups="),
    "index": (FRAME, ("ill",), {"index": "doses"}, "the index column 'doses'", "did you mean 'dose'?"),
    "ignore": (FRAME, ("ill",), {"ignore": ["dose", "sex"]}, "the ignore= column 'sex'"),
    "one group": (changed(who="me"), ("ill",), {"groups": "who"}, "at least two groups in 'who'", "got only 'me'"),
    "target ignored": (
        FRAME,
        ("ill",),
        {"ignore": "ill"},
        "'ill' in two of target, groups, sites, weights, index, ignore and covariates",
    ),
    "target as group": (FRAME, ("ill",), {"groups": "ill"}, "'ill' in two of target"),
    "no features": (FRAME[["ill"]], ("ill",), {}, "at least one feature besides the target in the frame"),
    "no rows": (FRAME[:0], ("ill",), {}, "one row per sample in the frame, got no rows"),
    "missing=": (FRAME, ("ill",), {"missing": "mean"}, "missing to be 'error', 'impute-median', 'drop', got 'mean'"),
    "categorical=": (FRAME, ("ill",), {"categorical": "dummies"}, "'one-hot', 'codes', 'drop', got 'dummies'"),
    "task=": (
        FRAME,
        ("ill",),
        {"task": "classify"},
        "'survival', None, got 'classify'",
    ),
}


@pytest.mark.parametrize("case", ROLES.values(), ids=ROLES)
def test_wrong_names_and_options(case):
    frame, names, options, *words = case
    told = message(frame, *names, **options)
    for word in words:
        assert word in told


def test_columns_may_be_named_by_numbers():
    table = hf.read_table(pd.DataFrame({0: [1.5, 2, 3, 4], 1: [0, 1, 0, 1]}), 1)
    assert list(table.X.columns) == ["0"]
    assert table.target == "1"


# Columns that are no numbers


def test_text_is_refused_with_its_place():
    told = message(changed(sex=["f", "m", "f", "m"], dose=["1", "2", "low", "3"]), "ill")
    assert told == (
        "Expected numbers in the frame, got text in 2 columns: 'dose' ('low' at row 2), 'sex' ('f' at row 0); pass "
        "categorical='one-hot', 'codes' or 'drop', or leave columns out with ignore=."
    )


def test_texts_that_are_named_like_a_batch_may_be_sites():
    told = message(changed(site=["c", "a", "b", "c"]), "ill")
    assert told.endswith("with ignore=. As 'site' is named like a batch or a site: sites='site' takes it as such.")
    both = changed(site=["c", "a", "c", "a"], plate=["a", "b", "a", "b"])
    assert "named like" not in message(both, "ill", sites="site")


def test_one_hot():
    table = hf.read_table(changed(sex=["m", "f", "f", "m"], site=["c", "a", "b", "c"]), "ill", categorical="one-hot")
    assert table.X.to_dict("list") == {
        "age": ROWS["age"],
        "dose": ROWS["dose"],
        "sex=m": [1, 0, 0, 1],
        "site=a": [0, 1, 0, 0],
        "site=b": [0, 0, 1, 0],
        "site=c": [1, 0, 0, 1],
    }
    assert table.notes == (
        "Made 0/1 columns of the categories of 'sex' ('sex=m'), 'site' ('site=a', 'site=b', 'site=c').",
    )


def test_codes_follow_the_alphabet_or_the_order_that_was_declared():
    size = pd.Categorical(["S", "L", "M", "S"], categories=["S", "M", "L", "XL"], ordered=True)
    table = hf.read_table(changed(size=size, site=["c", "a", "b", "c"]), "ill", categorical="codes")
    assert table.X[["size", "site"]].to_dict("list") == {"size": [0, 2, 1, 0], "site": [2, 0, 1, 2]}
    assert table.notes == (
        "Numbered the categories of 'size' (0 = 'S', 1 = 'M', 2 = 'L'), 'site' (0 = 'a', 1 = 'b', 2 = 'c').",
    )


def test_columns_that_are_no_numbers_can_be_left_out():
    day = pd.Series(pd.to_datetime(["2020-01-01"] * 4))
    table = hf.read_table(changed(sex=["m", None, "f", "m"], day=day), "ill", categorical="drop")
    assert list(table.X.columns) == ["age", "dose"]
    assert table.notes == ("Left out columns that are not numbers: 'sex', 'day'.",)  # and the gap in sex cost no row


def test_a_name_made_of_a_category_must_be_free():
    told = message(changed(sex=["m", "f", "f", "m"], **{"sex=m": 1}), "ill", categorical="one-hot")
    assert "'sex=m' both from the frame and for a category" in told


@pytest.mark.parametrize("categorical", ["error", "one-hot", "codes"])
def test_identifiers_are_no_feature(categorical):
    told = message(many(id=[f"p{row}" for row in range(N)]), "y", categorical=categorical)
    assert "a different text in each row of 'id', such as 'p0'" in told
    assert "pass index='id' or ignore='id'" in told
    assert "'id'" not in hf.read_table(many(id=[f"p{row}" for row in range(N)]), "y", index="id").X


@pytest.mark.parametrize(
    "column",
    [
        pd.to_datetime(["2020-01-01"] * 4),
        pd.to_timedelta([1, 2, 3, 4], unit="D"),
        [1j, 2, 3, 4],
        pd.Series([[1], [2], [3], [4]]),
        pd.Series([datetime.date(2020, 1, 1)] * 4),
    ],
    ids=["dates", "durations", "complex", "lists", "days"],
)
def test_what_is_neither_number_nor_category(column):
    told = message(changed(odd=column), "ill", categorical="one-hot")
    assert "got " in told
    assert "in 'odd'; make it a number, or leave it out with ignore='odd'" in told


NUMBERS = {
    "bool": (pd.Series([True, False, True, True]), "truth"),
    "nullable bool": (pd.Series([True, False, True, True], dtype="boolean"), "truth"),
    "object bool": (pd.Series([True, False, True, True], dtype=object), "truth"),
    "nullable int": (pd.Series([1, 0, 1, 1], dtype="Int64"), None),
    "nullable float": (pd.Series([1, 0, 1, 1], dtype="Float32"), None),
    "small int": (pd.Series([1, 0, 1, 1], dtype="uint8"), None),
    "objects": (pd.Series([1, 0.0, np.float32(1), Decimal("1")], dtype=object), None),
    "text": (pd.Series(["1", " 0", "1.0", "1e0"]), "text"),
    "mixed": (pd.Series([1, 0, "1", 1], dtype=object), "text"),
}


@pytest.mark.parametrize(("column", "note"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_in_any_dress(column, note):
    table = hf.read_table(changed(x=column), "ill")
    assert table.X["x"].tolist() == [1, 0, 1, 1]
    assert table.X["x"].dtype == np.float64
    notes = {"truth": "Made 1 and 0 of true and false in 'x'.", "text": "Read numbers written as text in 'x'."}
    assert table.notes == ((notes[note],) if note else ())


def test_a_category_of_numbers_is_a_category():
    frame = changed(x=pd.Categorical([3, 1, 3, 1]))
    assert "'x' ('3' at row 0)" in message(frame, "ill")
    assert hf.read_table(frame, "ill", categorical="one-hot").X["x=3"].tolist() == [1, 0, 1, 0]


def test_texts_with_underscores_are_no_numbers():
    assert "'x' ('1_1' at row 0)" in message(changed(x=["1_1", "1_2", "1_1", "1_2"]), "ill")


def test_infinite_values_are_refused():
    told = message(changed(dose=[0, np.inf, 1, -np.inf]), "ill", missing="drop")
    assert "got inf in 'dose' at row 1 (2 such entries)" in told
    assert "empty if they are missing" in told


# Missing values

GAPS = changed(age=[31.5, np.nan, np.nan, 62], sex=["f", "m", None, "m"])


def test_gaps_are_refused_by_column():
    told = message(GAPS, "ill", categorical="one-hot")
    assert told == (
        "Expected no missing values in the frame, got some in 2 columns: 'age' (2), 'sex' (1), first at row 1; pass "
        "missing='impute-median' or 'drop', or leave columns out with ignore=."
    )


def test_gaps_are_filled():
    table = hf.read_table(GAPS, "ill", missing="impute-median", categorical="one-hot")
    assert table.X["age"].tolist() == [31.5, 46.75, 46.75, 62]
    assert table.X["sex=m"].tolist() == [0, 1, 1, 1]
    assert table.notes[:2] == (
        "Filled 2 missing values with the median of the column: 'age' (2).",
        "Filled 1 missing value with the most frequent category of the column: 'sex' (1).",
    )


def test_rows_with_gaps_are_dropped():
    frame = many(x=[np.nan, *np.linspace(0, 1, N - 1)], who=[1, None, *range(2, N)], y=[1, 0, None, *[0, 1, 1] * 7])
    table = hf.read_table(frame, "y", groups="who", missing="drop")
    assert list(table.X.index) == list(range(3, N))
    assert table.groups.tolist() == list(range(3, N))
    assert table.groups.dtype.kind == table.y.dtype.kind == "i"
    assert table.notes == ("Dropped 3 of 24 rows with missing values: 'y' (1), 'who' (1), 'x' (1).",)


@pytest.mark.parametrize("missing", ["error", "impute-median"])
@pytest.mark.parametrize(("role", "name"), [("target", "ill"), ("group", "who")])
def test_a_missing_target_or_group_is_never_filled(missing, role, name):
    frame = changed(who=[1, 2, 3, 4]).astype({"who": "Int64"})
    frame.loc[2, name] = None
    told = message(frame, "ill", groups="who", missing=missing)
    assert f"Expected a {role} in every row of the frame, got 1 missing in '{name}', first at row 2" in told
    assert "missing='drop'" in told


def test_a_column_of_gaps():
    frame = changed(dose=np.nan)
    assert "some values in 'dose' of the frame, got none; leave it out with ignore='dose'" in message(
        frame, "ill", missing="impute-median"
    )
    told = message(frame.assign(age=GAPS.age), "ill", missing="drop")
    assert "some rows without missing values in the frame, got none" in told
    assert told.endswith("ignore=: 'dose' (4), 'age' (2).")


@pytest.mark.parametrize("mark", ["", "NA", "nan", "null", "None", "?", " ?"])
def test_marks_of_gaps_in_text(tmp_path, mark):
    path = written(tmp_path / "data.csv", f"a,ill\n1,no\n{mark},yes\n2,no\n3,yes\n")
    assert "'a' (1), first at row 1" in message(path, "ill")
    assert str(path) in message(path, "ill")


def test_many_columns_make_short_notes():
    wide = pd.DataFrame(np.ones((4, 30))).add_prefix("g")
    assert hf.read_table(FRAME.join(wide), "ill").notes == (
        "Kept 30 columns with a single value: 'g0', 'g1', 'g2', 'g3', 'g4', … (30 in all).",
    )


# Constant columns


def test_constant_columns_are_kept_and_noted_or_left_out():
    frame = changed(flat=7, site="a")
    kept = hf.read_table(frame, "ill", categorical="one-hot")
    assert list(kept.X.columns) == ["age", "dose", "flat", "site=a"]
    assert kept.notes[-1] == ("Kept 2 columns with a single value: 'flat', 'site=a'.")
    left = hf.read_table(frame, "ill", categorical="one-hot", drop_constant=True)
    assert list(left.X.columns) == ["age", "dose"]
    assert left.notes[-1] == "Left out 2 columns with a single value: 'flat', 'site=a'."


# The target

LABELS = {
    "texts": (["b", "a"] * 12, "U", ["b", "a"]),
    "ints": ([2, 1] * 12, "i", [2, 1]),
    "nullable ints": (pd.array([2, 1] * 12, dtype="Int64"), "i", [2, 1]),
    "nullable ints, small": (pd.array([2, 1] * 12, dtype="UInt8"), "i", [2, 1]),
    "whole floats": ([2.0, 1.0] * 12, "i", [2, 1]),
    "categories": (pd.Categorical(["b", "a"] * 12), "U", ["b", "a"]),
    "categories of ints": (pd.Categorical([2, 1] * 12), "i", [2, 1]),
    "numbers as text": (["2", "1"] * 12, "U", ["2", "1"]),
    "mixed": (pd.Series(["b", 1] * 12, dtype=object), "U", ["b", "1"]),
}


@pytest.mark.parametrize(("column", "kind", "first"), LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("task", [None, "classification"])
def test_labels_are_texts_or_whole_numbers(column, kind, first, task):
    table = hf.read_table(many(y=column), "y", task=task)
    assert table.y.dtype.kind == kind
    assert table.y[:2].tolist() == first
    assert table.task == "classification"
    assert table.notes == ()


@pytest.mark.parametrize("dtype", [bool, "boolean", object])
def test_true_and_false_are_classes(dtype):
    table = hf.read_table(many(y=pd.Series([True, False] * 12, dtype=dtype)), "y")
    assert table.y[:2].tolist() == [1, 0]
    assert table.y.dtype.kind == "i"
    assert table.notes == ("Made 1 and 0 of true and false in 'y'.",)


def test_fractions_are_numbers_to_predict():
    table = hf.read_table(many(y=np.linspace(0, 5, N)), "y")
    assert table.task == "regression"
    assert table.y.dtype == np.float64
    assert table.notes == ("Took 'y' for numbers to predict (regression), as there are fractions such as 0.217391.",)
    assert hf.read_table(many(y=np.linspace(0, 5, N)), "y", task="regression").notes == ()


@pytest.mark.parametrize("values", [range(N), pd.array(range(N), dtype="Int64"), [str(row) for row in range(N)]])
def test_any_numbers_can_be_predicted_if_that_is_said(values):
    table = hf.read_table(many(y=values), "y", task="regression")
    assert table.y.tolist() == list(range(N))
    assert table.y.dtype == np.float64


def test_some_whole_numbers_are_classes_and_noted():
    table = hf.read_table(many(y=np.arange(N) % 5), "y")
    assert (table.task, table.y.dtype.kind) == ("classification", "i")
    assert table.notes == ("Took the 5 whole numbers of 'y' for classes, not for quantities.",)


def test_a_class_of_one_row_is_noted():
    table = hf.read_table(many(y=["a", "b", "b"] + ["c"] * (N - 3)), "y")
    assert table.notes == ("Found a single row of class 'a': splits cannot be stratified by it.",)


TARGETS = {
    "one class": (["a"] * N, None, "at least two classes in the target 'y' of the frame, got only 'a' in 24 rows"),
    "one whole number": ([3] * N, None, "at least two classes", "got only 3 in 24 rows"),
    "identifiers": ([f"p{row}" for row in range(N)], None, "two rows per class", "24 classes in 24 rows"),
    "how to say so": ([f"p{row}" for row in range(N)], None, "task='regression' if these are quantities"),
    "many whole numbers": (range(N), None, "got 24 different whole numbers in 24 rows; pass task='regression' or"),
    "too many for classes": (np.arange(N) % 13, None, "got 13 different whole numbers in 24 rows"),
    "classes by decree": (range(N), "classification", "two rows per class", "24 classes in 24 rows"),
    "fractions as classes": ([0.5, 1] * 12, "classification", "fractions such as 0.5; pass task='regression'"),
    "text to predict": (["1", "two"] * 12, "regression", "finite numbers", "got 'two' (12 such entries)"),
    "infinite": ([0.5, np.inf] * 12, None, "finite numbers in the target 'y'", "got inf (12 such entries)"),
    "always the same": ([1.5] * N, None, "different numbers in the target 'y'", "got only 1.5 in 24 rows"),
    "dates": (pd.date_range("2020-01-01", periods=N), None, "two rows per class"),
}


@pytest.mark.parametrize(("column", "task", "words"), [(c, t, w) for c, t, *w in TARGETS.values()], ids=TARGETS)
def test_targets_that_cannot_be_used(column, task, words):
    told = message(many(y=column), "y", task=task)
    for word in words:
        assert word in told


def test_many_classes_need_many_rows():
    tall = pd.DataFrame({"x": np.linspace(0, 1, 100), "y": np.arange(100) % 21})
    assert "got 21 different whole numbers in 100 rows" in message(tall, "y")
    assert len(np.unique(hf.read_table(tall, "y", task="classification").y)) == 21
