"""The frame of the reproductions: verdicts by evidence and rule, what is stored, seeds, pages, and the command."""

import doctest
import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import holdfast as hf
from holdfast.declared import Registry
from holdfast.plots import plot_selection_map
from holdfast.serialization import from_plain, to_json
from reproductions import Claim, Evidence, Outcome, Picture, Rule, Table, Workbench, experiments, reproduce, running
from reproductions.exhibits import judge_row, make_row, read_exhibits
from reproductions.pages import slim_svg
from reproductions.records import KINDS, WORDS, count_verdicts, judge, last_digit
from reproductions.stored import combine_claims, read_outcome

ROOT = Path(__file__).parents[2]
HALF = Rule.within("0.50", 0.1)


@pytest.fixture
def done(monkeypatch):
    """Three experiments instead of those of the papers; the list says which were done."""
    calls = []
    experiments.load_experiments()  # modules that pages are about would register theirs later
    monkeypatch.setattr(experiments, "EXPERIMENTS", Registry("experiment"))
    monkeypatch.setattr(experiments, "PAPERS", ())
    monkeypatch.setattr("reproductions.pages.PAPERS", ("kalousis2005", "nogueira2016"))

    @experiments.experiment(
        "kalousis2005", "table2", shows="Table 2", title="A | bar", question="Is it?", data=("alon", "breast_cancer")
    )
    def table(bench):
        calls.append("table2")
        (name,) = bench.available(("breast_cancer",))
        X, y = bench.load(name)
        plan = hf.Study(selectors=[hf.selectors.AnovaF(3)], perturbation=hf.Bootstrap(bench.choose(8, 5)))
        result = bench.study("anova", plan, X, y)
        n = result.stability("anova").n_runs
        moving = Evidence(value=1.0 - bench.seed, low=0.5 - bench.seed, high=1.5 - bench.seed, varied="redraws")
        claims = [
            claim(Evidence.exact(0.7), HALF, text="It is half.", printed="0.50", reason="Another data set."),
            claim(moving, Rule.above(0), text="More than none.", where="page 1"),
            claim(Evidence.exact(n), Rule.equal(n), text="So many.", exhibit="", kind="exact"),
        ]
        frame = pd.DataFrame({"n": [n], "value": [math.nan], "is": [True]})
        picture = Picture(
            name="map", caption="As Table 2.", chart=plot_selection_map(result.preferences("anova")), exhibit="Table 2"
        )
        return Outcome(
            claims=claims, tables=[Table(title="Runs", frame=frame)], pictures=[picture], protocol="Eight bootstraps.",
            notes=["An interval."], findings=["**A slip.** Is it one?"],
        )  # fmt: skip

    @experiments.experiment("nogueira2016", "broken", shows="Figure 1", title="fails")
    def broken(bench):
        calls.append("broken")
        raise RuntimeError("no luck")

    @experiments.experiment("nogueira2016", "far", shows="Figure 2", title="needs data", data=("alon",))
    def far(bench):
        calls.append("far")

    monkeypatch.setattr(running, "available", lambda: ["breast_cancer"])
    return calls


def claim(evidence, rule, text="It is.", exhibit="Table 2", **options):
    return Claim(claim=text, exhibit=exhibit, evidence=evidence, rule=rule, **options)


def interval(low, high):
    return Evidence(value=(low + high) / 2, low=low, high=high, varied="redraws")


# Verdicts


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.4, 0.6, "holds"), (0.3, 0.6, "open"), (0.2, 0.8, "open"), (0.61, 0.7, "does not hold"),
     (0.1, 0.39, "does not hold"), (math.nan, math.nan, "open")],
)  # fmt: skip
def test_a_claim_holds_if_its_whole_interval_meets_the_rule(low, high, verdict):
    assert judge(interval(low, high), HALF) == verdict


def test_the_threshold_is_halved_and_doubled_by_the_same_function():
    evidence = interval(0.42, 0.58)
    assert claim(evidence, HALF).other_verdicts == ("open", "holds")
    assert claim(evidence, Rule.above(0.3)).other_verdicts == ("holds", "does not hold")
    assert claim(evidence, Rule.share(0.5)).other_verdicts == ("does not hold", "holds")  # 0.75 and 0
    assert claim(evidence, Rule.above(0)).other_verdicts is None
    assert claim(evidence, Rule.same()).other_verdicts is None


