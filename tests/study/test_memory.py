"""A result remembers what was computed from it: work is done once, and no answer changes by it."""

import pickle
import threading
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast import checks
from holdfast.measures import MEASURES, OverlapPairs
from holdfast.measures.forms import mean_over_pairs, mean_overlap, overlap_matrix
from holdfast.report import render, summarize
from holdfast.selectors import AnovaF
from holdfast.study.memory import FEW_BYTES, Cache
from holdfast.study.orders import StoredOrders
from holdfast.study.tables import MAX_BYTES, StudyTables
from holdfast.tradeoff.points import Points
from results import make_result
from study_parts import Raising, small_data

SIZES = [1, 2, 3, 5, 8]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    X, y = small_data(80, 30)
    path = tmp_path_factory.mktemp("memory") / "study.db"
    study = hf.Study(
        selectors={"anova": hf.Candidates(AnovaF(), sizes=SIZES), "raising": Raising()},
        perturbation=hf.Bootstrap(30),
        estimator=KNeighborsClassifier(3),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.run(X, y, store=path)
    return path


def count_calls(monkeypatch, owner, name):
    """Count the calls of a function or method, by its arguments."""
    calls, function = Counter(), getattr(owner, name)

    def counted(*arguments):
        calls[arguments[1:] if isinstance(owner, type) else arguments] += 1
        return function(*arguments)

    monkeypatch.setattr(owner, name, counted)
    return calls


# A result


def test_a_report_reads_each_selection_and_draws_again_once(store, monkeypatch):
    read = count_calls(monkeypatch, StudyTables, "_find_runs_by_block")
    drawn = count_calls(monkeypatch, Points, "_drawn_stabilities")
    result = hf.load_study(store)
    summarize(result)
    assert set(read.values()) == {1}
    assert {candidate for candidate, *_ in read} == set(result.candidates)
    assert len(drawn) == len(result.candidates)
    before = read.total(), drawn.total()
    for ask in (summarize, hf.StudyResult.features, hf.StudyResult.choose):
        ask(result)
    assert (read.total(), drawn.total()) == before


def test_names_of_features_are_looked_through_once(store, monkeypatch):
    seen = count_calls(monkeypatch, checks, "Counter")
    result = hf.load_study(store)
    summarize(result)
    assert seen[(tuple(result.feature_names),)] == 1


def test_what_is_remembered_changes_no_answer(store):
    asked = [
        lambda result: render(summarize(result), "json"),
        lambda result: result.features().to_dict(),
        lambda result: result.pareto().to_dict(),
        lambda result: result.choose("not-worse").to_dict(),
        lambda result: result.compare().to_dict(),
        lambda result: result.summary("jaccard").to_csv(),
        lambda result: result.profile("anova").to_dict(),
    ]
    alone = [ask(hf.load_study(store)) for ask in asked]
    together = hf.load_study(store)
    assert [ask(together) for ask in asked] == alone
    assert [ask(together) for ask in reversed(asked)] == alone[::-1]


def test_threads_that_ask_together_get_the_same(store):
    result, answers = hf.load_study(store), []
    threads = [threading.Thread(target=lambda: answers.append(render(summarize(result), "json"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(answers) == {render(summarize(hf.load_study(store)), "json")}


def test_tables_that_are_handed_out_are_the_callers_own(store):
    result = hf.load_study(store)
    scores, splits = result.split_scores("raising", "accuracy")
    mean = scores.mean()
    scores[:], splits["n_test"] = 0.0, 0
    again, untouched = result.split_scores("raising", "accuracy")
    assert again.mean() == mean > 0
    assert (untouched["n_test"] > 0).all()
    pareto = result.pareto()
    with pytest.raises(ValueError, match="read-only"):
        pareto.stabilities[0, 0] = 1.0


def test_an_undefined_stability_warns_each_time():
    result = make_result({"empty": {"sets": [(), (), ()]}})
    for _ in range(2):
        with pytest.warns(hf.UndefinedStabilityWarning, match="The stability is undefined"):
            assert np.isnan(result.stability("empty").value)


def test_measures_of_the_same_name_are_told_apart(store):
    result = hf.load_study(store)
    low, high = (
        hf.Measure(name="mine", form=OverlapPairs(lambda r, *_, value=value: r * 0.0 + value)) for value in (0.1, 0.9)
    )
    assert [result.stability("raising", measure).value for measure in (low, high, low)] == pytest.approx(
        [0.1, 0.9, 0.1]
    )
    davis = [result.stability("raising", "davis", alpha=alpha).value for alpha in (0.1, 0.2)]
    assert davis[0] != davis[1]


def test_a_copy_of_a_result_begins_with_nothing(store):
    result = hf.load_study(store)
    expected = result.choose()
    assert result.memory.n_bytes > 0
    read = pickle.loads(pickle.dumps(result))
    assert read.memory.n_bytes == result.without_store().memory.n_bytes == 0
    assert read.choose().to_dict() == expected.to_dict()


def test_rankings_of_many_features_are_not_kept():
    wide = make_result(
        {"w": {"weights": np.random.default_rng(0).random((50, MAX_BYTES // 8 // 50 + 1))}},
        n_features=MAX_BYTES // 8 // 50 + 1,
    )
    assert wide.preferences("w").matrix().nbytes > MAX_BYTES
    assert wide.memory.n_bytes == 0


# A memory


def test_a_memory_forgets_what_was_not_asked_for_longest():
    memory, found = Cache(3 * FEW_BYTES), []

    def ask(key):
        return memory.get_or_compute(key, lambda: found.append(key) or key)

    for key in "abcacdcb":
        assert ask(key) == key
        assert memory.n_bytes <= memory.most_bytes
    assert "".join(found) == "abcdb"


def test_a_memory_keeps_nothing_that_is_too_large_or_not_final():
    memory = Cache(100)

    def ask(key, answer, n_bytes):
        return memory.get_or_compute(key, lambda: answer, lambda _: n_bytes, lambda found: found > 1)

    assert [ask("large", answer, 101) for answer in (2, 3)] == [2, 3]
    assert [ask("open", answer, 1) for answer in (1, 2, 3)] == [1, 2, 2]


# What was made faster is equal


@pytest.mark.parametrize(("n_features", "size"), [(6, 3), (40, 4), (3000, 300)])
def test_overlaps_of_redrawn_runs_are_those_of_all_pairs_to_the_last_bit(n_features, size):
    rng = np.random.default_rng(n_features)
    runs = hf.Preferences.from_sets(
        [rng.choice(n_features, rng.integers(size // 2, size + 1), replace=False).tolist() for _ in range(60)],
        n_features=n_features,
    )
    for draws in (30, 60, 10**7):
        weights = rng.multinomial(draws, np.full(60, 1 / 60), 25).astype(float)
        np.testing.assert_array_equal(mean_overlap(runs, weights), mean_over_pairs(overlap_matrix(runs), weights))
    shares = rng.random((25, 60))
    np.testing.assert_allclose(mean_overlap(runs, shares), mean_over_pairs(overlap_matrix(runs), shares), rtol=1e-12)
    value = MEASURES["nogueira"].form.resampled(runs, MEASURES["nogueira"], np.ones((1, 60)))
    assert value == pytest.approx(hf.stability(runs).value, rel=1e-12)


def test_orders_of_any_length_are_cut_together_as_one_by_one():
    rng = np.random.default_rng(0)
    orders = {split: rng.permutation(50)[: rng.integers(1, 30)].astype("<i4") for split in (3, 1, 7, 4)}
    table = pd.DataFrame(
        {"columns": [order.tobytes() for order in orders.values()], "smallest": [1, 2, 1, 1], "complete": [0, 1, 0, 0]},
        index=list(orders),
    )
    stored = StoredOrders(table, 50)
    for size in (1, 5, 29, 50):
        for splits in ([3, 1, 7, 4], [4, 3], [7]):
            one_by_one = [sorted(orders[split][:size].tolist()) for split in splits]
            assert [columns.tolist() for columns in stored.cut(splits, size).split()] == one_by_one
    assert stored.reach([3, 1]) == (2, orders[3].size)
    assert stored.cut([], 5).split() == []
    with pytest.raises(KeyError, match=r"got none of \[5\]"):
        stored.cut([3, 5], 2)


def test_a_front_without_redraws_has_no_probabilities(store):
    result = hf.load_study(store)
    front = result.pareto(n_draws=0)
    assert front.frame["probability"].isna().all()
    pd.testing.assert_series_equal(front.frame["on_front"], result.pareto().frame["on_front"])
