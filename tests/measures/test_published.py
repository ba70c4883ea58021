"""Numbers that the papers print, and where they print wrong ones, the right ones."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

import holdfast as hf
from holdfast.inference.intervals import asymptotic_variance, run_influence
from holdfast.testing import mean_by_chance

A1 = [[1, 1, 1, 0, 0]] * 3
A2 = [[1, 1, 1, 0, 0], [1, 0, 1, 1, 0], [1, 0, 1, 0, 0]]
KRIZEK = (
    [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]],
    [[1, 0, 1, 0], [1, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1]],
)
GUZMAN = (
    [[1, 0, 0, 1, 0], [0, 1, 0, 1, 0], [0, 0, 0, 1, 1], [0, 0, 1, 1, 0]],
    [[1, 0, 0, 1, 0], [0, 1, 0, 1, 0], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0]],
)
CW_REL = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0]]


def values(runs, *names):
    return [estimate.value for estimate in hf.stability(runs, names)]


STABM = {
    "davis": 0.8, "dice": 0.8320106, "hamming": 0.8666667, "jaccard": 0.7166667, "kappa": 0.7275362,
    "lustgarten": 0.5333333, "nogueira": 0.7222222, "novovicova": 0.855155, "ochiai": 0.8450164, "pearson": 0.7576447,
    "cw_rel": 0.8, "unadjusted": 0.7453833, "wald": 1, "zucknick": 0.7603667, "sechidis": 0.5322911,
}  # fmt: skip
"""What the reference pages of the R package stabm 1.1.3 print for the features 1 to 3, 1 to 4 and 1 to 5 of 10, to
seven digits. ``pearson`` is stabilityPhi, ``cw_rel`` stabilitySomol; the similarity is 0.92 to the distance."""
STABM_DRAWN = {"intersection_mbm": 0.5646009}
"""The same for a measure of which stabm estimates the part that is due to chance, by 1,000 draws."""


@pytest.mark.parametrize("name", [*STABM, *STABM_DRAWN])
def test_values_that_stabm_prints(name):
    runs = hf.Preferences.from_sets([range(3), range(4), range(5)], n_features=10)
    similarity = 0.92 ** np.abs(np.subtract.outer(np.arange(10), np.arange(10)))
    options = {"similarity": similarity} if hf.MEASURES[name].similarity else {"alpha": 0} if name == "davis" else {}
    value = hf.stability(runs, name, **options).value
    if name in STABM:
        assert float(f"{value:.7g}") == STABM[name]
    else:
        assert value == pytest.approx(STABM_DRAWN[name], abs=0.005)


def test_2016_equation_1():
    assert values(A1, "jaccard", "pearson", "nogueira") == [1, 1, 1]
    assert values(A2, "jaccard") == pytest.approx([11 / 18])


def test_the_2016_and_2018_measures_differ_when_sizes_vary():
    assert values(A2, "pearson", "nogueira") == pytest.approx([1 / 2, 13 / 28])


def test_2018_c_2_4_krizek_is_blind_to_variance():
    assert [values(runs, "krizek") for runs in KRIZEK] == [[1], [1]]
    assert [sum_of_variances(runs) for runs in KRIZEK] == pytest.approx([4 / 3, 2 / 3])


def test_2018_c_2_5_guzman_contradicts_variance():
    stabilities = [values(runs, "guzman")[0] for runs in GUZMAN]
    assert stabilities == pytest.approx([0.24353, 0.31491], abs=1e-5)
    assert [sum_of_variances(runs) for runs in GUZMAN] == pytest.approx([1.0, 7 / 6])  # not 0.15 and 0.17


def test_2018_c_4_5_cw_rel_reaches_one_for_runs_that_differ():
    assert values(CW_REL, "cw_rel", "nogueira") == pytest.approx([1, 29 / 45])


@pytest.mark.parametrize("d", [5, 12])
@pytest.mark.parametrize("M", [4, 10])
def test_2018_c_3_1_wald_and_npog_fall_without_bound(M, d):
    half = M // 2
    runs = np.r_[[np.r_[np.ones(d - 1), 0]] * half, [np.r_[np.zeros(d - 1), 1]] * half]
    same = (half - 1) / (M - 1)
    wald, npog = values(runs, "wald", "npog")
    assert wald == pytest.approx(same + M / (2 * (M - 1)) * (1 - d))
    assert npog == pytest.approx(same + M / (4 * (M - 1)) * ((1 - d) - 1 / (d - 1)))


def test_jaccard_is_not_monotone_even_for_one_size():
    less = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    more = [[0, 0, 1, 1]] * 3 + [[1, 1, 0, 0]]
    assert [sum_of_variances(runs) for runs in (less, more)] == pytest.approx([5 / 6, 1])
    assert [values(runs, "jaccard")[0] for runs in (less, more)] == pytest.approx([4 / 9, 1 / 2])


def test_2018_figure_1_half_the_runs_miss_one_feature():
    runs = [[1] * 5 + [0] * 5] * 50 + [[1] * 4 + [0] * 6] * 50
    assert values(runs, "wald", "cw_rel") == pytest.approx([1, 1])
    assert values(runs, "nogueira", "pearson")[0] < 1


def test_2018_b_2_expected_stability_of_two_random_runs():
    assert mean_by_chance(hf.MEASURES["nogueira"], (1, 2), 3) == pytest.approx(-1 / 9)  # not 0
    assert mean_by_chance(hf.MEASURES["pearson"], (1, 2), 3) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("measure", "expected"), [("cw_rel", 0.25), ("krizek", 1.263)])
def test_small_enumerations(measure, expected):
    assert mean_by_chance(hf.MEASURES[measure], (2, 2, 2), 4) == pytest.approx(expected, abs=5e-4)


def test_least_value_of_nogueira():
    runs = np.eye(4)
    assert values(runs, "nogueira") == pytest.approx([-1 / 3])


@pytest.mark.parametrize("sizes", ["one", "varying"])
def test_nogueira_is_fleiss_kappa(sizes):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(30, 40)) + np.linspace(0, 3, 40)
    runs = weights > 2 if sizes == "varying" else hf.Preferences.from_weights(weights).top(9).to_frame().to_numpy()
    table, _ = aggregate_raters(np.asarray(runs, dtype=int).T)
    assert values(runs, "nogueira") == pytest.approx([fleiss_kappa(table)])


def test_measures_that_are_one_at_one_size():
    rng = np.random.default_rng(1)
    runs = hf.Preferences.from_weights(rng.normal(size=(12, 20)) + np.linspace(0, 2, 20)).top(6)
    assert values(runs, "nogueira", "kuncheva", "wald", "npog", "pearson", "kappa", "unadjusted") == pytest.approx(
        [hf.stability(runs).value] * 7
    )


def test_mean_overlap_is_mean_size_less_the_variances():
    rng = np.random.default_rng(2)
    runs = hf.Preferences.from_matrix(rng.random((9, 15)) < 0.4)
    Z = runs.to_frame().to_numpy()
    shared = (Z @ Z.T)[~np.eye(9, dtype=bool)].mean()
    assert shared == pytest.approx(runs.sizes.mean() - sum_of_variances(Z))


def sum_of_variances(runs):
    return np.var(np.asarray(runs, dtype=float), axis=0, ddof=1).sum()


# The variance of Theorem 7


@pytest.mark.parametrize("varying", [False, True])
def test_the_variance_is_that_of_the_dense_formula(varying):
    rng = np.random.default_rng(3)
    Z = (rng.random((15, 30)) < rng.random((1, 30)) * (0.2 + 0.8 * rng.random((15, 1)) * varying)).astype(int)
    runs = hf.Preferences.from_matrix(Z)
    M, d = Z.shape
    p, k = Z.mean(0), Z.sum(1)
    density, phi = k.mean() / d, hf.stability(runs).value
    dense = np.array(
        [
            (Z[i] @ p / d - k[i] * k.mean() / d**2 + phi / 2 * (2 * k.mean() * k[i] / d**2 - k[i] / d - density + 1))
            / (density * (1 - density))
            for i in range(M)
        ]
    )
    assert run_influence(runs) == pytest.approx(dense)
    assert asymptotic_variance(runs) == pytest.approx(4 / M**2 * np.sum((dense - dense.mean()) ** 2))


def test_the_variance_is_that_of_repeated_draws_with_varying_sizes():
    """The sign of the Φ/2 term only shows when sizes vary."""
    rng = np.random.default_rng(4)
    p, M = np.r_[np.full(10, 0.8), np.full(30, 0.1)], 100
    eager = rng.choice([0.2, 1.2], size=(1500, M, 1))  # some runs select much, some little
    Z = rng.random((1500, M, 40)) < p * eager
    runs = [hf.Preferences.from_matrix(z) for z in Z]
    observed = np.var([hf.stability(one).value for one in runs], ddof=1)
    assert np.mean([asymptotic_variance(one) for one in runs]) == pytest.approx(observed, rel=0.1)


def test_the_variance_is_zero_or_undefined_where_it_must():
    assert asymptotic_variance(hf.Preferences.from_matrix(A1)) == 0
    assert asymptotic_variance(hf.Preferences.from_sets([{0, 1}, {1, 2}], n_features=5)) == pytest.approx(0)
    assert np.isnan(asymptotic_variance(hf.Preferences.from_matrix([[0, 0], [0, 0]])))
    with_empty_run = hf.Preferences.from_sets([{0, 1}, set(), {1}], n_features=4)
    assert asymptotic_variance(with_empty_run) > 0
