"""The estimate: what it carries, how undefined values are treated, agreement of aligned runs."""

import math

import numpy as np
import pandas as pd
import pytest

import holdfast as hf
from holdfast.text import format_percent

RUNS = [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0]]
WITH_EMPTY = hf.Preferences.from_sets([{0, 1}, set(), {0}, set()], n_features=4)
FULL = hf.Preferences.from_sets([{0, 1}, {0, 2}, {1, 3}], n_features=5)
HALF = hf.Preferences.from_sets([{0, 1}, {0, 3, 4}, {2, 4}], n_features=5)


def test_an_estimate_tells_what_it_is():
    estimate = hf.stability(RUNS)
    assert estimate.value == float(estimate) == pytest.approx(4 / 9)
    assert (estimate.measure, estimate.n_runs, estimate.n_features, estimate.mean_size) == ("nogueira", 3, 5, 2)
    assert estimate.reason is None
    assert "not new data sets" in estimate.scope
    assert (
        f"with 3 runs, selection patterns rarer than {format_percent(estimate.unseen_share(), 1)} may be"
        in estimate.scope
    )
    assert estimate.unseen_share() == pytest.approx(1 - 0.075 ** (1 / (estimate.n_runs - 1)))
    assert np.isnan(hf.stability(RUNS, method="asymptotic").unseen_share())
    assert estimate.to_frame().loc[0, "value"] == estimate.value


def test_several_measures_come_in_their_order():
    names = ["spearman", "jaccard", "weight_correlation", "nogueira", "kendall"]
    weights = hf.Preferences.from_weights([[3.0, 2, 1, 0], [2, 3, 1, 0], [3, 1, 0, 2]])
    estimates = hf.stability(weights, [name for name in names if hf.MEASURES[name].kind != "subset"])
    assert [one.measure for one in estimates] == ["spearman", "weight_correlation", "kendall"]
    together = hf.stability(weights.top(2), ["jaccard", "nogueira", "davis", "hamming"], alpha=0.5)
    alone = [hf.stability(weights.top(2), name) for name in ("jaccard", "nogueira")]
    assert [one.measure for one in together] == ["jaccard", "nogueira", "davis(alpha=0.5)", "hamming"]
    assert [one.value for one in together[:2]] == [one.value for one in alone]


