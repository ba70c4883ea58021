"""The explorer: simulated selections, their stability, and the page on which they are moved."""

import math

import numpy as np
import pytest

from holdfast.datasets import population_stability
from holdfast.web.pages.explore import (
    LEAST_REPETITIONS,
    MAX_REPETITIONS,
    PRESETS,
    ExploreQuery,
    Scenario,
    count_repetitions,
    draw_turns,
    show_explorer,
)
from serving import open_client, open_page, show, start_server, wait_for


@pytest.fixture
def client(tmp_path):
    with open_client(tmp_path) as client:
        yield client


def explore(**options):
    return show_explorer(None, ExploreQuery(**options))


@pytest.mark.parametrize("joint", ["independent", "turns", "together", "same-size"])
def test_features_are_selected_with_their_probabilities_however_they_go_together(joint):
    p = (0.3, 0.25, 0.2, 0.9, 0.1, 0.05, 0.5)
    cells = Scenario(p=p, n_grouped=6, group=3, joint=joint).draw(20_000, np.random.default_rng(0))
    np.testing.assert_allclose(cells.mean(axis=0), p, atol=0.015)
    sizes = cells.sum(axis=1)
    if joint == "same-size":
        assert set(sizes) == {2, 3}  # the probabilities sum to 2.3
    if joint == "turns":
        assert cells[:, :3].sum(axis=1).max() == 1
    if joint == "together":
        assert np.corrcoef(cells[:, 0], cells[:, 1])[0, 1] > 0.6
        assert abs(np.corrcoef(cells[:, 0], cells[:, 3])[0, 1]) < 0.05


@pytest.mark.parametrize("p", [(0.0, 0.0), (1.0, 1.0), (0.5, 0.5), (0.1, 0.2, 0.7), (0.9,)])
def test_turns_select_as_many_as_the_probabilities_sum_to(p):
    sizes = draw_turns(p, 500, np.random.default_rng(0)).sum(axis=1)
    assert set(sizes) <= {math.floor(sum(p) + 1e-9), math.ceil(sum(p) - 1e-9)}


def test_the_true_value_and_how_many_intervals_contain_it_are_told():
    page = explore(features=40, relevant=8, likely=0.85, rare=0.05, runs=40)
    assert page.population == population_stability([0.85] * 8 + [0.05] * 32)
    repeated = page.repetitions
    assert repeated.count == sum(repeated.bars) == MAX_REPETITIONS
    assert repeated.intervals - repeated.contained == sum(repeated.missed)
    assert abs(repeated.mean - page.population) < 0.02
    assert 0.9 < repeated.contained / repeated.intervals <= 1
    share = f"{100 * repeated.contained / repeated.intervals:.0f} %"
    assert any(f"{share} of the intervals contained the true {page.population:.2f}" in text for text in page.sentences)


def test_the_same_numbers_give_the_same_page_and_another_seed_another():
    assert explore() == explore()
    assert explore(seed=1).estimate != explore().estimate
    assert explore(seed=1).population == explore().population
    assert explore().again == ExploreQuery(seed=1).address


def test_stand_ins_are_unstable_one_by_one_and_stable_as_groups():
    page = explore(features=20, relevant=10, likely=0.2, rare=0.0, group=5, joint="turns")
    assert page.estimate.high < 0.4
    assert page.with_stand_ins.value == pytest.approx(1)
    assert explore(features=20, relevant=10, likely=0.2, joint="independent").with_stand_ins is None
    assert explore(features=20, relevant=10, likely=0.2, group=1, joint="turns").with_stand_ins is None


def test_single_features_can_be_moved():
    page = explore(p=(1.0, 0.0, 0.5))
    assert page.probabilities[:4] == (1.0, 0.0, 0.5, 0.8)
    assert page.frequencies[:2] == (1.0, 0.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"likely": 0.0, "rare": 0.0}, "every run selects none"),
        ({"likely": 1.0, "rare": 1.0}, "every run selects all features"),
        ({"runs": 2}, "at least three runs are needed"),
        ({"runs": 2, "features": 3, "relevant": 1, "likely": 0.001, "rare": 0.0}, "of these 2 runs is undefined"),
    ],
)
def test_what_is_undefined_is_said(client, options, sentence):
    page = explore(**options)
    assert any(sentence in text for text in page.sentences)
    assert sentence in client.get("/explore", params=options).text


