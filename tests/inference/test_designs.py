"""How each design is summarized, against plain loops; and what is said of how far it can be trusted."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression

import holdfast as hf
from holdfast.inference.intervals import Student
from results import make_result, scores_around, sets_with_core
from study_parts import Constant, Raising, X, Y, anova, run_with_failures, selected_names

DESIGNS = {
    "runs": hf.Bootstrap(8),
    "folds": hf.Folds(8),
    "pairs": hf.ComplementaryPairs(6),
    "nested_folds": hf.NestedFolds(4, 3),
    "nested_subsamples": hf.NestedSubsamples(5, (0.3, 0.6)),
}
every = pytest.mark.parametrize("design", DESIGNS)


@pytest.fixture(scope="module")
def results():
    selectors = {"three": anova(3), "six": anova(6), "weights": LogisticRegression()}
    return {
        design: hf.Study(selectors=selectors, perturbation=perturbation).run(X, Y)
        for design, perturbation in DESIGNS.items()
    }


def two_sets(one, two, measure):
    features = list(X.columns)
    sets = [[features.index(name) for name in run] for run in (one, two)]
    return hf.stability(hf.Preferences.from_sets(sets, n_features=12), measure).value


def nogueira(sets):
    Z = np.array([[name in run for name in X.columns] for run in sets], dtype=float)
    p, q = Z.mean(axis=0), Z.mean()
    return 1 - (p * (1 - p)).mean() * len(Z) / (len(Z) - 1) / (q * (1 - q))


def labeled(result, candidate):
    return dict(zip(result.preferences(candidate).labels, selected_names(result, candidate), strict=True))


@every
def test_the_design_is_known(design, results):
    assert results[design].design == design


@pytest.mark.parametrize("measure", ["nogueira", "jaccard", "kuncheva"])
def test_pairs_are_summarized_by_their_mean_agreement(measure, results):
    result = results["pairs"]
    runs = labeled(result, "three")
    values = [two_sets(runs[f"pair {pair}a"], runs[f"pair {pair}b"], measure) for pair in range(6)]
    estimate = result.stability("three", measure)
    assert estimate.value == pytest.approx(np.mean(values))
    assert estimate.pseudo_values == pytest.approx(values)
    assert estimate.n_runs == 12
    assert "disjoint halves" in estimate.scope


@pytest.mark.parametrize("design", ["pairs", "nested_folds"])
def test_overlaps_are_those_of_runs_that_are_compared(design, results):
    runs_by_block = results[design].runs_by_block("three")
    Z = runs_by_block.runs.to_frame().to_numpy()
    blocks = [np.flatnonzero(np.array(runs_by_block.blocks) == block) for block in sorted(set(runs_by_block.blocks))]
    means = [np.mean([Z[a] @ Z[b] for a, b in itertools.combinations(block, 2)]) for block in blocks]
    assert results[design].stability("three").mean_overlap == pytest.approx(np.mean(means))
    assert results["nested_subsamples"].stability("three").mean_overlap is None


@every
def test_the_share_of_tied_features_is_told_in_every_design(design, results):
    result = results[design]
    weights = result.runs_by_block("weights").runs
    assert result.stability("weights").tied_share == 0 == hf.stability(weights, "spearman").tied_share
    assert result.stability("three").tied_share is None
    matrix = np.array([[3, 1, 0, 0, 0, 2], [3, 2, 1, 0, 0, 4.0]] * 4)
    blocks = {"pairs": [0, 0, 1, 1, 2, 2, 3, 3], "nested_folds": [0] * 4 + [1] * 4}.get(design)
    fractions = [1.0, 0.5] * 4 if design == "nested_subsamples" else None
    blocks = [0, 0, 1, 1, 2, 2, 3, 3] if fractions else blocks
    tied = make_result({"a": {"weights": matrix}}, n_features=6, design=design, blocks=blocks, fractions=fractions)
    for measure in ("spearman", "weight_correlation"):
        assert tied.stability("a", measure).tied_share == pytest.approx((3 + 2) / 12)


def test_pairs_have_no_interval_and_say_why(results):
    estimate = results["pairs"].stability("three")
    why = "pairs of halves of one data set do not show how much new data sets would differ"
    assert estimate.no_interval == why
    assert estimate.to_dict()["reason"] == why
    assert why in repr(estimate)
    assert np.isnan([*estimate.ci(), estimate.standard_error, estimate.test(greater_than=0).p_value]).all()
    row = results["pairs"].summary().loc["three"]
    assert np.isnan([row["low"], row["high"]]).all()
    assert row["reason"] == why
    with pytest.raises(ValueError, match=f"got nogueira = .* {why}; 12 runs\\)\\.$"):
        hf.runs_needed(0.05, pilot=estimate)
    compared = results["pairs"].compare(["three", "six"])
    assert {one.scope for one in compared.estimates.values()} == {"resampling of this data set, not new data sets"}


def test_pairs_cannot_run_until_an_interval_is_narrow():
    study = hf.Study(selectors={"a": anova()}, perturbation=hf.ComplementaryPairs(5))
    with pytest.raises(ValueError, match="pairs of halves have no interval to narrow"):
        study.run(X, Y, until=hf.TargetPrecision(0.1))


def test_no_pair_is_promised_a_least_stability():
    candidates = {"a": {"sets": sets_with_core(0.7), "scores": scores_around(0.8)}}
    result = make_result(candidates, design="pairs", blocks=np.repeat(np.arange(10), 2).tolist())
    with pytest.raises(ValueError, match="Expected stabilities with an interval, got none: pairs of halves"):
        result.choose("at-least", stability=0.1)
    assert result.pareto().scope.endswith("probabilities: resampling of this data set, not new data sets")


def test_nested_folds_are_summarized_by_the_mean_of_inner_stabilities(results):
    result = results["nested_folds"]
    runs = labeled(result, "six")
    assert len(runs) == 12  # the outer folds are for the score
    values = [nogueira([runs[f"outer {outer} inner {inner}"] for inner in range(3)]) for outer in range(4)]
    estimate = result.stability("six")
    assert estimate.value == pytest.approx(np.mean(values))
    assert estimate.standard_error == pytest.approx(stats.sem(values))


def test_nested_folds_are_scored_outside():
    from sklearn.neighbors import KNeighborsClassifier

    study = hf.Study(selectors={"a": anova()}, perturbation=hf.NestedFolds(3, 2), estimator=KNeighborsClassifier(3))
    result = study.run(X, Y)
    assert result.scores["run"].tolist() == ["outer 0", "outer 1", "outer 2"]
    assert sorted(result.predictions("a")["row"]) == list(range(60))
    assert result.summary().loc["a", "runs"] == 6


def test_folds_are_runs_whose_interval_is_labeled(results):
    estimate = results["folds"].stability("three")
    assert estimate.value == pytest.approx(nogueira(selected_names(results["folds"], "three")))
    assert "rough guide" in estimate.scope
    assert not estimate.validated
    compared = results["folds"].compare(["three", "six"]).estimates["three"]
    assert (compared.scope, compared.validated) == (estimate.scope, False)
    assert results["runs"].stability("three").validated


def test_samples_that_shrink_are_compared_with_their_whole(results):
    result = results["nested_subsamples"]
    runs = labeled(result, "six")
    values = {
        fraction: [
            two_sets(runs[f"bootstrap {sample} at 1"], runs[f"bootstrap {sample} at {fraction}"], "jaccard")
            for sample in range(5)
        ]
        for fraction in (0.3, 0.6)
    }
    table = result.fraction_profile(["six"], "jaccard").set_index("fraction")
    for fraction, found in values.items():
        assert table.loc[fraction, "agreement"] == pytest.approx(np.mean(found))
        assert table.loc[fraction, "samples"] == 5
    blocks = np.mean(list(values.values()), axis=0)
    estimate = result.stability("six", "jaccard")
    assert estimate.value == pytest.approx(blocks.mean())
    assert estimate.standard_error == pytest.approx(stats.sem(blocks))


@pytest.mark.parametrize("design", ["pairs", "nested_folds", "nested_subsamples"])
def test_each_block_may_have_a_similarity_of_its_own(design, results):
    """That of the rows it was drawn from: the last block has twins, the others have none."""
    result = results[design]
    d, n_blocks = X.shape[1], result.splits["block"].nunique()
    plain, twins = np.eye(d), np.ones((d, d))
    by_block = result.stability("six", "gulgezen", similarity=[plain] * (n_blocks - 1) + [twins]).pseudo_values
    apart = result.stability("six", "gulgezen", similarity=plain).pseudo_values
    assert by_block[:-1] == pytest.approx(apart[:-1])
    assert by_block[-1] == 1 > apart[-1]
    same = result.stability("six", "gulgezen", similarity=[plain] * n_blocks)
    assert same.value == result.stability("six", "gulgezen", similarity=plain).value
    with pytest.raises(ValueError, match=f"one for each of the {n_blocks} blocks of resamples, got 1"):
        result.stability("six", "gulgezen", similarity=[plain])


def test_profiles_by_fraction_take_a_similarity_for_each_sample(results):
    plain, twins = np.eye(X.shape[1]), np.ones((X.shape[1], X.shape[1]))
    table = results["nested_subsamples"].fraction_profile(["six"], "gulgezen", similarity=[twins] * 5)
    assert table["agreement"].dropna().tolist() == [1, 1]
    table = results["nested_subsamples"].fraction_profile(["six"], "gulgezen", similarity=[plain] * 5)
    assert (table["agreement"].dropna() < 1).all()


def test_resamples_without_blocks_share_one_similarity(results):
    with pytest.raises(ValueError, match="one similarity of features for gulgezen, got a list of 2"):
        results["runs"].stability("six", "gulgezen", similarity=[np.eye(X.shape[1])] * 2)


@every
def test_candidates_are_compared_on_the_same_splits(design, results):
    result = results[design]
    found = result.compare(["three", "six"])
    (row,) = found.pairs.to_dict("records")
    assert (row["first_name"], row["second_name"]) == ("three", "six")
    one, two = result.stability("three"), result.stability("six")
    assert row["difference"] == pytest.approx(one.value - two.value)
    assert 0 <= row["p_value"] <= 1
    if design in ("pairs", "nested_folds", "nested_subsamples"):
        away = np.asarray(one.pseudo_values) - np.asarray(two.pseudo_values)
        assert row["p_value"] == pytest.approx(stats.ttest_1samp(away, 0).pvalue)
    for name in ("three", "six"):
        assert found.estimates[name].value == pytest.approx(result.stability(name).value)


@every
def test_weights_have_a_stability_in_every_design(design, results):
    estimate = results[design].stability("weights")
    low, high = estimate.ci()
    assert -1 <= estimate.value <= 1
    assert -1 <= low <= estimate.value <= high <= 1 or design == "pairs"


@every
def test_a_selection_that_never_changes_is_perfect_with_an_interval_that_is_no_point(design):
    perturbation = DESIGNS[design]
    names = [f"f{column}" for column in range(12)]
    fixed = hf.Study(selectors={"fixed": FirstThree()}, perturbation=perturbation).run(X[names], Y)
    estimate = fixed.stability("fixed")
    low, high = estimate.ci()
    assert estimate.value == pytest.approx(1)
    if design == "pairs":
        assert np.isnan(low)
        return
    assert low < 0.9
    assert high == pytest.approx(1)


class FirstThree(Constant):
    """Selects the first three, always."""

    def fit(self, X, y):
        self.support_ = np.arange(np.shape(X)[1]) < 3
        return self


@pytest.mark.parametrize("value", [0.1, 0.7, 1.0, -0.3])
@pytest.mark.parametrize("n", [2, 3, 7])
def test_equal_values_bound_what_others_could_be(value, n):
    distribution = Student(np.full(n, value), -1, 1)
    differ = 1 - 0.05 ** (1 / n)
    assert distribution.ci(0.95) == pytest.approx((value - differ * (value + 1), value + differ * (1 - value)))
    assert distribution.standard_error == 0
    assert distribution.p_value(value) == 1
    assert distribution.p_value(-0.5) == pytest.approx((0.5 / (value + 1)) ** n)
    low = distribution.ci(0.9).low  # interval and test agree
    assert distribution.p_value(low) == pytest.approx(0.1)
    endless = Student(np.full(n, value), -np.inf, 1)
    assert endless.p_value(-5) == 1
    assert endless.ci(0.95).low == -np.inf


def test_students_law_is_the_textbooks():
    values = np.array([0.2, 0.5, 0.3, 0.8])
    distribution = Student(values, -1, 1)
    assert distribution.ci(0.8) == pytest.approx(stats.t.interval(0.8, 3, values.mean(), stats.sem(values)))
    assert distribution.p_value(0.1) == pytest.approx(stats.ttest_1samp(values, 0.1, alternative="greater").pvalue)
    assert distribution.ci(0.999) == (-1, 1)


def test_blocks_that_lost_runs_are_left_out():
    study = hf.Study(selectors={"a": anova(), "raising": Raising(0.13)}, perturbation=hf.ComplementaryPairs(8))
    result = run_with_failures(study, X, Y)
    runs = labeled(result, "raising")
    whole = [pair for pair in range(8) if {f"pair {pair}a", f"pair {pair}b"} <= set(runs)]
    assert 2 <= len(whole) < 8
    values = [two_sets(runs[f"pair {pair}a"], runs[f"pair {pair}b"], "jaccard") for pair in whole]
    assert result.stability("raising", "jaccard").value == pytest.approx(np.mean(values))
    found = result.compare(measure="jaccard").pairs.iloc[0]
    others = labeled(result, "a")
    mine = [two_sets(others[f"pair {pair}a"], others[f"pair {pair}b"], "jaccard") for pair in whole]
    assert found["difference"] == pytest.approx(np.mean(mine) - np.mean(values))


def test_an_undefined_block_makes_the_mean_undefined_unless_a_value_is_given():
    study = hf.Study(selectors={"none": Constant(), "a": anova()}, perturbation=hf.ComplementaryPairs(3))
    result = study.run(X, Y)
    with pytest.warns(hf.UndefinedStabilityWarning, match="in 3 of 3 pairs a half selected nothing"):
        estimate = result.stability("none", "nogueira")
    assert np.isnan(estimate.value)
    assert np.isnan(estimate.ci().low)
    assert result.stability("none", "nogueira", undefined=0.0).value == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = result.summary().loc["none"]
    assert "pairs" in row["reason"]


def test_one_block_has_a_value_and_no_interval():
    study = hf.Study(selectors={"a": anova()}, perturbation=hf.NestedSubsamples(1, (0.5,)))
    estimate = study.run(X, Y).stability("a")
    assert np.isfinite(estimate.value)
    assert np.isnan(estimate.ci().low)
    assert "two are needed" in estimate.no_interval


# Empty halves, undefined blocks

ALL = list(range(20))


def paired(*pairs, **others):
    """A study of pairs of halves, given as pairs of sets."""
    blocks = np.repeat(np.arange(len(pairs)), 2).tolist()
    sets = {"a": pairs, **others}
    return make_result(
        {name: {"sets": list(itertools.chain(*one))} for name, one in sets.items()}, design="pairs", blocks=blocks
    )


@pytest.mark.parametrize("measure", ["pearson", "jaccard", "nogueira", "hamming"])
@pytest.mark.parametrize("undefined", ["nan", "skip", "raise"])
def test_pairs_with_an_empty_half_are_left_out_and_counted(measure, undefined):
    told = [([0, 1], [0, 2]), ([0, 1, 2], [0, 1, 2]), ([3], [4])]
    result = paired(told[0], ([], []), told[1], ([], [1, 2]), told[2])
    estimate = result.stability("a", measure, undefined=undefined)
    assert estimate.value == pytest.approx(paired(*told).stability("a", measure).value)
    assert estimate.reason == "2 of 5 pairs left out: a half selected nothing"
    assert estimate.reason in repr(estimate)
    assert estimate.to_dict()["reason"].startswith(estimate.reason)
    assert result.summary(measure).loc["a", "reason"].startswith(estimate.reason)
    assert estimate.pseudo_values.size == 3


def test_two_empty_sets_are_alike_by_pearson_beside_pairs():
    empty = hf.Preferences.from_sets([[], []], n_features=5)
    assert hf.stability(empty, "pearson").value == 1
    assert hf.inference.agreement(empty, empty, "pearson").value == 1


@pytest.mark.parametrize("undefined", ["nan", "skip"])
def test_where_most_halves_are_empty_the_agreement_is_undefined(undefined):
    one, none = ([0, 1], [0, 1]), ([], [1])
    assert paired(one, none).stability("a", undefined=undefined).value == 1
    result = paired(one, none, none)
    with pytest.warns(hf.UndefinedStabilityWarning, match="in 2 of 3 pairs a half selected nothing"):
        estimate = result.stability("a", undefined=undefined)
    assert np.isnan(estimate.value)
    assert repr(estimate) == "nogueira is undefined: in 2 of 3 pairs a half selected nothing (6 runs)"
    with pytest.raises(hf.UndefinedStabilityError, match="in 2 of 3 pairs"):
        result.stability("a", undefined="raise")
    assert result.stability("a", undefined=0.25).value == pytest.approx(0.5)


BLOCKS = {
    "pairs": [([0, 1], [0, 2]), (ALL, ALL), ([3, 4], [3, 4])],
    "nested_folds": [([0, 1], [0, 2]), ([], []), ([3, 4], [3, 4])],
}


@pytest.mark.parametrize("design", BLOCKS)
def test_undefined_blocks_are_skipped_filled_told_or_raised(design):
    sets = list(itertools.chain(*BLOCKS[design]))
    result = make_result({"a": {"sets": sets}}, design=design, blocks=[0, 0, 1, 1, 2, 2])
    first, last = (two_of(*BLOCKS[design][place]) for place in (0, 2))
    with pytest.warns(hf.UndefinedStabilityWarning, match="in 1 of 3 blocks"):
        assert np.isnan(result.stability("a").value)
    skipped = result.stability("a", undefined="skip")
    assert skipped.value == pytest.approx((first + last) / 2)
    assert skipped.reason.endswith("in 1 of 3 blocks, which are left out")
    assert skipped.pseudo_values == pytest.approx([first, last])
    assert result.stability("a", undefined=0.5).value == pytest.approx((first + 0.5 + last) / 3)
    with pytest.raises(hf.UndefinedStabilityError):
        result.stability("a", undefined="raise")
    with pytest.raises(ValueError, match="Expected undefined="):
        result.stability("a", undefined="ignore")


def two_of(one, two):
    return hf.stability(hf.Preferences.from_sets([one, two], n_features=20)).value


def test_undefined_samples_that_shrink_are_skipped_as_a_whole():
    sets = [[0, 1], [0, 1], [0, 2], ALL, [0, 1], ALL]  # each sample at 0.3, 0.6 and 1
    result = make_result(
        {"a": {"sets": sets}}, design="nested_subsamples", blocks=[0, 0, 0, 1, 1, 1], fractions=[0.3, 0.6, 1] * 2
    )
    assert result.stability("a", undefined="skip").value == pytest.approx(two_of([0, 1], [0, 2]))


def test_pairs_that_one_candidate_leaves_out_are_left_out_of_the_comparison():
    a = [([0, 1], [0, 1]), ([0, 1], [0, 2]), ([], [1, 2]), ([0, 1], [2, 3])]
    b = [([0, 1], [0, 2]), ([], []), ([0, 1], [0, 1]), ([5, 6], [5, 7])]
    found = paired(*a, b=b).compare()
    (row,) = found.pairs.to_dict("records")
    both = [(two_of(*a[place]), two_of(*b[place])) for place in (0, 3)]
    assert row["difference"] == pytest.approx(np.mean([one - two for one, two in both]))
    assert found.estimates["a"].reason == "1 of 4 pairs left out: a half selected nothing"
    with pytest.raises(ValueError, match="Expected at least two blocks that count for all candidates, got 1"):
        paired(*a[:3], b=b[:3]).compare()


def test_noise_and_new_seeds_are_runs():
    for perturbation in (hf.Noise(5, 2.0), hf.NewSeeds(4)):
        result = hf.Study(selectors={"a": SelectKBest(k=3)}, perturbation=perturbation).run(X, Y)
        assert result.design == "runs"
        assert result.scores.empty
        scope = result.stability("a").scope
        assert scope.startswith(
            "this data set with noise" if isinstance(perturbation, hf.Noise) else "other random seeds on this data set"
        )
        if isinstance(perturbation, hf.Noise):
            sets = selected_names(result, "a")
            assert result.stability("a").value == pytest.approx(nogueira(sets))
            assert any(one != two for one, two in itertools.combinations(sets, 2))