@pytest.mark.parametrize(
    ("matrix", "measure", "same"),
    [
        (RUNS, "jaccard", hf.Preferences.from_matrix(RUNS)),
        ([[1, 2, 3], [2, 1, 3]], "kendall", hf.Preferences.from_rankings([[1, 2, 3], [2, 1, 3]])),
        ([[0.5, 2, 3], [2, 1, 9]], "weight_correlation", hf.Preferences.from_weights([[0.5, 2, 3], [2, 1, 9]])),
    ],
)
def test_a_bare_matrix_is_read_as_what_the_measure_measures(matrix, measure, same):
    assert hf.stability(matrix, measure).value == hf.stability(same, measure).value


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hf.stability(RUNS, "jacard"), "did you mean 'jaccard'"),
        (lambda: hf.stability(RUNS, "davis"), "davis needs a value for alpha, which has no default"),
        (lambda: hf.stability(RUNS, "davis", alpha=-1), "alpha of at least 0"),
        (lambda: hf.stability(RUNS, "jaccard", beta=1), "parameters of jaccard .none., got 'beta'"),
        (lambda: hf.stability(RUNS, ["jaccard", "spearman"]), "one kind for a bare matrix.*ranking and subset"),
        (lambda: hf.stability(hf.Preferences.from_weights([[1, 2], [2, 1]]), "jaccard"), r"cut them with \.top"),
        (lambda: hf.stability(hf.Preferences.from_matrix(RUNS), "spearman"), "rankings for spearman, got subsets"),
        (lambda: hf.stability(hf.Preferences.from_rankings([[1, 2], [2, 1]]), "weight_correlation"), "got rankings"),
        (lambda: hf.stability(RUNS, "yu"), "yu lets similar .* pass X= or similarity="),
        (lambda: hf.stability(RUNS, "yu", similarity=np.eye(4)), "similarity of the 5 features.*got 4"),
        (lambda: hf.stability(RUNS, "yu", similarity=np.eye(5), threshold=0), "threshold above 0"),
        (lambda: hf.inference.agreement(FULL, HALF, "kuncheva"), "equally many features.*2 in run 0 and 3 in run 1"),
        (lambda: hf.inference.agreement(FULL, HALF, "jaccard", undefined="zero"), "got 'zero'"),
        (lambda: hf.stability(RUNS, 3), "name of a measure or a Measure, got 3"),
        (lambda: hf.stability(RUNS, []), "at least one measure"),
        (lambda: hf.stability(RUNS, level=0.9), r"an argument of \.ci\(level\)"),
        (lambda: hf.stability(RUNS, undefined=True), "got True"),
        (lambda: hf.stability(RUNS, undefined=float("nan")), "got nan"),
        (lambda: hf.stability(RUNS, undefined="zero"), "'nan', 'raise', 'skip' or a number, got 'zero'"),
        (lambda: hf.stability(hf.Preferences.from_rankings([[1, 2], [2, 1]]), "canberra", k=3), "k from 1 to the 2"),
        (lambda: hf.stability([[1, 2], [2, 1]], "canberra", k=1.5), "whole number k"),
        (lambda: hf.stability([[1, 2], [2, 1]], "rank_biased_overlap", p=1), "p between 0 and 1, got 1"),
        (lambda: hf.stability([[1, 2], [2, 1]], "spearman", ties="first"), "ties='average' or 'random', got 'first'"),
        (
            lambda: hf.inference.agreement(hf.Preferences.from_matrix(RUNS), WITH_EMPTY),
            "as many runs on both sides, got 3 and 4",
        ),
    ],
)
def test_a_wrong_call_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# Undefined


UNDEFINED_PAIRS = {  # measure: (pairs of WITH_EMPTY that are undefined, of 12 ordered ones)
    "jaccard": 2, "dice": 2, "ochiai": 10, "pog": 6, "lustgarten": 10, "wald": 10, "npog": 6, "kappa": 2,
    "unadjusted": 10, "hamming": 0, "pearson": 0,
}  # fmt: skip


@pytest.mark.parametrize(("name", "pairs"), UNDEFINED_PAIRS.items())
def test_undefined_pairs_are_named_counted_and_left_to_the_caller(name, pairs):
    if pairs == 0:
        assert not math.isnan(hf.stability(WITH_EMPTY, name).value)
        return
    with pytest.warns(hf.UndefinedStabilityWarning, match=f"{pairs} of 12 ordered pairs"):
        estimate = hf.stability(WITH_EMPTY, name)
    assert math.isnan(estimate.value)
    assert f"{pairs} of 12" in estimate.reason
    assert "undefined" in repr(estimate)
    with pytest.raises(hf.UndefinedStabilityError, match=f"{pairs} of 12"):
        hf.stability(WITH_EMPTY, name, undefined="raise")
    skipped = hf.stability(WITH_EMPTY, name, undefined="skip").value
    filled = hf.stability(WITH_EMPTY, name, undefined=0.5).value
    assert filled == pytest.approx((skipped * (12 - pairs) + 0.5 * pairs) / 12)


@pytest.mark.parametrize("name", [name for name, pairs in UNDEFINED_PAIRS.items() if pairs])
def test_a_run_is_left_out_of_the_undefined_pairs_too(name):
    estimate = hf.stability(WITH_EMPTY, name, undefined=0.5)
    others = [[other for other in range(4) if other != run] for run in range(4)]
    without = np.array([hf.stability(WITH_EMPTY.take(runs), name, undefined=0.5).value for runs in others])
    assert estimate.pseudo_values == pytest.approx(4 * estimate.value - 3 * without)


