import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from holdfast import Preferences
from holdfast.io.loading import load_frame
from holdfast.io.questions import ReadingError
from holdfast.io.selections import read_names, read_preferences, write_preferences

ENDINGS = (".csv", ".tsv", ".json", ".parquet")
FEATURES, LABELS = ("age", "dose", "sex"), ("r", "s")

SUBSETS = [[1, 0, 1], [0, 0, 0]]
RANKS = [[1, 2, 3], [2.5, 2.5, 1]]
WEIGHTS = [[1 / 3, -1e-300, 1e300], [0.1, 5e-324, 0]]
KINDS = {
    "subset": (Preferences.from_matrix, SUBSETS),
    "ranking": (Preferences.from_rankings, RANKS),
    "weighting": (Preferences.from_weights, WEIGHTS),
}
OWN_NAMES = {
    "none": None,
    "plain": FEATURES,
    "signs": ('a,"b"', "c\td;'", "λ é 中\n%"),
    "like gaps": ("", "NA", "nan"),
    "counting from 1": ("1", "2", "3"),
    "numbers out of order": ("1", "0", "2"),
    "nearly one number": ("1.0", "1", "01"),
    "of label columns": ("run", "label", "holdfast:subset"),
    "with blanks": (" a", "a", "a "),
}
OWN_LABELS = {
    "none": None,
    "plain": LABELS,
    "numbers": ("0", "1"),
    "nearly one number": ("01", "1.0"),
    "like gaps": ("NA", "None"),
    "one empty": ("", "x"),
    "signs": ('a,"b"', "c\td\n"),
    "truth": ("True", "False"),
}


def written(path, text):
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def selections(preferences):
    return [preferences.selected(run) for run in range(len(preferences))]


# Our own files


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", OWN_NAMES.values(), ids=OWN_NAMES)
@pytest.mark.parametrize("labels", [None, LABELS], ids=["unlabeled", "labeled"])
def test_files_give_back_what_was_written(tmp_path, ending, kind, names, labels):
    make, values = KINDS[kind]
    preferences = make(values, features=names, labels=labels)
    write_preferences(preferences, tmp_path / f"runs{ending}")
    assert read_preferences(tmp_path / f"runs{ending}") == preferences
    assert read_preferences(str(tmp_path / f"runs{ending}"), kind=kind, n_features=3) == preferences


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("labels", OWN_LABELS.values(), ids=OWN_LABELS)
def test_labels_come_back_as_written(tmp_path, ending, labels):
    preferences = Preferences.from_matrix(SUBSETS, labels=labels)
    write_preferences(preferences, tmp_path / f"runs{ending}")
    assert read_preferences(tmp_path / f"runs{ending}").labels == labels


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t,;\"'#"), max_size=4)


def names_of_length(n):
    # a single run labeled "" is written like one without a label
    return st.none() | st.lists(TEXT, min_size=n, max_size=n, unique=True).filter(lambda names: names != [""])


@st.composite
def any_preferences(draw):
    kind = draw(st.sampled_from(sorted(KINDS)))
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=4))
    entries = {
        "subset": st.integers(0, 1),
        "ranking": st.integers(1, shape[1]),
        "weighting": st.floats(allow_nan=False, allow_infinity=False),
    }[kind]
    values = draw(hnp.arrays(float, shape, elements=entries))
    names, labels = draw(names_of_length(shape[1])), draw(names_of_length(shape[0]))
    return KINDS[kind][0](values, features=names, labels=labels)


@pytest.mark.parametrize("ending", ENDINGS)
@given(any_preferences())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_preferences_come_back(tmp_path, ending, preferences):
    write_preferences(preferences, tmp_path / f"runs{ending}")
    assert read_preferences(tmp_path / f"runs{ending}") == preferences


def test_json_and_parquet_keep_index_lists(tmp_path):
    sparse = Preferences.from_sets([[5, 999_999], []], n_features=1_000_000)
    for ending in (".json", ".parquet"):
        write_preferences(sparse, tmp_path / f"runs{ending}")
        assert (tmp_path / f"runs{ending}").stat().st_size < 5000
        assert read_preferences(tmp_path / f"runs{ending}") == sparse


