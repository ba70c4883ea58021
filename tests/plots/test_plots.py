"""Pictures: the numbers behind them, that they can be drawn, and that no name can do harm."""

import base64
import hashlib
import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy.stats import beta, norm
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB

import holdfast as hf
from holdfast import plots
from holdfast.datasets import load_example, make_selections
from holdfast.inference import compare_ranks
from holdfast.plots import embed, survival
from holdfast.plots.distributions import draw_spread
from holdfast.plots.features import MAX_RECOVERED, draw_effects, draw_recovery, draw_replicability
from holdfast.plots.pareto import area_steps, draw_pareto
from holdfast.plots.selection_map import draw_selection_map
from holdfast.plots.text import drawable_spec
from holdfast.text import clean_text, display_names, format_estimate, format_number, join_names
from results import make_result, scores_around, sets_with_core

HOSTILE = [
    "<script>alert(1)</script>",
    "\"double\" 'single'",
    "😀 naïve 漢字",
    "x" * 500,
    "",
    "back\\slash \\n \\u003c",
    "a.b[0]",
    "</script><script>alert(2)//",
    "&amp; & <b>",
    "nul \x00 bell \x07 \uffff",
    "\u202egnp.exe",
    "datum.x && {{ 7*7 }}",
]


def hostile_runs():
    rng = np.random.default_rng(0)
    matrix = rng.random((20, len(HOSTILE))) < np.linspace(1, 0.3, len(HOSTILE))
    matrix[:, 6] = ~matrix[:, 1]  # two that take turns
    return hf.Preferences.from_matrix(matrix, features=HOSTILE)


def small_study(perturbation, **selectors):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 12)), columns=[f"gene {i}" for i in range(12)])
    y = (X["gene 0"] + X["gene 1"] + rng.normal(size=60) > 0).astype(int)
    study = hf.Study(selectors=selectors, perturbation=perturbation, estimator=GaussianNB(), random_state=0)
    return study.run(X, y)


@pytest.fixture(scope="module")
def study():
    return small_study(hf.Bootstrap(8), anova=hf.Candidates(SelectKBest(), {"k": [2, 4, 8]}), all=SelectKBest(k="all"))


@pytest.fixture(scope="module")
def nested():
    return small_study(hf.NestedFolds(3, 4), anova=SelectKBest(k=3))


def front(names=("a", "b", "c"), **more):
    places = range(len(names))
    columns = {
        "candidate": list(names), "family": list(names), "score": [0.9 - 0.01 * place for place in places],
        "score_se": 0.01, "stability": [0.5 + 0.02 * place for place in places], "on_front": True,
        "chosen": [place == 1 for place in places], "settings": list(names), "group": list(names),
    }  # fmt: skip
    frame = pd.DataFrame({**columns, **more})
    return frame.assign(low=frame["stability"] - 0.05, high=frame["stability"] + 0.04)


def profile(names=("",)):
    one = pd.DataFrame({"size": [1, 2, 5, 10], "stability": [0.9, 0.8, 0.5, 0.4], "knot": [False, True, False, False]})
    one = one.assign(low=one["stability"] - 0.1, high=one["stability"] + 0.1, baseline=0.0)
    return pd.concat([one.assign(selector=name) for name in names])


def curve(names=("lasso",), quantity="accuracy", setting=(0.01, 0.1, 1)):
    rows = [
        (name, name, value, what, 0.5 + 0.1 * place)
        for name in names
        for what in ("stability", quantity)
        for place, value in enumerate(setting)
    ]
    return pd.DataFrame(rows, columns=["line", "candidate", "setting", "quantity", "value"])


def terms():
    """Three resamples of two steps; one of the second shares nothing."""
    V, W = np.array([0.6, 0.3, 0.7, 0.4, 0.5, 0.5]), np.array([0, 0.1, 0, 0.2, 0, 0])
    with np.errstate(divide="ignore"):
        return pd.DataFrame(
            {"step": [1, 2] * 3, "relevance": V, "redundancy": W, "difference": V - W, "quotient": V / W}
        )


def comparisons(names=("a", "b", "c")):
    makes = {
        name: make_selections(
            stability=0.3 + 0.6 * place / len(names), size=3, n_features=12, n_runs=12, random_state=7
        )
        for place, name in enumerate(names)
    }
    return hf.compare_many(makes, paired=True)


def recovered(names):
    relevance = ["relevant" if place % 2 else "not relevant" for place, _ in enumerate(names)]
    parts = [
        pd.DataFrame({"panel": panel, "column": range(1, len(names) + 1), "feature": names, "relevance": relevance})
        for panel in names[:2]
    ]
    return pd.concat(parts, ignore_index=True).assign(frequency=0.5)


def effects(names):
    columns = {"frequency": 0.9, "direction": names, "effect": 0.8, "effect_low": 0.7, "effect_high": 0.9, "splits": 9}
    return pd.DataFrame({"feature": names, **columns})


def replicated(names):
    return pd.DataFrame({"feature": names, "probability": 0.5, "frequency": 0.6})


def curves(names):
    lines = np.array([[0.0, 1, 2], [1, 0.9, 0.5], [1, 0.8, 0.4], [1, 0.95, 0.6], [20.0, 18, 9]])
    third = np.column_stack([np.full(4, np.nan), lines[1:]])
    stored = np.vstack([np.append(np.nan, lines[0]), third, np.full((4, 4), np.nan), third])
    return pd.concat([survival.frame_curves(name, stored) for name in names], ignore_index=True)


def ranked(names):
    return pd.DataFrame(np.random.default_rng(0).random((4, len(names))), columns=names)


def mean_ranks(names):
    ranks = np.arange(1.0, len(names) + 1)
    columns = {
        "score_rank": ranks,
        "stability_rank": ranks[::-1],
        "on_front": 2,
        "chosen": 1,
        "datasets": 4,
        "best": True,
    }
    return pd.DataFrame(columns, index=names)


class Given(NamedTuple):
    """What pictures are drawn from: the names stand wherever a name can."""

    runs: hf.Preferences
    names: list[str]
    comparisons: Any


