"""The report as a tool: names for readers, words explained, and the page in a browser."""

import ast
import csv
import io
import itertools
import json
import re
import shlex
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import holdfast as hf
from holdfast.declared import About
from holdfast.report import render, summarize
from holdfast.report.labels import class_words, label_family, label_score, label_setting, separate_words
from holdfast.report.records import Labels
from holdfast.report.rendering import CSV_COLUMNS, GLOSSARY, OTHER_FORMS, Glossary
from holdfast.selectors import SELECTORS, AnovaF, RandomSelector

LONG = "a name that goes on and on and " * 10
HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "\u202egnp.exe", LONG, "=1+1", "שלום"]


def made_table(names, n=90, classes=("well", "ill")):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, len(names))), columns=names)
    return X, np.where(X.iloc[:, 0] + X.iloc[:, 1] + rng.normal(size=n) > 0, *classes)


@pytest.fixture(scope="module")
def summary():
    """Two selectors with several settings, scored twice, and more features than the table has rows."""
    X, y = made_table([f"gene {place}" for place in range(300)])
    study = hf.Study(
        selectors={
            "anova": hf.Candidates(AnovaF(), {"n_features": [3, 6]}),
            "random": hf.Candidates(RandomSelector(), {"n_features": [20, 40]}),
        },
        perturbation=hf.Bootstrap(20), estimator=LogisticRegression(), scoring=["roc_auc", "neg_log_loss"],
        random_state=0,
    )  # fmt: skip
    return summarize(study.run(X, y), candidate="random(n_features=40)")


@pytest.fixture(scope="module")
def hostile_summary():
    X, y = made_table([*HOSTILE, *(f"gene {place}" for place in range(20))], classes=(HOSTILE[0], HOSTILE[3]))
    family = f"{HOSTILE[1]} {LONG}"
    selectors = {"anova": AnovaF(n_features=5), family: hf.Candidates(RandomSelector(), {"n_features": [8, 12]})}
    study = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(12), estimator=GaussianNB(), random_state=0)
    return summarize(study.run(X, y), candidate=f"{family}(n_features=12)")


class Reader(HTMLParser):
    """The text of a page in the order of reading, with the tags and sections that each piece stands in."""

    VOID = frozenset({"meta", "br", "input", "img", "link"})

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.pieces, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in self.VOID:
            self.open.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if not any(tag in ("script", "style", "title") for tag, _ in self.open):
            self.pieces.append((data, list(self.open)))

    def text(self, *, without=()):
        return "".join(
            data for data, tags in self.pieces if not {attributes.get("id") for _, attributes in tags} & set(without)
        )

    def in_tags(self, *names):
        """Yield each element of these tags: its text, the words linked in it, and its section."""
        found = {}
        for data, tags in self.pieces:
            for place, (tag, _) in enumerate(tags):
                if tag in names:
                    text, linked, _ = found.setdefault(id(tags[place][1]), ["", [], section_of(tags)])
                    found[id(tags[place][1])] = [text + data, linked + terms_of(tags), section_of(tags)]
        return list(found.values())


def section_of(tags):
    return next((attributes["id"] for tag, attributes in tags if tag == "section"), None)


def terms_of(tags):
    return [attributes["href"] for tag, attributes in tags if tag == "a" and attributes.get("class") == "term"]


# Names for readers


def test_candidates_have_names_for_readers(summary):
    assert summary.labels.candidates == {
        "anova(n_features=3)": "ANOVA F with 3 features",
        "anova(n_features=6)": "ANOVA F with 6 features",
        "random(n_features=20)": "Random choice with 20 features",
        "random(n_features=40)": "Random choice with 40 features",
    }
    assert summary.labels.scores == {"roc_auc": "AUC", "neg_log_loss": "negative log loss"}


def test_every_selector_that_can_be_named_has_a_name_for_readers():
    labels = {name: about.label for name, about in SELECTORS.abouts().items()}
    assert all(label and "_" not in label for label in labels.values()), labels
    assert len(set(labels.values())) == len(labels)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"n_features": 1}, "1 feature"),
        ({"size": 5, "penalty_strength": 0.1}, "5 features, penalty strength 0.1"),
        ({"selectkbest__k": 5}, "5 features"),
        ({"n_estimators": 100, "max_depth": None}, "100 estimators, max depth none"),
        ({"criterion": "golub_variance", "fit_intercept": True}, "criterion golub variance, fit intercept: yes"),
        ({"estimator": "LogisticRegression(C=1)"}, ""),
        ({"grid": [1, 2]}, ""),
        ({}, ""),
    ],
)
def test_settings_are_words(setting, words):
    assert label_setting(setting) == words


