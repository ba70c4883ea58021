"""A study's own page and the first page: live results as the report says them, what can be done, files, odd stores."""

import csv
import html
import io
import json
import os
import re
import shutil
import sqlite3
import threading
import time
import warnings
import zipfile
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from sklearn.naive_bayes import GaussianNB

import holdfast as hf
from holdfast.datasets import load
from holdfast.measures import MEASURES
from holdfast.report import render, summarize
from holdfast.report.records import Replication
from holdfast.report.rendering import TEMPLATES, page_policy
from holdfast.selectors import AnovaF, RandomSelector
from holdfast.study.store import StoreError, copy_store, open_to_write, read_overview, read_progress
from holdfast.tradeoff import RULES
from holdfast.web.launcher import describe_time_left
from holdfast.web.pages.files import FILES
from holdfast.web.rendering import STATIC, render_page
from serving import open_client, show, wait_for
from study_parts import Raising

DATA = load("breast_cancer")
SMALL = ["study", "--quiet", "-n", "10", "-s", "anova:k=2", "--store"]
LONG = ["study", "--quiet", "-n", "2000", "-s", "mutual_info:k=2", "--store"]


def made(path, selectors, estimator=None, n=12):
    study = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(n), estimator=estimator, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.run(DATA.X, DATA.y, store=path, progress=False)
    return path


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Finished studies: one with scores, one without, one of which every fit failed."""
    folder = tmp_path_factory.mktemp("stores")
    two = {"anova": hf.Candidates(AnovaF(), sizes=[2, 5]), "random": RandomSelector(3)}
    made(folder / "scored-study.db", two, GaussianNB())
    made(folder / "plain-study.db", {"anova": AnovaF(2)})
    made(folder / "broken-study.db", {"failing": Raising(above=-1e9)})
    return folder


@pytest.fixture
def folder(tmp_path, stores):
    for path in stores.glob("*.db"):
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.fixture
def client(folder):
    with open_client(folder) as client:
        yield client


def plain(text):
    """The words of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text))


def section_of(text, name):
    """A section of a page or a report."""
    return re.search(rf'<section id="{name}".*?</section>', text, re.S)[0]


# What the page says


def test_the_overview_leads_with_three_answers_as_the_report_gives_them(client, folder):
    page = client.get("/studies/scored-study").text
    summary = summarize(hf.load_study(folder / "scored-study.db"))
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert heads[:3] == ["Does it hold?", "How many come back?", "How well does it predict?"]
    (score,) = [row.scores[0] for row in summary.candidates if row.reported]
    figures = [plain(text).strip() for text in re.findall(r'<p class="figure">(.*?)</p>', page)]
    often = len(summary.features.frequent)
    assert figures == [f"{summary.stability.value:.2f}", f"{often} of 30", f"{score.value:.2f}"]
    assert html.escape(summary.verdict.sentences[1].split(" (")[0]) in page
    assert page.count('<td class="name">') == min(10, len(summary.features.shown))
    assert 'id="figure-front"' in page
    assert "For the analyst" not in page  # the rest is by its own link
    assert 'href="/studies/scored-study/details"' in page


def test_what_a_new_study_would_select_leads_where_it_is_known(folder):
    found = Replication(
        sentence="", expected=6.9, low=5.0, high=11.0, n_selected=20, agreement=0.4, agreement_low=0.3,
        agreement_high=0.5, half_agreement=0.3, half_low=0.2, half_high=0.4, rows_sentence="", n_pairs=8, cautions=(),
    )  # fmt: skip
    with open_client(folder) as client:
        record = show(client, "/studies/plain-study")
        record.record.results["replication"] = found
        page = render_page("study.html.j2", record.record).body.decode()
    assert "6.9 <small>of 20</small>" in page
    assert "Expected in a new study" in page


def test_what_is_in_doubt_is_listed_apart_on_the_overview(folder):
    with open_client(folder) as client:
        record = show(client, "/studies/scored-study").record
    verdict = record.results["verdict"]
    apart = "Not among the features to trust until that is settled: batch looks like a label."
    record.results["verdict"] = replace(verdict, sentences=(*verdict.sentences[:2], apart))
    assert apart in render_page("study.html.j2", record).body.decode()


