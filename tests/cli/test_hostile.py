"""Odd and hostile input: huge claims, files that are not what they seem, names that would command a terminal."""

import ast
import datetime
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import holdfast as hf
from holdfast.checks import MAX_FEATURES, PartialNames
from holdfast.cli import app
from holdfast.cli.terminal import CONTROL_CHARACTERS, console, table, visible, visible_json
from holdfast.io.selections import read_names, read_preferences, write_preferences
from holdfast.resampling import PERTURBATIONS
from holdfast.study.named import named_perturbation

DEEP = "[" * 100_000 + "]" * 100_000
ROWS = pd.DataFrame({"x": np.arange(12.0) ** 2 / 8, "z": np.arange(12.0) % 5})
LABELS = ["a", "b"] * 6


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def output_of(printed_by):
    """Stdout and stderr of the command."""
    return lambda *arguments, code=2: "".join(printed_by(*arguments, code=code))


# Huge claims


@pytest.mark.parametrize("sets", [[["a", "b"], ["a"]], [[0, 1], [1]]], ids=["names", "indices"])
def test_a_huge_number_of_features_is_refused(sets):
    with pytest.raises(ValueError, match="Expected at most 100,000,000 features, got n_features=99999999999"):
        hf.Preferences.from_sets(sets, n_features=99999999999)


def test_a_huge_claim_in_a_file_or_a_matrix_is_refused(here, output_of):
    import scipy.sparse as sp

    record = {"format": "holdfast:preferences", "kind": "subset", "n_features": 10**11, "features": None}
    Path("r.json").write_text(json.dumps({**record, "labels": None, "runs": [[0], [1]]}))
    assert "Expected at most 100,000,000 features" in output_of("measure", "r.json")
    Path("genes.txt").write_text("TP53 BRCA1\nTP53 EGFR\n")
    sentence = output_of("measure", "genes.txt", "--n-features", "99999999999")
    assert "how many were there to choose from?" in sentence
    with pytest.raises(ValueError, match="Expected at most 100,000,000 features"):
        hf.Preferences.from_matrix(sp.csr_array((2, 2**40)))


def test_features_that_were_never_named_cost_nothing():
    runs = hf.Preferences.from_sets([{"a", "b"}, {"a", "c"}], n_features=MAX_FEATURES)
    assert isinstance(runs.names, PartialNames)
    assert runs.names.seen == ("a", "b", "c")
    assert (runs.features[2], runs.features[3], runs.features[-1]) == ("c", "unnamed_3", "unnamed_99999999")
    assert runs.features[1:4] == ["b", "c", "unnamed_3"]
    assert len(runs.features) == MAX_FEATURES
    with pytest.raises(IndexError):
        runs.features[MAX_FEATURES]
    assert runs == hf.Preferences.from_sets([{"a", "b"}, {"a", "c"}], n_features=MAX_FEATURES)
    assert runs != hf.Preferences.from_sets([{"a", "b"}, {"a", "d"}], n_features=MAX_FEATURES)


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet"])
def test_unnamed_features_come_back_from_a_file(here, ending):
    runs = hf.Preferences.from_sets([{"a", "b"}, {"a", "c"}], n_features=6)
    write_preferences(runs, f"runs.{ending}")
    assert read_preferences(f"runs.{ending}") == runs
    assert runs.names == ("a", "b", "c", "unnamed_3", "unnamed_4", "unnamed_5")
    assert list(runs.to_frame().columns) == list(runs.names)
    if ending in ("json", "parquet"):
        big = hf.Preferences.from_sets([{"a", "b"}, {"a", "c"}], n_features=10**7)
        write_preferences(big, f"big.{ending}")
        assert Path(f"big.{ending}").stat().st_size < 10_000
        assert read_preferences(f"big.{ending}") == big


