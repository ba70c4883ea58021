"""Hamer and Dupont (2020) again: every experiment on made-up data, and verdicts that follow the numbers."""

import math

import numpy as np
import pandas as pd
import pytest

from holdfast.datasets.real import DATASETS, Dataset
from reproductions import Workbench
from reproductions.experiments import load_experiments
from reproductions.hamer2020 import figure1, figure2, table1
from reproductions.hamer2020.curves import Curves, Estimate
from reproductions.hamer2020.studies import FORCED, GV, TABLE_1, WEIGHTS, K


class MadeUp(Workbench):
    """Data of the size of alon: some features differ between the classes, some others vary a lot."""

    def available(self, names):
        return ["alon"]

    def load(self, name):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], [22, 40])
        X = rng.normal(size=(62, 2000)) + 1.5 * y[:, None] * (np.arange(2000) < 10)
        X[:, 5:30] *= 4
        frame = pd.DataFrame(X, columns=[f"gene{place}" for place in range(2000)])
        return Dataset(X=frame, y=np.array(["n", "t"])[y], info=DATASETS["alon"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


@pytest.mark.parametrize(
    ("short", "n_checks", "n_pictures"),
    [("table1", 1, 0), ("figure1", 3, 1), ("figure1-intercept", 3, 1), ("criteria", 2, 0), ("figure2", 5, 1)],
)
def test_every_experiment_has_checks_tables_and_pictures(folder, short, n_checks, n_pictures):
    experiment = load_experiments()[f"hamer2020-{short}"]
    outcome = experiment.run(MadeUp(folder=folder / experiment.name, quick=True))
    assert len(outcome.claims) == n_checks
    assert len(outcome.pictures) == n_pictures
    assert all("alon" in check.claim + str(check.evidence) for check in outcome.claims[:n_checks])
    assert outcome.tables
    assert all(table.frame.notna().to_numpy().all() for table in outcome.tables)
    assert "20 bootstrap samples" in outcome.protocol
    for picture in outcome.pictures:
        assert "dominates the largest area" in " ".join(picture.chart.title.text)
        assert "alon" in picture.name


def test_studies_are_shared_by_the_experiments(folder):
    stores = sorted(path.name for path in (folder / "hamer2020-studies").glob("*.db"))
    endings = ["", "-intercept", "-shrinkage", "-sizes"]
    assert {f"hamer2020-alon{ending}-quick.db" for ending in endings} >= set(stores)


def test_published_numbers_and_grids_hang_together():
    assert all(filtered <= features for _, features, filtered in TABLE_1.values())
    assert max(FORCED) < K
    assert set(figure2.MARKED) <= set(FORCED)
    assert set(GV.values()) <= set(WEIGHTS)  # so that each curve has its criterion alone as its end
    assert WEIGHTS[-1] == math.inf


def curves(stabilities, scores=(0.8, 0.7, 0.8, 0.7, 0.8, 0.8), spread=0.0, groups=None):
    """Two settings of the classic RFE, two of the variance hybrid, one of each other hybrid."""
    names = ["rfe1", "rfe2", "var1", "var2", "gv1", "gv2"]
    frame = pd.DataFrame({"score": scores, "stability": stabilities}, index=pd.Index(names, name="candidate"))
    noise = np.random.default_rng(0).normal(0, spread, (50, 1))
    return Curves(
        frame=frame,
        groups=groups or {"RFE": names[:2], "VAR": names[2:4], "GV1": ["gv1"], "GV2": ["gv2"], "N = k": names[4:]},
        scores=np.tile(frame["score"].to_numpy(), (50, 1)),
        stabilities=frame["stability"].to_numpy() + noise * np.array([0, 0, 1, 1, 1, 1]),
    )


HYBRIDS_WIN = [0.3, 0.4, 0.6, 0.8, 0.5, 0.4]
RFE_WINS = [0.7, 0.9, 0.6, 0.8, 0.5, 0.4]


def test_areas_and_their_differences():
    own = curves(HYBRIDS_WIN)
    assert own.reference == (0.7, 0.0)
    assert own.area_gain("VAR", "RFE", "GV1") == pytest.approx(Estimate(0.01, 0.01, 0.01))  # 0.1 × (0.6 - 0.5)
    noisy = curves(HYBRIDS_WIN, spread=0.1).area_gain("VAR", "RFE")
    assert noisy.value == pytest.approx(0.03)
    assert noisy.low < noisy.value < noisy.high
    assert own.table().loc["VAR", ["best accuracy", "its stability", "largest stability"]].tolist() == [0.8, 0.6, 0.8]


def test_verdicts_of_figure_1_turn_with_the_numbers():
    def verdicts(stabilities, name="alon", **more):
        return [check.verdict for check in figure1.check_hybrids(name, curves(stabilities, **more))]

    assert verdicts(HYBRIDS_WIN) == ["holds"] * 3
    assert verdicts(RFE_WINS) == ["does not hold", "does not hold", "holds"]
    assert verdicts(HYBRIDS_WIN, spread=1.0)[:2] == ["open"] * 2
    assert verdicts(HYBRIDS_WIN, name="borovecki")[2] == "does not hold"  # there, all forced must be best
    # as good as GV1, of which it is part, is not better
    assert verdicts([0.3, 0.4, 0.6, 0.8, 0.9, 0.4], name="borovecki")[2] == "does not hold"


def test_a_setting_of_the_rfe_that_no_hybrid_matches_is_not_dominated():
    own = curves(HYBRIDS_WIN, scores=(0.9, 0.7, 0.8, 0.7, 0.8, 0.8))
    scores, stabilities = own.frame["score"].to_numpy(), own.frame["stability"].to_numpy()
    assert figure1.least_gain(own, scores, stabilities) == pytest.approx(-0.3)
    assert figure1.near_gain(own, "VAR").value == pytest.approx(-0.3)
    assert figure1.best_pair(own) == ("rfe1", "var1")
    assert figure1.best_pair(curves(HYBRIDS_WIN)) == ("rfe1", "var1")


@pytest.mark.parametrize(("ratio", "verdict"), [(0.35, "holds"), (0.45, "does not hold"), (0.25, "does not hold")])
def test_slightly_more_stable_is_neither_less_nor_much_more(ratio, verdict):
    groups = {"RFE": ["rfe1", "rfe2"], "ratio": ["var1"], "variance": ["var2"]}
    own = curves([0.3, 0.4, ratio, 0.9, 0, 0], groups=groups)
    first, second = figure1.check_criteria("alon", own)
    assert (first.verdict, second.verdict) == (verdict, "holds")
    assert figure1.stabilities(own) == {"RFE": 0.3, "ratio": ratio, "variance": 0.9}


def test_verdicts_of_figure_2_turn_with_the_numbers():
    groups = {"independent": ["rfe1", "rfe2"], "no shrinkage": ["var1"], "shrinkage": ["gv1"]}
    better = curves([0.3, 0, 0.5, 0, 0.6, 0], groups=groups)
    worse = curves([0.6, 0, 0.5, 0, 0.4, 0], groups=groups)
    assert figure2.check_hybrid("alon", better).verdict == "holds"
    assert figure2.check_hybrid("alon", worse).verdict == "does not hold"
    gains = {name: figure2.area_by_shrinkage(own) for name, own in (("alon", better), ("singh", worse))}
    assert figure2.check_some("the area", gains).verdict == "holds"  # the paper says that it can
    assert figure2.check_some("the area", {"singh": gains["singh"]}).verdict == "does not hold"
    first = curves([0.3, 0, 0.5, 0, 0.6, 0], groups={"no shrinkage": ["rfe1", "rfe2"], "first": ["var1"]})
    assert figure2.area_by_first(first).value == pytest.approx(0.02)  # 0.1 × (0.5 - 0.3)
    points = {"none": ["rfe1"], "0.1": ["rfe2"], "0.3": ["var1"], "0.6": ["var2"]}
    assert figure2.gain_at_marked(curves([0.3, 0.2, 0.5, 0.4, 0, 0], groups=points), 1).value == pytest.approx(0.2)


def test_the_printed_size_of_a_filter_must_be_nearly_the_best():
    accuracy = pd.Series({100: 0.9, 1250: 0.895, 12600: 0.8})
    assert table1.check_size("singh", accuracy).verdict == "holds"
    spoiled = table1.check_size("singh", accuracy.replace(0.895, 0.85))
    assert spoiled.verdict == "does not hold"
    assert str(spoiled.evidence) == "0.850 at 1250; the best is 0.900 at 100"
    assert table1.check_shape("alon", 62, 1999).verdict == "does not hold"