@pytest.mark.parametrize(("printed", "unit"), [("0.023", 0.001), ("12", 1.0), ("4.12e-4", 1e-6), ("-0.5", 0.1)])
def test_a_printed_number_stands_for_all_that_round_to_it(printed, unit):
    assert last_digit(printed) == pytest.approx(unit)
    for by_factors in (False, True):
        rule = Rule.within(printed, by_factors=by_factors and float(printed) > 0)
        assert judge(Evidence.exact(float(printed) + 0.49 * unit), rule) == "holds"
        assert judge(Evidence.exact(float(printed) - 0.51 * unit), rule) == "does not hold"


def test_a_tolerance_by_factors_is_halved_as_a_factor():
    rule = Rule.within("0.010", 4.0, by_factors=True)
    assert rule.bounds(1) == pytest.approx((0.0095 / 4, 0.0105 * 4))
    assert rule.bounds(0.5) == pytest.approx((0.0095 / 2, 0.0105 * 2))
    assert judge(interval(0.003, 0.04), rule) == "holds"
    assert judge(interval(-0.1, 0.04), rule) == "open"


def test_the_error_of_print_and_ours_make_one_interval_never_a_sum():
    rule = Rule.within("0.50", 0.1, error=0.03)
    ours = Evidence.from_error(0.55, 0.02, "redraws")
    combined = 1.959964 * math.hypot(0.02, 0.03)
    assert judge(ours, rule) == ("holds" if 0.55 + combined <= 0.605 else "open")
    assert judge(Evidence.from_error(0.53, 0.02, "redraws"), rule) == "holds"  # a sum of the two would leave it open
    assert 0.53 + 1.96 * (0.02 + 0.03) > 0.605


def test_counts_near_0_have_exact_intervals_and_two_modes_quantiles():
    none = Evidence.from_count(0, 20, "20 tries")
    assert (none.low, round(none.high, 3)) == (0.0, 0.168)
    two_modes = Evidence.from_draws(1.0, np.repeat([-5.0, 1.0], [10, 90]), "100 redraws")
    assert (two_modes.low, two_modes.high) == (-5.0, 1.0)
    assert judge(two_modes, Rule.above(0)) == "open"


def test_redraws_of_ten_samples_cover_the_mean_as_often_as_they_promise():
    rng = np.random.default_rng(0)
    covered = {None: 0, 10: 0}
    for _ in range(2000):
        sample = rng.normal(size=10)
        draws = sample[rng.integers(10, size=(200, 10))].mean(axis=1)
        for n_units in covered:
            found = Evidence.from_draws(sample.mean(), draws, "redraws", n_units=n_units)
            covered[n_units] += found.low <= 0 <= found.high
    assert covered[None] < 0.92 * 2000 < 0.935 * 2000 < covered[10] < 0.965 * 2000


def test_evidence_of_parts_of_answers_and_of_samples():
    parts = Evidence.from_verdicts(["holds", "holds", "open", "does not hold"], "cells")
    assert (parts.low, parts.high, str(parts)) == (0.5, 0.75, "2 of 4 hold, 1 open")
    answers = Evidence.from_answers(["a"] * 9 + ["b"], "a", "10 redraws")
    assert judge(answers, Rule.same()) == "open"
    assert judge(Evidence.from_answers(["a"] * 10, "a", "10 redraws"), Rule.same()) == "holds"
    assert judge(Evidence.from_answers(["b"] * 10, "a", "10 redraws"), Rule.same()) == "does not hold"
    sample = Evidence.from_sample([1.0, 2.0, 3.0], "3 data sets")
    assert (sample.value, round(sample.high, 2)) == (2.0, 4.48)
    assert not Evidence.from_sample([1.0], "1 data set").is_defined
    assert str(Evidence.undefined("No data.")) == "undefined"


