"""The public check of selectors: ours pass, and each broken promise is found and told."""

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SelectorMixin, f_classif, f_regression
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import validate_data
from test_selectors import SELECTORS, target_for

from holdfast import selectors as of
from holdfast.selection import Selection
from holdfast.testing import check_selector, example_data


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: type(one).__name__)
def test_ours_keep_every_promise(selector):
    X, y = example_data(0)
    check_selector(selector, X, target_for(selector, y))


@pytest.mark.parametrize(
    "selector",
    [SelectKBest(f_classif, k=3), RFE(LogisticRegression()), SelectFromModel(LogisticRegression())],
    ids=lambda one: type(one).__name__,
)
def test_those_of_scikit_learn_do(selector):
    check_selector(selector)


def test_with_data_of_one_s_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    check_selector(SelectKBest(f_regression, k=2), X, X[:, 0] + rng.normal(size=30))


class Sound(SelectorMixin, BaseEstimator):
    """Keeps the features whose class means differ most."""

    def __init__(self, k=3, random_state=None):
        self.k, self.random_state = k, random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        first = y == np.unique(y)[0]
        gap = np.abs(X[first].mean(axis=0) - X[~first].mean(axis=0))
        self.support_ = np.isin(np.arange(X.shape[1]), np.argsort(-gap, kind="stable")[: self.k])
        return self

    def _get_support_mask(self):
        return self.support_


def test_a_sound_one_passes():
    check_selector(Sound())


class ChangesInInit(Sound):
    def __init__(self, k=3, random_state=None):
        super().__init__([k], random_state)


class ChangesInFit(Sound):
    def fit(self, X, y):
        super().fit(X, y)
        self.k = self.k + 1
        return self


class ReturnsNothing(Sound):
    def fit(self, X, y):
        super().fit(X, y)


class TooLong(Sound):
    def get_support(self, indices=False):
        return np.r_[self.support_, False]


class Numbers(Sound):
    def get_support(self, indices=False):
        return self.support_.astype(int)


class KeepsOthers(Sound):
    def transform(self, X):
        return np.asarray(X)[:, ~self.support_]


class Unseeded(Sound):
    fits = itertools.count()

    def fit(self, X, y):
        super().fit(X, y)
        self.support_ = np.roll(self.support_, next(self.fits))
        return self


class Remembers(Sound):
    def fit(self, X, y):
        before = getattr(self, "support_", None)
        super().fit(X, y)
        self.support_ = self.support_ if before is None else ~before
        return self


class OtherForFrames(Sound):
    def fit(self, X, y):
        super().fit(X, y)
        self.support_ = ~self.support_ if hasattr(X, "columns") else self.support_
        return self


class NoNames(Sound):
    def fit(self, X, y):
        super().fit(X, y)
        vars(self).pop("feature_names_in_", None)
        return self


class WrongNames(Sound):
    def get_feature_names_out(self, input_features=None):
        return self.feature_names_in_


class NumbersOnly(Sound):
    def fit(self, X, y):
        return super().fit(X, np.asarray(y, dtype=float))


class ByLabel(Sound):
    def fit(self, X, y):
        super().fit(X, y)
        self.support_ = self.support_ if np.asarray(y).dtype.kind in "if" else ~self.support_
        return self


class TakesMissing(Sound):
    def fit(self, X, y):
        validate_data(self, X, y, ensure_all_finite=False)
        return super().fit(np.nan_to_num(X) if isinstance(X, np.ndarray) else X, y)


class WrongError(Sound):
    def fit(self, X, y):
        if len(X) != len(y):
            raise KeyError("rows")
        return super().fit(X, y)


class TakesAnyColumns(Sound):
    def transform(self, X):
        return np.asarray(X)[:, np.flatnonzero(self.support_)[: X.shape[1]] % X.shape[1]]


class TakesConstants(Sound):
    def fit(self, X, y):
        super().fit(X, y)
        self.support_ = np.arange(self.support_.size) < self.k
        return self


class TakesAny(TakesConstants):
    uninformative = None


def test_one_that_does_not_look_at_features_may_take_constants():
    check_selector(TakesAny())


class IgnoresWeights(Sound):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


class WrongBatches(of.AnovaF):
    def refit_many(self, shared, X, y, splits, settings):
        yield from ([Selection.subset([0])] * len(settings) for _ in splits)


class FewBatches(of.AnovaF):
    def refit_many(self, shared, X, y, splits, settings):
        yield from list(super().refit_many(shared, X, y, splits, settings))[1:]


class AllOrNothing(of.AnovaF):
    """Takes settings by their place among those that were prepared."""

    def prepare(self, X, y, settings):
        self._settings = settings
        return super().prepare(X, y, settings)

    def refit_many(self, shared, X, y, splits, settings):
        yield from super().refit_many(shared, X, y, splits, self._settings[: len(settings)])


class FailedBatches(of.AnovaF):
    def refit_many(self, shared, X, y, splits, settings):
        yield from ([ValueError("no luck")] * len(settings) for _ in splits)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (ChangesInInit, "ChangesInInit cannot be cloned; store parameters as they are given"),
        (ChangesInFit, "ChangesInFit.fit changes the selector's parameters"),
        (ReturnsNothing, "ReturnsNothing.fit returns NoneType, not the selector itself"),
        (LogisticRegression, "LogisticRegression has no get_support"),
        (TooLong, r"The support of TooLong has shape \(13,\) for 12 features"),
        (Numbers, "The support of Numbers holds int64, not bool"),
        (KeepsOthers, "KeepsOthers.transform does not keep the columns of the support"),
        (Unseeded, "Two fits of Unseeded with one random_state differ"),
        (Remembers, "Remembers selects other features when it is fitted again"),
        (OtherForFrames, "OtherForFrames selects other features of a frame"),
        (NoNames, "NoNames does not keep feature_names_in_"),
        (WrongNames, "WrongNames.get_feature_names_out does not name the selected ones"),
        (NumbersOnly, "NumbersOnly cannot be fitted to classes that are strings"),
        (ByLabel, "ByLabel selects other features if the classes have other names"),
        (TakesMissing, "TakesMissing takes a missing value without a ValueError"),
        (WrongError, "WrongError raises KeyError, not ValueError, for fewer labels than rows"),
        (TakesAnyColumns, "TakesAnyColumns takes other columns than it was fitted to without a ValueError"),
        (TakesConstants, "TakesConstants selects the constant feature 0, and not feature 3, which varies"),
        (IgnoresWeights, "IgnoresWeights selects other features by weights than by repeated rows"),
        (WrongBatches, r"WrongBatches.refit_many selects \[0\] on bootstrap 0 with"),
        (FewBatches, "FewBatches.refit_many does not yield one selection of each setting for each split"),
        (AllOrNothing, "AllOrNothing.refit_many selects other features when only some of the prepared settings"),
        (FailedBatches, "FailedBatches.refit_many fails on bootstrap 0: no luck"),
    ],
)
def test_a_broken_promise_is_told(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_selector(broken())
