"""The lasso and the elastic net of Nogueira's papers: quick experiments, shared studies, checks against one draw."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from reproductions import Workbench, redundancy
from reproductions.experiments import load_experiments
from reproductions.nogueira2018 import elastic_net, lasso
from reproductions.redundancy import FinalErrors, LassoFindings, check_draw, check_errors, check_gain

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
def test_every_experiment_has_checks_and_says_what_was_done(outcomes, short):
    outcome = outcomes[short]
    assert outcome.claims
    assert "2 data sets at each redundancy" in outcome.protocol
    assert all(check.rule and str(check.evidence) and check.where for check in outcome.claims)
    assert all(picture.chart.to_dict(validate=True) for picture in outcome.pictures)
    assert all(sentence.endswith(".") for sentence in outcome.notes)


def test_experiments_share_the_studies_of_a_redundancy(outcomes, folder):
    stores = sorted(path.name for path in (folder / redundancy.FOLDER).glob("*.db"))
    assert len(stores) == len(redundancy.REDUNDANCIES) * redundancy.QUICK.n_sets
    assert stores[0] == "rho-0-set-0-quick.db"


# Penalty strengths, likelihoods and errors of the final fit


def test_the_grid_is_that_of_the_authors_and_has_the_printed_strengths():
    grid = redundancy.make_strengths(100)
    assert grid == sorted(grid, reverse=True)
    assert (grid[0], grid[-1]) == (0.35, 3.5e-5)
    assert set(redundancy.PRINTED_STRENGTHS) < set(grid)
    assert len(grid) == 105


def test_errors_are_sums_over_rows_and_likelihoods_means(bench):
    result = redundancy.run_lasso(bench, 0.3, 0)
    curve = redundancy.read_curve(result)
    scores, splits = result.split_scores(redundancy.find_name(result, 0.023), redundancy.SCORE)
    assert curve["error"].loc[0.023] == pytest.approx(np.mean(-scores * splits["n_test"]))
    assert curve["log_likelihood"].loc[0.023] == pytest.approx(scores.mean())
    assert curve["error"].loc[0.023] > -curve["log_likelihood"].loc[0.023]


def test_the_final_fit_is_on_the_other_half_at_the_scale_of_glmnet(bench):
    X, y, truth = redundancy.draw_data(bench, 0.5, 0)
    half = len(y) // 2
    findings = redundancy.find_lasso(bench, 0.5)[0]
    strength = findings.chosen["nogueira", "one-se"]
    peer = LogisticRegression(C=1 / (half * strength), l1_ratio=1, solver="saga", tol=1e-8, max_iter=100_000)
    selected = np.abs(peer.fit(StandardScaler().fit_transform(X[half:]), y[half:]).coef_[0]) > 1e-6
    relevant = np.isin(np.arange(X.shape[1]), truth.relevant)
    assert findings.final[strength] == (int((selected & ~relevant).sum()), int((relevant & ~selected).sum()))


def test_rules_choose_what_they_say(bench):
    for findings in redundancy.find_lasso(bench, 0.3):
        likely, stable = (findings.chosen["nogueira", rule] for rule in ("likelihood", redundancy.MAX_STABLE))
        assert findings.at(likely, "log_likelihood") == findings.column("log_likelihood").max()
        assert findings.at(stable, "nogueira") == np.nanmax(findings.column("nogueira"))
        between = findings.at_choice("one-se", "nogueira")
        assert findings.at(likely, "nogueira") <= between <= findings.at(stable, "nogueira")


# Checks against one draw


def test_a_printed_number_may_lie_where_one_more_data_set_is_expected():
    ours = [0.5, 0.6, 0.7, 0.65]
    mean, low, high = redundancy.prediction_interval(ours)
    reach = stats.t(3).ppf(0.975) * np.std(ours, ddof=1) * np.sqrt(1 + 1 / 4)
    assert (mean, low, high) == pytest.approx((0.6125, 0.6125 - reach, 0.6125 + reach))

    def verdict(published, **options):
        return check_draw("c", "w", published=published, ours=ours, **options).verdict

    assert verdict(high - 1e-6) == verdict(low + 1e-6) == verdict(high + 0.004, rounding=0.005) == "holds"
    assert verdict(high + 0.004) == verdict(low - 0.004) == "does not hold"


def test_strengths_are_compared_by_factors():
    check = check_draw("c", "w", published=0.01, ours=[0.001, 0.01, 0.1], by_factors=True)
    assert check.verdict == "holds"
    assert str(check.evidence).startswith("geometric mean 0.01;")


def test_a_gain_is_judged_by_its_mean_over_data_sets():
    assert check_gain("c", "w", [0.1, 0.2, 0.15]).verdict == "holds"
    assert check_gain("c", "w", [-0.1, 0.2, 0.0]).verdict == "open"
    assert check_gain("c", "w", [-0.1, -0.2, -0.15]).verdict == "does not hold"


def make_findings(false, missed):
    return LassoFindings(
        curve=pd.DataFrame(), frequency=pd.DataFrame(), aware={}, chosen={("nogueira", "likelihood"): 0.1},
        final={0.1: FinalErrors(false, missed)},
    )  # fmt: skip


def test_errors_of_a_final_fit_are_both_to_be_expected():
    found = [make_findings(false, missed) for false, missed in ((0, 20), (2, 22), (1, 19), (1, 21))]

    def verdict(*printed):
        check = check_errors("c", "w", printed=printed, found=found, rule="likelihood", measure="nogueira")
        return check.verdict

    assert verdict(1, 20) == "holds"
    assert verdict(9, 20) == verdict(1, 40) == "does not hold"


def test_of_two_strengths_with_one_likelihood_the_larger_is_compared():
    strengths = [0.1, 0.2, 0.3, 0.4, 0.5]
    curve = pd.DataFrame({"log_likelihood": [-3.0, -2, -1, -2, -3], "nogueira": [0.1, 0.2, 0.3, 0.5, 0.6]}, strengths)
    findings = LassoFindings(curve=curve, frequency=curve, chosen={}, final={}, aware={})
    assert lasso._gain_at_equal_likelihood(findings) == pytest.approx((0.5 - 0.2 + 0.6 - 0.1) / 2)


# What is printed


def test_printed_numbers_fit_each_other():
    assert lasso.TABLE_5["none"][0] == lasso.TABLE_5["none"][1]  # "IDEM"
    assert all(max(*cells[0], *cells[1]) <= 50 for cells in lasso.TABLE_5.values())
    printed = {elastic_net.LAMBDA_LIKELIHOOD, elastic_net.LAMBDA_BOTH, elastic_net.LAMBDA_STABLE}
    assert printed < set(elastic_net.LAMBDAS)
    assert elastic_net.ALPHA in elastic_net.ALPHAS
