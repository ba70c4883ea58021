"""New study in the page: from a table with its questions, over a plan and its cost, to a study that runs and grows."""

import re
import shutil
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest

import holdfast as hf
from holdfast.declared import About
from holdfast.selectors import SELECTORS, AnovaF, NamedSelector
from holdfast.web import plans
from serving import drop, open_client, open_page, show, start_server, upload, wait_for

DATA = "HOLDFAST_DATA"
NAMES = ("expression.csv", "samples.csv")


@pytest.fixture
def client(tmp_path):
    with open_client(tmp_path / "studies") as client:
        yield client


@pytest.fixture(scope="module")
def patients():
    """A European table: semicolons, decimal commas, umlauts, a number for each patient, a column of texts."""
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, 60)
    values = rng.normal(size=(60, 8)).round(3)
    values[:, 0] += 2 * ill
    frame = pd.DataFrame(values, columns=[f"Größe {place}" for place in range(8)])
    frame.insert(0, "patient_id", range(1, 61))
    frame["Geschlecht"] = rng.choice(["m", "w"], 60)
    frame["Diagnose"] = np.where(ill, "krank", "gesund")
    return frame.to_csv(index=False, sep=";", decimal=",").encode("cp1252")


@pytest.fixture(scope="module")
def genes():
    """A table with genes in rows, and a second one with the samples and what is to be predicted."""
    rng = np.random.default_rng(1)
    ill = rng.integers(0, 2, 40)
    values = rng.normal(size=(100, 40)).round(3)
    values[0] += 2 * ill
    samples = [f"sample{place}" for place in range(40)]
    frame = pd.DataFrame(values, columns=samples, index=pd.Index([f"GENE{place}" for place in range(100)], name="gene"))
    second = pd.DataFrame({"sample": samples, "status": np.where(ill, "case", "control")})
    return frame.to_csv().encode(), second.to_csv(index=False).encode()


def answer_all(client, key, answers, **said):
    """Answer the questions about a table as a person would; what was said at last, and what was asked."""
    asked = []
    while True:
        page = show(client, f"/data/{key}", params=said).json()
        assert client.get(f"/data/{key}", params=said).status_code == 200
        question = page["table"]["question"]
        if question is None:
            return page, asked
        assert question["option"] not in asked, question
        asked.append(question["option"])
        said |= answers[question["option"]]


def plan_body(client, page, resamples=6, **changes):
    """The plan that the page proposes, with fewer resamples."""
    plan = show(client, page["plan"]).json()
    usual = {kind: [o["name"] for o in offers if o["chosen"]] for kind, offers in plan["offers"].items()
             if kind != "left_out"}  # fmt: skip
    grows = {"n_splits": str(resamples)}
    proposed = {
        "selectors": [{"name": name} for name in usual["selectors"]], "sizes": plan["sizes"],
        "perturbation": {"name": usual["perturbations"][0], "parameters": grows},
        "model": {"name": usual["models"][0]}, "scores": usual["scores"],
    }  # fmt: skip
    return {"data": plan["data"], "plan": {**proposed, **changes}}


def finish(client, study, done=None):
    """Wait until a study has ended, with so many fits if they are said."""

    def ended():
        state = client.get(f"/api/v1/studies/{study}/state").json()
        return state["state"] in ("finished", "failed", "stopped") and done in (None, state["done"]) and state

    return wait_for(ended)


# From a table to a study


