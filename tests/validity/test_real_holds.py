"""A quick look at what is promised of real features, which ``real.py`` shows at length; fixed seeds, seconds."""

import numpy as np
import pandas as pd
import pytest
import real
from real import by_kind, by_method, check, share

FILTER, PACKAGE = "shuffled, ANOVA best 10", "the same by hf.replicability"


def test_in_noise_at_most_one_feature_has_one_expected_false():
    rows = pd.DataFrame([check(FILTER, kind, True, seed) for kind in ("blocks", "heavy tails") for seed in range(12)])
    false = rows["one: false"]
    assert false.mean() <= 1 + 3 * false.std() / len(false) ** 0.5
    assert (rows["q 0.1: found"] > 0).mean() <= 0.1 + 3 * (0.09 / len(rows)) ** 0.5


def test_with_signals_real_features_are_found_and_few_false_ones():
    rows = pd.DataFrame([check(FILTER, "sparse", False, seed) for seed in range(8)])
    false = share(rows, "q 0.1")
    assert false.mean() <= 0.1 + 2 * false.std() / len(rows) ** 0.5
    assert rows["q 0.1: true"].mean() >= 1
    both = pd.concat([rows, rows.assign(noise=True)])
    assert len(by_method(both)) == len(by_kind(both)) == 1


def equal_judgments(kind, noise, seed):
    X, y, _, _ = real.draw(kind, noise, np.random.default_rng([seed, 77]))
    for quick, package in zip(real.METHODS[FILTER](X, y, seed), real.METHODS[PACKAGE](X, y, seed), strict=True):
        np.testing.assert_allclose(quick, package, rtol=1e-9, equal_nan=True)


def test_the_quick_filter_says_of_each_feature_what_the_package_says():
    equal_judgments("sparse", False, 0)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in real.KINDS if kind != "SNP-like"])  # genotypes tie
def test_so_it_does_for_every_kind_of_data(kind, noise):
    for seed in range(2):
        equal_judgments(kind, noise, seed)


def test_planted_arrays_have_exact_nulls(monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 300)) + rng.normal(size=(80, 300))
    monkeypatch.setattr(real, "array_of", lambda name: table)
    X, columns, moved = real.plant("gravier", rng)
    assert moved[columns].all()
    assert (X[:, ~moved] == table[:, ~moved]).all()
    assert sorted(map(tuple, X[:, moved])) == sorted(map(tuple, table[:, moved]))
