"""What all selectors share: the scikit-learn contract, and many resamples as counts on the rows of one data set.

A selector writes two methods: what all resamples share (:meth:`Selector._shared`), and what one resample prefers
(:meth:`Selector._preference`). A single fit is a resample that takes every row once, so that fits one by one and in
batches cannot differ. Two more methods are there to be overridden where work can be shared:

- :meth:`Selector._preferences_by_setting`: one resample, all settings that differ in ``shared_parameters`` only;
- :meth:`Selector._preferences_by_resample`: all resamples and such settings (:class:`FitsTogether`).
"""

import operator
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np
import pandas as pd
from joblib import hash as content_hash
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast.checks import as_column, type_name
from holdfast.kernels.tolerances import TIE, check_magnitude
from holdfast.preferences import Kind
from holdfast.resampling import Split
from holdfast.selection import Best, FewerFeaturesWarning, Selection, best_columns, fewer_note, tie_order

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def plain_target(y: Any) -> Any:
    """A target whose entries are objects as texts or numbers, or raise; others are for scikit-learn to check."""
    if not (isinstance(y, (list, tuple)) or str(getattr(y, "dtype", "")) == "object") or not len(y):
        return y
    widths = {len(entry) if isinstance(entry, (list, tuple, np.ndarray)) else 0 for entry in y}
    if len(widths) == 1 and 0 not in widths:
        return y  # several columns
    column = as_column(y, "y")
    if column.dtype.kind in "OS":
        raise ValueError(f"Expected texts or numbers in y, got {type_name(column[0])} in row 0; make texts of them.")
    return column


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted: class numbers from 0 with the classes they stand for, or numbers.

    Attributes
    ----------
    values : ndarray
        Class numbers (int64) or numbers (float64).
    classes : ndarray or None
        The classes; None if numbers are predicted.
    """

    values: NDArray[Any]
    classes: NDArray[Any] | None

    @classmethod
    def of(cls, y: NDArray[Any], classes: bool) -> "Target":
        """Number the classes, or take the numbers."""
        if not classes:
            return cls(np.asarray(y, dtype=np.float64), None)
        check_classification_targets(y)
        known, codes = np.unique(y, return_inverse=True)
        return cls(codes.astype(np.int64), known)

    def present(self, counts: Ints) -> Ints:
        """The class numbers that a resample holds."""
        return np.flatnonzero(np.bincount(self.values, weights=counts))


class Resamples(NamedTuple):
    """How often each resample takes each row (resamples × rows), and the seed of each; None if there is none."""

    counts: Ints
    seeds: Sequence[int | None]

    def take(self, numbers: Sequence[int]) -> "Resamples":
        """Only the resamples of these numbers."""
        return Resamples(self.counts[list(numbers)], [self.seeds[number] for number in numbers])


def whole_counts(sample_weight: Any, n_samples: int) -> Ints:
    """How often each row counts: once, or as the weights say, which must be whole numbers."""
    if sample_weight is None:
        return np.ones(n_samples, dtype=np.int64)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise ValueError(f"Expected one sample weight for each of {n_samples} rows, got shape {weights.shape}.")
    wrong = np.flatnonzero((weights < 0) | (weights != np.round(weights)))
    if wrong.size:
        raise ValueError(
            f"Expected whole numbers as sample_weight, how often each row counts, got {weights[wrong[0]]:g} in row "
            f"{wrong[0]}; repeat rows, or scale the weights."
        )
    if not weights.any():
        raise ValueError("Expected sample weights that are not all zero, got nothing but zero.")
    return weights.astype(np.int64)


def row_groups(groups: Any, n_samples: int) -> Ints | None:
    """The group of each row, numbered in the order of their labels."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_samples,):
        raise ValueError(f"Expected one group for each of {n_samples} rows, got shape {labels.shape}.")
    codes, _ = pd.factorize(labels, sort=True)
    if (codes < 0).any():
        raise ValueError(
            f"Expected a group for each row, got none in row {int(np.argmin(codes))}; give rows without a group one of "
            "their own."
        )
    return codes.astype(np.int64)


