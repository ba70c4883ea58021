"""A quick look at what is promised of new studies, which ``make validate`` shows at length; fixed seeds, seconds."""

import numpy as np
import pytest
from replication_tables import broken_promises, cells

import holdfast as hf
import replication
from replication import SELECTORS, replicate, truth

pytestmark = [
    pytest.mark.filterwarnings("ignore::holdfast.UndefinedStabilityWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
FAST = [name for name in SELECTORS if name != "forest" and not name.startswith("Cox")]


@pytest.fixture(autouse=True)
def few_studies(monkeypatch):
    monkeypatch.setattr(replication, "STUDIES", 80)


def found_in(kind, selector, n, n_sets=12, n_pairs=20):
    return cells(replicate((kind, selector, n, n_sets, n_pairs))).iloc[0]


@pytest.mark.parametrize(
    ("kind", "selector"),
    [
        ("neighbors correlated by 0.5", "filter, best 15"),
        ("survival, 15 % events", "Cox score, best 15"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [
                ("survival, 15 % events, factors, ties, strata", "Cox lasso"),
                ("pathways", "mRMR"),
                ("genotypes", "L1 path"),
                ("bad rows", "hybrid RFE"),
                ("four classes", "filter, best 15"),
                ("a number to predict", "filter, p < 0.003"),
                ("a curved number to predict", "L1 path"),
            ]
        ),
    ],
)
def test_halves_tell_without_bias_how_far_studies_of_half_the_size_agree(kind, selector):
    cell = found_in(kind, selector, 100)
    assert abs(cell.half_error) <= 4 * cell.standard_error + 0.02
    assert cell.half_covered >= 0.8
    assert cell.covered >= 0.7


@pytest.mark.parametrize("selector", [FAST[0], *(pytest.param(one, marks=pytest.mark.slow) for one in FAST[1:])])
def test_in_pure_noise_no_selector_is_said_to_find_the_same_again(selector):
    sets = replicate(("pure noise", selector, 100, 6, 20))
    known = sets[sets.half.notna()]
    assert len(known) or selector == "filter, p < 0.003"  # most halves select nothing: that is the answer
    assert (known.half.abs() < 0.15).all()
    assert known.said.mean() <= 0.15 or known.empty
    assert known["beyond chance"].sum() <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "selector", "n"),
    [("60 equal effects", "filter, best 15", 200), ("5 strong effects", "filter, best 5", 60)],
)
def test_the_interval_holds_where_agreement_hardly_grows_with_the_rows_and_where_it_leaps(kind, selector, n):
    cell = found_in(kind, selector, n, n_sets=20)
    said_too_high = kind.startswith("60")
    assert (cell.value > cell.truth + 0.1) == said_too_high  # the extrapolation is wrong here
    assert (cell.value < cell.truth - 0.1) != said_too_high
    assert cell.covered >= 0.6  # the interval allows for it


@pytest.mark.slow
def test_the_share_of_halves_overstates_what_comes_back_and_the_probability_does_not():
    sets = replicate(("pathways", "filter, best 15", 100, 20, 25))
    assert sets.raw.mean() > sets["came back"].mean() + 0.1
    assert abs(sets.said.mean() - sets["came back"].mean()) < 0.12


@pytest.mark.slow
def test_blocks_of_near_copies_are_covered_by_the_thorough_variant():
    job = ("five near-copies of each", "filter, best 15", 100, 8, 20)
    usual, thorough = replicate(job), replication.replicate_thoroughly(job)
    assert (thorough.half == usual.half).all()
    assert ((thorough.half_high - thorough.half_low) >= (usual.half_high - usual.half_low) - 1e-12).all()
    assert cells(thorough).half_covered.iloc[0] >= 0.8


def test_a_broken_promise_is_noticed():
    sets = replicate(("pathways", "filter, best 15", 100, 10, 12))
    assert not any("half the size" in promise for promise in broken_promises(sets))
    shifted = sets.assign(half=sets.half + 0.5, half_low=sets.half_low + 0.5, half_high=sets.half_high + 0.5)
    told = " ".join(broken_promises(shifted))
    assert "the interval at half the size: pathways" in told
    assert "no bias at half the size: pathways" in told


def test_the_truth_of_a_selector_that_always_selects_the_same_is_one():
    class First:
        def fit(self, X, y):
            return self

        def get_support(self):
            return np.arange(300) < 4

    SELECTORS["first"] = lambda task: First()
    try:
        assert truth("pure noise", "first", 20, 10)[0] == pytest.approx(1)
    finally:
        del SELECTORS["first"]


def test_only_extrapolations_beyond_twice_the_rows_are_refused():
    X, y = replication.POPULATIONS["pathways"].draw(100, np.random.default_rng(0))
    found = hf.replicability(hf.selectors.AnovaF(10), X, y, n_pairs=25)
    assert found.agreement_at(200) >= found.agreement_at(100) == pytest.approx(found.agreement)
    with pytest.raises(ValueError, match="from 50 to 200, half to twice"):
        found.agreement_at(201)
