"""A study stores the order of a fit once: sizes are cuts of it, also sizes that no candidate has."""

import sqlite3
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast import selectors
from holdfast.study import StoreError, UnansweredError
from holdfast.study.families import Family
from study_parts import X, Y, assert_same, run_with_failures, selected_names

SIZES = [2, 3, 5]
OURS = [
    selectors.AnovaF(), selectors.MRMR(), selectors.ReliefF(), selectors.HybridRFE(), selectors.SVMRFE(),
    selectors.ElasticNetPath(), selectors.InformationGain(),
]  # fmt: skip
OTHERS = [RandomForestClassifier(10), RFE(LogisticRegression(), n_features_to_select=1)]


def study(selector, perturbation=None, **more):
    options = {key: more.pop(key) for key in ("estimator", "scoring", "device") if key in more}
    candidates = hf.Candidates(selector, **{"sizes": SIZES, **more})
    return hf.Study(selectors={"a": candidates}, perturbation=perturbation or hf.Bootstrap(6), **options)


def sets_of_size(selector, size, perturbation=None):
    """What a study finds that knows this size alone."""
    return selected_names(run_with_failures(study(selector, perturbation, sizes=size, keep="selected"), X, Y), "a")


def named(runs):
    """The names of the features that each run selected."""
    return [set(runs.selected(run)) for run in range(runs.n_runs)]


@pytest.mark.parametrize("selector", [*OURS, *OTHERS], ids=lambda selector: type(selector).__name__)
def test_every_size_is_what_a_fit_of_that_size_selects(selector):
    result = run_with_failures(study(selector), X, Y)
    for size in SIZES:
        assert selected_names(result, f"a(size={size})") == sets_of_size(selector, size)
    assert (result.stored.outcomes["preference"].isna()).all()
    assert len(result.stored.orders) == 6


@pytest.mark.parametrize("selector", [*OURS, *OTHERS], ids=lambda selector: type(selector).__name__)
def test_a_stored_order_answers_for_sizes_that_no_candidate_has(selector):
    result = run_with_failures(study(selector, keep="order"), X, Y)
    for size in (1, 4, 7):
        top = result.preferences("a(size=3)", top=size)
        assert named(top) == sets_of_size(selector, size)
        assert result.stability("a(size=3)", top=size).n_runs == 6


@pytest.mark.parametrize(
    "perturbation",
    [hf.NestedFolds(3, 2), hf.NestedSubsamples(2), hf.ComplementaryPairs(3), hf.Folds(3), hf.Noise(3)],
    ids=lambda perturbation: type(perturbation).__name__,
)
def test_orders_serve_every_design(perturbation):
    result = run_with_failures(study(selectors.AnovaF(), perturbation), X, Y)
    assert selected_names(result, "a(size=3)") == sets_of_size(selectors.AnovaF(), 3, perturbation)
    if not isinstance(perturbation, hf.Noise):  # rows that are changed are fitted one by one, size by size
        assert result.stability("a(size=5)", top=3).value == pytest.approx(result.stability("a(size=3)").value)


def test_by_default_the_order_reaches_to_the_largest_size_of_a_candidate():
    result = run_with_failures(study(selectors.AnovaF(), sizes=5), X, Y)
    assert named(result.preferences("a", top=4)) == sets_of_size(selectors.AnovaF(), 4)
    with pytest.raises(
        UnansweredError, match=r"a hold for 1 to 5 features, not for 6; run it with hf.Candidates\(…, keep="
    ):
        result.stability("a", top=6)
    elimination = run_with_failures(study(selectors.HybridRFE(), sizes=[3, 5]), X, Y)
    assert elimination.stability("a(size=5)", top=4).value == elimination.stability("a(size=3)", top=4).value
    with pytest.raises(UnansweredError, match="hold for 3 to 5 features, not for 2"):
        elimination.stability("a(size=5)", top=2)
    with pytest.raises(ValueError, match="Expected a number of features of at least 1, got 0"):
        result.stability("a", top=0)


