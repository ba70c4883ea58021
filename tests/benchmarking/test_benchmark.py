"""One study on several data sets: run, resumed, compared, reported, and written down for a paper."""

import csv
import io
import itertools
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import holdfast as hf
from holdfast.benchmarking import BenchmarkResult
from holdfast.benchmarking.running import store_name, store_names
from holdfast.cli import app
from holdfast.inference import compare_ranks
from holdfast.io.table import make_table
from holdfast.plots import critical_difference_data, plot_critical_difference, plot_rank_tradeoff, rank_tradeoff_data
from holdfast.plots.ranks import MAX_LENGTH
from holdfast.report import BenchmarkSummary, benchmark_latex, render_benchmark
from holdfast.report.pictures import draw_benchmark
from holdfast.study import StoreError, StudyInterrupted
from holdfast.text import escape_latex
from results import make_result, scores_around, sets_with_core
from study_parts import Raising

HOSTILE = "<script>alert(1)</script> & 50%_of$x {a}~^\\input"


def small_table(seed, n=40, d=12):
    """Samples of two classes, which the first three features tell apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[:, :3] += 1.2 * y[:, None]
    return pd.DataFrame(X, columns=[f"f{column}" for column in range(d)]), y


DATA = {f"set{seed}": small_table(seed) for seed in range(4)}
SELECTORS = {
    "anova": hf.selectors.AnovaF(3),
    "variance": hf.selectors.Variance(3),
    "random": hf.selectors.RandomSelector(3),
}


def make_study(**changes):
    options = {"selectors": SELECTORS, "perturbation": hf.Bootstrap(6), "estimator": KNeighborsClassifier(3)}
    return hf.Study(**{**options, **changes})


@pytest.fixture(scope="module")
def result():
    return hf.benchmark(DATA, make_study())


def made_benchmark(n_datasets=6, **stabilities):
    """A benchmark of studies that never ran, with stabilities and accuracies that are told."""
    results = {}
    for place in range(n_datasets):
        candidates = {
            name: {"sets": sets_with_core(level, seed=100 * place + number), "scores": scores_around(level, seed=place)}
            for number, (name, level) in enumerate(stabilities.items())
        }
        results[f"set{place}"] = make_result(candidates)
    return BenchmarkResult(results=results)


# Running


def test_each_data_set_gets_the_results_of_its_own_study(result):
    alone = make_study().run(*DATA["set2"])
    assert result.datasets == list(DATA)
    assert result.candidates == list(SELECTORS)
    summary = alone.summary()
    assert result.stabilities.loc["set2"].to_dict() == summary["stability"].to_dict()
    assert result.scores.loc["set2"].to_dict() == summary["accuracy"].to_dict()
    cells = result.cells[result.cells["dataset"] == "set2"].set_index("candidate")
    assert cells["low"].to_dict() == summary["low"].to_dict()
    front = alone.pareto(n_draws=2).frame
    assert cells["on_front"].to_dict() == front["on_front"].to_dict()
    assert cells["score_low"].to_dict() == front["score_low"].to_dict()


def test_tables_data_sets_and_groups_are_taken():
    X, y = DATA["set0"]
    groups = np.arange(len(y)) // 2
    given = {"pair": (X, y), "table": make_table(X, y, "classification", target="y"), "groups": (X, y, groups)}
    found = hf.benchmark({**given, "known": hf.datasets.load("breast_cancer")}, make_study())
    assert found.failures == {}
    assert found.stabilities.loc["pair"].to_dict() == found.stabilities.loc["table"].to_dict()
    assert found.results["groups"].plan["data"]["groups"] is not None
    assert found.results["table"].data == given["table"].record
    numbers = make_table(X, y.astype(float), "regression", target="y")
    found = hf.benchmark({"numbers": numbers}, make_study(selectors=SELECTORS["variance"], estimator=None))
    assert found.results["numbers"].task == "regression"


@pytest.mark.parametrize(
    ("datasets", "message"),
    [
        ({}, r"Expected data sets by name, such as \{'alon': \(X, y\)\}, got \{\}"),
        ([1], "Expected data sets by name"),
        ({"a": 3}, r"Expected \(X, y\), \(X, y, groups\), a Table or a Dataset for the data set 'a', got 3"),
        ({"": (1, 2)}, "Expected texts as names of data sets, got ''"),
        ({"Alon": DATA["set0"], "alon": DATA["set1"]}, "differ in more than case, got 'Alon' and 'alon'"),
    ],
)
def test_what_is_no_data_set_is_told(datasets, message):
    with pytest.raises(ValueError, match=message):
        hf.benchmark(datasets, make_study())


def test_wrong_options_are_told(result):
    with pytest.raises(ValueError, match=r"Expected a study, hf\.Study"):
        hf.benchmark(DATA, "study")
    with pytest.raises(ValueError, match=r"Expected one of the study's scores \(accuracy\), got 'f1'"):
        replace(result, metric="f1")
    with pytest.raises(ValueError, match="Expected a measure of which more is better"):
        replace(result, measure=next(one for one in hf.MEASURES.values() if not one.higher_is_better))
    with pytest.raises(ValueError, match="Expected a measure that needs no data for a benchmark, got intersection_mbm"):
        replace(result, measure=hf.MEASURES["intersection_mbm"])
    with pytest.raises(ValueError, match="Expected 'score' or 'stability', got 'size'"):
        result.friedman("size")
    with pytest.raises(ValueError, match=r"Expected candidates of the study \(anova, variance, random\), got 'lasso'"):
        result.ranks("score", ["lasso"])
    with pytest.raises(ValueError, match="Expected picture 'ranks' or 'tradeoff', got 'pie'"):
        result.plot("pie")
    with pytest.raises(ValueError, match="Expected a rule"):
        result.tradeoff("best")


def test_a_data_set_that_fails_is_recorded_and_the_others_go_on(tmp_path):
    X, y = DATA["set0"]
    data = {"gaps": (X.where(X > 0), y), **DATA}
    found = hf.benchmark(data, make_study(), store_dir=tmp_path)
    assert list(found.failures) == ["gaps"]
    assert found.failures["gaps"].startswith("Expected X without missing values")
    assert found.datasets == [*DATA, "gaps"]
    assert found.stabilities.loc["gaps"].isna().all()
    assert found.friedman("stability").note == "Left out: the data set gaps (not all values)."
    assert hf.load_benchmark(tmp_path).failures == found.failures
    mended = hf.benchmark({**data, "gaps": (X, y)}, make_study(), store_dir=tmp_path)
    assert mended.failures == {}


def test_settings_too_large_for_a_data_set_are_missing_with_a_reason():
    study = make_study(selectors={"cut": hf.Candidates(hf.selectors.AnovaF(), sizes=[2, 8]), **SELECTORS})
    found = hf.benchmark({**DATA, "narrow": small_table(7, d=5)}, study)
    cell = found.cells.query("dataset == 'narrow' and candidate == 'cut(size=8)'").iloc[0]
    assert math.isnan(cell["stability"])
    assert math.isnan(cell["score"])
    assert cell["reason"] == "it asks for 8 features, and there are 5"
    assert not cell["on_front"]
    assert found.friedman("score").n_datasets == 4
    assert found.friedman("score", ["cut(size=2)", "random"]).n_datasets == 5
    assert "it asks for 8 features" in render_benchmark(found.summary(), "html")


def test_a_candidate_whose_fits_all_fail_is_missing_with_the_error():
    with pytest.warns(UserWarning, match="fits failed"):
        found = hf.benchmark(DATA, make_study(selectors={"refusing": Raising(above=-100.0), **SELECTORS}))
    assert set(found.cells.query("candidate == 'refusing'")["reason"]) == {
        "every fit failed: ValueError: too large; and more"
    }
    test = found.friedman("stability")
    assert test.candidates == tuple(SELECTORS)
    reason = "refusing on set0, set1, set2, set3: every fit failed: ValueError: too large; and more."
    assert test.note == f"Left out: refusing (no value on any data set). {reason}"


class TwoClassGolub(hf.selectors.Golub):
    """A filter for two classes, which says so."""

    most_classes = 2


def test_data_sets_of_several_classes_leave_no_holes():
    (X, y), three = DATA["set0"], np.arange(40) % 3
    several = {
        "golub": hf.selectors.Golub(3), "rest": hf.selectors.Golub(3, multi_class="rest"),
        "both": hf.selectors.GolubVariance(3), "hybrid": hf.selectors.HybridRFE(3, n_forced=1, criterion="golub"),
    }  # fmt: skip
    found = hf.benchmark({"two": (X, y), "three": (X, three)}, make_study(selectors=several, estimator=None))
    assert found.cells["stability"].notna().all()


def test_a_selector_for_two_classes_leaves_data_sets_of_more_to_the_others(tmp_path):
    (X, y), three = DATA["set0"], np.arange(40) % 3
    data = {"two": (X, y), **{name: (small_table(seed)[0], three) for seed, name in enumerate(["three", "wide"], 5)}}
    study = make_study(selectors={**SELECTORS, "golub": TwoClassGolub(3)})
    with pytest.warns(
        UserWarning, match="6 of 24 fits failed, of golub; most often: ValueError: TwoClassGolub is for two clas"
    ):
        hf.benchmark(data, study, store_dir=tmp_path)
    found = hf.load_benchmark(tmp_path)
    assert found.failures == {}
    test = found.friedman("stability")
    assert (test.candidates, test.n_datasets) == (tuple(SELECTORS), 3)
    reason = (
        "golub on three, wide: every fit failed: ValueError: TwoClassGolub is for two classes only, and there are 3."
    )
    assert found.verdict().sentences[-1] == f"Left out: golub (no value on some data sets). {reason}"
    assert reason in render_benchmark(found.summary(), "html")
    with pytest.raises(ValueError, match="Expected selectors and models for 3 classes"):
        study.run(*data["three"])
    alone = hf.benchmark(data, make_study(selectors=TwoClassGolub(3)))
    assert "Expected selectors and models for 3 classes" in alone.failures["three"]
    with pytest.warns(UserWarning, match="6 of 18 fits failed, of anova"):
        numbers = hf.benchmark({"numbers": (X, np.linspace(0, 1, 40))}, make_study(estimator=None))
    assert numbers.cells.set_index("candidate")["stability"].notna().tolist() == [False, True, True]
    assert "AnovaF is for classes, and y has numbers" in numbers.cells["reason"].iloc[0]


def test_the_diagram_joins_what_the_sentence_does_not_distinguish():
    found = made_benchmark(8, high=0.9, middle=0.6, low=0.3)
    assert found.verdict().shown
    assert critical_difference_data(found.compare()).bars.empty
    assert "all neighbors differ" in str(found.plot().title.subtitle)
    weak = made_benchmark(3, high=0.9, middle=0.6, low=0.3)
    assert "No two of 3 candidates were shown to differ" in " ".join(weak.plot().title.text)


# Resuming


def test_only_what_is_missing_is_run(tmp_path, result):
    told = []
    first = hf.benchmark(dict(list(DATA.items())[:2]), make_study(), store_dir=tmp_path)
    found = hf.benchmark(DATA, make_study(), store_dir=tmp_path, progress=told.append)
    assert found.cells.equals(result.cells)
    assert first.datasets == ["set0", "set1"]
    begun = {told.dataset: told.done for told in reversed(told)}
    assert begun == {"set0": 18, "set1": 18, "set2": 0, "set3": 0}
    assert str(told[-1]).startswith("set3 (4 of 4 data sets) ")
    loaded = hf.load_benchmark(tmp_path)
    assert loaded.cells.equals(result.cells)
    assert loaded.folder == tmp_path


def test_a_benchmark_that_was_stopped_goes_on(tmp_path, result):
    def stop(progress):
        if progress.dataset == "set2" and progress.done:
            raise KeyboardInterrupt

    with pytest.raises(StudyInterrupted, match=r"Stopped at 'set2', data set 3 of 4\. .*with the same store to resume"):
        hf.benchmark(DATA, make_study(), store_dir=tmp_path, progress=stop)
    half = hf.load_benchmark(tmp_path)
    assert half.failures == {"set3": "it has not been run yet"}
    assert half.friedman("stability").n_datasets >= 2
    assert hf.benchmark(DATA, make_study(), store_dir=tmp_path).cells.equals(result.cells)


def test_another_plan_is_refused_in_the_words_of_the_study(tmp_path):
    hf.benchmark(DATA, make_study(), store_dir=tmp_path)
    with pytest.raises(StoreError, match=r"Expected the plan of the study in .*random_state was 0 and is now 1"):
        hf.benchmark(DATA, make_study(random_state=1), store_dir=tmp_path)


def test_candidates_of_earlier_studies_in_a_store_are_left_out(tmp_path):
    hf.benchmark({"set0": DATA["set0"]}, make_study(), store_dir=tmp_path)
    fewer = make_study(selectors={"anova": SELECTORS["anova"], "random": SELECTORS["random"]})
    found = hf.benchmark(DATA, fewer, store_dir=tmp_path)
    assert found.candidates == hf.load_benchmark(tmp_path).candidates == ["anova", "random"]
    assert found.cells.equals(hf.benchmark(DATA, fewer).cells)


def test_names_of_stores_are_safe_and_depend_on_the_name_alone():
    assert store_name("alon") == "alon.db"
    for name in (
        "../../etc/passwd",
        "a/b",
        "con",
        "NUL.txt",
        "benchmark",
        ".hidden",
        "naïve",
        "x" * 300,
        HOSTILE,
        "😀",
    ):
        file = store_name(name)
        assert re.fullmatch(r"[\w-][\w.-]*-[0-9a-f]{8}\.db", file, re.ASCII), file
        assert len(file) < 80
    assert len(set(store_names(["a b", "a_b", "a/b", "ä b"]).values())) == 4


def test_a_folder_that_is_none_is_told(tmp_path):
    with pytest.raises(StoreError, match=r"got .*, which has no benchmark\.json"):
        hf.load_benchmark(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Expected a folder for the stores of a benchmark, got the file"):
        hf.benchmark(DATA, make_study(), store_dir=tmp_path / "file")


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "other"}', "[" * 100_000])
def test_a_damaged_list_is_told(tmp_path, text):
    (tmp_path / "benchmark.json").write_text(text)
    with pytest.raises(StoreError, match=r"in .*benchmark\.json, got"):
        hf.load_benchmark(tmp_path)


def test_a_list_cannot_lead_out_of_its_folder(tmp_path):
    hf.benchmark({"set0": DATA["set0"]}, make_study(), store_dir=tmp_path)
    record = json.loads((tmp_path / "benchmark.json").read_text())
    record["datasets"][0]["file"] = "../set0.db"
    (tmp_path / "benchmark.json").write_text(json.dumps(record))
    with pytest.raises(StoreError, match=r"Expected the store set0\.db for 'set0' in .*, got '\.\./set0\.db'"):
        hf.load_benchmark(tmp_path)


# Over data sets


def test_ranks_and_tests_are_those_of_the_tables(result):
    ranks = result.ranks("stability")
    assert ranks.equals(result.stabilities.rank(axis=1, ascending=False))
    assert result.friedman("score").mean_ranks == tuple(result.ranks("score").mean())
    direct = compare_ranks(result.stabilities)
    assert result.compare("stability").pairs.equals(direct.pairs)
    assert result.compare("score", control="random").pairs["first"].tolist() == ["random"] * 2
    assert result.bayes("score", rope=0.05, n_draws=1000).rope == 0.05


def test_the_trade_off_counts_fronts_and_choices(result):
    tradeoff = result.tradeoff("accuracy")
    assert tradeoff.choices["chosen"].tolist() == [
        result.results[name].choose("accuracy").candidate for name in result.results
    ]
    assert tradeoff.candidates["chosen"].sum() == 4
    assert tradeoff.candidates["on_front"].to_dict() == {
        name: int(result.cells.query("candidate == @name")["on_front"].sum()) for name in result.candidates
    }
    assert tradeoff.candidates["score_rank"].tolist() == list(result.friedman("score").mean_ranks)
    assert "chosen by accuracy" in repr(tradeoff)
    assert json.loads(json.dumps(tradeoff.to_dict()))["n_datasets"] == 4


def test_a_known_difference_is_shown_and_named():
    found = made_benchmark(12, steady=0.95, shaky=0.3, wild=0.05)
    verdict = found.verdict("stability")
    assert verdict.shown
    assert verdict.headline.startswith("There are differences in stability among 3 candidates over 12 data sets (Fried")
    assert re.match(r"steady is more stable than (shaky, wild|wild, shaky) \(exact Wilcoxon", verdict.sentences[1])
    assert found.compare("stability").letters["steady"] == "a"


def test_random_selectors_are_hardly_ever_told_apart():
    rng = np.random.default_rng(0)
    shown = 0
    times, most = (25, 6) if os.environ.get("HOLDFAST_HEAVY") else (10, 3)
    for _ in range(times):
        results = {}
        for place in range(5):
            sets = {name: [rng.choice(20, 5, replace=False) for _ in range(6)] for name in "abcd"}
            results[f"set{place}"] = make_result(
                {name: {"sets": found, "scores": rng.normal(0.5, 0.1, 6)} for name, found in sets.items()}
            )
        found = BenchmarkResult(results=results)
        shown += found.verdict("stability").shown + found.verdict("score").shown
    assert shown <= most  # of 50 or 20 questions; more has a probability below 2 % at a level of 5 %


def test_one_selector_under_several_names_is_never_told_apart():
    selectors = {name: hf.selectors.AnovaF(3) for name in "abc"}
    found = hf.benchmark(DATA, make_study(selectors=selectors))
    for what in ("score", "stability"):
        assert found.friedman(what).p_value == 1
        assert not found.verdict(what).shown
    assert found.bayes("stability").pairs["equivalent"].tolist() == [1, 1, 1]


def test_a_single_data_set_says_nothing_over_data_sets():
    found = hf.benchmark({"set0": DATA["set0"]}, make_study())
    assert found.verdict("score").headline == (
        "Nothing can be said about differences in accuracy over data sets: a comparison needs two data sets with "
        "values of all candidates, and there is 1."
    )
    assert math.isnan(found.friedman("score").p_value)
    for format in ("html", "md", "json"):
        assert render_benchmark(found.summary(), format)
    assert "There are no mean ranks" in str(found.plot().to_dict()["title"])


def test_studies_without_scores_have_stabilities():
    found = hf.benchmark(DATA, make_study(estimator=None))
    assert found.score_name is None
    assert found.stabilities.notna().all(axis=None)
    assert found.tradeoff().choices["chosen"].isna().all()
    summary = found.summary()
    assert summary.metric is None
    assert "no score" in render_benchmark(summary, "html")
    assert "tab:benchmark-score" not in benchmark_latex(summary)


def test_a_measure_and_a_metric_can_be_chosen():
    study = make_study(scoring=["accuracy", "f1"])
    found = hf.benchmark(DATA, study, metric="f1", measure="jaccard", level=0.9)
    assert found.score_name == "f1"
    assert found.measure_name == "jaccard"
    alone = found.results["set1"]
    assert found.stabilities.loc["set1", "anova"] == alone.stability("anova", "jaccard").value
    assert found.summary().score.what == "f1"


# Report and tables


@pytest.fixture(scope="module")
def summary():
    X, y = DATA["set0"]
    selectors = {HOSTILE: hf.selectors.AnovaF(3), **SELECTORS}
    data = {**DATA, HOSTILE: (X.rename(columns={"f0": HOSTILE}), y), "gaps": (X.where(X > 0), y)}
    return hf.benchmark(data, make_study(selectors=selectors)).summary(title=HOSTILE)


def test_the_summary_reads_back_and_renders_the_same(summary):
    again = BenchmarkSummary.from_dict(json.loads(render_benchmark(summary, "json")))
    for format in ("html", "md", "json"):
        assert render_benchmark(again, format) == render_benchmark(summary, format)
    with pytest.raises(ValueError, match=r"Expected a summary with the schema 'holdfast\.benchmark/1', got None"):
        BenchmarkSummary.from_dict({})
    with pytest.raises(ValueError, match="Expected format 'html', 'md' or 'json', got 'pdf'"):
        render_benchmark(summary, "pdf")


def test_the_json_follows_its_schema(summary):
    jsonschema = pytest.importorskip("jsonschema")
    schema, record = BenchmarkSummary.json_schema(), summary.to_dict()
    assert jsonschema.Draft202012Validator(schema).is_valid(record)
    assert not jsonschema.Draft202012Validator(schema).is_valid({**record, "level": "high"})


def test_a_page_holds_words_tables_and_pictures_and_no_foreign_code(summary):
    page = render_benchmark(summary, "html")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    for text in (summary.stability.headline, summary.stability_intervals, summary.method, "gaps could not be studied"):
        assert str(escape(text)) in page
    assert page.count("data-holdfast-chart") == 3 + 2  # three charts, the script that draws them, and that which saves
    assert page.count('data-kind="svg"') == page.count('data-kind="csv"') == 3
    assert set(draw_benchmark(summary)) == {"stability", "score", "tradeoff"}
    assert "http" not in re.sub(r"https://[^\"<\s]*", "", page.split("<body>")[1].split('<script type="application')[0])


def test_markdown_escapes_names(summary):
    text = render_benchmark(summary, "md")
    assert "<script>" not in text
    assert summary.references[0].bibtex in text


def test_captions_say_how_intervals_were_made(summary):
    assert summary.stability_intervals == (
        "Stability (nogueira) on each data set, with 95 % confidence intervals over 6 bootstrap samples of the data "
        "(random seed 0), by the jackknife over resamples, with an allowance for kinds of resamples that were not "
        "drawn. Intervals describe resampling of each data set, not new data sets."
    )
    assert "Nadeau and Bengio, 2003" in summary.score_intervals
    assert "on the rows held out from 6 bootstrap samples of the data" in summary.score_intervals


def test_latex_has_the_numbers_the_best_in_bold_and_no_commands_of_names(summary):
    text = benchmark_latex(summary)
    assert escape_latex(HOSTILE) == (
        r"\textless{}script\textgreater{}alert(1)\textless{}/script\textgreater{} \& 50\%\_of\$x \{a\}"
        r"\textasciitilde{}\textasciicircum{}\textbackslash{}input"
    )
    assert HOSTILE not in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 3
    for row in summary.datasets[:4]:
        cells = [summary.cell(row.name, candidate.candidate) for candidate in summary.candidates]
        best = max(cell.stability for cell in cells)
        assert rf"\textbf{{{best:.2f}}}" in text
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    widths = {line.count(" & ") for line in lines}
    assert widths == {len(summary.candidates), 4}


def test_csv_has_all_digits_and_no_formulas(summary):
    evil = replace(summary, cells=tuple(replace(cell, candidate=f"={cell.candidate}") for cell in summary.cells))
    from holdfast.report import benchmark_csv

    rows = list(csv.DictReader(io.StringIO(benchmark_csv(summary))))
    assert len(rows) == len(summary.cells)
    for row, cell in zip(rows, summary.cells, strict=True):
        assert row["stability"] == ("" if math.isnan(cell.stability) else repr(cell.stability))
        assert row["reason"] == (cell.reason or "")
    assert all(row["candidate"].startswith("'=") for row in csv.DictReader(io.StringIO(benchmark_csv(evil))))


def test_files_are_written_where_they_are_asked_for(result, tmp_path):
    for name in ("report.html", "report.md", "report.json"):
        assert result.report(tmp_path / name).read_text(encoding="utf-8")
    assert result.to_latex(tmp_path / "t.tex") == (tmp_path / "t.tex").read_text()
    assert result.to_csv(tmp_path / "v.csv") == (tmp_path / "v.csv").read_text()
    with pytest.raises(ValueError, match=r"Expected a file that ends in \.html, \.md or \.json"):
        result.report(tmp_path / "report.pdf")


# Pictures


def test_names_of_a_critical_difference_diagram_never_overlap():
    rng = np.random.default_rng(0)
    names = [f"{HOSTILE} {place}" for place in range(20)]
    values = pd.DataFrame(rng.normal(size=(14, 20)) + np.linspace(0, 2, 20), columns=names)
    comparisons = compare_ranks(values, "nemenyi")
    data, different = critical_difference_data(comparisons), {frozenset(pair) for pair in comparisons.different}
    assert not data.candidates.duplicated(["side", "row"]).any()
    assert len(data.bars) > 1
    assert data.candidates["rank"].is_monotonic_increasing
    for bar in data.bars.itertuples():
        inside = data.candidates.query("@bar.low <= rank <= @bar.high")["name"].tolist()
        assert (inside[0], inside[-1], len(inside)) == (bar.first, bar.last, bar.size)
        assert different.isdisjoint(map(frozenset, itertools.combinations(inside, 2)))
    same_row = data.bars.sort_values(["row", "low"]).groupby("row")
    assert all((rows["low"].iloc[1:].to_numpy() > rows["high"].iloc[:-1].to_numpy()).all() for _, rows in same_row)
    chart = plot_critical_difference(compare_ranks(values, "nemenyi")).to_dict()
    labels = re.findall(r'"label": "([^"]*)"', json.dumps(chart))
    assert len(labels) >= 20
    assert max(map(len, labels)) <= 6 * MAX_LENGTH + 12  # an escape is six characters


def test_bars_join_exactly_neighbors_of_which_no_two_differ():
    values = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) + 0.1, "c": np.arange(20.0) + 5})
    data = critical_difference_data(compare_ranks(values, "nemenyi"))
    assert data.bars.empty
    assert "c has the best mean rank in accuracy: 1.00" in str(
        plot_critical_difference(compare_ranks(values, "nemenyi"), what="accuracy").title.text
    )
    values["d"] = values["c"]
    title = plot_critical_difference(compare_ranks(values, "nemenyi"), what="accuracy").title.text
    assert "c and d share the best mean rank in accuracy: 1.50" in str(title)
    with pytest.raises(ValueError, match="Expected comparisons of all pairs, got those with the control 'a'"):
        critical_difference_data(compare_ranks(values, control="a"))


def test_the_trade_off_over_data_sets_is_drawn(result):
    pytest.importorskip("altair")
    candidates = result.tradeoff().candidates
    data = rank_tradeoff_data(candidates)
    assert data["score_rank"].is_monotonic_increasing
    assert plot_rank_tradeoff(candidates, score="accuracy", n_datasets=4).to_dict()["$schema"]
    empty = candidates.assign(score_rank=np.nan)
    assert "No data set has both" in str(plot_rank_tradeoff(empty, score="accuracy", n_datasets=0).title.text)
    assert result.plot("tradeoff").to_dict() == result.tradeoff().plot().to_dict()


# The command


def call(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    assert done.exit_code == code, (done.output, done.exception)
    return done


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with five files as a researcher has them."""
    monkeypatch.chdir(tmp_path)
    for place in range(5):
        X, y = small_table(place, n=36 + 4 * place, d=10 + place)
        X.assign(status=np.where(y, "ill", "well")).to_csv(f"study {place}.csv", index=False)
    return tmp_path


