"""The features of a study in the browser: the table, and the page of one feature."""

import html
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import LogisticRegression, Ridge

import holdfast as hf
from holdfast.inference.features import selected_instead
from holdfast.report import summarize
from holdfast.selectors import AnovaF, CoxScore, RandomSelector
from holdfast.study import families
from holdfast.tradeoff.selected import default_candidate
from serving import open_client, open_page, show, start_server, wait_for

HOSTILE = ["<script>alert(1)</script>", "../../etc/passwd", "=1+1", "a/b?c=d&e#f", "\u202egnp.exe", "x" * 300]
NAMES = [*HOSTILE, *(f"gene {place}" for place in range(34))]


def make_data(n=80, names=NAMES):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, len(names))), columns=names)
    return X, np.where(X.iloc[:, 0] + X.iloc[:, 7] + 0.5 * rng.normal(size=n) > 0, "ill", "well")


class MeanDifference(BaseEstimator):
    """Ranks features by how far the classes are apart."""

    def fit(self, X, y):
        away = abs(np.asarray(X)[y == y[0]].mean(axis=0) - np.asarray(X)[y != y[0]].mean(axis=0))
        self.ranking_ = np.argsort(np.argsort(-away)) + 1
        return self


def stop_after_three(progress):
    if progress.done == 3:
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """One study of each kind: with scores, without, of a number, of rankings, and one that was interrupted."""
    folder, (X, y) = tmp_path_factory.mktemp("stores"), make_data()
    rng = np.random.default_rng(1)

    def run(name, target, selectors, n, progress=False, **options):
        study = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(n), **options)
        study.run(X, target, store=folder / f"{name}-study.db", progress=progress)

    sizes = hf.Candidates(AnovaF(), sizes=[2, 5])
    run("scored", y, {"anova": sizes, "random": RandomSelector(5)}, 25, estimator=LogisticRegression())
    run("plain", y, {"anova": sizes}, 12)
    number = X.iloc[:, 0] + 0.3 * rng.normal(size=len(X))
    run("number", number, {"best": SelectKBest(f_regression, k=3)}, 12, estimator=Ridge())
    times = hf.survival(rng.exponential(np.exp(-X.iloc[:, 0])), rng.random(len(X)) < 0.7)
    run("survival", times, {"cox": CoxScore(3)}, 12)
    run("single", y, {"anova": AnovaF(3)}, 1)
    run("order", y, {"order": MeanDifference()}, 8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "BLOCK_SECONDS", 0)
        with pytest.raises(hf.study.StudyInterrupted):
            run("short", y, {"anova": SelectKBest(f_classif, k=3)}, 10, progress=stop_after_three)
    return folder


@pytest.fixture(scope="module")
def client(stores):
    with open_client(stores) as client:
        yield client