@pytest.mark.slow
def test_survival_times_are_studied_from_the_upload_to_the_curves(client):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    frame["os_days"] = rng.exponential(100 * np.exp(-frame["a"])).round() + 1
    frame["status"] = rng.choice(["alive", "dead"], 60)
    frame["site"] = rng.choice(["Bern", "Graz", "Oslo"], 60)
    key = upload(client, frame.to_csv(index=False).encode(), "patients.csv")
    answers = {
        "target": {"target": "os_days"}, "task": {"task": "survival"}, "event": {"event": "status"},
        "categorical": {"sites": "site"}, "event_is": {"event_is": "dead"},
    }  # fmt: skip
    page, asked = answer_all(client, key, answers)
    assert asked == [*answers]
    assert page["table"]["record"]["events"] == (frame["status"] == "dead").sum()
    (adjust,) = (
        option["default"] for option in show(client, page["plan"]).json()["options"] if option["name"] == "adjust"
    )
    body = plan_body(client, page, 6, selectors=[{"name": "cox_score"}], sizes="2", adjust=adjust)
    cost = client.post("/api/v1/cost", json=body).json()
    assert "--target=os_days --event=status --event-is=dead --sites=site --task=survival" in cost["command"]
    study = client.post("/api/v1/studies", json=body).json()["study"]
    assert finish(client, study)["state"] == "finished"
    assert 'id="figure-survival"' in client.get(f"/studies/{study}/features/0").text


@pytest.mark.slow
def test_a_european_table_is_studied_from_the_upload_to_the_result(client, patients):
    key = upload(client, patients, "Patienten (Größe).csv")
    answers = {
        "target": {"target": "Diagnose"},
        "categorical": {"categorical": "one-hot"},
        "ignore": {"ignore": ["patient_id"], "asked": ["patient_id"]},
        "encoding": {"encoding": "cp1252"},
    }
    page, asked = answer_all(client, key, answers)
    assert [option for option in asked if option != "encoding"] == ["target", "categorical", "ignore"]
    record = page["table"]["record"]
    assert (record["rows"], record["features"], record["task"]) == (60, 9, "classification")
    assert dict(map(tuple, record["classes"])).keys() == {"gesund", "krank"}
    assert "Größe 0" in client.get(page["plan"].replace("/plan", "")).text

    body = plan_body(client, page)
    cost = client.post("/api/v1/cost", json=body).json()
    fits, candidates = map(int, re.match(r"(\d+) fits: (\d+) candidates on 6 resamples", cost["sentence"]).groups())
    assert fits == 6 * candidates
    assert cost["command"].startswith("holdfast study --target=Diagnose")
    assert cost["command"].endswith("-- 'Patienten (Größe).csv'")
    assert "holdfast-page" not in str(cost)

    small = plan_body(client, page, 3, selectors=[{"name": "anova"}], sizes="2")
    started = client.post("/api/v1/studies", json=small)
    assert started.status_code == 202
    study = started.json()["study"]
    assert study == "Patienten (Größe)-study"
    state = finish(client, study)
    assert (state["state"], state["done"]) == ("finished", 3)
    found = show(client, f"/studies/{study}/details").json()["results"]["summary"]
    assert "Größe 0" in str(found)


@pytest.mark.slow
def test_a_table_with_features_in_rows_and_its_target_in_a_second_file(client, genes):
    first, second = (upload(client, content, name) for content, name in zip(genes, NAMES, strict=True))
    answers = {
        "transpose": {"transpose": "true"}, "target_file": {"target_file": second}, "target": {"target": "status"}
    }  # fmt: skip
    page, asked = answer_all(client, first, answers)
    assert asked == ["transpose", "target_file", "target"]
    assert (page["table"]["record"]["rows"], page["table"]["record"]["features"]) == (40, 100)
    body = plan_body(client, page, 3, selectors=[{"name": "anova"}], sizes="5")
    cost = client.post("/api/v1/cost", json=body).json()
    assert "--transpose --target-file=samples.csv" in cost["command"]
    study = client.post("/api/v1/studies", json=body).json()["study"]
    assert finish(client, study)["done"] == 3


def test_a_column_that_looks_like_no_feature_can_be_kept(client, patients):
    key = upload(client, patients, "patients.csv")
    said = {"target": "Diagnose", "categorical": "drop", "encoding": "cp1252", "asked": "patient_id"}
    record = show(client, f"/data/{key}", params=said).json()["table"]["record"]
    assert record["features"] == 9
    assert any("patient_id" in note for note in record["notes"])