def test_a_name_that_a_user_gave_stays():
    anova = About(name="anova", label="ANOVA F", summary="")
    assert label_family("anova", anova) == "ANOVA F"
    assert label_family("anova_2", anova) == "ANOVA F (2)"
    assert label_family("Dr. No's filter", anova) == "Dr. No's filter"
    assert label_family("select_k_best", None) == "select k best"
    assert label_score("my_score", None) == "my score"
    assert (separate_words("__"), separate_words("a - b_c")) == ("__", "a - b_c")
    assert class_words("HistGradientBoostingClassifier") == "hist gradient boosting classifier"
    assert class_words("SVC") == "SVC"


def test_where_two_would_read_alike_they_keep_their_names():
    X, y = made_table(["a", "b", "c"])
    selectors = {"anova": AnovaF(1), "ANOVA F": AnovaF(2), "x_y": AnovaF(1), "x y": AnovaF(2)}
    result = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(3), random_state=0).run(X, y)
    assert summarize(result).labels.candidates == {name: name for name in selectors}


def test_sentences_call_candidates_by_their_labels():
    labels = Labels(
        candidates={"anova": "ANOVA F", "anova(k=5)": "ANOVA F with 5 features", "b": "b"}, families={},
        scores={"roc_auc": "AUC"},
    )  # fmt: skip
    assert labels.write("anova(k=5) beats anova (roc_auc 0.9, b 0.8).") == (
        "ANOVA F with 5 features beats ANOVA F (AUC 0.9, b 0.8)."
    )
    assert (
        labels.write("x(base=anova) and anova_2 and anova(k=6) stay") == "x(base=anova) and anova_2 and anova(k=6) stay"
    )


IDENTIFIER = re.compile(r"\b[a-z]+_\w+|\b\w+=(?=\S)|\b[A-Z]\w*[a-z]\w*\(|\bone-se\b|\b[a-z]+\.[a-z]+\(")


def test_a_physician_reads_no_python(summary, hostile_summary):
    reader = Reader(render(summary))
    assert IDENTIFIER.findall(reader.text(without=["analyst"])) == []
    assert "n_features" in IDENTIFIER.findall(reader.text())  # for the analyst
    charts = [json.loads(text) for text in re.findall(r'id="figure-\w+-data">(.*?)</script>', render(summary))]
    texts = [value for chart in charts for rows in chart["datasets"].values() for row in rows for value in row.values()]
    titles = [line for chart in charts for line in (*chart["title"]["text"], *chart["title"]["subtitle"])]
    assert len(charts) == 3
    assert not [text for text in (*texts, *titles) if isinstance(text, str) and IDENTIFIER.search(text)]
    assert IDENTIFIER.findall(render(summary, "md").split("## For the analyst")[0].replace("\\", "")) == []


def test_a_command_to_copy_runs_nothing_else():
    X, y = made_table(["a", "b", "c"])
    name = 'x\'; rm -rf "$(pwd)" #'
    result = hf.Study(selectors={name: AnovaF(1)}, perturbation=hf.Bootstrap(3), random_state=0).run(X, y)
    text = Reader(render(summarize(result))).text()
    (command,) = re.findall(r"holdfast report .*", text)
    assert shlex.split(command) == ["holdfast", "report", "STORE", "--candidate", name, "-o", "report.html"]
    (call,) = re.findall(r"result\.stability\((.*)\)", text)
    assert ast.literal_eval(call) == name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "rule", ["not-worse", *(pytest.param(one, marks=pytest.mark.slow) for one in ("accuracy", "knee", "weighted"))]
)
def test_no_rule_writes_python(summary, rule):
    X, y = made_table([f"gene {place}" for place in range(12)])
    sizes = hf.Candidates(AnovaF(), {"n_features": [2, 4, 6]})
    study = hf.Study(
        selectors={"anova": sizes, "random": RandomSelector(3)}, perturbation=hf.Bootstrap(8), estimator=GaussianNB(),
        scoring="balanced_accuracy", random_state=0,
    )  # fmt: skip
    for measure in (None, "jaccard"):
        page = render(summarize(study.run(X, y), rule=rule, measure=measure))
        assert IDENTIFIER.findall(Reader(page).text(without=["analyst"])) == []


# Words


