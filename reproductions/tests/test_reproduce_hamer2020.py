"""Hamer and Dupont (2020) again: every experiment on made-up data, and verdicts that follow the numbers."""

import math

import numpy as np
import pandas as pd
import pytest

from holdfast.datasets.real import DATASETS, Dataset
from reproductions import Workbench
from reproductions.experiments import load_experiments
from reproductions.hamer2020 import figure1, figure2, table1
from reproductions.hamer2020.curves import Curves
from reproductions.hamer2020.studies import FORCED, GV, MARKED, SHRINKAGES, TABLE_1, WEIGHTS, K
from reproductions.records import Evidence


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
    ("short", "n_claims", "n_pictures"),
    [("table1", 1, 0), ("figure1", 5, 1), ("figure1-intercept", 3, 1), ("figure1-unscaled", 3, 1),
     ("figure2", 4, 1), ("used", 2, 0)],
)  # fmt: skip
def test_every_experiment_has_claims_tables_and_pictures(folder, short, n_claims, n_pictures):
    experiment = load_experiments()[f"hamer2020-{short}"]
    outcome = experiment.run(MadeUp(folder=folder / experiment.name, quick=True))
    assert len(outcome.claims) == n_claims
    assert len(outcome.pictures) == n_pictures
    assert all("alon" in f"{claim.claim} {claim.evidence}" for claim in outcome.claims)
    assert all(claim.evidence.is_defined for claim in outcome.claims)
    kinds = {"table1": "exact", "figure1-intercept": "beyond", "figure1-unscaled": "beyond", "used": "beyond"}
    assert {claim.kind for claim in outcome.claims} == {kinds.get(short, "empirical")}
    assert outcome.tables
    assert all(table.frame.notna().to_numpy().all() for table in outcome.tables)
    assert "20 bootstrap samples" in outcome.protocol
    for picture in outcome.pictures:
        assert "dominates the largest area" in " ".join(picture.chart.title.text)
        assert "alon" in picture.name


def test_studies_are_shared_by_the_experiments(folder):
    stores = sorted(path.name for path in (folder / "hamer2020-studies").glob("*.db"))
    endings = ["", "-intercept", "-unscaled", "-shrinkage", "-sizes", "-pairs"]
    assert {f"hamer2020-alon{ending}-quick.db" for ending in endings} >= set(stores)


def test_published_numbers_and_grids_hang_together():
    assert all(filtered <= features for _, features, filtered in TABLE_1.values())
    assert min(FORCED) == 1  # the paper goes from 0 to k
    assert max(FORCED) < K
    assert set(MARKED) <= set(FORCED)
    assert set(GV.values()) <= set(WEIGHTS)  # so that each curve has its criterion alone as its end
    assert WEIGHTS[-1] == math.inf


def curves(stabilities, scores=(0.8, 0.7, 0.8, 0.7, 0.8, 0.8), spread=0.0, groups=None, score_se=0.02):
    """Two settings of the classic RFE, two of the variance hybrid, one of each other hybrid."""
    names = ["rfe1", "rfe2", "var1", "var2", "gv1", "gv2"]
    frame = pd.DataFrame(
        {"score": scores, "score_se": score_se, "stability": stabilities}, index=pd.Index(names, name="candidate")
    )
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
    gain = own.area_gain("VAR", "RFE", "GV1")  # 0.1 × (0.6 - 0.5)
    assert (gain.low, gain.value, gain.high) == pytest.approx((0.01, 0.01, 0.01))
    noisy, wide = (curves(HYBRIDS_WIN, spread=0.1).area_gain("VAR", "RFE", n_tries=n) for n in (1, 5))
    assert noisy.value == pytest.approx(0.03)
    assert wide.low < noisy.low < noisy.value < noisy.high < wide.high
    assert own.table().loc["VAR", ["best accuracy", "its stability", "largest stability"]].tolist() == [0.8, 0.6, 0.8]


