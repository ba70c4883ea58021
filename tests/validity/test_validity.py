"""A quick look at the promises that ``make validate`` shows at length; fixed seeds, seconds."""

import pytest
from cells import (
    TESTS,
    above_threshold,
    best_of_noisy_scores,
    coverage,
    filled,
    flicker,
    graded_probabilities,
    known,
    pair_of_selectors,
    rejections,
    stray,
    weighed,
)
from kinds import modes, noise_and_strays, wild_sizes, with_empty

from holdfast.datasets import selection_probabilities

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.UndefinedStabilityWarning")
CELLS = [
    known("independent", selection_probabilities(0.5, 5, 20)),
    known("blocks", graded_probabilities(0.8, 10, 100), correlation=0.8),
    known("fixed", graded_probabilities(0.3, 10, 100), fixed_size=True),
    known("near perfect", selection_probabilities(0.97, 5, 20)),
    flicker(60, 6, 0.25),
    flicker(60, 6, 0.5),
    stray(20, 5, 0.07),
    best_of_noisy_scores(20, 5, 4, 0.8),
    above_threshold(20, 5, 2, 0.8),
]

RARE = [
    stray(80, 8, 0.03),
    noise_and_strays(80, 8, 4, 0.1),
    modes(80, 8, [0.75, 0.25]),
    with_empty(80, 8, 4, 0.2),
    wild_sizes(200, 10, 2, 0.8),
]


def first_is_fast(cases):
    """The cases of a test, of which ``make test`` takes the first."""
    return [cases[0], *(pytest.param(one, marks=pytest.mark.slow) for one in cases[1:])]


@pytest.mark.parametrize("cell", first_is_fast(CELLS), ids=lambda cell: cell.name)
def test_the_default_interval_covers_and_the_published_one_never_covers_more(cell):
    found = coverage(cell, "nogueira", (5, 10, 20), 250, 1, methods=("jackknife", "asymptotic"))
    default, published = (found[found.method == method]["95%"].to_numpy() for method in ("jackknife", "asymptotic"))
    assert default.min() >= 0.90
    assert (default >= published - 0.02).all()


@pytest.mark.parametrize("cell", first_is_fast(RARE), ids=lambda cell: cell.name)
def test_deviations_that_were_not_drawn_are_allowed_for(cell):
    found = coverage(cell, "nogueira", (5, 20, 50), 200, 5)
    assert found["95%"].min() >= 0.89 - 2 * (0.89 * 0.11 / 200) ** 0.5
    size = rejections(lambda n, rng: (cell.draw(n, rng), cell.draw(n, rng)), 20, 150, 6, {"paired": TESTS["paired"]})
    assert size["paired"] <= 0.065 + 2 * (0.065 * 0.935 / 150) ** 0.5


@pytest.mark.parametrize("measure", first_is_fast(["jaccard", "pearson"]))
def test_intervals_of_pairwise_measures_cover(measure):
    found = coverage(best_of_noisy_scores(20, 5, 2, 0.8), measure, (5, 20), 250, 2)
    assert found["95%"].min() >= 0.90


@pytest.mark.parametrize("measure", first_is_fast(["used_again", "shared_importance"]))
def test_intervals_of_what_models_use_cover(measure):
    cell = filled(weighed(best_of_noisy_scores(20, 5, 2, 0.8), 1.0, 0), 5, 0.05)
    found = coverage(cell, measure, (5, 20), 200, 2)
    assert found["95%"].min() >= 0.90


@pytest.mark.parametrize("shared", first_is_fast([0.9, 0.0]))
def test_the_paired_test_keeps_its_level_and_finds_more_than_the_published_one(shared):
    size = rejections(pair_of_selectors(shared), 20, 400, 3, {"paired": TESTS["paired"]})["paired"]
    assert 0.01 <= size <= 0.085
    power = rejections(pair_of_selectors(shared, 0.2), 20, 150, 4, TESTS)
    assert power["paired"] >= power["published"] - 0.2  # which rejects too often where nothing is shared
    if shared == 0.9:
        assert power["paired"] > power["published"] + 0.15
