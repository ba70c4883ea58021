"""Every result has a table, plain values, a text, a view in notebooks, and a picture where one is natural."""

import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast import cards, plots
from holdfast.benchmarking import BenchmarkResult
from holdfast.cards.pictures import LABEL, PLOT
from holdfast.cards.results import SHOWN_ROWS, STYLE, write_table
from holdfast.datasets import load_example
from holdfast.report import summarize
from holdfast.serialization import to_plain
from holdfast.tradeoff.selected import compare_with_guessing

HOSTILE = "<script>alert(1)</script> & co"
DRAWN = (
    "StabilityEstimate", "undefined", "Comparison", "Comparisons", "Kalousis", "Pilot", "StudyResult", "Pareto",
    "Choice", "NestedChoice", "FinalFeatures", "SizeProfile", "SelectionMap", "Summary", "Preferences",
    "Agreement", "Recovery", "BenchmarkResult", "BenchmarkTradeoff", "SelectedFeatures",
)  # fmt: skip
NOT_DRAWN = (
    "StabilityTest", "Plan", "PredictionAgreement", "Information", "BenchmarkVerdict", "BenchmarkSummary",
    "FriedmanTest", "RankComparisons", "SignedRankPosterior",
)  # fmt: skip
"""Results of a few numbers, for which the picture of the card is enough (docs/notebook.md says so)."""


@pytest.fixture(scope="module")
def results():
    with warnings.catch_warnings():  # some of these results are undefined on purpose
        warnings.simplefilter("ignore")
        return make_results()


def make_results():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, 8)), columns=[HOSTILE, *(f"x{place}" for place in range(7))])
    y = np.arange(60) % 2
    X.iloc[:, :2] += 2 * y[:, None]
    study = hf.Study(
        selectors={HOSTILE: hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 2, 3]), "all": hf.selectors.AnovaF(8)},
        perturbation=hf.Bootstrap(8),
        estimator=KNeighborsClassifier(3),
    )
    result = study.run(X, y)
    first, *_ = result.candidates
    return {
        "StudyResult": result,
        "StabilityEstimate": result.stability(first),
        "StabilityTest": result.stability(first).test(greater_than=0.5),
        "undefined": hf.stability(np.ones((1, 4), dtype=int)),
        "Comparison": hf.compare(load_example().top(5), load_example().top(10), paired=True),
        "Comparisons": result.compare(result.candidates[:3]),
        "Agreement": hf.inference.agreement(result.preferences(first), result.preferences(first), "jaccard"),
        "Kalousis": hf.inference.kalousis(load_example(), k=5),
        "Pilot": hf.runs_needed(0.05, pilot=load_example().top(5)),
        "Plan": hf.runs_needed(0.05, stability=0.7, size=10, n_features=100),
        "Pareto": result.pareto(n_draws=10),
        "Choice": result.choose(),
        "NestedChoice": hf.nested_choice(study, X, y, rule="accuracy", outer=hf.Folds(2)),
        "FinalFeatures": result.final_features(first, X, y),
        "SelectedFeatures": result.features(first),
        "Recovery": result.recovery([HOSTILE, "x0"], first),
        "PredictionAgreement": result.prediction_agreement(first),
        "Information": compare_with_guessing(result, first),
        "SizeProfile": result.profile(HOSTILE),
        "SelectionMap": plots.selection_map_data(result, first),
        "Summary": summarize(result),
        "Preferences": result.preferences(first),
        **make_benchmark_results(result),
    }


def make_benchmark_results(result):
    """A benchmark of two data sets, one of which has a hostile name, and what it answers."""
    found = BenchmarkResult(results={HOSTILE: result, "again": result})
    return {
        "BenchmarkResult": found,
        "BenchmarkTradeoff": found.tradeoff(),
        "BenchmarkVerdict": found.verdict("score"),
        "BenchmarkSummary": found.summary(),
        "FriedmanTest": found.friedman("score"),
        "RankComparisons": found.compare("score"),
        "SignedRankPosterior": found.bayes("score", n_draws=100),
    }