class BinaryProblem(NamedTuple):
    """A two-class problem: labels −1 and 1, the class that is 1, and which resamples it is for."""

    labels: Floats
    code: int
    resamples: NDArray[np.bool_]


def one_against_rest(target: Target, resamples: Resamples) -> list[BinaryProblem]:
    """One problem for each class against the rest; of two classes, the higher one's suffices."""
    codes = np.arange(0 if target.classes is None else target.classes.size)
    held = np.array([np.bincount(target.values, weights=row, minlength=codes.size) > 0 for row in resamples.counts])
    two = held.sum(axis=1) == 2
    higher = held & (np.cumsum(held, axis=1) == 2)
    concerned = np.where(two[:, None], higher, held)
    return [
        BinaryProblem(np.where(target.values == code, 1.0, -1.0), int(code), concerned[:, code])
        for code in codes
        if concerned[:, code].any()
    ]


def varying(X: Floats, resamples: Resamples) -> Mask:
    """Which columns are not constant in each resample."""
    masks = np.ones((len(resamples.counts), X.shape[1]), dtype=bool)
    for mask, counts in zip(masks, resamples.counts, strict=True):
        drawn = np.flatnonzero(counts)
        constant = np.flatnonzero(X[drawn[0]] == X[drawn[min(1, drawn.size - 1)]])
        for rows in (drawn[2:5], drawn[5:]):  # most columns differ in the first few, and are not looked at again
            if constant.size:
                constant = constant[(X[np.ix_(rows, constant)] == X[drawn[0], constant]).all(axis=0)]
        mask[constant] = False
    return masks


Key = tuple[tuple[str, str], ...]
PLAIN = (str, int, float, bool, type(None))
MOST_KNOWN = 8
"""Of how many lists of settings the groups are kept."""


class SettingGroup(NamedTuple):
    """Settings that differ in ``shared_parameters`` only, so that one fit gives the preferences of all of them."""

    key: Key  # the parameters that they have in common
    places: list[int]  # of the settings, among all
    selectors: list[Any]  # the selector with each setting


class Prepared(dict[Key, Any]):
    """What all resamples share, for each group of settings; and the groups, which are made once."""

    def __init__(self, shared: Mapping[Key, Any] | None = None) -> None:
        super().__init__(shared or {})
        self.known: list[tuple[list[dict[str, Any]], list[SettingGroup]]] = []

    def groups(self, selector: Any, settings: Sequence[dict[str, Any]]) -> list[SettingGroup]:
        """Put settings together that differ in ``shared_parameters`` only; the same objects are not looked at again."""
        for known, groups in self.known:
            if len(known) == len(settings) and all(map(operator.is_, known, settings)):
                return groups
        groups = group_settings(selector, settings)
        self.known = [*self.known[-MOST_KNOWN:], (list(settings), groups)]
        return groups


def make_key(setting: Mapping[str, Any], names: Iterable[str]) -> Key:
    """The values of these parameters, by which settings are told apart; the text of an array may be cut."""
    values = ((name, setting[name]) for name in names)
    return tuple((name, repr(value) if isinstance(value, PLAIN) else content_hash(value)) for name, value in values)


def group_settings(selector: Any, settings: Sequence[dict[str, Any]]) -> list[SettingGroup]:
    """Put settings together that differ in ``shared_parameters`` only, those of a shared one's own included."""
    groups: dict[Key, SettingGroup] = {}
    for place, setting in enumerate(settings):
        own = sorted(name for name in setting if name.partition("__")[0] not in selector.shared_parameters)
        key = make_key(setting, own)
        group = groups.setdefault(key, SettingGroup(key, [], []))
        group.places.append(place)
        group.selectors.append(clone(selector).set_params(**setting))
    return list(groups.values())