def test_a_study_that_runs_has_no_verdict_before_there_are_enough_resamples(folder):
    with open_client(folder) as client:
        record = show(client, "/studies/scored-study").record
    state = replace(record.state, state="running", done=762, total=12_000, rate=40.2)
    record.state, record.results["too_early"] = state, True
    page = plain(render_page("study.html.j2", record).body.decode())
    assert "762 of 12,000 fits · 40 per second, about 5 minutes left" in page
    assert "No verdict yet" in page
    assert "Does it hold?" not in page
    assert "could not be measured" not in page


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(20, "less than a minute"), (70, "about a minute"), (130, "about 2 minutes"), (7_300, "about 2 hours")],
)
def test_the_time_left_is_said_in_words(seconds, words):
    assert describe_time_left(seconds) == f"{words} left"


def test_the_page_says_what_the_report_says(client, folder):
    page = client.get("/studies/scored-study/details").text
    report = render(summarize(hf.load_study(folder / "scored-study.db")))
    for section in ("verdict", "selectors", "tradeoff", "causes", "method", "analyst"):
        assert section_of(page, section) == section_of(report, section)
    own, theirs = (plain(section_of(text, "features")) for text in (page, report))
    hint = "; given the data, the report also checks that they are correlated"
    assert hint in theirs
    address = "MorePage of this feature"  # a report has no such page
    assert address in own
    assert own.replace(address, "") == theirs.replace(hint, "")  # what nobody can do on the page


def test_names_of_features_lead_to_their_pages(client):
    page = client.get("/studies/scored-study/details", params={"candidate": "anova(size=5)"}).text
    table = section_of(page, "features")
    linked = re.findall(
        r'<summary>([^<]+)</summary>(?:(?!<summary>).)*<a href="([^"]+)">Page of this feature', table, re.S
    )
    assert len(linked) == table.count('<td class="name"') > 3
    for name, address in linked[:3]:
        answer = client.get(html.unescape(address)).text
        assert f'<h2 class="one">{name}</h2>' in answer
        assert '<option value="anova(size=5)" selected>' in answer
    assert re.search(r'<dt>Stand-ins</dt><dd><a href="/studies/scored-study/features/\d+', table)
    found = show(client, "/studies/scored-study/details").json()["results"]
    names = [list(DATA.X.columns)[place] for place in found["columns"]]
    assert names == found["summary"]["features"]["table"]["feature"]
    places = re.search(r'data-page="([^"]+)" data-places="([^"]+)"', client.get("/studies/scored-study/details").text)
    assert list(map(int, places[2].split())) == found["columns"]
    assert "/studies/scored-study/features/PLACE?candidate=" in html.unescape(places[1])
    assert "/studies/" not in render(summarize(hf.load_study(client.app.app.state.site.folder.store_of("plain-study"))))


def test_measures_are_called_by_their_labels(client):
    page = client.get("/studies/scored-study/tradeoff", params={"measure": "cw_rel"}).text
    assert "Stability by <b>Relative weighted consistency (CWrel)</b>" in page
    assert '<option value="nogueira" title=' in page
    assert ">nogueira</option>" not in page
    assert ">Nogueira</option>" in page


def test_a_page_of_a_finished_study_does_not_say_after_how_many_fits(client):
    assert "Results after" not in client.get("/studies/scored-study").text
    assert "data-live-study" not in client.get("/studies/scored-study").text