def test_rows_of_one_patient_are_kept_together(client):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 5)).round(3), columns=list("abcde"))
    frame["patient_id"], frame["ill"] = np.repeat(range(20), 3), np.repeat(["yes", "no"], 30)
    key = upload(client, frame.to_csv(index=False).encode(), "visits.csv")
    page = show(client, f"/data/{key}", params={"target": "ill"}).json()
    assert page["table"]["question"]["option"] == "ignore"
    assert "patient_id names the groups" in client.get(f"/data/{key}", params={"target": "ill"}).text
    page = show(client, f"/data/{key}", params={"target": "ill", "groups": "patient_id"}).json()
    assert page["table"]["record"]["n_groups"] == 20
    assert "--groups=patient_id" in client.post("/api/v1/cost", json=plan_body(client, page)).json()["command"]


@pytest.mark.parametrize("texts", [False, True])
def test_a_column_named_like_a_batch_is_offered_as_sites(client, texts):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 5)).round(3), columns=list("abcde"))
    frame["plate"], frame["ill"] = np.repeat(["p", "q", "r"] if texts else [1, 2, 3], 20), ["yes", "no"] * 30
    key = upload(client, frame.to_csv(index=False).encode(), "plates.csv")
    assert "says where rows come from" not in client.get(f"/data/{key}").text  # the target is asked for first
    asked = client.get(f"/data/{key}", params={"target": "ill"}).text
    assert '<button name="sites" value="plate">plate says where rows come from</button>' in asked
    assert '>plate<span class="role">may say where rows come from</span>' in asked
    page = show(client, f"/data/{key}", params={"target": "ill", "sites": "plate"}).json()
    assert page["table"]["record"]["features"] == 5
    given = client.get(f"/data/{key}", params={"target": "ill", "sites": "plate"}).text
    assert '>plate<span class="role">where rows come from</span>' in given
    assert "says where rows come from" not in given
    assert "--sites=plate" in client.post("/api/v1/cost", json=plan_body(client, page)).json()["command"]


@pytest.mark.parametrize(
    ("kind", "chosen"), [("classes", ["anova", "lasso"]), ("numbers", ["f_test", "hybrid_rfe", "lasso"])]
)
def test_selectors_that_can_be_adjusted_are_chosen_next_to_covariates(client, kind, chosen):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 5)).round(3), columns=list("abcde"))
    frame["y"] = rng.normal(size=60).round(3) if kind == "numbers" else ["yes", "no"] * 30
    key = upload(client, frame.to_csv(index=False).encode(), f"{kind}.csv")
    page = show(client, f"/data/{key}", params={"target": "y", "covariates": "a"}).json()
    offers = show(client, page["plan"]).json()["offers"]
    assert [offer["name"] for offer in offers["selectors"] if offer["chosen"]] == chosen
    assert offers["left_out"].startswith("Those that are chosen can be adjusted for sites and covariates")
    assert "command" in client.post("/api/v1/cost", json=plan_body(client, page)).json()


def test_columns_of_a_wide_table_are_found_by_a_part_of_their_names(client, genes):
    key = upload(client, genes[0], "expression.csv")
    found = client.get(f"/api/v1/data/{key}/columns", params={"transpose": "true", "text": "gene9"}).json()
    assert found == {"columns": ["GENE9", *(f"GENE{place}" for place in range(90, 100))], "total": 11}
    assert client.get(f"/api/v1/data/{key}/columns").json()["columns"][:2] == ["gene", "sample0"]


def test_the_preview_of_a_wide_table_shows_what_is_to_be_predicted(client):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 30))).add_prefix("x")
    frame["outcome"] = ["ill", "well"] * 10
    key = upload(client, frame.to_csv(index=False).encode(), "wide.csv")
    asked = client.get(f"/data/{key}").text
    assert '>outcome<span class="role">may be the one to predict</span>' in asked
    assert "19 are not shown" in asked
    chosen = client.get(f"/data/{key}", params={"target": "outcome"}).text
    assert (
        '<th scope="col" class="chosen">outcome<span class="role">to predict</span></th><th scope="col">x0</th>'
        in chosen
    )