def test_a_claim_holds_in_part_if_it_does_by_some_choices():
    above, below, around = interval(1, 2), interval(-2, -1), interval(-1, 1)

    def verdict(*parts):
        return judge(Evidence.by_choice(parts, "choices"), Rule.above(0))

    assert verdict(above, above) == "holds"
    assert verdict(above, below) == verdict(above, around) == "holds in part"
    assert verdict(below, below) == "does not hold"
    assert verdict(below, around) == "open"
    whole = Evidence.by_choice([above, below], "2 choices")
    assert (whole.value, whole.low, whole.high, whole.varied) == (1.5, -2, 2, "redraws, 2 choices")
    assert claim(whole, Rule.above(1)).other_verdicts == ("holds in part", "does not hold")
    over_seeds = combine_claims(
        [claim(whole, Rule.above(0)), claim(replace(whole, parts=(around, below)), Rule.above(0))]
    )
    assert over_seeds.verdict == "open"
    assert [(part.low, part.high) for part in over_seeds.evidence.parts] == [(-1, 2), (-2, -1)]
    assert from_plain(Claim, json.loads(to_json(claim(whole, Rule.above(0))))) == claim(whole, Rule.above(0))
    assert count_verdicts([claim(whole, Rule.above(0))], "empirical").endswith("1 holds in part.")
    assert judge_row([claim(whole, Rule.above(0))]) == "holds in part"


def test_words_mean_the_same_everywhere():
    slightly = Rule.word("slightly", "stability")
    assert slightly.text == "“slightly”: above 0, at most 0.1 (stability)"
    assert [judge(Evidence.exact(value), slightly) for value in (0.0, 0.1, 0.11)] == [
        "does not hold", "holds", "does not hold"
    ]  # fmt: skip
    for word, meaning in WORDS.items():
        for quantity in meaning["thresholds"]:
            assert Rule.word(word, quantity).has_threshold


# Tables and figures


def test_there_are_43_tables_and_figures_each_of_a_known_experiment():
    known = experiments.load_experiments()
    exhibits = read_exhibits()
    assert len(exhibits) == len({(item.paper, item.name) for item in exhibits}) == 43
    assert {item.paper for item in exhibits} == set(experiments.PAPERS)
    assert {f"{item.paper}-{item.experiment}" for item in exhibits if item.experiment} <= set(known)


def test_a_row_follows_from_its_claims():
    holds, fails, undecided = (claim(interval(*ends), Rule.above(0)) for ends in ((1, 2), (-2, -1), (-1, 1)))
    assert judge_row([holds, holds]) == "holds"
    assert judge_row([holds, fails]) == judge_row([holds, undecided]) == "holds in part"
    assert judge_row([fails, fails]) == "does not hold"
    assert judge_row([fails, undecided]) == "open"
    assert judge_row([]) == "not run"
    table_2, *_ = read_exhibits()
    assert make_row(table_2, []).verdict == "not run"


def test_kinds_are_counted_apart():
    claims = [claim(interval(1, 2), Rule.above(0)), claim(interval(1, 2), Rule.above(0), kind="beyond")]
    assert [count_verdicts(claims, kind)[:5] for kind in KINDS] == ["Of 1 ", "", "Of 1 "]


# What is stored, and seeds


def silent(line):
    pass


def test_what_is_finished_is_stored_and_what_fails_stops_nothing(done, tmp_path):
    lines = []
    outcomes, failures = reproduce(["all"], tmp_path, report=lines.append)
    assert done == ["table2", "broken"]
    assert [outcome.experiment for outcome in outcomes] == ["kalousis2005-table2"]
    assert failures["nogueira2016-broken"] == "failed: RuntimeError: no luck"
    assert failures["nogueira2016-far"].startswith("skipped: it needs alon")
    assert "seed 0, 1 of 3: kalousis2005-table2 (Table 2)" in lines
    assert "1 of 3: kalousis2005-table2" in (tmp_path / "stores" / "full" / "log.txt").read_text(encoding="utf-8")
    again, _ = reproduce(["kalousis2005"], tmp_path, report=silent)
    assert again == outcomes
    assert done.count("table2") == 1
    reproduce(["kalousis2005-table2"], tmp_path, again=True, report=silent)
    assert done.count("table2") == 2
    assert len(list((tmp_path / "stores").rglob("anova.db"))) == 1


