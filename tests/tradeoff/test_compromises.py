"""The trade-offs of a study: fronts of families, joint fronts, how probable they are."""

import numpy as np
import pytest
from scipy.stats import sem

import holdfast as hf
from holdfast.tradeoff.points import make_points
from results import make_result, scores_around, sets_with_core


def three():
    """Accurate and unsteady, steady and less accurate, worse than both."""
    return {
        "sharp": {"sets": sets_with_core(0.6, seed=1), "scores": scores_around(0.9), "family": "one"},
        "steady": {"sets": sets_with_core(0.95, seed=2), "scores": scores_around(0.8), "family": "one"},
        "poor": {"sets": sets_with_core(0.3, seed=3), "scores": scores_around(0.6), "family": "two"},
    }


def test_fronts_of_families_and_the_joint_one():
    found = make_result(three()).pareto()
    assert found.front.index.tolist() == ["sharp", "steady"]
    assert {name: front.index.tolist() for name, front in found.fronts.items()} == {
        "one": ["sharp", "steady"],
        "two": ["poor"],
    }
    assert found.frame["probability"].tolist() == [1, 1, 0]
    assert found.frame["own_probability"].tolist() == [1, 1, 1]
    assert found.frame["on_own_front"].all()
    assert "2 of 3 candidates are on the front of accuracy and nogueira" in repr(found)
    assert found.metric == "accuracy"


def test_areas_are_those_of_the_points():
    found = make_result(three()).pareto(reference=(0.5, 0.0))
    for name, names in {"one": ["sharp", "steady"], "two": ["poor"], "all": ["sharp", "steady", "poor"]}.items():
        rows = found.frame.loc[names]
        assert found.areas[name] == hf.tradeoff.hypervolume(rows["score"], rows["stability"], (0.5, 0.0))
    assert found.area == found.areas["all"]
    assert list(make_result(three()).pareto(by=None).areas) == ["all"]
    lowest = make_result(three()).pareto()
    assert lowest.reference == (pytest.approx(0.6), min(0.0, lowest.frame["stability"].min()))


def test_intervals_stand_on_both_axes():
    result = make_result(three())
    row = result.pareto().frame.loc["sharp"]
    assert (row["low"], row["high"]) == result.stability("sharp").ci()
    assert row["score_low"] < row["score"] < row["score_high"]
    summary = result.summary().loc["sharp"]
    assert row["score"] == summary["accuracy"]
    assert row["score_se"] == summary["accuracy_se"]


def test_probabilities_come_from_the_same_runs_for_all():
    """A candidate that is always a little better is so in every draw, however much the runs vary."""
    scores = scores_around(0.8, spread=0.1)
    sets = sets_with_core(0.7)
    found = make_result({"a": {"sets": sets, "scores": scores}, "b": {"sets": sets, "scores": scores - 1e-3}}).pareto()
    assert found.frame["probability"].tolist() == [1, 0]


def test_equal_candidates_are_on_the_front_together():
    one = {"sets": sets_with_core(0.7), "scores": scores_around(0.8)}
    assert make_result({"a": one, "b": one}).pareto().frame["probability"].tolist() == [1, 1]


def test_a_close_race_is_told_as_one():
    close = make_result(
        {
            "a": {"sets": sets_with_core(0.7, seed=1), "scores": scores_around(0.80, seed=1)},
            "b": {"sets": sets_with_core(0.7, seed=1), "scores": scores_around(0.80, seed=2)},
        }
    ).pareto(random_state=1)
    assert (close.frame["probability"] > 0.2).all()


def test_copies_of_a_run_never_meet():
    """Sets that have nothing in common stay at the least stability in every draw; copies would raise it."""
    sets = [[2 * run, 2 * run + 1] for run in range(10)]
    points = make_points(make_result({"a": {"sets": sets, "scores": scores_around(0.8, 10)}}))
    _, stabilities = points.draws(200)
    assert np.allclose(stabilities, points.points[0].stability)


@pytest.mark.parametrize("design", ["pairs", "nested_folds"])
def test_blocks_are_drawn_where_there_are_blocks(design):
    blocks = np.repeat(np.arange(10), 2).tolist()
    result = make_result(
        {"a": {"sets": sets_with_core(0.7), "scores": scores_around(0.8)}}, design=design, blocks=blocks
    )
    points = make_points(result)
    scores, stabilities = points.draws(2000)
    assert scores.mean() == pytest.approx(0.8, abs=0.002)
    assert stabilities.mean() == pytest.approx(result.stability("a").value, abs=0.02)
    assert stabilities.std() == pytest.approx(sem(result.stability("a").pseudo_values), rel=0.15)


def test_measures_without_pairs_are_drawn_by_pseudo_values():
    result = make_result({"a": {"sets": sets_with_core(0.7), "scores": scores_around(0.8)}})
    points = make_points(result, measure="goh")
    _, stabilities = points.draws(2000)
    assert stabilities.std() == pytest.approx(result.stability("a", "goh").standard_error, rel=0.3)


def test_what_is_missing_is_told_and_never_on_the_front():
    result = make_result(
        {**three(), "mute": {"sets": sets_with_core(0.9)}, "lost": {"sets": [None] * 20, "scores": scores_around(0.99)}}
    )
    frame = result.pareto().frame
    assert not frame.loc[["mute", "lost"], "on_front"].any()
    assert frame.loc["mute", "reason"] == "no run has a score"
    assert frame.loc["lost", "reason"] == "none of its runs has finished yet"


def test_the_median_front_lies_between_the_sure_and_the_bold_one():
    found = make_result(three()).pareto()
    sure, median, bold = (found.attainment(level).set_index("score")["stability"] for level in (0.95, 0.5, 0.05))
    assert (sure <= median.reindex(sure.index)).all()
    assert (median <= bold.reindex(median.index)).all()
    at = median.index[np.argmin(np.abs(median.index - 0.75))]
    assert median[at] == pytest.approx(found.frame["stability"]["steady"], abs=0.03)


def test_candidates_that_a_search_stopped_are_left_out():
    result = make_result(three(), stopped={"poor": {"after": 10, "by": "sharp"}})
    assert result.pareto().frame.index.tolist() == ["sharp", "steady"]
    assert len(result.pareto(candidates=result.candidates).frame) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "speed"}, "Expected one of the study's scores"),
        ({"measure": "krizek"}, "Expected a measure of which more is better"),
        ({"by": "color"}, "Expected by='family' or None"),
        ({"level": 2}, "Expected a level between 0 and 1"),
        ({"candidates": ["nobody"]}, "Expected one of the candidates"),
    ],
)
def test_errors_are_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        make_result(three()).pareto(**options)


def test_a_study_without_scores_says_what_to_do():
    with pytest.raises(ValueError, match=r"No candidate has a score .* give the study an estimator="):
        make_result({"a": {"sets": sets_with_core(0.5)}}).pareto()


def test_different_kinds_are_weighed_on_a_common_footing():
    weights = np.random.default_rng(0).random((20, 20))
    both = make_result(
        {
            "a": {"sets": sets_with_core(0.5), "scores": scores_around(0.8)},
            "b": {"weights": weights, "scores": scores_around(0.8)},
        }
    )
    frame = both.pareto().frame
    cut = make_result({"b": {"sets": [np.argsort(-one)[:5] for one in weights]}})
    assert frame["stability"]["b"] == cut.stability("b").value
    assert frame["size"].tolist() == [5, 5]
    assert both.pareto(candidates=["b"]).frame["stability"]["b"] == both.stability("b", "weight_correlation").value
