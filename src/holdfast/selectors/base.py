"""What all selectors share: the scikit-learn contract, and many resamples as counts on the rows of one data set.

A selector writes two methods: what all resamples share (:meth:`Selector._shared`), and what each resample prefers
(:meth:`Selector._found`). A single fit is a resample that takes every row once, so that fits one by one and in batches
cannot differ.
"""

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast.kernels.magnitude import check_magnitude
from holdfast.preferences import Kind
from holdfast.resampling import Split
from holdfast.selection import FewerFeaturesWarning, Selection, fewer_note, tie_order
from holdfast.selectors.rows import (
    Floats,
    Ints,
    Mask,
    Resamples,
    Target,
    plain_target,
    row_groups,
    whole_counts,
)

Setting = dict[str, Any]
Key = tuple[tuple[str, str], ...]
Ties = Literal["auto", "random", "lowest"]


@dataclass(frozen=True, eq=False)
class Found:
    """What one resample prefers, before it is cut to a size.

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
        """What was found, not cut to a size."""
        return Selection(self.kind, self.values, self.model, self.note, self.informative)


class Group(NamedTuple):
    """What settings that one fit serves have in common, their places, and the selector with each of them."""

    key: Key
    places: list[int]
    selectors: list[Any]


class Selector(SelectorMixin, BaseEstimator):
    """Base of all selectors.

    Parameters of a subclass that one fit serves for all their values are named in ``served``; a study takes all such
    candidates from one fit. ``n_features`` is one where the subclass orders the features.

    A feature *without information* is never selected: one that gets in this resample what a constant column would. Each
    subclass says in ``uninformative`` what that is, and marks the others in what it found; ``n_features`` is the most
    that are selected. Equally good features at the cut are taken in an order drawn from the seed of the resample, or
    of ``random_state``; in a plain fit without one, by column. A subclass with a parameter ``ties`` lets the user say.
    """

    served: ClassVar[tuple[str, ...]] = ("n_features",)
    needs_classes: ClassVar[bool] = True
    most_classes: ClassVar[int | None] = None
    uninformative: ClassVar[str | None] = None
    """What marks a feature without information; None for selectors that know no such thing."""
    draws: ClassVar[bool] = False
    """Whether there is chance in a fit even if no features tie."""

    # What a subclass writes

    @abstractmethod
    def _shared(self, X: Floats, target: Target) -> Any:
        """Compute what all resamples share, without labels of rows that they may hold out."""

    @abstractmethod
    def _found(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Found:
        """Tell what the resample prefers that takes each row so often."""

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
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Self:
        X, y = validate_data(self, X, plain_target(y), dtype=np.float64, ensure_min_samples=2)
        check_magnitude(X)
        target = self._target(y)
        counts = whole_counts(sample_weight, X.shape[0])
        self._check(target, counts)
        shared, seed = self._shared_in_groups(X, target, row_groups(groups, X.shape[0])), self._own_seed()
        found = self._found(shared, X, target, counts, seed)
        self._keep(found, X.shape[1], seed)
        return self

    def _shared_in_groups(self, X: Floats, target: Target, groups: Ints | None) -> Any:
        """What all resamples share; selectors that draw rows again keep those of one group together."""
        return self._shared(X, target)

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
        ties = getattr(self, "ties", "auto")
        if ties not in get_args(Ties):
            raise ValueError(f"Expected ties='auto', 'random' or 'lowest', got {ties!r}.")
        return None if ties == "lowest" else seed

    def _tie_orders(self, seeds: Sequence[int | None], n_features: int) -> NDArray[np.int32]:
        """The turn of each column among equally good ones, for each resample; one row if it is the same for all."""
        own = list(dict.fromkeys(map(self._tie_seed, seeds)))
        orders = {seed: tie_order(n_features, seed) for seed in own}
        return np.array([orders[self._tie_seed(seed)] for seed in (seeds if len(own) > 1 else seeds[:1])])

    def _keep(self, found: Found, n_features: int, seed: int | None) -> None:
        """Write down what was found, under scikit-learn's names."""
        if found.kind == "ranking":
            self.ranking_ = found.values
        elif found.kind == "weighting":
            self.scores_ = found.values
        for name, value in (found.extras or {}).items():
            setattr(self, name, value)
        if found.informative is not None:
            self.informative_ = found.informative
        selection = self._cut(found, n_features, seed)
        self._warn_of_fewer(found, n_features)
        self.support_ = np.zeros(n_features, dtype=bool)
        self.support_[selection.values] = True

    def _cut(self, found: Found, n_features: int, seed: int | None) -> Selection:
        """The best features of an order; a subset as it is."""
        if found.kind == "subset":
            return Selection.subset(found.values, found.model, found.note)
        best = self._best(found, self._wanted(n_features), seed)
        return Selection.subset(best.values, found.model, best.note)

    def _best(self, found: Found, size: int, seed: int | None) -> Selection:
        return found.selection().top(size, random_state=self._tie_seed(seed), rule=self.uninformative or "")

    def _warn_of_fewer(self, found: Found, n_features: int) -> None:
        if found.kind == "subset" and found.note:
            warnings.warn(FewerFeaturesWarning(found.note, found.note), stacklevel=4)
        elif found.kind != "subset" and found.informative is not None:
            wanted, carrying = self._wanted(n_features), int(found.informative.sum())
            if carrying < wanted:
                message = (
                    f"Only {carrying:,} of {n_features:,} features carry information; {carrying:,} instead of "
                    f"{wanted:,} were selected by {type(self).__name__} (without: {self.uninformative})."
                )
                warnings.warn(FewerFeaturesWarning(message, fewer_note(self.uninformative or "")), stacklevel=4)

    def _wanted(self, n_features: int) -> int:
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
        """Compute what all resamples share, for each group of settings that one fit serves.

        Selectors that draw rows again keep those of one of the ``groups`` together.
        """
        check_magnitude(X)
        target, numbered = self._target(y), row_groups(groups, len(X))
        return {
            group.key: group.selectors[0]._shared_in_groups(X, target, numbered) for group in self._groups(settings)
        }

    def refit_many(
        self, shared: dict[Key, Any], X: Floats, y: NDArray[Any], splits: Sequence[Split], settings: Sequence[Setting]
    ) -> Iterator[list[Selection | Exception]]:
        """Yield, for each split, what each of some of the prepared settings selects, or the error that stopped it."""
        return self._each(shared, X, y, splits, settings, cut=True)

    def prefer_many(
        self, shared: dict[Key, Any], X: Floats, y: NDArray[Any], splits: Sequence[Split], settings: Sequence[Setting]
    ) -> Iterator[list[Selection | Exception]]:
        """Yield the same as :meth:`refit_many`, orders of features as they were found, not cut to a size."""
        return self._each(shared, X, y, splits, settings, cut=False)

    def _each(
        self,
        shared: dict[Key, Any],
        X: Floats,
        y: NDArray[Any],
        splits: Sequence[Split],
        settings: Sequence[Setting],
        *,
        cut: bool,
    ) -> Iterator[list[Selection | Exception]]:
        target, groups = self._target(y), self._groups(settings)
        resamples = Resamples(
            np.array([split.weights(X.shape[0]) for split in splits]), [split.seed for split in splits]
        )
        found = [_refitted(group, shared[group.key], X, target, resamples, cut) for group in groups]
        for run in range(len(splits)):
            chosen: dict[int, Selection | Exception] = {}
            for group, results in zip(groups, found, strict=True):
                chosen |= zip(group.places, results[run], strict=True)
            yield [chosen[place] for place in range(len(settings))]

    def _groups(self, settings: Sequence[Setting]) -> list[Group]:
        """Settings that one fit serves, together."""
        groups: dict[Key, Group] = {}
        for place, setting in enumerate(settings):
            key = tuple((name, repr(value)) for name, value in sorted(setting.items()) if name not in self.served)
            group = groups.setdefault(key, Group(key, [], []))
            group.places.append(place)
            group.selectors.append(clone(self).set_params(**setting))
        return list(groups.values())

    def _seeds(self, seeds: Sequence[int | None]) -> Sequence[int | None]:
        """The seed of each resample: its own, unless one was set."""
        own = getattr(self, "random_state", None)
        return seeds if own is None else [clone(self)._own_seed()] * len(seeds)

    def _chosen(self, found: Found | Exception, n_features: int, seed: int | None, cut: bool) -> Selection | Exception:
        if isinstance(found, Exception):
            return found
        return self._cut(found, n_features, seed) if cut else found.selection()

    def _found_many(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Found | Exception]]:
        """What each resample prefers, for each of these selectors; a subclass may do all resamples together."""
        return [
            self._found_for(selectors, shared, X, target, counts, seed) for counts, seed in zip(*resamples, strict=True)
        ]

    def _found_for(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None
    ) -> Sequence[Found | Exception]:
        """What one fit found for each of these selectors, which differ only in parameters that it serves."""
        found = max(selectors, key=lambda one: getattr(one, "n_features", 0))._found(shared, X, target, counts, seed)
        return [found] * len(selectors)


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
        """
        return self._fit(X, y, sample_weight, groups)


class FitsTogether(Selector):
    """A selector that fits all resamples together: write :meth:`_found_many`, and a single fit follows from it."""

    @abstractmethod
    def _found_many(
        self, selectors: Sequence[Self], shared: Any, X: Floats, target: Target, resamples: Resamples
    ) -> Sequence[Sequence[Found | Exception]]: ...

    def _found(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Found:
        (found,) = self._found_many([self], shared, X, target, Resamples(counts[None], [seed]))[0]
        if isinstance(found, Exception):
            raise found
        return found


def _refitted(
    group: Group, shared: Any, X: Floats, target: Target, resamples: Resamples, cut: bool
) -> list[Sequence[Selection | Exception]]:
    """For each resample, what each selector of a group chose, or the error that stopped it."""
    first = group.selectors[0]
    resamples = resamples._replace(seeds=first._seeds(resamples.seeds))
    results: list[Sequence[Selection | Exception]] = [()] * len(resamples.seeds)
    sound = []
    for run, counts in enumerate(resamples.counts):
        try:
            first._check(target, counts)
            first._tie_seed(None)
            sound.append(run)
        except ValueError as error:
            results[run] = [error] * len(group.places)
    for run, founds in zip(sound, _tried(group, shared, X, target, resamples.take(sound)), strict=True):
        results[run] = [
            selector._chosen(found, X.shape[1], resamples.seeds[run], cut)
            for selector, found in zip(group.selectors, founds, strict=True)
        ]
    return results


def _tried(
    group: Group, shared: Any, X: Floats, target: Target, resamples: Resamples
) -> Sequence[Sequence[Found | Exception]]:
    """Fit all resamples together; where that fails, one by one, so that only those fail that must."""
    first, n = group.selectors[0], len(resamples.seeds)
    try:
        return first._found_many(group.selectors, shared, X, target, resamples) if n else []
    except Exception as error:
        if n == 1:
            return [[error] * len(group.places)]
    return [_tried(group, shared, X, target, resamples.take([run]))[0] for run in range(n)]
