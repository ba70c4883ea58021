"""Survival times: every form of the target, selectors, a study from a file to its report, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast import plots
from holdfast import selectors as of
from holdfast.kernels.survival_curves import curves_by_group, kaplan_meier
from holdfast.models import MODELS, SCORES, CoxRidge
from holdfast.models.scores import score_survival
from holdfast.plots.survival import frame_curves
from holdfast.report import summarize
from holdfast.selectors import SELECTORS
from holdfast.study.store.opening import verify
from holdfast.targets import SURVIVAL, Target, read_survival


def make(n=90, d=12, seed=0, signal=0.9):
    """Features of which the first three raise the hazard, with times and events."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    time, end = rng.exponential(np.exp(-signal * X[:, :3].sum(axis=1))), rng.exponential(1.5, size=n)
    return X, hf.survival(np.minimum(time, end), time <= end)


# The target


def forms():
    """The same target in every form that is known."""
    time, event = np.array([306.0, 1010, 5]), np.array([True, False, True])
    swapped = np.array([(6, True), (7, False)], dtype=[("t", float), ("dead", bool)])
    return {
        "structured": (np.array([*zip(event, time, strict=True)], dtype=[("cens", bool), ("t", float)]), time, event),
        "swapped fields": (swapped, [6, 7], [True, False]),
        "frame": (pd.DataFrame({"days": time, "status": event.astype(int)}), time, event),
        "array": (np.column_stack([event, time]), time, event),
        "R's coding": (pd.DataFrame({"status": event + 1, "days": time}), time, event),
        "texts of Surv": (np.array(["306", "1010+", " 5 "]), time, event),
        "list of texts": (["306", "1010+", "5"], time, event),
    }


@pytest.mark.parametrize("form", forms())
def test_every_form_of_the_target_is_read(form):
    y, time, event = forms()[form]
    found = read_survival(y)
    assert found.dtype == SURVIVAL
    np.testing.assert_array_equal(found["time"], time)
    np.testing.assert_array_equal(found["event"], event)


@pytest.mark.parametrize(
    "y", [["a", "b"], [1.5, 2.5], np.array([[0.5, 1.0, 2.0]]), ["1+", "x"], np.array([1, 0]), pd.Series(["3", "5"])]
)
def test_other_targets_are_none_of_survival_times(y):
    assert read_survival(y) is None