def test_a_feature_that_is_called_like_an_unnamed_one_is_told():
    with pytest.raises(ValueError, match="got 'unnamed_5' for columns 0 and 5"):
        hf.Preferences.from_sets([["unnamed_5"], ["b"]], n_features=8)
    for name in ("unnamed_0", "unnamed_8", "unnamed_05", "unnamed_x"):
        assert hf.Preferences.from_sets([[name], ["b"]], n_features=8).features[0] == name


@pytest.mark.parametrize("n_features", ["3", 2.5, 3.0, True, 0, -1, [3], np.float64(3), None])
@pytest.mark.parametrize("sets", [[["a"], ["b"]], [[0], [1]]], ids=["names", "indices"])
def test_a_number_of_features_is_a_whole_number(sets, n_features):
    with pytest.raises(ValueError, match="n_features"):
        hf.Preferences.from_sets(sets, n_features=n_features)
    assert hf.Preferences.from_sets(sets, n_features=np.int64(3)).n_features == 3


@pytest.mark.parametrize("sets", [5, None, 2.5])
def test_what_is_no_list_of_sets_is_one_sentence(sets):
    with pytest.raises(ValueError, match="Expected one list or set of features per run"):
        hf.Preferences.from_sets(sets, n_features=3)
    for names in ({"features": 5}, {"features": ["a", "b"], "labels": 5}):
        with pytest.raises(ValueError, match="Expected a list of names as"):
            hf.Preferences.from_sets([["a"], ["b"]], **names)


# Files that are not what they seem

NO_JSON = {
    "deep": DEEP,
    "deep inside": f'{{"format": "holdfast:preferences", "runs": {DEEP}}}',
    "digits": f"[[{'9' * 5000}]]",
    "half": "[[1",
}


@pytest.mark.parametrize("content", NO_JSON.values(), ids=NO_JSON)
def test_json_that_cannot_be_read_is_one_sentence(here, content):
    Path("runs.json").write_text(content)
    with pytest.raises(ValueError, match=r"Expected .* in runs\.json, got"):
        read_preferences("runs.json", n_features=3)
    Path("runs.txt").write_text(f"{'9' * 5000}\n1\n")
    with pytest.raises(ValueError, match="got a number of thousands of digits"):
        read_preferences("runs.txt", n_features=3)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=6,
)
RECORD = {"format": "holdfast:preferences", "kind": "subset", "n_features": 3, "features": None, "labels": None}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(["kind", "n_features", "features", "labels", "runs", "unnamed"]), value=ANY)
def test_a_file_of_ours_with_anything_in_it_is_read_or_refused(tmp_path, key, value):
    path = tmp_path / "runs.json"
    for kind in ("subset", "weighting"):
        path.write_text(json.dumps({**RECORD, "kind": kind, "runs": [[0, 1, 2], [1, 2, 0]], key: value}))
        said = []
        try:
            said.append(str(read_preferences(path)))
        except ValueError as error:
            said.append(str(error))
        assert said[0].startswith(("Preferences: ", "Expected "))


METADATA = [b'{"a": 1}', b"\xff", b"[1]", b"5", DEEP.encode(), b'{"kind": "subset"}']


@pytest.mark.parametrize("key", [b"holdfast", b"pandas"])
@pytest.mark.parametrize("metadata", METADATA, ids=range(6))
def test_foreign_metadata_in_parquet_are_left_aside(here, key, metadata):
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet

    made = pyarrow.table({"a": [1, 0, 1, 0], "b": [0.0, 1.0, 1.0, 0.0]}).replace_schema_metadata({key: metadata})
    pyarrow.parquet.write_table(made, "x.parquet")
    pyarrow.feather.write_feather(made, "x.feather")
    assert read_preferences("x.parquet").names == ("a", "b")
    assert hf.read_table("x.parquet", "a").X.columns.tolist() == ["b"]
    assert hf.read_table("x.feather", "a").X.columns.tolist() == ["b"]