NAMES = (
    "StudyResult", "StabilityEstimate", "StabilityTest", "undefined", "Comparison", "Comparisons", "Agreement",
    "Kalousis", "Pilot", "Plan", "Pareto", "Choice", "NestedChoice", "FinalFeatures", "SelectedFeatures", "Recovery",
    "PredictionAgreement", "Information", "SizeProfile", "SelectionMap", "Summary", "Preferences", "BenchmarkResult",
    "BenchmarkTradeoff", "BenchmarkVerdict", "BenchmarkSummary", "FriedmanTest", "RankComparisons",
    "SignedRankPosterior",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_every_result_has_a_table_plain_values_a_text_and_a_view(results, name):
    found = results[name]
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame)
    written = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(written) == found.to_dict()
    assert "object at 0x" not in repr(found)
    assert len(repr(found)) < 3000


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_every_result_has_a_card_that_needs_nothing_and_runs_nothing(results, name):
    card, view = results[name]._card(), results[name]._repr_html_()
    assert card.title
    assert card.verdict
    assert "object at 0x" not in card.verdict
    assert view.startswith('<div class="holdfast-card">')
    outside = re.sub(r"<style>.*?</style>", "", view)
    ElementTree.fromstring(outside)  # every tag is closed, every name escaped
    assert not re.search(r"<script|<link|<img|<iframe|url\(|\son\w+=", outside)
    assert "http" not in outside.replace("http://www.w3.org/2000/svg", "")
    if HOSTILE in card.verdict:
        assert "&lt;script&gt;" in view
    assert len(view) < 12_000


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(set(NAMES) - {"StabilityTest", "undefined", "Plan", "BenchmarkVerdict"}))
def test_cards_have_a_small_picture(results, name):
    picture = results[name]._card().picture
    assert picture.startswith("<svg ")
    assert {node.tag.split("}")[1] for node in ElementTree.fromstring(picture).iter()} <= {
        "svg", "g", "text", "title", "line", "circle", "rect", "path", "polyline", "polygon",
    }  # fmt: skip


def test_every_rule_of_the_style_begins_with_the_card():
    selectors = re.findall(r"([^{}]+)\{[^{}]*\}", STYLE)
    assert len(selectors) > 5
    for selector in selectors:
        for part in re.split(r",(?![^(]*\))", selector):
            assert part.startswith(".holdfast-card"), part


def test_a_card_shows_the_stability_on_its_scale(results):
    estimate = hf.stability(load_example().top(10))
    card = estimate._card()
    assert card.verdict == "nogueira 0.87 [0.67, 0.92]: between intermediate to good and excellent"
    assert ">excellent<" in card.picture
    low, high = estimate.ci()
    line = re.search(r'<line x1="([\d.]+)" y1="11.0" x2="([\d.]+)"', card.picture)
    assert [float(end) for end in line.groups()] == pytest.approx([LABEL + PLOT * low, LABEL + PLOT * high], abs=0.1)
    letters = re.findall(r"· ([a-z]+)</text>", results["Comparisons"]._card().picture)
    assert letters == results["Comparisons"].to_frame()["letters"].tolist()
    study = results["StudyResult"]._card()
    assert study.picture.count("· accuracy 0.") == 4
    assert study.verdict.endswith("accuracy: <script>alert(1)</script> & co(size=3), 0.96")


def test_numbers_of_a_card_are_rounded_for_reading_only(results):
    card = results["Comparison"]._card()
    assert card.frame["p_value"].iloc[0] == results["Comparison"].p_value
    view = results["Comparison"]._repr_html_()
    assert str(results["Comparison"].p_value) not in view
    table = write_table(pd.DataFrame({"n": [1.0, 20.0, np.nan], "p": [1e-9, 0.5, -0.25], "b": [True, None, False]}), 8)
    assert re.findall(r"<td[^>]*>(.*?)</td>", table) == ["1", "1e-09", "yes", "20", "0.500", "–", "–", "−0.250", "no"]


def test_pictures_of_odd_numbers():
    nan = float("nan")
    assert cards.draw_intervals([cards.make_bar("a", nan, nan, nan)]) is None
    assert cards.draw_points([cards.Point(nan, 1)], x_title="x", y_title="y") is None
    assert cards.draw_line([cards.Bar("1", 0.5)], [1], x_title="x") is None
    assert cards.draw_bars([]) is None
    assert cards.draw_dots([nan], mean=nan) is None
    assert cards.draw_barcode([], 0, 0) is None
    wide = cards.draw_intervals([cards.make_bar("x" * 500, -3.0, -4.0, nan), cards.make_bar("b", 7.0, 6.0, 9.0)])
    ElementTree.fromstring(wide)
    assert "x" * 30 not in re.sub("<title>.*?</title>", "", wide)
    assert len(cards.draw_intervals([cards.make_bar("a", 0.5, 0.4, 0.6)] * 100)) < 5000


def test_cards_need_no_plotting_package():
    program = (
        "import sys; sys.modules.update(altair=None, vl_convert=None, jinja2=None); import holdfast as hf;"
        "from holdfast.datasets import load_example;"
        "print(hf.stability(load_example().top(5))._repr_html_().count('<svg'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


@pytest.mark.parametrize("name", DRAWN)
def test_results_that_are_pictures_draw_themselves(results, name):
    pytest.importorskip("altair")
    assert results[name].plot().to_dict()["$schema"]


def test_every_result_draws_itself_or_is_named_as_one_that_does_not(results):
    assert sorted([*DRAWN, *NOT_DRAWN]) == sorted(NAMES)
    assert not any(hasattr(results[name], "plot") for name in NOT_DRAWN)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("pareto", hf.tradeoff.pareto),
        ("choose", hf.tradeoff.choose),
        ("profile", hf.tradeoff.profile),
        ("fraction_profile", hf.tradeoff.fraction_profile),
        ("setting_ranks", hf.tradeoff.ranked_settings),
        ("features", hf.replication.study_features),
        ("final_features", hf.tradeoff.final_features),
        ("recovery", hf.tradeoff.recovery),
        ("prediction_agreement", hf.tradeoff.prediction_agreement),
    ],
)
def test_a_method_of_a_study_is_the_function_that_answers(name, function):
    assert getattr(hf.StudyResult, name) is function
    assert hf.study.StudyResult is hf.StudyResult