@pytest.mark.parametrize(
    ("time", "event", "sentence"),
    [
        ([1, 2], [0, 0], "Expected events in the target, got censored rows only"),
        ([1, -2], [0, 1], "Expected times of 0 or more, from the start of observation, got -2 in row 1"),
        ([1, np.nan], [0, 1], "Expected finite times, got nan in row 1"),
        ([1, 2, 3], [0, 1, 2], "got 3 values .0, 1, 2.; a status of several kinds of events .competing risks."),
        ([1, 2], [0, None], "Expected an event for each row, got none in row 1"),
        ([1, 2], [0, 1, 1], "Expected one event for each of 2 times, got 3"),
        (["a", "b"], [0, 1], "Expected numbers as times, got 'a' first"),
        ([[1, 2]], [0, 1], "Expected one time for each row"),
    ],
)
def test_what_is_no_survival_time_is_refused(time, event, sentence):
    with pytest.raises(ValueError, match=sentence):
        hf.survival(time, event)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (np.zeros(3, [("start", float), ("stop", float), ("event", bool)]), "left truncation"),
        (np.zeros(3, [("a", float), ("b", float)]), "Expected one field of booleans"),
        (pd.DataFrame({"a": [0, 1], "b": [1, 0]}), "two columns of 0 and 1"),
        (pd.DataFrame({"days": [3, 4, 5], "status": [0, 1, 2]}), "competing risks"),
    ],
)
def test_targets_that_cannot_be_are_refused_by_a_study(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        hf.Study(selectors={"s": of.CoxScore(2)}).run(np.eye(len(y)), y)


def test_strata_are_numbered_and_resamples_are_stratified_by_event():
    y = hf.survival([1, 2, 3], [1, 0, 1], ["b", "a", "b"])
    assert y["stratum"].tolist() == [1, 0, 1]
    assert Target.of(y, classes=False).strata.tolist() == [1, 0, 1]
    X, y = make(60)
    study = hf.Study(selectors={"s": of.CoxScore(2)}, perturbation=hf.Bootstrap(5, stratify=True)).run(X, y)
    for split in range(5):
        rows = hf.Bootstrap(5, stratify=True).make_split(split, hf.resampling.Samples.of(60, y["event"]), 0).train
        assert y["event"][rows].sum() == y["event"].sum()
    assert study.task == "survival"


# Selectors


KINDS = [of.CoxScore(2), of.CoxConcordance(2), of.CoxLasso(n_features=2), of.CoxLasso(0.05), of.Variance(2)]


@pytest.mark.parametrize("selector", KINDS, ids=str)
def test_many_fits_equal_single_ones(selector):
    X, y = make(d=30)
    splits = [hf.Bootstrap(4).make_split(index, hf.resampling.Samples.of(len(y)), 3) for index in range(4)]
    found = list(selector.refit_many(selector.prepare(X, y, [{}]), X, y, splits, [{}]))
    for split, (selection,) in zip(splits, found, strict=True):
        fitted = clone(selector).set_params(random_state=split.seed).fit(*split.data(X, y))
        assert selection.values.tolist() == np.flatnonzero(fitted.get_support()).tolist()


@pytest.mark.parametrize("selector", KINDS[:4], ids=str)
def test_selectors_find_what_raises_the_hazard_and_refuse_classes(selector):
    X, y = make(200, 12)
    fitted = clone(selector).fit(pd.DataFrame(X).add_prefix("x"), y)
    assert {"x0", "x1", "x2"} >= set(fitted.get_feature_names_out()[:2])
    with pytest.raises(ValueError, match="Expected survival times"):
        clone(selector).fit(X, np.arange(200) % 2)
    with pytest.raises(ValueError, match="survival times; selectors for these are CoxScore"):
        of.AnovaF(2).fit(X, y)


def test_repeated_rows_are_weights():
    X, y = make()
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    for selector in (of.CoxScore(3), of.CoxConcordance(3)):
        weighted = clone(selector).fit(X, y, sample_weight=counts).scores_
        np.testing.assert_allclose(weighted, clone(selector).fit(X[rows], y[rows]).scores_, rtol=1e-9, atol=1e-9)


# A study


def run(**options):
    """A small study of three selectors."""
    X, y = make()
    selectors = {
        "cox_score": hf.Candidates(of.CoxScore(), sizes=[2, 4]),
        "cox_lasso": hf.Candidates(of.CoxLasso(), sizes=[3]),
        "variance": hf.Candidates(of.Variance(), sizes=[3]),
    }
    estimator = MODELS["linear"].make(task="survival")
    return hf.Study(selectors=selectors, perturbation=hf.Bootstrap(12), estimator=estimator, **options).run(X, y)


def scores_of(result, candidate):
    """The concordance of a candidate on each split."""
    return result.scores.loc[result.scores["candidate"] == candidate, "concordance"].to_numpy()


def test_models_in_blocks_are_those_fitted_one_by_one():
    fast, slow = run(), run(fast_models=False)
    for candidate in fast.candidates:
        np.testing.assert_allclose(scores_of(fast, candidate), scores_of(slow, candidate), rtol=1e-9)
        predicted = fast.predictions(candidate)
        np.testing.assert_allclose(predicted["predicted"], slow.predictions(candidate)["predicted"], atol=1e-7)
        held_out = predicted[predicted["run"] == predicted["run"].iloc[0]]
        y = hf.survival(held_out["truth"].astype(float), held_out["event"])
        again = score_survival("concordance", Said(held_out["predicted"]), None, y)
        assert again == pytest.approx(scores_of(fast, candidate)[0])


class Said:
    """A model that has predicted."""

    def __init__(self, values, risks=True):
        self.values, self._predict_risk_score = np.asarray(values), risks

    def predict(self, X):
        return self.values


def test_a_model_that_predicts_times_counts_by_minus_these():
    _, y = make(30)
    risk = np.random.default_rng(0).normal(size=30)
    assert score_survival("concordance", Said(risk), None, y) == pytest.approx(
        1 - score_survival("concordance", Said(risk, False), None, y)
    )


def test_guessing_has_a_concordance_of_one_half():
    baselines = run().stored.baselines
    assert set(baselines["strategy"]) == {"equal risk"}
    assert (baselines["value"] == 0.5).all()


def test_effects_are_hazard_ratios_and_directions_are_of_the_hazard():
    X, y = make(150, signal=1.2)
    study = hf.Study(
        selectors={"s": of.CoxScore(3)},
        perturbation=hf.Bootstrap(30),
        estimator=make_pipeline(StandardScaler(), CoxRidge()),
    )
    found = study.run(X, y).features("s")
    table = found.to_frame()
    assert (found.effect, found.second_effect) == ("hazard ratio per SD", "concordance")
    strong = table.loc[table["frequency"] > 0.9]
    assert (strong["effect"] > 1.2).all()
    assert (strong["direction"] == "higher hazard with larger values").all()


# Recursive elimination


def test_elimination_is_that_of_cox_models_in_a_loop_and_keeps_what_is_forced():
    X, y = make(60, 25)
    for n_forced, criterion in [(0, "variance"), (2, "variance"), (2, "cox_score"), (2, of.CoxConcordance(5))]:
        rfe = of.HybridRFE(4, n_forced=n_forced, criterion=criterion).fit(X, y)
        filters = {"variance": of.Variance(2), "cox_score": of.CoxScore(2)}
        filter = filters[criterion] if isinstance(criterion, str) else of.CoxConcordance(2)
        forced = np.flatnonzero(filter.fit(X, y).get_support()) if n_forced else []
        assert rfe.forced_.tolist() == list(forced)
        columns, Z = np.arange(25), StandardScaler().fit_transform(X)
        while columns.size > 4:
            w = CoxRidge(1.0).fit(Z[:, columns], y).coef_
            badness = np.where(np.isin(columns, forced), -np.inf, -np.abs(w))
            size = max(4, columns.size - max(1, columns.size // 5))
            columns = np.sort(columns[np.argsort(badness, kind="stable")[:size]])
        assert rfe.get_support(True).tolist() == columns.tolist()
        expected = CoxRidge(1.0).fit(Z[:, columns], y)
        np.testing.assert_allclose(rfe.predict(X), expected.predict(Z[:, columns]), atol=1e-8)


def test_elimination_depends_on_neither_the_order_of_rows_nor_how_often_is_said():
    X, y = make(50, 30)
    y["time"] = np.ceil(4 * y["time"])  # ties
    weights, order = np.random.default_rng(1).integers(0, 3, 50), np.random.default_rng(2).permutation(50)
    repeated = np.repeat(np.arange(50), weights)
    rankings = [
        of.HybridRFE(5, n_forced=1).fit(X[rows], y[rows], sample_weight=counts).ranking_.tolist()
        for rows, counts in ((np.arange(50), weights), (order, weights[order]), (repeated, None))
    ]
    assert rankings[0] == rankings[1] == rankings[2]


def test_a_study_of_eliminations_predicts_by_their_models():
    X, y = make(90, 30)
    hybrid = hf.Candidates(of.HybridRFE(), {"n_forced": [0, 2], "n_features": [3, 6], "C": [0.1, 1.0]})
    selectors = {"hybrid": hybrid, "rfe": SELECTORS["rfe"].make("survival", k=3)}
    result = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(6), random_state=1).run(X, y)
    summary = result.summary()
    assert (summary.loc[summary.index != "rfe", "concordance"] > 0.6).all()
    split = next(result.splits.itertuples())
    rows = np.repeat(split.train_rows, split.train_counts)
    single = of.HybridRFE(3, n_forced=2, C=0.1).fit(X[rows], y[rows])
    found = result.preferences("hybrid(n_forced=2, n_features=3, C=0.1)").selected(0)
    assert set(found) == set(single.get_support(True))


def test_eliminations_without_events_or_with_a_criterion_for_others_are_refused():
    X, y = make(40, 8)
    censored = y.copy()
    censored["event"] = False
    with pytest.raises(ValueError, match="Expected events"):
        of.HybridRFE(3).fit(X, censored)
    with pytest.raises(ValueError, match="criterion for survival times, such as variance or cox_score, got 'golub'"):
        of.HybridRFE(3, n_forced=1, criterion="golub").fit(X, y)
    study = hf.Study(of.HybridRFE(3), hf.Bootstrap(2), covariates=["f0"], estimator=CoxRidge())
    with pytest.raises(ValueError, match="Expected classes or numbers to adjust"):
        study.run(pd.DataFrame(X).add_prefix("f"), y)


class SelectsByCox(BaseEstimator):
    """As estimators of scikit-survival are: neither a classifier nor a regressor, with a structured target."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        assert y.dtype.names is not None
        self.coef_ = CoxRidge(self.alpha).fit(X, y).coef_
        return self

    def predict(self, X):
        return X @ self.coef_


def test_estimators_of_other_packages_take_part_as_selectors_and_models():
    X, y = make()
    selector = SelectFromModel(SelectsByCox(), max_features=3, threshold=-np.inf)
    result = hf.Study(selectors={"s": selector}, perturbation=hf.Bootstrap(5), estimator=SelectsByCox()).run(X, y)
    assert scores_of(result, "s").mean() > 0.6


def test_paths_of_other_packages_are_read_at_the_strength_that_predicts():
    class Path(SelectsByCox):
        def fit(self, X, y):
            super().fit(X, y)
            self.coef_ = np.column_stack([np.zeros(X.shape[1]), self.coef_])
            return self

    X, y = make()
    runs = [
        hf.Study(selectors={"s": hf.Candidates(selector, sizes=[3])}, perturbation=hf.Bootstrap(5)).run(X, y)
        for selector in (SelectsByCox(), Path())
    ]
    names = [name for run in runs for name in run.candidates]
    assert [runs[0].preferences(names[0]).selected(run) for run in range(5)] == [
        runs[1].preferences(names[1]).selected(run) for run in range(5)
    ]


@pytest.mark.parametrize(
    ("selector", "estimator", "sentence"),
    [
        (of.AnovaF(2), None, "Expected selectors and models for survival times, got s .AnovaF"),
        (of.StabilitySelection(of.MRMR(3)), None, "for survival times, got s"),
        (of.CoxScore(2), Ridge(), "got the model .Ridge"),
        (of.ElasticNetCV(), None, "for survival times, got s"),
    ],
)
def test_selectors_and_models_for_other_targets_are_refused(selector, estimator, sentence):
    X, y = make()
    with pytest.raises(ValueError, match=sentence):
        hf.Study(selectors={"s": selector}, estimator=estimator).run(X, y)


def test_stability_selection_takes_the_lasso_of_cox():
    X, y = make(200, 10)
    study = hf.Study(
        selectors={"s": of.StabilitySelection(of.CoxLasso(), q=3, threshold=0.7, n_resamples=20)},
        perturbation=hf.Bootstrap(2),
    )
    assert set(study.run(X, y).preferences("s").selected(0)) <= {0, 1, 2}


def test_replicability_shuffles_times_and_events_together():
    X, y = make(120, 10)
    found = hf.replicability(of.CoxScore(3), X, y, n_pairs=10, n_shuffles=5)
    assert found.selected
    assert found.shuffled is not None


def test_columns_that_are_the_time_or_the_event_are_in_doubt():
    X, y = make(80, 4)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["follow"] = y["time"] * 2
    frame["dead"] = y["event"].astype(float)
    found = [doubt.feature for doubt in hf.io.doubts.find_doubts(frame, y)]
    assert found == ["follow", "dead"]
    y["event"] = True
    assert [doubt.feature for doubt in hf.io.doubts.find_doubts(frame, y)] == ["follow", "dead"]


# Curves


def test_curves_by_thirds_are_those_of_kaplan_and_meier_on_a_round_grid():
    X, y = make(90)
    curves = curves_by_group(y, X[:, 0])
    times = curves[0, 1:]
    assert times[0] == 0
    step = times[1]
    assert step in [factor * 10.0**power for factor in (1, 2, 2.5, 5) for power in range(-4, 3)]
    assert times == pytest.approx(step * np.arange(times.size))
    group = np.searchsorted(np.quantile(X[:, 0], [1 / 3, 2 / 3]), X[:, 0])
    left = [(y["time"][group == third] >= times[-1]).sum() for third in range(3)]
    assert min(left) >= 8
    assert min((y["time"][group == third] >= times[-1] + step).sum() for third in range(3)) < 8
    for third in range(3):
        lines = curves[1 + 4 * third : 5 + 4 * third]
        assert lines[0, 1:] == pytest.approx(kaplan_meier(y[group == third]).at(times)[0].round(2))
        assert (lines[1, 1:] <= lines[0, 1:]).all()
        assert (lines[0, 1:] <= lines[2, 1:]).all()
        assert lines[3, -1] == left[third]


def test_curves_by_values_leave_small_groups_out_and_gaps_aside():
    _, y = make(90)
    values = np.repeat([0.0, 1, 2], [50, 30, 10])
    values[0] = np.nan
    curves = curves_by_group(y, values)
    assert curves[[1, 5], 0].tolist() == [0, 1]
    assert curves[[4, 8], 1].tolist() == [49, 30]
    assert np.isnan(curves[9:]).all()
    assert curves_by_group(y, np.zeros(90)).shape[1] == 1
    frame = frame_curves("stage", curves)
    assert frame["group"].unique().tolist() == ["0", "1"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pfs", "is named like a time or an event"), ("os_months", "is named like"), ("vital_status", "is named like"),
        ("days_to_death", "is named like"), ("status", "is named like"), ("relapse", "is named like"),
        ("er_status", None), ("protime", None), ("age", None), ("lymph nodes", None), ("start dose", None),
    ],
)  # fmt: skip
def test_other_end_points_are_in_doubt_by_their_names(name, reason):
    X, y = make(80, 3)
    found = hf.io.doubts.find_doubts(pd.DataFrame(X, columns=["a", name, "b"]), y)
    assert [doubt.feature for doubt in found] == ([name] if reason else [])
    assert all(reason in doubt.reason for doubt in found)


def test_other_end_points_are_in_doubt_by_what_they_do():
    X, y = make(80, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["first"] = np.where(X[:, 0] > 0.5, y["time"] / 2, y["time"])  # one end point precedes the other
    frame["mutated"] = (y["event"] & (X[:, 1] > -0.3)).astype(int)
    frame["sex"] = (X[:, 1] > 0).astype(int)
    found = {doubt.feature: doubt.reason for doubt in hf.io.doubts.find_doubts(frame, y)}
    assert set(found) == {"first", "mutated"}
    assert "another time to an event?" in found["first"]
    assert "in no other: an event itself?" in found["mutated"]


def test_rows_that_are_not_observed_from_the_start_are_refused():
    X, y = make(80, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(tstart=y["time"] / 2)
    with pytest.raises(
        ValueError, match="got a column 'tstart' of times at which their observation begins; late entry"
    ):
        hf.Study(selectors={"s": of.CoxScore(2)}).run(frame, y)
    assert hf.io.doubts.find_doubts(frame.assign(tstart=0.0), y) == []


# From a file to a report


@pytest.fixture
def patients(tmp_path):
    X, y = make(100, 6)
    frame = pd.DataFrame(X, columns=[f"g{column}" for column in range(6)])
    frame["days"], frame["status"] = np.round(y["time"] * 100 + 1), np.where(y["event"], "dead", "alive")
    frame.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def test_a_file_is_read_by_two_columns(patients):
    table = hf.read_table(patients, time="days", event="status", event_is="dead")
    assert table.task == "survival"
    assert list(table.X) == [f"g{column}" for column in range(6)]
    assert table.record.events == table.y["event"].sum()
    assert "survival times" in repr(table)
    with pytest.raises(ValueError, match="say by event_is= which value is the event"):
        hf.read_table(patients, time="days", event="status")
    with pytest.raises(ValueError, match="Expected event_is= to be a value of 'status'"):
        hf.read_table(patients, time="days", event="status", event_is="x")
    with pytest.raises(ValueError, match="time= and event=, the columns of survival times"):
        hf.read_table(patients, time="days")
    with pytest.raises(ValueError, match="or target="):
        hf.read_table(patients, "days", time="days", event="status")
    with pytest.raises(ValueError, match="time= and event=, for survival times, got 'days' alone"):
        hf.read_table(patients, "days", ignore="status", task="survival")
    with pytest.raises(ValueError, match="Expected numbers as times in 'status' of"):
        hf.read_table(patients, time="status", event="days")
    assert hf.io.inspect_table(patients, time="days", event="status", event_is="dead").record.task == "survival"


def test_what_a_file_of_survival_times_leaves_open_is_asked(patients):
    for first, second, others in (("days", "event", "status"), ("status", "time", "days")):
        answers, asked = {"target": first}, []
        while (question := hf.io.inspect_table(patients, **answers).question) is not None:
            asked.append((question.option, [value for value, _ in question.choices][:2]))
            answers |= question.answer("dead" if question.option == "event_is" else question.choices[0][0])
        alone = "regression" if first == "days" else "classification"
        assert asked[0] == ("task", ["survival", alone])
        assert (asked[1][0], asked[1][1][0]) == (second, others)
        assert asked[2:] == [("event_is", ["alive", "dead"])]
        assert hf.read_table(patients, **answers).record.events == (pd.read_csv(patients)["status"] == "dead").sum()
    found = hf.io.inspect_table(patients, "days", task="regression", ignore="status")
    assert found.record.task == "regression"
    assert hf.io.inspect_table(patients, "g0", ignore=["status", "days"]).question is None


def test_a_study_of_a_file_ends_in_a_report(patients, tmp_path):
    table = hf.read_table(patients, time="days", event="status", event_is="dead")
    result = hf.Study(
        selectors={"cox_score": hf.Candidates(of.CoxScore(), sizes=[2, 3])},
        perturbation=hf.Bootstrap(15, stratify=True),
        estimator=MODELS["linear"].make(task="survival"),
    ).run(table)  # fmt: skip
    summary = summarize(result)
    assert "with the event; median time" in summary.method.paragraph
    assert "Cox's proportional hazards model with a ridge penalty" in summary.method.paragraph
    assert "cox1972" in [reference.key for reference in summary.references]
    page = result.report(tmp_path / "r.html").read_text()
    assert "hazard ratio per SD" in page
    assert summary.method.paragraph.count("stratified by event") == 1
    strong = summary.features.shown[0]
    assert [curve.group for curve in strong.curves] == ["lowest third", "middle third", "highest third"]
    drawn = plots.survival_curves_data(result, summary.candidate, [strong.feature])
    assert drawn["survival"].tolist() == [value for curve in strong.curves for value in curve.survival]
    assert 'id="figure-survival"' in page
    assert "the rows in the lowest third are without the event" in page
    assert '"days"' in page
    assert SCORES["concordance"].about.label == "C"


def test_what_follows_from_a_study_takes_survival_times(tmp_path):
    X, y = make()
    study = hf.Study(
        selectors={"cox_score": hf.Candidates(of.CoxScore(), sizes=[2, 4])},
        perturbation=hf.Bootstrap(10, stratify=True),
        estimator=MODELS["linear"].make(task="survival"),
    )
    nested = hf.nested_choice(study, X, y)
    assert nested.folds["score"].between(0.4, 1).all()
    benchmark = hf.benchmark({"a": (X, y), "b": (X[:60], y[:60])}, study)
    assert "concordance" in benchmark.report(tmp_path / "b.html").read_text()
    first, second = study.run(X, y, store=tmp_path / "s.db"), replace(study, random_state=1).run(X, y)
    assert first.pool(second).summary()["runs"].tolist() == [20, 20]
    assert verify(tmp_path / "s.db").state == "sound"
    found = hf.optimize(of.CoxScore(), {"n_features": [2, 5]}, X, y, estimator=study.estimator, first=5)
    assert found.candidates
    assert hf.check_features(["x0", "x11"], first, "cox_score(size=2)").shape[0] == 2
    assert first.prediction_agreement("cox_score(size=2)").value > 0
    for result in (nested, benchmark, first, first.choose(), first.features("cox_score(size=2)")):
        assert "<" in result._repr_html_()


def test_the_worked_example_of_the_documentation():
    datasets = pytest.importorskip("sksurv.datasets")
    X, y = datasets.load_breast_cancer()
    X = pd.get_dummies(X, dtype=float)
    study = hf.Study(
        selectors={"cox_score": of.CoxScore(10), "cox_lasso": of.CoxLasso(n_features=10)},
        perturbation=hf.Bootstrap(100, stratify=True),
        estimator=make_pipeline(StandardScaler(), CoxRidge(alpha=10)),
    )
    table = study.run(X, y).summary()[["stability", "low", "high", "concordance"]].round(2)
    assert table.loc["cox_score"].tolist() == [0.28, 0.26, 0.31, 0.62]
    assert table.loc["cox_lasso"].tolist() == [0.25, 0.22, 0.27, 0.62]
    found = hf.replicability(of.CoxLasso(n_features=10), X, y, n_pairs=40)
    assert [round(float(value), 2) for value in (found.half_agreement, *found.half_interval)] == [0.03, -0.09, 0.28]