def test_metadata_of_ours_on_other_columns_are_checked(here):
    import pyarrow
    import pyarrow.parquet

    made = pyarrow.table({"run": ["a", "b"], "preference": [[0], [1]]})
    for metadata in ('{"kind": "subset"}', '{"kind": "subset", "n_features": "3", "features": null}'):
        pyarrow.parquet.write_table(made.replace_schema_metadata({b"holdfast": metadata.encode()}), "x.parquet")
        with pytest.raises(ValueError, match=r"x\.parquet"):
            read_preferences("x.parquet")


MOMENT = datetime.datetime(2020, 1, 1)
ODD_COLUMNS = {
    "timestamp": [MOMENT, datetime.datetime(9999, 1, 2)],
    "timestamp with gap": [MOMENT, None],
    "date": [MOMENT.date(), MOMENT.date()],
    "time": [MOMENT.time(), MOMENT.time()],
    "duration": [datetime.timedelta(1), datetime.timedelta(2)],
    "list": [[1], [0]],
    "record": [{"q": 1}, {"q": 2}],
    "bytes": [b"a", b"\xff"],
}


@pytest.mark.parametrize("column", ODD_COLUMNS.values(), ids=ODD_COLUMNS)
@pytest.mark.parametrize("kind", [None, "ranking", "weighting"])
def test_columns_of_parquet_that_are_no_numbers_are_one_sentence(here, column, kind):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2], "odd": column}), "x.parquet")
    with pytest.raises(ValueError, match="'odd'"):
        read_preferences("x.parquet", kind=kind)
    with pytest.raises(ValueError, match="'odd'"):
        hf.read_table("x.parquet", "a")
    pyarrow.parquet.write_table(pyarrow.table({"odd": column}), "x.parquet")
    with pytest.raises(ValueError, match="Expected"):
        read_preferences("x.parquet", kind=kind)


@pytest.mark.parametrize("entries", [np.array([["2020-01-01", "2020-01-02"]], "M8[D]"), [[1j, 2]], [[10**400, 1]]])
def test_a_matrix_that_holds_no_numbers_is_one_sentence(entries):
    for read in (hf.Preferences.from_matrix, hf.Preferences.from_rankings, hf.Preferences.from_weights):
        with pytest.raises(ValueError, match="Expected"):
            read(entries)


NO_PATHS = [np.eye(3), None, 5, [[1, 2]], b"x.csv", {"a": [1]}, pd.Series([1]), "", "a\0b.csv"]


@pytest.mark.parametrize("given_", NO_PATHS, ids=map(repr, map(type, NO_PATHS)))
def test_what_is_no_path_is_one_sentence(given_):
    runs = hf.Preferences.from_sets([[0], [1]], n_features=3)
    for call in (
        lambda: hf.read_table(given_, "a"),
        lambda: read_preferences(given_),
        lambda: read_names(given_),
        lambda: write_preferences(runs, given_),
    ):
        with pytest.raises(ValueError, match="Expected the path of a file"):
            call()


def test_the_home_folder_is_expanded_wherever_a_path_is_given(here, monkeypatch, output_of):
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.setenv("USERPROFILE", str(here))
    (here / "elsewhere").mkdir()
    ROWS.assign(ill=LABELS).to_csv("patients.csv", index=False)
    Path("patients.csv").rename(here / "elsewhere" / "p.csv")
    monkeypatch.chdir(here / "elsewhere")
    (here / "study.toml").write_text(
        'data = "~/elsewhere/p.csv"\ntarget = "ill"\nselect = "anova:k=1"\nresamples = 3\n'
    )
    output_of("study", "--config", "~/study.toml", "--quiet", code=0)
    output_of("study", "~/elsewhere/p.csv", "--target", "ill", "-n", 3, "-s", "anova:k=1", "-q", code=0)
    assert len(hf.read_table("~/elsewhere/p.csv", "ill").X) == 12
    write_preferences(hf.Preferences.from_sets([{"a"}, {"b"}], n_features=3), "~/runs.json")
    assert (here / "runs.json").exists()
    (here / "names.txt").write_text("a\nb\nc\n")
    (here / "lists.txt").write_text("a b\na c\n")
    output_of("measure", "~/lists.txt", "--features", "~/names.txt", code=0)
    result = hf.Study(selectors={"anova": hf.selectors.AnovaF(1)}, perturbation=hf.Bootstrap(3)).run(ROWS, LABELS)
    assert result.export("~/tables")[0] == here / "tables" / "summary.parquet"
    assert result.report("~/report.md") == here / "report.md"
    Path("~x.csv").write_text("a,b\n1,0\n0,1\n")  # nobody's home: a name like any other
    assert read_preferences("~x.csv").n_features == 2


