"""The report: its numbers, its sections, that no name can do harm, and that odd studies have one too."""

import base64
import hashlib
import inspect
import io
import json
import math
import os
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from pandas.testing import assert_frame_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app
from holdfast.plots import plot_selection_map
from holdfast.report import Summary, render, summarize, write_report
from holdfast.report import pictures as pictures_module
from holdfast.report.pictures import draw_charts
from holdfast.report.rendering import CSV_COLUMNS, csv_text
from holdfast.selectors import AnovaF, RandomSelector
from holdfast.serialization import to_json
from holdfast.study.exports import protect
from holdfast.text import format_number

GOLDEN = Path(__file__).parent / "report_summary.json"
DOCUMENTED_SCHEMA = Path(__file__).parents[2] / "docs" / "summary.schema.json"
HOSTILE = [
    "<script>alert(1)</script>",
    "\"double\" 'single' `tick` |pipe| [link](javascript:alert(1)) **bold**",
    "😀 naïve 漢字",
    "x" * 500,
    "</script><img src=x onerror=alert(2)>",
    "=cmd|' /C calc'!A0",
    "{{ 7 * 7 }} {% raw %}",
    "nul \x00 \u202egnp.exe",
]
SECTIONS = ["verdict", "features", "selectors", "tradeoff", "causes", "method", "analyst", "words"]


def table(names, n=60, signal=2.0):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, len(names))), columns=names)
    y = (signal * (X.iloc[:, 0] + X.iloc[:, 1]) + rng.normal(size=n) > 0).astype(int)
    return X, y


def studied(perturbation, names=None, *, estimator=None, store=None, signal=2.0, n=60, **selectors):
    X, y = table(names or [f"gene {i}" for i in range(12)], n, signal=signal)
    study = hf.Study(
        selectors=selectors or {"anova": AnovaF(n_features=3)}, perturbation=perturbation, estimator=estimator,
        random_state=0,
    )  # fmt: skip
    return study.run(X, y, store=store)


@pytest.fixture(scope="module")
def study():
    sizes = hf.Candidates(AnovaF(), {"n_features": [3, 4]})
    return studied(hf.Bootstrap(30), estimator=GaussianNB(), n=120, anova=sizes, random=RandomSelector(n_features=3))


@pytest.fixture(scope="module")
def hostile():
    any_of_them = hf.Candidates(RandomSelector(), {"n_features": [4, 5]})
    return studied(hf.Bootstrap(12), HOSTILE, estimator=GaussianNB(), **{"<b>random</b>": any_of_them})


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, texts, and the scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.scripts, self.where = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.where = tag

    def handle_endtag(self, tag):
        self.where = ""

    def handle_data(self, data):
        if self.where == "script":
            self.scripts.append((self.tags[-1][1], data))
        elif self.where != "style":
            self.texts.append(data)


def rounded(value):
    """A summary without what changes from machine to machine, its numbers rounded."""
    if isinstance(value, dict):
        left_out = ("version", "versions", "plan", "seconds", "bibtex")
        return {key: rounded(one) for key, one in value.items() if key not in left_out}
    if isinstance(value, list):
        return [rounded(one) for one in value if not (isinstance(one, dict) and one.get("name") == "Computed")]
    if isinstance(value, str):
        return value.replace(f"holdfast {hf.__version__}", "holdfast")
    return round(value, 3) if isinstance(value, float) else value


# The summary


def test_the_summary_is_the_golden_one(study):
    found = rounded(json.loads(render(summarize(study), "json")))
    if os.environ.get("HOLDFAST_WRITE_GOLDEN"):
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_numbers_are_those_of_the_study(study):
    summary = summarize(study)
    choice = study.choose()
    reason = choice.reason.replace("anova(n_features=3)", "ANOVA F with 3 features")
    assert (summary.candidate, summary.tradeoff.reason) == (choice.candidate, reason)
    estimate = study.stability(choice.candidate)
    assert (summary.stability.value, summary.stability.low) == (estimate.value, estimate.ci().low)
    assert summary.tradeoff.front == tuple(study.pareto().front.index)
    checked = hf.check_features([one.feature for one in summary.features.shown], study, choice.candidate)
    assert [one.verdict for one in summary.features.shown] == checked["verdict"].tolist()
    assert len(summary.features.table) == len(study.features(choice.candidate).frame)
    assert summary.tradeoff.optimistic