# Tables made elsewhere

FOREIGN = {
    "plain": ("a,b\n1,0\n0,1\n", "ab", None),
    "no end of line": ("a,b\n1,0\n0,1", "ab", None),
    "blank line at the end": ("a,b\n1,0\n0,1\n\n", "ab", None),
    "run": ("run,a,b\n1,1,0\n2,0,1\n", "ab", "12"),
    "Run": ("Run,a,b\n01,1,0\nNA,0,1\n", "ab", ("01", "NA")),
    "resample": ("resample,a,b\n0.5,1,0\nx,0,1\n", "ab", ("0.5", "x")),
    "a label left out": ("run,a,b\nx,1,0\n,0,1\n", "ab", ("x", "")),
    "text first": ("fold,a,b\nx,1,0\ny,0,1\n", "ab", "xy"),
    "text first, nearly numbers": ("fold,a,b\n1_1,1,0\n1_2,0,1\n", "ab", ("1_1", "1_2")),
    "pandas, plain index": (pd.DataFrame({"a": [1, 0], "b": [0, 1]}).to_csv(), "ab", "01"),
    "pandas, index": (pd.DataFrame({"a": [1, 0], "b": [0, 1]}, index=["x", "y"]).to_csv(), "ab", "xy"),
    "pandas, no index": (pd.DataFrame({"a": [1, 0], "b": [0, 1]}).to_csv(index=False), "ab", None),
    "pandas, no names": (pd.DataFrame([[1, 0], [0, 1]]).to_csv(index=False), None, None),
    "pandas, index saved twice": ("Unnamed: 0,a,b\n0,1,0\n1,0,1\n", "ab", "01"),
    "polars": (pl.DataFrame({"a": [1, 0], "b": [0, 1]}).write_csv(), "ab", None),
    "polars bool": (pl.DataFrame({"a": [True, False], "b": [False, True]}).write_csv(), "ab", None),
    "R, write.csv": ('"","a","b"\n"1",1,0\n"2",0,1\n', "ab", "12"),
    "R, write.csv of logical": ('"","a","b"\n"1",TRUE,FALSE\n"2",FALSE,TRUE\n', "ab", "12"),
    "R, no row names": ('"a","b"\nTRUE,FALSE\nFALSE,TRUE\n', "ab", None),
    "R, write.table": ('"a","b"\n"1",1,0\n"2",0,1\n', "ab", "12"),
    "R, write.table with row names": ('"a","b"\n"x",1,0\n"y",0,1\n', "ab", "xy"),
    "bool": ("a,b\nTrue,False\nFalse,True\n", "ab", None),
    "floats": ("a,b\n1.0,0.0\n0.0,1.0\n", "ab", None),
    "names in quotes": ('run,"a,1","b ""q"""\nx,1,0\ny,0,1\n', ("a,1", 'b "q"'), "xy"),
    "names by number": ("1007,1053\n1,0\n0,1\n", ("1007", "1053"), None),
    "names by decimals": ("1.5,2.5\n1,0\n0,1\n", ("1.5", "2.5"), None),
    "names that count": ("0,1\n1,0\n0,1\n", None, None),
    "like names of pandas": ("a,a.1\n1,0\n0,1\n", ("a", "a.1"), None),
    "Windows": ("run,a,b\r\nx,1,0\r\ny,0,1\r\n", "ab", "xy"),
    "byte order mark": ("\ufeffrun,a,b\nx,1,0\ny,0,1\n", "ab", "xy"),
    "semicolons": ("run;a;b\nx;1;0\ny;0;1\n", "ab", "xy"),
    "unknown mark": ("holdfast:other,a,b\nx,1,0\ny,0,1\n", "ab", "xy"),
}