# Targets

ODD_TARGETS = {
    "mixed": [1, "a"] * 6,
    "truth and text": [True, "a"] * 6,
    "none": [None, "a"] * 6,
    "only none": [None] * 12,
    "missing": [pd.NA, 1] * 6,
    "records": [{}] * 12,
    "sets": [{1}] * 12,
    "lists of any length": [[1, 2], [3]] * 6,
    "number and tuple": [1, (2, 3)] * 6,
    "number and date": [MOMENT.date(), 1] * 6,
    "complex": [1j, 2] * 6,
    "digits": [10**400, 1] * 6,
}
OBJECTS = {"bytes": [b"a", b"b"] * 6, "objects": [object(), object()] * 6, "dates": [MOMENT.date(), MOMENT] * 6}


@pytest.mark.parametrize("y", [*ODD_TARGETS.values(), *OBJECTS.values()], ids=[*ODD_TARGETS, *OBJECTS])
@pytest.mark.parametrize("form", [list, lambda y: pd.Series(y, dtype=object)], ids=["list", "column"])
def test_a_target_of_odd_things_is_one_sentence(y, form):
    study = hf.Study(selectors={"anova": hf.selectors.AnovaF(1)}, perturbation=hf.Subsample(2))
    lasso, mrmr = hf.selectors.ElasticNetPath(n_features=1), hf.selectors.MRMR(1)
    for call in (lambda y: study.run(ROWS, y), *(one.fit for one in (hf.selectors.AnovaF(1), lasso, mrmr))):
        with pytest.raises(ValueError, match=r"Expected|setting an array") as error:
            call(y=form(y)) if call.__name__ == "<lambda>" else call(ROWS, form(y))
        assert "TypeError" not in str(error.value)


@pytest.mark.parametrize("groups", ODD_TARGETS.values(), ids=ODD_TARGETS)
def test_groups_and_labels_of_odd_things_are_one_sentence(groups):
    study = hf.Study(selectors={"anova": hf.selectors.AnovaF(1)}, perturbation=hf.Subsample(2))
    for call in (
        lambda: study.run(ROWS, LABELS, groups=groups),
        lambda: list(hf.Bootstrap(2).splits(groups)),
        lambda: list(hf.Bootstrap(2).splits(LABELS, groups)),
    ):
        with pytest.raises(ValueError, match="Expected"):
            call()


def test_good_targets_of_every_form_still_work():
    for y in (LABELS, np.array(LABELS, dtype=object), pd.Series(LABELS), pd.Categorical(LABELS), [True, False] * 6):
        selector = hf.selectors.AnovaF(1).fit(ROWS, y)
        assert selector.get_support().sum() == 1
        study = hf.Study(selectors={"anova": hf.selectors.AnovaF(1)}, perturbation=hf.Subsample(2))
        assert study.run(
            ROWS, pd.Series(y), groups=[MOMENT.date(), datetime.date(2021, 1, 1), datetime.date(2022, 1, 1)] * 4
        )


def test_numbers_too_long_for_an_array_are_names_in_a_table():
    table = hf.read_table(ROWS.assign(y=pd.Series([10**400, 1] * 6, dtype=object)), "y")
    assert set(table.y.tolist()) == {"1", str(10**400)}


# Parameters


@pytest.mark.parametrize("fraction", [0.25, np.float64(0.25)])
def test_one_fraction_is_enough_to_shrink(fraction):
    assert hf.NestedSubsamples(3, fractions=fraction) == hf.NestedSubsamples(3, fractions=(fraction,))
    assert hf.NestedSubsamples(3, fractions=0.25).fractions == (0.25, 1.0)


