"""Data of extreme size: every selector selects as at ordinary size, or refuses in a sentence; none goes on for ever."""

import json
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

import holdfast as hf
from eliminations import lockstep_elimination, ridge_elimination
from holdfast import selectors as of
from holdfast.kernels.elastic_net import elastic_net_paths
from holdfast.kernels.elimination import elimination_sizes
from holdfast.kernels.svm import svm_elimination

SCALES = {
    "1e160": 1e160,
    "1e200": 1e200,
    "1e-170": 1e-170,
    "1e-200": 1e-200,
    "1e300": 1e300,
    "1e-300": 1e-300,
    "2^900": 2.0**900,
    "2^-900": 2.0**-900,
    "mixed": np.where(np.arange(12) % 2, 1e-150, 1e150),
}

EQUIVARIANT = {
    "AnovaF": of.AnovaF(3),
    "Golub": of.Golub(3),
    "GolubVariance without variance": of.GolubVariance(3, lambda_v=0),
    "InformationGain": of.InformationGain(3),
    "SymmetricalUncertaintyFilter": of.SymmetricalUncertaintyFilter(3),
    "MRMR": of.MRMR(3),
    "ReliefF": of.ReliefF(3),
    "ReliefF, full": of.ReliefF(3, ranges="full"),
    "LinearSVMWeights": of.LinearSVMWeights(3),
    "LinearSVMWeights, full": of.LinearSVMWeights(3, scale="full"),
    "SVMRFE": of.SVMRFE(3),
    "SVMRFE, full": of.SVMRFE(3, scale="full"),
    "HybridRFE": of.HybridRFE(3),
    "HybridRFE, full": of.HybridRFE(3, scale="full"),
    "HybridRFE, golub": of.HybridRFE(3, n_forced=2, criterion="golub"),
    "ElasticNetPath": of.ElasticNetPath(n_features=3),
    "ElasticNetPath at a lambda": of.ElasticNetPath(0.1, l1_ratio=0.5),
    "ElasticNetCV": of.ElasticNetCV(3, random_state=0),
    "RandomSelector": of.RandomSelector(3, random_state=0),
    "StabilitySelection": of.StabilitySelection(of.SVMRFE(), threshold=0.6, q=3, n_resamples=3, random_state=0),
    "EnsembleSelector": of.EnsembleSelector(of.ElasticNetPath(), 3, n_resamples=3, random_state=0),
    "GroupedSelector": of.GroupedSelector(of.AnovaF(3)),
    "GroupedSelector, uncertainty": of.GroupedSelector(of.AnovaF(3), similarity="symmetrical_uncertainty"),
}

BY_SIZE = {
    "Variance": of.Variance(3),
    "GolubVariance": of.GolubVariance(3, lambda_v=0.5),
    "HybridRFE, variance": of.HybridRFE(3, n_forced=2),
    "HybridRFE as printed": of.HybridRFE(3, standardize=False, fit_intercept=False, drop=1),
    "HybridRFE as it is": of.HybridRFE(3, standardize=False),
}


def data():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 12)) + np.where(np.arange(12) < 4, y[:, None] * 1.5, 0), y


def outcomes(scales):
    """Print what every selector selects at scales, or the error; a RuntimeWarning is one."""
    import warnings

    warnings.simplefilter("error", RuntimeWarning)
    X, y = data()
    for name, selector in {**EQUIVARIANT, **BY_SIZE}.items():
        for scale in scales:
            print(json.dumps([name, scale, outcome(selector, X * {"1": 1.0, **SCALES}[scale], y)]), flush=True)


def outcome(selector, X, y):
    try:
        return np.flatnonzero(selector.fit(X, y).get_support()).tolist()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@cache
def found(*scales):
    """What every selector does at scales, in a process that is ended if it goes on for ever."""
    command, path = [sys.executable, __file__, *scales], {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=True, env=path)
    except subprocess.TimeoutExpired as late:
        lines = (late.stdout or b"").decode().splitlines()
        pytest.fail(f"no end after {lines[-1] if lines else 'the start'}")
    return {(name, scale): result for name, scale, result in map(json.loads, run.stdout.splitlines())}