@pytest.mark.parametrize("name", ["runs.csv", "runs.tsv", "runs.csv.gz", "runs.tsv.gz", "RUNS.CSV"])
@pytest.mark.parametrize(("text", "names", "labels"), FOREIGN.values(), ids=FOREIGN)
def test_tables_made_elsewhere(tmp_path, name, text, names, labels):
    if ".tsv" in name:
        text = text.replace(",", "\t")
        names = names and [name.replace(",", "\t") for name in names]
    expected = Preferences.from_matrix([[1, 0], [0, 1]], features=names, labels=labels)
    assert read_preferences(written(tmp_path / name, text)) == expected


PARQUET = {
    "pandas": (pd.DataFrame({"a": [1, 0], "b": [0, 1]}), None),
    "pandas, index": (pd.DataFrame({"a": [1, 0], "b": [0, 1]}, index=["x", "y"]), "xy"),
    "pandas, column of labels": (pd.DataFrame({"run": [1, 2], "a": [1, 0], "b": [0, 1]}), "12"),
    "pandas, column of text": (pd.DataFrame({"fold": ["x", "y"], "a": [1, 0], "b": [0, 1]}), "xy"),
    "pandas, nullable": (pd.DataFrame({"a": [1, 0], "b": [0, 1]}, dtype="Int64"), None),
    "pandas, bool": (pd.DataFrame({"a": [True, False], "b": [0, 1]}), None),
}


@pytest.mark.parametrize(("frame", "labels"), PARQUET.values(), ids=PARQUET)
def test_parquet_made_elsewhere(tmp_path, frame, labels):
    frame.to_parquet(tmp_path / "runs.parquet")
    expected = Preferences.from_matrix([[1, 0], [0, 1]], features="ab", labels=labels)
    assert read_preferences(tmp_path / "runs.parquet") == expected
    pl.from_pandas(frame, include_index=labels == "xy" and "fold" not in frame).write_parquet(tmp_path / "two.parquet")
    assert read_preferences(tmp_path / "two.parquet") == expected


@pytest.mark.parametrize("kind", ["ranking", "weighting"])
def test_ranks_and_weights_must_be_said(tmp_path, kind):
    path = written(tmp_path / "runs.csv", "run,a,b\nx,1,2\ny,2,1\n")
    expected = KINDS[kind][0]([[1, 2], [2, 1]], features="ab", labels="xy")
    assert read_preferences(path, kind=kind) == expected
    with pytest.raises(ValueError, match=r"Expected 0 and 1 in .*runs.csv, got 2; .* kind='ranking' .*"):
        read_preferences(path)


def test_zeros_and_ones_can_be_said_to_be_weights(tmp_path):
    path = written(tmp_path / "runs.csv", "a,b\n1,0\n0,1\n")
    assert read_preferences(path, kind="weighting").kind == "weighting"
    assert read_preferences(path, kind="subset") == read_preferences(path)


# Lists

LISTS = {
    "blanks": ("age  dose\nsex\n", [["age", "dose"], ["sex"]]),
    "commas": ("age, dose\nsex\n", [["age", "dose"], ["sex"]]),
    "semicolons": ("age; dose\nsex\n", [["age", "dose"], ["sex"]]),
    "tabs": ("age\tdose\nsex\n", [["age", "dose"], ["sex"]]),
    "blanks in names": ("white cells, age\nwhite cells\n", [["white cells", "age"], ["white cells"]]),
    "commas in names": ("a,1\tb\na,1\n", [["a,1", "b"], ["a,1"]]),
    "comma at the end": ("age, dose,\nsex,\n", [["age", "dose"], ["sex"]]),
    "no end of line": ("age dose\nsex", [["age", "dose"], ["sex"]]),
    "Windows": ("age dose\r\n\r\nsex\r\n", [["age", "dose"], [], ["sex"]]),
    "byte order mark": ("\ufeffage dose\n", [["age", "dose"]]),
    "empty line": ("age dose\n\nsex\n", [["age", "dose"], [], ["sex"]]),
    "empty line first": ("\nage\n", [[], ["age"]]),
    "empty line last": ("age\n\n", [["age"], []]),
    "only an empty line": ("\n", [[]]),
    "indices": ("3 0\n2\n", [[0, 3], [2]]),
    "no decimal digits": ("² 1\n", [["²", "1"]]),
}


