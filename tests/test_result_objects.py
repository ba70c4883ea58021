"""Every result has a table, plain values, a text, a view in notebooks, and a picture where one is natural."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast import plots
from holdfast.benchmarking import BenchmarkResult
from holdfast.datasets import load_example
from holdfast.report import summarize
from holdfast.results import SHOWN_ROWS
from holdfast.serialization import to_plain
from holdfast.tradeoff.information import compare_with_guessing

HOSTILE = "<script>alert(1)</script> & co"
DRAWN = ("StabilityEstimate", "Comparisons", "StudyResult", "Pareto", "SizeProfile", "Preferences")
DRAWN += ("BenchmarkResult", "BenchmarkTradeoff")


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
    "Kalousis", "Pilot", "Plan", "Pareto", "Choice", "NestedChoice", "FinalFeatures", "Recovery",
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
    view = found._repr_html_()
    assert "<script>" not in view
    if HOSTILE in repr(found).split("\n")[0]:
        assert "&lt;script&gt;" in view


@pytest.mark.parametrize("name", DRAWN)
def test_results_that_are_pictures_draw_themselves(results, name):
    pytest.importorskip("altair")
    assert results[name].plot().to_dict()["$schema"]


def test_a_study_draws_the_front_or_the_stabilities(results):
    pytest.importorskip("altair")
    result = results["StudyResult"]
    assert result.plot().to_dict() == result.plot("pareto").to_dict() != result.plot("forest").to_dict()
    with pytest.raises(ValueError, match="Expected picture 'pareto' or 'forest', got 'pie'"):
        result.plot("pie")


def test_a_view_shows_the_first_rows_of_a_long_table(results):
    agreement = results["Agreement"]
    long = type(agreement)(measure="jaccard", value=1.0, per_run=np.ones(SHOWN_ROWS + 5))
    assert "5 more rows: see to_frame()" in long._repr_html_()
    assert "more rows" not in agreement._repr_html_()


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
