"""The frame of the reproductions: verdicts by their rules, what is kept, pages, and the command."""

import json
import math
import re
from pathlib import Path

import pandas as pd
import pytest

import holdfast as hf
from holdfast.declared import Registry
from holdfast.plots import plot_selection_map
from reproductions import Check, Outcome, Picture, Table, Workbench, experiments, reproduce, running
from reproductions.kept import find_kept
from reproductions.pages import slim_svg, summarize_verdicts

ROOT = Path(__file__).parents[2]
NUMBER = {"published": 0.5, "tolerance": 0.01, "because": "printed to two digits"}


@pytest.fixture
def done(monkeypatch):
    """Three experiments instead of those of the papers; the list says which were done."""
    calls = []
    experiments.load_experiments()  # modules that pages are about would register theirs later
    monkeypatch.setattr(experiments, "EXPERIMENTS", Registry("experiment"))
    monkeypatch.setattr(experiments, "PAPERS", ())
    monkeypatch.setattr("reproductions.pages.PAPERS", ("kalousis2005", "nogueira2016"))

    @experiments.experiment("kalousis2005", "table9", shows="Table 9", title="A | bar", data=("alon", "breast_cancer"))
    def table(bench):
        calls.append("table9")
        (name,) = bench.at_hand(("breast_cancer",))
        X, y = bench.load(name)
        plan = hf.Study(selectors=[hf.selectors.AnovaF(3)], perturbation=hf.Bootstrap(bench.choose(8, 5)))
        result = bench.study("anova", plan, X, y)
        estimate = result.stability("anova")
        checks = [
            Check.number("It is half.", "Table 9", ours=estimate.value, **NUMBER, if_missed="Another data set."),
            Check.order("More than none.", "page 1", difference=1.0, low=0.5, high=1.5),
        ]
        frame = pd.DataFrame({"n": [bench.choose(8, 5)], "value": [math.nan], "is": [True]})
        picture = Picture(name="map", caption="As Figure 1.", chart=plot_selection_map(result.preferences("anova")))
        return Outcome(checks=checks, tables=[Table(title="Runs", frame=frame)], pictures=[picture],
                       protocol="Eight bootstraps.", beyond=["An interval."])  # fmt: skip

    @experiments.experiment("nogueira2016", "broken", shows="Figure 1", title="fails")
    def broken(bench):
        calls.append("broken")
        raise RuntimeError("no luck")

    @experiments.experiment("nogueira2016", "far", shows="Figure 2", title="needs data", data=("alon",))
    def far(bench):
        calls.append("far")

    monkeypatch.setattr(running, "available", lambda: ["breast_cancer"])
    return calls


def test_a_number_may_be_off_by_the_tolerance_and_three_of_our_errors():
    def verdict(ours, error=0.0):
        return Check.number("c", "w", ours=ours, error=error, **NUMBER).verdict

    assert verdict(0.51) == verdict(0.49) == verdict(0.53, error=0.007) == "reproduced"
    assert verdict(0.511) == verdict(0.489) == verdict(0.54, error=0.007) == verdict(math.nan) == "not reproduced"


def test_an_order_is_open_while_the_interval_includes_zero():
    def verdict(low, high):
        return Check.order("c", "w", difference=0.1, low=low, high=high).verdict

    assert verdict(0.01, 0.2) == "reproduced"
    assert verdict(-0.2, -0.01) == "not reproduced"
    assert verdict(-0.1, 0.2) == verdict(math.nan, math.nan) == "open"


def test_a_reason_is_told_of_a_miss_only():
    missed = Check.fact("c", "w", holds=False, rule="r", ours="1", if_missed="Because.")
    assert (missed.verdict, missed.reason) == ("not reproduced", "Because.")
    assert Check.fact("c", "w", holds=True, rule="r", ours="1", if_missed="Because.").reason == ""


def test_what_is_finished_is_kept_and_what_fails_stops_nothing(done, tmp_path):
    said = []
    found, undone = reproduce(["all"], tmp_path, say=said.append)
    assert done == ["table9", "broken"]
    assert [outcome.experiment for outcome in found] == ["kalousis2005-table9"]
    assert undone["nogueira2016-broken"] == "failed: RuntimeError: no luck"
    assert undone["nogueira2016-far"].startswith("skipped: it needs alon")
    assert "1 of 3: kalousis2005-table9 (Table 9)" in said
    again, _ = reproduce(["kalousis2005"], tmp_path, say=said.append)
    assert again == found
    assert done.count("table9") == 1
    reproduce(["kalousis2005-table9"], tmp_path, again=True, say=said.append)
    assert done.count("table9") == 2
    assert len(list((tmp_path / "stores").rglob("anova.db"))) == 1


def test_experiments_share_studies_in_a_folder_beside_theirs(tmp_path):
    bench = Workbench(folder=tmp_path / "kalousis2005-table2", quick=True, n_jobs=2)
    shared = bench.sharing("kalousis2005-studies")
    assert shared.folder == tmp_path / "kalousis2005-studies"
    assert (shared.quick, shared.n_jobs) == (True, 2)