def test_uploads_are_listed_and_removed_and_known_data_need_no_download(client, patients, monkeypatch, tmp_path):
    monkeypatch.setenv(DATA, str(tmp_path / "none"))
    key = upload(client, patients, "patients.csv")
    page = show(client, "/new").json()
    assert [(given["upload"], given["name"]) for given in page["uploads"]] == [(key, "patients.csv")]
    assert [data["name"] for data in page["known"]] == ["breast_cancer"]
    assert ".xlsx" in page["endings"]
    assert 'data-delete="/uploads/' in client.get("/new").text
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "sonar.parquet").touch()
    assert [data["name"] for data in show(client, "/new").json()["known"]] == ["breast_cancer", "sonar"]


@pytest.mark.slow
def test_a_known_data_set_is_studied(client):
    page = show(client, "/data/known/breast_cancer").json()
    assert page["table"]["record"]["features"] == 30
    assert "569 samples of 30 features" in client.get("/data/known/breast_cancer").text
    assert client.get(page["plan"]).status_code == 200
    body = plan_body(client, page, 3, selectors=[{"name": "anova"}])
    study = client.post("/api/v1/studies", json=body).json()["study"]
    assert study == "breast_cancer-study"
    assert finish(client, study)["state"] == "finished"


def test_a_study_has_the_name_that_it_was_given_or_that_of_its_data(client, tmp_path):
    page = client.get("/data/known/breast_cancer/plan").text
    assert 'placeholder="breast_cancer-study"' in page
    named = client.post("/api/v1/studies", json={**KNOWN, "name": "  My study (β) "})
    assert (named.status_code, named.json()["study"]) == (202, "My study (β)")
    assert client.post("/api/v1/studies", json=KNOWN).json()["study"] == "breast_cancer-study"
    assert 'placeholder="breast_cancer-study-2"' in client.get("/data/known/breast_cancer/plan").text
    again = client.post("/api/v1/studies", json={**KNOWN, "name": "my STUDY (β)"})
    assert again.status_code == 409
    assert "named my STUDY (β) in this folder already; choose another name." in again.json()["error"]
    for name in ("../elsewhere", "-rf", ".hidden", "a/b", "a\0b", "a\nb", "<b>", "x" * 300, "ends.", "*"):
        wrong = client.post("/api/v1/studies", json={**KNOWN, "name": name})
        assert (wrong.status_code, "short name of letters" in wrong.json()["error"]) == (400, True), name
    assert len(client.get("/api/v1/studies").json()["studies"]) == 2


def test_a_selector_of_a_plug_in_stands_on_the_page(client):
    about = About(name="plugged", label="Plugged <b>in</b>", summary="From a package.")
    SELECTORS.add(NamedSelector(about=about, make=AnovaF))
    try:
        text = client.get("/data/known/breast_cancer/plan").text
        assert 'name="selector" value="plugged"' in text
        assert "Plugged &lt;b&gt;in&lt;/b&gt;" in text
    finally:
        SELECTORS.remove("plugged")


# What is refused


def test_what_cannot_be_read_is_a_sentence_and_can_be_read_in_another_way(client):
    key = upload(client, b"\x00\x01\x02" * 50, "nothing.xlsx")
    page = show(client, f"/data/{key}").json()
    assert page["problem"].endswith(".")
    assert page["table"] is None
    assert "holdfast-page" not in page["problem"]
    assert 'id="options" open' in client.get(f"/data/{key}").text


def test_a_plan_of_a_table_with_an_open_question_is_refused_with_the_question(client, patients):
    key = upload(client, patients, "patients.csv")
    for path in ("/api/v1/studies", "/api/v1/cost"):
        body = {"data": {"upload": key, "reading": {"encoding": "cp1252"}}, "plan": ANOVA}
        answer = client.post(path, json=body)
        assert answer.status_code == 400
        assert answer.json()["question"]["option"] == "target"
    page = show(client, f"/data/{key}/plan", params={"encoding": "cp1252"})
    assert page.status_code == 400
    assert page.json()["error"] == answer.json()["error"]


