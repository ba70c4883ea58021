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
    assert share(rows, "q 0.1").mean() <= 0.1
    assert rows["q 0.1: true"].mean() >= 1
    both = pd.concat([rows, rows.assign(noise=True)])
    assert len(by_method(both)) == len(by_kind(both)) == 1


@pytest.mark.slow
def test_the_quick_filter_finds_what_the_package_finds():
    rows = pd.DataFrame([check(name, "sparse", False, seed) for name in (FILTER, PACKAGE) for seed in range(8)])
    found = rows.groupby("method")["q 0.1: true"].mean()
    assert abs(found[FILTER] - found[PACKAGE]) <= 0.5


def test_planted_arrays_have_exact_nulls(monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 300)) + rng.normal(size=(80, 300))
    monkeypatch.setattr(real, "array_of", lambda name: table)
    X, columns, moved = real.plant("gravier", rng)
    assert moved[columns].all()
    assert (X[:, ~moved] == table[:, ~moved]).all()
    assert sorted(map(tuple, X[:, moved])) == sorted(map(tuple, table[:, moved]))
