"""Selectors around another selector, the base: what it prefers on resamples of the rows, whatever its make."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import has_fit_parameter

from holdfast.io.estimators import preserve_random_state, read_selection, set_seeds
from holdfast.resampling import Bootstrap, ComplementaryPairs, Perturbation, Samples, Split
from holdfast.resampling.split import rng_of
from holdfast.selection import FewerFeaturesWarning, Selection
from holdfast.selectors.base import Selector, Setting, TakesGroups
from holdfast.selectors.folds import Copies
from holdfast.selectors.rows import Floats, Ints, Target

Resampling = Literal["pairs", "subsamples", "bootstrap"]
INNER = 0  # what a random stream is for


class Wrapper(Selector):
    """A selector around a ``base``: a selector of holdfast, or any scikit-learn estimator."""

    base: Any

    def _target(self, y: Any) -> Target:
        return Target(np.asarray(y), None)  # as it came: the base knows what to make of it

    def _checked_base(self) -> Any:
        if isinstance(self.base, type) or not hasattr(self.base, "fit") or not hasattr(self.base, "get_params"):
            raise ValueError(
                f"Expected a selector or scikit-learn estimator as base, got {self.base!r}"
                + ("; call the class to make an object of it." if isinstance(self.base, type) else ".")
            )
        return self.base

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.base, BaseEstimator):
            own = get_tags(self.base).classifier_tags
            tags.classifier_tags = None if own is None or own.multi_class else own
        return tags


class Inner(NamedTuple):
    """What all outer resamples share: the base's part, and which rows are drawn together.

    Attributes
    ----------
    base : object
        What the base prepared.
    unit_of : ndarray of int
        The unit of each row, see :func:`row_units`.
    groups : ndarray of int or None
        The group of each row, if there are groups.
    """

    base: Any
    unit_of: Ints
    groups: Ints | None

    @property
    def units(self) -> str:
        """What units are called."""
        return "rows" if self.groups is None else "groups"

    def n_units(self, rows: NDArray[Any]) -> int:
        """How many units these rows belong to."""
        return np.unique(self.unit_of[rows]).size


class ResamplingWrapper(TakesGroups, Wrapper):
    """A selector that fits its base to many resamples of the rows.

    Copies of a row, such as those in a bootstrap sample, are drawn together or not at all, and so are rows of one
    group: else halves would not be independent. Draws go by the values of rows, never by their order, so that weights
    equal repeated rows. The seed governs the base too, whose own ``random_state`` has no effect: each resample gives it
    a seed of its own.
    """

    draws: ClassVar[bool] = True
    random_state: Any

    @abstractmethod
    def _base_settings(self) -> Sequence[Setting]:
        """Settings of the base to prepare; raise if parameters are wrong."""

    def _shared(self, X: Floats, target: Target) -> Inner:
        return self._shared_in_groups(X, target, None)

    def _shared_in_groups(self, X: Floats, target: Target, groups: Ints | None) -> Inner:
        base, settings = self._unseeded(), self._base_settings()
        prepared = base.prepare(X, target.values, settings, groups) if isinstance(base, Selector) else None
        return Inner(prepared, row_units(X, target.values, groups), groups)

    def _unseeded(self) -> Any:
        """The base, ready for a seed of each resample."""
        base = clone(self._checked_base())
        return base.set_params(random_state=None) if "random_state" in base.get_params(deep=False) else base

    def _preferred(
        self,
        shared: Inner,
        X: Floats,
        target: Target,
        splits: Sequence[Split],
        settings: Sequence[Setting],
        *,
        cut: bool = False,
    ) -> Iterator[list[Selection]]:
        """What each setting of the base prefers on each split: an order of features if it has one, unless cut."""
        base, y = self._unseeded(), target.values
        if isinstance(base, Selector):
            results = (base.refit_many if cut else base.prefer_many)(shared.base, X, y, splits, settings)
        else:
            results = _fitted(base, X, y, shared.groups, splits, settings, ordered=not cut)
        for split, selections in zip(splits, results, strict=True):
            for selection in selections:
                if isinstance(selection, Exception):
                    raise _name_resample(selection, base, split, y) from selection
            yield selections  # type: ignore[misc]


def _fitted(
    base: Any,
    X: Floats,
    y: NDArray[Any],
    groups: Ints | None,
    splits: Sequence[Split],
    settings: Sequence[Setting],
    *,
    ordered: bool,
) -> Iterator[list[Selection | Exception]]:
    for split in splits:
        train = *split.data(X, y), None if groups is None else groups[split.train]
        yield [_selection(base, setting, *train, split.seed, ordered=ordered) for setting in settings]


def _selection(
    base: Any,
    setting: Setting,
    X: Floats,
    y: NDArray[Any],
    groups: Ints | None,
    random_state: int,
    *,
    ordered: bool,
) -> Selection | Exception:
    """What a clone prefers, or the error that stopped it."""
    try:
        twin = clone(base).set_params(**setting)
        return read(fitted(twin, X, y, random_state, groups=groups, always=True), ordered=ordered)
    except Exception as error:
        return error


def fitted(
    estimator: Any,
    X: Floats,
    y: NDArray[Any],
    random_state: int | None,
    *,
    groups: Ints | None = None,
    always: bool = False,
) -> Any:
    """The estimator, fitted with a seed and with groups if there are any; seeds that were set stay, unless always."""
    given = {} if groups is None or not has_fit_parameter(estimator, "groups") else {"groups": groups}
    if random_state is None:
        return estimator.fit(X, y, **given)
    with preserve_random_state():
        set_seeds(estimator, random_state, always=always)
        return estimator.fit(X, y, **given)


@contextmanager
def collect_fewer_notes() -> Iterator[list[str]]:
    """Collect the notes of warnings about features without information; other warnings are passed on."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for warning in caught:
        if isinstance(warning.message, FewerFeaturesWarning):
            notes.append(warning.message.note)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def read(estimator: Any, *, ordered: bool) -> Selection:
    """What a fitted estimator prefers: an order of features, or what it selects, whichever is asked for first."""
    return read_selection(estimator, [f"x{column}" for column in range(estimator.n_features_in_)], ordered=ordered)