ANOVA = {"selectors": [{"name": "anova"}], "perturbation": {"name": "bootstrap", "parameters": {"n_splits": "3"}}}
KNOWN = {"data": {"known": "breast_cancer"}, "plan": ANOVA}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({**KNOWN, "data": {}}, "an upload or the name of a known data set"),
        ({**KNOWN, "data": {"known": "../../etc/passwd"}}, "no such data set"),
        ({**KNOWN, "data": {"upload": "../../etc/passwd"}}, "no such upload"),
        ({**KNOWN, "data": {"known": "breast_cancer", "path": "/etc/passwd"}}, "unknown entries: path"),
        ({**KNOWN, "plan": {**ANOVA, "selectors": [{"name": "sklearn.svm.SVC"}]}}, "Expected a selector for"),
        ({**KNOWN, "plan": {**ANOVA, "model": {"name": "os.system"}}}, "Expected a model for these data"),
        ({**KNOWN, "plan": {**ANOVA, "cores": 10_000}}, "the number of cores to be from 1"),
        ({**KNOWN, "plan": {**ANOVA, "cores": 0}}, "the number of cores to be from 1"),
        ({**KNOWN, "plan": {**ANOVA, "seed": "0; rm -rf"}}, "Expected a JSON"),
        ({**KNOWN, "plan": {**ANOVA, "store": "/tmp/x.db"}}, "unknown entries: store"),
        ({**KNOWN, "plan": {**ANOVA, "selectors": [{"name": "anova", "parameters": {"ties": 5}}]}}, "Expected a JSON"),
        ({**KNOWN, "plan": {**ANOVA, "selectors": [{"name": "anova", "parameters": {"memory": "x"}}]}}, "got 'memory'"),
        ({"plan": ANOVA}, "lacks data"),
        ([], "Expected an object"),
    ],
)  # fmt: skip
def test_a_hostile_body_is_one_sentence_and_starts_nothing(client, body, sentence):
    for path in ("/api/v1/studies", "/api/v1/cost"):
        answer = client.post(path, json=body)
        assert answer.status_code in (400, 404), answer.text
        assert sentence in answer.json()["error"]
    assert client.get("/api/v1/studies").json()["studies"] == []


def test_hostile_names_of_columns_stay_names(client):
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(40, 4)).round(3), columns=["--store=x", "a|b", "c:d", "e,f"]
    )
    frame['<script>alert("1")</script>'] = ["yes", "no"] * 20
    key = upload(client, frame.to_csv(index=False).encode(), "--help.csv")
    said = {"target": '<script>alert("1")</script>', "ignore": "--store=x"}
    assert "<script>alert" not in client.get(f"/data/{key}", params=said).text
    page = show(client, f"/data/{key}", params=said).json()
    assert page["table"]["record"]["features"] == 3
    assert "<script>alert" not in client.get(page["plan"]).text
    body = plan_body(client, page, 3, selectors=[{"name": "anova"}], sizes="1")
    study = client.post("/api/v1/studies", json=body).json()["study"]
    assert finish(client, study)["done"] == 3


def test_a_plan_that_the_data_cannot_serve_is_told_with_the_cost(client):
    wrong = {"name": "symmetrical_uncertainty", "parameters": {"n_bins": "1000"}}
    answer = client.post("/api/v1/cost", json={**KNOWN, "plan": {**ANOVA, "selectors": [wrong]}})
    assert answer.status_code == 400
    assert "n_bins" in answer.json()["error"]
    partly = client.post("/api/v1/cost", json={**KNOWN, "plan": {**ANOVA, "selectors": [wrong, {"name": "anova"}]}})
    (warning,) = partly.json()["warnings"]
    assert warning.startswith("symmetrical_uncertainty could not be fitted")