@pytest.mark.parametrize("name", ["runs.txt", "runs", "runs.txt.gz", "runs.list"])
@pytest.mark.parametrize(("text", "runs"), LISTS.values(), ids=LISTS)
def test_lists_in_text(tmp_path, name, text, runs):
    preferences = read_preferences(written(tmp_path / name, text), n_features=5)
    assert selections(preferences) == runs
    assert preferences.n_features == 5


@pytest.mark.parametrize(("text", "fewest"), [("0 3\n2\n", 4), ("age sex\nage\n", 2)])
def test_lists_offer_the_fewest_features_there_can_have_been(tmp_path, text, fewest):
    path = written(tmp_path / "runs.txt", text)
    with pytest.raises(ReadingError) as refused:
        read_preferences(path)
    ((answer, _),) = refused.value.question.choices
    assert read_preferences(path, **refused.value.question.answer(answer)).n_features == fewest


@pytest.mark.parametrize("name", ["runs.json", "runs.json.gz"])
@pytest.mark.parametrize(
    ("content", "runs", "labels"),
    [
        ([["age", "sex"], []], [["age", "sex"], []], None),
        ({"x": ["age", "sex"], "y": []}, [["age", "sex"], []], ("x", "y")),
        ([[3, 0], [2]], [[0, 3], [2]], None),
        ({"1": [3, 0]}, [[0, 3]], ("1",)),
        ([["3", "0"]], [[0, 3]], None),
    ],
    ids=["list", "object", "indices", "object of indices", "indices in quotes"],
)
def test_lists_in_json(tmp_path, name, content, runs, labels):
    preferences = read_preferences(written(tmp_path / name, json.dumps(content)), n_features=5)
    assert (selections(preferences), preferences.labels) == (runs, labels)


def test_lists_with_the_names_of_all_features(tmp_path):
    expected = Preferences.from_sets([["sex", "age"], []], features=FEATURES)
    names = read_names(written(tmp_path / "names.txt", "age\n dose \n\nsex\n"))
    assert names == list(FEATURES)
    assert read_preferences(written(tmp_path / "runs.txt", "sex age\n\n"), features=iter(names)) == expected
    assert read_preferences(written(tmp_path / "runs.json", '[["sex", "age"], []]'), features=names) == expected
    assert read_preferences(written(tmp_path / "by_index.json", "[[2, 0], []]"), features=names) == expected


# Other tables


def test_a_frame_keeps_its_columns(tmp_path):
    path = written(tmp_path / "data.csv", "id,age,age,1\np1,0.5,1,\np2,2,0,3\n")
    frame = load_frame(path).frame
    assert list(frame.columns) == ["id", "age", "age", "1"]
    assert frame.iloc[:, 1].tolist() == [0.5, 2]
    assert frame["id"].tolist() == ["p1", "p2"]
    assert frame["1"].isna().tolist() == [True, False]
    frame.columns = list("wxyz")
    frame.to_parquet(tmp_path / "data.parquet")
    pd.testing.assert_frame_equal(load_frame(tmp_path / "data.parquet").frame, frame)


# Bad files