SIX = ("anova", "variance", "random", "relieff", "mrmr", "information_gain")
RUN = [
    "benchmark", *(f"study {place}.csv" for place in range(5)), "--target", "status", "--estimator", "knn", "-n", 6,
    *(f"--select={name}:k=3" for name in SIX),
]  # fmt: skip


def test_six_selectors_on_five_files_to_the_tables_of_a_paper(folder):
    told = call(*RUN, "--report", "b.html", "--latex", "t.tex", "--csv", "v.csv").stdout
    result = hf.load_benchmark("benchmark-stores")
    assert result.datasets == [f"study {place}" for place in range(5)]
    assert result.verdict("stability").headline in told
    assert result.verdict("score").headline in told
    assert "6 candidates on 5 data sets" in told
    assert "Kept in benchmark-stores; the same command resumes it" in told
    latex = (folder / "t.tex").read_text()
    assert latex == result.to_latex()
    for place, name in enumerate(result.datasets):
        best = result.stabilities.loc[name].max()
        assert rf"\textbf{{{best:.2f}}}" in next(line for line in latex.splitlines() if f"study {place} &" in line)
    frame = pd.read_csv("v.csv")
    assert frame["stability"].tolist() == result.cells["stability"].tolist()
    assert str(escape(result.verdict("stability").headline)) in (folder / "b.html").read_text(encoding="utf-8")
    store = re.search(r"holdfast report (.*)", told)[1].strip("'")
    assert "nogueira" in call("report", store, "--format", "json", "--json").stdout