PICTURES = {
    "map": lambda given: plots.plot_selection_map(given.runs),
    "map by frequency": lambda given: plots.plot_selection_map(
        given.runs, order="frequency", blocks=[given.names[0]] * given.runs.n_runs
    ),
    "frequencies": lambda given: plots.plot_frequencies(given.runs),
    "forest": lambda given: plots.plot_forest(given.comparisons),
    "comparisons": lambda given: plots.plot_comparisons(given.comparisons),
    "pareto": lambda given: plots.plot_pareto(front(given.names), score=given.names[0]),
    "fronts": lambda given: plots.plot_pareto(front(given.names), score=given.names[0], fronts="each"),
    "setting": lambda given: plots.plot_setting(curve(given.names, given.names[0]), given.names[0]),
    "setting of names": lambda given: plots.plot_setting(curve(setting=given.names), given.names[0]),
    "profile": lambda given: plots.plot_profile(profile(given.names)),
    "swaps": lambda given: plots.plot_swaps(given.runs),
    "convergence": lambda given: plots.plot_convergence(given.runs),
    "mrmr terms": lambda given: plots.plot_mrmr_terms(terms()),
    "recovery": lambda given: draw_recovery(recovered(given.names)),
    "survival curves": lambda given: survival.draw_survival_curves(curves(given.names), time=given.names[0]),
    "qq": lambda given: plots.plot_qq({name: [0.1, -0.4, 1.2] for name in given.names}),
    "spread": lambda given: draw_spread(pd.DataFrame({"quantity": given.names, "resample": given.names, "value": 0.5})),
    "effects": lambda given: draw_effects(effects(given.names), effect="AUC", level=0.95),
    "replicability": lambda given: draw_replicability(
        replicated(given.names), sentence="10 of 10.", n_selected=20, n_pairs=9
    ),
    "critical difference": lambda given: plots.plot_critical_difference(compare_ranks(ranked(given.names), "nemenyi")),
    "rank trade-off": lambda given: plots.plot_rank_tradeoff(mean_ranks(given.names), n_datasets=4),
}
"""One of each picture; :func:`test_no_picture_is_forgotten` names those that are missing."""


def charts(*given):
    return {kind: draw(Given(*given)) for kind, draw in PICTURES.items()}


@pytest.fixture(scope="module")
def plain():
    return charts(load_example().top(10), ["lasso", "anova", "forest"], comparisons())


@pytest.fixture(scope="module")
def hostile():
    return charts(hostile_runs(), HOSTILE, comparisons(HOSTILE))


EXPORTED = [name.removeprefix("plot_") for name in plots.__all__ if name.startswith("plot_")]


def test_no_picture_is_forgotten():
    used = {name for draw in PICTURES.values() for name in draw.__code__.co_names}
    assert [name for name in EXPORTED if used.isdisjoint({f"plot_{name}", f"draw_{name}"})] == []


# The numbers


def test_selection_map_data():
    runs = hf.Preferences.from_sets([{"a", "c"}, {"b"}, {"c", "a"}], features=["c", "never", "a", "b"])
    found = plots.selection_map_data(runs, blocks=["x", "y", "x"])
    cells = {"row": [0, 0, 1, 1, 2], "column": [0, 1, 0, 1, 2], "share": 1.0}
    assert_frame_equal(found.cells, pd.DataFrame(cells))
    columns = {"column": [0, 1, 2], "feature": ["c", "a", "b"], "features": 1, "frequency": [2 / 3, 2 / 3, 1 / 3]}
    assert_frame_equal(found.columns, pd.DataFrame({**columns, "group": -1}), check_dtype=False)
    rows = {
        "row": [0, 1, 2],
        "resample": ["resample 1", "resample 3", "resample 2"],
        "first": [1, 2, 3],
        "last": [1, 2, 3],
    }
    assert_frame_equal(found.rows, pd.DataFrame({**rows, "block": ["x", "x", "y"]}))
    assert plots.selection_map_data(runs, show="all").columns["feature"].tolist() == ["c", "never", "a", "b"]
    frequent = hf.Preferences.from_sets([{"a"}, {"a", "c"}], features=["c", "a"])
    assert plots.selection_map_data(frequent, order="frequency").columns["feature"].tolist() == ["a", "c"]


def test_selection_map_puts_correlated_features_side_by_side():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(40, 2))
    X = pd.DataFrame(
        {"a": base[:, 0], "b": base[:, 1], "a2": base[:, 0] + 0.01, "b2": -base[:, 1], "lone": rng.random(40)}
    )
    runs = hf.Preferences.from_matrix(np.ones((3, 5), int), features=list(X))
    columns = plots.selection_map_data(runs, order="correlation", X=X).columns
    groups = columns.groupby("group")["feature"].apply(set).to_dict()
    assert sorted(map(sorted, (groups[0], groups[1]))) == [["a", "a2"], ["b", "b2"]]
    assert groups[-1] == {"lone"}
    with pytest.raises(ValueError, match="Expected X="):
        plots.selection_map_data(runs, order="correlation")


def test_selection_map_knows_the_outer_folds(nested):
    rows = plots.selection_map_data(nested).rows
    assert rows["block"].drop_duplicates().tolist() == ["outer fold 1", "outer fold 2", "outer fold 3"]
    assert rows["resample"].str.contains("inner").all()


def test_many_runs_and_features_are_drawn_as_shares():
    rng = np.random.default_rng(0)
    matrix = rng.random((230, 1000)) < 0.2
    found = plots.selection_map_data(matrix, show="all")
    assert len(found.rows) == 100
    assert len(found.columns) == 300
    weights = found.columns["features"].to_numpy()[found.cells["column"]]
    runs = (found.rows["last"] - found.rows["first"] + 1).to_numpy()[found.cells["row"]]
    assert (found.cells["share"] * weights * runs).sum() == pytest.approx(matrix.sum())
    assert found.columns["feature"].iloc[0] == "0 … 3"