BAD = {
    "line too short": ("r.csv", "a,b,c\n1,0,1\n1,0\n", {}, "3 columns in every line", "got 2 in line 3", "fix it"),
    "line too long": ("r.csv", "a,b,c\n1,0,1\n1,0,1,1\n", {}, "3 columns in every line", "got 4 in line 3", "fix it"),
    "first line too long": ("r.tsv", "a\tb\n1\t0\t1\n1\t0\n", {}, "2 columns in every line", "got 3 in line 2"),
    "packed line too short": ("r.csv.gz", "run,a,b\nx,1,0\ny,0\n", {}, "3 columns in every line", "got 2 in line 3"),
    "after a name of two lines": ("r.csv", '"a\n1",b\n1,0\n1\n', {}, "2 columns in every line", "got 1 in line 4"),
    "quote not closed": ("r.csv", 'a,"b\n1,0\n', {}, "Expected a table", "EOF inside string"),
    "too few names": ("r.csv", "a,b\n1,0,1\n0,0,1\n", {}, "header", "names, 2, got 3", "is a name missing"),
    "too many names": ("r.csv", "a,b,c\n1,0\n0,1\n", {}, "header", "names, 3, got 2", "separator inside a name"),
    "no header": ("r.csv", "1,0,1\n0,1,1\n", {}, "feature names in the first line", "add a header"),
    "no header, two columns": ("r.csv", "1,0\n0,1\n", {}, "feature names in the first line", "add a header"),
    "no header, weights": ("r.tsv", "0.5\t0.5\n1\t0\n", {"kind": "weighting"}, "in the first line", "add a header"),
    "only a header": ("r.csv", "a,b\n", {}, "a header line and one line per run", "add the missing lines"),
    "empty csv": ("r.csv", "", {}, "a header line and one line per run", "add the missing lines"),
    "blank tsv": ("r.tsv", "\n\n", {}, "a header line and one line per run", "add the missing lines"),
    "empty text": ("r.txt", "", {"n_features": 3}, "zero runs", "add a run"),
    "empty JSON": ("r.json", "", {"n_features": 3}, "Expected JSON", "in line 1"),
    "only labels": ("r.csv", "run\nx\ny\n", {}, "zero features"),
    "gap": ("r.csv", "run,a,b\nx,1,\ny,0,1\n", {}, "nan at run 0 ('x'), feature 1 ('b')", "Make gaps"),
    "text": ("r.csv", "a,b\n1,1\n0,x\n", {}, "'x' at run 1, feature 1 ('b').", "Make gaps and texts 0 or 1"),
    "text in the first column": ("r.csv", "a,b\n1,1\nx,0\n", {}, "'x' at run 1, feature 0 ('a')."),
    "text among weights": ("r.csv", "a,b\n1,2\n0,x\n", {"kind": "weighting"}, "'x' at run 1, feature 1 ('b');"),
    "ranks from 0": ("r.csv", "a,b\n1,0\n0,1\n", {"kind": "ranking"}, "0.0 at run 0, feature 1 ('b')", "Add 1"),
    "name twice": ("r.csv", "a,b,a\n1,0,0\n", {}, "'a' for columns 0 and 2", "rename"),
    "label twice": ("r.csv", "run,a\nx,1\nx,0\n", {}, "'x' for runs 0 and 1", "rename"),
    "unknown kind": ("r.csv", "a,b\n1,0\n", {"kind": "rank"}, "Expected kind subset, ranking, weighting, got 'rank'"),
    "kind of lists": ("r.txt", "a b\n", {"kind": "ranking", "n_features": 3}, "rankings", "kind= says", "got subsets"),
    "another kind": ("r.csv", "holdfast:weighting,a,b\n,1,0\n", {"kind": "subset"}, "subsets", "got weightings"),
    "more features": ("r.csv", "a,b\n1,0\n", {"n_features": 9}, "9 features", "a matrix of 2", "add the columns"),
    "other features": ("r.csv", "a,b\n1,0\n", {"features": "abc"}, "3 features", "a matrix of 2", "or features="),
    "text, no universe": ("r.txt", "a b\n", {}, "number of features", "n_features=", "features="),
    "JSON, no universe": ("r.json", '[["a"]]', {}, "number of features", "n_features="),
    "name of no feature": ("r.txt", "a q\n", {"features": "abc"}, "got 'q' in run 0", "Add it to features="),
    "index of no feature": ("r.txt", "0 3\n", {"n_features": 3}, "got 3 in run 0", "from 0 to 2"),
    "repeats": ("r.txt", "a\nb b\n", {"n_features": 3}, "'b' 2 times in run 1", "remove the repeats"),
    "no JSON": ("r.json", '[["a"],\n["b"', {"n_features": 3}, "Expected JSON", "got something else in line 2"),
    "other JSON: number": ("r.json", "3", {"n_features": 3}, "list of lists of features", "got other JSON"),
    "other JSON: texts": ("r.json", '["ab"]', {"n_features": 3}, "list of lists of features", "got other JSON"),
    "other JSON: nested": ("r.json", '[[["a"]]]', {"n_features": 3}, "list of lists of features", "got other JSON"),
    "other JSON: truth": ("r.json", "[[true, false]]", {"n_features": 3}, "list of lists", "got other JSON"),
    "other JSON: object": ("r.json", '{"x": 1}', {"n_features": 3}, "object from run label to list"),
    "half a record": ("r.json", '{"format": "holdfast:preferences"}', {}, "Expected 'features'", "write it again"),
    "no Parquet": ("r.parquet", "a,b\n1,0\n", {}, "Expected a Parquet file", "got something else"),
}