@pytest.mark.parametrize("name", ["nogueira", "novovicova", "guzman", "lausser", "kuncheva", "davis", "cw_rel"])
def test_nothing_selected_at_all_is_undefined(name):
    empty = hf.Preferences.from_sets([set()] * 3, n_features=4)
    parameters = {"alpha": 1.0} if name == "davis" else {}
    with pytest.warns(hf.UndefinedStabilityWarning):
        assert math.isnan(hf.stability(empty, name, **parameters).value)
    assert hf.stability(empty, name, undefined=0.25, **parameters).value == 0.25


@pytest.mark.parametrize("name", ["nogueira", "guzman", "kuncheva", "cw_rel", "lustgarten", "kappa"])
def test_everything_selected_is_undefined(name):
    with pytest.warns(hf.UndefinedStabilityWarning):
        assert math.isnan(hf.stability(np.ones((3, 4)), name).value)


def test_the_2016_conventions_of_pearson():
    empty, full, some = set(), {0, 1, 2}, {0}
    cases = {(0, 0): 1, (1, 1): 1, (0, 1): 0, (0, 2): 0, (1, 2): 0}
    sets = (empty, full, some)
    for (i, j), expected in cases.items():
        assert hf.stability(hf.Preferences.from_sets([sets[i], sets[j]], n_features=3), "pearson").value == expected


def test_single_empty_and_full_runs_are_fine_for_nogueira():
    runs = hf.Preferences.from_sets([set(), {0, 1, 2}, {0}], n_features=3)
    assert math.isfinite(hf.stability(runs).value)


@pytest.mark.parametrize("measure", hf.MEASURES.values(), ids=lambda measure: measure.name)
def test_one_run_has_no_stability(measure):
    parameters = {"alpha": 1.0} if measure.name == "davis" else {}
    parameters |= {"similarity": np.eye(3)} if measure.similarity else {}
    row = [[1, 0, 1]] if measure.kind == "subset" else [[1, 2, 3]]
    with pytest.warns(hf.UndefinedStabilityWarning, match="a single run"):
        assert math.isnan(hf.stability(row, measure, **parameters).value)


def test_constant_rankings_and_weights_are_undefined():
    for name in ("spearman", "kendall"):
        with pytest.warns(hf.UndefinedStabilityWarning, match="4 of 6 ordered pairs"):
            assert math.isnan(hf.stability([[2, 2, 2], [1, 2, 3], [1, 3, 2]], name).value)
        skipped = hf.stability([[2, 2, 2], [1, 2, 3], [1, 3, 2]], name, undefined="skip").value
        assert skipped == pytest.approx(hf.stability([[1, 2, 3], [1, 3, 2]], name).value)
    with pytest.warns(hf.UndefinedStabilityWarning):
        assert math.isnan(hf.stability([[0.1] * 3, [1, 2, 3]], "weight_correlation").value)


# Agreement and Kalousis


@pytest.mark.parametrize("name", ["jaccard", "pog", "npog", "nogueira", "hamming", "krizek"])
def test_agreement_compares_run_by_run(name):
    if hf.MEASURES[name].one_size:
        a, b = FULL.take([0, 2]), HALF.take([0, 2])
    else:
        a, b = FULL, HALF
    found = hf.inference.agreement(a, b, name)
    assert found.value == pytest.approx(found.per_run.mean())
    assert found.n_runs == a.n_runs
    for run in range(a.n_runs):
        two = hf.Preferences.from_sets([a.selected(run), b.selected(run)], n_features=5)
        if hf.MEASURES[name].form.pairwise and name in ("pog", "npog"):
            continue
        assert found.per_run[run] == pytest.approx(hf.stability(two, name).value)


def test_agreement_takes_the_run_of_a_first():
    assert hf.inference.agreement(FULL, HALF, "pog").per_run == pytest.approx([1, 1 / 2, 0])
    assert hf.inference.agreement(HALF, FULL, "pog").per_run == pytest.approx([1, 1 / 3, 0])


