"""The trade-off on the page: the front and the rules, two candidates side by side, and the number of features."""

import contextlib
import math
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.inference.features import feature_table
from holdfast.selectors import AnovaF
from holdfast.serialization import to_plain
from holdfast.tradeoff import RULES
from holdfast.tradeoff.points import default_test, differ, make_points
from holdfast.tradeoff.rules import Decision, rule
from holdfast.tradeoff.selected import compare_with_guessing
from serving import open_client, open_page, show, start_server

HOSTILE = '<script>alert(1)</script>" onload="x'
API = "/api/v1/studies"


def table(names=None, n=60, d=12):
    """Samples of two classes that differ in the first features, less and less."""
    rng = np.random.default_rng(3)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d)) + np.outer(y, np.linspace(1.6, 0, d).clip(0))
    return pd.DataFrame(X, columns=names or [f"gene {place}" for place in range(d)]), y


def several():
    return {
        "anova": hf.Candidates(AnovaF(), sizes=[1, 2, 4, 8]),
        "kbest": hf.Candidates(SelectKBest(), {"k": [2, 5]}),
    }


STUDIES = {
    "weighed": (several(), hf.Bootstrap(12), KNeighborsClassifier(3)),
    "bare": ({"anova": AnovaF(2)}, hf.Bootstrap(6), None),
    "unscored": (several(), hf.Bootstrap(6), None),
    "folds": ({"anova": hf.Candidates(AnovaF(), sizes=[1, 4])}, hf.Folds(4), KNeighborsClassifier(3)),
    "nested": (
        {"anova": hf.Candidates(AnovaF(), sizes=[1, 4])},
        hf.NestedFolds(3, n_inner=3),
        KNeighborsClassifier(3),
    ),
    "subsamples": (
        {"anova": hf.Candidates(AnovaF(), sizes=[1, 4])},
        hf.NestedSubsamples(4, fractions=(0.5, 0.8)),
        KNeighborsClassifier(3),
    ),
    "ranked": ({"anova": AnovaF(3), "forest": RandomForestClassifier(5)}, hf.Bootstrap(8), None),
    "hostile": (
        {HOSTILE: hf.Candidates(AnovaF(), sizes=[1, 2]), "'; DROP--": AnovaF(3)},
        hf.Bootstrap(8),
        KNeighborsClassifier(3),
    ),
}