def test_selected_features_alone_are_stored_on_demand():
    result = run_with_failures(study(selectors.AnovaF(), keep="selected"), X, Y)
    assert result.stored.orders.empty
    assert_same_sets(result, run_with_failures(study(selectors.AnovaF()), X, Y))
    with pytest.raises(UnansweredError, match=r"a.size=3. has no order of features in the store"):
        result.stability("a(size=3)", top=2)
    with pytest.raises(ValueError, match="Expected keep='order', 'weights' or 'selected', or nothing, got 'all'"):
        hf.Candidates(selectors.AnovaF(), keep="all")


def assert_same_sets(one, other):
    assert one.candidates == other.candidates
    assert all(selected_names(one, name) == selected_names(other, name) for name in one.candidates)


@pytest.mark.parametrize("design", [hf.Bootstrap(8), hf.NestedFolds(3, 3)], ids=["bootstrap", "nested folds"])
def test_weights_serve_measures_of_weights_and_rankings(design):
    result = run_with_failures(study(selectors.AnovaF(), design, keep="weights"), X, Y)
    bare = run_with_failures(hf.Study(selectors={"a": WeightsOnly()}, perturbation=design), X, Y)
    for measure in ("weight_correlation", "spearman"):
        expected = bare.stability("a", measure).value
        assert result.stability("a(size=3)", measure).value == pytest.approx(expected, abs=1e-6)
    weights = result.preferences("a(size=3)", kind="weighting")
    assert weights.matrix() == pytest.approx(bare.preferences("a").matrix(), rel=1e-6)
    assert hf.inference.kalousis(weights, 3).to_frame()["value"].notna().all()
    with pytest.raises(UnansweredError, match=r'only selections; run it with hf.Candidates\(…, keep="weights"\)'):
        run_with_failures(study(selectors.AnovaF()), X, Y).stability("a(size=3)", "spearman")


@pytest.mark.parametrize("design", [hf.Bootstrap(8), hf.NestedFolds(8, 3)], ids=["bootstrap", "nested folds"])
def test_stored_weights_are_compared_and_chosen_by(design):
    families = {"f": selectors.AnovaF(), "gain": selectors.InformationGain()}
    candidates = {name: hf.Candidates(selector, sizes=[2, 4], keep="weights") for name, selector in families.items()}
    result = run_with_failures(
        hf.Study(selectors=candidates, perturbation=design, estimator=KNeighborsClassifier(3)), X, Y
    )
    names = ["f(size=2)", "gain(size=2)"]
    for measure, options in (("spearman", {}), ("spearman", {"ties": "random"}), ("weight_correlation", {})):
        compared = result.compare(names, measure, **options)
        for name in names:
            assert compared.estimates[name].value == pytest.approx(result.stability(name, measure, **options).value)
        several = hf.study.compare_studies({"one": result}, names, measure, **options)
        assert several.estimates[names[0]].value == compared.estimates[names[0]].value
    chosen = result.choose("accuracy", measure="spearman")
    assert chosen.stability == result.stability(chosen.candidate, "spearman").value
    assert chosen.probabilities["probability"].sum() == pytest.approx(1)


@pytest.mark.parametrize("design", [hf.Bootstrap(8), hf.NestedFolds(3, 3)], ids=["bootstrap", "nested folds"])
def test_weights_ranks_and_subsets_are_measured_together_in_every_design(design):
    result = run_with_failures(study(selectors.InformationGain(), design, keep="weights"), X, Y)
    three = result.kalousis("a(size=3)", ties="random")
    assert three.weights.value == result.stability("a(size=3)", "weight_correlation").value
    assert three.ranks.value == result.stability("a(size=3)", "spearman", ties="random").value
    assert three.subsets.value == result.stability("a(size=3)", "jaccard").value
    assert result.kalousis("a(size=3)", 2).subsets.value == result.stability("a(size=2)", "jaccard").value
    if design.design == "nested_folds":
        folds = result.runs_by_block("a(size=3)", kind="weighting")
        inside = [
            hf.inference.kalousis(folds.runs.take(np.array(folds.blocks) == block), 3, ties="random")
            for block in range(3)
        ]
        assert three.weights.value == pytest.approx(np.mean([estimates.weights.value for estimates in inside]))
    eliminated = run_with_failures(study(selectors.SVMRFE(), design, keep="order"), X, Y).kalousis("a(size=3)")
    assert eliminated.weights is None
    assert len(eliminated.to_frame()) == 2
    assert eliminated.plot().to_dict()["layer"]