def ask(client, path, **query):
    answer = show(client, f"/studies/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json(), answer.text


def test_the_page_of_a_feature_shows_survival_by_thirds(client):
    listed, _ = ask(client, "survival-study/features")
    page, text = ask(client, f"survival-study/features/{listed['columns'][0]}")
    assert [curve["group"] for curve in page["feature"]["curves"]] == ["lowest third", "middle third", "highest third"]
    assert 'id="figure-survival"' in text
    never = next(column for column in range(40) if column not in listed["columns"])
    assert "There is no picture of its thirds" in ask(client, f"survival-study/features/{never}")[1]


# The table


def test_the_table_says_what_the_report_says(client, stores):
    found, text = ask(client, "scored-study/features", candidate="anova(size=5)")
    reported = summarize(hf.load_study(stores / "scored-study.db"), candidate="anova(size=5)").features
    shown = {row["feature"]: row for row in found["features"]["shown"]}
    for feature in reported.shown:
        row = shown[feature.feature]
        assert (row["count"], row["verdict"], row["direction"]) == (feature.count, feature.verdict, feature.direction)
        assert row["stand_ins"] == list(feature.stand_ins)
    assert found["n_selected"] == len(reported.table)
    assert "ANOVA F with 5 features" in text


def test_rows_are_found_sorted_and_filtered(client):
    path = "scored-study/features"
    named, _ = ask(client, path, candidate="random", sort="name", search="GENE 1")
    names = [row["feature"] for row in named["features"]["shown"]]
    assert names == sorted(names)
    assert all("gene 1" in name for name in names)
    often, _ = ask(client, path, candidate="random")
    counts = [row["count"] for row in often["features"]["shown"]]
    assert counts == sorted(counts, reverse=True)
    places, _ = ask(client, path, candidate="random", sort="column")
    assert places["columns"] == sorted(places["columns"])
    strong, _ = ask(client, path, candidate="random", sort="effect")
    effects = [row["effect"] for row in strong["features"]["shown"]]
    assert {effects[0] > 0.7, effects[0] < 0.3} == {True, False}
    chosen, _ = ask(client, path, candidate="random", verdict=often["features"]["shown"][0]["verdict"])
    assert {row["verdict"] for row in chosen["features"]["shown"]} == {often["features"]["shown"][0]["verdict"]}
    first, text = ask(client, path, candidate="random", most=3)
    assert (len(first["columns"]), first["n_found"]) == (3, often["n_found"])
    assert "most=103" in text


def test_features_that_were_never_selected_are_found_by_their_name(client):
    listed, _ = ask(client, "scored-study/features", candidate="anova(size=2)")
    never = next(column for column in range(6, 40) if column not in listed["columns"])
    name = NAMES[never]
    found, _ = ask(client, "scored-study/features", candidate="anova(size=2)", search=name)
    row = found["features"]["shown"][found["columns"].index(never)]
    assert (row["count"], row["frequency"]) == (0, 0)
    page, text = ask(client, f"scored-study/features/{never}", candidate="anova(size=2)")
    assert page["feature"]["verdict"] == row["verdict"] == "does not hold; may be chance"
    assert "drawn at random" in page["reason"]
    assert page["position"] == 0
    assert page["previous"] is page["next"] is None
    assert not any(page["selected_in"])
    assert "It was never selected." in text


@pytest.mark.parametrize(
    ("query", "status"),
    [("sort=best", 400), ("most=0", 400), ("most=1001", 400), ("verdict=good", 400), ("candidate=none", 400),
     (f"search={'x' * 201}", 400), ("other=1", 400)],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_refused_in_a_sentence(client, query, status):
    for path in ("features", "features/1"):
        answer = show(client, f"/studies/scored-study/{path}?{query}")
        assert answer.status_code == status
        assert answer.json()["error"]


@pytest.mark.parametrize("place", ["-1", "40", "x", "1.0", "%3Cscript%3E", "²", "9" * 30, "gene%201"])
def test_a_feature_is_asked_for_by_its_column_only(client, place):
    answer = show(client, f"/studies/scored-study/features/{place}")
    assert answer.status_code == 404
    assert answer.json()["error"].startswith("Expected the column of a feature, from 0 to 39")


# One feature


def test_one_feature_says_where_it_was_selected(client, stores):
    result = hf.load_study(stores / "scored-study.db")
    page, text = ask(client, "scored-study/features/0", candidate="anova(size=5)")
    runs = result.preferences("anova(size=5)")
    assert page["selected_in"] == runs.to_sparse().toarray()[:, 0].astype(bool).tolist()
    last = page["shares"][-1]
    assert (last["resamples"], last["share"]) == (25, runs.frequency[0])
    assert (last["low"], last["high"]) == pytest.approx((page["feature"]["low"], page["feature"]["high"]))
    elsewhere = {row["candidate"]: row["count"] for row in page["elsewhere"]}
    assert elsewhere == {name: int(result.preferences(name).counts[0]) for name in result.candidates}
    assert page["feature"]["direction"] == "higher in ill"
    assert page["feature"]["boxes"][0]["quantiles"]
    assert "raises the odds of ill" in text
    assert 'class="boxes"' in text
    assert page["reason"] in text.replace("&#39;", "'")


def test_the_next_feature_is_the_next_row_of_the_table(client):
    query = {"candidate": "random", "sort": "name", "search": "gene"}
    table, _ = ask(client, "scored-study/features", **query)
    places = table["columns"]
    page, text = ask(client, f"scored-study/features/{places[1]}", **query)
    assert (page["previous"]["column"], page["next"]["column"]) == (places[0], places[2])
    assert (page["position"], page["n_listed"]) == (2, table["n_found"])
    assert f"/studies/scored-study/features/{places[2]}?candidate=random&amp;sort=name&amp;search=gene" in text
    first, _ = ask(client, f"scored-study/features/{places[0]}", **query)
    assert first["previous"] is None


def test_what_is_selected_instead():
    runs = hf.Preferences.from_sets([{0, 1}, {0, 1}, {0, 2}, {0, 2}] * 10 + [{0, 3}], n_features=6)
    frame = selected_instead(runs, 1)
    assert frame["column"].tolist() == [2, 3]
    assert frame["clear"].tolist() == [True, False]
    assert frame["without"].tolist() == pytest.approx([20 / 21, 1 / 21])
    assert frame["beside"].tolist() == [0, 0]
    assert selected_instead(runs, 0).empty  # always selected
    assert selected_instead(runs, 5).empty  # never selected
    pair = hf.feature_swaps(runs).iloc[0]
    assert frame["p_value"][0] == pytest.approx(pair["p_value"])


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        ("plain", "whether it carries information was not tested"),
        ("number", "rank correlation"),
        ("order", "Each resample ranks all features; the top"),
        ("short", "in 3 resamples"),
        ("single", "in 1 resample."),
    ],
)
def test_every_kind_of_study_has_features(client, study, sentence):
    found, text = ask(client, f"{study}-study/features")
    assert sentence in text
    page, one = ask(client, f"{study}-study/features/{found['columns'][0]}")
    assert page["reason"]
    assert page["next"]["column"] == found["columns"][1]
    assert "<h3" in one