def test_one_fraction_on_the_command_line(here, output_of):
    ROWS.assign(ill=LABELS).to_csv("p.csv", index=False)
    arguments = ["study", "p.csv", "--target", "ill", "-s", "anova:k=1", "-n", "3", "--quiet", "--perturb"]
    output_of(*arguments, "nested_subsamples:fractions=0.25", code=0)
    for wrong in (
        "nested_subsamples:fractions=abc",
        "nested_subsamples:fractions=2",
        "noise:scale=abc",
        "subsample:fraction=true",
    ):
        assert "Expected" in output_of(*arguments, wrong)


@pytest.mark.parametrize("value", ["abc", "none", "1|2", "true"])
def test_parameters_of_measures_are_numbers(here, value, output_of):
    pd.DataFrame([[1, 0, 1], [1, 1, 0], [0, 1, 1]], columns=list("abc")).to_csv("r.csv", index=False)
    pd.DataFrame([[1, 2, 3], [2, 1, 3], [3, 1, 2]], columns=list("abc")).to_csv("w.csv", index=False)
    for measure in ("davis:alpha", "intersection_mbm:threshold", "intersection_mbm:threshold=0.5,draws"):
        data = ["--data", "w.csv"] if "threshold" in measure else []
        assert "Expected" in output_of("measure", "r.csv", "-m", f"{measure}={value}", *data)
    for measure in ("canberra:k", "rank_biased_overlap:p"):
        if (measure, value) != ("canberra:k", "none"):  # which means all
            output_of("measure", "w.csv", "--kind", "ranking", "-m", f"{measure}={value}")
    with pytest.raises(ValueError, match="Expected"):
        hf.stability([[1, 0], [1, 1]], "davis", alpha=None)


def test_other_numbers_out_of_reach_are_one_sentence():
    for call in (
        lambda: hf.Bootstrap(99999999999),
        lambda: hf.Folds(5, n_repeats=10**9),
        lambda: hf.TargetPrecision(1e-300),
        lambda: hf.Study(selectors={"a": hf.selectors.AnovaF(1)}, random_state=-1),
        lambda: hf.selectors.GroupedSelector(hf.selectors.AnovaF(1), threshold="abc").fit(ROWS, LABELS),
    ):
        with pytest.raises(ValueError, match="Expected"):
            call()


VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.lists(st.floats(), max_size=2)
)


@given(name=st.sampled_from(sorted(PERTURBATIONS)), data=st.data())
def test_no_parameter_of_a_perturbation_is_a_crash(name, data):
    fields = sorted(PERTURBATIONS[name].__dataclass_fields__)
    parameters = data.draw(st.dictionaries(st.sampled_from(fields), VALUES, max_size=2))
    said = []
    try:
        said.append(f"{named_perturbation(name, parameters, None).get_n_splits()} splits")
    except ValueError as error:
        said.append(str(error))
    assert said[0].startswith("Expected") or int(said[0].split()[0]) >= 1


# The terminal

HOSTILE = "a\x1b[2Jb\x9b31m[red]\r:smile:\x07\u202e\x7f"


def clean(text):
    return not CONTROL_CHARACTERS.search(text)


@given(text=st.text())
def test_no_text_commands_the_terminal(text):
    assert clean(visible(text))
    assert visible(visible(text)) == visible(text)
    assert json.loads(visible_json(json.dumps([text], ensure_ascii=False))) == [text]
    assert clean(visible_json(json.dumps([text], ensure_ascii=False)))


def test_texts_are_printed_as_they_are_without_markup(capsys):
    rows = table("name", HOSTILE, rows=[[f"{HOSTILE}\n2", "[bold]x[/bold] [0.1, 0.2]"]])
    out = console()
    out.print(rows)
    out.print("[link=http://x]name[/link]", style="bold")
    shown = capsys.readouterr().out
    assert clean(shown)
    for text in (r"a\x1b[2Jb\x9b31m[red]\x0d:smile:\x07\u202e\x7f\n2", "[bold]x[/bold] [0.1, 0.2]", "[link=http://x]"):
        assert text in shown