@pytest.mark.parametrize("order", ["file", "frequency"])
def test_a_large_map_stays_small(order, tmp_path):
    rng = np.random.default_rng(0)
    runs = hf.Preferences.from_matrix(rng.random((100, 20_000)) < 0.3)
    chart = plots.plot_selection_map(runs, order=order)
    assert len(json.dumps(chart.to_dict())) < 700_000
    assert plots.save(chart, tmp_path / "map.html").stat().st_size < 1_700_000
    sparse = hf.Preferences.from_sets([rng.choice(20_000, 50, replace=False) for _ in range(100)], n_features=20_000)
    assert len(json.dumps(plots.plot_selection_map(sparse, order=order).to_dict())) < 300_000


def test_frequency_data_is_the_head_of_the_feature_table(study):
    runs = load_example().top(10)
    table = hf.feature_table(runs, level=0.9).drop(columns="variance_share")
    assert_frame_equal(plots.frequency_data(runs, level=0.9, most=5), table.head(5))
    assert_frame_equal(
        plots.frequency_data(study, "anova(k=4)"),
        hf.feature_table(study.preferences("anova(k=4)")).drop(columns="variance_share"),
    )


def test_forest_data(study):
    found = comparisons()
    data = plots.forest_data(found)
    assert data["name"].tolist() == found.to_frame()["selection"].tolist()
    assert data["letters"].tolist() == found.to_frame()["letters"].tolist()
    for name, low, high in zip(data["name"], data["low"], data["high"], strict=True):
        assert (low, high) == found.estimates[name].ci()
    told_of_study = plots.forest_data(study, level=0.9).set_index("name")
    columns = ["stability", "low", "high"]
    summary = study.summary(level=0.9)[columns]
    assert_frame_equal(told_of_study[columns].loc[summary.index], summary, check_names=False)
    assert "is undefined for" in told_of_study["reason"]["all"]
    assert told_of_study.index[-1] == "all"


def test_the_forest_puts_small_distances_first():
    runs = {"shaky": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "steady": [[1, 0, 0], [1, 0, 0], [0, 0, 1]]}
    estimates = {name: hf.stability(run, "krizek") for name, run in runs.items()}  # an entropy
    assert plots.forest_data(estimates)["name"].tolist() == ["steady", "shaky"]
    assert "intermediate" not in plots.plot_forest(estimates).to_json()


def test_comparison_data():
    found = comparisons(("a", "b"))
    pair = found.pairs.iloc[0]
    data = plots.comparison_data(found)
    assert data["first"].tolist() == ["b", "a"]  # b is more stable
    assert data["difference"].tolist() == [-pair["difference"], pair["difference"]]
    assert data["low"].tolist() == [-pair["high"], pair["low"]]
    assert data["p_holm"].tolist() == [pair["p_holm"]] * 2
    assert data["significant"].tolist() == [pair["p_holm"] <= 0.05] * 2


def test_pareto_data():
    data = plots.pareto_data(front(), level=0.9)
    assert data["candidate"].tolist() == ["a", "c", "b"]  # the chosen one last, so that it is drawn on top
    assert data["score_high"].to_numpy() == pytest.approx(data["score"] + 1.6448536 * 0.01)
    bare = plots.pareto_data({"candidate": [1], "score": [1], "stability": [2]})
    assert bare.iloc[0][["candidate", "family", "settings"]].tolist() == ["1", "", ""]
    assert not bare["on_front"].any()
    assert {"picked", "key"}.isdisjoint(bare)


def two_families():
    return {
        "candidate": ["a1", "a2", "a3", "b1", "b2"], "family": ["a", "a", "a", "b", "b"],
        "score": [0.9, 0.8, 0.8, 0.85, 0.6], "stability": [0.2, 0.4, 0.3, 0.5, 0.9],
    }  # fmt: skip


def test_every_family_has_a_front_and_the_area_that_it_dominates():
    data = plots.pareto_data(two_families(), fronts="each").set_index("candidate")
    assert data["on_own_front"].to_dict() == {"a1": True, "a2": True, "a3": False, "b1": True, "b2": True}
    assert data["area"].to_dict() == pytest.approx({"a1": 0.1, "a2": 0.1, "a3": 0.1, "b1": 0.125, "b2": 0.125})
    low = plots.pareto_data(two_families(), fronts="each", reference=(0.5, 0.1)).set_index("candidate")
    assert low["area"][["a1", "b1"]].tolist() == pytest.approx([0.4 * 0.1 + 0.3 * 0.2, 0.35 * 0.4 + 0.1 * 0.4])
    steps = area_steps(low.reset_index(), (0.5, 0.1))
    assert steps["family"].tolist() == ["b"] * 3 + ["a"] * 3  # the largest area first, behind the others
    assert steps[steps["family"] == "a"][["stability", "score"]].to_numpy().tolist() == [
        [0.1, 0.9],
        [0.2, 0.9],
        [0.4, 0.8],
    ]
    joint = plots.pareto_data(two_families(), fronts="joint")
    assert {"area", "on_own_front"}.isdisjoint(joint)
    with pytest.raises(ValueError, match="Expected fronts='joint' or 'each', got 'all'"):
        plots.plot_pareto(two_families(), fronts="all")


def test_areas_are_told_and_stand_in_for_intervals():
    chart = plots.plot_pareto({**two_families(), "score_se": [0.1] * 5}, fronts="each", score="accuracy")
    assert " ".join(chart.title.text) == "b dominates the largest area, 0.125; next is a, 0.100"
    told = " ".join(chart.title.subtitle)
    assert told == "shaded: what each front dominates above accuracy 0.60 and stability 0.00 (area: b 0.125, a 0.100)"
    layers = chart.to_dict()["layer"]
    assert [layer["mark"]["type"] for layer in layers].count("area") == 2
    assert "rule" not in {layer["mark"]["type"] for layer in layers}
    alone = plots.plot_pareto(
        {"candidate": ["x"], "score": [0.9], "stability": [0.5]}, fronts="each", reference=(0.5, 0.0)
    )
    assert "dominates an area of 0.200" in " ".join(alone.title.text)


