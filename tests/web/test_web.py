"""The page's foundations: routes as pages and data; the queue of studies; results while a study runs."""

import shutil

import pytest

import holdfast as hf
from holdfast.datasets import load
from holdfast.report import summarize
from holdfast.selectors import AnovaF
from holdfast.serialization import to_plain
from serving import open_client, show, upload, wait_for


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A finished study in a store."""
    path = tmp_path_factory.mktemp("store") / "cancer-study.db"
    data = load("breast_cancer")
    study = hf.Study(selectors={"anova": AnovaF(2)}, perturbation=hf.Bootstrap(10))
    study.run(data.X, data.y, store=path, progress=False)
    return path


@pytest.fixture
def folder(tmp_path, store):
    shutil.copy(store, tmp_path)
    return tmp_path


@pytest.fixture
def client(folder):
    with open_client(folder) as client:
        yield client


def test_studies_of_the_folder_are_listed_as_page_and_as_json(client):
    (study,) = client.get("/api/v1/studies").json()["studies"]
    assert study["study"] == "cancer-study"
    assert (study["state"], study["done"], study["total"]) == ("finished", 10, 10)
    assert "cancer-study" in client.get("/").text


def test_a_study_is_a_page_and_the_summary_of_its_report(client):
    answer = show(client, "/studies/cancer-study/details").json()
    assert answer["results"]["summary"]["schema"] == "holdfast.summary/1"
    assert answer["results"]["summary"]["verdict"]["headline"] in client.get("/studies/cancer-study").text


@pytest.mark.parametrize("study", ["missing", "..%2Fsecret", "%2Fetc%2Fpasswd", "cancer-study.db", "%00"])
def test_a_study_that_is_not_in_the_folder_is_one_sentence(client, study):
    answer = show(client, f"/studies/{study}")
    assert answer.status_code == 404
    assert answer.json()["error"].endswith(".")


def test_an_upload_is_kept_for_its_owner_and_found_again(client, folder):
    key = upload(client, b"a,b\n1,0\n", "../../my data.csv")
    (listed,) = client.get("/api/v1/uploads").json()["uploads"]
    assert (listed["upload"], listed["name"], listed["size"]) == (key, "my data.csv", 8)
    (file,) = (folder / ".holdfast-page" / "uploads" / key).glob("*.csv")
    assert file.stat().st_mode & 0o077 == 0
    assert (folder / ".holdfast-page").stat().st_mode & 0o077 == 0
    assert client.delete(f"/api/v1/uploads/{key}").json()["uploads"] == []
    assert not file.exists()


def test_a_study_runs_from_the_queue_in_its_own_process(client, folder):
    site = client.app.app.state.site
    store = str(folder / "new-study.db")
    site.launcher.submit(
        "new-study", ["study", "--quiet", "-n", "10", "-s", "anova:k=2", "--store", store, "breast_cancer"]
    )
    state = wait_for(lambda: (s := client.get("/api/v1/studies/new-study/state").json())["state"] == "finished" and s)
    assert state["done"] == state["total"] == 10


@pytest.mark.parametrize("page", ["/", "/studies/cancer-study", "/studies/cancer-study/features", "/measure", "/new"])
def test_pages_have_no_json_and_what_is_json_has_no_page(client, page):
    assert client.get(page).headers["content-type"].startswith("text/html")
    assert client.get(f"/api/v1{page}").status_code in (404, 405)
    assert client.get("/studies/cancer-study/state").status_code == 404


def test_a_program_saves_what_the_command_line_prints_as_json(client, folder):
    summary = client.get("/studies/cancer-study/files/report.json").json()
    assert summary == to_plain(summarize(hf.load_study(folder / "cancer-study.db")))
