"""Measure and Compare: numbers as the library gives them, questions, and one sentence for what cannot be measured."""

import io
import json
import math
import re
import shlex

import numpy as np
import pandas as pd
import pytest

import holdfast as hf
from holdfast.datasets import load_example, make_selections
from holdfast.report.measured import record_stability
from holdfast.serialization import to_plain
from holdfast.web.selections import UNNAMED, find_layout, read_orders
from holdfast.web.worker import ExhaustedError
from serving import drop, open_client, open_page, show, start_server, upload

HOSTILE = ["<script>alert(1)</script>", "\u202egnp.exe", "x" * 300, "' onclick='alert(2)", "{{ 7*7 }}", "a&b"]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with open_client(tmp_path_factory.mktemp("page")) as client:
        yield client


def csv_of(preferences):
    """Selections as a person would save them: a table with names, and a column of runs if they have labels."""
    text = io.StringIO()
    labeled = preferences.labels is not None
    preferences.to_frame().to_csv(text, index=labeled, index_label="run" if labeled else None)
    return text.getvalue().encode()


def give(client, content, name="runs.csv"):
    return upload(client, content if isinstance(content, bytes) else content.encode(), name, "selections")


def measure(client, key, **query):
    answer = show(client, f"/selections/{key}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def recorded(estimate, level=0.95):
    """An estimate as the page holds it."""
    return to_plain(record_stability(estimate, level))


def compare(client, *keys, **query):
    answer = show(client, "/compare", params={"of": keys, **query})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def example(client):
    return give(client, csv_of(load_example().top(10)), "example.csv")


@pytest.mark.parametrize("name", ["nogueira", "jaccard", "kuncheva", "krizek"])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_numbers_are_those_of_the_library(client, example, name, level):
    found = measure(client, example, measure=name, level=level)["measurement"]
    estimate = hf.stability(load_example().top(10), name)
    assert found["stability"] == recorded(estimate, level)


def test_frequencies_and_the_number_of_runs_needed_are_those_of_the_library(client, example):
    found = measure(client, example, half_width=0.03)["measurement"]
    best = load_example().top(10)
    table = hf.feature_table(best)
    assert found["features"]["table"]["feature"] == table["feature"].tolist()
    assert found["features"]["table"]["low"] == table["low"].tolist()
    assert found["more_resamples"].startswith(f"About {hf.runs_needed(0.03, pilot=best).n_runs:,} resamples")
    often = table["count"][table["frequency"] >= 0.1]
    assert [feature["count"] for feature in found["features"]["shown"]] == often.tolist()
    assert found["swaps"][0]["first"] == "area_error"


def test_the_page_says_the_same_as_the_json(client, example):
    found = measure(client, example)["measurement"]
    page = client.get(f"/selections/{example}").text
    assert found["verdict"]["headline"] == "Partly stable; whether it carries information was not tested."
    assert "The stability is 0.87" in page.replace("</a>", "").replace("\n", " ") or "is 0.87" in page
    assert 'class="scale"' in page
    assert "cannot rule out that up to" in page
    assert 'id="figure-map"' in page


def test_lists_ask_how_many_features_there_were_and_measure_with_the_answer(client):
    text = "TP53 BRCA1 EGFR\nTP53 BRCA1 KRAS\nTP53 EGFR KRAS\n"
    key = give(client, text, "genes.txt")
    page = measure(client, key)
    assert page["measurement"] is None
    assert page["question"]["option"] == "n_features"
    assert [answer["address"] for answer in page["answers"]] == [f"/selections/{key}?n_features=4"]
    assert page["preview"]["preview"][0] == ["TP53", "BRCA1", "EGFR"]
    shown = client.get(f"/selections/{key}").text
    assert "How many were there to choose from" in shown
    assert 'name="n_features"' in shown
    runs = hf.Preferences.from_sets([line.split() for line in text.splitlines()], n_features=20000)
    found = measure(client, key, n_features=20000)["measurement"]
    assert found["stability"] == recorded(hf.stability(runs))


def test_weights_are_measured_as_weights_or_cut_to_the_best(client):
    weights = load_example()
    key = give(client, weights.to_frame().to_csv(index_label="run"), "weights.csv")
    asked = measure(client, key)
    assert asked["question"]["option"] == "kind"
    assert asked["answers"][0]["address"].endswith("?kind=weighting")
    as_weights = measure(client, key, kind="weighting")["measurement"]
    assert as_weights["stability"] == recorded(hf.stability(weights, "weight_correlation"))
    assert as_weights["features"]["top"] == 10
    as_ranks = measure(client, key, kind="weighting", measure="spearman")["measurement"]
    assert as_ranks["stability"] == recorded(hf.stability(weights, "spearman"))
    cut = measure(client, key, kind="weighting", top=5)["measurement"]
    assert (cut["cut_from"], cut["stability"]) == ("weighting", recorded(hf.stability(weights.top(5))))


def test_the_command_that_is_shown_measures_the_same(client, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from holdfast.cli import app

    monkeypatch.chdir(tmp_path)
    content = load_example().to_frame().to_csv(index_label="run")
    (tmp_path / "my weights.csv").write_text(content)
    key = give(client, content, "my weights.csv")
    for query in ({"kind": "weighting"}, {"kind": "weighting", "top": 5, "level": 0.9, "measure": "jaccard"}):
        page = measure(client, key, **query)
        done = CliRunner().invoke(app, [*shlex.split(page["command"])[1:], "--json", "--quiet"])
        (estimate,) = json.loads(done.stdout)["estimates"]
        shown = page["measurement"]["stability"]
        assert {name: estimate[name] for name in shown} == shown


def test_a_table_with_features_in_rows_is_asked_about_and_turned(client):
    frame = load_example().top(5).to_frame().T
    frame.columns = [f"run {number}" for number in range(20)]
    key = give(client, frame.to_csv(index_label="feature"), "turned.csv")
    page = measure(client, key)
    assert page["question"]["option"] == "transpose"
    found = measure(client, key, transpose="true")["measurement"]
    assert found["stability"]["value"] == hf.stability(load_example().top(5)).value


def test_selections_of_a_study_are_measured_as_its_design_asks(client, tmp_path):
    data = hf.datasets.load("breast_cancer")
    study = hf.Study(
        selectors={"anova": hf.selectors.AnovaF(3), "relief": hf.selectors.ReliefF(3)},
        perturbation=hf.ComplementaryPairs(6),
    )
    result = study.run(data.X, data.y, progress=False)
    result.export(tmp_path, format="csv")
    key = give(client, (tmp_path / "selections.csv").read_bytes(), "selections.csv")
    page = measure(client, key)
    assert page["question"]["option"] == "candidate"
    assert [answer["label"] for answer in page["answers"]] == ["anova", "relief"]
    found = measure(client, key, candidate="anova")["measurement"]
    assert found["stability"] == recorded(result.stability("anova"))
    compared = compare(client, key)["comparison"]
    assert compared["pairs"][0]["p_value"] == result.compare().pairs.loc[0, "p_value"]


@pytest.mark.parametrize(("name", "content", "says"), [
    ("one.csv", "run,a,b\nr1,1,0\n", "a single run has no stability, two are needed"),
    ("none.csv", "run,a,b\nr1,0,0\nr2,0,0\n", "nogueira is undefined for all runs empty, or all full"),
    ("all.csv", "run,a,b\nr1,1,1\nr2,1,1\n", "nogueira is undefined for all runs empty, or all full"),
])  # fmt: skip
def test_undefined_is_shown_with_its_reason(client, name, content, says):
    key = give(client, content, name)
    found = measure(client, key)["measurement"]
    assert found["stability"]["value"] is None
    assert says in found["stability"]["reason"]
    page = client.get(f"/selections/{key}")
    assert page.status_code == 200
    assert "could not be measured" in page.text
    assert says in page.text


def test_runs_that_all_agree_have_an_interval_that_says_how_few_they_are(client):
    key = give(client, "run,a,b,c\n" + "".join(f"r{run},1,0,0\n" for run in range(12)), "same.csv")
    found = measure(client, key)["measurement"]
    assert found["stability"] == recorded(hf.stability([[1, 0, 0]] * 12))
    assert found["stability"]["low"] < 0.9
    assert client.get(f"/selections/{key}").status_code == 200


@pytest.mark.parametrize(("name", "content", "says"), [
    ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, ""),
    ("letters.csv", b"run,a,b\nr1,yes,no\nr2,no,yes\n", ""),
    ("broken.json", b"[[1, 2", "JSON"),
    ("other.json", b'{"a": 3}', "list"),
    ("damaged.parquet", b"PAR1" + bytes(60), ""),
    ("fake.xlsx", b"no workbook", ""),
    ("missing.csv", b"run,a,b\nr1,1,\nr2,0,1\n", ""),
])  # fmt: skip
def test_a_wrong_file_is_one_sentence(client, name, content, says):
    key = give(client, content, name)
    page = measure(client, key)
    sentence = page["problem"] or page["question"]["sentence"]
    assert says in sentence
    assert page["measurement"] is None
    assert "/" not in sentence.replace("0/1", "")
    assert "--" not in sentence
    answer = client.get(f"/selections/{key}")
    assert answer.status_code == 200
    assert "Traceback" not in answer.text
    assert "Remove this file" in answer.text


@pytest.mark.parametrize("content", ["TP53,BRCA1,EGFR\nTP53,KRAS,EGFR\n", "TP53,BRCA1\nTP53\nTP53,MYC,KRAS\n"])
def test_names_in_a_csv_file_can_be_read_as_lists(client, content):
    key = give(client, content, "names.csv")
    page = measure(client, key)
    assert page["problem"]
    assert [answer["address"] for answer in page["answers"]] == [f"/selections/{key}?layout=lists"]
    assert measure(client, key, layout="lists")["question"]["option"] == "n_features"
    found = measure(client, key, layout="lists", n_features=30)["measurement"]
    runs = hf.Preferences.from_sets([line.split(",") for line in content.splitlines()], n_features=30)
    assert found["stability"] == recorded(hf.stability(runs))
    other = give(client, content.replace(",", "\t"), "others.tsv")
    compared = compare(client, key, other, layout="lists", n_features=30, paired="true")
    assert compared["problem"].startswith("Both stabilities need a standard error") or compared["comparison"]


RANKS = [[1, 2, 3, 4], [2, 1, 3, 4], [1, 3, 2, 4], [4, 1, 2, 3]]
ORDERS = np.argsort(RANKS, axis=1) + 1


def written(rows, mark=","):
    return "\n".join(mark.join(map(str, row)) for row in rows)


@pytest.mark.parametrize(("mark", "name"), [(",", "pasted.txt"), (" ", "pasted.txt"), ("\t", "pasted.tsv")])
def test_rankings_without_a_header_are_asked_about(client, mark, name):
    ranks = [RANKS[1], RANKS[0], *RANKS[2:]]
    key = give(client, written(ranks, mark), name)
    page = measure(client, key)
    assert page["question"]["option"] == "layout"
    assert {"unnamed", "orders", "lists"} <= {value for value, _ in page["question"]["choices"]}
    assert page["preview"]["kind_reason"] == ""
    assert measure(client, key, layout="unnamed")["question"]["option"] == "kind"
    table = measure(client, key, layout="unnamed", kind="ranking")["measurement"]
    assert table["stability"] == recorded(hf.stability(hf.Preferences.from_rankings(ranks), "spearman"))
    assert table["notes"] == [UNNAMED]
    orders, ordered = measure(client, key, layout="orders"), hf.Preferences.from_rankings(ORDERS[[1, 0, 2, 3]])
    assert orders["measurement"]["stability"] == recorded(hf.stability(ordered, "spearman"))
    assert orders["command"] == ""
    assert "The same on the command line" not in client.get(f"/selections/{key}", params={"layout": "orders"}).text
    assert measure(client, key, layout="lists", n_features=9)["measurement"]["kind"] == "subset"


def test_orders_are_read_best_first(tmp_path):
    path = tmp_path / "orders.txt"
    path.write_text(written(ORDERS - 1))
    assert read_orders(path).matrix().tolist() == RANKS
    assert read_orders(path).n_features == 4


@pytest.mark.parametrize(
    ("rows", "name", "layout"),
    [
        ([[0, 1, 1], [1, 0, 1]], "a.txt", "unnamed"),
        ([[0.5, 2], [0.1, 1]], "a.txt", "unnamed"),
        ([[1, 2, 3], [2, 3, 4]], "a.txt", None),
        ([[1, 2], [3]], "a.txt", None),
        ([["a", "b"], ["b", "c"]], "a.txt", None),
        ([[0, 1, 2], [1, 0, 1], [0, 0, 1]], "a.csv", None),
        ([["run", 1, 2], [1, 0, 1]], "a.csv", None),
    ],
)
def test_what_numbers_tell_by_themselves_is_not_asked(tmp_path, rows, name, layout):
    path = tmp_path / name
    path.write_text(written(rows))
    assert find_layout(path) == layout


def test_a_table_whose_first_line_may_be_a_run_is_asked_about(client):
    key = give(client, "7,5,9\n0,1,1\n1,0,1\n", "numbers.csv")
    assert [value for value, _ in measure(client, key)["question"]["choices"]] == ["unnamed", "table"]
    assert measure(client, key, layout="table")["measurement"]["stability"]["n_runs"] == 2
    assert measure(client, key, layout="unnamed")["question"]["option"] == "kind"


@pytest.mark.parametrize("ending", ["tsv", "parquet", "xlsx", "json"])
def test_every_format_gives_the_same_numbers(client, tmp_path, ending):
    runs, file = load_example().top(10), tmp_path / f"runs.{ending}"
    if ending == "xlsx":
        runs.to_frame().to_excel(file, index_label="run")
    else:
        hf.write_preferences(runs, file)
    key = give(client, file.read_bytes(), file.name)
    assert measure(client, key)["measurement"]["stability"] == recorded(hf.stability(runs))


def test_measures_are_called_by_their_labels_also_in_sentences(client, example):
    page = client.get(f"/selections/{example}").text
    assert ">Kuncheva</option>" in page
    assert '<dt>Jaccard <code class="quiet">jaccard</code></dt>' in page
    lists = give(client, "a b c\na d\n", "sizes.txt")
    problem = measure(client, lists, n_features=9, measure="kuncheva")["problem"]
    assert "as Kuncheva is defined for one size only" in problem
    assert "use Nogueira" in problem


def test_a_measure_that_does_not_fit_is_one_sentence_and_a_way_back(client):
    key = give(client, "run,a,b,c\nr1,1,0,0\nr2,1,1,0\n", "sizes.csv")
    page = measure(client, key, measure="kuncheva")
    assert "equally many features" in page["problem"]
    assert "Measure it with the default options" in client.get(f"/selections/{key}?measure=kuncheva").text
    assert "got Spearman" in measure(client, key, measure="spearman")["problem"]


@pytest.mark.parametrize("query", [
    "level=2", "level=nan", "half_width=0", "measure=<script>", "undefined=later", "top=x", "kind=matrix",
    "n_features=1e5", "who=me",
])  # fmt: skip
def test_a_wrong_option_is_refused_in_one_sentence(client, example, query):
    answer = show(client, f"/selections/{example}?{query}")
    page = answer.json()
    sentence = page["error"] if answer.status_code == 400 else page["problem"]
    assert sentence.endswith((".", "?"))
    assert "<script>" not in client.get(f"/selections/{example}?{query}").text


def test_hostile_names_are_shown_as_text(client):
    text = io.StringIO()
    rng = np.random.default_rng(0)
    pd.DataFrame(
        rng.integers(0, 2, (12, len(HOSTILE))), columns=HOSTILE, index=[f"<b>{run}" for run in range(12)]
    ).to_csv(text, index_label="run")
    key = give(client, text.getvalue(), "<img src=x onerror=alert(3)>.csv")
    page = client.get(f"/selections/{key}").text
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "onclick='alert" not in re.sub(r'<script type="application/json".*?</script>', "", page)
    assert "\u202e" not in page
    assert "<b>1" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "{{ 7*7 }}" in page
    other = client.get("/compare", params={"of": [key, key], "paired": "true"})
    assert "<script>alert" not in other.text


def test_many_runs_are_drawn_in_few_rows(client):
    runs = make_selections(stability=0.6, size=5, n_features=50, n_runs=5000, random_state=0)
    key = give(client, json.dumps([list(map(int, runs.selected(run))) for run in range(5000)]), "many.json")
    found = measure(client, key, n_features=50)["measurement"]
    assert found["stability"] == recorded(hf.stability(runs))
    assert len(found["features"]["map"]["rows"]) == 100


# Comparing


def test_labels_decide_whether_runs_are_pairs(client, example):
    five = give(client, csv_of(load_example().top(5)), "five.csv")
    found = compare(client, example, five)["comparison"]
    expected = hf.compare(load_example().top(10), load_example().top(5))
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"], pair["design"]) == ("example", "five", "paired")
    low, high = expected.ci()
    assert [pair[key] for key in ("difference", "low", "high", "p_value", "standard_error")] == [
        expected.difference, low, high, expected.p_value, expected.standard_error
    ]  # fmt: skip
    many = hf.compare_many({"example": load_example().top(10), "five": load_example().top(5)})
    assert {row["name"]: row["letters"] for row in found["selections"]} == many.letters
    for row in found["selections"]:
        estimate = many.estimates[row["name"]]
        assert row["stability"] == recorded(estimate)
        assert (row["n_features"], row["mean_size"]) == (estimate.n_features, estimate.mean_size)
    page = client.get("/compare", params={"of": [example, five]}).text
    assert "as their labels are the same" in page
    assert 'id="figure-forest"' in page


def test_runs_without_labels_are_asked_about(client):
    first, second = (
        make_selections(stability=value, size=5, n_features=40, n_runs=30, random_state=seed)
        for seed, value in enumerate((0.8, 0.5))
    )
    keys = [give(client, csv_of(runs), f"{name}.csv") for name, runs in (("steady", first), ("shaky", second))]
    page = compare(client, *keys)
    assert page["question"]["option"] == "paired"
    assert [answer["address"].rpartition("=")[2] for answer in page["answers"]] == ["true", "false"]
    for paired in (True, False):
        (pair,) = compare(client, *keys, paired=str(paired).lower())["comparison"]["pairs"]
        assert pair["p_value"] == hf.compare(first, second, paired=paired).p_value


def test_features_gained_and_lost_between_two(client):
    first = give(client, "a b\n" * 10 + "a c\n", "first.txt")
    second = give(client, "a c\n" * 11, "second.txt")
    assert compare(client, first, second)["question"]["option"] == "n_features"
    found = compare(client, first, second, n_features=9, paired="true")["comparison"]["features"]
    assert found["often"] == {"second only": ["c"], "first only": ["b"], "both": ["a"]}
    rows = {row["feature"]: row for row in found["pairs"]}
    assert rows["b"]["first"] == 10 / 11
    assert rows["b"]["second"] == 0
    table = hf.feature_table(hf.Preferences.from_sets([["a", "b"]] * 10 + [["a", "c"]], n_features=9)).set_index(
        "feature"
    )
    assert rows["b"]["first_low"] == table.loc["b", "low"]


def test_three_files_have_holm_and_a_choice_of_two_side_by_side(client):
    selections = {
        name: make_selections(stability=value, size=5, n_features=40, n_runs=20, random_state=seed)
        for seed, (name, value) in enumerate({"x": 0.9, "y": 0.6, "z": 0.3}.items())
    }
    keys = [give(client, csv_of(runs), f"{name}.csv") for name, runs in selections.items()]
    found = compare(client, *keys, paired="false", first=2, second=0)["comparison"]
    expected = hf.compare_many(selections, paired=False)
    assert [pair["p_holm"] for pair in found["pairs"]] == expected.pairs["p_holm"].tolist()
    assert (found["features"]["first"], found["features"]["second"]) == ("z", "x")
    assert "Which two to show side by side" in client.get("/compare", params={"of": keys, "paired": "false"}).text


def test_what_cannot_be_compared_is_one_sentence(client, example):
    assert "2 to 40 selections" in compare(client, example)["problem"]
    one = give(client, "run,a,b\nx,1,0\n", "one.csv")
    assert compare(client, example, one)["problem"].endswith(".")
    assert compare(client)["comparison"] is None
    assert show(client, "/compare", params={"of": "0" * 16}).status_code == 404


def test_a_parsed_file_is_kept_and_read_again(client, tmp_path):
    frame = load_example().top(10).to_frame()
    copies = [frame.rename(columns=lambda name, copy=copy: f"{name}_{copy}") for copy in range(80)]
    wide = pd.concat([frame, *copies], axis=1)
    key = give(client, wide.to_csv(index_label="run"), "wide.csv")
    first = measure(client, key)["measurement"]
    site = client.app.app.state.site
    (kept,) = (site.folder.uploads / key).glob(".read-*.parquet")
    assert kept.stat().st_mode & 0o077 == 0
    again = measure(client, key, measure="jaccard")["measurement"]
    assert again["stability"] == recorded(hf.stability(hf.Preferences.from_matrix(wide), "jaccard"))
    assert again["notes"] == first["notes"]
    assert client.delete(f"/api/v1/uploads/{key}").status_code == 200
    assert not kept.exists()


def test_files_of_one_name_are_numbered_if_that_is_asked(client):
    def put(name, **options):
        answer = client.put(
            "/api/v1/uploads", params={"name": name, "purpose": "selections", **options}, content=b"a\n"
        )
        return answer.json()["name"]

    assert [put("mine.txt", numbered="true") for _ in range(2)] == ["mine.txt", "mine-2.txt"]
    assert put("Mine.csv", numbered="true") == "Mine-3.csv"
    assert put("yours.txt", numbered="true") == "yours.txt"
    assert put("mine.txt") == "mine.txt"


def test_an_example_is_one_click_away_and_files_can_be_removed(client):
    answer = client.post("/api/v1/measure/examples/ten-best")
    assert answer.status_code == 201
    key = answer.json()["upload"]
    assert measure(client, key)["measurement"]["stability"] == recorded(hf.stability(load_example().top(10)))
    assert f"/selections/{key}" in client.get("/measure").text
    client.delete(f"/api/v1/uploads/{key}")
    assert client.get(f"/selections/{key}").status_code == 404
    assert f"/selections/{key}" not in client.get("/measure").text
    assert client.post("/api/v1/measure/examples/..%2Fsecret").status_code == 404


def test_every_measure_that_is_offered_can_be_taken(client, example):
    page = measure(client, example)
    names = [choice["name"] for choice in page["measures"]]
    assert names[0] == "nogueira"
    assert "davis" not in names
    assert "yu" not in names
    estimates = hf.stability(load_example().top(10), names)
    assert all(math.isfinite(estimate.value) for estimate in estimates)


# As a person clicks


@pytest.fixture
def browse(browser, tmp_path):
    """The page on which selections are uploaded."""
    with start_server(tmp_path / "folder") as (address, _), open_page(browser, address) as page:
        page.click("header >> text=Measure selections")
        yield page


@pytest.mark.browser
def test_pasted_lists_are_measured_and_options_change_the_page(browse):
    rng = np.random.default_rng(0)
    lists = [
        ["TP53", "BRCA1", *rng.choice(["EGFR", "KRAS", "MYC", "<b>PTEN</b>"], 2, replace=False)] for _ in range(25)
    ]
    browse.fill("#text", "\n".join(", ".join(names) for names in lists))
    browse.click("text=Measure >> nth=-1")
    browse.wait_for_url("**/selections/*")
    assert "How many were there to choose from" in browse.inner_text("#live")
    browse.fill("#answer", "20000")
    browse.click("text=Go on")
    browse.wait_for_selector("#verdict")
    runs = hf.Preferences.from_sets(lists, n_features=20000)
    assert f"The stability is {hf.stability(runs).value:.2f}" in browse.inner_text("#verdict")
    browse.wait_for_selector("[data-drawn=yes]")
    browse.select_option("#measure", "jaccard")
    browse.wait_for_url("**measure=jaccard*")
    jaccard = hf.stability(runs, "jaccard")
    assert f"The stability is {jaccard.value:.2f}" in browse.inner_text("#verdict")
    browse.select_option("#level", "0.8")
    browse.wait_for_url("**level=0.8*")
    low, high = jaccard.ci(0.8)
    assert f"80 % interval {low:.2f} to {high:.2f}" in browse.inner_text("#verdict")
    browse.fill("[data-search]", "pten")
    assert browse.locator("[data-table=features] tbody tr").count() == 1
    assert browse.inner_text("[data-table=features] td.name") == "<b>PTEN</b>"
    browse.go_back()
    browse.wait_for_url("**level=0.95*")
    browse.wait_for_selector("#live:not(.busy)")
    assert "95 % interval" in browse.inner_text("#verdict")


@pytest.mark.browser
def test_two_files_are_compared_as_pairs(browse, tmp_path):
    files = []
    for seed, (name, value) in enumerate({"steady": 0.9, "shaky": 0.4}.items()):
        runs = make_selections(stability=value, size=5, n_features=40, n_runs=30, random_state=seed)
        files.append(tmp_path / f"{name}.csv")
        files[-1].write_bytes(csv_of(runs))
    browse.set_input_files("#file", files)
    browse.wait_for_url("**/compare*")
    browse.click("text=Yes: the same resamples")
    browse.wait_for_selector("text=Resamples were compared as pairs")
    assert "steady is significantly more stable than shaky" in browse.inner_text("#live")
    browse.wait_for_selector("#figure-forest [data-drawn=yes]")
    browse.select_option("#paired", "false")
    browse.wait_for_selector("text=Resamples were compared as independent ones")
    assert browse.locator("[data-table=changes] tbody tr").count() > 1
    browse.set_viewport_size({"width": 390, "height": 844})
    assert browse.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.browser
def test_files_can_be_dropped(browse):
    drop(browse, "#files", ("one.csv", "a,b\n1,0\n1,1\n"), ("two.csv", "a,b\n0,1\n1,1\n"))
    browse.wait_for_url("**/compare*")
    assert "Were they?" in browse.inner_text("#live")


@pytest.mark.browser
def test_a_wrong_file_is_a_sentence_and_can_be_removed(browse, tmp_path):
    file = tmp_path / "picture.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    browse.set_input_files("#file", file)
    browse.wait_for_url("**/selections/*")
    assert "got a binary file" in browse.inner_text("[role=alert]")
    browse.click("text=Remove this file")
    browse.wait_for_url("**/measure")
    assert "picture.png" not in browse.inner_text("#live")
    browse.click("text=Try a comparison")
    browse.wait_for_selector("text=as their labels are the same")
    browse.goto(browse.url.partition("/compare")[0] + "/measure")
    browse.check("[name=of] >> nth=0")
    browse.check("[name=of] >> nth=1")
    browse.click("text=Compare the chosen files")
    browse.wait_for_selector("text=Each with each")


@pytest.mark.browser
def test_pasted_text_is_taken_for_what_it_looks_like(browse):
    start = browse.url
    for text, name in {
        "a b\na c": "pasted.txt", "a,b\na,c\n": "pasted-2.txt", "run\ta\tb\nx\t1\t0\ny\t1\t1": "pasted-3.tsv",
        "a;b\n1;0\n1;1": "pasted-4.csv", '[["a"], ["b"]]': "pasted-5.json", "1,2,3\n2,3,4": "pasted-6.txt",
    }.items():  # fmt: skip
        browse.goto(start)
        browse.fill("#text", text)
        browse.click("button.main")
        browse.wait_for_url("**/selections/*")
        assert browse.inner_text("h1") == name


@pytest.mark.browser
def test_pasted_rankings_are_named_and_asked_about(browse):
    browse.fill("#text", written(RANKS))
    browse.fill("#called", "trial of ranks.txt")
    browse.click("button.main")
    browse.wait_for_url("**/selections/*")
    assert browse.inner_text("h1") == "trial of ranks.txt"
    browse.click("text=A table without names")
    browse.click("text=Ranks: 1 is the best feature")
    browse.wait_for_selector("#verdict")
    assert f"{hf.stability(hf.Preferences.from_rankings(RANKS), 'spearman').value:.2f}" in browse.inner_text("#verdict")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a b\na c", "pasted.txt"), ("a,b\na,c\n", "pasted.txt"), ("run\ta\tb\nx\t1\t0\ny\t1\t1", "pasted.tsv"),
        ("a;b\n1;0\n1;1", "pasted.csv"), ('[["a"], ["b"]]', "pasted.json"), ("1,2,3\n2,3,4", "pasted.txt"),
    ],
)  # fmt: skip
def test_pasted_text_is_posted_and_not_put_into_the_address(tmp_path, text, name):
    with open_client(tmp_path) as client:
        answer = client.post("/measure", data={"text": text, "called": ""}, follow_redirects=False)
        assert answer.status_code == 303
        assert re.fullmatch(r"/selections/\w+", answer.headers["location"])
        (listed,) = client.get("/api/v1/uploads").json()["uploads"]
        assert listed["name"] == name
        assert 'method="post" action="/measure"' in client.get("/measure").text


def test_nothing_pasted_is_said_in_one_sentence(client):
    answer = client.post("/measure", data={"text": "  "})
    assert answer.status_code == 400
    assert "There are no selections in the field" in answer.text


def test_a_file_that_uses_up_its_time_is_not_tried_again(client, monkeypatch):
    key = upload(client, b"a,b\n1,0\n0,1\n", "once.csv", "selections")
    asked = []

    def exhaust(name, arguments, limits):
        asked.append((name, limits.seconds))
        raise ExhaustedError(f"This took longer than {limits.seconds:g} seconds and was stopped; try a smaller file.")

    monkeypatch.setattr("holdfast.web.site.run_task", exhaust)
    page = client.get(f"/selections/{key}").text
    assert asked == [("measure_selections", 60)]
    assert page.count("took longer than 60 seconds") == 1