def test_several_studies_or_parts_of_one_are_drawn_by_name(study, nested):
    small, large = ([name for name in study.candidates if (name == "all") is own] for own in (False, True))
    parts = {"few": study.pareto(candidates=small, n_draws=0), "all of them": study.pareto(candidates=large, n_draws=0)}
    data = plots.pareto_data(parts)
    assert dict(zip(data["candidate"], data["family"], strict=True)) == {
        **dict.fromkeys(small, "few"), **dict.fromkeys(large, "all of them")
    }  # fmt: skip
    whole = study.pareto(n_draws=0).frame
    assert data.set_index("candidate")["on_front"].to_dict() == whole["on_front"].to_dict()
    both = plots.pareto_data({"one": study, "two": study})
    assert sorted(both["family"].unique()) == ["one: all", "one: anova", "two: all", "two: anova"]
    assert plots.plot_pareto(parts).to_dict()["layer"][0]["mark"]["type"] == "area"
    with pytest.raises(ValueError, match="Expected fronts of one measure of stability, to share an axis, got nogueira"):
        plots.plot_pareto({"one": study, "two": study.pareto(measure="jaccard", n_draws=0)})


def test_a_page_marks_the_candidate_that_it_shows_and_finds_points_by_a_key():
    data = plots.pareto_data(front(picked=[False, False, True], key=["0", "1", "2"]))
    assert data.set_index("candidate")["key"].to_dict() == {"a": "0", "b": "1", "c": "2"}
    rings = [json.dumps(layer) for layer in draw_pareto(data, score="accuracy", level=0.95).to_dict()["layer"]]
    assert sum("datum.picked" in ring and "strokeDash" in ring for ring in rings) == 1
    assert "datum.picked" not in json.dumps(draw_pareto(plots.pareto_data(front()), score="a", level=0.95).to_dict())


def test_profile_data():
    data = plots.profile_data(profile(("b", "a")).iloc[::-1])
    assert data["selector"].tolist() == ["a"] * 4 + ["b"] * 4
    assert data["size"].tolist() == [1, 2, 5, 10] * 2
    assert data["knot"].tolist() == [False, True, False, False] * 2


def test_setting_data(study):
    data = plots.setting_data(study, "k", level=0.9)
    summary = study.summary(level=0.9)
    stability = data[data["quantity"] == "stability"].set_index("candidate")
    columns = ["value", "low", "high"]
    expected = summary.loc[stability.index, ["stability", "low", "high"]].set_axis(columns, axis=1)
    assert_frame_equal(stability[columns], expected)
    assert data[data["quantity"] == "accuracy"]["value"].tolist() == summary["accuracy"][stability.index].tolist()
    sizes = data[data["quantity"] == "number selected"]
    assert sizes[["setting", "value", "low", "high"]].to_numpy().tolist() == [[k] * 4 for k in (2, 4, 8)]
    assert set(data["line"]) == {"anova"}
    assert_frame_equal(plots.setting_data(curve(), "C")[list(curve())], curve(), check_dtype=False)
    with pytest.raises(ValueError, match=r"Expected a setting of the candidates \(k\), got 'C'"):
        plots.setting_data(study, "C")
    with pytest.raises(ValueError, match="Expected one of the scores accuracy"):
        plots.setting_data(study, "k", score="auc")


def test_settings_at_one_sample_size_or_a_line_for_each():
    result = small_study(hf.NestedSubsamples(5, (0.4, 0.7)), anova=hf.Candidates(hf.selectors.AnovaF(), sizes=[2, 4]))
    summaries = {size: result.summary(fraction=size) for size in (0.4, 0.7)}
    one = plots.setting_data(result, "size", fraction=0.4)
    assert set(one["line"]) == {"anova"}
    for quantity in ("stability", "accuracy"):
        values = one[one["quantity"] == quantity]["value"].tolist()
        assert values == summaries[0.4][quantity].tolist()
    each = plots.setting_data(result, "size", fraction=[0.4, 0.7], candidates=["anova(size=4)"])
    stability = each[each["quantity"] == "stability"].set_index("line")["value"].to_dict()
    assert stability == {
        f"anova (fraction={size})": summaries[size].loc["anova(size=4)", "stability"] for size in (0.4, 0.7)
    }
    chart = json.dumps(plots.plot_setting(result, "size", fraction=[0.4, 0.7]).to_dict())
    assert "anova (fraction=0.7)" in chart
    assert "number selected" not in chart  # it is the setting itself
    with pytest.raises(ValueError, match=r"Expected one of the sizes 0.4, 0.7, 1, got 0.5"):
        plots.setting_data(result, "size", fraction=[0.4, 0.5])


def test_mrmr_terms_data():
    data = plots.mrmr_terms_data(terms()).set_index(["quantity", "step"])
    assert data.loc[("V", 2), ["mean", "sd"]].tolist() == pytest.approx([0.4, 0.1])
    assert data.loc[("V − W", 1), "mean"] == pytest.approx(0.6)
    assert data.loc[("V / W", 2), ["mean", "sd", "resamples"]].tolist() == pytest.approx([2.5, np.sqrt(0.5), 2])
    assert ("V / W", 1) not in data.index  # nothing was chosen before
    assert data["high"].tolist() == pytest.approx((data["mean"] + data["sd"]).tolist())
    alone = terms().assign(quotient=np.inf)
    assert plots.plot_mrmr_terms(alone).title.text == ["Relevance and redundancy over 3 resamples"]
    assert plots.plot_mrmr_terms(terms().iloc[:0]).title.text == ["There is no step to show"]


def test_swap_data():
    runs = hf.Preferences.from_matrix([[1, 0, 1, 0, 1]] * 6 + [[0, 1, 0, 1, 1]] * 6, features=list("abcde"))
    data = plots.swap_data(runs, most=4)
    pairs = hf.feature_swaps(runs, most=4)
    assert set(zip(data["first"], data["second"], strict=True)) == set(
        zip(pairs["first"], pairs["second"], strict=True)
    )
    assert data["one_of_them"].tolist() == [12] * 4
    assert data["turns"].tolist() == pytest.approx([1] * 4)
    assert data["group"].tolist() == [0] * 4  # a–b, a–d, c–b, c–d hang together
    assert data["clear"].all()
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 5)), columns=list("abcde")).assign(b=lambda x: -x["a"])
    with_data = plots.swap_data(runs, most=4, X=X).set_index(["first", "second"])
    assert with_data["correlation"]["a", "b"] == pytest.approx(1)