class WeightsOnly(BaseEstimator):
    """F values without a selection."""

    def fit(self, X, y):
        self.scores_ = f_classif(X, y)[0]
        return self


def test_a_profile_needs_no_candidates_of_its_sizes():
    several = run_with_failures(study(selectors.AnovaF(), sizes=[1, 2, 3, 4]), X, Y).profile("a")
    one = run_with_failures(study(selectors.AnovaF(), sizes=4), X, Y).profile("a")
    columns = ["size", "stability", "low", "high", "entering"]
    assert one.frame[columns].equals(several.frame[columns])
    chosen = run_with_failures(study(selectors.AnovaF(), sizes=[2, 4]), X, Y).profile("a", sizes=[1, 3])
    assert chosen.frame["stability"].tolist() == several.frame["stability"].iloc[[0, 2]].tolist()


def test_sizes_that_are_added_later_leave_the_first_ones_as_they_were(tmp_path):
    for selector in (selectors.AnovaF(), selectors.HybridRFE()):
        store = tmp_path / f"{type(selector).__name__}.db"
        run_with_failures(study(selector, sizes=[3, 5]), X, Y, store=store)
        grown = run_with_failures(study(selector, sizes=[2, 3, 5, 7]), X, Y, store=store)
        at_once = run_with_failures(study(selector, sizes=[2, 3, 5, 7]), X, Y)
        assert {name: selected_names(grown, name) for name in at_once.candidates} == {
            name: selected_names(at_once, name) for name in at_once.candidates
        }
        more = run_with_failures(study(selector, hf.Bootstrap(9), sizes=[2, 3, 5, 7]), X, Y, store=store)
        assert selected_names(more, "a(size=5)")[:6] == selected_names(at_once, "a(size=5)")


def test_a_lost_order_is_noticed_and_made_again(tmp_path):
    store = tmp_path / "s.db"
    whole = run_with_failures(study(selectors.AnovaF()), X, Y, store=store)
    connection = sqlite3.connect(store)
    with connection:
        connection.execute("DELETE FROM orders WHERE split = 2")
    connection.close()
    with pytest.raises(StoreError, match=r"is damaged .*orders lost"):
        hf.load_study(store)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mended = study(selectors.AnovaF()).run(X, Y, store=store)
    assert_same(mended, whole)


# Models


def test_fast_models_are_part_of_the_plan_and_give_the_same_scores(tmp_path):
    model = {"estimator": KNeighborsClassifier(3), "scoring": ["accuracy", "neg_log_loss", "roc_auc"]}
    plan = study(selectors.AnovaF(), **model)
    fast = run_with_failures(plan, X, Y, store=tmp_path / "s.db")
    slow_plan = hf.Study(selectors=plan.selectors, perturbation=plan.perturbation, fast_models=False, **model)
    slow = run_with_failures(slow_plan, X, Y)
    assert np.allclose(fast.scores.iloc[:, 2:], slow.scores.iloc[:, 2:], rtol=1e-12, atol=0)
    assert all(fast.predictions(name).equals(slow.predictions(name)) for name in fast.candidates)
    assert (fast.plan["model_fits"], slow.plan["model_fits"]) == ("identical", "scikit-learn")
    with pytest.raises(StoreError, match="model_fits was 'identical' and is now 'scikit-learn'"):
        slow_plan.run(X, Y, store=tmp_path / "s.db")
    with pytest.raises(ValueError, match="Expected fast_models True, 'identical' or False, got 'fast'"):
        hf.Study(selectors=selectors.AnovaF(), fast_models="fast")


