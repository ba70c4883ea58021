"""What is said about new studies: sentences, cards and reports that hold for one, few, many and no features."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFpr, SelectKBest

import holdfast as hf
from holdfast.inference.intervals import Interval
from holdfast.replication import (
    estimate_replicability,
    find_answer,
    find_known,
    replicate_reported,
    store_replicability,
)
from holdfast.report import render, summarize

SELECTOR = hf.selectors.AnovaF(10)


def draw(n, effect, seed, d=200):
    """Two classes that differ by an effect in the first 20 of d features."""
    y = np.arange(n) % 2
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:, :20] += effect * y[:, None]
    return X, y


def select_at_random(n_halves, d, size, seed=0):
    rng = np.random.default_rng(seed)
    runs = np.zeros((n_halves, d), dtype=int)
    for run in runs:
        run[rng.permutation(d)[:size]] = 1
    return hf.Preferences.from_matrix(runs)


def test_chance_is_told_as_chance_for_long_lists_too():
    most = estimate_replicability(select_at_random(60, 2000, 1500), range(1500), 100)
    assert most.sentence.startswith(
        "It was not shown that a new study of this size would select more of your 1,500 features than by chance (1,125"
    )
    all_but_one = estimate_replicability(select_at_random(60, 300, 299), range(299), 100)
    assert all_but_one.sentence.endswith("than by chance (298 of them).")


def test_less_than_one_feature_is_not_told_as_none():
    found = estimate_replicability(select_at_random(60, 2000, 2), range(2), 100)
    found = replace(found, agreement=0.1, interval=Interval(0.01, 0.4), half_interval=Interval(0.01, 0.3))
    assert "would be expected to select fewer than 1 of your 2 features" in found.sentence


@pytest.mark.parametrize(
    ("sizes", "selected", "reason"),
    [
        ([0, 5], range(5), "in 20 of 20 splits a half selected nothing"),
        ([50, 50], range(50), "in 20 of 20 splits a half selected everything"),
        ([0, 50], range(5), "in 20 of 20 splits a half selected nothing, or everything"),
        ([0, 0], [], "nothing was selected on all rows"),
    ],
)
def test_what_halves_select_that_say_nothing_is_told(sizes, selected, reason):
    runs = (np.arange(50) < np.array(sizes * 20)[:, None]).astype(int)
    found = estimate_replicability(hf.Preferences.from_matrix(runs), selected, 60)
    assert found.reason == reason
    assert repr(found) == found.sentence


def test_where_everything_is_selected_there_is_no_interval_to_warn_of():
    X, y = draw(60, 0.8, 7, d=30)
    assert hf.replicability(hf.selectors.AnovaF(30), X, y, n_pairs=10, n_shuffles=0).cautions == ()
    assert "More than half" in hf.replicability(hf.selectors.AnovaF(29), X, y, n_pairs=10, n_shuffles=0).cautions[0]


def test_names_on_the_card_are_whole_and_its_intervals_have_a_level():
    card = hf.replicability(SELECTOR, *draw(60, 0.8, 7), n_pairs=10, n_shuffles=0)._repr_html_()
    assert "…" not in card
    assert "by repeated split-half (10 ×), extrapolated to this size" in card
    assert "95 % intervals for new data sets" in card


def test_the_report_says_which_features_it_is_about_and_its_markdown_table_is_one(tmp_path):
    X, y = draw(60, 0.8, 7)
    study = hf.Study(selectors=[SELECTOR], perturbation=hf.Bootstrap(10))
    study.run(X, y, store=tmp_path / "s.db")
    store_replicability(tmp_path / "s.db", hf.replicability(study, X, y, n_pairs=20, n_shuffles=0))
    summary = summarize(hf.load_study(tmp_path / "s.db"))
    for form in ("html", "md"):
        assert "Your features are those that ANOVA F selects on all rows" in render(summary, form)
    lines = render(summary, "md").splitlines()
    header = next(place for place, line in enumerate(lines) if line.startswith("| feature |"))
    assert "| in a new study |" in lines[header]
    assert "\\" not in lines[header] + lines[header + 1]
    assert len({line.count("|") for line in lines[header : header + 3]}) == 1


def test_what_is_not_known_was_not_estimated():
    X, y = draw(60, 0.8, 7)
    result = hf.Study(selectors=[SELECTOR], perturbation=hf.resampling.SplitHalves(5)).run(X, y)
    for form in ("html", "md"):
        page = render(summarize(result), form)
        assert "5 splits in half are too few, 10 are needed" in page
        assert "estimated from" not in page.lower()


# What is asked for wrongly, or left open


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "Expected a level between 0 and 1"),
        ({"top": 0}, "Expected top to be a whole number of at least 1, got 0"),
        ({"measures": ["yo"]}, "Expected the name of a measure, got 'yo'"),
        ({"measures": "yo"}, "Expected the name of a measure, got 'yo'"),
        ({"n_pairs": 5}, "Expected n_pairs to be a whole number of at least 10"),
    ],
)
def test_wrong_options_are_refused_before_any_fit(options, message):
    fitted = []

    class Counting(SelectKBest):
        def fit(self, X, y):
            fitted.append(len(X))
            return super().fit(X, y)

    with pytest.raises(ValueError, match=message):
        hf.replicability(Counting(k=3), *draw(40, 0.8, 7), **options)
    assert fitted == []


def test_of_rankings_as_many_features_count_as_in_a_report_if_nobody_says():
    X, y = draw(60, 0.8, 7, d=30)
    forest = RandomForestClassifier(5, random_state=0)
    found = hf.replicability(forest, X, y, n_pairs=10, n_shuffles=0)
    assert found.cautions[0].startswith(f"forest gives a weighting of all features: the best {found.n_selected} count")
    asked = hf.replicability(forest, X, y, n_pairs=10, n_shuffles=0, top=found.n_selected)
    assert asked.agreement == found.agreement
    assert not any("count as selected" in caution for caution in asked.cautions)


def test_a_measure_that_cannot_be_answered_leaves_the_answer():
    X, y = draw(60, 0.8, 7, d=30)
    found = hf.replicability(SelectFpr(alpha=0.2), X, y, n_pairs=10, n_shuffles=0, measures=["spearman", "jaccard"])
    assert list(found.other_measures) == ["jaccard"]
    assert found.cautions[-1].startswith("Agreement by spearman is not known: ")
    assert found.half_agreement > 0
    assert list(hf.replicability(SELECTOR, X, y, n_pairs=10, n_shuffles=0, measures="jaccard").other_measures) == [
        "jaccard"
    ]


# Studies that halve the rows themselves


def test_a_study_of_split_halves_says_its_answer_wherever_others_do(tmp_path):
    X, y = draw(60, 0.8, 7, d=30)
    study = hf.Study(selectors=[SELECTOR], perturbation=hf.resampling.SplitHalves(20))
    result = study.run(X, y, store=tmp_path / "s.db")
    assert find_answer(result).startswith(result.replicability().sentence)
    assert find_answer(result, 0.5).startswith(result.replicability(level=0.5).sentence)
    assert replicate_reported(result, None) == find_answer(result)
    assert find_known(result, "anova").to_dict() == result.replicability().to_dict()


def test_a_report_of_split_halves_answers_for_rankings_too():
    X, y = draw(60, 0.8, 7, d=30)
    forest = RandomForestClassifier(5, random_state=0)
    result = hf.Study(selectors=[forest], perturbation=hf.resampling.SplitHalves(10)).run(X, y)
    summary = summarize(result)
    assert summary.replication.sentence == result.replicability(top=summary.features.top).sentence


@pytest.mark.parametrize("n_rows", [60, 30])
def test_a_report_is_written_where_all_rows_or_all_halves_could_not_be_fitted(n_rows):
    class Failing(SelectKBest):
        def fit(self, X, y):
            if len(X) == n_rows:
                raise ValueError("no")
            return super().fit(X, y)

    X, y = draw(60, 0.8, 7, d=30)
    study = hf.Study(selectors=[Failing(k=3)], perturbation=hf.resampling.SplitHalves(10))
    with pytest.warns(UserWarning, match="fits failed"):
        result = study.run(X, y, on_error="record")
    assert find_known(result, result.candidates[0]) is None
    if n_rows == 60:
        assert summarize(result).replication is None


# What the rows say against it


@pytest.mark.parametrize(("n_copies", "some"), [(1, "1 row is a copy of another"), (3, "3 rows are copies of others")])
def test_copies_of_rows_are_told(n_copies, some):
    X, y = draw(60, 0.8, 7, d=30)
    X[60 - n_copies :], y[60 - n_copies :] = X[:n_copies], y[:n_copies]
    found = hf.replicability(SELECTOR, X, y, n_pairs=10, n_shuffles=0)
    different = 60 - n_copies
    assert found.cautions[0] == (
        f"{some}: equal rows stay in the same half, and this study has {different} different ones."
    )


@pytest.mark.parametrize(
    ("rows_per_patient", "told"), [(2, ""), (3, "only 7 groups of class 0"), (5, "the rows of only 8 groups")]
)
def test_few_patients_are_told_however_many_rows_they_have(rows_per_patient, told):
    X, y = draw(80, 0.8, 7, d=30)
    y, patients = np.sort(y), np.arange(80) // rows_per_patient
    cautions = hf.replicability(SELECTOR, X, y, groups=patients, n_pairs=10, n_shuffles=0).cautions
    said = [caution for caution in cautions if "groups" in caution]
    assert said == ([f"A half has {told}: with fewer than 10, halves say little."] if told else [])


def test_correlations_of_few_rows_are_no_near_copies():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((14, 3000)), np.arange(14) % 2
    assert (np.abs(np.corrcoef(X.T)[0]) > 0.7).sum() > 5  # by chance
    cautions = hf.replicability(SELECTOR, X, y, n_pairs=10, n_shuffles=0).cautions
    assert not any("near-copies" in caution for caution in cautions)
    X[:, 1:8] = X[:, [0]] + 0.01 * X[:, 1:8] + 0.5 * y[:, None]
    X[:, 0] += 3 * y
    X[:, 1:8] += 3 * y[:, None]
    assert any("near-copies" in c for c in hf.replicability(SELECTOR, X, y, n_pairs=10, n_shuffles=0).cautions)