def test_spread_data(study):
    halves = [[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]
    agreement = hf.inference.agreement(*halves, "jaccard", undefined="skip")
    data = plots.spread_data(agreement)
    np.testing.assert_array_equal(data["value"], agreement.per_run)
    assert " ".join(plots.plot_spread(agreement).title.text) == "On average over 1 resample: jaccard 0.50 (0.5 to 0.5)"
    recovery = study.recovery(["gene 0", "gene 1"], "anova(k=2)")
    counts = plots.spread_data(recovery).groupby("quantity")["value"].sum()
    assert counts["relevant features found"] == recovery.runs["true_positives"].sum()
    assert counts["relevant features found"] + counts["relevant features missed"] == 2 * len(recovery.runs)
    assert counts["false features"] == recovery.runs["false_positives"].sum()
    nothing = draw_spread(pd.DataFrame({"quantity": ["a"], "resample": ["1"], "value": [np.nan]}))
    assert nothing.title.text == ["There is no number to show"]


def test_lines_of_a_setting_can_be_anything_and_the_finding_ones_own():
    table = {"line": ["b", "a"], "setting": [1, 2], "quantity": ["stability"] * 2, "value": [0.8, 0.6]}
    chart = plots.plot_setting(table, "k", lines="measure", title="Mine")
    color = json.loads(chart.to_json())["vconcat"][0]["layer"][0]["encoding"]["color"]
    assert (chart.title.text, color["title"], color["sort"]) == (["Mine"], "measure", ["b", "a"])
    assert chart.title.subtitle == []  # no bands to speak of


@pytest.mark.parametrize(("n", "size"), [(5, 45), (120, 8)])
def test_points_of_many_settings_are_small(n, size):
    table = {"setting": range(1, n + 1), "quantity": ["stability"] * n, "value": [0.5] * n}
    layers = json.loads(plots.plot_setting(table, "k").to_json())["vconcat"][0]["layer"]
    assert layers[-1]["mark"]["size"] == size


def test_recovery_data(study):
    first, second = (study.recovery(["gene 0", "gene 1"], name) for name in ("anova(k=2)", "anova(k=4)"))
    data = plots.recovery_data([first, second])
    assert data["panel"].unique().tolist() == ["anova(k=2)", "anova(k=4)"]
    assert data["frequency"].tolist() == [*first.features["frequency"], *second.features["frequency"]]
    assert (data["relevance"] == "relevant").sum() == 4
    assert data["column"].tolist()[:3] == [1, 2, 3]
    assert plots.recovery_data({"few": first})["panel"].unique().tolist() == ["few"]
    title = " ".join(plots.plot_recovery([first, second]).title.text)
    others = first.features[~first.features["relevant"]]["frequency"].mean()
    assert f"features that are not relevant: {100 * others:.3g} % (anova(k=2))" in title
    with pytest.raises(ValueError, match="at least one recovery"):
        plots.recovery_data([])


def test_of_many_features_the_relevant_and_the_most_frequent_are_drawn():
    n = MAX_RECOVERED + 50
    data = pd.DataFrame(
        {"panel": "a", "column": range(1, n + 1), "feature": [f"x{i}" for i in range(n)],
         "relevance": ["relevant"] + ["not relevant"] * (n - 1), "frequency": np.arange(n) / n}
    )  # fmt: skip
    chart = draw_recovery(data)
    assert len(chart.data.values) == MAX_RECOVERED + 1
    assert chart.title.subtitle == ["49 features that were selected less often left out"]


def test_convergence_data(nested):
    runs = load_example().top(5)
    data = plots.convergence_data(runs, step=8)
    assert data["n_runs"].tolist() == [8, 16, 20]
    for n, value, low, high in data[["n_runs", "stability", "low", "high"]].itertuples(index=False):
        estimate = hf.stability(runs.take(range(n)))
        assert (value, low, high) == (estimate.value, *estimate.ci())
    many = make_selections(stability=0.5, size=3, n_features=12, n_runs=501, random_state=0)
    assert len(plots.convergence_data(many)) <= 41
    last = plots.convergence_data(nested).iloc[-1]
    assert (last["n_runs"], last["stability"]) == (12, nested.stability("anova").value)
    ranks = plots.convergence_data(load_example())
    assert ranks["stability"].iloc[-1] == hf.stability(load_example(), "weight_correlation").value


# Drawing


@pytest.mark.parametrize("kind", PICTURES)
@pytest.mark.parametrize("names", ["plain", "hostile"])
@pytest.mark.slow
def test_every_chart_is_valid_and_renders(names, kind, request, tmp_path):
    chart = request.getfixturevalue(names)[kind]
    spec = chart.to_dict(validate=True)
    assert chart.title.text[0]
    assert spec["description"].startswith(chart.title.text[0])
    if names == "plain":
        assert plots.save(chart, tmp_path / "a.png", scale=1).read_bytes().startswith(b"\x89PNG")
    svg = plots.save(chart, tmp_path / "a.svg", theme="dark").read_text(encoding="utf-8")
    ElementTree.fromstring(svg)
    assert len(svg) > 2000
    assert "undefined" not in svg
    assert json.loads(plots.save(chart, tmp_path / "a.json").read_text(encoding="utf-8")) == drawable_spec(spec)


def test_quantiles_stand_beside_those_of_the_normal_distribution():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=40)
    data = plots.qq_data(numbers, level=0.9)
    assert data["value"].tolist() == sorted(numbers)
    assert data["normal"].to_numpy() == pytest.approx(norm.ppf((np.arange(40) + 0.5) / 40))
    assert data["low"].to_numpy() == pytest.approx(norm.ppf(beta.ppf(0.05, np.arange(1, 41), 41 - np.arange(1, 41))))
    fitted = plots.qq_data(3 + 2 * numbers, level=0.9, reference="fitted")
    center, scale = 3 + 2 * numbers.mean(), 2 * numbers.std(ddof=1)
    for column in ("expected", "low", "high"):
        own = data["normal" if column == "expected" else column]
        assert fitted[column].to_numpy() == pytest.approx(center + scale * own)
    two = plots.qq_data({"a": [1.0, np.nan], "b": [2.0]})
    assert two[["name", "value"]].to_numpy().tolist() == [["a", 1.0], ["b", 2.0]]


