"""A study in the browser, as a person would watch it: results that fill in, stopping, saving, a lost server."""

import re
import shutil
import signal
import time
from pathlib import Path

import pytest
from sklearn.naive_bayes import GaussianNB

import holdfast as hf
from holdfast.datasets import load
from holdfast.selectors import AnovaF, RandomSelector
from holdfast.web.folder import Folder
from holdfast.web.launcher import Launcher
from holdfast.web.pages.files import FILES
from serving import open_page, start_server

pytestmark = pytest.mark.browser
MINUTES = 180_000


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "cancer-study.db"
    data = load("breast_cancer")
    two = {"anova": hf.Candidates(AnovaF(), sizes=[2, 5]), "random": RandomSelector(3)}
    study = hf.Study(selectors=two, perturbation=hf.Bootstrap(12), estimator=GaussianNB(), random_state=0)
    study.run(data.X, data.y, store=path, progress=False)
    return path


def submit(folder, study, n, selector="mutual_info:k=2"):
    """Put a study into the queue of a folder, as its server would."""
    place = Folder(folder)
    store = str(place.store_of(study))
    record = ["study", "--quiet", "-n", str(n), "-s", selector, "--store", store, "breast_cancer"]
    launcher = Launcher(place, at_once=0)
    return launcher.submit(study, record)


def fits(page):
    found = re.search(r"([\d,]+) of", page.inner_text("[data-said]"))
    return int(found[1].replace(",", "")) if found else 0


def wait_for_fits(page, more_than):
    page.wait_for_function(
        "least => parseInt((document.querySelector('[data-said]').textContent.match(/[\\d,]+(?= of)/) || ['0'])[0]"
        ".replace(/,/g, '')) > least",
        arg=more_than,
    )


def test_a_study_is_watched_stopped_and_resumed(browser, tmp_path):
    submit(tmp_path, "long-study", 5000)
    with start_server(tmp_path) as (address, _), open_page(browser, address) as page:
        page.click("text=long-study")
        page.wait_for_selector("#verdict")
        assert re.search(r"Results after [\d,]+ of 5,000 fits", page.inner_text("main"))
        before = fits(page)
        wait_for_fits(page, before)
        page.click("button:has-text('Stop')")
        page.wait_for_selector(".state.stopped")
        stopped = fits(page)
        page.wait_for_selector("button:has-text('Resume')")
        assert page.query_selector("button:has-text('Stop')") is None
        page.click("button:has-text('Resume')")
        wait_for_fits(page, stopped)
        page.click("button:has-text('Stop')")
        page.wait_for_selector(".state.stopped")
        page.on("dialog", lambda dialog: dialog.accept())
        page.click("button:has-text('Remove')")
        page.wait_for_url("**/?removed=*")
        assert ".holdfast-page/removed/long-study.db" in page.inner_text("main")
    assert (tmp_path / ".holdfast-page" / "removed" / "long-study.db").exists()


def test_a_study_ends_under_the_eyes_of_two_browsers(browser, tmp_path):
    submit(tmp_path, "short-study", 300)
    with (
        start_server(tmp_path) as (address, _),
        open_page(browser, address, "/studies/short-study") as page,
        open_page(browser, address) as home,
    ):
        page.wait_for_selector("#verdict")
        page.evaluate("window.same = true")
        page.wait_for_selector(".state.finished")
        page.wait_for_function("() => !document.body.textContent.includes('Results after')")
        home.wait_for_selector(".state.finished")
        assert page.evaluate("window.same")  # the page was never loaded anew
        assert fits(page) == 300
        assert "300 of 300 fits" in home.inner_text("main")
        streams = "performance.getEntriesByType('resource').filter(e => e.name.endsWith('/events')).length"
        count = page.evaluate(streams)
        time.sleep(4)
        assert page.evaluate(streams) == count  # nobody asks again


def test_what_a_person_did_survives_newer_results(browser, tmp_path):
    submit(tmp_path, "long-study", 20000, "anova:sizes=2|5|9")
    with start_server(tmp_path) as (address, _), open_page(browser, address, "/studies/long-study/details") as page:
        page.wait_for_selector("#selectors [data-search]:visible")
        page.fill("#selectors [data-search]", "9 f")
        page.click("#save summary")
        page.click("#analyst > details > summary")
        page.click("#features th[data-key='name'] .sort")
        page.focus("#selectors [data-search]")
        page.evaluate("window.scrollTo(0, document.querySelector('#selectors').offsetTop)")
        place = page.evaluate("window.scrollY")
        note = page.inner_text("#live .note")
        page.wait_for_function("text => document.querySelector('#live .note')?.innerText !== text", arg=note)
        assert page.input_value("#selectors [data-search]") == "9 f"
        assert page.locator("[data-table='candidates'] tbody tr").count() == 1
        assert page.evaluate("document.activeElement.matches('#selectors [data-search]')")
        assert page.evaluate(
            "document.querySelector('#save').open && document.querySelector('#analyst > details').open"
        )
        assert page.get_attribute("#features th[data-key='name']", "aria-sort") == "ascending"
        assert abs(page.evaluate("window.scrollY") - place) < 60
        if page.query_selector("button:has-text('Stop')"):
            page.click("button:has-text('Stop')")
        page.wait_for_selector(".state.stopped, .state.finished")