def select_for_group(
    group: SettingGroup, shared: Any, X: Floats, target: Target, resamples: Resamples, cut: bool
) -> list[Sequence[Selection | Exception]]:
    """Return, for each resample, what each selector of a group selects, or the error that stopped it."""
    first = group.selectors[0]
    resamples = resamples._replace(seeds=first._seed_resamples(resamples.seeds))
    results: list[Sequence[Selection | Exception]] = [()] * len(resamples.seeds)
    valid = []
    for resample, counts in enumerate(resamples.counts):
        try:
            first._check(target, counts)
            first._tie_seed(None)
            valid.append(resample)
        except ValueError as error:
            results[resample] = [error] * len(group.places)
    fits = _fit_resamples(group, shared, X, target, resamples.take(valid), cut)
    for resample, preferences in zip(valid, fits, strict=True):
        results[resample] = [
            selector._to_selection(preference, X.shape[1], resamples.seeds[resample], cut)
            for selector, preference in zip(group.selectors, preferences, strict=True)
        ]
    return results


def _fit_resamples(
    group: SettingGroup, shared: Any, X: Floats, target: Target, resamples: Resamples, cut: bool
) -> Sequence[Sequence["Preference | Exception"]]:
    """Fit all resamples together; if that raises, fit them one by one, so that only those fail that must."""
    first, n = group.selectors[0], len(resamples.seeds)
    prefer = first._preferences_to_cut if cut else first._preferences_by_resample
    try:
        return prefer(group.selectors, shared, X, target, resamples) if n else []
    except Exception as error:
        if n == 1:
            return [[error] * len(group.places)]
    return [_fit_resamples(group, shared, X, target, resamples.take([resample]), cut)[0] for resample in range(n)]


Setting = dict[str, Any]
Ties = Literal["auto", "random", "lowest"]


@dataclass(frozen=True, eq=False)
class Preference:
    """What one fit prefers: a subset, a ranking or weights of features, before it is cut to a size.

    Attributes
    ----------
    kind : {"subset", "ranking", "weighting"}
        What ``values`` are: selected columns, ranks (1 is best) or weights (larger is better).
    values : ndarray
        See above.
    model : object, optional
        A model that predicts from rows of all features.
    extras : dict, optional
        Fitted attributes beyond the usual ones, by name.
    informative : ndarray of bool, optional
        Which features got anything else than a constant column would; no others are selected. All, if not given.
    note : str
        What a user should know of this fit.
    """

    kind: Kind
    values: NDArray[Any]
    model: Any = None
    extras: dict[str, Any] | None = None
    informative: Mask | None = None
    note: str = ""

    def selection(self) -> Selection:
        """Return the preference as a study takes it, without the fitted attributes, not cut to a size."""
        return Selection(self.kind, self.values, self.model, self.note, self.informative)

    def top(self, k: int, *, random_state: int | None, rule: str) -> Selection:
        """Cut an order to its best ``k``, as :meth:`holdfast.selection.Selection.top` does."""
        return self.selection().top(k, random_state=random_state, rule=rule)