def test_agreement_of_rankings_and_weights():
    a = hf.Preferences.from_weights([[3, 2, 1], [1, 2, 3]])
    b = hf.Preferences.from_weights([[3, 2, 1], [3, 2, 1]])
    assert hf.inference.agreement(a, b, "weight_correlation").per_run == pytest.approx([1, -1])
    assert hf.inference.agreement(a, b, "kendall").per_run == pytest.approx([1, -1])


def test_agreement_with_one_similarity_or_one_for_each_run():
    plain, twins = np.eye(5), np.eye(5)
    twins[1, 4] = twins[4, 1] = 0.95
    one = hf.inference.agreement(FULL, HALF, "gulgezen", similarity=twins).per_run
    each = hf.inference.agreement(FULL, HALF, "gulgezen", similarity=[plain, plain, twins]).per_run
    assert one == pytest.approx([1, 0.5, 0.475])
    assert each == pytest.approx([1, 0.5, 0.475])
    assert hf.inference.agreement(FULL, HALF, "gulgezen", similarity=[plain] * 3).per_run == pytest.approx([1, 0.5, 0])
    assert hf.inference.agreement(FULL, HALF, "pogr", similarity=[plain, plain, twins]).per_run == pytest.approx(
        [1, 0.5, 0.5]
    )
    with pytest.raises(ValueError, match="one similarity for each of 3 runs, got 2"):
        hf.inference.agreement(FULL, HALF, "gulgezen", similarity=[plain, plain])


def test_matrices_do_wherever_selections_do():
    full, half = (runs.to_frame().to_numpy() for runs in (FULL, HALF))
    assert hf.inference.agreement(full, half, "jaccard").value == hf.inference.agreement(FULL, HALF, "jaccard").value
    assert hf.feature_table(full).equals(hf.feature_table(FULL))
    assert hf.feature_swaps(full).equals(hf.feature_swaps(FULL))
    nested = np.eye(5).tolist()
    assert hf.inference.agreement(FULL, HALF, "gulgezen", similarity=nested).per_run == pytest.approx([1, 0.5, 0])
    assert hf.stability(FULL, "yu", similarity=nested).value == hf.stability(FULL, "yu", similarity=np.eye(5)).value


def test_agreement_minds_labels_and_features():
    one = hf.Preferences.from_sets([{0}, {1}], n_features=3, labels=["a", "b"])
    other = hf.Preferences.from_sets([{0}, {1}], n_features=3, labels=["b", "a"])
    with pytest.raises(ValueError, match="equal labels, got 'a' and 'b' as run 0"):
        hf.inference.agreement(one, other)
    assert hf.inference.agreement(one, other.take([1, 0]), "jaccard").value == 0
    named = hf.Preferences.from_sets([{"x"}, {"y"}], features=["x", "y", "z"])
    with pytest.raises(ValueError, match="same features"):
        hf.inference.agreement(one, named)


def test_undefined_agreement():
    a = hf.Preferences.from_sets([set(), {0}], n_features=3)
    with pytest.warns(hf.UndefinedStabilityWarning, match="1 of 2 runs"):
        assert math.isnan(hf.inference.agreement(a, a, "jaccard").value)
    assert hf.inference.agreement(a, a, "jaccard", undefined="skip").value == 1
    assert hf.inference.agreement(a, a, "jaccard", undefined=0).value == 0.5
    with pytest.raises(hf.UndefinedStabilityError):
        hf.inference.agreement(a, a, "jaccard", undefined="raise")


def test_kalousis_gives_the_three_together():
    rng = np.random.default_rng(0)
    weights = pd.DataFrame(rng.normal(size=(8, 12)) + np.linspace(0, 3, 12))
    three = hf.inference.kalousis(weights, k=4)
    runs = hf.Preferences.from_weights(weights)
    assert three.weights.value == hf.stability(runs, "weight_correlation").value
    assert three.ranks.value == hf.stability(runs, "spearman").value
    assert three.subsets.value == hf.stability(runs.top(4), "jaccard").value
    assert (
        hf.inference.kalousis(weights, k=4, ties="random", random_state=1).ranks.value == three.ranks.value
    )  # no ties here