def test_a_study_without_results_says_so(client, stores):
    with open_client(stores) as fresh:
        assert show(fresh, "/studies/none-study/features").status_code == 404


def test_hostile_names_are_only_text(client):
    _, text = ask(client, "scored-study/features", search="script")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    for place in range(len(HOSTILE)):
        page, text = ask(client, f"scored-study/features/{place}")
        assert page["feature"]["feature"] == HOSTILE[place]
        assert "<script>alert" not in text
        assert "\u202e" not in text


# In a browser


@pytest.mark.browser
def test_a_feature_is_searched_opened_and_left_for_the_next(browser, stores, tmp_path):
    shutil.copy(stores / "scored-study.db", tmp_path)
    with (
        start_server(tmp_path) as (address, _),
        open_page(browser, address, "/studies/scored-study/features", width=390) as page,
    ):
        page.locator("#features-candidate").select_option("random")
        wait_for(lambda: "Random choice selected" in page.locator("#found").inner_text())
        page.locator("#features-search").press_sequentially("gene 1")
        wait_for(lambda: "match" in page.locator("#found").inner_text())
        assert page.locator("#features-search").input_value() == "gene 1"
        rows = page.locator("#found td.name a")
        names = [rows.nth(place).inner_text() for place in range(2)]
        rows.first.click()
        page.wait_for_url("**/features/*")
        assert page.locator("h2.one").inner_text() == names[0]
        wait_for(lambda: page.locator("[data-drawn=yes]").count() == 1)
        page.locator("[rel=next]").click()
        wait_for(lambda: page.locator("h2.one").inner_text() == names[1])
        page.locator("#feature-candidate").select_option("anova(size=5)")
        wait_for(lambda: "candidate=anova" in page.evaluate("location.search"))
        assert page.locator("h2.one").inner_text() == names[1]
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