def test_each_quantile_lies_in_the_band_as_often_as_it_says():
    rng = np.random.default_rng(1)
    inside = [plots.qq_data(rng.normal(size=25)).eval("low <= value <= high").mean() for _ in range(400)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)


def test_estimates_count_in_standard_errors_from_the_truth():
    estimates = [hf.stability(load_example().top(k)) for k in (5, 10)]
    data = plots.qq_data(estimates, truth=0.7)
    assert data["value"].tolist() == sorted((one.value - 0.7) / one.standard_error for one in estimates)
    same = hf.stability([[1, 0, 0]] * 6)  # no standard error: left out
    assert len(plots.qq_data([*estimates, same], truth=0.7)) == 2
    assert "There is no number to show" in plots.plot_qq([np.nan]).title.text
    for wrong in ({"sample": estimates}, {"sample": [0.1], "truth": 0.7}, {"sample": [0.1, estimates[0]], "truth": 1}):
        with pytest.raises(ValueError, match="Expected numbers, or estimates and the truth that they estimate, got"):
            plots.qq_data(**wrong)
    with pytest.raises(ValueError, match="Expected reference='standard' or 'fitted', got 'own'"):
        plots.qq_data([1.0], reference="own")


def test_a_long_qq_plot_keeps_its_tails():
    numbers = np.random.default_rng(2).normal(size=20_000)
    (values,) = plots.plot_qq(numbers).to_dict()["datasets"].values()
    drawn = pd.DataFrame(values)
    assert len(drawn) <= 300
    assert (drawn["value"].min(), drawn["value"].max()) == (numbers.min(), numbers.max())