def test_every_technical_word_in_a_head_is_explained(summary, hostile_summary):
    everything = Glossary()
    for page in (render(summary), render(hostile_summary)):
        reader = Reader(page)
        linked = {(section, href) for _, hrefs, section in reader.in_tags("section") for href in hrefs}
        for text, hrefs, section in reader.in_tags("th", "h2", "h3"):
            if section == "analyst":
                continue
            for href in re.findall(r'href="(#[^"]+)"', everything.head(text)):
                assert href in hrefs or (section, href) in linked, text
        for _, hrefs, _ in reader.in_tags("main"):
            assert {href[1:] for href in hrefs} <= set(reader.ids)


def test_a_word_is_explained_once_and_in_one_way():
    assert len({word.lower() for word in (*GLOSSARY, *OTHER_FORMS)}) == len(GLOSSARY) + len(OTHER_FORMS)
    assert len(set(GLOSSARY.values())) == len(GLOSSARY)
    assert set(OTHER_FORMS.values()) <= set(GLOSSARY)
    for word, sentence in GLOSSARY.items():
        assert sentence.endswith("."), word
        assert not IDENTIFIER.search(sentence), word


def test_a_word_is_linked_once_in_a_part_and_names_stay_text():
    glossary = Glossary()
    text = glossary.explain("Stability of <b>stability</b>, resamples, instability, stand-ins", "part")
    assert text == (
        '<a class="term" href="#word-stability">Stability</a> of &lt;b&gt;stability&lt;/b&gt;, '
        '<a class="term" href="#word-resample">resamples</a>, instability, '
        '<a class="term" href="#word-stand-in">stand-ins</a>'
    )
    assert "href" not in glossary.explain("stability", "part")
    assert "href" in glossary.head("Stability")
    assert [word for _, word, _ in glossary.used] == ["resample", "stability", "stand-in"]


def test_scores_of_survival_times_are_not_explained_as_others():
    glossary = Glossary()
    glossary.explain("Cox score with 5 features, dynamic AUC, integrated Brier score", "part")
    assert [word for _, word, _ in glossary.used] == ["Cox score", "dynamic AUC", "feature", "integrated Brier score"]


def test_the_parts_of_a_page_are_landmarks_with_headings_in_order(summary):
    page = render(summary)
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    for landmark in ("<header>", "<main>", "<nav ", "<footer"):
        assert page.count(landmark) == 1
    reader = Reader(page)
    assert len(reader.ids) == len(set(reader.ids))
    assert set(re.findall(r'aria-labelledby="([^"]+)"', page)) <= set(reader.ids)