USUAL = "1", "1e200", "2^-900", "mixed"
OTHERS = "1", *(scale for scale in SCALES if scale not in USUAL)
at_scales = pytest.mark.parametrize(
    "scales", [USUAL, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["usual", "others"]
)


@at_scales
@pytest.mark.parametrize("name", EQUIVARIANT)
def test_standardized_features_are_selected_at_any_size(name, scales):
    at = found(*scales)
    assert {scale: at[name, scale] for scale in scales} == dict.fromkeys(scales, at[name, "1"])


@at_scales
@pytest.mark.parametrize("name", BY_SIZE)
def test_selectors_that_compare_squares_refuse_what_has_none(name, scales):
    at = found(*scales)
    assert isinstance(at[name, "1"], list)
    for scale in set(scales) - {"1", "mixed"}:
        assert at[name, scale].startswith("ValueError: Expected ")
        assert "rescale" in at[name, scale]


def test_the_largest_variances_among_columns_of_all_sizes():
    at = found(*USUAL)
    X, _ = data()
    large = np.arange(0, 12, 2)
    best = large[np.argsort(-X[:, large].var(axis=0))]
    assert at["Variance", "mixed"] == at["GolubVariance", "mixed"] == sorted(best[:3])
    assert set(at["HybridRFE, variance", "mixed"]) > set(best[:2])  # the forced ones
    for name in ("HybridRFE as printed", "HybridRFE as it is"):
        assert at[name, "mixed"].startswith("ValueError: Expected numbers whose squares can be computed")


def test_numbers_whose_differences_are_infinite_are_refused_at_once():
    X, y = data()
    X[3, 5] = 1.7e308
    for selector in {**EQUIVARIANT, **BY_SIZE}.values():
        with pytest.raises(ValueError, match=r"Expected numbers up to 1e301 in size, got 1.7e\+308 in row 3, column 5"):
            selector.fit(X, y)
        with pytest.raises(ValueError, match="Expected numbers up to 1e301"):
            selector.prepare(X, y, [{}])


@pytest.mark.parametrize("selector", [of.HybridRFE(3), of.ElasticNetPath(0.1)], ids=str)
def test_models_predict_at_any_size_or_are_refused(selector):
    X, y = data()
    ordinary = selector.fit(X, y).predict_proba(X)
    for factor in (2.0**900, 2.0**-900):
        assert np.allclose(selector.fit(X * factor, y).predict_proba(X * factor), ordinary, rtol=1e-12)
    with pytest.raises(ValueError, match="Expected a model with finite weights, got other ones in columns"):
        selector.fit(X * 2.0**-1030, y)


def test_a_column_that_hardly_varies_in_a_resample_is_standardized_as_it_would_be_alone():
    X, y = data()
    X[:, 0] *= 1e-200
    X[:2, 0] = 1.0, -1.0
    counts = np.ones((1, 40))
    counts[0, :2] = 0
    for elimination in (ridge_elimination, svm_elimination):
        within, alone = elimination(X, 2.0 * y - 1, counts), elimination(X[2:], 2.0 * y[2:] - 1)
        assert np.allclose(within.weight, alone.weight, rtol=1e-9)
        assert within.weight[0, 0] != 0
    with pytest.raises(ValueError, match="squares can be computed, got larger or smaller ones in resample 0"):
        elastic_net_paths(X, 2.0 * y - 1, counts, family="logistic")


@pytest.mark.parametrize("factor", SCALES.values(), ids=SCALES)
def test_eliminations_in_lock_step_are_the_same_at_any_size(factor):
    X, y = data()
    counts, sizes = np.ones((2, 40)), elimination_sizes(12, 3, 0.2)
    (ordinary,), (found,) = (lockstep_elimination(values, 2.0 * y - 1, counts, sizes) for values in (X, X * factor))
    assert found.smallest_size.tolist() == ordinary.smallest_size.tolist()
    with pytest.raises(ValueError, match="Expected numbers whose squares can be computed"):
        lockstep_elimination(X * factor, 2.0 * y - 1, counts, sizes, scale="full")


def test_the_error_of_one_resample_names_it_and_leaves_the_others():
    X, y = data()
    with pytest.raises(ArithmeticError, match="within 1 iterations in resample 0"):
        svm_elimination(X, 2.0 * y - 1, np.ones((2, 40)), max_iter=1)
    with pytest.raises(ArithmeticError, match="within 1 iterations in resample 0"):
        ridge_elimination(X, 2.0 * y - 1, np.ones((2, 40)), max_iter=1)
    X[:, 0] *= 1e-200
    X[0, 0] = 1.0
    selector = of.ElasticNetPath(0.1)
    splits = list(hf.Subsample(6, 0.9).splits(y))
    results = [one for (one,) in selector.refit_many(selector.prepare(X, y, [{}]), X, y, splits, [{}])]
    assert {isinstance(one, ValueError) for one, split in zip(results, splits, strict=True) if 0 in split.rows} == {
        False
    }
    assert {isinstance(one, ValueError) for one, split in zip(results, splits, strict=True) if 0 not in split.rows} == {
        True
    }


if __name__ == "__main__":
    outcomes(sys.argv[1:])