def test_a_study_without_room_on_the_disk_is_not_started(client, monkeypatch):
    usage = namedtuple("usage", "total used free")
    assert client.post("/api/v1/cost", json=KNOWN).json()["warnings"] == []
    monkeypatch.setattr(plans.shutil, "disk_usage", lambda path: usage(10**12, 10**12, plans.SPARE + 1000))
    assert "not enough room" in client.post("/api/v1/cost", json=KNOWN).json()["warnings"][0]
    answer = client.post("/api/v1/studies", json=KNOWN)
    assert answer.status_code == 507
    assert "not enough room on the disk (0 MB" in answer.json()["error"]


def test_a_study_that_will_be_long_or_large_is_told(client, monkeypatch):
    monkeypatch.setattr(plans, "LONG_SECONDS", 0)
    monkeypatch.setattr(plans, "LARGE_BYTES", 0)
    long, large = client.post("/api/v1/cost", json=KNOWN).json()["warnings"]
    assert "can be stopped and resumed" in long
    assert "free on the disk" in large


def test_an_estimate_that_takes_too_long_says_so(client, monkeypatch):
    async def late(name, arguments):
        return {"late": True}

    monkeypatch.setattr(client.app.app.state.site, "run_task", late)
    cost = client.post("/api/v1/cost", json=KNOWN).json()
    assert cost["warnings"] == [cost["sentence"]]