class Selector(SelectorMixin, BaseEstimator):
    """Base class of feature selectors that fit many resamples, and many of their settings, together.

    A subclass writes ``_shared`` and ``_preference``; ``fit``, scikit-learn's contract, and what a study calls
    (``prepare``, ``refit_many``) follow. Parameters of which one fit gives the results for all values are named in
    ``shared_parameters``; a study takes all such candidates from one fit. ``n_features`` is one where the subclass
    orders the features.

    A feature *without information* is never selected: one that gets in this resample what a constant column would. Each
    subclass says in ``uninformative`` what that is, and marks the others in ``Preference.informative``; ``n_features``
    is the most that are selected. Equally good features at the cut are taken in an order drawn from the seed of the
    resample, or of ``random_state``; in a plain fit without one, by column. A subclass with a parameter ``ties`` lets
    the user choose.

    See Also
    --------
    holdfast.testing.check_selector : Check a selector of your own.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.selectors.base import Preference, Selector
    >>> class LargestMean(Selector):
    ...     needs_classes = False
    ...
    ...     def __init__(self, n_features=10):
    ...         self.n_features = n_features
    ...
    ...     def _shared(self, X, target):
    ...         return None
    ...
    ...     def _preference(self, shared, X, target, counts, seed):
    ...         return Preference("weighting", counts @ X / counts.sum())
    >>> X = np.array([[1.0, 5, 3], [2, 4, 0], [0, 6, 3]])
    >>> LargestMean(2).fit(X, [0, 1, 0]).get_support()
    array([False,  True,  True])
    """

    shared_parameters: ClassVar[tuple[str, ...]] = ("n_features",)
    needs_classes: ClassVar[bool] = True
    most_classes: ClassVar[int | None] = None
    uninformative: ClassVar[str | None] = None
    """What marks a feature without information; None for selectors that know no such thing."""
    draws: ClassVar[bool] = False
    """Whether there is chance in a fit even if no features tie."""
    whole_order: ClassVar[tuple[str, ...]] = ()
    """The sizes, "smallest" or "largest", to ask for besides so that the order reaches over all features."""

    model_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters that concern the model on the selected features alone, not the order of features."""

    # What a subclass writes

    @abstractmethod
    def _shared(self, X: Floats, target: Target) -> Any:
        """Compute what all resamples share, without labels of rows that they may hold out."""

    @abstractmethod
    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        """Return what a resample prefers; ``counts`` says how often it takes each row."""

    # One fit

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.
        y : array of shape (n_samples,)
            The target.
        sample_weight : array of whole numbers, optional
            How often each row counts; the same as repeating it.

        Returns
        -------
        Selector
            Itself, fitted.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Self:
        X, y = validate_data(self, X, plain_target(y), dtype=np.float64, ensure_min_samples=2)
        check_magnitude(X)
        target = self._target(y)
        counts = whole_counts(sample_weight, X.shape[0])
        self._check(target, counts)
        shared, seed = self._shared_in_groups(X, target, row_groups(groups, X.shape[0])), self._own_seed()
        preference = self._preference(shared, X, target, counts, seed)
        self._set_fitted(preference, X.shape[1], seed)
        return self

    def _shared_in_groups(self, X: Floats, target: Target, groups: Ints | None) -> Any:
        """What all resamples share; selectors that draw rows again keep those of one group together."""
        return self._shared(X, target)

    def _shared_by_settings(self, selectors: Sequence[Self], X: Floats, target: Target, groups: Ints | None) -> Any:
        """What all resamples share, for selectors that differ in ``shared_parameters`` only."""
        return selectors[0]._shared_in_groups(X, target, groups)

    def _target(self, y: Any) -> Target:
        return Target.of(y, self.needs_classes)

    def _check(self, target: Target, counts: Ints) -> None:
        """Raise if this resample cannot be fitted."""
        if target.classes is None:
            return
        n_classes = target.present(counts).size
        if n_classes < 2:
            raise ValueError(f"Expected two classes or more to tell apart, got {n_classes} class.")
        if self.most_classes is not None and n_classes > self.most_classes:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}: expected {self.most_classes} "
                f"classes, got {n_classes}."
            )

    def _own_seed(self) -> int | None:
        """The seed of a plain fit; None if there is none and nothing is to be drawn."""
        seed = getattr(self, "random_state", None)
        if isinstance(seed, (int, np.integer)):
            return int(seed)
        if seed is None and not self.draws and getattr(self, "ties", "auto") != "random":
            return None
        return int(check_random_state(seed).randint(2**31 - 1))

    def _tie_seed(self, seed: int | None) -> int | None:
        """The seed by which equally good features take their turns; None if they do by column."""
        if (ties := getattr(self, "ties", "auto")) not in get_args(Ties):
            raise ValueError(f"Expected ties='auto', 'random' or 'lowest', got {ties!r}.")
        return None if ties == "lowest" else seed

    def _tie_orders(self, seeds: Sequence[int | None], n_features: int) -> NDArray[np.int32]:
        """The turn of each column among equally good ones, for each resample; one row if it is the same for all."""
        own = list(dict.fromkeys(map(self._tie_seed, seeds)))
        orders = {seed: tie_order(n_features, seed) for seed in own}
        return np.array([orders[self._tie_seed(seed)] for seed in (seeds if len(own) > 1 else seeds[:1])])

    def _set_fitted(self, preference: Preference, n_features: int, seed: int | None) -> None:
        """Set the fitted attributes, under scikit-learn's names."""
        if preference.kind == "ranking":
            self.ranking_ = preference.values
        elif preference.kind == "weighting":
            self.scores_ = preference.values
        for name, value in (preference.extras or {}).items():
            setattr(self, name, value)
        if preference.informative is not None:
            self.informative_ = preference.informative
        selection = self._cut_to_size(preference, n_features, seed)
        self._warn_of_fewer(preference, n_features)
        self.support_ = np.zeros(n_features, dtype=bool)
        self.support_[selection.values] = True

    def _cut_to_size(self, preference: Preference, n_features: int, seed: int | None) -> Selection:
        """The best features of an order; a subset as it is."""
        if preference.kind == "subset":
            return Selection.subset(preference.values, preference.model, preference.note)
        best = self._take_best(preference, self._wanted_size(n_features), seed)
        return best if preference.model is None else replace(best, model=preference.model)

    def _take_best(self, preference: Preference, size: int, seed: int | None) -> Selection:
        return preference.top(size, random_state=self._tie_seed(seed), rule=self.uninformative or "")

    def _warn_of_fewer(self, preference: Preference, n_features: int) -> None:
        if preference.kind == "subset" and preference.note:
            warnings.warn(FewerFeaturesWarning(preference.note, preference.note), stacklevel=4)
        elif preference.kind != "subset" and preference.informative is not None:
            wanted, carrying = self._wanted_size(n_features), int(preference.informative.sum())
            if carrying < wanted:
                message = (
                    f"Only {carrying:,} of {n_features:,} features carry information; {carrying:,} instead of "
                    f"{wanted:,} were selected by {type(self).__name__} (without: {self.uninformative})."
                )
                warnings.warn(FewerFeaturesWarning(message, fewer_note(self.uninformative or "")), stacklevel=4)

    def _wanted_size(self, n_features: int) -> int:
        wanted = self.n_features
        if isinstance(wanted, bool) or not isinstance(wanted, (int, np.integer)) or wanted < 0:
            raise ValueError(f"Expected n_features to be a whole number of at least 0, got {wanted!r}.")
        return min(int(wanted), n_features)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.most_classes == 2:
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    # Many fits

    def prepare(
        self, X: Floats, y: NDArray[Any], settings: Sequence[Setting], groups: NDArray[Any] | None = None
    ) -> dict[Key, Any]:
        """Compute what all resamples share, once before :meth:`refit_many`.

        Parameters
        ----------
        X : ndarray
            Features of all rows.
        y : ndarray
            Target of all rows.
        settings : sequence of dict
            Values of parameters, one mapping per candidate.
        groups : ndarray, optional
            Selectors that draw rows again keep those of one group together.

        Returns
        -------
        dict
            What is shared, for each group of settings that take their results from one fit.
        """
        check_magnitude(X)
        target, numbered = self._target(y), row_groups(groups, len(X))
        prepared = Prepared()
        for group in prepared.groups(self, settings):
            prepared[group.key] = group.selectors[0]._shared_by_settings(group.selectors, X, target, numbered)
        return prepared

    def refit_many(
        self, shared: dict[Key, Any], X: Floats, y: NDArray[Any], splits: Sequence[Split], settings: Sequence[Setting]
    ) -> Iterator[list[Selection | Exception]]:
        """Fit many resamples together; return, for each split, what each setting selects, or the error that stopped it.

        Parameters
        ----------
        shared : dict
            What :meth:`prepare` returned.
        X : ndarray
            Features of all rows.
        y : ndarray
            Target of all rows.
        splits : sequence of Split
            The resamples.
        settings : sequence of dict
            All or some of those that were prepared.

        Returns
        -------
        iterator of list
            One list per split, with a Selection or an exception for each setting.
        """
        return self._select_many(shared, X, y, splits, settings, cut=True)

    def prefer_many(
        self, shared: dict[Key, Any], X: Floats, y: NDArray[Any], splits: Sequence[Split], settings: Sequence[Setting]
    ) -> Iterator[list[Selection | Exception]]:
        """Do as :meth:`refit_many`, with rankings and weights of all features, not cut to a size.

        Parameters
        ----------
        shared : dict
            What :meth:`prepare` returned.
        X : ndarray
            Features of all rows.
        y : ndarray
            Target of all rows.
        splits : sequence of Split
            The resamples.
        settings : sequence of dict
            All or some of those that were prepared.

        Returns
        -------
        iterator of list
            One list per split, with a Selection or an exception for each setting.
        """
        return self._select_many(shared, X, y, splits, settings, cut=False)

    def _select_many(
        self,
        shared: dict[Key, Any],
        X: Floats,
        y: NDArray[Any],
        splits: Sequence[Split],
        settings: Sequence[Setting],
        *,
        cut: bool,
    ) -> Iterator[list[Selection | Exception]]:
        prepared = shared if isinstance(shared, Prepared) else Prepared(shared)
        target, groups = self._target(y), prepared.groups(self, settings)
        resamples = Resamples(
            np.array([split.weights(X.shape[0]) for split in splits]), [split.seed for split in splits]
        )
        results = [select_for_group(group, shared[group.key], X, target, resamples, cut) for group in groups]
        for resample in range(len(splits)):
            selections: dict[int, Selection | Exception] = {}
            for group, by_resample in zip(groups, results, strict=True):
                selections |= zip(group.places, by_resample[resample], strict=True)
            yield [selections[place] for place in range(len(settings))]

    def _seed_resamples(self, seeds: Sequence[int | None]) -> Sequence[int | None]:
        """The seed of each resample: its own, unless ``random_state`` is set."""
        if getattr(self, "random_state", None) is None:
            return seeds
        return [clone(self)._own_seed()] * len(seeds)

    def _to_selection(
        self, preference: Preference | Exception, n_features: int, seed: int | None, cut: bool
    ) -> Selection | Exception:
        if isinstance(preference, Exception):
            return preference
        return self._cut_to_size(preference, n_features, seed) if cut else preference.selection()

    def _preferences_by_resample(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Preference | Exception]]:
        """What each resample prefers, by each of these selectors, which differ in ``shared_parameters`` only."""
        return [
            self._preferences_by_setting(selectors, shared, X, target, counts, seed)
            for counts, seed in zip(*resamples, strict=True)
        ]

    def _preferences_to_cut(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Preference | Exception]]:
        """Do as :meth:`_preferences_by_resample`, as far as the sizes of these selectors need it."""
        return self._preferences_by_resample(selectors, shared, X, target, resamples)

    def _preferences_by_setting(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None
    ) -> Sequence[Preference | Exception]:
        """What one resample prefers, by each of these selectors, which differ in ``shared_parameters`` only."""
        largest = max(selectors, key=lambda selector: getattr(selector, "n_features", 0))
        return [largest._preference(shared, X, target, counts, seed)] * len(selectors)


