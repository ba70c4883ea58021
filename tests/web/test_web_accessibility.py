"""What axe-core finds on the page and in the report, on wide and narrow screens, light and dark."""

import itertools
from pathlib import Path

import pytest
from sklearn.naive_bayes import GaussianNB

import holdfast as hf
from holdfast.datasets import load
from holdfast.selectors import AnovaF, RandomSelector
from holdfast.web.pages import ROUTES
from serving import open_page, start_server

axe = pytest.importorskip(
    "axe_playwright_python", reason="axe-playwright-python is not installed: rules are not checked"
)
pytestmark = pytest.mark.browser
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PAGES = [route.path for route in ROUTES if route.template not in (None, "error.html.j2") and route.method == "GET"]
STUDY = {"{study}": "cancer", "{column}": "27", "{name}": "breast_cancer"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study with a doubted feature, and its report and that of a benchmark as files."""
    folder = tmp_path_factory.mktemp("seen")
    data = load("breast_cancer")
    X = data.X.rename(columns={data.X.columns[27]: "batch"})
    study = hf.Study(
        selectors={"anova": hf.Candidates(AnovaF(), sizes=[2, 5]), "random": RandomSelector(3)},
        perturbation=hf.Bootstrap(20),
        estimator=GaussianNB(),
    )
    study.run(X, data.y, store=folder / "cancer.db", progress=False).report(folder / "report.html")
    both = {"all": (data.X, data.y), "means": (data.X.iloc[:, :10], data.y)}
    small = hf.Study(selectors={"anova": AnovaF(2), "random": RandomSelector(2)}, perturbation=hf.Bootstrap(5))
    hf.benchmark(both, small, store_dir=folder / "several", progress=False).report(folder / "several.html")
    return folder


def judge(page):
    """What breaks a rule on a page with all that opens opened: screen, rule, and the first element that does."""
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text())
    broken = []
    for width, scheme in itertools.product([1400, 390], ["light", "dark"]):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("tags => axe.run(document, {runOnly: tags})", RULES)
        assert len(found["passes"]) > 10
        broken += [(width, scheme, rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]]
    return broken


def test_the_page_breaks_no_rule(browser, folder):
    paths = []
    for path in PAGES:
        for name, value in STUDY.items():
            path = path.replace(name, value)
        paths += [path] if "{" not in path else []
    assert "/studies/cancer/features/27" in paths
    with start_server(folder) as (address, _), open_page(browser, address) as page:
        base, broken = address.partition("/?")[0], {"/": judge(page)}
        for path in paths[1:]:
            assert page.goto(base + path).ok, path
            broken[path] = judge(page)
        page.goto(f"{base}/measure")
        page.click("text=Try a comparison")
        page.wait_for_url("**/compare?*")
        broken["comparison"] = judge(page)
        page.goto(f"{base}/measure")
        page.click("text=Try an example")
        page.wait_for_url("**/selections/*")
        broken["selections"] = judge(page)
        page.goto(f"{base}/studies/cancer/features")
        page.evaluate("document.querySelector('details:has([name=names])').open = true")
        page.locator("textarea[name=names]").fill("batch\nmean radius")
        page.locator("form[action$=check] button").click()
        page.wait_for_url("**/check")
        broken["own list"] = judge(page)
    assert {path: rules for path, rules in broken.items() if rules} == {}


@pytest.mark.parametrize("name", ["report", "several"])
def test_a_report_breaks_no_rule(browser, folder, name):
    page = browser.new_page()
    page.goto((folder / f"{name}.html").as_uri())
    assert judge(page) == []
    page.close()