def test_experiments_share_studies_in_a_folder_next_to_theirs(tmp_path):
    bench = Workbench(folder=tmp_path / "kalousis2005-table2", quick=True, n_jobs=2)
    shared = bench.sharing("kalousis2005-studies")
    assert shared.folder == tmp_path / "kalousis2005-studies"
    assert (shared.quick, shared.n_jobs) == (True, 2)


def test_random_numbers_follow_from_seed_and_stream(tmp_path):
    first, second = (Workbench(folder=tmp_path, seed=seed) for seed in (0, 1))
    draws = [bench.rng(stream).random() for bench in (first, second) for stream in (1, 2)]
    assert len(set(draws)) == 4
    assert first.rng(1).random() == draws[0]
    assert first.choose(2, 1, 3) == 2
    assert Workbench(folder=tmp_path, large=True).choose(2, 1, 3) == 3


def test_a_quick_run_has_no_pages(done, tmp_path):
    for quick, n in ((True, 5), (False, 8)):
        (outcome,), _ = reproduce(["kalousis2005"], tmp_path, quick=quick, report=silent)
        assert f"| {n} | – | yes |" in outcome.tables[0]
        assert (tmp_path / "index.md").exists() == (not quick)


def test_an_outcome_that_was_cut_off_is_done_again(done, tmp_path):
    reproduce(["kalousis2005"], tmp_path, report=silent)
    folder = tmp_path / "stores" / "full" / "seed-0" / "kalousis2005-table2"
    assert read_outcome(folder) is not None
    (folder / "outcome.json").write_text((folder / "outcome.json").read_text()[:-9])
    assert read_outcome(folder) is None
    reproduce(["kalousis2005"], tmp_path, report=silent)
    next(folder.glob("*.svg")).unlink()
    assert read_outcome(folder) is None


def test_a_claim_that_a_seed_turns_round_is_open_with_the_range_over_seeds(done, tmp_path, printed_by):
    reproduce(["kalousis2005"], tmp_path, seeds=[0, 2], report=silent)
    page = (tmp_path / "kalousis2005.md").read_text(encoding="utf-8")
    assert (
        "| More than none. | Table 2, page 1 | – | 1.00 (-1.50 to 1.50) | redraws; 2 seeds | above 0 | ? open |" in page
    )
    assert "--seed 0 --seed 2`: 2 seeds" in page
    reproduce(["kalousis2005"], tmp_path, report=silent)
    printed = printed_by("--compare-seeds", "--out", tmp_path, code=0).out
    assert "kalousis2005-table2: More than none. (holds; then does not hold)" in " ".join(printed.split())
    assert "1 of 3 verdicts that are not open at seed 0 (33.3%) change at seed 2; 1 of them are reversed" in " ".join(
        printed.split()
    )
    assert "got none; run them with --seed" in printed_by("--compare-seeds", "--seed", 5, "--out", tmp_path, code=2).err


def test_the_range_over_seeds_is_judged_by_the_same_rule():
    above, more, below = (claim(interval(*ends), Rule.above(0)) for ends in ((1, 2), (2, 3), (-2, -1)))
    assert combine_claims([above, above]) == above
    both = combine_claims([above, more])
    assert (both.evidence.low, both.evidence.high, both.verdict) == (1, 3, "holds")
    assert combine_claims([above, below]).verdict == "open"
    assert combine_claims([above, claim(Evidence.undefined("No fit."), Rule.above(0))]).verdict == "open"


# Pages and the command


def test_pages_show_rows_claims_and_pictures_and_link_to_each_other(done, tmp_path):
    (outcome,), _ = reproduce(["kalousis2005"], tmp_path, report=silent)
    page = (tmp_path / "kalousis2005.md").read_text(encoding="utf-8")
    assert "Of 2 empirical claims of the papers 1 holds, 1 does not hold." in page
    assert "## Table 2: A | bar\n\nIs it?" in page
    assert "| It is half. | Table 2 | 0.50 | 0.70 | exact | within 0.1 of 0.50 | ✗ does not hold | ✗, ✓ |" in page
    assert "- It is half (does not hold). Another data set." in page
    assert "Not on this machine, and left out: alon." in page
    assert "## What was found about the paper\n\n**A slip.** Is it one?" in page
    (picture,) = outcome.pictures
    assert page.index("| 8 | – | yes |") > page.index(f"![{picture.finding}]({picture.file})")
    assert (tmp_path / picture.file).read_text(encoding="utf-8").startswith("<svg")
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    row = next(line for line in index.splitlines() if "Kalousis 2005, Table 2" in line)
    assert row.startswith("| [Kalousis 2005, Table 2](kalousis2005.md#table-2-a--bar) |")
    assert (
        "| (✓) holds in part | Of 2 claims 1 holds, 1 does not hold. Not: It is half. Left out: prostate and stroke"
        in row
    )
    assert f"]({picture.file}) |" in row
    assert "**Of 43 tables and figures 1 holds in part, " in index


