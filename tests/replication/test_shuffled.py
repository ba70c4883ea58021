"""Which features are real: halves with shuffled targets, what they say of each feature, and when nothing is said."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, SelectorMixin
from sklearn.linear_model import LogisticRegression

import holdfast as hf
from holdfast.replication import Replicability
from holdfast.replication.result import CORNERS, name_corner
from holdfast.replication.running import SHUFFLED_PAIRS, select_on_shuffled
from holdfast.resampling import SplitHalves
from holdfast.resampling.shuffles import TargetShuffles
from holdfast.study.data import prepare_data, take_data


def draw(n=100, d=60, effect=1.2, real=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + np.where(np.arange(d) < real, effect * y[:, None], 0), y


@pytest.fixture(scope="module")
def found():
    return hf.replicability(hf.selectors.AnovaF(8), *draw(), n_pairs=25, n_shuffles=20)


def test_real_features_are_told_from_chance(found):
    frame = found.frame.set_index("column")
    assert set(frame.index[frame["q"] <= 0.1]) == {0, 1, 2, 3}
    assert (frame.loc[:3, "expected_false"] < 0.5).all()
    assert (frame["by_habit"] < 0.3).all()
    assert found.shuffled.p_any == pytest.approx(1 / 21)
    assert found.real_sentence == (
        "4 of your 8 features come back so much more often than with a shuffled target that at most one in ten of such "
        "features is expected to have nothing to do with the target (q ≤ 0.1)."
    )
    assert found.real_sentence in repr(found)
    assert found.corners.count("real and found again") == 4


def test_every_feature_can_be_asked_for(found):
    table = found.errors_of([0, 59, 3])
    assert table["q"].tolist()[::2] == found.frame.set_index("column").loc[[0, 3], "q"].tolist()
    assert table["expected_false"].max() <= found.n_features
    assert found.errors_of([]).empty


def test_answers_survive_as_plain_values(found):
    again = Replicability.from_dict(found.to_dict())
    pd.testing.assert_frame_equal(again.frame, found.frame)
    assert (again.shuffled, again.real_sentence) == (found.shuffled, found.real_sentence)


@pytest.mark.parametrize("selector", [hf.selectors.AnovaF(8), SelectKBest(k=8)], ids=["ours", "another's"])
def test_halves_of_a_shuffled_target_are_selected_without_a_store_as_with_one(selector):
    X, y = draw()
    plan, data = hf.Study({"anova": hf.Candidates(selector, sizes=[8])}), prepare_data(X, y, None, (), None, None)
    bound = SplitHalves(SHUFFLED_PAIRS).bind(data.X, data.y, None, 0)
    shared = plan, take_data(X, y, None), data, TargetShuffles.plan(data.y, None, None), bound
    alone, stored = (select_on_shuffled(*shared, top, {"n_jobs": 1}, 3) for top in (None, 8))
    assert alone.n_runs == stored.n_runs == 2 * SHUFFLED_PAIRS
    for ours, theirs in zip(alone.lists(), stored.lists(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_shuffles_depend_on_the_seed_only(found):
    options = {"n_pairs": 25, "n_shuffles": 20}
    again = hf.replicability(hf.selectors.AnovaF(8), *draw(), n_jobs=2, **options)
    assert again.shuffled == found.shuffled
    other = hf.replicability(hf.selectors.AnovaF(8), *draw(), random_state=1, **options)
    assert other.shuffled != found.shuffled


def test_progress_is_reported_for_shuffles_too():
    seen = []
    hf.replicability(hf.selectors.AnovaF(8), *draw(), n_pairs=10, n_shuffles=3, progress=seen.append)
    assert [(step.done, step.total) for step in seen[-3:]] == [(20, 60), (40, 60), (60, 60)]


def test_a_selector_that_chooses_its_own_size_gets_no_answer_but_the_reason():
    lasso = hf.selectors.ElasticNetCV(3, rule="min")
    found = hf.replicability(lasso, *draw(effect=1.5, real=10), n_pairs=10, n_shuffles=4)
    assert "fix the number of features that the selector takes and ask again" in found.shuffled.reason
    assert found.real_sentence.startswith(
        f"How many of your {found.n_selected} features are false is not known: with a"
    )
    assert found.frame[["by_habit", "expected_false", "q"]].isna().all(axis=None)
    assert np.isnan(found.shuffled.p_any)


class Moody(SelectorMixin, BaseEstimator):
    """Fails unless the target is as it was."""

    def __init__(self, target=None):
        self.target = target

    def fit(self, X, y):
        if not np.isin(X[:, 0] + 10 * y, self.target).all():
            raise ValueError("Expected the true target.")
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) < 3


def test_fits_that_fail_with_shuffled_targets_are_a_reason():
    X, y = draw()
    found = hf.replicability(Moody(X[:, 0] + 10 * y), X, y, n_pairs=10, n_shuffles=4)
    assert found.shuffled.reason == "with a shuffled target the selector could be fitted in only 0 of 4 cases"


def test_rows_of_a_patient_are_shuffled_together():
    few = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        patients = np.repeat(np.arange(20), 3)
        X = rng.normal(size=(20, 80))[patients] + 0.2 * rng.normal(size=(60, 80))
        y = rng.permutation(np.arange(20) % 2)[patients]
        found = hf.replicability(hf.selectors.AnovaF(8), X, y, groups=patients, n_pairs=10, n_shuffles=10)
        few.append((found.frame["q"] <= 0.1).sum())
    assert np.mean(few) <= 1


def test_covariates_are_kept_or_nothing_is_said():
    X, y = draw()
    frame = pd.DataFrame(X).set_axis([f"f{column}" for column in range(60)], axis=1)
    study = {"selectors": [hf.selectors.AnovaF(8)], "estimator": LogisticRegression(), "covariates": ["age"]}
    for age, known in ((np.arange(100.0), False), (np.arange(100) // 50, True)):
        found = hf.replicability(hf.Study(**study), frame.assign(age=age), y, n_pairs=10, n_shuffles=10)
        assert (found.shuffled.reason is None) is known
        assert found.frame["q"].notna().all() == known


def test_three_classes_and_numbers_have_answers():
    X, y = draw(n=120)
    by_class = hf.replicability(hf.selectors.AnovaF(8), X, np.arange(120) % 3, n_pairs=10, n_shuffles=10)
    assert by_class.frame["q"].between(1 / 11, 1).all()
    numbers = X[:, :3].sum(axis=1) + np.random.default_rng(1).normal(size=120)
    from sklearn.feature_selection import f_regression

    by_number = hf.replicability(SelectKBest(f_regression, k=6), X, numbers, n_pairs=10, n_shuffles=10)
    assert (by_number.frame.set_index("column").loc[:2, "q"] <= 0.2).all()
    assert y.size == 120


def test_a_study_of_split_halves_takes_shuffled_targets_from_its_store(tmp_path):
    X, y = draw()
    study = hf.Study({"anova": hf.selectors.AnovaF(8)}, hf.resampling.SplitHalves(10))
    result = study.run(X, y, store=tmp_path / "s.db")
    assert result.replicability("anova").shuffled is None
    found = hf.replicability(result, X, y, n_pairs=10, n_shuffles=10)
    again = hf.study.load_study(tmp_path / "s.db").replicability("anova")
    assert again.shuffled == found.shuffled
    assert again.real_sentence.startswith("3 of your 8 features come back")


@pytest.mark.parametrize(
    ("row", "corner"),
    [
        ((0.02, 0.9, 1.0, 0.0), 0), ((0.1, 0.2, 0.4, 0.0), 1), ((1.0, 0.9, 1.0, 0.9), 2), ((0.5, 0.6, 0.7, 0.1), 3),
        ((1.0, 0.1, 0.2, 0.2), 3),
    ],
)  # fmt: skip
def test_four_words_name_the_corners(row, corner):
    assert name_corner(*row) == CORNERS[corner]


def test_what_is_not_known_has_no_word():
    assert name_corner(np.nan, 0.9, 1.0, 0.0) == ""


def test_lists_features_and_exports_have_q(found):
    X, y = draw()
    study = hf.Study({"anova": hf.selectors.AnovaF(8)}, hf.Bootstrap(10))
    result = study.run(X, y)
    checked = hf.check_features([0, 59, "never"], result, X=X, y=y)
    assert checked["q"].notna().tolist() == [True, True, False]
    assert checked["q"].iloc[0] <= 0.1 < checked["q"].iloc[1]
    assert checked.attrs["real"].startswith("1 of your 2 features comes back so much more often")
    assert hf.check_features(["never"], result).attrs["real"] == ""
