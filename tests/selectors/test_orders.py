"""A fit is an order: what a smaller size selects is the beginning of what a larger one selects."""

import numpy as np
import pytest
from sklearn.base import clone
from test_selectors import data

import holdfast as hf
from holdfast import selectors as of
from holdfast.resampling import Samples
from holdfast.selectors.base import Filter

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.selection.FewerFeaturesWarning")
ORDERED = [
    of.Variance(),
    of.AnovaF(),
    of.Golub(),
    of.GolubVariance(lambda_v=0.5),
    of.InformationGain(),
    of.SymmetricalUncertaintyFilter(),
    of.MRMR(),
    of.MRMR(scheme="miq"),
    of.ReliefF(),
    of.LinearSVMWeights(),
    of.ElasticNetPath(),
    of.RandomSelector(),
    of.EnsembleSelector(of.AnovaF(), n_resamples=5),
]


def splits_of(y, n):
    return [hf.Bootstrap(n).make_split(index, Samples.of(len(y)), 3) for index in range(n)]


def refit(selector, X, y, splits, settings):
    return list(selector.refit_many(selector.prepare(X, y, settings), X, y, splits, settings))


@pytest.mark.parametrize("selector", ORDERED, ids=repr)
def test_a_smaller_size_selects_the_beginning_of_the_order(selector):
    X, y = data()
    splits = splits_of(y, 4)
    sizes = [{"n_features": size} for size in range(1, 13)]
    longest = [selection for (selection,) in refit(selector, X, y, splits, sizes[-1:])]
    for largest, selections in zip(longest, refit(selector, X, y, splits, sizes), strict=True):
        assert largest.smallest == 1
        for size, selection in enumerate(selections, start=1):
            assert selection.order.tolist() == largest.order[:size].tolist()
            assert selection.values.tolist() == sorted(selection.order.tolist())
    for size in (1, 4, 7):  # by itself, not beside other sizes
        for largest, (alone,) in zip(longest, refit(selector, X, y, splits, [{"n_features": size}]), strict=True):
            assert alone.order.tolist() == largest.order[:size].tolist()


CUT = [selector for selector in ORDERED if not isinstance(selector, of.RandomSelector)]


@pytest.mark.parametrize("selector", CUT, ids=repr)
def test_a_cut_remembers_what_it_was_cut_from(selector):
    X, y = data()
    splits, settings = splits_of(y, 3), [{"n_features": 3}, {"n_features": 12}]
    prepared = selector.prepare(X, y, settings)
    uncut = selector.prefer_many(prepared, X, y, splits, settings)
    for selections, preferred in zip(selector.refit_many(prepared, X, y, splits, settings), uncut, strict=True):
        for selection, whole in zip(selections, preferred, strict=True):
            assert selection.whole().kind == whole.kind
            np.testing.assert_array_equal(selection.whole().values, whole.values)
            np.testing.assert_array_equal(selection.whole().informative, whole.informative)


@pytest.mark.parametrize("selector", CUT, ids=repr)
def test_ties_and_notes_are_those_of_a_full_sort(selector):
    """Columns of few values, of which many tie, cut by the definition: all columns by value, then by tie-break rank."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, size=(30, 60)).astype(float), np.arange(30) % 2
    X[:, 40:] = X[:, :20]
    splits, settings = splits_of(y, 3), [{"n_features": size} for size in (0, 1, 7, 30, 60)]
    prepared = selector.prepare(X, y, settings)
    uncut = selector.prefer_many(prepared, X, y, splits, settings)
    cuts = selector.refit_many(prepared, X, y, splits, settings)
    for split, selections, preferred in zip(splits, cuts, uncut, strict=True):
        for setting, selection, whole in zip(settings, selections, preferred, strict=True):
            by_hand = whole.top(setting["n_features"], random_state=split.seed, rule=selector.uninformative or "")
            assert (selection.order.tolist(), selection.note) == (by_hand.order.tolist(), by_hand.note)


@pytest.mark.parametrize("selector", CUT, ids=repr)
def test_a_fit_does_not_depend_on_those_beside_it(selector):
    X, y = data(2)
    splits, settings = splits_of(y, 5), [{"n_features": 3}, {"n_features": 6}]
    together = refit(selector, X, y, splits, settings)
    for split, selections in zip(splits, together, strict=True):
        for setting, selection in zip(settings, selections, strict=True):
            ((alone,),) = refit(clone(selector), X, y, [split], [setting])
            assert alone.order.tolist() == selection.order.tolist()
            if isinstance(selector, Filter):
                np.testing.assert_array_equal(alone.whole().values, selection.whole().values)


def test_weights_of_the_variance_share_their_moments_and_fail_by_themselves():
    X, y = data()
    splits, selector = splits_of(y, 3), of.GolubVariance(3)
    settings = [{"lambda_v": weight, "n_features": size} for weight in (0, 0.5, np.inf) for size in (2, 5)]
    settings.insert(3, {"lambda_v": -1.0})
    together = refit(selector, X, y, splits, settings)
    assert {str(selections.pop(3)) for selections in together} == {"Expected lambda_v to be 0 or more, got -1.0."}
    settings.pop(3)
    for place, setting in enumerate(settings):
        for selections, (alone,) in zip(together, refit(selector, X, y, splits, [setting]), strict=True):
            np.testing.assert_array_equal(alone.order, selections[place].order)
            np.testing.assert_array_equal(alone.whole().values, selections[place].whole().values)