def stop(progress):
    if progress.done >= 5:
        raise InterruptedError


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The stores of all studies, in one folder."""
    folder = tmp_path_factory.mktemp("stores")
    for name, (selectors, perturbation, estimator) in STUDIES.items():
        X, y = table([f"{HOSTILE} {place}" for place in range(12)] if name == "hostile" else None)
        study = hf.Study(selectors=selectors, perturbation=perturbation, estimator=estimator, random_state=0)
        study.run(X, y, store=folder / f"{name}.db", progress=False)
    unfinished = hf.Study(selectors=several(), perturbation=hf.Bootstrap(400), estimator=KNeighborsClassifier(3))
    with contextlib.suppress(InterruptedError):
        unfinished.run(*table(), store=folder / "unfinished.db", progress=stop)
    return folder


@pytest.fixture(scope="module")
def client(stores, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    for store in stores.glob("*.db"):
        shutil.copy(store, folder)
    with open_client(folder) as client:
        yield client


@pytest.fixture(scope="module")
def weighed(stores):
    return hf.load_study(stores / "weighed.db")


def asked(client, path, **query):
    """The record of a page."""
    answer = show(client, f"/studies/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client, path, **query):
    """The sentence with which a page is refused."""
    answer = show(client, f"/studies/{path}", params=query)
    assert answer.status_code == 400, answer.text
    return answer.json()["error"]


# The front and the rules


@pytest.mark.parametrize("query", [
    {}, {"rule": "accuracy"}, {"rule": "not-worse", "level": 0.9}, {"rule": "knee", "measure": "jaccard"},
    {"rule": "at-least", "stability": 0.1}, {"rule": "weighted", "weight": 0.9},
    {"rule": "not-worse", "correction": "none", "test": "resampled-t"},
])  # fmt: skip
def test_choice_and_candidates_are_those_of_the_library(client, weighed, query):
    page = asked(client, "weighed/tradeoff", **query)
    known = {"rule", "level", "measure", "metric"}
    options = {name: value for name, value in query.items() if name in ("level", "measure")}
    parameters = {name: None if value == "none" else value for name, value in query.items() if name not in known}
    choice = weighed.choose(query.get("rule", "one-se"), **options, **parameters)
    front = weighed.pareto(n_draws=2, **options).frame
    assert page["chosen"]["candidate"] == choice.candidate
    assert {row["candidate"] for row in page["candidates"]} == set(weighed.candidates)
    for row in page["candidates"]:
        expected = front.loc[row["candidate"]]
        (score,), stability = row["scores"], row["stability"]
        shown = {
            "score": score["value"], "score_se": score["error"], "score_low": score["low"], "score_high": score["high"],
            "stability": stability["value"], "low": stability["low"], "high": stability["high"], "size": row["size"],
        }  # fmt: skip
        assert shown == {name: to_plain(float(expected[name])) for name in shown}
        assert row["on_front"] == expected["on_front"]
        assert row["chosen_in"] == choice.probabilities["probability"][row["candidate"]]
        assert row["alternative"] == (len(choice.alternatives) > 1 and row["candidate"] in choice.alternatives)
    values = [row["stability"]["value"] for row in page["candidates"]]
    assert values == sorted(values, reverse=True)


def test_the_reason_the_certainty_and_the_optimism_are_said(client, weighed):
    page, html = asked(client, "weighed/tradeoff"), client.get("/studies/weighed/tradeoff").text
    assert page["chosen"]["optimistic"]
    assert page["chosen"]["certainty"].count("%") >= 1
    assert "look better than it is" in html
    assert "figure-front" in html
    notes = {row["candidate"]: row["why_not"] for row in page["candidates"]}
    assert notes.pop(page["chosen"]["candidate"]) == ""
    assert all(notes.values())


def test_a_candidate_is_looked_at_with_its_test_against_guessing(client, weighed):
    page = asked(client, "weighed/tradeoff", candidate="kbest(k=2)")
    information = compare_with_guessing(weighed, "kbest(k=2)")
    assert page["picked"]["candidate"] == "kbest(k=2)"
    assert page["information"]["p_value"] == information.p_value
    assert f"{information.baseline:.3f}" in page["guessing"]


def test_rules_are_listed_with_their_parameters_and_what_these_mean(client):
    page = asked(client, "weighed/tradeoff", rule="not-worse")
    assert [rule["name"] for rule in page["rules"]] == list(RULES)
    parameters = {parameter["name"]: parameter for parameter in page["parameters"]}
    assert set(parameters) == {"correction", "test"}  # the level is asked for once
    assert parameters["correction"]["value"] == "holm"
    assert parameters["test"]["choices"] == ["mcnemar", "resampled-t", "none"]
    assert all(parameter["meaning"] for parameter in parameters.values())


def test_a_rule_of_a_plug_in_appears_and_chooses(client):
    @rule("fewest", summary="Fewest features.", methods="as the one with the fewest features")
    def fewest(points, at_least: int = 1, lucky: bool = False, data: np.ndarray | None = None):
        """Choose the fewest features.

        Parameters
        ----------
        points : Points
            The candidates.
        at_least : int
            Least number of features.
        lucky : bool
            Whether to be lucky.
        data : ndarray
            What no page can ask for.
        """
        sizes = points.frame["size"][points.frame["size"] >= at_least]
        return Decision(str(sizes.idxmin()), f"Fewest of {at_least} or more, {lucky}.", {})

    try:
        page = asked(client, "weighed/tradeoff", rule="fewest", at_least="2", lucky="true")
        assert page["chosen"]["reason"] == "Fewest of 2 or more, True."
        assert [(one["name"], one["kind"]) for one in page["parameters"]] == [
            ("at_least", "whole number"), ("lucky", "choice"),
        ]  # fmt: skip
        assert "Expected a whole number" in asked(client, "weighed/tradeoff", rule="fewest", at_least="x")["missing"]
        assert "data" in refused(client, "weighed/tradeoff", rule="fewest", data="1")
    finally:
        RULES.remove("fewest")


@pytest.mark.parametrize(("query", "sentence"), [
    ({"rule": "at-least"}, "needs a value for stability"),
    ({"rule": "at-least", "stability": "0.999"}, "no candidate has a stability of at least 0.999"),
    ({"rule": "at-least", "stability": "nan"}, "Expected a number for stability"),
    ({"rule": "weighted", "weight": "7"}, "the weight of the score is expected to be from 0 to 1, not 7"),
    ({"rule": "not-worse", "test": "mcnemar"}, "rows were predicted several times"),
    ({"rule": "not-worse", "test": "other"}, "Expected one of mcnemar, resampled-t"),
])  # fmt: skip
def test_a_rule_that_lacks_something_says_so_and_the_front_stays(client, query, sentence):
    page = asked(client, "weighed/tradeoff", **query)
    assert page["chosen"] is None
    assert sentence in page["missing"]
    assert page["missing"].endswith(".")
    assert all(not math.isnan(row["scores"][0]["value"]) for row in page["candidates"])
    assert "figure-front" in client.get("/studies/weighed/tradeoff", params=query).text


@pytest.mark.parametrize(("query", "sentence"), [
    ({"rule": "best"}, "Expected a rule"),
    ({"candidate": "<b>"}, "Expected one of the candidates"),
    ({"metric": "luck"}, "Expected one of the study's scores"),
    ({"measure": "gulgezen"}, "Expected a measure"),
    ({"measure": "krizek"}, "Expected a measure"),
    ({"level": "1.5"}, "level"),
    ({"wieght": "0.5"}, "parameters of the rule one-se (it has none)"),
    ({"rule": "weighted", "wieght": "0.5"}, "did you mean 'weight'"),
])  # fmt: skip
def test_what_does_not_exist_is_one_sentence(client, query, sentence):
    answer = refused(client, "weighed/tradeoff", **query)
    assert sentence in answer
    assert answer.endswith((".", "?"))


def test_a_ring_is_said_to_be_what_it_is(client):
    chosen = client.get("/studies/weighed/tradeoff").text
    assert "The ring is the chosen" in chosen
    none = client.get("/studies/weighed/tradeoff?rule=at-least").text
    assert "The dashed ring is the" in none
    assert "The ring is the chosen" not in none


@pytest.mark.parametrize("study", ["bare", "unscored"])
def test_without_scores_there_is_no_choice_but_stabilities(client, stores, study):
    page, result = asked(client, f"{study}/tradeoff"), hf.load_study(stores / f"{study}.db")
    assert "no model was scored" in page["missing"]
    assert not page["scored"]
    for row in page["candidates"]:
        assert row["stability"]["value"] == result.stability(row["candidate"]).value
        assert row["scores"] == []
    assert "was not tested" in page["guessing"]


@pytest.mark.parametrize("study", ["folds", "nested", "subsamples", "unfinished", "hostile"])
def test_other_designs_and_unfinished_studies_are_weighed_too(client, stores, study):
    page, result = asked(client, f"{study}/tradeoff"), hf.load_study(stores / f"{study}.db")
    if page["chosen"]:
        assert page["chosen"]["candidate"] == result.choose().candidate
    assert (study == "unfinished") == any("not finished" in note for note in page["notes"])
    assert {row["candidate"] for row in page["candidates"]} == set(result.candidates)


# Two candidates side by side


@pytest.mark.parametrize(
    "study", ["weighed", "folds", pytest.param("nested", marks=pytest.mark.slow), "subsamples", "hostile"]
)
def test_differences_and_their_tests_are_those_of_the_library(client, stores, study):
    result = hf.load_study(stores / f"{study}.db")
    first, second = result.candidates[:2]
    page = asked(client, f"{study}/compare", first=first, second=second)
    compared = result.compare([first, second]).pairs.iloc[0]
    for name in ("difference", "low", "high", "p_value"):
        assert page["stability"][name] == to_plain(float(compared[name]))
    points = make_points(result, candidates=[first, second])
    tested = differ(points, *points.points, default_test(points))
    assert page["score"]["difference"] == tested.difference
    assert page["score"]["p_value"] == to_plain(tested.p_value)
    assert [side["stability"]["value"] for side in page["sides"]] == [
        result.stability(name).value for name in (first, second)
    ]
    for difference in (page["stability"], page["score"]):
        differs = difference["p_value"] is not None and difference["p_value"] <= 0.05
        assert difference["differs"] == differs
        assert difference["sentence"].startswith("The two differ in") == differs


def test_the_interval_of_the_score_agrees_with_its_test(client, weighed):
    for first, second in [
        ("anova(size=1)", "anova(size=8)"),
        ("anova(size=2)", "kbest(k=2)"),
        ("kbest(k=5)", "anova(size=1)"),
    ]:
        score = asked(client, "weighed/compare", first=first, second=second)["score"]
        assert (score["p_value"] < 0.05) == (score["low"] > 0 or score["high"] < 0)
        assert score["low"] <= score["difference"] <= score["high"]


def test_features_gained_and_lost_have_their_frequencies(client, weighed):
    page = asked(client, "weighed/compare", first="anova(size=1)", second="anova(size=8)")
    tables = [feature_table(weighed.preferences(name)).set_index("feature") for name in (page["first"], page["second"])]
    found = page["features"]
    assert found["n_selected"] == len(found["pairs"]) == len(set(tables[0].index) | set(tables[1].index))
    for row in found["pairs"]:
        for side, known in zip(("first", "second"), tables, strict=True):
            if row["feature"] in known.index:
                assert row[side] == known["frequency"][row["feature"]]
                assert row[f"{side}_low"] == known["low"][row["feature"]]
            else:
                assert row[side] == 0
    gaps = [abs(row["first"] - row["second"]) for row in found["pairs"]]
    assert gaps == sorted(gaps, reverse=True)
    assert all(weighed.feature_names[row["column"]] == row["feature"] for row in found["pairs"])
    gained = [row for row in found["pairs"] if row["often_in"] == "second only"]
    assert [row["feature"] for row in gained] == found["often"]["second only"]
    assert all(row["second_low"] > 0.5 > row["first_high"] for row in gained)
    shared = np.mean(weighed.preferences("anova(size=1)").sizes)  # the best one is among the best eight
    assert f"share {shared:.1f} features on average" in page["overlap"]


def test_both_maps_have_the_same_columns(client):
    page = asked(client, "weighed/compare", first="anova(size=2)", second="kbest(k=5)")
    maps = page["maps"]
    assert maps[0]["features"] == maps[1]["features"]
    assert [len(row["columns"]) for row in maps[0]["rows"]] == [2] * 12
    html = client.get("/studies/weighed/compare").text
    assert "figure-first" in html
    assert "figure-second" in html


def test_without_names_the_chosen_one_stands_beside_the_next(client, weighed):
    page, choice = asked(client, "weighed/compare"), weighed.choose()
    assert page["first"] == choice.candidate
    assert page["second"] in set(weighed.candidates) - {page["first"]}
    others = choice.probabilities["probability"].drop(choice.candidate)
    assert others[page["second"]] == others.max()
    swapped = asked(client, "weighed/compare", second=choice.candidate)
    assert swapped["first"] != choice.candidate


def test_rankings_are_cut_to_stand_beside_subsets(client, stores):
    page = asked(client, "ranked/compare", first="anova", second="forest")
    compared = hf.load_study(stores / "ranked.db").compare(["anova", "forest"]).pairs.iloc[0]
    assert page["stability"]["difference"] == compared["difference"]
    assert page["score"] is None
    assert any("forest orders all features; the best 3 count" in note for note in page["notes"])


@pytest.mark.parametrize(("study", "query", "sentence"), [
    ("bare", {}, "only one candidate"),
    ("weighed", {"first": "kbest(k=2)", "second": "kbest(k=2)"}, "same candidate twice"),
])  # fmt: skip
def test_a_pair_that_is_none_is_one_sentence(client, study, query, sentence):
    page = asked(client, f"{study}/compare", **query)
    assert sentence in page["missing"]
    assert page["sides"] == []


def test_an_unknown_candidate_cannot_stand_beside(client):
    assert "Expected one of the candidates" in refused(client, "weighed/compare", first="x")
    assert asked(client, "unfinished/compare")["state"]["study"] == "unfinished"


# The number of features


@pytest.mark.parametrize(("query", "options"), [
    ({}, {}), ({"measure": "jaccard", "level": 0.9}, {"measure": "jaccard", "level": 0.9}),
])  # fmt: skip
def test_the_profile_is_that_of_the_library(client, weighed, query, options):
    page, profile = asked(client, "weighed/profile", **query), weighed.profile("anova", **options)
    (line,) = page["lines"]
    assert line["knots"] == list(profile.knots)
    for point, (_, row) in zip(line["points"], profile.frame.iterrows(), strict=True):
        for name in ("size", "stability", "low", "high", "random", "entering", "score"):
            assert point[name] == to_plain(float(row[name]))
    assert bool(page["knots"]) == bool(profile.knots)
    assert "figure-profile" in client.get("/studies/weighed/profile").text


@pytest.mark.parametrize("size", [1, 3, 7, 8])
def test_a_size_is_cut_from_the_stored_orders(client, weighed, size):
    answer = asked_size(client, "weighed", size, family="anova")
    estimate = weighed.stability("anova(size=8)", top=size)
    known = feature_table(weighed.preferences("anova(size=8)", top=size))
    assert answer["stability"] == estimate.value
    assert (answer["low"], answer["high"]) == tuple(estimate.ci())
    assert [row["feature"] for row in answer["features"]] == known["feature"].tolist()
    assert [row["frequency"] for row in answer["features"]] == known["frequency"].tolist()
    assert [weighed.feature_names[row["column"]] for row in answer["features"]] == known["feature"].tolist()
    assert (answer["score"] is None) == (size not in (1, 2, 4, 8))
    assert f"With {size} feature" in answer["sentence"]
    assert asked(client, "weighed/profile", size=size)["at"] == answer


def asked_size(client, study, size, **query):
    answer = client.get(f"{API}/{study}/profile/{size}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_sizes_of_candidates_without_orders_can_be_chosen_among(client, weighed):
    page = asked(client, "weighed/profile", family="kbest")
    assert page["source"]["sizes"] == [2, 5]
    assert asked_size(client, "weighed", 5, family="kbest")["stability"] == weighed.stability("kbest(k=5)").value
    answer = client.get(f"{API}/weighed/profile/3", params={"family": "kbest"})
    assert answer.status_code == 400
    assert "(2, 5), got 3" in answer.json()["error"]


def test_selectors_can_be_drawn_together(client):
    page = asked(client, "weighed/profile", together="true", family="kbest")
    assert [line["name"] for line in page["lines"]] == ["kbest", "anova"]


def test_rankings_have_a_profile_over_all_sizes(client, stores):
    page = asked(client, "ranked/profile", family="forest")
    profile = hf.load_study(stores / "ranked.db").profile("forest")
    assert [point["stability"] for point in page["lines"][0]["points"]] == to_plain(profile.frame["stability"].tolist())
    assert (page["source"]["least"], page["source"]["most"]) == (1, 12)
    assert "undefined" in asked_size(client, "ranked", 12, family="forest")["sentence"]


def test_a_selector_without_orders_says_why(client, stores, tmp_path):
    study = hf.Study(
        selectors={"free": RandomForestClassifier(3), "steady": SelectKBest(k=2), "grid": grid()},
        perturbation=hf.Bootstrap(4),
    )
    study.run(*table(), store=tmp_path / "mixed.db", progress=False)
    with open_client(tmp_path) as client:
        reasons = {source["name"]: source["missing"] for source in asked(client, "mixed/profile")["sources"]}
        assert reasons["free"] == ""
        assert reasons["steady"]
        assert reasons["grid"] == "its candidates differ in more than the number of features"
        assert "has no profile: its candidates differ" in refused(client, "mixed/profile", family="grid")


def grid():
    from sklearn.feature_selection import f_classif, mutual_info_classif

    return hf.Candidates(SelectKBest(), [{"score_func": [f_classif, mutual_info_classif], "k": [2, 3]}])


@pytest.mark.parametrize("size", ["0", "99", "-1", "1.5", "x", "९", "9" * 400])
def test_a_size_that_was_not_stored_is_one_sentence(client, size):
    answer = client.get(f"{API}/weighed/profile/{size}")
    assert answer.status_code == 400
    assert re.fullmatch(r"Expected a number of features.*, got .*\.", answer.json()["error"])


def test_an_unknown_selector_is_one_sentence(client):
    assert "Expected one of the selectors anova, kbest" in refused(client, "weighed/profile", family="<b>")


@pytest.mark.parametrize("study", ["bare", "folds", "nested", "subsamples", "unfinished", "hostile"])
def test_other_designs_have_a_profile_or_say_why_not(client, stores, study):
    page = asked(client, f"{study}/profile")
    assert bool(page["lines"]) == any(not source["missing"] for source in page["sources"])
    for line in page["lines"]:
        expected = hf.load_study(stores / f"{study}.db").profile(line["name"]).frame["stability"]
        assert [point["stability"] for point in line["points"]] == to_plain(expected.tolist())


@pytest.mark.parametrize("part", ["tradeoff", "compare", "profile"])
def test_names_from_files_never_become_markup(client, part):
    html = client.get(f"/studies/hostile/{part}").text
    assert "<script>alert" not in html
    assert 'onload="x' not in html
    assert "alert(1)" in html
    assert client.get(f"/studies/missing/{part}").status_code == 404


# In a browser


@pytest.fixture(scope="module")
def server(stores, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    for name in ("weighed", "hostile"):
        shutil.copy(stores / f"{name}.db", folder)
    with start_server(folder) as (address, _):
        yield address


@pytest.fixture
def opened(browser, server):
    """Open an address of the server; at the end no script may have complained, and nothing left the host."""
    with contextlib.ExitStack() as pages:

        def open_charts(path, *, width=1400, scheme="light"):
            page = pages.enter_context(open_page(browser, server, path, width=width, color_scheme=scheme))
            wait_for_charts(page)
            return page

        yield open_charts


def wait_for_charts(page):
    expect(page.locator("[data-drawn=yes]")).to_have_count(page.locator("[data-holdfast-chart]").count())


def expect(locator):
    """Wait until a part of the page is as it should be; without scripts from texts, which the page forbids."""
    from playwright.sync_api import expect as wait

    return wait(locator)


POINT = """key => {
  const marks = [...document.querySelectorAll('#figure-front .mark-symbol.role-mark path')];
  const mark = marks.find(mark => mark.__data__?.datum?.key === key);
  mark.scrollIntoView({block: 'center'});
  const box = mark.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""
"""The middle of a candidate's point, in the window."""


@pytest.mark.browser
def test_a_click_on_a_point_shows_its_candidate(opened):
    page = opened("/studies/weighed/tradeoff")
    before = page.locator("#picked-title").inner_text()
    place = page.evaluate(
        POINT, page.get_by_role("link", name="ANOVA F with 1 feature").get_attribute("data-candidate")
    )
    page.mouse.click(*place)
    expect(page.locator("#picked-title")).to_have_text("ANOVA F with 1 feature")
    assert before != "ANOVA F with 1 feature"
    assert "candidate=anova%28size%3D1%29" in page.url
    wait_for_charts(page)
    page.go_back()
    expect(page.locator("#picked-title")).to_have_text(before)


@pytest.mark.browser
def test_the_keyboard_reaches_every_candidate(opened):
    page = opened("/studies/weighed/tradeoff")
    link = page.get_by_role("link", name="ANOVA F with 2 features")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#picked-title")).to_have_text("ANOVA F with 2 features")
    expect(link).to_be_focused()


@pytest.mark.browser
def test_another_rule_has_another_reason_and_its_own_inputs(opened):
    page = opened("/studies/weighed/tradeoff")
    before = page.locator(".verdict").inner_text()
    page.get_by_label("Rule that chooses").select_option("at-least")
    page.get_by_text("This rule needs a value for stability").wait_for()
    page.get_by_label("Stability", exact=True).fill("0.2")
    page.keyboard.press("Enter")
    page.get_by_text("is at least 0.2 with 95 % confidence").first.wait_for()
    assert before != page.locator(".verdict").inner_text()
    page.get_by_label("Rule that chooses").select_option("knee")  # the other rule's value is not taken along
    expect(page.locator(".verdict")).not_to_contain_text("confidence")
    assert "stability=0.2" not in page.url


@pytest.mark.browser
def test_two_candidates_are_set_side_by_side(opened):
    page = opened("/studies/weighed/tradeoff")
    page.get_by_label("Compare with").select_option("anova(size=1)")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="Do they differ?").wait_for()
    wait_for_charts(page)
    assert page.get_by_label("Second candidate").input_value() == "anova(size=1)"
    assert page.locator("#figure-first svg, #figure-second svg").count() == 2
    page.get_by_label("Second candidate").select_option("kbest(k=5)")
    page.wait_for_url("**second=kbest*")


@pytest.mark.browser
def test_the_slider_changes_the_list_without_loading_the_page(opened):
    page = opened("/studies/weighed/profile?family=anova&size=2")
    page.evaluate("window.stays = true")
    slider = page.get_by_label("Number of features", exact=True)
    rows = page.locator("[data-rows] tr").count()
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.get_by_text("With 7 features the stability").wait_for()
    assert page.locator("[data-rows] tr").count() > rows
    assert page.get_by_label("Exactly").input_value() == "7"
    assert "size=7" in page.url
    page.get_by_label("Exactly").fill("3")
    page.get_by_text("With 3 features the stability").wait_for()
    assert slider.input_value() == "3"
    assert page.evaluate("window.stays") is True


TOO_WIDE = """() => [...document.querySelectorAll('body *')].filter(one =>
  one.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !one.closest('.skip')
  && !one.closest('details:not([open])') && one.checkVisibility()).map(one => one.outerHTML.slice(0, 120))"""


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
@pytest.mark.parametrize("study", ["weighed", "hostile"])
def test_nothing_is_wider_than_the_screen(opened, study, width, scheme):
    for part in ("tradeoff", "compare", "profile"):
        page = opened(f"/studies/{study}/{part}", width=width, scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(TOO_WIDE) == []