@pytest.mark.parametrize(
    ("name", "text", "options", "words"),
    [(name, text, options, words) for name, text, options, *words in BAD.values()],
    ids=BAD,
)
def test_bad_files_are_told_in_one_sentence(tmp_path, name, text, options, words):
    path = written(tmp_path / name, text)
    with pytest.raises(ValueError, match=r"^Expected [^\n]*[.?]$") as caught:
        read_preferences(path, **options)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"a,b\n1,0\n", gzip.compress(b"a,b\n1,0\n" * 50)[:20]], ids=["not packed", "cut off"]
)
@pytest.mark.parametrize("name", ["runs.csv.gz", "runs.txt.gz"])
def test_a_broken_archive(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"Expected a packed file, as .*{name} ends in .gz"):
        read_preferences(tmp_path / name, n_features=3 if "txt" in name else None)


@pytest.mark.parametrize("ending", [*ENDINGS, ".txt", ".csv.gz"])
def test_a_missing_file_is_named(tmp_path, ending):
    with pytest.raises(FileNotFoundError) as caught:
        read_preferences(tmp_path / f"missing{ending}", n_features=3)
    assert str(caught.value.filename) == str(tmp_path / f"missing{ending}")


@pytest.mark.parametrize("name", ["runs.txt", "runs", "runs.xlsx", "runs.csv.gz"])
def test_writing_takes_four_endings(tmp_path, name):
    message = rf"Expected a file ending in \.csv, \.tsv, \.json or \.parquet, got '{name}'"
    with pytest.raises(ValueError, match=message):
        write_preferences(Preferences.from_matrix(np.eye(2)), tmp_path / name)
    assert not (tmp_path / name).exists()


def test_names_must_be_there(tmp_path):
    with pytest.raises(ValueError, match=r"Expected one feature name per line in .*, got an empty file"):
        read_names(written(tmp_path / "names.txt", "\n \n"))
    assert read_names(written(tmp_path / "names.txt", "\ufeffa\r\nb")) == ["a", "b"]


@pytest.mark.parametrize("damage", [{"n_features": "x"}, {"runs": 5}, {"kind": "set"}])
def test_a_damaged_file_of_ours_gets_a_sentence(tmp_path, damage):
    path = tmp_path / "runs.json"
    write_preferences(Preferences.from_sets([{0}, {1}], n_features=3), path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    with pytest.raises(ValueError, match=r"damaged one: .*runs\.json; write it again"):
        read_preferences(path)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [1, 2, 3], [0.5, 1, 10]])
def test_runs_in_excel_keep_their_labels(tmp_path, labels):
    file = tmp_path / "runs.xlsx"
    pd.DataFrame({"run": labels, "age": [1, 1, 0], "dose": [0, 1, 1]}).to_excel(file, index=False)
    runs = read_preferences(file)
    assert runs.labels == tuple(map(str, labels))
    assert list(runs.features) == ["age", "dose"]