def _name_resample(error: Exception, base: Any, split: Split, y: NDArray[Any]) -> Exception:
    """Return the error of a base with the name of the resample that it came from."""
    if not isinstance(error, ValueError):
        return error
    few = "; draw within classes, as ComplementaryPairs(stratify=True) does" if _one_class(y[split.rows], y) else ""
    return ValueError(f"{type(base).__name__} cannot be fitted to {split.label}: {str(error).rstrip('.')}{few}.")


def _one_class(drawn: NDArray[Any], whole: NDArray[Any]) -> bool:
    """Whether a resample has one class only where the data have more."""
    return np.unique(drawn).size == 1 < np.unique(whole).size


def row_units(X: Floats, y: NDArray[Any], groups: Ints | None = None) -> Ints:
    """The unit that each row is drawn with: its group; without groups, all rows that equal it in X and y.

    Units are numbered by their values from the first column on, whatever the order of rows; those of some of the rows
    are in the same order as those of all.

    >>> row_units(np.array([[2.0, 1], [1, 5], [2, 1], [2, 0]]), np.array(["a", "b", "a", "a"]))
    array([2, 0, 2, 1])
    """
    if groups is not None:
        return groups
    places = np.unique(X[:, 0], return_inverse=True)[1]
    if np.unique(places).size < len(X):
        places = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    pairs = np.column_stack([places, np.unique(y, return_inverse=True)[1]])
    return np.unique(pairs, axis=0, return_inverse=True)[1].ravel()


