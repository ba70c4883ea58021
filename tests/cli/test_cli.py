import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app, run
from holdfast.cli.options import parse_measure
from holdfast.io.selections import write_preferences
from holdfast.text import format_interval, format_number, format_p_value

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
    return re.sub(r"\x1b\[[0-9;]*m", "", text)  # typer colors its own messages where CI systems ask for it


def answer(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert (result.exit_code, result.exception) == (0, None)
    return result


def strict_json(text):
    """Read JSON that every reader takes: without NaN and Infinity."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def estimates(*arguments):
    return strict_json(answer("measure", *arguments, "--json").stdout)["estimates"]


def as_dicts(*args, level=0.95, **kwargs):
    return json.loads(json.dumps([estimate.to_dict(level) for estimate in hf.stability(*args, **kwargs)]))


def cells(line):
    """The columns of a table's line, which are two spaces apart or more."""
    return re.split(r"\s{2,}", line.strip())


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
        (["runs.csv", "--level", "0.8"], lambda: as_dicts(RUNS, ["nogueira"], level=0.8)),
        (["runs.csv", "--method", "asymptotic"], lambda: as_dicts(RUNS, ["nogueira"], method="asymptotic")),
        (
            ["runs.csv", "-m", "nogueira", "-m", "jaccard", "--method", "bootstrap", "--level", "0.9"],
            lambda: as_dicts(RUNS, ["nogueira", "jaccard"], method="bootstrap", level=0.9),
        ),
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
            lambda: as_dicts(RUNS, [hf.MEASURES["pogr"].bind(threshold=0.8), "gulgezen", "hamming"], X=DATA),
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
    assert "jaccard is undefined for two empty sets" in estimate["reason"]
    assert ("holdfast: note: The stability is undefined" in result.stderr) == note


def test_json_says_what_was_measured(folder):
    record = json.loads(answer("measure", "weights.csv", "--kind", "weighting", "--top", "3", "--json").stdout)
    assert (record["file"], record["kind"]) == ("weights.csv", "subset")
    (estimate,) = record["estimates"]
    assert (estimate["n_runs"], estimate["n_features"], estimate["mean_size"]) == (4, 5, 3)


def test_a_table_shows_every_measure(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    arguments = ["-m", "nogueira", "-m", "davis:alpha=0.5", "-m", "hamming", "--level", "0.9"]
    lines = answer("measure", "runs.csv", *arguments).stdout.splitlines()
    assert lines[0] == "Preferences: 3 subsets of 5 features, 2 to 3 selected each"
    nogueira, davis, hamming = hf.stability(RUNS, ["nogueira", "davis", "hamming"], alpha=0.5)
    assert lines[1] == f"Two runs share {nogueira.mean_overlap:.1f} of 2.3 features on average."
    assert lines[2] == f"Intervals describe {nogueira.scope}."
    assert cells(lines[3]) == ["measure", "stability", "90 % interval", "strength", "note"]

    def shown(estimate):
        low, high = estimate.ci(0.9)
        return [estimate.measure, f"{estimate.value:.3f}", f"[{low:.3f}, {high:.3f}]".replace("-", "−")]

    assert [cells(line) for line in lines[4:]] == [
        [*shown(nogueira), nogueira.strength],
        ["davis(alpha=0.5)", f"{davis.value:.3f}", "–", davis.no_interval],
        [*shown(hamming), "interval not validated"],
    ]


def test_a_table_shows_no_overlap_as_zero(folder):
    lines = answer("measure", "empty_runs.txt", "--n-features", "5").stdout.splitlines()
    assert lines[1] == "Two runs share 0.0 of 0.7 features on average."


def test_a_table_says_why_there_is_no_number(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = answer("measure", "empty_runs.txt", "--n-features", "5", "-m", "jaccard").stdout.splitlines()
    name, value, interval, note = cells(lines[-1])
    assert (name, value, interval) == ("jaccard", "undefined", "–")
    assert note.startswith("jaccard is undefined for two empty sets")


def test_a_table_says_why_there_is_no_interval(folder):
    write_preferences(RUNS.take([0, 1]), "two.csv")
    assert cells(answer("measure", "two.csv").stdout.splitlines()[-1])[-1] == "at least three runs are needed"


# Comparing

LABELS = [f"resample {run}" for run in range(9)]
SCORES = {
    name: hf.Preferences.from_weights(boost * np.linspace(3, -3, 12) + np.random.default_rng(seed).normal(size=(9, 12)))
    for seed, (name, boost) in enumerate({"steady": 3.0, "shaky": 0.3, "calm": 2.5}.items())
}
SELECTIONS = {name: scores.top(4) for name, scores in SCORES.items()}
SIMILAR = np.abs(np.corrcoef(np.random.default_rng(9).normal(size=(30, 12)), rowvar=False))


@pytest.fixture
def rivals(tmp_path, monkeypatch):
    """The current folder, with the selections of three selectors in it, labeled and not."""
    monkeypatch.chdir(tmp_path)
    for name, runs in SELECTIONS.items():
        write_preferences(runs, f"{name}.csv")
        write_preferences(labeled(runs, LABELS), f"{name}_labeled.csv")
        SCORES[name].to_frame().to_csv(f"{name}_scores.csv", index=False)
    write_preferences(labeled(SELECTIONS["shaky"], LABELS).take(range(8, -1, -1)), "shaky_reversed.csv")
    write_preferences(labeled(SELECTIONS["shaky"], ["other" + label for label in LABELS]), "shaky_elsewhere.csv")
    pd.DataFrame(SIMILAR).to_csv("similar.csv", index=False)
    write_preferences(hf.Preferences.from_sets([{0, 1}] * 5, n_features=12), "agree.csv")
    write_preferences(hf.Preferences.from_sets([{2, 3}] * 5, n_features=12), "agree_too.csv")
    write_preferences(hf.Preferences.from_sets([{2 * i, 2 * i + 1} for i in range(5)], n_features=12), "apart.csv")
    for place in ("first", "second"):
        (tmp_path / place).mkdir()
    write_preferences(SELECTIONS["steady"], "first/runs.csv")
    write_preferences(SELECTIONS["shaky"], "second/runs.csv")
    return tmp_path


def labeled(runs, labels):
    return hf.Preferences.from_matrix(runs.to_sparse(), labels=labels)


def compared(*arguments):
    return strict_json(answer("compare", *arguments, "--json").stdout)


def many(names, *args, selections=SELECTIONS, **kwargs):
    """What the library says, as the command should print it."""
    found = hf.compare_many({name: selections[name] for name in names}, *args, **kwargs)
    return {
        "measure": found.pairs.loc[0, "measure"],
        "level": found.level,
        "selections": found.to_frame().to_dict(orient="records"),
        "pairs": found.pairs.to_dict(orient="records"),
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["steady.csv", "shaky.csv", "--paired"], lambda: many(["steady", "shaky"], paired=True)),
        (["steady.csv", "shaky.csv", "--independent"], lambda: many(["steady", "shaky"], paired=False)),
        (["shaky.csv", "steady.csv", "--paired"], lambda: many(["shaky", "steady"], paired=True)),
        (
            ["steady.csv", "shaky.csv", "calm.csv", "--independent", "--level", "0.8"],
            lambda: many(["steady", "shaky", "calm"], paired=False, level=0.8),
        ),
        (
            ["steady.csv", "shaky.csv", "--paired", "-m", "jaccard"],
            lambda: many(["steady", "shaky"], "jaccard", paired=True),
        ),
        (
            ["steady.csv", "shaky.csv", "--paired", "-m", "pogr:threshold=0.2", "--similarity", "similar.csv"],
            lambda: many(["steady", "shaky"], "pogr", paired=True, threshold=0.2, similarity=SIMILAR),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_comparisons_are_those_of_the_library(rivals, arguments, expected):
    assert compared(*arguments) == {"schema": "holdfast.comparison/1", **expected()}


@pytest.mark.parametrize(
    ("second", "options", "design"),
    [
        ("shaky_labeled", [], "paired"),
        ("shaky_reversed", [], "paired"),
        ("shaky_elsewhere", [], "independent"),
        ("shaky_labeled", ["--independent"], "independent"),
    ],
)
def test_labels_tell_whether_runs_are_pairs(rivals, second, options, design):
    (pair,) = compared("steady_labeled.csv", f"{second}.csv", *options)["pairs"]
    expected = hf.compare(SELECTIONS["steady"], SELECTIONS["shaky"], paired=design == "paired")
    assert pair["design"] == design
    assert (pair["first_name"], pair["second_name"]) == ("steady_labeled", second)
    assert pair["standard_error"] == pytest.approx(expected.standard_error)
    assert pair["p_value"] == pytest.approx(expected.p_value)


@pytest.mark.parametrize(
    ("options", "runs", "measure"),
    [
        (["--top", "4"], SELECTIONS, "nogueira"),
        (["--top", "2", "-m", "jaccard"], {name: scores.top(2) for name, scores in SCORES.items()}, "jaccard"),
        (["-m", "weight_correlation"], SCORES, "weight_correlation"),
        (["-m", "canberra:k=3"], SCORES, hf.MEASURES["canberra"].bind(k=3)),
    ],
    ids=["top 4", "top 2", "weights", "parameter"],
)
def test_scores_are_compared_as_they_are_or_cut(rivals, options, runs, measure):
    found = compared("steady_scores.csv", "shaky_scores.csv", "--kind", "weighting", "--paired", *options)
    (pair,) = found["pairs"]
    expected = hf.compare(runs["steady"], runs["shaky"], measure, paired=True)
    assert (pair["first"], pair["second"]) == pytest.approx((expected.first.value, expected.second.value))
    assert pair["p_value"] == pytest.approx(expected.p_value)
    assert found["measure"] == pair["measure"] == expected.measure


def test_files_of_one_name_are_told_apart_by_their_folders(rivals):
    files = [str(rivals / place / "runs.csv") for place in ("first", "second")]
    found = compared(*files, "--paired")
    assert [row["selection"] for row in found["selections"]] == files
    assert [row["stability"] for row in found["selections"]] == [
        hf.stability(SELECTIONS[name]).value for name in ("steady", "shaky")
    ]


def test_a_table_shows_selections_letters_and_pairs(rivals):
    lines = answer("compare", "shaky.csv", "steady.csv", "calm.csv", "--paired", "--level", "0.9").stdout.splitlines()
    found = hf.compare_many({name: SELECTIONS[name] for name in ("shaky", "steady", "calm")}, paired=True, level=0.9)
    shown = [cells(line) for line in lines]
    assert shown[0] == ["selection", "nogueira", "90 % interval", "letters"]
    assert shown[1:4] == [
        [row.selection, f"{row.stability:.3f}", f"[{row.low:.3f}, {row.high:.3f}]".replace("-", "−"), row.letters]
        for row in found.to_frame().itertuples()
    ]
    assert [row[-1] for row in shown[1:4]] == ["a", "a", "b"]
    assert shown[4:6] == [[""], ["pair", "difference", "90 % interval", "p", "p (Holm)", "runs compared"]]
    assert shown[6:] == [
        [
            f"{row.first_name} - {row.second_name}", format_number(row.difference, 3),
            format_interval(row.low, row.high, 3), *(format_p_value(p, name="") for p in (row.p_value, row.p_holm)),
            "paired",
        ]
        for row in found.pairs.itertuples()
    ]  # fmt: skip


@pytest.mark.parametrize(("second", "letters"), [("agree_too", ["a", "a"]), ("apart", ["a", "b"])])
def test_selections_that_do_not_vary(rivals, second, letters):
    found = compared("agree.csv", f"{second}.csv", "--paired")
    (pair,) = found["pairs"]
    assert pair["p_value"] == pair["p_holm"]
    assert (pair["p_value"] == 1) is (second == "agree_too")
    assert pair["standard_error"] > 0
    assert pair["low"] < pair["difference"] < pair["high"]
    assert [row["letters"] for row in found["selections"]] == letters
    lines = answer("compare", "agree.csv", f"{second}.csv", "--paired").stdout.splitlines()
    assert cells(lines[-1])[3:] == [*(format_p_value(pair[name], name="") for name in ("p_value", "p_holm")), "paired"]


BAD_COMPARISONS = {
    "pairs not said": (["steady.csv", "shaky.csv"], "The runs have no labels", "--paired", "--independent"),
    "labels of one only": (["steady_labeled.csv", "shaky.csv"], "The runs have no labels"),
    "one file": (["steady.csv"], "Expected at least two files to compare, got 1"),
    "a file twice": (["steady.csv", "shaky.csv", "steady.csv", "--paired"], "Expected each file once, got steady.csv"),
    "missing file": (["steady.csv", "nothing.csv"], "No such file or directory: nothing.csv"),
    "other lengths": (["steady.csv", "agree.csv", "--paired"], "equally many runs to compare as pairs, got 9 and 5"),
    "top of subsets": (["steady.csv", "shaky.csv", "--top", "2"], "for --top, got subsets"),
    "no interval": (["steady.csv", "shaky.csv", "--paired", "-m", "davis:alpha=1"], "got one without: davis(alpha=1)"),
    "misspelled": (["steady.csv", "shaky.csv", "--paired", "-m", "jacard"], "did you mean 'jaccard'?"),
    "level": (["steady.csv", "shaky.csv", "--paired", "--level", "95"], "level between 0 and 1", "got 95"),
    "undefined": (["steady.csv", "shaky.csv", "--paired", "--undefined", "zero"], "got 'zero'"),
}


@pytest.mark.parametrize(
    ("arguments", "words"), [(first, words) for first, *words in BAD_COMPARISONS.values()], ids=BAD_COMPARISONS
)
def test_errors_of_comparisons_are_one_sentence(rivals, monkeypatch, capsys, arguments, words):
    message = failure(["compare", *arguments], monkeypatch, capsys)
    assert message.startswith("holdfast: ")
    assert message.count("\n") == 1
    for word in words:
        assert word in message


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
    rows = {row["measure"]: row for row in json.loads(answer("measures", "--json").stdout)["measures"]}
    assert list(rows) == list(hf.MEASURES)
    assert rows["davis"]["parameters"] == "alpha=required"
    assert all(rows[name]["bounded"] == measure.properties.bounded for name, measure in hf.MEASURES.items())


def test_demo_shows_verdict_choice_and_frequencies(folder):
    told = answer("demo", "-n", "8", "--quiet").stdout
    assert "The stability is" in told.splitlines()[1]
    assert "10 candidates on 8 splits" in told
    assert "The choice:" in told
    assert sum("█" in line for line in told.splitlines()) >= 5
    assert (folder / "holdfast-demo.html").exists()


def test_commands_are_grouped_and_mistakes_are_mended():
    text = plain(answer("--help").stdout)
    panels = ["Start here", "Studies", "Decide and report", "Selections made elsewhere", "Exit codes"]
    assert [text.index(panel) for panel in panels] == sorted(text.index(panel) for panel in panels)
    wrong = CliRunner().invoke(app, ["mesure"])
    assert wrong.exit_code == 2
    assert "Did you mean" in plain(wrong.output)
    assert "--format" in plain(CliRunner().invoke(app, ["report", "--formt", "md"]).output)


def test_version():
    assert answer("--version").stdout == f"holdfast {hf.__version__}\n"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("measure", ["holdfast measure runs.csv", "--n-features", "--method", "--level"]),
        ("compare", ["holdfast compare lasso.csv mrmr.csv --paired", "--independent", "--level"]),
    ],
)
def test_help_shows_examples(command, words):
    text = plain(answer(command, "--help").stdout)
    for word in words:
        assert word in text


def test_the_help_of_no_command_waits_for_what_only_a_run_needs():
    program = (
        "import sys; from typer.testing import CliRunner; from holdfast.cli import app\n"
        "for command in sys.argv[1:]:\n"
        "    assert CliRunner().invoke(app, [*command.split(), '--help']).exit_code == 0, command\n"
        "    heavy = {'numba', 'pandas', 'scipy', 'sklearn', 'altair', 'starlette'} & set(sys.modules)\n"
        "    assert not heavy, (command, heavy)"
    )
    commands = ["", *typer.main.get_command(app).commands]
    subprocess.run([sys.executable, "-c", program, *commands], check=True)


def test_examples_name_candidates_that_the_examples_of_studies_have():
    from holdfast.cli.options import parse_named
    from holdfast.study.named import named_selectors

    def shown(command):
        return " ".join(re.sub("[│]", " ", plain(answer(command, "--help").stdout)).split())

    texts = re.findall(r'-s "?(\w+:[\w=|]+)"?', shown("tradeoff"))
    assert len(texts) == 2
    named = [(text.partition(":")[0], *parse_named(text, "selector")) for text in texts]
    families = {key: made for own in named for key, made in named_selectors(*own, "classification").items()}
    known = {name for family in hf.Study(families).families for name in family.names}
    asked = [name for command in ("features", "check") for name in re.findall(r'--candidate "(.*?)"', shown(command))]
    assert len(asked) == 2
    assert set(asked) <= known


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
    "another kind": (["runs.csv", "--kind", "ranking"], "Expected rankings in", "as --kind says", "got subsets"),
    "kind not said": (["weights.csv"], "Expected 0 and 1 in weights.csv", "pass --kind 'ranking'"),
    "top of subsets": (["runs.csv", "--top", "2"], "Expected rankings or weights in runs.csv for --top, got subsets"),
    "top too large": (["weights.csv", "--kind", "weighting", "--top", "9"], "k from 1 to the 5 features, got 9"),
    "not cut": (["weights.csv", "--kind", "weighting"], "Expected subsets for nogueira, got weightings", "(--top)"),
    "measure of another kind": (["runs.csv", "-m", "kendall"], "Expected rankings for kendall, got subsets"),
    "no universe": (["runs.txt"], "only lists the selected ones", "--n-features", "--features"),
    "universe of a matrix": (["runs.csv", "--n-features", "50"], "Expected 50 features in runs.csv", "matrix of 5"),
    "parameter without value": (["runs.csv", "-m", "davis:alpha"], "NAME:param=value", "got 'davis:alpha'"),
    "unknown parameter": (["runs.csv", "-m", "davis:beta=1"], "parameters of davis (alpha), got 'beta'"),
    "missing parameter": (["runs.csv", "-m", "davis"], "davis needs a value for alpha"),
    "text as parameter": (["runs.csv", "-m", "davis:alpha=half"], "a number for alpha of davis, got 'half'"),
    "path as similarity": (["runs.csv", "-m", "pogr:similarity=x.csv"], "similarity of pogr, got 'x.csv'"),
    "no data": (["runs.csv", "-m", "pogr"], "pogr lets similar features stand in for each other and needs data"),
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
    "unknown method": (["runs.csv", "--method", "bayes"], "'jackknife', 'asymptotic' or 'bootstrap', got 'bayes'"),
    "method of another measure": (
        ["runs.csv", "-m", "jaccard", "--method", "asymptotic"],
        "The asymptotic interval is published for nogueira only; for jaccard use method='jackknife'.",
    ),
    "level in percent": (["runs.csv", "--level", "95"], "Expected a level between 0 and 1, such as 0.95, got 95"),
    "undefined": (["runs.csv", "--undefined", "zero"], "--undefined nan, skip, raise or a number, got 'zero'"),
    "undefined raises": (
        ["empty_runs.txt", "--n-features", "5", "-m", "jaccard", "--undefined", "raise"],
        "The stability is undefined: ",
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
        (["compare"], ["Missing argument"]),
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
def test_errors_of_the_command(folder, arguments, message, printed_by):
    assert printed_by("measure", *arguments) == ("", message)


def test_the_command_itself(folder):
    command = [sys.executable, "-m", "holdfast", "measure", "runs.csv", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert json.loads(done.stdout)["estimates"] == as_dicts(RUNS, ["nogueira"])
    assert done.stderr == ""


def test_an_error_of_the_command_itself(folder):
    command = [sys.executable, "-m", "holdfast", "measure", "nothing.csv"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "holdfast: No such file or directory: nothing.csv\n")