def test_tables_of_few_digits_and_sparse_ones_are_left_to_scikit_learn():
    plan = study(selectors.AnovaF(), estimator=KNeighborsClassifier(3))
    assert run_with_failures(plan, X.astype(np.float32), Y).plan["model_fits"] == "scikit-learn"
    assert run_with_failures(plan, sp.csr_matrix(X.to_numpy()), Y).plan["model_fits"] == "scikit-learn"
    assert run_with_failures(plan, X.to_numpy(), Y).plan["model_fits"] == "identical"


def test_a_model_that_is_fitted_to_the_optimum_is_said_to_be():
    model = LogisticRegression(C=0.5)
    fast = run_with_failures(study(selectors.AnovaF(), estimator=model), X, Y)
    assert fast.plan["model_fits"] == "optimum"
    exact = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000)
    plan = study(selectors.AnovaF())
    slow = run_with_failures(hf.Study(selectors=plan.selectors, perturbation=plan.perturbation, estimator=exact,
                            fast_models="identical"), X, Y)  # fmt: skip
    assert slow.plan["model_fits"] == "scikit-learn"
    assert fast.scores.equals(slow.scores)


def test_models_on_a_device_score_as_those_on_the_processor():
    pytest.importorskip("torch")
    for model in (LogisticRegression(C=0.5), make_pipeline(StandardScaler(), LogisticRegression())):
        plan = study(selectors.AnovaF(), estimator=model, scoring=["accuracy", "neg_log_loss"])
        here = run_with_failures(plan, X, Y)
        there = run_with_failures(replace(plan, device="torch"), X, Y)
        assert there.plan["device"] == "torch"
        assert np.allclose(there.scores.iloc[:, 2:], here.scores.iloc[:, 2:], rtol=1e-7, atol=0)


def test_a_device_that_is_not_there_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match="needs torch, which is not installed"):
        study(selectors.AnovaF(), estimator=LogisticRegression(), device="cuda").run(X, Y)
    with pytest.raises(ValueError, match="Expected device='cpu', 'cuda' or 'torch', got 'tpu'"):
        study(selectors.AnovaF(), device="tpu")


@pytest.mark.slow
def test_a_time_limit_fits_the_sizes_of_one_order_together():
    plan = study(selectors.HybridRFE(), hf.Bootstrap(2), sizes=[3, 5])
    (family,) = plan.families
    assert family.part_by_fit([0, 1]) == [(0, 1)]
    assert_same(run_with_failures(plan, X, Y, time_limit=120), run_with_failures(plan, X, Y))
    grid = hf.Candidates(selectors.HybridRFE(), {"C": [1, 2], "n_features": [3, 5]})
    (family,) = hf.Study(selectors={"a": grid}).families
    assert family.part_by_fit([0, 1, 3]) == [(0, 1), (3,)]
    (family,) = hf.Study(selectors={"a": hf.Candidates(RandomForestClassifier(), {"max_depth": [1, 2]})}).families
    assert family.part_by_fit([0, 1]) == [(0,), (1,)]


def test_settings_that_look_alike_have_orders_of_their_own():
    first, second = np.arange(2000.0), np.arange(2000.0)
    second[1000] = 1e6
    assert repr(first) == repr(second)
    grid = hf.Candidates(selectors.HybridRFE(), {"criterion": [first, second]})
    (family,) = hf.Study(selectors={"a": hf.Candidates(selectors.HybridRFE(), {"criterion": [first]})}).families
    assert len(family.orderings) == 1
    orderings = Family("a", grid).orderings
    assert [ordering.fitted for ordering in orderings] == [[0], [1]]