def inner_splits(
    resampling: Perturbation,
    shared: Inner,
    counts: Ints,
    y: NDArray[Any],
    random_state: int | None,
    copies: Copies = "together",
) -> list[Split]:
    """Resamples of rows that count so often, whole units drawn together or each copy by itself, as splits of rows."""
    assert random_state is not None
    rows = np.repeat(np.arange(counts.size), counts)
    units = np.unique(shared.unit_of[rows], return_inverse=True)[1]
    if copies == "apart":
        rows, units = rows[np.argsort(units, kind="stable")], np.arange(rows.size)
    if units.max(initial=-1) + 1 < resampling.least_units:
        different = "different rows" if shared.groups is None else "groups of rows"
        raise ValueError(
            f"Expected at least {resampling.least_units} {different} for {resampling}, got {units.max(initial=-1) + 1}."
        )
    classes = np.unique(y[rows], return_inverse=True)[1] if type_of_target(y) in ("binary", "multiclass") else None
    samples = Samples(rows.size, classes, units)
    resampling.check(samples)
    start = int(rng_of(random_state, INNER).integers(2**31))
    return [_on_rows(resampling.make_split(index, samples, start), rows) for index in range(resampling.get_n_splits())]


def _on_rows(split: Split, rows: Ints) -> Split:
    if split.change is not None:
        raise ValueError(
            "Expected resampling that draws rows, such as Bootstrap, got a perturbation that changes their values."
        )
    drawn, times = np.unique(rows[split.train], return_counts=True)
    return replace(split, rows=drawn, counts=times)


class Halves(ComplementaryPairs):
    """Half of the rows, drawn anew for each split: the first halves of complementary pairs."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_pairs

    def make_split(self, index: int, samples: Samples, seed: int) -> Split:
        half = super().make_split(2 * index, samples, seed)
        return replace(half, index=index, label=f"subsample {index}", block=index)


def selects_for_classes(base: Any, y: NDArray[Any]) -> bool:
    """Whether a base takes the target as classes: a selector by its own rule, another estimator if it classifies."""
    if isinstance(base, Wrapper):
        return selects_for_classes(base.base, y)
    return base._target(y).classes is not None if isinstance(base, Selector) else bool(is_classifier(base))


def named_resampling(
    resampling: Any, n_resamples: int | None, usual: dict[str, int], *, stratify: bool = False
) -> Perturbation:
    """A perturbation by its name and number, drawn within classes if asked, or as it was given."""
    if isinstance(resampling, Perturbation):
        return resampling
    if not isinstance(resampling, str) or resampling not in usual:
        raise ValueError(f"Expected resampling to be {_listed(usual)} or a perturbation, got {resampling!r}.")
    n = usual[resampling] if n_resamples is None else n_resamples
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"Expected n_resamples to be a whole number of at least 1, got {n!r}.")
    makes = {"pairs": ComplementaryPairs, "subsamples": Halves, "bootstrap": Bootstrap}
    return makes[resampling](int(n), stratify=stratify)


def _listed(names: dict[str, int]) -> str:
    return ", ".join(map(repr, names))


def worse_first(selection: Selection, n_features: int) -> Floats:
    """Return a number for every feature, larger for worse ones; equal for ties, and for all that are not selected.

    Features without information are infinitely bad, and so are those beyond the end of an order that was cut.
    """
    if selection.order is not None:
        places = np.full(n_features, np.inf)
        places[selection.order] = np.arange(selection.order.size)
        return places
    if selection.kind == "subset":
        left_out = np.ones(n_features)
        left_out[selection.values] = 0
        return left_out
    values = np.asarray(selection.values, dtype=np.float64)
    worse = values if selection.kind == "ranking" else -values
    return worse if selection.informative is None else np.where(selection.informative, worse, np.inf)


def mean_ranks(selection: Selection, n_features: int) -> Floats:
    """The rank of every feature, 1 is best; tied ones share their mean rank."""
    return np.asarray(rankdata(worse_first(selection, n_features)), dtype=np.float64)