class TakesGroups(Selector):
    """A selector that draws rows again, itself or in its base, and keeps those of one group together."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.
        y : array of shape (n_samples,)
            The target.
        sample_weight : array of whole numbers, optional
            How often each row counts; the same as repeating it. Copies of a row stay together.
        groups : array of shape (n_samples,), optional
            Rows of one group, such as samples of one patient, are drawn together or share a fold.

        Returns
        -------
        Selector
            Itself, fitted.
        """
        return self._fit(X, y, sample_weight, groups)


class FitsTogether(Selector):
    """A selector that fits all resamples together: write :meth:`_preferences_by_resample`; a single fit follows."""

    @abstractmethod
    def _preferences_by_resample(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Preference | Exception]]: ...

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        (preference,) = self._preferences_by_resample([self], shared, X, target, Resamples(counts[None], [seed]))[0]
        if isinstance(preference, Exception):
            raise preference
        return preference


ROUNDING = 1e-11
"""Weights from 0 to about 1 that are no larger are 0 but for rounding."""


class Filter(Selector):
    """A selector that weighs features and keeps the best; write :meth:`_weights`.

    Weights within 1e-9 of the largest weight of each other tie, so that equal columns never depend on rounding.
    """

    nothing: ClassVar[float] = 0.0
    """The weight of a constant column; up to it a feature carries no information."""

    def __init__(self, n_features: int = 10, *, ties: Ties = "auto", random_state: Any = None) -> None:
        self.n_features, self.ties, self.random_state = n_features, ties, random_state

    @abstractmethod
    def _weights(self, shared: Any, X: Floats, target: Target, counts: Ints) -> Floats:
        """How much each feature weighs; larger is better, and what is not finite is undefined or beyond measure."""

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        return self._weighed(self._weights(shared, X, target, counts))

    def _weighed(self, weights: Floats) -> Preference:
        most = self.n_features if isinstance(self.n_features, (int, np.integer)) else 0
        return Weighed(weights, self._informative(weights), int(most))

    def _informative(self, weights: Floats) -> Mask:
        """Which features weigh more than a constant column; those that are undefined do not."""
        return weights > self.nothing