def test_pdf(plain, hostile, tmp_path):
    for chart in (plain["map"], hostile["frequencies"]):
        assert plots.save(chart, tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", EXPORTED)
def test_every_plot_has_a_half_that_draws_data_alone(name):
    module = importlib.import_module(getattr(plots, f"plot_{name}").__module__)
    data, *others = inspect.signature(getattr(module, f"draw_{name}")).parameters.values()
    assert data.name == "data"
    assert data.annotation in (pd.DataFrame, plots.SelectionMap, plots.CriticalDifference)
    assert Any not in [other.annotation for other in others]
    sources = re.compile(
        r"Preferences|StudyTables|Comparisons|Estimate|Source"
    )  # which would have to be measured first
    assert [str(other) for other in others if sources.search(inspect.formatannotation(other.annotation))] == []


def test_a_map_is_drawn_from_its_data_alone():
    data = plots.selection_map_data(load_example().top(10), order="frequency")
    assert (
        draw_selection_map(data).to_dict()
        == plots.plot_selection_map(load_example().top(10), order="frequency").to_dict()
    )


def test_the_label_of_the_choice_covers_no_other_point():
    def label(other_score):
        columns = front(["far", "chosen one", "near"], stability=[0.3, 0.9, 0.85], score=[0.9, 0.9, other_score])
        return plots.plot_pareto(columns).to_dict()["layer"][-1]["mark"]

    assert (label(0.88)["align"], label(0.88)["dy"]) == ("right", -14)
    assert (label(0.902)["align"], label(0.902)["dy"]) == ("right", 20)  # the label would be on the near one


def test_known_intervals_of_scores_are_drawn_as_they_are():
    data = plots.pareto_data(front(score_low=0.1, score_high=[0.95, np.nan, 0.95]), level=0.9)
    assert data["score_low"].tolist() == [0.1] * 3
    assert data["score_high"].tolist() == pytest.approx([0.95, 0.95, 0.89 + 1.6448536 * 0.01])


@pytest.mark.parametrize("kind", PICTURES)
def test_fields_are_never_named_by_the_data(kind, hostile):
    """Vega reads dots and brackets in a field's name as a path."""
    text = json.dumps(hostile[kind].to_dict())
    fields = set(re.findall(r'"(?:field|lookup|key)": "([^"]*)"', text))
    assert fields
    assert all(re.fullmatch("[a-z0-9_]+", field) for field in fields)


def test_titles_state_the_finding(plain):
    said = {kind: " ".join(chart.title.text) for kind, chart in plain.items()}
    assert said["map"] == "7 features were selected in all 20 resamples; 6 others came and went"
    assert (
        said["frequencies"] == "7 of 30 features were selected in every resample, 10 in at least half of 20 resamples"
    )
    assert said["pareto"] == "anova is chosen: lasso 0.89 at stability 0.52 [0.47, 0.56]"
    assert said["setting"].startswith("Stability is highest at lasso = 1 (lasso): 0.70")
    assert re.fullmatch(r"c is the most stable: 0\.\d\d \[0\.\d\d, 0\.\d\d\].*", said["forest"])
    assert " ".join(plots.plot_profile(profile()).title.text).startswith("Up to 2 features the selection is stable")


def test_the_words_of_other_findings():
    def said(chart):
        return " ".join(chart.title.text)

    same, none = np.tile([1, 0, 0, 0], (6, 1)), np.zeros((6, 4), int)
    assert said(plots.plot_selection_map(same)) == "All 6 resamples selected the same feature and no other"
    assert said(plots.plot_selection_map(none)) == "No feature was selected in any of 6 resamples"
    assert said(plots.plot_frequencies(none)) == "No feature was selected in any of 6 resamples"
    assert said(plots.plot_frequencies([[1, 0, 1]])).startswith("One resample selected 2 features")
    assert said(plots.plot_selection_map([[1, 0, 1]])).startswith("One resample selected 2 features")
    assert (
        said(plots.plot_selection_map([[1, 0], [0, 1]]))
        == "No feature was selected in all of 2 resamples; 2 came and went"
    )
    assert said(plots.plot_swaps(same)) == "No two features stand in for each other"
    assert said(plots.plot_pareto(front(chosen=False))).startswith("3 of 3 candidates are on the front")
    assert "has the best score" in said(plots.plot_pareto(front(chosen=False, on_front=False)))
    assert said(plots.plot_pareto(front(stability=np.nan))) == "No candidate has both a score and a stability"
    assert said(plots.plot_profile({"size": [1], "stability": [np.nan]})).startswith("There is no stability")
    assert said(plots.plot_forest({})) == "There is no stability to show"
    assert said(plots.plot_setting(curve().assign(value=np.nan), "C")) == "Nothing is known for any value of C"


def test_pictures_of_pairs_speak_of_no_interval():
    candidates = {
        "a": {"sets": sets_with_core(0.7), "scores": scores_around(0.8)},
        "b": {"sets": sets_with_core(0.5), "scores": scores_around(0.7)},
    }
    result = make_result(candidates, design="pairs", blocks=np.repeat(np.arange(10), 2).tolist())
    assert plots.plot_forest(result).title.subtitle == ["no intervals, over 20 resamples"]
    assert plots.plot_convergence(result, "a").title.subtitle == ["dashed: the value after all resamples"]
    assert plots.pareto_data(result)["low"].isna().all()
    compared = plots.comparison_data(result.compare())
    assert compared["difference"].notna().any()


@pytest.mark.filterwarnings("ignore::holdfast.UndefinedStabilityWarning")
def test_undefined_and_single_runs_are_said(tmp_path):
    single = plots.plot_convergence([[1, 0, 1]])
    assert " ".join(single.title.text) == "The stability is undefined after 1 resample"
    assert single.title.subtitle == ["a single run has no stability, two are needed"]
    estimates = {"none": hf.stability([[0, 0], [0, 0]]), "two runs": hf.stability([[1, 0, 0], [1, 0, 1]])}
    forest = plots.plot_forest(estimates)
    assert "undefined" in json.dumps(forest.to_dict())
    assert "(no interval)" in json.dumps(forest.to_dict())
    assert forest.to_dict()["layer"][-1]["encoding"]["y"]["sort"] == ["two runs", "none"]
    for chart in (single, forest, plots.plot_forest(hf.stability([[0, 0], [0, 0]]))):
        assert plots.save(chart, tmp_path / "a.png").stat().st_size > 500


def test_ranks_are_refused_in_one_sentence(study):
    with pytest.raises(ValueError, match=r"Expected subsets, got weightings; cut them with \.top\(k\) first\."):
        plots.plot_selection_map(load_example())
    with pytest.raises(ValueError, match="Expected candidate= to say which of 4 to draw"):
        plots.plot_frequencies(study)
    with pytest.raises(ValueError, match="stability missing"):
        plots.plot_pareto({"candidate": ["a"], "score": [1.0]})
    with pytest.raises(ValueError, match="Expected numbers in the column score"):
        plots.plot_pareto({"candidate": ["a"], "score": ["much"], "stability": [1.0]})


def test_charts_of_a_study(study, nested, tmp_path):
    for chart in (
        plots.plot_forest(study),
        plots.plot_setting(study, "k"),
        plots.plot_selection_map(nested),
        plots.plot_comparisons(study.compare(["anova(k=2)", "anova(k=4)"])),
    ):
        assert plots.save(chart, tmp_path / "a.png").stat().st_size > 5000


def test_many_candidates_and_families(tmp_path):
    names = [f"candidate {i}" for i in range(80)]
    columns = front(names, family=[f"family {i % 20}" for i in range(80)], on_front=[i % 10 == 0 for i in range(80)])
    assert plots.save(plots.plot_pareto(columns), tmp_path / "a.png").stat().st_size > 5000


def test_themes(plain):
    chart = plain["forest"]
    light, dark = chart.to_dict()["config"], plots.themed(chart, "dark").to_dict()["config"]
    assert light["background"] == "#ffffff" != dark["background"]
    assert chart.to_dict()["config"] == light  # unchanged
    beside = plots.themed(chart, None) | plots.themed(plain["frequencies"], None)
    assert len(beside.to_dict()["hconcat"]) == 2
    with pytest.raises(ValueError, match="Expected theme"):
        plots.themed(chart, "sepia")


def test_saving_says_what_is_wrong(plain, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.svg, \.pdf, \.png, \.html, \.json, got 'a\.gif'"):
        plots.save(plain["map"], tmp_path / "a.gif")
    with pytest.raises(ValueError, match="which only a page can follow"):
        plots.save(plain["map"], tmp_path / "a.png", theme="auto")


def test_numbers_need_no_drawing_library(monkeypatch):
    def missing(name, *arguments):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r"Plotting needs Altair: pip install 'holdfast\[app\]'"):
        plots.plot_frequencies([[1, 0], [1, 1]])


# Names


@pytest.mark.parametrize("kind", ["map", "frequencies", "swaps"])
def test_hostile_names_survive(kind, hostile, tmp_path):
    svg = plots.save(hostile[kind], tmp_path / "a.svg").read_text(encoding="utf-8")
    texts = [element.text for element in ElementTree.fromstring(svg).iter() if element.text]
    assert "<script>alert(1)</script>" in texts or kind == "swaps"
    assert "\"double\" 'single'" in texts
    assert "a.b[0]" in texts
    html = plots.save(hostile[kind], tmp_path / "a.html").read_text(encoding="utf-8")
    (block,) = [json.loads(text) for text in re.findall(r'id="chart-0-data">(.*?)</script>', html)]
    found = json.dumps(block)
    for name in HOSTILE[1:4] if kind == "swaps" else HOSTILE:
        assert json.dumps(clean_text(name) or "(no name)")[1:-1] in found


def test_names_as_they_are_drawn():
    assert display_names(["a", "", " ", "\x00", "\x01", 3]) == [
        "a",
        "(no name)",
        "(no name) (2)",
        "�",
        "� (2)",
        "feature 3",
    ]
    assert clean_text("tab\tnew\nline \u202e \ud800 é 😀") == "tab�new�line � � é 😀"
    assert (join_names(["a"]), join_names(list("ab")), join_names(list("abcde"))) == (
        "a",
        "a and b",
        "a, b and 3 others",
    )
    assert (format_number(-0.001), format_number(-0.5), format_estimate(0.5, np.nan, np.nan)) == (
        "0.00",
        "−0.50",
        "0.50",
    )


# Pages


def test_a_page_runs_nothing_but_its_own_scripts(hostile):
    html = embed.page(hostile, title="<b>&")
    assert "<title>&lt;b&gt;&amp;</title>" in html
    scripts = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    assert len(scripts) == 2
    (allowed,) = re.findall(r"script-src ([^;]*);", html)
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts]
    assert allowed.split() == hashes
    assert "unsafe" not in html.split("</head>")[0]
    assert html.count("alert(1)") > 0
    assert "<script>alert" not in html
    assert len(re.findall(r"<script\b", html)) == 2 + len(hostile) + 1


