"""A filter before another selector: as both fitted one after the other, in every split, with all settings together."""

import numpy as np
import pytest
from sklearn.base import clone

import holdfast as hf
from holdfast import selectors as of
from holdfast.resampling import Samples
from holdfast.selectors.base import SharedBySetting
from holdfast.selectors.prefiltered import SEEN

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.selection.FewerFeaturesWarning")
BASES = [
    (of.AnovaF(), [{"n_features": size} for size in (1, 3, 8)]),
    (of.MRMR(scheme="mid_alpha"), [{"alpha": alpha, "n_features": 3} for alpha in (0.2, 0.8)]),
    (of.HybridRFE(3), [{"n_forced": forced, "C": C} for forced in (0, 1) for C in (0.1, 1.0)]),
    (of.ElasticNetPath(), [{"penalty_strength": strength} for strength in (0.3, 0.1, 0.02)]),
    (of.ElasticNetPath(), [{"n_features": size} for size in (2, 4)]),
    (of.StabilitySelection(of.AnovaF(), threshold=0.6, n_resamples=4), [{"q": q} for q in (2, 3)]),
    (of.RandomSelector(), [{"n_features": 3}]),
]


def data(seed=0, n=40, d=25):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d) + np.where(np.arange(d) < 4, y[:, None] * 0.8, 0)
    X[:, 5], X[:, 7] = 1.0, X[:, 2]
    return X, np.array(["a", "b"])[y]


def splits_of(y, n):
    return [hf.Bootstrap(n).make_split(index, Samples.of(len(y)), 3) for index in range(n)]


def refit(selector, X, y, splits, settings):
    return list(selector.refit_many(selector.prepare(X, y, settings), X, y, splits, settings))


def of_base(setting):
    return {name if name == "n_features" else f"base__{name}": value for name, value in setting.items()}


@pytest.mark.parametrize(("base", "settings"), BASES, ids=lambda part: repr(part)[:40])
@pytest.mark.parametrize("first", [of.Variance(10), of.AnovaF(8)], ids=repr)
def test_it_is_the_filter_then_the_base_on_what_is_left(base, settings, first):
    X, y = data()
    splits = splits_of(y, 3)
    found = refit(of.Prefiltered(base, first), X, y, splits, list(map(of_base, settings)))
    for split, selections, (passed,) in zip(splits, found, refit(first, X, y, splits, [{}]), strict=True):
        columns = passed.values
        (alone,) = refit(base, np.ascontiguousarray(X[:, columns]), y, [split], settings)
        for selection, expected in zip(selections, alone, strict=True):
            assert selection.values.tolist() == columns[expected.values].tolist()
            assert selection.note == "\n".join(dict.fromkeys(filter(None, [passed.note, expected.note])))
            assert (selection.order is None) == (expected.order is None)
            if expected.order is not None:
                assert selection.order.tolist() == columns[expected.order].tolist()
            if expected.model is not None:
                np.testing.assert_array_equal(selection.model.predict(X), expected.model.predict(X[:, columns]))
            if expected.whole is not None:
                whole = selection.whole()
                np.testing.assert_array_equal(whole.values[columns], expected.whole().values)
                assert not np.delete(whole.informative, columns).any()


@pytest.mark.parametrize(("base", "settings"), BASES, ids=lambda part: repr(part)[:40])
def test_many_fits_equal_single_ones(base, settings):
    X, y = data(1)
    splits, selector = splits_of(y, 3), of.Prefiltered(base, of.AnovaF(8))
    for split, selections in zip(splits, refit(selector, X, y, splits, list(map(of_base, settings))), strict=True):
        for setting, selection in zip(settings, selections, strict=True):
            single = clone(selector).set_params(random_state=split.seed, **of_base(setting))
            single.fit(*split.data(X, y))
            assert np.flatnonzero(single.get_support()).tolist() == selection.values.tolist()
            assert single.filtered_.sum() == 8
            if selection.model is not None:
                np.testing.assert_array_equal(single.predict(X), selection.model.predict(X))


def test_settings_of_the_filter_and_of_the_base_in_one_grid():
    X, y = data(2)
    splits, selector = splits_of(y, 2), of.Prefiltered(of.AnovaF(2), of.Variance(10))
    settings = [
        {"filter__n_features": left, "base__n_features": size, **more}
        for left in (4, 12)
        for size in (1, 3)
        for more in ({}, {"base__ties": "lowest"})
    ]
    for place, setting in enumerate(settings):
        for together, (alone,) in zip(
            refit(selector, X, y, splits, settings), refit(selector, X, y, splits, [setting]), strict=True
        ):
            assert together[place].values.tolist() == alone.values.tolist()
    study = hf.Study(selectors={"p": hf.Candidates(selector, sizes=[1, 3])}, perturbation=hf.Bootstrap(4)).run(X, y)
    assert study.candidates == ["p(size=1)", "p(size=3)"]
    assert study.preferences("p(size=3)").sizes.tolist() == [3, 3, 3, 3]


def test_a_filter_that_sees_all_rows_says_so_and_leaves_the_same_columns_everywhere():
    X, y = data(3)
    splits, settings = splits_of(y, 3), [{"n_features": size} for size in (2, 5)]
    columns = np.flatnonzero(of.Variance(10).fit(X, y).get_support())
    found = refit(of.Prefiltered(of.AnovaF(), of.Variance(10), on="full"), X, y, splits, settings)
    for selections, expected in zip(found, refit(of.AnovaF(), X[:, columns], y, splits, settings), strict=True):
        for selection, inside in zip(selections, expected, strict=True):
            assert selection.values.tolist() == columns[inside.values].tolist()
            assert selection.note == SEEN


def test_errors_and_nothing_left():
    X, y = data(4)
    with pytest.raises(ValueError, match="Expected on='split', got 'full' with AnovaF"):
        of.Prefiltered(of.AnovaF(), of.AnovaF(5), on="full").fit(X, y)
    with pytest.raises(ValueError, match="Expected on='split' or 'full', got 'test'"):
        of.Prefiltered(of.AnovaF(), on="test").fit(X, y)
    with pytest.raises(ValueError, match=r"Expected a selector of holdfast as base, got 3; other estimators go into"):
        of.Prefiltered(3).fit(X, y)
    with pytest.raises(ValueError, match="Expected a filter with a number of features"):
        of.Prefiltered(of.AnovaF(), of.ElasticNetCV()).fit(X, y)
    splits, settings = splits_of(y, 2), [{"base__lambda_v": -1.0}, {"base__lambda_v": 1.0}]
    for wrong, right in refit(of.Prefiltered(of.GolubVariance(2), of.Variance(9)), X, y, splits, settings):
        assert str(wrong) == "Expected lambda_v to be 0 or more, got -1.0."
        assert right.values.size == 2
    ((nothing,), _) = refit(of.Prefiltered(of.AnovaF(2), of.Variance(3)), np.ones((40, 5)), y, splits, [{}])
    assert nothing.values.size == 0
    assert nothing.note.startswith("fewer features than asked for carry information")


# Settings


def test_settings_with_long_arrays_are_told_apart():
    """The text of a long array leaves its middle out."""
    strengths, others = np.linspace(1, 0.01, 3000), np.linspace(1, 0.01, 3000)
    others[1500] = 0.123
    assert repr(strengths) == repr(others)
    settings = [
        {"penalty_strengths": strengths},
        {"penalty_strengths": others},
        {"penalty_strengths": strengths.copy()},
    ]
    groups = SharedBySetting().group(of.StabilitySelection(of.ElasticNetPath()), settings)
    assert [group.positions for group in groups] == [[0, 2], [1]]