def test_a_line_goes_over_the_area_from_stability_0_down_to_the_lowest_accuracy():
    steps = curves(HYBRIDS_WIN)._steps("VAR")
    assert steps["stability"].tolist() == [0.0, 0.6, 0.8, 0.8]
    assert steps["score"].tolist() == [0.8, 0.8, 0.7, 0.7]


def test_verdicts_of_figure_1_turn_with_the_numbers():
    def verdicts(stabilities, name="alon", **more):
        return [claim.verdict for claim in figure1.judge_hybrids(name, curves(stabilities, **more))]

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
    assert own.near_gain("VAR").value == pytest.approx(-0.3)
    assert figure1.best_pair(own) == ("rfe1", "var1")
    assert figure1.best_pair(curves(HYBRIDS_WIN)) == ("rfe1", "var1")


def test_the_rfe_is_all_its_settings_within_one_standard_error():
    own = curves(HYBRIDS_WIN, scores=(0.8, 0.79, 0.8, 0.7, 0.8, 0.8))
    near = own.near_gain("VAR")
    assert (near.low, near.value, near.high) == pytest.approx((0.2, 0.3, 0.3))  # var1 against rfe2, and rfe1
    assert near.varied.endswith("2 settings of the RFE within one standard error of its best accuracy")
    alone = curves(HYBRIDS_WIN, scores=(0.8, 0.79, 0.8, 0.7, 0.8, 0.8), score_se=0.001).near_gain("VAR")
    assert (alone.low, alone.high) == pytest.approx((0.3, 0.3))


@pytest.mark.parametrize(("ratio", "verdict"), [(0.35, "holds"), (0.45, "does not hold"), (0.25, "does not hold")])
def test_slightly_more_stable_is_neither_less_nor_much_more(ratio, verdict):
    groups = {"RFE": ["rfe1", "rfe2"], "ratio": ["var1"], "variance": ["var2"]}
    own = curves([0.3, 0.4, ratio, 0.9, 0, 0], groups=groups)
    first, second = figure1.judge_criteria("alon", own)
    assert (first.verdict, second.verdict) == (verdict, "holds")
    assert figure1.stabilities(own) == {"RFE": 0.3, "ratio": ratio, "variance": 0.9}


def test_verdicts_of_figure_2_turn_with_the_numbers():
    groups = {"independent": ["rfe1", "rfe2"], "no shrinkage": ["var1"], "shrinkage": ["gv1"]}
    better = curves([0.3, 0, 0.5, 0, 0.6, 0], groups=groups)
    worse = curves([0.6, 0, 0.5, 0, 0.4, 0], groups=groups)
    assert figure2.judge_hybrid("alon", better).verdict == "holds"
    assert figure2.judge_hybrid("alon", worse).verdict == "does not hold"
    gains = {name: own.area_gain("shrinkage", "no shrinkage") for name, own in (("alon", better), ("singh", worse))}
    assert figure2.judge_any("the area", gains).verdict == "holds"  # the paper says that it can
    assert figure2.judge_any("the area", {"singh": gains["singh"]}).verdict == "does not hold"
    points = {"none": ["rfe1"], **dict(zip(map(str, SHRINKAGES), (["rfe2"], ["var1"], ["var2"]), strict=True))}
    assert figure2.gain_at_marked(curves([0.3, 0.2, 0.5, 0.4, 0, 0], groups=points), 1).value == pytest.approx(0.2)


def test_the_printed_size_of_a_filter_must_be_nearly_the_best():
    def verdict(low, high):
        loss = Evidence(value=low, low=low, high=high, varied="redraws", digits=3)
        return table1.judge_size("singh", loss).verdict

    assert [verdict(0.0, 0.01), verdict(0.0, 0.02), verdict(0.011, 0.02)] == ["holds", "open", "does not hold"]
    assert table1.judge_shapes({"alon": (62, 2000)}).verdict == "holds"
    assert table1.judge_shapes({"alon": (62, 1999)}).verdict == "does not hold"
