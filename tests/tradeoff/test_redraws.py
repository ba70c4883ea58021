"""How sure a choice is: redraws, the probability of each candidate, and candidates that cannot be told apart."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from holdfast.inference.features import frequency_interval
from holdfast.tradeoff import RULES
from holdfast.tradeoff.choice import (
    _default_draws,
    _least_count,
    choose_in_redraws,
    describe_alternatives,
    describe_certainty,
    tabulate_choices,
)
from holdfast.tradeoff.points import make_points, measure_draws, pull_together, redraw, weighted_variance
from holdfast.tradeoff.rules import Decision, rule
from results import make_result, scores_around, sets_with_core

OPTIONS = {"at-least": {"stability": 0.2}, "weighted": {"weight": 0.3}}


def several(seed=0, n=6):
    """Candidates that differ by less than chance makes them differ."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 0.03, 20)
    return make_result(
        {
            f"c{i}": {"scores": 0.8 + hard + rng.normal(0, 0.03, 20), "sets": sets_with_core(0.7, seed=100 * seed + i)}
            for i in range(n)
        }
    )


def sized(seed=0, design="runs", families=2):
    """Selectors with four sizes, of which the first features are common to most runs and others drawn at random."""
    rng = np.random.default_rng(seed)
    runs = range(20)
    orders = {
        f"s{family}": [np.r_[rng.permutation(6 + family)[:6], 8 + rng.permutation(32)] for _ in runs]
        for family in range(families)
    }
    return make_result(
        {
            f"{name}(size={size})": {
                "sets": [order[:size] for order in of_runs], "scores": 0.8 + rng.normal(0, 0.03, 20), "family": name,
                "settings": {"size": size},
            }
            for name, of_runs in orders.items()
            for size in (3, 6, 9, 20)
        },
        n_features=40, design=design, blocks=None if design == "runs" else np.repeat(range(10), 2).tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("name", [name for name in RULES if name != "not-worse"])
def test_rules_choose_in_all_redraws_what_they_choose_in_each(name):
    points = make_points(sized() if name == "knot" else several())
    options = OPTIONS.get(name, {})
    redraws, choices = choose_in_redraws(points, RULES[name], options, 60)
    for draw, choice in enumerate(choices):
        try:
            expected = points.names.index(RULES[name](redraws.make_points(draw), **options).candidate)
        except ValueError:
            expected = -1
        assert choice == expected
    assert len(set(choices)) > 1


@pytest.mark.parametrize("name", RULES)
def test_resamples_drawn_once_each_give_the_choice_itself(name):
    for seed in range(5):
        points = make_points(sized(seed) if name == "knot" else several(seed))
        once = measure_draws(points, np.ones((1, points.units.size)))
        rule, options = RULES[name], OPTIONS.get(name, {})
        if rule.many is None:
            drawn = rule(once.make_points(0), **options).candidate
        else:
            drawn = points.names[rule.many(once, **options)[0]]
        assert drawn == rule(points, **options).candidate


def test_mcnemar_in_redraws_is_that_of_the_rows():
    from test_choice import SAME, folded

    wrongs = {"best": range(2), "equal": range(5), "worse": range(20)}
    result = folded(wrongs, {"best": sets_with_core(0.4), "equal": sets_with_core(0.9), "worse": SAME})
    points = make_points(result)
    _, choices = choose_in_redraws(points, RULES["not-worse"], {}, 300)
    best, equal, worse = np.bincount(choices, minlength=3)
    assert result.choose("not-worse").candidate == "equal"
    assert equal > max(best, worse)
    assert result.choose("not-worse").probabilities.empty  # five folds are too few to redraw


def test_weighted_variances_are_those_of_copies():
    values = np.array([1.0, 2.0, 4.0, 7.0])
    assert weighted_variance(values, np.ones((1, 4)))[0] == pytest.approx(values.var(ddof=1))


def test_probabilities_are_shares_and_depend_on_the_study_alone():
    result = several()
    choice, again = result.choose("accuracy"), result.choose("accuracy")
    assert choice.probabilities["probability"].sum() == pytest.approx(1)
    pd.testing.assert_frame_equal(choice.probabilities, again.probabilities)
    assert choice.candidate in choice.alternatives
    assert choice.to_frame()["probability"].to_dict() == choice.probabilities["probability"].to_dict()
    assert choice.to_dict()["alternatives"] == choice.alternatives


def test_no_redraws_no_probabilities():
    choice = several().choose(n_draws=0)
    assert choice.probabilities.empty
    assert choice.alternatives == [choice.candidate]
    assert choice.certainty == ""
    assert "redrawn" not in repr(choice)
    with pytest.raises(ValueError, match="at least 0"):
        several().choose(n_draws=-1)


@pytest.mark.parametrize(
    ("n_runs", "threshold", "level"), [(1, 0.5, 0.95), (20, 0.5, 0.95), (200, 0.9, 0.8), (7, 0.99, 0.95)]
)
def test_the_least_count_above_a_threshold_is_that_of_all_counts(n_runs, threshold, level):
    low, _ = frequency_interval(np.arange(n_runs + 1), n_runs, level)
    above = [count for count in range(n_runs + 1) if low[count] > threshold]
    assert _least_count(n_runs, threshold, level) == (above[0] if above else n_runs + 2)


def test_very_many_resamples_are_redrawn_less_often():
    """A thousand redraws of 100,000 resamples took 0.8 GB and most of the time of a report."""
    for n, expected in ((100, 1000), (20_000, 1000), (50_000, 400), (1_000_000, 200)):
        assert _default_draws(SimpleNamespace(units=np.arange(n))) == expected


def test_a_clear_choice_is_called_clear():
    result = make_result(
        {
            "good": {"scores": scores_around(0.9), "sets": sets_with_core(0.9)},
            "bad": {"scores": scores_around(0.6, seed=1), "sets": sets_with_core(0.3, seed=1)},
        }
    )
    choice = result.choose()
    assert choice.alternatives == ["good"]
    assert choice.certainty == "good is chosen in 100 % of redrawn resamples of this data set."
    assert choice.certainty in repr(choice)


def tie():
    """Two selectors that cannot be told apart, and one that is worse."""
    rng = np.random.default_rng(3)
    return make_result(
        {
            "relieff": {"scores": scores_around(0.80, seed=1), "sets": sets_with_core(0.8, seed=1)},
            "anova": {"scores": scores_around(0.80, seed=2), "sets": sets_with_core(0.8, seed=2)},
            "worse": {"scores": 0.6 + rng.normal(0, 0.02, 20), "sets": sets_with_core(0.2, seed=3)},
        }
    )


def test_candidates_that_cannot_be_told_apart_are_named():
    choice = tie().choose()
    assert sorted(choice.alternatives) == ["anova", "relieff"]
    assert " or " in choice.certainty.split(":")[0]
    assert ": these data cannot distinguish them." in choice.certainty
    assert choice.certainty in repr(choice)


def test_settings_of_one_selector_are_counted():
    table = pd.DataFrame(
        {"family": ["lasso"] * 7 + ["anova"], "probability": [0.1] * 7 + [0.3], "alternative": True},
        index=[f"lasso({i})" for i in range(7)] + ["anova(2)"],
    )
    assert describe_alternatives(table) == "one of 7 settings of lasso, or anova(2)"
    assert describe_certainty(table[:7].assign(probability=1 / 7), "lasso(0)").startswith(
        "One of 7 settings of lasso: these data cannot distinguish these settings. lasso(0) is chosen in 14 %"
    )
    many = table.assign(family=list("abcdefgh"))
    assert describe_alternatives(many) == "anova(2), lasso(0), or one of 6 other selectors"


def test_what_is_printed_as_95_percent_stands_alone():
    points = make_points(
        make_result({name: {"scores": scores_around(0.9), "sets": sets_with_core(0.5)} for name in ("a", "b")})
    )
    choices = np.repeat([0, 1], [948, 52])
    alone = tabulate_choices(points, "a", choices)
    assert alone["alternative"].tolist() == [True, False]
    assert describe_certainty(alone, "a") == "a is chosen in 95 % of redrawn resamples of this data set."
    both = tabulate_choices(points, "a", np.repeat([0, 1], [944, 56]))
    assert both["alternative"].all()


def test_redraws_without_a_choice_are_counted():
    table = pd.DataFrame({"family": ["a", "b"], "probability": [0.8, 0.1], "alternative": [True, False]}, ["a", "b"])
    assert describe_certainty(table, "a").endswith("In 10 % of them no candidate is as the rule asks.")


def test_a_rule_of_ones_own_is_redrawn_too():
    @rule("fewest", summary="Fewest features, then the score.", methods="as the smallest")
    def fewest(points):
        frame = points.frame
        best = str(frame["score"].idxmax())
        return Decision(best, f"{best} it is.", {})

    try:
        choice = several().choose("fewest")
        assert (choice.probabilities["probability"] > 0).sum() > 2
        assert choice.probabilities["probability"].sum() == pytest.approx(1)
    finally:
        RULES.remove("fewest")


def test_close_scores_are_pulled_together_and_others_left_alone():
    rng = np.random.default_rng(0)
    observed = np.array([0.80, 0.81, 0.79, 0.50])
    drawn = observed + rng.normal(0, 0.05, (4000, 4))
    pulled = pull_together(drawn, observed)
    assert np.ptp(pulled[:, :3].mean(axis=0)) < np.ptp(drawn[:, :3].mean(axis=0))
    assert (pulled[:, 3] == drawn[:, 3]).all()
    clear = np.array([0.9, 0.8, 0.7, 0.6]) + rng.normal(0, 1e-4, (400, 4))
    assert (pull_together(clear, clear.mean(axis=0)) == clear).all()


def test_redraws_have_twice_the_variance_of_a_mean():
    points = make_points(make_result({"a": {"scores": scores_around(0.8, spread=0.1), "sets": sets_with_core(0.5)}}))
    redraws = redraw(points, 4000)
    assert redraws.score.std() == pytest.approx(np.sqrt(2 / 20) * points.points[0].scores.std(), rel=0.1)


@pytest.mark.slow
def test_stated_probabilities_are_those_of_other_seeds():
    """Sixty studies of one population: how often others choose what one says it would choose."""
    choices = [several(seed, n=4).choose("accuracy", n_draws=200) for seed in range(60)]
    chosen = pd.Series([choice.candidate for choice in choices])
    share = chosen.value_counts(normalize=True)
    stated = np.mean([choice.probabilities["probability"][choice.candidate] for choice in choices])
    others = np.mean([share[choice.candidate] for choice in choices])
    covered = np.mean([share.reindex(choice.alternatives).fillna(0).sum() for choice in choices])
    assert abs(stated - others) < 0.2
    assert covered > 0.88