def test_perfectly_stable_runs_all_have_intervals_that_contain_one():
    page = explore(likely=1.0, rare=0.0)
    assert (page.estimate.value, page.population) == (1.0, 1.0)
    assert page.repetitions.contained == page.repetitions.count


@pytest.mark.parametrize(
    "wrong",
    ["features=1", "features=201", "runs=1", "runs=501", "relevant=31", "likely=1.1", "rare=-0.1", "group=0",
     "group=21", "seed=-1", "seed=4294967296", "p=1.5", "p=-1", "&".join(["p=0.5"] * 13),
     "features=2&relevant=1&p=0&p=0&p=0",
     "likely=nan", "likely=inf", "joint=else", "runs=many", "other=1"],
)  # fmt: skip
def test_what_is_out_of_range_is_refused_in_a_sentence(client, wrong):
    answer = show(client, f"/explore?{wrong}")
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("Expected ")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset["name"])
def test_presets_are_pages(client, preset):
    assert client.get(preset["address"]).status_code == 200


def test_many_runs_and_features_are_repeated_less_often(client):
    assert count_repetitions(100) == MAX_REPETITIONS
    assert count_repetitions(10**8) == LEAST_REPETITIONS
    answer = show(client, "/explore?features=200&runs=500").json()
    assert answer["repetitions"]["count"] == LEAST_REPETITIONS
    assert len(answer["map"]) == 50
    assert len(answer["frequencies"]) == 200


# In a browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where a server of an empty folder answers."""
    with start_server(tmp_path_factory.mktemp("folder")) as (address, _):
        yield address


@pytest.fixture
def browser_page(browser, address):
    with open_page(browser, address) as page:
        yield page


def shown_query(page):
    return page.evaluate("location.search")


@pytest.mark.browser
def test_moving_a_slider_changes_what_is_seen(browser_page):
    page = browser_page
    page.get_by_role("link", name="Explore").first.click()
    first, map_ = page.locator("#glance .first"), page.locator("svg.runs path")
    assert "30 runs" in first.inner_text()
    drawn = map_.get_attribute("d")
    page.get_by_label("Number of runs").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    wait_for(lambda: "35 runs" in first.inner_text())
    assert page.locator("output[for=explore-runs]").inner_text() == "35"
    assert "runs=35" in shown_query(page)
    assert map_.get_attribute("d") != drawn
    page.get_by_label("Probability of feature 1", exact=True).focus()
    page.keyboard.press("Home")
    wait_for(lambda: "p=0&" in shown_query(page))
    assert page.locator("#single output").first.inner_text() == "0.00"
    page.get_by_label("Probability that another one is selected").focus()
    page.keyboard.press("End")
    wait_for(lambda: "rare=1" in shown_query(page) and "&p=" not in shown_query(page))
    assert page.locator("#single output").first.inner_text() == "0.80"


@pytest.mark.browser
def test_a_preset_moves_all_sliders_and_drawing_again_keeps_them(browser_page):
    page = browser_page
    page.goto(page.url.split("?")[0] + "explore")
    page.get_by_role("link", name="Two groups of stand-ins").click()
    wait_for(lambda: "Sechidis" in page.locator("#drawn").inner_text())
    assert page.get_by_label("Number of features").input_value() == "20"
    assert page.locator("#explore-joint").input_value() == "turns"
    map_ = page.locator("svg.runs path")
    before = map_.get_attribute("d")
    page.get_by_role("link", name="Draw again").click()
    wait_for(lambda: map_.get_attribute("d") != before)
    assert "seed=1" in shown_query(page)
    page.get_by_label("Number of features").focus()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    wait_for(lambda: page.locator("#single input").count() == 8)
    assert page.get_by_label("Relevant ones among them").input_value() == "8"
