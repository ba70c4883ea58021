"""The lasso and the elastic net of Nogueira's papers: quick experiments, shared runs, one draw beside several."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from reproductions import Workbench, redundancy
from reproductions.experiments import load_experiments
from reproductions.nogueira2018 import elastic_net, lasso
from reproductions.records import judge
from reproductions.redundancy import BOTH, FEW_FEATURES, NEAR, LassoRun, distance, gain, judge_errors, share_of_sets

EXPERIMENTS = ["figure6", "figure7", "table5", "figure10"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


@pytest.fixture(scope="module")
def bench(folder):
    return Workbench(folder=folder / "some experiment", quick=True)


@pytest.fixture(scope="module")
def outcomes(folder):
    known = load_experiments()
    names = {short: f"nogueira2018-{short}" for short in EXPERIMENTS}
    return {short: known[name].run(Workbench(folder=folder / name, quick=True)) for short, name in names.items()}


@pytest.mark.parametrize("short", EXPERIMENTS)
def test_every_experiment_has_claims_and_says_what_was_done(outcomes, short):
    outcome = outcomes[short]
    assert outcome.claims
    assert "2 data sets at each redundancy" in outcome.protocol
    assert all(claim.rule.text and str(claim.evidence) and claim.location for claim in outcome.claims)
    assert all(picture.chart.to_dict(validate=True) for picture in outcome.pictures)
    assert all(sentence.endswith(".") for sentence in outcome.notes)


def test_experiments_share_the_runs_of_a_redundancy_and_read_them_again(outcomes, folder, bench, monkeypatch):
    stored = sorted(path.name for path in (folder / "lasso-by-redundancy").glob("*.json"))
    assert len(stored) == len(redundancy.REDUNDANCIES) * redundancy.QUICK.n_sets
    assert stored[0] == "rho-0-set-0-quick.json"
    monkeypatch.setattr(redundancy, "_run_once", lambda *arguments: 1 / 0)
    assert len(redundancy.run_lasso(bench, 0.3)) == redundancy.QUICK.n_sets


def test_seeds_draw_other_data(bench, folder):
    other = Workbench(folder=folder / "other", quick=True, seed=1)
    first, second = (redundancy.draw_data(own, 0.3, 0).X for own in (bench, other))
    assert not np.allclose(first, second)


# Penalty strengths, likelihoods and errors of the final fit


def test_the_grid_is_that_of_the_authors_and_has_the_printed_strengths():
    grid = redundancy.make_strengths(100)
    assert grid == sorted(grid, reverse=True)
    assert (grid[0], grid[-1]) == (0.35, min(redundancy.PRINTED_STRENGTHS))
    assert set(redundancy.PRINTED_STRENGTHS) < set(grid)
    assert redundancy.count_pools(Workbench(folder=None, large=True)) >= len(grid)


def test_errors_are_sums_over_rows_and_likelihoods_means(bench):
    curve = redundancy.run_lasso(bench, 0.3)[0].curve
    left_out = curve["error"] / -curve["log_likelihood"]
    assert left_out.between(20, 40).all()  # about 37 % of 80 rows


def test_the_final_fit_is_on_the_other_half_at_the_scale_of_glmnet(bench):
    X, y, truth = redundancy.draw_data(bench, 0.5, 0)
    half, run = len(y) // 2, redundancy.run_lasso(bench, 0.5)[0]
    strength = run.choose("one-se")
    peer = LogisticRegression(C=1 / (half * strength), l1_ratio=1, solver="saga", tol=1e-8, max_iter=100_000)
    selected = np.abs(peer.fit(StandardScaler().fit_transform(X[half:]), y[half:]).coef_[0]) > 1e-6
    relevant = np.isin(np.arange(X.shape[1]), truth.relevant)
    found = run.at(strength, "false_positives"), run.at(strength, "false_negatives")
    assert found == ((selected & ~relevant).sum(), (relevant & ~selected).sum())


def make_run(likelihood, stability, false=0, missed=0, size=3.0):
    n = len(likelihood)
    curve = pd.DataFrame(
        {"log_likelihood": likelihood, "log_likelihood_se": 0.15, "nogueira": stability, "pearson": stability,
         "size": size, "false_positives": false, "false_negatives": missed},
        index=[0.1 * (n - place) for place in range(n)],
    )  # fmt: skip
    return LassoRun(curve=curve, frequency=pd.DataFrame())


def test_rules_choose_what_they_say():
    run = make_run([-3.0, -1.3, -1.1, -1.0, -2.0], [np.nan, 0.9, 0.6, 0.5, 0.99])
    assert run.choose("likelihood") == pytest.approx(0.2)
    assert run.choose("one-se") == pytest.approx(0.3)
    assert run.choose("most stable") == pytest.approx(0.4)  # 0.1 penalizes less than the likeliest
    nothing = make_run([-1.0, -1.3], [1.0, 0.2], size=[0.5, 3.0])
    assert {nothing.choose(rule) for rule in ("likelihood", *BOTH)} == {0.1}  # where nothing is selected is no choice


def test_of_two_strengths_with_one_likelihood_the_larger_is_compared():
    run = make_run([-3.0, -2, -1, -2, -3], [0.6, 0.5, 0.3, 0.2, 0.1])
    assert lasso.gain_at_equal_likelihood(run) == pytest.approx((0.5 - 0.2 + 0.6 - 0.1) / 2)


# One draw beside several


def test_a_printed_number_is_judged_by_its_distance_in_standard_deviations():
    ours = np.random.default_rng(0).normal(0.6, 0.1, size=200)
    mean, spread = ours.mean(), ours.std(ddof=1)
    assert distance("0.80", ours).value == pytest.approx((0.795 - mean) / spread)
    assert distance("0.6", ours).value == 0  # all numbers that round to it are as good
    verdicts = [judge(distance(printed, ours), NEAR) for printed in ("0.70", "0.80", "0.99")]
    assert verdicts == ["holds", "open", "does not hold"]


def test_strengths_are_compared_by_factors_with_the_rounding_of_print():
    ours = 0.0228 * np.exp(np.random.default_rng(0).normal(0, 1e-4, size=50))
    assert distance("0.023", ours, "factors").value == 0
    assert distance("0.0230", ours, "factors").value > 10
    assert "geometric mean 0.023" in str(distance("0.023", ours, "factors"))


def test_counts_are_compared_by_square_roots_and_none_is_near_none():
    none = distance("0", np.zeros(20), "counts")
    assert (none.value, none.high, judge(none, NEAR)) == (0, 0, "holds")
    assert judge(distance("3", np.zeros(20), "counts"), NEAR) == "does not hold"
    few = np.random.default_rng(0).poisson(4, size=200)
    assert judge(distance("8", few, "counts"), NEAR) == judge(distance("2", few, "counts"), NEAR) == "holds"
    assert judge(distance("14", few, "counts"), NEAR) == "does not hold"


def test_the_farthest_of_several_numbers_counts():
    ours = np.random.default_rng(0).poisson([4, 20], size=(100, 2))
    pair = distance(["4", "45"], ours, "counts")
    assert pair.value == pytest.approx(distance("45", ours[:, 1], "counts").value)


def test_errors_of_final_fits_are_judged_for_both_ways_to_choose():
    rng = np.random.default_rng(0)
    runs = [
        make_run([-1.3, -1.1, -1.0], [0.7, 0.6, 0.5], false=[0, 0, rng.poisson(5)], missed=[26, 20, 20])
        for _ in range(20)
    ]
    cells = judge_errors("low", ((5, 20), (0, 20)), runs, "nogueira", "Table 5", "Section 1")
    assert [claim.verdict for claim in cells] == ["holds", "open", "holds", "open"]  # the most stable λ misses six more
    assert cells[3].rule is FEW_FEATURES
    assert len(judge_errors("none", ((0, 0), (0, 0)), runs, "nogueira", "", "")) == 2


def test_gains_and_shares_have_intervals_over_data_sets():
    assert gain([0.1, 0.2, 0.15]).low > 0 > gain([-0.1, 0.2, 0.0]).low
    assert share_of_sets([True] * 20).low == pytest.approx(0.832, abs=0.001)


# What is printed


def test_printed_numbers_fit_each_other():
    assert lasso.TABLE_5["none"][0] == lasso.TABLE_5["none"][1]  # "IDEM"
    assert all(max(*cells[0], *cells[1]) <= 50 for cells in lasso.TABLE_5.values())
    printed = {elastic_net.LAMBDA_LIKELIHOOD, elastic_net.LAMBDA_BOTH, elastic_net.LAMBDA_STABLE}
    assert printed < set(elastic_net.LAMBDAS)
    assert elastic_net.ALPHA in elastic_net.ALPHAS