def test_the_way_of_looking_is_chosen_in_the_address(client):
    asked = {"candidate": "random", "rule": "weighted", "weight": "0.9", "measure": "jaccard", "level": "0.9"}
    answer = show(client, "/studies/scored-study/details", params=asked).json()["results"]
    summary, options = answer["summary"], answer["options"]
    assert (summary["candidate"], summary["level"]) == ("random", 0.9)
    assert (summary["stability"]["measure"], summary["tradeoff"]["rule"]) == ("jaccard", "weighted")
    assert (options["rule"]["name"], options["common"]["level"]) == ("weighted", 0.9)
    assert [(parameter["name"], parameter["value"]) for parameter in options["parameters"]] == [("weight", "0.9")]
    page = client.get("/studies/scored-study/details", params=asked).text
    linked = parse_qsl(html.unescape(re.search(r'files/report\.html\?([^"]*)"', page)[1]))
    assert dict(linked) == asked


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_can_be_chosen_with_all_its_parameters(client, rule):
    given = {"stability": "0.1", "weight": "0.4"}  # those that the rule does not have are passed over
    answer = show(client, "/studies/scored-study/details", params={"rule": rule, **given}).json()["results"]
    assert answer["summary"]["tradeoff"]["rule"] == (None if rule == "knot" else rule)  # no selector of several sizes
    assert answer["options"]["lacking"] == ""
    offered = {parameter["name"] for parameter in answer["options"]["parameters"]}
    assert offered == set(RULES[rule].parameters) - {"level"}


def test_a_rule_that_chooses_none_says_why(client):
    tradeoff = show(client, "/studies/scored-study/details?rule=knot").json()["results"]["summary"]["tradeoff"]
    assert "no candidate is at a knot of its profile" in tradeoff["missing"]


def test_a_rule_that_lacks_a_value_says_so_and_the_usual_one_is_used(client):
    answer = show(client, "/studies/scored-study/details", params={"rule": "at-least"}).json()["results"]
    assert answer["options"]["lacking"].startswith("This rule needs a value for stability")
    assert answer["summary"]["tradeoff"]["rule"] == "one-se"
    for part in ("", "/details"):
        page = client.get(f"/studies/scored-study{part}?rule=at-least").text
        assert "This rule needs a value for stability" in page


def test_every_measure_that_is_offered_can_be_shown(client):
    options = show(client, "/studies/plain-study/details").json()["results"]["options"]
    offered = [measure["name"] for measure in options["common"]["measures"]]
    assert "jaccard" in offered
    assert {MEASURES[name].kind for name in offered} == {"subset"}
    for name in offered:
        for part in ("", "/details"):
            assert client.get(f"/studies/plain-study{part}", params={"measure": name}).status_code == 200


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"candidate": "nobody"}, "nobody"),
        ({"rule": "best"}, "best"),
        ({"measure": "gulgezen"}, "gulgezen"),
        ({"measure": "davis"}, "davis"),
        ({"measure": "xx"}, "xx"),
        ({"level": "2"}, "2"),
        ({"level": "nan"}, "nan"),
        ({"rule": "weighted", "weight": "inf"}, "weight"),
        ({"rule": "weighted", "weight": "much"}, "much"),
    ],
)
def test_a_wrong_way_of_looking_is_one_sentence(client, asked, word):
    for path in ("", "/details", "/files/report.json", "/report"):
        answer = show(client, f"/studies/scored-study{path}", params=asked)
        assert answer.status_code == 400, path
        assert word in answer.json()["error"]


def test_a_browser_gets_the_page_at_once_and_the_results_when_they_are_there(client, monkeypatch):
    from holdfast.web.pages import studies

    def slow(*given):
        assert answered.wait(600)
        return found(*given)

    found, answered = studies._find_results, threading.Event()
    monkeypatch.setattr(studies, "_find_results", slow)
    navigate = {"sec-fetch-mode": "navigate"}
    first = client.get("/studies/scored-study", headers=navigate).text
    answered.set()
    assert "data-pending" in first
    assert 'content="0; url=/studies/scored-study?complete=true"' in first
    assert 'id="verdict"' in client.get("/studies/scored-study?complete=true", headers=navigate).text
    assert 'id="verdict"' in client.get("/studies/scored-study", headers={"sec-fetch-mode": "cors"}).text