def test_a_candidate_can_be_asked_for(study):
    summary = summarize(study, candidate="random", X=table([f"gene {i}" for i in range(12)], 120)[0])
    assert summary.candidate == "random"
    assert summary.verdict.standing in ("fails", "unsure", "no signal", "weak signal")
    assert not summary.features.holding
    assert summary.features.correlation_checked


# One summary, from which everything is drawn


def reread(summary):
    """The summary as somebody reads it who has its JSON and nothing else."""
    return Summary.from_dict(json.loads(render(summary, "json")))


def chart_rows(chart, key):
    """All rows of data inside a chart that have a key."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows if key in row]


@pytest.mark.parametrize("measure", [None, "jaccard", "kuncheva", "krizek"])
def test_picture_table_and_words_carry_the_same_numbers(study, measure):
    summary = summarize(study, measure=measure, level=0.9)
    by_name = {row.candidate: row.stability for row in summary.candidates}
    for name in study.candidates:
        if not math.isnan(by_name[name].value):
            estimate = study.stability(name, measure or "nogueira")
            assert (by_name[name].value, by_name[name].low) == (estimate.value, estimate.ci(0.9).low)
    charts = draw_charts(summary)
    drawn = {row["name"]: row for row in chart_rows(charts["forest"], "name")}
    points = {row["candidate"]: row for row in chart_rows(charts["front"], "candidate")} if "front" in charts else {}
    assert points or measure == "krizek"  # no front of an entropy
    called = summary.labels.candidates
    assert list(drawn) == [called[name] for name in by_name]
    for exact_name, stability in by_name.items():
        name = called[exact_name]
        expected = [None if math.isnan(end) else end for end in (stability.value, stability.low, stability.high)]
        assert [drawn[name][key] for key in ("stability", "low", "high")] == expected
        if name in points:
            assert [points[name][key] for key in ("stability", "low", "high")] == expected
    text = render(summary, "md")
    assert f"{summary.stability.value:.2f}" in summary.verdict.sentences[0]
    for name, stability in by_name.items():
        assert f"| {format_number(stability.value)} |".replace("nan", "–") in text, name


def test_scores_have_the_interval_of_the_front(study):
    summary, front = summarize(study, level=0.9), study.pareto(level=0.9).frame
    for row in summary.candidates:
        (score,) = row.scores
        assert (score.low, score.high) == pytest.approx(front.loc[row.candidate, ["score_low", "score_high"]].tolist())


def test_the_ring_is_around_the_choice_also_where_another_is_reported(study):
    summary = summarize(study, candidate="random")
    chart = draw_charts(summary)["front"]
    assert [row["candidate"] for row in chart_rows(chart, "chosen") if row["chosen"]] == ["ANOVA F with 3 features"]
    assert study.choose().candidate == "anova(n_features=3)"
    assert chart.title.text[0].startswith("ANOVA F with 3 features is chosen")


def test_a_report_needs_no_study(study, hostile):
    for summary in (summarize(study), summarize(hostile, candidate="<b>random</b>(n_features=4)")):
        again = reread(summary)
        assert again.to_dict() == summary.to_dict()
        for format in ("html", "md", "json"):
            assert render(again, format) == render(summary, format)


def test_a_summary_reads_as_its_verdict(study):
    summary = summarize(study)
    assert repr(summary).splitlines() == [
        f"{summary.candidate}: {summary.verdict.headline}",
        *summary.verdict.sentences,
        summary.verdict.next_step,
    ]


def test_the_map_is_that_of_the_study(study):
    summary = summarize(study)
    expected = plot_selection_map(study, summary.candidate, order="frequency").to_dict()
    assert draw_charts(summary)["map"].to_dict() == expected


def test_renderers_know_nothing_of_studies():
    for module in (inspect.getmodule(csv_text), pictures_module):
        text = inspect.getsource(module)
        assert not re.search(r"holdfast\.(study|inference|tradeoff|measures|report\.building)", text)


def test_a_summary_fits_its_schema(study, hostile):
    schema = Summary.json_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for summary in (summarize(study), summarize(study, candidate="random"), summarize(hostile)):
        validator.validate(summary.to_dict())
    record = summarize(study).to_dict()
    assert record["schema"] == "holdfast.summary/1"
    assert not validator.is_valid({**record, "schema": "holdfast.summary/2"})
    assert not validator.is_valid({**record, "level": "high"})
    described = [schema, *schema["$defs"].values()]
    lacking = [key for part in described for key, value in part["properties"].items() if "description" not in value]
    assert lacking == ["schema"]


def test_the_schema_in_the_documentation_is_this_one():
    text = to_json(Summary.json_schema()) + "\n"
    if os.environ.get("HOLDFAST_WRITE_GOLDEN"):
        DOCUMENTED_SCHEMA.write_text(text, encoding="utf-8")
    assert DOCUMENTED_SCHEMA.read_text(encoding="utf-8") == text
    assert json.loads(answer("report", "--schema")) == Summary.json_schema()


def test_a_wrong_summary_is_refused_with_its_place(study):
    record = summarize(study).to_dict()
    with pytest.raises(ValueError, match=r"schema 'holdfast.summary/1', got 'holdfast.summary/9'"):
        Summary.from_dict({**record, "schema": "holdfast.summary/9"})
    with pytest.raises(ValueError, match=r"Expected a number or null at Summary.stability.low, got \"0.3\""):
        Summary.from_dict({**record, "stability": {**record["stability"], "low": "0.3"}})
    with pytest.raises(ValueError, match=r"Summary.verdict lacks headline"):
        Summary.from_dict({**record, "verdict": {"standing": "holds", "sentences": ["a", "b"], "cautions": []}})


def test_a_summary_from_a_stranger_does_no_harm(study):
    record = summarize(study).to_dict()
    evil = {**record["references"][0], "link": "javascript:alert(1)", "bibtex": "```\n<script>alert(1)</script>"}
    method = {**record["method"], "details": [{"name": "Code", "value": "x\n```\n<script>alert(2)</script>"}]}
    summary = Summary.from_dict({**record, "references": [evil], "method": method})
    assert "javascript:" not in render(summary) + render(summary, "md")
    assert "<script>alert(" not in render(summary)
    assert render(summary, "md").count("```") == 4
    assert "<script>alert(1)" not in render(summary)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "best"}, "Expected a rule"),
        ({"rule": "at-least"}, "Expected stability="),
        ({"weight": 0.3}, r"or parameters of the rule one-se \(none\), got 'weight'"),
        ({"treshold": 0.6}, r"Expected options of summarize .*got 'treshold'; did you mean 'threshold'"),
        (
            {"rule": "at-least", "stabilty": 0.6},
            r"rule at-least \(stability\), got 'stabilty'; did you mean 'stability'\?",
        ),
        ({"metric": "auc"}, "Expected one of the study's scores"),
        ({"measure": "nogueria"}, "nogueria"),
        ({"candidate": "lasso"}, "Expected one of the candidates"),
        ({"threshold": 1.5}, "Expected a threshold"),
        ({"level": 95}, "level"),
    ],
)
def test_wrong_options_are_refused(study, options, words):
    with pytest.raises(ValueError, match=words):
        summarize(study, **options)


# Honesty


def test_noise_is_not_oversold():
    names = [f"gene {i}" for i in range(300)]
    noise = studied(hf.Bootstrap(20), names, estimator=GaussianNB(), signal=0.0, anova=AnovaF(n_features=5))
    summary = summarize(noise)
    assert summary.stability.low > 0  # resamples share rows
    assert summary.verdict.standing == "no signal"
    assert summary.information.score - summary.information.gain == pytest.approx(summary.information.baseline)
    assert summary.verdict.sentences[1].startswith("Do not use it yet")
    assert "Even on pure noise" in summary.verdict.cautions[0]
    assert summary.causes[0].kind == "no signal"
    page = render(summarize(noise))
    assert " to trust</h2>" not in page
    assert " that hold</h2>" not in page


def in_new_studies(n, strong, effect, n_features, seed):
    """The summary of a study with what new studies would find; the share of 30 new ones that select each feature."""

    def sample(*stream):
        rng = np.random.default_rng([seed, *stream])
        X, y = rng.normal(size=(n, 120)), np.arange(n) % 2
        X[:, :strong] += effect * y[:, None]
        return X, y

    selector = AnovaF(n_features=n_features)
    study = hf.Study(selectors={"anova": selector}, perturbation=hf.Bootstrap(30), estimator=GaussianNB())
    found = hf.replicability(selector, *sample(), n_pairs=25, random_state=seed)
    new = [selector.fit(*sample(1, number)).get_support() for number in range(30)]
    return summarize(study.run(*sample()), replicability=replace(found, candidate="anova")), np.mean(new, axis=0)


def number_of(feature):
    return int(feature.feature.rpartition(" ")[2])


def test_what_is_trusted_is_selected_in_new_studies():
    """Ten strong features among 120 are trusted; 15 equal ones, of which eight are selected, are not."""
    shares = []
    for seed in range(3):
        clear, share = in_new_studies(120, 10, 1.2, 10, seed)
        shares += [share[number_of(row)] for row in clear.features.trusted]
    assert len(shares) > 10
    assert np.mean(shares) >= 0.8
    assert clear.features.title == "The features to trust"
    assert " trust the " in clear.verdict.sentences[1]
    assert re.search(r"^Next: validate .* in [\d,]+ new samples or more: .* half of the 10", clear.verdict.next_step)
    assert "with a shuffled target, " in render(clear)
    equal, share = in_new_studies(80, 20, 1.2, 8, 0)
    assert share[:20].mean() < 0.5
    assert equal.features.holding
    assert not equal.features.trusted
    assert "trust no single feature yet" in equal.verdict.sentences[1]


def test_frequency_alone_is_not_trusted(study):
    summary = summarize(study)
    assert summary.features.holding
    assert not summary.features.trusted
    assert summary.features.title == "The features that hold"
    assert summary.verdict.next_step.startswith("Next: estimate how many of these features a new study would select")


def test_nothing_is_trusted_on_noise():
    for seed in range(4):
        summary, _ = in_new_studies(60, 0, 0.0, 8, seed)
        assert not summary.features.trusted
        assert not summary.verdict.next_step.startswith("Next: validate")


def test_the_first_screen_has_one_agreement():
    """Agreements of halves and of new studies are in the part for the analyst, not in the verdict."""
    summary, _ = in_new_studies(120, 10, 1.2, 10, 0)
    page = render(summary)
    verdict = page[page.index('<section id="verdict"') : page.index('<section id="features"')]
    replication = summary.replication
    for number in (replication.half_agreement, replication.agreement):
        assert f"agree at {number:.2f}" not in verdict
        assert f"{number:.2f} (95 % interval" not in verdict
        assert f"{number:.2f}" in page[page.index('<section id="analyst"') :]
    assert len(re.findall(r"95 % <a[^>]*>interval", verdict)) == 1


def test_designs_say_what_they_speak_about():
    pairs = summarize(studied(hf.ComplementaryPairs(6)))
    assert "two studies of half this size" in pairs.verdict.cautions[0]
    assert (
        "random numbers" in summarize(studied(hf.NewSeeds(6), random=RandomSelector(n_features=3))).verdict.cautions[0]
    )


def test_causes_need_numbers_that_show_them(study):
    kinds = {one.kind for one in summarize(study, candidate="random").causes}
    assert "near the cut" not in kinds  # no feature is in nearly every run
    same = hf.Study(selectors={"all": AnovaF(n_features=2)}, perturbation=hf.NewSeeds(200))
    X, y = table(["a", "b", "c", "d"])
    stable = summarize(same.run(X, y))
    assert stable.verdict.standing == "stable"
    assert stable.causes == ()


def test_numbers_of_positions_add_up():
    """An average selection is features in nearly every run, those that come and go, and the rest."""
    summary = summarize(studied(hf.Bootstrap(30), [f"gene {i}" for i in range(80)], n=120, anova=AnovaF(n_features=8)))
    (cause,) = (one for one in summary.causes if one.kind == "near the cut")
    told = re.search(
        r"fills? ([\d.]+) of the ([\d.]+) positions .* (\d+) features in 10 to 90 % .* fill ([\d.]+)", cause.evidence
    )
    core, mean_size, n_changing, changing = (float(number) for number in told.groups())
    frequencies = summary.features.table.frequency
    assert core == pytest.approx(sum(f for f in frequencies if f >= 0.9), abs=0.05)
    assert changing == pytest.approx(sum(f for f in frequencies if 0.1 <= f < 0.9), abs=0.05)
    assert n_changing == sum(0.1 <= f < 0.9 for f in frequencies)
    assert mean_size == 8
    assert "Select fewer" not in render(summarize(studied(hf.Bootstrap(30), n=120)), "md")


CODE = re.compile(r"Expected|\.failures|\b(hf|result|selectors|study)\.[a-zA-Z_]+|\w+\(…|=…")


def read_by_a_physician(text):
    """A report in Markdown without its list of settings and the texts of errors of fits."""
    return text.split("## For the analyst")[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["mixed and scored", "some fail", "all fail", "nothing ran", "one run", "undefined"])
def test_no_sentence_is_the_text_of_an_exception_or_names_a_call(name):
    perturbation, options = ODD[name]
    result = studied(perturbation, **options)
    assert not CODE.search(read_by_a_physician(render(summarize(result), "md")))
    unstable = summarize(result, rule="at-least", stability=0.999)
    assert not CODE.search(unstable.tradeoff.missing or "")
    assert not any(CODE.search(f"{one.stability.reason} {one.why_not}") for one in unstable.candidates)


def test_advice_is_in_words(study):
    for candidate in study.candidates:
        assert not CODE.search(read_by_a_physician(render(summarize(study, candidate=candidate), "md")))


def test_a_measure_that_needs_more_is_refused(study):
    with pytest.raises(ValueError, match="Expected X=, the data: zucknick"):
        summarize(study, measure="zucknick")
    with pytest.raises(ValueError, match="davis needs a value for alpha"):
        summarize(study, measure="davis")


# The page


def test_every_section_stands_in_order(study):
    page = render(summarize(study))
    positions = [page.index(f'<section id="{name}"') for name in SECTIONS]
    assert positions == sorted(positions)
    for words in (
        " that hold</h2>",
        "Stand-ins",
        "the same resamples that it was chosen on, which makes its",
        "BibTeX",
        "Save the table as CSV",
        "Data fingerprint",
    ):
        assert words in page
    assert page.count("figure-") >= 3


def test_nothing_is_fetched_and_only_our_scripts_may_run(study):
    text = render(summarize(study))
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not any(name.startswith("on") or name in ("src", "style") for name in attributes), (tag, attributes)
        address = attributes.get("href", "#")
        assert address.startswith(("#", "data:text/csv", "https://doi.org/", "https://jmlr.org/")), address
    policy = next(one["content"] for _, one in page.tags if one.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    for attributes, script in page.scripts:
        code = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert attributes.get("type") == "application/json" or f"'sha256-{code}'" in policy
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    assert f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'" in policy
    assert "url(" not in style
    assert "@import" not in style


def test_hostile_names_are_only_text(hostile, study):
    evil, calm = Page(render(summarize(hostile))), Page(render(summarize(study)))
    assert {tag for tag, _ in evil.tags} <= {tag for tag, _ in calm.tags} | {"details", "summary"}
    assert len([one for one in evil.scripts if "type" not in one[0]]) == 3
    text = "".join(evil.texts)
    assert "<script>alert(1)</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "49" not in [one.strip() for one in evil.texts]
    assert "\x00" not in text
    assert "\u202e" not in text
    assert "x" * 500 not in text


def test_hostile_names_in_markdown_and_json(hostile):
    text = render(summarize(hostile), "md")
    assert "<script" not in text
    assert "<img" not in text
    assert not re.search(r"(?<!\\)\]\(javascript", text)
    rows = [line for line in text.splitlines() if (line.startswith("| ") and "holds" in line) or "chance |" in line]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 6 for line in rows)
    data = json.loads(render(summarize(hostile), "json"))
    assert set(data["features"]["table"]["feature"]) <= set(HOSTILE)


def test_a_spreadsheet_runs_nothing(hostile):
    text, kept = csv_text(summarize(hostile).features)
    assert kept == len(text.strip().splitlines()) - 1
    assert not re.search(r'^"?[=+@-]', text, re.MULTILINE)
    assert csv_text(summarize(hostile).features, most=0)[1] == 0


def test_the_table_of_features_is_what_the_command_writes(study):
    """The same columns in the same order, with the same cells for all features that the report shows."""
    for result in (study, hf.Study(selectors=[AnovaF(2)], perturbation=hf.Bootstrap(20)).run(*table(list("abcdef")))):
        summary = summarize(result)
        expected = protect(result.features(summary.candidate).to_frame())
        saved = pd.read_csv(io.StringIO(csv_text(summary.features)[0]))
        n_shown = len(summary.features.shown)
        assert list(saved) == list(expected) == list(CSV_COLUMNS)
        verdicts = [row.verdict for row in summary.features.shown]  # match the headline, so they may claim less
        assert saved["verdict"][:n_shown].tolist() == verdicts
        assert_frame_equal(
            saved[:n_shown].drop(columns="verdict"),
            pd.read_csv(io.StringIO(expected.to_csv(index=False)))[:n_shown].drop(columns="verdict"),
            check_dtype=False, rtol=1e-5,
        )  # fmt: skip
        assert saved["count"].tolist() == list(summary.features.table.count)
        assert saved["verdict"][n_shown:].isna().all()


def test_the_table_marks_features_in_doubt():
    X, y = table(list("abcdef"))
    X["copy"] = 5.0 * y + np.random.default_rng(1).normal(scale=0.01, size=len(y))
    study = hf.Study(selectors=[AnovaF(2)], perturbation=hf.Bootstrap(20), estimator=GaussianNB())
    page = render(summarize(study.run(X, y)))
    assert '<td class="verdict-cell doubt" data-tag="verdict">in doubt</td>' in page
    assert page.count("<dt>in doubt</dt>") == 1
    assert "in doubt" not in render(summarize(study.run(X.drop(columns="copy"), y)))


@pytest.fixture(scope="module")
def wide_summary():
    """30 candidates and 20,000 features with long names, most of which some resample selects."""
    rng = np.random.default_rng(0)
    names = [f"a gene with a long name, number {i}" for i in range(20_000)]
    X = pd.DataFrame(rng.normal(size=(40, 20_000)).astype(np.float32), columns=names)
    sizes = hf.Candidates(RandomSelector(), {"n_features": list(range(285, 315))})
    return summarize(hf.Study(selectors={"random": sizes}, perturbation=hf.Bootstrap(60)).run(X, np.arange(40) % 2))


def test_large_studies_stay_small(wide_summary):
    page = render(wide_summary)
    assert len(wide_summary.candidates) == 30
    assert len(wide_summary.features.table) > 10_000
    assert len(page.encode()) < 2_000_000


def test_all_features_that_a_page_has_room_for_can_be_searched(wide_summary):
    table = wide_summary.features.table
    (block,) = (json.loads(text) for attributes, text in Page(render(wide_summary)).scripts
                if attributes.get("id") == "feature-table")  # fmt: skip
    assert block["shown"] == len(wide_summary.features.shown)
    assert block["names"] == list(table.feature[: len(block["names"])])
    assert len(block["names"]) > 10_000
    for place in (0, 99, 5_000):
        expected = [table.frequency[place], table.low[place], table.high[place]]
        assert block["of_count"][str(table.count[place])] == pytest.approx(expected, rel=1e-3)


# Odd studies


class Fails(SelectKBest):
    """Fails where k is 1, and now and then otherwise."""

    def fit(self, X, y):
        if self.k == 1 or np.asarray(X)[:, 0].mean() > 0:
            raise RuntimeError("<i>no</i> luck")
        return super().fit(X, y)


ODD = {
    "folds": (hf.Folds(3, 2), {}),
    "nested_folds": (hf.NestedFolds(3, 3), {"estimator": GaussianNB()}),
    "pairs": (hf.ComplementaryPairs(4), {"estimator": GaussianNB()}),
    "nested_subsamples": (hf.NestedSubsamples(4, (0.5,)), {"estimator": GaussianNB()}),
    "noise": (hf.Noise(5), {}),
    "given": ([(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))], {"estimator": GaussianNB()}),
    "one run": (hf.Bootstrap(1), {"estimator": GaussianNB()}),
    "undefined": (hf.Bootstrap(5), {"all": SelectKBest(k="all"), "estimator": GaussianNB()}),
    "weights": (hf.Bootstrap(5), {"forest": RandomForestClassifier(5)}),
    "mixed": (hf.Bootstrap(5), {"forest": RandomForestClassifier(5), "anova": AnovaF(n_features=3)}),
    "mixed and scored": (
        hf.Bootstrap(5),
        {"forest": RandomForestClassifier(5), "anova": AnovaF(n_features=3), "estimator": GaussianNB()},
    ),
    "some fail": (hf.Bootstrap(12), {"fails": Fails(k=3), "estimator": GaussianNB()}),
    "all fail": (hf.Bootstrap(3), {"fails": Fails(k=1), "anova": AnovaF(n_features=2)}),
    "nothing ran": (hf.Bootstrap(3), {"fails": Fails(k=1)}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ODD)
def test_odd_studies_have_a_report(name):
    perturbation, options = ODD[name]
    result = studied(perturbation, **options)
    page, text = render(summarize(result)), render(summarize(result), "md")
    assert all(f'<section id="{section}"' in page for section in SECTIONS)
    assert "nan" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL).replace("resonan", "")
    assert "<i>no</i> luck" not in page
    assert text.startswith("# ")
    data = json.loads(render(summarize(result), "json"))
    assert len(data["verdict"]["sentences"]) == 2
    if "fail" in name:
        assert any("failed" in caution for caution in data["verdict"]["cautions"])


def test_pairs_have_a_report_without_an_interval():
    result = studied(hf.ComplementaryPairs(6), estimator=GaussianNB(), signal=6.0, n=200)
    summary, text = summarize(result), render(summarize(result), "md")
    assert summary.verdict.headline == "The stability has no interval, so whether the selection holds remains open."
    assert "(no interval, 12 resamples)" in summary.verdict.sentences[0]
    assert any("pairs of halves of one data set do not show" in caution for caution in summary.verdict.cautions)
    assert "confidence intervals over the resamples" not in summary.method.paragraph
    assert "– to –" not in text
    assert "how precisely this many resamples determine" not in render(summarize(result))
    assert "how precisely this many resamples determine" in render(summarize(studied(hf.Bootstrap(6))))


def test_the_report_of_samples_that_shrink_says_at_which_sizes():
    result = studied(hf.NestedSubsamples(6, (0.5, 0.75)), estimator=GaussianNB())
    told = "Stability and scores are means over the smaller samples (50 %, 75 % of a full one)."
    summary = summarize(result)
    assert told in summary.verdict.cautions
    assert summary.tradeoff.score == pytest.approx(result.summary().loc["anova", "accuracy"])


def test_an_unfinished_study_says_so(tmp_path):
    def stop(progress):
        if progress.done >= 4:
            raise InterruptedError

    X, y = table(["a", "b", "c", "d"])
    plan = hf.Study(selectors={"anova": SelectKBest(k=2)}, perturbation=hf.Bootstrap(400))
    with pytest.raises(InterruptedError):
        plan.run(X, y, store=tmp_path / "study.db", progress=stop)
    result = hf.load_study(tmp_path / "study.db")
    assert not result.complete
    assert any("not finished" in caution for caution in summarize(result).verdict.cautions)
    assert "not finished" in render(summarize(result))


# Files and commands


def test_the_ending_says_what_to_write(study, tmp_path):
    assert study.report(tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert write_report(summarize(study), tmp_path / "r.md").read_text(encoding="utf-8").startswith("# ")
    text = write_report(summarize(study), tmp_path / "r.txt", format="json").read_text(encoding="utf-8")
    assert json.loads(text)["level"] == 0.95
    with pytest.raises(ValueError, match=r"ends in \.html"):
        study.report(tmp_path / "r.pdf")
    with pytest.raises(ValueError, match="Expected format"):
        render(summarize(study), "pdf")


def answer(*arguments):
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert (result.exit_code, result.exception) == (0, None), result.output
    return result.stdout


def test_the_command_writes_reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    studied(hf.Bootstrap(6), estimator=GaussianNB(), store="study.db")
    assert answer("report", "study.db", "-o", "a.html").strip() == "a.html"
    assert answer("report", "study.db", "--format", "md", "--quiet") == ""
    assert answer("report", "study.db", "--title", "Ours", "-o", "b.md").strip() == "b.md"
    assert (tmp_path / "b.md").read_text(encoding="utf-8").startswith("# Ours")
    assert (tmp_path / "study-report.md").exists()
    assert json.loads(answer("report", "study.db", "--json"))["candidate"] == "anova"
    with pytest.raises(ValueError, match="Expected --format"):
        CliRunner().invoke(app, ["report", "study.db", "--format", "pdf"], catch_exceptions=False)


def test_the_demo_writes_a_report(tmp_path):
    path = tmp_path / "demo.html"
    found = json.loads(answer("demo", "-n", "10", "-o", path, "--quiet", "--json"))
    assert found["report"] == str(path)
    families = {one["family"] for one in found["summary"]["candidates"]}
    assert families == {"anova", "mrmr", "relieff", "lasso", "hybrid_rfe"}
    assert found["summary"]["features"]["correlation_checked"]
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


# In a browser


@pytest.mark.browser
@pytest.mark.skipif(not shutil.which("chromium"), reason="Chromium is not installed: the page is not opened")
def test_a_browser_draws_the_report(hostile, tmp_path):
    path = hostile.report(tmp_path / "report.html", title="<script>document.title='run'</script>")
    done = subprocess.run(
        [
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=20000", "--dump-dom", path.as_uri(),
        ],
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert done.stdout.count('data-drawn="yes"') == len(re.findall("data-holdfast-chart=", done.stdout)) >= 3
    assert "<title>run</title>" not in done.stdout
    assert "CONSOLE" not in done.stderr, done.stderr