# In a browser


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report; at the end nothing may have been requested, and no script may have complained."""
    complaints, requests, contexts = [], [], []

    def open_report(summary, *, width=1400, scheme="light", scripts=True):
        path = tmp_path / "report.html"
        path.write_text(render(summary), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts,
            has_touch=width < 600,
        )  # fmt: skip
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        if scripts:
            charts = page.locator("[data-holdfast-chart]").count()
            page.wait_for_function(f"document.querySelectorAll('[data-drawn=yes]').length === {charts}")
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert len([url for url in requests if url.startswith("file:")]) == len(contexts)


WIDTHS = pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")])
OVERLAPS = """() => [...document.querySelectorAll('figure.holdfast svg')].flatMap(svg => {
  const boxes = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim())
    .map(text => [text.textContent, text.getBoundingClientRect()]);
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return boxes.flatMap(([name, box], place) =>
    boxes.slice(place + 1).filter(([, other]) => meet(box, other)).map(([other]) => `${name} | ${other}`));
})"""
TOO_WIDE = """() => [...document.querySelectorAll('body *')].filter(one =>
  one.getBoundingClientRect().right > document.documentElement.clientWidth + 1
  && !one.closest('details:not([open])') && one.checkVisibility()).map(one => one.outerHTML.slice(0, 120))"""


@pytest.mark.browser
@WIDTHS
def test_nothing_is_wider_than_the_screen_and_no_texts_overlap(opened, summary, hostile_summary, width, scheme):
    for report in (summary, hostile_summary):
        page = opened(report, width=width, scheme=scheme)
        assert page.locator("[data-holdfast-chart]").count() == 3
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(TOO_WIDE) == []
        assert page.evaluate(OVERLAPS) == []
        assert page.title() != "run"


@pytest.mark.browser
def test_the_policy_allows_nothing_unsafe(opened, hostile_summary):
    page = opened(hostile_summary)
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert "unsafe" not in policy
    assert page.evaluate("typeof window.alert") == "function"
    assert page.locator("img, iframe, b b").count() == 0


@pytest.mark.browser
def test_features_are_searched_sorted_and_filtered(opened, summary):
    page = opened(summary)
    table, count = page.locator("[data-table=features]"), page.locator("[data-tools=features] [data-count]")
    rows, first = table.locator("tbody tr"), table.locator("tbody tr td.name summary").first
    assert rows.count() < len(summary.features.table)
    assert count.text_content() == f"{rows.count()} of {len(summary.features.table)} shown"
    rarest = summary.features.table.feature[-1]
    page.get_by_label("Search").first.fill(rarest.upper())
    assert rarest in [rows.nth(place).locator("summary").text_content() for place in range(rows.count())]
    assert "match" in count.text_content()
    page.get_by_label("Search").first.fill("no such gene")
    assert rows.count() == 0
    page.get_by_label("Search").first.fill("")
    head = table.locator("th[data-key=frequency]")
    assert head.get_attribute("aria-sort") is None
    head.click()
    assert head.get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="Sort by Frequency").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert first.text_content() in summary.features.table.feature[-60:]
    head.click()
    assert head.get_attribute("aria-sort") is None
    assert first.text_content() == summary.features.table.feature[0]
    verdict = summary.features.shown[0].verdict.partition(";")[0]
    page.locator("[data-tools=features] [data-filter=verdict]").select_option(verdict)
    texts = rows.locator("[data-tag=verdict]").all_text_contents()
    assert set(texts) == {verdict}
    assert len(texts) == min(
        sum(row.verdict.partition(";")[0] == verdict for row in summary.features.shown), len(texts)
    )
    page.locator("[data-tools=features] [data-filter=verdict]").select_option("")
    more = page.locator("[data-more=features]")
    assert rows.count() == 10
    assert more.text_content() == f"Show all {len(summary.features.table)}"
    more.click()
    assert rows.count() == len(summary.features.table)
    assert count.text_content() == f"{rows.count()} of {rows.count()} shown"


LONG_CLASSES = (
    "acute lymphoblastic leukemia of the T cell lineage",
    "acute myeloid leukemia with recurrent abnormalities",
)


@pytest.mark.browser
@WIDTHS
def test_a_feature_is_a_line_that_opens(opened, width, scheme):
    """Ten lines are lower than a screen, whatever the classes are called; what opens has the whole width."""
    X, y = made_table([f"gene {place}" for place in range(300)], classes=LONG_CLASSES)
    study = hf.Study(selectors={"anova": AnovaF(20)}, perturbation=hf.Bootstrap(20), estimator=GaussianNB())
    report = summarize(study.run(X, y))
    page = opened(report, width=width, scheme=scheme)
    table = page.locator("[data-table=features]")
    assert f"{len(report.features.table)} features" in table.locator("caption").text_content()
    assert table.locator("tbody tr").count() == 10
    assert table.locator("tbody").bounding_box()["height"] < (360 if width > 600 else 640)
    row = table.locator("tbody tr").first
    line = row.bounding_box()["height"]
    row.locator("summary").click()
    more = row.locator(".more > div")
    assert more.bounding_box()["width"] > 0.85 * page.locator("[data-table=features]").bounding_box()["width"]
    assert LONG_CLASSES[1] in more.text_content()
    assert row.bounding_box()["height"] > 2 * line
    page.emulate_media(media="print")
    assert table.locator(".more dd:visible").count() > 10


@pytest.mark.browser
def test_candidates_are_filtered_by_selector_and_front(opened, summary):
    page = opened(summary)
    tools, rows = page.locator("[data-tools=candidates]"), page.locator("[data-table=candidates] tbody tr")
    assert rows.count() == 4
    tools.get_by_label("Selector").select_option("ANOVA F")
    assert rows.count() == 2
    tools.get_by_label("Selector").select_option("")
    tools.get_by_label("only on the front").check()
    assert rows.count() == sum(row.on_front for row in summary.candidates)
    tools.get_by_label("only on the front").uncheck()
    page.locator("[data-table=candidates] th[data-key=size]").click()
    sizes = [
        float(text) for text in page.locator("[data-table=candidates] td[data-label=Features]").all_text_contents()
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert tools.locator("[role=status]").get_attribute("aria-live") == "polite"


@pytest.mark.browser
def test_without_scripts_all_tables_are_there(opened, summary):
    page = opened(summary, scripts=False)
    assert page.locator("[data-table=features] tbody tr:visible").count() == len(summary.features.shown)
    assert page.locator("[data-table=candidates] tbody tr:visible").count() == 4
    assert not page.locator(".tools").first.is_visible()
    assert not page.locator(".save").first.is_visible()
    page.locator("a.term").first.click()
    assert page.url.split("#")[1].startswith("word-")


def saved(page, button):
    with page.expect_download() as waiting:
        button.click()
    return waiting.value.suggested_filename, waiting.value.path().read_bytes()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1400, 390])
def test_figures_are_saved(opened, summary, hostile_summary, width):
    for report in (summary, hostile_summary):
        page = opened(report, width=width, scheme="dark")
        for figure in ("forest", "front", "map"):
            menu = page.locator(f"[data-figure=figure-{figure}]")
            name, picture = saved(page, menu.get_by_role("button", name="SVG"))
            assert name.endswith(".svg")
            assert picture.startswith(b"<svg")
            assert b"<script" not in picture
            assert saved(page, menu.get_by_role("button", name="PNG"))[1].startswith(b"\x89PNG")
            name, table = saved(page, menu.get_by_role("button", name="Data (CSV)"))
            rows = list(csv.reader(io.StringIO(table.decode("utf-8-sig"))))
            assert name.endswith(".csv")
            assert len(rows) > 1
            assert all(len(row) == len(rows[0]) for row in rows)
            assert not re.search(r'(^|,)"?[=+@]', table.decode("utf-8-sig"), re.MULTILINE)
            if figure == "forest":
                assert [row[0] for row in rows[1:]] == list(
                    page.locator("[data-table=candidates] .name").all_text_contents()
                ) or report is hostile_summary
                assert [float(row[1]) for row in rows[1:]] == [row.stability.value for row in report.candidates]


@pytest.mark.browser
def test_the_feature_table_is_saved_with_all_features(opened, summary):
    page = opened(summary)
    name, table = saved(page, page.get_by_text("Save the table as CSV"))
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    assert name == "features.csv"
    assert [row["feature"] for row in rows] == list(summary.features.table.feature)
    assert [int(row["count"]) for row in rows] == list(summary.features.table.count)
    assert [float(row["high"]) for row in rows] == pytest.approx(list(summary.features.table.high), rel=1e-3)
    assert list(rows[0]) == list(CSV_COLUMNS)
    shown = summary.features.shown
    assert [row["verdict"] for row in rows[: len(shown)]] == [row.verdict for row in shown]
    assert [row["stand_ins"] for row in rows[: len(shown)]] == ["; ".join(row.stand_ins) for row in shown]


@pytest.mark.browser
def test_words_are_explained_on_hover_focus_and_tap(opened, summary):
    page = opened(summary)
    tip, word = page.locator("#tip"), page.locator("#verdict a.term", has_text="stability").first
    assert tip.is_hidden()
    word.hover()
    assert tip.text_content() == GLOSSARY["stability"]
    assert word.get_attribute("aria-describedby") == "tip"
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    page.mouse.move(0, 0)
    word.focus()
    assert tip.is_visible()
    page.locator("h1").click()
    assert tip.is_hidden()
    phone = opened(summary, width=390)
    phone.locator("#verdict a.term", has_text="stability").first.tap()
    assert phone.locator("#tip").text_content() == GLOSSARY["stability"]
    box = phone.locator("#tip").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert "#" not in phone.url


@pytest.mark.browser
def test_on_a_phone_rows_are_cards(opened, summary):
    page = opened(summary, width=390)
    row = page.locator("[data-table=candidates] tbody tr").first
    assert not page.locator("[data-table=candidates] thead").is_visible()
    assert row.locator("td.name").bounding_box()["width"] > 250
    assert "Stability" in row.locator("td[data-label=Stability]").evaluate(
        "td => getComputedStyle(td, '::before').content"
    )
    page.locator("[data-tools=candidates]").get_by_label("Sort by").select_option("size")
    sizes = [
        float(text) for text in page.locator("[data-table=candidates] td[data-label=Features]").all_text_contents()
    ]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.browser
def test_a_printed_page_has_its_words_and_no_tools(opened, summary):
    page = opened(summary)
    page.emulate_media(media="print")
    for hidden in (".tools", ".save", "nav", "tr.rare", "button"):
        assert page.locator(f"{hidden}:visible").count() == 0
    assert page.locator("dl.glossary dd:visible").count() > 10
    assert page.locator("dl.legend dd").first.is_visible()


UNBROKEN = """() => [...document.querySelectorAll('figure.holdfast, .cause, tr, dt, h2, h3')]
  .filter(one => one.checkVisibility()).map(one => one.getBoundingClientRect().height)"""


@pytest.mark.browser
def test_no_page_break_can_leave_a_third_of_a_page_empty(opened, summary, hostile_summary):
    """What is never broken over pages is lower than a third of the printed part of A4."""
    for report in (summary, hostile_summary):
        page = opened(report, width=680)
        page.emulate_media(media="print")
        assert max(page.evaluate(UNBROKEN)) < (297 - 2 * 16) / 25.4 * 96 / 3