def test_a_quick_run_is_apart_from_a_full_one(done, tmp_path):
    for quick, n in ((True, 5), (False, 8)):
        (outcome,), _ = reproduce(["kalousis2005"], tmp_path, quick=quick, say=lambda line: None)
        assert outcome.tables[0].rows == ((str(n), "–", "yes"),)
        assert ("quick run" in (tmp_path / "index.md").read_text(encoding="utf-8")) == quick


def test_an_outcome_that_was_cut_off_is_done_again(done, tmp_path):
    reproduce(["kalousis2005"], tmp_path, say=lambda line: None)
    own = tmp_path / "stores" / "full" / "kalousis2005-table9"
    assert find_kept(own, quick=False) is not None
    (own / "outcome.json").write_text((own / "outcome.json").read_text()[:-9])
    assert find_kept(own, quick=False) is None
    reproduce(["kalousis2005"], tmp_path, say=lambda line: None)
    next(own.glob("*.svg")).unlink()
    assert find_kept(own, quick=False) is None


def test_pages_show_claims_tables_and_pictures_and_link_to_each_other(done, tmp_path):
    (outcome,), _ = reproduce(["kalousis2005"], tmp_path, say=lambda line: None)
    page = (tmp_path / "kalousis2005.md").read_text(encoding="utf-8")
    assert "1 of 2 claims reproduced, 1 not, 0 open." in page
    assert "## Table 9: A | bar" in page
    assert "- *✗ not reproduced*: It is half. Another data set." in page
    assert "Not on this machine, and left out: alon." in page
    assert "| 8 | – | yes |" in page
    (picture,) = outcome.pictures
    assert f"![{picture.finding}]({picture.file})" in page
    assert (tmp_path / picture.file).read_text(encoding="utf-8").startswith("<svg")
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "[Kalousis 2005, Table 9](kalousis2005.md#table-9-a--bar)" in index
    assert "| ? open |" not in index


def test_pictures_of_pages_are_slim():
    drawn = '<svg><g role="img" aria-label="a: 1"><path d="M1.25,0.049L-10.96,3" opacity="0.18"/></g></svg>'
    assert slim_svg(drawn) == '<svg><g><path d="M1.2,0L-11,3" opacity="0.18"/></g></svg>'


def test_an_unknown_name_is_one_sentence_with_a_hint(done, tmp_path):
    with pytest.raises(ValueError, match="did you mean 'kalousis2005-table9'"):
        reproduce(["kalousis2005-table8"], tmp_path / "out")
    with pytest.raises(ValueError, match="did you mean 'nogueira2016-far'"):
        reproduce(["nogueira2016-fare"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_prints_verdicts_and_says_what_failed(done, tmp_path, printed_by, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = printed_by("all", "--quick", code=1)
    assert re.search(r"reproduced +– +\+1\.00 \(\+0\.50 to \+1\.50\) +More than none\.", printed.out)
    assert "nogueira2016-broken: failed: RuntimeError: no luck" in printed.out
    assert "open reproductions/index.md" in printed.out
    printed = printed_by("kalousis2005", "--quick", "--json", "--quiet", code=0)
    record = json.loads(printed.out)
    assert record["schema"] == "holdfast.reproduction/1"
    assert [check["verdict"] for check in record["outcomes"][0]["checks"]] == ["not reproduced", "reproduced"]
    assert printed.err == ""
    listed = printed_by("--list", code=0).out
    assert re.search(r"nogueira2016-far +Figure 2 +needs data +alon", listed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kalousis"], "Expected the name of an experiment or of a paper, or all, got 'kalousis'"),
        (["nogueira2016-figure1", "--quick", "--out", "file"], "Expected a folder for the pages, got the file file"),
        ([], "Expected names of experiments or papers, or all, got none"),
    ],
)
def test_a_wrong_input_is_one_sentence_and_exit_code_2(printed_by, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    printed = printed_by(*arguments, code=2)
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_every_experiment_is_listed_under_its_paper():
    known = experiments.load_experiments()
    for name, experiment in known.items():
        assert name == f"{experiment.paper}-{experiment.short}"
        assert experiment.paper in experiments.PAPERS
        assert set(experiment.data) <= set(hf.datasets.names())
    assert {experiment.paper for experiment in known.values()} == set(experiments.PAPERS)


def test_the_readme_names_the_count_of_the_committed_pages():
    index = (ROOT / "docs" / "reproductions" / "index.md").read_text(encoding="utf-8")
    total = re.search(r"\*\*(\d+) of (\d+) claims reproduced, (\d+) not, (\d+) open\.\*\*", index)
    rows = [re.search(r"(✓ reproduced|✗ not reproduced|\? open) \|$", line) for line in index.splitlines()]
    verdicts = [row[1][2:] for row in rows if row]
    checks = [Check(claim="", where="", published="", ours="", rule="", verdict=verdict) for verdict in verdicts]
    assert total[0].strip("*") == summarize_verdicts(checks)
    assert f"{total[1]} of {total[2]} claims" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "quick run" not in index