# Adding to a study


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A finished study of a known data set that the page started, as a folder to copy."""
    folder = tmp_path_factory.mktemp("grown") / "studies"
    with open_client(folder) as client:
        study = client.post("/api/v1/studies", json={**KNOWN, "plan": {**ANOVA, "sizes": "2, 3"}}).json()["study"]
        assert finish(client, study)["state"] == "finished"
    return folder


def test_resamples_and_selectors_are_added_and_what_was_found_stays(grown, tmp_path):
    shutil.copytree(grown, tmp_path / "studies")
    store = tmp_path / "studies" / "breast_cancer-study.db"
    before = hf.load_study(store)
    with open_client(tmp_path / "studies") as client:
        page = show(client, "/studies/breast_cancer-study/extend").json()
        assert (page["why_not"], page["number"], page["sizes"]) == ("", 3, "2, 3")
        assert "anova" not in [offer["name"] for offer in page["selectors"]]
        assert client.get("/studies/breast_cancer-study/extend").status_code == 200
        body = {"resamples": 2, "selectors": [{"name": "lasso"}], "sizes": "2, 3"}
        assert client.post("/api/v1/studies/breast_cancer-study/extend", json=body).status_code == 202
        finish(client, "breast_cancer-study", done=20)
        assert show(client, "/studies/breast_cancer-study/extend").json()["number"] == 5
    after = hf.load_study(store)
    assert set(after.candidates) - set(before.candidates) == {"lasso(size=2)", "lasso(size=3)"}
    for candidate in before.candidates:
        old, new = (result.preferences(candidate) for result in (before, after))
        assert (len(old), len(new)) == (3, 5)
        assert new.take(range(3)) == old


def test_a_study_that_has_ended_leads_to_what_can_be_added(grown, tmp_path):
    shutil.copytree(grown, tmp_path / "studies")
    with open_client(tmp_path / "studies") as client:
        assert 'href="/studies/breast_cancer-study/extend"' in client.get("/studies/breast_cancer-study").text


@pytest.mark.slow
def test_a_finished_study_says_why_nothing_could_be_added_to_it(grown, tmp_path):
    shutil.copytree(grown, tmp_path / "studies")
    address, store = "/api/v1/studies/breast_cancer-study", tmp_path / "studies" / "breast_cancer-study.db"
    other = ["study", "--quiet", "--seed=7", "--select=anova", f"--store={store}", "--", "breast_cancer"]
    with open_client(tmp_path / "studies") as client:
        assert client.get(f"{address}/state").json()["message"] == ""
        client.app.app.state.site.launcher.submit("breast_cancer-study", other)
        state = finish(client, "breast_cancer-study")
        assert state["state"] == "finished"
        assert "nothing could be added to it: " in state["message"]
        assert str(tmp_path) not in state["message"]
        assert "nothing could be added to it: " in client.get("/studies/breast_cancer-study").text
        again = client.post(f"{address}/extend", json={"resamples": 1})
        assert (again.status_code, again.json()["state"]) == (202, "starting")  # not running, with all fits done
        assert finish(client, "breast_cancer-study")["message"] == ""


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "or selectors, got neither"),
        ({"resamples": -1}, "the number of resamples to add"),
        ({"selectors": [{"name": "os.system"}]}, "Expected a selector for these data"),
        ({"selectors": [{"name": "anova"}], "sizes": "2, 3"}, "has anova with these values already"),
        ({"resamples": 1, "cores": 9999}, "the number of cores"),
    ],
)
def test_a_wrong_addition_is_one_sentence(grown, tmp_path, body, sentence):
    shutil.copytree(grown, tmp_path / "studies")
    with open_client(tmp_path / "studies") as client:
        answer = client.post("/api/v1/studies/breast_cancer-study/extend", json=body)
        assert answer.status_code == 400
        assert sentence in answer.json()["error"]
        assert client.post("/api/v1/studies/missing/extend", json={"resamples": 1}).status_code == 404


def test_folds_are_repeated_and_python_is_continued_in_python(tmp_path):
    data = hf.datasets.load("breast_cancer")
    study = hf.Study(selectors={"anova": AnovaF(2)}, perturbation=hf.Bootstrap(2))
    study.run(data.X, data.y, store=tmp_path / "python.db", progress=False)
    folds = hf.Study(selectors={"mine": AnovaF(2)}, perturbation=hf.Folds(3))
    command = {"data": "breast_cancer", "select": {"mine": "anova:k=2"}, "perturb": "folds:n_splits=3", "seed": 0}
    folds.run(data.X, data.y, store=tmp_path / "folds.db", progress=False, command=command)
    with open_client(tmp_path) as client:
        assert "begun in Python" in show(client, "/studies/python/extend").json()["why_not"]
        answer = client.post("/api/v1/studies/python/extend", json={"resamples": 1})
        assert (answer.status_code, "begun in Python" in answer.json()["error"]) == (409, True)
        page = show(client, "/studies/folds/extend").json()
        assert (page["unit"], page["number"], page["more"]) == ("repetitions", 1, 1)


def test_a_store_cannot_have_code_imported_by_growing(tmp_path):
    data = hf.datasets.load("breast_cancer")
    study = hf.Study(selectors={"anova": AnovaF(2)}, perturbation=hf.Bootstrap(2))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    command = {"data": "breast_cancer", "select": ["evil.Selector"], "perturb": "bootstrap:n_splits=2"}
    study.run(data.X, data.y, store=tmp_path / "evil.db", progress=False, command=command)
    with open_client(tmp_path) as client:
        assert client.post("/api/v1/studies/evil/extend", json={"resamples": 1}).status_code == 202
        launcher = client.app.app.state.site.launcher
        wait_for(lambda: not launcher.state("evil").active)
        assert "nothing was imported" in (launcher.folder.logs / "evil.txt").read_text()
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_study_whose_table_was_removed_is_not_grown(client, patients):
    key = upload(client, patients, "patients.csv")
    said = {"target": "Diagnose", "categorical": "drop", "encoding": "cp1252", "ignore": "patient_id"}
    page = show(client, f"/data/{key}", params=said).json()
    study = client.post("/api/v1/studies", json=plan_body(client, page, 2, selectors=[{"name": "anova"}])).json()[
        "study"
    ]
    finish(client, study)
    client.delete(f"/api/v1/uploads/{key}")
    answer = client.post(f"/api/v1/studies/{study}/extend", json={"resamples": 2})
    assert (answer.status_code, "was the upload removed" in answer.json()["error"]) == (409, True)


# In a browser


@pytest.fixture
def page(browser, tmp_path):
    """A page of a server of its own; at the end no script may have complained, and nothing left this machine."""
    with start_server(tmp_path / "studies") as (address, _), open_page(browser, address) as page:
        yield page
        page.wrong = [text for text in page.wrong if "the server responded with a status of 400" not in text]


TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.mark.browser
def test_a_person_with_a_table_clicks_through_to_a_finished_study(page, patients):
    page.get_by_role("link", name="New study").click()
    page.set_input_files("#table-file", {"name": "Patienten.csv", "mimeType": "text/csv", "buffer": patients})
    page.get_by_role("button", name="Diagnose").click()
    page.get_by_role("button", name="Make a yes/no column of each category").click()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("heading", name="This table can be studied").wait_for()
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.evaluate(TOO_WIDE)
    page.get_by_role("link", name="Plan the study").click()
    page.get_by_text("fits:").wait_for()
    page.get_by_role("textbox", name="Number of bootstrap samples").fill("8")
    page.keyboard.press("Tab")
    page.get_by_text("on 8 resamples").wait_for()
    page.get_by_label("ReliefF", exact=False).first.uncheck()
    page.get_by_text("12 candidates on 8 resamples").wait_for()
    page.get_by_text("The same on the command line").click()
    assert "--select=anova:" in page.locator("[data-command]").inner_text()
    page.get_by_label("Name of the study").fill("Erste Studie")
    page.get_by_role("button", name="Start the study").click()
    page.wait_for_url("**/studies/Erste%20Studie")
    page.locator(".state.finished").wait_for()

    page.get_by_role("link", name="Add resamples or selectors").click()
    page.get_by_label("More resamples").fill("4")
    page.get_by_role("button", name="Add and go on").click()
    page.wait_for_url("**/studies/Erste%20Studie")
    page.get_by_text("144 of 144 fits").wait_for()


@pytest.mark.browser
def test_questions_are_answered_by_clicking_and_a_second_table_is_given(page, genes):
    files = [{"name": name, "mimeType": "text/csv", "buffer": content}
             for content, name in zip(genes, NAMES, strict=True)]  # fmt: skip
    page.get_by_role("link", name="New study").click()
    drop(page, "[data-drop]", (NAMES[0], genes[0].decode()))
    page.get_by_role("button", name="A feature, such as a gene").click()
    page.locator("#second-file").wait_for()
    page.set_viewport_size({"width": 390, "height": 900})
    assert not page.evaluate(TOO_WIDE)
    page.set_input_files("#second-file", files[1])
    page.get_by_role("button", name="status").click()
    page.get_by_role("heading", name="This table can be studied").wait_for()
    page.get_by_text("40 samples of 100 features").wait_for()
    page.get_by_text("Read it in another way").click()
    page.get_by_label("Column to leave out").fill("gene9")
    page.locator("#columns-ignore option[value=GENE99]").wait_for(state="attached")
    assert page.locator("#columns-ignore option").count() == 11
    page.get_by_label("Column to leave out").fill("GENE99")
    page.get_by_role("button", name="Read the table like this").click()
    page.get_by_text("40 samples of 99 features").wait_for()


@pytest.mark.browser
def test_a_wrong_plan_is_told_beside_the_button_and_can_be_mended(page):
    page.goto(page.url.partition("/?")[0].rstrip("/") + "/data/known/breast_cancer/plan")
    page.get_by_label("Numbers of features to select").fill("five")
    page.get_by_role("button", name="Start the study").click()
    page.locator("[role=alert]", has_text="whole numbers of features, such as 5, 10, 20, got 'five'").wait_for()
    page.get_by_label("Numbers of features to select").fill("5")
    page.get_by_label("Name of the study").fill("a/b")
    page.get_by_role("button", name="Start the study").click()
    page.locator("[role=alert]", has_text="short name of letters").wait_for()
    page.get_by_label("Name of the study").fill("")
    page.get_by_label("How the data are changed").select_option("folds")
    page.locator("#perturbation-folds-n_repeats").wait_for()
    page.get_by_role("button", name="Estimate again").click()
    page.get_by_text("5 candidates on 10 resamples").wait_for()
    assert page.locator("[role=alert]").is_hidden()
