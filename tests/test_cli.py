import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app, parse_measure, run
from holdfast.datasets import load_example
from holdfast.tables import write_preferences

FEATURES = ("age", "dose", "sex", "pulse", "weight")
SETS = [["age", "dose"], ["age", "sex"], ["dose", "age", "pulse"]]
RUNS = hf.Preferences.from_sets(SETS, features=FEATURES, labels=["a", "b", "c"])
WEIGHTS = hf.Preferences.from_weights(np.random.default_rng(0).normal(size=(4, 5)), features=FEATURES)
DATA = pd.DataFrame(np.random.default_rng(1).normal(size=(30, 5)), columns=list(FEATURES))
DATA["dose"] = DATA["sex"] + 0.1 * DATA["dose"]


@pytest.fixture(autouse=True)
def _narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with selections, data and a similarity in it."""
    monkeypatch.chdir(tmp_path)
    for name in ("runs.csv", "runs.tsv", "runs.parquet", "runs.json"):
        write_preferences(RUNS, name)
    RUNS.to_frame().to_csv("foreign.csv")
    WEIGHTS.to_frame().to_csv("weights.csv", index=False)
    WEIGHTS.to_ranking().to_frame().to_csv("ranks.csv", index=False)
    DATA.assign(target="healthy").to_csv("data.csv", index=False)
    DATA.corr().abs().to_csv("similarity.csv")
    DATA.corr().abs().to_csv("square.csv", index=False)
    lists = "\n".join(" ".join(names) for names in SETS)
    (tmp_path / "runs.txt").write_text(lists)
    (tmp_path / "lists.json").write_text(json.dumps(dict(zip("abc", SETS, strict=True))))
    (tmp_path / "features.txt").write_text("\n".join(FEATURES))
    (tmp_path / "empty_runs.txt").write_text("age dose\n\n\n")
    return tmp_path


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)  # typer colours its own messages where CI systems ask for it


def answer(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert (result.exit_code, result.exception) == (0, None)
    return result


def estimates(*arguments):
    return json.loads(answer("measure", *arguments, "--json").stdout)["estimates"]


def as_dicts(*args, **kwargs):
    return json.loads(json.dumps([estimate.to_dict() for estimate in hf.stability(*args, **kwargs)]))


# Measuring


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs.csv"],
        ["runs.tsv"],
        ["runs.parquet"],
        ["runs.json"],
        ["foreign.csv"],
        ["foreign.csv", "--kind", "subset"],
        ["runs.txt", "--n-features", "5"],
        ["runs.txt", "--features", "features.txt"],
        ["lists.json", "--n-features", "5"],
        ["lists.json", "--features", "features.txt"],
    ],
    ids=" ".join,
)
def test_every_format_gives_the_number_of_the_library(folder, arguments):
    assert estimates(*arguments) == as_dicts(RUNS, ["nogueira"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["runs.csv", "-m", "jaccard", "-m", "nogueira"], lambda: as_dicts(RUNS, ["jaccard", "nogueira"])),
        (["runs.csv", "--measure", "davis:alpha=0.5"], lambda: as_dicts(RUNS, ["davis"], alpha=0.5)),
        (["runs.csv", "-m", "jaccard", "--corrected"], lambda: as_dicts(RUNS, ["jaccard"], corrected=True)),
        (["weights.csv", "--kind", "weighting", "--top", "2"], lambda: as_dicts(WEIGHTS.top(2), ["nogueira"])),
        (["ranks.csv", "--kind", "ranking", "--top", "2"], lambda: as_dicts(WEIGHTS.top(2), ["nogueira"])),
        (
            ["weights.csv", "--kind", "weighting", "-m", "weight_correlation", "-m", "spearman", "-m", "canberra:k=2"],
            lambda: as_dicts(WEIGHTS, ["weight_correlation", "spearman", hf.MEASURES["canberra"].bind(k=2)]),
        ),
        (
            ["ranks.csv", "--kind", "ranking", "-m", "spearman:ties=random,random_state=3"],
            lambda: as_dicts(WEIGHTS.to_ranking(), ["spearman"], ties="random", random_state=3),
        ),
        (
            ["runs.csv", "-m", "pogr:threshold=0.8", "-m", "gulgezen", "-m", "hamming", "--data", "data.csv"],
            lambda: as_dicts(RUNS, [hf.MEASURES["pogr"].bind(threshold=0.8), "gulgezen", "hamming"], data=DATA),
        ),
        (
            ["runs.csv", "-m", "pogr", "--similarity", "similarity.csv"],
            lambda: as_dicts(RUNS, ["pogr"], similarity=DATA.corr().abs()),
        ),
        (
            ["runs.csv", "-m", "zucknick", "-m", "hamming", "--similarity", "square.csv"],
            lambda: as_dicts(RUNS, ["zucknick", "hamming"], similarity=DATA.corr().abs()),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_mean_what_they_mean_in_the_library(folder, arguments, expected):
    assert estimates(*arguments) == expected()


def test_data_matters(folder):
    plain, with_stand_ins = (
        value["value"] for value in estimates("runs.csv", "-m", "pog", "-m", "pogr", "--data", "data.csv")
    )
    assert with_stand_ins > plain


@pytest.mark.parametrize(
    ("undefined", "value", "note"),
    [("nan", None, True), ("skip", 0.0, False), ("0.5", 1 / 6, False), ("-1", -1 / 3, False)],
)
def test_what_is_undefined(folder, undefined, value, note):
    result = answer(
        "measure", "empty_runs.txt", "--n-features", "5", "-m", "jaccard", "--undefined", undefined, "--json"
    )
    (estimate,) = json.loads(result.stdout)["estimates"]
    assert estimate["value"] == (None if value is None else pytest.approx(value))
    assert "jaccard has no value for two empty sets" in estimate["reason"]
    assert ("holdfast: note: The stability is undefined" in result.stderr) == note


def test_json_says_what_was_measured(folder):
    record = json.loads(answer("measure", "weights.csv", "--kind", "weighting", "--top", "3", "--json").stdout)
    assert (record["file"], record["kind"]) == ("weights.csv", "subset")
    (estimate,) = record["estimates"]
    assert (estimate["n_runs"], estimate["n_features"], estimate["mean_size"]) == (4, 5, 3)


def test_a_table_shows_every_measure(folder):
    lines = answer("measure", "runs.csv", "-m", "nogueira", "-m", "davis:alpha=0.5").stdout.splitlines()
    assert lines[0] == "Preferences: 3 subsets of 5 features, 2 to 3 selected each"
    assert lines[1].split() == ["measure", "stability", "note"]
    shown = [(name, float(value)) for name, value in map(str.split, lines[2:])]
    nogueira, davis = hf.stability(RUNS, "nogueira").value, hf.stability(RUNS, "davis", alpha=0.5).value
    assert shown == [("nogueira", round(nogueira, 3)), ("davis(alpha=0.5)", round(davis, 3))]


def test_a_table_says_why_there_is_no_number(folder):
    text = " ".join(answer("measure", "empty_runs.txt", "--n-features", "5", "-m", "jaccard").stdout.split())
    assert "jaccard undefined jaccard has no value for two empty sets" in text


# Other commands


def test_measures_are_listed():
    text = answer("measures").stdout
    assert all(name in text for name in hf.MEASURES)
    assert "[-1, 1]" in text


def test_properties_are_listed():
    lines = answer("measures", "--properties").stdout.splitlines()
    assert all(any(line.split()[:1] == [name] for line in lines) for name in hf.MEASURES)
    (row,) = [line.split() for line in lines if line.split()[:1] == ["weight_correlation"]]
    held = vars(hf.MEASURES["weight_correlation"].properties).values()
    assert row[1:] == ["–" if now is None else now for now in held]


def test_measures_in_json():
    rows = {row["measure"]: row for row in json.loads(answer("measures", "--json").stdout)}
    assert list(rows) == list(hf.MEASURES)
    assert rows["davis"]["parameters"] == "alpha=required"
    assert all(rows[name]["bounded"] == measure.properties.bounded for name, measure in hf.MEASURES.items())


def test_demo_shows_numbers_and_frequencies():
    lines = answer("demo").stdout.splitlines()
    best = load_example().top(10)
    assert [line.split() for line in lines if line.split()[:1] == ["nogueira"]] == [
        ["nogueira", f"{hf.stability(best).value:.3f}"]
    ]
    assert sum("█" in line for line in lines) == np.count_nonzero(best.frequency * 20 >= 0.5)


def test_version():
    assert answer("--version").stdout == f"holdfast {hf.__version__}\n"


def test_help_shows_examples():
    text = plain(answer("measure", "--help").stdout)
    assert "holdfast measure runs.csv" in text
    assert "--n-features" in text


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("nogueira", "nogueira"),
        (" davis : alpha = 0.5", "davis(alpha=0.5)"),
        ("spearman:ties=random,random_state=1", "spearman(ties=random, random_state=1)"),
        ("nogueira:", "nogueira"),
    ],
)
def test_measures_are_parsed(text, label):
    assert parse_measure(text).label == label


# What the user can mend is one sentence on stderr

BAD = {
    "missing file": (["nothing.csv"], "No such file or directory: nothing.csv"),
    "missing Parquet file": (["nothing.parquet"], "No such file or directory: nothing.parquet"),
    "missing features": (["runs.txt", "--features", "nothing.txt"], "No such file or directory: nothing.txt"),
    "missing data": (["runs.csv", "-m", "pogr", "--data", "nothing.csv"], "No such file or directory: nothing.csv"),
    "a folder": (["."], "directory"),
    "misspelled measure": (["runs.csv", "-m", "jacard"], "got 'jacard'; did you mean 'jaccard'?"),
    "no measure": (["runs.csv", "-m", ""], "Expected the name of a measure, got ''"),
    "unknown kind": (["runs.csv", "--kind", "rank"], "Expected kind subset, ranking, weighting, got 'rank'"),
    "another kind": (["runs.csv", "--kind", "ranking"], "Expected rankings in runs.csv", "(--kind)", "got subsets"),
    "kind not said": (["weights.csv"], "Expected 0 and 1 in weights.csv", "(--kind)"),
    "top of subsets": (["runs.csv", "--top", "2"], "Expected rankings or weights in runs.csv for --top, got subsets"),
    "top too large": (["weights.csv", "--kind", "weighting", "--top", "9"], "k from 1 to the 5 features, got 9"),
    "not cut": (["weights.csv", "--kind", "weighting"], "Expected subsets for nogueira, got weightings", "(--top)"),
    "measure of another kind": (["runs.csv", "-m", "kendall"], "Expected rankings for kendall, got subsets"),
    "no universe": (["runs.txt"], "only lists the selected ones", "--n-features", "--features"),
    "universe of a matrix": (["runs.csv", "--n-features", "50"], "Expected 50 features in runs.csv", "matrix of 5"),
    "parameter without value": (["runs.csv", "-m", "davis:alpha"], "NAME:param=value", "got 'davis:alpha'"),
    "unknown parameter": (["runs.csv", "-m", "davis:beta=1"], "parameters of davis (alpha), got 'beta'"),
    "missing parameter": (["runs.csv", "-m", "davis"], "Expected a value for alpha of davis"),
    "text as parameter": (["runs.csv", "-m", "davis:alpha=half"], "a number for alpha of davis, got 'half'"),
    "path as similarity": (["runs.csv", "-m", "pogr:similarity=x.csv"], "similarity of pogr, got 'x.csv'"),
    "no data": (["runs.csv", "-m", "pogr"], "Expected data= or similarity= for pogr"),
    "data and similarity": (["runs.csv", "--data", "data.csv", "--similarity", "square.csv"], "got both; give one"),
    "text as data": (
        ["runs.csv", "-m", "pogr", "--data", "text.csv"],
        "Expected feature values, got 'high' at sample 1, feature 1 ('dose')",
    ),
    "gap in data": (
        ["runs.csv", "-m", "pogr", "--data", "gap.csv"],
        "got nan at sample 2, feature 1 ('dose')",
        "Fill in",
    ),
    "feature not in data": (["runs.csv", "-m", "pogr", "--data", "few.csv"], "got none for 'dose' (1 missing)"),
    "text as similarity": (
        ["runs.csv", "-m", "pogr", "--similarity", "text.csv"],
        "Expected similarities, got 'high' at feature 1",
    ),
    "signed similarity": (["runs.csv", "-m", "pogr", "--similarity", "signed.csv"], "from 0 to 1", "absolute values"),
    "feature not in similarity": (["runs.csv", "-m", "pogr", "--similarity", "small.csv"], "got none for 'weight'"),
    "correction of rankings": (
        ["ranks.csv", "--kind", "ranking", "-m", "kendall", "--corrected"],
        "Expected a measure of subsets to correct",
    ),
    "undefined": (["runs.csv", "--undefined", "zero"], "--undefined nan, skip, raise or a number, got 'zero'"),
    "undefined raises": (
        ["empty_runs.txt", "--n-features", "5", "-m", "jaccard", "--undefined", "raise"],
        "Expected a defined stability, got none",
    ),
}


@pytest.fixture
def bad_folder(folder):
    """More files, each with one thing wrong."""
    data = DATA.head(5).astype(object)
    data.assign(dose=[1, "high", 2, 3, 4]).to_csv("text.csv", index=False)
    data.assign(dose=[1, 2, None, 3, 4]).to_csv("gap.csv", index=False)
    data.drop(columns="dose").to_csv("few.csv", index=False)
    DATA.corr().to_csv("signed.csv")
    DATA.drop(columns="weight").corr().abs().to_csv("small.csv")
    return folder


def failure(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["holdfast", *arguments])
    with pytest.raises(SystemExit) as left:
        run()
    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return plain(err)


@pytest.mark.parametrize(("arguments", "words"), [(first, words) for first, *words in BAD.values()], ids=BAD)
def test_errors_are_one_sentence(bad_folder, monkeypatch, capsys, arguments, words):
    message = failure(["measure", *arguments], monkeypatch, capsys)
    assert message.startswith("holdfast: ")
    assert message.count("\n") == 1
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["measure", "runs.csv", "--knd", "subset"], ["No such option: --knd", "--kind"]),
        (["measure", "runs.csv", "--n-feature", "5"], ["No such option: --n-feature", "--n-features"]),
        (["measures", "--property"], ["No such option: --property", "--properties"]),
        (["measure", "runs.csv", "--top", "few"], ["Invalid value for '--top'"]),
        (["measure"], ["Missing argument"]),
        (["mesure", "runs.csv"], ["No such command 'mesure'"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_a_misspelled_command_line_shows_the_right_one(folder, monkeypatch, capsys, arguments, words):
    message = failure(arguments, monkeypatch, capsys)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "holdfast: No such file or directory: nothing.csv\n"),
        (
            ["runs.csv", "-m", "jacard"],
            "holdfast: Expected the name of a measure, got 'jacard'; did you mean 'jaccard'? "
            "holdfast.MEASURES lists them.\n",
        ),
        (
            ["runs.csv", "--top", "2"],
            "holdfast: Expected rankings or weights in runs.csv for --top, got subsets; leave --top out.\n",
        ),
    ],
    ids=["missing file", "misspelled measure", "top of subsets"],
)
def test_errors_of_the_command_itself(folder, arguments, message):
    command = [sys.executable, "-m", "holdfast", "measure", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_the_command_itself(folder):
    command = [sys.executable, "-m", "holdfast", "measure", "runs.csv", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert json.loads(done.stdout)["estimates"] == as_dicts(RUNS, ["nogueira"])
    assert done.stderr == ""