def test_no_command_sends_a_name_to_the_terminal_as_it_is(here, output_of):
    name = "a\x1b[2J[red]:smile:\x85"
    frame = ROWS.rename(columns={"x": name}).assign(**{f"{name}ill": LABELS, "text": ["p", "q", "r"] * 4})
    data = f"{name}.csv"
    frame.to_csv(data, index=False)
    hf.Preferences.from_matrix([[1, 0], [1, 1], [0, 1]], features=[name, "b"])
    pd.DataFrame({name: [1, 1, 0], "b": [0, 1, 1]}).to_csv(f"runs{name}.csv", index=False)
    pd.DataFrame({name: [1, 1, 0], "b": [0, 1, 1]}).to_csv(f"more{name}.csv", index=False)
    study = ["study", data, "--target", f"{name}ill", "-s", "anova:k=1", "-n", 4, "--estimator", "knn"]
    Path("c.toml").write_text(json.dumps(name) + " = 1")
    toml = f"data = {json.dumps(data)}\ntarget = {json.dumps(name + 'ill')}\nignore = 'text'\nresamples = 4\n[select]\n"
    Path("d.toml").write_text(f"{toml}{json.dumps(name)} = 'anova:k=1|2'\n", encoding="utf-8")
    said = [
        output_of(*study),
        output_of(*study, "--categorical", "one-hot", "--store", f"s{name}.db", code=0),
        output_of("study", "--config", "c.toml"),
        output_of("study", "--config", "d.toml", "--estimator", "linear", "--store", "s.db", code=0),
        *(output_of("show", "s.db", *more, code=0) for more in ([], ["--json"])),
        *(output_of("choose", "s.db", *more, code=0) for more in ([], ["--json"])),
        *(output_of("report", "s.db", *more, code=0) for more in (["-o", f"{name}.md"], ["--json"])),
        *(output_of("measure", f"runs{name}.csv", *more, code=0) for more in ([], ["--json"])),
        output_of("compare", f"runs{name}.csv", f"more{name}.csv", "--paired", code=0),
        output_of("compare", f"runs{name}.csv", f"runs{name}.csv"),
        output_of("export", "s.db", "--parquet", name, code=0),
        output_of("show", f"none{name}.db"),
        output_of("measure", f"none{name}.csv"),
        output_of(name),
        output_of("measure", "a", "b", name),
        output_of("measure", "a", f"--{name}"),
        output_of("measure", "a", "--n-features", name),
    ]
    for text in said:
        assert clean(text), text
    assert sum("[red]:smile:" in text for text in said) >= 12
    assert sum(r"\x1b[2J[red]" in text or r"\u001b[2J[red]" in text for text in said) >= 10


def test_an_unexpected_error_is_shown_without_commanding_the_terminal(monkeypatch, output_of):
    def fail(*_, **__):
        raise KeyError("\x1b[2J")

    monkeypatch.setattr("holdfast.measures.properties", fail)
    text = output_of("measures", "--json", code=1)
    assert "Traceback" in text
    assert clean(text)


def test_commands_print_through_one_door():
    folder = Path(sys.modules["holdfast.cli"].__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if path.name != "terminal.py" and isinstance(node, ast.Call):
                assert getattr(node.func, "id", "") != "print", path.name
                assert getattr(node.func, "attr", "") != "echo", path.name
            if isinstance(node, ast.ImportFrom):
                assert node.module != "rich.markup", path.name
                assert path.name == "terminal.py" or not (node.module or "").startswith("rich"), path.name


def test_help_still_shows_what_belongs_to_it():
    shown = CliRunner().invoke(app, ["study", "--help"])
    assert shown.exit_code == 0
    assert "--allow" in shown.output