class Weighed(Preference):
    """Weights of features, of which those tie that differ by rounding only; the best are found without sorting all.

    Parameters
    ----------
    weights : ndarray
        As computed; what is not finite is undefined or beyond measure.
    informative : ndarray of bool
        Which features carry information.
    most : int
        The largest size that will be asked for, if known: all sizes are cuts of one order.
    """

    weights: Floats

    def __init__(self, weights: Floats, informative: Mask, most: int = 0) -> None:
        own = {"kind": "weighting", "model": None, "extras": None, "note": ""}
        self.__dict__.update(own, informative=informative, weights=weights, _most=most, _best={})

    @cached_property
    def values(self) -> Floats:
        """The weights, equal where they tie."""
        return tied(self.weights)

    def top(self, k: int, *, random_state: int | None, rule: str) -> Selection:
        wanted = min(k, self.weights.size)
        found: dict[tuple[int | None, int], Best] = self.__dict__["_best"]
        most = min(max(wanted, self.__dict__["_most"]), self.weights.size)
        if (random_state, most) not in found:
            found[random_state, most] = best_columns(self.weights, most, self.informative, random_state)
        return found[random_state, most].first(wanted).select(wanted, random_state, rule, whole=self.selection)


def tied(weights: Floats) -> Floats:
    """Make weights equal that differ by rounding only; those that are undefined are the least."""
    defined = np.isfinite(weights)
    clean = np.where(defined, weights, np.where(weights == np.inf, np.inf, -np.inf))
    order = np.argsort(-clean, kind="stable")
    ranked = clean[order]
    scale = np.abs(weights[defined]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        steps = np.r_[True, ranked[:-1] - ranked[1:] > TIE * scale]
    leaders = np.maximum.accumulate(np.where(steps, np.arange(ranked.size), 0))
    equal = np.empty_like(clean)
    equal[order] = ranked[leaders]
    lowest = min(0.0, weights[defined].min(initial=0.0))
    return np.where(equal == -np.inf, lowest, np.where(equal == np.inf, np.finfo(float).max, equal))


def learned_on(name: str, rows: str) -> str:
    """Return the rows that something is learned on, or raise."""
    if rows not in ("split", "full"):
        raise ValueError(f"Expected {name}='split' or 'full', got {rows!r}.")
    return rows


class Ordered(Preference):
    """Features in the order of their choice, all others after them.

    Parameters
    ----------
    order : ndarray of int
        The chosen columns, the best first; all that carry information, or as many as the largest size asked for.
    informative : ndarray of bool
        Which features carry information.
    extras : dict
        Fitted attributes beyond the usual ones.
    """

    order: Ints

    def __init__(self, order: Ints, informative: Mask, extras: dict[str, Any]) -> None:
        own = {"kind": "ranking", "model": None, "note": ""}
        self.__dict__.update(own, informative=informative, extras=extras, order=order)

    @cached_property
    def values(self) -> Floats:
        """The rank of every feature; those that were not chosen share the last."""
        assert self.informative is not None
        ranks = np.full(self.informative.size, self.informative.size, dtype=np.float64)
        ranks[self.order] = np.arange(1, self.order.size + 1)
        return ranks

    def top(self, k: int, *, random_state: int | None, rule: str) -> Selection:
        assert self.informative is not None
        best = Best(self.order[:k].astype(np.int32), np.zeros(min(k, self.order.size), np.bool_))
        return best.select(min(k, self.informative.size), random_state, rule, whole=self.selection)