def test_a_page_names_no_outside_address_that_is_fetched(plain):
    html = embed.page(plain)
    assert not re.search(r"<(link|img|iframe|script)[^>]*(src|href)=", html.replace(embed.bundle(), ""))
    assert "default-src 'none'" in html
    outside = re.findall(r"https?://[^\"'\\\s<>]+", html.replace(embed.bundle(), ""))
    assert set(outside) <= {"https://vega.github.io/schema/vega-lite/v6.4.1.json", plain["map"].to_dict()["$schema"]}


def test_a_chart_with_a_look_of_its_own_keeps_it(plain):
    own = plots.themed(plain["map"], None).configure(background="#123456")
    assert 'data-theme="own"' in embed.figure(own, "a")
    assert "#123456" in embed.figure(own, "a")
    assert 'data-theme="auto"' in embed.figure(plots.themed(plain["map"], "dark"), "a")
    assert 'data-theme="dark"' in embed.figure(plain["map"], "a", theme="dark")


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_every_chart_is_drawn_by_a_browser(hostile, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(embed.page(hostile), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=10000"]
    command = ["chromium", *options, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.stdout.count('data-drawn="yes"') == len(hostile)
    assert "CONSOLE" not in done.stderr


@pytest.mark.parametrize("sizes", [[3, 5, 10], [10, 15, 105]])
def test_sizes_on_an_axis_are_not_rounded(sizes, tmp_path):
    plots.save(plots.plot_profile({"size": sizes, "stability": [0.5, 0.9, 0.8]}), tmp_path / "profile.svg")
    texts = {text.text for text in ElementTree.parse(tmp_path / "profile.svg").iter("{http://www.w3.org/2000/svg}text")}
    assert {str(size) for size in sizes} <= texts


def test_fronts_and_profiles_of_a_study_are_drawn_as_they_are():
    X, y = load_breast_cancer(return_X_y=True)
    candidates = {"anova": hf.Candidates(SelectKBest(), {"k": [2, 5]})}
    bootstraps = hf.Bootstrap(6)
    result = hf.Study(selectors=candidates, perturbation=bootstraps, estimator=GaussianNB()).run(X[:80, :8], y[:80])
    front = result.pareto()
    found = plots.pareto_data(result)
    scores = found.set_index("candidate")["score"].dropna()
    assert scores.to_dict() == pytest.approx(front.frame["score"].dropna().to_dict())
    assert found.set_index("candidate")["on_front"].to_dict() == front.frame["on_front"].to_dict()
    assert plots.plot_pareto(front).to_dict() == plots.plot_pareto(result).to_dict()
    weights = hf.Study(selectors={"ridge": RidgeClassifier()}, perturbation=bootstraps).run(X[:80, :8], y[:80])
    profile = weights.profile("ridge")
    drawn = plots.profile_data(profile)
    np.testing.assert_array_equal(drawn["baseline"], profile.frame["random"])  # undefined where all are selected
    assert drawn.loc[drawn["knot"], "size"].tolist() == profile.knots
    assert plots.plot_profile(profile).to_dict()["layer"]


def test_several_profiles_are_lines_of_one_picture():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 30)), np.arange(60) % 2
    X[:, :4] += 2 * y[:, None]
    selectors = {"f": hf.selectors.AnovaF(), "gain": hf.selectors.InformationGain()}
    candidates = {name: hf.Candidates(selector, sizes=[2, 4], keep="weights") for name, selector in selectors.items()}
    result = hf.Study(selectors=candidates, perturbation=hf.NestedFolds(3, n_inner=3)).run(X, y)
    profiles = [result.profile(name, "jaccard", sizes=[1, 4, 10, 20], fill=True) for name in selectors]
    data = plots.profile_data(profiles)
    assert data.groupby("selector")["size"].apply(list).to_dict() == {"f": [1, 4, 10, 20], "gain": [1, 4, 10, 20]}
    expected = np.concatenate([line.frame["stability"] for line in profiles])
    np.testing.assert_array_equal(data["stability"], expected)
    named = plots.profile_data({"F value": profiles[0], "information gain": profiles[1]})
    assert named["selector"].unique().tolist() == ["F value", "information gain"]
    title = " ".join(plots.plot_profile(profiles).title.text)
    assert "is farthest above chance: " in title
    assert title.endswith(" by chance")
    plain = [result.profile(name, sizes=[1, 4, 10, 20]) for name in selectors]  # 0 by chance
    assert " is the most stable: " in " ".join(plots.plot_profile(plain).title.text)
    with pytest.raises(ValueError, match="Expected one profile of each name, got 2 of 'f'"):
        plots.plot_profile([profiles[0], profiles[0]])


def test_a_limit_of_memory_is_a_sentence_not_the_end_of_the_process(tmp_path):
    resource = pytest.importorskip("resource")
    program = (
        "import holdfast as hf; from holdfast import plots\n"
        "chart = plots.plot_frequencies([[1, 0], [1, 1]])\n"
        f"try: plots.save(chart, {str(tmp_path / 'a.svg')!r})\n"
        "except ValueError as error: print(error)\n"
    )
    limit = 6_000_000_000
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.startswith("Expected memory for drawing pictures, got a limit of 6.0 GB (ulimit -v)")