OWN = {"origin": "http://127.0.0.1:8730"}


def test_a_list_of_ones_own_is_checked_as_in_python(client):
    result = hf.load_study(client.app.app.state.site.folder.store_of("scored-study"))
    names = [str(result.feature_names[0]), "not a gene"]
    answer = client.post("/studies/scored-study/check", data={"names": "\r\n".join(names)}, headers=OWN)
    assert "<p><strong>How many of these features a new study would select is not known" in answer.text
    assert answer.status_code == 200
    checked = hf.check_features(names, result, default_candidate(result))
    text = re.sub(r"<[^>]+>", "|", answer.text)
    for name in names:
        assert f"|{html.escape(name)}|" in text
        assert str(checked.loc[name, "verdict"]) in text
    heads = re.findall(r'<th scope="col">([^<]+)</th>', answer.text)
    assert heads == ["feature", *(column.replace("_", " ") for column in checked.columns)]
    assert "/studies/scored-study/check" in client.get("/studies/scored-study/features").text


def test_an_empty_list_is_refused_in_one_sentence(client):
    answer = client.post("/studies/scored-study/check", data={"names": " \n"}, headers=OWN)
    assert answer.status_code == 400
    assert "There are no names in the field" in answer.text


def test_frequency_new_study_q_and_use_stand_next_to_each_other_on_every_face(tmp_path):
    X, y = make_data(names=NAMES[6:20])
    study = hf.Study({"anova": AnovaF(3)}, hf.Bootstrap(20), estimator=LogisticRegression())
    result = study.run(X, y, store=tmp_path / "all-study.db")
    assert result.features().known_numbers == ["used"]
    found = hf.replicability(result, X, y, n_pairs=20, n_shuffles=20)
    result = hf.load_study(tmp_path / "all-study.db")
    features, strongest = result.features(), str(found.selected[0])
    row = features.to_frame().set_index("feature").loc[strongest]
    said = found.frame.set_index("feature").loc[strongest]
    assert [row["new_study"], row["q"]] == pytest.approx([said["probability"], said["q"]])
    assert features.known_numbers == ["new_study", "q", "used"]
    assert len(features.legend) == 3
    card = features._repr_html_()
    assert all(html.escape(text) in card for text in ("new_study", "used", *features.legend))
    checked = hf.check_features([strongest], result).loc[strongest]
    assert checked[["new_study", "q", "used"]].tolist() == pytest.approx(row[["new_study", "q", "used"]].tolist())
    record = next(feature for feature in summarize(result).features.shown if feature.feature == strongest)
    assert [record.new_study, record.q, record.used] == pytest.approx(row[["new_study", "q", "used"]].tolist())
    frame = features.to_frame().set_index("feature")
    listed = {feature.feature: [feature.new_study, feature.q] for feature in summarize(result).features.shown}
    assert len(listed) > len(found.selected)  # also what all rows do not select
    assert np.array(list(listed.values())) == pytest.approx(frame.loc[list(listed), ["new_study", "q"]].to_numpy())
    used = f"{round(100 * row['used'])}"
    report, text = (result.report(tmp_path / f"report.{form}").read_text() for form in ("html", "md"))
    assert re.search(rf'data-label="Used"[^>]*>{used} %<', report)
    assert re.search(rf"\| {strongest} \|.*\| {row['q']:.2f} \| {used} % \|", text)
    with open_client(tmp_path) as client:
        _, table = ask(client, "all-study/features")
        assert all(f'<th scope="col" class="n">{head}</th>' in table for head in ("New study", "q", "Used"))
        _, page = ask(client, f"all-study/features/{list(X.columns).index(strongest)}")
        assert "A new study of this size would select it with a probability of" in page
        assert f"It has {used}" in page