def test_pictures_of_pages_are_slim():
    drawn = '<svg><g role="img" aria-label="a: 1"><path d="M1.25,0.049L-10.96,3" opacity="0.18"/></g></svg>'
    assert slim_svg(drawn) == '<svg><g><path d="M1.2,0L-11,3" opacity="0.18"/></g></svg>'


def test_an_unknown_name_is_one_sentence_with_a_hint(done, tmp_path):
    with pytest.raises(ValueError, match="did you mean 'kalousis2005-table2'"):
        reproduce(["kalousis2005-table8"], tmp_path / "out")
    with pytest.raises(ValueError, match="did you mean 'nogueira2016-far'"):
        reproduce(["nogueira2016-fare"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_prints_verdicts_but_not_of_a_quick_run(done, tmp_path, printed_by, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = printed_by("all", code=1)
    assert re.search(r"holds +– +1\.00 \(0\.50 to 1\.50\) +More than none\.", printed.out)
    assert "nogueira2016-broken: failed: RuntimeError: no luck" in printed.out
    assert "open reproductions/index.md" in printed.out
    printed = printed_by("kalousis2005", "--json", "--quiet", code=0)
    record = json.loads(printed.out)
    assert record["schema"] == "holdfast.reproduction/2"
    assert [item["verdict"] for item in record["outcomes"][0]["claims"]] == ["does not hold", "holds", "holds"]
    assert printed.err == ""
    printed = printed_by("kalousis2005", "--quick", code=0).out
    assert "3 claims, 1 tables, 1 pictures" in printed
    assert "too little for verdicts" in printed
    assert not re.search("holds|does not hold|open", printed)
    assert "claims" not in json.loads(printed_by("kalousis2005", "--quick", "--json", code=0).out)["outcomes"][0]
    listed = printed_by("--list", code=0).out
    assert re.search(r"nogueira2016-far +Figure 2 +needs data +alon", listed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kalousis"], "Expected the name of an experiment or of a paper, or all, got 'kalousis'"),
        (["nogueira2016-figure1", "--quick", "--out", "file"], "Expected a folder for the pages, got the file file"),
        ([], "Expected names of experiments or papers, or all, got none"),
        (["--compare-seeds"], "Expected stored outcomes of seed 0 in reproductions/stores/full, got none"),
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


def test_a_figure_is_redone_in_ten_lines():
    page = (ROOT / "docs" / "reproductions" / "redo.md").read_text(encoding="utf-8")
    code = doctest.DocTestParser().get_doctest(page.replace("```", ""), {}, "redo.md", None, 0)
    assert sum(example.source.count("\n") for example in code.examples) <= 10
    assert doctest.DocTestRunner().run(code).failed == 0


def test_the_readme_says_what_the_index_says():
    """The sentence between the marks is that in bold on the page of all papers; HOLDFAST_WRITE_DOCS=1 writes it."""
    index = (ROOT / "docs" / "reproductions" / "index.md").read_text(encoding="utf-8")
    sentence = re.search(r"\*\*(.+?)\*\*", index, re.DOTALL)[1]
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    written = re.sub("(<!-- reproduced -->).*?(<!-- end -->)", rf"\g<1>{sentence}\g<2>", text, flags=re.DOTALL)
    assert "<!-- reproduced -->" in text
    if os.environ.get("HOLDFAST_WRITE_DOCS"):
        path.write_text(written, encoding="utf-8")
    assert written == text, "run HOLDFAST_WRITE_DOCS=1 pytest reproductions/tests/test_reproduce.py"