def test_final_features_say_how_many_there_are_not_of_how_many(results):
    pytest.importorskip("altair")
    final = results["FinalFeatures"]
    finding = " ".join(final.plot().title.text)
    assert finding == "1 feature selected on all 60 rows of the study; 2 selected in at least 50 % of 8 resamples"
    assert final._card().verdict == finding


def test_a_nested_choice_draws_its_outer_folds(results):
    folds = results["NestedChoice"].folds
    data = plots.spread_data(results["NestedChoice"])
    assert data["value"].tolist() == [*folds["score"], *folds["promised"]]
    assert data["resample"].tolist() == ["outer fold 1", "outer fold 2"] * 2


def test_a_study_draws_the_front_or_the_stabilities(results):
    pytest.importorskip("altair")
    result = results["StudyResult"]
    assert result.plot().to_dict() == result.plot("pareto").to_dict() != result.plot("forest").to_dict()
    with pytest.raises(ValueError, match="Expected picture 'pareto' or 'forest', got 'pie'"):
        result.plot("pie")


def test_a_view_shows_the_first_rows_of_a_long_table(results):
    agreement = results["Agreement"]
    long = type(agreement)(measure="jaccard", value=1.0, per_run=np.ones(9))
    assert "5 more rows: see to_frame()" in long._repr_html_()
    assert "more rows" not in replace(agreement, per_run=np.ones(4))._repr_html_()
    many = pd.DataFrame(np.ones((SHOWN_ROWS + 1, 12)))
    assert "1 more row and 2 more columns: see to_frame()" in write_table(many, SHOWN_ROWS)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64("nan"), None),
        (float("inf"), None),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([[1.5, np.nan]]), [[1.5, None]]),
        ({1: ("a", None)}, {"1": ["a", None]}),
        (pd.DataFrame({"a": [1]}, index=pd.Index(["x"], name="name")), [{"name": "x", "a": 1}]),
        (pd.Series([1.0, np.nan]), [1.0, None]),
        (pd.NA, None),
        (hf.inference.Interval(0.0, float("nan")), [0.0, None]),
    ],
)
def test_plain_values_are_what_json_holds(value, plain):
    assert to_plain(value) == plain


def test_a_misspelled_option_of_a_report_is_named(results, tmp_path):
    with pytest.raises(ValueError, match=r"Expected options of report \(path, .*did you mean 'threshold'\?"):
        results["StudyResult"].report(tmp_path / "report.html", treshold=0.6)


def test_a_card_first_says_which_features_are_in_doubt():
    """A copy of the target is selected in every resample; no card calls it trusted, and bars leave it pale."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 6)), columns=list("abcdef"))
    y = np.arange(80) % 2
    X["a"] += 4 * y
    X["copy"] = 5.0 * y + rng.normal(scale=0.01, size=80)
    selectors = {"anova": hf.selectors.AnovaF(2)}
    study = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(20), estimator=KNeighborsClassifier(3))
    result = study.run(X, y)
    assert list(result.data.doubted) == ["copy"]
    final = result.final_features("anova", X, y)
    assert final.doubted == ("copy",)
    assert set(final.consensus) == {"a", "copy"}
    estimate = hf.replicability(result, X, y, n_pairs=10, n_shuffles=0)
    assert estimate.doubted == ("copy",)
    assert estimate.cautions[0].endswith("not to be trusted until that is settled: copy.")
    assert estimate._card().frame["feature"].iloc[-1] == "copy"
    settled = study.run(X, y, treat_as_feature=["copy"])
    assert not hf.replicability(settled, X, y, n_pairs=10, n_shuffles=0).doubted
    for shown in (result, result.features(), final, estimate, summarize(result), result.report()):
        words = re.search(r'"holdfast-verdict">(?:anova: )?([^<]*)<', shown._repr_html_())[1]
        assert words.startswith("Check first whether copy is a feature. "), type(shown)
    trusted = [bar.count(cards.pictures.ACCENT + '" fill-opacity="0.85"') for bar in (
        final._repr_html_(), result.features()._repr_html_()
    )]  # fmt: skip
    assert trusted == [1, 1]  # the other one
    assert "to trust" not in result.features()._repr_html_()
    alone = study.run(X.drop(columns="copy"), y)
    assert "Check first" not in alone._repr_html_() + alone.features()._repr_html_()