def test_templates_of_the_page_do_not_stand_before_parts_of_the_report():
    own = {path.name for path in (STATIC.parent / "templates").iterdir()}
    texts = [path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.html.j2")]
    imported = {name for text in texts for name in re.findall(r'{% import "([^"]+)"', text)}
    assert {"macros.html.j2", "choice.html.j2"} <= imported
    assert not own & imported


# Files


@pytest.mark.parametrize("file", FILES)
def test_every_file_is_saved_under_a_name_of_the_study(client, file):
    answer = client.get(f"/studies/scored-study/files/{file}")
    assert answer.status_code == 200
    name = "scored-study.db" if file == "study.db" else f"scored-{file}"
    assert f'attachment; filename="{name}"' in answer.headers["content-disposition"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(answer.content) > 100


def test_files_hold_what_they_are_named_after(client, folder, tmp_path_factory):
    result = hf.load_study(folder / "scored-study.db")
    text = {file: client.get(f"/studies/scored-study/files/{file}").text for file in FILES if file.startswith("rep")}
    assert text == {f"report.{format}": render(summarize(result), format) for format in ("html", "md", "json")}
    assert client.get("/studies/scored-study/files/candidates.tex").text == result.to_latex()
    rows = list(
        csv.DictReader(io.StringIO(client.get("/studies/scored-study/files/features.csv").text.lstrip("\ufeff")))
    )
    assert len(rows) == len(summarize(result).features.table)
    for format in ("csv", "parquet"):
        packed = zipfile.ZipFile(io.BytesIO(client.get(f"/studies/scored-study/files/tables-{format}.zip").content))
        assert f"summary.{format}" in packed.namelist()
        assert packed.testzip() is None
    copy = tmp_path_factory.mktemp("copy") / "s.db"
    copy.write_bytes(client.get("/studies/scored-study/files/study.db").content)
    assert hf.load_study(copy).summary().equals(result.summary())


def test_names_of_files_are_safe(folder):
    odd = 'a "study" ü\r\n;x'
    shutil.copy(folder / "plain-study.db", folder / f"{odd}.db")
    with open_client(folder) as client:
        answer = client.get("/studies/a%20%22study%22%20%C3%BC%0D%0A%3Bx/files/report.md")
        assert answer.status_code == 200
        header = answer.headers["content-disposition"]
        assert re.fullmatch(r"attachment; filename=\"[\w .()+-]+\"; filename\*=UTF-8''[\w.%~+-]+", header)


@pytest.mark.parametrize("file", ["token", "..%2F..%2Ftoken", "study.db-wal", "report.exe", "%00"])
def test_no_other_file_is_given(client, file):
    assert client.get(f"/studies/scored-study/files/{file}").status_code == 404


def test_the_report_by_itself_may_do_nothing_on_the_page(client):
    answer = client.get("/studies/scored-study/report")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith(page_policy())
    assert "sandbox allow-scripts allow-downloads allow-popups;" in policy
    assert "allow-same-origin" not in policy
    assert answer.headers["cross-origin-opener-policy"] == "unsafe-none"
    assert "content-disposition" not in answer.headers


# What can be done


def test_a_removed_study_is_moved_and_can_be_moved_back(client, folder):
    before = show(client, "/studies/plain-study/details").json()
    answer = client.delete("/api/v1/studies/plain-study").json()
    assert answer == {"study": "plain-study", "place": ".holdfast-page/removed/plain-study.db"}
    assert client.get("/studies/plain-study").status_code == 404
    assert answer["place"] in client.get("/", params={"removed": "plain-study"}).text
    assert "was moved" not in client.get("/", params={"removed": "../../etc/passwd"}).text
    shutil.copy(folder / "scored-study.db", folder / "plain-study.db")
    assert len(show(client, "/studies/plain-study/details").json()["results"]["summary"]["candidates"]) == 3
    assert client.delete("/api/v1/studies/plain-study").json()["place"].endswith("plain-study-2.db")
    (folder / answer["place"]).rename(folder / "plain-study.db")
    again = show(client, "/studies/plain-study/details").json()
    assert again["results"]["summary"] == before["results"]["summary"]


@pytest.mark.slow
def test_buttons_are_there_where_they_can_be_used(client, folder):
    site = client.app.app.state.site
    site.launcher.submit("long-study", [*LONG, str(folder / "long-study.db"), "breast_cancer"])
    site.launcher.submit("next-study", [*SMALL, str(folder / "next-study.db"), "breast_cancer"])

    def state(study):
        return client.get(f"/api/v1/studies/{study}/state").json()

    def buttons(study):
        page = client.get(f"/studies/{study}").text
        return {path.rpartition("/")[2] for path in re.findall(r'data-(?:post|delete)="([^"]+)"', page)}

    wait_for(lambda: state("long-study")["done"] > 0, 120)
    assert buttons("long-study") == {"stop"}
    page = client.get("/studies/long-study").text
    assert 'data-live-study="long-study"' in page
    assert re.search(r"Results after \d+ of 2,000 fits", plain(page))
    assert "number 1 in the queue" in client.get("/").text
    assert buttons("next-study") == {"stop"}
    assert client.delete("/api/v1/studies/long-study").status_code == 409
    assert client.get("/studies/long-study/files/study.db").content[:15] == b"SQLite format 3"
    client.post("/api/v1/studies/next-study/stop")
    assert "next-study" not in [listed["study"] for listed in client.get("/api/v1/studies").json()["studies"]] or (
        state("next-study")["state"] == "stopped"
    )
    client.post("/api/v1/studies/long-study/stop")
    stopped = wait_for(lambda: (seen := state("long-study"))["state"] == "stopped" and seen)
    assert buttons("long-study") == {"resume", "long-study"}
    client.post("/api/v1/studies/long-study/resume")
    wait_for(lambda: state("long-study")["done"] > stopped["done"])
    client.post("/api/v1/studies/long-study/stop")
    wait_for(lambda: state("long-study")["state"] == "stopped")


def test_a_study_that_could_not_begin_says_why_and_can_be_tried_again(client, folder):
    site = client.app.app.state.site
    site.launcher.submit("bad-study", [*SMALL, str(folder / "bad-study.db"), str(folder / "missing.csv")])
    wait_for(lambda: client.get("/api/v1/studies/bad-study/state").json()["state"] == "failed")
    page = plain(client.get("/studies/bad-study").text)
    assert "missing.csv" in page
    assert str(folder) not in page
    assert "it ended before its first fit" in page
    assert "Try again" in page
    assert client.post("/api/v1/studies/bad-study/resume").status_code == 202
    wait_for(lambda: client.get("/api/v1/studies/bad-study/state").json()["state"] == "failed")
    assert client.delete("/api/v1/studies/bad-study").json()["place"] is None
    assert client.get("/studies/bad-study").status_code == 404


# The first page


@pytest.mark.parametrize("path", ["/", "/new", "/measure", "/explore"])
def test_the_navigation_says_where_one_is(client, path):
    page = client.get(path).text
    assert re.findall(r'<a href="([^"]+)" aria-current="page">', page) == [path]
    labels = re.findall(r'<nav[^>]* aria-label="([^"]+)"', page)
    assert len(set(labels)) == len(labels)


def test_the_first_page_says_what_each_study_is_about(client):
    page = plain(client.get("/").text)
    assert "data from a program: 569 rows × 30 features · ANOVA F, Random choice · 12 resamples" in page
    listed = show(client, "/").json()["studies"]
    assert {study["overview"]["selectors"][0] for study in listed} >= {"ANOVA F"}
    assert all(not study["overview"]["resumable"] for study in listed)


def test_an_empty_folder_says_what_to_do(tmp_path):
    with open_client(tmp_path) as client:
        page = client.get("/").text
    assert "There are none yet" in page
    assert 'href="/new"' in page


def test_the_folder_of_a_benchmark_is_shown_as_its_studies(client, folder):
    (folder / "benchmark.json").write_text("{}")
    assert "data sets of one benchmark" in client.get("/").text


def test_many_studies_are_counted_once(folder, monkeypatch):
    for number in range(20):
        shutil.copy(folder / "plain-study.db", folder / f"copy-{number}.db")
    for path in folder.glob("*.db"):
        os.utime(path, (time.time() - 60, time.time() - 60))
    with open_client(folder) as client:
        first = client.get("/").text
        for name in ("holdfast.web.launcher.read_progress", "holdfast.web.results.read_overview"):
            monkeypatch.setattr(name, lambda path: pytest.fail(f"{path} was read again"))
        assert client.get("/").text == first


# Odd stores


def damaged(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE outcomes SET seconds = seconds + 1 WHERE split = 0")
    connection.close()


def of_another_format(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'format'")
    connection.close()


def of_another_program(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE addresses (name)")
    connection.close()


def truncated(path):
    path.write_bytes(path.read_bytes()[:-5000])


def without_meta(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = 'x' WHERE key IN ('plan', 'data_record')")
    connection.close()


def just_begun(path):
    path.unlink()
    with open_to_write(path):
        pass


@pytest.mark.parametrize("harm", [damaged, of_another_format, of_another_program, truncated, without_meta, just_begun])
def test_a_store_that_cannot_be_read_is_one_sentence(folder, harm):
    harm(folder / "plain-study.db")
    with open_client(folder) as client:
        page = client.get("/studies/plain-study")
        assert page.status_code == 200
        answer = show(client, "/studies/plain-study/details").json()
        assert answer["results"] is None
        assert answer["missing"].endswith(".")
        assert str(folder) not in page.text
        assert "plain-study" in client.get("/").text
        saved = client.get("/studies/plain-study/files/report.html")
        assert saved.status_code in (400, 404)
        assert client.get("/studies/plain-study/report").status_code in (400, 404)
        assert client.delete("/api/v1/studies/plain-study").status_code == 200


def test_a_study_of_which_every_fit_failed_says_so(client):
    page = client.get("/studies/broken-study")
    assert page.status_code == 200
    assert "fail" in plain(page.text)
    assert client.get("/studies/broken-study/files/features.csv").status_code == 404
    for file in set(FILES) - {"features.csv"}:
        assert client.get(f"/studies/broken-study/files/{file}").status_code == 200, file


def test_a_study_without_scores_has_a_page_and_files(client):
    assert "There is no choice by accuracy and stability" in client.get("/studies/plain-study/details").text
    page = client.get("/studies/plain-study").text
    assert "Not measured" in page
    assert 'id="figure-map"' in page  # there is one candidate without a score, so nothing to compare
    for file in FILES:
        assert client.get(f"/studies/plain-study/files/{file}").status_code == 200, file


# The store


def test_an_overview_is_read_from_a_few_facts(folder, tmp_path_factory):
    overview = read_overview(folder / "scored-study.db")
    assert (overview.data.rows, overview.data.features, list(overview.selectors)) == (569, 30, ["anova", "random"])
    assert overview.command is None
    just_begun(folder / "plain-study.db")
    assert read_overview(folder / "plain-study.db") is None
    without_meta(folder / "scored-study.db")
    assert read_overview(folder / "scored-study.db") is None


def test_a_copy_is_the_store_of_one_moment(folder, tmp_path_factory):
    place = tmp_path_factory.mktemp("copy") / "copy.db"
    with open_to_write(folder / "scored-study.db"):
        copy_store(folder / "scored-study.db", place)
    assert read_progress(place) == read_progress(folder / "scored-study.db")
    assert not list(place.parent.glob("copy.db-*"))
    with pytest.raises(StoreError, match="got no file"):
        copy_store(folder / "missing.db", place)


def test_two_clients_see_the_same(client, folder):
    with open_client(folder) as other:
        pages = [show(one, "/studies/scored-study/details").json() for one in (client, other)]
    assert json.dumps(pages[0]["results"]["summary"]) == json.dumps(pages[1]["results"]["summary"])


def test_a_snapshot_keeps_the_answers_that_were_asked_for_last(folder):
    from holdfast.web.folder import Folder
    from holdfast.web.results import MAX_ANSWERS, Results

    asked = []
    snapshot = Results(Folder(folder)).get("plain-study")
    for number in [*range(MAX_ANSWERS), 0, MAX_ANSWERS, 0, 1]:
        assert snapshot.remember(number, lambda result, number=number: asked.append(number) or number) == number
    assert asked == [*range(MAX_ANSWERS), MAX_ANSWERS, 1]
