"""The rule that chooses a size at a knot of its profile."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from test_redraws import sized

import holdfast as hf
from holdfast.study.orders import UnansweredError
from holdfast.tradeoff.points import make_points
from holdfast.tradeoff.profiles import find_groups
from results import make_result


@pytest.fixture(scope="module")
def relevant():
    """A study of one selector on data with eight relevant features of sixty."""
    X, y, _ = hf.datasets.make_redundant(0.0, n_samples=300, n_features=60, n_relevant=8, random_state=0)
    study = hf.Study(
        selectors={"f": hf.Candidates(hf.selectors.AnovaF(), sizes=[2, 4, 8, 12, 20, 40])},
        perturbation=hf.ComplementaryPairs(20),
        estimator=KNeighborsClassifier(3),
    )
    return study.run(X, y)


def test_the_size_at_the_knot_is_chosen_and_the_reason_says_so(relevant):
    choice = relevant.choose("knot")
    assert choice.candidate == "f(size=8)"
    assert relevant.profile("f").knots == [8]
    assert choice.reason.startswith("f(size=8) is at a knot of the profile of f: up to 8 features resamples agree on")
    assert "further ones enter almost at random" in choice.reason
    assert set(choice.beaten["why_not"]) == {"not at a knot of f: 8"}
    assert choice.facts["knots"] == {"f(size=8)": 8}


def test_its_probability_is_that_of_redrawn_knots(relevant):
    choice = relevant.choose("knot")
    assert choice.probabilities["probability"]["f(size=8)"] > 0.9
    assert "f(size=8) is chosen in" in choice.certainty


@pytest.mark.parametrize("design", ["runs", "pairs"])
def test_what_enters_is_that_of_the_profile(design):
    result = sized(design=design)
    points = make_points(result)
    groups = find_groups(points, np.ones((1, points.units.size)))
    assert [group.family for group in groups] == ["s0", "s1"]
    for group in groups:
        expected = result.profile(group.family).frame["entering"]
        assert group.entering[0] == pytest.approx(expected.to_numpy())
        assert group.knots(0, 0.2) == result.profile(group.family).knots == [6]


def test_redrawn_overlaps_never_compare_a_run_with_its_copy():
    result = sized()
    points = make_points(result)
    times = np.zeros((1, 20))
    times[0, [0, 3]] = 4, 1
    entering = find_groups(points, times)[0].entering[0]
    pair = np.zeros((1, 20))
    pair[0, [0, 3]] = 1
    assert entering == pytest.approx(find_groups(points, pair)[0].entering[0])


def test_the_best_score_of_several_knots_is_chosen():
    result = sized()
    best = max(["s0(size=6)", "s1(size=6)"], key=result.summary()["accuracy"].get)
    choice = result.choose("knot")
    assert choice.candidate == best
    (other,) = {"s0(size=6)", "s1(size=6)"} - {best}
    assert choice.beaten["why_not"][other].startswith("at a knot, but accuracy is not higher")
    assert "the best of the 2 candidates at a knot" in choice.reason


def sets(order_of, sizes, d=40, n=20):
    """Candidates cut from orders, one for each run."""
    orders = [order_of(run) for run in range(n)]
    return make_result(
        {
            f"a(size={size})": {
                "sets": [order[:size] for order in orders], "scores": [0.8, 0.9] * (n // 2), "family": "a",
                "settings": {"size": size},
            }
            for size in sizes
        },
        n_features=d,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (sets(lambda run: np.arange(40), [2, 5, 10]), "resamples agree on the features of a up to 10, the most that"),
        (
            sets(lambda run: np.random.default_rng(run).permutation(40), [2, 5, 10]),
            "features of a enter almost at random from 2 on, the fewest that were tried",
        ),
        (sets(lambda run: np.arange(40), [5]), "a was tried with 5 features alone"),
        (
            make_result({"a": {"sets": [[0, 1]] * 20, "scores": [0.8] * 20}}),
            "no selector was tried with several numbers",
        ),
    ],
)
def test_without_a_knot_it_says_so_in_words(result, why):
    with pytest.raises(UnansweredError, match=why) as raised:
        result.choose("knot")
    assert raised.value.plain.startswith("no candidate is at a knot of its profile: ")


def test_selections_that_run_out_of_features_have_no_knot_where_nothing_enters():
    def orders(run):
        return np.r_[np.arange(5 + run % 2), np.empty(0, dtype=int)]  # five or six informative features

    result = sets(orders, [3, 5, 10, 20, 30])
    profile = result.profile("a")
    assert profile.knots == []
    assert np.isnan(profile.frame["entering"].iloc[3:]).all()


def test_settings_beside_the_size_have_knots_of_their_own():
    rng = np.random.default_rng(0)
    orders = {c: [np.r_[rng.permutation(c), 10 + rng.permutation(30)] for _ in range(20)] for c in (3, 6)}
    result = make_result(
        {
            f"a(c={c}, size={size})": {
                "sets": [order[:size] for order in orders[c]], "scores": [0.8, 0.9] * 10, "family": "a",
                "settings": {"c": c, "size": size},
            }
            for c in orders
            for size in (3, 6, 9, 20)
        },
        n_features=40,
    )  # fmt: skip
    assert result.choose("knot", n_draws=0).facts["knots"] == {"a(c=3, size=3)": 3, "a(c=6, size=6)": 6}


def test_a_tolerance_out_of_range_is_refused(relevant):
    with pytest.raises(ValueError, match="Expected a tolerance from 0 to below 1, got 1"):
        relevant.choose("knot", tolerance=1.0)