def test_every_file_is_saved_and_the_report_opens_apart(browser, tmp_path, store):
    shutil.copy(store, tmp_path)
    with start_server(tmp_path) as (address, _), open_page(browser, address, "/studies/cancer-study") as page:
        page.wait_for_selector("#verdict")
        page.click("#save summary")
        for link in page.query_selector_all(".files a"):
            with page.expect_download() as saved:
                link.click()
            assert Path(saved.value.path()).stat().st_size > 100
            assert saved.value.suggested_filename.startswith("cancer-")
        assert len(page.query_selector_all(".files a")) == len(FILES)
        with page.context.expect_page() as appeared:
            page.click("text=Open the report")
        report = appeared.value
        wrong = []
        report.on("pageerror", lambda error: wrong.append(str(error)))
        report.wait_for_selector("[data-holdfast-chart][data-drawn=yes] svg, [data-drawn=yes] canvas")
        assert report.evaluate("self.origin") == "null"
        assert report.evaluate("document.querySelectorAll('[data-drawn=yes]').length") == 3
        with report.expect_download() as saved:
            report.click("[data-figure='figure-front'] [data-kind=svg]")
        assert saved.value.suggested_filename == "score-and-stability.svg"
        assert not wrong


def test_the_rule_is_changed_in_place(browser, tmp_path, store):
    shutil.copy(store, tmp_path)
    with start_server(tmp_path) as (address, _), open_page(browser, address, "/studies/cancer-study/details") as page:
        page.wait_for_selector("#verdict")
        page.wait_for_selector("#figure-front [data-drawn=yes]")
        page.click("#options summary")
        page.focus("#rule")
        page.select_option("#rule", "weighted")
        page.wait_for_selector("[name=weight]")
        assert "rule=weighted" in page.url
        assert page.evaluate("document.activeElement.id") == "rule"
        assert "counts 50 %" in page.inner_text("#tradeoff")
        page.fill("[name=weight]", "0.9")
        page.press("[name=weight]", "Enter")
        page.wait_for_function("() => document.querySelector('#tradeoff').innerText.includes('counts 90 %')")
        page.wait_for_selector("#figure-front [data-drawn=yes]")
        page.go_back()
        page.wait_for_function("() => document.querySelector('#tradeoff').innerText.includes('counts 50 %')")
        page.fill("[name=weight]", "7")
        page.press("[name=weight]", "Enter")
        page.wait_for_function("() => document.querySelector('#tradeoff').innerText.includes('from 0 to 1')")


def test_a_server_that_was_killed_is_found_again(browser, tmp_path):
    submit(tmp_path, "long-study", 5000)
    with start_server(tmp_path) as (address, process):
        port = re.search(r":(\d+)/", address)[1]
        with open_page(browser, address, "/studies/long-study") as page:
            wait_for_fits(page, 0)
            process.send_signal(signal.SIGKILL)
            process.wait()
            page.wait_for_selector("#message:not([hidden])")
            assert "holdfast serve" in page.inner_text("#message")
            seen = fits(page)
            page.evaluate("window.same = true")
            with start_server(tmp_path, "--port", port):
                wait_for_fits(page, seen + 50)
                page.wait_for_selector("#message", state="hidden")
                assert page.evaluate("window.same")
                page.click("button:has-text('Stop')")
                page.wait_for_selector("button:has-text('Resume')")  # what is asked for while a server ends is refused
            page.wrong[:] = [text for text in page.wrong if "ERR_" not in text]  # while there was no server


def test_an_open_list_of_studies_is_renewed_when_the_server_is_back(browser, tmp_path, store):
    shutil.copy(store, tmp_path / "first-study.db")
    with start_server(tmp_path) as (address, process):
        port = re.search(r":(\d+)/", address)[1]
        with open_page(browser, address) as page:
            page.wait_for_selector("text=first-study")
            process.send_signal(signal.SIGKILL)
            process.wait()
            page.wait_for_selector("#message:not([hidden])")
            page.evaluate("window.same = true")
            shutil.copy(store, tmp_path / "second-study.db")
            with start_server(tmp_path, "--port", port):
                page.wait_for_selector("text=second-study")
                page.wait_for_selector("#message", state="hidden")
                assert page.evaluate("window.same")
            page.wrong[:] = [text for text in page.wrong if "ERR_" not in text]  # while there was no server


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_results_are_there_with_and_without_scripts(browser, tmp_path, store, scripts):
    shutil.copy(store, tmp_path)
    with (
        start_server(tmp_path) as (address, _),
        open_page(browser, address, "/studies/cancer-study", java_script_enabled=scripts) as page,
    ):
        page.wait_for_selector("#verdict")
        assert page.query_selector("#options select") is not None