def test_values_are_written_in_the_format_of_other_commands(folder):
    few = ("benchmark", "study 0.csv:status", "-s", "anova:k=3", "--estimator", "knn", "-n", 4, "--no-store", "--quiet")
    formats = {"plain.csv": ("csv", {}), "for excel.csv": ("csv2", {"sep": ";", "decimal": ","})}
    for name, (table_format, reading) in formats.items():
        call(*few, "--csv", name, "--table-format", table_format)
        formats[name] = pd.read_csv(name, **reading)
    call(*few, "--csv", "values.xlsx")
    for frame in (formats["for excel.csv"], pd.read_excel("values.xlsx", engine="calamine")):
        pd.testing.assert_frame_equal(frame, formats["plain.csv"], check_dtype=False)


@pytest.mark.slow
def test_a_command_that_was_stopped_goes_on(folder):
    program = (
        "import os, signal, sys; import holdfast.study.store.store as s; old = s.Store.begin_session\n"
        "def begin(self, *a):\n"
        "    if 'study_3' in str(self.path): os.kill(os.getpid(), signal.SIGINT)\n"
        "    return old(self, *a)\n"
        "s.Store.begin_session = begin\n"
        "from holdfast.cli import run; run()"
    )
    few = [*RUN[: -len(SIX)], "--select=anova:k=3", "--select=random:k=3"]
    arguments = [sys.executable, "-c", program, *map(str, few), "--quiet"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert "Stopped at 'study 3', data set 4 of 5." in done.stderr
    assert "the same command does" in done.stderr
    assert len(hf.load_benchmark("benchmark-stores").results) in (3, 4)
    continued = json.loads(call(*few, "--quiet", "--json").stdout)
    whole = json.loads(call(*few, "--no-store", "--quiet", "--json").stdout)
    assert whole["cells"] == continued["cells"]
    assert json.loads(call(*few, "--quiet", "--json").stdout)["cells"] == continued["cells"]
    assert whole["schema"] == "holdfast.benchmark/1"


def test_files_may_name_their_targets_and_known_data_sets_take_part(folder):
    told = call(
        "benchmark", "study 0.csv:status", "breast_cancer", "-s", "anova:k=3", "-s", "random:k=3", "-n", 4,
        "--no-store", "--json", "--quiet", "--rule", "accuracy",
    ).stdout  # fmt: skip
    found = json.loads(told)
    assert [row["name"] for row in found["datasets"]] == ["study 0", "breast_cancer"]
    assert found["rule"] == "accuracy"


def test_files_of_one_name_are_told_apart(folder):
    (folder / "other").mkdir()
    (folder / "other" / "study 0.csv").write_text((folder / "study 1.csv").read_text())
    both = ("study 0.csv", "other/study 0.csv", "--target", "status")
    found = json.loads(call("benchmark", *both, "-s", "anova:k=3", "-n", 4, "--json", "--quiet").stdout)
    assert [row["name"] for row in found["datasets"]] == ["study 0.csv", "other/study 0.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "There is no file none.csv, and no data set of this name"),
        (
            ["study 0.csv"],
            "the column of study 0.csv to be predicted, or --time and --event, got none",
        ),
        (["study 0.csv:stage"], "stage"),
        (["study 0.csv:status", "study 0.csv:status"], "Expected different data sets, got 'study 0.csv' twice"),
        (["study 0.csv:status", "study 1.csv:f1", "--categorical", "codes"], "Expected data sets of one task, got"),
        (["study 0.csv:status", "--rule", "at-least:stability=0.8"], "Expected a rule without parameters"),
        (["study 0.csv:status", "--metric", "f1"], "Expected one of the study's scores (accuracy), got 'f1'"),
        (["study 0.csv:status", "-s", "none"], "none"),
        (["study 0.csv:status", "--table-format", "tsv"], "Expected --table-format csv, csv2 or xlsx, got 'tsv'"),
    ],
)
def test_bad_input_is_told_in_one_sentence(folder, arguments, message):
    done = CliRunner().invoke(app, ["benchmark", *arguments, "-n", "4"])
    assert done.exit_code != 0
    assert message in str(done.exception)
    assert isinstance(done.exception, ValueError)


def test_notes_say_of_which_data_set_they_speak(folder):
    flat = pd.read_csv(folder / "study 0.csv").assign(flat=1.0)
    flat.to_csv(folder / "flat.csv", index=False)
    tables = ("study 1.csv:status", "flat.csv:status")
    done = CliRunner().invoke(app, ["benchmark", *tables, "-s", "anova:k=3", "-n", "4", "--no-store"])
    assert "note: flat: Kept 1 column with a single value: 'flat'.\n" in done.stderr


def test_another_plan_is_told_with_the_option_that_helps(folder):
    call("benchmark", "study 0.csv:status", "-s", "anova:k=3", "-n", 4, "--quiet")
    done = CliRunner().invoke(app, ["benchmark", "study 0.csv:status", "-s", "anova:k=3", "-n", "4", "--seed", "3"])
    assert "random_state was 0 and is now 3" in str(done.exception)
    assert str(done.exception).endswith("Another folder is given by --store-dir.")
